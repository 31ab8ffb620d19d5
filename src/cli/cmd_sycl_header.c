/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "base/names.h"
#include "cli/options.h"
#include "edit/anchor.h"
#include "output/sycl.h"
#include "sycl/header.h"

enum { OUTPUT = DVI_OPTION_OWN, TARGETS, CHECK, PREFIX, NAMESPACE, ANCHOR };

/* clang-format off */
static const struct dvi_option options[] = {
    { TARGETS, "targets", 0, DVI_VALUE_TEXT, "T[,T]",
      "the list that is built for (default: default-intel); \"\": none, SPIR-V only", NULL },
    { OUTPUT, "output", 'o', DVI_VALUE_FILE, "FILE",
      "write it to this file, or as devimg_sycl.h into this folder (default: to stdout)", NULL },
    { CHECK, "check", 0, DVI_VALUE_FILE, "FILE",
      "write nothing: exit status 1 when this file is not what would be written", NULL },
    { PREFIX, "prefix", 0, DVI_VALUE_WORD, "NAME",
      "of the macros (default DEVIMG)", NULL },
    { NAMESPACE, "namespace", 0, DVI_VALUE_WORD, "NAME",
      "of the templates, A::B too (default: the prefix in lower case)", NULL },
    { ANCHOR, "anchor", 0, DVI_VALUE_WORD, "SYMBOL",
      "Windows: tell link.exe to include this symbol, which devimg sycl anchor adds", NULL },
    { DVI_OPTION_QUIET, "quiet", 'q', DVI_VALUE_NONE, NULL,
      "with -o or --check: nothing but what is wrong", NULL },
};
/* clang-format on */

/* The file to write: of a folder, the one with the usual name in it. NULL: no memory. */
static const char *file_of(const char *path, struct dvi_arena *arena)
{
    const size_t size = strlen(path);
    struct stat info;
    if (size > 0 && path[size - 1] == '/')
        return dvi_arena_format(arena, "%sdevimg_sycl.h", path);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return dvi_arena_format(arena, "%s/devimg_sycl.h", path);
    return path;
}

static const char *lower(const char *text, struct dvi_arena *arena)
{
    char *out = dvi_arena_array(arena, strlen(text) + 1, 1);
    for (size_t i = 0; out != NULL && text[i] != '\0'; i++)
        out[i] = (char)tolower((unsigned char)text[i]);
    return out;
}

static enum dvi_exit make(struct dvi_line *line, const struct dvi_sycl_header_asked *asked)
{
    struct dvi_sycl_header header = { 0 };
    struct devimg_error err = { 0 };
    const bool check = dvi_line_has(line, CHECK);
    const char *path = dvi_line_text(line, check ? CHECK : OUTPUT, NULL);
    enum dvi_exit status = DVI_EXIT_UNREADABLE;
    enum devimg_status made = DEVIMG_OK;
    if (path != NULL && (path = file_of(path, &line->arena)) == NULL)
        made = dvi_fail_memory(&err, "sycl header");
    if (made == DEVIMG_OK)
        made = dvi_sycl_header_make(asked, &header, &err);
    if (made == DEVIMG_OK)
        status = dvi_output_sycl_header(&line->out, &header, path, check);
    else
        dvi_complain(&err);
    dvi_sycl_header_free(&header);
    return status;
}

static enum dvi_exit run_asked(struct dvi_line *line)
{
    const char *prefix = dvi_line_text(line, PREFIX, "DEVIMG");
    struct dvi_sycl_header_asked asked = { .prefix = prefix };
    if (!dvi_is_identifier(prefix))
        return dvi_usage(line->command, "--prefix %s: expected an identifier", prefix);
    const char *space = dvi_line_text(line, NAMESPACE, NULL);
    asked.space = space != NULL ? space : lower(prefix, &line->arena);
    if (asked.space == NULL)
        return dvi_no_memory();
    if (!dvi_is_namespace(asked.space))
        return dvi_usage(line->command, "--namespace %s: expected identifiers with :: between",
                         asked.space);
    asked.anchor = dvi_line_text(line, ANCHOR, NULL);
    if (asked.anchor != NULL &&
        !(dvi_is_identifier(asked.anchor) && dvi_is_anchor_name(asked.anchor)))
        return dvi_usage(line->command,
                         "--anchor %.80s: expected an identifier of %d to %d characters",
                         asked.anchor, (int)DVI_ANCHOR_LEAST, (int)DVI_ANCHOR_MOST);
    asked.lists = dvi_line_texts(line, TARGETS, "default-intel", &asked.count);
    return asked.lists != NULL ? make(line, &asked) : DVI_EXIT_UNREADABLE;
}

static enum dvi_exit run(struct dvi_line *line)
{
    if (line->words.count > 0)
        return dvi_usage(line->command, "%s: no file is read; the list goes to --targets",
                         line->words.items[0]);
    if (dvi_line_has(line, CHECK) && dvi_line_has(line, OUTPUT))
        return dvi_usage(line->command, "--check writes nothing: leave --output out");
    if (dvi_line_has(line, DVI_OPTION_QUIET) && !dvi_line_has(line, CHECK) &&
        !dvi_line_has(line, OUTPUT))
        return dvi_usage(line->command, "--quiet goes with --output or --check");
    return run_asked(line);
}

const struct dvi_command dvi_command_sycl_header = {
    .name = "sycl header",
    .words = "",
    .summary = "a C++ header that refuses a sub-group size which a target refuses, at compile time",
    .text =
        "Sources that include the header and ask for sub-group sizes through it do not compile with "
        "a size that some target of the list refuses. The sizes come from the list and the tables; "
        "for one device or none, the default list counts as well, because such a build never "
        "compiles for the GPUs that would refuse. A target that no table has measured is refused.\n\n"
        "DEVIMG_SUB_GROUP_SIZE(N) is the attribute of a kernel, checked; devimg::kernel_shape<N> "
        "the check and the attribute around a kernel; DEVIMG_CHECK_SUB_GROUP_SIZE(N) the check "
        "alone. It needs C++17 and compiles with DPC++ (icpx), clang++, g++ and nvcc; C and OpenCL C "
        "get the macros. For AdaptiveCpp the attribute is empty, the template checks.\n\n"
        "With --anchor, a unit that includes it asks link.exe for that symbol, and so for the object "
        "with the device images: see devimg sycl anchor.\n\n"
        "A file that would not change is left as it is; one that devimg did not write is never "
        "replaced.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .unlisted = DVI_UNLISTED(DVI_OPTION_VERBOSE) | DVI_UNLISTED(DVI_OPTION_COLOR),
    .exits = {
        "written, or up to date",
        "the list is refused: nothing is written; --check: the file is another one",
        "wrong usage: stderr says what",
        "the file could not be read or written",
    },
    .examples =
        "devimg sycl header -o include/devimg_sycl.h\tFor the 19 default Intel GPUs: 16 and 32.\n"
        "devimg sycl header --targets tgllp,dg2-g10 --prefix FOO -o foo_sycl.h\t"
        "FOO_SUB_GROUP_SIZE(N), with 8 as well.\n"
        "devimg sycl header --anchor foo_sycl_images -o foo_sycl.h\t"
        "For a static library on Windows.\n"
        "devimg sycl header --check include/devimg_sycl.h\tFor CI: is the header still that of the "
        "list?\n",
    .run = run,
};
