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

#include <string.h>

static const char wrapper_name[] = "offload.wrapper";

static bool is_wrapper(struct dvi_view name)
{
    return dvi_starts_with(name, wrapper_name, sizeof wrapper_name - 1);
}

struct walk {
    struct dvi_view host; /* the last file that is no wrapper */
    bool has_host, in_wrapper;
    struct dvi_view first_wrapped;
    bool many_wrapped; /* wrappers follow more than one file */
};

static void enter_file(struct walk *w, struct dvi_view name)
{
    w->in_wrapper = is_wrapper(name);
    if (!w->in_wrapper) {
        w->host = name;
        w->has_host = name.size > 0;
        return;
    }
    if (!w->has_host)
        return;
    if (w->first_wrapped.data == NULL)
        w->first_wrapped = w->host;
    else if (!dvi_same_bytes(w->first_wrapped, w->host))
        w->many_wrapped = true;
}

enum devimg_status dvi_units_read(struct dvi_object *object, struct dvi_descriptor *descriptors,
                                  size_t count, struct devimg_error *err)
{
    DVI_TRY(dvi_object_symbols(object, err));
    struct walk all = { 0 };
    for (size_t i = 0; i < object->symbol_count; i++)
        if (object->symbols[i].kind == DVI_SYMBOL_FILE)
            enter_file(&all, object->symbols[i].name);
    struct walk w = { 0 };
    for (size_t i = 0; i < object->symbol_count; i++) {
        const struct dvi_symbol *symbol = &object->symbols[i];
        if (symbol->kind == DVI_SYMBOL_FILE)
            enter_file(&w, symbol->name);
        if (symbol->kind != DVI_SYMBOL_OTHER || !symbol->defined || !symbol->local || !w.has_host ||
            (w.in_wrapper && !all.many_wrapped))
            continue;
        struct dvi_descriptor *d = dvi_descriptor_at(descriptors, count, symbol->addr);
        if (d == NULL || d->unit != NULL)
            continue;
        d->unit = dvi_arena_text(object->arena, w.host);
        if (d->unit == NULL)
            return dvi_fail_memory(err, object->file.source);
    }
    return DEVIMG_OK;
}
