/* SPDX-License-Identifier: Apache-2.0 */
/* Which names are looked into: keywords, the built-in forms of a size, and what a user names. */
#include <stdlib.h>
#include <string.h>

#include "sycl/source_scanner.h"

struct dvi_word_entry {
    uint32_t hash;
    const char *name;
    enum dvi_word_id id;
    const struct dvi_source_word *user;
};

static const struct {
    const char *name;
    enum dvi_word_id id;
} keywords[] = {
    { "template", DVI_WORD_TEMPLATE },
    { "class", DVI_WORD_CLASS },
    { "struct", DVI_WORD_CLASS },
    { "union", DVI_WORD_CLASS },
    { "enum", DVI_WORD_ENUM },
    { "namespace", DVI_WORD_NAMESPACE },
    { "using", DVI_WORD_USING },
    { "const", DVI_WORD_CONST },
    { "constexpr", DVI_WORD_CONST },
    { "consteval", DVI_WORD_CONST },
    { "static_assert", DVI_WORD_ASSERT },
    { "_Static_assert", DVI_WORD_ASSERT },
    { "requires", DVI_WORD_REQUIRES },
    { "__attribute__", DVI_WORD_GNU_ATTRIBUTE },
    { "__attribute", DVI_WORD_GNU_ATTRIBUTE },
    { "reqd_sub_group_size", DVI_WORD_REQD },
    { "intel_reqd_sub_group_size", DVI_WORD_REQD },
    { "__reqd_sub_group_size__", DVI_WORD_REQD },
    { "__intel_reqd_sub_group_size__", DVI_WORD_REQD },
    { "sub_group_size", DVI_WORD_SIZE },
    { "__sub_group_size__", DVI_WORD_SIZE },
    { "named_sub_group_size", DVI_WORD_NAMED_SIZE },
    { "sub_group_size_key", DVI_WORD_KEY },
};
enum { KEYWORD_COUNT = sizeof keywords / sizeof *keywords };

static enum dvi_word_id keyword_of(const char *name)
{
    for (size_t i = 0; i < KEYWORD_COUNT; i++)
        if (strcmp(keywords[i].name, name) == 0)
            return keywords[i].id;
    return DVI_WORD_NONE;
}

const char *dvi_word_name(enum dvi_word_id id)
{
    size_t i = 0;
    while (keywords[i].id != id)
        i++;
    return keywords[i].name;
}

static void add_entry(struct dvi_source_words *words, uint32_t *count,
                      const struct dvi_word_entry *entry)
{
    uint32_t slot = entry->hash & words->mask;
    for (; words->slots[slot] != 0; slot = (slot + 1) & words->mask)
        if (strcmp(words->entries[words->slots[slot] - 1].name, entry->name) == 0)
            return; /* the first of two counts */
    words->entries[(*count)++] = *entry;
    words->slots[slot] = *count;
}

enum devimg_status dvi_source_words_make(struct dvi_source_words *words, struct devimg_error *err)
{
    uint32_t size = 256, count = 0;
    while (size / 4 < words->count + KEYWORD_COUNT && size < UINT32_MAX / 2)
        size *= 2;
    words->slots = calloc(size, sizeof *words->slots);
    words->entries = calloc(words->count + KEYWORD_COUNT, sizeof *words->entries);
    words->mask = size - 1;
    if (words->slots == NULL || words->entries == NULL)
        return dvi_fail_memory(err, "lint");
    for (size_t i = 0; i < words->count; i++) {
        const char *name = words->items[i].name;
        const char *same_as = words->items[i].same_as;
        const struct dvi_word_entry e = { dvi_lex_hash(name, strlen(name)), name,
                                          same_as != NULL ? keyword_of(same_as) : DVI_WORD_USER,
                                          &words->items[i] };
        add_entry(words, &count, &e);
    }
    for (size_t i = 0; i < KEYWORD_COUNT; i++) {
        const char *name = keywords[i].name;
        const struct dvi_word_entry e = { dvi_lex_hash(name, strlen(name)), name, keywords[i].id,
                                          NULL };
        add_entry(words, &count, &e);
    }
    return DEVIMG_OK;
}

void dvi_source_words_free(struct dvi_source_words *words)
{
    free(words->slots);
    free(words->entries);
    words->slots = NULL;
    words->entries = NULL;
}

enum dvi_word_id dvi_word_of(const struct dvi_source_words *words, const struct dvi_lexer *lexer,
                             const struct dvi_lexeme *token, const struct dvi_source_word **user)
{
    for (uint32_t slot = token->hash & words->mask; words->slots[slot] != 0;
         slot = (slot + 1) & words->mask) {
        const struct dvi_word_entry *e = &words->entries[words->slots[slot] - 1];
        if (e->hash == token->hash && dvi_lex_is(lexer, token, e->name)) {
            *user = e->user;
            return e->id;
        }
    }
    return DVI_WORD_NONE;
}

bool dvi_source_words_find(const struct dvi_source_words *words, struct dvi_view name,
                           struct dvi_source_word *out)
{
    const uint32_t hash = dvi_lex_hash((const char *)name.data, name.size);
    for (uint32_t slot = hash & words->mask; words->slots[slot] != 0;
         slot = (slot + 1) & words->mask) {
        const struct dvi_word_entry *e = &words->entries[words->slots[slot] - 1];
        if (e->hash != hash || !dvi_equals(name, e->name))
            continue;
        const bool attribute = e->id >= DVI_WORD_REQD && e->id <= DVI_WORD_NAMED_SIZE;
        if (e->id == DVI_WORD_USER)
            *out = *e->user;
        else
            *out = (struct dvi_source_word){ .name = e->name, .argument = 1 };
        return attribute || (e->id == DVI_WORD_USER && !out->is_template);
    }
    return false;
}
