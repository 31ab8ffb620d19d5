/* SPDX-License-Identifier: Apache-2.0 */
/* image/patchtoken and image/oclelf. Bytes are written from intel-graphics-compiler
 * IGC/AdaptorOCL/ocl_igc_shared/executable_format/patch_list.h and patch_shared.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "image/patchtoken.h"

extern const struct dvi_image_format dvi_image_oclelf;

struct bytes {
    uint8_t data[4096];
    size_t size;
};

static void set32(struct bytes *b, size_t at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        b->data[at + i] = (uint8_t)(value >> 8 * i);
}

static size_t put32(struct bytes *b, uint32_t value)
{
    assert_true(b->size + 4 <= sizeof b->data);
    set32(b, b->size, value);
    b->size += 4;
    return b->size - 4;
}

static void put(struct bytes *b, const void *from, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, from, size);
    b->size += size;
}

static void put_token(struct bytes *list, uint32_t id, const uint32_t *words, size_t count)
{
    put32(list, id);
    put32(list, (uint32_t)(8 + 4 * count));
    for (size_t i = 0; i < count; i++)
        put32(list, words[i]);
}
#define TOKEN(list, id, ...)                               \
    put_token(list, id, (const uint32_t[]){ __VA_ARGS__ }, \
              sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

/* SPatchExecutionEnvironment: 33 words in version 1081, 27 in 1066. */
static void put_environment(struct bytes *list, size_t count, uint32_t simd, uint32_t barriers,
                            uint32_t registers, uint32_t dpas)
{
    uint32_t words[33] = { 0 };
    words[3] = simd;
    words[5] = barriers;
    words[20] = registers;
    words[23] = dpas;
    put_token(list, 23, words, count);
}

static void put_attributes(struct bytes *list, const char *text)
{
    const size_t size = (strlen(text) + 4) / 4 * 4;
    put32(list, 27);
    put32(list, (uint32_t)(12 + size));
    put32(list, (uint32_t)size);
    memset(list->data + list->size, 0, size);
    memcpy(list->data + list->size, text, strlen(text));
    list->size += size;
}

static void put_program(struct bytes *b, uint32_t core, uint32_t kernels)
{
    *b = (struct bytes){ 0 };
    put(b, "CTNI", 4);
    put32(b, 1081);
    put32(b, core);
    put32(b, 8);
    put32(b, kernels);
    put32(b, 7);  /* stepping */
    put32(b, 12); /* the program's list, which is none that could be walked */
    put(b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
}

/* 24 bytes of code and three heaps of 4, 8 and 12 bytes, in which no token is to be found. */
static size_t put_kernel(struct bytes *b, const char *name, const struct bytes *list)
{
    static const uint8_t heaps[24 + 4 + 8 + 12] = { 15, 0, 0, 0, 16 };
    const size_t at = b->size, name_size = (strlen(name) + 4) / 4 * 4;
    put32(b, 0x12345678);
    put(b, "hashhash", 8);
    put32(b, (uint32_t)name_size);
    put32(b, (uint32_t)list->size);
    put32(b, 24);
    put32(b, 4);
    put32(b, 8);
    put32(b, 12);
    put32(b, 20); /* code without its padding */
    put(b, name, strlen(name));
    memset(b->data + b->size, 0, name_size - strlen(name));
    b->size += name_size - strlen(name);
    put(b, heaps, sizeof heaps);
    put(b, list->data, list->size);
    return at;
}

struct result {
    struct dvi_arena arena;
    struct dvi_image_facts facts;
    struct dvi_kernel_sink sink;
    enum devimg_status facts_status, status;
    struct devimg_error facts_err, err;
};

static void decode_as(const struct dvi_image_format *format, struct result *r, const uint8_t *data,
                      size_t size)
{
    *r = (struct result){ .sink.most = 1000,
                          .facts = { .format = format->format,
                                     .core_family = DEVIMG_UNKNOWN,
                                     .stepping = DEVIMG_UNKNOWN,
                                     .kernel_count = DEVIMG_UNKNOWN } };
    r->sink.arena = &r->arena;
    const struct dvi_view v = dvi_view_of(data, size, "image");
    r->facts_status = format->facts(v, &r->arena, &r->facts, &r->facts_err);
    r->status = format->kernels(v, &r->sink, &r->err);
}

static void decode(struct result *r, const struct bytes *b)
{
    decode_as(&dvi_image_patchtoken, r, b->data, b->size);
}

static void release(struct result *r)
{
    DVI_LIST_FREE(&r->sink.kernels);
    dvi_arena_free(&r->arena);
}

/* The one kernel of a program whose tokens these are. */
static struct devimg_kernel kernel_of(const struct bytes *list)
{
    struct bytes b;
    struct result r;
    put_program(&b, 18, 1);
    put_kernel(&b, "k", list);
    decode(&r, &b);
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(r.sink.kernels.count, 1);
    struct devimg_kernel kernel = r.sink.kernels.items[0];
    kernel.name = NULL; /* dies with the arena */
    release(&r);
    return kernel;
}

static void header_gives_family_stepping_version_and_count(void **state)
{
    (void)state;
    struct bytes b, list = { 0 };
    struct result r;
    put_program(&b, 0xc08, 2);
    put_environment(&list, 33, 16, 0, 128, 0);
    put_kernel(&b, "first", &list);
    put_kernel(&b, "four", &list); /* the name's NUL takes four bytes more */
    decode(&r, &b);
    assert_true(dvi_image_patchtoken.match(dvi_view_of(b.data, b.size, "image")));
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_int_equal(r.facts.core_family, 0xc08);
    assert_int_equal(r.facts.stepping, 7);
    assert_string_equal(r.facts.version, "1081");
    assert_int_equal(r.facts.kernel_count, 2);
    assert_non_null(strstr(r.facts.note, "26.18"));
    assert_int_equal(r.sink.kernels.count, 2);
    assert_string_equal(r.sink.kernels.items[0].name, "first");
    assert_string_equal(r.sink.kernels.items[1].name, "four");
    release(&r);
}

static void tokens_give_all_numbers(void **state)
{
    (void)state;
    struct bytes list = { 0 };
    TOKEN(&list, 15, 0, 1024);
    TOKEN(&list, 18, 0, 16384);
    TOKEN(&list, 99, 1, 2, 3); /* unknown ones are skipped */
    put_attributes(&list, "vec_type_hint(float4) intel_reqd_sub_group_size(16)");
    put_environment(&list, 33, 16, 1, 256, 1);
    const struct devimg_kernel k = kernel_of(&list);
    assert_int_equal(k.sub_group_size, 16);
    assert_int_equal(k.required_sub_group_size, 16);
    assert_int_equal(k.registers, 256);
    assert_int_equal(k.barrier_count, 1);
    assert_int_equal(k.slm_size, 1024);
    assert_int_equal(k.scratch_size, 16384);
    assert_int_equal(k.code_size, 24);
    assert_int_equal(k.features, DEVIMG_FEATURE_MATRIX);
    assert_true(k.private_size == DEVIMG_UNKNOWN);
    assert_true(k.spill_size == DEVIMG_UNKNOWN);
}

static void absent_tokens_mean_no_memory_and_unknown_numbers(void **state)
{
    (void)state;
    const struct bytes list = { 0 };
    const struct devimg_kernel k = kernel_of(&list);
    assert_true(k.sub_group_size == DEVIMG_UNKNOWN);
    assert_true(k.required_sub_group_size == DEVIMG_UNKNOWN);
    assert_true(k.registers == DEVIMG_UNKNOWN);
    assert_true(k.barrier_count == DEVIMG_UNKNOWN);
    assert_true(k.private_size == DEVIMG_UNKNOWN);
    assert_true(k.spill_size == DEVIMG_UNKNOWN);
    assert_int_equal(k.slm_size, 0);
    assert_int_equal(k.scratch_size, 0);
    assert_int_equal(k.features, 0);
}

/* The layout grew at its end: version 1066 has 27 words, and NumGRFRequired is the 21st. */
static void short_environment_leaves_the_rest_unknown(void **state)
{
    (void)state;
    struct bytes list = { 0 };
    put_environment(&list, 20, 32, 0, 0, 0);
    struct devimg_kernel k = kernel_of(&list);
    assert_int_equal(k.sub_group_size, 32);
    assert_int_equal(k.barrier_count, 0);
    assert_true(k.registers == DEVIMG_UNKNOWN);
    assert_int_equal(k.features, 0);
    list = (struct bytes){ 0 };
    put_environment(&list, 4, 8, 0, 0, 0);
    k = kernel_of(&list);
    assert_int_equal(k.sub_group_size, 8);
    assert_true(k.barrier_count == DEVIMG_UNKNOWN);
    list = (struct bytes){ 0 };
    put_environment(&list, 33, 0, 0, 0, 0);
    k = kernel_of(&list);
    assert_true(k.sub_group_size == DEVIMG_UNKNOWN);
    assert_true(k.registers == DEVIMG_UNKNOWN);
}

/* IGC/AdaptorOCL/OCL/sp/sp_g8.h, EncodeNumBarriers. */
static void barrier_code_stands_for_a_count(void **state)
{
    (void)state;
    static const uint64_t counts[] = { 0, 1, 2, 4, 8, 16, 24, 32, DEVIMG_UNKNOWN };
    for (uint32_t code = 0; code < sizeof counts / sizeof counts[0]; code++) {
        struct bytes list = { 0 };
        put_environment(&list, 33, 8, code, 128, 0);
        assert_true(kernel_of(&list).barrier_count == counts[code]);
    }
}

static void private_memory_counts_once_a_lane(void **state)
{
    (void)state;
    struct bytes list = { 0 };
    TOKEN(&list, 38, 64, 48, 8, 256, 1);
    put_environment(&list, 33, 32, 0, 128, 0); /* also when it follows */
    TOKEN(&list, 18, 0, 4096);
    struct devimg_kernel k = kernel_of(&list);
    assert_int_equal(k.private_size, 8192);
    assert_int_equal(k.scratch_size, 8192);
    list = (struct bytes){ 0 };
    TOKEN(&list, 38, 64, 48, 8, 256, 0); /* of a hardware thread */
    put_environment(&list, 33, 32, 0, 128, 0);
    k = kernel_of(&list);
    assert_int_equal(k.private_size, 256);
    assert_int_equal(k.scratch_size, 256);
    list = (struct bytes){ 0 };
    TOKEN(&list, 38, 64, 48, 8, 256); /* version 1066: always of a work-item */
    put_environment(&list, 27, 8, 0, 128, 0);
    k = kernel_of(&list);
    assert_int_equal(k.private_size, 2048);
    assert_int_equal(k.scratch_size, 2048);
}

/* Xe-LP and Xe-HPC keep private memory in scratch: the token is there and its size is 0. */
static void private_memory_within_scratch_is_unknown(void **state)
{
    (void)state;
    struct bytes list = { 0 };
    TOKEN(&list, 18, 0, 8192);
    TOKEN(&list, 55, 0, 65536); /* the second scratch space */
    TOKEN(&list, 38, 64, 48, 8, 0, 1);
    put_environment(&list, 33, 32, 0, 128, 0);
    const struct devimg_kernel k = kernel_of(&list);
    assert_true(k.private_size == DEVIMG_UNKNOWN);
    assert_int_equal(k.scratch_size, 65536);
}

static void memory_of_unknown_lanes_or_words_is_unknown(void **state)
{
    (void)state;
    struct bytes list = { 0 };
    TOKEN(&list, 38, 64, 48, 8, 256, 1);
    struct devimg_kernel k = kernel_of(&list);
    assert_true(k.private_size == DEVIMG_UNKNOWN);
    assert_true(k.scratch_size == DEVIMG_UNKNOWN);
    list = (struct bytes){ 0 };
    TOKEN(&list, 15, 0);
    TOKEN(&list, 18, 0);
    k = kernel_of(&list);
    assert_true(k.slm_size == DEVIMG_UNKNOWN);
    assert_true(k.scratch_size == DEVIMG_UNKNOWN);
    list = (struct bytes){ 0 };
    TOKEN(&list, 38, 64, 48, 8);
    put_environment(&list, 33, 32, 0, 128, 0);
    k = kernel_of(&list);
    assert_true(k.private_size == DEVIMG_UNKNOWN);
    assert_true(k.scratch_size == DEVIMG_UNKNOWN);
    list = (struct bytes){ 0 };
    TOKEN(&list, 38, 0, 0, 0, UINT32_MAX, 1);
    put_environment(&list, 33, UINT32_MAX, 0, 128, 0);
    k = kernel_of(&list);
    assert_true(k.private_size == (uint64_t)UINT32_MAX * UINT32_MAX);
    assert_true(k.scratch_size == (uint64_t)UINT32_MAX * UINT32_MAX);
}

static void attributes_are_texts_of_any_content(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t expected;
    } rows[] = {
        { "", DEVIMG_UNKNOWN },
        { "vec_type_hint(float4)", DEVIMG_UNKNOWN },
        { "intel_reqd_sub_group_size", DEVIMG_UNKNOWN },
        { "intel_reqd_sub_group_size(0)", DEVIMG_UNKNOWN },
        { "intel_reqd_sub_group_size(8)", 8 },
        { "reqd_work_group_size(64,1,1) intel_reqd_sub_group_size(32) work_group_size_hint(1,1,1)",
          32 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bytes list = { 0 };
        put_attributes(&list, rows[i].text);
        assert_true(kernel_of(&list).required_sub_group_size == rows[i].expected);
    }
}

/* The kernel before the damaged one stands. */
static void expect_damage(const struct bytes *list, enum devimg_status status, size_t at)
{
    struct bytes b, good = { 0 };
    struct result r;
    put_program(&b, 18, 2);
    put_kernel(&b, "good", &good);
    put_kernel(&b, "bad", list);
    const size_t start = b.size - list->size;
    decode(&r, &b);
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_int_equal(r.facts.kernel_count, 2);
    assert_int_equal(r.status, status);
    assert_int_equal(r.err.offset, start + at);
    assert_int_equal(r.sink.kernels.count, 1);
    assert_string_equal(r.sink.kernels.items[0].name, "good");
    release(&r);
}

static void damaged_tokens_are_told_by_their_offset(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 0, 4, 7 };
    static const char *const texts[] = { "intel_reqd_sub_group_size()",
                                         "intel_reqd_sub_group_size(eight)",
                                         "intel_reqd_sub_group_size(8",
                                         "intel_reqd_sub_group_size(99999999999999999999)" };
    struct bytes list;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        list = (struct bytes){ 0 };
        TOKEN(&list, 15, 0, 1024);
        TOKEN(&list, 18, 0, 1024);
        set32(&list, 16 + 4, sizes[i]);
        expect_damage(&list, DEVIMG_MALFORMED, 16);
    }
    list = (struct bytes){ 0 };
    TOKEN(&list, 18, 0, 1024);
    set32(&list, 4, 17); /* one byte too many */
    expect_damage(&list, DEVIMG_TRUNCATED, 8);
    set32(&list, 4, UINT32_MAX);
    expect_damage(&list, DEVIMG_TRUNCATED, 8);
    list = (struct bytes){ 0 };
    put_attributes(&list, "text");
    set32(&list, 8, 9);
    expect_damage(&list, DEVIMG_TRUNCATED, 12);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        list = (struct bytes){ 0 };
        put_attributes(&list, texts[i]);
        expect_damage(&list, DEVIMG_MALFORMED, 12 + strlen("intel_reqd_sub_group_size("));
    }
}

/* The loader stops where no token's header is left. */
static void bytes_too_few_for_a_token_end_the_list(void **state)
{
    (void)state;
    struct bytes list = { 0 };
    TOKEN(&list, 15, 0, 1024);
    put(&list, "\1\2\3\4\5\6\7", 7);
    assert_int_equal(kernel_of(&list).slm_size, 1024);
}

static void damaged_kernels_keep_those_before_them(void **state)
{
    (void)state;
    /* sizes of name, tokens, code, three states */
    static const size_t fields[] = { 12, 16, 20, 24, 28, 32 };
    static const uint32_t values[] = { 4096, INT32_MAX, UINT32_MAX };
    const struct bytes list = { 0 };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            struct bytes b;
            struct result r;
            put_program(&b, 18, 2);
            put_kernel(&b, "good", &list);
            const size_t at = put_kernel(&b, "bad", &list);
            set32(&b, at + fields[i], values[k]);
            decode(&r, &b);
            assert_int_equal(r.facts_status, DEVIMG_TRUNCATED);
            assert_true(r.facts.kernel_count == DEVIMG_UNKNOWN);
            assert_int_equal(r.facts.core_family, 18); /* known before the damage */
            assert_int_equal(r.status, DEVIMG_TRUNCATED);
            assert_true(r.err.offset > at && r.err.offset <= b.size);
            assert_int_equal(r.sink.kernels.count, 1);
            release(&r);
        }
}

static void kernel_without_a_name_is_malformed(void **state)
{
    (void)state;
    struct bytes b;
    struct result r;
    const struct bytes list = { 0 };
    put_program(&b, 18, 2);
    put_kernel(&b, "good", &list);
    const size_t at = put_kernel(&b, "", &list); /* four NUL */
    decode(&r, &b);
    assert_int_equal(r.status, DEVIMG_MALFORMED);
    assert_int_equal(r.err.offset, at + 40);
    assert_int_equal(r.sink.kernels.count, 1);
    release(&r);
}

static void exported_functions_are_no_kernel(void **state)
{
    (void)state;
    struct bytes b;
    struct result r;
    const struct bytes list = { 0 };
    put_program(&b, 18, 2);
    put_kernel(&b, "Intel_Symbol_Table_Void_Program", &list);
    put_kernel(&b, "k", &list);
    decode(&r, &b);
    assert_int_equal(r.facts.kernel_count, 1);
    assert_int_equal(r.sink.kernels.count, 1);
    assert_string_equal(r.sink.kernels.items[0].name, "k");
    release(&r);
}

static void wrong_headers_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
        enum devimg_status expected;
    } rows[] = {
        { 0, 0x494e5444, DEVIMG_MALFORMED }, /* another magic */
        { 16, 3, DEVIMG_MALFORMED },         /* kernels: two fit at most */
        { 16, UINT32_MAX, DEVIMG_MALFORMED },
        { 24, 4096, DEVIMG_TRUNCATED }, /* tokens of the program */
        { 24, UINT32_MAX, DEVIMG_TRUNCATED },
    };
    const struct bytes list = { 0 };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bytes b;
        struct result r;
        put_program(&b, 18, 1);
        put_kernel(&b, "k", &list);
        set32(&b, rows[i].at, rows[i].value);
        decode(&r, &b);
        assert_int_equal(r.facts_status, rows[i].expected);
        assert_int_equal(r.status, rows[i].expected);
        assert_int_equal(r.sink.kernels.count, 0);
        release(&r);
    }
}

static void other_bytes_are_no_device_binary(void **state)
{
    (void)state;
    static const uint32_t pointer_sizes[] = { 0, 1, 16, 0x20746170 };
    struct bytes b;
    put_program(&b, 18, 0);
    assert_true(dvi_image_patchtoken.match(dvi_view_of(b.data, b.size, "image")));
    assert_false(dvi_image_patchtoken.match(dvi_view_of(b.data, 27, "image")));
    for (size_t i = 0; i < sizeof pointer_sizes / sizeof pointer_sizes[0]; i++) {
        set32(&b, 12, pointer_sizes[i]);
        assert_false(dvi_image_patchtoken.match(dvi_view_of(b.data, b.size, "image")));
    }
    set32(&b, 12, 4); /* hosts of 32 bits */
    assert_true(dvi_image_patchtoken.match(dvi_view_of(b.data, b.size, "image")));
}

static void more_kernels_than_allowed_is_a_limit(void **state)
{
    (void)state;
    struct bytes b;
    struct result r = { .sink.most = 1 };
    const struct bytes list = { 0 };
    put_program(&b, 18, 2);
    put_kernel(&b, "a", &list);
    put_kernel(&b, "b", &list);
    r.sink.arena = &r.arena;
    r.status = dvi_image_patchtoken.kernels(dvi_view_of(b.data, b.size, "image"), &r.sink, &r.err);
    assert_int_equal(r.status, DEVIMG_LIMIT);
    assert_int_equal(r.sink.kernels.count, 1);
    release(&r);
}

static void file_cut_at_any_byte_never_reads_past_it(void **state)
{
    (void)state;
    struct bytes b, list = { 0 };
    TOKEN(&list, 38, 64, 48, 8, 256, 1);
    put_attributes(&list, "intel_reqd_sub_group_size(16)");
    put_environment(&list, 33, 16, 1, 128, 0);
    put_program(&b, 18, 2);
    put_kernel(&b, "a", &list);
    put_kernel(&b, "b", &list);
    for (size_t size = 0; size < b.size; size++) {
        struct result r;
        uint8_t *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy + 1, b.data, size);
        decode_as(&dvi_image_patchtoken, &r, copy + 1, size);
        assert_true(r.facts_status != DEVIMG_OK && r.status != DEVIMG_OK);
        assert_true(r.sink.kernels.count < 2);
        release(&r);
        free(copy);
    }
}

/* Two million tokens of attributes, and as much text in one: no text is looked at twice. */
static void long_lists_take_little_time(void **state)
{
    (void)state;
    enum { TOKENS = 2000000, TEXT = 32 << 20, HEADER = 28, KERNEL = 40 };
    const size_t list_size = (size_t)TOKENS * 16 + 12 + TEXT, start = HEADER + KERNEL + 4;
    uint8_t *data = calloc(start + list_size, 1);
    struct result r;
    struct bytes b = { 0 };
    assert_non_null(data);
    put_program(&b, 18, 1);
    set32(&b, 24, 0);
    memcpy(data, b.data, HEADER);
    set32(&b, 0, 4);
    memcpy(data + HEADER + 12, b.data, 4);
    set32(&b, 0, (uint32_t)list_size);
    memcpy(data + HEADER + 16, b.data, 4);
    data[HEADER + KERNEL] = 'k';
    for (size_t i = 0; i < TOKENS; i++) {
        static const uint8_t token[16] = {
            27, 0, 0, 0, 16, 0, 0, 0, 4, 0, 0, 0, 'i', 'n', 't', 'e'
        };
        memcpy(data + start + i * 16, token, sizeof token);
    }
    uint8_t *last = data + start + (size_t)TOKENS * 16;
    last[0] = 27;
    set32(&b, 0, 12 + TEXT);
    memcpy(last + 4, b.data, 4);
    set32(&b, 0, TEXT);
    memcpy(last + 8, b.data, 4);
    memset(last + 12, 'i', TEXT);
    const clock_t begin = clock();
    decode_as(&dvi_image_patchtoken, &r, data, start + list_size);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
    assert_int_equal(r.status, DEVIMG_OK);
    release(&r);
    free(data);
}

/* --- OpenCL ELF --- */

/* ELF64 with a null section and one of this type over `inner`. */
static void put_elf(struct bytes *b, uint32_t machine, uint32_t type, const struct bytes *inner)
{
    *b = (struct bytes){ 0 };
    put(b, "\177ELF\2\1\0", 8);
    memset(b->data + b->size, 0, 56);
    b->size = 64;
    put(b, inner->data, inner->size);
    set32(b, 16, 0xff04 | machine << 16);
    set32(b, 40, (uint32_t)b->size);
    set32(b, 58, 64 | 2 << 16);
    memset(b->data + b->size, 0, 128);
    set32(b, b->size + 64 + 4, type);
    set32(b, b->size + 64 + 24, 64);
    set32(b, b->size + 64 + 32, (uint32_t)inner->size);
    b->size += 128;
}

static void device_binary_of_an_elf_is_read(void **state)
{
    (void)state;
    struct bytes inner, b, list = { 0 };
    struct result r;
    put_environment(&list, 33, 8, 0, 128, 0);
    put_program(&inner, 0xc07, 1);
    put_kernel(&inner, "k", &list);
    put_elf(&b, 0, 0xff000005, &inner);
    assert_true(dvi_image_oclelf.match(dvi_view_of(b.data, b.size, "image")));
    decode_as(&dvi_image_oclelf, &r, b.data, b.size);
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_int_equal(r.facts.format, DEVIMG_FORMAT_PATCHTOKEN);
    assert_int_equal(r.facts.core_family, 0xc07);
    assert_int_equal(r.facts.kernel_count, 1);
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(r.sink.kernels.count, 1);
    assert_int_equal(r.sink.kernels.items[0].sub_group_size, 8);
    release(&r);
    set32(&b, 64, 0); /* no "CTNI" */
    decode_as(&dvi_image_oclelf, &r, b.data, b.size);
    assert_int_equal(r.facts_status, DEVIMG_MALFORMED);
    assert_int_equal(r.facts_err.offset, 64);
    assert_int_equal(r.status, DEVIMG_MALFORMED);
    release(&r);
}

static void elf_with_neither_part_is_unsupported(void **state)
{
    (void)state;
    struct bytes b;
    struct result r;
    const struct bytes inner = { 0 };
    put_elf(&b, 0, 0xff000006, &inner);
    decode_as(&dvi_image_oclelf, &r, b.data, b.size);
    assert_int_equal(r.facts_status, DEVIMG_UNSUPPORTED);
    assert_int_equal(r.status, DEVIMG_END);
    release(&r);
}

/* Measured: e_machine 62 and section types 0 in the binary of intel-opencl-rt 2026.2. */
static void elf_for_a_cpu_is_named_and_not_read(void **state)
{
    (void)state;
    struct bytes b;
    struct result r;
    const struct bytes inner = { .data = "\177ELF", .size = 4 };
    put_elf(&b, 62, 0, &inner);
    assert_true(dvi_image_oclelf.match(dvi_view_of(b.data, b.size, "image")));
    decode_as(&dvi_image_oclelf, &r, b.data, b.size);
    assert_int_equal(r.facts_status, DEVIMG_OK);
    assert_int_equal(r.facts.format, DEVIMG_FORMAT_UNKNOWN);
    assert_string_equal(r.facts.target, "spir64_x86_64");
    assert_true(r.facts.kernel_count == DEVIMG_UNKNOWN);
    assert_int_equal(r.status, DEVIMG_END);
    release(&r);
    put_elf(&b, 183, 0, &inner); /* no such runtime is known for AArch64 */
    assert_false(dvi_image_oclelf.match(dvi_view_of(b.data, b.size, "image")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_gives_family_stepping_version_and_count),
        cmocka_unit_test(tokens_give_all_numbers),
        cmocka_unit_test(absent_tokens_mean_no_memory_and_unknown_numbers),
        cmocka_unit_test(short_environment_leaves_the_rest_unknown),
        cmocka_unit_test(barrier_code_stands_for_a_count),
        cmocka_unit_test(private_memory_counts_once_a_lane),
        cmocka_unit_test(private_memory_within_scratch_is_unknown),
        cmocka_unit_test(memory_of_unknown_lanes_or_words_is_unknown),
        cmocka_unit_test(attributes_are_texts_of_any_content),
        cmocka_unit_test(damaged_tokens_are_told_by_their_offset),
        cmocka_unit_test(bytes_too_few_for_a_token_end_the_list),
        cmocka_unit_test(damaged_kernels_keep_those_before_them),
        cmocka_unit_test(kernel_without_a_name_is_malformed),
        cmocka_unit_test(exported_functions_are_no_kernel),
        cmocka_unit_test(wrong_headers_are_refused),
        cmocka_unit_test(other_bytes_are_no_device_binary),
        cmocka_unit_test(more_kernels_than_allowed_is_a_limit),
        cmocka_unit_test(file_cut_at_any_byte_never_reads_past_it),
        cmocka_unit_test(long_lists_take_little_time),
        cmocka_unit_test(device_binary_of_an_elf_is_read),
        cmocka_unit_test(elf_with_neither_part_is_unsupported),
        cmocka_unit_test(elf_for_a_cpu_is_named_and_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
