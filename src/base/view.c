/* SPDX-License-Identifier: Apache-2.0 */
#include "base/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct dvi_view dvi_view_of(const void *data, size_t size, const char *source)
{
    static const uint8_t nothing[1] = { 0 };
    return (struct dvi_view){ data != NULL ? data : nothing, data != NULL ? size : 0, 0, source };
}

enum devimg_status dvi_slice(struct dvi_view v, uint64_t at, uint64_t size, const char *what,
                             struct dvi_view *out, struct devimg_error *err)
{
    if (at > v.size || size > v.size - at)
        return dvi_fail(err, DEVIMG_TRUNCATED, v, at,
                        "%s: %" PRIu64 " bytes at +%" PRIu64 " do not fit in %zu", what, size, at,
                        v.size);
    *out = (struct dvi_view){ v.data + at, (size_t)size, v.offset + at, v.source };
    return DEVIMG_OK;
}

enum devimg_status dvi_text_at(struct dvi_view v, uint64_t at, const char *what,
                               struct dvi_view *out, struct devimg_error *err)
{
    if (at >= v.size)
        return dvi_fail(err, DEVIMG_TRUNCATED, v, at, "%s: text at +%" PRIu64 " is past %zu bytes",
                        what, at, v.size);
    const struct dvi_view rest = dvi_from(v, at);
    const uint8_t *end = memchr(rest.data, 0, rest.size);
    if (end == NULL)
        return dvi_fail(err, DEVIMG_TRUNCATED, v, at, "%s: text has no NUL in the %zu bytes left",
                        what, rest.size);
    *out = (struct dvi_view){ rest.data, (size_t)(end - rest.data), rest.offset, rest.source };
    return DEVIMG_OK;
}

bool dvi_starts_with(struct dvi_view v, const void *bytes, size_t size)
{
    return v.size >= size && memcmp(v.data, bytes, size) == 0;
}

bool dvi_ends_with(struct dvi_view v, const char *text)
{
    const size_t size = strlen(text);
    return v.size >= size && memcmp(v.data + (v.size - size), text, size) == 0;
}

bool dvi_equals(struct dvi_view v, const char *text)
{
    const size_t size = strlen(text);
    return v.size == size && memcmp(v.data, text, size) == 0;
}

int dvi_compare(struct dvi_view a, struct dvi_view b)
{
    const int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

struct dvi_view dvi_behind_zeros(struct dvi_view v)
{
    size_t zeros = 0;
    while (zeros < v.size && v.data[zeros] == 0)
        zeros++;
    return dvi_from(v, zeros);
}

bool dvi_all_zero(struct dvi_view v)
{
    return v.size == 0 || (v.data[0] == 0 && memcmp(v.data, v.data + 1, v.size - 1) == 0);
}

bool dvi_decimal(struct dvi_view v, uint64_t *out)
{
    size_t size = v.size;
    while (size > 0 && v.data[size - 1] == ' ')
        size--;
    if (size == 0)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned digit = (unsigned)v.data[i] - '0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

struct dvi_cursor dvi_cursor_at(struct dvi_view v, uint64_t at)
{
    struct dvi_cursor c = { .view = v, .at = at <= v.size ? (size_t)at : v.size };
    if (at > v.size) {
        c.failed = true;
        c.failed_at = at;
    }
    return c;
}

size_t dvi_left(const struct dvi_cursor *c)
{
    return c->view.size - c->at;
}

static const uint8_t *next_bytes(struct dvi_cursor *c, uint64_t size)
{
    if (c->failed)
        return NULL;
    if (size > dvi_left(c)) {
        c->failed = true;
        c->failed_at = c->at;
        c->failed_size = size;
        return NULL;
    }
    const uint8_t *bytes = c->view.data + c->at;
    c->at += (size_t)size;
    return bytes;
}

uint8_t dvi_u8(struct dvi_cursor *c)
{
    const uint8_t *bytes = next_bytes(c, 1);
    return bytes != NULL ? bytes[0] : 0;
}

uint16_t dvi_le16(struct dvi_cursor *c)
{
    const uint8_t *bytes = next_bytes(c, 2);
    return bytes != NULL ? dvi_bytes16(bytes) : 0;
}

uint32_t dvi_le32(struct dvi_cursor *c)
{
    const uint8_t *bytes = next_bytes(c, 4);
    return bytes != NULL ? dvi_bytes32(bytes) : 0;
}

uint64_t dvi_le64(struct dvi_cursor *c)
{
    const uint8_t *bytes = next_bytes(c, 8);
    return bytes != NULL ? dvi_bytes64(bytes) : 0;
}

struct dvi_view dvi_take(struct dvi_cursor *c, uint64_t size)
{
    const uint64_t offset = c->view.offset + c->at;
    const uint8_t *bytes = next_bytes(c, size);
    if (bytes == NULL)
        return dvi_view_of(NULL, 0, c->view.source);
    return (struct dvi_view){ bytes, (size_t)size, offset, c->view.source };
}

void dvi_skip(struct dvi_cursor *c, uint64_t size)
{
    (void)next_bytes(c, size);
}

enum devimg_status dvi_cursor_check(const struct dvi_cursor *c, const char *what,
                                    struct devimg_error *err)
{
    if (!c->failed)
        return DEVIMG_OK;
    return dvi_fail(err, DEVIMG_TRUNCATED, c->view, c->failed_at,
                    "%s: %" PRIu64 " bytes at +%" PRIu64 " do not fit in %zu", what, c->failed_size,
                    c->failed_at, c->view.size);
}

/* How many of the first `most` of more bytes are whole characters; all where they are no UTF-8. */
static size_t whole_size(const uint8_t *bytes, size_t most)
{
    size_t size = most;
    while (size > 0 && most - size < 3 && (bytes[size] & 0xc0) == 0x80)
        size--;
    return (bytes[size] & 0xc0) != 0x80 ? size : most;
}

void dvi_show(char *out, size_t room, struct dvi_view v)
{
    static const char more[] = "...";
    const bool fits = v.size < room;
    const size_t size = fits ? v.size : whole_size(v.data, room - sizeof more);
    if (size > 0)
        memmove(out, v.data, size);
    memcpy(out + size, fits ? "" : more, fits ? 1 : sizeof more);
}

/* Text from a file may follow in messages, so what is no plain character is shown as '?'. */
static void keep_printable(char *text)
{
    for (; *text != 0; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

DVI_PRINTF(5, 0)
static void fill(struct devimg_error *err, enum devimg_status status, const char *source,
                 uint64_t offset, const char *format, va_list values)
{
    if (err == NULL)
        return;
    err->status = status;
    err->offset = offset;
    (void)snprintf(err->source, sizeof err->source, "%s", source != NULL ? source : "");
    const int size = vsnprintf(err->text, sizeof err->text, format, values);
    if (size >= (int)sizeof err->text)
        dvi_show(err->text, sizeof err->text, dvi_view_of(err->text, (size_t)size, NULL));
    keep_printable(err->text);
}

enum devimg_status(dvi_fail)(struct devimg_error *err, enum devimg_status status, struct dvi_view v,
                             uint64_t at, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fill(err, status, v.source, v.offset + at, format, values);
    va_end(values);
    return status;
}

enum devimg_status(dvi_fail_plain)(struct devimg_error *err, enum devimg_status status,
                                   const char *source, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fill(err, status, source, DEVIMG_UNKNOWN, format, values);
    va_end(values);
    return status;
}

enum devimg_status(dvi_fail_memory)(struct devimg_error *err, const char *source)
{
    return dvi_fail_plain(err, DEVIMG_NOMEM, source, "out of memory");
}
