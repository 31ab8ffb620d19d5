/* SPDX-License-Identifier: Apache-2.0 */
/* MD5: the hash that compressed clang offload bundles state. It proves nothing against forgery. */
#ifndef DVI_BASE_MD5_H
#define DVI_BASE_MD5_H

#include "base/view.h"

enum { DVI_MD5_SIZE = 16 };

void dvi_md5(struct dvi_view bytes, uint8_t out[DVI_MD5_SIZE]);

#endif
