/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of LLVM bitcode: where it ends, and the target triple of its module.
 * Source: llvm.org/docs/BitCodeFormat.html. Wrapper, little-endian: 0x0b17c0de, version u32,
 * offset u32, size u32. Bitcode: 'BC' 0xC0DE, then bits from the lowest of each byte on:
 *
 *    an abbreviation id, 2 bits wide outside of blocks, and by it
 *    0  END_BLOCK      padding to 32 bits
 *    1  ENTER_SUBBLOCK block id vbr8, id width inside vbr4, padding to 32 bits, words u32
 *    2  DEFINE_ABBREV  operands vbr5, each: literal? 1 bit; value vbr8, or encoding 3 bits and,
 *                      of fixed (1) and vbr (2), width vbr5
 *    3  UNABBREV       code vbr6, operands vbr6, each vbr6
 *
 * A module is block 8; its record 2 is the triple, a letter an operand, and stands without an
 * abbreviation before the first record that has one. Nothing says how long a stream without a
 * wrapper is: it is its blocks, of these kinds, one behind another at multiples of 4 bytes:
 *
 *    13 IDENTIFICATION, 8 MODULE, 23 STRTAB, 25 SYMTAB; 0 BLOCKINFO in old ones
 *
 * Their numbers: llvm/Bitcode/LLVMBitCodes.h. One stream may hold several modules (thin link-time
 * optimisation), which belong together.
 */
#include "object/bitcode.h"

#include <inttypes.h>
#include <string.h>

#include "object/magic.h"

enum { WRAPPER = 0x0b17c0de, MAGIC_BITS = 32, OUTER_WIDTH = 2, WORD = 32 };
enum { END_BLOCK, ENTER_SUBBLOCK, DEFINE_ABBREV, UNABBREV };
enum {
    BLOCK_INFO = 0,
    BLOCK_MODULE = 8,
    BLOCK_IDENTIFICATION = 13,
    BLOCK_STRTAB = 23,
    BLOCK_SYMTAB = 25
};
enum { RECORD_TRIPLE = 2, FIXED = 1, VBR = 2 };

/* A read past the end gives 0 and is remembered. */
struct bits {
    struct dvi_view bytes;
    uint64_t at; /* in bits */
    bool past;
};

static uint64_t fixed(struct bits *b, unsigned width)
{
    const uint64_t size = (uint64_t)b->bytes.size * 8;
    uint64_t value = 0;
    if (b->at > size || width > size - b->at) {
        b->past = true;
        return 0;
    }
    for (unsigned i = 0; i < width; i++, b->at++)
        value |= (uint64_t)(b->bytes.data[b->at / 8] >> b->at % 8 & 1) << i;
    return value;
}

/* Groups of `width` bits, the highest of each saying that another follows. */
static uint64_t vbr(struct bits *b, unsigned width)
{
    const uint64_t more = UINT64_C(1) << (width - 1);
    uint64_t value = 0, group = more;
    for (unsigned shift = 0; (group & more) != 0 && !b->past; shift += width - 1) {
        group = fixed(b, width);
        if (shift >= 64)
            b->past = true; /* no value is that long */
        else
            value |= (group & (more - 1)) << shift;
    }
    return value;
}

static void align(struct bits *b)
{
    b->at = (b->at + WORD - 1) / WORD * WORD;
}

/* Into a block; false: there is none to go into. */
static bool enter(struct bits *b, uint64_t *block, unsigned *width, uint64_t *end)
{
    *block = vbr(b, 8);
    *width = (unsigned)vbr(b, 4);
    align(b);
    *end = fixed(b, WORD) * WORD;
    *end += b->at;
    return !b->past && *width >= OUTER_WIDTH && *width <= WORD;
}

static void skip_abbreviation(struct bits *b)
{
    for (uint64_t left = vbr(b, 5); left > 0 && !b->past; left--) {
        if (fixed(b, 1) != 0) {
            (void)vbr(b, 8);
            continue;
        }
        const uint64_t encoding = fixed(b, 3);
        if (encoding == FIXED || encoding == VBR)
            (void)vbr(b, 5);
    }
}

/* The record at hand; true: it is the triple. */
static bool read_record(struct bits *b, char *out, size_t size)
{
    const bool is_triple = vbr(b, 6) == RECORD_TRIPLE;
    const uint64_t count = vbr(b, 6);
    for (uint64_t i = 0; i < count && !b->past; i++) {
        const uint64_t letter = vbr(b, 6);
        if (!is_triple)
            continue;
        if (i + 1 >= size || letter <= ' ' || letter > '~')
            return false;
        out[i] = (char)letter;
        out[i + 1] = '\0';
    }
    return is_triple && count > 0 && !b->past;
}

static bool read_module(struct bits *b, unsigned width, char *out, size_t size)
{
    while (!b->past) {
        uint64_t block = 0, end = 0;
        unsigned inner = 0;
        switch (fixed(b, width)) {
        case ENTER_SUBBLOCK:
            if (!enter(b, &block, &inner, &end))
                return false;
            b->at = end;
            break;
        case DEFINE_ABBREV: skip_abbreviation(b); break;
        case UNABBREV:
            if (read_record(b, out, size))
                return true;
            break;
        default: return false; /* the end, or the first record with an abbreviation */
        }
    }
    return false;
}

static bool is_stream(struct dvi_view v)
{
    return dvi_has_magic(v, DVI_MAGIC_BITCODE);
}

bool dvi_bitcode_match(struct dvi_view v)
{
    return is_stream(v) || dvi_peek32(v, 0) == WRAPPER;
}

static struct dvi_view unwrapped(struct dvi_view v)
{
    if (dvi_peek32(v, 0) != WRAPPER)
        return v;
    return dvi_head(dvi_from(v, dvi_peek32(v, 8)), dvi_peek32(v, 12));
}

static bool is_outer_block(uint64_t block)
{
    return block == BLOCK_INFO || block == BLOCK_MODULE || block == BLOCK_IDENTIFICATION ||
           block == BLOCK_STRTAB || block == BLOCK_SYMTAB;
}

/* wrapper: 0 magic u32, version u32, 8 offset u32, 12 size u32 of the stream, 16 CPU type u32 */
static enum devimg_status wrapper_extent(struct dvi_view v, struct dvi_view *out,
                                         struct devimg_error *err)
{
    enum { WRAPPER_SIZE = 20 };
    struct dvi_cursor c = dvi_cursor_at(v, 8);
    const uint32_t offset = dvi_le32(&c), size = dvi_le32(&c);
    dvi_skip(&c, 4);
    DVI_TRY(dvi_cursor_check(&c, "bitcode wrapper", err));
    if (offset < WRAPPER_SIZE)
        return dvi_fail(err, DEVIMG_MALFORMED, v, 8,
                        "bitcode wrapper: a stream at +%" PRIu32 ", expected +%d or behind", offset,
                        (int)WRAPPER_SIZE);
    DVI_TRY(dvi_slice(v, 0, (uint64_t)offset + size, "wrapped bitcode", out, err));
    if (is_stream(dvi_head(dvi_from(v, offset), size)))
        return DEVIMG_OK;
    return dvi_fail(err, DEVIMG_MALFORMED, v, offset,
                    "bitcode wrapper: no stream of bitcode at +%" PRIu32, offset);
}

enum devimg_status dvi_bitcode_extent(struct dvi_view v, struct dvi_view *out,
                                      struct devimg_error *err)
{
    struct bits b = { .bytes = v, .at = MAGIC_BITS };
    uint64_t size = MAGIC_BITS / 8, block = 0, end = 0;
    unsigned width = 0;
    if (dvi_peek32(v, 0) == WRAPPER)
        return wrapper_extent(v, out, err);
    while (fixed(&b, OUTER_WIDTH) == ENTER_SUBBLOCK && enter(&b, &block, &width, &end) &&
           is_outer_block(block)) {
        if (end / 8 > v.size)
            return dvi_fail(err, DEVIMG_TRUNCATED, v, size,
                            "bitcode block %" PRIu64 " that ends at +0x%" PRIx64
                            ": %zu bytes are there",
                            block, end / 8, v.size);
        size = end / 8;
        b.at = end;
    }
    return dvi_slice(v, 0, size, "bitcode", out, err);
}

bool dvi_bitcode_triple(struct dvi_view v, char *out, size_t size)
{
    v = unwrapped(v);
    struct bits b = { .bytes = v, .at = MAGIC_BITS };
    out[0] = '\0';
    if (!is_stream(v))
        return false;
    while (fixed(&b, OUTER_WIDTH) == ENTER_SUBBLOCK) {
        uint64_t block = 0, end = 0;
        unsigned width = 0;
        if (!enter(&b, &block, &width, &end))
            return false;
        if (block == BLOCK_MODULE)
            return read_module(&b, width, out, size);
        b.at = end;
    }
    return false;
}

bool dvi_bitcode_is_for_host(const char *triple)
{
    static const char *const devices[] = { "spir", "amdgcn", "nvptx", "r600", "native_cpu" };
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (strncmp(triple, devices[i], strlen(devices[i])) == 0)
            return false;
    return true;
}
