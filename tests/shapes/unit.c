/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SYCL descriptor as the offload wrapper of DPC++ lays it out (docs/format/dpcpp.md), and one
 * way in which host code may or may not register it. make.py defines:
 *
 *   TARGET "spir64"  BYTES "basic.spv"  LABEL "a"  NAMES {0,"k",0,0,0}, ...
 *   CTOR DTOR NEVER TABLE MAIN CTORS ANCHOR    who names the descriptor
 *   SHARED                              other objects can name it too
 *   IMPORT                              the function is known to be of a DLL (Windows)
 *   NO_BYTES                            the image begins in another file
 *   CUT_ENTRIES                         the table of entries ends one byte behind its last entry
 *   PAST_END                            the image ends past its section
 */
#include <stddef.h>
#include <stdint.h>

struct entry {
    void *addr;
    const char *name;
    size_t size;
    int32_t flags, reserved;
};
struct image {
    uint16_t version;
    uint8_t kind, format;
    const char *target, *compile_options, *link_options;
    const void *manifest_begin, *manifest_end, *begin, *end, *entries_begin, *entries_end;
    const void *sets_begin, *sets_end;
};
struct descriptor {
    uint16_t version, count;
    const struct image *images;
    const void *host_begin, *host_end;
};

#ifdef NO_BYTES
extern const char begin[], end[];
#else
#ifdef _WIN32
#define READ_ONLY "dr"
#else
#define READ_ONLY "a"
#endif
__asm__(".section \"__CLANG_OFFLOAD_BUNDLE__sycl-" TARGET "\",\"" READ_ONLY "\"\n.balign 16\n" LABEL
        "_begin:\n.incbin \"" BYTES "\"\n" LABEL "_end:\n.text\n");
extern const char begin[] __asm__(LABEL "_begin") __attribute__((visibility("hidden")));
extern const char end[] __asm__(LABEL "_end") __attribute__((visibility("hidden")));
#endif
#ifdef PAST_END
#define END (begin + (1 << 30))
#else
#define END end
#endif

static const struct entry entries[] = { NAMES };
#ifdef CUT_ENTRIES
#define ENTRIES_END ((const char *)entries + sizeof entries + 1)
#else
#define ENTRIES_END (entries + sizeof entries / sizeof entries[0])
#endif
static const struct image images[] = { { 2, 4, 0, TARGET, "", "", 0, 0, begin, END, entries,
                                         ENTRIES_END, 0, 0 } };
#ifndef SHARED
static
#endif
    const struct descriptor descriptor __attribute__((used)) = { 1, 1, images, 0, 0 };

#ifdef IMPORT /* by way of its word in the import table, without a thunk */
__declspec(dllimport)
#endif
    void __sycl_register_lib(const void *);
void __sycl_unregister_lib(const void *);

#ifdef CTOR
__attribute__((constructor)) static void reg(void)
{
    __sycl_register_lib(&descriptor);
}
#endif
#ifdef CTORS
static void reg(void)
{
    __sycl_register_lib(&descriptor);
}
static void (*const table_of_ctors)(void) __attribute__((section(".ctors"), used)) = reg;
#endif
#ifdef DTOR
__attribute__((destructor)) static void unreg(void)
{
    __sycl_unregister_lib(&descriptor);
}
#endif
#ifdef NEVER
__attribute__((used)) static void nobody_calls_this(void)
{
    __sycl_register_lib(&descriptor);
}
#endif
#ifdef MAIN
int main(void)
{
    __sycl_register_lib(&descriptor);
    return 0;
}
#endif
#ifdef ANCHOR /* as GCC writes it for AArch64 with -fsection-anchors */
__asm__(".text\nby_anchor:\nadrp x19, descriptor - 64\nadd x19, x19, :lo12:descriptor - 64\n"
        "add x0, x19, 64\nb __sycl_register_lib\n");
#endif
#ifdef TABLE
static const void *volatile table[] = { &descriptor };
__attribute__((constructor)) static void reg(void)
{
    for (size_t i = 0; i < 1; i++)
        __sycl_register_lib(table[i]);
}
#endif
