# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl registry`, of files and of runs, and devimg_registry.hpp. Suite `registry`.

Libraries, programs and DLLs are made here by the fixtures' writer (tests/data/intel/src/mk.py), clang-19 and lld, so what each
descriptor holds, and who hands it to __sycl_register_lib, is what this file asked for."""
import json
import os
import shutil
import subprocess
import sys
import time

# What the runtime would be: it says on standard error what it was given.
RUNTIME = """
#include <unistd.h>
static void say(const char *what, void *d) { if (d) (void)!write(2, what, 9); }
void __sycl_register_lib(void *d) { say("register\\n", d); }
void __sycl_unregister_lib(void *d) { say("withdraw\\n", d); }
"""
# A descriptor that main() hands over: no constructor does.
BY_HAND = "\nint main(void) { extern void __sycl_register_lib(const struct desc *); __sycl_register_lib(&sycl_descriptor); return 0; }\n"
START = """
typedef void function(void);
__attribute__((section(".CRT$XCA"), used)) function *const first[] = { 0 };
__attribute__((section(".CRT$XCZ"), used)) function *const last[] = { 0 };
__declspec(dllimport) void _initterm(function *const *, function *const *);
__asm__(".section .drectve,\\"yn\\"\\n.ascii \\" /include:foo_sycl_images\\"\\n");
int mainCRTStartup(void) { _initterm(first, last); return 0; }
"""
# A header of SYCL that answers what the test asks for, call after call.
SYCL_HPP = """
#pragma once
#include <stdexcept>
#include <vector>
namespace sycl {
struct kernel_id {};
inline std::vector<kernel_id> get_kernel_ids()
{
    static int call = 0;
    static const int answers[] = { ANSWERS };
    const int n = answers[call < 1 ? call++ : 1];
    if (n == -1) throw std::runtime_error("no platform");
    if (n == -2) throw 7;
    return std::vector<kernel_id>(static_cast<std::size_t>(n));
}
}
"""


class Registry:
    def __init__(self, build, data, root, folder):
        self.build, self.data, self.root, self.folder = build, data, root, folder
        self.spirv = os.path.join(data, "intel", "basic.spv")
        self.env = dict(build.env)

    def say(self, good, name, *what):
        self.build.say(good, "registry: " + name, "found %s" % (what,))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def must(self, *argv):
        status, out, err = self.build.run(list(argv), cwd=self.folder)
        if status != 0:
            raise RuntimeError("%s: exit %s\n%s" % (" ".join(argv), status, (out + err).decode(errors="replace")))

    def registry(self, *args, env=None, seconds=60):
        """(exit status, document, what it said)"""
        p = subprocess.run([self.build.program, "sycl", "registry", "--format", "json", *args], cwd=self.folder, env=env or self.env,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds, check=False)
        return p.returncode, json.loads(p.stdout) if p.stdout else {}, p.stderr.decode(errors="replace")

    def text(self, *args):
        status, out, _ = self.build.devimg("sycl", "registry", *args, cwd=self.folder)
        return status, out.decode().splitlines()

    def expect(self, name, args, counts, status=0, code=None, env=None):
        """counts: descriptors, images, entries; None: unknown."""
        found, doc, err = self.registry(*args, env=env)
        codes = {o["code"] for o in doc.get("objects", [])}
        self.say(found == status and [doc.get(k) for k in ("descriptors", "images", "entries")] == list(counts) and
                 (code is None or code in codes) and doc["verdict"] == ("fail" if status else "pass"), name, found, doc, err)
        return doc

    def source(self, name, images, ctor=True, version=2, entry="old", more=""):
        """C source of a descriptor; images: the number of entries of each."""
        spec = {"name": name, "ctor": ctor, "version": version, "entry": entry, "kind": 8 if entry == "new" else 4,
                "images": [{"target": "spir64", "file": self.spirv, "entries": ["%s_%d_%d" % (name, i, k) for k in range(n)]}
                           for i, n in enumerate(images)]}
        self.write(name + ".json", json.dumps(spec))
        self.must(sys.executable, os.path.join(self.data, "intel", "src", "mk.py"), "cgen", name + ".json", name + ".c")
        with open(self.path(name + ".c"), "a", encoding="utf-8") as f:
            f.write(more)
        return name + ".c"

    def object(self, name, *args, target=None, **more):
        source = self.source(name, *args, **more)
        self.must("clang-19", *(["--target=" + target] if target else ["-fPIC"]), "-O1", "-Wno-everything", "-c", source, "-o", name + ".o")
        return name + ".o"

    def library(self, name, *objects):
        self.must("clang-19", "-shared", "-fuse-ld=lld", "-o", name, *objects, "-L.", "-lsycl", "-Wl,-rpath," + self.folder)
        return name

    def make(self):
        self.write("runtime.c", RUNTIME)
        self.must("clang-19", "-shared", "-fPIC", "-O1", "runtime.c", "-o", "libsycl.so", "-Wl,-soname,libsycl.so")
        self.object("two", [3, 2])
        self.object("three", [1, 0, 4], version=3)
        self.object("new", [2], version=3, entry="new")
        self.object("lies", [5], ctor=False)
        self.object("hand", [2, 2], ctor=False, more=BY_HAND)
        self.library("libtwo.so", "two.o")
        self.library("libboth.so", "two.o", "three.o")
        self.library("libnew.so", "new.o")
        self.library("liblies.so", "lies.o")
        self.library("libpart.so", "two.o", "lies.o")
        self.library("libthree.so", "three.o")
        self.write("main.c", "int main(void) { return 0; }\n")
        self.must("clang-19", "main.c", "two.o", "-o", "program", "-L.", "-lsycl", "-Wl,-rpath," + self.folder, "-Wl,--no-as-needed", "-lthree")
        self.must("clang-19", "hand.o", "-o", "by-hand", "-L.", "-lsycl", "-Wl,-rpath," + self.folder)
        self.must("llvm-ar-19", "rcs", "lib.a", "two.o", "three.o", "lies.o")

    # --- files ---

    def files(self):
        self.expect("S4-11: a library", ["libtwo.so"], (1, 2, 5))
        self.expect("struct version 3, and an image without entries", ["libboth.so"], (2, 5, 10))
        self.expect("entries of 56 bytes", ["libnew.so"], (1, 1, 2))
        self.expect("S4-2: a descriptor that only lies there", ["liblies.so"], (0, 0, 0), 1, "not-registered")
        self.expect("one of two is registered", ["libpart.so"], (1, 2, 5), 1, "partly-registered")
        self.expect("handed over by main()", ["by-hand"], (None, None, None), 1, "registration-unknown")
        self.expect("an object", ["two.o"], (1, 2, 5))
        self.expect("no device code", [sys.executable], (0, 0, 0), 0, "no-images")
        self.must("clang-19", "-c", "main.c", "-o", "main.o")
        self.must("llvm-ar-19", "rcs", "none.a", "main.o", "main.o")
        self.expect("an archive without device code", ["none.a"], (0, 0, 0), 0, "no-images")
        self.must("llvm-ar-19", "rcs", "empty.a")
        self.expect("an archive of nothing", ["empty.a"], (0, 0, 0), 0)
        self.expect("loose code", [self.spirv], (0, 0, 0), 1, "not-registered")
        intel = os.path.join(self.data, "intel")
        self.expect("an object before its device link", [os.path.join(intel, "obj_bundle.o")], (0, 0, 0), 1, "not-registered")
        self.expect("a library of bundle sections alone", [os.path.join(intel, "lib_sections_only.so")], (0, 0, 0), 1, "not-registered")
        self.expect("a DLL of images alone", [os.path.join(intel, "win_aot_zstd.dll")], (0, 0, 0), 1, "not-registered")
        doc = self.expect("an archive, object by object", ["lib.a"], (2, 5, 10), 1)
        self.say([(o["member"], o["descriptors"], o["images"], o["entries"], o["present"], o["code"]) for o in doc["objects"]] ==
                 [(["two.o"], 1, 2, 5, 2, "registered"), (["three.o"], 1, 3, 5, 3, "registered"), (["lies.o"], 0, 0, 0, 1, "not-registered")],
                 "the objects of an archive", doc)
        self.expect("a floor for an archive", ["--at-least", "11", "lib.a"], (2, 5, 10), 1)
        self.damaged()
        status, lines = self.text("none.a")
        self.say(status == 0 and lines == ["none.a: registers 0 entries in 0 images, 0 descriptors at start-up",
                                           "  no SYCL device image lies in any of its 2 objects"], "none of an archive is said", lines)
        status, lines = self.text("libtwo.so")
        self.say(status == 0 and lines == ["libtwo.so: registers 5 entries in 2 images, 1 descriptor at start-up"], "the first line answers", lines)
        status, lines = self.text("liblies.so")
        self.say(status == 1 and lines[1] == "  nothing hands 1 of its 1 images to __sycl_register_lib" and
                 "-fsycl" in lines[2], "the next ones say why, and what to do", lines)
        status, lines = self.text("by-hand")
        self.say(status == 1 and lines[0] == "by-hand: what it registers at start-up is unknown" and "--run" in lines[2], "unknown is said", lines)

    def damaged(self):
        """A part that cannot be read may hide a descriptor; an image that cannot be read hides none."""
        with open(self.path("libtwo.so"), "rb") as f:
            whole = f.read()
        for name, size in (("cut.so", len(whole) // 2), ("short.so", 80)):
            with open(self.path(name), "wb") as f:
                f.write(whole[:size])
        status, doc, err = self.registry("cut.so")
        self.say(status in (1, 3) and doc.get("entries") is None, "a file that is cut", status, doc, err)
        status, doc, err = self.registry("short.so")
        self.say(status in (1, 3) and doc.get("entries") is None, "a file that ends in its header", status, doc, err)
        with open(self.spirv, "rb") as f:
            spirv = f.read()
        at = whole.index(spirv)
        with open(self.path("odd.so"), "wb") as f:  # an image is no SPIR-V any more
            f.write(whole[:at] + b"\xff" * 16 + whole[at + 16:])
        self.expect("an image that cannot be read", ["odd.so"], (1, 2, 5))

    def floor(self):
        for n, status in ((1, 0), (5, 0), (6, 1)):
            found, doc, err = self.registry("--at-least", str(n), "libtwo.so")
            self.say(found == status and doc["at_least"] == n and (err == "") == (status == 0), "S4-11: 5 entries, at least %d" % n, found, doc, err)
        status, lines = self.text("--at-least", "6", "libtwo.so")
        self.say(status == 1 and "  --at-least 6: 5 entries are registered" in lines, "the floor is said", lines)
        status, lines = self.text("--at-least", "1", "by-hand")
        self.say(status == 1 and "  --at-least 1: how many entries are registered cannot be told" in lines, "unknown is under each floor", lines)
        status, _, err = self.registry("--at-least", "1", sys.executable)
        self.say(status == 1 and "--at-least 1: 0 entries are registered" in err, "none is under each floor", status, err)
        for args in (["--at-least", "0", "libtwo.so"], [], ["--run"], ["libtwo.so", "libboth.so"], ["--timeout", "3", "libtwo.so"]):
            status, doc, err = self.registry(*args)
            self.say(status == 2 and not doc and err.count("\n") == 1, "wrong usage: %s" % args, status, err)
        for name in ("no-such-file", "main.c", "."):
            status, doc, err = self.registry(name)
            self.say(status == 3 and not doc and err.startswith("devimg: " + name) and err.count("\n") == 1, "no file to read: " + name, status, err)

    # --- Windows ---

    def windows(self):
        """S4-2, S4-3, S4-8: linked by lld-link as link.exe would, with and without the anchor."""
        target = "x86_64-pc-windows-msvc"
        self.object("device", [2, 3], ctor=False, target=target,
                    more='void __sycl_register_lib(const struct desc *);\nstatic void reg(void) { __sycl_register_lib(&sycl_descriptor); }\n'
                         '__attribute__((section(".CRT$XCU"), used)) static void (*const at_start)(void) = reg;\n')
        self.expect("a COFF object of the device link", ["device.o"], (1, 2, 5))
        status, _, err = self.build.devimg("sycl", "anchor", "--symbol", "foo_sycl_images", "device.o", "anchored.obj", cwd=self.folder)
        self.say(status == 0, "it gets an anchor", err)
        for name, functions in (("sycl9", "__sycl_register_lib"), ("crt", "_initterm")):
            self.write(name + ".def", "LIBRARY %s.dll\nEXPORTS\n%s\n" % (name, functions))
            self.must("llvm-dlltool-19", "-m", "i386:x86-64", "-d", name + ".def", "-l", name + ".lib")
        self.must("llvm-lib-19", "/out:foo.lib", "anchored.obj")
        self.write("start.c", START)
        self.write("plain.c", START.replace("/include:foo_sycl_images", ""))
        # what icx-cl -c leaves: images in bundle sections, which link.exe keeps and nobody reads
        self.write("unit.c", '__asm__(".section \\"__CLANG_OFFLOAD_BUNDLE__sycl-spir64-unknown-unknown\\",\\"dr\\"\\n.balign 16\\n.incbin \\"%s\\"\\n");\n'
                   'int unit(void) { return 1; }\n' % self.spirv)
        for name in ("start", "plain", "unit"):
            self.must("clang-19", "--target=" + target, "-O1", "-Wno-everything", "-c", name + ".c", "-o", name + ".obj")
        link = ["lld-link-19", "/subsystem:console", "/entry:mainCRTStartup", "/nodefaultlib", "/ignore:4078"]
        self.must(*link, "/out:good.exe", "start.obj", "foo.lib", "sycl9.lib", "crt.lib")
        self.must(*link, "/out:bad.exe", "plain.obj", "unit.obj", "foo.lib", "sycl9.lib", "crt.lib")
        self.must(*link, "/out:none.exe", "plain.obj", "foo.lib", "sycl9.lib", "crt.lib")
        self.must(*link, "/dll", "/out:good.dll", "start.obj", "foo.lib", "sycl9.lib", "crt.lib")
        self.expect("S4-8: a program with the anchor", ["--at-least", "5", "good.exe"], (1, 2, 5))
        self.expect("S4-8: a DLL with the anchor", ["--at-least", "5", "good.dll"], (1, 2, 5))
        with open(self.path("good.dll"), "rb") as f:
            whole = f.read()
        with open(self.path("cut.dll"), "wb") as f:
            f.write(whole[:len(whole) // 2])
        self.expect("a DLL that is cut", ["cut.dll"], (None, None, None), 1, "damaged")
        status, doc, err = self.registry("--run", "./good.exe")
        self.say(status == 3 and not doc and "good.exe" in err, "a program of Windows is not started", status, err)
        self.expect("S4-2: images present, registration absent", ["bad.exe"], (0, 0, 0), 1, "not-registered")
        self.expect("S4-3: the registry is empty", ["--at-least", "1", "none.exe"], (0, 0, 0), 1, "no-images")
        status, lines = self.text("bad.exe")
        self.say(status == 1 and "1 of its 1 images" in lines[1] and "devimg sycl anchor" in lines[2], "what to do on Windows", lines)
        for name, status in (("good.exe", 0), ("bad.exe", 1)):  # and rule `registration` agrees
            found, out, _ = self.build.devimg("check", self.path(name), "--fallback", "spir64", "--format", "json", cwd=self.folder)
            codes = [f["code"] for f in json.loads(out)["files"][0]["findings"]]
            self.say(("not-registered" in codes) == (status == 1), "check: %s" % name, found, codes)

    # --- runs ---

    def runs(self):
        # The program, and a library that it is linked with.
        doc = self.expect("a program and its library", ["--run", "./program"], (2, 5, 10))
        self.say(doc["how"] == "run" and sorted((os.path.basename(o["path"]), o["descriptors"], o["images"], o["entries"]) for o in doc["objects"]) ==
                 [("libthree.so", 1, 3, 5), ("program", 1, 2, 5)] and doc["program"]["exit_status"] == 0, "object by object", doc)
        for name in ("libtwo.so", "libboth.so", "libnew.so"):
            _, static, _ = self.registry(name)
            _, run, err = self.registry("--run", name)
            self.say([static[k] for k in ("descriptors", "images", "entries")] == [run[k] for k in ("descriptors", "images", "entries")] and
                     run["verdict"] == "pass", "S4-11: %s in a run is as without" % name, static, run, err)
        self.expect("what main() hands over", ["--run", "./by-hand"], (1, 2, 4))
        self.expect("nothing is registered", ["--run", "liblies.so"], (0, 0, 0), 1)
        self.expect("a program by PATH", ["--run", "true"], (0, 0, 0), 1)
        status, lines = self.text("--run", "./program")
        self.say(status == 0 and lines[0] == "./program: registers 10 entries in 5 images, 2 descriptors in a run", "the first line of a run", lines)
        self.expect("a floor in a run", ["--at-least", "11", "--run", "./program"], (2, 5, 10), 1)
        self.forwarded()
        self.processes()
        self.hostile()
        self.failures()

    def forwarded(self):
        """The runtime is still called; also where it is no library of the whole program."""
        self.write("say.sh", '#!/bin/sh\nexec "$@" 2>"%s"\n' % self.path("said"), 0o755)
        self.expect("a script that becomes a program", ["--run", "./say.sh", "./program"], (2, 5, 10))
        with open(self.path("said"), encoding="utf-8") as f:
            self.say(sorted(f.read().split()).count("register") == 2, "each call is handed on")
        self.write("plug.c", '#include <dlfcn.h>\nint main(void) { void *h = 0;\n'
                   'for (int i = 0; i < 3; i++) { if (!(h = dlopen("./libboth.so", RTLD_LAZY | RTLD_LOCAL))) return 9; dlclose(h); }\nreturn 0; }\n')
        self.must("clang-19", "plug.c", "-o", "plug")
        self.expect("a plug-in that is loaded three times", ["--run", "./say.sh", "./plug"], (2, 5, 10))
        with open(self.path("said"), encoding="utf-8") as f:
            said = f.read().split()
        self.say(said.count("register") == 6, "a runtime that a plug-in brings is called", said)

    def processes(self):
        self.expect("options of the program", ["--run", "./say.sh", "./program", "--at-least", "99", "-h"], (2, 5, 10))
        self.write("many.sh", "#!/bin/sh\n./by-hand\n./program\n", 0o755)
        doc = self.expect("a script that starts two", ["--run", "./many.sh"], (1, 2, 4))
        self.say(doc["program"]["more"] == 1, "the other one is said", doc["program"])
        self.write("fork.c", "#include <unistd.h>\n#include <sys/wait.h>\nint main(void) { if (fork() == 0) _exit(0); wait(0); return 0; }\n")
        self.must("clang-19", "fork.c", "two.o", "-o", "forks", "-L.", "-lsycl", "-Wl,-rpath," + self.folder)
        self.expect("a program that forks", ["--run", "./forks"], (1, 2, 5))
        self.write("child.py", 'import subprocess\nraise SystemExit(subprocess.run(["./program"], close_fds=True).returncode)\n')
        self.expect("a child whose parent closes what it has open", ["--run", sys.executable, "child.py"], (2, 5, 10))
        self.closing()
        if not self.build.sanitized:  # that is preloaded into devimg as well
            self.expect("another preloaded library", ["--run", "./program"], (3, 6, 12), env=dict(self.env, LD_PRELOAD=self.path("libnew.so")))

    def closing(self):
        """A program that closes everything, and then has files of its own where something of devimg's might have been."""
        self.write("close.c", '#include <dlfcn.h>\n#include <fcntl.h>\n#include <unistd.h>\nint main(void) {\n'
                   'for (int fd = 3; fd < 256; fd++) close(fd);\n'
                   'for (int fd = 3; fd < 64; fd++) if (open("mine", O_WRONLY | O_CREAT, 0644) < 0) return 9;\n'
                   'return dlopen("./libboth.so", RTLD_LAZY) ? 0 : 8; }\n')
        self.must("clang-19", "close.c", "-o", "closes")
        self.expect("a program that closes everything", ["--run", "./closes"], (2, 5, 10))
        self.say(os.path.getsize(self.path("mine")) == 0, "its files are left alone", os.path.getsize(self.path("mine")))
        # a program that got the variable of a run that has ended, and of another file
        with open(self.path("mine"), "rb") as f:
            info = os.fstat(f.fileno())
        stand_in = os.path.join(os.path.dirname(self.build.program), "registry-count.so")
        for value in ("%d:%d:%s" % (info.st_dev, info.st_ino + 1, self.path("mine")), "%d:%d:/nowhere" % (info.st_dev, info.st_ino), "7", "", ":::",
                      "x:1:" + self.path("mine")):
            p = subprocess.run(["./program"], cwd=self.folder, env=dict(os.environ, LD_PRELOAD=stand_in, DEVIMG_REGISTRY_FILE=value), check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.say(p.returncode == 0 and not p.stdout and os.path.getsize(self.path("mine")) == 0, "the stand-in alone: " + value, p)

    def hostile(self):
        """What a program writes where the counts go makes them unknown, and no more; it is of no use to write much."""
        self.write("forge.c", r"""
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int n, char **words)
{
    const char *path = strchr(getenv("DEVIMG_REGISTRY_FILE"), '/');
    const int fd = open(path, O_WRONLY | O_APPEND);
    static uint64_t m[7 * 4096];
    if (n < 2 || fd < 0) return 9;
    if (!strcmp(words[1], "huge")) return ftruncate(fd, 1ll << 40) != 0;
    if (!strcmp(words[1], "text")) return write(fd, "0123456789", 10) != 10;
    for (int i = 0; i < 4096; i++)
        m[7 * i] = (uint64_t)(1 + i % 2) << 32 | 0x47525644, m[7 * i + 1] = (uint64_t)i;
    if (!strcmp(words[1], "long")) { m[6] = UINT64_MAX - 8; return write(fd, m, 56) != 56; }
    for (int k = 0; k < 250; k++) /* 57 MB of messages, half of them starts */
        if (write(fd, m, sizeof m) != sizeof m) return 8;
    return 0;
}
""")
        self.must("clang-19", "-O1", "forge.c", "-o", "forge")
        for how in ("huge", "text", "long"):
            start = time.monotonic()
            status, doc, err = self.registry("--run", "./forge", how)
            self.say(status == 1 and doc["entries"] is None and "something else wrote" in doc["program"]["unknown"] and time.monotonic() - start < 20,
                     "forged: " + how, status, doc, err)
        start = time.monotonic()
        status, doc, err = self.registry("--run", "./forge", "many", seconds=120)
        self.say(status in (0, 1) and doc["program"]["exit_status"] == 0 and time.monotonic() - start < 60, "forged: a million messages", status, err)

    def failures(self):
        self.write("fail.c", '#include <stdio.h>\nint main(void) { fputs("no GPU here\\n", stderr); return 3; }\n')
        self.must("clang-19", "fail.c", "two.o", "-o", "fails", "-L.", "-lsycl", "-Wl,-rpath," + self.folder)
        status, doc, err = self.registry("--run", "./fails")
        self.say(status == 1 and doc["entries"] == 5 and doc["program"]["exit_status"] == 3 and "exit status 3: " in err and "no GPU here" in err,
                 "S4-18: a program that fails is said", status, doc, err)
        self.write("hang.c", "#include <unistd.h>\nint main(void) { for (;;) pause(); }\n")
        self.must("clang-19", "hang.c", "two.o", "-o", "hangs", "-L.", "-lsycl", "-Wl,-rpath," + self.folder)
        start = time.monotonic()
        status, doc, err = self.registry("--timeout", "1", "--run", "./hangs")
        self.say(status == 1 and doc["program"]["timed_out"] and doc["program"]["exit_status"] is None and doc["entries"] == 5 and
                 time.monotonic() - start < 20, "a program that hangs is stopped", status, doc, err)
        self.write("alone.c", "int main(void) { return 0; }\n")
        for form in ("-static", "-static-pie"):
            self.must("clang-19", form, "alone.c", "-o", "alone")
            status, doc, err = self.registry("--run", "./alone")
            self.say(status == 1 and doc["entries"] is None and "not loaded" in doc["program"]["unknown"] and doc["program"]["exit_status"] == 0,
                     "a program is unknown that is linked with %s" % form, status, doc, err)
        self.write("lacks.c", "extern int not_there; int *f(void) { return &not_there; }\n")
        self.must("clang-19", "-shared", "-fPIC", "lacks.c", "two.o", "-o", "liblacks.so", "-L.", "-lsycl", "-Wl,-rpath," + self.folder)
        status, doc, err = self.registry("--run", "liblacks.so")
        self.say(status == 1 and doc["entries"] is None and "not_there" in err, "a library that cannot be loaded is unknown", status, doc, err)
        self.write("odd.c", "void __sycl_register_lib(const void *);\nstatic const char none[64] = { 9, 9 };\n"
                   "__attribute__((constructor)) static void reg(void) { __sycl_register_lib(none); }\n")
        self.must("clang-19", "-shared", "-fPIC", "odd.c", "-o", "libodd.so", "-L.", "-lsycl", "-Wl,-rpath," + self.folder)
        self.expect("a descriptor of an unknown form", ["--run", "libodd.so"], (1, None, None), 1, "entries-unknown")
        for words, said in ((["./no-such-program"], "no-such-program"), (["./main.c"], "main.c"), (["libtwo.so", "word"], "no arguments")):
            status, doc, err = self.registry("--run", *words)
            self.say(status == 3 and not doc and said in err, "not started: %s" % words, status, err)

    def installed(self):
        """Found from where devimg lies: installed under any prefix; missing is said."""
        for folder in ("p/bin", "p/libexec/devimg", "q/bin"):
            os.makedirs(self.path(folder))
        source = os.path.dirname(self.build.program)
        for to in ("p", "q"):
            shutil.copy(self.build.program, self.path(to + "/bin/devimg"))
        for name in ("registry-count.so", "registry-load"):
            shutil.copy(os.path.join(source, name), self.path("p/libexec/devimg/" + name))
        program = self.build.program
        self.build.program = self.path("p/bin/devimg")
        self.expect("installed", ["--run", "libtwo.so"], (1, 2, 5))
        self.build.program = self.path("q/bin/devimg")
        status, doc, err = self.registry("--run", "./program")
        self.say(status == 3 and not doc and "registry-count.so" in err, "without its files", status, err)
        self.build.program = program
        names = subprocess.run(["nm", "-D", "--defined-only", os.path.join(source, "registry-count.so")], stdout=subprocess.PIPE, check=True).stdout
        self.say(sorted(line.split()[-1] for line in names.decode().splitlines()) == ["__sycl_register_lib", "__sycl_unregister_lib"],
                 "the stand-in gives programs no other symbol", names)

    # --- the header ---

    def header(self):
        cases = [("21, 21", "21", 0, ""), ("30, 30", "21", 0, ""), ("1, 1", "", 0, ""), ("20, 20", "21", 1, "20 kernels are registered, fewer than 21"),
                 ("0, 0", "21", 1, "no kernel is registered"), ("0, 0", "0", 1, "no kernel is registered"),
                 ("21, 22", "21", 1, "two calls differ: 21 kernels, then 22"), ("-1, 21", "21", 1, "the SYCL runtime threw: no platform"),
                 ("21, -1", "21", 1, "the SYCL runtime threw: no platform"), ("-2, -2", "21", 1, "the SYCL runtime threw: ")]
        os.makedirs(self.path("include/sycl"))
        self.write("include/sycl/sycl.hpp", SYCL_HPP)
        self.write("count.cpp", "#include <devimg_registry.hpp>\nint main() { return devimg::check_registry(FLOOR); }\n")
        compilers = [c for c in ("g++", "clang++-19") if shutil.which(c)]
        self.say(len(compilers) == 2, "g++ and clang++-19 are here (tools/deps.sh test)", compilers)
        for compiler in compilers:
            for answers, least, status, said in cases:
                self.must(compiler, "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-Iinclude",
                          "-I" + os.path.join(self.root, "include"), "-DANSWERS=" + answers, "-DFLOOR=" + least, "count.cpp", "-o", "count")
                found, _, err = self.build.run([self.path("count")])
                self.say(found == status and (said in err.decode() if said else err == b""),
                         "S4-11: the header, %s: %s, floor %s" % (compiler, answers, least), found, err)

    def all(self):
        missing = [c for c in ("clang-19", "lld-link-19", "llvm-lib-19", "llvm-dlltool-19", "llvm-ar-19") if not shutil.which(c)]
        if missing:
            self.say(False, "%s: tools/deps.sh test" % " ".join(missing))
            return
        self.make()
        self.files()
        self.floor()
        self.windows()
        self.runs()
        self.installed()
        if not self.build.sanitized:
            self.header()
