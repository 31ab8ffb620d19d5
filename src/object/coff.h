/* SPDX-License-Identifier: Apache-2.0 */
/* What coff.c, coff_tables.c, coff_relocations.c, pe.c and pe_tables.c share. The layouts stand in
 * coff.c and pe.c. */
#ifndef DVI_OBJECT_COFF_H
#define DVI_OBJECT_COFF_H

#include "object/object.h"

enum {
    COFF_I386 = 0x14c,
    COFF_ARM = 0x1c4,
    COFF_AMD64 = 0x8664,
    COFF_ARM64EC = 0xa641,
    COFF_ARM64X = 0xa64e,
    COFF_ARM64 = 0xaa64
};
enum {
    SCN_CODE = 0x20,
    SCN_UNINITIALIZED = 0x80,
    SCN_INFO = 0x200,
    SCN_REMOVE = 0x800,
    SCN_MANY_RELOCATIONS = 0x01000000,
    SCN_DISCARDABLE = 0x02000000,
    SCN_EXECUTE = 0x20000000
};
enum { COFF_HEADER_SIZE = 20, COFF_SECTION_SIZE = 40, COFF_NAME_SIZE = 8 };

/** The `state` of a COFF or PE object. */
struct dvi_coff {
    bool big; /* bigobj: symbols of 20 bytes */
    uint16_t machine;
    struct dvi_view headers;     /* of the sections, as many as the file has */
    struct dvi_view symbols;     /* whole entries */
    struct dvi_view strings;     /* with the four bytes of its size; empty: there is none */
    struct dvi_view directories; /* PE: 8 bytes each */
};

/** May it be a COFF object, a bigobj or an import? */
bool dvi_coff_matches(struct dvi_view file);

/** Where the tables of an object stand, as its header says: nothing of it is checked. */
struct dvi_coff_layout {
    uint16_t machine;
    bool big;       /* bigobj */
    bool is_import; /* of a library for a DLL: it has no tables */
    uint64_t sections_at, section_count;
    uint64_t symbols_at; /* 0: no symbols */
    uint64_t symbol_count;
    uint64_t count_at; /* where symbol_count stands, four bytes */
};

/** Read the header of a file that dvi_coff_matches(). UNSUPPORTED: of another class;
 *  TRUNCATED. */
DEVIMG_CHECKED enum devimg_status dvi_coff_layout_of(struct dvi_view file,
                                                     struct dvi_coff_layout *out,
                                                     struct devimg_error *err);

/** A section header. */
struct dvi_coff_header {
    struct dvi_view name; /* the field of 8 bytes */
    uint32_t size, addr;  /* in memory; 0 in objects */
    uint32_t raw_size, raw_at;
    uint32_t relocations_at;
    uint16_t relocation_count;
    uint32_t flags;
};

struct dvi_coff_symbol {
    struct dvi_view name; /* the field of 8 bytes */
    uint32_t value;
    int32_t section; /* from 1; 0: none, -1: absolute, -2: debug information */
    uint16_t type;
    uint8_t storage, extra; /* class, and the entries that follow and belong to it */
};
enum { COFF_ABSOLUTE = -1 };
enum { COFF_CLASS_EXTERNAL = 2, COFF_CLASS_FILE = 103, COFF_CLASS_WEAK = 105 };

/** NULL: not a machine that objects are made for. */
const char *dvi_coff_machine_name(uint16_t machine);

/** Take the section headers, `count` of them at `at`, the symbols and the string table behind
 *  them, as much as the file has. What is missing is reported as damage. */
void dvi_coff_take_tables(struct dvi_object *o, uint64_t sections_at, uint64_t section_count,
                          uint64_t symbols_at, uint64_t symbol_count);

/** Make o->sections of the headers. NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_coff_make_sections(struct dvi_object *o,
                                                         struct devimg_error *err);

/** `index` is less than o->section_count. */
struct dvi_coff_header dvi_coff_header_at(const struct dvi_coff *coff, size_t index);

/** Say what is wrong with the symbols, once for all of them. */
void dvi_coff_check_symbols(struct dvi_object *o);

size_t dvi_coff_symbol_size(const struct dvi_coff *coff);
size_t dvi_coff_symbol_count(const struct dvi_coff *coff);
/** `index` is less than dvi_coff_symbol_count(). */
struct dvi_coff_symbol dvi_coff_symbol_at(const struct dvi_coff *coff, size_t index);
/** Its name: as name_bytes of struct dvi_symbol. `*fixed`: it is a field that the name may fill. */
struct dvi_view dvi_coff_symbol_name(const struct dvi_coff *coff, const struct dvi_coff_symbol *s,
                                     bool *fixed);

/** Where a symbol stands. False: in another file, or nowhere. */
bool dvi_coff_place(const struct dvi_object *o, const struct dvi_coff_symbol *s, uint64_t *addr);

/** The symbol table: objects, and PE files of MinGW. False: there is none. */
bool dvi_coff_each_symbol(const struct dvi_object *o, dvi_symbol_visit *visit, void *context);

/* The rest of the row of COFF: see struct dvi_object_format. */
enum devimg_status dvi_coff_read_pointers(struct dvi_object *o, struct devimg_error *err);
enum devimg_status dvi_coff_read_references(struct dvi_object *o, struct devimg_error *err);

/* And of PE. */
bool dvi_pe_each_import_and_export(const struct dvi_object *o, dvi_symbol_visit *visit,
                                   void *context);
enum devimg_status dvi_pe_read_pointers(struct dvi_object *o, struct devimg_error *err);

/** Directory `index` of a PE: its address, 0 where it has none. */
enum { PE_EXPORTS = 0, PE_IMPORTS = 1, PE_RELOCATIONS = 5, PE_DELAYED_IMPORTS = 13 };
struct dvi_pe_directory {
    uint64_t addr;
    uint32_t size;
};
struct dvi_pe_directory dvi_pe_directory_at(const struct dvi_object *o, uint32_t index);

#endif
