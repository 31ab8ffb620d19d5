/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pins file is TSV; '#' starts a comment line:
 *
 *   presets   NAME...                                    before any pin
 *   NAME      suite   type parameter (or -)   test (or *)   reason
 *
 * The list is what GoogleTest prints for --gtest_list_tests:
 *
 *   Running main() from gtest_main.cc
 *   Solver/0.  # TypeParam = float
 *     Converges
 *   Inst/Sizes.
 *     Works/0  # GetParam() = 3
 *
 * Source: googletest/src/gtest.cc, UnitTestImpl::ListTestsMatchingFilter(), kTypeParamLabel,
 * kValueParamLabel; both parameters stand on one line, cut after 250 bytes. The name of an instance
 * of a typed suite ends in '/' and an index, or a name that the program gives it.
 */
#include "sycl/gtest.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/policy.h"
#include "check/values.h"

enum { MOST_PIN_BYTES = 64 << 20, PIN_FIELDS = 5, MOST_PRESETS = 1000 };

static const char mark[] = "presets";
static const char type_label[] = "  # TypeParam = ";
static const char value_label[] = "  # ";
static const char start_line[] = "Running main() from ";

/* The pins of one suite and one type parameter. */
struct dvi_gtest_group {
    struct dvi_view type;
    size_t first, count; /* in `pins` */
    bool seen;
};

/* The groups of one suite. */
struct dvi_gtest_suite {
    struct dvi_view name;
    size_t first, count; /* in `groups` */
    bool seen;
};

struct presets {
    DVI_LIST(struct dvi_view) names;
};

static struct dvi_view field_view(const struct dvi_view *line, const uint8_t *from, size_t size)
{
    return (struct dvi_view){ from, size, line->offset + (uint64_t)(from - line->data),
                              line->source };
}

/* Text that a message can hold. */
struct shown {
    char text[64];
};

static struct shown show(struct dvi_view v)
{
    struct shown out = { "" };
    dvi_show(out.text, sizeof out.text, v);
    return out;
}

static bool same(struct dvi_view a, struct dvi_view b)
{
    return dvi_compare(a, b) == 0;
}

/* A suite or a test as a filter can name it: none of the letters that a filter gives a meaning. */
static bool is_name(struct dvi_view v)
{
    for (size_t i = 0; i < v.size; i++)
        if (v.data[i] <= ' ' || v.data[i] == 0x7f || strchr(":*?-#", v.data[i]) != NULL)
            return false;
    return v.size > 0;
}

static bool find_preset(const struct presets *presets, struct dvi_view name)
{
    for (size_t i = 0; i < presets->names.count; i++)
        if (same(presets->names.items[i], name))
            return true;
    return false;
}

static enum devimg_status read_presets(struct presets *presets, struct dvi_view line,
                                       const struct dvi_spot *spot, struct devimg_error *err)
{
    struct dvi_view rest = line, name = { 0 };
    if (!dvi_next_field(&rest, '\t', &name) || !dvi_equals(name, mark))
        return dvi_refuse(err, spot, "expected \"presets\" and their names between tabs");
    while (dvi_next_field(&rest, '\t', &name)) {
        if (name.size == 0 || dvi_equals(name, mark))
            return dvi_refuse(err, spot, "presets: \"%s\" is no name", show(name).text);
        if (find_preset(presets, name))
            return dvi_refuse(err, spot, "presets: \"%s\" stands twice", show(name).text);
        if (presets->names.count == MOST_PRESETS)
            return dvi_refuse(err, spot, "presets: at most %d", MOST_PRESETS);
        struct dvi_view *added = DVI_ADD(&presets->names);
        if (added == NULL)
            return dvi_fail_memory(err, spot->source);
        *added = name;
    }
    return presets->names.count > 0 ? DEVIMG_OK : dvi_refuse(err, spot, "presets: name one");
}

static enum devimg_status check_pin(const struct presets *presets, const struct dvi_view *fields,
                                    const struct dvi_spot *spot, struct devimg_error *err)
{
    if (!find_preset(presets, fields[0]))
        return dvi_refuse(err, spot, "unknown preset \"%s\": line \"presets\" does not name it",
                          show(fields[0]).text);
    if (!is_name(fields[1]))
        return dvi_refuse(err, spot, "suite \"%s\": no name of a suite", show(fields[1]).text);
    if (fields[2].size == 0)
        return dvi_refuse(err, spot, "the type parameter is empty: - for a suite without one");
    if (!is_name(fields[3]) && !dvi_equals(fields[3], "*"))
        return dvi_refuse(err, spot, "test \"%s\": neither the name of a test nor *",
                          show(fields[3]).text);
    if (dvi_trimmed(fields[4]).size == 0)
        return dvi_refuse(err, spot, "%s.%s has no reason", show(fields[1]).text,
                          show(fields[3]).text);
    return DEVIMG_OK;
}

/* The order of pins: all of a preset that is looked at come together. */
static int compare_pins(const void *a, const void *b)
{
    const struct dvi_gtest_pin *x = a, *y = b;
    int order = dvi_compare(x->suite, y->suite);
    if (order == 0)
        order = dvi_compare(x->type, y->type);
    return order != 0 ? order : dvi_compare(x->test, y->test);
}

/* Every line is checked, those of other presets too; a preset's own are kept. */
static enum devimg_status read_pin(struct dvi_gtest *out, const struct presets *presets,
                                   struct dvi_view line, const struct dvi_spot *spot,
                                   struct devimg_error *err)
{
    struct dvi_view rest = line, fields[PIN_FIELDS] = { { 0 } };
    size_t count = 0;
    while (count < PIN_FIELDS && dvi_next_field(&rest, '\t', &fields[count]))
        count++;
    if (count < PIN_FIELDS || rest.size > 0)
        return dvi_refuse(err, spot,
                          "expected preset, suite, type parameter, test, reason between tabs");
    DVI_TRY(check_pin(presets, fields, spot, err));
    if (!dvi_equals(fields[0], out->preset))
        return DEVIMG_OK;
    struct dvi_gtest_pin *pin = DVI_ADD(&out->pins);
    if (pin == NULL)
        return dvi_fail_memory(err, spot->source);
    *pin = (struct dvi_gtest_pin){ fields[1], fields[2],  fields[3],
                                   fields[4], spot->line, DVI_GTEST_NO_SUITE };
    return DEVIMG_OK;
}

static enum devimg_status read_pins(struct dvi_gtest *out, struct presets *presets,
                                    struct dvi_view text, struct devimg_error *err)
{
    struct dvi_view rest = text, line = { 0 };
    struct dvi_spot spot = { .source = text.source, .column = 1 };
    while (dvi_next_line(&rest, &line)) {
        spot.line++;
        spot.offset = line.offset;
        if (line.size == 0 || line.data[0] == '#')
            continue;
        if (memchr(line.data, 0, line.size) != NULL)
            return dvi_refuse(err, &spot, "holds a NUL byte: no text");
        if (presets->names.count == 0)
            DVI_TRY(read_presets(presets, line, &spot, err));
        else
            DVI_TRY(read_pin(out, presets, line, &spot, err));
    }
    if (presets->names.count == 0)
        return dvi_fail_plain(err, DEVIMG_MALFORMED, text.source,
                              "no line \"presets\" with their names between tabs");
    out->preset_unknown =
        !find_preset(presets, dvi_view_of(out->preset, strlen(out->preset), NULL));
    if (out->preset_unknown)
        return dvi_fail_plain(err, DEVIMG_MALFORMED, text.source,
                              "unknown preset \"%.60s\": line \"presets\" does not name it",
                              out->preset);
    return DEVIMG_OK;
}

/* "Solver.Converges (float) stands twice"; a pin for all tests leaves nothing to another one. */
static enum devimg_status check_pins(const struct dvi_gtest *g, struct devimg_error *err)
{
    struct dvi_view all = dvi_view_of("*", 1, NULL);
    const struct dvi_gtest_pin *star = NULL;
    for (size_t i = 0; i < g->pins.count; i++) {
        const struct dvi_gtest_pin *pin = &g->pins.items[i], *other = NULL;
        const bool together = i > 0 && same(g->pins.items[i - 1].suite, pin->suite) &&
                              same(g->pins.items[i - 1].type, pin->type);
        if (together && same(g->pins.items[i - 1].test, pin->test))
            other = &g->pins.items[i - 1];
        else if (together)
            other = star;
        if (other != NULL) {
            const uint64_t later = pin->line > other->line ? pin->line : other->line;
            const uint64_t first = pin->line > other->line ? other->line : pin->line;
            const struct dvi_spot spot = {
                .source = g->pins_text.source, .line = later, .column = 1, .offset = DEVIMG_UNKNOWN
            };
            return dvi_refuse(err, &spot, "%s.%s is pinned in line %llu already",
                              show(pin->suite).text, show(pin->test).text,
                              (unsigned long long)first);
        }
        /* '*' comes before every letter that a name may start with, but for '!' to ')' */
        star = same(pin->test, all) ? pin : together ? star : NULL;
    }
    return DEVIMG_OK;
}

/* Suites and groups over the sorted pins. */
static enum devimg_status index_pins(struct dvi_gtest *g, struct devimg_error *err)
{
    for (size_t i = 0; i < g->pins.count; i++) {
        const struct dvi_gtest_pin *pin = &g->pins.items[i];
        const struct dvi_gtest_pin *before = i > 0 ? pin - 1 : NULL;
        const bool new_suite = before == NULL || !same(before->suite, pin->suite);
        if (new_suite) {
            struct dvi_gtest_suite *suite = DVI_ADD(&g->suites);
            if (suite == NULL)
                return dvi_fail_memory(err, "pins");
            suite->name = pin->suite; /* NOLINT(clang-analyzer-core.NullDereference) */
            suite->first = g->groups.count;
        }
        if (new_suite || !same(before->type, pin->type)) {
            struct dvi_gtest_group *group = DVI_ADD(&g->groups);
            if (group == NULL)
                return dvi_fail_memory(err, "pins");
            *group = (struct dvi_gtest_group){ .type = pin->type, .first = i };
            g->suites.items[g->suites.count - 1].count++;
        }
        g->groups.items[g->groups.count - 1].count++;
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_gtest_read_pins(const char *path, const char *preset, struct dvi_gtest *out,
                                       struct devimg_error *err)
{
    struct presets presets = { 0 };
    *out = (struct dvi_gtest){ .preset = preset };
    DVI_TRY(dvi_read_text(path, MOST_PIN_BYTES, &out->arena, &out->pins_text, err));
    const enum devimg_status st = read_pins(out, &presets, out->pins_text, err);
    DVI_LIST_FREE(&presets.names);
    DVI_TRY(st);
    if (out->pins.count > 0)
        qsort(out->pins.items, out->pins.count, sizeof *out->pins.items, compare_pins);
    DVI_TRY(check_pins(out, err));
    return index_pins(out, err);
}

static int compare_suite(const void *key, const void *item)
{
    const struct dvi_gtest_suite *suite = item;
    return dvi_compare(*(const struct dvi_view *)key, suite->name);
}

static int compare_group(const void *key, const void *item)
{
    const struct dvi_gtest_group *group = item;
    return dvi_compare(*(const struct dvi_view *)key, group->type);
}

static int compare_test(const void *key, const void *item)
{
    const struct dvi_gtest_pin *pin = item;
    return dvi_compare(*(const struct dvi_view *)key, pin->test);
}

/* A suite of the list, while its tests are read. */
struct open_suite {
    struct dvi_view name;          /* "Solver/3"; size 0: none yet */
    struct dvi_gtest_group *group; /* the pins for it; NULL: none */
    struct dvi_gtest_pin *all;     /* the pin for all its tests; NULL: none */
    bool all_excluded;
};

static struct dvi_gtest_pin *find_pin(struct dvi_gtest *g, const struct dvi_gtest_group *group,
                                      struct dvi_view test)
{
    return group == NULL ? NULL
                         : bsearch(&test, g->pins.items + group->first, group->count,
                                   sizeof *g->pins.items, compare_test);
}

/* The pins for a suite: of its name without the index, and of its type parameter. */
static void find_group(struct dvi_gtest *g, struct dvi_view name, struct dvi_view type,
                       struct open_suite *out)
{
    const uint8_t *slash = type.size > 0 ? memrchr(name.data, '/', name.size) : NULL;
    const struct dvi_view plain =
        dvi_head(name, slash != NULL ? (size_t)(slash - name.data) : name.size);
    const struct dvi_view key = type.size > 0 ? type : dvi_view_of("-", 1, NULL);
    *out = (struct open_suite){ .name = name };
    struct dvi_gtest_suite *suite = g->suites.count == 0
                                        ? NULL
                                        : bsearch(&plain, g->suites.items, g->suites.count,
                                                  sizeof *g->suites.items, compare_suite);
    if (suite == NULL)
        return;
    suite->seen = true;
    out->group = bsearch(&key, g->groups.items + suite->first, suite->count,
                         sizeof *g->groups.items, compare_group);
    if (out->group == NULL)
        return;
    out->group->seen = true;
    out->all = find_pin(g, out->group, dvi_view_of("*", 1, NULL));
}

/* "Solver/3.  # TypeParam = float" */
static enum devimg_status read_suite(struct dvi_gtest *g, struct dvi_view line,
                                     const struct dvi_spot *spot, struct open_suite *out,
                                     struct devimg_error *err)
{
    const size_t label = sizeof type_label - 1;
    const uint8_t *mark_at = memmem(line.data, line.size, type_label, label);
    const size_t size = mark_at != NULL ? (size_t)(mark_at - line.data) : line.size;
    struct dvi_view name = dvi_head(line, size);
    struct dvi_view type = dvi_view_of("", 0, NULL);
    if (mark_at != NULL)
        type = field_view(&line, mark_at + label, line.size - size - label);
    if (name.size < 2 || name.data[name.size - 1] != '.' || !is_name(dvi_head(name, name.size - 1)))
        return dvi_refuse(err, spot,
                          "\"%s\" is neither a suite (\"Name.\") nor a test: is this the "
                          "output of --gtest_list_tests?",
                          show(line).text);
    if (mark_at != NULL && type.size == 0)
        return dvi_refuse(err, spot, "suite \"%s\" has an empty type parameter", show(name).text);
    find_group(g, dvi_head(name, name.size - 1), type, out);
    return DEVIMG_OK;
}

static enum devimg_status exclude(struct dvi_gtest *g, const struct open_suite *suite,
                                  struct dvi_gtest_pin *pin, struct dvi_view test,
                                  struct devimg_error *err)
{
    struct dvi_gtest_excluded *added = DVI_ADD(&g->excluded);
    if (added == NULL)
        return dvi_fail_memory(err, "list of tests");
    pin->miss = DVI_GTEST_MATCHED;
    *added = (struct dvi_gtest_excluded){ suite->name, test, (size_t)(pin - g->pins.items) };
    return DEVIMG_OK;
}

/* "  Works/0  # GetParam() = 3" */
static enum devimg_status read_test(struct dvi_gtest *g, struct dvi_view line,
                                    const struct dvi_spot *spot, struct open_suite *suite,
                                    struct devimg_error *err)
{
    const struct dvi_view text = dvi_from(line, 2);
    const uint8_t *label = memmem(text.data, text.size, value_label, sizeof value_label - 1);
    const struct dvi_view name =
        dvi_head(text, label != NULL ? (size_t)(label - text.data) : text.size);
    if (!is_name(name))
        return dvi_refuse(err, spot, "\"%s\" is no name of a test", show(text).text);
    if (suite->name.size == 0)
        return dvi_refuse(err, spot, "test \"%s\" stands before any suite", show(name).text);
    g->test_count++;
    if (suite->all != NULL && suite->all_excluded)
        return DEVIMG_OK;
    struct dvi_gtest_pin *pin = suite->all != NULL ? suite->all : find_pin(g, suite->group, name);
    if (pin == NULL)
        return DEVIMG_OK;
    suite->all_excluded = suite->all != NULL;
    return exclude(g, suite, pin, suite->all != NULL ? suite->all->test : name, err);
}

static enum devimg_status read_list(struct dvi_gtest *g, struct dvi_view text,
                                    struct devimg_error *err)
{
    struct dvi_view rest = text, line = { 0 };
    struct dvi_spot spot = { .source = text.source, .column = 1 };
    struct open_suite suite = { .name = dvi_view_of("", 0, NULL) };
    while (dvi_next_line(&rest, &line)) {
        spot.line++;
        spot.offset = line.offset;
        if (line.size == 0 || dvi_starts_with(line, start_line, sizeof start_line - 1))
            continue;
        if (dvi_starts_with(line, "  ", 2))
            DVI_TRY(read_test(g, line, &spot, &suite, err));
        else
            DVI_TRY(read_suite(g, line, &spot, &suite, err));
    }
    if (g->test_count == 0)
        return dvi_fail_plain(err, DEVIMG_MALFORMED, text.source,
                              "lists no test: is this the output of --gtest_list_tests?");
    return DEVIMG_OK;
}

/* Why pins match nothing: the first of suite, type, test that the list does not have. */
static void judge(struct dvi_gtest *g)
{
    for (size_t s = 0; s < g->suites.count; s++)
        for (size_t k = 0; k < g->suites.items[s].count; k++) {
            const struct dvi_gtest_group *group = &g->groups.items[g->suites.items[s].first + k];
            for (size_t i = group->first; i < group->first + group->count; i++) {
                struct dvi_gtest_pin *pin = &g->pins.items[i];
                if (pin->miss == DVI_GTEST_MATCHED)
                    continue;
                g->unmatched++;
                pin->miss = group->seen               ? DVI_GTEST_NO_TEST
                            : g->suites.items[s].seen ? DVI_GTEST_NO_TYPE
                                                      : DVI_GTEST_NO_SUITE;
            }
        }
}

enum devimg_status dvi_gtest_read_list(struct dvi_gtest *gtest, const char *path,
                                       struct devimg_error *err)
{
    DVI_TRY(dvi_file_open(path, path, false, &gtest->list_file, err));
    DVI_TRY(read_list(gtest, gtest->list_file.bytes, err));
    if (dvi_file_was_cut(&gtest->list_file))
        return dvi_fail_plain(err, DEVIMG_IO, path, "was cut while it was read");
    judge(gtest);
    return DEVIMG_OK;
}

void dvi_gtest_free(struct dvi_gtest *gtest)
{
    DVI_LIST_FREE(&gtest->pins);
    DVI_LIST_FREE(&gtest->suites);
    DVI_LIST_FREE(&gtest->groups);
    DVI_LIST_FREE(&gtest->excluded);
    dvi_file_close(&gtest->list_file);
    dvi_arena_free(&gtest->arena);
}
