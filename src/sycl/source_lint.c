/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All sources are scanned, in parallel. A macro that was seen to hold a size in a parameter becomes
 * one whose uses are requests, and what may use it is scanned again. Then each request is judged,
 * in the order of the sources.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/pool.h"
#include "check/compile_lines.h"
#include "sycl/source_linter.h"

enum { SMALL_FILE = 1 << 20 };

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

/* "a/../b" as "b" where that is the same file: `a` may be a link. */
static const char *shortened(const char *path, struct dvi_arena *arena)
{
    struct stat before, after;
    const size_t size = strlen(path) + 1;
    char *text = dvi_arena_array(arena, size, 1);
    if (text == NULL)
        return path;
    memcpy(text, path, size);
    for (char *up; (up = strstr(text, "/../")) != NULL && up != text;) {
        char *start = up;
        while (start > text && start[-1] != '/')
            start--;
        if (start == up || (up - start == 2 && memcmp(start, "..", 2) == 0))
            return path;
        memmove(start, up + 4, strlen(up + 4) + 1);
    }
    return stat(path, &before) == 0 && stat(text, &after) == 0 && before.st_dev == after.st_dev &&
                   before.st_ino == after.st_ino
               ? text
               : path;
}

static enum devimg_status take_unit(void *context, const struct dvi_compile_line *line,
                                    enum devimg_status status, struct devimg_error *err)
{
    struct dvi_size_linter *l = context;
    struct dvi_arena scratch = { 0 };
    (void)status; /* the words do not matter here */
    if (line->file == NULL || !is_source(line->file))
        return DEVIMG_OK;
    const char *path = *line->file == '/' || line->folder == NULL
                           ? dvi_arena_copy(&scratch, line->file)
                           : dvi_arena_format(&scratch, "%s/%s", line->folder, line->file);
    if (path != NULL)
        path = shortened(path, &scratch);
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
static enum devimg_status keep_files(struct dvi_size_linter *l, size_t first_header,
                                     struct devimg_error *err)
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

/* The list, or that of a build's folder. */
static enum devimg_status read_commands(struct dvi_size_linter *l, struct devimg_error *err)
{
    struct stat info;
    const char *path = l->asked->commands;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        path = dvi_arena_format(&l->out->arena, "%s/compile_commands.json", path);
    return path != NULL ? dvi_compile_lines_read(path, take_unit, l, err)
                        : dvi_fail_memory(err, "lint");
}

static enum devimg_status find_files(struct dvi_size_linter *l, struct devimg_error *err)
{
    for (size_t i = 0; i < l->asked->path_count; i++)
        DVI_TRY(dvi_walk_add(&l->walk, l->asked->paths[i], is_source, err));
    if (l->asked->commands != NULL)
        DVI_TRY(read_commands(l, err));
    const size_t first_header = l->walk.files.count;
    for (size_t i = 0; i < l->policy->lint.headers.count; i++)
        DVI_TRY(dvi_walk_add(&l->walk, l->policy->lint.headers.items[i], is_source, err));
    return keep_files(l, first_header, err);
}

/* ---- scanning ---- */

static enum devimg_status scan_file(const struct dvi_size_linter *l, const struct dvi_walked *file,
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
    struct dvi_size_linter *l = context;
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

static enum devimg_status scan_round(struct dvi_size_linter *l, struct devimg_error *err)
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

static bool has_word(const struct dvi_size_linter *l, const char *name)
{
    for (size_t i = 0; i < l->words.count; i++)
        if (strcmp(l->words.items[i].name, name) == 0)
            return true;
    return false;
}

static enum devimg_status add_word(struct dvi_size_linter *l, const struct dvi_source_word *what,
                                   struct devimg_error *err)
{
    if (has_word(l, what->name))
        return DEVIMG_OK;
    if (l->words.count == DVI_SOURCE_MOST_WORDS)
        return dvi_fail_plain(err, DEVIMG_LIMIT, "lint", "more than %d macros that hold a size",
                              (int)DVI_SOURCE_MOST_WORDS);
    struct dvi_source_word *word = DVI_ADD(&l->words);
    const char *own = dvi_arena_copy(&l->out->arena, what->name);
    if (word == NULL || own == NULL)
        return dvi_fail_memory(err, "lint");
    *word = *what;
    word->name = own;
    return DEVIMG_OK;
}

/* Names of macros that hold a size in a parameter, or stand for what is looked for, and that nobody
 * named before. Macros that use a parameter as a macro count where such a name is handed on. */
static enum devimg_status find_words(struct dvi_size_linter *l, size_t *added,
                                     struct devimg_error *err)
{
    const size_t before = l->words.count;
    bool hands_on = false;
    for (size_t i = 0; i < l->count; i++)
        hands_on = hands_on || l->sources[i].hands_on;
    for (size_t i = 0; i < l->count; i++) {
        const struct dvi_source *source = &l->sources[i];
        for (size_t k = 0; k < source->requests.count; k++) {
            const struct dvi_size_request *r = &source->requests.items[k];
            const struct dvi_scope *macro = dvi_size_wrapping(source, r);
            if (macro != NULL && (r->form != DVI_FORM_CALL || hands_on))
                DVI_TRY(add_word(l, &(struct dvi_source_word){ .name = macro->name }, err));
        }
        for (size_t k = 0; k < source->aliases.count; k++)
            DVI_TRY(add_word(l, &source->aliases.items[k], err));
    }
    *added = l->words.count - before;
    return DEVIMG_OK;
}

static bool may_use(const struct dvi_size_linter *l, size_t source, size_t first_word)
{
    for (size_t i = first_word; i < l->words.count; i++)
        if (dvi_source_may_name(&l->sources[source], l->words.items[i].name))
            return true;
    return false;
}

static enum devimg_status scan_all(struct dvi_size_linter *l, struct devimg_error *err)
{
    const struct dvi_lint_policy *policy = &l->policy->lint;
    l->sources = calloc(l->count + 1, sizeof *l->sources);
    l->errors = calloc(l->count + 1, sizeof *l->errors);
    l->again = calloc(l->count + 1, sizeof *l->again);
    if (l->sources == NULL || l->errors == NULL || l->again == NULL)
        return dvi_fail_memory(err, "lint");
    for (size_t i = 0; i < policy->macros.count; i++)
        DVI_TRY(add_word(l,
                         &(struct dvi_source_word){ .name = policy->macros.items[i].name,
                                                    .argument = policy->macros.items[i].argument },
                         err));
    for (size_t i = 0; i < policy->templates.count; i++)
        DVI_TRY(add_word(l,
                         &(struct dvi_source_word){ .name = policy->templates.items[i].name,
                                                    .argument = policy->templates.items[i].argument,
                                                    .is_template = true },
                         err));
    for (size_t i = 0; i < l->count; i++)
        l->again[l->again_count++] = i;
    for (unsigned round = 0; l->again_count > 0; round++) {
        size_t added = 0;
        if (round == DVI_SIZE_ROUNDS)
            return dvi_fail_plain(err, DEVIMG_LIMIT, "lint",
                                  "more than %d macros inside each other hold a size",
                                  DVI_SIZE_ROUNDS);
        DVI_TRY(scan_round(l, err));
        DVI_TRY(find_words(l, &added, err));
        l->again_count = 0;
        for (size_t i = 0; added > 0 && i < l->count; i++)
            if (l->errors[i] == NULL && may_use(l, i, l->words.count - added))
                l->again[l->again_count++] = i;
    }
    return DEVIMG_OK;
}

static enum devimg_status take_targets(struct dvi_size_linter *l, struct devimg_error *err)
{
    struct dvi_size_lint *out = l->out;
    const struct dvi_target_set *set = &l->policy->targets;
    DVI_TRY(dvi_sizes_read(set->known.items, set->known.count, &out->sizes, err));
    out->is_default = set->known.count == 0;
    out->targets = out->sizes.targets.items;
    out->target_count = out->sizes.targets.count;
    out->any = l->policy->sub_group_sizes == DVI_CHOICE_ANY;
    out->listed = l->policy->sub_group_sizes == DVI_CHOICE_LISTED;
    out->not_known = out->sizes.unmeasured.count > 0;
    out->allowed = UINT32_MAX;
    for (size_t i = 0; i < out->target_count; i++) {
        const uint32_t sizes = out->targets[i]->sub_group_sizes;
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

static enum devimg_status take_paths(struct dvi_size_linter *l, struct devimg_error *err)
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

/* `*text` may be NULL. */
static enum devimg_status own_text(struct dvi_arena *arena, const char **text,
                                   struct devimg_error *err)
{
    if (*text == NULL)
        return DEVIMG_OK;
    *text = dvi_arena_copy(arena, *text);
    return *text != NULL ? DEVIMG_OK : dvi_fail_memory(err, "lint");
}

/* What findings show lives in the sources until now. */
static enum devimg_status own_texts(struct dvi_size_lint *out, struct devimg_error *err)
{
    for (size_t i = 0; i < out->findings.count; i++) {
        struct dvi_size_finding *f = &out->findings.items[i];
        f->finding.unit = f->source != SIZE_MAX ? out->paths[f->source] : NULL;
        DVI_TRY(own_text(&out->arena, &f->text, err));
    }
    for (size_t i = 0; i < out->seen.count; i++) {
        struct dvi_size_seen *s = &out->seen.items[i];
        DVI_TRY(own_text(&out->arena, &s->text, err));
        DVI_TRY(own_text(&out->arena, &s->name, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status run(struct dvi_size_linter *l, struct devimg_error *err)
{
    const struct dvi_lint_policy *policy = &l->policy->lint;
    l->raw_asked = policy->raw == DVI_CHOICE_STRICT;
    l->raw_denied = l->raw_asked ||
                    (policy->raw == DVI_CHOICE_UNSET &&
                     policy->macros.count + policy->templates.count + policy->headers.count > 0);
    DVI_TRY(take_targets(l, err));
    DVI_TRY(find_files(l, err));
    DVI_TRY(scan_all(l, err));
    DVI_TRY(take_paths(l, err));
    DVI_TRY(dvi_size_find_wrappers(l, err));
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
    DVI_TRY(dvi_size_judge(l, err));
    return own_texts(l->out, err);
}

enum devimg_status dvi_size_lint_run(const struct dvi_size_lint_asked *asked,
                                     struct dvi_size_lint *out, struct devimg_error *err)
{
    struct dvi_size_linter l = { .asked = asked, .policy = asked->policy, .out = out };
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
    DVI_LIST_FREE(&l.defaults);
    free(l.wrapper_heads);
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
