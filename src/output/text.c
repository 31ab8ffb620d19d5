/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>

#include "image/image.h"
#include "output/escape.h"

/* A longer text than the widest column runs over: padding every row to it would multiply it. */
enum { MAX_COLUMNS = 64, GAP = 2, WIDEST = 120 };

struct dvi_table {
    FILE *file;
    const struct dvi_column *columns;
    size_t count, at;
    bool printing;
    size_t width[MAX_COLUMNS];
};

void dvi_style_on(const struct dvi_output *out, enum dvi_style style)
{
    static const char *const codes[] = { "1", "1;31", "33", "32" }; /* ECMA-48, SGR */
    if (out->colour)
        fprintf(out->file, "\033[%sm", codes[style]);
}

void dvi_style_off(const struct dvi_output *out)
{
    if (out->colour)
        fputs("\033[0m", out->file);
}

const char *dvi_size_text(uint64_t size, char *buffer)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    if (size == DEVIMG_UNKNOWN) {
        snprintf(buffer, DVI_SIZE_ROOM, "-");
        return buffer;
    }
    if (size < 1024) {
        snprintf(buffer, DVI_SIZE_ROOM, "%" PRIu64 " B", size);
        return buffer;
    }
    /* Tenths, in whole numbers: the same text on every machine. 1023.95 KiB and more is 1.0 MiB. */
    size_t unit = 0;
    uint64_t whole = size / 1024, rest = size % 1024;
    while (whole * 10 + (rest * 10 + 512) / 1024 >= 10240 &&
           unit + 1 < sizeof units / sizeof *units) {
        rest = whole % 1024;
        whole /= 1024;
        unit++;
    }
    const uint64_t tenths = whole * 10 + (rest * 10 + 512) / 1024;
    snprintf(buffer, DVI_SIZE_ROOM, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
             units[unit]);
    return buffer;
}

const char *dvi_ip_or_null(uint64_t ip_version, char *buffer)
{
    if (ip_version == DEVIMG_UNKNOWN)
        return NULL;
    dvi_ip_text(ip_version, buffer);
    return buffer;
}

void dvi_print_count(FILE *file, uint64_t count, const char *noun)
{
    fprintf(file, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
}

static void pad(FILE *file, size_t count)
{
    while (count-- > 0)
        putc(' ', file);
}

static void put_cell(struct dvi_table *t, const char *text)
{
    const size_t column = t->at;
    const bool last = column + 1 == t->count;
    if (column > 0)
        pad(t->file, GAP);
    const size_t width = dvi_escape(NULL, text);
    const size_t room = t->width[column] > width ? t->width[column] - width : 0;
    if (t->columns[column].align == DVI_RIGHT)
        pad(t->file, room);
    dvi_escape(t->file, text);
    if (t->columns[column].align == DVI_LEFT && !last)
        pad(t->file, room);
    if (last)
        putc('\n', t->file);
}

void dvi_cell(struct dvi_table *t, const char *text)
{
    if (text == NULL || text[0] == '\0')
        text = "-";
    assert(t->at < t->count);
    if (t->printing) {
        put_cell(t, text);
    } else if (t->at + 1 < t->count || t->columns[t->at].align == DVI_RIGHT) {
        const size_t width = dvi_escape(NULL, text);
        if (width > t->width[t->at] && width <= WIDEST)
            t->width[t->at] = width;
    }
    t->at = (t->at + 1) % t->count;
}

void dvi_target_cell(struct dvi_table *t, const struct devimg_image *image)
{
    if (image != NULL && image->family_only && image->target != NULL)
        dvi_cell_format(t, "%s (family)", image->target);
    else
        dvi_cell(t, image != NULL ? image->target : NULL);
}

void dvi_cell_number(struct dvi_table *t, uint64_t number)
{
    if (number == DEVIMG_UNKNOWN)
        dvi_cell(t, NULL);
    else
        dvi_cell_format(t, "%" PRIu64, number);
}

void dvi_cell_size(struct dvi_table *t, uint64_t size)
{
    char text[DVI_SIZE_ROOM];
    dvi_cell(t, dvi_size_text(size, text));
}

void dvi_cell_format(struct dvi_table *t, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dvi_cell(t, text);
}

bool dvi_table_printing(const struct dvi_table *t)
{
    return t->printing;
}

void dvi_table_print(const struct dvi_output *out, const struct dvi_column *columns, size_t count,
                     void (*rows)(struct dvi_table *table, const void *data), const void *data)
{
    assert(count <= MAX_COLUMNS);
    struct dvi_table t = { .file = out->file, .columns = columns, .count = count };
    for (size_t i = 0; i < count; i++)
        dvi_cell(&t, columns[i].head);
    rows(&t, data);
    t.printing = true;
    dvi_style_on(out, DVI_BOLD);
    for (size_t i = 0; i < count; i++)
        dvi_cell(&t, columns[i].head);
    dvi_style_off(out);
    rows(&t, data);
}
