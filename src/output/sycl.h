/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the `sycl` commands; each closes the FILE and returns the exit status. */
#ifndef DVI_OUTPUT_SYCL_H
#define DVI_OUTPUT_SYCL_H

#include "output/output.h"

struct dvi_gtest;
struct dvi_sycl_targets;

enum dvi_exit dvi_output_sycl_targets(struct dvi_output *out,
                                      const struct dvi_sycl_targets *targets);

enum dvi_exit dvi_output_sycl_gtest(struct dvi_output *out, const struct dvi_gtest *gtest);

#endif
