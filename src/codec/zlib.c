/* SPDX-License-Identifier: Apache-2.0 */
/* zlib streams (RFC 1950) of a size that is known before. */
#include <inttypes.h>

#include "codec/codec.h"
#include "config.h"

#if DVI_HAVE_ZLIB
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

#else

enum devimg_status dvi_zlib_inflate(struct dvi_view stored, uint64_t size, const char *source,
                                    uint64_t most, struct dvi_buffer *buffer, struct dvi_view *out,
                                    struct devimg_error *err)
{
    (void)size, (void)source, (void)most, (void)buffer, (void)out;
    return dvi_fail(err, DEVIMG_UNSUPPORTED, stored, 0,
                    "zlib-compressed images: this devimg was built without zlib");
}

#endif
