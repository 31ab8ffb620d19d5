# SPDX-License-Identifier: Apache-2.0
"""The Meson side: meson/devimg, examples/meson-sycl and docs/meson.md, with the stand-in for icpx. Suite `meson`.

The names of tests are those of docs/requirements.md: S0-n, S1-n, S3-n."""
import glob
import json
import os
import re
import shutil
import time

from sycl_build import COMPRESS, LIST, STAND_IN, compile_words, link_programs, write_program

PROGRAMS = ("meson", "ninja", "python3", "sh")
SHOW = """
foreach devimg_show : [sycl_compile_words, ['|'], sycl_link_words]
  message('WORDS', ' '.join(devimg_show))
endforeach
message('GIVEN', sycl_has_cpu, ','.join(sycl_targets), sycl_aot_targets)
"""


class MesonPackage:
    def __init__(self, build, root, folder):
        self.build, self.root, self.folder = build, root, folder
        self.example = os.path.join(root, "examples", "meson-sycl")
        self.log = self.path("icpx.log")
        self.bin = self.path("bin")
        os.mkdir(self.bin)
        self.programs = shutil.copy(build.program, os.path.join(self.bin, "devimg"))
        self.stand_in = os.path.join(root, STAND_IN)
        self.icpx()
        self.env = dict(build.env, PATH=self.bin + ":" + os.environ["PATH"], CXX="icpx", ICPX_STAND_IN_LOG=self.log,
                        ICPX_STAND_IN_CACHE=self.path("cache"))
        self.env.pop("DEVIMG", None)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def say(self, good, name, *what):
        self.build.say(good, "meson: " + name, "\n".join(str(w) for w in what))

    def script(self, name, text, folder=None):
        return write_program(os.path.join(folder or self.bin, name), text)

    def icpx(self, first=""):
        """The stand-in, on PATH."""
        self.script("icpx", "#!/bin/sh\n%sexec '%s' \"$@\"\n" % (first, self.stand_in))

    def run(self, *argv, **env):
        before, self.build.env = self.build.env, dict(self.env, **env)
        try:
            status, out, err = self.build.run(list(argv), cwd=self.folder)
        finally:
            self.build.env = before
        return status, (out + err).decode(errors="replace")

    def logged(self):
        """The command lines of the stand-in since the last call, but for those by which Meson gets to know it."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as f:
            lines = [json.loads(line)["argv"] for line in f]
        os.remove(self.log)
        of_project = r"(^|/)(src_)?(scale|count|demo|cpu_test)\.cpp(\.o)?$"
        return [l for l in lines if any(re.search(of_project, w) for w in l)]

    def words_of(self, line):
        """What of a line is for SYCL."""
        out, words = [], iter(line)
        for word in words:
            if re.match(r"--offload|-fsycl|-fno-sycl|-foffload|-Xs", word):
                out.append(word)
                if word.startswith("-Xs"):
                    out.append(next(words, None))
        return out

    # --- the example: configured, built, tested ---

    def build_example(self):
        self.b, self.source = self.path("b"), self.path("source")
        shutil.copytree(self.example, self.source)  # the folder devimg/ becomes a copy, as users have it
        status, said = self.run("meson", "setup", self.b, self.source)
        self.say(status == 0 and "(intel-llvm 2026.0.0 " in said, "the example is configured, and Meson takes the stand-in for icpx", said)
        self.say("SYCL AOT targets (icpx): %s, ocloc %s\n" % (LIST, shutil.which("ocloc")) in said, "S1-10: list and ocloc are said", said)
        order = [said.find(l) for l in ("Using SYCL targets: spir64_gen,spir64\n", "CPU device code: OFF\n")]
        self.say(-1 < order[0] < order[1], "S0-11: the gate runs behind the list", said)
        self.say("CPU-dependent tests: 1 dropped, no CPU device code is compiled: cpu_test\n" in said, "S0-18, S0-24: dropped, and counted", said)
        status, said = self.run("ninja", "-j2", "-C", self.b)
        lines = self.logged()
        compiled = {os.path.basename(l[-1]): self.words_of(l) for l in lines if "-c" in l}
        self.say(status == 0 and sorted(compiled) == ["count.cpp", "demo.cpp", "scale.cpp"] and
                 all(w == compile_words() for w in compiled.values()), "S1-7, S1-11, S1-13, S3-7: words of each compile", compiled, said)
        links = {l[l.index("-o") + 1]: self.words_of(l) for l in lines if "-c" not in l}
        once, twice = COMPRESS + ["-fsycl"], (COMPRESS + ["-fsycl"]) * 2  # the program has those of the archive, too
        self.say(links == {"libops.so": once, "demo": twice}, "S1-13, S3-8: words of each link", links)
        self.say(all("%s: pass, 3 targets native in 2 modules, spir64 fallback" % n in said for n in ("libops.so", "demo")),
                 "S1-6, S1-12: library and program pass", said)
        status, said = self.run("meson", "test", "-C", self.b, "--no-rebuild")
        log = os.path.join(self.b, "meson-logs", "testlog.json")
        tests = {}
        if os.path.exists(log):
            with open(log, encoding="utf-8") as f:
                tests = {t["name"]: t for t in map(json.loads, f)}
        results = {re.split(" / |:", n)[-1]: t["result"] for n, t in tests.items()}
        self.say(results == {"demo on a GPU": "OK", "demo on a CPU": "SKIP", "devimg check libops": "OK", "devimg check demo": "OK"},
                 "S0-20: what is skipped", results, said)
        reason = [t.get("stdout", "") for n, t in tests.items() if n.endswith("demo on a CPU")]
        self.say(["no CPU device code was compiled" in r for r in reason] == [True], "S0-20: and why", reason)

    def checks_again(self):
        """The check is made again for each cause, and for nothing else."""
        policy, unit = os.path.join(self.source, "devimg.yaml"), os.path.join(self.source, "src", "scale.cpp")
        stamp = os.path.join(self.b, "devimg", "check", "libops.checked")
        ninja = lambda: self.run("ninja", "-j2", "-C", self.b)
        status, said = ninja()
        self.say(status == 0 and "no work to do" in said, "nothing is done twice", said)
        for name, path in (("the policy", policy), ("the library", unit), ("devimg", self.programs)):
            time.sleep(0.02)
            if path == unit:
                with open(path, "a", encoding="utf-8") as f:
                    f.write("int another;\n")
            os.utime(path)
            before = os.stat(stamp).st_mtime_ns
            status, said = ninja()
            self.say(status == 0 and os.stat(stamp).st_mtime_ns > before and "libops.so: pass" in said, "%s changed: checked again" % name, said)
            status, said = ninja()
            self.say(status == 0 and "no work to do" in said, "%s changed: once" % name, said)
        with open(policy, "a", encoding="utf-8") as f:
            f.write("no-such-key: 1\n")
        status, said = ninja()
        self.say(status != 0 and "no-such-key" in said, "a policy that says nothing is refused", said)
        shutil.copy(os.path.join(self.example, "devimg.yaml"), policy)

    def missing_images(self):
        """A toolchain that loses the native images of one unit: it makes relocatable device code, and links plainly."""
        stamp = os.path.join(self.b, "devimg", "check", "libops.checked")
        self.icpx("case \"$*\" in *scale.cpp) for w; do shift; [ \"$w\" = -fno-sycl-rdc ] || set -- \"$@\" \"$w\"; done;; esac\n")
        os.utime(os.path.join(self.source, "src", "scale.cpp"))
        status, said = self.run("ninja", "-j2", "-k0", "-C", self.b)
        self.say(status != 0 and not os.path.exists(stamp) and "libops.so: FAIL" in said and "demo: FAIL" in said and
                 "no native image for 3 targets" in said, "S3-1, S3-20: the build fails", said)
        status, said = self.run("meson", "test", "-C", self.b, "--no-rebuild", "--suite", "devimg")
        self.say(status not in (0, None) and re.search(r"Fail: +2\b", said), "S3-1: and so do the tests", said)
        self.icpx()

    def another_list(self):
        for targets, expected, passed in ((" dg2-g10 ,", compile_words("dg2-g10"), "1 target native in 2 modules, spir64 fallback"),
                                          ("", COMPRESS + ["-fsycl", "-fno-sycl-rdc"], "0 targets native in 2 modules, spir64 fallback")):
            status, said = self.run("meson", "configure", self.b, "-Dsycl_aot_targets=" + targets)
            self.logged()
            status, said = self.run("ninja", "-j2", "-C", self.b)
            found = [self.words_of(l) for l in self.logged() if "-c" in l]
            self.say(status == 0 and found and all(w == expected for w in found) and "libops.so: pass, " + passed in said,
                     "S1-35: the list \"%s\"" % targets, found, said)
            self.say(targets != "" or "SYCL AOT targets: disabled, SPIR-V JIT only\n" in said, "S1-10: JIT only is said", said)

    def cpu_on(self):
        """A CPU device is found: its tests are added, and its target is compiled for."""
        self.script("sycl-ls", "#!/bin/sh\necho '[opencl:cpu][opencl:0] Intel, CPU OpenCL 3.0 [1]'\n")
        b = self.path("cpu")
        status, said = self.run("meson", "setup", b, self.example)
        os.remove(os.path.join(self.bin, "sycl-ls"))
        self.say(status == 0 and "CPU-dependent tests: 1 added: cpu_test\n" in said, "S0-18: added, and counted", said)
        self.logged()
        status, said = self.run("ninja", "-j2", "-C", b, "devimg/cpu_tests/cpu_test")
        found = [self.words_of(l) for l in self.logged() if "-c" in l]
        self.say(status == 0 and found and all(w == compile_words(entries="spir64_gen,spir64,spir64_x86_64") for w in found),
                 "S0-3, S0-7: the CPU target is the last entry of the words", found, said)
        with open(os.path.join(b, "devimg", "devimg_config.h"), encoding="utf-8") as f:
            self.say("#define EXAMPLE_HAS_CPU_TARGET 1\n" in f.read(), "S0-16: the macro")

    # --- the folder alone, in a project without a language ---

    def show(self, name, lines="", env=(), words=(), source=SHOW):
        """(status, what was said, compile words, link words, [has_cpu, entries, list])"""
        p = self.path("p", name)
        os.makedirs(p, exist_ok=True)
        os.symlink(os.path.join(self.root, "meson", "devimg"), os.path.join(p, "devimg"))
        with open(os.path.join(p, "meson.build"), "w", encoding="utf-8") as f:
            f.write("project('p')\n%s\nsubdir('devimg')\n%s" % (lines, source))
        status, said = self.run("meson", "setup", *words, os.path.join(p, "b"), p, **dict(env))
        words = " ".join(re.findall(r"^Message: WORDS ?(.*)$", said, re.M)).split(" | ")
        given = re.search(r"^Message: GIVEN (\w+) (\S*) (\S*)$", said, re.M)
        return status, said, words[0], words[-1], list(given.groups()) if given else None

    def cpu_requests(self):
        tool = lambda text: self.script("sycl-ls", "#!/bin/sh\ntouch '%s'\n%s\n" % (self.path("ran"), text))
        cpu, native = "echo '[opencl:cpu] A'", "echo '[native_cpu:cpu] B'"
        jit = "devimg_targets = ''\n"
        cases = (("S0-7 host", "auto", "echo '[host:cpu] C'", ["true", "spir64,spir64_x86_64", ""], True, ""),
                 ("S0-7 both", "auto", native + "\n" + cpu, ["true", "spir64,spir64_x86_64", ""], True, ""),
                 ("S0-8", "auto", native, ["true", "spir64,native_cpu", ""], True, ""),
                 ("S0-9 none", "auto", "echo nothing", ["false", "", ""], True, ""),
                 ("S0-9 fails", "auto", cpu + "; echo why it fails >&2; exit 1", ["false", "", ""], True, "why it fails"),
                 ("S0-4", "none", cpu, ["false", "", ""], False, "CPU target: none, as requested"),
                 ("S0-5 native", "native_cpu", "exit 9", ["true", "spir64,native_cpu", ""], False, "Adding CPU target native_cpu"),
                 ("S0-5 opencl", "spir64_x86_64", "exit 9", ["true", "spir64,spir64_x86_64", ""], False, "Adding CPU target spir64_x86_64"),
                 ("S0-10 unknown", "AUTO", cpu, ["true", "spir64,spir64_x86_64", ""], True,
                  'WARNING: unknown request "AUTO": expected auto, none, native_cpu or spir64_x86_64'))
        for name, request, text, expected, runs, line in cases:
            tool(text)
            status, said, words, _, given = self.show(name, jit + "devimg_cpu = '%s'" % request)
            entries = ["-fsycl-targets=" + expected[1]] if expected[1] else []
            self.say(status == 0 and given == expected and words.split() == COMPRESS + ["-fsycl", "-fno-sycl-rdc"] + entries and line in said and
                     os.path.exists(self.path("ran")) == runs, name, given, words, said)
            if os.path.exists(self.path("ran")):
                os.remove(self.path("ran"))
        tool(native)
        status, said, *_, given = self.show("S0-6", jit)
        self.say(given == ["true", "spir64,native_cpu", ""], "S0-6: no request is auto", said)
        os.remove(self.path("ran"))
        os.remove(os.path.join(self.bin, "sycl-ls"))
        status, said, *_, given = self.show("S0-9", jit)
        self.say(status == 0 and given == ["false", "", ""] and "WARNING: sycl-ls: cannot be started" in said, "S0-9: sycl-ls is missing", said)
        status, said, *_ = self.show("S0-24", jit + "devimg_require_cpu = true")
        self.say(status == 1 and "devimg_require_cpu asks for it" in said, "S0-24: a CPU target is required", said)
        status, said, words, _, given = self.show("S0-1", jit + "devimg_cpu = 'none'\ndevimg_entries = 'nvptx64-nvidia-cuda'")
        self.say(given == ["false", "spir64,nvptx64-nvidia-cuda", ""] and words.endswith(" -fsycl-targets=spir64,nvptx64-nvidia-cuda"),
                 "S0-1, S0-3: entries of the project's own, beside the fallback", said)
        status, said, words, _, given = self.show("S0-5 both", "devimg_targets = 'dg2-g10'\ndevimg_cpu = 'native_cpu'\ndevimg_entries = 'nvptx64-nvidia-cuda'")
        self.say(given == ["true", "spir64_gen,spir64,nvptx64-nvidia-cuda,native_cpu", "dg2-g10"] and
                 words.split(" ") == " ".join(compile_words("dg2-g10", given[1])).split(" "), "S0-1, S0-3: and beside the native list", said)

    def ocloc(self):
        without = link_programs(self.path("no-ocloc"), *PROGRAMS)
        env = {"PATH": self.bin + ":" + without}
        status, said, *_ = self.show("S1-10", "devimg_targets = 'dg2-g10, bmg-g21'", env)
        self.say(status == 1 and all(t in said for t in ("dg2-g10,bmg-g21", "ocloc", "Install one on PATH", "an empty list")),
                 "S1-8, S1-9, S1-10, S3-9: no ocloc", said)
        status, said, words, *_ = self.show("S1-35", "devimg_targets = ' , '", env)
        self.say(status == 0 and "-device" not in words and "SYCL AOT targets: disabled, SPIR-V JIT only\n" in said, "S1-10: an empty list needs none", said)
        self.script("ocloc", "#!/bin/sh\necho unknown >&2\nexit 226\n", without)
        status, said, *_ = self.show("S1-10b", "devimg_targets = 'bmg-g21'", env)
        self.say(status == 1 and '"bmg-g21": this ocloc does not know it' in said, "S1-10: an ocloc that does not know the list", said)
        for compiler in ("acpp", "clang"):
            status, said, words, _, given = self.show(compiler, "devimg_targets = 'dg2-g10'\ndevimg_compiler = '%s'" % compiler, env)
            self.say(status == 0 and given == ["false", "", ""] and "gets no word of it" in said and "spir64" not in words, "S1-36: " + compiler, words, said)
        status, said, *_ = self.show("unknown", "devimg_targets = 'dg2-g99'")
        self.say(status == 1 and '"dg2-g99"' in said, "S1-35: a name that nobody knows", said)
        for gone, why in ((self.path("gone", "ocloc"), "gone/ocloc: cannot be started"), ("no-such-ocloc", "not where a native file names it")):
            native = self.script("ocloc.ini", "[binaries]\nocloc = '%s'\n" % gone, self.folder)
            status, said, *_ = self.show("S3-9 " + os.path.basename(gone), "devimg_targets = 'dg2-g10'", words=["--native-file", native])
            self.say(status == 1 and why in said, "S3-9: an ocloc of a native file that is not there is not replaced", said)
        msvc = "devimg_targets = 'dg2-g10'\ndevimg_flags = ['--syntax', 'msvc']\ndevimg_cpu = 'none'"
        status, said, words, link, _ = self.show("msvc", msvc)
        self.say((words, link) == ("-fsycl -fsycl-targets=spir64_gen,spir64", "/IGNORE:4078"), "words of MSVC", words, link, said)

    # --- devimg_flags: what units and checks make of it ---

    def units(self):
        gap = "'--gap', 'unit:a.cpp without adl-s: read --unit in the notes'"
        start = "devimg_targets = 'tgllp,adl-s'\ndevimg_cpu = 'native_cpu'\ndevimg_units = ['a.cpp', 'b.cpp']\n"
        source = SHOW + "foreach u, w : sycl_unit_words\n  message('UNIT', u, ' '.join(w))\nendforeach\n"
        entries = "spir64_gen,spir64,native_cpu"
        for name, flags, words in (("two words", "[%s]" % gap, {"a.cpp": compile_words("tgllp", entries), "b.cpp": compile_words("tgllp,adl-s", entries)}),
                                   ("one word", "[%s]" % gap.replace("', '", "="), {"a.cpp": compile_words("tgllp", entries), "b.cpp": compile_words("tgllp,adl-s", entries)}),
                                   ("skips all", "[%s]" % gap.replace("adl-s", "adl-s,tgllp"), {"a.cpp": compile_words("", "spir64,native_cpu"),
                                                                                             "b.cpp": compile_words("tgllp,adl-s", entries)}),
                                   ("no gap", "['--strict-fp']", None)):
            status, said, *_ = self.show("units " + name, start + "devimg_flags = " + flags, source=source)
            found = dict(re.findall(r"^Message: UNIT (\S+) (.*)$", said, re.M))
            if words is None:
                self.say(status == 0 and found["a.cpp"] == found["b.cpp"] and "-ffp-contract=off" in found["a.cpp"], "units: " + name, found, said)
                continue
            self.say(status == 0 and found == {u: " ".join(w) for u, w in words.items()}, "S3-22: a gap of devimg_flags, " + name, found, said)
            warnings = re.findall(r"WARNING: (.*)$", said, re.M)
            self.say(len(warnings) == (2 if name == "skips all" else 1) and warnings[0].startswith("a.cpp: no native image for ") and
                     warnings[0].endswith(": read --unit in the notes"), "S3-22: it is said, and nothing else is, " + name, warnings, said)
        status, said, *_ = self.show("units none", start.replace("devimg_units", "unused") + "devimg_flags = [%s]" % gap)
        self.say(status == 0 and said.count("ask with --unit for each") == 1, "S3-22: a gap that no unit has words for is said", said)

    def promise(self):
        """What a file is held to is what was asked of the compiler."""
        start = "devimg_targets = 'tgllp'\ndevimg_cpu = 'none'\n"
        check = SHOW + "devimg_checks = {'x': {'files': files('meson.build')%s}}\nsubdir('devimg/check')\n"
        gap = "unit:a.cpp without tgllp: it crashes"
        usual = {"targets": "tgllp", "fallback": "spir64", "compression": "required"}
        policy = "version: 1\nfallback: [spir64]\n"
        for name, lines, more, expected in (
                ("nothing more", "", "", usual),
                ("raw", "devimg_flags = ['--no-compression']\n", "", {"targets": "tgllp", "fallback": "spir64"}),
                ("no fallback", "devimg_flags = ['--fallback=']\n", "", dict(usual, fallback="")),
                ("another fallback", "devimg_flags = ['--strict-fp', '--fallback', 'spirv64']\n", "", dict(usual, fallback="spirv64")),
                ("one word", "devimg_flags = '--fallback=spirv64'\n", "", dict(usual, fallback="spirv64")),
                ("a gap", "devimg_flags = ['--gap', '%s']\ndevimg_units = ['a.cpp']\n" % gap, "", dict(usual, gap=gap)),
                ("a policy", "devimg_policy = files('p.yaml')\ndevimg_flags = ['--no-compression', '--fallback=spirv64']\n", "",
                 {"policy": "p.yaml", "targets": "tgllp", "fallback": "spirv64"}),
                ("a policy of its own", "", ", 'policy': files('p.yaml')", {"policy": "p.yaml", "targets": "tgllp"}),
                ("no list", "devimg_flags = []\n", "", dict(usual, targets="")),
                ("acpp", "devimg_compiler = 'acpp'\n", "", None), ("clang", "devimg_compiler = 'clang'\n", "", None)):
            p = self.path("p", "promise " + name)
            os.makedirs(p)
            with open(os.path.join(p, "p.yaml"), "w", encoding="utf-8") as f:
                f.write(policy)
            status, said, *_ = self.show("promise " + name, (start.replace("tgllp", "") if name == "no list" else start) + lines, source=check % more)
            found = {}
            for test in json.loads(self.run("meson", "introspect", "--tests", os.path.join(p, "b"))[1]) if status == 0 else ():
                words = iter(test["cmd"][2:-1])
                for word in words:
                    option, eq, value = word[2:].partition("=")
                    found[option] = value if eq else next(words)
            if "policy" in found:
                found["policy"] = os.path.basename(found["policy"])
            with open(os.path.join(p, "b", "build.ninja"), encoding="utf-8") as f:
                built = "x.checked" in f.read()
            self.say(status == 0 and found == (expected or {}) and built == bool(expected) and
                     (expected is not None or "devimg check x: left out, the SYCL compiler is %s, not icpx" % name in said),
                     "S1-6, S3-20: what a file is held to: " + name, found, said)
        for option in ("compiler", "targets", "policy", "also"):
            status, said, *_ = self.show("own " + option, start + "devimg_flags = ['--%s=x']" % option)
            self.say(status == 1 and "has a variable of its own: devimg_" in said, "devimg_flags: --%s is refused" % option, said)

    # --- where programs are ---

    def finding(self):
        """PATH is in every other test; here: a machine file, pip's place, a cross build, a subproject."""
        jit = "devimg_targets = ''\ndevimg_cpu = 'none'"
        nowhere = link_programs(self.path("nowhere"), *PROGRAMS)
        env = {"PATH": nowhere}
        status, said, *_ = self.show("not found", jit, env)
        self.say(status == 1 and "pip install" in said and "[binaries] devimg" in said, "devimg is not there: where to put it", said)
        native = self.script("native.ini", "[binaries]\ndevimg = '%s'\n" % self.programs, self.folder)
        status, said, *_ = self.show("machine file", jit, env, ["--native-file", native])
        self.say(status == 0, "devimg is found in a machine file", said)
        venv = self.path("venv", "bin")
        self.run("/usr/bin/python3", "-m", "venv", "--without-pip", "--system-site-packages", self.path("venv"))
        shutil.copy(self.programs, venv)
        status, _ = self.run(os.path.join(venv, "python"), "-c", "import mesonbuild")
        if status == 0:
            with open(shutil.which("meson"), encoding="utf-8") as f:
                self.script("meson", re.sub(r"^#!.*", "#!" + os.path.join(venv, "python"), f.read()), nowhere + "/../venv/bin")
            os.remove(os.path.join(nowhere, "meson"))
            os.symlink(os.path.join(venv, "meson"), os.path.join(nowhere, "meson"))
            status, said, *_ = self.show("pip", jit, env)
            self.say(status == 0 and os.path.join(venv, "devimg") in said, "devimg is found beside the Python of Meson, where pip puts it", said)
        else:
            print("skipped: meson: devimg installed by pip: this Python has no mesonbuild")
        wrong = self.script("wrong", "#!/bin/sh\nexit 9\n", self.folder)
        self.script("sycl-ls", "#!/bin/sh\ntouch '%s'\necho '[opencl:cpu] A'\n" % self.path("ran"))
        cross = self.script("cross.ini", "[binaries]\ncpp = 'icpx'\nar = 'ar'\ndevimg = '%s'\nocloc = '%s'\n[host_machine]\nsystem = 'linux'\n"
                            "cpu_family = 'aarch64'\ncpu = 'aarch64'\nendian = 'little'\n" % (wrong, wrong), self.folder)
        b = self.path("cross")
        status, said = self.run("meson", "setup", "--cross-file", cross, b, self.example)
        self.say(status == 0 and "sycl-ls is not asked" in said and "CPU device code: OFF" in said and not os.path.exists(self.path("ran")),
                 "cross: devimg and ocloc are those of this machine, its devices are not", said)
        status, said = self.run("ninja", "-j2", "-C", b)
        self.say(status == 0 and "libops.so: pass, 3 targets" in said, "cross: built and checked", said)
        os.remove(os.path.join(self.bin, "sycl-ls"))

    def subproject(self):
        p = self.path("super")
        os.makedirs(os.path.join(p, "subprojects"))
        os.symlink(self.root, os.path.join(p, "subprojects", "devimg"))
        os.symlink(os.path.join(self.root, "meson", "devimg"), os.path.join(p, "devimg"))
        with open(os.path.join(p, "meson.build"), "w", encoding="utf-8") as f:
            f.write("project('p')\nsubproject('devimg')\ndevimg_checks = {'x': {'files': files('meson.build')}}\nsubdir('devimg/check')\n")
        status, said = self.run("meson", "setup", os.path.join(p, "b"), p, CXX="c++")
        ninja = ""
        if status == 0:
            _, ninja = self.run("ninja", "-C", os.path.join(p, "b"), "-t", "query", "devimg/check/x.checked")
        self.say("subprojects/devimg/src/devimg" in ninja and "default-intel" in open(os.path.join(p, "b", "build.ninja"), encoding="utf-8").read(),
                 "devimg as a subproject: the check waits for it", ninja, said)

    # --- docs/meson.md: one command a unit, and a gap ---

    def page(self):
        p, b = self.path("page"), self.path("page-b")
        with open(os.path.join(self.root, "docs", "meson.md"), encoding="utf-8") as f:
            block = re.search(r"```meson\n(.*?)```", f.read(), re.S)
        self.say(block is not None, "the page has a project")
        os.mkdir(p)
        with open(os.path.join(p, "meson.build"), "w", encoding="utf-8") as f:
            f.write(block.group(1))
        with open(os.path.join(p, "devimg.yaml"), "w", encoding="utf-8") as f:
            f.write("version: 1\nfallback: [spir64]\ncompression: required\ngaps:\n  - unit: scale.cpp\n    without: [dg2-g10]\n"
                    "    reason: the compiler crashes on it\n")
        os.symlink(os.path.join(self.root, "meson", "devimg"), os.path.join(p, "devimg"))
        for path in glob.glob(os.path.join(self.example, "src", "*")):
            shutil.copy(path, p)
        status, said = self.run("meson", "setup", b, p)
        self.say(status == 0 and "WARNING: scale.cpp: no native image for dg2-g10: the compiler crashes on it" in said, "S3-22: a gap is said", said)
        status, said = self.run("ninja", "-j2", "-C", b)
        found = {os.path.basename(l[-1]): self.words_of(l) for l in self.logged() if "-c" in l}
        self.say(found == {"scale.cpp": compile_words("tgllp,adl-s"), "count.cpp": compile_words()}, "S3-22: the words of each unit", found, said)
        self.say(status == 0 and "libfoo.so: pass" in said, "S3-22: the check knows the gap", said)

    def installed(self):
        """What `meson install` puts into share/ is the whole of the folder."""
        with open(os.path.join(self.build.folder, "meson-info", "intro-installed.json"), encoding="utf-8") as f:
            found = [(a, b.partition("/share/devimg/meson/devimg/")[2]) for a, b in json.load(f).items()]
        source = os.path.join(self.root, "meson", "devimg")
        expected = [os.path.join(at, n) for at, _, names in os.walk(source) for n in names]
        found = sorted(a for a, b in found if b and os.path.join(source, b) == a)
        self.say(found == sorted(expected) and len(found) == 4, "the folder is installed", found)

    def all(self):
        if not shutil.which("ocloc") or not shutil.which("clang++-19"):
            print("skipped: meson: there is no ocloc, or no clang-19")
            return
        self.build_example()
        self.checks_again()
        self.missing_images()
        self.another_list()
        self.cpu_on()
        self.page()
        self.cpu_requests()
        self.ocloc()
        self.units()
        self.promise()
        self.finding()
        self.subproject()
        self.installed()
