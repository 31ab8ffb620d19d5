/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a ratchet file (ratchet.c) from what kernels use now: the largest number of each kernel and
 * target. What no image states is "-", never 0.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write.h"
#include "check/report.h"

static const char mark[] = "# devimg check: scratch memory that is still allowed";

enum devimg_status dvi_ratchet_keep(struct dvi_check *check, const char *kernel, const char *target,
                                    const uint64_t *sizes, const bool *is_stated,
                                    struct devimg_error *err)
{
    const char *name = target != NULL ? dvi_ratchet_target(target) : NULL;
    const char *copy = dvi_arena_copy(&check->report->arena, kernel);
    struct dvi_ratchet_line *line = copy != NULL ? DVI_ADD(&check->report->scratch) : NULL;
    if (line == NULL)
        return dvi_fail_memory(err, "scratch");
    *line = (struct dvi_ratchet_line){ .kernel = copy, .target = name != NULL ? name : "*" };
    for (size_t n = 0; n < DVI_RATCHET_COUNT; n++) {
        line->most[n] = is_stated[n] ? sizes[n] : 0;
        line->is_unknown[n] = !is_stated[n];
    }
    return DEVIMG_OK;
}

void dvi_ratchet_keep_silent(struct dvi_check *check)
{
    check->report->silent_images++;
}

/* The name of a kernel comes from a file: it may hold what ends a field or a line. */
static bool fits_a_field(const char *name)
{
    if (*name == '\0' || *name == '#')
        return false;
    for (; *name != '\0'; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            return false;
    return true;
}

/* Lines of one kernel and target, which stand together, become the first of them. */
static size_t merge(struct dvi_ratchet_line *lines, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct dvi_ratchet_line *last = kept > 0 ? &lines[kept - 1] : NULL;
        if (last == NULL || dvi_ratchet_compare(last, &lines[i]) != 0) {
            lines[kept++] = lines[i];
            continue;
        }
        for (size_t n = 0; n < DVI_RATCHET_COUNT; n++) {
            last->is_unknown[n] = last->is_unknown[n] && lines[i].is_unknown[n];
            if (lines[i].most[n] > last->most[n])
                last->most[n] = lines[i].most[n];
        }
    }
    return kept;
}

static enum devimg_status print_lines(FILE *file, const void *context, struct devimg_error *err)
{
    const struct devimg_report *report = context;
    const size_t all = report->scratch.count;
    struct dvi_ratchet_line *lines = calloc(all + 1, sizeof *lines);
    if (lines == NULL)
        return dvi_fail_memory(err, "ratchet");
    for (size_t i = 0; i < all; i++)
        lines[i] = report->scratch.items[i];
    qsort(lines, all, sizeof *lines, dvi_ratchet_compare);
    const size_t count = merge(lines, all);
    fprintf(file, "%s\n# kernel, target, private, spill, buffer: bytes; \"-\": not stated\n", mark);
    if (report->silent_images > 0)
        fprintf(file, "# unknown, and not listed: kernels of %" PRIu64 " image%s\n",
                report->silent_images, report->silent_images == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s\t%s", lines[i].kernel, lines[i].target);
        for (size_t n = 0; n < DVI_RATCHET_COUNT; n++)
            if (lines[i].is_unknown[n])
                fputs("\t-", file);
            else
                fprintf(file, "\t%" PRIu64, lines[i].most[n]);
        putc('\n', file);
    }
    free(lines);
    return DEVIMG_OK;
}

enum devimg_status devimg_report_write_ratchet(const struct devimg_report *report, const char *path,
                                               int force, struct devimg_error *err)
{
    size_t rule = 0;
    while (strcmp(dvi_rules[rule].name, "scratch") != 0)
        rule++;
    if (report->policy->scratch != DVI_CHOICE_STRICT ||
        report->policy->rules[rule] == DVI_SETTING_OFF)
        return dvi_fail_plain(err, DEVIMG_UNSUPPORTED, path,
                              "the policy does not look at scratch memory: nothing is known of it");
    for (size_t i = 0; i < report->scratch.count; i++)
        if (!fits_a_field(report->scratch.items[i].kernel))
            return dvi_fail_plain(err, DEVIMG_UNSUPPORTED, path,
                                  "the name of a kernel cannot stand in a line: %.80s",
                                  report->scratch.items[i].kernel);
    if (force)
        return dvi_file_replace(path, mark, print_lines, report, err);
    bool taken = false;
    const enum devimg_status st = dvi_file_create(path, print_lines, report, &taken, err);
    return taken
               ? dvi_fail_plain(err, DEVIMG_IO, path, "is there already: a ratchet may only shrink")
               : st;
}
