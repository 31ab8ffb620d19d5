/* SPDX-License-Identifier: Apache-2.0 */
/* base/view: the only ways to take bytes, text and numbers out of a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/view.h"

static const uint8_t eight[8] = { 1, 2, 3, 4, 5, 6, 7, 0x88 };

static struct dvi_view sample(void)
{
    return dvi_view_of(eight, sizeof eight, "sample");
}

static struct dvi_view text_of(const char *text)
{
    return dvi_view_of(text, strlen(text), "text");
}

static void slice_inside_keeps_offset_and_source(void **state)
{
    (void)state;
    struct dvi_view v = sample(), out = { 0 };
    v.offset = 100;
    assert_int_equal(dvi_slice(v, 2, 3, "part", &out, NULL), DEVIMG_OK);
    assert_ptr_equal(out.data, eight + 2);
    assert_int_equal(out.size, 3);
    assert_int_equal(out.offset, 102);
    assert_string_equal(out.source, "sample");
}

static void slice_past_end_is_truncated(void **state)
{
    (void)state;
    struct devimg_error err = { 0 };
    struct dvi_view v = sample(), out = { 0 };
    v.offset = 100;
    assert_int_equal(dvi_slice(v, 5, 4, "part", &out, &err), DEVIMG_TRUNCATED);
    assert_null(out.data); /* untouched */
    assert_int_equal(err.status, DEVIMG_TRUNCATED);
    assert_int_equal(err.offset, 105);
    assert_string_equal(err.source, "sample");
    assert_string_equal(err.text, "part: 4 bytes at +5 do not fit in 8");
    assert_int_equal(dvi_slice(v, 9, 0, "part", &out, &err), DEVIMG_TRUNCATED);
    assert_int_equal(dvi_slice(v, 8, 0, "part", &out, &err), DEVIMG_OK);
    assert_int_equal(out.size, 0);
    assert_non_null(out.data);
}

static void slice_that_wraps_around_is_truncated(void **state)
{
    (void)state;
    struct dvi_view out = { 0 };
    assert_int_equal(dvi_slice(sample(), 4, UINT64_MAX, "x", &out, NULL), DEVIMG_TRUNCATED);
    assert_int_equal(dvi_slice(sample(), UINT64_MAX, 2, "x", &out, NULL), DEVIMG_TRUNCATED);
    assert_int_equal(dvi_slice(sample(), UINT64_MAX - 3, 8, "x", &out, NULL), DEVIMG_TRUNCATED);
    assert_int_equal(dvi_slice(sample(), (uint64_t)1 << 32, 1, "x", &out, NULL), DEVIMG_TRUNCATED);
}

static void view_of_null_is_empty_and_not_null(void **state)
{
    (void)state;
    const struct dvi_view v = dvi_view_of(NULL, 17, "none");
    assert_non_null(v.data);
    assert_int_equal(v.size, 0);
    assert_true(dvi_all_zero(v));
    assert_true(dvi_equals(v, ""));
}

static void from_past_end_is_empty_at_the_end(void **state)
{
    (void)state;
    const struct dvi_view rest = dvi_from(sample(), UINT64_MAX);
    assert_int_equal(rest.size, 0);
    assert_int_equal(rest.offset, 8);
    assert_int_equal(dvi_from(sample(), 7).size, 1);
}

static void text_without_nul_is_truncated(void **state)
{
    (void)state;
    struct devimg_error err = { 0 };
    struct dvi_view out = { 0 };
    assert_int_equal(dvi_text_at(sample(), 3, "name", &out, &err), DEVIMG_TRUNCATED);
    assert_int_equal(err.offset, 3);
    assert_int_equal(dvi_text_at(sample(), 8, "name", &out, &err), DEVIMG_TRUNCATED);
    assert_int_equal(dvi_text_at(sample(), UINT64_MAX, "name", &out, &err), DEVIMG_TRUNCATED);
    assert_int_equal(err.offset, UINT64_MAX);
}

static void text_ends_before_the_first_nul(void **state)
{
    (void)state;
    struct dvi_view out = { 0 };
    const struct dvi_view v = dvi_view_of("ab\0cd\0\0", 7, "t");
    assert_int_equal(dvi_text_at(v, 3, "name", &out, NULL), DEVIMG_OK);
    assert_true(dvi_equals(out, "cd"));
    assert_int_equal(dvi_text_at(v, 6, "name", &out, NULL), DEVIMG_OK);
    assert_int_equal(out.size, 0);
}

static void comparing_never_reads_past_the_view(void **state)
{
    (void)state;
    const struct dvi_view v = sample();
    assert_true(dvi_starts_with(v, eight, 8));
    assert_false(dvi_starts_with(v, "\1\2\3\4\5\6\7\x88\0", 9));
    assert_false(dvi_ends_with(text_of("b"), "ab"));
    assert_true(dvi_ends_with(text_of("lib.a"), ".a"));
    assert_true(dvi_ends_with(text_of(""), ""));
    assert_false(dvi_equals(text_of("abc"), "ab"));
    assert_false(dvi_equals(text_of("ab"), "abc"));
}

static void compare_puts_a_shorter_prefix_first(void **state)
{
    (void)state;
    assert_true(dvi_compare(text_of("ab"), text_of("abc")) < 0);
    assert_true(dvi_compare(text_of("abc"), text_of("ab")) > 0);
    assert_int_equal(dvi_compare(text_of("ab"), text_of("ab")), 0);
    assert_true(dvi_compare(text_of("\x80"), text_of("a")) > 0); /* bytes, not signed chars */
    assert_true(dvi_compare(text_of(""), text_of("a")) < 0);
}

static void all_zero_sees_the_last_byte(void **state)
{
    (void)state;
    assert_true(dvi_all_zero(dvi_view_of("\0\0\0", 3, "z")));
    assert_false(dvi_all_zero(dvi_view_of("\0\0\1", 3, "z")));
    assert_false(dvi_all_zero(dvi_view_of("\1\1\1", 3, "z")));
    assert_true(dvi_all_zero(dvi_view_of("\0", 1, "z")));
    assert_false(dvi_all_zero(dvi_view_of("\1", 1, "z")));
}

static void decimal_past_64_bits_is_refused(void **state)
{
    (void)state;
    uint64_t out = 7;
    assert_true(dvi_decimal(text_of("18446744073709551615"), &out));
    assert_true(out == UINT64_MAX);
    out = 7;
    assert_false(dvi_decimal(text_of("18446744073709551616"), &out));
    assert_false(dvi_decimal(text_of("18446744073709551620"), &out));
    assert_false(dvi_decimal(text_of("99999999999999999999"), &out));
    assert_false(dvi_decimal(text_of("100000000000000000000000000000"), &out));
    assert_int_equal(out, 7);
}

static void decimal_takes_digits_and_trailing_blanks_only(void **state)
{
    (void)state;
    static const char *const bad[] = { "",   " ",    "  ",  "-1",  "+1",  " 1",
                                       "1x", "0x10", "1 2", "1\t", "1.0", "x" };
    uint64_t out = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(dvi_decimal(text_of(bad[i]), &out));
    assert_int_equal(out, 7);
    assert_true(dvi_decimal(text_of("42        "), &out));
    assert_int_equal(out, 42);
    assert_true(dvi_decimal(text_of("000000000000000000000000000009"), &out));
    assert_int_equal(out, 9);
    assert_false(dvi_decimal(dvi_view_of("1\0", 2, "t"), &out));
}

static void peek_past_end_is_zero(void **state)
{
    (void)state;
    const struct dvi_view v = sample();
    assert_int_equal(dvi_peek16(v, 0), 0x0201);
    assert_int_equal(dvi_peek32(v, 1), 0x05040302);
    assert_true(dvi_peek64(v, 0) == 0x8807060504030201u);
    assert_int_equal(dvi_peek16(v, 6), 0x8807);
    assert_int_equal(dvi_peek16(v, 7), 0);
    assert_int_equal(dvi_peek32(v, 5), 0);
    assert_int_equal(dvi_peek64(v, 1), 0);
    assert_int_equal(dvi_peek16(v, 8), 0);
    assert_int_equal(dvi_peek64(v, UINT64_MAX), 0);
    assert_int_equal(dvi_peek64(v, UINT64_MAX - 7), 0);
}

static void cursor_reads_fields_in_order(void **state)
{
    (void)state;
    struct dvi_cursor c = dvi_cursor_at(sample(), 0);
    assert_int_equal(dvi_u8(&c), 1);
    assert_int_equal(dvi_le16(&c), 0x0302);
    dvi_skip(&c, 1);
    const struct dvi_view taken = dvi_take(&c, 2);
    assert_int_equal(taken.size, 2);
    assert_int_equal(taken.offset, 4);
    assert_int_equal(dvi_left(&c), 2);
    assert_int_equal(dvi_le16(&c), 0x8807);
    assert_int_equal(dvi_left(&c), 0);
    assert_int_equal(dvi_cursor_check(&c, "record", NULL), DEVIMG_OK);
}

static void cursor_remembers_the_first_read_that_does_not_fit(void **state)
{
    (void)state;
    struct devimg_error err = { 0 };
    struct dvi_cursor c = dvi_cursor_at(sample(), 6);
    assert_int_equal(dvi_le32(&c), 0);
    assert_int_equal(dvi_u8(&c), 0); /* would fit, but comes after a failure */
    assert_int_equal(dvi_take(&c, 1).size, 0);
    dvi_skip(&c, UINT64_MAX);
    assert_int_equal(dvi_cursor_check(&c, "record", &err), DEVIMG_TRUNCATED);
    assert_int_equal(err.offset, 6);
    assert_string_equal(err.text, "record: 4 bytes at +6 do not fit in 8");
}

static void cursor_sizes_that_wrap_around_fail(void **state)
{
    (void)state;
    struct dvi_cursor c = dvi_cursor_at(sample(), 4);
    assert_int_equal(dvi_take(&c, UINT64_MAX - 1).size, 0);
    assert_true(c.failed);
    c = dvi_cursor_at(sample(), 4);
    dvi_skip(&c, UINT64_MAX);
    assert_true(c.failed);
    assert_int_equal(c.at, 4);
    c = dvi_cursor_at(sample(), 9);
    assert_int_equal(dvi_u8(&c), 0);
    assert_int_equal(dvi_cursor_check(&c, "x", NULL), DEVIMG_TRUNCATED);
    c = dvi_cursor_at(sample(), 8);
    assert_int_equal(dvi_cursor_check(&c, "x", NULL), DEVIMG_OK);
    assert_int_equal(dvi_take(&c, 0).size, 0);
    assert_false(c.failed);
}

static void error_text_shows_no_control_bytes(void **state)
{
    (void)state;
    struct devimg_error err = { 0 };
    assert_int_equal(
        dvi_fail(&err, DEVIMG_MALFORMED, sample(), 1, "name \"%s\"", "a\033[1m\n\177b"),
        DEVIMG_MALFORMED);
    assert_string_equal(err.text, "name \"a?[1m??b\"");
    assert_int_equal(err.offset, 1);
}

static void error_longer_than_its_room_is_cut(void **state)
{
    (void)state;
    struct devimg_error err = { 0 };
    char text[600];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    const struct dvi_view v = { eight, 8, 0, text };
    (void)dvi_fail(&err, DEVIMG_MALFORMED, v, 0, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(strlen(err.source), sizeof err.source - 1);
    (void)dvi_fail(NULL, DEVIMG_MALFORMED, v, 0, "%s", text); /* no error record: nothing happens */
}

/* "\xc3\xa9" is one character of two bytes (e acute), "\xe2\x82\xac" of three, "\xf0\x9f\x98\x80" of four. */
static void text_for_a_message_is_cut_at_the_end_of_a_character(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        { "", "" },
        { "1234567", "1234567" },
        { "12345678", "1234..." },
        { "123\xc3\xa9"
          "67",
          "123\xc3\xa9"
          "67" },
        { "123\xc3\xa9"
          "678",
          "123..." },
        { "12\xe2\x82\xac"
          "678",
          "12..." },
        { "1\xf0\x9f\x98\x80"
          "678",
          "1..." },
        { "\xf0\x9f\x98\x80"
          "5678",
          "\xf0\x9f\x98\x80..." },
        { "\x80\x80\x80\x80\x80\x80\x80\x80", "\x80\x80\x80\x80..." }, /* no UTF-8: as it is */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[8];
        dvi_show(out, sizeof out, dvi_view_of(cases[i].text, strlen(cases[i].text), NULL));
        assert_string_equal(out, cases[i].shown);
    }
    struct devimg_error err = { 0 };
    char text[600] = "";
    for (size_t i = 0; i + 3 <= sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa9", 3);
    (void)dvi_fail(&err, DEVIMG_MALFORMED, sample(), 0, "x%s", text); /* characters at odd places */
    assert_string_equal(err.text + strlen(err.text) - 5, "\xc3\xa9...");
    (void)dvi_fail(&err, DEVIMG_MALFORMED, sample(), 0, "%s", text);
    assert_string_equal(err.text + strlen(err.text) - 5, "\xc3\xa9...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slice_inside_keeps_offset_and_source),
        cmocka_unit_test(slice_past_end_is_truncated),
        cmocka_unit_test(slice_that_wraps_around_is_truncated),
        cmocka_unit_test(view_of_null_is_empty_and_not_null),
        cmocka_unit_test(from_past_end_is_empty_at_the_end),
        cmocka_unit_test(text_without_nul_is_truncated),
        cmocka_unit_test(text_ends_before_the_first_nul),
        cmocka_unit_test(comparing_never_reads_past_the_view),
        cmocka_unit_test(compare_puts_a_shorter_prefix_first),
        cmocka_unit_test(all_zero_sees_the_last_byte),
        cmocka_unit_test(decimal_past_64_bits_is_refused),
        cmocka_unit_test(decimal_takes_digits_and_trailing_blanks_only),
        cmocka_unit_test(peek_past_end_is_zero),
        cmocka_unit_test(cursor_reads_fields_in_order),
        cmocka_unit_test(cursor_remembers_the_first_read_that_does_not_fit),
        cmocka_unit_test(cursor_sizes_that_wrap_around_fail),
        cmocka_unit_test(error_text_shows_no_control_bytes),
        cmocka_unit_test(error_longer_than_its_room_is_cut),
        cmocka_unit_test(text_for_a_message_is_cut_at_the_end_of_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
