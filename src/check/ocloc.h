/* SPDX-License-Identifier: Apache-2.0 */
/* Asking an ocloc which device IP versions a name stands for. The only program check starts. */
#ifndef DVI_CHECK_OCLOC_H
#define DVI_CHECK_OCLOC_H

#include "check/check.h"

enum { DVI_OCLOC_SECONDS = 60 };

struct dvi_ocloc_answer {
    uint64_t ips[DVI_MOST_IPS]; /* arch << 22 | release << 14 | revision */
    size_t ip_count;            /* 0: it does not know the name, or gave no answer */
    bool timed_out;             /* it was stopped after `seconds` */
    int exit_code;              /* -1: ended by a signal */
};

/**
 * Run `PROGRAM ids NAME` with an argument vector and nothing on its standard input.
 * @return DEVIMG_OK also when it fails or knows no such name; DEVIMG_IO when it cannot be started;
 *         DEVIMG_LIMIT past DVI_MOST_IPS versions.
 */
DEVIMG_CHECKED enum devimg_status dvi_ocloc_ask(const char *program, const char *name,
                                                unsigned seconds, struct dvi_ocloc_answer *out,
                                                struct devimg_error *err);

#endif
