/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a name in an expression comes to: constants, also of classes and what those are derived
 * from, functions that return an expression, macros, and members of templates.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sycl/source_reader.h"

enum { MOST_ARGUMENTS = 16, MOST_REPLACED = 64, STEPS_OF_CALL = 50 };

static void add_to_each(struct dvi_values *values, uint64_t plus)
{
    for (unsigned i = 0; i < values->count; i++)
        if (__builtin_add_overflow(values->items[i], plus, &values->items[i])) {
            dvi_value_unknown(values, DVI_WHY_TEXT, "an expression without a value");
            return;
        }
}

/* The arguments of a template or call, as texts. */
struct arguments {
    const char *items[MOST_ARGUMENTS];
    uint32_t count;
    bool given;
};

/* A name as it is used: "ns::Shape<16>::value", "f<8>(2)". */
struct use {
    struct dvi_spelling path; /* without arguments */
    char last[DVI_LEX_ROOM];  /* its last name */
    char owner[DVI_LEX_ROOM]; /* the name that `of_owner` stand behind */
    struct arguments of_owner, own, call;
};

static bool add_argument(struct dvi_reader *r, const struct dvi_spelling *text,
                         struct arguments *out)
{
    if (out->count == MOST_ARGUMENTS)
        return false;
    const char *own = dvi_spelled(text, &r->work->scratch);
    out->items[out->count] = own;
    out->count += own != NULL;
    return own != NULL;
}

/* Up to `close`, whose opening is at hand; the reader is behind it then. False: no such list. */
static bool take_arguments(struct dvi_reader *r, int close, struct arguments *out)
{
    struct dvi_spelling text = { .size = 0 };
    unsigned depth = 0, angles = 0;
    bool after_name = false;
    *out = (struct arguments){ .given = true };
    for (dvi_reader_next(r); r->token.kind != DVI_LEX_END; dvi_reader_next(r)) {
        const struct dvi_lexeme *t = &r->token;
        const bool outer = depth == 0 && angles == 0;
        if (outer && (dvi_lex_mark(t, close) || dvi_lex_mark(t, ','))) {
            const bool closes = !dvi_lex_mark(t, ',');
            if ((text.size > 0 || out->count > 0 || !closes) && !add_argument(r, &text, out))
                return false;
            text = (struct dvi_spelling){ .size = 0 };
            if (closes) {
                dvi_reader_next(r);
                return true;
            }
            after_name = false;
            continue;
        }
        if (dvi_lex_mark(t, '(') || dvi_lex_mark(t, '{') || dvi_lex_mark(t, '['))
            depth++;
        else if (dvi_lex_mark(t, ')') || dvi_lex_mark(t, '}') || dvi_lex_mark(t, ']'))
            depth--;
        else if (depth == 0 && close == '>' && after_name && dvi_lex_mark(t, '<'))
            angles++;
        else if (depth == 0 && angles > 0 && dvi_lex_mark(t, '>'))
            angles--;
        if (depth > DVI_READER_DEPTH) /* it went below 0 */
            return false;
        after_name = t->kind == DVI_LEX_NAME;
        dvi_spell(&text, &r->lexer, t);
    }
    return false;
}

static void cannot(struct dvi_values *out, enum dvi_value_why why, const struct use *use)
{
    dvi_value_unknown(out, why, use->path.bytes);
}

/* An argument, as it reads elsewhere: its value, or else its text. */
static const char *argument_text(struct dvi_reader *r, const char *text)
{
    struct dvi_values v = { .state = DVI_VALUE_KNOWN };
    dvi_evaluate(r->sources, &r->place, text, r->depth + 1, r->work, &v);
    if (v.state != DVI_VALUE_KNOWN || v.count != 1)
        return text;
    return dvi_arena_format(&r->work->scratch, v.items[0] < 0 ? "( %" PRId64 " )" : "%" PRId64,
                            v.items[0]);
}

/* Names that are replaced in a text. */
struct replaced {
    const char *names[MOST_REPLACED], *values[MOST_REPLACED];
    uint32_t count;
};

static void add_replaced(struct replaced *out, const char *name, const char *value)
{
    if (out->count == MOST_REPLACED || value == NULL || *name == 0)
        return;
    out->names[out->count] = name;
    out->values[out->count++] = value;
}

/* The parameters of a template and what they stand for; one that nothing tells stays. */
static void add_params(struct dvi_reader *r, const struct dvi_scope *scope,
                       const struct arguments *given, struct replaced *out)
{
    for (uint32_t i = 0; i < scope->param_count; i++)
        if (i < given->count)
            add_replaced(out, scope->params[i], argument_text(r, given->items[i]));
        else if (scope->defaults != NULL && scope->defaults[i] != NULL)
            add_replaced(out, scope->params[i],
                         dvi_source_replace(scope->defaults[i], out->names, out->values, out->count,
                                            &r->work->scratch));
}

/* The class of this name that a scope is in; 0: none. */
static uint32_t class_around(const struct dvi_source *source, uint32_t scope, const char *name)
{
    for (; scope != 0; scope = source->scopes.items[scope].parent) {
        const struct dvi_scope *s = &source->scopes.items[scope];
        if (s->kind == DVI_SCOPE_NAMED && s->name != NULL && strcmp(s->name, name) == 0)
            return scope;
    }
    return 0;
}

/* The scope that has the parameter; 0: none around this one has it. */
static uint32_t scope_of_param(const struct dvi_source *source, uint32_t scope, const char *name)
{
    for (; scope != 0; scope = source->scopes.items[scope].parent)
        for (uint32_t i = 0; i < source->scopes.items[scope].param_count; i++)
            if (strcmp(source->scopes.items[scope].params[i], name) == 0)
                return scope;
    return 0;
}

static bool is_around(const struct dvi_source *source, uint32_t outer, uint32_t inner)
{
    while (inner != outer && inner != 0)
        inner = source->scopes.items[inner].parent;
    return inner == outer;
}

/* "a, b" */
static const char *joined(struct dvi_reader *r, const struct arguments *list, bool values)
{
    const char *text = "";
    for (uint32_t i = 0; i < list->count && text != NULL; i++)
        text = dvi_arena_format(&r->work->scratch, "%s%s%s", text, i > 0 ? ", " : "",
                                values ? argument_text(r, list->items[i]) : list->items[i]);
    return text != NULL ? text : "";
}

/* What a definition says where it is used: its parameters are replaced. False: it takes other
 * arguments. */
static bool replace_params(struct dvi_reader *r, const struct use *use,
                           const struct dvi_constant *c, const struct dvi_source *source,
                           const char **text)
{
    struct replaced all = { .count = 0 };
    const struct dvi_scope *scopes = source->scopes.items;
    const bool rest = c->param_count > 0 && use->call.given &&
                      strcmp(c->params[c->param_count - 1], "__VA_ARGS__") == 0;
    const bool pastes = strstr(c->text, "##") != NULL;
    if (use->call.given && c->kind != DVI_CONSTANT_ALIAS && use->call.count != c->param_count &&
        !(rest && use->call.count + 1 >= c->param_count))
        return false;
    for (uint32_t i = 0; use->call.given && i < c->param_count; i++) {
        struct arguments one = { .count = 0 };
        for (uint32_t k = i; k < use->call.count && (k == i || (rest && i + 1 == c->param_count));
             k++)
            one.items[one.count++] = use->call.items[k];
        add_replaced(&all, c->params[i], joined(r, &one, !pastes));
    }
    if (use->own.given && scopes[c->scope].kind == DVI_SCOPE_TEMPLATE)
        add_params(r, &scopes[c->scope], &use->own, &all);
    const uint32_t owner = use->of_owner.given ? class_around(source, c->scope, use->owner) : 0;
    const struct dvi_scope *around = &scopes[scopes[owner].parent];
    if (owner != 0 && around->kind == DVI_SCOPE_TEMPLATE && scopes[owner].arguments == NULL)
        add_params(r, around, &use->of_owner, &all);
    *text = c->text;
    r->work->steps += use->call.given || all.count > 0 ? STEPS_OF_CALL : 0;
    r->sources->steps += use->call.given || all.count > 0 ? STEPS_OF_CALL : 0;
    if (all.count > 0)
        *text = dvi_source_replace(c->text, all.names, all.values, all.count, &r->work->scratch);
    return true;
}

/* One definition; what is in it depends on no template but those around the use. */
static void value_of(struct dvi_reader *r, const struct use *use, const struct dvi_constant *c,
                     const struct dvi_source_place *at, struct dvi_values *out)
{
    const struct dvi_source *source = &r->sources->items[at->source];
    const char *text = NULL;
    struct dvi_values one = { .state = DVI_VALUE_KNOWN };
    if (!replace_params(r, use, c, source, &text))
        return;
    if (text != NULL && c->kind == DVI_CONSTANT_ALIAS && use->call.given)
        text = dvi_arena_format(&r->work->scratch, "%s (%s)", text, joined(r, &use->call, true));
    if (text == NULL || *text == 0) {
        cannot(out, DVI_WHY_CALL, use);
        return;
    }
    dvi_evaluate(r->sources, at, text, r->depth + 1, r->work, &one);
    add_to_each(&one, c->plus);
    if (one.state == DVI_VALUE_PARAMETER) {
        const uint32_t scope = scope_of_param(source, at->scope, one.name);
        if (at->source != r->place.source || !is_around(source, scope, r->place.scope)) {
            one.state = DVI_VALUE_KNOWN;
            cannot(&one, DVI_WHY_TEMPLATE, use);
        }
    }
    dvi_value_merge(out, &one);
}

/* Two single words or numbers that are not the same type or value, whatever is defined. */
static bool surely_other(const char *a, const char *b)
{
    static const char *const words[] = { "bool",  "char",   "short", "int", "long",
                                         "float", "double", "void",  "half" };
    bool known_a = strspn(a, "0123456789") == strlen(a),
         known_b = strspn(b, "0123456789") == strlen(b);
    if (known_a != known_b && (known_a || known_b))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        known_a = known_a || strcmp(a, words[i]) == 0;
        known_b = known_b || strcmp(b, words[i]) == 0;
    }
    return known_a && known_b && strcmp(a, b) != 0;
}

/* Of the members of a template's specializations, those that the arguments may mean stay. */
static void choose_specialization(struct dvi_reader *r, const struct use *use,
                                  struct dvi_source_found *found)
{
    const char *given = use->of_owner.given ? joined(r, &use->of_owner, true) : NULL;
    const char *of[DVI_SOURCE_FOUND] = { NULL };
    bool exact = false;
    for (unsigned i = 0; given != NULL && i < found->count; i++) {
        const struct dvi_source *source = &r->sources->items[found->at[i].source];
        const uint32_t owner = class_around(source, found->items[i]->scope, use->owner);
        of[i] = owner != 0 ? source->scopes.items[owner].arguments : NULL;
        exact = exact || (of[i] != NULL && strcmp(of[i], given) == 0);
    }
    unsigned kept = 0;
    for (unsigned i = 0; given != NULL && i < found->count; i++) {
        const bool same = of[i] != NULL && strcmp(of[i], given) == 0;
        if (exact ? !same : of[i] != NULL && surely_other(of[i], given))
            continue;
        found->at[kept] = found->at[i];
        found->items[kept++] = found->items[i];
    }
    if (given != NULL)
        found->count = kept;
}

/* The name as a member of what one class is derived from. Dependent bases are not looked into for
 * a name without scope: [temp.dep.type]. True: one of them has it. */
static bool of_bases(struct dvi_reader *r, const char *name, const struct dvi_constant *class,
                     const struct dvi_source_place *at, bool unqualified, struct dvi_values *out)
{
    bool any = false, missing = false;
    const struct dvi_source *source = &r->sources->items[at->source];
    const struct dvi_scope *around = &source->scopes.items[class->scope];
    for (uint32_t i = 0; i < class->param_count; i++) {
        struct dvi_values one = { .state = DVI_VALUE_KNOWN };
        const char *base = class->params[i];
        if (strncmp(base, "std::", 5) == 0 || strncmp(base, "::std::", 7) == 0)
            continue;
        if (unqualified && around->kind == DVI_SCOPE_TEMPLATE &&
            dvi_source_mentions(base, around->params, around->param_count))
            continue;
        const char *text = dvi_arena_format(&r->work->scratch, "%s::%s", base, name);
        if (text == NULL)
            continue;
        dvi_evaluate(r->sources, at, text, r->depth + 1, r->work, &one);
        if (one.state == DVI_VALUE_UNKNOWN && one.why == DVI_WHY_CLASS) {
            missing = true;
            if (*out->unless == 0)
                (void)snprintf(out->unless, sizeof out->unless, "%.95s", base);
        } else if (one.state != DVI_VALUE_UNKNOWN || one.why != DVI_WHY_NAME) {
            dvi_value_merge(out, &one);
            any = true;
        }
    }
    if (!any && missing && !unqualified)
        dvi_value_unknown(out, DVI_WHY_CLASS, name);
    return any;
}

static bool is_member_found(const struct dvi_reader *r, const struct dvi_source_found *found,
                            const char *path)
{
    for (unsigned i = 0; i < found->count; i++) {
        const struct dvi_source *source = &r->sources->items[found->at[i].source];
        const struct dvi_scope *scope = &source->scopes.items[found->items[i]->scope];
        if (scope->kind == DVI_SCOPE_NAMED && strcmp(scope->path, path) == 0)
            return true;
    }
    return false;
}

/* A name without scope, from the body of a member that stands outside of its class or namespace. */
static bool of_member(struct dvi_reader *r, const struct use *use, const struct dvi_scope *scope,
                      struct dvi_values *out)
{
    const struct dvi_source_place file = { r->place.source, 0, SIZE_MAX - 1 };
    struct dvi_values one = { .state = DVI_VALUE_KNOWN };
    const char *text = dvi_arena_format(&r->work->scratch, "::%s::%s", scope->path, use->last);
    if (text == NULL)
        return false;
    dvi_evaluate(r->sources, &file, text, r->depth + 1, r->work, &one);
    if (one.state == DVI_VALUE_UNKNOWN && one.why == DVI_WHY_CLASS && *out->unless == 0)
        (void)snprintf(out->unless, sizeof out->unless, "%.95s", scope->path);
    if (one.state == DVI_VALUE_UNKNOWN && (one.why == DVI_WHY_NAME || one.why == DVI_WHY_CLASS))
        return false;
    dvi_value_merge(out, &one);
    return true;
}

/* A name without scope, from within a class: its bases come before what is around it. True: one of
 * them has it. */
static bool inherited(struct dvi_reader *r, const struct use *use,
                      const struct dvi_source_found *found, struct dvi_values *out)
{
    const struct dvi_source *source = &r->sources->items[r->place.source];
    const bool own = found->count > 0 && found->at[0].source == r->place.source;
    if (found->count > 0 && found->items[0]->kind == DVI_CONSTANT_MACRO)
        return false;
    for (uint32_t at = r->place.scope; at != 0; at = source->scopes.items[at].parent) {
        const struct dvi_scope *scope = &source->scopes.items[at];
        if (own && scope->kind == DVI_SCOPE_BLOCK && found->items[0]->scope == at)
            return false;
        if (scope->is_member && of_member(r, use, scope, out))
            return true;
        if (scope->class_at == 0)
            continue;
        if (is_member_found(r, found, scope->path))
            return false;
        const struct dvi_constant *class = &source->constants.items[scope->class_at - 1];
        const struct dvi_source_place place = { r->place.source, class->scope, class->begin };
        if (of_bases(r, use->last, class, &place, true, out))
            return true;
    }
    return false;
}

/* "C::name", C being a class that does not have it itself, or another name. */
static void of_owner(struct dvi_reader *r, const struct use *use,
                     const struct dvi_source_path *path, struct dvi_values *out)
{
    struct dvi_source_path owner;
    struct dvi_source_found found;
    bool any = false, known = false;
    const char *name = use->last;
    if (use->call.given)
        name = dvi_arena_format(&r->work->scratch, "%s (%s)", name, joined(r, &use->call, true));
    if (name == NULL || !dvi_source_split(path->prefix, &owner))
        return;
    owner.global = path->global;
    owner.want = DVI_WANT_CLASS;
    dvi_source_find(r->sources, &r->place, &owner, &found);
    for (unsigned i = 0; i < found.count && r->depth < DVI_READER_DEPTH; i++) {
        const struct dvi_constant *c = found.items[i];
        if (c->kind == DVI_CONSTANT_CLASS) {
            known = true;
            any = of_bases(r, name, c, &found.at[i], false, out) || any;
            continue;
        }
        struct use alias = { .own = use->of_owner };
        struct dvi_values one = { .state = DVI_VALUE_KNOWN };
        const char *text = NULL;
        if (strcmp(c->text, path->prefix) == 0 ||
            !replace_params(r, &alias, c, &r->sources->items[found.at[i].source], &text) ||
            text == NULL)
            continue;
        text = dvi_arena_format(&r->work->scratch, "%s::%s", text, name);
        if (text != NULL)
            dvi_evaluate(r->sources, &found.at[i], text, r->depth + 1, r->work, &one);
        if (text == NULL || (one.count == 0 && one.state == DVI_VALUE_KNOWN))
            continue;
        dvi_value_merge(out, &one);
        any = true;
    }
    if (any || out->state != DVI_VALUE_KNOWN)
        return;
    if (strcmp(use->owner, "integral_constant") == 0 && strcmp(use->last, "value") == 0 &&
        use->of_owner.count == 2)
        dvi_evaluate(r->sources, &r->place, use->of_owner.items[1], r->depth + 1, r->work, out);
    else
        cannot(out, use->call.given ? DVI_WHY_CALL : known ? DVI_WHY_NAME : DVI_WHY_CLASS, use);
}

/* The first name of "a::b::c" may be another name for a namespace. */
static bool of_alias(struct dvi_reader *r, const struct use *use,
                     const struct dvi_source_path *path, struct dvi_values *out)
{
    char head[256];
    struct dvi_source_path alias;
    struct dvi_source_found found;
    const size_t size = strcspn(path->prefix, ":");
    bool any = false;
    memcpy(head, path->prefix, size);
    head[size] = 0;
    if (path->prefix[size] == 0 || !dvi_source_split(head, &alias)) /* of_owner() looks it up */
        return false;
    const char *rest = strstr(use->path.bytes, head) + size;
    dvi_source_find(r->sources, &r->place, &alias, &found);
    for (unsigned i = 0; i < found.count; i++) {
        char whole[512];
        struct dvi_values one = { .state = DVI_VALUE_KNOWN };
        if (found.items[i]->kind != DVI_CONSTANT_ALIAS || strcmp(found.items[i]->text, head) == 0)
            continue;
        (void)snprintf(whole, sizeof whole, "%s%s", found.items[i]->text, rest);
        dvi_evaluate(r->sources, &found.at[i], whole, r->depth + 1, r->work, &one);
        dvi_value_merge(out, &one);
        any = true;
    }
    return any;
}

/* What a name may stand for where it is used. */
static void lookup(struct dvi_reader *r, const struct use *use, struct dvi_values *out)
{
    struct dvi_source_path path;
    struct dvi_source_found found;
    if (!dvi_source_split(use->path.bytes, &path)) {
        cannot(out, DVI_WHY_TEXT, use);
        return;
    }
    const bool alone = *path.prefix == 0 && !path.global;
    for (size_t i = 0; alone && !use->call.given && i < r->sources->define_count; i++) {
        if (strcmp(r->sources->defines[i].name, path.last) != 0)
            continue;
        dvi_evaluate(r->sources, &r->place, r->sources->defines[i].text, r->depth + 1, r->work,
                     out);
        return;
    }
    path.want = use->call.given ? DVI_WANT_FUNCTION : DVI_WANT_VALUE;
    dvi_source_find(r->sources, &r->place, &path, &found);
    if (alone && !use->call.given && inherited(r, use, &found, out))
        return;
    choose_specialization(r, use, &found);
    for (unsigned i = 0; i < found.count; i++)
        value_of(r, use, found.items[i], &found.at[i], out);
    if (found.cut)
        dvi_value_unknown(out, DVI_WHY_TEXT, "a name with too many definitions");
    if (out->state != DVI_VALUE_KNOWN || out->count > 0)
        return;
    if (*path.prefix == 0)
        cannot(out, use->call.given ? DVI_WHY_CALL : DVI_WHY_NAME, use);
    else if (!of_alias(r, use, &path, out))
        of_owner(r, use, &path, out);
}

/* Is the name a template, so that '<' behind it is no comparison? */
static bool is_template(struct dvi_reader *r, const struct use *use)
{
    struct dvi_source_path path;
    struct dvi_source_found found;
    for (unsigned want = DVI_WANT_VALUE; want <= DVI_WANT_FUNCTION; want++) {
        if (!dvi_source_split(use->path.bytes, &path))
            return false;
        path.want = want;
        dvi_source_find(r->sources, &r->place, &path, &found);
        for (unsigned i = 0; i < found.count; i++)
            if (r->sources->items[found.at[i].source].scopes.items[found.items[i]->scope].kind ==
                DVI_SCOPE_TEMPLATE)
                return true;
    }
    return false;
}

/* "<...>" behind a name, the reader being at the '<': taken where it is a list of arguments. */
static void take_template(struct dvi_reader *r, struct use *use)
{
    struct dvi_reader ahead = *r;
    struct arguments list;
    use->path.bytes[use->path.size] = 0; /* dvi_spell() leaves room for it */
    if (strcmp(use->path.bytes, "static_cast") == 0 || !take_arguments(&ahead, '>', &list))
        return;
    if (dvi_lex_mark(&ahead.token, DVI_LEX_SCOPE)) {
        use->of_owner = list;
        memcpy(use->owner, use->last, sizeof use->owner);
        *r = ahead;
    } else if (is_template(r, use)) {
        use->own = list;
        *r = ahead;
    }
}

/* "a::b<c>::d", up to what is no part of it. False: it is no name. */
static bool take_name(struct dvi_reader *r, struct use *use)
{
    char room[DVI_LEX_ROOM];
    bool wants_name = true, any = false;
    for (;;) {
        const bool scope = dvi_lex_mark(&r->token, DVI_LEX_SCOPE);
        if (!scope && (r->token.kind != DVI_LEX_NAME || !wants_name))
            break;
        if (!scope && (dvi_lex_is(&r->lexer, &r->token, "template") ||
                       dvi_lex_is(&r->lexer, &r->token, "typename"))) {
            dvi_reader_next(r);
            continue;
        }
        if (!scope) {
            const struct dvi_view v = dvi_lex_text(&r->lexer, &r->token, room);
            (void)snprintf(use->last, sizeof use->last, "%.*s", (int)v.size, (const char *)v.data);
            any = true;
        }
        wants_name = scope;
        dvi_spell(&use->path, &r->lexer, &r->token);
        dvi_reader_next(r);
        if (!scope && dvi_lex_mark(&r->token, '<'))
            take_template(r, use);
    }
    use->path.bytes[use->path.size] = 0;
    return !use->path.cut && !wants_name && any;
}

/* sizeof(T), of types that have one size on every host that SYCL, CUDA and HIP have. */
static void size_of(struct dvi_reader *r, struct dvi_values *out)
{
    static const struct {
        const char *name;
        int64_t size;
    } types[] = {
        { "bool", 1 },     { "char", 1 },      { "int8_t", 1 },    { "uint8_t", 1 },
        { "short", 2 },    { "int16_t", 2 },   { "half", 2 },      { "uint16_t", 2 },
        { "int", 4 },      { "int32_t", 4 },   { "float", 4 },     { "uint32_t", 4 },
        { "unsigned", 4 }, { "double", 8 },    { "int64_t", 8 },   { "uint64_t", 8 },
        { "size_t", 8 },   { "long long", 8 }, { "ptrdiff_t", 8 },
    };
    struct dvi_spelling type = { .size = 0 };
    char text[128];
    bool is_long = false;
    if (!dvi_lex_mark(&r->token, '(')) {
        dvi_reader_unknown(r, out);
        return;
    }
    for (dvi_reader_next(r);
         r->token.kind == DVI_LEX_NAME || dvi_lex_mark(&r->token, DVI_LEX_SCOPE);
         dvi_reader_next(r)) {
        const bool sign = dvi_lex_is(&r->lexer, &r->token, "unsigned") ||
                          dvi_lex_is(&r->lexer, &r->token, "signed");
        if (dvi_lex_mark(&r->token, DVI_LEX_SCOPE))
            type.size = 0; /* std:: */
        else if (!sign || type.size == 0)
            dvi_spell(&type, &r->lexer, &r->token);
    }
    type.bytes[type.size] = 0;
    const char *name = type.bytes;
    if (strncmp(name, "unsigned ", 9) == 0 || strncmp(name, "signed ", 7) == 0)
        name = strchr(name, ' ') + 1;
    (void)snprintf(text, sizeof text, "sizeof(%.80s)", type.bytes);
    is_long = strcmp(name, "long") == 0 || strcmp(name, "long int") == 0;
    if (dvi_lex_mark(&r->token, ')'))
        dvi_reader_next(r);
    else
        name = "";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) {
            dvi_value_add(out, types[i].size);
            return;
        }
    dvi_value_unknown(out, is_long ? DVI_WHY_PLATFORM : DVI_WHY_TEXT, *name != 0 ? text : "sizeof");
}

void dvi_read_name(struct dvi_reader *r, struct dvi_values *out)
{
    struct use use = { .path = { .size = 0 } };
    const bool is_name = take_name(r, &use);
    const char *path = use.path.bytes;
    if (!is_name) {
        dvi_value_unknown(out, DVI_WHY_TEXT, "a name that is too long or cut");
    } else if (strcmp(path, "static_cast") == 0 && dvi_lex_mark(&r->token, '<')) {
        dvi_read_cast(r, out);
    } else if (strcmp(path, "sizeof") == 0) {
        size_of(r, out);
    } else if (strcmp(path, "true") == 0 || strcmp(path, "false") == 0) {
        dvi_value_add(out, *path == 't');
    } else if (dvi_is_integer_type(use.last)) {
        while (r->token.kind == DVI_LEX_NAME) /* unsigned long */
            dvi_reader_next(r);
        if (dvi_lex_mark(&r->token, '(') || dvi_lex_mark(&r->token, '{'))
            dvi_read_inside(r, dvi_lex_mark(&r->token, '(') ? ')' : '}', out);
        else
            cannot(out, DVI_WHY_TEXT, &use);
    } else if (dvi_lex_mark(&r->token, '(')) {
        if (take_arguments(r, ')', &use.call))
            lookup(r, &use, out);
        else
            dvi_value_unknown(out, DVI_WHY_TEXT, "an expression that is cut");
    } else if (dvi_lex_mark(&r->token, '[')) {
        cannot(out, DVI_WHY_ELEMENT, &use);
    } else if (dvi_lex_mark(&r->token, '{') || dvi_lex_mark(&r->token, DVI_LEX_PASTE)) {
        cannot(out, DVI_WHY_TEXT, &use); /* an object, or a name that is not whole yet */
    } else {
        lookup(r, &use, out);
    }
}
