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
 *      24/24 entry             28/32 segments at                  32/40 sections at  (words)
 *      42/54 segments: entry size u16, count u16 (0xffff: `info` of section 0)
 *      46/58 sections: entry size u16, count u16 (0: `size` of section 0), index of the names u16
 *            (0xffff: `link` of section 0)
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
#include "object/elf.h"

#include <inttypes.h>
#include <string.h>

#include "object/device_elf.h"
#include "object/magic.h"

enum { ET_REL = 1, ET_EXEC = 2, ET_DYN = 3 };
enum { EM_CUDA = 190, EM_INTELGT = 205, EM_AMDGPU = 224 }; /* device code */
enum { PT_LOAD = 1, PT_DYNAMIC = 2, PT_INTERP = 3, PT_TLS = 7, PF_X = 1, PN_XNUM = 0xffff };
enum { SHN_XINDEX = 0xffff };

struct file_header {
    bool wide;
    uint16_t type, machine;
    uint64_t entry, segments_at, sections_at;
    uint16_t segment_size, section_size;
    uint64_t segment_count, section_count, names_index;
};

static uint64_t word(struct dvi_cursor *c, bool wide)
{
    return wide ? dvi_le64(c) : dvi_le32(c);
}

static uint16_t read_u16(const uint8_t *p, bool big_endian)
{
    return (uint16_t)(big_endian ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
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
    if (!dvi_has_magic(file, DVI_MAGIC_ELF))
        return false;
    if (file.size < 20)
        return true; /* cut before the fields that tell; open says so */
    const bool big_endian = file.data[5] == 2;
    const uint16_t type = read_u16(file.data + 16, big_endian);
    const uint16_t machine = read_u16(file.data + 18, big_endian);
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
    dvi_skip(&c, 4); /* version */
    h.entry = word(&c, h.wide);
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

static struct dvi_elf_header read_header(struct dvi_view headers, size_t header_size, bool wide,
                                         size_t index)
{
    struct dvi_cursor c = dvi_cursor_at(headers, (uint64_t)index * header_size);
    struct dvi_elf_header h = { 0 };
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

struct dvi_elf_header dvi_elf_header_at(const struct dvi_object *o, size_t index)
{
    const struct dvi_elf *elf = o->state;
    return read_header(elf->headers, elf->header_size, elf->wide, index);
}

struct dvi_view dvi_elf_bytes_of(const struct dvi_object *o, const struct dvi_elf_header *h)
{
    if (h->type == SHT_NULL || h->type == SHT_NOBITS)
        return dvi_head(dvi_from(o->file, h->offset), 0);
    return dvi_head(dvi_from(o->file, h->offset), h->size);
}

/* Names of the sections. */
struct names {
    struct dvi_view bytes;
    uint64_t bad, first_bad; /* names outside the table: how many, and one of them */
};

static struct dvi_view name_at(struct names *names, uint32_t at)
{
    const struct dvi_view rest = dvi_head(dvi_from(names->bytes, at), DVI_MOST_NAME_BYTES);
    if (at == 0 || names->bytes.size == 0)
        return dvi_head(rest, 0);
    const uint8_t *end = memchr(rest.data, 0, rest.size);
    if (end == NULL && names->bad++ == 0)
        names->first_bad = at;
    return dvi_head(rest, end != NULL ? (size_t)(end - rest.data) : 0);
}

static void report_names(const struct dvi_object *o, const struct names *names)
{
    struct devimg_error found;
    if (names->bad == 0)
        return;
    (void)dvi_fail(&found, DEVIMG_MALFORMED, names->bytes, 0,
                   "names of sections: %" PRIu64 " do not end in the %zu bytes of their table, the "
                   "first at +%" PRIu64,
                   names->bad, names->bytes.size, names->first_bad);
    dvi_object_damage(o, &found);
}

/* A table of the file header, as much of it as the file has; true when it is whole. */
static bool take_table(const struct dvi_object *o, const char *what, uint64_t at, uint64_t count,
                       uint16_t entry_size, uint16_t least_size, struct dvi_view *out)
{
    struct devimg_error found;
    *out = dvi_elf_nothing(o);
    if (at == 0 || count == 0)
        return true;
    if (entry_size < least_size) {
        (void)dvi_fail(&found, DEVIMG_MALFORMED, o->file, 0,
                       "%s entry size %u: expected %u or more", what, entry_size, least_size);
        dvi_object_damage(o, &found);
        return false;
    }
    const struct dvi_view rest = dvi_from(o->file, at);
    const uint64_t fit = rest.size / entry_size;
    *out = dvi_head(rest, (count < fit ? count : fit) * entry_size);
    if (count <= fit)
        return true;
    (void)dvi_fail(&found, DEVIMG_TRUNCATED, o->file, at,
                   "%s: %" PRIu64 " entries of %u bytes, %" PRIu64 " fit in the file", what, count,
                   entry_size, fit);
    dvi_object_damage(o, &found);
    return false;
}

/* Counts that do not fit in the file header stand in section 0. */
static void extend_counts(const struct dvi_object *o, struct file_header *h)
{
    const bool has_sections = h->sections_at != 0;
    const struct dvi_elf_header first =
        read_header(dvi_from(o->file, h->sections_at), h->section_size, h->wide, 0);
    if (has_sections && h->section_count == 0)
        h->section_count = first.size;
    if (has_sections && h->names_index == SHN_XINDEX)
        h->names_index = first.link;
    if (has_sections && h->segment_count == PN_XNUM)
        h->segment_count = first.info;
}

/* One section from its header; `*next` is the next address to give away. */
static enum devimg_status make_section(const struct dvi_object *o, const struct dvi_elf_header *h,
                                       uint64_t *next, struct dvi_section *out,
                                       struct devimg_error *err)
{
    struct dvi_section *s = out;
    s->type = h->type;
    s->data = dvi_elf_bytes_of(o, h);
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
        s->unmapped = !dvi_made_addr(next, h->size, h->align, &s->addr);
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
    const uint64_t index_at = dvi_elf_names_index_at(o->pointer_size == 8);
    struct names names = { .bytes = dvi_elf_nothing(o) };
    struct devimg_error found;
    if (index >= count) {
        (void)dvi_fail(&found, DEVIMG_MALFORMED, o->file, index_at,
                       "names of sections: in section %" PRIu64 " of %zu", index, count);
        dvi_object_damage(o, &found);
    } else if (index != 0) {
        const struct dvi_elf_header h = dvi_elf_header_at(o, (size_t)index);
        names.bytes = dvi_elf_bytes_of(o, &h);
    } else if (count > 1) {
        (void)dvi_fail(&found, DEVIMG_UNSUPPORTED, o->file, index_at,
                       "%zu sections without names: what is found by a section's name is not seen",
                       count);
        dvi_object_damage(o, &found);
    }
    return names;
}

static enum devimg_status make_sections(struct dvi_object *o, uint64_t names_index,
                                        struct devimg_error *err)
{
    struct dvi_elf *elf = o->state;
    const size_t count = elf->headers.size / elf->header_size;
    struct dvi_section *sections = dvi_arena_array(o->arena, count, sizeof *sections);
    if (sections == NULL)
        return dvi_fail_memory(err, o->file.source);
    struct names names = section_names(o, names_index, count);
    struct devimg_error found;
    size_t damaged = 0;
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const struct dvi_elf_header h = dvi_elf_header_at(o, i);
        sections[i].name = name_at(&names, h.name);
        const enum devimg_status st = make_section(o, &h, &next, &sections[i], &found);
        if (st != DEVIMG_OK && damaged++ < DVI_MOST_REPORTS)
            dvi_object_damage(o, &found);
        if (h.type == SHT_SYMTAB_SHNDX && elf->section_numbers == 0) {
            elf->section_numbers = i;
            elf->numbered_symtab = h.link;
        }
    }
    if (damaged > DVI_MOST_REPORTS) {
        (void)dvi_fail(&found, DEVIMG_TRUNCATED, elf->headers, 0,
                       "%zu more of %zu sections do not fit in the file",
                       damaged - DVI_MOST_REPORTS, count);
        dvi_object_damage(o, &found);
    }
    report_names(o, &names);
    o->sections = sections;
    o->section_count = count;
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
    out.data = dvi_head(dvi_from(o->file, s->offset), s->file_size);
    out.addr = s->addr;
    out.size = s->memory_size > s->file_size ? s->memory_size : s->file_size;
    out.executable = (s->flags & PF_X) != 0;
    return out;
}

static void report_cut_segment(const struct dvi_object *o, const struct segment *s, size_t have)
{
    struct devimg_error found;
    (void)dvi_fail(&found, DEVIMG_TRUNCATED, dvi_from(o->file, s->offset), 0,
                   "segment at address 0x%" PRIx64 ": %" PRIu64 " bytes, %zu are in the file",
                   s->addr, s->file_size, have);
    dvi_object_damage(o, &found);
}

/* PT_TLS and PT_DYNAMIC, and PT_LOAD as regions. */
static enum devimg_status read_segments(struct dvi_object *o, const struct file_header *h,
                                        struct devimg_error *err)
{
    struct dvi_elf *elf = o->state;
    struct dvi_view table = dvi_elf_nothing(o);
    (void)take_table(o, "segment table", h->segments_at, h->segment_count, h->segment_size,
                     h->wide ? 56 : 32, &table);
    const size_t count = table.size > 0 ? table.size / h->segment_size : 0;
    struct dvi_section *regions = dvi_arena_array(o->arena, count, sizeof *regions);
    if (regions == NULL)
        return dvi_fail_memory(err, o->file.source);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct segment s = read_segment(table, h->segment_size, h->wide, i);
        if (s.type == PT_TLS)
            elf->tls_addr = s.addr;
        if (s.type == PT_INTERP)
            o->is_program = true;
        if (s.type == PT_DYNAMIC)
            elf->dynamic = dvi_head(dvi_from(o->file, s.offset), s.file_size);
        if (s.type != PT_LOAD)
            continue;
        regions[used] = section_of_segment(o, &s);
        if (used < DVI_MOST_REPORTS && regions[used].data.size < s.file_size)
            report_cut_segment(o, &s, regions[used].data.size);
        used++;
    }
    o->regions = regions;
    o->region_count = used;
    return DEVIMG_OK;
}

static enum devimg_status open_elf(struct dvi_object *o, struct devimg_error *err)
{
    struct file_header h = { 0 };
    DVI_TRY(read_file_header(o->file, &h, err));
    struct dvi_elf *elf = dvi_arena_array(o->arena, 1, sizeof *elf);
    if (elf == NULL)
        return dvi_fail_memory(err, o->file.source);
    elf->wide = h.wide;
    elf->machine = h.machine;
    elf->header_size = h.section_size;
    elf->dynamic = dvi_elf_nothing(o);
    o->state = elf;
    o->kind = DEVIMG_KIND_ELF;
    o->machine = machine_name(h.machine, h.wide);
    o->pointer_size = h.wide ? 8 : 4;
    o->is_linked = h.type != ET_REL;
    o->fixed_address = h.type == ET_EXEC;
    o->has_entry = h.entry != 0;
    extend_counts(o, &h);
    const bool whole = take_table(o, "section table", h.sections_at, h.section_count,
                                  h.section_size, h.wide ? 64 : 40, &elf->headers);
    if (!whole && o->is_linked)
        elf->headers = dvi_elf_nothing(o); /* the names are gone as well: segments serve better */
    elf->has_sections = elf->headers.size > 0;
    if (o->is_linked)
        DVI_TRY(read_segments(o, &h, err));
    o->is_program = o->is_program || o->fixed_address || dvi_elf_read_dynamic(o).is_pie;
    if (elf->has_sections)
        return make_sections(o, h.names_index, err);
    o->sections = o->regions;
    o->section_count = o->region_count;
    return DEVIMG_OK;
}

const struct dvi_object_format dvi_object_elf = {
    .name = "elf",
    .match = match,
    .open = open_elf,
    .each_symbol = dvi_elf_each_symbol,
    .read_pointers = dvi_elf_read_pointers,
    .read_references = dvi_elf_read_references,
};
