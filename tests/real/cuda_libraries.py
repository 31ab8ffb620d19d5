#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shipped CUDA libraries: kernels and their resources against `cuobjdump -all -res-usage`, entries against the second reader of tests/cuda.py.

    cuda_libraries.py DEVIMG CACHE

cuobjdump comes from PyPI (nvidia-cuda-cuobjdump, 1 MB), or from CUOBJDUMP. The libraries are of CUDA 12.4 (the older layout of cubins, LZ4)
and 13.0 (the newer one).
"""
import collections
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import cuda  # noqa: E402
import wheels  # noqa: E402
from edited import named_headers  # noqa: E402

MEMBERS = ["libbitsandbytes_cuda124.so", "libbitsandbytes_cuda130.so"]
FACTS = ("target", "format", "compression", "offset", "stored_size", "size")


def cuobjdump(cache):
    if "CUOBJDUMP" in os.environ:
        return os.environ["CUOBJDUMP"]
    folder = os.path.join(cache, "cuobjdump")
    find = lambda: glob.glob(os.path.join(folder, "**", "bin", "cuobjdump"), recursive=True)
    if not find():
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder,
                        "nvidia-cuda-cuobjdump==13.5.37"], check=True)
    os.chmod(find()[0], 0o755)
    return find()[0]


def sections(path):
    """{name: (offset, bytes)}"""
    with open(path, "rb") as f:
        data = f.read()
    out = {}
    for name, at in named_headers(data).items():
        offset, size = (int.from_bytes(data[at + k:at + k + 8], "little") for k in (24, 32))
        out[name] = (offset, data[offset:offset + size])
    return out


def compare(devimg, tool, name, path):
    p = subprocess.run([devimg, "kernels", path, "--format", "json"], stdout=subprocess.PIPE, check=False)
    r = json.loads(p.stdout)["files"][0]
    expected = []
    for section, (base, data) in sections(path).items():
        if section in (".nv_fatbin", "__nv_relfatbin"):
            for at, size in cuda.containers(data):
                expected += cuda.entries(data, at, size, base, inflate=False)
    found = [{k: i[k] for k in FACTS} for i in r["images"]]
    wheels.say(p.returncode == 0 and found == [{k: e[k] for k in FACTS} for e in expected], name + ": every entry",
               [str(x) for x in found if x not in [{k: e[k] for k in FACTS} for e in expected]])
    text = subprocess.run([tool, "-all", "-res-usage", path], stdout=subprocess.PIPE, check=True).stdout.decode()
    blocks = [b for b in cuda.blocks_of(text) if b["kind"] == "elf"]
    said = collections.Counter((b["target"], k, tuple(n.values())) for b in blocks for k, n in b["kernels"].items())
    images = r["images"]
    own = [k for k in r["kernels"] if images[k["image"]]["format"] == "cubin"]
    got = collections.Counter((k["target"], k["name"], tuple(k[n] or 0 for n in cuda.RESOURCES)) for k in own)
    wheels.say(got == said, "%s: %d kernels, as cuobjdump has them" % (name, len(own)),
               [str(x) for x in [*(got - said)][:10] + ["cuobjdump alone:"] + [*(said - got)][:10]])
    unknown = [k["name"] for k in own if k["registers"] is None or
               (k["private_size"] is None) != (images[k["image"]]["device_link"] in ("input", "linked"))]
    wheels.say(not unknown, name + ": registers and stack are known", unknown)
    wheels.say(len(own) > 1000, name + ": kernels", [str(len(own))])


def main():
    devimg, cache = map(os.path.abspath, sys.argv[1:])
    os.makedirs(cache, exist_ok=True)
    tool = cuobjdump(cache)
    for name in MEMBERS:
        path = wheels.member(wheels.wheel("bitsandbytes==0.50.2", name, cache), name, cache)
        compare(devimg, tool, name, path)
        one = [subprocess.run([devimg, "kernels", path, "-j", j, "--format", "json"], stdout=subprocess.PIPE, check=False).stdout for j in "18"]
        wheels.say(one[0] == one[1], name + ": -j1 and -j8 say the same")
        status = subprocess.run([devimg, "check", path, "--targets", "sm_80,sm_90", "--extra-targets", "allow"], stdout=subprocess.PIPE, check=False)
        wheels.say(status.returncode == 0, name + ": targets that it has pass", [status.stdout.decode()[:2000]])
        status = subprocess.run([devimg, "check", path, "--targets", "sm_87", "--extra-targets", "allow"], stdout=subprocess.PIPE, check=False)
        wheels.say(status.returncode == 1, name + ": a target that it lacks fails", [status.stdout.decode()[:2000]])
    print("%(passed)d passed, %(failed)d failed" % wheels.results)
    return 1 if wheels.results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
