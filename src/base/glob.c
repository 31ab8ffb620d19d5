/* SPDX-License-Identifier: Apache-2.0 */
#include "base/glob.h"

#include <string.h>

#include "base/demangle.h"

/* Match one character against what stands at `*pattern`, and step over that. */
static bool glob_one(const char **pattern, char c)
{
    const char *p = *pattern;
    if (*p == '?') {
        *pattern = p + 1;
        return true;
    }
    if (*p == '\\' && p[1] != 0) {
        *pattern = p + 2;
        return p[1] == c;
    }
    const size_t first = *p == '[' && p[1] == '!' ? 2 : 1;
    const char *close = *p == '[' && p[1] != 0 && p[first] != 0 ? strchr(p + first + 1, ']') : NULL;
    if (close == NULL) {
        *pattern = p + 1;
        return *p == c;
    }
    const bool negated = first == 2;
    bool found = false;
    for (const char *s = p + first; s < close; s++) {
        const unsigned char from = (unsigned char)*s;
        unsigned char to = from;
        if (s[1] == '-' && s + 2 < close) {
            to = (unsigned char)s[2];
            s += 2;
        }
        if (from <= (unsigned char)c && (unsigned char)c <= to)
            found = true;
    }
    *pattern = close + 1;
    return found != negated;
}

/* Greedy with one place to come back to: the last '*'. */
bool dvi_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text != 0) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = text;
            continue;
        }
        const char *next = pattern;
        if (*pattern != 0 && glob_one(&next, *text)) {
            pattern = next;
            text++;
        } else if (star != NULL) {
            pattern = star;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == 0;
}

bool dvi_glob_path(const char *pattern, const char *path)
{
    while (path != NULL && !dvi_glob(pattern, path)) {
        const char *slash = strchr(path, '/');
        path = slash != NULL ? slash + 1 : NULL;
    }
    return path != NULL;
}

bool dvi_glob_kernel(const char *pattern, const char *name)
{
    char buffer[DVI_NAME_ROOM];
    if (dvi_glob(pattern, name))
        return true;
    const char *plain = dvi_demangle(name, buffer);
    return plain != NULL && plain != name && dvi_glob(pattern, plain);
}
