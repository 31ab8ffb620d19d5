/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a source, once: scopes, directives, and which names are looked into. */
#include "sycl/source_scan.h"

#include <stdlib.h>
#include <string.h>

#include "sycl/source_scanner.h"

/* ---- words ---- */

struct dvi_word_entry {
    uint32_t hash;
    const char *name;
    enum dvi_word_id id;
    const struct dvi_source_word *user;
};

static const struct {
    const char *name;
    enum dvi_word_id id;
} keywords[] = {
    { "template", DVI_WORD_TEMPLATE },
    { "class", DVI_WORD_CLASS },
    { "struct", DVI_WORD_CLASS },
    { "union", DVI_WORD_CLASS },
    { "enum", DVI_WORD_ENUM },
    { "namespace", DVI_WORD_NAMESPACE },
    { "using", DVI_WORD_USING },
    { "const", DVI_WORD_CONST },
    { "constexpr", DVI_WORD_CONST },
    { "static_assert", DVI_WORD_ASSERT },
    { "_Static_assert", DVI_WORD_ASSERT },
    { "requires", DVI_WORD_REQUIRES },
    { "__attribute__", DVI_WORD_GNU_ATTRIBUTE },
    { "__attribute", DVI_WORD_GNU_ATTRIBUTE },
    { "reqd_sub_group_size", DVI_WORD_REQD },
    { "intel_reqd_sub_group_size", DVI_WORD_REQD },
    { "__reqd_sub_group_size__", DVI_WORD_REQD },
    { "__intel_reqd_sub_group_size__", DVI_WORD_REQD },
    { "sub_group_size", DVI_WORD_SIZE },
    { "__sub_group_size__", DVI_WORD_SIZE },
    { "named_sub_group_size", DVI_WORD_NAMED_SIZE },
    { "sub_group_size_key", DVI_WORD_KEY },
};
enum { KEYWORD_COUNT = sizeof keywords / sizeof *keywords };

static enum dvi_word_id keyword_of(const char *name)
{
    for (size_t i = 0; i < KEYWORD_COUNT; i++)
        if (strcmp(keywords[i].name, name) == 0)
            return keywords[i].id;
    return DVI_WORD_NONE;
}

const char *dvi_word_name(enum dvi_word_id id)
{
    size_t i = 0;
    while (keywords[i].id != id)
        i++;
    return keywords[i].name;
}

static void add_entry(struct dvi_source_words *words, uint32_t *count,
                      const struct dvi_word_entry *entry)
{
    uint32_t slot = entry->hash & words->mask;
    for (; words->slots[slot] != 0; slot = (slot + 1) & words->mask)
        if (strcmp(words->entries[words->slots[slot] - 1].name, entry->name) == 0)
            return; /* the first of two counts */
    words->entries[(*count)++] = *entry;
    words->slots[slot] = *count;
}

enum devimg_status dvi_source_words_make(struct dvi_source_words *words, struct devimg_error *err)
{
    uint32_t size = 256, count = 0;
    while (size / 4 < words->count + KEYWORD_COUNT && size < UINT32_MAX / 2)
        size *= 2;
    words->slots = calloc(size, sizeof *words->slots);
    words->entries = calloc(words->count + KEYWORD_COUNT, sizeof *words->entries);
    words->mask = size - 1;
    if (words->slots == NULL || words->entries == NULL)
        return dvi_fail_memory(err, "lint");
    for (size_t i = 0; i < words->count; i++) {
        const char *name = words->items[i].name;
        const char *same_as = words->items[i].same_as;
        const struct dvi_word_entry e = { dvi_lex_hash(name, strlen(name)), name,
                                          same_as != NULL ? keyword_of(same_as) : DVI_WORD_USER,
                                          &words->items[i] };
        add_entry(words, &count, &e);
    }
    for (size_t i = 0; i < KEYWORD_COUNT; i++) {
        const char *name = keywords[i].name;
        const struct dvi_word_entry e = { dvi_lex_hash(name, strlen(name)), name, keywords[i].id,
                                          NULL };
        add_entry(words, &count, &e);
    }
    return DEVIMG_OK;
}

void dvi_source_words_free(struct dvi_source_words *words)
{
    free(words->slots);
    free(words->entries);
    words->slots = NULL;
    words->entries = NULL;
}

enum dvi_word_id dvi_word_of(const struct dvi_source_words *words, const struct dvi_lexer *lexer,
                             const struct dvi_lexeme *token, const struct dvi_source_word **user)
{
    for (uint32_t slot = token->hash & words->mask; words->slots[slot] != 0;
         slot = (slot + 1) & words->mask) {
        const struct dvi_word_entry *e = &words->entries[words->slots[slot] - 1];
        if (e->hash == token->hash && dvi_lex_is(lexer, token, e->name)) {
            *user = e->user;
            return e->id;
        }
    }
    return DVI_WORD_NONE;
}

bool dvi_source_words_find(const struct dvi_source_words *words, struct dvi_view name,
                           struct dvi_source_word *out)
{
    const uint32_t hash = dvi_lex_hash((const char *)name.data, name.size);
    for (uint32_t slot = hash & words->mask; words->slots[slot] != 0;
         slot = (slot + 1) & words->mask) {
        const struct dvi_word_entry *e = &words->entries[words->slots[slot] - 1];
        if (e->hash != hash || !dvi_equals(name, e->name))
            continue;
        const bool attribute = e->id >= DVI_WORD_REQD && e->id <= DVI_WORD_NAMED_SIZE;
        if (e->id == DVI_WORD_USER)
            *out = *e->user;
        else
            *out = (struct dvi_source_word){ .name = e->name, .argument = 1 };
        return attribute || (e->id == DVI_WORD_USER && !out->is_template);
    }
    return false;
}

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
    *scope = (struct dvi_scope){
        .parent = s->scope,
        .kind = kind,
        .path = path != NULL ? path : s->out->scopes.items[s->scope].path,
        .name = name,
        .parens = s->parens,
    };
    s->scope = (uint32_t)(s->out->scopes.count - 1);
    s->parens = 0;
}

/* Back to the scope around the one at hand, which is forgotten where nothing refers to it. */
static void leave_one(struct dvi_scanner *s)
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

bool dvi_scanner_next(struct dvi_scanner *s)
{
    dvi_lex(&s->lexer, &s->token);
    if (s->token.kind == DVI_LEX_NAME) {
        const uint32_t bit = s->token.hash % DVI_SOURCE_NAME_BITS;
        s->out->names[bit / 8] |= (uint8_t)(1U << bit % 8);
    }
    return s->token.kind != DVI_LEX_END && s->status == DEVIMG_OK;
}

static void remember(struct dvi_scanner *s)
{
    s->before_that = s->before;
    s->before = s->token;
}

static void forget(struct dvi_scanner *s)
{
    s->before = s->before_that = (struct dvi_lexeme){ .kind = DVI_LEX_END };
}

/* ---- braces and what ends ---- */

/* Templates end with what they declare. */
static void leave_templates(struct dvi_scanner *s)
{
    while (s->out->scopes.items[s->scope].kind == DVI_SCOPE_TEMPLATE)
        leave_one(s);
}

static void open_brace(struct dvi_scanner *s)
{
    const bool named = s->pending.named;
    const char *path = s->pending.path;
    if (named && path != NULL && *path == 0)
        path = NULL; /* no name of its own */
    else if (named && path != NULL && *s->out->scopes.items[s->scope].path != 0)
        path =
            dvi_arena_format(&s->out->arena, "%s::%s", s->out->scopes.items[s->scope].path, path);
    if (named && path == NULL && s->pending.path != NULL && *s->pending.path != 0)
        dvi_scanner_fail(s, DEVIMG_NOMEM, "");
    dvi_scanner_enter(s, named ? DVI_SCOPE_NAMED : DVI_SCOPE_BLOCK, path,
                      named ? s->pending.name : NULL);
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
    leave_one(s);
    const struct dvi_scope *around = &scopes[s->scope];
    s->pending = (struct dvi_pending){ .named = false };
    if (around->kind != DVI_SCOPE_TEMPLATE || s->parens > 0)
        return;
    if (around->is_lambda) {
        leave_one(s);
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
        s->parens++;
        break;
    case ')': close_paren(s); break;
    case '[': open_bracket(s); break;
    case ']': close_bracket(s); break;
    case ';': end_statement(s); break;
    case '<':
        if (after_lambda)
            dvi_scan_lambda_params(s);
        break;
    default: break;
    }
}

/* ---- names ---- */

static void take_name(struct dvi_scanner *s)
{
    const struct dvi_source_word *user = NULL;
    const enum dvi_word_id id = dvi_word_of(s->words, &s->lexer, &s->token, &user);
    const bool in_macro = dvi_scanner_in_macro(s);
    s->after_lambda = false;
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

/* ---- directives ---- */

static void skip_line(struct dvi_scanner *s)
{
    while (s->token.kind != DVI_LEX_LINE_END && dvi_scanner_next(s))
        ;
}

static bool is_dead(const struct dvi_scanner *s)
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
    const bool outer_dead = is_dead(s);
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
    const char **params = dvi_arena_array(&s->out->arena, count + 1, sizeof *params);
    if (params == NULL || s->status != DEVIMG_OK) {
        dvi_scanner_fail(s, DEVIMG_NOMEM, "");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        params[i] = names[i];
    scope->params = params;
    scope->param_count = count;
}

/* What an object-like macro stands for, where it is short enough for a size. */
static void take_body(struct dvi_scanner *s, const char *name, const struct dvi_lexeme *at)
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
        dvi_scanner_constant(s, DVI_CONSTANT_MACRO, name, text, at, true);
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
    const bool is_function =
        s->lexer.at < s->lexer.source.size && s->lexer.source.data[s->lexer.at] == '(';
    dvi_scanner_enter(s, DVI_SCOPE_MACRO, NULL, name);
    if (s->status != DEVIMG_OK)
        return;
    forget(s);
    if (is_function)
        macro_params(s, &s->out->scopes.items[s->scope]);
    else
        take_body(s, name, &at);
    forget(s);
    s->attribute = 0;
    s->in_gnu = false;
    while (s->token.kind != DVI_LEX_LINE_END && dvi_scanner_next(s)) {
        if (s->token.kind == DVI_LEX_NAME)
            take_name(s);
        else if (dvi_lex_mark(&s->token, DVI_LEX_PASTE))
            dvi_scan_paste(s);
        remember(s);
    }
    while (s->scope != scope && s->status == DEVIMG_OK)
        leave_one(s);
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
    for (size_t i = s->out->constants.count; i > 0; i--) {
        struct dvi_constant *c = &s->out->constants.items[i - 1];
        if (c->kind != DVI_CONSTANT_MACRO || c->hash != s->token.hash || !dvi_equals(name, c->name))
            continue;
        if (c->end != SIZE_MAX)
            break;
        c->end = s->token.at;
    }
}

static void take_directive(struct dvi_scanner *s)
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
    else if (is_dead(s))
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

/* ---- the whole ---- */

static void scan(struct dvi_scanner *s)
{
    while (dvi_scanner_next(s)) {
        if (s->token.kind == DVI_LEX_DIRECTIVE) {
            take_directive(s);
            continue;
        }
        if (is_dead(s))
            continue;
        follow_requires(s);
        if (s->token.kind == DVI_LEX_NAME)
            take_name(s);
        else if (s->token.kind == DVI_LEX_PUNCTUATOR)
            take_punctuator(s);
        remember(s);
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
    for (; scope != 0; scope = source->scopes.items[scope].parent)
        if (source->scopes.items[scope].kind == DVI_SCOPE_MACRO)
            return &source->scopes.items[scope];
    return NULL;
}
