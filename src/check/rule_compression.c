/* SPDX-License-Identifier: Apache-2.0 */
/* compression: images that could have been compressed and are stored raw. */
#include <inttypes.h>

#include "check/check.h"
#include "check/stored_raw.h"

static enum devimg_status say(struct dvi_check *check, uint32_t index, struct devimg_error *err)
{
    const struct devimg_image *image = check->in->images[index];
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "stored-raw", image->record);
    f.module = image->module;
    f.image = index;
    f.unit = image->unit;
    f.target = image->target;
    f.offset = image->offset;
    f.message = dvi_message(check, "%s image of %" PRIu64 " bytes is stored raw",
                            devimg_format_name(image->format), dvi_size_of_image(image));
    f.hint =
        image->offload == DEVIMG_OFFLOAD_HIP
            ? "add --offload-compress to the line that makes it: the compile, with -fgpu-rdc "
              "the link"
            : "add --offload-compress --offload-compression-level=22 to the line that makes it: "
              "compile for native images, link for the fallback";
    return dvi_say(check, &f, err);
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->compression == DVI_CHOICE_STRICT;
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    for (uint32_t i = 0; i < check->in->image_count; i++) {
        const struct devimg_image *image = check->in->images[i];
        if (dvi_is_stored_raw(check->in->records[image->record], image))
            DVI_TRY(say(check, i, err));
    }
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_compression = { .wanted = wanted, .run = run };
