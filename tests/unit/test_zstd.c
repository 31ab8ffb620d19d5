/* SPDX-License-Identifier: Apache-2.0 */
/* codec/zstd. Frames are written by hand from RFC 8878, section 3.1.1, or by the zstd program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/codec.h"
#include "config.h"

#define FRAME(text) dvi_view_of(text, sizeof(text) - 1, "frame")
#define MAGIC       "\x28\xb5\x2f\xfd"

static void expect_frame(struct dvi_view v, size_t stored, uint64_t size)
{
    struct dvi_zstd_frame frame = { 0 };
    assert_true(dvi_zstd_match(v));
    assert_int_equal(dvi_zstd_frame_at(v, &frame, NULL), DEVIMG_OK);
    assert_int_equal(frame.stored.size, stored);
    assert_true(frame.size == size);
}

static enum devimg_status inflate(struct dvi_view v, uint64_t most, const char *expected,
                                  size_t expected_size, struct devimg_error *err)
{
    struct dvi_zstd_frame frame = { 0 };
    struct dvi_buffer buffer = { 0 };
    struct dvi_view out = { 0 };
    enum devimg_status status = dvi_zstd_frame_at(v, &frame, err);
    if (status == DEVIMG_OK)
        status = dvi_zstd_inflate(&frame, "inflated", most, &buffer, &out, err);
    if (status == DEVIMG_OK && expected != NULL) {
        assert_int_equal(out.size, expected_size);
        assert_memory_equal(out.data, expected, expected_size);
        assert_string_equal(out.source, "inflated");
        assert_int_equal(out.offset, 0);
    }
    dvi_buffer_free(&buffer);
    return status;
}

/* A last raw block of 2 bytes: header 1 | 0 << 1 | 2 << 3 = 0x11. */
#define RAW2 "\x11\0\0hi"

static void every_form_of_the_content_size_is_read(void **state)
{
    (void)state;
    expect_frame(FRAME(MAGIC "\x20\x02" RAW2), 11, 2);                  /* 1 byte */
    expect_frame(FRAME(MAGIC "\x60\x01\x02" RAW2), 12, 0x201 + 256);    /* 2 bytes */
    expect_frame(FRAME(MAGIC "\xa0\x02\0\0\x80" RAW2), 14, 0x80000002); /* 4 bytes */
    expect_frame(FRAME(MAGIC "\xe0\x02\0\0\0\0\0\0\1" RAW2), 18,        /* 8 bytes */
                 ((uint64_t)1 << 56) + 2);
    expect_frame(FRAME(MAGIC "\0\x58" RAW2), 11, DEVIMG_UNKNOWN); /* none: a window instead */
    expect_frame(FRAME(MAGIC "\x40\x58\0\0" RAW2), 13, 256);      /* window and 2 bytes */
    expect_frame(FRAME(MAGIC "\xc0\x58\x07\0\0\0\0\0\0\0" RAW2), 19, 7);
}

static void dictionary_ids_are_stepped_over(void **state)
{
    (void)state;
    expect_frame(FRAME(MAGIC "\x21\xaa\x02" RAW2), 12, 2);
    expect_frame(FRAME(MAGIC "\x22\xaa\xaa\x02" RAW2), 13, 2);
    expect_frame(FRAME(MAGIC "\x23\xaa\xaa\xaa\xaa\x02" RAW2), 15, 2);
}

static void checksum_belongs_to_the_frame(void **state)
{
    (void)state;
    struct dvi_zstd_frame frame = { 0 };
    expect_frame(FRAME(MAGIC "\x24\x02" RAW2 "sum."), 15, 2);
    assert_int_equal(dvi_zstd_frame_at(FRAME(MAGIC "\x24\x02" RAW2 "sum"), &frame, NULL),
                     DEVIMG_TRUNCATED);
}

static void rle_block_holds_one_byte(void **state)
{
    (void)state;
    /* last, type 1, 5 times: 1 | 1 << 1 | 5 << 3 = 0x2b */
    expect_frame(FRAME(MAGIC "\x20\x05\x2b\0\0z behind"), 10, 5);
#if DVI_HAVE_ZSTD
    assert_int_equal(inflate(FRAME(MAGIC "\x20\x05\x2b\0\0z"), 5, "zzzzz", 5, NULL), DEVIMG_OK);
#endif
}

static void several_blocks_are_walked(void **state)
{
    (void)state;
    /* raw 1 ("a", not last: 8), rle 3 (0x1a), raw 0, last (1) */
    expect_frame(FRAME(MAGIC "\x20\x04\x08\0\0a\x1a\0\0b\x01\0\0"), 17, 4);
#if DVI_HAVE_ZSTD
    assert_int_equal(inflate(FRAME(MAGIC "\x20\x04\x08\0\0a\x1a\0\0b\x01\0\0"), 4, "abbb", 4, NULL),
                     DEVIMG_OK);
#endif
}

static void reserved_block_is_malformed(void **state)
{
    (void)state;
    struct dvi_zstd_frame frame = { 0 };
    struct devimg_error err = { 0 };
    /* 1 | 3 << 1 | 2 << 3 = 0x17 */
    assert_int_equal(dvi_zstd_frame_at(FRAME(MAGIC "\x20\x02\x17\0\0hi"), &frame, &err),
                     DEVIMG_MALFORMED);
    assert_int_equal(err.offset, 6);
    /* also when the size that it states goes past the end */
    assert_int_equal(dvi_zstd_frame_at(FRAME(MAGIC "\x20\x02\xff\xff\xff"), &frame, &err),
                     DEVIMG_MALFORMED);
    assert_int_equal(err.offset, 6);
}

static void frame_cut_at_any_byte_is_truncated(void **state)
{
    (void)state;
    static const char whole[] = MAGIC "\x66\x34\x12\x01\0\x08\0\0a\x1a\0\0b\x11\0\0hisum.";
    struct dvi_zstd_frame frame = { 0 };
    expect_frame(FRAME(whole), sizeof whole - 1, 256 + 1);
    for (size_t size = 4; size < sizeof whole - 1; size++) {
        uint8_t *copy = malloc(size); /* of its own, so that a read past it is seen */
        assert_non_null(copy);
        memcpy(copy, whole, size);
        assert_int_equal(dvi_zstd_frame_at(dvi_view_of(copy, size, "cut"), &frame, NULL),
                         DEVIMG_TRUNCATED);
        free(copy);
    }
}

static void match_needs_the_whole_magic(void **state)
{
    (void)state;
    assert_false(dvi_zstd_match(FRAME("\x28\xb5\x2f")));
    assert_false(dvi_zstd_match(FRAME("")));
    assert_false(dvi_zstd_match(FRAME("\x50\x2a\x4d\x18\1\0\0\0x"))); /* a skippable frame */
    assert_true(dvi_zstd_match(FRAME(MAGIC)));
}

static void bytes_behind_the_last_block_are_no_part(void **state)
{
    (void)state;
    expect_frame(FRAME(MAGIC "\x20\x02" RAW2 "\x50\x2a\x4d\x18\1\0\0\0x"), 11, 2);
    expect_frame(FRAME(MAGIC "\x20\x02" RAW2 MAGIC "\x20\x02" RAW2), 11, 2);
}

#if DVI_HAVE_ZSTD

static void lying_content_size_is_malformed(void **state)
{
    (void)state;
    struct devimg_error err = { 0 };
    assert_int_equal(inflate(FRAME(MAGIC "\x20\x02" RAW2), 100, "hi", 2, &err), DEVIMG_OK);
    assert_int_equal(inflate(FRAME(MAGIC "\x20\x03" RAW2), 100, NULL, 0, &err), DEVIMG_MALFORMED);
    assert_int_equal(inflate(FRAME(MAGIC "\x20\x01" RAW2), 100, NULL, 0, &err), DEVIMG_MALFORMED);
    assert_int_equal(inflate(FRAME(MAGIC "\x20\x00" RAW2), 100, NULL, 0, &err), DEVIMG_MALFORMED);
}

static void content_size_no_frame_can_hold_allocates_nothing(void **state)
{
    (void)state;
    struct devimg_error err = { 0 };
    /* 2^56 + 2 bytes of 18: each block makes 128 KiB at most */
    assert_int_equal(inflate(FRAME(MAGIC "\xe0\x02\0\0\0\0\0\0\1" RAW2), UINT64_MAX, NULL, 0, &err),
                     DEVIMG_MALFORMED);
    assert_non_null(strstr(err.text, "72057594037927938"));
}

static void content_size_past_the_limit_is_limit(void **state)
{
    (void)state;
    struct devimg_error err = { 0 };
    assert_int_equal(inflate(FRAME(MAGIC "\x20\x05\x2b\0\0z"), 4, NULL, 0, &err), DEVIMG_LIMIT);
    assert_non_null(strstr(err.text, "max-inflated-size"));
    assert_non_null(strstr(err.text, "limit of 4 bytes"));
}

/* `blocks` RLE blocks of 128 KiB without a content size: 4 bytes make 131072. */
static uint8_t *bomb(size_t blocks, size_t *size)
{
    *size = 6 + blocks * 4;
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    memcpy(bytes, MAGIC "\0\x58", 6);
    for (size_t i = 0; i < blocks; i++) {
        const uint32_t header = (i + 1 == blocks) | 1u << 1 | 131072u << 3;
        bytes[6 + i * 4] = (uint8_t)header;
        bytes[7 + i * 4] = (uint8_t)(header >> 8);
        bytes[8 + i * 4] = (uint8_t)(header >> 16);
        bytes[9 + i * 4] = 'B';
    }
    return bytes;
}

static void bomb_without_a_content_size_stops_at_the_limit(void **state)
{
    (void)state;
    struct devimg_error err = { 0 };
    struct dvi_zstd_frame frame = { 0 };
    struct dvi_buffer buffer = { 0 };
    struct dvi_view out = { 0 };
    size_t size = 0;
    uint8_t *bytes = bomb(1 << 20, &size); /* would be 128 GiB */
    assert_int_equal(dvi_zstd_frame_at(dvi_view_of(bytes, size, "bomb"), &frame, &err), DEVIMG_OK);
    assert_int_equal(frame.stored.size, size);
    assert_true(frame.size == DEVIMG_UNKNOWN);
    assert_int_equal(dvi_zstd_inflate(&frame, "b", 1 << 20, &buffer, &out, &err), DEVIMG_LIMIT);
    assert_non_null(strstr(err.text, "max-inflated-size"));
    assert_true(buffer.room <= 4 << 20);
    dvi_buffer_free(&buffer);
    free(bytes);
}

static void unsized_frame_may_hold_exactly_the_limit(void **state)
{
    (void)state;
    size_t size = 0;
    uint8_t *bytes = bomb(3, &size);
    char *expected = malloc(3 * 131072);
    assert_non_null(expected);
    memset(expected, 'B', 3 * 131072);
    const struct dvi_view v = dvi_view_of(bytes, size, "frame");
    assert_int_equal(inflate(v, 3 * 131072, expected, 3 * 131072, NULL), DEVIMG_OK);
    assert_int_equal(inflate(v, 3 * 131072 - 1, NULL, 0, NULL), DEVIMG_LIMIT);
    free(bytes);
    free(expected);
}

/* printf 'devimg devimg devimg devimg devimg devimg\n' | zstd -19 --no-check -c, zstd 1.5.4: from a
 * pipe, so that no content size is known. */
static void frame_that_zstd_wrote_without_a_content_size_inflates(void **state)
{
    (void)state;
    static const char text[] = "devimg devimg devimg devimg devimg devimg\n";
    static const char frame[] =
        "\x28\xb5\x2f\xfd\x00\x68\x75\x00\x00\x40\x64\x65\x76\x69\x6d\x67\x20\x0a"
        "\x01\x00\x72\x8a\x11";
    expect_frame(FRAME(frame), sizeof frame - 1, DEVIMG_UNKNOWN);
    assert_int_equal(inflate(FRAME(frame), 42, text, sizeof text - 1, NULL), DEVIMG_OK);
    assert_int_equal(inflate(FRAME(frame), 41, NULL, 0, NULL), DEVIMG_LIMIT);
}

static void damaged_block_is_malformed_and_the_buffer_stays_usable(void **state)
{
    (void)state;
    struct dvi_zstd_frame bad = { 0 }, good = { 0 };
    struct dvi_buffer buffer = { 0 };
    struct dvi_view out = { 0 };
    /* a compressed block (type 2) of two bytes that are none: sized and unsized */
    static const char *const frames[] = { MAGIC "\x20\x09\x15\0\0\xff\xff",
                                          MAGIC "\x00\x58\x15\0\0\xff\xff" };
    assert_int_equal(dvi_zstd_frame_at(FRAME(MAGIC "\x20\x05\x2b\0\0z"), &good, NULL), DEVIMG_OK);
    for (size_t i = 0; i < 2; i++) {
        const struct dvi_view v = dvi_view_of(frames[i], 11, "bad");
        assert_int_equal(dvi_zstd_frame_at(v, &bad, NULL), DEVIMG_OK);
        assert_int_equal(dvi_zstd_inflate(&bad, "x", 1 << 20, &buffer, &out, NULL),
                         DEVIMG_MALFORMED);
        assert_int_equal(dvi_zstd_inflate(&good, "x", 5, &buffer, &out, NULL), DEVIMG_OK);
        assert_int_equal(out.size, 5);
        assert_memory_equal(out.data, "zzzzz", 5);
    }
    dvi_buffer_free(&buffer);
}

static void frame_of_nothing_inflates_to_nothing(void **state)
{
    (void)state;
    assert_int_equal(inflate(FRAME(MAGIC "\x20\x00\x01\0\0"), 1, "", 0, NULL), DEVIMG_OK);
    assert_int_equal(inflate(FRAME(MAGIC "\x00\x58\x01\0\0"), 1, "", 0, NULL), DEVIMG_OK);
}

static void wrong_checksum_is_malformed(void **state)
{
    (void)state;
    assert_int_equal(inflate(FRAME(MAGIC "\x24\x02" RAW2 "sum."), 9, NULL, 0, NULL),
                     DEVIMG_MALFORMED);
}

static void dictionary_that_is_not_here_is_malformed(void **state)
{
    (void)state;
    assert_int_equal(inflate(FRAME(MAGIC "\x21\xaa\x02" RAW2), 9, NULL, 0, NULL), DEVIMG_MALFORMED);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_the_content_size_is_read),
        cmocka_unit_test(dictionary_ids_are_stepped_over),
        cmocka_unit_test(checksum_belongs_to_the_frame),
        cmocka_unit_test(rle_block_holds_one_byte),
        cmocka_unit_test(several_blocks_are_walked),
        cmocka_unit_test(reserved_block_is_malformed),
        cmocka_unit_test(frame_cut_at_any_byte_is_truncated),
        cmocka_unit_test(match_needs_the_whole_magic),
        cmocka_unit_test(bytes_behind_the_last_block_are_no_part),
#if DVI_HAVE_ZSTD
        cmocka_unit_test(lying_content_size_is_malformed),
        cmocka_unit_test(content_size_no_frame_can_hold_allocates_nothing),
        cmocka_unit_test(content_size_past_the_limit_is_limit),
        cmocka_unit_test(bomb_without_a_content_size_stops_at_the_limit),
        cmocka_unit_test(unsized_frame_may_hold_exactly_the_limit),
        cmocka_unit_test(frame_that_zstd_wrote_without_a_content_size_inflates),
        cmocka_unit_test(damaged_block_is_malformed_and_the_buffer_stays_usable),
        cmocka_unit_test(frame_of_nothing_inflates_to_nothing),
        cmocka_unit_test(wrong_checksum_is_malformed),
        cmocka_unit_test(dictionary_that_is_not_here_is_malformed),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
