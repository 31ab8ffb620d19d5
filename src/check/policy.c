/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a policy: one row each, the same for a policy file and for the command line. */
#include "check/policy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_TARGETS = 1024, MOST_GAPS = 1000, LARGEST_SIZE_BIT = 10 };

enum devimg_status dvi_refuse(struct devimg_error *err, const struct dvi_spot *spot,
                              const char *format, ...)
{
    char text[sizeof err->text];
    int used = 0;
    if (spot->line > 0)
        used = snprintf(text, sizeof text, "line %" PRIu64 ", column %" PRIu64 ": ", spot->line,
                        spot->column);
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text + used, sizeof text - (size_t)used, format, values);
    va_end(values);
    const enum devimg_status st = dvi_fail_plain(err, DEVIMG_MALFORMED, spot->source, "%s", text);
    if (err != NULL)
        err->offset = spot->offset;
    return st;
}

/* ---- words ---- */

struct word {
    const char *word;
    int value;
};

/* The value of `text` among `words` (NULL-ended), or MALFORMED naming them all. */
static enum devimg_status word_of(const char *key, const char *text, const struct word *words,
                                  int *out, const struct dvi_spot *spot, struct devimg_error *err)
{
    char all[96] = "";
    for (const struct word *w = words; w->word != NULL; w++) {
        if (strcmp(w->word, text) == 0) {
            *out = w->value;
            return DEVIMG_OK;
        }
        const size_t used = strlen(all);
        (void)snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? "|" : "", w->word);
    }
    return dvi_refuse(err, spot, "%s: \"%.40s\": expected %s", key, text, all);
}

static enum devimg_status set_choice(const char *key, const char *text, const struct word *words,
                                     enum dvi_choice *out, const struct dvi_spot *spot,
                                     struct devimg_error *err)
{
    int value = 0;
    DVI_TRY(word_of(key, text, words, &value, spot, err));
    *out = (enum dvi_choice)value;
    return DEVIMG_OK;
}

/* ---- lists of targets ---- */

/* Every unknown name at once, each with the name it may have meant. */
static enum devimg_status refuse_unknown(const char *key, const struct dvi_target_set *set,
                                         const struct dvi_spot *spot, struct devimg_error *err)
{
    char text[128] = "";
    size_t used = 0, shown = 0;
    for (; shown < set->unknown.count; shown++) {
        const char *near = dvi_target_nearest(set->unknown.items[shown]);
        char one[80];
        const int size = near != NULL
                             ? snprintf(one, sizeof one, "%s\"%.24s\" (near: %.24s)",
                                        shown > 0 ? ", " : "", set->unknown.items[shown], near)
                             : snprintf(one, sizeof one, "%s\"%.24s\"", shown > 0 ? ", " : "",
                                        set->unknown.items[shown]);
        if (size < 0 || (size_t)size >= sizeof text - used)
            break;
        memcpy(text + used, one, (size_t)size + 1);
        used += (size_t)size;
    }
    const size_t left = set->unknown.count - shown;
    if (left > 0)
        return dvi_refuse(err, spot, "%s: no table has %s and %zu more", key, text, left);
    return dvi_refuse(err, spot, "%s: no table has %s", key, text);
}

static enum devimg_status check_kinds(const char *key, const struct dvi_target_set *set,
                                      bool portable, const struct dvi_spot *spot,
                                      struct devimg_error *err)
{
    if (set->known.count > MOST_TARGETS)
        return dvi_refuse(err, spot, "%s: %zu targets: at most %d", key, set->known.count,
                          MOST_TARGETS);
    for (size_t i = 0; i < set->known.count; i++) {
        const struct devimg_target *t = set->known.items[i];
        if ((strcmp(t->kind, "portable") == 0) == portable)
            continue;
        return portable
                   ? dvi_refuse(err, spot,
                                "%s: %s is no portable image: native targets go under targets", key,
                                t->name)
                   : dvi_refuse(err, spot, "%s: %s is portable: portable images go under fallback",
                                key, t->name);
    }
    return DEVIMG_OK;
}

/* Replace `*out` by the list, or leave it as it is. */
static enum devimg_status set_targets_at(struct devimg_policy *policy, const char *key,
                                         const char *list, bool portable,
                                         struct dvi_target_set *out, const struct dvi_spot *spot,
                                         struct devimg_error *err)
{
    struct dvi_target_set fresh = { 0 };
    enum devimg_status st = dvi_target_set_add(&fresh, list, &policy->arena, err);
    if (st == DEVIMG_OK && fresh.unknown.count > 0)
        st = refuse_unknown(key, &fresh, spot, err);
    if (st == DEVIMG_OK)
        st = check_kinds(key, &fresh, portable, spot, err);
    if (st != DEVIMG_OK) {
        dvi_target_set_free(&fresh);
        return st;
    }
    dvi_target_set_free(out);
    *out = fresh;
    return DEVIMG_OK;
}

/* ---- one function a key ---- */

static enum devimg_status set_version(struct devimg_policy *policy, const char *value,
                                      const struct dvi_spot *spot, struct devimg_error *err)
{
    (void)policy;
    if (strcmp(value, "1") != 0)
        return dvi_refuse(err, spot, "version: \"%.20s\": this devimg reads version 1", value);
    return DEVIMG_OK;
}

static enum devimg_status set_targets(struct devimg_policy *policy, const char *value,
                                      const struct dvi_spot *spot, struct devimg_error *err)
{
    DVI_TRY(set_targets_at(policy, "targets", value, false, &policy->targets, spot, err));
    policy->has_targets = true;
    return DEVIMG_OK;
}

static enum devimg_status set_fallback(struct devimg_policy *policy, const char *value,
                                       const struct dvi_spot *spot, struct devimg_error *err)
{
    return set_targets_at(policy, "fallback", value, true, &policy->fallback, spot, err);
}

static enum devimg_status set_compression(struct devimg_policy *policy, const char *value,
                                          const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct word words[] = { { "required", DVI_CHOICE_STRICT },
                                         { "any", DVI_CHOICE_ANY },
                                         { NULL, 0 } };
    return set_choice("compression", value, words, &policy->compression, spot, err);
}

static enum devimg_status set_extra_targets(struct devimg_policy *policy, const char *value,
                                            const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct word words[] = { { "deny", DVI_CHOICE_STRICT },
                                         { "allow", DVI_CHOICE_ANY },
                                         { NULL, 0 } };
    return set_choice("extra-targets", value, words, &policy->extra_targets, spot, err);
}

static enum devimg_status set_features(struct devimg_policy *policy, const char *value,
                                       const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct word words[] = { { "targets", DVI_CHOICE_STRICT },
                                         { "any", DVI_CHOICE_ANY },
                                         { NULL, 0 } };
    return set_choice("features", value, words, &policy->features, spot, err);
}

static struct dvi_view trimmed(struct dvi_view v)
{
    while (v.size > 0 && (v.data[0] == ' ' || v.data[0] == '\t'))
        v = dvi_from(v, 1);
    while (v.size > 0 && (v.data[v.size - 1] == ' ' || v.data[v.size - 1] == '\t'))
        v.size--;
    return v;
}

static enum devimg_status sizes_of(const char *value, uint32_t *out, const struct dvi_spot *spot,
                                   struct devimg_error *err)
{
    struct dvi_view rest = dvi_view_of(value, strlen(value), spot->source), field = { 0 };
    uint32_t sizes = 0;
    while (dvi_next_field(&rest, ',', &field)) {
        field = trimmed(field);
        uint64_t size = 0;
        unsigned bit = 0;
        if (field.size == 0)
            continue;
        if (!dvi_decimal(field, &size))
            size = 0;
        while (bit <= LARGEST_SIZE_BIT && size != UINT64_C(1) << bit)
            bit++;
        if (bit > LARGEST_SIZE_BIT)
            return dvi_refuse(err, spot,
                              "sub-group-sizes: \"%.*s\": expected targets, any, or sizes such as "
                              "16,32 (powers of two up to %d)",
                              (int)(field.size < 24 ? field.size : 24), (const char *)field.data,
                              1 << LARGEST_SIZE_BIT);
        sizes |= UINT32_C(1) << bit;
    }
    if (sizes == 0)
        return dvi_refuse(err, spot, "sub-group-sizes: the list is empty");
    *out = sizes;
    return DEVIMG_OK;
}

static enum devimg_status set_sub_group_sizes(struct devimg_policy *policy, const char *value,
                                              const struct dvi_spot *spot, struct devimg_error *err)
{
    if (strcmp(value, "targets") == 0) {
        policy->sub_group_sizes = DVI_CHOICE_STRICT;
    } else if (strcmp(value, "any") == 0) {
        policy->sub_group_sizes = DVI_CHOICE_ANY;
    } else {
        DVI_TRY(sizes_of(value, &policy->listed_sizes, spot, err));
        policy->sub_group_sizes = DVI_CHOICE_LISTED;
    }
    return DEVIMG_OK;
}

/* A path as it stands in the policy: relative to the folder of the policy file. */
static enum devimg_status path_of(struct devimg_policy *policy, const char *key, const char *value,
                                  const char **out, const struct dvi_spot *spot,
                                  struct devimg_error *err)
{
    if (*value == 0)
        return dvi_refuse(err, spot, "%s: expected the path of a file", key);
    *out = *value == '/' || spot->folder == NULL
               ? dvi_arena_copy(&policy->arena, value)
               : dvi_arena_format(&policy->arena, "%s%s", spot->folder, value);
    return *out != NULL ? DEVIMG_OK : dvi_fail_memory(err, spot->source);
}

static enum devimg_status set_scratch(struct devimg_policy *policy, const char *value,
                                      const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct word words[] = { { "none", DVI_CHOICE_STRICT },
                                         { "any", DVI_CHOICE_ANY },
                                         { NULL, 0 } };
    return set_choice("scratch", value, words, &policy->scratch, spot, err);
}

static enum devimg_status set_ratchet(struct devimg_policy *policy, const char *value,
                                      const struct dvi_spot *spot, struct devimg_error *err)
{
    const char *path = NULL;
    struct dvi_ratchet fresh = { 0 };
    DVI_TRY(path_of(policy, "scratch.ratchet", value, &path, spot, err));
    DVI_TRY(dvi_ratchet_load(&fresh, path, &policy->arena, err));
    DVI_LIST_FREE(&policy->ratchet.lines);
    policy->ratchet = fresh;
    policy->scratch = DVI_CHOICE_STRICT;
    return DEVIMG_OK;
}

static enum devimg_status set_baseline(struct devimg_policy *policy, const char *value,
                                       const struct dvi_spot *spot, struct devimg_error *err)
{
    const char *path = NULL;
    struct dvi_baseline fresh = { 0 };
    DVI_TRY(path_of(policy, "baseline", value, &path, spot, err));
    DVI_TRY(dvi_baseline_load(&fresh, path, &policy->arena, err));
    DVI_LIST_FREE(&policy->baseline.lines);
    policy->baseline = fresh;
    return DEVIMG_OK;
}

static enum devimg_status set_promised(struct devimg_policy *policy, const char *value,
                                       const struct dvi_spot *spot, struct devimg_error *err)
{
    const char *path = NULL;
    struct dvi_promises fresh = { 0 };
    DVI_TRY(path_of(policy, "promised", value, &path, spot, err));
    DVI_TRY(dvi_promises_load(&fresh, path, &policy->arena, err));
    dvi_promises_free(&policy->promises);
    policy->promises = fresh;
    return DEVIMG_OK;
}

static enum devimg_status set_ocloc(struct devimg_policy *policy, const char *value,
                                    const struct dvi_spot *spot, struct devimg_error *err)
{
    /* a bare name is looked up on PATH; only a name with a folder is relative to the policy */
    if (strchr(value, '/') != NULL)
        return path_of(policy, "ocloc", value, &policy->ocloc, spot, err);
    if (*value == 0)
        return dvi_refuse(err, spot, "ocloc: expected a program");
    policy->ocloc = dvi_arena_copy(&policy->arena, value);
    return policy->ocloc != NULL ? DEVIMG_OK : dvi_fail_memory(err, spot->source);
}

enum devimg_status dvi_policy_add_gap(struct devimg_policy *policy, bool by_unit,
                                      const char *pattern, const char *without, const char *reason,
                                      const struct dvi_spot *spot, struct devimg_error *err)
{
    if (*pattern == 0)
        return dvi_refuse(err, spot, "gaps: the pattern is empty");
    if (*reason == 0)
        return dvi_refuse(err, spot, "gaps: \"%.60s\" has no reason", pattern);
    if (policy->gaps.count >= MOST_GAPS)
        return dvi_refuse(err, spot, "gaps: at most %d", MOST_GAPS);
    struct dvi_gap gap = { .by_unit = by_unit,
                           .pattern = dvi_arena_copy(&policy->arena, pattern),
                           .reason = dvi_arena_copy(&policy->arena, reason) };
    if (gap.pattern == NULL || gap.reason == NULL)
        return dvi_fail_memory(err, spot->source);
    DVI_TRY(set_targets_at(policy, "gaps: without", without, false, &gap.without, spot, err));
    if (gap.without.known.count == 0)
        return dvi_refuse(err, spot, "gaps: \"%.60s\" is without no target", pattern);
    struct dvi_gap *added = DVI_ADD(&policy->gaps);
    if (added == NULL) {
        dvi_target_set_free(&gap.without);
        return dvi_fail_memory(err, spot->source);
    }
    *added = gap;
    return DEVIMG_OK;
}

static const char *slice_text(struct devimg_policy *policy, const char *from, const char *to)
{
    return dvi_arena_text(&policy->arena, trimmed(dvi_view_of(from, (size_t)(to - from), "gaps")));
}

/* "PATTERN without A,B: REASON"; a pattern that starts with "unit:" is one for units. */
static enum devimg_status set_gaps(struct devimg_policy *policy, const char *value,
                                   const struct dvi_spot *spot, struct devimg_error *err)
{
    static const char middle[] = " without ";
    const char *without = strstr(value, middle);
    const char *colon = without != NULL ? strchr(without + sizeof middle - 1, ':') : NULL;
    if (colon == NULL)
        return dvi_refuse(err, spot, "gaps: \"%.60s\": expected \"PATTERN without A,B: REASON\"",
                          value);
    const bool by_unit = strncmp(value, "unit:", 5) == 0;
    const char *pattern = slice_text(policy, value + (by_unit ? 5 : 0), without);
    const char *list = slice_text(policy, without + sizeof middle - 1, colon);
    const char *reason = slice_text(policy, colon + 1, colon + strlen(colon));
    if (pattern == NULL || list == NULL || reason == NULL)
        return dvi_fail_memory(err, spot->source);
    return dvi_policy_add_gap(policy, by_unit, pattern, list, reason, spot, err);
}

/* ---- rules ---- */

static const char *const rule_names[DVI_RULE_COUNT + 1] = {
#define DVI_RULE(id, name, needs_kernels, summary) name,
#include "check/rules.def"
#undef DVI_RULE
    NULL
};

static enum devimg_status set_rule(struct devimg_policy *policy, const char *name,
                                   enum dvi_setting setting, const struct dvi_spot *spot,
                                   struct devimg_error *err)
{
    for (size_t i = 0; i < DVI_RULE_COUNT; i++) {
        if (strcmp(rule_names[i], name) == 0) {
            policy->rules[i] = setting;
            return DEVIMG_OK;
        }
    }
    const char *near = dvi_nearest_word(name, rule_names);
    return near != NULL
               ? dvi_refuse(err, spot, "no rule \"%.40s\": did you mean \"%s\"?", name, near)
               : dvi_refuse(err, spot, "no rule \"%.40s\"", name);
}

/* "NAME=WORD,NAME=WORD" */
static enum devimg_status set_rules(struct devimg_policy *policy, const char *value,
                                    const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct word words[] = {
        { "on", DVI_SETTING_ON },       { "off", DVI_SETTING_OFF },
        { "error", DVI_SETTING_ERROR }, { "warning", DVI_SETTING_WARNING },
        { "note", DVI_SETTING_NOTE },   { NULL, 0 }
    };
    struct dvi_view rest = dvi_view_of(value, strlen(value), spot->source), field = { 0 };
    while (dvi_next_field(&rest, ',', &field)) {
        struct dvi_view name = { 0 };
        field = trimmed(field);
        if (field.size == 0)
            continue;
        (void)dvi_next_field(&field, '=', &name);
        const char *rule = dvi_arena_text(&policy->arena, trimmed(name));
        const char *word = dvi_arena_text(&policy->arena, trimmed(field));
        int setting = 0;
        if (rule == NULL || word == NULL)
            return dvi_fail_memory(err, spot->source);
        DVI_TRY(word_of(rule, word, words, &setting, spot, err));
        DVI_TRY(set_rule(policy, rule, (enum dvi_setting)setting, spot, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status set_no_rule(struct devimg_policy *policy, const char *value,
                                      const struct dvi_spot *spot, struct devimg_error *err)
{
    struct dvi_view rest = dvi_view_of(value, strlen(value), spot->source), field = { 0 };
    while (dvi_next_field(&rest, ',', &field)) {
        const char *rule = dvi_arena_text(&policy->arena, trimmed(field));
        if (rule == NULL)
            return dvi_fail_memory(err, spot->source);
        if (*rule != 0)
            DVI_TRY(set_rule(policy, rule, DVI_SETTING_OFF, spot, err));
    }
    return DEVIMG_OK;
}

/* ---- the table ---- */

static const struct key {
    const char *name;
    enum devimg_status (*set)(struct devimg_policy *policy, const char *value,
                              const struct dvi_spot *spot, struct devimg_error *err);
} keys[] = {
    { "version", set_version },
    { "targets", set_targets },
    { "fallback", set_fallback },
    { "compression", set_compression },
    { "extra-targets", set_extra_targets },
    { "sub-group-sizes", set_sub_group_sizes },
    { "features", set_features },
    { "scratch", set_scratch },
    { "scratch.ratchet", set_ratchet },
    { "gaps", set_gaps },
    { "rules", set_rules },
    { "no-rule", set_no_rule },
    { "baseline", set_baseline },
    { "ocloc", set_ocloc },
    { "promised", set_promised },
};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

static const struct key *key_of(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

enum devimg_status dvi_policy_check_key(const char *key, const struct dvi_spot *spot,
                                        struct devimg_error *err)
{
    const char *names[KEY_COUNT + 1] = { NULL };
    if (key_of(key) != NULL)
        return DEVIMG_OK;
    for (size_t i = 0; i < KEY_COUNT; i++)
        names[i] = keys[i].name;
    const char *near = dvi_nearest_word(key, names);
    return near != NULL
               ? dvi_refuse(err, spot, "unknown key \"%.40s\": did you mean \"%s\"?", key, near)
               : dvi_refuse(err, spot, "unknown key \"%.40s\"", key);
}

enum devimg_status dvi_policy_set_at(struct devimg_policy *policy, const char *key,
                                     const char *value, const struct dvi_spot *spot,
                                     struct devimg_error *err)
{
    DVI_TRY(dvi_policy_check_key(key, spot, err));
    return key_of(key)->set(policy, value, spot, err);
}

enum devimg_status devimg_policy_set(struct devimg_policy *policy, const char *key,
                                     const char *value, struct devimg_error *err)
{
    const struct dvi_spot spot = { .source = key, .offset = DEVIMG_UNKNOWN };
    return dvi_policy_set_at(policy, key, value, &spot, err);
}

enum devimg_status devimg_policy_new(struct devimg_policy **out, struct devimg_error *err)
{
    struct devimg_policy *policy = calloc(1, sizeof *policy);
    if (policy == NULL)
        return dvi_fail_memory(err, "policy");
    *out = policy;
    return DEVIMG_OK;
}

void devimg_policy_free(struct devimg_policy *policy)
{
    if (policy == NULL)
        return;
    for (size_t i = 0; i < policy->gaps.count; i++)
        dvi_target_set_free(&policy->gaps.items[i].without);
    DVI_LIST_FREE(&policy->gaps);
    DVI_LIST_FREE(&policy->ratchet.lines);
    DVI_LIST_FREE(&policy->baseline.lines);
    dvi_promises_free(&policy->promises);
    dvi_target_set_free(&policy->targets);
    dvi_target_set_free(&policy->fallback);
    dvi_arena_free(&policy->arena);
    free(policy);
}
