/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg sycl compile`: the table of units and targets, and every failure. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/escape.h"
#include "output/form.h"
#include "output/sycl.h"
#include "output/text.h"
#include "sycl/compile.h"

/* Columns of the table; targets that are counted where all of them fail alike. */
enum { MOST_GROUPS = 60, MANY = 4 };

/* They stand by unit, then by target. */
static const struct dvi_cell *cell_of(const struct dvi_compile *c, size_t unit, size_t target)
{
    size_t first = 0, end = c->cells.count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        const struct dvi_cell *cell = &c->cells.items[middle];
        if (cell->unit == unit && cell->target == target)
            return cell;
        if (cell->unit < unit || (cell->unit == unit && cell->target < target))
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

/* What stands in the table. */
static const char *word_of(const struct dvi_cell *cell)
{
    if (cell == NULL)
        return "-";
    if (cell->state != DVI_CELL_OK && cell->gap != NULL)
        return "gap";
    switch (cell->state) {
    case DVI_CELL_OK: return "ok";
    case DVI_CELL_FAILED: return "FAIL";
    case DVI_CELL_TIMED_OUT: return "TIME";
    case DVI_CELL_NOT_RUN: break;
    }
    return "NONE";
}

static bool passes(const struct dvi_compile *c)
{
    return c->nothing == NULL && c->failed == 0;
}

/* Whether the failures are known to be all that the compiler has to say. */
static bool is_complete(const struct dvi_cell *cell)
{
    return cell->state == DVI_CELL_OK || (cell->state == DVI_CELL_FAILED && !cell->is_cut &&
                                          !cell->failures.cut && !cell->failures.first_only);
}

/* ---- JSON ---- */

static void diagnostic_json(struct dvi_json *j, const struct dvi_diagnostic *d)
{
    dvi_json_text(j, "kernel", d->kernel);
    dvi_json_number(j, "sub_group_size", d->sub_group_size);
    dvi_json_text(j, "message", d->message);
}

static void cell_json(struct dvi_json *j, const struct dvi_compile *c, const struct dvi_cell *cell)
{
    static const char *const states[] = { "not-run", "ok", "failed", "timed-out" };
    static const struct dvi_diagnostic none = { .sub_group_size = DEVIMG_UNKNOWN };
    const size_t count = cell->failures.list.count;
    dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
    dvi_json_text(j, "target", c->list.items[cell->target].name);
    dvi_json_bool(j, "ok", cell->state == DVI_CELL_OK);
    dvi_json_text(j, "state", states[cell->state]);
    dvi_json_bool(j, "cached", cell->cached);
    dvi_json_text(j, "gap", cell->gap);
    diagnostic_json(j, count > 0 ? &cell->failures.list.items[0] : &none);
    dvi_json_array(j, "failures", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < count; i++) {
        dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
        diagnostic_json(j, &cell->failures.list.items[i]);
        dvi_json_end(j);
    }
    dvi_json_end(j);
    dvi_json_bool(j, "complete", is_complete(cell));
    dvi_json_end(j);
}

static void units_json(struct dvi_json *j, const struct dvi_compile *c)
{
    size_t at = 0;
    dvi_json_array(j, "units", DVI_JSON_LINES);
    for (size_t u = 0; u < c->units.count; u++) {
        const struct dvi_unit *unit = &c->units.items[u];
        dvi_json_object(j, NULL, DVI_JSON_LINES);
        dvi_json_text(j, "unit", unit->label);
        dvi_json_text(j, "compiler", unit->compiler->name);
        dvi_json_text(j, "program",
                      c->programs.count > 0 ? c->programs.items[unit->program_index].path : NULL);
        dvi_json_array(j, "targets", DVI_JSON_LINES);
        for (; at < c->cells.count && c->cells.items[at].unit == u; at++)
            cell_json(j, c, &c->cells.items[at]);
        dvi_json_end(j);
        dvi_json_end(j);
    }
    dvi_json_end(j);
}

static void json(struct dvi_output *out, const struct dvi_compile *c)
{
    struct dvi_json *j = &out->j;
    *j = dvi_json_to(out->file);
    dvi_json_object(j, NULL, DVI_JSON_LINES);
    dvi_json_text(j, "schema", "devimg/1");
    dvi_json_text(j, "verdict", c->nothing != NULL ? NULL : passes(c) ? "pass" : "fail");
    dvi_json_text(j, "nothing", c->nothing);
    dvi_json_array(j, "targets", DVI_JSON_ONE_LINE);
    for (size_t i = 0; i < c->list.count; i++)
        dvi_json_text(j, NULL, c->list.items[i].name);
    dvi_json_end(j);
    units_json(j, c);
    dvi_json_number(j, "ok", c->ok);
    dvi_json_number(j, "failed", c->failed);
    dvi_json_number(j, "gaps", c->gaps);
    dvi_json_number(j, "cached", c->cached);
    dvi_json_array(j, "warnings", DVI_JSON_LINES);
    for (size_t i = 0; i < c->warnings.count; i++)
        dvi_json_text(j, NULL, c->warnings.items[i]);
    dvi_json_end(j);
    dvi_json_end(j);
}

/* ---- the table ---- */

/* Targets with the same word in every row, which share a column. */
struct group {
    size_t first, count;
    char *head;
};
struct matrix {
    const struct dvi_compile *c;
    struct group *groups;
    size_t count;
};

static bool same_column(const struct dvi_compile *c, size_t a, size_t b)
{
    for (size_t u = 0; u < c->units.count; u++)
        if (strcmp(word_of(cell_of(c, u, a)), word_of(cell_of(c, u, b))) != 0)
            return false;
    return true;
}

static bool make_groups(struct matrix *m, bool fold)
{
    m->groups = calloc(m->c->list.count + 1, sizeof *m->groups);
    for (size_t t = 0; t < m->c->list.count && m->groups != NULL; t++) {
        size_t g = 0;
        while (g < m->count && (!fold || !same_column(m->c, m->groups[g].first, t)))
            g++;
        if (g == m->count)
            m->groups[m->count++] = (struct group){ .first = t };
        m->groups[g].count++;
    }
    for (size_t g = 0; g < m->count; g++) {
        const char *name = m->c->list.items[m->groups[g].first].name;
        const size_t room = strlen(name) + 32;
        m->groups[g].head = malloc(room);
        if (m->groups[g].head == NULL)
            return false;
        if (m->groups[g].count > 1)
            (void)snprintf(m->groups[g].head, room, "%s+%zu", name, m->groups[g].count - 1);
        else
            (void)snprintf(m->groups[g].head, room, "%s", name);
    }
    return m->groups != NULL;
}

static void free_groups(struct matrix *m)
{
    for (size_t g = 0; g < m->count; g++)
        free(m->groups[g].head);
    free(m->groups);
}

static void matrix_rows(struct dvi_table *table, const void *data)
{
    const struct matrix *m = data;
    for (size_t u = 0; u < m->c->units.count; u++) {
        dvi_cell(table, m->c->units.items[u].label);
        for (size_t g = 0; g < m->count; g++)
            dvi_cell(table, word_of(cell_of(m->c, u, m->groups[g].first)));
    }
}

static void table(struct dvi_output *out, const struct dvi_compile *c)
{
    struct matrix m = { .c = c };
    struct dvi_column columns[MOST_GROUPS + 1] = { { "UNIT", DVI_LEFT } };
    if (!make_groups(&m, out->verbose == 0)) {
        dvi_output_memory(out);
    } else if (m.count <= MOST_GROUPS) { /* more than that: the failures alone are to be read */
        for (size_t g = 0; g < m.count; g++)
            columns[g + 1] = (struct dvi_column){ m.groups[g].head, DVI_LEFT };
        putc('\n', out->file);
        dvi_table_print(out, columns, m.count + 1, matrix_rows, &m);
    }
    free_groups(&m);
}

/* ---- failures ---- */

/* A row, or its part in another one, is of it. */
static bool has_rows(const struct dvi_cell *cell)
{
    return cell->state != DVI_CELL_OK && cell->gap == NULL && !cell->is_unknown;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_failures(const struct dvi_cell *a, const struct dvi_cell *b)
{
    if (a->failures.list.count != b->failures.list.count)
        return false;
    for (size_t i = 0; i < a->failures.list.count; i++) {
        const struct dvi_diagnostic *x = &a->failures.list.items[i];
        const struct dvi_diagnostic *y = &b->failures.list.items[i];
        if (!same_text(x->kernel, y->kernel) || !same_text(x->message, y->message) ||
            x->sub_group_size != y->sub_group_size)
            return false;
    }
    return true;
}

struct rows {
    const struct dvi_compile *c;
    struct dvi_arena arena;
    bool fold;
    const char **targets; /* a cell: whose rows it has, joined; NULL: no row begins here */
};

/* The cells of one unit, up to `end`: those that fail in the same way share their rows. */
static bool join_unit(struct rows *r, size_t start, size_t end)
{
    const struct dvi_compile *c = r->c;
    size_t failing = 0;
    for (size_t i = start; i < end; i++) {
        const struct dvi_cell *cell = &c->cells.items[i];
        const char *name = c->list.items[cell->target].name;
        size_t first = start;
        if (!has_rows(cell))
            continue;
        while (first < i && (!r->fold || r->targets[first] == NULL ||
                             !same_failures(&c->cells.items[first], cell)))
            first++;
        failing += first == start;
        r->targets[first] =
            first == i ? name : dvi_arena_format(&r->arena, "%s,%s", r->targets[first], name);
        if (r->targets[first] == NULL)
            return false;
    }
    if (failing < MANY || failing < end - start)
        return true;
    r->targets[start] = dvi_arena_format(&r->arena, "all %zu", failing);
    return r->targets[start] != NULL;
}

static bool join_targets(struct rows *r)
{
    const struct dvi_compile *c = r->c;
    r->targets = dvi_arena_array(&r->arena, c->cells.count + 1, sizeof *r->targets);
    for (size_t i = 0, end = 0; i < c->cells.count && r->targets != NULL; i = end) {
        while (end < c->cells.count && c->cells.items[end].unit == c->cells.items[i].unit)
            end++;
        if (!join_unit(r, i, end))
            return false;
    }
    return r->targets != NULL;
}

static void failure_rows(struct dvi_table *table, const void *data)
{
    const struct rows *r = data;
    const struct dvi_compile *c = r->c;
    for (size_t i = 0; i < c->cells.count; i++) {
        const struct dvi_cell *cell = &c->cells.items[i];
        for (size_t k = 0; k < cell->failures.list.count && r->targets[i] != NULL; k++) {
            const struct dvi_diagnostic *d = &cell->failures.list.items[k];
            dvi_cell(table, c->units.items[cell->unit].label);
            dvi_cell(table, r->targets[i]);
            dvi_cell(table, d->kernel);
            dvi_cell_number(table, d->sub_group_size);
            dvi_cell(table, d->message);
        }
    }
}

static void print_failures(struct dvi_output *out, const struct dvi_compile *c)
{
    static const struct dvi_column columns[] = {
        { "UNIT", DVI_LEFT },  { "TARGET", DVI_LEFT },  { "KERNEL", DVI_LEFT },
        { "SIZE", DVI_RIGHT }, { "MESSAGE", DVI_LEFT },
    };
    struct rows r = { .c = c, .fold = out->verbose == 0 };
    bool any = false;
    for (size_t i = 0; i < c->cells.count; i++)
        any = any || has_rows(&c->cells.items[i]);
    if (any && !join_targets(&r)) {
        dvi_output_memory(out);
    } else if (any) {
        putc('\n', out->file);
        dvi_table_print(out, columns, sizeof columns / sizeof *columns, failure_rows, &r);
    }
    dvi_arena_free(&r.arena);
}

/* What the rows leave open. */
static void print_incomplete(const struct dvi_output *out, const struct dvi_compile *c)
{
    bool first_only = false;
    for (size_t i = 0; i < c->cells.count; i++) {
        const struct dvi_cell *cell = &c->cells.items[i];
        if (!has_rows(cell))
            continue;
        first_only = first_only || cell->failures.first_only;
        if (!cell->is_cut && !cell->failures.cut)
            continue;
        fputs("note: ", out->file);
        dvi_escape(out->file, c->units.items[cell->unit].label);
        fprintf(out->file,
                " for %s has more errors than these: ", c->list.items[cell->target].name);
        fputs(cell->is_cut ? "the compiler printed more than is kept\n"
                           : "-v shows all that the compiler printed\n",
              out->file);
    }
    if (first_only)
        fputs("note: ocloc ends at the first kernel that it refuses, so others of that unit may be "
              "refused as well: devimg sycl lint finds the size of each\n",
              out->file);
}

/* Targets that their compiler does not know, whatever the unit: once. */
static void print_unknown(const struct dvi_output *out, const struct dvi_compile *c)
{
    const char *before = "\nThis ocloc does not know ";
    for (size_t t = 0; t < c->list.count; t++) {
        bool unknown = false;
        for (size_t i = 0; i < c->cells.count && !unknown; i++)
            unknown = c->cells.items[i].target == t && c->cells.items[i].is_unknown;
        if (!unknown)
            continue;
        fprintf(out->file, "%s%s", before, c->list.items[t].name);
        before = ", ";
    }
    if (before[0] == ',')
        fputs(": use a newer one, or leave them out (--narrow-to-ocloc)\n", out->file);
}

static void print_gaps(const struct dvi_output *out, const struct dvi_compile *c)
{
    for (size_t i = 0; i < c->cells.count; i++) {
        const struct dvi_cell *cell = &c->cells.items[i];
        const bool needed = cell->state != DVI_CELL_OK;
        if (cell->gap == NULL || (needed && out->verbose == 0))
            continue;
        fputs(needed ? "gap: " : "note: ", out->file);
        dvi_escape(out->file, c->units.items[cell->unit].label);
        fprintf(out->file, " for %s: ", c->list.items[cell->target].name);
        if (!needed)
            fputs("compiles now, so the gap is no longer needed: ", out->file);
        dvi_escape(out->file, cell->gap);
        putc('\n', out->file);
    }
}

/* What the compiler printed, where all of it is asked for. */
static void print_logs(const struct dvi_output *out, const struct dvi_compile *c)
{
    for (size_t i = 0; i < c->cells.count && out->verbose > 0; i++) {
        const struct dvi_cell *cell = &c->cells.items[i];
        if (cell->state == DVI_CELL_OK || cell->log == NULL || cell->log[0] == '\0')
            continue;
        fputs("\n--- ", out->file);
        dvi_escape(out->file, c->units.items[cell->unit].label);
        fprintf(out->file, " for %s, exit status %d\n", c->list.items[cell->target].name,
                cell->exit_code);
        for (const char *at = cell->log; *at != '\0';) {
            const size_t size = strcspn(at, "\n");
            char *line = strndup(at, size);
            if (line != NULL)
                dvi_escape(out->file, line);
            free(line);
            putc('\n', out->file);
            at += size + (at[size] != '\0');
        }
    }
}

/* Commands that were run for this answer. */
static size_t count_run(const struct dvi_compile *c)
{
    size_t count = 0;
    for (size_t i = 0; i < c->cells.count; i++)
        count += c->cells.items[i].state != DVI_CELL_NOT_RUN && !c->cells.items[i].cached;
    return count;
}

static void first_line(const struct dvi_output *out, const struct dvi_compile *c)
{
    if (c->nothing != NULL) {
        fputs(c->is_configured ? "skipped: " : "nothing to compile: ", out->file);
        dvi_escape(out->file, c->nothing);
        putc('\n', out->file);
        return;
    }
    const size_t count = c->cells.count, ran = count_run(c), told = passes(c) ? c->ok : c->failed;
    const bool one = told == 1 || count == 1;
    dvi_style_on(out, passes(c) ? DVI_GREEN : DVI_RED);
    fputs(passes(c) ? "pass" : "FAIL", out->file);
    dvi_style_off(out);
    fprintf(out->file, ": %zu of ", told);
    dvi_print_count(out->file, count, "compile");
    fprintf(out->file, " %s%s", passes(c) ? "succeed" : "fail", one ? "s" : "");
    if (passes(c) && c->gaps > 0)
        fprintf(out->file, ", %zu %s", c->gaps,
                c->gaps == 1 ? "is a declared gap" : "are declared gaps");
    fputs(" (", out->file);
    dvi_print_count(out->file, c->units.count, "unit");
    fputs(", ", out->file);
    dvi_print_count(out->file, c->list.count, "target");
    if (!passes(c) && c->gaps > 0) {
        fputs(", ", out->file);
        dvi_print_count(out->file, c->gaps, "declared gap");
    }
    fprintf(out->file, "; %zu compiled, %zu unchanged)\n", ran, c->cached);
}

static void text(struct dvi_output *out, const struct dvi_compile *c)
{
    first_line(out, c);
    if (out->quiet || c->nothing != NULL)
        return;
    table(out, c);
    print_failures(out, c);
    print_incomplete(out, c);
    print_unknown(out, c);
    print_gaps(out, c);
    print_logs(out, c);
}

static void print_warnings(const struct dvi_compile *c)
{
    for (size_t i = 0; i < c->warnings.count; i++) {
        fputs("devimg sycl compile: warning: ", stderr);
        dvi_escape(stderr, c->warnings.items[i]);
        putc('\n', stderr);
    }
}

enum dvi_exit dvi_output_sycl_compile(struct dvi_output *out, const struct dvi_compile *compile)
{
    print_warnings(compile);
    if (out->json)
        json(out, compile);
    else
        text(out, compile);
    if (compile->nothing == NULL && compile->failed > 0)
        dvi_output_worst(out, DVI_EXIT_FINDINGS);
    const enum dvi_exit closed = dvi_output_close(out->file);
    if (closed == DVI_EXIT_OK && compile->nothing != NULL && !compile->is_configured)
        return DVI_EXIT_SKIPPED;
    dvi_output_worst(out, closed);
    return out->worst;
}

enum dvi_exit dvi_output_compile_written(struct dvi_output *out, const struct dvi_compile *compile,
                                         const char *path)
{
    print_warnings(compile);
    if (!out->quiet) {
        fprintf(out->file, "%zu commands are in ", compile->cells.count);
        dvi_escape(out->file, path);
        fputs(": ninja -k 0 -f ", out->file);
        dvi_escape(out->file, path);
        putc('\n', out->file);
    }
    return dvi_output_close(out->file);
}

/* ---- progress ---- */

void dvi_output_compile_progress(void *file, const struct dvi_compile_progress *at)
{
    FILE *terminal = file;
    fputs("\r\033[K", terminal);
    if (at != NULL) {
        fprintf(terminal, "[%zu/%zu] ", at->done, at->count);
        if (at->failed > 0)
            fprintf(terminal, "%zu failed, ", at->failed);
        dvi_escape(terminal, dvi_base_name(at->unit));
        fprintf(terminal, " %s", at->target);
    }
    (void)fflush(terminal);
}
