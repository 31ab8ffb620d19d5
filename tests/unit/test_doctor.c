/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor's answer rests on: versions, verdicts, programs found, folders that go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/interrupt.h"
#include "base/run.h"
#include "base/temporary.h"
#include "sycl/doctor.h"

static void a_version_is_its_first_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *printed, *expected;
        bool same;
    } rows[] = {
        { "22.43.24595", "22.43.24595", true },
        { "22.43.24595", "22.43", true },
        { "22.43.24595", "22", true },
        { "22.43.24595", "2", false },
        { "22.43.24595", "22.4", false },
        { "22.43.24595", "22.43.", false },
        { "22.43.24595", "22.43.24596", false },
        { "22.43", "22.43.24595", false },
        { "22.43.24595", "", false },
        { "22.43.24595-1", "22.43.24595", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (dvi_doctor_version_is(rows[i].printed, rows[i].expected) != rows[i].same)
            fail_msg("%s, expected %s", rows[i].printed, rows[i].expected);
}

static void only_what_is_required_fails(void **state)
{
    (void)state;
    for (int s = DVI_DOCTOR_OK; s <= DVI_DOCTOR_SKIPPED; s++) {
        struct dvi_doctor_row row = { .state = (enum dvi_doctor_state)s };
        assert_false(dvi_doctor_fails(&row));
        row.required = true;
        assert_int_equal(dvi_doctor_fails(&row), s != DVI_DOCTOR_OK && s != DVI_DOCTOR_SKIPPED);
    }
}

static void what_is_said_is_one_line(void **state)
{
    (void)state;
    struct dvi_arena arena = { 0 };
    assert_string_equal(dvi_said("\r\n a\n\nb \n", 100, &arena), " a b");
    assert_string_equal(dvi_said("abcdef", 3, &arena), "abc");
    assert_string_equal(dvi_said("", 3, &arena), "");
    dvi_arena_free(&arena);
}

static void touch(const char *path, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* The folders of PATH in their order: what may not be run, or is a folder, is passed over. */
static void the_first_program_of_path(void **state)
{
    (void)state;
    struct dvi_arena arena = { 0 };
    struct devimg_error err = { 0 };
    struct dvi_temporary t = { 0 };
    char path[1024], folders[1024], before[1024];
    const char *found = NULL;
    assert_int_equal(dvi_temporary_make(&t, NULL), DEVIMG_OK);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%d", t.path, i);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(path, sizeof path, "%s/0/tool", t.path);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/1/tool", t.path);
    touch(path, 0600);
    snprintf(folders, sizeof folders, "%s/0:%s/1:/nowhere:%s/2", t.path, t.path, t.path);
    snprintf(before, sizeof before, "%s", getenv("PATH"));
    assert_int_equal(setenv("PATH", folders, 1), 0);
    assert_int_equal(dvi_find_program("tool", &arena, &found, &err), DEVIMG_IO);
    assert_string_equal(err.text, "Permission denied");
    assert_int_equal(dvi_find_program("other", &arena, &found, &err), DEVIMG_IO);
    assert_string_equal(err.text, "not found in PATH");
    assert_int_equal(dvi_find_program("", &arena, &found, &err), DEVIMG_IO);
    snprintf(path, sizeof path, "%s/2/tool", t.path);
    touch(path, 0700);
    assert_int_equal(dvi_find_program("tool", &arena, &found, &err), DEVIMG_OK);
    assert_string_equal(found, path);
    assert_int_equal(setenv("PATH", before, 1), 0);
    assert_int_equal(dvi_temporary_remove(&t, NULL), DEVIMG_OK);
    assert_int_equal(access(path, F_OK), -1);
    dvi_arena_free(&arena);
}

static void it_runs_in_the_folder(void **state)
{
    (void)state;
    const char *const argv[] = { "sh", "-c",
                                 "mkdir -p a/b && ln -s /etc a/etc && touch a/b/c && ls", NULL };
    struct dvi_temporary t = { 0 };
    struct dvi_ran ran = { 0 };
    assert_int_equal(dvi_temporary_make(&t, NULL), DEVIMG_OK);
    assert_int_equal(dvi_run_in(t.path, argv, 20, 1000, &ran, NULL), DEVIMG_OK);
    assert_string_equal(ran.output, "a\n");
    dvi_ran_free(&ran);
    assert_int_equal(dvi_temporary_remove(&t, NULL), DEVIMG_OK);
    assert_null(t.path);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
    assert_int_equal(dvi_temporary_remove(&t, NULL), DEVIMG_OK);
    assert_int_equal(dvi_run_in("/nowhere", argv, 20, 1000, &ran, NULL), DEVIMG_IO);
}

/* The last test: what is interrupted stays so. */
static void nothing_is_run_after_an_interrupt(void **state)
{
    (void)state;
    const char *const argv[] = { "sh", "-c", "kill -TERM $PPID; sleep 60", NULL };
    struct dvi_ran ran = { 0 };
    struct devimg_error err = { 0 };
    dvi_interrupts_end(); /* none came: nothing happens */
    dvi_interrupts_catch();
    assert_false(dvi_interrupted());
    assert_int_equal(dvi_run(argv, 40, 1000, &ran, &err), DEVIMG_IO);
    assert_non_null(strstr(err.text, "interrupted"));
    assert_true(dvi_interrupted());
    assert_int_equal(dvi_run(argv, 40, 1000, &ran, &err), DEVIMG_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_is_its_first_numbers),
        cmocka_unit_test(only_what_is_required_fails),
        cmocka_unit_test(what_is_said_is_one_line),
        cmocka_unit_test(the_first_program_of_path),
        cmocka_unit_test(it_runs_in_the_folder),
        cmocka_unit_test(nothing_is_run_after_an_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
