/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 as of Unicode 15, table 3-7 "Well-Formed UTF-8 Byte Sequences".
 *
 *   00..7F
 *   C2..DF  80..BF
 *   E0      A0..BF  80..BF
 *   E1..EC  80..BF  80..BF      EE..EF likewise
 *   ED      80..9F  80..BF
 *   F0      90..BF  80..BF  80..BF
 *   F1..F3  80..BF  80..BF  80..BF
 *   F4      80..8F  80..BF  80..BF
 */
#include "output/escape.h"

#include <stdint.h>
#include <string.h>

static bool between(unsigned char byte, unsigned low, unsigned high)
{
    return byte >= low && byte <= high;
}

size_t dvi_utf8_size(const char *text, size_t left)
{
    unsigned char b[4] = { 0 };
    memcpy(b, text, left < 4 ? left : 4); /* a missing byte reads as 0, which continues nothing */
    if (left == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    if (between(b[0], 0xc2, 0xdf))
        return between(b[1], 0x80, 0xbf) ? 2 : 0;
    if (between(b[0], 0xe0, 0xef)) {
        const unsigned low = b[0] == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = b[0] == 0xed ? 0x9f : 0xbf;
        return between(b[1], low, high) && between(b[2], 0x80, 0xbf) ? 3 : 0;
    }
    if (between(b[0], 0xf0, 0xf4)) {
        const unsigned low = b[0] == 0xf0 ? 0x90 : 0x80;
        const unsigned high = b[0] == 0xf4 ? 0x8f : 0xbf;
        return between(b[1], low, high) && between(b[2], 0x80, 0xbf) && between(b[3], 0x80, 0xbf)
                   ? 4
                   : 0;
    }
    return 0;
}

bool dvi_utf8_valid(const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        const size_t size = dvi_utf8_size(text, left);
        if (size == 0)
            return false;
        text += size;
        left -= size;
    }
    return true;
}

/* Controls (U+0000..1F, 7F..9F), line separators and bidirectional controls (Unicode 15, UAX 9). */
static bool steers(const char *text, size_t size)
{
    const unsigned char *b = (const unsigned char *)text;
    if (size == 1)
        return b[0] < 0x20 || b[0] == 0x7f;
    if (size == 2)
        return (b[0] == 0xc2 && b[1] < 0xa0) || /* U+0080..9F */
               (b[0] == 0xd8 && b[1] == 0x9c);  /* U+061C */
    if (size == 3 && b[0] == 0xe2 && b[1] == 0x80)
        return between(b[2], 0x8e, 0x8f) || between(b[2], 0xa8, 0xae); /* U+200E,F 2028..2E */
    return size == 3 && b[0] == 0xe2 && b[1] == 0x81 && between(b[2], 0xa6, 0xa9); /* 2066..69 */
}

size_t dvi_plain_size(const char *text, size_t left)
{
    size_t size = 0;
    while (size < left && between((unsigned char)text[size], 0x20, 0x7e) && text[size] != '"' &&
           text[size] != '\\')
        size++;
    return size;
}

size_t dvi_escape(FILE *file, const char *text)
{
    size_t width = 0;
    for (size_t left = strlen(text); left > 0;) {
        const size_t plain = dvi_plain_size(text, left);
        if (plain > 0) {
            if (file != NULL)
                fwrite(text, 1, plain, file);
            width += plain;
            text += plain;
            left -= plain;
            continue;
        }
        const size_t size = dvi_utf8_size(text, left);
        const size_t taken = size == 0 ? 1 : size;
        if (size != 0 && !steers(text, size)) {
            if (file != NULL)
                fwrite(text, 1, size, file);
            width++;
        } else {
            for (size_t i = 0; file != NULL && i < taken; i++)
                fprintf(file, "\\x%02x", (unsigned)(unsigned char)text[i]);
            width += 4 * taken;
        }
        text += taken;
        left -= taken;
    }
    return width;
}
