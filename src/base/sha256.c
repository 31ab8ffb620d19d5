/* SPDX-License-Identifier: Apache-2.0 */
/* Source: FIPS 180-4, "Secure Hash Standard", sections 4.1.2, 4.2.2, 5.1.1, 5.3.3 and 6.2. */
#include "base/sha256.h"

#include <string.h>

enum { BLOCK = 64, ROUNDS = 64, LENGTH = 8 };

/* clang-format off */
static const uint32_t round_constants[ROUNDS] = { /* 4.2.2 */
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const uint32_t first_state[8] = { /* 5.3.3 */
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
/* clang-format on */

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* 6.2.2, step 1: the message schedule. */
static void schedule(const uint8_t *block, uint32_t w[ROUNDS])
{
    for (size_t i = 0; i < 16; i++)
        w[i] = big_endian(block + 4 * i);
    for (size_t i = 16; i < ROUNDS; i++) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

/* 6.2.2, steps 2 to 4. */
static void take_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[ROUNDS] = { 0 }, s[8];
    schedule(block, w);
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < ROUNDS; i++) {
        const uint32_t a = s[0], e = s[4];
        const uint32_t choice = (e & s[5]) ^ (~e & s[6]);
        const uint32_t majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
        const uint32_t one = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice +
                             round_constants[i] + w[i];
        const uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += s[i];
}

void dvi_sha256_begin(struct dvi_sha256 *sum)
{
    *sum = (struct dvi_sha256){ 0 };
    memcpy(sum->state, first_state, sizeof sum->state);
}

void dvi_sha256_add(struct dvi_sha256 *sum, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    size_t used = (size_t)(sum->size % BLOCK);
    sum->size += size;
    while (size > 0) {
        const size_t part = size < BLOCK - used ? size : BLOCK - used;
        if (part == BLOCK) {
            take_block(sum->state, at);
        } else {
            memcpy(sum->block + used, at, part);
            if (used + part == BLOCK)
                take_block(sum->state, sum->block);
        }
        used = (used + part) % BLOCK;
        at += part;
        size -= part;
    }
}

void dvi_sha256_add_text(struct dvi_sha256 *sum, const char *text)
{
    dvi_sha256_add(sum, text, strlen(text) + 1);
}

void dvi_sha256_end(struct dvi_sha256 *sum, uint8_t out[DVI_SHA256_SIZE])
{
    static const uint8_t padding[BLOCK] = { 0x80 }; /* 5.1.1: a one, zeros, the length in bits */
    const uint64_t bits = sum->size * 8;
    const size_t used = (size_t)(sum->size % BLOCK);
    uint8_t length[LENGTH];
    const size_t blocks = used < BLOCK - LENGTH ? 1 : 2;
    dvi_sha256_add(sum, padding, blocks * BLOCK - LENGTH - used);
    for (size_t i = 0; i < LENGTH; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    dvi_sha256_add(sum, length, LENGTH);
    for (size_t i = 0; i < DVI_SHA256_SIZE; i++)
        out[i] = (uint8_t)(sum->state[i / 4] >> (24 - 8 * (i % 4)));
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
