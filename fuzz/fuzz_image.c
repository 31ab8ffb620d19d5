/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of the image layer: the row that knows the bytes, its facts and its kernels.
 * dict: amdgpu zebin oclelf patchtoken spirv bitcode
 */
#include <stdlib.h>
#include <string.h>

#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t touch_facts(const struct dvi_image_facts *facts)
{
    size_t sum = facts->capability_count;
    for (uint32_t i = 0; i < facts->capability_count; i++)
        sum += facts->capabilities[i];
    for (uint32_t i = 0; i < facts->extension_count; i++)
        sum += strlen(facts->extensions[i]);
    if (facts->version != NULL)
        sum += strlen(facts->version);
    return facts->note != NULL ? sum + strlen(facts->note) : sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile size_t kept; /* keeps the reads from being left out */
    const struct dvi_view image = dvi_view_of(data, size, "fuzz");
    const struct dvi_image_format *format = dvi_image_format_of(image);
    struct dvi_arena arena = { 0 };
    struct devimg_error err = { 0 };
    struct dvi_image_facts facts = { .ip_version = DEVIMG_UNKNOWN };
    struct dvi_kernel_sink sink = { .arena = &arena, .most = 10000 };
    if (format == NULL)
        return 0;
    if (format->facts(image, &arena, &facts, &err) == DEVIMG_OK)
        kept += touch_facts(&facts);
    if (format->kernels != NULL) {
        const enum devimg_status status = format->kernels(image, &sink, &err);
        if (sink.kernels.count > sink.most ||
            (status != DEVIMG_OK && status != DEVIMG_END && err.text[0] == 0))
            abort();
    }
    for (size_t i = 0; i < sink.kernels.count; i++)
        kept += strlen(sink.kernels.items[i].name);
    DVI_LIST_FREE(&sink.kernels);
    dvi_arena_free(&arena);
    return 0;
}
