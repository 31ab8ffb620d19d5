/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which SYCL targets can be built and tested here: may a CPU target be added to the list (stage 1,
 * from what sycl-ls lists), and is CPU device code compiled (the gate, from the list alone)?
 * docs/command/sycl_detect.md has the truth table; docs/requirements.md S0.
 */
#ifndef DVI_SYCL_DETECT_H
#define DVI_SYCL_DETECT_H

#include "sycl/sycl_ls.h"

enum dvi_cpu_request { DVI_CPU_AUTO, DVI_CPU_NONE, DVI_CPU_NATIVE, DVI_CPU_SPIR64 };

/** "auto", "none", "native_cpu" or "spir64_x86_64", exactly; false: it is none of them. */
bool dvi_cpu_request_of(const char *text, enum dvi_cpu_request *out);

typedef DVI_LIST(const char *) dvi_text_list;

struct dvi_detect_options {
    const char *request; /* as the user wrote it; NULL: auto */
    const char *sycl_ls; /* the program */
    const char *folder;  /* where it runs; NULL: where we are */
    unsigned seconds;    /* it may take */
    bool exact;     /* only real CPU targets count for the gate, not "spir64" and "...cpu..." */
    bool gpus;      /* add the GPUs that sycl-ls lists */
    bool gate_only; /* no sycl-ls: stage 1 said `stage1` */
    bool stage1;
};

struct dvi_detection {
    dvi_text_list targets;
    dvi_text_list status, warnings, notes; /* lines, in the order they are to be said */
    struct dvi_sycl_ls listed;
    bool asked;          /* sycl-ls was run, and is believed */
    bool stage1;         /* a CPU target is there or was added, by request or by what is listed */
    bool has_cpu;        /* CPU device code is compiled */
    bool has_gpu;        /* some entry is a GPU's, or SPIR-V, which a GPU runs too */
    const char *matched; /* the entry that decided for a CPU; NULL */
    bool matched_cpu;    /* and it is a CPU target, not only one whose name looks like it */
};

/** A comma-separated list, as D8 has it: trimmed, empties dropped, in lower case; a name given again
 *  is dropped with a warning. A name of the tables ("bmg-g21", "xe-hpg") becomes the entries it
 *  stands for, with notes; one of no table and no known form is kept, with a warning.
 *  @return MALFORMED: not a name (dvi_sycl_is_plain()); LIMIT, NOMEM */
DEVIMG_CHECKED enum devimg_status dvi_detect_targets(struct dvi_detection *d, const char *list,
                                                     struct dvi_arena *arena,
                                                     struct devimg_error *err);

/** Both stages. Problems of sycl-ls are warnings. Texts are in the arena. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_detect(const struct dvi_detect_options *options,
                                             struct dvi_detection *d, struct dvi_arena *arena,
                                             struct devimg_error *err);
void dvi_detection_free(struct dvi_detection *d);

#endif
