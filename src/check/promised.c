/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a build's compile lines promise: targets and compression, unit by unit. How the lines are
 * read, and which of several options counts: check/compile_lines.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/compile_lines.h"
#include "check/policy.h"

struct reader {
    struct dvi_promises *out;
    struct dvi_arena *arena; /* of the policy: what stays */
};

/* The entries of -fsycl-targets that name a target by themselves: spir64_gen names none. */
static enum devimg_status take_sycl_targets(const struct reader *r, const char *list,
                                            struct dvi_promise *promise, bool *aot,
                                            struct devimg_error *err)
{
    struct dvi_view rest = dvi_view_of(list, strlen(list), r->out->path), field = { 0 };
    while (dvi_next_field(&rest, ',', &field)) {
        if (dvi_names_no_gpu(field)) {
            *aot = true;
            continue;
        }
        const char *name = dvi_arena_text(r->arena, field);
        if (name == NULL)
            return dvi_fail_memory(err, r->out->path);
        DVI_TRY(dvi_target_set_add(&promise->targets, name, r->arena, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status take_words(const struct reader *r, const struct dvi_compile_line *line,
                                     struct dvi_promise *promise, struct devimg_error *err)
{
    const struct dvi_line_facts facts = dvi_line_facts(line);
    bool aot = false;
    promise->compress = facts.compress;
    if (facts.sycl_targets != NULL)
        DVI_TRY(take_sycl_targets(r, facts.sycl_targets, promise, &aot, err));
    if (aot)
        DVI_TRY(dvi_line_devices(line, &promise->targets, r->arena, err));
    return dvi_line_archs(line, &promise->targets, r->arena, err);
}

static enum devimg_status take_line(void *context, const struct dvi_compile_line *line,
                                    enum devimg_status status, struct devimg_error *err)
{
    const struct reader *r = context;
    DVI_TRY(status);
    struct dvi_promise *promise = DVI_ADD(&r->out->units);
    if (promise == NULL)
        return dvi_fail_memory(err, r->out->path);
    promise->unit = dvi_arena_copy(r->arena, dvi_base_name(line->file));
    return promise->unit != NULL ? take_words(r, line, promise, err)
                                 : dvi_fail_memory(err, r->out->path);
}

static int compare_promises(const void *a, const void *b)
{
    const struct dvi_promise *x = a, *y = b;
    return strcmp(x->unit, y->unit);
}

static bool has_target(const struct dvi_target_set *set, const struct devimg_target *target)
{
    for (size_t i = 0; i < set->known.count; i++)
        if (set->known.items[i] == target)
            return true;
    return false;
}

/* Two units of one name, or one unit compiled twice (static and shared): a module that carries the
 * name may come from either, so only what every line promises is promised. */
static enum devimg_status merge_into(struct dvi_promise *unit, struct dvi_promise *other,
                                     struct dvi_arena *arena, struct devimg_error *err)
{
    size_t kept = 0;
    unit->compress = unit->compress && other->compress;
    for (size_t i = 0; i < unit->targets.known.count; i++)
        if (has_target(&other->targets, unit->targets.known.items[i]))
            unit->targets.known.items[kept++] = unit->targets.known.items[i];
    unit->targets.known.count = kept;
    for (size_t i = 0; i < other->targets.unknown.count; i++) /* to be told, not looked for */
        DVI_TRY(dvi_target_set_add(&unit->targets, other->targets.unknown.items[i], arena, err));
    dvi_target_set_free(&other->targets);
    return DEVIMG_OK;
}

static enum devimg_status merge(struct dvi_promises *p, struct dvi_arena *arena,
                                struct devimg_error *err)
{
    size_t kept = 0;
    if (p->units.count > 0)
        qsort(p->units.items, p->units.count, sizeof *p->units.items, compare_promises);
    for (size_t i = 0; i < p->units.count; i++) {
        struct dvi_promise *last = kept > 0 ? &p->units.items[kept - 1] : NULL;
        if (last != NULL && strcmp(last->unit, p->units.items[i].unit) == 0) {
            DVI_TRY(merge_into(last, &p->units.items[i], arena, err));
        } else {
            const struct dvi_promise moved = p->units.items[i];
            p->units.items[i] = (struct dvi_promise){ 0 };
            p->units.items[kept++] = moved;
        }
    }
    p->units.count = kept;
    return DEVIMG_OK;
}

/* Units that promise nothing that devimg can look for. */
static void drop_empty(struct dvi_promises *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->units.count; i++) {
        struct dvi_promise *at = &p->units.items[i];
        if (at->targets.known.count == 0 && at->targets.unknown.count == 0)
            dvi_target_set_free(&at->targets);
        else
            p->units.items[kept++] = *at;
    }
    p->units.count = kept;
}

static enum devimg_status read_database(struct reader *r, struct devimg_error *err)
{
    DVI_TRY(dvi_compile_lines_read(r->out->path, take_line, r, err));
    DVI_TRY(merge(r->out, r->arena, err));
    drop_empty(r->out);
    return DEVIMG_OK;
}

enum devimg_status dvi_promises_load(struct dvi_promises *out, const char *path,
                                     struct dvi_arena *arena, struct devimg_error *err)
{
    struct dvi_promises fresh = { .path = dvi_arena_copy(arena, path) };
    struct reader r = { .out = &fresh, .arena = arena };
    if (fresh.path == NULL)
        return dvi_fail_memory(err, path);
    const enum devimg_status st = read_database(&r, err);
    if (st != DEVIMG_OK) {
        dvi_promises_free(&fresh);
        return st;
    }
    *out = fresh;
    return DEVIMG_OK;
}

void dvi_promises_free(struct dvi_promises *promises)
{
    for (size_t i = 0; i < promises->units.count; i++)
        dvi_target_set_free(&promises->units.items[i].targets);
    DVI_LIST_FREE(&promises->units);
    promises->path = NULL;
}

const struct dvi_promise *dvi_promise_of(const struct dvi_promises *promises, const char *unit)
{
    const struct dvi_promise key = { .unit = dvi_base_name(unit) };
    if (promises->units.count == 0)
        return NULL;
    return bsearch(&key, promises->units.items, promises->units.count,
                   sizeof *promises->units.items, compare_promises);
}
