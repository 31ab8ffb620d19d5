/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every unit of a build compiled for every target, whatever the build was configured for. A pair of
 * unit and target is a cell of the table, and one run of a compiler: one that is given a list of
 * targets stops at the first that fails.
 */
#ifndef DVI_SYCL_COMPILE_H
#define DVI_SYCL_COMPILE_H

#include "base/sha256.h"
#include "sycl/compiler.h"
#include "sycl/diagnostics.h"

enum { DVI_COMPILE_SECONDS = 3000 };

struct dvi_compile_progress {
    size_t done, count, failed; /* cells */
    const char *unit, *target;  /* the last one */
};

struct dvi_compile_asked {
    const char *build;          /* folder, compile_commands.json or build.ninja; NULL: none */
    const char *const *sources; /* further units, compiled without a build */
    size_t source_count;
    const char *const *only; /* globs of units that are taken; none: all */
    size_t only_count;
    const char *const *lists; /* of targets; none: those of the policy, else default-intel */
    size_t list_count;
    const struct devimg_policy *policy;  /* its targets and gaps; NULL: none */
    const char *configured;              /* a list; NULL: not told */
    bool narrow;                         /* leave out what ocloc does not know */
    const char *programs[DVI_COMPILERS]; /* NULL: as the build has it, else looked up in PATH */
    const char *const *launcher;         /* words before each command */
    size_t launcher_count;
    const char *const *more; /* words for every command */
    size_t more_count;
    const char *work; /* folder of results; NULL: in the build, else in the cache folder */
    const char *const *variables; /* globs of further variables that a compiler reads */
    size_t variable_count;
    bool again; /* also what is known */
    unsigned seconds, threads;
    void (*progress)(void *context, const struct dvi_compile_progress *at); /* one at a time */
    void *context;
};

/** A compiler as a unit names it. */
struct dvi_compile_program {
    const struct dvi_compiler *compiler;
    const char *path;    /* absolute; NULL: there is none, and `problem` says why */
    const char *problem; /* one line */
    const char *needs;   /* the program that it cannot do without, absolute; NULL: none */
    char identity[DVI_SHA256_HEX];
};

enum dvi_cell_state {
    DVI_CELL_NOT_RUN, /* its compiler is not there */
    DVI_CELL_OK,
    DVI_CELL_FAILED,
    DVI_CELL_TIMED_OUT
};

struct dvi_cell {
    size_t unit, target;
    enum dvi_cell_state state;
    bool cached;     /* nothing was run */
    bool is_unknown; /* failed, as its compiler does not know the target */
    bool is_cut;     /* its compiler printed more than was kept */
    const char *gap; /* the policy's reason why it need not compile; NULL: it must */
    int exit_code;   /* -1: it did not end by itself */
    uint64_t milliseconds;
    const char *log;                 /* of one that failed, what the compiler printed */
    struct dvi_diagnostics failures; /* of one that is not OK: at least one */
};

/** Free with dvi_compile_free(). */
struct dvi_compile {
    struct dvi_arena arena;
    const struct dvi_compile_asked *asked;
    struct dvi_sycl_targets targets; /* the Intel names; `refused`: nothing else is set */
    DVI_LIST(struct dvi_compile_target) list;
    DVI_LIST(struct dvi_unit) units;
    DVI_LIST(struct dvi_compile_program) programs;
    DVI_LIST(struct dvi_cell) cells; /* by unit, then by target */
    DVI_LIST(const char *) warnings;
    const char *nothing;             /* why there is nothing to compile; NULL: there is */
    bool is_configured;              /* `nothing`, as the build itself does all of it */
    const char *work;                /* folder of results */
    size_t ok, failed, cached, gaps; /* cells; `gaps` failed as the policy allows */
};

/**
 * Read units and targets and find the compilers; nothing is compiled.
 * @return OK, also when there is nothing to compile, or targets are refused; MALFORMED, TRUNCATED,
 *         LIMIT, IO: the build cannot be read; NOMEM. Free `out` in any case; what `asked` points
 *         to must live as long.
 */
DEVIMG_CHECKED enum devimg_status dvi_compile_plan(const struct dvi_compile_asked *asked,
                                                   struct dvi_compile *out,
                                                   struct devimg_error *err);
/**
 * Compile what is not known yet.
 * @return IO: the folder of results cannot be written, or dvi_interrupted(); NOMEM.
 */
DEVIMG_CHECKED enum devimg_status dvi_compile_run(struct dvi_compile *compile,
                                                  struct devimg_error *err);
void dvi_compile_free(struct dvi_compile *compile);

/** The command of a cell without the launcher, in `arena`; the list is the caller's. */
DEVIMG_CHECKED enum devimg_status dvi_compile_words(const struct dvi_compile *compile,
                                                    const struct dvi_cell *cell, const char *out,
                                                    const char *deps, struct dvi_arena *arena,
                                                    struct dvi_sycl_words *words,
                                                    struct devimg_error *err);

/** sycl/compile_units.c: fill `units`, and `nothing` where there is none. */
DEVIMG_CHECKED enum devimg_status dvi_compile_read_units(struct dvi_compile *compile,
                                                         struct devimg_error *err);
/** sycl/compile_targets.c: fill `targets`, `list`, and `nothing` where a build has all of them. */
DEVIMG_CHECKED enum devimg_status dvi_compile_read_targets(struct dvi_compile *compile,
                                                           struct devimg_error *err);
/** sycl/compile_programs.c: fill `programs`. */
DEVIMG_CHECKED enum devimg_status dvi_compile_find_programs(struct dvi_compile *compile,
                                                            struct devimg_error *err);
struct dvi_cache;
/** What the programs are, and the variables that they read: the `identity` of each. */
DEVIMG_CHECKED enum devimg_status dvi_compile_identify(struct dvi_compile *compile,
                                                       struct dvi_cache *cache,
                                                       struct devimg_error *err);
struct dvi_paths {
    DVI_LIST(const char *) list;
};
/** sycl/compile_reads.c: the files that a compile read; none: it cannot be told. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_compile_reads(const struct dvi_unit *unit, const char *deps,
                                                    const struct dvi_sycl_words *words,
                                                    struct dvi_arena *arena, struct dvi_paths *out,
                                                    struct devimg_error *err);
/** `path` beside `folder`, without "." and "x/.."; NULL: no memory. */
const char *dvi_path_in(const char *folder, const char *path, struct dvi_arena *arena);
/** Add a text, made in the arena of `compile`, to its warnings. */
DEVIMG_CHECKED enum devimg_status dvi_compile_warn(struct dvi_compile *compile, const char *text,
                                                   struct devimg_error *err);

#endif
