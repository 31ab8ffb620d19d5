/* SPDX-License-Identifier: Apache-2.0 */
/* zlib streams (RFC 1950) of a size that is known before. */
#include <inttypes.h>

#include "codec/codec.h"
#include "config.h"

#if DVI_HAVE_ZLIB
#define ZLIB_CONST /* input is not written to */
#include <zlib.h>
#endif

/* The first byte says deflate with a window of at most 32 KiB; both together are a multiple of 31. */
bool dvi_zlib_match(struct dvi_view v)
{
    return v.size >= 2 && (v.data[0] & 0x0f) == 8 && v.data[0] >> 4 <= 7 &&
           (v.data[0] * 256U + v.data[1]) % 31 == 0;
}

#if DVI_HAVE_ZLIB

enum devimg_status dvi_zlib_inflate(struct dvi_view stored, uint64_t size, const char *source,
                                    uint64_t most, struct dvi_buffer *buffer, struct dvi_view *out,
                                    struct devimg_error *err)
{
    enum { MOST_RATIO = 1032 }; /* of deflate: https://zlib.net/zlib_tech.html */
    if (size > most)
        return dvi_fail(
            err, DEVIMG_LIMIT, stored, 0,
            "zlib stream inflates past the limit of %" PRIu64 " bytes (max-inflated-size)", most);
    if (size / MOST_RATIO > stored.size)
        return dvi_fail(err, DEVIMG_MALFORMED, stored, 0,
                        "zlib stream of %zu bytes: stated to inflate to %" PRIu64, stored.size,
                        size);
    DVI_TRY(dvi_buffer_room(buffer, size > 0 ? size : 1, source, err));
    uLongf got = (uLongf)size; /* both sizes were allocated or mapped: they fit */
    uLong taken = (uLong)stored.size;
    const int status = uncompress2(buffer->bytes, &got, stored.data, &taken);
    if (status == Z_MEM_ERROR)
        return dvi_fail_memory(err, source);
    if (status != Z_OK || got != size)
        return dvi_fail(
            err, DEVIMG_MALFORMED, stored, 0, "zlib stream: %s, %lu of %" PRIu64 " bytes came out",
            status == Z_OK ? "it ends too early" : zError(status), (unsigned long)got, size);
    *out = dvi_view_of(buffer->bytes, (size_t)size, source);
    return DEVIMG_OK;
}

enum devimg_status dvi_zlib_extent(struct dvi_view v, struct dvi_view *out,
                                   struct devimg_error *err)
{
    uint8_t unused[16384];
    z_stream stream = { .next_in = NULL };
    struct dvi_view rest = v;
    if (inflateInit(&stream) != Z_OK)
        return dvi_fail_memory(err, v.source);
    int status = Z_OK;
    while (status == Z_OK) {
        if (stream.avail_in == 0) {
            const struct dvi_view part = dvi_head(rest, 1U << 30);
            stream.next_in = part.data;
            stream.avail_in = (uInt)part.size;
            rest = dvi_from(rest, part.size);
        }
        stream.next_out = unused;
        stream.avail_out = sizeof unused;
        status = inflate(&stream, Z_NO_FLUSH);
    }
    const size_t left = rest.size + stream.avail_in;
    (void)inflateEnd(&stream);
    if (status == Z_MEM_ERROR)
        return dvi_fail_memory(err, v.source);
    if (status != Z_STREAM_END)
        return dvi_fail(err, DEVIMG_MALFORMED, v, v.size - left, "zlib stream: %s",
                        status == Z_BUF_ERROR ? "it goes on past its bytes" : zError(status));
    *out = dvi_head(v, v.size - left);
    return DEVIMG_OK;
}

#else

enum devimg_status dvi_zlib_extent(struct dvi_view v, struct dvi_view *out,
                                   struct devimg_error *err)
{
    *out = v;
    (void)err;
    return DEVIMG_OK;
}

enum devimg_status dvi_zlib_inflate(struct dvi_view stored, uint64_t size, const char *source,
                                    uint64_t most, struct dvi_buffer *buffer, struct dvi_view *out,
                                    struct devimg_error *err)
{
    (void)size, (void)source, (void)most, (void)buffer, (void)out;
    return dvi_fail(err, DEVIMG_UNSUPPORTED, stored, 0,
                    "zlib-compressed images: this devimg was built without zlib");
}

#endif
