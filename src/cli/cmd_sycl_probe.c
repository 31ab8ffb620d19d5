/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/interrupt.h"
#include "check/values.h"
#include "cli/options.h"
#include "output/sycl.h"
#include "sycl/probe.h"

enum { TARGETS = DVI_OPTION_OWN, OCLOC, SIZES, TIMEOUT, EXPECT_ALL, ROWS };

/* clang-format off */
static const struct dvi_option options[] = {
    { TARGETS, "targets", 0, DVI_VALUE_TEXT, "T[,T]",
      "what to measure (default: default-intel); a name that no table has is asked for as well", NULL },
    { OCLOC, "ocloc", 0, DVI_VALUE_FILE, "PATH",
      "the ocloc to measure with (default: the one in PATH)", NULL },
    { SIZES, "sizes", 0, DVI_VALUE_WORD, "N[,N]",
      "the sub-group sizes to try (default 8,16,32)", NULL },
    { TIMEOUT, "timeout", 0, DVI_VALUE_COUNT, "SECONDS",
      "how long ocloc may take for a kernel (default 120)", NULL },
    { DVI_OPTION_JOBS, "jobs", 'j', DVI_VALUE_COUNT, "N",
      "kernels compiled at once (default: DEVIMG_JOBS, else the cores)", NULL },
    { EXPECT_ALL, "expect-all", 0, DVI_VALUE_NONE, NULL,
      "exit status 1 also for a name that this ocloc does not know", NULL },
    { ROWS, "rows", 0, DVI_VALUE_NONE, NULL,
      "print new targets as rows for data/targets/intel.tsv, and nothing else", NULL },
};
/* clang-format on */

static bool is_about_ocloc(const struct devimg_error *err, const struct dvi_probe_asked *asked,
                           const struct dvi_probe *probe)
{
    return strcmp(err->source, asked->ocloc) == 0 ||
           (probe->ocloc != NULL && strcmp(err->source, probe->ocloc) == 0);
}

static enum dvi_exit measure(struct dvi_line *line, const struct dvi_probe_asked *asked)
{
    struct dvi_probe probe = { 0 };
    struct devimg_error err = { 0 };
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    dvi_interrupts_catch(); /* temporary folders are removed first */
    const enum devimg_status measured = dvi_probe_run(asked, &probe, &err);
    dvi_interrupts_end();
    if (measured == DEVIMG_OK) {
        status = dvi_output_sycl_probe(&line->out, &probe, dvi_line_has(line, ROWS));
    } else if (measured == DEVIMG_MALFORMED) {
        status = dvi_usage(line->command, "--targets: %s: %s", err.source, err.text);
    } else {
        dvi_complain(&err);
        if (err.status == DEVIMG_IO && is_about_ocloc(&err, asked, &probe))
            fprintf(stderr, "devimg sycl probe: %s\n", dvi_sycl_ocloc_remedy);
    }
    dvi_probe_free(&probe);
    return status;
}

static enum dvi_exit run(struct dvi_line *line)
{
    const struct dvi_setting *seconds = dvi_line_get(line, TIMEOUT);
    struct dvi_probe_asked asked = {
        .ocloc = dvi_line_text(line, OCLOC, "ocloc"),
        .sizes = 8 | 16 | 32,
        .seconds = seconds != NULL ? (unsigned)seconds->number : DVI_PROBE_SECONDS,
        .threads = line->opts.threads,
        .all = dvi_line_has(line, EXPECT_ALL),
    };
    struct devimg_error err = { 0 };
    const struct dvi_spot spot = { .source = "--sizes" };
    if (line->words.count > 0)
        return dvi_usage(line->command, "%s: no file is read; names go to --targets",
                         line->words.items[0]);
    const char *sizes = dvi_line_text(line, SIZES, NULL);
    if (sizes != NULL && dvi_value_sizes(sizes, &asked.sizes, &spot, &err) != DEVIMG_OK)
        return dvi_usage(line->command, "--sizes %s: expected sizes such as 16,32, powers of two",
                         sizes);
    if (dvi_line_has(line, ROWS) && line->out.json)
        return dvi_usage(line->command, "--rows is text: leave --format json out");
    asked.lists = dvi_line_texts(line, TARGETS, "default-intel", &asked.count);
    return asked.lists != NULL ? measure(line, &asked) : DVI_EXIT_UNREADABLE;
}

const struct dvi_command dvi_command_sycl_probe = {
    .name = "sycl probe",
    .words = "",
    .summary = "sub-group sizes and fp64 of targets, measured with ocloc and held to the tables",
    .text =
        "Compiles one-line OpenCL kernels for each target alone: one that requires each sub-group "
        "size, and one with double. Accepted is what gives an image that states the size; refused is "
        "what ocloc says the target cannot do; anything else (a crash, a hang, a missing library) "
        "could not be measured. The result is compared with the tables.\n\n"
        "Exit status 1: something differs, or could not be measured, or nothing could. A name that "
        "this ocloc does not know is unknown, never guessed from another; it fails with "
        "--expect-all, and where no table has it either. One that no table has is new: --rows prints "
        "its row.\n\n"
        "ocloc runs without a shell, under a time limit, in temporary folders that are removed at "
        "the end. One that cannot be started, or does not answer as an ocloc: exit status 3.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .unlisted = DVI_UNLISTED(DVI_OPTION_VERBOSE),
    .exits = {
        "what was measured is as in the tables, or new",
        "something differs or could not be measured; nothing was measured; nobody knows a name; --expect-all: this ocloc does not know one",
        "wrong usage: stderr says what",
        "no ocloc could be asked, or the answer could not be written",
    },
    .examples =
        "devimg sycl probe\tThe 19 default Intel GPUs, with the ocloc in PATH.\n"
        "devimg sycl probe --targets pvc,dg2-g10 --ocloc ./ocloc --expect-all\tTwo targets, with a "
        "pinned ocloc that must know them.\n"
        "devimg sycl probe --targets xyz-g10 --rows\tA row for the tables, of a target that they do "
        "not have.\n",
    .run = run,
};
