/* SPDX-License-Identifier: Apache-2.0 */
/* The targets of the table: Intel GPUs as everywhere, and GPUs of CUDA as nvcc names them. */
#include <ctype.h>
#include <string.h>

#include "base/run.h"
#include "base/text.h"
#include "sycl/compile.h"

static enum devimg_status fail_memory(struct devimg_error *err)
{
    return dvi_fail_memory(err, "targets");
}

/* "sm_90", "sm_90a", "sm_100f": no table has them, and nvcc says which it takes. */
static bool is_cuda(struct dvi_view name)
{
    static const char start[] = "sm_";
    size_t at = sizeof start - 1;
    if (!dvi_starts_with(name, start, at) || name.size == at)
        return false;
    while (at < name.size && isdigit(name.data[at]) != 0)
        at++;
    return at > sizeof start - 1 &&
           (at == name.size ||
            (at + 1 == name.size && (name.data[at] == 'a' || name.data[at] == 'f')));
}

static enum devimg_status add_target(struct dvi_compile *c, const char *name, bool cuda,
                                     struct devimg_error *err)
{
    for (size_t i = 0; i < c->list.count; i++)
        if (strcmp(c->list.items[i].name, name) == 0)
            return DEVIMG_OK;
    struct dvi_compile_target *added = DVI_ADD(&c->list);
    if (added == NULL)
        return fail_memory(err);
    *added = (struct dvi_compile_target){ .name = name, .cuda = cuda };
    return DEVIMG_OK;
}

/* The CUDA names of a list are taken; the rest of it is left for those who know the others. */
static enum devimg_status split_list(struct dvi_compile *c, const char *list, const char **rest,
                                     struct devimg_error *err)
{
    struct dvi_view left = dvi_view_of(list, strlen(list), "targets"), name = { 0 };
    *rest = "";
    while (dvi_next_field(&left, ',', &name)) {
        name = dvi_trimmed(name);
        const char *text = dvi_arena_text(&c->arena, name);
        if (text == NULL)
            return fail_memory(err);
        if (is_cuda(name))
            DVI_TRY(add_target(c, text, true, err));
        else
            *rest = dvi_arena_format(&c->arena, "%s,%s", *rest, text);
        if (*rest == NULL)
            return fail_memory(err);
    }
    return DEVIMG_OK;
}

/* What the user named; else what the policy names; else the default. */
static enum devimg_status gather_lists(struct dvi_compile *c, const char ***lists, size_t *count,
                                       struct devimg_error *err)
{
    const struct dvi_compile_asked *asked = c->asked;
    const struct devimg_policy *policy = asked->policy;
    const bool of_policy = asked->list_count == 0 && policy != NULL && policy->has_targets;
    const size_t names = of_policy ? policy->targets.known.count : asked->list_count;
    *lists = dvi_arena_array(&c->arena, names + 1, sizeof **lists);
    *count = names;
    if (*lists == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < names; i++) {
        if (of_policy)
            (*lists)[i] = policy->targets.known.items[i]->name;
        else
            DVI_TRY(split_list(c, asked->lists[i], &(*lists)[i], err));
    }
    if (asked->list_count == 0 && !of_policy)
        (*lists)[(*count)++] = "default-intel";
    return DEVIMG_OK;
}

/* Names of Intel first, as in the default; each in the order in which they were given. */
static void put_cuda_last(struct dvi_compile *c, size_t cuda)
{
    for (size_t moved = 0; moved < cuda; moved++) {
        const struct dvi_compile_target first = c->list.items[0];
        memmove(c->list.items, c->list.items + 1, (c->list.count - 1) * sizeof *c->list.items);
        c->list.items[c->list.count - 1] = first;
    }
}

/* The words of icpx for one target: those of a build for that target, native and stored raw. */
static enum devimg_status make_flags(struct dvi_compile_target *target, struct devimg_error *err)
{
    const struct dvi_sycl_flags_asked asked = {
        .compiler = DVI_SYCL_ICPX, .raw = true, .targets = target->name, .fallback = ""
    };
    return dvi_sycl_flags_make(&asked, &target->flags, err);
}

/* Requirement S2-12: a build that is configured for all of the list compiles all of it itself. */
static enum devimg_status compare_configured(struct dvi_compile *c, struct devimg_error *err)
{
    const char *list = c->asked->configured, *intel = "";
    struct dvi_target_set set = { 0 };
    struct dvi_compile cuda = { 0 };
    size_t found = 0;
    if (list == NULL || c->list.count == 0)
        return DEVIMG_OK;
    enum devimg_status st = split_list(&cuda, list, &intel, err);
    if (st == DEVIMG_OK)
        st = dvi_target_set_add(&set, intel, &c->arena, err);
    for (size_t i = 0; i < c->list.count && st == DEVIMG_OK; i++) {
        const char *name = c->list.items[i].name;
        bool has = false;
        for (size_t k = 0; k < cuda.list.count; k++)
            has = has || strcmp(cuda.list.items[k].name, name) == 0;
        for (size_t k = 0; k < set.known.count; k++)
            has = has || strcmp(set.known.items[k]->name, name) == 0;
        found += has;
    }
    if (st == DEVIMG_OK && set.unknown.count > 0)
        st = dvi_fail_plain(err, DEVIMG_MALFORMED, "", "--skip-if-configured: no target \"%.60s\"",
                            set.unknown.items[0]);
    if (st == DEVIMG_OK && found == c->list.count) {
        c->is_configured = true;
        c->nothing = dvi_arena_format(&c->arena,
                                      "the build is configured for all of the list (%zu target%s), "
                                      "and compiles for it itself",
                                      found, found == 1 ? "" : "s");
        st = c->nothing != NULL ? DEVIMG_OK : fail_memory(err);
    }
    DVI_LIST_FREE(&cuda.list);
    dvi_arena_free(&cuda.arena);
    dvi_target_set_free(&set);
    return st;
}

enum devimg_status dvi_compile_read_targets(struct dvi_compile *compile, struct devimg_error *err)
{
    const char *ocloc = compile->asked->programs[DVI_COMPILER_ocloc];
    const char **lists = NULL;
    struct dvi_sycl_targets_asked asked = { .seconds = DVI_OCLOC_SECONDS,
                                            .narrow = compile->asked->narrow };
    DVI_TRY(gather_lists(compile, &lists, &asked.count, err));
    asked.lists = lists;
    if (asked.narrow) {
        const enum devimg_status found =
            dvi_find_program(ocloc != NULL ? ocloc : "ocloc", &compile->arena, &asked.ocloc, err);
        if (found == DEVIMG_NOMEM)
            return found;
        asked.narrow =
            found == DEVIMG_OK; /* where there is none, that is told with the compilers */
    }
    DVI_TRY(dvi_sycl_targets_read(&asked, &compile->targets, err));
    const struct dvi_sycl_targets *read = &compile->targets;
    if (read->dropped.count > 0 && read->list.count + read->unknown.count == 0 &&
        compile->list.count == 0)
        compile->nothing = "ocloc knows none of the targets";
    else if (read->refused && (read->unknown.count > 0 || read->unmeasured.count > 0))
        return DEVIMG_OK;
    compile->targets.refused = false;
    for (size_t i = 0; i < compile->targets.warnings.count; i++) /* also what is left out */
        DVI_TRY(dvi_compile_warn(compile, compile->targets.warnings.items[i], err));
    const size_t cuda = compile->list.count;
    for (size_t i = 0; i < compile->targets.list.count; i++)
        DVI_TRY(add_target(compile, compile->targets.list.items[i].row->name, false, err));
    put_cuda_last(compile, cuda);
    for (size_t i = 0; i < compile->list.count; i++)
        if (!compile->list.items[i].cuda)
            DVI_TRY(make_flags(&compile->list.items[i], err));
    if (compile->list.count == 0 && compile->nothing == NULL)
        compile->nothing = "the list of targets is empty: JIT only";
    return compare_configured(compile, err);
}
