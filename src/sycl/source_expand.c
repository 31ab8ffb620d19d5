/* SPDX-License-Identifier: Apache-2.0 */
/* What uses of macros require: the size may stand in a parameter, and macros in each other. */
#include <string.h>

#include "base/text.h"
#include "sycl/source_linter.h"

const struct dvi_scope *dvi_size_wrapping(const struct dvi_source *source,
                                          const struct dvi_size_request *r)
{
    const struct dvi_scope *macro = dvi_source_macro(source, r->scope);
    if (macro == NULL || r->text == NULL || r->no_size ||
        !dvi_source_mentions(r->text, macro->params, macro->param_count))
        return NULL;
    return macro;
}

enum devimg_status dvi_size_find_wrappers(struct dvi_size_linter *l, struct devimg_error *err)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct dvi_source *source = &l->sources[i];
        for (size_t k = 0; k < source->requests.count; k++) {
            const struct dvi_scope *macro = dvi_size_wrapping(source, &source->requests.items[k]);
            struct dvi_size_wrapper *w = macro != NULL ? DVI_ADD(&l->wrappers) : NULL;
            if (w == NULL && macro != NULL)
                return dvi_fail_memory(err, "lint");
            if (w != NULL)
                *w = (struct dvi_size_wrapper){ macro->name, macro, &source->requests.items[k] };
        }
    }
    return DEVIMG_OK;
}

static void add_text(struct dvi_size_texts *to, const char *text)
{
    for (unsigned i = 0; i < to->count; i++)
        if (strcmp(to->items[i], text) == 0)
            return;
    if (to->count == DVI_SIZE_TEXTS)
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

enum devimg_status dvi_size_expand(struct dvi_size_linter *l, const struct dvi_size_request *use,
                                   unsigned depth, struct dvi_size_texts *out,
                                   struct devimg_error *err)
{
    if (use->form != DVI_FORM_MACRO || use->argument != 0) {
        add_text(out, use->text);
        return DEVIMG_OK;
    }
    for (size_t i = 0; depth < DVI_SIZE_ROUNDS && i < l->wrappers.count; i++) {
        const struct dvi_size_wrapper *w = &l->wrappers.items[i];
        struct dvi_size_texts bodies = { .count = 0 };
        if (strcmp(w->name, use->name) != 0 || out->cut)
            continue;
        if (++l->expansions > DVI_SIZE_EXPANSIONS) {
            out->cut = true;
            return DEVIMG_OK;
        }
        const char **values =
            dvi_arena_array(&l->out->arena, w->macro->param_count + 1, sizeof *values);
        if (values == NULL || !split_arguments(use->text, w->macro, values, &l->out->arena))
            return dvi_fail_memory(err, "lint");
        DVI_TRY(dvi_size_expand(l, w->request, depth + 1, &bodies, err));
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
