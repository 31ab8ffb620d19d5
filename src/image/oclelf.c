/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL ELF: what ocloc wrote before zebin, and still writes around SPIR-V; and what Intel's
 * OpenCL runtime for CPUs writes.
 * Sources: intel/compute-runtime shared/source/device_binary_format/elf/ocl_elf.h; measured: the
 * binary that intel-opencl-rt 2026.2 hands out for a CPU.
 *
 *   e_type      0xff01 source, 0xff02 objects, 0xff03 library, 0xff04 executable, 0xff05 debug
 *   e_machine   0, or of the CPU: 62 (x86-64)
 *   sections    of type 0xff000005: device binary (patch tokens), 0xff000009: SPIR-V
 *               for a CPU all are of type 0: .ocl.ir, .ocl.obj (an object of the CPU), ...
 *
 * With a device binary it is a native image in the old form; with SPIR-V alone ("generic_ir" of an
 * archive) it is portable code.
 */
#include "image/patchtoken.h"
#include "image/spirv.h"
#include "object/device_elf.h"

enum {
    TYPE_FIRST = 0xff01,
    TYPE_LAST = 0xff05,
    MACHINE_X86_64 = 62,
    SECTION_DEVICE = (int)0xff000005,
    SECTION_SPIRV = (int)0xff000009
};

static bool match(struct dvi_view v)
{
    uint16_t type = 0, machine = 0;
    return dvi_device_elf_peek(v, &type, &machine) && type >= TYPE_FIRST && type <= TYPE_LAST &&
           (machine == 0 || machine == MACHINE_X86_64);
}

static bool is_for_cpu(struct dvi_view v)
{
    uint16_t type = 0, machine = 0;
    return dvi_device_elf_peek(v, &type, &machine) && machine == MACHINE_X86_64;
}

/* OK with the image inside and the row that reads it. END: there is none. */
static enum devimg_status open_inner(struct dvi_view image, struct dvi_view *inner,
                                     const struct dvi_image_format **format,
                                     struct devimg_error *err)
{
    struct dvi_device_elf elf = { 0 };
    struct dvi_device_section section = { 0 };
    DVI_TRY(dvi_device_elf_open(image, &elf, err));
    *format = &dvi_image_patchtoken;
    enum devimg_status status = dvi_device_elf_find(&elf, (uint32_t)SECTION_DEVICE, &section, err);
    if (status == DEVIMG_END) {
        *format = &dvi_image_spirv;
        status = dvi_device_elf_find(&elf, (uint32_t)SECTION_SPIRV, &section, err);
    }
    *inner = section.data;
    return status;
}

static enum devimg_status facts(struct dvi_view image, struct dvi_arena *arena,
                                struct dvi_image_facts *out, struct devimg_error *err)
{
    struct dvi_view inner = { 0 };
    const struct dvi_image_format *format = NULL;
    if (is_for_cpu(image)) {
        out->format = DEVIMG_FORMAT_UNKNOWN;
        out->target = "spir64_x86_64";
        out->note = "code for the host's CPU, which Intel's OpenCL runtime loads";
        return DEVIMG_OK;
    }
    const enum devimg_status status = open_inner(image, &inner, &format, err);
    if (status == DEVIMG_END)
        return dvi_fail(err, DEVIMG_UNSUPPORTED, image, 0,
                        "OpenCL ELF with neither a device binary nor SPIR-V");
    DVI_TRY(status);
    out->format = format->format;
    return format->facts(inner, arena, out, err);
}

static enum devimg_status kernels(struct dvi_view image, struct dvi_kernel_sink *sink,
                                  struct devimg_error *err)
{
    struct dvi_view inner = { 0 };
    const struct dvi_image_format *format = NULL;
    if (is_for_cpu(image))
        return DEVIMG_END;
    DVI_TRY(open_inner(image, &inner, &format, err)); /* END: unknown */
    return format->kernels(inner, sink, err);
}

const struct dvi_image_format dvi_image_oclelf = {
    .name = "oclelf",
    .format = DEVIMG_FORMAT_PATCHTOKEN,
    .match = match,
    .facts = facts,
    .kernels = kernels,
};
