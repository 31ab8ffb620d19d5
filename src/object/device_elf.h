/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF around device code: header and sections, nothing more. */
#ifndef DVI_OBJECT_DEVICE_ELF_H
#define DVI_OBJECT_DEVICE_ELF_H

#include "base/view.h"

/** Where the header of an ELF says which section holds the names of sections: e_shstrndx, u16; 0,
 *  which the gABI allows: none does. */
static inline uint64_t dvi_elf_names_index_at(bool wide)
{
    return wide ? 62 : 50;
}

struct dvi_device_elf {
    struct dvi_view file;
    bool wide; /* ELF64 */
    uint16_t type, machine;
    uint32_t flags;          /* e_flags */
    struct dvi_view headers; /* the section table */
    struct dvi_view names;   /* empty: sections have no names */
    uint32_t section_count, entry_size;
};

struct dvi_device_section {
    struct dvi_view name; /* empty when the file has none for it; cut at 4,096 bytes */
    struct dvi_view data; /* empty for a section without bytes in the file */
    uint32_t type, link, info;
    uint64_t addr, flags, size; /* `size` also where there are no bytes */
};

/** A little-endian ELF header; `*type` and `*machine` are e_type and e_machine. */
bool dvi_device_elf_peek(struct dvi_view v, uint16_t *type, uint16_t *machine);

/** TRUNCATED, MALFORMED: header or section table cannot be read. */
DEVIMG_CHECKED enum devimg_status dvi_device_elf_open(struct dvi_view v, struct dvi_device_elf *out,
                                                      struct devimg_error *err);
/** Section `i` below section_count. */
DEVIMG_CHECKED enum devimg_status dvi_device_elf_section(const struct dvi_device_elf *elf,
                                                         uint32_t i, struct dvi_device_section *out,
                                                         struct devimg_error *err);
/** The first section of this type. END: there is none. */
DEVIMG_CHECKED enum devimg_status dvi_device_elf_find(const struct dvi_device_elf *elf,
                                                      uint32_t type, struct dvi_device_section *out,
                                                      struct devimg_error *err);
/** From `v`'s first byte to the farthest that the header, the section table or a section names.
 *  TRUNCATED, MALFORMED: as dvi_device_elf_open(). */
DEVIMG_CHECKED enum devimg_status dvi_device_elf_extent(struct dvi_view v, struct dvi_view *out,
                                                        struct devimg_error *err);

#endif
