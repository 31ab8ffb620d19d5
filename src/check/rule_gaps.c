/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps: images that are known to be missing. A gap covers a module when its pattern matches every
 * kernel of it (or its unit), and only the targets that it names: another name of the same device
 * IP version is not covered with it.
 */
#include <string.h>

#include "base/glob.h"
#include "base/nearest.h"
#include "base/text.h"
#include "check/check.h"

enum { UNTRIED, MATCHES, DIFFERS }; /* what a byte of `matches` says of a module */

static bool matches_module(const struct dvi_gap *gap, const struct devimg_module *module)
{
    if (gap->by_unit)
        return module->unit != NULL && dvi_gap_has_unit(gap, module->unit);
    for (uint32_t i = 0; i < module->name_count; i++)
        if (!dvi_glob_kernel(gap->pattern, module->names[i]))
            return false;
    return module->name_count > 0;
}

const struct dvi_gap *dvi_gap_for(struct dvi_check *check, const struct devimg_module *module,
                                  const struct devimg_target *target, unsigned char *matches)
{
    struct dvi_memory *memory = dvi_memory_of(check);
    for (size_t i = 0; i < check->policy->gaps.count; i++) {
        const struct dvi_gap *gap = &check->policy->gaps.items[i];
        if (matches[i] == DIFFERS)
            continue;
        for (size_t k = 0; k < gap->without.known.count; k++) {
            if (gap->without.known.items[k] != target)
                continue;
            if (matches[i] == UNTRIED)
                matches[i] = matches_module(gap, module) ? MATCHES : DIFFERS;
            if (matches[i] != MATCHES)
                break;
            memory->gap_use[i].matched = true;
            memory->gap_needed[i][k] = 1;
            return gap;
        }
    }
    return NULL;
}

/* Keep a name that a pattern which matches nothing may have meant. */
static enum devimg_status keep_nearest(struct dvi_check *check, const struct dvi_gap *gap,
                                       struct dvi_gap_use *use, const char *name,
                                       struct devimg_error *err)
{
    if (gap->by_unit && strchr(gap->pattern, '/') == NULL)
        name = dvi_base_name(name);
    const size_t distance = dvi_edit_distance(gap->pattern, name);
    if (distance > strlen(gap->pattern) / 3 || (use->nearest != NULL && distance >= use->distance))
        return DEVIMG_OK;
    use->nearest = dvi_message(check, "%s", name);
    use->distance = distance;
    return use->nearest != NULL ? DEVIMG_OK : dvi_fail_memory(err, "gaps");
}

static enum devimg_status look(struct dvi_check *check, const struct dvi_gap *gap,
                               struct dvi_gap_use *use, const struct devimg_module *module,
                               struct devimg_error *err)
{
    use->matched = matches_module(gap, module);
    if (use->matched || (gap->by_unit && module->unit == NULL))
        return DEVIMG_OK;
    if (gap->by_unit)
        return keep_nearest(check, gap, use, module->unit, err);
    for (uint32_t i = 0; i < module->name_count; i++)
        DVI_TRY(keep_nearest(check, gap, use, module->names[i], err));
    return DEVIMG_OK;
}

/* Which gaps are about no module at all: those are likely misspelt. */
static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    struct dvi_memory *memory = dvi_memory_of(check);
    for (size_t i = 0; i < check->policy->gaps.count; i++)
        for (uint32_t m = 0; m < check->in->module_count && !memory->gap_use[i].matched; m++)
            DVI_TRY(look(check, &check->policy->gaps.items[i], &memory->gap_use[i],
                         check->in->modules[m], err));
    return DEVIMG_OK;
}

static bool is_listed(const struct dvi_check *check, const struct devimg_target *target)
{
    for (size_t i = 0; i < check->target_count; i++)
        if (check->targets[i].row == target)
            return true;
    return false;
}

static enum devimg_status say_unmatched(struct dvi_check *check, const struct dvi_gap *gap,
                                        const struct dvi_gap_use *use, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "gap-unmatched", DEVIMG_NONE);
    f.unit = gap->by_unit ? gap->pattern : NULL;
    f.kernel = gap->by_unit ? NULL : gap->pattern;
    f.message = dvi_message(
        check, "the gap \"%.100s\" matches no %s%s%.100s%s", gap->pattern,
        gap->by_unit ? "unit" : "module's kernels", use->nearest != NULL ? ": did you mean \"" : "",
        use->nearest != NULL ? use->nearest : "", use->nearest != NULL ? "\"?" : "");
    f.hint = gap->by_unit ? "a unit is a source file, as `devimg list --modules` shows it"
                          : "a pattern is to match every kernel of a module: see `devimg kernels`";
    return dvi_say(check, &f, err);
}

static enum devimg_status say_unneeded(struct dvi_check *check, const struct dvi_gap *gap,
                                       const struct devimg_target *target, struct devimg_error *err)
{
    const bool listed = is_listed(check, target);
    struct devimg_finding f =
        dvi_finding_of(listed ? DEVIMG_NOTE : DEVIMG_WARNING, "gap-unneeded", DEVIMG_NONE);
    f.target = target->name;
    f.unit = gap->by_unit ? gap->pattern : NULL;
    f.kernel = gap->by_unit ? NULL : gap->pattern;
    f.message = listed
                    ? dvi_message(check,
                                  "the gap \"%.100s\" without %s is not needed: no module that it "
                                  "matches lacks the image",
                                  gap->pattern, target->name)
                    : dvi_message(check,
                                  "the gap \"%.100s\" is without %s, which is not in the target "
                                  "list",
                                  gap->pattern, target->name);
    f.hint = "take it out of the policy";
    return dvi_say(check, &f, err);
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->gaps.count > 0 && policy->rules[DVI_RULE_targets] != DVI_SETTING_OFF;
}

static enum devimg_status finish(struct dvi_check *check, struct devimg_error *err)
{
    const struct dvi_memory *memory = dvi_memory_of(check);
    for (size_t i = 0; i < check->policy->gaps.count; i++) {
        const struct dvi_gap *gap = &check->policy->gaps.items[i];
        DVI_TRY(dvi_say_repeated(check, "gaps: without", &gap->without, err));
        const bool matched = memory->gap_use[i].matched;
        if (memory->file_count > 0 && !matched)
            DVI_TRY(say_unmatched(check, gap, &memory->gap_use[i], err));
        for (size_t k = 0; memory->file_count > 0 && k < gap->without.known.count; k++)
            if (!memory->gap_needed[i][k] &&
                (matched || !is_listed(check, gap->without.known.items[k])))
                DVI_TRY(say_unneeded(check, gap, gap->without.known.items[k], err));
    }
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_gaps = { .wanted = wanted, .run = run, .finish = finish };
