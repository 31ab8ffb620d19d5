# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl lint`: a corpus of sources with every trap, and files that are none.

tests/lint/<case>/ holds sources, and what they must be answered with, written by hand (expected.tsv):

    # args: --macro SG         more words of the command line; %s is the folder
    required  N                how many sizes the sources require
    CODE file line text size targets    a finding; `text` is what stands at its line and column

S1-30, S1-34, S2-8, S2-11, S2-22, S2-25.
"""
import glob
import json
import os
import shlex
import shutil
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LINT = os.path.join(HERE, "lint")
SIZE8 = "[[sycl::reqd_sub_group_size(8)]] void f();\n"


class SyclLint:
    def __init__(self, build):
        self.build = build

    def run(self, *args, **more):
        status, out, err = self.build.devimg("sycl", "lint", *args, **more)
        return status, out, err.decode(errors="replace")

    def doc(self, *args, **more):
        status, out, err = self.run(*args, "--format", "json", **more)
        return status, json.loads(out) if out else {}, err

    def say(self, good, name, text=""):
        self.build.say(good, "lint: " + name, text)

    # --- the corpus ---

    def found(self, folder, finding):
        """A finding as a row of expected.tsv; what stands at its place is told with it."""
        at = ""
        path = finding["path"]
        if path is not None:
            with open(path, "rb") as f:
                line = f.read().split(b"\n")[finding["line"] - 1]
            at = line[finding["column"] - 1:].decode(errors="replace")
        name = os.path.relpath(path, folder) if path is not None else "-"
        targets = ",".join(finding["targets"]) or "-"
        size = finding["size"] if finding["size"] is not None else "-"
        return [finding["code"], name, str(finding["line"] or "-"), at, str(size), targets]

    def case(self, folder):
        name = os.path.basename(folder)
        with open(os.path.join(folder, "expected.tsv"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        args = [w for line in lines if line.startswith("# args: ") for w in shlex.split(line[8:].replace("%s", folder))]
        rows = sorted(line.split("\t") for line in lines if not line.startswith("#"))
        required = [int(r[1]) for r in rows if r[0] == "required"][0]
        rows = [r for r in rows if r[0] != "required"]
        status, doc, err = self.doc(folder, *args)
        if not doc:
            self.say(False, name, "exit %s\n%s" % (status, err))
            return
        found = sorted(self.found(folder, f) for f in doc["findings"])
        left, text = list(found), ""
        for row in rows:
            same = [f for f in left if f[:3] + f[4:] == row[:3] + row[4:] and (row[3] == "-" or f[3].startswith(row[3]))]
            if same:
                left.remove(same[0])
            else:
                text += "missing: %s\n" % "\t".join(row)
        text += "".join("not expected: %s\n" % "\t".join(f) for f in left)
        if doc["required"] != required:
            text += "%d sizes are required, %d found\n" % (required, doc["required"])
        fails = any(f["severity"] == "error" for f in doc["findings"])
        if status != (1 if fails else 0):
            text += "exit %s\n" % status
        self.say(not text, name, text)

    # --- what the answer looks like ---

    def same_answers(self):
        """Any number of workers, the same bytes; any order of the same file, once."""
        answers = {self.run(LINT, "-v", *j)[:2] for j in (["-j1"], ["-j8"], ["-j3"], [])}
        self.say(len(answers) == 1 and all(status == 1 and out for status, out in answers), "the same answer with any number of workers")
        a = os.path.join(LINT, "spellings", "a.cpp")
        status, doc, _ = self.doc(a, os.path.dirname(a), a)
        self.say(status == 1 and doc["sources"] == 2, "a file that is named twice is read once", str(doc.get("sources")))

    def no_value(self):
        """-(the least number) is no number of the type: not 0, which asks for nothing."""
        with tempfile.TemporaryDirectory() as t:
            path = os.path.join(t, "a.cpp")
            with open(path, "w", encoding="utf-8") as f:
                f.write("constexpr long long k = -(-9223372036854775807LL - 1);\n[[sycl::reqd_sub_group_size(k)]] void f();\n")
            status, out, _ = self.run(path)
            self.say(status == 1 and b"[not-constant]" in out, "an expression without a value is no size", out.decode())

    def text(self):
        """S2-22: the file is named, with line and column, and each target that refuses, with its family."""
        status, out, _ = self.run("raw/a.cpp", "two-families", "--targets", "dg2-g10,pvc,bmg-g21", cwd=LINT)
        lines = out.decode().splitlines()
        self.say(status == 1 and lines[0] == "FAIL, 2 sources, 4 required sizes, 2 errors", "the first line is the verdict", out.decode())
        self.say("two-families/a.cpp:1:29: error: requires sub-group size 8, which 2 of 3 targets refuse: pvc (Xe-HPC), "
                 "bmg-g21 (Xe2) [size-refused]" in lines, "a line says file, line, column, size, targets and families", out.decode())
        self.say("3 targets all accept 16, 32" == lines[1], "the second line says what is accepted", out.decode())
        status, out, _ = self.run("two-families", "-q", cwd=LINT)
        self.say(status == 1 and out.count(b"\n") == 1, "-q: the verdict alone", out.decode())
        status, doc, _ = self.doc("without-xe2", "--targets", "dg2-g10,mtl-h,acm-g12", cwd=LINT)
        self.say(doc["sub_group_sizes"] == [8, 16, 32] and not doc["default_list"], "S2-8: without Xe2 it is 8, 16, 32", str(doc))
        for one in ("dg2-g10", "dg2-g10,acm-g10"):
            status, doc, _ = self.doc("without-xe2", "--targets", one, cwd=LINT)
            self.say(doc["sub_group_sizes"] == [16, 32] and not doc["default_list"] and "lnl-m" in doc["list"],
                     "S1-31: for one device the default list counts too: " + one, str(doc))
        for args in ([], ["--targets", ""], ["--targets", " , "]):
            status, doc, _ = self.doc("without-xe2", *args, cwd=LINT)
            self.say(doc["sub_group_sizes"] == [16, 32] and doc["default_list"] and len(doc["list"]) == 19,
                     "the default list where none is given: %s" % args, str(doc))

    def unmeasured(self):
        """S2-25: a target without an entry fails, although every size found is fine. What a target of the tables without sizes
        is answered with: tests/unit/test_source.c."""
        for targets, said in (("default-intel,xyz-g99", "no table has"), ("dg2-g10,spir64_gen", "is no GPU")):
            status, _, err = self.run("too-few", "--targets", targets, cwd=LINT)
            self.say(status == 2 and said in err and targets.split(",")[1] in err, "refused: " + targets, err)

    # --- usage ---

    def usage(self):
        for args, said in (([], "name source files"),
                           (["x.cpp", "--macro", "a b"], '--macro: "a b": expected NAME'),
                           (["x.cpp", "--macro", "A:0"], "expected NAME"),
                           (["x.cpp", "--define", "A"], "expected NAME=VALUE"),
                           (["x.cpp", "--expect-at-least", "-1"], "expected a number"),
                           (["x.cpp", "--targets", "spir64"], "portable"),
                           (["x.cpp", "--raw", "no"], "expected deny|allow")):
            status, _, err = self.run(*args)
            self.say(status == 2 and said in err, "usage: %s" % args, "exit %s\n%s" % (status, err))
        with tempfile.TemporaryDirectory() as t:
            policy = os.path.join(t, "p.yaml")
            for text, said in (("version: 1\nlint: {macro: A}\n", "line 2, column 8: unknown key"),
                               ("version: 1\nlint: [A]\n", "line 2, column 7: lint: expected"),
                               ("version: 1\nlint:\n  raw: maybe\n", "line 3, column 8: raw: "),
                               ("version: 1\nlint.raw: deny\n", "line 2, column 1: unknown key"),
                               ("version: 1\nlint: {raw: deny, raw: deny}\n", "stands twice")):
                with open(policy, "w", encoding="utf-8") as f:
                    f.write(text)
                status, _, err = self.run(t, "--policy", policy)
                self.say(status == 2 and said in err, "policy: %r" % text, "exit %s\n%s" % (status, err))
                status, _, err = self.build.devimg("check", "--policy", policy, "intel/lib_aot.so")
                self.say(status == 2, "check refuses it too: %r" % text)

    # --- files that are none, and folders ---

    def odd(self):
        with tempfile.TemporaryDirectory() as t:
            at = lambda *p: os.path.join(t, *p)

            def put(name, data):
                os.makedirs(os.path.dirname(at(name)), exist_ok=True)
                with open(at(name), "wb") as f:
                    f.write(data if isinstance(data, bytes) else data.encode())
            put("good/a.cpp", SIZE8)
            for name, data, said in (("nul.cpp", SIZE8.encode() + b"\0", "a NUL"),
                                     ("utf16.cpp", b"\xff\xfe" + SIZE8.encode("utf-16-le"), "UTF-16"),
                                     ("cr.cpp", b"// kernel\r" + SIZE8.encode().replace(b"\n", b"\r") + b"int a;", "CR alone"),
                                     ("bare16.cpp", SIZE8.encode("utf-16-le"), "a NUL")):
                put(name, data)
                status, out, err = self.run(at(name), at("good"))
                self.say(status == 3 and said in err and name in err and b"good/a.cpp:1:" in out,
                         "%s is said to be unread, the rest is looked at" % name, "exit %s\n%s%s" % (status, out.decode(), err))
                os.remove(at(name))
            status, _, err = self.run(at("nowhere.cpp"))
            self.say(status == 3 and "nowhere.cpp" in err, "a missing file", err)
            os.mkfifo(at("pipe.cpp"))
            status, _, err = self.run(at("pipe.cpp"), seconds=20)
            self.say(status == 3 and "FIFO" in err, "a FIFO is not waited for", err)
            os.remove(at("pipe.cpp"))
            os.mkdir(at("empty"))
            status, out, _ = self.run(at("empty"))
            self.say(status == 1 and b"no-source" in out, "a folder without sources does not pass", out.decode())
            # folders: links to files count, links to folders and hidden ones do not
            put("tree/sub/b.hpp", SIZE8)
            put("tree/.git/c.cpp", SIZE8)
            put("tree/notes.txt", SIZE8)
            os.symlink("..", at("tree/sub/loop"))
            os.symlink(at("good/a.cpp"), at("tree/link.cpp"))
            os.symlink("nowhere", at("tree/broken.md"))
            status, doc, err = self.doc(at("tree"))
            paths = [os.path.relpath(f["path"], t) for f in doc["findings"]]
            self.say(status == 1 and paths == ["tree/link.cpp", "tree/sub/b.hpp"], "a tree", "%s %s" % (paths, err))
            os.symlink("nowhere", at("tree/broken.cpp"))
            status, doc, err = self.doc(at("tree"))
            self.say(status == 3 and "broken.cpp" in err and len(doc["findings"]) == 3, "a link that leads nowhere is said", err)
            status, doc, _ = self.doc(at("tree/notes.txt"))
            self.say(doc["sources"] == 1 and status == 1, "a file that is named is read, whatever its ending")
            if os.getuid() != 0:
                put("shut/a.cpp", SIZE8)
                os.chmod(at("shut/a.cpp"), 0)
                status, _, err = self.run(at("shut"))
                self.say(status == 3 and "shut/a.cpp" in err, "a file that may not be read", err)
            name = os.fsencode(t) + b"/latin\xe9\x1b.cpp"
            with open(name, "wb") as f:
                f.write(SIZE8.encode())
            status, out, _ = self.run(name, "--format", "json")
            doc = json.loads(out)
            self.say(doc["findings"][0]["path_hex"] == name.hex(), "a name that is no UTF-8", str(doc["findings"]))
            status, out, _ = self.run(name)
            self.say(b"latin\\xe9\\x1b.cpp:1:29: error" in out, "a name that could steer a terminal", repr(out))

    def commands(self):
        with tempfile.TemporaryDirectory() as t:
            os.makedirs(os.path.join(t, "src"))
            for name in ("a.cpp", "b.cpp", "c.S"):
                with open(os.path.join(t, "src", name), "w", encoding="utf-8") as f:
                    f.write(SIZE8)
            path = os.path.join(t, "compile_commands.json")
            entries = [{"directory": os.path.join(t, "src"), "file": "a.cpp", "command": "icpx -c a.cpp"},
                       {"directory": t, "file": os.path.join(t, "src", "b.cpp"), "arguments": ["icpx", "@gone.rsp"]},
                       {"directory": t, "file": "src/c.S", "command": "cc -c src/c.S"},
                       {"directory": t, "file": "src/a.cpp", "command": "icpx -c src/a.cpp"}]
            with open(path, "w", encoding="utf-8") as f:
                json.dump(entries, f)
            status, doc, err = self.doc("--compile-commands", path)
            self.say(status == 1 and doc["sources"] == 2 and len(doc["findings"]) == 2, "compile_commands.json", "%s %s" % (doc, err))
            status, doc, err = self.doc("--compile-commands", t)
            self.say(status == 1 and doc["sources"] == 2, "a build's folder", "%s %s" % (doc, err))
            build = os.path.join(t, "build")
            os.mkdir(build)
            os.symlink(build, os.path.join(t, "link"))
            os.mkdir(os.path.join(build, "src"))
            for folder, expected in (("build", os.path.join(t, "src", "a.cpp")), ("src/../build", os.path.join(t, "src", "a.cpp")),
                                     ("link", os.path.join(t, "src", "a.cpp"))):
                with open(os.path.join(build, "compile_commands.json"), "w", encoding="utf-8") as f:
                    json.dump([{"directory": os.path.join(t, folder), "file": "../src/a.cpp", "command": "icpx -c ../src/a.cpp"}], f)
                status, doc, err = self.doc("--compile-commands", build)
                self.say([f["path"] for f in doc["findings"]] == [expected], "a path without ..: " + folder, "%s %s" % (doc, err))
            os.mkdir(os.path.join(t, "deep"))
            os.symlink(os.path.join(build, "src"), os.path.join(t, "deep", "link"))
            shutil.copy(os.path.join(t, "src", "a.cpp"), os.path.join(build, "b.cpp"))
            with open(os.path.join(build, "compile_commands.json"), "w", encoding="utf-8") as f:
                json.dump([{"directory": os.path.join(t, "deep", "link"), "file": "../b.cpp", "command": "icpx -c ../b.cpp"}], f)
            status, doc, err = self.doc("--compile-commands", build)
            self.say([f["path"] for f in doc["findings"]] == [os.path.join(t, "deep", "link", "..", "b.cpp")],
                     ".. behind a link leads elsewhere, and stays", "%s %s" % (doc, err))
            with open(path, "w", encoding="utf-8") as f:
                f.write("[{")
            status, _, err = self.run("--compile-commands", path)
            self.say(status == 2 and "compile_commands.json" in err, "a damaged list", err)
            status, _, err = self.run("--compile-commands", path + ".gone")
            self.say(status == 3 and "compile_commands.json.gone" in err, "a list that is not there", err)

    def hostile(self):
        """An answer in seconds, whatever the file: none of these is a test of speed."""
        deep = 200000
        texts = {
            "braces": "{" * deep, "closing": "}" * deep, "parens": "(" * deep, "brackets": "[" * deep,
            "angles": "sub_group_size<" * (deep // 4), "attributes": "[[sycl::reqd_sub_group_size(" * (deep // 8),
            "conditionals": "#if A\n" * deep, "ends": "#endif\n#else\n" * deep, "quotes": "'" * deep + '"' * deep,
            "raw": 'R"x(' * deep, "splices": "\\\n" * deep, "const": "const " * deep + "x = 8;",
            "enum": "enum E {" + ",".join("a%d" % i for i in range(deep)) + "};" + "[[sycl::reqd_sub_group_size(a8)]]",
            "templates": "template <int N> " * deep, "define": "#define A(" + ",".join("x%d" % i for i in range(deep)) + ")\n",
            "chain": "".join("constexpr int k%d = k%d + k%d;\n" % (i, i + 1, i + 1) for i in range(300)) +
                     "[[sycl::reqd_sub_group_size(k0)]] void f();\n",
            "wrappers": "".join("#define W%d(n) W%d(n) W%d(n)\n" % (i, i + 1, i + 1) for i in range(12)) +
                        "#define W12(n) [[sycl::reqd_sub_group_size(n)]]\nW0(8)\n",
            "question": "[[sycl::reqd_sub_group_size(" + "1?" * 300 + "8" + ":8" * 300 + ")]]",
            "minus": "[[sycl::reqd_sub_group_size(" + "- " * 500 + "8)]]",
            "nested": "[[sycl::reqd_sub_group_size(" + "(" * 490 + "8" + ")" * 490 + ")]]",
            "table": "int t[] = {" + "{1,2}," * deep + "};\n" + SIZE8,
            "levels": "#define A(n) [[sycl::reqd_sub_group_size(n)]]\n" + "#define A(n) A(n)\n" * 12 + "A(8) void f();\n",
            "same": "".join("namespace n%d { constexpr int k = 8; }\n" % i for i in range(20000)) + "[[sycl::reqd_sub_group_size(k)]];" * 2000,
            "usings": "using namespace a;\n" * 20000 + "[[sycl::reqd_sub_group_size(k)]];" * 2000,
            "undef": "".join("#define A%d 1\n" % i for i in range(deep)) + "".join("#undef A%d\n" % i for i in range(deep)),
            "namespaces": "namespace a{" * 30000 + "}" * 30000,
            "siblings": "namespace " + "a" * 4000 + " {" + "namespace b{}" * deep + "}",
            "enumerators": "enum {a=" + "+".join(["b"] * 450) + "," + "x," * deep + "};",
            "inside": "{" * 4900 + SIZE8 * 20000, "many": "#define K(n) [[sycl::reqd_sub_group_size(n)]]\n" * 10000 + "K(8);\n" * 2000,
            "bases": "".join("struct B%d : B%d, B%d {};\n" % (i, i + 1, i + 1) for i in range(60)) +
                     "struct K : B0 { [[sycl::reqd_sub_group_size(SG)]] void operator()(); };\n",
            "derived": "struct A : A { [[sycl::reqd_sub_group_size(SG)]] void f(); };\nstruct B : C {}; struct C : B {};\n"
                       "[[sycl::reqd_sub_group_size(B::SG)]] void g();\n",
            "recursion": "constexpr int f(int n) { return f(n - 1) + f(n - 2); }\n" + "[[sycl::reqd_sub_group_size(f(9))]] void g();\n" * 200,
            "arguments": "template <int N> struct A { static constexpr int v = A<N + 1>::v; };\n[[sycl::reqd_sub_group_size(A<A<A<1>::v>::v>::v)]] void f();\n",
            "less": "[[sycl::reqd_sub_group_size(" + "a<" * 480 + ")]] void f();\n",
            "functions": "".join("constexpr int f%d(int n) { return f%d(f%d(n)); }\n" % (i, i + 1, i + 1) for i in range(40)) +
                         "[[sycl::reqd_sub_group_size(f0(8))]] void g();\n",
            "self": "#define A A\nusing B = B;\nnamespace c = c;\n[[sycl::reqd_sub_group_size(A)]] [[sycl::reqd_sub_group_size(c::x)]]",
        }
        # What follows by hand; where depth or steps end, another answer may stand.
        refused = dict.fromkeys(("enum", "table"), "requires sub-group size 8")
        refused.update({"levels": "[not-constant]", "self": "[not-constant]"})
        with tempfile.TemporaryDirectory() as t:
            header = os.path.join(t, "header.hpp")
            with open(header, "w", encoding="utf-8") as f:
                f.write("template <" + ",".join("int P%d" % i for i in range(60)) + "> struct s { " +
                        "".join("static_assert(P%d == 16 || P%d == P%d + P0);" % (i % 60, (i + 1) % 60, (i + 2) % 60) for i in range(5000)) + "};\n")
            status, out, err = self.run(header, "--header", header, "--template", "s:1", seconds=60)
            self.say(status in (1, 3) and bool(out or err), "hostile: conditions of a header", "exit %s\n%s\n%s" % (status, out.decode()[-500:], err[-3000:]))
            for name, text in texts.items():
                path = os.path.join(t, name + ".cpp")
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
                status, out, err = self.run(path, seconds=60)
                good = status in (0, 1, 3) and bool(out)
                if name in refused:
                    good = status == 1 and refused[name] in out.decode()
                self.say(good, "hostile: " + name, "exit %s\n%s\n%s" % (status, out.decode()[-500:], err[-3000:]))
                os.remove(path)
            big = os.path.join(t, "big.cpp")
            with open(big, "wb") as f:
                f.write((b"int t[] = {" + b"1,2,3,4,5,6,7,8,{9},\n" * 100 + b"};\n") * 50000)
                f.write(SIZE8.encode())
            status, doc, err = self.doc(big, seconds=120)
            self.say(status == 1 and len(doc["findings"]) == 1, "a source of 100 MB", "exit %s\n%s" % (status, err))
            os.truncate(big, (256 << 20) + 1)
            status, _, err = self.run(big)
            self.say(status == 3 and "at most 256 MiB" in err, "a larger one is refused, and says so", err)

    def all(self):
        cases = sorted(glob.glob(os.path.join(LINT, "*", "expected.tsv")))
        self.say(len(cases) >= 20, "there are cases")
        for path in cases:
            self.case(os.path.dirname(path))
        self.same_answers()
        self.no_value()
        self.text()
        self.unmeasured()
        self.usage()
        self.odd()
        self.commands()
        self.hostile()
