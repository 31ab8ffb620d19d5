/* SPDX-License-Identifier: Apache-2.0 */
/* damaged: what could not be read. Nothing can be proved of it, so it is an error. */
#include "check/check.h"

/* A record that is damaged without a finding that says where. */
static enum devimg_status say_unexplained(struct dvi_check *check, uint32_t index,
                                          struct devimg_error *err)
{
    const struct devimg_record *record = check->in->records[index];
    const bool unreadable = record->status == DEVIMG_RECORD_UNREADABLE;
    if (record->finding_count > 0 || (!unreadable && record->status != DEVIMG_RECORD_DAMAGED))
        return DEVIMG_OK;
    struct devimg_finding f =
        dvi_finding_of(DEVIMG_ERROR, unreadable ? "unreadable" : "damaged", index);
    f.message = unreadable ? "nothing of it could be read" : "a part of it could not be read";
    return dvi_say(check, &f, err);
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    const struct dvi_check_input *in = check->in;
    for (uint32_t i = 0; i < in->finding_count; i++) {
        struct devimg_finding f = *in->findings[i];
        if (f.severity == DEVIMG_WARNING)
            f.severity = DEVIMG_ERROR;
        DVI_TRY(dvi_say(check, &f, err));
    }
    for (uint32_t i = 0; i < in->record_count; i++)
        DVI_TRY(say_unexplained(check, i, err));
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_damaged = { .run = run };
