/* SPDX-License-Identifier: Apache-2.0 */
/* object/ar: archives written byte by byte from ar(5) of FreeBSD and GNU binutils' ar.h; the same
 * bytes are what `ar rc` writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "object/object.h"

struct archive {
    uint8_t bytes[4096];
    size_t size;
    struct dvi_ar it;
    struct dvi_ar_member member;
    struct devimg_error err;
};

static void add_bytes(struct archive *a, const void *bytes, size_t size)
{
    assert_true(a->size + size <= sizeof a->bytes);
    memcpy(a->bytes + a->size, bytes, size);
    a->size += size;
}

static void start(struct archive *a, const char *magic)
{
    memset(a, 0, sizeof *a);
    add_bytes(a, magic, 8);
}

/* A member's header; the size is text so that it may be none. */
static void add_header(struct archive *a, const char *name, const char *size)
{
    char header[61];
    assert_int_equal(snprintf(header, sizeof header, "%-16s%-12s%-6s%-6s%-8s%-10s`\n", name, "0",
                              "0", "0", "100644", size),
                     60);
    add_bytes(a, header, 60);
}

/* A member of `size` bytes, and its padding. */
static void add_member(struct archive *a, const char *name, const void *data, size_t size)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", size);
    add_header(a, name, text);
    add_bytes(a, data, size);
    if (size % 2 == 1)
        add_bytes(a, "\n", 1);
}

static void add_text(struct archive *a, const char *name, const char *data)
{
    add_member(a, name, data, strlen(data));
}

static void begin(struct archive *a)
{
    a->it = dvi_ar_begin(dvi_view_of(a->bytes, a->size, "t.a"));
}

static enum devimg_status next(struct archive *a)
{
    return dvi_ar_next(&a->it, &a->member, &a->err);
}

static void expect_member(struct archive *a, const char *name, const char *data)
{
    if (next(a) != DEVIMG_OK)
        fail_msg("%s", a->err.text);
    assert_true(dvi_equals(a->member.name, name));
    assert_true(dvi_equals(a->member.data, data));
    assert_false(a->member.special);
}

static void expect_table(struct archive *a, const char *name)
{
    if (next(a) != DEVIMG_OK)
        fail_msg("%s", a->err.text);
    assert_true(dvi_equals(a->member.name, name));
    assert_true(a->member.special);
}

static void expect_fault(struct archive *a, enum devimg_status status, uint64_t offset,
                         const char *text)
{
    assert_int_equal(next(a), status);
    assert_string_equal(a->err.text, text);
    assert_int_equal(a->err.offset, offset);
}

static void expect_end(struct archive *a)
{
    assert_int_equal(next(a), DEVIMG_END);
    assert_int_equal(next(a), DEVIMG_END);
}

/* A fault that nothing can be read behind: it comes again, and the place does not move. */
static void expect_stuck(struct archive *a, enum devimg_status status, uint64_t offset,
                         const char *text)
{
    const uint64_t at = a->it.at;
    expect_fault(a, status, offset, text);
    assert_int_equal(a->it.at, at);
}

static void gnu_archive_gives_members_and_tables(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    add_member(&a, "/", "\0\0\0\0", 4);
    add_text(&a, "//", "a_name_of_17_char.o/\nanother_long_name.obj/\n");
    add_text(&a, "a.o/", "first");
    add_text(&a, "/0", "second");
    add_text(&a, "/21", "third");
    add_text(&a, "with blank.o/", "");
    begin(&a);
    expect_table(&a, "/");
    expect_table(&a, "//");
    expect_member(&a, "a.o", "first");
    expect_member(&a, "a_name_of_17_char.o", "second");
    expect_member(&a, "another_long_name.obj", "third");
    assert_int_equal(a.member.data.offset, 8 + 64 + 104 + 66 + 66 + 60);
    expect_member(&a, "with blank.o", "");
    expect_end(&a);
}

static void symbol_tables_of_all_kinds_are_special(void **state)
{
    static const char *const names[] = { "/",         "/SYM64/",         "//", "/<ECSYMBOLS>/",
                                         "__.SYMDEF", "__.SYMDEF SORTED" };
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add_text(&a, names[i], "12345678");
    add_text(&a, "/SYM65/", "no table");
    begin(&a);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_table(&a, names[i]);
    expect_member(&a, "/SYM65", "no table");
    expect_end(&a);
}

static void bsd_names_stand_before_the_data(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    add_member(&a, "#1/20", "__.SYMDEF_64\0\0\0\0\0\0\0\0table", 25);
    add_member(&a, "#1/12", "name of 9\0\0\0data", 16);
    add_member(&a, "#1/4", "full", 4); /* no data */
    add_member(&a, "plain.o", "bsd has no slash", 16);
    begin(&a);
    expect_table(&a, "__.SYMDEF_64");
    assert_true(dvi_equals(a.member.data, "table"));
    expect_member(&a, "name of 9", "data");
    expect_member(&a, "full", "");
    expect_member(&a, "plain.o", "bsd has no slash");
    expect_end(&a);
}

static void bsd_name_longer_than_its_member_is_malformed(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    add_text(&a, "#1/5", "four");
    add_text(&a, "#1/x", "four");
    add_text(&a, "good.o/", "data");
    begin(&a);
    expect_fault(&a, DEVIMG_MALFORMED, 8, "ar member name \"#1/5\": the member has 4 bytes");
    expect_fault(&a, DEVIMG_MALFORMED, 72, "ar member name \"#1/x\": the member has 4 bytes");
    expect_member(&a, "good.o", "data");
    expect_end(&a);
}

static void long_name_past_its_table_is_malformed(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    add_text(&a, "/0", "early!");             /* before the table */
    add_text(&a, "//", "long_name.o/\nlast"); /* 17 bytes; the last name has no end */
    add_text(&a, "/17", "past");
    add_text(&a, "/99999999999999", "past");
    add_text(&a, "/1x", "no number");
    add_text(&a, "/13", "good");
    begin(&a);
    expect_fault(&a, DEVIMG_MALFORMED, 8,
                 "ar member name \"/0\": the table of long names has 0 bytes");
    expect_table(&a, "//");
    expect_fault(&a, DEVIMG_MALFORMED, 152,
                 "ar member name \"/17\": the table of long names has 17 bytes");
    assert_int_equal(next(&a), DEVIMG_MALFORMED);
    assert_int_equal(next(&a), DEVIMG_MALFORMED);
    expect_member(&a, "last", "good");
    expect_end(&a);
}

static void long_name_of_microsoft_ends_with_nul(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    add_member(&a, "//", "dir\\one.obj\0two.obj\0", 20);
    add_text(&a, "/0", "1");
    add_text(&a, "/12", "2");
    begin(&a);
    expect_table(&a, "//");
    expect_member(&a, "dir\\one.obj", "1");
    expect_member(&a, "two.obj", "2");
    expect_end(&a);
}

static void size_that_is_no_number_is_malformed(void **state)
{
    static const char *const sizes[] = { "", "-1", "0x10", "12a", "1 2", "9999999999" };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const bool too_big = i == 5;
        struct archive a;
        char text[128];
        start(&a, "!<arch>\n");
        add_text(&a, "a.o/", "one");
        add_header(&a, "b.o/", sizes[i]);
        begin(&a);
        if (too_big)
            snprintf(text, sizeof text, "ar member of 9999999999 bytes: 0 are left in the archive");
        else
            snprintf(text, sizeof text, "ar member size \"%-10s\": expected a decimal number",
                     sizes[i]);
        expect_member(&a, "a.o", "one");
        expect_stuck(&a, too_big ? DEVIMG_TRUNCATED : DEVIMG_MALFORMED, 8 + 64 + 48, text);
        expect_stuck(&a, too_big ? DEVIMG_TRUNCATED : DEVIMG_MALFORMED, 8 + 64 + 48, text);
    }
}

static void size_past_the_end_is_truncated(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    add_header(&a, "a.o/", "5");
    add_bytes(&a, "four", 4);
    begin(&a);
    expect_stuck(&a, DEVIMG_TRUNCATED, 8 + 48, "ar member of 5 bytes: 4 are left in the archive");
}

static void odd_member_is_padded_also_at_the_end(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    add_text(&a, "a.o/", "one");
    add_text(&a, "b.o/", "three");
    const size_t padded = a.size;
    for (size_t cut = 0; cut < 2; cut++) { /* some writers leave the last one out */
        a.size = padded - cut;
        begin(&a);
        expect_member(&a, "a.o", "one");
        expect_member(&a, "b.o", "three");
        expect_end(&a);
    }
}

static void empty_archive_has_no_members(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    begin(&a);
    expect_end(&a);
    assert_true(dvi_ar_match(a.it.archive));
    assert_false(dvi_ar_match(dvi_view_of("!<arch>", 7, "t.a")));
    assert_false(dvi_ar_match(dvi_view_of("!<arch> ", 8, "t.a")));
}

static void thin_archive_names_members_without_data(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<thin>\n");
    add_member(&a, "/", "\0\0\0\0", 4);
    add_text(&a, "//", "dir/a.o/\ndir/b.o/\n");
    add_header(&a, "/0", "123456"); /* the size of the file elsewhere */
    add_header(&a, "/9", "7");
    begin(&a);
    assert_true(dvi_ar_match(a.it.archive));
    expect_table(&a, "/");
    assert_int_equal(a.member.data.size, 4);
    expect_table(&a, "//");
    expect_member(&a, "dir/a.o", "");
    expect_member(&a, "dir/b.o", "");
    expect_end(&a);
}

/* Three members, the last without its padding; the one in the middle is spoiled by `spoil` at `at`
 * of its header. */
static void make_spoiled(struct archive *a, size_t at, const char *spoil)
{
    start(a, "!<arch>\n");
    add_text(a, "a.o/", "good");
    const size_t damaged = a->size;
    add_text(a, "b.o/", "lost `\n bytes");
    add_text(a, "c.o/", "odd");
    a->size--;
    memcpy(a->bytes + damaged + at, spoil, strlen(spoil));
    begin(a);
    expect_member(a, "a.o", "good");
}

static void damaged_member_between_good_ones_is_passed(void **state)
{
    static const struct {
        size_t at;
        const char *bytes;
        enum devimg_status status;
        size_t offset;
        const char *text;
    } rows[] = {
        { 58, "xy", DEVIMG_MALFORMED, 58, "ar member header: ends in 78 79, expected 60 0a" },
        { 48, "1x", DEVIMG_MALFORMED, 48,
          "ar member size \"1x        \": expected a decimal number" },
        { 48, "4000", DEVIMG_TRUNCATED, 48, "ar member of 4000 bytes: 77 are left in the archive" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct archive a;
        make_spoiled(&a, rows[i].at, rows[i].bytes);
        expect_fault(&a, rows[i].status, 72 + rows[i].offset, rows[i].text);
        expect_member(&a, "c.o", "odd");
        expect_end(&a);
    }
}

/* A member that is an archive itself: its members are not ours, whatever its own size says. */
static void damaged_archive_in_an_archive_is_not_searched(void **state)
{
    struct archive inner, a;
    (void)state;
    start(&inner, "!<arch>\n");
    add_text(&inner, "x.o/", "inner");
    start(&a, "!<arch>\n");
    add_text(&a, "a.o/", "good");
    add_header(&a, "inner.a/", "9999");
    add_bytes(&a, inner.bytes, inner.size);
    begin(&a);
    expect_member(&a, "a.o", "good");
    expect_stuck(&a, DEVIMG_TRUNCATED, 72 + 48,
                 "ar member of 9999 bytes: 74 are left in the archive");
}

static void header_cut_is_truncated(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    add_text(&a, "a.o/", "good");
    add_text(&a, "b.o/", "");
    const size_t whole = a.size;
    for (size_t size = 73; size < whole; size++) {
        char text[128];
        a.size = size;
        begin(&a);
        expect_member(&a, "a.o", "good");
        snprintf(text, sizeof text, "ar member header: 60 bytes at +72 do not fit in %zu", size);
        expect_stuck(&a, DEVIMG_TRUNCATED, 72, text);
    }
}

static void offsets_of_a_nested_archive_count_from_the_file(void **state)
{
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    add_text(&a, "a.o/", "good");
    add_header(&a, "b.o/", "5");
    struct dvi_view v = dvi_view_of(a.bytes, a.size, "outer.so");
    v.offset = 0x1000;
    a.it = dvi_ar_begin(v);
    expect_member(&a, "a.o", "good");
    assert_int_equal(a.member.data.offset, 0x1000 + 68);
    expect_stuck(&a, DEVIMG_TRUNCATED, 0x1000 + 72 + 48,
                 "ar member of 5 bytes: 0 are left in the archive");
}

/* Every walk ends, whatever one byte says, and no view leaves the archive. */
static void every_spoiled_byte_is_an_answer(void **state)
{
    static const uint8_t values[] = { 0, ' ', '/', '0', '9', '`', '\n', 0xff };
    struct archive a;
    (void)state;
    start(&a, "!<arch>\n");
    add_text(&a, "//", "a_name_of_17_char.o/\n");
    add_text(&a, "/0", "odd");
    add_member(&a, "#1/8", "bsd\0\0\0\0\0data", 12);
    add_text(&a, "c.o/", "end");
    for (size_t i = 8; i < a.size; i++)
        for (size_t v = 0; v < sizeof values; v++) {
            const uint8_t kept = a.bytes[i];
            a.bytes[i] = values[v];
            uint8_t *copy = malloc(a.size);
            assert_non_null(copy);
            memcpy(copy, a.bytes, a.size);
            a.it = dvi_ar_begin(dvi_view_of(copy, a.size, "t.a"));
            size_t steps = 0;
            for (;; steps++) {
                const uint64_t at = a.it.at;
                const enum devimg_status status = next(&a);
                if (status == DEVIMG_END || (status != DEVIMG_OK && a.it.at == at))
                    break;
                assert_true(a.it.at >= at + 60);
                if (status == DEVIMG_OK)
                    assert_true(a.member.data.data >= copy &&
                                a.member.data.data + a.member.data.size <= copy + a.size);
            }
            assert_true(steps <= 5);
            free(copy);
            a.bytes[i] = kept;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gnu_archive_gives_members_and_tables),
        cmocka_unit_test(symbol_tables_of_all_kinds_are_special),
        cmocka_unit_test(bsd_names_stand_before_the_data),
        cmocka_unit_test(bsd_name_longer_than_its_member_is_malformed),
        cmocka_unit_test(long_name_past_its_table_is_malformed),
        cmocka_unit_test(long_name_of_microsoft_ends_with_nul),
        cmocka_unit_test(size_that_is_no_number_is_malformed),
        cmocka_unit_test(size_past_the_end_is_truncated),
        cmocka_unit_test(odd_member_is_padded_also_at_the_end),
        cmocka_unit_test(empty_archive_has_no_members),
        cmocka_unit_test(thin_archive_names_members_without_data),
        cmocka_unit_test(damaged_member_between_good_ones_is_passed),
        cmocka_unit_test(damaged_archive_in_an_archive_is_not_searched),
        cmocka_unit_test(header_cut_is_truncated),
        cmocka_unit_test(offsets_of_a_nested_archive_count_from_the_file),
        cmocka_unit_test(every_spoiled_byte_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
