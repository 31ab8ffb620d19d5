/* SPDX-License-Identifier: Apache-2.0 */
#include "output/stamp.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum devimg_status fail(struct devimg_error *err, const char *path, const char *what)
{
    return dvi_fail_plain(err, DEVIMG_IO, path, "%s: %s", what, strerror(errno));
}

enum devimg_status dvi_stamp_remove(const char *path, struct devimg_error *err)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return DEVIMG_OK;
    return fail(err, path, "the old stamp cannot be removed");
}

/* As mkstemp() makes it, but with the rights that any other new file would have. */
static bool fill(int fd)
{
    static const char text[] = "devimg check: pass\n";
    const mode_t mask = umask(0);
    umask(mask);
    return fchmod(fd, (mode_t)(0666 & ~mask)) == 0 &&
           write(fd, text, sizeof text - 1) == (ssize_t)(sizeof text - 1);
}

enum devimg_status dvi_stamp_write(const char *path, struct devimg_error *err)
{
    char temporary[PATH_MAX];
    const int size = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (size < 0 || (size_t)size >= sizeof temporary) {
        errno = ENAMETOOLONG;
        return fail(err, path, "the stamp cannot be written");
    }
    const int fd = mkstemp(temporary);
    if (fd < 0)
        return fail(err, path, "the stamp cannot be written");
    const bool filled = fill(fd);
    if (close(fd) == 0 && filled && rename(temporary, path) == 0)
        return DEVIMG_OK;
    const enum devimg_status status = fail(err, path, "the stamp cannot be written");
    unlink(temporary);
    return status;
}
