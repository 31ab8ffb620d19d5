#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl lint` against grep and cat over the same sources: lint.py DEVIMG [FOLDER]

Without FOLDER, 2,000 sources of about 20 KB each are made: kernels, constants, comments, and two sizes a file. Medians of RUNS (default 11),
in turn, one worker and all. Printed, not judged; the goal is 2,000 files a second a core."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

COUNT = 2000
UNIT = """// Unit %(n)d: what follows is repeated to the size that sources have.
#include "config.hpp"
namespace proj { namespace unit%(n)d {
constexpr int kSize = config::kSubGroup;
"""
PART = """
/* Part %(i)d of unit %(n)d. Its kernel's size is a constant; its comment says more than it does. */
template <typename T, int N> struct Part%(i)d {
  static constexpr int width = N * %(i)d + 1;
  const T *from; T *to; // both are USM
  void operator()(sycl::nd_item<1> item) const {
    const auto sg = item.get_sub_group();
    for (int k = 0; k < width; k++)
      to[item.get_global_id(0)] += sycl::reduce_over_group(sg, from[k] * static_cast<T>(0x%(i)x), sycl::plus<>());
    if (item.get_local_id(0) == 0 && to != nullptr)
      printf("part %%d of \\"unit\\" %%d: %%s\\n", %(i)d, %(n)d, "done");
  }
};
"""
KERNEL = """
void launch(sycl::queue &q, float *p) {
  q.parallel_for(sycl::nd_range<1>{1024, 64}, [=](sycl::nd_item<1> it) [[sycl::reqd_sub_group_size(kSize)]] { p[it.get_global_id(0)] = 1; });
  q.parallel_for(sycl::nd_range<1>{1024, 64}, [=](sycl::nd_item<1> it) [[sycl::reqd_sub_group_size(32)]] { p[it.get_global_id(0)] = 2; });
}
}}
"""


def make(folder):
    with open(os.path.join(folder, "config.hpp"), "w", encoding="utf-8") as f:
        f.write("#pragma once\nnamespace proj { namespace config { constexpr int kSubGroup = 16; } }\n")
    for n in range(COUNT - 1):
        with open(os.path.join(folder, "unit%04d.cpp" % n), "w", encoding="utf-8") as f:
            f.write(UNIT % {"n": n} + "".join(PART % {"i": i, "n": n} for i in range(26)) + KERNEL)


def sizes(folder):
    return [os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(folder) for f in names]


def timed(argv):
    """Milliseconds of the clock, and of the cores: what else runs on the machine changes the first."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(argv, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    cores = after.children_user + after.children_system - before.children_user - before.children_system
    return (time.perf_counter() - start) * 1000, cores * 1000


def measure(devimg, folder, rounds):
    commands = {
        "cat": ["find", folder, "-type", "f", "-exec", "cat", "{}", "+"],
        "grep -c": ["grep", "-rc", "reqd_sub_group_size", folder],
        "devimg sycl lint -j1": [devimg, "sycl", "lint", "-j1", folder],
        "devimg sycl lint": [devimg, "sycl", "lint", folder],
    }
    times = {name: [] for name in commands}
    for argv in commands.values():
        timed(argv)
    for _ in range(rounds):
        for name, argv in commands.items():
            times[name].append(timed(argv))
    median = {name: [statistics.median(column) for column in zip(*t)] for name, t in times.items()}
    all_sizes = sizes(folder)
    count, size = len(all_sizes), sum(all_sizes)
    print("lint: %d files, %.1f MB (median of %d)" % (count, size / 1e6, rounds))
    for name, (ms, cores) in median.items():
        print("  %-22s %8.1f ms %8.1f ms of cores: %6.0f files/s a core, %5.2f x grep -c" %
              (name, ms, cores, count / cores * 1000, cores / median["grep -c"][1]))


def main():
    devimg, rounds = os.path.abspath(sys.argv[1]), int(os.environ.get("RUNS", "11"))
    if len(sys.argv) > 2:
        measure(devimg, sys.argv[2], rounds)
        return
    with tempfile.TemporaryDirectory() as t:
        make(t)
        measure(devimg, t, rounds)


if __name__ == "__main__":
    main()
