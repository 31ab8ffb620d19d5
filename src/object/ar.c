/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ar archive: static libraries, and what ocloc packs for several devices. Text header fields,
 * padded with blanks. Layout, variants and sources: docs/format/ar.md.
 *
 *    0  magic[8]       "!<arch>\n", or "!<thin>\n": members stay in their own files
 *    8  members, each at an even offset:
 *         0  name[16]    "a.o/", "/" and "/SYM64/" symbol table, "//" long names, "/12" name at
 *                        +12 of "//", "#1/20" the first 20 bytes of the data are the name
 *        16  date[12], uid[6], gid[6], mode[8]
 *        48  size[10]    decimal, of the data
 *        58  end[2]      "`\n"
 *        60  data[size], and one byte of padding after an odd size
 */
#include <inttypes.h>
#include <string.h>

#include "object/object.h"

static const char plain_magic[] = "!<arch>\n";
static const char thin_magic[] = "!<thin>\n";
enum {
    MAGIC_SIZE = 8,
    NAME_SIZE = 16,
    SIZE_AT = 48,
    SIZE_SIZE = 10,
    END_AT = 58,
    HEADER_SIZE = 60
};

bool dvi_ar_is_thin(struct dvi_view v)
{
    return dvi_starts_with(v, thin_magic, MAGIC_SIZE);
}

bool dvi_ar_match(struct dvi_view v)
{
    return dvi_starts_with(v, plain_magic, MAGIC_SIZE) || dvi_ar_is_thin(v);
}

struct dvi_ar dvi_ar_begin(struct dvi_view archive)
{
    return (struct dvi_ar){ archive, dvi_view_of(NULL, 0, archive.source), MAGIC_SIZE };
}

struct header {
    struct dvi_view name; /* without trailing blanks */
    struct dvi_view size_text;
    uint64_t size;      /* when size_read */
    uint64_t data_at;   /* in the archive */
    uint64_t data_size; /* bytes that stand in this archive: none for a thin member */
    uint64_t next;      /* where the next header stands; when fits */
    bool size_read, fits, end_good;
};

static struct dvi_view without_tail(struct dvi_view v, uint8_t byte)
{
    while (v.size > 0 && v.data[v.size - 1] == byte)
        v.size--;
    return v;
}

static struct dvi_view without_slash(struct dvi_view name)
{
    if (dvi_ends_with(name, "/"))
        name.size--;
    return name;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_table(struct dvi_view name)
{
    return dvi_equals(name, "/") || dvi_equals(name, "//") || dvi_equals(name, "/SYM64/") ||
           dvi_equals(name, "/<ECSYMBOLS>/") || dvi_equals(name, "/<XFGHASHMAP>/") || /* Windows */
           dvi_equals(name, "__.SYMDEF") || dvi_equals(name, "__.SYMDEF SORTED") ||
           dvi_equals(name, "__.SYMDEF_64") || dvi_equals(name, "__.SYMDEF_64 SORTED");
}

/* The fields at `at`; false: no header fits there. */
static bool read_header(const struct dvi_ar *it, uint64_t at, struct header *out)
{
    struct dvi_cursor c = dvi_cursor_at(it->archive, at);
    const struct dvi_view bytes = dvi_take(&c, HEADER_SIZE);
    if (c.failed)
        return false;
    struct header h = { .name = without_tail(dvi_head(bytes, NAME_SIZE), ' '),
                        .size_text = dvi_head(dvi_from(bytes, SIZE_AT), SIZE_SIZE),
                        .data_at = at + HEADER_SIZE };
    h.size_read = dvi_decimal(h.size_text, &h.size);
    h.end_good = dvi_equals(dvi_from(bytes, END_AT), "`\n");
    h.data_size = dvi_ar_is_thin(it->archive) && !is_table(h.name) ? 0 : h.size;
    const uint64_t left = dvi_left(&c);
    h.fits = h.size_read && h.data_size <= left;
    if (h.fits) {
        h.next = h.data_at + h.data_size;
        if (h.data_size % 2 == 1 && h.data_size < left)
            h.next++;
    }
    *out = h;
    return true;
}

/* Date, owner, group and mode; some tools write -1 for what they do not keep. */
static bool blanks_or_numbers(struct dvi_view v)
{
    for (size_t i = 0; i < v.size; i++)
        if (v.data[i] != ' ' && v.data[i] != '-' && !is_digit(v.data[i]))
            return false;
    return true;
}

/* A header that could not stand there by chance: each field is well formed, and so is what
 * follows its data. */
static bool sure_header(const struct dvi_ar *it, uint64_t at)
{
    struct header h = { 0 }, after = { 0 };
    if (!read_header(it, at, &h) || !h.end_good || !h.fits || h.name.size == 0)
        return false;
    if (!blanks_or_numbers(dvi_head(dvi_from(it->archive, at + NAME_SIZE), SIZE_AT - NAME_SIZE)))
        return false;
    return h.next == it->archive.size || (read_header(it, h.next, &after) && after.end_good);
}

/*
 * Behind a damaged member: where its size says, or the next place where a header surely stands. A
 * member that is an archive itself is not searched, because its members would be taken for ours.
 * Leaves `it->at` when there is none.
 */
static void find_next(struct dvi_ar *it, const struct header *damaged)
{
    if (damaged->fits && (damaged->next == it->archive.size || sure_header(it, damaged->next))) {
        it->at = damaged->next;
        return;
    }
    if (dvi_ar_match(dvi_from(it->archive, damaged->data_at)))
        return;
    for (uint64_t from = damaged->data_at + END_AT; from < it->archive.size;) {
        const struct dvi_view rest = dvi_from(it->archive, from);
        const uint8_t *tick = memchr(rest.data, '`', rest.size);
        if (tick == NULL)
            return;
        const uint64_t tick_at = from + (uint64_t)(tick - rest.data);
        const uint64_t at = tick_at - END_AT;
        if (at % 2 == 0 && sure_header(it, at)) {
            it->at = at;
            return;
        }
        from = tick_at + 1;
    }
}

static enum devimg_status damaged_header(struct dvi_ar *it, const struct header *h,
                                         struct devimg_error *err)
{
    const uint64_t at = it->at;
    find_next(it, h);
    if (!h->end_good)
        return dvi_fail(err, DEVIMG_MALFORMED, it->archive, at + END_AT,
                        "ar member header: ends in %02x %02x, expected 60 0a",
                        it->archive.data[at + END_AT], it->archive.data[at + END_AT + 1]);
    if (!h->size_read)
        return dvi_fail(err, DEVIMG_MALFORMED, it->archive, at + SIZE_AT,
                        "ar member size \"%.*s\": expected a decimal number", SIZE_SIZE,
                        (const char *)h->size_text.data);
    return dvi_fail(err, DEVIMG_TRUNCATED, it->archive, at + SIZE_AT,
                    "ar member of %" PRIu64 " bytes: %" PRIu64 " are left in the archive", h->size,
                    (uint64_t)it->archive.size - h->data_at);
}

/* A name of the "//" table: GNU ends it with "/\n", Microsoft with NUL. */
static enum devimg_status long_name(const struct dvi_ar *it, struct dvi_view field,
                                    struct dvi_view *out, struct devimg_error *err)
{
    uint64_t at = 0;
    if (!dvi_decimal(dvi_from(field, 1), &at) || at >= it->long_names.size)
        return dvi_fail(err, DEVIMG_MALFORMED, field, 0,
                        "ar member name \"%.*s\": the table of long names has %zu bytes",
                        (int)field.size, (const char *)field.data, it->long_names.size);
    struct dvi_view name = dvi_from(it->long_names, at);
    size_t size = 0;
    while (size < name.size && size <= DVI_MOST_NAME_BYTES && name.data[size] != '\n' &&
           name.data[size] != 0)
        size++;
    if (size > DVI_MOST_NAME_BYTES) /* many members may share one long name */
        return dvi_fail(err, DEVIMG_MALFORMED, name, 0, "ar member name of more than %d bytes",
                        (int)DVI_MOST_NAME_BYTES);
    *out = without_slash(dvi_head(name, size));
    return DEVIMG_OK;
}

/* "#1/20": the name stands before the data, padded with NULs. */
static enum devimg_status leading_name(struct dvi_view field, struct dvi_ar_member *m,
                                       struct devimg_error *err)
{
    uint64_t size = 0;
    if (!dvi_decimal(dvi_from(field, 3), &size) || size > m->data.size)
        return dvi_fail(err, DEVIMG_MALFORMED, field, 0,
                        "ar member name \"%.*s\": the member has %zu bytes", (int)field.size,
                        (const char *)field.data, m->data.size);
    m->name = without_tail(dvi_head(m->data, (size_t)size), 0);
    m->data = dvi_from(m->data, size);
    m->special = is_table(m->name);
    return DEVIMG_OK;
}

static enum devimg_status name_member(struct dvi_ar *it, struct dvi_view field,
                                      struct dvi_ar_member *m, struct devimg_error *err)
{
    if (is_table(field)) {
        m->name = field;
        m->special = true;
        if (dvi_equals(field, "//"))
            it->long_names = m->data;
        return DEVIMG_OK;
    }
    if (dvi_starts_with(field, "#1/", 3))
        return leading_name(field, m, err);
    if (field.size > 1 && field.data[0] == '/' && is_digit(field.data[1]))
        return long_name(it, field, &m->name, err);
    m->name = without_slash(field);
    return DEVIMG_OK;
}

enum devimg_status dvi_ar_next(struct dvi_ar *it, struct dvi_ar_member *out,
                               struct devimg_error *err)
{
    if (it->at >= it->archive.size)
        return DEVIMG_END;
    struct header h = { 0 };
    if (!read_header(it, it->at, &h))
        return dvi_fail(err, DEVIMG_TRUNCATED, it->archive, it->at,
                        "ar member header: %d bytes at +%" PRIu64 " do not fit in %zu", HEADER_SIZE,
                        it->at, it->archive.size);
    if (!h.end_good || !h.fits)
        return damaged_header(it, &h, err);
    struct dvi_ar_member m = { 0 };
    DVI_TRY(dvi_slice(it->archive, h.data_at, h.data_size, "ar member", &m.data, err));
    it->at = h.next;
    DVI_TRY(name_member(it, h.name, &m, err));
    *out = m;
    return DEVIMG_OK;
}
