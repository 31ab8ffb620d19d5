#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shipped ROCm libraries: what devimg says of each code object against llvm-readelf and the second reader of tests/hip.py.

    rocm.py DEVIMG CACHE

The wheels are those of wheels.py: bundles of version 2 and 3, for Linux and Windows. Every kernel of every code object: its
numbers equal those of its note, its code the size of its symbol.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import hip  # noqa: E402
import wheels  # noqa: E402

MEMBERS = [("libbitsandbytes_rocm64.so", b"CCOB\x02\x00"), ("libbitsandbytes_rocm714.so", b"CCOB\x03\x00"),
           ("libbitsandbytes_rocm714.dll", b"CCOB\x03\x00")]


class Build:
    """As far as tests/hip.py asks for one."""

    def __init__(self, program):
        self.program = program

    def devimg(self, *args, **_):
        p = subprocess.run([self.program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False)
        return p.returncode, p.stdout, p.stderr

    def say(self, good, name, text=""):
        wheels.say(good, name, [text])


def main():
    devimg, cache = map(os.path.abspath, sys.argv[1:])
    os.makedirs(cache, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        test = hip.Hip(Build(devimg), os.path.join(HERE, "..", "data"), folder)
        for name, magic in MEMBERS:
            path = wheels.member(wheels.wheel("bitsandbytes==0.50.2", name, cache), name, cache)
            data, at = test.fatbin(path)
            wheels.say(data.startswith(magic), name + ": the form of bundle that it is here for", [repr(data[:8])])
            expected = hip.images_of(data, at)
            test.compare(name, path, expected)
            _, out, _ = test.build.devimg("list", path, "--format", "json")
            images = json.loads(out)["files"][0]["images"]
            found = collections.Counter(i["registered"] for i in images)
            wheels.say(set(found) == {True}, name + ": every bundle is registered", [str(found)])
            one = [test.build.devimg("kernels", path, "-j", j, "--format", "json")[1] for j in "18"]
            wheels.say(one[0] == one[1], name + ": -j1 and -j8 say the same")
            targets = ",".join(sorted({i["target"] for i in images}))
            status, out, _ = test.build.devimg("check", path, "--targets", targets, "--compression", "required")
            wheels.say(status == 0, name + ": its own targets pass", [out.decode()[:2000]])
            status, out, _ = test.build.devimg("check", path, "--targets", "gfx906:xnack+,gfx1103")
            wheels.say(status == 1, name + ": targets that it lacks fail", [out.decode()[:2000]])
    print("%(passed)d passed, %(failed)d failed" % wheels.results)
    return 1 if wheels.results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
