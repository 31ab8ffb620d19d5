/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the rules over one file after the other and keeps what they found, in one order. */
#include "check/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

enum { MOST_FINDINGS = 200000 }; /* of one file: what is past it is counted */

#define DVI_RULE(id, name, needs_kernels, summary) extern const struct dvi_rule dvi_rule_##id;
#include "check/rules.def"
#undef DVI_RULE

const struct dvi_rule_row dvi_rules[] = {
#define DVI_RULE(id, name, needs_kernels, summary) { name, summary, needs_kernels, &dvi_rule_##id },
#include "check/rules.def"
#undef DVI_RULE
};

struct dvi_memory *dvi_memory_of(const struct dvi_check *check)
{
    return &check->report->memory;
}

const char *dvi_message(struct dvi_check *check, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char text[1024];
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return dvi_arena_copy(&check->report->arena, text);
}

/* ---- saying ---- */

struct devimg_finding dvi_finding_of(enum devimg_severity severity, const char *code,
                                     uint32_t record)
{
    return (struct devimg_finding){ .code = code,
                                    .severity = severity,
                                    .record = record,
                                    .module = DEVIMG_NONE,
                                    .image = DEVIMG_NONE,
                                    .offset = DEVIMG_UNKNOWN };
}

/* What `rules: {NAME: warning}` makes of it; notes stay notes. */
static enum devimg_severity severity_of(enum dvi_rule_setting setting,
                                        enum devimg_severity severity)
{
    if (severity == DEVIMG_NOTE)
        return severity;
    switch (setting) {
    case DVI_SETTING_ERROR: return DEVIMG_ERROR;
    case DVI_SETTING_WARNING: return DEVIMG_WARNING;
    case DVI_SETTING_NOTE: return DEVIMG_NOTE;
    case DVI_SETTING_DEFAULT:
    case DVI_SETTING_OFF:
    case DVI_SETTING_ON: break;
    }
    return severity;
}

enum devimg_status dvi_say(struct dvi_check *check, const struct devimg_finding *finding,
                           struct devimg_error *err)
{
    struct devimg_report *report = check->report;
    const uint32_t rule = report->rule;
    const enum devimg_severity severity =
        severity_of(report->policy->rules[rule], finding->severity);
    if (report->items.count - report->first_item >= MOST_FINDINGS) {
        if (report->dropped[rule]++ == 0 || severity > report->dropped_severity[rule])
            report->dropped_severity[rule] = severity;
        return DEVIMG_OK;
    }
    struct dvi_item *item = finding->message != NULL ? DVI_ADD(&report->items) : NULL;
    if (item == NULL)
        return dvi_fail_memory(err, "report");
    item->finding = *finding;
    item->finding.severity = severity;
    item->finding.rule = dvi_rules[rule].name;
    item->rule = rule;
    item->order = (uint32_t)(report->items.count - report->first_item); /* at most MOST_FINDINGS */
    return DEVIMG_OK;
}

/* By record, module, rule, kernel, target, image: first what is of no module. */
static int compare_items(const void *a, const void *b)
{
    const struct dvi_item *x = a, *y = b;
    const struct devimg_finding *f = &x->finding, *g = &y->finding;
    int order = dvi_compare_numbers(f->record, g->record);
    if (order == 0)
        order = dvi_compare_numbers((uint32_t)(f->module + 1U), (uint32_t)(g->module + 1U));
    if (order == 0)
        order = dvi_compare_numbers(x->rule, y->rule);
    if (order == 0)
        order = dvi_compare_text(f->kernel, g->kernel);
    if (order == 0)
        order = dvi_compare_text(f->target, g->target);
    if (order == 0)
        order = dvi_compare_numbers(f->image, g->image);
    return order != 0 ? order : dvi_compare_numbers(x->order, y->order);
}

/* The code of what stands for findings that are only counted: nothing accepts those. */
static const char not_listed[] = "not-listed";

/* A finding that the baseline still has to give becomes a note. */
static enum devimg_status accept(struct devimg_report *report, struct dvi_item *item,
                                 struct devimg_error *err)
{
    const struct dvi_baseline *baseline = &report->policy->baseline;
    if (item->finding.severity == DEVIMG_NOTE || strcmp(item->finding.code, not_listed) == 0)
        return DEVIMG_OK;
    item->key = dvi_finding_key(report, &item->finding);
    if (item->key == NULL)
        return dvi_fail_memory(err, "report");
    if (baseline->path == NULL || report->policy->rules[DVI_RULE_baseline] == DVI_SETTING_OFF)
        return DEVIMG_OK;
    const struct dvi_baseline_line *line = dvi_baseline_find(baseline, item->key);
    if (line == NULL)
        return DEVIMG_OK;
    uint32_t *accepted = &report->memory.accepted[line - baseline->lines.items];
    if (*accepted >= line->count)
        return DEVIMG_OK;
    ++*accepted;
    item->finding.severity = DEVIMG_NOTE;
    item->finding.message =
        dvi_arena_format(&report->arena, "%s (baseline)", item->finding.message);
    return item->finding.message != NULL ? DEVIMG_OK : dvi_fail_memory(err, "report");
}

/* One finding a rule for those that were only counted. */
static enum devimg_status say_dropped(struct dvi_check *check, struct devimg_error *err)
{
    struct devimg_report *report = check->report;
    for (uint32_t rule = 0; rule < DVI_RULE_COUNT; rule++) {
        const uint64_t count = report->dropped[rule];
        report->dropped[rule] = 0;
        if (count == 0)
            continue;
        struct dvi_item *item = DVI_ADD(&report->items);
        if (item == NULL)
            return dvi_fail_memory(err, "report");
        item->finding = dvi_finding_of(report->dropped_severity[rule], not_listed,
                                       check->in->record_count > 0 ? 0 : DEVIMG_NONE);
        item->finding.rule = dvi_rules[rule].name;
        item->rule = rule;
        item->finding.message = dvi_message(
            check, "%" PRIu64 " more findings are not listed: at most %d are kept for a file",
            count, MOST_FINDINGS);
        if (item->finding.message == NULL)
            return dvi_fail_memory(err, "report");
    }
    return DEVIMG_OK;
}

static bool is_wanted(const struct devimg_policy *policy, size_t rule)
{
    const struct dvi_rule *r = dvi_rules[rule].rule;
    return policy->rules[rule] != DVI_SETTING_OFF && (r->wanted == NULL || r->wanted(policy));
}

/* In the order that findings stand in: accepting must not depend on the order of the rules. */
static enum devimg_status accept_all(struct devimg_report *report, size_t *done,
                                     struct devimg_error *err)
{
    const size_t count = report->items.count - *done;
    if (count > 0)
        qsort(report->items.items + *done, count, sizeof *report->items.items, compare_items);
    for (; *done < report->items.count; ++*done)
        DVI_TRY(accept(report, &report->items.items[*done], err));
    return DEVIMG_OK;
}

static enum devimg_status run_rules(struct dvi_check *check, bool finishing,
                                    struct devimg_error *err)
{
    struct devimg_report *report = check->report;
    size_t done = report->items.count;
    report->in = check->in;
    report->module_key_of = DEVIMG_NONE;
    report->first_item = report->items.count;
    for (uint32_t i = 0; i < DVI_RULE_COUNT; i++) {
        const struct dvi_rule *rule = dvi_rules[i].rule;
        enum devimg_status (*const run)(struct dvi_check *, struct devimg_error *) =
            finishing ? rule->finish : rule->run;
        if (run == NULL || !is_wanted(report->policy, i))
            continue;
        if (i == DVI_RULE_baseline) /* what is not accepted by now is gone */
            DVI_TRY(accept_all(report, &done, err));
        report->rule = i;
        DVI_TRY(run(check, err));
    }
    DVI_TRY(say_dropped(check, err));
    return accept_all(report, &done, err);
}

static struct dvi_check check_of(struct devimg_report *report, const struct dvi_check_input *in)
{
    return (struct dvi_check){ .policy = report->policy,
                               .in = in,
                               .targets = report->targets.items,
                               .target_count = report->targets.count,
                               .report = report };
}

enum devimg_status dvi_report_add_input(struct devimg_report *report,
                                        const struct dvi_check_input *in, uint32_t *first,
                                        uint32_t *count, struct devimg_error *err)
{
    struct dvi_check check = check_of(report, in);
    const size_t before = report->items.count;
    report->memory.file_count++;
    DVI_TRY(run_rules(&check, false, err));
    if (report->items.count > UINT32_MAX)
        return dvi_fail_plain(err, DEVIMG_LIMIT, "report", "more than %" PRIu32 " findings",
                              UINT32_MAX);
    if (first != NULL)
        *first = (uint32_t)before;
    if (count != NULL)
        *count = (uint32_t)(report->items.count - before);
    return DEVIMG_OK;
}

bool dvi_policy_needs_kernels(const struct devimg_policy *policy)
{
    for (size_t i = 0; i < DVI_RULE_COUNT; i++)
        if (dvi_rules[i].needs_kernels && is_wanted(policy, i))
            return true;
    return false;
}

bool dvi_policy_asks(const struct devimg_policy *policy)
{
    static const enum dvi_rule_index without[] = { DVI_RULE_damaged, DVI_RULE_registration,
                                                   DVI_RULE_gaps, DVI_RULE_unmeasured,
                                                   DVI_RULE_baseline };
    for (size_t i = 0; i < DVI_RULE_COUNT; i++) {
        bool counts = true;
        for (size_t k = 0; k < sizeof without / sizeof *without; k++)
            counts = counts && without[k] != i;
        if (counts && is_wanted(policy, i))
            return true;
    }
    return false;
}

/* ---- a file's records as arrays ---- */

struct tables {
    struct dvi_check_input in;
    const void **all; /* one allocation for every array */
};

#define FILL(type, at)                                                              \
    static const struct type *const *fill_##type(const struct devimg_file *file,    \
                                                 const void **room, uint32_t count) \
    {                                                                               \
        for (uint32_t i = 0; i < count; i++)                                        \
            room[i] = at(file, i);                                                  \
        return (const struct type *const *)(const void *)room;                      \
    }
FILL(devimg_record, devimg_record_at)
FILL(devimg_image, devimg_image_at)
FILL(devimg_module, devimg_module_at)
FILL(devimg_kernel, devimg_kernel_at)
FILL(devimg_finding, devimg_finding_at)
#undef FILL

static enum devimg_status tables_of(const struct devimg_file *file, struct tables *out,
                                    struct devimg_error *err)
{
    struct dvi_check_input in = { .record_count = devimg_record_count(file),
                                  .image_count = devimg_image_count(file),
                                  .module_count = devimg_module_count(file),
                                  .kernel_count = devimg_kernel_count(file),
                                  .finding_count = devimg_finding_count(file) };
    const uint64_t total = (uint64_t)in.record_count + in.image_count + in.module_count +
                           in.kernel_count + in.finding_count;
    const void **room =
        total < SIZE_MAX / sizeof *room ? calloc((size_t)total + 1, sizeof *room) : NULL;
    if (room == NULL)
        return dvi_fail_memory(err, "report");
    out->all = room;
    in.records = fill_devimg_record(file, room, in.record_count);
    room += in.record_count;
    in.images = fill_devimg_image(file, room, in.image_count);
    room += in.image_count;
    in.modules = fill_devimg_module(file, room, in.module_count);
    room += in.module_count;
    in.kernels = fill_devimg_kernel(file, room, in.kernel_count);
    room += in.kernel_count;
    in.findings = fill_devimg_finding(file, room, in.finding_count);
    out->in = in;
    return DEVIMG_OK;
}

enum devimg_status devimg_report_add(struct devimg_report *report, struct devimg_file *file,
                                     uint32_t *first, uint32_t *count, struct devimg_error *err)
{
    struct tables tables = { 0 };
    if (is_wanted(report->policy, DVI_RULE_duplicates))
        dvi_want_digests(file);
    if (dvi_policy_needs_kernels(report->policy))
        DVI_TRY(devimg_read_kernels(file, err));
    DVI_TRY(tables_of(file, &tables, err));
    uint64_t *zstd_sizes = NULL;
    enum devimg_status st = DEVIMG_OK;
    if (is_wanted(report->policy, DVI_RULE_compression))
        st = dvi_measure_zstd(file, &tables.in, &zstd_sizes, err);
    tables.in.zstd_sizes = zstd_sizes;
    if (st == DEVIMG_OK)
        st = dvi_report_add_input(report, &tables.in, first, count, err);
    free(tables.all);
    free(zstd_sizes);
    report->in = NULL;
    return st;
}

enum devimg_status devimg_report_finish(struct devimg_report *report, struct devimg_error *err)
{
    static const struct dvi_check_input nothing = { 0 };
    struct dvi_check check = check_of(report, &nothing);
    if (report->finished)
        return DEVIMG_OK;
    report->finished = true;
    return run_rules(&check, true, err);
}

static enum devimg_status make_memory(struct devimg_report *report, struct devimg_error *err)
{
    const struct devimg_policy *policy = report->policy;
    struct dvi_memory *m = &report->memory;
    struct dvi_arena *arena = &report->arena;
    m->gap_needed = dvi_arena_array(arena, policy->gaps.count, sizeof *m->gap_needed);
    m->gap_use = dvi_arena_array(arena, policy->gaps.count, sizeof *m->gap_use);
    m->ratchet = dvi_arena_array(arena, policy->ratchet.lines.count, sizeof *m->ratchet);
    m->accepted = dvi_arena_array(arena, policy->baseline.lines.count, sizeof *m->accepted);
    if (m->gap_needed == NULL || m->gap_use == NULL || m->ratchet == NULL || m->accepted == NULL)
        return dvi_fail_memory(err, "report");
    for (size_t i = 0; i < policy->gaps.count; i++) {
        m->gap_needed[i] = dvi_arena_array(arena, policy->gaps.items[i].without.known.count, 1);
        if (m->gap_needed[i] == NULL)
            return dvi_fail_memory(err, "report");
    }
    return DEVIMG_OK;
}

/* ---- the public calls ---- */

enum devimg_status devimg_report_new(const struct devimg_policy *policy, struct devimg_report **out,
                                     struct devimg_error *err)
{
    struct devimg_error unasked = { 0 };
    struct devimg_report *report = calloc(1, sizeof *report);
    err = err != NULL ? err : &unasked;
    if (report == NULL)
        return dvi_fail_memory(err, "report");
    report->policy = policy;
    enum devimg_status st = make_memory(report, err);
    if (st == DEVIMG_OK)
        st = dvi_resolve_targets(report, err);
    if (st != DEVIMG_OK) {
        devimg_report_free(report);
        return st;
    }
    *out = report;
    return DEVIMG_OK;
}

uint32_t devimg_report_count(const struct devimg_report *report)
{
    return (uint32_t)report->items.count; /* dvi_report_add_input() keeps it below 2^32 */
}

const struct devimg_finding *devimg_report_at(const struct devimg_report *report, uint32_t i)
{
    return i < report->items.count ? &report->items.items[i].finding : NULL;
}

void devimg_report_free(struct devimg_report *report)
{
    if (report == NULL)
        return;
    DVI_LIST_FREE(&report->items);
    DVI_LIST_FREE(&report->targets);
    DVI_LIST_FREE(&report->ips);
    DVI_LIST_FREE(&report->ocloc);
    DVI_LIST_FREE(&report->scratch);
    dvi_arena_free(&report->arena);
    free(report);
}
