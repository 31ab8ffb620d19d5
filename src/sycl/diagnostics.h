/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiler of device code says when it refuses: which kernel, and why. */
#ifndef DVI_SYCL_DIAGNOSTICS_H
#define DVI_SYCL_DIAGNOSTICS_H

#include "base/arena.h"

struct dvi_diagnostic {
    const char *kernel;      /* as the compiler names it; NULL: it names none */
    uint64_t sub_group_size; /* that the kernel asks for; DEVIMG_UNKNOWN: not said */
    const char *message;     /* one line, behind the place in the source where there is one */
};

struct dvi_diagnostics {
    DVI_LIST(struct dvi_diagnostic) list;
    bool first_only; /* IGC refuses one kernel, and ends there: others may be like it */
    bool cut;        /* there are more than DVI_MOST_DIAGNOSTICS */
};

enum { DVI_MOST_DIAGNOSTICS = 64 };

/**
 * Read the errors of a log, in its order, each once; what only says that there were errors is
 * passed over. A log without any gives its first line. Texts live in `arena`.
 * @return NOMEM. Free the list with DVI_LIST_FREE().
 */
DEVIMG_CHECKED enum devimg_status dvi_diagnostics_read(const char *log, struct dvi_arena *arena,
                                                       struct dvi_diagnostics *out,
                                                       struct devimg_error *err);

#endif
