/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of `devimg sycl compile`: JUnit's XML, and a Ninja file with the same commands.
 * Sources: https://github.com/testmoapp/junitxml; XML 1.0, 2.2 "Characters";
 * https://ninja-build.org/manual.html, "Lexical syntax" and "Rule variables".
 */
#include <string.h>

#include "base/text.h"
#include "base/write.h"
#include "output/escape.h"
#include "output/sycl.h"
#include "sycl/compile.h"

/* ---- JUnit ---- */

static const char junit_mark[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                 "<testsuites name=\"devimg sycl compile\"";

/* Bytes that XML cannot hold are shown as '?'. */
static void put_xml(FILE *file, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        const size_t size = dvi_utf8_size(text, left);
        const unsigned char byte = (unsigned char)*text;
        const bool is_no_character = size == 3 && byte == 0xef && (unsigned char)text[1] == 0xbf &&
                                     (unsigned char)text[2] >= 0xbe; /* U+FFFE, U+FFFF */
        if (size == 0 || is_no_character ||
            (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r'))
            putc('?', file);
        else if (byte == '&')
            fputs("&amp;", file);
        else if (byte == '<')
            fputs("&lt;", file);
        else if (byte == '>')
            fputs("&gt;", file);
        else if (byte == '"')
            fputs("&quot;", file);
        else if (byte == '\n')
            fputs("&#10;", file);
        else
            (void)fwrite(text, 1, size, file);
        text += size > 0 ? size : 1;
        left -= size > 0 ? size : 1;
    }
}

static void put_seconds(FILE *file, uint64_t milliseconds)
{
    fprintf(file, " time=\"%llu.%03u\"", (unsigned long long)(milliseconds / 1000),
            (unsigned)(milliseconds % 1000));
}

static void put_message(FILE *file, const struct dvi_cell *cell)
{
    for (size_t i = 0; i < cell->failures.list.count; i++) {
        const struct dvi_diagnostic *d = &cell->failures.list.items[i];
        if (i > 0)
            fputs("&#10;", file);
        if (d->kernel != NULL) {
            fputs("kernel ", file);
            put_xml(file, d->kernel);
            fputs(": ", file);
        }
        put_xml(file, d->message);
    }
}

static void put_case(FILE *file, const struct dvi_compile *c, const struct dvi_cell *cell)
{
    fputs("    <testcase classname=\"", file);
    put_xml(file, c->units.items[cell->unit].label);
    fputs("\" name=\"", file);
    put_xml(file, c->list.items[cell->target].name);
    putc('"', file);
    if (cell->state != DVI_CELL_NOT_RUN)
        put_seconds(file, cell->milliseconds);
    if (cell->state == DVI_CELL_OK) {
        fputs("/>\n", file);
        return;
    }
    if (cell->gap != NULL) {
        fputs("><skipped message=\"declared gap: ", file);
        put_xml(file, cell->gap);
        fputs("\"/></testcase>\n", file);
        return;
    }
    fputs("><failure message=\"", file);
    put_message(file, cell);
    fputs("\">", file);
    put_xml(file, cell->log != NULL ? cell->log : "");
    fputs("</failure></testcase>\n", file);
}

struct counts {
    size_t tests, failures, skipped;
    uint64_t milliseconds;
};

static struct counts counts_of(const struct dvi_compile *c, size_t first, size_t end)
{
    struct counts n = { .tests = end - first };
    for (size_t i = first; i < end; i++) {
        const struct dvi_cell *cell = &c->cells.items[i];
        n.failures += cell->state != DVI_CELL_OK && cell->gap == NULL;
        n.skipped += cell->state != DVI_CELL_OK && cell->gap != NULL;
        n.milliseconds += cell->milliseconds;
    }
    return n;
}

static void put_counts(FILE *file, const struct counts *n)
{
    fprintf(file, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\"", n->tests,
            n->failures, n->skipped);
    put_seconds(file, n->milliseconds);
}

/* A suite that tells why there is nothing. */
static void put_nothing(FILE *file, const char *why)
{
    fprintf(file,
            " tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\">\n"
            "  <testsuite name=\"compile\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\">\n"
            "    <testcase classname=\"compile\" name=\"every target\"><skipped message=\"");
    put_xml(file, why);
    fputs("\"/></testcase>\n  </testsuite>\n</testsuites>\n", file);
}

static enum devimg_status fill_junit(FILE *file, const void *context, struct devimg_error *err)
{
    const struct dvi_compile *c = context;
    (void)err;
    fputs(junit_mark, file);
    if (c->nothing != NULL) {
        put_nothing(file, c->nothing);
        return DEVIMG_OK;
    }
    const struct counts all = counts_of(c, 0, c->cells.count);
    put_counts(file, &all);
    fputs(">\n", file);
    for (size_t i = 0, end = 0; i < c->cells.count; i = end) {
        while (end < c->cells.count && c->cells.items[end].unit == c->cells.items[i].unit)
            end++;
        const struct counts of_unit = counts_of(c, i, end);
        fputs("  <testsuite name=\"", file);
        put_xml(file, c->units.items[c->cells.items[i].unit].label);
        putc('"', file);
        put_counts(file, &of_unit);
        fputs(">\n", file);
        for (size_t k = i; k < end; k++)
            put_case(file, c, &c->cells.items[k]);
        fputs("  </testsuite>\n", file);
    }
    fputs("</testsuites>\n", file);
    return DEVIMG_OK;
}

enum devimg_status dvi_output_compile_junit(const char *path, const struct dvi_compile *compile,
                                            struct devimg_error *err)
{
    return dvi_file_replace(path, junit_mark, fill_junit, compile, err);
}

/* ---- Ninja ---- */

static const char ninja_mark[] = "# devimg sycl compile";

struct ninja {
    const struct dvi_compile *c;
    bool limit; /* a time limit was asked for */
};

/* Of a path: '$', ' ' and ':' stand behind a '$'. */
static void put_path(FILE *file, const char *path)
{
    for (; *path != '\0'; path++) {
        if (strchr("$ :", *path) != NULL)
            putc('$', file);
        putc(*path, file);
    }
}

/* A word that the shell of Ninja reads as it is; in the value of a variable, '$' is doubled. */
static void put_word(FILE *file, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=.,/:@%";
    const bool is_plain = *word != '\0' && word[strspn(word, plain)] == '\0';
    if (!is_plain)
        putc('\'', file);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs("'\\''", file);
        else if (*word == '$')
            fputs("$$", file);
        else
            putc(*word, file);
    }
    if (!is_plain)
        putc('\'', file);
}

/*
 * A compiler writes its rule from the folder that it runs in, and Ninja reads it from another one:
 * files without a leading '/' get the folder. What stands behind "\ " belongs to the name before.
 */
static enum devimg_status put_rule_mend(FILE *file, const char *folder, const char *deps,
                                        struct dvi_arena *arena, struct devimg_error *err)
{
    const size_t size = strlen(folder);
    char *name = dvi_arena_array(arena, 3 * size + 1, 1), *end = name;
    if (name == NULL)
        return dvi_fail_memory(err, "ninja");
    for (size_t i = 0; i < size; i++) { /* as make has it, and that for sed */
        if (folder[i] == ' ' || folder[i] == '#')
            *end++ = '\\', *end++ = '\\';
        else if (folder[i] == '$')
            *end++ = '$';
        else if (strchr("\\&,", folder[i]) != NULL)
            *end++ = '\\';
        *end++ = folder[i];
    }
    const char *script = dvi_arena_format(
        arena, "s/\\\\ /\\x01/g;s,( )([^/ :\\\\]),\\1%s/\\2,g;s/\\x01/\\\\ /g", name);
    if (script == NULL)
        return dvi_fail_memory(err, "ninja");
    fputs(" && sed -E -i ", file);
    put_word(file, script);
    putc(' ', file);
    put_word(file, deps);
    return DEVIMG_OK;
}

static bool has_line_end(const struct dvi_sycl_words *words)
{
    for (size_t i = 0; i < words->list.count; i++)
        if (strchr(words->list.items[i], '\n') != NULL)
            return true;
    return false;
}

/* Files that OpenCL C includes; a compiler that writes a rule tells them by itself. */
static enum devimg_status put_headers(FILE *file, const struct dvi_unit *unit,
                                      const struct dvi_sycl_words *words, struct dvi_arena *arena,
                                      struct devimg_error *err)
{
    struct dvi_paths paths = { 0 };
    enum devimg_status st = DEVIMG_OK;
    if (unit->compiler->reads(unit) == DVI_READS_INCLUDES)
        st = dvi_compile_reads(unit, "", words, arena, &paths, err);
    for (size_t i = 1; i < paths.list.count && st == DEVIMG_OK; i++) {
        putc(' ', file);
        put_path(file, paths.list.items[i]);
    }
    DVI_LIST_FREE(&paths.list);
    return st;
}

static enum devimg_status put_edge(FILE *file, const struct ninja *n, size_t index,
                                   struct dvi_arena *arena, struct devimg_error *err)
{
    const struct dvi_compile *c = n->c;
    const struct dvi_cell *cell = &c->cells.items[index];
    const struct dvi_unit *unit = &c->units.items[cell->unit];
    const struct dvi_compile_program *program = &c->programs.items[unit->program_index];
    const char *target = c->list.items[cell->target].name;
    struct dvi_sycl_words words = { 0 };
    if (program->path == NULL)
        return dvi_fail_plain(err, DEVIMG_IO, unit->label, "%s", program->problem);
    const char *out = dvi_arena_format(arena, "%s/ninja/%zu-%s-%s", c->work, cell->unit,
                                       dvi_base_name(unit->file), target);
    const char *deps = out != NULL ? dvi_arena_format(arena, "%s.d", out) : NULL;
    if (deps == NULL)
        return dvi_fail_memory(err, "ninja");
    enum devimg_status st = dvi_compile_words(c, cell, out, deps, arena, &words, err);
    if (st == DEVIMG_OK && (has_line_end(&words) || strchr(unit->path, '\n') != NULL ||
                            strchr(unit->folder, '\n') != NULL || strchr(out, '\n') != NULL))
        st = dvi_fail_plain(err, DEVIMG_UNSUPPORTED, unit->label,
                            "a word of its command has a line end, which a Ninja file cannot hold");
    if (st == DEVIMG_OK) {
        fputs("\nbuild ", file);
        put_path(file, out);
        fputs(unit->compiler->reads(unit) == DVI_READS_DEPFILE ? ": with_rule " : ": alone ", file);
        put_path(file, unit->path);
        fputs(" | ", file);
        put_path(file, program->path);
        st = put_headers(file, unit, &words, arena, err);
        fputs("\n  cmd = cd ", file);
        put_word(file, unit->folder);
        fputs(" &&", file);
        for (size_t i = 0; i < c->asked->launcher_count; i++) {
            putc(' ', file);
            put_word(file, c->asked->launcher[i]);
        }
        if (n->limit)
            fprintf(file, " timeout %u", c->asked->seconds);
        for (size_t i = 0; i < words.list.count; i++) {
            putc(' ', file);
            put_word(file, words.list.items[i]);
        }
        if (unit->compiler->reads(unit) == DVI_READS_DEPFILE)
            st = st == DEVIMG_OK ? put_rule_mend(file, unit->folder, deps, arena, err) : st;
        fputs("\n  description = [", file);
        fprintf(file, "%s] ", target);
        put_path(file, unit->label);
        putc('\n', file);
    }
    DVI_LIST_FREE(&words.list);
    return st;
}

static enum devimg_status fill_ninja(FILE *file, const void *context, struct devimg_error *err)
{
    const struct ninja *n = context;
    struct dvi_arena arena = { 0 };
    enum devimg_status st = DEVIMG_OK;
    fprintf(file,
            "%s\n# ninja -k 0 -f FILE: every unit for every target, also behind one that fails\n"
            "ninja_required_version = 1.5\n"
            "builddir = ",
            ninja_mark);
    put_path(file, n->c->work);
    fputs("/ninja\n"
          "rule with_rule\n  command = $cmd\n  depfile = $out.d\n  deps = gcc\n"
          "rule alone\n  command = $cmd\n",
          file);
    for (size_t i = 0; i < n->c->cells.count && st == DEVIMG_OK; i++) {
        st = put_edge(file, n, i, &arena, err);
        dvi_arena_free(&arena);
    }
    return st;
}

enum devimg_status dvi_output_compile_ninja(const char *path, const struct dvi_compile *compile,
                                            bool limit, struct devimg_error *err)
{
    const struct ninja ninja = { compile, limit };
    return dvi_file_replace(path, ninja_mark, fill_ninja, &ninja, err);
}
