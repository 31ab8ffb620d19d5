/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines of a SYCL build, judged: what the compiler would ignore or drop in silence. */
#ifndef DVI_SYCL_FLAGS_LINT_H
#define DVI_SYCL_FLAGS_LINT_H

#include "base/arena.h"

enum { DVI_LINT_MOST = 10000 };

struct dvi_lint_finding {
    struct devimg_finding finding; /* of rule "sycl-flags"; `unit` is the source file */
    uint64_t entry;                /* in the list, from 0; DEVIMG_UNKNOWN: of no list */
};

/** Free with dvi_lint_free(). */
struct dvi_lint {
    struct dvi_arena arena;
    /* DVI_LINT_MOST of lines; behind them "no-sycl", and "more-findings", which is as severe as
     * the worst of those that are not kept */
    DVI_LIST(struct dvi_lint_finding) findings;
    uint64_t line_count, sycl_count; /* command lines; those that compile or link SYCL */
};

/**
 * Judge compile_commands.json; where `link` (NULL: not known) has the words of the link, or of the
 * device link, against those.
 * @return MALFORMED, LIMIT, IO when the file cannot be read or is no such list; a command that
 *         cannot be read is a finding.
 */
DEVIMG_CHECKED enum devimg_status dvi_lint_commands(const char *path, const char *const *link,
                                                    size_t link_count, struct dvi_lint *out,
                                                    struct devimg_error *err);
/** Judge one line: a compile line when it has -c, else a link. */
DEVIMG_CHECKED enum devimg_status dvi_lint_line(const char *const *words, size_t count,
                                                struct dvi_lint *out, struct devimg_error *err);
void dvi_lint_free(struct dvi_lint *lint);

#endif
