/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sub-group sizes that sources require, held to what every target of a list accepts: without a
 * compiler, without a device.
 */
#ifndef DVI_SYCL_SOURCE_LINT_H
#define DVI_SYCL_SOURCE_LINT_H

#include "check/policy.h"
#include "sycl/source_value.h"
#include "target/sizes.h"

struct dvi_size_lint_asked {
    const struct devimg_policy *policy;
    const char *const *paths; /* files, and folders whose sources are taken */
    size_t path_count;
    const char *commands; /* compile_commands.json, whose units are taken too; NULL: none */
    unsigned threads;     /* 0: the cores */
};

/** Something in a source, or, without one, of the whole. */
struct dvi_size_finding {
    struct devimg_finding finding;              /* rule "sycl-lint"; `offset` is in the source */
    size_t source;                              /* of dvi_size_lint.paths; SIZE_MAX: none */
    uint64_t line, column;                      /* from 1, bytes; 0: of the whole */
    const char *text;                           /* the size as it is spelled; or NULL */
    uint64_t size;                              /* DEVIMG_UNKNOWN: none */
    const struct devimg_target *const *targets; /* that refuse it, in the order of the list */
    uint32_t target_count;
};

/** A size that a source requires. */
struct dvi_size_seen {
    size_t source;
    uint64_t line, column, offset;
    const char *form, *name, *text; /* "attribute", "reqd_sub_group_size", "kSize" */
    const char *state;              /* "known", "parameter" or "unknown" */
    const int64_t *sizes;           /* of known */
    unsigned size_count;
};

struct dvi_size_unread {
    const char *path;
    struct devimg_error error;
};

/** Free with dvi_size_lint_free(). */
struct dvi_size_lint {
    struct dvi_arena arena;
    struct dvi_sizes sizes;
    const struct devimg_target *const *targets;
    size_t target_count;
    bool is_default;          /* no list was given, or an empty one: default-intel alone */
    uint32_t allowed;         /* bit n: 2^n is accepted by all; 0: none, or not known */
    bool listed, any;         /* the policy has sizes of its own, or takes any */
    bool not_known;           /* a target's sizes are in no table */
    const char *const *paths; /* of the sources that were looked for, in order, each once */
    size_t source_count;
    uint64_t request_count;   /* sizes that are required */
    uint64_t parameter_count; /* and those that a template's uses decide */
    DVI_LIST(struct dvi_size_seen) seen;
    DVI_LIST(struct dvi_size_finding) findings; /* by source, then by place; then of the whole */
    DVI_LIST(struct dvi_size_unread) unread;    /* files and folders that could not be read */
};

/**
 * @return OK, also with findings and unread files; MALFORMED, TRUNCATED, LIMIT, IO of `commands`;
 *         LIMIT; NOMEM. Free `out` in any case.
 */
DEVIMG_CHECKED enum devimg_status dvi_size_lint_run(const struct dvi_size_lint_asked *asked,
                                                    struct dvi_size_lint *out,
                                                    struct devimg_error *err);
void dvi_size_lint_free(struct dvi_size_lint *lint);

#endif
