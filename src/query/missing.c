/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kernels have no native code for a target. A runtime looks a kernel up in its module, so that
 * each module is asked for itself, as the rule `targets` does; what another module has of the same name
 * is told beside it.
 */
#include "query/missing.h"

#include <stdlib.h>
#include <string.h>

#include "check/check.h"

/* A kernel that is native in a module. */
struct native {
    const char *name;
    uint32_t module;
};

struct query {
    const struct devimg_file *file;
    const struct devimg_target *target;
    struct dvi_missing_list *out;
    DVI_LIST(struct native) natives; /* of the target; sorted by name, then module */
    DVI_LIST(uint32_t) lacking;      /* modules without native code for it */
    /* of the record that was asked last, images: bitcode for its link; input of a device link */
    uint32_t asked_record, bitcode, relinked;
    uint8_t *counted; /* a byte a module: it lacks some target */
};

static enum devimg_device_link link_of(const struct devimg_file *file,
                                       const struct devimg_module *module)
{
    return module->image_count > 0 ? devimg_image_at(file, module->images[0])->device_link
                                   : DEVIMG_LINK_NONE;
}

/* May the module hold kernels that the program launches? What a CUDA device link took is in its result. */
static bool holds_kernels(const struct devimg_file *file, const struct devimg_module *module)
{
    if (link_of(file, module) == DEVIMG_LINK_LINKED)
        return false;
    if (module->name_count > 0)
        return true;
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = devimg_image_at(file, module->images[i]);
        if (!image->support && image->kernel_count != 0 && image->format != DEVIMG_FORMAT_ARCHIVE)
            return true;
    }
    return false;
}

/* The settings of the target under which the module has native code. */
static uint32_t served(const struct query *q, const struct devimg_module *module)
{
    uint32_t settings = 0;
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = devimg_image_at(q->file, module->images[i]);
        if (dvi_is_native(image))
            settings |= dvi_target_run(q->target, image);
    }
    return settings;
}

/* Does a driver, or a link that comes, make code for the target of it? */
static bool is_fallback(const struct query *q, const struct devimg_image *image)
{
    const struct devimg_record *record = devimg_record_at(q->file, image->record);
    const struct devimg_target *row = devimg_target_find(image->target);
    const bool is_bitcode = image->format == DEVIMG_FORMAT_BITCODE;
    if (image->parent != DEVIMG_NONE || image->registered == DEVIMG_NO || image->support)
        return false;
    if (image->offload == DEVIMG_OFFLOAD_ACPP) /* generic IR, for every GPU */
        return is_bitcode;
    if (image->format == DEVIMG_FORMAT_PTX) /* of a later number it cannot be compiled */
        return dvi_nvidia_runs(q->target, row);
    if (is_bitcode ? record->linked != DEVIMG_NO : image->format != DEVIMG_FORMAT_SPIRV)
        return false;
    if (row != NULL && is_bitcode && dvi_target_is_gpu(row)) /* of HIP, for one GPU */
        return dvi_target_served(q->target, image) != 0;
    return row != NULL ? dvi_target_compiles(q->target, row) : image->target == NULL && !is_bitcode;
}

/* An image of the module that the target runs, or that a driver compiles for it. */
static uint32_t usable(const struct query *q, const struct devimg_module *module)
{
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = devimg_image_at(q->file, module->images[i]);
        if ((dvi_is_native(image) && dvi_target_run(q->target, image) != 0) ||
            is_fallback(q, image))
            return module->images[i];
    }
    return DEVIMG_NONE;
}

/* The input of a CUDA device link, where all of it can be linked again for the target at load. */
static uint32_t relinked_of(const struct query *q, const struct devimg_record *record)
{
    uint32_t first = DEVIMG_NONE;
    for (uint32_t m = 0; m < record->module_count; m++) {
        const struct devimg_module *module = devimg_module_at(q->file, record->first_module + m);
        if (link_of(q->file, module) != DEVIMG_LINK_LINKED)
            continue;
        const uint32_t image = usable(q, module);
        if (image == DEVIMG_NONE)
            return DEVIMG_NONE;
        first = first == DEVIMG_NONE ? image : first;
    }
    return first;
}

/* Bitcode of an object states no kernels: it stands for every module of the object. */
static uint32_t bitcode_of(const struct query *q, const struct devimg_record *record)
{
    for (uint32_t i = 0; record->linked == DEVIMG_NO && i < record->image_count; i++) {
        const struct devimg_image *image = devimg_image_at(q->file, record->first_image + i);
        if (image->format == DEVIMG_FORMAT_BITCODE && is_fallback(q, image))
            return record->first_image + i;
    }
    return DEVIMG_NONE;
}

static uint32_t fallback_of(struct query *q, const struct devimg_module *module)
{
    for (uint32_t i = 0; i < module->image_count; i++)
        if (is_fallback(q, devimg_image_at(q->file, module->images[i])))
            return module->images[i];
    if (q->asked_record != module->record) {
        const struct devimg_record *record = devimg_record_at(q->file, module->record);
        q->asked_record = module->record;
        q->bitcode = bitcode_of(q, record);
        q->relinked = relinked_of(q, record);
    }
    return link_of(q->file, module) == DEVIMG_LINK_RESULT ? q->relinked : q->bitcode;
}

static int compare_natives(const void *a, const void *b)
{
    const struct native *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : dvi_compare_numbers(x->module, y->module);
}

/* The first module of the record that has native code of a kernel of this name. */
static uint32_t native_elsewhere(const struct query *q, const struct devimg_record *record,
                                 const char *name)
{
    const struct native first = { name, record->first_module };
    size_t low = 0, high = q->natives.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_natives(&q->natives.items[middle], &first) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct native *found = low < q->natives.count ? &q->natives.items[low] : NULL;
    return found != NULL && strcmp(found->name, name) == 0 &&
                   found->module - record->first_module < record->module_count
               ? found->module
               : DEVIMG_NONE;
}

static enum devimg_status sort_modules(struct query *q, struct devimg_error *err)
{
    const uint32_t all = dvi_target_settings(q->target);
    q->natives.count = q->lacking.count = 0;
    q->asked_record = DEVIMG_NONE;
    for (uint32_t m = 0; m < devimg_module_count(q->file); m++) {
        const struct devimg_module *module = devimg_module_at(q->file, m);
        if (!holds_kernels(q->file, module))
            continue;
        if (served(q, module) != all) {
            uint32_t *lacking = DVI_ADD(&q->lacking);
            if (lacking == NULL)
                return dvi_fail_memory(err, "kernels");
            *lacking = m;
            continue;
        }
        for (uint32_t i = 0; i < module->name_count; i++) {
            struct native *native = DVI_ADD(&q->natives);
            if (native == NULL)
                return dvi_fail_memory(err, "kernels");
            *native = (struct native){ module->names[i], m };
        }
    }
    if (q->natives.count > 0)
        qsort(q->natives.items, q->natives.count, sizeof *q->natives.items, compare_natives);
    return DEVIMG_OK;
}

/* "sramecc-:xnack+", the first setting that is missing where others are served. */
static enum devimg_status settings_of(struct query *q, uint32_t have, const char **out,
                                      struct devimg_error *err)
{
    char text[DVI_AMD_SETTING_ROOM];
    const uint32_t missing = dvi_target_settings(q->target) & ~have;
    *out = NULL;
    for (unsigned i = 0; have != 0 && *out == NULL && i < DVI_AMD_SETTINGS; i++)
        if ((missing >> i & 1) != 0) {
            *out = dvi_arena_copy(&q->out->arena, dvi_amd_setting_text(q->target, i, text));
            if (*out == NULL)
                return dvi_fail_memory(err, "kernels");
        }
    return DEVIMG_OK;
}

static enum devimg_status add_module(struct query *q, uint32_t index, struct devimg_error *err)
{
    const struct devimg_module *module = devimg_module_at(q->file, index);
    struct dvi_missing row = { .target = q->target,
                               .module = index,
                               .fallback = fallback_of(q, module),
                               .other = DEVIMG_NONE };
    DVI_TRY(settings_of(q, served(q, module), &row.settings, err));
    q->counted[index] = 1;
    for (uint32_t i = 0; i < (module->name_count > 0 ? module->name_count : 1); i++) {
        struct dvi_missing *added = DVI_ADD(&q->out->items);
        if (added == NULL)
            return dvi_fail_memory(err, "kernels");
        if (module->name_count > 0) {
            row.kernel = module->names[i];
            row.other = native_elsewhere(q, devimg_record_at(q->file, module->record), row.kernel);
        }
        *added = row;
    }
    return DEVIMG_OK;
}

static void count(struct query *q)
{
    for (uint32_t m = 0; m < devimg_module_count(q->file); m++) {
        const struct devimg_module *module = devimg_module_at(q->file, m);
        if (!holds_kernels(q->file, module))
            continue;
        q->out->kernel_count += module->name_count;
        if (q->counted[m])
            q->out->missing_count += module->name_count;
    }
}

static enum devimg_status find(struct query *q, const struct dvi_target_set *targets,
                               struct devimg_error *err)
{
    q->counted = calloc((size_t)devimg_module_count(q->file) + 1, 1);
    if (q->counted == NULL)
        return dvi_fail_memory(err, "kernels");
    for (size_t t = 0; t < targets->known.count; t++) {
        q->target = targets->known.items[t];
        DVI_TRY(sort_modules(q, err));
        for (size_t i = 0; i < q->lacking.count; i++)
            DVI_TRY(add_module(q, q->lacking.items[i], err));
    }
    count(q);
    return DEVIMG_OK;
}

enum devimg_status dvi_missing_find(const struct devimg_file *file,
                                    const struct dvi_target_set *targets,
                                    struct dvi_missing_list *out, struct devimg_error *err)
{
    struct query q = { .file = file, .out = out };
    const enum devimg_status status = find(&q, targets, err);
    DVI_LIST_FREE(&q.natives);
    DVI_LIST_FREE(&q.lacking);
    free(q.counted);
    return status;
}

void dvi_missing_free(struct dvi_missing_list *list)
{
    DVI_LIST_FREE(&list->items);
    dvi_arena_free(&list->arena);
}
