/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cubin: machine code of NVIDIA GPUs in an ELF64 of e_machine 190, little-endian. No document describes it.
 * Sources: llvm/llvm-project llvm/include/llvm/BinaryFormat/ELF.h (e_flags); measured: nvcc and ptxas 11.8 to 13.0
 * against `cuobjdump -res-usage`, ptxas -v (barriers) and 2,828 kernels of bitsandbytes in either ABI.
 *
 *                      EI_OSABI 51, EI_ABIVERSION 7     EI_OSABI 65, EI_ABIVERSION 8
 *                      (up to CUDA 12.9 below sm_100)   (sm_100 from CUDA 12.8 on, all of CUDA 13)
 *   SM number          e_flags bits 0..7                bits 8..15
 *   "a" target         e_flags 0x800                    .nv.compat, attribute 9; CUDA 12.8 and 12.9: e_flags 8
 *   "f" target         none                             only in the command line of .note.nv.tkinfo
 *   toolkit            e_version: 124 is CUDA 12.4      .note.nv.cuinfo
 *   barriers           sh_flags of the code, bits 20..26   attribute 0x4c
 *   e_type             1: relocatable (-rdc=true), 2: for a GPU to run
 *
 *   kernel             a symbol of type FUNC with bit 0x10 of st_other; its code is a section .text.NAME, and the
 *                      sections .nv.info.NAME, .nv.shared.NAME, .nv.constant0.NAME name that by sh_info
 *   .nv.info*          type 0x70000000: u8 form, u8 attribute, then form 2: u8, u8; 1, 3: u16; 4: u16 size and bytes
 *     0x2f, 0x12       in .nv.info: symbol u32, register count or stack bytes u32
 *   .nv.compat         type 0x70000086, the same records
 *   .note.nv.cuinfo    note 1000: u16 version, u16 SM, u16 toolkit: 130 is CUDA 13.0
 *   .note.nv.tkinfo    note 2000: u32 version, then offsets of texts behind these 24 bytes: object, tool, its version,
 *                      build, command line
 *
 * What is spilled stands nowhere: the stack holds it together with local arrays. Relocatable code has no stack
 * size yet.
 */
#include "image/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "object/device_elf.h"
#include "object/elf_note.h"

enum {
    EM_CUDA = 190,
    ABI_NEW = 65,
    ET_REL = 1,
    SECTION_SYMBOLS = 2,
    SECTION_TEXTS = 3,
    SECTION_NOTE = 7,
    SECTION_NUMBERS = 18, /* SHT_SYMTAB_SHNDX */
    SECTION_INFO = 0x70000000,
    SECTION_COMPAT = 0x70000086,
    SYMBOL_SIZE = 24,
    TYPE_FUNC = 2,
    OTHER_KERNEL = 0x10,
    NUMBER_ELSEWHERE = 0xffff,
    WARP_SIZE = 32 /* of every NVIDIA GPU */
};
enum { ATTRIBUTE_STACK = 0x12, ATTRIBUTE_REGISTERS = 0x2f, ATTRIBUTE_BARRIERS = 0x4c };
enum { NOTE_CUINFO = 1000, NOTE_TKINFO = 2000, COMPAT_ACCELERATED = 9 };

static bool match(struct dvi_view v)
{
    uint16_t type = 0, machine = 0;
    return dvi_device_elf_peek(v, &type, &machine) && machine == EM_CUDA;
}

static bool is_new(const struct dvi_device_elf *elf)
{
    return elf->file.data[7] == ABI_NEW;
}

/* --- attributes --- */

struct attribute {
    uint8_t number;
    struct dvi_view bytes; /* one or two bytes, or those of form 4 */
};

/* END: no more. */
static enum devimg_status next_attribute(struct dvi_cursor *c, struct attribute *out,
                                         struct devimg_error *err)
{
    enum { FORM_BYTES = 4 };
    if (dvi_left(c) == 0)
        return DEVIMG_END;
    const size_t at = c->at;
    const uint8_t form = dvi_u8(c);
    const uint8_t number = dvi_u8(c);
    struct dvi_view bytes = dvi_head(dvi_from(c->view, c->at), 2);
    const uint16_t value = dvi_le16(c);
    if (form == FORM_BYTES)
        bytes = dvi_take(c, value);
    DVI_TRY(dvi_cursor_check(c, ".nv.info attribute", err));
    if (form == 0 || form > FORM_BYTES)
        return dvi_fail(err, DEVIMG_MALFORMED, c->view, at,
                        "attribute of form %u: 1 to %d are known", (unsigned)form, (int)FORM_BYTES);
    *out = (struct attribute){ number, bytes };
    return DEVIMG_OK;
}

/* --- facts --- */

/* What tells the target and the tool. */
struct origin {
    enum devimg_answer accelerated; /* an "a" target */
    char family;                    /* 'f', or 0 */
    uint32_t toolkit;               /* 130; 0: not stated */
    struct dvi_view tool, tool_version;
};

static struct dvi_view text_in(struct dvi_view v, uint64_t at)
{
    struct dvi_view text = { 0 };
    return dvi_text_at(v, at, "text", &text, NULL) == DEVIMG_OK ? text : dvi_head(v, 0);
}

/* The letter behind the SM number of "-arch sm_100f"; 0: there is none. */
static char suffix_of_command(struct dvi_view command, uint32_t sm)
{
    char word[32];
    const int size = snprintf(word, sizeof word, "-arch sm_%" PRIu32, sm);
    for (size_t at = 0; at + (size_t)size < command.size; at++)
        if (memcmp(command.data + at, word, (size_t)size) == 0)
            return (char)command.data[at + (size_t)size];
    return 0;
}

static void take_note(uint32_t type, struct dvi_view data, uint32_t sm, struct origin *out)
{
    enum { TEXTS_AT = 24, MOST_TEXT = 256 };
    if (type == NOTE_CUINFO)
        out->toolkit = dvi_peek16(data, 4);
    if (type != NOTE_TKINFO)
        return;
    const struct dvi_view texts = dvi_from(data, TEXTS_AT);
    out->tool = dvi_head(text_in(texts, dvi_peek32(data, 8)), MOST_TEXT);
    out->tool_version = dvi_head(text_in(texts, dvi_peek32(data, 12)), MOST_TEXT);
    const char suffix = suffix_of_command(text_in(texts, dvi_peek32(data, 20)), sm);
    out->family = suffix == 'f' ? 'f' : 0;
    if (suffix == 'a' && out->accelerated == DEVIMG_MAYBE)
        out->accelerated = DEVIMG_YES;
}

static enum devimg_status read_notes(struct dvi_view notes, uint32_t sm, unsigned *left,
                                     struct origin *out, struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(notes, 0);
    struct dvi_elf_note note = { 0 };
    enum devimg_status status;
    while ((status = dvi_elf_note_next(&c, left, "NVIDIA note", &note, err)) == DEVIMG_OK)
        if (dvi_elf_note_is_of(&note, "NVIDIA Corp"))
            take_note(note.type, note.data, sm, out);
    return status == DEVIMG_END ? DEVIMG_OK : status;
}

static enum devimg_status read_compat(struct dvi_view bytes, struct origin *out,
                                      struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(bytes, 0);
    struct attribute a = { 0 };
    enum devimg_status status;
    while ((status = next_attribute(&c, &a, err)) == DEVIMG_OK)
        if (a.number == COMPAT_ACCELERATED)
            out->accelerated = dvi_peek16(a.bytes, 0) != 0 ? DEVIMG_YES : DEVIMG_NO;
    return status == DEVIMG_END ? DEVIMG_OK : status;
}

static enum devimg_status read_origin(const struct dvi_device_elf *elf, uint32_t sm,
                                      struct origin *out, struct devimg_error *err)
{
    enum { FLAG_OLD = 0x800, FLAG_NEW = 8 };
    const bool flagged = (elf->flags & (is_new(elf) ? FLAG_NEW : FLAG_OLD)) != 0;
    *out = (struct origin){ .accelerated = flagged       ? DEVIMG_YES
                                           : is_new(elf) ? DEVIMG_MAYBE
                                                         : DEVIMG_NO,
                            .toolkit = is_new(elf) ? 0 : dvi_peek32(elf->file, 20) };
    uint64_t left = elf->file.size; /* sections may overlap */
    unsigned notes_left = DVI_MOST_ELF_NOTES;
    for (uint32_t i = 0; i < elf->section_count; i++) {
        struct dvi_device_section section = { 0 };
        DVI_TRY(dvi_device_elf_section(elf, i, &section, err));
        const bool is_compat = section.type == (uint32_t)SECTION_COMPAT;
        if (!is_compat &&
            (section.type != SECTION_NOTE || !dvi_starts_with(section.name, ".note.nv.", 9)))
            continue;
        if (section.data.size > left)
            return dvi_fail(err, DEVIMG_MALFORMED, section.data, 0, "notes overlap");
        left -= section.data.size;
        DVI_TRY(is_compat ? read_compat(section.data, out, err)
                          : read_notes(section.data, sm, &notes_left, out, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status take_producer(const struct origin *from, struct dvi_arena *arena,
                                        struct dvi_image_facts *out, struct dvi_view image,
                                        struct devimg_error *err)
{
    if (from->tool.size > 0 && from->tool_version.size > 0)
        out->producer = dvi_arena_format(
            arena, "%.*s, %.*s", (int)from->tool.size, (const char *)from->tool.data,
            (int)from->tool_version.size, (const char *)from->tool_version.data);
    else if (from->toolkit > 1)
        out->producer = dvi_arena_format(arena, "CUDA %" PRIu32 ".%" PRIu32, from->toolkit / 10,
                                         from->toolkit % 10);
    else
        return DEVIMG_OK;
    return out->producer != NULL ? DEVIMG_OK : dvi_fail_memory(err, image.source);
}

static enum devimg_status facts(struct dvi_view image, struct dvi_arena *arena,
                                struct dvi_image_facts *out, struct devimg_error *err)
{
    enum { FLAG_WIDE = 0x400 };
    struct dvi_device_elf elf = { 0 };
    struct origin origin = { 0 };
    DVI_TRY(dvi_device_elf_open(image, &elf, err));
    const uint32_t sm = is_new(&elf) ? elf.flags >> 8 & 0xff : elf.flags & 0xff;
    const enum devimg_status status = read_origin(&elf, sm, &origin, err);
    out->relocatable = elf.type == ET_REL;
    out->pointer_size = is_new(&elf) || (elf.flags & FLAG_WIDE) != 0 ? 8 : 4;
    out->suffix_known = origin.accelerated != DEVIMG_MAYBE;
    out->target = dvi_arena_format(arena, "sm_%" PRIu32 "%s", sm,
                                   origin.accelerated == DEVIMG_YES ? "a"
                                   : origin.family != 0             ? "f"
                                                                    : "");
    out->version = dvi_arena_format(arena, "%u", (unsigned)image.data[8]); /* EI_ABIVERSION */
    if (out->target == NULL || out->version == NULL)
        return dvi_fail_memory(err, image.source);
    DVI_TRY(take_producer(&origin, arena, out, image, err));
    return status;
}

/* --- kernels --- */

/* One image while its kernels are read. Kernels count from `first`; NONE: no kernel. */
struct reader {
    struct dvi_device_elf elf;
    struct dvi_kernel_sink *sink;
    size_t first;
    struct dvi_view symbols, names, numbers;
    size_t symbol_count;
    uint32_t *of_section; /* kernel of a section of code */
    uint32_t *of_symbol;
    uint64_t left; /* bytes of attributes: sections may overlap */
};

static struct devimg_kernel *kernel_at(struct reader *r, uint32_t kernel)
{
    return kernel != DEVIMG_NONE ? &r->sink->kernels.items[r->first + kernel] : NULL;
}

static struct devimg_kernel *kernel_of_section(struct reader *r, uint32_t section)
{
    return section < r->elf.section_count ? kernel_at(r, r->of_section[section]) : NULL;
}

/* The symbol table and what belongs to it. END: there is none. */
static enum devimg_status find_symbols(struct reader *r, struct devimg_error *err)
{
    struct dvi_device_section symbols = { 0 }, names = { 0 }, numbers = { 0 };
    DVI_TRY(dvi_device_elf_find(&r->elf, SECTION_SYMBOLS, &symbols, err));
    if (symbols.link >= r->elf.section_count)
        return dvi_fail(err, DEVIMG_MALFORMED, symbols.data, 0,
                        "symbols with names in section %" PRIu32 ": there are %" PRIu32,
                        symbols.link, r->elf.section_count);
    DVI_TRY(dvi_device_elf_section(&r->elf, symbols.link, &names, err));
    const enum devimg_status status = dvi_device_elf_find(&r->elf, SECTION_NUMBERS, &numbers, err);
    if (status != DEVIMG_OK && status != DEVIMG_END)
        return status;
    r->symbols = symbols.data;
    r->symbol_count = symbols.data.size / SYMBOL_SIZE;
    r->names = names.data;
    r->numbers = status == DEVIMG_OK ? numbers.data : dvi_head(symbols.data, 0);
    return DEVIMG_OK;
}

static enum devimg_status take_symbol(struct reader *r, size_t index, struct devimg_error *err)
{
    const struct dvi_view s = dvi_from(r->symbols, (uint64_t)index * SYMBOL_SIZE);
    uint32_t section = dvi_peek16(s, 6);
    struct dvi_view name = { 0 };
    struct devimg_kernel *kernel = NULL;
    r->of_symbol[index] = DEVIMG_NONE;
    if ((s.data[4] & 0xf) != TYPE_FUNC || (s.data[5] & OTHER_KERNEL) == 0 || section == 0)
        return DEVIMG_OK;
    if (section == NUMBER_ELSEWHERE)
        section = dvi_peek32(r->numbers, (uint64_t)index * 4);
    if (section >= r->elf.section_count)
        return dvi_fail(err, DEVIMG_MALFORMED, s, 6,
                        "kernel in section %" PRIu32 ": there are %" PRIu32, section,
                        r->elf.section_count);
    DVI_TRY(dvi_text_at(dvi_head(r->names, (uint64_t)dvi_peek32(s, 0) + DVI_MOST_KERNEL_NAME + 1),
                        dvi_peek32(s, 0), "kernel name", &name, err));
    const uint32_t number = (uint32_t)(r->sink->kernels.count - r->first);
    DVI_TRY(dvi_kernel_add(r->sink, name, &kernel, err));
    kernel->sub_group_size = WARP_SIZE;
    kernel->slm_size = 0; /* unless a section says more */
    r->of_symbol[index] = r->of_section[section] = number;
    return DEVIMG_OK;
}

/* .nv.info: what is said of a symbol. */
static enum devimg_status take_common(struct reader *r, struct dvi_view bytes,
                                      struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(bytes, 0);
    struct attribute a = { 0 };
    enum devimg_status status;
    while ((status = next_attribute(&c, &a, err)) == DEVIMG_OK) {
        const uint32_t symbol = dvi_peek32(a.bytes, 0);
        if (a.bytes.size < 8 || symbol >= r->symbol_count)
            continue;
        struct devimg_kernel *kernel = kernel_at(r, r->of_symbol[symbol]);
        if (kernel != NULL && a.number == ATTRIBUTE_REGISTERS)
            kernel->registers = dvi_peek32(a.bytes, 4);
        if (kernel != NULL && a.number == ATTRIBUTE_STACK)
            kernel->private_size = dvi_peek32(a.bytes, 4);
    }
    return status == DEVIMG_END ? DEVIMG_OK : status;
}

/* .nv.info.NAME */
static enum devimg_status take_own(struct devimg_kernel *kernel, struct dvi_view bytes,
                                   struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(bytes, 0);
    struct attribute a = { 0 };
    enum devimg_status status;
    if (kernel->barrier_count == DEVIMG_UNKNOWN) /* none, unless an attribute says more */
        kernel->barrier_count = 0;
    while ((status = next_attribute(&c, &a, err)) == DEVIMG_OK)
        if (a.number == ATTRIBUTE_BARRIERS && a.bytes.size > 0)
            kernel->barrier_count = a.bytes.data[0];
    return status == DEVIMG_END ? DEVIMG_OK : status;
}

static enum devimg_status take_section(struct reader *r, uint32_t index, struct devimg_error *err)
{
    enum { BARRIERS_SHIFT = 20, BARRIERS_MASK = 0x7f };
    struct dvi_device_section section = { 0 };
    DVI_TRY(dvi_device_elf_section(&r->elf, index, &section, err));
    struct devimg_kernel *self = kernel_of_section(r, index);
    struct devimg_kernel *of = section.info != 0 ? kernel_of_section(r, section.info) : NULL;
    if (section.type == (uint32_t)SECTION_INFO && section.data.size > r->left)
        return dvi_fail(err, DEVIMG_MALFORMED, section.data, 0, "sections .nv.info overlap");
    if (section.type == (uint32_t)SECTION_INFO)
        r->left -= section.data.size;
    if (self != NULL) {
        self->code_size = section.size;
        DVI_TRY(dvi_kernel_digest(r->sink, self, section.data, err));
        if (!is_new(&r->elf))
            self->barrier_count = section.flags >> BARRIERS_SHIFT & BARRIERS_MASK;
    } else if (section.type == (uint32_t)SECTION_INFO && section.info == 0) {
        return take_common(r, section.data, err);
    } else if (of == NULL) {
        return DEVIMG_OK;
    } else if (section.type == (uint32_t)SECTION_INFO) {
        return take_own(of, section.data, err);
    } else if (dvi_starts_with(section.name, ".nv.shared.", 11)) {
        of->slm_size = section.size;
    } else if (dvi_starts_with(section.name, ".nv.constant0.", 14)) {
        of->constant_size = section.size;
    }
    return DEVIMG_OK;
}

static enum devimg_status read_all(struct reader *r, struct devimg_error *err)
{
    for (size_t i = 0; i < r->symbol_count; i++)
        DVI_TRY(take_symbol(r, i, err));
    for (uint32_t i = 0; i < r->elf.section_count; i++)
        DVI_TRY(take_section(r, i, err));
    return DEVIMG_OK;
}

static enum devimg_status kernels(struct dvi_view image, struct dvi_kernel_sink *sink,
                                  struct devimg_error *err)
{
    struct reader r = { .sink = sink, .first = sink->kernels.count, .left = image.size };
    DVI_TRY(dvi_device_elf_open(image, &r.elf, err));
    DVI_TRY(find_symbols(&r, err));
    r.of_section = calloc(r.elf.section_count, sizeof *r.of_section);
    r.of_symbol = calloc(r.symbol_count + 1, sizeof *r.of_symbol);
    for (uint32_t i = 0; r.of_section != NULL && i < r.elf.section_count; i++)
        r.of_section[i] = DEVIMG_NONE;
    const enum devimg_status status = r.of_section != NULL && r.of_symbol != NULL
                                          ? read_all(&r, err)
                                          : dvi_fail_memory(err, image.source);
    free(r.of_section);
    free(r.of_symbol);
    return status;
}

const struct dvi_image_format dvi_image_cubin = {
    .name = "cubin",
    .format = DEVIMG_FORMAT_CUBIN,
    .match = match,
    .facts = facts,
    .kernels = kernels,
};
