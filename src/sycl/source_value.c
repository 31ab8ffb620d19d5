/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions by precedence climbing, as [expr] of ISO C++20 orders operators; names as
 * [basic.lookup] finds them, as far as can be told without opening what is included. Where several
 * definitions may be meant, every one counts.
 */
#include "sycl/source_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sycl/source_scanner.h"

enum { MOST_DEPTH = 200, MOST_STEPS = 20000, MOST_FOUND = 16, NOWHERE = 1000 };
static const uint64_t most_steps = 50000000; /* of all expressions together */

struct dvi_source_ref {
    uint32_t source, constant;
    uint32_t next;     /* 1 + the next of the chain; 0: none */
    uint32_t own_next; /* likewise, of the chain of this name in this source */
};

/* The chain of a name in one source: that is where most names are found. */
static uint32_t own_slot(const struct dvi_sources *s, uint32_t hash, size_t source)
{
    return (hash ^ (uint32_t)source * UINT32_C(0x9e3779b1)) & s->mask;
}

/* ---- the index ---- */

static uint32_t size_for(size_t count)
{
    uint32_t size = 16;
    while (size < count && size < UINT32_MAX / 2)
        size *= 2;
    return size;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

enum devimg_status dvi_sources_index(struct dvi_sources *s, struct devimg_error *err)
{
    size_t constants = 0, at = 0;
    for (size_t i = 0; i < s->count; i++)
        constants += s->items[i].constants.count;
    const uint32_t size = size_for(constants), named_size = size_for(s->count);
    s->refs = calloc(constants + 1, sizeof *s->refs);
    s->named = calloc(s->count + 1, sizeof *s->named);
    s->heads = calloc(size, sizeof *s->heads);
    s->own_heads = calloc(size, sizeof *s->own_heads);
    s->named_heads = calloc(named_size, sizeof *s->named_heads);
    s->reached = calloc(s->count + 1, 1);
    s->mask = size - 1;
    s->named_mask = named_size - 1;
    s->reached_from = SIZE_MAX;
    if (s->refs == NULL || s->named == NULL || s->heads == NULL || s->own_heads == NULL ||
        s->named_heads == NULL || s->reached == NULL)
        return dvi_fail_memory(err, "lint");
    if (constants >= UINT32_MAX)
        return dvi_fail_plain(err, DEVIMG_LIMIT, "lint", "too many constants");
    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < s->items[i].constants.count; k++) {
            const uint32_t hash = s->items[i].constants.items[k].hash;
            uint32_t *head = &s->heads[hash & s->mask], *own = &s->own_heads[own_slot(s, hash, i)];
            s->refs[at] = (struct dvi_source_ref){ (uint32_t)i, (uint32_t)k, *head, *own };
            *head = *own = (uint32_t)++at;
        }
        const char *name = base_name(s->paths[i]);
        uint32_t *head = &s->named_heads[dvi_lex_hash(name, strlen(name)) & s->named_mask];
        s->named[i] = (struct dvi_source_ref){ .source = (uint32_t)i, .next = *head };
        *head = (uint32_t)(i + 1);
    }
    return DEVIMG_OK;
}

void dvi_sources_free(struct dvi_sources *s)
{
    free(s->refs);
    free(s->named);
    free(s->heads);
    free(s->own_heads);
    free(s->named_heads);
    free(s->reached);
}

/* ---- which sources a source includes ---- */

static bool ends_with_path(const char *path, const char *name)
{
    const size_t path_size = strlen(path), size = strlen(name);
    return size <= path_size && strcmp(path + path_size - size, name) == 0 &&
           (size == path_size || path[path_size - size - 1] == '/');
}

static void reach(struct dvi_sources *s, const char *include, uint32_t *left, size_t *left_count)
{
    while (strncmp(include, "./", 2) == 0 || strncmp(include, "../", 3) == 0)
        include += include[1] == '/' ? 2 : 3;
    const char *name = base_name(include);
    for (uint32_t at = s->named_heads[dvi_lex_hash(name, strlen(name)) & s->named_mask]; at != 0;
         at = s->named[at - 1].next) {
        const uint32_t other = s->named[at - 1].source;
        if (s->reached[other] != 0 || !ends_with_path(s->paths[other], include))
            continue;
        s->reached[other] = 1;
        left[(*left_count)++] = other;
    }
}

static void reach_from(struct dvi_sources *s, size_t from)
{
    if (s->reached_from == from)
        return;
    memset(s->reached, 0, s->count);
    s->reached_from = from;
    uint32_t *left = calloc(s->count + 1, sizeof *left); /* each source enters once */
    size_t count = 0;
    if (left == NULL)
        return; /* then all sources are alike: more definitions count */
    s->reached[from] = 1;
    left[count++] = (uint32_t)from;
    while (count > 0) {
        const struct dvi_source *source = &s->items[left[--count]];
        for (size_t i = 0; i < source->includes.count; i++)
            reach(s, source->includes.items[i], left, &count);
    }
    free(left);
}

/* ---- names ---- */

/* Where an expression stands. */
struct place {
    size_t source;
    uint32_t scope;
    size_t offset;
};

struct found {
    struct place at[MOST_FOUND]; /* of the constant's own text */
    const struct dvi_constant *items[MOST_FOUND];
    unsigned count, rank;
    bool cut;
};

/* "a::b::c": what stands before the last "::", and behind it. */
struct path {
    char prefix[256];
    const char *last;
    bool global; /* it starts with "::" */
};

static bool split_path(const char *text, struct path *out)
{
    out->global = strncmp(text, "::", 2) == 0;
    if (out->global)
        text += 2;
    out->last = text;
    for (const char *p = text; *p != 0; p++)
        if (p[0] == ':' && p[1] == ':')
            out->last = p + 2;
    const size_t size = out->last == text ? 0 : (size_t)(out->last - text) - 2;
    if (size >= sizeof out->prefix)
        return false;
    memcpy(out->prefix, text, size);
    out->prefix[size] = 0;
    return *out->last != 0;
}

/* Is `path` the first `size` bytes of `scope`, then `prefix`? */
static bool is_joined(const char *path, const char *scope, size_t size, const char *prefix)
{
    if (strncmp(path, scope, size) != 0)
        return false;
    path += size;
    if (size > 0 && *prefix != 0) {
        if (strncmp(path, "::", 2) != 0)
            return false;
        path += 2;
    }
    return strcmp(path, prefix) == 0;
}

/* How many scopes lie between the place and the one that `path` is found in; NOWHERE: it is not. */
static unsigned scopes_between(const char *path, const char *scope, const struct path *name)
{
    size_t size = strlen(scope);
    for (unsigned away = 0;; away++) {
        if ((!name->global || size == 0) && is_joined(path, scope, size, name->prefix))
            return away;
        if (size == 0)
            return NOWHERE;
        do
            size--;
        while (size > 0 && !(scope[size] == ':' && scope[size + 1] == ':'));
    }
}

static bool ends_with_scope(const char *path, const char *suffix)
{
    const size_t path_size = strlen(path), size = strlen(suffix);
    if (size == 0)
        return true;
    return size <= path_size && strcmp(path + path_size - size, suffix) == 0 &&
           (size == path_size || path[path_size - size - 1] == ':');
}

/* A block that the constant is local to; 0: none. */
static uint32_t block_of(const struct dvi_source *source, uint32_t scope)
{
    for (; scope != 0; scope = source->scopes.items[scope].parent) {
        const enum dvi_scope_kind kind = source->scopes.items[scope].kind;
        if (kind == DVI_SCOPE_BLOCK || kind == DVI_SCOPE_MACRO)
            return scope;
        if (kind == DVI_SCOPE_NAMED)
            return 0;
    }
    return 0;
}

/* How far up `outer` is from `inner`; NOWHERE: it is not around it. */
static unsigned blocks_between(const struct dvi_source *source, uint32_t inner, uint32_t outer)
{
    for (unsigned away = 0; away < NOWHERE; away++) {
        if (inner == outer)
            return away;
        if (inner == 0)
            break;
        inner = source->scopes.items[inner].parent;
    }
    return NOWHERE;
}

/* Is the constant seen through a "using namespace" of the place's file? */
static bool is_used(const struct dvi_source *source, const char *path, const struct path *name)
{
    for (uint32_t i = 0; i < source->using_count; i++) {
        char joined[512];
        const int size = snprintf(joined, sizeof joined, "%s%s%s", source->usings[i],
                                  *name->prefix != 0 ? "::" : "", name->prefix);
        if (size > 0 && (size_t)size < sizeof joined &&
            ends_with_scope(path, strncmp(joined, "::", 2) == 0 ? joined + 2 : joined))
            return true;
    }
    return false;
}

/*
 * The lower the better: a macro or local constant of the file; one of a scope around, in the file,
 * in what it includes, in any source; one that only its last names tell.
 */
enum {
    RANK_FILE = 10000,
    RANK_INCLUDED = 20000,
    RANK_ANY = 30000,
    RANK_TAIL = 40000,
    RANK_NONE = 90000
};

static unsigned rank_of(struct dvi_sources *s, const struct place *place, const struct path *name,
                        const struct dvi_source_ref *ref)
{
    const struct dvi_source *from = &s->items[place->source], *source = &s->items[ref->source];
    const struct dvi_constant *c = &source->constants.items[ref->constant];
    const bool own = ref->source == place->source;
    const unsigned base = own ? RANK_FILE : s->reached[ref->source] != 0 ? RANK_INCLUDED : RANK_ANY;
    const bool in_macro = dvi_source_macro(from, place->scope) != NULL;
    if (own && !in_macro && (place->offset < c->begin || place->offset >= c->end))
        return RANK_NONE;
    if (c->kind == DVI_CONSTANT_MACRO)
        return *name->prefix != 0 || name->global ? RANK_NONE : own ? 0 : base;
    const uint32_t block = block_of(source, c->scope);
    if (block != 0) {
        const unsigned away = own ? blocks_between(from, place->scope, c->scope) : NOWHERE;
        return away < NOWHERE && *name->prefix == 0 && !name->global ? 1 + away : RANK_NONE;
    }
    const char *path = source->scopes.items[c->scope].path;
    const unsigned away = scopes_between(path, from->scopes.items[place->scope].path, name);
    if (away < NOWHERE)
        return base + 1 + away;
    if (!name->global && is_used(from, path, name))
        return base + NOWHERE;
    const bool tail =
        ends_with_scope(path, name->prefix) && (own || *name->prefix != 0 || in_macro);
    return tail && !name->global ? RANK_TAIL + base : RANK_NONE;
}

static void take_found(struct dvi_sources *s, const struct dvi_source_ref *ref, unsigned rank,
                       struct found *out)
{
    if (rank >= RANK_NONE || rank > out->rank)
        return;
    if (rank < out->rank) {
        out->rank = rank;
        out->count = 0;
        out->cut = false;
    }
    const struct dvi_constant *c = &s->items[ref->source].constants.items[ref->constant];
    for (unsigned i = 0; i < out->count; i++)
        if (out->items[i]->kind == c->kind && strcmp(out->items[i]->text, c->text) == 0 &&
            out->at[i].source == ref->source && out->at[i].scope == c->scope)
            return;
    if (out->count == MOST_FOUND) {
        out->cut = true;
        return;
    }
    /* a macro's text stands where the macro is used: it sees what is defined by then */
    out->at[out->count] = (struct place){ ref->source, c->scope,
                                          c->kind == DVI_CONSTANT_MACRO ? SIZE_MAX - 1 : c->begin };
    out->items[out->count++] = c;
}

static bool has_name(const struct dvi_sources *s, const struct dvi_source_ref *ref, uint32_t hash,
                     const char *name)
{
    const struct dvi_constant *c = &s->items[ref->source].constants.items[ref->constant];
    return c->hash == hash && strcmp(c->name, name) == 0;
}

static void find(struct dvi_sources *s, const struct place *place, const struct path *name,
                 struct found *out)
{
    const uint32_t hash = dvi_lex_hash(name->last, strlen(name->last));
    *out = (struct found){ .rank = RANK_NONE };
    for (uint32_t at = s->own_heads[own_slot(s, hash, place->source)]; at != 0;) {
        const struct dvi_source_ref *ref = &s->refs[at - 1];
        if (ref->source == place->source && has_name(s, ref, hash, name->last))
            take_found(s, ref, rank_of(s, place, name, ref), out);
        if (++s->steps > most_steps) {
            out->cut = true;
            return;
        }
        at = ref->own_next;
    }
    if (out->rank < RANK_INCLUDED) /* nothing elsewhere comes before it */
        return;
    reach_from(s, place->source);
    for (uint32_t at = s->heads[hash & s->mask]; at != 0; at = s->refs[at - 1].next) {
        const struct dvi_source_ref *ref = &s->refs[at - 1];
        if (++s->steps > most_steps) {
            out->cut = true;
            return;
        }
        if (ref->source != place->source && has_name(s, ref, hash, name->last))
            take_found(s, ref, rank_of(s, place, name, ref), out);
    }
}

/* ---- values ---- */

struct reader {
    struct dvi_sources *sources;
    struct place place;
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
static void evaluate(struct dvi_sources *s, const struct place *place, const char *text,
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
    struct path path;
    struct found found;
    if (!split_path(text, &path)) {
        set_unknown(out, text);
        return;
    }
    for (size_t i = 0; *path.prefix == 0 && !path.global && i < r->sources->define_count; i++) {
        if (strcmp(r->sources->defines[i].name, path.last) != 0)
            continue;
        evaluate(r->sources, &r->place, r->sources->defines[i].text, r->depth + 1, r->steps, out);
        return;
    }
    find(r->sources, &r->place, &path, &found);
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
    struct path alias;
    memcpy(head, path.prefix, size);
    head[size] = 0;
    const char *rest = strstr(text, head) + size;
    if (split_path(head, &alias))
        find(r->sources, &r->place, &alias, &found);
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
    if (++*r->steps > MOST_STEPS || r->depth > MOST_DEPTH || ++r->sources->steps > most_steps) {
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
        for (unsigned i = 0; i < one.count; i++)
            one.items[i] = sign == '-'   ? (one.items[i] == INT64_MIN ? 0 : -one.items[i])
                           : sign == '~' ? ~one.items[i]
                           : sign == '!' ? one.items[i] == 0
                                         : one.items[i];
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

static void evaluate(struct dvi_sources *s, const struct place *place, const char *text,
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
    const struct place place = { source, scope, offset };
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
        if (!place_of(&l, &t, names, count, &at)) {
            dvi_spell(&out, &l, &t);
            continue;
        }
        dvi_spell_text(&out, "(");
        dvi_spell_text(&out, values[at]);
        dvi_spell_text(&out, ")");
    }
    return dvi_spelled(&out, arena);
}
