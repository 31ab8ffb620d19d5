/* SPDX-License-Identifier: Apache-2.0 */
/* Can this machine build a list of ahead-of-time targets? What is there, what is missing, and how to
 * get it. Everything is tried, not guessed from a version. */
#ifndef DVI_SYCL_DOCTOR_H
#define DVI_SYCL_DOCTOR_H

#include "sycl/targets.h"

enum dvi_doctor_part {
    DVI_DOCTOR_OCLOC,   /* the offline compiler is there, and starts */
    DVI_DOCTOR_VERSION, /* of it */
    DVI_DOCTOR_TARGETS, /* it knows each name of the list */
    DVI_DOCTOR_IGC,     /* the compiler libraries that it loads make a native image */
    DVI_DOCTOR_SYCL_LS,
    DVI_DOCTOR_ICPX,
    DVI_DOCTOR_ICX_CL,
    DVI_DOCTOR_CLANG, /* a clang++ that is DPC++ */
    DVI_DOCTOR_ACPP,
    DVI_DOCTOR_PARTS
};

enum dvi_doctor_state {
    DVI_DOCTOR_OK,
    DVI_DOCTOR_MISSING, /* it is not there */
    DVI_DOCTOR_BROKEN,  /* it is there, and fails, crashes or hangs */
    DVI_DOCTOR_WRONG,   /* it works, and is not what was asked for */
    DVI_DOCTOR_UNKNOWN, /* it cannot be told */
    DVI_DOCTOR_SKIPPED  /* not tried: what it needs is missing or broken */
};

struct dvi_doctor_row {
    enum dvi_doctor_state state;
    bool required;       /* anything but OK (or SKIPPED, for which another row fails) fails */
    const char *program; /* where it is; NULL: nowhere, or the row is of no program */
    const char *version; /* NULL: unknown, or the row is of no program */
    const char *text;    /* what was found, or why not */
    const char *remedy;  /* NULL: there is nothing to mend */
};

struct dvi_doctor_asked {
    const char *const *lists; /* of targets, as for dvi_sycl_targets_read() */
    size_t count;
    const char *ocloc, *sycl_ls; /* a name is looked up in PATH */
    const char *expect_ocloc;    /* its version, or the first numbers of it; NULL: any */
    unsigned required;           /* bit n: the part n */
    unsigned seconds;            /* that a program may take for one question */
};

/** Free with dvi_doctor_free(). */
struct dvi_doctor {
    struct dvi_arena arena;
    struct dvi_doctor_row rows[DVI_DOCTOR_PARTS];
    struct dvi_sycl_targets targets;
    bool asked;          /* ocloc was asked for each name, and is believed */
    size_t total, known; /* names of the list, and those that can be built for; `known`: if asked */
    const char *answer;  /* in one line */
    const char *expected;
    bool failed; /* a required part is not OK */
    DVI_LIST(const char *) warnings;
};

/** "ocloc", "version", "targets", "igc", "sycl-ls", "icpx", "icx-cl", "clang++", "acpp". */
extern const char *const dvi_doctor_names[DVI_DOCTOR_PARTS];
/** "ok", "missing", "broken", "wrong", "unknown", "skipped". */
const char *dvi_doctor_state_name(enum dvi_doctor_state state);
/** Does this row make the answer a failure? */
bool dvi_doctor_fails(const struct dvi_doctor_row *row);
/** Is `printed` the version `expected`, or does it begin with its numbers? "22.43" is 22.43.24595. */
bool dvi_doctor_version_is(const char *printed, const char *expected);

/**
 * Look for every part, in a temporary folder that is removed at the end.
 * @return OK, whatever is missing; NOMEM. Free `out` in any case.
 */
DEVIMG_CHECKED enum devimg_status dvi_doctor_examine(const struct dvi_doctor_asked *asked,
                                                     struct dvi_doctor *out,
                                                     struct devimg_error *err);
void dvi_doctor_free(struct dvi_doctor *doctor);

#endif
