/* SPDX-License-Identifier: Apache-2.0 */
/* Which images could have been compressed and are not: the rules and the summary count the same. */
#ifndef DVI_CHECK_STORED_RAW_H
#define DVI_CHECK_STORED_RAW_H

#include <stdbool.h>

#include "devimg.h"

/**
 * True when a build should have compressed `image`, which is of `record`, and did not. Not so:
 * - fewer than 512 bytes, which clang-offload-wrapper never compresses (intel/llvm,
 *   --offload-compression-threshold);
 * - a member of an archive, which is compressed with it;
 * - bitcode, or SPIR-V in a bundle section, of an object that is not linked: the link makes the
 *   image, and compresses it;
 * - bitcode that link.exe left over: nothing reads it;
 * - an image that is the whole file: what carries it later compresses it;
 * - native_cpu: a table of host addresses, which cannot be compressed.
 */
bool dvi_is_stored_raw(const struct devimg_record *record, const struct devimg_image *image);
/** It lies in a bundle section or an offload binary of an object, for the device link to take. */
bool dvi_is_bundled(const struct devimg_image *image);
/** Bitcode that a program carries beside the images that its device link has made. */
bool dvi_is_left_over(const struct devimg_record *record, const struct devimg_image *image);
/** Bytes of the image, as stored where its own size is not stated. */
uint64_t dvi_size_of_image(const struct devimg_image *image);

#endif
