/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

enum { ROOM = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's table, one row at a time: row[j] is what makes b[0..j) of the part of `a` so far.
 */
size_t dvi_edit_distance(const char *a, const char *b)
{
    size_t row[ROOM];
    const size_t a_size = strlen(a), b_size = strlen(b);
    if (a_size >= ROOM || b_size >= ROOM)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            const size_t replaced = diagonal + (a[i - 1] != b[j - 1] ? 1U : 0U);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_size];
}

const char *dvi_nearest_word(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;
    for (; *words != NULL; words++) {
        const size_t d = dvi_edit_distance(word, *words);
        if (d < least && d <= 1 + strlen(*words) / 3) {
            least = d;
            best = *words;
        }
    }
    return best;
}
