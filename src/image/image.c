/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/sha256.h"

#define DVI_IMAGE(name) extern const struct dvi_image_format dvi_image_##name;
#include "image/images.def"
#undef DVI_IMAGE

static const struct dvi_image_format *const rows[] = {
#define DVI_IMAGE(name) &dvi_image_##name,
#include "image/images.def"
#undef DVI_IMAGE
};

const struct dvi_image_format *dvi_image_format_of(struct dvi_view image)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i]->match(image))
            return rows[i];
    return NULL;
}

void dvi_kernel_unknown(struct devimg_kernel *out)
{
    *out = (struct devimg_kernel){ .record = DEVIMG_NONE,
                                   .image = DEVIMG_NONE,
                                   .module = DEVIMG_NONE,
                                   .sub_group_size = DEVIMG_UNKNOWN,
                                   .required_sub_group_size = DEVIMG_UNKNOWN,
                                   .code_size = DEVIMG_UNKNOWN,
                                   .registers = DEVIMG_UNKNOWN,
                                   .private_size = DEVIMG_UNKNOWN,
                                   .spill_size = DEVIMG_UNKNOWN,
                                   .slm_size = DEVIMG_UNKNOWN,
                                   .scratch_size = DEVIMG_UNKNOWN,
                                   .barrier_count = DEVIMG_UNKNOWN,
                                   .constant_size = DEVIMG_UNKNOWN,
                                   .sgpr_count = DEVIMG_UNKNOWN,
                                   .agpr_count = DEVIMG_UNKNOWN,
                                   .vgpr_spill_count = DEVIMG_UNKNOWN,
                                   .sgpr_spill_count = DEVIMG_UNKNOWN,
                                   .kernarg_size = DEVIMG_UNKNOWN };
}

enum devimg_status dvi_kernel_add(struct dvi_kernel_sink *sink, struct dvi_view name,
                                  struct devimg_kernel **out, struct devimg_error *err)
{
    if (name.size > DVI_MOST_KERNEL_NAME)
        return dvi_fail(err, DEVIMG_MALFORMED, name, 0,
                        "kernel name of %zu bytes: at most %d are read", name.size,
                        DVI_MOST_KERNEL_NAME);
    if ((sink->so_far != NULL ? atomic_fetch_add(sink->so_far, 1) : sink->kernels.count) >=
        sink->most)
        return dvi_fail_plain(err, DEVIMG_LIMIT, "kernels", /* of which image, threads decide */
                              "more than %" PRIu64 " kernels (max-kernels)", sink->most);
    const char *text = dvi_arena_text(sink->arena, name);
    struct devimg_kernel *kernel = text != NULL ? DVI_ADD(&sink->kernels) : NULL;
    if (kernel == NULL)
        return dvi_fail_memory(err, name.source);
    dvi_kernel_unknown(kernel);
    kernel->name = text;
    *out = kernel;
    return DEVIMG_OK;
}

enum devimg_status dvi_kernel_digest(struct dvi_kernel_sink *sink, struct devimg_kernel *kernel,
                                     struct dvi_view code, struct devimg_error *err)
{
    struct dvi_sha256 sum;
    if (code.size == 0 || code.size > sink->digest_left)
        return DEVIMG_OK;
    sink->digest_left -= code.size;
    uint8_t *digest = dvi_arena_array(sink->arena, DVI_SHA256_SIZE, 1);
    if (digest == NULL)
        return dvi_fail_memory(err, code.source);
    dvi_sha256_begin(&sum);
    dvi_sha256_add(&sum, code.data, code.size);
    dvi_sha256_end(&sum, digest);
    kernel->code_digest = digest;
    return DEVIMG_OK;
}

void dvi_ip_text(uint64_t ip_version, char out[24])
{
    (void)snprintf(out, 24, "%" PRIu64 ".%" PRIu64 ".%" PRIu64, ip_version >> 22 & 0x3ff,
                   ip_version >> 14 & 0xff, ip_version & 0x3f);
}

/* A decimal number without leading zeros at `*at`, which moves behind it. */
static bool read_number(struct dvi_view text, size_t *at, uint64_t most, uint64_t *out)
{
    const size_t start = *at;
    uint64_t number = 0;
    for (; *at < text.size && text.data[*at] >= '0' && text.data[*at] <= '9'; ++*at) {
        number = number * 10 + (uint64_t)(text.data[*at] - '0');
        if (number > most)
            return false;
    }
    *out = number;
    return *at > start && (text.data[start] != '0' || *at - start == 1);
}

bool dvi_ip_of_text(struct dvi_view text, char between, uint64_t *out)
{
    static const uint64_t most[3] = { 0x3ff, 0xff, 0x3f }; /* architecture, release, revision */
    uint64_t parts[3] = { 0 };
    size_t at = 0;
    for (size_t i = 0; i < 3; i++) {
        if (i > 0 && (at >= text.size || text.data[at++] != (uint8_t)between))
            return false;
        if (!read_number(text, &at, most[i], &parts[i]))
            return false;
    }
    *out = DVI_IP(parts[0], parts[1], parts[2]);
    return at == text.size;
}
