/* SPDX-License-Identifier: Apache-2.0 */
/* devimg_image_bytes(): what an image is made of. */
#include <inttypes.h>

#include "model/model.h"

/* What is read for one image. The sink comes first: describing leads back here. */
struct reading {
    struct dvi_bytes_sink sink;
    uint32_t wanted; /* counted from the stored image */
    bool given;
    enum devimg_status status;
    enum devimg_status (*take)(void *context, const void *bytes, size_t size,
                               struct devimg_error *err);
    void *context;
    struct devimg_error *err;
};

static void give(struct dvi_bytes_sink *sink, uint32_t index, struct dvi_view bytes)
{
    struct reading *r = (struct reading *)sink;
    if (index != r->wanted)
        return;
    r->given = true;
    r->status = r->take(r->context, bytes.data, bytes.size, r->err);
}

uint32_t dvi_stored_image(const struct devimg_file *file, uint32_t i)
{
    while (i > 0 && file->placed.items[i].bytes.size == 0)
        i--;
    return i;
}

uint32_t dvi_stored_end(const struct devimg_file *file, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < file->images.count && file->placed.items[end].bytes.size == 0)
        end++;
    return end;
}

enum devimg_status dvi_charge_images(const struct devimg_file *file, uint32_t first, uint32_t end,
                                     uint64_t *inflated, struct devimg_error *err)
{
    const uint64_t most = file->opts.max_total_inflated_size;
    for (uint32_t i = first; i < end; i++) {
        const struct devimg_image *image = &file->images.items[i];
        if (image->compression == DEVIMG_COMPRESSION_NONE ||
            image->size > file->opts.max_inflated_size) /* that one is refused by its size */
            continue;
        if (image->size > most - *inflated)
            return dvi_fail_plain(
                err, DEVIMG_LIMIT, file->placed.items[first].bytes.source,
                "more than %" PRIu64 " bytes to inflate (max-total-inflated-size)", most);
        *inflated += image->size;
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_not_given(const struct dvi_described *described, uint32_t index,
                                 const char *source, struct devimg_error *err)
{
    for (size_t i = 0; i < described->damage.count; i++) {
        const struct dvi_damage *damage = &described->damage.items[i];
        if (damage->image != index && damage->image != DEVIMG_NONE)
            continue;
        if (err != NULL)
            *err = damage->error;
        return damage->error.status;
    }
    return dvi_fail_plain(err, DEVIMG_IO, source, "the file changed while it was read");
}

enum devimg_status devimg_image_bytes(struct devimg_file *file, uint32_t image, int as_stored,
                                      enum devimg_status (*sink)(void *context, const void *bytes,
                                                                 size_t size,
                                                                 struct devimg_error *err),
                                      void *context, struct devimg_error *err)
{
    if (image >= file->images.count)
        return DEVIMG_END;
    const uint32_t first = dvi_stored_image(file, image);
    const struct dvi_placed *placed = &file->placed.items[first];
    const char *source = placed->bytes.source;
    struct reading r = { .sink = { .as_stored = as_stored != 0, .image = give },
                         .wanted = image - first,
                         .take = sink,
                         .context = context,
                         .err = err };
    uint64_t inflated = 0;
    if (as_stored != 0 && file->images.items[image].parent != DEVIMG_NONE)
        return dvi_fail_plain(err, DEVIMG_UNSUPPORTED, source,
                              "image %" PRIu32 " is a member of another: only that one is stored",
                              image);
    if (as_stored != 0 && file->images.items[image].stored_size == DEVIMG_UNKNOWN)
        return dvi_fail_plain(err, DEVIMG_UNSUPPORTED, source,
                              "image %" PRIu32 " is compressed together with others", image);
    if (as_stored == 0)
        DVI_TRY(dvi_charge_images(file, first, dvi_stored_end(file, first), &inflated, err));
    struct dvi_worker worker = { 0 };
    struct dvi_described described = { 0 };
    enum devimg_status status = dvi_describe_bytes(file, placed, &r.sink, &worker, &described, err);
    if (r.given)
        status = r.status;
    else if (status == DEVIMG_OK)
        status = dvi_not_given(&described, r.wanted, source, err);
    if (status == DEVIMG_OK && dvi_was_cut(file))
        status = dvi_fail_plain(err, DEVIMG_IO, source, "the file was cut while it was read");
    dvi_described_free(&described);
    dvi_arena_free(&worker.arena);
    dvi_buffer_free(&worker.buffer);
    return status;
}
