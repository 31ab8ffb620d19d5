/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promised: what the compile lines ask for, against what the file holds. A module is held to the
 * lines of its own unit; where no module of the file is of a unit that the lines name, every
 * target that any line promises must be somewhere in the file.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/stored_raw.h"

/* The settings of the target, 1 where it has none, that the image is for. */
static uint32_t served(const struct dvi_check *check, const struct devimg_image *image,
                       const struct devimg_target *target)
{
    if (dvi_target_is_portable(target))
        return image->parent == DEVIMG_NONE && dvi_is_portable(check, image) &&
               image->target != NULL && strcmp(image->target, target->name) == 0;
    return dvi_target_is_amd(target) && dvi_is_native(image)
               ? dvi_target_served(target, image)
               : dvi_image_serves(check, image, target);
}

/* ---- targets ---- */

static enum devimg_status say_broken(struct dvi_check *check, uint32_t module,
                                     const struct devimg_target *target, struct devimg_error *err)
{
    const struct devimg_module *m = module != DEVIMG_NONE ? check->in->modules[module] : NULL;
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "promise-broken",
                                             m != NULL                     ? m->record
                                             : check->in->record_count > 0 ? 0
                                                                           : DEVIMG_NONE);
    f.module = module;
    f.unit = m != NULL ? m->unit : NULL;
    f.target = target->name;
    f.message = dvi_message(check, "%s promise%s %s, and %s has no image for it",
                            m != NULL ? "the compile line" : "compile lines", m != NULL ? "s" : "",
                            target->name, m != NULL ? "the module" : "the file");
    f.hint = dvi_target_is_amd(target)
                 ? "see that the file is linked of what this line makes: with -fgpu-rdc, the link "
                   "needs the same --offload-arch"
                 : "see that the link keeps the images: -fno-sycl-rdc at compile time, or the same "
                   "targets on the link line";
    return dvi_say(check, &f, err);
}

static enum devimg_status check_targets(struct dvi_check *check, uint32_t index,
                                        const struct dvi_target_set *targets,
                                        struct devimg_error *err)
{
    const struct devimg_module *module = check->in->modules[index];
    for (size_t t = 0; t < targets->known.count; t++) {
        const struct devimg_target *target = targets->known.items[t];
        uint32_t found = 0;
        for (uint32_t i = 0; i < module->image_count; i++)
            found |= served(check, check->in->images[module->images[i]], target);
        if (found != dvi_target_settings(target))
            DVI_TRY(say_broken(check, index, targets->known.items[t], err));
    }
    return DEVIMG_OK;
}

/* ---- compression ---- */

/* Only native images are made by the compile line; the link makes the fallback. */
static bool is_raw(const struct dvi_check *check, const struct devimg_image *image)
{
    return (dvi_is_native(image) || image->format == DEVIMG_FORMAT_ARCHIVE) &&
           dvi_is_stored_raw(check->in->records[image->record], image);
}

static enum devimg_status say_raw(struct dvi_check *check, uint32_t index, uint32_t module,
                                  struct devimg_error *err)
{
    const struct devimg_image *image = check->in->images[index];
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "promise-raw", image->record);
    f.module = module;
    f.image = index;
    f.unit = module != DEVIMG_NONE ? check->in->modules[module]->unit : image->unit;
    f.target = image->target;
    f.offset = image->offset;
    f.message = "the compile line promises compression, and this image is stored raw";
    f.hint = "see that the compiler at work knows --offload-compress";
    return dvi_say(check, &f, err);
}

static enum devimg_status check_raw(struct dvi_check *check, uint32_t index,
                                    struct devimg_error *err)
{
    const struct devimg_module *module = check->in->modules[index];
    uint32_t last = DEVIMG_NONE; /* an archive is met once for each of its members */
    for (uint32_t i = 0; i < module->image_count; i++) {
        const uint32_t at = module->images[i];
        const uint32_t parent = check->in->images[at]->parent;
        const uint32_t top = parent != DEVIMG_NONE ? parent : at;
        if (top != last && is_raw(check, check->in->images[top]))
            DVI_TRY(say_raw(check, top, index, err));
        last = top;
    }
    return DEVIMG_OK;
}

/* ---- a file without unit names ---- */

static enum devimg_status check_file_targets(struct dvi_check *check,
                                             const struct dvi_promises *promises,
                                             struct devimg_error *err)
{
    struct dvi_target_set all = { 0 };
    struct dvi_arena arena = { 0 };
    enum devimg_status st = DEVIMG_OK;
    for (size_t u = 0; st == DEVIMG_OK && u < promises->units.count; u++) {
        const struct dvi_target_set *one = &promises->units.items[u].targets;
        for (size_t t = 0; st == DEVIMG_OK && t < one->known.count; t++)
            st = dvi_target_set_add(&all, one->known.items[t]->name, &arena, err);
    }
    for (size_t t = 0; st == DEVIMG_OK && t < all.known.count; t++) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < check->in->image_count; i++)
            found |= served(check, check->in->images[i], all.known.items[t]);
        if (found != dvi_target_settings(all.known.items[t]))
            st = say_broken(check, DEVIMG_NONE, all.known.items[t], err);
    }
    dvi_target_set_free(&all);
    dvi_arena_free(&arena);
    return st;
}

static enum devimg_status check_file(struct dvi_check *check, const struct dvi_promises *promises,
                                     struct devimg_error *err)
{
    bool compress = true;
    for (size_t u = 0; u < promises->units.count; u++)
        compress = compress && promises->units.items[u].compress;
    DVI_TRY(check_file_targets(check, promises, err));
    for (uint32_t i = 0; compress && i < check->in->image_count; i++)
        if (is_raw(check, check->in->images[i]))
            DVI_TRY(say_raw(check, i, DEVIMG_NONE, err));
    return DEVIMG_OK;
}

/* ---- the rule ---- */

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    const struct dvi_promises *promises = &check->policy->promises;
    bool any_unit = false;
    for (uint32_t i = 0; i < check->in->module_count; i++) {
        const struct devimg_module *module = check->in->modules[i];
        const struct dvi_promise *promise =
            module->unit != NULL ? dvi_promise_of(promises, module->unit) : NULL;
        any_unit = any_unit || promise != NULL;
        if (promise == NULL || !dvi_needs_coverage(check, module))
            continue;
        DVI_TRY(check_targets(check, i, &promise->targets, err));
        if (promise->compress)
            DVI_TRY(check_raw(check, i, err));
    }
    return any_unit || promises->units.count == 0 ? DEVIMG_OK : check_file(check, promises, err);
}

static enum devimg_status say_unknown(struct dvi_check *check, const struct dvi_promise *promise,
                                      const char *name, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "promise-unknown", DEVIMG_NONE);
    f.unit = promise->unit;
    f.target = name;
    f.message = dvi_message(check, "the compile line names \"%.80s\", which no table has", name);
    f.hint = "devimg does not look for images of it";
    return dvi_say(check, &f, err);
}

/* A name that no table has, and where it stands. */
struct unknown {
    const char *name;
    const struct dvi_promise *promise; /* sorted by unit */
};

static int by_name_and_unit(const void *a, const void *b)
{
    const struct unknown *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->promise > y->promise) - (x->promise < y->promise);
}

/* Each unknown name once, at the first unit that has it. */
static enum devimg_status finish(struct dvi_check *check, struct devimg_error *err)
{
    const struct dvi_promises *promises = &check->policy->promises;
    DVI_LIST(struct unknown) all = { 0 };
    enum devimg_status status = DEVIMG_OK;
    for (size_t u = 0; u < promises->units.count; u++) {
        const struct dvi_promise *promise = &promises->units.items[u];
        for (size_t t = 0; status == DEVIMG_OK && t < promise->targets.unknown.count; t++) {
            struct unknown *one = DVI_ADD(&all);
            if (one != NULL)
                *one = (struct unknown){ promise->targets.unknown.items[t], promise };
            else
                status = dvi_fail_memory(err, "promised");
        }
    }
    if (status == DEVIMG_OK && all.count > 0)
        qsort(all.items, all.count, sizeof *all.items, by_name_and_unit);
    for (size_t i = 0; status == DEVIMG_OK && i < all.count; i++)
        if (i == 0 || strcmp(all.items[i - 1].name, all.items[i].name) != 0)
            status = say_unknown(check, all.items[i].promise, all.items[i].name, err);
    DVI_LIST_FREE(&all);
    return status;
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->promises.path != NULL;
}

const struct dvi_rule dvi_rule_promised = { .wanted = wanted, .run = run, .finish = finish };
