/* SPDX-License-Identifier: Apache-2.0 */
/* damaged: what could not be read. Nothing can be proved of it, so it is an error: reading has made
 * a finding of each such place, and they are handed on. */
#include <string.h>

#include "check/check.h"

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    for (uint32_t i = 0; i < check->in->finding_count; i++)
        if (strcmp(check->in->findings[i]->rule, "damaged") == 0)
            DVI_TRY(dvi_say(check, check->in->findings[i], err));
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_damaged = { .run = run };
