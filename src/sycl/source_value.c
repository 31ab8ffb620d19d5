/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions by precedence climbing, as [expr] of ISO C++20 orders operators. Where several
 * definitions of a name may be meant, every one counts.
 */
#include "sycl/source_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sycl/source_reader.h"

/* ---- values ---- */

void dvi_value_unknown(struct dvi_values *out, enum dvi_value_why why, const char *name)
{
    if (out->state == DVI_VALUE_UNKNOWN || out->state == DVI_VALUE_PARAMETER)
        return;
    out->state = DVI_VALUE_UNKNOWN;
    out->why = why;
    out->count = 0;
    (void)snprintf(out->name, sizeof out->name, "%.95s", name);
}

void dvi_value_add(struct dvi_values *out, int64_t value)
{
    for (unsigned i = 0; i < out->count; i++)
        if (out->items[i] == value)
            return;
    if (out->count == DVI_VALUES_MOST)
        dvi_value_unknown(out, DVI_WHY_TEXT, "a name with more than 16 values");
    else if (out->state == DVI_VALUE_KNOWN)
        out->items[out->count++] = value;
}

void dvi_value_merge(struct dvi_values *out, const struct dvi_values *more)
{
    if (*out->unless == 0)
        memcpy(out->unless, more->unless, sizeof out->unless);
    if (more->state == DVI_VALUE_KNOWN)
        for (unsigned i = 0; i < more->count; i++)
            dvi_value_add(out, more->items[i]);
    else if (out->state == DVI_VALUE_KNOWN || more->state == DVI_VALUE_PARAMETER)
        *out = *more;
}

void dvi_reader_next(struct dvi_reader *r)
{
    dvi_lex(&r->lexer, &r->token);
}

void dvi_reader_unknown(struct dvi_reader *r, struct dvi_values *out)
{
    char text[64];
    const struct dvi_view v =
        dvi_head(dvi_from(r->lexer.source, r->token.at), r->token.size < 48 ? r->token.size : 48);
    (void)snprintf(text, sizeof text, "%.*s", (int)v.size, (const char *)v.data);
    dvi_value_unknown(out, DVI_WHY_TEXT, v.size > 0 ? text : "an expression that is cut");
}

static void expression(struct dvi_reader *r, unsigned least, struct dvi_values *out);

static int digit_of(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static void number(struct dvi_reader *r, struct dvi_values *out)
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
            dvi_reader_unknown(r, out);
            return;
        }
        value = value * (uint64_t)base + (uint64_t)digit;
        any = true;
    }
    for (; v.size > 0 && strchr("uUlLzZ", v.data[0]) != NULL; v = dvi_from(v, 1))
        ;
    if (!any || v.size > 0)
        dvi_reader_unknown(r, out);
    else
        dvi_value_add(out, (int64_t)value);
    dvi_reader_next(r);
}

/* Names of integer types: T(x), T{x} and (T)x are x. */
bool dvi_is_integer_type(const char *name)
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
void dvi_read_inside(struct dvi_reader *r, int close, struct dvi_values *out)
{
    dvi_reader_next(r);
    expression(r, 0, out);
    if (!dvi_lex_mark(&r->token, close))
        dvi_reader_unknown(r, out);
    dvi_reader_next(r);
}

/* static_cast<T>(x) */
void dvi_read_cast(struct dvi_reader *r, struct dvi_values *out)
{
    for (unsigned i = 0; i < 16 && !dvi_lex_mark(&r->token, '>') && r->token.kind != DVI_LEX_END;
         i++)
        dvi_reader_next(r);
    dvi_reader_next(r);
    if (dvi_lex_mark(&r->token, '('))
        dvi_read_inside(r, ')', out);
    else
        dvi_reader_unknown(r, out);
}

/* "(unsigned) x": true, and behind the ')'. */
static bool c_cast(struct dvi_reader *r)
{
    struct dvi_reader ahead = *r;
    char room[DVI_LEX_ROOM], last[DVI_LEX_ROOM] = "";
    for (dvi_reader_next(&ahead);; dvi_reader_next(&ahead)) {
        if (ahead.token.kind == DVI_LEX_NAME) {
            const struct dvi_view v = dvi_lex_text(&ahead.lexer, &ahead.token, room);
            (void)snprintf(last, sizeof last, "%.*s", (int)v.size, (const char *)v.data);
        } else if (!dvi_lex_mark(&ahead.token, DVI_LEX_SCOPE)) {
            break;
        }
    }
    if (!dvi_lex_mark(&ahead.token, ')') || !dvi_is_integer_type(last))
        return false;
    dvi_reader_next(&ahead);
    *r = ahead;
    return true;
}

static void primary(struct dvi_reader *r, struct dvi_values *out)
{
    if (++r->work->steps > DVI_READER_STEPS || r->depth > DVI_READER_DEPTH ||
        ++r->sources->steps > DVI_SOURCE_STEPS) {
        dvi_value_unknown(out, DVI_WHY_TEXT, "an expression without end");
        return;
    }
    r->depth++;
    if (r->token.kind == DVI_LEX_NUMBER) {
        number(r, out);
    } else if (r->token.kind == DVI_LEX_NAME || dvi_lex_mark(&r->token, DVI_LEX_SCOPE)) {
        dvi_read_name(r, out);
    } else if (dvi_lex_mark(&r->token, '(')) {
        if (c_cast(r))
            primary(r, out);
        else
            dvi_read_inside(r, ')', out);
    } else if (r->token.kind == DVI_LEX_PUNCTUATOR && r->token.punctuator < 128 &&
               strchr("-+~!", r->token.punctuator) != NULL) {
        const int sign = r->token.punctuator;
        struct dvi_values one = { .state = DVI_VALUE_KNOWN };
        dvi_reader_next(r);
        primary(r, &one);
        for (unsigned i = 0; i < one.count; i++) {
            if (sign == '-' &&
                one.items[i] == INT64_MIN) { /* no value: the type has no such number */
                dvi_value_unknown(&one, DVI_WHY_TEXT, "an expression without a value");
                break;
            }
            one.items[i] = sign == '-'   ? -one.items[i]
                           : sign == '~' ? ~one.items[i]
                           : sign == '!' ? one.items[i] == 0
                                         : one.items[i];
        }
        dvi_value_merge(out, &one);
    } else {
        dvi_reader_unknown(r, out);
        dvi_reader_next(r);
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
static unsigned operator_at(const struct dvi_reader *r, int *op, bool *two)
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
        dvi_value_add(&result, decides);
        *out = result;
        return;
    }
    if (a->state != DVI_VALUE_KNOWN || b->state != DVI_VALUE_KNOWN) {
        dvi_value_merge(&result, a);
        dvi_value_merge(&result, b);
        *out = result;
        return;
    }
    for (unsigned i = 0; i < a->count; i++)
        for (unsigned k = 0; k < b->count; k++) {
            int64_t value = 0;
            if (apply(op, a->items[i], b->items[k], &value))
                dvi_value_add(&result, value);
            else
                dvi_value_unknown(&result, DVI_WHY_TEXT, "an expression without a value");
        }
    *out = result;
}

/* a ? b : c, behind the '?' */
static void conditional(struct dvi_reader *r, struct dvi_values *out)
{
    const struct dvi_values condition = *out;
    struct dvi_values yes = { .state = DVI_VALUE_KNOWN }, no = { .state = DVI_VALUE_KNOWN };
    dvi_reader_next(r);
    expression(r, 0, &yes);
    if (!dvi_lex_mark(&r->token, ':')) {
        dvi_reader_unknown(r, out);
        return;
    }
    dvi_reader_next(r);
    expression(r, 0, &no);
    if (condition.state != DVI_VALUE_KNOWN)
        return;
    *out = (struct dvi_values){ .state = DVI_VALUE_KNOWN };
    for (unsigned i = 0; i < condition.count; i++)
        dvi_value_merge(out, condition.items[i] != 0 ? &yes : &no);
}

static void expression(struct dvi_reader *r, unsigned least, struct dvi_values *out)
{
    int op = 0;
    bool two = false;
    if (++r->depth <= DVI_READER_DEPTH)
        primary(r, out);
    else
        dvi_value_unknown(out, DVI_WHY_TEXT, "an expression without end");
    for (unsigned p; (p = operator_at(r, &op, &two)) > least &&
                     r->work->steps <= DVI_READER_STEPS && r->depth <= DVI_READER_DEPTH;) {
        struct dvi_values right = { .state = DVI_VALUE_KNOWN };
        dvi_reader_next(r);
        if (two)
            dvi_reader_next(r);
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

void dvi_evaluate(struct dvi_sources *s, const struct dvi_source_place *place, const char *text,
                  unsigned depth, struct dvi_work *work, struct dvi_values *out)
{
    struct dvi_reader r = { .sources = s, .place = *place, .depth = depth, .work = work };
    char param[sizeof out->name];
    if (depth > DVI_READER_DEPTH) {
        dvi_value_unknown(out, DVI_WHY_TEXT, "a name that stands for itself");
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
    dvi_reader_next(&r);
    expression(&r, 0, out);
    if (out->state == DVI_VALUE_KNOWN && r.token.kind != DVI_LEX_END)
        dvi_reader_unknown(&r, out);
    if (out->state == DVI_VALUE_KNOWN && out->count == 0)
        dvi_value_unknown(out, DVI_WHY_TEXT, text);
}

void dvi_source_value(struct dvi_sources *sources, size_t source, uint32_t scope, size_t offset,
                      const char *text, struct dvi_values *out)
{
    const struct dvi_source_place place = { source, scope, offset };
    struct dvi_work work = { .steps = 0 };
    *out = (struct dvi_values){ .state = DVI_VALUE_KNOWN };
    dvi_evaluate(sources, &place, text, 0, &work, out);
    dvi_arena_free(&work.scratch);
}
