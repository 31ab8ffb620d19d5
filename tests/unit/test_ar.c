/* SPDX-License-Identifier: Apache-2.0 */
/* The ar member iterator, on archives written out here; layout: docs/format/ar.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "object/object.h"

#define MAGIC "!<arch>\n"
#define THIN  "!<thin>\n"
/* Name (16), date, uid, gid, mode (32 together), size (10), end. */
#define MEMBER(name, size) name "0           0     0     644     " size "`\n"

/* A literal may hold NULs, so its size comes from the array. */
#define BEGIN(text) dvi_ar_begin(dvi_view_of(text, sizeof(text) - 1, "test.a"))

static void expect(struct dvi_ar *it, const char *name, const char *data)
{
    struct dvi_ar_member m = { 0 };
    struct devimg_error err = { 0 };
    assert_int_equal(dvi_ar_next(it, &m, &err), DEVIMG_OK);
    if (!dvi_equals(m.name, name) || !dvi_equals(m.data, data))
        fail_msg("member \"%.*s\" with \"%.*s\", expected \"%s\" with \"%s\"", (int)m.name.size,
                 (const char *)m.name.data, (int)m.data.size, (const char *)m.data.data, name,
                 data);
    assert_false(m.special);
}

static void expect_special(struct dvi_ar *it)
{
    struct dvi_ar_member m = { 0 };
    assert_int_equal(dvi_ar_next(it, &m, NULL), DEVIMG_OK);
    assert_true(m.special);
}

static void expect_end(struct dvi_ar *it)
{
    struct dvi_ar_member m = { 0 };
    assert_int_equal(dvi_ar_next(it, &m, NULL), DEVIMG_END);
}

/* The error's offset, and whether the next call goes on behind the damage. */
static void expect_damage(struct dvi_ar *it, enum devimg_status status, uint64_t offset,
                          bool goes_on)
{
    struct dvi_ar_member m = { 0 };
    struct devimg_error err = { 0 };
    const uint64_t at = it->at;
    assert_int_equal(dvi_ar_next(it, &m, &err), status);
    assert_int_equal(err.status, status);
    assert_int_equal(err.offset, offset);
    assert_string_equal(err.source, "test.a");
    assert_int_equal(it->at != at, goes_on);
}

static void archive_without_members_ends(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC);
    expect_end(&it);
    expect_end(&it);
}

static void other_magic_is_no_archive(void **state)
{
    (void)state;
    assert_true(dvi_ar_match(dvi_view_of(MAGIC, 8, "")));
    assert_true(dvi_ar_match(dvi_view_of(THIN, 8, "")));
    assert_false(dvi_ar_match(dvi_view_of(MAGIC, 7, "")));
    assert_false(dvi_ar_match(dvi_view_of("!<bout>\n", 8, "")));
}

static void odd_size_is_followed_by_a_pad_byte(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("a.o/            ", "3         ") "abc\n" MEMBER(
        "b.o             ", "2         ") "de");
    expect(&it, "a.o", "abc");
    expect(&it, "b.o", "de");
    expect_end(&it);
}

static void odd_size_at_end_may_lack_its_pad_byte(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("a.o/            ", "1         ") "a");
    expect(&it, "a.o", "a");
    expect_end(&it);
}

static void ocloc_names_are_read_with_and_without_slash(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("pad_0/          ", "8         ") "        " MEMBER(
        "64.12.55.8/     ", "2         ") "zz" MEMBER("generic_ir      ", "0         "));
    expect(&it, "pad_0", "        ");
    expect(&it, "64.12.55.8", "zz");
    expect(&it, "generic_ir", "");
    expect_end(&it);
}

static void gnu_long_name_comes_from_the_table(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("/               ", "4         ") "\0\0\0\0" MEMBER(
        "//              ",
        "45        ") "a_name_longer_than_16.o/\nanother_long_one.o/\n\n" MEMBER("/25             ",
                                                                                 "2         ") "b " MEMBER("/0              ",
                                                                                                           "2         ") "a ");
    expect_special(&it);
    expect_special(&it);
    expect(&it, "another_long_one.o", "b ");
    expect(&it, "a_name_longer_than_16.o", "a ");
    expect_end(&it);
}

static void symbol_tables_of_each_kind_are_special(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("/SYM64/         ", "0         ") MEMBER(
        "__.SYMDEF SORTED", "0         ") MEMBER("/<ECSYMBOLS>/   ", "0         "));
    expect_special(&it);
    expect_special(&it);
    expect_special(&it);
    expect_end(&it);
}

static void bsd_long_name_leads_the_data(void **state)
{
    (void)state;
    struct dvi_ar it =
        BEGIN(MAGIC MEMBER("#1/20           ", "24        ") "__.SYMDEF SORTED\0\0\0\0rest" MEMBER(
            "#1/20           ", "24        ") "seventeen_chars.o\0\0\0data");
    expect_special(&it);
    expect(&it, "seventeen_chars.o", "data");
    expect_end(&it);
}

static void thin_member_has_no_data_here(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(THIN MEMBER("//              ", "12        ") "dir/sub/a.o/" MEMBER(
        "/0              ", "98765     ") MEMBER("b.o/            ", "4         "));
    expect_special(&it);
    expect(&it, "dir/sub/a.o", "");
    expect(&it, "b.o", "");
    expect_end(&it);
}

static void size_that_is_no_number_is_malformed_and_passed_over(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("a.o/            ", "xxxx      ") "aabb" MEMBER(
        "b.o/            ", "2         ") "bb");
    expect_damage(&it, DEVIMG_MALFORMED, 8 + 48, true);
    expect(&it, "b.o", "bb");
    expect_end(&it);
}

static void size_past_end_is_truncated_and_passed_over(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("a.o/            ", "9999999999") "aa" MEMBER(
        "b.o/            ", "2         ") "bb");
    expect_damage(&it, DEVIMG_TRUNCATED, 8 + 48, true);
    expect(&it, "b.o", "bb");
    expect_end(&it);
}

static void size_past_end_of_last_member_stops(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("a.o/            ", "4         ") "aa");
    expect_damage(&it, DEVIMG_TRUNCATED, 8 + 48, false);
}

static void damaged_member_that_is_an_archive_is_not_searched(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("a.a/            ", "-1        ")
                                 MAGIC MEMBER("inner.o/        ", "2         ") "bb");
    expect_damage(&it, DEVIMG_MALFORMED, 8 + 48, false);
}

static void bad_header_end_is_malformed_and_its_size_is_followed(void **state)
{
    (void)state;
    struct dvi_ar it =
        BEGIN(MAGIC "a.o/            0           0     0     644     2         ??aa" MEMBER(
            "b.o/            ", "2         ") "bb");
    expect_damage(&it, DEVIMG_MALFORMED, 8 + 58, true);
    expect(&it, "b.o", "bb");
}

static void cut_header_is_truncated(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("a.o/            ", "2         ") "aab.o/");
    expect(&it, "a.o", "aa");
    expect_damage(&it, DEVIMG_TRUNCATED, 70, false);
}

static void long_name_past_its_table_is_malformed_and_goes_on(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("/7              ", "2         ") "aa" MEMBER(
        "b.o/            ", "2         ") "bb");
    expect_damage(&it, DEVIMG_MALFORMED, 8, true);
    expect(&it, "b.o", "bb");
}

static void leading_name_longer_than_its_member_is_malformed(void **state)
{
    (void)state;
    struct dvi_ar it = BEGIN(MAGIC MEMBER("#1/3            ", "2         ") "aa");
    expect_damage(&it, DEVIMG_MALFORMED, 8, true);
    expect_end(&it);
}

static void offsets_of_a_nested_archive_count_from_the_file(void **state)
{
    (void)state;
    struct dvi_view v =
        dvi_view_of(MAGIC MEMBER("a.o/            ", "2         ") "aa", 70, "outer.so");
    v.offset = 0x1000;
    struct dvi_ar it = dvi_ar_begin(v);
    struct dvi_ar_member m = { 0 };
    assert_int_equal(dvi_ar_next(&it, &m, NULL), DEVIMG_OK);
    assert_int_equal(m.data.offset, 0x1000 + 68);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archive_without_members_ends),
        cmocka_unit_test(other_magic_is_no_archive),
        cmocka_unit_test(odd_size_is_followed_by_a_pad_byte),
        cmocka_unit_test(odd_size_at_end_may_lack_its_pad_byte),
        cmocka_unit_test(ocloc_names_are_read_with_and_without_slash),
        cmocka_unit_test(gnu_long_name_comes_from_the_table),
        cmocka_unit_test(symbol_tables_of_each_kind_are_special),
        cmocka_unit_test(bsd_long_name_leads_the_data),
        cmocka_unit_test(thin_member_has_no_data_here),
        cmocka_unit_test(size_that_is_no_number_is_malformed_and_passed_over),
        cmocka_unit_test(size_past_end_is_truncated_and_passed_over),
        cmocka_unit_test(size_past_end_of_last_member_stops),
        cmocka_unit_test(damaged_member_that_is_an_archive_is_not_searched),
        cmocka_unit_test(bad_header_end_is_malformed_and_its_size_is_followed),
        cmocka_unit_test(cut_header_is_truncated),
        cmocka_unit_test(long_name_past_its_table_is_malformed_and_goes_on),
        cmocka_unit_test(leading_name_longer_than_its_member_is_malformed),
        cmocka_unit_test(offsets_of_a_nested_archive_count_from_the_file),
    };
    return cmocka_run_group_tests_name("ar", tests, NULL, NULL);
}
