/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLVM bitcode: relocatable device code before the device link. Of a module its target triple is
 * read; its code is not decoded.
 * Source: llvm.org/docs/BitCodeFormat.html; the layout is told in object/bitcode.c.
 */
#include "object/bitcode.h"

#include "image/image.h"

static enum devimg_status facts(struct dvi_view image, struct dvi_arena *arena,
                                struct dvi_image_facts *out, struct devimg_error *err)
{
    char triple[DVI_TRIPLE_SIZE];
    struct dvi_view one = { 0 };
    if (dvi_bitcode_triple(image, triple, sizeof triple) && !dvi_bitcode_is_for_host(triple)) {
        out->triple = dvi_arena_copy(arena, triple);
        if (out->triple == NULL)
            return dvi_fail_memory(err, image.source);
    }
    DVI_TRY(dvi_bitcode_extent(image, &one, err));
    const struct dvi_view rest = dvi_behind_zeros(dvi_from(image, one.size));
    if (rest.size == 0)
        return DEVIMG_OK;
    return dvi_fail(err, DEVIMG_MALFORMED, rest, 0, "%zu bytes behind the bitcode: %s", rest.size,
                    dvi_bitcode_match(rest) ? "a second module; an image holds one"
                                            : "no block of a module");
}

const struct dvi_image_format dvi_image_bitcode = {
    .name = "bitcode",
    .format = DEVIMG_FORMAT_BITCODE,
    .match = dvi_bitcode_match,
    .facts = facts,
};
