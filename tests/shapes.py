# SPDX-License-Identifier: Apache-2.0
"""One descriptor in files of many link shapes: is it found, is it registered, which unit is it of?

What is expected follows from the source below and the link, never from what devimg says.
"""
import os
import shutil

SPV = "data/intel/basic.spv"

# Entries are those of basic.spv (spirv-dis: OpEntryPoint scale_add, count_bits).
UNIT = r"""
#include <stddef.h>
#include <stdint.h>
struct entry { void *a; const char *n; size_t z; int32_t f, r; };
struct image { uint16_t v; uint8_t k, f; const char *t, *co, *lo; const void *mb, *me, *b, *e;
               const struct entry *eb, *ee; const void *pb, *pe; };
struct desc { uint16_t v, n; const struct image *i; const void *hb, *he; };
__asm__(".pushsection __CLANG_OFFLOAD_BUNDLE__sycl-" TARGET ",\"a\"\n.balign 16\n"
        LABEL "_b:\n.incbin \"" SPV "\"\n" LABEL "_e:\n.popsection\n");
extern const char begin[] __asm__(LABEL "_b") __attribute__((visibility("hidden")));
extern const char end[] __asm__(LABEL "_e") __attribute__((visibility("hidden")));
static const struct entry entries[] = { { 0, "scale_add", 0, 0, 0 }, { 0, "count_bits", 0, 0, 0 } };
static const struct image images[] = { { 2, 4, 0, TARGET, "", "", 0, 0, begin, end, entries,
                                         entries + 2, 0, 0 } };
static const struct desc descriptor __attribute__((used)) = { 1, 1, images, 0, 0 };
void __sycl_register_lib(const void *);
void __sycl_unregister_lib(const void *);
#if CTOR
__attribute__((constructor)) static void reg(void) { __sycl_register_lib(&descriptor); }
#endif
#if DTOR
__attribute__((destructor)) static void unreg(void) { __sycl_unregister_lib(&descriptor); }
#endif
#if NEVER
void somebody_may_call_this(void) { __sycl_register_lib(&descriptor); }
#endif
#if TABLE
static const void *volatile table[] = { &descriptor };
__attribute__((constructor)) static void reg(void)
{ for (size_t i = 0; i < 1; i++) __sycl_register_lib(table[i]); }
#endif
"""
RUNTIME = """
int registered;
void __sycl_register_lib(const void *d) { registered += d != 0; }
void __sycl_unregister_lib(const void *d) { registered -= d != 0; }
"""


def unit(name, mode, target="spir64", cc="gcc", flags="-O2 -fPIC"):
    label = os.path.splitext(name)[0].replace(".", "_").replace("-", "_")
    return "%s -std=gnu17 %s -D%s=1 -DSPV='\"%s\"' -DTARGET='\"%s\"' -DLABEL='\"%s\"' -c %s -o %s.o" % (
        cc, flags, mode, "@SPV@", target, label, name, name)


def cases():
    """name, commands (the last makes `out`), descriptors, answers of `registered`, units."""
    a, rt, link = "a.c", "gcc -fPIC -shared rt.c -o librt.so", "-L. -lrt -Wl,-rpath,."
    so = "gcc -shared a.c.o -o out librt.so"
    yield "shared", [rt, unit(a, "CTOR"), so], 1, {True}, {"a.c"}
    yield "shared -O0", [rt, unit(a, "CTOR", flags="-O0 -fPIC"), so], 1, {True}, {"a.c"}
    yield "shared, stripped", [rt, unit(a, "CTOR"), so, "strip --strip-all out"], 1, {True}, {None}
    yield "shared, .ctors", [rt, unit(a, "CTOR", flags="-O2 -fPIC") + " && objcopy --rename-section "
                             ".init_array=.ctors a.c.o", so], 1, {True}, {"a.c"}
    yield "PIE", [rt, unit(a, "CTOR", flags="-O2 -fPIE"), "gcc -pie main.c a.c.o -o out " + link], 1, {True}, {"a.c"}
    yield "fixed address", [rt, unit(a, "CTOR", flags="-O2 -fno-pie"),
                            "gcc -no-pie -fno-pie main.c a.c.o -o out " + link], 1, {True}, {"a.c"}
    yield "static", [unit(a, "CTOR", flags="-O2 -fno-pie"), "gcc -static main.c rt.c a.c.o -o out"], 1, {True}, {"a.c"}
    yield "static, stripped", [unit(a, "CTOR", flags="-O2 -fno-pie"),
                               "gcc -static main.c rt.c a.c.o -o out", "strip --strip-all out"], 1, {None}, {None}
    yield "static PIE", [unit(a, "CTOR", flags="-O2 -fPIE"), "gcc -static-pie main.c rt.c a.c.o -o out"], 1, {True}, {"a.c"}
    yield "object", [unit(a, "CTOR"), "cp a.c.o out"], 1, {True}, {"a.c"}
    yield "no constructor", [unit(a, "NONE"), "gcc -shared a.c.o rt.c -fPIC -o out"], 1, {False}, {"a.c"}
    # The symbols are all there, and nothing knows __sycl_register_lib.
    yield "destructor only", [rt, unit(a, "DTOR"), so], 1, {False}, {"a.c"}
    # The runtime is linked in, so its name is known; what names the descriptor does not register it.
    yield "destructor only, runtime inside", [unit(a, "DTOR"), "gcc -shared -fPIC a.c.o rt.c -o out"], 1, {None}, {"a.c"}
    yield "function that nobody calls", [rt, unit(a, "NEVER"), so], 1, {None}, {"a.c"}
    yield "table in data", [rt, unit(a, "TABLE"), so], 1, {None}, {"a.c"}
    yield "large code model", [rt, unit(a, "CTOR", flags="-O2 -fPIC -mcmodel=large"), so], 1, {None}, {"a.c"}
    yield "packed relocations", [rt, unit(a, "CTOR"), "ld.lld-19 -shared --pack-dyn-relocs=relr a.c.o -o out librt.so"], 1, {True}, {"a.c"}
    yield "Android-packed relocations", [rt, unit(a, "CTOR"), "ld.lld-19 -shared --pack-dyn-relocs=android a.c.o -o out librt.so"], 0, {None}, {None}
    yield "AArch64", [unit(a, "CTOR", cc="clang-19 --target=aarch64-linux-gnu -ffreestanding"),
                      "ld.lld-19 -shared a.c.o -o out"], 1, {True}, {"a.c"}
    yield "AArch64 -O0", [unit(a, "CTOR", cc="clang-19 --target=aarch64-linux-gnu -ffreestanding", flags="-O0 -fPIC"),
                          "ld.lld-19 -shared a.c.o -o out"], 1, {True}, {"a.c"}
    yield "no section table", [rt, unit(a, "CTOR"), so, "llvm-strip-19 --strip-sections out"], 1, {None}, {None}
    wrap = [unit("offload.wrapper.%d.c" % i, "CTOR", t) for i, t in
            enumerate(("spir64", "spir64", "spir64_gen", "spir64_gen"))]
    w = ["offload.wrapper.%d.c.o" % i for i in range(4)]
    hosts = "gcc -fPIC -c host_a.c host_b.c" # lld keeps the order of the files, as DPC++ links; bfd does not
    yield "a wrapper behind each unit", [rt, hosts, wrap[0], wrap[1],
        "ld.lld-19 -shared host_a.o %s host_b.o %s -o out librt.so" % (w[0], w[1])], 2, {True}, {"host_a.c", "host_b.c"}
    yield "one device link", [rt, hosts, wrap[0], wrap[2],
        "ld.lld-19 -shared host_a.o host_b.o %s %s -o out librt.so" % (w[2], w[0])], 2, {True}, {None}
    # The last run holds two descriptors for spir64: they cannot both be of host_b.c.
    yield "wrappers mixed", [rt, hosts, *wrap,
        "ld.lld-19 -shared host_a.o %s host_b.o %s %s %s -o out librt.so" % (w[2], w[3], w[0], w[1])], 4, {True}, {"host_a.c", None}


def prepare(folder):
    for name in ("a.c", *("offload.wrapper.%d.c" % i for i in range(4))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(UNIT)
    for name, text in (("rt.c", RUNTIME), ("main.c", "int main(void) { return 0; }\n"),
                       ("host_a.c", "static int a = 1; int host_a(void) { return a++; }\n"),
                       ("host_b.c", "static int b = 1; int host_b(void) { return b++; }\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


def missing_tool(commands):
    for command in commands:
        if not shutil.which(command.split()[0]):
            return command.split()[0]
    return None
