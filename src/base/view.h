/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that know where they came from, and the only ways to take numbers out of them. */
#ifndef DVI_BASE_VIEW_H
#define DVI_BASE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devimg.h"

#if defined(__GNUC__)
#define DVI_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define DVI_PRINTF(format_index, first)
#endif

/** Return a non-OK status to the caller. */
#define DVI_TRY(call)                                     \
    do {                                                  \
        const enum devimg_status dvi_try_status = (call); \
        if (dvi_try_status != DEVIMG_OK)                  \
            return dvi_try_status;                        \
    } while (0)

/** Borrowed bytes. */
struct dvi_view {
    const uint8_t *data; /* never NULL, also when size is 0 */
    size_t size;
    uint64_t offset;    /* of data[0], in bytes from the start of `source` */
    const char *source; /* name for messages; lives as long as the file */
};

/** A view over `size` bytes that start `source`. */
struct dvi_view dvi_view_of(const void *data, size_t size, const char *source);

/** The bytes [at, at + size) of `v`, or TRUNCATED saying that `what` does not fit. */
DEVIMG_CHECKED enum devimg_status dvi_slice(struct dvi_view v, uint64_t at, uint64_t size,
                                            const char *what, struct dvi_view *out,
                                            struct devimg_error *err);

/** Everything from `at` on; an empty view at the end when `at` is past it. */
static inline struct dvi_view dvi_from(struct dvi_view v, uint64_t at)
{
    const size_t skipped = at < v.size ? (size_t)at : v.size;
    return (struct dvi_view){ v.data + skipped, v.size - skipped, v.offset + skipped, v.source };
}

/** The first `size` bytes, or all when there are fewer. */
static inline struct dvi_view dvi_head(struct dvi_view v, uint64_t size)
{
    v.size = size < v.size ? (size_t)size : v.size;
    return v;
}

/** The bytes before the first NUL at `at`; TRUNCATED when none follows within `v`. */
DEVIMG_CHECKED enum devimg_status dvi_text_at(struct dvi_view v, uint64_t at, const char *what,
                                              struct dvi_view *out, struct devimg_error *err);

bool dvi_starts_with(struct dvi_view v, const void *bytes, size_t size);
bool dvi_ends_with(struct dvi_view v, const char *text);
/** Byte-wise equality with a C string. */
bool dvi_equals(struct dvi_view v, const char *text);
/** memcmp order, a shorter prefix first. */
int dvi_compare(struct dvi_view a, struct dvi_view b);
/** True when every byte is 0 (also when there is none). */
bool dvi_all_zero(struct dvi_view v);
/** From the first byte on that is not 0; empty: there is none. */
struct dvi_view dvi_behind_zeros(struct dvi_view v);
/** A number written in decimal that fills the view but for trailing blanks; false: it is none. */
bool dvi_decimal(struct dvi_view v, uint64_t *out);

/**
 * Text for a message: the bytes, or as many as fit before "...", up to the end of a character where
 * they are UTF-8. `v` may lie in `out`.
 * @param room  of `out`, with its NUL: more than 3
 */
void dvi_show(char *out, size_t room, struct dvi_view v);

/** Numbers at a position; 0 when they do not fit. For peeking where 0 means "no match". */
static inline bool dvi_fits(struct dvi_view v, uint64_t at, uint64_t size)
{
    return at <= v.size && size <= v.size - at;
}
static inline uint16_t dvi_bytes16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t dvi_bytes32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t dvi_bytes64(const uint8_t *p)
{
    return (uint64_t)dvi_bytes32(p) | (uint64_t)dvi_bytes32(p + 4) << 32;
}
/** The lowest `bits` bits as a signed number, in 64 bits. */
static inline uint64_t dvi_sign_extended(uint64_t value, unsigned bits)
{
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    return (value ^ sign) - sign;
}
static inline uint16_t dvi_peek16(struct dvi_view v, uint64_t at)
{
    return dvi_fits(v, at, 2) ? dvi_bytes16(v.data + at) : 0;
}
static inline uint32_t dvi_peek32(struct dvi_view v, uint64_t at)
{
    return dvi_fits(v, at, 4) ? dvi_bytes32(v.data + at) : 0;
}
static inline uint64_t dvi_peek64(struct dvi_view v, uint64_t at)
{
    return dvi_fits(v, at, 8) ? dvi_bytes64(v.data + at) : 0;
}

/**
 * Fields in order. The first read that does not fit is remembered; it and all later ones give 0.
 * Read the whole record, dvi_cursor_check() once, then use it.
 */
struct dvi_cursor {
    struct dvi_view view;
    size_t at;
    bool failed;
    uint64_t failed_at;   /* position of the first read that did not fit */
    uint64_t failed_size; /* and how many bytes it asked for */
};

struct dvi_cursor dvi_cursor_at(struct dvi_view v, uint64_t at);
size_t dvi_left(const struct dvi_cursor *c);
uint8_t dvi_u8(struct dvi_cursor *c);
uint16_t dvi_le16(struct dvi_cursor *c);
uint32_t dvi_le32(struct dvi_cursor *c);
uint64_t dvi_le64(struct dvi_cursor *c);
struct dvi_view dvi_take(struct dvi_cursor *c, uint64_t size);
void dvi_skip(struct dvi_cursor *c, uint64_t size);
/** OK when every read so far did fit, else TRUNCATED naming `what`. */
DEVIMG_CHECKED enum devimg_status dvi_cursor_check(const struct dvi_cursor *c, const char *what,
                                                   struct devimg_error *err);

/** Fill `err` (NULL is fine) for position `at` of `v` and return `status`. */
enum devimg_status dvi_fail(struct devimg_error *err, enum devimg_status status, struct dvi_view v,
                            uint64_t at, const char *format, ...) DVI_PRINTF(5, 6);

/** The same without bytes to point at: system calls, memory. */
enum devimg_status dvi_fail_plain(struct devimg_error *err, enum devimg_status status,
                                  const char *source, const char *format, ...) DVI_PRINTF(4, 5);

/** NOMEM, with its one text. */
enum devimg_status dvi_fail_memory(struct devimg_error *err, const char *source);

#ifdef __clang_analyzer__ /* it sees one file at a time: tell it that a failure is never OK */
#define dvi_fail(err, status, ...)       (dvi_fail(err, status, __VA_ARGS__), (status))
#define dvi_fail_plain(err, status, ...) (dvi_fail_plain(err, status, __VA_ARGS__), (status))
#define dvi_fail_memory(err, source)     (dvi_fail_memory(err, source), DEVIMG_NOMEM)
#endif

#endif
