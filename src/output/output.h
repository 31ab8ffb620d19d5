/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command prints, as text or JSON, file after file: begin, one call a file, end. Nothing of
 * a file is kept once its call returns. Only here are strings of a file escaped.
 */
#ifndef DVI_OUTPUT_OUTPUT_H
#define DVI_OUTPUT_OUTPUT_H

#include "base/arena.h"
#include "output/json.h"

/** What the process exits with; a larger one wins. USAGE is only for wrong usage. */
enum dvi_exit {
    DVI_EXIT_OK = 0,
    DVI_EXIT_FINDINGS = 1,
    DVI_EXIT_USAGE = 2,
    DVI_EXIT_UNREADABLE = 3,
    DVI_EXIT_SKIPPED = 77 /* a test that cannot be run here, as Meson, Automake and CTest know it */
};

struct dvi_output {
    FILE *file;  /* the answer; everything else goes to stderr */
    bool json;   /* else text */
    bool colour; /* text may have colours */
    bool quiet;  /* the first line of each file only */
    unsigned verbose;
    bool verdict; /* `check`: every record passes or fails */
    bool strict;  /* warnings fail as well */
    /* `check`: the policy asks for no more than this, so that a pass proves little; said in its first
     * line; NULL: it does */
    const char *unasked;
    /* the rest is for output/ */
    struct dvi_json j;
    uint64_t record_count, note_count, warning_count, error_count;
    uint64_t file_count; /* printed so far */
    enum dvi_exit worst;
};

/** Start the answer, with the options above filled in. */
void dvi_output_begin(struct dvi_output *out);
/** Close the answer and the FILE; DVI_EXIT_UNREADABLE when it could not be written. */
enum dvi_exit dvi_output_end(struct dvi_output *out);

/** A file that could not be read at all: a record in JSON, a line on stderr in text. */
void dvi_output_unreadable(struct dvi_output *out, const char *path,
                           const struct devimg_error *err);
/** A line on stderr: "devimg: ..."; what `source` and `text` hold is escaped. */
void dvi_complain(const struct devimg_error *err);

enum dvi_list_rows { DVI_LIST_TARGETS, DVI_LIST_IMAGES, DVI_LIST_MODULES };
struct dvi_list_view {
    enum dvi_list_rows rows;
    bool kernels; /* and a table of kernels */
};
void dvi_output_list(struct dvi_output *out, const struct devimg_file *file, const char *path,
                     const struct dvi_list_view *view);

/* X(name, member of struct devimg_kernel): numbers that kernels can be sorted by, largest first */
#define DVI_KERNEL_KEYS(X)         \
    X("size", code_size)           \
    X("spill", spill_size)         \
    X("private", private_size)     \
    X("scratch", scratch_size)     \
    X("slm", slm_size)             \
    X("registers", registers)      \
    X("sub-group", sub_group_size) \
    X("constant", constant_size)

struct dvi_target_set;
struct dvi_kernel_view {
    const char *sort;                     /* NULL: file order; "name", or one of the keys */
    const struct dvi_target_set *targets; /* NULL: all */
    uint64_t most;                        /* kernels a file; 0: all */
    bool mangled;
};
/** @return the number of kernels shown. */
uint64_t dvi_output_kernels(struct dvi_output *out, const struct devimg_file *file,
                            const char *path, const struct dvi_kernel_view *view);

struct dvi_missing_list;
/** What is missing of a file for targets; `mangled`: names as they stand in the file. */
void dvi_output_missing(struct dvi_output *out, const struct devimg_file *file, const char *path,
                        const struct dvi_target_set *targets, const struct dvi_missing_list *list,
                        bool mangled);

/** The findings [first, first + count) of `report` are those of `file`. */
void dvi_output_check(struct dvi_output *out, const struct devimg_file *file, const char *path,
                      const struct devimg_report *report, uint32_t first, uint32_t count);
/** What is left to say of the policy itself: the findings from `first` on. */
void dvi_output_policy(struct dvi_output *out, const struct devimg_report *report, uint32_t first);

/** The images [first, first + count) of `extraction` are those of `file`, written into `folder`. */
void dvi_output_extract(struct dvi_output *out, const struct devimg_file *file, const char *path,
                        const char *folder, const struct devimg_extraction *extraction,
                        uint32_t first, uint32_t count);
/** No image of any file was what was asked for. */
void dvi_output_unmatched(struct dvi_output *out);

/** Rows of the target tables; closes the FILE. Unknown names go to stderr, with near ones. */
enum dvi_exit dvi_output_targets(struct dvi_output *out, const struct devimg_target *const *items,
                                 size_t count, const char *const *unknown, size_t unknown_count);

#endif
