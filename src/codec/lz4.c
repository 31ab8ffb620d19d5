/* SPDX-License-Identifier: Apache-2.0 */
/* LZ4 blocks without a frame, of a size that is known before. Source: lz4/lz4 doc/lz4_Block_format.md. */
#include <inttypes.h>
#include <limits.h>

#include "codec/codec.h"
#include "config.h"

#if DVI_HAVE_LZ4
#include <lz4.h>

enum devimg_status dvi_lz4_inflate(struct dvi_view stored, uint64_t size, const char *source,
                                   uint64_t most, struct dvi_buffer *buffer, struct dvi_view *out,
                                   struct devimg_error *err)
{
    enum { MOST_RATIO = 255 }; /* a byte of a length adds 255 at most */
    if (size > most)
        return dvi_fail(
            err, DEVIMG_LIMIT, stored, 0,
            "LZ4 block inflates past the limit of %" PRIu64 " bytes (max-inflated-size)", most);
    if (size / MOST_RATIO > stored.size)
        return dvi_fail(err, DEVIMG_MALFORMED, stored, 0,
                        "LZ4 block of %zu bytes: stated to inflate to %" PRIu64, stored.size, size);
    if (size > INT_MAX || stored.size > INT_MAX)
        return dvi_fail(err, DEVIMG_LIMIT, stored, 0,
                        "LZ4 block of %zu bytes, inflated %" PRIu64 ": at most %d are read",
                        stored.size, size, INT_MAX);
    DVI_TRY(dvi_buffer_room(buffer, size > 0 ? size : 1, source, err));
    const int got = LZ4_decompress_safe((const char *)stored.data, (char *)buffer->bytes,
                                        (int)stored.size, (int)size);
    if (got < 0)
        return dvi_fail(err, DEVIMG_MALFORMED, stored, 0,
                        "LZ4 block of %zu bytes does not decode to %" PRIu64, stored.size, size);
    if ((uint64_t)got != size)
        return dvi_fail(err, DEVIMG_MALFORMED, stored, 0,
                        "LZ4 block stated to inflate to %" PRIu64 " bytes: %d came out", size, got);
    *out = dvi_view_of(buffer->bytes, (size_t)size, source);
    return DEVIMG_OK;
}

#else

enum devimg_status dvi_lz4_inflate(struct dvi_view stored, uint64_t size, const char *source,
                                   uint64_t most, struct dvi_buffer *buffer, struct dvi_view *out,
                                   struct devimg_error *err)
{
    (void)size, (void)source, (void)most, (void)buffer, (void)out;
    return dvi_fail(err, DEVIMG_UNSUPPORTED, stored, 0,
                    "LZ4-compressed image: this devimg was built without lz4");
}

#endif
