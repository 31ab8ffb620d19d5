/* SPDX-License-Identifier: Apache-2.0 */
#include "base/temporary.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPEN = 16 }; /* descriptors that walking may use */

enum devimg_status dvi_temporary_make(char **path, struct devimg_error *err)
{
    const char *under = getenv("TMPDIR");
    if (under == NULL || under[0] != '/')
        under = "/tmp";
    char *made = NULL;
    if (asprintf(&made, "%s/devimg-XXXXXX", under) < 0)
        return dvi_fail_memory(err, under);
    if (mkdtemp(made) == NULL) {
        const int problem = errno;
        free(made);
        return dvi_fail_plain(err, DEVIMG_IO, under, "no folder can be made here: %s",
                              strerror(problem));
    }
    *path = made;
    return DEVIMG_OK;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

enum devimg_status dvi_temporary_remove(char *path, struct devimg_error *err)
{
    if (path == NULL)
        return DEVIMG_OK;
    enum devimg_status st = DEVIMG_OK;
    if (nftw(path, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
        st = dvi_fail_plain(err, DEVIMG_IO, path, "cannot be removed: %s", strerror(errno));
    free(path);
    return st;
}
