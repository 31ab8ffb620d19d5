/* SPDX-License-Identifier: Apache-2.0 */
/* baseline: accepted findings that are gone. Accepting them is done where findings are kept. */
#include <inttypes.h>
#include <string.h>

#include "check/check.h"

/* Field `index` of a key, copied; "-" is NULL. */
static const char *field_of(struct dvi_check *check, const char *key, size_t index)
{
    struct dvi_view rest = dvi_view_of(key, strlen(key), "baseline"), field = { 0 };
    for (size_t i = 0; i <= index; i++)
        if (!dvi_next_field(&rest, '\t', &field))
            return NULL;
    return dvi_equals(field, "-")
               ? NULL
               : dvi_message(check, "%.*s", (int)(field.size < 512 ? field.size : 512),
                             (const char *)field.data);
}

static enum devimg_status say_stale(struct dvi_check *check, const struct dvi_baseline_line *line,
                                    uint32_t left, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "baseline-stale", DEVIMG_NONE);
    f.kernel = field_of(check, line->key, 4);
    f.target = field_of(check, line->key, 5);
    f.message = dvi_message(check,
                            "line %" PRIu32 " of the baseline accepts a finding that is gone: "
                            "%.400s%s",
                            line->line, line->key, left > 1 ? " (more than once)" : "");
    f.hint = "write the baseline again";
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
    for (size_t i = 0; memory->file_count > 0 && i < baseline->lines.count; i++) {
        const struct dvi_baseline_line *line = &baseline->lines.items[i];
        if (memory->accepted[i] < line->count)
            DVI_TRY(say_stale(check, line, line->count - memory->accepted[i], err));
    }
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_baseline = { .wanted = wanted, .finish = finish };
