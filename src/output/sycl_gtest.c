/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "output/escape.h"
#include "output/form.h"
#include "output/sycl.h"
#include "sycl/gtest.h"

static const char *why(enum dvi_gtest_miss miss)
{
    switch (miss) {
    case DVI_GTEST_NO_SUITE: return "the list has no such suite";
    case DVI_GTEST_NO_TYPE: return "the suite is there, but not with this type parameter";
    case DVI_GTEST_NO_TEST: return "the suite is there, but has no such test";
    default: return "";
    }
}

static void print(FILE *file, struct dvi_view v)
{
    for (size_t i = 0; i < v.size; i++)
        putc(v.data[i], file);
}

/* Names of tests hold no letter that a filter, or JSON, gives a meaning: is_name() of gtest.c. */
static void print_filter(FILE *file, const struct dvi_gtest *g)
{
    fputs(g->excluded.count > 0 ? "-" : "*", file);
    for (size_t i = 0; i < g->excluded.count; i++) {
        const struct dvi_gtest_excluded *e = &g->excluded.items[i];
        if (i > 0)
            putc(':', file);
        print(file, e->suite);
        putc('.', file);
        print(file, e->test);
    }
}

/* Text of the two files, which may be any bytes, with a NUL behind it. */
struct text {
    char bytes[256];
};

static struct text text_of(struct dvi_view v)
{
    struct text out = { "" };
    const size_t size = v.size < sizeof out.bytes - 1 ? v.size : sizeof out.bytes - 1;
    for (size_t i = 0; i < size; i++)
        out.bytes[i] = (char)v.data[i];
    return out;
}

static void json_text(struct dvi_json *j, const char *key, struct dvi_view v)
{
    const struct text text = text_of(v);
    dvi_json_text(j, key, text.bytes);
}

static void json_pin(struct dvi_json *j, const struct dvi_gtest_pin *pin)
{
    json_text(j, "suite", pin->suite);
    json_text(j, "type", pin->type);
    json_text(j, "test", pin->test);
    json_text(j, "reason", pin->reason);
    dvi_json_number(j, "line", pin->line);
}

static void json(struct dvi_output *out, const struct dvi_gtest *g)
{
    struct dvi_json j = dvi_json_to(out->file);
    dvi_json_object(&j, NULL, DVI_JSON_LINES);
    dvi_json_text(&j, "schema", "devimg/1");
    dvi_json_text(&j, "preset", g->preset);
    if (g->unmatched > 0) {
        dvi_json_null(&j, "filter");
    } else {
        dvi_json_text_begin(&j, "filter");
        print_filter(out->file, g);
        dvi_json_text_end(&j);
    }
    dvi_json_number(&j, "test_count", g->test_count);
    dvi_json_array(&j, "excluded", DVI_JSON_LINES);
    for (size_t i = 0; i < g->excluded.count; i++) {
        dvi_json_object(&j, NULL, DVI_JSON_ONE_LINE);
        json_text(&j, "instance", g->excluded.items[i].suite);
        json_pin(&j, &g->pins.items[g->excluded.items[i].pin]);
        dvi_json_end(&j);
    }
    dvi_json_end(&j);
    dvi_json_array(&j, "unmatched", DVI_JSON_LINES);
    for (size_t i = 0; i < g->pins.count; i++) {
        if (g->pins.items[i].miss == DVI_GTEST_MATCHED)
            continue;
        dvi_json_object(&j, NULL, DVI_JSON_ONE_LINE);
        json_pin(&j, &g->pins.items[i]);
        dvi_json_text(&j, "why", why(g->pins.items[i].miss));
        dvi_json_end(&j);
    }
    dvi_json_end(&j);
    dvi_json_end(&j);
}

static void complain(const struct dvi_gtest *g)
{
    for (size_t i = 0; i < g->pins.count; i++) {
        const struct dvi_gtest_pin *pin = &g->pins.items[i];
        if (pin->miss == DVI_GTEST_MATCHED)
            continue;
        fprintf(stderr, "devimg sycl gtest-filter: ");
        dvi_escape(stderr, g->pins_file.bytes.source);
        fprintf(stderr, ":%" PRIu64 ": ", pin->line);
        dvi_escape(stderr, text_of(pin->suite).bytes);
        putc('.', stderr);
        dvi_escape(stderr, text_of(pin->test).bytes);
        fputs(" (", stderr);
        dvi_escape(stderr, text_of(pin->type).bytes);
        fprintf(stderr, ") matches nothing: %s\n", why(pin->miss));
    }
}

enum dvi_exit dvi_output_sycl_gtest(struct dvi_output *out, const struct dvi_gtest *gtest)
{
    if (out->json) {
        json(out, gtest);
    } else if (gtest->unmatched == 0) {
        print_filter(out->file, gtest);
        putc('\n', out->file);
    }
    complain(gtest);
    dvi_output_worst(out, gtest->unmatched > 0 ? DVI_EXIT_FINDINGS : DVI_EXIT_OK);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
