/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targets: a native image for each listed target, module by module. The union over a library
 * would hide that one module lacks what all others have. An image serves a target when it is for
 * the target's device IP version, now or formerly; two names of one version are served by one
 * image.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "image/image.h"

struct state {
    struct dvi_check *check;
    const struct devimg_image *image; /* that is looked at */
    unsigned char *served;            /* a target each; of AMD: settings of dvi_amd_settings() */
    unsigned char *gaps;              /* see dvi_gap_for() */
    unsigned char *inputs;            /* as `served`: what every input of the device link serves */
    bool inputs_known;                /* of the record at hand */
};

static void mark_served(void *context, size_t target)
{
    struct state *s = context;
    const struct devimg_target *row = s->check->targets[target].row;
    s->served[target] |=
        dvi_target_is_amd(row) ? (unsigned char)dvi_target_served(row, s->image) : 1;
}

/* Of an AMD target, several images may each serve some settings of its devices. */
static bool is_served(const struct state *s, const unsigned char *served, size_t target)
{
    const uint32_t all = dvi_target_settings(s->check->targets[target].row);
    return (served[target] & all) == all;
}

static const char *hint_of(const struct state *s, const struct devimg_module *module,
                           bool has_native, const struct devimg_target *target)
{
    const bool is_amd = dvi_target_is_amd(target);
    const enum devimg_offload offload = dvi_offload_of(s->check, module);
    if (dvi_is_generic_ir(s->check, module))
        return "AdaptiveCpp compiles its generic IR at the first run: no native image is made";
    if (offload == DEVIMG_OFFLOAD_HIP || is_amd)
        return has_native
                   ? "add --offload-arch for the target to this unit, or declare a gap with a reason"
                   : "compile this unit with --offload-arch for each target";
    if (dvi_target_is_nvidia(target))
        return dvi_message(
            s->check, "%s -gencode arch=compute_%s,code=%s%s",
            has_native ? "compile this unit with a further" : "compile this unit with",
            target->name + 3, target->name, has_native ? ", or declare a gap with a reason" : "");
    return has_native
               ? "add the target to the -device list of this unit, or declare a gap with a reason"
               : "compile this unit with -fsycl-targets=spir64_gen and a -device list";
}

/* "with sramecc-:xnack+" where images serve other settings of the target; else empty. */
static void unserved_text(const struct state *s, size_t index, char *out, size_t room)
{
    const struct devimg_target *row = s->check->targets[index].row;
    const uint32_t missing = dvi_amd_settings(row) & ~(uint32_t)s->served[index];
    char setting[DVI_AMD_SETTING_ROOM];
    *out = 0;
    for (unsigned i = 0; i < DVI_AMD_SETTINGS && s->served[index] != 0; i++)
        if ((missing >> i & 1) != 0) {
            (void)snprintf(out, room, " with %s", dvi_amd_setting_text(row, i, setting));
            return;
        }
}

/* What the devices of an NVIDIA target do run instead; empty: nothing of this module. */
static void runs_text(const struct state *s, const struct devimg_module *module,
                      const struct devimg_target *target, char *out, size_t room)
{
    const struct devimg_target *jit = NULL;
    *out = 0;
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_target *row =
            dvi_target_of_image(s->check->in->images[module->images[i]]);
        if (!dvi_nvidia_runs(target, row))
            continue;
        if (dvi_target_is_nvidia(row)) {
            (void)snprintf(out, room, " (it runs the code for %s, which is built for others)",
                           row->name);
            return;
        }
        jit = row;
    }
    if (jit != NULL)
        (void)snprintf(out, room, " (its driver compiles the PTX for %s at first use)", jit->name);
}

static enum devimg_status say_gap(struct state *s, uint32_t index, const struct dvi_gap *gap,
                                  const struct devimg_target *target, struct devimg_error *err)
{
    const struct devimg_module *module = s->check->in->modules[index];
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "gap", module->record);
    f.module = index;
    f.unit = module->unit;
    f.target = target->name;
    f.kernel = module->name_count == 1 ? module->names[0] : NULL;
    f.message =
        dvi_message(s->check, "no native image for %s, as declared: %s", target->name, gap->reason);
    return dvi_say(s->check, &f, err);
}

static enum devimg_status say_missing(struct state *s, uint32_t index, bool has_native, size_t at,
                                      struct devimg_error *err)
{
    const struct devimg_module *module = s->check->in->modules[index];
    const struct devimg_target *target = s->check->targets[at].row;
    char names[DVI_NAMES_SIZE], ip[24] = "no IP version", count[24] = "kernels", stated[96] = "";
    struct devimg_finding f =
        dvi_finding_of(DEVIMG_ERROR, has_native ? "missing-ip" : "no-native-image", module->record);
    dvi_names_of(module, names);
    if (target->ip_version != DEVIMG_UNKNOWN)
        dvi_ip_text(target->ip_version, ip);
    if (dvi_target_is_amd(target))
        unserved_text(s, at, stated, sizeof stated);
    else if (dvi_target_is_nvidia(target))
        runs_text(s, module, target, stated, sizeof stated);
    else
        (void)snprintf(stated, sizeof stated, " (%s)", ip);
    f.module = index;
    f.unit = module->unit;
    f.target = target->name;
    f.kernel = module->name_count == 1 ? module->names[0] : NULL;
    if (module->name_count > 0)
        (void)snprintf(count, sizeof count, "%" PRIu32 " kernel%s", module->name_count,
                       module->name_count == 1 ? "" : "s");
    f.message = dvi_message(s->check, "no native image for %s%s%s; %s: %s", target->name, stated,
                            has_native ? "" : ", nor for any other GPU", count, names);
    f.hint = hint_of(s, module, has_native, target);
    return dvi_say(s->check, &f, err);
}

static enum devimg_status say_family(struct state *s, uint32_t index, struct devimg_error *err)
{
    const struct devimg_image *image = s->check->in->images[index];
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "family-only", image->record);
    f.module = image->module;
    f.image = index;
    f.unit = image->unit;
    f.target = image->target;
    f.offset = image->offset;
    f.message = "the image states only its product family: the ocloc that made it wrote no device "
                "IP version, so it counts for every target of the family";
    f.hint = "a newer ocloc states the IP version";
    return dvi_say(s->check, &f, err);
}

/* Code takes pointers of one size, that of its host. Once a module; `*serves` is false for images
 * that no program of this host can load. */
static enum devimg_status look_at_pointers(struct state *s, uint32_t index, bool *said,
                                           bool *serves, struct devimg_error *err)
{
    const struct devimg_image *image = s->check->in->images[index];
    const uint64_t host = s->check->in->records[image->record]->pointer_size;
    const bool known = image->pointer_size != DEVIMG_UNKNOWN;
    *serves = !known || host == DEVIMG_UNKNOWN || image->pointer_size == host;
    if (!known || image->pointer_size == (host != DEVIMG_UNKNOWN ? host : 8U) || *said)
        return DEVIMG_OK;
    struct devimg_finding f =
        dvi_finding_of(*serves ? DEVIMG_NOTE : DEVIMG_ERROR, "pointer-size", image->record);
    f.module = image->module;
    f.image = index;
    f.unit = image->unit;
    f.target = image->target;
    f.offset = image->offset;
    f.message = *serves
                    ? "the image is for 32-bit hosts: no 64-bit program can load it"
                    : dvi_message(s->check,
                                  "the image is for %u-bit hosts, and the file for %u-bit ones: "
                                  "it serves no target",
                                  (unsigned)image->pointer_size * 8, (unsigned)host * 8);
    f.hint = "call ocloc with the pointer size of the program: -64, or -32";
    *said = true;
    return dvi_say(s->check, &f, err);
}

static enum devimg_status look_at_images(struct state *s, const struct devimg_module *module,
                                         bool *has_native, struct devimg_error *err)
{
    bool said = false, serves = true;
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct devimg_image *image = s->check->in->images[module->images[i]];
        if (!dvi_is_native(image))
            continue;
        *has_native = true;
        DVI_TRY(look_at_pointers(s, module->images[i], &said, &serves, err));
        if (!serves)
            continue;
        s->image = image;
        dvi_targets_served(s->check, image, mark_served, s);
        if (image->ip_version == DEVIMG_UNKNOWN && image->family_only)
            DVI_TRY(say_family(s, module->images[i], err));
    }
    return DEVIMG_OK;
}

/* What every input of the device link serves, the runtime makes of them at load. */
static enum devimg_status look_at_inputs(struct state *s, const struct devimg_record *record,
                                         struct devimg_error *err)
{
    const size_t count = s->check->target_count;
    uint32_t m = dvi_next_link_input(s->check, record, 0);
    bool has_native = false;
    memset(s->inputs, m < record->module_count ? 0xff : 0, count);
    for (; m < record->module_count; m = dvi_next_link_input(s->check, record, m + 1)) {
        memset(s->served, 0, count);
        DVI_TRY(
            look_at_images(s, s->check->in->modules[record->first_module + m], &has_native, err));
        for (size_t i = 0; i < count; i++)
            s->inputs[i] &= s->served[i];
    }
    s->inputs_known = true;
    return DEVIMG_OK;
}

static enum devimg_status say_linked(struct state *s, uint32_t index,
                                     const struct devimg_target *target, struct devimg_error *err)
{
    const struct devimg_module *module = s->check->in->modules[index];
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "linked-at-load", module->record);
    f.module = index;
    f.target = target->name;
    f.message =
        dvi_message(s->check,
                    "the device link made nothing for %s: the runtime links the relocatable "
                    "code for it, at each start",
                    target->name);
    f.hint = dvi_message(s->check, "give nvcc -dlink -gencode arch=compute_%s,code=%s as well",
                         target->name + 3, target->name);
    return dvi_say(s->check, &f, err);
}

/* Code that could not be read, so that nobody can say what it is for; damage says why. */
static bool is_unreadable(const struct state *s, const struct devimg_module *module, uint32_t i)
{
    const struct devimg_image *image = s->check->in->images[module->images[i]];
    const struct devimg_image *next =
        i + 1 < module->image_count ? s->check->in->images[module->images[i + 1]] : NULL;
    const bool has_members = next != NULL && next->parent == module->images[i]; /* they follow it */
    /* code for the host's CPU has no format of its own and needs none */
    return image->parent == DEVIMG_NONE && !has_members && !dvi_target_is_host(image->target) &&
           (image->format == DEVIMG_FORMAT_UNKNOWN || image->format == DEVIMG_FORMAT_ARCHIVE);
}

static enum devimg_status say_unreadable(struct state *s, uint32_t index, uint32_t image,
                                         struct devimg_error *err)
{
    const struct devimg_module *module = s->check->in->modules[index];
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "cannot-tell", module->record);
    f.module = index;
    f.unit = module->unit;
    f.image = image;
    f.offset = s->check->in->images[image]->offset;
    f.message = "an image of this module could not be read, so which targets it is for cannot be "
                "told";
    f.hint = dvi_hint_of_damage;
    return dvi_say(s->check, &f, err);
}

static enum devimg_status run_module(struct state *s, uint32_t index, struct devimg_error *err)
{
    const struct dvi_check *check = s->check;
    const struct devimg_module *module = check->in->modules[index];
    const bool is_result = dvi_is_link_result(check, module);
    bool has_native = false;
    if (is_result && !s->inputs_known)
        DVI_TRY(look_at_inputs(s, check->in->records[module->record], err));
    memset(s->served, 0, check->target_count);
    memset(s->gaps, 0, check->policy->gaps.count);
    DVI_TRY(look_at_images(s, module, &has_native, err));
    for (uint32_t i = 0; i < module->image_count; i++)
        if (is_unreadable(s, module, i))
            return say_unreadable(s, index, module->images[i], err);
    for (size_t i = 0; i < check->target_count; i++) {
        const struct devimg_target *target = check->targets[i].row;
        if (is_served(s, s->served, i))
            continue;
        if (is_result && is_served(s, s->inputs, i)) {
            DVI_TRY(say_linked(s, index, target, err));
            continue;
        }
        const struct dvi_gap *gap = dvi_gap_for(s->check, module, target, s->gaps);
        DVI_TRY(gap != NULL ? say_gap(s, index, gap, target, err)
                            : say_missing(s, index, has_native, i, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status say_no_code(struct dvi_check *check, uint32_t record, const char *message,
                                      const char *hint, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "no-device-code", record);
    f.message = message;
    f.hint = hint;
    return dvi_say(check, &f, err);
}

enum uncovered { NO_KERNELS, KERNELS_UNKNOWN, BITCODE };

/* Of a record that has device code, and no module that needs coverage. */
static enum uncovered why_uncovered(const struct dvi_check_input *in,
                                    const struct devimg_record *record)
{
    enum uncovered why = NO_KERNELS;
    for (uint32_t i = 0; i < record->image_count; i++) {
        const struct devimg_image *image = in->images[record->first_image + i];
        if (image->format == DEVIMG_FORMAT_BITCODE)
            return BITCODE;
        if (!image->support && image->format != DEVIMG_FORMAT_ARCHIVE &&
            image->kernel_count == DEVIMG_UNKNOWN)
            why = KERNELS_UNKNOWN;
    }
    return why;
}

/* A member of a library that cannot be told is said, also when its neighbours are fine. */
static enum devimg_status say_uncovered(struct dvi_check *check, uint32_t index, bool *said,
                                        struct devimg_error *err)
{
    const struct devimg_record *record = check->in->records[index];
    const enum uncovered why = why_uncovered(check->in, record);
    if (record->image_count == 0 || why == NO_KERNELS)
        return DEVIMG_OK;
    *said = true;
    if (why == KERNELS_UNKNOWN)
        return say_no_code(
            check, index,
            "the kernels of the device code are unknown, and the policy asks for targets",
            "see what list says of its images", err);
    return say_no_code(
        check, index,
        "the device code is bitcode, which has no native images yet, and the policy asks for "
        "targets",
        record->linked == DEVIMG_NO
            ? "compile with -fno-sycl-rdc to have them made here, or check what the link makes"
            : "compile and link with -fsycl, or ask for no targets",
        err);
}

static enum devimg_status run_modules(struct state *s, struct devimg_error *err)
{
    static const char hint[] = "compile and link with -fsycl, or ask for no targets";
    const struct dvi_check_input *in = s->check->in;
    const uint32_t file = in->record_count > 0 ? 0 : DEVIMG_NONE;
    bool any_covered = false, said = false;
    DVI_TRY(dvi_say_elsewhere(s->check, &said, err));
    if (in->image_count == 0 && said)
        return DEVIMG_OK;
    if (in->image_count == 0 && dvi_is_partly_read(s->check))
        return say_no_code(s->check, file,
                           "no device code could be read, and the policy asks for targets",
                           dvi_hint_of_damage, err);
    if (in->image_count == 0)
        return say_no_code(s->check, file,
                           "the file has no device code, and the policy asks for targets", hint,
                           err);
    for (uint32_t r = 0; r < in->record_count; r++) {
        const struct devimg_record *record = in->records[r];
        bool covered = false;
        s->inputs_known = false;
        for (uint32_t i = 0; i < record->module_count; i++) {
            const uint32_t module = record->first_module + i;
            if (!dvi_needs_coverage(s->check, in->modules[module]))
                continue;
            covered = any_covered = true;
            DVI_TRY(run_module(s, module, err));
        }
        if (!covered)
            DVI_TRY(say_uncovered(s->check, r, &said, err));
    }
    if (any_covered || said)
        return DEVIMG_OK;
    return say_no_code(s->check, file,
                       "the device code has no kernels, and the policy asks for targets", hint,
                       err);
}

/* Once a record: how many images are patch tokens, or (without targets) native at all. */
static enum devimg_status say_once(struct dvi_check *check, uint32_t record, bool patchtoken,
                                   struct devimg_error *err)
{
    const struct devimg_record *r = check->in->records[record];
    uint32_t first = DEVIMG_NONE, count = 0;
    for (uint32_t i = 0; i < r->image_count; i++) {
        const struct devimg_image *image = check->in->images[r->first_image + i];
        const bool is_one =
            patchtoken ? image->format == DEVIMG_FORMAT_PATCHTOKEN : dvi_is_native(image);
        if (is_one && count++ == 0)
            first = r->first_image + i;
    }
    if (count == 0)
        return DEVIMG_OK;
    struct devimg_finding f =
        dvi_finding_of(patchtoken ? DEVIMG_WARNING : DEVIMG_ERROR,
                       patchtoken ? "patchtoken" : "native-without-targets", record);
    f.image = first;
    f.offset = check->in->images[first]->offset;
    f.message =
        patchtoken
            ? dvi_message(check,
                          "%" PRIu32 " image%s in the older patch-token form, which drivers from "
                          "26.18 on do not read",
                          count, count == 1 ? " is" : "s are")
            : dvi_message(check, "%" PRIu32 " native image%s, and the policy lists no target",
                          count, count == 1 ? "" : "s");
    f.hint = patchtoken ? "give ocloc --format zebin, or use a newer ocloc"
             : check->in->images[first]->format == DEVIMG_FORMAT_AMDGPU
                 ? "list the targets, or build without --offload-arch"
             : check->in->images[first]->format == DEVIMG_FORMAT_CUBIN
                 ? "list the targets, or have nvcc make PTX alone (code=compute_NN)"
                 : "list the targets, or build without -fsycl-targets=spir64_gen";
    return dvi_say(check, &f, err);
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->has_targets;
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    const bool asked = check->target_count > 0;
    for (uint32_t i = 0; i < check->in->record_count; i++)
        DVI_TRY(say_once(check, i, asked, err));
    if (!asked)
        return DEVIMG_OK;
    struct state s = { .check = check,
                       .served = calloc(check->target_count, 1),
                       .inputs = calloc(check->target_count, 1),
                       .gaps = calloc(check->policy->gaps.count + 1, 1) };
    enum devimg_status st = s.served != NULL && s.inputs != NULL && s.gaps != NULL
                                ? run_modules(&s, err)
                                : dvi_fail_memory(err, "targets");
    free(s.served);
    free(s.inputs);
    free(s.gaps);
    return st;
}

/* What asking the ocloc of the policy came to, and what stands twice in the list. */
static enum devimg_status finish(struct dvi_check *check, struct devimg_error *err)
{
    const struct dvi_memory *memory = dvi_memory_of(check);
    for (size_t i = 0; i < memory->ocloc_count; i++) {
        const struct dvi_ocloc_note *note = &memory->ocloc[i];
        struct devimg_finding f = dvi_finding_of(note->severity, note->code, DEVIMG_NONE);
        f.target = note->target;
        f.message = note->message;
        f.hint = note->hint;
        DVI_TRY(dvi_say(check, &f, err));
    }
    return dvi_say_repeated(check, "targets", &check->policy->targets, err);
}

const struct dvi_rule dvi_rule_targets = { .wanted = wanted, .run = run, .finish = finish };
