#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No false images: every ELF and PE file of this machine, and of wheels that have no device code.

    scan.py DEVIMG CACHE

Device code, or something that cannot be read, may be told only of a file in which readelf or
llvm-readobj shows a section that is made for it.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# Small and large, C, C++, Fortran, Rust and Go; for Linux and Windows.
WHEELS = ["numpy", "scipy", "pillow", "lxml", "cryptography", "psutil", "grpcio", "pyarrow", "orjson", "h5py"]
FOLDERS = ["/usr", "/opt", "/lib", "/bin", "/sbin"]
DEVICE = re.compile(r"\.nv_fatb|__nv_relfatbin|\.hip_fatbin|\.hipFatBin|__CLANG_|\.llvm\.offloading|\.gnu\.offload_|"
                    r"\.gnu\.lto_\.opts|\.sycl_fatbin")
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


def sections(path):
    for tool in (["llvm-readobj-19", "--sections"], ["readelf", "-SW"]):
        try:
            p = subprocess.run([*tool, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        except FileNotFoundError:
            continue
        if p.stdout:
            return p.stdout.decode(errors="replace")
    return ""


def scan(devimg, what, files):
    told = 0
    for i in range(0, len(files), 100):
        p = subprocess.run([devimg, "list", "--format", "json", *files[i:i + 100]], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
        if p.returncode not in (0, 1, 3):
            say(False, "%s: exit %d" % (what, p.returncode), p.stderr.decode(errors="replace")[-500:])
            continue
        for record in json.loads(p.stdout)["files"]:
            if record["status"] == "no-device-code":
                continue
            told += 1
            say(DEVICE.search(sections(record["path"])), "%s of %s" % (record["status"], record["path"]),
                json.dumps((record["images"] + record["findings"])[:2]))
    say(bool(files), "%s: %d files, device code or damage in %d records" % (what, len(files), told))
    print("%s: %d files, device code or damage in %d records" % (what, len(files), told))


def download(name, platform, cache):
    folder = os.path.join(cache, platform)
    find = lambda: glob.glob(os.path.join(folder, name.replace("-", "_") + "-*.whl"))
    if not find():
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:",
                        "--python-version", "3.11", "--platform", platform, "--dest", folder, name], check=True,
                       stdin=subprocess.DEVNULL, timeout=600)
    return find()[0]


def main():
    devimg, cache = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    scan(devimg, "this machine", sorted({f for folder in FOLDERS for f in binaries(os.path.realpath(folder))}))
    for platform in ("manylinux2014_x86_64", "win_amd64"):
        for name in WHEELS:
            with tempfile.TemporaryDirectory() as t:
                with zipfile.ZipFile(download(name, platform, cache)) as z:
                    z.extractall(t)
                scan(devimg, "%s for %s" % (name, platform), sorted(binaries(t)))
    print("%d passed, %d failed" % (counts["passed"], counts["failed"]))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
