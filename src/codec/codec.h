/* SPDX-License-Identifier: Apache-2.0 */
/* Decompression under a budget. */
#ifndef DVI_CODEC_CODEC_H
#define DVI_CODEC_CODEC_H

#include "base/view.h"

/** One zstd frame, as its headers describe it; nothing is inflated. */
struct dvi_zstd_frame {
    struct dvi_view stored; /* the whole frame, to its last block and checksum */
    uint64_t size;          /* inflated bytes, DEVIMG_UNKNOWN when the header does not say */
};

bool dvi_zstd_match(struct dvi_view v);

/**
 * Measure the frame at the start of `v` by its block headers.
 * TRUNCATED: it goes on past `v`. MALFORMED: no frame (a reserved block type).
 * Source: RFC 8878, sections 3.1.1.1 and 3.1.1.2.
 */
DEVIMG_CHECKED enum devimg_status dvi_zstd_frame_at(struct dvi_view v, struct dvi_zstd_frame *out,
                                                    struct devimg_error *err);

/** Bytes that a worker inflates into, used again for image after image. Start with { 0 }. */
struct dvi_buffer {
    uint8_t *bytes;
    size_t room;
    void *zstd; /* decoder context */
};
void dvi_buffer_free(struct dvi_buffer *buffer);
/** At least `size` bytes; what was there is kept. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_buffer_room(struct dvi_buffer *buffer, uint64_t size,
                                                  const char *source, struct devimg_error *err);

/**
 * Inflate one frame into `buffer`. `*out` is valid until the buffer is used again; its offset is 0
 * and its source `source`.
 * LIMIT: the frame holds more than `most` bytes. MALFORMED: it does not decode, or decodes to
 * another size than its header says. UNSUPPORTED: built without zstd.
 */
DEVIMG_CHECKED enum devimg_status dvi_zstd_inflate(const struct dvi_zstd_frame *frame,
                                                   const char *source, uint64_t most,
                                                   struct dvi_buffer *buffer, struct dvi_view *out,
                                                   struct devimg_error *err);

/** How many bytes one frame would take; what it holds comes in pieces. Nothing of it is kept. */
struct dvi_zstd_measure {
    void *encoder; /* NULL: built without zstd, or out of memory */
    uint64_t size; /* so far; DEVIMG_UNKNOWN: it cannot be told */
};
struct dvi_zstd_measure dvi_zstd_measure_begin(int level);
void dvi_zstd_measure_add(struct dvi_zstd_measure *measure, struct dvi_view v);
/** Bytes of the frame, or DEVIMG_UNKNOWN; the measure is over. */
uint64_t dvi_zstd_measure_end(struct dvi_zstd_measure *measure);

bool dvi_zlib_match(struct dvi_view v);
/**
 * Inflate a zlib stream that holds `size` bytes, as dvi_zstd_inflate() does a frame. MALFORMED: it
 * does not decode, or to another size. UNSUPPORTED: built without zlib.
 */
DEVIMG_CHECKED enum devimg_status dvi_zlib_inflate(struct dvi_view stored, uint64_t size,
                                                   const char *source, uint64_t most,
                                                   struct dvi_buffer *buffer, struct dvi_view *out,
                                                   struct devimg_error *err);
/**
 * The stream at the start of `v`, which says nowhere how long it is: it is inflated once, into
 * nothing. MALFORMED: it does not decode. Without zlib: all of `v`.
 */
DEVIMG_CHECKED enum devimg_status dvi_zlib_extent(struct dvi_view v, struct dvi_view *out,
                                                  struct devimg_error *err);

/**
 * Inflate a bare LZ4 block, which holds `size` bytes, as dvi_zstd_inflate() does a frame. MALFORMED: it
 * does not decode, or to another size. UNSUPPORTED: built without lz4.
 */
DEVIMG_CHECKED enum devimg_status dvi_lz4_inflate(struct dvi_view stored, uint64_t size,
                                                  const char *source, uint64_t most,
                                                  struct dvi_buffer *buffer, struct dvi_view *out,
                                                  struct devimg_error *err);

#endif
