/* SPDX-License-Identifier: Apache-2.0 */
/* The command lines of a build: words as a shell would split them, and the options about SYCL. */
#ifndef DVI_CHECK_COMPILE_LINES_H
#define DVI_CHECK_COMPILE_LINES_H

#include "target/target.h"

/** One command; its words live until the call that it is given to returns. */
struct dvi_compile_line {
    const char *path;   /* of the list of commands, for messages; NULL: none */
    size_t index;       /* in it, from 0 */
    const char *file;   /* the source file; NULL: not said */
    const char *folder; /* that relative paths start at; NULL: where the program runs */
    const char *const *words;
    size_t count;
    bool open_quote; /* a quote has no end: it was read to the end of the line or file */
    struct dvi_arena *scratch;
};

/**
 * Called for every command, in the order of the list.
 * @param status  not OK: the words could not be read, and `err` says why; what is returned counts
 */
typedef enum devimg_status dvi_take_line(void *context, const struct dvi_compile_line *line,
                                         enum devimg_status status, struct devimg_error *err);

/**
 * Read compile_commands.json, one command after the other; "@FILE" is replaced by the words of that
 * file, beside the folder of its command.
 * @return MALFORMED, TRUNCATED or LIMIT when it is no such list, IO, NOMEM; else what `take`
 *         returns, of which the first that is not OK ends the reading.
 */
DEVIMG_CHECKED enum devimg_status dvi_compile_lines_read(const char *path, dvi_take_line *take,
                                                         void *context, struct devimg_error *err);
/** The same for the words of one line, as a shell has split them; "@FILE" is beside where the
 *  program runs. */
DEVIMG_CHECKED enum devimg_status dvi_compile_line_take(const char *const *words, size_t count,
                                                        dvi_take_line *take, void *context,
                                                        struct devimg_error *err);

/** The same for a list that is held in memory; `path` is for messages. */
DEVIMG_CHECKED enum devimg_status dvi_compile_lines_take(const char *path, struct dvi_view text,
                                                         dvi_take_line *take, void *context,
                                                         struct devimg_error *err);

/**
 * One word of `text`, quotes and backslashes as in a POSIX shell, nothing expanded.
 * @param out         as large as the text, and one more
 * @param open_quote  set when a quote has no end
 * @return false: none is left
 */
bool dvi_next_shell_word(const char **text, char *out, bool *open_quote);

/** What follows `option` in a word that starts with it, after '-' or '/'; NULL: another word. */
const char *dvi_word_after(const char *word, const char *option);

/** An option whose next word goes to the compiler of a device. */
enum dvi_backend_word {
    DVI_BACKEND_NONE,
    DVI_BACKEND_GEN,         /* -Xsycl-target-backend=spir64_gen */
    DVI_BACKEND_OTHER,       /* of another target */
    DVI_BACKEND_UNQUALIFIED, /* -Xsycl-target-backend */
    DVI_BACKEND_XS           /* -Xs */
};

/** A word of a line that is no value of the word before it. */
struct dvi_line_word {
    const char *word;
    enum dvi_backend_word backend;
    bool takes_value;  /* its next word goes to another program, whatever it looks like */
    const char *value; /* that word; NULL: none, or the line ends */
};

/** The next word from `*at` on, which starts at 0; false: none is left. */
bool dvi_line_next(const struct dvi_compile_line *line, size_t *at, struct dvi_line_word *out);

/** What a line says of its device code. Of an option that is given twice the last one counts, as
 *  with clang, which warns of the others as unused. */
struct dvi_line_facts {
    const char *sycl_targets; /* the list of -fsycl-targets; NULL: none */
    bool compress;            /* --offload-compress, --no-offload-compress */
};
struct dvi_line_facts dvi_line_facts(const struct dvi_compile_line *line);

/**
 * Add what --offload-arch and --cuda-gpu-arch name, without what --no-offload-arch takes away again, in
 * the order of the line. "native" stands for the GPUs of the machine that compiles, and is left out.
 * @param arena  of the set
 */
DEVIMG_CHECKED enum devimg_status dvi_line_archs(const struct dvi_compile_line *line,
                                                 struct dvi_target_set *set,
                                                 struct dvi_arena *arena, struct devimg_error *err);

/** An entry of -fsycl-targets whose GPUs stand behind "-device". */
bool dvi_names_no_gpu(struct dvi_view entry);

/**
 * Add the lists that stand after "-device" in the words that go to ocloc.
 * @param arena  of the set
 */
DEVIMG_CHECKED enum devimg_status dvi_line_devices(const struct dvi_compile_line *line,
                                                   struct dvi_target_set *set,
                                                   struct dvi_arena *arena,
                                                   struct devimg_error *err);

#endif
