/* SPDX-License-Identifier: Apache-2.0 */
/* What all object formats share: the table of formats, tables read once, lookups by address. */
#include "object/object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DVI_OBJECT(name) extern const struct dvi_object_format dvi_object_##name;
#include "object/objects.def"
#undef DVI_OBJECT

static const struct dvi_object_format *const formats[] = {
#define DVI_OBJECT(name) &dvi_object_##name,
#include "object/objects.def"
#undef DVI_OBJECT
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static const struct dvi_object_format *format_of(struct dvi_view file)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i]->match(file))
            return formats[i];
    return NULL;
}

bool dvi_object_matches(struct dvi_view file)
{
    return format_of(file) != NULL;
}

/* Sections that take part in lookups, by address: without them, each lookup would pass over all
 * sections, and a relocatable object may have 100,000 of them. */
static enum devimg_status index_by_addr(const struct dvi_object *o,
                                        const struct dvi_section *sections, size_t section_count,
                                        const struct dvi_section_start **out, size_t *out_count,
                                        struct devimg_error *err)
{
    struct dvi_section_start *starts = dvi_arena_array(o->arena, section_count, sizeof *starts);
    if (starts == NULL)
        return dvi_fail_memory(err, o->file.source);
    size_t count = 0;
    for (size_t i = 0; i < section_count; i++) {
        const struct dvi_section *s = &sections[i];
        if (s->size > 0 && !s->unmapped)
            starts[count++] = (struct dvi_section_start){ s->addr, s };
    }
    if (!dvi_sort_by_addr(starts, count, sizeof *starts))
        return dvi_fail_memory(err, o->file.source);
    *out = starts;
    *out_count = count;
    return DEVIMG_OK;
}

/* Two regions that hold one address: which bytes stand there is the loader's choice. */
static void report_overlap(struct dvi_object *o)
{
    for (size_t i = 1; i < o->region_start_count; i++) {
        const struct dvi_section *a = o->region_starts[i - 1].section;
        const struct dvi_section *b = o->region_starts[i].section;
        struct devimg_error found;
        if (b->addr - a->addr >= a->size)
            continue;
        (void)dvi_fail(&found, DEVIMG_MALFORMED, b->data, 0,
                       "%s overlap: at 0x%" PRIx64 " and 0x%" PRIx64,
                       o->kind == DEVIMG_KIND_PE ? "sections" : "segments", a->addr, b->addr);
        dvi_object_damage(o, &found);
        o->pointers_partial = true;
        return;
    }
}

enum devimg_status dvi_object_open(struct dvi_view file, struct dvi_arena *arena,
                                   void (*damage)(void *sink, const struct devimg_error *err),
                                   void *damage_sink, struct dvi_object *out,
                                   struct devimg_error *err)
{
    struct dvi_object o = { .file = file,
                            .arena = arena,
                            .format = format_of(file),
                            .damage = damage,
                            .damage_sink = damage_sink };
    if (o.format == NULL)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, file, 0, "no object format that devimg reads");
    DVI_TRY(o.format->open(&o, err));
    DVI_TRY(index_by_addr(&o, o.sections, o.section_count, &o.starts, &o.start_count, err));
    DVI_TRY(
        index_by_addr(&o, o.regions, o.region_count, &o.region_starts, &o.region_start_count, err));
    report_overlap(&o);
    *out = o;
    return DEVIMG_OK;
}

void dvi_object_damage(const struct dvi_object *o, const struct devimg_error *found)
{
    if (o->damage != NULL)
        o->damage(o->damage_sink, found);
}

static enum devimg_status read_once(struct dvi_object *o, bool *done,
                                    enum devimg_status (*read)(struct dvi_object *o,
                                                               struct devimg_error *err),
                                    struct devimg_error *err)
{
    if (*done)
        return DEVIMG_OK;
    *done = true;
    return read != NULL ? read(o, err) : DEVIMG_OK;
}

bool dvi_object_each_symbol(const struct dvi_object *o, enum dvi_symbol_table table,
                            dvi_symbol_visit *visit, void *context)
{
    return o->format->each_symbol != NULL && o->format->each_symbol(o, table, visit, context);
}

struct dvi_view dvi_symbol_name(const struct dvi_symbol *symbol)
{
    struct dvi_view bytes = dvi_head(symbol->name_bytes, DVI_MOST_NAME_BYTES);
    const uint8_t *end = memchr(bytes.data, 0, bytes.size);
    if (end != NULL || !symbol->name_fixed)
        bytes.size = end != NULL ? (size_t)(end - bytes.data) : 0;
    return bytes;
}

enum devimg_status dvi_object_pointers(struct dvi_object *o, struct devimg_error *err)
{
    return read_once(o, &o->pointers_read, o->format->read_pointers, err);
}

enum devimg_status dvi_object_references(struct dvi_object *o, struct devimg_error *err)
{
    return read_once(o, &o->references_read, o->format->read_references, err);
}

static const struct dvi_section *find_by_addr(const struct dvi_section_start *starts, size_t count,
                                              uint64_t addr)
{
    size_t low = 0, high = count; /* the last start that is not after addr */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (starts[middle].addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct dvi_section *s = starts[low - 1].section;
    return addr - s->addr < s->size ? s : NULL;
}

const struct dvi_section *dvi_object_section_of(const struct dvi_object *o, uint64_t addr)
{
    return find_by_addr(o->starts, o->start_count, addr);
}

const struct dvi_section *dvi_object_region_of(const struct dvi_object *o, uint64_t addr)
{
    return o->region_count > 0 ? find_by_addr(o->region_starts, o->region_start_count, addr)
                               : dvi_object_section_of(o, addr);
}

struct dvi_view dvi_object_from(const struct dvi_object *o, uint64_t addr)
{
    const struct dvi_section *s = dvi_object_region_of(o, addr);
    return s != NULL ? dvi_from(s->data, addr - s->addr) : dvi_from(o->file, o->file.size);
}

bool dvi_object_names(const struct dvi_object *o, const struct dvi_section *section,
                      const char *name)
{
    enum { KEPT = 8 }; /* IMAGE_SIZEOF_SHORT_NAME */
    return dvi_equals(section->name, name) ||
           (o->kind != DEVIMG_KIND_ELF && section->name.size == KEPT && strlen(name) > KEPT &&
            memcmp(section->name.data, name, KEPT) == 0);
}

bool dvi_made_addr(uint64_t *next, uint64_t size, uint64_t align, uint64_t *addr)
{
    /* between two sections lies something, so that the end of one is never the start of another */
    enum { FIRST = 0x1000, GAP = 16 };
    const uint64_t most = UINT64_C(1) << 62;
    const bool is_power_of_two = align != 0 && (align & (align - 1)) == 0;
    /* pointers in a section stand at multiples of their size, whatever its header says of it */
    const uint64_t mask = is_power_of_two && align > GAP && align <= 1U << 30 ? align - 1 : GAP - 1;
    const uint64_t start = ((*next != 0 ? *next : FIRST) + mask) & ~mask;
    if (start > most || size > most - start)
        return false;
    *addr = start;
    *next = start + size + GAP;
    return true;
}

size_t dvi_object_pointer_from(const struct dvi_object *o, uint64_t addr)
{
    size_t low = 0, high = o->pointer_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (o->pointers[middle].addr < addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct dvi_pointer *dvi_object_pointer_at(const struct dvi_object *o, uint64_t addr)
{
    const size_t i = dvi_object_pointer_from(o, addr);
    return i < o->pointer_count && o->pointers[i].addr == addr ? &o->pointers[i] : NULL;
}

const struct dvi_code_reference *dvi_object_reference_at(const struct dvi_object *o, uint64_t addr)
{
    const size_t i =
        dvi_first_from_addr(o->references, o->reference_count, sizeof *o->references, addr);
    return i < o->reference_count && o->references[i].addr == addr ? &o->references[i] : NULL;
}

/*
 * A radix sort, one byte of the address a pass. Linkers order relocations by symbol and compilers
 * by section, so the tables are often long and seldom sorted; and no input makes this one slow.
 */
enum { BYTE_VALUES = 256, ADDR_BYTES = 8 };

static uint64_t addr_of(const unsigned char *item)
{
    uint64_t addr;
    memcpy(&addr, item, sizeof addr);
    return addr;
}

/* How many items at the start are in order already. */
static size_t sorted_count(const unsigned char *items, size_t count, size_t item_size)
{
    size_t i = 1;
    while (i < count && addr_of(items + i * item_size) >= addr_of(items + (i - 1) * item_size))
        i++;
    return i < count ? i : count;
}

/* Start of each byte value's run; false: all items have the same byte, so nothing moves. */
static bool runs_of_byte(size_t counts[BYTE_VALUES], size_t total)
{
    size_t start = 0;
    for (size_t value = 0; value < BYTE_VALUES; value++) {
        const size_t count = counts[value];
        if (count == total)
            return false;
        counts[value] = start;
        start += count;
    }
    return true;
}

static inline void move_items(const unsigned char *from, unsigned char *to, size_t count,
                              size_t item_size, size_t byte, size_t places[BYTE_VALUES])
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char *item = from + i * item_size;
        const size_t place = places[addr_of(item) >> (8 * byte) & 0xff]++;
        memcpy(to + place * item_size, item, item_size);
    }
}

/* Sort `items` with `spare`, which has the same size. */
static void radix_sort(unsigned char *items, unsigned char *spare, size_t count, size_t item_size)
{
    size_t counts[ADDR_BYTES][BYTE_VALUES] = { { 0 } };
    unsigned char *from = items, *to = spare;
    for (size_t i = 0; i < count; i++) {
        const uint64_t addr = addr_of(from + i * item_size);
        for (size_t byte = 0; byte < ADDR_BYTES; byte++)
            counts[byte][addr >> (8 * byte) & 0xff]++;
    }
    for (size_t byte = 0; byte < ADDR_BYTES; byte++) {
        if (!runs_of_byte(counts[byte], count))
            continue;
        if (item_size == sizeof(struct dvi_pointer)) /* a size known here is copied faster */
            move_items(from, to, count, sizeof(struct dvi_pointer), byte, counts[byte]);
        else
            move_items(from, to, count, item_size, byte, counts[byte]);
        unsigned char *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * item_size);
}

/* Two sorted runs, from the end; `all` has room for both. Equal addresses keep their order. */
static inline void merge(unsigned char *all, size_t left, const unsigned char *tail, size_t rest,
                         size_t item_size)
{
    while (rest > 0) {
        const bool take_left = left > 0 && addr_of(all + (left - 1) * item_size) >
                                               addr_of(tail + (rest - 1) * item_size);
        const unsigned char *last =
            take_left ? all + --left * item_size : tail + --rest * item_size;
        memcpy(all + (left + rest) * item_size, last, item_size);
    }
}

bool dvi_sort_by_addr(void *items, size_t count, size_t item_size)
{
    unsigned char *all = items;
    size_t left = sorted_count(all, count, item_size); /* of the start, in order */
    if (left == count)
        return true;
    size_t rest = count - left; /* the linker sorts most of a table, and appends some */
    unsigned char *spare = malloc(2 * rest * item_size);
    if (spare == NULL)
        return false;
    unsigned char *tail = spare + rest * item_size;
    memcpy(tail, all + left * item_size, rest * item_size);
    radix_sort(tail, spare, rest, item_size);
    if (item_size == sizeof(struct dvi_pointer)) /* a size known here is copied faster */
        merge(all, left, tail, rest, sizeof(struct dvi_pointer));
    else
        merge(all, left, tail, rest, item_size);
    free(spare);
    return true;
}

size_t dvi_first_from_addr(const void *items, size_t count, size_t item_size, uint64_t addr)
{
    const unsigned char *all = items;
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (addr_of(all + middle * item_size) < addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
