/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static enum devimg_status copy_text(struct dvi_view bytes, uint64_t most, const char *path,
                                    struct dvi_arena *arena, struct dvi_view *out,
                                    struct devimg_error *err)
{
    size_t size = bytes.size;
    if (size > most)
        return dvi_fail_plain(err, DEVIMG_LIMIT, path, "%zu bytes: at most %" PRIu64 " are read",
                              size, most);
    while (size > 0 && bytes.data[size - 1] == 0)
        size--;
    uint8_t *copy = dvi_arena_array(arena, size + 1, 1);
    const char *name = dvi_arena_copy(arena, path);
    if (copy == NULL || name == NULL)
        return dvi_fail_memory(err, path);
    memcpy(copy, bytes.data, size);
    *out = dvi_view_of(copy, size, name);
    return DEVIMG_OK;
}

enum devimg_status dvi_read_list(const char *path, uint64_t most, struct dvi_arena *arena,
                                 struct dvi_view *out, bool *is_missing, struct devimg_error *err)
{
    *is_missing = access(path, F_OK) != 0 && errno == ENOENT;
    if (!*is_missing)
        return dvi_read_text(path, most, arena, out, err);
    const char *name = dvi_arena_copy(arena, path);
    if (name == NULL)
        return dvi_fail_memory(err, path);
    *out = dvi_view_of(NULL, 0, name);
    return DEVIMG_OK;
}

enum devimg_status dvi_read_text(const char *path, uint64_t most, struct dvi_arena *arena,
                                 struct dvi_view *out, struct devimg_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return dvi_fail_plain(err, DEVIMG_IO, path, "cannot be opened: %s", strerror(errno));
    if (info.st_size > 0 && (uint64_t)info.st_size > most)
        return dvi_fail_plain(err, DEVIMG_LIMIT, path, "%jd bytes: at most %" PRIu64 " are read",
                              (intmax_t)info.st_size, most);
    struct dvi_file file = { 0 };
    DVI_TRY(dvi_file_open(path, path, true, &file, err));
    const enum devimg_status st = copy_text(file.bytes, most, path, arena, out, err);
    dvi_file_close(&file);
    return st;
}

bool dvi_next_field(struct dvi_view *rest, char mark, struct dvi_view *field)
{
    if (rest->size == 0)
        return false;
    const uint8_t *end = memchr(rest->data, mark, rest->size);
    const size_t size = end != NULL ? (size_t)(end - rest->data) : rest->size;
    *field = *rest;
    field->size = size;
    *rest = dvi_from(*rest, size + (end != NULL ? 1U : 0U));
    return true;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct dvi_view dvi_trimmed(struct dvi_view v)
{
    while (v.size > 0 && is_blank(v.data[0]))
        v = dvi_from(v, 1);
    while (v.size > 0 && is_blank(v.data[v.size - 1]))
        v.size--;
    return v;
}

bool dvi_next_line(struct dvi_view *rest, struct dvi_view *line)
{
    if (!dvi_next_field(rest, '\n', line))
        return false;
    if (line->size > 0 && line->data[line->size - 1] == '\r')
        line->size--;
    return true;
}

const char *dvi_base_name(const char *path)
{
    const char *base = path;
    for (const char *p = path; *p != 0; p++)
        if (*p == '/' || *p == '\\')
            base = p + 1;
    return base;
}

bool dvi_number_of(const char *text, bool units, uint64_t most, uint64_t *out)
{
    static const char letters[] = "KMGT";
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        const unsigned digit = (unsigned)(*at - '0');
        if (number > (most - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (units && at != text && *at != '\0') {
        const int upper = *at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at;
        const char *letter = strchr(letters, upper);
        if (letter == NULL)
            return false;
        const unsigned shift = 10 * (unsigned)(letter - letters + 1);
        if (number > most >> shift)
            return false;
        number <<= shift;
        at++;
        if (strcmp(at, "iB") == 0)
            at += 2;
    }
    *out = number;
    return at != text && *at == '\0';
}
