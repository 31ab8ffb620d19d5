/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of sycl::aspect that an image requires. Of those that stand for a feature of kernels only
 * two never moved: intel/llvm sycl/include/sycl/info/aspects.def, fp16 is 5, fp64 is 6.
 */
#ifndef DVI_TARGET_ASPECTS_H
#define DVI_TARGET_ASPECTS_H

#include "devimg.h"

enum { DVI_ASPECT_FP16 = 5, DVI_ASPECT_FP64 = 6 };
/** The features that dvi_features_of_aspects() may tell of. */
enum { DVI_ASPECT_FEATURES = DEVIMG_FEATURE_FP16 | DEVIMG_FEATURE_FP64 };

/** Bits of devimg_feature; 0 where the image states no aspects. */
static inline uint32_t dvi_features_of_aspects(const struct devimg_image *image)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; image->aspects != NULL && i < image->aspect_count; i++) {
        if (image->aspects[i] == DVI_ASPECT_FP16)
            bits |= DEVIMG_FEATURE_FP16;
        else if (image->aspects[i] == DVI_ASPECT_FP64)
            bits |= DEVIMG_FEATURE_FP64;
    }
    return bits;
}

#endif
