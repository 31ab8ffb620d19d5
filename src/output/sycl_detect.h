/* SPDX-License-Identifier: Apache-2.0 */
/* What `devimg sycl detect` prints, and the files that it writes. */
#ifndef DVI_OUTPUT_SYCL_DETECT_H
#define DVI_OUTPUT_SYCL_DETECT_H

#include "output/output.h"
#include "sycl/detect.h"

/** Warnings go to stderr in text, and into the document in JSON. */
void dvi_output_detection(struct dvi_output *out, bool json, const struct dvi_detection *d);

enum dvi_detect_file { DVI_DETECT_HEADER, DVI_DETECT_CMAKE, DVI_DETECT_MESON, DVI_DETECT_PYTHON };
/**
 * Write a file that a build reads. One that holds the same already is left as it is, so that
 * nothing is built anew.
 * @param prefix  of the macros and variables: an identifier
 * @return IO, NOMEM; see dvi_file_replace().
 */
DEVIMG_CHECKED enum devimg_status dvi_output_detect_file(const char *path,
                                                         enum dvi_detect_file kind,
                                                         const char *prefix,
                                                         const struct dvi_detection *d,
                                                         struct devimg_error *err);

#endif
