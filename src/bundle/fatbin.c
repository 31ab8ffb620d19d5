/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA fat binaries, little-endian. Sources: fatbinary_section.h of the CUDA toolkit (sections, wrapper);
 * llvm/llvm-project clang/lib/CodeGen/CGCUDANV.cpp (sections); vosen/ZLUDA dark_api/src/fatbin.rs
 * (container, entry); measured: fatbinary and nvcc 13.0 against cuobjdump 13.5, and 40,000 entries of NVIDIA's
 * libraries.
 *
 *    .nv_fatbin        containers that the runtime loads
 *    __nv_relfatbin    containers of relocatable code (-rdc=true), which the device linker takes; in a
 *                      linked file, the runtime links them where .nv_fatbin has nothing for a GPU
 *    .nvFatBinSegment  wrappers, 24 bytes each: what host code registers
 * Linkers of Windows keep eight bytes of these names.
 *
 * wrapper:     0 magic b1 43 62 46    4 version u32: 1, or 2 of a device link    8 container
 *             16 version 2: a table of the containers that were linked
 * container:   0 magic 50 ed 55 ba    4 version u16: 1    6 header size u16: 16    8 size u64, of all entries
 *             containers start at multiples of 8, with zero bytes between
 * entry:       0 kind u16    2 version u16: 0x0101    4 header size u32    8 payload size u64
 *             16 compressed size u32; 0: raw    20 options at u32    24 minor u16, major u16
 *             28 SM number u32    32 identifier at u32, its size u32    40 flags u64    56 inflated size u64
 *             options: offset u32, size u32; offsets count from the entry; the payload follows the header,
 *             the next entry the payload
 * flags:       0x2000 LZ4 block    0x8000 zstd frame    0x10000 LTO-IR that neither inflates
 *             0x100000 "a" target    0x200000 "f" target
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle.h"

static const uint8_t magic[4] = { 0x50, 0xed, 0x55, 0xba };
static const uint8_t wrapper_magic[4] = { 0xb1, 0x43, 0x62, 0x46 };
enum {
    HEADER_SIZE = 16,
    ENTRY_SIZE = 64,
    WRAPPER_SIZE = 24,
    ALIGNMENT = 8,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_SEALED = 0x10000,
    FLAG_A = 0x100000,
    FLAG_F = 0x200000,
    MOST_OPTIONS = 4096, /* bytes of text of one entry */
    MOST_DAMAGED = 256   /* places of one section that are no container */
};
enum { KIND_PTX = 1, KIND_CUBIN = 2, KIND_LTO_IR = 8 };

struct entry {
    uint16_t kind;
    uint32_t header_size, compressed_size, sm;
    uint64_t payload_size, flags, inflated_size;
    struct dvi_view header, payload;
};

static bool match(struct dvi_view v)
{
    return dvi_starts_with(v, magic, sizeof magic);
}

static struct dvi_view first(struct dvi_view v)
{
    const uint64_t size = dvi_peek64(v, 8);
    return size < v.size ? dvi_head(v, HEADER_SIZE + size) : v;
}

/* `*entries`: as many bytes of them as there are; `*size`: as there should be. */
static enum devimg_status open_container(struct dvi_view v, struct dvi_view *entries, uint64_t *size,
                                         struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(v, sizeof magic);
    const uint16_t version = dvi_le16(&c);
    const uint16_t header_size = dvi_le16(&c);
    *size = dvi_le64(&c);
    DVI_TRY(dvi_cursor_check(&c, "fatbin header", err));
    if (version != 1 || header_size != HEADER_SIZE)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, v, 4,
                        "fatbin version %u with a header of %u bytes: 1 with %d is read",
                        (unsigned)version, (unsigned)header_size, (int)HEADER_SIZE);
    *entries = dvi_head(dvi_from(v, HEADER_SIZE), *size);
    return DEVIMG_OK;
}

static enum devimg_status read_entry(struct dvi_view v, struct entry *out, struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(v, 0);
    struct entry e = { .kind = dvi_le16(&c) };
    dvi_skip(&c, 2);
    e.header_size = dvi_le32(&c);
    e.payload_size = dvi_le64(&c);
    e.compressed_size = dvi_le32(&c);
    dvi_skip(&c, 4 + 4);
    e.sm = dvi_le32(&c);
    dvi_skip(&c, 4 + 4);
    e.flags = dvi_le64(&c);
    dvi_skip(&c, 8);
    e.inflated_size = dvi_le64(&c);
    DVI_TRY(dvi_cursor_check(&c, "fatbin entry", err));
    if (e.header_size < ENTRY_SIZE)
        return dvi_fail(err, DEVIMG_MALFORMED, v, 4,
                        "fatbin entry with a header of %" PRIu32 " bytes: at least %d",
                        e.header_size, (int)ENTRY_SIZE);
    DVI_TRY(dvi_slice(v, 0, e.header_size, "fatbin entry header", &e.header, err));
    DVI_TRY(dvi_slice(v, e.header_size, e.payload_size, "fatbin payload", &e.payload, err));
    *out = e;
    return DEVIMG_OK;
}

/* "sm_90a", "compute_80", "lto_90": what the entry is for. */
static const char *target_of(const struct entry *e, struct dvi_arena *arena)
{
    return dvi_arena_format(arena, "%s_%" PRIu32 "%s",
                            e->kind == KIND_PTX      ? "compute"
                            : e->kind == KIND_LTO_IR ? "lto"
                                                     : "sm",
                            e->sm,
                            (e->flags & FLAG_A) != 0   ? "a"
                            : (e->flags & FLAG_F) != 0 ? "f"
                                                       : "");
}

static enum devimg_format format_of(uint16_t kind)
{
    return kind == KIND_PTX      ? DEVIMG_FORMAT_PTX
           : kind == KIND_CUBIN  ? DEVIMG_FORMAT_CUBIN
           : kind == KIND_LTO_IR ? DEVIMG_FORMAT_LTO_IR
                                 : DEVIMG_FORMAT_UNKNOWN;
}

/* Text between blanks, up to a NUL; empty: it is none. Options of cubins hold numbers. */
static struct dvi_view plain_text(struct dvi_view v)
{
    const uint8_t *end = v.size > 0 ? memchr(v.data, 0, v.size) : NULL;
    if (end != NULL)
        v.size = (size_t)(end - v.data);
    for (size_t i = 0; i < v.size; i++)
        if (v.data[i] < 0x20)
            return dvi_head(v, 0);
    while (v.size > 0 && v.data[0] == ' ')
        v = dvi_from(v, 1);
    while (v.size > 0 && v.data[v.size - 1] == ' ')
        v.size--;
    return v;
}

/* The identifier (a source's name) and the options, where they are text. */
static enum devimg_status read_texts(const struct entry *e, struct dvi_placed *image,
                                     struct dvi_found *found, struct devimg_error *err)
{
    const uint32_t block = dvi_peek32(e->header, 0x14);
    const uint32_t name_at = dvi_peek32(e->header, 0x20), name_size = dvi_peek32(e->header, 0x24);
    struct dvi_view name = { 0 }, options = { 0 };
    if (name_at != 0 && name_size != 0) {
        DVI_TRY(dvi_slice(e->header, name_at, name_size, "fatbin identifier", &name, err));
        if (plain_text(name).size > 0)
            DVI_TRY(dvi_found_label(found, plain_text(name), "fatbin identifier", &image->unit, err));
    }
    if (block == 0)
        return DEVIMG_OK;
    DVI_TRY(dvi_slice(e->header, block, 8, "fatbin options", &options, err));
    DVI_TRY(dvi_slice(e->header, dvi_peek32(options, 0), dvi_peek32(options, 4), "fatbin options",
                      &options, err));
    options = plain_text(options);
    if (options.size == 0)
        return DEVIMG_OK;
    if (options.size > MOST_OPTIONS)
        return dvi_fail(err, DEVIMG_MALFORMED, options, 0,
                        "fatbin options of %zu bytes: at most %d are read", options.size,
                        (int)MOST_OPTIONS);
    image->compile_options = dvi_arena_text(found->arena, options);
    return image->compile_options != NULL ? DEVIMG_OK : dvi_fail_memory(err, options.source);
}

static const char *note_of(const struct entry *e, struct dvi_arena *arena)
{
    if (e->kind == KIND_LTO_IR)
        return "code of NVIDIA's link-time optimisation, whose form is not published: its kernels are "
               "unknown";
    if (format_of(e->kind) == DEVIMG_FORMAT_UNKNOWN)
        return dvi_arena_format(arena, "fatbin entry of kind %u", (unsigned)e->kind);
    return NULL;
}

static const char *both(struct dvi_arena *arena, const char *one, const char *other)
{
    if (one == NULL || other == NULL)
        return one != NULL ? one : other;
    return dvi_arena_format(arena, "%s; %s", one, other);
}

static enum devimg_status found_entry(const struct dvi_placed *outer, const struct entry *e,
                                      struct dvi_found *found, struct devimg_error *err)
{
    struct dvi_placed image = *outer;
    image.bundle = "fatbin";
    image.offload = DEVIMG_OFFLOAD_CUDA;
    image.bytes = e->payload;
    image.format = format_of(e->kind);
    image.arch = target_of(e, found->arena);
    image.note = both(found->arena, outer->note, note_of(e, found->arena));
    image.container = outer->bytes.offset + 1;
    if (image.arch == NULL)
        return dvi_fail_memory(err, outer->bytes.source);
    DVI_TRY(dvi_found_damage(found, read_texts(e, &image, found, err), err));
    const bool is_packed = (e->flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
    if (is_packed && e->compressed_size != 0) {
        if (e->compressed_size > e->payload.size)
            return dvi_fail(err, DEVIMG_MALFORMED, e->header, 16,
                            "fatbin entry for %s: %" PRIu32 " compressed bytes in a payload of %zu",
                            image.arch, e->compressed_size, e->payload.size);
        image.bytes = dvi_head(e->payload, e->compressed_size);
        image.packed = (e->flags & FLAG_LZ4) != 0 ? DEVIMG_COMPRESSION_LZ4 : DEVIMG_COMPRESSION_ZSTD;
        image.inflated_size = e->inflated_size;
        image.sealed = (e->flags & FLAG_SEALED) != 0;
    }
    return dvi_found_image(found, &image, err);
}

/* The entries of a container fill it exactly. */
static enum devimg_status walk(const struct dvi_placed *outer, struct dvi_found *found,
                               struct devimg_error *err)
{
    struct dvi_view rest = { 0 };
    uint64_t size = 0;
    DVI_TRY(open_container(outer->bytes, &rest, &size, err));
    while (rest.size > 0) {
        struct entry e = { 0 };
        DVI_TRY(read_entry(rest, &e, err)); /* where the next one starts is not known then */
        const enum devimg_status status = found_entry(outer, &e, found, err);
        DVI_TRY(dvi_found_damage(found, status, err));
        rest = dvi_from(rest, e.header_size + e.payload_size);
    }
    struct dvi_view all = { 0 }; /* the cut may lie between two entries */
    return dvi_slice(outer->bytes, HEADER_SIZE, size, "fatbin entries", &all, err);
}

/* --- objects --- */

/* Where wrappers point. */
struct wrapper {
    uint64_t container; /* first: see by_container() */
    uint64_t offset;    /* of the wrapper in the file */
    uint32_t version;
    bool reached;
};
enum { OF_LINK = 2 }; /* its version */

struct reader {
    struct dvi_object *object;
    struct dvi_claims *claims;
    struct dvi_found *found;
    DVI_LIST(struct wrapper) wrappers; /* sorted */
    bool complete;                     /* every wrapper that there is was read */
    bool has_link;                     /* some are of a device link */
};

static int by_container(const void *a, const void *b)
{
    const struct wrapper *x = a, *y = b;
    return (x->container > y->container) - (x->container < y->container);
}

static bool is_of_link(const struct dvi_object *o, const struct dvi_section *section)
{
    return dvi_object_names(o, section, "__nv_relfatbin");
}

static bool is_fatbin(const struct dvi_object *o, const struct dvi_section *section)
{
    return dvi_object_names(o, section, ".nv_fatbin") || is_of_link(o, section);
}

/* The address in a wrapper; DVI_EXTERNAL: of another file; 0: null, or not known. */
static uint64_t container_of(const struct dvi_object *o, uint64_t addr, struct dvi_view word)
{
    const bool in_place = o->fixed_address || (o->is_linked && o->pointer_count == 0);
    const struct dvi_pointer *p = in_place ? NULL : dvi_object_pointer_at(o, addr);
    if (in_place)
        return dvi_peek64(word, 0);
    return p != NULL ? p->value : 0;
}

static enum devimg_status read_wrappers(struct reader *r, const struct dvi_section *section,
                                        struct devimg_error *err)
{
    const struct dvi_object *o = r->object;
    for (uint64_t at = 0; at + WRAPPER_SIZE <= section->data.size; at += WRAPPER_SIZE) {
        const struct dvi_view v = dvi_from(section->data, at);
        if (dvi_all_zero(dvi_head(v, WRAPPER_SIZE)))
            continue;
        if (!dvi_starts_with(v, wrapper_magic, sizeof wrapper_magic)) {
            r->complete = false;
            const enum devimg_status status = dvi_fail(
                err, DEVIMG_MALFORMED, v, 0, "fatbin wrapper that starts with %08" PRIx32,
                dvi_peek32(v, 0));
            return dvi_found_damage(r->found, status, err);
        }
        struct wrapper *w = DVI_ADD(&r->wrappers);
        if (w == NULL)
            return dvi_fail_memory(err, v.source);
        *w = (struct wrapper){ container_of(o, section->addr + at + 8, dvi_from(v, 8)), v.offset,
                               dvi_peek32(v, 4), false };
        r->has_link = r->has_link || w->version == OF_LINK;
    }
    return DEVIMG_OK;
}

/* Mark the wrappers of a container. 0: there are none; else the highest version. */
static uint32_t mark_reached(struct reader *r, uint64_t container)
{
    uint32_t version = 0;
    struct wrapper key = { .container = container };
    struct wrapper *w = r->wrappers.count == 0
                            ? NULL
                            : bsearch(&key, r->wrappers.items, r->wrappers.count, sizeof key,
                                      by_container);
    if (w == NULL)
        return 0;
    while (w > r->wrappers.items && w[-1].container == container)
        w--;
    for (; w < r->wrappers.items + r->wrappers.count && w->container == container; w++) {
        w->reached = true;
        version = w->version > version ? w->version : version;
    }
    return version;
}

static const char *note_of_link(const struct dvi_object *o)
{
    return o->is_linked ? "relocatable: the runtime links it where no other image is for the GPU"
                        : "relocatable: the device link (nvcc -dlink) takes it";
}

static enum devimg_status found_container(struct reader *r, const struct dvi_section *section,
                                          const char *section_name, struct dvi_view bytes,
                                          struct devimg_error *err)
{
    struct dvi_placed outer = dvi_placed_unknown(bytes, "fatbin");
    const uint64_t addr = section->addr + (bytes.offset - section->data.offset);
    const uint32_t version = mark_reached(r, addr);
    outer.section = section_name;
    outer.registered = version != 0 ? DEVIMG_YES : DEVIMG_MAYBE;
    outer.device_link = !is_of_link(r->object, section)
                            ? (version == OF_LINK ? DEVIMG_LINK_RESULT : DEVIMG_LINK_NONE)
                        : r->has_link ? DEVIMG_LINK_LINKED
                                      : DEVIMG_LINK_INPUT;
    if (is_of_link(r->object, section))
        outer.note = note_of_link(r->object);
    else if (version == 0 && r->complete && r->object->is_linked)
        outer.note = "no wrapper leads to it: the runtime does not know it, but host code may load it";
    DVI_TRY(dvi_claims_add(r->claims, bytes, err));
    return walk(&outer, r->found, err);
}

static struct dvi_view next_container(struct dvi_view v)
{
    for (v = dvi_from(v, ALIGNMENT - v.offset % ALIGNMENT); v.size > 0; v = dvi_from(v, ALIGNMENT))
        if (match(v))
            return v;
    return v;
}

static enum devimg_status read_section(struct reader *r, const struct dvi_section *section,
                                       struct devimg_error *err)
{
    const char *name = dvi_arena_text(r->found->arena, section->name);
    struct dvi_view rest = dvi_behind_zeros(section->data);
    unsigned damaged_left = MOST_DAMAGED;
    if (name == NULL)
        return dvi_fail_memory(err, section->name.source);
    while (rest.size > 0) {
        const struct dvi_view one = first(rest);
        enum devimg_status status = DEVIMG_OK;
        if (!match(rest))
            status = dvi_fail(err, DEVIMG_MALFORMED, rest, 0,
                              "bytes %08" PRIx32 " (little-endian) start no fatbin",
                              dvi_peek32(rest, 0));
        else
            status = found_container(r, section, name, one, err);
        const bool moves = match(rest) && dvi_fits(rest, HEADER_SIZE, dvi_peek64(rest, 8));
        DVI_TRY(dvi_found_damage(r->found, status, err));
        if (status != DEVIMG_OK && --damaged_left == 0)
            return dvi_fail(err, DEVIMG_MALFORMED, rest, 0,
                            "%d places held no fatbin: the rest is left out", (int)MOST_DAMAGED);
        rest = moves ? dvi_behind_zeros(dvi_from(rest, one.size)) : next_container(rest);
    }
    return DEVIMG_OK;
}

static enum devimg_status read_object(struct reader *r, struct devimg_error *err)
{
    const struct dvi_object *o = r->object;
    bool any = false;
    for (size_t i = 0; i < o->section_count; i++)
        any = any || is_fatbin(o, &o->sections[i]) ||
              dvi_object_names(o, &o->sections[i], ".nvFatBinSegment");
    if (!any)
        return DEVIMG_OK;
    if (o->pointer_size == 8)
        DVI_TRY(dvi_object_pointers(r->object, err));
    r->complete = o->pointer_size == 8 && !o->pointers_partial;
    for (size_t i = 0; i < o->section_count; i++) {
        const struct dvi_section *section = &o->sections[i];
        if (!dvi_object_names(o, section, ".nvFatBinSegment") || o->pointer_size != 8)
            continue;
        if (!dvi_claims_charge(r->claims, section->data.size))
            return dvi_fail(err, DEVIMG_MALFORMED, section->data, 0, "fatbin sections overlap");
        DVI_TRY(read_wrappers(r, section, err));
    }
    if (r->wrappers.count > 0)
        qsort(r->wrappers.items, r->wrappers.count, sizeof *r->wrappers.items, by_container);
    for (size_t i = 0; i < o->section_count; i++) {
        const struct dvi_section *section = &o->sections[i];
        if (!is_fatbin(o, section))
            continue;
        if (!dvi_claims_charge(r->claims, section->data.size))
            return dvi_fail(err, DEVIMG_MALFORMED, section->data, 0, "fatbin sections overlap");
        DVI_TRY(dvi_found_damage(r->found, read_section(r, section, err), err));
    }
    for (size_t i = 0; i < r->wrappers.count; i++) {
        const struct wrapper *w = &r->wrappers.items[i];
        if (w->reached || w->container == DVI_EXTERNAL || (w->container == 0 && !r->complete))
            continue;
        if (r->found->lost_wrapper_count++ == 0 || w->offset < r->found->lost_wrapper)
            r->found->lost_wrapper = w->offset;
    }
    return DEVIMG_OK;
}

static enum devimg_status walk_object(struct dvi_object *object, struct dvi_claims *claims,
                                      struct dvi_found *found, struct devimg_error *err)
{
    struct reader r = { .object = object, .claims = claims, .found = found };
    const enum devimg_status status = read_object(&r, err);
    DVI_LIST_FREE(&r.wrappers);
    return status;
}

const struct dvi_bundle dvi_bundle_fatbin = {
    .name = "fatbin",
    .match = match,
    .first = first,
    .walk = walk,
    .walk_object = walk_object,
};
