/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unmeasured: targets and images that the tables know nothing of, so that silence about them
 * proves nothing. A target is measured when the sub-group sizes it accepts are known.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "check/check.h"
#include "image/image.h"

struct unknown {
    uint32_t record, image;
    uint64_t ip;
};
struct state {
    DVI_LIST(struct unknown) list;
};

static int compare(const void *a, const void *b)
{
    const struct unknown *x = a, *y = b;
    if (x->record != y->record)
        return x->record < y->record ? -1 : 1;
    if (x->ip != y->ip)
        return x->ip < y->ip ? -1 : 1;
    return (x->image > y->image) - (x->image < y->image);
}

static enum devimg_status collect(const struct dvi_check *check, struct state *s,
                                  struct devimg_error *err)
{
    for (uint32_t i = 0; i < check->in->image_count; i++) {
        const struct devimg_image *image = check->in->images[i];
        if (!dvi_is_native(image) || image->ip_version == DEVIMG_UNKNOWN ||
            dvi_target_of_ip_or_former(image->ip_version) != NULL)
            continue;
        struct unknown *added = DVI_ADD(&s->list);
        if (added == NULL)
            return dvi_fail_memory(err, "unmeasured");
        *added = (struct unknown){ image->record, i, image->ip_version };
    }
    if (s->list.count > 0)
        qsort(s->list.items, s->list.count, sizeof *s->list.items, compare);
    return DEVIMG_OK;
}

static enum devimg_status say_unknown(struct dvi_check *check, const struct unknown *first,
                                      size_t count, struct devimg_error *err)
{
    char ip[24];
    dvi_ip_text(first->ip, ip);
    struct devimg_finding f = dvi_finding_of(DEVIMG_NOTE, "unknown-ip", first->record);
    f.image = first->image;
    f.target = check->in->images[first->image]->target;
    f.offset = check->in->images[first->image]->offset;
    f.message = dvi_message(check, "%zu image%s for IP version %s, which no table has", count,
                            count == 1 ? "" : "s", ip);
    f.hint = "a newer devimg may know it";
    return dvi_say(check, &f, err);
}

static enum devimg_status say_images(struct dvi_check *check, const struct state *s,
                                     struct devimg_error *err)
{
    for (size_t i = 0, next; i < s->list.count; i = next) {
        for (next = i + 1; next < s->list.count; next++)
            if (s->list.items[next].record != s->list.items[i].record ||
                s->list.items[next].ip != s->list.items[i].ip)
                break;
        DVI_TRY(say_unknown(check, &s->list.items[i], next - i, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status say_target(struct dvi_check *check, const struct devimg_target *target,
                                     struct devimg_error *err)
{
    struct devimg_finding f =
        dvi_finding_of(DEVIMG_ERROR, "unmeasured", check->in->record_count > 0 ? 0 : DEVIMG_NONE);
    f.target = target->name;
    f.message =
        dvi_message(check, "the tables do not say which sub-group sizes %s accepts", target->name);
    f.hint =
        dvi_target_is_amd(target)
            ? "a newer devimg may know it"
            : "measure it (one kernel with intel_reqd_sub_group_size) and add it to the tables";
    return dvi_say(check, &f, err);
}

static enum devimg_status run(struct dvi_check *check, struct devimg_error *err)
{
    struct state s = { 0 };
    for (size_t i = 0; i < check->target_count; i++)
        if (check->targets[i].row->sub_group_sizes == 0)
            DVI_TRY(say_target(check, check->targets[i].row, err));
    enum devimg_status st = collect(check, &s, err);
    if (st == DEVIMG_OK)
        st = say_images(check, &s, err);
    DVI_LIST_FREE(&s.list);
    return st;
}

const struct dvi_rule dvi_rule_unmeasured = { .run = run };
