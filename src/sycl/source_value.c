/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions by precedence climbing, as [expr] of ISO C++20 orders operators. Where several
 * definitions of a name may be meant, every one counts.
 */
#include "sycl/source_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sycl/source_names.h"
#include "sycl/source_scanner.h"

enum { MOST_DEPTH = 200, MOST_STEPS = 20000 };

/* ---- values ---- */

struct reader {
    struct dvi_sources *sources;
    struct dvi_source_place place;
    struct dvi_lexer lexer;
    struct dvi_lexeme token; /* the next one */
    unsigned depth;
    unsigned *steps;
};

static void set_unknown(struct dvi_values *out, const char *name)
{
    if (out->state == DVI_VALUE_UNKNOWN || out->state == DVI_VALUE_PARAMETER)
        return;
    out->state = DVI_VALUE_UNKNOWN;
    out->count = 0;
    (void)snprintf(out->name, sizeof out->name, "%.95s", name);
}

static void add_value(struct dvi_values *out, int64_t value)
{
    for (unsigned i = 0; i < out->count; i++)
        if (out->items[i] == value)
            return;
    if (out->count == DVI_VALUES_MOST)
        set_unknown(out, "a name with more than 16 values");
    else if (out->state == DVI_VALUE_KNOWN)
        out->items[out->count++] = value;
}

static void merge(struct dvi_values *out, const struct dvi_values *more)
{
    if (more->state == DVI_VALUE_KNOWN)
        for (unsigned i = 0; i < more->count; i++)
            add_value(out, more->items[i]);
    else if (out->state == DVI_VALUE_KNOWN)
        *out = *more;
    else if (more->state == DVI_VALUE_PARAMETER)
        *out = *more;
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
    set_unknown(out, v.size > 0 ? text : "an expression that is cut");
}

static void expression(struct reader *r, unsigned least, struct dvi_values *out);
static void evaluate(struct dvi_sources *s, const struct dvi_source_place *place, const char *text,
                     unsigned depth, unsigned *steps, struct dvi_values *out);

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

/* What a name may stand for where it is used in `place`. */
static void lookup(struct reader *r, const char *text, struct dvi_values *out)
{
    struct dvi_source_path path;
    struct dvi_source_found found;
    if (!dvi_source_split(text, &path)) {
        set_unknown(out, text);
        return;
    }
    for (size_t i = 0; *path.prefix == 0 && !path.global && i < r->sources->define_count; i++) {
        if (strcmp(r->sources->defines[i].name, path.last) != 0)
            continue;
        evaluate(r->sources, &r->place, r->sources->defines[i].text, r->depth + 1, r->steps, out);
        return;
    }
    dvi_source_find(r->sources, &r->place, &path, &found);
    for (unsigned i = 0; i < found.count; i++) {
        const struct dvi_constant *c = found.items[i];
        struct dvi_values one = { .state = DVI_VALUE_KNOWN };
        evaluate(r->sources, &found.at[i], c->text, r->depth + 1, r->steps, &one);
        merge(out, &one);
    }
    if (found.cut || (found.count == 0 && *path.prefix == 0))
        set_unknown(out, text);
    if (found.count > 0 || *path.prefix == 0 || out->state != DVI_VALUE_KNOWN)
        return;
    /* the first name may be an alias: look the rest up in what it stands for */
    char head[256];
    const size_t size = strcspn(path.prefix, ":");
    struct dvi_source_path alias;
    memcpy(head, path.prefix, size);
    head[size] = 0;
    const char *rest = strstr(text, head) + size;
    if (dvi_source_split(head, &alias))
        dvi_source_find(r->sources, &r->place, &alias, &found);
    for (unsigned i = 0; i < found.count; i++) {
        char whole[512];
        struct dvi_values one = { .state = DVI_VALUE_KNOWN };
        if (found.items[i]->kind != DVI_CONSTANT_ALIAS || strcmp(found.items[i]->text, head) == 0)
            continue;
        (void)snprintf(whole, sizeof whole, "%s%s", found.items[i]->text, rest);
        evaluate(r->sources, &found.at[i], whole, r->depth + 1, r->steps, &one);
        merge(out, &one);
    }
    if (out->state == DVI_VALUE_KNOWN && out->count == 0)
        set_unknown(out, text);
}

static void name(struct reader *r, struct dvi_values *out)
{
    struct dvi_spelling path = { .size = 0 };
    char room[DVI_LEX_ROOM];
    char last[DVI_LEX_ROOM] = "";
    bool wants_name = true, any = false;
    for (;;) {
        const bool scope = dvi_lex_mark(&r->token, DVI_LEX_SCOPE);
        if (!scope && (r->token.kind != DVI_LEX_NAME || !wants_name))
            break;
        if (!scope) {
            const struct dvi_view v = dvi_lex_text(&r->lexer, &r->token, room);
            (void)snprintf(last, sizeof last, "%.*s", (int)v.size, (const char *)v.data);
            any = true;
        }
        wants_name = scope;
        dvi_spell(&path, &r->lexer, &r->token);
        next(r);
    }
    path.bytes[path.size] = 0; /* dvi_spell() leaves room for it */
    if (path.cut || wants_name || !any) {
        set_unknown(out, "a name that is too long or cut");
    } else if (strcmp(path.bytes, "static_cast") == 0 && dvi_lex_mark(&r->token, '<')) {
        cast(r, out);
    } else if (strcmp(path.bytes, "true") == 0 || strcmp(path.bytes, "false") == 0) {
        add_value(out, *path.bytes == 't');
    } else if (is_type(last)) {
        while (r->token.kind == DVI_LEX_NAME) /* unsigned long */
            next(r);
        if (dvi_lex_mark(&r->token, '(') || dvi_lex_mark(&r->token, '{'))
            inside(r, dvi_lex_mark(&r->token, '(') ? ')' : '}', out);
        else
            set_unknown(out, path.bytes);
    } else if (dvi_lex_mark(&r->token, '(') || dvi_lex_mark(&r->token, '{') ||
               dvi_lex_mark(&r->token, DVI_LEX_PASTE)) {
        set_unknown(out, path.bytes); /* a call, or a name that is not whole yet */
    } else {
        lookup(r, path.bytes, out);
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
    if (++*r->steps > MOST_STEPS || r->depth > MOST_DEPTH ||
        ++r->sources->steps > DVI_SOURCE_STEPS) {
        set_unknown(out, "an expression without end");
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
                set_unknown(&one, "an expression without a value");
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

static void combine(int op, const struct dvi_values *a, const struct dvi_values *b,
                    struct dvi_values *out)
{
    struct dvi_values result = { .state = DVI_VALUE_KNOWN };
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
                set_unknown(&result, "an expression without a value");
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
        set_unknown(out, "an expression without end");
    for (unsigned p; (p = operator_at(r, &op, &two)) > least && *r->steps <= MOST_STEPS &&
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
static bool find_param(const struct dvi_source *source, uint32_t scope, const char *text, char *out,
                       size_t room_size)
{
    struct dvi_lexer l = dvi_lexer_of(dvi_view_of(text, strlen(text), NULL));
    struct dvi_lexeme t, before = { .kind = DVI_LEX_END };
    for (dvi_lex(&l, &t); t.kind != DVI_LEX_END; before = t, dvi_lex(&l, &t)) {
        char room[DVI_LEX_ROOM], word[DVI_LEX_ROOM];
        if (t.kind != DVI_LEX_NAME || dvi_lex_mark(&before, DVI_LEX_SCOPE) ||
            dvi_lex_mark(&before, '.'))
            continue;
        const struct dvi_view v = dvi_lex_text(&l, &t, room);
        (void)snprintf(word, sizeof word, "%.*s", (int)v.size, (const char *)v.data);
        if (dvi_source_is_param(source, scope, word, DVI_SCOPE_TEMPLATE) ||
            dvi_source_is_param(source, scope, word, DVI_SCOPE_MACRO)) {
            (void)snprintf(out, room_size, "%.95s", word);
            return true;
        }
    }
    return false;
}

static void evaluate(struct dvi_sources *s, const struct dvi_source_place *place, const char *text,
                     unsigned depth, unsigned *steps, struct dvi_values *out)
{
    struct reader r = { .sources = s, .place = *place, .depth = depth, .steps = steps };
    char param[sizeof out->name];
    if (depth > MOST_DEPTH) {
        set_unknown(out, "a name that stands for itself");
        return;
    }
    if (find_param(&s->items[place->source], place->scope, text, param, sizeof param)) {
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
        set_unknown(out, text);
}

void dvi_source_value(struct dvi_sources *sources, size_t source, uint32_t scope, size_t offset,
                      const char *text, struct dvi_values *out)
{
    const struct dvi_source_place place = { source, scope, offset };
    unsigned steps = 0;
    *out = (struct dvi_values){ .state = DVI_VALUE_KNOWN };
    evaluate(sources, &place, text, 0, &steps, out);
}

/* ---- replacing ---- */

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
