/* SPDX-License-Identifier: Apache-2.0 */
#include "sycl/doctor_exam.h"

#include <string.h>

const char *const dvi_doctor_names[DVI_DOCTOR_PARTS] = {
    [DVI_DOCTOR_OCLOC] = "ocloc",     [DVI_DOCTOR_VERSION] = "version",
    [DVI_DOCTOR_TARGETS] = "targets", [DVI_DOCTOR_IGC] = "igc",
    [DVI_DOCTOR_SYCL_LS] = "sycl-ls", [DVI_DOCTOR_ICPX] = "icpx",
    [DVI_DOCTOR_ICX_CL] = "icx-cl",   [DVI_DOCTOR_CLANG] = "clang++",
    [DVI_DOCTOR_ACPP] = "acpp",
};

const char dvi_exam_ocloc_remedy[] =
    "install it anew, with all the packages that it depends on; run \"ldd\" on it and on the "
    "libocloc.so that it loads to see a library that is missing";

const char *dvi_doctor_state_name(enum dvi_doctor_state state)
{
    switch (state) {
    case DVI_DOCTOR_OK: return "ok";
    case DVI_DOCTOR_MISSING: return "missing";
    case DVI_DOCTOR_BROKEN: return "broken";
    case DVI_DOCTOR_WRONG: return "wrong";
    case DVI_DOCTOR_UNKNOWN: return "unknown";
    case DVI_DOCTOR_SKIPPED: return "skipped";
    }
    return "unknown";
}

bool dvi_doctor_fails(const struct dvi_doctor_row *row)
{
    return row->required && row->state != DVI_DOCTOR_OK && row->state != DVI_DOCTOR_SKIPPED;
}

/* --- what all parts need --- */

enum devimg_status dvi_exam_set(struct dvi_doctor_row *row, enum dvi_doctor_state state,
                                const char *text, const char *remedy, struct devimg_error *err)
{
    if (text == NULL)
        return dvi_fail_memory(err, "sycl doctor");
    row->state = state;
    row->text = text;
    row->remedy = remedy;
    return DEVIMG_OK;
}

enum devimg_status dvi_exam_skip(struct dvi_doctor_row *row, const char *why,
                                 struct devimg_error *err)
{
    return dvi_exam_set(row, DVI_DOCTOR_SKIPPED, why, NULL, err);
}

const char *dvi_exam_words(struct dvi_exam *e, const struct dvi_ran *ran)
{
    return dvi_ran_words(ran, &e->out->arena);
}

const char *dvi_exam_ended(struct dvi_exam *e, const char *what, const struct dvi_ran *ran)
{
    return dvi_ran_ended(ran, what, e->asked->seconds, &e->out->arena);
}

const char *dvi_exam_joined(struct dvi_arena *arena, const char *const *names, size_t count)
{
    size_t room = 1;
    for (size_t i = 0; i < count; i++)
        room += strlen(names[i]) + 2;
    char *text = dvi_arena_array(arena, room, 1);
    char *at = text;
    for (size_t i = 0; i < count && text != NULL; i++)
        at = stpcpy(i > 0 ? stpcpy(at, ", ") : at, names[i]);
    return text;
}

enum devimg_status dvi_exam_find(struct dvi_exam *e, enum dvi_doctor_part part, const char *name,
                                 const char *remedy, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[part];
    struct devimg_error why = { 0 };
    const enum devimg_status status = dvi_find_program(name, &e->out->arena, &row->program, &why);
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, name);
    if (status == DEVIMG_OK)
        return DEVIMG_OK;
    return dvi_exam_set(row, DVI_DOCTOR_MISSING,
                        strchr(name, '/') == NULL
                            ? dvi_arena_copy(&e->out->arena, why.text)
                            : dvi_arena_format(&e->out->arena, "%s: %s", name, why.text),
                        remedy, err);
}

enum devimg_status dvi_exam_try(struct dvi_exam *e, struct dvi_doctor_row *row,
                                const char *const *argv, const char *remedy, bool *started,
                                struct dvi_ran *ran, struct devimg_error *err)
{
    struct devimg_error why = { 0 };
    const enum devimg_status status =
        dvi_run_in(e->folder.path, argv, e->asked->seconds, DVI_EXAM_OUTPUT, ran, &why);
    *started = status == DEVIMG_OK;
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, argv[0]);
    if (status == DEVIMG_OK)
        return DEVIMG_OK;
    return dvi_exam_set(row, DVI_DOCTOR_BROKEN, dvi_arena_copy(&e->out->arena, why.text), remedy,
                        err);
}

/* --- the names of the list --- */

static bool in_list(const struct dvi_sycl_targets *t, const char *name)
{
    for (size_t i = 0; i < t->list.count; i++)
        if (strcmp(t->list.items[i].row->name, name) == 0)
            return true;
    return false;
}

static void count_names(struct dvi_doctor *d)
{
    d->total = d->targets.list.count;
    for (size_t i = 0; i < d->targets.unknown.count; i++)
        d->total += !in_list(&d->targets, d->targets.unknown.items[i].name);
    for (size_t i = 0; i < d->targets.list.count; i++)
        d->known += d->targets.list.items[i].known == DEVIMG_YES;
}

/* All names of the list, or those that this ocloc does not know. */
static const char *names_of(struct dvi_doctor *d, bool unknown_only)
{
    const struct dvi_sycl_targets *t = &d->targets;
    const char **names =
        dvi_arena_array(&d->arena, t->list.count + t->unknown.count + 1, sizeof *names);
    size_t count = 0;
    if (names == NULL)
        return NULL;
    for (size_t i = 0; i < t->list.count; i++)
        if (!unknown_only || t->list.items[i].known != DEVIMG_YES)
            names[count++] = t->list.items[i].row->name;
    for (size_t i = 0; i < t->unknown.count; i++) {
        const struct dvi_sycl_unknown *u = &t->unknown.items[i];
        if (in_list(t, u->name))
            continue;
        names[count] = dvi_arena_format(&d->arena, "%s (%s)", u->name, u->why);
        if (names[count++] == NULL)
            return NULL;
    }
    return dvi_exam_joined(&d->arena, names, count);
}

static enum devimg_status judge_names(struct dvi_exam *e, struct devimg_error *err)
{
    struct dvi_doctor *d = e->out;
    struct dvi_doctor_row *row = &d->rows[DVI_DOCTOR_TARGETS];
    const char *names = names_of(d, d->known < d->total);
    if (names == NULL)
        return dvi_fail_memory(err, "targets");
    if (d->known < d->total)
        return dvi_exam_set(row, DVI_DOCTOR_WRONG,
                            dvi_arena_format(&d->arena, "%zu of %zu cannot be built for: %s",
                                             d->total - d->known, d->total, names),
                            d->targets.list.count > 0
                                ? dvi_sycl_narrow_remedy
                                : "write the names as devimg targets does, or "
                                  "build with an empty list (SPIR-V only)",
                            err);
    return dvi_exam_set(
        row, DVI_DOCTOR_OK,
        dvi_arena_format(&d->arena, "ocloc knows %s: %s", d->total == 1 ? "it" : "all", names),
        NULL, err);
}

/* The list as the tables read it; with ocloc, what it says of each name. */
static enum devimg_status read_list(struct dvi_exam *e, const char *ocloc, struct devimg_error *err)
{
    const struct dvi_sycl_targets_asked asked = {
        .lists = e->asked->lists,
        .count = e->asked->count,
        .ocloc = ocloc,
        .folder = e->folder.path,
        .seconds = e->asked->seconds,
    };
    dvi_sycl_targets_free(&e->out->targets);
    return dvi_sycl_targets_read(&asked, &e->out->targets, err);
}

static enum devimg_status say_list(struct dvi_exam *e, enum dvi_doctor_state state,
                                   const char *what, const char *remedy, struct devimg_error *err)
{
    const char *names = names_of(e->out, false);
    return dvi_exam_set(&e->out->rows[DVI_DOCTOR_TARGETS], state,
                        names != NULL ? dvi_arena_format(&e->out->arena, "%s: %s", what, names)
                                      : NULL,
                        remedy, err);
}

static enum devimg_status examine_targets(struct dvi_exam *e, struct devimg_error *err)
{
    struct dvi_doctor *d = e->out;
    struct devimg_error why = { 0 };
    if (d->total == 0)
        return dvi_exam_set(&d->rows[DVI_DOCTOR_TARGETS], DVI_DOCTOR_OK,
                            "none: SPIR-V only, compiled at the first launch", NULL, err);
    if (e->ocloc == NULL)
        return say_list(e, DVI_DOCTOR_SKIPPED, "no ocloc can be asked", NULL, err);
    const enum devimg_status status = read_list(e, e->ocloc, &why);
    if (status == DEVIMG_OK) {
        d->asked = true;
        count_names(d);
        return judge_names(e, err);
    }
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, "targets");
    DVI_TRY(read_list(e, NULL, err)); /* nothing that it said counts */
    return dvi_exam_set(&d->rows[DVI_DOCTOR_TARGETS], DVI_DOCTOR_BROKEN,
                        dvi_arena_copy(&d->arena, why.text), dvi_exam_ocloc_remedy, err);
}

/* --- the whole --- */

/* What the list and the wishes need. */
static void require(struct dvi_exam *e)
{
    const unsigned of_ocloc =
        1U << DVI_DOCTOR_VERSION | 1U << DVI_DOCTOR_TARGETS | 1U << DVI_DOCTOR_IGC;
    unsigned required = e->asked->required;
    if (e->asked->expect_ocloc != NULL)
        required |= 1U << DVI_DOCTOR_VERSION;
    if (e->out->total > 0)
        required |= 1U << DVI_DOCTOR_TARGETS | 1U << DVI_DOCTOR_IGC;
    if ((required & of_ocloc) != 0)
        required |= 1U << DVI_DOCTOR_OCLOC;
    for (unsigned i = 0; i < DVI_DOCTOR_PARTS; i++)
        e->out->rows[i].required = (required >> i & 1) != 0;
}

/* Why no native image can be built; NULL: it can. */
static const char *obstacle(struct dvi_doctor *d)
{
    const struct dvi_doctor_row *rows = d->rows;
    switch (rows[DVI_DOCTOR_OCLOC].state) {
    case DVI_DOCTOR_OK: break;
    case DVI_DOCTOR_MISSING: return "ocloc is missing";
    default: return "ocloc is broken";
    }
    if (rows[DVI_DOCTOR_TARGETS].state == DVI_DOCTOR_BROKEN)
        return "ocloc does not answer as it should";
    if (rows[DVI_DOCTOR_IGC].state == DVI_DOCTOR_BROKEN)
        return "ocloc cannot compile, its compiler (IGC) is broken";
    if (d->known == 0 && d->targets.list.count == 0)
        return d->total == 1 ? "it is no target that devimg or this ocloc knows"
                             : "none of them is a target that devimg or this ocloc knows";
    if (d->known == 0)
        return d->total == 1 ? "this ocloc does not know it" : "this ocloc knows none of them";
    return rows[DVI_DOCTOR_IGC].state != DVI_DOCTOR_OK ? "whether ocloc can compile is not known"
                                                       : NULL;
}

static const char *about_images(struct dvi_exam *e)
{
    struct dvi_doctor *d = e->out;
    if (d->total == 0)
        return "no native Intel images are asked for: the target list is empty, SPIR-V is compiled "
               "at the first launch";
    const char *list = dvi_exam_joined(&d->arena, e->asked->lists, e->asked->count);
    const char *why = obstacle(d);
    if (list == NULL)
        return NULL;
    if (why != NULL)
        return dvi_arena_format(
            &d->arena, "this machine cannot build native Intel images for %s: %s", list, why);
    if (d->known < d->total)
        return dvi_arena_format(&d->arena,
                                "this machine can build native Intel images for %zu of %zu targets",
                                d->known, d->total);
    if (d->total == 1)
        return dvi_arena_format(&d->arena, "this machine can build native Intel images for %s",
                                list);
    return dvi_arena_format(
        &d->arena, "this machine can build native Intel images for all %zu targets", d->total);
}

/* What else was asked for and is not so: "; ocloc is 22.43.24595, not 26.35; icpx is missing" */
static const char *also(struct dvi_exam *e, const char *answer)
{
    struct dvi_doctor *d = e->out;
    const bool told = d->total > 0; /* of ocloc and what it does, by about_images() */
    for (int i = 0; i < DVI_DOCTOR_PARTS && answer != NULL; i++) {
        const struct dvi_doctor_row *row = &d->rows[i];
        if (!dvi_doctor_fails(row) ||
            (told && (i == DVI_DOCTOR_OCLOC || i == DVI_DOCTOR_TARGETS || i == DVI_DOCTOR_IGC)))
            continue;
        if (i == DVI_DOCTOR_VERSION && row->state == DVI_DOCTOR_WRONG)
            answer = dvi_arena_format(&d->arena, "%s; ocloc is %s, not %s", answer, row->version,
                                      e->asked->expect_ocloc);
        else if (i == DVI_DOCTOR_VERSION)
            answer = dvi_arena_format(&d->arena, "%s; the version of ocloc is unknown", answer);
        else
            answer = dvi_arena_format(&d->arena, "%s; %s is %s", answer, dvi_doctor_names[i],
                                      row->state == DVI_DOCTOR_WRONG
                                          ? "not what its name says"
                                          : dvi_doctor_state_name(row->state));
    }
    return answer;
}

static enum devimg_status examine_all(struct dvi_exam *e, struct devimg_error *err)
{
    DVI_TRY(dvi_examine_ocloc(e, err));
    DVI_TRY(examine_targets(e, err));
    DVI_TRY(dvi_examine_igc(e, err));
    DVI_TRY(dvi_examine_sycl_ls(e, err));
    DVI_TRY(dvi_examine_compilers(e, err));
    for (size_t i = 0; i < DVI_DOCTOR_PARTS; i++)
        e->out->failed = e->out->failed || dvi_doctor_fails(&e->out->rows[i]);
    e->out->answer = also(e, about_images(e));
    return e->out->answer != NULL ? DEVIMG_OK : dvi_fail_memory(err, "sycl doctor");
}

static enum devimg_status begin(struct dvi_exam *e, struct devimg_error *err)
{
    struct devimg_error why = { 0 };
    DVI_TRY(read_list(e, NULL, err));
    count_names(e->out);
    require(e);
    e->out->expected = e->asked->expect_ocloc;
    const enum devimg_status status = dvi_temporary_make(&e->folder, &why);
    if (status == DEVIMG_IO)
        e->no_folder = dvi_arena_format(&e->out->arena, "%s: %s", why.source, why.text);
    return status == DEVIMG_NOMEM || (status == DEVIMG_IO && e->no_folder == NULL)
               ? dvi_fail_memory(err, "sycl doctor")
               : DEVIMG_OK;
}

enum devimg_status dvi_doctor_examine(const struct dvi_doctor_asked *asked, struct dvi_doctor *out,
                                      struct devimg_error *err)
{
    *out = (struct dvi_doctor){ 0 };
    struct dvi_exam e = { .asked = asked, .out = out };
    struct devimg_error why = { 0 };
    enum devimg_status status = begin(&e, err);
    if (status == DEVIMG_OK)
        status = examine_all(&e, err);
    if (dvi_temporary_remove(&e.folder, &why) != DEVIMG_OK) {
        const char *text = dvi_arena_format(&out->arena, "%s: %s", why.source, why.text);
        const char **added = text != NULL ? DVI_ADD(&out->warnings) : NULL;
        if (added != NULL)
            *added = text;
    }
    return status;
}

void dvi_doctor_free(struct dvi_doctor *doctor)
{
    dvi_sycl_targets_free(&doctor->targets);
    DVI_LIST_FREE(&doctor->warnings);
    dvi_arena_free(&doctor->arena);
}
