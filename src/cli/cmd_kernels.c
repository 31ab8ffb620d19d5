/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/options.h"
#include "query/missing.h"

enum { SORT = DVI_OPTION_OWN, TARGET, WORST, MISSING, MANGLED };

static const struct dvi_option options[] = {
    { SORT, "sort", 0, DVI_VALUE_CHOICE,
      "name|size|spill|private|scratch|slm|registers|sub-group|constant",
      "by name, or by a number, the largest first (default: as they stand in the file)", NULL },
    { TARGET, "target", 0, DVI_VALUE_WORD, "T[,T]",
      "only kernels for these targets: names, aliases, IP versions, families or sets", NULL },
    { WORST, "worst", 0, DVI_VALUE_COUNT, "N",
      "only the first N of each file, by scratch unless --sort says otherwise", NULL },
    { MISSING, "missing", 0, DVI_VALUE_WORD, "T[,T]",
      "instead: kernels without native code for these GPUs, and whether a driver compiles them",
      NULL },
    { MANGLED, "mangled", 0, DVI_VALUE_NONE, NULL, "names as they stand in the file", NULL },
};

static enum dvi_exit show(struct dvi_line *line, const struct dvi_target_set *set)
{
    const struct dvi_setting *sort = dvi_line_get(line, SORT);
    const struct dvi_setting *worst = dvi_line_get(line, WORST);
    struct dvi_kernel_view view = { .mangled = dvi_line_has(line, MANGLED) };
    if (dvi_line_has(line, TARGET))
        view.targets = set;
    if (worst != NULL) {
        view.most = worst->number;
        view.sort = "scratch"; /* what spills is part of it */
    }
    if (sort != NULL)
        view.sort = sort->text;
    dvi_output_begin(&line->out);
    for (size_t i = 0; i < line->words.count; i++) {
        const char *path = line->words.items[i];
        struct devimg_file *file = dvi_open_input(line, path, true);
        if (file != NULL)
            (void)dvi_output_kernels(&line->out, file, path, &view);
        devimg_close(file);
    }
    return dvi_output_end(&line->out);
}

static enum dvi_exit show_missing(struct dvi_line *line, const struct dvi_target_set *set)
{
    for (size_t i = 0; i < set->known.count; i++)
        if (!dvi_target_is_gpu(set->known.items[i]))
            return dvi_usage(line->command, "--missing: %s is no GPU", set->known.items[i]->name);
    if (set->unknown.count > 0) /* an IP version that is in no table */
        return dvi_usage(line->command, "--missing: no target \"%s\"", set->unknown.items[0]);
    dvi_output_begin(&line->out);
    for (size_t i = 0; i < line->words.count; i++) {
        const char *path = line->words.items[i];
        struct devimg_error err = { 0 };
        struct dvi_missing_list list = { 0 };
        struct devimg_file *file = dvi_open_input(line, path, true);
        if (file != NULL && dvi_missing_find(file, set, &list, &err) != DEVIMG_OK)
            dvi_output_unreadable(&line->out, path, &err);
        else if (file != NULL)
            dvi_output_missing(&line->out, file, path, set, &list, dvi_line_has(line, MANGLED));
        dvi_missing_free(&list);
        devimg_close(file);
    }
    return dvi_output_end(&line->out);
}

static enum dvi_exit run(struct dvi_line *line)
{
    struct dvi_target_set set = { 0 };
    enum dvi_exit status = DVI_EXIT_OK;
    const bool missing = dvi_line_has(line, MISSING);
    if (line->words.count == 0)
        status = dvi_usage(line->command, "name a file");
    else if (missing &&
             (dvi_line_has(line, SORT) || dvi_line_has(line, TARGET) || dvi_line_has(line, WORST)))
        status = dvi_usage(line->command, "--missing: goes without --sort, --target and --worst");
    else
        status = dvi_line_targets(line, missing ? MISSING : TARGET, &set);
    if (status == DVI_EXIT_OK)
        status = missing ? show_missing(line, &set) : show(line, &set);
    dvi_target_set_free(&set);
    return status;
}

const struct dvi_command dvi_command_kernels = {
    .name = "kernels",
    .words = "FILE...",
    .completes_files = true,
    .summary = "what each kernel takes and needs",
    .text =
        "A row a kernel and target: sub-group size (\"required\" where the source asks for it), "
        "registers, private memory, spilled registers, shared local memory, the largest "
        "scratch buffer of a thread, and the features it needs. Sizes are bytes. \"-\" stands "
        "for what the image does not state, \"?\" where its format cannot tell the needs.\n\n"
        "With --missing: a row a kernel, module and GPU for which the module holds no native code. "
        "FALLBACK is what a driver compiles for it at first use, \"none\" where it cannot run at "
        "all; NATIVE-IN is another module that has native code of the same kernel.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .reads_files = true,
    .exits = {
        "read, whether or not a kernel is shown",
        "a part of a file is damaged",
        "wrong usage: stderr says what",
        "a file could not be read, or the answer could not be written",
    },
    .examples = "devimg kernels --worst 10 libfoo.so\tThe ten kernels that use most scratch.\n"
                "devimg kernels --target bmg-g21 --sort private libfoo.so\tWhat Battlemage gets.\n"
                "devimg kernels --missing bmg-g21,gfx942 libfoo.so\tWhat these GPUs compile at first "
                "use, or cannot run.\n",
    .run = run,
};
