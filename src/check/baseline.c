/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A baseline: findings that are accepted for now, one a line, exactly as they are keyed.
 * Layout (docs/rule/baseline.md), tab-separated; '#' starts a comment line; '-' stands for none;
 * bytes up to 0x20, 0x7f and '%' are written as %xx. Equal lines are counted.
 *
 *   file   rule   code   module   kernel   target
 *
 * Nothing in a line depends on where an image lies or how many stand before it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/policy.h"

enum { MOST_BYTES = 64 << 20 };

static int compare(const void *a, const void *b)
{
    const struct dvi_baseline_line *x = a, *y = b;
    const int order = strcmp(x->key, y->key);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

/* Make equal neighbours one entry with a count. */
static void merge(struct dvi_baseline *baseline)
{
    size_t kept = 0;
    for (size_t i = 0; i < baseline->lines.count; i++) {
        const struct dvi_baseline_line *from = &baseline->lines.items[i];
        if (kept > 0 && strcmp(baseline->lines.items[kept - 1].key, from->key) == 0)
            baseline->lines.items[kept - 1].count++;
        else
            baseline->lines.items[kept++] = *from;
    }
    baseline->lines.count = kept;
}

static enum devimg_status read_lines(struct dvi_baseline *out, struct dvi_view text,
                                     struct dvi_arena *arena, struct devimg_error *err)
{
    struct dvi_view rest = text, line = { 0 };
    struct dvi_spot spot = { .source = text.source, .column = 1 };
    while (dvi_next_line(&rest, &line)) {
        spot.line++;
        spot.offset = line.offset;
        if (line.size == 0 || line.data[0] == '#')
            continue;
        size_t tabs = 0;
        for (size_t i = 0; i < line.size; i++)
            tabs += line.data[i] == '\t' ? 1U : 0U;
        if (tabs != 5)
            return dvi_refuse(err, &spot,
                              "%zu fields: expected file, rule, code, module, kernel, target",
                              tabs + 1);
        struct dvi_baseline_line *added = DVI_ADD(&out->lines);
        if (added == NULL)
            return dvi_fail_memory(err, text.source);
        added->key = dvi_arena_text(arena, line);
        added->count = 1;
        added->line = (uint32_t)spot.line; /* at most 64 Mi lines */
        if (added->key == NULL)
            return dvi_fail_memory(err, text.source);
    }
    if (out->lines.count > 0)
        qsort(out->lines.items, out->lines.count, sizeof *out->lines.items, compare);
    merge(out);
    return DEVIMG_OK;
}

enum devimg_status dvi_baseline_load(struct dvi_baseline *out, const char *path,
                                     struct dvi_arena *arena, struct devimg_error *err)
{
    struct dvi_view text = { 0 };
    struct dvi_baseline fresh = { 0 };
    DVI_TRY(dvi_read_list(path, MOST_BYTES, arena, &text, &fresh.is_missing, err));
    fresh.path = text.source;
    const enum devimg_status st = read_lines(&fresh, text, arena, err);
    if (st != DEVIMG_OK) {
        DVI_LIST_FREE(&fresh.lines);
        return st;
    }
    *out = fresh;
    return DEVIMG_OK;
}

static int compare_key(const void *key, const void *line)
{
    const struct dvi_baseline_line *at = line;
    return strcmp(key, at->key);
}

const struct dvi_baseline_line *dvi_baseline_find(const struct dvi_baseline *baseline,
                                                  const char *key)
{
    if (baseline->lines.count == 0)
        return NULL;
    return bsearch(key, baseline->lines.items, baseline->lines.count, sizeof *baseline->lines.items,
                   compare_key);
}
