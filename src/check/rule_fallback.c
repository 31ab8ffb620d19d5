/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fallback: a portable image in every module, for devices without a native one. The SPIR-V that
 * ocloc may put into its archive (generic_ir) is out of reach of the SYCL runtime, which looks
 * for a registered image of its own.
 */
#include <string.h>

#include "check/check.h"

static bool is_fallback(const struct dvi_check *check, const struct devimg_image *image,
                        const struct devimg_target *kind)
{
    if (image->parent != DEVIMG_NONE || image->registered == DEVIMG_NO ||
        !dvi_is_portable(check, image))
        return false;
    if (image->format == DEVIMG_FORMAT_PTX)
        return dvi_nvidia_stands_for(kind, dvi_target_of_image(image));
    if (image->target == NULL) /* a loose SPIR-V module */
        return image->format == DEVIMG_FORMAT_SPIRV && strcmp(kind->name, "spir64") == 0;
    return strcmp(image->target, kind->name) == 0 || devimg_target_find(image->target) == kind;
}

static const char *hint_for(struct dvi_check *check, const struct devimg_module *module,
                            const struct devimg_target *kind)
{
    const enum devimg_offload offload = module->image_count > 0
                                            ? check->in->images[module->images[0]]->offload
                                            : DEVIMG_OFFLOAD_UNKNOWN;
    if (dvi_is_generic_ir(check, module))
        return "AdaptiveCpp's generic IR is portable by itself: ask for no fallback";
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = check->in->images[module->images[i]];
        if (dvi_is_portable(check, image) && image->parent == DEVIMG_NONE &&
            image->registered == DEVIMG_NO)
            return "a portable image is there, and nothing registers it: the rule registration "
                   "says why";
    }
    if (strcmp(kind->kind, "ptx") == 0)
        return dvi_message(check, "compile this unit with a further -gencode arch=%s,code=%s",
                           kind->name, kind->name);
    if (strcmp(kind->kind, "spirv") == 0)
        return "add --offload-arch=amdgcnspirv to this unit (ROCm's clang)";
    if (offload == DEVIMG_OFFLOAD_CUDA)
        return "the fallback of CUDA code is PTX: list compute_NN as well, and it alone is asked of "
               "CUDA code";
    if (offload == DEVIMG_OFFLOAD_HIP)
        return "the portable form of HIP code is amdgcnspirv: list that as well, and it alone is "
               "asked of HIP code";
    return "add spir64 to -fsycl-targets, on the compile line and on the link line";
}

/* Bitcode states no kernels. In an object that is not linked it is that of the whole unit, so that
 * the link makes of it the fallback of every module. */
static bool has_bitcode(const struct dvi_check *check, const struct devimg_record *record,
                        const struct devimg_target *kind)
{
    for (uint32_t i = 0; record->linked == DEVIMG_NO && i < record->image_count; i++) {
        const struct devimg_image *image = check->in->images[record->first_image + i];
        if (image->format == DEVIMG_FORMAT_BITCODE && is_fallback(check, image, kind))
            return true;
    }
    return false;
}

static bool has_fallback(const struct dvi_check *check, const struct devimg_module *module,
                         const struct devimg_target *kind)
{
    for (uint32_t i = 0; i < module->image_count; i++)
        if (is_fallback(check, check->in->images[module->images[i]], kind))
            return true;
    return false;
}

/* Of a CUDA device link: do all of its inputs have one? A link keeps none. */
static bool have_inputs(const struct dvi_check *check, const struct devimg_record *record,
                        const struct devimg_target *kind)
{
    uint32_t m = dvi_next_link_input(check, record, 0);
    bool all = m < record->module_count;
    for (; m < record->module_count && all; m = dvi_next_link_input(check, record, m + 1))
        all = has_fallback(check, check->in->modules[record->first_module + m], kind);
    return all;
}

static enum devimg_status say_linked(struct dvi_check *check, uint32_t index,
                                     const struct devimg_target *kind, struct devimg_error *err)
{
    struct devimg_finding f =
        dvi_finding_of(DEVIMG_NOTE, "linked-at-load", check->in->modules[index]->record);
    f.module = index;
    f.target = kind->name;
    f.message = "the device link kept no PTX: the runtime compiles and links that of its inputs "
                "(__nv_relfatbin), at each start of a GPU without native code";
    f.hint = "nothing to do, unless the section is stripped or not all units are in the link";
    return dvi_say(check, &f, err);
}

/* `*inputs`: have_inputs() of the record; MAYBE: not asked yet. */
static enum devimg_status run_module(struct dvi_check *check, uint32_t index,
                                     const struct devimg_target *kind, enum devimg_answer *inputs,
                                     struct devimg_error *err)
{
    const struct devimg_module *module = check->in->modules[index];
    char names[DVI_NAMES_SIZE];
    if (has_fallback(check, module, kind))
        return DEVIMG_OK;
    if (dvi_is_link_result(check, module) && *inputs == DEVIMG_MAYBE)
        *inputs =
            have_inputs(check, check->in->records[module->record], kind) ? DEVIMG_YES : DEVIMG_NO;
    if (dvi_is_link_result(check, module) && *inputs == DEVIMG_YES)
        return say_linked(check, index, kind, err);
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "missing-fallback", module->record);
    dvi_names_of(module, names);
    f.module = index;
    f.unit = module->unit;
    f.target = kind->name;
    f.kernel = module->name_count == 1 ? module->names[0] : NULL;
    f.message = dvi_message(check, "no registered %s image; kernels: %s", kind->name, names);
    f.hint = hint_for(check, module, kind);
    return dvi_say(check, &f, err);
}

/* Does a driver of the module's GPUs compile this kind? Without native code, its sort of code tells. */
static bool concerns(const struct dvi_check *check, const struct devimg_module *module,
                     const struct devimg_target *kind)
{
    bool any = false;
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = check->in->images[module->images[i]];
        const struct devimg_target *row = dvi_is_native(image) ? dvi_target_of_image(image) : NULL;
        if (row != NULL && dvi_target_compiles(row, kind))
            return true;
        any = any || row != NULL;
    }
    const enum devimg_offload offload = dvi_offload_of(check, module);
    const char *of_kind = offload == DEVIMG_OFFLOAD_HIP    ? "spirv"
                          : offload == DEVIMG_OFFLOAD_CUDA ? "ptx"
                                                           : "portable";
    return !any && strcmp(kind->kind, of_kind) == 0;
}

/* Held to the kinds that concern it; where none does, to all of them. */
static bool is_held_to(const struct dvi_check *check, const struct devimg_module *module,
                       const struct devimg_target *kind)
{
    const struct dvi_target_set *kinds = &check->policy->fallback;
    bool any = false;
    for (size_t k = 0; !any && k < kinds->known.count; k++)
        any = concerns(check, module, kinds->known.items[k]);
    return !any || concerns(check, module, kind);
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->fallback.known.count > 0;
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    const struct dvi_target_set *kinds = &check->policy->fallback;
    bool said = false;
    if (check->target_count == 0)
        DVI_TRY(dvi_say_elsewhere(check, &said, err));
    if (check->in->image_count == 0 && !said &&
        check->target_count == 0) { /* else the rule targets says it */
        struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "no-device-code",
                                                 check->in->record_count > 0 ? 0 : DEVIMG_NONE);
        const bool is_partly_read = dvi_is_partly_read(check);
        f.message = is_partly_read
                        ? "no device code could be read, and the policy asks for a fallback"
                        : "the file has no device code, and the policy asks for a fallback";
        f.hint = is_partly_read ? dvi_hint_of_damage : "compile and link with -fsycl";
        return dvi_say(check, &f, err);
    }
    for (uint32_t r = 0; r < check->in->record_count; r++) {
        const struct devimg_record *record = check->in->records[r];
        for (size_t k = 0; k < kinds->known.count; k++) {
            enum devimg_answer inputs = DEVIMG_MAYBE;
            if (has_bitcode(check, record, kinds->known.items[k]))
                continue;
            for (uint32_t i = 0; i < record->module_count; i++) {
                const struct devimg_module *module = check->in->modules[record->first_module + i];
                if (dvi_may_have_kernels(check, module) &&
                    is_held_to(check, module, kinds->known.items[k]))
                    DVI_TRY(run_module(check, record->first_module + i, kinds->known.items[k],
                                       &inputs, err));
            }
        }
    }
    return DEVIMG_OK;
}

static enum devimg_status finish(struct dvi_check *check, struct devimg_error *err)
{
    return dvi_say_repeated(check, "fallback", &check->policy->fallback, err);
}

const struct dvi_rule dvi_rule_fallback = { .wanted = wanted, .run = run, .finish = finish };
