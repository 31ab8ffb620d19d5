/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of LLVM bitcode, and what a module in it says of its target. */
#ifndef DVI_OBJECT_BITCODE_H
#define DVI_OBJECT_BITCODE_H

#include "base/view.h"

enum { DVI_TRIPLE_SIZE = 128 };

/** A stream, or the wrapper of one, starts `v`. */
bool dvi_bitcode_match(struct dvi_view v);
/** From `v`'s first byte to the end of its blocks. TRUNCATED: they go on past `v`. */
DEVIMG_CHECKED enum devimg_status dvi_bitcode_extent(struct dvi_view v, struct dvi_view *out,
                                                     struct devimg_error *err);
/** The target triple into `out`, of `size` bytes; false: it could not be read. */
bool dvi_bitcode_triple(struct dvi_view v, char *out, size_t size);
/** No triple of a device: the module is a host's, or device code that is not finished for one. */
bool dvi_bitcode_is_for_host(const char *triple);

#endif
