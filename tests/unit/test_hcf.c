/* SPDX-License-Identifier: Apache-2.0 */
/* bundle/hcf. Headers are written by hand as AdaptiveCpp's doc/hcf.md describes them; offsets are
 * counted in the text that the test holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "devimg.h"

#define MARKER  "__acpp_hcf_binary_appendix"
#define CODE    "BC\xc0\xde"                    /* what bitcode starts with */
#define BITCODE CODE "\0\0\0\0\0\0\0\0\0\0\0\0" /* a stream without blocks */
enum { BITCODE_SIZE = 16 };

struct text {
    uint8_t *bytes;
    size_t size, room;
};

static size_t put(struct text *t, const void *bytes, size_t size)
{
    if (t->size + size > t->room) {
        t->room = (t->size + size) * 2;
        t->bytes = realloc(t->bytes, t->room);
        assert_non_null(t->bytes);
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return t->size - size;
}

static size_t say(struct text *t, const char *words)
{
    return put(t, words, strlen(words));
}

/* A literal, which may hold NULs. */
#define SAY(t, literal) put(t, literal, sizeof(literal) - 1)

static void say_number(struct text *t, const char *before, unsigned number, const char *behind)
{
    char words[200];
    (void)snprintf(words, sizeof words, "%s%u%s", before, number, behind);
    (void)say(t, words);
}

static struct devimg_file *open_bytes(const void *bytes, size_t size)
{
    struct devimg_file *file = NULL;
    struct devimg_error err = { 0 };
    /* of its own, so that a read past it is seen */
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    const enum devimg_status status = devimg_open_bytes(copy, size, "x", NULL, &file, &err);
    if (status != DEVIMG_OK)
        print_message("%s: %s\n", devimg_status_name(status), err.text);
    assert_int_equal(status, DEVIMG_OK);
    /* nothing of the file is asked for after this but its records, which are its own */
    free(copy);
    return file;
}

#define OPEN(text) open_bytes(text, sizeof(text) - 1)

static const struct devimg_image *only_image(struct devimg_file *file)
{
    assert_int_equal(devimg_image_count(file), 1);
    return devimg_image_at(file, 0);
}

/* The only finding: its code, where it is, and a part of what it says. */
static void expect_finding(struct devimg_file *file, const char *code, uint64_t offset,
                           const char *part)
{
    assert_int_equal(devimg_finding_count(file), 1);
    const struct devimg_finding *finding = devimg_finding_at(file, 0);
    if (strstr(finding->message, part) == NULL || finding->offset != offset)
        print_message("at %llu: %s\n", (unsigned long long)finding->offset, finding->message);
    assert_string_equal(finding->rule, "damaged");
    assert_string_equal(finding->code, code);
    assert_non_null(strstr(finding->message, part));
    assert_true(finding->offset == offset);
}

#define IMAGE(name, start, size)                                                                 \
    "{." name "\nvariant=global-module\nformat=llvm-ir\n{.__binary\nstart=" start "\nsize=" size \
    "\n}.__binary\n}." name "\n"
#define KERNEL(name, image) \
    "{." name "\n{.image-providers\n{." image "\n}." image "\n}.image-providers\n}." name "\n"
#define START   "object-id=1\ngenerator=hipSYCL SSCP\n"
#define IMAGES  "{.images\n"
#define KERNELS "}.images\n{.kernels\n"
#define END     "}.kernels\n"

static void image_and_kernels_are_read(void **state)
{
    (void)state;
    static const char text[] = START IMAGES IMAGE("llvm-ir.global", "0", "16")
        KERNELS KERNEL("one", "llvm-ir.global") KERNEL("two", "llvm-ir.global") END MARKER BITCODE;
    struct devimg_file *file = OPEN(text);
    const struct devimg_image *image = only_image(file);
    assert_int_equal(devimg_finding_count(file), 0);
    assert_string_equal(image->bundle, "hcf");
    assert_int_equal(image->offload, DEVIMG_OFFLOAD_ACPP);
    assert_int_equal(image->format, DEVIMG_FORMAT_BITCODE);
    assert_string_equal(image->entry_id, "llvm-ir.global");
    assert_null(image->target);
    assert_int_equal(image->offset, sizeof text - 1 - BITCODE_SIZE);
    assert_int_equal(image->size, BITCODE_SIZE);
    assert_int_equal(image->registered, DEVIMG_MAYBE);
    assert_int_equal(image->kernel_count, 2);
    assert_int_equal(image->entry_count, 2);
    assert_string_equal(image->entries[0], "one");
    assert_string_equal(image->entries[1], "two");
    assert_non_null(strstr(image->note, "generic"));
    assert_int_equal(devimg_module_count(file), 1);
    assert_int_equal(devimg_module_at(file, 0)->name_count, 2);
    devimg_close(file);
}

static void kernels_go_to_the_images_that_provide_them(void **state)
{
    (void)state;
    struct devimg_file *file = OPEN(
        START IMAGES IMAGE("b", "0", "16") IMAGE("a", "16", "16")
            KERNELS KERNEL("one", "a") "{.two\n{.image-providers\n{.b\n"
                                       "}.b\n{.a\n}.a\n"
                                       "}.image-providers\n}.two\n" END MARKER BITCODE BITCODE);
    assert_int_equal(devimg_finding_count(file), 0);
    assert_int_equal(devimg_image_count(file), 2);
    const struct devimg_image *b = devimg_image_at(file, 0), *a = devimg_image_at(file, 1);
    assert_string_equal(b->entry_id, "b");
    assert_int_equal(b->entry_count, 1);
    assert_string_equal(b->entries[0], "two");
    assert_string_equal(a->entry_id, "a");
    assert_int_equal(a->entry_count, 2);
    assert_string_equal(a->entries[0], "one");
    assert_string_equal(a->entries[1], "two");
    assert_int_equal(devimg_module_count(file), 2);
    devimg_close(file);
}

static void blanks_do_not_count(void **state)
{
    (void)state;
    struct devimg_file *file =
        OPEN("object-id=1\r\n\r\n  {.images \n\t{.x\n  format = llvm-ir \n{.__binary\n start = 0 \n"
             "size\t=\t16\v\n}.__binary\n }.x\r\n }.images\t\n  " MARKER BITCODE);
    const struct devimg_image *image = only_image(file);
    assert_int_equal(devimg_finding_count(file), 0);
    assert_int_equal(image->size, 16);
    assert_non_null(image->note);
    devimg_close(file);
}

static void the_former_marker_is_known(void **state)
{
    (void)state;
    struct devimg_file *file =
        OPEN(START IMAGES IMAGE("x", "0", "16") "}.images\n__hipsycl_hcf_binary_appendix" BITCODE);
    assert_int_equal(only_image(file)->size, 16);
    assert_int_equal(devimg_finding_count(file), 0);
    devimg_close(file);
}

static void what_is_not_stated_is_unknown(void **state)
{
    (void)state;
    /* no node of kernels */
    struct devimg_file *file = OPEN(START IMAGES IMAGE("x", "0", "16") "}.images\n" MARKER BITCODE);
    assert_true(only_image(file)->kernel_count == DEVIMG_UNKNOWN);
    assert_int_equal(only_image(file)->support, 0);
    devimg_close(file);
    /* a kernel that names no image */
    file = OPEN(START IMAGES IMAGE("x", "0", "16")
                    KERNELS KERNEL("one", "x") "{.two\n}.two\n" END MARKER BITCODE);
    assert_true(only_image(file)->kernel_count == DEVIMG_UNKNOWN);
    assert_int_equal(devimg_finding_count(file), 0);
    devimg_close(file);
    /* no kernels at all: that is stated */
    file = OPEN(START IMAGES IMAGE("x", "0", "16") KERNELS END MARKER BITCODE);
    assert_int_equal(only_image(file)->kernel_count, 0);
    assert_int_equal(only_image(file)->support, 1);
    devimg_close(file);
    /* a format of another name */
    file = OPEN(START IMAGES "{.x\nformat=llvm-ir-2\n{.__binary\nstart=0\nsize=16\n}.__binary\n"
                             "}.x\n}.images\n" MARKER BITCODE);
    assert_null(only_image(file)->note);
    devimg_close(file);
}

static void an_image_past_the_end_leaves_the_others(void **state)
{
    (void)state;
    static const char text[] = START IMAGES IMAGE("x", "1", "32")
        IMAGE("y", "0", "16") "}.images\n" MARKER BITCODE BITCODE;
    struct devimg_file *file = OPEN(text);
    assert_string_equal(only_image(file)->entry_id, "y");
    expect_finding(file, "truncated", sizeof text - 1 - 2 * BITCODE_SIZE + 1, "do not fit in 32");
    devimg_close(file);
    file = OPEN(START IMAGES IMAGE("x", "18446744073709551615", "16")
                    IMAGE("y", "0", "16") "}.images\n" MARKER BITCODE);
    assert_string_equal(only_image(file)->entry_id, "y");
    devimg_close(file);
}

#define BEFORE START IMAGES "{.x\n"

static void numbers_that_are_none_are_malformed(void **state)
{
    (void)state;
    static const char *const sizes[] = { "123456789012345678901234567890",
                                         "18446744073709551616",
                                         "-1",
                                         "+16",
                                         "0x10",
                                         "",
                                         "16a",
                                         "1 6" };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct text t = { 0 };
        (void)say(&t, BEFORE "{.__binary\nstart=0\nsize=");
        const size_t at = say(&t, sizes[i]);
        (void)SAY(&t, "\n}.__binary\n}.x\n}.images\n" MARKER BITCODE);
        struct devimg_file *file = open_bytes(t.bytes, t.size);
        assert_int_equal(devimg_image_count(file), 0);
        expect_finding(file, "malformed", at, "no decimal number");
        devimg_close(file);
        free(t.bytes);
    }
    struct devimg_file *file =
        OPEN(BEFORE "{.__binary\nstart=0\n}.__binary\n}.x\n}.images\n" MARKER BITCODE);
    expect_finding(file, "malformed", sizeof BEFORE - 3, "no size");
    devimg_close(file);
    file = OPEN(BEFORE "{.__binary\nstart=0\nsize=0\n}.__binary\n}.x\n}.images\n" MARKER BITCODE);
    expect_finding(file, "malformed", sizeof BEFORE - 3, "0 bytes");
    devimg_close(file);
    file = OPEN(BEFORE "}.x\n}.images\n" MARKER BITCODE);
    expect_finding(file, "malformed", sizeof BEFORE - 3, "__binary");
    devimg_close(file);
}

#define FIRST  START IMAGES IMAGE("x", "0", "16")
#define FOLLOW "}.images\n" MARKER BITCODE

static void a_broken_header_gives_what_stood_before(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size, behind; /* of the damage, counted behind FIRST */
        const char *part;
    } rows[] = {
#define ROW(text, behind, part) { FIRST text FOLLOW, sizeof(FIRST text FOLLOW) - 1, behind, part }
        ROW("{.unclosed\n", 11 + 2, "ends where"), /* "}.images" closes another node */
        ROW("}.other\n", 2, "ends where"),
        ROW("no key\n", 0, "no key"),
        ROW("{.a\0b\n}.a\0b\n", 3, "NUL"),
        ROW("a=\0\n", 2, "NUL"),
        ROW("}.images\n}.images\n", 11, "was not open"),
#undef ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct devimg_file *file = open_bytes(rows[i].text, rows[i].size);
        assert_true(only_image(file)->kernel_count == DEVIMG_UNKNOWN);
        const size_t at = sizeof FIRST - 1 + rows[i].behind;
        expect_finding(file, "malformed", at, rows[i].part);
        devimg_close(file);
    }
    struct devimg_file *file = OPEN(FIRST MARKER BITCODE);
    assert_int_equal(only_image(file)->size, 16);
    expect_finding(file, "malformed", sizeof START - 1 + 2, "does not end");
    devimg_close(file);
}

static void broken_links_between_kernels_and_images_are_said(void **state)
{
    (void)state;
    struct devimg_file *file =
        OPEN(START IMAGES IMAGE("x", "0", "16") KERNELS KERNEL("one", "y") END MARKER BITCODE);
    assert_true(only_image(file)->kernel_count == DEVIMG_UNKNOWN);
    expect_finding(
        file, "malformed",
        sizeof(START IMAGES IMAGE("x", "0", "16") KERNELS "{.one\n{.image-providers\n{.") - 1,
        "not there");
    devimg_close(file);
    file = OPEN(START IMAGES IMAGE("x", "0", "8") IMAGE("x", "8", "8") KERNELS KERNEL("one", "x")
                    END MARKER CODE "\0\0\0\0" CODE "\0\0\0\0");
    assert_int_equal(devimg_image_count(file), 2);
    assert_int_equal(devimg_finding_count(file), 1);
    assert_non_null(strstr(devimg_finding_at(file, 0)->message, "two images"));
    assert_true(devimg_image_at(file, 0)->kernel_count == DEVIMG_UNKNOWN);
    devimg_close(file);
}

static void deep_nesting_ends(void **state)
{
    (void)state;
    struct text t = { 0 };
    (void)say(&t, START IMAGES IMAGE("x", "0", "16"));
    const size_t first = t.size;
    for (unsigned i = 0; i < 100000; i++)
        (void)say(&t, "{.n\n");
    for (unsigned i = 0; i < 100000; i++)
        (void)say(&t, "}.n\n");
    (void)SAY(&t, FOLLOW);
    struct devimg_file *file = open_bytes(t.bytes, t.size);
    assert_int_equal(only_image(file)->size, 16);
    /* "images" is open as well: the 64th "{.n" is one too many */
    expect_finding(file, "malformed", first + 63 * 4 + 2, "more than 64 deep");
    devimg_close(file);
    free(t.bytes);
}

/* --- in an object --- */

static void set(struct text *t, size_t at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        t->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

enum { HEADER = 64 };

/* A shared library whose only section is .rodata, from byte 64 on. */
static struct text object_of(const void *data, size_t size, bool executable)
{
    static const char names[] = "\0.rodata\0.shstrtab";
    static const uint8_t zeros[3 * 64] = { 0 };
    struct text t = { 0 };
    (void)put(&t, zeros, HEADER);
    memcpy(t.bytes, "\177ELF\2\1\1", 7);
    (void)put(&t, data, size);
    const size_t text = put(&t, names, sizeof names);
    (void)put(&t, zeros, (8 - t.size % 8) % 8);
    const size_t table = put(&t, zeros, sizeof zeros);
    set(&t, 16, 3, 2);
    set(&t, 18, 62, 2);
    set(&t, 20, 1, 4);
    set(&t, 40, table, 8);
    set(&t, 52, 64, 2);
    set(&t, 58, 64, 2);
    set(&t, 60, 3, 2);
    set(&t, 62, 2, 2);
    set(&t, table + 64, 1, 4);
    set(&t, table + 68, 1, 4);                  /* PROGBITS */
    set(&t, table + 72, executable ? 6 : 2, 8); /* ALLOC */
    set(&t, table + 80, HEADER, 8);
    set(&t, table + 88, HEADER, 8);
    set(&t, table + 96, size, 8);
    set(&t, table + 128, 9, 4);
    set(&t, table + 132, 3, 4);
    set(&t, table + 152, text, 8);
    set(&t, table + 160, sizeof names, 8);
    return t;
}

static struct devimg_file *open_object(const void *data, size_t size, bool executable)
{
    struct text t = object_of(data, size, executable);
    struct devimg_file *file = open_bytes(t.bytes, t.size);
    free(t.bytes);
    return file;
}

#define OBJECT(text) open_object(text, sizeof(text) - 1, false)

#define WHOLE START IMAGES IMAGE("x", "0", "16") KERNELS KERNEL("one", "x") END MARKER BITCODE

static void the_marker_alone_is_no_container(void **state)
{
    (void)state;
    struct devimg_file *files[] = {
        OBJECT("some text\0" MARKER "\0{.\0}.\0"),
        OBJECT(MARKER),
        OBJECT("object-id=1\0" MARKER BITCODE), /* a NUL between */
        OBJECT("object-id=\0generator=\0" MARKER "\0object-id=1\n"),
        OBJECT("object-id=1\n_hcf_binary_appendix" BITCODE),
        open_object(WHOLE, sizeof WHOLE - 1, true), /* code of the host */
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_int_equal(devimg_record_at(files[i], 0)->status, DEVIMG_RECORD_NO_DEVICE_CODE);
        assert_int_equal(devimg_image_count(files[i]), 0);
        assert_int_equal(devimg_finding_count(files[i]), 0);
        devimg_close(files[i]);
    }
}

static void containers_are_found_anywhere_in_the_data(void **state)
{
    (void)state;
    static const char text[] = MARKER "\0a\0\xff" WHOLE "\0\0" WHOLE WHOLE "\0end";
    struct devimg_file *file = OBJECT(text);
    assert_int_equal(devimg_finding_count(file), 0);
    assert_int_equal(devimg_image_count(file), 3);
    const size_t first = HEADER + sizeof MARKER + 3 + sizeof WHOLE - 1 - BITCODE_SIZE;
    const size_t offsets[] = { first, first + sizeof WHOLE - 1 + 2,
                               first + 2 * (sizeof WHOLE - 1) + 2 };
    for (uint32_t i = 0; i < 3; i++) {
        const struct devimg_image *image = devimg_image_at(file, i);
        assert_true(image->offset == offsets[i]);
        assert_string_equal(image->section, ".rodata");
        assert_string_equal(image->bundle, "hcf");
        assert_int_equal(image->registered, DEVIMG_MAYBE);
        assert_int_equal(image->kernel_count, 1);
    }
    devimg_close(file);
}

static void an_image_holds_no_container(void **state)
{
    (void)state;
    struct text t = { 0 };
    (void)say(&t, START IMAGES);
    say_number(&t, "{.x\n{.__binary\nstart=0\nsize=", sizeof CODE - 1 + sizeof WHOLE - 1,
               "\n}.__binary\n}.x\n}.images\n" MARKER CODE);
    (void)put(&t, WHOLE, sizeof WHOLE - 1);
    struct devimg_file *file = open_object(t.bytes, t.size, false);
    assert_int_equal(only_image(file)->size, sizeof CODE - 1 + sizeof WHOLE - 1);
    devimg_close(file);
    free(t.bytes);
}

static void work_is_linear_in_hostile_data(void **state)
{
    (void)state;
    struct text markers = { 0 }, containers = { 0 }, images = { 0 }, kernels = { 0 };
    for (unsigned i = 0; i < 100000; i++) {
        (void)say(&markers, "x" MARKER);
        (void)say(&containers, "object-id=\n" MARKER);
    }
    (void)say(&images, START IMAGES);
    for (unsigned i = 0; i < 50000; i++)
        say_number(&images, "{.", i, "\n");
    (void)SAY(&images, MARKER BITCODE);
    (void)say(&kernels, START IMAGES IMAGE("x", "0", "16") KERNELS);
    for (unsigned i = 0; i < 50000; i++)
        (void)say(&kernels, KERNEL("k", "x"));
    (void)SAY(&kernels, END MARKER BITCODE);
    const struct text *all[] = { &markers, &containers, &images, &kernels };
    const clock_t start = clock();
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct devimg_file *file = open_object(all[i]->bytes, all[i]->size, false);
        assert_int_equal(devimg_image_count(file), i == 3);
        if (i == 3)
            assert_int_equal(devimg_image_at(file, 0)->kernel_count, 50000);
        devimg_close(file);
        free(all[i]->bytes);
    }
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC); /* a second under sanitizers */
}

static void every_cut_of_a_container_is_read(void **state)
{
    (void)state;
    static const char whole[] = WHOLE;
    const size_t header = sizeof WHOLE - 1 - BITCODE_SIZE;
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        struct devimg_file *file = open_object(whole, size, false);
        assert_int_equal(devimg_image_count(file), 0);
        assert_int_equal(devimg_finding_count(file), size >= header);
        devimg_close(file);
    }
}

/* --- the fixtures --- */

/* Read from the bytes with grep -abo and dd: the appendix of axpy.hcf starts at 573. */
static void fixtures_are_read(void **state)
{
    (void)state;
    const char *folder = getenv("DEVIMG_TEST_DATA");
    static const struct {
        const char *name;
        uint64_t offset;
    } files[] = { { "axpy.hcf", 573 }, { "lib_hcf.so", 1189 } };
    assert_non_null(folder);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[1024];
        struct devimg_file *file = NULL;
        (void)snprintf(path, sizeof path, "%s/intel/%s", folder, files[i].name);
        assert_int_equal(devimg_open(path, NULL, &file, NULL), DEVIMG_OK);
        const struct devimg_image *image = only_image(file);
        assert_true(image->offset == files[i].offset);
        assert_int_equal(image->size, 2332);
        assert_int_equal(image->entry_count, 1);
        assert_string_equal(image->entries[0], "axpy_kernel");
        assert_int_equal(devimg_finding_count(file), 0);
        devimg_close(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_and_kernels_are_read),
        cmocka_unit_test(kernels_go_to_the_images_that_provide_them),
        cmocka_unit_test(blanks_do_not_count),
        cmocka_unit_test(the_former_marker_is_known),
        cmocka_unit_test(what_is_not_stated_is_unknown),
        cmocka_unit_test(an_image_past_the_end_leaves_the_others),
        cmocka_unit_test(numbers_that_are_none_are_malformed),
        cmocka_unit_test(a_broken_header_gives_what_stood_before),
        cmocka_unit_test(broken_links_between_kernels_and_images_are_said),
        cmocka_unit_test(deep_nesting_ends),
        cmocka_unit_test(the_marker_alone_is_no_container),
        cmocka_unit_test(containers_are_found_anywhere_in_the_data),
        cmocka_unit_test(an_image_holds_no_container),
        cmocka_unit_test(work_is_linear_in_hostile_data),
        cmocka_unit_test(every_cut_of_a_container_is_read),
        cmocka_unit_test(fixtures_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
