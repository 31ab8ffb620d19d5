/* SPDX-License-Identifier: Apache-2.0 */
/* Small text files, and what they are made of: lines and fields. */
#ifndef DVI_BASE_TEXT_H
#define DVI_BASE_TEXT_H

#include "base/arena.h"

/**
 * A small text file, copied into the arena; trailing NULs are left out.
 * @return DEVIMG_IO when it cannot be read, DEVIMG_LIMIT past `most` bytes, NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_read_text(const char *path, uint64_t most,
                                                struct dvi_arena *arena, struct dvi_view *out,
                                                struct devimg_error *err);
/** dvi_read_text() for a list of what is allowed: one that is not there yet (`*is_missing`) allows
 *  nothing. */
DEVIMG_CHECKED enum devimg_status dvi_read_list(const char *path, uint64_t most,
                                                struct dvi_arena *arena, struct dvi_view *out,
                                                bool *is_missing, struct devimg_error *err);

/** The next line of `*rest` without its line end; false: none is left. */
bool dvi_next_line(struct dvi_view *rest, struct dvi_view *line);
/** What stands before the next `mark` of `*rest`, or all of it; false: nothing is left. */
bool dvi_next_field(struct dvi_view *rest, char mark, struct dvi_view *field);
/** Without the blanks, tabs and line ends around it. */
struct dvi_view dvi_trimmed(struct dvi_view v);

/** A decimal number up to `most` that is all of `text`; `units` allows K, M, G and T (1024 and its powers)
 *  after it, and "iB" after those. */
bool dvi_number_of(const char *text, bool units, uint64_t most, uint64_t *out);

/** What comes after the last '/' or '\\'. */
const char *dvi_base_name(const char *path);

#endif
