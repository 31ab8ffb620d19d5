/* SPDX-License-Identifier: Apache-2.0 */
#include "object/elf_note.h"

#include <string.h>

enum devimg_status dvi_elf_note_next(struct dvi_cursor *c, unsigned *left, const char *what,
                                     struct dvi_elf_note *out, struct devimg_error *err)
{
    if (dvi_left(c) == 0)
        return DEVIMG_END;
    if (*left == 0)
        return dvi_fail(err, DEVIMG_MALFORMED, c->view, c->at,
                        "more than %d notes: that many are read", (int)DVI_MOST_ELF_NOTES);
    --*left;
    const uint32_t owner_size = dvi_le32(c), size = dvi_le32(c);
    out->type = dvi_le32(c);
    out->owner = dvi_take(c, owner_size);
    dvi_skip(c, -owner_size & 3);
    out->data = dvi_take(c, size);
    DVI_TRY(dvi_cursor_check(c, what, err));
    const size_t padding = -size & 3; /* the last note of a section may lack it */
    dvi_skip(c, padding < dvi_left(c) ? padding : dvi_left(c));
    return DEVIMG_OK;
}

bool dvi_elf_note_is_of(const struct dvi_elf_note *note, const char *owner)
{
    const size_t size = strlen(owner);
    return dvi_starts_with(note->owner, owner, size) && dvi_all_zero(dvi_from(note->owner, size));
}
