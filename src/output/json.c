/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as of RFC 8259; strings as of its section 7. */
#include "output/json.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "devimg.h"
#include "output/escape.h"

static void quoted(FILE *file, const char *text)
{
    putc('"', file);
    for (size_t left = strlen(text); left > 0;) {
        const size_t plain = dvi_plain_size(text, left);
        fwrite(text, 1, plain, file);
        text += plain;
        left -= plain;
        if (left == 0)
            break;
        const unsigned char c = (unsigned char)text[0];
        const size_t size = dvi_utf8_size(text, left);
        if (size == 0)
            fputs("\xef\xbf\xbd", file); /* U+FFFD for a byte that starts no UTF-8 sequence */
        else if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", file);
        else if (c == '\t')
            fputs("\\t", file);
        else if (c < 0x20 || c == 0x7f)
            fprintf(file, "\\u%04x", (unsigned)c);
        else if (c == 0xc2 && (unsigned char)text[1] < 0xa0) /* C1 controls steer terminals too */
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)text[1]);
        else
            fwrite(text, 1, size, file);
        const size_t taken = size == 0 ? 1 : size;
        text += taken;
        left -= taken;
    }
    putc('"', file);
}

static void new_line(struct dvi_json *j)
{
    putc('\n', j->file);
    for (unsigned i = 0; i < j->depth; i++)
        fputs("  ", j->file);
}

/* The comma, line and key that come before a value. */
static void before(struct dvi_json *j, const char *key)
{
    if (j->depth > 0) {
        assert((key == NULL) == (j->level[j->depth - 1].close == ']'));
        if (j->level[j->depth - 1].used)
            putc(',', j->file);
        if (!j->level[j->depth - 1].one_line)
            new_line(j);
        else if (j->level[j->depth - 1].used)
            putc(' ', j->file);
        else if (key != NULL)
            putc(' ', j->file);
        j->level[j->depth - 1].used = true;
    }
    if (key != NULL) {
        quoted(j->file, key);
        fputs(": ", j->file);
    }
}

struct dvi_json dvi_json_to(FILE *file)
{
    return (struct dvi_json){ .file = file };
}

static void open_container(struct dvi_json *j, const char *key, char open, char close,
                           enum dvi_json_layout layout)
{
    before(j, key);
    assert(j->depth < DVI_JSON_DEPTH);
    const bool inherited = j->depth > 0 && j->level[j->depth - 1].one_line;
    putc(open, j->file);
    j->level[j->depth].close = close;
    j->level[j->depth].one_line = inherited || layout == DVI_JSON_ONE_LINE;
    j->level[j->depth].used = false;
    j->depth++;
}

void dvi_json_object(struct dvi_json *j, const char *key, enum dvi_json_layout layout)
{
    open_container(j, key, '{', '}', layout);
}

void dvi_json_array(struct dvi_json *j, const char *key, enum dvi_json_layout layout)
{
    open_container(j, key, '[', ']', layout);
}

void dvi_json_end(struct dvi_json *j)
{
    assert(j->depth > 0);
    j->depth--;
    if (j->level[j->depth].used && !j->level[j->depth].one_line)
        new_line(j);
    else if (j->level[j->depth].used && j->level[j->depth].close == '}')
        putc(' ', j->file);
    putc(j->level[j->depth].close, j->file);
    if (j->depth == 0)
        putc('\n', j->file);
}

void dvi_json_text(struct dvi_json *j, const char *key, const char *text)
{
    before(j, key);
    if (text != NULL)
        quoted(j->file, text);
    else
        fputs("null", j->file);
}

void dvi_json_text_begin(struct dvi_json *j, const char *key)
{
    before(j, key);
    putc('"', j->file);
}

void dvi_json_text_end(struct dvi_json *j)
{
    putc('"', j->file);
}

void dvi_json_number(struct dvi_json *j, const char *key, uint64_t number)
{
    before(j, key);
    if (number != DEVIMG_UNKNOWN)
        fprintf(j->file, "%" PRIu64, number);
    else
        fputs("null", j->file);
}

void dvi_json_index(struct dvi_json *j, const char *key, uint32_t index)
{
    dvi_json_number(j, key, index != DEVIMG_NONE ? index : DEVIMG_UNKNOWN);
}

void dvi_json_bool(struct dvi_json *j, const char *key, bool yes)
{
    before(j, key);
    fputs(yes ? "true" : "false", j->file);
}

void dvi_json_null(struct dvi_json *j, const char *key)
{
    before(j, key);
    fputs("null", j->file);
}
