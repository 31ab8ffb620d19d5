/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ratchet file: the scratch memory that kernels may still use. It may only shrink.
 * Layout (docs/rule/scratch.md), tab-separated, bytes in decimal or "-" for what the image did not
 * state; '#' starts a comment line:
 *
 *   kernel   target (or *)   private   spill   buffer
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/text.h"
#include "check/policy.h"

enum { MOST_BYTES = 16 << 20, FIELDS = 2 + DVI_RATCHET_COUNT };

int dvi_ratchet_compare(const void *a, const void *b)
{
    const struct dvi_ratchet_line *x = a, *y = b;
    const int by_kernel = strcmp(x->kernel, y->kernel);
    return by_kernel != 0 ? by_kernel : strcmp(x->target, y->target);
}

/* The name that images carry: one a device IP version. */
const char *dvi_ratchet_target(const char *target)
{
    const struct devimg_target *row = devimg_target_find(target);
    if (row == NULL)
        return NULL;
    const struct devimg_target *first =
        row->ip_version != DEVIMG_UNKNOWN ? dvi_target_of_ip(row->ip_version) : NULL;
    return first != NULL ? first->name : row->name;
}

static enum devimg_status read_line(struct dvi_view line, const struct dvi_spot *spot,
                                    struct dvi_arena *arena, struct dvi_ratchet_line *out,
                                    struct devimg_error *err)
{
    struct dvi_view rest = line, fields[FIELDS] = { { 0 } };
    size_t count = 0;
    while (count < FIELDS && dvi_next_field(&rest, '\t', &fields[count]))
        count++;
    if (count < FIELDS || rest.size > 0)
        return dvi_refuse(err, spot,
                          "expected kernel, target, private, spill, buffer between tabs");
    out->kernel = dvi_arena_text(arena, fields[0]);
    const char *target = dvi_arena_text(arena, fields[1]);
    if (out->kernel == NULL || target == NULL)
        return dvi_fail_memory(err, spot->source);
    out->target = strcmp(target, "*") == 0 ? target : dvi_ratchet_target(target);
    if (out->target == NULL)
        return dvi_refuse(err, spot, "no table has the target \"%.40s\"", target);
    for (size_t i = 0; i < DVI_RATCHET_COUNT; i++) {
        out->is_unknown[i] = dvi_equals(fields[2 + i], "-");
        if (!out->is_unknown[i] && !dvi_decimal(fields[2 + i], &out->most[i]))
            return dvi_refuse(err, spot, "field %zu: expected bytes in decimal, or -", 3 + i);
    }
    out->line = (uint32_t)spot->line; /* at most 16 Mi lines */
    return DEVIMG_OK;
}

static enum devimg_status read_lines(struct dvi_ratchet *out, struct dvi_view text,
                                     struct dvi_arena *arena, struct devimg_error *err)
{
    struct dvi_view rest = text, line = { 0 };
    struct dvi_spot spot = { .source = text.source, .column = 1 };
    while (dvi_next_line(&rest, &line)) {
        spot.line++;
        spot.offset = line.offset;
        if (line.size == 0 || line.data[0] == '#')
            continue;
        struct dvi_ratchet_line *added = DVI_ADD(&out->lines);
        if (added == NULL)
            return dvi_fail_memory(err, text.source);
        DVI_TRY(read_line(line, &spot, arena, added, err));
    }
    if (out->lines.count > 0)
        qsort(out->lines.items, out->lines.count, sizeof *out->lines.items, dvi_ratchet_compare);
    for (size_t i = 1; i < out->lines.count; i++) {
        const struct dvi_ratchet_line *a = &out->lines.items[i - 1], *b = &out->lines.items[i];
        spot.line = a->line > b->line ? a->line : b->line;
        spot.offset = DEVIMG_UNKNOWN;
        if (dvi_ratchet_compare(a, b) == 0)
            return dvi_refuse(err, &spot, "\"%.60s\" for %s stands twice", a->kernel, a->target);
    }
    return DEVIMG_OK;
}

enum devimg_status dvi_ratchet_load(struct dvi_ratchet *out, const char *path,
                                    struct dvi_arena *arena, struct devimg_error *err)
{
    struct dvi_view text = { 0 };
    struct dvi_ratchet fresh = { 0 };
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

static const struct dvi_ratchet_line *find_exact(const struct dvi_ratchet *ratchet,
                                                 const char *kernel, const char *target)
{
    const struct dvi_ratchet_line key = { .kernel = kernel, .target = target };
    if (ratchet->lines.count == 0)
        return NULL;
    return bsearch(&key, ratchet->lines.items, ratchet->lines.count, sizeof *ratchet->lines.items,
                   dvi_ratchet_compare);
}

const struct dvi_ratchet_line *dvi_ratchet_find(const struct dvi_ratchet *ratchet,
                                                const char *kernel, const char *target)
{
    char buffer[DVI_NAME_ROOM];
    const char *const names[] = { kernel, dvi_demangle(kernel, buffer) };
    const char *const targets[] = { target, "*" };
    for (size_t t = 0; t < 2; t++)
        for (size_t n = 0; n < 2; n++) {
            const struct dvi_ratchet_line *line = names[n] != NULL && targets[t] != NULL
                                                      ? find_exact(ratchet, names[n], targets[t])
                                                      : NULL;
            if (line != NULL)
                return line;
        }
    return NULL;
}
