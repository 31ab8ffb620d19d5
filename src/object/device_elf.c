/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF32 and ELF64, little-endian. Source: System V gABI, chapter 4.
 *
 *            ELF64   ELF32
 *   e_type   16      16      u16, then e_machine u16
 *   e_shoff  40      32
 *   e_flags  48      36      u32, right behind e_shoff
 *   e_shentsize, e_shnum, e_shstrndx: 58, 46
 *   section: name u32, type u32; flags 8/8, offset 24/16, size 32/20, link 40/24, info 44/28
 *
 * Of NVIDIA, sections of four more types have no bytes in the file, whatever size they state: seen in
 * cubins of CUDA 11.8 to 13.0 (.nv.global, .nv.shared, .nv_debug.shared).
 */
#include "object/device_elf.h"

#include <inttypes.h>
#include <string.h>

#include "object/magic.h"

enum { SHT_NOBITS = 8, SHN_XINDEX = 0xffff, EM_CUDA = 190 };

static bool has_bytes(const struct dvi_device_elf *elf, uint32_t type)
{
    if (type == 0 || type == SHT_NOBITS)
        return false;
    return elf->machine != EM_CUDA ||
           (type != 0x70000007 && type != 0x70000009 && type != 0x7000000a && type != 0x70000015);
}

bool dvi_device_elf_peek(struct dvi_view v, uint16_t *type, uint16_t *machine)
{
    if (v.size < 52 || !dvi_has_magic(v, DVI_MAGIC_ELF) || (v.data[4] != 1 && v.data[4] != 2) ||
        v.data[5] != 1)
        return false;
    *type = dvi_peek16(v, 16);
    *machine = dvi_peek16(v, 18);
    return true;
}

/* All but the names; *names_index is e_shstrndx. */
static enum devimg_status open_table(struct dvi_view v, struct dvi_device_elf *out,
                                     uint32_t *names_index, struct devimg_error *err)
{
    struct dvi_device_elf elf = { .file = v, .names = dvi_view_of(NULL, 0, v.source) };
    if (!dvi_device_elf_peek(v, &elf.type, &elf.machine))
        return dvi_fail(err, DEVIMG_MALFORMED, v, 0, "no little-endian ELF header in %zu bytes",
                        v.size);
    elf.wide = v.data[4] == 2;
    struct dvi_cursor c = dvi_cursor_at(v, elf.wide ? 40 : 32);
    const uint64_t table = elf.wide ? dvi_le64(&c) : dvi_le32(&c);
    elf.flags = dvi_le32(&c);
    dvi_skip(&c, 2 + 2 + 2); /* e_ehsize, e_phentsize, e_phnum */
    elf.entry_size = dvi_le16(&c);
    elf.section_count = dvi_le16(&c);
    *names_index = dvi_le16(&c);
    DVI_TRY(dvi_cursor_check(&c, "ELF header", err));
    const struct dvi_view first = dvi_from(v, table); /* numbers too large for the header */
    if (elf.section_count == 0 && table != 0)
        elf.section_count = dvi_peek32(first, elf.wide ? 32 : 20);
    if (*names_index == SHN_XINDEX)
        *names_index = dvi_peek32(first, elf.wide ? 40 : 24);
    if (elf.entry_size < (elf.wide ? 64 : 40) || elf.section_count == 0)
        return dvi_fail(err, DEVIMG_MALFORMED, v, elf.wide ? 58 : 46,
                        "ELF image with %" PRIu32 " section headers of %" PRIu32 " bytes",
                        elf.section_count, elf.entry_size);
    DVI_TRY(dvi_slice(v, table, (uint64_t)elf.section_count * elf.entry_size, "ELF section headers",
                      &elf.headers, err));
    *out = elf;
    return DEVIMG_OK;
}

enum devimg_status dvi_device_elf_open(struct dvi_view v, struct dvi_device_elf *out,
                                       struct devimg_error *err)
{
    struct dvi_device_elf elf = { 0 };
    uint32_t names_index = 0;
    DVI_TRY(open_table(v, &elf, &names_index, err));
    if (names_index != 0) {
        struct dvi_device_section names = { 0 };
        if (names_index >= elf.section_count)
            return dvi_fail(err, DEVIMG_MALFORMED, v, dvi_elf_names_index_at(elf.wide),
                            "section of names %" PRIu32 ": there are %" PRIu32, names_index,
                            elf.section_count);
        DVI_TRY(dvi_device_elf_section(&elf, names_index, &names, err));
        elf.names = names.data;
    }
    *out = elf;
    return DEVIMG_OK;
}

/* Many sections may share one name of any length, so no more of it is looked at than is needed. */
static enum devimg_status name_at(struct dvi_view names, uint64_t at, struct dvi_view *out,
                                  struct devimg_error *err)
{
    enum { MOST = 4096 };
    struct dvi_view rest = dvi_from(names, at);
    if (rest.size > MOST && memchr(rest.data, 0, MOST) == NULL) {
        rest.size = MOST;
        *out = rest;
        return DEVIMG_OK;
    }
    return dvi_text_at(names, at, "section name", out, err);
}

enum devimg_status dvi_device_elf_section(const struct dvi_device_elf *elf, uint32_t i,
                                          struct dvi_device_section *out, struct devimg_error *err)
{
    const struct dvi_view header = dvi_from(elf->headers, (uint64_t)i * elf->entry_size);
    const uint64_t offset = elf->wide ? dvi_peek64(header, 24) : dvi_peek32(header, 16);
    const uint64_t size = elf->wide ? dvi_peek64(header, 32) : dvi_peek32(header, 20);
    struct dvi_device_section section = {
        .type = dvi_peek32(header, 4),
        .link = dvi_peek32(header, elf->wide ? 40 : 24),
        .addr = elf->wide ? dvi_peek64(header, 16) : dvi_peek32(header, 12),
        .info = dvi_peek32(header, elf->wide ? 44 : 28),
        .flags = elf->wide ? dvi_peek64(header, 8) : dvi_peek32(header, 8),
        .size = size,
        .name = dvi_view_of(NULL, 0, elf->file.source),
        .data = dvi_view_of(NULL, 0, elf->file.source)
    };
    if (has_bytes(elf, section.type))
        DVI_TRY(dvi_slice(elf->file, offset, size, "ELF section", &section.data, err));
    if (elf->names.size > 0)
        DVI_TRY(name_at(elf->names, dvi_peek32(header, 0), &section.name, err));
    *out = section;
    return DEVIMG_OK;
}

enum devimg_status dvi_device_elf_find(const struct dvi_device_elf *elf, uint32_t type,
                                       struct dvi_device_section *out, struct devimg_error *err)
{
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (dvi_peek32(elf->headers, (uint64_t)i * elf->entry_size + 4) == type)
            return dvi_device_elf_section(elf, i, out, err);
    return DEVIMG_END;
}

enum devimg_status dvi_device_elf_extent(struct dvi_view v, struct dvi_view *out,
                                         struct devimg_error *err)
{
    struct dvi_device_elf elf = { 0 };
    struct dvi_device_section section = { 0 };
    uint32_t names_index = 0;
    DVI_TRY(open_table(v, &elf, &names_index, err));
    const uint8_t *end = elf.headers.data + elf.headers.size;
    for (uint32_t i = 0; i < elf.section_count; i++) {
        DVI_TRY(dvi_device_elf_section(&elf, i, &section, err));
        if (section.data.size > 0 && section.data.data + section.data.size > end)
            end = section.data.data + section.data.size;
    }
    return dvi_slice(v, 0, (uint64_t)(end - v.data), "ELF image", out, err);
}
