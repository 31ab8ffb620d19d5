/* SPDX-License-Identifier: Apache-2.0 */
/* What a module of LLVM bitcode says of its target. */
#ifndef DVI_IMAGE_BITCODE_H
#define DVI_IMAGE_BITCODE_H

#include "base/view.h"

enum { DVI_TRIPLE_SIZE = 128 };

/** The target triple into `out`, of `size` bytes; false: it could not be read. */
bool dvi_bitcode_triple(struct dvi_view v, char *out, size_t size);
/** No triple of a device: the module is a host's, or device code that is not finished for one. */
bool dvi_bitcode_is_for_host(const char *triple);

#endif
