/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each part is tried: ocloc is asked for its version and for every name, and compiles a kernel, which
 * loads IGC; compilers and sycl-ls are run.
 * Sources: measured with ocloc 22.43. `ocloc query OCL_DRIVER_VERSION` writes a FILE of that name into
 * the current folder ("22.43.24595" and a NUL) and prints nothing; it knows no --version. A library
 * that it cannot load is told on its output, "Error! Loading of IGC library has failed! Filename:
 * libigc.so.1", exit status 250. intel/compute-runtime shared/offline_compiler/source
 * (offline_compiler.h, ocloc_igc_facade.cpp): the same in 2025.
 */
#include "sycl/doctor.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/run.h"
#include "base/temporary.h"
#include "base/write.h"
#include "sycl/detect.h"

enum { MOST_OUTPUT = 64 * 1024, MOST_SAID = 400, MOST_VERSION = 64, MOST_LINE = 200 };

const char *const dvi_doctor_names[DVI_DOCTOR_PARTS] = {
    [DVI_DOCTOR_OCLOC] = "ocloc",     [DVI_DOCTOR_VERSION] = "version",
    [DVI_DOCTOR_TARGETS] = "targets", [DVI_DOCTOR_IGC] = "igc",
    [DVI_DOCTOR_SYCL_LS] = "sycl-ls", [DVI_DOCTOR_ICPX] = "icpx",
    [DVI_DOCTOR_ICX_CL] = "icx-cl",   [DVI_DOCTOR_CLANG] = "clang++",
    [DVI_DOCTOR_ACPP] = "acpp",
};

static const char ocloc_broken_remedy[] =
    "install it anew, with all the packages that it depends on; run \"ldd\" on it and on the "
    "libocloc.so that it loads to see a library that is missing";
static const char igc_remedy[] =
    "install the IGC that belongs to this ocloc (Debian and Ubuntu: libigc and libigdfcl of the same "
    "release; Intel's releases: intel-igc-core-2 and intel-igc-opencl-2, as the notes of the ocloc "
    "release name them), then run ldconfig";
static const char version_remedy[] =
    "install the release that is pinned; the version to expect is what \"ocloc query "
    "OCL_DRIVER_VERSION\" writes into a file of that name";

/* One examination while it runs. */
struct exam {
    const struct dvi_doctor_asked *asked;
    struct dvi_doctor *out;
    struct dvi_temporary folder; /* where programs run; path NULL: none could be made */
    const char *no_folder;       /* why not */
    const char *ocloc;           /* where it is, if it starts; NULL: nothing can be asked */
};

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

bool dvi_doctor_version_is(const char *printed, const char *expected)
{
    const size_t size = strlen(expected);
    return size > 0 && expected[size - 1] != '.' && strncmp(printed, expected, size) == 0 &&
           (printed[size] == '\0' || printed[size] == '.');
}

/* --- small things --- */

/* The verdict of a row; `text` NULL: there was no memory for it. */
static enum devimg_status set(struct dvi_doctor_row *row, enum dvi_doctor_state state,
                              const char *text, const char *remedy, struct devimg_error *err)
{
    if (text == NULL)
        return dvi_fail_memory(err, "sycl doctor");
    row->state = state;
    row->text = text;
    row->remedy = remedy;
    return DEVIMG_OK;
}

static enum devimg_status skip(struct dvi_doctor_row *row, const char *why,
                               struct devimg_error *err)
{
    return set(row, DVI_DOCTOR_SKIPPED, why, NULL, err);
}

/* What it wrote, on both outputs, in one line with a mark before it; "" where it wrote nothing. */
static const char *words_of(struct exam *e, const struct dvi_ran *ran)
{
    struct dvi_arena *arena = &e->out->arena;
    const char *first = dvi_said(ran->output, MOST_SAID, arena);
    const char *second = dvi_said(ran->errors, MOST_SAID, arena);
    if (first == NULL || second == NULL)
        return NULL;
    return dvi_arena_format(arena, "%s%s%s%s", first[0] != '\0' || second[0] != '\0' ? ": " : "",
                            first, first[0] != '\0' && second[0] != '\0' ? " " : "", second);
}

/* How a run ended other than well: "WHAT: exit status 3: its words"; NULL: no memory. */
static const char *ended(struct exam *e, const char *what, const struct dvi_ran *ran)
{
    const char *words = words_of(e, ran);
    if (words == NULL)
        return NULL;
    if (ran->timed_out)
        return dvi_arena_format(&e->out->arena, "%s: did not end within %u s and was stopped%s",
                                what, e->asked->seconds, words);
    if (ran->exit_code < 0)
        return dvi_arena_format(&e->out->arena, "%s: crashed%s", what, words);
    return dvi_arena_format(&e->out->arena, "%s: exit status %d%s", what, ran->exit_code, words);
}

/* The names between commas, in one text. */
static const char *joined(struct dvi_arena *arena, const char *const *names, size_t count)
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

/* The first line that is not empty, cut. */
static const char *first_line(struct dvi_arena *arena, const struct dvi_ran *ran)
{
    struct dvi_view rest = dvi_view_of(ran->output, ran->output_size, ""), line = { 0 };
    while (dvi_next_line(&rest, &line))
        if (line.size > 0)
            break;
    return dvi_arena_text(arena, dvi_head(line, line.size < MOST_LINE ? line.size : MOST_LINE));
}

/* The last line that is not empty. */
static struct dvi_view last_line(const struct dvi_ran *ran)
{
    struct dvi_view rest = dvi_view_of(ran->output, ran->output_size, ""), line = { 0 };
    struct dvi_view last = rest;
    while (dvi_next_line(&rest, &line))
        if (line.size > 0)
            last = line;
    return last;
}

static bool holds(const struct dvi_ran *ran, const char *mark)
{
    return memmem(ran->output, ran->output_size, mark, strlen(mark)) != NULL;
}

/* Find the program of a row. OK with `program` NULL: it is not there, and the row says so. */
static enum devimg_status find(struct exam *e, enum dvi_doctor_part part, const char *name,
                               const char *remedy, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[part];
    struct devimg_error why = { 0 };
    const enum devimg_status status = dvi_find_program(name, &e->out->arena, &row->program, &why);
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, name);
    if (status == DEVIMG_OK)
        return DEVIMG_OK;
    return set(row, DVI_DOCTOR_MISSING,
               strchr(name, '/') == NULL
                   ? dvi_arena_copy(&e->out->arena, why.text)
                   : dvi_arena_format(&e->out->arena, "%s: %s", name, why.text),
               remedy, err);
}

/* Run the program of a row, in the temporary folder where there is one. OK with `*started` false: it
 * cannot be started, and the row says so. */
static enum devimg_status try_row(struct exam *e, struct dvi_doctor_row *row,
                                  const char *const *argv, const char *remedy, bool *started,
                                  struct dvi_ran *ran, struct devimg_error *err)
{
    struct devimg_error why = { 0 };
    const enum devimg_status status =
        dvi_run_in(e->folder.path, argv, e->asked->seconds, MOST_OUTPUT, ran, &why);
    *started = status == DEVIMG_OK;
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, argv[0]);
    if (status == DEVIMG_OK)
        return DEVIMG_OK;
    return set(row, DVI_DOCTOR_BROKEN, dvi_arena_copy(&e->out->arena, why.text), remedy, err);
}

/* --- ocloc, and its version --- */

/* A version as such a program writes it: it begins with a number and a point. */
static const char *version_in(struct dvi_view text, struct dvi_arena *arena)
{
    static const char parts[] =
        "0123456789.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-+~_";
    const size_t size = strnlen((const char *)text.data, text.size);
    text = dvi_head(text, size);
    while (text.size > 0 && (text.data[text.size - 1] == '\n' || text.data[text.size - 1] == '\r' ||
                             text.data[text.size - 1] == ' '))
        text.size--;
    size_t digits = 0;
    while (digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    if (digits == 0 || digits == text.size || text.data[digits] != '.' || text.size > MOST_VERSION)
        return NULL;
    for (size_t i = 0; i < text.size; i++)
        if (strchr(parts, text.data[i]) == NULL)
            return NULL;
    return dvi_arena_text(arena, text);
}

/* The file that the query wrote; NULL: there is none, or no version is in it. */
static const char *version_file(struct exam *e)
{
    struct dvi_file file = { 0 };
    const char *path = dvi_arena_format(&e->out->arena, "%s/OCL_DRIVER_VERSION", e->folder.path);
    if (path == NULL || dvi_file_open(path, path, false, &file, NULL) != DEVIMG_OK)
        return NULL;
    const char *version = NULL;
    if (file.bytes.size <= MOST_LINE)
        version = version_in(file.bytes, &e->out->arena);
    dvi_file_close(&file);
    return version;
}

static enum devimg_status judge_version(struct exam *e, const struct dvi_ran *ran,
                                        struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_VERSION];
    const char *expected = e->asked->expect_ocloc;
    row->version = version_file(e);
    if (row->version == NULL) /* other releases may print it instead */
        row->version = version_in(last_line(ran), &e->out->arena);
    if (row->version == NULL)
        return set(row, DVI_DOCTOR_UNKNOWN, "\"query OCL_DRIVER_VERSION\" tells no version",
                   expected != NULL ? version_remedy : NULL, err);
    if (expected == NULL || dvi_doctor_version_is(row->version, expected))
        return set(row, DVI_DOCTOR_OK, row->version, NULL, err);
    return set(row, DVI_DOCTOR_WRONG,
               dvi_arena_format(&e->out->arena, "%s, expected %s", row->version, expected),
               version_remedy, err);
}

/* Where it is missing: by whom it is needed. */
static enum devimg_status say_needed(struct exam *e, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_OCLOC];
    const char *list = joined(&e->out->arena, e->asked->lists, e->asked->count);
    if (list == NULL)
        return dvi_fail_memory(err, "sycl doctor");
    if (e->out->total == 0)
        return DEVIMG_OK;
    return set(row, row->state,
               dvi_arena_format(&e->out->arena, "%s; the target list %s needs it", row->text, list),
               row->remedy, err);
}

/* It starts and understands what it is asked: then it is an ocloc, and the other rows may ask it. */
static enum devimg_status examine_ocloc(struct exam *e, struct devimg_error *err)
{
    enum { INVALID_COMMAND_LINE = 226 }; /* OCLOC_INVALID_COMMAND_LINE, of one without the query */
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_OCLOC];
    struct dvi_doctor_row *version = &e->out->rows[DVI_DOCTOR_VERSION];
    struct dvi_ran ran = { 0 };
    bool started = false;
    DVI_TRY(skip(version, "no ocloc can be asked", err));
    DVI_TRY(find(e, DVI_DOCTOR_OCLOC, e->asked->ocloc, dvi_sycl_ocloc_remedy, err));
    if (row->program == NULL)
        return say_needed(e, err);
    if (e->folder.path == NULL) { /* it writes where it runs: nowhere else */
        e->ocloc = row->program;
        DVI_TRY(set(version, DVI_DOCTOR_UNKNOWN, e->no_folder,
                    "set TMPDIR to a folder that can be written", err));
        return set(row, DVI_DOCTOR_OK, row->program, NULL, err);
    }
    const char *const argv[] = { row->program, "query", "OCL_DRIVER_VERSION", NULL };
    DVI_TRY(try_row(e, row, argv, ocloc_broken_remedy, &started, &ran, err));
    if (!started)
        return DEVIMG_OK;
    enum devimg_status status = DEVIMG_OK;
    if (ran.timed_out || (ran.exit_code != 0 && ran.exit_code != INVALID_COMMAND_LINE)) {
        status = set(row, DVI_DOCTOR_BROKEN, ended(e, "query OCL_DRIVER_VERSION", &ran),
                     ocloc_broken_remedy, err);
    } else {
        e->ocloc = row->program;
        status = set(row, DVI_DOCTOR_OK, row->program, NULL, err);
        if (status == DEVIMG_OK)
            status = judge_version(e, &ran, err);
    }
    dvi_ran_free(&ran);
    return status;
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
    return joined(&d->arena, names, count);
}

static enum devimg_status judge_names(struct exam *e, struct devimg_error *err)
{
    struct dvi_doctor *d = e->out;
    struct dvi_doctor_row *row = &d->rows[DVI_DOCTOR_TARGETS];
    const char *names = names_of(d, d->known < d->total);
    if (names == NULL)
        return dvi_fail_memory(err, "targets");
    if (d->known < d->total)
        return set(row, DVI_DOCTOR_WRONG,
                   dvi_arena_format(&d->arena, "%zu of %zu cannot be built for: %s",
                                    d->total - d->known, d->total, names),
                   dvi_sycl_narrow_remedy, err);
    return set(
        row, DVI_DOCTOR_OK,
        dvi_arena_format(&d->arena, "ocloc knows %s: %s", d->total == 1 ? "it" : "all", names),
        NULL, err);
}

/* The list as the tables read it; with ocloc, what it says of each name. */
static enum devimg_status read_list(struct exam *e, const char *ocloc, struct devimg_error *err)
{
    const struct dvi_sycl_targets_asked asked = {
        .lists = e->asked->lists,
        .count = e->asked->count,
        .ocloc = ocloc,
        .seconds = e->asked->seconds,
    };
    dvi_sycl_targets_free(&e->out->targets);
    return dvi_sycl_targets_read(&asked, &e->out->targets, err);
}

static enum devimg_status say_list(struct exam *e, enum dvi_doctor_state state, const char *what,
                                   const char *remedy, struct devimg_error *err)
{
    const char *names = names_of(e->out, false);
    return set(&e->out->rows[DVI_DOCTOR_TARGETS], state,
               names != NULL ? dvi_arena_format(&e->out->arena, "%s: %s", what, names) : NULL,
               remedy, err);
}

static enum devimg_status examine_targets(struct exam *e, struct devimg_error *err)
{
    struct dvi_doctor *d = e->out;
    struct devimg_error why = { 0 };
    if (d->total == 0)
        return set(&d->rows[DVI_DOCTOR_TARGETS], DVI_DOCTOR_OK,
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
    return set(&d->rows[DVI_DOCTOR_TARGETS], DVI_DOCTOR_BROKEN, dvi_arena_copy(&d->arena, why.text),
               ocloc_broken_remedy, err);
}

/* --- IGC --- */

static const char kernel_name[] = "devimg.cl";

static enum devimg_status fill_kernel(FILE *file, const void *context, struct devimg_error *err)
{
    (void)context;
    (void)err;
    fputs("__kernel void devimg(__global int *out) { out[get_global_id(0)] = 1; }\n", file);
    return DEVIMG_OK;
}

static enum devimg_status write_kernel(struct exam *e, struct devimg_error *err)
{
    struct dvi_folder folder = { 0 };
    bool taken = false;
    DVI_TRY(dvi_folder_open(e->folder.path, &folder, err));
    const enum devimg_status status =
        dvi_folder_write(&folder, kernel_name, true, fill_kernel, NULL, &taken, err);
    dvi_folder_close(&folder);
    return status;
}

/* The format of the first native image in the file; NULL: it holds none. */
static const char *native_in(int folder, const char *name)
{
    const struct devimg_opts opts = { .struct_size = sizeof opts, .threads = 1 };
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const char *found = NULL;
    struct devimg_file *file = NULL;
    if (fd < 0)
        return NULL;
    if (devimg_open_fd(fd, name, &opts, &file, NULL) == DEVIMG_OK) {
        for (uint32_t i = 0; i < devimg_image_count(file) && found == NULL; i++) {
            const enum devimg_format format = devimg_image_at(file, i)->format;
            if (format == DEVIMG_FORMAT_ZEBIN || format == DEVIMG_FORMAT_PATCHTOKEN)
                found = devimg_format_name(format);
        }
        devimg_close(file);
    }
    (void)close(fd);
    return found;
}

/* What ocloc made: how a file is called differs between releases, so that each is looked into. */
static const char *find_native(const char *path)
{
    enum { MOST_FILES = 64 };
    DIR *folder = opendir(path);
    const char *found = NULL;
    struct dirent *entry = NULL;
    if (folder == NULL)
        return NULL;
    for (int i = 0; i < MOST_FILES && found == NULL && (entry = readdir(folder)) != NULL; i++)
        if (entry->d_name[0] != '.')
            found = native_in(dirfd(folder), entry->d_name);
    (void)closedir(folder);
    return found;
}

/* A target to compile for: one of the list, else one of the default list that this ocloc knows. */
static enum devimg_status choose_target(struct exam *e, const char **out, struct devimg_error *err)
{
    static const char *const list = "default-intel";
    const struct dvi_sycl_targets_asked asked = { &list, 1, e->ocloc, e->asked->seconds, true };
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

static enum devimg_status judge_compile(struct exam *e, const char *target,
                                        const struct dvi_ran *ran, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_IGC];
    const char *what = dvi_arena_format(&e->out->arena, "compiling a kernel for %s", target);
    if (what == NULL)
        return dvi_fail_memory(err, target);
    if (ran->timed_out || ran->exit_code != 0)
        return set(row, DVI_DOCTOR_BROKEN, ended(e, what, ran), igc_remedy, err);
    const char *format = find_native(e->folder.path);
    if (format != NULL)
        return set(
            row, DVI_DOCTOR_OK,
            dvi_arena_format(&e->out->arena, "a kernel was compiled for %s (%s)", target, format),
            NULL, err);
    const char *words = words_of(e, ran);
    return set(row, DVI_DOCTOR_BROKEN,
               words != NULL ? dvi_arena_format(&e->out->arena,
                                                "%s: exit status 0, and no native image is made%s",
                                                what, words)
                             : NULL,
               igc_remedy, err);
}

static enum devimg_status examine_igc(struct exam *e, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_IGC];
    struct devimg_error why = { 0 };
    const char *target = NULL;
    if (e->ocloc == NULL)
        return skip(row, "no ocloc can be asked", err);
    if (e->folder.path == NULL)
        return set(row, DVI_DOCTOR_UNKNOWN, e->no_folder,
                   "set TMPDIR to a folder that can be written", err);
    DVI_TRY(choose_target(e, &target, err));
    if (target == NULL)
        return set(row, DVI_DOCTOR_UNKNOWN,
                   "ocloc names no target that a kernel could be compiled for", NULL, err);
    const enum devimg_status status = write_kernel(e, &why);
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, kernel_name);
    if (status != DEVIMG_OK)
        return set(row, DVI_DOCTOR_UNKNOWN, dvi_arena_copy(&e->out->arena, why.text),
                   "set TMPDIR to a folder that can be written", err);
    const char *const argv[] = {
        e->ocloc, "compile", "-file", kernel_name, "-device", target, NULL
    };
    struct dvi_ran ran = { 0 };
    bool started = false;
    DVI_TRY(try_row(e, row, argv, igc_remedy, &started, &ran, err));
    if (!started)
        return DEVIMG_OK;
    const enum devimg_status judged = judge_compile(e, target, &ran, err);
    dvi_ran_free(&ran);
    return judged;
}

/* --- sycl-ls --- */

static const char *text_of_devices(struct exam *e, const struct dvi_detection *found)
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
    return joined(arena, names, count);
}

/* Where oneAPI puts its programs, with or without its variables set; NULL: not there, or no memory. */
static const char *remedy_of(struct exam *e, const char *name, const char *other)
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

static enum devimg_status examine_sycl_ls(struct exam *e, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[DVI_DOCTOR_SYCL_LS];
    DVI_TRY(find(e, DVI_DOCTOR_SYCL_LS, e->asked->sycl_ls,
                 remedy_of(e, "sycl-ls",
                           "it comes with oneAPI and with intel/llvm; only devimg sycl "
                           "detect needs it, to see the devices of this machine"),
                 err));
    if (row->program == NULL)
        return DEVIMG_OK;
    const struct dvi_detect_options options = { .sycl_ls = row->program,
                                                .seconds = e->asked->seconds };
    struct dvi_detection found = { 0 };
    enum devimg_status status = dvi_detect(&options, &found, &e->out->arena, err);
    if (status == DEVIMG_OK && found.asked)
        status = set(row, DVI_DOCTOR_OK, text_of_devices(e, &found), NULL, err);
    else if (status == DEVIMG_OK)
        status = set(row, DVI_DOCTOR_BROKEN,
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

/* The version, or the line that holds it. */
static const char *compiler_version(struct exam *e, const struct compiler *c,
                                    const struct dvi_ran *ran)
{
    const char *at = c->before != NULL ? strstr(ran->output, c->before) : NULL;
    if (at == NULL)
        return first_line(&e->out->arena, ran);
    at += strlen(c->before);
    const size_t size = strcspn(at, "\r\n");
    return dvi_arena_text(&e->out->arena, dvi_view_of(at, size < MOST_LINE ? size : MOST_LINE, ""));
}

/* Does this clang++ take the words that only DPC++ has? With -### it compiles nothing. */
static enum devimg_status is_dpcpp(struct exam *e, const char *program, bool *yes,
                                   struct devimg_error *err)
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
    const enum devimg_status status =
        dvi_run_in(e->folder.path, argv, e->asked->seconds, MOST_OUTPUT, &ran, NULL);
    *yes = status == DEVIMG_OK && !ran.timed_out && ran.exit_code == 0;
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, program);
    if (status == DEVIMG_OK)
        dvi_ran_free(&ran);
    return DEVIMG_OK;
}

static enum devimg_status judge_compiler(struct exam *e, const struct compiler *c,
                                         const struct dvi_ran *ran, struct devimg_error *err)
{
    struct dvi_doctor_row *row = &e->out->rows[c->part];
    bool good = c->mark == NULL || holds(ran, c->mark);
    if (ran->timed_out || ran->exit_code != 0)
        return set(row, DVI_DOCTOR_BROKEN, ended(e, c->argument, ran), "install it anew", err);
    const char *version = compiler_version(e, c, ran);
    if (version == NULL)
        return dvi_fail_memory(err, row->program);
    if (c->mark == NULL)
        DVI_TRY(is_dpcpp(e, row->program, &good, err));
    if (!good)
        return set(row, DVI_DOCTOR_WRONG,
                   c->mark == NULL
                       ? dvi_arena_format(&e->out->arena,
                                          "%s: no DPC++, it refuses -fsycl-targets=spir64_gen",
                                          version)
                       : dvi_arena_format(&e->out->arena, "%s does not name %s: %s", c->argument,
                                          c->mark, version),
                   c->remedy, err);
    row->version = version;
    return set(row, DVI_DOCTOR_OK,
               c->part == DVI_DOCTOR_ACPP
                   ? dvi_arena_format(&e->out->arena,
                                      "%s; its default target, generic, is compiled at the first "
                                      "launch; for Intel GPUs ahead of time it takes "
                                      "intel_gpu_<arch> targets (since 23.10)",
                                      version)
                   : version,
               NULL, err);
}

static enum devimg_status examine_compiler(struct exam *e, const struct compiler *c,
                                           struct devimg_error *err)
{
    const char *name = dvi_doctor_names[c->part];
    struct dvi_doctor_row *row = &e->out->rows[c->part];
    struct dvi_ran ran = { 0 };
    bool started = false;
    DVI_TRY(find(e, c->part, name,
                 c->part == DVI_DOCTOR_ICPX ? remedy_of(e, name, c->remedy) : c->remedy, err));
    if (row->program == NULL)
        return DEVIMG_OK;
    const char *const argv[] = { row->program, c->argument, NULL };
    DVI_TRY(try_row(e, row, argv, "install it anew", &started, &ran, err));
    if (!started)
        return DEVIMG_OK;
    const enum devimg_status status = judge_compiler(e, c, &ran, err);
    dvi_ran_free(&ran);
    return status;
}

/* --- the whole --- */

/* What the list and the wishes need. */
static void require(struct exam *e)
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
    if (d->known == 0)
        return d->total == 1 ? "this ocloc does not know it" : "this ocloc knows none of them";
    return rows[DVI_DOCTOR_IGC].state != DVI_DOCTOR_OK ? "whether ocloc can compile is not known"
                                                       : NULL;
}

static const char *about_images(struct exam *e)
{
    struct dvi_doctor *d = e->out;
    if (d->total == 0)
        return "no native Intel images are asked for: the target list is empty, SPIR-V is compiled "
               "at the first launch";
    const char *list = joined(&d->arena, e->asked->lists, e->asked->count);
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
static const char *also(struct exam *e, const char *answer)
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

static enum devimg_status examine_all(struct exam *e, struct devimg_error *err)
{
    DVI_TRY(examine_ocloc(e, err));
    DVI_TRY(examine_targets(e, err));
    DVI_TRY(examine_igc(e, err));
    DVI_TRY(examine_sycl_ls(e, err));
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        DVI_TRY(examine_compiler(e, &compilers[i], err));
    for (size_t i = 0; i < DVI_DOCTOR_PARTS; i++)
        e->out->failed = e->out->failed || dvi_doctor_fails(&e->out->rows[i]);
    e->out->answer = also(e, about_images(e));
    return e->out->answer != NULL ? DEVIMG_OK : dvi_fail_memory(err, "sycl doctor");
}

static enum devimg_status begin(struct exam *e, struct devimg_error *err)
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
    struct exam e = { .asked = asked, .out = out };
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
