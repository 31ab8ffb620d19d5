/* SPDX-License-Identifier: Apache-2.0 */
/* What an ocloc does in a folder: it writes where it runs. Its version, and what it makes of a
 * kernel. */
#ifndef DVI_SYCL_OCLOC_RUN_H
#define DVI_SYCL_OCLOC_RUN_H

#include "base/run.h"
#include "devimg.h"

enum { DVI_OCLOC_OUTPUT = 64 * 1024 }; /* bytes of what it prints that are kept */

/** The version that `ocloc query OCL_DRIVER_VERSION`, run in `folder`, wrote into a file there or
 *  printed; NULL: it tells none, or no memory. */
const char *dvi_ocloc_version(const char *folder, const struct dvi_ran *query,
                              struct dvi_arena *arena);

/** What one compile came to. Free with dvi_ocloc_made_free(). */
struct dvi_ocloc_made {
    struct dvi_ran ran;
    const char *format; /* of the native image that it made; NULL: it made none, or failed */
    bool not_seen;      /* what it made could not be looked at */
    uint64_t required_sub_group_size; /* of the image's only kernel; DEVIMG_UNKNOWN */
};

/** Write the OpenCL C that dvi_ocloc_compile() compiles into the folder. IO, NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_ocloc_write(const char *folder, const char *source,
                                                  struct devimg_error *err);
/**
 * Compile it for one target, in the folder, and look into what was made: exit status 0 alone proves
 * nothing.
 * @return IO: it cannot be started, or dvi_interrupted(); NOMEM. However it ends, OK.
 */
DEVIMG_CHECKED enum devimg_status dvi_ocloc_compile(const char *ocloc, const char *folder,
                                                    const char *target, unsigned seconds,
                                                    struct dvi_ocloc_made *out,
                                                    struct devimg_error *err);
void dvi_ocloc_made_free(struct dvi_ocloc_made *made);

#endif
