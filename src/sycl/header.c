/* SPDX-License-Identifier: Apache-2.0 */
#include "sycl/header.h"

#include <stdlib.h>
#include <string.h>

/* The names of the targets, or of those that refuse a size (0: of all); NULL: no memory. */
static const char *names_of(struct dvi_sycl_header *h, uint64_t size)
{
    size_t room = 1;
    for (size_t i = 0; i < h->sizes.targets.count; i++)
        room += strlen(h->sizes.targets.items[i]->name) + 1;
    char *text = dvi_arena_array(&h->arena, room, 1);
    char *at = text;
    for (size_t i = 0; i < h->sizes.targets.count && text != NULL; i++) {
        const struct devimg_target *target = h->sizes.targets.items[i];
        if (size == 0 || dvi_target_refuses_size(target, size))
            at = stpcpy(at > text ? stpcpy(at, ",") : at, target->name);
    }
    return text;
}

static enum devimg_status add_refused_sizes(struct dvi_sycl_header *h, struct devimg_error *err)
{
    uint32_t some = 0;
    for (size_t i = 0; i < h->sizes.targets.count; i++)
        some |= h->sizes.targets.items[i]->sub_group_sizes;
    for (unsigned bit = 0; bit < 32; bit++) {
        const uint32_t size = UINT32_C(1) << bit;
        if (((some & ~h->sizes.allowed) >> bit & 1) == 0)
            continue;
        const char *names = names_of(h, size);
        struct dvi_sycl_refused_size *added = names != NULL ? DVI_ADD(&h->refused_sizes) : NULL;
        if (added == NULL)
            return dvi_fail_memory(err, "sycl header");
        *added = (struct dvi_sycl_refused_size){ size, names };
    }
    return DEVIMG_OK;
}

static enum devimg_status read_sizes(struct dvi_sycl_header *h, struct devimg_error *err)
{
    const size_t count = h->targets.list.count;
    const struct devimg_target **rows = calloc(count + 1, sizeof *rows);
    if (rows == NULL)
        return dvi_fail_memory(err, "sycl header");
    for (size_t i = 0; i < count; i++)
        rows[i] = h->targets.list.items[i].row;
    const enum devimg_status status = dvi_sizes_read(rows, count, &h->sizes, err);
    free(rows);
    return status;
}

enum devimg_status dvi_sycl_header_make(const struct dvi_sycl_header_asked *asked,
                                        struct dvi_sycl_header *out, struct devimg_error *err)
{
    *out = (struct dvi_sycl_header){ .prefix = asked->prefix,
                                     .space = asked->space,
                                     .anchor = asked->anchor };
    const struct dvi_sycl_targets_asked list = { .lists = asked->lists, .count = asked->count };
    DVI_TRY(dvi_sycl_targets_read(&list, &out->targets, err));
    out->refused = out->targets.refused;
    if (out->refused)
        return DEVIMG_OK;
    DVI_TRY(read_sizes(out, err));
    out->refused = out->sizes.allowed == 0;
    out->names = names_of(out, 0);
    if (out->names == NULL)
        return dvi_fail_memory(err, "sycl header");
    return add_refused_sizes(out, err);
}

void dvi_sycl_header_free(struct dvi_sycl_header *header)
{
    dvi_sycl_targets_free(&header->targets);
    dvi_sizes_free(&header->sizes);
    DVI_LIST_FREE(&header->refused_sizes);
    dvi_arena_free(&header->arena);
}
