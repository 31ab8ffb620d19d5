/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yaml.h"

#include <string.h>

bool dvi_yaml_has_many_directives(struct dvi_view text)
{
    enum { MOST = 8 };
    static const char directive[] = "%TAG";
    for (int count = 0; count <= MOST; count++) {
        const uint8_t *at = memmem(text.data, text.size, directive, sizeof directive - 1);
        if (at == NULL)
            return false;
        text = dvi_from(text, (uint64_t)(at - text.data) + sizeof directive - 1);
    }
    return true;
}
