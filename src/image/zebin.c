/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zebin: an ELF of Intel GPU code.
 * Sources: intel/intel-graphics-compiler IGC/ZEBinWriter/zebin/spec/elf.md and zeinfo.md;
 * intel/compute-runtime shared/source/device_binary_format/zebin/zebin_elf.h, zebin_decoder.cpp,
 * shared/source/device_binary_format/device_binary_format_zebin.cpp.
 *
 *   e_machine 205 (EM_INTELGT) with any e_type; or, as older compilers wrote it, e_type 0xff11
 *   (relocatable), 0xff12 (executable), 0xff13 (dynamic); or a section of type 0xff000011.
 *   In the last two e_machine is the product family, or, with bit 15 of e_flags, the core family.
 *   .text.<kernel>            code
 *   .ze_info  0xff000011      YAML: kernels and what they need
 *   .note.intelgt.compat      notes: owner size u32 (8), size u32, type u32, "IntelGT\0", data
 *                             1 product family u32, 2 core family u32, 4 version text,
 *                             6 product config u32: the IP version
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "image/ze_info.h"
#include "object/device_elf.h"
#include "object/elf_note.h"

enum {
    MACHINE_INTELGT = 205,
    TYPE_FIRST = 0xff11,
    TYPE_LAST = 0xff13,
    FLAG_MACHINE_IS_CORE = 1 << 15,
    SECTION_ZE_INFO = (int)0xff000011,
    SECTION_NOTE = 7,
    NOTE_FAMILY = 1,
    NOTE_CORE = 2,
    NOTE_VERSION = 4,
    NOTE_CONFIG = 6,
    MOST_VERSION = 64 /* bytes */
};
static const uint32_t config_reserved = 0x3fc0; /* bits 13:6 */

/* Also when the bytes of the section are cut: then reading says what is wrong. */
static bool has_ze_info(struct dvi_view v)
{
    struct dvi_device_elf elf = { 0 };
    struct dvi_device_section info = { 0 };
    return dvi_device_elf_open(v, &elf, NULL) == DEVIMG_OK &&
           dvi_device_elf_find(&elf, (uint32_t)SECTION_ZE_INFO, &info, NULL) != DEVIMG_END;
}

static bool match(struct dvi_view v)
{
    uint16_t type = 0, machine = 0;
    return dvi_device_elf_peek(v, &type, &machine) &&
           (machine == MACHINE_INTELGT || (type >= TYPE_FIRST && type <= TYPE_LAST) ||
            has_ze_info(v));
}

static enum devimg_status note_u32(struct dvi_view data, const char *what, uint64_t *out,
                                   struct devimg_error *err)
{
    if (data.size != 4)
        return dvi_fail(err, DEVIMG_MALFORMED, data, 0, "IntelGT note %s of %zu bytes: expected 4",
                        what, data.size);
    *out = dvi_peek32(data, 0);
    return DEVIMG_OK;
}

static enum devimg_status take_note(uint32_t type, struct dvi_view data, struct dvi_arena *arena,
                                    struct dvi_image_facts *out, struct devimg_error *err)
{
    uint64_t config = 0;
    switch (type) {
    case NOTE_FAMILY: return note_u32(data, "1 (product family)", &out->product_family, err);
    case NOTE_CORE: return note_u32(data, "2 (core family)", &out->core_family, err);
    case NOTE_VERSION:
        if (data.size > MOST_VERSION)
            return dvi_fail(err, DEVIMG_MALFORMED, data, 0,
                            "IntelGT note 4 (version) of %zu bytes: at most %d are read", data.size,
                            (int)MOST_VERSION);
        out->version = dvi_arena_text(arena, data);
        return out->version != NULL ? DEVIMG_OK : dvi_fail_memory(err, data.source);
    case NOTE_CONFIG:
        DVI_TRY(note_u32(data, "6 (product config)", &config, err));
        config &= ~(uint64_t)config_reserved;
        if (config != 0 && out->ip_version != DEVIMG_UNKNOWN && out->ip_version != config)
            return dvi_fail(err, DEVIMG_MALFORMED, data, 0,
                            "a second note 6 (product config), which differs from the first");
        if (config != 0)
            out->ip_version = config;
        return DEVIMG_OK;
    default: return DEVIMG_OK;
    }
}

static enum devimg_status read_notes(struct dvi_view notes, struct dvi_arena *arena,
                                     struct dvi_image_facts *out, struct devimg_error *err)
{
    struct dvi_cursor c = dvi_cursor_at(notes, 0);
    struct dvi_elf_note note = { 0 };
    unsigned left = DVI_MOST_ELF_NOTES;
    enum devimg_status status;
    while ((status = dvi_elf_note_next(&c, &left, "IntelGT note", &note, err)) == DEVIMG_OK)
        if (dvi_elf_note_is_of(&note, "IntelGT"))
            DVI_TRY(take_note(note.type, note.data, arena, out, err));
    return status == DEVIMG_END ? DEVIMG_OK : status;
}

static const char code_prefix[] = ".text.";
enum { CODE_PREFIX_SIZE = sizeof code_prefix - 1 };

/* Each kernel has a section of its own; functions share one with a name of the compiler's. */
static bool is_kernel_code(const struct dvi_device_section *section)
{
    return dvi_starts_with(section->name, code_prefix, CODE_PREFIX_SIZE) &&
           !dvi_equals(section->name, ".text.Intel_Symbol_Table_Void_Program");
}

/* Notes, where there are any, have said it already. */
static void take_machine(const struct dvi_device_elf *elf, struct dvi_image_facts *out)
{
    if (elf->machine == MACHINE_INTELGT || elf->machine == 0)
        return;
    uint64_t *family = elf->flags & FLAG_MACHINE_IS_CORE ? &out->core_family : &out->product_family;
    if (*family == DEVIMG_UNKNOWN)
        *family = elf->machine;
}

static enum devimg_status facts(struct dvi_view image, struct dvi_arena *arena,
                                struct dvi_image_facts *out, struct devimg_error *err)
{
    struct dvi_device_elf elf = { 0 };
    struct dvi_device_section section = { 0 };
    bool has_notes = false, has_info = false;
    uint64_t kernel_count = 0;
    DVI_TRY(dvi_device_elf_open(image, &elf, err));
    out->pointer_size = elf.wide ? 8 : 4; /* IGC writes ELF32 for 32-bit hosts */
    for (uint32_t i = 0; i < elf.section_count; i++) {
        DVI_TRY(dvi_device_elf_section(&elf, i, &section, err));
        if (has_info && section.type == (uint32_t)SECTION_ZE_INFO)
            return dvi_fail(err, DEVIMG_MALFORMED, section.data, 0,
                            "a second section .ze_info: expected one");
        has_info = has_info || section.type == (uint32_t)SECTION_ZE_INFO;
        kernel_count += is_kernel_code(&section);
        if (section.type != SECTION_NOTE || !dvi_equals(section.name, ".note.intelgt.compat"))
            continue;
        if (has_notes)
            return dvi_fail(err, DEVIMG_MALFORMED, section.data, 0,
                            "a second section .note.intelgt.compat: expected one");
        has_notes = true;
        DVI_TRY(read_notes(section.data, arena, out, err));
    }
    take_machine(&elf, out);
    if (!has_info)
        return dvi_fail(err, DEVIMG_MALFORMED, image, 0,
                        "zebin without a section .ze_info among %" PRIu32, elf.section_count);
    if (elf.names.size == 0)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, image, dvi_elf_names_index_at(elf.wide),
                        "zebin sections without names: which are notes and code of kernels is not "
                        "told");
    out->kernel_count = kernel_count;
    return DEVIMG_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct devimg_kernel *const *)a)->name,
                  (*(const struct devimg_kernel *const *)b)->name);
}

/* Order of a kernel's name, of any length, and of one in the file, which holds no NUL. No more of
 * the kernel's is looked at than the other is long: one long name may be met once a section. */
static int compare_name(const char *kernel, struct dvi_view name)
{
    const int order = strncmp(kernel, (const char *)name.data, name.size);
    return order != 0 ? order : kernel[name.size] != 0;
}

static struct devimg_kernel *kernel_named(struct devimg_kernel **sorted, size_t count,
                                          struct dvi_view name)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare_name(sorted[middle]->name, name);
        if (order == 0)
            return sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* The size of a kernel's code is that of its section. Code alone, and no kernel listed: what there
 * is cannot be told. */
static enum devimg_status read_code_sizes(const struct dvi_device_elf *elf,
                                          struct dvi_kernel_sink *sink, size_t first,
                                          struct devimg_error *err)
{
    const size_t count = sink->kernels.count - first;
    struct devimg_kernel **sorted = dvi_arena_array(sink->arena, count, sizeof *sorted);
    if (sorted == NULL)
        return dvi_fail_memory(err, elf->file.source);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &sink->kernels.items[first + i];
    qsort(sorted, count, sizeof *sorted, by_name);
    for (uint32_t i = 0; i < elf->section_count; i++) {
        struct dvi_device_section section = { 0 };
        DVI_TRY(dvi_device_elf_section(elf, i, &section, err));
        if (!is_kernel_code(&section))
            continue;
        if (count == 0)
            return dvi_fail(err, DEVIMG_MALFORMED, section.data, 0,
                            "code of a kernel in \"%.*s\", and .ze_info lists none",
                            (int)(section.name.size < 64 ? section.name.size : 64),
                            (const char *)section.name.data);
        struct devimg_kernel *kernel =
            kernel_named(sorted, count, dvi_from(section.name, CODE_PREFIX_SIZE));
        if (kernel == NULL)
            continue;
        kernel->code_size = section.data.size;
        DVI_TRY(dvi_kernel_digest(sink, kernel, section.data, err));
    }
    return DEVIMG_OK;
}

static enum devimg_status kernels(struct dvi_view image, struct dvi_kernel_sink *sink,
                                  struct devimg_error *err)
{
    struct dvi_device_elf elf = { 0 };
    struct dvi_device_section info = { 0 };
    DVI_TRY(dvi_device_elf_open(image, &elf, err));
    DVI_TRY(dvi_device_elf_find(&elf, (uint32_t)SECTION_ZE_INFO, &info, err)); /* END: unknown */
    const size_t first = sink->kernels.count;
    DVI_TRY(dvi_ze_info_kernels(info.data, sink, err));
    return read_code_sizes(&elf, sink, first, err);
}

const struct dvi_image_format dvi_image_zebin = {
    .name = "zebin",
    .format = DEVIMG_FORMAT_ZEBIN,
    .match = match,
    .facts = facts,
    .kernels = kernels,
};
