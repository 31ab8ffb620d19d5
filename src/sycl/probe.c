/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One kernel a sub-group size and one with double, compiled for each target alone: with several, ocloc
 * stops at the first that refuses.
 *
 * Sources: measured with ocloc 22.43, which ends with exit status 245 and "error: Kernel compiled with
 * required subgroup size 8, which is unsupported on this platform" (a size of other GPUs), "error:
 * Unsupported required sub group size" (a size of none) or "error: use of type 'double' requires
 * cl_khr_fp64 support" (its front end). Its back end has "error: Double type is not supported on this
 * platform." for that (intel/intel-graphics-compiler IGC/Compiler/tests/ErrorCheck/unsupported-double.ll).
 */
#include "sycl/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/limits.h"
#include "base/pool.h"
#include "base/temporary.h"
#include "image/image.h"
#include "sycl/ocloc_run.h"
#include "target/sizes.h"

enum { MOST_TARGETS = 1000, IP_ROOM = 24 };

const char *dvi_probe_state_name(enum dvi_probe_state state)
{
    switch (state) {
    case DVI_PROBE_AGREES: return "agrees";
    case DVI_PROBE_DIFFERS: return "differs";
    case DVI_PROBE_NEW: return "new";
    case DVI_PROBE_UNKNOWN: return "unknown";
    case DVI_PROBE_FAILED: return "unmeasured";
    case DVI_PROBE_STATES: break;
    }
    return "unmeasured";
}

const char *dvi_probe_result_name(enum dvi_probe_result result)
{
    switch (result) {
    case DVI_PROBE_ACCEPTED: return "accepted";
    case DVI_PROBE_REFUSED: return "refused";
    case DVI_PROBE_UNMEASURED: break;
    }
    return "unmeasured";
}

/* --- one kernel --- */

/* The kernel for a size, or with double for 0. */
static const char *kernel_for(uint32_t size, struct dvi_arena *arena)
{
    if (size == 0)
        return "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
               "__kernel void devimg(__global double *out) { out[get_global_id(0)] *= 1.5; }\n";
    return dvi_arena_format(
        arena,
        "__attribute__((intel_reqd_sub_group_size(%" PRIu32 ")))\n"
        "__kernel void devimg(__global int *out) { out[get_global_id(0)] = 1; }\n",
        size);
}

bool dvi_probe_is_refusal(const char *words, uint32_t size)
{
    char text[96];
    if (size == 0)
        return strstr(words, "use of type 'double' requires cl_khr_fp64") != NULL ||
               strstr(words, "Double type is not supported on this platform") != NULL;
    if (strstr(words, "Unsupported required sub group size") != NULL)
        return true;
    (void)snprintf(text, sizeof text,
                   "required subgroup size %" PRIu32 ", which is unsupported on this platform",
                   size);
    return strstr(words, text) != NULL;
}

/* One compile: written by one worker, read after all have ended. */
struct task {
    const struct dvi_probe_target *target;
    struct dvi_probe_kernel *kernel;
    enum devimg_status status; /* NOMEM; IO: interrupted */
};

struct work {
    const struct dvi_probe *probe;
    unsigned seconds;
    struct task *tasks;
    struct dvi_arena *arenas; /* one a worker */
};

/* The size that the image states is looked at: a front end may only warn of an attribute that it does
 * not know. */
static const char *take_image(struct dvi_probe_kernel *kernel, const struct dvi_ocloc_made *made,
                              struct dvi_arena *arena)
{
    if (made->format == NULL) {
        const char *words = dvi_ran_words(&made->ran, arena);
        return words != NULL
                   ? dvi_arena_format(arena, "exit status 0, and no native image is made%s", words)
                   : NULL;
    }
    if (kernel->size != 0 && made->required_sub_group_size != kernel->size)
        return "exit status 0, and the image does not state the size";
    kernel->result = DVI_PROBE_ACCEPTED;
    return NULL;
}

static const char *take_result(struct dvi_probe_kernel *kernel, const struct dvi_ocloc_made *made,
                               unsigned seconds, struct dvi_arena *arena)
{
    const struct dvi_ran *ran = &made->ran;
    if (!ran->timed_out && ran->exit_code == 0)
        return take_image(kernel, made, arena);
    if (!ran->timed_out && ran->exit_code > 0 && !ran->cut &&
        (dvi_probe_is_refusal(ran->output, kernel->size) ||
         dvi_probe_is_refusal(ran->errors, kernel->size)))
        kernel->result = DVI_PROBE_REFUSED;
    return dvi_ran_ended(ran, "compile", seconds, arena);
}

static enum devimg_status compile_in(const struct work *work, const struct task *task,
                                     const char *folder, struct dvi_arena *arena,
                                     struct devimg_error *err)
{
    const char *source = kernel_for(task->kernel->size, arena);
    struct dvi_ocloc_made made = { 0 };
    if (source == NULL)
        return dvi_fail_memory(err, task->target->name);
    DVI_TRY(dvi_ocloc_write(folder, source, err));
    DVI_TRY(dvi_ocloc_compile(work->probe->ocloc, folder, task->target->name, work->seconds, &made,
                              err));
    task->kernel->text = take_result(task->kernel, &made, work->seconds, arena);
    dvi_ocloc_made_free(&made);
    if (task->kernel->result == DVI_PROBE_ACCEPTED)
        return DEVIMG_OK;
    return task->kernel->text != NULL ? DEVIMG_OK : dvi_fail_memory(err, task->target->name);
}

/* Each in a folder of its own: ocloc names what it makes after the source and the GPU. */
static void compile(void *context, size_t index, unsigned worker)
{
    const struct work *work = context;
    struct task *task = &work->tasks[index];
    struct dvi_arena *arena = &work->arenas[worker];
    struct dvi_temporary folder = { 0 };
    struct devimg_error why = { 0 };
    task->kernel->result = DVI_PROBE_UNMEASURED;
    task->status = dvi_temporary_make(&folder, &why);
    if (task->status == DEVIMG_OK)
        task->status = compile_in(work, task, folder.path, arena, &why);
    if (task->status != DEVIMG_OK && task->status != DEVIMG_NOMEM && !dvi_interrupted()) {
        task->kernel->text = dvi_arena_format(arena, "%s: %s", why.source, why.text);
        task->status = task->kernel->text != NULL ? DEVIMG_OK : DEVIMG_NOMEM;
    }
    if (dvi_temporary_remove(&folder, &why) != DEVIMG_OK && task->status == DEVIMG_OK) {
        task->kernel->result = DVI_PROBE_UNMEASURED;
        task->kernel->text = dvi_arena_format(arena, "%s: %s", why.source, why.text);
        task->status = task->kernel->text != NULL ? DEVIMG_OK : DEVIMG_NOMEM;
    }
}

/* --- all of them --- */

static size_t count_sizes(uint32_t sizes)
{
    size_t count = 0;
    for (unsigned bit = 0; bit < 32; bit++)
        count += sizes >> bit & 1;
    return count;
}

/* The kernels of a target that ocloc knows, as tasks. */
static enum devimg_status add_tasks(struct dvi_probe *p, struct dvi_probe_target *target,
                                    struct task *tasks, size_t *count, struct devimg_error *err)
{
    if (target->state == DVI_PROBE_UNKNOWN || target->text != NULL)
        return DEVIMG_OK;
    target->kernel_count = count_sizes(p->sizes) + 1;
    target->kernels = dvi_arena_array(&p->arena, target->kernel_count, sizeof *target->kernels);
    if (target->kernels == NULL)
        return dvi_fail_memory(err, target->name);
    size_t next = 0;
    for (unsigned bit = 0; bit < 32; bit++)
        if ((p->sizes >> bit & 1) != 0)
            target->kernels[next++].size = UINT32_C(1) << bit;
    for (size_t i = 0; i < target->kernel_count; i++)
        tasks[(*count)++] = (struct task){ target, &target->kernels[i], DEVIMG_OK };
    return DEVIMG_OK;
}

static enum devimg_status run_tasks(struct dvi_probe *p, const struct dvi_probe_asked *asked,
                                    struct task *tasks, size_t count, struct devimg_error *err)
{
    const unsigned wanted = asked->threads > 0 ? asked->threads : dvi_pool_cores();
    const unsigned threads = wanted < DVI_MOST_THREADS ? wanted : DVI_MOST_THREADS;
    struct dvi_arena *arenas = calloc((size_t)threads + 1, sizeof *arenas);
    if (arenas == NULL)
        return dvi_fail_memory(err, "sycl probe");
    struct work work = { p, asked->seconds, tasks, arenas };
    dvi_pool_run(count, threads, compile, &work);
    for (unsigned i = 0; i < threads; i++)
        dvi_arena_adopt(&p->arena, &arenas[i]);
    free(arenas);
    if (dvi_interrupted())
        return dvi_fail_plain(err, DEVIMG_IO, p->ocloc, "stopped: interrupted");
    for (size_t i = 0; i < count; i++)
        if (tasks[i].status != DEVIMG_OK)
            return dvi_fail_memory(err, "sycl probe");
    return DEVIMG_OK;
}

static enum devimg_status measure(struct dvi_probe *p, const struct dvi_probe_asked *asked,
                                  struct devimg_error *err)
{
    size_t count = 0;
    struct task *tasks = calloc(p->targets.count * (count_sizes(p->sizes) + 1) + 1, sizeof *tasks);
    if (tasks == NULL)
        return dvi_fail_memory(err, "sycl probe");
    enum devimg_status status = DEVIMG_OK;
    for (size_t i = 0; i < p->targets.count && status == DEVIMG_OK; i++)
        status = add_tasks(p, &p->targets.items[i], tasks, &count, err);
    if (status == DEVIMG_OK)
        status = run_tasks(p, asked, tasks, count, err);
    free(tasks);
    return status;
}

/* --- the names --- */

static enum devimg_status add_target(struct dvi_probe *p, const char *name,
                                     const struct devimg_target *row, struct devimg_error *err)
{
    struct dvi_probe_target *added = p->targets.count < MOST_TARGETS ? DVI_ADD(&p->targets) : NULL;
    if (added == NULL && p->targets.count == MOST_TARGETS)
        return dvi_fail_plain(err, DEVIMG_MALFORMED, "targets", "more than %d names", MOST_TARGETS);
    if (added == NULL)
        return dvi_fail_memory(err, "sycl probe");
    *added = (struct dvi_probe_target){
        .name = name, .row = row, .ip_version = DEVIMG_UNKNOWN, .fp64 = DEVIMG_MAYBE
    };
    return DEVIMG_OK;
}

/* A name that no table has, as the tables would spell it; ocloc folds case itself. */
static enum devimg_status add_new(struct dvi_probe *p, const char *name, struct devimg_error *err)
{
    static const char parts[] = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
    char *folded = dvi_arena_array(&p->arena, strlen(name) + 1, 1);
    if (folded == NULL)
        return dvi_fail_memory(err, "sycl probe");
    for (size_t i = 0; name[i] != '\0'; i++)
        folded[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    if (strchr("_.-", folded[0]) != NULL || folded[strspn(folded, parts)] != '\0')
        return dvi_fail_plain(err, DEVIMG_MALFORMED, name, "cannot be the name of a target");
    if (folded[strspn(folded, "0123456789_.-")] == '\0')
        return dvi_fail_plain(err, DEVIMG_MALFORMED, name,
                              "is an IP version that no table has: name the target");
    for (size_t i = 0; i < p->targets.count; i++)
        if (strcmp(p->targets.items[i].name, folded) == 0)
            return DEVIMG_OK;
    return add_target(p, folded, NULL, err);
}

static enum devimg_status take_set(struct dvi_probe *p, const struct dvi_target_set *set,
                                   struct devimg_error *err)
{
    for (size_t i = 0; i < set->known.count; i++) {
        const struct devimg_target *row = set->known.items[i];
        if (row->ip_version == DEVIMG_UNKNOWN)
            return dvi_fail_plain(err, DEVIMG_MALFORMED, row->name,
                                  "is no Intel GPU: its kind is %s", row->kind);
        DVI_TRY(add_target(p, row->name, row, err));
    }
    for (size_t i = 0; i < set->unknown.count; i++)
        DVI_TRY(add_new(p, set->unknown.items[i], err));
    for (size_t i = 0; i < set->repeated.count; i++) {
        const char *text = dvi_arena_format(
            &p->arena, "%s is listed more than once: it counts once", set->repeated.items[i]);
        const char **added = text != NULL ? DVI_ADD(&p->warnings) : NULL;
        if (added == NULL)
            return dvi_fail_memory(err, "sycl probe");
        *added = text;
    }
    return DEVIMG_OK;
}

static enum devimg_status read_names(struct dvi_probe *p, const struct dvi_probe_asked *asked,
                                     struct devimg_error *err)
{
    struct dvi_target_set set = { 0 };
    enum devimg_status status = DEVIMG_OK;
    for (size_t i = 0; i < asked->count && status == DEVIMG_OK; i++)
        status = dvi_target_set_add(&set, asked->lists[i], &p->arena, err);
    if (status == DEVIMG_OK)
        status = take_set(p, &set, err);
    dvi_target_set_free(&set);
    if (status == DEVIMG_OK && p->targets.count == 0)
        return dvi_fail_plain(err, DEVIMG_MALFORMED, "targets", "none: nothing can be measured");
    return status;
}

/* A name that nobody knows is a slip: it fails, where one of a newer ocloc does not. */
static enum devimg_status set_unknown(struct dvi_probe *p, struct dvi_probe_target *target,
                                      struct devimg_error *err)
{
    const char *nearest = target->row == NULL ? dvi_target_nearest(target->name) : NULL;
    target->state = DVI_PROBE_UNKNOWN;
    p->failed = p->failed || target->row == NULL;
    target->text = target->row != NULL ? "this ocloc does not know it"
                   : nearest == NULL
                       ? "neither this ocloc nor a table knows it"
                       : dvi_arena_format(&p->arena,
                                          "neither this ocloc nor a table knows it: did "
                                          "you mean %s?",
                                          nearest);
    return target->text != NULL ? DEVIMG_OK : dvi_fail_memory(err, target->name);
}

static enum devimg_status ask_names(struct dvi_probe *p, const struct dvi_probe_asked *asked,
                                    const char *folder, struct devimg_error *err)
{
    for (size_t i = 0; i < p->targets.count; i++) {
        struct dvi_probe_target *target = &p->targets.items[i];
        struct dvi_ocloc_answer answer = { 0 };
        DVI_TRY(dvi_ocloc_ids(p->ocloc, folder, target->name, asked->seconds, &answer, err));
        if (answer.ip_count == 0) {
            DVI_TRY(set_unknown(p, target, err));
        } else if (answer.ip_count > 1) {
            target->state = DVI_PROBE_FAILED;
            target->text = dvi_arena_format(
                &p->arena, "stands for %zu IP versions: name one target", answer.ip_count);
            if (target->text == NULL)
                return dvi_fail_memory(err, target->name);
        } else {
            target->ip_version = answer.ips[0];
        }
    }
    return DEVIMG_OK;
}

/* --- against the tables --- */

/* Add "; WHAT" to what is said of a target. */
static enum devimg_status say(struct dvi_probe *p, struct dvi_probe_target *target,
                              const char *what, struct devimg_error *err)
{
    if (what != NULL && target->text != NULL)
        what = dvi_arena_format(&p->arena, "%s; %s", target->text, what);
    if (what == NULL)
        return dvi_fail_memory(err, target->name);
    target->text = what;
    return DEVIMG_OK;
}

static const char *kernel_text(struct dvi_probe *p, const struct dvi_probe_kernel *kernel)
{
    return kernel->size == 0 ? "fp64"
                             : dvi_arena_format(&p->arena, "sub-group size %" PRIu32, kernel->size);
}

/* One kernel: its result, and what the table says of it. */
static enum devimg_status judge_kernel(struct dvi_probe *p, struct dvi_probe_target *target,
                                       const struct dvi_probe_kernel *kernel, bool *differs,
                                       bool *fresh, bool *failed, struct devimg_error *err)
{
    const char *what = kernel_text(p, kernel);
    if (what == NULL)
        return dvi_fail_memory(err, target->name);
    if (kernel->result == DVI_PROBE_UNMEASURED) {
        *failed = true;
        return say(p, target, dvi_arena_format(&p->arena, "%s: %s", what, kernel->text), err);
    }
    const bool yes = kernel->result == DVI_PROBE_ACCEPTED;
    target->known_sizes |= kernel->size;
    target->sizes |= yes ? kernel->size : 0;
    if (kernel->size == 0)
        target->fp64 = yes ? DEVIMG_YES : DEVIMG_NO;
    const bool told =
        target->row != NULL &&
        (kernel->size != 0 ? target->row->sub_group_sizes != 0 : target->row->fp64 != DEVIMG_MAYBE);
    if (!told) {
        *fresh = true;
        return DEVIMG_OK;
    }
    const bool expected = kernel->size != 0
                              ? dvi_size_is_in(target->row->sub_group_sizes, kernel->size)
                              : target->row->fp64 == DEVIMG_YES;
    if (yes == expected)
        return DEVIMG_OK;
    *differs = true;
    return say(p, target,
               dvi_arena_format(&p->arena, "%s: ocloc %s it, the tables say %s", what,
                                yes ? "accepts" : "refuses", expected ? "yes" : "no"),
               err);
}

static enum devimg_status judge_ip(struct dvi_probe *p, struct dvi_probe_target *target,
                                   bool *differs, struct devimg_error *err)
{
    char said[IP_ROOM], table[IP_ROOM];
    if (target->row == NULL || target->ip_version == target->row->ip_version)
        return DEVIMG_OK;
    target->former_ip = dvi_target_has_ip(target->row, target->ip_version);
    *differs = *differs || !target->former_ip;
    dvi_ip_text(target->ip_version, said);
    dvi_ip_text(target->row->ip_version, table);
    return say(
        p, target,
        dvi_arena_format(&p->arena, "is %s to this ocloc, %s in the tables%s", said, table,
                         target->former_ip ? ", which have the other for older releases" : ""),
        err);
}

static enum devimg_status judge(struct dvi_probe *p, struct dvi_probe_target *target,
                                struct devimg_error *err)
{
    bool differs = false, fresh = target->row == NULL, failed = false;
    if (target->kernel_count == 0)
        return DEVIMG_OK;
    DVI_TRY(judge_ip(p, target, &differs, err));
    for (size_t i = 0; i < target->kernel_count; i++)
        DVI_TRY(judge_kernel(p, target, &target->kernels[i], &differs, &fresh, &failed, err));
    target->state = differs  ? DVI_PROBE_DIFFERS
                    : failed ? DVI_PROBE_FAILED
                    : fresh  ? DVI_PROBE_NEW
                             : DVI_PROBE_AGREES;
    if (target->state == DVI_PROBE_NEW)
        return say(p, target,
                   target->row == NULL ? "no table has it" : "the tables do not say all of this",
                   err);
    return DEVIMG_OK;
}

static enum devimg_status ask_version(struct dvi_probe *p, unsigned seconds, const char *folder,
                                      struct devimg_error *err)
{
    const char *const argv[] = { p->ocloc, "query", "OCL_DRIVER_VERSION", NULL };
    struct dvi_ran ran = { 0 };
    DVI_TRY(dvi_run_in(folder, argv, seconds, DVI_OCLOC_OUTPUT, &ran, err));
    if (!ran.timed_out && ran.exit_code >= 0)
        p->version = dvi_ocloc_version(folder, &ran, &p->arena);
    dvi_ran_free(&ran);
    return DEVIMG_OK;
}

/* Names first: is it an ocloc at all? */
static enum devimg_status ask(struct dvi_probe *p, const struct dvi_probe_asked *asked,
                              struct devimg_error *err)
{
    struct dvi_temporary folder = { 0 };
    DVI_TRY(dvi_temporary_make(&folder, err));
    enum devimg_status status = ask_names(p, asked, folder.path, err);
    if (status == DEVIMG_OK)
        status = ask_version(p, asked->seconds, folder.path, err);
    const enum devimg_status removed =
        dvi_temporary_remove(&folder, status == DEVIMG_OK ? err : NULL);
    return status != DEVIMG_OK ? status : removed;
}

enum devimg_status dvi_probe_run(const struct dvi_probe_asked *asked, struct dvi_probe *out,
                                 struct devimg_error *err)
{
    *out = (struct dvi_probe){ .sizes = asked->sizes };
    DVI_TRY(read_names(out, asked, err));
    DVI_TRY(dvi_find_program(asked->ocloc, &out->arena, &out->ocloc, err));
    DVI_TRY(ask(out, asked, err));
    DVI_TRY(measure(out, asked, err));
    for (size_t i = 0; i < out->targets.count; i++) {
        DVI_TRY(judge(out, &out->targets.items[i], err));
        out->counts[out->targets.items[i].state]++;
    }
    out->failed = out->failed || out->counts[DVI_PROBE_DIFFERS] > 0 ||
                  out->counts[DVI_PROBE_FAILED] > 0 ||
                  out->counts[DVI_PROBE_UNKNOWN] == out->targets.count ||
                  (asked->all && out->counts[DVI_PROBE_UNKNOWN] > 0);
    return DEVIMG_OK;
}

void dvi_probe_free(struct dvi_probe *probe)
{
    DVI_LIST_FREE(&probe->targets);
    DVI_LIST_FREE(&probe->warnings);
    dvi_arena_free(&probe->arena);
}
