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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "devimg.h"
#include "sycl/compile.h"
#include "sycl/sycl_ls.h"

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

/* ---- sycl ---- */

enum { MOST_ANSWER = 400 };

/* What a function says with all allocations, and with each failing in turn. */
static void fail_each(enum devimg_status (*ask)(char *answer))
{
    char whole[MOST_ANSWER] = "", answer[MOST_ANSWER];
    if (!IN_TURN)
        skip();
    assert_int_equal(ask(whole), DEVIMG_OK);
    for (size_t n = 1;; n++) {
        answer[0] = '\0';
        left = n;
        failed = false;
        const enum devimg_status st = ask(answer);
        left = 0;
        if (st != DEVIMG_NOMEM && (st != DEVIMG_OK || strcmp(answer, whole) != 0))
            fail_msg("allocation %zu: %s, %s; expected %s", n, devimg_status_name(st), answer,
                     whole);
        if (!failed)
            break;
    }
}

static void append(char *answer, const char *text)
{
    const size_t size = strlen(answer);
    (void)snprintf(answer + size, MOST_ANSWER - size, "%s;", text != NULL ? text : "-");
}

static enum devimg_status ask_diagnostics(char *answer)
{
    static const char log[] =
        "error: in kernel 'a': x\nerror: y\nin kernel: 'b'\nz.cl:1:2: error: w\n";
    struct dvi_arena arena = { 0 };
    struct dvi_diagnostics found = { 0 };
    const enum devimg_status st = dvi_diagnostics_read(log, &arena, &found, NULL);
    for (size_t i = 0; st == DEVIMG_OK && i < found.list.count; i++) {
        append(answer, found.list.items[i].kernel);
        append(answer, found.list.items[i].message);
    }
    DVI_LIST_FREE(&found.list);
    dvi_arena_free(&arena);
    return st;
}

static void no_memory_is_no_other_message(void **state)
{
    (void)state;
    fail_each(ask_diagnostics);
}

static enum devimg_status ask_devices(char *answer)
{
    static const char text[] =
        "[ext_oneapi_cuda:gpu:0] NVIDIA CUDA BACKEND, NVIDIA A100 8.0 [CUDA 12.2]\n"
        "[ext_oneapi_level_zero:gpu:0] Intel(R) Level-Zero, Intel(R) Arc(TM) A770 12.55.8 [1.3.26918]\n";
    struct dvi_arena arena = { 0 };
    struct dvi_sycl_ls list = { 0 };
    const enum devimg_status st =
        dvi_sycl_ls_read(dvi_view_of(text, strlen(text), "sycl-ls"), &arena, &list, NULL);
    for (size_t i = 0; st == DEVIMG_OK && i < list.devices.count; i++)
        append(answer, list.devices.items[i].target);
    dvi_sycl_ls_free(&list);
    dvi_arena_free(&arena);
    return st;
}

static void no_memory_is_no_device_without_a_target(void **state)
{
    (void)state;
    fail_each(ask_devices);
}

static void write_text(const char *name, const char *text)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Not of a build: jansson tells some of its failures as faults of the text. */
static enum devimg_status ask_plan(char *answer)
{
    static const char *const lists[] = { "pvc, sm_90", "dg2-g10" };
    char path[64];
    const char *const sources[] = { path };
    (void)snprintf(path, sizeof path, "%s/a.cl", folder);
    const struct dvi_compile_asked asked = { .sources = sources,
                                             .source_count = 1,
                                             .work = folder,
                                             .lists = lists,
                                             .list_count = 2,
                                             .narrow = true,
                                             .programs[DVI_COMPILER_ocloc] = "/nowhere/ocloc" };
    struct dvi_compile compile = { 0 };
    const enum devimg_status st = dvi_compile_plan(&asked, &compile, NULL);
    for (size_t i = 0; st == DEVIMG_OK && i < compile.units.count; i++)
        append(answer, compile.units.items[i].label);
    for (size_t i = 0; st == DEVIMG_OK && i < compile.warnings.count; i++)
        append(answer, compile.warnings.items[i]);
    if (st == DEVIMG_OK)
        append(answer, compile.work);
    dvi_compile_free(&compile);
    return st;
}

static void no_memory_is_no_other_plan(void **state)
{
    (void)state;
    write_text("a.cl", "");
    fail_each(ask_plan);
}

/* What a compiler refuses is told, or that there is no memory: by no other words, and never "ok". */
static enum devimg_status ask_run(char *answer)
{
    static const char *const lists[] = { "pvc", "lnl-m" };
    char path[64], ocloc[64];
    const char *const sources[] = { path };
    (void)snprintf(path, sizeof path, "%s/a.cl", folder);
    (void)snprintf(ocloc, sizeof ocloc, "%s/ocloc", folder);
    const struct dvi_compile_asked asked = { .sources = sources,
                                             .source_count = 1,
                                             .work = folder,
                                             .lists = lists,
                                             .list_count = 2,
                                             .again = true,
                                             .threads = 1,
                                             .seconds = 60,
                                             .programs[DVI_COMPILER_ocloc] = ocloc };
    struct dvi_compile compile = { 0 };
    enum devimg_status st = dvi_compile_plan(&asked, &compile, NULL);
    if (st == DEVIMG_OK)
        st = dvi_compile_run(&compile, NULL);
    for (size_t i = 0; st == DEVIMG_OK && i < compile.cells.count; i++) {
        const struct dvi_cell *cell = &compile.cells.items[i];
        append(answer, cell->state == DVI_CELL_FAILED ? "failed" : "other");
        append(answer, cell->is_unknown ? "unknown" : "known");
        append(answer, cell->failures.first_only ? "first" : "all");
        for (size_t k = 0; k < cell->failures.list.count; k++) {
            append(answer, cell->failures.list.items[k].kernel);
            append(answer, cell->failures.list.items[k].message);
        }
    }
    dvi_compile_free(&compile);
    return st;
}

static void no_memory_is_no_other_verdict_of_a_compiler(void **state)
{
    (void)state;
    write_text("a.cl", "");
    write_text("ocloc",
               "#!/bin/sh\n"
               "case \"$*\" in *lnl-m*) echo 'Error: Cannot get HW Info for device lnl-m.' ;;\n"
               "*) printf 'error: no\\nin kernel: %s\\n' \"'k'\" ;; esac\n"
               "exit 1\n");
    char ocloc[64];
    (void)snprintf(ocloc, sizeof ocloc, "%s/ocloc", folder);
    assert_int_equal(chmod(ocloc, 0755), 0);
    fail_each(ask_run);
}

static enum devimg_status ask_reads(char *answer)
{
    char path[64];
    (void)snprintf(path, sizeof path, "%s/a.cl", folder);
    const struct dvi_unit unit = {
        .path = path, .file = path, .folder = folder, .compiler = &dvi_compiler_ocloc
    };
    const struct dvi_sycl_words words = { 0 };
    struct dvi_arena arena = { 0 };
    struct dvi_paths paths = { 0 };
    const enum devimg_status st = dvi_compile_reads(&unit, "", &words, &arena, &paths, NULL);
    for (size_t i = 0; st == DEVIMG_OK && i < paths.list.count; i++)
        append(answer, paths.list.items[i]);
    DVI_LIST_FREE(&paths.list);
    dvi_arena_free(&arena);
    return st;
}

static void no_memory_is_no_header_that_was_not_read(void **state)
{
    (void)state;
    write_text("a.cl", "#include \"a.h\"\n");
    write_text("a.h", "int a;\n");
    fail_each(ask_reads);
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
        cmocka_unit_test(no_memory_is_no_other_message),
        cmocka_unit_test(no_memory_is_no_device_without_a_target),
        cmocka_unit_test(no_memory_is_no_other_plan),
        cmocka_unit_test(no_memory_is_no_other_verdict_of_a_compiler),
        cmocka_unit_test(no_memory_is_no_header_that_was_not_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
