/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AMDGPU code object: an ELF64 of AMD GPU code.
 * Source: llvm/llvm-project llvm/docs/AMDGPUUsage.rst ("ELF Code Object", "Code Object Metadata"),
 * llvm/include/llvm/BinaryFormat/ELF.h.
 *
 *   e_machine 224; EI_OSABI 64 (amdhsa); EI_ABIVERSION 0 to 4: code object version 2 to 6
 *   e_flags    7..0   processor, from version 3 on
 *              9..8   xnack, from version 4 on: 0 not supported, 1 any, 2 off, 3 on
 *              11..10 sramecc, the same
 *              31..24 version of a generic processor, version 6
 *              version 3: 0x100 xnack on, 0x200 sramecc on; version 2: 0x1 xnack on
 *   notes      owner "AMDGPU", type 32: MessagePack (docs/format/amdgpu.md)
 *              owner "AMD", version 2: 1 version, 3 processor as numbers, 11 as text, 10 YAML
 *   symbols    KERNEL: code; KERNEL.kd: its descriptor of 64 bytes; version 2: type 10 is a kernel
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/msgpack.h"
#include "image/image.h"
#include "object/device_elf.h"
#include "object/elf_note.h"

enum {
    MACHINE_AMDGPU = 224,
    ABI_AT = 8,
    FLAGS_AT = 48,
    SECTION_SYMTAB = 2,
    SECTION_NOTE = 7,
    SECTION_DYNSYM = 11,
    NOTE_METADATA = 32,
    NOTE_V2_ISA = 3,
    NOTE_V2_ISA_NAME = 11,
    SYMBOL_SIZE = 24,
    SYMBOL_OBJECT = 1,
    SYMBOL_FUNCTION = 2,
    SYMBOL_V2_KERNEL = 10,
    DESCRIPTOR_SIZE = 64,
    REGISTER_SIZE = 4 /* of a vector register, for one work-item */
};
static const char triple[] = "amdgcn-amd-amdhsa-", descriptor[] = ".kd";

static bool match(struct dvi_view v)
{
    uint16_t type = 0, machine = 0;
    return dvi_device_elf_peek(v, &type, &machine) && machine == MACHINE_AMDGPU && v.data[4] == 2 &&
           v.size >= 64;
}

/* 2 to 6, or more than is known. */
static unsigned version_of(struct dvi_view image)
{
    return image.data[ABI_AT] + 2U;
}

/* --- notes --- */

/* Each note of all note sections: `take` ends the walk with any other status than OK. */
static enum devimg_status each_note(const struct dvi_device_elf *elf,
                                    enum devimg_status (*take)(void *context,
                                                               const struct dvi_elf_note *note,
                                                               struct devimg_error *err),
                                    void *context, struct devimg_error *err)
{
    unsigned left = DVI_MOST_ELF_NOTES;
    for (uint32_t i = 0; i < elf->section_count; i++) {
        struct dvi_device_section section = { 0 };
        struct dvi_elf_note note = { 0 };
        enum devimg_status status;
        DVI_TRY(dvi_device_elf_section(elf, i, &section, err));
        if (section.type != SECTION_NOTE)
            continue;
        struct dvi_cursor c = dvi_cursor_at(section.data, 0);
        while ((status = dvi_elf_note_next(&c, &left, "AMDGPU note", &note, err)) == DEVIMG_OK)
            DVI_TRY(take(context, &note, err));
        if (status != DEVIMG_END)
            return status;
    }
    return DEVIMG_OK;
}

static enum devimg_status find_metadata(void *context, const struct dvi_elf_note *note,
                                        struct devimg_error *err)
{
    struct dvi_view *metadata = context;
    (void)err;
    if (note->type != NOTE_METADATA || !dvi_elf_note_is_of(note, "AMDGPU"))
        return DEVIMG_OK;
    *metadata = note->data;
    return DEVIMG_END;
}

/* The MessagePack of the first metadata note. END: there is none. */
static enum devimg_status metadata_of(const struct dvi_device_elf *elf, struct dvi_view *out,
                                      struct devimg_error *err)
{
    const enum devimg_status status = each_note(elf, find_metadata, out, err);
    return status == DEVIMG_OK ? DEVIMG_END : status == DEVIMG_END ? DEVIMG_OK : status;
}

/* --- facts --- */

/* "amdgcn-amd-amdhsa--gfx90a:xnack+" names "gfx90a:xnack+"; the environment is mostly empty. */
static enum devimg_status take_target(struct dvi_view isa, struct dvi_arena *arena,
                                      struct dvi_image_facts *out, struct devimg_error *err)
{
    enum { MOST = 64 };
    size_t at = sizeof triple - 1;
    if (!dvi_starts_with(isa, triple, at))
        return dvi_fail(err, DEVIMG_MALFORMED, isa, 0,
                        "AMDGPU target \"%.*s\" that does not start with %s",
                        (int)(isa.size < MOST ? isa.size : MOST), (const char *)isa.data, triple);
    while (at < isa.size && isa.data[at] != '-')
        at++;
    const struct dvi_view name = dvi_from(isa, at + 1);
    if (name.size == 0 || name.size > MOST)
        return dvi_fail(err, DEVIMG_MALFORMED, isa, at,
                        "AMDGPU target with a name of %zu bytes: 1 to %d are read", name.size,
                        (int)MOST);
    out->target = dvi_arena_text(arena, name);
    return out->target != NULL ? DEVIMG_OK : dvi_fail_memory(err, isa.source);
}

static enum devimg_status read_metadata_facts(struct dvi_view metadata, struct dvi_arena *arena,
                                              struct dvi_image_facts *out, struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(metadata, 0);
    struct dvi_msgpack_item map = { 0 }, key = { 0 }, value = { 0 };
    DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_MAP, "AMDGPU metadata", &map, err));
    for (uint64_t i = 0; i < map.number; i++) {
        DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_TEXT, "key of the AMDGPU metadata", &key, err));
        if (dvi_equals(key.bytes, "amdhsa.target")) {
            DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_TEXT, "amdhsa.target", &value, err));
            DVI_TRY(take_target(value.bytes, arena, out, err));
        } else if (dvi_equals(key.bytes, "amdhsa.kernels")) {
            DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_ARRAY, "amdhsa.kernels", &value, err));
            out->kernel_count = value.number;
            DVI_TRY(dvi_msgpack_skip_rest(&c, &value, err));
        } else {
            DVI_TRY(dvi_msgpack_skip(&c, err));
        }
    }
    return DEVIMG_OK;
}

struct v2 {
    struct dvi_arena *arena;
    struct dvi_image_facts *out;
};

/* Version 2 numbers its processor: gfx90a is 9, 0, 10. */
static enum devimg_status take_v2_note(void *context, const struct dvi_elf_note *note,
                                       struct devimg_error *err)
{
    const struct v2 *v2 = context;
    if (!dvi_elf_note_is_of(note, "AMD") || v2->out->target != NULL)
        return DEVIMG_OK;
    if (note->type == NOTE_V2_ISA_NAME && note->data.size > 0) {
        struct dvi_view isa = note->data;
        while (isa.size > 0 && isa.data[isa.size - 1] == 0)
            isa.size--;
        for (size_t i = 0; i < isa.size; i++) /* "+xnack" follows, which the flags say as well */
            if (isa.data[i] == '+')
                isa.size = i;
        return take_target(isa, v2->arena, v2->out, err);
    }
    if (note->type != NOTE_V2_ISA)
        return DEVIMG_OK;
    struct dvi_cursor c = dvi_cursor_at(note->data, 4);
    const uint32_t major = dvi_le32(&c), minor = dvi_le32(&c), stepping = dvi_le32(&c);
    DVI_TRY(dvi_cursor_check(&c, "AMDGPU note 3 (processor)", err));
    if (major > 99 || minor > 15 || stepping > 15)
        return dvi_fail(err, DEVIMG_MALFORMED, note->data, 4,
                        "AMDGPU note 3: no processor %" PRIu32 ".%" PRIu32 ".%" PRIu32, major,
                        minor, stepping);
    v2->out->target =
        dvi_arena_format(v2->arena, "gfx%" PRIu32 "%" PRIx32 "%" PRIx32, major, minor, stepping);
    return v2->out->target != NULL ? DEVIMG_OK : dvi_fail_memory(err, note->data.source);
}

static void take_flags(unsigned version, uint32_t flags, struct dvi_image_facts *out)
{
    static const enum dvi_amd_setting settings[] = { DVI_AMD_NONE, DVI_AMD_ANY, DVI_AMD_OFF,
                                                     DVI_AMD_ON };
    if (version == 2) {
        out->xnack = (flags & 1) != 0 ? DVI_AMD_ON : DVI_AMD_OFF_IF_KNOWN;
        return;
    }
    out->processor = flags & 0xff;
    if (version == 3) {
        out->xnack = (flags & 0x100) != 0 ? DVI_AMD_ON : DVI_AMD_OFF_IF_KNOWN;
        out->sramecc = (flags & 0x200) != 0 ? DVI_AMD_ON : DVI_AMD_OFF_IF_KNOWN;
        return;
    }
    out->xnack = settings[flags >> 8 & 3];
    out->sramecc = settings[flags >> 10 & 3];
}

static enum devimg_status facts(struct dvi_view image, struct dvi_arena *arena,
                                struct dvi_image_facts *out, struct devimg_error *err)
{
    const unsigned version = version_of(image);
    const uint32_t flags = dvi_peek32(image, FLAGS_AT);
    struct dvi_device_elf elf = { 0 };
    struct dvi_view metadata = { 0 };
    take_flags(version, flags, out);
    out->version = dvi_arena_format(arena, "%u", version);
    if (version >= 6 && flags >> 24 != 0)
        out->note = dvi_arena_format(arena, "generic code, version %" PRIu32, flags >> 24);
    if (out->version == NULL || (version >= 6 && flags >> 24 != 0 && out->note == NULL))
        return dvi_fail_memory(err, image.source);
    if (version > 6)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, image, ABI_AT,
                        "AMDGPU code object version %u: 2 to 6 are read", version);
    DVI_TRY(dvi_device_elf_open(image, &elf, err));
    if (version == 2) {
        struct v2 v2 = { arena, out };
        return each_note(&elf, take_v2_note, &v2, err);
    }
    const enum devimg_status status = metadata_of(&elf, &metadata, err);
    if (status == DEVIMG_END)
        return DEVIMG_OK;
    DVI_TRY(status);
    return read_metadata_facts(metadata, arena, out, err);
}

/* --- kernels --- */

/* A kernel of the metadata by the name of a symbol. */
struct named {
    struct dvi_view name;
    size_t kernel; /* index in the sink */
    bool found;
};

struct kernels {
    const struct dvi_device_elf *elf;
    struct dvi_kernel_sink *sink;
    DVI_LIST(struct named) codes;       /* by .name, sorted before they are looked up */
    DVI_LIST(struct named) descriptors; /* by .symbol, the same */
};

static int by_name(const void *a, const void *b)
{
    return dvi_compare(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static int to_name(const void *key, const void *item)
{
    return dvi_compare(*(const struct dvi_view *)key, ((const struct named *)item)->name);
}

struct field {
    const char *key;
    size_t at; /* of the number in struct devimg_kernel */
};

static const struct field fields[] = {
    { ".wavefront_size", offsetof(struct devimg_kernel, sub_group_size) },
    { ".vgpr_count", offsetof(struct devimg_kernel, registers) },
    { ".sgpr_count", offsetof(struct devimg_kernel, sgpr_count) },
    { ".agpr_count", offsetof(struct devimg_kernel, agpr_count) },
    { ".vgpr_spill_count", offsetof(struct devimg_kernel, vgpr_spill_count) },
    { ".sgpr_spill_count", offsetof(struct devimg_kernel, sgpr_spill_count) },
    { ".private_segment_fixed_size", offsetof(struct devimg_kernel, private_size) },
    { ".group_segment_fixed_size", offsetof(struct devimg_kernel, slm_size) },
    { ".kernarg_segment_size", offsetof(struct devimg_kernel, kernarg_size) },
};

static enum devimg_status read_field(struct dvi_cursor *c, struct dvi_view key,
                                     struct devimg_kernel *out, struct devimg_error *err)
{
    struct dvi_msgpack_item value = { 0 };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (!dvi_equals(key, fields[i].key))
            continue;
        DVI_TRY(dvi_msgpack_expect(c, DVI_MSGPACK_UINT, fields[i].key, &value, err));
        memcpy((char *)out + fields[i].at, &value.number, sizeof value.number);
        return DEVIMG_OK;
    }
    return dvi_msgpack_skip(c, err);
}

static bool add_named(struct kernels *k, struct dvi_view code, struct dvi_view symbol, size_t index)
{
    struct named *a = DVI_ADD(&k->codes);
    struct named *b = a != NULL && symbol.size > 0 ? DVI_ADD(&k->descriptors) : NULL;
    if (a != NULL)
        *a = (struct named){ code, index, false };
    if (b != NULL)
        *b = (struct named){ symbol, index, false };
    return a != NULL && (b != NULL || symbol.size == 0);
}

/* One kernel of the metadata. Its numbers are read into a record of their own, since the name that
 * makes one stands behind some of them. */
static enum devimg_status read_kernel(struct dvi_cursor *c, struct kernels *k,
                                      struct devimg_error *err)
{
    const struct dvi_view none = dvi_from(c->view, c->view.size);
    struct dvi_msgpack_item map = { 0 }, key = { 0 }, value = { 0 };
    struct dvi_view name = none, symbol = none;
    struct devimg_kernel numbers, *kernel = NULL;
    dvi_kernel_unknown(&numbers);
    DVI_TRY(dvi_msgpack_expect(c, DVI_MSGPACK_MAP, "AMDGPU kernel", &map, err));
    for (uint64_t i = 0; i < map.number; i++) {
        DVI_TRY(dvi_msgpack_expect(c, DVI_MSGPACK_TEXT, "key of an AMDGPU kernel", &key, err));
        if (dvi_equals(key.bytes, ".name") || dvi_equals(key.bytes, ".symbol")) {
            DVI_TRY(
                dvi_msgpack_expect(c, DVI_MSGPACK_TEXT, "name of an AMDGPU kernel", &value, err));
            *(dvi_equals(key.bytes, ".name") ? &name : &symbol) = value.bytes;
        } else {
            DVI_TRY(read_field(c, key.bytes, &numbers, err));
        }
    }
    if (name.size == 0)
        return dvi_fail(err, DEVIMG_MALFORMED, c->view, map.at, "AMDGPU kernel without a name");
    DVI_TRY(dvi_kernel_add(k->sink, name, &kernel, err));
    numbers.name = kernel->name;
    if (numbers.vgpr_spill_count < DEVIMG_UNKNOWN / REGISTER_SIZE)
        numbers.spill_size = numbers.vgpr_spill_count * REGISTER_SIZE;
    *kernel = numbers;
    if (!add_named(k, name, symbol, k->sink->kernels.count - 1))
        return dvi_fail_memory(err, name.source);
    return DEVIMG_OK;
}

static enum devimg_status read_metadata(struct dvi_view metadata, struct kernels *k,
                                        struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(metadata, 0);
    struct dvi_msgpack_item map = { 0 }, key = { 0 }, list = { 0 };
    DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_MAP, "AMDGPU metadata", &map, err));
    for (uint64_t i = 0; i < map.number; i++) {
        DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_TEXT, "key of the AMDGPU metadata", &key, err));
        if (!dvi_equals(key.bytes, "amdhsa.kernels")) {
            DVI_TRY(dvi_msgpack_skip(&c, err));
            continue;
        }
        DVI_TRY(dvi_msgpack_expect(&c, DVI_MSGPACK_ARRAY, "amdhsa.kernels", &list, err));
        for (uint64_t n = 0; n < list.number; n++)
            DVI_TRY(read_kernel(&c, k, err));
    }
    return DEVIMG_OK;
}

/* --- symbols --- */

struct symbol {
    struct dvi_view name; /* with `.kd`, where it ends so */
    unsigned type;
    uint32_t section;
    uint64_t value, size;
};

/* Many symbols may share one long name, so that what is looked at is bounded. */
static enum devimg_status each_symbol(const struct dvi_device_elf *elf, uint32_t table_type,
                                      enum devimg_status (*take)(void *context,
                                                                 const struct symbol *symbol,
                                                                 struct devimg_error *err),
                                      void *context, bool *found, struct devimg_error *err)
{
    enum { TIMES = 16, MOST_NAME = DVI_MOST_KERNEL_NAME + 8 };
    uint64_t left = (uint64_t)elf->file.size * TIMES;
    for (uint32_t i = 0; i < elf->section_count; i++) {
        struct dvi_device_section table = { 0 }, names = { 0 };
        DVI_TRY(dvi_device_elf_section(elf, i, &table, err));
        if (table.type != table_type)
            continue;
        if (table.link >= elf->section_count)
            return dvi_fail(err, DEVIMG_MALFORMED, table.data, 0,
                            "symbol table with names in section %" PRIu32 ": there are %" PRIu32,
                            table.link, elf->section_count);
        DVI_TRY(dvi_device_elf_section(elf, table.link, &names, err));
        *found = true;
        for (uint64_t at = 0; at + SYMBOL_SIZE <= table.data.size; at += SYMBOL_SIZE) {
            struct symbol s = { .name = dvi_head(dvi_from(names.data, dvi_peek32(table.data, at)),
                                                 MOST_NAME),
                                .type = table.data.data[at + 4] & 0x0fU,
                                .section = dvi_peek16(table.data, at + 6),
                                .value = dvi_peek64(table.data, at + 8),
                                .size = dvi_peek64(table.data, at + 16) };
            const uint8_t *end = memchr(s.name.data, 0, s.name.size);
            if (end != NULL)
                s.name.size = (size_t)(end - s.name.data);
            if (s.name.size >= left)
                return dvi_fail(err, DEVIMG_MALFORMED, table.data, at,
                                "names of symbols: together longer than %d times the image",
                                (int)TIMES);
            left -= s.name.size + 1;
            if (end != NULL && s.section != 0) /* defined here */
                DVI_TRY(take(context, &s, err));
        }
    }
    return DEVIMG_OK;
}

/* The code of a function is in its section, at its address. Only what lies there as a whole counts. */
static enum devimg_status take_code(struct kernels *k, const struct symbol *symbol,
                                    struct devimg_kernel *kernel, struct devimg_error *err)
{
    struct dvi_device_section section = { 0 };
    kernel->code_size = symbol->size;
    if (k->sink->digest_left == 0 || symbol->section >= k->elf->section_count)
        return DEVIMG_OK;
    DVI_TRY(dvi_device_elf_section(k->elf, symbol->section, &section, err));
    const uint64_t at = symbol->value - section.addr;
    if (symbol->value < section.addr || at > section.data.size ||
        symbol->size > section.data.size - at)
        return DEVIMG_OK;
    return dvi_kernel_digest(k->sink, kernel, dvi_head(dvi_from(section.data, at), symbol->size),
                             err);
}

static enum devimg_status take_symbol(void *context, const struct symbol *symbol,
                                      struct devimg_error *err)
{
    struct kernels *k = context;
    struct named *code = symbol->type == SYMBOL_FUNCTION && k->codes.count > 0
                             ? bsearch(&symbol->name, k->codes.items, k->codes.count,
                                       sizeof *k->codes.items, to_name)
                             : NULL;
    if (code != NULL)
        DVI_TRY(take_code(k, symbol, &k->sink->kernels.items[code->kernel], err));
    struct named *named = symbol->type != SYMBOL_FUNCTION && k->descriptors.count > 0
                              ? bsearch(&symbol->name, k->descriptors.items, k->descriptors.count,
                                        sizeof *k->descriptors.items, to_name)
                              : NULL;
    if (named != NULL)
        named->found = true;
    return DEVIMG_OK;
}

/* Each kernel's code has a symbol, which tells its size, and so has its descriptor, by which the
 * runtime finds it: where that is missing the kernel cannot be launched. */
static enum devimg_status read_symbols(const struct dvi_device_elf *elf, struct kernels *k,
                                       struct devimg_error *err)
{
    bool found = false;
    if (k->codes.count > 0)
        qsort(k->codes.items, k->codes.count, sizeof *k->codes.items, by_name);
    if (k->descriptors.count > 0)
        qsort(k->descriptors.items, k->descriptors.count, sizeof *k->descriptors.items, by_name);
    DVI_TRY(each_symbol(elf, SECTION_DYNSYM, take_symbol, k, &found, err));
    if (!found)
        DVI_TRY(each_symbol(elf, SECTION_SYMTAB, take_symbol, k, &found, err));
    const struct named *missing = NULL;
    size_t count = 0;
    for (size_t i = 0; i < k->descriptors.count && found; i++) {
        const struct named *at = &k->descriptors.items[i];
        if (at->found || (i > 0 && by_name(at, at - 1) == 0)) /* one of equal names is marked */
            continue;
        missing = missing == NULL ? at : missing;
        count++;
    }
    if (missing == NULL)
        return DEVIMG_OK;
    return dvi_fail(err, DEVIMG_MALFORMED, missing->name, 0,
                    "no symbol of %zu kernel descriptor%s, the first: %.*s", count,
                    count == 1 ? "" : "s", (int)(missing->name.size < 64 ? missing->name.size : 64),
                    (const char *)missing->name.data);
}

/* Without metadata, symbols name the kernels. */
static enum devimg_status take_kernel_symbol(void *context, const struct symbol *symbol,
                                             struct devimg_error *err)
{
    struct kernels *k = context;
    struct devimg_kernel *kernel = NULL;
    struct dvi_view name = symbol->name;
    if (symbol->type == SYMBOL_OBJECT && symbol->size == DESCRIPTOR_SIZE &&
        dvi_ends_with(name, descriptor))
        name.size -= sizeof descriptor - 1;
    else if (symbol->type != SYMBOL_V2_KERNEL)
        return DEVIMG_OK;
    return dvi_kernel_add(k->sink, name, &kernel, err);
}

static enum devimg_status kernels(struct dvi_view image, struct dvi_kernel_sink *sink,
                                  struct devimg_error *err)
{
    struct dvi_device_elf elf = { 0 };
    struct dvi_view metadata = { 0 };
    struct kernels k = { .elf = &elf, .sink = sink };
    bool found = false;
    DVI_TRY(dvi_device_elf_open(image, &elf, err));
    enum devimg_status status =
        version_of(image) > 2 ? metadata_of(&elf, &metadata, err) : DEVIMG_END;
    if (status == DEVIMG_END) {
        status = each_symbol(&elf, SECTION_DYNSYM, take_kernel_symbol, &k, &found, err);
        if (status == DEVIMG_OK && !found)
            status = each_symbol(&elf, SECTION_SYMTAB, take_kernel_symbol, &k, &found, err);
    } else if (status == DEVIMG_OK) {
        status = read_metadata(metadata, &k, err);
        if (status == DEVIMG_OK)
            status = read_symbols(&elf, &k, err);
    }
    DVI_LIST_FREE(&k.codes);
    DVI_LIST_FREE(&k.descriptors);
    return status;
}

const struct dvi_image_format dvi_image_amdgpu = {
    .name = "amdgpu",
    .format = DEVIMG_FORMAT_AMDGPU,
    .match = match,
    .facts = facts,
    .kernels = kernels,
};
