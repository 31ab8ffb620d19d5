/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of ELF objects, and the dynamic section. Layouts and sources: elf.c. */
#include "object/elf.h"

enum { SHN_LORESERVE = 0xff00, SHN_XINDEX = 0xffff };
/* Reserved section numbers, moved out of the way of real ones above 0xff00. */
static const uint32_t reserved = 0xffff0000, absolute_section = 0xfffffff1;
enum { STB_LOCAL = 0, STT_FUNC = 2, STT_FILE = 4, STT_TLS = 6, STT_GNU_IFUNC = 10 };

static void set_dynamic(struct dvi_elf_dynamic *d, uint64_t tag, uint64_t value)
{
    switch (tag) {
    case 4: d->hash = value; break;
    case 5: d->names = value; break;
    case 6: d->symbols = value; break;
    case 7: d->rela = value; break;
    case 8: d->rela_size = value; break;
    case 10: d->names_size = value; break;
    case 17: d->rel = value; break;
    case 18: d->rel_size = value; break;
    case 35: d->relr_size = value; break;
    case 36: d->relr = value; break;
    case 0x6000000f:
    case 0x60000011: d->packed = value; break; /* DT_ANDROID_REL, _RELA */
    case 0x6ffffef5: d->gnu_hash = value; break;
    case 0x6ffffffb: d->is_pie = (value & 0x08000000) != 0; break; /* DT_FLAGS_1, DF_1_PIE */
    case 0x6fffe000: d->relr = value; break; /* Android's numbers of the same */
    case 0x6fffe001: d->relr_size = value; break;
    default: break;
    }
}

struct dvi_elf_dynamic dvi_elf_read_dynamic(const struct dvi_object *o)
{
    const struct dvi_elf *elf = o->state;
    const size_t entry_size = 2 * dvi_elf_word_size(elf);
    struct dvi_elf_dynamic d = { 0 };
    for (size_t i = 0; i < elf->dynamic.size / entry_size; i++) {
        const uint8_t *p = elf->dynamic.data + i * entry_size;
        const uint64_t tag = dvi_elf_word(p, elf->wide);
        if (tag == 0)
            break;
        set_dynamic(&d, tag, dvi_elf_word(p + dvi_elf_word_size(elf), elf->wide));
    }
    return d;
}

/* How many symbols a GNU hash table reaches: the last chain ends with the last symbol. */
static uint64_t gnu_hash_count(struct dvi_view table, size_t word)
{
    const uint32_t buckets = dvi_peek32(table, 0);
    const uint32_t first = dvi_peek32(table, 4);
    const uint64_t buckets_at = 16 + (uint64_t)dvi_peek32(table, 8) * word;
    const struct dvi_view rest = dvi_from(table, buckets_at);
    if (buckets > rest.size / 4)
        return 0;
    uint64_t last = 0;
    for (size_t i = 0; i < buckets; i++) {
        const uint32_t start = dvi_bytes32(rest.data + 4 * i);
        last = start > last ? start : last;
    }
    if (last < first)
        return 0; /* all chains are empty; `first` is no count then: bfd writes 1 whatever it has */
    const struct dvi_view chains = dvi_from(rest, (uint64_t)buckets * 4);
    for (uint64_t i = last - first; i < chains.size / 4; i++)
        if ((dvi_bytes32(chains.data + 4 * i) & 1) != 0)
            return first + i + 1;
    return 0;
}

static size_t symbol_size(const struct dvi_elf *elf)
{
    return elf->wide ? 24 : 16;
}

static struct dvi_elf_symbols symbols_in(const struct dvi_object *o, struct dvi_view bytes,
                                         uint64_t entry_size, struct dvi_view names)
{
    const size_t least = symbol_size(o->state);
    const bool given = entry_size > least && entry_size <= bytes.size;
    const size_t size = given ? (size_t)entry_size : least;
    return (struct dvi_elf_symbols){ bytes, bytes.size / size, size, names, dvi_elf_nothing(o) };
}

static struct dvi_elf_symbols symbols_of_section(const struct dvi_object *o, size_t index)
{
    const struct dvi_elf *elf = o->state;
    const struct dvi_elf_header h = dvi_elf_header_at(o, index);
    const struct dvi_elf_header names =
        h.link < o->section_count ? dvi_elf_header_at(o, h.link) : (struct dvi_elf_header){ 0 };
    struct dvi_elf_symbols out =
        symbols_in(o, dvi_elf_bytes_of(o, &h), h.entry_size, dvi_elf_bytes_of(o, &names));
    if (elf->section_numbers != 0 && elf->numbered_symtab == index) {
        const struct dvi_elf_header numbers = dvi_elf_header_at(o, elf->section_numbers);
        out.numbers = dvi_elf_bytes_of(o, &numbers);
    }
    return out;
}

static struct dvi_elf_symbols symbols_of_dynamic(const struct dvi_object *o)
{
    const struct dvi_elf *elf = o->state;
    const struct dvi_elf_dynamic d = dvi_elf_read_dynamic(o);
    const size_t size = symbol_size(elf);
    uint64_t count = 0;
    if (d.hash != 0)
        count = dvi_peek32(dvi_object_from(o, d.hash), 4); /* its chains have one link a symbol */
    if (count == 0 && d.gnu_hash != 0)
        count = gnu_hash_count(dvi_object_from(o, d.gnu_hash), dvi_elf_word_size(elf));
    if (count == 0 && d.names > d.symbols)
        count = (d.names - d.symbols) / size;
    const struct dvi_view bytes =
        d.symbols != 0 ? dvi_object_from(o, d.symbols) : dvi_elf_nothing(o);
    const struct dvi_view names = d.names != 0 ? dvi_object_from(o, d.names) : dvi_elf_nothing(o);
    const uint64_t fit = bytes.size / size;
    return symbols_in(o, dvi_head(bytes, (count < fit ? count : fit) * size), size,
                      dvi_head(names, d.names_size));
}

struct dvi_elf_symbols dvi_elf_symbols_of(const struct dvi_object *o, size_t index)
{
    if (index == DVI_ELF_DYNAMIC)
        return symbols_of_dynamic(o);
    if (index > 0 && index < o->section_count)
        return symbols_of_section(o, index);
    return symbols_in(o, dvi_elf_nothing(o), 0, dvi_elf_nothing(o));
}

struct dvi_elf_symbol dvi_elf_symbol_at(const struct dvi_elf *elf, const struct dvi_elf_symbols *t,
                                        size_t index)
{
    const uint8_t *p = t->bytes.data + index * t->entry_size;
    struct dvi_elf_symbol s = { 0 };
    s.name = dvi_bytes32(p);
    s.info = p[elf->wide ? 4 : 12];
    s.section = dvi_bytes16(p + (elf->wide ? 6 : 14));
    s.value = elf->wide ? dvi_bytes64(p + 8) : dvi_bytes32(p + 4);
    if (s.section == SHN_XINDEX && t->numbers.size > 0)
        s.section = dvi_peek32(t->numbers, (uint64_t)index * 4);
    else if (s.section >= SHN_LORESERVE)
        s.section |= reserved;
    return s;
}

bool dvi_elf_place(const struct dvi_object *o, const struct dvi_elf_symbol *s, uint64_t *addr)
{
    const struct dvi_elf *elf = o->state;
    *addr = s->value;
    if (s->section == 0)
        return false;
    if (s->section == absolute_section)
        return true;
    if (o->is_linked) {
        *addr += (s->info & 15) == STT_TLS ? elf->tls_addr : 0;
        return true;
    }
    if (s->section >= o->section_count)
        return false;
    *addr += o->sections[s->section].addr;
    return true;
}

static enum dvi_symbol_kind kind_of(const struct dvi_elf_symbol *s)
{
    switch (s->info & 15) {
    case STT_FUNC:
    case STT_GNU_IFUNC: return DVI_SYMBOL_FUNCTION;
    case STT_FILE: return DVI_SYMBOL_FILE;
    default: return DVI_SYMBOL_OTHER;
    }
}

/* The first table of a type; there is at most one of each (gabi, "Section types"). 0: none. */
static size_t section_of_type(const struct dvi_object *o, uint32_t type)
{
    for (size_t i = 1; i < o->section_count; i++)
        if (o->sections[i].type == type)
            return i;
    return 0;
}

/* False: there is no such table. */
static bool open_symbols(const struct dvi_object *o, bool is_static, struct dvi_elf_symbols *out)
{
    const struct dvi_elf *elf = o->state;
    const bool from_loader = !is_static && elf->dynamic.size > 0;
    const size_t index = from_loader ? DVI_ELF_DYNAMIC
                         : !elf->has_sections
                             ? 0
                             : section_of_type(o, is_static ? SHT_SYMTAB : SHT_DYNSYM);
    if (index == 0)
        return false;
    *out = dvi_elf_symbols_of(o, index);
    return !from_loader || out->count > 0;
}

bool dvi_elf_each_symbol(const struct dvi_object *o, enum dvi_symbol_table table,
                         dvi_symbol_visit *visit, void *context)
{
    struct dvi_elf_symbols t = { 0 };
    if (!open_symbols(o, table == DVI_SYMBOLS_STATIC, &t))
        return false;
    for (size_t i = 1; i < t.count; i++) { /* the first entry is always empty */
        const struct dvi_elf_symbol raw = dvi_elf_symbol_at(o->state, &t, i);
        struct dvi_symbol s = { .name_bytes = dvi_from(t.names, raw.name),
                                .local = raw.info >> 4 == STB_LOCAL,
                                .kind = kind_of(&raw) };
        s.defined = dvi_elf_place(o, &raw, &s.addr);
        s.addr = s.defined ? s.addr : 0;
        if (!visit(context, &s))
            break;
    }
    return true;
}
