/* SPDX-License-Identifier: Apache-2.0 */
/* What an expression of a source may come to, with the constants of all sources. */
#ifndef DVI_SYCL_SOURCE_VALUE_H
#define DVI_SYCL_SOURCE_VALUE_H

#include "sycl/source_scan.h"

/** A macro that the command line of the compiler defines: it hides what sources say. */
struct dvi_source_define {
    const char *name, *text;
};

/** Start with the first four set; free with dvi_sources_free(). */
struct dvi_sources {
    struct dvi_source *items;
    const char *const *paths;
    size_t count;
    const struct dvi_source_define *defines;
    size_t define_count;
    /* made by dvi_sources_index() */
    struct dvi_source_ref *refs;  /* constants, chained by the hash of their names */
    struct dvi_source_ref *named; /* sources, chained by the hash of their base names */
    uint32_t *heads, *own_heads, *named_heads;
    uint32_t mask, named_mask;
    uint8_t *reached; /* sources that `reached_from` includes, also through others */
    size_t reached_from;
    uint64_t steps; /* of all expressions so far */
};

DEVIMG_CHECKED enum devimg_status dvi_sources_index(struct dvi_sources *sources,
                                                    struct devimg_error *err);
void dvi_sources_free(struct dvi_sources *sources);

enum dvi_value_state {
    DVI_VALUE_KNOWN,
    DVI_VALUE_PARAMETER, /* it depends on a parameter of a template or macro */
    DVI_VALUE_UNKNOWN
};

/** Why a value is not known. */
enum dvi_value_why {
    DVI_WHY_NAME,     /* no source has a constant of the name */
    DVI_WHY_CLASS,    /* nor the class, or one that it is derived from, that the name is asked of */
    DVI_WHY_CALL,     /* a function that does more than return an expression, or is not there */
    DVI_WHY_TEMPLATE, /* it depends on arguments of a template that are not followed */
    DVI_WHY_ELEMENT,  /* of an array */
    DVI_WHY_PLATFORM, /* a type whose size is not the same everywhere */
    DVI_WHY_TEXT      /* `name` says it, or is what is not understood */
};

enum { DVI_VALUES_MOST = 16 };

/** Several, where a constant has several definitions of which any may hold. */
struct dvi_values {
    enum dvi_value_state state;
    int64_t items[DVI_VALUES_MOST]; /* of KNOWN, each once, in the order found */
    unsigned count;
    char name[96]; /* of UNKNOWN: what is not known; of PARAMETER: the parameter */
    enum dvi_value_why why;
    char unless
        [96]; /* a base of the class around, which no source has: it may hide the name; or "" */
};

/** The expression `text`, as it stands at `offset` in `scope` of the source with this index. */
void dvi_source_value(struct dvi_sources *sources, size_t source, uint32_t scope, size_t offset,
                      const char *text, struct dvi_values *out);

/** `text` with each of the names replaced, as a macro's parameters are; NULL: no memory. */
const char *dvi_source_replace(const char *text, const char *const *names,
                               const char *const *values, uint32_t count, struct dvi_arena *arena);
/** True when `text` has "NAME<...>" whose argument `index` (from 0) mentions `param`; NULL: any. */
bool dvi_source_hands_on(const char *text, const char *name, uint32_t index, const char *param);
/** True when `text` has a name that is one of `names`. */
bool dvi_source_mentions(const char *text, const char *const *names, uint32_t count);

#endif
