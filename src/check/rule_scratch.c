/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch: private, spill and per-thread buffer memory of native kernels, as the images state
 * it. A ratchet file lists what is still allowed and may only shrink. Without the key in the
 * policy one note a file says which kernels use scratch.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

struct use {
    uint32_t record, module, image;
    const char *kernel, *target;
    uint64_t size[DVI_RATCHET_COUNT]; /* 0 also where the image does not state it */
    bool is_stated[DVI_RATCHET_COUNT];
};

struct state {
    const char *hint;
    struct dvi_check *check;
    DVI_LIST(struct use) uses; /* one a module, kernel and target */
};

static uint64_t stated(uint64_t size)
{
    return size != DEVIMG_UNKNOWN ? size : 0;
}

static bool says_nothing(const struct devimg_kernel *kernel)
{
    return kernel->private_size == DEVIMG_UNKNOWN && kernel->spill_size == DEVIMG_UNKNOWN &&
           kernel->scratch_size == DEVIMG_UNKNOWN;
}

static enum devimg_status add_use(struct state *s, const struct devimg_kernel *kernel,
                                  struct devimg_error *err)
{
    const struct devimg_image *image = s->check->in->images[kernel->image];
    const struct devimg_target *row = dvi_target_of_image(image);
    struct use *use = DVI_ADD(&s->uses);
    if (use == NULL)
        return dvi_fail_memory(err, "scratch");
    *use = (struct use){
        kernel->record,
        kernel->module,
        kernel->image,
        kernel->name,
        row != NULL ? row->name : image->target,
        { stated(kernel->private_size), stated(kernel->spill_size), stated(kernel->scratch_size) },
        { kernel->private_size != DEVIMG_UNKNOWN, kernel->spill_size != DEVIMG_UNKNOWN,
          kernel->scratch_size != DEVIMG_UNKNOWN }
    };
    return DEVIMG_OK;
}

/* Once a record: native images of which no kernel says anything. */
static enum devimg_status say_unknown(struct dvi_check *check, const struct devimg_image *image,
                                      uint32_t index, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "scratch-unknown", image->record);
    f.image = index;
    f.target = image->target;
    f.offset = image->offset;
    f.message = dvi_message(check, "the %s image does not state the scratch memory of its kernels",
                            devimg_format_name(image->format));
    return dvi_say(check, &f, err);
}

static enum devimg_status collect(struct state *s, struct devimg_error *err)
{
    const struct dvi_check_input *in = s->check->in;
    const bool asked = s->check->policy->scratch == DVI_CHOICE_STRICT;
    uint32_t k = 0, said = DEVIMG_NONE;
    for (uint32_t i = 0; i < in->image_count; i++) {
        const struct devimg_image *image = in->images[i];
        bool silent = dvi_is_native(image) && !image->support && image->module != DEVIMG_NONE;
        for (; k < in->kernel_count && in->kernels[k]->image == i; k++) {
            const struct devimg_kernel *kernel = in->kernels[k];
            if (!dvi_is_native(image))
                continue;
            silent = silent && says_nothing(kernel);
            if (stated(kernel->private_size) > 0 || stated(kernel->spill_size) > 0 ||
                stated(kernel->scratch_size) > 0)
                DVI_TRY(add_use(s, kernel, err));
        }
        if (asked && silent)
            dvi_ratchet_keep_silent(s->check);
        if (asked && silent && image->record != said) {
            said = image->record;
            DVI_TRY(say_unknown(s->check, image, i, err));
        }
    }
    return DEVIMG_OK;
}

static int compare_keys(const struct use *a, const struct use *b)
{
    if (a->record != b->record)
        return a->record < b->record ? -1 : 1;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    const int order = dvi_compare_text(a->kernel, b->kernel);
    return order != 0 ? order : dvi_compare_text(a->target, b->target);
}

static int compare_uses(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    const int order = compare_keys(x, y);
    return order != 0 ? order : (x->image > y->image) - (x->image < y->image);
}

/* An archive may hold the same target twice: the larger number counts. */
static void merge(struct state *s)
{
    size_t kept = 0;
    if (s->uses.count > 0)
        qsort(s->uses.items, s->uses.count, sizeof *s->uses.items, compare_uses);
    for (size_t i = 0; i < s->uses.count; i++) {
        struct use *last = kept > 0 ? &s->uses.items[kept - 1] : NULL;
        const struct use *at = &s->uses.items[i];
        if (last == NULL || compare_keys(last, at) != 0) {
            s->uses.items[kept++] = *at;
            continue;
        }
        for (size_t n = 0; n < DVI_RATCHET_COUNT; n++) {
            last->is_stated[n] = last->is_stated[n] || at->is_stated[n];
            if (at->size[n] > last->size[n])
                last->size[n] = at->size[n];
        }
    }
    s->uses.count = kept;
}

/* Remember what a ratchet line was needed for; true: the kernel stays within it. */
static bool within(struct state *s, const struct use *use, const struct dvi_ratchet_line *line)
{
    const size_t index = (size_t)(line - s->check->policy->ratchet.lines.items);
    struct dvi_ratchet_use *seen = &dvi_memory_of(s->check)->ratchet[index];
    bool fits = true;
    seen->used = true;
    for (size_t n = 0; n < DVI_RATCHET_COUNT; n++) {
        if (use->size[n] > seen->seen[n])
            seen->seen[n] = use->size[n];
        seen->is_stated[n] = seen->is_stated[n] || use->is_stated[n];
        fits = fits && use->size[n] <= line->most[n];
    }
    return fits;
}

static const char *const names[DVI_RATCHET_COUNT] = { "private", "spill", "buffer" };

/* "256, not stated, 0", as a line of the ratchet has it */
static void line_text(const uint64_t *sizes, const bool *is_unknown, char *out, size_t room)
{
    size_t at = 0;
    for (size_t n = 0; n < DVI_RATCHET_COUNT && at < room; n++)
        at +=
            is_unknown[n]
                ? (size_t)snprintf(out + at, room - at, "%snot stated", n > 0 ? ", " : "")
                : (size_t)snprintf(out + at, room - at, "%s%" PRIu64, n > 0 ? ", " : "", sizes[n]);
}

/* "private 0, spill not stated, buffer 256 bytes" */
static void sizes_text(const struct use *use, char *out, size_t room)
{
    size_t at = 0;
    for (size_t n = 0; n < DVI_RATCHET_COUNT && at < room; n++)
        at += use->is_stated[n] ? (size_t)snprintf(out + at, room - at, "%s%s %" PRIu64,
                                                   n > 0 ? ", " : "", names[n], use->size[n])
                                : (size_t)snprintf(out + at, room - at, "%s%s not stated",
                                                   n > 0 ? ", " : "", names[n]);
}

static enum devimg_status say_use(struct state *s, const struct use *use, struct devimg_error *err)
{
    const struct dvi_ratchet *ratchet = &s->check->policy->ratchet;
    const struct dvi_ratchet_line *line =
        ratchet->path != NULL ? dvi_ratchet_find(ratchet, use->kernel, use->target) : NULL;
    if (line != NULL && within(s, use, line))
        return DEVIMG_OK;
    struct devimg_finding f =
        dvi_finding_of(DEVIMG_ERROR, line != NULL ? "scratch-grew" : "scratch", use->record);
    f.module = use->module;
    f.image = use->image;
    f.unit = s->check->in->images[use->image]->unit;
    f.kernel = use->kernel;
    f.target = use->target;
    char sizes[128], allowed[96] = "";
    sizes_text(use, sizes, sizeof sizes);
    if (line != NULL)
        line_text(line->most, line->is_unknown, allowed, sizeof allowed);
    f.message = line != NULL
                    ? dvi_message(s->check, "uses %s bytes; the ratchet allows %s", sizes, allowed)
                    : dvi_message(s->check, "uses scratch memory: %s bytes", sizes);
    f.hint = s->hint;
    return dvi_say(s->check, &f, err);
}

/* Without the key in the policy: one note a record. */
static enum devimg_status say_used(struct state *s, size_t first, size_t end,
                                   struct devimg_error *err)
{
    enum { SHOWN = 4 };
    char text[512] = "";
    size_t kernels = 0, used = 0;
    for (size_t i = first; i < end; i++) {
        const struct use *use = &s->uses.items[i];
        if (i > first && strcmp(use->kernel, s->uses.items[i - 1].kernel) == 0)
            continue;
        char shown[DVI_SHOWN_SIZE];
        if (kernels++ >= SHOWN)
            continue;
        dvi_shown_kernel(use->kernel, shown);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "", shown);
    }
    struct devimg_finding f =
        dvi_finding_of(DEVIMG_NOTE, "scratch-used", s->uses.items[first].record);
    f.message = dvi_message(s->check, "%zu kernel%s use%s scratch memory: %s%s", kernels,
                            kernels == 1 ? "" : "s", kernels == 1 ? "s" : "", text,
                            kernels > SHOWN ? ", ..." : "");
    f.hint = "scratch: none in the policy makes this an error, a ratchet file allows what is there";
    return dvi_say(s->check, &f, err);
}

static enum devimg_status say_all(struct state *s, struct devimg_error *err)
{
    const bool strict = s->check->policy->scratch == DVI_CHOICE_STRICT;
    for (size_t i = 0, next; i < s->uses.count; i = next) {
        next = i + 1;
        if (strict) {
            const struct use *use = &s->uses.items[i];
            DVI_TRY(dvi_ratchet_keep(s->check, use->kernel, use->target, use->size, use->is_stated,
                                     err));
            DVI_TRY(say_use(s, use, err));
            continue;
        }
        while (next < s->uses.count && s->uses.items[next].record == s->uses.items[i].record)
            next++;
        DVI_TRY(say_used(s, i, next, err));
    }
    return DEVIMG_OK;
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->scratch == DVI_CHOICE_STRICT ||
           (policy->scratch == DVI_CHOICE_UNSET && policy->targets.known.count > 0);
}

/* How to mend it; a ratchet file that is not there yet is named, since its name may be wrong. */
static const char *hint_of(struct dvi_check *check)
{
    const struct dvi_ratchet *ratchet = &check->policy->ratchet;
    if (ratchet->is_missing)
        return dvi_message(check,
                           "lower the register pressure, keep arrays out of private memory, or "
                           "allow it: the ratchet file %s is not there (--write-ratchet FILE "
                           "writes the first one)",
                           ratchet->path);
    return "lower the register pressure, keep arrays out of private memory, or allow it in a "
           "ratchet file (--ratchet FILE; --write-ratchet FILE writes the first one)";
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    struct state s = { .check = check, .hint = hint_of(check) };
    if (s.hint == NULL)
        return dvi_fail_memory(err, "scratch");
    enum devimg_status st = collect(&s, err);
    merge(&s);
    if (st == DEVIMG_OK)
        st = say_all(&s, err);
    DVI_LIST_FREE(&s.uses);
    return st;
}

/* ---- lines of the ratchet that could go or shrink ---- */

static enum devimg_status say_stale(struct dvi_check *check, const struct dvi_ratchet_line *line,
                                    const struct dvi_ratchet_use *use, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "ratchet-stale", DEVIMG_NONE);
    f.kernel = line->kernel;
    f.target = line->target;
    char sizes[96];
    uint64_t most[DVI_RATCHET_COUNT];
    for (size_t n = 0; n < DVI_RATCHET_COUNT; n++)
        most[n] = use->is_stated[n] ? use->seen[n] : line->most[n];
    line_text(most, line->is_unknown, sizes, sizeof sizes);
    f.message =
        use->used
            ? dvi_message(check, "line %" PRIu32 " of the ratchet file can be lowered to %s bytes",
                          line->line, sizes)
            : dvi_message(check,
                          "line %" PRIu32 " of the ratchet file is not needed: no "
                          "such kernel is said to use scratch memory",
                          line->line);
    f.hint = "the list may only shrink: change it now, while it is true";
    return dvi_say(check, &f, err);
}

static enum devimg_status finish(struct dvi_check *check, struct devimg_error *err)
{
    const struct dvi_memory *memory = dvi_memory_of(check);
    const struct dvi_ratchet *ratchet = &check->policy->ratchet;
    if (check->policy->scratch != DVI_CHOICE_STRICT || memory->file_count == 0)
        return DEVIMG_OK;
    for (size_t i = 0; i < ratchet->lines.count; i++) {
        const struct dvi_ratchet_line *line = &ratchet->lines.items[i];
        const struct dvi_ratchet_use *use = &memory->ratchet[i];
        bool lower = false, larger = false;
        for (size_t n = 0; n < DVI_RATCHET_COUNT; n++) {
            lower = lower || (use->is_stated[n] && use->seen[n] < line->most[n]);
            larger = larger || use->seen[n] > line->most[n];
        }
        if (!use->used || (lower && !larger))
            DVI_TRY(say_stale(check, line, use, err));
    }
    return DEVIMG_OK;
}

const struct dvi_rule dvi_rule_scratch = { .wanted = wanted, .run = run, .finish = finish };
