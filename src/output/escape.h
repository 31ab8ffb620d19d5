/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of unknown encoding, made safe to show. Only output/ escapes; readers keep bytes. */
#ifndef DVI_OUTPUT_ESCAPE_H
#define DVI_OUTPUT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Bytes of the UTF-8 sequence at `text`, 1 to 4; 0: none (cut, overlong, surrogate, too large). */
size_t dvi_utf8_size(const char *text, size_t left);
bool dvi_utf8_valid(const char *text);

/** How many bytes at the start of `text` are printable ASCII, and neither a quote nor a backslash:
 *  what every form writes as it is. */
size_t dvi_plain_size(const char *text, size_t left);

/**
 * Write `text` so that it cannot steer a terminal: control characters, C1 controls, characters that
 * turn the direction of text, and bytes that are no UTF-8 become \xNN, each byte of them.
 * @param file  NULL: only measure.
 * @return the width: one column a code point, four an escaped byte.
 */
size_t dvi_escape(FILE *file, const char *text);

#endif
