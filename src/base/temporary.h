/* SPDX-License-Identifier: Apache-2.0 */
/* A folder for files that programs need to run, and that nobody needs afterwards. */
#ifndef DVI_BASE_TEMPORARY_H
#define DVI_BASE_TEMPORARY_H

#include "base/view.h"

struct dvi_temporary {
    char *path; /* NULL: there is none */
};

/** Make a folder of our own in $TMPDIR, or /tmp; nobody else may look into it. IO, NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_temporary_make(struct dvi_temporary *out,
                                                     struct devimg_error *err);
/** The same inside the folder `above`. */
DEVIMG_CHECKED enum devimg_status dvi_temporary_make_in(const char *above,
                                                        struct dvi_temporary *out,
                                                        struct devimg_error *err);
/** Remove the folder and all in it; a link in it is removed, not followed. None is fine.
 *  @return IO: something is left, and `err` says where. */
DEVIMG_CHECKED enum devimg_status dvi_temporary_remove(struct dvi_temporary *temporary,
                                                       struct devimg_error *err);

#endif
