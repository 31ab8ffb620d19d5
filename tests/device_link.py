# SPDX-License-Identifier: Apache-2.0
"""The device link for link.exe: examples/sycl-static-library by CMake and by Meson, built for Windows with a stand-in for icx-cl, linked by
lld-link, read by llvm-readobj; and what both helpers do elsewhere. Suite `devicelink`.

Words are those of requirements S4-4, S4-5 and S4-9; what is in a program is told by the linker's map, not by devimg alone."""
import glob
import json
import os
import re
import shutil
import time

from cmake_package import CMakePackage, plain
from sycl_build import COMPRESS, LIST, write_program

STAND_INS = os.path.join("tests", "stand_in")
EXAMPLE = os.path.join("examples", "sycl-static-library")
ANCHOR = "ops_sycl_images"
COMPILE = ["-fsycl", "-fsycl-targets=spir64_gen,spir64"]
DEVICE_LINK = ["-fsycl", "-fsycl-link", "-fsycl-targets=spir64_gen,spir64", "-Xsycl-target-backend=spir64_gen", "-device " + LIST, *COMPRESS,
               "-fp-model=precise", "-fsycl-max-parallel-link-jobs=8"]
NEEDED = ("clang-cl-19", "lld-link-19", "llvm-lib-19", "llvm-rc-19", "llvm-mt-19", "llvm-objcopy-19", "llvm-readobj-19", "ocloc", "zstd", "ninja", "cmake")
HEAD = ("cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES CXX)\nfind_package(devimg REQUIRED CONFIG NO_CMAKE_FIND_ROOT_PATH)\n"
        "set(LIST %s)\ninclude_directories(${SRC} ${CMAKE_CURRENT_BINARY_DIR})\ndevimg_sycl_header(OUTPUT ops_sycl.h PREFIX OPS ANCHOR %s)\n" % (LIST, ANCHOR))
# Meson 1.0 takes the help text of clang-cl 19 for that of gcc: this one is as short as it looks at.
CLANG_CL = '#!/bin/sh\ncase "$1" in "/?") echo "CL.EXE COMPATIBILITY OPTIONS:";; *) exec clang-cl-19 "$@";; esac\n'


def of_sycl(argv):
    """The words of a line that are for SYCL."""
    out, words = [], iter(argv)
    for word in words:
        if re.match(r"-(fsycl|fno-sycl|-offload|Xs|fp-model)", word):
            out.append(word)
            if word.startswith("-Xs"):
                out.append(next(words, None))
    return out


class DeviceLink(CMakePackage):
    def __init__(self, build, root, folder):
        super().__init__(build, root, folder)
        self.icx_cl = os.path.join(root, STAND_INS, "icx-cl")
        self.source = self.path("source")
        shutil.copytree(os.path.join(root, EXAMPLE), self.source)  # the folder devimg/ becomes a copy, as users have it
        self.bin = self.path("bin")

    def say(self, good, name, *what):
        self.build.say(good, "devicelink: " + name, "\n".join(str(w) for w in what))

    def chain(self, compiler):
        programs = {"LINKER": "lld-link-19", "AR": "llvm-lib-19", "RC_COMPILER": "llvm-rc-19", "MT": "llvm-mt-19"}
        return self.write("chain-%s.cmake" % os.path.basename(compiler), "set(CMAKE_SYSTEM_NAME Windows)\nset(CMAKE_SYSTEM_PROCESSOR AMD64)\n"
                          'set(CMAKE_CXX_COMPILER "%s")\n%s' % (compiler, "".join('set(CMAKE_%s "%s")\n' % (n, shutil.which(p)) for n, p in programs.items())))

    def windows(self, name, *args, source=None, compiler=None, **more):
        """Configure for Windows: (status, what was said, build folder)."""
        self.forget()
        return self.configure(source or self.source, "-DCMAKE_TOOLCHAIN_FILE=" + self.chain(compiler or self.icx_cl), "-DCMAKE_BUILD_TYPE=Release",
                              "-DSRC=" + os.path.join(self.source, "src"), *args, to=self.path("b", name), **more)

    def lines(self, name, text, *args, **more):
        """The same for a project of these lines."""
        self.write(name + "/CMakeLists.txt", HEAD + text)
        return self.windows(name, *args, source=self.path(name), **more)

    def forget(self):
        if os.path.exists(self.log):
            os.remove(self.log)

    def calls(self):
        """Command lines of the compiler since the last look, but for those by which build systems get to know it."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as f:
            found = [json.loads(line)["argv"] for line in f]
        self.forget()
        return [c for c in found if any(re.search(r"(scale|count|sum|demo)(\.|_)cpp", w) for w in c)]

    def map_of(self, *inputs):
        """What lld-link links of these: (status, the map, the program, what was said)."""
        _, folder = self.run([self.icx_cl, "--stand-in-libraries"])
        table, exe = self.path("map.txt"), self.path("mapped.exe")
        for path in (table, exe):
            if os.path.exists(path):
                os.remove(path)
        status, out = self.run(["lld-link-19", "/libpath:" + folder.strip(), "/subsystem:console", "/map:" + table, "/out:" + exe, *inputs])
        text = ""
        if os.path.exists(table):
            with open(table, encoding="utf-8") as f:
                text = f.read()
        return status, text, exe, out

    def registered(self, path):
        """What the JSON of `devimg list` says of each native or portable image of its own."""
        _, out, _ = self.build.devimg("list", path, "--format", "json")
        record, = json.loads(out)["files"]
        return {i["registered"] for i in record["images"] if i["parent"] is None and i["format"] != "bitcode"}

    def read_by_llvm(self, *paths):
        for path in paths:
            status, out = self.run(["llvm-readobj-19", "--file-headers", "--sections", "--symbols", path])
            self.say(status == 0 and "warning:" not in out and "Machine: IMAGE_FILE_MACHINE_AMD64" in out, "llvm-readobj reads " + os.path.basename(path), out[-600:])

    # --- CMake ---

    def cmake_example(self):
        status, out, b = self.windows("example")
        self.say(status == 0 and "IntelLLVM 2026.0.0 with MSVC-like command-line" in out and
                 "-- SYCL device link of ops: one object with all images; link.exe finds it by %s\n" % ANCHOR in out, "CMake takes the stand-in for icx-cl", out)
        status, out = self.ninja(b)
        self.say(status == 0 and "demo.exe: pass, 1 note, 3 targets native in 1 module, spir64 fallback" in out, "S4-6: the program passes", out)
        calls = self.calls()
        unit = lambda name: [of_sycl(c) for c in calls if "-c" in c and any(w.endswith(name) for w in c)]
        self.say([unit(n) for n in ("scale.cpp", "count.cpp", "sum.cpp", "demo.cpp")] == [[COMPILE], [COMPILE], [[]], [[]]], "S4-4: compile words", calls)
        device = [c for c in calls if "-fsycl-link" in c]
        self.say([of_sycl(c) for c in device] == [DEVICE_LINK], "S4-5: one device link, with these words", device)
        self.say([os.path.basename(w) for c in device for w in c if w.endswith(".cpp.obj")] == ["scale.cpp.obj", "count.cpp.obj"], "S4-6: of all SYCL objects", device)
        links = [c for c in calls if "/link" in c]
        self.say(len(links) == 1 and of_sycl(links[0]) == [] and "/Qoption,link,/IGNORE:4078" in links[0], "S4-9: words of the link", links)
        made = os.path.join(b, "CMakeFiles", "devimg", "ops.")
        self.anchored(made + "device.obj", made + "anchored.obj")
        objects = sorted(glob.glob(os.path.join(b, "CMakeFiles", "ops.dir", "src", "*.obj")))
        demo = os.path.join(b, "CMakeFiles", "demo.dir", "src", "demo.cpp.obj")
        self.read_by_llvm(*objects, demo, made + "device.obj", made + "anchored.obj", os.path.join(b, "ops.lib"), os.path.join(b, "demo.exe"))
        self.pulled_in(demo, objects, made, os.path.join(b, "ops.lib"))
        self.again(self.source, b)
        self.lost(b)

    def anchored(self, device, anchored):
        """S4-7: one more symbol, and nothing else."""
        names = lambda path: re.findall(r"^    Name: (\S+)", self.run(["llvm-readobj-19", "--symbols", path])[1], re.M)
        self.say(names(anchored) == names(device) + [ANCHOR], "S4-7: the anchor, behind all symbols", names(anchored)[-3:])

    def pulled_in(self, demo, objects, made, library):
        """S4-8, by the map: who uses a unit of the library has the registration, without a word; without the anchor nobody has."""
        status, table, exe, out = self.map_of(demo, library)
        self.say(status == 0 and re.search(r"\b%s\b.*ops\.anchored\.obj" % ANCHOR, table) and ".sycl_offloading.descriptor" not in out,
                 "S4-8: the anchored member is linked", out, table[-600:])
        self.say(self.registered(exe) == {True} and self.check(exe)[0] == 0, "S4-8: devimg says registered", self.check(exe))
        bare = self.path("bare.lib")
        self.run(["llvm-lib-19", "/out:" + bare, *objects, made + "device.obj"])
        status, _, _, out = self.map_of(demo, bare)
        self.say(status != 0 and "undefined symbol: " + ANCHOR in out, "S4-8: without the anchor it does not link in silence", out)
        source = os.path.join(self.source, "src")
        silent = []
        for name in ("scale", "count", "sum"):
            silent.append(self.path(name + "-silent.obj"))
            more = COMPILE if name != "sum" else []
            self.run([self.icx_cl, "/nologo", "/MD", "-Qstd=c++17", "/DDEVIMG_NO_ANCHOR", "-I" + os.path.join(self.path("b", "example"), "gen"), *more, "-c",
                      os.path.join(source, name + ".cpp"), "/Fo" + silent[-1]])
        for member in ("device", "anchored"):
            quiet = self.path("quiet.lib")
            self.run(["llvm-lib-19", "/out:" + quiet, *silent, made + member + ".obj"])
            status, table, exe, out = self.map_of(demo, quiet)
            self.say(status == 0 and "scale-silent.obj" in table and member + ".obj" not in table and ANCHOR not in table,
                     "S4-8: nobody asks, and the registration is absent (%s)" % member, out, table[-600:])
            status, out = self.check(exe)
            self.say(status == 1 and "error registration[not-registered]" in out and "error targets[" in out, "S4-2: devimg says what is missing (%s)" % member, status, out)

    def check(self, path):
        status, out, err = self.build.devimg("check", path, "--targets", LIST, "--fallback", "spir64", "--compression", "required")
        return status, (out + err).decode()

    def again(self, source, b):
        _, out = self.ninja(b)
        self.say("no work to do" in out, "nothing changed, nothing is done", out)
        self.touched(os.path.join(source, "src", "scale.cpp"))
        status, out = self.ninja(b)
        calls = self.calls()
        self.say(status == 0 and [of_sycl(c) for c in calls if "-fsycl-link" in c] == [DEVICE_LINK] and "demo.exe: pass" in out, "a unit changed: linked and checked again", out)

    def lost(self, b):
        """A compiler that loses a target, and one whose device link writes something else."""
        os.remove(os.path.join(b, "ops.lib"))
        status, out = self.ninja(b, ICPX_STAND_IN_LOSE="adl-s")
        self.say(status != 0 and "no native image for adl-s" in out, "S3-20: a target that the device link loses fails the build", out)

    def cmake_kinds(self):
        """Whatever is linked: a DLL, a program with kernels of its own, object libraries."""
        src = "${SRC}/"
        text = ("add_library(dll SHARED %(s)sscale.cpp %(s)scount.cpp)\ndevimg_sycl_aot(dll TARGETS ${LIST})\ndevimg_sycl_device_link(dll ANCHOR %(a)s)\ndevimg_check(dll)\n"
                "add_executable(own %(s)sdemo.cpp %(s)ssum.cpp %(s)sscale.cpp %(s)scount.cpp)\ndevimg_sycl_aot(own TARGETS ${LIST})\n"
                "devimg_sycl_device_link(own ANCHOR %(a)s)\ndevimg_check(own)\n"
                "add_library(part OBJECT %(s)sscale.cpp)\nadd_library(other OBJECT %(s)scount.cpp)\ndevimg_sycl_aot(part TARGETS ${LIST})\ndevimg_sycl_aot(other TARGETS ${LIST})\n"
                "add_library(whole STATIC %(s)ssum.cpp)\ntarget_link_libraries(whole PRIVATE part other)\ndevimg_sycl_device_link(whole ANCHOR %(a)s OBJECTS part other)\n"
                "add_executable(user %(s)sdemo.cpp)\ntarget_link_libraries(user PRIVATE whole)\ndevimg_check(user ARGS --targets=%(l)s --fallback spir64)\n" %
                {"s": src, "a": ANCHOR, "l": LIST})
        for generator in ("Ninja", "Ninja Multi-Config", "Unix Makefiles"):
            status, out, b = self.lines("kinds", text, generator=generator)
            if status == 0:
                status, out = self.run([self.cmake, "--build", b, *(["--config", "Release"] if "Multi" in generator else [])])
            passed = sorted(re.findall(r"(\w+\.(?:dll|exe)): pass", out))
            self.say(status == 0 and passed == ["dll.dll", "own.exe", "user.exe"], "S4-6: DLL, program, object libraries: " + generator, out[-3000:])
            found = [glob.glob(os.path.join(b, "**", n), recursive=True) for n in ("dll.dll", "own.exe", "user.exe")]
            self.say([len(f) == 1 and self.registered(f[0]) for f in found] == [{True}] * 3, "S4-8: and registered: " + generator, found)

    def cmake_refused(self):
        src, aot = "${SRC}/scale.cpp", "devimg_sycl_aot(lib TARGETS dg2-g10)\n"
        lib = "add_library(lib STATIC %s)\n" % src
        link = "devimg_sycl_device_link(lib ANCHOR %s)\n" % ANCHOR
        for text, why in (
                (lib + link, "call devimg_sycl_aot() before"), (lib + aot + link + link, "once for a target"),
                (lib + aot + "devimg_sycl_device_link(lib)\n", "name the symbol: ANCHOR"), ("devimg_sycl_device_link(none ANCHOR %s)\n" % ANCHOR, "no target none"),
                (lib + aot + "devimg_sycl_device_link(lib ANCHOR short)\n", "expected an identifier of 9 to 1024"),
                (lib + aot + 'devimg_sycl_device_link(lib ANCHOR "has a blank")\n', "expected an identifier"),
                (lib + aot + "devimg_sycl_device_link(lib ANCHOR %s OBJECTS none)\n" % ANCHOR, "no target none"),
                (lib + aot + "devimg_sycl_device_link(lib ANCHOR %s WHAT)\n" % ANCHOR, "not understood: WHAT"),
                (lib.replace("STATIC", "OBJECT") + aot + link, "call it for what the objects go into, with OBJECTS lib"),
                (lib + aot + "add_library(o OBJECT %s)\ndevimg_sycl_aot(o TARGETS tgllp)\ndevimg_sycl_device_link(lib ANCHOR %s OBJECTS o)\n" % (src, ANCHOR),
                 "another list"),
                (lib + aot.replace(")", ' SKIP "scale.cpp=dg2-g10:IGC crashes on it")') + link, "with MSVC one device link makes the images of every unit"),
                (lib + "file(WRITE ${CMAKE_BINARY_DIR}/p.yaml \"version: 1\\ntargets: [dg2-g10]\\ngaps:\\n  - unit: scale.cpp\\n    without: [dg2-g10]\\n    reason: no\\n\")\n"
                 "devimg_sycl_aot(lib POLICY ${CMAKE_BINARY_DIR}/p.yaml)\n" + link, "the policy skips dg2-g10")):
            status, out, _ = self.lines("refused", text)
            number = "S4-16" if "skips" in why or "every unit" in why else "S4-15"
            self.say(status == 1 and why in plain(out), "%s: configuring stops: %s" % (number, why), text, out)
        status, out, b = self.lines("empty", lib + "devimg_sycl_aot(lib TARGETS)\n" + link)
        if status == 0:
            status, out = self.ninja(b)
        device = [of_sycl(c) for c in self.calls() if "-fsycl-link" in c]
        self.say(status == 0 and device == [["-fsycl", "-fsycl-link", *COMPRESS, "-fp-model=precise", "-fsycl-max-parallel-link-jobs=8"]],
                 "S4-5: an empty list: no target words", device, out)
        other = write_program(self.path("other", "icx-cl"), '#!/bin/sh\nlast=\nfor w; do last=$w; done\ncase " $* " in *" -fsycl-link "*) exec cp "%s" "$last";; esac\nexec "%s" "$@"\n' %
                              (os.path.join(self.path("b", "example"), "CMakeFiles", "ops.dir", "src", "scale.cpp.obj"), self.icx_cl))
        status, out, b = self.lines("other", lib + aot + link, compiler=other)
        if status == 0:
            status, out = self.ninja(b)
        self.say(status != 0 and "[no-descriptor]" in out and "the object that the device link wrote" in out and not os.path.exists(os.path.join(b, "lib.lib")),
                 "S4-15: a device link that writes something else fails the build, with the reason", out)

    def cmake_elsewhere(self):
        """S4-10: another tool chain keeps what it has."""
        b = self.path("b", "linux")
        self.forget()
        status, out, b = self.configure(self.source, "-DCMAKE_CXX_COMPILER=" + os.path.join(self.root, STAND_INS, "icpx"), to=b)
        self.say(status == 0 and "-- SYCL device link of ops: none, the compiler links the images\n" in out, "S4-10: icpx on Linux: said", out)
        status, out = self.ninja(b)
        calls = self.calls()
        self.say(status == 0 and "demo: pass, 3 targets native in 2 modules" in out and calls and not any("-fsycl-link" in c for c in calls) and
                 not any("NO_ANCHOR" in w for c in calls for w in c), "S4-10: icpx on Linux: built as S3 has it", out, calls)
        status, out = self.run([os.path.join(b, "demo")])
        self.say(status == 0 and out == "2 of 4 values are above 5, their sum is 20\n", "S4-10: the program runs", out)
        include = os.path.join(self.root, STAND_INS, "include")
        status, out, b = self.configure(self.source, "-DCMAKE_CXX_COMPILER=" + shutil.which("c++"), "-DCMAKE_CXX_FLAGS=-I" + include, to=self.path("b", "gcc"))
        self.say(status == 0 and "-- SYCL device link of ops: none, the SYCL compiler is not icpx\n" in out and self.ninja(b)[0] == 0, "S4-10: no SYCL compiler", out)
        _, folder = self.run([self.icx_cl, "--stand-in-libraries"])
        env = {"INCLUDE": os.path.join(self.root, STAND_INS, "windows"), "LIB": folder.strip()}
        status, out, b = self.windows("clang-cl", compiler=shutil.which("clang-cl-19"), env=env)
        self.say(status == 0 and "-- SYCL device link of ops: none, the SYCL compiler is not icpx\n" in out, "S4-10: clang-cl: said", out)
        status, out = self.run(["ninja", "-C", b], **env)
        self.say(status == 0 and os.path.exists(os.path.join(b, "demo.exe")), "S4-10: clang-cl: the header asks for nothing, and the program links", out)

    # --- Meson ---

    def meson_programs(self):
        write_program(os.path.join(self.bin, "clang-cl"), CLANG_CL)
        for name, path in (("lld-link", shutil.which("lld-link-19")), ("llvm-lib", shutil.which("llvm-lib-19")), ("icx-cl", self.icx_cl), ("devimg", self.build.program)):
            os.symlink(path, os.path.join(self.bin, name))
        self.write("cross.ini", "[binaries]\ncpp = 'clang-cl'\ncpp_ld = 'lld-link'\nar = 'llvm-lib'\n[host_machine]\nsystem = 'windows'\ncpu_family = 'x86_64'\n"
                   "cpu = 'x86_64'\nendian = 'little'\n")
        _, folder = self.run([self.icx_cl, "--stand-in-libraries"])
        return {"PATH": self.bin + os.pathsep + self.env["PATH"], "INCLUDE": os.path.join(self.root, STAND_INS, "windows"), "LIB": folder.strip()}

    def meson_example(self):
        env = self.meson_programs()
        b = self.path("m")
        self.forget()
        status, out = self.run(["meson", "setup", "--cross-file", self.path("cross.ini"), b, self.source], **env)
        self.say(status == 0 and "SYCL device link of ops: one object with all images; link.exe finds it by %s\n" % ANCHOR in out, "Meson: configured with clang-cl", out)
        status, out = self.run(["ninja", "-C", b], **env)
        calls = self.calls()
        self.say(status == 0 and "demo.exe: pass, 1 note, 3 targets native in 1 module, spir64 fallback" in out, "Meson, S4-6: the program passes", out)
        self.say(sorted(os.path.basename(c[-1]) for c in calls if "/c" in c) == ["count.cpp", "scale.cpp"] and
                 all(of_sycl(c) == COMPILE for c in calls if "/c" in c), "Meson, S4-4: compile words", calls)
        self.say([of_sycl(c) for c in calls if "-fsycl-link" in c] == [DEVICE_LINK], "Meson, S4-5: one device link", calls)
        demo, library = os.path.join(b, "demo.exe.p", "src_demo.cpp.obj"), os.path.join(b, "libops.a")
        made = os.path.join(b, "devimg", "device_link", "ops.")
        self.read_by_llvm(made + "device.obj", made + "anchored.obj", library, os.path.join(b, "demo.exe"))
        self.anchored(made + "device.obj", made + "anchored.obj")
        status, table, exe, out = self.map_of(demo, library)
        self.say(status == 0 and re.search(r"\b%s\b.*ops\.anchored\.obj" % ANCHOR, table) and self.registered(exe) == {True} and
                 self.registered(os.path.join(b, "demo.exe")) == {True}, "Meson, S4-8: the anchored member is linked", out, table[-600:])
        time.sleep(0.02)
        os.utime(os.path.join(self.source, "src", "sum.cpp"))
        status, out = self.run(["ninja", "-C", b], **env)
        self.say(status == 0 and self.calls() == [] and "demo.exe: pass" in out, "Meson: code of the host changed: no device link", out)
        self.meson_refused(env)
        self.meson_elsewhere()

    def meson_lines(self, name, text, env):
        p = self.path("p", name)
        self.write(p + "/meson.build", "project('p')\ndevimg_targets = 'dg2-g10'\ndevimg_cpu = 'none'\n" + text)
        os.symlink(os.path.join(self.root, "meson", "devimg"), os.path.join(p, "devimg"))
        return self.run(["meson", "setup", os.path.join(p, "b"), p], **env)

    def meson_refused(self, env):
        link = "subdir('devimg')\ndevimg_device_links = {'x': {'objects': files('meson.build'), 'anchor': '%s'}}\nsubdir('devimg/device_link')\n"
        for name, flags, anchor, good, why in (
                ("skip", "'--syntax', 'msvc', '--gap', 'unit:a.cpp without dg2-g10: IGC crashes on it'", ANCHOR, False, "with MSVC one device link makes the images of every unit"),
                ("name", "'--syntax', 'msvc'", "short", False, "SYCL device link of x: devimg sycl header: --anchor short: expected an identifier"),
                ("name elsewhere", "", "short", False, "expected an identifier"), ("one word", "'--syntax=msvc'", ANCHOR, True, "finds it by " + ANCHOR),
                ("gnu", "'--syntax=gnu'", ANCHOR, True, "SYCL device link of x: none, the compiler links the images"),
                ("rdc", "'--rdc'", ANCHOR, True, "none, the compiler links the images")):
            status, out = self.meson_lines(name, "devimg_flags = [%s]\n" % flags + link % anchor, env)
            self.say((status == 0) == good and why in out, "Meson, %s: %s" % ("S4-16" if name == "skip" else "S4-10", name), out)

    def meson_elsewhere(self):
        write_program(os.path.join(self.bin, "icpx"), '#!/bin/sh\nexec "%s" "$@"\n' % os.path.join(self.root, STAND_INS, "icpx"))
        env = {"PATH": self.bin + os.pathsep + self.env["PATH"], "CXX": "icpx"}
        b = self.path("ml")
        self.forget()
        status, out = self.run(["meson", "setup", b, self.source], **env)
        self.say(status == 0 and "SYCL device link of ops: none, the compiler links the images\n" in out, "Meson, S4-10: icpx on Linux: said", out)
        status, out = self.run(["ninja", "-C", b], **env)
        calls = self.calls()
        self.say(status == 0 and "demo: pass, 3 targets native in 2 modules" in out and calls and not any("-fsycl-link" in c for c in calls), "Meson, S4-10: built as S3 has it", out)
        status, out = self.run([os.path.join(b, "demo")])
        self.say(status == 0 and out == "2 of 4 values are above 5, their sum is 20\n", "Meson, S4-10: the program runs", out)

    def all(self):
        missing = [t for t in NEEDED if not shutil.which(t)]
        if missing:
            print("%s: devicelink: skipped, there is no %s" % (self.build.label, missing[0]))
            return
        if not self.install():
            return
        self.cmake_example()
        self.cmake_kinds()
        self.cmake_refused()
        self.cmake_elsewhere()
        self.meson_example()
