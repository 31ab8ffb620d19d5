/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/bundle.h"

#include <string.h>

#include <inttypes.h>
#include <stdlib.h>

#define DVI_BUNDLE(name) extern const struct dvi_bundle dvi_bundle_##name;
#include "bundle/bundles.def"
#undef DVI_BUNDLE

static const struct dvi_bundle *const rows[] = {
#define DVI_BUNDLE(name) &dvi_bundle_##name,
#include "bundle/bundles.def"
#undef DVI_BUNDLE
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

struct dvi_placed dvi_placed_unknown(struct dvi_view bytes, const char *bundle)
{
    return (struct dvi_placed){ .bytes = bytes,
                                .bundle = bundle,
                                .registered = DEVIMG_MAYBE,
                                .required_sub_group_size = DEVIMG_UNKNOWN };
}

const struct dvi_bundle *dvi_bundle_of(struct dvi_view bytes)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i]->match != NULL && rows[i]->match(bytes))
            return rows[i];
    return NULL;
}

enum devimg_status dvi_bundles_walk(struct dvi_object *object, struct dvi_found *found,
                                    struct devimg_error *err)
{
    enum { LOOKS = 4 }; /* rows that look at whole sections */
    struct dvi_claims claims = { .left = (uint64_t)object->file.size * LOOKS };
    enum devimg_status status = DEVIMG_OK;
    for (size_t i = 0; i < ROW_COUNT && status == DEVIMG_OK; i++) {
        if (rows[i]->walk_object == NULL)
            continue;
        status = rows[i]->walk_object(object, &claims, found, err);
        status = dvi_found_damage(found, status, err);
    }
    DVI_LIST_FREE(&claims.ranges);
    return status;
}

enum devimg_status dvi_found_names(struct dvi_found *found, uint64_t count, const char *what,
                                   struct dvi_view at, struct devimg_error *err)
{
    const uint64_t before = atomic_fetch_add(found->named, count);
    if (before <= found->most_names && count <= found->most_names - before)
        return DEVIMG_OK;
    return dvi_fail(err, DEVIMG_LIMIT, at, 0,
                    "%" PRIu64 " %s: past the limit on kernels (max-kernels)", count, what);
}

const char *dvi_note_both(struct dvi_arena *arena, const char *first, const char *second)
{
    if (first == NULL || second == NULL || strcmp(first, second) == 0)
        return first != NULL ? first : second;
    return dvi_arena_format(arena, "%s; %s", first, second);
}

enum devimg_status dvi_found_label(struct dvi_found *found, struct dvi_view label, const char *what,
                                   const char **out, struct devimg_error *err)
{
    if (label.size > DVI_MOST_NAME_BYTES)
        return dvi_fail(err, DEVIMG_MALFORMED, label, 0, "%s of %zu bytes: at most %d are read",
                        what, label.size, (int)DVI_MOST_NAME_BYTES);
    *out = dvi_arena_text(found->arena, label);
    return *out != NULL ? DEVIMG_OK : dvi_fail_memory(err, label.source);
}

enum devimg_status dvi_claims_add(struct dvi_claims *claims, struct dvi_view bytes,
                                  struct devimg_error *err)
{
    struct dvi_claim *claim = DVI_ADD(&claims->ranges);
    if (claim == NULL)
        return dvi_fail_memory(err, bytes.source);
    *claim = (struct dvi_claim){ bytes.offset, bytes.offset + bytes.size };
    claims->sorted = false;
    return DEVIMG_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct dvi_claim *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Sort, and merge what overlaps, so that ends rise as begins do. */
static void sort_claims(struct dvi_claims *claims)
{
    if (claims->sorted || claims->ranges.count == 0)
        return;
    struct dvi_claim *ranges = claims->ranges.items;
    qsort(ranges, claims->ranges.count, sizeof *ranges, by_begin);
    size_t kept = 0;
    for (size_t i = 1; i < claims->ranges.count; i++) {
        if (ranges[i].begin > ranges[kept].end)
            ranges[++kept] = ranges[i];
        else if (ranges[i].end > ranges[kept].end)
            ranges[kept].end = ranges[i].end;
    }
    claims->ranges.count = kept + 1;
    claims->sorted = true;
}

/* The first range that ends after `offset`; ranges.count when none does. */
static size_t first_ending_after(const struct dvi_claims *claims, uint64_t offset)
{
    size_t low = 0, high = claims->ranges.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (claims->ranges.items[middle].end > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool dvi_claims_gap(struct dvi_claims *claims, struct dvi_view v, uint64_t *at,
                    struct dvi_view *out)
{
    sort_claims(claims);
    while (*at < v.size) {
        const uint64_t offset = v.offset + *at;
        const size_t i = first_ending_after(claims, offset);
        const struct dvi_claim *next = i < claims->ranges.count ? &claims->ranges.items[i] : NULL;
        if (next != NULL && next->begin <= offset) {
            *at = next->end - v.offset;
            continue;
        }
        *out = dvi_from(v, *at);
        if (next != NULL && next->begin - offset < out->size)
            out->size = (size_t)(next->begin - offset);
        *at += out->size;
        return true;
    }
    return false;
}
