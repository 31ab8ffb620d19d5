/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a source requires a sub-group size: attributes, the property of kernels, macros and
 * templates that the policy names or that were seen to hold one of those. Sources: SYCL 2020 (rev.
 * 9) 5.8.1, cl_intel_required_subgroup_size, sycl_ext_oneapi_kernel_properties and
 * sycl_ext_oneapi_named_sub_group_sizes of intel/llvm.
 */
#include <string.h>

#include "sycl/source_scanner.h"

enum { MOST_TOKENS = 4096, MOST_ANGLES = 200, MOST_KEPT = 700 };

/* ---- arguments ---- */

/* The argument `wanted` (from 1) of a list; all of them, with commas, for 0. */
struct argument {
    uint32_t wanted;
    uint32_t count; /* arguments of the list */
    struct dvi_spelling text;
    struct dvi_lexeme first; /* token of it */
    bool cut;                /* it goes on where it is not followed */
    size_t end;              /* behind the list */
};

static void take_token(struct argument *a, const struct dvi_lexer *l, const struct dvi_lexeme *t)
{
    if (a->count == 0)
        a->count = 1;
    if (a->wanted != 0 && a->count != a->wanted)
        return;
    if (a->text.size == 0)
        a->first = *t;
    if (a->wanted == 0 && (t->kind == DVI_LEX_STRING || t->kind == DVI_LEX_CHARACTER))
        dvi_spell_text(&a->text, "\"\""); /* what is in it separates nothing */
    else if (a->wanted != 0 || a->text.size < MOST_KEPT)
        dvi_spell(&a->text, l, t);
    else
        a->cut = true;
}

/* The list has no end that is seen: what is complete of it counts. */
static void cut_list(struct argument *a)
{
    a->cut = a->wanted == 0 || a->count <= a->wanted;
}

/* All arguments of a list: the last one kept is none when it goes on. */
static void end_list(struct argument *a, const struct dvi_lexer *l)
{
    a->end = l->at;
    if (a->wanted == 0 && a->cut) {
        dvi_spell_text(&a->text, "#");
        a->cut = false;
    }
}

/* Between parentheses, as the preprocessor and attributes separate them. `l` is behind the '('. */
static void in_parens(struct dvi_lexer *l, struct argument *a)
{
    unsigned depth = 0;
    for (unsigned i = 0;; i++) {
        struct dvi_lexeme t;
        dvi_lex(l, &t);
        const bool cut = dvi_lex_ends(&t) || i == MOST_TOKENS;
        if (cut)
            cut_list(a);
        if (cut || (depth == 0 && dvi_lex_mark(&t, ')'))) {
            end_list(a, l);
            return;
        }
        if (depth == 0 && dvi_lex_mark(&t, ',') && a->wanted != 0) {
            a->count += a->count == 0 ? 2 : 1;
            continue;
        }
        depth += dvi_lex_mark(&t, '(');
        depth -= dvi_lex_mark(&t, ')');
        take_token(a, l, &t);
    }
}

/* Between '<' and '>'. `l` is behind the '<'. False: it is no such list, but a comparison. */
static bool in_angles(struct dvi_lexer *l, struct argument *a)
{
    unsigned depth = 0, angles = 0;
    struct dvi_lexeme t, before = { .kind = DVI_LEX_END };
    for (unsigned i = 0; i < MOST_TOKENS; i++, before = t) {
        dvi_lex(l, &t);
        if (t.kind == DVI_LEX_DIRECTIVE) {
            cut_list(a);
            return true;
        }
        if (dvi_lex_ends(&t) || dvi_lex_mark(&t, ';') || angles > MOST_ANGLES)
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
        .cut = a->cut,
        .offset = at->at,
        .end = a->end,
        .line = at->line,
        .column = at->column,
    };
}

static bool in_attribute(const struct dvi_scanner *s)
{
    return s->attribute > 0 || (s->in_gnu && s->parens > s->gnu_parens);
}

/* Is the name at hand one of an attribute? What is defined as a macro may become one. */
static bool is_attribute(const struct dvi_scanner *s)
{
    if (in_attribute(s) || dvi_scanner_in_macro(s))
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

/* "(NAME" and ", NAME": an argument, which a macro may make an attribute of. */
static bool is_argument(const struct dvi_scanner *s)
{
    return dvi_lex_mark(&s->before, '(') || dvi_lex_mark(&s->before, ',');
}

/* NAME(N). False: no parenthesis follows. `sure`: nothing but an attribute has this name; in one,
 * an empty macro may follow it, as in "NAME EMPTY(N)", or it is a macro's, as in "PUT(NAME)(N)". */
static bool attribute(struct dvi_scanner *s, const char *name, bool sure)
{
    enum { MOST_BETWEEN = 8 };
    struct dvi_lexer l = s->lexer;
    struct dvi_lexeme t;
    struct argument a = { .wanted = 1 };
    if (is_member(s) || (!is_attribute(s) && !(sure && is_argument(s))))
        return false;
    dvi_lex(&l, &t);
    for (unsigned i = 0; i < MOST_BETWEEN && sure && in_attribute(s) &&
                         (t.kind == DVI_LEX_NAME || dvi_lex_mark(&t, ')'));
         i++)
        dvi_lex(&l, &t);
    if (!dvi_lex_mark(&t, '('))
        return false;
    struct dvi_lexer behind = l;
    in_parens(&l, &a);
    /* one argument it is, with commas between those of templates */
    if (a.count > 1 && memchr(a.text.bytes, '<', a.text.size) != NULL) {
        a = (struct argument){ .wanted = 0 };
        in_parens(&behind, &a);
        a.wanted = 1;
    }
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
    return dvi_lex_ends(&next);
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
    if (is_member(s) || !next_is(&l, '<') || !in_angles(&l, &a) || (!a.cut && !ends_value(&l)))
        return;
    if ((a.text.size == 0 && !a.cut) || a.count > 1 || is_type(s, &a))
        return;
    add(s, DVI_FORM_PROPERTY, "sub_group_size", &a, a.text.size > 0 ? &a.first : &s->token, false);
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
        (a.text.size == 0 && !a.cut))
        return;
    add(s, DVI_FORM_PROPERTY, "sub_group_size_key::value_t", &a,
        a.text.size > 0 ? &a.first : &s->token, false);
}

/* ---- names that are handed on ---- */

static void hand_on(struct dvi_scanner *s, const struct dvi_lexeme *at, bool pasted)
{
    const struct argument none = { .cut = pasted };
    const char *name = dvi_scanner_text(s, &s->lexer, at);
    if (name == NULL)
        return;
    add(s, DVI_FORM_NAME, name, &none, at, false);
    s->out->hands_on = true;
}

static bool has_lower(struct dvi_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] >= 'a' && text.data[i] <= 'z')
            return true;
    return false;
}

/* "LIST(NAME)": what LIST does with it is seen later. Variables may have the name of a macro with
 * parameters, but hardly in capitals. */
static void macro_name(struct dvi_scanner *s, bool sure)
{
    char room[DVI_LEX_ROOM];
    struct dvi_lexer l = s->lexer;
    struct dvi_lexeme next;
    const struct dvi_view name = dvi_lex_text(&s->lexer, &s->token, room);
    dvi_lex(&l, &next);
    if ((sure || !has_lower(name)) && is_argument(s) &&
        (dvi_lex_mark(&next, ',') || dvi_lex_mark(&next, ')')))
        hand_on(s, &s->token, false);
}

/* "U<NAME>": the name of a template, as an argument of another. */
static void template_name(struct dvi_scanner *s, const struct dvi_source_word *word)
{
    struct dvi_lexer l = s->lexer;
    struct dvi_lexeme next;
    const bool first = dvi_lex_mark(&s->before, '<'),
               in_path = dvi_lex_mark(&s->before, DVI_LEX_SCOPE);
    dvi_lex(&l, &next);
    for (uint32_t at = s->scope; at != 0; at = s->out->scopes.items[at].parent)
        if (s->out->scopes.items[at].name != NULL &&
            strcmp(s->out->scopes.items[at].name, word->name) == 0)
            return; /* in itself it names one of its instances */
    if ((dvi_lex_mark(&next, '>') && (first || in_path || dvi_lex_mark(&s->before, ','))) ||
        (dvi_lex_mark(&next, ',') && (first || in_path)))
        hand_on(s, &s->token, false);
}

/* "#define A B" and nothing behind it: A is looked for as B is. */
static bool is_alias(const struct dvi_scanner *s)
{
    const struct dvi_scope *scope = &s->out->scopes.items[s->scope];
    struct dvi_lexer l = s->lexer;
    struct dvi_lexeme next;
    if (scope->kind != DVI_SCOPE_MACRO || scope->params != NULL)
        return false;
    dvi_lex(&l, &next);
    return next.kind == DVI_LEX_LINE_END;
}

static void alias(struct dvi_scanner *s, const struct dvi_source_word *word)
{
    static const char *const params[] = { "__VA_ARGS__" };
    struct dvi_scope *scope = &s->out->scopes.items[s->scope];
    if (word->argument == 0 && word->same_as == NULL) { /* as "#define A(...) B(__VA_ARGS__)" */
        struct argument all = { .count = 1 };
        dvi_spell_text(&all.text, params[0]);
        scope->params = params;
        scope->param_count = 1;
        add(s, DVI_FORM_MACRO, word->name, &all, &s->token, false);
        return;
    }
    struct dvi_source_word *added = DVI_ADD(&s->out->aliases);
    if (added == NULL) {
        dvi_scanner_fail(s, DEVIMG_NOMEM, "");
        return;
    }
    *added = *word;
    added->name = scope->name;
}

bool dvi_scan_call(struct dvi_scanner *s)
{
    const struct dvi_scope *macro = dvi_source_macro(s->out, s->scope);
    struct dvi_lexer l = s->lexer;
    struct argument a = { .wanted = 0 };
    uint32_t at = 0;
    while (macro != NULL && at < macro->param_count &&
           !dvi_lex_is(&s->lexer, &s->token, macro->params[at]))
        at++;
    if (macro == NULL || at == macro->param_count)
        return false;
    if (next_is(&l, '(')) {
        in_parens(&l, &a);
        add(s, DVI_FORM_CALL, macro->params[at], &a, &s->token, false);
    }
    return true;
}

void dvi_scan_paste(struct dvi_scanner *s)
{
    static const char *const names[] = { "reqd_sub_group_size", "intel_reqd_sub_group_size" };
    enum { SHORTEST = 5 /* "reqd_" */ };
    char room[DVI_LEX_ROOM];
    if (s->before.kind != DVI_LEX_NAME || dvi_source_macro(s->out, s->scope) == NULL)
        return;
    const struct dvi_view text = dvi_lex_text(&s->lexer, &s->before, room);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text.size >= SHORTEST && text.size < strlen(names[i]) &&
            memcmp(names[i], text.data, text.size) == 0)
            hand_on(s, &s->before, true);
}

/* ---- macros and templates ---- */

static void user_template(struct dvi_scanner *s, const struct dvi_source_word *word)
{
    struct dvi_lexer l = s->lexer;
    struct argument a = { .wanted = word->argument };
    if (is_alias(s))
        alias(s, word);
    else if (!next_is(&l, '<'))
        template_name(s, word);
    else if (in_angles(&l, &a))
        add(s, DVI_FORM_TEMPLATE, word->name, &a, a.text.size > 0 ? &a.first : &s->token, false);
}

static void user_macro(struct dvi_scanner *s, const struct dvi_source_word *word)
{
    struct dvi_lexer l = s->lexer;
    struct argument a = { .wanted = word->argument };
    if (is_alias(s)) {
        alias(s, word);
    } else if (!next_is(&l, '(')) {
        macro_name(s, false);
    } else {
        in_parens(&l, &a);
        add(s, DVI_FORM_MACRO, word->name, &a, a.text.size > 0 ? &a.first : &s->token, false);
    }
}

void dvi_scan_size(struct dvi_scanner *s, enum dvi_word_id id, const struct dvi_source_word *user)
{
    char room[DVI_LEX_ROOM];
    const struct dvi_view name = dvi_lex_text(&s->lexer, &s->token, room);
    if (id != DVI_WORD_USER && is_alias(s)) {
        const char *same_as = user != NULL ? user->same_as : dvi_word_name(id);
        alias(s, &(struct dvi_source_word){ .argument = 1, .same_as = same_as });
        return;
    }
    switch (id) {
    case DVI_WORD_REQD:
        if (!attribute(s,
                       dvi_ends_with(name, "__") ? "__intel_reqd_sub_group_size__"
                       : name.data[0] == 'i'     ? "intel_reqd_sub_group_size"
                                                 : "reqd_sub_group_size",
                       true))
            macro_name(s, true);
        break;
    case DVI_WORD_NAMED_SIZE: (void)attribute(s, "named_sub_group_size", true); break;
    case DVI_WORD_SIZE:
        if (!attribute(s, "sub_group_size", false))
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
