/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: sections, symbols, pointers and address -> bytes, the same for ELF, COFF and PE. */
#ifndef DVI_OBJECT_OBJECT_H
#define DVI_OBJECT_OBJECT_H

#include "base/arena.h"

struct dvi_section {
    struct dvi_view name;
    struct dvi_view data; /* empty for a section without bytes in the file (.bss); less than `size`
                             where the file is cut */
    uint64_t addr;        /* in a relocatable object: made up, so that no two sections overlap */
    uint64_t size;        /* in memory */
    uint32_t type;        /* as the format numbers it; COFF and PE: the characteristics */
    bool executable;      /* holds host code */
    bool unmapped;        /* has no address of its own: debug information of a linked file, .tbss */
};

/** Where a section starts, for lookups by address. */
struct dvi_section_start {
    uint64_t addr; /* first: see dvi_sort_by_addr() */
    const struct dvi_section *section;
};

enum dvi_symbol_kind { DVI_SYMBOL_OTHER, DVI_SYMBOL_FUNCTION, DVI_SYMBOL_FILE };

struct dvi_symbol {
    struct dvi_view name_bytes; /* from the name's first byte on: see dvi_symbol_name() */
    bool name_fixed;            /* they are a field of fixed size, which a name may fill */
    uint64_t addr;              /* in the object's address space; 0: not defined here */
    uint64_t slot;              /* PE import: where the loader writes its address; 0: none */
    bool defined;
    bool local;
    enum dvi_symbol_kind kind;
};

/** The name, up to its NUL or the end of its field; empty when the symbol has none, or none that
 *  ends within 4,096 bytes. */
struct dvi_view dvi_symbol_name(const struct dvi_symbol *symbol);

/** Called for each symbol in table order; false ends the walk. */
typedef bool dvi_symbol_visit(void *context, const struct dvi_symbol *symbol);

enum dvi_symbol_table {
    DVI_SYMBOLS_STATIC, /* what strip removes */
    DVI_SYMBOLS_DYNAMIC /* imports and exports */
};

/** A place that the linker or loader fills with an address. */
struct dvi_pointer {
    uint64_t addr;  /* where it stands */
    uint64_t value; /* what it points at; DVI_EXTERNAL: into another file */
};
#define DVI_EXTERNAL UINT64_MAX

/**
 * One relocation of host code, not a data pointer: a call or an address taken by an instruction.
 * Only relocatable objects have them (a linked file has final displacements).
 */
struct dvi_code_reference {
    uint64_t addr;  /* of the field that is patched */
    uint64_t value; /* target address, already freed of the -4 of PC-relative forms; 0: external */
    bool external;  /* the symbol is not defined here */
    struct dvi_view name_bytes; /* of its symbol, as in struct dvi_symbol */
};

/**
 * Everything lives in `arena` or in the file's bytes. Tables are read when they are asked for.
 * What could not be read of a table is reported through the `damage` callback, and the rest is
 * kept.
 */
struct dvi_object {
    enum devimg_file_kind kind;
    struct dvi_view file;
    struct dvi_arena *arena;
    const char *machine;   /* "x86_64", "aarch64", "i386", ...; NULL: not known by a name */
    unsigned pointer_size; /* 4 or 8 */
    bool is_linked;        /* executable or shared library: addresses are final */
    bool fixed_address;    /* linked to run where it says: its own pointers need no relocations */
    bool has_entry;        /* linked: it names a place where running it, or loading it, starts */
    bool is_program;       /* ELF: at a fixed address, or with a loader's name, or marked as one */
    bool pointers_partial; /* some relocations are of a kind, or in a state, that is not read */
    bool symbols_partial;  /* COFF and PE: some symbols, or their names, could not be read */
    uint64_t base;         /* PE: what addresses counted from the image are added to */

    const struct dvi_section *sections; /* in table order; segments where no table is left */
    size_t section_count;
    const struct dvi_section_start *starts; /* made by dvi_object_open(); sorted by addr */
    size_t start_count;

    /* What the loader maps, where the format tells it apart from sections: it alone decides which
     * bytes stand at an address. None: the sections do. */
    const struct dvi_section *regions;
    size_t region_count;
    const struct dvi_section_start *region_starts; /* made by dvi_object_open(); sorted by addr */
    size_t region_start_count;

    const struct dvi_pointer *pointers; /* sorted by addr */
    size_t pointer_count;
    bool pointers_read;

    const struct dvi_code_reference *references; /* sorted by addr */
    size_t reference_count;
    bool references_read;

    const struct dvi_object_format *format;
    void *state; /* the format's own */

    /* Called for each damaged table or entry; the first argument is `damage_sink`. May be NULL. */
    void (*damage)(void *sink, const struct devimg_error *err);
    void *damage_sink;
};

/** A row of object/objects.def: src/object/<name>.c defines `dvi_object_<name>`. */
struct dvi_object_format {
    const char *name;
    bool (*match)(struct dvi_view file);
    /* Header and sections. `out` comes with file, arena, damage and format set. */
    enum devimg_status (*open)(struct dvi_object *out, struct devimg_error *err);
    /* False: there is no such table. */
    bool (*each_symbol)(const struct dvi_object *object, enum dvi_symbol_table table,
                        dvi_symbol_visit *visit, void *context);
    enum devimg_status (*read_pointers)(struct dvi_object *object, struct devimg_error *err);
    enum devimg_status (*read_references)(struct dvi_object *object, struct devimg_error *err);
};

/** UNSUPPORTED when no row matches. `arena` and the bytes must outlive `*out`. */
DEVIMG_CHECKED enum devimg_status dvi_object_open(struct dvi_view file, struct dvi_arena *arena,
                                                  void (*damage)(void *sink,
                                                                 const struct devimg_error *err),
                                                  void *damage_sink, struct dvi_object *out,
                                                  struct devimg_error *err);

/** True when some row reads a file that starts like this. */
bool dvi_object_matches(struct dvi_view file);

/** Walk a symbol table, without keeping it: some have hundreds of thousands. False: the object has
 *  no such table. */
bool dvi_object_each_symbol(const struct dvi_object *o, enum dvi_symbol_table table,
                            dvi_symbol_visit *visit, void *context);

/** Fill the table once; later calls do nothing. The only failure is NOMEM. */
DEVIMG_CHECKED enum devimg_status dvi_object_pointers(struct dvi_object *o,
                                                      struct devimg_error *err);
DEVIMG_CHECKED enum devimg_status dvi_object_references(struct dvi_object *o,
                                                        struct devimg_error *err);

/** From an address to the end of its region's file data; size 0 when it lies in none. */
struct dvi_view dvi_object_from(const struct dvi_object *o, uint64_t addr);

/** The section that holds an address, or NULL: for its name. */
const struct dvi_section *dvi_object_section_of(const struct dvi_object *o, uint64_t addr);
/** The region that holds an address, or NULL: for its bytes. */
const struct dvi_section *dvi_object_region_of(const struct dvi_object *o, uint64_t addr);

/** The pointer that stands exactly at `addr`, or NULL. Call dvi_object_pointers() before. */
const struct dvi_pointer *dvi_object_pointer_at(const struct dvi_object *o, uint64_t addr);
/** The index of the first pointer at or after `addr`. */
size_t dvi_object_pointer_from(const struct dvi_object *o, uint64_t addr);
/** The reference of code that stands exactly at `addr`, or NULL. Call dvi_object_references()
 *  before. */
const struct dvi_code_reference *dvi_object_reference_at(const struct dvi_object *o, uint64_t addr);

/** True for that name, and in COFF and PE also for its first eight bytes: linkers of Windows, and
 *  some compilers, keep no more. */
bool dvi_object_names(const struct dvi_object *o, const struct dvi_section *section,
                      const char *name);

/** For formats. Names may share bytes: with a bound, a walk over all of them stays linear. Of what
 *  is damaged alike, so many are reported one by one, the rest as a count. */
enum { DVI_MOST_NAME_BYTES = 4096, DVI_MOST_REPORTS = 16 };

/** For formats: pass on what is wrong with one table or entry; the rest is read on. */
void dvi_object_damage(const struct dvi_object *o, const struct devimg_error *found);

/** For formats: in a relocatable object, the next range of addresses that no section has; `*next`
 *  starts at 0. False: there is none of that size. */
bool dvi_made_addr(uint64_t *next, uint64_t size, uint64_t align, uint64_t *addr);

/**
 * For formats: sort items that begin with their `uint64_t addr`. Equal addresses keep their order;
 * what is sorted already is left alone. Linear time. False: out of memory.
 */
bool dvi_sort_by_addr(void *items, size_t count, size_t item_size);
/** In items so sorted, the index of the first that is not before `addr`; `count`: all are. */
size_t dvi_first_from_addr(const void *items, size_t count, size_t item_size, uint64_t addr);

/** A member of an `ar` archive: src/object/ar.c. */
struct dvi_ar_member {
    struct dvi_view name; /* GNU and BSD long names resolved; without the trailing "/" */
    struct dvi_view data;
    bool special; /* symbol table or name table: no member of the user's */
};

struct dvi_ar {
    struct dvi_view archive;
    struct dvi_view long_names; /* GNU "//" */
    uint64_t at;                /* of the next header */
};

/** Also true for "!<thin>\n": its members stay in their own files, and have no data here. */
bool dvi_ar_match(struct dvi_view v);
/** True for "!<thin>\n": members stay in their own files. */
bool dvi_ar_is_thin(struct dvi_view v);
struct dvi_ar dvi_ar_begin(struct dvi_view archive);
/**
 * OK: a member; END: no more. TRUNCATED or MALFORMED: what follows cannot be read, unless
 * `it->at` moved on, then the next call goes on behind the damaged member.
 */
DEVIMG_CHECKED enum devimg_status dvi_ar_next(struct dvi_ar *it, struct dvi_ar_member *out,
                                              struct devimg_error *err);

#endif
