/* SPDX-License-Identifier: Apache-2.0 */
/* The words that make a compiler build for a list of targets: one table of them a compiler. */
#ifndef DVI_SYCL_FLAGS_H
#define DVI_SYCL_FLAGS_H

#include "check/policy.h"
#include "sycl/targets.h"

enum dvi_sycl_compiler { DVI_SYCL_ICPX, DVI_SYCL_ACPP, DVI_SYCL_CLANG };
enum dvi_sycl_syntax { DVI_SYNTAX_GNU, DVI_SYNTAX_MSVC };
enum dvi_sycl_step { DVI_STEP_COMPILE, DVI_STEP_LINK, DVI_STEP_DEVICE_LINK, DVI_STEP_COUNT };

enum { DVI_COMPRESSION_LEVEL = 22 };

struct dvi_sycl_flags_asked {
    enum dvi_sycl_compiler compiler;
    enum dvi_sycl_syntax syntax;
    bool rdc;                /* relocatable device code: the images are made by the link */
    bool raw;                /* no compression */
    unsigned level;          /* of compression; 0: the default, and it was not asked for by name */
    bool strict_fp;          /* arithmetic in kernels as on the host */
    const char *targets;     /* NULL: those of the policy, else default-intel; no name: JIT only */
    const char *fallback;    /* NULL: that of the policy, else spir64; no name: none */
    const char *const *also; /* lists of further entries of -fsycl-targets */
    size_t also_count;
    const struct devimg_policy *policy; /* NULL: none */
    const char *unit;                   /* whose gaps leave targets out; NULL: of no unit */
    bool units_apart;                   /* without `unit`: each unit is asked for by itself */
};

struct dvi_sycl_words {
    DVI_LIST(const char *) list; /* each one argument of the compiler, also with blanks in it */
};

/** Free with dvi_sycl_flags_free(). */
struct dvi_sycl_flags {
    struct dvi_arena arena;
    struct dvi_sycl_targets targets; /* the whole list; `refused`: there are no words */
    struct dvi_sycl_words steps[DVI_STEP_COUNT];
    DVI_LIST(const char *) warnings;
};

/** Of one unit, where several were asked for. */
struct dvi_sycl_unit {
    const char *name;
    struct dvi_sycl_flags flags;
};

/**
 * @return OK, also with a list that is refused: `out->targets.refused`; UNSUPPORTED: the compiler
 *         cannot do what was asked, and `err` says why; MALFORMED: no such fallback, or no name in
 *         `also`; LIMIT: too many of them; NOMEM. Free
 *         `out` in any case.
 */
DEVIMG_CHECKED enum devimg_status dvi_sycl_flags_make(const struct dvi_sycl_flags_asked *asked,
                                                      struct dvi_sycl_flags *out,
                                                      struct devimg_error *err);
void dvi_sycl_flags_free(struct dvi_sycl_flags *flags);

#endif
