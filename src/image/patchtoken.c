/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device binary of patch tokens: Intel GPU code as compilers wrote it before zebin, little-endian.
 * Sources: intel/intel-graphics-compiler IGC/AdaptorOCL/ocl_igc_shared/executable_format/
 * patch_list.h, patch_shared.h, inc/common/igfxfmid.h (core families);
 * intel/compute-runtime shared/source/device_binary_format/patchtokens_decoder.cpp,
 * shared/source/kernel/kernel_descriptor_from_patchtokens.cpp.
 *
 *    0  magic u32        "CTNI"
 *    4  version u32      of these structures: 1081
 *    8  core family u32  18: Gen12 LP; then u32 bytes of a pointer, 4 or 8
 *   16  kernel count u32
 *   20  stepping u32
 *   24  list size u32    then the tokens of the program, then each kernel:
 *
 *    0  checksum u32, hash u64
 *   12  name size u32, list size u32
 *   20  sizes u32 of code, general, dynamic and surface state, code without its padding
 *   40  name, padded with NUL; code; the three states; the tokens of the kernel
 *
 * A token: id u32, size u32 with these 8 bytes, then u32 words:
 *   15  shared local memory    1 bytes of a work-group
 *   18  scratch, 55 the same   1 bytes of a hardware thread
 *   23  execution environment  3 SIMD size, 5 code of the barrier count, 20 GRF count, 23 has DPAS
 *   27  attributes             0 bytes of the text behind it: "intel_reqd_sub_group_size(8)"
 *   38  private memory         3 bytes, 4 not 0: of a work-item (always, where the word is missing)
 *
 * Exported functions share a kernel with a name of the compiler's: it is none.
 */
#include "image/patchtoken.h"

#include <inttypes.h>
#include <string.h>

static const char magic[] = "CTNI";
static const char functions[] = "Intel_Symbol_Table_Void_Program";
enum { MAGIC_SIZE = 4, HEADER_SIZE = 28, KERNEL_SIZE = 40, TOKEN_SIZE = 8, POINTER_AT = 12 };
enum {
    TOKEN_LOCAL = 15,
    TOKEN_SCRATCH = 18,
    TOKEN_ENVIRONMENT = 23,
    TOKEN_ATTRIBUTES = 27,
    TOKEN_PRIVATE = 38,
    TOKEN_SCRATCH_SLOT1 = 55
};

struct program {
    uint32_t version, core_family, stepping;
    struct dvi_cursor at; /* of the next kernel */
    uint32_t left;
};

struct kernel {
    struct dvi_view name, code, tokens;
};

/* What the tokens of one kernel say. */
struct needs {
    uint64_t sub_group_size, required_sub_group_size, registers, barrier_count;
    uint64_t slm_size;
    uint64_t scratch_size;
    uint64_t private_size; /* of a work-item or of a hardware thread */
    bool private_is_of_item;
    bool has_dpas;
};

static bool match(struct dvi_view v)
{
    const uint32_t pointer_size = dvi_peek32(v, POINTER_AT);
    return dvi_starts_with(v, magic, MAGIC_SIZE) && v.size >= HEADER_SIZE &&
           (pointer_size == 4 || pointer_size == 8);
}

static enum devimg_status program_begin(struct dvi_view v, struct program *out,
                                        struct devimg_error *err)
{
    struct program p = { .at = dvi_cursor_at(v, 0) };
    const uint32_t start = dvi_le32(&p.at);
    p.version = dvi_le32(&p.at);
    p.core_family = dvi_le32(&p.at);
    dvi_skip(&p.at, 4); /* bytes of a pointer */
    p.left = dvi_le32(&p.at);
    p.stepping = dvi_le32(&p.at);
    const uint32_t list_size = dvi_le32(&p.at);
    DVI_TRY(dvi_cursor_check(&p.at, "header of the device binary", err));
    if (!dvi_starts_with(v, magic, MAGIC_SIZE))
        return dvi_fail(err, DEVIMG_MALFORMED, v, 0,
                        "device binary that starts with 0x%08" PRIx32 ": expected \"CTNI\"", start);
    dvi_skip(&p.at, list_size);
    DVI_TRY(dvi_cursor_check(&p.at, "patch tokens of the program", err));
    const size_t most = dvi_left(&p.at) / KERNEL_SIZE;
    if (p.left > most)
        return dvi_fail(err, DEVIMG_MALFORMED, v, 16,
                        "kernel count %" PRIu32 ": at most %zu fit in %zu bytes", p.left, most,
                        dvi_left(&p.at));
    *out = p;
    return DEVIMG_OK;
}

static struct dvi_view before_nul(struct dvi_view v)
{
    const uint8_t *end = memchr(v.data, 0, v.size);
    return end != NULL ? dvi_head(v, (uint64_t)(end - v.data)) : v;
}

static enum devimg_status program_next(struct program *p, struct kernel *out,
                                       struct devimg_error *err)
{
    if (p->left == 0)
        return DEVIMG_END;
    p->left--;
    const struct dvi_view whole = dvi_from(p->at.view, p->at.at);
    uint64_t states_size = 0;
    dvi_skip(&p->at, 4 + 8); /* checksum, hash */
    const uint32_t name_size = dvi_le32(&p->at);
    const uint32_t list_size = dvi_le32(&p->at);
    const uint32_t code_size = dvi_le32(&p->at);
    for (int i = 0; i < 3; i++)
        states_size += dvi_le32(&p->at);
    dvi_skip(&p->at, 4); /* code without its padding */
    const struct dvi_view name = before_nul(dvi_take(&p->at, name_size));
    const struct dvi_view code = dvi_take(&p->at, code_size);
    dvi_skip(&p->at, states_size);
    const struct dvi_view tokens = dvi_take(&p->at, list_size);
    DVI_TRY(dvi_cursor_check(&p->at, "kernel of patch tokens", err));
    if (name.size == 0)
        return dvi_fail(err, DEVIMG_MALFORMED, whole, KERNEL_SIZE, "a kernel without a name");
    *out = (struct kernel){ name, code, tokens };
    return DEVIMG_OK;
}

static bool is_kernel(const struct kernel *kernel)
{
    return !dvi_equals(kernel->name, functions);
}

static enum devimg_status facts(struct dvi_view image, struct dvi_arena *arena,
                                struct dvi_image_facts *out, struct devimg_error *err)
{
    struct program p = { 0 };
    struct kernel kernel = { 0 };
    uint64_t count = 0;
    DVI_TRY(program_begin(image, &p, err));
    out->note = "patch tokens: Intel drivers from 26.18 on no longer read this form";
    out->core_family = p.core_family;
    out->pointer_size = dvi_peek32(image, POINTER_AT);
    out->stepping = p.stepping;
    out->version = dvi_arena_format(arena, "%" PRIu32, p.version);
    if (out->version == NULL)
        return dvi_fail_memory(err, image.source);
    while (p.left > 0) {
        DVI_TRY(program_next(&p, &kernel, err));
        count += is_kernel(&kernel);
    }
    out->kernel_count = count;
    return DEVIMG_OK;
}

/* Older compilers wrote fewer words: what is not there is unknown. */
static uint64_t word(struct dvi_view body, unsigned i)
{
    const uint64_t at = (uint64_t)i * 4;
    return dvi_fits(body, at, 4) ? dvi_peek32(body, at) : DEVIMG_UNKNOWN;
}

static uint64_t word_but_0(struct dvi_view body, unsigned i)
{
    const uint64_t value = word(body, i);
    return value != 0 ? value : DEVIMG_UNKNOWN;
}

/* Source: intel/intel-graphics-compiler IGC/AdaptorOCL/OCL/sp/sp_g8.h, EncodeNumBarriers. */
static uint64_t barriers_of_code(uint64_t code)
{
    static const uint8_t counts[] = { 0, 1, 2, 4, 8, 16, 24, 32 };
    return code < sizeof counts ? counts[code] : DEVIMG_UNKNOWN;
}

static void take_environment(struct dvi_view body, struct needs *needs)
{
    const uint64_t dpas = word(body, 23);
    needs->sub_group_size = word_but_0(body, 3);
    needs->barrier_count = barriers_of_code(word(body, 5));
    needs->registers = word_but_0(body, 20);
    needs->has_dpas = dpas != 0 && dpas != DEVIMG_UNKNOWN;
}

/* "vec_type_hint(float4) intel_reqd_sub_group_size(16)" */
static enum devimg_status take_attributes(struct dvi_view body, struct needs *needs,
                                          struct devimg_error *err)
{
    static const char key[] = "intel_reqd_sub_group_size(";
    enum { KEY_SIZE = sizeof key - 1 };
    struct dvi_view text = { 0 };
    DVI_TRY(dvi_slice(body, 4, dvi_peek32(body, 0), "attributes of a kernel", &text, err));
    text = before_nul(text);
    const uint8_t *found = memmem(text.data, text.size, key, KEY_SIZE);
    if (found == NULL)
        return DEVIMG_OK;
    const struct dvi_view value = dvi_from(text, (uint64_t)(found - text.data) + KEY_SIZE);
    const uint8_t *end = memchr(value.data, ')', value.size);
    uint64_t size = 0;
    const size_t digits = end != NULL ? (size_t)(end - value.data) : 0;
    if (!dvi_decimal(dvi_head(value, digits), &size))
        return dvi_fail(err, DEVIMG_MALFORMED, value, 0,
                        "intel_reqd_sub_group_size without a number");
    if (size != 0) /* 0: none is required */
        needs->required_sub_group_size = size;
    return DEVIMG_OK;
}

static enum devimg_status take_token(uint32_t id, struct dvi_view body, struct needs *needs,
                                     struct devimg_error *err)
{
    switch (id) {
    case TOKEN_LOCAL: needs->slm_size = word(body, 1); return DEVIMG_OK;
    case TOKEN_SCRATCH:
    case TOKEN_SCRATCH_SLOT1:
        if (word(body, 1) > needs->scratch_size)
            needs->scratch_size = word(body, 1);
        return DEVIMG_OK;
    case TOKEN_ENVIRONMENT: take_environment(body, needs); return DEVIMG_OK;
    case TOKEN_ATTRIBUTES: return take_attributes(body, needs, err);
    case TOKEN_PRIVATE:
        needs->private_size = word(body, 3);
        needs->private_is_of_item = word(body, 4) != 0;
        return DEVIMG_OK;
    default: return DEVIMG_OK;
    }
}

/* Private memory that lies in a surface of its own; 0: none does, and scratch may hold it. */
static void count_private(struct needs *needs)
{
    if (needs->private_size == 0) {
        needs->private_size = DEVIMG_UNKNOWN;
        return;
    }
    if (needs->private_is_of_item && needs->sub_group_size == DEVIMG_UNKNOWN)
        needs->private_size = DEVIMG_UNKNOWN;
    else if (needs->private_is_of_item && needs->private_size != DEVIMG_UNKNOWN)
        needs->private_size *= needs->sub_group_size; /* both of 32 bits */
    if (needs->private_size > needs->scratch_size)
        needs->scratch_size = needs->private_size; /* unknown is more than any */
}

static enum devimg_status read_tokens(struct dvi_view tokens, struct needs *out,
                                      struct devimg_error *err)
{
    struct needs needs = { .sub_group_size = DEVIMG_UNKNOWN,
                           .required_sub_group_size = DEVIMG_UNKNOWN,
                           .registers = DEVIMG_UNKNOWN,
                           .barrier_count = DEVIMG_UNKNOWN };
    struct dvi_cursor c = dvi_cursor_at(tokens, 0);
    while (dvi_left(&c) >= TOKEN_SIZE) {
        const size_t at = c.at;
        const uint32_t id = dvi_le32(&c);
        const uint32_t size = dvi_le32(&c);
        if (size < TOKEN_SIZE)
            return dvi_fail(err, DEVIMG_MALFORMED, tokens, at,
                            "patch token %" PRIu32 " of %" PRIu32 " bytes: expected 8 or more", id,
                            size);
        const struct dvi_view body = dvi_take(&c, size - TOKEN_SIZE);
        DVI_TRY(dvi_cursor_check(&c, "patch token", err));
        DVI_TRY(take_token(id, body, &needs, err));
    }
    count_private(&needs);
    *out = needs;
    return DEVIMG_OK;
}

static enum devimg_status add_kernel(const struct kernel *from, struct dvi_kernel_sink *sink,
                                     struct devimg_error *err)
{
    struct needs needs = { 0 };
    struct devimg_kernel *kernel = NULL;
    DVI_TRY(read_tokens(from->tokens, &needs, err));
    DVI_TRY(dvi_kernel_add(sink, from->name, &kernel, err));
    kernel->sub_group_size = needs.sub_group_size;
    kernel->required_sub_group_size = needs.required_sub_group_size;
    kernel->code_size = from->code.size;
    kernel->registers = needs.registers;
    kernel->private_size = needs.private_size;
    kernel->slm_size = needs.slm_size;
    kernel->scratch_size = needs.scratch_size;
    kernel->barrier_count = needs.barrier_count;
    kernel->features = needs.has_dpas ? DEVIMG_FEATURE_MATRIX : 0;
    return dvi_kernel_digest(sink, kernel, from->code, err);
}

static enum devimg_status kernels(struct dvi_view image, struct dvi_kernel_sink *sink,
                                  struct devimg_error *err)
{
    struct program p = { 0 };
    struct kernel kernel = { 0 };
    DVI_TRY(program_begin(image, &p, err));
    while (p.left > 0) {
        DVI_TRY(program_next(&p, &kernel, err));
        if (is_kernel(&kernel))
            DVI_TRY(add_kernel(&kernel, sink, err));
    }
    return DEVIMG_OK;
}

const struct dvi_image_format dvi_image_patchtoken = {
    .name = "patchtoken",
    .format = DEVIMG_FORMAT_PATCHTOKEN,
    .match = match,
    .facts = facts,
    .kernels = kernels,
};
