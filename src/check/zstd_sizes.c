/* SPDX-License-Identifier: Apache-2.0 */
/* What zstd would make of images that are raw or under another codec: rules see records, so that it is
 * measured before they run. What cannot be read stays unknown; the rule `damaged` says why. */
#include <stdlib.h>

#include "base/pool.h"
#include "check/report.h"
#include "check/stored_raw.h"
#include "codec/codec.h"
#include "model/model.h"

struct measuring {
    struct devimg_file *file;
    const struct dvi_check_input *in;
    uint32_t *stored; /* images that have bytes in the file, and something to measure */
    size_t count;
    uint64_t *sizes;
};

/* One stored image. The sink comes first: it leads back here. */
struct stored {
    struct dvi_bytes_sink sink;
    const struct measuring *of;
    uint32_t first;
    struct dvi_zstd_measure together; /* of what is compressed as one */
    uint32_t first_together;          /* NONE: nothing is */
};

static bool is_asked(const struct dvi_check_input *in, const struct devimg_image *image)
{
    if (image->parent != DEVIMG_NONE)
        return false;
    return image->compression == DEVIMG_COMPRESSION_NONE
               ? dvi_is_stored_raw(in->records[image->record], image)
               : image->compression != DEVIMG_COMPRESSION_ZSTD;
}

static void take(struct dvi_bytes_sink *sink, uint32_t index, struct dvi_view bytes)
{
    struct stored *stored = (struct stored *)sink;
    const uint32_t at = stored->first + index;
    const struct devimg_image *image = stored->of->in->images[at];
    if (!is_asked(stored->of->in, image))
        return;
    if (image->bundle_offset == DEVIMG_UNKNOWN) {
        struct dvi_zstd_measure alone = dvi_zstd_measure_begin(DVI_ZSTD_LEVEL);
        dvi_zstd_measure_add(&alone, bytes);
        stored->of->sizes[at] = dvi_zstd_measure_end(&alone);
        return;
    }
    if (stored->first_together == DEVIMG_NONE) {
        stored->first_together = at;
        stored->together = dvi_zstd_measure_begin(DVI_ZSTD_LEVEL);
    }
    stored->of->sizes[at] = 0;
    dvi_zstd_measure_add(&stored->together, bytes);
}

static void measure(void *context, size_t index, unsigned number)
{
    struct measuring *m = context;
    struct stored stored = {
        .sink = { .image = take }, .of = m, .first = m->stored[index], .first_together = DEVIMG_NONE
    };
    struct dvi_worker worker = { 0 };
    struct dvi_described described = { 0 };
    struct devimg_error unsaid;
    uint64_t inflated = 0;
    (void)number;
    enum devimg_status status = dvi_charge_images(
        m->file, stored.first, dvi_stored_end(m->file, stored.first), &inflated, &unsaid);
    if (status == DEVIMG_OK)
        status = dvi_describe_bytes(m->file, &m->file->placed.items[stored.first], &stored.sink,
                                    &worker, &described, &unsaid);
    if (stored.first_together != DEVIMG_NONE) {
        const uint64_t size = dvi_zstd_measure_end(&stored.together);
        m->sizes[stored.first_together] = status == DEVIMG_OK ? size : DEVIMG_UNKNOWN;
    }
    dvi_described_free(&described);
    dvi_arena_free(&worker.arena);
    dvi_buffer_free(&worker.buffer);
}

/* Each stored image once, with all that it holds. */
static void list_stored(struct measuring *m)
{
    for (uint32_t i = 0, end; i < m->in->image_count; i = end) {
        bool asked = false;
        end = dvi_stored_end(m->file, i);
        for (uint32_t k = i; k < end; k++) {
            m->sizes[k] = DEVIMG_UNKNOWN;
            asked = asked || is_asked(m->in, m->in->images[k]);
        }
        if (asked)
            m->stored[m->count++] = i;
    }
}

enum devimg_status dvi_measure_zstd(struct devimg_file *file, const struct dvi_check_input *in,
                                    uint64_t **out, struct devimg_error *err)
{
    const size_t count = (size_t)in->image_count + 1;
    struct measuring m = { .file = file,
                           .in = in,
                           .stored = calloc(count, sizeof *m.stored),
                           .sizes = calloc(count, sizeof *m.sizes) };
    if (m.stored == NULL || m.sizes == NULL) {
        free(m.stored);
        free(m.sizes);
        return dvi_fail_memory(err, "compression");
    }
    list_stored(&m);
    dvi_pool_run(m.count, file->opts.threads, measure, &m);
    free(m.stored);
    *out = m.sizes;
    return DEVIMG_OK;
}
