/* SPDX-License-Identifier: Apache-2.0 */
/* What source_value.c and source_use.c share while an expression is read. */
#ifndef DVI_SYCL_SOURCE_READER_H
#define DVI_SYCL_SOURCE_READER_H

#include "sycl/source_names.h"
#include "sycl/source_scanner.h"

enum { DVI_READER_DEPTH = 200, DVI_READER_STEPS = 20000 };

/** One expression, with all that it names. */
struct dvi_work {
    unsigned steps;
    struct dvi_arena scratch;
};

struct dvi_reader {
    struct dvi_sources *sources;
    struct dvi_source_place place;
    struct dvi_lexer lexer;
    struct dvi_lexeme token; /* the next one */
    unsigned depth;
    struct dvi_work *work;
};

void dvi_reader_next(struct dvi_reader *r);
/** The token at hand is nothing that is computed. */
void dvi_reader_unknown(struct dvi_reader *r, struct dvi_values *out);

/** The first reason stays. */
void dvi_value_unknown(struct dvi_values *out, enum dvi_value_why why, const char *name);
void dvi_value_add(struct dvi_values *out, int64_t value);
void dvi_value_merge(struct dvi_values *out, const struct dvi_values *more);

/** `text`, as it stands at `place`, added to what `out` has. */
void dvi_evaluate(struct dvi_sources *s, const struct dvi_source_place *place, const char *text,
                  unsigned depth, struct dvi_work *work, struct dvi_values *out);
/** The name at hand, with all that belongs to it: "a::b<c>::f(d)". */
void dvi_read_name(struct dvi_reader *r, struct dvi_values *out);
/** An expression between parentheses or braces, the opening one at hand. */
void dvi_read_inside(struct dvi_reader *r, int close, struct dvi_values *out);
/** "static_cast<T>(x)", behind its name. */
void dvi_read_cast(struct dvi_reader *r, struct dvi_values *out);
/** T(x), T{x} and (T)x are x. */
bool dvi_is_integer_type(const char *name);

#endif
