/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiler of device code: which sources and command lines are its own, and the words by which it
 * compiles one unit for one target. One file and one row of compilers.def each.
 */
#ifndef DVI_SYCL_COMPILER_H
#define DVI_SYCL_COMPILER_H

#include "check/compile_lines.h"
#include "sycl/flags.h"

enum {
#define DVI_COMPILER(name) DVI_COMPILER_##name,
#include "sycl/compilers.def"
#undef DVI_COMPILER
    DVI_COMPILERS
};

/** A GPU that units are compiled for. */
struct dvi_compile_target {
    const char *name;            /* canonical; of CUDA "sm_90a" */
    bool cuda;                   /* else Intel */
    struct dvi_sycl_flags flags; /* of icpx, for this target alone */
};

/** A source and how it is compiled. */
struct dvi_unit {
    const char *label;  /* its path, without the folder where devimg runs */
    const char *path;   /* absolute */
    const char *file;   /* as the compiler is given it */
    const char *folder; /* where the compiler runs */
    const struct dvi_compiler *compiler;
    const char *program;      /* as it was named; looked up in PATH, or in `folder` */
    const char *const *words; /* of the build, behind the program; NULL: there is no build */
    size_t word_count;
    size_t program_index; /* sycl/compile.h */
};

/** One unit for one target. */
struct dvi_job {
    const struct dvi_unit *unit;
    const struct dvi_compile_target *target;
    const char *program;     /* absolute */
    const char *const *more; /* words that the user adds */
    size_t more_count;
    const char *out, *deps; /* files to be written, absolute */
};

/** How it is told which files a compile read. */
enum dvi_reads {
    DVI_READS_DEPFILE,  /* the compiler writes them, in the form of make */
    DVI_READS_INCLUDES, /* by the #include lines of the unit */
    DVI_READS_ALONE     /* the unit only */
};

struct dvi_compiler {
    const char *name;
    const char *const *programs; /* globs of file names; the first one is looked for in PATH */
    const char *const *suffixes; /* of sources that it compiles; the command line may decide else */
    bool cuda;
    /* Whether the words, behind the program, compile device code; its source, or NULL. */
    const char *(*source_of)(const char *const *words, size_t count, const char *file);
    DEVIMG_CHECKED enum devimg_status (*words)(const struct dvi_job *job, struct dvi_arena *arena,
                                               struct dvi_sycl_words *out,
                                               struct devimg_error *err);
    enum dvi_reads (*reads)(const struct dvi_unit *unit);
    const char *needs;              /* a program in PATH that it cannot do without; NULL: none */
    const char *const *folders;     /* from that of the program on, where its parts are */
    const char *const *parts;       /* globs of files there that decide what it does */
    const char *const *libraries;   /* globs of libraries that decide it */
    const char *const *environment; /* globs of variables that it reads */
    const char *remedy;             /* where there is none */
};

#define DVI_COMPILER(name) extern const struct dvi_compiler dvi_compiler_##name;
#include "sycl/compilers.def"
#undef DVI_COMPILER

/** NULL past the end. */
const struct dvi_compiler *dvi_compiler_at(size_t index);
/** True when the text matches one of the globs, which end with a NULL. */
bool dvi_matches_any(const char *const *globs, const char *text);
bool dvi_has_suffix(const char *const *suffixes, const char *path);

DEVIMG_CHECKED enum devimg_status dvi_words_add(struct dvi_sycl_words *words, const char *word,
                                                struct devimg_error *err);
/** Words up to a NULL. */
DEVIMG_CHECKED enum devimg_status dvi_words_add_all(struct dvi_sycl_words *words,
                                                    const char *const *list,
                                                    struct devimg_error *err);

/** Words by their number. */
DEVIMG_CHECKED enum devimg_status dvi_words_add_some(struct dvi_sycl_words *words,
                                                     const char *const *list, size_t count,
                                                     struct devimg_error *err);
bool dvi_words_have(const char *const *words, size_t count, const char *word);
/** The last word that is a path with one of the suffixes; NULL: none is. */
const char *dvi_words_source(const char *const *words, size_t count, const char *const *suffixes);

/** An option of a build that does not go into a compile for another target. */
struct dvi_dropped {
    const char *option; /* NULL ends the list */
    enum { DVI_DROP_WORD, DVI_DROP_NEXT, DVI_DROP_START } how;
    /* the word; the word and the next one; a word that starts so (and, where it is all, the next) */
};
/** How many words from words[at] on are dropped; 0: it stays. */
size_t dvi_words_dropped(const struct dvi_dropped *list, const char *const *words, size_t at,
                         size_t count);
/** Add those of the words that stay. */
DEVIMG_CHECKED enum devimg_status dvi_words_keep(struct dvi_sycl_words *out,
                                                 const struct dvi_dropped *list,
                                                 const char *const *words, size_t count,
                                                 struct devimg_error *err);

#endif
