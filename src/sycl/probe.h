/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sub-group sizes and fp64, measured with an ocloc and compared with the tables. */
#ifndef DVI_SYCL_PROBE_H
#define DVI_SYCL_PROBE_H

#include "sycl/targets.h"

enum { DVI_PROBE_SECONDS = 120 };

enum dvi_probe_result {
    DVI_PROBE_ACCEPTED,  /* an image was made that keeps to what the kernel asks for */
    DVI_PROBE_REFUSED,   /* ocloc says that the target cannot */
    DVI_PROBE_UNMEASURED /* anything else: `text` says what */
};

/** One kernel for one target. */
struct dvi_probe_kernel {
    uint32_t size; /* that it requires; 0: none, it uses double */
    enum dvi_probe_result result;
    const char *text; /* ocloc's words, or why there is no result; NULL where it is accepted */
};

enum dvi_probe_state {
    DVI_PROBE_AGREES,  /* what was measured is what the tables say */
    DVI_PROBE_DIFFERS, /* it is not */
    DVI_PROBE_NEW,     /* measured, and the tables do not say */
    DVI_PROBE_UNKNOWN, /* to this ocloc: nothing was measured, nothing is guessed */
    DVI_PROBE_FAILED,  /* something could not be measured; what could agrees, or is new */
    DVI_PROBE_STATES
};

struct dvi_probe_target {
    const char *name;
    const struct devimg_target *row; /* NULL: no table has the name */
    enum dvi_probe_state state;
    uint64_t ip_version;     /* as this ocloc answers; DEVIMG_UNKNOWN */
    bool former_ip;          /* one that the tables give for older releases */
    uint32_t sizes;          /* accepted, bit n for 2^n */
    uint32_t known_sizes;    /* accepted or refused */
    enum devimg_answer fp64; /* MAYBE: not measured */
    struct dvi_probe_kernel *kernels;
    size_t kernel_count; /* 0: it was not compiled for */
    const char *text;    /* what differs, is new or could not be measured; NULL: nothing to say */
};

struct dvi_probe_asked {
    const char *const *lists; /* of targets; names that no table has are asked for as well */
    size_t count;
    const char *ocloc; /* a name is looked up in PATH */
    uint32_t sizes;    /* bit n for 2^n */
    unsigned seconds;  /* that ocloc may take for a question or a kernel */
    unsigned threads;
    bool all; /* a name that this ocloc does not know is a failure */
};

/** Free with dvi_probe_free(). */
struct dvi_probe {
    struct dvi_arena arena;
    const char *ocloc;   /* where it is */
    const char *version; /* NULL: it tells none */
    uint32_t sizes;
    DVI_LIST(struct dvi_probe_target) targets;
    DVI_LIST(const char *) warnings;
    size_t counts[DVI_PROBE_STATES];
    bool
        failed; /* something differs or could not be measured, nothing was measured, or nobody knows a
                    name */
};

/** "agrees", "differs", "new", "unknown", "unmeasured". */
const char *dvi_probe_state_name(enum dvi_probe_state state);
/** "accepted", "refused", "unmeasured". */
const char *dvi_probe_result_name(enum dvi_probe_result result);

/**
 * What the words of an ocloc that failed mean: that the target cannot do what the kernel asks for,
 * or something else.
 * @param size  that it requires; 0: it uses double
 */
bool dvi_probe_is_refusal(const char *words, uint32_t size);

/**
 * Measure each target alone, in temporary folders that are removed.
 * @return OK, whatever was measured; IO: no ocloc, it cannot be started, or does not answer as one,
 *         or dvi_interrupted(); MALFORMED: a name that cannot be one; NOMEM. Free `out` in any case.
 */
DEVIMG_CHECKED enum devimg_status dvi_probe_run(const struct dvi_probe_asked *asked,
                                                struct dvi_probe *out, struct devimg_error *err);
void dvi_probe_free(struct dvi_probe *probe);

#endif
