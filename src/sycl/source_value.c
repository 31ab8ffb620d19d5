/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions by precedence climbing, as [expr] of ISO C++20 orders operators. Where several
 * definitions of a name may be meant, every one counts.
 */
#include "sycl/source_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sycl/source_names.h"
#include "sycl/source_scanner.h"

enum { MOST_DEPTH = 200, MOST_STEPS = 20000, MOST_ARGUMENTS = 16, MOST_REPLACED = 64 };

/* ---- values ---- */

struct reader {
    struct dvi_sources *sources;
    struct dvi_source_place place;
    struct dvi_lexer lexer;
    struct dvi_lexeme token; /* the next one */
    unsigned depth;
    struct work *work;
};

/* One expression, with all that it names. */
struct work {
    unsigned steps;
    struct dvi_arena scratch;
};

static void set_unknown(struct dvi_values *out, enum dvi_value_why why, const char *name)
{
    if (out->state == DVI_VALUE_UNKNOWN || out->state == DVI_VALUE_PARAMETER)
        return;
    out->state = DVI_VALUE_UNKNOWN;
    out->why = why;
    out->count = 0;
    (void)snprintf(out->name, sizeof out->name, "%.95s", name);
}

static void add_value(struct dvi_values *out, int64_t value)
{
    for (unsigned i = 0; i < out->count; i++)
        if (out->items[i] == value)
            return;
    if (out->count == DVI_VALUES_MOST)
        set_unknown(out, DVI_WHY_TEXT, "a name with more than 16 values");
    else if (out->state == DVI_VALUE_KNOWN)
        out->items[out->count++] = value;
}

static void merge(struct dvi_values *out, const struct dvi_values *more)
{
    if (*out->unless == 0)
        memcpy(out->unless, more->unless, sizeof out->unless);
    if (more->state == DVI_VALUE_KNOWN)
        for (unsigned i = 0; i < more->count; i++)
            add_value(out, more->items[i]);
    else if (out->state == DVI_VALUE_KNOWN || more->state == DVI_VALUE_PARAMETER)
        *out = *more;
}

static void add_to_each(struct dvi_values *values, uint64_t plus)
{
    for (unsigned i = 0; i < values->count; i++)
        if (__builtin_add_overflow(values->items[i], plus, &values->items[i])) {
            set_unknown(values, DVI_WHY_TEXT, "an expression without a value");
            return;
        }
}

static void next(struct reader *r)
{
    dvi_lex(&r->lexer, &r->token);
}

static void unknown_token(struct reader *r, struct dvi_values *out)
{
    char text[64];
    const struct dvi_view v =
        dvi_head(dvi_from(r->lexer.source, r->token.at), r->token.size < 48 ? r->token.size : 48);
    (void)snprintf(text, sizeof text, "%.*s", (int)v.size, (const char *)v.data);
    set_unknown(out, DVI_WHY_TEXT, v.size > 0 ? text : "an expression that is cut");
}

static void expression(struct reader *r, unsigned least, struct dvi_values *out);
static void evaluate(struct dvi_sources *s, const struct dvi_source_place *place, const char *text,
                     unsigned depth, struct work *work, struct dvi_values *out);

static int digit_of(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static void number(struct reader *r, struct dvi_values *out)
{
    char room[DVI_LEX_ROOM];
    struct dvi_view v = dvi_lex_text(&r->lexer, &r->token, room);
    int base = 10;
    uint64_t value = 0;
    bool any = false;
    if (v.size > 2 && v.data[0] == '0' && (v.data[1] | 0x20) == 'x')
        base = 16;
    else if (v.size > 2 && v.data[0] == '0' && (v.data[1] | 0x20) == 'b')
        base = 2;
    else if (v.size > 1 && v.data[0] == '0')
        base = 8;
    v = dvi_from(v, base == 16 || base == 2 ? 2 : 0);
    for (; v.size > 0; v = dvi_from(v, 1)) {
        const int digit = digit_of(v.data[0]);
        if (v.data[0] == '\'')
            continue;
        if (digit >= base)
            break;
        if (value > (INT64_MAX - (uint64_t)digit) / (uint64_t)base) {
            unknown_token(r, out);
            return;
        }
        value = value * (uint64_t)base + (uint64_t)digit;
        any = true;
    }
    for (; v.size > 0 && strchr("uUlLzZ", v.data[0]) != NULL; v = dvi_from(v, 1))
        ;
    if (!any || v.size > 0)
        unknown_token(r, out);
    else
        add_value(out, (int64_t)value);
    next(r);
}

/* Names of integer types: T(x), T{x} and (T)x are x. */
static bool is_type(const char *name)
{
    static const char *const types[] = { "int",      "unsigned", "long",    "short",    "char",
                                         "bool",     "signed",   "const",   "size_t",   "int8_t",
                                         "int16_t",  "int32_t",  "int64_t", "uint8_t",  "uint16_t",
                                         "uint32_t", "uint64_t", "uint",    "ptrdiff_t" };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i], name) == 0)
            return true;
    return false;
}

/* The expression between the mark at hand and `close`. */
static void inside(struct reader *r, int close, struct dvi_values *out)
{
    next(r);
    expression(r, 0, out);
    if (!dvi_lex_mark(&r->token, close))
        unknown_token(r, out);
    next(r);
}

/* static_cast<T>(x) */
static void cast(struct reader *r, struct dvi_values *out)
{
    for (unsigned i = 0; i < 16 && !dvi_lex_mark(&r->token, '>') && r->token.kind != DVI_LEX_END;
         i++)
        next(r);
    next(r);
    if (dvi_lex_mark(&r->token, '('))
        inside(r, ')', out);
    else
        unknown_token(r, out);
}

/* ---- names ---- */

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

static bool add_argument(struct reader *r, const struct dvi_spelling *text, struct arguments *out)
{
    if (out->count == MOST_ARGUMENTS)
        return false;
    const char *own = dvi_spelled(text, &r->work->scratch);
    out->items[out->count] = own;
    out->count += own != NULL;
    return own != NULL;
}

/* Up to `close`, whose opening is at hand; the reader is behind it then. False: no such list. */
static bool take_arguments(struct reader *r, int close, struct arguments *out)
{
    struct dvi_spelling text = { .size = 0 };
    unsigned depth = 0, angles = 0;
    bool after_name = false;
    *out = (struct arguments){ .given = true };
    for (next(r); r->token.kind != DVI_LEX_END; next(r)) {
        const struct dvi_lexeme *t = &r->token;
        const bool outer = depth == 0 && angles == 0;
        if (outer && (dvi_lex_mark(t, close) || dvi_lex_mark(t, ','))) {
            const bool closes = !dvi_lex_mark(t, ',');
            if ((text.size > 0 || out->count > 0 || !closes) && !add_argument(r, &text, out))
                return false;
            text = (struct dvi_spelling){ .size = 0 };
            if (closes) {
                next(r);
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
        if (depth > MOST_DEPTH) /* it went below 0 */
            return false;
        after_name = t->kind == DVI_LEX_NAME;
        dvi_spell(&text, &r->lexer, t);
    }
    return false;
}

static void cannot(struct dvi_values *out, enum dvi_value_why why, const struct use *use)
{
    set_unknown(out, why, use->path.bytes);
}

/* An argument, as it reads elsewhere: its value, or else its text. */
static const char *argument_text(struct reader *r, const char *text)
{
    struct dvi_values v = { .state = DVI_VALUE_KNOWN };
    evaluate(r->sources, &r->place, text, r->depth + 1, r->work, &v);
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
static void add_params(struct reader *r, const struct dvi_scope *scope,
                       const struct arguments *given, struct replaced *out)
{
    for (uint32_t i = 0; i < scope->param_count; i++)
        if (i < given->count)
            add_replaced(out, scope->params[i], argument_text(r, given->items[i]));
        else if (scope->defaults != NULL)
            add_replaced(out, scope->params[i], scope->defaults[i]);
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
static const char *joined(struct reader *r, const struct arguments *list, bool values)
{
    const char *text = "";
    for (uint32_t i = 0; i < list->count && text != NULL; i++)
        text = dvi_arena_format(&r->work->scratch, "%s%s%s", text, i > 0 ? ", " : "",
                                values ? argument_text(r, list->items[i]) : list->items[i]);
    return text != NULL ? text : "";
}

/* What a definition says where it is used: its parameters are replaced. False: it takes other
 * arguments. */
static bool replace_params(struct reader *r, const struct use *use, const struct dvi_constant *c,
                           const struct dvi_source *source, const char **text)
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
    if (all.count > 0)
        *text = dvi_source_replace(c->text, all.names, all.values, all.count, &r->work->scratch);
    return true;
}

/* One definition; what is in it depends on no template but those around the use. */
static void value_of(struct reader *r, const struct use *use, const struct dvi_constant *c,
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
    evaluate(r->sources, at, text, r->depth + 1, r->work, &one);
    add_to_each(&one, c->plus);
    if (one.state == DVI_VALUE_PARAMETER) {
        const uint32_t scope = scope_of_param(source, at->scope, one.name);
        if (at->source != r->place.source || !is_around(source, scope, r->place.scope)) {
            one.state = DVI_VALUE_KNOWN;
            cannot(&one, DVI_WHY_TEMPLATE, use);
        }
    }
    merge(out, &one);
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
static void choose_specialization(struct reader *r, const struct use *use,
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
static bool of_bases(struct reader *r, const char *name, const struct dvi_constant *class,
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
        evaluate(r->sources, at, text, r->depth + 1, r->work, &one);
        if (one.state == DVI_VALUE_UNKNOWN && one.why == DVI_WHY_CLASS) {
            missing = true;
            if (*out->unless == 0)
                (void)snprintf(out->unless, sizeof out->unless, "%.95s", base);
        } else if (one.state != DVI_VALUE_UNKNOWN || one.why != DVI_WHY_NAME) {
            merge(out, &one);
            any = true;
        }
    }
    if (!any && missing && !unqualified)
        set_unknown(out, DVI_WHY_CLASS, name);
    return any;
}

static bool is_member_found(const struct reader *r, const struct dvi_source_found *found,
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

/* A name without scope, from within a class: its bases come before what is around it. True: one of
 * them has it. */
static bool inherited(struct reader *r, const struct use *use, const struct dvi_source_found *found,
                      struct dvi_values *out)
{
    const struct dvi_source *source = &r->sources->items[r->place.source];
    const bool own = found->count > 0 && found->at[0].source == r->place.source;
    if (found->count > 0 && found->items[0]->kind == DVI_CONSTANT_MACRO)
        return false;
    for (uint32_t at = r->place.scope; at != 0; at = source->scopes.items[at].parent) {
        const struct dvi_scope *scope = &source->scopes.items[at];
        if (own && scope->kind == DVI_SCOPE_BLOCK && found->items[0]->scope == at)
            return false;
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
static void of_owner(struct reader *r, const struct use *use, const struct dvi_source_path *path,
                     struct dvi_values *out)
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
    for (unsigned i = 0; i < found.count && r->depth < MOST_DEPTH; i++) {
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
            evaluate(r->sources, &found.at[i], text, r->depth + 1, r->work, &one);
        if (text == NULL || (one.count == 0 && one.state == DVI_VALUE_KNOWN))
            continue;
        merge(out, &one);
        any = true;
    }
    if (any || out->state != DVI_VALUE_KNOWN)
        return;
    if (strcmp(use->owner, "integral_constant") == 0 && strcmp(use->last, "value") == 0 &&
        use->of_owner.count == 2)
        evaluate(r->sources, &r->place, use->of_owner.items[1], r->depth + 1, r->work, out);
    else
        cannot(out, use->call.given ? DVI_WHY_CALL : known ? DVI_WHY_NAME : DVI_WHY_CLASS, use);
}

/* The first name of "a::b::c" may be another name for a namespace. */
static bool of_alias(struct reader *r, const struct use *use, const struct dvi_source_path *path,
                     struct dvi_values *out)
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
        evaluate(r->sources, &found.at[i], whole, r->depth + 1, r->work, &one);
        merge(out, &one);
        any = true;
    }
    return any;
}

/* What a name may stand for where it is used. */
static void lookup(struct reader *r, const struct use *use, struct dvi_values *out)
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
        evaluate(r->sources, &r->place, r->sources->defines[i].text, r->depth + 1, r->work, out);
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
        set_unknown(out, DVI_WHY_TEXT, "a name with too many definitions");
    if (out->state != DVI_VALUE_KNOWN || out->count > 0)
        return;
    if (*path.prefix == 0)
        cannot(out, use->call.given ? DVI_WHY_CALL : DVI_WHY_NAME, use);
    else if (!of_alias(r, use, &path, out))
        of_owner(r, use, &path, out);
}

/* Is the name a template, so that '<' behind it is no comparison? */
static bool is_template(struct reader *r, const struct use *use)
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
static void take_template(struct reader *r, struct use *use)
{
    struct reader ahead = *r;
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
static bool take_name(struct reader *r, struct use *use)
{
    char room[DVI_LEX_ROOM];
    bool wants_name = true, any = false;
    for (;;) {
        const bool scope = dvi_lex_mark(&r->token, DVI_LEX_SCOPE);
        if (!scope && (r->token.kind != DVI_LEX_NAME || !wants_name))
            break;
        if (!scope && (dvi_lex_is(&r->lexer, &r->token, "template") ||
                       dvi_lex_is(&r->lexer, &r->token, "typename"))) {
            next(r);
            continue;
        }
        if (!scope) {
            const struct dvi_view v = dvi_lex_text(&r->lexer, &r->token, room);
            (void)snprintf(use->last, sizeof use->last, "%.*s", (int)v.size, (const char *)v.data);
            any = true;
        }
        wants_name = scope;
        dvi_spell(&use->path, &r->lexer, &r->token);
        next(r);
        if (!scope && dvi_lex_mark(&r->token, '<'))
            take_template(r, use);
    }
    use->path.bytes[use->path.size] = 0;
    return !use->path.cut && !wants_name && any;
}

/* sizeof(T), of types that have one size on every host that SYCL, CUDA and HIP have. */
static void size_of(struct reader *r, struct dvi_values *out)
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
        unknown_token(r, out);
        return;
    }
    for (next(r); r->token.kind == DVI_LEX_NAME || dvi_lex_mark(&r->token, DVI_LEX_SCOPE);
         next(r)) {
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
        next(r);
    else
        name = "";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) {
            add_value(out, types[i].size);
            return;
        }
    set_unknown(out, is_long ? DVI_WHY_PLATFORM : DVI_WHY_TEXT, *name != 0 ? text : "sizeof");
}

static void name(struct reader *r, struct dvi_values *out)
{
    struct use use = { .path = { .size = 0 } };
    const bool is_name = take_name(r, &use);
    const char *path = use.path.bytes;
    if (!is_name) {
        set_unknown(out, DVI_WHY_TEXT, "a name that is too long or cut");
    } else if (strcmp(path, "static_cast") == 0 && dvi_lex_mark(&r->token, '<')) {
        cast(r, out);
    } else if (strcmp(path, "sizeof") == 0) {
        size_of(r, out);
    } else if (strcmp(path, "true") == 0 || strcmp(path, "false") == 0) {
        add_value(out, *path == 't');
    } else if (is_type(use.last)) {
        while (r->token.kind == DVI_LEX_NAME) /* unsigned long */
            next(r);
        if (dvi_lex_mark(&r->token, '(') || dvi_lex_mark(&r->token, '{'))
            inside(r, dvi_lex_mark(&r->token, '(') ? ')' : '}', out);
        else
            cannot(out, DVI_WHY_TEXT, &use);
    } else if (dvi_lex_mark(&r->token, '(')) {
        if (take_arguments(r, ')', &use.call))
            lookup(r, &use, out);
        else
            set_unknown(out, DVI_WHY_TEXT, "an expression that is cut");
    } else if (dvi_lex_mark(&r->token, '[')) {
        cannot(out, DVI_WHY_ELEMENT, &use);
    } else if (dvi_lex_mark(&r->token, '{') || dvi_lex_mark(&r->token, DVI_LEX_PASTE)) {
        cannot(out, DVI_WHY_TEXT, &use); /* an object, or a name that is not whole yet */
    } else {
        lookup(r, &use, out);
    }
}

/* "(unsigned) x": true, and behind the ')'. */
static bool c_cast(struct reader *r)
{
    struct reader ahead = *r;
    char room[DVI_LEX_ROOM], last[DVI_LEX_ROOM] = "";
    for (next(&ahead);; next(&ahead)) {
        if (ahead.token.kind == DVI_LEX_NAME) {
            const struct dvi_view v = dvi_lex_text(&ahead.lexer, &ahead.token, room);
            (void)snprintf(last, sizeof last, "%.*s", (int)v.size, (const char *)v.data);
        } else if (!dvi_lex_mark(&ahead.token, DVI_LEX_SCOPE)) {
            break;
        }
    }
    if (!dvi_lex_mark(&ahead.token, ')') || !is_type(last))
        return false;
    next(&ahead);
    *r = ahead;
    return true;
}

static void primary(struct reader *r, struct dvi_values *out)
{
    if (++r->work->steps > MOST_STEPS || r->depth > MOST_DEPTH ||
        ++r->sources->steps > DVI_SOURCE_STEPS) {
        set_unknown(out, DVI_WHY_TEXT, "an expression without end");
        return;
    }
    r->depth++;
    if (r->token.kind == DVI_LEX_NUMBER) {
        number(r, out);
    } else if (r->token.kind == DVI_LEX_NAME || dvi_lex_mark(&r->token, DVI_LEX_SCOPE)) {
        name(r, out);
    } else if (dvi_lex_mark(&r->token, '(')) {
        if (c_cast(r))
            primary(r, out);
        else
            inside(r, ')', out);
    } else if (r->token.kind == DVI_LEX_PUNCTUATOR && r->token.punctuator < 128 &&
               strchr("-+~!", r->token.punctuator) != NULL) {
        const int sign = r->token.punctuator;
        struct dvi_values one = { .state = DVI_VALUE_KNOWN };
        next(r);
        primary(r, &one);
        for (unsigned i = 0; i < one.count; i++) {
            if (sign == '-' &&
                one.items[i] == INT64_MIN) { /* no value: the type has no such number */
                set_unknown(&one, DVI_WHY_TEXT, "an expression without a value");
                break;
            }
            one.items[i] = sign == '-'   ? -one.items[i]
                           : sign == '~' ? ~one.items[i]
                           : sign == '!' ? one.items[i] == 0
                                         : one.items[i];
        }
        merge(out, &one);
    } else {
        unknown_token(r, out);
        next(r);
    }
    r->depth--;
}

/* ---- operators ---- */

enum { GREATER_EQUAL = 1000, SHIFT_RIGHT };

static const struct {
    int punctuator;
    unsigned precedence;
} operators[] = {
    { '*', 10 },       { '/', 10 },          { '%', 10 },
    { '+', 9 },        { '-', 9 },           { DVI_LEX_SHIFT_LEFT, 8 },
    { '<', 7 },        { '>', 7 },           { DVI_LEX_LESS_EQUAL, 7 },
    { '&', 5 },        { DVI_LEX_EQUAL, 6 }, { DVI_LEX_UNEQUAL, 6 },
    { '^', 4 },        { '|', 3 },           { DVI_LEX_AND, 2 },
    { DVI_LEX_OR, 1 },
};

/* The operator at hand and its precedence; 0: none. '>' and what touches it are put together. */
static unsigned operator_at(const struct reader *r, int *op, bool *two)
{
    *two = false;
    *op = r->token.kind == DVI_LEX_PUNCTUATOR ? r->token.punctuator : 0;
    if (*op == '>') {
        struct dvi_lexer ahead = r->lexer;
        struct dvi_lexeme second;
        dvi_lex(&ahead, &second);
        *two = dvi_lex_mark(&second, '>') || dvi_lex_mark(&second, '=');
        if (*two) {
            *op = second.punctuator == '>' ? SHIFT_RIGHT : GREATER_EQUAL;
            return second.punctuator == '>' ? 8 : 7;
        }
    }
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].punctuator == *op)
            return operators[i].precedence;
    return 0;
}

/* False: no value, as for a division by 0. */
static bool apply(int op, int64_t a, int64_t b, int64_t *out)
{
    const bool shifts = b >= 0 && b < 63 && a >= 0;
    switch (op) {
    case '*': return !__builtin_mul_overflow(a, b, out);
    case '+': return !__builtin_add_overflow(a, b, out);
    case '-': return !__builtin_sub_overflow(a, b, out);
    case '/':
    case '%':
        if (b == 0 || (a == INT64_MIN && b == -1))
            return false;
        *out = op == '/' ? a / b : a % b;
        return true;
    case DVI_LEX_SHIFT_LEFT:
        if (!shifts || a > INT64_MAX >> b)
            return false;
        *out = a << b;
        return true;
    case SHIFT_RIGHT: *out = shifts ? a >> b : 0; return shifts;
    case '<': *out = a < b; return true;
    case '>': *out = a > b; return true;
    case DVI_LEX_LESS_EQUAL: *out = a <= b; return true;
    case GREATER_EQUAL: *out = a >= b; return true;
    case DVI_LEX_EQUAL: *out = a == b; return true;
    case DVI_LEX_UNEQUAL: *out = a != b; return true;
    case '&': *out = a & b; return true;
    case '^': *out = a ^ b; return true;
    case '|': *out = a | b; return true;
    case DVI_LEX_AND: *out = a != 0 && b != 0; return true;
    default: *out = a != 0 || b != 0; return true;
    }
}

static bool is_all(const struct dvi_values *v, bool truth)
{
    for (unsigned i = 0; i < v->count; i++)
        if ((v->items[i] != 0) != truth)
            return false;
    return v->state == DVI_VALUE_KNOWN && v->count > 0;
}

/* What one side of && and || decides is so whatever the other is. */
static void combine(int op, const struct dvi_values *a, const struct dvi_values *b,
                    struct dvi_values *out)
{
    struct dvi_values result = { .state = DVI_VALUE_KNOWN };
    const bool decides = op == DVI_LEX_OR;
    if ((op == DVI_LEX_AND || decides) && (is_all(a, decides) || is_all(b, decides))) {
        add_value(&result, decides);
        *out = result;
        return;
    }
    if (a->state != DVI_VALUE_KNOWN || b->state != DVI_VALUE_KNOWN) {
        merge(&result, a);
        merge(&result, b);
        *out = result;
        return;
    }
    for (unsigned i = 0; i < a->count; i++)
        for (unsigned k = 0; k < b->count; k++) {
            int64_t value = 0;
            if (apply(op, a->items[i], b->items[k], &value))
                add_value(&result, value);
            else
                set_unknown(&result, DVI_WHY_TEXT, "an expression without a value");
        }
    *out = result;
}

/* a ? b : c, behind the '?' */
static void conditional(struct reader *r, struct dvi_values *out)
{
    const struct dvi_values condition = *out;
    struct dvi_values yes = { .state = DVI_VALUE_KNOWN }, no = { .state = DVI_VALUE_KNOWN };
    next(r);
    expression(r, 0, &yes);
    if (!dvi_lex_mark(&r->token, ':')) {
        unknown_token(r, out);
        return;
    }
    next(r);
    expression(r, 0, &no);
    if (condition.state != DVI_VALUE_KNOWN)
        return;
    *out = (struct dvi_values){ .state = DVI_VALUE_KNOWN };
    for (unsigned i = 0; i < condition.count; i++)
        merge(out, condition.items[i] != 0 ? &yes : &no);
}

static void expression(struct reader *r, unsigned least, struct dvi_values *out)
{
    int op = 0;
    bool two = false;
    if (++r->depth <= MOST_DEPTH)
        primary(r, out);
    else
        set_unknown(out, DVI_WHY_TEXT, "an expression without end");
    for (unsigned p; (p = operator_at(r, &op, &two)) > least && r->work->steps <= MOST_STEPS &&
                     r->depth <= MOST_DEPTH;) {
        struct dvi_values right = { .state = DVI_VALUE_KNOWN };
        next(r);
        if (two)
            next(r);
        expression(r, p, &right);
        const struct dvi_values left = *out;
        combine(op, &left, &right, out);
    }
    if (least == 0 && dvi_lex_mark(&r->token, '?'))
        conditional(r, out);
    r->depth--;
}

/* The first name of the text that is a parameter around it, not behind "::" or ".". */
static bool find_param(struct dvi_sources *s, const struct dvi_source_place *place,
                       const char *text, char *out, size_t room_size)
{
    const struct dvi_source *source = &s->items[place->source];
    const uint32_t scope = place->scope;
    struct dvi_lexer l = dvi_lexer_of(dvi_view_of(text, strlen(text), NULL));
    struct dvi_lexeme t, before = { .kind = DVI_LEX_END };
    for (dvi_lex(&l, &t); t.kind != DVI_LEX_END; before = t, dvi_lex(&l, &t)) {
        char room[DVI_LEX_ROOM], word[DVI_LEX_ROOM];
        if (t.kind != DVI_LEX_NAME || dvi_lex_mark(&before, DVI_LEX_SCOPE) ||
            dvi_lex_mark(&before, '.'))
            continue;
        const struct dvi_view v = dvi_lex_text(&l, &t, room);
        (void)snprintf(word, sizeof word, "%.*s", (int)v.size, (const char *)v.data);
        s->steps += source->scopes.items[scope].depth;
        if (dvi_source_is_param(source, scope, word, DVI_SCOPE_TEMPLATE) ||
            dvi_source_is_param(source, scope, word, DVI_SCOPE_MACRO)) {
            (void)snprintf(out, room_size, "%.95s", word);
            return true;
        }
    }
    return false;
}

static void evaluate(struct dvi_sources *s, const struct dvi_source_place *place, const char *text,
                     unsigned depth, struct work *work, struct dvi_values *out)
{
    struct reader r = { .sources = s, .place = *place, .depth = depth, .work = work };
    char param[sizeof out->name];
    if (depth > MOST_DEPTH) {
        set_unknown(out, DVI_WHY_TEXT, "a name that stands for itself");
        return;
    }
    if (find_param(s, place, text, param, sizeof param)) {
        out->state = DVI_VALUE_PARAMETER;
        out->count = 0;
        memcpy(out->name, param, sizeof param);
        return;
    }
    r.lexer = dvi_lexer_of(dvi_view_of(text, strlen(text), NULL));
    r.lexer.line_begun = true; /* a '#' is no directive */
    next(&r);
    expression(&r, 0, out);
    if (out->state == DVI_VALUE_KNOWN && r.token.kind != DVI_LEX_END)
        unknown_token(&r, out);
    if (out->state == DVI_VALUE_KNOWN && out->count == 0)
        set_unknown(out, DVI_WHY_TEXT, text);
}

void dvi_source_value(struct dvi_sources *sources, size_t source, uint32_t scope, size_t offset,
                      const char *text, struct dvi_values *out)
{
    const struct dvi_source_place place = { source, scope, offset };
    struct work work = { .steps = 0 };
    *out = (struct dvi_values){ .state = DVI_VALUE_KNOWN };
    evaluate(sources, &place, text, 0, &work, out);
    dvi_arena_free(&work.scratch);
}
