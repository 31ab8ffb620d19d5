/* SPDX-License-Identifier: Apache-2.0 */
/* What source_lint.c, source_expand.c and source_judge.c share while sources are looked at. */
#ifndef DVI_SYCL_SOURCE_LINTER_H
#define DVI_SYCL_SOURCE_LINTER_H

#include "base/walk.h"
#include "sycl/source_lint.h"

enum {
    DVI_SIZE_ROUNDS = 16,
    DVI_SIZE_TEXTS = 64,
    DVI_SIZE_EXPANSIONS = 10000,
    DVI_SIZE_ALL_EXPANSIONS = 2000000
}; /* macros inside each other; definitions */

/* A request in a macro with parameters, one of which it mentions. */
struct dvi_size_wrapper {
    const char *name; /* of the macro */
    const struct dvi_scope *macro;
    const struct dvi_size_request *request;
    uint32_t next; /* of the chain: 1 + its place; 0: none */
};

/* A TEMPLATE scope with a name that is looked for. */
struct dvi_size_default {
    size_t source;
    uint32_t scope;
};

struct dvi_size_linter {
    const struct dvi_size_lint_asked *asked;
    const struct devimg_policy *policy;
    struct dvi_size_lint *out;
    struct dvi_walk walk;
    struct dvi_walked *files; /* each once; the headers of the policy come last */
    bool *is_header;
    size_t count;
    struct dvi_source *sources;
    struct devimg_error **errors; /* of a source that could not be read */
    size_t *again;                /* sources to scan in this round */
    size_t again_count;
    DVI_LIST(struct dvi_source_word) words;
    struct dvi_source_words table;
    DVI_LIST(struct dvi_size_wrapper) wrappers;
    DVI_LIST(struct dvi_size_default) defaults;
    struct dvi_sources all;
    bool raw_denied, raw_asked; /* by the policy itself, not by what it names */
    size_t followed_until;      /* names that are handed on before this are those of a use */
    unsigned expansions;        /* of the request at hand, also inside each other */
    uint64_t all_expansions;
    uint64_t header_steps;   /* of the conditions of headers */
    uint32_t *wrapper_heads; /* chains of wrappers, by the hash of the macro's name */
    uint32_t wrapper_mask;
};

/** The expressions that one request stands for. */
struct dvi_size_texts {
    const char *items[DVI_SIZE_TEXTS];
    unsigned count;
    bool cut;
    bool follows; /* what a name stands for that the use hands on */
};

/** The macro with parameters that a request is in and whose parameters it mentions; NULL: none. */
const struct dvi_scope *dvi_size_wrapping(const struct dvi_source *source,
                                          const struct dvi_size_request *r);
/** Fill `wrappers` once all sources are scanned. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_size_find_wrappers(struct dvi_size_linter *l,
                                                         struct devimg_error *err);
/** The expressions that a use stands for: one, or those of the macro's definitions. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_size_expand(struct dvi_size_linter *l,
                                                  const struct dvi_size_request *use,
                                                  struct dvi_size_texts *out,
                                                  struct devimg_error *err);
/** Add a finding; its rule and what it is not are filled in. NOMEM, also without a message. */
DEVIMG_CHECKED enum devimg_status dvi_size_say(struct dvi_size_linter *l,
                                               const struct dvi_size_finding *what,
                                               struct devimg_error *err);
/** Hold the conditions of a header; `*found`: one was. LIMIT, NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_size_judge_header(struct dvi_size_linter *l, size_t source,
                                                        bool *found, struct devimg_error *err);
/** Judge every request, the headers' own checks, and the whole. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_size_judge(struct dvi_size_linter *l,
                                                 struct devimg_error *err);

#endif
