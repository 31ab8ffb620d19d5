#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times devimg and its peers on one file, turn about, and prints medians and ratios.

    measure.py DEVIMG TOOLS RUNS FILE...

TOOLS is the folder with zstd_loop and decode, which print the milliseconds of their inner part.

Each round runs every command once, so that a slow minute of the machine hits all of them alike.
Anonymous memory is VmHWM less what is file-backed, sampled from /proc/PID/status while it runs.
"""
import os
import shutil
import statistics
import subprocess
import sys
import time

MIB = 1 << 20


def once(argv):
    start = time.perf_counter()
    p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start, p.returncode


def inner(argv):
    """The seconds that a bench program says its inner part took."""
    text = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
    return float(text.split()[-2]) / 1e3


def anonymous(argv):
    """Largest RssAnon seen, in bytes; sampled every half millisecond, so short peaks may be missed."""
    p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    most = 0
    while p.poll() is None:
        try:
            with open("/proc/%d/status" % p.pid, encoding="ascii") as f:
                for line in f:
                    if line.startswith("RssAnon:"):
                        most = max(most, int(line.split()[1]) << 10)
        except OSError:
            break
        time.sleep(0.0005)
    p.wait()
    return most


def measure(devimg, tools, runs, path):
    threads = str(os.cpu_count())
    loop, decode = os.path.join(tools, "zstd_loop"), os.path.join(tools, "decode")
    inners = {"inflate": [], "decode": []}
    commands = {
        "cat": ["cat", path],
        "devimg list": [devimg, "list", path],
        "libzstd loop": [loop, path, threads],
        "devimg kernels": [devimg, "kernels", path, "-j", threads],
        "devimg list json": [devimg, "list", path, "--format", "json"],
        "devimg kernels json": [devimg, "kernels", path, "-j", threads, "--format", "json"],
        "devimg check": [devimg, "check", path, "--targets", "dg2-g10", "-j", threads],
    }
    for name, tool, more in (("llvm-readelf -S", "llvm-readelf-19", ["-S"]),
                             ("clang-offload-bundler --list", "clang-offload-bundler-19",
                              ["--list", "--type=o", "--input=" + path])):
        if shutil.which(tool):
            commands[name] = [tool, *more] + ([] if "--list" in more else [path])
    times = {n: [] for n in commands}
    status = {}
    for _ in range(2):
        once(commands["cat"])  # warm
    for _ in range(runs):
        for name, argv in commands.items():
            seconds, status[name] = once(argv)
            times[name].append(seconds)
        inners["inflate"].append(inner([loop, path, threads]))
        inners["decode"].append(inner([decode, path, threads]))
    median = {n: statistics.median(t) for n, t in times.items()}
    size = os.path.getsize(path)
    print("\n%s: %.1f MB, median of %d, %s threads" % (os.path.basename(path), size / 1e6, runs,
                                                      threads))
    print("%-30s %9s %9s %8s  %s" % ("command", "ms", "MB/s", "to cat", "exit"))
    for name in commands:
        print("%-30s %9.1f %9.0f %7.2fx  %d" % (name, median[name] * 1e3, size / 1e6 / median[name],
                                               median[name] / median["cat"], status[name]))
    memory = {n: anonymous(commands[n]) for n in ("devimg list", "devimg kernels", "devimg check")}
    print("memory beyond the mapped file: " +
          ", ".join("%s %.1f MiB" % (n, m / MIB) for n, m in memory.items()))
    list_ratio = median["devimg list"] / median["cat"]
    inflate, read = (statistics.median(inners[n]) for n in ("inflate", "decode"))
    speed = inflate / read
    print("inflating every frame: libzstd alone %.1f ms, devimg_read_kernels() %.1f ms; "
          "the whole command to the whole loop %.0f %%"
          % (inflate * 1e3, read * 1e3, 100 * median["libzstd loop"] / median["devimg kernels"]))
    goals = [("list within 3 times cat: %.2f" % list_ratio, list_ratio <= 3),
             ("decoding kernels at 70 %% of libzstd or more: %.0f %%" % (speed * 100), speed >= 0.7),
             ("memory under 64 MiB: %.1f MiB" % (max(memory.values()) / MIB),
              max(memory.values()) < 64 * MIB)]
    for text, met in goals:
        print("%s  %s" % ("met   " if met else "NOT MET", text))
    return all(met for _, met in goals)


def main():
    devimg, tools, runs, *files = sys.argv[1:]
    good = [measure(devimg, tools, int(runs), f) for f in files]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
