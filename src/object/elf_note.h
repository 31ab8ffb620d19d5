/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of an ELF file, little-endian. Source: System V gABI, "Note Section". */
#ifndef DVI_OBJECT_ELF_NOTE_H
#define DVI_OBJECT_ELF_NOTE_H

#include "base/view.h"

enum { DVI_MOST_ELF_NOTES = 64 }; /* of one image */

struct dvi_elf_note {
    uint32_t type;
    struct dvi_view owner, data; /* the owner with its NUL */
};

/**
 * The next note of a section that `c` is in. `*left` starts as DVI_MOST_ELF_NOTES, for all sections of
 * an image; `what` names a note in errors.
 * @return END: the section ends; TRUNCATED; MALFORMED: the image has more notes than are read.
 */
DEVIMG_CHECKED enum devimg_status dvi_elf_note_next(struct dvi_cursor *c, unsigned *left,
                                                    const char *what, struct dvi_elf_note *out,
                                                    struct devimg_error *err);
bool dvi_elf_note_is_of(const struct dvi_elf_note *note, const char *owner);

#endif
