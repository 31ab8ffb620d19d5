/* SPDX-License-Identifier: Apache-2.0 */
/* The command lines of a build: words as a shell would split them, and the options about SYCL. */
#ifndef DVI_CHECK_COMPILE_LINES_H
#define DVI_CHECK_COMPILE_LINES_H

#include "target/target.h"

/** One command; its words live until the call that it is given to returns. */
struct dvi_compile_line {
    const char *path;   /* of the list of commands, for messages; NULL: none */
    size_t index;       /* in it, from 0 */
    const char *folder; /* the command runs there; NULL: not said */
    const char *file;   /* the source file; NULL: not said */
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
/** The list of -fsycl-targets=LIST, or NULL. */
const char *dvi_word_sycl_targets(const char *word);

/** An option whose next word goes to the compiler of a device. */
enum dvi_backend_word {
    DVI_BACKEND_NONE,
    DVI_BACKEND_GEN,         /* -Xsycl-target-backend=spir64_gen */
    DVI_BACKEND_OTHER,       /* of another target */
    DVI_BACKEND_UNQUALIFIED, /* -Xsycl-target-backend */
    DVI_BACKEND_XS           /* -Xs */
};
enum dvi_backend_word dvi_word_backend(const char *word);

/**
 * Add the lists that stand after "-device" in the one word that goes to ocloc.
 * @param arena    of the set
 * @param has_list  set when there is one; may be NULL
 */
DEVIMG_CHECKED enum devimg_status dvi_word_devices(const char *options, struct dvi_target_set *set,
                                                   struct dvi_arena *arena,
                                                   struct dvi_arena *scratch, bool *has_list,
                                                   struct devimg_error *err);

#endif
