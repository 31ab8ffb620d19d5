/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table a command: what is parsed, what `devimg help` prints, what the man page says and what a
 * shell completes all come from it.
 */
#ifndef DVI_CLI_OPTIONS_H
#define DVI_CLI_OPTIONS_H

#include "base/arena.h"
#include "output/output.h"

/** What an option's value may be; checked while the line is parsed. */
enum dvi_value {
    DVI_VALUE_NONE, /* a switch */
    DVI_VALUE_TEXT, /* also an empty one */
    DVI_VALUE_WORD, /* as TEXT, and not empty */
    /* as WORD; a shell completes ... */
    DVI_VALUE_FILE,     /* ... file names */
    DVI_VALUE_RULES,    /* ... names of rules, with "=" behind them where `shown` has one */
    DVI_VALUE_PARTS,    /* ... what sycl doctor looks at */
    DVI_VALUE_PORTABLE, /* ... portable targets; may be empty, as TEXT */
    DVI_VALUE_CHOICE,   /* one of the words of `shown` between '|' */
    DVI_VALUE_INDEX,    /* a decimal number from 0 to UINT32_MAX - 1 */
    DVI_VALUE_COUNT,    /* a decimal number from 1 to UINT32_MAX */
    DVI_VALUE_SIZE      /* a number of bytes from 1, with K, M or G for binary units */
};

/** Options of every command, then those of one. */
enum dvi_option_id {
    DVI_OPTION_HELP,
    DVI_OPTION_VERSION,
    DVI_OPTION_FORMAT,
    DVI_OPTION_COLOR,
    DVI_OPTION_QUIET,
    DVI_OPTION_VERBOSE,
    DVI_OPTION_JOBS,
    DVI_OPTION_MAX_INFLATED_SIZE,
    DVI_OPTION_MAX_TOTAL_INFLATED_SIZE,
    DVI_OPTION_MAX_DEPTH,
    DVI_OPTION_MAX_MEMBERS,
    DVI_OPTION_MAX_IMAGES,
    DVI_OPTION_MAX_KERNELS,
    DVI_OPTION_POLICY_KEY, /* of `check` and `sycl lint`: `key` is set in the policy */
    DVI_OPTION_OWN         /* a command numbers its own from here */
};

#define DVI_UNLISTED(id) (1U << (id)) /* of the shared ones */

/** What each exit status says of a command. */
enum { DVI_EXITS = DVI_EXIT_UNREADABLE + 1 };

struct dvi_option {
    int id;
    const char *name; /* without the two dashes */
    char letter;      /* -j; 0: none */
    enum dvi_value value;
    const char *shown; /* "FILE", "text|json"; NULL for a switch */
    const char *help;
    const char *key; /* of the policy; NULL: none */
};

/** An option as it was given. */
struct dvi_setting {
    const struct dvi_option *option;
    const char *text; /* "" for a switch */
    uint64_t number;  /* of INDEX, COUNT and SIZE */
};

struct dvi_command;

/** A parsed command line; the words are those of argv. */
struct dvi_line {
    const struct dvi_command *command;
    DVI_LIST(struct dvi_setting) settings; /* in the order given */
    DVI_LIST(const char *) words;          /* what is no option */
    bool help, version;
    struct dvi_arena arena; /* what commands make of it */
    struct devimg_opts opts;
    struct dvi_output out;
};

struct dvi_command {
    const char *name;     /* "check", or two words: "sycl detect" */
    const char *words;    /* "FILE..." */
    bool completes_files; /* its words are files */
    int runs;             /* the option with which its words are a program and its arguments: the
                             first one ends the options; 0: none */
    const char *summary;  /* one line, no full stop */
    const char *text;     /* paragraphs between empty lines; each one line in the source */
    const struct dvi_option *options; /* its own; one with the id of a shared one replaces that */
    size_t option_count;
    bool reads_files;  /* takes the options about limits and workers */
    unsigned unlisted; /* DVI_UNLISTED() of shared options that would change nothing: not taken */
    const char *exits[DVI_EXITS]; /* as the table of its page; NULL: it never ends so */
    const char *skipped;          /* what status 77 means; NULL: it never ends so */
    const char *examples;         /* lines "COMMAND\tWHAT IT DOES" */
    enum dvi_exit (*run)(struct dvi_line *line);
    /* instead of `run` when the line is wrong and that was said; NULL: nothing to do */
    void (*refused)(const struct dvi_line *line);
};

#define DVI_COMMAND(name) extern const struct dvi_command dvi_command_##name;
#include "cli/commands.def"
#undef DVI_COMMAND

/** NULL past the end. */
const struct dvi_command *dvi_command_at(size_t index);
/** The command that the first of `count` words name, `*used` of them; NULL: no such command. */
const struct dvi_command *dvi_command_find(int count, const char *const *words, int *used);
/** "devimg: no command NAME: did you mean ...", or that a group ("sycl") needs one of its commands
 *  behind it, which are listed, on stderr; returns DVI_EXIT_USAGE. */
enum dvi_exit dvi_command_unknown(int count, const char *const *words, bool may_be_file);
/** Whether some commands have `name` ("sycl") for their first word. */
bool dvi_is_group(const char *name);
/** The next command of the group from `*index` on, behind which that moves; NULL: no more. */
const struct dvi_command *dvi_group_next(const char *name, size_t *index);
/** Bytes of the first word of a command's name, and the second word; NULL where it has one. */
size_t dvi_command_group(const struct dvi_command *command, const char **rest);

/** The options that a command takes, its own first; NULL past the end. */
const struct dvi_option *dvi_option_at(const struct dvi_command *command, size_t index);
/** The one with that id, or NULL. */
const struct dvi_option *dvi_option_of(const struct dvi_command *command, int id);
/** What it does in this command. */
const char *dvi_option_help(const struct dvi_command *command, const struct dvi_option *option);

/**
 * Parse the words after the command's name: options and words may mix, "--" ends the options.
 * Wrong usage is said on stderr; the line then holds what was understood of it, unchecked. Free the
 * line in either case.
 */
bool dvi_line_parse(struct dvi_line *line, const struct dvi_command *command, int count,
                    char *const *words);
void dvi_line_free(struct dvi_line *line);
/** The last setting of an option, or NULL. */
const struct dvi_setting *dvi_line_get(const struct dvi_line *line, int id);
bool dvi_line_has(const struct dvi_line *line, int id);
/** The text of its last setting; `other` where it was not given. */
const char *dvi_line_text(const struct dvi_line *line, int id, const char *other);
/** The texts of all its settings, in the order given, as long as the line lives; `other` alone where
 *  it was not given, unless that is NULL. NULL: no memory, which was said. */
const char *const *dvi_line_texts(struct dvi_line *line, int id, const char *other, size_t *count);
/** The targets that every setting of the option names together, as long as the line lives; USAGE: a
 *  name that is none, said. */
enum dvi_exit dvi_line_targets(struct dvi_line *line, int id, struct dvi_target_set *set);
/** Read the policy file that the option `file_id` names, then the options that are keys of it, in
 *  order. What is wrong was said. */
enum dvi_exit dvi_line_policy(const struct dvi_line *line, int file_id,
                              struct devimg_policy *policy);
/** A policy, or a list that an option names, that cannot be understood is wrong usage; one that
 *  cannot be read is not. */
enum dvi_exit dvi_policy_exit(const struct devimg_error *err);
/** Say it; DVI_EXIT_UNREADABLE. */
enum dvi_exit dvi_complain_unreadable(const struct devimg_error *err);
/** Say that there is no memory; DVI_EXIT_UNREADABLE. */
enum dvi_exit dvi_no_memory(void);
/** Say it, and what it means for the exit status. */
enum dvi_exit dvi_complain_of_list(const struct devimg_error *err);
/** "devimg check: TEXT (see devimg help check)" on stderr; returns DVI_EXIT_USAGE. */
enum dvi_exit dvi_usage(const struct dvi_command *command, const char *format, ...)
    DVI_PRINTF(2, 3);

/** What an exit status means, for help and man pages; NULL: the command never ends so. `command`
 *  NULL: of all commands. */
const char *dvi_exit_text(const struct dvi_command *command, int status);

/** A line "COMMAND\tTEXT" of a command's examples, in its text. */
struct dvi_example {
    int command_size, text_size;
    const char *command, *text;
};
/** The next one, behind which `*at` moves; false: none is left. */
bool dvi_next_example(const char **at, struct dvi_example *out);

void dvi_print_overview(FILE *file);
void dvi_print_help(FILE *file, const struct dvi_command *command);
/** The commands of a group. */
void dvi_print_group(FILE *file, const char *name);
/** roff; `command` NULL: devimg(1) itself. */
void dvi_print_man(FILE *file, const struct dvi_command *command);
void dvi_print_group_man(FILE *file, const char *name);
/** @return false: no such shell. */
bool dvi_print_completion(FILE *file, const char *shell);

/** Open the file `path`, decode its kernels where `kernels` says so. A failure is put into the
 *  answer; NULL then. */
struct devimg_file *dvi_open_input(struct dvi_line *line, const char *path, bool kernels);

#endif
