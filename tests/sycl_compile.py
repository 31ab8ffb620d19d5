# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl compile` with stand-ins for icpx, nvcc and ocloc, with tests/stand_in/icpx, and with ocloc itself. Suite `compile`.

The names of tests are those of docs/requirements.md. What a stand-in was called with stands in a log, one JSON line a call."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
# A compiler that records its words, writes what it is asked for and a rule for make with the files that its source includes, and
# refuses what the source says it does: "// refuse TARGET: TEXT", "// hang", "// crash", "// silent TARGET".
COMPILER = r'''#!%s
import json, os, re, sys, time
argv = sys.argv[1:]
def after(word):
    return argv[argv.index(word) + 1] if word in argv else None
target = next((a.split(" ")[1] for a in argv if a.startswith("-device ")), None) or after("-device")
target = target or next((a.split("=")[1] for a in argv if a.startswith("-arch=")), "?")
source = next(a for a in argv if re.search(r"\.(cpp|cu|cl|spv|h)$", a) and os.path.exists(a))
with open(os.environ["COMPILE_LOG"], "a") as f:
    f.write(json.dumps({"argv": sys.argv, "cwd": os.getcwd(), "source": os.path.basename(source), "target": target}) + "\n")
def read(path, seen):
    seen.append(path)
    text = open(path, errors="replace").read()
    for name in re.findall(r'^#include "([^"]+)"', text, re.M):
        if os.path.join(os.path.dirname(path), name) not in seen:
            text += read(os.path.join(os.path.dirname(path), name), seen)
    return text
seen = []
text = read(source, seen)
if "// hang" in text:
    if os.fork() == 0:
        time.sleep(300)
    time.sleep(300)
if "// crash" in text:
    os.abort()
if after("-MF"):
    with open(after("-MF"), "w") as f:
        f.write(("x : " if "-arch=" in " ".join(argv) else "x: ") + " \\\n ".join(p.replace(" ", "\\ ").replace("$", "$$") for p in seen) + "\n")
for name, what in re.findall(r"// refuse (\S+): (.*)", text):
    if name == target:
        print(what.replace("\\n", "\n"), file=sys.stderr)
        sys.exit(1)
if "// silent %%s\n" %% target not in text:
    open(after("-o") or after("-output"), "w").write("code")
''' % sys.executable
NARROW = "[%s] error: in kernel 'narrow(int*)': Kernel compiled with required subgroup size 8, which is unsupported on this platform"
WORDS = ["-fsycl", "-fno-sycl-rdc", "-fsycl-targets=spir64_gen", "-Xsycl-target-backend=spir64_gen"]  # S1-11, without compression


class SyclCompile:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.tools = self.path("tools")
        self.log = self.path("log")
        self.work = self.path("work")
        for name in ("icpx", "nvcc", "ocloc"):
            self.write("tools/" + name, COMPILER, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def append(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "a", encoding="utf-8") as f:
            f.write(text)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def say(self, good, name, *what):
        self.build.say(good, "compile: " + name, "found %s" % (what,))

    def environment(self, **more):
        env = dict(self.build.env, PATH=self.tools + ":" + os.environ["PATH"], COMPILE_LOG=self.log, XDG_CACHE_HOME=self.path("cache"))
        env.update(more)
        return env

    def raw(self, *args, cwd=None, env=None):
        p = subprocess.run([self.build.program, "sycl", "compile", *args], cwd=cwd or self.folder, env=env or self.environment(),
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")

    def run(self, *args, **more):
        """(exit status, document, what was called since, stderr)"""
        before = len(self.calls())
        status, out, err = self.raw("--format", "json", *args, **more)
        return status, json.loads(out) if out else {}, self.calls()[before:], err

    def calls(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    @staticmethod
    def ran(calls):
        return sorted((c["source"], c["target"]) for c in calls)

    @staticmethod
    def failing(doc):
        return [(u["unit"], t["target"], t["kernel"], t["sub_group_size"]) for u in doc["units"] for t in u["targets"] if not t["ok"]]

    # ---- what is compiled ----

    def matrix(self):
        targets = ["dg2-g10", "lnl-m", "bmg-g21", "bmg-g31"]
        self.write("src/fine.cpp", "int a;\n")
        self.write("src/narrow.cpp", "".join("// refuse %s: %s\n" % (t, NARROW % t) for t in targets[1:]))
        units = ["src/fine.cpp", "src/narrow.cpp"]
        status, doc, calls, err = self.run(*units, "--targets", ",".join(targets), "-j", "3")
        self.say(status == 1 and self.failing(doc) == [("src/narrow.cpp", t, "narrow(int*)", 8) for t in targets[1:]] and
                 doc["verdict"] == "fail" and (doc["ok"], doc["failed"]) == (5, 3),
                 "S1-28, S2-3: every target that refuses, with kernel and size", status, doc, err)
        self.say(self.ran(calls) == sorted((os.path.basename(u), t) for u in units for t in targets), "S2-3: a command a target", calls)
        status, doc, calls, _ = self.run(*units)
        self.say(len(doc["targets"]) == 19 and len(calls) == 2 * (19 - 4) and len(self.failing(doc)) == 3,
                 "S2-12, S2-20: all 19 by default; what is known is not compiled again", doc["targets"], len(calls))
        status, out, _ = self.raw(*units, "--targets", ",".join(targets))
        lines = out.splitlines()
        self.say(status == 1 and lines[0].startswith("FAIL: 3 of 8 compiles fail") and lines[2].split() == ["UNIT", "dg2-g10", "lnl-m+2"] and
                 [line.split() for line in lines[3:5]] == [[units[0], "ok", "ok"], [units[1], "ok", "FAIL"]] and
                 [line.split()[:4] for line in lines if "narrow(int*)" in line] == [[units[1], "lnl-m,bmg-g21,bmg-g31", "narrow(int*)", "8"]] and
                 "ocloc ends at the first kernel" in out, "S1-28: the table, and a row for targets that fail alike", out)
        self.say([t["complete"] for u in doc["units"] for t in u["targets"] if t["target"] in ("dg2-g10", "lnl-m")] == [True, True, True, False],
                 "JSON says where more kernels may be refused", doc)
        status, out, _ = self.raw(*units, "--targets", ",".join(targets), "-v")
        self.say("[bmg-g31] error: in kernel" in out and sum(line.split()[:3:2] == [units[1], "narrow(int*)"] for line in out.splitlines()) == 3 and out.splitlines()[2].split() == ["UNIT", *targets], "-v: a column a target, and the logs", out)
        status, out, _ = self.raw("src/fine.cpp", "--targets", "lnl-m", "-q")
        self.say(status == 0 and out == "pass: 1 of 1 compile succeeds (1 unit, 1 target; 0 compiled, 1 unchanged)\n", "-q, pass", status, out)

    def words_of_icpx(self):
        lines = [
            ("icpx -DX='a b' -O2 -fsycl -fsycl-targets=spir64_gen,spir64 -Xsycl-target-backend=spir64_gen \"-device tgllp,pvc -options -cl-x\" "
             "--offload-compress --offload-compression-level=22 -fno-sycl-rdc -MD -MT a.o -MF a.d -c ../src/a.cpp -o a.o", "../src/a.cpp"),
            # the same for a static library: one unit
            ("icpx -DX='a b' -O2 -fsycl -fsycl-targets=spir64_gen,spir64 -Xsycl-target-backend=spir64_gen \"-device tgllp,pvc -options -cl-x\" "
             "--offload-compress --offload-compression-level=22 -fno-sycl-rdc -MD -MT b.o -MF b.d -c ../src/a.cpp -o b.o", "../src/a.cpp"),
            ("ccache icpx -Xclang -MD -fsycl -Xs \"-device pvc\" -c ../src/b.cpp -o c.o", "../src/b.cpp"),
            ("g++ -c ../src/host.cpp -o d.o", "../src/host.cpp"),
            ("icpx -c ../src/host.cpp -o e.o", "../src/host.cpp"),
            ("icpx -fsycl a.o b.o -o prog", "a.o"),
            ("icx-cl -fsycl /c ../src/c.cpp", "../src/c.cpp"),
            ("nvcc -DY -gencode arch=compute_80,code=sm_80 --generate-code=arch=compute_90,code=[compute_90,sm_90] -dc -x cu ../src/d.cu -o f.o",
             "../src/d.cu"),
            ("ocloc compile -q -file ../src/e.cl -device pvc,dg2-g10 -output k -out_dir . -options -cl-fast", "../src/e.cl"),
        ]
        for name in ("a.cpp", "b.cpp", "c.cpp", "host.cpp", "d.cu", "e.cl"):
            self.write("src/" + name, "int x;\n")
        folder = self.path("b1")
        os.makedirs(folder)
        self.write("b1/compile_commands.json", json.dumps([{"directory": folder, "command": c, "file": f} for c, f in lines]))
        status, doc, calls, err = self.run("--build", "b1", "--targets", "lnl-m,sm_90a")
        by_source = {c["source"]: c for c in calls}
        self.say(status == 0 and sorted(by_source) == ["a.cpp", "b.cpp", "d.cu", "e.cl"] and len(calls) == 4 and
                 [u["unit"] for u in doc["units"]] == ["src/a.cpp", "src/b.cpp", "src/d.cu", "src/e.cl"],
                 "S1-34(b): SYCL, CUDA and OpenCL units of compile_commands.json; host code and links are none", status, doc, err)
        self.say("icx-cl" in err, "a compiler that nobody knows is said", err)
        words = lambda name: [w for w in by_source[name]["argv"][1:] if not w.startswith(self.folder + "/")]
        self.say(words("a.cpp") == ["-DX=a b", "-O2", "-Xsycl-target-backend=spir64_gen", "-options -cl-x", "../src/a.cpp", *WORDS,
                                    "-device lnl-m", "-MD", "-MF", "-c", "-o"], "S1-34(b): icpx, whatever the build is configured for", words("a.cpp"))
        self.say(words("b.cpp") == ["-Xclang", "-MD", "../src/b.cpp", *WORDS, "-device lnl-m", "-MD", "-MF", "-c", "-o"], "ccache, -Xs, a word that -Xclang hands on", words("b.cpp"))
        self.say(words("d.cu") == ["-DY", "-x", "cu", "../src/d.cu", "-rdc=true", "-arch=sm_90a", "-MD", "-MF", "-cubin", "-o"],
                 "nvcc: device code only, for one GPU", words("d.cu"))
        self.say(words("e.cl") == ["compile", "-file", "../src/e.cl", "-options", "-cl-fast", "-device", "lnl-m", "-output", "-output_no_suffix"],
                 "ocloc", words("e.cl"))
        self.say(all(c["cwd"] == os.path.realpath(folder) for c in calls), "commands run where the build has them", calls)
        self.say(os.path.isdir(self.path("b1/devimg-compile/edges")), "results lie in the build")
        status, doc, calls, err = self.run("--build", "b1", "--targets", "lnl-m")
        self.say(status == 0 and not calls and "1 CUDA unit is left out" in err, "no target of a vendor: said", status, calls, err)
        status, doc, _, _ = self.run("--build", "b1", "--targets", "sm_90a,lnl-m,sm_80,dg1")
        self.say(doc["targets"] == ["lnl-m", "dg1", "sm_90a", "sm_80"], "targets in the order of the list, CUDA behind Intel", doc)
        status, doc, calls, _ = self.run("--build", "b1/compile_commands.json", "--targets", "pvc", "--only", "*.cl", "--only", "b.*")
        self.say(status == 0 and self.ran(calls) == [("b.cpp", "pvc"), ("e.cl", "pvc")], "--only", status, calls)
        status, doc, calls, _ = self.run("--build", "b1", "--targets", "pvc", "--only", "a.cpp", "--flag=-DMORE", "--icpx", "tools/../tools/icpx")
        self.say(status == 0 and "-DMORE" in calls[0]["argv"], "--flag, --icpx", status, calls)

    def build_ninja(self):
        folder = self.path("b2")
        os.makedirs(folder)
        self.write("b2/build.ninja", "rule cxx\n  command = icpx -fsycl -MD -MF $out.d -c $in -o $out\nrule ln\n  command = icpx -fsycl $in -o $out\n"
                   "rule cl\n  command = cd %s && ocloc compile -file sub.cl -device pvc -output k && touch $out\n"
                   "build a.o: cxx ../src/a.cpp\nbuild prog: ln a.o\nbuild k: cl ../src/sub.cl\n" % self.path("src"))
        self.write("src/sub.cl", "int x;\n")
        for build in ("b2", "b2/build.ninja"):
            status, doc, calls, err = self.run("--build", build, "--targets", "pvc", "--again")
            self.say(status == 0 and self.ran(calls) == [("a.cpp", "pvc"), ("sub.cl", "pvc")] and
                     [u["unit"] for u in doc["units"]] == ["src/a.cpp", "src/sub.cl"], "S1-34(b): units of " + build, status, doc, err)
        self.write("units.txt", "# units\nsrc/a.cpp\n\n  src/sub.cl\n")
        status, doc, calls, err = self.run("--units", "units.txt", "--targets", "pvc", "--work", "w3")
        self.say(status == 0 and self.ran(calls) == [("a.cpp", "pvc"), ("sub.cl", "pvc")], "--units", status, doc, err)

    # ---- what is compiled again ----

    def again(self):
        t = self.path("again")
        for name, text in {"u1.cpp": '#include "both.h"\n', "u2.cpp": '#include "both.h"\n#include "two.h"\n', "u3.cpp": "int z;\n",
                           "c.cl": '#include "two.h"\n', "both.h": "int b;\n", "two.h": "int t;\n"}.items():
            self.write("again/" + name, text)
        args = ["u1.cpp", "u2.cpp", "u3.cpp", "c.cl", "--targets", "pvc,dg2-g10", "--work", "w", "-j", "2"]
        pairs = lambda *names: sorted((n, t) for n in names for t in ("pvc", "dg2-g10"))
        everything = pairs("u1.cpp", "u2.cpp", "u3.cpp", "c.cl")

        def expect(name, wanted, *more, env=None, status=0):
            found, doc, calls, err = self.run(*args, *more, cwd=t, env=env)
            self.say(found == status and self.ran(calls) == wanted and doc["cached"] == 8 - len(wanted), "cache: " + name, found,
                     self.ran(calls), doc, err)

        expect("first", everything)
        expect("nothing changed", [])
        os.utime(os.path.join(t, "both.h"))
        expect("a header has another time and the same bytes", [])
        self.write("again/both.h", "int c;\n")
        expect("a header: exactly its users", pairs("u1.cpp", "u2.cpp"))
        stamp = os.stat(os.path.join(t, "both.h"))
        self.write("again/both.h", "int d;\n")
        os.utime(os.path.join(t, "both.h"), ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        expect("a header with the same size and time, and other bytes", pairs("u1.cpp", "u2.cpp"))
        self.write("again/both.h", "int c;\n")
        expect("a header as it was when it was compiled last but one", pairs("u1.cpp", "u2.cpp"))
        self.write("again/two.h", "int u;\n")
        expect("a header of SYCL and OpenCL C", pairs("u2.cpp", "c.cl"))
        self.write("again/u3.cpp", "int zz;\n")
        expect("a unit", pairs("u3.cpp"))
        sycl = pairs("u1.cpp", "u2.cpp", "u3.cpp")
        self.write("tools/icpx", COMPILER + "# another one\n", 0o755)
        expect("icpx is another one: all of its units", sycl)
        self.write("tools/ocloc", COMPILER + "# another one\n", 0o755)
        expect("ocloc is another one: all, as icpx runs it", everything)
        self.write("tools/sycl-post-link", "a part of icpx\n", 0o755)
        expect("a part of icpx is another one", sycl)
        expect("a variable that icpx reads", sycl, env=self.environment(CPATH="/nowhere"))
        expect("a variable that ocloc reads", everything, env=self.environment(IGC_x="1"))
        expect("a variable that nobody reads", [], env=self.environment(MY_OWN="1"))
        expect("a variable that the user names", everything, "--env", "MY_*", env=self.environment(MY_OWN="1"))
        expect("a word", everything, "--flag=-DMORE")
        expect("a launcher is no word", [], "--launcher", "env")
        expect("--again", everything, "--again")
        expect("and as it was", [])
        edges = os.path.join(t, "w", "edges")
        for name in os.listdir(edges):
            with open(os.path.join(edges, name), "r+b") as f:
                f.truncate(20)
        expect("results that were cut", everything)
        for name in os.listdir(edges):
            with open(os.path.join(edges, name), "wb") as f:
                f.write(os.urandom(3000))
        expect("results that are nonsense", everything)
        expect("which are replaced", [])
        for name in os.listdir(os.path.join(t, "w", "lists")):
            with open(os.path.join(t, "w", "lists", name), "ab") as f:
                f.write(b"/nowhere\n")
        expect("lists of headers that were changed", everything)
        with open(os.path.join(t, "w", "files"), "w", encoding="utf-8") as f:
            f.write("devimg files 1\n" + "0" * 64 + " 1 2 3 4 5 /x\nnonsense\n" + "z" * 70 + "\n")
        expect("nonsense in the list of files", [])
        os.remove(os.path.join(t, "both.h"))
        expect("a header that is gone: its users fail", pairs("u1.cpp", "u2.cpp"), status=1)
        self.write("again/both.h", "int c;\n")
        expect("and is there again", [])
        self.write("again/c.cl", "/* a size */ #inc\\\nlude /* of all */ \"two.h\"\n/*\n #include \"gone.h\"\n*/\n")
        expect("an include in two lines, with comments", pairs("c.cl"))
        expect("and one in a comment, which names nothing", [])
        self.write("again/two.h", "int v;\n")
        expect("a header that is named so", pairs("u2.cpp", "c.cl"))
        self.write("again/c.cl", "#define H \"two.h\"\n#include H\n")
        expect("an include behind a macro", pairs("c.cl"))
        expect("is never known", pairs("c.cl"))
        self.say(not [n for n in os.listdir(os.path.join(t, "w")) if n.startswith("devimg-")], "no folder of outputs is left", os.listdir(os.path.join(t, "w")))

    def never_kept(self):
        self.write("bad/silent.cpp", "// silent pvc\n")
        self.write("bad/crash.cpp", "// crash\n")
        self.write("bad/quiet.cpp", "// refuse pvc: \n")
        for _ in range(2):
            status, doc, calls, err = self.run("bad/silent.cpp", "bad/crash.cpp", "bad/quiet.cpp", "--targets", "pvc", "--work", "w4")
            said = [u["targets"][0]["message"] for u in doc["units"]]
            names = sorted({c["source"] for c in calls})
            self.say(status == 1 and "no output" in said[0] and "signal" in said[1] and said[2] == "exit status 1, without a message" and
                     {"crash.cpp", "silent.cpp"} <= set(names), "no output, a crash, no word: failures, the first two never known", status, said, names, err)

    def not_all(self):
        """What a compiler says is more than is told, or is not about the unit."""
        many = "\\n".join("a.cpp:%d:1: error: no" % n for n in range(70))
        self.write("many/many.cpp", "// refuse pvc: %s\n" % many)
        for target in ("pvc", "tgllp", "dg1", "adl-s"):
            self.append("many/alike.cpp", "// refuse %s: error: no\n" % target)
        self.write("many/loud.cpp", "// refuse pvc: %s\n" % ("x" * (1 << 20) + "\\nerror: late"))
        line = ["many/many.cpp", "many/loud.cpp", "--targets", "pvc", "--work", "w4"]
        status, doc, _, err = self.run(*line)
        found = [(len(t["failures"]), t["complete"]) for u in doc["units"] for t in u["targets"]]
        again, out, _ = self.raw(*line)
        self.say(status == again == 1 and found[0] == (64, False) and not found[1][1] and "many.cpp for pvc has more errors than these: -v" in out and
                 "loud.cpp for pvc has more errors than these: the compiler printed more than is kept" in out, "failures past a limit are said", found, out, err)
        status, out, err = self.raw("many/alike.cpp", "--targets", "pvc,tgllp,dg1,adl-s", "--work", "w4")
        self.say(status == 1 and ["many/alike.cpp", "all", "4"] in [line.split()[:3] for line in out.splitlines()], "a failure of every target is one row", out, err)
        plain = self.write("plain/clang++", "#!/bin/sh\nfor w in -fno-sycl-rdc -fsycl-targets=spir64_gen; do echo \"clang++: error: unknown argument: '$w'\" >&2; done\nexit 1\n", 0o755)
        status, doc, _, err = self.run("bad/quiet.cpp", "--targets", "pvc,tgllp", "--icpx", plain, "--work", "w4")
        said = [[f["message"] for f in t["failures"]] for u in doc["units"] for t in u["targets"]]
        self.say(status == 1 and [len(s) for s in said] == [1, 1] and "is not DPC++" in said[0][0] and "--icpx" in said[0][0],
                 "a clang++ that is not DPC++ is called so", said, err)
        self.write("tools/gone", "#!/bin/sh\nfor w; do [ \"$last\" = -o ] && rm -r \"${w%/*}\"; last=$w; done\n", 0o755)
        status, doc, _, err = self.run("bad/quiet.cpp", "--targets", "pvc", "--icpx", self.path("tools/gone"), "--work", "w4")
        self.say(status == 1 and "no output" in doc["units"][0]["targets"][0]["message"], "a compiler that removes its folder", status, doc, err)

    def shells(self):
        """S1-34(b): what a shell would read is not read, but said."""
        for command, said in (("sh -c 'cd /; ocloc compile -file a.cl -device pvc > log'", "ocloc"), ("/bin/bash -ec \"icpx -fsycl -c a.cpp\"", "icpx"),
                              ("sh -c 'echo ocloc'", None), ("sh -c", None), ("sh run.sh ocloc", None)):
            self.write("sh/compile_commands.json", json.dumps([{"directory": self.folder, "file": "a.cl", "command": command}]))
            status, _, err = self.raw("--build", "sh", "--targets", "pvc")
            self.say(status == 77 and (("1 line starts %s inside the words of a shell" % said in err) if said else not err), "a compiler in the words of a shell: " + command,
                     status, err)

    # ---- limits and signals ----

    def alive(self):
        out = subprocess.run(["ps", "-eo", "pid,args"], stdout=subprocess.PIPE, check=True).stdout.decode()
        return [line for line in out.splitlines() if self.tools in line and os.path.basename(line.split()[1]) != "devimg"]

    def hangs(self):
        self.write("bad/hang.cpp", "// hang\n")
        self.write("bad/fine.cpp", "int f;\n")
        start = time.monotonic()
        status, doc, _, err = self.run("bad/hang.cpp", "bad/fine.cpp", "--targets", "pvc", "--work", "w5", "--timeout", "2", "-j", "2")
        states = [u["targets"][0]["state"] for u in doc["units"]]
        self.say(status == 1 and states == ["timed-out", "ok"] and time.monotonic() - start < 60 and "within 2 s" in doc["units"][0]["targets"][0]["message"],
                 "a time limit for each command", status, states, err)
        time.sleep(0.2)
        self.say(not self.alive(), "what hangs is ended with its children", self.alive())

    def signals(self):
        for sign in (signal.SIGTERM, signal.SIGINT):
            work = self.path("w-%d" % sign)
            p = subprocess.Popen([self.build.program, "sycl", "compile", "bad/fine.cpp", "bad/hang.cpp", "--targets", "pvc,tgllp", "-j", "4",
                                  "--work", work, "--junit", work + ".xml"], cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and (not self.alive() or not os.path.isdir(work + "/edges") or len(os.listdir(work + "/edges")) < 2):
                time.sleep(0.05)
            running = self.alive()
            p.send_signal(sign)
            out, err = p.communicate(timeout=60)
            left = [n for n in os.listdir(work) if n.startswith("devimg-")]
            time.sleep(0.2)
            self.say(p.returncode == -sign and running and not out and not left and not self.alive() and not os.path.exists(work + ".xml"),
                     "signal %d: children end, nothing is half-written" % sign, p.returncode, out, err, left, self.alive())
            status, doc, calls, _ = self.run("bad/fine.cpp", "--targets", "pvc,tgllp", "--work", work)
            self.say(status == 0 and not calls and doc["cached"] == 2, "signal %d: what was done is kept" % sign, status, calls, doc)

    def jobs(self):
        """At most N at a time, and N where there is work: each call notes when it starts and ends."""
        tool = self.write("slow/icpx", "#!%s\nimport sys, time\na = time.time()\ntime.sleep(0.4)\nopen(sys.argv[sys.argv.index('-o') + 1], 'w').write('x')\n"
                          "open(%r, 'a').write('%%f %%f\\n' %% (a, time.time()))\n" % (sys.executable, self.path("times")), 0o755)
        for more, env, most in ((["-j", "1"], {}, 1), (["-j", "3"], {}, 3), ([], {"DEVIMG_JOBS": "2"}, 2)):
            if os.path.exists(self.path("times")):
                os.remove(self.path("times"))
            self.run("bad/fine.cpp", "--targets", "pvc,tgllp,dg2-g10,adl-s", "--icpx", tool, "--work", "w6", "--again", *more, env=self.environment(**env))
            with open(self.path("times"), encoding="utf-8") as f:
                spans = [tuple(map(float, line.split())) for line in f]
            together = max(sum(a <= s < b for a, b in spans) for s, _ in spans)
            self.say(len(spans) == 4 and together <= most and (most == 1 or together > 1), "S1-34(b): %s %s" % (more, env), spans)

    # ---- launchers and files ----

    def launcher(self):
        run = self.write("launch/my run", "#!/bin/sh\nfor w in \"$@\"; do printf '%%s\\n' \"$w\"; done >>'%s'\nshift 2\nexec \"$@\"\n" % self.path("launched"), 0o755)
        status, _, calls, err = self.run("src/a.cpp", "--targets", "pvc,dg2-g10", "--work", "w7", "-j", "1", "--launcher", "'%s' -n1 \"$HOME;a b\"" % run)
        with open(self.path("launched"), encoding="utf-8") as f:
            said = f.read().splitlines()
        self.say(status == 0 and len(calls) == 2 and said[:3] == ["-n1", "$HOME;a b", os.path.join(self.tools, "icpx")] and said.count("-n1") == 2,
                 "--launcher: words before each command, no shell", status, said, err)
        refuses = self.write("launch/full", "#!/bin/sh\necho 'error: Unable to allocate resources' >&2\nexit 1\n", 0o755)
        line = ["src/a.cpp", "--targets", "pvc", "--work", "w7b"]
        status, doc, _, err = self.run(*line, "--launcher", refuses)
        again = self.run(*line)
        self.say(status == 1 and "Unable to allocate" in str(doc) and again[0] == 0 and again[1]["cached"] == 0,
                 "--launcher: what it failed at is not kept", status, doc, again[:2], err)
        for text in ("", "'open", "/nowhere/run"):
            status, out, err = self.raw("src/a.cpp", "--launcher", text)
            self.say(status == 2 and not out and "--launcher" in err, "--launcher %r is wrong usage" % text, status, err)

    def ninja(self):
        t = self.path("n")
        for name, text in {"u one.cpp": '#include "h$h.h"\n', "u2.cpp": "// refuse lnl-m: %s\n" % (NARROW % "lnl-m"), "h$h.h": "int h;\n",
                           "c.cl": '#include "c.h"\n', "c.h": "int c;\n"}.items():
            self.write("n/" + name, text)
        mark = self.write("n/l", "#!/bin/sh\necho >>'%s/marks'\nexec \"$@\"\n" % t, 0o755)
        status, out, err = self.raw("u one.cpp", "u2.cpp", "c.cl", "--targets", "pvc,lnl-m", "--flag=-DA='it $x", "--work", "w", "--ninja", "e.ninja",
                                    "--launcher", mark, cwd=t)
        self.say(status == 0 and "6 commands" in out and not os.path.exists(os.path.join(t, "w")), "--ninja: a file, and nothing is run", status, out, err)
        status, out, err = self.raw("u2.cpp", "--targets", "pvc", "--ninja", "j.ninja", "--format", "json", cwd=t)
        self.say(status == 2 and "no JSON" in err and not os.path.exists(os.path.join(t, "j.ninja")), "--ninja with JSON is refused", status, out, err)

        def ninja():
            before = len(self.calls())
            p = subprocess.run(["ninja", "-k", "0", "-f", "e.ninja"], cwd=t, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            return p.returncode, self.ran(self.calls()[before:]), p.stdout.decode()

        status, ran, out = ninja()
        self.say(status != 0 and ran == sorted((n, x) for n in ("u one.cpp", "u2.cpp", "c.cl") for x in ("pvc", "lnl-m")) and
                 "subgroup size 8" in out and "FAILED" in out, "--ninja: ninja -k 0 runs the same", status, ran, out)
        self.say(all("-DA='it $x" in c["argv"] for c in self.calls()[-6:]), "--ninja: words survive the shell", self.calls()[-1])
        with open(os.path.join(t, "marks"), encoding="utf-8") as f:
            self.say(len(f.readlines()) == 6, "--ninja: the launcher stands before each edge")
        _, ran, out = ninja()
        self.say(ran == [("u2.cpp", "lnl-m")], "--ninja: what failed is run again", ran, out)
        time.sleep(0.05)
        self.write("n/h$h.h", "int i;\n")
        self.write("n/c.h", "int i;\n")
        _, ran, out = ninja()
        self.say(ran == [("c.cl", "lnl-m"), ("c.cl", "pvc"), ("u one.cpp", "lnl-m"), ("u one.cpp", "pvc"), ("u2.cpp", "lnl-m")], "--ninja: headers", ran, out)
        self.rules_of_ninja()
        self.write("n/mine.ninja", "rule mine\n")
        status, out, err = self.raw("u2.cpp", "--ninja", "mine.ninja", cwd=t)
        self.say(status == 3 and "is left alone" in err, "--ninja: a file of somebody else is left alone", status, err)

    def rules_of_ninja(self):
        """A build names sources and headers from its own folder, which is not the one where Ninja runs."""
        self.write("r/b d/compile_commands.json", json.dumps([{"directory": self.path("r/b d"), "file": "../" + f, "command": c + f}
                                                                for f, c in (("a.cpp", "icpx -fsycl -c ../"), ("d.cu", "nvcc -c ../"))]))
        self.write("r/d.cu", '#include "c.h"\n')
        self.write("r/a.cpp", '#include "a b.h"\n#include "c.h"\n')
        self.write("r/a b.h", "int a;\n")
        self.write("r/c.h", "int c;\n")
        status, out, err = self.raw("--build", "b d", "--targets", "pvc,sm_90", "--ninja", "e.ninja", cwd=self.path("r"))

        def ninja():
            before = len(self.calls())
            p = subprocess.run(["ninja", "-f", "e.ninja"], cwd=self.path("r"), env=self.environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
            return p.returncode, len(self.calls()) - before, p.stdout.decode()

        first, second = ninja(), ninja()
        time.sleep(0.05)
        self.write("r/a b.h", "int b;\n")
        third = ninja()
        self.write("r/c.h", "int d;\n")
        fourth = ninja()
        self.say(status == 0 and [r[:2] for r in (first, second, third, fourth)] == [(0, 2), (0, 0), (0, 1), (0, 2)],
                 "--ninja: relative names of a rule", status, first, second, third, fourth, err)
        self.say(not os.path.exists(self.path("r/.ninja_log")), "--ninja: its logs lie in the work folder")

    def junit(self):
        self.write("j/a.cpp", "// refuse lnl-m: a.cpp:1:1: error: <b> & \"c\" \x01\x7f ]]>\n")
        self.write("j/g.cpp", "// refuse lnl-m: %s\n" % (NARROW % "lnl-m"))
        gaps = ["--gap", "unit:g.cpp without lnl-m,pvc: IGC < 2.42 & worse"]
        status, doc, _, err = self.run("j/a.cpp", "j/g.cpp", "--targets", "pvc,lnl-m", "--work", "w8", "--junit", "j.xml", *gaps)
        root = xml.parse(self.path("j.xml")).getroot()
        cases = {(c.get("classname"), c.get("name")): [child.tag for child in c] for c in root.iter("testcase")}
        self.say(status == 1 and cases == {("j/a.cpp", "pvc"): [], ("j/a.cpp", "lnl-m"): ["failure"], ("j/g.cpp", "pvc"): [], ("j/g.cpp", "lnl-m"): ["skipped"]},
                 "--junit: a case a unit and target", status, cases, err)
        failure = next(root.iter("failure"))
        self.say(failure.get("message") == 'a.cpp:1:1: <b> & "c" ?\x7f ]]>' and 'error: <b>' in failure.text and
                 (root.get("tests"), root.get("failures"), root.get("skipped")) == ("4", "1", "1"), "--junit: escaped, counted", failure.get("message"), root.attrib)
        self.say([t["gap"] for t in doc["units"][1]["targets"]] == ["IGC < 2.42 & worse"] * 2 and (doc["gaps"], doc["failed"]) == (1, 1),
                 "S3-22: a declared gap may fail", doc)
        status, out, _ = self.raw("j/g.cpp", "--targets", "pvc,lnl-m", "--work", "w8", *gaps)
        self.say(status == 0 and "note: j/g.cpp for pvc: compiles now, so the gap is no longer needed" in out and " gap" in out, "S3-22: and is told when it does not", out)
        self.write("p.yaml", "version: 1\ntargets: [pvc, lnl-m]\ngaps:\n  - unit: \"*/g.cpp\"\n    without: [lnl-m]\n    reason: known\n")
        status, doc, _, err = self.run("j/g.cpp", "--policy", "p.yaml", "--work", "w8")
        self.say(status == 0 and doc["targets"] == ["pvc", "lnl-m"] and doc["gaps"] == 1, "--policy: targets and gaps", status, doc, err)
        self.write("p2.yaml", "version: 1\ntargets: [lnl-m]\ngaps:\n  - unit: j/g.cpp\n    without: [lnl-m]\n    reason: known\n"
                   "  - unit: nomatch.cpp\n    without: [lnl-m]\n    reason: known\n")
        for folder, only in ((self.folder, []), (self.path("j"), []), ("/", ["--only", "j/*.cpp"])):
            status, doc, _, err = self.run(self.path("j/g.cpp"), "--policy", self.path("p2.yaml"), "--work", self.path("w8"), *only, cwd=folder)
            self.say(status == 0 and doc["gaps"] == 1 and (doc["warnings"] == ['the gap "unit:nomatch.cpp" matches no unit']) == (not only),
                     "gaps and --only mean the same in every folder", folder, status, doc, err)
        self.two_ways()
        status, out, _ = self.raw("j/g.cpp", "--targets", "sm_80", "--junit", "j.xml")
        root = xml.parse(self.path("j.xml")).getroot()
        self.say(status == 77 and root.get("skipped") == "1" and "no target of Intel" in next(root.iter("skipped")).get("message"), "--junit: nothing to compile", status, out)

    def two_ways(self):
        self.write("t/a.cpp", "int a;\n")
        self.write("t/compile_commands.json", json.dumps([{"directory": self.path("t"), "file": "a.cpp", "command": "icpx -fsycl -DX=%d -c a.cpp" % x}
                                                          for x in (1, 2, 1)]))
        status, doc, _, err = self.run("--build", "t", "--targets", "pvc", "--junit", "t.xml")
        names = [c.get("classname") for c in xml.parse(self.path("t.xml")).getroot().iter("testcase")]
        self.say(status == 0 and [u["unit"] for u in doc["units"]] == names == ["t/a.cpp", "t/a.cpp (2)"], "a source that is compiled in two ways",
                 status, doc, names, err)
        os.makedirs(self.path("odd"))
        for name in ("a.cpp", "a.cpp (2)", "-x.cl", "a\nb.cl", "a'\"$;.cl"):
            with open(os.path.join(self.path("odd"), name), "w", encoding="utf-8") as f:
                f.write("int a;\n")
        odd = ["--targets", "pvc", "--work", self.path("w10")]
        self.write("odd/compile_commands.json", json.dumps([{"directory": self.path("odd"), "file": f, "arguments": ["icpx", "-fsycl", "-DX=%d" % i, "-c", f]}
                                                            for i, f in enumerate(("a.cpp", "a.cpp (2)", "a.cpp"))]))
        status, doc, _, err = self.run("--build", ".", *odd, cwd=self.path("odd"))
        self.say([u["unit"] for u in doc["units"]] == ["a.cpp", "a.cpp (2)", "a.cpp (3)"], "a file whose name is such a label", status, doc, err)
        files = ["-x.cl", "a\nb.cl", "a'\"$;.cl"]
        status, doc, _, err = self.run(*odd, "--junit", "odd.xml", "--", *files, cwd=self.path("odd"))
        names = [c.get("classname") for c in xml.parse(self.path("odd/odd.xml")).getroot().iter("testcase")]
        self.say(status == 0 and [u["unit"] for u in doc["units"]] == names == files, "odd names", status, doc, names, err)
        status, out, err = self.raw(*odd, "--ninja", "o.ninja", "--", "a\nb.cl", cwd=self.path("odd"))
        self.say(status == 3 and "line end" in err and not os.path.exists(self.path("odd/o.ninja")), "--ninja: no name with a line end", status, err)

    # ---- nothing to compile, wrong usage ----

    def nothing(self):
        bare = self.path("bare")
        os.makedirs(bare)
        alone = self.environment(PATH=bare)
        for name, args, env, text in (
                ("no icpx", ["src/a.cpp"], alone, "icpx"), ("no ocloc", ["src/e.cl"], alone, "intel-opencl-icd"), ("no nvcc", ["src/d.cu", "--targets", "sm_90"], alone, "nvcc"),
                ("icpx without ocloc", ["src/a.cpp", "--icpx", "tools/icpx"], alone, "icpx needs ocloc"),
                ("no ocloc to narrow to", ["src/e.cl", "--narrow-to-ocloc"], alone, "ocloc"),
                ("an empty list", ["src/a.cpp", "--targets", " , "], None, "JIT"), ("no name that --only has", ["src/a.cpp", "--only", "z*"], None, "--only"),
                ("no units", ["--build", "b3"], None, "no line of the build")):
            self.write("b3/compile_commands.json", "[]")
            status, out, err = self.raw(*args, env=env)
            self.say(status == 77 and out.startswith("nothing to compile: ") and text in out, "S1-34(b): 77, " + name, status, out, err)
        status, doc, calls, err = self.run("src/a.cpp", "src/e.cl", "--targets", "pvc", "--icpx", "nowhere-icpx", "--again")
        self.say(status == 1 and [t["state"] for u in doc["units"] for t in u["targets"]] == ["not-run", "ok"], "one compiler of two is missing: a failure", status, doc, err)
        for configured, skips in (("default-intel", True), ("pvc, default", True), ("lnl-m,bmg-g21", False), ("", False)):
            status, out, err = self.raw("src/a.cpp", "--skip-if-configured", configured, "-q")
            self.say(status == 0 and out.startswith("skipped: the build is configured for all of the list (19 targets)" if skips else "pass: "),
                     "S2-12: a build that is configured for %r" % configured, status, out, err)
        for status, args, text in (
                (2, [], "name a build"), (2, ["src/a.cpp", "--targets", "lnl-n,bmg"], "lnl-n"), (2, ["src/a.txt"], "knows a compiler"), (2, ["x.cpp", "--timeout", "0"], "timeout"),
                (2, ["src/a.cpp", "--skip-if-configured", "nonsense"], "nonsense"), (2, ["src/a.cpp", "--ninja", "n", "--junit", "j"], "choose one"),
                (3, ["src/missing.cpp"], "missing.cpp"), (3, ["--build", "nowhere"], "not there"), (3, ["--build", "src"], "neither"), (2, ["--build", "b4"], "list"),
                (3, ["--units", "nowhere"], "nowhere"), (3, ["src/a.cpp", "--work", "p.yaml/x"], "cannot be made"), (3, ["src/a.cpp", "--junit", "p.yaml"], "left alone")):
            self.write("b4/compile_commands.json", "{}")
            found, out, err = self.raw(*args)
            self.say(found == status and text in err, "exit status %d: %s" % (status, args), found, out, err)

    # ---- the real ones ----

    def real_ocloc(self):
        if not shutil.which("ocloc"):
            print("skipped: compile: there is no ocloc")
            return
        env = dict(self.build.env, XDG_CACHE_HOME=self.path("cache"))
        units = {
            "narrow.cl": "__attribute__((intel_reqd_sub_group_size(8))) __kernel void narrow(__global int *a) { a[get_global_id(0)] = 1; }\n",
            "wide.cl": '#include "size.h"\n__attribute__((intel_reqd_sub_group_size(SIZE))) __kernel void wide(__global int *a) { a[get_global_id(0)] = 1; }\n',
            "precise.cl": "__kernel void precise(__global double *a) { a[get_global_id(0)] *= 2.0; }\n",
            "wrong.cl": "__kernel void wrong(__global int *a) { a[0] = nope; }\n",
        }
        self.write("cl/size.h", "#define SIZE 16\n")
        for name, text in units.items():
            self.write("cl/" + name, text)
        targets = ["dg2-g10", "pvc", "tgllp", "lnl-m"]
        expected, t = {}, self.path("cl")
        for name in units:
            for target in targets:
                p = subprocess.run(["ocloc", "compile", "-file", name, "-device", target, "-output", self.path("o"), "-output_no_suffix"], cwd=t,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                expected[name, target] = p.returncode == 0
        args = [*sorted(units), "--targets", ",".join(targets), "--work", "w"]
        before = len(self.calls())
        status, doc, _, err = self.run(*args, cwd=t, env=env)
        found = {(u["unit"], c["target"]): c["ok"] for u in doc["units"] for c in u["targets"]}
        self.say(status == 1 and found == expected and len(self.calls()) == before, "ocloc itself: each cell is as ocloc alone has it", found, expected, err)
        self.say(("narrow.cl", "pvc", "narrow", 8) in self.failing(doc) and expected["narrow.cl", "dg2-g10"],
                 "S1-28: size 8 is refused by pvc, and dg2-g10 takes it", self.failing(doc))
        _, out, err = self.raw(*args, cwd=t, env=env)
        unknown = [x for x in targets if not expected["wide.cl", x] and "HW Info" in
                   subprocess.run(["ocloc", "compile", "-file", "wide.cl", "-device", x], cwd=t, stdout=subprocess.PIPE, check=False).stdout.decode()]
        line = "This ocloc does not know %s: use a newer one, or leave them out (--narrow-to-ocloc)" % ", ".join(unknown)
        self.say(not unknown or (line in out.splitlines() and out.count("lnl-m") == 2), "S1-39: what ocloc does not know is said once", out, err)
        self.write("cl/empty.cl", "")
        _, doc_empty, _, _ = self.run("empty.cl", "--targets", "pvc", "--work", "w", cwd=t, env=env)
        self.say(not any("Command was" in c["message"] for c in doc_empty["units"][0]["targets"] if not c["ok"]), "ocloc itself: nothing to say", doc_empty)
        self.say(any(u["unit"] == "wrong.cl" and "undeclared identifier 'nope'" in c["message"] for u in doc["units"] for c in u["targets"]),
                 "ocloc itself: a message of the front end", doc)
        status, again, _, _ = self.run(*args, cwd=t, env=env)
        self.say(again["cached"] == len(expected) and self.failing(again) == self.failing(doc), "ocloc itself: all is known", again["cached"])
        self.write("cl/size.h", "#define SIZE 8\n")
        status, doc, _, _ = self.run(*args, cwd=t, env=env)
        self.say(doc["cached"] == len(expected) - len(targets) and ("wide.cl", "pvc", "wide", 8) in self.failing(doc), "ocloc itself: a header that matters", doc)
        status, doc, _, err = self.run("narrow.cl", "--targets", "dg2-g10,lnl-m", "--narrow-to-ocloc", "--work", "w", cwd=t, env=env)
        self.say(doc["targets"] == ["dg2-g10"] if not expected["wide.cl", "lnl-m"] else len(doc["targets"]) == 2, "S1-39: narrowed to ocloc", doc, err)

    def stand_in(self):
        """tests/stand_in/icpx runs the real ocloc, so that a refusal comes through a compiler driver."""
        if not all(map(shutil.which, ("ocloc", "clang++-19", "llvm-objcopy-19"))):
            print("skipped: compile: stand_in needs ocloc, clang-19, llvm-19")
            return
        env = dict(self.build.env, XDG_CACHE_HOME=self.path("cache"))
        self.write("s/narrow.cpp", "#include <sycl/sycl.hpp>\nint narrow() { return 1; }\n")
        self.write("s/scale.cpp", "int scale() { return 1; }\n")
        status, doc, _, err = self.run("s/narrow.cpp", "s/scale.cpp", "--targets", "dg2-g10,pvc,tgllp", "--icpx", os.path.join(HERE, "stand_in", "icpx"),
                                       "--flag=-std=c++17", "--work", "w9", env=env)
        self.say(status == 1 and [f[:2] + f[3:] for f in self.failing(doc)] == [("s/narrow.cpp", "pvc", 8)], "S1-28, S1-34(b): a driver with ocloc behind it",
                 status, doc, err)

    def all(self):
        self.matrix()
        self.words_of_icpx()
        self.build_ninja()
        self.again()
        self.never_kept()
        self.not_all()
        self.shells()
        self.hangs()
        self.signals()
        self.jobs()
        self.launcher()
        self.ninja()
        self.junit()
        self.nothing()
        self.real_ocloc()
        self.stand_in()
