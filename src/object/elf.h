/* SPDX-License-Identifier: Apache-2.0 */
/* What elf.c, elf_symbols.c and elf_relocations.c share. The layouts stand in elf.c. */
#ifndef DVI_OBJECT_ELF_H
#define DVI_OBJECT_ELF_H

#include "object/object.h"

enum { EM_386 = 3, EM_PPC64 = 21, EM_ARM = 40, EM_X86_64 = 62, EM_AARCH64 = 183 };
enum { EM_RISCV = 243, EM_LOONGARCH = 258 };
enum {
    SHT_NULL = 0,
    SHT_SYMTAB = 2,
    SHT_RELA = 4,
    SHT_NOBITS = 8,
    SHT_REL = 9,
    SHT_DYNSYM = 11,
    SHT_SYMTAB_SHNDX = 18,
    SHT_RELR = 19,
    SHT_ANDROID_REL = 0x60000001,
    SHT_ANDROID_RELA = 0x60000002,
    SHT_ANDROID_RELR = 0x6fffff00
};
enum { SHF_ALLOC = 2, SHF_EXECINSTR = 4, SHF_TLS = 0x400 };

/** The `state` of an ELF object. */
struct dvi_elf {
    bool wide; /* ELFCLASS64 */
    uint16_t machine;
    bool has_sections;       /* false: stripped; PT_LOAD stand in, and the loader's tables */
    struct dvi_view headers; /* of the sections, as many as the file has */
    size_t header_size;
    struct dvi_view dynamic;  /* bytes of PT_DYNAMIC */
    uint64_t tls_addr;        /* of PT_TLS; its symbols count from here */
    size_t section_numbers;   /* index of the SHT_SYMTAB_SHNDX section; 0: none */
    uint32_t numbered_symtab; /* index of the symbol table that it belongs to */
};

/** A section header. */
struct dvi_elf_header {
    uint32_t name, type;
    uint64_t flags, addr, offset, size;
    uint32_t link, info;
    uint64_t align, entry_size;
};

static inline uint64_t dvi_elf_word(const uint8_t *p, bool wide)
{
    return wide ? dvi_bytes64(p) : dvi_bytes32(p);
}

static inline size_t dvi_elf_word_size(const struct dvi_elf *elf)
{
    return elf->wide ? 8 : 4;
}

static inline struct dvi_view dvi_elf_nothing(const struct dvi_object *o)
{
    return dvi_from(o->file, o->file.size);
}

/** The header of section `index`, which is less than o->section_count. */
struct dvi_elf_header dvi_elf_header_at(const struct dvi_object *o, size_t index);

/** Bytes of a section, as many as the file has. */
struct dvi_view dvi_elf_bytes_of(const struct dvi_object *o, const struct dvi_elf_header *h);

/** The dynamic section: addresses and sizes; 0 where there is none. */
struct dvi_elf_dynamic {
    uint64_t hash, gnu_hash, names, names_size, symbols;
    uint64_t rela, rela_size, rel, rel_size, relr, relr_size;
    uint64_t packed; /* Android's, of either kind */
    bool is_pie;     /* a program that is linked as a shared library is */
};
struct dvi_elf_dynamic dvi_elf_read_dynamic(const struct dvi_object *o);

/** A symbol table and what belongs to it. */
struct dvi_elf_symbols {
    struct dvi_view bytes;
    size_t count, entry_size;
    struct dvi_view names;
    struct dvi_view numbers; /* SHT_SYMTAB_SHNDX: section numbers that do not fit in 16 bits */
};

struct dvi_elf_symbol {
    uint32_t name;
    uint8_t info;
    uint32_t section; /* reserved numbers stand at 0xffff0000 and up, out of the way of real ones */
    uint64_t value;
};

/** The symbol table in section `index`, empty where that is no section; DVI_ELF_DYNAMIC: the
 *  loader's. */
struct dvi_elf_symbols dvi_elf_symbols_of(const struct dvi_object *o, size_t index);
#define DVI_ELF_DYNAMIC SIZE_MAX

/** `index` is less than t->count. */
struct dvi_elf_symbol dvi_elf_symbol_at(const struct dvi_elf *elf, const struct dvi_elf_symbols *t,
                                        size_t index);

/** Where a symbol stands. False: in another file, or (common symbols) nowhere yet. */
bool dvi_elf_place(const struct dvi_object *o, const struct dvi_elf_symbol *s, uint64_t *addr);

/* The rest of the row: see struct dvi_object_format. */
bool dvi_elf_each_symbol(const struct dvi_object *o, enum dvi_symbol_table table,
                         dvi_symbol_visit *visit, void *context);
enum devimg_status dvi_elf_read_pointers(struct dvi_object *o, struct devimg_error *err);
enum devimg_status dvi_elf_read_references(struct dvi_object *o, struct devimg_error *err);

#endif
