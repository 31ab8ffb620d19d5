/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPIR-V: a stream of 32-bit words, in the byte order that the magic shows.
 * Source: SPIR-V 1.6, sections 2.3 "Physical Layout", 2.4 "Logical Layout", 3; numbers of
 * capabilities and modes from KhronosGroup/SPIRV-Headers.
 *
 *   words 0 magic 0x07230203, 1 version 0x00MMmm00, 2 generator (tool << 16 | its version),
 *         3 bound, 4 zero; then instructions: word count << 16 | opcode
 *
 * Everything that is needed stands before the first OpFunction, and what is true of the module as a
 * whole even before its names, annotations and types (2.4). The rest is walked over where kernels
 * are read: functions end with OpFunctionEnd, and nothing but functions follows the first.
 */
#include "image/spirv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "object/magic.h"

enum { HEADER_SIZE = 20, MOST_EXTENSION = 4096, MOST_LISTED = 4096 };
enum opcode {
    OP_SOURCE = 3,
    OP_LINE = 8,
    OP_EXTENSION = 10,
    OP_MEMORY_MODEL = 14,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17,
    OP_TYPE_VOID = 19,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_DECORATE = 71,
    OP_MEMBER_DECORATE = 72
};
enum { MODEL_KERNEL = 6, MODE_SUB_GROUP_SIZE = 35, PHYSICAL32 = 1, PHYSICAL64 = 2 };

struct module {
    struct dvi_view words;
    bool swapped;
    uint64_t at;
};

struct instruction {
    uint32_t opcode, word_count;
    uint64_t at; /* of its first word */
};

static inline uint32_t word_at(const struct module *m, uint64_t at)
{
    const uint32_t w = dvi_peek32(m->words, at);
    return m->swapped ? w >> 24 | (w >> 8 & 0xff00) | (w << 8 & 0xff0000) | w << 24 : w;
}

static uint32_t operand(const struct module *m, const struct instruction *i, uint32_t number)
{
    return number < i->word_count ? word_at(m, i->at + (uint64_t)number * 4) : 0;
}

static bool match(struct dvi_view v)
{
    return dvi_peek32(v, 0) == DVI_MAGIC_SPIRV || dvi_starts_with(v, "\x07\x23\x02\x03", 4);
}

static enum devimg_status open_module(struct dvi_view v, struct module *out,
                                      struct devimg_error *err)
{
    if (v.size < HEADER_SIZE)
        return dvi_fail(err, DEVIMG_TRUNCATED, v, 0, "SPIR-V header: 20 bytes do not fit in %zu",
                        v.size);
    *out = (struct module){ v, dvi_peek32(v, 0) != DVI_MAGIC_SPIRV, HEADER_SIZE };
    if (v.size % 4 != 0)
        return dvi_fail(err, DEVIMG_TRUNCATED, v, v.size / 4 * 4,
                        "SPIR-V of %zu bytes: no multiple of 4", v.size);
    return DEVIMG_OK;
}

static enum devimg_status refuse(const struct module *m, const struct instruction *i,
                                 struct devimg_error *err)
{
    if (i->word_count == 0)
        return dvi_fail(err, DEVIMG_MALFORMED, m->words, i->at,
                        "SPIR-V instruction %" PRIu32 " with word count 0: expected 1 or more",
                        i->opcode);
    return dvi_fail(err, DEVIMG_TRUNCATED, m->words, i->at,
                    "SPIR-V instruction %" PRIu32 " of %" PRIu64 " bytes: %" PRIu64 " are left",
                    i->opcode, (uint64_t)i->word_count * 4, m->words.size - i->at);
}

/* END at the end of the module. Millions of instructions pass here. */
static inline enum devimg_status next(struct module *m, struct instruction *out,
                                      struct devimg_error *err)
{
    if (m->at >= m->words.size)
        return DEVIMG_END;
    const uint32_t first = word_at(m, m->at);
    *out = (struct instruction){ first & 0xffff, first >> 16, m->at };
    const uint64_t size = (uint64_t)out->word_count * 4;
    if (size == 0 || size > m->words.size - m->at)
        return refuse(m, out, err);
    m->at += size;
    return DEVIMG_OK;
}

/* END at the first OpFunction or at the end of the module. */
static inline enum devimg_status next_of_preamble(struct module *m, struct instruction *out,
                                                  struct devimg_error *err)
{
    DVI_TRY(next(m, out, err));
    if (out->opcode != OP_FUNCTION)
        return DEVIMG_OK;
    m->at = out->at;
    return DEVIMG_END;
}

/* Whether this starts the part of names, annotations, types and constants, where no capability,
 * extension, memory model or entry point may stand any more (2.4, from 7). */
static inline bool ends_head(uint32_t opcode)
{
    return (opcode >= OP_SOURCE && opcode <= OP_LINE) ||
           (opcode >= OP_TYPE_VOID && opcode <= OP_FUNCTION) || opcode == OP_DECORATE ||
           opcode == OP_MEMBER_DECORATE;
}

/* Of a module that is cut behind its preamble, or has another behind it, only this tells. */
static enum devimg_status walk_functions(struct module *m, struct devimg_error *err)
{
    struct instruction i = { 0 };
    bool inside = false;
    for (;;) {
        if (!inside && word_at(m, m->at) == DVI_MAGIC_SPIRV)
            return dvi_fail(err, DEVIMG_MALFORMED, m->words, m->at,
                            "a second SPIR-V module: an image holds one");
        const enum devimg_status status = next(m, &i, err);
        if (status == DEVIMG_END && inside)
            return dvi_fail(err, DEVIMG_TRUNCATED, m->words, m->words.size,
                            "the SPIR-V module ends inside of a function");
        if (status != DEVIMG_OK)
            return status;
        inside = i.opcode == OP_FUNCTION || (inside && i.opcode != OP_FUNCTION_END);
    }
}

/* A text operand: NUL-ended, padded to a word. In a swapped module its bytes are swapped too. */
static enum devimg_status text_operand(const struct module *m, const struct instruction *i,
                                       uint32_t number, struct dvi_arena *arena,
                                       struct dvi_view *out, struct devimg_error *err)
{
    struct dvi_view bytes = { 0 };
    if (number >= i->word_count)
        return dvi_fail(err, DEVIMG_MALFORMED, m->words, i->at,
                        "SPIR-V instruction %" PRIu32 " of %" PRIu32 " words has no text",
                        i->opcode, i->word_count);
    const uint64_t start = i->at + (uint64_t)number * 4;
    DVI_TRY(dvi_slice(m->words, start, (uint64_t)(i->word_count - number) * 4, "SPIR-V text",
                      &bytes, err));
    if (m->swapped) {
        uint8_t *copy = dvi_arena_array(arena, bytes.size, 1);
        if (copy == NULL)
            return dvi_fail_memory(err, bytes.source);
        for (size_t at = 0; at < bytes.size; at++)
            copy[at] = bytes.data[at ^ 3];
        bytes.data = copy;
    }
    return dvi_text_at(bytes, 0, "SPIR-V text", out, err);
}

/* --- facts --- */

typedef DVI_LIST(uint32_t) number_list;
typedef DVI_LIST(const char *) text_list;

static enum devimg_status add_extension(const struct module *m, const struct instruction *i,
                                        struct dvi_arena *arena, text_list *out,
                                        struct devimg_error *err)
{
    struct dvi_view text = { 0 };
    DVI_TRY(text_operand(m, i, 1, arena, &text, err));
    if (text.size > MOST_EXTENSION)
        return dvi_fail(err, DEVIMG_MALFORMED, m->words, i->at,
                        "SPIR-V extension name of %zu bytes: at most %d are read", text.size,
                        (int)MOST_EXTENSION);
    const char **added = DVI_ADD(out);
    const char *copy = dvi_arena_text(arena, text);
    if (added == NULL || copy == NULL)
        return dvi_fail_memory(err, m->words.source);
    *added = copy;
    return DEVIMG_OK;
}

static enum devimg_status read_facts(struct module *m, struct dvi_arena *arena,
                                     struct dvi_image_facts *out, number_list *capabilities,
                                     text_list *extensions, struct devimg_error *err)
{
    struct instruction i = { 0 };
    enum devimg_status status;
    uint64_t kernel_count = 0;
    while ((status = next(m, &i, err)) == DEVIMG_OK && !ends_head(i.opcode)) {
        if (capabilities->count + extensions->count > MOST_LISTED)
            return dvi_fail(err, DEVIMG_MALFORMED, m->words, i.at,
                            "more than %d capabilities and extensions", (int)MOST_LISTED);
        if (i.opcode == OP_CAPABILITY) {
            uint32_t *added = DVI_ADD(capabilities);
            if (added == NULL)
                return dvi_fail_memory(err, m->words.source);
            *added = operand(m, &i, 1);
        } else if (i.opcode == OP_EXTENSION) {
            DVI_TRY(add_extension(m, &i, arena, extensions, err));
        } else if (i.opcode == OP_MEMORY_MODEL) {
            const uint32_t addressing = operand(m, &i, 1);
            out->target = addressing == PHYSICAL64   ? "spir64"
                          : addressing == PHYSICAL32 ? "spir"
                                                     : NULL;
        } else if (i.opcode == OP_ENTRY_POINT && operand(m, &i, 1) == MODEL_KERNEL) {
            kernel_count++;
        }
    }
    if (status != DEVIMG_OK && status != DEVIMG_END)
        return status;
    out->kernel_count = kernel_count;
    return DEVIMG_OK;
}

static enum devimg_status keep_lists(struct dvi_arena *arena, struct dvi_image_facts *out,
                                     const number_list *capabilities, const text_list *extensions)
{
    uint32_t *numbers = dvi_arena_array(arena, capabilities->count, sizeof *numbers);
    const char **texts = dvi_arena_array(arena, extensions->count, sizeof *texts);
    if (numbers == NULL || texts == NULL)
        return DEVIMG_NOMEM;
    for (size_t i = 0; i < capabilities->count; i++)
        numbers[i] = capabilities->items[i];
    for (size_t i = 0; i < extensions->count; i++)
        texts[i] = extensions->items[i];
    out->capabilities = numbers;
    out->capability_count = (uint32_t)capabilities->count;
    out->extensions = texts;
    out->extension_count = (uint32_t)extensions->count;
    return DEVIMG_OK;
}

static enum devimg_status facts(struct dvi_view image, struct dvi_arena *arena,
                                struct dvi_image_facts *out, struct devimg_error *err)
{
    struct module m = { 0 };
    number_list capabilities = { 0 };
    text_list extensions = { 0 };
    DVI_TRY(open_module(image, &m, err));
    const uint32_t version = word_at(&m, 4), generator = word_at(&m, 8);
    out->version =
        dvi_arena_format(arena, "%" PRIu32 ".%" PRIu32, version >> 16 & 0xff, version >> 8 & 0xff);
    out->producer =
        dvi_arena_format(arena, "%" PRIu32 ".%" PRIu32, generator >> 16, generator & 0xffff);
    if (out->version == NULL || out->producer == NULL)
        return dvi_fail_memory(err, image.source);
    enum devimg_status status = read_facts(&m, arena, out, &capabilities, &extensions, err);
    if (status == DEVIMG_OK && keep_lists(arena, out, &capabilities, &extensions) != DEVIMG_OK)
        status = dvi_fail_memory(err, image.source);
    DVI_LIST_FREE(&capabilities);
    DVI_LIST_FREE(&extensions);
    return status;
}

/* --- kernels --- */

struct by_id {
    uint32_t id, value;
    size_t order;
};
typedef DVI_LIST(struct by_id) id_list;

static int compare_ids(const void *a, const void *b)
{
    const struct by_id *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool add_id(id_list *list, uint32_t id, uint32_t value)
{
    struct by_id *added = DVI_ADD(list);
    if (added == NULL)
        return false;
    *added = (struct by_id){ id, value, list->count };
    return true;
}

/* The features that a capability asks of the device; module-wide. */
static uint32_t feature_of(uint32_t capability)
{
    switch (capability) {
    case 9: /* Float16 */
    case 8: /* Float16Buffer: what SYCL kernels that use half declare */ return DEVIMG_FEATURE_FP16;
    case 10: /* Float64 */ return DEVIMG_FEATURE_FP64;
    case 12: /* Int64Atomics */
    case 6034: /* AtomicFloat64AddEXT */ return DEVIMG_FEATURE_ATOMIC64;
    case 6118: /* JointMatrixINTEL */
    case 6022: /* CooperativeMatrixKHR */ return DEVIMG_FEATURE_MATRIX;
    case 5617: /* VectorComputeINTEL */ return DEVIMG_FEATURE_ESIMD;
    default: return 0;
    }
}

struct kernel_reader {
    struct module m;
    struct dvi_kernel_sink *sink;
    size_t first;   /* kernels of this module start here */
    id_list points; /* entry point id -> kernel */
    id_list sizes;  /* entry point id -> required sub-group size */
    uint32_t features;
};

static enum devimg_status take_instruction(struct kernel_reader *r, const struct instruction *i,
                                           struct devimg_error *err)
{
    const struct module *m = &r->m;
    if (i->opcode == OP_CAPABILITY)
        r->features |= feature_of(operand(m, i, 1));
    if (i->opcode == OP_EXECUTION_MODE && operand(m, i, 2) == MODE_SUB_GROUP_SIZE &&
        i->word_count > 3 && !add_id(&r->sizes, operand(m, i, 1), operand(m, i, 3)))
        return dvi_fail_memory(err, m->words.source);
    if (i->opcode != OP_ENTRY_POINT || operand(m, i, 1) != MODEL_KERNEL)
        return DEVIMG_OK;
    struct dvi_view name = { 0 };
    struct devimg_kernel *kernel = NULL;
    DVI_TRY(text_operand(m, i, 3, r->sink->arena, &name, err));
    DVI_TRY(dvi_kernel_add(r->sink, name, &kernel, err));
    if (!add_id(&r->points, operand(m, i, 2), (uint32_t)(r->sink->kernels.count - 1)))
        return dvi_fail_memory(err, m->words.source);
    return DEVIMG_OK;
}

/* Entry points and modes are joined by id; the last mode of an id counts. */
static void join(struct kernel_reader *r)
{
    if (r->points.count > 1)
        qsort(r->points.items, r->points.count, sizeof(struct by_id), compare_ids);
    if (r->sizes.count > 1)
        qsort(r->sizes.items, r->sizes.count, sizeof(struct by_id), compare_ids);
    size_t s = 0;
    for (size_t p = 0; p < r->points.count; p++) {
        const struct by_id *point = &r->points.items[p];
        while (s < r->sizes.count && r->sizes.items[s].id < point->id)
            s++;
        while (s + 1 < r->sizes.count && r->sizes.items[s + 1].id == point->id)
            s++;
        if (s < r->sizes.count && r->sizes.items[s].id == point->id)
            r->sink->kernels.items[point->value].required_sub_group_size = r->sizes.items[s].value;
    }
    for (size_t k = r->first; k < r->sink->kernels.count; k++) {
        struct devimg_kernel *kernel = &r->sink->kernels.items[k];
        kernel->features = r->features;
        kernel->features_known = 1;
        if (kernel->required_sub_group_size == 1) /* how ESIMD kernels are marked */
            kernel->features |= DEVIMG_FEATURE_ESIMD;
    }
}

static enum devimg_status kernels(struct dvi_view image, struct dvi_kernel_sink *sink,
                                  struct devimg_error *err)
{
    struct kernel_reader r = { .sink = sink, .first = sink->kernels.count };
    struct instruction i = { 0 };
    DVI_TRY(open_module(image, &r.m, err));
    enum devimg_status status;
    while ((status = next_of_preamble(&r.m, &i, err)) == DEVIMG_OK)
        if ((status = take_instruction(&r, &i, err)) != DEVIMG_OK)
            break;
    if (status == DEVIMG_END)
        status = walk_functions(&r.m, err);
    join(&r);
    DVI_LIST_FREE(&r.points);
    DVI_LIST_FREE(&r.sizes);
    return status == DEVIMG_END ? DEVIMG_OK : status;
}

const struct dvi_image_format dvi_image_spirv = {
    .name = "spirv",
    .format = DEVIMG_FORMAT_SPIRV,
    .match = match,
    .facts = facts,
    .kernels = kernels,
};
