/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports, exports and base relocations of PE files. Source: Microsoft, "PE Format". Addresses u32
 * count from the image base; a "word" has 4 (PE32) or 8 bytes (PE32+).
 *
 * imports         0 names u32   4 time, forwarders u32   12 DLL u32   16 slots u32; ends with zeros
 * delayed imports 0 flags u32 (1: addresses as here)  4 DLL u32  8 handle u32  12 slots u32
 *                16 names u32  20 bound u32, unload u32, time u32; ends with zeros
 * names           words; the highest bit set: an ordinal; else the address of u16 hint and the name
 * slots           words that the loader fills, one a name
 * exports        20 addresses u32, names u32; at: 28 addresses u32, names u32, ordinals u32
 * base relocations, in blocks: 0 page u32   4 size u32 of the block   8 u16 each: type << 12 | offset
 *                 (type 3: 4 bytes, 10: 8 bytes, 0: padding)
 */
#include "object/coff.h"

#include <inttypes.h>

enum { IMPORT_SIZE = 20, DELAYED_SIZE = 32, BLOCK_SIZE = 8, BASED_32 = 3, BASED_64 = 10 };

/* --- imports and exports --- */

struct names {
    const struct dvi_object *o;
    dvi_symbol_visit *visit;
    void *context;
    uint64_t left; /* words of the file: tables may overlap */
    bool ended;    /* the visitor has enough */
};

static void tell(struct names *n, const struct dvi_symbol *symbol)
{
    n->ended = n->ended || !n->visit(n->context, symbol);
}

static struct dvi_view from_base(const struct names *n, uint32_t addr)
{
    return dvi_object_from(n->o, n->o->base + addr);
}

/* The imports of one DLL. */
static void each_import(struct names *n, uint32_t names_addr, uint32_t slots_addr)
{
    const size_t word = n->o->pointer_size;
    const uint64_t ordinal = UINT64_C(1) << (word * 8 - 1);
    const struct dvi_view names = from_base(n, names_addr);
    for (uint64_t at = 0; at + word <= names.size && n->left > 0 && !n->ended; at += word) {
        const uint64_t name = word == 8 ? dvi_peek64(names, at) : dvi_peek32(names, at);
        if (name == 0)
            return;
        n->left--;
        if ((name & ordinal) != 0)
            continue;
        const struct dvi_symbol symbol = { .name_bytes = dvi_from(from_base(n, (uint32_t)name), 2),
                                           .slot = n->o->base + slots_addr + at };
        tell(n, &symbol);
    }
}

static void each_imported_dll(struct names *n, struct dvi_view table)
{
    for (uint64_t at = 0; at + IMPORT_SIZE <= table.size && n->left > 0 && !n->ended;
         at += IMPORT_SIZE, n->left--) {
        const uint32_t names = dvi_peek32(table, at), slots = dvi_peek32(table, at + 16);
        if (dvi_peek32(table, at + 12) == 0)
            return;
        each_import(n, names != 0 ? names : slots, slots);
    }
}

static void each_delayed_dll(struct names *n, struct dvi_view table)
{
    for (uint64_t at = 0; at + DELAYED_SIZE <= table.size && n->left > 0 && !n->ended;
         at += DELAYED_SIZE, n->left--) {
        if (dvi_peek32(table, at + 4) == 0)
            return;
        if ((dvi_peek32(table, at) & 1) != 0) /* else absolute: of linkers before 2000 */
            each_import(n, dvi_peek32(table, at + 16), dvi_peek32(table, at + 12));
    }
}

static void each_export(struct names *n, struct dvi_pe_directory directory)
{
    const struct dvi_view table = dvi_object_from(n->o, directory.addr);
    const uint32_t count = dvi_peek32(table, 24);
    const struct dvi_view addresses = from_base(n, dvi_peek32(table, 28));
    const struct dvi_view names = from_base(n, dvi_peek32(table, 32));
    const struct dvi_view ordinals = from_base(n, dvi_peek32(table, 36));
    for (uint32_t i = 0; i < count && i < names.size / 4 && !n->ended; i++) {
        const uint16_t ordinal = dvi_peek16(ordinals, (uint64_t)i * 2);
        const uint32_t addr = dvi_peek32(addresses, (uint64_t)ordinal * 4);
        struct dvi_symbol symbol = { .name_bytes =
                                         from_base(n, dvi_peek32(names, (uint64_t)i * 4)) };
        const uint64_t place = n->o->base + addr;
        const bool forwarded = place - directory.addr < directory.size; /* to another DLL's */
        symbol.defined = addr != 0 && !forwarded;
        symbol.addr = symbol.defined ? place : 0;
        tell(n, &symbol);
    }
}

bool dvi_pe_each_import_and_export(const struct dvi_object *o, dvi_symbol_visit *visit,
                                   void *context)
{
    const struct dvi_pe_directory imports = dvi_pe_directory_at(o, PE_IMPORTS);
    const struct dvi_pe_directory delayed = dvi_pe_directory_at(o, PE_DELAYED_IMPORTS);
    const struct dvi_pe_directory exports = dvi_pe_directory_at(o, PE_EXPORTS);
    struct names n = {
        .o = o, .visit = visit, .context = context, .left = o->file.size / o->pointer_size
    };
    if (imports.addr != 0)
        each_imported_dll(&n, dvi_object_from(o, imports.addr));
    if (delayed.addr != 0)
        each_delayed_dll(&n, dvi_object_from(o, delayed.addr));
    if (exports.addr != 0)
        each_export(&n, exports);
    return imports.addr != 0 || delayed.addr != 0 || exports.addr != 0;
}

/* --- base relocations --- */

struct walk {
    struct dvi_object *o;
    struct dvi_view table;
    size_t bad;
    uint64_t end;     /* behind the last section */
    uint64_t outside; /* words that point neither at a section nor at a header */
};

/* Pointers are missing: where one was, nobody can tell any more. */
static void report_loss(struct walk *w, uint64_t at, const char *what)
{
    struct devimg_error found;
    w->o->pointers_partial = true;
    if (w->bad++ >= DVI_MOST_REPORTS)
        return;
    (void)dvi_fail(&found, DEVIMG_MALFORMED, w->table, at, "base relocations: %s", what);
    dvi_object_damage(w->o, &found);
}

/* The next block at `*at`, which moves behind it; false: there is none that fits. */
static bool next_block(struct walk *w, uint64_t *at, uint32_t *page, struct dvi_view *entries)
{
    const struct dvi_view rest = dvi_from(w->table, *at);
    const uint32_t size = dvi_peek32(rest, 4);
    if (size < BLOCK_SIZE || size > rest.size)
        return false;
    *page = dvi_peek32(rest, 0);
    *entries = dvi_head(dvi_from(rest, BLOCK_SIZE), size - BLOCK_SIZE);
    *at += size;
    return true;
}

/* The pointer that an entry marks; false: it marks none. */
static bool read_entry(struct walk *w, uint32_t page, struct dvi_view entries, uint64_t at,
                       struct dvi_pointer *out)
{
    const uint16_t entry = dvi_peek16(entries, at);
    const unsigned type = entry >> 12;
    const unsigned size = type == BASED_64 ? 8 : 4;
    if ((type != BASED_64 && type != BASED_32) || size != w->o->pointer_size)
        return false;
    out->addr = w->o->base + page + (entry & 0xfff);
    const struct dvi_view place = dvi_object_from(w->o, out->addr);
    if (place.size < size) {
        report_loss(w, entries.offset + at - w->table.offset,
                    "an address without bytes in the file");
        return false;
    }
    out->value = size == 8 ? dvi_peek64(place, 0) : dvi_peek32(place, 0);
    w->outside += out->value < w->o->base || out->value > w->end;
    return true;
}

static uint64_t end_of(const struct dvi_object *o)
{
    uint64_t end = o->base;
    for (size_t i = 0; i < o->section_count; i++) {
        const uint64_t behind = o->sections[i].addr + o->sections[i].size;
        end = behind > end ? behind : end;
    }
    return end;
}

enum devimg_status dvi_pe_read_pointers(struct dvi_object *o, struct devimg_error *err)
{
    const struct dvi_pe_directory directory = dvi_pe_directory_at(o, PE_RELOCATIONS);
    struct walk w = { .o = o, .table = dvi_object_from(o, directory.addr), .end = end_of(o) };
    struct dvi_view entries = { 0 };
    uint32_t page = 0;
    uint64_t at = 0, most = 0;
    if (directory.addr == 0)
        return DEVIMG_OK;
    if (w.table.size < directory.size)
        report_loss(&w, 0, "the table goes on past the file");
    w.table = dvi_head(w.table, directory.size);
    while (next_block(&w, &at, &page, &entries))
        most += entries.size / 2;
    if (!dvi_all_zero(dvi_from(w.table, at)))
        report_loss(&w, at, "a block that does not fit in the table");
    if (most > o->file.size / o->pointer_size) {
        report_loss(&w, 0, "more places than the file has words");
        return DEVIMG_OK;
    }
    struct dvi_pointer *pointers = dvi_arena_array(o->arena, (size_t)most, sizeof *pointers);
    if (pointers == NULL)
        return dvi_fail_memory(err, o->file.source);
    size_t count = 0;
    for (at = 0; next_block(&w, &at, &page, &entries);)
        for (uint64_t i = 0; i + 2 <= entries.size && count < most; i += 2)
            count += read_entry(&w, page, entries, i, &pointers[count]);
    if (w.outside > count / 2)
        report_loss(&w, 0, "most words that they mark point outside of the image");
    if (!dvi_sort_by_addr(pointers, count, sizeof *pointers))
        return dvi_fail_memory(err, o->file.source);
    o->pointers = pointers;
    o->pointer_count = count;
    return DEVIMG_OK;
}
