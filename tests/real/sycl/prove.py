#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real DPC++ code: each rule of `devimg check` fires on exactly the right kernel and target.

    prove.py DEVIMG SDK WORK

SDK is what setup.sh made. The units of units/*.cpp are compiled by the DPC++ front end to SPIR-V, by
ocloc to native images where ocloc can, and laid out as DPC++ does (tests/data/intel/src/mk.py), each
in an object of its own, then linked. What ocloc refuses decides what is expected of the rules
`sub-group-size` and `features`; what the independent reader sees decides `scratch`.

1. A faulty library: the findings are exactly the expected ones.
2. The same with the units mended at their source: passes.
3. From the passing library each image is dropped in turn: the one finding names it.
"""
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(TESTS, "independent"))
import sycl_facts  # noqa: E402

MK = os.path.join(TESTS, "data", "intel", "src", "mk.py")
TARGETS = ["tgllp", "adl-s", "adl-p", "dg2-g10", "dg2-g11", "pvc"]
# What a maintainer would change in each faulty unit.
MENDING = {"narrow": [("reqd_sub_group_size(8)", "reqd_sub_group_size(16)")],
           "precise": [("double", "float")],
           "spilling": [("64", "8"), ("63", "7")]}
UNITS = ["healthy", "narrow", "precise", "spilling"]
results = {"passed": 0, "failed": 0}


def say(good, name, text=""):
    results["passed" if good else "failed"] += 1
    if not good:
        print("FAILED %s" % name)
        for line in text.splitlines()[:60]:
            print("    " + line)


def run(argv, **more):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          stdin=subprocess.DEVNULL, timeout=300, **more)


def must(argv, **more):
    p = run(argv, **more)
    if p.returncode != 0:
        raise SystemExit("%s: exit %d\n%s%s" % (" ".join(argv), p.returncode, p.stdout.decode(),
                                                p.stderr.decode()))
    return p


class Unit:
    """One source: its SPIR-V, the kernel's name, and the targets that ocloc compiles it for."""

    def __init__(self, name, source, sdk, work):
        self.name, self.work = name, work
        os.makedirs(work, exist_ok=True)
        out = os.path.join(work, "spirv")
        must([os.path.join(sdk, "sycl-to-spirv"), source, out])
        made = glob.glob(os.path.join(out, "*.spv"))
        if len(made) != 1:
            raise SystemExit("%s: %d SPIR-V images, expected 1" % (source, len(made)))
        self.spirv = made[0]
        with open(self.spirv, "rb") as f:
            kernels = sycl_facts.spirv_by_dis(f.read())
        if len(kernels) != 1:
            raise SystemExit("%s: %d kernels, expected 1" % (source, len(kernels)))
        self.kernel = kernels[0]["name"]
        self.sub_group_size = kernels[0]["required_sub_group_size"]
        self.fp64 = kernels[0]["fp64"]
        self.refused, self.uses_scratch = {}, []
        for target in TARGETS:
            self.compile(target)
        self.targets = [t for t in TARGETS if t not in self.refused]
        self.archive = self.ocloc(self.targets, "native.ar")

    def ocloc(self, targets, name):
        out = os.path.join(self.work, name)
        must(["ocloc", "compile", "-q", "-spirv_input", "-exclude_ir", "-file", self.spirv, "-device",
              ",".join(targets), "-output", out, "-output_no_suffix", "-internal_options",
              "-cl-intel-allow-zebin"])
        return out

    def compile(self, target):
        out = os.path.join(self.work, target + ".bin")
        p = run(["ocloc", "compile", "-spirv_input", "-file", self.spirv, "-device", target,
                 "-output", out, "-output_no_suffix", "-internal_options", "-cl-intel-allow-zebin"])
        if p.returncode != 0:
            self.refused[target] = (p.stdout + p.stderr).decode(errors="replace")
            return
        reader = sycl_facts.Reader()
        facts = reader.read(out)
        if [k["name"] for k in facts["kernels"]] != [self.kernel]:
            raise SystemExit("%s: other kernels than %s" % (out, self.kernel))
        if facts["kernels"][0]["scratch"]:
            self.uses_scratch.append(target)


def drop_members(archive, out, keep):
    """The archive with those of its target members, in the order of TARGETS, that keep() wants."""
    with open(archive, "rb") as f:
        d = f.read()
    body, seen = b"!<arch>\n", -1
    for name, at, size in sycl_facts.ar_members(d):
        seen += not name.startswith("pad_")
        if name.startswith("pad_") or keep(seen):
            body += d[at - 60:at + size + (size & 1)]
    with open(out, "wb") as f:
        f.write(body)


def zstd(path):
    must(["zstd", "-q", "-f", "--no-check", "-19", path, "-o", path + ".zst"])
    return path + ".zst"


class Library:
    """Objects laid out as DPC++ does, a unit each, linked into one library."""

    def __init__(self, work, name):
        self.work = os.path.join(work, name)
        os.makedirs(self.work, exist_ok=True)
        self.objects = []
        self.path = os.path.join(self.work, "libkernels.so")

    def add(self, unit, archive, fallback=True, compress=True):
        properties = {"SYCL/device requirements": {
            "aspects": [6] if unit.fp64 else [], "reqd_sub_group_size": unit.sub_group_size}}
        options = "-device " + ",".join(unit.targets)
        images = []
        for target, path in (("spir64_gen", archive), ("spir64", unit.spirv)):
            if target == "spir64" and not fallback:
                continue
            image = {"target": target, "entries": [unit.kernel], "props": properties,
                     "copts": options, "rawsize": os.path.getsize(path), "file": path, "format": 0}
            if compress and os.path.getsize(path) >= 512:
                image.update(file=zstd(path), format=4)
            images.append(image)
        spec = os.path.join(self.work, unit.name + ".json")
        with open(spec, "w", encoding="utf-8") as f:
            json.dump({"name": unit.name, "ctor": True, "version": 3, "images": images}, f)
        source = os.path.join(self.work, unit.name + ".c")
        must([sys.executable, MK, "cgen", spec, source])
        must(["clang-19", "-O1", "-fPIC", "-Wno-everything", "-c", unit.name + ".c", "-o",
              unit.name + ".o"], cwd=self.work)
        self.objects.append(unit.name + ".o")

    def link(self):
        must(["clang-19", "-shared", "-nostdlib", "-fuse-ld=lld", "-o", self.path, *self.objects],
             cwd=self.work)
        return self.path


def check(devimg, path):
    p = run([devimg, "check", path, "--targets", ",".join(TARGETS), "--fallback", "spir64",
             "--compression", "required", "--scratch", "none", "--format", "json"])
    if p.returncode not in (0, 1):
        raise SystemExit("check %s: exit %d\n%s" % (path, p.returncode, p.stderr.decode()))
    record = json.loads(p.stdout)["files"][0]
    listed = json.loads(must([devimg, "kernels", path, "--format", "json"]).stdout)["files"][0]
    images = json.loads(must([devimg, "list", path, "--format", "json"]).stdout)["files"][0]
    kernels = {}
    for k in listed["kernels"]:
        kernels[k["module"]] = k["name"]
    found = set()
    for f in record["findings"]:
        if f["severity"] == "note":
            continue
        kernel = f["kernel"] or kernels.get(f["module"])
        target = f["target"]
        if target is None and f["image"] is not None:
            target = images["images"][f["image"]]["target"]
        found.add((f["rule"], kernel, target))
    return p.returncode, record["verdict"], found


def compare(name, expected, found):
    lines = ["expected, not found: %s" % (x,) for x in sorted(expected - found, key=str)]
    lines += ["found, not expected: %s" % (x,) for x in sorted(found - expected, key=str)]
    say(not lines, name, "\n".join(lines))


def faulty(devimg, units, work):
    """healthy lacks adl-p and is stored raw; precise has no fallback; the rest as ocloc left it."""
    lib, expected = Library(work, "faulty"), set()
    for name in UNITS:
        u = units[name]
        archive = u.archive
        missing = set(TARGETS) - set(u.targets)
        if name == "healthy":
            archive = os.path.join(work, "healthy-without-adl-p.ar")
            drop_members(u.archive, archive, lambda i: u.targets[i] != "adl-p")
            missing.add("adl-p")
            expected.add(("compression", u.kernel, None))
        if name == "precise":
            expected.add(("fallback", u.kernel, "spir64"))
        lib.add(u, archive, fallback=name != "precise", compress=name != "healthy")
        expected.update(("targets", u.kernel, t) for t in missing)
        for target, why in u.refused.items():
            if re.search("subgroup size", why, re.I):
                expected.add(("sub-group-size", u.kernel, target))
            elif re.search("double|fp64", why, re.I):
                expected.add(("features", u.kernel, target))
            else:
                raise SystemExit("ocloc refuses %s for %s: %s" % (name, target, why))
        expected.update(("scratch", u.kernel, t) for t in u.uses_scratch)
    status, verdict, found = check(devimg, lib.link())
    say((status, verdict) == (1, "fail"), "the faulty library fails", "%s %s" % (status, verdict))
    for rule in ("targets", "sub-group-size", "features", "scratch", "fallback"):
        want = {x for x in expected if x[0] == rule}
        got = {x for x in found if x[0] == rule}
        say(bool(want), "the faulty library has something for rule %s" % rule)
        compare("rule %s on the faulty library" % rule, want, got)
    # healthy is raw, native and fallback alike; no other unit is.
    raw = {x[1] for x in found if x[0] == "compression"}
    compare("rule compression on the faulty library", {units["healthy"].kernel}, raw)
    other = {x for x in found if x[0] not in ("targets", "sub-group-size", "features", "scratch",
                                              "fallback", "compression")}
    compare("no other rule on the faulty library", set(), other)


def mended(devimg, units, work):
    for u in units.values():
        say(not u.refused and not u.uses_scratch, "%s is mended" % u.name,
            "%s %s" % (u.refused, u.uses_scratch))
    lib = Library(work, "mended")
    for u in units.values():
        lib.add(u, u.archive)
    status, verdict, found = check(devimg, lib.link())
    compare("the mended library", set(), found)
    say((status, verdict) == (0, "pass"), "the mended library passes", "%s %s" % (status, verdict))


def dropped(devimg, units, work):
    for victim in units.values():
        for target in victim.targets + ["spir64"]:
            lib = Library(work, "dropped-%s-%s" % (victim.name, target))
            for u in units.values():
                archive, fallback = u.archive, True
                if u is victim and target == "spir64":
                    fallback = False
                elif u is victim:
                    archive = os.path.join(lib.work, "native.ar")
                    drop_members(u.archive, archive, lambda i: u.targets[i] != target)
                lib.add(u, archive, fallback=fallback)
            status, verdict, found = check(devimg, lib.link())
            rule = "fallback" if target == "spir64" else "targets"
            compare("%s without %s" % (victim.name, target), {(rule, victim.kernel, target)}, found)
            say((status, verdict) == (1, "fail"), "%s without %s fails" % (victim.name, target))


def main():
    devimg, sdk, work = map(os.path.abspath, sys.argv[1:])
    os.makedirs(work, exist_ok=True)
    read = lambda name: os.path.join(HERE, "units", name + ".cpp")
    units = {n: Unit(n, read(n), sdk, os.path.join(work, "units", n)) for n in UNITS}
    faulty(devimg, units, work)
    good = {"healthy": units["healthy"]}
    for name, changes in MENDING.items():
        with open(read(name), encoding="utf-8") as f:
            text = f.read()
        for old, new in changes:
            text = text.replace(old, new)
        folder = os.path.join(work, "mended-units", name)
        os.makedirs(folder, exist_ok=True)
        source = os.path.join(folder, name + ".cpp")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        good[name] = Unit(name, source, sdk, folder)
    mended(devimg, good, work)
    dropped(devimg, good, work)
    print("%(passed)d passed, %(failed)d failed" % results)
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
