/* SPDX-License-Identifier: Apache-2.0 */
/* output/: JSON, escaping, demangling and sizes. Expected texts are written by hand from RFC 8259,
 * Unicode table 3-7 and c++filt (binutils). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/demangle.h"
#include "model/model.h"
#include "output/escape.h"
#include "output/json.h"
#include "output/record.h"
#include "output/text.h"

struct sheet {
    FILE *file;
    char *text;
    size_t size;
};

static void expect(struct sheet *s, const char *text)
{
    assert_int_equal(fclose(s->file), 0);
    assert_string_equal(s->text, text);
    free(s->text);
}

static void sheet_open(struct sheet *s)
{
    s->file = open_memstream(&s->text, &s->size);
    assert_non_null(s->file);
}

static void unknown_values_are_null(void **state)
{
    (void)state;
    struct sheet s = { 0 };
    sheet_open(&s);
    struct dvi_json j = dvi_json_to(s.file);
    dvi_json_object(&j, NULL, DVI_JSON_ONE_LINE);
    dvi_json_number(&j, "zero", 0);
    dvi_json_number(&j, "unknown", DEVIMG_UNKNOWN);
    dvi_json_number(&j, "most", DEVIMG_UNKNOWN - 1);
    dvi_json_index(&j, "none", DEVIMG_NONE);
    dvi_json_index(&j, "first", 0);
    dvi_json_text(&j, "text", NULL);
    dvi_json_bool(&j, "yes", true);
    dvi_json_end(&j);
    expect(&s, "{ \"zero\": 0, \"unknown\": null, \"most\": 18446744073709551614, \"none\": null, "
               "\"first\": 0, \"text\": null, \"yes\": true }\n");
}

static void containers_stand_one_item_a_line(void **state)
{
    (void)state;
    struct sheet s = { 0 };
    sheet_open(&s);
    struct dvi_json j = dvi_json_to(s.file);
    dvi_json_object(&j, NULL, DVI_JSON_LINES);
    dvi_json_array(&j, "empty", DVI_JSON_LINES);
    dvi_json_end(&j);
    dvi_json_array(&j, "items", DVI_JSON_LINES);
    for (uint64_t i = 0; i < 2; i++) {
        dvi_json_object(&j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_array(&j, "inner", DVI_JSON_LINES); /* one line, since it is inside one */
        dvi_json_number(&j, NULL, i);
        dvi_json_number(&j, NULL, i);
        dvi_json_end(&j);
        dvi_json_end(&j);
    }
    dvi_json_end(&j);
    dvi_json_end(&j);
    expect(&s, "{\n  \"empty\": [],\n  \"items\": [\n    { \"inner\": [0, 0] },\n"
               "    { \"inner\": [1, 1] }\n  ]\n}\n");
}

static void strings_of_any_bytes_stay_json(void **state)
{
    static const struct {
        const char *bytes, *json;
    } rows[] = {
        { "", "\"\"" },
        { "a\"b\\c/", "\"a\\\"b\\\\c/\"" },
        { "\n\t\r\x01\x1b\x7f", "\"\\n\\t\\u000d\\u0001\\u001b\\u007f\"" },
        { "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
          "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"" },
        { "\xc2\x9b", "\"\\u009b\"" },                                  /* CSI, a C1 control */
        { "a\xff", "\"a\xef\xbf\xbd\"" },                               /* no UTF-8 byte at all */
        { "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },                 /* overlong '/' */
        { "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" }, /* surrogate */
        { "\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" }, /* cut */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sheet s = { 0 };
        sheet_open(&s);
        char line[256];
        struct dvi_json j = dvi_json_to(s.file);
        dvi_json_array(&j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_text(&j, NULL, rows[i].bytes);
        dvi_json_end(&j);
        snprintf(line, sizeof line, "[%s]\n", rows[i].json);
        expect(&s, line);
    }
}

static void escape_shows_what_steers_a_terminal(void **state)
{
    static const struct {
        const char *bytes, *text;
        size_t width;
    } rows[] = {
        { "plain", "plain", 5 },
        { "\x1b[31m", "\\x1b[31m", 8 },
        { "a\nb",
          "a\\x0a"
          "b",
          6 },
        { "\xc3\xbc\xe2\x82\xac", "\xc3\xbc\xe2\x82\xac", 2 },
        { "\xff\xc3", "\\xff\\xc3", 8 },
        { "\xe2\x80\xae"
          "x",
          "\\xe2\\x80\\xaex", 13 }, /* U+202E, right-to-left override */
        { "\xc2\x9b", "\\xc2\\x9b", 8 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sheet s = { 0 };
        sheet_open(&s);
        assert_int_equal(dvi_escape(NULL, rows[i].bytes), rows[i].width);
        assert_int_equal(dvi_escape(s.file, rows[i].bytes), rows[i].width);
        expect(&s, rows[i].text);
    }
}

static void utf8_is_told_from_other_bytes(void **state)
{
    (void)state;
    assert_true(dvi_utf8_valid(""));
    assert_true(dvi_utf8_valid("\xf4\x8f\xbf\xbf"));  /* U+10FFFF */
    assert_false(dvi_utf8_valid("\xf4\x90\x80\x80")); /* U+110000 */
    assert_false(dvi_utf8_valid("\xe0\x9f\xbf"));     /* overlong */
    assert_false(dvi_utf8_valid("ab\x80"));
}

static void demangle_gives_the_name_of_the_author(void **state)
{
    static const struct {
        const char *mangled, *name;
    } rows[] = {
        { "basic", "basic" },  { "_Z3fooi", "foo(int)" },
        { "_ZTS3Foo", "Foo" }, { "_ZTSN2ns3BarIiEE", "ns::Bar<int>" },
        { "_Zbad", NULL },
    };
    char buffer[DVI_NAME_ROOM];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = dvi_demangle(rows[i].mangled, buffer);
        if (rows[i].name == NULL)
            assert_null(name);
        else
            assert_string_equal(name, rows[i].name);
    }
}

/* A<int,int>, then each type twice in the next one: 2^20 and more names in 220 bytes. */
static void demangle_stops_at_a_name_that_explodes(void **state)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[512] = "_Z1f1AIiiE", buffer[DVI_NAME_ROOM];
    size_t size = strlen(name);
    (void)state;
    for (size_t i = 0; i < 24; i++)
        size +=
            (size_t)snprintf(name + size, sizeof name - size, "S_IS%c_S%c_E", digits[i], digits[i]);
    assert_null(dvi_demangle(name, buffer));
}

static void sizes_are_rounded_in_binary_units(void **state)
{
    static const struct {
        uint64_t size;
        const char *text;
    } rows[] = {
        { 0, "0 B" },
        { 1023, "1023 B" },
        { 1024, "1.0 KiB" },
        { 1536, "1.5 KiB" },
        { 1048524, "1023.9 KiB" },
        { 1048575, "1.0 MiB" },
        { 1258291, "1.2 MiB" },
        { UINT64_C(93) << 20, "93.0 MiB" },
        { DEVIMG_UNKNOWN - 1, "16.0 EiB" },
        { DEVIMG_UNKNOWN, "-" },
    };
    char text[DVI_SIZE_ROOM];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(dvi_size_text(rows[i].size, text), rows[i].text);
}

static void print_rows(struct dvi_table *table, const void *data)
{
    (void)data;
    dvi_cell(table, "\xc3\xbc"); /* one column wide */
    dvi_cell_number(table, 7);
    dvi_cell(table, "last");
    dvi_cell(table, "long name");
    dvi_cell_number(table, DEVIMG_UNKNOWN);
    dvi_cell(table, NULL);
}

static void tables_line_up_without_trailing_blanks(void **state)
{
    static const struct dvi_column columns[] = { { "NAME", DVI_LEFT },
                                                 { "COUNT", DVI_RIGHT },
                                                 { "REST", DVI_LEFT } };
    (void)state;
    struct sheet s = { 0 };
    sheet_open(&s);
    const struct dvi_output out = { .file = s.file };
    dvi_table_print(&out, columns, 3, print_rows, NULL);
    expect(&s, "NAME       COUNT  REST\n"
               "\xc3\xbc              7  last\n"
               "long name      -  -\n");
}

/* A native image says of some features that its kernels use them, and nothing of the others. */
static void features_are_listed_as_far_as_they_are_known(void **state)
{
    static const struct {
        uint32_t bits;
        int known;
        const char *text;
    } cases[] = {
        { DEVIMG_FEATURE_MATRIX, 0, "\"features\": [\"matrix\"] }" },
        { DEVIMG_FEATURE_FP64 | DEVIMG_FEATURE_FP16, 1, "\"features\": [\"fp64\", \"fp16\"] }" },
        { 0, 1, "\"features\": [] }" },
        { 0, 0, "\"features\": null }" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sheet s = { 0 };
        struct devimg_file file = { 0 };
        const struct devimg_record record = { .kernel_count = 1 };
        struct devimg_kernel *kernel = DVI_ADD(&file.kernels);
        assert_non_null(kernel);
        *kernel = (struct devimg_kernel){ .name = "k",
                                          .features = cases[i].bits,
                                          .features_known = cases[i].known };
        sheet_open(&s);
        struct dvi_json j = dvi_json_to(s.file);
        dvi_json_object(&j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_kernels(&j, &file, &record, NULL);
        dvi_json_end(&j);
        assert_int_equal(fclose(s.file), 0);
        if (strstr(s.text, cases[i].text) == NULL)
            fail_msg("%s: expected %s", s.text, cases[i].text);
        free(s.text);
        DVI_LIST_FREE(&file.kernels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_values_are_null),
        cmocka_unit_test(containers_stand_one_item_a_line),
        cmocka_unit_test(strings_of_any_bytes_stay_json),
        cmocka_unit_test(escape_shows_what_steers_a_terminal),
        cmocka_unit_test(utf8_is_told_from_other_bytes),
        cmocka_unit_test(demangle_gives_the_name_of_the_author),
        cmocka_unit_test(demangle_stops_at_a_name_that_explodes),
        cmocka_unit_test(sizes_are_rounded_in_binary_units),
        cmocka_unit_test(tables_line_up_without_trailing_blanks),
        cmocka_unit_test(features_are_listed_as_far_as_they_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
