/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sub-group-size: a kernel that requires a size which a target refuses. For a native image the
 * compile would have failed; a portable image fails when the driver compiles it. So a portable
 * image is held to every target, and to the default list too when the policy names one device or
 * none: such a build never compiles for the GPUs that refuse. Size 0 is the compiler's choice, and
 * size 1 marks ESIMD code (docs/format/spirv.md), in whatever format: neither is a request.
 *
 * AMD code states the wavefront size that it was compiled for, which the hardware does not choose: a
 * required size that differs from it, or a list that does not hold it, is refused as well.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "check/check.h"
#include "target/sizes.h"

/* A kernel, or an image whose kernels are not known, that requires a size. */
struct request {
    uint32_t record, module, image;
    const char *kernel; /* NULL: every kernel of the image */
    uint64_t size;
};

struct state {
    struct dvi_check *check;
    struct dvi_sizes portable; /* what portable images are held to */
    DVI_LIST(struct request) requests;
    DVI_LIST(const struct devimg_target *) refused; /* of the kernel at hand */
};

static bool is_stated(uint64_t size)
{
    return size != DEVIMG_UNKNOWN && size != 0;
}

static bool is_request(uint64_t size)
{
    return is_stated(size) && size != 1;
}

/* What the properties of an image state; a member's are those of its archive. */
static uint64_t size_of_image(const struct dvi_check_input *in, const struct devimg_image *image)
{
    if (image->required_sub_group_size == DEVIMG_UNKNOWN && image->parent != DEVIMG_NONE)
        return in->images[image->parent]->required_sub_group_size;
    return image->required_sub_group_size;
}

static enum devimg_status add_request(struct state *s, uint32_t image_index, const char *kernel,
                                      uint64_t size, struct devimg_error *err)
{
    const struct devimg_image *image = s->check->in->images[image_index];
    struct request *r = DVI_ADD(&s->requests);
    if (r == NULL)
        return dvi_fail_memory(err, "sub-group-size");
    *r = (struct request){ image->record, image->module, image_index, kernel, size };
    return DEVIMG_OK;
}

/* Kernels stand in the order of their images: one pass over both. */
static enum devimg_status collect(struct state *s, struct devimg_error *err)
{
    const struct dvi_check_input *in = s->check->in;
    uint32_t k = 0;
    for (uint32_t i = 0; i < in->image_count; i++) {
        const uint64_t whole = size_of_image(in, in->images[i]);
        const uint32_t first = k;
        for (; k < in->kernel_count && in->kernels[k]->image == i; k++) {
            const struct devimg_kernel *kernel = in->kernels[k];
            const uint64_t size = is_stated(kernel->required_sub_group_size)
                                      ? kernel->required_sub_group_size
                                      : whole;
            if (is_request(size) && (kernel->features & DEVIMG_FEATURE_ESIMD) == 0)
                DVI_TRY(add_request(s, i, kernel->name, size, err));
        }
        if (k == first && is_request(whole) && !in->images[i]->support &&
            in->images[i]->format != DEVIMG_FORMAT_ARCHIVE)
            DVI_TRY(add_request(s, i, NULL, whole, err));
    }
    return DEVIMG_OK;
}

/* What makes two requests one: native and portable images of a module ask the same thing. */
static int compare_kernels(const struct request *a, const struct request *b)
{
    int order = dvi_compare_numbers(a->record, b->record);
    if (order == 0)
        order = dvi_compare_numbers(a->module, b->module);
    if (order == 0)
        order = dvi_compare_text(a->kernel, b->kernel);
    return order != 0 ? order : dvi_compare_numbers(a->size, b->size);
}

static int compare_requests(const void *a, const void *b)
{
    const struct request *x = a, *y = b;
    const int order = compare_kernels(x, y);
    return order != 0 ? order : dvi_compare_numbers(x->image, y->image);
}

/* A target whose sizes no table knows refuses nothing here: the rule unmeasured says so. */
static enum devimg_status add_refused(struct state *s, const struct devimg_target *target,
                                      uint64_t size, struct devimg_error *err)
{
    if (target == NULL || !dvi_target_refuses_size(target, size))
        return DEVIMG_OK;
    for (size_t i = 0; i < s->refused.count; i++)
        if (s->refused.items[i] == target)
            return DEVIMG_OK;
    const struct devimg_target **added = DVI_ADD(&s->refused);
    if (added == NULL)
        return dvi_fail_memory(err, "sub-group-size");
    *added = target;
    return DEVIMG_OK;
}

static enum devimg_status add_refused_by(struct state *s, const struct request *r,
                                         struct devimg_error *err)
{
    const struct devimg_image *image = s->check->in->images[r->image];
    if (dvi_is_native(image))
        return add_refused(s, dvi_target_of_image(image), r->size, err);
    for (size_t i = 0; dvi_is_portable(s->check, image) && i < s->portable.targets.count; i++)
        DVI_TRY(add_refused(s, s->portable.targets.items[i], r->size, err));
    return DEVIMG_OK;
}

static const char hint[] = "require a size that every target accepts, or none";

static enum devimg_status say(struct state *s, const struct request *r, const char *target,
                              const char *message, struct devimg_error *err)
{
    struct devimg_finding f = dvi_finding_of(DEVIMG_ERROR, "size-refused", r->record);
    f.module = r->module;
    f.image = r->image;
    f.unit = s->check->in->images[r->image]->unit;
    f.kernel = r->kernel;
    f.target = target;
    f.message = message;
    f.hint = hint;
    return dvi_say(s->check, &f, err);
}

/* One message for all targets that refuse, so that the finding of each reads the same. */
static enum devimg_status say_refused(struct state *s, const struct request *r,
                                      struct devimg_error *err)
{
    char names[DVI_NAMES_SIZE], sizes[DVI_SIZES_ROOM];
    uint32_t common = UINT32_MAX;
    if (s->refused.count == 0)
        return DEVIMG_OK;
    for (size_t i = 0; i < s->refused.count; i++)
        common &= s->refused.items[i]->sub_group_sizes;
    dvi_rows_text(s->refused.items, s->refused.count, names);
    dvi_sizes_text(common, ", ", sizes);
    const char *message =
        dvi_message(s->check, "requires sub-group size %" PRIu64 "; %s accept%s %s%s", r->size,
                    names, s->refused.count == 1 ? "s" : "", common != 0 ? sizes : "other sizes",
                    common != 0 ? " only" : "");
    for (size_t i = 0; i < s->refused.count; i++)
        DVI_TRY(say(s, r, s->refused.items[i]->name, message, err));
    return DEVIMG_OK;
}

static enum devimg_status say_unlisted(struct state *s, const struct request *r,
                                       struct devimg_error *err)
{
    char sizes[DVI_SIZES_ROOM];
    dvi_sizes_text(s->check->policy->listed_sizes, ", ", sizes);
    return say(s, r, NULL,
               dvi_message(s->check,
                           "requires sub-group size %" PRIu64 "; the policy accepts %s only",
                           r->size, sizes),
               err);
}

static enum devimg_status say_wavefront(struct state *s, const struct devimg_kernel *kernel,
                                        uint64_t required, struct devimg_error *err)
{
    const struct request r = { kernel->record, kernel->module, kernel->image, kernel->name,
                               kernel->sub_group_size };
    const char *target = s->check->in->images[kernel->image]->target;
    char sizes[DVI_SIZES_ROOM];
    if (is_request(required))
        return say(s, &r, target,
                   dvi_message(s->check,
                               "requires sub-group size %" PRIu64
                               "; it was compiled for wavefronts of %" PRIu64,
                               required, kernel->sub_group_size),
                   err);
    dvi_sizes_text(s->check->policy->listed_sizes, ", ", sizes);
    return say(s, &r, target,
               dvi_message(s->check,
                           "compiled for wavefronts of %" PRIu64 "; the policy accepts %s only",
                           kernel->sub_group_size, sizes),
               err);
}

/* A size that is refused for itself is said of the request. */
static bool is_refused(const struct state *s, const struct devimg_image *image, uint64_t size)
{
    const struct devimg_policy *policy = s->check->policy;
    const struct devimg_target *row = dvi_target_of_image(image);
    return policy->sub_group_sizes == DVI_CHOICE_LISTED
               ? !dvi_size_is_in(policy->listed_sizes, size)
               : row != NULL && dvi_target_refuses_size(row, size);
}

static enum devimg_status run_wavefronts(struct state *s, struct devimg_error *err)
{
    const struct dvi_check_input *in = s->check->in;
    const struct devimg_policy *policy = s->check->policy;
    for (uint32_t i = 0; i < in->kernel_count; i++) {
        const struct devimg_kernel *kernel = in->kernels[i];
        const struct devimg_image *image = in->images[kernel->image];
        const uint64_t required = size_of_image(in, image);
        if (image->format != DEVIMG_FORMAT_AMDGPU || !is_stated(kernel->sub_group_size))
            continue;
        if ((is_request(required) && required != kernel->sub_group_size &&
             !is_refused(s, image, required)) ||
            (!is_request(required) && policy->sub_group_sizes == DVI_CHOICE_LISTED &&
             !dvi_size_is_in(policy->listed_sizes, kernel->sub_group_size)))
            DVI_TRY(say_wavefront(s, kernel, required, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status run_requests(struct state *s, struct devimg_error *err)
{
    const struct devimg_policy *policy = s->check->policy;
    struct request *items = s->requests.items;
    if (s->requests.count > 0)
        qsort(items, s->requests.count, sizeof *items, compare_requests);
    for (size_t i = 0, next; i < s->requests.count; i = next) {
        s->refused.count = 0;
        for (next = i; next < s->requests.count && compare_kernels(&items[i], &items[next]) == 0;
             next++)
            if (policy->sub_group_sizes != DVI_CHOICE_LISTED)
                DVI_TRY(add_refused_by(s, &items[next], err));
        if (policy->sub_group_sizes != DVI_CHOICE_LISTED)
            DVI_TRY(say_refused(s, &items[i], err));
        else if (!dvi_size_is_in(policy->listed_sizes, items[i].size))
            DVI_TRY(say_unlisted(s, &items[i], err));
    }
    return DEVIMG_OK;
}

static enum devimg_status take_targets(struct state *s, struct devimg_error *err)
{
    const size_t count = s->check->target_count;
    const struct devimg_target **rows = calloc(count + 1, sizeof *rows);
    if (rows == NULL)
        return dvi_fail_memory(err, "sub-group-size");
    for (size_t i = 0; i < count; i++)
        rows[i] = s->check->targets[i].row;
    const enum devimg_status status = dvi_sizes_read(rows, count, &s->portable, err);
    free(rows);
    return status;
}

static bool wanted(const struct devimg_policy *policy)
{
    return policy->sub_group_sizes != DVI_CHOICE_ANY &&
           (policy->has_targets || policy->sub_group_sizes != DVI_CHOICE_UNSET);
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    struct state s = { .check = check };
    enum devimg_status st = take_targets(&s, err);
    if (st == DEVIMG_OK)
        st = collect(&s, err);
    if (st == DEVIMG_OK)
        st = run_requests(&s, err);
    if (st == DEVIMG_OK)
        st = run_wavefronts(&s, err);
    DVI_LIST_FREE(&s.requests);
    DVI_LIST_FREE(&s.refused);
    dvi_sizes_free(&s.portable);
    return st;
}

const struct dvi_rule dvi_rule_sub_group_size = { .wanted = wanted, .run = run };
