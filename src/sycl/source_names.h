/* SPDX-License-Identifier: Apache-2.0 */
/* What a name of a source may mean: the constants of all sources, by where they stand. */
#ifndef DVI_SYCL_SOURCE_NAMES_H
#define DVI_SYCL_SOURCE_NAMES_H

#include "sycl/source_value.h"

enum { DVI_SOURCE_FOUND = 16, DVI_SOURCE_STEPS = 50000000 /* of all expressions together */ };

/** Where an expression stands. */
struct dvi_source_place {
    size_t source;
    uint32_t scope;
    size_t offset;
};

/** The constants that a name may mean: those that come first, and all of one rank. */
struct dvi_source_found {
    struct dvi_source_place at[DVI_SOURCE_FOUND]; /* of the constant's own text */
    const struct dvi_constant *items[DVI_SOURCE_FOUND];
    unsigned count, rank;
    bool cut;
};

/** "a::b::c": what stands before the last "::", and behind it. */
struct dvi_source_path {
    char prefix[256];
    const char *last;
    bool global;                                                     /* it starts with "::" */
    enum { DVI_WANT_VALUE, DVI_WANT_FUNCTION, DVI_WANT_CLASS } want; /* another name counts too */
};

/** False: it is no name, or its scopes are too long. */
bool dvi_source_split(const char *text, struct dvi_source_path *out);
/** Look a name up where it stands; after dvi_sources_index(). */
void dvi_source_find(struct dvi_sources *sources, const struct dvi_source_place *place,
                     const struct dvi_source_path *name, struct dvi_source_found *out);

#endif
