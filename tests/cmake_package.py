# SPDX-License-Identifier: Apache-2.0
"""The CMake package as installed, and examples/cmake-sycl built with it. Suite `cmake`.

The compiler is tests/stand_in/icpx: it records its command lines, and its files hold device code from ocloc. Most projects here have no
language at all, so that configuring them costs nothing. The names of tests are those of docs/requirements.md: S0-n, S1-n, S3-n, S4-n."""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import time

from sycl_build import COMPRESS, LIST, STAND_IN, compile_words, link_programs, write_program

AMD, NVIDIA = "amdgcn-amd-amdhsa", "nvptx64-nvidia-cuda"  # entries of -fsycl-targets
NEEDED = ("clang++-19", "llvm-objcopy-19", "llvm-readelf-19", "ocloc", "zstd", "ninja")
HEAD = "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES %s)\nenable_testing()\nfind_package(devimg REQUIRED CONFIG)\n"
GATE_LINES = ["-- CPU device detected by sycl-ls, but no CPU target in fsycl-targets",
              "-- CPU kernels will not be compiled - disabling CPU-dependent tests/benchmarks"]


def plain(out):
    """What CMake said, without the line ends that it puts into messages."""
    return " ".join(out.split())


def holds(argv, words):
    """argv has the words, one behind the other."""
    return any(argv[i:i + len(words)] == words for i in range(len(argv)))


class CMakePackage:
    def __init__(self, build, root, folder):
        self.build, self.root, self.folder = build, root, folder
        self.env = {k: v for k, v in build.env.items() if not k.startswith(("CMAKE", "DEVIMG", "CXX", "VIRTUAL_ENV"))}
        self.log = self.path("log")
        self.env.update(ICPX_STAND_IN_LOG=self.log, ICPX_STAND_IN_CACHE=self.path("cache"))
        self.prefix = None
        self.cmake = shutil.which("cmake")

    def say(self, good, name, *what):
        self.build.say(good, "cmake: " + name, "\n".join(str(w) for w in what))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def run(self, argv, **env):
        p = subprocess.run(argv, cwd=self.folder, env=dict(self.env, **env), timeout=120, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return p.returncode, p.stdout.decode(errors="replace")

    def configure(self, source, *args, generator="Ninja", to=None, env=None):
        """(status, what was said, build folder); a fresh folder beside the source."""
        to = to or self.path("b", os.path.basename(source))
        more = [] if any(a.startswith("-DCMAKE_PREFIX_PATH") for a in args) or "bare" in args else ["-DCMAKE_PREFIX_PATH=" + self.prefix]
        shutil.rmtree(to, ignore_errors=True)
        status, out = self.run([self.cmake, "-G", generator, "-S", source, "-B", to, *more, *(a for a in args if a != "bare")], **(env or {}))
        return status, out, to

    def project(self, name, text, *args, languages="NONE", **more):
        """Configure a project of these lines."""
        self.write(name + "/CMakeLists.txt", HEAD % languages + text)
        return self.configure(self.path(name), *args, **more)

    def install(self):
        to = self.path("installed")
        status, out = self.run(["meson", "install", "-C", self.build.folder, "--no-rebuild", "--destdir", to, "--tags", "runtime"])
        found = glob.glob(os.path.join(to, "**", "devimg-config.cmake"), recursive=True)
        self.say(status == 0 and len(found) == 1, "meson install has the package", out[-2000:])
        if not found:
            return False
        self.prefix = os.path.abspath(os.path.join(os.path.dirname(found[0]), "..", "..", ".."))
        return os.access(os.path.join(self.prefix, "bin", "devimg"), os.X_OK)

    # --- the package itself ---

    def find(self):
        tell = 'get_target_property(p devimg::devimg IMPORTED_LOCATION)\nmessage(STATUS "program <${p}>")\n'
        program = os.path.join(self.prefix, "bin", "devimg")
        said = lambda out, path: "program <%s>" % path in out
        status, out, _ = self.project("find", tell)
        self.say(status == 0 and said(out, program), "found by CMAKE_PREFIX_PATH, in its own prefix", out)
        path = os.path.dirname(program) + os.pathsep + self.env["PATH"]
        status, out, _ = self.project("find", tell, "bare", env={"PATH": path})
        self.say(status == 0 and said(out, program), "found by PATH alone", out)
        status, out, _ = self.project("find", tell, "bare", "-Ddevimg_DIR=" + os.path.join(self.prefix, "share", "cmake", "devimg"))
        self.say(status == 0 and said(out, program), "found by devimg_DIR", out)
        decoy = os.path.dirname(os.path.dirname(self.write("decoy/bin/devimg", "#!/bin/sh\necho devimg 9.0\n", 0o755)))
        status, out, _ = self.project("find", tell, "-DCMAKE_PREFIX_PATH=%s;%s" % (decoy, self.prefix))
        self.say(status == 0 and said(out, program), "the program beside the package comes before another prefix", out)
        moved = self.path("moved here")
        shutil.copytree(self.prefix, moved)
        status, out, _ = self.project("find", tell, "-DCMAKE_PREFIX_PATH=" + moved)
        self.say(status == 0 and said(out, os.path.join(moved, "bin", "devimg")), "works under another prefix, with a blank in it", out)
        other = self.path("venv", "bin")
        shutil.copytree(os.path.join(moved, "bin"), other)
        shutil.rmtree(os.path.join(moved, "bin"))
        status, out, _ = self.project("find", tell, "-DCMAKE_PREFIX_PATH=" + moved, env={"VIRTUAL_ENV": self.path("venv")})
        self.say(status == 0 and said(out, os.path.join(other, "devimg")), "found among the scripts of a Python environment", out)
        status, out, _ = self.project("find", tell, "-DCMAKE_PREFIX_PATH=" + moved, env={"HOME": self.folder})
        self.say(status == 1 and "DEVIMG_EXECUTABLE" in out, "not there: said, and what to set", out)
        status, out, _ = self.project("find", tell, "-DCMAKE_PREFIX_PATH=" + moved, "-DDEVIMG_EXECUTABLE=" + program)
        self.say(status == 0 and said(out, program), "DEVIMG_EXECUTABLE is honoured", out)
        status, out, _ = self.project("find", tell, "-DDEVIMG_EXECUTABLE=/nowhere/devimg")
        self.say(status == 1 and "/nowhere/devimg" in out, "DEVIMG_EXECUTABLE that is not there is refused, not replaced", out)
        for name in ("named", "found"):
            shutil.copytree(os.path.join(self.prefix, "bin"), self.path(name))
        source, b = self.path("find"), self.path("b", "find")
        named = os.path.join(self.path("named"), "devimg")
        status, out, _ = self.project("find", tell, "-DDEVIMG_EXECUTABLE=" + named)
        os.remove(named)
        later, again = self.run([self.cmake, b])
        self.say(status == 0 and said(out, named) and later == 1 and named + ", which is not there" in plain(again),
                 "DEVIMG_EXECUTABLE that is gone later is refused, not replaced", out, again)
        found = os.path.join(self.path("found"), "devimg")
        status, out, _ = self.project("find", tell, "-DCMAKE_PREFIX_PATH=" + moved, env={"PATH": self.path("found") + os.pathsep + self.env["PATH"]})
        os.remove(found)
        later, again = self.run([self.cmake, b], PATH=os.path.dirname(program) + os.pathsep + self.env["PATH"])
        self.say(status == 0 and said(out, found) and later == 0 and said(again, program), "a program that was found, and is gone, is looked for anew",
                 out, again, source)
        wrong = self.write("wrong/devimg", "#!/bin/sh\necho hello\n", 0o755)
        status, out, _ = self.project("find", tell, "-DDEVIMG_EXECUTABLE=" + wrong)
        self.say(status == 1 and "does not run here" in out, "a program that is not devimg is refused", out)
        old = self.write("old/devimg", "#!/bin/sh\necho devimg 0.0.1\n", 0o755)
        status, out, _ = self.project("find", tell, "-DDEVIMG_EXECUTABLE=" + old)
        self.say(status == 0 and "older than these CMake files" in plain(out), "an older program is said", out)
        self.write("target/CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES NONE)\nadd_executable(devimg::devimg IMPORTED)\n"
                   'set_target_properties(devimg::devimg PROPERTIES IMPORTED_LOCATION "%s")\nfind_package(devimg REQUIRED CONFIG)\n%s' %
                   (os.path.join(other, "devimg"), tell))
        status, out, _ = self.configure(self.path("target"))
        self.say(status == 0 and said(out, os.path.join(other, "devimg")), "an imported target of the project is taken", out)
        for wanted, good in (("0.1", True), ("0.0.5", True), ("0.9", False), ("1.0", False)):
            self.write("version/CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES NONE)\n"
                       "find_package(devimg %s CONFIG REQUIRED)\n" % wanted)
            status, out, _ = self.configure(self.path("version"))
            self.say((status == 0) == good, "version %s: %s" % (wanted, "taken" if good else "refused"), out)

    def cross(self):
        """Cross-compiling: everything is looked for in the sysroot, and devimg is still one of the host."""
        decoy = self.write("sysroot/usr/bin/devimg", "#!/bin/sh\nexit 126\n", 0o755)
        modes = "".join("set(CMAKE_FIND_ROOT_PATH_MODE_%s ONLY)\n" % m for m in ("PROGRAM", "LIBRARY", "INCLUDE", "PACKAGE"))
        chain = self.write("chain.cmake", "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR aarch64)\n"
                           'set(CMAKE_FIND_ROOT_PATH "%s")\n%s' % (self.path("sysroot"), modes))
        library = os.path.join(self.root, "tests", "data", "intel", "lib_aot_aarch64.so")
        self.write("cross/CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES NONE)\nenable_testing()\n"
                   "find_package(devimg REQUIRED CONFIG NO_CMAKE_FIND_ROOT_PATH)\nadd_library(lib SHARED IMPORTED)\n"
                   'set_target_properties(lib PROPERTIES IMPORTED_LOCATION "%s")\n'
                   "devimg_check(lib ARGS --targets tgllp,adl-s,dg2-g11 --fallback spir64 --features any)\n" % library)
        path = os.path.join(self.prefix, "bin") + os.pathsep + self.env["PATH"]
        status, out, b = self.configure(self.path("cross"), "bare", "-DCMAKE_TOOLCHAIN_FILE=" + chain,
                                        "-DCMAKE_MAKE_PROGRAM=" + shutil.which("ninja"), env={"PATH": path})
        self.say(status == 0 and decoy not in out, "cross-compiling: the package is found on the host", out)
        status, out = self.run([self.cmake, "--build", b])
        self.say(status == 0 and "pass, 3 targets" in out, "cross-compiling: the check runs the program of the host", out)
        alone = os.path.join(self.path("moved here"), "share", "cmake", "devimg")  # without a program beside it: find() left it so
        status, out, _ = self.configure(self.path("cross"), "bare", "-DCMAKE_TOOLCHAIN_FILE=" + chain, "-Ddevimg_DIR=" + alone,
                                        "-DCMAKE_MAKE_PROGRAM=" + shutil.which("ninja"), to=self.path("b", "cross-alone"), env={"PATH": path})
        self.say(status == 0 and decoy not in out, "cross-compiling: the program of PATH, not one of the sysroot", out)
        self.cross_detect(chain)
        status, out = self.run(["ctest", "--test-dir", b])
        self.say(status == 0 and "1 tests failed" not in out and "100% tests passed" in out, "cross-compiling: the test as well", out)

    def cross_detect(self, chain):
        """The devices of this machine are not those that are built for: sycl-ls is not asked, whatever is asked of it."""
        ran = self.path("cross-ran")
        tool = self.sycl_ls("cross/sycl-ls", "touch '%s'\necho '[opencl:cpu] A'\necho '[level_zero:gpu] Intel(R) A 12.55.8'\n" % ran)
        path = os.pathsep.join((os.path.dirname(tool), os.path.join(self.prefix, "bin"), self.env["PATH"]))
        asked = "sycl-ls is not asked: the devices of this machine are not those that are built for"
        for request, args, has, targets in (("auto", "TARGETS spir64", "OFF", "spir64"), ("AUTO", "TARGETS spir64", "OFF", "spir64"),
                                            ("auto", "GPUS TARGETS spir64_gen", "OFF", "spir64_gen"),
                                            ("none", "TARGETS spir64", "OFF", "spir64"), ("native_cpu", "GPUS", "ON", "native_cpu"),
                                            ("spir64_x86_64", "TARGETS spir64", "ON", "spir64;spir64_x86_64"),
                                            ("auto", "GATE_ONLY STAGE1 on TARGETS spir64", "ON", "spir64")):
            self.write("cross/CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES NONE)\n"
                       "find_package(devimg REQUIRED CONFIG NO_CMAKE_FIND_ROOT_PATH)\ndevimg_sycl_detect(REQUEST %s %s)\n"
                       'message(STATUS "END ${DEVIMG_SYCL_HAS_CPU_TARGET} [${DEVIMG_SYCL_TARGETS}]")\n' % (request, args))
            status, out, _ = self.configure(self.path("cross"), "bare", "-DCMAKE_TOOLCHAIN_FILE=" + chain,
                                            "-DCMAKE_MAKE_PROGRAM=" + shutil.which("ninja"), to=self.path("b", "cross-detect"), env={"PATH": path})
            self.say(status == 0 and "-- END %s [%s]\n" % (has, targets) in out and not os.path.exists(ran) and
                     (asked in out) == ("GPUS" in args or request.lower() == "auto" and "GATE_ONLY" not in args),
                     "cross-compiling: devimg_sycl_detect(REQUEST %s %s)" % (request, args), out)

    # --- detect ---

    def sycl_ls(self, name, script):
        return write_program(self.path("sycl-ls", name), "#!/bin/sh\n" + script)

    def detect(self):
        opencl = self.sycl_ls("opencl", "echo '[opencl:cpu][opencl:0] Intel(R) OpenCL, CPU OpenCL 3.0 [1]'\n")
        both = self.sycl_ls("both", "echo '[native_cpu:cpu] N, CPU [0]'; echo '[host:cpu] SYCL host'\n")
        native = self.sycl_ls("native", "echo '[native_cpu:cpu] N, CPU [0]'\n")
        gpu = self.sycl_ls("gpu", "echo '[level_zero:gpu][level_zero:0] Intel(R) oneAPI, Intel(R) A 12.55.8 [1.6]'\n")
        fails = self.sycl_ls("fails", "echo '[opencl:cpu] x'; echo no driver >&2; exit 1\n")
        never = self.sycl_ls("never", "touch '%s'\n" % self.path("ran"))
        cases = [  # name, arguments, HAS_CPU_TARGET, list, what must be said
            ("S0-1 and S0-9: nothing found", 'TARGETS spir64_gen SYCL_LS "%s"' % gpu, "OFF", "spir64_gen", ""),
            ("S0-3: at the end, once", 'TARGETS %s,%s %s SYCL_LS "%s"' % (AMD, NVIDIA, AMD, opencl), "ON", "%s;%s;spir64_x86_64" % (AMD, NVIDIA), "given twice"),
            ("S0-3: not again", 'TARGETS spir64_x86_64 %s SYCL_LS "%s"' % (AMD, opencl), "ON", "spir64_x86_64;" + AMD, ""),
            ("S0-4: none", 'REQUEST none TARGETS %s SYCL_LS "%s"' % (NVIDIA, never), "OFF", NVIDIA, ""),
            ("S0-5: native_cpu", 'REQUEST native_cpu SYCL_LS "%s"' % never, "ON", "native_cpu", ""),
            ("S0-5: spir64_x86_64", 'REQUEST spir64_x86_64 TARGETS %s SYCL_LS "%s"' % (AMD, never), "ON", AMD + ";spir64_x86_64", ""),
            ("S0-6: auto is the default", 'SYCL_LS "%s"' % opencl, "ON", "spir64_x86_64", ""),
            ("S0-7: the host's CPU comes first", 'SYCL_LS "%s"' % both, "ON", "spir64_x86_64", ""),
            ("S0-8: a native CPU", 'SYCL_LS "%s"' % native, "ON", "native_cpu", ""),
            ("S0-9: it fails", 'SYCL_LS "%s"' % fails, "OFF", "", "no driver"),
            ("S0-9: it is missing", "SYCL_LS /nowhere/sycl-ls", "OFF", "", "/nowhere/sycl-ls"),
            ("S0-10: another request", 'REQUEST AUTO SYCL_LS "%s"' % opencl, "ON", "spir64_x86_64", "AUTO"),
            ("S0-14: a CPU and no target for it", "GATE_ONLY STAGE1 on TARGETS " + AMD, "OFF", AMD, ""),
            ("S0-26: exact", 'MATCH exact TARGETS spir64_gen SYCL_LS "%s"' % gpu, "OFF", "spir64_gen", ""),
            ("GPUs", 'GPUS SYCL_LS "%s"' % gpu, "OFF", "intel_gpu_dg2_g10", ""),
        ]
        text = "".join('message(STATUS "BEGIN %d")\ndevimg_sycl_detect(PREFIX C%d %s)\nmessage(STATUS "END ${C%d_HAS_CPU_TARGET} [${C%d_TARGETS}]")\n' %
                       (i, i, c[1], i, i) for i, c in enumerate(cases))
        status, out, b = self.project("detect", text)
        self.say(status == 0, "S0: every call is answered", out)
        blocks = re.split(r"-- BEGIN \d+\n", out)[1:]
        for (name, args, has, targets, told), block in zip(cases, blocks):
            self.say("-- END %s [%s]" % (has, targets) in block and told in plain(block) and ("CMake Warning" in block) == bool(told), name, args, block)
            lines = [l for l in block.splitlines() if l.startswith("-- ")]
            using = "-- Using SYCL targets: " + targets.replace(";", ",")
            gate = [l for l in lines if l in GATE_LINES]
            after = not gate or lines.index(using) < lines.index(gate[0])
            self.say((using in lines) == bool(targets) and after and (gate == GATE_LINES) == name.startswith("S0-14"), "S0-11, S0-14: lines: " + name, block)
        self.say(not os.path.exists(self.path("ran")), "S0-4, S0-5: sycl-ls is not run")
        self.say("AUTO" in blocks[11] and all(w in plain(blocks[11]) for w in ("none", "native_cpu", "spir64_x86_64")),
                 "S0-10: the four values are named", blocks[11])
        with open(os.path.join(b, "CMakeCache.txt"), encoding="utf-8") as f:
            cache = f.read()
        _, listed = self.run([self.cmake, "-LH", "-N", b])
        self.say("C6_CPU_TARGET:STRING=auto" in cache and "C6_CPU_TARGET-STRINGS:INTERNAL=auto;none;native_cpu;spir64_x86_64" in cache,
                 "S0-6: a cached choice of four", listed)
        status, out, _ = self.project("choice", 'devimg_sycl_detect(SYCL_LS "%s")\nmessage(STATUS "END ${DEVIMG_SYCL_HAS_CPU_TARGET}")' % opencl,
                                      "-DDEVIMG_SYCL_CPU_TARGET=none")
        self.say(status == 0 and "-- END OFF" in out, "S0-6: who builds may choose", out)
        for request in ("", " none", "none;x"):
            status, out, _ = self.project("odd", 'devimg_sycl_detect(SYCL_LS "%s")\nmessage(STATUS "END ${DEVIMG_SYCL_HAS_CPU_TARGET}")' % opencl,
                                          "-DDEVIMG_SYCL_CPU_TARGET=" + request)
            self.say(status == 0 and "-- END ON" in out and 'unknown request "%s": expected auto, none' % request in plain(out),
                     "S0-10: any other request warns, names the value, and is auto: '%s'" % request, status, out)
        self.say("([opencl:cpu], OpenCL)" in out, "a status line is what the command prints", out)
        self.header(opencl)
        status, out, _ = self.project("required", "devimg_sycl_detect(REQUEST none TARGETS %s REQUIRE_CPU)\n" % AMD)
        self.say(status == 1 and "REQUIRE_CPU" in out and "DEVIMG_SYCL_CPU_TARGET" in out and "-- Using SYCL targets: %s\n" % AMD in out,
                 "S0-24: REQUIRE_CPU stops, after the list was said", out)
        for call, why in (("REQUESTS none", "not understood"), ("REQUEST", "has no value"), ("PREFIX 1x", "identifier")):
            status, out, _ = self.project("wrong", "devimg_sycl_detect(%s)\n" % call)
            self.say(status == 1 and why in out, "devimg_sycl_detect(%s) is refused" % call, out)

    def header(self, opencl):
        self.write("header/config.h.in", "#cmakedefine01 H_HAS_CPU_TARGET\n")
        for request, value in (("auto", 1), ("none", 0)):
            status, out, b = self.project("header", 'devimg_sycl_detect(PREFIX H SYCL_LS "%s" HEADER gen/sycl.h)\n'
                                          "configure_file(config.h.in config.h)\n" % opencl, "-DH_CPU_TARGET=" + request)
            for name in ("gen/sycl.h", "config.h"):
                source = self.write("header/t.c", '#include "%s"\n#if H_HAS_CPU_TARGET != %d\n#error wrong\n#endif\n' % (name, value))
                done, said = self.run(["cc", "-Werror=undef", "-Werror", "-I", b, "-c", source, "-o", self.path("t.o")])
                self.say(status == 0 and done == 0, "S0-16: %s, %s" % (name, request), out, said)

    def size_header(self):
        """S1-31: whatever the list of this build, size 8 does not compile; without Xe2 in the list of the project, it does."""
        source = '#include "devimg_sycl.h"\nint main() { return [](int i) DEVIMG_SUB_GROUP_SIZE(%d) { return i; }(0); }\n'
        for size in (8, 16):
            self.write("k%d.cpp" % size, source % size)
        text = "".join('add_executable(k%d "%s")\n' % (size, self.path("k%d.cpp" % size)) for size in (8, 16))
        for call, shown, eight in (("", "16, 32, which 19 targets", False), ("TARGETS", "for one device or none", False),
                                   ("TARGETS tgllp", "for one device or none", False), ("TARGETS tgllp dg2-g10 OUTPUT gen/devimg_sycl.h", "8, 16, 32, which 2 targets", True)):
            status, out, b = self.project("sizes", text + "devimg_sycl_header(%s FOR k8 k16)\n" % call, "-DDEVIMG_SYCL_AOT_TARGETS=dg2-g10,tgllp",
                                          languages="CXX")
            self.say(status == 0 and shown in out, "devimg_sycl_header(%s)" % call, out)
            for size in (8, 16):
                status, said = self.run(["cmake", "--build", b, "--target", "k%d" % size])
                self.say((status == 0) == (size == 16 or eight) and (status == 0 or "sub-group size 8: refused by lnl-m" in said),
                         "S1-31: devimg_sycl_header(%s): %d" % (call, size), said)
        for call, why in (("TARGETS nope", "nope"), ("FOR nobody", "no target nobody"), ("PREFIX 1a", "identifier"), ("WHAT", "not understood: WHAT")):
            status, out, _ = self.project("wrong", "devimg_sycl_header(%s)\n" % call)
            self.say(status == 1 and why in out, "devimg_sycl_header(%s) is refused" % call, out)

    def cpu_tests(self):
        text = ("devimg_sycl_detect(REQUEST %s)\nset(list a)\ndevimg_cpu_tests(NAME \"CLI tests\" LIST list NAMES mini cli)\n"
                "add_custom_target(tool ALL COMMAND ${CMAKE_COMMAND} -E touch tool.built)\nadd_test(NAME one COMMAND ${CMAKE_COMMAND} -E true)\n"
                "add_test(NAME other COMMAND ${CMAKE_COMMAND} -E true)\n"
                "devimg_cpu_tests(TARGETS tool TESTS one)\nmessage(STATUS \"END ${list}\")\n")
        for request, word, left in (("native_cpu", "added", "a;mini;cli"), ("none", "dropped", "a")):
            status, out, b = self.project("cpu", text % request)
            self.say(status == 0 and "-- END %s\n" % left in out, "S0-18: the list, " + request, out)
            self.say(re.search(r"^-- CLI tests: 2 %s.*: mini cli$" % word, out, re.M) and
                     re.search(r"^-- CPU-dependent tests: 2 %s.*: tool one$" % word, out, re.M), "S0-18, S0-24: one line names and counts them, " + request, out)
            self.run([self.cmake, "--build", b])
            self.say(os.path.exists(os.path.join(b, "tool.built")) == (word == "added"), "S0-18: the program, " + request)
            _, out = self.run(["ctest", "--test-dir", b])
            self.say(("one ....." in out and "Disabled" in out) == (word == "dropped") and re.search("other .*Passed", out), "S0-18, S0-21: the test, " + request, out)
        status, out, _ = self.project("cpu", "devimg_cpu_tests(LIST l NAMES a)\n")
        self.say(status == 1 and "devimg_sycl_detect() before" in out, "S0-1: no answer is no ON", out)
        status, out, _ = self.project("cpu", "devimg_sycl_detect(REQUEST none)\ndevimg_cpu_tests(TARGETS nobody)\n")
        self.say(status == 1 and "no target nobody" in out, "S0-18: an unknown target is refused", out)

    # --- words, without a compiler ---

    def words(self):
        tell = 'string(REPLACE ";" "|" c "${F_COMPILE}")\nstring(REPLACE ";" "|" l "${F_LINK}")\nmessage(STATUS "C <${c}> L <${l}>")\n'
        for args, words, link in (
                ("TARGETS dg2-g10,bmg-g21", compile_words("dg2-g10,bmg-g21"), [*COMPRESS, "-fsycl"]),
                ("TARGETS dg2-g10 bmg-g21", compile_words("dg2-g10,bmg-g21"), [*COMPRESS, "-fsycl"]),
                ('TARGETS " dg2-g10 ,, "', compile_words("dg2-g10"), [*COMPRESS, "-fsycl"]),
                ('TARGETS ""', [*COMPRESS, "-fsycl", "-fno-sycl-rdc"], [*COMPRESS, "-fsycl"]),
                ("TARGETS", [*COMPRESS, "-fsycl", "-fno-sycl-rdc"], [*COMPRESS, "-fsycl"]),
                ("TARGETS dg2-g10 ALSO spir64_x86_64 spir64 NO_COMPRESSION",
                 compile_words("dg2-g10", "spir64_gen,spir64,spir64_x86_64")[2:], ["-fsycl"]),
                ("TARGETS dg2-g10 FALLBACK", compile_words("dg2-g10", "spir64_gen"), [*COMPRESS, "-fsycl"]),
                ("TARGETS ALSO native_cpu", compile_words("", "spir64,native_cpu"), [*COMPRESS, "-fsycl"]),
                ("TARGETS FALLBACK ALSO native_cpu", compile_words("", "native_cpu"), [*COMPRESS, "-fsycl"]),
                ("TARGETS ALSO spir64_gen spir64", compile_words(""), [*COMPRESS, "-fsycl"]),
                ("TARGETS dg2-g10 ALSO native_cpu UNIT src/a.cpp SKIP a.cpp=dg2-g10:crashes", compile_words("", "spir64,native_cpu"), [*COMPRESS, "-fsycl"]),
                ("TARGETS dg2-g10 ALSO native_cpu RDC", [w for w in compile_words("dg2-g10", "spir64_gen,spir64,native_cpu")[:-2] if w != "-fno-sycl-rdc"],
                 [*COMPRESS, "-fsycl", *compile_words("dg2-g10", "spir64_gen,spir64,native_cpu")[-3:]]),
                ("TARGETS COMPRESSION_LEVEL 3 STRICT_FP", ["-fp-model=precise", "-ffp-contract=off", "-foffload-fp32-prec-div", "-foffload-fp32-prec-sqrt",
                                                           "--offload-compress", "--offload-compression-level=3", "-fsycl", "-fno-sycl-rdc"],
                 ["-foffload-fp32-prec-div", "-foffload-fp32-prec-sqrt", "--offload-compress", "--offload-compression-level=3", "-fsycl"]),
                ("TARGETS dg2-g10,lnl-m UNIT src/a.cpp SKIP a.cpp=lnl-m:crashes", compile_words("dg2-g10"), [*COMPRESS, "-fsycl"])):
            status, out, _ = self.project("words", "devimg_sycl_flags(F %s)\n%s" % (args, tell))
            self.say(status == 0 and "C <%s> L <%s>" % ("|".join(words), "|".join(link)) in out, "S1-11, S1-13, S1-35, S3-7, S3-8: words of " + args, out)
        for args, why in (("TARGETS no-such-gpu,nor-this", "nor-this"), ("TARGETS dg2-g10 SKIP a.cpp", 'expected "unit=target,target:reason"'),
                          ("TARGETS dg2-g10 SKIP a.cpp=dg2-g10:", "expected"), ("COMPILER acpp COMPRESSION_LEVEL 3", "cannot compress"),
                          ("COMPRESSION_LEVEL 0", "compression-level"), ("TARGET dg2-g10", "not understood")):
            status, out, _ = self.project("words", "devimg_sycl_flags(F %s)\n" % args)
            self.say(status == 1 and why in plain(out), "refused: devimg_sycl_flags(%s)" % args, out)
        fake = "set(CMAKE_CXX_COMPILER_ID IntelLLVM)\nset(CMAKE_CXX_COMPILER /opt/nowhere/icpx)\nadd_library(lib SHARED IMPORTED)\n"
        status, out, _ = self.project("noocloc", fake + "devimg_sycl_aot(lib TARGETS dg2-g10 bmg-g21)\n",
                                      "-DCMAKE_MAKE_PROGRAM=" + shutil.which("ninja"), env={"PATH": os.path.join(self.prefix, "bin")})
        self.say(status == 1 and all(w in plain(out) for w in ("dg2-g10,bmg-g21", "no ocloc on PATH", "Install ocloc", "-DDEVIMG_SYCL_AOT_TARGETS=")),
                 "S1-10, S3-9: no ocloc stops configuring, and says the list and both remedies", out)
        self.ocloc(fake)
        status, out, _ = self.project("msvc", fake + "devimg_sycl_aot(lib TARGETS dg2-g10 lnl-m SYNTAX msvc SKIP a.cpp=lnl-m:crashes)\n")
        self.say(status == 1 and "with MSVC one device link" in plain(out), "S4-16: a skip is refused with MSVC", out)
        own = fake.replace("add_library(lib SHARED IMPORTED)", "add_library(lib INTERFACE)\ntarget_sources(lib PRIVATE a.cpp b.cpp)")
        for args, stops, why in (("SOURCES a.cpp nope.cpp", True, "SOURCES nope.cpp: no source of the target"),
                                 ("SOURCES a.cpp b.cpp SKIP cuont.cpp=dg2-g10:crashes", False, "there is no unit cuont.cpp among a.cpp, b.cpp")):
            status, out, _ = self.project("own", own + "devimg_sycl_aot(lib COMPILER acpp TARGETS tgllp dg2-g10 %s)\n" % args)
            self.say((status == 1 or not stops) and why in plain(out), "a slip is said: devimg_sycl_aot(%s)" % args, status, out)
        for call, why in (("devimg_sycl_aot(nobody)", "no such target"), ("devimg_check(nobody)", "no such target"),
                          ("devimg_check(lib)", "nothing to hold it to")):
            status, out, _ = self.project("msvc", fake + call + "\n")
            self.say(status == 1 and why in plain(out), "refused: " + call, out)

    def ocloc(self, fake):
        """One that somebody named is that one; one that does not know the list stops configuring, not the build."""
        path = link_programs(self.path("without-ocloc"), "ninja", "sh", "touch")
        env = {"PATH": os.path.join(self.prefix, "bin") + os.pathsep + path}
        aot = lambda targets: fake + "devimg_sycl_aot(lib TARGETS %s)\n" % targets
        old = write_program(self.path("ocloc", "old", "ocloc"), "#!/bin/sh\necho \"$2\" >>'%s'\n[ \"$2\" != tgllp ] || { echo Matched ids:; echo 12.0.0; exit; }\necho unknown >&2\nexit 226\n" %
                            self.path("ocloc", "asked"))
        status, out, _ = self.project("ocloc", aot("tgllp bmg-g21 lnl-m"), "-DDEVIMG_OCLOC=" + old, env=env)
        self.say(status == 1 and all(w in plain(out) for w in ("tgllp,bmg-g21,lnl-m need an ocloc that knows them", old, '"bmg-g21": this ocloc does not know it',
                                                               '"lnl-m": this ocloc', "or a shorter or empty list (-DDEVIMG_SYCL_AOT_TARGETS=)")) and '"tgllp"' not in out,
                 "S1-10, S3-9: an ocloc that does not know the list stops configuring, with what is unknown and the remedies", out)
        beside = os.path.dirname(old) + os.pathsep + env["PATH"]
        for gone in (self.path("gone", "ocloc"), "/gone"):
            status, out, _ = self.project("ocloc", aot("tgllp"), "-DDEVIMG_OCLOC=" + gone, env={"PATH": beside})
            self.say(status == 1 and "DEVIMG_OCLOC is %s, which is not there" % gone in plain(out) and old not in out,
                     "S3-9: DEVIMG_OCLOC that is not there is refused, not replaced by that of PATH", out)
        broken = write_program(self.path("ocloc", "broken", "ocloc"), "#!/bin/sh\nexit 9\n")
        status, out, _ = self.project("ocloc", aot("tgllp"), "-DDEVIMG_OCLOC=" + broken, env=env)
        self.say(status == 1 and broken in out and "need an ocloc that knows them" in plain(out), "S3-9: an ocloc that does not answer stops configuring", out)
        no_words = "".join("function(target_%s_options)\nendfunction()\n" % w for w in ("compile", "link"))  # an imported target takes none
        known = no_words + "add_library(two SHARED IMPORTED)\n" + aot("tgllp") + "devimg_sycl_aot(two TARGETS tgllp)\n"
        self.write("ocloc/asked", "")
        status, out, b = self.project("ocloc", known, env={"PATH": beside})
        with open(self.path("ocloc", "asked"), encoding="utf-8") as f:
            asked = f.read()
        self.say(status == 0 and "-- SYCL AOT targets of two (icpx): tgllp; ocloc: %s\n" % old in out and asked == "tgllp\n", "one list is asked of ocloc once", out, asked)
        new = shutil.move(old, self.path("ocloc", "new-ocloc"))
        os.makedirs(self.path("ocloc", "new"))
        new = shutil.move(new, self.path("ocloc", "new", "ocloc"))
        status, out = self.run([self.cmake, b], PATH=os.path.dirname(new) + os.pathsep + env["PATH"])
        self.say(status == 0 and "ocloc: %s\n" % new in out, "an ocloc that was found, and is gone, is looked for anew", out)

    def compile_test(self):
        """Every unit of the build for every target, as a test: ocloc itself compiles, icpx is in tests/sycl_compile.py."""
        kernel = "__attribute__((intel_reqd_sub_group_size(8))) __kernel void narrow(__global int *a) { a[0] = 1; }\n"
        self.write("matrix/narrow.cl", kernel)
        unit = ("add_custom_command(OUTPUT k COMMAND ocloc compile -file narrow.cl -device dg2-g10 -output k DEPENDS narrow.cl WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})\n"
                "add_custom_target(units DEPENDS k)\n")
        ctest = lambda b: self.run([os.path.join(os.path.dirname(self.cmake), "ctest"), "--test-dir", b, "-V", "--no-tests=error"])
        status, out, b = self.project("matrix", "devimg_compile_test()\n")
        status, out = ctest(b) if status == 0 else (None, out)
        self.say(status == 0 and "nothing to compile: no line of the build" in out and "Skipped" in out, "S1-34(b): no unit: skipped, with the reason", status, out)
        text = unit + ("devimg_compile_test(NAME own TARGETS dg2-g10 CONFIGURED dg2-g10 tgllp)\n"
                       "devimg_compile_test(NAME all TARGETS dg2-g10 pvc CONFIGURED dg2-g10 JOBS 2 JUNIT all.xml ARGS --format json)\n")
        status, out, b = self.project("matrix", text)
        self.say(status == 0, "devimg_compile_test() configures", out)
        if shutil.which("ocloc") and shutil.which("ninja"):
            status, out = ctest(b)
            self.say(status == 8 and "skipped: the build is configured for all of the list (1 target)" in out and '"kernel": "narrow", "sub_group_size": 8' in out and
                     "50% tests passed, 1 tests failed out of 2" in out and os.path.exists(os.path.join(b, "all.xml")),
                     "S1-34(b), S2-12: what the build is not configured for is compiled by the test", status, out)
        status, out, _ = self.project("matrix", text, generator="Unix Makefiles")
        self.say(status == 1 and "CMAKE_EXPORT_COMPILE_COMMANDS" in out, "units that are not known are refused, with the remedy", out)

    # --- built ---

    def example(self, name, *args, generator="Ninja", compiler=None, env=None):
        if os.path.exists(self.log):
            os.remove(self.log)
        source = self.path("example", name, "source")
        shutil.copytree(os.path.join(self.root, "examples", "cmake-sycl"), source)
        env = dict(env or {}, PATH=self.env["PATH"])
        return (source, *self.configure(source, "-DCMAKE_CXX_COMPILER=" + (compiler or os.path.join(self.root, STAND_IN)), *args, generator=generator,
                                        to=self.path("example", name, "build"), env=env))

    def recorded(self):
        """{name of the file made: argv}, of what the build made; not of what CMake tried."""
        found = {}
        if not os.path.exists(self.log):  # nothing was compiled
            return found
        with open(self.log, encoding="utf-8") as f:
            for line in f:
                call = json.loads(line)
                if "-o" in call["argv"] and "CMakeScratch" not in call["cwd"] and "CMakeTmp" not in call["cwd"] and "CompilerId" not in call["cwd"]:
                    found[os.path.basename(call["argv"][call["argv"].index("-o") + 1])] = call["argv"]
        return found

    def ninja(self, b, **env):
        return self.run(["ninja", "-C", b], **env)

    def native_gpus(self):
        """A GPU-only build: words, check, what makes the check run again, what makes it fail."""
        source, status, out, b = self.example("gpus", "-DEXAMPLE_AOT_TARGETS=tgllp;adl-s;dg2-g10", "-DEXAMPLE_CPU_TARGET=none")
        self.say(status == 0 and re.search(r"^-- SYCL AOT targets of example \(icpx\): %s; ocloc: /" % LIST, out, re.M),
                 "S1-10: the list and ocloc are said", out)
        self.say("CPU-dependent tests: 1 dropped" in out, "S0-18, S0-24: the example drops test_cpu", out)
        status, out = self.ninja(b)
        self.say(status == 0 and "pass, 3 targets native in 2 modules, spir64 fallback" in out, "S3-1, S1-6: the example is built and passes", out)
        self.say(not os.path.exists(os.path.join(b, "test_cpu")) and os.path.exists(os.path.join(b, "test_scale")), "S0-18, S0-21: what is built", out)
        calls = self.recorded()
        for unit in ("scale.cpp.o", "count.cpp.o"):
            self.say(holds(calls.get(unit, []), compile_words(LIST)), "S1-7, S1-11, S1-13, S3-7: compile line of " + unit, calls.get(unit))
        link = calls.get("libexample.so", [])
        self.say(holds(link, [*COMPRESS, "-fsycl"]) and not any(w.startswith(("-fsycl-targets", "-Xs", "-device")) for w in link),
                 "S1-13, S3-8: link line of the library", link)
        tool = calls.get("example_tool", [])
        self.say("-fsycl" in tool and not any(w.startswith(("-fsycl-targets", "-Xs")) for w in tool), "S3-8: link line of the program", tool)
        status, out = self.run(["ctest", "--test-dir", b, "-V"])
        self.say(status == 0 and "100% tests passed, 0 tests failed out of 4" in out and re.search("devimg-check-example .* Passed", out),
                 "S1-34: the check is a test as well", out)
        self.say(re.search(r"test_reference_host \.*\*\*\*Skipped", out) and "reference: skipped: EXAMPLE_HOST_BACKEND is 1, EXAMPLE_HAS_CPU_TARGET is 0" in out,
                 "S0-19, S0-20: compiled out, and skipped with the reason", out)
        self.again(source, b)
        self.lost(b)

    def touched(self, path):
        time.sleep(0.02)  # file times may be as coarse as the clock of the kernel
        os.utime(path)

    def again(self, source, b):
        count = lambda out: (out.count("devimg check"), out.count("Building"), out.count("Linking"))
        _, out = self.ninja(b)
        self.say("no work to do" in out, "Ninja: nothing changed, nothing is done", out)
        for what, path, more in (("devimg", os.path.join(self.prefix, "bin", "devimg"), False),
                                 ("the policy", os.path.join(source, "devimg.yaml"), False),
                                 ("a source file", os.path.join(source, "src", "scale.cpp"), True)):
            self.touched(path)
            status, out = self.ninja(b)
            checks, built, linked = count(out)
            self.say(status == 0 and checks == 1 and (built, linked > 0) == (int(more), more), "Ninja: %s changed, the check runs again" % what, out)

    def lost(self, b):
        """A compiler that loses images without a word; then one that does not."""
        stamp = os.path.join(b, "CMakeFiles", "devimg", "devimg-check-example.checked")
        for target, why in (("adl-s", "no native image for adl-s"), ("spir64", "spir64")):
            os.remove(os.path.join(b, "CMakeFiles", "example.dir", "src", "count.cpp.o"))
            status, out = self.ninja(b, ICPX_STAND_IN_LOSE=target)
            self.say(status != 0 and "FAIL" in out and why in out and "count.cpp" in out, "S3-1, S3-20, S1-6: %s lost: the build fails, and says where" % target, out)
            self.say(not os.path.exists(stamp), "S3-20: no stamp of a library without %s" % target)
            status, again = self.ninja(b, ICPX_STAND_IN_LOSE=target)
            self.say(status != 0, "S3-20: it fails again without %s" % target, again)
        status, out = self.run(["ctest", "--test-dir", b, "-R", "devimg"])
        self.say(status != 0, "S3-20: the test fails as well", out)
        os.remove(os.path.join(b, "CMakeFiles", "example.dir", "src", "count.cpp.o"))
        status, out = self.ninja(b)
        self.say(status == 0 and os.path.exists(stamp), "S3-20: a mended compiler passes", out)

    def with_cpu(self):
        """A CPU device, an empty AOT list from who builds, several configurations."""
        opencl = os.path.dirname(self.sycl_ls("cpu/sycl-ls", "echo '[opencl:cpu][opencl:0] Intel(R) OpenCL, CPU OpenCL 3.0 [1]'\n"))
        self.env["PATH"] = opencl + os.pathsep + self.env["PATH"]
        _, status, out, b = self.example("multi", "-DEXAMPLE_AOT_TARGETS=dg2-g10", generator="Ninja Multi-Config")
        self.say(status == 0 and "CPU-dependent tests: 1 added: test_cpu" in out, "S0-18: the example adds test_cpu", out)
        for config in ("Debug", "Release"):
            status, out = self.run([self.cmake, "--build", b, "--config", config])
            self.say(status == 0 and "pass, 1 target native in 2 modules" in out, "S1-35: one name, Ninja Multi-Config, " + config, out)
        calls = self.recorded()
        self.say(holds(calls.get("scale.cpp.o", []), compile_words("dg2-g10", "spir64_gen,spir64,spir64_x86_64")), "S0-3: the CPU target is compiled for", calls)
        stamps = sorted(os.path.basename(p) for p in glob.glob(os.path.join(b, "CMakeFiles", "devimg", "*.checked")))
        self.say(stamps == ["devimg-check-example-%s.checked" % c for c in ("Debug", "Release")], "multi-config: a stamp each", stamps)
        status, out = self.run(["ctest", "--test-dir", b, "-C", "Release"])
        self.say(status == 0 and "0 tests failed out of 5" in out and "Skipped" not in out, "S0-18: test_cpu runs", out)
        status, out = self.run([os.path.join(b, "Release", "test_reference"), "reference"])
        self.say(status == 0 and "reference: passed" in out, "S0-19: both macros are on, and the reference is there", out)
        source, status, out, b = self.example("jit", "-DDEVIMG_SYCL_AOT_TARGETS=", generator="Unix Makefiles")
        self.say(status == 0 and "-- SYCL AOT targets of example (icpx): disabled, SPIR-V JIT only\n" in out, "S1-10, S1-35: an empty list", out)
        out_of_configure = out
        status, out = self.run([self.cmake, "--build", b])
        self.say(status == 0 and "libexample.so: pass" in out, "S1-35: Makefiles: an empty list passes", out)
        scale = self.recorded().get("scale.cpp.o", [])
        self.say(holds(scale, compile_words("", "spir64,spir64_x86_64")) and not any("spir64_gen" in w for w in scale) and
                 "-- CPU device code: ON\n" in out_of_configure, "S0-3, S1-35: an empty list keeps the CPU target, and nothing else", scale, out_of_configure)
        self.touched(os.path.join(source, "devimg.yaml"))
        status, out = self.run([self.cmake, "--build", b])
        self.say(status == 0 and out.count("libexample.so: pass") == 1 and "Building" not in out, "Makefiles: the policy changed, the check runs again", out)

    def other_compiler(self):
        header = os.path.join(self.root, "tests", "stand_in", "include")
        _, status, out, b = self.example("gcc", "-DCMAKE_CXX_FLAGS=-I" + header, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DEXAMPLE_AOT_TARGETS=dg2-g10",
                                         compiler=shutil.which("c++"))
        self.say(status == 0 and re.search("^-- SYCL AOT targets of example: ignored, the SYCL compiler is not icpx but GNU", out, re.M) and
                 "-- devimg-check-example: left out" in out, "S1-36: another compiler: the list is ignored, and said", out)
        status, out = self.ninja(b)
        with open(os.path.join(b, "compile_commands.json"), encoding="utf-8") as f:
            lines = f.read()
        self.say(status == 0 and "sycl-targets" not in lines and "offload" not in lines, "S1-36: no word of it", out)
        status, out = self.run([self.cmake, "-DDEVIMG_SYCL_COMPILER=icpx", b])
        with open(os.path.join(b, "compile_commands.json"), encoding="utf-8") as f:
            lines = [e["command"] for e in json.load(f) if e["file"].endswith("scale.cpp")]
        self.say(status == 0 and any("-fsycl-targets=spir64_gen" in l for l in lines), "DEVIMG_SYCL_COMPILER: another compiler that takes icpx's words", out, lines)

    def small(self):
        """Projects of a few lines: a skip, a static library, words that a change took away, a sub-group size."""
        for unit in ("scale", "count", "narrow"):
            self.write("small/%s.cpp" % unit, "int %s(void) { return 1; }\n" % unit)
        self.write("small/main.cpp", "int scale();\nint main() { return scale() - 1; }\n")
        cxx = "-DCMAKE_CXX_COMPILER=" + os.path.join(self.root, STAND_IN)
        text = ('add_library(skips SHARED scale.cpp count.cpp)\ndevimg_sycl_aot(skips TARGETS %s ALSO spir64_x86_64 SKIP "count.cpp=adl-s,tgllp:IGC crashes on it")\n'
                "devimg_check(skips)\nadd_library(parts STATIC scale.cpp)\ndevimg_sycl_aot(parts TARGETS tgllp adl-s)\n"
                "add_executable(user main.cpp)\ntarget_link_libraries(user PRIVATE parts)\ndevimg_check(user ARGS --targets tgllp,adl-s --fallback spir64)\n"
                "add_library(none SHARED EXCLUDE_FROM_ALL count.cpp)\ndevimg_sycl_aot(none TARGETS tgllp adl-s)\n"
                "set_target_properties(none PROPERTIES LINK_OPTIONS \"\")\ndevimg_check(none NAME none-check)\n"
                "add_library(narrow SHARED EXCLUDE_FROM_ALL narrow.cpp)\ndevimg_sycl_aot(narrow TARGETS tgllp adl-s)\n"
                "devimg_check(narrow NAME narrow-check NO_TEST ARGS --sub-group-sizes 16,32)\n" % LIST)
        text += ("add_library(bare SHARED EXCLUDE_FROM_ALL scale.cpp)\ndevimg_sycl_aot(bare TARGETS tgllp adl-s FALLBACK)\ndevimg_check(bare NAME bare-check)\n"
                 "add_library(usual SHARED EXCLUDE_FROM_ALL scale.cpp)\ndevimg_sycl_aot(usual TARGETS tgllp adl-s)\ndevimg_check(usual NAME usual-check)\n")
        if os.path.exists(self.log):
            os.remove(self.log)
        status, out, b = self.project("small", text, cxx, languages="CXX")
        self.say(status == 0 and "count.cpp: no native image for" in out and "IGC crashes on it" in out, "S3-22: a skip is said, with its reason", out)
        status, out = self.ninja(b)
        self.say(status == 0 and "libskips.so: pass" in out and "user: pass" in out, "S3-22: a declared skip passes", out)
        self.say("user: pass, 2 targets" in out, "S1-12: a program carries the images of a static library", out)
        with open(self.log, encoding="utf-8") as f:
            calls = [json.loads(line)["argv"] for line in f]
        of = lambda name: [c for c in calls if any(w.endswith(name) for w in c)]
        also = "spir64_gen,spir64,spir64_x86_64"
        self.say([holds(c, compile_words("dg2-g10", also)) for c in of("skips.dir/count.cpp.o") if "-c" in c] == [True] and
                 [holds(c, compile_words(LIST, also)) for c in of("skips.dir/scale.cpp.o") if "-c" in c] == [True], "S3-22: words of each unit", calls)
        link = [c for c in calls if "-o" in c and c[c.index("-o") + 1] == "user"]
        self.say(len(link) == 1 and holds(link[0], [*COMPRESS, "-fsycl"]), "S1-12, S3-8: the program's link line has the words", link)
        for name, good in (("bare", True), ("usual", False)):
            status, out = self.run(["ninja", "-C", b, name + "-check"], ICPX_STAND_IN_LOSE="spir64")
            self.say((status == 0) == good and ("spir64" in out) != good, "S1-6: a file without a fallback: " + name, out)
        status, out = self.run(["ninja", "-C", b, "none-check"])
        self.say(status != 0 and "FAIL" in out, "S3-20: a link without its words fails the build", out)
        status, out = self.run(["ninja", "-C", b, "narrow-check"])
        self.say(status != 0 and "sub-group-size" in out and "narrow" in out, "S1-34: a kernel with a size that some GPU of the default list lacks fails", out)
        _, out = self.run(["ctest", "--test-dir", b, "-N"])
        self.say("narrow-check" not in out and "none-check" in out, "NO_TEST leaves the test out", out)
        self.policy(b)
        self.write("small/CMakeLists.txt", HEAD % "CXX" + "add_library(lib SHARED count.cpp)\ndevimg_sycl_aot(lib TARGETS tgllp COMPILER acpp)\n"
                   "devimg_check(lib)\n")
        status, out = self.run([self.cmake, b])
        with open(os.path.join(b, "build.ninja"), encoding="utf-8") as f:
            lines = f.read()
        self.say(status == 0 and "-- SYCL AOT targets of lib: ignored, the SYCL compiler is acpp, not icpx" in out and
                 "--acpp-targets=generic" in lines and "tgllp" not in lines, "S1-36, S1-40: AdaptiveCpp gets its own words", out)
        self.write("small/CMakeLists.txt", HEAD % "CXX" + 'add_compile_options(-Xsycl-target-backend=spir64_gen "-options -x")\n'
                   "add_library(lib SHARED count.cpp)\ndevimg_sycl_aot(lib TARGETS tgllp adl-s)\n")
        status, out = self.run([self.cmake, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", b])
        with open(os.path.join(b, "compile_commands.json"), encoding="utf-8") as f:
            words = shlex.split(json.load(f)[0]["command"])
        self.say(status == 0 and holds(words, compile_words("tgllp,adl-s")), "S1-7: the selector stays where the project has it as well", out, words)
        for text, why in (("devimg_sycl_aot(lib TARGETS tgllp)\ndevimg_sycl_aot(lib TARGETS tgllp)\n", "once for a target"),
                          ("devimg_check(lib ARGS --targets tgllp)\ndevimg_sycl_aot(lib TARGETS tgllp)\n", "before devimg_check()")):
            self.write("small/CMakeLists.txt", HEAD % "CXX" + "add_library(lib SHARED count.cpp)\n" + text)
            status, out = self.run([self.cmake, b])
            self.say(status == 1 and why in plain(out), "refused: " + text.replace("\n", " "), out)

    def policy(self, b):
        """A policy says list, fallback and gaps; a change of it changes the words."""
        policy = "version: 1\ntargets: [tgllp, adl-s]\nfallback: [spir64]\n"
        gap = "gaps:\n  - unit: count.cpp\n    without: [adl-s]\n    reason: it crashes\n"
        self.write("small/CMakeLists.txt", HEAD % "CXX" + "add_library(lib SHARED count.cpp scale.cpp)\ndevimg_sycl_aot(lib POLICY p.yaml)\n"
                   "devimg_check(lib)\n")
        for text, words in ((policy + gap, "tgllp"), (policy, "tgllp,adl-s")):
            self.write("small/p.yaml", text)
            self.touched(self.path("small", "p.yaml"))
            os.remove(self.log)
            said = self.run([self.cmake, b])[1] if text != policy else ""  # the second time Ninja configures by itself
            status, out = self.ninja(b)
            calls = self.recorded()
            self.say(status == 0 and "liblib.so: pass" in out and holds(calls.get("count.cpp.o", []), compile_words(words)) and
                     ("scale.cpp.o" not in calls or holds(calls["scale.cpp.o"], compile_words("tgllp,adl-s"))) and
                     ("count.cpp: no native image for adl-s: it crashes" in said or text == policy), "S3-22: a gap of the policy: " + words, out, calls)

    def all(self):
        if not shutil.which("cmake"):
            print("%s: cmake: skipped, there is no cmake" % self.build.label)
            return
        if not self.install():
            return
        self.find()
        self.cross()
        self.detect()
        self.cpu_tests()
        self.size_header()
        self.words()
        self.compile_test()
        missing = [t for t in NEEDED if not shutil.which(t)]
        if missing or self.build.sanitized:  # the program is the same; what is built with it needs no second look
            print("%s: cmake: nothing is built, %s" % (self.build.label, "there is no " + missing[0] if missing else "once is enough"))
            return
        self.native_gpus()
        self.with_cpu()
        self.other_compiler()
        self.small()
