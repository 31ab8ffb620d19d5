# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl header`: what it writes, and what compilers make of it. Suite `header`.

Whether a size may be asked for is requirement S1-29 to S1-31: Xe-LP, Arc A and Xe-LPG accept 8, 16 and 32; Xe2 and
Xe-HPC 16 and 32."""
import json
import os
import shutil
import subprocess

from sycl_targets import DEFAULT

# Where a size can be asked for; SIZE is defined on the command line.
POSITIONS = {
    "lambda": "int main() { int s = 0; auto k = [&s](int i) DEVIMG_SUB_GROUP_SIZE(SIZE) { s += i; }; k(1); return s; }",
    "lambda with a result": "int main() { return [](int i) DEVIMG_SUB_GROUP_SIZE(SIZE) -> int { return i; }(0); }",
    "function": "DEVIMG_SUB_GROUP_SIZE(SIZE) void f(int) {}",
    "named constant": "constexpr int size = SIZE; DEVIMG_SUB_GROUP_SIZE(size) void f(int) {}",
    "call operator": "struct k { DEVIMG_SUB_GROUP_SIZE(SIZE) void operator()(int) const {} };",
    "template": "template <unsigned N> struct k { DEVIMG_SUB_GROUP_SIZE(N) void operator()(int) const {} };\n"
                "int main() { k<SIZE>()(1); return 0; }",
    "lambda in a template": "template <unsigned N> void f() { auto k = [](int) DEVIMG_SUB_GROUP_SIZE(N) {}; k(1); }\nint main() { f<SIZE>(); return 0; }",
    "check in a namespace": "DEVIMG_CHECK_SUB_GROUP_SIZE(SIZE);",
    "check in a class": "template <int N> struct s { DEVIMG_CHECK_SUB_GROUP_SIZE(N); }; s<SIZE> v;",
    "check in a function": "void f() { DEVIMG_CHECK_SUB_GROUP_SIZE(SIZE); }",
    "kernel shape": "devimg::kernel_shape<SIZE> shape;",
    "kernel of a shape": "int main() { return devimg::kernel_shape<SIZE, 256>::kernel([](int i) { return i; })(0); }",
    "checked size": "unsigned n = devimg::checked_sub_group_size<SIZE>::value;",
}
SHAPES = {"16": True, "32, 256": True, "0, 256": True, "16, 0": True, "0": False, "0, 0": False, "0, 128": False, "16, 128": False, "8, 256": False}
ACPP = ("__ACPP__", "__ADAPTIVECPP__", "__OPENSYCL__", "__HIPSYCL__")
MARK = "/* Written by devimg sycl header. */\n"


def directives(path):
    """What an object tells its linker, as llvm-readobj prints it."""
    p = subprocess.run(["llvm-readobj-19", "--coff-directives", path], stdout=subprocess.PIPE, encoding="utf-8", timeout=60, check=True)
    return [w for line in p.stdout.splitlines() if line.startswith("Directive(s):") for w in line.split()[1:]]


class Header:
    def __init__(self, build, root, folder):
        self.build, self.folder, self.root = build, folder, root
        self.compilers = [c for c in ("g++", "clang++-19") if shutil.which(c)]
        self.file = os.path.join(folder, "devimg_sycl.h")

    def say(self, good, name, *what):
        self.build.say(good, "header: " + name, "found %s" % (what,))

    def run(self, *args):
        status, out, err = self.build.devimg("sycl", "header", *args, cwd=self.folder)
        return status, out.decode(), err.decode()

    def write(self, *args):
        """The header for these arguments, at self.file."""
        if os.path.exists(self.file):
            os.remove(self.file)
        status, out, err = self.run("-o", self.file, *args)
        self.say(status == 0 and os.path.exists(self.file) and err == "", "written: %s" % (args,), status, out, err)

    def compiles(self, compiler, source, *words, language="c++"):
        """(yes, what it said); every warning is an error."""
        words = [compiler, "-x", language, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I" + self.folder, *words, "-"]
        p = subprocess.run(words, input='#include "devimg_sycl.h"\n' + source + "\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           encoding="utf-8", timeout=60, check=False)
        return p.returncode == 0, p.stdout

    def accepts(self, compiler, size, name, source, *words):
        good, said = self.compiles(compiler, source, "-std=c++17", "-DSIZE=%s" % size, *words)
        self.say(good, "S1-31: %s, %s: %s is accepted" % (compiler, name, size), said)

    def refuses(self, compiler, size, name, source, *words, why="sub-group size"):
        good, said = self.compiles(compiler, source, "-std=c++17", "-DSIZE=%s" % size, *words)
        self.say(not good and why in said, "S1-31: %s, %s: %s is refused" % (compiler, name, size), said)

    def positions(self):
        """S2-10: the macro in every place, and the template behind which the same check stands."""
        self.write()
        for compiler in self.compilers:
            apart = ["namespace n%d {\n%s\n}" % (i, source.replace("main()", "run()")) for i, source in enumerate(POSITIONS.values())]
            for size in (16, 32):
                self.accepts(compiler, size, "in every place", "\n".join(apart))
            for name, source in POSITIONS.items():
                self.refuses(compiler, 8, name, source, why="sub-group size 8: refused by lnl-m")
            for size in (0, 1, 4, 24, 64, "16+32", "1ULL<<36", "-16"):
                self.refuses(compiler, size, "a size nobody has", POSITIONS["function"], why="" if size == "-16" else "16, 32 only")
            for shape, good in SHAPES.items():
                source = "devimg::kernel_shape<%s> shape;" % shape
                if good:
                    self.accepts(compiler, shape, "kernel shape", source)
                else:
                    self.refuses(compiler, shape, "kernel shape", source, why="")
            for standard in ("-std=c++20", "-std=gnu++17"):
                self.accepts(compiler, 32, standard, "\n".join((POSITIONS["lambda"], POSITIONS["function"])), standard)

    def orders(self):
        """A lambda with `mutable` or `noexcept`: no one place of an attribute suits every compiler, `kernel()` does. Where the
        compilers that ask for nothing take `__attribute__`: [expr.prim.lambda.general] has its place for [[...]] alone."""
        self.write()
        source = "int main() { int s = 0; auto k = [s](int i) %s { return i + s; }; return k(0); }"
        for word in ("mutable", "noexcept", "mutable noexcept"):
            for compiler, first in (("g++", False), ("clang++-19", True)):
                macro = "DEVIMG_SUB_GROUP_SIZE(SIZE)"
                for text, good in ((macro + " " + word, first), (word + " " + macro, not first)):
                    if good:
                        self.accepts(compiler, 16, text, source % text)
                        self.refuses(compiler, 8, text, source % text)
                    else:
                        self.refuses(compiler, 16, text, source % text, why="error")
        for compiler in self.compilers:
            kernel = "int main() { int s = 0; auto k = devimg::kernel_shape<SIZE>::kernel([s](int i) noexcept { return i + s; }); return k(0); }"
            self.accepts(compiler, 16, "kernel() of a noexcept lambda", kernel)
            self.refuses(compiler, 8, "kernel() of a noexcept lambda", kernel, why="sub-group size 8: refused by lnl-m")
            self.accepts(compiler, 16, "noexcept call operator", "struct k { DEVIMG_SUB_GROUP_SIZE(SIZE) void operator()(int) const noexcept {} };")
            for size in (24, 64):
                good, said = self.compiles(compiler, "devimg::kernel_shape<%d> shape;" % size, "-std=c++17")
                self.say(not good and "16, 32 only" in said and "sub-group size 8" not in said, "%s: %d is not told of as 8" % (compiler, size), said)

    def configurations(self):
        """S1-31: one device, an empty list; S2-8: the set follows the list."""
        source = POSITIONS["lambda"]
        for targets, eight in (("", False), (" , ", False), ("tgllp", False), ("dg2-g10,acm-g10", False), ("lnl-m", False), ("pvc", False),
                               ("xe-hpg", True), ("tgllp,dg2-g10", True), ("tgllp,adl-s,mtl-u", True), ("tgllp,bmg-g21", False),
                               ("dg2-g10,pvc", False)):
            self.write("--targets", targets)
            for compiler in self.compilers:
                self.accepts(compiler, 16, "list " + targets, source + "\nDEVIMG_CHECK_SUB_GROUP_SIZE(32);")
                (self.accepts if eight else self.refuses)(compiler, 8, "list " + targets, source)
        self.write("--targets", "dg2-g10,pvc")
        self.refuses(self.compilers[0], 8, "the target that refuses is named", source, why="refused by pvc")

    def other_compilers(self):
        """AdaptiveCpp: no attribute, S1-31; C and OpenCL C have the macros."""
        self.write()
        for compiler in self.compilers:
            for word in ACPP:
                self.accepts(compiler, 8, "AdaptiveCpp: the macro is empty", POSITIONS["lambda"], "-D" + word)
                for name in ("kernel shape", "kernel of a shape", "check in a function"):
                    self.refuses(compiler, 8, "AdaptiveCpp: " + name, POSITIONS[name], "-D" + word)
            p = subprocess.run([compiler, "-E", "-P", "-std=c++17", "-D__ACPP__", "-I" + self.folder, "-x", "c++", "-"],
                               input='#include "devimg_sycl.h"\nbegin DEVIMG_SUB_GROUP_SIZE(16) end', stdout=subprocess.PIPE,
                               encoding="utf-8", timeout=60, check=False)
            self.say(p.stdout.split()[-2:] == ["begin", "end"], "AdaptiveCpp: %s expands it to nothing" % compiler, p.stdout[-200:])
            self.refuses(compiler, 8, "SYCL without the attribute", POSITIONS["lambda"], "-DSYCL_LANGUAGE_VERSION=202001")
        for size in (8, 16):
            good, said = self.compiles("gcc", "DEVIMG_CHECK_SUB_GROUP_SIZE(%d);" % size, "-std=c11", language="c")
            self.say(good == (size == 16) and (good or "sub-group size" in said), "C: %d" % size, said)

    def opencl_c(self):
        if not shutil.which("ocloc"):
            print("skipped: header: there is no ocloc")
            return
        self.write()
        with open(self.file, encoding="utf-8") as f:
            header = f.read()
        for size in (8, 16):
            with open(os.path.join(self.folder, "k.cl"), "w", encoding="utf-8") as f:
                f.write(header + "DEVIMG_SUB_GROUP_SIZE(%d)\n__kernel void k(__global int *o) { o[get_global_id(0)] = 1; }\n" % size)
            p = subprocess.run(["ocloc", "compile", "-file", "k.cl", "-device", "dg2-g10", "-output", "k"], cwd=self.folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=60, check=False)
            self.say((p.returncode == 0) == (size == 16) and (size == 16 or "16, 32 only" in p.stdout),
                     "S1-31: OpenCL C, for a GPU that would take 8: %d" % size, p.returncode, p.stdout)

    def names(self):
        """--prefix and --namespace: two of them in one source."""
        self.write("--targets", "tgllp,dg2-g10")
        other = os.path.join(self.folder, "b.h")
        status, _, err = self.run("-o", other, "--prefix", "My_proj2", "--namespace", "my::proj")
        self.say(status == 0 and err == "", "--prefix, --namespace", status, err)
        source = '#include "b.h"\n#include "b.h"\nDEVIMG_SUB_GROUP_SIZE(8) void f();\nMy_proj2_SUB_GROUP_SIZE(SIZE) void g();\n' \
                 "my::proj::kernel_shape<16> s; static_assert(sizeof(My_proj2_SUB_GROUP_SIZES) == 6, \"\");\n"
        for compiler in self.compilers:
            self.accepts(compiler, 16, "two headers", source)
            self.refuses(compiler, 8, "two headers", source)
        status, out, _ = self.run("--prefix", "FOO")
        self.say("namespace foo {" in out and "FOO_SUB_GROUP_SIZE(N)" in out and "DEVIMG" not in out and "devimg::" not in out,
                 "the namespace follows the prefix", out)
        for args in (["--prefix", "1a"], ["--prefix", ""], ["--prefix", "a b"], ["--prefix", "a::b"], ["--namespace", ""], ["--namespace", "a:b"],
                     ["--namespace", "a::"], ["--namespace", "a; int x;"], ["file"], ["--check", self.file, "-o", self.file], ["-j0"]):
            status, out, err = self.run(*args)
            self.say(status == 2 and out == "" and err, "usage: %s" % args, status, out, err)

    def files(self):
        """Written whole or not at all, left alone where it is the same, and never over another's file."""
        status, whole, err = self.run()
        self.say(status == 0 and whole.startswith(MARK) and err == "", "to stdout", status, whole[:100], err)
        self.write()
        with open(self.file, encoding="utf-8") as f:
            self.say(f.read() == whole, "a file is what stdout is")
        os.utime(self.file, (1, 1))
        status, out, _ = self.run("-o", self.file)
        self.say(status == 0 and os.stat(self.file).st_mtime == 1 and out == self.file + ": sub-group sizes 16, 32, which 19 targets accept\n",
                 "one that is the same is left as it is", out)
        status, out, _ = self.run("-o", self.file, "-q", "--targets", "tgllp,dg2-g10")
        self.say(status == 0 and out == "" and os.stat(self.file).st_mtime != 1, "-q, another list", out)
        sub = os.path.join(self.folder, "sub")
        os.mkdir(sub)
        for name in (sub, sub + "/"):
            status, _, _ = self.run("-o", name)
            self.say(status == 0 and os.listdir(sub) == ["devimg_sycl.h"], "-o FOLDER", os.listdir(sub))
            os.remove(os.path.join(sub, "devimg_sycl.h"))
        theirs = os.path.join(self.folder, "theirs.h")
        with open(theirs, "w", encoding="utf-8") as f:
            f.write("int x;\n")
        status, _, err = self.run("-o", theirs)
        with open(theirs, encoding="utf-8") as f:
            self.say(status == 3 and "left alone" in err and f.read() == "int x;\n", "another's file", status, err)
        before = sorted(os.listdir(self.folder))
        status, _, err = self.run("-o", "/nowhere/h.h")
        self.say(status == 3 and "/nowhere/h.h" in err and sorted(os.listdir(self.folder)) == before, "no folder", status, err)

    def checks(self):
        """S2-11: the header's own check is held to exactly the set of the list."""
        self.write()
        status, out, err = self.run("--check", self.file)
        self.say(status == 0 and "16, 32" in out and err == "", "S2-11: --check: as it should be", status, out, err)
        for args in (["--targets", "tgllp,dg2-g10"], ["--prefix", "X"], ["--targets", "lnl-m"]):
            status, _, err = self.run("--check", self.file, *args)
            self.say(status == 1 and self.file in err, "S2-11: --check: another list: %s" % args, status, err)
        with open(self.file, encoding="utf-8") as f:
            whole = f.read()
        for edited in (whole.replace("size == 16", "size == 8 || size == 16"), whole[:-1], whole + " ", ""):
            with open(self.file, "w", encoding="utf-8") as f:
                f.write(edited)
            status, _, _ = self.run("--check", self.file)
            with open(self.file, encoding="utf-8") as f:
                self.say(status == 1 and f.read() == edited, "S2-11: --check: edited by hand", status)
        status, _, err = self.run("--check", os.path.join(self.folder, "missing.h"))
        self.say(status == 3 and "missing.h" in err, "--check: no such file", status, err)

    def linted(self):
        """S2-11: `devimg sycl lint` reads the header's own check, and holds what goes through the header."""
        source = os.path.join(self.folder, "kernels.cpp")
        for targets in ("default-intel", "tgllp,dg2-g10"):
            self.write("--targets", targets)
            with open(self.file, encoding="utf-8") as f:
                whole = f.read()
            for size, other, codes in ((16, False, set()), (64, False, {"size-refused"}), (16, True, {"header-differs"})):
                with open(source, "w", encoding="utf-8") as f:
                    f.write("DEVIMG_SUB_GROUP_SIZE(%d) void f();\ndevimg::kernel_shape<%d> s;\n" % (size, size))
                with open(self.file, "w", encoding="utf-8") as f:
                    f.write(whole.replace("Size == 16", "Size == 4 || Size == 16") if other else whole)
                status, out, err = self.build.devimg("sycl", "lint", source, self.file, "--targets", targets, "--header", self.file, "--macro",
                                                     "DEVIMG_SUB_GROUP_SIZE", "--template", "kernel_shape,checked_sub_group_size", "--format", "json", cwd=self.folder)
                found = [f["code"] for f in json.loads(out)["findings"] if f["severity"] == "error"]
                notes = [f["code"] for f in json.loads(out)["findings"] if f["severity"] != "error"]
                self.say(notes == [], "lint says nothing of the header itself", notes)
                self.say(status == (1 if codes else 0) and set(found) == codes and len(found) == (2 if size == 64 else len(codes)),
                         "S2-11: lint, %s: %d%s" % (targets, size, ", header edited" if other else ""), status, out, err)

    def anchored(self):
        """S4-7: --anchor asks link.exe for a symbol, in what is compiled for it and nowhere else."""
        name, other = "foo_sycl_images", os.path.join(self.folder, "without.h")
        self.write("--anchor", name)
        with open(self.file, encoding="utf-8") as f:
            whole = f.read()
        status, _, err = self.run("-o", other)
        with open(other, encoding="utf-8") as f:
            self.say(status == 0 and name in whole and "pragma" not in f.read(), "S4-7: a pragma where it is asked for", status, err)
        for args, same in ((["--anchor", name], True), ([], False), (["--anchor", "another_symbol"], False)):
            status, _, err = self.run("--check", self.file, *args)
            self.say(status == (0 if same else 1) and (same or "these options" in err), "S4-7: --check %s" % args, status, err)
        status, out, _ = self.run("--anchor", name, "-o", self.file, "--format", "json")
        self.say(status == 0 and json.loads(out)["anchor"] == name, "S4-7: in JSON", out)
        _, out, _ = self.run("--anchor", name, "-o", self.file)
        self.say(out.endswith(" accept; link.exe is told to include %s\n" % name), "S4-7: in the line", out)
        for bad in ("short", "has blanks in it", "1_digit_first", 'quote\"quote', "a::b::c::d::e", "caf\u00e9_sycl_images", "a" * 1025):
            status, out, err = self.run("--anchor", bad)
            self.say(status == 2 and out == "" and "expected an identifier of 9 to 1024 characters" in err, "S4-7: --anchor %.20s is refused" % bad, status, err)
        status, _, err = self.run("--anchor", name, "--targets", "nope", "-o", os.path.join(self.folder, "none.h"))
        self.say(status == 1 and not os.path.exists(os.path.join(self.folder, "none.h")), "S4-7: a refused list gives no header", status, err)
        if self.build.sanitized or not shutil.which("llvm-readobj-19"):
            return
        msvc, asked = "-pc-windows-msvc", ["/include:" + name]
        for target, language, more, expected in (
                ("x86_64" + msvc, "c", [], asked), ("x86_64" + msvc, "c++", [], asked), ("aarch64" + msvc, "c", [], asked),
                ("i686" + msvc, "c", [], ["/include:_" + name]), ("i686" + msvc, "c++", [], ["/include:_" + name]),
                ("x86_64" + msvc, "c", ["-DDEVIMG_NO_ANCHOR"], []), ("x86_64" + msvc, "c", ["-D__SYCL_DEVICE_ONLY__"], []),
                ("x86_64-w64-windows-gnu", "c", [], [])):
            path = os.path.join(self.folder, "asks.obj")
            p = subprocess.run(["clang-19", "--target=" + target, "-x", language, "-Wall", "-Wextra", "-Werror", "-isystem",
                                os.path.join(self.root, "tests", "stand_in", "windows"), "-I" + self.folder, *more, "-c", "-", "-o", path],
                               input='#include "devimg_sycl.h"\nint f(void) { return 0; }\n', stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               encoding="utf-8", timeout=60, check=False)
            found = directives(path) if p.returncode == 0 else None
            self.say(found is not None and [w for w in found if "include" in w] == expected, "S4-7: .drectve of %s, %s, %s" % (target, language, more), found, p.stdout)
        with open(os.path.join(self.folder, "cl.c"), "w", encoding="utf-8") as f:
            f.write('#include "devimg_sycl.h"\n')
        p = subprocess.run(["clang-cl-19", "/c", "/W4", "/WX", "cl.c", "/Focl.obj"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
        self.say(p.returncode == 0 and asked[0] in directives(os.path.join(self.folder, "cl.obj")), "S4-7: clang-cl", p.stdout)
        for compiler in self.compilers:
            self.accepts(compiler, 16, "no linker of Windows", POSITIONS["function"])

    def refused(self):
        """S2-25 and D8: a list that cannot be answered for gives no header."""
        for targets, names in (("tgllp,bmg-g12,zzz", ("bmg-g12", "zzz")), ("spir64", ("spir64",)), ("tgllp,native_cpu", ("native_cpu",))):
            status, out, err = self.run("--targets", targets)
            self.say(status == 1 and out == "" and all(n in err for n in names), "S2-25: %s" % targets, status, out, err)
            path = os.path.join(self.folder, "none.h")
            status, _, _ = self.run("--targets", targets, "-o", path)
            self.say(status == 1 and not os.path.exists(path), "S2-25: %s: nothing is written" % targets, status)
            status, out, _ = self.run("--targets", targets, "--format", "json")
            doc = json.loads(out)
            self.say(status == 1 and doc["sub_group_sizes"] is None and sorted(doc["unknown"]) == sorted(names), "S2-25: in JSON", doc)

    def in_json(self):
        status, out, _ = self.run("--format", "json")
        doc = json.loads(out)
        self.say(status == 0 and doc == {"schema": "devimg/1", "file": None, "up_to_date": None, "anchor": None, "sub_group_sizes": [16, 32], "with_default": False,
                                         "targets": list(DEFAULT), "unmeasured": [], "unknown": []}, "JSON", doc)
        status, out, _ = self.run("--format", "json", "--targets", "pvc", "-o", self.file)
        doc = json.loads(out)
        self.say(status == 0 and doc["with_default"] and doc["file"] == self.file and doc["targets"][0] == "pvc" and len(doc["targets"]) == 20,
                 "JSON: one device", doc)
        status, out, _ = self.run("--format", "json", "--check", self.file)
        doc = json.loads(out)
        self.say(status == 1 and doc["up_to_date"] is False, "JSON: --check", doc)
        status, out, _ = self.run("--targets", "tgllp, TGLLP")
        self.say(status == 0 and 'SUB_GROUP_TARGETS \\\n    "tgllp,' in out, "D8: names are folded", status)

    def all(self):
        for part in (self.names, self.files, self.checks, self.linted, self.anchored, self.refused, self.in_json):
            part()
        if self.build.sanitized:
            return  # the same header: what compilers make of it needs no second look
        self.say(self.compilers == ["g++", "clang++-19"], "both compilers are there", self.compilers)
        for part in (self.positions, self.orders, self.configurations, self.other_compilers, self.opencl_c):
            part()
