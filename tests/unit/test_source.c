/* SPDX-License-Identifier: Apache-2.0 */
/* Source text: tokens as ISO C++20 [lex] cuts them, expressions as [expr] computes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sycl/source_lint.h"

static struct dvi_view view(const char *text)
{
    return dvi_view_of(text, strlen(text), "a.cpp");
}

/* The tokens with "|" between them; "$" is the line end of a directive. */
static void expect_tokens(const char *text, const char *expected)
{
    struct dvi_lexer l = dvi_lexer_of(view(text));
    struct dvi_lexeme t;
    char found[1024] = "", room[DVI_LEX_ROOM];
    for (dvi_lex(&l, &t); t.kind != DVI_LEX_END; dvi_lex(&l, &t)) {
        const struct dvi_view v = dvi_lex_text(&l, &t, room);
        const size_t used = strlen(found);
        (void)snprintf(found + used, sizeof found - used, "%s%.*s", used > 0 ? "|" : "",
                       t.kind == DVI_LEX_LINE_END ? 1 : (int)v.size,
                       t.kind == DVI_LEX_LINE_END ? "$" : (const char *)v.data);
    }
    if (strcmp(found, expected) != 0)
        fail_msg("%s\n    expected %s\n    found    %s", text, expected, found);
}

static void tokens_are_cut_as_the_standard_says(void **state)
{
    static const char *const rows[][2] = {
        { "a+b", "a|+|b" },
        { "a/*b*/c//d\ne", "a|c|e" },
        { "a/**/b/***/c", "a|b|c" },
        { "a // b \\\n c\nd", "a|d" },
        { "a // b \\ \t\n c\nd", "a|d" },
        { "a /\\\n* b *\\\n/ c", "a|c" },
        { "a\\\nb c\\\r\nd", "ab|cd" },
        { "a\\b", "a|\\|b" },
        { "1'000'0 1.5e+3 0x1p-2 .5f 1..2", "1'000'0|1.5e+3|0x1p-2|.5f|1..2" },
        { "1'\\\n", "1|'" },
        { "'a' '\\'' '\"'", "'a'|'\\''|'\"'" },
        { "\"a\\\"b\" \"c//d\"", "\"a\\\"b\"|\"c//d\"" },
        { "\"a\\\\\" b", "\"a\\\\\"|b" },
        { "\"open\nb", "\"open|b" },
        { "\"a\\\nb\" c", "\"ab\"|c" },
        { "\"a\\\\\n\"b\" c", "\"a\\\"b\"|c" },
        { "R\"(a\"b)\" c", "R\"(a\"b)\"|c" },
        { "u8R\"x()\"y)x\" c", "u8R\"x()\"y)x\"|c" },
        { "R\"a b(c)\" d", "R|\"a b(c)\"|d" },
        { "XR\"(a)\" b", "XR|\"(a)\"|b" },
        { "R\"(a\\\n)\"b", "R\"(a\\\n)\"|b" },
        { "a::b->c", "a|::|b|->|c" },
        { "a<<b<=c>>d>=e", "a|<<|b|<=|c|>|>|d|>|=|e" },
        { "a\n #define b\nc", "a|#|define|b|$|c" },
        { "#a /* \n */ b\nc", "#|a|b|$|c" },
        { "#a \\\n b\nc", "#|a|b|$|c" },
        { "a # b", "a|#|b" },
        { "%: a", "%:|a|$" },
        { "x<::y>", "x|<|::|y|>" },
        { "x<:::y", "x|<:|::|y" },
        { "\xc3\xa4$b_1", "\xc3\xa4$b_1" },
        { "", "" },
        { "\\", "\\" },
        { "/", "/" },
        { "#", "#|$" },
        { "\xef\xbb\xbf#a", "#|a|$" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_tokens(rows[i][0], rows[i][1]);
}

static void digraphs_are_what_they_stand_for(void **state)
{
    static const int expected[] = { '[', ']', '{', '}', DVI_LEX_PASTE, DVI_LEX_SCOPE };
    struct dvi_lexer l = dvi_lexer_of(view("a <: :> <% %> ## :\\\n:"));
    struct dvi_lexeme t;
    (void)state;
    dvi_lex(&l, &t);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        dvi_lex(&l, &t);
        assert_true(dvi_lex_mark(&t, expected[i]));
    }
}

static void places_are_those_of_the_file(void **state)
{
    struct dvi_lexer l = dvi_lexer_of(view("a\n  /* \n */ b R\"(\n)\" c\\\nd e\n"));
    static const struct {
        const char *text;
        uint64_t line, column;
    } expected[] = {
        { "a", 1, 1 }, { "b", 3, 5 }, { "R\"(\n)\"", 3, 7 }, { "cd", 4, 4 }, { "e", 5, 3 }
    };
    char room[DVI_LEX_ROOM];
    struct dvi_lexeme t;
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        dvi_lex(&l, &t);
        assert_true(dvi_equals(dvi_lex_text(&l, &t, room), expected[i].text));
        assert_int_equal(t.line, expected[i].line);
        assert_int_equal(t.column, expected[i].column);
    }
}

static void what_has_no_end_is_told(void **state)
{
    static const struct {
        const char *text, *open;
        size_t at;
    } rows[] = { { "a /* b", "comment", 2 },
                 { "a R\"x(b)y\"", "raw string", 2 },
                 { "a \"b\n'c\nd", NULL, 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dvi_lexer l = dvi_lexer_of(view(rows[i].text));
        struct dvi_lexeme t;
        do
            dvi_lex(&l, &t);
        while (t.kind != DVI_LEX_END);
        if (rows[i].open == NULL)
            assert_null(l.open);
        else
            assert_string_equal(l.open, rows[i].open);
        assert_int_equal(l.opened.at, rows[i].at);
    }
}

static void a_source_cut_anywhere_has_an_end(void **state)
{
    static const char text[] =
        "#define A(x, ...) [[sycl::reqd_sub_group_size(x)]] \\\n B\n"
        "template <int N, class T = A<1>> struct X : Y { enum E : int { P = 3, Q }; };\n"
        "namespace a::b = c; using namespace d; using e = f<g>; R\"x(\n)x\" '\\'' 1'0\n"
        "constexpr int h = 1, i{2}, j(3); sub_group_size<h + (i)>, KernelShape<1 << 2, x>\n"
        "#if 0\n#elif 1\n#else\n#endif\n/\\\n* *\\\n/ __attribute__((intel_reqd_sub_group_size(8)))";
    static const struct dvi_source_word items[] = { { "KernelShape", 1, true, NULL },
                                                    { "A", 0, false, NULL } };
    struct dvi_source_words words = { .items = items, .count = 2 };
    (void)state;
    assert_int_equal(dvi_source_words_make(&words, NULL), DEVIMG_OK);
    for (size_t size = 0; size < sizeof text; size++) {
        struct dvi_source source = { .open = NULL };
        char *copy = malloc(size + 1); /* of its own, so that a sanitizer sees what lies behind */
        assert_non_null(copy);
        memcpy(copy, text, size);
        assert_int_equal(dvi_source_scan(dvi_view_of(copy, size, "cut"), &words, &source, NULL),
                         DEVIMG_OK);
        dvi_source_free(&source);
        free(copy);
    }
    dvi_source_words_free(&words);
}

/* ---- values ---- */

static void has_value(struct dvi_sources *all, const char *text, int64_t expected)
{
    struct dvi_values v;
    dvi_source_value(all, 0, 0, SIZE_MAX - 1, text, &v);
    if (v.state != DVI_VALUE_KNOWN || v.count != 1 || v.items[0] != expected)
        fail_msg("%s: expected %lld, found %u values, first %lld, \"%s\"", text,
                 (long long)expected, v.count, v.count > 0 ? (long long)v.items[0] : 0, v.name);
}

static void expect_unknown(struct dvi_sources *all, const char *text, const char *name)
{
    struct dvi_values v;
    dvi_source_value(all, 0, 0, SIZE_MAX - 1, text, &v);
    if (v.state != DVI_VALUE_UNKNOWN || strcmp(v.name, name) != 0)
        fail_msg("%s: expected \"%s\" to be unknown, found \"%s\"", text, name, v.name);
}

static void expressions_have_the_values_of_the_language(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        { "16", 16 },
        { "0x10", 16 },
        { "020", 16 },
        { "0b1'0000u", 16 },
        { "16ull", 16 },
        { "1 + 2 * 3", 7 },
        { "(1 + 2) * 3", 9 },
        { "10 - 3 - 2", 5 },
        { "100 / 10 / 5", 2 },
        { "1 << 2 + 1", 8 },
        { "256 >> 1 >> 2", 32 },
        { "7 % 4", 3 },
        { "-8 + 16", 8 },
        { "~0 & 12", 12 },
        { "1 | 2 ^ 3 & 2", 1 },
        { "3 > 2 == 1", 1 },
        { "3 >= 4 || 2 <= 2 && 1 != 1", 0 },
        { "!0", 1 },
        { "1 ? 2 : 3", 2 },
        { "0 ? 2 : 0 ? 4 : 5", 5 },
        { "static_cast<unsigned long>(8)", 8 },
        { "std::size_t(8)", 8 },
        { "uint32_t{8}", 8 },
        { "(int)8 + 1", 9 },
        { "(std::uint8_t)(8)", 8 },
        { "true + true", 2 },
        { "kA * 2", 16 },
        { "ns::kB", 32 },
        { "::ns::kB / kA", 4 },
        { "E::Second", 5 },
        { "MACRO", 24 },
        { "twice(kA)", 16 },
        { "TWICE(4)", 8 },
        { "JOIN(1, 6)", 16 },
        { "least(32, 16)", 16 },
        { "Box<4>::kSize", 8 },
        { "Box<(1 > 0) ? 8 : 4>::kSize", 16 },
        { "Derived::kSize", 64 },
        { "isEven<8>", 1 },
        { "isEven<7> || 0", 0 },
        { "sum<8, 4>()", 12 },
        { "sizeof(int) + sizeof(std::uint16_t)", 6 },
        { "0 && kNone", 0 },
        { "kNone == 2 || 1", 1 },
    };
    static const char *const unknown[][2] = {
        { "", "an expression that is cut" },
        { "kNone", "kNone" },
        { "ns::kA2", "ns::kA2" },
        { "f(8)", "f" },
        { "8 +", "an expression that is cut" },
        { "1.5", "1.5" },
        { "8 8", "8" },
        { "8 / 0", "an expression without a value" },
        { "9223372036854775807 + 1", "an expression without a value" },
        { "99999999999999999999", "99999999999999999999" },
        { "1 << 63", "an expression without a value" },
        { "(8", "an expression that is cut" },
        { "\"8\"", "\"8\"" },
        { "kSelf", "a name that stands for itself" },
        { "sizeof(long)", "sizeof(long)" },
        { "sizeof(T)", "sizeof(T)" },
        { "kA[1]", "kA" },
    };
    struct dvi_source source = { .open = NULL };
    struct dvi_source_words words = { .count = 0 };
    static const char *const paths[] = { "a.cpp" };
    struct dvi_sources all = { .items = &source, .paths = paths, .count = 1 };
    (void)state;
    assert_int_equal(dvi_source_words_make(&words, NULL), DEVIMG_OK);
    assert_int_equal(
        dvi_source_scan(
            view("constexpr int kA = 8; namespace ns { const int kB = kA * 4; }\n"
                 "enum class E { First = 4, Second };\n#define MACRO kA * 3\n"
                 "constexpr int kSelf = kSelf;\n"
                 "constexpr int twice(int n) { return n * 2; }\n"
                 "#define TWICE(n) ((n) * 2)\n#define JOIN(a, b) a##b\n"
                 "constexpr int least(const int &a, int b) noexcept\n"
                 "{ return a < b ? a : b; }\n"
                 "template <int N> struct Box { static constexpr int kSize = N * 2; };\n"
                 "struct Derived : private Box<32> {};\n"
                 "template <int N> constexpr bool isEven = N % 2 == 0;\n"
                 "template <int A, int B> constexpr int sum() { return A + B; }\n"),
            &words, &source, NULL),
        DEVIMG_OK);
    assert_int_equal(dvi_sources_index(&all, NULL), DEVIMG_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        has_value(&all, rows[i].text, rows[i].value);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        expect_unknown(&all, unknown[i][0], unknown[i][1]);
    dvi_sources_free(&all);
    dvi_source_free(&source);
    dvi_source_words_free(&words);
}

static void parameters_are_replaced_as_whole_names(void **state)
{
    static const char *const names[] = { "n", "m" }, *const values[] = { "8", "a + b" };
    struct dvi_arena arena = { 0 };
    (void)state;
    assert_string_equal(dvi_source_replace("n * mn - m", names, values, 2, &arena),
                        "8 * mn - a + b");
    assert_true(dvi_source_mentions("x + n", names, 2));
    assert_false(dvi_source_mentions("x + nn \"n\"", names, 2));
    dvi_arena_free(&arena);
}

static void text_that_a_compiler_reads_otherwise_is_refused(void **state)
{
    struct dvi_source_words words = { .count = 0 };
    struct devimg_error err = { 0 };
    (void)state;
    assert_int_equal(dvi_source_words_make(&words, NULL), DEVIMG_OK);
    static const struct {
        const char *bytes;
        size_t size;
        uint64_t offset;
    } rows[] = { { "ab\0c", 4, 2 },
                 { "\xff\xfe"
                   "a",
                   3, 0 },
                 { "\xfe\xff"
                   "a",
                   3, 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dvi_source source = { .open = NULL };
        assert_int_equal(
            dvi_source_scan(dvi_view_of(rows[i].bytes, rows[i].size, "x"), &words, &source, &err),
            DEVIMG_UNSUPPORTED);
        assert_int_equal(err.offset, rows[i].offset);
        dvi_source_free(&source);
    }
    dvi_source_words_free(&words);
}

/* S2-25: no row of the tables is an Intel GPU without sizes; one that is added is not passed over. */
static void a_target_without_sizes_fails_until_it_is_measured(void **state)
{
    const struct devimg_target unmeasured = { .name = "new-g1",
                                              .kind = "acronym",
                                              .ip_version = 1 };
    const struct devimg_target *rows[] = { devimg_target_find("dg2-g10"), devimg_target_find("pvc"),
                                           &unmeasured };
    struct devimg_policy *policy = NULL;
    struct dvi_size_lint lint;
    char path[] = "/tmp/devimg-source-XXXXXX.cpp";
    static const char text[] = "[[sycl::reqd_sub_group_size(16)]] void f();\n";
    const int fd = mkstemps(path, 4);
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
    assert_int_equal(devimg_policy_new(&policy, NULL), DEVIMG_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct devimg_target **added = DVI_ADD(&policy->targets.known);
        assert_non_null(rows[i]);
        assert_non_null(added);
        *added = rows[i];
    }
    const char *const paths[] = { path };
    const struct dvi_size_lint_asked asked = { .policy = policy, .paths = paths, .path_count = 1 };
    assert_int_equal(dvi_size_lint_run(&asked, &lint, NULL), DEVIMG_OK);
    assert_int_equal(lint.request_count, 1);
    assert_true(lint.not_known);
    assert_int_equal(lint.findings.count, 1);
    assert_string_equal(lint.findings.items[0].finding.code, "unmeasured");
    assert_string_equal(lint.findings.items[0].finding.target, "new-g1");
    assert_int_equal(lint.findings.items[0].finding.severity, DEVIMG_ERROR);
    dvi_size_lint_free(&lint);
    devimg_policy_free(policy);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_cut_as_the_standard_says),
        cmocka_unit_test(digraphs_are_what_they_stand_for),
        cmocka_unit_test(places_are_those_of_the_file),
        cmocka_unit_test(what_has_no_end_is_told),
        cmocka_unit_test(a_source_cut_anywhere_has_an_end),
        cmocka_unit_test(expressions_have_the_values_of_the_language),
        cmocka_unit_test(parameters_are_replaced_as_whole_names),
        cmocka_unit_test(text_that_a_compiler_reads_otherwise_is_refused),
        cmocka_unit_test(a_target_without_sizes_fails_until_it_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
