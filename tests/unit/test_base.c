/* SPDX-License-Identifier: Apache-2.0 */
/* Orders, near words, and writing a file whole or not at all. */
#include <dirent.h>
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

#include "base/compare.h"
#include "base/nearest.h"
#include "base/write.h"

static struct devimg_error err;
static char folder[32];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/devimg-base-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static size_t entry_count(void)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        count += e->d_name[0] != '.';
    (void)closedir(dir);
    return count;
}

static void expect_content(const char *name, const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path_of(name), "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    (void)fclose(file);
    assert_string_equal(text, expected);
}

static enum devimg_status write_text(FILE *file, const void *context, struct devimg_error *e)
{
    (void)e;
    fputs(context, file);
    return DEVIMG_OK;
}

static enum devimg_status write_and_fail(FILE *file, const void *context, struct devimg_error *e)
{
    fputs(context, file);
    return dvi_fail_memory(e, "test");
}

/* "kitten", "sitting" is the textbook case: 3. */
static void distance_counts_letters_added_dropped_replaced(void **state)
{
    char room[65];
    (void)state;
    assert_int_equal(dvi_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(dvi_edit_distance("", "abc"), 3);
    assert_int_equal(dvi_edit_distance("abc", ""), 3);
    assert_int_equal(dvi_edit_distance("same", "same"), 0);
    assert_int_equal(dvi_edit_distance("ab", "ba"), 2);
    memset(room, 'a', 64);
    room[64] = 0;
    assert_true(dvi_edit_distance(room, room) == SIZE_MAX);
    room[63] = 0;
    assert_int_equal(dvi_edit_distance(room, room), 0);
}

static void null_stands_before_every_text(void **state)
{
    (void)state;
    assert_true(dvi_compare_text(NULL, "") < 0);
    assert_true(dvi_compare_text("", NULL) > 0);
    assert_int_equal(dvi_compare_text(NULL, NULL), 0);
    assert_true(dvi_compare_text("a", "b") < 0);
    assert_true(dvi_compare_numbers(UINT64_MAX, 0) > 0);
    assert_true(dvi_compare_numbers(1, 2) < 0);
    assert_int_equal(dvi_compare_numbers(7, 7), 0);
}

static void replaced_file_has_the_new_content_and_the_rights_of_any_new_file(void **state)
{
    struct stat info;
    (void)state;
    const mode_t mask = umask(027);
    assert_int_equal(dvi_file_replace(path_of("f"), "m:", write_text, "m: old", &err), DEVIMG_OK);
    assert_int_equal(dvi_file_replace(path_of("f"), "m:", write_text, "m: new", &err), DEVIMG_OK);
    umask(mask);
    expect_content("f", "m: new");
    assert_int_equal(stat(path_of("f"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(entry_count(), 1);
}

static void failed_writer_leaves_the_file_as_it_was_and_nothing_beside_it(void **state)
{
    (void)state;
    assert_int_equal(dvi_file_replace(path_of("f"), "m:", write_text, "m: old", &err), DEVIMG_OK);
    assert_int_equal(dvi_file_replace(path_of("f"), "m:", write_and_fail, "m: new", &err),
                     DEVIMG_NOMEM);
    expect_content("f", "m: old");
    assert_int_equal(entry_count(), 1);
}

static void file_of_somebody_else_is_left_alone(void **state)
{
    (void)state;
    FILE *file = fopen(path_of("library.so"), "w");
    assert_non_null(file);
    fputs("\177ELF and more", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(dvi_file_replace(path_of("library.so"), "m:", write_text, "m: x", &err),
                     DEVIMG_IO);
    expect_content("library.so", "\177ELF and more");
    assert_int_equal(dvi_file_is_ours("/dev/null", "m:", &err), DEVIMG_IO);
    assert_int_equal(dvi_file_is_ours(path_of("nothing-yet"), "m:", &err), DEVIMG_OK);
    assert_int_equal(entry_count(), 1);
}

static void place_that_cannot_be_taken_is_io(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path_of("folder"), 0777), 0);
    assert_int_equal(dvi_file_replace(path_of("folder"), "m:", write_text, "m: x", &err),
                     DEVIMG_IO);
    assert_int_equal(entry_count(), 1);
    assert_int_equal(dvi_file_replace(path_of("none/f"), "m:", write_text, "m: x", &err),
                     DEVIMG_IO);
    assert_non_null(strstr(err.source, "none/f"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(distance_counts_letters_added_dropped_replaced),
        TEST(null_stands_before_every_text),
        TEST(replaced_file_has_the_new_content_and_the_rights_of_any_new_file),
        TEST(failed_writer_leaves_the_file_as_it_was_and_nothing_beside_it),
        TEST(file_of_somebody_else_is_left_alone),
        TEST(place_that_cannot_be_taken_is_io),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
