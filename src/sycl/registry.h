/* SPDX-License-Identifier: Apache-2.0 */
/* How many device images and entries a program registers with the SYCL runtime at start-up. */
#ifndef DVI_SYCL_REGISTRY_H
#define DVI_SYCL_REGISTRY_H

#include "base/arena.h"

/** DEVIMG_UNKNOWN: it cannot be told. */
struct dvi_registered {
    uint64_t descriptors, images, entries;
};

/** One object: a program, a library, or a member of an archive. */
struct dvi_registry_row {
    const char *path;
    const struct devimg_record *record; /* NULL: of a run */
    struct dvi_registered registered;
    uint64_t present; /* SYCL images that lie in it; DEVIMG_UNKNOWN: of a run */
    const char *code; /* what it comes to, for scripts: see docs/command/sycl_registry.md */
    bool good;        /* all that is there is registered, as far as all of it is known */
    const char *why;  /* NULL: `registered` says it */
    const char *hint; /* NULL: nothing */
};

/** What was run. */
struct dvi_registry_program {
    const char *path;
    const char *ended; /* other than well: "prog: exit status 3"; NULL: well */
    int exit_status;   /* -1: it did not end by itself */
    bool timed_out;
    bool is_library; /* it was loaded by a program of devimg's */
    unsigned more;   /* further programs that it started and that register images, too */
};

struct dvi_registry {
    DVI_LIST(struct dvi_registry_row) rows;
    struct dvi_registered total;
    const struct dvi_registry_program *program; /* NULL: nothing was run */
    const char *unknown; /* of a run: why its counts are not known; NULL: they are */
    const char *hint;    /* then */
};
void dvi_registry_free(struct dvi_registry *registry);

/** The counts of a file, from its bytes alone. The file must outlive them; text is in `arena`.
 *  @return NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_registry_read(const struct devimg_file *file,
                                                    const char *path, struct dvi_arena *arena,
                                                    struct dvi_registry *out,
                                                    struct devimg_error *err);

/**
 * Run argv[0], a program or a shared library, with `argv` (NULL at its end), for `seconds` at most,
 * and count what it registers.
 * @return IO: it cannot be started, or a file of devimg's is missing; NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_registry_run(const char *const *argv, unsigned seconds,
                                                   struct dvi_arena *arena,
                                                   struct dvi_registry *out,
                                                   struct devimg_error *err);

/** The sum of two counts; unknown where one is. */
void dvi_registered_add(struct dvi_registered *sum, const struct dvi_registered *more);

#endif
