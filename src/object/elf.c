/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF objects of a host: sections, symbols, and the places that hold addresses. Little-endian, 32
 * and 64 bits. Sources: System V ABI, chapters 4 and 5 (gabi); the psABI of each machine for the
 * relocations; "RELR", gabi 4.3. More in docs/format/elf.md.
 *
 * Numbers are u16/u32 or, where two offsets are given, "words" of 4 (ELF32) or 8 bytes (ELF64).
 *
 * file     0 magic "\x7fELF"    4 class u8 (1: 32, 2: 64 bits)    5 data u8 (1: little-endian)
 *         16 type u16          18 machine u16
 *      28/32 segments at       32/40 sections at                  (words)
 *      42/54 segment entry size u16, count u16 (0xffff: `info` of section 0), section entry size
 * u16, count u16 (0: `size` of section 0), index of the names u16 (0xffff: `link` of section 0)
 * section  0 name u32, type u32, flags word, addr word, offset word, size word, link u32, info u32,
 *            align word, entry size word
 * segment  type u32, [ELF64: flags u32], offset, vaddr, paddr, file size, memory size (words),
 *            [ELF32: flags u32], align word
 * symbol   ELF64: name u32, info u8, other u8, section u16, value u64, size u64
 *          ELF32: name u32, value u32, size u32, info u8, other u8, section u16
 * REL      offset word, info word (symbol << 8 | type; ELF64: symbol << 32 | type); addend in place
 * RELA     the same and addend word
 * RELR     words: an even one is an address; an odd one says which of the next 31/63 words behind
 *            the last address are addresses too; addends in place, all relative
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/object.h"

enum { ET_REL = 1, ET_EXEC = 2, ET_DYN = 3 };
enum { EM_386 = 3, EM_PPC64 = 21, EM_ARM = 40, EM_X86_64 = 62, EM_AARCH64 = 183 };
enum { EM_RISCV = 243, EM_LOONGARCH = 258 };
enum { EM_CUDA = 190, EM_INTELGT = 205, EM_AMDGPU = 224 }; /* device code */
enum { PT_LOAD = 1, PT_DYNAMIC = 2, PT_TLS = 7, PF_X = 1, PF_W = 2, PN_XNUM = 0xffff };
enum {
    SHT_NULL = 0,
    SHT_PROGBITS = 1,
    SHT_SYMTAB = 2,
    SHT_RELA = 4,
    SHT_NOBITS = 8,
    SHT_REL = 9,
    SHT_DYNSYM = 11,
    SHT_SYMTAB_SHNDX = 18,
    SHT_RELR = 19,
    SHT_ANDROID_RELR = 0x6fffff00
};
enum { SHF_WRITE = 1, SHF_ALLOC = 2, SHF_EXECINSTR = 4, SHF_TLS = 0x400 };
enum { SHN_LORESERVE = 0xff00, SHN_XINDEX = 0xffff };
/* Reserved section numbers, moved out of the way of real ones above 0xff00. */
static const uint32_t reserved = 0xffff0000, absolute_section = 0xfffffff1;
enum { STB_LOCAL = 0, STT_FUNC = 2, STT_FILE = 4, STT_TLS = 6, STT_GNU_IFUNC = 10 };

/* A table of a cut or hostile file can be wrong in each entry: so many are told one by one. */
enum { MOST_REPORTS = 16 };
/* Names may share bytes, so their total is no sum that the file bounds; this much each is fine. */
enum { MOST_NAME_BYTES = 4096 };
/* Relocatable objects: the first made-up address, and what lies between two sections at least, so
 * that the end of one is never the start of another. */
enum { FIRST_ADDR = 0x1000, GAP = 16 };

struct elf {
    bool wide; /* ELFCLASS64 */
    uint16_t type, machine;
    struct dvi_view headers; /* of the sections; empty: none, segments stand in */
    size_t header_size;
    struct dvi_view dynamic;  /* bytes of PT_DYNAMIC */
    uint64_t tls_addr;        /* of PT_TLS; its symbols count from here */
    size_t section_numbers;   /* index of the SHT_SYMTAB_SHNDX section; 0: none */
    uint32_t numbered_symtab; /* index of the symbol table that it belongs to */
};

struct file_header {
    bool wide;
    uint16_t type, machine;
    uint64_t segments_at, sections_at;
    uint16_t segment_size, section_size;
    uint64_t segment_count, section_count, names_index;
};

struct header {
    uint32_t name, type;
    uint64_t flags, addr, offset, size;
    uint32_t link, info;
    uint64_t align, entry_size;
};

static uint64_t word(struct dvi_cursor *c, bool wide)
{
    return wide ? dvi_le64(c) : dvi_le32(c);
}

/* For the long tables: `p` lies in a table whose size was checked against its entries. */
static inline uint16_t read16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint16_t read16_big(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t read32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t read64(const uint8_t *p)
{
    return (uint64_t)read32(p) | (uint64_t)read32(p + 4) << 32;
}

static inline uint64_t read_word(const uint8_t *p, bool wide)
{
    return wide ? read64(p) : read32(p);
}

static size_t word_size(const struct elf *elf)
{
    return elf->wide ? 8 : 4;
}

static struct dvi_view head(struct dvi_view v, uint64_t size)
{
    v.size = size < v.size ? (size_t)size : v.size;
    return v;
}

static struct dvi_view nothing_of(const struct dvi_object *o)
{
    return dvi_from(o->file, o->file.size);
}

/* Damage is passed on and never stops a reader here, so there is no status to hand back. */
static void report(const struct dvi_object *o, const struct devimg_error *found)
{
    if (o->damage != NULL)
        o->damage(o->damage_sink, found);
}

static const char *machine_name(uint16_t machine, bool wide)
{
    switch (machine) {
    case 2: return "sparc";
    case EM_386: return "i386";
    case 8: return wide ? "mips64el" : "mipsel";
    case 20: return "ppcle";
    case EM_PPC64: return "ppc64le";
    case EM_ARM: return "arm";
    case 42: return "sh";
    case 50: return "ia64";
    case EM_X86_64: return "x86_64";
    case EM_AARCH64: return "aarch64";
    case EM_RISCV: return wide ? "riscv64" : "riscv32";
    case EM_LOONGARCH: return wide ? "loongarch64" : "loongarch32";
    default: return NULL;
    }
}

/* Device images are ELF files too; they are read elsewhere. Their types start at 0xff00 (OpenCL
 * and old zebin), or their machine is that of a GPU. */
static bool match(struct dvi_view file)
{
    if (!dvi_starts_with(file,
                         "\x7f"
                         "ELF",
                         4))
        return false;
    if (file.size < 20)
        return true; /* cut before the fields that tell; open says so */
    const bool big_endian = file.data[5] == 2;
    const uint16_t type = big_endian ? read16_big(file.data + 16) : read16(file.data + 16);
    const uint16_t machine = big_endian ? read16_big(file.data + 18) : read16(file.data + 18);
    return type >= ET_REL && type <= ET_DYN && machine != EM_CUDA && machine != EM_INTELGT &&
           machine != EM_AMDGPU;
}

static enum devimg_status read_file_header(struct dvi_view file, struct file_header *out,
                                           struct devimg_error *err)
{
    struct file_header h = { 0 };
    struct dvi_cursor c = dvi_cursor_at(file, 4);
    const uint8_t class = dvi_u8(&c);
    const uint8_t data = dvi_u8(&c);
    DVI_TRY(dvi_cursor_check(&c, "ELF header", err));
    if (class != 1 && class != 2)
        return dvi_fail(err, DEVIMG_MALFORMED, file, 4,
                        "ELF class %u: expected 1 (32-bit) or 2 (64-bit)", class);
    if (data == 2)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, file, 5,
                        "big-endian ELF: only little-endian objects are read");
    if (data != 1)
        return dvi_fail(err, DEVIMG_MALFORMED, file, 5,
                        "ELF data encoding %u: expected 1 (little-endian)", data);
    h.wide = class == 2;
    dvi_skip(&c, 10);
    h.type = dvi_le16(&c);
    h.machine = dvi_le16(&c);
    dvi_skip(&c, h.wide ? 12 : 8); /* version, entry */
    h.segments_at = word(&c, h.wide);
    h.sections_at = word(&c, h.wide);
    dvi_skip(&c, 6); /* flags, size of this header */
    h.segment_size = dvi_le16(&c);
    h.segment_count = dvi_le16(&c);
    h.section_size = dvi_le16(&c);
    h.section_count = dvi_le16(&c);
    h.names_index = dvi_le16(&c);
    DVI_TRY(dvi_cursor_check(&c, "ELF header", err));
    *out = h;
    return DEVIMG_OK;
}

static struct header read_header(struct dvi_view headers, size_t header_size, bool wide,
                                 size_t index)
{
    struct dvi_cursor c = dvi_cursor_at(headers, (uint64_t)index * header_size);
    struct header h = { 0 };
    h.name = dvi_le32(&c);
    h.type = dvi_le32(&c);
    h.flags = word(&c, wide);
    h.addr = word(&c, wide);
    h.offset = word(&c, wide);
    h.size = word(&c, wide);
    h.link = dvi_le32(&c);
    h.info = dvi_le32(&c);
    h.align = word(&c, wide);
    h.entry_size = word(&c, wide);
    return h;
}

static struct header header_at(const struct dvi_object *o, size_t index)
{
    const struct elf *elf = o->state;
    return read_header(elf->headers, elf->header_size, elf->wide, index);
}

/* Bytes of a section, as many as the file has. */
static struct dvi_view bytes_of(const struct dvi_object *o, const struct header *h)
{
    if (h->type == SHT_NULL || h->type == SHT_NOBITS)
        return head(dvi_from(o->file, h->offset), 0);
    return head(dvi_from(o->file, h->offset), h->size);
}

/* Names of a table, with an end to how many bytes are looked at for them. */
struct names {
    struct dvi_view bytes;
    uint64_t left;
    uint64_t bad, first_bad; /* names outside the table: how many, and one of them */
};

static struct names names_in(struct dvi_view bytes, uint64_t users)
{
    return (struct names){ bytes, bytes.size + users * MOST_NAME_BYTES, 0, 0 };
}

static struct dvi_view name_at(struct names *names, uint32_t at)
{
    const struct dvi_view rest = dvi_from(names->bytes, at);
    if (at == 0)
        return head(rest, 0);
    const size_t most = rest.size < names->left ? rest.size : (size_t)names->left;
    const uint8_t *end = memchr(rest.data, 0, most);
    names->left -= end != NULL ? (size_t)(end - rest.data) : most;
    if (end != NULL)
        return head(rest, (size_t)(end - rest.data));
    if (names->bad++ == 0)
        names->first_bad = at;
    return head(rest, 0);
}

static void report_names(const struct dvi_object *o, const struct names *names, const char *of)
{
    struct devimg_error found;
    if (names->bad == 0)
        return;
    (void)dvi_fail(&found, DEVIMG_MALFORMED, names->bytes, 0,
                   "names of %s: %" PRIu64 " do not end in the %zu bytes of their table, the first "
                   "at +%" PRIu64,
                   of, names->bad, names->bytes.size, names->first_bad);
    report(o, &found);
}

/* A table of the file header, as much of it as the file has; true when it is whole. */
static bool take_table(const struct dvi_object *o, const char *what, uint64_t at, uint64_t count,
                       uint16_t entry_size, uint16_t least_size, struct dvi_view *out)
{
    struct devimg_error found;
    *out = nothing_of(o);
    if (at == 0 || count == 0)
        return true;
    if (entry_size < least_size) {
        (void)dvi_fail(&found, DEVIMG_MALFORMED, o->file, 0,
                       "%s entry size %u: expected %u or more", what, entry_size, least_size);
        report(o, &found);
        return false;
    }
    const struct dvi_view rest = dvi_from(o->file, at);
    const uint64_t fit = rest.size / entry_size;
    *out = head(rest, (count < fit ? count : fit) * entry_size);
    if (count <= fit)
        return true;
    (void)dvi_fail(&found, DEVIMG_TRUNCATED, o->file, at,
                   "%s: %" PRIu64 " entries of %u bytes, %" PRIu64 " fit in the file", what, count,
                   entry_size, fit);
    report(o, &found);
    return false;
}

/* Counts that do not fit in the file header stand in section 0. */
static void extend_counts(const struct dvi_object *o, struct file_header *h)
{
    const bool has_sections = h->sections_at != 0;
    const struct header first =
        read_header(dvi_from(o->file, h->sections_at), h->section_size, h->wide, 0);
    if (has_sections && h->section_count == 0)
        h->section_count = first.size;
    if (has_sections && h->names_index == SHN_XINDEX)
        h->names_index = first.link;
    if (has_sections && h->segment_count == PN_XNUM)
        h->segment_count = first.info;
}

static bool is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* Relocatable objects: the next free range of addresses. False: there is none of that size. */
static bool make_addr(uint64_t *next, const struct header *h, uint64_t *addr)
{
    const uint64_t most = UINT64_C(1) << 62;
    const uint64_t align = is_power_of_two(h->align) && h->align <= 1U << 30 ? h->align : 1;
    const uint64_t start = (*next + align - 1) & ~(align - 1);
    if (start > most || h->size > most - start)
        return false;
    *addr = start;
    *next = start + h->size + GAP;
    return true;
}

/* One section from its header; `*next` is the next address to give away. */
static enum devimg_status make_section(const struct dvi_object *o, const struct header *h,
                                       uint64_t *next, struct dvi_section *out,
                                       struct devimg_error *err)
{
    struct dvi_section *s = out;
    s->type = h->type;
    s->flags = h->flags;
    s->data = bytes_of(o, h);
    s->unmapped = true;
    if (h->type == SHT_NULL)
        return DEVIMG_OK; /* its size may be the count of sections */
    s->size = h->size;
    s->executable = (h->flags & SHF_EXECINSTR) != 0;
    if (o->is_linked) {
        s->addr = h->addr;
        s->unmapped =
            (h->flags & SHF_ALLOC) == 0 || ((h->flags & SHF_TLS) != 0 && h->type == SHT_NOBITS);
    } else {
        s->unmapped = !make_addr(next, h, &s->addr);
        if (s->unmapped)
            return dvi_fail(err, DEVIMG_MALFORMED, s->data, 0,
                            "section \"%.*s\": size %" PRIu64 " fits in no address space",
                            (int)s->name.size, (const char *)s->name.data, h->size);
    }
    if (s->data.size < h->size && h->type != SHT_NOBITS)
        return dvi_fail(err, DEVIMG_TRUNCATED, s->data, 0,
                        "section \"%.*s\": %" PRIu64 " bytes, %zu are in the file",
                        (int)s->name.size, (const char *)s->name.data, h->size, s->data.size);
    return DEVIMG_OK;
}

static struct names section_names(const struct dvi_object *o, uint64_t index, size_t count)
{
    struct devimg_error found;
    if (index == 0)
        return names_in(nothing_of(o), 0);
    if (index >= count) {
        (void)dvi_fail(&found, DEVIMG_MALFORMED, o->file, 0,
                       "names of sections: in section %" PRIu64 " of %zu", index, count);
        report(o, &found);
        return names_in(nothing_of(o), 0);
    }
    const struct header h = header_at(o, (size_t)index);
    return names_in(bytes_of(o, &h), count);
}

static enum devimg_status make_sections(struct dvi_object *o, uint64_t names_index,
                                        struct devimg_error *err)
{
    struct elf *elf = o->state;
    const size_t count = elf->headers.size / elf->header_size;
    struct dvi_section *sections = dvi_arena_array(o->arena, count, sizeof *sections);
    if (sections == NULL)
        return dvi_fail_memory(err, o->file.source);
    struct names names = section_names(o, names_index, count);
    const bool named = names.bytes.size > 0;
    struct devimg_error found;
    size_t damaged = 0;
    uint64_t next = FIRST_ADDR;
    for (size_t i = 0; i < count; i++) {
        const struct header h = header_at(o, i);
        sections[i].name = named ? name_at(&names, h.name) : names.bytes;
        const enum devimg_status st = make_section(o, &h, &next, &sections[i], &found);
        if (st != DEVIMG_OK && damaged++ < MOST_REPORTS)
            report(o, &found);
        if (h.type == SHT_SYMTAB_SHNDX && elf->section_numbers == 0) {
            elf->section_numbers = i;
            elf->numbered_symtab = h.link;
        }
    }
    if (damaged > MOST_REPORTS) {
        (void)dvi_fail(&found, DEVIMG_TRUNCATED, elf->headers, 0,
                       "%zu more of %zu sections do not fit in the file", damaged - MOST_REPORTS,
                       count);
        report(o, &found);
    }
    report_names(o, &names, "sections");
    o->sections = sections;
    o->section_count = count;
    o->has_sections = true;
    return DEVIMG_OK;
}

struct segment {
    uint32_t type, flags;
    uint64_t offset, addr, file_size, memory_size;
};

static struct segment read_segment(struct dvi_view segments, size_t entry_size, bool wide,
                                   size_t index)
{
    struct dvi_cursor c = dvi_cursor_at(segments, (uint64_t)index * entry_size);
    struct segment s = { 0 };
    s.type = dvi_le32(&c);
    if (wide)
        s.flags = dvi_le32(&c);
    s.offset = word(&c, wide);
    s.addr = word(&c, wide);
    (void)word(&c, wide); /* physical address */
    s.file_size = word(&c, wide);
    s.memory_size = word(&c, wide);
    if (!wide)
        s.flags = dvi_le32(&c);
    return s;
}

/* A segment in the words of sections. */
static struct dvi_section section_of_segment(const struct dvi_object *o, const struct segment *s)
{
    static const char name[] = "PT_LOAD";
    struct dvi_section out = { 0 };
    out.name = dvi_view_of(name, sizeof name - 1, o->file.source);
    out.data = head(dvi_from(o->file, s->offset), s->file_size);
    out.addr = s->addr;
    out.size = s->memory_size > s->file_size ? s->memory_size : s->file_size;
    out.type = SHT_PROGBITS;
    out.executable = (s->flags & PF_X) != 0;
    out.flags = SHF_ALLOC | ((s->flags & PF_W) != 0 ? SHF_WRITE : 0U) |
                (out.executable ? SHF_EXECINSTR : 0U);
    return out;
}

static void report_cut_segment(const struct dvi_object *o, const struct segment *s, size_t have)
{
    struct devimg_error found;
    (void)dvi_fail(&found, DEVIMG_TRUNCATED, dvi_from(o->file, s->offset), 0,
                   "segment at address 0x%" PRIx64 ": %" PRIu64 " bytes, %zu are in the file",
                   s->addr, s->file_size, have);
    report(o, &found);
}

/* PT_TLS and PT_DYNAMIC; and, when `stand_in`, PT_LOAD as sections. */
static enum devimg_status read_segments(struct dvi_object *o, const struct file_header *h,
                                        bool stand_in, struct devimg_error *err)
{
    struct elf *elf = o->state;
    struct dvi_view table = nothing_of(o);
    (void)take_table(o, "segment table", h->segments_at, h->segment_count, h->segment_size,
                     h->wide ? 56 : 32, &table);
    const size_t count = table.size > 0 ? table.size / h->segment_size : 0;
    struct dvi_section *sections =
        dvi_arena_array(o->arena, stand_in ? count : 0, sizeof *sections);
    if (sections == NULL)
        return dvi_fail_memory(err, o->file.source);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct segment s = read_segment(table, h->segment_size, h->wide, i);
        if (s.type == PT_TLS)
            elf->tls_addr = s.addr;
        if (s.type == PT_DYNAMIC)
            elf->dynamic = head(dvi_from(o->file, s.offset), s.file_size);
        if (s.type != PT_LOAD || !stand_in)
            continue;
        sections[used] = section_of_segment(o, &s);
        if (sections[used].data.size < s.file_size && used < MOST_REPORTS)
            report_cut_segment(o, &s, sections[used].data.size);
        used++;
    }
    if (stand_in) {
        o->sections = sections;
        o->section_count = used;
    }
    return DEVIMG_OK;
}

static enum devimg_status open_elf(struct dvi_object *o, struct devimg_error *err)
{
    struct file_header h = { 0 };
    DVI_TRY(read_file_header(o->file, &h, err));
    struct elf *elf = dvi_arena_array(o->arena, 1, sizeof *elf);
    if (elf == NULL)
        return dvi_fail_memory(err, o->file.source);
    elf->wide = h.wide;
    elf->type = h.type;
    elf->machine = h.machine;
    elf->header_size = h.section_size;
    elf->dynamic = nothing_of(o);
    o->state = elf;
    o->kind = DEVIMG_KIND_ELF;
    o->machine = machine_name(h.machine, h.wide);
    o->pointer_size = h.wide ? 8 : 4;
    o->is_linked = h.type != ET_REL;
    extend_counts(o, &h);
    const bool whole = take_table(o, "section table", h.sections_at, h.section_count,
                                  h.section_size, h.wide ? 64 : 40, &elf->headers);
    if (!whole && o->is_linked)
        elf->headers = nothing_of(o); /* the names are gone as well: segments serve better */
    const bool has_sections = elf->headers.size > 0;
    if (o->is_linked)
        DVI_TRY(read_segments(o, &h, !has_sections, err));
    return has_sections ? make_sections(o, h.names_index, err) : DEVIMG_OK;
}

/* The dynamic section, for files without a section table. */
struct dynamic {
    uint64_t hash, gnu_hash, names, names_size, symbols;
    uint64_t rela, rela_size, rel, rel_size, relr, relr_size;
};

static void set_dynamic(struct dynamic *d, uint64_t tag, uint64_t value)
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
    case 0x6ffffef5: d->gnu_hash = value; break;
    case 0x6fffe000: d->relr = value; break; /* Android's numbers of the same */
    case 0x6fffe001: d->relr_size = value; break;
    default: break;
    }
}

static struct dynamic read_dynamic(const struct dvi_object *o)
{
    const struct elf *elf = o->state;
    const size_t entry_size = 2 * word_size(elf);
    struct dynamic d = { 0 };
    for (size_t i = 0; i < elf->dynamic.size / entry_size; i++) {
        const uint8_t *p = elf->dynamic.data + i * entry_size;
        const uint64_t tag = read_word(p, elf->wide);
        if (tag == 0)
            break;
        set_dynamic(&d, tag, read_word(p + word_size(elf), elf->wide));
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
        const uint32_t start = read32(rest.data + 4 * i);
        last = start > last ? start : last;
    }
    if (last < first)
        return first; /* all chains are empty: only the symbols that cannot be found */
    const struct dvi_view chains = dvi_from(rest, (uint64_t)buckets * 4);
    for (uint64_t i = last - first; i < chains.size / 4; i++)
        if ((read32(chains.data + 4 * i) & 1) != 0)
            return first + i + 1;
    return 0;
}

/* A symbol table and what belongs to it. */
struct symbols {
    struct dvi_view bytes;
    size_t count, entry_size;
    struct names names;
    struct dvi_view numbers; /* SHT_SYMTAB_SHNDX: section numbers that do not fit in 16 bits */
};

struct raw_symbol {
    uint32_t name;
    uint8_t info;
    uint32_t section; /* reserved numbers are moved up to `reserved` */
    uint64_t value;
};

static size_t symbol_size(const struct elf *elf)
{
    return elf->wide ? 24 : 16;
}

static void set_symbols(const struct dvi_object *o, struct dvi_view bytes, uint64_t entry_size,
                        struct dvi_view names, struct symbols *out)
{
    const size_t least = symbol_size(o->state);
    const bool given = entry_size > least && entry_size <= bytes.size;
    out->bytes = bytes;
    out->entry_size = given ? (size_t)entry_size : least;
    out->count = bytes.size / out->entry_size;
    out->names = names_in(names, out->count);
    out->numbers = nothing_of(o);
}

static void symbols_of_section(const struct dvi_object *o, size_t index, struct symbols *out)
{
    const struct elf *elf = o->state;
    const struct header h = header_at(o, index);
    const struct header names =
        h.link < o->section_count ? header_at(o, h.link) : (struct header){ 0 };
    set_symbols(o, bytes_of(o, &h), h.entry_size, bytes_of(o, &names), out);
    if (elf->section_numbers != 0 && elf->numbered_symtab == index) {
        const struct header numbers = header_at(o, elf->section_numbers);
        out->numbers = bytes_of(o, &numbers);
    }
}

static void symbols_of_dynamic(const struct dvi_object *o, struct symbols *out)
{
    const struct elf *elf = o->state;
    const struct dynamic d = read_dynamic(o);
    const size_t size = symbol_size(elf);
    uint64_t count = 0;
    if (d.hash != 0)
        count = dvi_peek32(dvi_object_from(o, d.hash), 4); /* its chains have one link a symbol */
    if (count == 0 && d.gnu_hash != 0)
        count = gnu_hash_count(dvi_object_from(o, d.gnu_hash), word_size(elf));
    if (count == 0 && d.names > d.symbols)
        count = (d.names - d.symbols) / size;
    const struct dvi_view bytes = d.symbols != 0 ? dvi_object_from(o, d.symbols) : nothing_of(o);
    const struct dvi_view names = d.names != 0 ? dvi_object_from(o, d.names) : nothing_of(o);
    const uint64_t fit = bytes.size / size;
    set_symbols(o, head(bytes, (count < fit ? count : fit) * size), size, head(names, d.names_size),
                out);
}

static struct raw_symbol symbol_at(const struct elf *elf, const struct symbols *t, size_t index)
{
    const uint8_t *p = t->bytes.data + index * t->entry_size;
    struct raw_symbol s = { 0 };
    s.name = read32(p);
    s.info = p[elf->wide ? 4 : 12];
    s.section = read16(p + (elf->wide ? 6 : 14));
    s.value = elf->wide ? read64(p + 8) : read32(p + 4);
    if (s.section == SHN_XINDEX && t->numbers.size > 0)
        s.section = dvi_peek32(t->numbers, (uint64_t)index * 4);
    else if (s.section >= SHN_LORESERVE)
        s.section |= reserved;
    return s;
}

/* Where a symbol stands. False: in another file, or (common symbols) nowhere yet. */
static bool place_symbol(const struct dvi_object *o, const struct raw_symbol *s, uint64_t *addr)
{
    const struct elf *elf = o->state;
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

static enum dvi_symbol_kind kind_of(const struct raw_symbol *s)
{
    switch (s->info & 15) {
    case STT_FUNC:
    case STT_GNU_IFUNC: return DVI_SYMBOL_FUNCTION;
    case STT_FILE: return DVI_SYMBOL_FILE;
    default: return DVI_SYMBOL_OTHER;
    }
}

/* The first table of a type; there is at most one of each (gabi, "Section types"). */
static bool find_symbols(const struct dvi_object *o, uint32_t type, struct symbols *out)
{
    for (size_t i = 0; i < o->section_count; i++)
        if (o->sections[i].type == type) {
            symbols_of_section(o, i, out);
            return true;
        }
    return false;
}

/* Without a section table the loader's tables are all there is. */
static bool open_symbols(const struct dvi_object *o, enum dvi_symbol_table table,
                         struct symbols *out)
{
    if (o->has_sections)
        return find_symbols(o, table == DVI_SYMBOLS_STATIC ? SHT_SYMTAB : SHT_DYNSYM, out);
    if (table == DVI_SYMBOLS_STATIC)
        return false;
    symbols_of_dynamic(o, out);
    return out->count > 0;
}

static bool each_symbol(const struct dvi_object *o, enum dvi_symbol_table table,
                        dvi_symbol_visit *visit, void *context)
{
    struct symbols t = { 0 };
    if (!open_symbols(o, table, &t))
        return false;
    for (size_t i = 1; i < t.count; i++) { /* the first entry is always empty */
        const struct raw_symbol raw = symbol_at(o->state, &t, i);
        struct dvi_symbol s = { .name_bytes = dvi_from(t.names.bytes, raw.name),
                                .local = raw.info >> 4 == STB_LOCAL,
                                .kind = kind_of(&raw) };
        s.defined = place_symbol(o, &raw, &s.addr);
        s.addr = s.defined ? s.addr : 0;
        if (!visit(context, &s))
            break;
    }
    return true;
}

enum form { REL, RELA, RELR };

/* One table of relocations. */
struct table {
    enum form form;
    struct dvi_view bytes, name;
    size_t entry_size, count;
    size_t symbols;                   /* section of its symbol table; 0: the dynamic one */
    const struct dvi_section *target; /* what it patches; NULL in a linked file: addresses */
};

struct tables {
    DVI_LIST(struct table) list;
    uint64_t left; /* bytes of the file that no table has taken: no two of them overlap */
};

static size_t relocation_size(const struct elf *elf, enum form form)
{
    const size_t words = form == RELR ? 1 : form == REL ? 2 : 3;
    return words * word_size(elf);
}

/* False: out of memory. A table that cannot be read is reported and left out. */
static bool add_table(const struct dvi_object *o, struct tables *tables, struct table table,
                      uint64_t entry_size)
{
    const size_t least = relocation_size(o->state, table.form);
    struct devimg_error found;
    table.entry_size = entry_size == 0 ? least : (size_t)entry_size;
    if (table.entry_size < least || table.entry_size != entry_size + (entry_size == 0) * least) {
        (void)dvi_fail(&found, DEVIMG_MALFORMED, table.bytes, 0,
                       "relocations \"%.*s\": entry size %" PRIu64 ", expected %zu",
                       (int)table.name.size, (const char *)table.name.data, entry_size, least);
        report(o, &found);
        return true;
    }
    if (table.bytes.size > tables->left) {
        (void)dvi_fail(&found, DEVIMG_MALFORMED, table.bytes, 0,
                       "relocations \"%.*s\": %zu bytes lie in another table", (int)table.name.size,
                       (const char *)table.name.data, table.bytes.size);
        report(o, &found);
        return true;
    }
    tables->left -= table.bytes.size;
    table.count = table.bytes.size / table.entry_size;
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
static bool is_wanted(const struct dvi_object *o, const struct header *h, bool code,
                      const struct dvi_section **target)
{
    *target = NULL;
    if (o->is_linked)
        return (h->flags & SHF_ALLOC) != 0;
    if (h->info == 0 || h->info >= o->section_count)
        return false;
    *target = &o->sections[h->info];
    return ((*target)->flags & SHF_ALLOC) != 0 && (*target)->executable == code;
}

static bool tables_of_sections(const struct dvi_object *o, bool code, struct tables *out)
{
    for (size_t i = 0; i < o->section_count; i++) {
        struct table t = { .name = o->sections[i].name };
        if (!form_of(o->sections[i].type, &t.form))
            continue;
        const struct header h = header_at(o, i);
        if (!is_wanted(o, &h, code, &t.target))
            continue;
        t.bytes = bytes_of(o, &h);
        t.symbols = h.link;
        if (!add_table(o, out, t, h.entry_size))
            return false;
    }
    return true;
}

static bool tables_of_dynamic(const struct dvi_object *o, struct tables *out)
{
    static const char names[3][8] = { "DT_REL", "DT_RELA", "DT_RELR" };
    const struct dynamic d = read_dynamic(o);
    const uint64_t addrs[3] = { d.rel, d.rela, d.relr };
    const uint64_t sizes[3] = { d.rel_size, d.rela_size, d.relr_size };
    for (size_t i = 0; i < 3; i++) {
        if (addrs[i] == 0 || sizes[i] == 0)
            continue;
        struct table t = { .form = (enum form)i };
        const struct dvi_view rest = dvi_object_from(o, addrs[i]);
        t.name = dvi_view_of(names[i], strlen(names[i]), o->file.source);
        t.bytes = head(rest, sizes[i]);
        if (t.bytes.size < sizes[i]) {
            struct devimg_error found;
            (void)dvi_fail(&found, DEVIMG_TRUNCATED, rest, 0,
                           "%s at address 0x%" PRIx64 ": %" PRIu64 " bytes, %zu are in the file",
                           names[i], addrs[i], sizes[i], t.bytes.size);
            report(o, &found);
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
        r.offset = read64(p);
        r.type = read32(p + 8);
        r.symbol = read32(p + 12);
        r.addend = t->form == RELA ? read64(p + 16) : 0;
    } else {
        const uint32_t info = read32(p + 4);
        r.offset = read32(p);
        r.type = info & 0xff;
        r.symbol = info >> 8;
        r.addend = t->form == RELA ? (uint64_t)(int64_t)(int32_t)read32(p + 8) : 0;
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

static struct address_types types_of(const struct elf *elf)
{
    for (size_t i = 0; i < sizeof address_types / sizeof *address_types; i++)
        if (address_types[i].machine == elf->machine && address_types[i].wide == elf->wide)
            return address_types[i];
    return (struct address_types){ 0 };
}

/* What is at hand while tables are walked. */
struct walk {
    const struct dvi_object *o;
    const struct elf *elf;
    const struct table *table;
    const struct dvi_section *near; /* of the last address read in place */
    struct symbols symbols;
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
    if (!w->o->has_sections)
        symbols_of_dynamic(w->o, &w->symbols);
    else if (table->symbols > 0 && table->symbols < w->o->section_count)
        symbols_of_section(w->o, table->symbols, &w->symbols);
    else
        set_symbols(w->o, nothing_of(w->o), 0, nothing_of(w->o), &w->symbols);
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
    report(w->o, &found);
}

/* The word that stands at `addr`. */
static bool read_place(struct walk *w, uint64_t addr, uint64_t *out)
{
    const size_t size = word_size(w->elf);
    if (w->near == NULL || addr - w->near->addr >= w->near->size)
        w->near = dvi_object_section_of(w->o, addr);
    if (w->near == NULL)
        return false;
    const struct dvi_view data = w->near->data;
    const uint64_t at = addr - w->near->addr;
    if (at > data.size || size > data.size - at)
        return false;
    *out = read_word(data.data + at, w->elf->wide);
    return true;
}

/* Address of a relocation's symbol. False: its number is out of the table. */
static bool find_symbol(struct walk *w, size_t index, uint32_t number, struct raw_symbol *symbol,
                        uint64_t *addr, bool *external)
{
    *symbol = (struct raw_symbol){ 0 };
    *addr = 0;
    *external = false;
    if (number == 0)
        return true; /* no symbol: the address is the addend */
    if (number >= w->symbols.count)
        return complain(w, index, "a symbol number past its table");
    *symbol = symbol_at(w->elf, &w->symbols, number);
    *external = !place_symbol(w->o, symbol, addr);
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
    struct raw_symbol symbol;
    uint64_t addend = 0;
    struct dvi_pointer p = { 0 };
    if (!patched_addr(w, index, &r, &p.addr))
        return false;
    if (!glob_dat && !addend_of(w, index, &r, p.addr, &addend))
        return false;
    bool external = false;
    if (!relative && !find_symbol(w, index, r.symbol, &symbol, &p.value, &external))
        return false;
    p.value += addend;
    if (!w->elf->wide)
        p.value = (uint32_t)p.value;
    if (external)
        p.value = DVI_EXTERNAL;
    *out = p;
    return true;
}

static uint64_t ones(uint64_t word)
{
    uint64_t count = 0;
    for (; word != 0; word &= word - 1)
        count++;
    return count;
}

static uint64_t relr_count(const struct elf *elf, const struct table *t)
{
    uint64_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        const uint64_t entry = read_word(t->bytes.data + i * t->entry_size, elf->wide);
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

static size_t add_relr(struct walk *w, struct dvi_pointer *out)
{
    const size_t size = word_size(w->elf);
    size_t count = 0;
    uint64_t next = 0; /* the word behind the last address or bitmap */
    for (size_t i = 0; i < w->table->count; i++) {
        const uint8_t *p = w->table->bytes.data + i * w->table->entry_size;
        const uint64_t entry = read_word(p, w->elf->wide);
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
static uint64_t most_pointers(const struct dvi_object *o, const struct elf *elf,
                              struct tables *tables)
{
    const uint64_t words = o->file.size / word_size(elf);
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
        report(o, &found);
        t->count = 0;
    }
    return most + relr;
}

static enum devimg_status fill_pointers(struct dvi_object *o, struct tables *tables,
                                        struct devimg_error *err)
{
    const struct elf *elf = o->state;
    const struct address_types types = types_of(elf);
    const uint64_t most = most_pointers(o, elf, tables);
    struct dvi_pointer *pointers = dvi_arena_array(o->arena, (size_t)most, sizeof *pointers);
    if (pointers == NULL)
        return dvi_fail_memory(err, o->file.source);
    struct walk w = { .o = o, .elf = elf };
    size_t count = 0;
    for (size_t i = 0; i < tables->list.count; i++) {
        walk_table(&w, &tables->list.items[i]);
        if (w.table->form == RELR)
            count += add_relr(&w, pointers + count);
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
    struct tables tables = { .left = o->file.size };
    enum devimg_status st = DEVIMG_OK;
    const bool ok =
        o->has_sections ? tables_of_sections(o, code, &tables) : tables_of_dynamic(o, &tables);
    if (ok)
        st = fill(o, &tables, err);
    else
        st = dvi_fail_memory(err, o->file.source);
    DVI_LIST_FREE(&tables.list);
    return st;
}

static enum devimg_status read_pointers(struct dvi_object *o, struct devimg_error *err)
{
    return read_tables(o, false, fill_pointers, err);
}

/* How code uses the address that a relocation gives it. */
enum use { USE_NONE, USE_ADDRESS, USE_FROM_NEXT /* counted from behind the 4-byte field */ };

static enum use use_x86_64(uint32_t type)
{
    switch (type) {
    case 1:  /* R_X86_64_64 */
    case 10: /* _32 */
    case 11: /* _32S */ return USE_ADDRESS;
    case 2:  /* _PC32 */
    case 4:  /* _PLT32 */
    case 9:  /* _GOTPCREL */
    case 41: /* _GOTPCRELX */
    case 42: /* _REX_GOTPCRELX */
    case 43: /* _CODE_4_GOTPCRELX */ return USE_FROM_NEXT;
    default: return USE_NONE;
    }
}

static enum use use_386(uint32_t type)
{
    switch (type) {
    case 1: /* R_386_32 */ return USE_ADDRESS;
    case 2: /* _PC32 */
    case 4: /* _PLT32 */ return USE_FROM_NEXT;
    default: return USE_NONE;
    }
}

static enum use use_aarch64(uint32_t type)
{
    switch (type) {
    case 257: /* R_AARCH64_ABS64 */
    case 273: /* _LD_PREL_LO19 */
    case 274: /* _ADR_PREL_LO21 */
    case 275: /* _ADR_PREL_PG_HI21 */
    case 276: /* _ADR_PREL_PG_HI21_NC */
    case 277: /* _ADD_ABS_LO12_NC */
    case 278: /* _LDST8_ABS_LO12_NC */
    case 282: /* _JUMP26 */
    case 283: /* _CALL26 */
    case 284: /* _LDST16_ABS_LO12_NC */
    case 285: /* _LDST32_ABS_LO12_NC */
    case 286: /* _LDST64_ABS_LO12_NC */
    case 299: /* _LDST128_ABS_LO12_NC */
    case 311: /* _ADR_GOT_PAGE */
    case 312: /* _LD64_GOT_LO12_NC */ return USE_ADDRESS;
    default: return USE_NONE;
    }
}

static enum use use_riscv(uint32_t type)
{
    switch (type) {
    case 2:  /* R_RISCV_64 */
    case 17: /* _JAL */
    case 18: /* _CALL */
    case 19: /* _CALL_PLT */
    case 20: /* _GOT_HI20 */
    case 23: /* _PCREL_HI20 */
    case 26: /* _HI20 */
    case 27: /* _LO12_I */
    case 28: /* _LO12_S */ return USE_ADDRESS;
    default: return USE_NONE;
    }
}

static enum use use_of(uint16_t machine, uint32_t type)
{
    switch (machine) {
    case EM_X86_64: return use_x86_64(type);
    case EM_386: return use_386(type);
    case EM_AARCH64: return use_aarch64(type);
    case EM_RISCV: return use_riscv(type);
    default: return USE_NONE;
    }
}

/* True: `*out` was filled. */
static bool make_reference(struct walk *w, size_t index, struct dvi_code_reference *out)
{
    const struct relocation r = relocation_at(w->elf->wide, w->table, index);
    const enum use use = use_of(w->elf->machine, r.type);
    struct raw_symbol symbol;
    uint64_t addend = 0;
    struct dvi_code_reference c = { 0 };
    if (use == USE_NONE || !patched_addr(w, index, &r, &c.addr) ||
        !addend_of(w, index, &r, c.addr, &addend) ||
        !find_symbol(w, index, r.symbol, &symbol, &c.value, &c.external))
        return false;
    c.name = name_at(&w->symbols.names, symbol.name);
    c.value = c.external ? 0 : c.value + addend + (use == USE_FROM_NEXT ? 4 : 0);
    if (!w->elf->wide)
        c.value = (uint32_t)c.value;
    *out = c;
    return true;
}

static enum devimg_status fill_references(struct dvi_object *o, struct tables *tables,
                                          struct devimg_error *err)
{
    size_t most = 0, count = 0;
    for (size_t i = 0; i < tables->list.count; i++)
        most += tables->list.items[i].form != RELR ? tables->list.items[i].count : 0;
    struct dvi_code_reference *references = dvi_arena_array(o->arena, most, sizeof *references);
    if (references == NULL)
        return dvi_fail_memory(err, o->file.source);
    struct walk w = { .o = o, .elf = o->state };
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

static enum devimg_status read_references(struct dvi_object *o, struct devimg_error *err)
{
    return o->is_linked ? DEVIMG_OK : read_tables(o, true, fill_references, err);
}

const struct dvi_object_format dvi_object_elf = {
    .name = "elf",
    .match = match,
    .open = open_elf,
    .each_symbol = each_symbol,
    .read_pointers = read_pointers,
    .read_references = read_references,
};
