/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA code is for, as its container and as it says itself. */
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

bool dvi_is_cuda(enum devimg_format format)
{
    return format == DEVIMG_FORMAT_CUBIN || format == DEVIMG_FORMAT_PTX ||
           format == DEVIMG_FORMAT_LTO_IR;
}

/* "sm_90a" is 90, and "a" in `*suffix`. */
static unsigned long number_of(const char *target, const char **suffix)
{
    const char *digits = strchr(target, '_');
    char *end = NULL;
    const unsigned long number = digits != NULL ? strtoul(digits + 1, &end, 10) : 0;
    *suffix = end != NULL ? end : "";
    return number;
}

/* A cubin does not always tell "a", and "f" stands in no more than a command line; PTX tells all. */
static bool contradicts(const struct dvi_image_facts *facts, const char *named)
{
    const char *suffix = NULL, *named_suffix = NULL;
    if (number_of(facts->target, &suffix) != number_of(named, &named_suffix))
        return true;
    if (facts->format == DEVIMG_FORMAT_PTX)
        return strcmp(suffix, named_suffix) != 0;
    return facts->suffix_known && (*suffix == 'a') != (*named_suffix == 'a');
}

enum devimg_status dvi_name_cuda_target(struct devimg_image *image, const struct dvi_placed *placed,
                                        const struct dvi_image_facts *facts, struct dvi_view bytes,
                                        struct devimg_error *err)
{
    image->target = facts->target;
    if (placed->arch == NULL)
        return DEVIMG_OK;
    /* an offload binary labels PTX with the GPU that it is for, as it labels cubins */
    if (placed->format != DEVIMG_FORMAT_UNKNOWN || facts->format == DEVIMG_FORMAT_CUBIN ||
        image->target == NULL)
        image->target = placed->arch;
    if (facts->target == NULL || !contradicts(facts, placed->arch))
        return DEVIMG_OK;
    return dvi_fail(err, DEVIMG_MALFORMED, bytes, 0, "%s entry for %s holds an image for %s",
                    image->bundle, placed->arch, facts->target);
}
