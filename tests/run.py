#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every test on one or more builds. The last line reads `N passed, N failed`.

    tests/run.py [--update] [--only SUITE,...] [-j N] BUILD...

Suites (a function or a row of IN_FOLDERS each): unit cli schema facts tools readelf readobj extract shapes metamorphic
examples exports damage odd edited offload hip cuda matrix windows anchor detect sycltargets compile syclimages doctor header probe registry sycllint oclocinstall
cmake meson devicelink hostile.
`repository` (layers, docs) needs no build and runs once. --update rewrites the expectations of the
cli suite from what the program says; read the diff before you commit it.
"""
import argparse
import concurrent.futures
import contextlib
import difflib
import glob
import io
import json
import os
import re
import resource
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback

try:
    import jsonschema
    import yaml  # noqa: F401  what the independent reader needs
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    raise SystemExit("tests/run.py needs python3-jsonschema and python3-yaml: tools/deps.sh test")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
DATA = os.path.join(HERE, "data")
INTEL = os.path.join(DATA, "intel")
sys.path.insert(0, HERE)
import compare_facts  # noqa: E402
from cmake_package import CMakePackage  # noqa: E402
from cuda import Cuda  # noqa: E402
from device_link import DeviceLink  # noqa: E402
from edited import Edited, section_headers  # noqa: E402
from hip import Hip  # noqa: E402
from hostile import Hostile  # noqa: E402
from ocloc_install import OclocInstall  # noqa: E402
from meson_package import MesonPackage  # noqa: E402
from matrix import Matrix  # noqa: E402
from offload import Offload  # noqa: E402
from shell import Shell  # noqa: E402
from sycl_anchor import Anchor  # noqa: E402
from sycl_compile import SyclCompile  # noqa: E402
from sycl_detect import Detect  # noqa: E402
from sycl_images import SyclImages  # noqa: E402
from sycl_doctor import Doctor  # noqa: E402
from sycl_lint import SyclLint  # noqa: E402
from sycl_header import Header  # noqa: E402
from sycl_probe import Probe  # noqa: E402
from sycl_registry import Registry  # noqa: E402
from sycl_targets import SyclTargets  # noqa: E402
from windows import Windows  # noqa: E402

SECONDS = 120
TARGETS = "tgllp,adl-s,dg2-g11"
# clang exits 1 and gcc's ASan too by default; a number no command uses cannot be mistaken.
SANITIZER = {"ASAN_OPTIONS": "exitcode=99:detect_leaks=1:allocator_may_return_null=1",
             "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99"}


class Results:
    def __init__(self):
        self.passed = self.failed = 0

    def say(self, good, name, text=""):
        if good:
            self.passed += 1
            return
        self.failed += 1
        print("FAILED %s" % name)
        for line in text.splitlines()[:40]:
            print("    " + line)
        sys.stdout.flush()


class Build:
    def __init__(self, folder, results):
        self.folder = os.path.abspath(folder)
        self.label = os.path.basename(self.folder)
        self.program = os.path.join(self.folder, "src", "devimg")
        self.results = results
        self.sanitized = self.option("b_sanitize") not in ("none", "")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("DEVIMG")}
        self.env.update(SANITIZER, DEVIMG=self.program, LC_ALL="C.UTF-8", NO_COLOR="1")

    def option(self, name):
        path = os.path.join(self.folder, "meson-info", "intro-buildoptions.json")
        with open(path, encoding="utf-8") as f:
            return next(o["value"] for o in json.load(f) if o["name"] == name)

    def say(self, good, name, text=""):
        self.results.say(good, "%s: %s" % (self.label, name), text)

    def run(self, argv, cwd=DATA, seconds=SECONDS, **more):
        """(exit status, stdout, stderr); the status is None past the time limit."""
        try:
            p = subprocess.run(argv, cwd=cwd, env=self.env, timeout=seconds,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, **more)
        except subprocess.TimeoutExpired as e:
            return None, e.stdout or b"", e.stderr or b""
        return p.returncode, p.stdout, p.stderr

    def devimg(self, *args, **more):
        return self.run([self.program, *args], **more)

    def compile(self, source, out, cxx=False, more=()):
        std = ["c++", "-x", "c++", "-std=c++17"] if cxx else ["cc", "-std=c17", "-D_GNU_SOURCE"]
        sanitize = ["-fsanitize=" + self.option("b_sanitize")] if self.sanitized else []
        lib = os.path.join(self.folder, "src")
        argv = [*std, "-g", "-O1", "-Wall", "-Wextra", "-Werror", *sanitize,
                "-I" + os.path.join(ROOT, "include"), source, "-x", "none", "-L" + lib,
                "-Wl,-rpath," + lib, "-ldevimg", *more, "-o", out]
        status, _, err = self.run(argv)
        return status == 0, err.decode(errors="replace")


def fixtures(*, good=False):
    """Files of tests/data/intel, without sources. good: none that is damaged on purpose."""
    out = []
    for path in sorted(glob.glob(os.path.join(INTEL, "*"))):
        name = os.path.basename(path)
        if os.path.isdir(path) or name.endswith((".md", ".sh")):
            continue
        if good and (name.startswith("bad_") or name in ("lib_garbage.so", "lib_zstd_cut.so")):
            continue
        out.append(path)
    return out


def others():
    """Code for other GPUs: tests/data/{amd,llvm,nvidia}."""
    return [path for folder in ("amd", "llvm", "nvidia") for path in sorted(glob.glob(os.path.join(DATA, folder, "*")))
            if os.path.isfile(path) and not path.endswith((".md", ".sh", ".txt"))]


def tail(data, lines=30):
    return "\n".join(data.decode(errors="replace").splitlines()[-lines:])


def diff(expected, found, name):
    split = lambda d: d.decode(errors="backslashreplace").splitlines()
    return "\n".join(difflib.unified_diff(split(expected), split(found), name + " expected",
                                          name + " found", lineterm=""))


# --- suites -------------------------------------------------------------------------------------

def unit(build, _):
    """The C test programs that Meson knows."""
    log = os.path.join(build.folder, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.remove(log)
    status, _, err = build.run(["meson", "test", "-C", build.folder, "--no-suite", "runner"],
                               cwd=ROOT, seconds=900)
    rows = []
    if os.path.exists(log):
        with open(log, encoding="utf-8") as f:
            rows = [json.loads(line) for line in f]
    good = all(row["result"] in ("OK", "EXPECTEDFAIL") for row in rows)
    build.say(bool(rows) and (status == 0) == good, "unit: the test programs were built and ran", tail(err))
    for row in rows:
        good = row["result"] in ("OK", "EXPECTEDFAIL")
        build.say(good, "unit: " + row["name"],
                  (row.get("stdout") or "") + (row.get("stderr") or ""))


def read_or(path, default):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return default


def write_or_remove(path, data, default):
    if data != default:
        with open(path, "wb") as f:
            f.write(data)
    elif os.path.exists(path):
        os.remove(path)


def cli(build, args):
    """tests/cli/<command>/<case>/: the program, byte for byte, run in tests/data."""
    cases = sorted(glob.glob(os.path.join(HERE, "cli", "*", "*", "cmd")))
    build.say(bool(cases), "cli: there are cases")
    for path in cases:
        case = os.path.dirname(path)
        name = "cli: " + os.path.relpath(case, os.path.join(HERE, "cli"))
        with open(path, encoding="utf-8") as f:
            argv = shlex.split(f.read(), comments=True)
        if not argv or argv[0] != "devimg":
            build.say(False, name, "cmd must start with devimg")
            continue
        status, out, err = build.devimg(*argv[1:])
        found = {"exit": b"%d\n" % (status if status is not None else -1), "stdout": out,
                 "stderr": err}
        defaults = {"exit": b"0\n", "stdout": b"", "stderr": b""}
        if args.update and not build.sanitized:
            for part, default in defaults.items():
                write_or_remove(os.path.join(case, part), found[part], default)
        text = ""
        for part, default in defaults.items():
            expected = read_or(os.path.join(case, part), default)
            if part == "exit":
                expected = b"%d\n" % int(expected)
            if expected != found[part]:
                text += diff(expected, found[part], part) + "\n"
        build.say(not text, name, text)
    help_pages(build)
    with tempfile.TemporaryDirectory() as t:
        Shell(build, ROOT, t).all()


def command_words(page):
    """sycl_gtest_filter is of "sycl gtest-filter"."""
    group, _, rest = page.partition("_")
    return [group, rest.replace("_", "-")] if rest else [group]


def help_pages(build):
    """The options on a page of docs/command are those of the help, word for word."""
    for page in sorted(glob.glob(os.path.join(ROOT, "docs", "command", "*.md"))):
        name = os.path.basename(page)[:-3]
        with open(page, encoding="utf-8") as f:
            rows = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                    for line in f if re.match(r"\| `-", line)]
        status, out, _ = build.devimg("help", *command_words(name))
        text = " ".join(out.decode().split())
        missing = [row for row in rows if row[0].strip("`") + " " + row[1] not in text]
        build.say(status == 0 and not missing, "cli: help %s and its page" % name, str(missing))


def json_calls():
    for path in fixtures():
        name = os.path.relpath(path, DATA)
        yield ["list", name]
        yield ["list", "--kernels", name]
        yield ["kernels", name]
        yield ["check", "--targets", TARGETS, "--fallback", "spir64", "--compression", "required",
               "--scratch", "none", name]
    for path in others():
        name = os.path.relpath(path, DATA)
        yield ["kernels", name]
        yield ["check", "--targets", "gfx942,gfx906:xnack-", "--compression", "required", "--scratch", "none",
               "--sub-group-sizes", "32", name]
    yield ["list", "intel/lib_aot.so", "intel/no-such-file"]
    yield ["check", "--targets", "no-such-target", "intel/lib_aot.so"]
    for pins, tests in (("pins", "full"), ("stale", "full"), ("odd", "odd")):
        yield ["sycl", "gtest-filter", "--pins", "gtest/%s.tsv" % pins, "--list", "gtest/%s.txt" % tests, "--preset", "full"]
    yield ["sycl", "detect", "--gate-only", "--targets", "native_cpu,spir64_gen"]
    with tempfile.TemporaryDirectory() as t:
        tool = os.path.join(t, "sycl-ls")
        with open(tool, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\ncat '%s'\n" % os.path.join(DATA, "sycl-ls", "12-verbose-2026-aliases.txt"))
        os.chmod(tool, 0o755)
        yield ["sycl", "detect", "--gpus", "--sycl-ls", tool]
        with open(os.path.join(t, "a.cl"), "w", encoding="utf-8") as f:
            f.write("__kernel void k(void) { nonsense; }\n")
        os.symlink("/bin/true", os.path.join(t, "ocloc"))  # writes nothing: fails
        yield ["sycl", "compile", os.path.join(t, "a.cl"), "--targets", "pvc,tgllp", "--ocloc", os.path.join(t, "ocloc"), "--work", os.path.join(t, "w")]
        yield ["sycl", "compile", os.path.join(t, "a.cl"), "--targets", "pvc", "--skip-if-configured", "pvc"]
        for path in fixtures():
            yield ["extract", os.path.relpath(path, DATA), "-o", t]
        yield ["extract", "intel/lib_aot.so", "-o", t]  # all of it is there already
        yield ["extract", "--stored", "intel/lib_aot_zstd.so", "-o", t]
        yield ["extract", "--index", "77", "intel/lib_aot.so", "-o", t]
    yield ["list", "intel/make-fixtures.sh"]
    yield ["targets"]
    yield ["targets", "default-intel", "spir64", "no-such-target"]
    yield ["sycl", "targets", "default-intel"]
    yield ["sycl", "targets", "no-such-target,spir64"]
    yield ["sycl", "targets", " , "]
    yield ["sycl", "doctor"]
    yield ["sycl", "doctor", "--ocloc", "/nowhere/ocloc", "--sycl-ls", "/nowhere/sycl-ls", "--expect-ocloc", "26.35"]
    yield ["sycl", "doctor", "--targets", ""]
    yield ["sycl", "anchor", "--symbol", "foo_sycl_images", "intel/lib_aot.so", "/nowhere/out.obj"]
    for name in ("lib_aot.so", "win_aot_zstd.dll", "obj_bundle.o", "lib_garbage.so", "no-such-file"):
        yield ["sycl", "registry", "--at-least", "3", "intel/" + name]
    yield ["sycl", "registry", "--format", "json", "--run", "true"]  # what follows is given to true
    yield ["sycl", "header"]
    yield ["sycl", "header", "--targets", "tgllp,no-such-target"]
    yield ["sycl", "header", "--check", "README.md"]
    yield ["sycl", "probe", "--targets", "pvc,lnl-m"]
    yield ["sycl", "probe", "--targets", "tgllp,no-such-target", "--sizes", "64"]
    yield ["sycl", "probe", "--ocloc", "/nowhere/ocloc"]
    yield ["sycl", "flags"]
    yield ["sycl", "flags", "--targets", "", "--also", "native_cpu"]
    yield ["sycl", "flags", "--syntax", "msvc", "--step", "device-link"]
    yield ["sycl", "flags", "--policy", "flags/skips.yaml", "--unit", "psnr_hvs.cpp", "--unit", "b.cpp"]
    yield ["sycl", "flags", "--lint", "flags/build/compile_commands.json"]
    yield ["sycl", "flags", "--lint", "intel/lib_aot.so"]
    lint = os.path.join(HERE, "lint")
    yield ["sycl", "lint", lint]
    yield ["sycl", "lint", os.path.join(lint, "raw"), "--macro", "PROJ_SG", "--header", os.path.join(lint, "raw", "sg.hpp")]
    yield ["sycl", "lint", os.path.join(lint, "two-families"), "--targets", "pvc,lnl-m", "no-such-file.cpp", "--expect-at-least", "9"]


def sums_up(doc):
    """What a schema cannot say: the summary counts the findings, indices stay inside."""
    if "files" not in doc:
        return ""
    found = [f for r in doc["files"] for f in r["findings"]] + doc.get("findings", [])
    for plural, severity in (("errors", "error"), ("warnings", "warning"), ("notes", "note")):
        count = sum(f["severity"] == severity for f in found)
        if doc["summary"][plural] != count:
            return "summary says %d %s, findings hold %d" % (doc["summary"][plural], plural, count)
    for r in doc["files"]:
        images = r.get("images", [])
        for i, image in enumerate(images):
            if image["index"] != i or (image["parent"] is not None and image["parent"] >= i):
                return "%s: image %d: index %s, parent %s" % (r["path"], i, image["index"],
                                                              image["parent"])
        for m in r.get("modules", []):
            if any(i >= len(images) for i in m["images"]):
                return "%s: module %d names an image that is not there" % (r["path"], m["index"])
    return ""


def schema(build, _):
    """Everything that --format json writes is as docs/schema says."""
    with open(os.path.join(ROOT, "docs", "schema", "devimg-1.schema.json"), encoding="utf-8") as f:
        document = json.load(f)
    cls = jsonschema.validators.validator_for(document)
    cls.check_schema(document)
    validator = cls(document)
    for args in json_calls():
        name = "schema: " + " ".join(args)
        status, out, err = build.devimg(*args, "--format", "json")
        if not out and status in (2, 3):  # refused before there was a document
            build.say(bool(err), name, "exit %d without a word" % status)
            continue
        try:
            doc = json.loads(out)
        except ValueError as e:
            build.say(False, name, "exit %s, %s\n%s" % (status, e, tail(err)))
            continue
        errors = ["%s: %s" % ("/".join(map(str, e.absolute_path)), e.message)
                  for e in validator.iter_errors(doc)]
        text = "\n".join(errors[:5]) or sums_up(doc)
        if status not in (0, 1, 3):
            text += "\nexit %s\n%s" % (status, tail(err))
        build.say(not text, name, text)


def facts(build, _):
    """Images, kernels and descriptors as the independent reader sees them."""
    with open(os.path.join(HERE, "facts_intel.json"), encoding="utf-8") as f:
        expected = json.load(f)
    ips = compare_facts.target_ips()
    os.environ.update(SANITIZER)
    for name in sorted(expected):
        try:
            lines = compare_facts.compare(build.program, expected[name],
                                          os.path.join(INTEL, name), ips)
        except (SystemExit, ValueError, KeyError, subprocess.TimeoutExpired) as e:
            lines = ["%s: %s" % (type(e).__name__, e)]
        build.say(not lines, "facts: " + name, "\n".join(lines))


def shape(doc):
    """What must not change when a tool rewrites the host file around the images."""
    gone = {"offset", "path", "member", "path_hex", "unit"}
    strip = lambda d: {k: v for k, v in d.items() if k not in gone}
    record = doc["files"][-1]
    return {"images": [strip(i) for i in record["images"]],
            "modules": [strip(m) for m in record.get("modules", [])],
            "kernels": [strip(k) for k in record.get("kernels", [])],
            "findings": [(f["rule"], f["code"], f["target"]) for f in record["findings"]]}


def tools(build, _):
    """SPIR-V as spirv-dis, zebin as llvm-readelf and PyYAML, sections as clang-offload-bundler."""
    script = os.path.join(HERE, "image", "compare_tools.py")
    status, out, err = build.run([sys.executable, script, build.program], cwd=ROOT)
    if status == 77:
        print(tail(out))
        return
    build.say(status == 0, "tools: nothing differs", tail(out) + tail(err))


def readelf(build, _):
    """Fixtures and libraries of this system: sections, symbols and pointers are those of readelf."""
    script = os.path.join(HERE, "object", "compare_readelf.py")
    status, out, err = build.run([sys.executable, script, "--quick", build.folder], cwd=ROOT)
    if status == 77:
        print(tail(out))
        return
    build.say(status == 0, "readelf: nothing differs", tail(out) + tail(err))


def readobj(build, _):
    """COFF and PE files, most made on the spot: all tables are those of llvm-readobj."""
    script = os.path.join(HERE, "object", "compare_readobj.py")
    status, out, err = build.run([sys.executable, script, "--quick", build.folder], cwd=ROOT)
    if status == 77:
        print(tail(out))
        return
    build.say(status == 0, "readobj: nothing differs", tail(out) + tail(err))


def extract(build, _):
    """Files as objcopy, zstd, ar and the bundler have them; nothing is lost, nothing outside DIR."""
    for name in ("compare_objcopy.py", "hostile_extract.py"):
        status, out, err = build.run([sys.executable, os.path.join(HERE, "edit", name),
                                      build.program], seconds=300)
        if status == 77:
            print(tail(out))
        else:
            build.say(status == 0, "extract: " + name, tail(out) + tail(err))


SHAPES = {}  # made once for all builds: the folder and what make.py said


def shapes(build, _):
    """Host files in many link shapes: the descriptor is found, is registered or not, is of a unit."""
    if not SHAPES:
        SHAPES["folder"] = tempfile.TemporaryDirectory()
        status, out, err = build.run([sys.executable, os.path.join(HERE, "shapes", "make.py"),
                                      SHAPES["folder"].name])
        SHAPES.update(status=status, said=tail(out) + tail(err))
        if status == 0 and SHAPES["said"]:
            print(SHAPES["said"])
    folder = SHAPES["folder"].name
    build.say(SHAPES["status"] == 0, "shapes: make.py", SHAPES["said"])
    with open(os.path.join(HERE, "shapes", "expected.tsv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    for name, *expected in rows:
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            build.say("skipped: %s:" % name in SHAPES["said"], "shapes: %s was made" % name)
            continue
        status, out, err = build.devimg("list", path, "--format", "json")
        files = json.loads(out)["files"] if out else []
        top = [i for r in files for i in r.get("images", []) if i["parent"] is None]
        line = lambda values: ",".join(sorted(
            {None: "?", True: "true", False: "false"}.get(v, v) for v in values)) or "-"
        codes = line(f["code"] for r in files for f in r["findings"])
        counts = [r.get("descriptors", 0) for r in files]
        found = ["?" if None in counts else str(sum(counts)), line(i["registered"] for i in top),
                 line(i["unit"] for i in top), codes, line(i["format"] for i in top)]
        good = found == expected and status == (codes != "-") and not any(i["support"] for i in top)
        build.say(good, "shapes: " + name, "%s\n%s expected\nexit %s\n%s" % (
            "\t".join(found), "\t".join(expected), status, tail(err)))
    # Each module has a native image for both targets and a portable one, whoever carries them.
    for name in ("units", "units-bfd", "rdc", "mixed"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            status, out, err = build.devimg("check", "--targets", "tgllp,adl-s", "--fallback",
                                            "spir64", "--extra-targets", "allow", path)
            build.say(status == 0, "shapes: check %s" % name, tail(out) + tail(err))


def metamorphic(build, _):
    """strip, objcopy, patchelf, a prelinked base, an archive: same images, same verdict."""
    rewrites = {
        "strip": lambda f, t: [["cp", f, t], ["strip", "--strip-all", t]],
        "objcopy": lambda f, t: [["objcopy", "--add-section", ".note.extra=" + f,
                                  "--remove-section=.comment", f, t]],
        "patchelf": lambda f, t: [["cp", f, t], ["patchelf", "--set-rpath",
                                                "/somewhere/" + "long/" * 40, t]],
        "archive": lambda f, t: [["ar", "rcs", t, f]],
    }
    links = {"a link at another base": ["-Ttext-segment=0x40000000"],
             "a link with packed relocations": ["-z", "pack-relative-relocs"]}
    obj = os.path.join(INTEL, "lib_aot.o")
    for how, flags in links.items():  # the same object, linked otherwise than lib_aot.so was
        rewrites[how] = lambda f, t, flags=flags: [["ld", "-shared", *flags, obj, "-o", t]]
    for source in ("lib_aot.so", "lib_aot_zstd.so", "lib_aot_zstd_v3.so", "lib_aot.o"):
        path = os.path.join(INTEL, source)
        for call in (("kernels",), ("list",), ("check", "--targets", TARGETS + ",pvc")):
            status, out, err = build.devimg(*call, path, "--format", "json")
            if status not in (0, 1):
                build.say(False, "metamorphic: %s %s" % (call[0], source), tail(err))
                continue
            before = (status, *(shape(json.loads(out)).items() if call[0] != "check" else
                                [shape({"files": [{"images": [], **json.loads(out)["files"][-1]}]})]))
            for how, commands in rewrites.items():
                if source.endswith(".o") and how in ("patchelf", "strip"):
                    continue
                if how in links and source != "lib_aot.so":
                    continue
                name = "metamorphic: %s %s after %s" % (call[0], source, how)
                with tempfile.TemporaryDirectory() as t:
                    to = os.path.join(t, "lib.a" if how == "archive" else source)
                    bad = [tail(e) for s, _, e in map(build.run, commands(path, to)) if s != 0]
                    status, out, err = build.devimg(*call, to, "--format", "json")
                if bad or status is None or not out:
                    build.say(False, name, "\n".join(bad) + tail(err))
                    continue
                doc = json.loads(out)
                after = (status, *(shape(doc).items() if call[0] != "check" else
                                   [shape({"files": [{"images": [], **doc["files"][-1]}]})]))
                text = "" if before == after else diff(
                    json.dumps(before, indent=1).encode(), json.dumps(after, indent=1).encode(),
                    how)
                build.say(not text, name, text)
        one, many = (build.devimg("kernels", path, "-j", n, "--format", "json") for n in "18")
        build.say(one == many and one[0] == 0, "metamorphic: %s with -j1 and -j8" % source,
                  diff(one[1], many[1], "-j") + tail(one[2]))


def examples(build, _):
    """Programs that use the public header alone, as C and as C++."""
    with tempfile.TemporaryDirectory() as t:
        for source in sorted(glob.glob(os.path.join(ROOT, "examples", "*.c"))):
            out = {}
            for language in ("C", "C++"):
                name = "examples: %s as %s" % (os.path.basename(source), language)
                program = os.path.join(t, language)
                good, err = build.compile(source, program, cxx=language == "C++")
                if not good:
                    build.say(False, name, err)
                    continue
                status, out[language], err = build.run(
                    [program, os.path.join(INTEL, "lib_aot_zstd.so")])
                # Ten images: two archives of three members, two SPIR-V modules; seen by
                # tests/independent/sycl_facts.py.
                good = status == 0 and b": ok, 10 images\n" in out[language]
                build.say(good, name, tail(out[language]) + tail(err))
            build.say(out.get("C") == out.get("C++"), "examples: C and C++ answer the same")


def exports(build, _):
    """The shared library exports devimg_* alone; the archive defines nothing but dvi_* besides."""
    lib = os.path.join(build.folder, "src")
    for name, flag, prefixes in (("libdevimg.so", "-D", ("devimg_",)),
                                 ("libdevimg.a", "-g", ("devimg_", "dvi_"))):
        status, out, err = build.run(["nm", flag, "--defined-only", os.path.join(lib, name)])
        names = {l.split()[-1] for l in out.decode().splitlines() if len(l.split()) == 3}
        other = sorted(n for n in names if not n.startswith(prefixes)
                       and not (build.sanitized and n.startswith(("__asan", "__odr_asan"))))
        build.say(status == 0 and not other and "devimg_open" in names, "exports: " + name,
                  "not %s: %s\n%s" % (" or ".join(prefixes), " ".join(other[:20]), tail(err)))


def damage(build, _, cases=300):
    """Cut and flipped copies of every fixture, a spread of them (every byte: make test-deep)."""
    with tempfile.TemporaryDirectory() as t:
        driver = os.path.join(t, "damage")
        good, err = build.compile(os.path.join(HERE, "deep", "damage.c"), driver)
        if not good:
            build.say(False, "damage: the driver compiles", err)
            return
        for path in fixtures() + others():
            status, _, err = build.run([driver, str(cases), path], seconds=300)
            build.say(status == 0, "damage: " + os.path.basename(path),
                      "exit %s\n%s" % (status, err.decode(errors="replace")[:4000]))
        for name in ("lib_aot_zstd.so", "zfat_basic.ar", "sg16_dg2-g11_ip.zebin", "lib_aot.o"):
            program_on_cuts(build, name, os.path.join(t, name))


def program_on_cuts(build, name, to):
    with open(os.path.join(INTEL, name), "rb") as f:
        whole = f.read()
    text = ""
    for part in range(0, 12):
        with open(to, "wb") as f:
            f.write(whole[:len(whole) * part // 12])
        for call in (("list",), ("kernels",), ("check", "--targets", TARGETS)):
            status, out, err = build.devimg(*call, to, "--format", "json", seconds=60)
            try:
                json.loads(out or b"{}")
            except ValueError as e:
                text += "%s of %d/12: %s\n" % (call[0], part, e)
            if status not in (0, 1, 3) or b"Sanitizer" in err or b"runtime error" in err:
                text += "%s of %d/12: exit %s %s\n" % (call[0], part, status, tail(err))
    build.say(not text, "damage: the program on cuts of " + name, text)


def thin_archives(build, folder):
    """Members that are files of their own: read beside the archive, never outside its folder."""
    lib, inside = os.path.join(folder, "lib"), os.path.join(folder, "lib", "obj.p")
    os.makedirs(inside)
    shutil.copy(os.path.join(INTEL, "lib_aot.o"), os.path.join(inside, "a.o"))
    shutil.copy(os.path.join(INTEL, "lib_aot.o"), os.path.join(folder, "outside.o"))
    os.symlink("a.o", os.path.join(inside, "link.o"))
    os.symlink("obj.p", os.path.join(lib, "linked.p"))
    for name in ("gone.o", "fifo.o"):
        shutil.copy(os.path.join(INTEL, "lib_aot.o"), os.path.join(inside, name))
    for name, member, status, said in (
            ("good", "obj.p/a.o", 0, b""), ("up", "../outside.o", 1, b"leads out of the folder"),
            ("absolute", os.path.join(folder, "outside.o"), 1, b"absolute"),
            ("link", "obj.p/link.o", 1, b"a link"), ("linked", "linked.p/a.o", 1, b"linked.p"),
            ("gone", "obj.p/gone.o", 1, b"No such file"), ("fifo", "obj.p/fifo.o", 1, b"a FIFO")):
        path = os.path.join(lib, name + ".a")
        subprocess.run(["ar", "rcsT", path, member], cwd=lib, check=True)
        if name == "absolute":  # ar makes it relative: the bytes are put in by hand
            rows = b"%s/\n" % os.fsencode(member)
            head = lambda name, size: b"%-16s%-12d%-6d%-6d%-8d%-10d`\n" % (name, 0, 0, 0, 0, size)
            with open(path, "wb") as f:
                f.write(b"!<thin>\n" + head(b"//", len(rows)) + rows + b"\n" * (len(rows) % 2) +
                        head(b"/0", 9))
        if name in ("gone", "fifo"):
            os.remove(os.path.join(inside, name + ".o"))
        if name == "fifo":
            os.mkfifo(os.path.join(inside, "fifo.o"))
        got, out, err = build.devimg("list", path)
        build.say(got == status and said in out and (b"tgllp" in out) == (status == 0),
                  "odd: thin archive: " + name, "exit %s\n%s\n%s" % (got, tail(out), tail(err)))


def odd(build, _):
    """Inputs that are no good file: the answer comes at once and says what was wrong."""
    with tempfile.TemporaryDirectory() as t:
        make = lambda name: os.path.join(t, name)
        os.mkfifo(make("fifo"))
        os.mkdir(make("folder"))
        os.symlink("loop", make("loop"))
        open(make("empty"), "wb").close()
        with open(make("text"), "w", encoding="utf-8") as f:
            f.write("hello\n" * 100)
        with open(make("locked"), "wb") as f:
            f.write(b"\x7fELF")
        os.chmod(make("locked"), 0)
        paths = {"a FIFO": make("fifo"), "a folder": make("folder"), "/dev/null": "/dev/null",
                 "/dev/zero": "/dev/zero", "/proc/self/mem": "/proc/self/mem",
                 "a link to itself": make("loop"), "an empty file": make("empty"),
                 "a text file": make("text"), "a missing file": make("missing"),
                 "a file as folder": os.path.join(make("text"), "x")}
        if os.geteuid() != 0:
            paths["an unreadable file"] = make("locked")
        for what, path in paths.items():
            for command in ("list", "kernels", "check"):
                more = ["--targets", TARGETS] if command == "check" else []
                status, out, err = build.devimg(command, *more, path, seconds=20)
                build.say(status == 3 and bool(err or out), "odd: %s of %s" % (command, what),
                          "exit %s, expected 3\n%s\n%s" % (status, tail(out), tail(err)))
        good = os.path.join(INTEL, "lib_aot.so")
        status, out, err = build.devimg("list", make("missing"), good)
        build.say(status == 3 and b"lib_aot.so" in out, "odd: a good file after a missing one",
                  "exit %s, expected 3\n%s\n%s" % (status, tail(out), tail(err)))
        shutil.copy(good, make("-name"))
        status, out, err = build.devimg("list", "--", "-name", cwd=t)
        build.say(status == 0, "odd: a file name that starts with -", tail(err))
        thin_archives(build, t)
        closed = subprocess.run(["sh", "-c", '"$0" list "$1" >&-', build.program, good],
                                env=build.env, stderr=subprocess.PIPE, check=False)
        full = subprocess.run(["sh", "-c", '"$0" list "$1" >/dev/full', build.program, good],
                              env=build.env, stderr=subprocess.PIPE, check=False)
        for name, p in (("closed", closed), ("full", full)):
            build.say(p.returncode not in (0, 1) and p.returncode < 100,
                      "odd: an answer that cannot be written (stdout %s)" % name,
                      "exit %d\n%s" % (p.returncode, tail(p.stderr)))


def many_members_of_one_name():
    """20,000 members whose names start in one table of 2 MB without an end."""
    table = b"x" * (2 << 20)
    head = lambda name, size: b"%-16s%-12d%-6d%-6d%-8d%-10d`\n" % (name, 0, 0, 0, 0, size)
    return b"!<arch>\n" + head(b"//", len(table)) + table + b"".join(
        head(b"/%d" % i, 0) for i in range(20000))


def many_sections_over_the_same_bytes():
    """ELF64 of 30,000 sections "__CLANG_OFFLOAD_BUNDLE__sycl-spir64", all over the same megabyte."""
    count, body, names = 30000, b"\1" * (1 << 20), b"\0__CLANG_OFFLOAD_BUNDLE__sycl-spir64\0"
    table = 64 + len(body) + len(names)
    head = b"\177ELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table, 0, 64, 56, 0, 64, count, 1)
    section = lambda name, kind, at, size: struct.pack("<IIQQQQIIQQ", name, kind, 2, at, at, size, 0, 0, 16, 0)
    return (head + body + names + bytes(64) + section(0, 3, 64 + len(body), len(names)) +
            section(1, 1, 64, len(body)) * (count - 2))


def sycllint(build, _):
    """devimg sycl lint: sources with every trap, and files that are none."""
    SyclLint(build).all()


def hostile(build, _):
    """Headers that claim the impossible: an answer in seconds, little memory, no crash."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    more = {} if build.sanitized else {"preexec_fn": limit}  # ASan reserves terabytes
    fields = {"flags": 8, "addr": 16, "offset": 24, "size": 32, "link and info": 40, "align": 48,
              "entry size": 56}
    for name in ("lib_aot_zstd.so", "lib_aot_aarch64.so", "lib_aot.o"):
        with open(os.path.join(INTEL, name), "rb") as f:
            whole = f.read()
        for field, at in fields.items():
            text = ""
            with tempfile.TemporaryDirectory() as t:
                to = os.path.join(t, name)
                for i, header in enumerate(section_headers(whole)):
                    for value in (0, 1 << 40, (1 << 56) + 1, (1 << 64) - 1):
                        d = bytearray(whole)
                        struct.pack_into("<Q", d, header + at, value)
                        with open(to, "wb") as f:
                            f.write(d)
                        status, _, err = build.devimg("list", to, seconds=5, **more)
                        if status not in (0, 1, 3):
                            text += "section %d, %#x: exit %s %s\n" % (i, value, status, tail(err))
            build.say(not text, "hostile: %s of each section of %s" % (field, name), text)
    with tempfile.TemporaryDirectory() as t:
        big, bomb, to = (os.path.join(t, n) for n in ("big", "bomb", "bomb.o"))
        with open(big, "wb") as f:
            f.truncate(600 << 20)
        build.run(["zstd", "-q", "-3", "--no-check", big, "-o", bomb])
        os.remove(big)
        section = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen-unknown-unknown"
        build.run(["objcopy", "--add-section", section + "=" + bomb,
                   os.path.join(DATA, "host", "empty.o"), to])
        status, out, err = build.devimg("kernels", to, "--format", "json", seconds=20, **more)
        build.say(status == 1 and b"max-inflated-size" in out,
                  "hostile: 600 MiB of zeroes in a small frame end in a named limit",
                  "exit %s\n%s\n%s" % (status, tail(out), tail(err)))
        for make in (many_members_of_one_name, many_sections_over_the_same_bytes):
            with open(os.path.join(t, "many"), "wb") as f:
                f.write(make())
            status, out, err = build.devimg("list", os.path.join(t, "many"), "--format", "json",
                                            seconds=20, **more)
            build.say(status == 1, "hostile: " + make.__name__,
                      "exit %s\n%s\n%s" % (status, tail(out), tail(err)))
    with tempfile.TemporaryDirectory() as t:
        Hostile(build, DATA, t).all()


def in_folder(name, make, sanitized=True):
    """A suite that is a class of its own module, which says what it is about: `make` gets the build and
    an empty folder. sanitized=False: other suites run the same commands, or nothing of devimg is run."""
    def suite(build, _):
        if build.sanitized and not sanitized:
            return
        with tempfile.TemporaryDirectory() as t:
            make(build, t).all()
    suite.__name__ = name
    return suite


IN_FOLDERS = [
    in_folder("edited", lambda b, t: Edited(b, INTEL, os.path.join(DATA, "host"), t)),
    in_folder("offload", lambda b, t: Offload(b, INTEL, os.path.join(DATA, "host"), t)),
    in_folder("hip", lambda b, t: Hip(b, DATA, t)),
    in_folder("matrix", lambda b, t: Matrix(b, DATA, t)),
    in_folder("cuda", lambda b, t: Cuda(b, DATA, t)),
    in_folder("windows", lambda b, t: Windows(b, INTEL, t)),
    in_folder("detect", lambda b, t: Detect(b, ROOT, t)),
    in_folder("anchor", lambda b, t: Anchor(b, t)),
    in_folder("sycltargets", lambda b, t: SyclTargets(b, t)),
    in_folder("compile", lambda b, t: SyclCompile(b, os.path.realpath(t))),
    in_folder("syclimages", lambda b, t: SyclImages(b, DATA, t)),
    in_folder("oclocinstall", lambda b, t: OclocInstall(b, ROOT, t), sanitized=False),
    in_folder("doctor", lambda b, t: Doctor(b, ROOT, t)),
    in_folder("header", lambda b, t: Header(b, ROOT, t)),
    in_folder("probe", lambda b, t: Probe(b, ROOT, t)),
    in_folder("registry", lambda b, t: Registry(b, DATA, ROOT, os.path.realpath(t))),
    in_folder("cmake", lambda b, t: CMakePackage(b, ROOT, t), sanitized=False),
    in_folder("meson", lambda b, t: MesonPackage(b, ROOT, t), sanitized=False),
    in_folder("devicelink", lambda b, t: DeviceLink(b, ROOT, t), sanitized=False),
]
SUITES = [unit, cli, schema, facts, tools, readelf, readobj, extract, shapes, metamorphic, examples, exports,
          damage, odd, sycllint, hostile, *IN_FOLDERS]
LONG = ["cmake", "meson", "devicelink", "doctor", "compile", "header", "probe", "damage", "shapes", "cli", "hostile", "unit"]


def repository(results):
    """Layers, docs and the generator of target tables: no build needed."""
    for tool in ("tools/check_layers.py", "tools/check_docs.py", "tools/check_requirements.py",
                 "tests/test_requirements.py", "tests/target/test_gen.py"):
        p = subprocess.run([sys.executable, os.path.join(ROOT, tool)],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        results.say(p.returncode == 0, "repository: " + tool, p.stdout.decode())


def run_suite(folder, name, args):
    """(text, passed, failed) of one suite, in a process of its own; an exception is a failure."""
    results, text = Results(), io.StringIO()
    with contextlib.redirect_stdout(text):
        if folder is None:
            repository(results)
        else:
            build = Build(folder, results)
            try:
                next(s for s in SUITES if s.__name__ == name)(build, args)
            except Exception:  # pylint: disable=broad-except
                build.say(False, name, traceback.format_exc())
            print("%s: %s: %d passed, %d failed" % (build.label, name, results.passed, results.failed))
    return text.getvalue(), results.passed, results.failed


def tasks_of(args, only):
    """What is to be run, as (folder, suite); those that take long come first, so that none is waited for alone."""
    tasks = [(None, "repository")] if not only or "repository" in only else []
    for folder in args.builds:
        tasks += [(folder, s.__name__) for s in SUITES if not only or s.__name__ in only]
    return sorted(tasks, key=lambda task: LONG.index(task[1]) if task[1] in LONG else len(LONG))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("builds", nargs="+", metavar="BUILD")
    p.add_argument("--update", action="store_true")
    p.add_argument("--only", default="", metavar="SUITE,...")
    p.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="suites at once (default: the cores)")
    args = p.parse_args()
    only = [n for n in args.only.split(",") if n]
    known = [s.__name__ for s in SUITES] + ["repository"]
    for name in only:
        if name not in known:
            p.error("no suite %r; there are: %s" % (name, " ".join(known)))
    results = Results()
    for folder in args.builds:
        program = os.path.join(folder, "src", "devimg")
        if not os.access(program, os.X_OK):
            results.say(False, "%s: the program is built" % folder, program + " is missing")
    args.builds = [b for b in args.builds if os.access(os.path.join(b, "src", "devimg"), os.X_OK)]
    with concurrent.futures.ProcessPoolExecutor(1 if args.update else max(args.jobs, 1)) as pool:
        running = [pool.submit(run_suite, folder, name, args) for folder, name in tasks_of(args, only)]
        for task in concurrent.futures.as_completed(running):
            text, passed, failed = task.result()
            results.passed += passed
            results.failed += failed
            sys.stdout.write(text)
            sys.stdout.flush()
    print("%d passed, %d failed" % (results.passed, results.failed))
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
