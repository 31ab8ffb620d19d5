/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ocloc archive: an `ar` whose members are images of one source, each for a target.
 *
 *    <bits>.<arch>.<release>.<revision>   or <bits>.<name>: image for 32- or 64-bit hosts
 *    pad_<n>                              filler that aligns the next member
 *    generic_ir                           SPIR-V for every other target
 *
 * Two names of one IP version give two members of the same name. A host library starts with the
 * same magic; only these member names tell.
 * Sources: intel/compute-runtime shared/offline_compiler/source/ocloc_fatbinary.cpp,
 * shared/source/device_binary_format/ar/ar.h.
 */
#include "bundle/bundle.h"

#include <string.h>

static const char generic_ir[] = "generic_ir";
enum { MOST_LOOKED_AT = 8 }; /* members before one must tell: a pad comes before each image */

static bool is_target(struct dvi_view name)
{
    return name.size > 3 && (dvi_starts_with(name, "64.", 3) || dvi_starts_with(name, "32.", 3));
}

static bool is_pad(struct dvi_view name)
{
    uint64_t number = 0;
    return dvi_starts_with(name, "pad_", 4) && dvi_decimal(dvi_from(name, 4), &number);
}

static bool match(struct dvi_view v)
{
    if (!dvi_ar_match(v))
        return false;
    struct dvi_ar it = dvi_ar_begin(v);
    struct dvi_ar_member member = { 0 };
    for (int i = 0; i < MOST_LOOKED_AT; i++) {
        const uint64_t at = it.at;
        const enum devimg_status status = dvi_ar_next(&it, &member, NULL);
        if (status != DEVIMG_OK && (status == DEVIMG_END || it.at == at))
            return false;
        if (status != DEVIMG_OK) /* damaged: the next name may tell */
            continue;
        if (is_target(member.name) || dvi_equals(member.name, generic_ir))
            return !dvi_object_matches(member.data); /* a host library may have a "64.o" */
        if (!is_pad(member.name))
            return false;
    }
    return false;
}

static enum devimg_status found_member(const struct dvi_placed *outer,
                                       const struct dvi_ar_member *member, struct dvi_found *found,
                                       struct devimg_error *err)
{
    if (is_pad(member->name))
        return DEVIMG_OK;
    if (!is_target(member->name) && !dvi_equals(member->name, generic_ir))
        return dvi_fail(err, DEVIMG_UNSUPPORTED, member->name, 0,
                        "ocloc archive member \"%.*s\" is no target, pad or generic_ir",
                        (int)(member->name.size < 64 ? member->name.size : 64),
                        (const char *)member->name.data);
    struct dvi_placed image = *outer;
    image.bundle = "ocloc";
    image.bytes = member->data;
    DVI_TRY(dvi_found_label(found, member->name, "ocloc member name", &image.entry_id, err));
    return dvi_found_image(found, &image, err);
}

static enum devimg_status walk(const struct dvi_placed *outer, struct dvi_found *found,
                               struct devimg_error *err)
{
    struct dvi_ar it = dvi_ar_begin(outer->bytes);
    struct dvi_ar_member member = { 0 };
    for (;;) {
        const uint64_t at = it.at;
        enum devimg_status status = dvi_ar_next(&it, &member, err);
        if (status == DEVIMG_END)
            return DEVIMG_OK;
        const bool readable = status == DEVIMG_OK;
        if (readable)
            status = found_member(outer, &member, found, err);
        DVI_TRY(dvi_found_damage(found, status, err));
        if (!readable && it.at == at) /* nothing behind this header can be found */
            return DEVIMG_OK;
    }
}

const struct dvi_bundle dvi_bundle_ocloc = {
    .name = "ocloc",
    .match = match,
    .walk = walk,
    .is_image = true,
};
