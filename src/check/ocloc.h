/* SPDX-License-Identifier: Apache-2.0 */
/* Asking an ocloc which device IP versions a name stands for. The only program check starts. */
#ifndef DVI_CHECK_OCLOC_H
#define DVI_CHECK_OCLOC_H

#include "check/check.h"

enum { DVI_OCLOC_SECONDS = 60 };

struct dvi_ocloc_answer {
    uint64_t ips[DVI_MOST_IPS]; /* arch << 22 | release << 14 | revision */
    size_t ip_count;            /* 0: it does not know the name, or `no_answer` */
    bool no_answer; /* it was started, and neither names an IP version nor says "unknown" */
};

/**
 * Run `PROGRAM ids NAME` with an argument vector, nothing on its standard input, in `folder` (NULL:
 * where we are).
 * @return OK, also when it knows no such name; IO: it cannot be started, or gives no answer that can
 *         be believed (a time limit, a crash, more than any ocloc prints, no ocloc at all); NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_ocloc_ids(const char *program, const char *folder,
                                                const char *name, unsigned seconds,
                                                struct dvi_ocloc_answer *out,
                                                struct devimg_error *err);

#endif
