/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a file whole or not at all, and only where nothing is lost. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/write.h"

static struct devimg_error err;
static char folder[40];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/devimg-write-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[80];
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
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
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

static void make_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
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
    make_file("library.so", "\177ELF and more");
    assert_int_equal(dvi_file_replace(path_of("library.so"), "m:", write_text, "m: x", &err),
                     DEVIMG_IO);
    expect_content("library.so", "\177ELF and more");
    assert_int_equal(dvi_file_is_ours("/dev/null", "m:", &err), DEVIMG_IO);
    assert_int_equal(dvi_file_is_ours(path_of("nothing-yet"), "m:", &err), DEVIMG_OK);
    assert_int_equal(entry_count(), 1);
}

/* What another process may do while the content is written. */
static enum devimg_status write_while_another_does(FILE *file, const void *context,
                                                   struct devimg_error *e)
{
    (void)e;
    fputs(context, file);
    make_file("f", "of another");
    return DEVIMG_OK;
}

static void created_file_never_takes_the_place_of_another(void **state)
{
    bool taken = true;
    struct stat info;
    (void)state;
    assert_int_equal(dvi_file_create(path_of("f"), write_text, "new", &taken, &err), DEVIMG_OK);
    assert_false(taken);
    expect_content("f", "new");
    assert_int_equal(dvi_file_create(path_of("f"), write_text, "again", &taken, &err), DEVIMG_IO);
    assert_true(taken);
    expect_content("f", "new");
    assert_int_equal(unlink(path_of("f")), 0);
    assert_int_equal(dvi_file_create(path_of("f"), write_while_another_does, "x", &taken, &err),
                     DEVIMG_IO);
    assert_true(taken);
    expect_content("f", "of another");
    assert_int_equal(unlink(path_of("f")), 0);
    assert_int_equal(symlink("nowhere", path_of("f")), 0); /* what it names is not there */
    assert_int_equal(dvi_file_create(path_of("f"), write_text, "x", &taken, &err), DEVIMG_IO);
    assert_true(taken);
    assert_int_equal(lstat(path_of("f"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(entry_count(), 1);
    assert_int_equal(dvi_file_create(path_of("none/f"), write_text, "x", &taken, &err), DEVIMG_IO);
    assert_false(taken);
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

static void content_that_does_not_fit_leaves_nothing(void **state)
{
    const struct rlimit small = { 4096, 4096 };
    static char large[10000];
    (void)state;
    memset(large, 'm', sizeof large - 1);
    const pid_t child = fork(); /* the limit cannot be raised again */
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGXFSZ, SIG_IGN);
        (void)setrlimit(RLIMIT_FSIZE, &small);
        _exit(dvi_file_replace(path_of("f"), "m", write_text, large, &err) == DEVIMG_IO ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(entry_count(), 0);
}

/* dvi_folder_write() into the folder of the test. */
static enum devimg_status write_in(const char *name, bool force, const char *text, bool *taken)
{
    struct dvi_folder to;
    assert_int_equal(dvi_folder_open(folder, &to, &err), DEVIMG_OK);
    const enum devimg_status status =
        dvi_folder_write(&to, name, force, write_text, text, taken, &err);
    dvi_folder_close(&to);
    return status;
}

static void what_is_there_is_replaced_by_force_only(void **state)
{
    bool taken = true;
    (void)state;
    assert_int_equal(write_in("f", false, "one", &taken), DEVIMG_OK);
    assert_false(taken);
    assert_int_equal(write_in("f", false, "two", &taken), DEVIMG_IO);
    assert_true(taken);
    assert_string_equal(err.text, "is there already");
    expect_content("f", "one");
    assert_int_equal(write_in("f", true, "three", &taken), DEVIMG_OK);
    expect_content("f", "three");
    assert_int_equal(write_in("g", true, "new", &taken), DEVIMG_OK);
    expect_content("g", "new");
    assert_int_equal(entry_count(), 2);
}

static void nothing_but_a_regular_file_is_ever_replaced(void **state)
{
    static const char *const names[] = { "link", "dangling", "fifo", "sub" };
    (void)state;
    make_file("aim", "untouched");
    assert_int_equal(symlink("aim", path_of("link")), 0);
    assert_int_equal(symlink("nowhere", path_of("dangling")), 0);
    assert_int_equal(mkfifo(path_of("fifo"), 0666), 0);
    assert_int_equal(mkdir(path_of("sub"), 0777), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (int force = 0; force < 2; force++) {
            bool taken = false;
            assert_int_equal(write_in(names[i], force, "x", &taken), DEVIMG_IO);
            assert_true(taken);
        }
    }
    expect_content("aim", "untouched");
    assert_int_equal(access(path_of("nowhere"), F_OK), -1);
    assert_int_equal(entry_count(), 5);
}

static void failed_writer_leaves_nothing_in_the_folder(void **state)
{
    struct dvi_folder to;
    bool taken = true;
    (void)state;
    assert_int_equal(dvi_folder_open(folder, &to, &err), DEVIMG_OK);
    assert_int_equal(dvi_folder_write(&to, "f", false, write_and_fail, "x", &taken, &err),
                     DEVIMG_NOMEM);
    dvi_folder_close(&to);
    assert_false(taken);
    assert_int_equal(entry_count(), 0);
}

static void folder_is_made_and_is_no_link(void **state)
{
    struct dvi_folder to;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dvi_folder_open(path_of("new/"), &to, &err), DEVIMG_OK);
        dvi_folder_close(&to);
    }
    assert_int_equal(symlink("new", path_of("link")), 0);
    assert_int_equal(dvi_folder_open(path_of("link"), &to, &err), DEVIMG_IO);
    assert_string_equal(err.text, "a link, which is not followed");
    assert_int_equal(dvi_folder_open(path_of("link//"), &to, &err), DEVIMG_IO);
    make_file("file", "");
    assert_int_equal(dvi_folder_open(path_of("file"), &to, &err), DEVIMG_IO);
    assert_int_equal(dvi_folder_open(path_of("none/deep"), &to, &err), DEVIMG_IO);
    assert_int_equal(dvi_folder_open("", &to, &err), DEVIMG_IO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(replaced_file_has_the_new_content_and_the_rights_of_any_new_file),
        TEST(failed_writer_leaves_the_file_as_it_was_and_nothing_beside_it),
        TEST(file_of_somebody_else_is_left_alone),
        TEST(created_file_never_takes_the_place_of_another),
        TEST(place_that_cannot_be_taken_is_io),
        TEST(content_that_does_not_fit_leaves_nothing),
        TEST(what_is_there_is_replaced_by_force_only),
        TEST(nothing_but_a_regular_file_is_ever_replaced),
        TEST(failed_writer_leaves_nothing_in_the_folder),
        TEST(folder_is_made_and_is_no_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
