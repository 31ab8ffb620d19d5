/* SPDX-License-Identifier: Apache-2.0 */
#include "output/findings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/demangle.h"
#include "output/escape.h"
#include "output/record.h"
#include "output/text.h"

static int by_record(const void *left, const void *right)
{
    const struct dvi_finding_ref *a = left, *b = right;
    const int order = dvi_compare_numbers(a->record, b->record);
    return order != 0 ? order : dvi_compare_numbers(a->at, b->at);
}

static bool make_room(struct dvi_findings *f, size_t count)
{
    *f = (struct dvi_findings){ .items = calloc(count > 0 ? count : 1, sizeof *f->items) };
    return f->items != NULL;
}

static void add(struct dvi_findings *f, const struct devimg_finding *finding)
{
    if (finding == NULL)
        return;
    f->items[f->count] =
        (struct dvi_finding_ref){ finding, finding->record != DEVIMG_NONE ? finding->record : 0,
                                  (uint32_t)f->count };
    f->count++;
    f->severities[finding->severity]++;
}

bool dvi_findings_of_file(const struct devimg_file *file, struct dvi_findings *out)
{
    const uint32_t count = devimg_finding_count(file);
    if (!make_room(out, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        add(out, devimg_finding_at(file, i));
    qsort(out->items, out->count, sizeof *out->items, by_record);
    return true;
}

bool dvi_findings_of_report(const struct devimg_report *report, uint32_t first, uint32_t count,
                            struct dvi_findings *out)
{
    if (!make_room(out, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        add(out, devimg_report_at(report, first + i));
    qsort(out->items, out->count, sizeof *out->items, by_record);
    return true;
}

bool dvi_findings_of_extraction(const struct devimg_file *file,
                                const struct devimg_extraction *extraction, uint32_t first,
                                uint32_t count, struct dvi_findings *out)
{
    const uint32_t own = devimg_finding_count(file);
    if (!make_room(out, (size_t)own + count))
        return false;
    for (uint32_t i = 0; i < own; i++)
        add(out, devimg_finding_at(file, i));
    for (uint32_t i = 0; i < count; i++)
        add(out, devimg_extraction_at(extraction, first + i)->finding);
    qsort(out->items, out->count, sizeof *out->items, by_record);
    return true;
}

void dvi_findings_free(struct dvi_findings *f)
{
    free(f->items);
    *f = (struct dvi_findings){ 0 };
}

void dvi_print_severities(FILE *file, const struct dvi_findings *f)
{
    static const char *const nouns[] = { "note", "warning", "error" };
    for (int severity = DEVIMG_ERROR; severity >= 0; severity--) {
        if (f->severities[severity] == 0)
            continue;
        fputs(", ", file);
        dvi_print_count(file, f->severities[severity], nouns[severity]);
    }
}

/* Where a message names its target together with the IP version, "acm-g10 (12.55.8)": the text from
 * there on, and `*rest` behind it. NULL: it does not. */
static const char *named_target(const struct devimg_finding *f, const char **rest)
{
    const size_t size = f->target != NULL ? strlen(f->target) : 0;
    const char *at = size > 0 ? strstr(f->message, f->target) : NULL;
    if (at == NULL || strncmp(at + size, " (", 2) != 0)
        return NULL;
    *rest = strchr(at + size, ')');
    return *rest != NULL ? at : NULL;
}

/* Messages that differ only in the target that they name are 0 apart. */
static int compare_messages(const struct devimg_finding *a, const struct devimg_finding *b)
{
    const char *a_rest = NULL, *b_rest = NULL;
    const char *a_at = named_target(a, &a_rest), *b_at = named_target(b, &b_rest);
    if (a_at == NULL || b_at == NULL)
        return a_at == b_at ? strcmp(a->message, b->message) : a_at == NULL ? -1 : 1;
    const size_t a_size = (size_t)(a_at - a->message), b_size = (size_t)(b_at - b->message);
    int order = dvi_compare_numbers(a_size, b_size);
    if (order == 0)
        order = memcmp(a->message, b->message, a_size);
    return order != 0 ? order : strcmp(a_rest, b_rest);
}

/* Findings that say the same of different places or targets are 0 apart. */
static int compare_meaning(const struct devimg_finding *a, const struct devimg_finding *b)
{
    int order = dvi_compare_numbers(b->severity, a->severity);
    if (order == 0)
        order = dvi_compare_text(a->rule, b->rule);
    if (order == 0)
        order = dvi_compare_text(a->code, b->code);
    if (order == 0)
        order = dvi_compare_text(a->hint, b->hint);
    if (order == 0)
        order = compare_messages(a, b);
    return order != 0 ? order : dvi_compare_text(a->kernel, b->kernel);
}

static int by_meaning(const void *left, const void *right)
{
    const struct dvi_finding_ref *a = left, *b = right;
    const int order = compare_meaning(a->finding, b->finding);
    return order != 0 ? order : dvi_compare_numbers(a->at, b->at);
}

/* Findings that are printed as one. */
struct fold {
    struct dvi_finding_ref *items; /* in the order they came */
    size_t count;
};

static int by_place(const void *left, const void *right)
{
    const struct fold *a = left, *b = right;
    const int order = dvi_compare_numbers(b->items->finding->severity, a->items->finding->severity);
    return order != 0 ? order : dvi_compare_numbers(a->items->at, b->items->at);
}

static size_t fold(struct dvi_finding_ref *items, size_t count, bool every, struct fold *out)
{
    size_t folds = 0;
    qsort(items, count, sizeof *items, by_meaning);
    for (size_t i = 0; i < count; i++) {
        if (!every && folds > 0 &&
            compare_meaning(out[folds - 1].items->finding, items[i].finding) == 0)
            out[folds - 1].count++;
        else
            out[folds++] = (struct fold){ &items[i], 1 };
    }
    qsort(out, folds, sizeof *out, by_place);
    return folds;
}

static bool is_of_name(char c)
{
    return c == '-' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

/* Whether the message names the target of the finding, and not in a list of them. */
static bool names_target(const struct devimg_finding *f)
{
    const size_t size = strlen(f->target);
    const char *at = size > 0 ? strstr(f->message, f->target) : NULL;
    for (; at != NULL; at = strstr(at + 1, f->target)) {
        const size_t before = (size_t)(at - f->message);
        const bool starts = before == 0 || !is_of_name(at[-1]);
        const bool follows = before > 1 && at[-2] == ',';
        if (starts && !follows && !is_of_name(at[size]) && at[size] != ',')
            return true;
    }
    return false;
}

/* "b.o, unit.cpp, kernel f(int), image 3: "; nothing where the finding has no place. A finding by
 * itself (`alone`) also says its target, where the message does not. */
static void print_place(const struct dvi_output *out, const struct devimg_file *file,
                        const struct devimg_finding *f, bool alone)
{
    char name[DVI_NAME_ROOM];
    const struct devimg_record *record = file != NULL ? devimg_record_at(file, f->record) : NULL;
    const char *comma = "";
    if (record != NULL && record->member_count > 0) {
        dvi_escape(out->file, record->members[record->member_count - 1]);
        comma = ", ";
    }
    if (f->unit != NULL) {
        fputs(comma, out->file);
        dvi_escape(out->file, f->unit);
        comma = ", ";
    } else if (record != NULL && f->module != DEVIMG_NONE) {
        fprintf(out->file, "%smodule %" PRIu32, comma,
                dvi_within(f->module, record->first_module, record->module_count));
        comma = ", ";
    }
    if (f->kernel != NULL) {
        const char *plain = dvi_demangle(f->kernel, name);
        fprintf(out->file, "%skernel ", comma);
        dvi_escape(out->file, plain != NULL ? plain : f->kernel);
        comma = ", ";
    }
    if (record != NULL && f->image != DEVIMG_NONE) {
        fprintf(out->file, "%simage %" PRIu32, comma,
                dvi_within(f->image, record->first_image, record->image_count));
        comma = ", ";
    }
    if (f->offset != DEVIMG_UNKNOWN) {
        fprintf(out->file, "%soffset 0x%" PRIx64, comma, f->offset);
        comma = ", ";
    }
    if (alone && f->target != NULL && !names_target(f)) {
        fprintf(out->file, "%sfor ", comma);
        dvi_escape(out->file, f->target);
        comma = ", ";
    }
    if (comma[0] != '\0')
        fputs(": ", out->file);
}

static bool same_hint(const struct devimg_finding *a, const struct devimg_finding *b)
{
    return a->severity == b->severity && dvi_compare_text(a->rule, b->rule) == 0 &&
           dvi_compare_text(a->code, b->code) == 0 && dvi_compare_text(a->hint, b->hint) == 0;
}

static int by_target(const void *left, const void *right)
{
    const struct dvi_finding_ref *a = left, *b = right;
    const int order = dvi_compare_text(a->finding->target, b->finding->target);
    return order != 0 ? order : dvi_compare_numbers(a->at, b->at);
}

static size_t count_modules(const struct fold *fold)
{
    size_t count = 1;
    for (size_t i = 1; i < fold->count; i++)
        count += fold->items[i].record != fold->items[i - 1].record ||
                 fold->items[i].finding->module != fold->items[i - 1].finding->module;
    return count;
}

static size_t count_targets(const struct fold *fold) /* sorted by target */
{
    size_t count = 0;
    for (size_t i = 0; i < fold->count; i++) {
        const char *target = fold->items[i].finding->target;
        count += target != NULL &&
                 (i == 0 || dvi_compare_text(target, fold->items[i - 1].finding->target) != 0);
    }
    return count;
}

/* "(12.55.8" of a message that names its target with its IP version; size 0: it does not. */
static size_t named_ip(const struct devimg_finding *f, const char **ip)
{
    const char *rest = NULL, *at = named_target(f, &rest);
    *ip = at != NULL ? at + strlen(f->target) + 1 : "";
    return at != NULL ? (size_t)(rest - *ip) : 0;
}

/* The IP versions of the targets of a fold, which is sorted by target; 0: some have none. */
static size_t count_ips(const struct fold *fold)
{
    enum { MOST = 128 }; /* names of targets are few */
    const char *ips[MOST];
    size_t sizes[MOST], count = 0;
    for (size_t i = 0; i < fold->count && count < MOST; i++) {
        const struct devimg_finding *f = fold->items[i].finding;
        if (i > 0 && dvi_compare_text(f->target, fold->items[i - 1].finding->target) == 0)
            continue;
        const char *ip = NULL;
        const size_t size = named_ip(f, &ip);
        size_t k = 0;
        while (k < count && (sizes[k] != size || memcmp(ips[k], ip, size) != 0))
            k++;
        if (size < 2 || ip[1] < '0' || ip[1] > '9') /* "(no IP version" */
            return 0;
        ips[k] = ip;
        sizes[k] = size;
        count += k == count;
    }
    return count < MOST ? count : 0;
}

/* A message that names one of several targets names their number instead. */
static void print_message(FILE *file, const struct devimg_finding *f, size_t targets, size_t ips)
{
    const char *rest = NULL;
    const char *at = targets > 1 ? named_target(f, &rest) : NULL;
    char *before = at != NULL ? strndup(f->message, (size_t)(at - f->message)) : NULL;
    if (before == NULL) {
        dvi_escape(file, f->message);
        return;
    }
    dvi_escape(file, before);
    fprintf(file, "%zu targets", targets);
    if (ips > 0 && ips < targets)
        fprintf(file, " (%zu IP version%s)", ips, ips == 1 ? "" : "s");
    dvi_escape(file, rest + 1);
    free(before);
}

/* "28 findings: for acm-g10 acm-g12 (2), in 14 modules (-v lists them)"; sorted by target. */
static void print_more(FILE *file, const struct fold *fold, size_t targets, size_t modules)
{
    enum { MOST_TARGETS = 24 };
    size_t printed = 0;
    fprintf(file, "    %zu findings", fold->count);
    for (size_t i = 0; i < fold->count && printed < MOST_TARGETS; i++) {
        const char *target = fold->items[i].finding->target;
        if (target == NULL ||
            (i > 0 && dvi_compare_text(target, fold->items[i - 1].finding->target) == 0))
            continue;
        fputs(printed++ == 0 ? ": for " : " ", file);
        dvi_escape(file, target);
    }
    if (targets > 1)
        fprintf(file, "%s (%zu)", targets > MOST_TARGETS ? " ..." : "", targets);
    if (modules > 1)
        fprintf(file, "%s in %zu modules", targets > 0 ? "," : ":", modules);
    fputs(" (-v lists them)\n", file);
}

static void print_fold(const struct dvi_output *out, const struct devimg_file *file,
                       const struct fold *fold)
{
    static const enum dvi_style styles[] = { DVI_BOLD, DVI_YELLOW, DVI_RED };
    const struct devimg_finding *f = fold->items->finding;
    fputs("  ", out->file);
    dvi_style_on(out, styles[f->severity]);
    fputs(devimg_severity_name(f->severity), out->file);
    dvi_style_off(out);
    putc(' ', out->file);
    dvi_escape(out->file, f->rule);
    if (f->code != NULL) {
        putc('[', out->file);
        dvi_escape(out->file, f->code);
        putc(']', out->file);
    }
    putc(' ', out->file);
    print_place(out, file, f, fold->count == 1);
    const size_t modules = count_modules(fold);
    qsort(fold->items, fold->count, sizeof *fold->items, by_target);
    const size_t targets = count_targets(fold);
    print_message(out->file, f, targets, count_ips(fold));
    putc('\n', out->file);
    if (fold->count > 1)
        print_more(out->file, fold, targets, modules);
}

bool dvi_findings_print(const struct dvi_output *out, const struct devimg_file *file,
                        const struct dvi_findings *findings)
{
    enum { MOST_FOLDS = 50 }; /* a log is read by people; errors come first */
    const size_t count = findings->count;
    struct fold *folds = calloc(count > 0 ? count : 1, sizeof *folds);
    struct dvi_finding_ref *items = calloc(count > 0 ? count : 1, sizeof *items);
    if (folds != NULL && items != NULL) {
        for (size_t i = 0; i < count; i++)
            items[i] = findings->items[i];
        const size_t fold_count = fold(items, count, out->verbose > 0, folds);
        const size_t shown = out->verbose > 0 || fold_count <= MOST_FOLDS ? fold_count : MOST_FOLDS;
        for (size_t i = 0; i < shown; i++) {
            const struct devimg_finding *f = folds[i].items->finding;
            print_fold(out, file, &folds[i]);
            if (f->hint != NULL && (i + 1 == shown || !same_hint(f, folds[i + 1].items->finding))) {
                fputs("    hint: ", out->file);
                dvi_escape(out->file, f->hint);
                putc('\n', out->file);
            }
        }
        if (shown < fold_count)
            fprintf(out->file, "  and %zu more like these (-v lists them)\n", fold_count - shown);
    }
    const bool ok = folds != NULL && items != NULL;
    free(folds);
    free(items);
    return ok;
}

void dvi_finding_json_open(struct dvi_json *j, const struct devimg_record *record,
                           const struct devimg_finding *f)
{
    uint32_t module = DEVIMG_NONE, image = DEVIMG_NONE;
    if (record != NULL) {
        module = dvi_within(f->module, record->first_module, record->module_count);
        image = dvi_within(f->image, record->first_image, record->image_count);
    }
    dvi_json_object(j, NULL, DVI_JSON_ONE_LINE);
    dvi_json_text(j, "rule", f->rule);
    dvi_json_text(j, "severity", devimg_severity_name(f->severity));
    dvi_json_text(j, "code", f->code);
    dvi_json_index(j, "module", module);
    dvi_json_text(j, "unit", f->unit);
    dvi_json_index(j, "image", image);
    dvi_json_text(j, "kernel", f->kernel);
    dvi_json_text(j, "target", f->target);
    dvi_json_number(j, "offset", f->offset);
    dvi_json_text(j, "message", f->message);
    dvi_json_text(j, "hint", f->hint);
}

static void finding_json(struct dvi_json *j, const struct devimg_record *record,
                         const struct devimg_finding *f)
{
    dvi_finding_json_open(j, record, f);
    dvi_json_end(j);
}

void dvi_findings_json_open(struct dvi_output *out, const struct devimg_file *file, uint32_t index,
                            const struct dvi_findings *findings, size_t *at)
{
    const struct devimg_record *record = file != NULL ? devimg_record_at(file, index) : NULL;
    dvi_json_array(&out->j, "findings", DVI_JSON_LINES);
    for (; *at < findings->count && findings->items[*at].record == index; (*at)++)
        finding_json(&out->j, record, findings->items[*at].finding);
}

void dvi_findings_json(struct dvi_output *out, const struct devimg_file *file, uint32_t index,
                       const struct dvi_findings *findings, size_t *at)
{
    dvi_findings_json_open(out, file, index, findings, at);
    dvi_json_end(&out->j);
}
