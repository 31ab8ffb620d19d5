/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dvi_arena_block {
    struct dvi_arena_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

enum { BLOCK_SIZE = 64 * 1024 - 64, ALIGN = alignof(max_align_t) };

static bool charge(struct dvi_arena_budget *budget, uint64_t size)
{
    if (budget == NULL)
        return true;
    const uint64_t before = atomic_fetch_add(&budget->taken, size);
    return before <= budget->most && size <= budget->most - before;
}

static void *take(struct dvi_arena *arena, size_t size, size_t align)
{
    struct dvi_arena_block *block = arena->blocks;
    if (block != NULL) {
        const size_t start = (block->used + align - 1) / align * align;
        if (start <= block->size && size <= block->size - start) {
            block->used = start + size;
            return block->bytes + start;
        }
    }
    const size_t room = size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE;
    if (room > SIZE_MAX - sizeof *block || !charge(arena->budget, room))
        return NULL;
    struct dvi_arena_block *fresh = malloc(sizeof *fresh + room);
    if (fresh == NULL)
        return NULL;
    fresh->used = size;
    fresh->size = room;
    if (room != BLOCK_SIZE && block != NULL) { /* keep filling the block that still has room */
        fresh->next = block->next;
        block->next = fresh;
    } else {
        fresh->next = block;
        arena->blocks = fresh;
    }
    return fresh->bytes;
}

void *dvi_arena_array(struct dvi_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    const size_t total = count * size;
    void *memory = take(arena, total > 0 ? total : 1, ALIGN);
    if (memory != NULL)
        memset(memory, 0, total);
    return memory;
}

const char *dvi_arena_text(struct dvi_arena *arena, struct dvi_view v)
{
    const uint8_t *end = memchr(v.data, 0, v.size);
    const size_t size = end != NULL ? (size_t)(end - v.data) : v.size;
    char *text = take(arena, size + 1, 1);
    if (text == NULL)
        return NULL;
    memcpy(text, v.data, size);
    text[size] = 0;
    return text;
}

const char *dvi_arena_copy(struct dvi_arena *arena, const char *text)
{
    return dvi_arena_text(arena, dvi_view_of(text, strlen(text), NULL));
}

const char *dvi_arena_format(struct dvi_arena *arena, const char *format, ...)
{
    char short_text[128]; /* most texts fit: one formatting */
    va_list values;
    va_start(values, format);
    const int size = vsnprintf(short_text, sizeof short_text, format, values);
    va_end(values);
    char *text = size < 0 ? NULL : take(arena, (size_t)size + 1, 1);
    if (text == NULL)
        return NULL;
    if ((size_t)size < sizeof short_text) {
        memcpy(text, short_text, (size_t)size + 1);
        return text;
    }
    va_start(values, format);
    (void)vsnprintf(text, (size_t)size + 1, format, values);
    va_end(values);
    return text;
}

void dvi_arena_adopt(struct dvi_arena *arena, struct dvi_arena *from)
{
    struct dvi_arena_block **end = &from->blocks;
    while (*end != NULL)
        end = &(*end)->next;
    *end = arena->blocks;
    arena->blocks = from->blocks;
    from->blocks = NULL;
}

void dvi_arena_free(struct dvi_arena *arena)
{
    while (arena->blocks != NULL) {
        struct dvi_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

bool dvi_list_room(void **items, size_t count, size_t *room, size_t item_size)
{
    if (count < *room)
        return true;
    enum { FIRST_BYTES = 256 }; /* a list of large items often holds one */
    const size_t first = item_size < FIRST_BYTES ? FIRST_BYTES / item_size : 1;
    const size_t more = *room == 0 ? first : *room + *room / 2 + 1;
    if (more > SIZE_MAX / item_size)
        return false;
    void *moved = realloc(*items, more * item_size);
    if (moved == NULL)
        return false;
    memset((char *)moved + count * item_size, 0, (more - count) * item_size);
    *items = moved;
    *room = more;
    return true;
}

void dvi_list_free(void **items, size_t *count, size_t *room)
{
    free(*items);
    *items = NULL;
    *count = *room = 0;
}
