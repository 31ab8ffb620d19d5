/* SPDX-License-Identifier: Apache-2.0 */
/* compression: images that could have been compressed and are stored raw; and what zstd would make of
 * those, and of what is under another codec. */
#include <inttypes.h>
#include <stdio.h>

#include "check/check.h"
#include "check/stored_raw.h"

static uint64_t zstd_size_of(const struct dvi_check *check, uint32_t index)
{
    return check->in->zstd_sizes != NULL ? check->in->zstd_sizes[index] : DEVIMG_UNKNOWN;
}

static enum devimg_status say_raw(struct dvi_check *check, uint32_t index, struct devimg_error *err)
{
    const struct devimg_image *image = check->in->images[index];
    const uint64_t packed = zstd_size_of(check, index);
    char would[64] = "";
    if (packed < dvi_size_of_image(image))
        (void)snprintf(would, sizeof would, "; under zstd (level %d) it takes %" PRIu64,
                       (int)DVI_ZSTD_LEVEL, packed);
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "stored-raw", image->record);
    f.module = image->module;
    f.image = index;
    f.unit = image->unit;
    f.target = image->target;
    f.offset = image->offset;
    f.message = dvi_message(check, "%s image of %" PRIu64 " bytes is stored raw%s",
                            devimg_format_name(image->format), dvi_size_of_image(image), would);
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

/* What the images of a record take under one codec; those that nobody can measure are left out. */
struct packed {
    uint32_t first, count;
    uint64_t size, zstd;
};

static void add(struct packed *packed, const struct dvi_check *check, uint32_t index,
                bool same_bundle)
{
    const struct devimg_image *image = check->in->images[index];
    const uint64_t size =
        image->bundle_offset != DEVIMG_UNKNOWN ? image->bundle_size : image->stored_size;
    const uint64_t zstd = zstd_size_of(check, index);
    if (size == DEVIMG_UNKNOWN || zstd == DEVIMG_UNKNOWN)
        return;
    if (packed->count++ == 0)
        packed->first = index;
    packed->size += same_bundle ? 0 : size; /* a bundle counts once */
    packed->zstd += zstd;
}

static enum devimg_status say_codec(struct dvi_check *check, const struct packed *packed,
                                    struct devimg_error *err)
{
    const struct devimg_image *image = check->in->images[packed->first];
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "other-codec", image->record);
    f.image = packed->first;
    f.offset = image->offset;
    f.message = dvi_message(
        check,
        "%" PRIu32 " image%s under %s take%s %" PRIu64 " bytes, under zstd (level %d) %" PRIu64,
        packed->count, packed->count == 1 ? "" : "s", devimg_compression_name(image->compression),
        packed->count == 1 ? "s" : "", packed->size, (int)DVI_ZSTD_LEVEL, packed->zstd);
    f.hint = image->compression == DEVIMG_COMPRESSION_LZ4
                 ? "from CUDA 12.8 on, give nvcc -compress-mode=size; the driver must be of CUDA "
                   "12.4 or later"
                 : "a clang that is built with zstd uses it (--offload-compress)";
    return dvi_say(check, &f, err);
}

/* Images of one bundle stand one after another. */
static enum devimg_status look_at_codecs(struct dvi_check *check,
                                         const struct devimg_record *record,
                                         struct devimg_error *err)
{
    struct packed codecs[DEVIMG_COMPRESSION_LZ4 + 1] = { 0 };
    uint64_t last = DEVIMG_UNKNOWN;
    for (uint32_t i = 0; i < record->image_count; i++) {
        const uint32_t at = record->first_image + i;
        const struct devimg_image *image = check->in->images[at];
        if (image->parent != DEVIMG_NONE || image->compression == DEVIMG_COMPRESSION_NONE ||
            image->compression == DEVIMG_COMPRESSION_ZSTD)
            continue;
        const bool same = last != DEVIMG_UNKNOWN && image->bundle_offset == last;
        add(&codecs[image->compression], check, at, same);
        last = image->bundle_offset;
    }
    for (size_t c = 0; c < sizeof codecs / sizeof *codecs; c++)
        if (codecs[c].zstd < codecs[c].size)
            DVI_TRY(say_codec(check, &codecs[c], err));
    return DEVIMG_OK;
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
            DVI_TRY(say_raw(check, i, err));
    }
    for (uint32_t i = 0; i < check->in->record_count; i++)
        DVI_TRY(look_at_codecs(check, check->in->records[i], err));
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_compression = { .wanted = wanted, .run = run };
