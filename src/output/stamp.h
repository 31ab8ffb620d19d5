/* SPDX-License-Identifier: Apache-2.0 */
/* A file that exists exactly when the last check passed, for build systems. */
#ifndef DVI_OUTPUT_STAMP_H
#define DVI_OUTPUT_STAMP_H

#include "base/view.h"

/** Remove an old stamp before checking: whatever happens then, none is left over. */
DEVIMG_CHECKED enum devimg_status dvi_stamp_remove(const char *path, struct devimg_error *err);
/** Write it: first beside its place, then renamed, so that it is there whole or not at all. */
DEVIMG_CHECKED enum devimg_status dvi_stamp_write(const char *path, struct devimg_error *err);

#endif
