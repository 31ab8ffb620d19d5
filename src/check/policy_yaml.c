/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy file: YAML 1.1 through the events of libyaml, made into a small tree under limits.
 * Source: https://yaml.org/spec/1.1/, libyaml yaml.h (events, marks from 0).
 *
 * Refused: anchors, aliases, tags, a second document, keys written twice, unknown keys.
 * libyaml 0.2.5 takes time that grows with the square of flow nesting, so nesting is counted
 * before it sees the file (it takes minutes for 200 kB of '['), and again event by event.
 */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/nearest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "check/policy.h"

enum {
    MOST_BYTES = 256 << 10,
    MOST_DEPTH = 6, /* a policy needs 4: file, gaps, one gap, its list */
    MOST_NODES = 200000
};

enum kind { SCALAR, LIST, MAP };

struct node {
    enum kind kind;
    const char *text; /* of a scalar */
    struct dvi_spot spot;
    struct node *first, *last, *next; /* of a map: key, value, key, value */
};

struct tree {
    struct devimg_policy *policy;
    struct dvi_spot file; /* line 0 */
    struct node *open[MOST_DEPTH];
    struct node *root;
    size_t depth, nodes;
};

/* ---- events into a tree ---- */

static struct dvi_spot spot_at(const struct dvi_spot *file, yaml_mark_t mark)
{
    struct dvi_spot spot = *file;
    spot.line = mark.line + 1;
    spot.column = mark.column + 1;
    spot.offset = mark.index;
    return spot;
}

static enum devimg_status add_node(struct tree *t, enum kind kind, const yaml_event_t *event,
                                   struct node **out, struct devimg_error *err)
{
    const struct dvi_spot spot = spot_at(&t->file, event->start_mark);
    if (++t->nodes > MOST_NODES)
        return dvi_refuse(err, &spot, "more than %d values", MOST_NODES);
    struct node *node = dvi_arena_array(&t->policy->arena, 1, sizeof *node);
    if (node == NULL)
        return dvi_fail_memory(err, t->file.source);
    node->kind = kind;
    node->spot = spot;
    if (t->depth == 0) {
        t->root = node;
    } else {
        struct node *up = t->open[t->depth - 1];
        if (up->first == NULL)
            up->first = node;
        else
            up->last->next = node;
        up->last = node;
    }
    *out = node;
    return DEVIMG_OK;
}

static enum devimg_status open_node(struct tree *t, enum kind kind, const yaml_event_t *event,
                                    struct devimg_error *err)
{
    struct node *node = NULL;
    DVI_TRY(add_node(t, kind, event, &node, err));
    if (t->depth == MOST_DEPTH)
        return dvi_refuse(err, &node->spot, "nested deeper than %d", MOST_DEPTH);
    t->open[t->depth++] = node;
    return DEVIMG_OK;
}

static enum devimg_status add_scalar(struct tree *t, const yaml_event_t *event,
                                     struct devimg_error *err)
{
    struct node *node = NULL;
    DVI_TRY(add_node(t, SCALAR, event, &node, err));
    const size_t size = event->data.scalar.length;
    if (memchr(event->data.scalar.value, 0, size) != NULL)
        return dvi_refuse(err, &node->spot, "a value holds a NUL");
    node->text = dvi_arena_text(&t->policy->arena,
                                dvi_view_of(event->data.scalar.value, size, t->file.source));
    return node->text != NULL ? DEVIMG_OK : dvi_fail_memory(err, t->file.source);
}

static enum devimg_status refuse_extras(const struct tree *t, const yaml_event_t *event,
                                        const yaml_char_t *anchor, const yaml_char_t *tag,
                                        struct devimg_error *err)
{
    const struct dvi_spot spot = spot_at(&t->file, event->start_mark);
    if (anchor != NULL)
        return dvi_refuse(err, &spot, "anchors are not read");
    if (tag != NULL)
        return dvi_refuse(err, &spot, "tags are not read");
    return DEVIMG_OK;
}

static enum devimg_status take_event(struct tree *t, const yaml_event_t *event,
                                     struct devimg_error *err)
{
    const struct dvi_spot spot = spot_at(&t->file, event->start_mark);
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return t->root == NULL ? DEVIMG_OK : dvi_refuse(err, &spot, "a second document");
    case YAML_ALIAS_EVENT: return dvi_refuse(err, &spot, "aliases are not read");
    case YAML_SCALAR_EVENT:
        DVI_TRY(refuse_extras(t, event, event->data.scalar.anchor, event->data.scalar.tag, err));
        return add_scalar(t, event, err);
    case YAML_SEQUENCE_START_EVENT:
        DVI_TRY(refuse_extras(t, event, event->data.sequence_start.anchor,
                              event->data.sequence_start.tag, err));
        return open_node(t, LIST, event, err);
    case YAML_MAPPING_START_EVENT:
        DVI_TRY(refuse_extras(t, event, event->data.mapping_start.anchor,
                              event->data.mapping_start.tag, err));
        return open_node(t, MAP, event, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: t->depth--; return DEVIMG_OK;
    case YAML_STREAM_END_EVENT: return DEVIMG_END;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT: break;
    }
    return DEVIMG_OK;
}

static enum devimg_status parser_failed(const struct tree *t, const yaml_parser_t *parser,
                                        struct devimg_error *err)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return dvi_fail_memory(err, t->file.source);
    struct dvi_spot spot = spot_at(&t->file, parser->problem_mark);
    if (parser->error == YAML_READER_ERROR) { /* has an offset, but no mark */
        spot = t->file;
        spot.offset = parser->problem_offset;
        return dvi_refuse(err, &spot, "no UTF-8 text at byte %zu: %s", parser->problem_offset,
                          parser->problem);
    }
    return dvi_refuse(err, &spot, "%s", parser->problem != NULL ? parser->problem : "no YAML");
}

static enum devimg_status read_events(struct tree *t, yaml_parser_t *parser,
                                      struct devimg_error *err)
{
    enum devimg_status st = DEVIMG_OK;
    while (st == DEVIMG_OK) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return parser_failed(t, parser, err);
        st = take_event(t, &event, err);
        yaml_event_delete(&event);
    }
    return st == DEVIMG_END ? DEVIMG_OK : st;
}

static enum devimg_status read_tree(struct tree *t, struct dvi_view text, struct devimg_error *err)
{
    yaml_parser_t parser;
    if (dvi_yaml_has_many_directives(text))
        return dvi_refuse(err, &t->file, "many %%TAG directives: tags are not read");
    if (!yaml_parser_initialize(&parser))
        return dvi_fail_memory(err, t->file.source);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, text.data, text.size);
    const enum devimg_status st = read_events(t, &parser, err);
    yaml_parser_delete(&parser);
    return st;
}

/* ---- the tree into a policy ---- */

/* Keys whose value may be a list. */
static bool takes_list(const char *key)
{
    static const char *const keys[] = {
        "targets",     "fallback",       "sub-group-sizes", "without",
        "lint.macros", "lint.templates", "lint.define",     "lint.header",
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* A scalar, or a list of scalars as one comma-separated text. */
static enum devimg_status value_of(struct devimg_policy *policy, const char *key,
                                   const struct node *node, const char **out,
                                   struct devimg_error *err)
{
    if (node->kind == SCALAR) {
        *out = node->text;
        return DEVIMG_OK;
    }
    if (node->kind != LIST || !takes_list(key))
        return dvi_refuse(err, &node->spot, "%s: expected %s, found a %s", key,
                          takes_list(key) ? "a value or a list" : "one value",
                          node->kind == LIST ? "list" : "map");
    size_t size = 1;
    for (const struct node *n = node->first; n != NULL; n = n->next) {
        if (n->kind != SCALAR)
            return dvi_refuse(err, &n->spot, "%s: expected a list of single values", key);
        size += strlen(n->text) + 1;
    }
    char *joined = dvi_arena_array(&policy->arena, size, 1);
    if (joined == NULL)
        return dvi_fail_memory(err, node->spot.source);
    char *end = joined;
    for (const struct node *n = node->first; n != NULL; n = n->next) {
        const size_t one = strlen(n->text);
        memcpy(end, n->text, one);
        end += one;
        if (n->next != NULL)
            *end++ = ',';
    }
    *out = joined;
    return DEVIMG_OK;
}

/* The key of a map entry: a scalar that none before it equals. */
static enum devimg_status check_key(const struct node *map, const struct node *key,
                                    struct devimg_error *err)
{
    if (key->kind != SCALAR)
        return dvi_refuse(err, &key->spot, "expected a key");
    for (const struct node *n = map->first; n != key; n = n->next->next)
        if (n->kind == SCALAR && strcmp(n->text, key->text) == 0)
            return dvi_refuse(err, &key->spot, "key \"%.40s\" stands twice", key->text);
    return DEVIMG_OK;
}

static enum devimg_status load_gap(struct devimg_policy *policy, const struct node *map,
                                   struct devimg_error *err)
{
    static const char *const names[] = { "kernels", "unit", "without", "reason", NULL };
    const char *values[4] = { NULL };
    if (map->kind != MAP)
        return dvi_refuse(err, &map->spot, "gaps: expected kernels or unit, without, reason");
    for (const struct node *key = map->first; key != NULL; key = key->next->next) {
        DVI_TRY(check_key(map, key, err));
        size_t i = 0;
        while (names[i] != NULL && strcmp(names[i], key->text) != 0)
            i++;
        if (names[i] == NULL) {
            const char *near = dvi_nearest_word(key->text, names);
            return near != NULL ? dvi_refuse(err, &key->spot,
                                             "gaps: unknown key \"%.40s\": did you mean \"%s\"?",
                                             key->text, near)
                                : dvi_refuse(err, &key->spot,
                                             "gaps: unknown key \"%.40s\": expected kernels, unit, "
                                             "without, reason",
                                             key->text);
        }
        DVI_TRY(value_of(policy, names[i], key->next, &values[i], err));
    }
    if ((values[0] == NULL) == (values[1] == NULL))
        return dvi_refuse(err, &map->spot, "gaps: expected either kernels or unit");
    if (values[2] == NULL || values[3] == NULL)
        return dvi_refuse(err, &map->spot, "gaps: %s is missing",
                          values[2] == NULL ? "without" : "reason");
    return dvi_policy_add_gap(policy, values[1] != NULL, values[0] != NULL ? values[0] : values[1],
                              values[2], values[3], &map->spot, err);
}

static enum devimg_status load_gaps(struct devimg_policy *policy, const struct node *list,
                                    struct devimg_error *err)
{
    if (list->kind != LIST)
        return dvi_refuse(err, &list->spot, "gaps: expected a list");
    for (const struct node *n = list->first; n != NULL; n = n->next)
        DVI_TRY(load_gap(policy, n, err));
    return DEVIMG_OK;
}

static enum devimg_status load_rules(struct devimg_policy *policy, const struct node *map,
                                     struct devimg_error *err)
{
    if (map->kind != MAP)
        return dvi_refuse(err, &map->spot, "rules: expected NAME: on|off|error|warning|note");
    for (const struct node *key = map->first; key != NULL; key = key->next->next) {
        DVI_TRY(check_key(map, key, err));
        if (key->next->kind != SCALAR || strpbrk(key->next->text, ",=") != NULL ||
            strpbrk(key->text, ",=") != NULL)
            return dvi_refuse(err, &key->next->spot, "rules: %.40s: expected one word", key->text);
        const char *line = dvi_arena_format(&policy->arena, "%s=%s", key->text, key->next->text);
        if (line == NULL)
            return dvi_fail_memory(err, key->spot.source);
        DVI_TRY(dvi_policy_set_at(policy, "rules", line, &key->spot, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status load_scratch(struct devimg_policy *policy, const struct node *map,
                                       struct devimg_error *err)
{
    for (const struct node *key = map->first; key != NULL; key = key->next->next) {
        DVI_TRY(check_key(map, key, err));
        if (strcmp(key->text, "ratchet") != 0)
            return dvi_refuse(err, &key->spot, "scratch: unknown key \"%.40s\": expected ratchet",
                              key->text);
        if (key->next->kind != SCALAR)
            return dvi_refuse(err, &key->next->spot, "ratchet: expected the path of a file");
        DVI_TRY(
            dvi_policy_set_at(policy, "scratch.ratchet", key->next->text, &key->next->spot, err));
    }
    return DEVIMG_OK;
}

/* "max-bytes: {bmg-g21: 10M, all: 200M}" */
static enum devimg_status load_budgets(struct devimg_policy *policy, const struct node *map,
                                       struct devimg_error *err)
{
    for (const struct node *key = map->first; key != NULL; key = key->next->next) {
        DVI_TRY(check_key(map, key, err));
        if (key->next->kind != SCALAR || strpbrk(key->next->text, ",=") != NULL ||
            strpbrk(key->text, ",=") != NULL)
            return dvi_refuse(err, &key->next->spot, "max-bytes: %.40s: expected one size",
                              key->text);
        const char *line = dvi_arena_format(&policy->arena, "%s=%s", key->text, key->next->text);
        if (line == NULL)
            return dvi_fail_memory(err, key->spot.source);
        DVI_TRY(dvi_policy_set_at(policy, "max-bytes", line, &key->next->spot, err));
    }
    return DEVIMG_OK;
}

/* "lint: {macros: ...}" is the key "lint.macros". */
static enum devimg_status load_lint(struct devimg_policy *policy, const struct node *map,
                                    struct devimg_error *err)
{
    if (map->kind != MAP)
        return dvi_refuse(err, &map->spot, "lint: expected macros, templates, header, ...");
    for (const struct node *key = map->first; key != NULL; key = key->next->next) {
        const char *text = NULL;
        DVI_TRY(check_key(map, key, err));
        const char *name = dvi_arena_format(&policy->arena, "lint.%s", key->text);
        if (name == NULL)
            return dvi_fail_memory(err, key->spot.source);
        DVI_TRY(dvi_policy_check_key(name, &key->spot, err));
        DVI_TRY(value_of(policy, name, key->next, &text, err));
        DVI_TRY(dvi_policy_set_at(policy, name, text, &key->next->spot, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status load_key(struct devimg_policy *policy, const struct node *key,
                                   const struct node *value, struct devimg_error *err)
{
    const char *text = NULL;
    if (strcmp(key->text, "gaps") == 0)
        return load_gaps(policy, value, err);
    if (strcmp(key->text, "rules") == 0)
        return load_rules(policy, value, err);
    if (strcmp(key->text, "scratch") == 0 && value->kind == MAP)
        return load_scratch(policy, value, err);
    if (strcmp(key->text, "max-bytes") == 0 && value->kind == MAP)
        return load_budgets(policy, value, err);
    if (strcmp(key->text, "lint") == 0)
        return load_lint(policy, value, err);
    if (strncmp(key->text, "lint.", 5) == 0)
        return dvi_refuse(err, &key->spot,
                          "unknown key \"%.40s\": in a file it is lint: {%.40s: ...}", key->text,
                          key->text + 5);
    if (strcmp(key->text, "no-rule") == 0 || strcmp(key->text, "scratch.ratchet") == 0)
        return dvi_refuse(err, &key->spot, "unknown key \"%s\": in a file it is %s", key->text,
                          *key->text == 'n' ? "rules: {NAME: off}" : "scratch: {ratchet: FILE}");
    DVI_TRY(dvi_policy_check_key(key->text, &key->spot, err));
    DVI_TRY(value_of(policy, key->text, value, &text, err));
    return dvi_policy_set_at(policy, key->text, text, &value->spot, err);
}

static enum devimg_status load_tree(struct devimg_policy *policy, const struct tree *t,
                                    struct devimg_error *err)
{
    bool has_version = false;
    if (t->root == NULL || t->root->kind != MAP)
        return dvi_refuse(err, t->root != NULL ? &t->root->spot : &t->file,
                          "expected a map that holds \"version: 1\"");
    for (const struct node *key = t->root->first; key != NULL; key = key->next->next) {
        DVI_TRY(check_key(t->root, key, err));
        DVI_TRY(load_key(policy, key, key->next, err));
        has_version = has_version || strcmp(key->text, "version") == 0;
    }
    return has_version ? DEVIMG_OK : dvi_refuse(err, &t->root->spot, "\"version: 1\" is missing");
}

enum devimg_status devimg_policy_load(struct devimg_policy *policy, const char *path,
                                      struct devimg_error *err)
{
    struct dvi_view text = { 0 };
    DVI_TRY(dvi_read_text(path, MOST_BYTES, &policy->arena, &text, err));
    const size_t folder_size = (size_t)(dvi_base_name(path) - path);
    const char *folder =
        dvi_arena_text(&policy->arena, dvi_view_of(text.source, folder_size, text.source));
    if (folder == NULL)
        return dvi_fail_memory(err, path);
    struct tree t = { .policy = policy,
                      .file = {
                          .source = text.source, .offset = DEVIMG_UNKNOWN, .folder = folder } };
    DVI_TRY(read_tree(&t, text, err));
    return load_tree(policy, &t, err);
}
