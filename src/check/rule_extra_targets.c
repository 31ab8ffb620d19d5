/* SPDX-License-Identifier: Apache-2.0 */
/* extra-targets: native images for targets that nobody listed, in archives and bare alike. */
#include <string.h>

#include "check/check.h"
#include "image/image.h"

static void found(void *context, size_t target)
{
    bool *any = context;
    (void)target;
    *any = true;
}

static enum devimg_status say(struct dvi_check *check, uint32_t index, struct devimg_error *err)
{
    const struct devimg_image *image = check->in->images[index];
    char ip[24] = "as its label says";
    if (image->family_only)
        memcpy(ip, "its product family", sizeof "its product family");
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "extra-target", image->record);
    if (image->ip_version != DEVIMG_UNKNOWN)
        dvi_ip_text(image->ip_version, ip);
    f.module = image->module;
    f.image = index;
    f.unit = image->unit;
    f.target = image->target;
    f.offset = image->offset;
    const char *target = image->target != NULL ? image->target : "an unknown target";
    const char *option = image->format == DEVIMG_FORMAT_AMDGPU  ? "take its --offload-arch away"
                         : image->format == DEVIMG_FORMAT_CUBIN ? "take its -gencode away"
                                                                : NULL;
    f.message =
        option != NULL
            ? dvi_message(check, "native image for %s: not in the target list", target)
            : dvi_message(check, "native image for %s (%s): not in the target list", target, ip);
    f.hint = dvi_message(check, "list the target, %s, or set extra-targets: allow",
                         option != NULL ? option : "take it off the -device list");
    return dvi_say(check, &f, err);
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->targets.known.count > 0 && policy->extra_targets != DVI_CHOICE_ANY;
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    for (uint32_t i = 0; i < check->in->image_count; i++) {
        const struct devimg_image *image = check->in->images[i];
        bool listed = false;
        const bool stated = image->ip_version != DEVIMG_UNKNOWN || image->target != NULL;
        if (!dvi_is_native(image) || !stated)
            continue;
        dvi_targets_served(check, image, found, &listed);
        if (!listed)
            DVI_TRY(say(check, i, err));
    }
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_extra_targets = { .wanted = wanted, .run = run };
