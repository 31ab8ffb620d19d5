/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compilers that units name, and what makes one the same as it was: its own bytes, programs and
 * settings beside it, the program and libraries that it needs (those by size and time), and the
 * variables that it reads.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/names.h"
#include "base/run.h"
#include "base/text.h"
#include "sycl/compile.h"
#include "sycl/compile_cache.h"

extern char **environ;

static enum devimg_status fail_memory(struct devimg_error *err)
{
    return dvi_fail_memory(err, "compilers");
}

/* ---- finding ---- */

static enum devimg_status find(struct dvi_compile *c, const struct dvi_unit *unit,
                               struct dvi_compile_program *out, struct devimg_error *err)
{
    const struct dvi_compiler *compiler = unit->compiler;
    struct devimg_error why = { 0 };
    const char *name = strchr(unit->program, '/') == NULL
                           ? unit->program
                           : dvi_path_in(unit->folder, unit->program, &c->arena);
    *out = (struct dvi_compile_program){ .compiler = compiler };
    if (name == NULL)
        return fail_memory(err);
    enum devimg_status st = dvi_find_program(name, &c->arena, &out->path, &why);
    if (st == DEVIMG_IO)
        out->problem =
            dvi_arena_format(&c->arena, "%s: %s: %s", unit->program, why.text, compiler->remedy);
    else if (st == DEVIMG_OK && compiler->needs != NULL)
        st = dvi_find_program(compiler->needs, &c->arena, &out->needs, &why);
    if (st == DEVIMG_IO && out->problem == NULL)
        out->problem = dvi_arena_format(&c->arena, "%s needs %s: %s: %s", compiler->name,
                                        compiler->needs, why.text, dvi_sycl_ocloc_remedy);
    if (st == DEVIMG_NOMEM || (st == DEVIMG_IO && out->problem == NULL))
        return fail_memory(err);
    if (st == DEVIMG_IO)
        out->path = NULL;
    return DEVIMG_OK;
}

/* The first unit that names the same program, in the same folder where that counts. */
static const struct dvi_unit *alike(const struct dvi_compile *c, size_t index)
{
    const struct dvi_unit *unit = &c->units.items[index];
    const bool is_name = strchr(unit->program, '/') == NULL;
    for (size_t i = 0; i < index; i++) {
        const struct dvi_unit *other = &c->units.items[i];
        if (other->compiler == unit->compiler && strcmp(other->program, unit->program) == 0 &&
            (is_name || unit->program[0] == '/' || strcmp(other->folder, unit->folder) == 0))
            return other;
    }
    return NULL;
}

enum devimg_status dvi_compile_find_programs(struct dvi_compile *compile, struct devimg_error *err)
{
    for (size_t i = 0; i < compile->units.count; i++) {
        struct dvi_unit *unit = &compile->units.items[i];
        const struct dvi_unit *other = alike(compile, i);
        if (other != NULL) {
            unit->program_index = other->program_index;
            continue;
        }
        unit->program_index = compile->programs.count;
        struct dvi_compile_program *added = DVI_ADD(&compile->programs);
        if (added == NULL)
            return fail_memory(err);
        DVI_TRY(find(compile, unit, added, err));
    }
    return DEVIMG_OK;
}

/* ---- what it is ---- */

struct identity {
    struct dvi_sha256 sum;
    struct dvi_cache *cache;
    struct dvi_arena *arena;
    struct devimg_error *err;
};

static const char *real_path(const char *path, struct dvi_arena *arena)
{
    char *real = realpath(path, NULL);
    const char *copy = dvi_arena_copy(arena, real != NULL ? real : path);
    free(real);
    return copy;
}

static enum devimg_status add_bytes(struct identity *id, const char *path)
{
    uint8_t digest[DVI_SHA256_SIZE];
    const char *real = real_path(path, id->arena);
    if (real == NULL)
        return fail_memory(id->err);
    (void)dvi_cache_digest(id->cache, real, digest);
    dvi_sha256_add_text(&id->sum, path);
    dvi_sha256_add(&id->sum, digest, sizeof digest);
    return DEVIMG_OK;
}

/* Large, and replaced by packages: their bytes need not be read. */
static enum devimg_status add_date(struct identity *id, const char *path)
{
    struct stat info;
    const char *text = NULL;
    if (stat(path, &info) == 0)
        text = dvi_arena_format(id->arena, "%s %jd %jd %ld", path, (intmax_t)info.st_size,
                                (intmax_t)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    else
        text = path;
    if (text == NULL)
        return fail_memory(id->err);
    dvi_sha256_add_text(&id->sum, text);
    return DEVIMG_OK;
}

/* The files of a folder that match, in the order of their names. */
static enum devimg_status add_matching(struct identity *id, const char *folder,
                                       const char *const *globs,
                                       enum devimg_status (*add)(struct identity *id,
                                                                 const char *path))
{
    DVI_LIST(const char *) names = { 0 };
    enum devimg_status st = DEVIMG_OK;
    DIR *open = globs != NULL && globs[0] != NULL ? opendir(folder) : NULL;
    const struct dirent *one = NULL;
    while (open != NULL && st == DEVIMG_OK && (one = readdir(open)) != NULL) {
        if (!dvi_matches_any(globs, one->d_name))
            continue;
        const char *path = dvi_arena_format(id->arena, "%s/%s", folder, one->d_name);
        const char **added = path != NULL ? DVI_ADD(&names) : NULL;
        st = added != NULL ? DEVIMG_OK : fail_memory(id->err);
        if (added != NULL)
            *added = path;
    }
    if (open != NULL)
        (void)closedir(open);
    const uint32_t count = names.count > 0 ? dvi_names_sort(names.items, (uint32_t)names.count) : 0;
    for (uint32_t i = 0; i < count && st == DEVIMG_OK; i++)
        st = add(id, names.items[i]);
    DVI_LIST_FREE(&names);
    return st;
}

static enum devimg_status add_in(struct identity *id, const char *folder, const char *below,
                                 const char *const *globs,
                                 enum devimg_status (*add)(struct identity *id, const char *path))
{
    const char *path = dvi_path_in(folder, below, id->arena);
    return path != NULL ? add_matching(id, path, globs, add) : fail_memory(id->err);
}

/* Where a loader looks for what a program opens by name. */
static enum devimg_status add_libraries(struct identity *id, const char *beside,
                                        const char *const *globs)
{
    static const char *const relative[] = { ".", "../lib", "../lib64" };
    static const char *const system[] = { "/usr/local/lib", "/usr/lib", "/usr/lib64",
                                          "/usr/lib/x86_64-linux-gnu", "/opt/intel/lib" };
    const char *path = getenv("LD_LIBRARY_PATH");
    struct dvi_view rest = dvi_view_of(path != NULL ? path : "", path != NULL ? strlen(path) : 0,
                                       "LD_LIBRARY_PATH"),
                    field = { 0 };
    if (globs == NULL)
        return DEVIMG_OK;
    while (dvi_next_field(&rest, ':', &field)) {
        const char *folder = dvi_arena_text(id->arena, field);
        if (folder == NULL)
            return fail_memory(id->err);
        if (*folder != '\0')
            DVI_TRY(add_matching(id, folder, globs, add_date));
    }
    for (size_t i = 0; i < sizeof relative / sizeof *relative; i++)
        DVI_TRY(add_in(id, beside, relative[i], globs, add_date));
    for (size_t i = 0; i < sizeof system / sizeof *system; i++)
        DVI_TRY(add_matching(id, system[i], globs, add_date));
    return DEVIMG_OK;
}

static enum devimg_status add_program(struct identity *id, const struct dvi_compiler *compiler,
                                      const char *path)
{
    const char *real = real_path(path, id->arena);
    const char *slash = real != NULL ? strrchr(real, '/') : NULL;
    const char *beside =
        slash != NULL ? dvi_arena_format(id->arena, "%.*s", (int)(slash - real), real) : real;
    if (beside == NULL)
        return fail_memory(id->err);
    DVI_TRY(add_bytes(id, path));
    for (const char *const *folder = compiler->folders; *folder != NULL; folder++)
        DVI_TRY(add_in(id, beside, *folder, compiler->parts, add_bytes));
    return add_libraries(id, beside, compiler->libraries);
}

/* NAME=VALUE of each variable that it reads, in the order of their names. */
static enum devimg_status add_variables(struct identity *id, const struct dvi_compiler *compiler,
                                        const struct dvi_compile_asked *asked)
{
    DVI_LIST(const char *) found = { 0 };
    enum devimg_status st = DEVIMG_OK;
    for (char **at = environ; *at != NULL && st == DEVIMG_OK; at++) {
        const size_t size = strcspn(*at, "=");
        const char *name = dvi_arena_format(id->arena, "%.*s", (int)size, *at);
        bool reads = name != NULL && dvi_matches_any(compiler->environment, name);
        for (size_t i = 0; i < asked->variable_count && name != NULL && !reads; i++)
            reads = dvi_matches_any((const char *const[]){ asked->variables[i], NULL }, name);
        const char **added = reads ? DVI_ADD(&found) : NULL;
        if (name == NULL || (reads && added == NULL))
            st = fail_memory(id->err);
        else if (reads)
            *added = *at;
    }
    const uint32_t count = found.count > 0 ? dvi_names_sort(found.items, (uint32_t)found.count) : 0;
    for (uint32_t i = 0; i < count && st == DEVIMG_OK; i++)
        dvi_sha256_add_text(&id->sum, found.items[i]);
    DVI_LIST_FREE(&found);
    return st;
}

static enum devimg_status identify(struct dvi_compile *c, struct dvi_compile_program *program,
                                   struct dvi_cache *cache, struct dvi_arena *arena,
                                   struct devimg_error *err)
{
    struct identity id = { .cache = cache, .arena = arena, .err = err };
    uint8_t digest[DVI_SHA256_SIZE];
    dvi_sha256_begin(&id.sum);
    dvi_sha256_add_text(&id.sum, program->compiler->name);
    DVI_TRY(add_program(&id, program->compiler, program->path));
    DVI_TRY(add_variables(&id, program->compiler, c->asked));
    if (program->needs != NULL) { /* icpx runs ocloc */
        DVI_TRY(add_program(&id, &dvi_compiler_ocloc, program->needs));
        DVI_TRY(add_variables(&id, &dvi_compiler_ocloc, c->asked));
    }
    dvi_sha256_end(&id.sum, digest);
    dvi_sha256_hex(digest, program->identity);
    return DEVIMG_OK;
}

enum devimg_status dvi_compile_identify(struct dvi_compile *compile, struct dvi_cache *cache,
                                        struct devimg_error *err)
{
    struct dvi_arena arena = { 0 };
    enum devimg_status st = DEVIMG_OK;
    for (size_t i = 0; i < compile->programs.count && st == DEVIMG_OK; i++)
        if (compile->programs.items[i].path != NULL)
            st = identify(compile, &compile->programs.items[i], cache, &arena, err);
    dvi_arena_free(&arena);
    return st;
}
