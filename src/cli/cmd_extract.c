/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cli/options.h"
#include "edit/select.h"

enum { OUTPUT = DVI_OPTION_OWN, TARGET, IMAGE_FORMAT, KERNEL, INDEX, ARCHIVES, STORED, FORCE };

static const struct dvi_option options[] = {
    { OUTPUT, "output", 'o', DVI_VALUE_FILE, "DIR",
      "the folder to write into; made where it is missing", NULL },
    { TARGET, "target", 0, DVI_VALUE_WORD, "T[,T]",
      "only images for these targets: names, aliases, IP versions, families or sets", NULL },
    { IMAGE_FORMAT, "image-format", 0, DVI_VALUE_CHOICE,
      "zebin|patchtoken|spirv|cubin|ptx|lto-ir|amdgpu|bitcode|unknown",
      "only images of this format", NULL },
    { KERNEL, "kernel", 0, DVI_VALUE_WORD, "PATTERN",
      "only images that hold a kernel whose name, mangled or not, matches: * ? [a-z]", NULL },
    { INDEX, "index", 0, DVI_VALUE_INDEX, "N",
      "only image N as \"devimg list --images\" counts, also an archive; repeatable", NULL },
    { ARCHIVES, "archives", 0, DVI_VALUE_NONE, NULL,
      "archives as they are, instead of the images that they hold", NULL },
    { STORED, "stored", 0, DVI_VALUE_NONE, NULL,
      "the bytes as they stand in the file: compressed, and archives whole", NULL },
    { FORCE, "force", 0, DVI_VALUE_NONE, NULL, "replace files that are there", NULL },
};

static bool selects(const struct dvi_selection *s)
{
    return s->targets != NULL || s->format != NULL || s->kernel != NULL || s->indices.count > 0;
}

/* The images of one file; `*opened`: it could be read. */
static void extract_file(struct dvi_line *line, const struct dvi_selection *selection,
                         struct devimg_extraction *extraction, const char *path, bool *opened)
{
    struct devimg_error err = { 0 };
    uint32_t first = 0, count = 0;
    struct devimg_file *file = dvi_open_input(line, path, selection->kernel != NULL);
    if (file == NULL)
        return;
    *opened = true;
    uint8_t *wanted = malloc((size_t)devimg_image_count(file) + 1);
    if (wanted == NULL)
        (void)dvi_fail_memory(&err, path);
    if (wanted != NULL && dvi_select(file, selection, wanted, &err) == DEVIMG_OK &&
        devimg_extraction_add(extraction, file, wanted, &first, &count, &err) == DEVIMG_OK)
        dvi_output_extract(&line->out, file, path, dvi_line_text(line, OUTPUT, NULL), extraction,
                           first, count);
    else
        dvi_output_unreadable(&line->out, path, &err);
    free(wanted);
    devimg_close(file);
}

static enum dvi_exit extract(struct dvi_line *line, const struct dvi_selection *selection)
{
    const struct devimg_extract_opts opts = { .struct_size = sizeof opts,
                                              .as_stored = dvi_line_has(line, STORED),
                                              .force = dvi_line_has(line, FORCE) };
    struct devimg_error err = { 0 };
    struct devimg_extraction *extraction = NULL;
    bool opened = false;
    if (devimg_extraction_new(dvi_line_text(line, OUTPUT, NULL), &opts, &extraction, &err) !=
        DEVIMG_OK)
        return dvi_complain_unreadable(&err);
    dvi_output_begin(&line->out);
    for (size_t i = 0; i < line->words.count; i++)
        extract_file(line, selection, extraction, line->words.items[i], &opened);
    if (opened && selects(selection) && devimg_extraction_count(extraction) == 0)
        dvi_output_unmatched(&line->out);
    devimg_extraction_free(extraction);
    return dvi_output_end(&line->out);
}

static enum dvi_exit read_selection(struct dvi_line *line, struct dvi_selection *out,
                                    struct dvi_target_set *targets)
{
    out->format = dvi_line_text(line, IMAGE_FORMAT, NULL);
    out->kernel = dvi_line_text(line, KERNEL, NULL);
    out->whole = dvi_line_has(line, ARCHIVES) || dvi_line_has(line, STORED);
    if (dvi_line_has(line, TARGET))
        out->targets = targets;
    for (size_t i = 0; i < line->settings.count; i++) {
        if (line->settings.items[i].option->id != INDEX)
            continue;
        uint32_t *index = DVI_ADD(&out->indices);
        if (index == NULL)
            return dvi_no_memory();
        *index = (uint32_t)line->settings.items[i].number; /* checked when it was parsed */
    }
    return dvi_line_targets(line, TARGET, targets);
}

static enum dvi_exit run(struct dvi_line *line)
{
    struct dvi_selection selection = { 0 };
    struct dvi_target_set targets = { 0 };
    const char *folder = dvi_line_text(line, OUTPUT, NULL);
    if (line->words.count == 0)
        return dvi_usage(line->command, "name a file");
    if (folder == NULL)
        return dvi_usage(line->command, "name a folder to write into: -o DIR");
    enum dvi_exit status = read_selection(line, &selection, &targets);
    if (status == DVI_EXIT_OK)
        status = extract(line, &selection);
    DVI_LIST_FREE(&selection.indices);
    dvi_target_set_free(&targets);
    return status;
}

const struct dvi_command dvi_command_extract = {
    .name = "extract",
    .words = "FILE... -o DIR",
    .completes_files = true,
    .summary = "write the images that files carry, each as a file of its own",
    .text =
        "Each image is written inflated, as libfoo.so.0003.dg2-g10.zebin: the file (of a static "
        "library with the member, as libfoo.a@bar.o), the number that \"devimg list --images\" "
        "gives the image, its target, its format. Of an archive its members are written. A row a "
        "file says which image it is and where that lies: at an offset of the file, or in another "
        "image. Options that select must all hold.\n\n"
        "Nothing is written outside DIR, whatever the names in the file are, and no link is "
        "followed; DIR itself may not be one. A file that is there already is an error unless "
        "--force is given, and then only a regular file is replaced. Files appear whole or not at "
        "all; when one cannot be written, the others still are.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .reads_files = true,
    .exits = {
        "every selected image is written; also when a file carries no device code",
        "a part of a file is damaged or an image does not inflate; or no image of any file is what was "
        "asked for",
        "wrong usage: stderr says what",
        "a file could not be read, DIR could not be opened, or a file in it could not be written",
    },
    .examples =
        "devimg extract libfoo.so -o images\tEvery image, inflated.\n"
        "devimg extract --target pvc --kernel \"*gemm*\" libfoo.so -o images\tThe native code of "
        "some kernels for one GPU, to be disassembled.\n"
        "devimg extract --stored libfoo.so -o images\tThe bytes as the linker put them there.\n",
    .run = run,
};
