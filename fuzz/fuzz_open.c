/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of the public API: open, decode kernels, check; every record is read, and the
 * bytes of images.
 * What it proves besides memory safety: findings have texts, images lie inside the file and are as
 * large as their records say.
 */
#include <devimg.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int good)
{
    if (!good)
        abort();
}

static size_t touch(const char *text)
{
    return text != NULL ? strlen(text) : 0;
}

static size_t touch_images(const struct devimg_file *file, size_t size)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < devimg_image_count(file); i++) {
        const struct devimg_image *image = devimg_image_at(file, i);
        require(image->offset == DEVIMG_UNKNOWN ||
                (image->offset <= size && image->stored_size <= size - image->offset));
        sum += touch(image->target) + touch(image->entry_id) + touch(image->section) +
               touch(image->unit) + touch(image->compile_options) + touch(image->note);
        for (uint32_t k = 0; k < image->entry_count; k++)
            sum += touch(image->entries[k]);
        for (uint32_t k = 0; k < image->aspect_count; k++)
            sum += image->aspects[k];
    }
    return sum;
}

struct taken {
    const struct devimg_image *image;
    int as_stored, count;
    size_t sum;
};

static enum devimg_status take(void *context, const void *bytes, size_t size,
                               struct devimg_error *err)
{
    struct taken *taken = context;
    const uint8_t *at = bytes;
    const uint64_t said = taken->as_stored ? taken->image->stored_size : taken->image->size;
    (void)err;
    require(said == DEVIMG_UNKNOWN || said == size);
    for (size_t i = 0; i < size; i++)
        taken->sum += at[i];
    taken->count++;
    return DEVIMG_OK;
}

/* Of the first images: each costs all of the stored image that it lies in. */
static size_t touch_bytes(struct devimg_file *file)
{
    struct taken taken = { 0 };
    for (uint32_t i = 0; i < devimg_image_count(file) && i < 16; i++) {
        for (taken.as_stored = 0; taken.as_stored < 2; taken.as_stored++) {
            taken.image = devimg_image_at(file, i);
            taken.count = 0;
            const enum devimg_status st =
                devimg_image_bytes(file, i, taken.as_stored, take, &taken, NULL);
            require(taken.count == (st == DEVIMG_OK));
            require(st == DEVIMG_OK || !taken.as_stored || taken.image->parent != DEVIMG_NONE ||
                    taken.image->stored_size == DEVIMG_UNKNOWN);
        }
    }
    return taken.sum;
}

static size_t touch_rest(const struct devimg_file *file)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < devimg_module_count(file); i++) {
        const struct devimg_module *module = devimg_module_at(file, i);
        for (uint32_t k = 0; k < module->image_count; k++)
            require(module->images[k] < devimg_image_count(file));
        for (uint32_t k = 0; k < module->name_count; k++)
            sum += touch(module->names[k]);
    }
    for (uint32_t i = 0; i < devimg_kernel_count(file); i++)
        sum += touch(devimg_kernel_at(file, i)->name);
    for (uint32_t i = 0; i < devimg_finding_count(file); i++)
        require(touch(devimg_finding_at(file, i)->message) > 0);
    return sum;
}

static size_t check(struct devimg_file *file)
{
    static const char *const keys[][2] = { { "targets", "tgllp,adl-s,dg2-g11,pvc" },
                                           { "fallback", "spir64" },
                                           { "compression", "required" },
                                           { "max-bytes", "dg2-g11=1K,spir64=1K,all=1" },
                                           { "duplicates", "deny" } };
    struct devimg_policy *policy = NULL;
    struct devimg_report *report = NULL;
    size_t sum = 0;
    require(devimg_policy_new(&policy, NULL) == DEVIMG_OK);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        require(devimg_policy_set(policy, keys[i][0], keys[i][1], NULL) == DEVIMG_OK);
    if (devimg_report_new(policy, &report, NULL) == DEVIMG_OK &&
        devimg_report_add(report, file, NULL, NULL, NULL) == DEVIMG_OK)
        for (uint32_t i = 0; i < devimg_report_count(report); i++)
            sum += touch(devimg_report_at(report, i)->message);
    devimg_report_free(report);
    devimg_policy_free(policy);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile size_t sink;
    struct devimg_opts opts;
    struct devimg_file *file = NULL;
    memset(&opts, 0, sizeof opts);
    opts.struct_size = sizeof opts;
    opts.threads = 1;
    opts.code_digests = 1;
    opts.max_inflated_size = 8u << 20;
    opts.max_total_inflated_size = 32u << 20;
    if (devimg_open_bytes(data, size, "fuzz", &opts, &file, NULL) != DEVIMG_OK)
        return 0;
    if (devimg_read_kernels(file, NULL) == DEVIMG_OK)
        sink = touch_images(file, size) + touch_bytes(file) + touch_rest(file) + check(file);
    devimg_close(file);
    return 0;
}
