/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DVI_IMAGE_PATCHTOKEN_H
#define DVI_IMAGE_PATCHTOKEN_H

#include "image/image.h"

/** For images that hold a device binary in a wrapper of their own. */
extern const struct dvi_image_format dvi_image_patchtoken;

#endif
