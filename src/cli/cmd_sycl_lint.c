/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"
#include "output/sycl.h"
#include "sycl/source_lint.h"

enum { POLICY = DVI_OPTION_OWN, COMPILE_COMMANDS };

/* clang-format off */
static const struct dvi_option options[] = {
    { DVI_OPTION_POLICY_KEY, "targets", 0, DVI_VALUE_TEXT, "T[,T]",
      "hold sizes to what each of these accepts (default: the policy's, else default-intel)", "targets" },
    { POLICY, "policy", 0, DVI_VALUE_FILE, "FILE",
      "the policy that devimg check takes (YAML): its targets, and its key lint", NULL },
    { COMPILE_COMMANDS, "compile-commands", 0, DVI_VALUE_FILE, "FILE",
      "read the source files of a compile_commands.json, or of a build folder that has one, too", NULL },
    { DVI_OPTION_POLICY_KEY, "macro", 0, DVI_VALUE_WORD, "NAME[:N][,NAME[:N]]",
      "macros whose argument N (default 1) is a size; repeatable", "lint.macros" },
    { DVI_OPTION_POLICY_KEY, "template", 0, DVI_VALUE_WORD, "NAME[:N][,NAME[:N]]",
      "templates whose argument N (default 1) is a size; repeatable", "lint.templates" },
    { DVI_OPTION_POLICY_KEY, "define", 0, DVI_VALUE_WORD, "NAME=N[,NAME=N]",
      "constants that the compiler is given with -D; repeatable", "lint.define" },
    { DVI_OPTION_POLICY_KEY, "header", 0, DVI_VALUE_FILE, "FILE",
      "the one file that may hold attributes and properties, and must check sizes itself; repeatable",
      "lint.header" },
    { DVI_OPTION_POLICY_KEY, "raw", 0, DVI_VALUE_CHOICE, "deny|allow",
      "attributes and properties elsewhere (default deny where a header, macro or template is named)",
      "lint.raw" },
    { DVI_OPTION_POLICY_KEY, "expect-at-least", 0, DVI_VALUE_WORD, "N",
      "fail where fewer required sizes are found", "lint.expect-at-least" },
    { DVI_OPTION_JOBS, "jobs", 'j', DVI_VALUE_COUNT, "N",
      "workers that read files (default: DEVIMG_JOBS, else the cores)", NULL },
    { DVI_OPTION_VERBOSE, "verbose", 'v', DVI_VALUE_NONE, NULL,
      "every finding, and every size that was found", NULL },
};
/* clang-format on */

static enum dvi_exit lint(struct dvi_line *line, const struct devimg_policy *policy)
{
    const struct dvi_size_lint_asked asked = {
        .policy = policy,
        .paths = line->words.items,
        .path_count = line->words.count,
        .commands = dvi_line_text(line, COMPILE_COMMANDS, NULL),
        .threads = line->opts.threads,
    };
    struct dvi_size_lint result = { 0 };
    struct devimg_error err = { 0 };
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    if (dvi_size_lint_run(&asked, &result, &err) == DEVIMG_OK)
        status = dvi_output_size_lint(&line->out, &result);
    else
        status = dvi_complain_of_list(&err);
    dvi_size_lint_free(&result);
    return status;
}

static enum dvi_exit run(struct dvi_line *line)
{
    struct devimg_error err = { 0 };
    struct devimg_policy *policy = NULL;
    if (line->words.count == 0 && !dvi_line_has(line, COMPILE_COMMANDS))
        return dvi_usage(line->command, "name source files, folders, or --compile-commands FILE");
    if (devimg_policy_new(&policy, &err) != DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    enum dvi_exit status = dvi_line_policy(line, POLICY, policy);
    if (status == DVI_EXIT_OK)
        status = lint(line, policy);
    devimg_policy_free(policy);
    return status;
}

const struct dvi_command dvi_command_sycl_lint = {
    .name = "sycl lint",
    .words = "FILE|FOLDER...",
    .completes_files = true,
    .summary = "hold the sub-group sizes that sources require to what every target accepts",
    .text =
        "Reads C, C++ and OpenCL C sources, of folders too, without a compiler and without a "
        "device: attributes, the property sub_group_size<N>, and the macros and templates that "
        "are named or seen to hold one of them. A size may be a number, a constant or an "
        "expression of constants of the sources given; one that is not known fails, as does a "
        "target whose sizes are in no table.\n\n"
        "Nothing is preprocessed: give the headers too. Both sides of a conditional count, but for "
        "#if 0 and #if 1. The first line is the verdict; then a line for each finding, with file, "
        "line and column; -v lists every size that was found.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exits = {
        "every size that was found is accepted by every target",
        "findings",
        "wrong usage; or a policy or list that an option names is not what it should be: a target that "
        "no table has, an unknown key",
        "a file could not be read: it is said, and the rest is still looked at",
    },
    .examples =
        "devimg sycl lint src include\tHeld to the 19 targets of default-intel.\n"
        "devimg sycl lint --policy devimg.yaml --compile-commands build/compile_commands.json "
        "include\tThe units of a build and its headers, as the policy says.\n"
        "devimg sycl lint src --macro MYPROJ_SG --header src/sg.h --expect-at-least 30\tOnly "
        "MYPROJ_SG(N) may require a size, and at least 30 uses must be seen.\n",
    .run = run,
};
