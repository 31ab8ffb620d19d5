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
#include <stdlib.h>

#include "bundle/bundle.h"

enum {
    PAGE = 4096,
    WRAPPER_SIZE = 24,
    MAGIC_FATBIN = 0x48495046,
    MAGIC_KPACK = 0x4b504948,
    MOST_DAMAGED = 256
};
static const char fatbin_name[] = ".hip_fatbin", wrapper_name[] = ".hipFatBinSegment";

struct wrapper {
    uint64_t target; /* address of the bundle: first, see dvi_sort_by_addr() */
    struct dvi_view bytes;
    bool used;
};

struct hip {
    struct dvi_object *object;
    struct dvi_claims *claims;
    struct dvi_found *found;
    DVI_LIST(struct wrapper) wrappers; /* sorted by target */
    uint64_t reference;                /* what a wrapper of a kpack names; 0: none does */
    bool reference_read;
    bool all_seen; /* there is no wrapper that could not be read */
    unsigned damaged_left;
};

/* --- wrappers --- */

static enum devimg_status fail_wrapper(struct dvi_view wrapper, struct devimg_error *err)
{
    return dvi_fail(err, DEVIMG_MALFORMED, wrapper, 0,
                    "HIP wrapper of magic %08" PRIx32 ", version %" PRIu32
                    ": 48495046 (or 4b504948) and 1 are known",
                    dvi_peek32(wrapper, 0), dvi_peek32(wrapper, 4));
}

/* The address that a wrapper holds; 0: none, or one of another file. */
static uint64_t target_of(const struct hip *h, uint64_t addr, struct dvi_view wrapper)
{
    const struct dvi_pointer *p = dvi_object_pointer_at(h->object, addr + 8);
    if (p != NULL)
        return p->value != DVI_EXTERNAL ? p->value : 0;
    return h->object->is_linked ? dvi_peek64(wrapper, 8) : 0;
}

static enum devimg_status read_wrapper(struct hip *h, uint64_t addr, struct dvi_view bytes,
                                       struct devimg_error *err)
{
    const uint32_t magic = dvi_peek32(bytes, 0);
    if (dvi_all_zero(bytes)) /* what a linker fills with */
        return DEVIMG_OK;
    if ((magic != MAGIC_FATBIN && magic != MAGIC_KPACK) || dvi_peek32(bytes, 4) != 1) {
        h->all_seen = false;
        return fail_wrapper(bytes, err);
    }
    const uint64_t target = target_of(h, addr, bytes);
    if (magic == MAGIC_KPACK)
        h->reference = target;
    if (magic == MAGIC_KPACK || (target == 0 && !h->object->is_linked))
        return DEVIMG_OK; /* before the link of -fgpu-rdc, the bundle is another object's */
    struct wrapper *added = DVI_ADD(&h->wrappers);
    if (added == NULL)
        return dvi_fail_memory(err, bytes.source);
    *added = (struct wrapper){ .target = target, .bytes = bytes };
    return DEVIMG_OK;
}

static enum devimg_status read_wrappers(struct hip *h, const struct dvi_section *section,
                                        struct devimg_error *err)
{
    const struct dvi_view all = section->data;
    DVI_TRY(dvi_object_pointers(h->object, err));
    for (uint64_t at = 0; at < all.size && h->damaged_left > 0; at += WRAPPER_SIZE) {
        const struct dvi_view bytes = dvi_head(dvi_from(all, at), WRAPPER_SIZE);
        enum devimg_status status =
            bytes.size < WRAPPER_SIZE && !dvi_all_zero(bytes)
                ? dvi_fail(err, DEVIMG_TRUNCATED, bytes, 0, "HIP wrapper: %zu of %d bytes",
                           bytes.size, (int)WRAPPER_SIZE)
                : read_wrapper(h, section->addr + at, bytes, err);
        if (status != DEVIMG_OK)
            h->damaged_left--;
        DVI_TRY(dvi_found_damage(h->found, status, err));
    }
    return DEVIMG_OK;
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

/* Mark the wrappers of the bundle at `addr`; false: none names it. */
static bool take_wrapper(struct hip *h, uint64_t addr)
{
    const size_t first =
        dvi_first_from_addr(h->wrappers.items, h->wrappers.count, sizeof *h->wrappers.items, addr);
    size_t i = first;
    for (; i < h->wrappers.count && h->wrappers.items[i].target == addr; i++)
        h->wrappers.items[i].used = true;
    return i > first;
}

/* A wrapper that names no bundle of the section: the runtime would read what stands there. */
static enum devimg_status say_lost(struct hip *h, struct devimg_error *err)
{
    for (size_t i = 0; i < h->wrappers.count && h->damaged_left > 0; i++) {
        const struct wrapper *w = &h->wrappers.items[i];
        const struct dvi_section *in = dvi_object_section_of(h->object, w->target);
        if (w->used)
            continue;
        h->damaged_left--;
        struct devimg_error what = { 0 };
        if (in != NULL && dvi_object_names(h->object, in, fatbin_name))
            (void)dvi_fail(&what, DEVIMG_MALFORMED, w->bytes, 8,
                           "a HIP wrapper names 0x%" PRIx64 ", where no bundle starts", w->target);
        else
            (void)dvi_fail(&what, DEVIMG_MALFORMED, w->bytes, 8,
                           "a HIP wrapper names 0x%" PRIx64 ", outside of .hip_fatbin", w->target);
        if (h->found->say(h->found, "registration", "wrapper-outside", &what) != DEVIMG_OK)
            return dvi_fail_memory(err, w->bytes.source);
    }
    return DEVIMG_OK;
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
    const bool sure = h->all_seen && !h->object->pointers_partial && h->object->pointer_size == 8;
    if (take_wrapper(h, section->addr + at)) {
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
        if (status != DEVIMG_OK && --h->damaged_left == 0)
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
    struct hip h = { .object = object,
                     .claims = claims,
                     .found = found,
                     .all_seen = true,
                     .damaged_left = MOST_DAMAGED };
    enum devimg_status status = each_section(&h, wrapper_name, read_wrappers, err);
    if (status == DEVIMG_OK && h.wrappers.count > 0 &&
        !dvi_sort_by_addr(h.wrappers.items, h.wrappers.count, sizeof *h.wrappers.items))
        status = dvi_fail_memory(err, object->file.source);
    if (status == DEVIMG_OK)
        status = each_section(&h, fatbin_name, walk_fatbin, err);
    if (status == DEVIMG_OK)
        status = read_references(&h, err);
    if (status == DEVIMG_OK && h.all_seen && !object->pointers_partial && object->pointer_size == 8)
        status = say_lost(&h, err);
    DVI_LIST_FREE(&h.wrappers);
    return status;
}

const struct dvi_bundle dvi_bundle_hip = {
    .name = "clang-bundle",
    .walk_object = walk_object,
};
