/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of our own for what other programs read and leave behind; it goes with all it holds. */
#ifndef DVI_BASE_TEMPORARY_H
#define DVI_BASE_TEMPORARY_H

#include "base/view.h"

/** Make a folder under TMPDIR (else /tmp) that nobody else may enter; IO, NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_temporary_make(char **path, struct devimg_error *err);
/** Remove it with all it holds, no link followed, and free the path. NULL is fine; IO. */
DEVIMG_CHECKED enum devimg_status dvi_temporary_remove(char *path, struct devimg_error *err);

#endif
