/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as texts: names in them, and what replaces those. */
#include <string.h>

#include "sycl/source_scanner.h"
#include "sycl/source_value.h"

static bool place_of(const struct dvi_lexer *l, const struct dvi_lexeme *t,
                     const char *const *names, uint32_t count, uint32_t *out)
{
    for (*out = 0; t->kind == DVI_LEX_NAME && *out < count; (*out)++)
        if (dvi_lex_is(l, t, names[*out]))
            return true;
    return false;
}

bool dvi_source_mentions(const char *text, const char *const *names, uint32_t count)
{
    struct dvi_lexer l = dvi_lexer_of(dvi_view_of(text, strlen(text), NULL));
    struct dvi_lexeme t;
    uint32_t at = 0;
    for (dvi_lex(&l, &t); t.kind != DVI_LEX_END; dvi_lex(&l, &t))
        if (place_of(&l, &t, names, count, &at))
            return true;
    return false;
}

const char *dvi_source_replace(const char *text, const char *const *names,
                               const char *const *values, uint32_t count, struct dvi_arena *arena)
{
    struct dvi_lexer l = dvi_lexer_of(dvi_view_of(text, strlen(text), NULL));
    struct dvi_lexeme t;
    struct dvi_spelling out = { .size = 0 };
    uint32_t at = 0;
    l.line_begun = true;
    for (dvi_lex(&l, &t); t.kind != DVI_LEX_END; dvi_lex(&l, &t)) {
        if (place_of(&l, &t, names, count, &at))
            dvi_spell_text(&out, values[at]);
        else if (dvi_lex_mark(&t, DVI_LEX_PASTE))
            out.glue = true;
        else
            dvi_spell(&out, &l, &t);
    }
    return dvi_spelled(&out, arena);
}

/* The argument at hand, of a list that `l` is in. */
struct listed {
    uint32_t index;
    unsigned depth, angles;
    bool after_name;
};

/* False: the list ends, or is none. */
static bool go_on(struct listed *in, const struct dvi_lexeme *t)
{
    const bool outer = in->depth == 0 && in->angles == 0;
    if (t->kind == DVI_LEX_END || dvi_lex_mark(t, ';') || (outer && dvi_lex_mark(t, '>')))
        return false;
    if (dvi_lex_mark(t, '(') || dvi_lex_mark(t, '{') || dvi_lex_mark(t, '['))
        in->depth++;
    else if (dvi_lex_mark(t, ')') || dvi_lex_mark(t, '}') || dvi_lex_mark(t, ']'))
        return in->depth-- > 0;
    else if (in->depth == 0 && in->after_name && dvi_lex_mark(t, '<'))
        in->angles++;
    else if (in->depth == 0 && in->angles > 0 && dvi_lex_mark(t, '>'))
        in->angles--;
    else if (outer && dvi_lex_mark(t, ','))
        in->index++;
    in->after_name = t->kind == DVI_LEX_NAME;
    return true;
}

bool dvi_source_hands_on(const char *text, const char *name, uint32_t index, const char *param)
{
    if (strstr(text, name) == NULL)
        return false;
    struct dvi_lexer l = dvi_lexer_of(dvi_view_of(text, strlen(text), NULL));
    struct dvi_lexeme t;
    l.line_begun = true;
    for (dvi_lex(&l, &t); t.kind != DVI_LEX_END; dvi_lex(&l, &t)) {
        struct dvi_lexer ahead = l;
        struct dvi_lexeme in;
        struct listed at = { .index = 0 };
        if (!dvi_lex_is(&l, &t, name))
            continue;
        dvi_lex(&ahead, &in);
        if (!dvi_lex_mark(&in, '<'))
            continue;
        for (dvi_lex(&ahead, &in); go_on(&at, &in); dvi_lex(&ahead, &in))
            if (at.index == index && in.kind == DVI_LEX_NAME &&
                (param == NULL || dvi_lex_is(&ahead, &in, param)))
                return true;
    }
    return false;
}
