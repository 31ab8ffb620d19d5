/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "check/values.h"
#include "cli/options.h"
#include "output/sycl.h"
#include "sycl/detect.h"
#include "sycl/flags.h"
#include "sycl/flags_lint.h"

enum {
    COMPILER = DVI_OPTION_OWN,
    SYNTAX,
    STEP,
    TARGETS,
    FALLBACK,
    ALSO,
    RDC,
    NO_COMPRESSION,
    COMPRESSION_LEVEL,
    STRICT_FP,
    POLICY,
    GAP,
    UNIT,
    RESPONSE,
    LINT,
    LINT_LINE,
    STRICT
};

/* clang-format off */
static const struct dvi_option options[] = {
    { COMPILER, "compiler", 0, DVI_VALUE_CHOICE, "icpx|acpp|clang",
      "whose words (default icpx; icx-cl and clang++ of intel/llvm take them too)", NULL },
    { SYNTAX, "syntax", 0, DVI_VALUE_CHOICE, "gnu|msvc",
      "how the program is linked: by the compiler (default), or by link.exe behind a device link", NULL },
    { STEP, "step", 0, DVI_VALUE_CHOICE, "compile|link|device-link",
      "only the words of this step, one a line (default: all steps, each below its name)", NULL },
    { TARGETS, "targets", 0, DVI_VALUE_TEXT, "T[,T]",
      "native images for these (default: those of the policy, else default-intel); \"\": JIT only", NULL },
    { FALLBACK, "fallback", 0, DVI_VALUE_PORTABLE, "T[,T]",
      "portable images beside them (default: those of the policy, else spir64); \"\": none", NULL },
    { ALSO, "also", 0, DVI_VALUE_TEXT, "ENTRY[,ENTRY]",
      "further entries of -fsycl-targets, such as native_cpu or nvptx64-nvidia-cuda; repeatable", NULL },
    { RDC, "rdc", 0, DVI_VALUE_NONE, NULL,
      "relocatable device code: images are made by each link, not by each compile", NULL },
    { NO_COMPRESSION, "no-compression", 0, DVI_VALUE_NONE, NULL,
      "store the images raw", NULL },
    { COMPRESSION_LEVEL, "compression-level", 0, DVI_VALUE_COUNT, "N",
      "of zstd (default 22); refused where the compiler cannot compress", NULL },
    { STRICT_FP, "strict-fp", 0, DVI_VALUE_NONE, NULL,
      "arithmetic in kernels as on the host: no contraction, exact division and square root", NULL },
    { POLICY, "policy", 0, DVI_VALUE_FILE, "FILE",
      "the policy that devimg check takes (YAML): its targets, fallback, and gaps of units", NULL },
    { GAP, "gap", 0, DVI_VALUE_WORD, "\"PATTERN without T[,T]: REASON\"",
      "a gap as in the policy, by unit (\"unit:PATTERN\"); repeatable", "gaps" },
    { UNIT, "unit", 0, DVI_VALUE_WORD, "NAME",
      "the source file that is compiled: without the targets that gaps name; repeatable with --format json", NULL },
    { RESPONSE, "response", 0, DVI_VALUE_FILE, "FILE",
      "write the words of --step as a response file, instead of printing them", NULL },
    { LINT, "lint", 0, DVI_VALUE_FILE, "FILE",
      "judge the lines of a compile_commands.json; WORDS are those of the link", NULL },
    { LINT_LINE, "lint-line", 0, DVI_VALUE_NONE, NULL,
      "judge WORDS, which are one command line", NULL },
    { STRICT, "strict", 0, DVI_VALUE_NONE, NULL, "with --lint: warnings fail as well", NULL },
    { DVI_OPTION_COLOR, "color", 0, DVI_VALUE_CHOICE, "auto|always|never",
      "with --lint: colours: on a terminal unless NO_COLOR is set (default), always, never", NULL },
    { DVI_OPTION_QUIET, "quiet", 'q', DVI_VALUE_NONE, NULL,
      "with --lint: only the first line of the answer", NULL },
    { DVI_OPTION_VERBOSE, "verbose", 'v', DVI_VALUE_NONE, NULL,
      "with --lint: fold nothing", NULL },
};
/* clang-format on */

static const struct dvi_word compilers[] = {
    { "icpx", DVI_SYCL_ICPX }, { "acpp", DVI_SYCL_ACPP }, { "clang", DVI_SYCL_CLANG }, { NULL, 0 }
};
static const struct dvi_word syntaxes[] = { { "gnu", DVI_SYNTAX_GNU },
                                            { "msvc", DVI_SYNTAX_MSVC },
                                            { NULL, 0 } };
static const struct dvi_word steps[] = {
    { "compile", DVI_STEP_COMPILE },
    { "link", DVI_STEP_LINK },
    { "device-link", DVI_STEP_DEVICE_LINK },
    { NULL, 0 },
};

/* What the word of an option stands for; `other` where it is not given. */
static int choice_of(const struct dvi_line *line, int id, const struct dvi_word *words, int other)
{
    const char *text = dvi_line_text(line, id, NULL);
    if (text == NULL)
        return other;
    while (words->word != NULL && strcmp(words->word, text) != 0)
        words++;
    assert(words->word != NULL); /* the help has no word that the table lacks */
    return words->value;
}

/* ---- words ---- */

static enum dvi_exit refuse_targets(const struct dvi_sycl_targets *targets)
{
    dvi_complain_targets("sycl flags: --targets", targets);
    fputs("devimg sycl flags: narrow the list, or empty it (--targets \"\") for JIT only (see "
          "devimg help sycl flags)\n",
          stderr);
    return DVI_EXIT_USAGE;
}

static enum dvi_exit write_response(const struct dvi_line *line, const struct dvi_sycl_flags *flags,
                                    int step, bool msvc)
{
    struct devimg_error err = { 0 };
    if (dvi_output_sycl_response(dvi_line_text(line, RESPONSE, NULL), &flags->steps[step], msvc,
                                 &err) != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    return DVI_EXIT_OK;
}

/* The words of several units; `asked` is the same for each but for its name. */
struct units {
    struct dvi_sycl_unit *items;
    size_t count;
};

static enum devimg_status make_units(const struct dvi_sycl_flags_asked *asked,
                                     const char *const *names, size_t count, struct units *units,
                                     struct devimg_error *err)
{
    units->items = calloc(count + 1, sizeof *units->items);
    if (units->items == NULL)
        return dvi_fail_memory(err, "");
    for (size_t i = 0; i < count; i++) {
        struct dvi_sycl_unit *unit = &units->items[units->count++];
        struct dvi_sycl_flags_asked of_unit = *asked;
        unit->name = of_unit.unit = names[i];
        DVI_TRY(dvi_sycl_flags_make(&of_unit, &unit->flags, err));
    }
    return DEVIMG_OK;
}

static void free_units(struct units *units)
{
    for (size_t i = 0; i < units->count; i++)
        dvi_sycl_flags_free(&units->items[i].flags);
    free(units->items);
}

static enum dvi_exit print_words(struct dvi_line *line, const struct dvi_sycl_flags_asked *asked,
                                 const struct dvi_sycl_flags *flags, const struct units *units)
{
    const int step = choice_of(line, STEP, steps, -1);
    if (flags->targets.refused)
        return refuse_targets(&flags->targets);
    if (dvi_line_has(line, RESPONSE)) {
        const enum dvi_exit status =
            write_response(line, flags, step, asked->syntax == DVI_SYNTAX_MSVC);
        if (status != DVI_EXIT_OK)
            return status;
    }
    return dvi_output_sycl_flags(&line->out, flags, units->items, units->count, step,
                                 dvi_line_has(line, RESPONSE));
}

static enum dvi_exit make_words(struct dvi_line *line, const struct devimg_policy *policy)
{
    const struct dvi_setting *level = dvi_line_get(line, COMPRESSION_LEVEL);
    size_t unit_count = 0, also_count = 0;
    const char *const *names = dvi_line_texts(line, UNIT, NULL, &unit_count);
    const char *const *also = dvi_line_texts(line, ALSO, NULL, &also_count);
    struct dvi_sycl_flags_asked asked = {
        .compiler = (enum dvi_sycl_compiler)choice_of(line, COMPILER, compilers, DVI_SYCL_ICPX),
        .syntax = (enum dvi_sycl_syntax)choice_of(line, SYNTAX, syntaxes, DVI_SYNTAX_GNU),
        .rdc = dvi_line_has(line, RDC),
        .raw = dvi_line_has(line, NO_COMPRESSION),
        .level = level != NULL ? (unsigned)level->number : 0,
        .strict_fp = dvi_line_has(line, STRICT_FP),
        .targets = dvi_line_text(line, TARGETS, NULL),
        .fallback = dvi_line_text(line, FALLBACK, NULL),
        .also = also,
        .also_count = also_count,
        .policy = policy,
        .unit = unit_count == 1 ? dvi_line_text(line, UNIT, NULL) : NULL,
        .units_apart = unit_count > 1,
    };
    struct dvi_sycl_flags flags = { 0 };
    struct units units = { 0 };
    struct devimg_error err = { 0 };
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    if (names == NULL || also == NULL)
        return DVI_EXIT_UNREADABLE;
    enum devimg_status st = dvi_sycl_flags_make(&asked, &flags, &err);
    if (st == DEVIMG_OK && line->out.json && !flags.targets.refused)
        st = make_units(&asked, names, unit_count, &units, &err);
    if (st == DEVIMG_OK)
        status = print_words(line, &asked, &flags, &units);
    else if (err.status == DEVIMG_UNSUPPORTED || err.status == DEVIMG_MALFORMED ||
             err.status == DEVIMG_LIMIT)
        status = dvi_usage(line->command, "%s", err.text);
    else
        dvi_complain(&err);
    free_units(&units);
    dvi_sycl_flags_free(&flags);
    return status;
}

static enum dvi_exit with_policy(struct dvi_line *line)
{
    struct devimg_error err = { 0 };
    struct devimg_policy *policy = NULL;
    if (devimg_policy_new(&policy, &err) != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    enum dvi_exit status = dvi_line_policy(line, POLICY, policy);
    if (status == DVI_EXIT_OK)
        status = make_words(line, policy);
    devimg_policy_free(policy);
    return status;
}

static enum dvi_exit words(struct dvi_line *line)
{
    const bool policy = dvi_line_has(line, POLICY) || dvi_line_has(line, GAP);
    size_t units = 0;
    if (dvi_line_texts(line, UNIT, NULL, &units) == NULL)
        return DVI_EXIT_UNREADABLE;
    if (line->words.count > 0)
        return dvi_usage(line->command, "%s: words are for --lint and --lint-line",
                         line->words.items[0]);
    static const int of_lint[] = { STRICT, DVI_OPTION_COLOR, DVI_OPTION_QUIET, DVI_OPTION_VERBOSE };
    for (size_t i = 0; i < sizeof of_lint / sizeof *of_lint; i++)
        if (dvi_line_has(line, of_lint[i]))
            return dvi_usage(line->command, "--%s is for --lint and --lint-line",
                             dvi_line_get(line, of_lint[i])->option->name);
    if (dvi_line_has(line, RESPONSE) && !dvi_line_has(line, STEP))
        return dvi_usage(line->command, "--response: name the --step that it is for");
    if (dvi_line_has(line, UNIT) && !policy)
        return dvi_usage(line->command, "--unit: name the --policy that has gaps, or a --gap");
    if (units > 1 && !line->out.json)
        return dvi_usage(line->command, "--unit: several are for --format json");
    if (units > 1 && dvi_line_has(line, RESPONSE))
        return dvi_usage(line->command, "--unit: a response file is for one");
    if (dvi_line_has(line, NO_COMPRESSION) && dvi_line_has(line, COMPRESSION_LEVEL))
        return dvi_usage(line->command, "--no-compression and --compression-level: choose one");
    return policy ? with_policy(line) : make_words(line, NULL);
}

/* ---- lint ---- */

static enum dvi_exit lint(struct dvi_line *line)
{
    static const int others[] = { COMPILER, SYNTAX, STEP,           TARGETS,           FALLBACK,
                                  ALSO,     RDC,    NO_COMPRESSION, COMPRESSION_LEVEL, STRICT_FP,
                                  POLICY,   GAP,    UNIT,           RESPONSE };
    struct dvi_lint found = { 0 };
    struct devimg_error err = { 0 };
    const char *path = dvi_line_text(line, LINT, NULL);
    const char *const *link = line->words.count > 0 ? line->words.items : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (dvi_line_has(line, others[i]))
            return dvi_usage(line->command, "--%s is not for --lint",
                             dvi_line_get(line, others[i])->option->name);
    if (path != NULL && dvi_line_has(line, LINT_LINE))
        return dvi_usage(line->command, "--lint and --lint-line: choose one");
    if (path == NULL && link == NULL)
        return dvi_usage(line->command, "--lint-line: name the words of a command line");
    line->out.strict = dvi_line_has(line, STRICT);
    const enum devimg_status st =
        path != NULL ? dvi_lint_commands(path, link, line->words.count, &found, &err)
                     : dvi_lint_line(line->words.items, line->words.count, &found, &err);
    const enum dvi_exit status =
        st == DEVIMG_OK
            ? dvi_output_sycl_lint(&line->out, &found, path != NULL ? path : "command line")
            : dvi_complain_of_list(&err);
    dvi_lint_free(&found);
    return status;
}

static enum dvi_exit run(struct dvi_line *line)
{
    return dvi_line_has(line, LINT) || dvi_line_has(line, LINT_LINE) ? lint(line) : words(line);
}

const struct dvi_command dvi_command_sycl_flags = {
    .name = "sycl flags",
    .words = "[-- WORDS...]",
    .summary = "the words that make a compiler build native images; --lint judges those of a build",
    .text =
        "Prints each argument on a line of its own, for the steps compile, link and device link. "
        "One with a blank in it, such as \"-device a,b\", is one argument, and directly follows "
        "its selector. By default images are made by each compile (-fno-sycl-rdc) and compressed "
        "at level 22. --syntax msvc: link.exe knows no device code, so that one device link makes "
        "an object with every image. Warnings go to stderr, and into the JSON.\n\n"
        "The list is for icpx; acpp and clang get no word of it, with a warning. Unknown names are "
        "all reported at once and make the exit status 2. Gaps of the policy that name a unit leave "
        "their targets out of its words (--unit), which is not possible where one link makes the "
        "images of all units.\n\n"
        "--lint FILE and --lint-line judge command lines instead: a device list that does not get "
        "to ocloc, targets that the link drops, words at the link that the compile line needs, "
        "unknown and repeated targets, no fallback. Words behind -- are those of the link, or the "
        "line itself. Errors make the exit status 1.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exits = {
        "done; with --lint: no errors",
        "with --lint: errors, or warnings with --strict",
        "wrong usage: an unknown name, what the compiler cannot do, a skip where there can be none; or "
        "a list or policy that an option names is not what it should be",
        "a file could not be read or written",
    },
    .examples =
        "devimg sycl flags\tAll steps for the 19 default Intel GPUs.\n"
        "devimg sycl flags --targets dg2-g10,bmg-g21 --step compile --response aot.rsp\tFor "
        "icpx @aot.rsp -c a.cpp.\n"
        "devimg sycl flags --policy devimg.yaml --unit src/a.cpp --step compile\tWithout the "
        "targets that this unit skips.\n"
        "devimg sycl flags --lint build/compile_commands.json -- icpx -fsycl -shared\tDo the lines "
        "of a build do what they seem to?\n",
    .run = run,
};
