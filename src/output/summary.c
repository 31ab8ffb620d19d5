/* SPDX-License-Identifier: Apache-2.0 */
#include "output/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "check/stored_raw.h"
#include "output/escape.h"

/* An image as it is sorted: by class, target, format; then by module and place in the file. */
struct row {
    const struct devimg_image *image;
    uint32_t index;
    enum dvi_class class;
};

static enum dvi_class class_of_format(enum devimg_format format)
{
    switch (format) {
    case DEVIMG_FORMAT_ZEBIN:
    case DEVIMG_FORMAT_PATCHTOKEN:
    case DEVIMG_FORMAT_CUBIN:
    case DEVIMG_FORMAT_AMDGPU: return DVI_CLASS_NATIVE;
    case DEVIMG_FORMAT_SPIRV:
    case DEVIMG_FORMAT_PTX: return DVI_CLASS_PORTABLE;
    case DEVIMG_FORMAT_ARCHIVE: return DVI_CLASS_ARCHIVE;
    case DEVIMG_FORMAT_UNKNOWN:
    case DEVIMG_FORMAT_LTO_IR:
    case DEVIMG_FORMAT_BITCODE: break;
    }
    return DVI_CLASS_OTHER;
}

enum dvi_class dvi_image_class(const struct devimg_image *image)
{
    const enum dvi_class class = class_of_format(image->format);
    if (image->support)
        return DVI_CLASS_SUPPORT;
    return class == DVI_CLASS_PORTABLE && image->parent != DEVIMG_NONE ? DVI_CLASS_EMBEDDED : class;
}

void dvi_total_add(struct dvi_total *total, uint64_t part)
{
    if (part == DEVIMG_UNKNOWN) {
        total->unknown++;
        return;
    }
    total->known++;
    const uint64_t most = DEVIMG_UNKNOWN - 1 - total->sum; /* sizes a file states may be any */
    total->sum += part < most ? part : most;
}

/* The parent of an image, or NULL. Parents stand before their members, so that walking up ends. */
static const struct devimg_image *parent_of(const struct devimg_file *file, uint32_t *index)
{
    const struct devimg_image *image = devimg_image_at(file, *index);
    if (image == NULL || image->parent >= *index)
        return NULL;
    *index = image->parent;
    return devimg_image_at(file, *index);
}

enum devimg_compression dvi_image_compression(const struct devimg_file *file, uint32_t index)
{
    const struct devimg_image *image = devimg_image_at(file, index);
    while (image != NULL && image->compression == DEVIMG_COMPRESSION_NONE) {
        const struct devimg_image *parent = parent_of(file, &index);
        if (parent == NULL)
            break;
        image = parent;
    }
    return image != NULL ? image->compression : DEVIMG_COMPRESSION_NONE;
}

uint64_t dvi_image_stored(const struct devimg_file *file, uint32_t index)
{
    const struct devimg_image *image = devimg_image_at(file, index);
    uint32_t up = index;
    if (parent_of(file, &up) != NULL && dvi_image_compression(file, up) != DEVIMG_COMPRESSION_NONE)
        return DEVIMG_UNKNOWN;
    return image->stored_size;
}

static int compare_targets(const struct row *a, const struct row *b)
{
    int order = dvi_compare_numbers(a->class, b->class);
    if (order == 0)
        order = dvi_compare_numbers(a->image->ip_version, b->image->ip_version);
    if (order == 0) /* not stated: last */
        order = dvi_compare_numbers(a->image->target == NULL, b->image->target == NULL);
    return order != 0 ? order : dvi_compare_text(a->image->target, b->image->target);
}

static int by_target_and_format(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = compare_targets(a, b);
    if (order == 0)
        order = dvi_compare_numbers(a->image->format, b->image->format);
    return order != 0 ? order : dvi_compare_numbers(a->index, b->index);
}

static int by_target_and_module(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = compare_targets(a, b);
    if (order == 0)
        order = dvi_compare_numbers(a->image->module, b->image->module);
    return order != 0 ? order : dvi_compare_numbers(a->index, b->index);
}

static void count_image(struct dvi_summary *s, const struct devimg_file *file, uint32_t index)
{
    const struct devimg_image *image = devimg_image_at(file, index);
    const struct devimg_record *record = devimg_record_at(file, image->record);
    s->image_count++;
    s->offloads |= 1U << image->offload;
    s->support_count += image->support != 0;
    s->family_count += image->family_only != 0;
    if (image->parent != DEVIMG_NONE)
        return; /* the archive it is a member of was counted */
    s->top_count++;
    if (record != NULL && dvi_is_stored_raw(record, image)) {
        s->raw_count++;
        s->raw_size += image->stored_size;
    }
    if (image->registered == DEVIMG_NO) {
        s->unregistered_count++;
        s->unregistered_size += image->stored_size != DEVIMG_UNKNOWN ? image->stored_size : 0;
    }
}

static bool add_groups(struct dvi_summary *s, const struct devimg_file *file,
                       const struct row *rows, size_t count)
{
    struct dvi_group *group = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct devimg_image *image = rows[i].image;
        if (i == 0 || compare_targets(&rows[i - 1], &rows[i]) != 0 ||
            rows[i - 1].image->format != image->format) {
            group = DVI_ADD(&s->groups);
            if (group == NULL)
                return false;
            group->first = image;
            group->class = rows[i].class;
        }
        group->image_count++;
        group->compressed[dvi_image_compression(file, rows[i].index)]++;
        dvi_total_add(&group->kernels, image->kernel_count);
        dvi_total_add(&group->stored, dvi_image_stored(file, rows[i].index));
        dvi_total_add(&group->size, image->size);
    }
    return true;
}

/* How many native targets there are, and in how many modules each of them is. */
static void count_targets(struct dvi_summary *s, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count && rows[i].class == DVI_CLASS_NATIVE;) {
        const size_t start = i;
        uint32_t modules = 0, last = DEVIMG_NONE;
        for (; i < count && compare_targets(&rows[start], &rows[i]) == 0; i++) {
            const struct devimg_image *image = rows[i].image;
            if (image->module != last && image->device_link != DEVIMG_LINK_LINKED)
                modules++;
            last = image->module;
        }
        s->native_count++;
        s->everywhere_count += modules == s->module_count;
    }
}

static bool is_of(const struct devimg_image *image, unsigned offloads)
{
    return (offloads >> image->offload & 1) != 0;
}

bool dvi_is_link_fallback(const struct devimg_file *file, const struct devimg_image *image)
{
    const struct devimg_record *record = devimg_record_at(file, image->record);
    if (image->format != DEVIMG_FORMAT_BITCODE || record == NULL || record->linked != DEVIMG_NO)
        return false;
    const struct devimg_target *row = devimg_target_find(image->target);
    return row != NULL && strcmp(row->kind, "portable") == 0;
}

/* Bitcode states no kernels, so that it is a module of its own beside the native ones of its
 * object: it stands for all of those. */
static bool has_link_fallback(const struct devimg_file *file, const struct devimg_record *record)
{
    bool bitcode = false, native = false;
    for (uint32_t i = 0; i < record->image_count && record->linked == DEVIMG_NO; i++) {
        const struct devimg_image *image = devimg_image_at(file, record->first_image + i);
        bitcode = bitcode || dvi_is_link_fallback(file, image);
        native = native || dvi_image_class(image) == DVI_CLASS_NATIVE;
    }
    return bitcode && native;
}

static enum devimg_device_link link_of(const struct devimg_file *file,
                                       const struct devimg_module *module)
{
    const struct devimg_image *image =
        module->image_count > 0 ? devimg_image_at(file, module->images[0]) : NULL;
    return image != NULL ? image->device_link : DEVIMG_LINK_NONE;
}

static bool has_class(const struct devimg_file *file, const struct devimg_module *module,
                      enum dvi_class class)
{
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = devimg_image_at(file, module->images[i]);
        if (image != NULL && dvi_image_class(image) == class)
            return true;
    }
    return false;
}

/* What a CUDA device link took holds PTX, all of it: the runtime links it where the result holds nothing. */
static bool has_input_fallback(const struct devimg_file *file, const struct devimg_record *record)
{
    bool any = false;
    for (uint32_t m = 0; m < record->module_count; m++) {
        const struct devimg_module *module = devimg_module_at(file, record->first_module + m);
        if (link_of(file, module) != DEVIMG_LINK_LINKED)
            continue;
        any = true;
        if (!has_class(file, module, DVI_CLASS_PORTABLE))
            return false;
    }
    return any;
}

static void count_modules(struct dvi_summary *s, const struct devimg_file *file, unsigned offloads)
{
    uint32_t record = DEVIMG_NONE;
    bool in_object = false, in_inputs = false;
    for (uint32_t m = 0; m < devimg_module_count(file); m++) {
        const struct devimg_module *module = devimg_module_at(file, m);
        unsigned classes = 0, in_archives = 0;
        bool unread = false, bitcode = true;
        if (module->record != record) {
            record = module->record;
            in_object = has_link_fallback(file, devimg_record_at(file, record));
            in_inputs = has_input_fallback(file, devimg_record_at(file, record));
        }
        const enum devimg_device_link link = link_of(file, module);
        if (link == DEVIMG_LINK_LINKED)
            continue; /* the result is made of it */
        for (uint32_t i = 0; i < module->image_count; i++) {
            const struct devimg_image *image = devimg_image_at(file, module->images[i]);
            if (image == NULL || !is_of(image, offloads))
                continue;
            classes |= 1U << dvi_image_class(image);
            in_archives += image->parent != DEVIMG_NONE;
            bitcode &= image->format == DEVIMG_FORMAT_BITCODE;
            unread |= image->format == DEVIMG_FORMAT_UNKNOWN && image->target == NULL;
        }
        const bool native = (classes >> DVI_CLASS_NATIVE & 1) != 0;
        const bool relinked = link == DEVIMG_LINK_RESULT && in_inputs;
        const bool portable =
            (classes >> DVI_CLASS_PORTABLE & 1) != 0 || (native && (in_object || relinked));
        s->relinked_modules += relinked && (classes >> DVI_CLASS_PORTABLE & 1) == 0;
        if (in_object && bitcode && classes == 1U << DVI_CLASS_OTHER)
            continue;
        unread |= (classes >> DVI_CLASS_ARCHIVE & 1) != 0 && in_archives == 0;
        s->module_count += classes != 0 && classes != 1U << DVI_CLASS_SUPPORT;
        s->native_modules += native;
        s->jit_modules += portable;
        s->jit_native_modules += native && portable;
        s->link_modules += native && in_object;
        s->unread_modules += unread && !native;
    }
}

static bool summarize(const struct devimg_file *file, unsigned offloads, struct dvi_summary *s)
{
    *s = (struct dvi_summary){ 0 };
    for (uint32_t r = 0; r < devimg_record_count(file); r++)
        s->damaged |= devimg_record_at(file, r)->status >= DEVIMG_RECORD_DAMAGED;
    s->behind = s->damaged;
    for (uint32_t i = 0; i < devimg_finding_count(file); i++)
        s->behind &= strcmp(devimg_finding_at(file, i)->code, "unsupported") == 0;
    uint32_t count = 0;
    struct row *rows = calloc((size_t)devimg_image_count(file) + 1, sizeof *rows);
    if (rows == NULL)
        return false;
    for (uint32_t i = 0; i < devimg_image_count(file); i++) {
        const struct devimg_image *image = devimg_image_at(file, i);
        if (!is_of(image, offloads))
            continue;
        rows[count++] = (struct row){ image, i, dvi_image_class(image) };
        count_image(s, file, i);
    }
    count_modules(s, file, offloads);
    qsort(rows, count, sizeof *rows, by_target_and_module);
    count_targets(s, rows, count);
    qsort(rows, count, sizeof *rows, by_target_and_format);
    const bool ok = add_groups(s, file, rows, count);
    free(rows);
    return ok;
}

bool dvi_summarize(const struct devimg_file *file, struct dvi_summary *s)
{
    return summarize(file, ~0U, s);
}

bool dvi_summarize_offload(const struct devimg_file *file, enum devimg_offload offload,
                           struct dvi_summary *s)
{
    return summarize(file, 1U << offload, s);
}

void dvi_summary_free(struct dvi_summary *s)
{
    DVI_LIST_FREE(&s->groups);
}

/* NULL: an archive, whose members are told, or not stated. */
static const char *target_of(const struct devimg_file *file, const struct devimg_module *module,
                             uint32_t i)
{
    const struct devimg_image *image = devimg_image_at(file, module->images[i]);
    return image != NULL && image->format != DEVIMG_FORMAT_ARCHIVE ? image->target : NULL;
}

const char *dvi_module_target(const struct devimg_file *file, const struct devimg_module *module,
                              uint32_t *at)
{
    enum { MOST_LOOK_BACK = 256 };
    while (*at < module->image_count) {
        const uint32_t i = (*at)++;
        const char *target = target_of(file, module, i);
        uint32_t k = i > MOST_LOOK_BACK ? i - MOST_LOOK_BACK : 0;
        while (target != NULL && k < i && dvi_compare_text(target_of(file, module, k), target) != 0)
            k++;
        if (target != NULL && k == i)
            return target;
    }
    return NULL;
}

const char *dvi_elsewhere(const struct devimg_file *file)
{
    for (uint32_t r = 0; r < devimg_record_count(file); r++)
        if (devimg_record_at(file, r)->elsewhere_count > 0)
            return devimg_record_at(file, r)->elsewhere[0];
    return NULL;
}

void dvi_print_nothing(FILE *out, const struct devimg_file *file)
{
    const char *elsewhere = dvi_elsewhere(file);
    fputs(elsewhere != NULL ? "device code in another file: " : "no device code", out);
    if (elsewhere != NULL)
        dvi_escape(out, elsewhere);
}

/* Whether an earlier group has the target: the groups of one target stand in several classes. */
static bool is_told(const struct dvi_summary *s, size_t index)
{
    const char *target = s->groups.items[index].first->target;
    for (size_t i = 0; i < index; i++)
        if (s->groups.items[i].first->target != NULL &&
            strcmp(s->groups.items[i].first->target, target) == 0)
            return true;
    return false;
}

bool dvi_print_targets(FILE *out, const struct devimg_file *file)
{
    enum { MOST = 64 }; /* of a hostile file */
    struct dvi_summary s = { 0 };
    const bool ok = dvi_summarize(file, &s);
    size_t printed = 0;
    for (size_t i = 0; i < s.groups.count && i < MOST && ok; i++) {
        const char *target = s.groups.items[i].first->target;
        if (target == NULL || is_told(&s, i))
            continue;
        fputs(printed++ == 0 ? "; the targets are " : " ", out);
        dvi_escape(out, target);
    }
    if (s.groups.count > MOST)
        fputs(" ...", out);
    dvi_summary_free(&s);
    return ok;
}
