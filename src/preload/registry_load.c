/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a shared library, so that its constructors run: registry-load LIBRARY. Functions that it lacks
 * are not asked for until they are called. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
    if (count != 2) {
        fputs("registry-load: name one library\n", stderr);
        return 2;
    }
    if (dlopen(words[1], RTLD_LAZY | RTLD_LOCAL) == NULL) {
        const char *problem = dlerror();
        fprintf(stderr, "%s\n", problem != NULL ? problem : "cannot be loaded");
        return 1;
    }
    return 0;
}
