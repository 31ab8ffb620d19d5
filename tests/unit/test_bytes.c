/* SPDX-License-Identifier: Apache-2.0 */
/* devimg_image_bytes() on fixtures: what stands in the file, what libzstd makes of it, and what ar
 * members are, cut out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config.h"
#include "devimg.h"

#if DVI_HAVE_ZSTD
#include <zstd.h>
#endif

struct bytes {
    uint8_t *data;
    size_t size;
    int calls;
};

static struct bytes load(const char *name)
{
    struct bytes b = { 0 };
    char path[1024];
    assert_non_null(getenv("DEVIMG_TEST_DATA"));
    (void)snprintf(path, sizeof path, "%s/intel/%s", getenv("DEVIMG_TEST_DATA"), name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    b.data = malloc(1 << 20);
    assert_non_null(b.data);
    b.size = fread(b.data, 1, 1 << 20, in);
    (void)fclose(in);
    return b;
}

static struct devimg_file *open_bytes(const struct bytes *b, const struct devimg_opts *opts)
{
    struct devimg_file *file = NULL;
    assert_int_equal(devimg_open_bytes(b->data, b->size, "f", opts, &file, NULL), DEVIMG_OK);
    return file;
}

static enum devimg_status keep(void *context, const void *bytes, size_t size,
                               struct devimg_error *err)
{
    struct bytes *b = context;
    (void)err;
    free(b->data);
    b->data = malloc(size + 1);
    assert_non_null(b->data);
    memcpy(b->data, bytes, size);
    b->size = size;
    b->calls++;
    return DEVIMG_OK;
}

static void expect_bytes(struct devimg_file *file, uint32_t i, int as_stored, const void *expected,
                         size_t size)
{
    struct bytes got = { 0 };
    assert_int_equal(devimg_image_bytes(file, i, as_stored, keep, &got, NULL), DEVIMG_OK);
    assert_int_equal(got.calls, 1);
    assert_true(got.size == size);
    assert_memory_equal(got.data, expected, size);
    free(got.data);
}

static void expect_refused(struct devimg_file *file, uint32_t i, int as_stored,
                           enum devimg_status status, const char *text)
{
    struct devimg_error err = { 0 };
    struct bytes got = { 0 };
    assert_int_equal(devimg_image_bytes(file, i, as_stored, keep, &got, &err), status);
    assert_int_equal(got.calls, 0);
    assert_non_null(strstr(err.text, text));
    assert_int_equal(devimg_image_bytes(file, i, as_stored, keep, &got, NULL), status);
}

/* lib_aot.so: raw archives of three members each, raw SPIR-V. */
static void raw_image_and_its_members_are_slices_of_the_file(void **state)
{
    (void)state;
    struct bytes f = load("lib_aot.so");
    struct devimg_file *file = open_bytes(&f, NULL);
    assert_int_equal(devimg_image_count(file), 10);
    for (uint32_t i = 0; i < 10; i++) {
        const struct devimg_image *image = devimg_image_at(file, i);
        expect_bytes(file, i, 0, f.data + image->offset, (size_t)image->size);
        if (image->parent == DEVIMG_NONE)
            expect_bytes(file, i, 1, f.data + image->offset, (size_t)image->size);
        else
            expect_refused(file, i, 1, DEVIMG_UNSUPPORTED, "is a member of another");
    }
    assert_int_equal(devimg_image_bytes(file, 10, 0, keep, NULL, NULL), DEVIMG_END);
    devimg_close(file);
    free(f.data);
}

static enum devimg_status refuse(void *context, const void *bytes, size_t size,
                                 struct devimg_error *err)
{
    (void)context, (void)bytes, (void)size, (void)err;
    return DEVIMG_NOMEM;
}

static void what_the_sink_says_is_said(void **state)
{
    (void)state;
    struct bytes f = load("basic.spv");
    struct devimg_file *file = open_bytes(&f, NULL);
    assert_int_equal(devimg_image_bytes(file, 0, 0, refuse, NULL, NULL), DEVIMG_NOMEM);
    devimg_close(file);
    free(f.data);
}

#if DVI_HAVE_ZSTD
static void frame_is_what_libzstd_makes_of_it(void **state)
{
    static uint8_t whole[1 << 20];
    (void)state;
    struct bytes f = load("lib_aot_zstd.so");
    struct devimg_file *file = open_bytes(&f, NULL);
    size_t size = 0;
    assert_int_equal(devimg_image_count(file), 10);
    for (uint32_t i = 0; i < 10; i++) {
        const struct devimg_image *image = devimg_image_at(file, i);
        if (image->parent == DEVIMG_NONE) {
            const uint8_t *stored = f.data + image->offset;
            size = ZSTD_decompress(whole, sizeof whole, stored, (size_t)image->stored_size);
            assert_false(ZSTD_isError(size));
            expect_bytes(file, i, 0, whole, size);
            expect_bytes(file, i, 1, stored, (size_t)image->stored_size);
        } else {
            assert_true(image->offset_in_parent + image->size <= size);
            expect_bytes(file, i, 0, whole + image->offset_in_parent, (size_t)image->size);
        }
    }
    devimg_close(file);
    free(f.data);
}

static void frame_past_a_limit_is_refused_and_can_still_be_had_as_stored(void **state)
{
    (void)state;
    struct bytes f = load("lib_aot_zstd.so");
    struct devimg_opts opts = { .struct_size = sizeof opts, .max_inflated_size = 1000 };
    struct devimg_file *file = open_bytes(&f, &opts);
    assert_int_equal(devimg_image_count(file), 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct devimg_image *image = devimg_image_at(file, i);
        expect_refused(file, i, 0, DEVIMG_LIMIT, "max-inflated-size");
        expect_bytes(file, i, 1, f.data + image->offset, (size_t)image->stored_size);
    }
    devimg_close(file);
    free(f.data);
}

static void frame_that_does_not_inflate_is_malformed(void **state)
{
    (void)state;
    struct bytes f = load("lib_aot_zstd.so");
    struct devimg_file *file = open_bytes(&f, NULL);
    const struct devimg_image image = *devimg_image_at(file, 9);
    memset(f.data + image.offset + 60, 0xff, 100); /* inside its only block */
    expect_refused(file, 9, 0, DEVIMG_MALFORMED, "zstd frame");
    expect_bytes(file, 9, 1, f.data + image.offset, (size_t)image.stored_size);
    devimg_close(file);
    free(f.data);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_image_and_its_members_are_slices_of_the_file),
        cmocka_unit_test(what_the_sink_says_is_said),
#if DVI_HAVE_ZSTD
        cmocka_unit_test(frame_is_what_libzstd_makes_of_it),
        cmocka_unit_test(frame_past_a_limit_is_refused_and_can_still_be_had_as_stored),
        cmocka_unit_test(frame_that_does_not_inflate_is_malformed),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
