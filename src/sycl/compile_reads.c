/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files a compile read: the rule that a compiler writes for make, or the #include lines of
 * OpenCL C, for which ocloc writes none. A line that names a file that cannot be found, as behind a
 * macro, means that it cannot be told; then the result is not kept.
 */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "sycl/compile.h"
#include "sycl/source_lex.h"

enum { MOST_DEPS = 64 << 20, MOST_SOURCE = 64 << 20, MOST_HEADERS = 10000 };

static enum devimg_status add(struct dvi_paths *out, const char *path, struct devimg_error *err)
{
    const char **added = path != NULL ? DVI_ADD(&out->list) : NULL;
    if (added == NULL)
        return dvi_fail_memory(err, "headers");
    *added = path;
    return DEVIMG_OK;
}

static bool has(const struct dvi_paths *paths, const char *path)
{
    for (size_t i = 0; i < paths->list.count; i++)
        if (strcmp(paths->list.items[i], path) == 0)
            return true;
    return false;
}

/* ---- the rule of make ---- */

/* Behind the ':' that ends the targets of the first rule; NULL: there is none. */
static const char *behind_targets(const char *text)
{
    for (; *text != '\0' && *text != '\n'; text++) {
        if (*text == '\\' && text[1] != '\0')
            text++;
        else if (*text == ':' && strchr(" \t\r\n\\", text[1]) != NULL)
            return text + 1;
    }
    return NULL;
}

/* One name: blanks and '#' in it stand behind a backslash, '$' is doubled. False: the rule ends. */
static bool next_name(const char **text, char *out)
{
    const char *at = *text;
    for (;;) {
        at += strspn(at, " \t\r");
        if (at[0] != '\\' || (at[1] != '\n' && at[1] != '\r'))
            break;
        at += at[1] == '\r' && at[2] == '\n' ? 3 : 2;
    }
    if (*at == '\0' || *at == '\n')
        return false;
    while (*at != '\0' && strchr(" \t\r\n", *at) == NULL) {
        if (*at == '\\' && (at[1] == '\n' || at[1] == '\r'))
            break;
        if ((*at == '\\' && (at[1] == ' ' || at[1] == '#' || at[1] == '\\')) ||
            (*at == '$' && at[1] == '$'))
            at++;
        *out++ = *at++;
    }
    *out = '\0';
    *text = at;
    return true;
}

static enum devimg_status read_rule(const struct dvi_unit *unit, const char *deps,
                                    struct dvi_arena *arena, struct dvi_paths *out,
                                    struct devimg_error *err)
{
    struct dvi_view view = { 0 };
    if (access(deps, R_OK) != 0)
        return DEVIMG_OK;
    const enum devimg_status st = dvi_read_text(deps, MOST_DEPS, arena, &view, err);
    if (st != DEVIMG_OK)
        return st == DEVIMG_NOMEM ? st : DEVIMG_OK;
    const char *text = behind_targets((const char *)view.data);
    char *room = dvi_arena_array(arena, view.size + 1, 1);
    if (room == NULL)
        return dvi_fail_memory(err, "headers");
    if (text == NULL)
        return DEVIMG_OK;
    DVI_TRY(add(out, unit->path, err));
    while (next_name(&text, room)) {
        const char *path = dvi_path_in(unit->folder, room, arena);
        if (path == NULL)
            return dvi_fail_memory(err, "headers");
        if (strcmp(path, unit->path) != 0)
            DVI_TRY(add(out, path, err));
    }
    return DEVIMG_OK;
}

/* ---- #include lines ---- */

struct scan {
    const struct dvi_unit *unit;
    struct dvi_arena *arena;
    struct dvi_paths *files;
    struct dvi_paths folders; /* of -I */
    bool lost;                /* a file was named that is not to be found */
};

/* "-I DIR" and "-IDIR", also inside the word behind -options. */
static enum devimg_status take_folders(struct scan *s, const char *text, struct devimg_error *err)
{
    char *room = dvi_arena_array(s->arena, strlen(text) + 2, 1);
    bool open_quote = false, next = false;
    if (room == NULL)
        return dvi_fail_memory(err, "headers");
    while (dvi_next_shell_word(&text, room, &open_quote)) {
        const bool joined = strncmp(room, "-I", 2) == 0 && room[2] != '\0';
        if (next || joined)
            DVI_TRY(add(&s->folders,
                        dvi_path_in(s->unit->folder, joined && !next ? room + 2 : room, s->arena),
                        err));
        next = !next && strcmp(room, "-I") == 0;
    }
    return DEVIMG_OK;
}

/* Every file that the name may mean is taken: beside the file, where ocloc runs, in folders of -I. */
static enum devimg_status find_header(struct scan *s, const char *from, const char *name,
                                      struct devimg_error *err)
{
    const char *slash = strrchr(from, '/');
    const char *beside = dvi_arena_format(s->arena, "%.*s", (int)(slash - from), from);
    bool found = false;
    if (beside == NULL)
        return dvi_fail_memory(err, "headers");
    for (size_t i = 0; i < s->folders.list.count + 2; i++) {
        const char *folder = i == 0   ? beside
                             : i == 1 ? s->unit->folder
                                      : s->folders.list.items[i - 2];
        const char *path = dvi_path_in(folder, name, s->arena);
        if (path == NULL)
            return dvi_fail_memory(err, "headers");
        if (access(path, R_OK) != 0)
            continue;
        found = true;
        if (!has(s->files, path))
            DVI_TRY(add(s->files, path, err));
    }
    s->lost = s->lost || !found || s->files->list.count > MOST_HEADERS;
    return DEVIMG_OK;
}

/* The headers that one file names; a name that no text has, as behind a macro, is lost. */
static enum devimg_status scan_file(struct scan *s, const char *path, struct devimg_error *err)
{
    struct dvi_view text = { 0 }, name = { 0 };
    struct dvi_lexeme token = { 0 };
    const enum devimg_status st = dvi_read_text(path, MOST_SOURCE, s->arena, &text, err);
    if (st == DEVIMG_NOMEM)
        return st;
    s->lost = s->lost || st != DEVIMG_OK;
    struct dvi_lexer lexer = dvi_lexer_of(text);
    for (dvi_lex(&lexer, &token); token.kind != DVI_LEX_END && !s->lost; dvi_lex(&lexer, &token)) {
        if (token.kind != DVI_LEX_DIRECTIVE)
            continue;
        dvi_lex(&lexer, &token);
        if (!dvi_lex_is_include(&lexer, &token))
            continue;
        s->lost = !dvi_lex_header_name(&lexer, &name);
        const char *header = s->lost ? "" : dvi_arena_text(s->arena, name);
        if (header == NULL)
            return dvi_fail_memory(err, "headers");
        if (!s->lost)
            DVI_TRY(find_header(s, path, header, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status read_includes(const struct dvi_unit *unit,
                                        const struct dvi_sycl_words *words, struct dvi_arena *arena,
                                        struct dvi_paths *out, struct devimg_error *err)
{
    struct scan s = { .unit = unit, .arena = arena, .files = out };
    enum devimg_status st = add(out, unit->path, err);
    for (size_t i = 0; i < words->list.count && st == DEVIMG_OK; i++)
        st = take_folders(&s, words->list.items[i], err);
    for (size_t i = 0; i < out->list.count && st == DEVIMG_OK && !s.lost; i++)
        st = scan_file(&s, out->list.items[i], err);
    DVI_LIST_FREE(&s.folders.list);
    if (s.lost)
        out->list.count = 0;
    return st;
}

enum devimg_status dvi_compile_reads(const struct dvi_unit *unit, const char *deps,
                                     const struct dvi_sycl_words *words, struct dvi_arena *arena,
                                     struct dvi_paths *out, struct devimg_error *err)
{
    switch (unit->compiler->reads(unit)) {
    case DVI_READS_DEPFILE: return read_rule(unit, deps, arena, out, err);
    case DVI_READS_INCLUDES: return read_includes(unit, words, arena, out, err);
    case DVI_READS_ALONE: break;
    }
    return add(out, unit->path, err);
}
