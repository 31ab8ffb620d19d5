/* SPDX-License-Identifier: Apache-2.0 */
/* Running another program: an argument vector, never a shell, under a time limit. */
#ifndef DVI_BASE_RUN_H
#define DVI_BASE_RUN_H

#include "base/arena.h"

/** What a program printed, and how it ended. Free with dvi_ran_free(). */
struct dvi_ran {
    int exit_code;         /* -1: it did not end by itself */
    bool timed_out;        /* it was stopped */
    bool cut;              /* it printed more than was kept */
    char *output, *errors; /* stdout and stderr, each with a NUL behind it */
    size_t output_size, errors_size;
};

/**
 * Run argv[0], found as a shell finds it, with `argv` (NULL at its end), nothing on its standard
 * input, and wait until it ends, for `seconds` at most. At most `most` bytes of each of its outputs
 * are kept; the rest is read and dropped. What it started is stopped when it has ended. A signal
 * that would end this program stops it, too, before it does: see base/interrupt.h.
 * @return IO: it cannot be started, or dvi_interrupted(); NOMEM. However it ends, OK.
 */
DEVIMG_CHECKED enum devimg_status dvi_run(const char *const *argv, unsigned seconds, size_t most,
                                          struct dvi_ran *out, struct devimg_error *err);
/** The same in a folder; NULL: where we are. A relative path of argv[0] is relative to it. */
DEVIMG_CHECKED enum devimg_status dvi_run_in(const char *folder, const char *const *argv,
                                             unsigned seconds, size_t most, struct dvi_ran *out,
                                             struct devimg_error *err);
/** The same where we are, with an environment of its own ("NAME=value", NULL at its end). */
DEVIMG_CHECKED enum devimg_status dvi_run_with(const char *const *environment,
                                               const char *const *argv, unsigned seconds,
                                               size_t most, struct dvi_ran *out,
                                               struct devimg_error *err);
void dvi_ran_free(struct dvi_ran *ran);

/** What a program wrote, in one line of `most` bytes at most; NULL: no memory. */
const char *dvi_said(const char *text, size_t most, struct dvi_arena *arena);

/** What it wrote, on both outputs, in one line behind ": "; "" where it wrote nothing; NULL: no
 *  memory. */
const char *dvi_ran_words(const struct dvi_ran *ran, struct dvi_arena *arena);
/** How a run of `seconds` at most ended other than well: "WHAT: exit status 3: its words"; NULL: no
 *  memory. */
const char *dvi_ran_ended(const struct dvi_ran *ran, const char *what, unsigned seconds,
                          struct dvi_arena *arena);

/**
 * Where a program is: a name is looked up in PATH, a path made absolute; links are not followed.
 * @return IO: there is none, or it may not be run; NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_find_program(const char *name, struct dvi_arena *arena,
                                                   const char **out, struct devimg_error *err);

#endif
