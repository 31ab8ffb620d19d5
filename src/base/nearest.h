/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": how far one word is from another. */
#ifndef DVI_BASE_NEAREST_H
#define DVI_BASE_NEAREST_H

#include <stddef.h>

/** Letters to add, drop or replace to make `b` of `a`; SIZE_MAX for words of 64 bytes or more,
 *  which are far from everything. */
size_t dvi_edit_distance(const char *a, const char *b);

/** The word of `words` (NULL-ended) nearest to `word`, or NULL when none is near. */
const char *dvi_nearest_word(const char *word, const char *const *words);

#endif
