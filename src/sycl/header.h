/* SPDX-License-Identifier: Apache-2.0 */
/* What the header with the compile-time check of sub-group sizes says: from the list and the
 * tables. */
#ifndef DVI_SYCL_HEADER_H
#define DVI_SYCL_HEADER_H

#include "sycl/targets.h"
#include "target/sizes.h"

struct dvi_sycl_header_asked {
    const char *const *lists; /* of targets, as for dvi_sycl_targets_read() */
    size_t count;
    const char *prefix; /* of macros: an identifier */
    const char *space;  /* the namespace: "a::b" */
    const char *anchor; /* a symbol that link.exe is told to include: an identifier; NULL: none */
};

/** A size that some of the targets accept and others refuse. */
struct dvi_sycl_refused_size {
    uint32_t size;
    const char *targets; /* those that refuse, with commas between them */
};

/** Free with dvi_sycl_header_free(). */
struct dvi_sycl_header {
    struct dvi_arena arena;
    const char *prefix, *space, *anchor;
    struct dvi_sycl_targets targets; /* the list; where it is refused, nothing else is known */
    struct dvi_sizes sizes;          /* what sources are held to */
    const char *names;               /* of `sizes.targets`, with commas between them */
    DVI_LIST(struct dvi_sycl_refused_size) refused_sizes;
    bool refused; /* the list is, or a target is not measured, or no size is accepted by all */
};

/** @return OK, also with a list that is refused; NOMEM. Free `out` in any case. */
DEVIMG_CHECKED enum devimg_status dvi_sycl_header_make(const struct dvi_sycl_header_asked *asked,
                                                       struct dvi_sycl_header *out,
                                                       struct devimg_error *err);
void dvi_sycl_header_free(struct dvi_sycl_header *header);

#endif
