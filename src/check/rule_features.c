/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features: what kernels need and a target lacks. An image's required aspects count where they
 * are stated, for fp16 and fp64 (target/aspects.h). Otherwise what the portable images of a module
 * declare for their kernels counts.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "check/check.h"
#include "target/aspects.h"

enum { FEATURES = 3 };

static const struct feature {
    uint32_t bit;
    const char *code, *name;
} features[FEATURES] = {
    { DEVIMG_FEATURE_FP64, "needs-fp64", "fp64" },
    { DEVIMG_FEATURE_FP16, "needs-fp16", "fp16" },
    { DEVIMG_FEATURE_MATRIX, "needs-matrix", "matrix instructions (dpas)" },
};

struct need {
    uint32_t module, image, bits;
    const char *kernel;
};

/* The listed targets that lack a feature, and the words for all of them. */
struct lack {
    const struct devimg_target **rows;
    size_t count;
    const char *message, *hint;
};

struct state {
    struct dvi_check *check;
    struct lack lacks[FEATURES];
    DVI_LIST(struct need) needs; /* of kernels, sorted by module and name */
};

static bool lacks_feature(const struct devimg_target *target, uint32_t bit)
{
    switch (bit) {
    case DEVIMG_FEATURE_FP64: return target->fp64 == DEVIMG_NO;
    case DEVIMG_FEATURE_FP16: return target->fp16 == DEVIMG_NO;
    default: return target->dpas == DEVIMG_NO;
    }
}

static enum devimg_status find_lack(struct dvi_check *check, const struct feature *feature,
                                    struct lack *out, struct devimg_error *err)
{
    char names[DVI_NAMES_SIZE];
    bool emulated = false;
    out->rows = calloc(check->target_count + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return dvi_fail_memory(err, "features");
    for (size_t i = 0; i < check->target_count; i++) {
        const struct devimg_target *row = check->targets[i].row;
        if (!lacks_feature(row, feature->bit))
            continue;
        out->rows[out->count++] = row;
        emulated = emulated || (feature->bit == DEVIMG_FEATURE_FP64 && row->fp64_emulated);
    }
    dvi_rows_text(out->rows, out->count, names);
    out->message = dvi_message(check, "needs %s, which %s lack%s", feature->name, names,
                               out->count == 1 ? "s" : "");
    out->hint = emulated ? "keep the feature out of kernels for these targets; the driver can "
                           "emulate fp64 on some of them, but that is off by default"
                         : "keep the feature out of kernels for these targets";
    return out->message != NULL ? DEVIMG_OK : dvi_fail_memory(err, "features");
}

/* ---- what is needed ---- */

/* The bits that a module's stated aspects ask for; false: its images state none. */
static bool aspects_of(const struct dvi_check *check, const struct devimg_module *module,
                       uint32_t *bits)
{
    bool stated = false;
    *bits = 0;
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = check->in->images[module->images[i]];
        stated = stated || image->aspects != NULL;
        *bits |= dvi_features_of_aspects(image);
    }
    return stated;
}

static enum devimg_status collect(struct state *s, struct devimg_error *err)
{
    const struct dvi_check_input *in = s->check->in;
    for (uint32_t k = 0; k < in->kernel_count; k++) {
        const struct devimg_kernel *kernel = in->kernels[k];
        if (kernel->module == DEVIMG_NONE || !kernel->features_known || kernel->features == 0 ||
            !dvi_is_portable(s->check, in->images[kernel->image]))
            continue;
        struct need *need = DVI_ADD(&s->needs);
        if (need == NULL)
            return dvi_fail_memory(err, "features");
        *need = (struct need){ kernel->module, kernel->image, kernel->features, kernel->name };
    }
    return DEVIMG_OK;
}

static int compare_needs(const void *a, const void *b)
{
    const struct need *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    const int order = dvi_compare_text(x->kernel, y->kernel);
    return order != 0 ? order : (x->image > y->image) - (x->image < y->image);
}

/* A kernel stands once, also when two portable images have it. */
static void merge(struct state *s)
{
    size_t kept = 0;
    if (s->needs.count > 0)
        qsort(s->needs.items, s->needs.count, sizeof *s->needs.items, compare_needs);
    for (size_t i = 0; i < s->needs.count; i++) {
        struct need *last = kept > 0 ? &s->needs.items[kept - 1] : NULL;
        const struct need *at = &s->needs.items[i];
        if (last != NULL && last->module == at->module &&
            dvi_compare_text(last->kernel, at->kernel) == 0)
            last->bits |= at->bits;
        else
            s->needs.items[kept++] = *at;
    }
    s->needs.count = kept;
}

/* ---- what is said ---- */

static enum devimg_status say(struct state *s, const struct need *need, size_t feature,
                              struct devimg_error *err)
{
    const struct devimg_module *module = s->check->in->modules[need->module];
    const struct lack *lack = &s->lacks[feature];
    for (size_t i = 0; i < lack->count; i++) {
        struct devimg_finding f =
            dvi_finding_of(DEVIMG_ERROR, features[feature].code, module->record);
        f.module = need->module;
        f.image = need->image;
        f.unit = module->unit;
        f.kernel = need->kernel;
        f.target = lack->rows[i]->name;
        f.message = lack->message;
        f.hint = lack->hint;
        DVI_TRY(dvi_say(s->check, &f, err));
    }
    return DEVIMG_OK;
}

/* Of one module: needs[first..end) are its kernels'. */
static enum devimg_status run_module(struct state *s, uint32_t index, size_t first, size_t end,
                                     struct devimg_error *err)
{
    const struct devimg_module *module = s->check->in->modules[index];
    uint32_t aspects = 0, told = 0;
    const bool stated = aspects_of(s->check, module, &aspects);
    const uint32_t counted = stated ? aspects | ~(uint32_t)DVI_ASPECT_FEATURES : UINT32_MAX;
    for (size_t i = first; i < end; i++) {
        const uint32_t bits = s->needs.items[i].bits & counted;
        told |= bits;
        for (size_t k = 0; k < FEATURES; k++)
            if ((bits & features[k].bit) != 0)
                DVI_TRY(say(s, &s->needs.items[i], k, err));
    }
    const bool has_code = dvi_may_have_kernels(s->check, module); /* no functions alone */
    const struct need whole = { index, DEVIMG_NONE, has_code ? aspects & ~told : 0,
                                module->name_count == 1 ? module->names[0] : NULL };
    for (size_t k = 0; k < FEATURES; k++)
        if ((whole.bits & features[k].bit) != 0)
            DVI_TRY(say(s, &whole, k, err));
    return DEVIMG_OK;
}

static enum devimg_status run_modules(struct state *s, struct devimg_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < FEATURES; i++)
        DVI_TRY(find_lack(s->check, &features[i], &s->lacks[i], err));
    DVI_TRY(collect(s, err));
    merge(s);
    for (uint32_t i = 0; i < s->check->in->module_count; i++) {
        const size_t first = at;
        while (at < s->needs.count && s->needs.items[at].module == i)
            at++;
        DVI_TRY(run_module(s, i, first, at, err));
    }
    return DEVIMG_OK;
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->targets.known.count > 0 && policy->features != DVI_CHOICE_ANY;
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    struct state s = { .check = check };
    const enum devimg_status st = run_modules(&s, err);
    for (size_t i = 0; i < FEATURES; i++)
        free(s.lacks[i].rows);
    DVI_LIST_FREE(&s.needs);
    return st;
}

const struct dvi_rule dvi_rule_features = { .wanted = wanted, .run = run };
