/* SPDX-License-Identifier: Apache-2.0 */
/* Names made of hostile names, which images are selected, and what extraction says of each. */
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

#include "config.h"
#include "edit/name.h"
#include "edit/select.h"

static char folder[40];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/devimg-extract-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[80];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static struct devimg_file *open_fixture(const char *name, const struct devimg_opts *opts)
{
    struct devimg_file *file = NULL;
    char path[1024];
    assert_non_null(getenv("DEVIMG_TEST_DATA"));
    (void)snprintf(path, sizeof path, "%s/intel/%s", getenv("DEVIMG_TEST_DATA"), name);
    assert_int_equal(devimg_open(path, opts, &file, NULL), DEVIMG_OK);
    return file;
}

/* --- names --- */

static void names_of_files_and_members_become_plain(void **state)
{
    static const char *const rows[][3] = {
        /* file, member or NULL, prefix */
        { "/usr/lib/libfoo.so.1", NULL, "libfoo.so.1" },
        { "lib/libfoo.a", "bar.o", "libfoo.a@bar.o" },
        { "x.a", "../../x", "x.a@x" },
        { "x.a", "/etc/passwd", "x.a@passwd" },
        { "x.a", "..", "x.a@_." },
        { "x.a", ".", "x.a@_" },
        { "x.a", "", "x.a@_" },
        { "x.a", "a/", "x.a@_" },
        { "x.a", "-rf", "x.a@_rf" },
        { "x.a", "a\nb\033[31m\177\"'$`;!~@", "x.a@a_b__31m_________" },
        { "x.a", "\303\251.o", "x.a@__.o" },
        { ".hidden", NULL, "_hidden" },
        { "..", NULL, "_." },
        { "", NULL, "_" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dvi_prefixes prefixes = { 0 };
        struct dvi_arena arena = { 0 };
        const struct devimg_record record = { .path = rows[i][0],
                                              .members = &rows[i][1],
                                              .member_count = rows[i][1] != NULL };
        assert_string_equal(dvi_prefix(&prefixes, &record, &arena), rows[i][2]);
        dvi_prefixes_free(&prefixes);
        dvi_arena_free(&arena);
    }
}

static void equal_prefixes_are_told_apart(void **state)
{
    static char longer[2][4097];
    const char *members[] = { "a.o", "b/a.o", "b.o", "a.o", longer[0], longer[1] };
    static const char *const expected[] = { "x.a@a.o", "x.a@a.o~2", "x.a@b.o", "x.a@a.o~3" };
    struct dvi_prefixes prefixes = { 0 };
    struct dvi_arena arena = { 0 };
    const char *given[6] = { 0 };
    (void)state;
    for (int i = 0; i < 2; i++) /* 4,096 bytes, of which the last one differs */
        memset(longer[i], 'l', sizeof longer[i] - 1);
    longer[1][4095] = 'm';
    for (size_t i = 0; i < 6; i++) {
        const struct devimg_record record = { .path = "x.a",
                                              .members = &members[i],
                                              .member_count = 1 };
        given[i] = dvi_prefix(&prefixes, &record, &arena);
        assert_non_null(given[i]);
        if (i < 4)
            assert_string_equal(given[i], expected[i]);
    }
    assert_int_equal(strlen(given[4]), strlen("x.a@") + 64);
    assert_int_equal(strlen(given[5]), strlen(given[4]) + 2);
    assert_string_equal(given[5] + strlen(given[4]), "~2");
    dvi_prefixes_free(&prefixes);
    dvi_arena_free(&arena);
}

static void target_has_no_dots_and_is_short(void **state)
{
    char longer[4097];
    struct dvi_arena arena = { 0 };
    (void)state;
    struct devimg_image image = { .target = "12.99.1" };
    assert_string_equal(dvi_image_file_name("p", 3, &image, "zebin", &arena),
                        "p.0003.12_99_1.zebin");
    image = (struct devimg_image){ .entry_id = "../sycl-x/\n" };
    assert_string_equal(dvi_image_file_name("p", 123456, &image, "bin", &arena),
                        "p.123456.___sycl-x__.bin");
    image = (struct devimg_image){ 0 };
    assert_string_equal(dvi_image_file_name("p", 0, &image, "spv.zst", &arena),
                        "p.0000.unknown.spv.zst");
    memset(longer, 't', sizeof longer - 1);
    longer[4096] = 0;
    image = (struct devimg_image){ .target = longer };
    assert_int_equal(strlen(dvi_image_file_name("p", 0, &image, "x", &arena)), 7 + 40 + 2);
    dvi_arena_free(&arena);
}

/* --- selection: lib_aot.so has two archives, 0 and 4, of tgllp, adl-s, dg2-g11; 8 and 9 are
 * SPIR-V. 0..3 and 8 hold scale_add and count_bits, 4..7 and 9 row_sum_sg16
 * (tests/facts_intel.json). --- */

static void expect_selected(const struct dvi_selection *selection, const char *expected)
{
    struct devimg_file *file = open_fixture("lib_aot.so", NULL);
    uint8_t wanted[10];
    char found[11] = "";
    assert_int_equal(devimg_read_kernels(file, NULL), DEVIMG_OK);
    assert_int_equal(devimg_image_count(file), 10);
    memset(wanted, 7, sizeof wanted);
    assert_int_equal(dvi_select(file, selection, wanted, NULL), DEVIMG_OK);
    for (int i = 0; i < 10; i++)
        found[i] = wanted[i] != 0 ? '1' : '.';
    assert_string_equal(found, expected);
    devimg_close(file);
}

static void images_are_selected_by_all_that_is_asked_for(void **state)
{
    struct dvi_target_set targets = { 0 };
    struct dvi_arena arena = { 0 };
    (void)state;
    assert_int_equal(dvi_target_set_add(&targets, "adl-s,spir64", &arena, NULL), DEVIMG_OK);
    struct dvi_selection s = { 0 };
    expect_selected(&s, ".111.11111");
    s.targets = &targets;
    expect_selected(&s, "..1...1.11");
    s.kernel = "row_*";
    expect_selected(&s, "......1..1");
    s.format = "zebin";
    expect_selected(&s, "......1...");
    s.kernel = "none";
    expect_selected(&s, "..........");
    s = (struct dvi_selection){ .kernel = "scale_add" };
    expect_selected(&s, ".111....1.");
    dvi_target_set_free(&targets);
    dvi_arena_free(&arena);
}

static void archive_is_taken_whole_or_by_its_index(void **state)
{
    uint32_t indices[] = { 4, 2, 77 };
    (void)state;
    struct dvi_selection s = { .whole = true };
    expect_selected(&s, "1...1...11");
    s.kernel = "row_sum_sg16";
    expect_selected(&s, "....1....1");
    s = (struct dvi_selection){ 0 };
    s.indices.items = indices;
    s.indices.count = 3;
    expect_selected(&s, "..1.1.....");
    s.whole = true;
    expect_selected(&s, "1...1.....");
}

/* --- extraction --- */

static struct devimg_extraction *begin(const struct devimg_extract_opts *opts)
{
    struct devimg_extraction *extraction = NULL;
    assert_int_equal(devimg_extraction_new(folder, opts, &extraction, NULL), DEVIMG_OK);
    return extraction;
}

static off_t size_of(const char *name)
{
    struct stat info;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0 ? info.st_size : -1;
}

static void what_is_there_is_kept_or_replaced(void **state)
{
    const struct devimg_extract_opts force = { .struct_size = sizeof force, .force = 1 };
    (void)state;
    struct devimg_file *file = open_fixture("basic.spv", NULL);
    for (int i = 0; i < 3; i++) {
        struct devimg_extraction *extraction = begin(i == 2 ? &force : NULL);
        uint32_t first = 7, count = 7;
        assert_int_equal(devimg_extraction_add(extraction, file, NULL, &first, &count, NULL),
                         DEVIMG_OK);
        assert_int_equal(first, 0);
        assert_int_equal(count, 1);
        const struct devimg_extracted *item = devimg_extraction_at(extraction, 0);
        assert_string_equal(item->name, "basic.spv.0000.spir64.spv");
        assert_int_equal(item->status, i == 1 ? DEVIMG_IO : DEVIMG_OK);
        if (i == 1) {
            assert_true(item->size == DEVIMG_UNKNOWN);
            assert_string_equal(item->finding->rule, "extract");
            assert_string_equal(item->finding->code, "exists");
            assert_non_null(strstr(item->finding->message, item->name));
        } else {
            assert_true(item->size == 1648);
            assert_null(item->finding);
        }
        assert_int_equal(size_of(item->name), 1648);
        assert_null(devimg_extraction_at(extraction, 1));
        devimg_extraction_free(extraction);
    }
    devimg_close(file);
}

static void one_file_twice_gets_two_names(void **state)
{
    (void)state;
    struct devimg_file *file = open_fixture("basic.spv", NULL);
    struct devimg_extraction *extraction = begin(NULL);
    uint32_t first = 0;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(devimg_extraction_add(extraction, file, NULL, &first, NULL, NULL),
                         DEVIMG_OK);
        assert_int_equal(first, i);
    }
    assert_int_equal(devimg_extraction_count(extraction), 2);
    assert_string_equal(devimg_extraction_at(extraction, 1)->name, "basic.spv~2.0000.spir64.spv");
    assert_int_equal(size_of("basic.spv~2.0000.spir64.spv"), 1648);
    devimg_extraction_free(extraction);
    devimg_extraction_free(NULL);
    devimg_close(file);
}

#if DVI_HAVE_ZSTD
/* lib_aot_zstd.so holds frames of 22544, 12630, 1648 and 1192 bytes (tests/facts_intel.json). */
static void budget_is_charged_in_file_order_whatever_the_threads(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads < 9; threads += 7) {
        struct devimg_opts opts = { .struct_size = sizeof opts,
                                    .threads = threads,
                                    .max_total_inflated_size = 22544 + 12630 };
        struct devimg_file *file = open_fixture("lib_aot_zstd.so", &opts);
        struct devimg_extraction *extraction = begin(NULL);
        uint32_t count = 0;
        assert_int_equal(devimg_extraction_add(extraction, file, NULL, NULL, &count, NULL),
                         DEVIMG_OK);
        assert_int_equal(count, 8);
        for (uint32_t i = 0; i < 8; i++) {
            const struct devimg_extracted *item = devimg_extraction_at(extraction, i);
            char path[512];
            assert_int_equal(item->status, i < 6 ? DEVIMG_OK : DEVIMG_LIMIT);
            assert_int_equal(size_of(item->name), i < 6 ? (off_t)item->size : -1);
            (void)snprintf(path, sizeof path, "%s/%s", folder, item->name);
            (void)unlink(path);
        }
        assert_non_null(strstr(devimg_extraction_at(extraction, 7)->finding->message,
                               "max-total-inflated-size"));
        devimg_extraction_free(extraction);
        devimg_close(file);
    }
}

static void stored_images_are_written_as_they_stand(void **state)
{
    const struct devimg_extract_opts stored = { .struct_size = sizeof stored, .as_stored = 1 };
    const struct devimg_opts opts = { .struct_size = sizeof opts, .max_inflated_size = 1000 };
    static const char *const names[] = { "lib_aot_zstd.so.0000.spir64_gen.bin.zst",
                                         "lib_aot_zstd.so.0001.spir64_gen.bin.zst",
                                         "lib_aot_zstd.so.0002.spir64.spv.zst",
                                         "lib_aot_zstd.so.0003.spir64.spv.zst" };
    static const off_t sizes[] = { 2153, 1821, 616, 502 };
    (void)state;
    struct devimg_file *file = open_fixture("lib_aot_zstd.so", &opts);
    struct devimg_extraction *extraction = begin(&stored);
    uint32_t count = 0;
    assert_int_equal(devimg_extraction_add(extraction, file, NULL, NULL, &count, NULL), DEVIMG_OK);
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < 4; i++) { /* nothing is inflated, so no limit is in the way */
        assert_string_equal(devimg_extraction_at(extraction, i)->name, names[i]);
        assert_int_equal(size_of(names[i]), sizes[i]);
    }
    devimg_extraction_free(extraction);
    devimg_close(file);
}

static void image_past_a_limit_is_told_and_the_others_are_written(void **state)
{
    const struct devimg_opts opts = { .struct_size = sizeof opts, .max_inflated_size = 1500 };
    (void)state;
    struct devimg_file *file = open_fixture("lib_aot_zstd.so", &opts);
    struct devimg_extraction *extraction = begin(NULL);
    uint32_t count = 0;
    assert_int_equal(devimg_extraction_add(extraction, file, NULL, NULL, &count, NULL), DEVIMG_OK);
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct devimg_extracted *item = devimg_extraction_at(extraction, i);
        assert_int_equal(item->status, i < 3 ? DEVIMG_LIMIT : DEVIMG_OK);
        assert_int_equal(size_of(item->name), i < 3 ? -1 : 1192);
        if (i < 3)
            assert_string_equal(item->finding->code, "limit");
    }
    devimg_extraction_free(extraction);
    devimg_close(file);
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_files_and_members_become_plain),
        cmocka_unit_test(equal_prefixes_are_told_apart),
        cmocka_unit_test(target_has_no_dots_and_is_short),
        cmocka_unit_test(images_are_selected_by_all_that_is_asked_for),
        cmocka_unit_test(archive_is_taken_whole_or_by_its_index),
        TEST(what_is_there_is_kept_or_replaced),
        TEST(one_file_twice_gets_two_names),
#if DVI_HAVE_ZSTD
        TEST(budget_is_charged_in_file_order_whatever_the_threads),
        TEST(stored_images_are_written_as_they_stand),
        TEST(image_past_a_limit_is_told_and_the_others_are_written),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
