/* SPDX-License-Identifier: Apache-2.0 */
#include "sycl/compiler.h"

#include <string.h>

#include "base/glob.h"

static const struct dvi_compiler *const compilers[] = {
#define DVI_COMPILER(name) &dvi_compiler_##name,
#include "sycl/compilers.def"
#undef DVI_COMPILER
};

const struct dvi_compiler *dvi_compiler_at(size_t index)
{
    return index < DVI_COMPILERS ? compilers[index] : NULL;
}

bool dvi_matches_any(const char *const *globs, const char *text)
{
    for (; *globs != NULL; globs++)
        if (dvi_glob(*globs, text))
            return true;
    return false;
}

bool dvi_has_suffix(const char *const *suffixes, const char *path)
{
    const size_t size = strlen(path);
    for (; *suffixes != NULL; suffixes++)
        if (size > strlen(*suffixes) && strcmp(path + size - strlen(*suffixes), *suffixes) == 0)
            return true;
    return false;
}

enum devimg_status dvi_words_add(struct dvi_sycl_words *words, const char *word,
                                 struct devimg_error *err)
{
    const char **added = word != NULL ? DVI_ADD(&words->list) : NULL;
    if (added == NULL)
        return dvi_fail_memory(err, "");
    *added = word;
    return DEVIMG_OK;
}

enum devimg_status dvi_words_add_all(struct dvi_sycl_words *words, const char *const *list,
                                     struct devimg_error *err)
{
    for (; *list != NULL; list++)
        DVI_TRY(dvi_words_add(words, *list, err));
    return DEVIMG_OK;
}

enum devimg_status dvi_words_add_some(struct dvi_sycl_words *words, const char *const *list,
                                      size_t count, struct devimg_error *err)
{
    for (size_t i = 0; i < count; i++)
        DVI_TRY(dvi_words_add(words, list[i], err));
    return DEVIMG_OK;
}

bool dvi_words_have(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

const char *dvi_words_source(const char *const *words, size_t count, const char *const *suffixes)
{
    for (size_t i = count; i > 0; i--)
        if (words[i - 1][0] != '-' && dvi_has_suffix(suffixes, words[i - 1]))
            return words[i - 1];
    return NULL;
}

size_t dvi_words_dropped(const struct dvi_dropped *list, const char *const *words, size_t at,
                         size_t count)
{
    for (; list->option != NULL; list++) {
        const size_t size = strlen(list->option);
        const bool whole = strcmp(words[at], list->option) == 0;
        if (whole && list->how != DVI_DROP_WORD)
            return at + 1 < count ? 2 : 1;
        if (whole || (list->how == DVI_DROP_START && strncmp(words[at], list->option, size) == 0))
            return 1;
    }
    return 0;
}

enum devimg_status dvi_words_keep(struct dvi_sycl_words *out, const struct dvi_dropped *list,
                                  const char *const *words, size_t count, struct devimg_error *err)
{
    for (size_t i = 0; i < count;) {
        const size_t dropped = dvi_words_dropped(list, words, i, count);
        if (dropped == 0)
            DVI_TRY(dvi_words_add(out, words[i], err));
        i += dropped > 0 ? dropped : 1;
    }
    return DEVIMG_OK;
}
