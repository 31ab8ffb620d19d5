/* SPDX-License-Identifier: Apache-2.0 */
/* Directives: conditionals, of which both sides count, macros, and what is included. */
#include <stdlib.h>
#include <string.h>

#include "sycl/source_scanner.h"

enum { MACRO_SLOTS = 1 << 14, MOST_MACRO_STEPS = 20000000 };

static void skip_line(struct dvi_scanner *s)
{
    while (s->token.kind != DVI_LEX_LINE_END && dvi_scanner_next(s))
        ;
}

bool dvi_scanner_is_dead(const struct dvi_scanner *s)
{
    const size_t count = s->conditionals.count;
    return count > 0 && s->conditionals.items[count - 1].dead;
}

/* "0" and nothing else: 0; "1": 1; anything else: -1. */
static int known_condition(const struct dvi_scanner *s)
{
    struct dvi_lexer ahead = s->lexer;
    struct dvi_lexeme one, end;
    char room[DVI_LEX_ROOM];
    dvi_lex(&ahead, &one);
    dvi_lex(&ahead, &end);
    if (one.kind != DVI_LEX_NUMBER || end.kind != DVI_LEX_LINE_END)
        return -1;
    const struct dvi_view text = dvi_lex_text(&ahead, &one, room);
    return dvi_equals(text, "0") ? 0 : dvi_equals(text, "1") ? 1 : -1;
}

static void begin_conditional(struct dvi_scanner *s, int known)
{
    const bool outer_dead = dvi_scanner_is_dead(s);
    const bool many = s->conditionals.count >= DVI_SOURCE_MOST_ITEMS;
    struct dvi_conditional *c = many ? NULL : DVI_ADD(&s->conditionals);
    if (c == NULL) {
        dvi_scanner_fail(s, many ? DEVIMG_LIMIT : DEVIMG_NOMEM, "more than 500000 open #if");
        return;
    }
    *c = (struct dvi_conditional){
        .outer_dead = outer_dead,
        .dead = outer_dead || known == 0,
        .known_true = known == 1,
        .scope = dvi_scanner_keep(s),
        .parens = s->parens,
    };
}

/* Each side starts with the braces that were open before; after the end those of the first count. */
static void next_side(struct dvi_scanner *s, int known)
{
    if (s->conditionals.count == 0)
        return;
    struct dvi_conditional *c = &s->conditionals.items[s->conditionals.count - 1];
    if (!c->dead && !c->has_end) {
        c->has_end = true;
        c->end_scope = dvi_scanner_keep(s);
        c->end_parens = s->parens;
    }
    if (!c->outer_dead) {
        s->scope = c->scope;
        s->parens = c->parens;
    }
    c->dead = c->outer_dead || c->known_true || known == 0;
    c->known_true = c->known_true || known == 1;
}

static void end_conditional(struct dvi_scanner *s)
{
    if (s->conditionals.count == 0)
        return;
    const struct dvi_conditional *c = &s->conditionals.items[--s->conditionals.count];
    if (c->has_end && !c->outer_dead) {
        s->scope = c->end_scope;
        s->parens = c->end_parens;
    }
}

static void take_include(struct dvi_scanner *s)
{
    struct dvi_view text = { 0 };
    if (!dvi_lex_header_name(&s->lexer, &text))
        return;
    if (s->out->includes.count >= DVI_SOURCE_MOST_ITEMS) {
        dvi_scanner_fail(s, DEVIMG_LIMIT, "too many includes: the rest would not be seen");
        return;
    }
    const char *name = dvi_arena_text(&s->out->arena, text);
    const char **added = name != NULL ? DVI_ADD(&s->out->includes) : NULL;
    if (added != NULL)
        *added = name;
    else
        dvi_scanner_fail(s, DEVIMG_NOMEM, "");
}

/* The parameters of a function-like macro; the scanner stands on its name, before the '('. */
static void macro_params(struct dvi_scanner *s, struct dvi_scope *scope)
{
    enum { MOST = 64 };
    const char *names[MOST];
    uint32_t count = 0;
    (void)dvi_scanner_next(s);
    while (dvi_scanner_next(s) && s->token.kind != DVI_LEX_LINE_END &&
           !dvi_lex_mark(&s->token, ')'))
        if (s->token.kind == DVI_LEX_NAME && count < MOST - 1)
            names[count++] = dvi_scanner_text(s, &s->lexer, &s->token);
        else if (dvi_lex_mark(&s->token, '.') &&
                 (count == 0 ||
                  (dvi_lex_mark(&s->before, ',') && strcmp(names[count - 1], "__VA_ARGS__") != 0)))
            names[count++] = "__VA_ARGS__";
        else
            s->before = s->token;
    scope->params = dvi_scanner_list(s, names, count);
    scope->param_count = scope->params != NULL ? count : 0;
}

/* A macro is found again by its name, where it ends. */
static void add_macro(struct dvi_scanner *s, const char *name, const char *text,
                      const struct dvi_lexeme *at, bool is_function)
{
    const struct dvi_scope *scope = &s->out->scopes.items[s->scope];
    const size_t before = s->out->constants.count;
    if (s->macros == NULL)
        s->macros = calloc(MACRO_SLOTS, sizeof *s->macros);
    if (s->macros == NULL) {
        dvi_scanner_fail(s, DEVIMG_NOMEM, "");
        return;
    }
    struct dvi_constant *c = dvi_scanner_constant(s, DVI_CONSTANT_MACRO, name, text, at, true);
    if (c == NULL)
        return;
    c->is_function = is_function;
    c->params = scope->params;
    c->param_count = scope->param_count;
    c->before = s->macros[c->hash % MACRO_SLOTS];
    s->macros[c->hash % MACRO_SLOTS] = (uint32_t)before + 1;
}

/* What a macro stands for, where it is short enough for a size. */
static void take_body(struct dvi_scanner *s, const char *name, const struct dvi_lexeme *at,
                      bool is_function)
{
    enum { MOST_TOKENS = 64 };
    struct dvi_lexer ahead = s->lexer;
    struct dvi_lexeme token;
    struct dvi_spelling body = { .size = 0 };
    unsigned count = 0;
    for (dvi_lex(&ahead, &token); token.kind != DVI_LEX_LINE_END; dvi_lex(&ahead, &token)) {
        if (++count > MOST_TOKENS || token.kind == DVI_LEX_STRING)
            return;
        dvi_spell(&body, &ahead, &token);
    }
    const char *text = count > 0 ? dvi_spelled(&body, &s->out->arena) : NULL;
    if (text != NULL)
        add_macro(s, name, text, at, is_function);
    else if (count > 0)
        dvi_scanner_fail(s, DEVIMG_NOMEM, "");
}

static void take_define(struct dvi_scanner *s)
{
    const uint32_t scope = s->scope, parens = s->parens;
    const unsigned attribute = s->attribute;
    const bool in_gnu = s->in_gnu;
    if (!dvi_scanner_next(s) || s->token.kind != DVI_LEX_NAME)
        return;
    const struct dvi_lexeme at = s->token;
    const char *name = dvi_scanner_text(s, &s->lexer, &at);
    const struct dvi_source_word *word = NULL;
    (void)dvi_word_of(s->words, &s->lexer, &at, &word);
    dvi_scanner_saw(s, word);
    const bool is_function =
        s->lexer.at < s->lexer.source.size && s->lexer.source.data[s->lexer.at] == '(';
    dvi_scanner_enter(s, DVI_SCOPE_MACRO, NULL, name);
    if (s->status != DEVIMG_OK)
        return;
    dvi_scanner_forget(s);
    if (is_function)
        macro_params(s, &s->out->scopes.items[s->scope]);
    take_body(s, name, &at, is_function);
    dvi_scanner_forget(s);
    s->attribute = 0;
    s->in_gnu = false;
    while (s->token.kind != DVI_LEX_LINE_END && dvi_scanner_next(s)) {
        if (s->token.kind == DVI_LEX_NAME)
            dvi_scan_name(s);
        else if (dvi_lex_mark(&s->token, DVI_LEX_PASTE))
            dvi_scan_paste(s);
        dvi_scanner_remember(s);
    }
    while (s->scope != scope && s->status == DEVIMG_OK)
        dvi_scanner_leave(s);
    s->parens = parens;
    s->attribute = attribute;
    s->in_gnu = in_gnu;
}

static void take_undef(struct dvi_scanner *s)
{
    char room[DVI_LEX_ROOM];
    if (!dvi_scanner_next(s) || s->token.kind != DVI_LEX_NAME)
        return;
    const struct dvi_view name = dvi_lex_text(&s->lexer, &s->token, room);
    uint32_t at = s->macros != NULL ? s->macros[s->token.hash % MACRO_SLOTS] : 0;
    while (at != 0) {
        struct dvi_constant *c = &s->out->constants.items[at - 1];
        at = c->before;
        if (++s->macro_steps > MOST_MACRO_STEPS) {
            dvi_scanner_fail(s, DEVIMG_LIMIT, "too many macros whose names have a like hash");
            return;
        }
        if (c->hash != s->token.hash || !dvi_equals(name, c->name))
            continue;
        if (c->end != SIZE_MAX)
            return;
        c->end = s->token.at;
    }
}

void dvi_scan_directive(struct dvi_scanner *s)
{
    const struct dvi_lexeme before = s->before, before_that = s->before_that;
    if (!dvi_scanner_next(s) || s->token.kind == DVI_LEX_LINE_END)
        return;
#define IS(word) dvi_lex_is(&s->lexer, &s->token, word)
    if (IS("if") || IS("ifdef") || IS("ifndef"))
        begin_conditional(s, IS("if") ? known_condition(s) : -1);
    else if (IS("elif") || IS("elifdef") || IS("elifndef") || IS("else"))
        next_side(s, IS("elif") ? known_condition(s) : -1);
    else if (IS("endif"))
        end_conditional(s);
    else if (dvi_scanner_is_dead(s))
        ;
    else if (IS("define"))
        take_define(s);
    else if (IS("undef"))
        take_undef(s);
    else if (dvi_lex_is_include(&s->lexer, &s->token))
        take_include(s);
#undef IS
    skip_line(s);
    s->before = before;
    s->before_that = before_that;
}
