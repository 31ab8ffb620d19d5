/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compression: images stored raw. clang-offload-wrapper compresses an image only when it has at
 * least 512 bytes (--offload-compression-threshold, intel/llvm), so smaller ones are exempt.
 * Members of an archive are compressed with it and not by themselves. Bitcode of an object is no
 * image yet: the link makes the image and compresses it.
 */
#include <inttypes.h>

#include "check/check.h"

enum { THRESHOLD = 512 };

static enum devimg_status say(struct dvi_check *check, uint32_t index, uint64_t size,
                              struct devimg_error *err)
{
    const struct devimg_image *image = check->in->images[index];
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "stored-raw", image->record);
    f.module = image->module;
    f.image = index;
    f.unit = image->unit;
    f.target = image->target;
    f.offset = image->offset;
    f.message = dvi_message(check, "%s image of %" PRIu64 " bytes is stored raw",
                            devimg_format_name(image->format), size);
    f.hint = "add --offload-compress --offload-compression-level=22 to the line that makes it: "
             "compile for native images, link for the fallback";
    return dvi_say(check, &f, err);
}

static bool is_counted(const struct dvi_check *check, const struct devimg_image *image)
{
    const bool unfinished = image->format == DEVIMG_FORMAT_BITCODE &&
                            check->in->records[image->record]->linked == DEVIMG_NO;
    return image->parent == DEVIMG_NONE && image->compression == DEVIMG_COMPRESSION_NONE &&
           !unfinished;
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->compression == DVI_CHOICE_STRICT;
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    for (uint32_t i = 0; i < check->in->image_count; i++) {
        const struct devimg_image *image = check->in->images[i];
        const uint64_t size = image->size != DEVIMG_UNKNOWN ? image->size : image->stored_size;
        if (is_counted(check, image) && size >= THRESHOLD && size != DEVIMG_UNKNOWN)
            DVI_TRY(say(check, i, size, err));
    }
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_compression = { .wanted = wanted, .run = run };
