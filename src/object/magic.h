/* SPDX-License-Identifier: Apache-2.0 */
/* The first four bytes of what readers of several layers tell apart. */
#ifndef DVI_OBJECT_MAGIC_H
#define DVI_OBJECT_MAGIC_H

#include "base/view.h"

enum { DVI_MAGIC_SIZE = 4 };

#define DVI_MAGIC_ELF            "\177ELF"
#define DVI_MAGIC_BITCODE        "BC\xc0\xde"
#define DVI_MAGIC_OFFLOAD_BINARY "\x10\xff\x10\xad"

/** In the byte order of the module. */
enum { DVI_MAGIC_SPIRV = 0x07230203 };

static inline bool dvi_has_magic(struct dvi_view v, const char *magic)
{
    return dvi_starts_with(v, magic, DVI_MAGIC_SIZE);
}

#endif
