/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is held to: the keys of a policy file or of the command line, parsed. */
#ifndef DVI_CHECK_POLICY_H
#define DVI_CHECK_POLICY_H

#include "target/target.h"

/** The rules, in the order in which their findings stand. */
enum dvi_rule_index {
#define DVI_RULE(id, name, needs_kernels, summary) DVI_RULE_##id,
#include "check/rules.def"
#undef DVI_RULE
    DVI_RULE_COUNT
};

/** What `rules: {NAME: ...}` says of one rule. */
enum dvi_rule_setting {
    DVI_SETTING_DEFAULT, /* as the other keys have it */
    DVI_SETTING_OFF,
    DVI_SETTING_ON,
    DVI_SETTING_ERROR,   /* on; its errors and warnings are errors */
    DVI_SETTING_WARNING, /* on; its errors and warnings are warnings */
    DVI_SETTING_NOTE     /* on; its errors and warnings are notes */
};

/** A key with a word for a value. */
enum dvi_choice {
    DVI_CHOICE_UNSET,
    DVI_CHOICE_ANY,    /* any, allow */
    DVI_CHOICE_STRICT, /* required, deny, targets, none */
    DVI_CHOICE_LISTED  /* sub-group-sizes: the sizes themselves */
};

/** Images known to be missing. */
struct dvi_gap {
    bool by_unit;        /* `pattern` is matched with the unit, else with every kernel name */
    const char *pattern; /* glob: * ? [a-z] */
    struct dvi_target_set without;
    const char *reason;
};

enum { DVI_RATCHET_PRIVATE, DVI_RATCHET_SPILL, DVI_RATCHET_BUFFER, DVI_RATCHET_COUNT };

/** A line of a ratchet file: how much scratch a kernel may still use, in bytes. */
struct dvi_ratchet_line {
    const char *kernel, *target; /* target canonical, or "*" */
    uint64_t most[DVI_RATCHET_COUNT];
    bool is_unknown[DVI_RATCHET_COUNT]; /* "-": not stated when it was written; `most` is 0 */
    uint32_t line;                      /* from 1 */
};
struct dvi_ratchet {
    const char *path;                        /* NULL: none */
    bool is_missing;                         /* there is no such file: no lines */
    DVI_LIST(struct dvi_ratchet_line) lines; /* sorted by kernel, then target */
};

/** A line of a baseline file; equal lines are one entry. */
struct dvi_baseline_line {
    const char *key;
    uint32_t count;
    uint32_t line; /* of the first one, from 1 */
};
struct dvi_baseline {
    const char *path;                         /* NULL: none */
    bool is_missing;                          /* there is no such file: no lines */
    DVI_LIST(struct dvi_baseline_line) lines; /* sorted by key */
};

/** How many bytes of device code there may be. */
struct dvi_budget {
    const struct devimg_target *target; /* NULL: all device code, as it stands in the file */
    uint64_t most;
};

/** What one compile line asks for. */
struct dvi_promise {
    const char *unit; /* last component of the source file's path */
    struct dvi_target_set targets;
    bool compress; /* --offload-compress */
};
struct dvi_promises {
    const char *path; /* NULL: none */
    DVI_LIST(struct dvi_promise)
    units; /* sorted by unit; a name of several lines stands once,
              with what each of them asks for */
};

/** A macro or template of sources whose argument is a sub-group size. */
struct dvi_lint_word {
    const char *name;
    uint32_t argument; /* from 1 */
};
/** A macro that the compiler's command line defines. */
struct dvi_lint_define {
    const char *name, *value;
};
/** What `devimg sycl lint` holds sources to. */
struct dvi_lint_policy {
    DVI_LIST(struct dvi_lint_word) macros;
    DVI_LIST(struct dvi_lint_word) templates;
    DVI_LIST(struct dvi_lint_define) defines;
    DVI_LIST(const char *) headers; /* that may spell attributes and properties */
    enum dvi_choice raw;            /* STRICT: nothing else may */
    uint64_t expected;              /* requests, at least */
};

struct devimg_policy {
    struct dvi_arena arena;
    struct dvi_lint_policy lint;
    bool has_targets; /* the key was given; the list may be empty */
    struct dvi_target_set targets;
    struct dvi_target_set fallback;
    enum dvi_choice compression, extra_targets, sub_group_sizes, features, scratch, duplicates;
    DVI_LIST(struct dvi_budget) budgets; /* one a target, in the order written */
    uint32_t listed_sizes;               /* sub-group-sizes as a list: bit n for 2^n */
    DVI_LIST(struct dvi_gap) gaps;
    enum dvi_rule_setting rules[DVI_RULE_COUNT];
    struct dvi_ratchet ratchet;
    struct dvi_baseline baseline;
    struct dvi_promises promises;
    const char *ocloc; /* NULL: the tables are not questioned */
};

/** Where a value stands, for errors. */
struct dvi_spot {
    const char *source;
    uint64_t line, column; /* from 1; 0: not in a file */
    uint64_t offset;       /* bytes from the start of the file, or DEVIMG_UNKNOWN */
    const char *folder;    /* relative paths start here; NULL: where the program runs */
};

/** MALFORMED at `spot`: "line 3, column 7: ...". */
enum devimg_status dvi_refuse(struct devimg_error *err, const struct dvi_spot *spot,
                              const char *format, ...) DVI_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* as base/view.h does for its own */
#define dvi_refuse(err, ...) (dvi_refuse(err, __VA_ARGS__), DEVIMG_MALFORMED)
#endif

/** OK when there is such a key, else MALFORMED with the nearest one. */
DEVIMG_CHECKED enum devimg_status dvi_policy_check_key(const char *key, const struct dvi_spot *spot,
                                                       struct devimg_error *err);
/** One key with the value as it would stand on the command line. */
DEVIMG_CHECKED enum devimg_status dvi_policy_set_at(struct devimg_policy *policy, const char *key,
                                                    const char *value, const struct dvi_spot *spot,
                                                    struct devimg_error *err);
/** Add a gap; `without` is a comma-separated list. */
DEVIMG_CHECKED enum devimg_status dvi_policy_add_gap(struct devimg_policy *policy, bool by_unit,
                                                     const char *pattern, const char *without,
                                                     const char *reason,
                                                     const struct dvi_spot *spot,
                                                     struct devimg_error *err);

/** Whether the policy asks something of images and kernels: damage and registration are looked at
 *  without it, and what only accepts (gaps, a baseline) asks nothing. */
bool dvi_policy_asks(const struct devimg_policy *policy);

/** True for a gap of units whose pattern matches the unit, with all of its folders, the last of them, or none. */
bool dvi_gap_has_unit(const struct dvi_gap *gap, const char *unit);

DEVIMG_CHECKED enum devimg_status dvi_ratchet_load(struct dvi_ratchet *out, const char *path,
                                                   struct dvi_arena *arena,
                                                   struct devimg_error *err);
/** The order of lines, by kernel and target; for qsort(). */
int dvi_ratchet_compare(const void *a, const void *b);
/** The name by which a ratchet file calls a target; NULL: no table has it. */
const char *dvi_ratchet_target(const char *target);
/** The line for a kernel on a target, the target's own before "*", the name as the image has it
 *  before the demangled one; NULL: none. */
const struct dvi_ratchet_line *dvi_ratchet_find(const struct dvi_ratchet *ratchet,
                                                const char *kernel, const char *target);
DEVIMG_CHECKED enum devimg_status dvi_baseline_load(struct dvi_baseline *out, const char *path,
                                                    struct dvi_arena *arena,
                                                    struct devimg_error *err);
/** The entry with this key, or NULL. */
const struct dvi_baseline_line *dvi_baseline_find(const struct dvi_baseline *baseline,
                                                  const char *key);
DEVIMG_CHECKED enum devimg_status dvi_promises_load(struct dvi_promises *out, const char *path,
                                                    struct dvi_arena *arena,
                                                    struct devimg_error *err);
void dvi_promises_free(struct dvi_promises *promises);
/** What the compile lines of a unit ask for, or NULL; `unit` may have folders. */
const struct dvi_promise *dvi_promise_of(const struct dvi_promises *promises, const char *unit);

#endif
