/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a source requires a sub-group size: attributes, the property of kernels, macros and
 * templates that the policy names or that were seen to hold one of those. Sources: SYCL 2020 (rev.
 * 9) 5.8.1, cl_intel_required_subgroup_size, sycl_ext_oneapi_kernel_properties and
 * sycl_ext_oneapi_named_sub_group_sizes of intel/llvm.
 */
#include <string.h>

#include "sycl/source_scanner.h"

enum { MOST_TOKENS = 4096, MOST_ARGUMENT = 64 };

static bool ends(const struct dvi_lexeme *t)
{
    return t->kind == DVI_LEX_END || t->kind == DVI_LEX_LINE_END || t->kind == DVI_LEX_DIRECTIVE;
}

/* ---- arguments ---- */

/* The argument `wanted` (from 1) of a list; all of them, with commas, for 0. */
struct argument {
    uint32_t wanted;
    uint32_t count; /* arguments of the list */
    struct dvi_spelling text;
    struct dvi_lexeme first; /* token of it */
};

static void take_token(struct argument *a, const struct dvi_lexer *l, const struct dvi_lexeme *t)
{
    if (a->count == 0)
        a->count = 1;
    if (a->wanted != 0 && a->count != a->wanted)
        return;
    if (a->text.size == 0)
        a->first = *t;
    dvi_spell(&a->text, l, t);
}

/* Between parentheses, as the preprocessor and attributes separate them. `l` is behind the '('. */
static bool in_parens(struct dvi_lexer *l, struct argument *a)
{
    unsigned depth = 0;
    for (unsigned i = 0; i < MOST_TOKENS; i++) {
        struct dvi_lexeme t;
        dvi_lex(l, &t);
        if (ends(&t))
            return false;
        if (depth == 0 && dvi_lex_mark(&t, ')'))
            return true;
        if (depth == 0 && dvi_lex_mark(&t, ',') && a->wanted != 0) {
            a->count += a->count == 0 ? 2 : 1;
            continue;
        }
        depth += dvi_lex_mark(&t, '(');
        depth -= dvi_lex_mark(&t, ')');
        take_token(a, l, &t);
    }
    return false;
}

/* Between '<' and '>'. `l` is behind the '<'. False: it is no such list, but a comparison. */
static bool in_angles(struct dvi_lexer *l, struct argument *a)
{
    unsigned depth = 0, angles = 0;
    struct dvi_lexeme t, before = { .kind = DVI_LEX_END };
    for (unsigned i = 0; i < MOST_TOKENS; i++, before = t) {
        dvi_lex(l, &t);
        if (ends(&t) || dvi_lex_mark(&t, ';'))
            return false;
        if (depth == 0 && dvi_lex_mark(&t, '>')) {
            if (angles == 0)
                return true;
            angles--;
        } else if (depth == 0 && dvi_lex_mark(&t, '<') && before.kind == DVI_LEX_NAME) {
            angles++;
        } else if (depth == 0 && angles == 0 && dvi_lex_mark(&t, ',') && a->wanted != 0) {
            a->count += a->count == 0 ? 2 : 1;
            continue;
        } else if (dvi_lex_mark(&t, '(') || dvi_lex_mark(&t, '{') || dvi_lex_mark(&t, '[')) {
            depth++;
        } else if (dvi_lex_mark(&t, ')') || dvi_lex_mark(&t, '}') || dvi_lex_mark(&t, ']')) {
            if (depth == 0)
                return false;
            depth--;
        }
        take_token(a, l, &t);
    }
    return false;
}

static bool next_is(struct dvi_lexer *l, int punctuator)
{
    struct dvi_lexeme next;
    dvi_lex(l, &next);
    return dvi_lex_mark(&next, punctuator);
}

/* ---- requests ---- */

static void add(struct dvi_scanner *s, enum dvi_size_form form, const char *name,
                const struct argument *a, const struct dvi_lexeme *at, bool no_size)
{
    const bool many = s->out->requests.count >= DVI_SOURCE_MOST_ITEMS;
    const bool there = a->text.size > 0;
    const char *text = there ? dvi_spelled(&a->text, &s->out->arena) : NULL;
    const char *own = dvi_arena_copy(&s->out->arena, name);
    struct dvi_size_request *r = many ? NULL : DVI_ADD(&s->out->requests);
    if (r == NULL || own == NULL || (there && text == NULL)) {
        dvi_scanner_fail(s, many ? DEVIMG_LIMIT : DEVIMG_NOMEM, "more than 500000 requests");
        return;
    }
    *r = (struct dvi_size_request){
        .form = form,
        .name = own,
        .text = text,
        .argument = a->wanted,
        .scope = dvi_scanner_keep(s),
        .no_size = no_size,
        .offset = at->at,
        .line = at->line,
        .column = at->column,
    };
}

/* Is the name at hand one of an attribute? What is defined as a macro may become one. */
static bool is_attribute(const struct dvi_scanner *s)
{
    if (s->attribute > 0 || (s->in_gnu && s->parens > s->gnu_parens) || dvi_scanner_in_macro(s))
        return true;
    return dvi_lex_mark(&s->before, DVI_LEX_SCOPE) &&
           (dvi_lex_is(&s->lexer, &s->before_that, "sycl") ||
            dvi_lex_is(&s->lexer, &s->before_that, "intel") ||
            dvi_lex_is(&s->lexer, &s->before_that, "cl"));
}

static bool is_member(const struct dvi_scanner *s)
{
    return dvi_lex_mark(&s->before, '.') || dvi_lex_mark(&s->before, DVI_LEX_ARROW);
}

/* "automatic" and "primary" leave the size to the compiler. */
static bool leaves_size(const struct argument *a)
{
    static const char *const words[] = { "automatic", "primary" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (a->text.size == strlen(words[i]) && memcmp(a->text.bytes, words[i], a->text.size) == 0)
            return true;
    return false;
}

/* NAME(N). False: no parenthesis follows. */
static bool attribute(struct dvi_scanner *s, const char *name)
{
    struct dvi_lexer l = s->lexer;
    struct argument a = { .wanted = 1 };
    if (!is_attribute(s) || is_member(s) || !next_is(&l, '(') || !in_parens(&l, &a))
        return false;
    const bool no_size = leaves_size(&a);
    add(s, DVI_FORM_ATTRIBUTE, name, &a, a.text.size > 0 ? &a.first : &s->token, no_size);
    return true;
}

/* True where a template with these arguments may end: what follows the '>' of a comparison is an
 * operand. */
static bool ends_value(const struct dvi_lexer *behind)
{
    struct dvi_lexer l = *behind;
    struct dvi_lexeme next;
    dvi_lex(&l, &next);
    if (next.kind == DVI_LEX_PUNCTUATOR)
        return next.punctuator < 128 && strchr("},);>]:", next.punctuator) != NULL;
    return ends(&next);
}

static bool is_type(const struct dvi_scanner *s, const struct argument *a)
{
    static const char *const words[] = {
        "typename", "float", "double", "int",  "unsigned", "bool",
        "char",     "long",  "short",  "void", "const",    "auto"
    };
    for (size_t i = 0; a->text.size > 0 && i < sizeof words / sizeof *words; i++) {
        const size_t size = strlen(words[i]);
        if (dvi_lex_is(&s->lexer, &a->first, words[i]) &&
            (a->text.size == size ||
             (a->text.bytes[size] == ' ' && a->text.bytes[size + 1] != '(' &&
              a->text.bytes[size + 1] != '{')))
            return true;
    }
    return false;
}

/* sub_group_size<N>, of any namespace or none. */
static void property(struct dvi_scanner *s)
{
    struct dvi_lexer l = s->lexer;
    struct argument a = { .wanted = 1 };
    if (is_member(s) || !next_is(&l, '<') || !in_angles(&l, &a) || !ends_value(&l))
        return;
    if (a.text.size == 0 || a.count > 1 || is_type(s, &a))
        return;
    add(s, DVI_FORM_PROPERTY, "sub_group_size", &a, &a.first, false);
}

/* sub_group_size_key::value_t<N>: the type of the property. */
static void key(struct dvi_scanner *s)
{
    struct dvi_lexer l = s->lexer;
    struct dvi_lexeme word;
    struct argument a = { .wanted = 1 };
    if (!next_is(&l, DVI_LEX_SCOPE))
        return;
    dvi_lex(&l, &word);
    if (!dvi_lex_is(&l, &word, "value_t") || !next_is(&l, '<') || !in_angles(&l, &a) ||
        a.text.size == 0)
        return;
    add(s, DVI_FORM_PROPERTY, "sub_group_size_key::value_t", &a, &a.first, false);
}

/* ---- macros and templates ---- */

static void user_template(struct dvi_scanner *s, const struct dvi_source_word *word)
{
    struct dvi_lexer l = s->lexer;
    struct argument a = { .wanted = word->argument };
    if (next_is(&l, '<') && in_angles(&l, &a))
        add(s, DVI_FORM_TEMPLATE, word->name, &a, a.text.size > 0 ? &a.first : &s->token, false);
}

static void user_macro(struct dvi_scanner *s, const struct dvi_source_word *word)
{
    struct dvi_lexer l = s->lexer;
    struct argument a = { .wanted = word->argument };
    if (next_is(&l, '(') && in_parens(&l, &a))
        add(s, DVI_FORM_MACRO, word->name, &a, a.text.size > 0 ? &a.first : &s->token, false);
}

void dvi_scan_size(struct dvi_scanner *s, enum dvi_word_id id, const struct dvi_source_word *user)
{
    char room[DVI_LEX_ROOM];
    const struct dvi_view name = dvi_lex_text(&s->lexer, &s->token, room);
    switch (id) {
    case DVI_WORD_REQD:
        (void)attribute(s, dvi_ends_with(name, "__") ? "__intel_reqd_sub_group_size__"
                           : name.data[0] == 'i'     ? "intel_reqd_sub_group_size"
                                                     : "reqd_sub_group_size");
        break;
    case DVI_WORD_NAMED_SIZE: (void)attribute(s, "named_sub_group_size"); break;
    case DVI_WORD_SIZE:
        if (!attribute(s, "sub_group_size"))
            property(s);
        break;
    case DVI_WORD_KEY: key(s); break;
    case DVI_WORD_USER:
        if (user->is_template)
            user_template(s, user);
        else
            user_macro(s, user);
        break;
    default: break;
    }
}
