/* SPDX-License-Identifier: Apache-2.0 */
/* Orders for sorting, one for each kind of key. */
#ifndef DVI_BASE_COMPARE_H
#define DVI_BASE_COMPARE_H

#include <stdint.h>
#include <string.h>

static inline int dvi_compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/** strcmp, with NULL before every text. */
static inline int dvi_compare_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

#endif
