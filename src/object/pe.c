/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PE: Windows programs and DLLs, 32 and 64 bits. Addresses are those of the preferred image base,
 * as the words in the file state them. Sources: Microsoft, "PE Format". More in docs/format/pe.md.
 *
 * file      0 "MZ"         60 header at u32
 * header    0 "PE\0\0"      4 header, sections and symbols of COFF: coff.c
 * optional  0 magic u16 (0x10b: 32 bits, 0x20b: 64)       16 entry u32
 *          28/24 image base (u32/u64)   92/108 directories u32   96/112 directories (u32 address,
 *          u32 size): 0 exports, 1 imports, 5 base relocations, 13 delayed imports
 * Addresses in all of these tables count from the image base.
 */
#include "object/coff.h"

#include <inttypes.h>

enum {
    HEADER_AT = 60,
    SIGNATURE_SIZE = 4,
    MAGIC_32 = 0x10b,
    MAGIC_64 = 0x20b,
    DIRECTORY_SIZE = 8,
    MOST_DIRECTORIES = 16
};

static bool match(struct dvi_view file)
{
    enum { MOST_STUB = 1 << 20 }; /* no DOS program before the header is as long */
    const uint32_t at = dvi_peek32(file, HEADER_AT);
    return dvi_starts_with(file, "MZ", 2) && file.size >= HEADER_AT + 4 &&
           (dvi_starts_with(dvi_from(file, at), "PE\0\0", 4) ||
            (at >= file.size && at < MOST_STUB)); /* cut; open says so */
}

struct pe_header {
    bool wide;
    uint32_t entry;
    uint64_t symbols_at, symbol_count;
    uint64_t sections_at, section_count;
};

/* A base that no loader takes: addresses and names do not hold. */
static void check_base(struct dvi_object *o, struct dvi_view optional, uint64_t at)
{
    struct devimg_error found;
    if ((o->base & 0xffff) == 0 && o->base <= UINT64_MAX - UINT32_MAX)
        return;
    (void)dvi_fail(&found, DEVIMG_MALFORMED, optional, at,
                   "image base 0x%" PRIx64 ": no multiple of 64 KiB, or past the last address",
                   o->base);
    dvi_object_damage(o, &found);
    o->symbols_partial = o->pointers_partial = true;
}

static enum devimg_status read_optional(struct dvi_object *o, struct dvi_view optional,
                                        struct pe_header *h, struct devimg_error *err)
{
    struct dvi_coff *coff = o->state;
    struct dvi_cursor c = dvi_cursor_at(optional, 0);
    const uint16_t magic = dvi_le16(&c);
    DVI_TRY(dvi_cursor_check(&c, "optional header", err));
    if (magic != MAGIC_32 && magic != MAGIC_64)
        return dvi_fail(err, DEVIMG_MALFORMED, optional, 0,
                        "optional header magic 0x%x: expected 0x10b (32-bit) or 0x20b (64-bit)",
                        magic);
    h->wide = magic == MAGIC_64;
    dvi_skip(&c, 14);
    h->entry = dvi_le32(&c);
    dvi_skip(&c, h->wide ? 4 : 8);
    const uint64_t base_at = c.at;
    o->base = h->wide ? dvi_le64(&c) : dvi_le32(&c);
    dvi_skip(&c, h->wide ? 76 : 60);
    const uint32_t count = dvi_le32(&c);
    DVI_TRY(dvi_cursor_check(&c, "optional header", err));
    const uint32_t used = count < MOST_DIRECTORIES ? count : MOST_DIRECTORIES;
    coff->directories = dvi_take(&c, (uint64_t)used * DIRECTORY_SIZE);
    DVI_TRY(dvi_cursor_check(&c, "data directories", err));
    check_base(o, optional, base_at);
    return DEVIMG_OK;
}

static enum devimg_status read_headers(struct dvi_object *o, struct pe_header *h,
                                       struct devimg_error *err)
{
    struct dvi_coff *coff = o->state;
    struct dvi_cursor c = dvi_cursor_at(o->file, HEADER_AT);
    const uint64_t at = dvi_le32(&c);
    DVI_TRY(dvi_cursor_check(&c, "MZ header", err));
    c = dvi_cursor_at(o->file, at + SIGNATURE_SIZE);
    coff->machine = dvi_le16(&c);
    h->section_count = dvi_le16(&c);
    dvi_skip(&c, 4); /* time */
    h->symbols_at = dvi_le32(&c);
    h->symbol_count = dvi_le32(&c);
    const uint16_t optional_size = dvi_le16(&c);
    dvi_skip(&c, 2); /* flags */
    DVI_TRY(dvi_cursor_check(&c, "PE header", err));
    h->sections_at = c.at + optional_size;
    struct dvi_view optional = { 0 };
    DVI_TRY(dvi_slice(o->file, c.at, optional_size, "optional header", &optional, err));
    return read_optional(o, optional, h, err);
}

struct dvi_pe_directory dvi_pe_directory_at(const struct dvi_object *o, uint32_t index)
{
    const struct dvi_coff *coff = o->state;
    const uint32_t addr = dvi_peek32(coff->directories, (uint64_t)index * DIRECTORY_SIZE);
    const uint32_t size = dvi_peek32(coff->directories, (uint64_t)index * DIRECTORY_SIZE + 4);
    return (struct dvi_pe_directory){ addr != 0 ? o->base + addr : 0, size };
}

static bool is_in_section(const struct dvi_object *o, uint64_t addr)
{
    for (size_t i = 0; i < o->section_count; i++)
        if (addr - o->sections[i].addr < o->sections[i].size)
            return true;
    return false;
}

/* Tables that are nowhere: what they tell is lost. */
static void check_places(struct dvi_object *o)
{
    static const uint32_t indexes[] = { PE_EXPORTS, PE_IMPORTS, PE_DELAYED_IMPORTS,
                                        PE_RELOCATIONS };
    const struct dvi_coff *coff = o->state;
    struct devimg_error found;
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++) {
        const struct dvi_pe_directory d = dvi_pe_directory_at(o, indexes[i]);
        if (d.addr == 0 || d.size == 0 || is_in_section(o, d.addr))
            continue;
        (void)dvi_fail(&found, DEVIMG_MALFORMED, coff->directories,
                       (uint64_t)indexes[i] * DIRECTORY_SIZE,
                       "data directory %" PRIu32 ": address 0x%" PRIx64 " lies in no section",
                       indexes[i], d.addr);
        dvi_object_damage(o, &found);
        if (indexes[i] == PE_RELOCATIONS)
            o->pointers_partial = true;
        else
            o->symbols_partial = true;
    }
}

static enum devimg_status open_pe(struct dvi_object *o, struct devimg_error *err)
{
    struct dvi_coff *coff = dvi_arena_array(o->arena, 1, sizeof *coff);
    struct pe_header h = { 0 };
    if (coff == NULL)
        return dvi_fail_memory(err, o->file.source);
    o->state = coff;
    o->kind = DEVIMG_KIND_PE;
    DVI_TRY(read_headers(o, &h, err));
    o->machine = dvi_coff_machine_name(coff->machine);
    o->pointer_size = h.wide ? 8 : 4;
    o->is_linked = true;
    o->fixed_address = dvi_pe_directory_at(o, PE_RELOCATIONS).addr == 0;
    o->has_entry = h.entry != 0;
    dvi_coff_take_tables(o, h.sections_at, h.section_count, h.symbols_at, h.symbol_count);
    DVI_TRY(dvi_coff_make_sections(o, err));
    o->regions = o->sections;
    o->region_count = o->section_count;
    check_places(o);
    dvi_coff_check_symbols(o);
    return DEVIMG_OK;
}

static bool each_symbol(const struct dvi_object *o, enum dvi_symbol_table table,
                        dvi_symbol_visit *visit, void *context)
{
    return table == DVI_SYMBOLS_STATIC ? dvi_coff_each_symbol(o, visit, context)
                                       : dvi_pe_each_import_and_export(o, visit, context);
}

const struct dvi_object_format dvi_object_pe = {
    .name = "pe",
    .match = match,
    .open = open_pe,
    .each_symbol = each_symbol,
    .read_pointers = dvi_pe_read_pointers,
};
