/* SPDX-License-Identifier: Apache-2.0 */
/* image/ze_info. Texts follow intel-graphics-compiler IGC/ZEBinWriter/zebin/spec/zeinfo.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "image/ze_info.h"

struct result {
    struct dvi_arena arena;
    struct dvi_kernel_sink sink;
    enum devimg_status status;
    struct devimg_error err;
};

static void read_bytes(struct result *r, const char *text, size_t size)
{
    *r = (struct result){ .sink.most = 100000 };
    r->sink.arena = &r->arena;
    r->status = dvi_ze_info_kernels(dvi_view_of(text, size, "info"), &r->sink, &r->err);
}

static void read_text(struct result *r, const char *text)
{
    read_bytes(r, text, strlen(text));
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

static void kernel_with_everything_is_read(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "---\n"
                  "version:         '1.53'\n"
                  "kernels:\n"
                  "  - name:            _ZTS1a\n"
                  "    user_attributes:\n"
                  "      intel_reqd_sub_group_size: 16\n"
                  "    execution_env:\n"
                  "      barrier_count:   1\n"
                  "      grf_count:       256\n"
                  "      has_dpas:        true\n"
                  "      private_size:    512\n"
                  "      simd_size:       32\n"
                  "      slm_size:        4096\n"
                  "      spill_size:      64\n"
                  "    payload_arguments:\n"
                  "      - arg_type:        arg_bypointer\n"
                  "        size:            8\n"
                  "    per_thread_memory_buffers:\n"
                  "      - type:            scratch\n"
                  "        usage:           single_space\n"
                  "        size:            128\n"
                  "        slot:            0\n"
                  "functions:\n"
                  "  - name:            helper\n"
                  "...\n");
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(r.sink.kernels.count, 1);
    assert_string_equal(kernel(&r, 0)->name, "_ZTS1a");
    assert_int_equal(kernel(&r, 0)->required_sub_group_size, 16);
    assert_int_equal(kernel(&r, 0)->sub_group_size, 32);
    assert_int_equal(kernel(&r, 0)->registers, 256);
    assert_int_equal(kernel(&r, 0)->private_size, 512);
    assert_int_equal(kernel(&r, 0)->spill_size, 64);
    assert_int_equal(kernel(&r, 0)->slm_size, 4096);
    assert_int_equal(kernel(&r, 0)->barrier_count, 1);
    assert_int_equal(kernel(&r, 0)->scratch_size, 128);
    assert_int_equal(kernel(&r, 0)->features, DEVIMG_FEATURE_MATRIX);
    release(&r);
}

static void size_left_out_is_0_from_1_50_on_and_unknown_before(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        uint64_t expected;
    } rows[] = { { "'1.50'", 0 },
                 { "1.62", 0 },
                 { "\"2.0\"", 0 },
                 { "'1.49'", DEVIMG_UNKNOWN },
                 { "'1.20'", DEVIMG_UNKNOWN },
                 { "1.9", DEVIMG_UNKNOWN },
                 { "'x'", DEVIMG_UNKNOWN } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[200];
        struct result r;
        (void)snprintf(text, sizeof text, "version: %s\nkernels: [{name: k, execution_env: {}}]",
                       rows[i].version);
        read_text(&r, text);
        assert_int_equal(r.status, DEVIMG_OK);
        assert_true(kernel(&r, 0)->spill_size == rows[i].expected);
        assert_true(kernel(&r, 0)->private_size == rows[i].expected);
        assert_true(kernel(&r, 0)->required_sub_group_size == DEVIMG_UNKNOWN);
        assert_true(kernel(&r, 0)->sub_group_size == DEVIMG_UNKNOWN);
        assert_true(kernel(&r, 0)->registers == DEVIMG_UNKNOWN);
        assert_int_equal(kernel(&r, 0)->slm_size, 0); /* the default of zeinfo.md */
        assert_int_equal(kernel(&r, 0)->scratch_size, 0);
        release(&r);
    }
}

static void required_size_is_read_from_both_places(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "kernels:\n"
                  "- name: a\n  execution_env: {required_sub_group_size: 8}\n"
                  "- name: b\n  user_attributes: {intel_reqd_sub_group_size: 32}\n"
                  "- name: c\n  user_attributes: {required_sub_group_size: 8}\n"
                  "  execution_env: {intel_reqd_sub_group_size: 8}\n"
                  "  other: {required_sub_group_size: 8}\n");
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(kernel(&r, 0)->required_sub_group_size, 8);
    assert_int_equal(kernel(&r, 1)->required_sub_group_size, 32);
    assert_true(kernel(&r, 2)->required_sub_group_size == DEVIMG_UNKNOWN);
    release(&r);
}

/* zeinfo.md: required_sub_group_size, "default 0": none is required. */
static void required_size_0_requires_none(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "kernels:\n- name: a\n  execution_env: {required_sub_group_size: 0}\n"
                  "- name: b\n  user_attributes: {intel_reqd_sub_group_size: 16}\n"
                  "  execution_env: {required_sub_group_size: 0}\n");
    assert_int_equal(r.status, DEVIMG_OK);
    assert_true(kernel(&r, 0)->required_sub_group_size == DEVIMG_UNKNOWN);
    assert_int_equal(kernel(&r, 1)->required_sub_group_size, 16);
    release(&r);
}

static void names_may_be_quoted(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "kernels:\n- name: 'it''s'\n- name: \"a\\tb: c\"\n- name: plain::name<int>\n"
                  "- 'name': x\n");
    assert_int_equal(r.status, DEVIMG_OK);
    assert_string_equal(kernel(&r, 0)->name, "it's");
    assert_string_equal(kernel(&r, 1)->name, "a\tb: c");
    assert_string_equal(kernel(&r, 2)->name, "plain::name<int>");
    assert_string_equal(kernel(&r, 3)->name, "x");
    release(&r);
}

/* libbitsandbytes_xpu2025.so, mtl-u: private_size 512 beside a buffer of 16 for SIMD 32. The driver
 * multiplies so too: intel/compute-runtime, zebin_decoder, "isSimtThread". */
static void buffer_of_one_work_item_counts_for_each_lane(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "kernels:\n"
                  "- name: a\n  execution_env: {simd_size: 32}\n  per_thread_memory_buffers:\n"
                  "  - {type: global, usage: private_space, size: 16, is_simt_thread: true}\n"
                  "- name: b\n  per_thread_memory_buffers:\n"
                  "  - {type: scratch, size: 64, is_simt_thread: false}\n"
                  "  - {type: global, size: 3, is_simt_thread: true}\n"
                  "  execution_env: {simd_size: 16}\n"
                  "- name: c\n  per_thread_memory_buffers:\n"
                  "  - {type: global, size: 3, is_simt_thread: true}\n");
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(kernel(&r, 0)->scratch_size, 512);
    assert_int_equal(kernel(&r, 1)->scratch_size, 64);
    assert_true(kernel(&r, 2)->scratch_size == DEVIMG_UNKNOWN); /* no SIMD size to count with */
    release(&r);
}

static void scratch_is_the_largest_scratch_or_global_buffer(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "kernels:\n"
                  "- name: a\n  per_thread_memory_buffers:\n"
                  "  - {type: scratch, usage: spill_fill_space, size: 64}\n"
                  "  - {size: 192, type: global, usage: private_space}\n"
                  "  - {type: slm, usage: single_space, size: 9999}\n"
                  "- name: b\n  per_thread_memory_buffers:\n"
                  "  - {type: slm, size: 16}\n"
                  "- name: c\n");
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(kernel(&r, 0)->scratch_size, 192);
    assert_int_equal(kernel(&r, 1)->scratch_size, 0);
    assert_int_equal(kernel(&r, 2)->scratch_size, 0);
    release(&r);
}

static void what_one_kernel_states_is_not_the_next_ones(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "kernels:\n"
                  "- name: a\n  execution_env: {has_dpas: true, grf_count: 256, slm_size: 4}\n"
                  "  user_attributes: {intel_reqd_sub_group_size: 8}\n"
                  "- name: b\n  execution_env: {has_dpas: false}\n");
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(kernel(&r, 1)->features, 0);
    assert_int_equal(kernel(&r, 1)->slm_size, 0);
    assert_true(kernel(&r, 1)->registers == DEVIMG_UNKNOWN);
    assert_true(kernel(&r, 1)->required_sub_group_size == DEVIMG_UNKNOWN);
    release(&r);
}

static void kernel_without_a_name_is_malformed(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "kernels:\n- name: a\n- execution_env: {simd_size: 8}\n");
    assert_int_equal(r.status, DEVIMG_MALFORMED);
    assert_non_null(strstr(r.err.text, "without a name"));
    assert_int_equal(r.sink.kernels.count, 1); /* what stood before it is kept */
    release(&r);
}

static void wrong_number_names_its_line(void **state)
{
    (void)state;
    static const char *const values[] = {
        "eight", "-8", "8.0", "0x10", "''", "99999999999999999999"
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[200];
        struct result r;
        (void)snprintf(text, sizeof text,
                       "kernels:\n- name: a\n  execution_env:\n    simd_size: %s\n", values[i]);
        read_text(&r, text);
        assert_int_equal(r.status, DEVIMG_MALFORMED);
        assert_string_equal(r.err.text, ".ze_info line 4, column 16: expected a number");
        assert_int_equal(r.err.offset, 9 + 10 + 17 + 15);
        release(&r);
    }
}

static void aliases_and_keys_that_are_no_text_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "kernels:\n- &a {name: x}\n- *a\n",
        "kernels:\n- name: &n x\n- name: *n\n",
        "kernels:\n- {? {a: b} : name, name: x}\n",
        "? [a]\n: b\nkernels: []\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct result r;
        read_text(&r, texts[i]);
        assert_int_equal(r.status, DEVIMG_MALFORMED);
        release(&r);
    }
}

static void nothing_is_read_behind_the_kernels(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "kernels:\n- name: a\nfunctions: [\n  }}} no YAML\n");
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(r.sink.kernels.count, 1);
    release(&r);
}

static void nothing_is_read_behind_the_document(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "---\nversion: '1.50'\n...\n---\nkernels:\n- name: a\n");
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(r.sink.kernels.count, 0);
    release(&r);
}

static void trailing_nuls_are_no_part_of_the_text(void **state)
{
    (void)state;
    static const char text[] = "kernels:\n- name: a\n...\n\0\0\0\0";
    struct result r;
    read_bytes(&r, text, sizeof text);
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(r.sink.kernels.count, 1);
    release(&r);
}

static void texts_without_kernels_have_none(void **state)
{
    (void)state;
    static const char *const good[] = { "",         "version: '1.50'\n",           "kernels: []\n",
                                        "[a, b]\n", "a: {kernels: [{name: x}]}\n", "kernels:\n" };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct result r;
        read_text(&r, good[i]);
        assert_int_equal(r.status, DEVIMG_OK);
        assert_int_equal(r.sink.kernels.count, 0);
        release(&r);
    }
}

static void a_scalar_alone_is_malformed(void **state)
{
    (void)state;
    struct result r;
    read_text(&r, "just text\n");
    assert_int_equal(r.status, DEVIMG_MALFORMED);
    release(&r);
    read_text(&r, "---\n...\n"); /* an empty one */
    assert_int_equal(r.status, DEVIMG_MALFORMED);
    release(&r);
}

static void bytes_that_are_no_utf8_are_malformed_where_they_stand(void **state)
{
    (void)state;
    struct result r;
    static const char text[] = "kernels:\n- name: k\n- name: \xff\n";
    read_text(&r, text);
    assert_int_equal(r.status, DEVIMG_MALFORMED);
    assert_int_equal(r.err.offset, strchr(text, 0xff) - text);
    assert_non_null(strstr(r.err.text, "UTF-8"));
    release(&r);
}

static void kernels_past_the_limit_are_limit(void **state)
{
    (void)state;
    struct dvi_arena arena = { 0 };
    struct dvi_kernel_sink sink = { .arena = &arena, .most = 1 };
    struct devimg_error err = { 0 };
    static const char text[] = "kernels:\n- name: a\n- name: b\n";
    assert_int_equal(dvi_ze_info_kernels(dvi_view_of(text, sizeof text - 1, "info"), &sink, &err),
                     DEVIMG_LIMIT);
    assert_non_null(strstr(err.text, "max-kernels"));
    DVI_LIST_FREE(&sink.kernels);
    dvi_arena_free(&arena);
}

static void nesting_past_16_is_malformed(void **state)
{
    (void)state;
    for (int deep = 14; deep <= 18; deep++) {
        char text[200] = "x: ";
        struct result r;
        for (int i = 0; i < deep; i++)
            strcat(text, "[");
        for (int i = 0; i < deep; i++)
            strcat(text, "]");
        read_text(&r, text);
        assert_int_equal(r.status, deep <= 15 ? DEVIMG_OK : DEVIMG_MALFORMED);
        release(&r);
    }
}

/* --- hostile texts of about 1 MB --- */

static void hostile(const char *first, const char *unit, const char *last)
{
    enum { SIZE = 1000000, SECONDS = 10 }; /* what is not linear takes minutes */
    const size_t unit_size = strlen(unit), first_size = strlen(first);
    char *text = malloc(SIZE + 200);
    struct result r;
    assert_non_null(text);
    memcpy(text, first, first_size);
    size_t size = first_size;
    while (size < SIZE) {
        memcpy(text + size, unit, unit_size);
        size += unit_size;
    }
    memcpy(text + size, last, strlen(last));
    const clock_t start = clock();
    read_bytes(&r, text, size + strlen(last));
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (seconds >= (double)SECONDS)
        fail_msg("%.1f s for 1 MB of \"%s\"", seconds, unit);
    release(&r);
    free(text);
}

static void deep_nesting_takes_little_time(void **state)
{
    (void)state;
    hostile("", "[", "");
    hostile("", "{", "");
    hostile("", "{a: ", "");
    hostile("", "- ", "");
    hostile("", "? ", "");
    hostile("", "[{", "");
    hostile("", "a:\n- ", "");
    hostile("kernels:\n- name: a\n  x: ", "[\n", "");
}

static void anchors_and_tags_take_little_time(void **state)
{
    (void)state;
    hostile("", "&a ", "");
    hostile("[", "&a b, ", "]");
    hostile("&", "a", "");
    hostile("*", "a", "");
    hostile("!", "a", " x");
    hostile("!<", "a", ">");
    hostile("[", "!a b, ", "]");
}

/* libyaml compares each directive with all before it. */
static void directives_take_little_time(void **state)
{
    (void)state;
    enum { COUNT = 60000 };
    char *text = malloc((size_t)COUNT * 20), *at = text;
    struct result r;
    assert_non_null(text);
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at, "%%TAG !%d! x\n", i);
    const clock_t start = clock();
    read_bytes(&r, text, (size_t)(at - text));
    assert_true((clock() - start) / CLOCKS_PER_SEC < 1);
    assert_int_equal(r.status, DEVIMG_MALFORMED);
    release(&r);
    free(text);
    read_text(&r, "%YAML 1.1\n# IGC\n---\nkernels:\n- name: a\n");
    assert_int_equal(r.status, DEVIMG_OK);
    assert_int_equal(r.sink.kernels.count, 1);
    release(&r);
    hostile("", "%X\n", "");
    hostile("--- a\n", "...\n--- a\n", "");
    hostile("", "---\n", "");
}

static void long_scalars_take_little_time(void **state)
{
    (void)state;
    hostile("kernels:\n- name: ", "a", "\n");
    hostile("kernels:\n- name: ", "a ", "\n");
    hostile("kernels:\n- name: ", "a\n   ", "\n");
    hostile("kernels:\n- name: '", "a\n ", "'\n");
    hostile("kernels:\n- name: \"", "\\n", "\"\n");
    hostile("kernels:\n- name: |\n", "   a\n", "\n");
    hostile("kernels:\n- name: >\n", "   a\n\n", "\n");
    hostile("", "a", ": b");
    hostile("'", "a", "': b");
}

static void white_space_and_comments_take_little_time(void **state)
{
    (void)state;
    hostile("", "\t", "");
    hostile("kernels:\n- name:", "\t", "a");
    hostile("", " ", "a: b");
    hostile("", "\n", "a: b");
    hostile("", "#\n", "a: b");
    hostile("#", "#", "\na: b");
    hostile("kernels:\n- name: a\n", "\n", "- name: b");
    hostile("", "\r", "");
}

static void many_lines_of_one_kernel_take_little_time(void **state)
{
    (void)state;
    hostile("kernels:\n- name: a\n  execution_env:\n", "    simd_size: 8\n", "");
    hostile("kernels:\n- name: a\n", "  name: b\n", "");
    hostile("kernels:\n- name: a\n  per_thread_memory_buffers:\n", "  - {type: scratch, size: 8}\n",
            "");
    hostile("kernels:\n- name: a\n  x: [", "a,", "]\n");
    hostile("kernels:\n- name: a\n  x: {", "a,", "}\n");
    hostile("kernels:\n- {name: a", ", x: y", "}\n");
    hostile("kernels:\n", "- name: a\n", "");
    hostile("", "a: b\n", "");
    hostile("", "a: ", "");
    hostile("", "\xff\xfe", "");
    hostile("", "\xc3", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_with_everything_is_read),
        cmocka_unit_test(size_left_out_is_0_from_1_50_on_and_unknown_before),
        cmocka_unit_test(required_size_is_read_from_both_places),
        cmocka_unit_test(required_size_0_requires_none),
        cmocka_unit_test(names_may_be_quoted),
        cmocka_unit_test(buffer_of_one_work_item_counts_for_each_lane),
        cmocka_unit_test(scratch_is_the_largest_scratch_or_global_buffer),
        cmocka_unit_test(what_one_kernel_states_is_not_the_next_ones),
        cmocka_unit_test(kernel_without_a_name_is_malformed),
        cmocka_unit_test(wrong_number_names_its_line),
        cmocka_unit_test(aliases_and_keys_that_are_no_text_are_refused),
        cmocka_unit_test(nothing_is_read_behind_the_kernels),
        cmocka_unit_test(nothing_is_read_behind_the_document),
        cmocka_unit_test(trailing_nuls_are_no_part_of_the_text),
        cmocka_unit_test(texts_without_kernels_have_none),
        cmocka_unit_test(a_scalar_alone_is_malformed),
        cmocka_unit_test(bytes_that_are_no_utf8_are_malformed_where_they_stand),
        cmocka_unit_test(kernels_past_the_limit_are_limit),
        cmocka_unit_test(nesting_past_16_is_malformed),
        cmocka_unit_test(deep_nesting_takes_little_time),
        cmocka_unit_test(anchors_and_tags_take_little_time),
        cmocka_unit_test(directives_take_little_time),
        cmocka_unit_test(long_scalars_take_little_time),
        cmocka_unit_test(white_space_and_comments_take_little_time),
        cmocka_unit_test(many_lines_of_one_kernel_take_little_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
