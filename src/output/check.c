/* SPDX-License-Identifier: Apache-2.0 */
/* `devimg check`: pass or fail in the first line of a file, then what to mend. */
#include <inttypes.h>
#include <string.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/record.h"
#include "output/summary.h"
#include "output/text.h"

/* The portable targets: ", spir64 fallback". */
static void print_portable(FILE *file, const struct devimg_file *of, const struct dvi_summary *s)
{
    const char *last = NULL;
    for (size_t i = 0; i < s->groups.count; i++) {
        const struct dvi_group *group = &s->groups.items[i];
        const char *target = group->first->target;
        const bool counts = group->class == DVI_CLASS_PORTABLE ||
                            (s->link_modules > 0 && dvi_is_link_fallback(of, group->first));
        if (!counts || target == NULL || (last != NULL && strcmp(last, target) == 0))
            continue;
        fputs(", ", file);
        dvi_escape(file, target);
        fputs(" fallback", file);
        last = target;
    }
    if (last != NULL && s->jit_modules < s->module_count)
        fprintf(file, " in %" PRIu32 " of them", s->jit_modules);
}

/* ", 13 targets native in 27 modules, spir64 fallback" */
static void print_coverage(FILE *file, const struct devimg_file *of, const struct dvi_summary *s)
{
    if (s->image_count == 0) {
        fputs(", ", file);
        dvi_print_nothing(file, of);
        return;
    }
    fputs(", ", file);
    if (s->everywhere_count > 0 || s->native_count == 0) {
        dvi_print_count(file, s->everywhere_count, "target");
        fputs(" native in ", file);
        dvi_print_count(file, s->module_count, "module");
    }
    if (s->everywhere_count < s->native_count) {
        fputs(s->everywhere_count > 0 ? ", " : "", file);
        dvi_print_count(file, s->native_count - s->everywhere_count, "target");
        fprintf(file, " native in some of %" PRIu32 " modules", s->module_count);
    }
    print_portable(file, of, s);
}

static void print_verdict(struct dvi_output *out, bool failing)
{
    dvi_style_on(out, failing ? DVI_RED : DVI_GREEN);
    fputs(failing ? "FAIL" : "pass", out->file);
    dvi_style_off(out);
}

static void check_text(struct dvi_output *out, const struct devimg_file *file, const char *path,
                       const struct dvi_findings *findings)
{
    struct dvi_summary s = { 0 };
    const bool failing = dvi_output_failing(out, findings);
    if (!dvi_summarize(file, &s)) {
        dvi_output_memory(out);
    } else {
        dvi_output_heading(out, path);
        print_verdict(out, failing);
        if (!failing && out->unasked != NULL)
            fprintf(out->file, ", asked for %s (ask with --targets or --policy)", out->unasked);
        dvi_print_severities(out->file, findings);
        if (!failing)
            print_coverage(out->file, file, &s);
        putc('\n', out->file);
        if (!out->quiet && !dvi_findings_print(out, file, findings))
            dvi_output_memory(out);
    }
    dvi_summary_free(&s);
}

/* The findings of record `index` from `at` on, counted. */
static struct dvi_findings of_record(const struct dvi_findings *all, uint32_t index, size_t at)
{
    struct dvi_findings one = { .items = all->items + at };
    for (; at < all->count && all->items[at].record == index; at++) {
        one.severities[all->items[at].finding->severity]++;
        one.count++;
    }
    return one;
}

static void check_json(struct dvi_output *out, const struct devimg_file *file, const char *path,
                       const struct dvi_findings *findings)
{
    size_t at = 0;
    for (uint32_t r = 0; r < devimg_record_count(file); r++) {
        const struct dvi_findings own = of_record(findings, r, at);
        out->record_count++;
        dvi_json_object(&out->j, NULL, DVI_JSON_LINES);
        dvi_json_record_head(&out->j, path, devimg_record_at(file, r));
        dvi_json_text(&out->j, "verdict", dvi_output_failing(out, &own) ? "fail" : "pass");
        dvi_findings_json(out, file, r, findings, &at);
        dvi_json_end(&out->j);
    }
}

void dvi_output_check(struct dvi_output *out, const struct devimg_file *file, const char *path,
                      const struct devimg_report *report, uint32_t first, uint32_t count)
{
    struct dvi_findings findings = { 0 };
    if (!dvi_findings_of_report(report, first, count, &findings)) {
        dvi_output_memory(out);
        return;
    }
    dvi_output_count(out, &findings);
    if (out->json)
        check_json(out, file, path, &findings);
    else
        check_text(out, file, path, &findings);
    dvi_findings_free(&findings);
}

void dvi_output_policy(struct dvi_output *out, const struct devimg_report *report, uint32_t first)
{
    struct dvi_findings findings = { 0 };
    const uint32_t all = devimg_report_count(report);
    if (!dvi_findings_of_report(report, first, all > first ? all - first : 0, &findings)) {
        dvi_output_memory(out);
        return;
    }
    dvi_output_count(out, &findings);
    if (out->json) {
        size_t at = 0;
        dvi_json_end(&out->j); /* of files */
        dvi_findings_json_open(out, NULL, 0, &findings, &at);
    } else if (findings.count > 0) {
        dvi_output_heading(out, "policy");
        print_verdict(out, dvi_output_failing(out, &findings));
        dvi_print_severities(out->file, &findings);
        putc('\n', out->file);
        if (!out->quiet && !dvi_findings_print(out, NULL, &findings))
            dvi_output_memory(out);
    }
    dvi_findings_free(&findings);
}
