/* SPDX-License-Identifier: Apache-2.0 */
/*
 * max-bytes: how much device code a file carries. What images of one target take in the file cannot
 * be told where they are compressed together with others, so a budget for a target counts inflated
 * bytes: what the code itself amounts to, whatever it is packed in. The budget for "all" counts the
 * bytes that device code takes in the file.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "check/check.h"

/* A sum of which some parts may be unknown. */
struct sum {
    uint64_t bytes;
    uint32_t images, unknown;
};

static void add(struct sum *sum, uint64_t bytes)
{
    sum->images++;
    if (bytes == DEVIMG_UNKNOWN)
        sum->unknown++;
    else
        sum->bytes = bytes < DEVIMG_UNKNOWN - sum->bytes ? sum->bytes + bytes : DEVIMG_UNKNOWN;
}

/* An archive holds its images; one that serves several targets counts for each of them. */
static struct sum of_target(const struct dvi_check_input *in, const struct devimg_target *target)
{
    struct sum sum = { 0 };
    for (uint32_t i = 0; i < in->image_count; i++)
        if (in->images[i]->format != DEVIMG_FORMAT_ARCHIVE &&
            dvi_target_is_of_image(target, in->images[i]))
            add(&sum, in->images[i]->size);
    return sum;
}

/* Images of one bundle stand one after another: it counts once. */
static struct sum of_file(const struct dvi_check_input *in)
{
    struct sum sum = { 0 };
    const struct devimg_image *last = NULL;
    for (uint32_t i = 0; i < in->image_count; i++) {
        const struct devimg_image *image = in->images[i];
        if (image->parent != DEVIMG_NONE)
            continue;
        if (image->bundle_offset == DEVIMG_UNKNOWN)
            add(&sum, image->stored_size);
        else if (last == NULL || last->record != image->record ||
                 last->bundle_offset != image->bundle_offset)
            add(&sum, image->bundle_size);
        last = image;
    }
    return sum;
}

static enum devimg_status say(struct dvi_check *check, const struct dvi_budget *budget,
                              const struct sum *sum, struct devimg_error *err)
{
    const bool over = sum->bytes > budget->most;
    const char *name = budget->target != NULL ? budget->target->name : NULL;
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, over ? "over-budget" : "size-unknown",
                                             check->in->record_count > 0 ? 0 : DEVIMG_NONE);
    const char *of = name != NULL ? dvi_message(check, "the %" PRIu32 " image%s for %s",
                                                sum->images, sum->images == 1 ? "" : "s", name)
                                  : "device code";
    if (of == NULL)
        return dvi_fail_memory(err, "max-bytes");
    f.target = name;
    f.message =
        over ? dvi_message(check,
                           "%s %s %s%" PRIu64 " bytes%s: %" PRIu64 " more than the %" PRIu64
                           " of the budget",
                           of, name != NULL && sum->images != 1 ? "take" : "takes",
                           sum->unknown > 0 ? "at least " : "", sum->bytes,
                           name != NULL ? ", inflated" : " in the file", sum->bytes - budget->most,
                           budget->most)
             : dvi_message(check,
                           "whether %s stay%s within %" PRIu64 " bytes cannot be told: the size of "
                           "%" PRIu32 " is not stated",
                           of, name != NULL && sum->images != 1 ? "" : "s", budget->most,
                           sum->unknown);
    f.hint = over ? "see what takes most (devimg kernels --sort size, devimg list --images), or "
                    "raise the budget"
                  : "see what list says of its images";
    return dvi_say(check, &f, err);
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->budgets.count > 0;
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    for (size_t i = 0; i < check->policy->budgets.count; i++) {
        const struct dvi_budget *budget = &check->policy->budgets.items[i];
        const struct sum sum =
            budget->target != NULL ? of_target(check->in, budget->target) : of_file(check->in);
        if (sum.bytes > budget->most || sum.unknown > 0)
            DVI_TRY(say(check, budget, &sum, err));
    }
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_max_bytes = { .wanted = wanted, .run = run };
