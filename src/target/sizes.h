/* SPDX-License-Identifier: Apache-2.0 */
/* Which sub-group sizes code may require: a question to a list of targets and the tables, never a
 * constant (requirement S2-8). */
#ifndef DVI_TARGET_SIZES_H
#define DVI_TARGET_SIZES_H

#include "target/target.h"

/** What code is held to. Free with dvi_sizes_free(). */
struct dvi_sizes {
    DVI_LIST(const struct devimg_target *) targets;    /* no row twice */
    DVI_LIST(const struct devimg_target *) unmeasured; /* of them: no table has their sizes */
    bool with_default; /* the default list is among them: for one device or none was listed */
    uint32_t allowed;  /* what each target accepts, bit n for 2^n; 0: nothing, or `unmeasured` has
                          some */
};

/**
 * Code that is built for `rows` is held to all of them; where they are one device (one IP version) or
 * none, to the default list as well: such a build never compiles for the GPUs that would refuse, and
 * fails there at run time (S1-31, S2-6).
 * @return OK, also with targets that nobody measured: see `unmeasured`; NOMEM. Free `out` in any
 *         case.
 */
DEVIMG_CHECKED enum devimg_status dvi_sizes_read(const struct devimg_target *const *rows,
                                                 size_t count, struct dvi_sizes *out,
                                                 struct devimg_error *err);
void dvi_sizes_free(struct dvi_sizes *sizes);

/** Is `size` one of them? `sizes` has bit n for 2^n. */
bool dvi_size_is_in(uint32_t sizes, uint64_t size);
/** Does the target refuse it? False where no table has its sizes: that is no answer. */
bool dvi_target_refuses_size(const struct devimg_target *target, uint64_t size);

enum { DVI_SIZES_ROOM = 128 };
/** "16, 32"; "" for none. Returns `out`. */
const char *dvi_sizes_text(uint32_t sizes, const char *between, char out[DVI_SIZES_ROOM]);

#endif
