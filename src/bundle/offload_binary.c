/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLVM offload binary: device images, each with a map of texts. Little-endian; offsets count from
 * the magic. Source: llvm/llvm-project llvm/include/llvm/Object/OffloadBinary.h and
 * llvm/lib/Object/OffloadBinary.cpp; the section .llvm.offloading holds one after another, at
 * multiples of 8.
 *
 *    0  magic             10 ff 10 ad
 *    4  version u32       1, 2 or 3
 *    8  size u64          of all of it
 *   16  entries at u64
 *   24  version 1: size of its one entry u64; 2 and 3: entry count u64
 *   32  version 3: inflated size u64; not 0: from `entries at` on stands one zstd frame or zlib
 *       stream of what stood there, and offsets count in the inflated binary
 *
 * entry, 40 bytes:  0 image kind u16   2 offload kind u16   4 flags u32 (1: no image, texts only)
 *                   offload kind: 1 OpenMP, 2 CUDA, 4 HIP, 8 SYCL; LLVM up to 19: 3 HIP
 *                   8 texts at u64    16 text count u64    24 image at u64   32 image size u64
 * text:             0 key at u64       8 value at u64, both ended by NUL;
 *                  16 from version 2 on: value size u64
 *
 * SYCLBIN version 2 (intel/llvm llvm/include/llvm/Object/SYCLBIN.h) is an offload binary whose
 * entries have the texts "sycl_format_version" and "role". Role "ir" or "native": in place of the
 * image a u64 size, so much metadata, and the image; other roles are metadata alone.
 */
#include <inttypes.h>
#include <string.h>

#include "bundle/bundle.h"
#include "object/magic.h"

enum {
    HEADER_SIZE = 32,
    ENTRY_SIZE = 40,
    FLAG_METADATA = 1,
    LAST_VERSION = 3,
    MOST_TEXTS = 256,      /* of one entry; LLVM writes a handful */
    MOST_TEXT_BYTES = 4096 /* of one */
};

struct block {
    struct dvi_view body; /* from `base` on */
    uint64_t base;        /* 0, or where the inflated part begins */
    uint32_t version;
    uint64_t entries_at, count;
};

struct entry {
    uint16_t offload;
    uint32_t flags;
    uint64_t texts_at, text_count, image_at, image_size;
};

static bool match(struct dvi_view v)
{
    return dvi_has_magic(v, DVI_MAGIC_OFFLOAD_BINARY);
}

/* `size` bytes at an offset as the binary counts them. */
static enum devimg_status part(const struct block *b, uint64_t at, uint64_t size, const char *what,
                               struct dvi_view *out, struct devimg_error *err)
{
    if (at < b->base)
        return dvi_fail(err, DEVIMG_MALFORMED, b->body, 0,
                        "%s at +%" PRIu64 ": the compressed part starts at +%" PRIu64, what, at,
                        b->base);
    return dvi_slice(b->body, at - b->base, size, what, out, err);
}

static enum devimg_status open_block(struct dvi_view v, struct dvi_found *found, struct block *out,
                                     struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(v, DVI_MAGIC_SIZE);
    struct block b = { .version = dvi_le32(&c) };
    const uint64_t size = dvi_le64(&c);
    b.entries_at = dvi_le64(&c);
    const uint64_t count = dvi_le64(&c);
    DVI_TRY(dvi_cursor_check(&c, "offload binary header", err));
    if (b.version == 0 || b.version > LAST_VERSION)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, v, 4,
                        "offload binary version %" PRIu32 ": 1 to 3 are read", b.version);
    DVI_TRY(dvi_slice(v, 0, size, "offload binary", &b.body, err));
    const uint64_t inflated = b.version >= 3 ? dvi_peek64(b.body, HEADER_SIZE) : 0;
    if (inflated != 0) {
        if (inflated < b.entries_at || b.entries_at > size)
            return dvi_fail(err, DEVIMG_MALFORMED, v, HEADER_SIZE,
                            "offload binary of %" PRIu64 " bytes, inflated %" PRIu64
                            ": its entries start at +%" PRIu64,
                            size, inflated, b.entries_at);
        b.base = b.entries_at;
        DVI_TRY(found->inflate(found, dvi_from(b.body, b.base), inflated - b.base, &b.body, err));
    }
    const uint64_t end = b.base + b.body.size; /* offsets count up to here */
    const uint64_t most = b.entries_at < end ? (end - b.entries_at) / ENTRY_SIZE : 0;
    b.count = b.version == 1 ? 1 : count;
    if (b.count > most)
        return dvi_fail(err, DEVIMG_MALFORMED, v, 24,
                        "offload binary of %" PRIu64 " entries: %" PRIu64 " fit", b.count, most);
    *out = b;
    return DEVIMG_OK;
}

static enum devimg_status read_entry(const struct block *b, uint64_t index, struct entry *out,
                                     struct devimg_error *err)
{
    struct dvi_view bytes = { 0 };
    DVI_TRY(part(b, b->entries_at + index * ENTRY_SIZE, ENTRY_SIZE, "offload entry", &bytes, err));
    *out = (struct entry){ .offload = dvi_peek16(bytes, 2),
                           .flags = dvi_peek32(bytes, 4),
                           .texts_at = dvi_peek64(bytes, 8),
                           .text_count = dvi_peek64(bytes, 16),
                           .image_at = dvi_peek64(bytes, 24),
                           .image_size = dvi_peek64(bytes, 32) };
    return DEVIMG_OK;
}

static enum devimg_status fail_long(struct dvi_view text, struct devimg_error *err)
{
    return dvi_fail(err, DEVIMG_MALFORMED, text, 0, "offload text of more than %d bytes",
                    (int)MOST_TEXT_BYTES);
}

/* The text at an offset that ends with NUL, or, from version 2 on, a value of a stated size. */
static enum devimg_status text_at(const struct block *b, uint64_t at, uint64_t size,
                                  struct dvi_view *out, struct devimg_error *err)
{
    struct dvi_view text = { 0 };
    DVI_TRY(part(b, at, size == DEVIMG_UNKNOWN ? 0 : size, "offload text", &text, err));
    if (size == DEVIMG_UNKNOWN) {
        text = dvi_from(b->body, at - b->base);
        if (text.size > MOST_TEXT_BYTES && memchr(text.data, 0, MOST_TEXT_BYTES + 1) == NULL)
            return fail_long(text, err);
        return dvi_text_at(text, 0, "offload text", out, err);
    }
    if (size > MOST_TEXT_BYTES)
        return fail_long(text, err);
    *out = text;
    return DEVIMG_OK;
}

/* The texts of an entry that are read; empty where it has none. */
struct texts {
    struct dvi_view triple, arch, role, syclbin; /* the last one: a version */
};

static struct dvi_view *place_of(struct texts *out, struct dvi_view key)
{
    return dvi_equals(key, "triple")                ? &out->triple
           : dvi_equals(key, "arch")                ? &out->arch
           : dvi_equals(key, "role")                ? &out->role
           : dvi_equals(key, "sycl_format_version") ? &out->syclbin
                                                    : NULL;
}

static enum devimg_status read_texts(const struct block *b, const struct entry *e,
                                     struct texts *out, struct devimg_error *err)
{
    const struct dvi_view none = dvi_from(b->body, b->body.size);
    *out = (struct texts){ none, none, none, none };
    const uint64_t stride = b->version == 1 ? 16 : 24;
    struct dvi_view table = { 0 };
    if (e->text_count > MOST_TEXTS)
        return dvi_fail(err, DEVIMG_MALFORMED, b->body, 0,
                        "offload entry with %" PRIu64 " texts: at most %d are read", e->text_count,
                        (int)MOST_TEXTS);
    DVI_TRY(part(b, e->texts_at, e->text_count * stride, "offload texts", &table, err));
    for (uint64_t i = 0; i < e->text_count; i++) {
        const uint64_t at = i * stride;
        struct dvi_view key = { 0 };
        DVI_TRY(text_at(b, dvi_peek64(table, at), DEVIMG_UNKNOWN, &key, err));
        struct dvi_view *value = place_of(out, key);
        if (value != NULL)
            DVI_TRY(text_at(b, dvi_peek64(table, at + 8),
                            b->version == 1 ? DEVIMG_UNKNOWN : dvi_peek64(table, at + 16), value,
                            err));
    }
    return DEVIMG_OK;
}

/* LLVM up to 19 counts the kinds, later ones give each a bit. */
static enum devimg_offload offload_of(uint16_t kind)
{
    switch (kind) {
    case 1: return DEVIMG_OFFLOAD_OPENMP;
    case 2: return DEVIMG_OFFLOAD_CUDA;
    case 3:
    case 4: return DEVIMG_OFFLOAD_HIP;
    case 8: return DEVIMG_OFFLOAD_SYCL;
    default: return DEVIMG_OFFLOAD_UNKNOWN;
    }
}

/* The image of a SYCLBIN's entry, behind its metadata. END: there is none. */
static enum devimg_status syclbin_image(const struct texts *texts, struct dvi_view *bytes,
                                        struct devimg_error *err)
{
    if (!dvi_equals(texts->syclbin, "2"))
        return dvi_fail(err, DEVIMG_UNSUPPORTED, texts->syclbin, 0,
                        "SYCLBIN version \"%.*s\": versions 1 and 2 are read",
                        (int)(texts->syclbin.size < 20 ? texts->syclbin.size : 20),
                        (const char *)texts->syclbin.data);
    if (!dvi_equals(texts->role, "ir") && !dvi_equals(texts->role, "native"))
        return DEVIMG_END;
    struct dvi_view metadata = { 0 };
    struct dvi_cursor c = dvi_cursor_at(*bytes, 0);
    const uint64_t size = dvi_le64(&c);
    DVI_TRY(dvi_cursor_check(&c, "SYCLBIN entry", err));
    DVI_TRY(dvi_slice(*bytes, c.at, size, "SYCLBIN metadata", &metadata, err));
    *bytes = dvi_from(*bytes, c.at + size);
    return DEVIMG_OK;
}

static enum devimg_status found_entry(const struct dvi_placed *outer, const struct block *b,
                                      uint64_t index, struct dvi_found *found,
                                      struct devimg_error *err)
{
    struct entry e = { 0 };
    struct dvi_placed image = *outer;
    struct texts texts = { 0 };
    DVI_TRY(read_entry(b, index, &e, err));
    if ((e.flags & FLAG_METADATA) != 0)
        return DEVIMG_OK;
    DVI_TRY(read_texts(b, &e, &texts, err));
    DVI_TRY(part(b, e.image_at, e.image_size, "offload image", &image.bytes, err));
    image.bundle = "offload-binary";
    if (texts.syclbin.size > 0) {
        const enum devimg_status status = syclbin_image(&texts, &image.bytes, err);
        if (status != DEVIMG_OK)
            return status == DEVIMG_END ? DEVIMG_OK : status;
        image.bundle = "syclbin";
    }
    if (offload_of(e.offload) != DEVIMG_OFFLOAD_UNKNOWN)
        image.offload = offload_of(e.offload);
    DVI_TRY(dvi_found_label(found, texts.triple, "offload triple", &image.entry_id, err));
    if (texts.arch.size > 0) {
        DVI_TRY(dvi_found_label(found, texts.arch, "offload arch", &image.arch, err));
        image.entry_id = dvi_arena_format(found->arena, "%s-%s", image.entry_id, image.arch);
    } else {
        image.arch = NULL;
    }
    if (image.entry_id == NULL)
        return dvi_fail_memory(err, outer->bytes.source);
    return dvi_found_image(found, &image, err);
}

static enum devimg_status walk(const struct dvi_placed *outer, struct dvi_found *found,
                               struct devimg_error *err)
{
    struct block b = { 0 };
    const enum devimg_status opened = open_block(outer->bytes, found, &b, err);
    if (opened != DEVIMG_OK)
        return opened == DEVIMG_END ? DEVIMG_OK
                                    : opened; /* END: what could not be inflated is said */
    for (uint64_t i = 0; i < b.count; i++) {
        const enum devimg_status status = found_entry(outer, &b, i, found, err);
        DVI_TRY(dvi_found_damage(found, status, err));
    }
    return DEVIMG_OK;
}

static struct dvi_view first(struct dvi_view v)
{
    const uint64_t size = dvi_peek64(v, 8);
    return size < HEADER_SIZE ? v : dvi_head(v, size);
}

const struct dvi_bundle dvi_bundle_offload_binary = {
    .name = "offload-binary",
    .match = match,
    .first = first,
    .walk = walk,
};
