/* SPDX-License-Identifier: Apache-2.0 */
/* What uses of macros require: the size may stand in a parameter, and macros in each other. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sycl/source_linter.h"

const struct dvi_scope *dvi_size_wrapping(const struct dvi_source *source,
                                          const struct dvi_size_request *r)
{
    const struct dvi_scope *macro = dvi_source_macro(source, r->scope);
    if (macro != NULL && r->form == DVI_FORM_CALL)
        return macro;
    if (macro == NULL || r->text == NULL || r->no_size || r->cut ||
        !dvi_source_mentions(r->text, macro->params, macro->param_count))
        return NULL;
    return macro;
}

/* The first of a chain comes first in the sources. */
static enum devimg_status chain_wrappers(struct dvi_size_linter *l, struct devimg_error *err)
{
    uint32_t size = 64;
    while (size < l->wrappers.count && size < UINT32_MAX / 2)
        size *= 2;
    l->wrapper_heads = calloc(size, sizeof *l->wrapper_heads);
    l->wrapper_mask = size - 1;
    if (l->wrapper_heads == NULL)
        return dvi_fail_memory(err, "lint");
    for (size_t i = l->wrappers.count; i > 0; i--) {
        struct dvi_size_wrapper *w = &l->wrappers.items[i - 1];
        uint32_t *head = &l->wrapper_heads[dvi_lex_hash(w->name, strlen(w->name)) & (size - 1)];
        w->next = *head;
        *head = (uint32_t)i;
    }
    return DEVIMG_OK;
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
                *w = (struct dvi_size_wrapper){ macro->name, macro, &source->requests.items[k], 0 };
        }
    }
    return chain_wrappers(l, err);
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

/* The argument `wanted` of a list, from 1; NULL: no memory. */
static const char *argument_of(const char *text, uint32_t wanted, struct dvi_arena *arena)
{
    static const char *const params[] = { "", "", "", "", "", "", "", "", "", "", "",
                                          "", "", "", "", "", "", "", "", "", "", "" };
    enum { MOST = sizeof params / sizeof *params };
    const struct dvi_scope list = { .params = params, .param_count = MOST };
    const char *values[MOST];
    if (wanted > MOST)
        return "";
    return split_arguments(text, &list, values, arena) ? values[wanted - 1] : NULL;
}

static enum devimg_status expand_macro(struct dvi_size_linter *l, const char *name,
                                       const char *arguments, unsigned depth,
                                       struct dvi_size_texts *out, struct devimg_error *err);

/* "X(arguments)", where X is a macro's parameter that stands for `name`. */
static enum devimg_status expand_call(struct dvi_size_linter *l, const char *name,
                                      const char *arguments, unsigned depth,
                                      struct dvi_size_texts *out, struct devimg_error *err)
{
    struct dvi_source_word word;
    if (!dvi_source_words_find(&l->table, dvi_view_of(name, strlen(name), NULL), &word))
        return DEVIMG_OK;
    out->follows = true;
    if (word.argument == 0)
        return expand_macro(l, word.name, arguments, depth, out, err);
    const char *text = argument_of(arguments, word.argument, &l->out->arena);
    if (text == NULL)
        return dvi_fail_memory(err, "lint");
    add_text(out, text);
    return DEVIMG_OK;
}

/* One request of a macro that is used with these values of its parameters. */
static enum devimg_status expand_body(struct dvi_size_linter *l, const struct dvi_size_wrapper *w,
                                      const char *const *values, unsigned depth,
                                      struct dvi_size_texts *out, struct devimg_error *err)
{
    const struct dvi_size_request *r = w->request;
    const char *const *params = w->macro->params;
    const uint32_t count = w->macro->param_count;
    const char *text =
        r->text != NULL ? dvi_source_replace(r->text, params, values, count, &l->out->arena) : "";
    if (text == NULL)
        return dvi_fail_memory(err, "lint");
    if (r->form == DVI_FORM_CALL) {
        uint32_t at = 0;
        while (at + 1 < count && strcmp(params[at], r->name) != 0)
            at++;
        return expand_call(l, values[at], text, depth, out, err);
    }
    if (r->form == DVI_FORM_MACRO && r->argument == 0)
        return expand_macro(l, r->name, text, depth, out, err);
    add_text(out, text);
    return DEVIMG_OK;
}

static enum devimg_status expand_macro(struct dvi_size_linter *l, const char *name,
                                       const char *arguments, unsigned depth,
                                       struct dvi_size_texts *out, struct devimg_error *err)
{
    const uint32_t slot = dvi_lex_hash(name, strlen(name)) & l->wrapper_mask;
    if (depth == DVI_SIZE_ROUNDS)
        out->cut = true;
    for (uint32_t at = l->wrapper_heads[slot]; at != 0 && !out->cut;) {
        const struct dvi_size_wrapper *w = &l->wrappers.items[at - 1];
        at = w->next;
        if (strcmp(w->name, name) != 0)
            continue;
        if (++l->expansions > DVI_SIZE_EXPANSIONS ||
            ++l->all_expansions > DVI_SIZE_ALL_EXPANSIONS) {
            out->cut = true;
            return DEVIMG_OK;
        }
        const char **values =
            dvi_arena_array(&l->out->arena, w->macro->param_count + 1, sizeof *values);
        if (values == NULL || !split_arguments(arguments, w->macro, values, &l->out->arena))
            return dvi_fail_memory(err, "lint");
        DVI_TRY(expand_body(l, w, values, depth + 1, out, err));
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_size_expand(struct dvi_size_linter *l, const struct dvi_size_request *use,
                                   struct dvi_size_texts *out, struct devimg_error *err)
{
    if (use->form == DVI_FORM_MACRO && use->argument == 0)
        return expand_macro(l, use->name, use->text, 0, out, err);
    add_text(out, use->text);
    return DEVIMG_OK;
}
