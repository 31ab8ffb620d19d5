/* SPDX-License-Identifier: Apache-2.0 */
#include "target/sizes.h"

#include <inttypes.h>
#include <stdio.h>

static enum devimg_status add(struct dvi_sizes *sizes, const struct devimg_target *row,
                              struct devimg_error *err)
{
    for (size_t i = 0; i < sizes->targets.count; i++)
        if (sizes->targets.items[i] == row)
            return DEVIMG_OK;
    const struct devimg_target **added = DVI_ADD(&sizes->targets);
    if (added == NULL)
        return dvi_fail_memory(err, "sub-group sizes");
    *added = row;
    if (row->sub_group_sizes != 0)
        return DEVIMG_OK;
    added = DVI_ADD(&sizes->unmeasured);
    if (added == NULL)
        return dvi_fail_memory(err, "sub-group sizes");
    *added = row;
    return DEVIMG_OK;
}

static enum devimg_status add_default(struct dvi_sizes *sizes, struct devimg_error *err)
{
    struct dvi_target_set set = { 0 };
    struct dvi_arena arena = { 0 };
    enum devimg_status status = dvi_target_set_add(&set, "default-intel", &arena, err);
    for (size_t i = 0; i < set.known.count && status == DEVIMG_OK; i++)
        status = add(sizes, set.known.items[i], err);
    dvi_target_set_free(&set);
    dvi_arena_free(&arena);
    return status;
}

/* Two names of one IP version are one device. */
static bool is_of_several_devices(const struct dvi_sizes *sizes)
{
    for (size_t i = 1; i < sizes->targets.count; i++)
        if (sizes->targets.items[i]->ip_version != sizes->targets.items[0]->ip_version ||
            sizes->targets.items[i]->machine != sizes->targets.items[0]->machine)
            return true;
    return false;
}

enum devimg_status dvi_sizes_read(const struct devimg_target *const *rows, size_t count,
                                  struct dvi_sizes *out, struct devimg_error *err)
{
    *out = (struct dvi_sizes){ 0 };
    for (size_t i = 0; i < count; i++)
        DVI_TRY(add(out, rows[i], err));
    out->with_default = !is_of_several_devices(out);
    if (out->with_default)
        DVI_TRY(add_default(out, err));
    out->allowed = out->targets.count > 0 ? UINT32_MAX : 0;
    for (size_t i = 0; i < out->targets.count; i++) /* one that nobody measured leaves nothing */
        out->allowed &= out->targets.items[i]->sub_group_sizes;
    return DEVIMG_OK;
}

void dvi_sizes_free(struct dvi_sizes *sizes)
{
    DVI_LIST_FREE(&sizes->targets);
    DVI_LIST_FREE(&sizes->unmeasured);
}

bool dvi_size_is_in(uint32_t sizes, uint64_t size)
{
    for (unsigned bit = 0; bit < 32; bit++)
        if (size == UINT64_C(1) << bit)
            return (sizes >> bit & 1) != 0;
    return false;
}

bool dvi_target_refuses_size(const struct devimg_target *target, uint64_t size)
{
    return target->sub_group_sizes != 0 && !dvi_size_is_in(target->sub_group_sizes, size);
}

const char *dvi_sizes_text(uint32_t sizes, const char *between, char out[DVI_SIZES_ROOM])
{
    size_t used = 0;
    *out = '\0';
    for (unsigned bit = 0; bit < 32 && used < DVI_SIZES_ROOM; bit++)
        if ((sizes >> bit & 1) != 0)
            used += (size_t)snprintf(out + used, DVI_SIZES_ROOM - used, "%s%" PRIu32,
                                     used > 0 ? between : "", UINT32_C(1) << bit);
    return out;
}
