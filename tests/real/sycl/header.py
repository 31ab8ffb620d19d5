#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The header of `devimg sycl header` (S1-31, S2-10) in the front end of DPC++, and in nvcc where there is one.

    header.py DEVIMG SDK

SDK is what setup.sh made. What compiles is read back: the size that each SPIR-V kernel requires, by spirv-dis. Includes are
not found by that compiler, so the header is pasted: once before and once behind <sycl/sycl.hpp>."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "independent"))
import sycl_facts  # noqa: E402

BODY = "{ p[item.get_global_id(0)] = float(item.get_sub_group().get_local_id()[0]); }"
RANGE = "sycl::nd_range<1>(64, 64)"
# What asks for the size @.
PLACES = {
    "lambda": ("void f(sycl::queue &q, float *p) { q.parallel_for(%s, [=](sycl::nd_item<1> item) DEVIMG_SUB_GROUP_SIZE(@) %s); }" % (RANGE, BODY)),
    "call operator": ("struct k { float *p; DEVIMG_SUB_GROUP_SIZE(@) void operator()(sycl::nd_item<1> item) const %s };\n"
                      "void f(sycl::queue &q, float *p) { q.parallel_for(%s, k{p}); }" % (BODY, RANGE)),
    "template": ("template <unsigned N> void g(sycl::queue &q, float *p)\n"
                 "{ q.parallel_for(%s, [=](sycl::nd_item<1> item) DEVIMG_SUB_GROUP_SIZE(N) %s); }\n"
                 "void f(sycl::queue &q, float *p) { g<@>(q, p); }" % (RANGE, BODY)),
    "free function": ("extern \"C\" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((sycl::ext::oneapi::experimental::nd_range_kernel<1>))\n"
                      "DEVIMG_SUB_GROUP_SIZE(@) void k(float *p) { p[0] += 1; }"),
    "shape": ("void f(sycl::queue &q, float *p) { q.parallel_for(%s, devimg::kernel_shape<@>::kernel([=](sycl::nd_item<1> item) %s)); }"
              % (RANGE, BODY)),
    "shape with registers": ("void f(sycl::queue &q, float *p) { q.parallel_for(%s, devimg::kernel_shape<@, 256>::kernel(\n"
                             "[=](sycl::nd_item<1> item) %s)); }" % (RANGE, BODY)),
    "shape of a task": "void f(sycl::queue &q, float *p) { q.single_task(devimg::kernel_shape<@>::kernel([=]() { p[0] = 1; })); }",
    "shape without a name": ("void f(sycl::queue &q, float *p) { using shape = devimg::kernel_shape<@>;\n"
                             "q.submit([&](sycl::handler &h) { h.parallel_for(%s, shape::kernel([=](sycl::nd_item<1> item) %s)); }); }" % (RANGE, BODY)),
}
# What the runtime asks the driver for 256 registers with; the driver of the CPU here has no such option. The image was made before.
LARGE = "Unrecognized build options: -ze-opt-large-register-file"
results = {"passed": 0, "failed": 0}


def say(good, name, *what):
    results["passed" if good else "failed"] += 1
    if not good:
        print("FAILED header: %s\n    %s" % (name, str(what)[:3000]))


class Compiler:
    def __init__(self, devimg, sdk, work):
        self.devimg, self.sdk, self.work, self.count = devimg, sdk, work, 0

    def header(self, *args):
        return subprocess.run([self.devimg, "sycl", "header", *args], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout

    def compile(self, source):
        """(sizes that the kernels require, what it said); None: it does not compile."""
        self.count += 1
        path, out = (os.path.join(self.work, "%d%s" % (self.count, end)) for end in (".cpp", ".out"))
        with open(path, "w", encoding="utf-8") as f:
            f.write(source)
        p = subprocess.run([os.path.join(self.sdk, "sycl-to-spirv"), path, out], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=300, check=False)
        if p.returncode != 0 and LARGE not in p.stdout:
            return None, p.stdout
        sizes = []
        for image in glob.glob(os.path.join(out, "*.spv")):
            with open(image, "rb") as f:
                sizes += [k["required_sub_group_size"] for k in sycl_facts.spirv_by_dis(f.read())]
        return sizes, p.stdout

    def place(self, header, place, size, first=True):
        include = "#include <sycl/sycl.hpp>\n"
        return self.compile((header + include if first else include + header) + PLACES[place].replace("@", str(size)) + "\n")


def nvcc(header, work):
    program = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if program is None:
        print("skipped: header: there is no nvcc")
        return
    for size in (8, 16):
        path = os.path.join(work, "k%d.cu" % size)
        with open(path, "w", encoding="utf-8") as f:
            f.write(header + "DEVIMG_SUB_GROUP_SIZE(%d) __global__ void k(int *p) { *p = 1; }\n"
                    "int main() { return [](int i) DEVIMG_SUB_GROUP_SIZE(%d) { return i; }(0); }\n" % (size, size))
        p = subprocess.run([program, "-std=c++17", "-c", path, "-o", path + ".o"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           encoding="utf-8", timeout=300, check=False)
        say((p.returncode == 0) == (size == 16) and (size == 16 or "sub-group size 8: refused by lnl-m" in p.stdout), "nvcc: %d" % size, p.stdout)


def main():
    devimg, sdk = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    with tempfile.TemporaryDirectory() as work:
        c = Compiler(devimg, sdk, work)
        header = c.header()
        for i, place in enumerate(PLACES):
            found, said = c.place(header, place, 16, first=i % 2 == 0)
            say(found == [16] and "warning: 'reqd" not in said and (LARGE in said) == ("registers" in place), "%s: 16" % place, found, said)
            found, said = c.place(header, place, 8, first=i % 2 == 1)
            say(found is None and "sub-group size 8: refused by lnl-m" in said, "%s: 8" % place, found, said)
        found, said = c.place(header, "shape with registers", 0)
        say(found == [None] and LARGE in said, "the compiler chooses, with 256 registers", found, said)
        found, said = c.place(header, "shape", 0)
        say(found is None and "256 registers only" in said, "the compiler chooses, without", found, said)
        for targets in ("", "tgllp"):
            found, said = c.place(c.header("--targets", targets), "lambda", 8)
            say(found is None and "sub-group size 8" in said, "list \"%s\": 8" % targets, found, said)
        for size in (8, 32):
            found, said = c.place(c.header("--targets", "tgllp,dg2-g10"), "lambda", size)
            say(found == [size], "a list without Xe2: %d" % size, found, said)
        nvcc(header, work)
    print("%d passed, %d failed" % (results["passed"], results["failed"]))
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
