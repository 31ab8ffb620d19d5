/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <string.h>

void dvi_sha256_begin(struct dvi_sha256 *sum)
{
    SHA256Init(&sum->context);
}

void dvi_sha256_add(struct dvi_sha256 *sum, const void *bytes, size_t size)
{
    SHA256Update(&sum->context, bytes, size);
}

void dvi_sha256_add_text(struct dvi_sha256 *sum, const char *text)
{
    dvi_sha256_add(sum, text, strlen(text) + 1);
}

void dvi_sha256_end(struct dvi_sha256 *sum, uint8_t out[DVI_SHA256_SIZE])
{
    SHA256Final(out, &sum->context);
}

void dvi_sha256_hex(const uint8_t digest[DVI_SHA256_SIZE], char out[DVI_SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < DVI_SHA256_SIZE; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[DVI_SHA256_HEX - 1] = '\0';
}
