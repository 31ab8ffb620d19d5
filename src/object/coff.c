/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COFF objects: what MSVC, clang and MinGW compilers leave on Windows. Little-endian. Sources:
 * Microsoft, "PE Format"; winnt.h names (ANON_OBJECT_HEADER_BIGOBJ, IMPORT_OBJECT_HEADER). More in
 * docs/format/coff.md.
 *
 * object   0 machine u16    2 sections u16    4 time u32    8 symbols at u32   12 symbols u32
 *         16 size of an optional header u16 (0 in objects)  18 flags u16   20 sections
 * bigobj   0 zero u16       2 0xffff          4 version u16 (2)   6 machine u16   8 time u32
 *         12 class[16]     28 sizes, flags   44 sections u32  48 symbols at u32  52 symbols u32
 *         56 sections
 * import   0 zero u16       2 0xffff          4 version u16 (0)   6 machine u16 ...
 * section  0 name[8]        8 size u32, addr u32 (PE)  16 raw size u32, raw at u32
 *         24 relocations at u32, lines at u32  32 relocations u16, lines u16   36 flags u32
 *         A name "/123" or "//AAmJaA" stands in the string table. Flag 0x01000000 with 0xffff
 *         relocations: the first of them holds the true count.
 * symbol   0 name[8] (zero u32: offset in the string table at 4)   8 value u32
 *         12 section i16 (bigobj i32), type u16, class u8, further entries of this symbol u8
 * strings  behind the symbols: 0 size u32 with itself, then texts that end with a NUL
 * relocation  0 offset in its section u32   4 symbol u32   8 type u16; addends stand in place
 */
#include "object/coff.h"

enum {
    BIG_HEADER_SIZE = 56,
    CLASS_AT = 12,
    CLASS_SIZE = 16,
    ANON_SECTIONS = 0xffff, /* in the place of a count of sections: no plain object */
    MOST_SECTIONS = 0xfeff,
    VERSION_IMPORT = 0,
    VERSION_BIGOBJ = 2
};

static const char class_bigobj[] =
    "\xc7\xa1\xba\xd1\xee\xba\xa9\x4b\xaf\x20\xfa\xf6\x6a\xa4\xdc\xb8";
static const char class_ltcg[] = "\x38\xfe\xb3\x0c\xa5\xd9\xab\x4d\xac\x9b\xd6\xb6\x22\x26\x53\xc2";

static bool is_anonymous(struct dvi_view file)
{
    return dvi_starts_with(file, "\x00\x00\xff\xff", 4) && file.size >= COFF_HEADER_SIZE &&
           (dvi_coff_machine_name(dvi_peek16(file, 6)) != NULL ||
            dvi_starts_with(dvi_from(file, CLASS_AT), class_bigobj, CLASS_SIZE) ||
            dvi_starts_with(dvi_from(file, CLASS_AT), class_ltcg, CLASS_SIZE));
}

/* Where something may stand: nowhere, or behind the section table. */
static bool is_behind(uint32_t at, uint64_t tables_end)
{
    return at == 0 || at >= tables_end;
}

/* The magic is two bytes that anything may start with, so that more of the header must make sense,
 * and the first section header. */
bool dvi_coff_matches(struct dvi_view file)
{
    if (is_anonymous(file))
        return true;
    const uint16_t count = dvi_peek16(file, 2);
    const uint64_t end = COFF_HEADER_SIZE + (uint64_t)count * COFF_SECTION_SIZE;
    if (file.size < COFF_HEADER_SIZE || dvi_coff_machine_name(dvi_peek16(file, 0)) == NULL ||
        count > MOST_SECTIONS || dvi_peek16(file, 16) != 0 || !is_behind(dvi_peek32(file, 8), end))
        return false;
    if (count == 0 || file.size < COFF_HEADER_SIZE + COFF_SECTION_SIZE)
        return dvi_peek32(file, 8) != 0 && dvi_peek32(file, 8) < file.size;
    const struct dvi_coff coff = { .headers = dvi_from(file, COFF_HEADER_SIZE) };
    const struct dvi_coff_header h = dvi_coff_header_at(&coff, 0);
    return h.addr == 0 && is_behind(h.raw_at, end) && is_behind(h.relocations_at, end) &&
           h.name.data[0] != 0;
}

static enum devimg_status fail_anonymous(struct dvi_view file, struct devimg_error *err)
{
    if (dvi_starts_with(dvi_from(file, CLASS_AT), class_ltcg, CLASS_SIZE))
        return dvi_fail(err, DEVIMG_UNSUPPORTED, file, 0,
                        "object of cl /GL (link-time code generation): what it carries shows "
                        "after the link");
    return dvi_fail(err, DEVIMG_UNSUPPORTED, file, CLASS_AT,
                    "COFF object of an unknown class, version %u", dvi_peek16(file, 4));
}

enum devimg_status dvi_coff_layout_of(struct dvi_view file, struct dvi_coff_layout *out,
                                      struct devimg_error *err)
{
    const uint16_t version = dvi_peek16(file, 4);
    *out = (struct dvi_coff_layout){ 0 };
    if (file.size < COFF_HEADER_SIZE)
        return dvi_fail(err, DEVIMG_TRUNCATED, file, 0, "COFF header: 20 bytes do not fit in %zu",
                        file.size);
    if (!dvi_starts_with(file, "\x00\x00\xff\xff", 4)) {
        out->machine = dvi_peek16(file, 0);
        out->section_count = dvi_peek16(file, 2);
        out->symbols_at = dvi_peek32(file, 8);
        out->count_at = 12;
        out->symbol_count = dvi_peek32(file, out->count_at);
        out->sections_at = COFF_HEADER_SIZE;
        return DEVIMG_OK;
    }
    out->machine = dvi_peek16(file, 6);
    out->big = dvi_starts_with(dvi_from(file, CLASS_AT), class_bigobj, CLASS_SIZE);
    if (version == VERSION_IMPORT && !out->big) { /* a name to import, of a library for a DLL */
        struct dvi_view names = { 0 };
        out->is_import = true;
        return dvi_slice(file, COFF_HEADER_SIZE, dvi_peek32(file, CLASS_AT), "names of an import",
                         &names, err);
    }
    if (!out->big || version < VERSION_BIGOBJ)
        return fail_anonymous(file, err);
    struct dvi_cursor c = dvi_cursor_at(file, 44);
    out->section_count = dvi_le32(&c);
    out->symbols_at = dvi_le32(&c);
    out->count_at = 52;
    out->symbol_count = dvi_le32(&c);
    out->sections_at = BIG_HEADER_SIZE;
    return dvi_cursor_check(&c, "bigobj header", err);
}

static enum devimg_status open_coff(struct dvi_object *o, struct devimg_error *err)
{
    struct dvi_coff *coff = dvi_arena_array(o->arena, 1, sizeof *coff);
    struct dvi_coff_layout at = { 0 };
    if (coff == NULL)
        return dvi_fail_memory(err, o->file.source);
    o->state = coff;
    o->kind = DEVIMG_KIND_COFF;
    DVI_TRY(dvi_coff_layout_of(o->file, &at, err));
    coff->machine = at.machine;
    coff->big = at.big;
    o->machine = dvi_coff_machine_name(coff->machine);
    o->pointer_size = coff->machine == COFF_I386 || coff->machine == COFF_ARM ? 4 : 8;
    dvi_coff_take_tables(o, at.sections_at, at.section_count, at.symbols_at, at.symbol_count);
    DVI_TRY(dvi_coff_make_sections(o, err));
    dvi_coff_check_symbols(o);
    return DEVIMG_OK;
}

static bool each_symbol(const struct dvi_object *o, enum dvi_symbol_table table,
                        dvi_symbol_visit *visit, void *context)
{
    return table == DVI_SYMBOLS_STATIC && dvi_coff_each_symbol(o, visit, context);
}

const struct dvi_object_format dvi_object_coff = {
    .name = "coff",
    .match = dvi_coff_matches,
    .open = open_coff,
    .each_symbol = each_symbol,
    .read_pointers = dvi_coff_read_pointers,
    .read_references = dvi_coff_read_references,
};
