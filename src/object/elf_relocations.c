/* SPDX-License-Identifier: Apache-2.0 */
/* Relocations of ELF objects: the places that hold addresses, and references of code. Layouts and
 * sources: elf.c. */
#include "object/elf.h"

#include <inttypes.h>
#include <string.h>

enum form { REL, RELA, RELR };

/* One table of relocations. */
struct table {
    enum form form;
    struct dvi_view bytes, name;
    size_t entry_size, count;
    size_t symbols;                   /* section of its symbol table, or DVI_ELF_DYNAMIC */
    const struct dvi_section *target; /* what it patches; NULL in a linked file: addresses */
};

struct tables {
    DVI_LIST(struct table) list;
    uint64_t left; /* bytes of the file that no table has taken: no two of them overlap */
};

static size_t relocation_size(const struct dvi_elf *elf, enum form form)
{
    const size_t words = form == RELR ? 1 : form == REL ? 2 : 3;
    return words * dvi_elf_word_size(elf);
}

/* Pointers are missing: where one was, nobody can tell any more. */
static void report_loss(struct dvi_object *o, const struct devimg_error *found)
{
    dvi_object_damage(o, found);
    o->pointers_partial = true;
}

/* False: out of memory. A table that cannot be read is reported and left out. */
static bool add_table(struct dvi_object *o, struct tables *tables, struct table table,
                      uint64_t entry_size)
{
    const size_t least = relocation_size(o->state, table.form);
    struct devimg_error found;
    if (entry_size == 0)
        entry_size = least;
    if (entry_size < least) {
        (void)dvi_fail(&found, DEVIMG_MALFORMED, table.bytes, 0,
                       "relocations \"%.*s\": entry size %" PRIu64 ", expected %zu",
                       (int)table.name.size, (const char *)table.name.data, entry_size, least);
        report_loss(o, &found);
        return true;
    }
    if (table.bytes.size > tables->left) {
        (void)dvi_fail(&found, DEVIMG_MALFORMED, table.bytes, 0,
                       "relocations \"%.*s\": %zu bytes lie in another table", (int)table.name.size,
                       (const char *)table.name.data, table.bytes.size);
        report_loss(o, &found);
        return true;
    }
    tables->left -= table.bytes.size;
    table.count = (size_t)(table.bytes.size / entry_size);
    table.entry_size = (size_t)entry_size; /* fits where there is an entry */
    struct table *added = DVI_ADD(&tables->list);
    if (added != NULL)
        *added = table;
    return added != NULL;
}

static bool form_of(uint32_t type, enum form *out)
{
    switch (type) {
    case SHT_RELA: *out = RELA; return true;
    case SHT_REL: *out = REL; return true;
    case SHT_RELR:
    case SHT_ANDROID_RELR: *out = RELR; return true;
    default: return false;
    }
}

/* Linked files: the loader's tables only; those that a linker kept (--emit-relocs) repeat them.
 * Relocatable objects: tables of code, or of data that is loaded. */
static bool is_wanted(const struct dvi_object *o, const struct dvi_elf_header *h, bool code)
{
    if (o->is_linked)
        return (h->flags & SHF_ALLOC) != 0;
    if (h->info == 0 || h->info >= o->section_count)
        return false;
    const struct dvi_elf_header target = dvi_elf_header_at(o, h->info);
    return (target.flags & SHF_ALLOC) != 0 && ((target.flags & SHF_EXECINSTR) != 0) == code;
}

/* Android's packed form ("APS2") is known and not read. */
static void report_packed(struct dvi_object *o, struct dvi_view bytes)
{
    struct devimg_error found;
    (void)dvi_fail(&found, DEVIMG_UNSUPPORTED, bytes, 0,
                   "Android-packed relocations: this version of devimg does not read them");
    report_loss(o, &found);
}

static bool tables_of_sections(struct dvi_object *o, bool code, struct tables *out)
{
    for (size_t i = 0; i < o->section_count; i++) {
        struct table t = { .name = o->sections[i].name };
        if (o->sections[i].type == SHT_ANDROID_REL || o->sections[i].type == SHT_ANDROID_RELA)
            report_packed(o, o->sections[i].data);
        if (!form_of(o->sections[i].type, &t.form))
            continue;
        const struct dvi_elf_header h = dvi_elf_header_at(o, i);
        if (!is_wanted(o, &h, code))
            continue;
        t.target = o->is_linked ? NULL : &o->sections[h.info];
        t.bytes = dvi_elf_bytes_of(o, &h);
        t.symbols = h.link;
        o->pointers_partial =
            o->pointers_partial || t.bytes.size < h.size; /* reported with its section */
        if (!add_table(o, out, t, h.entry_size))
            return false;
    }
    return true;
}

static bool tables_of_dynamic(struct dvi_object *o, struct tables *out)
{
    static const char names[3][8] = { "DT_REL", "DT_RELA", "DT_RELR" };
    const struct dvi_elf_dynamic d = dvi_elf_read_dynamic(o);
    const uint64_t addrs[3] = { d.rel, d.rela, d.relr };
    const uint64_t sizes[3] = { d.rel_size, d.rela_size, d.relr_size };
    if (d.packed != 0)
        report_packed(o, dvi_object_from(o, d.packed));
    for (size_t i = 0; i < 3; i++) {
        if (addrs[i] == 0 || sizes[i] == 0)
            continue;
        struct table t = { .form = (enum form)i, .symbols = DVI_ELF_DYNAMIC };
        const struct dvi_view rest = dvi_object_from(o, addrs[i]);
        t.name = dvi_view_of(names[i], strlen(names[i]), o->file.source);
        t.bytes = dvi_head(rest, sizes[i]);
        if (t.bytes.size < sizes[i]) {
            struct devimg_error found;
            (void)dvi_fail(&found, DEVIMG_TRUNCATED, rest, 0,
                           "%s at address 0x%" PRIx64 ": %" PRIu64 " bytes, %zu are in the file",
                           names[i], addrs[i], sizes[i], t.bytes.size);
            report_loss(o, &found);
        }
        if (!add_table(o, out, t, 0))
            return false;
    }
    return true;
}

struct relocation {
    uint64_t offset, addend; /* the addend of REL stands in place: 0 here */
    uint32_t type, symbol;
};

static inline struct relocation relocation_at(bool wide, const struct table *t, size_t index)
{
    const uint8_t *p = t->bytes.data + index * t->entry_size;
    struct relocation r = { 0 };
    if (wide) {
        r.offset = dvi_bytes64(p);
        r.type = dvi_bytes32(p + 8);
        r.symbol = dvi_bytes32(p + 12);
        r.addend = t->form == RELA ? dvi_bytes64(p + 16) : 0;
    } else {
        const uint32_t info = dvi_bytes32(p + 4);
        r.offset = dvi_bytes32(p);
        r.type = info & 0xff;
        r.symbol = info >> 8;
        r.addend = t->form == RELA ? (uint64_t)(int64_t)(int32_t)dvi_bytes32(p + 8) : 0;
    }
    return r;
}

/* The relocations that write an address; 0: the machine has none of the kind. */
struct address_types {
    uint16_t machine;
    bool wide;
    uint32_t relative, absolute, glob_dat;
};

static const struct address_types address_types[] = {
    { EM_X86_64, true, 8, 1, 6 },          /* R_X86_64_RELATIVE, _64, _GLOB_DAT */
    { EM_X86_64, false, 8, 10, 6 },        /* x32: _32 */
    { EM_AARCH64, true, 1027, 257, 1025 }, /* R_AARCH64_RELATIVE, _ABS64, _GLOB_DAT */
    { EM_386, false, 8, 1, 6 },            /* R_386_RELATIVE, _32, _GLOB_DAT */
    { EM_ARM, false, 23, 2, 21 },          /* R_ARM_RELATIVE, _ABS32, _GLOB_DAT */
    { EM_RISCV, true, 3, 2, 0 },           /* R_RISCV_RELATIVE, _64 */
    { EM_RISCV, false, 3, 1, 0 },          /* R_RISCV_32 */
    { EM_PPC64, true, 22, 38, 20 },        /* R_PPC64_RELATIVE, _ADDR64, _GLOB_DAT */
    { EM_LOONGARCH, true, 3, 2, 0 },       /* R_LARCH_RELATIVE, _64 */
};

static struct address_types types_of(const struct dvi_elf *elf)
{
    for (size_t i = 0; i < sizeof address_types / sizeof *address_types; i++)
        if (address_types[i].machine == elf->machine && address_types[i].wide == elf->wide)
            return address_types[i];
    return (struct address_types){ 0 };
}

/* What is at hand while tables are walked. */
struct walk {
    struct dvi_object *o;
    const struct dvi_elf *elf;
    const struct table *table;
    const struct dvi_section *near; /* of the last address read in place */
    struct dvi_elf_symbols symbols;
    bool has_symbols;
    size_t symbols_index;    /* section that `symbols` was made from */
    uint64_t bad, first_bad; /* relocations of this table that make no sense; offset of one */
    const char *why;
};

static void walk_table(struct walk *w, const struct table *table)
{
    w->table = table;
    w->bad = 0;
    if (table->form == RELR || (w->has_symbols && w->symbols_index == table->symbols))
        return;
    w->has_symbols = true;
    w->symbols_index = table->symbols;
    w->symbols = dvi_elf_symbols_of(w->o, table->symbols);
}

static bool complain(struct walk *w, size_t index, const char *why)
{
    if (w->bad++ == 0) {
        w->first_bad = (uint64_t)index * w->table->entry_size;
        w->why = why;
    }
    return false;
}

static void report_walk(const struct walk *w)
{
    struct devimg_error found;
    if (w->bad == 0)
        return;
    (void)dvi_fail(&found, DEVIMG_MALFORMED, w->table->bytes, w->first_bad,
                   "relocations \"%.*s\": %" PRIu64 " cannot be read; the first has %s",
                   (int)w->table->name.size, (const char *)w->table->name.data, w->bad, w->why);
    report_loss(w->o, &found);
}

/* The word that stands at `addr`. */
static bool read_place(struct walk *w, uint64_t addr, uint64_t *out)
{
    const size_t size = dvi_elf_word_size(w->elf);
    if (w->near == NULL || addr - w->near->addr >= w->near->size)
        w->near = dvi_object_region_of(w->o, addr);
    if (w->near == NULL)
        return false;
    const struct dvi_view data = w->near->data;
    const uint64_t at = addr - w->near->addr;
    if (at > data.size || size > data.size - at)
        return false;
    *out = dvi_elf_word(data.data + at, w->elf->wide);
    return true;
}

/* Address of a relocation's symbol. False: its number is out of the table. */
static bool find_symbol(struct walk *w, size_t index, uint32_t number, uint64_t *addr,
                        bool *external)
{
    *addr = 0;
    *external = false;
    if (number == 0)
        return true; /* no symbol: the address is the addend */
    if (number >= w->symbols.count)
        return complain(w, index, "a symbol number past its table");
    const struct dvi_elf_symbol symbol = dvi_elf_symbol_at(w->elf, &w->symbols, number);
    *external = !dvi_elf_place(w->o, &symbol, addr);
    return true;
}

/* Address that a relocation patches: in a relocatable object it counts from its section. */
static bool patched_addr(struct walk *w, size_t index, const struct relocation *r, uint64_t *addr)
{
    const struct dvi_section *target = w->table->target;
    *addr = r->offset;
    if (target == NULL)
        return true;
    if (r->offset >= target->size || target->unmapped)
        return complain(w, index, "an offset past its section");
    *addr += target->addr;
    return true;
}

static bool addend_of(struct walk *w, size_t index, const struct relocation *r, uint64_t addr,
                      uint64_t *out)
{
    *out = r->addend;
    if (w->table->form == RELA || read_place(w, addr, out))
        return true;
    return complain(w, index, "an address without bytes in the file");
}

/* True: `*out` was filled. */
static bool make_pointer(struct walk *w, const struct address_types *types, size_t index,
                         struct dvi_pointer *out)
{
    const struct relocation r = relocation_at(w->elf->wide, w->table, index);
    const bool linked = w->table->target == NULL;
    const bool relative = linked && r.type == types->relative;
    const bool absolute = r.type == types->absolute;
    const bool glob_dat = linked && r.type == types->glob_dat;
    if (r.type == 0 || (!relative && !absolute && !glob_dat))
        return false;
    uint64_t addr = 0, value = 0;
    if (!patched_addr(w, index, &r, &addr))
        return false;
    if (!glob_dat && !addend_of(w, index, &r, addr, &value))
        return false;
    if (!relative) {
        uint64_t target = 0;
        bool external = false;
        if (!find_symbol(w, index, r.symbol, &target, &external))
            return false;
        value += target;
        if (external) {
            *out = (struct dvi_pointer){ addr, DVI_EXTERNAL };
            return true;
        }
    }
    *out = (struct dvi_pointer){ addr, w->elf->wide ? value : (uint32_t)value };
    return true;
}

static uint64_t ones(uint64_t word)
{
    uint64_t count = 0;
    for (; word != 0; word &= word - 1)
        count++;
    return count;
}

static uint64_t relr_count(const struct dvi_elf *elf, const struct table *t)
{
    uint64_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        const uint64_t entry = dvi_elf_word(t->bytes.data + i * t->entry_size, elf->wide);
        count += (entry & 1) == 0 ? 1 : ones(entry >> 1);
    }
    return count;
}

static size_t add_relative(struct walk *w, size_t index, uint64_t addr, struct dvi_pointer *out)
{
    uint64_t value = 0;
    if (!w->elf->wide)
        addr = (uint32_t)addr;
    if (!read_place(w, addr, &value))
        return complain(w, index, "an address without bytes in the file");
    *out = (struct dvi_pointer){ addr, value };
    return 1;
}

/* At most `room`: a mapped file may change after it was counted. */
static size_t add_relr(struct walk *w, struct dvi_pointer *out, size_t room)
{
    const size_t size = dvi_elf_word_size(w->elf);
    size_t count = 0;
    uint64_t next = 0; /* the word behind the last address or bitmap */
    for (size_t i = 0; i < w->table->count; i++) {
        const uint8_t *p = w->table->bytes.data + i * w->table->entry_size;
        const uint64_t entry = dvi_elf_word(p, w->elf->wide);
        if (room - count < size * 8 && room - count < ((entry & 1) == 0 ? 1 : ones(entry >> 1))) {
            (void)complain(w, i, "more addresses than were counted: the file changed");
            return count;
        }
        if ((entry & 1) == 0) {
            count += add_relative(w, i, entry, out + count);
            next = entry + size;
            continue;
        }
        uint64_t addr = next;
        for (uint64_t bits = entry >> 1; bits != 0; bits >>= 1, addr += size)
            if ((bits & 1) != 0)
                count += add_relative(w, i, addr, out + count);
        next += (size * 8 - 1) * size;
    }
    return count;
}

/* Pointers that the tables may hold at most. A RELR table may claim more addresses than the file
 * has words: it is reported and left out. */
static uint64_t most_pointers(struct dvi_object *o, const struct dvi_elf *elf,
                              struct tables *tables)
{
    const uint64_t words = o->file.size / dvi_elf_word_size(elf);
    uint64_t most = 0, relr = 0;
    for (size_t i = 0; i < tables->list.count; i++) {
        struct table *t = &tables->list.items[i];
        if (t->form != RELR) {
            most += t->count;
            continue;
        }
        const uint64_t count = relr_count(elf, t);
        if (count <= words - relr) {
            relr += count;
            continue;
        }
        struct devimg_error found;
        (void)dvi_fail(&found, DEVIMG_MALFORMED, t->bytes, 0,
                       "relocations \"%.*s\": %" PRIu64 " addresses, the file has %" PRIu64
                       " words",
                       (int)t->name.size, (const char *)t->name.data, count, words);
        report_loss(o, &found);
        t->count = 0;
    }
    return most + relr;
}

static enum devimg_status fill_pointers(struct dvi_object *o, struct tables *tables,
                                        struct devimg_error *err)
{
    const struct dvi_elf *elf = o->state;
    const struct address_types types = types_of(elf);
    const uint64_t most = most_pointers(o, elf, tables);
    if (types.absolute == 0 && most > 0) /* a machine whose relocations are not known */
        o->pointers_partial = true;
    struct dvi_pointer *pointers = dvi_arena_array(o->arena, (size_t)most, sizeof *pointers);
    if (pointers == NULL)
        return dvi_fail_memory(err, o->file.source);
    struct walk w = { .o = o, .elf = elf };
    size_t count = 0;
    for (size_t i = 0; i < tables->list.count; i++) {
        walk_table(&w, &tables->list.items[i]);
        if (w.table->form == RELR)
            count += add_relr(&w, pointers + count, (size_t)most - count);
        else
            for (size_t k = 0; k < w.table->count; k++)
                count += make_pointer(&w, &types, k, &pointers[count]);
        report_walk(&w);
    }
    if (!dvi_sort_by_addr(pointers, count, sizeof *pointers))
        return dvi_fail_memory(err, o->file.source);
    o->pointers = pointers;
    o->pointer_count = count;
    return DEVIMG_OK;
}

static enum devimg_status read_tables(struct dvi_object *o, bool code,
                                      enum devimg_status (*fill)(struct dvi_object *o,
                                                                 struct tables *tables,
                                                                 struct devimg_error *err),
                                      struct devimg_error *err)
{
    const struct dvi_elf *elf = o->state;
    struct tables tables = { .left = o->file.size };
    enum devimg_status st = DEVIMG_OK;
    /* linked: what the loader reads counts, whatever the section table says */
    const bool ok = elf->dynamic.size > 0 ? tables_of_dynamic(o, &tables)
                                          : tables_of_sections(o, code, &tables);
    if (ok)
        st = fill(o, &tables, err);
    else
        st = dvi_fail_memory(err, o->file.source);
    DVI_LIST_FREE(&tables.list);
    return st;
}

enum devimg_status dvi_elf_read_pointers(struct dvi_object *o, struct devimg_error *err)
{
    return read_tables(o, false, fill_pointers, err);
}

/* How code uses the address that a relocation gives it. */
enum use { USE_NONE, USE_ADDRESS, USE_FROM_NEXT /* counted from behind the 4-byte field */ };

/* From the first type to the last one, as the psABIs number them. */
static const struct {
    uint16_t machine, first, last;
    enum use use;
} uses[] = {
    { EM_X86_64, 1, 1, USE_ADDRESS },      /* R_X86_64_64 */
    { EM_X86_64, 25, 25, USE_ADDRESS },    /* _GOTOFF64, of -mcmodel=large */
    { EM_X86_64, 2, 2, USE_FROM_NEXT },    /* _PC32 */
    { EM_X86_64, 4, 4, USE_FROM_NEXT },    /* _PLT32 */
    { EM_X86_64, 9, 9, USE_FROM_NEXT },    /* _GOTPCREL */
    { EM_X86_64, 10, 11, USE_ADDRESS },    /* _32, _32S */
    { EM_X86_64, 41, 43, USE_FROM_NEXT },  /* _GOTPCRELX, _REX_GOTPCRELX, _CODE_4_GOTPCRELX */
    { EM_386, 1, 1, USE_ADDRESS },         /* R_386_32 */
    { EM_386, 2, 2, USE_FROM_NEXT },       /* _PC32 */
    { EM_386, 4, 4, USE_FROM_NEXT },       /* _PLT32 */
    { EM_AARCH64, 257, 257, USE_ADDRESS }, /* R_AARCH64_ABS64 */
    { EM_AARCH64, 263, 269, USE_ADDRESS }, /* _MOVW_UABS_G0 to _G3, of -mcmodel=large */
    { EM_AARCH64, 273, 278, USE_ADDRESS }, /* _LD_PREL_LO19, _ADR_PREL_*, _ADD_, _LDST8_ABS_LO12 */
    { EM_AARCH64, 282, 286, USE_ADDRESS }, /* _JUMP26, _CALL26, _LDST16, 32, 64_ABS_LO12_NC */
    { EM_AARCH64, 299, 299, USE_ADDRESS }, /* _LDST128_ABS_LO12_NC */
    { EM_AARCH64, 311, 312, USE_ADDRESS }, /* _ADR_GOT_PAGE, _LD64_GOT_LO12_NC */
    { EM_RISCV, 2, 2, USE_ADDRESS },       /* R_RISCV_64 */
    { EM_RISCV, 17, 20, USE_ADDRESS },     /* _JAL, _CALL, _CALL_PLT, _GOT_HI20 */
    { EM_RISCV, 23, 23, USE_ADDRESS },     /* _PCREL_HI20 */
    { EM_RISCV, 26, 28, USE_ADDRESS },     /* _HI20, _LO12_I, _LO12_S */
};

static enum use use_of(uint16_t machine, uint32_t type)
{
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i].machine == machine && type >= uses[i].first && type <= uses[i].last)
            return uses[i].use;
    return USE_NONE;
}

static bool knows_machine(uint16_t machine)
{
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i].machine == machine)
            return true;
    return false;
}

/* True: `*out` was filled. */
static bool make_reference(struct walk *w, size_t index, struct dvi_code_reference *out)
{
    const struct relocation r = relocation_at(w->elf->wide, w->table, index);
    const enum use use = use_of(w->elf->machine, r.type);
    uint64_t addend = 0;
    struct dvi_code_reference c = { 0 };
    if (use == USE_NONE || !patched_addr(w, index, &r, &c.addr) ||
        !addend_of(w, index, &r, c.addr, &addend) ||
        !find_symbol(w, index, r.symbol, &c.value, &c.external))
        return false;
    c.name_bytes = dvi_elf_nothing(w->o);
    if (c.external)
        c.name_bytes =
            dvi_from(w->symbols.names, dvi_elf_symbol_at(w->elf, &w->symbols, r.symbol).name);
    c.value = c.external ? 0 : c.value + addend + (use == USE_FROM_NEXT ? 4 : 0);
    if (!w->elf->wide)
        c.value = (uint32_t)c.value;
    *out = c;
    return true;
}

static enum devimg_status fill_references(struct dvi_object *o, struct tables *tables,
                                          struct devimg_error *err)
{
    const struct dvi_elf *elf = o->state;
    size_t most = 0, count = 0;
    for (size_t i = 0; i < tables->list.count; i++)
        most += tables->list.items[i].form != RELR ? tables->list.items[i].count : 0;
    if (most > 0 && !knows_machine(elf->machine))
        o->pointers_partial = true;
    struct dvi_code_reference *references = dvi_arena_array(o->arena, most, sizeof *references);
    if (references == NULL)
        return dvi_fail_memory(err, o->file.source);
    struct walk w = { .o = o, .elf = elf };
    for (size_t i = 0; i < tables->list.count; i++) {
        walk_table(&w, &tables->list.items[i]);
        for (size_t k = 0; k < w.table->count && w.table->form != RELR; k++)
            count += make_reference(&w, k, &references[count]);
        report_walk(&w);
    }
    if (!dvi_sort_by_addr(references, count, sizeof *references))
        return dvi_fail_memory(err, o->file.source);
    o->references = references;
    o->reference_count = count;
    return DEVIMG_OK;
}

enum devimg_status dvi_elf_read_references(struct dvi_object *o, struct devimg_error *err)
{
    return o->is_linked ? DEVIMG_OK : read_tables(o, true, fill_references, err);
}
