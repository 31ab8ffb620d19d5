/* SPDX-License-Identifier: Apache-2.0 */
#include "base/temporary.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum devimg_status dvi_temporary_make_in(const char *above, struct dvi_temporary *out,
                                         struct devimg_error *err)
{
    static const char name[] = "/devimg-XXXXXX";
    char *path = malloc(strlen(above) + sizeof name);
    if (path == NULL)
        return dvi_fail_memory(err, above);
    (void)stpcpy(stpcpy(path, above), name);
    if (mkdtemp(path) == NULL) {
        const int problem = errno;
        free(path);
        return dvi_fail_plain(err, DEVIMG_IO, above, "no temporary folder can be made: %s",
                              strerror(problem));
    }
    out->path = path;
    return DEVIMG_OK;
}

enum devimg_status dvi_temporary_make(struct dvi_temporary *out, struct devimg_error *err)
{
    const char *above = getenv("TMPDIR");
    return dvi_temporary_make_in(above != NULL && above[0] != '\0' ? above : "/tmp", out, err);
}

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *at)
{
    (void)what;
    (void)kind;
    (void)at;
    return remove(path);
}

enum devimg_status dvi_temporary_remove(struct dvi_temporary *temporary, struct devimg_error *err)
{
    enum { MOST_OPEN = 16 };
    enum devimg_status status = DEVIMG_OK;
    if (temporary->path == NULL)
        return DEVIMG_OK;
    errno = 0;
    const bool removed =
        nftw(temporary->path, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0;
    const int problem = errno;
    if (!removed && problem == ENOMEM)
        status = dvi_fail_memory(err, temporary->path);
    else if (!removed && (access(temporary->path, F_OK) == 0 ||
                          errno != ENOENT)) /* what was run may have done so */
        status = dvi_fail_plain(err, DEVIMG_IO, temporary->path, "cannot be removed: %s",
                                strerror(problem));
    free(temporary->path);
    temporary->path = NULL;
    return status;
}
