/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted lists of names, in byte order. */
#ifndef DVI_BASE_NAMES_H
#define DVI_BASE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/** Sort, and keep each once: how many are left. */
uint32_t dvi_names_sort(const char **names, uint32_t count);
/** True when the sorted names have it. */
bool dvi_names_have(const char *const *names, uint32_t count, const char *name);

#endif
