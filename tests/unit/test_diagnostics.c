/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers say of kernels that they refuse: S1-28. The logs of ocloc (22.43), nvcc and ptxas (13)
 * and clang were printed by them; those of icpx are as the requirement and intel/llvm have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sycl/diagnostics.h"

enum { MOST = 3 };

struct row {
    const char *log;
    struct dvi_diagnostic expected[MOST]; /* up to one without a message */
};

static const uint64_t no = DEVIMG_UNKNOWN;

static void check(const struct row *row)
{
    struct dvi_arena arena = { 0 };
    struct dvi_diagnostics found = { 0 };
    size_t count = 0;
    assert_int_equal(dvi_diagnostics_read(row->log, &arena, &found, NULL), DEVIMG_OK);
    while (count < MOST && row->expected[count].message != NULL)
        count++;
    assert_int_equal(found.list.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct dvi_diagnostic *d = &found.list.items[i], *e = &row->expected[i];
        assert_string_equal(d->message, e->message);
        assert_string_equal(d->kernel != NULL ? d->kernel : "", e->kernel != NULL ? e->kernel : "");
        assert_true(d->sub_group_size == e->sub_group_size);
    }
    DVI_LIST_FREE(&found.list);
    dvi_arena_free(&arena);
}

/* S1-28: whether IGC ended at the first kernel, and whether some were left out. */
static void failures_that_are_not_all(void **state)
{
    static const char one[] = "error: Kernel compiled with required subgroup size 8, which is "
                              "unsupported on this platform\nin kernel: 'k'\n";
    const struct {
        const char *log;
        size_t errors; /* further ones, each another */
        bool first_only, cut;
    } rows[] = {
        { one, 0, true, false },
        { "[lnl-m] error: in kernel 'a': Kernel compiled with required subgroup size 8\n", 0, true,
          false },
        { "[lnl-m] error: in kernel 'a': no\n[lnl-m] error: in kernel 'b': no\n", 0, false, false },
        { "ptxas error   : Entry function 'k' uses too much shared data\n", 0, false, false },
        { "a.cpp:1:1: error: no\n", DVI_MOST_DIAGNOSTICS - 1, false, false },
        { "a.cpp:1:1: error: no\n", DVI_MOST_DIAGNOSTICS, false, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char log[8192];
        struct dvi_arena arena = { 0 };
        struct dvi_diagnostics found = { 0 };
        int size = snprintf(log, sizeof log, "%s", rows[i].log);
        for (size_t k = 0; k < rows[i].errors; k++)
            size += snprintf(log + size, sizeof log - (size_t)size, "a.cpp:2:%zu: error: no\n", k);
        assert_int_equal(dvi_diagnostics_read(log, &arena, &found, NULL), DEVIMG_OK);
        assert_int_equal(found.first_only, rows[i].first_only);
        assert_int_equal(found.cut, rows[i].cut);
        DVI_LIST_FREE(&found.list);
        dvi_arena_free(&arena);
    }
}

static void ocloc_and_igc(void **state)
{
    const struct row rows[] = {
        { "\nerror: Kernel compiled with required subgroup size 8, which is unsupported on this "
          "platform\nin kernel: 'narrow'\nerror: backend compiler failed build.\n\nBuild failed "
          "with error code: -11\nCommand was: ocloc compile -file n.cl -device pvc\n",
          { { "narrow", 8,
              "Kernel compiled with required subgroup size 8, which is unsupported on this "
              "platform" } } },
        { "1:1:26: warning: unsupported OpenCL extension 'cl_khr_fp64' - ignoring\n"
          "1:2:28: error: use of type 'double' requires cl_khr_fp64 support\n"
          "__kernel void dbl(__global double *a) { a[get_global_id(0)] *= 2.0; }\n"
          "                           ^\n",
          { { NULL, no, "1:2:28: use of type 'double' requires cl_khr_fp64 support" } } },
        { "Error: Cannot get HW Info for device lnl-m.\nCommand was: ocloc compile\n",
          { { NULL, no, "Cannot get HW Info for device lnl-m." } } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

static void icpx_names_the_target_before_and_itself_behind(void **state)
{
    const struct row rows[] = {
        { "Compilation from IR - skipping loading of FCL\n"
          "[lnl-m] error: in kernel 'typeinfo name for f(int)::k': Kernel compiled with required "
          "subgroup size 8, which is unsupported on this platform\n"
          "error: backend compiler failed build.\n"
          "icpx: error: gen compiler command failed with exit code 1 (use -v to see invocation)\n",
          { { "typeinfo name for f(int)::k", 8,
              "Kernel compiled with required subgroup size 8, which is unsupported on this "
              "platform" } } },
        { "llvm-foreach: Segmentation fault\n"
          "icpx: error: gen compiler command failed due to signal (use -v to see invocation)\n",
          { { NULL, no,
              "gen compiler command failed due to signal (use -v to see invocation)" } } },
        { "a.cpp:3:5: error: use of undeclared identifier 'x'\n    3 |     x;\n      |     ^\n"
          "1 error generated.\n",
          { { NULL, no, "a.cpp:3:5: use of undeclared identifier 'x'" } } },
        { "a.cpp:1:10: fatal error: 'nope.hpp' file not found\n",
          { { NULL, no, "a.cpp:1:10: 'nope.hpp' file not found" } } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

static void nvcc_and_ptxas(void **state)
{
    const struct row rows[] = {
        { "a.cu(12): error: identifier \"x\" is undefined\n\n1 error detected in the compilation of "
          "\"a.cu\".\n",
          { { NULL, no, "a.cu(12): identifier \"x\" is undefined" } } },
        { "ptxas error   : Entry function '_Z3bigPi' uses too much shared data (0x20000 bytes, "
          "0xc000 max)\n",
          { { "_Z3bigPi", no,
              "Entry function '_Z3bigPi' uses too much shared data (0x20000 bytes, 0xc000 max)" } } },
        { "ptxas /tmp/x-6_tma.ptx, line 26; error   : Modifier '.wait' requires .target sm_90 or "
          "higher\nptxas fatal   : Ptx assembly aborted due to errors\n",
          { { NULL, no, "Modifier '.wait' requires .target sm_90 or higher" } } },
        { "nvcc fatal   : Unsupported gpu architecture 'compute_10'\n",
          { { NULL, no, "Unsupported gpu architecture 'compute_10'" } } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

static void every_kernel_and_none_twice(void **state)
{
    const struct row row = { "error: in kernel 'a': required sub-group size 8 is unsupported\n"
                             "error: in kernel 'b': required sub-group size 8 is unsupported\n"
                             "error: in kernel 'a': required sub-group size 8 is unsupported\n"
                             "a.cpp:1:2: error: x\na.cpp:1:2: error: x\n",
                             { { "a", 8, "required sub-group size 8 is unsupported" },
                               { "b", 8, "required sub-group size 8 is unsupported" },
                               { NULL, no, "a.cpp:1:2: x" } } };
    (void)state;
    check(&row);
}

/* More of them than are kept, but not more than one kind. */
static void a_message_behind_many_equal_ones_is_seen(void **state)
{
    static const char same[] = "error: x\nin kernel: 'a'\n", last[] = "error: y\nin kernel: 'b'\n";
    char log[2 * DVI_MOST_DIAGNOSTICS * (sizeof same - 1) + sizeof last] = "";
    const struct row row = { log, { { "a", no, "x" }, { "b", no, "y" } } };
    (void)state;
    for (size_t i = 0; i < (size_t)2 * DVI_MOST_DIAGNOSTICS; i++)
        strcat(log, same);
    strcat(log, last);
    check(&row);
}

static void the_kernel_of_a_message_past_the_limit_is_not_that_of_the_last_one(void **state)
{
    char log[(DVI_MOST_DIAGNOSTICS + 1) * 16 + 32] = "";
    struct dvi_arena arena = { 0 };
    struct dvi_diagnostics found = { 0 };
    (void)state;
    for (int i = 0; i <= DVI_MOST_DIAGNOSTICS; i++)
        (void)snprintf(log + strlen(log), 16, "error: n%d\n", i);
    strcat(log, "in kernel: 'k'\n");
    assert_int_equal(dvi_diagnostics_read(log, &arena, &found, NULL), DEVIMG_OK);
    assert_int_equal(found.list.count, DVI_MOST_DIAGNOSTICS);
    assert_null(found.list.items[DVI_MOST_DIAGNOSTICS - 1].kernel);
    DVI_LIST_FREE(&found.list);
    dvi_arena_free(&arena);
}

static void what_is_no_error_of_any_form(void **state)
{
    const struct row rows[] = {
        { "Illegal instruction\n", { { NULL, no, "Illegal instruction" } } },
        { "", { { NULL, 0, NULL } } },
        { "\n \n\t\n", { { NULL, 0, NULL } } },
        { "terror: b\n", { { NULL, no, "terror: b" } } },
        { "error: in kernel '\n", { { NULL, no, "in kernel '" } } },
        { "error:\n", { { NULL, no, "" } } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_that_are_not_all),
        cmocka_unit_test(ocloc_and_igc),
        cmocka_unit_test(icpx_names_the_target_before_and_itself_behind),
        cmocka_unit_test(nvcc_and_ptxas),
        cmocka_unit_test(every_kernel_and_none_twice),
        cmocka_unit_test(a_message_behind_many_equal_ones_is_seen),
        cmocka_unit_test(the_kernel_of_a_message_past_the_limit_is_not_that_of_the_last_one),
        cmocka_unit_test(what_is_no_error_of_any_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
