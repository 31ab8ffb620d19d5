/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All sources are scanned, in parallel. A macro that was seen to hold a size in a parameter becomes
 * one whose uses are requests, and what may use it is scanned again. Then each request is judged,
 * in the order of the sources.
 */
#include "sycl/source_lint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/pool.h"
#include "base/walk.h"
#include "check/compile_lines.h"

enum { MOST_ROUNDS = 16, MOST_TEXTS = 64, LARGEST_SIZE_BIT = 10, SMALL_FILE = 1 << 20 };

/* A request in a macro with parameters, one of which it mentions. */
struct wrapper {
    const char *name; /* of the macro */
    const struct dvi_scope *macro;
    const struct dvi_size_request *request;
};

struct lint {
    const struct dvi_size_lint_asked *asked;
    const struct devimg_policy *policy;
    struct dvi_size_lint *out;
    struct dvi_walk walk;
    struct dvi_walked *files; /* each once; the headers of the policy come last */
    bool *is_header;
    size_t count;
    struct dvi_source *sources;
    struct devimg_error **errors; /* of a source that could not be read */
    size_t *again;                /* sources to scan in this round */
    size_t again_count;
    DVI_LIST(struct dvi_source_word) words;
    struct dvi_source_words table;
    DVI_LIST(struct wrapper) wrappers;
    struct dvi_sources all;
    bool raw_denied;
};

/* ---- which files ---- */

static bool is_source(const char *name)
{
    static const char *const endings[] = {
        "c",    "cc",  "cpp",  "cxx", "c++", "C",   "cl",  "cu",  "hip",
        "sycl", "ixx", "cppm", "h",   "hh",  "hpp", "hxx", "h++", "H",
        "cuh",  "clh", "inl",  "inc", "ipp", "tpp", "txx", "tcc", "def",
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot + 1, endings[i]) == 0)
            return true;
    return false;
}

static enum devimg_status take_unit(void *context, const struct dvi_compile_line *line,
                                    enum devimg_status status, struct devimg_error *err)
{
    struct lint *l = context;
    struct dvi_arena scratch = { 0 };
    (void)status; /* the words do not matter here */
    if (line->file == NULL || !is_source(line->file))
        return DEVIMG_OK;
    const char *path = *line->file == '/' || line->folder == NULL
                           ? line->file
                           : dvi_arena_format(&scratch, "%s/%s", line->folder, line->file);
    const enum devimg_status st = path != NULL ? dvi_walk_add(&l->walk, path, is_source, err)
                                               : dvi_fail_memory(err, line->file);
    dvi_arena_free(&scratch);
    return st;
}

struct identity {
    uint64_t device, inode;
    size_t at;
};

static int compare_identity(const void *a, const void *b)
{
    const struct identity *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Keep each file once, at its first place; a file that is one of the headers is marked. */
static enum devimg_status keep_files(struct lint *l, size_t first_header, struct devimg_error *err)
{
    const size_t count = l->walk.files.count;
    struct identity *ids = calloc(count + 1, sizeof *ids);
    bool *dropped = calloc(count + 1, sizeof *dropped), *header = calloc(count + 1, sizeof *header);
    l->files = calloc(count + 1, sizeof *l->files);
    l->is_header = calloc(count + 1, sizeof *l->is_header);
    if (ids == NULL || dropped == NULL || header == NULL || l->files == NULL ||
        l->is_header == NULL) {
        free(ids);
        free(dropped);
        free(header);
        return dvi_fail_memory(err, "lint");
    }
    for (size_t i = 0; i < count; i++)
        ids[i] =
            (struct identity){ l->walk.files.items[i].device, l->walk.files.items[i].inode, i };
    qsort(ids, count, sizeof *ids, compare_identity);
    for (size_t i = 0, first = 0; i < count; i++) {
        if (ids[i].device != ids[first].device || ids[i].inode != ids[first].inode)
            first = i;
        dropped[ids[i].at] = i != first;
        header[ids[first].at] = header[ids[first].at] || ids[i].at >= first_header;
    }
    for (size_t i = 0; i < count; i++) {
        if (dropped[i])
            continue;
        l->is_header[l->count] = header[i];
        l->files[l->count++] = l->walk.files.items[i];
    }
    free(ids);
    free(dropped);
    free(header);
    return DEVIMG_OK;
}

static enum devimg_status find_files(struct lint *l, struct devimg_error *err)
{
    for (size_t i = 0; i < l->asked->path_count; i++)
        DVI_TRY(dvi_walk_add(&l->walk, l->asked->paths[i], is_source, err));
    if (l->asked->commands != NULL)
        DVI_TRY(dvi_compile_lines_read(l->asked->commands, take_unit, l, err));
    const size_t first_header = l->walk.files.count;
    for (size_t i = 0; i < l->policy->lint.headers.count; i++)
        DVI_TRY(dvi_walk_add(&l->walk, l->policy->lint.headers.items[i], is_source, err));
    return keep_files(l, first_header, err);
}

/* ---- scanning ---- */

static enum devimg_status scan_file(const struct lint *l, const struct dvi_walked *file,
                                    struct dvi_source *out, struct devimg_error *err)
{
    struct dvi_file opened = { 0 };
    const bool small = file->size <= SMALL_FILE; /* reading is cheaper than mapping */
    DVI_TRY(dvi_file_open(file->path, file->path, small, &opened, err));
    enum devimg_status st = dvi_source_scan(opened.bytes, &l->table, out, err);
    if (st == DEVIMG_OK && dvi_file_was_cut(&opened))
        st = dvi_fail_plain(err, DEVIMG_IO, file->path, "it became shorter while it was read");
    dvi_file_close(&opened);
    return st;
}

static void scan_one(void *context, size_t index, unsigned worker)
{
    struct lint *l = context;
    const size_t at = l->again[index];
    struct devimg_error err = { 0 };
    (void)worker;
    dvi_source_free(&l->sources[at]);
    l->sources[at] = (struct dvi_source){ .using_count = 0 };
    if (scan_file(l, &l->files[at], &l->sources[at], &err) == DEVIMG_OK)
        return;
    dvi_source_free(&l->sources[at]);
    l->sources[at] = (struct dvi_source){ .using_count = 0 };
    l->errors[at] = malloc(sizeof err);
    if (l->errors[at] != NULL)
        *l->errors[at] = err;
}

static enum devimg_status scan_round(struct lint *l, struct devimg_error *err)
{
    const unsigned threads = l->asked->threads > 0 ? l->asked->threads : dvi_pool_cores();
    dvi_source_words_free(&l->table);
    l->table.items = l->words.items;
    l->table.count = l->words.count;
    DVI_TRY(dvi_source_words_make(&l->table, err));
    dvi_pool_run(l->again_count, threads, scan_one, l);
    for (size_t i = 0; i < l->again_count; i++) {
        const struct devimg_error *failed = l->errors[l->again[i]];
        if (l->sources[l->again[i]].scopes.count == 0 && failed == NULL)
            return dvi_fail_memory(err, "lint");
        if (failed != NULL && failed->status == DEVIMG_NOMEM)
            return dvi_fail_memory(err, failed->source);
    }
    return DEVIMG_OK;
}

static bool has_word(const struct lint *l, const char *name)
{
    for (size_t i = 0; i < l->words.count; i++)
        if (strcmp(l->words.items[i].name, name) == 0)
            return true;
    return false;
}

static enum devimg_status add_word(struct lint *l, const char *name, uint32_t argument,
                                   bool is_template, struct devimg_error *err)
{
    struct dvi_source_word *word = DVI_ADD(&l->words);
    const char *own = dvi_arena_copy(&l->out->arena, name);
    if (word == NULL || own == NULL)
        return dvi_fail_memory(err, "lint");
    *word = (struct dvi_source_word){ own, argument, is_template };
    return DEVIMG_OK;
}

/* The macro with parameters that a request is in and whose parameters it mentions; NULL: none. */
static const struct dvi_scope *wrapping(const struct dvi_source *source,
                                        const struct dvi_size_request *r)
{
    const struct dvi_scope *macro = dvi_source_macro(source, r->scope);
    if (macro == NULL || r->text == NULL || r->no_size ||
        !dvi_source_mentions(r->text, macro->params, macro->param_count))
        return NULL;
    return macro;
}

/* Names of macros that hold a size in a parameter, and that nobody named before. */
static enum devimg_status find_words(struct lint *l, size_t *added, struct devimg_error *err)
{
    const size_t before = l->words.count;
    for (size_t i = 0; i < l->again_count; i++) {
        const struct dvi_source *source = &l->sources[l->again[i]];
        for (size_t k = 0; k < source->requests.count; k++) {
            const struct dvi_scope *macro = wrapping(source, &source->requests.items[k]);
            if (macro == NULL || has_word(l, macro->name))
                continue;
            if (l->words.count >= 4096)
                return dvi_fail_plain(err, DEVIMG_LIMIT, "lint",
                                      "more than 4096 macros that hold a size");
            DVI_TRY(add_word(l, macro->name, 0, false, err));
        }
    }
    *added = l->words.count - before;
    return DEVIMG_OK;
}

static bool may_use(const struct lint *l, size_t source, size_t first_word)
{
    for (size_t i = first_word; i < l->words.count; i++)
        if (dvi_source_may_name(&l->sources[source], l->words.items[i].name))
            return true;
    return false;
}

static enum devimg_status scan_all(struct lint *l, struct devimg_error *err)
{
    const struct dvi_lint_policy *policy = &l->policy->lint;
    l->sources = calloc(l->count + 1, sizeof *l->sources);
    l->errors = calloc(l->count + 1, sizeof *l->errors);
    l->again = calloc(l->count + 1, sizeof *l->again);
    if (l->sources == NULL || l->errors == NULL || l->again == NULL)
        return dvi_fail_memory(err, "lint");
    for (size_t i = 0; i < policy->macros.count; i++)
        DVI_TRY(add_word(l, policy->macros.items[i].name, policy->macros.items[i].argument, false,
                         err));
    for (size_t i = 0; i < policy->templates.count; i++)
        DVI_TRY(add_word(l, policy->templates.items[i].name, policy->templates.items[i].argument,
                         true, err));
    for (size_t i = 0; i < l->count; i++)
        l->again[l->again_count++] = i;
    for (unsigned round = 0; l->again_count > 0; round++) {
        size_t added = 0;
        if (round == MOST_ROUNDS)
            return dvi_fail_plain(err, DEVIMG_LIMIT, "lint",
                                  "more than %d macros inside each other hold a size", MOST_ROUNDS);
        DVI_TRY(scan_round(l, err));
        DVI_TRY(find_words(l, &added, err));
        l->again_count = 0;
        for (size_t i = 0; added > 0 && i < l->count; i++)
            if (l->errors[i] == NULL && may_use(l, i, l->words.count - added))
                l->again[l->again_count++] = i;
    }
    return DEVIMG_OK;
}

/* ---- what uses of macros require ---- */

static enum devimg_status find_wrappers(struct lint *l, struct devimg_error *err)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct dvi_source *source = &l->sources[i];
        for (size_t k = 0; k < source->requests.count; k++) {
            const struct dvi_scope *macro = wrapping(source, &source->requests.items[k]);
            struct wrapper *w = macro != NULL ? DVI_ADD(&l->wrappers) : NULL;
            if (w == NULL && macro != NULL)
                return dvi_fail_memory(err, "lint");
            if (w != NULL)
                *w = (struct wrapper){ macro->name, macro, &source->requests.items[k] };
        }
    }
    return DEVIMG_OK;
}

struct texts {
    const char *items[MOST_TEXTS];
    unsigned count;
    bool cut;
};

static void add_text(struct texts *to, const char *text)
{
    for (unsigned i = 0; i < to->count; i++)
        if (strcmp(to->items[i], text) == 0)
            return;
    if (to->count == MOST_TEXTS)
        to->cut = true;
    else
        to->items[to->count++] = text;
}

/* The arguments of a use, as many as there are parameters; the last takes the rest where it is
 * "__VA_ARGS__". */
static bool split_arguments(const char *text, const struct dvi_scope *macro, const char **values,
                            struct dvi_arena *arena)
{
    const char *start = text;
    uint32_t count = 0;
    unsigned depth = 0;
    for (uint32_t i = 0; i < macro->param_count; i++)
        values[i] = "";
    for (const char *p = text;; p++) {
        const bool rest =
            count + 1 == macro->param_count && strcmp(macro->params[count], "__VA_ARGS__") == 0;
        if (*p == 0 || (*p == ',' && depth == 0 && !rest)) {
            if (count < macro->param_count) {
                const struct dvi_view v =
                    dvi_trimmed(dvi_view_of(start, (size_t)(p - start), NULL));
                values[count] = dvi_arena_text(arena, v);
                if (values[count++] == NULL)
                    return false;
            }
            start = p + 1;
        }
        if (*p == 0)
            return true;
        depth += *p == '(';
        depth -= *p == ')' && depth > 0;
    }
}

/* The expressions that a use stands for: one, or those of the macro's definitions. */
static enum devimg_status expand(struct lint *l, const struct dvi_size_request *use, unsigned depth,
                                 struct texts *out, struct devimg_error *err)
{
    if (use->form != DVI_FORM_MACRO || use->argument != 0) {
        add_text(out, use->text);
        return DEVIMG_OK;
    }
    for (size_t i = 0; depth < MOST_ROUNDS && i < l->wrappers.count; i++) {
        const struct wrapper *w = &l->wrappers.items[i];
        struct texts bodies = { .count = 0 };
        if (strcmp(w->name, use->name) != 0 || out->cut)
            continue;
        const char **values =
            dvi_arena_array(&l->out->arena, w->macro->param_count + 1, sizeof *values);
        if (values == NULL || !split_arguments(use->text, w->macro, values, &l->out->arena))
            return dvi_fail_memory(err, "lint");
        DVI_TRY(expand(l, w->request, depth + 1, &bodies, err));
        for (unsigned k = 0; k < bodies.count; k++) {
            const char *text = dvi_source_replace(bodies.items[k], w->macro->params, values,
                                                  w->macro->param_count, &l->out->arena);
            if (text == NULL)
                return dvi_fail_memory(err, "lint");
            add_text(out, text);
        }
        out->cut = out->cut || bodies.cut;
    }
    return DEVIMG_OK;
}

/* ---- findings ---- */

static enum devimg_status say(struct lint *l, const struct dvi_size_finding *what,
                              struct devimg_error *err)
{
    struct dvi_size_finding *f = what->finding.message != NULL ? DVI_ADD(&l->out->findings) : NULL;
    if (f == NULL)
        return dvi_fail_memory(err, "lint");
    *f = *what;
    f->finding.rule = "sycl-lint";
    f->finding.record = f->finding.module = f->finding.image = DEVIMG_NONE;
    if (f->source == SIZE_MAX)
        f->finding.offset = DEVIMG_UNKNOWN;
    return DEVIMG_OK;
}

static struct dvi_size_finding at_request(size_t source, const struct dvi_size_request *r,
                                          const char *code)
{
    return (struct dvi_size_finding){
        .finding = { .severity = DEVIMG_ERROR, .code = code, .offset = r->offset },
        .source = source,
        .line = r->line,
        .column = r->column,
        .text = r->text,
        .size = DEVIMG_UNKNOWN,
    };
}

static const char *family_of(const struct devimg_target *row)
{
    return row->family != NULL ? row->family : row->kind;
}

/* "lnl-m, bmg-g21 (Xe2), pvc (Xe-HPC)" */
static const char *families_text(struct dvi_arena *arena, const struct devimg_target *const *rows,
                                 size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count && text != NULL; i++) {
        const char *family = family_of(rows[i]);
        bool told = false;
        for (size_t k = 0; k < i; k++)
            told = told || strcmp(family, family_of(rows[k])) == 0;
        for (size_t k = i; k < count && !told && text != NULL; k++)
            if (strcmp(family, family_of(rows[k])) == 0)
                text =
                    dvi_arena_format(arena, "%s%s%s", text, *text != 0 ? ", " : "", rows[k]->name);
        if (!told && text != NULL)
            text = dvi_arena_format(arena, "%s (%s)", text, family);
    }
    return text;
}

/* " (kSize)" where the size is not spelled as a number. */
static const char *spelling(struct dvi_arena *arena, const char *text, int64_t size)
{
    char number[24];
    (void)snprintf(number, sizeof number, "%" PRId64, size);
    return strcmp(text, number) == 0 ? "" : dvi_arena_format(arena, " (%s)", text);
}

static enum devimg_status say_refused(struct lint *l, size_t source,
                                      const struct dvi_size_request *r, int64_t size,
                                      struct devimg_error *err)
{
    struct dvi_size_lint *out = l->out;
    struct dvi_size_finding f = at_request(source, r, "size-refused");
    const struct devimg_target **rows =
        dvi_arena_array(&out->arena, out->target_count + 1, sizeof *rows);
    if (rows == NULL)
        return dvi_fail_memory(err, "lint");
    for (size_t i = 0; i < out->target_count; i++) /* what is not measured refuses nothing here */
        if (dvi_target_refuses_size(out->targets[i], (uint64_t)size))
            rows[f.target_count++] = out->targets[i];
    char allowed[DVI_SIZES_ROOM];
    const char *spelled = spelling(&out->arena, r->text, size);
    dvi_sizes_text(out->allowed, ", ", allowed);
    if (f.target_count == 0 || spelled == NULL)
        return f.target_count == 0 ? DEVIMG_OK : dvi_fail_memory(err, "lint");
    const char *families = families_text(&out->arena, rows, f.target_count);
    f.targets = rows;
    f.size = size >= 0 ? (uint64_t)size : DEVIMG_UNKNOWN;
    f.finding.target = f.target_count == 1 ? rows[0]->name : NULL;
    f.finding.message = dvi_arena_format(
        &out->arena, "requires sub-group size %" PRId64 "%s, which %u of %zu targets refuse: %s",
        size, spelled, f.target_count, out->target_count, families != NULL ? families : "");
    f.finding.hint =
        *allowed != 0
            ? dvi_arena_format(&out->arena, "every target accepts %s; require one of them, or none",
                               allowed)
            : "no size is accepted by every target: require none, or list fewer targets";
    return say(l, &f, err);
}

static enum devimg_status say_unlisted(struct lint *l, size_t source,
                                       const struct dvi_size_request *r, int64_t size,
                                       struct devimg_error *err)
{
    struct dvi_size_finding f = at_request(source, r, "size-refused");
    char allowed[DVI_SIZES_ROOM];
    const char *spelled = spelling(&l->out->arena, r->text, size);
    f.size = size >= 0 ? (uint64_t)size : DEVIMG_UNKNOWN;
    f.finding.message = dvi_arena_format(
        &l->out->arena, "requires sub-group size %" PRId64 "%s; the policy accepts %s only", size,
        spelled != NULL ? spelled : "", dvi_sizes_text(l->out->allowed, ", ", allowed));
    f.finding.hint = "require a size of the policy (sub-group-sizes), or none";
    return say(l, &f, err);
}

static enum devimg_status say_unknown(struct lint *l, size_t source,
                                      const struct dvi_size_request *r, const char *name,
                                      struct devimg_error *err)
{
    struct dvi_size_finding f = at_request(source, r, "not-constant");
    if (r->text == NULL)
        f.finding.message =
            r->argument > 0
                ? dvi_arena_format(&l->out->arena, "%s has no argument %u here, which is the size",
                                   r->name, r->argument)
                : dvi_arena_format(&l->out->arena, "%s has no size", r->name);
    else
        f.finding.message = dvi_arena_format(
            &l->out->arena, "size \"%s\": \"%s\" is no constant of the sources given", r->text,
            name);
    f.finding.hint =
        "spell it as a number or a constant; give the file that defines it too, or --define NAME=N";
    return say(l, &f, err);
}

static bool names_template(const struct lint *l, const char *name)
{
    for (size_t i = 0; name != NULL && i < l->policy->lint.templates.count; i++)
        if (strcmp(l->policy->lint.templates.items[i].name, name) == 0)
            return true;
    return false;
}

static bool names_macro(const struct lint *l, const char *name)
{
    for (size_t i = 0; name != NULL && i < l->policy->lint.macros.count; i++)
        if (strcmp(l->policy->lint.macros.items[i].name, name) == 0)
            return true;
    return false;
}

/* The innermost template around a scope that has this parameter. */
static const struct dvi_scope *template_of(const struct dvi_source *source, uint32_t scope,
                                           const char *param)
{
    for (; scope != 0; scope = source->scopes.items[scope].parent) {
        const struct dvi_scope *s = &source->scopes.items[scope];
        for (uint32_t i = 0; s->kind == DVI_SCOPE_TEMPLATE && i < s->param_count; i++)
            if (strcmp(s->params[i], param) == 0)
                return s;
    }
    return NULL;
}

/* What a template's uses decide is told, so that nobody takes it for looked at. */
static enum devimg_status say_parameter(struct lint *l, size_t source,
                                        const struct dvi_size_request *r, const char *param,
                                        struct devimg_error *err)
{
    struct dvi_size_finding f = at_request(source, r, "template-parameter");
    const struct dvi_scope *scope = template_of(&l->sources[source], r->scope, param);
    const char *name = scope != NULL ? scope->name : NULL;
    l->out->parameter_count++;
    if (names_template(l, name))
        return DEVIMG_OK;
    f.finding.severity = DEVIMG_NOTE;
    f.finding.message =
        name != NULL
            ? dvi_arena_format(
                  &l->out->arena,
                  "size \"%s\" depends on parameter %s of template %s, whose uses are not held",
                  r->text, param, name)
            : dvi_arena_format(&l->out->arena,
                               "size \"%s\" depends on a template parameter: it is not held",
                               r->text);
    f.finding.hint = "name the template: --template NAME:N, N being the argument that is the size";
    return say(l, &f, err);
}

/* ---- attributes that bypass the project's own ---- */

static bool may_be_raw(const struct lint *l, size_t source, uint32_t scope)
{
    const struct dvi_source *s = &l->sources[source];
    const struct dvi_scope *macro = dvi_source_macro(s, scope);
    if (l->is_header[source] || (macro != NULL && names_macro(l, macro->name)))
        return true;
    for (; scope != 0; scope = s->scopes.items[scope].parent)
        if (s->scopes.items[scope].kind != DVI_SCOPE_MACRO &&
            names_template(l, s->scopes.items[scope].name))
            return true;
    return false;
}

static enum devimg_status say_raw(struct lint *l, size_t source, const struct dvi_size_request *r,
                                  struct devimg_error *err)
{
    const struct dvi_lint_policy *policy = &l->policy->lint;
    struct dvi_size_finding f = at_request(source, r, "raw");
    f.finding.message =
        dvi_arena_format(&l->out->arena, "%s %s bypasses the project's header",
                         r->form == DVI_FORM_ATTRIBUTE ? "attribute" : "property", r->name);
    f.finding.hint =
        policy->macros.count > 0
            ? dvi_arena_format(&l->out->arena, "use %s(...)", policy->macros.items[0].name)
        : policy->templates.count > 0
            ? dvi_arena_format(&l->out->arena, "use %s<...>", policy->templates.items[0].name)
        : policy->headers.count > 0
            ? dvi_arena_format(&l->out->arena, "use what %s offers", policy->headers.items[0])
            : "put it into one header of the project, and name that: --header FILE";
    return say(l, &f, err);
}

/* ---- judging ---- */

static enum devimg_status remember(struct lint *l, size_t source, const struct dvi_size_request *r,
                                   const struct dvi_values *v, struct devimg_error *err)
{
    static const char *const forms[] = { "attribute", "property", "macro", "template" };
    static const char *const states[] = { "known", "parameter", "unknown" };
    struct dvi_size_seen *seen = DVI_ADD(&l->out->seen);
    int64_t *sizes = dvi_arena_array(&l->out->arena, v->count + 1, sizeof *sizes);
    if (seen == NULL || sizes == NULL)
        return dvi_fail_memory(err, "lint");
    memcpy(sizes, v->items, v->count * sizeof *sizes);
    *seen = (struct dvi_size_seen){
        .source = source,
        .line = r->line,
        .column = r->column,
        .offset = r->offset,
        .form = forms[r->form],
        .name = r->name,
        .text = r->text,
        .state = states[v->state],
        .sizes = sizes,
        .size_count = v->count,
    };
    return DEVIMG_OK;
}

static enum devimg_status judge_size(struct lint *l, size_t source,
                                     const struct dvi_size_request *r, int64_t size,
                                     struct devimg_error *err)
{
    const struct dvi_size_lint *out = l->out;
    if (size == 0 || out->any || dvi_size_is_in(out->allowed, (uint64_t)size))
        return DEVIMG_OK;
    return out->listed ? say_unlisted(l, source, r, size, err)
                       : say_refused(l, source, r, size, err);
}

/* A size, which is what `text` comes to where the request stands. */
static enum devimg_status judge_text(struct lint *l, size_t source,
                                     const struct dvi_size_request *r, const char *text,
                                     struct devimg_error *err)
{
    struct dvi_values v = { .state = DVI_VALUE_UNKNOWN };
    if (text != NULL)
        dvi_source_value(&l->all, source, r->scope, r->offset, text, &v);
    const bool no_request = v.state == DVI_VALUE_KNOWN && v.count == 1 && v.items[0] == 0;
    if (no_request) /* the compiler's choice */
        return DEVIMG_OK;
    DVI_TRY(remember(l, source, r, &v, err));
    if (v.state == DVI_VALUE_PARAMETER)
        return say_parameter(l, source, r, v.name, err);
    l->out->request_count++;
    if (v.state == DVI_VALUE_UNKNOWN)
        return say_unknown(l, source, r, v.name, err);
    for (unsigned i = 0; i < v.count; i++)
        DVI_TRY(judge_size(l, source, r, v.items[i], err));
    return DEVIMG_OK;
}

static enum devimg_status judge(struct lint *l, size_t source, const struct dvi_size_request *r,
                                struct devimg_error *err)
{
    const bool raw = r->form == DVI_FORM_ATTRIBUTE || r->form == DVI_FORM_PROPERTY;
    struct texts texts = { .count = 0 };
    if (raw && l->raw_denied && !may_be_raw(l, source, r->scope))
        DVI_TRY(say_raw(l, source, r, err));
    if (r->no_size || wrapping(&l->sources[source], r) != NULL)
        return DEVIMG_OK;
    if (r->text == NULL)
        return judge_text(l, source, r, NULL, err);
    DVI_TRY(expand(l, r, 0, &texts, err));
    for (unsigned i = 0; i < texts.count; i++)
        DVI_TRY(judge_text(l, source, r, texts.items[i], err));
    if (texts.cut)
        return say_unknown(l, source, r, "a macro with more than 64 definitions", err);
    return DEVIMG_OK;
}

/* ---- the header's own check ---- */

/* Is `param`, of the scope `at`, one that a request of the file has for its size? */
static bool is_size_param(const struct lint *l, const struct dvi_source *source, uint32_t at,
                          const char *param)
{
    const struct dvi_scope *scope = &source->scopes.items[at];
    for (size_t i = 0; i < l->words.count; i++) {
        const struct dvi_source_word *w = &l->words.items[i];
        if (w->argument > 0 && scope->name != NULL && strcmp(w->name, scope->name) == 0 &&
            w->argument <= scope->param_count && strcmp(scope->params[w->argument - 1], param) == 0)
            return true;
    }
    for (size_t i = 0; i < source->requests.count; i++) {
        const struct dvi_size_request *r = &source->requests.items[i];
        uint32_t up = r->scope;
        while (up != at && up != 0)
            up = source->scopes.items[up].parent;
        if (up == at && r->text != NULL && dvi_source_mentions(r->text, &param, 1))
            return true;
    }
    return false;
}

/* The sizes that the condition accepts for `param`; false: it does not depend on that alone. */
static bool accepted_by(struct lint *l, size_t source, const struct dvi_size_check *check,
                        const char *param, uint32_t *out)
{
    *out = 0;
    for (unsigned bit = 0; bit <= LARGEST_SIZE_BIT; bit++) {
        struct dvi_values v = { .state = DVI_VALUE_UNKNOWN };
        struct dvi_arena scratch = { 0 };
        char number[16];
        const char *value = number;
        (void)snprintf(number, sizeof number, "%u", 1U << bit);
        const char *text = dvi_source_replace(check->text, &param, &value, 1, &scratch);
        if (text != NULL)
            dvi_source_value(&l->all, source, check->scope, check->offset, text, &v);
        dvi_arena_free(&scratch);
        if (v.state != DVI_VALUE_KNOWN || v.count != 1)
            return false;
        *out |= v.items[0] != 0 ? UINT32_C(1) << bit : 0;
    }
    return true;
}

/* Hold one static_assert of a header to the allowed set. */
static enum devimg_status judge_check(struct lint *l, size_t source,
                                      const struct dvi_size_check *check, bool *found,
                                      struct devimg_error *err)
{
    const struct dvi_source *s = &l->sources[source];
    for (uint32_t at = check->scope; at != 0; at = s->scopes.items[at].parent) {
        const struct dvi_scope *scope = &s->scopes.items[at];
        for (uint32_t i = 0; i < scope->param_count; i++) {
            uint32_t accepted = 0;
            if (!dvi_source_mentions(check->text, &scope->params[i], 1) ||
                !is_size_param(l, s, at, scope->params[i]) ||
                !accepted_by(l, source, check, scope->params[i], &accepted))
                continue;
            *found = true;
            if (accepted == l->out->allowed)
                continue;
            char has[DVI_SIZES_ROOM], allowed[DVI_SIZES_ROOM];
            dvi_sizes_text(accepted, ", ", has);
            dvi_sizes_text(l->out->allowed, ", ", allowed);
            const struct dvi_size_finding f = {
                .finding = { .severity = DEVIMG_ERROR,
                             .code = "header-differs",
                             .offset = check->offset,
                             .message = dvi_arena_format(
                                 &l->out->arena,
                                 "the header's check accepts %s; every target accepts %s",
                                 *has != 0 ? has : "no size", *allowed != 0 ? allowed : "no size"),
                             .hint = "let it accept exactly what every target accepts" },
                .source = source,
                .line = check->line,
                .column = check->column,
                .text = check->text,
                .size = DEVIMG_UNKNOWN,
            };
            DVI_TRY(say(l, &f, err));
        }
    }
    return DEVIMG_OK;
}

static enum devimg_status judge_headers(struct lint *l, size_t source, bool *found,
                                        struct devimg_error *err)
{
    if (!l->is_header[source] || l->out->any || l->out->not_known)
        return DEVIMG_OK;
    for (size_t i = 0; i < l->sources[source].checks.count; i++)
        DVI_TRY(judge_check(l, source, &l->sources[source].checks.items[i], found, err));
    return DEVIMG_OK;
}

/* ---- the whole ---- */

static enum devimg_status say_open(struct lint *l, size_t source, struct devimg_error *err)
{
    const struct dvi_source *s = &l->sources[source];
    const struct dvi_size_finding f = {
        .finding = { .severity = DEVIMG_ERROR,
                     .code = "unterminated",
                     .offset = s->opened.at,
                     .message = dvi_arena_format(&l->out->arena,
                                                 "a %s starts here and has no end: nothing behind "
                                                 "it is read",
                                                 s->open),
                     .hint = "mend the source" },
        .source = source,
        .line = s->opened.line,
        .column = s->opened.column,
        .size = DEVIMG_UNKNOWN,
    };
    return say(l, &f, err);
}

static enum devimg_status say_whole(struct lint *l, const char *code, const char *target,
                                    const char *message, const char *hint, struct devimg_error *err)
{
    const struct dvi_size_finding f = {
        .finding = { .severity = DEVIMG_ERROR,
                     .code = code,
                     .target = target,
                     .message = message,
                     .hint = hint },
        .source = SIZE_MAX,
        .size = DEVIMG_UNKNOWN,
    };
    return say(l, &f, err);
}

static int compare_findings(const void *a, const void *b)
{
    const struct dvi_size_finding *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->finding.offset != y->finding.offset)
        return x->finding.offset < y->finding.offset ? -1 : 1;
    const int order = strcmp(x->finding.code, y->finding.code);
    return order != 0 ? order : strcmp(x->finding.message, y->finding.message);
}

static int compare_seen(const void *a, const void *b)
{
    const struct dvi_size_seen *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order
                      : strcmp(x->text != NULL ? x->text : "", y->text != NULL ? y->text : "");
}

static enum devimg_status judge_whole(struct lint *l, bool header_checked, struct devimg_error *err)
{
    struct dvi_size_lint *out = l->out;
    const uint64_t expected = l->policy->lint.expected;
    for (size_t i = 0; i < out->target_count && !out->listed && !out->any; i++)
        if (out->targets[i]->sub_group_sizes == 0)
            DVI_TRY(say_whole(l, "unmeasured", out->targets[i]->name,
                              dvi_arena_format(&out->arena,
                                               "no table has the sub-group sizes of %s: no size "
                                               "is known to be accepted by every target",
                                               out->targets[i]->name),
                              "measure it, or take it off the list", err));
    if (l->policy->lint.headers.count > 0 && !header_checked && !out->any && !out->not_known)
        DVI_TRY(say_whole(l, "header-unchecked", NULL,
                          "no static_assert of the header holds its size to constants",
                          "hold the parameter that is the size: static_assert(N == 16 || N == 32)",
                          err));
    if (out->source_count == 0)
        DVI_TRY(say_whole(l, "no-source", NULL, "no source file was found",
                          "name files, or folders that hold C, C++ or OpenCL C sources", err));
    if (out->request_count < expected)
        DVI_TRY(
            say_whole(l, "too-few", NULL,
                      dvi_arena_format(&out->arena,
                                       "%" PRIu64 " required sizes were found, at least %" PRIu64
                                       " are expected",
                                       out->request_count, expected),
                      "give all sources, and name the macros and templates that hold a size", err));
    if (out->findings.count > 0)
        qsort(out->findings.items, out->findings.count, sizeof *out->findings.items,
              compare_findings);
    if (out->seen.count > 0)
        qsort(out->seen.items, out->seen.count, sizeof *out->seen.items, compare_seen);
    return DEVIMG_OK;
}

static enum devimg_status judge_all(struct lint *l, struct devimg_error *err)
{
    bool header_checked = false;
    for (size_t i = 0; i < l->count; i++) {
        const struct dvi_source *source = &l->sources[i];
        if (l->errors[i] != NULL)
            continue;
        for (size_t k = 0; k < source->requests.count; k++)
            DVI_TRY(judge(l, i, &source->requests.items[k], err));
        DVI_TRY(judge_headers(l, i, &header_checked, err));
        if (source->open != NULL)
            DVI_TRY(say_open(l, i, err));
    }
    return judge_whole(l, header_checked, err);
}

static enum devimg_status take_targets(struct lint *l, struct devimg_error *err)
{
    struct dvi_size_lint *out = l->out;
    const struct dvi_target_set *set = &l->policy->targets;
    DVI_TRY(dvi_sizes_read(set->known.items, set->known.count, &out->sizes, err));
    out->is_default = set->known.count == 0;
    out->targets = out->sizes.targets.items;
    out->target_count = out->sizes.targets.count;
    out->any = l->policy->sub_group_sizes == DVI_CHOICE_ANY;
    out->listed = l->policy->sub_group_sizes == DVI_CHOICE_LISTED;
    out->allowed = UINT32_MAX;
    for (size_t i = 0; i < out->target_count; i++) {
        const uint32_t sizes = out->targets[i]->sub_group_sizes;
        out->not_known = out->not_known || sizes == 0;
        out->allowed &= sizes != 0 ? sizes : UINT32_MAX;
    }
    if (out->listed) {
        out->allowed = l->policy->listed_sizes;
        out->not_known = false;
    }
    return DEVIMG_OK;
}

static enum devimg_status add_unread(struct dvi_size_lint *out, const char *path,
                                     const struct devimg_error *error, struct devimg_error *err)
{
    struct dvi_size_unread *unread = DVI_ADD(&out->unread);
    const char *own = dvi_arena_copy(&out->arena, path);
    if (unread == NULL || own == NULL)
        return dvi_fail_memory(err, "lint");
    *unread = (struct dvi_size_unread){ own, *error };
    return DEVIMG_OK;
}

static enum devimg_status take_paths(struct lint *l, struct devimg_error *err)
{
    const char **paths = dvi_arena_array(&l->out->arena, l->count + 1, sizeof *paths);
    if (paths == NULL)
        return dvi_fail_memory(err, "lint");
    for (size_t i = 0; i < l->count; i++) {
        paths[i] = dvi_arena_copy(&l->out->arena, l->files[i].path);
        if (paths[i] == NULL)
            return dvi_fail_memory(err, "lint");
        if (l->errors[i] != NULL)
            DVI_TRY(add_unread(l->out, paths[i], l->errors[i], err));
    }
    for (size_t i = 0; i < l->walk.faults.count; i++)
        DVI_TRY(
            add_unread(l->out, l->walk.faults.items[i].path, &l->walk.faults.items[i].error, err));
    l->out->paths = paths;
    l->out->source_count = l->count;
    return DEVIMG_OK;
}

/* What findings show lives in the sources until now. */
static enum devimg_status own_texts(struct dvi_size_lint *out, struct devimg_error *err)
{
    for (size_t i = 0; i < out->findings.count; i++) {
        struct dvi_size_finding *f = &out->findings.items[i];
        f->finding.unit = f->source != SIZE_MAX ? out->paths[f->source] : NULL;
        f->text = f->text != NULL ? dvi_arena_copy(&out->arena, f->text) : NULL;
    }
    for (size_t i = 0; i < out->seen.count; i++) {
        struct dvi_size_seen *s = &out->seen.items[i];
        s->text = s->text != NULL ? dvi_arena_copy(&out->arena, s->text) : NULL;
        s->name = dvi_arena_copy(&out->arena, s->name);
        if (s->name == NULL)
            return dvi_fail_memory(err, "lint");
    }
    return DEVIMG_OK;
}

static enum devimg_status run(struct lint *l, struct devimg_error *err)
{
    const struct dvi_lint_policy *policy = &l->policy->lint;
    l->raw_denied = policy->raw == DVI_CHOICE_STRICT ||
                    (policy->raw == DVI_CHOICE_UNSET &&
                     policy->macros.count + policy->templates.count + policy->headers.count > 0);
    DVI_TRY(take_targets(l, err));
    DVI_TRY(find_files(l, err));
    DVI_TRY(scan_all(l, err));
    DVI_TRY(take_paths(l, err));
    DVI_TRY(find_wrappers(l, err));
    struct dvi_source_define *defines =
        dvi_arena_array(&l->out->arena, policy->defines.count + 1, sizeof *defines);
    if (defines == NULL)
        return dvi_fail_memory(err, "lint");
    for (size_t i = 0; i < policy->defines.count; i++)
        defines[i] = (struct dvi_source_define){ policy->defines.items[i].name,
                                                 policy->defines.items[i].value };
    l->all = (struct dvi_sources){ .items = l->sources,
                                   .paths = l->out->paths,
                                   .count = l->count,
                                   .defines = defines,
                                   .define_count = policy->defines.count };
    DVI_TRY(dvi_sources_index(&l->all, err));
    DVI_TRY(judge_all(l, err));
    return own_texts(l->out, err);
}

enum devimg_status dvi_size_lint_run(const struct dvi_size_lint_asked *asked,
                                     struct dvi_size_lint *out, struct devimg_error *err)
{
    struct lint l = { .asked = asked, .policy = asked->policy, .out = out };
    *out = (struct dvi_size_lint){ .source_count = 0 };
    const enum devimg_status st = run(&l, err);
    for (size_t i = 0; l.sources != NULL && i < l.count; i++)
        dvi_source_free(&l.sources[i]);
    for (size_t i = 0; l.errors != NULL && i < l.count; i++)
        free(l.errors[i]);
    free(l.sources);
    free(l.errors);
    free(l.again);
    free(l.files);
    free(l.is_header);
    DVI_LIST_FREE(&l.words);
    DVI_LIST_FREE(&l.wrappers);
    dvi_source_words_free(&l.table);
    dvi_sources_free(&l.all);
    dvi_walk_free(&l.walk);
    return st;
}

void dvi_size_lint_free(struct dvi_size_lint *lint)
{
    DVI_LIST_FREE(&lint->seen);
    DVI_LIST_FREE(&lint->findings);
    DVI_LIST_FREE(&lint->unread);
    dvi_sizes_free(&lint->sizes);
    dvi_arena_free(&lint->arena);
}
