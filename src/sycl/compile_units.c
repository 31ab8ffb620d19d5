/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The units of a build: lines of compile_commands.json, or of `ninja -t compdb`, that compile device
 * code, and sources by themselves.
 * Source: https://ninja-build.org/manual.html, "Extra tools", compdb.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/run.h"
#include "base/text.h"
#include "sycl/compile.h"

/* Seconds for ninja to read a build; bytes of its answer; words before the compiler: ccache, ... */
enum { NINJA_SECONDS = 120, MOST_COMPDB = 128 << 20, MOST_BEFORE = 6 };

struct reader {
    struct dvi_compile *out;
    const char *here;   /* where devimg runs */
    const char *folder; /* of the build */
    size_t foreign;     /* lines with -fsycl of a compiler that nobody knows */
    const char *foreign_name;
    size_t wrapped; /* lines that start a compiler in the words of a shell */
    const char *wrapped_name;
};

static enum devimg_status fail_memory(struct devimg_error *err)
{
    return dvi_fail_memory(err, "units");
}

const char *dvi_path_in(const char *folder, const char *path, struct dvi_arena *arena)
{
    const char *whole = path[0] == '/' ? path : dvi_arena_format(arena, "%s/%s", folder, path);
    char *out = whole != NULL ? dvi_arena_array(arena, strlen(whole) + 2, 1) : NULL, *end = out;
    if (out == NULL)
        return NULL;
    while (*whole != '\0') {
        const size_t size = strcspn(whole, "/");
        if (size == 2 && whole[0] == '.' && whole[1] == '.') {
            while (end > out && *--end != '/')
                continue;
        } else if (size > 0 && !(size == 1 && whole[0] == '.')) {
            *end++ = '/';
            memcpy(end, whole, size);
            end += size;
        }
        whole += size + (whole[size] == '/');
    }
    if (end == out)
        *end++ = '/';
    *end = '\0';
    return out;
}

static bool is_taken(const struct dvi_compile *c, const struct dvi_unit *unit)
{
    for (size_t i = 0; i < c->asked->only_count; i++)
        if (dvi_glob_path(c->asked->only[i], unit->path))
            return true;
    return c->asked->only_count == 0;
}

/* The same source compiled in the same way: objects of a shared and of a static library. */
static bool same_unit(const struct dvi_unit *a, const struct dvi_unit *b)
{
    if (a->compiler != b->compiler || strcmp(a->path, b->path) != 0 ||
        strcmp(a->folder, b->folder) != 0 || strcmp(a->program, b->program) != 0 ||
        a->word_count != b->word_count)
        return false;
    for (size_t i = 0; i < a->word_count; i++)
        if (strcmp(a->words[i], b->words[i]) != 0)
            return false;
    return true;
}

static bool has_label(const struct dvi_compile *c, const char *label)
{
    for (size_t i = 0; i < c->units.count; i++)
        if (strcmp(c->units.items[i].label, label) == 0)
            return true;
    return false;
}

/* A source that is compiled in several ways is several units: "a.cpp", "a.cpp (2)". */
static const char *label_of(struct reader *r, const struct dvi_unit *unit)
{
    struct dvi_compile *c = r->out;
    const size_t here = strlen(r->here);
    const bool inside = strncmp(unit->path, r->here, here) == 0 && unit->path[here] == '/';
    const char *name = inside ? unit->path + here + 1 : unit->path, *label = name;
    size_t same = 1;
    for (size_t i = 0; i < c->units.count; i++)
        same += strcmp(c->units.items[i].path, unit->path) == 0;
    if (same > 1)
        label = dvi_arena_format(&c->arena, "%s (%zu)", name, same);
    while (label != NULL && has_label(c, label)) /* a file may be called so */
        label = dvi_arena_format(&c->arena, "%s (%zu)", name, ++same);
    return label;
}

static enum devimg_status add_unit(struct reader *r, struct dvi_unit unit, struct devimg_error *err)
{
    struct dvi_compile *c = r->out;
    if (unit.file != NULL)
        unit.path = dvi_path_in(unit.folder, unit.file, &c->arena);
    if (unit.path == NULL)
        return fail_memory(err);
    if (!is_taken(c, &unit))
        return DEVIMG_OK;
    for (size_t i = 0; i < c->units.count; i++)
        if (same_unit(&c->units.items[i], &unit))
            return DEVIMG_OK;
    unit.label = label_of(r, &unit);
    struct dvi_unit *added = unit.label != NULL ? DVI_ADD(&c->units) : NULL;
    if (added == NULL)
        return fail_memory(err);
    *added = unit;
    return DEVIMG_OK;
}

/* ---- lines of a build ---- */

/* Words that only name the output differ between objects of one source; they are dropped here, so
 * that such objects are one unit, and compilers drop the rest. */
static const struct dvi_dropped of_object[] = {
    { "-o", DVI_DROP_NEXT },  { "-MF", DVI_DROP_NEXT },     { "-MT", DVI_DROP_NEXT },
    { "-MQ", DVI_DROP_NEXT }, { "-output", DVI_DROP_NEXT }, { "-out_dir", DVI_DROP_NEXT },
    { NULL, DVI_DROP_WORD },
};

static enum devimg_status keep_words(struct reader *r, const char *const *words, size_t count,
                                     struct dvi_unit *unit, struct devimg_error *err)
{
    struct dvi_sycl_words kept = { 0 };
    enum devimg_status st = dvi_words_keep(&kept, of_object, words, count, err);
    const char **copies = dvi_arena_array(&r->out->arena, count + 1, sizeof *copies);
    for (size_t i = 0; i < kept.list.count && st == DEVIMG_OK && copies != NULL; i++) {
        copies[i] = dvi_arena_copy(&r->out->arena, kept.list.items[i]);
        st = copies[i] != NULL ? DEVIMG_OK : fail_memory(err);
    }
    unit->words = copies;
    unit->word_count = kept.list.count;
    DVI_LIST_FREE(&kept.list);
    return copies != NULL ? st : fail_memory(err);
}

static bool says_sycl(const char *const *words, size_t count)
{
    return dvi_words_have(words, count, "-fsycl") &&
           (dvi_words_have(words, count, "-c") || dvi_words_have(words, count, "/c"));
}

/* Which compiler a line is of, where its name stands, and its source; NULL: of none. */
static const struct dvi_compiler *compiler_of(const char *const *words, size_t count,
                                              const char *file, size_t *at, const char **source)
{
    const struct dvi_compiler *compiler = NULL;
    for (*at = 0; *at < count && *at < MOST_BEFORE; ++*at)
        for (size_t i = 0; (compiler = dvi_compiler_at(i)) != NULL; i++) {
            if (!dvi_matches_any(compiler->programs, dvi_base_name(words[*at])))
                continue;
            *source = compiler->source_of(words + *at + 1, count - *at - 1, file);
            if (*source != NULL)
                return compiler;
        }
    return NULL;
}

/* A line as Ninja has it may be more: "cd FOLDER && COMMAND && ...". */
static void one_command(const char *const **words, size_t *count, const char **folder)
{
    size_t end = 0;
    while (*count > 2 && (strcmp((*words)[0], ":") == 0 || strcmp((*words)[0], "cd") == 0)) {
        const size_t used = (*words)[0][0] == ':' ? 1 : 2;
        if (strcmp((*words)[used], "&&") != 0)
            break;
        if (used == 2)
            *folder = (*words)[1];
        *words += used + 1;
        *count -= used + 1;
    }
    while (end < *count && strcmp((*words)[end], "&&") != 0)
        end++;
    *count = end;
}

/* "sh -c 'ocloc compile -file a.cl > log'": the words of a shell are not read, only looked through.
 * The first program in them that compiles device code; NULL: there is none. */
static enum devimg_status find_wrapped(const char *const *words, size_t count,
                                       struct dvi_arena *arena, const char **name,
                                       struct devimg_error *err)
{
    static const char *const shells[] = { "sh", "bash", "dash", "ksh", "zsh", NULL };
    *name = NULL;
    for (size_t i = 0; i + 2 < count && i < MOST_BEFORE; i++) {
        if (!dvi_matches_any(shells, dvi_base_name(words[i])) || words[i + 1][0] != '-')
            continue;
        struct dvi_sycl_words inner = { 0 };
        const char *text = words[i + 2], *source = NULL;
        char *room = dvi_arena_array(arena, strlen(text) + 2, 1);
        bool open_quote = false;
        size_t at = 0;
        enum devimg_status st = room != NULL ? DEVIMG_OK : fail_memory(err);
        while (st == DEVIMG_OK && dvi_next_shell_word(&text, room, &open_quote)) {
            const char *copy = dvi_arena_copy(arena, room);
            st = copy != NULL ? dvi_words_add(&inner, copy, err) : fail_memory(err);
        }
        for (size_t k = 0; k < inner.list.count && st == DEVIMG_OK && *name == NULL; k++)
            if (compiler_of(inner.list.items + k, inner.list.count - k, NULL, &at, &source) != NULL)
                *name = inner.list.items[k + at];
        DVI_LIST_FREE(&inner.list);
        return st;
    }
    return DEVIMG_OK;
}

/* A line of no compiler that is known: of another one of SYCL, or of a shell that starts one. */
static enum devimg_status take_other(struct reader *r, const char *const *words, size_t count,
                                     struct devimg_error *err)
{
    struct dvi_arena *arena = &r->out->arena;
    if (says_sycl(words, count)) {
        if (r->foreign++ == 0)
            r->foreign_name = dvi_arena_copy(arena, words[0]);
        return r->foreign_name != NULL ? DEVIMG_OK : fail_memory(err);
    }
    struct dvi_arena scratch = { 0 };
    const char *name = NULL;
    enum devimg_status st = find_wrapped(words, count, &scratch, &name, err);
    if (st == DEVIMG_OK && name != NULL && r->wrapped++ == 0) {
        r->wrapped_name = dvi_arena_copy(arena, name);
        st = r->wrapped_name != NULL ? DEVIMG_OK : fail_memory(err);
    }
    dvi_arena_free(&scratch);
    return st;
}

static enum devimg_status take_line(void *context, const struct dvi_compile_line *line,
                                    enum devimg_status status, struct devimg_error *err)
{
    struct reader *r = context;
    const char *const *words = line->words;
    size_t count = line->count, at = 0;
    const char *folder = NULL, *source = NULL;
    if (status != DEVIMG_OK)
        return status;
    one_command(&words, &count, &folder);
    const struct dvi_compiler *compiler = compiler_of(words, count, line->file, &at, &source);
    if (compiler == NULL)
        return take_other(r, words, count, err);
    const char *base =
        line->folder != NULL ? dvi_path_in(r->here, line->folder, &r->out->arena) : r->folder;
    if (base == NULL)
        return fail_memory(err);
    const char *asked = r->out->asked->programs[0];
    for (size_t i = 0; i < DVI_COMPILERS; i++)
        if (dvi_compiler_at(i) == compiler)
            asked = r->out->asked->programs[i];
    struct dvi_unit unit = {
        .file = dvi_arena_copy(&r->out->arena, source),
        .folder = folder != NULL ? dvi_path_in(base, folder, &r->out->arena) : base,
        .compiler = compiler,
        .program = dvi_arena_copy(&r->out->arena, asked != NULL ? asked : words[at]),
    };
    if (unit.file == NULL || unit.folder == NULL || unit.program == NULL)
        return fail_memory(err);
    DVI_TRY(keep_words(r, words + at + 1, count - at - 1, &unit, err));
    return add_unit(r, unit, err);
}

/* ---- builds ---- */

static enum devimg_status read_ninja(struct reader *r, const char *folder, const char *file,
                                     struct devimg_error *err)
{
    const char *const argv[] = { "ninja", "-f", file, "-t", "compdb", NULL };
    struct dvi_ran ran = { 0 };
    DVI_TRY(dvi_run_in(folder, argv, NINJA_SECONDS, MOST_COMPDB, &ran, err));
    enum devimg_status st = DEVIMG_OK;
    if (ran.exit_code != 0 || ran.cut)
        st = dvi_fail_plain(err, DEVIMG_IO, file, "ninja -t compdb: %s: %.120s",
                            ran.timed_out ? "no answer in time"
                            : ran.cut     ? "more than 128 MiB"
                                          : "failed",
                            ran.errors);
    if (st == DEVIMG_OK)
        st = dvi_compile_lines_take(file, dvi_view_of(ran.output, ran.output_size, file), take_line,
                                    r, err);
    dvi_ran_free(&ran);
    return st;
}

static enum devimg_status read_build(struct reader *r, const char *build, struct devimg_error *err)
{
    struct stat info;
    struct dvi_arena *arena = &r->out->arena;
    const char *path = dvi_path_in(r->here, build, arena);
    if (path == NULL)
        return fail_memory(err);
    if (stat(path, &info) != 0)
        return dvi_fail_plain(err, DEVIMG_IO, build, "no build: it is not there");
    if (!S_ISDIR(info.st_mode)) {
        const char *slash = strrchr(path, '/');
        r->folder = dvi_arena_format(arena, "%.*s", (int)(slash - path), path);
        if (r->folder == NULL)
            return fail_memory(err);
        return dvi_has_suffix((const char *const[]){ ".ninja", NULL }, path)
                   ? read_ninja(r, r->folder, slash + 1, err)
                   : dvi_compile_lines_read(path, take_line, r, err);
    }
    r->folder = path;
    const char *commands = dvi_path_in(path, "compile_commands.json", arena);
    const char *ninja = dvi_path_in(path, "build.ninja", arena);
    if (commands == NULL || ninja == NULL)
        return fail_memory(err);
    if (access(commands, F_OK) == 0)
        return dvi_compile_lines_read(commands, take_line, r, err);
    if (access(ninja, F_OK) == 0)
        return read_ninja(r, path, "build.ninja", err);
    return dvi_fail_plain(err, DEVIMG_IO, build,
                          "neither compile_commands.json nor build.ninja is there: configure the "
                          "build first (CMake: -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)");
}

/* ---- sources by themselves ---- */

static enum devimg_status add_source(struct reader *r, const char *source, struct devimg_error *err)
{
    const struct dvi_compiler *compiler = NULL;
    size_t i = 0;
    while ((compiler = dvi_compiler_at(i)) != NULL && !dvi_has_suffix(compiler->suffixes, source))
        i++;
    if (compiler == NULL)
        return dvi_fail_plain(err, DEVIMG_UNSUPPORTED, source,
                              "no unit that devimg knows a compiler for: .cl, .spv (ocloc), .cpp, "
                              ".cc, .cxx (icpx), .cu (nvcc)");
    if (access(source, R_OK) != 0)
        return dvi_fail_plain(err, DEVIMG_IO, source, "the unit cannot be read");
    const char *program = r->out->asked->programs[i];
    return add_unit(
        r,
        (struct dvi_unit){ .file = dvi_path_in(r->here, source, &r->out->arena),
                           .folder = r->here,
                           .compiler = compiler,
                           .program = program != NULL ? program : compiler->programs[0] },
        err);
}

enum devimg_status dvi_compile_read_units(struct dvi_compile *compile, struct devimg_error *err)
{
    const struct dvi_compile_asked *asked = compile->asked;
    char *here = realpath(".", NULL);
    struct reader r = { .out = compile };
    if (here == NULL && errno == ENOMEM)
        return fail_memory(err);
    if (here == NULL)
        return dvi_fail_plain(err, DEVIMG_IO, ".", "the folder is not there any more");
    r.here = r.folder = dvi_arena_copy(&compile->arena, here);
    free(here);
    if (r.here == NULL)
        return fail_memory(err);
    if (asked->build != NULL)
        DVI_TRY(read_build(&r, asked->build, err));
    for (size_t i = 0; i < asked->source_count; i++)
        DVI_TRY(add_source(&r, asked->sources[i], err));
    if (asked->work != NULL)
        compile->work = dvi_path_in(r.here, asked->work, &compile->arena);
    else if (asked->build != NULL)
        compile->work = dvi_path_in(r.folder, "devimg-compile", &compile->arena);
    if (compile->work == NULL && (asked->work != NULL || asked->build != NULL))
        return fail_memory(err);
    if (r.foreign > 0)
        DVI_TRY(dvi_compile_warn(compile,
                                 dvi_arena_format(&compile->arena,
                                                  "%zu lines with -fsycl are of a compiler that is "
                                                  "not known, and left out: %s",
                                                  r.foreign, r.foreign_name),
                                 err));
    if (r.wrapped > 0)
        DVI_TRY(dvi_compile_warn(compile,
                                 dvi_arena_format(&compile->arena,
                                                  "%zu line%s %s inside the words of a shell "
                                                  "(sh -c), and %s left out: name the source, or "
                                                  "call the compiler without a shell",
                                                  r.wrapped, r.wrapped == 1 ? " starts" : "s start",
                                                  r.wrapped_name, r.wrapped == 1 ? "is" : "are"),
                                 err));
    if (compile->units.count == 0)
        compile->nothing = asked->only_count > 0 ? "no unit has a name that --only names"
                           : asked->build != NULL
                               ? "no line of the build compiles device code (icpx -fsycl, nvcc, "
                                 "ocloc)"
                               : "there is no unit";
    return DEVIMG_OK;
}
