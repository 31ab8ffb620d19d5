/* SPDX-License-Identifier: Apache-2.0 */
/* Files that another file names. */
#ifndef DVI_BASE_BESIDE_H
#define DVI_BASE_BESIDE_H

#include "base/file.h"

/**
 * Open the regular file `name`, relative to the folder that `path` lies in, which it never leaves.
 * @param shown  for messages; must outlive the file
 * @return DEVIMG_IO, also for an absolute name, one with "..", and one that leads over a link.
 */
DEVIMG_CHECKED enum devimg_status dvi_file_open_beside(const char *path, const char *name,
                                                       const char *shown, bool read_whole,
                                                       struct dvi_file *out,
                                                       struct devimg_error *err);

#endif
