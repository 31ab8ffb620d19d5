/* SPDX-License-Identifier: Apache-2.0 */
/* Classes with what they are derived from, namespaces, and other names of what is declared. */
#include <string.h>

#include "sycl/source_scanner.h"

enum { MOST_SPECIFIERS = 48, MOST_INITIALIZER = 256, MOST_BASES = 16, MOST_BASE_TOKENS = 512 };

static bool is_capital(struct dvi_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] >= 'a' && text.data[i] <= 'z')
            return false;
    return text.size > 1;
}

/* True where "(" may follow the name before that of a class: alignas(16), EXPORT(x). */
static bool takes_parens(const struct dvi_lexer *l, const struct dvi_lexeme *name)
{
    char room[DVI_LEX_ROOM];
    if (name->kind != DVI_LEX_NAME)
        return false;
    return dvi_lex_is(l, name, "alignas") || dvi_lex_is(l, name, "__attribute__") ||
           dvi_lex_is(l, name, "__declspec") || is_capital(dvi_lex_text(l, name, room));
}

/* What a class is called, as a path: the last name before '{', ':' or '<'. */
struct class_name {
    struct dvi_spelling path, arguments;
    struct dvi_lexeme last;
    bool found, declared; /* with what it holds; or as a name alone */
    bool derived;
    struct dvi_lexer behind; /* its '{' or ':' */
};

/* The next token that is of no directive: of a conditional both sides count. */
static void lex_head(struct dvi_lexer *l, struct dvi_lexeme *t)
{
    for (dvi_lex(l, t); t->kind == DVI_LEX_DIRECTIVE; dvi_lex(l, t))
        while (t->kind != DVI_LEX_LINE_END)
            dvi_lex(l, t);
}

static void find_class_name(const struct dvi_scanner *s, struct class_name *out)
{
    struct dvi_lexer l = s->lexer;
    struct dvi_lexeme t, before = { .kind = DVI_LEX_END };
    unsigned angles = 0, brackets = 0;
    for (unsigned i = 0; i < MOST_SPECIFIERS; i++, before = t) {
        lex_head(&l, &t);
        if (dvi_lex_ends(&t))
            return;
        if (dvi_lex_mark(&t, '[') || dvi_lex_mark(&t, ']')) {
            brackets += dvi_lex_mark(&t, '[') ? 1U : brackets > 0 ? -1U : 0U;
        } else if (brackets > 0) {
            continue;
        } else if (dvi_lex_mark(&t, '>') && angles <= 1) {
            if (angles-- == 0)
                return;
        } else if (angles > 0) {
            angles += dvi_lex_mark(&t, '<') ? 1U : dvi_lex_mark(&t, '>') ? -1U : 0U;
            dvi_spell(&out->arguments, &l, &t);
        } else if (dvi_lex_mark(&t, '<')) {
            angles++;
            out->arguments.size = 0;
        } else if (dvi_lex_mark(&t, '{') || dvi_lex_mark(&t, ':')) {
            out->found = true;
            out->derived = dvi_lex_mark(&t, ':');
            out->behind = l;
            return;
        } else if (dvi_lex_mark(&t, ';')) {
            out->declared = true;
            return;
        } else if (dvi_lex_mark(&t, '(')) {
            if (!takes_parens(&l, &before) || !dvi_lex_skip_parens(&l, MOST_INITIALIZER))
                return;
        } else if (dvi_lex_mark(&t, DVI_LEX_SCOPE)) {
            dvi_spell(&out->path, &l, &t);
        } else if (t.kind != DVI_LEX_NAME) {
            return;
        } else if (!dvi_lex_is(&l, &t, "final")) {
            if (!dvi_lex_mark(&before, DVI_LEX_SCOPE))
                out->path.size = 0;
            dvi_spell(&out->path, &l, &t);
            out->last = t;
        }
    }
}

static const char *without_scope(const char *path)
{
    return strncmp(path, "::", 2) == 0 ? path + 2 : path;
}

/* Words before the name of a base. */
static bool is_access(const struct dvi_lexer *l, const struct dvi_lexeme *t)
{
    static const char *const words[] = { "public", "protected", "private", "virtual", "typename" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (dvi_lex_is(l, t, words[i]))
            return true;
    return false;
}

/* What the class is derived from, `l` being behind the ':'. Of a conditional both sides count. */
static uint32_t take_bases(struct dvi_scanner *s, struct dvi_lexer l, const char **out)
{
    struct dvi_lexeme t;
    struct dvi_spelling base = { .size = 0 };
    uint32_t count = 0;
    unsigned depth = 0;
    for (unsigned i = 0; i < MOST_BASE_TOKENS; i++) {
        lex_head(&l, &t);
        const bool last = t.kind == DVI_LEX_END || (depth == 0 && dvi_lex_mark(&t, '{'));
        if (last || (depth == 0 && (dvi_lex_mark(&t, ',') || dvi_lex_mark(&t, ':')))) {
            if (base.size > 0 && count < MOST_BASES)
                out[count++] = dvi_scanner_spelled(s, &base);
            base = (struct dvi_spelling){ .size = 0 };
            if (last)
                return count;
            continue;
        }
        depth += dvi_lex_mark(&t, '<') || dvi_lex_mark(&t, '(');
        depth -= depth > 0 && (dvi_lex_mark(&t, '>') || dvi_lex_mark(&t, ')'));
        if ((depth > 0 || !is_access(&l, &t)) && !dvi_lex_mark(&t, '.'))
            dvi_spell(&base, &l, &t);
    }
    return count;
}

/* The class, with its bases; its place from 1 on. */
static uint32_t add_class(struct dvi_scanner *s, const struct class_name *name, const char *own)
{
    const char *bases[MOST_BASES];
    const uint32_t count = name->derived ? take_bases(s, name->behind, bases) : 0;
    struct dvi_constant *c =
        dvi_scanner_constant(s, DVI_CONSTANT_CLASS, own, "", &name->last, false);
    if (c == NULL)
        return 0;
    c->params = dvi_scanner_list(s, bases, count);
    c->param_count = c->params != NULL ? count : 0;
    return (uint32_t)s->out->constants.count;
}

void dvi_scan_class(struct dvi_scanner *s)
{
    struct class_name name = { .found = false };
    if (s->parens > 0)
        return;
    find_class_name(s, &name);
    if ((!name.found && !name.declared) || name.last.kind != DVI_LEX_NAME) {
        if (name.found)
            s->pending = (struct dvi_pending){ .named = true, .path = "", .name = "" };
        return;
    }
    const char *own = dvi_scanner_text(s, &s->lexer, &name.last);
    struct dvi_scope *scope = &s->out->scopes.items[s->scope];
    if (scope->kind == DVI_SCOPE_TEMPLATE && scope->name == NULL) {
        scope->name = own;
        for (uint32_t i = 0; i < scope->param_count; i++)
            if (scope->defaults[i] != NULL)
                (void)dvi_scanner_keep(s);
    }
    if (!name.found)
        return;
    const char *path = dvi_scanner_spelled(s, &name.path);
    s->pending = (struct dvi_pending){ .named = true, .path = path, .name = own };
    if (path == NULL)
        return;
    s->pending.path = without_scope(path);
    if (name.arguments.size > 0)
        s->pending.arguments = dvi_scanner_spelled(s, &name.arguments);
    s->pending.class_at = add_class(s, &name, own);
}

/* A path "a::b::c" from `l` on, with or without template arguments; the token behind it is in `*after`. False: no path. */
static bool take_path(struct dvi_lexer *l, bool arguments, struct dvi_spelling *path,
                      struct dvi_lexeme *last, struct dvi_lexeme *after)
{
    unsigned angles = 0;
    bool any = false;
    for (unsigned i = 0; i < MOST_SPECIFIERS; i++) {
        dvi_lex(l, after);
        if (after->kind == DVI_LEX_NAME && angles == 0) {
            if (dvi_lex_is(l, after, "inline") || dvi_lex_is(l, after, "typename"))
                continue;
            dvi_spell(path, l, after);
            *last = *after;
            any = true;
        } else if (dvi_lex_mark(after, DVI_LEX_SCOPE) && angles == 0) {
            dvi_spell(path, l, after);
        } else if (dvi_lex_mark(after, '<') || (dvi_lex_mark(after, '>') && angles > 0)) {
            angles += dvi_lex_mark(after, '<') ? 1U : -1U;
            if (arguments)
                dvi_spell(path, l, after);
        } else if (angles == 0 || dvi_lex_ends(after)) {
            return any;
        } else if (arguments) {
            dvi_spell(path, l, after);
        }
    }
    return false;
}

void dvi_scan_namespace(struct dvi_scanner *s)
{
    struct dvi_lexer l = s->lexer;
    struct dvi_spelling name = { .size = 0 }, target = { .size = 0 };
    struct dvi_lexeme last, after;
    const bool transparent = dvi_lex_is(&s->lexer, &s->before, "inline");
    const bool any = take_path(&l, false, &name, &last, &after);
    if (dvi_lex_is(&s->lexer, &s->before, "using"))
        return;
    if (any && dvi_lex_mark(&after, '=')) {
        struct dvi_lexeme target_last;
        if (take_path(&l, true, &target, &target_last, &after))
            dvi_scanner_constant(s, DVI_CONSTANT_ALIAS, dvi_scanner_spelled(s, &name),
                                 dvi_scanner_spelled(s, &target), &last, false);
        return;
    }
    s->pending = (struct dvi_pending){ .named = true, .path = "" };
    if (any && !transparent)
        s->pending.path = dvi_scanner_spelled(s, &name);
}

/* using namespace a::b; using enum E; using a::b::c; using c = a::b; */
void dvi_scan_using(struct dvi_scanner *s)
{
    struct dvi_lexer l = s->lexer, first = s->lexer;
    struct dvi_spelling path = { .size = 0 }, target = { .size = 0 };
    struct dvi_lexeme word, last, after, target_last;
    if (s->parens > 0 || s->attribute > 0)
        return;
    dvi_lex(&first, &word);
    const bool all = dvi_lex_is(&first, &word, "namespace") || dvi_lex_is(&first, &word, "enum");
    if (all)
        l = first;
    if (!take_path(&l, false, &path, &last, &after))
        return;
    if (all) {
        const char *text = dvi_scanner_spelled(s, &path);
        if (text != NULL && s->out->using_count < DVI_SOURCE_MOST_USINGS)
            s->out->usings[s->out->using_count++] = text;
    } else if (dvi_lex_mark(&after, '=')) {
        if (take_path(&l, true, &target, &target_last, &after) && dvi_lex_mark(&after, ';'))
            dvi_scanner_constant(s, DVI_CONSTANT_ALIAS, dvi_scanner_spelled(s, &path),
                                 dvi_scanner_spelled(s, &target), &last, false);
    } else if (dvi_lex_mark(&after, ';')) {
        dvi_scanner_constant(s, DVI_CONSTANT_ALIAS, dvi_scanner_text(s, &l, &last),
                             dvi_scanner_spelled(s, &path), &last, false);
    }
}
