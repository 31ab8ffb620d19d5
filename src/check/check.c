/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the rules over one file after the other and keeps what they found, in one order. */
#include "check/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/ocloc.h"
#include "image/image.h"

enum { MOST_FINDINGS = 200000 }; /* of one file: what is past it is counted */

#define DVI_RULE(id, name, needs_kernels, summary) extern const struct dvi_rule dvi_rule_##id;
#include "check/rules.def"
#undef DVI_RULE

const struct dvi_rule_row dvi_rules[] = {
#define DVI_RULE(id, name, needs_kernels, summary) { name, summary, needs_kernels, &dvi_rule_##id },
#include "check/rules.def"
#undef DVI_RULE
};

/* A finding and what it is accepted by. */
struct item {
    struct devimg_finding finding;
    const char *key; /* line of a baseline; NULL: a note, which needs none */
    uint32_t rule, order;
};

struct ip_target {
    uint64_t ip;
    uint32_t target;
};

struct devimg_report {
    const struct devimg_policy *policy;
    struct dvi_arena arena;
    DVI_LIST(struct item) items;
    DVI_LIST(struct dvi_check_target) targets;
    DVI_LIST(struct ip_target) ips; /* sorted by IP version */
    DVI_LIST(struct dvi_ocloc_note) ocloc;
    struct dvi_memory memory;
    /* of the file that is checked */
    const struct dvi_check_input *in;
    const char *module_key; /* of the module `module_key_of` */
    uint32_t module_key_of;
    uint32_t rule;
    size_t first_item;
    uint64_t dropped[DVI_RULE_COUNT];
    enum devimg_severity dropped_severity[DVI_RULE_COUNT];
};

struct dvi_memory *dvi_memory_of(const struct dvi_check *check)
{
    return &check->report->memory;
}

/* ---- what rules ask of records ---- */

bool dvi_is_native(const struct devimg_image *image)
{
    return image->format == DEVIMG_FORMAT_ZEBIN || image->format == DEVIMG_FORMAT_PATCHTOKEN;
}

bool dvi_is_portable(const struct dvi_check *check, const struct devimg_image *image)
{
    if (image->format == DEVIMG_FORMAT_SPIRV)
        return true;
    return image->format == DEVIMG_FORMAT_BITCODE && image->record < check->in->record_count &&
           check->in->records[image->record]->linked != DEVIMG_YES;
}

bool dvi_needs_coverage(const struct dvi_check *check, const struct devimg_module *module)
{
    bool support = module->image_count > 0, kernels = module->name_count > 0;
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = check->in->images[module->images[i]];
        support = support && image->support;
        kernels = kernels || (image->kernel_count > 0 && image->kernel_count != DEVIMG_UNKNOWN);
    }
    return kernels && !support;
}

const struct devimg_target *dvi_row_of_image(const struct devimg_image *image)
{
    const struct devimg_target *row =
        image->ip_version != DEVIMG_UNKNOWN ? dvi_target_of_ip_or_former(image->ip_version) : NULL;
    return row != NULL || image->target == NULL ? row : devimg_target_find(image->target);
}

/* An image that states only its product family serves every target of that family. */
static bool same_family(const struct devimg_target *a, const struct devimg_target *b)
{
    if (a->product_family != DEVIMG_UNKNOWN && b->product_family != DEVIMG_UNKNOWN)
        return a->product_family == b->product_family;
    return a->ip_version == b->ip_version && a->ip_version != DEVIMG_UNKNOWN;
}

static void family_served(const struct dvi_check *check, const struct devimg_image *image,
                          void (*take)(void *context, size_t target), void *context)
{
    const struct devimg_target *row = dvi_row_of_image(image);
    for (size_t i = 0; row != NULL && i < check->target_count; i++)
        if (same_family(row, check->targets[i].row))
            take(context, i);
}

void dvi_targets_served(const struct dvi_check *check, const struct devimg_image *image,
                        void (*take)(void *context, size_t target), void *context)
{
    const struct devimg_report *report = check->report;
    size_t low = 0, high = report->ips.count;
    if (!dvi_is_native(image))
        return;
    if (image->ip_version == DEVIMG_UNKNOWN) {
        family_served(check, image, take, context);
        return;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (report->ips.items[middle].ip < image->ip_version)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < report->ips.count && report->ips.items[low].ip == image->ip_version; low++)
        take(context, report->ips.items[low].target);
}

/* ---- texts ---- */

int dvi_compare_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    return strcmp(a, b);
}

/* Add `name`, the first of `left` names, or "and N more"; false: that was the end. */
static bool add_name(char out[DVI_NAMES_SIZE], const char *name, size_t shown, size_t left)
{
    const size_t used = strlen(out), room = DVI_NAMES_SIZE - used;
    const size_t size = strnlen(name, 64), spare = left > 1 ? 24 : 0;
    if (size + 2 + spare >= room) {
        (void)snprintf(out + used, room, shown > 0 ? " and %zu more" : "%zu", left);
        return false;
    }
    (void)snprintf(out + used, room, "%s%.64s%s", shown > 0 ? ", " : "", name,
                   size == 64 && name[64] != 0 ? "..." : "");
    return true;
}

void dvi_names_of(const struct devimg_module *module, char out[DVI_NAMES_SIZE])
{
    enum { SHOWN = 3 };
    *out = 0;
    for (uint32_t i = 0; i < module->name_count; i++) {
        const size_t used = strlen(out);
        if (i == SHOWN) {
            (void)snprintf(out + used, DVI_NAMES_SIZE - used, " and %" PRIu32 " more",
                           module->name_count - i);
            return;
        }
        if (!add_name(out, module->names[i], i, module->name_count - i))
            return;
    }
    if (module->name_count == 0)
        (void)snprintf(out, DVI_NAMES_SIZE, "names unknown");
}

void dvi_rows_text(const struct devimg_target *const *rows, size_t count, char out[DVI_NAMES_SIZE])
{
    *out = 0;
    for (size_t i = 0; i < count; i++)
        if (!add_name(out, rows[i]->name, i, count - i))
            return;
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

/* ---- keys of a baseline ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != 0; text++) /* FNV-1a, 64 bit: http://www.isthe.com/chongo/tech/comp/fnv/ */
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}
static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

/* `text` as one field: no tab, no line end, not longer than a screen; NULL: out of memory. */
static const char *field_of(struct dvi_arena *arena, const char *text)
{
    enum { MOST = 512 };
    char out[3 * MOST + 24];
    size_t used = 0, i = 0;
    if (text == NULL || *text == 0)
        return "-";
    for (; text[i] != 0 && i < MOST; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool lone_dash = c == '-' && i == 0 && text[1] == 0;
        const bool comment = c == '#' && i == 0;
        if (c > 0x20 && c != 0x7f && c != '%' && !lone_dash && !comment)
            out[used++] = (char)c;
        else
            used += (size_t)snprintf(out + used, 4, "%%%02x", c);
    }
    out[used] = 0;
    if (text[i] != 0)
        (void)snprintf(out + used, sizeof out - used, "%%+%016" PRIx64,
                       hash_text(hash_start, text));
    return dvi_arena_copy(arena, out);
}

/* The module by its kernels, so that neither its place nor a stripped unit name counts. */
static const char *module_key(struct devimg_report *report, uint32_t index)
{
    if (index == DEVIMG_NONE || index >= report->in->module_count)
        return "-";
    if (index == report->module_key_of)
        return report->module_key;
    const struct devimg_module *module = report->in->modules[index];
    uint64_t hash = hash_start;
    for (uint32_t i = 0; i < module->name_count; i++)
        hash = hash_text(hash, module->names[i]);
    const char *first = field_of(&report->arena, module->name_count > 0 ? module->names[0] : NULL);
    if (first == NULL)
        return NULL;
    report->module_key = dvi_arena_format(&report->arena, "%s+%" PRIu32 ":%016" PRIx64, first,
                                          module->name_count, hash);
    report->module_key_of = report->module_key != NULL ? index : DEVIMG_NONE;
    return report->module_key;
}

/* "libfoo.a!bar.o" without folders. */
static const char *record_key(struct devimg_report *report, uint32_t index)
{
    if (index == DEVIMG_NONE || index >= report->in->record_count)
        return "-";
    const struct devimg_record *record = report->in->records[index];
    const char *key = field_of(&report->arena, dvi_base_name(record->path));
    for (uint32_t i = 0; key != NULL && i < record->member_count; i++) {
        const char *member = field_of(&report->arena, record->members[i]);
        key = member != NULL ? dvi_arena_format(&report->arena, "%s!%s", key, member) : NULL;
    }
    return key;
}

static const char *key_of(struct devimg_report *report, const struct devimg_finding *f)
{
    const char *record = record_key(report, f->record), *module = module_key(report, f->module);
    const char *kernel = field_of(&report->arena, f->kernel);
    const char *target = field_of(&report->arena, f->target);
    if (record == NULL || module == NULL || kernel == NULL || target == NULL)
        return NULL;
    return dvi_arena_format(&report->arena, "%s\t%s\t%s\t%s\t%s\t%s", record, f->rule, f->code,
                            module, kernel, target);
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
static enum devimg_severity severity_of(enum dvi_setting setting, enum devimg_severity severity)
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
    struct item *item = finding->message != NULL ? DVI_ADD(&report->items) : NULL;
    if (item == NULL)
        return dvi_fail_memory(err, "report");
    item->finding = *finding;
    item->finding.severity = severity;
    item->finding.rule = dvi_rules[rule].name;
    item->rule = rule;
    item->order = (uint32_t)(report->items.count - report->first_item); /* at most MOST_FINDINGS */
    return DEVIMG_OK;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By record, module, rule, kernel, target, image: first what is of no module. */
static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    const struct devimg_finding *f = &x->finding, *g = &y->finding;
    int order = compare_numbers(f->record, g->record);
    if (order == 0)
        order = compare_numbers((uint32_t)(f->module + 1U), (uint32_t)(g->module + 1U));
    if (order == 0)
        order = compare_numbers(x->rule, y->rule);
    if (order == 0)
        order = dvi_compare_text(f->kernel, g->kernel);
    if (order == 0)
        order = dvi_compare_text(f->target, g->target);
    if (order == 0)
        order = compare_numbers(f->image, g->image);
    return order != 0 ? order : compare_numbers(x->order, y->order);
}

/* A finding that the baseline still has to give becomes a note. */
static enum devimg_status accept(struct devimg_report *report, struct item *item,
                                 struct devimg_error *err)
{
    const struct dvi_baseline *baseline = &report->policy->baseline;
    if (item->finding.severity == DEVIMG_NOTE)
        return DEVIMG_OK;
    item->key = key_of(report, &item->finding);
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
        struct item *item = DVI_ADD(&report->items);
        if (item == NULL)
            return dvi_fail_memory(err, "report");
        item->finding = dvi_finding_of(report->dropped_severity[rule], "not-listed",
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
    in.images = fill_devimg_image(file, room += in.record_count, in.image_count);
    in.modules = fill_devimg_module(file, room += in.image_count, in.module_count);
    in.kernels = fill_devimg_kernel(file, room += in.module_count, in.kernel_count);
    in.findings = fill_devimg_finding(file, room += in.kernel_count, in.finding_count);
    out->in = in;
    return DEVIMG_OK;
}

enum devimg_status devimg_report_add(struct devimg_report *report, struct devimg_file *file,
                                     uint32_t *first, uint32_t *count, struct devimg_error *err)
{
    struct tables tables = { 0 };
    if (dvi_policy_needs_kernels(report->policy))
        DVI_TRY(devimg_read_kernels(file, err));
    DVI_TRY(tables_of(file, &tables, err));
    const enum devimg_status st = dvi_report_add_input(report, &tables.in, first, count, err);
    free(tables.all);
    report->in = NULL;
    return st;
}

enum devimg_status devimg_report_finish(struct devimg_report *report, struct devimg_error *err)
{
    static const struct dvi_check_input nothing = { 0 };
    struct dvi_check check = check_of(report, &nothing);
    return run_rules(&check, true, err);
}

/* ---- a report's targets ---- */

static void add_ip(struct dvi_check_target *target, uint64_t ip)
{
    for (size_t i = 0; i < target->ip_count; i++)
        if (target->ips[i] == ip)
            return;
    if (target->ip_count < sizeof target->ips / sizeof target->ips[0])
        target->ips[target->ip_count++] = ip;
}

/* "20.1.4@24.26.30049.6": what stands before the '@'; false: it is none. */
static bool former_ip(struct dvi_view item, uint64_t *out)
{
    struct dvi_view text = { 0 }, part = { 0 };
    uint64_t parts[3] = { 0 };
    while (item.size > 0 && item.data[0] == ' ')
        item = dvi_from(item, 1);
    if (!dvi_next_field(&item, '@', &text))
        return false;
    for (size_t i = 0; i < 3; i++)
        if (!dvi_next_field(&text, '.', &part) || !dvi_decimal(part, &parts[i]))
            return false;
    *out = DVI_IP(parts[0], parts[1], parts[2]);
    return text.size == 0;
}

/* The tables' IP versions of a target: what it has, and what it once had. */
static void table_ips(struct dvi_check_target *target)
{
    struct dvi_view rest =
        dvi_view_of(target->row->former_ips, strlen(target->row->former_ips), "targets");
    struct dvi_view item = { 0 };
    uint64_t ip = 0;
    if (target->row->ip_version != DEVIMG_UNKNOWN)
        add_ip(target, target->row->ip_version);
    while (dvi_next_field(&rest, ',', &item)) {
        struct dvi_view one = { 0 };
        while (dvi_next_field(&item, ';', &one))
            if (former_ip(one, &ip))
                add_ip(target, ip);
    }
}

static enum devimg_status note_ocloc(struct devimg_report *report, enum devimg_severity severity,
                                     const char *code, const char *target, const char *message,
                                     const char *hint, struct devimg_error *err)
{
    struct dvi_ocloc_note *note = message != NULL ? DVI_ADD(&report->ocloc) : NULL;
    if (note == NULL)
        return dvi_fail_memory(err, "report");
    *note = (struct dvi_ocloc_note){ code, target, message, hint, severity };
    return DEVIMG_OK;
}

static enum devimg_status differs(struct devimg_report *report, const struct dvi_check_target *t,
                                  const struct dvi_ocloc_answer *answer, struct devimg_error *err)
{
    char ours[24] = "none", theirs[24];
    bool found = false;
    for (size_t i = 0; i < answer->ip_count; i++)
        found = found || answer->ips[i] == t->row->ip_version;
    if (found)
        return DEVIMG_OK;
    if (t->row->ip_version != DEVIMG_UNKNOWN)
        dvi_ip_text(t->row->ip_version, ours);
    dvi_ip_text(answer->ips[0], theirs);
    return note_ocloc(report, DEVIMG_NOTE, "ocloc-differs", t->row->name,
                      dvi_arena_format(&report->arena, "%s: the tables say %s, this ocloc %s",
                                       t->row->name, ours, theirs),
                      "the images are held to what this ocloc says", err);
}

/* The IP versions as the ocloc of the policy has them; the tables' where it gives no answer. */
static enum devimg_status ocloc_ips(struct devimg_report *report, struct dvi_check_target *t,
                                    struct devimg_error *err)
{
    struct dvi_ocloc_answer answer = { 0 };
    const char *name = t->row->name, *program = report->policy->ocloc;
    DVI_TRY(dvi_ocloc_ask(program, name, DVI_OCLOC_SECONDS, &answer, err));
    if (answer.ip_count > 0) {
        DVI_TRY(differs(report, t, &answer, err));
        for (size_t i = 0; i < answer.ip_count; i++)
            add_ip(t, answer.ips[i]);
        return DEVIMG_OK;
    }
    table_ips(t);
    const char *message =
        answer.timed_out
            ? dvi_arena_format(&report->arena, "%s: this ocloc gave no answer in %d seconds", name,
                               DVI_OCLOC_SECONDS)
            : dvi_arena_format(&report->arena, "%s: this ocloc does not know it (exit status %d)",
                               name, answer.exit_code);
    return note_ocloc(report, DEVIMG_ERROR, "ocloc-unknown", name, message,
                      "use a newer ocloc, or take the name off the target list", err);
}

static int compare_ips(const void *a, const void *b)
{
    const struct ip_target *x = a, *y = b;
    const int order = compare_numbers(x->ip, y->ip);
    return order != 0 ? order : compare_numbers(x->target, y->target);
}

static enum devimg_status resolve_targets(struct devimg_report *report, struct devimg_error *err)
{
    const struct devimg_policy *policy = report->policy;
    for (size_t i = 0; i < policy->targets.known.count; i++) {
        struct dvi_check_target *t = DVI_ADD(&report->targets);
        if (t == NULL)
            return dvi_fail_memory(err, "report");
        t->row = policy->targets.known.items[i];
        if (policy->ocloc != NULL)
            DVI_TRY(ocloc_ips(report, t, err));
        else
            table_ips(t);
        for (size_t k = 0; k < t->ip_count; k++) {
            struct ip_target *pair = DVI_ADD(&report->ips);
            if (pair == NULL)
                return dvi_fail_memory(err, "report");
            *pair = (struct ip_target){ t->ips[k], (uint32_t)i };
        }
    }
    if (report->ips.count > 0)
        qsort(report->ips.items, report->ips.count, sizeof *report->ips.items, compare_ips);
    report->memory.ocloc = report->ocloc.items;
    report->memory.ocloc_count = report->ocloc.count;
    return DEVIMG_OK;
}

static enum devimg_status make_memory(struct devimg_report *report, struct devimg_error *err)
{
    const struct devimg_policy *policy = report->policy;
    struct dvi_memory *m = &report->memory;
    struct dvi_arena *arena = &report->arena;
    m->gap_needed = dvi_arena_array(arena, policy->gaps.count, sizeof *m->gap_needed);
    m->ratchet = dvi_arena_array(arena, policy->ratchet.lines.count, sizeof *m->ratchet);
    m->accepted = dvi_arena_array(arena, policy->baseline.lines.count, sizeof *m->accepted);
    if (m->gap_needed == NULL || m->ratchet == NULL || m->accepted == NULL)
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
    struct devimg_report *report = calloc(1, sizeof *report);
    if (report == NULL)
        return dvi_fail_memory(err, "report");
    report->policy = policy;
    enum devimg_status st = make_memory(report, err);
    if (st == DEVIMG_OK)
        st = resolve_targets(report, err);
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
    dvi_arena_free(&report->arena);
    free(report);
}

/* ---- writing a baseline ---- */

static int compare_keys(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static enum devimg_status print_keys(FILE *file, const struct devimg_report *report,
                                     const char *path, struct devimg_error *err)
{
    size_t count = 0;
    const char **keys = calloc(report->items.count + 1, sizeof *keys);
    if (keys == NULL)
        return dvi_fail_memory(err, path);
    for (size_t i = 0; i < report->items.count; i++)
        if (report->items.items[i].key != NULL)
            keys[count++] = report->items.items[i].key;
    qsort(keys, count, sizeof *keys, compare_keys);
    fputs("# devimg check: accepted findings: file, rule, code, module, kernel, target\n", file);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s\n", keys[i]);
    free(keys);
    const bool failed = fflush(file) != 0 || ferror(file) != 0;
    return failed ? dvi_fail_plain(err, DEVIMG_IO, path, "cannot be written: %s", strerror(errno))
                  : DEVIMG_OK;
}

enum devimg_status devimg_report_write_baseline(const struct devimg_report *report,
                                                const char *path, struct devimg_error *err)
{
    char fresh[4096];
    const int size = snprintf(fresh, sizeof fresh, "%s.%ld.tmp", path, (long)getpid());
    if (size < 0 || (size_t)size >= sizeof fresh)
        return dvi_fail_plain(err, DEVIMG_IO, path, "the path is too long");
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    enum devimg_status st = DEVIMG_OK;
    if (file == NULL) {
        st = dvi_fail_plain(err, DEVIMG_IO, path, "cannot be written: %s", strerror(errno));
        if (fd >= 0)
            (void)close(fd);
    } else {
        st = print_keys(file, report, path, err);
        if (fclose(file) != 0 && st == DEVIMG_OK)
            st = dvi_fail_plain(err, DEVIMG_IO, path, "cannot be written: %s", strerror(errno));
    }
    if (st == DEVIMG_OK && rename(fresh, path) != 0)
        st = dvi_fail_plain(err, DEVIMG_IO, path, "cannot be written: %s", strerror(errno));
    if (st != DEVIMG_OK && fd >= 0)
        (void)unlink(fresh);
    return st;
}
