/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted lists of names, in byte order; what C and C++ take as a name. */
#ifndef DVI_BASE_NAMES_H
#define DVI_BASE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/** Sort, and keep each once: how many are left. */
uint32_t dvi_names_sort(const char **names, uint32_t count);
/** True when the sorted names have it. */
bool dvi_names_have(const char *const *names, uint32_t count, const char *name);

/** "_a1": letters, digits and underscores, no digit first. */
bool dvi_is_identifier(const char *text);
/** Identifiers with "::" between. */
bool dvi_is_namespace(const char *text);

#endif
