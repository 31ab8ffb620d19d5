/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bundle sections of an object, "__CLANG_OFFLOAD_BUNDLE__<kind>-<target>": in an object what the
 * compiler left for the device link, in a linked file the images of that target, one after another
 * at multiples of 16 with zero bytes between. What a descriptor names is claimed already; the rest
 * stands here.
 * Source: intel/llvm clang/tools/clang-offload-bundler (object files), ClangOffloadWrapper.cpp.
 */
#include "bundle/bundle.h"

#include <inttypes.h>
#include <string.h>

static const char prefix[] = "__CLANG_OFFLOAD_BUNDLE__";
enum { PREFIX_SIZE = sizeof prefix - 1, ALIGNMENT = 16, MOST_DAMAGED = 256 };

/* Behind the zero bytes at `at`; the end of `v` when only zeros follow. */
static uint64_t skip_padding(struct dvi_view v, uint64_t at)
{
    while (at < v.size && v.data[at] == 0)
        at++;
    return at;
}

/* Behind bytes that could not be read: the next place where an image may start. */
static uint64_t next_start(struct dvi_view v, uint64_t at)
{
    for (at += ALIGNMENT - (v.offset + at) % ALIGNMENT; at < v.size; at += ALIGNMENT)
        if (dvi_packed_starts(dvi_from(v, at)))
            return at;
    return v.size;
}

/* Reading what looks like an image may go on to the end of the section before it fails, so only so
 * many failures are taken: `*damaged_left`. */
static enum devimg_status walk_gap(struct dvi_view gap, const struct dvi_placed *outer,
                                   unsigned *damaged_left, struct dvi_found *found,
                                   struct devimg_error *err)
{
    for (uint64_t at = skip_padding(gap, 0); at < gap.size; at = skip_padding(gap, at)) {
        struct dvi_placed image = *outer;
        enum devimg_status status = dvi_packed_first(dvi_from(gap, at), &image.bytes, err);
        const uint64_t next = status == DEVIMG_OK ? at + image.bytes.size : next_start(gap, at);
        if (status == DEVIMG_OK && image.bytes.size > 0)
            status = dvi_found_image(found, &image, err);
        DVI_TRY(dvi_found_damage(found, status, err));
        if (status != DEVIMG_OK && --*damaged_left == 0)
            return dvi_fail(err, DEVIMG_MALFORMED, gap, next,
                            "%d places held no image: the rest is left out", (int)MOST_DAMAGED);
        at = next;
    }
    return DEVIMG_OK;
}

static enum devimg_status walk_section(const struct dvi_object *object,
                                       const struct dvi_section *section, struct dvi_claims *claims,
                                       struct dvi_found *found, struct devimg_error *err)
{
    const struct dvi_view id = dvi_from(section->name, PREFIX_SIZE);
    if (dvi_starts_with(id, "host-", 5))
        return DEVIMG_OK;
    struct dvi_placed outer = dvi_placed_unknown(section->data, "clang-bundle");
    outer.offload = dvi_clang_offload(id);
    outer.section = dvi_arena_text(found->arena, section->name);
    outer.entry_id = dvi_arena_text(found->arena, id);
    if (outer.section == NULL || outer.entry_id == NULL)
        return dvi_fail_memory(err, section->name.source);
    if (object->is_linked) {
        /* a descriptor may be there and not seen: of a 32-bit host, behind lost relocations, or
         * damaged */
        const bool all_seen =
            object->pointer_size == 8 && !object->pointers_partial && !claims->incomplete;
        outer.registered = all_seen ? DEVIMG_NO : DEVIMG_MAYBE;
        outer.note =
            all_seen ? "no descriptor names it" : "whether a descriptor names it is unknown";
    } else {
        outer.note = "still in its object: only a link by the offload compiler's driver keeps it";
    }
    uint64_t at = 0;
    unsigned damaged_left = MOST_DAMAGED;
    struct dvi_view gap = { 0 };
    while (dvi_claims_gap(claims, section->data, &at, &gap))
        DVI_TRY(walk_gap(gap, &outer, &damaged_left, found, err));
    return DEVIMG_OK;
}

static enum devimg_status walk_object(struct dvi_object *object, struct dvi_claims *claims,
                                      struct dvi_found *found, struct devimg_error *err)
{
    for (size_t i = 0; i < object->section_count; i++) {
        const struct dvi_section *section = &object->sections[i];
        if (section->name.size <= PREFIX_SIZE ||
            !dvi_starts_with(section->name, prefix, PREFIX_SIZE))
            continue;
        if (!dvi_claims_charge(claims, section->data.size + section->name.size))
            return dvi_fail(err, DEVIMG_MALFORMED, section->data, 0, "bundle sections overlap");
        const enum devimg_status status = walk_section(object, section, claims, found, err);
        DVI_TRY(dvi_found_damage(found, status, err));
    }
    return DEVIMG_OK;
}

const struct dvi_bundle dvi_bundle_sections = {
    .name = "clang-bundle",
    .walk_object = walk_object,
};
