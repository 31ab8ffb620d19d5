/* SPDX-License-Identifier: Apache-2.0 */
#include "sycl/compile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/pool.h"
#include "base/run.h"
#include "base/temporary.h"
#include "sycl/compile_cache.h"

enum { MOST_LOG = 1 << 20 }; /* bytes of each stream of a compiler */

static enum devimg_status fail_memory(struct devimg_error *err)
{
    return dvi_fail_memory(err, "compile");
}

enum devimg_status dvi_compile_warn(struct dvi_compile *compile, const char *text,
                                    struct devimg_error *err)
{
    const char **added = text != NULL ? DVI_ADD(&compile->warnings) : NULL;
    if (added == NULL)
        return fail_memory(err);
    *added = text;
    return DEVIMG_OK;
}

/* ---- plan ---- */

static const char *cache_folder(struct dvi_compile *c)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache != NULL && cache[0] == '/')
        return dvi_arena_format(&c->arena, "%s/devimg/compile", cache);
    return dvi_arena_format(&c->arena, "%s/.cache/devimg/compile",
                            home != NULL && home[0] == '/' ? home : "/tmp");
}

/* Why the policy lets a unit fail for a target; NULL: it does not. */
static const char *gap_of(const struct dvi_compile *c, const struct dvi_unit *unit,
                          const struct dvi_compile_target *target)
{
    const struct devimg_policy *policy = c->asked->policy;
    for (size_t i = 0; policy != NULL && i < policy->gaps.count; i++) {
        const struct dvi_gap *gap = &policy->gaps.items[i];
        if (!gap->by_unit || !dvi_gap_has_unit(gap, unit->path))
            continue;
        for (size_t k = 0; k < gap->without.known.count; k++)
            if (strcmp(gap->without.known.items[k]->name, target->name) == 0)
                return gap->reason;
    }
    return NULL;
}

/* A gap of the policy that is about no unit is likely misspelt; with --only it may be of another. */
static enum devimg_status say_unmatched_gaps(struct dvi_compile *c, struct devimg_error *err)
{
    const struct devimg_policy *policy = c->asked->only_count == 0 ? c->asked->policy : NULL;
    for (size_t i = 0; policy != NULL && i < policy->gaps.count; i++) {
        const struct dvi_gap *gap = &policy->gaps.items[i];
        bool matched = !gap->by_unit;
        for (size_t u = 0; u < c->units.count && !matched; u++)
            matched = dvi_gap_has_unit(gap, c->units.items[u].path);
        if (!matched)
            DVI_TRY(dvi_compile_warn(
                c, dvi_arena_format(&c->arena, "the gap \"unit:%s\" matches no unit", gap->pattern),
                err));
    }
    return DEVIMG_OK;
}

static enum devimg_status add_cells(struct dvi_compile *c, size_t unit, struct devimg_error *err)
{
    const struct dvi_unit *u = &c->units.items[unit];
    for (size_t t = 0; t < c->list.count; t++) {
        const struct dvi_compile_target *target = &c->list.items[t];
        if (target->cuda != u->compiler->cuda)
            continue;
        struct dvi_cell *added = DVI_ADD(&c->cells);
        if (added == NULL)
            return fail_memory(err);
        *added = (struct dvi_cell){
            .unit = unit, .target = t, .gap = gap_of(c, u, target), .exit_code = -1
        };
    }
    return DEVIMG_OK;
}

/* Units of a vendor for whose GPUs the list has no name. */
static enum devimg_status say_left_out(struct dvi_compile *c, bool cuda, struct devimg_error *err)
{
    size_t units = 0, targets = 0;
    for (size_t i = 0; i < c->units.count; i++)
        units += c->units.items[i].compiler->cuda == cuda;
    for (size_t i = 0; i < c->list.count; i++)
        targets += c->list.items[i].cuda == cuda;
    if (units == 0 || targets > 0)
        return DEVIMG_OK;
    const char *text =
        dvi_arena_format(&c->arena, "%zu %s unit%s left out: the list has no target of %s", units,
                         cuda ? "CUDA" : "Intel", units == 1 ? " is" : "s are",
                         cuda ? "CUDA (such as sm_90)" : "Intel");
    if (text != NULL && units == c->units.count)
        c->nothing = text;
    return dvi_compile_warn(c, text, err);
}

enum devimg_status dvi_compile_plan(const struct dvi_compile_asked *asked, struct dvi_compile *out,
                                    struct devimg_error *err)
{
    *out = (struct dvi_compile){ .asked = asked };
    DVI_TRY(dvi_compile_read_targets(out, err));
    if (out->targets.refused || out->nothing != NULL)
        return DEVIMG_OK;
    DVI_TRY(dvi_compile_read_units(out, err));
    if (out->nothing != NULL)
        return DEVIMG_OK;
    DVI_TRY(say_left_out(out, true, err));
    DVI_TRY(say_left_out(out, false, err));
    if (out->nothing != NULL)
        return DEVIMG_OK;
    DVI_TRY(say_unmatched_gaps(out, err));
    DVI_TRY(dvi_compile_find_programs(out, err));
    for (size_t i = 0; i < out->units.count; i++)
        DVI_TRY(add_cells(out, i, err));
    bool found = false;
    for (size_t i = 0; i < out->cells.count; i++)
        found =
            found ||
            out->programs.items[out->units.items[out->cells.items[i].unit].program_index].path !=
                NULL;
    if (!found)
        out->nothing = out->programs.items[0].problem;
    if (out->work == NULL)
        out->work = cache_folder(out);
    return out->work != NULL ? DEVIMG_OK : fail_memory(err);
}

void dvi_compile_free(struct dvi_compile *compile)
{
    for (size_t i = 0; i < compile->list.count; i++)
        if (!compile->list.items[i].cuda)
            dvi_sycl_flags_free(&compile->list.items[i].flags);
    for (size_t i = 0; i < compile->cells.count; i++)
        DVI_LIST_FREE(&compile->cells.items[i].failures.list);
    dvi_sycl_targets_free(&compile->targets);
    DVI_LIST_FREE(&compile->list);
    DVI_LIST_FREE(&compile->units);
    DVI_LIST_FREE(&compile->programs);
    DVI_LIST_FREE(&compile->cells);
    DVI_LIST_FREE(&compile->warnings);
    dvi_arena_free(&compile->arena);
}

static const struct dvi_compile_program *program_of(const struct dvi_compile *c,
                                                    const struct dvi_cell *cell)
{
    return &c->programs.items[c->units.items[cell->unit].program_index];
}

enum devimg_status dvi_compile_words(const struct dvi_compile *compile, const struct dvi_cell *cell,
                                     const char *out, const char *deps, struct dvi_arena *arena,
                                     struct dvi_sycl_words *words, struct devimg_error *err)
{
    const struct dvi_unit *unit = &compile->units.items[cell->unit];
    const struct dvi_job job = {
        .unit = unit,
        .target = &compile->list.items[cell->target],
        .program = program_of(compile, cell)->path,
        .more = compile->asked->more,
        .more_count = compile->asked->more_count,
        .out = out,
        .deps = deps,
    };
    return unit->compiler->words(&job, arena, words, err);
}

/* ---- one cell ---- */

/* A cell that is not known. */
struct waiting {
    struct dvi_cell *cell;
    char id[DVI_SHA256_HEX];
};

struct runner {
    struct dvi_compile *compile;
    struct dvi_cache *cache;
    const char *folder; /* outputs; one folder a worker in it */
    struct waiting *waiting;
    struct dvi_arena *arenas; /* one a worker: what stays */
    pthread_mutex_t lock;     /* of what follows */
    struct dvi_compile_progress progress;
    enum devimg_status status; /* the first failure that is not one of a cell */
    struct devimg_error err;
};

/* By everything but the bytes that are read: where outputs lie is all one. */
static enum devimg_status id_of(const struct dvi_compile *c, const struct dvi_cell *cell,
                                struct dvi_arena *arena, char out[DVI_SHA256_HEX],
                                struct devimg_error *err)
{
    struct dvi_sycl_words words = { 0 };
    struct dvi_sha256 sum;
    uint8_t digest[DVI_SHA256_SIZE];
    const enum devimg_status st = dvi_compile_words(c, cell, "OUT", "DEPS", arena, &words, err);
    dvi_sha256_begin(&sum);
    dvi_sha256_add_text(&sum, program_of(c, cell)->identity);
    dvi_sha256_add_text(&sum, c->units.items[cell->unit].folder);
    dvi_sha256_add_text(&sum, c->units.items[cell->unit].path);
    for (size_t i = 0; i < words.list.count; i++)
        dvi_sha256_add_text(&sum, words.list.items[i]);
    dvi_sha256_end(&sum, digest);
    dvi_sha256_hex(digest, out);
    DVI_LIST_FREE(&words.list);
    return st;
}

static enum devimg_status say(struct dvi_cell *cell, const char *message, struct devimg_error *err)
{
    struct dvi_diagnostic *added = message != NULL ? DVI_ADD(&cell->failures.list) : NULL;
    if (added == NULL)
        return fail_memory(err);
    *added = (struct dvi_diagnostic){ .sub_group_size = DEVIMG_UNKNOWN, .message = message };
    return DEVIMG_OK;
}

/* One message in place of all others. */
static enum devimg_status say_alone(struct dvi_cell *cell, const char *message,
                                    struct devimg_error *err)
{
    cell->failures.list.count = 0;
    cell->failures.first_only = cell->failures.cut = false;
    return say(cell, message, err);
}

/* ocloc does not say what to do about a name that it does not know, nor does a clang++ that is not
 * DPC++ say that it is none. */
static enum devimg_status name_remedy(const struct dvi_compile *c, struct dvi_cell *cell,
                                      struct dvi_arena *arena, struct devimg_error *err)
{
    for (size_t i = 0; i < cell->failures.list.count; i++) {
        const char *message = cell->failures.list.items[i].message;
        if (strstr(message, "unknown argument: '-fno-sycl-rdc'") != NULL)
            return say_alone(cell,
                             dvi_arena_format(arena,
                                              "%s is not DPC++ (%s): name icpx, or the clang++ of "
                                              "intel/llvm, with --icpx",
                                              program_of(c, cell)->path, message),
                             err);
        if (strstr(message, "Cannot get HW Info for device") == NULL)
            continue;
        cell->is_unknown = true;
        return say_alone(cell,
                         dvi_arena_format(arena,
                                          "this ocloc does not know %s: use a newer one, or "
                                          "--narrow-to-ocloc to leave it out",
                                          c->list.items[cell->target].name),
                         err);
    }
    return DEVIMG_OK;
}

static enum devimg_status keep_log(struct dvi_cell *cell, const char *log, struct dvi_arena *arena,
                                   struct devimg_error *err)
{
    cell->log = dvi_arena_copy(arena, log);
    return cell->log != NULL ? DEVIMG_OK : fail_memory(err);
}

/* The verdict over a compiler that ended by itself. */
static enum devimg_status judge(const struct dvi_compile *c, struct dvi_cell *cell,
                                const struct dvi_cached *result, struct dvi_arena *arena,
                                struct devimg_error *err)
{
    cell->exit_code = result->exit_code;
    cell->milliseconds = result->milliseconds;
    cell->state = result->exit_code == 0 ? DVI_CELL_OK : DVI_CELL_FAILED;
    if (cell->state == DVI_CELL_OK)
        return DEVIMG_OK;
    DVI_TRY(keep_log(cell, result->log, arena, err));
    DVI_TRY(dvi_diagnostics_read(result->log, arena, &cell->failures, err));
    if (cell->failures.list.count > 0)
        return name_remedy(c, cell, arena, err);
    return say(
        cell, dvi_arena_format(arena, "exit status %d, without a message", result->exit_code), err);
}

/* What both streams hold, errors last; NUL bytes would end it. */
static const char *log_of(const struct dvi_ran *ran, struct dvi_arena *arena, size_t *size)
{
    char *log = dvi_arena_array(arena, ran->output_size + ran->errors_size + 2, 1), *end = log;
    if (log == NULL)
        return NULL;
    memcpy(end, ran->output, ran->output_size);
    end += ran->output_size;
    if (end > log && end[-1] != '\n' && ran->errors_size > 0)
        *end++ = '\n';
    memcpy(end, ran->errors, ran->errors_size);
    end += ran->errors_size;
    for (char *at = log; at < end; at++)
        if (*at == '\0')
            *at = '?';
    *size = (size_t)(end - log);
    return log;
}

static bool is_written(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static uint64_t milliseconds_since(struct timespec start)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000);
}

/* One run of a compiler. */
struct attempt {
    struct dvi_cell *cell;
    const char *id;
    const char *out, *deps; /* files that it writes */
    struct dvi_sycl_words words;
    struct timespec dated; /* when it began, as files are dated */
    struct dvi_ran ran;
    struct dvi_arena scratch;
};

/* Why a run came to no verdict of the compiler; "": it came to one; NULL: no memory. */
static const char *no_verdict(const struct attempt *a, unsigned seconds, struct dvi_arena *arena)
{
    if (a->ran.timed_out)
        return dvi_arena_format(arena, "stopped: it did not end within %u s", seconds);
    if (a->ran.exit_code < 0)
        return "ended by a signal: it crashed, or was killed";
    if (a->ran.exit_code == 0 && !is_written(a->out))
        return "exit status 0, but the compiler wrote no output";
    return "";
}

/* Keep the result, when it is known what it came from. */
static enum devimg_status keep(struct runner *r, struct attempt *a, const struct dvi_cached *result,
                               struct devimg_error *err)
{
    struct dvi_paths paths = { 0 };
    const struct dvi_unit *unit = &r->compile->units.items[a->cell->unit];
    const enum devimg_status st =
        dvi_compile_reads(unit, a->deps, &a->words, &a->scratch, &paths, err);
    if (st == DEVIMG_OK && paths.list.count > 0)
        dvi_cache_keep(r->cache, a->id, paths.list.items, paths.list.count, a->dated, result);
    DVI_LIST_FREE(&paths.list);
    return st;
}

/* Whether the result is all that the compiler said: a launcher that fails may have started none. */
static bool is_of_compiler(const struct dvi_compile *c, const struct dvi_ran *ran)
{
    return !ran->cut && (ran->exit_code == 0 || c->asked->launcher_count == 0);
}

/* What a compiler left is judged, and kept. */
static enum devimg_status take_end(struct runner *r, struct attempt *a, struct dvi_arena *arena,
                                   struct devimg_error *err)
{
    struct dvi_cell *cell = a->cell;
    struct dvi_cached result = { .exit_code = a->ran.exit_code,
                                 .milliseconds = cell->milliseconds };
    result.log = log_of(&a->ran, &a->scratch, &result.log_size);
    cell->is_cut = a->ran.cut;
    const char *why = no_verdict(a, r->compile->asked->seconds, arena);
    if (result.log == NULL || why == NULL)
        return fail_memory(err);
    if (*why != '\0') {
        cell->exit_code = a->ran.exit_code;
        cell->state = a->ran.timed_out ? DVI_CELL_TIMED_OUT : DVI_CELL_FAILED;
        DVI_TRY(keep_log(cell, result.log, arena, err));
        return say(cell, why, err);
    }
    DVI_TRY(judge(r->compile, cell, &result, arena, err));
    return is_of_compiler(r->compile, &a->ran) ? keep(r, a, &result, err) : DEVIMG_OK;
}

static enum devimg_status run_words(struct runner *r, struct attempt *a, struct dvi_arena *arena,
                                    struct devimg_error *err)
{
    const struct dvi_compile *c = r->compile;
    const struct dvi_unit *unit = &c->units.items[a->cell->unit];
    struct timespec start;
    a->dated = dvi_cache_now();
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    const char **end = DVI_ADD(&a->words.list); /* NULL */
    if (end == NULL)
        return fail_memory(err);
    const enum devimg_status st =
        dvi_run_in(unit->folder, a->words.list.items, c->asked->seconds, MOST_LOG, &a->ran, err);
    a->words.list.count--;
    if (st == DEVIMG_IO && !dvi_interrupted()) { /* it cannot be started: this cell fails */
        a->cell->state = DVI_CELL_FAILED;
        return say(a->cell, dvi_arena_format(arena, "%s: %s", err->source, err->text), err);
    }
    DVI_TRY(st);
    a->cell->milliseconds = milliseconds_since(start);
    return take_end(r, a, arena, err);
}

static enum devimg_status run_in(struct runner *r, struct attempt *a, const char *folder,
                                 struct dvi_arena *arena, struct devimg_error *err)
{
    const struct dvi_compile_asked *asked = r->compile->asked;
    a->out = dvi_arena_format(&a->scratch, "%s/out", folder);
    a->deps = dvi_arena_format(&a->scratch, "%s/deps.d", folder);
    if (a->out == NULL || a->deps == NULL)
        return fail_memory(err);
    DVI_TRY(dvi_words_add_some(&a->words, asked->launcher, asked->launcher_count, err));
    DVI_TRY(dvi_compile_words(r->compile, a->cell, a->out, a->deps, &a->scratch, &a->words, err));
    return run_words(r, a, arena, err);
}

static enum devimg_status run_cell(struct runner *r, const struct waiting *waiting,
                                   struct dvi_arena *arena, struct devimg_error *err)
{
    struct dvi_temporary folder = { 0 };
    struct attempt a = { .cell = waiting->cell, .id = waiting->id };
    enum devimg_status st = dvi_temporary_make_in(r->folder, &folder, err);
    if (st == DEVIMG_OK)
        st = run_in(r, &a, folder.path, arena, err);
    dvi_ran_free(&a.ran);
    DVI_LIST_FREE(&a.words.list);
    dvi_arena_free(&a.scratch);
    const enum devimg_status removed = dvi_temporary_remove(&folder, st == DEVIMG_OK ? err : NULL);
    return st != DEVIMG_OK ? st : removed;
}

/* ---- all cells ---- */

static bool is_failure(const struct dvi_cell *cell)
{
    return cell->state != DVI_CELL_OK && cell->gap == NULL;
}

static void report(struct runner *r, const struct dvi_cell *cell)
{
    const struct dvi_compile *c = r->compile;
    r->progress.done++;
    r->progress.failed += is_failure(cell);
    r->progress.unit = c->units.items[cell->unit].label;
    r->progress.target = c->list.items[cell->target].name;
    if (c->asked->progress != NULL)
        c->asked->progress(c->asked->context, &r->progress);
}

static void work(void *context, size_t index, unsigned worker)
{
    struct runner *r = context;
    const struct waiting *waiting = &r->waiting[index];
    struct devimg_error err = { 0 };
    (void)pthread_mutex_lock(&r->lock);
    const bool stop = r->status != DEVIMG_OK || dvi_interrupted();
    (void)pthread_mutex_unlock(&r->lock);
    if (stop)
        return;
    const enum devimg_status st = run_cell(r, waiting, &r->arenas[worker], &err);
    (void)pthread_mutex_lock(&r->lock);
    if (st != DEVIMG_OK && r->status == DEVIMG_OK) {
        r->status = st;
        r->err = err;
    }
    if (st == DEVIMG_OK)
        report(r, waiting->cell);
    (void)pthread_mutex_unlock(&r->lock);
}

/* Take the result of a cell that is known; else it waits. */
static enum devimg_status look_up(struct runner *r, struct dvi_cell *cell, size_t *count,
                                  struct dvi_arena *scratch, struct devimg_error *err)
{
    struct dvi_compile *c = r->compile;
    struct waiting *next = &r->waiting[*count];
    struct dvi_cached known = { 0 };
    next->cell = cell;
    DVI_TRY(id_of(c, cell, scratch, next->id, err));
    cell->cached = !c->asked->again && dvi_cache_find(r->cache, next->id, scratch, &known);
    if (cell->cached)
        return judge(c, cell, &known, &c->arena, err);
    ++*count;
    return DEVIMG_OK;
}

/* What is known already, and what no compiler is there for; the others wait. */
static enum devimg_status look_up_all(struct runner *r, size_t *count, struct devimg_error *err)
{
    struct dvi_compile *c = r->compile;
    enum devimg_status st = DEVIMG_OK;
    for (size_t i = 0; i < c->cells.count && st == DEVIMG_OK; i++) {
        struct dvi_cell *cell = &c->cells.items[i];
        struct dvi_arena scratch = { 0 };
        if (program_of(c, cell)->path == NULL)
            st = say(cell, program_of(c, cell)->problem, err);
        else
            st = look_up(r, cell, count, &scratch, err);
        dvi_arena_free(&scratch);
    }
    return st;
}

static void count_cells(struct dvi_compile *c)
{
    for (size_t i = 0; i < c->cells.count; i++) {
        const struct dvi_cell *cell = &c->cells.items[i];
        c->ok += cell->state == DVI_CELL_OK;
        c->failed += is_failure(cell);
        c->gaps += cell->state != DVI_CELL_OK && cell->gap != NULL;
        c->cached += cell->cached;
    }
}

static enum devimg_status run_waiting(struct runner *r, size_t count, struct devimg_error *err)
{
    struct dvi_compile *c = r->compile;
    struct dvi_temporary folder = { 0 };
    const unsigned threads = c->asked->threads;
    r->arenas = calloc(threads, sizeof *r->arenas);
    if (r->arenas == NULL)
        return fail_memory(err);
    enum devimg_status st = dvi_temporary_make_in(c->work, &folder, err);
    r->folder = folder.path;
    r->progress.count = count;
    if (st == DEVIMG_OK) {
        dvi_cache_settle();
        dvi_pool_run(count, threads, work, r);
        st = r->status;
        if (st != DEVIMG_OK && err != NULL)
            *err = r->err;
    }
    for (unsigned i = 0; i < threads; i++)
        dvi_arena_adopt(&c->arena, &r->arenas[i]);
    free(r->arenas);
    const enum devimg_status removed = dvi_temporary_remove(&folder, st == DEVIMG_OK ? err : NULL);
    return st != DEVIMG_OK ? st : removed;
}

enum devimg_status dvi_compile_run(struct dvi_compile *compile, struct devimg_error *err)
{
    struct runner r = { .compile = compile };
    size_t count = 0;
    DVI_TRY(dvi_cache_open(compile->work, &r.cache, err));
    (void)pthread_mutex_init(&r.lock, NULL);
    r.waiting = calloc(compile->cells.count + 1, sizeof *r.waiting);
    enum devimg_status st = r.waiting != NULL ? DEVIMG_OK : fail_memory(err);
    if (st == DEVIMG_OK)
        st = dvi_compile_identify(compile, r.cache, err);
    if (st == DEVIMG_OK)
        st = look_up_all(&r, &count, err);
    if (st == DEVIMG_OK && count > 0)
        st = run_waiting(&r, count, err);
    if (st == DEVIMG_OK && dvi_interrupted())
        st = dvi_fail_plain(err, DEVIMG_IO, "", "stopped: interrupted");
    if (st == DEVIMG_OK)
        count_cells(compile);
    free(r.waiting);
    (void)pthread_mutex_destroy(&r.lock);
    dvi_cache_close(r.cache);
    return st;
}
