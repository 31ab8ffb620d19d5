/* SPDX-License-Identifier: Apache-2.0 */
/* Which device IP versions count as a target's: by the tables, or as an ocloc answers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "check/ocloc.h"
#include "check/report.h"
#include "image/image.h"

static void add_ip(struct dvi_check_target *target, uint64_t ip)
{
    for (size_t i = 0; i < target->ip_count; i++)
        if (target->ips[i] == ip)
            return;
    assert(target->ip_count < DVI_MOST_IPS);
    target->ips[target->ip_count++] = ip;
}

/* The tables' IP versions of a target: what it has, and what it once had. */
static void table_ips(struct dvi_check_target *target)
{
    uint64_t ip = target->row->ip_version;
    for (size_t i = 0; ip != DEVIMG_UNKNOWN; i++) {
        add_ip(target, ip);
        ip = dvi_target_former_ip(target->row, i);
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

/* What it said where it gave no answer, so that it is not asked again: it might hang each time. */
struct silence {
    bool met;
    char text[sizeof((struct devimg_error){ 0 }).text];
};

/* The IP versions as the ocloc of the policy has them; the tables' where it gives no answer. */
static enum devimg_status ocloc_ips(struct devimg_report *report, struct dvi_check_target *t,
                                    struct silence *silence, struct devimg_error *err)
{
    struct dvi_ocloc_answer answer = { 0 };
    struct devimg_error why = { 0 };
    const char *name = t->row->name, *program = report->policy->ocloc;
    const bool was_met = silence->met;
    if (!was_met) {
        const enum devimg_status st =
            dvi_ocloc_ids(program, NULL, name, DVI_OCLOC_SECONDS, &answer, &why);
        if (st != DEVIMG_OK && !answer.no_answer) {
            *err = why;
            return st;
        }
        silence->met = answer.no_answer;
        memcpy(silence->text, why.text, sizeof silence->text);
    }
    if (answer.ip_count > 0) {
        DVI_TRY(differs(report, t, &answer, err));
        for (size_t i = 0; i < answer.ip_count; i++)
            add_ip(t, answer.ips[i]);
        return DEVIMG_OK;
    }
    table_ips(t);
    if (!silence->met)
        return note_ocloc(report, DEVIMG_ERROR, "ocloc-unknown", name,
                          dvi_arena_format(&report->arena, "%s: this ocloc does not know it", name),
                          "use a newer ocloc, or take the name off the target list", err);
    return note_ocloc(
        report, DEVIMG_ERROR, "ocloc-silent", name,
        was_met ? dvi_arena_format(&report->arena,
                                   "%s: this ocloc was not asked, after it gave no "
                                   "answer for another name",
                                   name)
                : dvi_arena_format(&report->arena, "%s: this ocloc gives no answer: %s", name,
                                   silence->text),
        "the tables are used: mend the ocloc (devimg sycl doctor), or check without it", err);
}

static int compare_ips(const void *a, const void *b)
{
    const struct dvi_ip_target *x = a, *y = b;
    if (x->ip != y->ip)
        return x->ip < y->ip ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

enum devimg_status dvi_resolve_targets(struct devimg_report *report, struct devimg_error *err)
{
    const struct devimg_policy *policy = report->policy;
    struct silence silence = { 0 };
    for (size_t i = 0; i < policy->targets.known.count; i++) {
        struct dvi_check_target *t = DVI_ADD(&report->targets);
        if (t == NULL)
            return dvi_fail_memory(err, "report");
        t->row = policy->targets.known.items[i];
        if (policy->ocloc != NULL)
            DVI_TRY(ocloc_ips(report, t, &silence, err));
        else
            table_ips(t);
        for (size_t k = 0; k < t->ip_count; k++) {
            struct dvi_ip_target *pair = DVI_ADD(&report->ips);
            if (pair == NULL)
                return dvi_fail_memory(err, "report");
            *pair = (struct dvi_ip_target){ t->ips[k], (uint32_t)i };
        }
    }
    if (report->ips.count > 0)
        qsort(report->ips.items, report->ips.count, sizeof *report->ips.items, compare_ips);
    report->memory.ocloc = report->ocloc.items;
    report->memory.ocloc_count = report->ocloc.count;
    return DEVIMG_OK;
}
