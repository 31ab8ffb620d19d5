/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "cli/options.h"
#include "output/sycl.h"
#include "sycl/doctor.h"

enum { TARGETS = DVI_OPTION_OWN, OCLOC, EXPECT_OCLOC, SYCL_LS, REQUIRE, TIMEOUT };

/* clang-format off */
static const struct dvi_option options[] = {
    { TARGETS, "targets", 0, DVI_VALUE_TEXT, "T[,T]",
      "the list that is to be built (default: default-intel); \"\": none, SPIR-V only", NULL },
    { OCLOC, "ocloc", 0, DVI_VALUE_FILE, "PATH",
      "the ocloc to try (default: the one in PATH)", NULL },
    { EXPECT_OCLOC, "expect-ocloc", 0, DVI_VALUE_WORD, "VERSION",
      "ocloc must be this release; 22.43 is any 22.43.x", NULL },
    { SYCL_LS, "sycl-ls", 0, DVI_VALUE_FILE, "PATH",
      "the sycl-ls to try (default: the one in PATH)", NULL },
    { REQUIRE, "require", 0, DVI_VALUE_PARTS, "PART[,PART]",
      "exit status 1 without ocloc, version, targets, igc, sycl-ls, icpx, icx-cl, clang++ or acpp", NULL },
    { TIMEOUT, "timeout", 0, DVI_VALUE_COUNT, "SECONDS",
      "how long a program may take for one question (default 60)", NULL },
};
/* clang-format on */

/* Add the parts of "icpx, sycl-ls" to the bits; a part that is none is wrong usage. */
static enum dvi_exit add_parts(const struct dvi_line *line, const char *text, unsigned *bits)
{
    struct dvi_view rest = dvi_view_of(text, strlen(text), "require"), word = { 0 };
    while (dvi_next_field(&rest, ',', &word)) {
        unsigned part = 0;
        word = dvi_trimmed(word);
        while (part < DVI_DOCTOR_PARTS && !dvi_equals(word, dvi_doctor_names[part]))
            part++;
        if (word.size > 0 && part == DVI_DOCTOR_PARTS)
            return dvi_usage(
                line->command,
                "--require %.*s: expected ocloc, version, targets, igc, sycl-ls, icpx, "
                "icx-cl, clang++ or acpp",
                (int)word.size, (const char *)word.data);
        if (word.size > 0)
            *bits |= 1U << part;
    }
    return DVI_EXIT_OK;
}

static enum dvi_exit read_parts(struct dvi_line *line, unsigned *bits)
{
    size_t count = 0;
    const char *const *lists = dvi_line_texts(line, REQUIRE, NULL, &count);
    enum dvi_exit status = lists != NULL ? DVI_EXIT_OK : DVI_EXIT_UNREADABLE;
    for (size_t i = 0; i < count && status == DVI_EXIT_OK; i++)
        status = add_parts(line, lists[i], bits);
    return status;
}

static enum dvi_exit examine(struct dvi_line *line, const struct dvi_doctor_asked *asked)
{
    struct dvi_doctor doctor = { 0 };
    struct devimg_error err = { 0 };
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    dvi_interrupts_catch(); /* a temporary folder is removed first */
    const enum devimg_status examined = dvi_doctor_examine(asked, &doctor, &err);
    dvi_interrupts_end();
    if (examined == DEVIMG_OK)
        status = dvi_output_sycl_doctor(&line->out, &doctor);
    else
        dvi_complain(&err);
    dvi_doctor_free(&doctor);
    return status;
}

static enum dvi_exit run(struct dvi_line *line)
{
    const struct dvi_setting *seconds = dvi_line_get(line, TIMEOUT);
    struct dvi_doctor_asked asked = {
        .ocloc = dvi_line_text(line, OCLOC, "ocloc"),
        .sycl_ls = dvi_line_text(line, SYCL_LS, "sycl-ls"),
        .expect_ocloc = dvi_line_text(line, EXPECT_OCLOC, NULL),
        .seconds = seconds != NULL ? (unsigned)seconds->number : DVI_OCLOC_SECONDS,
    };
    if (line->words.count > 0)
        return dvi_usage(line->command, "%s: no file is read; the list goes to --targets",
                         line->words.items[0]);
    asked.lists = dvi_line_texts(line, TARGETS, "default-intel", &asked.count);
    if (asked.lists == NULL)
        return DVI_EXIT_UNREADABLE;
    const enum dvi_exit status = read_parts(line, &asked.required);
    return status == DVI_EXIT_OK ? examine(line, &asked) : status;
}

const struct dvi_command dvi_command_sycl_doctor = {
    .name = "sycl doctor",
    .words = "",
    .summary = "can this machine build native Intel images? what is missing, and how to get it",
    .text =
        "Everything is tried: ocloc is asked for its version and for each name of the list, and "
        "compiles a small kernel, which proves that its compiler libraries (IGC) load; sycl-ls and "
        "the compilers icpx, icx-cl, clang++ (if it is DPC++) and acpp are run. The first line is "
        "the answer; then a line a part, with what to do where something is missing.\n\n"
        "ocloc, the names and IGC are required when the list is not empty; the version with "
        "--expect-ocloc; any other part only when --require names it. What is required and not so "
        "makes the exit status 1; anything else that is missing is a note.\n\n"
        "Programs run without a shell, under a time limit, in a temporary folder that is removed "
        "at the end. One that fails, crashes or hangs is not believed, and its own words are "
        "shown.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .unlisted = DVI_UNLISTED(DVI_OPTION_VERBOSE),
    .exits = {
        "all that is required is there",
        "something required is missing, broken, not what was asked for, or cannot be told",
        "wrong usage: stderr says what",
        "out of memory, or the answer could not be written",
    },
    .examples =
        "devimg sycl doctor\tThe 19 default Intel GPUs, with what is in PATH.\n"
        "devimg sycl doctor --targets bmg-g21,lnl-m --expect-ocloc 26.35 --require icpx\tFor CI: "
        "exit status 1 unless all of it is there.\n"
        "devimg sycl doctor --targets \"\"\tNo native images: nothing of ocloc is required.\n",
    .run = run,
};
