/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as [basic.lookup] of ISO C++20 finds them, as far as can be told without opening what is
 * included. Where several definitions may be meant, every one counts.
 */
#include "sycl/source_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sycl/source_scanner.h"

enum { NOWHERE = 1000 };

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
        const char *name = dvi_base_name(s->paths[i]);
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
    const char *name = dvi_base_name(include);
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

bool dvi_source_split(const char *text, struct dvi_source_path *out)
{
    out->want = DVI_WANT_VALUE;
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

/* How many scopes lie between the place and the one that `path` is found in; NOWHERE: it is not.
 * `path` is that scope, of or around `scope`, then the prefix. */
static unsigned scopes_between(const char *path, const char *scope,
                               const struct dvi_source_path *name)
{
    const size_t path_size = strlen(path), size = strlen(name->prefix);
    size_t common = path_size - size; /* of the scope it is found in */
    unsigned away = 0;
    if (size > path_size || strcmp(path + common, name->prefix) != 0)
        return NOWHERE;
    if (common > 0 && size > 0) {
        if (common < 2 || memcmp(path + common - 2, "::", 2) != 0)
            return NOWHERE;
        common -= 2;
    }
    if (strncmp(path, scope, common) != 0 || (name->global && common > 0))
        return NOWHERE;
    if (common > 0 && scope[common] != 0 && strncmp(scope + common, "::", 2) != 0)
        return NOWHERE;
    for (const char *p = scope + common; *p != 0; p++)
        away += p == scope || (p[0] == ':' && p[1] == ':');
    return away;
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
static bool is_used(const struct dvi_source *source, const char *path,
                    const struct dvi_source_path *name)
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

static unsigned rank_of(struct dvi_sources *s, const struct dvi_source_place *place,
                        const struct dvi_source_path *name, const struct dvi_source_ref *ref)
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
                       struct dvi_source_found *out)
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
        if (out->items[i]->kind == c->kind && out->items[i]->plus == c->plus &&
            out->items[i]->param_count == c->param_count && c->kind != DVI_CONSTANT_CLASS &&
            strcmp(out->items[i]->text, c->text) == 0 && out->at[i].source == ref->source &&
            out->at[i].scope == c->scope)
            return;
    if (out->count == DVI_SOURCE_FOUND) {
        out->cut = true;
        return;
    }
    /* a macro's text stands where the macro is used: it sees what is defined by then */
    out->at[out->count] =
        (struct dvi_source_place){ ref->source, c->scope,
                                   c->kind == DVI_CONSTANT_MACRO ? SIZE_MAX - 1 : c->begin };
    out->items[out->count++] = c;
}

static bool has_name(const struct dvi_sources *s, const struct dvi_source_ref *ref, uint32_t hash,
                     const struct dvi_source_path *name)
{
    const struct dvi_constant *c = &s->items[ref->source].constants.items[ref->constant];
    const unsigned is = c->kind == DVI_CONSTANT_CLASS ? DVI_WANT_CLASS
                        : c->is_function              ? DVI_WANT_FUNCTION
                                                      : DVI_WANT_VALUE;
    return c->hash == hash && strcmp(c->name, name->last) == 0 &&
           (c->kind == DVI_CONSTANT_ALIAS || is == name->want);
}

void dvi_source_find(struct dvi_sources *s, const struct dvi_source_place *place,
                     const struct dvi_source_path *name, struct dvi_source_found *out)
{
    const uint32_t hash = dvi_lex_hash(name->last, strlen(name->last));
    *out = (struct dvi_source_found){ .rank = RANK_NONE };
    for (uint32_t at = s->own_heads[own_slot(s, hash, place->source)]; at != 0;) {
        const struct dvi_source_ref *ref = &s->refs[at - 1];
        if (ref->source == place->source && has_name(s, ref, hash, name))
            take_found(s, ref, rank_of(s, place, name, ref), out);
        if (++s->steps > DVI_SOURCE_STEPS) {
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
        if (++s->steps > DVI_SOURCE_STEPS) {
            out->cut = true;
            return;
        }
        if (ref->source != place->source && has_name(s, ref, hash, name))
            take_found(s, ref, rank_of(s, place, name, ref), out);
    }
}
