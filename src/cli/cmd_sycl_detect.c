/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/names.h"
#include "cli/options.h"
#include "output/sycl.h"
#include "sycl/detect.h"

enum {
    REQUEST = DVI_OPTION_OWN,
    TARGETS,
    GPUS,
    MATCH,
    REQUIRE_CPU,
    SYCL_LS,
    TIMEOUT,
    GATE_ONLY,
    STAGE1,
    HEADER,
    CMAKE,
    MESON,
    PYTHON,
    PREFIX
};

/* clang-format off */
static const struct dvi_option options[] = {
    { REQUEST, "request", 0, DVI_VALUE_TEXT, "auto|none|native_cpu|spir64_x86_64",
      "the CPU target: what sycl-ls suggests (default), none, or this one", NULL },
    { TARGETS, "targets", 0, DVI_VALUE_TEXT, "T,...",
      "entries of -fsycl-targets that are built for anyway", NULL },
    { GPUS, "gpus", 0, DVI_VALUE_NONE, NULL,
      "add the GPUs that sycl-ls lists", NULL },
    { MATCH, "match", 0, DVI_VALUE_CHOICE, "substring|exact",
      "an entry counts as a CPU's when its name holds cpu or spir64 (default), or only when it is one", NULL },
    { REQUIRE_CPU, "require-cpu", 0, DVI_VALUE_NONE, NULL,
      "exit status 1 when no CPU device code is compiled", NULL },
    { SYCL_LS, "sycl-ls", 0, DVI_VALUE_FILE, "PROGRAM",
      "the sycl-ls to run (default: the one on PATH)", NULL },
    { TIMEOUT, "timeout", 0, DVI_VALUE_COUNT, "SECONDS",
      "how long it may take (default 20)", NULL },
    { GATE_ONLY, "gate-only", 0, DVI_VALUE_NONE, NULL,
      "run nothing: decide from --targets, --request and --stage1", NULL },
    { STAGE1, "stage1", 0, DVI_VALUE_CHOICE, "on|off",
      "with --gate-only: was a CPU device found? (default off)", NULL },
    { HEADER, "header", 0, DVI_VALUE_FILE, "FILE",
      "write a C header of macros, each always 0 or 1", NULL },
    { CMAKE, "cmake", 0, DVI_VALUE_FILE, "FILE",
      "write set() commands for include()", NULL },
    { MESON, "meson", 0, DVI_VALUE_FILE, "FILE",
      "write key=value lines for Meson's keyval module", NULL },
    { PYTHON, "python", 0, DVI_VALUE_FILE, "FILE",
      "write a module with compiled_features()", NULL },
    { PREFIX, "prefix", 0, DVI_VALUE_WORD, "NAME",
      "of macros and variables (default DEVIMG_SYCL)", NULL },
};
/* clang-format on */

static enum devimg_status detect(struct dvi_line *line, struct dvi_detection *d,
                                 struct devimg_error *err)
{
    const struct dvi_setting *timeout = dvi_line_get(line, TIMEOUT);
    const struct dvi_detect_options o = {
        .request = dvi_line_text(line, REQUEST, NULL),
        .sycl_ls = dvi_line_text(line, SYCL_LS, "sycl-ls"),
        .seconds = timeout != NULL ? (unsigned)timeout->number : 20,
        .exact = strcmp(dvi_line_text(line, MATCH, ""), "exact") == 0,
        .gpus = dvi_line_has(line, GPUS),
        .gate_only = dvi_line_has(line, GATE_ONLY),
        .stage1 = strcmp(dvi_line_text(line, STAGE1, ""), "on") == 0,
    };
    return dvi_detect(&o, d, &line->arena, err);
}

static enum devimg_status take_targets(struct dvi_line *line, struct dvi_detection *d,
                                       struct devimg_error *err)
{
    size_t count = 0;
    const char *const *lists = dvi_line_texts(line, TARGETS, NULL, &count);
    if (lists == NULL)
        return dvi_fail_memory(err, "");
    for (size_t i = 0; i < count; i++)
        DVI_TRY(dvi_detect_targets(d, lists[i], &line->arena, err));
    return DEVIMG_OK;
}

static enum devimg_status write_files(const struct dvi_line *line, const struct dvi_detection *d,
                                      struct devimg_error *err)
{
    static const struct {
        int option;
        enum dvi_detect_file kind;
    } files[] = { { HEADER, DVI_DETECT_HEADER },
                  { CMAKE, DVI_DETECT_CMAKE },
                  { MESON, DVI_DETECT_MESON },
                  { PYTHON, DVI_DETECT_PYTHON } };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const struct dvi_setting *file = dvi_line_get(line, files[i].option);
        if (file != NULL)
            DVI_TRY(dvi_output_detect_file(file->text, files[i].kind,
                                           dvi_line_text(line, PREFIX, "DEVIMG_SYCL"), d, err));
    }
    return DEVIMG_OK;
}

static enum dvi_exit run(struct dvi_line *line)
{
    struct dvi_detection d = { 0 };
    struct devimg_error err = { 0 };
    if (line->words.count > 0)
        return dvi_usage(line->command, "%s: no file is read; entries go to --targets",
                         line->words.items[0]);
    if (!dvi_is_identifier(dvi_line_text(line, PREFIX, "DEVIMG_SYCL")))
        return dvi_usage(line->command, "--prefix %s: expected an identifier",
                         dvi_line_text(line, PREFIX, ""));
    if (dvi_line_has(line, STAGE1) && !dvi_line_has(line, GATE_ONLY))
        return dvi_usage(line->command, "--stage1 goes with --gate-only");
    if (dvi_line_has(line, GPUS) && dvi_line_has(line, GATE_ONLY))
        return dvi_usage(line->command, "--gate-only asks no sycl-ls: --gpus has nothing to add");
    enum dvi_exit ended = DVI_EXIT_UNREADABLE;
    enum devimg_status status = take_targets(line, &d, &err);
    const bool is_refused = status == DEVIMG_MALFORMED || status == DEVIMG_LIMIT;
    if (status == DEVIMG_OK)
        status = detect(line, &d, &err);
    if (status == DEVIMG_OK)
        status = write_files(line, &d, &err);
    if (is_refused) {
        ended = dvi_usage(line->command, "--targets: %s", err.text);
    } else if (status == DEVIMG_OK) {
        ended = dvi_output_sycl_detect(&line->out, &d);
        if (ended == DVI_EXIT_OK && !d.has_cpu && dvi_line_has(line, REQUIRE_CPU))
            ended = DVI_EXIT_FINDINGS;
    } else {
        dvi_complain(&err);
    }
    dvi_detection_free(&d);
    return ended;
}

const struct dvi_command dvi_command_sycl_detect = {
    .name = "sycl detect",
    .words = "",
    .summary = "which SYCL targets this machine can build and test",
    .text =
        "Stage 1 runs sycl-ls and adds one CPU target to the list when it shows a CPU device: "
        "spir64_x86_64 for [opencl:cpu] or [host:cpu], else native_cpu for [native_cpu:cpu]. The "
        "gate then says from the list alone whether CPU device code is compiled: what depends on "
        "it is dropped when not.\n\n"
        "The answer is given as status lines, as JSON, and in files that a build reads. A file "
        "that would not change is left as it is.\n\n"
        "sycl-ls is run without a shell, under a time limit, and only where the request needs it: "
        "for auto, and for --gpus. One that fails or hangs is not believed.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .unlisted = DVI_UNLISTED(DVI_OPTION_VERBOSE) | DVI_UNLISTED(DVI_OPTION_COLOR),
    .exits = {
        "the answer was given, ON or OFF",
        "--require-cpu, and no CPU device code is compiled",
        "wrong usage: stderr says what",
        "a file could not be written, or would have replaced one that devimg did not write",
    },
    .examples =
        "devimg sycl detect --gpus\tGPUs and CPU of this machine, as entries of "
        "-fsycl-targets.\n"
        "devimg sycl detect --targets spir64_gen --header sycl_config.h --prefix "
        "FOO\tFOO_HAS_CPU_TARGET, always defined.\n"
        "devimg sycl detect --gate-only --stage1 on --targets nvptx64-nvidia-cuda\tThe gate "
        "alone.\n",
    .run = run,
};
