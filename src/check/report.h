/* SPDX-License-Identifier: Apache-2.0 */
/* What a report holds: findings in their order, and the targets that they are found against. */
#ifndef DVI_CHECK_REPORT_H
#define DVI_CHECK_REPORT_H

#include "check/check.h"

/* A finding and what it is accepted by. */
struct dvi_item {
    struct devimg_finding finding;
    const char *key; /* line of a baseline; NULL: a note, which needs none */
    uint32_t rule, order;
};

struct dvi_ip_target {
    uint64_t ip;
    uint32_t target;
};

struct devimg_report {
    const struct devimg_policy *policy;
    struct dvi_arena arena;
    DVI_LIST(struct dvi_item) items;
    DVI_LIST(struct dvi_check_target) targets;
    DVI_LIST(struct dvi_ip_target) ips; /* sorted by IP version */
    DVI_LIST(struct dvi_ocloc_note) ocloc;
    DVI_LIST(struct dvi_ratchet_line) scratch; /* what kernels use, in the order met */
    uint64_t silent_images;                    /* native ones that state nothing of scratch */
    struct dvi_memory memory;
    bool finished;
    /* of the file that is checked */
    const struct dvi_check_input *in;
    const char *module_key; /* of the module `module_key_of` */
    uint32_t module_key_of;
    uint32_t rule;
    size_t first_item;
    uint64_t dropped[DVI_RULE_COUNT];
    enum devimg_severity dropped_severity[DVI_RULE_COUNT];
};

/** The targets of the policy with their IP versions; starts the ocloc of the policy, if any. */
DEVIMG_CHECKED enum devimg_status dvi_resolve_targets(struct devimg_report *report,
                                                      struct devimg_error *err);
/** Measure what zstd would make of the images that are raw or under another codec: struct
 *  dvi_check_input's `zstd_sizes`, one an image, which the caller frees. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_measure_zstd(struct devimg_file *file,
                                                   const struct dvi_check_input *in, uint64_t **out,
                                                   struct devimg_error *err);
/** The line of a baseline that stands for a finding of the file at hand; NULL: out of memory. */
const char *dvi_finding_key(struct devimg_report *report, const struct devimg_finding *f);

#endif
