/* SPDX-License-Identifier: Apache-2.0 */
/* Running another program: an argument vector, never a shell, under a time limit. */
#ifndef DVI_BASE_RUN_H
#define DVI_BASE_RUN_H

#include "base/view.h"

/** What a program printed, and how it ended. Free with dvi_ran_free(). */
struct dvi_ran {
    int exit_code;         /* -1: it did not end by itself */
    bool timed_out;        /* it was stopped, with all that it had started */
    bool cut;              /* it printed more than was kept */
    char *output, *errors; /* stdout and stderr, each with a NUL behind it */
    size_t output_size, errors_size;
};

/**
 * Run argv[0], found as a shell finds it, with `argv` (NULL at its end), nothing on its standard
 * input, and wait until it ends, for `seconds` at most. At most `most` bytes of each of its outputs
 * are kept; the rest is read and dropped.
 * @return IO: it cannot be started; NOMEM. However it ends, OK.
 */
DEVIMG_CHECKED enum devimg_status dvi_run(const char *const *argv, unsigned seconds, size_t most,
                                          struct dvi_ran *out, struct devimg_error *err);
/** The same in the folder `folder`, for programs that leave files where they run; argv[0] is a path
 *  from the root then. NULL: where this program runs. */
DEVIMG_CHECKED enum devimg_status dvi_run_in(const char *folder, const char *const *argv,
                                             unsigned seconds, size_t most, struct dvi_ran *out,
                                             struct devimg_error *err);
void dvi_ran_free(struct dvi_ran *ran);

/** The path from the root of the program that `name` starts: itself where it has a '/', else as
 *  PATH has it. NULL: there is none that may be run, or out of memory; free() it. */
char *dvi_program_path(const char *name);

#endif
