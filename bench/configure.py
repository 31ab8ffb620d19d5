#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the CMake package adds to configuring a project: configure.py BUILD

Medians of RUNS (default 11), in turn: a project without devimg, and the same with one devimg_sycl_detect() (whose sycl-ls is a script
that prints one line) and words for three libraries with one list. Printed, not judged; the goal is less than 50 ms beyond the tools."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FUNCTIONS = """find_package(devimg REQUIRED CONFIG)
devimg_sycl_detect(TARGETS spir64_gen spir64 SYCL_LS "%s")
devimg_sycl_flags(A TARGETS default-intel)
devimg_sycl_flags(B TARGETS default-intel)
devimg_sycl_flags(C TARGETS default-intel)
"""


def timed(argv):
    start = time.perf_counter()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1000


def main(build):
    rounds = int(os.environ.get("RUNS", "11"))
    if not shutil.which("cmake"):
        raise SystemExit("configure.py: there is no cmake")
    with tempfile.TemporaryDirectory() as t:
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", t, "--tags", "runtime"], check=True)
        config = next(os.path.join(d, f) for d, _, files in os.walk(t) for f in files if f == "devimg-config.cmake")
        tool = os.path.join(t, "sycl-ls")
        with open(tool, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\necho '[opencl:cpu][opencl:0] a'\n")
        os.chmod(tool, 0o755)
        times = {"without": [], "with": [], "tools": []}
        for name in ("without", "with"):
            os.mkdir(os.path.join(t, name))
            with open(os.path.join(t, name, "CMakeLists.txt"), "w", encoding="utf-8") as f:
                f.write("cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES NONE)\n" + (FUNCTIONS % tool if name == "with" else ""))
        for _ in range(rounds):
            for name in ("without", "with"):
                shutil.rmtree(os.path.join(t, "b"), ignore_errors=True)
                times[name].append(timed(["cmake", "-S", os.path.join(t, name), "-B", os.path.join(t, "b"),
                                          "-Ddevimg_DIR=" + os.path.dirname(config)]))
            times["tools"].append(timed([tool]))
    median = {name: statistics.median(values) for name, values in times.items()}
    added = median["with"] - median["without"]
    print("cmake: configure %.0f ms without devimg, %.0f ms with it: %.0f ms more, %.0f ms of them the stand-in for sycl-ls (median of %d)" %
          (median["without"], median["with"], added, median["tools"], rounds))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
