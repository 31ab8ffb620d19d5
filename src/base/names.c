/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

uint32_t dvi_names_sort(const char **names, uint32_t count)
{
    uint32_t kept = 0;
    while (kept < count && (kept == 0 || strcmp(names[kept - 1], names[kept]) < 0))
        kept++;
    if (kept == count)
        return count;
    qsort(names, count, sizeof *names, by_text);
    kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
            names[kept++] = names[i];
    return kept;
}

bool dvi_names_have(const char *const *names, uint32_t count, const char *name)
{
    return count > 0 && bsearch(&name, names, count, sizeof *names, by_text) != NULL;
}

static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

/* Bytes of the identifier at the start of `text`; 0: there is none. */
static size_t identifier_size(const char *text)
{
    return *text != '\0' && strchr(letters + 10, *text) != NULL ? strspn(text, letters) : 0;
}

bool dvi_is_identifier(const char *text)
{
    const size_t size = identifier_size(text);
    return size > 0 && text[size] == '\0';
}

bool dvi_is_namespace(const char *text)
{
    for (;;) {
        const size_t size = identifier_size(text);
        if (size == 0)
            return false;
        text += size;
        if (*text == '\0')
            return true;
        if (strncmp(text, "::", 2) != 0)
            return false;
        text += 2;
    }
}
