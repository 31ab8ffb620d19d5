/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations, as far as names and sizes need them: each is looked at ahead of the scan. */
#include <string.h>

#include "sycl/source_scanner.h"

enum { MOST_SPECIFIERS = 48, MOST_INITIALIZER = 256, MOST_PARAMS = 64 };

/* ---- texts ---- */

void dvi_spell_text(struct dvi_spelling *to, const char *text)
{
    const size_t size = strlen(text);
    const bool tight = to->size == 0 || to->bytes[to->size - 1] == '(' || to->glue;
    const size_t blank = tight ? 0 : 1;
    if (size == 0)
        return;
    to->glue = false;
    if (to->cut || size + blank >= sizeof to->bytes - to->size) {
        to->cut = true;
        return;
    }
    if (blank > 0)
        to->bytes[to->size++] = ' ';
    memcpy(to->bytes + to->size, text, size);
    to->size += size;
}

static bool ends_in_word(const struct dvi_spelling *text)
{
    const char last = text->size > 0 ? text->bytes[text->size - 1] : 0;
    return last == '_' || (last >= '0' && last <= '9') || (last >= 'a' && last <= 'z') ||
           (last >= 'A' && last <= 'Z');
}

void dvi_spell(struct dvi_spelling *to, const struct dvi_lexer *lexer,
               const struct dvi_lexeme *token)
{
    char room[DVI_LEX_ROOM];
    const struct dvi_view text = dvi_lex_text(lexer, token, room);
    const bool marks = token->kind == DVI_LEX_PUNCTUATOR;
    const bool scope = dvi_lex_mark(token, DVI_LEX_SCOPE);
    const bool after_scope =
        to->size >= 2 && memcmp(to->bytes + to->size - 2, "::", 2) == 0 && !marks;
    const bool tight = scope || after_scope || dvi_lex_mark(token, ',') ||
                       dvi_lex_mark(token, ')') || (dvi_lex_mark(token, '(') && ends_in_word(to)) ||
                       (to->size > 0 && to->bytes[to->size - 1] == '(');
    const size_t blank = to->size > 0 && !tight && !to->glue ? 1 : 0;
    to->glue = false;
    if (to->cut || text.size + blank >= sizeof to->bytes - to->size) {
        to->cut = true;
        return;
    }
    if (blank > 0)
        to->bytes[to->size++] = ' ';
    memcpy(to->bytes + to->size, text.data, text.size);
    to->size += text.size;
}

const char *dvi_spelled(const struct dvi_spelling *from, struct dvi_arena *arena)
{
    if (from->cut)
        return "(a text of more than 1000 bytes)";
    return dvi_arena_text(arena, dvi_view_of(from->bytes, from->size, NULL));
}

const char *dvi_scanner_text(struct dvi_scanner *s, const struct dvi_lexer *lexer,
                             const struct dvi_lexeme *token)
{
    char room[DVI_LEX_ROOM];
    const char *text = dvi_arena_text(&s->out->arena, dvi_lex_text(lexer, token, room));
    if (text == NULL)
        dvi_scanner_fail(s, DEVIMG_NOMEM, "");
    return text;
}

const char *dvi_scanner_spelled(struct dvi_scanner *s, const struct dvi_spelling *from)
{
    const char *text = dvi_spelled(from, &s->out->arena);
    if (text == NULL)
        dvi_scanner_fail(s, DEVIMG_NOMEM, "");
    return text;
}

const char *const *dvi_scanner_list(struct dvi_scanner *s, const char *const *items, uint32_t count)
{
    const char **own = dvi_arena_array(&s->out->arena, count + 1U, sizeof *own);
    if (own == NULL || s->status != DEVIMG_OK) {
        dvi_scanner_fail(s, DEVIMG_NOMEM, "");
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        own[i] = items[i];
    return own;
}

struct dvi_constant *dvi_scanner_constant(struct dvi_scanner *s, enum dvi_constant_kind kind,
                                          const char *name, const char *text,
                                          const struct dvi_lexeme *token, bool around)
{
    if (name == NULL || text == NULL)
        return NULL;
    const bool many = s->out->constants.count >= DVI_SOURCE_MOST_ITEMS;
    struct dvi_constant *c = many ? NULL : DVI_ADD(&s->out->constants);
    if (c == NULL) {
        dvi_scanner_fail(s, many ? DEVIMG_LIMIT : DEVIMG_NOMEM, "more than 500000 constants");
        return NULL;
    }
    *c = (struct dvi_constant){
        .kind = kind,
        .name = name,
        .text = text,
        .scope = around ? 0 : dvi_scanner_keep(s),
        .hash = dvi_lex_hash(name, strlen(name)),
        .begin = token->at,
        .end = SIZE_MAX,
        .line = token->line,
        .column = token->column,
    };
    return c;
}

/* ---- templates ---- */

/* Takes the names between "<" and ">", the scanner standing on the "<", and opens their scope. */
static void take_params(struct dvi_scanner *s, bool is_lambda)
{
    const char *names[MOST_PARAMS], *defaults[MOST_PARAMS];
    struct dvi_lexeme last = { .kind = DVI_LEX_END };
    struct dvi_spelling value = { .size = 0 }; /* by default */
    unsigned angles = 1, parens = 0, count = 0;
    bool in_default = false, any = false;
    while (angles > 0 && dvi_scanner_next(s) && !dvi_lex_ends(&s->token)) {
        const struct dvi_lexeme *t = &s->token;
        const bool outer = angles == 1 && parens == 0;
        if (t->kind == DVI_LEX_NAME) {
            const struct dvi_source_word *user = NULL;
            const enum dvi_word_id id = dvi_word_of(s->words, &s->lexer, t, &user);
            dvi_scanner_saw(s, user);
            if (id >= DVI_WORD_REQD)
                dvi_scan_size(s, id, user);
            if (outer && !in_default)
                last = *t;
        } else if (dvi_lex_mark(t, '(') || dvi_lex_mark(t, '{')) {
            parens++;
        } else if ((dvi_lex_mark(t, ')') || dvi_lex_mark(t, '}')) && parens > 0) {
            parens--;
        } else if (dvi_lex_mark(t, ';') && parens == 0) {
            return; /* no template */
        } else if (parens == 0 && dvi_lex_mark(t, '<')) {
            angles++;
        } else if (parens == 0 && dvi_lex_mark(t, '>')) {
            angles--;
        }
        const bool closes = outer && (dvi_lex_mark(t, ',') || angles == 0);
        any = any || !closes;
        if (in_default && !closes)
            dvi_spell(&value, &s->lexer, t);
        in_default = in_default || (outer && dvi_lex_mark(t, '='));
        if (closes && any && count < MOST_PARAMS) {
            names[count] = last.kind == DVI_LEX_NAME ? dvi_scanner_text(s, &s->lexer, &last) : "";
            defaults[count++] = value.size > 0 ? dvi_scanner_spelled(s, &value) : NULL;
        }
        if (closes) {
            last.kind = DVI_LEX_END;
            in_default = any = false;
            value = (struct dvi_spelling){ .size = 0 };
        }
        s->before_that = s->before;
        s->before = s->token;
    }
    const char *const *params = dvi_scanner_list(s, names, count);
    const char *const *values = dvi_scanner_list(s, defaults, count);
    if (s->status == DEVIMG_OK)
        dvi_scanner_enter(s, DVI_SCOPE_TEMPLATE, NULL, NULL);
    if (s->status != DEVIMG_OK)
        return;
    struct dvi_scope *scope = &s->out->scopes.items[s->scope];
    scope->params = params;
    scope->defaults = values;
    scope->param_count = count;
    scope->is_lambda = is_lambda;
}

static bool next_is(const struct dvi_scanner *s, int punctuator)
{
    struct dvi_lexer ahead = s->lexer;
    struct dvi_lexeme next;
    dvi_lex(&ahead, &next);
    return dvi_lex_mark(&next, punctuator);
}

void dvi_scan_template(struct dvi_scanner *s)
{
    if (!next_is(s, '<')) /* an explicit instantiation, or "x.template f<...>" */
        return;
    if (dvi_lex_mark(&s->before, '.') || dvi_lex_mark(&s->before, DVI_LEX_ARROW) ||
        dvi_lex_mark(&s->before, DVI_LEX_SCOPE))
        return;
    (void)dvi_scanner_next(s);
    take_params(s, false);
}

void dvi_scan_lambda_params(struct dvi_scanner *s)
{
    take_params(s, true);
}

/* ---- constants ---- */

/* The expression up to the ',' or `close` that ends it, which is left in `*after`. */
static bool take_expression(struct dvi_lexer *l, int close, struct dvi_spelling *text,
                            struct dvi_lexeme *after)
{
    unsigned depth = 0;
    for (unsigned i = 0; i < MOST_INITIALIZER; i++) {
        dvi_lex(l, after);
        if (dvi_lex_ends(after) || after->kind == DVI_LEX_STRING)
            return false;
        if (depth == 0 && (dvi_lex_mark(after, ',') || dvi_lex_mark(after, close)))
            return true;
        if (dvi_lex_mark(after, ';'))
            return false;
        if (dvi_lex_mark(after, '(') || dvi_lex_mark(after, '{') || dvi_lex_mark(after, '['))
            depth++;
        if (dvi_lex_mark(after, ')') || dvi_lex_mark(after, '}') || dvi_lex_mark(after, ']')) {
            if (depth == 0)
                return false;
            depth--;
        }
        dvi_spell(text, l, after);
    }
    return false;
}

/* The initializer behind a declarator's name, whose first token is `*mark`; then the token behind
 * it is there. False: it has none that is one expression. */
static bool take_initializer(struct dvi_lexer *l, struct dvi_lexeme *mark,
                             struct dvi_spelling *text)
{
    if (dvi_lex_mark(mark, '='))
        return take_expression(l, ';', text, mark);
    const int close = dvi_lex_mark(mark, '{') ? '}' : ')';
    if (!take_expression(l, close, text, mark) || text->size == 0 || !dvi_lex_mark(mark, close))
        return false;
    dvi_lex(l, mark);
    return dvi_lex_mark(mark, ';') || dvi_lex_mark(mark, ',');
}

/* The name of the first declarator: the last one before '=', '{' or '('. */
static bool find_declarator(struct dvi_lexer *l, struct dvi_lexeme *name, struct dvi_lexeme *mark)
{
    unsigned angles = 0;
    name->kind = DVI_LEX_END;
    for (unsigned i = 0; i < MOST_SPECIFIERS; i++) {
        dvi_lex(l, mark);
        if (dvi_lex_ends(mark))
            return false;
        if (dvi_lex_mark(mark, '<')) {
            angles++;
        } else if (dvi_lex_mark(mark, '>') && angles > 0) {
            angles--;
        } else if (angles > 0) {
            continue;
        } else if (mark->kind == DVI_LEX_NAME) {
            *name = *mark;
        } else if (dvi_lex_mark(mark, '=') || dvi_lex_mark(mark, '{') || dvi_lex_mark(mark, '(')) {
            return name->kind == DVI_LEX_NAME;
        } else if (!dvi_lex_mark(mark, DVI_LEX_SCOPE)) {
            return false;
        }
    }
    return false;
}

/* The names of parameters, `l` being behind the '('. False: these are none. */
static bool take_function_params(struct dvi_scanner *s, struct dvi_lexer *l, const char **names,
                                 uint32_t *count)
{
    struct dvi_lexeme t, last = { .kind = DVI_LEX_END };
    unsigned depth = 0, words = 0;
    bool in_default = false;
    for (unsigned i = 0; i < MOST_INITIALIZER; i++) {
        dvi_lex(l, &t);
        if (dvi_lex_ends(&t) || dvi_lex_mark(&t, ';'))
            return false;
        const bool outer = depth == 0;
        if (outer && words > 0 && (dvi_lex_mark(&t, ',') || dvi_lex_mark(&t, ')'))) {
            if (*count == MOST_PARAMS)
                return false;
            names[(*count)++] = words > 1 ? dvi_scanner_text(s, l, &last) : "";
        }
        if (outer && dvi_lex_mark(&t, ')'))
            return true;
        if (outer && dvi_lex_mark(&t, ',')) {
            words = 0;
            in_default = false;
            continue;
        }
        in_default = in_default || dvi_lex_mark(&t, '=');
        depth += dvi_lex_mark(&t, '(') || dvi_lex_mark(&t, '<') || dvi_lex_mark(&t, '{');
        depth -=
            depth > 0 && (dvi_lex_mark(&t, ')') || dvi_lex_mark(&t, '>') || dvi_lex_mark(&t, '}'));
        if (in_default || !outer)
            continue;
        if (t.kind != DVI_LEX_NAME) {
            words += words == 1; /* "int &": what follows is a name */
            continue;
        }
        words++;
        last = t;
    }
    return false;
}

/* Up to the '{' of a function's body, behind the ')' of its parameters. */
static bool find_body(struct dvi_lexer *l)
{
    struct dvi_lexeme t;
    for (unsigned i = 0; i < MOST_SPECIFIERS; i++) {
        dvi_lex(l, &t);
        if (dvi_lex_mark(&t, '{'))
            return true;
        if (dvi_lex_mark(&t, '(') ? !dvi_lex_skip_parens(l, MOST_INITIALIZER)
                                  : t.kind != DVI_LEX_NAME && !dvi_lex_mark(&t, DVI_LEX_ARROW) &&
                                        !dvi_lex_mark(&t, DVI_LEX_SCOPE))
            return false;
    }
    return false;
}

/* "NAME(...) { return EXPRESSION; }", `l` being behind the '('. False: this is no function. */
static bool take_function(struct dvi_scanner *s, struct dvi_lexer l, const struct dvi_lexeme *name)
{
    const char *names[MOST_PARAMS];
    uint32_t count = 0;
    struct dvi_lexeme t;
    struct dvi_spelling text = { .size = 0 };
    if (!take_function_params(s, &l, names, &count) || !find_body(&l))
        return false;
    dvi_lex(&l, &t);
    bool simple = dvi_lex_is(&l, &t, "return") && take_expression(&l, ';', &text, &t) &&
                  dvi_lex_mark(&t, ';');
    dvi_lex(&l, &t);
    simple = simple && dvi_lex_mark(&t, '}');
    struct dvi_constant *c =
        dvi_scanner_constant(s, DVI_CONSTANT_VALUE, dvi_scanner_text(s, &s->lexer, name),
                             simple ? dvi_scanner_spelled(s, &text) : "", name, false);
    if (c != NULL) {
        c->is_function = true;
        c->params = dvi_scanner_list(s, names, count);
        c->param_count = c->params != NULL ? count : 0;
    }
    return true;
}

void dvi_scan_const(struct dvi_scanner *s)
{
    struct dvi_lexer l = s->lexer;
    struct dvi_lexeme name, mark;
    const bool behind_parens = dvi_lex_mark(&s->before, ')'); /* "f() const", "alignas(8) const" */
    if (s->parens > 0 || s->token.at < s->named_until ||
        (behind_parens && dvi_lex_is(&s->lexer, &s->token, "const")))
        return;
    if (!find_declarator(&l, &name, &mark))
        return;
    s->named_until = name.at;
    if (dvi_lex_mark(&mark, '(') && take_function(s, l, &name))
        return;
    for (;;) {
        struct dvi_spelling text = { .size = 0 };
        if (!take_initializer(&l, &mark, &text) || text.size == 0)
            return;
        dvi_scanner_constant(s, DVI_CONSTANT_VALUE, dvi_scanner_text(s, &l, &name),
                             dvi_scanner_spelled(s, &text), &name, false);
        if (s->status != DEVIMG_OK || !dvi_lex_mark(&mark, ','))
            return;
        dvi_lex(&l, &name);
        dvi_lex(&l, &mark);
        if (name.kind != DVI_LEX_NAME || mark.kind != DVI_LEX_PUNCTUATOR)
            return;
        if (!dvi_lex_mark(&mark, '=') && !dvi_lex_mark(&mark, '{') && !dvi_lex_mark(&mark, '('))
            return;
    }
}

/* ---- enumerations ---- */

/* Up to the '{'; the name is left in `*name`. */
static bool find_enum(struct dvi_lexer *l, struct dvi_lexeme *name, bool *scoped)
{
    struct dvi_lexeme t;
    bool in_type = false;
    name->kind = DVI_LEX_END;
    for (unsigned i = 0; i < MOST_SPECIFIERS; i++) {
        dvi_lex(l, &t);
        if (dvi_lex_mark(&t, '{'))
            return true;
        if (dvi_lex_mark(&t, ':'))
            in_type = true;
        else if (dvi_lex_is(l, &t, "class") || dvi_lex_is(l, &t, "struct"))
            *scoped = true;
        else if (t.kind == DVI_LEX_NAME && !in_type)
            *name = t;
        else if (dvi_lex_ends(&t) || dvi_lex_mark(&t, ';') || dvi_lex_mark(&t, ')') ||
                 dvi_lex_mark(&t, '='))
            return false;
    }
    return false;
}

static void add_enumerator(struct dvi_scanner *s, uint32_t around, bool scoped, const char *name,
                           const char *text, uint64_t plus, const struct dvi_lexeme *at)
{
    const uint32_t own = s->scope;
    const size_t first = s->out->constants.count;
    if (own != around)
        dvi_scanner_constant(s, DVI_CONSTANT_VALUE, name, text, at, false);
    if (!scoped) {
        s->scope = around;
        dvi_scanner_constant(s, DVI_CONSTANT_VALUE, name, text, at, false);
        s->scope = own;
    }
    for (size_t i = first; i < s->out->constants.count; i++)
        s->out->constants.items[i].plus = plus;
}

/* A value that is not given is one more than that before it. */
static void take_enumerators(struct dvi_scanner *s, struct dvi_lexer *l, uint32_t around,
                             bool scoped)
{
    const char *base = "0";
    uint64_t count = 0;
    for (;;) {
        struct dvi_lexeme name, mark;
        struct dvi_spelling text = { .size = 0 };
        dvi_lex(l, &name);
        dvi_lex(l, &mark);
        if (name.kind != DVI_LEX_NAME || mark.kind != DVI_LEX_PUNCTUATOR)
            return;
        if (dvi_lex_mark(&mark, '=')) {
            if (!take_expression(l, '}', &text, &mark))
                return;
            base = dvi_scanner_spelled(s, &text);
            count = 0;
        }
        if (s->status != DEVIMG_OK)
            return;
        add_enumerator(s, around, scoped, dvi_scanner_text(s, l, &name), base, count++, &name);
        if (!dvi_lex_mark(&mark, ','))
            return;
    }
}

void dvi_scan_enum(struct dvi_scanner *s)
{
    struct dvi_lexer l = s->lexer;
    struct dvi_lexeme name;
    bool scoped = false;
    const uint32_t around = s->scope, parens = s->parens;
    if (s->parens > 0 || dvi_lex_is(&s->lexer, &s->before, "using") ||
        !find_enum(&l, &name, &scoped))
        return;
    const char *own = name.kind == DVI_LEX_NAME ? dvi_scanner_text(s, &l, &name) : NULL;
    if (own != NULL) {
        const char *path = dvi_scanner_path(s, own);
        if (path != NULL)
            dvi_scanner_enter(s, DVI_SCOPE_NAMED, path, own);
    }
    if (s->status == DEVIMG_OK)
        take_enumerators(s, &l, around, scoped);
    s->scope = around;
    s->parens = parens;
    s->pending = (struct dvi_pending){ .named = true, .path = own != NULL ? own : "", .name = own };
}

/* ---- checks ---- */

void dvi_scan_assert(struct dvi_scanner *s)
{
    struct dvi_lexer l = s->lexer;
    struct dvi_lexeme mark;
    struct dvi_spelling text = { .size = 0 };
    dvi_lex(&l, &mark);
    if (!dvi_lex_mark(&mark, '(') || !take_expression(&l, ')', &text, &mark))
        return;
    while (dvi_lex_mark(&mark, ',')) { /* before the message, or between template arguments */
        struct dvi_lexer ahead = l;
        struct dvi_lexeme next;
        dvi_lex(&ahead, &next);
        if (next.kind == DVI_LEX_STRING)
            break;
        dvi_spell(&text, &l, &mark);
        if (!take_expression(&l, ')', &text, &mark))
            return;
    }
    const bool many = s->out->checks.count >= DVI_SOURCE_MOST_ITEMS;
    struct dvi_size_check *check = many ? NULL : DVI_ADD(&s->out->checks);
    if (check != NULL)
        *check = (struct dvi_size_check){ dvi_scanner_spelled(s, &text), dvi_scanner_keep(s),
                                          s->token.at, s->token.line, s->token.column };
    else
        dvi_scanner_fail(s, many ? DEVIMG_LIMIT : DEVIMG_NOMEM,
                         "too many static_asserts: the rest would not be seen");
}
