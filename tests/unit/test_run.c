/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are run: what they print, how they end, and that they end. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
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

/* What is started holds the write end; at the end of the stream, none of it is left. */
static bool ends_soon(int stream)
{
    struct pollfd wait = { .fd = stream, .events = POLLIN };
    char bytes[64];
    while (poll(&wait, 1, 20000) == 1)
        if (read(stream, bytes, sizeof bytes) == 0)
            return true;
    return false;
}

static void what_it_leaves_behind_is_stopped(void **state)
{
    (void)state;
    int held[2];
    assert_int_equal(pipe(held), 0);
    struct dvi_ran ran = run_shell("sleep 60 >/dev/null 2>&1 & echo done", 40, 100);
    (void)close(held[1]);
    assert_string_equal(ran.output, "done\n");
    assert_int_equal(ran.exit_code, 0);
    assert_false(ran.timed_out);
    assert_true(ends_soon(held[0]));
    (void)close(held[0]);
    dvi_ran_free(&ran);
}

static void an_output_that_others_hold_open_is_not_waited_for(void **state)
{
    (void)state;
    const time_t start = time(NULL);
    struct dvi_ran ran = run_shell("sleep 60 & echo done; exit 3", 40, 100);
    assert_true(time(NULL) - start < 30);
    assert_string_equal(ran.output, "done\n");
    assert_int_equal(ran.exit_code, 3);
    assert_false(ran.timed_out);
    dvi_ran_free(&ran);
}

/* This program as a child that leaves its group for ours, and closes what it prints to. */
static int leave_the_group(void)
{
    (void)setpgid(0, getpgid(getppid()));
    (void)close(1);
    (void)close(2);
    (void)sleep(60);
    return 0;
}

static void what_leaves_its_group_is_stopped(void **state)
{
    (void)state;
    const char *const argv[] = { "/proc/self/exe", "leave-the-group", NULL };
    const time_t start = time(NULL);
    struct dvi_ran ran = { 0 };
    assert_int_equal(dvi_run(argv, 1, 100, &ran, NULL), DEVIMG_OK);
    assert_true(time(NULL) - start < 30);
    assert_true(ran.timed_out);
    dvi_ran_free(&ran);
}

static void a_signal_ends_the_child_first(void **state)
{
    (void)state;
    int held[2], status = 0;
    char byte = 0, script[64];
    assert_int_equal(pipe(held), 0);
    (void)snprintf(script, sizeof script, "echo >&%d; sleep 60", held[1]);
    const pid_t pid = fork();
    if (pid == 0) {
        struct dvi_ran ran = run_shell(script, 40, 100);
        dvi_ran_free(&ran);
        _exit(0);
    }
    (void)close(held[1]);
    assert_int_equal(read(held[0], &byte, 1), 1);
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_true(ends_soon(held[0]));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    (void)close(held[0]);
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

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "leave-the-group") == 0)
        return leave_the_group();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_outputs_and_the_status),
        cmocka_unit_test(more_than_is_kept),
        cmocka_unit_test(a_signal_is_no_status),
        cmocka_unit_test(what_hangs_is_stopped_with_its_children),
        cmocka_unit_test(what_it_leaves_behind_is_stopped),
        cmocka_unit_test(an_output_that_others_hold_open_is_not_waited_for),
        cmocka_unit_test(what_leaves_its_group_is_stopped),
        cmocka_unit_test(a_signal_ends_the_child_first),
        cmocka_unit_test(what_is_stopped_may_tidy_up),
        cmocka_unit_test(what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
