/* SPDX-License-Identifier: Apache-2.0 */
/* A list of ahead-of-time targets as a build names it: what it means, and whether an ocloc takes
 * it. */
#ifndef DVI_SYCL_TARGETS_H
#define DVI_SYCL_TARGETS_H

#include "check/ocloc.h"
#include "target/target.h"

/** A name of the list, behind -device in this order. */
struct dvi_sycl_target {
    const struct devimg_target *row;
    const char *same_as; /* the first name of the list with this IP version; NULL: it is that */
    uint64_t ip_version; /* as ocloc answers where it was asked, else as the tables have it */
    enum devimg_answer known; /* to the ocloc that was asked; MAYBE: none was */
};

/** A name that cannot stand in the list, and why. */
struct dvi_sycl_unknown {
    const char *name, *why;
};

/** Free with dvi_sycl_targets_free(). */
struct dvi_sycl_targets {
    struct dvi_arena arena;
    DVI_LIST(struct dvi_sycl_target) list;
    DVI_LIST(struct dvi_sycl_unknown) unknown;
    DVI_LIST(const char *) dropped;    /* unknown to ocloc and left out of the list, as asked */
    DVI_LIST(const char *) unmeasured; /* of the list: no table has their sub-group sizes */
    DVI_LIST(const char *) warnings;
    size_t distinct_ips;
    uint32_t sub_group_sizes; /* that every target accepts, bit n for 2^n; 0: unknown, or no list */
    const char *device_word;  /* "-device a,b"; NULL: the list is empty or refused */
    const char *ocloc;        /* that was asked; NULL: none */
    bool refused;             /* `unknown` or `unmeasured` has some, or narrowing left nothing */
};

struct dvi_sycl_targets_asked {
    const char *const *lists; /* each a list between commas (requirement D8); taken together */
    size_t count;
    const char *ocloc;  /* NULL: the tables alone are asked, no program is started */
    const char *folder; /* where it runs; NULL: where we are */
    unsigned seconds;   /* a name */
    bool narrow;        /* leave out what ocloc does not know */
};

/**
 * Read the lists, and ask `PROGRAM ids NAME` for each name where an ocloc is given.
 * @return OK, also with unknown names: see `refused`; IO: ocloc cannot be started, or gives neither
 *         an IP version nor "unknown" for a name (a time limit, a crash, no ocloc at all): nothing
 *         that it said counts then; NOMEM. Free `out` in any case.
 */
DEVIMG_CHECKED enum devimg_status dvi_sycl_targets_read(const struct dvi_sycl_targets_asked *asked,
                                                        struct dvi_sycl_targets *out,
                                                        struct devimg_error *err);
void dvi_sycl_targets_free(struct dvi_sycl_targets *targets);

/** "native" for one name, "fat" for more (an archive with a member a name), NULL for none. */
const char *dvi_sycl_targets_form(const struct dvi_sycl_targets *targets);

/** What to do about names that an ocloc does not know. */
extern const char dvi_sycl_narrow_remedy[];
/** What to do where there is no ocloc. */
extern const char dvi_sycl_ocloc_remedy[];

#endif
