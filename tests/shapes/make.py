#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds host files that carry SYCL descriptors, in many link shapes: make.py OUT

The name of a file in OUT is the first column of expected.tsv. A shape whose tools are missing is
skipped with a line that says so. The exit status is 1 when a command fails.
"""
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
INTEL = os.path.join(os.path.dirname(HERE), "data", "intel")

# Entries are the kernels of the fixtures' sources (tests/data/intel/src/k_*.cl).
BASIC = ("scale_add", "count_bits")
IMAGES = {
    ("basic", "spir64"): ("basic.spv", BASIC),
    ("basic", "spir64_gen"): ("zfat_basic.ar", BASIC),
    ("sg8", "spir64"): ("sg8.spv", ("row_sum_sg8",)),
    ("sg8", "spir64_gen"): ("zfat_sg8.ar", ("row_sum_sg8",)),
}
SOURCES = {
    "runtime.c": """int registered;
void __sycl_register_lib(const void *d) { registered += d != 0; }
void __sycl_unregister_lib(const void *d) { registered -= d != 0; }
""",
    # stdout is there for R_X86_64_COPY and _GLOB_DAT, puts for the PLT
    "main.c": "#include <stdio.h>\nint main(void) { fputs(\"\", stdout); return puts(\"\"); }\n",
    "host_a.c": "static int a = 1; int host_a(void) { return a++; }\n",
    "host_b.c": "static int b = 1; int host_b(void) { return b++; }\n",
    # what the C library of Windows does at start-up, and libraries of names to import
    "start.c": """typedef void (*function)(void);
__attribute__((section(".CRT$XCA"))) function first_constructor[] = { 0 };
__attribute__((section(".CRT$XCZ"))) function last_constructor[] = { 0 };
void _initterm(function *, function *);
void *__delayLoadHelper2(void *d, void *slot) { return d ? slot : d; }
int start(void) { _initterm(first_constructor, last_constructor); return 1; }
""",
    "initterm.c": """typedef void (*function)(void);
void _initterm(function *f, function *end) { for (; f != end; f++) if (*f) (*f)(); }
""",
    "sycl.def": "LIBRARY sycl9.dll\nEXPORTS\n__sycl_register_lib\n__sycl_unregister_lib\n",
    "crt.def": "LIBRARY api-ms-win-crt-runtime-l1-1-0.dll\nEXPORTS\n_initterm\n_initterm_e\n",
    "hidden.map": "{ local: *; };\n",
}
ARM = "clang-19 --target=aarch64-linux-gnu -ffreestanding"
WIN = "clang-19 --target=x86_64-pc-windows-msvc -ffreestanding"
WIN_ARM = "clang-19 --target=aarch64-pc-windows-msvc -ffreestanding"
MINGW = "clang-19 --target=x86_64-w64-windows-gnu -ffreestanding"
RT = "-L. -lrt_sycl -Wl,-rpath,."


def unit(mode, out, compiler="gcc", flags="-O2 -fPIC", of="basic", target="spir64", source=None):
    """The command that compiles unit.c. `source` is the file's name: a link to unit.c."""
    path, names = IMAGES[of, target]
    defines = {mode: "1", "TARGET": '"%s"' % target, "BYTES": '"%s"' % os.path.join(INTEL, path),
               "LABEL": '"%s"' % re.sub("[^a-z0-9A-Z]", "_", out),
               "NAMES": ", ".join('{ 0, "%s", 0, 0, 0 }' % n for n in names)}
    return "%s -std=gnu17 %s %s -c -x c %s -o %s" % (
        compiler, flags, " ".join(shlex.quote("-D%s=%s" % d) for d in defines.items()),
        source or "a.c", out)


def objects():
    """Compiled once, linked many times."""
    yield "gcc -O2 -fPIC -c runtime.c host_a.c host_b.c"
    yield "gcc -O2 -fPIC -fvisibility=hidden -c runtime.c -o runtime_hidden.o"
    yield "gcc -shared runtime.o -o librt_sycl.so"
    for mode in ("CTOR", "CTORS", "NONE", "DTOR", "NEVER", "TABLE", "NO_BYTES", "CUT_ENTRIES",
                 "PAST_END"):
        extra = " -DCTOR=1" if mode in ("NO_BYTES", "CUT_ENTRIES", "PAST_END") else ""
        yield unit(mode, mode.lower() + ".o", flags="-O2 -fPIC" + extra)
    for mode in ("CTOR", "MAIN", "TABLE", "NONE"):
        yield unit(mode, mode.lower() + "_fixed.o", flags="-O2 -fno-pie")
    yield unit("MAIN", "main_pie.o", flags="-O2 -fPIE")
    yield unit("CTOR", "ctor_O0.o", flags="-O0 -fPIC")
    yield unit("CTOR", "ctor_large.o", flags="-O2 -fPIC -mcmodel=large")
    # the object of DPC++'s wrapper has this name, whatever unit it is of
    for of in ("basic", "sg8"):
        for target in ("spir64", "spir64_gen"):
            yield unit("CTOR", "wrap_%s_%s.o" % (of, target), of=of, target=target,
                       source="offload.wrapper.object")


def shapes():
    """file, command: paths in it are of the folder with the objects."""
    so = "gcc -shared %s -o %s librt_sycl.so"
    yield "so", so % ("ctor.o", "so")
    yield "so-O0", so % ("ctor_O0.o", "so-O0")
    yield "so-clang", "%s && gcc -shared clang.o -o so-clang librt_sycl.so" % unit("CTOR", "clang.o", "clang-19")
    yield "so-clang-O0", "%s && gcc -shared clang0.o -o so-clang-O0 librt_sycl.so" % unit("CTOR", "clang0.o", "clang-19", "-O0 -fPIC")
    yield "so-lld", "ld.lld-19 -shared ctor.o -o so-lld librt_sycl.so"
    yield "so-base", so % ("-Wl,-Ttext-segment=0x7f0000000000 ctor.o", "so-base")
    yield "pie", "gcc -pie main.c ctor.o -o pie " + RT
    yield "nopie", "gcc -no-pie -fno-pie main.c ctor_fixed.o -o nopie " + RT
    yield "nopie-lld", "clang-19 -fuse-ld=lld -no-pie -fno-pie main.c ctor_fixed.o -o nopie-lld " + RT
    yield "static", "gcc -static main.c runtime.c ctor_fixed.o -o static"
    yield "static-pie", "gcc -static-pie -fPIE main.c runtime.c ctor.o -o static-pie"
    yield "object", "cp ctor.o object"
    yield "object-O0", "cp ctor_O0.o object-O0"
    yield "object-none", "cp none.o object-none"
    yield "object-shared", unit("NONE", "object-shared", flags="-O2 -fPIC -DSHARED")
    yield "object-never", "cp never.o object-never"
    yield "object-never-beside", "ld.bfd -r ctor.o never.o -o object-never-beside"
    yield "two-in-one-object", "ld.bfd -r ctor.o dtor.o -o two-in-one-object"
    yield "ctors", so % ("ctors.o", "ctors")
    yield "relr", "ld.lld-19 -shared --pack-dyn-relocs=relr ctor.o -o relr librt_sycl.so"
    yield "android", "ld.lld-19 -shared --pack-dyn-relocs=android ctor.o -o android librt_sycl.so"
    for name in ("so", "pie", "nopie", "static", "static-pie"):
        yield name + "-stripped", "strip --strip-all -o %s-stripped %s" % (name, name)
    for name in ("so", "pie", "nopie", "relr"):
        yield name + "-bare", "cp %s %s-bare && llvm-strip-19 --strip-sections %s-bare" % ((name,) * 3)
    yield "one-segment-bare", ("ld.lld-19 --omagic -e main main_fixed.o runtime.o -o one-segment-bare && "
                               "llvm-strip-19 --strip-sections one-segment-bare")
    hidden = "gcc -shared -Wl,--version-script=hidden.map ctor.o runtime.o -o %s"
    yield "hidden", hidden % "hidden"
    yield "hidden-stripped", hidden % "hidden-stripped" + " && strip --strip-all hidden-stripped"
    yield "hidden-locals-stripped", hidden % "hidden-locals-stripped" + " && strip -x hidden-locals-stripped"
    yield "dropped-nopie", "gcc -no-pie -fno-pie main.c none_fixed.o runtime.c -o dropped-nopie"
    yield "dropped", so % ("none.o runtime.o", "dropped")
    yield "destructor", so % ("dtor.o runtime.o", "destructor")
    yield "destructor-beside", so % ("dtor.o ctor.o", "destructor-beside")
    yield "destructor-alone", so % ("dtor.o", "destructor-alone")
    yield "never", so % ("never.o", "never")
    yield "from-main-pie", "gcc -pie main_pie.o -o from-main-pie " + RT
    yield "from-main-nopie", "gcc -no-pie main_fixed.o -o from-main-nopie " + RT
    yield "large", so % ("ctor_large.o", "large")
    yield "large-object", "cp ctor_large.o large-object"
    yield "table", so % ("table.o", "table")
    yield "table-nopie", "gcc -no-pie -fno-pie main.c table_fixed.o -o table-nopie " + RT
    yield "arm", unit("CTOR", "arm.o", ARM) + " && ld.lld-19 -shared arm.o -o arm"
    yield "arm-large", (unit("CTOR", "arml.o", ARM, "-O2 -fno-pic -mcmodel=large") + " && %s -O2 -fno-pic -c "
                        "runtime.c -o armlrt.o && ld.lld-19 -e 0 arml.o armlrt.o -o arm-large" % ARM)
    yield "arm-large-object", "cp arml.o arm-large-object"
    yield "arm-O0", unit("CTOR", "arm0.o", ARM, "-O0 -fPIC") + " && ld.lld-19 -shared arm0.o -o arm-O0"
    yield "arm-dropped", (unit("NONE", "armn.o", ARM) + " && %s -O2 -fPIC -c runtime.c -o armrt.o && "
                          "ld.lld-19 -shared armn.o armrt.o -o arm-dropped" % ARM)
    yield "arm-anchor", unit("ANCHOR", "arma.o", ARM) + " && ld.lld-19 -shared arma.o -o arm-anchor"
    yield "arm-never", unit("NEVER", "armf.o", ARM) + " && ld.lld-19 -shared armf.o -o arm-never"
    yield "riscv", (unit("CTOR", "riscv.o", "clang-19 --target=riscv64-linux-gnu -ffreestanding") +
                    " && ld.lld-19 -shared riscv.o -o riscv")
    yield "i386", (unit("CTOR", "i386.o", "clang-19 --target=i386-linux-gnu -ffreestanding") +
                   " && ld.lld-19 -shared i386.o -o i386")
    # lld keeps the order of the files, as DPC++ links
    units = "ld.lld-19 -shared %s -o %s librt_sycl.so"
    a, b = "host_a.o", "host_b.o"
    na, sa, nb, sb = ("wrap_%s.o" % n for n in ("basic_spir64_gen", "basic_spir64", "sg8_spir64_gen", "sg8_spir64"))
    yield "units", units % (" ".join((a, na, sa, b, nb, sb)), "units")
    yield "units-bfd", so % (" ".join((a, na, sa, b, nb, sb)), "units-bfd")
    yield "units-pie-bfd", "gcc -pie main.c %s -o units-pie-bfd %s" % (" ".join((a, sa, b, sb)), RT)
    yield "units-spirv", units % (" ".join((a, sa, b, sb)), "units-spirv")
    yield "rdc", units % (" ".join((a, b, na, sa)), "rdc")
    yield "mixed", units % (" ".join((a, na, b, nb, sa, sb)), "mixed")
    yield "archive", "ar rcs archive ctor.o host_a.o"
    yield "thin", "ar rcsT thin ctor.o host_a.o"
    yield "lto-gcc", "gcc -O2 -flto -shared -fPIC host_a.c ctor.o -o lto-gcc librt_sycl.so"
    yield "lto-slim", "gcc -O2 -fPIC -flto -c host_a.c -o lto-slim"
    yield "lto-object", unit("CTOR", "lto-object", "clang-19", "-O2 -fPIC -flto")
    yield "bundle", ("zstd -q -f --no-check %s -o basic.zst" % os.path.join(INTEL, "basic.spv"), bundle)
    yield "cut-entries", so % ("cut_entries.o", "cut-entries")
    yield "past-end", so % ("past_end.o", "past-end")
    yield "elsewhere", so % ("no_bytes.o", "elsewhere")


def windows():
    """The same for Windows; each starts with what it needs of the others."""
    yield "win-object", unit("CTOR", "win-object", WIN, "-O2")
    yield "win-object-O0", unit("CTOR", "win-object-O0", WIN, "-O0")
    yield "win-object-import", unit("CTOR", "win-object-import", WIN, "-O2 -DIMPORT")
    yield "win-object-never", unit("NEVER", "win-object-never", WIN, "-O2")
    yield "win-object-none", unit("NONE", "win-object-none", WIN, "-O2")
    yield "win-object-shared", unit("NONE", "win-object-shared", WIN, "-O2 -DSHARED")
    yield "win-lib", "llvm-lib-19 /out:win-lib win-object"
    libraries = " && ".join("llvm-lib-19 /machine:%s /def:%s.def /out:%s%s.lib" % (machine, name, name, end)
                            for machine, end in (("x64", ""), ("arm64", "_arm")) for name in ("sycl", "crt"))
    yield "start.obj", libraries + " && %s -O2 -c start.c -o start.obj" % WIN
    link = "lld-link-19 /entry:start /out:%s start.obj %s sycl.lib crt.lib"
    yield "win-dll", link % ("win-dll", "/dll win-object")
    yield "win-exe", link % ("win-exe", "/subsystem:console win-object-O0")
    yield "win-exe-fixed", link % ("win-exe-fixed", "/subsystem:console /fixed win-object")
    yield "win-dll-import", link % ("win-dll-import", "/dll win-object-import")
    yield "win-dll-delayed", link % ("win-dll-delayed", "/dll /delayload:sycl9.dll win-object")
    yield "win-dll-long-names", link % ("win-dll-long-names", "/dll /lldmingw /debug:symtab win-object")
    yield "win-dll-never", link % ("win-dll-never", "/dll win-object-never")
    yield "win-dll-none", link % ("win-dll-none", "/dll win-object-none")
    yield "win-dll-own-crt", ("%s -O2 -c initterm.c -o initterm.obj && " % WIN +
                              link % ("win-dll-own-crt", "/dll win-object initterm.obj"))
    yield "win-dll-no-entry", (link % ("win-dll-no-entry", "/dll /noentry win-object")).replace("/entry:start ", "")
    yield "win-arm-object", unit("CTOR", "win-arm-object", WIN_ARM, "-O2")
    yield "win-arm-dll", ("%s -O2 -c start.c -o start_arm.obj && lld-link-19 /entry:start /out:win-arm-dll /dll "
                          "start_arm.obj win-arm-object sycl_arm.lib crt_arm.lib" % WIN_ARM)
    yield "mingw-object", unit("CTOR", "mingw-object", MINGW, "-O2")


def bundle(folder):
    """clang-offload-bundler's layout: magic, count, (offset, size, id size, id) each, images."""
    with open(os.path.join(folder, "basic.zst"), "rb") as f:
        parts = ((b"host-x86_64-unknown-linux-gnu-", b""), (b"sycl-spir64-unknown-unknown", f.read()))
    at = 32 + sum(24 + len(name) for name, _ in parts)
    head, body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(parts)), b""
    for name, data in parts:
        head += struct.pack("<QQQ", at + len(body), len(data), len(name)) + name
        body += data
    with open(os.path.join(folder, "bundle"), "wb") as f:
        f.write(head + body)


def missing_tool(command):
    for part in command.split("&&"):
        tool = part.split()[0]
        if not shutil.which(tool):
            return tool
    return None


def run(command, folder):
    p = subprocess.run(["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE, check=False,
                       stderr=subprocess.STDOUT, env=dict(os.environ, LC_ALL="C"))
    if p.returncode != 0:
        print("failed: %s\n%s" % (command, p.stdout.decode(errors="replace")))
    return p.returncode == 0


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for name, text in SOURCES.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    for name in ("a.c", "offload.wrapper.object"):
        shutil.copy(os.path.join(HERE, "unit.c"), os.path.join(folder, name))
    good = all([run(command, folder) for command in objects()])
    for name, command in (*shapes(), *windows()):
        command, then = command if isinstance(command, tuple) else (command, None)
        tool = missing_tool(command)
        if tool:
            print("skipped: %s: there is no %s" % (name, tool))
            continue
        good = run(command, folder) and good
        if then:
            then(folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
