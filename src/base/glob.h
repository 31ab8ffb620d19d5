/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns that names are matched with. */
#ifndef DVI_BASE_GLOB_H
#define DVI_BASE_GLOB_H

#include <stdbool.h>

/** Shell-like glob: * ? [a-z] [!a-z] and \x; linear in memory, at most |pattern| * |text| steps. */
bool dvi_glob(const char *pattern, const char *text);
/** The same for a path: all of it, or what stands behind one of its slashes ("src/a.c" matches
 *  "/home/x/src/a.c"). */
bool dvi_glob_path(const char *pattern, const char *path);
/** The same for a kernel's name: as the image has it, or as text output shows it. */
bool dvi_glob_kernel(const char *pattern, const char *name);

#endif
