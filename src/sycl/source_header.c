/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static_asserts of the project's own header, held to what every target accepts: those of one
 * parameter together, for each power of two. Another parameter may be anything: a size is accepted
 * where some value of it goes with the size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sycl/source_linter.h"

enum {
    LARGEST_SIZE_BIT = 10,
    MOST_HELD = 50000,     /* parameters in conditions */
    MOST_OTHERS = 2,       /* parameters beside the size */
    MOST_CANDIDATES = 32,  /* values that are tried for each of them */
    MOST_STEPS = 100000000 /* of all headers together */
};

/* A parameter that a condition mentions. */
struct held {
    uint32_t scope, param, check;
};

struct header {
    struct dvi_size_linter *l;
    size_t source;
    const struct dvi_source *s;
    DVI_LIST(struct held) held;
};

static int compare_held(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    if (x->param != y->param)
        return x->param < y->param ? -1 : 1;
    return (x->check > y->check) - (x->check < y->check);
}

static enum devimg_status find_held(struct header *h, struct devimg_error *err)
{
    for (size_t i = 0; i < h->s->checks.count; i++) {
        const struct dvi_size_check *check = &h->s->checks.items[i];
        for (uint32_t at = check->scope; at != 0; at = h->s->scopes.items[at].parent) {
            const struct dvi_scope *scope = &h->s->scopes.items[at];
            for (uint32_t k = 0; k < scope->param_count; k++) {
                if (!dvi_source_mentions(check->text, &scope->params[k], 1))
                    continue;
                if (h->held.count == MOST_HELD)
                    return dvi_fail_plain(err, DEVIMG_LIMIT, h->l->out->paths[h->source],
                                          "more than %d parameters in conditions of static_assert",
                                          (int)MOST_HELD);
                struct held *held = DVI_ADD(&h->held);
                if (held == NULL)
                    return dvi_fail_memory(err, "lint");
                *held = (struct held){ at, k, (uint32_t)i };
            }
        }
    }
    if (h->held.count > 0)
        qsort(h->held.items, h->held.count, sizeof *h->held.items, compare_held);
    return DEVIMG_OK;
}

/* ---- which parameters are sizes ---- */

/* Does a size or condition of the file hand something to this parameter of a template? */
static bool is_handed_on(const struct header *h, const struct dvi_scope *scope, uint32_t param)
{
    if (scope->kind != DVI_SCOPE_TEMPLATE || scope->name == NULL)
        return false;
    for (size_t i = 0; i < h->s->requests.count; i++)
        if (h->s->requests.items[i].text != NULL &&
            dvi_source_hands_on(h->s->requests.items[i].text, scope->name, param, NULL))
            return true;
    for (size_t i = 0; i < h->s->checks.count; i++)
        if (dvi_source_hands_on(h->s->checks.items[i].text, scope->name, param, NULL))
            return true;
    return false;
}

/* Is the parameter one that a request of the file has for its size? */
static bool is_size_param(const struct header *h, uint32_t at, uint32_t param)
{
    const struct dvi_size_linter *l = h->l;
    const struct dvi_scope *scope = &h->s->scopes.items[at];
    const char *name = scope->params[param];
    for (size_t i = 0; i < l->words.count; i++) {
        const struct dvi_source_word *w = &l->words.items[i];
        if (w->argument == param + 1 && scope->name != NULL && strcmp(w->name, scope->name) == 0)
            return true;
    }
    for (size_t i = 0; i < h->s->requests.count; i++) {
        const struct dvi_size_request *r = &h->s->requests.items[i];
        uint32_t up = r->scope;
        while (up != at && up != 0)
            up = h->s->scopes.items[up].parent;
        if (up == at && r->text != NULL && dvi_source_mentions(r->text, &name, 1))
            return true;
    }
    return is_handed_on(h, scope, param);
}

/* Does the condition ask a template of the file that has conditions of its own? */
static bool is_delegated(struct header *h, const struct held *held)
{
    const struct dvi_scope *scope = &h->s->scopes.items[held->scope];
    h->l->header_steps += h->held.count;
    for (size_t i = 0; i < h->held.count; i++) {
        const struct held *other = &h->held.items[i];
        const struct dvi_scope *asked = &h->s->scopes.items[other->scope];
        if (other->scope != held->scope && asked->kind == DVI_SCOPE_TEMPLATE &&
            asked->name != NULL &&
            dvi_source_hands_on(h->s->checks.items[held->check].text, asked->name, other->param,
                                scope->params[held->param]))
            return true;
    }
    return false;
}

/* ---- what they accept ---- */

/* A parameter beside the size, and the values that are tried for it. */
struct other {
    const char *name;
    int64_t values[MOST_CANDIDATES];
    unsigned count;
};

struct others {
    struct other items[MOST_OTHERS];
    unsigned count;
};

static void try_value(struct other *o, int64_t value)
{
    for (unsigned i = 0; i < o->count; i++)
        if (o->values[i] == value)
            return;
    if (o->count < MOST_CANDIDATES)
        o->values[o->count++] = value;
}

/* The numbers of a condition, and those next to them: where it changes. */
static void try_numbers(struct other *o, const char *text)
{
    struct dvi_lexer l = dvi_lexer_of(dvi_view_of(text, strlen(text), NULL));
    struct dvi_lexeme t;
    for (dvi_lex(&l, &t); t.kind != DVI_LEX_END; dvi_lex(&l, &t)) {
        const long value = t.kind == DVI_LEX_NUMBER ? strtol(text + t.at, NULL, 0) : -1;
        for (long near = -1; near <= 1 && value >= 0 && value < INT32_MAX; near++)
            try_value(o, value + near);
    }
}

static void find_values(struct header *h, const struct dvi_scope *scope, uint32_t scope_at,
                        uint32_t param, const char *text, struct other *o)
{
    struct dvi_values v = { .state = DVI_VALUE_UNKNOWN };
    o->name = scope->params[param];
    if (scope->defaults != NULL && scope->defaults[param] != NULL)
        dvi_source_value(&h->l->all, h->source, scope_at, SIZE_MAX - 1, scope->defaults[param], &v);
    for (unsigned i = 0; i < v.count; i++)
        try_value(o, v.items[i]);
    try_value(o, 0);
    try_numbers(o, text);
    for (unsigned bit = 0; bit <= LARGEST_SIZE_BIT; bit++)
        try_value(o, INT64_C(1) << bit);
}

/* The other parameters of the condition. False: they are too many to be tried. */
static bool find_others(struct header *h, const struct held *held, struct others *out)
{
    const struct dvi_size_check *check = &h->s->checks.items[held->check];
    out->count = 0;
    for (uint32_t at = check->scope; at != 0; at = h->s->scopes.items[at].parent) {
        const struct dvi_scope *scope = &h->s->scopes.items[at];
        for (uint32_t k = 0; k < scope->param_count; k++) {
            if ((at == held->scope && k == held->param) ||
                !dvi_source_mentions(check->text, &scope->params[k], 1))
                continue;
            if (out->count == MOST_OTHERS)
                return false;
            out->items[out->count] = (struct other){ .count = 0 };
            find_values(h, scope, at, k, check->text, &out->items[out->count++]);
        }
    }
    return true;
}

/* The conditions on one parameter. */
struct group {
    const struct held *items;
    size_t count;
    uint32_t accepted;
    const struct dvi_size_check *unknown; /* one that is not computed; or NULL */
    bool any, delegated;                  /* one that is; one that asks another template */
};

/* Does the condition hold for these values? False, and `*known` is: it is not computed. */
static bool holds(struct header *h, const struct dvi_size_check *check, const char *const *names,
                  const int64_t *values, uint32_t count, bool *known)
{
    char room[1 + MOST_OTHERS][24];
    const char *texts[1 + MOST_OTHERS];
    struct dvi_arena scratch = { 0 };
    struct dvi_values v = { .state = DVI_VALUE_UNKNOWN };
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(room[i], sizeof room[i], values[i] < 0 ? "( %lld )" : "%lld",
                       (long long)values[i]);
        texts[i] = room[i];
    }
    const char *text = dvi_source_replace(check->text, names, texts, count, &scratch);
    if (text != NULL && h->l->header_steps < MOST_STEPS)
        dvi_source_value(&h->l->all, h->source, check->scope, check->offset, text, &v);
    h->l->header_steps += 20 + strlen(check->text);
    dvi_arena_free(&scratch);
    *known = v.state == DVI_VALUE_KNOWN && v.count == 1;
    return *known && v.items[0] != 0;
}

/* A condition narrows what is accepted, for every value of the others by itself. */
struct narrowed {
    uint64_t combinations[LARGEST_SIZE_BIT + 1][(MOST_CANDIDATES * MOST_CANDIDATES + 63) / 64];
};

static void hold(struct header *h, struct group *g, const struct held *held,
                 const struct others *others, struct narrowed *n)
{
    const struct dvi_size_check *check = &h->s->checks.items[held->check];
    const char *names[1 + MOST_OTHERS] = { h->s->scopes.items[held->scope].params[held->param],
                                           others->items[0].name, others->items[1].name };
    for (unsigned bit = 0; bit <= LARGEST_SIZE_BIT; bit++)
        for (unsigned i = 0; i < others->items[0].count; i++)
            for (unsigned k = 0; k < others->items[1].count; k++) {
                const int64_t values[1 + MOST_OTHERS] = { INT64_C(1) << bit,
                                                          others->items[0].values[i],
                                                          others->items[1].values[k] };
                const unsigned at = i * MOST_CANDIDATES + k;
                bool known = true;
                if ((n->combinations[bit][at / 64] >> at % 64 & 1) != 0)
                    continue;
                if (!holds(h, check, names, values, 1 + others->count, &known))
                    n->combinations[bit][at / 64] |= UINT64_C(1) << at % 64;
                if (!known) {
                    g->unknown = check;
                    return;
                }
            }
    g->any = true;
}

static bool same_others(const struct others *a, const struct others *b)
{
    if (a->count != b->count)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (strcmp(a->items[i].name, b->items[i].name) != 0)
            return false;
    return true;
}

/* Where a condition is not computed, it narrows nothing; what it left undone is told. */
static void accept(struct header *h, struct group *g, struct narrowed *n)
{
    struct others all = { .count = 0 };
    for (size_t i = 0; i < g->count; i++) { /* the most parameters that one has */
        struct others own;
        if (find_others(h, &g->items[i], &own) && own.count > all.count)
            all = own;
    }
    for (unsigned i = all.count; i < MOST_OTHERS; i++)
        all.items[i] = (struct other){ .name = "", .count = 1 };
    for (size_t i = 0; i < g->count; i++) {
        struct others own;
        if (!find_others(h, &g->items[i], &own))
            continue;
        for (unsigned k = 0; k < own.count && same_others(&own, &all); k++)
            for (unsigned j = 0; j < own.items[k].count; j++)
                try_value(&all.items[k], own.items[k].values[j]);
    }
    memset(n, 0, sizeof *n);
    for (size_t i = 0; i < g->count; i++) {
        const struct narrowed before = *n;
        struct others own;
        if (is_delegated(h, &g->items[i])) {
            g->delegated = true;
            continue;
        }
        if (!find_others(h, &g->items[i], &own) || (own.count > 0 && !same_others(&own, &all))) {
            g->unknown = &h->s->checks.items[g->items[i].check];
            continue;
        }
        const struct dvi_size_check *unknown = g->unknown;
        g->unknown = NULL;
        hold(h, g, &g->items[i], &all, n);
        if (g->unknown != NULL)
            *n = before;
        else
            g->unknown = unknown;
    }
    for (unsigned bit = 0; bit <= LARGEST_SIZE_BIT; bit++)
        for (unsigned i = 0; i < all.items[0].count; i++)
            for (unsigned k = 0; k < all.items[1].count; k++) {
                const unsigned at = i * MOST_CANDIDATES + k;
                if ((n->combinations[bit][at / 64] >> at % 64 & 1) == 0)
                    g->accepted |= UINT32_C(1) << bit;
            }
}

/* ---- findings ---- */

static enum devimg_status say_check(struct header *h, const struct dvi_size_check *check,
                                    const char *code, const char *message, const char *hint,
                                    struct devimg_error *err)
{
    const struct dvi_size_finding f = {
        .finding = { .severity = DEVIMG_ERROR,
                     .code = code,
                     .offset = check->offset,
                     .message = message,
                     .hint = hint },
        .source = h->source,
        .line = check->line,
        .column = check->column,
        .text = check->text,
        .size = DEVIMG_UNKNOWN,
    };
    return dvi_size_say(h->l, &f, err);
}

static enum devimg_status say_differs(struct header *h, const struct group *g,
                                      struct devimg_error *err)
{
    char has[DVI_SIZES_ROOM], allowed[DVI_SIZES_ROOM];
    dvi_sizes_text(g->accepted, ", ", has);
    dvi_sizes_text(h->l->out->allowed, ", ", allowed);
    return say_check(h, &h->s->checks.items[g->items[0].check], "header-differs",
                     dvi_arena_format(&h->l->out->arena,
                                      "the header's check accepts %s; every target accepts %s",
                                      *has != 0 ? has : "no size",
                                      *allowed != 0 ? allowed : "no size"),
                     "let it accept exactly what every target accepts", err);
}

static enum devimg_status say_unknown(struct header *h, const struct group *g,
                                      struct devimg_error *err)
{
    return say_check(h, g->unknown, "header-unchecked",
                     dvi_arena_format(&h->l->out->arena, "the condition \"%s\" is not computed",
                                      g->unknown->text),
                     "compare the parameter with constants: static_assert(N == 16 || N == 32); a "
                     "constexpr function that only returns such an expression is computed too",
                     err);
}

static enum devimg_status judge_group(struct header *h, struct group *g, bool *found,
                                      struct devimg_error *err)
{
    const uint32_t allowed = h->l->out->allowed;
    struct narrowed *n = malloc(sizeof *n);
    if (n == NULL)
        return dvi_fail_memory(err, "lint");
    accept(h, g, n);
    free(n);
    const bool wider = (g->accepted & ~allowed) != 0, lacks = (allowed & ~g->accepted) != 0;
    *found = *found || (g->any && !wider) || g->unknown != NULL;
    if (g->any && (lacks || (wider && !g->delegated && g->unknown == NULL))) {
        *found = true;
        return say_differs(h, g, err);
    }
    if (g->unknown != NULL && (wider || !g->any) && !g->delegated)
        return say_unknown(h, g, err);
    return DEVIMG_OK;
}

static enum devimg_status too_long(const struct header *h, struct devimg_error *err)
{
    return dvi_fail_plain(err, DEVIMG_LIMIT, h->l->out->paths[h->source],
                          "its conditions of static_assert are too many to be computed");
}

static enum devimg_status judge(struct header *h, bool *found, struct devimg_error *err)
{
    DVI_TRY(find_held(h, err));
    for (size_t i = 0, end; i < h->held.count; i = end) {
        const struct held *first = &h->held.items[i];
        end = i + 1;
        while (end < h->held.count && h->held.items[end].scope == first->scope &&
               h->held.items[end].param == first->param)
            end++;
        struct group g = { .items = first, .count = end - i };
        h->l->header_steps += h->s->requests.count + h->s->checks.count;
        if (h->l->header_steps < MOST_STEPS && is_size_param(h, first->scope, first->param))
            DVI_TRY(judge_group(h, &g, found, err));
        if (h->l->header_steps >= MOST_STEPS)
            return too_long(h, err);
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_size_judge_header(struct dvi_size_linter *l, size_t source, bool *found,
                                         struct devimg_error *err)
{
    struct header h = { .l = l, .source = source, .s = &l->sources[source] };
    if (!l->is_header[source] || l->out->any || l->out->not_known)
        return DEVIMG_OK;
    const enum devimg_status st = judge(&h, found, err);
    DVI_LIST_FREE(&h.held);
    return st;
}
