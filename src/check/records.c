/* SPDX-License-Identifier: Apache-2.0 */
/* What rules ask of records: kinds of images, the targets they serve, names to show. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/demangle.h"
#include "check/report.h"
#include "check/stored_raw.h"

bool dvi_is_native(const struct devimg_image *image)
{
    return image->format == DEVIMG_FORMAT_ZEBIN || image->format == DEVIMG_FORMAT_PATCHTOKEN ||
           image->format == DEVIMG_FORMAT_AMDGPU || image->format == DEVIMG_FORMAT_CUBIN;
}

bool dvi_is_portable(const struct dvi_check *check, const struct devimg_image *image)
{
    if (image->format == DEVIMG_FORMAT_SPIRV || image->format == DEVIMG_FORMAT_PTX)
        return true;
    return image->format == DEVIMG_FORMAT_BITCODE && image->record < check->in->record_count &&
           check->in->records[image->record]->linked != DEVIMG_YES;
}

/* Code that GPUs run, or that a driver makes it of. */
static bool is_for_gpus(const struct devimg_image *image)
{
    return dvi_is_native(image) || image->format == DEVIMG_FORMAT_SPIRV ||
           image->format == DEVIMG_FORMAT_PTX;
}

static bool is_code(const struct devimg_image *image)
{
    return image->format != DEVIMG_FORMAT_ARCHIVE;
}

/* An image that `counts` may hold kernels when nobody could tell. Names alone do not tell: a
 * descriptor lists exported functions beside kernels, so what an image states of its kernels
 * counts first. */
static bool has_code_of(const struct dvi_check *check, const struct devimg_module *module,
                        bool (*counts)(const struct devimg_image *image))
{
    bool support = module->image_count > 0, kernels = false, counted = false;
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = check->in->images[module->images[i]];
        support = support && image->support;
        kernels =
            kernels || (image->kernel_count == DEVIMG_UNKNOWN ? !image->support && counts(image)
                                                              : image->kernel_count > 0);
        counted = counted || image->kernel_count != DEVIMG_UNKNOWN;
    }
    return (kernels || (!counted && module->name_count > 0)) && !support;
}

/* A module is a container then, so that all of it is of one kind. */
static enum devimg_device_link link_of(const struct dvi_check *check,
                                       const struct devimg_module *module)
{
    return module->image_count > 0 ? check->in->images[module->images[0]]->device_link
                                   : DEVIMG_LINK_NONE;
}

bool dvi_needs_coverage(const struct dvi_check *check, const struct devimg_module *module)
{
    return link_of(check, module) != DEVIMG_LINK_LINKED && has_code_of(check, module, is_for_gpus);
}

bool dvi_is_link_result(const struct dvi_check *check, const struct devimg_module *module)
{
    return link_of(check, module) == DEVIMG_LINK_RESULT;
}

uint32_t dvi_next_link_input(const struct dvi_check *check, const struct devimg_record *record,
                             uint32_t module)
{
    while (module < record->module_count &&
           link_of(check, check->in->modules[record->first_module + module]) != DEVIMG_LINK_LINKED)
        module++;
    return module;
}

bool dvi_may_have_kernels(const struct dvi_check *check, const struct devimg_module *module)
{
    return link_of(check, module) != DEVIMG_LINK_LINKED && has_code_of(check, module, is_code);
}

const char dvi_hint_of_damage[] = "see what is said of the parts that could not be read";

bool dvi_is_partly_read(const struct dvi_check *check)
{
    for (uint32_t i = 0; i < check->in->record_count; i++)
        if (check->in->records[i]->status >= DEVIMG_RECORD_DAMAGED)
            return true;
    return false;
}

bool dvi_is_generic_ir(const struct dvi_check *check, const struct devimg_module *module)
{
    for (uint32_t i = 0; i < module->image_count; i++)
        if (check->in->images[module->images[i]]->offload == DEVIMG_OFFLOAD_ACPP)
            return true;
    return false;
}

enum devimg_status dvi_say_elsewhere(struct dvi_check *check, bool *said, struct devimg_error *err)
{
    for (uint32_t i = 0; i < check->in->record_count; i++) {
        const struct devimg_record *record = check->in->records[i];
        if (record->elsewhere_count == 0)
            continue;
        struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "elsewhere", i);
        const uint32_t others = record->elsewhere_count - 1;
        const char *more = others > 0 ? dvi_message(check, " and %" PRIu32 " more", others) : "";
        f.message = dvi_message(check, "device code in another file, which was not read: %s%s",
                                record->elsewhere[0], more != NULL ? more : "");
        f.hint = "check that file as well: it is followed where it lies in the folder of this one";
        *said = true;
        DVI_TRY(dvi_say(check, &f, err));
    }
    return DEVIMG_OK;
}

enum devimg_offload dvi_offload_of(const struct dvi_check *check,
                                   const struct devimg_module *module)
{
    return module->image_count > 0 ? check->in->images[module->images[0]]->offload
                                   : DEVIMG_OFFLOAD_UNKNOWN;
}

uint64_t dvi_size_of_image(const struct devimg_image *image)
{
    return image->size != DEVIMG_UNKNOWN ? image->size : image->stored_size;
}

bool dvi_is_bundled(const struct devimg_image *image)
{
    const char *bundle = image->bundle;
    return image->parent == DEVIMG_NONE && image->section != NULL && bundle != NULL &&
           /* a plain link keeps what the object itself registers */
           !(image->offload == DEVIMG_OFFLOAD_HIP && image->registered == DEVIMG_YES) &&
           (strcmp(bundle, "clang-bundle") == 0 || strcmp(bundle, "offload-binary") == 0);
}

bool dvi_is_left_over(const struct devimg_record *record, const struct devimg_image *image)
{
    return record->linked == DEVIMG_YES && image->format == DEVIMG_FORMAT_BITCODE &&
           image->support && image->registered == DEVIMG_MAYBE && dvi_is_bundled(image);
}

/* What the next device link takes in and makes an image of, which it compresses itself. */
static bool is_unfinished(const struct devimg_record *record, const struct devimg_image *image)
{
    return record->linked == DEVIMG_NO &&
           (image->format == DEVIMG_FORMAT_BITCODE ||
            (image->format == DEVIMG_FORMAT_SPIRV && dvi_is_bundled(image)));
}

bool dvi_is_stored_raw(const struct devimg_record *record, const struct devimg_image *image)
{
    enum { THRESHOLD = 512 };
    const uint64_t size = dvi_size_of_image(image);
    const bool whole_file = record->kind == DEVIMG_KIND_RAW && image->bundle != NULL &&
                            strcmp(image->bundle, "none") == 0;
    const bool host_table = image->target != NULL && strcmp(image->target, "native_cpu") == 0;
    return image->parent == DEVIMG_NONE && image->compression == DEVIMG_COMPRESSION_NONE &&
           size >= THRESHOLD && size != DEVIMG_UNKNOWN && !is_unfinished(record, image) &&
           !dvi_is_left_over(record, image) && !whole_file && !host_table;
}

bool dvi_image_serves(const struct dvi_check *check, const struct devimg_image *image,
                      const struct devimg_target *target)
{
    if (!dvi_is_native(image))
        return false;
    const bool ask = check->policy->ocloc != NULL && image->ip_version != DEVIMG_UNKNOWN;
    for (size_t i = 0; ask && i < check->target_count; i++) {
        const struct dvi_check_target *listed = &check->targets[i];
        for (size_t k = 0; listed->row == target && k < listed->ip_count; k++)
            if (listed->ips[k] == image->ip_version)
                return true;
        if (listed->row == target)
            return false;
    }
    return dvi_target_is_of_image(target, image);
}

void dvi_targets_served(const struct dvi_check *check, const struct devimg_image *image,
                        void (*take)(void *context, size_t target), void *context)
{
    const struct devimg_report *report = check->report;
    size_t low = 0, high = report->ips.count;
    if (!dvi_is_native(image))
        return;
    if (image->ip_version == DEVIMG_UNKNOWN) {
        for (size_t i = 0; i < check->target_count; i++)
            if (dvi_image_serves(check, image, check->targets[i].row))
                take(context, i);
        return;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (report->ips.items[middle].ip < image->ip_version)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < report->ips.count && report->ips.items[low].ip == image->ip_version; low++)
        take(context, report->ips.items[low].target);
}

enum devimg_status dvi_say_repeated(struct dvi_check *check, const char *key,
                                    const struct dvi_target_set *set, struct devimg_error *err)
{
    for (size_t i = 0; i < set->repeated.count; i++) {
        const char *name = set->repeated.items[i];
        struct devimg_finding f = dvi_finding_of(DEVIMG_WARNING, "repeated-target", DEVIMG_NONE);
        f.target = name;
        f.message =
            dvi_message(check, "%s: %s adds nothing that does not stand before it", key, name);
        f.hint = "take it off the list";
        DVI_TRY(dvi_say(check, &f, err));
    }
    return DEVIMG_OK;
}

void dvi_shown_kernel(const char *name, char out[DVI_SHOWN_SIZE])
{
    char buffer[DVI_NAME_ROOM];
    const char *plain = dvi_demangle(name, buffer);
    const char *text = plain != NULL ? plain : name;
    size_t size = strlen(text);
    if (size < DVI_SHOWN_SIZE) {
        memcpy(out, text, size + 1);
        return;
    }
    size = DVI_SHOWN_SIZE - 2;
    while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) /* not inside a letter */
        size--;
    memcpy(out, text, size);
    memcpy(out + size, "*", 2);
}

/* Add `name`, the first of `left` names, or "and N more"; false: that was the end. */
static bool add_name(char out[DVI_NAMES_SIZE], const char *name, size_t shown, size_t left)
{
    char text[DVI_SHOWN_SIZE];
    dvi_shown_kernel(name, text);
    const size_t used = strlen(out), room = DVI_NAMES_SIZE - used;
    const size_t size = strlen(text), spare = left > 1 ? 24 : 0;
    if (size + 2 + spare >= room) {
        (void)snprintf(out + used, room, shown > 0 ? " and %zu more" : "%zu", left);
        return false;
    }
    (void)snprintf(out + used, room, "%s%s", shown > 0 ? ", " : "", text);
    return true;
}

void dvi_names_of(const struct devimg_module *module, char out[DVI_NAMES_SIZE])
{
    enum { SHOWN = 3 };
    *out = 0;
    for (uint32_t i = 0; i < module->name_count; i++) {
        const size_t used = strlen(out);
        if (i == SHOWN) {
            (void)snprintf(out + used, DVI_NAMES_SIZE - used, " and %" PRIu32 " more",
                           module->name_count - i);
            return;
        }
        if (!add_name(out, module->names[i], i, module->name_count - i))
            return;
    }
    if (module->name_count == 0)
        (void)snprintf(out, DVI_NAMES_SIZE, "names unknown");
}

void dvi_rows_text(const struct devimg_target *const *rows, size_t count, char out[DVI_NAMES_SIZE])
{
    *out = 0;
    for (size_t i = 0; i < count; i++)
        if (!add_name(out, rows[i]->name, i, count - i))
            return;
}
