/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/options.h"
#include "output/escape.h"
#include "target/target.h"

enum { SORT = DVI_OPTION_OWN, TARGET, WORST, MANGLED };

static const struct dvi_option options[] = {
    { SORT, "sort", 0, DVI_VALUE_CHOICE, "name|size|spill|private|scratch|slm|registers|sub-group",
      "by name, or by a number, the largest first (default: as they stand in the file)", NULL },
    { TARGET, "target", 0, DVI_VALUE_TEXT, "T[,T]",
      "only kernels for these targets: names, aliases, IP versions, families or sets", NULL },
    { WORST, "worst", 0, DVI_VALUE_COUNT, "N",
      "only the first N of each file, by scratch unless --sort says otherwise", NULL },
    { MANGLED, "mangled", 0, DVI_VALUE_NONE, NULL, "names as they stand in the file", NULL },
};

static bool read_targets(const struct dvi_line *line, struct dvi_target_set *set,
                         struct dvi_arena *arena)
{
    struct devimg_error err = { 0 };
    for (size_t i = 0; i < line->settings.count; i++) {
        if (line->settings.items[i].option->id != TARGET)
            continue;
        if (dvi_target_set_add(set, line->settings.items[i].text, arena, &err) != DEVIMG_OK) {
            dvi_complain(&err);
            return false;
        }
    }
    return true;
}

/* A version that no table has may still be one that a file states; any other name is a slip. */
static bool is_version(const char *name)
{
    return name[strspn(name, "0123456789.")] == '\0';
}

static enum dvi_exit refuse_unknown(const struct dvi_line *line, const struct dvi_target_set *set)
{
    if (dvi_line_get(line, TARGET) != NULL && set->known.count + set->unknown.count == 0)
        return dvi_usage(line->command, "--target: name a target");
    for (size_t i = 0; i < set->unknown.count; i++) {
        const char *name = set->unknown.items[i], *nearest = dvi_target_nearest(name);
        if (is_version(name))
            continue;
        if (nearest != NULL)
            return dvi_usage(line->command, "--target: no target \"%s\": did you mean %s?", name,
                             nearest);
        return dvi_usage(line->command, "--target: no target \"%s\"", name);
    }
    return DVI_EXIT_OK;
}

static enum dvi_exit show(struct dvi_line *line, const struct dvi_target_set *set)
{
    const struct dvi_setting *sort = dvi_line_get(line, SORT);
    const struct dvi_setting *worst = dvi_line_get(line, WORST);
    struct dvi_kernel_view view = { .mangled = dvi_line_get(line, MANGLED) != NULL };
    if (dvi_line_get(line, TARGET) != NULL)
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

static enum dvi_exit run(struct dvi_line *line)
{
    struct dvi_target_set set = { 0 };
    struct dvi_arena arena = { 0 };
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    if (line->words.count == 0)
        status = dvi_usage(line->command, "name a file");
    else if (read_targets(line, &set, &arena))
        status = refuse_unknown(line, &set);
    if (status == DVI_EXIT_OK)
        status = show(line, &set);
    dvi_target_set_free(&set);
    dvi_arena_free(&arena);
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
        "for what the image does not state, \"?\" where its format cannot tell the needs.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .reads_files = true,
    .examples = "devimg kernels --worst 10 libfoo.so\tThe ten kernels that use most scratch.\n"
                "devimg kernels --target bmg-g21 --sort private libfoo.so\tWhat Battlemage gets.\n",
    .run = run,
};
