/* SPDX-License-Identifier: Apache-2.0 */
/* The gate alone: (list, request, stage 1) to a verdict. Expected: docs/requirements.md S0, D1-D6. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sycl/detect.h"

struct asked {
    const char *request;
    bool stage1, exact;
    const char *list;
};

static void decide(const struct asked *a, struct dvi_detection *d, struct dvi_arena *arena)
{
    const struct dvi_detect_options options = { .request = a->request,
                                                .sycl_ls = "/nowhere/sycl-ls",
                                                .seconds = 1,
                                                .exact = a->exact,
                                                .gate_only = true,
                                                .stage1 = a->stage1 };
    assert_int_equal(dvi_detect_targets(d, a->list, arena, NULL), DEVIMG_OK);
    assert_int_equal(dvi_detect(&options, d, arena, NULL), DEVIMG_OK);
}

static void free_all(struct dvi_detection *d, struct dvi_arena *arena)
{
    dvi_detection_free(d);
    dvi_arena_free(arena);
}

static void verdicts(void **state)
{
    (void)state;
    static const struct {
        struct asked asked;
        bool has_cpu;
    } cases[] = {
        /* S0-14: no entry matches */
        { { "auto", true, false, "nvidia_gpu_sm_89" }, false },
        { { "auto", true, false, "" }, false },
        /* S0-26, D4: by substring, and exactly */
        { { "auto", true, false, "spir64_gen" }, true },
        { { "auto", true, false, "spir64" }, true },
        { { "auto", true, false, "my_cpu" }, true },
        { { "auto", true, true, "spir64_gen,my_cpu" }, false },
        { { "auto", true, true, "spir64_gen,native_cpu" }, true },
        /* D5: no CPU device was found */
        { { "auto", false, false, "native_cpu" }, true },
        { { "auto", false, false, "nvidia_gpu_sm_89,spir64_x86_64" }, true },
        { { "auto", false, false, "spir64_gen" }, false },
        { { "auto", false, false, "spir64,my_cpu" }, false },
        { { NULL, false, false, "" }, false },
        /* S0-13, D1: an explicit target that the list lacks */
        { { "native_cpu", false, false, "native_cpu" }, true },
        { { "native_cpu", false, false, "nvidia_gpu_sm_89" }, false },
        { { "spir64_x86_64", true, false, "" }, false },
        /* S0-15, D3: none forces off */
        { { "none", true, false, "native_cpu,spir64_x86_64,spir64" }, false },
        /* S0-10, D6: anything else acts as auto */
        { { "NONE", true, false, "spir64_x86_64" }, true },
        { { "OFF", false, false, "spir64_gen" }, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dvi_detection d = { 0 };
        struct dvi_arena arena = { 0 };
        decide(&cases[i].asked, &d, &arena);
        if (d.has_cpu != cases[i].has_cpu)
            fail_msg("case %zu: request %s, list \"%s\"", i,
                     cases[i].asked.request != NULL ? cases[i].asked.request : "-",
                     cases[i].asked.list);
        free_all(&d, &arena);
    }
}

static void none_removes_cpu_targets_and_nothing_else(void **state)
{
    (void)state;
    struct dvi_detection d = { 0 };
    struct dvi_arena arena = { 0 };
    decide(&(struct asked){ "none", false, false,
                            "spir64_gen,native_cpu,spir64,spir64_x86_64,my_cpu" },
           &d, &arena);
    assert_int_equal(d.targets.count, 3);
    assert_string_equal(d.targets.items[0], "spir64_gen");
    assert_string_equal(d.targets.items[1], "spir64");
    assert_string_equal(d.targets.items[2], "my_cpu");
    free_all(&d, &arena);
}

static void what_matched_is_told(void **state)
{
    (void)state;
    struct dvi_detection d = { 0 };
    struct dvi_arena arena = { 0 };
    decide(&(struct asked){ "auto", true, false, "nvidia_gpu_sm_89,spir64_gen" }, &d, &arena);
    assert_string_equal(d.matched, "spir64_gen");
    assert_false(d.matched_cpu);
    assert_true(d.has_gpu);
    free_all(&d, &arena);
    d = (struct dvi_detection){ 0 };
    decide(&(struct asked){ "auto", true, false, "spir64_gen,native_cpu" }, &d, &arena);
    assert_string_equal(d.matched, "native_cpu");
    assert_true(d.matched_cpu);
    free_all(&d, &arena);
}

static void lists_are_read_as_d8_says(void **state)
{
    (void)state;
    struct dvi_detection d = { 0 };
    struct dvi_arena arena = { 0 };
    assert_int_equal(dvi_detect_targets(&d, " SPIR64_GEN,, spir64_gen\t,\nSpir64 ,", &arena, NULL),
                     DEVIMG_OK);
    assert_int_equal(dvi_detect_targets(&d, "spir64, ,", &arena, NULL), DEVIMG_OK);
    assert_int_equal(d.targets.count, 2);
    assert_string_equal(d.targets.items[0], "spir64_gen");
    assert_string_equal(d.targets.items[1], "spir64");
    assert_int_equal(d.warnings.count, 2);
    free_all(&d, &arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(none_removes_cpu_targets_and_nothing_else),
        cmocka_unit_test(what_matched_is_told),
        cmocka_unit_test(lists_are_read_as_d8_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
