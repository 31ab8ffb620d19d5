/* SPDX-License-Identifier: Apache-2.0 */
#include "sycl/detect.h"

#include <string.h>

#include "base/run.h"
#include "base/text.h"
#include "sycl/entry.h"

static const char native_cpu[] = "native_cpu", spir64_cpu[] = "spir64_x86_64";
enum { MOST_OUTPUT = 1 << 20, MOST_SAID = 2000 };

bool dvi_cpu_request_of(const char *text, enum dvi_cpu_request *out)
{
    static const char *const names[] = { "auto", "none", native_cpu, spir64_cpu };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (enum dvi_cpu_request)i;
            return true;
        }
    return false;
}

/* --- lists --- */

/* `text` NULL: there was no memory for it. */
static enum devimg_status add(dvi_text_list *list, const char *text, struct devimg_error *err)
{
    const char **added = text != NULL ? DVI_ADD(list) : NULL;
    if (added == NULL)
        return dvi_fail_memory(err, "sycl detect");
    *added = text;
    return DEVIMG_OK;
}

static bool has(const dvi_text_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

static const char *lower_case(struct dvi_view v, struct dvi_arena *arena)
{
    char *text = dvi_arena_array(arena, v.size + 1, 1);
    for (size_t i = 0; text != NULL && i < v.size; i++) {
        const char c = (char)v.data[i];
        text[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return text;
}

static enum devimg_status add_entry(struct dvi_detection *d, const char *entry,
                                    struct dvi_arena *arena, struct devimg_error *err)
{
    if (entry != NULL && has(&d->targets, entry))
        return add(&d->warnings, dvi_arena_format(arena, "target %s is given twice", entry), err);
    return add(&d->targets, entry, err);
}

/* A name of the tables, or of several targets: what the compiler takes stands instead. */
static enum devimg_status add_known(struct dvi_detection *d, const char *name,
                                    const struct dvi_target_set *set, struct dvi_arena *arena,
                                    struct devimg_error *err)
{
    const char *entry = NULL;
    for (size_t i = 0; i < set->known.count; i++) {
        if (!dvi_sycl_entry_of(set->known.items[i], arena, &entry))
            return dvi_fail_memory(err, "targets");
        DVI_TRY(add_entry(d, entry != NULL ? entry : name, arena, err));
    }
    if (set->known.count > 1)
        return add(&d->notes,
                   dvi_arena_format(arena, "%s stands for %zu entries of -fsycl-targets", name,
                                    set->known.count),
                   err);
    if (entry == NULL)
        return DEVIMG_OK;
    return add(&d->notes, dvi_arena_format(arena, "%s is %s to -fsycl-targets", name, entry), err);
}

/* Entries of other vendors and versions exist: what no table has is passed on, and said. */
static enum devimg_status add_unknown(struct dvi_detection *d, const char *name,
                                      struct dvi_arena *arena, struct devimg_error *err)
{
    const struct devimg_target *nearest = devimg_target_find(dvi_target_nearest(name));
    const char *entry = NULL;
    if (nearest != NULL && !dvi_sycl_entry_of(nearest, arena, &entry))
        return dvi_fail_memory(err, "targets");
    DVI_TRY(add(&d->warnings,
                entry != NULL
                    ? dvi_arena_format(arena,
                                       "no table has the target %s: it is passed on; did "
                                       "you mean %s?",
                                       name, entry)
                    : dvi_arena_format(arena, "no table has the target %s: it is passed on", name),
                err));
    return add_entry(d, name, arena, err);
}

static enum devimg_status add_name(struct dvi_detection *d, const char *name,
                                   struct dvi_arena *arena, struct devimg_error *err)
{
    struct dvi_target_set set = { 0 };
    enum devimg_status status = dvi_target_set_add(&set, name, arena, err);
    const bool is_intel = strncmp(name, "intel_gpu_", strlen("intel_gpu_")) == 0;
    if (status != DEVIMG_OK)
        status = dvi_fail_memory(err, "targets");
    else if (dvi_sycl_is_entry(name) && (set.known.count > 0 || !is_intel))
        status = add_entry(d, name, arena, err);
    else if (set.known.count > 0)
        status = add_known(d, name, &set, arena, err);
    else
        status = add_unknown(d, name, arena, err);
    dvi_target_set_free(&set);
    return status;
}

enum devimg_status dvi_detect_targets(struct dvi_detection *d, const char *list,
                                      struct dvi_arena *arena, struct devimg_error *err)
{
    enum { MOST_TARGETS = 1000 };
    struct dvi_view rest = dvi_view_of(list, strlen(list), "targets"), field = { 0 };
    while (dvi_next_field(&rest, ',', &field)) {
        field = dvi_trimmed(field);
        if (field.size == 0)
            continue;
        if (d->targets.count == MOST_TARGETS)
            return dvi_fail_plain(err, DEVIMG_LIMIT, "targets", "more than %d names",
                                  (int)MOST_TARGETS);
        const char *name = lower_case(field, arena);
        if (name == NULL)
            return dvi_fail_memory(err, "targets");
        if (!dvi_sycl_is_plain(name))
            return dvi_fail_plain(err, DEVIMG_MALFORMED, "targets",
                                  "\"%s\": a target is made of letters, digits and _-+.:/", name);
        DVI_TRY(add_name(d, name, arena, err));
    }
    return DEVIMG_OK;
}

static bool is_cpu(const char *name)
{
    return strcmp(name, native_cpu) == 0 || strcmp(name, spir64_cpu) == 0;
}

/* --- stage 1 --- */

static enum devimg_status append_cpu(struct dvi_detection *d, const char *name,
                                     struct dvi_arena *arena, struct devimg_error *err)
{
    d->stage1 = true;
    if (has(&d->targets, name))
        return DEVIMG_OK;
    DVI_TRY(add(&d->targets, name, err));
    return add(&d->status,
               dvi_arena_format(arena, "Adding CPU target %s to the SYCL targets", name), err);
}

/* A tool that fails, or does not end, is not believed whatever it printed. */
static enum devimg_status judge(const struct dvi_detect_options *options, struct dvi_detection *d,
                                const struct dvi_ran *ran, struct dvi_arena *arena,
                                struct devimg_error *err)
{
    const char *errors = dvi_said(ran->errors, MOST_SAID, arena);
    if (errors == NULL)
        return dvi_fail_memory(err, options->sycl_ls);
    const char *const behind = errors[0] != '\0' ? ": " : "";
    if (ran->timed_out)
        return add(&d->warnings,
                   dvi_arena_format(arena, "%s did not end within %u seconds and was stopped%s%s",
                                    options->sycl_ls, options->seconds, behind, errors),
                   err);
    if (ran->exit_code < 0)
        return add(&d->warnings,
                   dvi_arena_format(arena, "%s crashed%s%s", options->sycl_ls, behind, errors),
                   err);
    if (ran->exit_code > 0)
        return add(&d->warnings,
                   dvi_arena_format(arena, "%s failed with exit status %d%s%s", options->sycl_ls,
                                    ran->exit_code, behind, errors),
                   err);
    if (ran->cut)
        return add(&d->warnings,
                   dvi_arena_format(arena, "%s printed more than %d bytes: it is not believed",
                                    options->sycl_ls, (int)MOST_OUTPUT),
                   err);
    struct devimg_error found = { 0 };
    const enum devimg_status read = dvi_sycl_ls_read(
        dvi_view_of(ran->output, ran->output_size, options->sycl_ls), arena, &d->listed, &found);
    if (read == DEVIMG_NOMEM)
        return dvi_fail_memory(err, options->sycl_ls);
    if (read != DEVIMG_OK) {
        dvi_sycl_ls_free(&d->listed);
        return add(
            &d->warnings,
            dvi_arena_format(arena, "%s %s: it is not believed", options->sycl_ls, found.text),
            err);
    }
    d->asked = true;
    d->listed.filtered =
        d->listed.filtered ||
        dvi_sycl_ls_says_filtered(dvi_view_of(ran->errors, ran->errors_size, options->sycl_ls));
    return DEVIMG_OK;
}

static enum devimg_status ask(const struct dvi_detect_options *options, struct dvi_detection *d,
                              struct dvi_arena *arena, struct devimg_error *err)
{
    const char *const argv[] = { options->sycl_ls, "--verbose", NULL };
    struct dvi_ran ran = { 0 };
    struct devimg_error failure = { 0 };
    const enum devimg_status status =
        dvi_run_in(options->folder, argv, options->seconds, MOST_OUTPUT, &ran, &failure);
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, options->sycl_ls);
    if (status != DEVIMG_OK)
        return add(&d->warnings,
                   dvi_arena_format(arena, "%s: %s: no device is looked for", options->sycl_ls,
                                    failure.text),
                   err);
    const enum devimg_status judged = judge(options, d, &ran, arena, err);
    dvi_ran_free(&ran);
    return judged;
}

static enum devimg_status find_cpu(struct dvi_detection *d, struct dvi_arena *arena,
                                   struct devimg_error *err)
{
    static const struct {
        const char *backend, *what, *target;
    } kinds[] = {
        { "opencl", "OpenCL", spir64_cpu },
        { "host", "host", spir64_cpu },
        { "native_cpu", "native", native_cpu },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!dvi_sycl_ls_has(&d->listed, kinds[i].backend, "cpu"))
            continue;
        DVI_TRY(add(&d->status,
                    dvi_arena_format(arena, "sycl-ls lists a CPU device ([%s:cpu], %s)",
                                     kinds[i].backend, kinds[i].what),
                    err));
        return append_cpu(d, kinds[i].target, arena, err);
    }
    return add(&d->status,
               d->asked ? "sycl-ls lists no CPU device: no CPU target is added"
                        : "sycl-ls did not answer: no CPU target is added",
               err);
}

static enum devimg_status add_gpus(struct dvi_detection *d, bool to_targets,
                                   struct dvi_arena *arena, struct devimg_error *err)
{
    for (size_t i = 0; i < d->listed.devices.count; i++) {
        const struct dvi_sycl_device *gpu = &d->listed.devices.items[i];
        if (strcmp(gpu->type, "gpu") != 0 || gpu->again)
            continue;
        if (gpu->target == NULL) {
            DVI_TRY(
                add(&d->notes,
                    dvi_arena_format(arena, "which target this GPU is cannot be told: [%s:gpu] %s",
                                     gpu->backend, gpu->text),
                    err));
            continue;
        }
        DVI_TRY(
            add(&d->status, dvi_arena_format(arena, "GPU %s: %s", gpu->target, gpu->text), err));
        if (to_targets && !has(&d->targets, gpu->target))
            DVI_TRY(add(&d->targets, gpu->target, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status remove_cpus(struct dvi_detection *d, struct dvi_arena *arena,
                                      struct devimg_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->targets.count; i++) {
        const char *name = d->targets.items[i];
        if (is_cpu(name))
            DVI_TRY(
                add(&d->status,
                    dvi_arena_format(arena, "Removing CPU target %s from the SYCL targets", name),
                    err));
        else
            d->targets.items[kept++] = name;
    }
    d->targets.count = kept;
    return DEVIMG_OK;
}

static enum devimg_status stage1(const struct dvi_detect_options *options,
                                 enum dvi_cpu_request request, struct dvi_detection *d,
                                 struct dvi_arena *arena, struct devimg_error *err)
{
    if (options->gpus || request == DVI_CPU_AUTO)
        DVI_TRY(ask(options, d, arena, err));
    if (d->listed.filtered)
        DVI_TRY(add(&d->notes,
                    "an environment variable, such as ONEAPI_DEVICE_SELECTOR, filters what sycl-ls "
                    "lists: a CPU or GPU may be hidden",
                    err));
    DVI_TRY(add_gpus(d, options->gpus, arena, err));
    if (request == DVI_CPU_AUTO)
        return find_cpu(d, arena, err);
    DVI_TRY(add(&d->status,
                dvi_arena_format(arena, "CPU target: %s, as requested", options->request), err));
    if (request == DVI_CPU_NONE)
        return DEVIMG_OK;
    return append_cpu(d, request == DVI_CPU_NATIVE ? native_cpu : spir64_cpu, arena, err);
}

/* --- the gate --- */

static void match(const struct dvi_detect_options *options, struct dvi_detection *d)
{
    const char *similar = NULL;
    for (size_t i = 0; i < d->targets.count; i++) {
        const char *name = d->targets.items[i];
        d->has_gpu = d->has_gpu || dvi_sycl_entry_is_gpu(name);
        if (d->matched == NULL && is_cpu(name))
            d->matched = name;
        if (similar == NULL && (strstr(name, "cpu") != NULL || strstr(name, "spir64") != NULL))
            similar = name;
    }
    d->matched_cpu = d->matched != NULL;
    if (d->matched == NULL && !options->exact)
        d->matched = similar;
}

static enum devimg_status gate(const struct dvi_detect_options *options,
                               enum dvi_cpu_request request, struct dvi_detection *d,
                               struct dvi_arena *arena, struct devimg_error *err)
{
    match(options, d);
    if (request == DVI_CPU_NONE)
        return DEVIMG_OK;
    d->has_cpu = d->matched_cpu || (d->matched != NULL && (d->stage1 || request != DVI_CPU_AUTO));
    if (d->matched != NULL && !d->matched_cpu)
        DVI_TRY(add(&d->notes,
                    dvi_arena_format(arena,
                                     "%s is no CPU target; its name %s (--match exact takes CPU "
                                     "targets only)",
                                     d->matched,
                                     d->has_cpu ? "turns CPU code on" : "alone turns nothing on"),
                    err));
    if (d->has_cpu && !d->stage1)
        return add(&d->notes,
                   dvi_arena_format(
                       arena, "no CPU device was seen, but %s is in the list: the flags decide",
                       d->matched),
                   err);
    if (d->has_cpu || !d->stage1)
        return DEVIMG_OK;
    DVI_TRY(
        add(&d->status, "CPU device detected by sycl-ls, but no CPU target in fsycl-targets", err));
    return add(&d->status,
               "CPU kernels will not be compiled - disabling CPU-dependent tests/benchmarks", err);
}

static enum devimg_status say_targets(struct dvi_detection *d, struct dvi_arena *arena,
                                      struct devimg_error *err)
{
    static const char start[] = "Using SYCL targets: ";
    size_t size = sizeof start;
    for (size_t i = 0; i < d->targets.count; i++)
        size += strlen(d->targets.items[i]) + 1;
    char *line = dvi_arena_array(arena, size, 1);
    if (line == NULL)
        return dvi_fail_memory(err, "sycl detect");
    char *at = stpcpy(line, start);
    for (size_t i = 0; i < d->targets.count; i++)
        at = stpcpy(i > 0 ? stpcpy(at, ",") : at, d->targets.items[i]);
    return d->targets.count > 0 ? add(&d->status, line, err) : DEVIMG_OK;
}

enum devimg_status dvi_detect(const struct dvi_detect_options *options, struct dvi_detection *d,
                              struct dvi_arena *arena, struct devimg_error *err)
{
    struct dvi_detect_options o = *options;
    enum dvi_cpu_request request = DVI_CPU_AUTO;
    o.request = options->request != NULL ? options->request : "auto";
    if (!dvi_cpu_request_of(o.request, &request))
        DVI_TRY(add(&d->warnings,
                    dvi_arena_format(arena,
                                     "unknown request \"%s\": expected auto, none, native_cpu or "
                                     "spir64_x86_64; taken as auto",
                                     o.request),
                    err));
    if (o.gate_only)
        d->stage1 = o.stage1;
    else
        DVI_TRY(stage1(&o, request, d, arena, err));
    if (request == DVI_CPU_NONE)
        DVI_TRY(remove_cpus(d, arena, err));
    DVI_TRY(say_targets(d, arena, err));
    return gate(&o, request, d, arena, err);
}

void dvi_detection_free(struct dvi_detection *d)
{
    DVI_LIST_FREE(&d->targets);
    DVI_LIST_FREE(&d->status);
    DVI_LIST_FREE(&d->warnings);
    DVI_LIST_FREE(&d->notes);
    dvi_sycl_ls_free(&d->listed);
}
