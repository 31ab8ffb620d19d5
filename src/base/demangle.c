/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangling with libiberty (Itanium C++ ABI, section 5.1). A mangled name of 255 bytes can stand
 * for one of 1 GB, and takes as long to print. The callback form keeps everything on the stack, so
 * it is left by longjmp() as soon as the text is longer than the buffer. The recursion limit of
 * libiberty stays on: it also bounds the stack by refusing names of more than 1,024 bytes.
 */
#include "base/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

struct text {
    char *buffer;
    size_t size;
    jmp_buf full;
};

static void append(const char *piece, size_t size, void *opaque)
{
    struct text *text = opaque;
    if (size >= DVI_NAME_ROOM - text->size)
        longjmp(text->full, 1);
    memcpy(text->buffer + text->size, piece, size);
    text->size += size;
}

static bool demangled(const char *name, struct text *text)
{
    if (setjmp(text->full) != 0)
        return false;
    if (cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI | DMGL_TYPES, append, text) == 0)
        return false;
    text->buffer[text->size] = '\0';
    return true;
}

const char *dvi_demangle(const char *name, char *buffer)
{
    static const char type[] = "typeinfo name for ";
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    struct text text = { .buffer = buffer };
    if (strlen(name) >= DVI_NAME_ROOM || !demangled(name, &text))
        return NULL;
    return strncmp(buffer, type, sizeof type - 1) == 0 ? buffer + sizeof type - 1 : buffer;
}
