#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No false images: every ELF and PE file of this machine, and of wheels that have no device code.

    scan.py DEVIMG CACHE

Device code, or something that cannot be read, may be told only of a file in which llvm-readobj,
readelf or objdump shows a section that is made for it. Every PE file must be read as one; one with
such a section, of a wheel that has device code too, must not be said to be without.
Wheels come from DEVIMG_WHEELS (a folder), else from `pip download` into CACHE.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# Small and large, C, C++, Fortran and Rust; for Linux and Windows.
WHEELS = ["numpy", "scipy", "pillow", "lxml", "cryptography", "psutil", "grpcio", "pyarrow", "orjson", "h5py"]
# DLLs for CUDA, HIP, SYCL and the host alone.
CARRIER = "bitsandbytes==0.50.2"
FOLDERS = ["/usr", "/opt", "/lib", "/bin", "/sbin"]
NAMES = ["__CLANG_OFFLOAD_BUNDLE__", ".llvm.offloading", ".sycl_fatbin", ".nv_fatbin", "__nv_relfatbin", ".hip_fatbin",
         ".hipFatBinSegment", ".gnu.offload_", ".gnu.lto_.opts", "spir64_gen", "spir64"]
SECTION = re.compile(r"^ *(?:Name: (.*) \(|\[ *\d+\] (\S+) |\d+ (\S+) +[0-9a-f]{8} )", re.M)
MAGICS = (b"\x7fELF", b"MZ", b"!<arch>\n")
counts = {"passed": 0, "failed": 0}


def say(good, name, text=""):
    counts["passed" if good else "failed"] += 1
    if not good:
        print("FAILED %s\n    %s" % (name, text))


def binaries(folder):
    for path, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(path, name)
            if os.path.islink(file) or not os.path.isfile(file):
                continue
            try:
                with open(file, "rb") as f:
                    start = f.read(8)
            except OSError:
                continue
            if start.startswith(MAGICS):
                yield file


def is_pe(path):
    with open(path, "rb") as f:
        start = f.read(64)
        if not start.startswith(b"MZ") or len(start) < 64:
            return False
        f.seek(int.from_bytes(start[60:], "little"))
        return f.read(4) == b"PE\0\0"


def made_for_it(name):
    """A name that says device code, in full, or as a linker for PE writes it: 8 bytes of it."""
    return any(name.startswith(known) or name == known[:8] for known in NAMES)


def sections(path):
    """The names of its sections, of every member of an archive."""
    for tool in (["llvm-readobj-19", "--sections"], ["readelf", "-SW"], ["objdump", "-h"]):
        try:
            p = subprocess.run([*tool, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        except FileNotFoundError:
            continue
        names = ["".join(groups) for groups in SECTION.findall(p.stdout.decode(errors="replace"))]
        if names:
            return names
    return []


def scan(devimg, what, files):
    told = 0
    for i in range(0, len(files), 100):
        p = subprocess.run([devimg, "list", "--format", "json", *files[i:i + 100]], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
        if p.returncode not in (0, 1, 3):
            say(False, "%s: exit %d" % (what, p.returncode), p.stderr.decode(errors="replace")[-500:])
            continue
        for record in json.loads(p.stdout)["files"]:
            path, status = record["path"], record["status"]
            silent, pe = status == "no-device-code", is_pe(path)
            if pe and (record["kind"] != "pe" or record["machine"] is None):
                say(False, "%s is a PE file" % path, "read as %(kind)s, machine %(machine)s" % record)
            if silent and not pe:
                continue
            told += not silent
            if any(map(made_for_it, sections(path))) == silent:
                say(False, "%s of %s" % (status, path), json.dumps((record["images"] + record["findings"])[:2]))
    say(bool(files), "%s: %d files, device code or damage in %d records" % (what, len(files), told))
    print("%s: %d files, device code or damage in %d records" % (what, len(files), told))


def download(requirement, platform, cache):
    name, _, version = requirement.partition("==")
    folder = os.path.join(cache, platform)
    kind = "win_amd64" if platform == "win_amd64" else "linux*_x86_64"
    folders = [d for d in (os.environ.get("DEVIMG_WHEELS"), cache, folder) if d]
    find = lambda: [w for d in folders for w in glob.glob(
        os.path.join(d, "%s-%s*%s.whl" % (name.replace("-", "_"), version, kind)))]
    if not find():
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:",
                        "--python-version", "3.11", "--platform", platform, "--dest", folder, requirement], check=True,
                       stdin=subprocess.DEVNULL, timeout=600)
    return find()[0]


def main():
    devimg, cache = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    scan(devimg, "this machine", sorted({f for folder in FOLDERS for f in binaries(os.path.realpath(folder))}))
    for platform in ("manylinux2014_x86_64", "win_amd64"):
        for name in WHEELS + [CARRIER] * (platform == "win_amd64"):
            with tempfile.TemporaryDirectory() as t:
                with zipfile.ZipFile(download(name, platform, cache)) as z:
                    z.extractall(t)
                scan(devimg, "%s for %s" % (name, platform), sorted(binaries(t)))
    print("%d passed, %d failed" % (counts["passed"], counts["failed"]))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
