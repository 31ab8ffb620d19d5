/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL ELF: what ocloc wrote before zebin, and still writes around SPIR-V.
 * Source: intel/compute-runtime shared/source/device_binary_format/elf/ocl_elf.h.
 *
 *   e_machine 0; e_type 0xff01 source, 0xff02 objects, 0xff03 library, 0xff04 executable, 0xff05
 * debug section types: 0xff000005 device binary (patch tokens, "CTNI"), 0xff000009 SPIR-V
 *
 * With a device binary it is a native image in the old form; with SPIR-V alone ("generic_ir" of an
 * archive) it is portable code.
 */
#include "image/spirv.h"
#include "object/device_elf.h"

enum {
    TYPE_FIRST = 0xff01,
    TYPE_LAST = 0xff05,
    SECTION_DEVICE = (int)0xff000005,
    SECTION_SPIRV = (int)0xff000009
};

static bool match(struct dvi_view v)
{
    uint16_t type = 0, machine = 0;
    return dvi_device_elf_peek(v, &type, &machine) && machine == 0 && type >= TYPE_FIRST &&
           type <= TYPE_LAST;
}

/* OK with the SPIR-V module; END: a device binary, or neither. */
static enum devimg_status open_parts(struct dvi_view image, bool *has_device,
                                     struct dvi_view *spirv, struct devimg_error *err)
{
    struct dvi_device_elf elf = { 0 };
    struct dvi_device_section device = { 0 }, portable = { 0 };
    DVI_TRY(dvi_device_elf_open(image, &elf, err));
    enum devimg_status status = dvi_device_elf_find(&elf, (uint32_t)SECTION_DEVICE, &device, err);
    if (status != DEVIMG_OK && status != DEVIMG_END)
        return status;
    *has_device = status == DEVIMG_OK;
    status = dvi_device_elf_find(&elf, (uint32_t)SECTION_SPIRV, &portable, err);
    if (status == DEVIMG_OK)
        *spirv = portable.data;
    return status;
}

static enum devimg_status facts(struct dvi_view image, struct dvi_arena *arena,
                                struct dvi_image_facts *out, struct devimg_error *err)
{
    bool has_device = false;
    struct dvi_view spirv = { 0 };
    const enum devimg_status status = open_parts(image, &has_device, &spirv, err);
    if (status != DEVIMG_OK && status != DEVIMG_END)
        return status;
    if (has_device) {
        out->note = "patch tokens: Intel drivers from 26.18 on no longer read this form";
        return DEVIMG_OK;
    }
    if (status == DEVIMG_END)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, image, 0,
                        "OpenCL ELF with neither a device binary nor SPIR-V");
    out->format = DEVIMG_FORMAT_SPIRV;
    return dvi_image_spirv.facts(spirv, arena, out, err);
}

static enum devimg_status kernels(struct dvi_view image, struct dvi_kernel_sink *sink,
                                  struct devimg_error *err)
{
    bool has_device = false;
    struct dvi_view spirv = { 0 };
    const enum devimg_status status = open_parts(image, &has_device, &spirv, err);
    if (status == DEVIMG_OK && !has_device)
        return dvi_image_spirv.kernels(spirv, sink, err);
    return status == DEVIMG_OK || status == DEVIMG_END ? DEVIMG_END : status;
}

const struct dvi_image_format dvi_image_oclelf = {
    .name = "oclelf",
    .format = DEVIMG_FORMAT_PATCHTOKEN,
    .match = match,
    .facts = facts,
    .kernels = kernels,
};
