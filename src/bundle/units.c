/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which source file a descriptor came from, told by STT_FILE symbols.
 *
 * The wrapper's object is linked right after the object whose code it carries, under the file name
 * "offload.wrapper.object" (seen in oneMKL 2026.2, one after each unit). With relocatable device
 * code there is one device link for the whole library and the wrappers stand behind the last unit:
 * then no unit is named. So a unit counts only where wrappers follow at least two different files.
 */
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
    struct dvi_view first_wrapped;
    bool any_wrapped, many_wrapped; /* wrappers follow a file, or more than one */
    bool failed;                    /* out of memory */
};

static void enter_file(struct walk *w, struct dvi_view name)
{
    w->in_wrapper = is_wrapper(name);
    if (!w->in_wrapper) {
        w->host = name;
        w->has_host = name.size > 0;
    } else if (w->has_host && !w->any_wrapped) {
        w->first_wrapped = w->host;
        w->any_wrapped = true;
    } else if (w->has_host && !dvi_same_bytes(w->first_wrapped, w->host)) {
        w->many_wrapped = true;
    }
}

/* A wrapper's unit counts once it is known that there are several: a first walk tells. */
struct units {
    struct walk walk;
    bool many_wrapped;
};

static bool visit_file(void *context, const struct dvi_symbol *symbol)
{
    struct walk *w = context;
    if (symbol->kind == DVI_SYMBOL_FILE)
        enter_file(w, dvi_symbol_name(symbol));
    return symbol->local && !w->many_wrapped; /* local symbols come first */
}

static bool visit_symbol(void *context, const struct dvi_symbol *symbol)
{
    struct units *u = context;
    struct walk *w = &u->walk;
    if (symbol->kind == DVI_SYMBOL_FILE)
        enter_file(w, dvi_symbol_name(symbol));
    if (!symbol->local)
        return false;
    if (symbol->kind != DVI_SYMBOL_OTHER || !symbol->defined || !w->has_host ||
        (w->in_wrapper && !u->many_wrapped) || symbol->addr < w->descriptors[0].addr ||
        symbol->addr > w->descriptors[w->count - 1].addr)
        return true;
    struct dvi_descriptor *d = dvi_descriptor_at(w->descriptors, w->count, symbol->addr);
    if (d == NULL || d->unit != NULL)
        return true;
    d->unit = dvi_arena_text(w->object->arena, w->host);
    w->failed = d->unit == NULL;
    return !w->failed;
}

enum devimg_status dvi_units_read(struct dvi_object *object, struct dvi_descriptor *descriptors,
                                  size_t count, struct devimg_error *err)
{
    const struct walk start = { .object = object, .descriptors = descriptors, .count = count };
    struct walk files = start;
    struct units units = { .walk = start };
    (void)dvi_object_each_symbol(object, DVI_SYMBOLS_STATIC, visit_file, &files);
    units.many_wrapped = files.many_wrapped;
    (void)dvi_object_each_symbol(object, DVI_SYMBOLS_STATIC, visit_symbol, &units);
    return units.walk.failed ? dvi_fail_memory(err, object->file.source) : DEVIMG_OK;
}
