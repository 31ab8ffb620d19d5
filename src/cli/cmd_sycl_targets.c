/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"
#include "output/sycl.h"
#include "sycl/targets.h"

enum { OCLOC = DVI_OPTION_OWN, NARROW, TIMEOUT };

/* clang-format off */
static const struct dvi_option options[] = {
    { OCLOC, "ocloc", 0, DVI_VALUE_FILE, "PATH",
      "ask this ocloc for every name; a bare name is looked up in PATH", NULL },
    { NARROW, "narrow-to-ocloc", 0, DVI_VALUE_NONE, NULL,
      "leave out what ocloc (--ocloc, else the one in PATH) does not know, and say so", NULL },
    { TIMEOUT, "timeout", 0, DVI_VALUE_COUNT, "SECONDS",
      "with these: how long ocloc may take for a name (default 60)", NULL },
};
/* clang-format on */

static enum dvi_exit run(struct dvi_line *line)
{
    const struct dvi_setting *ocloc = dvi_line_get(line, OCLOC);
    const struct dvi_setting *seconds = dvi_line_get(line, TIMEOUT);
    struct dvi_sycl_targets_asked asked = {
        .lists = line->words.items,
        .count = line->words.count,
        .ocloc = ocloc != NULL ? ocloc->text : NULL,
        .seconds = seconds != NULL ? (unsigned)seconds->number : DVI_OCLOC_SECONDS,
        .narrow = dvi_line_has(line, NARROW),
    };
    struct dvi_sycl_targets targets = { 0 };
    struct devimg_error err = { 0 };
    if (line->words.count == 0)
        return dvi_usage(line->command, "name a list: default-intel, names between commas, or \"\" "
                                        "for none");
    if (seconds != NULL && ocloc == NULL && !asked.narrow)
        return dvi_usage(line->command, "--timeout goes with --ocloc or --narrow-to-ocloc");
    if (asked.narrow && asked.ocloc == NULL)
        asked.ocloc = "ocloc";
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    if (dvi_sycl_targets_read(&asked, &targets, &err) == DEVIMG_OK) {
        status = dvi_output_sycl_targets(&line->out, &targets);
    } else {
        dvi_complain(&err);
        if (err.status == DEVIMG_IO)
            fprintf(stderr, "devimg sycl targets: %s\n", dvi_sycl_ocloc_remedy);
    }
    dvi_sycl_targets_free(&targets);
    return status;
}

const struct dvi_command dvi_command_sycl_targets = {
    .name = "sycl targets",
    .words = "LIST...",
    .summary = "a list of ahead-of-time targets: what it means, and what ocloc makes of it",
    .text =
        "LIST has names between commas: any spelling that `devimg targets` accepts, a family, or a "
        "set; default-intel (also: default) is the 19 Intel GPUs that are built for by default. "
        "\"\" is no target: SPIR-V only. Blanks around names and empty names are dropped, a "
        "repeated name counts once, two names of one IP version stay two.\n\n"
        "The first line of the text is the list itself, for scripts; then mode, form, IP versions, "
        "the sub-group sizes that every target accepts, and the word for the compiler. Names that "
        "are unknown, to the tables or to the ocloc asked, are all reported at once and make the "
        "exit status 1; then the first line is \"refused\". No program is started unless --ocloc "
        "or --narrow-to-ocloc asks for it; one that hangs, crashes or answers with anything else "
        "than ocloc's words is not believed: exit status 3.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .unlisted = DVI_UNLISTED(DVI_OPTION_VERBOSE),
    .exits = {
        "every name is known",
        "the list is refused: a name is unknown or not measured, or narrowing left nothing",
        "wrong usage: stderr says what",
        "ocloc could not be asked, or the answer could not be written",
    },
    .examples =
        "devimg sycl targets default-intel\tThe 19 names, their IP versions and sub-group sizes.\n"
        "devimg sycl targets default-intel --ocloc ocloc\tDoes the ocloc in PATH know all of them?\n"
        "devimg sycl targets default-intel --narrow-to-ocloc -q\tThe list that it does know; what "
        "was dropped is said on stderr.\n",
    .run = run,
};
