/* SPDX-License-Identifier: Apache-2.0 */
/* Which images of a file to take. */
#ifndef DVI_EDIT_SELECT_H
#define DVI_EDIT_SELECT_H

#include "target/target.h"

/** What an image must be; every part that is there must hold. */
struct dvi_selection {
    const struct dvi_target_set *targets; /* NULL: any */
    const char *format;                   /* its name; NULL: any */
    const char *kernel; /* pattern of a kernel that it holds, mangled or not; NULL: any. The kernels
                           of the file must have been read */
    DVI_LIST(uint32_t) indices; /* within a record; empty: any */
    bool whole; /* the stored image instead of what it holds: an archive, not its members */
};

/**
 * Set `wanted`, a byte an image of the file, to 1 for those that are selected, else to 0. Of an
 * archive its members are taken, unless it is selected by its index or holds none.
 */
DEVIMG_CHECKED enum devimg_status dvi_select(const struct devimg_file *file,
                                             const struct dvi_selection *selection, uint8_t *wanted,
                                             struct devimg_error *err);

#endif
