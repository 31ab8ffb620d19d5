/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting in a run: the program is started with a stand-in for __sycl_register_lib preloaded
 * (src/preload/registry_count.c), which appends what it counts to a file in our memory. A shared
 * library is loaded by a program of devimg's. Linux, and ELF.
 *
 * What is run is not trusted: what it left is read once, when it has ended, and no more than a bound.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/file.h"
#include "base/run.h"
#include "config.h"
#include "object/object.h"
#include "preload/registry.h"
#include "sycl/registry.h"

extern char **environ;

enum { MOST_OUTPUT = 64 << 10, MOST_TOLD = 64 << 20 };
static const char preload_variable[] = "LD_PRELOAD";

/* --- our own files --- */

/* The folder that this program lies in, with its "/". */
static enum devimg_status own_folder(struct dvi_arena *arena, const char **out,
                                     struct devimg_error *err)
{
    enum { MOST = 4096 };
    char *path = dvi_arena_array(arena, MOST, 1);
    if (path == NULL)
        return dvi_fail_memory(err, "sycl registry");
    const ssize_t size = readlink("/proc/self/exe", path, MOST - 1);
    char *slash = size > 0 ? strrchr(path, '/') : NULL;
    if (slash == NULL)
        return dvi_fail_plain(err, DEVIMG_IO, "/proc/self/exe", "%s", strerror(errno));
    slash[1] = '\0';
    *out = path;
    return DEVIMG_OK;
}

/* A file of ours: where it is installed, else beside the program, where it is built. */
static enum devimg_status find_own(const char *name, struct dvi_arena *arena, const char **out,
                                   struct devimg_error *err)
{
    static const char *const places[] = { DVI_LIBEXEC_FROM_BIN "/", "" };
    const char *folder = NULL;
    DVI_TRY(own_folder(arena, &folder, err));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        *out = dvi_arena_format(arena, "%s%s%s", folder, places[i], name);
        if (*out == NULL)
            return dvi_fail_memory(err, name);
        if (access(*out, R_OK) == 0)
            return DEVIMG_OK;
    }
    return dvi_fail_plain(err, DEVIMG_IO, name, "not found: it is installed with devimg, in %s%s",
                          folder, DVI_LIBEXEC_FROM_BIN);
}

/* --- starting --- */

static bool is_library(const char *path, struct dvi_arena *arena)
{
    struct dvi_file file = { 0 };
    struct dvi_object object = { 0 };
    if (dvi_file_open(path, path, false, &file, NULL) != DEVIMG_OK)
        return false;
    const bool is_one =
        dvi_object_open(file.bytes, arena, NULL, NULL, &object, NULL) == DEVIMG_OK &&
        object.kind == DEVIMG_KIND_ELF && object.is_linked && !object.is_program;
    dvi_file_close(&file);
    return is_one;
}

static bool is_variable(const char *setting, const char *name)
{
    const size_t size = strlen(name);
    return strncmp(setting, name, size) == 0 && setting[size] == '=';
}

/* Our environment, with the stand-in before what is preloaded already, and where it tells what it
 * counts. NULL: no memory, or no such file. */
static const char *const *environment_of(const char *stand_in, int fd, struct dvi_arena *arena)
{
    size_t count = 0, used = 0;
    struct stat info;
    const char *others = getenv(preload_variable);
    const bool has_others = others != NULL && others[0] != '\0';
    while (environ[count] != NULL)
        count++;
    const char **list = dvi_arena_array(arena, count + 3, sizeof *list);
    if (list == NULL || fstat(fd, &info) != 0)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!is_variable(environ[i], preload_variable) &&
            !is_variable(environ[i], DVI_REGISTRY_FILE))
            list[used++] = environ[i];
    list[used] = dvi_arena_format(arena, "%s=%s%s%s", preload_variable, stand_in,
                                  has_others ? ":" : "", has_others ? others : "");
    list[used + 1] =
        dvi_arena_format(arena, "%s=%" PRIu64 ":%" PRIu64 ":/proc/%ld/fd/%d", DVI_REGISTRY_FILE,
                         (uint64_t)info.st_dev, (uint64_t)info.st_ino, (long)getpid(), fd);
    return list[used] != NULL && list[used + 1] != NULL ? list : NULL;
}

/* The words to run: of a library, those that load it. */
static enum devimg_status words_of(const char *const *argv, struct dvi_registry_program *program,
                                   struct dvi_arena *arena, const char *const **out,
                                   struct devimg_error *err)
{
    const char *loader = NULL, *path = argv[0];
    program->is_library = is_library(argv[0], arena);
    *out = argv;
    if (!program->is_library)
        return DEVIMG_OK;
    if (argv[1] != NULL)
        return dvi_fail_plain(err, DEVIMG_IO, argv[0],
                              "a shared library, which takes no arguments: name the program");
    DVI_TRY(find_own(DVI_REGISTRY_LOAD, arena, &loader, err));
    if (strchr(path, '/') == NULL) /* else it is looked for elsewhere */
        path = dvi_arena_format(arena, "./%s", path);
    const char **words = dvi_arena_array(arena, 3, sizeof *words);
    if (path == NULL || words == NULL)
        return dvi_fail_memory(err, argv[0]);
    words[0] = loader;
    words[1] = path;
    *out = words;
    return DEVIMG_OK;
}

/* --- what was told --- */

/* A descriptor; one that is registered again, as where a library is loaded twice, counts once. */
struct told {
    struct dvi_registry_message m;
    const char *name;
    size_t order;   /* of all that was told */
    size_t program; /* the order of what its program told first: a process may become another one */
};

struct telling {
    DVI_LIST(struct told) told;
    bool started; /* some program */
    bool broken; /* a message is cut or none of ours, or there are too many: the rest is left out */
};

/* False: out of memory. */
static bool take_all(struct telling *t, struct dvi_view v, struct dvi_arena *arena)
{
    uint64_t at = 0;
    while (at < v.size && !t->broken) {
        struct dvi_registry_message m = { 0 };
        t->broken = v.size - at < sizeof m;
        if (!t->broken)
            memcpy(&m, v.data + at, sizeof m); /* what we wrote ourselves, on this machine */
        at += sizeof m;
        t->broken = t->broken || m.magic != DVI_REGISTRY_MAGIC || m.name_size > v.size - at;
        if (t->broken)
            continue;
        const char *name = dvi_arena_text(arena, dvi_head(dvi_from(v, at), m.name_size));
        struct told *told = DVI_ADD(&t->told);
        if (name == NULL || told == NULL)
            return false;
        *told = (struct told){ .m = m, .name = name, .order = t->told.count - 1 };
        t->started = t->started || m.event == DVI_REGISTRY_STARTED;
        at += m.name_size;
    }
    return true;
}

static int by_process(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    return x->m.process != y->m.process ? dvi_compare_numbers(x->m.process, y->m.process)
                                        : dvi_compare_numbers(x->order, y->order);
}

/* Which program each is of; then only descriptors are kept. */
static void find_programs(struct telling *t)
{
    size_t kept = 0, program = 0;
    uint64_t process = 0;
    if (t->told.count > 0)
        qsort(t->told.items, t->told.count, sizeof *t->told.items, by_process);
    for (size_t i = 0; i < t->told.count; i++) {
        struct told *told = &t->told.items[i];
        if (i == 0 || told->m.process != process || told->m.event == DVI_REGISTRY_STARTED)
            program = told->order;
        process = told->m.process;
        told->program = program;
        if (told->m.event == DVI_REGISTRY_REGISTERED)
            t->told.items[kept++] = *told;
    }
    t->told.count = kept;
}

static int by_place(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    if (x->program != y->program)
        return dvi_compare_numbers(x->program, y->program);
    const int names = strcmp(x->name, y->name);
    return names != 0 ? names : dvi_compare_numbers(x->m.place, y->m.place);
}

/* A row an object of the first program, and its sum. */
static bool add_rows(const struct telling *t, struct dvi_registry *out)
{
    struct dvi_registry_row *row = NULL;
    for (size_t i = 0; i < t->told.count && t->told.items[i].program == t->told.items[0].program;
         i++) {
        const struct told *told = &t->told.items[i];
        if (i > 0 && by_place(told, told - 1) == 0)
            continue;
        if (row == NULL || strcmp(row->path, told->name) != 0) {
            row = DVI_ADD(&out->rows);
            if (row == NULL)
                return false;
            *row = (struct dvi_registry_row){
                .path = told->name, .present = DEVIMG_UNKNOWN, .code = "registered", .good = true
            };
        }
        const struct dvi_registered one = { 1, told->m.images, told->m.entries };
        dvi_registered_add(&row->registered, &one);
        dvi_registered_add(&out->total, &one);
        if (told->m.images == UINT64_MAX || told->m.entries == UINT64_MAX) {
            row->good = false;
            row->code = "entries-unknown";
            row->why = "a descriptor of a form that devimg does not know";
        }
    }
    return true;
}

/* The answer is of the first program that registers something: what was named may be a script that
 * starts it, or start others that are like it. */
static bool add_up(struct telling *t, struct dvi_registry_program *program,
                   struct dvi_registry *out)
{
    find_programs(t);
    if (t->told.count == 0)
        return true;
    qsort(t->told.items, t->told.count, sizeof *t->told.items, by_place);
    for (size_t i = 1; i < t->told.count; i++)
        program->more += t->told.items[i].program != t->told.items[i - 1].program;
    return add_rows(t, out);
}

static void unknown(struct dvi_registry *out, const char *why, const char *hint)
{
    out->total = (struct dvi_registered){ DEVIMG_UNKNOWN, DEVIMG_UNKNOWN, DEVIMG_UNKNOWN };
    out->unknown = why;
    out->hint = hint;
}

static enum devimg_status read_told(int fd, struct dvi_registry_program *program,
                                    struct dvi_arena *arena, struct dvi_registry *out,
                                    struct devimg_error *err)
{
    struct stat info;
    struct dvi_file file = { .bytes = dvi_view_of(NULL, 0, program->path) };
    struct telling t = { .broken = fstat(fd, &info) != 0 || info.st_size > MOST_TOLD };
    if (!t.broken)
        DVI_TRY(dvi_file_open_fd(fd, program->path, true, &file, err));
    const bool whole = take_all(&t, file.bytes, arena) && add_up(&t, program, out);
    if (t.broken)
        unknown(out, "something else wrote where the counts are written", NULL);
    else if (!t.started)
        unknown(out, "the stand-in for __sycl_register_lib was not loaded",
                "programs that are linked statically, of 32 bits, or run with other rights take "
                "none; does it start without devimg?");
    else if (out->rows.count == 0 && program->is_library && program->ended != NULL)
        unknown(out, "the library could not be loaded",
                "set LD_LIBRARY_PATH to where its dependencies lie, or name the program that loads "
                "it");
    dvi_file_close(&file);
    DVI_LIST_FREE(&t.told);
    return whole ? DEVIMG_OK : dvi_fail_memory(err, program->path);
}

/* --- a run --- */

static enum devimg_status run_it(const char *const *words, int fd, unsigned seconds,
                                 struct dvi_registry_program *program, struct dvi_arena *arena,
                                 struct dvi_registry *out, struct devimg_error *err)
{
    const char *stand_in = NULL;
    struct dvi_ran ran = { 0 };
    DVI_TRY(find_own(DVI_REGISTRY_COUNT, arena, &stand_in, err));
    if (strpbrk(stand_in, ": ") != NULL)
        return dvi_fail_plain(
            err, DEVIMG_IO, stand_in,
            "cannot be preloaded, for a blank or colon in its path: install devimg "
            "elsewhere");
    const char *const *environment = environment_of(stand_in, fd, arena);
    if (environment == NULL)
        return dvi_fail_memory(err, program->path);
    DVI_TRY(dvi_run_with(environment, words, seconds, MOST_OUTPUT, &ran, err));
    program->exit_status = ran.exit_code;
    program->timed_out = ran.timed_out;
    const bool well = ran.exit_code == 0;
    if (!well)
        program->ended = dvi_ran_ended(&ran, program->path, seconds, arena);
    dvi_ran_free(&ran);
    if (!well && program->ended == NULL)
        return dvi_fail_memory(err, program->path);
    return read_told(fd, program, arena, out, err);
}

enum devimg_status dvi_registry_run(const char *const *argv, unsigned seconds,
                                    struct dvi_arena *arena, struct dvi_registry *out,
                                    struct devimg_error *err)
{
    const char *const *words = NULL;
    struct dvi_registry_program *program = dvi_arena_array(arena, 1, sizeof *program);
    *out = (struct dvi_registry){ .program = program };
    if (program == NULL)
        return dvi_fail_memory(err, argv[0]);
    *program = (struct dvi_registry_program){ .path = argv[0], .exit_status = -1 };
    DVI_TRY(words_of(argv, program, arena, &words, err));
    const int fd = memfd_create("devimg-registry", MFD_CLOEXEC);
    if (fd < 0)
        return dvi_fail_plain(err, DEVIMG_IO, argv[0], "no file in memory for the counts: %s",
                              strerror(errno));
    const enum devimg_status status = run_it(words, fd, seconds, program, arena, out, err);
    (void)close(fd);
    if (status != DEVIMG_OK)
        dvi_registry_free(out);
    return status;
}
