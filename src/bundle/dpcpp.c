/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DPC++ descriptors in an object: what the offload wrapper writes and __sycl_register_lib reads.
 * Constant data with relocations; 64-bit hosts, little-endian.
 * Sources: intel/llvm sycl/source/detail/compiler.hpp,
 * clang/tools/clang-offload-wrapper/ClangOffloadWrapper.cpp (struct versions 1, 2, 3);
 * llvm/llvm-project llvm/lib/Frontend/Offloading/OffloadWrapper.cpp (version 3, kind 8).
 *
 * library descriptor, 32 bytes:
 *    0  u16 version 1     2  u16 image count     4  zero u32
 *    8  image structs     16, 24  null
 * image struct, 96 bytes (version 3: 80, without the two manifest pointers):
 *    0  u16 version       2  u8 offload kind     3  u8 format     4  zero u32
 *    8  target text      16  compile options    24  link options
 *   32, 40  manifest (versions 1 and 2)
 *   then begin/end pairs: image, entries, property sets
 * entry, 32 bytes:  8 name   (or 56 bytes, as llvm.org writes it:  24 name)
 * property set, 24 bytes:  0 name   8, 16 properties
 * property, 32 bytes:  0 name   8 value   16 u32 type (1 u32, 2 bytes)   24 u64 value or size
 */
#include "bundle/dpcpp.h"
#include "base/names.h"
#include "preload/descriptor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    DESCRIPTOR_SIZE = 32,
    SET_SIZE = 24,
    PROPERTY_SIZE = 32,
    PROPERTY_U32 = 1,
    PROPERTY_BYTES = 2,
    MOST_FORMAT = 6,     /* of llvm.org (OffloadBinary.h, ImageKind: SPIR-V); DPC++ ends with 4 */
    MOST_DAMAGED = 4096, /* image structs of one object that cannot be read */
    TEXT_PER_FILE_BYTE = 4, /* texts may be shared, but not without end */
    TEXT_AT_LEAST = 64 << 10,
    NEAR = 4 /* tables that are read by turns: images, entries, property sets, properties */
};

struct reader {
    struct dvi_object *object;
    struct dvi_claims *claims;
    struct dvi_found *found;
    const struct dvi_section *last;  /* region where the last look-up ended */
    size_t near[NEAR];               /* indexes of pointers looked up, in several tables at once */
    size_t near_next;                /* the one to give up next */
    const struct dvi_section *named; /* the last one whose name was kept, as `section_name` */
    const char *section_name;
    bool in_place;         /* no relocations: pointers are the words that stand there */
    uint64_t text_left;    /* bytes of text that may still be read */
    unsigned damaged_left; /* image structs that may still be damaged */
    bool exported_read;    /* of the image under way: counting costs as much as sorting */
};

/* A pair of pointers [begin, end) into one section. */
struct range {
    uint64_t addr;
    struct dvi_view bytes; /* size 0: a null pair */
};

static struct dvi_view bytes_from(struct reader *r, uint64_t addr)
{
    if (r->last == NULL || addr < r->last->addr || addr - r->last->addr >= r->last->data.size)
        r->last = dvi_object_region_of(r->object, addr);
    if (r->last == NULL || addr - r->last->addr >= r->last->data.size)
        return dvi_view_of(NULL, 0, r->object->file.source);
    return dvi_from(r->last->data, addr - r->last->addr);
}

/* The index of the first pointer at or behind `addr`: mostly just behind one looked up before. */
static size_t pointer_index(struct reader *r, uint64_t addr)
{
    enum { REACH = 128, STEPS = 16 };
    const struct dvi_object *o = r->object;
    for (size_t k = 0; k < NEAR; k++) {
        size_t i = r->near[k];
        if (i >= o->pointer_count || addr - o->pointers[i].addr > REACH)
            continue;
        for (int step = 0; step < STEPS && i < o->pointer_count; step++, i++)
            if (o->pointers[i].addr >= addr) {
                r->near[k] = i;
                return i;
            }
    }
    const size_t found = dvi_object_pointer_from(o, addr);
    r->near[r->near_next++ % NEAR] = found;
    return found;
}

/* The pointer at `addr`, or NULL. */
static const struct dvi_pointer *find_pointer(struct reader *r, uint64_t addr)
{
    const struct dvi_object *o = r->object;
    const size_t i = pointer_index(r, addr);
    return i < o->pointer_count && o->pointers[i].addr == addr ? &o->pointers[i] : NULL;
}

/* The address that stands at `addr`; 0: a null pointer, or one into another file. */
static uint64_t pointer_at(struct reader *r, uint64_t addr)
{
    if (r->in_place)
        return dvi_peek64(bytes_from(r, addr), 0);
    const struct dvi_pointer *p = find_pointer(r, addr);
    return p != NULL && p->value != DVI_EXTERNAL ? p->value : 0;
}

/* The text at an address. Many pointers may name one long text, so all that is looked at is
 * bounded: false past that, as for no text. */
static bool view_at(struct reader *r, uint64_t addr, struct dvi_view *out)
{
    enum { MOST_TEXT = 64 * 1024 };
    struct dvi_view bytes = bytes_from(r, addr);
    if (bytes.size > MOST_TEXT)
        bytes.size = MOST_TEXT;
    if (bytes.size > r->text_left)
        bytes.size = (size_t)r->text_left;
    const bool found = addr != 0 && dvi_text_at(bytes, 0, "text", out, NULL) == DEVIMG_OK;
    r->text_left -= found ? out->size + 1 : bytes.size;
    return found;
}

/* The same, to keep: a copy, since a mapped file may change while its records are read. NULL: there
 * is no text. NOMEM is the only failure. */
static enum devimg_status text_at(struct reader *r, uint64_t addr, const char **out,
                                  struct devimg_error *err)
{
    struct dvi_view text = { 0 };
    *out = NULL;
    if (!view_at(r, addr, &text))
        return DEVIMG_OK;
    *out = dvi_arena_text(r->found->arena, text);
    return *out != NULL ? DEVIMG_OK : dvi_fail_memory(err, text.source);
}

static bool is_external(struct reader *r, uint64_t addr)
{
    const struct dvi_pointer *p = r->in_place ? NULL : find_pointer(r, addr);
    return p != NULL && p->value == DVI_EXTERNAL;
}

static enum devimg_status range_at(struct reader *r, uint64_t addr, const char *what,
                                   struct range *out, struct devimg_error *err)
{
    const uint64_t begin = pointer_at(r, addr);
    const uint64_t end = pointer_at(r, addr + 8);
    const struct dvi_view at = bytes_from(r, addr);
    if (is_external(r, addr) || is_external(r, addr + 8))
        return dvi_fail(err, DEVIMG_MALFORMED, at, 0, "%s: begin or end lies in another file",
                        what);
    const struct dvi_view bytes = bytes_from(r, begin);
    *out = (struct range){ begin, dvi_from(bytes, bytes.size) };
    if (begin == end)
        return DEVIMG_OK;
    if (end < begin || end - begin > bytes.size)
        return dvi_fail(err, DEVIMG_MALFORMED, at, 0,
                        "%s from address 0x%" PRIx64 " to 0x%" PRIx64
                        ": no such range in a section",
                        what, begin, end);
    return dvi_slice(bytes, 0, end - begin, what, &out->bytes, err);
}

/* --- entries --- */

static bool is_new_entry(struct reader *r, const struct range *table)
{
    return dvi_peek64(table->bytes, 0) == 0 && dvi_peek16(table->bytes, 8) == 1 &&
           dvi_peek16(table->bytes, 10) == 8 && dvi_peek32(table->bytes, 12) == 0 &&
           (r->in_place || find_pointer(r, table->addr + 8) == NULL) &&
           table->bytes.size % DVI_NEW_ENTRY_SIZE == 0;
}

static enum devimg_status read_entries(struct reader *r, uint64_t addr, struct dvi_placed *image,
                                       struct devimg_error *err)
{
    struct range table = { 0 };
    DVI_TRY(range_at(r, addr, "entries", &table, err));
    const bool is_new = is_new_entry(r, &table);
    const size_t stride = is_new ? DVI_NEW_ENTRY_SIZE : DVI_ENTRY_SIZE;
    const size_t count = table.bytes.size / stride;
    if (table.bytes.size % stride != 0)
        return dvi_fail(err, DEVIMG_MALFORMED, table.bytes, 0,
                        "entry table of %zu bytes: no multiple of %zu", table.bytes.size, stride);
    DVI_TRY(dvi_found_names(r->found, count, "entry names", table.bytes, err));
    const char **names = dvi_arena_array(r->found->arena, count, sizeof *names);
    if (names == NULL)
        return dvi_fail_memory(err, table.bytes.source);
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = i * stride + (is_new ? 24 : 8);
        DVI_TRY(text_at(r, pointer_at(r, table.addr + at), &names[i], err));
        if (names[i] == NULL)
            return dvi_fail(err, DEVIMG_MALFORMED, table.bytes, at,
                            "entry %zu of %zu: its name points at %s", i, count,
                            r->text_left > 0 ? "no text" : "text of too many bytes");
    }
    image->entries = names; /* all of them or none: half a set would pair with other images */
    image->entry_count = (uint32_t)count;
    image->entries_known = true;
    return DEVIMG_OK;
}

/* --- property sets --- */

static int name_to_text(const void *key, const void *item)
{
    const char *text = *(const char *const *)item;
    return dvi_compare(*(const struct dvi_view *)key, dvi_view_of(text, strlen(text), NULL));
}

/* The place of an entry's name among sorted ones; count: it is none of them. */
static size_t place_of(const char *const *sorted, size_t count, struct dvi_view name)
{
    const char *const *found = bsearch(&name, sorted, count, sizeof *sorted, name_to_text);
    return found != NULL ? (size_t)(found - sorted) : count;
}

/* Entries in "SYCL/exported symbols" are plain functions, no kernels: behind the kernels. */
static enum devimg_status take_exported(struct reader *r, const struct range *properties,
                                        struct dvi_placed *image, struct devimg_error *err)
{
    if (r->exported_read)
        return DEVIMG_OK;
    r->exported_read = true;
    const size_t all = image->entry_count;
    const char **sorted = dvi_arena_array(r->found->arena, all, sizeof *sorted);
    const char **ordered = dvi_arena_array(r->found->arena, all, sizeof *ordered);
    uint8_t *is_exported = dvi_arena_array(r->found->arena, all, 1);
    if (sorted == NULL || ordered == NULL || is_exported == NULL)
        return dvi_fail_memory(err, properties->bytes.source);
    for (size_t i = 0; i < all; i++)
        sorted[i] = image->entries[i];
    const size_t count = dvi_names_sort(sorted, image->entry_count);
    for (size_t at = 0; at + PROPERTY_SIZE <= properties->bytes.size; at += PROPERTY_SIZE) {
        struct dvi_view name = { 0 };
        if (!view_at(r, pointer_at(r, properties->addr + at), &name))
            return dvi_fail(err, DEVIMG_MALFORMED, properties->bytes, at,
                            "exported symbol without a name");
        const size_t place = place_of(sorted, count, name);
        if (place < count)
            is_exported[place] = 1;
    }
    size_t kept = 0;
    for (unsigned exported = 0; exported < 2; exported++)
        for (size_t i = 0; i < all; i++) {
            const char *name = image->entries[i];
            const size_t place =
                place_of(sorted, count, dvi_view_of(name, strlen(name), "entries"));
            if (is_exported[place] == exported)
                ordered[kept++] = name;
            image->exported_count += exported != 0 && is_exported[place] != 0;
        }
    image->entries = ordered;
    return DEVIMG_OK;
}

/* A list of aspect numbers: a blob of u64 bit count, then u32 values. */
static enum devimg_status read_aspects(struct reader *r, uint64_t property_addr, uint64_t size,
                                       struct dvi_placed *image, struct devimg_error *err)
{
    const struct dvi_view from = bytes_from(r, pointer_at(r, property_addr + 8));
    struct dvi_view blob = { 0 };
    DVI_TRY(dvi_slice(from, 0, size, "aspects", &blob, err));
    if (size < 8 || (size - 8) % 4 != 0 || dvi_peek64(blob, 0) != (size - 8) * 8)
        return dvi_fail(err, DEVIMG_MALFORMED, blob, 0,
                        "aspects of %" PRIu64 " bytes state %" PRIu64 " bits", size,
                        dvi_peek64(blob, 0));
    const size_t count = (blob.size - 8) / 4;
    DVI_TRY(dvi_found_names(r->found, count, "aspects", blob, err));
    uint32_t *aspects = dvi_arena_array(r->found->arena, count, sizeof *aspects);
    if (aspects == NULL)
        return dvi_fail_memory(err, blob.source);
    for (size_t i = 0; i < count; i++)
        aspects[i] = dvi_peek32(blob, 8 + i * 4);
    image->aspects = aspects;
    image->aspect_count = (uint32_t)count;
    image->aspects_known = true;
    return DEVIMG_OK;
}

static enum devimg_status read_requirement(struct reader *r, uint64_t property_addr,
                                           struct dvi_view property, struct dvi_placed *image,
                                           struct devimg_error *err)
{
    struct dvi_view name = { 0 };
    const uint32_t type = dvi_peek32(property, 16);
    const uint64_t value = dvi_peek64(property, 24);
    if (!view_at(r, pointer_at(r, property_addr), &name))
        return dvi_fail(err, DEVIMG_MALFORMED, property, 0, "property without a name");
    if (dvi_equals(name, "reqd_sub_group_size") && type == PROPERTY_U32) {
        if (value > UINT32_MAX)
            return dvi_fail(err, DEVIMG_MALFORMED, property, 24,
                            "required sub-group size %" PRIu64 ": a u32 property", value);
        image->required_sub_group_size = value;
    }
    if (dvi_equals(name, "aspects") && type == PROPERTY_BYTES)
        return read_aspects(r, property_addr, value, image, err);
    return DEVIMG_OK;
}

static enum devimg_status read_set(struct reader *r, uint64_t set_addr, struct dvi_placed *image,
                                   struct devimg_error *err)
{
    struct dvi_view name = { 0 };
    struct range properties = { 0 };
    if (!view_at(r, pointer_at(r, set_addr), &name))
        return dvi_fail(err, DEVIMG_MALFORMED, bytes_from(r, set_addr), 0,
                        "property set without a name");
    DVI_TRY(range_at(r, set_addr + 8, "properties", &properties, err));
    if (properties.bytes.size % PROPERTY_SIZE != 0)
        return dvi_fail(err, DEVIMG_MALFORMED, properties.bytes, 0,
                        "properties of %zu bytes: no multiple of %d", properties.bytes.size,
                        (int)PROPERTY_SIZE);
    if (dvi_equals(name, "SYCL/exported symbols"))
        return take_exported(r, &properties, image, err);
    if (!dvi_equals(name, "SYCL/device requirements"))
        return DEVIMG_OK;
    for (size_t at = 0; at + PROPERTY_SIZE <= properties.bytes.size; at += PROPERTY_SIZE)
        DVI_TRY(
            read_requirement(r, properties.addr + at, dvi_from(properties.bytes, at), image, err));
    return DEVIMG_OK;
}

static enum devimg_status read_sets(struct reader *r, uint64_t addr, struct dvi_placed *image,
                                    struct devimg_error *err)
{
    struct range sets = { 0 };
    DVI_TRY(range_at(r, addr, "property sets", &sets, err));
    if (sets.bytes.size % SET_SIZE != 0)
        return dvi_fail(err, DEVIMG_MALFORMED, sets.bytes, 0,
                        "property sets of %zu bytes: no multiple of %d", sets.bytes.size,
                        (int)SET_SIZE);
    for (size_t at = 0; at + SET_SIZE <= sets.bytes.size; at += SET_SIZE)
        DVI_TRY(read_set(r, sets.addr + at, image, err));
    return DEVIMG_OK;
}

/* --- images --- */

/* The name of a section, kept once for the images that follow each other in it. */
static enum devimg_status name_section(struct reader *r, const struct dvi_section *section,
                                       const char **out, struct devimg_error *err)
{
    if (section == NULL || section->name.size > r->text_left)
        return DEVIMG_OK;
    if (section != r->named) {
        r->text_left -= section->name.size;
        r->named = section;
        r->section_name = dvi_arena_text(r->found->arena, section->name);
    }
    *out = r->section_name;
    return *out != NULL ? DEVIMG_OK : dvi_fail_memory(err, section->name.source);
}

/* Where an image ought to be, the runtime would read whatever stands there: that is said of the
 * registration, besides the damage that nothing can be read. */
static enum devimg_status image_range(struct reader *r, uint64_t pairs, struct range *out,
                                      struct devimg_error *err)
{
    const struct dvi_view at = bytes_from(r, pairs);
    const enum devimg_status status = range_at(r, pairs, "image", out, err);
    if (status == DEVIMG_OK || is_external(r, pairs) || is_external(r, pairs + 8))
        return status;
    struct devimg_error what = { 0 };
    (void)dvi_fail(&what, DEVIMG_MALFORMED, at, 0,
                   "a descriptor names an image from 0x%" PRIx64 " to 0x%" PRIx64
                   ", outside of every section",
                   pointer_at(r, pairs), pointer_at(r, pairs + 8));
    if (r->found->say(r->found, "registration", "descriptor-outside", &what) != DEVIMG_OK)
        return dvi_fail_memory(err, at.source);
    return status;
}

static enum devimg_status read_image(struct reader *r, const struct dvi_descriptor *d,
                                     uint64_t addr, uint32_t version, struct devimg_error *err)
{
    const struct dvi_view at = bytes_from(r, addr);
    const uint64_t pairs = addr + dvi_image_struct_pairs(version);
    struct dvi_placed image = dvi_placed_unknown(at, "dpcpp");
    struct range bytes = { 0 };
    image.offload = DEVIMG_OFFLOAD_SYCL;
    image.unit = d->unit;
    image.registered = d->registered;
    if (d->registered == DEVIMG_NO)
        image.note = "nothing passes its descriptor to __sycl_register_lib";
    const uint64_t options = pointer_at(r, addr + 16);
    DVI_TRY(text_at(r, pointer_at(r, addr + 8), &image.entry_id, err));
    DVI_TRY(text_at(r, options, &image.compile_options, err));
    if (image.entry_id == NULL)
        return dvi_fail(err, DEVIMG_MALFORMED, at, 8, "image struct: its target points at no text");
    if (image.compile_options == NULL && options != 0) {
        const enum devimg_status lost =
            dvi_fail(err, DEVIMG_MALFORMED, at, 16, "image struct: its options point at no text");
        DVI_TRY(dvi_found_damage(r->found, lost, err));
    }
    DVI_TRY(image_range(r, pairs, &bytes, err));
    image.bytes = bytes.bytes;
    DVI_TRY(name_section(r, dvi_object_section_of(r->object, bytes.addr), &image.section, err));
    image.no_code = strcmp(image.entry_id, "native_cpu") == 0;
    r->exported_read = false;
    DVI_TRY(dvi_claims_add(r->claims, image.bytes, err));
    DVI_TRY(dvi_found_damage(r->found, read_entries(r, pairs + DVI_PAIR_SIZE, &image, err), err));
    DVI_TRY(dvi_found_damage(r->found,
                             read_sets(r, pairs + 2 * (uint64_t)DVI_PAIR_SIZE, &image, err), err));
    return dvi_found_image(r->found, &image, err);
}

static enum devimg_status read_images(struct reader *r, const struct dvi_descriptor *d,
                                      struct devimg_error *err)
{
    const uint32_t version = dvi_peek16(bytes_from(r, d->images_addr), 0);
    const uint64_t stride = dvi_image_struct_size(version);
    for (uint32_t i = 0; i < d->image_count; i++) {
        const uint64_t addr = d->images_addr + i * stride;
        const struct dvi_view at = bytes_from(r, addr);
        if (at.size < stride || dvi_peek16(at, 0) != version)
            return dvi_fail(err, DEVIMG_MALFORMED, bytes_from(r, d->addr), 2,
                            "descriptor of %" PRIu32 " images: no image struct of version %" PRIu32
                            " at number %" PRIu32,
                            d->image_count, version, i);
        const enum devimg_status status = read_image(r, d, addr, version, err);
        DVI_TRY(dvi_found_damage(r->found, status, err));
        r->claims->incomplete = r->claims->incomplete || status != DEVIMG_OK;
        if (status != DEVIMG_OK && --r->damaged_left == 0)
            return dvi_fail(err, DEVIMG_MALFORMED, at, 0,
                            "%d image structs could not be read: the rest is left out",
                            (int)MOST_DAMAGED);
    }
    return DEVIMG_OK;
}

/* --- descriptors --- */

static bool is_image_struct(struct reader *r, uint64_t addr)
{
    const struct dvi_view at = bytes_from(r, addr);
    const uint32_t version = dvi_peek16(at, 0);
    const unsigned kind = at.size > 3 ? at.data[2] : 0;
    return dvi_image_struct_known(version, kind) && at.data[3] <= MOST_FORMAT &&
           dvi_peek32(at, 4) == 0 && pointer_at(r, addr + 8) != 0;
}

/* A descriptor whose image pointer stands at `slot` and points at `images`. */
static bool is_descriptor(struct reader *r, uint64_t slot, uint64_t images)
{
    const uint64_t addr = slot - 8;
    const struct dvi_view at = bytes_from(r, addr);
    return slot >= 8 && at.size >= DESCRIPTOR_SIZE && dvi_peek16(at, 0) == 1 &&
           dvi_peek16(at, 2) > 0 && dvi_peek32(at, 4) == 0 && pointer_at(r, addr + 16) == 0 &&
           pointer_at(r, addr + 24) == 0 && dvi_peek64(at, 16) == 0 && dvi_peek64(at, 24) == 0 &&
           (r->in_place || find_pointer(r, addr) == NULL) && is_image_struct(r, images);
}

typedef DVI_LIST(struct dvi_descriptor) descriptor_list;

static enum devimg_status consider(struct reader *r, uint64_t slot, uint64_t images,
                                   descriptor_list *out, struct devimg_error *err)
{
    if (!is_descriptor(r, slot, images))
        return DEVIMG_OK;
    struct dvi_descriptor *d = DVI_ADD(out);
    if (d == NULL)
        return dvi_fail_memory(err, r->object->file.source);
    *d = (struct dvi_descriptor){ .addr = slot - 8,
                                  .image_count = dvi_peek16(bytes_from(r, slot - 8), 2),
                                  .images_addr = images,
                                  .registered = DEVIMG_MAYBE };
    return DEVIMG_OK;
}

/* The two words behind a descriptor's pointer hold none, and an image struct, which holds some,
 * stands at a multiple of their size. Most pointers end here, without a look at what they mark. */
static bool may_be_slot(const struct dvi_object *o, size_t i)
{
    const struct dvi_pointer *p = &o->pointers[i];
    return (p->value & 7) == 0 && /* not DVI_EXTERNAL either */
           (i + 1 == o->pointer_count || p[1].addr == p->addr || p[1].addr - p->addr >= 24);
}

static enum devimg_status find_by_pointers(struct reader *r, descriptor_list *out,
                                           struct devimg_error *err)
{
    const struct dvi_object *o = r->object;
    for (size_t i = 0; i < o->pointer_count; i++)
        if (may_be_slot(o, i))
            DVI_TRY(consider(r, o->pointers[i].addr, o->pointers[i].value, out, err));
    return DEVIMG_OK;
}

/* Without a section table there are segments, and one of code may hold constants as well. */
static bool is_code_alone(const struct dvi_section *section)
{
    return section->executable && !dvi_equals(section->name, "PT_LOAD");
}

/* Linked at a fixed address, pointers to its own data have no relocations: look at each word. */
static enum devimg_status find_in_place(struct reader *r, descriptor_list *out,
                                        struct devimg_error *err)
{
    const struct dvi_object *o = r->object;
    const bool has_regions = o->region_count > 0;
    for (size_t s = 0; s < (has_regions ? o->region_count : o->section_count); s++) {
        const struct dvi_section *section = has_regions ? &o->regions[s] : &o->sections[s];
        if ((section->addr == 0 && !has_regions) || is_code_alone(section))
            continue;
        if (!dvi_claims_charge(r->claims, section->data.size))
            return dvi_fail(err, DEVIMG_MALFORMED, section->data, 0, "sections overlap");
        for (uint64_t at = -section->addr & 7; at + 8 <= section->data.size; at += 8) {
            const uint64_t value = dvi_peek64(section->data, at);
            if (value != 0 && (value & 7) == 0 && at >= 8 && dvi_peek32(section->data, at - 4) == 0)
                DVI_TRY(consider(r, section->addr + at, value, out, err));
        }
    }
    return DEVIMG_OK;
}

static int by_addr(const void *a, const void *b)
{
    const struct dvi_descriptor *x = a, *y = b;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

struct dvi_descriptor *dvi_descriptor_at(struct dvi_descriptor *descriptors, size_t count,
                                         uint64_t addr)
{
    const struct dvi_descriptor key = { .addr = addr };
    return count == 0 ? NULL : bsearch(&key, descriptors, count, sizeof key, by_addr);
}

static void count_descriptors(struct dvi_found *found, const struct dvi_descriptor *descriptors,
                              size_t count)
{
    found->descriptor_count += (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        const bool registered = descriptors[i].registered == DEVIMG_YES;
        found->registered_count += registered;
        found->registered_images += registered ? descriptors[i].image_count : 0;
        found->unsure_count += descriptors[i].registered == DEVIMG_MAYBE;
    }
}

static enum devimg_status read_descriptors(struct reader *r, descriptor_list *list,
                                           struct devimg_error *err)
{
    DVI_TRY(r->in_place ? find_in_place(r, list, err) : find_by_pointers(r, list, err));
    if (list->count == 0)
        return DEVIMG_OK;
    qsort(list->items, list->count, sizeof *list->items, by_addr);
    for (size_t i = 0; i < list->count; i++) {
        struct dvi_descriptor *d = &list->items[i];
        DVI_TRY(text_at(r, pointer_at(r, d->images_addr + 8), &d->target, err));
    }
    DVI_TRY(dvi_registration_read(r->object, list->items, list->count, err));
    DVI_TRY(dvi_units_read(r->object, list->items, list->count, err));
    count_descriptors(r->found, list->items, list->count);
    for (size_t i = 0; i < list->count && r->damaged_left > 0; i++) {
        const enum devimg_status status = read_images(r, &list->items[i], err);
        DVI_TRY(dvi_found_damage(r->found, status, err));
        r->claims->incomplete = r->claims->incomplete || status != DEVIMG_OK;
        if (status != DEVIMG_OK && r->damaged_left > 0)
            r->damaged_left--;
    }
    return DEVIMG_OK;
}

static enum devimg_status walk_object(struct dvi_object *object, struct dvi_claims *claims,
                                      struct dvi_found *found, struct devimg_error *err)
{
    found->descriptors_unknown = object->pointer_size != 8; /* the layout there is not known */
    if (found->descriptors_unknown)
        return DEVIMG_OK;
    DVI_TRY(dvi_object_pointers(object, err));
    found->descriptors_unknown = object->pointers_partial;
    struct reader r = {
        .object = object,
        .claims = claims,
        .found = found,
        .in_place = object->fixed_address || (object->is_linked && object->pointer_count == 0),
        .text_left = TEXT_AT_LEAST + (uint64_t)object->file.size * TEXT_PER_FILE_BYTE,
        .damaged_left = MOST_DAMAGED
    };
    descriptor_list list = { 0 };
    const enum devimg_status status = read_descriptors(&r, &list, err);
    DVI_LIST_FREE(&list);
    return status;
}

const struct dvi_bundle dvi_bundle_dpcpp = {
    .name = "dpcpp",
    .walk_object = walk_object,
};
