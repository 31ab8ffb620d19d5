/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails in turn: the answer is then DEVIMG_NOMEM, or the same as with memory, and
 * never a finding that blames the file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "devimg.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define IN_TURN 1
#else
#define IN_TURN 0
#endif

static size_t left; /* allocations until one fails; 0: none does */
static bool failed;

#if IN_TURN
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
/* of libraries, too */
__attribute__((visibility("default"))) void *malloc(size_t size);
__attribute__((visibility("default"))) void *calloc(size_t count, size_t size);
__attribute__((visibility("default"))) void *realloc(void *old, size_t size);

static bool fails(void)
{
    if (left == 0 || --left > 0)
        return false;
    failed = true;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
#endif

static char folder[32];

/* What is said of a file, and how it ended. */
struct answer {
    enum devimg_status status;
    uint32_t images, kernels, findings;
};

static enum devimg_status look(struct devimg_file *file, struct answer *a, struct devimg_error *err)
{
    struct devimg_extraction *extraction = NULL;
    const struct devimg_extract_opts opts = { .struct_size = sizeof opts, .force = 1 };
    uint32_t first = 0, count = 0;
    enum devimg_status st = devimg_read_kernels(file, err);
    if (st == DEVIMG_OK)
        st = devimg_extraction_new(folder, &opts, &extraction, err);
    if (st == DEVIMG_OK)
        st = devimg_extraction_add(extraction, file, NULL, &first, &count, err);
    for (uint32_t i = 0; st == DEVIMG_OK && i < count; i++)
        a->findings += devimg_extraction_at(extraction, i)->finding != NULL;
    devimg_extraction_free(extraction);
    return st;
}

static struct answer answer_of(const char *path)
{
    const struct devimg_opts opts = { .struct_size = sizeof opts, .threads = 1 };
    struct devimg_file *file = NULL;
    struct devimg_error err = { 0 };
    struct answer a = { 0 };
    a.status = devimg_open(path, &opts, &file, &err);
    if (a.status == DEVIMG_OK)
        a.status = look(file, &a, &err);
    a.images = file != NULL ? devimg_image_count(file) : 0;
    a.kernels = file != NULL ? devimg_kernel_count(file) : 0;
    a.findings += file != NULL ? devimg_finding_count(file) : 0;
    devimg_close(file);
    return a;
}

static void fail_in_turn(const char *path)
{
    const struct answer whole = answer_of(path);
    assert_int_equal(whole.status, DEVIMG_OK);
    assert_true(whole.images > 0);
    for (size_t n = 1;; n++) {
        left = n;
        failed = false;
        const struct answer a = answer_of(path);
        left = 0;
        if (a.status != DEVIMG_NOMEM &&
            (a.status != DEVIMG_OK || a.images != whole.images || a.kernels != whole.kernels ||
             a.findings != whole.findings))
            fail_msg("%s, allocation %zu: %s, %u images, %u kernels, %u findings", path, n,
                     devimg_status_name(a.status), a.images, a.kernels, a.findings);
        if (!failed)
            break;
    }
}

static void no_memory_is_never_damage_of_the_file(void **state)
{
    static const char *const names[] = { "lib_aot_zstd.so", "win_aot_zstd.obj", "obj_packager.o",
                                         "lib_hcf.so",      "legacy_fat.ar",    "basic.spv" };
    (void)state;
    if (!IN_TURN)
        skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/intel/%s", getenv("DEVIMG_TEST_DATA"), names[i]);
        fail_in_turn(path);
    }
}

/* A thin archive: its member is a file of its own, which is opened while it is read. */
static void no_memory_is_no_unreadable_member(void **state)
{
    char path[64], member[64], command[1200];
    (void)state;
    if (!IN_TURN)
        skip();
    (void)snprintf(path, sizeof path, "%s/thin.a", folder);
    (void)snprintf(member, sizeof member, "%s/member.o", folder);
    (void)snprintf(command, sizeof command, "cp '%s/intel/lib_aot.o' %s",
                   getenv("DEVIMG_TEST_DATA"), member);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file,
            "!<thin>\n%-16s%-12d%-6d%-6d%-8d%-10d`\nmember.o/\n%-16s%-12d%-6d%-6d%-8d%-10d`\n",
            "//", 0, 0, 0, 0, 10, "/0", 0, 0, 0, 0, 9);
    assert_int_equal(fclose(file), 0);
    fail_in_turn(path);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/devimg-memory-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_is_never_damage_of_the_file),
        cmocka_unit_test(no_memory_is_no_unreadable_member),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
