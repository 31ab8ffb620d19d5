/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP device code in an object: bundles, and the wrappers that register them.
 * Sources: llvm/llvm-project clang/lib/CodeGen/CGCUDANV.cpp,
 * llvm/lib/Frontend/Offloading/OffloadWrapper.cpp; ROCm/rocm-systems shared/kpack (HIPK).
 *
 *    .hip_fatbin        clang offload bundles, plain or compressed, one a unit, each at a multiple
 *                       of 4096 in the section, with zero bytes between
 *    .hipFatBinSegment  wrappers of 24 bytes:
 *                          0  magic u32     0x48495046; 0x4b504948: the code is in another file
 *                          4  version u32   1
 *                          8  address u64   of a bundle; of .rocm_kpack_ref
 *                         16  0
 *
 * What a wrapper names is handed to __hipRegisterFatBinary by a constructor that stands beside it.
 * Linkers of Windows keep eight bytes of each name: ".hip_fat", ".hipFatB".
 */
#include <inttypes.h>

#include "bundle/wrappers.h"

enum { PAGE = 4096, MAGIC_FATBIN = 0x48495046, MAGIC_KPACK = 0x4b504948, MOST_DAMAGED = 256 };
static const char fatbin_name[] = ".hip_fatbin", wrapper_name[] = ".hipFatBinSegment";

/* The wrappers come first, so that a pointer to them leads back here. */
struct hip {
    struct dvi_wrappers wrappers;
    struct dvi_object *object;
    struct dvi_claims *claims;
    struct dvi_found *found;
    uint64_t reference; /* what a wrapper of a kpack names; 0: none does */
    bool reference_read;
};

static bool known_wrapper(struct dvi_wrappers *w, struct dvi_view bytes, uint64_t target,
                          bool *lists)
{
    const uint32_t magic = dvi_peek32(bytes, 0);
    if ((magic != MAGIC_FATBIN && magic != MAGIC_KPACK) || dvi_peek32(bytes, 4) != 1)
        return false;
    if (magic == MAGIC_KPACK && target != DVI_EXTERNAL)
        ((struct hip *)w)->reference = target;
    *lists = magic == MAGIC_FATBIN;
    return true;
}

static enum devimg_status read_wrappers(struct hip *h, const struct dvi_section *section,
                                        struct devimg_error *err)
{
    return dvi_wrappers_read(&h->wrappers, section, err);
}

static enum devimg_status each_section(struct hip *h, const char *name,
                                       enum devimg_status (*take)(struct hip *h,
                                                                  const struct dvi_section *section,
                                                                  struct devimg_error *err),
                                       struct devimg_error *err)
{
    for (size_t i = 0; i < h->object->section_count; i++) {
        const struct dvi_section *section = &h->object->sections[i];
        if (!dvi_object_names(h->object, section, name) || section->data.size == 0)
            continue;
        if (!dvi_claims_charge(h->claims, section->data.size + section->name.size))
            return dvi_fail(err, DEVIMG_MALFORMED, section->data, 0, "HIP sections overlap");
        const enum devimg_status status = take(h, section, err);
        DVI_TRY(dvi_found_damage(h->found, status, err));
    }
    return DEVIMG_OK;
}

static bool is_fatbin(const struct dvi_object *object, const struct dvi_section *section)
{
    return dvi_object_names(object, section, fatbin_name);
}

/* --- bundles --- */

/* Behind bytes that could not be read: the next page that a bundle may start. */
static uint64_t next_page(struct dvi_view v, uint64_t at)
{
    for (at += PAGE - at % PAGE; at < v.size; at += PAGE)
        if (dvi_clang_starts(dvi_from(v, at)))
            return at;
    return v.size;
}

static enum devimg_status found_bundle(struct hip *h, const struct dvi_section *section,
                                       struct dvi_view bytes, uint64_t at, struct devimg_error *err)
{
    struct dvi_placed placed = dvi_placed_unknown(bytes, "clang-bundle");
    placed.offload = DEVIMG_OFFLOAD_HIP;
    placed.section = dvi_arena_text(h->found->arena, section->name);
    if (placed.section == NULL)
        return dvi_fail_memory(err, bytes.source);
    const bool sure = dvi_wrappers_are_all(&h->wrappers);
    if (dvi_wrappers_take(&h->wrappers, section->addr + at, &placed.unit) != 0) {
        placed.registered = DEVIMG_YES;
    } else if (h->object->is_linked) {
        placed.registered = sure ? DEVIMG_NO : DEVIMG_MAYBE;
        placed.note = sure ? "no HIP wrapper names its bundle"
                           : "whether a HIP wrapper names its bundle is unknown";
    }
    DVI_TRY(dvi_claims_add(h->claims, bytes, err));
    return dvi_found_image(h->found, &placed, err);
}

/* Where one bundle ends is known from its header; bytes are never searched for the next one, unless
 * a header is damaged. */
static enum devimg_status walk_fatbin(struct hip *h, const struct dvi_section *section,
                                      struct devimg_error *err)
{
    const struct dvi_view all = section->data;
    for (uint64_t at = 0;;) {
        const struct dvi_view rest = dvi_behind_zeros(dvi_from(all, at));
        struct dvi_view one = { 0 };
        struct devimg_error unsaid;
        enum devimg_status status = DEVIMG_OK;
        if (rest.size == 0)
            return DEVIMG_OK;
        at = all.size - rest.size;
        if (!dvi_clang_starts(rest)) {
            status = dvi_fail(err, DEVIMG_MALFORMED, rest, 0,
                              "bytes %08" PRIx32 " (little-endian) start no clang offload bundle",
                              dvi_peek32(rest, 0));
            one = dvi_head(rest, next_page(all, at) - at);
        } else {
            if (dvi_clang_extent(rest, &one, &unsaid) != DEVIMG_OK) /* walking it says why */
                one = dvi_head(rest, next_page(all, at) - at);
            status = found_bundle(h, section, one, at, err);
        }
        DVI_TRY(dvi_found_damage(h->found, status, err));
        if (status != DEVIMG_OK && --h->wrappers.damaged_left == 0)
            return dvi_fail(err, DEVIMG_MALFORMED, rest, 0,
                            "%d places held no bundle: the rest is left out", (int)MOST_DAMAGED);
        at += one.size;
    }
}

static enum devimg_status read_reference(struct hip *h, const struct dvi_section *section,
                                         struct devimg_error *err)
{
    h->reference_read = true;
    return dvi_kpack_reference(section->data, h->found, err);
}

/* By its section, which Windows calls otherwise, or by a wrapper. */
static enum devimg_status read_references(struct hip *h, struct devimg_error *err)
{
    DVI_TRY(each_section(h, ".rocm_kpack_ref", read_reference, err));
    if (!h->reference_read)
        DVI_TRY(each_section(h, ".kpackrf", read_reference, err));
    if (h->reference_read || h->reference == 0)
        return DEVIMG_OK;
    const enum devimg_status status =
        dvi_kpack_reference(dvi_object_from(h->object, h->reference), h->found, err);
    return dvi_found_damage(h->found, status, err);
}

static enum devimg_status walk_object(struct dvi_object *object, struct dvi_claims *claims,
                                      struct dvi_found *found, struct devimg_error *err)
{
    struct hip h = { .wrappers = { .object = object,
                                   .found = found,
                                   .vendor = "HIP",
                                   .one = "bundle",
                                   .sections = fatbin_name,
                                   .known = known_wrapper,
                                   .damaged_left = MOST_DAMAGED },
                     .object = object,
                     .claims = claims,
                     .found = found };
    enum devimg_status status = each_section(&h, wrapper_name, read_wrappers, err);
    if (status == DEVIMG_OK)
        status = dvi_wrappers_name_units(&h.wrappers, err);
    if (status == DEVIMG_OK)
        status = dvi_wrappers_sort(&h.wrappers, err);
    if (status == DEVIMG_OK)
        status = each_section(&h, fatbin_name, walk_fatbin, err);
    if (status == DEVIMG_OK)
        status = read_references(&h, err);
    if (status == DEVIMG_OK && dvi_wrappers_are_all(&h.wrappers))
        status = dvi_wrappers_say_lost(&h.wrappers, is_fatbin, err);
    dvi_wrappers_free(&h.wrappers);
    return status;
}

const struct dvi_bundle dvi_bundle_hip = {
    .name = "clang-bundle",
    .walk_object = walk_object,
};
