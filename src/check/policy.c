/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a policy: one row each, the same for a policy file and for the command line. */
#include "check/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/nearest.h"
#include "base/text.h"

enum { MOST_GAPS = 1000 };

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
    DVI_TRY(dvi_value_targets(policy, "targets", value, false, &policy->targets, spot, err));
    policy->has_targets = true;
    return DEVIMG_OK;
}

static enum devimg_status set_fallback(struct devimg_policy *policy, const char *value,
                                       const struct dvi_spot *spot, struct devimg_error *err)
{
    return dvi_value_targets(policy, "fallback", value, true, &policy->fallback, spot, err);
}

static enum devimg_status set_compression(struct devimg_policy *policy, const char *value,
                                          const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct dvi_word words[] = { { "required", DVI_CHOICE_STRICT },
                                             { "any", DVI_CHOICE_ANY },
                                             { NULL, 0 } };
    return dvi_value_choice("compression", value, words, &policy->compression, spot, err);
}

static enum devimg_status set_extra_targets(struct devimg_policy *policy, const char *value,
                                            const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct dvi_word words[] = { { "deny", DVI_CHOICE_STRICT },
                                             { "allow", DVI_CHOICE_ANY },
                                             { NULL, 0 } };
    return dvi_value_choice("extra-targets", value, words, &policy->extra_targets, spot, err);
}

static enum devimg_status set_features(struct devimg_policy *policy, const char *value,
                                       const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct dvi_word words[] = { { "targets", DVI_CHOICE_STRICT },
                                             { "any", DVI_CHOICE_ANY },
                                             { NULL, 0 } };
    return dvi_value_choice("features", value, words, &policy->features, spot, err);
}

static enum devimg_status set_sub_group_sizes(struct devimg_policy *policy, const char *value,
                                              const struct dvi_spot *spot, struct devimg_error *err)
{
    if (strcmp(value, "targets") == 0) {
        policy->sub_group_sizes = DVI_CHOICE_STRICT;
    } else if (strcmp(value, "any") == 0) {
        policy->sub_group_sizes = DVI_CHOICE_ANY;
    } else {
        DVI_TRY(dvi_value_sizes(value, &policy->listed_sizes, spot, err));
        policy->sub_group_sizes = DVI_CHOICE_LISTED;
    }
    return DEVIMG_OK;
}

static enum devimg_status set_scratch(struct devimg_policy *policy, const char *value,
                                      const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct dvi_word words[] = { { "none", DVI_CHOICE_STRICT },
                                             { "any", DVI_CHOICE_ANY },
                                             { NULL, 0 } };
    return dvi_value_choice("scratch", value, words, &policy->scratch, spot, err);
}

static enum devimg_status set_ratchet(struct devimg_policy *policy, const char *value,
                                      const struct dvi_spot *spot, struct devimg_error *err)
{
    const char *path = NULL;
    struct dvi_ratchet fresh = { 0 };
    DVI_TRY(dvi_value_path(policy, "scratch.ratchet", value, &path, spot, err));
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
    DVI_TRY(dvi_value_path(policy, "baseline", value, &path, spot, err));
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
    DVI_TRY(dvi_value_path(policy, "promised", value, &path, spot, err));
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
        return dvi_value_path(policy, "ocloc", value, &policy->ocloc, spot, err);
    if (*value == 0)
        return dvi_refuse(err, spot, "ocloc: expected a program");
    policy->ocloc = dvi_arena_copy(&policy->arena, value);
    return policy->ocloc != NULL ? DEVIMG_OK : dvi_fail_memory(err, spot->source);
}

static enum devimg_status set_duplicates(struct devimg_policy *policy, const char *value,
                                         const struct dvi_spot *spot, struct devimg_error *err)
{
    static const struct dvi_word words[] = { { "deny", DVI_CHOICE_STRICT },
                                             { "allow", DVI_CHOICE_ANY },
                                             { NULL, 0 } };
    return dvi_value_choice("duplicates", value, words, &policy->duplicates, spot, err);
}

/* A later budget of the same target replaces an earlier one. */
static enum devimg_status add_budget(struct devimg_policy *policy,
                                     const struct devimg_target *target, uint64_t most,
                                     const struct dvi_spot *spot, struct devimg_error *err)
{
    struct dvi_budget *budget = NULL;
    for (size_t i = 0; budget == NULL && i < policy->budgets.count; i++)
        if (policy->budgets.items[i].target == target)
            budget = &policy->budgets.items[i];
    if (budget == NULL)
        budget = DVI_ADD(&policy->budgets);
    if (budget == NULL)
        return dvi_fail_memory(err, spot->source);
    *budget = (struct dvi_budget){ target, most };
    return DEVIMG_OK;
}

/* "NAME=SIZE"; a size alone is for all device code, as "all" is. */
static enum devimg_status set_budget(struct devimg_policy *policy, struct dvi_view field,
                                     const struct dvi_spot *spot, struct devimg_error *err)
{
    struct dvi_view name = { 0 };
    struct dvi_target_set set = { 0 };
    uint64_t most = 0;
    const struct dvi_view whole = field;
    (void)dvi_next_field(&field, '=', &name);
    const bool is_named = name.size < whole.size;
    const char *size = dvi_arena_text(&policy->arena, dvi_trimmed(is_named ? field : name));
    const char *list = is_named ? dvi_arena_text(&policy->arena, dvi_trimmed(name)) : "all";
    if (size == NULL || list == NULL)
        return dvi_fail_memory(err, spot->source);
    if (!dvi_number_of(size, true, DEVIMG_UNKNOWN - 1, &most))
        return dvi_refuse(
            err, spot, "max-bytes: \"%.60s\": expected a size such as 4096, 64K, 256M or 2G", size);
    if (strcmp(list, "all") == 0)
        return add_budget(policy, NULL, most, spot, err);
    enum devimg_status status = dvi_value_images(policy, "max-bytes", list, &set, spot, err);
    if (status == DEVIMG_OK && set.known.count == 0)
        status = dvi_refuse(err, spot, "max-bytes: \"=%.60s\" is for no target", size);
    for (size_t i = 0; status == DEVIMG_OK && i < set.known.count; i++)
        status = add_budget(policy, set.known.items[i], most, spot, err);
    dvi_target_set_free(&set);
    return status;
}

/* "NAME=SIZE,NAME=SIZE" */
static enum devimg_status set_max_bytes(struct devimg_policy *policy, const char *value,
                                        const struct dvi_spot *spot, struct devimg_error *err)
{
    struct dvi_view rest = dvi_view_of(value, strlen(value), spot->source), field = { 0 };
    bool any = false;
    while (dvi_next_field(&rest, ',', &field)) {
        field = dvi_trimmed(field);
        if (field.size == 0)
            continue;
        any = true;
        DVI_TRY(set_budget(policy, field, spot, err));
    }
    return any ? DEVIMG_OK : dvi_refuse(err, spot, "max-bytes: expected TARGET=SIZE, or a size");
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
    DVI_TRY(dvi_value_targets(policy, "gaps: without", without, false, &gap.without, spot, err));
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

bool dvi_gap_has_unit(const struct dvi_gap *gap, const char *unit)
{
    return gap->by_unit && dvi_glob_path(gap->pattern, unit);
}

static const char *slice_text(struct devimg_policy *policy, const char *from, const char *to)
{
    return dvi_arena_text(&policy->arena,
                          dvi_trimmed(dvi_view_of(from, (size_t)(to - from), "gaps")));
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
                                   enum dvi_rule_setting setting, const struct dvi_spot *spot,
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
    static const struct dvi_word words[] = {
        { "on", DVI_SETTING_ON },       { "off", DVI_SETTING_OFF },
        { "error", DVI_SETTING_ERROR }, { "warning", DVI_SETTING_WARNING },
        { "note", DVI_SETTING_NOTE },   { NULL, 0 }
    };
    struct dvi_view rest = dvi_view_of(value, strlen(value), spot->source), field = { 0 };
    while (dvi_next_field(&rest, ',', &field)) {
        struct dvi_view name = { 0 };
        field = dvi_trimmed(field);
        if (field.size == 0)
            continue;
        (void)dvi_next_field(&field, '=', &name);
        const char *rule = dvi_arena_text(&policy->arena, dvi_trimmed(name));
        const char *word = dvi_arena_text(&policy->arena, dvi_trimmed(field));
        int setting = 0;
        if (rule == NULL || word == NULL)
            return dvi_fail_memory(err, spot->source);
        DVI_TRY(dvi_value_word(rule, word, words, &setting, spot, err));
        DVI_TRY(set_rule(policy, rule, (enum dvi_rule_setting)setting, spot, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status set_no_rule(struct devimg_policy *policy, const char *value,
                                      const struct dvi_spot *spot, struct devimg_error *err)
{
    struct dvi_view rest = dvi_view_of(value, strlen(value), spot->source), field = { 0 };
    while (dvi_next_field(&rest, ',', &field)) {
        const char *rule = dvi_arena_text(&policy->arena, dvi_trimmed(field));
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
    { "max-bytes", set_max_bytes },
    { "duplicates", set_duplicates },
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
    { "lint.macros", dvi_lint_set_macros },
    { "lint.templates", dvi_lint_set_templates },
    { "lint.define", dvi_lint_set_define },
    { "lint.header", dvi_lint_set_header },
    { "lint.raw", dvi_lint_set_raw },
    { "lint.expect-at-least", dvi_lint_set_expected },
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
    const struct key *row = key_of(key);
    return row != NULL ? row->set(policy, value, spot, err) : dvi_policy_check_key(key, spot, err);
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
    DVI_LIST_FREE(&policy->budgets);
    DVI_LIST_FREE(&policy->ratchet.lines);
    DVI_LIST_FREE(&policy->baseline.lines);
    dvi_promises_free(&policy->promises);
    dvi_lint_policy_free(&policy->lint);
    dvi_target_set_free(&policy->targets);
    dvi_target_set_free(&policy->fallback);
    dvi_arena_free(&policy->arena);
    free(policy);
}
