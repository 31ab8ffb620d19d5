/* SPDX-License-Identifier: Apache-2.0 */
/* Names of anchors: what may be added to an object, and asked of a linker. */
#ifndef DVI_EDIT_ANCHOR_H
#define DVI_EDIT_ANCHOR_H

#include <stdbool.h>

enum { DVI_ANCHOR_LEAST = 9, DVI_ANCHOR_MOST = 1024 };

/** DVI_ANCHOR_LEAST to DVI_ANCHOR_MOST characters of ASCII, no blank, no quote. */
bool dvi_is_anchor_name(const char *name);

#endif
