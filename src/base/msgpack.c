/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: https://github.com/msgpack/msgpack/blob/master/spec.md, "Formats". Numbers are big-endian.
 *
 *   00..7f  number           c4..c6  bytes, size u8 u16 u32     d4..d8  extension, 1 2 4 8 16 bytes
 *   80..8f  map              c7..c9  extension, the same, u8    d9..db  text, size u8 u16 u32
 *   90..9f  array            ca, cb  float, 4 and 8 bytes       dc, dd  array, count u16 u32
 *   a0..bf  text             cc..cf  number u8 u16 u32 u64      de, df  map, count u16 u32
 *   c0 nil, c2 c3 no, yes    d0..d3  the same, signed           e0..ff  -32 to -1
 */
#include "base/msgpack.h"

#include <inttypes.h>

/* A number of 1, 2, 4 or 8 bytes. */
static uint64_t big(struct dvi_cursor *c, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value = value << 8 | dvi_u8(c);
    return value;
}

static void take_bytes(struct dvi_cursor *c, enum dvi_msgpack_type type, uint64_t size,
                       struct dvi_msgpack_item *out)
{
    out->type = type;
    out->bytes = dvi_take(c, size);
}

static void take_signed(struct dvi_cursor *c, unsigned size, struct dvi_msgpack_item *out)
{
    out->number = dvi_sign_extended(big(c, size), 8 * size);
    out->type = (int64_t)out->number < 0 ? DVI_MSGPACK_INT : DVI_MSGPACK_UINT;
}

static void take_count(enum dvi_msgpack_type type, uint64_t count, struct dvi_msgpack_item *out)
{
    out->type = type;
    out->number = count;
}

/* From c4 to df: what the byte starts. False: it starts nothing. */
static void take_long(struct dvi_cursor *c, uint8_t byte, struct dvi_msgpack_item *out)
{
    switch (byte) {
    case 0xc4:
    case 0xc5:
    case 0xc6: take_bytes(c, DVI_MSGPACK_BYTES, big(c, 1U << (byte - 0xc4)), out); break;
    case 0xc7:
    case 0xc8:
    case 0xc9: take_bytes(c, DVI_MSGPACK_BYTES, big(c, 1U << (byte - 0xc7)) + 1, out); break;
    case 0xca:
    case 0xcb: take_bytes(c, DVI_MSGPACK_FLOAT, byte == 0xca ? 4 : 8, out); break;
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: take_count(DVI_MSGPACK_UINT, big(c, 1U << (byte - 0xcc)), out); break;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: take_signed(c, 1U << (byte - 0xd0), out); break;
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8: take_bytes(c, DVI_MSGPACK_BYTES, (1U << (byte - 0xd4)) + 1, out); break;
    case 0xd9:
    case 0xda:
    case 0xdb: take_bytes(c, DVI_MSGPACK_TEXT, big(c, 1U << (byte - 0xd9)), out); break;
    case 0xdc:
    case 0xdd: take_count(DVI_MSGPACK_ARRAY, big(c, byte == 0xdc ? 2 : 4), out); break;
    default: take_count(DVI_MSGPACK_MAP, big(c, byte == 0xde ? 2 : 4), out); break;
    }
}

enum devimg_status dvi_msgpack_next(struct dvi_cursor *c, struct dvi_msgpack_item *out,
                                    struct devimg_error *err)
{
    struct dvi_msgpack_item item = { .at = c->at, .bytes = dvi_from(c->view, c->at) };
    const uint8_t byte = dvi_u8(c);
    DVI_TRY(dvi_cursor_check(c, "MessagePack value", err));
    if (byte == 0xc1)
        return dvi_fail(err, DEVIMG_MALFORMED, c->view, item.at, "byte c1 starts no value");
    if (byte < 0x80)
        take_count(DVI_MSGPACK_UINT, byte, &item);
    else if (byte < 0x90)
        take_count(DVI_MSGPACK_MAP, byte & 0x0fU, &item);
    else if (byte < 0xa0)
        take_count(DVI_MSGPACK_ARRAY, byte & 0x0fU, &item);
    else if (byte < 0xc0)
        take_bytes(c, DVI_MSGPACK_TEXT, byte & 0x1fU, &item);
    else if (byte == 0xc0)
        item.type = DVI_MSGPACK_NIL;
    else if (byte < 0xc4)
        take_count(DVI_MSGPACK_BOOL, byte & 1U, &item);
    else if (byte < 0xe0)
        take_long(c, byte, &item);
    else
        item = (struct dvi_msgpack_item){ DVI_MSGPACK_INT, dvi_sign_extended(byte, 8), item.bytes,
                                          item.at };
    DVI_TRY(dvi_cursor_check(c, "MessagePack value", err));
    const bool holds = item.type == DVI_MSGPACK_ARRAY || item.type == DVI_MSGPACK_MAP;
    const uint64_t most = item.type == DVI_MSGPACK_MAP ? dvi_left(c) / 2 : dvi_left(c);
    if (holds && item.number > most)
        return dvi_fail(err, DEVIMG_MALFORMED, c->view, item.at,
                        "MessagePack %s of %" PRIu64 " items: at most %" PRIu64 " fit",
                        item.type == DVI_MSGPACK_MAP ? "map" : "array", item.number, most);
    *out = item;
    return DEVIMG_OK;
}

/* `left` values, without recursion: each takes a byte at least, so that it ends. */
static enum devimg_status skip_values(struct dvi_cursor *c, uint64_t left, struct devimg_error *err)
{
    struct dvi_msgpack_item item = { 0 };
    for (; left > 0; left--) {
        DVI_TRY(dvi_msgpack_next(c, &item, err));
        if (item.type == DVI_MSGPACK_ARRAY)
            left += item.number;
        else if (item.type == DVI_MSGPACK_MAP)
            left += 2 * item.number;
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_msgpack_skip(struct dvi_cursor *c, struct devimg_error *err)
{
    return skip_values(c, 1, err);
}

enum devimg_status dvi_msgpack_skip_rest(struct dvi_cursor *c, const struct dvi_msgpack_item *item,
                                         struct devimg_error *err)
{
    return skip_values(c,
                       item->type == DVI_MSGPACK_ARRAY ? item->number
                       : item->type == DVI_MSGPACK_MAP ? 2 * item->number
                                                       : 0,
                       err);
}

enum devimg_status dvi_msgpack_expect(struct dvi_cursor *c, enum dvi_msgpack_type type,
                                      const char *what, struct dvi_msgpack_item *out,
                                      struct devimg_error *err)
{
    static const char *const names[] = {
        "nil",   "a truth value", "a number", "a negative number", "a float", "a text",
        "bytes", "an array",      "a map"
    };
    DVI_TRY(dvi_msgpack_next(c, out, err));
    if (out->type != type)
        return dvi_fail(err, DEVIMG_MALFORMED, c->view, out->at, "%s is %s, not %s", what,
                        names[out->type], names[type]);
    return DEVIMG_OK;
}
