/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DVI_IMAGE_SPIRV_H
#define DVI_IMAGE_SPIRV_H

#include "image/image.h"

/** For images that hold a SPIR-V module in a wrapper of their own. */
extern const struct dvi_image_format dvi_image_spirv;

#endif
