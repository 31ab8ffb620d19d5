/* SPDX-License-Identifier: Apache-2.0 */
/* baseline: accepted findings that are gone, or a file that is not there. Accepting them is done where findings are kept. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "check/check.h"

enum { KERNEL = 4, TARGET = 5, FIELDS };

/* The fields of a key; "-" is NULL. They are cut to a readable size. */
static void split(struct dvi_check *check, const char *key, const char *out[FIELDS])
{
    struct dvi_view rest = dvi_view_of(key, strlen(key), "baseline"), field = { 0 };
    for (size_t i = 0; i < FIELDS && dvi_next_field(&rest, '\t', &field); i++)
        out[i] = dvi_equals(field, "-")
                     ? NULL
                     : dvi_message(check, "%.*s", (int)(field.size < 256 ? field.size : 256),
                                   (const char *)field.data);
}

static const char *or_dash(const char *text)
{
    return text != NULL ? text : "-";
}

static enum devimg_status say_stale(struct dvi_check *check, const struct dvi_baseline_line *line,
                                    uint32_t left, struct devimg_error *err)
{
    const char *fields[FIELDS] = { NULL };
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "baseline-stale", DEVIMG_NONE);
    split(check, line->key, fields);
    f.kernel = fields[KERNEL];
    f.target = fields[TARGET];
    f.message = dvi_message(check,
                            "line %" PRIu32 " of the baseline accepts a finding that is gone: "
                            "%s, %s[%s], module %s%s",
                            line->line, or_dash(fields[0]), or_dash(fields[1]), or_dash(fields[2]),
                            or_dash(fields[3]), left > 1 ? " (more than once)" : "");
    f.hint = "write the baseline again";
    return dvi_say(check, &f, err);
}

/* A name that is wrong must not look like a baseline without lines. */
static enum devimg_status say_missing(struct dvi_check *check, const char *path,
                                      struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "baseline-missing", DEVIMG_NONE);
    f.message = dvi_message(check, "%s is not there: no finding is accepted", path);
    f.hint = "check the name; --write-baseline writes the first one";
    return dvi_say(check, &f, err);
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->baseline.path != NULL;
}

static enum devimg_status finish(struct dvi_check *check, struct devimg_error *err)
{
    const struct dvi_baseline *baseline = &check->policy->baseline;
    const struct dvi_memory *memory = dvi_memory_of(check);
    if (baseline->is_missing)
        return say_missing(check, baseline->path, err);
    for (size_t i = 0; memory->file_count > 0 && i < baseline->lines.count; i++) {
        const struct dvi_baseline_line *line = &baseline->lines.items[i];
        if (memory->accepted[i] < line->count)
            DVI_TRY(say_stale(check, line, line->count - memory->accepted[i], err));
    }
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_baseline = { .wanted = wanted, .finish = finish };
