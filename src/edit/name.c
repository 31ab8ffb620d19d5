/* SPDX-License-Identifier: Apache-2.0 */
/*
 *    PREFIX.INDEX.TARGET.EXTENSION
 *
 * PREFIX is FILE, FILE@MEMBER, FILE~2, FILE@MEMBER~2, ...; FILE and MEMBER are of letters, digits
 * and ". _ + -", TARGET of the same but the dot. Read from the right, a name therefore has one
 * meaning, and since no two records have one prefix, no two images have one name. It starts with
 * neither a dot nor a dash, holds no '/', and is shorter than any file system asks for.
 */
#include "edit/name.h"

#include <inttypes.h>
#include <search.h>
#include <string.h>

enum { MOST_NAME = 64, MOST_TARGET = 40 }; /* bytes */

struct prefix {
    const char *text;
    uint32_t count; /* how often it was asked for */
};

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '+' || c == '-';
}

/* The first bytes of `text`, with '_' for each that is not safe; "_" where there is none. */
static void make_plain(const char *text, bool dots, char *out, size_t most)
{
    size_t size = 0;
    for (; size < most && text[size] != '\0'; size++)
        out[size] = is_plain(text[size]) || (dots && text[size] == '.') ? text[size] : '_';
    if (size == 0 || out[0] == '.' || out[0] == '-')
        out[0] = '_';
    out[size > 0 ? size : 1] = '\0';
}

static void make_plain_base(const char *path, char out[MOST_NAME + 1])
{
    const char *slash = strrchr(path, '/');
    make_plain(slash != NULL ? slash + 1 : path, true, out, MOST_NAME);
}

static int by_text(const void *a, const void *b)
{
    const struct prefix *x = a, *y = b;
    return strcmp(x->text, y->text);
}

/* How often `text` was asked for, this time included; 0: out of memory. */
static uint32_t count_prefix(struct dvi_prefixes *prefixes, const char *text,
                             struct dvi_arena *arena)
{
    const struct prefix key = { .text = text };
    struct prefix *const *known = tfind(&key, &prefixes->tree, by_text);
    if (known != NULL)
        return ++(*known)->count;
    struct prefix *fresh = dvi_arena_array(arena, 1, sizeof *fresh);
    if (fresh == NULL)
        return 0;
    *fresh = (struct prefix){ text, 1 };
    return tsearch(fresh, &prefixes->tree, by_text) != NULL ? 1 : 0;
}

const char *dvi_prefix(struct dvi_prefixes *prefixes, const struct devimg_record *record,
                       struct dvi_arena *arena)
{
    char file[MOST_NAME + 1], member[MOST_NAME + 1] = "";
    make_plain_base(record->path, file);
    if (record->member_count > 0)
        make_plain_base(record->members[record->member_count - 1], member);
    const char *text =
        dvi_arena_format(arena, "%s%s%s", file, record->member_count > 0 ? "@" : "", member);
    const uint32_t count = text != NULL ? count_prefix(prefixes, text, arena) : 0;
    if (count == 0)
        return NULL;
    return count == 1 ? text : dvi_arena_format(arena, "%s~%" PRIu32, text, count);
}

static void keep(void *prefix)
{
    (void)prefix; /* the arena's */
}

void dvi_prefixes_free(struct dvi_prefixes *prefixes)
{
    tdestroy(prefixes->tree, keep);
    prefixes->tree = NULL;
}

const char *dvi_image_file_name(const char *prefix, uint32_t index,
                                const struct devimg_image *image, const char *extension,
                                struct dvi_arena *arena)
{
    char target[MOST_TARGET + 1];
    const char *known = image->target != NULL ? image->target : image->entry_id;
    make_plain(known != NULL ? known : "unknown", false, target, MOST_TARGET);
    return dvi_arena_format(arena, "%s.%04" PRIu32 ".%s.%s", prefix, index, target, extension);
}
