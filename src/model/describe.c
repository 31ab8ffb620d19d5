/* SPDX-License-Identifier: Apache-2.0 */
/* One stored image: inflate it where that is needed, and say what it holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "model/model.h"
#include "target/target.h"

/* The bytes that images are found in: the file's, or those of a frame that was inflated. */
struct bytes_at_hand {
    struct dvi_view container; /* the parent's bytes, inflated */
    uint64_t size;             /* of all of them */
    uint64_t inside_size;      /* of all that was found in them, together */
    bool inflated;             /* they live in the worker's buffer: offsets are not the file's */
    enum devimg_compression packed;  /* NONE, or what a whole packing of images was under */
    uint64_t packed_at, packed_size; /* of that packing, in the file */
};

/* One call of dvi_describe(). The sink comes first, so that a walker's pointer leads back here. */
struct describing {
    struct dvi_found found;
    struct devimg_file *file;
    struct dvi_worker *worker;
    struct dvi_described *out;
    struct dvi_bytes_sink *sink; /* where bytes are handed to; of DVI_BYTES */
    enum dvi_depth depth;
    uint32_t nesting;
    uint32_t parent;        /* of what is found now, index in `out` */
    uint64_t stored_offset; /* of the stored image in its file */
    struct bytes_at_hand hand;
    char inflated_name[64]; /* source of the bytes that inflate_inside() hands out */
};

static enum devimg_status keep(struct describing *d, enum devimg_status status, uint32_t image,
                               const struct devimg_error *error)
{
    enum { MOST_DAMAGE = 1000 };
    const size_t count = d->out->damage.count;
    if (count >= MOST_DAMAGE)
        return DEVIMG_OK;
    const struct dvi_damage *last = count > 0 ? &d->out->damage.items[count - 1] : NULL;
    if (last != NULL && last->image == image && last->error.offset == error->offset &&
        strcmp(last->error.text, error->text) == 0) /* facts and kernels met the same */
        return DEVIMG_OK;
    struct dvi_damage *damage = DVI_ADD(&d->out->damage);
    if (damage == NULL)
        return DEVIMG_NOMEM;
    damage->image = image;
    damage->error = *error;
    damage->error.status = status;
    if (d->out->damage.count == MOST_DAMAGE)
        (void)snprintf(damage->error.text, sizeof damage->error.text,
                       "%d places are damaged: further ones are left out", (int)MOST_DAMAGE);
    return DEVIMG_OK;
}

static bool is_damage(enum devimg_status status)
{
    return status == DEVIMG_TRUNCATED || status == DEVIMG_MALFORMED || status == DEVIMG_UNSUPPORTED;
}

static enum devimg_status keep_of_image(struct describing *d, enum devimg_status status,
                                        uint32_t image, const struct devimg_error *error)
{
    return is_damage(status) ? keep(d, status, image, error) : status;
}

/* Offsets in inflated bytes are told apart by where those are stored. */
static uint64_t container_of(const struct describing *d, const struct dvi_placed *placed)
{
    const uint64_t inflated_bit = UINT64_C(1) << 63;
    if (placed->container == 0 || !d->hand.inflated)
        return placed->container;
    return inflated_bit | ((d->stored_offset << 31) ^ placed->container);
}

static struct dvi_described_image *add_image(struct describing *d, const struct dvi_placed *placed,
                                             struct dvi_view bytes)
{
    struct dvi_described_image *added = DVI_ADD(&d->out->images);
    if (added == NULL)
        return NULL;
    const bool is_member = d->parent != DEVIMG_NONE;
    const bool is_packed = !is_member && d->hand.packed != DEVIMG_COMPRESSION_NONE;
    added->image = (struct devimg_image){
        .record = DEVIMG_NONE,
        .parent = d->parent,
        .module = DEVIMG_NONE,
        .unit = placed->unit,
        .offload = placed->offload,
        .bundle = placed->bundle,
        .section = placed->section,
        .entry_id = placed->entry_id,
        .ip_version = DEVIMG_UNKNOWN,
        .pointer_size = DEVIMG_UNKNOWN,
        .offset = d->hand.inflated ? DEVIMG_UNKNOWN : bytes.offset,
        .offset_in_parent = is_member   ? bytes.offset - d->hand.container.offset
                            : is_packed ? bytes.offset
                                        : DEVIMG_UNKNOWN,
        .stored_size = is_packed ? DEVIMG_UNKNOWN : bytes.size,
        .compression = is_packed ? d->hand.packed : DEVIMG_COMPRESSION_NONE,
        .size = bytes.size,
        .registered = placed->registered,
        .kernel_count = DEVIMG_UNKNOWN,
        .entries = placed->entries,
        .entry_count = placed->entry_count,
        .aspects = placed->aspects,
        .aspect_count = placed->aspect_count,
        .required_sub_group_size = placed->required_sub_group_size,
        .compile_options = placed->compile_options,
        .note = placed->note,
        .device_link = placed->device_link,
        .bundle_offset = is_packed ? d->hand.packed_at : DEVIMG_UNKNOWN,
        .bundle_size = is_packed ? d->hand.packed_size : DEVIMG_UNKNOWN,
    };
    added->container = container_of(d, placed);
    if (placed->entries_known && !is_member) {
        added->image.kernel_count = placed->entry_count - placed->exported_count;
        added->image.support = placed->entry_count == 0;
    }
    return added;
}

/* The kernels' names, sorted, each once. */
static enum devimg_status keep_names(struct describing *d, uint32_t image)
{
    struct dvi_described_image *it = &d->out->images.items[image];
    const char **names = dvi_arena_array(&d->worker->arena, it->kernel_count, sizeof *names);
    if (names == NULL)
        return DEVIMG_NOMEM;
    for (uint32_t i = 0; i < it->kernel_count; i++)
        names[i] = d->out->kernels.items[it->first_kernel + i].name;
    it->names = names;
    it->name_count = dvi_names_sort(names, it->kernel_count);
    return DEVIMG_OK;
}

/* What a reader put into the sink becomes the kernels of the image. */
static enum devimg_status take_kernels(struct describing *d, uint32_t image,
                                       struct dvi_kernel_sink *sink)
{
    struct dvi_described_image *it = &d->out->images.items[image];
    enum devimg_status status = DEVIMG_OK;
    it->first_kernel = (uint32_t)d->out->kernels.count;
    for (size_t i = 0; i < sink->kernels.count && status == DEVIMG_OK; i++) {
        struct devimg_kernel *kernel = DVI_ADD(&d->out->kernels);
        if (kernel == NULL) {
            status = DEVIMG_NOMEM;
            break;
        }
        *kernel = sink->kernels.items[i];
        kernel->image = image;
        it->kernel_count++;
    }
    DVI_LIST_FREE(&sink->kernels);
    return status;
}

/* An image whose kernels no reader decodes: its container may name them, and that is all that is
 * known of them. */
static enum devimg_status take_entries(struct describing *d, const struct dvi_placed *placed,
                                       uint32_t image, struct devimg_error *err)
{
    struct dvi_kernel_sink sink = { .arena = &d->worker->arena,
                                    .most = d->file->opts.max_kernels,
                                    .so_far = &d->file->decoded };
    struct devimg_kernel *kernel = NULL;
    if (d->depth != DVI_KERNELS || !placed->entries_known ||
        d->out->images.items[image].image.parent != DEVIMG_NONE)
        return DEVIMG_OK;
    for (uint32_t i = 0; i < placed->entry_count - placed->exported_count; i++) {
        const struct dvi_view name =
            dvi_view_of(placed->entries[i], strlen(placed->entries[i]), placed->bytes.source);
        const enum devimg_status status = dvi_kernel_add(&sink, name, &kernel, err);
        if (status != DEVIMG_OK) {
            DVI_LIST_FREE(&sink.kernels);
            return status;
        }
    }
    return take_kernels(d, image, &sink);
}

static enum devimg_status read_kernels(struct describing *d, uint32_t image,
                                       const struct dvi_image_format *format,
                                       const struct dvi_placed *placed, struct dvi_view bytes,
                                       struct devimg_error *err)
{
    enum { DIGESTS_PER_BYTE = 2 };
    struct dvi_kernel_sink sink = { .arena = &d->worker->arena,
                                    .most = d->file->opts.max_kernels,
                                    .so_far = &d->file->decoded,
                                    .text = &d->file->yaml };
    if (d->file->opts.code_digests != 0)
        sink.digest_left = (uint64_t)bytes.size * DIGESTS_PER_BYTE;
    const enum devimg_status status = format->kernels(bytes, &sink, err);
    DVI_TRY(take_kernels(d, image, &sink));
    struct dvi_described_image *it = &d->out->images.items[image];
    if (status == DEVIMG_END) /* the format's kernels are not decoded */
        return take_entries(d, placed, image, err);
    if (status == DEVIMG_OK) {
        it->image.kernel_count = it->kernel_count;
        DVI_TRY(keep_names(d, image));
    }
    return keep_of_image(d, status, image, err);
}

/* OpenMP names the host itself as a device by its triple, behind "openmp-" in bundle sections; what
 * stands there is an object or a library of the host. NULL: something else. */
static const char *host_triple(const struct dvi_placed *placed, struct dvi_view bytes)
{
    const char *triple = placed->entry_id;
    if (placed->offload != DEVIMG_OFFLOAD_OPENMP || triple == NULL || !dvi_object_matches(bytes))
        return NULL;
    if (strncmp(triple, "openmp-", 7) == 0)
        triple += 7;
    return dvi_target_is_host(triple) ? triple : NULL;
}

static bool is_cpu(const struct devimg_target *label)
{
    return label != NULL && strcmp(label->kind, "cpu") == 0;
}

/* The row that reads the image. What a CPU's label stands for is the host's own affair, unless the
 * device link is yet to come. */
static const struct dvi_image_format *format_of(const struct dvi_placed *placed,
                                                const struct devimg_target *label,
                                                struct dvi_view bytes)
{
    const struct dvi_image_format *format = placed->no_code ? NULL : dvi_image_format_of(bytes);
    if (format == NULL || !is_cpu(label) || format->format == DEVIMG_FORMAT_BITCODE ||
        format->format == DEVIMG_FORMAT_SPIRV)
        return format;
    return NULL;
}

static enum devimg_status refuse_format(struct describing *d, uint32_t index,
                                        const struct dvi_placed *placed, struct dvi_view bytes,
                                        struct devimg_error *err)
{
    d->out->images.items[index].image.target = placed->arch;
    (void)dvi_fail(
        err, DEVIMG_MALFORMED, bytes, 0,
        "%s entry of kind %s: %zu bytes that start with %08" PRIx32 " (little-endian) are none",
        placed->bundle, devimg_format_name(placed->format), bytes.size, dvi_peek32(bytes, 0));
    return keep(d, DEVIMG_MALFORMED, index, err);
}

/* An image of a known format, or of none: facts, target, kernels. */
static enum devimg_status describe_code(struct describing *d, uint32_t index,
                                        const struct dvi_placed *placed, struct dvi_view bytes,
                                        struct devimg_error *err)
{
    if (d->depth == DVI_BYTES)
        return DEVIMG_OK;
    struct devimg_image *image = &d->out->images.items[index].image;
    const struct devimg_target *label = dvi_target_of_label(placed->entry_id);
    const struct dvi_image_format *format = format_of(placed, label, bytes);
    if (bytes.size == 0) {
        (void)dvi_fail(err, DEVIMG_MALFORMED, bytes, 0, "empty: 0 bytes where an image should be");
        return keep(d, DEVIMG_MALFORMED, index, err);
    }
    if (placed->format == DEVIMG_FORMAT_LTO_IR) {
        image->format = placed->format;
        image->target = placed->arch;
        return take_entries(d, placed, index, err);
    }
    if (placed->format != DEVIMG_FORMAT_UNKNOWN &&
        (format == NULL || format->format != placed->format))
        return refuse_format(d, index, placed, bytes, err);
    const char *host = format == NULL ? host_triple(placed, bytes) : NULL;
    if (format == NULL) {
        image->target = host != NULL ? host : label != NULL ? label->name : placed->arch;
        if (placed->no_code || is_cpu(label) || host != NULL) {
            image->note =
                dvi_note_both(&d->worker->arena, image->note,
                              placed->no_code ? "addresses of kernels that are code of the "
                                                "host program"
                                              : "code for the host's CPU");
            return take_entries(d, placed, index, err);
        }
        const bool known = placed->offload != DEVIMG_OFFLOAD_UNKNOWN &&
                           placed->offload != DEVIMG_OFFLOAD_SYCL && image->target != NULL;
        const enum devimg_status status =
            known ? dvi_fail(err, DEVIMG_UNSUPPORTED, bytes, 0,
                             "%s image for %s: this version of devimg does not decode it",
                             devimg_offload_name(placed->offload), image->target)
                  : dvi_fail(err, DEVIMG_UNSUPPORTED, bytes, 0,
                             "%zu bytes that start with %08" PRIx32
                             " (little-endian) are no device image "
                             "that devimg knows",
                             bytes.size, dvi_peek32(bytes, 0));
        DVI_TRY(keep(d, status, index, err));
        return known ? take_entries(d, placed, index, err) : DEVIMG_OK;
    }
    struct dvi_image_facts facts = { .format = format->format,
                                     .ip_version = DEVIMG_UNKNOWN,
                                     .product_family = DEVIMG_UNKNOWN,
                                     .core_family = DEVIMG_UNKNOWN,
                                     .stepping = DEVIMG_UNKNOWN,
                                     .pointer_size = DEVIMG_UNKNOWN,
                                     .kernel_count = DEVIMG_UNKNOWN,
                                     .processor = DEVIMG_UNKNOWN };
    image->format = format->format;
    DVI_TRY(keep_of_image(d, format->facts(bytes, &d->worker->arena, &facts, err), index, err));
    image->format = facts.format;
    image->pointer_size = facts.pointer_size;
    if (image->pointer_size == 4)
        image->note = dvi_note_both(&d->worker->arena, image->note, "for 32-bit hosts");
    image->version = facts.version;
    image->producer = facts.producer;
    image->capabilities = facts.capabilities;
    image->capability_count = facts.capability_count;
    image->extensions = facts.extensions;
    image->extension_count = facts.extension_count;
    image->note = dvi_note_both(&d->worker->arena, image->note, facts.note);
    if (facts.relocatable && image->device_link == DEVIMG_LINK_NONE)
        image->device_link = DEVIMG_LINK_INPUT;
    DVI_TRY(keep_of_image(d, dvi_name_target(image, placed, &facts, bytes, &d->worker->arena, err),
                          index, err));
    if (image->target == NULL && label != NULL &&
        (image->format == DEVIMG_FORMAT_BITCODE || strcmp(label->kind, "selector") != 0))
        image->target = label->name;
    if (image->target == NULL && label == NULL && image->format == DEVIMG_FORMAT_BITCODE) {
        const struct devimg_target *row =
            facts.triple != NULL ? devimg_target_find(facts.triple) : NULL;
        image->target = placed->arch != NULL ? placed->arch : row != NULL ? row->name : NULL;
    }
    if (image->kernel_count == DEVIMG_UNKNOWN)
        image->kernel_count = facts.kernel_count;
    if (format->kernels == NULL)
        return take_entries(d, placed, index, err);
    return d->depth == DVI_KERNELS || !placed->entries_known
               ? read_kernels(d, index, format, placed, bytes, err)
               : DEVIMG_OK;
}

static enum devimg_status describe_bytes(struct describing *d, const struct dvi_placed *placed,
                                         struct dvi_view bytes, uint32_t index,
                                         struct devimg_error *err);

/* A walker found an image inside a container. */
static enum devimg_status found_inside(struct dvi_found *found, const struct dvi_placed *placed,
                                       struct devimg_error *err)
{
    enum { MOST_OVERLAP = 8 }; /* containers in containers count once a level */
    struct describing *d = (struct describing *)found;
    d->hand.inside_size += placed->bytes.size;
    if (d->hand.inside_size / MOST_OVERLAP > d->hand.size)
        return dvi_fail(err, DEVIMG_MALFORMED, placed->bytes, 0,
                        "images overlap: with this one they take more than %d times their bundle",
                        (int)MOST_OVERLAP);
    if (d->depth == DVI_HEADERS &&
        atomic_fetch_add(&d->file->described, 1) >= d->file->opts.max_images)
        return dvi_fail_plain(
            err, DEVIMG_LIMIT, d->file->name, /* which one it is, threads decide */
            "more than %" PRIu32 " images (max-images)", d->file->opts.max_images);
    return describe_bytes(d, placed, placed->bytes, DEVIMG_NONE, err);
}

static enum devimg_status damage_inside(struct dvi_found *found, enum devimg_status status,
                                        const struct devimg_error *error)
{
    struct describing *d = (struct describing *)found;
    return keep_of_image(d, status, d->parent, error);
}

static enum devimg_status count_inflated(struct devimg_file *file, uint64_t size,
                                         struct dvi_view stored, struct devimg_error *err)
{
    const uint64_t before = atomic_fetch_add(&file->inflated, size);
    const uint64_t most = file->opts.max_total_inflated_size;
    if (before <= most && size <= most - before)
        return DEVIMG_OK;
    return dvi_fail(err, DEVIMG_LIMIT, dvi_view_of(NULL, 0, stored.source), 0,
                    "more than %" PRIu64 " bytes to inflate (max-total-inflated-size)", most);
}

/* A packing holds its images compressed together. */
static enum devimg_status inflate_inside(struct dvi_found *found, struct dvi_view stored,
                                         uint64_t size, struct dvi_view *out,
                                         struct devimg_error *err)
{
    struct describing *d = (struct describing *)found;
    const uint64_t most = d->file->opts.max_inflated_size;
    const bool is_zstd = dvi_zstd_match(stored);
    struct dvi_zstd_frame frame = { 0 };
    enum devimg_status status = DEVIMG_OK;
    const char *source = d->inflated_name;
    if (d->hand.inflated)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, stored, 0, "compressed inside of compressed");
    (void)snprintf(d->inflated_name, sizeof d->inflated_name, "inflated bundle of 0x%" PRIx64,
                   stored.offset);
    if (is_zstd)
        status = dvi_zstd_frame_at(stored, &frame, err);
    if (status == DEVIMG_OK)
        status = is_zstd
                     ? dvi_zstd_inflate(&frame, source, most, &d->worker->buffer, out, err)
                     : dvi_zlib_inflate(stored, size, source, most, &d->worker->buffer, out, err);
    if (status == DEVIMG_OK && out->size != size)
        status = dvi_fail(err, DEVIMG_MALFORMED, stored, 0,
                          "bundle stated to inflate to %" PRIu64 " bytes: %zu came out", size,
                          out->size);
    if (status == DEVIMG_LIMIT) { /* of this bundle alone */
        DVI_TRY(keep(d, status, d->parent, err));
        return DEVIMG_END;
    }
    DVI_TRY(status);
    if (d->depth != DVI_BYTES) /* there it was charged before */
        DVI_TRY(count_inflated(d->file, size, stored, err));
    d->hand.packed_at = d->hand.container.offset;
    d->hand.packed_size = d->hand.container.size;
    d->hand.inflated = true;
    d->hand.size = size;
    d->hand.inside_size = 0;
    d->hand.container = *out;
    d->hand.packed = is_zstd ? DEVIMG_COMPRESSION_ZSTD : DEVIMG_COMPRESSION_ZLIB;
    return DEVIMG_OK;
}

/* Go into a container: what is found there is described with `index` as its parent. */
static enum devimg_status describe_container(struct describing *d, const struct dvi_bundle *bundle,
                                             const struct dvi_placed *placed, struct dvi_view bytes,
                                             uint32_t index, struct devimg_error *err)
{
    const uint32_t parent = d->parent;
    const struct bytes_at_hand outside = d->hand;
    struct dvi_placed outer = *placed;
    outer.bytes = bytes;
    if (d->nesting >= d->file->opts.max_depth) {
        (void)dvi_fail(err, DEVIMG_LIMIT, bytes, 0,
                       "containers nested more than %" PRIu32 " deep (max-depth)",
                       d->file->opts.max_depth);
        return keep(d, DEVIMG_LIMIT, index != DEVIMG_NONE ? index : d->parent, err);
    }
    d->nesting++;
    d->parent = index;
    d->hand.container = bytes;
    enum devimg_status status = bundle->walk(&outer, &d->found, err);
    status = keep_of_image(d, status, index, err);
    const uint64_t inside_size = d->hand.inside_size;
    const bool same_bytes = d->hand.inflated == outside.inflated;
    d->parent = parent;
    d->hand = outside;
    if (same_bytes) /* what lay in this container lay in the outer one as well */
        d->hand.inside_size = inside_size;
    d->nesting--;
    return status;
}

/* Packings of one kind, one after another with zero bytes between: clang-offload-packager writes
 * one an image. */
static enum devimg_status describe_row(struct describing *d, const struct dvi_bundle *bundle,
                                       const struct dvi_placed *placed, struct dvi_view bytes,
                                       uint32_t index, struct devimg_error *err)
{
    struct dvi_view rest = bytes;
    while (rest.size > 0) {
        if (!bundle->match(rest)) {
            (void)dvi_fail(err, DEVIMG_MALFORMED, rest, 0,
                           "%zu bytes behind the %s are no further one", rest.size, bundle->name);
            return keep(d, DEVIMG_MALFORMED, index != DEVIMG_NONE ? index : d->parent, err);
        }
        const struct dvi_view one = bundle->first != NULL ? bundle->first(rest) : rest;
        DVI_TRY(describe_container(d, bundle, placed, one, index, err));
        rest = dvi_behind_zeros(dvi_from(rest, one.size));
    }
    return DEVIMG_OK;
}

static enum devimg_status describe_frame(struct describing *d, const struct dvi_placed *placed,
                                         struct devimg_error *err);

/* What is compressed: a zstd frame, which says how far it goes, or as the container says. */
struct packed {
    struct dvi_zstd_frame frame;
    enum devimg_compression codec;
    uint64_t size; /* inflated; UNKNOWN */
};

/* Listing believes a container that says what its images are, but of small ones: those that a device
 * link leaves, where there was nothing to link, have no kernels and never need coverage. */
static bool is_told_by_label(const struct describing *d, const struct dvi_placed *placed,
                             struct dvi_view bytes)
{
    enum { SMALL = 4096 };
    if (placed->sealed)
        return true;
    const uint64_t size =
        placed->packed != DEVIMG_COMPRESSION_NONE ? placed->inflated_size : bytes.size;
    return d->depth == DVI_HEADERS && placed->format != DEVIMG_FORMAT_UNKNOWN && size > SMALL;
}

static enum devimg_status open_packed(struct describing *d, const struct dvi_placed *placed,
                                      uint32_t index, struct packed *out, struct devimg_error *err);

static enum devimg_status add_told(struct describing *d, const struct dvi_placed *placed,
                                   struct dvi_view bytes, struct devimg_error *err)
{
    const uint32_t index = (uint32_t)d->out->images.count;
    struct packed packed = { 0 };
    struct dvi_described_image *self = add_image(d, placed, bytes);
    if (self == NULL)
        return dvi_fail_memory(err, bytes.source);
    if (d->depth == DVI_BYTES && d->sink->as_stored) {
        d->sink->image(d->sink, index, bytes);
        return DEVIMG_OK;
    }
    if (d->depth == DVI_BYTES) {
        (void)dvi_fail(err, DEVIMG_UNSUPPORTED, bytes, 0,
                       "compressed in a way that is not published: only as it is stored");
        return keep(d, DEVIMG_UNSUPPORTED, index, err);
    }
    self->image.format = placed->format;
    self->image.target = placed->arch;
    if (placed->packed != DEVIMG_COMPRESSION_NONE) {
        self->image.compression = placed->packed;
        self->image.size = placed->inflated_size;
    }
    return placed->packed == DEVIMG_COMPRESSION_ZSTD && !placed->sealed
               ? keep_of_image(d, open_packed(d, placed, index, &packed, err), index, err)
               : DEVIMG_OK;
}

/* `index`: the image's place in the list, or NONE: it has none yet. */
static enum devimg_status describe_bytes(struct describing *d, const struct dvi_placed *placed,
                                         struct dvi_view bytes, uint32_t index,
                                         struct devimg_error *err)
{
    if (index == DEVIMG_NONE && is_told_by_label(d, placed, bytes))
        return add_told(d, placed, bytes, err);
    if (index == DEVIMG_NONE && !placed->no_code &&
        (placed->packed != DEVIMG_COMPRESSION_NONE || (!d->hand.inflated && dvi_zstd_match(bytes))))
        return describe_frame(d, placed, err);
    const struct dvi_bundle *bundle = placed->no_code ? NULL : dvi_bundle_of(bytes);
    if (index == DEVIMG_NONE && (bundle == NULL || bundle->is_image)) {
        index = (uint32_t)d->out->images.count;
        if (add_image(d, placed, bytes) == NULL)
            return dvi_fail_memory(err, bytes.source);
    }
    if (index != DEVIMG_NONE && d->depth == DVI_BYTES)
        d->sink->image(d->sink, index, bytes);
    if (bundle == NULL)
        return describe_code(d, index, placed, bytes, err);
    if (index != DEVIMG_NONE)
        d->out->images.items[index].image.format = DEVIMG_FORMAT_ARCHIVE;
    return describe_row(d, bundle, placed, bytes, index, err);
}

static enum devimg_status open_packed(struct describing *d, const struct dvi_placed *placed,
                                      uint32_t index, struct packed *out, struct devimg_error *err)
{
    const struct dvi_view bytes = placed->bytes;
    *out = (struct packed){ .codec = placed->packed, .size = placed->inflated_size };
    if (placed->packed == DEVIMG_COMPRESSION_LZ4)
        return DEVIMG_OK;
    out->codec = DEVIMG_COMPRESSION_ZSTD;
    if (!dvi_zstd_match(bytes))
        return dvi_fail(err, DEVIMG_MALFORMED, bytes, 0,
                        "no zstd frame where the %s entry says one", placed->bundle);
    DVI_TRY(dvi_zstd_frame_at(bytes, &out->frame, err));
    out->size = out->frame.size;
    const struct dvi_view behind = dvi_from(bytes, out->frame.stored.size);
    if (!dvi_all_zero(behind)) {
        (void)dvi_fail(err, DEVIMG_MALFORMED, behind, 0, "%zu bytes behind the zstd frame",
                       behind.size);
        DVI_TRY(keep(d, DEVIMG_MALFORMED, index, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status describe_frame(struct describing *d, const struct dvi_placed *placed,
                                         struct devimg_error *err)
{
    struct packed packed = { 0 };
    const uint32_t index = (uint32_t)d->out->images.count;
    struct dvi_described_image *self = add_image(d, placed, placed->bytes);
    if (self == NULL)
        return dvi_fail_memory(err, placed->bytes.source);
    if (d->depth == DVI_BYTES && d->sink->as_stored) {
        d->sink->image(d->sink, index, placed->bytes);
        return DEVIMG_OK;
    }
    struct devimg_image *image = &self->image;
    image->compression =
        placed->packed != DEVIMG_COMPRESSION_NONE ? placed->packed : DEVIMG_COMPRESSION_ZSTD;
    image->size = DEVIMG_UNKNOWN;
    image->format = placed->format;
    image->target = placed->format != DEVIMG_FORMAT_UNKNOWN ? placed->arch : NULL;
    const struct devimg_target *label = dvi_target_of_label(placed->entry_id);
    if (label != NULL && strcmp(label->kind, "selector") != 0)
        image->target = label->name;
    if (d->hand.inflated) { /* one buffer a worker */
        (void)dvi_fail(err, DEVIMG_UNSUPPORTED, placed->bytes, 0,
                       "compressed inside of compressed");
        return keep(d, DEVIMG_UNSUPPORTED, index, err);
    }
    const enum devimg_status status = open_packed(d, placed, index, &packed, err);
    if (status != DEVIMG_OK)
        return keep_of_image(d, status, index, err);
    image->size = packed.size;
    if (d->depth == DVI_HEADERS && placed->entries_known && packed.size != DEVIMG_UNKNOWN &&
        dvi_is_portable_label(placed->entry_id)) {
        image->format = DEVIMG_FORMAT_SPIRV; /* by its label; decoding checks it */
        return DEVIMG_OK;
    }
    char source[64];
    (void)snprintf(source, sizeof source, "inflated image of 0x%" PRIx64, placed->bytes.offset);
    struct dvi_view bytes = { 0 };
    const uint64_t most = d->file->opts.max_inflated_size;
    enum devimg_status inflated =
        packed.codec == DEVIMG_COMPRESSION_LZ4
            ? dvi_lz4_inflate(placed->bytes, packed.size, source, most, &d->worker->buffer, &bytes,
                              err)
            : dvi_zstd_inflate(&packed.frame, source, most, &d->worker->buffer, &bytes, err);
    if (inflated == DEVIMG_OK && placed->packed != DEVIMG_COMPRESSION_NONE &&
        bytes.size != placed->inflated_size)
        inflated = dvi_fail(err, DEVIMG_MALFORMED, placed->bytes, 0,
                            "%s entry stated to inflate to %" PRIu64 " bytes: %zu came out",
                            placed->bundle, placed->inflated_size, bytes.size);
    if (inflated == DEVIMG_LIMIT) /* of this image alone: the rest is still shown */
        return keep(d, inflated, index, err);
    DVI_TRY(keep_of_image(d, inflated, index, err));
    if (inflated != DEVIMG_OK)
        return DEVIMG_OK;
    if (d->depth != DVI_BYTES) /* there it was charged before */
        DVI_TRY(count_inflated(d->file, bytes.size, placed->bytes, err));
    d->out->images.items[index].image.size = bytes.size;
    const struct bytes_at_hand outer = d->hand;
    d->hand.inflated = true;
    d->hand.size = bytes.size;
    d->hand.inside_size = 0;
    d->hand.container = bytes;
    image->target = NULL;
    const enum devimg_status described = describe_bytes(d, placed, bytes, index, err);
    d->hand = outer;
    return described;
}

static enum devimg_status describe(struct describing *d, const struct dvi_placed *placed,
                                   struct devimg_error *err)
{
    struct devimg_error local = { 0 }; /* damage is copied out of it, so it must be there */
    _Atomic uint64_t named = 0;        /* where nothing is kept of what was counted before */
    d->found = (struct dvi_found){ .arena = &d->worker->arena,
                                   .image = found_inside,
                                   .damage = damage_inside,
                                   .inflate = inflate_inside,
                                   .named = d->depth == DVI_BYTES ? &named : &d->file->named,
                                   .most_names = d->file->opts.max_kernels };
    d->hand = (struct bytes_at_hand){ .size = placed->bytes.size };
    d->parent = DEVIMG_NONE;
    d->stored_offset = placed->bytes.offset;
    const enum devimg_status status = describe_bytes(d, placed, placed->bytes, DEVIMG_NONE, &local);
    if (status == DEVIMG_NOMEM)
        return dvi_fail_memory(err, placed->bytes.source);
    if (status != DEVIMG_OK && err != NULL)
        *err = local;
    return status;
}

enum devimg_status dvi_describe(struct devimg_file *file, const struct dvi_placed *placed,
                                enum dvi_depth depth, struct dvi_worker *worker,
                                struct dvi_described *out, struct devimg_error *err)
{
    struct describing d = { .file = file, .worker = worker, .out = out, .depth = depth };
    return describe(&d, placed, err);
}

enum devimg_status dvi_describe_bytes(struct devimg_file *file, const struct dvi_placed *placed,
                                      struct dvi_bytes_sink *sink, struct dvi_worker *worker,
                                      struct dvi_described *out, struct devimg_error *err)
{
    struct describing d = {
        .file = file, .worker = worker, .out = out, .sink = sink, .depth = DVI_BYTES
    };
    return describe(&d, placed, err);
}

struct dvi_failure dvi_failure_of(enum devimg_status status, const struct devimg_error *error,
                                  struct dvi_arena *arena)
{
    struct devimg_error *kept =
        status != DEVIMG_OK ? dvi_arena_array(arena, 1, sizeof *kept) : NULL;
    if (kept != NULL)
        *kept = *error;
    return (struct dvi_failure){ status, kept };
}

enum devimg_status dvi_failure_take(const struct dvi_failure *failure, const char *source,
                                    struct devimg_error *err)
{
    if (failure->error == NULL)
        return dvi_fail_memory(err, source);
    if (err != NULL)
        *err = *failure->error;
    return failure->status;
}

void dvi_described_free(struct dvi_described *described)
{
    DVI_LIST_FREE(&described->images);
    DVI_LIST_FREE(&described->kernels);
    DVI_LIST_FREE(&described->damage);
}
