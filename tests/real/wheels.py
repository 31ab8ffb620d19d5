#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shipped SYCL libraries: what devimg says of them against facts.tsv and the independent reader.

    wheels.py DEVIMG CACHE

Wheels come from DEVIMG_WHEELS (a folder), else from `pip download` into CACHE. A member that is a
DLL or a .pyd is of the wheel for Windows.
"""
import collections
import csv
import fnmatch
import glob
import json
import os
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..")
sys.path[:0] = [TESTS, os.path.join(TESTS, "independent")]
import compare_facts  # noqa: E402
import sycl_facts  # noqa: E402

# Read in full by both readers, though no row of facts.tsv counts them.
ALSO = [("onemkl-sycl-vm==2026.2.0", "libmkl_sycl_vm.so.6"),
        ("dpnp==0.20.0", "_tensor_elementwise_impl.cpython-311-x86_64-linux-gnu.so"),
        ("dpctl==0.22.1", "_sycl_queue.cp311-win_amd64.pyd"),
        # beside its images it has dozens of ELF and patch-token magics among its own data
        ("onednn==2026.1.0", "libdnnl.so.3.13")]
LINUX = ["manylinux_2_28_x86_64", "manylinux_2_24_x86_64", "manylinux2014_x86_64"]
# A run-time compiler: bundle names among its texts, and no device code.
WITHOUT = [("intel-sycl-rt==2026.2.0", "libsycl-jit.so"), ("intel-sycl-rt==2026.2.0", "libsycl.so")]
results = {"passed": 0, "failed": 0}


def say(good, name, lines=()):
    results["passed" if good else "failed"] += 1
    if not good:
        print("FAILED %s" % name)
        for line in list(lines)[:20]:
            print("    " + line)
    sys.stdout.flush()


def wheel(requirement, name, cache):
    """The wheel that has the member of that name."""
    windows = name.endswith((".dll", ".pyd"))
    package, version = requirement.split("==")
    pattern = "%s-%s-*%s.whl" % (package.replace("-", "[-_]"), version,
                                 "win_amd64" if windows else "linux*_x86_64")
    find = lambda d: [p for p in glob.glob(os.path.join(d, "*.whl"))
                      if fnmatch.fnmatch(os.path.basename(p), pattern)]
    folder = os.environ.get("DEVIMG_WHEELS")
    found = (find(folder) if folder else []) or find(cache)
    if not found:
        print("$ pip download --no-deps %s for %s" % (requirement, "Windows" if windows else "Linux"))
        platforms = [a for p in (["win_amd64"] if windows else LINUX) for a in ("--platform", p)]
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                        "--only-binary=:all:", "--python-version", "3.11", *platforms, "--dest",
                        cache, requirement], check=True, stdin=subprocess.DEVNULL, timeout=1200)
        found = find(cache)
    return found[0]


def member(path, name, cache):
    """The one member of a wheel with that base name, as a file in the cache."""
    out = os.path.join(cache, name)
    with zipfile.ZipFile(path) as z:
        info, = [i for i in z.infolist() if os.path.basename(i.filename) == name]
        if not os.path.exists(out) or os.path.getsize(out) != info.file_size:
            with z.open(info) as source, open(out + ".part", "wb") as f:
                while chunk := source.read(1 << 20):
                    f.write(chunk)
            os.replace(out + ".part", out)
    return out


def counted(row):
    return dict((k, int(v)) for k, v in (p.split(":") for p in row.split(",")))


def compare_row(row, got):
    """devimg's answer against one row of facts.tsv."""
    top = [i for i in got["images"] if i["parent"] is None]
    formats = collections.Counter("ar" if i["format"] == "archive" else i["format"] for i in top)
    inflated = sum(i["size"] for i in top if i["size"] is not None)
    pairs = [("images", counted(row["images"]), dict(collections.Counter(i["entry_id"] for i in top))),
             ("formats", counted(row["formats"]), dict(formats)),
             ("compressed", int(row["compressed"]), sum(i["compression"] != "none" for i in top)),
             ("descriptors", int(row["descriptors"]), got["descriptors"]),
             ("inflated bytes", int(row["inflated bytes"]), inflated),
             ("kernels", int(row["kernels"]), len(got["kernels"]))]
    return ["%s: expected %r, found %r" % p for p in pairs if p[1] != p[2]]


def registration(devimg, path, expected):
    """Every image is handed to the runtime by the file itself, or none is."""
    images = compare_facts.run(devimg, "list", path)["images"]
    found = collections.Counter(i["registered"] for i in images)
    say(images and set(found) == {expected}, "%s: registered: %s" % (os.path.basename(path), expected),
        ["found %s" % dict(found)])


def main():
    devimg, cache = map(os.path.abspath, sys.argv[1:])
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(HERE, "facts.tsv"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    head = [l for l in lines if l.startswith("#")][-1].lstrip("# ")
    rows = list(csv.DictReader([head] + [l for l in lines if not l.startswith("#")], delimiter="\t"))
    ips = compare_facts.target_ips()
    for requirement, name, row in ([(r["wheel"], r["member"], r) for r in rows]
                                   + [(w, m, None) for w, m in ALSO]):
        path = member(wheel(requirement, name, cache), name, cache)
        if row is not None:
            got = compare_facts.run(devimg, "list", path, ["--kernels"])
            lines = compare_row(row, got)
            say(not lines, "%s: counts" % name, lines)
        reader = sycl_facts.Reader(spirv_dis=200)
        lines = compare_facts.compare(devimg, reader.read(path), path, ips)
        say(not lines, "%s: every image and kernel" % name, lines)
        one = [subprocess.run([devimg, "kernels", path, "-j", j, "--format", "json"], check=True,
                              stdout=subprocess.PIPE).stdout for j in "18"]
        say(one[0] == one[1], "%s: -j1 and -j8 say the same" % name)
        registration(devimg, path, True)
    for requirement, name in WITHOUT:
        path = member(wheel(requirement, name, cache), name, cache)
        got = compare_facts.run(devimg, "list", path)
        say((got["status"], got["images"], got["findings"]) == ("no-device-code", [], []),
            "%s: no device code" % name, [json.dumps(got)[:300]])
    # Linked with /noentry, and without any call.
    registration(devimg, os.path.join(TESTS, "data", "intel", "win_aot_zstd.dll"), False)
    # Its own list passes; the default set does not.
    path = os.path.join(cache, "libbitsandbytes_xpu2026.so")
    for targets, status in (("pvc,xe-lpg,ats-m150", 0), ("default-intel", 1)):
        p = subprocess.run([devimg, "check", path, "--targets", targets, "--fallback", "spir64",
                            "--compression", "required", "--format", "json"], check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        doc = json.loads(p.stdout)
        say(p.returncode == status and doc["summary"]["verdict"] == ("fail" if status else "pass"),
            "libbitsandbytes_xpu2026.so held to %s" % targets,
            [f["message"] for f in doc["files"][0]["findings"]])
    print("%(passed)d passed, %(failed)d failed" % results)
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
