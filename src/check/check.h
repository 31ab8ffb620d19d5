/* SPDX-License-Identifier: Apache-2.0 */
/* How a rule sees a file, and how it says what it found. Rules see records, never raw bytes. */
#ifndef DVI_CHECK_CHECK_H
#define DVI_CHECK_CHECK_H

#include "base/compare.h"
#include "check/policy.h"

/** The records of one file. Indices inside them are places in these arrays. */
struct dvi_check_input {
    const struct devimg_record *const *records;
    const struct devimg_image *const *images;
    const struct devimg_module *const *modules;
    const struct devimg_kernel *const *kernels;   /* in the order of their images */
    const struct devimg_finding *const *findings; /* of reading */
    uint32_t record_count, image_count, module_count, kernel_count, finding_count;
    /* of each image: bytes that zstd would make of it, where the rule compression may ask, and of all
     * that are compressed together with it 0 but for the first; UNKNOWN elsewhere, and where it cannot
     * be told. NULL: nobody asks */
    const uint64_t *zstd_sizes;
};
enum {
    DVI_ZSTD_LEVEL = 3
}; /* of clang for HIP code, unless --offload-compression-level says more */

enum { DVI_MOST_IPS = 32 }; /* of one target; tools/gen_targets.py refuses more */

/** A target of the policy, with the IP versions that count as its own. */
struct dvi_check_target {
    const struct devimg_target *row;
    uint64_t ips[DVI_MOST_IPS]; /* now and formerly by the tables, or as --ocloc answers */
    size_t ip_count;
};

/** One file being checked. */
struct dvi_check {
    const struct devimg_policy *policy;
    const struct dvi_check_input *in;
    const struct dvi_check_target *targets; /* of the policy, in its order */
    size_t target_count;
    struct devimg_report *report;
};

struct dvi_rule {
    /* false: this policy asks nothing of the rule. NULL: always wanted */
    bool (*wanted)(const struct devimg_policy *policy);
    /* NULL: nothing to do for a file */
    enum devimg_status (*run)(struct dvi_check *check, struct devimg_error *err);
    /* after the last file; `in` has no records. NULL: nothing to do */
    enum devimg_status (*finish)(struct dvi_check *check, struct devimg_error *err);
};

struct dvi_rule_row {
    const char *name;
    const char *summary; /* what holds when the rule is silent */
    bool needs_kernels;
    const struct dvi_rule *rule;
};
/** DVI_RULE_COUNT rows, in the order of rules.def. */
extern const struct dvi_rule_row dvi_rules[];

enum { DVI_SHOWN_SIZE = 100 };
/** A kernel as a message names it: demangled, and where it is long, its start and "*": a pattern that
 *  a gap may have. */
void dvi_shown_kernel(const char *name, char out[DVI_SHOWN_SIZE]);

/** A finding with nothing said but the severity, code and record. */
struct devimg_finding dvi_finding_of(enum devimg_severity severity, const char *code,
                                     uint32_t record);
/** Add a finding of the rule that runs; its texts must outlive the report. LIMIT never: past a
 *  budget findings are counted and one of them says so. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_say(struct dvi_check *check,
                                          const struct devimg_finding *finding,
                                          struct devimg_error *err);
/** A message in the arena of the report; NULL: out of memory, which dvi_say then reports. */
const char *dvi_message(struct dvi_check *check, const char *format, ...) DVI_PRINTF(2, 3);

/** Code that a GPU runs as it is: zebin, patch tokens, AMDGPU, cubin. */
bool dvi_is_native(const struct devimg_image *image);
/** SPIR-V, PTX, and bitcode in an object that is not linked yet. */
bool dvi_is_portable(const struct dvi_check *check, const struct devimg_image *image);
/** For what a rule cannot tell because of it. */
extern const char dvi_hint_of_damage[];
/** A part of the file could not be read, so that what was found may not be all. */
bool dvi_is_partly_read(const struct dvi_check *check);
/** False: a support module, or one without kernels; it never needs coverage. Native images and
 *  SPIR-V whose kernels are not known may hold some. */
bool dvi_needs_coverage(const struct dvi_check *check, const struct devimg_module *module);
/** The same, and bitcode and code for the host's CPU count like native images. */
bool dvi_may_have_kernels(const struct dvi_check *check, const struct devimg_module *module);
/**
 * CUDA: what a device link made; where it holds nothing for a GPU, the runtime links its inputs once
 * more, if all of them do. They need no coverage of their own.
 */
bool dvi_is_link_result(const struct dvi_check *check, const struct devimg_module *module);
/** The first such input among the record's modules from `module` on, which counts from its first;
 *  the record's module_count: none. */
uint32_t dvi_next_link_input(const struct dvi_check *check, const struct devimg_record *record,
                             uint32_t module);
/** Does it hold AdaptiveCpp's generic IR, which its runtime compiles? */
bool dvi_is_generic_ir(const struct dvi_check *check, const struct devimg_module *module);
/** Say it, once a record, where device code stands in another file that was not read. */
DEVIMG_CHECKED enum devimg_status dvi_say_elsewhere(struct dvi_check *check, bool *said,
                                                    struct devimg_error *err);
/** The offload kind of its first image; UNKNOWN where it has none. */
enum devimg_offload dvi_offload_of(const struct dvi_check *check,
                                   const struct devimg_module *module);
/** True when the native image is one for `target`: it states an IP version that counts as the
 *  target's (see dvi_check_target), or only the family that the target is of. */
bool dvi_image_serves(const struct dvi_check *check, const struct devimg_image *image,
                      const struct devimg_target *target);
/** Call `take` with the place in check->targets of each target that the native image serves. */
void dvi_targets_served(const struct dvi_check *check, const struct devimg_image *image,
                        void (*take)(void *context, size_t target), void *context);

/** Warn, without a record, of names that stand twice in a list of the policy; `key` is the list's.
 */
DEVIMG_CHECKED enum devimg_status dvi_say_repeated(struct dvi_check *check, const char *key,
                                                   const struct dvi_target_set *set,
                                                   struct devimg_error *err);

/** "a, b and 3 more": kernels of a module, cut to a readable size. `out` holds 256 bytes. */
enum { DVI_NAMES_SIZE = 256 };
void dvi_names_of(const struct devimg_module *module, char out[DVI_NAMES_SIZE]);
/** "bmg-g21, lnl-m and 3 more". */
void dvi_rows_text(const struct devimg_target *const *rows, size_t count, char out[DVI_NAMES_SIZE]);

/** The gap that covers this, or NULL; remembers that it was needed. `matches` holds one byte a gap
 *  of the policy, all 0 when the module changes. */
const struct dvi_gap *dvi_gap_for(struct dvi_check *check, const struct devimg_module *module,
                                  const struct devimg_target *target, unsigned char *matches);

/** What checking remembers of the policy from file to file. */
struct dvi_memory {
    unsigned char **gap_needed; /* [gap][its target]: 1 when it covered something */
    struct dvi_gap_use {
        bool matched;        /* some module is one that the pattern is about */
        const char *nearest; /* else the name that lies nearest to it; NULL: none is near */
        size_t distance;
    } * gap_use; /* a gap each */
    struct dvi_ratchet_use {
        uint64_t seen[DVI_RATCHET_COUNT]; /* the most that was met */
        bool is_stated[DVI_RATCHET_COUNT];
        bool used;
    } * ratchet;        /* a ratchet line each */
    uint32_t *accepted; /* a baseline line each: findings it accepted */
    uint32_t file_count;
    struct dvi_ocloc_note { /* what asking ocloc came to */
        const char *code, *target, *message, *hint;
        enum devimg_severity severity;
    } * ocloc;
    size_t ocloc_count;
};
struct dvi_memory *dvi_memory_of(const struct dvi_check *check);

/** Keep what a kernel uses, for devimg_report_write_ratchet(): see ratchet_write.c. Names are copied.
 *  NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_ratchet_keep(struct dvi_check *check, const char *kernel,
                                                   const char *target, const uint64_t *sizes,
                                                   const bool *is_stated, struct devimg_error *err);
/** And that an image states nothing of its kernels. */
void dvi_ratchet_keep_silent(struct dvi_check *check);

/** devimg_report_add() for records at hand. */
DEVIMG_CHECKED enum devimg_status dvi_report_add_input(struct devimg_report *report,
                                                       const struct dvi_check_input *in,
                                                       uint32_t *first, uint32_t *count,
                                                       struct devimg_error *err);
/** True when a rule that this policy asks for looks at kernels. */
bool dvi_policy_needs_kernels(const struct devimg_policy *policy);

#endif
