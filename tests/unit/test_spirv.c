/* SPDX-License-Identifier: Apache-2.0 */
/* image/spirv. Modules are written word by word from the SPIR-V 1.6 specification, 2.3 and 3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "image/image.h"

extern const struct dvi_image_format dvi_image_spirv;

enum { EXTENSION = 10, MEMORY_MODEL = 14, ENTRY_POINT = 15, MODE = 16, CAPABILITY = 17 };
enum {
    FUNCTION = 54,
    FUNCTION_END = 56,
    MODEL_KERNEL = 6,
    MODEL_COMPUTE = 5,
    SUB_GROUP_SIZE = 35,
    LOCAL_SIZE = 17
};

/* A module being written, in one of the two byte orders. */
struct words {
    uint8_t *bytes;
    size_t size, room;
    bool big;
};

static void word(struct words *w, uint32_t value)
{
    if (w->size + 4 > w->room) {
        w->room = w->room * 2 + 64;
        w->bytes = realloc(w->bytes, w->room);
        assert_non_null(w->bytes);
    }
    for (unsigned i = 0; i < 4; i++)
        w->bytes[w->size++] = (uint8_t)(value >> (w->big ? 24 - 8 * i : 8 * i));
}

static struct words module(bool big)
{
    struct words w = { .big = big };
    word(&w, 0x07230203);
    word(&w, 0x00010400);
    word(&w, 6 << 16 | 14);
    word(&w, 100);
    word(&w, 0);
    return w;
}

static void instruction(struct words *w, uint32_t opcode, uint32_t word_count)
{
    word(w, word_count << 16 | opcode);
}

static void capability(struct words *w, uint32_t number)
{
    instruction(w, CAPABILITY, 2);
    word(w, number);
}

/* The first byte of a text is the lowest of its word (2.2.1, "Literal String"). */
static void text(struct words *w, const char *t)
{
    const size_t size = strlen(t) + 1;
    for (size_t at = 0; at < size; at += 4) {
        uint32_t value = 0;
        for (size_t i = at; i < size && i < at + 4; i++)
            value |= (uint32_t)(uint8_t)t[i] << 8 * (i - at);
        word(w, value);
    }
}

static uint32_t text_words(const char *t)
{
    return (uint32_t)strlen(t) / 4 + 1;
}

static void entry_point(struct words *w, uint32_t model, uint32_t id, const char *name)
{
    instruction(w, ENTRY_POINT, 3 + text_words(name) + 1);
    word(w, model);
    word(w, id);
    text(w, name);
    word(w, 77); /* one interface variable */
}

static void mode(struct words *w, uint32_t id, uint32_t number, uint32_t value)
{
    instruction(w, MODE, 4);
    word(w, id);
    word(w, number);
    word(w, value);
}

static void extension(struct words *w, const char *name)
{
    instruction(w, EXTENSION, 1 + text_words(name));
    text(w, name);
}

/* What was read; everything in `arena`, but the kernels. */
struct result {
    struct dvi_arena arena;
    struct dvi_image_facts facts;
    struct dvi_kernel_sink sink;
    enum devimg_status facts_status, status;
    struct devimg_error err;
};

static void decode_bytes(struct result *r, const uint8_t *bytes, size_t size, uint64_t most)
{
    const struct dvi_view v = dvi_view_of(bytes, size, "module");
    *r = (struct result){ 0 };
    r->sink = (struct dvi_kernel_sink){ .arena = &r->arena, .most = most };
    r->facts_status = dvi_image_spirv.facts(v, &r->arena, &r->facts, &r->err);
    r->status = dvi_image_spirv.kernels(v, &r->sink, &r->err);
}

static void decode(struct result *r, struct words *w)
{
    decode_bytes(r, w->bytes, w->size, 10000000);
    free(w->bytes);
}

static void release(struct result *r)
{
    DVI_LIST_FREE(&r->sink.kernels);
    dvi_arena_free(&r->arena);
}

static const struct devimg_kernel *kernel(const struct result *r, size_t i)
{
    assert_true(i < r->sink.kernels.count);
    return &r->sink.kernels.items[i];
}

static void both_byte_orders_read_alike(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct words w = module(big != 0);
        struct result r;
        assert_true(dvi_image_format_of(dvi_view_of(w.bytes, w.size, "m")) == &dvi_image_spirv);
        capability(&w, 4);
        capability(&w, 6);
        extension(&w, "SPV_KHR_no_integer_wrap_decoration");
        instruction(&w, MEMORY_MODEL, 3);
        word(&w, 2);
        word(&w, 2);
        entry_point(&w, MODEL_KERNEL, 5, "_ZTSN4name1ABC");
        entry_point(&w, MODEL_KERNEL, 6, "abc");
        mode(&w, 5, SUB_GROUP_SIZE, 16);
        decode(&r, &w);
        assert_int_equal(r.facts_status, DEVIMG_OK);
        assert_int_equal(r.status, DEVIMG_OK);
        assert_string_equal(r.facts.version, "1.4");
        assert_string_equal(r.facts.producer, "6.14");
        assert_string_equal(r.facts.target, "spir64");
        assert_int_equal(r.facts.capability_count, 2);
        assert_int_equal(r.facts.capabilities[0], 4);
        assert_int_equal(r.facts.capabilities[1], 6);
        assert_int_equal(r.facts.extension_count, 1);
        assert_string_equal(r.facts.extensions[0], "SPV_KHR_no_integer_wrap_decoration");
        assert_int_equal(r.facts.kernel_count, 2);
        assert_int_equal(r.sink.kernels.count, 2);
        assert_string_equal(kernel(&r, 0)->name, "_ZTSN4name1ABC");
        assert_int_equal(kernel(&r, 0)->required_sub_group_size, 16);
        assert_string_equal(kernel(&r, 1)->name, "abc");
        assert_true(kernel(&r, 1)->required_sub_group_size == DEVIMG_UNKNOWN);
        release(&r);
    }
}

static void what_a_module_does_not_state_is_unknown(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    entry_point(&w, MODEL_KERNEL, 5, "k");
    mode(&w, 5, LOCAL_SIZE, 64);
    decode(&r, &w);
    assert_true(kernel(&r, 0)->required_sub_group_size == DEVIMG_UNKNOWN);
    assert_true(kernel(&r, 0)->sub_group_size == DEVIMG_UNKNOWN);
    assert_true(kernel(&r, 0)->registers == DEVIMG_UNKNOWN);
    assert_true(kernel(&r, 0)->private_size == DEVIMG_UNKNOWN);
    assert_true(kernel(&r, 0)->spill_size == DEVIMG_UNKNOWN);
    assert_true(kernel(&r, 0)->slm_size == DEVIMG_UNKNOWN);
    assert_true(kernel(&r, 0)->scratch_size == DEVIMG_UNKNOWN);
    assert_int_equal(kernel(&r, 0)->features, 0);
    assert_int_equal(kernel(&r, 0)->features_known, 1);
    assert_null(r.facts.target);
    assert_non_null(r.facts.capabilities); /* none is not the same as not SPIR-V */
    assert_int_equal(r.facts.capability_count, 0);
    release(&r);
}

static void physical32_is_spir(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    instruction(&w, MEMORY_MODEL, 3);
    word(&w, 1);
    word(&w, 2);
    decode(&r, &w);
    assert_string_equal(r.facts.target, "spir");
    release(&r);
}

static void entry_points_of_other_models_are_no_kernels(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    entry_point(&w, MODEL_COMPUTE, 5, "shader");
    entry_point(&w, MODEL_KERNEL, 6, "kernel");
    decode(&r, &w);
    assert_int_equal(r.facts.kernel_count, 1);
    assert_int_equal(r.sink.kernels.count, 1);
    assert_string_equal(kernel(&r, 0)->name, "kernel");
    release(&r);
}

static void last_of_two_modes_for_one_id_counts(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    entry_point(&w, MODEL_KERNEL, 5, "a");
    entry_point(&w, MODEL_KERNEL, 4, "b");
    mode(&w, 5, SUB_GROUP_SIZE, 8);
    mode(&w, 5, LOCAL_SIZE, 99);
    mode(&w, 4, SUB_GROUP_SIZE, 32);
    mode(&w, 5, SUB_GROUP_SIZE, 16);
    mode(&w, 3, SUB_GROUP_SIZE, 64); /* of an id that is no entry point */
    decode(&r, &w);
    assert_int_equal(kernel(&r, 0)->required_sub_group_size, 16);
    assert_int_equal(kernel(&r, 1)->required_sub_group_size, 32);
    release(&r);
}

static void entry_points_that_share_an_id_share_its_mode(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    entry_point(&w, MODEL_KERNEL, 9, "third");
    entry_point(&w, MODEL_KERNEL, 5, "first");
    entry_point(&w, MODEL_KERNEL, 9, "fourth");
    mode(&w, 9, SUB_GROUP_SIZE, 8);
    decode(&r, &w);
    assert_string_equal(kernel(&r, 0)->name, "third");
    assert_int_equal(kernel(&r, 0)->required_sub_group_size, 8);
    assert_true(kernel(&r, 1)->required_sub_group_size == DEVIMG_UNKNOWN);
    assert_int_equal(kernel(&r, 2)->required_sub_group_size, 8);
    release(&r);
}

static void mode_without_its_operand_says_nothing(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    entry_point(&w, MODEL_KERNEL, 5, "k");
    instruction(&w, MODE, 3);
    word(&w, 5);
    word(&w, SUB_GROUP_SIZE);
    decode(&r, &w);
    assert_int_equal(r.status, DEVIMG_OK);
    assert_true(kernel(&r, 0)->required_sub_group_size == DEVIMG_UNKNOWN);
    release(&r);
}

static void word_count_0_is_malformed(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    capability(&w, 6);
    word(&w, 17);
    word(&w, 6);
    decode(&r, &w);
    assert_int_equal(r.facts_status, DEVIMG_MALFORMED);
    assert_int_equal(r.status, DEVIMG_MALFORMED);
    assert_int_equal(r.err.offset, 28);
    release(&r);
}

static void instruction_past_the_end_is_truncated(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    instruction(&w, CAPABILITY, 3);
    word(&w, 6);
    decode(&r, &w);
    assert_int_equal(r.facts_status, DEVIMG_TRUNCATED);
    assert_int_equal(r.status, DEVIMG_TRUNCATED);
    assert_int_equal(r.err.offset, 20);
    release(&r);
}

static void text_without_nul_is_truncated(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct words w = module(big != 0);
        struct result r;
        instruction(&w, ENTRY_POINT, 4);
        word(&w, MODEL_KERNEL);
        word(&w, 5);
        word(&w, 0x61616161);
        word(&w, 0); /* a NUL behind the instruction is none of its own */
        decode(&r, &w);
        assert_int_equal(r.status, DEVIMG_TRUNCATED);
        assert_int_equal(r.sink.kernels.count, 0);
        release(&r);
    }
}

static void instruction_without_its_text_is_malformed(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    instruction(&w, ENTRY_POINT, 3);
    word(&w, MODEL_KERNEL);
    word(&w, 5);
    decode(&r, &w);
    assert_int_equal(r.status, DEVIMG_MALFORMED);
    release(&r);
    w = module(false);
    instruction(&w, EXTENSION, 1);
    decode(&r, &w);
    assert_int_equal(r.facts_status, DEVIMG_MALFORMED);
    release(&r);
}

static void size_that_is_no_multiple_of_4_is_truncated(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    capability(&w, 6);
    for (size_t cut = 1; cut < 4; cut++) {
        decode_bytes(&r, w.bytes, w.size - cut, 1);
        assert_int_equal(r.facts_status, DEVIMG_TRUNCATED);
        assert_int_equal(r.status, DEVIMG_TRUNCATED);
        release(&r);
    }
    for (size_t size = 4; size < 20; size++) {
        decode_bytes(&r, w.bytes, size, 1);
        assert_int_equal(r.facts_status, DEVIMG_TRUNCATED);
        release(&r);
    }
    free(w.bytes);
}

/* A module with a kernel and one function (5 words); `ended`: with its OpFunctionEnd. */
static struct words with_function(bool big, bool ended)
{
    struct words w = module(big);
    entry_point(&w, MODEL_KERNEL, 5, "k");
    instruction(&w, FUNCTION, 5);
    for (unsigned i = 0; i < 4; i++)
        word(&w, i + 1);
    if (ended)
        instruction(&w, FUNCTION_END, 1);
    return w;
}

static void functions_are_walked_to_their_end(void **state)
{
    (void)state;
    static const struct {
        bool ended;
        uint32_t behind, count; /* so many of these words follow */
        enum devimg_status status;
    } rows[] = {
        { true, 0, 0, DEVIMG_OK },
        { true, 1 << 16 | 0, 3, DEVIMG_OK },           /* OpNop */
        { false, 0, 0, DEVIMG_TRUNCATED },             /* no OpFunctionEnd */
        { false, 1 << 16 | 253, 1, DEVIMG_TRUNCATED }, /* OpReturn is not enough */
        { false, 0, 1, DEVIMG_MALFORMED },             /* word count 0 */
        { true, 0x07230203, 5, DEVIMG_MALFORMED },     /* another module */
        { false, 9 << 16 | 61, 1, DEVIMG_TRUNCATED },  /* OpLoad past the end */
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        struct words w = with_function(i % 2 != 0, rows[i / 2].ended);
        struct result r;
        for (uint32_t k = 0; k < rows[i / 2].count; k++)
            word(&w, rows[i / 2].behind);
        decode(&r, &w);
        assert_int_equal(r.facts_status, DEVIMG_OK);
        assert_int_equal(r.status, rows[i / 2].status);
        assert_int_equal(r.sink.kernels.count, 1);
        release(&r);
    }
}

/* Numbers from SPIRV-Headers, spirv.h. */
static void capabilities_become_features(void **state)
{
    (void)state;
    static const struct {
        uint32_t capability, feature;
    } rows[] = {
        { 10, DEVIMG_FEATURE_FP64 },       /* Float64 */
        { 9, DEVIMG_FEATURE_FP16 },        /* Float16 */
        { 8, DEVIMG_FEATURE_FP16 },        /* Float16Buffer */
        { 12, DEVIMG_FEATURE_ATOMIC64 },   /* Int64Atomics */
        { 6034, DEVIMG_FEATURE_ATOMIC64 }, /* AtomicFloat64AddEXT */
        { 6118, DEVIMG_FEATURE_MATRIX },   /* JointMatrixINTEL */
        { 6022, DEVIMG_FEATURE_MATRIX },   /* CooperativeMatrixKHR */
        { 5617, DEVIMG_FEATURE_ESIMD },    /* VectorComputeINTEL */
        { 11, 0 },                         /* Int64 */
        { 6033, 0 },                       /* AtomicFloat32AddEXT */
        { 58, 0 },                         /* SubgroupDispatch */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct words w = module(false);
        struct result r;
        capability(&w, rows[i].capability);
        entry_point(&w, MODEL_KERNEL, 5, "k");
        decode(&r, &w);
        assert_int_equal(kernel(&r, 0)->features, rows[i].feature);
        release(&r);
    }
}

static void sub_group_size_1_marks_esimd_of_that_kernel_alone(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    entry_point(&w, MODEL_KERNEL, 5, "esimd");
    entry_point(&w, MODEL_KERNEL, 6, "simt");
    mode(&w, 5, SUB_GROUP_SIZE, 1);
    mode(&w, 6, SUB_GROUP_SIZE, 16);
    decode(&r, &w);
    assert_int_equal(kernel(&r, 0)->features, DEVIMG_FEATURE_ESIMD);
    assert_int_equal(kernel(&r, 1)->features, 0);
    release(&r);
}

static void kernels_past_the_limit_are_limit(void **state)
{
    (void)state;
    struct words w = module(false);
    struct result r;
    for (uint32_t i = 0; i < 3; i++)
        entry_point(&w, MODEL_KERNEL, i, "k");
    decode_bytes(&r, w.bytes, w.size, 2);
    assert_int_equal(r.status, DEVIMG_LIMIT);
    assert_non_null(strstr(r.err.text, "max-kernels"));
    release(&r);
    decode_bytes(&r, w.bytes, w.size, 3);
    assert_int_equal(r.status, DEVIMG_OK);
    release(&r);
    free(w.bytes);
}

static void a_million_entry_points_and_modes_take_little_time(void **state)
{
    (void)state;
    enum { COUNT = 1000000, SECONDS = 2 };
    struct words w = module(false);
    struct result r;
    for (uint32_t i = 0; i < COUNT; i++)
        entry_point(&w, MODEL_KERNEL, i * 2654435761u, "k");
    for (uint32_t i = COUNT; i-- > 0;)
        mode(&w, i * 2654435761u, SUB_GROUP_SIZE, i);
    const clock_t start = clock();
    decode(&r, &w);
    assert_true((clock() - start) / CLOCKS_PER_SEC < SECONDS);
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(r.sink.kernels.count, COUNT);
    assert_int_equal(kernel(&r, 777777)->required_sub_group_size, 777777);
    release(&r);
}

static void module_cut_at_any_byte_never_reads_past_it(void **state)
{
    (void)state;
    struct words w = module(true);
    capability(&w, 6);
    extension(&w, "SPV_INTEL_function_pointers");
    entry_point(&w, MODEL_KERNEL, 5, "kernel");
    mode(&w, 5, SUB_GROUP_SIZE, 8);
    unsigned whole = 0;
    for (size_t size = 0; size < w.size; size++) {
        struct result r;
        uint8_t *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy + 1, w.bytes, size); /* ends where its memory ends */
        decode_bytes(&r, copy + 1, size, 10);
        whole += r.status == DEVIMG_OK;
        release(&r);
        free(copy);
    }
    assert_int_equal(whole, 4); /* a cut between instructions cannot be told */
    free(w.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_byte_orders_read_alike),
        cmocka_unit_test(what_a_module_does_not_state_is_unknown),
        cmocka_unit_test(physical32_is_spir),
        cmocka_unit_test(entry_points_of_other_models_are_no_kernels),
        cmocka_unit_test(last_of_two_modes_for_one_id_counts),
        cmocka_unit_test(entry_points_that_share_an_id_share_its_mode),
        cmocka_unit_test(mode_without_its_operand_says_nothing),
        cmocka_unit_test(word_count_0_is_malformed),
        cmocka_unit_test(instruction_past_the_end_is_truncated),
        cmocka_unit_test(text_without_nul_is_truncated),
        cmocka_unit_test(instruction_without_its_text_is_malformed),
        cmocka_unit_test(size_that_is_no_multiple_of_4_is_truncated),
        cmocka_unit_test(functions_are_walked_to_their_end),
        cmocka_unit_test(capabilities_become_features),
        cmocka_unit_test(sub_group_size_1_marks_esimd_of_that_kernel_alone),
        cmocka_unit_test(kernels_past_the_limit_are_limit),
        cmocka_unit_test(a_million_entry_points_and_modes_take_little_time),
        cmocka_unit_test(module_cut_at_any_byte_never_reads_past_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
