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
        image->format == DEVIMG_FORMAT_CUBIN || image->format == DEVIMG_FORMAT_PTX
            ? "give nvcc -Xfatbin=-compress-all (and -compress-mode=size from CUDA 12.8 on); after "
              "-rdc=true the device link as well"
        : image->offload == DEVIMG_OFFLOAD_HIP
            ? "add --offload-compress to the line that makes it: the compile, with -fgpu-rdc "
              "the link"
            : "add --offload-compress --offload-compression-level=22 to the line that makes it: "
              "compile for native images, link for the fallback";
    return dvi_say(check, &f, err);
}

/* Once a record: what CUDA's older codec takes. */
static enum devimg_status say_lz4(struct dvi_check *check, uint32_t index, struct devimg_error *err)
{
    enum {
        MOST_RATIO = 255
    }; /* no block inflates to more: a size unknown or made up is left out */
    const struct devimg_record *record = check->in->records[index];
    uint32_t first = DEVIMG_NONE, count = 0;
    uint64_t stored = 0, size = 0;
    for (uint32_t i = 0; i < record->image_count; i++) {
        const struct devimg_image *image = check->in->images[record->first_image + i];
        if (image->compression != DEVIMG_COMPRESSION_LZ4 || image->parent != DEVIMG_NONE ||
            image->stored_size == DEVIMG_UNKNOWN || image->size / MOST_RATIO > image->stored_size)
            continue;
        first = count++ == 0 ? record->first_image + i : first;
        stored += image->stored_size;
        size += image->size;
    }
    if (count == 0)
        return DEVIMG_OK;
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "lz4", index);
    f.image = first;
    f.offset = check->in->images[first]->offset;
    f.message = dvi_message(check,
                            "%" PRIu32 " image%s compressed with LZ4, %" PRIu64 " bytes to %" PRIu64
                            ": zstd takes less",
                            count, count == 1 ? " is" : "s are", size, stored);
    f.hint =
        "from CUDA 12.8 on, give nvcc -compress-mode=size; the driver must be of CUDA 12.4 or later";
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
    for (uint32_t i = 0; i < check->in->record_count; i++)
        DVI_TRY(say_lz4(check, i, err));
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_compression = { .wanted = wanted, .run = run };
