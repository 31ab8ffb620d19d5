/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which source file a descriptor came from, told by STT_FILE symbols.
 *
 * The wrapper's object is linked right after the object whose code it carries, under the file name
 * "offload.wrapper.object" (seen in oneMKL 2026.2, one after each unit). The wrappers behind one
 * file are a run. With relocatable device code there is one device link for the whole library, and
 * its wrappers are one run behind the last unit: then no unit is named, nor where a run holds two
 * descriptors for one target, which cannot both be of the file before it.
 *
 * In COFF the order of symbols is the compiler's own (clang writes the file last): there an object
 * that names one file only is all of that file, and linked files name none.
 */
#include <stdlib.h>
#include <string.h>

#include "bundle/dpcpp.h"

static const char wrapper_name[] = "offload.wrapper";

static bool is_wrapper(struct dvi_view name)
{
    return dvi_starts_with(name, wrapper_name, sizeof wrapper_name - 1);
}

struct walk {
    struct dvi_object *object;
    struct dvi_descriptor *descriptors;
    size_t count;
    struct dvi_view host; /* the last file that is no wrapper */
    bool has_host, in_wrapper;
    uint32_t runs; /* so far; the last one may still grow */
    bool failed;   /* out of memory */
};

static void enter_file(struct walk *w, struct dvi_view name)
{
    const bool was_wrapper = w->in_wrapper;
    w->in_wrapper = is_wrapper(name);
    if (!w->in_wrapper) {
        w->host = name;
        w->has_host = name.size > 0;
    } else if (!was_wrapper) {
        w->runs++;
    }
}

static bool visit_symbol(void *context, const struct dvi_symbol *symbol)
{
    struct walk *w = context;
    if (symbol->kind == DVI_SYMBOL_FILE)
        enter_file(w, dvi_symbol_name(symbol));
    if (!symbol->local) /* local symbols come first */
        return false;
    if (symbol->kind != DVI_SYMBOL_OTHER || !symbol->defined || !w->has_host ||
        symbol->addr < w->descriptors[0].addr || symbol->addr > w->descriptors[w->count - 1].addr)
        return true;
    struct dvi_descriptor *d = dvi_descriptor_at(w->descriptors, w->count, symbol->addr);
    if (d == NULL || d->unit != NULL)
        return true;
    d->run = w->in_wrapper ? w->runs : 0;
    d->unit = dvi_arena_text(w->object->arena, w->host);
    w->failed = d->unit == NULL;
    return !w->failed;
}

/* The files that an object names. */
struct files {
    struct dvi_view only;
    size_t count;
};

static bool visit_file(void *context, const struct dvi_symbol *symbol)
{
    struct files *files = context;
    if (symbol->kind == DVI_SYMBOL_FILE) {
        files->only = dvi_symbol_name(symbol);
        files->count++;
    }
    return files->count < 2;
}

static enum devimg_status read_only_file(struct dvi_object *object,
                                         struct dvi_descriptor *descriptors, size_t count,
                                         struct devimg_error *err)
{
    struct files files = { 0 };
    (void)dvi_object_each_symbol(object, DVI_SYMBOLS_STATIC, visit_file, &files);
    if (files.count != 1 || files.only.size == 0 || is_wrapper(files.only))
        return DEVIMG_OK;
    const char *unit = dvi_arena_text(object->arena, files.only);
    if (unit == NULL)
        return dvi_fail_memory(err, object->file.source);
    for (size_t i = 0; i < count; i++)
        descriptors[i].unit = unit;
    return DEVIMG_OK;
}

static int compare_targets(const struct dvi_descriptor *a, const struct dvi_descriptor *b)
{
    if (a->target == NULL || b->target == NULL)
        return (a->target != NULL) - (b->target != NULL);
    return strcmp(a->target, b->target);
}

static int by_run_and_target(const void *left, const void *right)
{
    const struct dvi_descriptor *a = *(struct dvi_descriptor *const *)left;
    const struct dvi_descriptor *b = *(struct dvi_descriptor *const *)right;
    if (a->run != b->run)
        return a->run < b->run ? -1 : 1;
    return compare_targets(a, b);
}

/* Forget the units of runs that do not tell: of the only one, and of those with a target twice. */
static void drop_doubtful(struct dvi_descriptor **sorted, size_t count)
{
    size_t first = 0;
    while (first < count && sorted[first]->run == 0)
        first++;
    const bool only_run = first < count && sorted[first]->run == sorted[count - 1]->run;
    for (size_t end; first < count; first = end) {
        bool doubtful = only_run;
        for (end = first + 1; end < count && sorted[end]->run == sorted[first]->run; end++)
            doubtful = doubtful || compare_targets(sorted[end - 1], sorted[end]) == 0;
        for (size_t i = first; doubtful && i < end; i++)
            sorted[i]->unit = NULL;
    }
}

enum devimg_status dvi_units_read(struct dvi_object *object, struct dvi_descriptor *descriptors,
                                  size_t count, struct devimg_error *err)
{
    if (object->kind != DEVIMG_KIND_ELF)
        return object->is_linked ? DEVIMG_OK : read_only_file(object, descriptors, count, err);
    struct walk w = { .object = object, .descriptors = descriptors, .count = count };
    struct dvi_descriptor **sorted = calloc(count, sizeof *sorted);
    (void)dvi_object_each_symbol(object, DVI_SYMBOLS_STATIC, visit_symbol, &w);
    for (size_t i = 0; sorted != NULL && i < count; i++)
        sorted[i] = &descriptors[i];
    if (sorted != NULL) {
        qsort(sorted, count, sizeof *sorted, by_run_and_target);
        drop_doubtful(sorted, count);
    }
    const bool failed = sorted == NULL || w.failed;
    free(sorted);
    return failed ? dvi_fail_memory(err, object->file.source) : DEVIMG_OK;
}
