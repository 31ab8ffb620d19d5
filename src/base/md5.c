/* SPDX-License-Identifier: Apache-2.0 */
/* Source: RFC 1321, sections 3.1 to 3.5. */
#include "base/md5.h"

#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56 };

/* floor(2^32 * |sin(i + 1)|), section 3.4 */
static const uint32_t sines[BLOCK] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391
};
static const uint8_t shifts[4][4] = {
    { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 }
};

static uint32_t rotated(uint32_t value, unsigned by)
{
    return value << by | value >> (32 - by);
}

static void add_block(uint32_t state[4], const uint8_t *block)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (unsigned i = 0; i < BLOCK; i++) {
        const unsigned round = i / 16;
        uint32_t mixed = 0;
        unsigned word = 0;
        switch (round) {
        case 0:
            mixed = (b & c) | (~b & d);
            word = i;
            break;
        case 1:
            mixed = (d & b) | (~d & c);
            word = 5 * i + 1;
            break;
        case 2:
            mixed = b ^ c ^ d;
            word = 3 * i + 5;
            break;
        default:
            mixed = c ^ (b | ~d);
            word = 7 * i;
            break;
        }
        mixed += a + sines[i] + dvi_bytes32(block + 4 * (size_t)(word % 16));
        a = d;
        d = c;
        c = b;
        b += rotated(mixed, shifts[round][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

static void put32(uint8_t *out, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

void dvi_md5(struct dvi_view bytes, uint8_t out[DVI_MD5_SIZE])
{
    uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
    uint8_t last[2 * BLOCK] = { 0 };
    size_t at = 0;
    for (; bytes.size - at >= BLOCK; at += BLOCK)
        add_block(state, bytes.data + at);
    const size_t rest = bytes.size - at;
    memcpy(last, bytes.data + at, rest);
    last[rest] = 0x80;
    const size_t end = rest < LENGTH_AT ? LENGTH_AT : BLOCK + LENGTH_AT;
    put32(last + end, (uint32_t)((uint64_t)bytes.size << 3));
    put32(last + end + 4, (uint32_t)((uint64_t)bytes.size >> 29));
    add_block(state, last);
    if (end > BLOCK)
        add_block(state, last + BLOCK);
    for (size_t i = 0; i < 4; i++)
        put32(out + 4 * i, state[i]);
}
