/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256: what a file held, in 32 bytes. */
#ifndef DVI_BASE_SHA256_H
#define DVI_BASE_SHA256_H

#include <sha2.h>

#include "base/view.h"

enum { DVI_SHA256_SIZE = 32, DVI_SHA256_HEX = 65 }; /* the text has a NUL behind it */

/** Start with dvi_sha256_begin(). */
struct dvi_sha256 {
    SHA2_CTX context;
};

void dvi_sha256_begin(struct dvi_sha256 *sum);
void dvi_sha256_add(struct dvi_sha256 *sum, const void *bytes, size_t size);
/** The text and its NUL, so that "ab", "c" is not "a", "bc". */
void dvi_sha256_add_text(struct dvi_sha256 *sum, const char *text);
void dvi_sha256_end(struct dvi_sha256 *sum, uint8_t out[DVI_SHA256_SIZE]);
void dvi_sha256_hex(const uint8_t digest[DVI_SHA256_SIZE], char out[DVI_SHA256_HEX]);

#endif
