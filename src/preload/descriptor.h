/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and kinds in a DPC++ descriptor, which is read in files (bundle/dpcpp.c, with the layout and its
 * sources) and in running programs (registry_count.c). */
#ifndef DVI_PRELOAD_DESCRIPTOR_H
#define DVI_PRELOAD_DESCRIPTOR_H

#include <stdbool.h>

enum {
    DVI_PAIR_SIZE = 16, /* of two pointers: begin and end */
    DVI_ENTRY_SIZE = 32,
    DVI_NEW_ENTRY_SIZE = 56 /* as llvm.org writes it */
};

/** What an image struct may say that it is: DPC++ writes kind 4, llvm.org 8. */
static inline bool dvi_image_struct_known(unsigned version, unsigned kind)
{
    return version >= 1 && version <= 3 && (kind == 4 || (kind == 8 && version == 3));
}

/** Version 3 lacks the two pointers of the manifest. */
static inline unsigned dvi_image_struct_size(unsigned version)
{
    return version == 3 ? 80 : 96;
}

/** Where its pairs start: image, entries, property sets. */
static inline unsigned dvi_image_struct_pairs(unsigned version)
{
    return version == 3 ? 32 : 48;
}

#endif
