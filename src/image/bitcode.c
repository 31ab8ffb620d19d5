/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLVM bitcode: relocatable device code before the device link. Named, not decoded.
 * Source: llvm.org/docs/BitCodeFormat.html: magic 'BC' 0xC0DE; wrapper magic 0x0B17C0DE.
 */
#include "image/image.h"

static bool match(struct dvi_view v)
{
    return dvi_starts_with(v, "BC\xc0\xde", 4) || dvi_peek32(v, 0) == 0x0b17c0deu;
}

static enum devimg_status facts(struct dvi_view image, struct dvi_arena *arena,
                                struct dvi_image_facts *out, struct devimg_error *err)
{
    (void)image, (void)arena, (void)out, (void)err;
    return DEVIMG_OK;
}

const struct dvi_image_format dvi_image_bitcode = {
    .name = "bitcode",
    .format = DEVIMG_FORMAT_BITCODE,
    .match = match,
    .facts = facts,
};
