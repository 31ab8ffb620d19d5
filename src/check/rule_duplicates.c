/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duplicates: machine code of a kernel that stands in several modules, as a template in a header
 * leaves it in each unit that uses it. What is the same is told by the SHA-256 of the code and its
 * size, for one target; names do not count. What a linked file has stands in that file alone; objects
 * of one library are linked into one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "check/check.h"

struct copy {
    const struct devimg_kernel *kernel;
    const char *target; /* of its image; "" where it states none */
    uint64_t ip_version;
    uint32_t group; /* linked files: the record; objects: all of them are one */
};

/* Code that several modules have, of one target or, once they are merged, of several. */
struct shared {
    const struct copy *first;
    uint32_t modules, targets;
    uint64_t saved;
};

struct state {
    struct dvi_check *check;
    uint32_t silent; /* kernels whose code was not compared */
    uint64_t code;   /* bytes that were */
    DVI_LIST(struct copy) copies;
    DVI_LIST(struct shared) shared;
};

static enum devimg_status collect(struct state *s, struct devimg_error *err)
{
    const struct dvi_check_input *in = s->check->in;
    for (uint32_t i = 0; i < in->kernel_count; i++) {
        const struct devimg_kernel *kernel = in->kernels[i];
        const struct devimg_image *image = in->images[kernel->image];
        if (!dvi_is_native(image) || kernel->module == DEVIMG_NONE || kernel->code_size == 0)
            continue;
        if (kernel->code_digest == NULL) {
            s->silent++;
            continue;
        }
        struct copy *copy = DVI_ADD(&s->copies);
        if (copy == NULL)
            return dvi_fail_memory(err, "duplicates");
        const bool is_object = in->records[kernel->record]->linked == DEVIMG_NO;
        *copy = (struct copy){ kernel, image->target != NULL ? image->target : "",
                               image->ip_version, is_object ? DEVIMG_NONE : kernel->record };
        s->code += kernel->code_size;
    }
    return DEVIMG_OK;
}

/* 0: the same code for the same target. */
static int compare_code(const struct copy *a, const struct copy *b)
{
    int order = dvi_compare_numbers(a->group, b->group);
    if (order == 0)
        order = dvi_compare_numbers(a->ip_version, b->ip_version);
    if (order == 0 && a->ip_version == DEVIMG_UNKNOWN)
        order = strcmp(a->target, b->target);
    if (order == 0)
        order = dvi_compare_numbers(a->kernel->code_size, b->kernel->code_size);
    return order != 0 ? order
                      : memcmp(a->kernel->code_digest, b->kernel->code_digest, DVI_SHA256_SIZE);
}

static int compare_places(const struct copy *a, const struct copy *b)
{
    const int order = dvi_compare_numbers(a->kernel->module, b->kernel->module);
    return order != 0 ? order : dvi_compare_text(a->kernel->name, b->kernel->name);
}

static int compare_copies(const void *a, const void *b)
{
    const struct copy *x = a, *y = b;
    int order = compare_code(x, y);
    if (order == 0)
        order = compare_places(x, y);
    return order != 0 ? order : dvi_compare_numbers(x->kernel->image, y->kernel->image);
}

static enum devimg_status find_shared(struct state *s, struct devimg_error *err)
{
    const struct copy *items = s->copies.items;
    if (s->copies.count > 0)
        qsort(s->copies.items, s->copies.count, sizeof *items, compare_copies);
    for (size_t i = 0, next; i < s->copies.count; i = next) {
        uint32_t modules = 1;
        for (next = i + 1; next < s->copies.count && compare_code(&items[i], &items[next]) == 0;
             next++)
            modules += items[next].kernel->module != items[next - 1].kernel->module;
        if (modules == 1)
            continue;
        struct shared *shared = DVI_ADD(&s->shared);
        if (shared == NULL)
            return dvi_fail_memory(err, "duplicates");
        *shared =
            (struct shared){ &items[i], modules, 1, items[i].kernel->code_size * (modules - 1) };
    }
    return DEVIMG_OK;
}

static int compare_kernels(const struct shared *a, const struct shared *b)
{
    const int order = compare_places(a->first, b->first);
    return order != 0 ? order : dvi_compare_numbers(a->modules, b->modules);
}

static int compare_shared(const void *a, const void *b)
{
    const struct shared *x = a, *y = b;
    const int order = compare_kernels(x, y);
    return order != 0 ? order : compare_copies(x->first, y->first);
}

/* A kernel is said once, whatever the number of targets. */
static void merge(struct state *s)
{
    size_t kept = 0;
    if (s->shared.count > 0)
        qsort(s->shared.items, s->shared.count, sizeof *s->shared.items, compare_shared);
    for (size_t i = 0; i < s->shared.count; i++) {
        struct shared *last = kept > 0 ? &s->shared.items[kept - 1] : NULL;
        const struct shared *at = &s->shared.items[i];
        if (last == NULL || compare_kernels(last, at) != 0) {
            s->shared.items[kept++] = *at;
            continue;
        }
        last->targets++;
        last->saved += at->saved;
    }
    s->shared.count = kept;
}

/* A member of a library by its name, else a unit; "module 3" where symbols tell none. */
static void module_text(const struct state *s, uint32_t index, char *out, size_t room)
{
    const struct devimg_module *module = s->check->in->modules[index];
    const struct devimg_record *record = s->check->in->records[module->record];
    const char *name =
        record->member_count > 0 ? record->members[record->member_count - 1] : module->unit;
    if (name != NULL)
        (void)snprintf(out, room, "%s", name);
    else
        (void)snprintf(out, room, "module %" PRIu32, index - record->first_module);
}

/* "a.cpp, b.cpp and 3 more" */
static void modules_text(const struct state *s, const struct shared *shared,
                         char out[DVI_NAMES_SIZE])
{
    enum { SHOWN = 3, ROOM = 64 };
    const struct copy *end = s->copies.items + s->copies.count;
    char one[ROOM];
    size_t used = 0;
    uint32_t shown = 0, last = DEVIMG_NONE;
    for (const struct copy *c = shared->first;
         c < end && compare_code(shared->first, c) == 0 && shown < SHOWN; c++) {
        if (c->kernel->module == last)
            continue;
        last = c->kernel->module;
        module_text(s, last, one, sizeof one);
        used += (size_t)snprintf(out + used, DVI_NAMES_SIZE - used, "%s%s", shown > 0 ? ", " : "",
                                 one); /* three of them fit */
        shown++;
    }
    if (shared->modules > SHOWN)
        (void)snprintf(out + used, DVI_NAMES_SIZE - used, " and %" PRIu32 " more",
                       shared->modules - SHOWN);
}

static enum devimg_status say(struct state *s, const struct shared *shared,
                              struct devimg_error *err)
{
    const struct devimg_kernel *kernel = shared->first->kernel;
    const struct devimg_image *image = s->check->in->images[kernel->image];
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "duplicate-code", kernel->record);
    char names[DVI_NAMES_SIZE], targets[48] = "";
    modules_text(s, shared, names);
    if (shared->targets > 1)
        (void)snprintf(targets, sizeof targets, ", for %" PRIu32 " targets", shared->targets);
    f.module = kernel->module;
    f.image = kernel->image;
    f.unit = s->check->in->modules[kernel->module]->unit;
    f.kernel = kernel->name;
    f.target = shared->targets == 1 ? image->target : NULL;
    f.message = dvi_message(s->check,
                            "the same code stands in %" PRIu32 " modules (%s)%s: %" PRIu64
                            " bytes could be saved, before compression",
                            shared->modules, names, targets, shared->saved);
    f.hint = image->offload == DEVIMG_OFFLOAD_HIP
                 ? "let one unit launch it, or link device code once (-fgpu-rdc)"
                 : "let one unit launch it: a template is compiled into each unit that names it";
    return dvi_say(s->check, &f, err);
}

static enum devimg_status say_silent(const struct state *s, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "code-unknown", 0);
    f.message = dvi_message(s->check,
                            "the code of %" PRIu32 " kernel%s was not compared: the image does not "
                            "tell where it is",
                            s->silent, s->silent == 1 ? "" : "s");
    return dvi_say(s->check, &f, err);
}

static enum devimg_status say_total(const struct state *s, struct devimg_error *err)
{
    uint64_t saved = 0;
    for (size_t i = 0; i < s->shared.count; i++)
        saved += s->shared.items[i].saved;
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "duplicate-total", 0);
    f.message = dvi_message(s->check,
                            "%" PRIu64 " of %" PRIu64 " bytes of machine code stand in another "
                            "module as well",
                            saved, s->code);
    return dvi_say(s->check, &f, err);
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->duplicates == DVI_CHOICE_STRICT;
}

static enum devimg_status run_all(struct state *s, struct devimg_error *err)
{
    DVI_TRY(collect(s, err));
    DVI_TRY(find_shared(s, err));
    merge(s);
    for (size_t i = 0; i < s->shared.count; i++)
        DVI_TRY(say(s, &s->shared.items[i], err));
    if (s->silent > 0)
        DVI_TRY(say_silent(s, err));
    return s->shared.count > 0 ? say_total(s, err) : DEVIMG_OK;
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    struct state s = { .check = check };
    const enum devimg_status status = run_all(&s, err);
    DVI_LIST_FREE(&s.copies);
    DVI_LIST_FREE(&s.shared);
    return status;
}

const struct dvi_rule dvi_rule_duplicates = { .wanted = wanted, .run = run };
