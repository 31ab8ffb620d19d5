/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ocloc: it starts, tells its version, and compiles a kernel, which loads IGC.
 * Sources: measured with ocloc 22.43: a library that it cannot load is told on its output, "Error!
 * Loading of IGC library has failed! Filename: libigc.so.1", exit status 250.
 * intel/compute-runtime shared/offline_compiler/source (ocloc_igc_facade.cpp): the same in 2025.
 */
#include "sycl/doctor_exam.h"

#include <string.h>

#include "sycl/ocloc_run.h"

static const char igc_remedy[] =
    "install the IGC that belongs to this ocloc (Debian and Ubuntu: libigc and libigdfcl of the same "
    "release; Intel's releases: intel-igc-core-2 and intel-igc-opencl-2, as the notes of the ocloc "
    "release name them), then run ldconfig";
static const char version_remedy[] =
    "install the release that is pinned; the version to expect is what \"ocloc query "
    "OCL_DRIVER_VERSION\" writes into a file of that name";

bool dvi_doctor_version_is(const char *printed, const char *expected)
{
    const size_t size = strlen(expected);
    return size > 0 && expected[size - 1] != '.' && strncmp(printed, expected, size) == 0 &&
           (printed[size] == '\0' || printed[size] == '.');
}

/* --- ocloc, and its version --- */

static enum devimg_status judge_version(struct dvi_exam *e, const struct dvi_ran *ran,
                                        struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_VERSION];
    const char *expected = e->asked->expect_ocloc;
    row->version = dvi_ocloc_version(e->folder.path, ran, &e->out->arena);
    if (row->version == NULL)
        return dvi_exam_set(row, DVI_DOCTOR_UNKNOWN,
                            "\"query OCL_DRIVER_VERSION\" tells no version",
                            expected != NULL ? version_remedy : NULL, err);
    if (expected == NULL || dvi_doctor_version_is(row->version, expected))
        return dvi_exam_set(row, DVI_DOCTOR_OK, row->version, NULL, err);
    return dvi_exam_set(row, DVI_DOCTOR_WRONG,
                        dvi_arena_format(&e->out->arena, "%s, expected %s", row->version, expected),
                        version_remedy, err);
}

/* Where it is missing: by whom it is needed. */
static enum devimg_status say_needed(struct dvi_exam *e, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_OCLOC];
    const char *list = dvi_exam_joined(&e->out->arena, e->asked->lists, e->asked->count);
    if (list == NULL)
        return dvi_fail_memory(err, "sycl doctor");
    if (e->out->total == 0)
        return DEVIMG_OK;
    return dvi_exam_set(
        row, row->state,
        dvi_arena_format(&e->out->arena, "%s; the target list %s needs it", row->text, list),
        row->remedy, err);
}

/* It starts and understands what it is asked: then it is an ocloc, and the other rows may ask it. */
enum devimg_status dvi_examine_ocloc(struct dvi_exam *e, struct devimg_error *err)
{
    enum { INVALID_COMMAND_LINE = 226 }; /* OCLOC_INVALID_COMMAND_LINE, of one without the query */
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_OCLOC];
    struct dvi_doctor_row *version = &e->out->rows[DVI_DOCTOR_VERSION];
    struct dvi_ran ran = { 0 };
    bool started = false;
    DVI_TRY(dvi_exam_skip(version, "no ocloc can be asked", err));
    DVI_TRY(dvi_exam_find(e, DVI_DOCTOR_OCLOC, e->asked->ocloc, dvi_sycl_ocloc_remedy, err));
    if (row->program == NULL)
        return say_needed(e, err);
    if (e->folder.path == NULL) { /* it writes where it runs: nowhere else */
        e->ocloc = row->program;
        DVI_TRY(dvi_exam_set(version, DVI_DOCTOR_UNKNOWN, e->no_folder,
                             "set TMPDIR to a folder that can be written", err));
        return dvi_exam_set(row, DVI_DOCTOR_OK, row->program, NULL, err);
    }
    const char *const argv[] = { row->program, "query", "OCL_DRIVER_VERSION", NULL };
    DVI_TRY(dvi_exam_try(e, row, argv, dvi_exam_ocloc_remedy, &started, &ran, err));
    if (!started)
        return DEVIMG_OK;
    enum devimg_status status = DEVIMG_OK;
    if (ran.timed_out || (ran.exit_code != 0 && ran.exit_code != INVALID_COMMAND_LINE)) {
        status = dvi_exam_set(row, DVI_DOCTOR_BROKEN,
                              dvi_exam_ended(e, "query OCL_DRIVER_VERSION", &ran),
                              dvi_exam_ocloc_remedy, err);
    } else {
        e->ocloc = row->program;
        status = dvi_exam_set(row, DVI_DOCTOR_OK, row->program, NULL, err);
        if (status == DEVIMG_OK)
            status = judge_version(e, &ran, err);
    }
    dvi_ran_free(&ran);
    return status;
}

/* --- IGC --- */

static const char kernel[] =
    "__kernel void devimg(__global int *out) { out[get_global_id(0)] = 1; }\n";

/* A target to compile for: one of the list, else one of the default list that this ocloc knows. */
static enum devimg_status choose_target(struct dvi_exam *e, const char **out,
                                        struct devimg_error *err)
{
    static const char *const list = "default-intel";
    const struct dvi_sycl_targets_asked asked = { .lists = &list,
                                                  .count = 1,
                                                  .ocloc = e->ocloc,
                                                  .folder = e->folder.path,
                                                  .seconds = e->asked->seconds,
                                                  .narrow = true };
    struct dvi_sycl_targets others = { 0 };
    struct devimg_error why = { 0 };
    *out = NULL;
    for (size_t i = 0; i < e->out->targets.list.count; i++)
        if (e->out->targets.list.items[i].known == DEVIMG_YES) {
            *out = e->out->targets.list.items[i].row->name;
            return DEVIMG_OK;
        }
    if (e->out->rows[DVI_DOCTOR_TARGETS].state == DVI_DOCTOR_BROKEN)
        return DEVIMG_OK; /* it does not answer: asking for more names is in vain */
    const enum devimg_status status = dvi_sycl_targets_read(&asked, &others, &why);
    if (status == DEVIMG_OK && others.list.count > 0)
        *out = others.list.items[0].row->name; /* of the tables */
    dvi_sycl_targets_free(&others);
    return status == DEVIMG_NOMEM ? dvi_fail_memory(err, list) : DEVIMG_OK;
}

static enum devimg_status judge_compile(struct dvi_exam *e, const char *target,
                                        const struct dvi_ocloc_made *made, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_IGC];
    const struct dvi_ran *ran = &made->ran;
    const char *what = dvi_arena_format(&e->out->arena, "compiling a kernel for %s", target);
    if (what == NULL)
        return dvi_fail_memory(err, target);
    if (ran->timed_out || ran->exit_code != 0)
        return dvi_exam_set(row, DVI_DOCTOR_BROKEN, dvi_exam_ended(e, what, ran), igc_remedy, err);
    if (made->format != NULL)
        return dvi_exam_set(row, DVI_DOCTOR_OK,
                            dvi_arena_format(&e->out->arena, "a kernel was compiled for %s (%s)",
                                             target, made->format),
                            NULL, err);
    if (made->not_seen)
        return dvi_exam_set(
            row, DVI_DOCTOR_UNKNOWN,
            dvi_arena_format(&e->out->arena, "%s: what it made could not be looked at", what),
            "set TMPDIR to a folder that can be written", err);
    const char *words = dvi_exam_words(e, ran);
    return dvi_exam_set(row, DVI_DOCTOR_BROKEN,
                        words != NULL
                            ? dvi_arena_format(&e->out->arena,
                                               "%s: exit status 0, and no native image is made%s",
                                               what, words)
                            : NULL,
                        igc_remedy, err);
}

enum devimg_status dvi_examine_igc(struct dvi_exam *e, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_IGC];
    struct devimg_error why = { 0 };
    const char *target = NULL;
    if (e->ocloc == NULL)
        return dvi_exam_skip(row, "no ocloc can be asked", err);
    if (e->folder.path == NULL)
        return dvi_exam_set(row, DVI_DOCTOR_UNKNOWN, e->no_folder,
                            "set TMPDIR to a folder that can be written", err);
    DVI_TRY(choose_target(e, &target, err));
    if (target == NULL)
        return dvi_exam_set(row, DVI_DOCTOR_UNKNOWN,
                            "ocloc names no target that a kernel could be compiled for", NULL, err);
    enum devimg_status status = dvi_ocloc_write(e->folder.path, kernel, &why);
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, target);
    if (status != DEVIMG_OK)
        return dvi_exam_set(row, DVI_DOCTOR_UNKNOWN, dvi_arena_copy(&e->out->arena, why.text),
                            "set TMPDIR to a folder that can be written", err);
    struct dvi_ocloc_made made = { 0 };
    status = dvi_ocloc_compile(e->ocloc, e->folder.path, target, e->asked->seconds, &made, &why);
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, target);
    if (status != DEVIMG_OK)
        return dvi_exam_set(row, DVI_DOCTOR_BROKEN, dvi_arena_copy(&e->out->arena, why.text),
                            igc_remedy, err);
    status = judge_compile(e, target, &made, err);
    dvi_ocloc_made_free(&made);
    return status;
}
