/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"

static bool holds_images(const struct devimg_file *file, uint32_t i)
{
    const struct devimg_image *next = devimg_image_at(file, i + 1); /* members follow at once */
    return next != NULL && next->parent == i;
}

static bool has_index(const struct dvi_selection *s, uint32_t index)
{
    for (size_t i = 0; i < s->indices.count; i++)
        if (s->indices.items[i] == index)
            return true;
    return false;
}

/* Names that the host asks for, where the kernels themselves cannot be read. */
static bool entry_matches(const struct devimg_image *image, const char *pattern)
{
    if (image->kernel_count != DEVIMG_UNKNOWN)
        return false;
    for (uint32_t i = 0; i < image->entry_count; i++)
        if (dvi_glob_kernel(pattern, image->entries[i]))
            return true;
    return false;
}

/* A flag an image: it holds a kernel that the pattern matches. */
static void find_kernels(const struct devimg_file *file, const char *pattern, uint8_t *holds)
{
    for (uint32_t i = 0; i < devimg_kernel_count(file); i++) {
        const struct devimg_kernel *kernel = devimg_kernel_at(file, i);
        if (!holds[kernel->image])
            holds[kernel->image] = dvi_glob_kernel(pattern, kernel->name);
    }
    for (uint32_t i = 0; i < devimg_image_count(file); i++)
        if (!holds[i])
            holds[i] = entry_matches(devimg_image_at(file, i), pattern);
}

/* `holds`: a byte an image, for the kernels asked for; NULL: any will do. */
static bool matches(const struct devimg_file *file, const struct dvi_selection *s, uint32_t i,
                    const uint8_t *holds)
{
    const struct devimg_image *image = devimg_image_at(file, i);
    if (s->indices.count > 0 &&
        !has_index(s, i - devimg_record_at(file, image->record)->first_image))
        return false;
    if (s->indices.count == 0 && holds_images(file, i))
        return false;
    return (s->targets == NULL || dvi_target_set_has(s->targets, image)) &&
           (s->format == NULL || strcmp(s->format, devimg_format_name(image->format)) == 0) &&
           (holds == NULL || holds[i]);
}

/* The stored image that `i` is, or lies in. */
static uint32_t outermost(const struct devimg_file *file, uint32_t i)
{
    for (uint32_t parent = i; parent != DEVIMG_NONE; parent = devimg_image_at(file, i)->parent)
        i = parent;
    return i;
}

enum devimg_status dvi_select(const struct devimg_file *file, const struct dvi_selection *selection,
                              uint8_t *wanted, struct devimg_error *err)
{
    const uint32_t count = devimg_image_count(file);
    uint8_t *holds = NULL;
    if (selection->kernel != NULL) {
        holds = calloc((size_t)count + 1, 1);
        if (holds == NULL)
            return dvi_fail_memory(err, "selection");
        find_kernels(file, selection->kernel, holds);
    }
    memset(wanted, 0, count);
    for (uint32_t i = 0; i < count; i++)
        if (matches(file, selection, i, holds))
            wanted[selection->whole ? outermost(file, i) : i] = 1;
    free(holds);
    return DEVIMG_OK;
}
