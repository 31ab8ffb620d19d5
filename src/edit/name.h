/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the files that images are written to, made of what hostile files say. */
#ifndef DVI_EDIT_NAME_H
#define DVI_EDIT_NAME_H

#include "base/arena.h"

/** The prefixes given so far. Start with { 0 }. */
struct dvi_prefixes {
    void *tree;
};

/**
 * What the names of a record's images start with: the base names of the file and of the member, as
 * "libfoo.a@bar.o". A prefix is given once; the next record that would have it gets "~2" and so on.
 * In the arena, as is what `prefixes` points to. NULL: out of memory.
 */
const char *dvi_prefix(struct dvi_prefixes *prefixes, const struct devimg_record *record,
                       struct dvi_arena *arena);
void dvi_prefixes_free(struct dvi_prefixes *prefixes);

/**
 * "libfoo.so.0003.dg2-g10.zebin": the image's index within its record, its target or, where that
 * is unknown, its entry id, and `extension`. Different prefixes and indices give different names.
 * In the arena; NULL: out of memory.
 */
const char *dvi_image_file_name(const char *prefix, uint32_t index,
                                const struct devimg_image *image, const char *extension,
                                struct dvi_arena *arena);

#endif
