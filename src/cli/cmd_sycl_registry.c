/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"
#include "output/sycl.h"
#include "sycl/registry.h"

enum { RUN = DVI_OPTION_OWN, AT_LEAST, TIMEOUT };
enum { SECONDS = 60 };

/* clang-format off */
static const struct dvi_option options[] = {
    { AT_LEAST, "at-least", 0, DVI_VALUE_COUNT, "N",
      "exit status 1 when fewer entries than N are registered, or it cannot be told", NULL },
    { RUN, "run", 0, DVI_VALUE_NONE, NULL,
      "start the program, or load the library, and count what it registers", NULL },
    { TIMEOUT, "timeout", 0, DVI_VALUE_COUNT, "SECONDS",
      "with --run: stop the program after so long (default 60)", NULL },
    { DVI_OPTION_QUIET, "quiet", 'q', DVI_VALUE_NONE, NULL,
      "only the first line; failures on standard error", NULL },
    { DVI_OPTION_VERBOSE, "verbose", 'v', DVI_VALUE_NONE, NULL,
      "objects without SYCL images too", NULL },
};
/* clang-format on */

static enum dvi_exit answer(struct dvi_line *line, const struct dvi_registry *registry)
{
    const struct dvi_setting *least = dvi_line_get(line, AT_LEAST);
    return dvi_output_sycl_registry(&line->out, registry, line->words.items[0],
                                    least != NULL ? least->number : 0);
}

static enum dvi_exit count_file(struct dvi_line *line, struct dvi_arena *arena)
{
    const char *path = line->words.items[0];
    struct devimg_error err = { 0 };
    struct devimg_file *file = NULL;
    struct dvi_registry registry = { 0 };
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    if (devimg_open(path, &line->opts, &file, &err) == DEVIMG_OK &&
        dvi_registry_read(file, path, arena, &registry, &err) == DEVIMG_OK)
        status = answer(line, &registry);
    else
        dvi_complain(&err);
    dvi_registry_free(&registry);
    devimg_close(file);
    return status;
}

static enum dvi_exit count_run(struct dvi_line *line, struct dvi_arena *arena)
{
    const struct dvi_setting *seconds = dvi_line_get(line, TIMEOUT);
    struct devimg_error err = { 0 };
    struct dvi_registry registry = { 0 };
    const char **end = DVI_ADD(&line->words); /* NULL, behind the words */
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    if (end == NULL)
        (void)dvi_fail_memory(&err, "sycl registry");
    if (end != NULL &&
        dvi_registry_run(line->words.items,
                         seconds != NULL ? (unsigned)seconds->number : (unsigned)SECONDS, arena,
                         &registry, &err) == DEVIMG_OK)
        status = answer(line, &registry);
    else
        dvi_complain(&err);
    dvi_registry_free(&registry);
    return status;
}

static enum dvi_exit run(struct dvi_line *line)
{
    struct dvi_arena arena = { 0 };
    const bool runs = dvi_line_has(line, RUN);
    if (line->words.count == 0)
        return dvi_usage(line->command,
                         runs ? "name a program or a shared library" : "name a file");
    if (!runs && line->words.count > 1)
        return dvi_usage(line->command, "%s: name one file; a program's arguments go with --run",
                         line->words.items[1]);
    if (!runs && dvi_line_has(line, TIMEOUT))
        return dvi_usage(line->command, "--timeout goes with --run");
    const enum dvi_exit status = runs ? count_run(line, &arena) : count_file(line, &arena);
    dvi_arena_free(&arena);
    return status;
}

const struct dvi_command dvi_command_sycl_registry = {
    .name = "sycl registry",
    .words = "FILE | --run PROGRAM [ARG...]",
    .completes_files = true,
    .runs = RUN,
    .summary = "how many kernels start-up registers, read in a file or counted in a run",
    .text =
        "The first line says how many entries (kernels, and functions that images export) in how many "
        "device images and descriptors start-up code hands to __sycl_register_lib. A descriptor that "
        "only lies in the file does not count. Where images are there and their registration is not, "
        "as after a link by link.exe, the next line says so, and what to do. What the file does not "
        "let one tell is unknown: null in JSON, and exit status 1.\n\n"
        "FILE is an ELF, PE or COFF file, or a static library, whose objects are counted one by one. "
        "It is read, not run; no GPU and no SYCL runtime is needed.\n\n"
        "--run starts PROGRAM with its arguments (options of devimg stand before it), or loads it "
        "where it is a shared library, and counts each call of __sycl_register_lib, which is then "
        "handed on. It runs with your rights: name only what you would run without devimg. Linux "
        "only; nothing stands on its standard input, and what it prints is not shown. A program "
        "that fails, or does not end in time, is said and is exit status 1.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .reads_files = true,
    .exits = {
        "all device images that are there are registered, or there are none",
        "some are not, or too few, or it cannot be told; --run: none was, or the program failed",
        "wrong usage: stderr says what",
        "the file could not be read, the program not started, or the answer not written",
    },
    .examples =
        "devimg sycl registry --at-least 21 foo.dll\tFor CI: fail when link.exe dropped the device "
        "images.\n"
        "devimg sycl registry --run libfoo.so\tLoad it, and count what really happens.\n"
        "devimg sycl registry --run ./tests --help\tThe same for a program.\n",
    .run = run,
};
