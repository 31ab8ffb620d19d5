/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"
#include "output/sycl.h"
#include "sycl/gtest.h"

enum { PINS = DVI_OPTION_OWN, LIST, PRESET };

/* clang-format off */
static const struct dvi_option options[] = {
    { PINS, "pins", 0, DVI_VALUE_FILE, "FILE",
      "known failures: preset, suite, type parameter, test, reason between tabs", NULL },
    { LIST, "list", 0, DVI_VALUE_FILE, "FILE",
      "what the test program printed for --gtest_list_tests", NULL },
    { PRESET, "preset", 0, DVI_VALUE_WORD, "NAME",
      "the preset whose pins count", NULL },
};
/* clang-format on */

static enum dvi_exit run(struct dvi_line *line)
{
    const struct dvi_setting *pins = dvi_line_get(line, PINS), *list = dvi_line_get(line, LIST);
    const struct dvi_setting *preset = dvi_line_get(line, PRESET);
    struct dvi_gtest gtest = { 0 };
    struct devimg_error err = { 0 };
    if (pins == NULL || list == NULL || preset == NULL || line->words.count > 0)
        return dvi_usage(line->command, "give --pins FILE, --list FILE and --preset NAME");
    enum dvi_exit ended = DVI_EXIT_UNREADABLE;
    enum devimg_status status = dvi_gtest_read_pins(pins->text, preset->text, &gtest, &err);
    if (status == DEVIMG_OK)
        status = dvi_gtest_read_list(&gtest, list->text, &err);
    if (status == DEVIMG_OK)
        ended = dvi_output_sycl_gtest(&line->out, &gtest);
    else if (gtest.preset_unknown) /* the file is as it should be; the option is not */
        ended = dvi_usage(line->command, "--preset %s: line \"presets\" of %s does not name it",
                          preset->text, pins->text);
    else
        ended = dvi_complain_of_list(&err);
    dvi_gtest_free(&gtest);
    return ended;
}

const struct dvi_command dvi_command_sycl_gtest_filter = {
    .name = "sycl gtest-filter",
    .words = "",
    .summary = "a --gtest_filter that leaves known failures out, though indices shift",
    .text =
        "A typed suite of GoogleTest has a number for each type (Solver/3), which shifts when a type "
        "leaves the list. Known failures are pinned by suite and type parameter instead, for each "
        "preset of the build, and found in what the test program lists.\n\n"
        "The first line of the answer is the filter. A pin that matches nothing is an error: then "
        "there is no filter, and the exit status is 1. Look at the status before you use the filter: "
        "GoogleTest runs no test for an empty one, and passes.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .unlisted = DVI_UNLISTED(DVI_OPTION_QUIET) | DVI_UNLISTED(DVI_OPTION_VERBOSE) |
                DVI_UNLISTED(DVI_OPTION_COLOR),
    .exits = {
        "the filter was printed",
        "a pin matches nothing: no filter",
        "wrong usage, also a --preset that the pins file does not name; or a list that --pins or "
        "--list names is not what it should be",
        "a list could not be read, or the answer could not be written",
    },
    .examples =
        "./tests --gtest_list_tests >list.txt\tWhat the program has.\n"
        "filter=$(devimg sycl gtest-filter --pins known.tsv --list list.txt --preset full) || exit "
        "1\tThe filter, or the end of the script.\n",
    .run = run,
};
