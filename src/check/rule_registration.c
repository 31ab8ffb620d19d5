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

/* What a record has several of is said once. */
struct several {
    uint32_t first, count; /* images; `first` counts from the start of the file's */
};

static void add(struct several *several, uint32_t image)
{
    if (several->count++ == 0)
        several->first = image;
}

static enum devimg_status say_several(struct dvi_check *check, const struct several *several,
                                      struct devimg_finding f, const char *message,
                                      const char *hint, struct devimg_error *err)
{
    f.record = check->in->images[several->first]->record;
    f.image = several->first;
    f.offset = check->in->images[several->first]->offset;
    f.message = message;
    f.hint = hint;
    return dvi_say(check, &f, err);
}

static const char *plural(const struct several *several)
{
    return several->count == 1 ? "" : "s";
}

static enum devimg_status say_bundled(struct dvi_check *check, const struct several *bundled,
                                      struct devimg_error *err)
{
    return say_several(
        check, bundled, dvi_finding_of(DEVIMG_WARNING, "needs-device-link", DEVIMG_NONE),
        dvi_message(check, "%" PRIu32 " image%s in bundle sections: a plain host link %s",
                    bundled->count, plural(bundled),
                    bundled->count == 1 ? "drops it" : "drops them"),
        hint_for_link(check->in->images[bundled->first]->offload), err);
}

static enum devimg_status say_unsure(struct dvi_check *check, const struct several *unsure,
                                     struct devimg_error *err)
{
    const enum devimg_offload offload = check->in->images[unsure->first]->offload;
    return say_several(
        check, unsure, dvi_finding_of(DEVIMG_NOTE, "registration-unknown", DEVIMG_NONE),
        dvi_message(check, "whether the program registers %" PRIu32 " image%s cannot be told",
                    unsure->count, plural(unsure)),
        offload == DEVIMG_OFFLOAD_CUDA
            ? "a wrapper in .nvFatBinSegment that names its container would tell; code that "
              "cuModuleLoadData loads has none"
        : offload == DEVIMG_OFFLOAD_HIP
            ? "a wrapper in .hipFatBinSegment that names its bundle would tell"
        : offload == DEVIMG_OFFLOAD_OPENMP
            ? "an OpenMP descriptor that names it would tell"
            : "a constructor that hands the descriptor to __sycl_register_lib would tell",
        err);
}

static enum devimg_status say_left_over(struct dvi_check *check, const struct several *left,
                                        struct devimg_error *err)
{
    return say_several(
        check, left, dvi_finding_of(DEVIMG_NOTE, "left-over", DEVIMG_NONE),
        dvi_message(check,
                    "%" PRIu32 " bitcode image%s, which no runtime reads: the device "
                    "link has made images, and link.exe keeps what they were made of",
                    left->count, plural(left)),
        "nothing to do; whether every unit was in the device link, its bitcode does not tell", err);
}

/* An image of a program that nothing is known to register; it is not proved that nothing does. */
static bool is_unsure(const struct devimg_record *record, const struct devimg_image *image)
{
    return record->linked == DEVIMG_YES && image->parent == DEVIMG_NONE &&
           image->registered == DEVIMG_MAYBE && image->offload != DEVIMG_OFFLOAD_ACPP;
}

static enum devimg_status run_record(struct dvi_check *check, uint32_t index,
                                     struct devimg_error *err)
{
    const struct devimg_record *record = check->in->records[index];
    struct several bundled = { 0 }, unsure = { 0 }, left = { 0 };
    for (uint32_t i = 0; i < record->image_count; i++) {
        const uint32_t at = record->first_image + i;
        const struct devimg_image *image = check->in->images[at];
        if (image->parent == DEVIMG_NONE && image->registered == DEVIMG_NO)
            DVI_TRY(say_not_registered(check, at, err));
        if (dvi_is_left_over(record, image))
            add(&left, at);
        else if (is_unsure(record, image))
            add(&unsure, at);
        if (record->linked != DEVIMG_NO)
            continue;
        if (is_gen_bitcode(image))
            DVI_TRY(say_bitcode(check, at, err));
        if (dvi_is_bundled(image))
            add(&bundled, at);
    }
    if (left.count > 0)
        DVI_TRY(say_left_over(check, &left, err));
    if (unsure.count > 0)
        DVI_TRY(say_unsure(check, &unsure, err));
    return bundled.count > 0 ? say_bundled(check, &bundled, err) : DEVIMG_OK;
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
