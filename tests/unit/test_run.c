/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are run: what they print, how they end, and that they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/run.h"

static struct dvi_ran run_shell(const char *script, unsigned seconds, size_t most)
{
    const char *const argv[] = { "sh", "-c", script, NULL };
    struct dvi_ran ran = { 0 };
    assert_int_equal(dvi_run(argv, seconds, most, &ran, NULL), DEVIMG_OK);
    return ran;
}

static void both_outputs_and_the_status(void **state)
{
    (void)state;
    struct dvi_ran ran = run_shell("echo out; echo err >&2; cat; exit 7", 20, 1000);
    assert_string_equal(ran.output, "out\n");
    assert_string_equal(ran.errors, "err\n");
    assert_int_equal(ran.exit_code, 7);
    assert_false(ran.timed_out || ran.cut);
    dvi_ran_free(&ran);
}

static void more_than_is_kept(void **state)
{
    (void)state;
    struct dvi_ran ran =
        run_shell("i=0; while [ $i -lt 3000 ]; do echo 0123456789; i=$((i+1)); done; "
                  "echo e >&2",
                  20, 16);
    assert_int_equal(ran.output_size, 16);
    assert_string_equal(ran.errors, "e\n");
    assert_int_equal(ran.exit_code, 0);
    assert_true(ran.cut);
    dvi_ran_free(&ran);
}

static void a_signal_is_no_status(void **state)
{
    (void)state;
    struct dvi_ran ran = run_shell("kill -SEGV $$", 20, 16);
    assert_int_equal(ran.exit_code, -1);
    assert_false(ran.timed_out);
    dvi_ran_free(&ran);
}

static void what_hangs_is_stopped_with_its_children(void **state)
{
    (void)state;
    const time_t start = time(NULL);
    struct dvi_ran ran = run_shell("echo first; sleep 60 & sleep 60", 1, 100);
    assert_true(time(NULL) - start < 30);
    assert_true(ran.timed_out);
    assert_int_equal(ran.exit_code, -1);
    assert_string_equal(ran.output, "first\n");
    dvi_ran_free(&ran);
}

static void what_is_stopped_may_tidy_up(void **state)
{
    (void)state;
    const time_t start = time(NULL);
    struct dvi_ran ran = run_shell("trap 'rm -f \"$f\"; exit 1' TERM; f=$(mktemp) && echo \"$f\"; "
                                   "while :; do sleep 0.05; done",
                                   1, 100);
    assert_true(ran.timed_out);
    assert_true(ran.output_size > 1);
    ran.output[ran.output_size - 1] = '\0';
    assert_int_not_equal(access(ran.output, F_OK), 0);
    dvi_ran_free(&ran);
    ran = run_shell("trap '' TERM; while :; do sleep 0.05; done", 1, 100); /* and must not refuse */
    assert_true(ran.timed_out);
    assert_int_equal(ran.exit_code, -1);
    assert_true(time(NULL) - start < 30);
    dvi_ran_free(&ran);
}

static void what_is_not_there(void **state)
{
    (void)state;
    const char *const argv[] = { "/nowhere/tool", NULL };
    struct dvi_ran ran = { 0 };
    struct devimg_error err = { 0 };
    assert_int_equal(dvi_run(argv, 20, 16, &ran, &err), DEVIMG_IO);
    assert_non_null(strstr(err.text, "No such file"));
    assert_null(ran.output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_outputs_and_the_status),
        cmocka_unit_test(more_than_is_kept),
        cmocka_unit_test(a_signal_is_no_status),
        cmocka_unit_test(what_hangs_is_stopped_with_its_children),
        cmocka_unit_test(what_is_stopped_may_tidy_up),
        cmocka_unit_test(what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
