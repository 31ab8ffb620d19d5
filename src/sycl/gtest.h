/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known failures of GoogleTest programs, pinned by suite and type parameter: an index of a typed
 * suite (Suite/3) shifts when a type leaves the list, a type parameter does not.
 */
#ifndef DVI_SYCL_GTEST_H
#define DVI_SYCL_GTEST_H

#include "base/arena.h"
#include "base/file.h"

enum dvi_gtest_miss {
    DVI_GTEST_MATCHED,
    DVI_GTEST_NO_SUITE, /* the list has no such suite */
    DVI_GTEST_NO_TYPE,  /* it has the suite, not with this type parameter */
    DVI_GTEST_NO_TEST   /* it has the suite with this type parameter, without such a test */
};

/** A line of the pins file that is of the preset. */
struct dvi_gtest_pin {
    struct dvi_view suite, type; /* type "-": the suite is not typed */
    struct dvi_view test;        /* "*": all of the suite */
    struct dvi_view reason;
    uint64_t line; /* from 1 */
    enum dvi_gtest_miss miss;
};

/** A test to leave out; both are of the list, and `test` is "*" where the pin says so. */
struct dvi_gtest_excluded {
    struct dvi_view suite, test; /* "Solver/3", "Converges" */
    size_t pin;                  /* index in `pins` */
};

struct dvi_gtest_suite; /* of the pins; see gtest.c */
struct dvi_gtest_group;

/** Free with dvi_gtest_free(); names are of the two files. */
struct dvi_gtest {
    struct dvi_arena arena;
    struct dvi_view pins_text;
    struct dvi_file list_file; /* stays open */
    const char *preset;
    bool preset_unknown; /* the pins file does not name it: reading it said MALFORMED */
    DVI_LIST(struct dvi_gtest_pin) pins; /* of the preset, by suite, type, test */
    DVI_LIST(struct dvi_gtest_suite) suites;
    DVI_LIST(struct dvi_gtest_group) groups;
    DVI_LIST(struct dvi_gtest_excluded) excluded; /* in the order of the list */
    uint64_t test_count;                          /* of the list */
    size_t unmatched;                             /* pins that match nothing */
};

/**
 * Read the pins of `preset` from a file laid out as docs/command/sycl_gtest_filter.md says.
 * @return MALFORMED with the line: not such a file, a pin twice, a preset that it does not name;
 *         IO; LIMIT past 64 MiB; NOMEM. Free `out` in any case.
 */
DEVIMG_CHECKED enum devimg_status dvi_gtest_read_pins(const char *path, const char *preset,
                                                      struct dvi_gtest *out,
                                                      struct devimg_error *err);
/**
 * Find the pins in what a test program printed for --gtest_list_tests. One pass; what is kept are
 * the tests that pins match.
 * @return OK, also when pins match nothing: see `unmatched`; MALFORMED with the line; IO; NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_gtest_read_list(struct dvi_gtest *gtest, const char *path,
                                                      struct devimg_error *err);
void dvi_gtest_free(struct dvi_gtest *gtest);

#endif
