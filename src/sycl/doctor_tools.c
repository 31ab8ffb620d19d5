/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sycl-ls and the compilers: they are run. A compiler tells what it is with its version; a clang++ that
 * is DPC++ need not, and is tried: upstream's refuses -fsycl-targets=spir64_gen (14 and 19).
 */
#include "sycl/doctor_exam.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "sycl/detect.h"

/* --- sycl-ls --- */

static const char *text_of_devices(struct dvi_exam *e, const struct dvi_detection *found)
{
    enum { MOST_NAMED = 8 };
    struct dvi_arena *arena = &e->out->arena;
    const char *names[MOST_NAMED + 2] = { NULL };
    size_t count = 0, devices = found->listed.devices.count;
    if (devices == 0)
        names[count++] = "lists no device";
    for (size_t i = 0; i < devices && i < MOST_NAMED; i++) {
        const struct dvi_sycl_device *device = &found->listed.devices.items[i];
        names[count++] =
            dvi_arena_format(arena, "%s:%s %s", device->backend, device->type, device->name);
    }
    if (devices > MOST_NAMED)
        names[count++] = dvi_arena_format(arena, "and %zu more", devices - MOST_NAMED);
    if (found->listed.filtered)
        names[count++] = "an environment variable hides some";
    for (size_t i = 0; i < count; i++)
        if (names[i] == NULL)
            return NULL;
    return dvi_exam_joined(arena, names, count);
}

/* Where oneAPI puts its programs, with or without its variables set; NULL: not there, or no memory. */
static const char *remedy_of(struct dvi_exam *e, const char *name, const char *other)
{
    const char *root = getenv("ONEAPI_ROOT");
    if (root == NULL || root[0] == '\0')
        root = "/opt/intel/oneapi";
    const char *path = dvi_arena_format(&e->out->arena, "%s/compiler/latest/bin/%s", root, name);
    if (path == NULL || access(path, X_OK) != 0)
        return other;
    path = dvi_arena_format(&e->out->arena,
                            "it is installed, but not in PATH: source %s/setvars.sh", root);
    return path != NULL ? path : other;
}

enum devimg_status dvi_examine_sycl_ls(struct dvi_exam *e, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_SYCL_LS];
    DVI_TRY(dvi_exam_find(e, DVI_DOCTOR_SYCL_LS, e->asked->sycl_ls,
                          remedy_of(e, "sycl-ls",
                                    "it comes with oneAPI and with intel/llvm; only devimg sycl "
                                    "detect needs it, to see the devices of this machine"),
                          err));
    if (row->program == NULL)
        return DEVIMG_OK;
    const struct dvi_detect_options options = { .sycl_ls = row->program,
                                                .folder = e->folder.path,
                                                .seconds = e->asked->seconds };
    struct dvi_detection found = { 0 };
    enum devimg_status status = dvi_detect(&options, &found, &e->out->arena, err);
    if (status == DEVIMG_OK && found.asked)
        status = dvi_exam_set(row, DVI_DOCTOR_OK, text_of_devices(e, &found), NULL, err);
    else if (status == DEVIMG_OK)
        status =
            dvi_exam_set(row, DVI_DOCTOR_BROKEN,
                         found.warnings.count > 0 ? found.warnings.items[0] : "did not answer",
                         "run it by hand; a driver or a library that it loads may be missing", err);
    dvi_detection_free(&found);
    return status;
}

/* --- compilers --- */

struct compiler {
    enum dvi_doctor_part part;
    const char *argument; /* prints the version */
    const char *mark;     /* of what it prints; NULL: no mark tells, it is tried */
    const char *before;   /* stands before the version; NULL: the first line is it */
    const char *remedy;
};
static const struct compiler compilers[] = {
    { DVI_DOCTOR_ICPX, "--version", "DPC++", NULL,
      "oneAPI's compiler for Linux: package intel-oneapi-compiler-dpcpp-cpp, then source its "
      "setvars.sh" },
    { DVI_DOCTOR_ICX_CL, "--version", "DPC++", NULL,
      "oneAPI's compiler for Windows, started from its command prompt" },
    { DVI_DOCTOR_CLANG, "--version", NULL, NULL,
      "a build of intel/llvm, its bin folder first in PATH" },
    { DVI_DOCTOR_ACPP, "--acpp-version", "AdaptiveCpp",
      "AdaptiveCpp version: ", "AdaptiveCpp: adaptivecpp.github.io" },
};

/* The first line that is not empty, cut. */
static const char *first_line(struct dvi_arena *arena, const struct dvi_ran *ran)
{
    struct dvi_view rest = dvi_view_of(ran->output, ran->output_size, ""), line = { 0 };
    while (dvi_next_line(&rest, &line))
        if (line.size > 0)
            break;
    return dvi_arena_text(arena,
                          dvi_head(line, line.size < DVI_EXAM_LINE ? line.size : DVI_EXAM_LINE));
}

static bool holds(const struct dvi_ran *ran, const char *mark)
{
    return memmem(ran->output, ran->output_size, mark, strlen(mark)) != NULL;
}

/* The version, or the line that holds it. */
static const char *compiler_version(struct dvi_exam *e, const struct compiler *c,
                                    const struct dvi_ran *ran)
{
    const char *at = c->before != NULL ? strstr(ran->output, c->before) : NULL;
    if (at == NULL)
        return first_line(&e->out->arena, ran);
    at += strlen(c->before);
    const size_t size = strcspn(at, "\r\n");
    return dvi_arena_text(&e->out->arena,
                          dvi_view_of(at, size < DVI_EXAM_LINE ? size : DVI_EXAM_LINE, ""));
}

/* Does this clang++ take the words that only DPC++ has? With -### it compiles nothing. `*broken`: it
 * answers nothing that can be believed, and this is how. */
static enum devimg_status is_dpcpp(struct dvi_exam *e, const char *program, bool *yes,
                                   const char **broken, struct devimg_error *err)
{
    const char *const argv[] = { program,
                                 "-###",
                                 "-fsycl",
                                 "-fsycl-targets=spir64_gen",
                                 "-fno-sycl-rdc",
                                 "-fsyntax-only",
                                 "-x",
                                 "c++",
                                 "/dev/null",
                                 NULL };
    struct dvi_ran ran = { 0 };
    struct devimg_error why = { 0 };
    const enum devimg_status status =
        dvi_run_in(e->folder.path, argv, e->asked->seconds, DVI_EXAM_OUTPUT, &ran, &why);
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, program);
    *yes = status == DEVIMG_OK && !ran.timed_out && ran.exit_code == 0;
    if (status != DEVIMG_OK)
        *broken = dvi_arena_copy(&e->out->arena, why.text);
    else if (ran.timed_out || ran.exit_code < 0)
        *broken = dvi_exam_ended(e, "-### -fsycl", &ran);
    const bool no_memory =
        *broken == NULL && (status != DEVIMG_OK || ran.timed_out || ran.exit_code < 0);
    dvi_ran_free(&ran);
    return no_memory ? dvi_fail_memory(err, program) : DEVIMG_OK;
}

static enum devimg_status judge_compiler(struct dvi_exam *e, const struct compiler *c,
                                         const struct dvi_ran *ran, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[c->part];
    bool good = c->mark == NULL || holds(ran, c->mark);
    if (ran->timed_out || ran->exit_code != 0)
        return dvi_exam_set(row, DVI_DOCTOR_BROKEN, dvi_exam_ended(e, c->argument, ran),
                            "install it anew", err);
    const char *version = compiler_version(e, c, ran);
    if (version == NULL)
        return dvi_fail_memory(err, row->program);
    const char *broken = NULL;
    if (c->mark == NULL)
        DVI_TRY(is_dpcpp(e, row->program, &good, &broken, err));
    if (broken != NULL)
        return dvi_exam_set(row, DVI_DOCTOR_BROKEN, broken, "install it anew", err);
    if (!good)
        return dvi_exam_set(
            row, DVI_DOCTOR_WRONG,
            c->mark == NULL
                ? dvi_arena_format(&e->out->arena,
                                   "%s: no DPC++, it refuses -fsycl-targets=spir64_gen", version)
                : dvi_arena_format(&e->out->arena, "%s does not name %s: %s", c->argument, c->mark,
                                   version),
            c->remedy, err);
    row->version = version;
    return dvi_exam_set(
        row, DVI_DOCTOR_OK,
        c->part == DVI_DOCTOR_ACPP
            ? dvi_arena_format(&e->out->arena,
                               "%s; its default target, generic, is compiled at the first "
                               "launch; for Intel GPUs ahead of time it takes "
                               "intel_gpu_<arch> targets (since 23.10)",
                               version)
            : version,
        NULL, err);
}

static enum devimg_status examine_compiler(struct dvi_exam *e, const struct compiler *c,
                                           struct devimg_error *err)
{
    const char *name = dvi_doctor_names[c->part];
    struct dvi_doctor_row *row = &e->out->rows[c->part];
    struct dvi_ran ran = { 0 };
    bool started = false;
    DVI_TRY(dvi_exam_find(e, c->part, name,
                          c->part == DVI_DOCTOR_ICPX ? remedy_of(e, name, c->remedy) : c->remedy,
                          err));
    if (row->program == NULL)
        return DEVIMG_OK;
    const char *const argv[] = { row->program, c->argument, NULL };
    DVI_TRY(dvi_exam_try(e, row, argv, "install it anew", &started, &ran, err));
    if (!started)
        return DEVIMG_OK;
    const enum devimg_status status = judge_compiler(e, c, &ran, err);
    dvi_ran_free(&ran);
    return status;
}

enum devimg_status dvi_examine_compilers(struct dvi_exam *e, struct devimg_error *err)
{
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        DVI_TRY(examine_compiler(e, &compilers[i], err));
    return DEVIMG_OK;
}
