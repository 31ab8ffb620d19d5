/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a file whole or not at all. The only code that writes files. */
#ifndef DVI_BASE_WRITE_H
#define DVI_BASE_WRITE_H

#include <stdio.h>

#include "base/view.h"

/**
 * May `path` be replaced or removed? OK when there is nothing yet, or a regular file that is empty
 * or starts with `mark`, as every file that devimg writes does. IO for a device, a folder, and a
 * file of somebody else's: a slip on the command line must not cost a library.
 */
DEVIMG_CHECKED enum devimg_status dvi_file_is_ours(const char *path, const char *mark,
                                                   struct devimg_error *err);

/**
 * Write a file and put it in the place of `path`: at first beside it, then renamed, so that `path`
 * is there whole or as it was.
 * @param mark  how the content starts; see dvi_file_is_ours()
 * @param fill  writes the content; what the FILE itself failed at need not be told by it
 * @return what `fill` returns when that is not OK; DEVIMG_IO, DEVIMG_NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_file_replace(
    const char *path, const char *mark,
    enum devimg_status (*fill)(FILE *file, const void *context, struct devimg_error *err),
    const void *context, struct devimg_error *err);

#endif
