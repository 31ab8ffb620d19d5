/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given back all at once, and growing arrays. Nothing here needs a free of its own.
 */
#ifndef DVI_BASE_ARENA_H
#define DVI_BASE_ARENA_H

#include <stdatomic.h>

#include "base/view.h"

struct dvi_arena_block;

/** What several arenas may take together; what they give back does not count again. */
struct dvi_arena_budget {
    uint64_t most;
    _Atomic uint64_t taken; /* also what there was no room for: past `most`, it was used up */
};

/** Start with { 0 }; one thread at a time. */
struct dvi_arena {
    struct dvi_arena_block *blocks;
    struct dvi_arena_budget *budget; /* NULL: as much as there is; past it, as out of memory */
};

/** `count` zeroed objects of `size` bytes, aligned for any; NULL: out of memory or overflow. */
void *dvi_arena_array(struct dvi_arena *arena, size_t count, size_t size);
/** The view's bytes and a NUL; an embedded NUL ends the text. NULL: out of memory. */
const char *dvi_arena_text(struct dvi_arena *arena, struct dvi_view v);
const char *dvi_arena_copy(struct dvi_arena *arena, const char *text);
const char *dvi_arena_format(struct dvi_arena *arena, const char *format, ...) DVI_PRINTF(2, 3);
/** Move every block of `from` into `arena`: what was made there now lives here. */
void dvi_arena_adopt(struct dvi_arena *arena, struct dvi_arena *from);
void dvi_arena_free(struct dvi_arena *arena);

/**
 * A growing array on the heap, for arrays whose size is known only at the end.
 *     DVI_LIST(struct dvi_section) sections = { 0 };
 *     struct dvi_section *s = DVI_ADD(&sections);      zeroed; NULL: out of memory
 *     DVI_LIST_FREE(&sections);
 * Items move when the list grows: keep indices, not pointers.
 */
#define DVI_LIST(type)      \
    struct {                \
        type *items;        \
        size_t count, room; \
    }
#define DVI_ADD(list)                                                                            \
    (dvi_list_room((void **)&(list)->items, (list)->count, &(list)->room, sizeof *(list)->items) \
         ? &(list)->items[(list)->count++]                                                       \
         : NULL)
#define DVI_LIST_FREE(list) dvi_list_free((void **)&(list)->items, &(list)->count, &(list)->room)

/** Make room for one more zeroed item; false: out of memory. */
bool dvi_list_room(void **items, size_t count, size_t *room, size_t item_size);
void dvi_list_free(void **items, size_t *count, size_t *room);

#endif
