/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

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

static char *put(char *at, struct dvi_view v)
{
    if (v.size > 0)
        memcpy(at, v.data, v.size);
    return at + v.size;
}

/* The filter, in the arena; NULL: out of memory. Names hold no letter that a filter gives a
 * meaning: is_name() of gtest.c. */
static const char *filter_of(struct dvi_arena *arena, const struct dvi_gtest *g)
{
    size_t size = 2;
    for (size_t i = 0; i < g->excluded.count; i++)
        size += g->excluded.items[i].suite.size + g->excluded.items[i].test.size + 2;
    char *text = dvi_arena_array(arena, size, 1), *at = text;
    if (text == NULL)
        return NULL;
    *at++ = g->excluded.count > 0 ? '-' : '*';
    for (size_t i = 0; i < g->excluded.count; i++) {
        if (i > 0)
            *at++ = ':';
        at = put(at, g->excluded.items[i].suite);
        *at++ = '.';
        at = put(at, g->excluded.items[i].test);
    }
    return text;
}

/* Text of the two files, which may be any bytes but NUL. */
struct texts {
    struct dvi_arena arena;
    bool out_of_memory;
};

static const char *text_of(struct texts *texts, struct dvi_view v)
{
    const char *text = dvi_arena_text(&texts->arena, v);
    texts->out_of_memory = texts->out_of_memory || text == NULL;
    return text != NULL ? text : "";
}

static void json_pin(struct dvi_json *j, struct texts *texts, const struct dvi_gtest_pin *pin)
{
    dvi_json_text(j, "suite", text_of(texts, pin->suite));
    dvi_json_text(j, "type", text_of(texts, pin->type));
    dvi_json_text(j, "test", text_of(texts, pin->test));
    dvi_json_text(j, "reason", text_of(texts, pin->reason));
    dvi_json_number(j, "line", pin->line);
}

static void json(struct dvi_output *out, struct texts *texts, const struct dvi_gtest *g,
                 const char *filter)
{
    struct dvi_json j = dvi_json_to(out->file);
    dvi_json_object(&j, NULL, DVI_JSON_LINES);
    dvi_json_text(&j, "schema", "devimg/1");
    dvi_json_text(&j, "preset", g->preset);
    dvi_json_text(&j, "filter", g->unmatched == 0 ? filter : NULL);
    dvi_json_number(&j, "test_count", g->test_count);
    dvi_json_array(&j, "excluded", DVI_JSON_LINES);
    for (size_t i = 0; i < g->excluded.count; i++) {
        dvi_json_object(&j, NULL, DVI_JSON_ONE_LINE);
        dvi_json_text(&j, "instance", text_of(texts, g->excluded.items[i].suite));
        json_pin(&j, texts, &g->pins.items[g->excluded.items[i].pin]);
        dvi_json_end(&j);
    }
    dvi_json_end(&j);
    dvi_json_array(&j, "unmatched", DVI_JSON_LINES);
    for (size_t i = 0; i < g->pins.count; i++) {
        if (g->pins.items[i].miss == DVI_GTEST_MATCHED)
            continue;
        dvi_json_object(&j, NULL, DVI_JSON_ONE_LINE);
        json_pin(&j, texts, &g->pins.items[i]);
        dvi_json_text(&j, "why", why(g->pins.items[i].miss));
        dvi_json_end(&j);
    }
    dvi_json_end(&j);
    dvi_json_end(&j);
}

static void complain(struct texts *texts, const struct dvi_gtest *g)
{
    for (size_t i = 0; i < g->pins.count; i++) {
        const struct dvi_gtest_pin *pin = &g->pins.items[i];
        if (pin->miss == DVI_GTEST_MATCHED)
            continue;
        fprintf(stderr, "devimg sycl gtest-filter: ");
        dvi_escape(stderr, g->pins_text.source);
        fprintf(stderr, ":%" PRIu64 ": ", pin->line);
        dvi_escape(stderr, text_of(texts, pin->suite));
        putc('.', stderr);
        dvi_escape(stderr, text_of(texts, pin->test));
        fputs(" (", stderr);
        dvi_escape(stderr, text_of(texts, pin->type));
        fprintf(stderr, ") matches nothing: %s\n", why(pin->miss));
    }
}

enum dvi_exit dvi_output_sycl_gtest(struct dvi_output *out, const struct dvi_gtest *gtest)
{
    struct texts texts = { 0 };
    const char *filter = filter_of(&texts.arena, gtest);
    texts.out_of_memory = filter == NULL;
    if (filter != NULL && out->json)
        json(out, &texts, gtest, filter);
    else if (filter != NULL && gtest->unmatched == 0)
        fprintf(out->file, "%s\n", filter);
    complain(&texts, gtest);
    if (texts.out_of_memory)
        dvi_output_memory(out);
    dvi_arena_free(&texts.arena);
    dvi_output_worst(out, gtest->unmatched > 0 ? DVI_EXIT_FINDINGS : DVI_EXIT_OK);
    dvi_output_worst(out, dvi_output_close(out->file));
    return out->worst;
}
