/* SPDX-License-Identifier: Apache-2.0 */
/* Pins files that are too large, or whose names are: tests/cli/sycl_gtest_filter has the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sycl/gtest.h"

static struct devimg_error err;
static char path[32];

static int set_up(void **state)
{
    (void)state;
    strcpy(path, "/tmp/devimg-pins-XXXXXX");
    const int fd = mkstemp(path);
    memset(&err, 0, sizeof err);
    return fd >= 0 ? close(fd) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* A file of holes takes no room on the disk; read, it would take a TiB of memory. */
static void file_of_a_tebibyte_is_refused_unread(void **state)
{
    struct dvi_gtest gtest = { 0 };
    (void)state;
    if (truncate(path, (off_t)1 << 40) != 0)
        skip();
    assert_int_equal(dvi_gtest_read_pins(path, "full", &gtest, &err), DEVIMG_LIMIT);
    dvi_gtest_free(&gtest);
}

/* Characters of three bytes, 20 of which fit before "...". */
static void long_name_is_cut_between_characters(void **state)
{
    struct dvi_gtest gtest = { 0 };
    char pins[256] = "presets\tfull\nfull\tA\t-\t", shown[128] = "A.";
    (void)state;
    for (int i = 0; i < 40; i++)
        strcat(pins, "\xe2\x82\xac");
    for (int i = 0; i < 20; i++)
        strcat(shown, "\xe2\x82\xac");
    write_text(strcat(pins, "\t \n"));
    assert_int_equal(dvi_gtest_read_pins(path, "full", &gtest, &err), DEVIMG_MALFORMED);
    dvi_gtest_free(&gtest);
    assert_non_null(strstr(err.text, strcat(shown, "... has no reason")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(file_of_a_tebibyte_is_refused_unread),
        TEST(long_name_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
