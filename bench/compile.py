#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `devimg sycl compile` adds to running a compiler: compile.py DEVIMG

Medians of RUNS (default 5), in turn: 1,007 commands (53 units, 19 targets) of a compiler that writes an output and a list of 200 headers and
does nothing else, by devimg and by `xargs -P`, both with JOBS (default: the cores) at a time; then devimg once more with nothing changed, and
with one header changed. Printed, not judged; the goals are 5 ms a command beyond xargs, and a second for nothing."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

COMPILER = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words)
{
    const char *rule = NULL, *headers = "@";
    for (int i = 1; i + 1 < count; i++) {
        if (strcmp(words[i], "-o") == 0)
            close(open(words[i + 1], O_CREAT | O_WRONLY, 0644));
        if (strcmp(words[i], "-MF") == 0)
            rule = words[i + 1];
    }
    FILE *file = rule != NULL ? fopen(rule, "w") : NULL;
    if (file == NULL)
        return 1;
    fprintf(file, "x: %s", words[count - 1]);
    for (int i = 0; i < 200; i++)
        fprintf(file, " \\\n %s/h%d.h", headers, i);
    fputc('\n', file);
    return fclose(file);
}
"""


def timed(argv, **more):
    start = time.perf_counter()
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    if p.returncode != 0:
        raise SystemExit("%s: exit %d\n%s" % (argv[:4], p.returncode, (p.stdout + p.stderr).decode()[-2000:]))
    return time.perf_counter() - start, p.stdout.decode()


def main(devimg):
    rounds, jobs = int(os.environ.get("RUNS", "5")), os.environ.get("JOBS", str(len(os.sched_getaffinity(0))))
    with tempfile.TemporaryDirectory() as t:
        path = lambda name: os.path.join(t, name)
        for i in range(200):
            with open(path("h%d.h" % i), "w", encoding="utf-8") as f:
                f.write("int h%d;\n" % i * 400)  # 4 KiB
        units = ["u%d.cpp" % i for i in range(53)]
        for name in units:
            with open(path(name), "w", encoding="utf-8") as f:
                f.write("int x;\n" * 500)
        with open(path("c.c"), "w", encoding="utf-8") as f:
            f.write(COMPILER.replace("@", t))
        for tool in ("icpx", "ocloc"):
            timed(["cc", "-O2", path("c.c"), "-o", path(tool)])
        env = dict(os.environ, PATH=t + ":" + os.environ["PATH"])
        argv = [devimg, "sycl", "compile", "-q", "-j", jobs, *units]
        # the words that devimg gives, so that both start the same
        lines = "".join("icpx -fsycl -fno-sycl-rdc -fsycl-targets=spir64_gen -Xsycl-target-backend=spir64_gen '-device tgllp' -MD -MF %s/d%d -c -o %s/o%d %s\n" %
                        (t, i % 8, t, i % 8, units[i % 53]) for i in range(53 * 19))
        times = {"xargs": [], "devimg": [], "again": [], "header": []}
        for i in range(rounds):
            work = ["--work", path("w%d" % i)]
            times["xargs"].append(timed(["xargs", "-P", jobs, "-L", "1"], cwd=t, env=env, input=lines.encode())[0])
            for name in ("devimg", "again"):
                seconds, out = timed(argv + work, cwd=t, env=env)
                times[name].append(seconds)
            if "0 compiled, 1007 unchanged" not in out:
                raise SystemExit("not known the second time: " + out)
            with open(path("h7.h"), "a", encoding="utf-8") as f:
                f.write("int again;\n")
            times["header"].append(timed(argv + work, cwd=t, env=env)[0])
    m = {name: statistics.median(values) for name, values in times.items()}
    print("compile: 1,007 commands that do nothing, %s at a time: xargs %.2f s, devimg %.2f s (%.2f of it, %.2f ms a command more); "
          "nothing changed %.0f ms; a header of all %.2f s (median of %d)" %
          (jobs, m["xargs"], m["devimg"], m["devimg"] / m["xargs"], (m["devimg"] - m["xargs"]) / 1.007, m["again"] * 1000, m["header"], rounds))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
