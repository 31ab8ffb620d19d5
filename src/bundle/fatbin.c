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
#include <string.h>

#include "bundle/wrappers.h"

static const uint8_t magic[4] = { 0x50, 0xed, 0x55, 0xba };
enum { WRAPPER_MAGIC = 0x466243b1, OF_LINK = 2 /* version of a wrapper */ };
enum {
    HEADER_SIZE = 16,
    ENTRY_SIZE = 64,
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
static enum devimg_status open_container(struct dvi_view v, struct dvi_view *entries,
                                         uint64_t *size, struct devimg_error *err)
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
            DVI_TRY(
                dvi_found_label(found, plain_text(name), "fatbin identifier", &image->unit, err));
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

static enum devimg_status found_entry(const struct dvi_placed *outer, const struct entry *e,
                                      struct dvi_found *found, struct devimg_error *err)
{
    struct dvi_placed image = *outer;
    image.bundle = "fatbin";
    image.offload = DEVIMG_OFFLOAD_CUDA;
    image.bytes = e->payload;
    image.format = format_of(e->kind);
    image.arch = target_of(e, found->arena);
    image.note = dvi_note_both(found->arena, outer->note, note_of(e, found->arena));
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
        image.packed =
            (e->flags & FLAG_LZ4) != 0 ? DEVIMG_COMPRESSION_LZ4 : DEVIMG_COMPRESSION_ZSTD;
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

bool dvi_fatbin_starts(struct dvi_view v, uint64_t *entries_left, struct dvi_view *out)
{
    struct dvi_view rest = { 0 };
    uint64_t size = 0;
    if (!match(v) || open_container(v, &rest, &size, NULL) != DEVIMG_OK || rest.size != size ||
        size % ALIGNMENT != 0)
        return false;
    while (rest.size > 0) {
        struct entry e = { 0 };
        if (*entries_left == 0 || read_entry(rest, &e, NULL) != DEVIMG_OK)
            return false;
        --*entries_left;
        rest = dvi_from(rest, e.header_size + e.payload_size);
    }
    *out = dvi_head(v, HEADER_SIZE + size);
    return true;
}

/* --- objects --- */

/* The wrappers come first, so that a pointer to them leads back here. */
struct reader {
    struct dvi_wrappers wrappers;
    struct dvi_object *object;
    struct dvi_claims *claims;
    struct dvi_found *found;
    bool has_link;         /* what a device link made is there */
    uint64_t entries_left; /* that may be looked at before what they are of is believed */
};

static bool known_wrapper(struct dvi_wrappers *w, struct dvi_view bytes, uint64_t target,
                          bool *lists)
{
    const uint32_t version = dvi_peek32(bytes, 4);
    (void)w, (void)target, (void)lists;
    return dvi_peek32(bytes, 0) == WRAPPER_MAGIC && (version == 1 || version == OF_LINK);
}

static bool is_link_input(const struct dvi_object *o, const struct dvi_section *section)
{
    return section != NULL && dvi_object_names(o, section, "__nv_relfatbin");
}

static bool is_fatbin(const struct dvi_object *o, const struct dvi_section *section)
{
    return dvi_object_names(o, section, ".nv_fatbin") || is_link_input(o, section);
}

static bool is_wrapper(const struct dvi_object *o, const struct dvi_section *section)
{
    return dvi_object_names(o, section, ".nvFatBinSegment");
}

static enum devimg_device_link link_of(const struct reader *r, const struct dvi_section *section,
                                       uint32_t version)
{
    if (is_link_input(r->object, section))
        return r->has_link ? DEVIMG_LINK_LINKED : DEVIMG_LINK_INPUT;
    return version == OF_LINK ? DEVIMG_LINK_RESULT : DEVIMG_LINK_NONE;
}

static const char *note_of_container(const struct reader *r, enum devimg_device_link link,
                                     uint32_t version)
{
    if (link == DEVIMG_LINK_INPUT)
        return "relocatable: the device link (nvcc -dlink) takes it";
    if (link == DEVIMG_LINK_LINKED)
        return "relocatable: the runtime links it where no other image is for the GPU";
    return version == 0 && r->object->is_linked && dvi_wrappers_are_all(&r->wrappers)
               ? "no CUDA wrapper names it: the runtime does not know it, host code may load it"
               : NULL;
}

/* `section`: NULL where the container lies in none. */
static enum devimg_status found_container(struct reader *r, const struct dvi_section *section,
                                          uint64_t addr, struct dvi_view bytes,
                                          struct devimg_error *err)
{
    struct dvi_placed outer = dvi_placed_unknown(bytes, "fatbin");
    const uint32_t version = dvi_wrappers_take(&r->wrappers, addr, &outer.unit);
    if (section != NULL) {
        outer.section = dvi_arena_text(r->found->arena, section->name);
        if (outer.section == NULL)
            return dvi_fail_memory(err, bytes.source);
    }
    outer.registered = version != 0 ? DEVIMG_YES : DEVIMG_MAYBE;
    outer.device_link = link_of(r, section, version);
    outer.note = note_of_container(r, outer.device_link, version);
    DVI_TRY(dvi_claims_add(r->claims, bytes, err));
    return walk(&outer, r->found, err);
}

/* Behind what could not be read: the next whole container. */
static struct dvi_view next_container(struct reader *r, struct dvi_view v)
{
    struct dvi_view one = { 0 };
    for (v = dvi_from(v, ALIGNMENT - v.offset % ALIGNMENT); v.size > 0; v = dvi_from(v, ALIGNMENT))
        if (dvi_fatbin_starts(v, &r->entries_left, &one))
            return v;
    return v;
}

static enum devimg_status read_section(struct reader *r, const struct dvi_section *section,
                                       struct devimg_error *err)
{
    struct dvi_view rest = dvi_behind_zeros(section->data);
    while (rest.size > 0) {
        const bool starts = match(rest);
        const bool moves = starts && dvi_fits(rest, HEADER_SIZE, dvi_peek64(rest, 8));
        const struct dvi_view one = first(rest);
        const enum devimg_status status =
            starts ? found_container(r, section,
                                     section->addr + (rest.offset - section->data.offset), one, err)
                   : dvi_fail(err, DEVIMG_MALFORMED, rest, 0,
                              "bytes %08" PRIx32 " (little-endian) start no fatbin",
                              dvi_peek32(rest, 0));
        DVI_TRY(dvi_found_damage(r->found, status, err));
        if (status != DEVIMG_OK && --r->wrappers.damaged_left == 0)
            return dvi_fail(err, DEVIMG_MALFORMED, rest, 0,
                            "%d places held no fatbin: the rest is left out", (int)MOST_DAMAGED);
        rest = moves ? dvi_behind_zeros(dvi_from(rest, one.size)) : next_container(r, rest);
    }
    return DEVIMG_OK;
}

static enum devimg_status each_section(
    struct reader *r, bool (*wanted)(const struct dvi_object *o, const struct dvi_section *section),
    enum devimg_status (*take)(struct reader *r, const struct dvi_section *section,
                               struct devimg_error *err),
    struct devimg_error *err)
{
    for (size_t i = 0; i < r->object->section_count; i++) {
        const struct dvi_section *section = &r->object->sections[i];
        if (!wanted(r->object, section) || section->data.size == 0)
            continue;
        if (!dvi_claims_charge(r->claims, section->data.size + section->name.size))
            return dvi_fail(err, DEVIMG_MALFORMED, section->data, 0, "CUDA sections overlap");
        DVI_TRY(dvi_found_damage(r->found, take(r, section, err), err));
    }
    return DEVIMG_OK;
}

static enum devimg_status read_wrappers(struct reader *r, const struct dvi_section *section,
                                        struct devimg_error *err)
{
    return dvi_wrappers_read(&r->wrappers, section, err);
}

static void find_link(struct reader *r)
{
    for (size_t i = 0; i < r->wrappers.list.count && !r->has_link; i++) {
        const struct dvi_wrapper *w = &r->wrappers.list.items[i];
        struct dvi_view one = { 0 };
        r->has_link =
            w->version == OF_LINK &&
            dvi_fatbin_starts(dvi_object_from(r->object, w->target), &r->entries_left, &one) &&
            one.size > HEADER_SIZE;
    }
}

/* Wrappers may name containers in any section of data. */
static enum devimg_status read_elsewhere(struct reader *r, struct devimg_error *err)
{
    for (size_t i = 0; i < r->wrappers.list.count; i++) {
        const struct dvi_wrapper w = r->wrappers.list.items[i];
        const struct dvi_section *section = dvi_object_section_of(r->object, w.target);
        struct dvi_view one = { 0 };
        if (w.used || (section != NULL && is_fatbin(r->object, section)) ||
            !dvi_fatbin_starts(dvi_object_from(r->object, w.target), &r->entries_left, &one))
            continue;
        if (!dvi_claims_charge(r->claims, one.size))
            return dvi_fail(err, DEVIMG_MALFORMED, one, 0, "CUDA fat binaries overlap");
        DVI_TRY(dvi_found_damage(r->found, found_container(r, section, w.target, one, err), err));
    }
    return DEVIMG_OK;
}

static enum devimg_status walk_object(struct dvi_object *object, struct dvi_claims *claims,
                                      struct dvi_found *found, struct devimg_error *err)
{
    struct reader r = { .wrappers = { .object = object,
                                      .found = found,
                                      .vendor = "CUDA",
                                      .one = "fatbin",
                                      .sections = ".nv_fatbin and __nv_relfatbin",
                                      .known = known_wrapper,
                                      .damaged_left = MOST_DAMAGED },
                        .object = object,
                        .claims = claims,
                        .found = found,
                        .entries_left = object->file.size / ENTRY_SIZE * 4 };
    enum devimg_status status = each_section(&r, is_wrapper, read_wrappers, err);
    if (status == DEVIMG_OK)
        status = dvi_wrappers_sort(&r.wrappers, err);
    if (status == DEVIMG_OK) {
        find_link(&r);
        status = each_section(&r, is_fatbin, read_section, err);
    }
    if (status == DEVIMG_OK)
        status = read_elsewhere(&r, err);
    if (status == DEVIMG_OK && dvi_wrappers_are_all(&r.wrappers))
        status = dvi_wrappers_say_lost(&r.wrappers, is_fatbin, err);
    dvi_wrappers_free(&r.wrappers);
    return status;
}

const struct dvi_bundle dvi_bundle_fatbin = {
    .name = "fatbin",
    .match = match,
    .first = first,
    .walk = walk,
    .walk_object = walk_object,
};
