/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registration: images that the program carries but will never find.
 *
 * In a linked file a DPC++ image counts only when a descriptor names it and start-up code passes
 * that descriptor to __sycl_register_lib (intel/llvm clang-offload-wrapper); so it does in an object
 * whose descriptor is a local symbol. In an object, images
 * still lie in bundle sections or offload binaries, which only the offload driver's link reads.
 * AdaptiveCpp registers its containers in another way, which is not looked at.
 */
#include <inttypes.h>
#include <string.h>

#include "check/check.h"
#include "check/stored_raw.h"

static enum devimg_status say_not_registered(struct dvi_check *check, uint32_t index,
                                             struct devimg_error *err)
{
    const struct devimg_image *image = check->in->images[index];
    const bool is_object = check->in->records[image->record]->linked == DEVIMG_NO;
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "not-registered", image->record);
    f.module = image->module;
    f.image = index;
    f.unit = image->unit;
    f.target = image->target;
    f.offset = image->offset;
    f.message = dvi_message(check, "the %s does not register this image%s%s",
                            is_object ? "object" : "program", image->note != NULL ? ": " : "",
                            image->note != NULL ? image->note : "");
    f.hint =
        image->offload == DEVIMG_OFFLOAD_HIP
            ? "keep the object that holds .hipFatBinSegment: its constructor registers the code"
            : "link with the SYCL driver (-fsycl), or keep the object that holds the "
              "descriptor";
    return dvi_say(check, &f, err);
}

/* Bitcode for native targets: a plain -fsycl link drops it, as its targets come from its own line.
 */
static bool is_gen_bitcode(const struct devimg_image *image)
{
    static const char gen[] = "spir64_gen";
    return image->format == DEVIMG_FORMAT_BITCODE &&
           ((image->entry_id != NULL && strstr(image->entry_id, gen) != NULL) ||
            (image->section != NULL && strstr(image->section, gen) != NULL) ||
            (image->target != NULL && strcmp(image->target, gen) == 0));
}

static enum devimg_status say_bitcode(struct dvi_check *check, uint32_t index,
                                      struct devimg_error *err)
{
    const struct devimg_image *image = check->in->images[index];
    struct devimg_finding f = dvi_finding_of(DEVIMG_WARNING, "bitcode-dropped", image->record);
    f.module = image->module;
    f.image = index;
    f.unit = image->unit;
    f.target = "spir64_gen";
    f.offset = image->offset;
    f.message = "this is bitcode for native targets, no finished image: a link with -fsycl alone "
                "drops it";
    f.hint = "compile with -fno-sycl-rdc, or give the link -fsycl-targets=spir64_gen,spir64 and "
             "the device list";
    return dvi_say(check, &f, err);
}

static const char *hint_for_link(enum devimg_offload offload)
{
    switch (offload) {
    case DEVIMG_OFFLOAD_SYCL: return "link with the SYCL driver (-fsycl)";
    case DEVIMG_OFFLOAD_HIP: return "link with hipcc, or with clang and --hip-link";
    case DEVIMG_OFFLOAD_CUDA: return "link with clang and --offload-link";
    case DEVIMG_OFFLOAD_OPENMP:
        return "link with the driver that compiled it, with its OpenMP option";
    default: return "link with the driver that compiled it";
    }
}

static enum devimg_status say_bundled(struct dvi_check *check, uint32_t record, uint32_t first,
                                      uint32_t count, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_WARNING, "needs-device-link", record);
    f.image = first;
    f.offset = check->in->images[first]->offset;
    f.message = dvi_message(check, "%" PRIu32 " image%s in bundle sections: a plain host link %s",
                            count, count == 1 ? "" : "s", count == 1 ? "drops it" : "drops them");
    f.hint = hint_for_link(check->in->images[first]->offload);
    return dvi_say(check, &f, err);
}

static enum devimg_status say_unsure(struct dvi_check *check, uint32_t record, uint32_t first,
                                     uint32_t count, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "registration-unknown", record);
    f.image = first;
    f.offset = check->in->images[first]->offset;
    f.message =
        dvi_message(check, "whether the program registers %" PRIu32 " image%s cannot be told",
                    count, count == 1 ? "" : "s");
    f.hint = check->in->images[first]->offload == DEVIMG_OFFLOAD_CUDA
                 ? "a wrapper in .nvFatBinSegment that names its container would tell; code that "
                   "cuModuleLoadData loads has none"
             : check->in->images[first]->offload == DEVIMG_OFFLOAD_HIP
                 ? "a wrapper in .hipFatBinSegment that names its bundle would tell"
             : check->in->images[first]->offload == DEVIMG_OFFLOAD_OPENMP
                 ? "an OpenMP descriptor that names it would tell"
                 : "a constructor that hands the descriptor to __sycl_register_lib would tell";
    return dvi_say(check, &f, err);
}

static enum devimg_status say_left_over(struct dvi_check *check, uint32_t record, uint32_t first,
                                        uint32_t count, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "left-over", record);
    f.image = first;
    f.offset = check->in->images[first]->offset;
    f.message = dvi_message(check,
                            "%" PRIu32 " bitcode image%s, which no runtime reads: the device "
                            "link has made images, and link.exe keeps what they were made of",
                            count, count == 1 ? "" : "s");
    f.hint = "nothing to do; whether every unit was in the device link, its bitcode does not tell";
    return dvi_say(check, &f, err);
}

static enum devimg_status run_record(struct dvi_check *check, uint32_t index,
                                     struct devimg_error *err)
{
    const struct devimg_record *record = check->in->records[index];
    uint32_t first = DEVIMG_NONE, count = 0, first_unsure = DEVIMG_NONE, unsure = 0;
    uint32_t first_left = DEVIMG_NONE, left = 0;
    for (uint32_t i = 0; i < record->image_count; i++) {
        const uint32_t at = record->first_image + i;
        const struct devimg_image *image = check->in->images[at];
        if (image->parent == DEVIMG_NONE && image->registered == DEVIMG_NO)
            DVI_TRY(say_not_registered(check, at, err));
        if (dvi_is_left_over(record, image) && left++ == 0)
            first_left = at;
        if (record->linked == DEVIMG_YES && image->parent == DEVIMG_NONE &&
            !dvi_is_left_over(record, image) && image->registered == DEVIMG_MAYBE &&
            image->offload != DEVIMG_OFFLOAD_ACPP && unsure++ == 0)
            first_unsure = at;
        if (record->linked != DEVIMG_NO)
            continue;
        if (is_gen_bitcode(image))
            DVI_TRY(say_bitcode(check, at, err));
        if (dvi_is_bundled(image) && count++ == 0)
            first = at;
    }
    if (left > 0)
        DVI_TRY(say_left_over(check, index, first_left, left, err));
    if (unsure > 0)
        DVI_TRY(say_unsure(check, index, first_unsure, unsure, err));
    return count > 0 ? say_bundled(check, index, first, count, err) : DEVIMG_OK;
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    for (uint32_t i = 0; i < check->in->finding_count; i++) /* that reading has met */
        if (strcmp(check->in->findings[i]->rule, "registration") == 0)
            DVI_TRY(dvi_say(check, check->in->findings[i], err));
    for (uint32_t i = 0; i < check->in->record_count; i++)
        DVI_TRY(run_record(check, i, err));
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_registration = { .run = run };
