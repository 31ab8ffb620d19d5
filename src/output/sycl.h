/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the `sycl` commands; each closes the FILE and returns the exit status. */
#ifndef DVI_OUTPUT_SYCL_H
#define DVI_OUTPUT_SYCL_H

#include "output/output.h"

struct dvi_compile;
struct dvi_compile_progress;
struct dvi_detection;
struct dvi_doctor;
struct dvi_gtest;
struct dvi_lint;
struct dvi_size_lint;
struct dvi_probe;
struct dvi_registry;
struct dvi_sycl_flags;
struct dvi_sycl_header;
struct dvi_sycl_targets;
struct dvi_sycl_unit;
struct dvi_sycl_words;

/** Warnings go to stderr in text, and into the document in JSON. */
enum dvi_exit dvi_output_sycl_detect(struct dvi_output *out, const struct dvi_detection *d);

enum dvi_detect_file { DVI_DETECT_HEADER, DVI_DETECT_CMAKE, DVI_DETECT_MESON, DVI_DETECT_PYTHON };
/**
 * Write a file that a build reads. One that holds the same already is left as it is, so that
 * nothing is built anew.
 * @param prefix  of the macros and variables: an identifier
 * @return IO, NOMEM; see dvi_file_replace().
 */
DEVIMG_CHECKED enum devimg_status dvi_output_detect_file(const char *path,
                                                         enum dvi_detect_file kind,
                                                         const char *prefix,
                                                         const struct dvi_detection *d,
                                                         struct devimg_error *err);

enum dvi_exit dvi_output_sycl_targets(struct dvi_output *out,
                                      const struct dvi_sycl_targets *targets);
/** Why a list is refused, to stderr: every name at once. */
void dvi_complain_targets(const char *who, const struct dvi_sycl_targets *targets);

enum dvi_exit dvi_output_sycl_doctor(struct dvi_output *out, const struct dvi_doctor *doctor);

enum dvi_exit dvi_output_sycl_gtest(struct dvi_output *out, const struct dvi_gtest *gtest);

/** The table of units and targets, and every failure; closes the FILE. 77 where there was nothing to
 *  compile. */
enum dvi_exit dvi_output_sycl_compile(struct dvi_output *out, const struct dvi_compile *compile);
/** The answer where the commands were written to `path`, and nothing was run. */
enum dvi_exit dvi_output_compile_written(struct dvi_output *out, const struct dvi_compile *compile,
                                         const char *path);
/** The same as JUnit's XML; a test case a unit and target. See dvi_file_replace(). */
DEVIMG_CHECKED enum devimg_status dvi_output_compile_junit(const char *path,
                                                           const struct dvi_compile *compile,
                                                           struct devimg_error *err);
/** The commands as a Ninja file. See dvi_file_replace(). */
DEVIMG_CHECKED enum devimg_status dvi_output_compile_ninja(const char *path,
                                                           const struct dvi_compile *compile,
                                                           bool limit, struct devimg_error *err);
/** A line on a terminal that is written anew; `at` NULL: it goes. */
void dvi_output_compile_progress(void *file, const struct dvi_compile_progress *at);

struct dvi_anchor_answer {
    const char *symbol, *input, *output;
    const struct devimg_anchored *done;
    const struct devimg_error *err; /* of a refusal */
};
enum dvi_exit dvi_output_sycl_anchor(struct dvi_output *out,
                                     const struct dvi_anchor_answer *answer);

/**
 * Write the header to `path`, or compare that file with it where `check` says so; `path` NULL: the
 * header is the answer. A file that holds the same already is left as it is.
 */
enum dvi_exit dvi_output_sycl_header(struct dvi_output *out, const struct dvi_sycl_header *header,
                                     const char *path, bool check);

/** @param path   what was named
 *  @param least  entries that must be registered; 0: none */
enum dvi_exit dvi_output_sycl_registry(struct dvi_output *out, const struct dvi_registry *registry,
                                       const char *path, uint64_t least);

/** @param rows  for data/targets/intel.tsv: a line for each new target, and nothing else */
enum dvi_exit dvi_output_sycl_probe(struct dvi_output *out, const struct dvi_probe *probe,
                                    bool rows);

/** One argument, quoted for a response file: as clang reads it, or as cl and link do. */
void dvi_quote_word(FILE *file, const char *word, bool msvc);
/** Write the words as a response file, in place of one that devimg wrote. */
DEVIMG_CHECKED enum devimg_status dvi_output_sycl_response(const char *path,
                                                           const struct dvi_sycl_words *words,
                                                           bool msvc, struct devimg_error *err);
/** @param units  what units are compiled with; only JSON has a place for them
 *  @param step   of enum dvi_sycl_step; -1: all
 *  @param quiet  no words in text: a response file has them */
enum dvi_exit dvi_output_sycl_flags(struct dvi_output *out, const struct dvi_sycl_flags *flags,
                                    const struct dvi_sycl_unit *units, size_t unit_count, int step,
                                    bool quiet);
/** @param name  of what was judged, for the first line */
enum dvi_exit dvi_output_sycl_lint(struct dvi_output *out, const struct dvi_lint *lint,
                                   const char *name);

enum dvi_exit dvi_output_size_lint(struct dvi_output *out, const struct dvi_size_lint *lint);

#endif
