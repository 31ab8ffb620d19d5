/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a source, once: its scopes, and what is looked into on the way. */
#include "sycl/source_scan.h"

#include <stdlib.h>
#include <string.h>

#include "sycl/source_scanner.h"

/* ---- the scanner ---- */

void dvi_scanner_fail(struct dvi_scanner *s, enum devimg_status status, const char *what)
{
    if (s->status != DEVIMG_OK)
        return;
    s->status = status;
    if (status == DEVIMG_NOMEM)
        (void)dvi_fail_memory(s->err, s->lexer.source.source);
    else
        (void)dvi_fail(s->err, status, s->lexer.source, s->token.at, "%s", what);
}

uint32_t dvi_scanner_keep(struct dvi_scanner *s)
{
    if (s->scope > s->kept)
        s->kept = s->scope;
    return s->scope;
}

void dvi_scanner_enter(struct dvi_scanner *s, enum dvi_scope_kind kind, const char *path,
                       const char *name)
{
    struct dvi_scope *scope =
        s->out->scopes.count < DVI_SOURCE_MOST_ITEMS ? DVI_ADD(&s->out->scopes) : NULL;
    if (scope == NULL) {
        const bool many = s->out->scopes.count >= DVI_SOURCE_MOST_ITEMS;
        dvi_scanner_fail(s, many ? DEVIMG_LIMIT : DEVIMG_NOMEM, "more than 500000 open scopes");
        return;
    }
    const struct dvi_scope *around = &s->out->scopes.items[s->scope];
    const uint32_t own = (uint32_t)(s->out->scopes.count - 1);
    *scope = (struct dvi_scope){
        .parent = s->scope,
        .kind = kind,
        .path = path != NULL ? path : around->path,
        .name = name,
        .parens = s->parens,
        .depth = own != 0 ? around->depth + 1 : 0,
        .macro = kind == DVI_SCOPE_MACRO ? own : around->macro,
    };
    s->scope = own;
    s->parens = 0;
    if (scope->depth > DVI_SOURCE_MOST_DEPTH)
        dvi_scanner_fail(s, DEVIMG_LIMIT, "more than 5000 braces and templates inside each other");
}

const char *dvi_scanner_path(struct dvi_scanner *s, const char *name)
{
    const char *around = s->out->scopes.items[s->scope].path;
    if (*around == 0)
        return name;
    s->path_bytes += strlen(around) + strlen(name);
    if (s->path_bytes > DVI_SOURCE_MOST_PATH_BYTES) {
        dvi_scanner_fail(s, DEVIMG_LIMIT,
                         "names of namespaces and classes inside each other take more than 64 MiB");
        return NULL;
    }
    const char *path = dvi_arena_format(&s->out->arena, "%s::%s", around, name);
    if (path == NULL)
        dvi_scanner_fail(s, DEVIMG_NOMEM, "");
    return path;
}

void dvi_scanner_leave(struct dvi_scanner *s)
{
    const uint32_t left = s->scope;
    s->parens = s->out->scopes.items[left].parens;
    s->scope = s->out->scopes.items[left].parent;
    if (left > s->kept && left == s->out->scopes.count - 1)
        s->out->scopes.count--;
}

bool dvi_scanner_in_macro(const struct dvi_scanner *s)
{
    return s->lexer.in_directive;
}

void dvi_scanner_saw(struct dvi_scanner *s, const struct dvi_source_word *word)
{
    const size_t at = word != NULL ? (size_t)(word - s->words->items) : DVI_SOURCE_MOST_WORDS;
    if (at < DVI_SOURCE_MOST_WORDS)
        s->out->words[at / 8] |= (uint8_t)(1U << at % 8);
}

bool dvi_scanner_next(struct dvi_scanner *s)
{
    dvi_lex(&s->lexer, &s->token);
    if (s->token.kind == DVI_LEX_NAME) {
        const uint32_t bit = s->token.hash % DVI_SOURCE_NAME_BITS;
        s->out->names[bit / 8] |= (uint8_t)(1U << bit % 8);
    }
    return s->token.kind != DVI_LEX_END && s->status == DEVIMG_OK;
}

void dvi_scanner_remember(struct dvi_scanner *s)
{
    s->before_that = s->before;
    s->before = s->token;
}

void dvi_scanner_forget(struct dvi_scanner *s)
{
    s->before = s->before_that = (struct dvi_lexeme){ .kind = DVI_LEX_END };
}

/* ---- braces and what ends ---- */

/* Templates end with what they declare. */
static void leave_templates(struct dvi_scanner *s)
{
    while (s->out->scopes.items[s->scope].kind == DVI_SCOPE_TEMPLATE)
        dvi_scanner_leave(s);
}

static void open_brace(struct dvi_scanner *s)
{
    const bool named = s->pending.named;
    const char *path = s->pending.path;
    if (!named)
        path = s->pending.member_of != NULL ? dvi_scanner_path(s, s->pending.member_of) : NULL;
    else if (path != NULL)
        path = *path != 0 ? dvi_scanner_path(s, path) : NULL; /* NULL: no name of its own */
    const struct dvi_pending pending = s->pending;
    dvi_scanner_enter(s, named ? DVI_SCOPE_NAMED : DVI_SCOPE_BLOCK, path,
                      named ? pending.name : NULL);
    if (s->status == DEVIMG_OK)
        s->out->scopes.items[s->scope].is_member = pending.member_of != NULL;
    if (s->status == DEVIMG_OK && named) {
        s->out->scopes.items[s->scope].arguments = pending.arguments;
        s->out->scopes.items[s->scope].class_at = pending.class_at;
    }
    s->pending = (struct dvi_pending){ .named = false };
    s->attribute = 0;
    s->in_gnu = false;
}

/* Does what was declared go on behind the brace that closed: "a_{a}, b_{b} {"? */
static bool goes_on(const struct dvi_scanner *s)
{
    struct dvi_lexer ahead = s->lexer;
    struct dvi_lexeme next;
    dvi_lex(&ahead, &next);
    if (next.kind != DVI_LEX_PUNCTUATOR)
        return false;
    switch (next.punctuator) {
    case ',':
    case '{':
    case ')':
    case '(':
    case '.':
    case DVI_LEX_ARROW:
    case DVI_LEX_AND:
    case DVI_LEX_OR:
    case DVI_LEX_EQUAL: return true;
    default: return false;
    }
}

static void close_brace(struct dvi_scanner *s)
{
    const struct dvi_scope *scopes = s->out->scopes.items;
    leave_templates(s); /* of a declaration that has no end */
    if (s->scope == 0 || scopes[s->scope].kind == DVI_SCOPE_MACRO)
        return;
    dvi_scanner_leave(s);
    const struct dvi_scope *around = &scopes[s->scope];
    s->pending = (struct dvi_pending){ .named = false };
    if (around->kind != DVI_SCOPE_TEMPLATE || s->parens > 0)
        return;
    if (around->is_lambda) {
        dvi_scanner_leave(s);
    } else if (s->requirement == DVI_REQUIRES_BRACES) {
        s->requirement = DVI_NO_REQUIRES;
    } else if (!goes_on(s)) {
        leave_templates(s);
    }
}

/* ---- punctuators ---- */

/* True where '[' behind this token starts a lambda, not a subscript. */
static bool lambda_may_follow(const struct dvi_scanner *s)
{
    static const char *const words[] = { "return", "co_return", "co_yield", "throw", "else", "do" };
    if (s->before.kind == DVI_LEX_PUNCTUATOR)
        return s->before.punctuator != ')' && s->before.punctuator != ']' &&
               s->before.punctuator != '>';
    if (s->before.kind == DVI_LEX_NAME)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (dvi_lex_is(&s->lexer, &s->before, words[i]))
                return true;
    return s->before.kind == DVI_LEX_END;
}

static void open_bracket(struct dvi_scanner *s)
{
    struct dvi_lexer ahead = s->lexer;
    struct dvi_lexeme next;
    if (s->attribute > 0) {
        s->attribute++;
        return;
    }
    dvi_lex(&ahead, &next);
    if (dvi_lex_mark(&next, '[')) {
        s->attribute = 1;
        return;
    }
    s->brackets++;
    s->lambdas = s->lambdas << 1 | (lambda_may_follow(s) ? 1U : 0U);
}

static void close_bracket(struct dvi_scanner *s)
{
    if (s->attribute > 0) {
        s->attribute--;
    } else if (s->brackets > 0) {
        s->brackets--;
        s->after_lambda = (s->lambdas & 1) != 0;
        s->lambdas >>= 1;
    }
}

/* "void f(": the name of a function template. */
static void name_template(struct dvi_scanner *s)
{
    struct dvi_scope *scope = &s->out->scopes.items[s->scope];
    if (scope->kind == DVI_SCOPE_TEMPLATE && scope->name == NULL && s->parens == 0 &&
        s->before.kind == DVI_LEX_NAME && !s->in_gnu && s->attribute == 0 &&
        !dvi_lex_is(&s->lexer, &s->before, "requires"))
        scope->name = dvi_scanner_text(s, &s->lexer, &s->before);
}

/* "void a::K::f(": what stands in the body is looked for in a::K first. */
static void name_member(struct dvi_scanner *s)
{
    const enum dvi_scope_kind kind = s->out->scopes.items[s->scope].kind;
    struct dvi_spelling owner = { .size = 0 };
    struct dvi_lexer l = s->lexer;
    struct dvi_lexeme t;
    if (s->parens > 0 || (kind != DVI_SCOPE_NAMED && kind != DVI_SCOPE_TEMPLATE) ||
        s->before.kind != DVI_LEX_NAME || !dvi_lex_mark(&s->before_that, DVI_LEX_SCOPE) ||
        s->path_start.kind != DVI_LEX_NAME || dvi_scanner_in_macro(s))
        return;
    l.at = s->path_start.at;
    for (dvi_lex(&l, &t); t.at < s->before_that.at; dvi_lex(&l, &t))
        dvi_spell(&owner, &l, &t);
    if (owner.size > 0 && !owner.cut)
        s->pending.member_of = dvi_scanner_spelled(s, &owner);
}

static void close_paren(struct dvi_scanner *s)
{
    if (s->parens > 0)
        s->parens--;
    if (s->in_gnu && s->parens <= s->gnu_parens)
        s->in_gnu = false;
    if (s->requirement == DVI_REQUIRES_PARENS && s->parens == s->requires_parens)
        s->requirement = DVI_REQUIRES;
}

static void end_statement(struct dvi_scanner *s)
{
    s->attribute = 0;
    s->in_gnu = false;
    if (s->parens > 0)
        return;
    s->brackets = 0;
    s->pending = (struct dvi_pending){ .named = false };
    leave_templates(s);
}

/* Does "requires" behind this start an expression? Else it is a clause, and '{' opens a body. */
static bool requires_expression(const struct dvi_scanner *s)
{
    if (s->before.kind == DVI_LEX_NAME)
        return dvi_lex_is(&s->lexer, &s->before, "requires") ||
               dvi_lex_is(&s->lexer, &s->before, "return");
    switch (s->before.kind == DVI_LEX_PUNCTUATOR ? s->before.punctuator : 0) {
    case '=':
    case '(':
    case '{':
    case '!':
    case ',':
    case '?':
    case ':':
    case DVI_LEX_AND:
    case DVI_LEX_OR: return true;
    default: return false;
    }
}

/* "requires {" and "requires (...) {" are expressions, whose braces end no declaration. */
static void follow_requires(struct dvi_scanner *s)
{
    if (s->requirement != DVI_REQUIRES)
        return;
    if (dvi_lex_mark(&s->token, '(') && dvi_lex_is(&s->lexer, &s->before, "requires")) {
        s->requirement = DVI_REQUIRES_PARENS;
        s->requires_parens = s->parens;
    } else {
        s->requirement = dvi_lex_mark(&s->token, '{') ? DVI_REQUIRES_BRACES : DVI_NO_REQUIRES;
    }
}

static void take_punctuator(struct dvi_scanner *s)
{
    const bool after_lambda = s->after_lambda;
    s->after_lambda = false;
    switch (s->token.punctuator) {
    case '{': open_brace(s); break;
    case '}': close_brace(s); break;
    case '(':
        name_template(s);
        name_member(s);
        s->parens++;
        break;
    case ')': close_paren(s); break;
    case '[': open_bracket(s); break;
    case ']': close_bracket(s); break;
    case ';': end_statement(s); break;
    case DVI_LEX_SCOPE: /* behind the '>' of arguments: what is named there is not followed */
        if (!dvi_lex_mark(&s->before_that, DVI_LEX_SCOPE) || s->before.kind != DVI_LEX_NAME)
            s->path_start = s->before;
        break;
    case '<':
        if (after_lambda)
            dvi_scan_lambda_params(s);
        break;
    default: break;
    }
}

/* ---- names ---- */

void dvi_scan_name(struct dvi_scanner *s)
{
    const struct dvi_source_word *user = NULL;
    const enum dvi_word_id id = dvi_word_of(s->words, &s->lexer, &s->token, &user);
    const bool in_macro = dvi_scanner_in_macro(s);
    s->after_lambda = false;
    dvi_scanner_saw(s, user);
    if (in_macro && dvi_scan_call(s))
        return;
    switch (id) {
    case DVI_WORD_NONE: break;
    case DVI_WORD_TEMPLATE: dvi_scan_template(s); break;
    case DVI_WORD_CLASS:
        if (!in_macro)
            dvi_scan_class(s);
        break;
    case DVI_WORD_ENUM:
        if (!in_macro)
            dvi_scan_enum(s);
        break;
    case DVI_WORD_NAMESPACE:
        if (!in_macro)
            dvi_scan_namespace(s);
        break;
    case DVI_WORD_USING:
        if (!in_macro)
            dvi_scan_using(s);
        break;
    case DVI_WORD_CONST: dvi_scan_const(s); break;
    case DVI_WORD_ASSERT: dvi_scan_assert(s); break;
    case DVI_WORD_REQUIRES:
        s->requirement = requires_expression(s) ? DVI_REQUIRES : DVI_NO_REQUIRES;
        break;
    case DVI_WORD_GNU_ATTRIBUTE:
        s->in_gnu = true;
        s->gnu_parens = s->parens;
        break;
    default: dvi_scan_size(s, id, user); break;
    }
}

/* ---- the whole ---- */

static void scan(struct dvi_scanner *s)
{
    while (dvi_scanner_next(s)) {
        if (s->token.kind == DVI_LEX_DIRECTIVE) {
            dvi_scan_directive(s);
            continue;
        }
        if (dvi_scanner_is_dead(s))
            continue;
        follow_requires(s);
        if (s->token.kind == DVI_LEX_NAME)
            dvi_scan_name(s);
        else if (s->token.kind == DVI_LEX_PUNCTUATOR)
            take_punctuator(s);
        dvi_scanner_remember(s);
    }
    s->out->open = s->lexer.open;
    s->out->opened = s->lexer.opened;
}

/* What a compiler would read with other eyes: devimg must not call it clean. */
static enum devimg_status check_text(struct dvi_view text, struct devimg_error *err)
{
    if (text.size > DVI_SOURCE_MOST_BYTES)
        return dvi_fail(err, DEVIMG_LIMIT, text, 0, "%zu bytes: at most 256 MiB are read",
                        text.size);
    if (dvi_starts_with(text, "\xff\xfe", 2) || dvi_starts_with(text, "\xfe\xff", 2))
        return dvi_fail(err, DEVIMG_UNSUPPORTED, text, 0,
                        "UTF-16 or UTF-32 text: only UTF-8 and its like are read");
    const uint8_t *nul = text.size > 0 ? memchr(text.data, 0, text.size) : NULL;
    if (nul != NULL)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, text, (uint64_t)(nul - text.data),
                        "a NUL: no source text");
    const uint8_t *cr = text.size > 0 ? memchr(text.data, '\r', text.size) : NULL;
    if (cr != NULL && memchr(text.data, '\n', text.size) == NULL && cr + 1 < text.data + text.size)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, text, (uint64_t)(cr - text.data),
                        "lines that end in CR alone: compilers disagree on them");
    return DEVIMG_OK;
}

enum devimg_status dvi_source_scan(struct dvi_view text, const struct dvi_source_words *words,
                                   struct dvi_source *out, struct devimg_error *err)
{
    struct dvi_scanner s = {
        .lexer = dvi_lexer_of(text), .words = words, .out = out, .err = err, .status = DEVIMG_OK
    };
    DVI_TRY(check_text(text, err));
    dvi_scanner_enter(&s, DVI_SCOPE_NAMED, "", NULL);
    if (s.status == DEVIMG_OK)
        scan(&s);
    DVI_LIST_FREE(&s.conditionals);
    free(s.macros);
    return s.status;
}

void dvi_source_free(struct dvi_source *source)
{
    DVI_LIST_FREE(&source->scopes);
    DVI_LIST_FREE(&source->constants);
    DVI_LIST_FREE(&source->requests);
    DVI_LIST_FREE(&source->checks);
    DVI_LIST_FREE(&source->aliases);
    DVI_LIST_FREE(&source->includes);
    dvi_arena_free(&source->arena);
}

bool dvi_source_may_name(const struct dvi_source *source, const char *name)
{
    const uint32_t bit = dvi_lex_hash(name, strlen(name)) % DVI_SOURCE_NAME_BITS;
    return (source->names[bit / 8] >> bit % 8 & 1) != 0;
}

bool dvi_source_is_param(const struct dvi_source *source, uint32_t scope, const char *name,
                         enum dvi_scope_kind of)
{
    for (;; scope = source->scopes.items[scope].parent) {
        const struct dvi_scope *s = &source->scopes.items[scope];
        for (uint32_t i = 0; s->kind == of && i < s->param_count; i++)
            if (strcmp(s->params[i], name) == 0)
                return true;
        if (scope == 0)
            return false;
    }
}

const struct dvi_scope *dvi_source_macro(const struct dvi_source *source, uint32_t scope)
{
    const uint32_t macro = source->scopes.items[scope].macro;
    return macro != 0 ? &source->scopes.items[macro] : NULL;
}
