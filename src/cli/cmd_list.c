/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

enum { IMAGES = DVI_OPTION_OWN, MODULES, KERNELS };

static const struct dvi_option options[] = {
    { IMAGES, "images", 0, DVI_VALUE_NONE, NULL, "a row an image, not a row a target", NULL },
    { MODULES, "modules", 0, DVI_VALUE_NONE, NULL,
      "a row a module: the images that stand for the same kernels, and the targets it lacks",
      NULL },
    { KERNELS, "kernels", 0, DVI_VALUE_NONE, NULL, "decode the kernels and list them too", NULL },
};

static enum dvi_exit run(struct dvi_line *line)
{
    struct dvi_list_view view = { .rows = DVI_LIST_TARGETS };
    if (line->words.count == 0)
        return dvi_usage(line->command, "name a file");
    if (dvi_line_has(line, IMAGES) && dvi_line_has(line, MODULES))
        return dvi_usage(line->command, "--images and --modules: choose one");
    if (dvi_line_has(line, IMAGES))
        view.rows = DVI_LIST_IMAGES;
    else if (dvi_line_has(line, MODULES))
        view.rows = DVI_LIST_MODULES;
    view.kernels = dvi_line_has(line, KERNELS);
    dvi_output_begin(&line->out);
    for (size_t i = 0; i < line->words.count; i++) {
        const char *path = line->words.items[i];
        struct devimg_file *file = dvi_open_input(line, path, view.kernels);
        if (file != NULL)
            dvi_output_list(&line->out, file, path, &view);
        devimg_close(file);
    }
    return dvi_output_end(&line->out);
}

const struct dvi_command dvi_command_list = {
    .name = "list",
    .words = "FILE...",
    .completes_files = true,
    .summary = "what device code files carry, by target",
    .text = "The first line of each file answers: which kind of device code, for how many GPUs, "
            "and whether a portable fallback is there. Then a row a target with its IP version, "
            "format, images, kernels, bytes in the file, bytes inflated and compression; then what "
            "is special: images stored raw, images that the program never registers, support "
            "images; then what could not be read.\n\n"
            "\"devimg FILE...\" is the same. \"No device code\" is an answer, not an error. "
            "\"-\" stands for what a file does not state. The members of a static library are read "
            "as files of their own; text writes them as lib.a!member.o.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .reads_files = true,
    .exits = {
        "read, with or without device code",
        "a part of a file is damaged",
        "wrong usage: stderr says what",
        "a file could not be read, or the answer could not be written",
    },
    .examples = "devimg libfoo.so\tShow what libfoo.so carries.\n"
                "devimg list --images libfoo.so\tShow every image with its offset and size.\n"
                "devimg list --format json build/*.so\tThe same facts, for a program.\n",
    .run = run,
};
