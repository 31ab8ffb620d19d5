/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"
#include "output/sycl.h"

enum { SYMBOL = DVI_OPTION_OWN };

static const struct dvi_option options[] = {
    { SYMBOL, "symbol", 's', DVI_VALUE_TEXT, "NAME",
      "the external symbol to add: what the linker is told to include", NULL },
};

static enum dvi_exit run(struct dvi_line *line)
{
    const char *symbol = dvi_line_text(line, SYMBOL, NULL);
    struct devimg_anchored done = { 0 };
    struct devimg_error err = { 0 };
    if (symbol == NULL || line->words.count != 2)
        return dvi_usage(line->command, "give --symbol NAME, the object, and where to write it");
    const struct dvi_anchor_answer answer = { .symbol = symbol,
                                              .input = line->words.items[0],
                                              .output = line->words.items[1],
                                              .done = &done,
                                              .err = &err };
    if (devimg_anchor(answer.input, symbol, answer.output, &done, &err) == DEVIMG_OK ||
        done.code != NULL)
        return dvi_output_sycl_anchor(&line->out, &answer);
    dvi_complain(&err);
    return DVI_EXIT_UNREADABLE;
}

const struct dvi_command dvi_command_sycl_anchor = {
    .name = "sycl anchor",
    .words = "--symbol NAME IN OUT",
    .completes_files = true,
    .summary = "a symbol by which link.exe takes the device images out of a library",
    .text =
        "link.exe knows nothing of SYCL: an object of a static library is linked only when something "
        "refers to it, and nothing refers to the one that registers the device images. IN is the COFF "
        "object (also a bigobj) that the device link wrote; OUT is the same with one more external "
        "symbol, at the place of its descriptor. A source that is always linked asks for it:\n\n"
        "    #pragma comment(linker, \"/include:NAME\")\n\n"
        "Only the count of symbols, the new record and the table of names change. OUT may be IN; it "
        "is written whole or not at all, and a file that is no COFF object is not replaced. An object "
        "that cannot be given an anchor is refused with a code: exit status 1, no output.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .unlisted = DVI_UNLISTED(DVI_OPTION_QUIET) | DVI_UNLISTED(DVI_OPTION_VERBOSE) |
                DVI_UNLISTED(DVI_OPTION_COLOR),
    .exits = { "OUT was written", "the object was refused; nothing was written",
               "wrong usage: stderr says what", "IN could not be read, or OUT not written" },
    .examples =
        "devimg sycl anchor --symbol foo_sycl_images device.obj anchored.obj\tThen the library gets "
        "anchored.obj instead of device.obj.\n",
    .run = run,
};
