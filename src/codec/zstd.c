/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zstandard frames, little-endian. Source: RFC 8878, section 3.1.1.
 *
 *    0  magic u32         0xFD2FB528
 *    4  descriptor u8     bits 7:6 form of the content size, 5 single segment, 2 checksum,
 *                         1:0 form of the dictionary
 *       window u8         unless single segment
 *       dictionary        0, 1, 2 or 4 bytes
 *       content size      0 (1 when single segment), 2 (plus 256), 4 or 8 bytes
 *       blocks            u24: bit 0 last, bits 2:1 type (0 raw, 1 RLE, 2 compressed, 3 reserved),
 *                         the rest the size; an RLE block holds one byte whatever its size
 *       checksum u32      when bit 2 of the descriptor is set
 */
#include "codec/codec.h"

#include <inttypes.h>
#include <stdlib.h>

#include "config.h"

#if DVI_HAVE_ZSTD
#include <zstd.h>
#endif

static const uint8_t magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
enum { BLOCK_RLE = 1, BLOCK_RESERVED = 3 };

bool dvi_zstd_match(struct dvi_view v)
{
    return dvi_starts_with(v, magic, sizeof magic);
}

static uint64_t content_size(struct dvi_cursor *c, unsigned form, bool single_segment)
{
    switch (form) {
    case 0: return single_segment ? dvi_u8(c) : DEVIMG_UNKNOWN;
    case 1: return (uint64_t)dvi_le16(c) + 256;
    case 2: return dvi_le32(c);
    default: return dvi_le64(c);
    }
}

enum devimg_status dvi_zstd_frame_at(struct dvi_view v, struct dvi_zstd_frame *out,
                                     struct devimg_error *err)
{
    static const uint8_t dictionary_sizes[4] = { 0, 1, 2, 4 };
    struct dvi_cursor c = dvi_cursor_at(v, sizeof magic);
    const uint8_t descriptor = dvi_u8(&c);
    const bool single_segment = (descriptor & 0x20) != 0;
    if (!single_segment)
        dvi_skip(&c, 1);
    dvi_skip(&c, dictionary_sizes[descriptor & 3]);
    const uint64_t size = content_size(&c, descriptor >> 6, single_segment);
    DVI_TRY(dvi_cursor_check(&c, "zstd frame header", err));
    for (bool last = false; !last;) {
        const size_t at = c.at;
        const uint32_t low = dvi_le16(&c);
        const uint32_t header = low | (uint32_t)dvi_u8(&c) << 16;
        const uint32_t type = header >> 1 & 3;
        last = (header & 1) != 0;
        DVI_TRY(dvi_cursor_check(&c, "zstd block header", err));
        if (type == BLOCK_RESERVED) /* before its size, which means nothing */
            return dvi_fail(err, DEVIMG_MALFORMED, v, at, "zstd block of reserved type 3");
        dvi_skip(&c, type == BLOCK_RLE ? 1 : header >> 3);
        DVI_TRY(dvi_cursor_check(&c, "zstd block", err));
    }
    if ((descriptor & 4) != 0)
        dvi_skip(&c, 4);
    DVI_TRY(dvi_cursor_check(&c, "zstd checksum", err));
    DVI_TRY(dvi_slice(v, 0, c.at, "zstd frame", &out->stored, err));
    out->size = size;
    return DEVIMG_OK;
}

enum devimg_status dvi_buffer_room(struct dvi_buffer *buffer, uint64_t size, const char *source,
                                   struct devimg_error *err)
{
    if (size <= buffer->room)
        return DEVIMG_OK;
    uint8_t *bytes = size <= SIZE_MAX ? realloc(buffer->bytes, (size_t)size) : NULL;
    if (bytes == NULL)
        return dvi_fail_memory(err, source);
    buffer->bytes = bytes;
    buffer->room = (size_t)size;
    return DEVIMG_OK;
}

#if DVI_HAVE_ZSTD

static enum devimg_status make_room(struct dvi_buffer *buffer, uint64_t size, const char *source,
                                    struct devimg_error *err)
{
    if (buffer->zstd == NULL)
        buffer->zstd = ZSTD_createDCtx();
    if (buffer->zstd == NULL)
        return dvi_fail_memory(err, source);
    return dvi_buffer_room(buffer, size, source, err);
}

void dvi_buffer_free(struct dvi_buffer *buffer)
{
    (void)ZSTD_freeDCtx(buffer->zstd);
    free(buffer->bytes);
    *buffer = (struct dvi_buffer){ 0 };
}

/* What a frame can hold at most: each block makes 128 KiB at most (RFC 8878, 3.1.1.2.3). */
static uint64_t largest_possible(const struct dvi_zstd_frame *frame)
{
    enum { MOST_PER_BLOCK = 128 * 1024, BLOCK_HEADER = 3 };
    return ((uint64_t)frame->stored.size / BLOCK_HEADER + 1) * MOST_PER_BLOCK;
}

static enum devimg_status fail_limit(const struct dvi_zstd_frame *frame, uint64_t most,
                                     struct devimg_error *err)
{
    return dvi_fail(err, DEVIMG_LIMIT, frame->stored, 0,
                    "zstd frame inflates past the limit of %" PRIu64 " bytes (max-inflated-size)",
                    most);
}

/* Double the buffer until everything has come out, for a frame that does not state its size. */
static enum devimg_status inflate_unsized(const struct dvi_zstd_frame *frame, const char *source,
                                          uint64_t most, struct dvi_buffer *buffer,
                                          struct dvi_view *out, struct devimg_error *err)
{
    DVI_TRY(make_room(buffer, 64 * 1024, source, err));
    (void)ZSTD_DCtx_reset(buffer->zstd, ZSTD_reset_session_only);
    ZSTD_inBuffer in = { frame->stored.data, frame->stored.size, 0 };
    size_t done = 0;
    for (;;) {
        ZSTD_outBuffer to = { buffer->bytes, buffer->room, done };
        const size_t left = ZSTD_decompressStream(buffer->zstd, &to, &in);
        if (ZSTD_isError(left))
            return dvi_fail(err, DEVIMG_MALFORMED, frame->stored, 0, "zstd frame: %s",
                            ZSTD_getErrorName(left));
        done = to.pos;
        if (done > most)
            return fail_limit(frame, most, err);
        if (left == 0)
            break;
        if (done == buffer->room)
            DVI_TRY(make_room(buffer, (uint64_t)buffer->room * 2, source, err));
        else if (in.pos == in.size)
            return dvi_fail(err, DEVIMG_TRUNCATED, frame->stored, in.size,
                            "zstd frame ends before its last block is complete");
    }
    *out = dvi_view_of(buffer->bytes, done, source);
    return DEVIMG_OK;
}

enum devimg_status dvi_zstd_inflate(const struct dvi_zstd_frame *frame, const char *source,
                                    uint64_t most, struct dvi_buffer *buffer, struct dvi_view *out,
                                    struct devimg_error *err)
{
    if (frame->size == DEVIMG_UNKNOWN)
        return inflate_unsized(frame, source, most, buffer, out, err);
    if (frame->size > most)
        return fail_limit(frame, most, err);
    if (frame->size > largest_possible(frame))
        return dvi_fail(err, DEVIMG_MALFORMED, frame->stored, 0,
                        "zstd content size %" PRIu64
                        ": a frame of %zu bytes holds at most %" PRIu64,
                        frame->size, frame->stored.size, largest_possible(frame));
    DVI_TRY(make_room(buffer, frame->size > 0 ? frame->size : 1, source, err));
    const size_t got = ZSTD_decompressDCtx(buffer->zstd, buffer->bytes, (size_t)frame->size,
                                           frame->stored.data, frame->stored.size);
    if (ZSTD_isError(got))
        return dvi_fail(err, DEVIMG_MALFORMED, frame->stored, 0,
                        "zstd frame of %" PRIu64 " bytes: %s", frame->size, ZSTD_getErrorName(got));
    if (got != frame->size)
        return dvi_fail(err, DEVIMG_MALFORMED, frame->stored, 0,
                        "zstd content size %" PRIu64 ", but %zu bytes came out", frame->size, got);
    *out = dvi_view_of(buffer->bytes, got, source);
    return DEVIMG_OK;
}

struct dvi_zstd_measure dvi_zstd_measure_begin(int level)
{
    struct dvi_zstd_measure measure = { .encoder = ZSTD_createCCtx() };
    if (measure.encoder == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(measure.encoder, ZSTD_c_compressionLevel, level)))
        measure.size = DEVIMG_UNKNOWN;
    return measure;
}

/* False: all has come out, or it failed. */
static bool step(struct dvi_zstd_measure *measure, ZSTD_inBuffer *in, ZSTD_EndDirective what)
{
    uint8_t room[16384];
    ZSTD_outBuffer out = { room, sizeof room, 0 };
    const size_t left = ZSTD_compressStream2(measure->encoder, &out, in, what);
    measure->size = ZSTD_isError(left) ? DEVIMG_UNKNOWN : measure->size + out.pos;
    return measure->size != DEVIMG_UNKNOWN && (what == ZSTD_e_end ? left > 0 : in->pos < in->size);
}

void dvi_zstd_measure_add(struct dvi_zstd_measure *measure, struct dvi_view v)
{
    ZSTD_inBuffer in = { v.data, v.size, 0 };
    while (measure->size != DEVIMG_UNKNOWN && step(measure, &in, ZSTD_e_continue)) {
    }
}

uint64_t dvi_zstd_measure_end(struct dvi_zstd_measure *measure)
{
    ZSTD_inBuffer none = { "", 0, 0 };
    while (measure->size != DEVIMG_UNKNOWN && step(measure, &none, ZSTD_e_end)) {
    }
    (void)ZSTD_freeCCtx(measure->encoder);
    measure->encoder = NULL;
    return measure->size;
}

#else

struct dvi_zstd_measure dvi_zstd_measure_begin(int level)
{
    (void)level;
    return (struct dvi_zstd_measure){ .size = DEVIMG_UNKNOWN };
}

void dvi_zstd_measure_add(struct dvi_zstd_measure *measure, struct dvi_view v)
{
    (void)measure, (void)v;
}

uint64_t dvi_zstd_measure_end(struct dvi_zstd_measure *measure)
{
    return measure->size;
}

void dvi_buffer_free(struct dvi_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct dvi_buffer){ 0 };
}

enum devimg_status dvi_zstd_inflate(const struct dvi_zstd_frame *frame, const char *source,
                                    uint64_t most, struct dvi_buffer *buffer, struct dvi_view *out,
                                    struct devimg_error *err)
{
    (void)source, (void)most, (void)buffer, (void)out;
    return dvi_fail(err, DEVIMG_UNSUPPORTED, frame->stored, 0,
                    "zstd-compressed image: this devimg was built without zstd");
}

#endif
