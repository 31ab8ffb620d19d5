/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DVI_IMAGE_ZE_INFO_H
#define DVI_IMAGE_ZE_INFO_H

#include "image/image.h"

/**
 * The kernels of a `.ze_info` section (YAML). A number that the text leaves out is the default
 * where zeinfo.md gives one, and unknown where the version never wrote it.
 * MALFORMED: no YAML, nested or sized past what any compiler writes, a kernel without a name, or a
 * field that is no number, with its line; kernels before it are kept.
 * LIMIT: more kernels than the sink takes. NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_ze_info_kernels(struct dvi_view text,
                                                      struct dvi_kernel_sink *sink,
                                                      struct devimg_error *err);

#endif
