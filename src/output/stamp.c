/* SPDX-License-Identifier: Apache-2.0 */
#include "output/stamp.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/write.h"

static const char mark[] = "devimg check: pass";

enum devimg_status dvi_stamp_remove(const char *path, struct devimg_error *err)
{
    DVI_TRY(dvi_file_is_ours(path, mark, err));
    if (unlink(path) == 0 || errno == ENOENT)
        return DEVIMG_OK;
    return dvi_fail_plain(err, DEVIMG_IO, path, "the old stamp cannot be removed: %s",
                          strerror(errno));
}

static enum devimg_status fill(FILE *file, const void *context, struct devimg_error *err)
{
    (void)context;
    (void)err;
    fprintf(file, "%s\n", mark);
    return DEVIMG_OK;
}

enum devimg_status dvi_stamp_write(const char *path, struct devimg_error *err)
{
    return dvi_file_replace(path, mark, fill, NULL, err);
}
