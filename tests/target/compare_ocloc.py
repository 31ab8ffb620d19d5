#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ask a real ocloc what data/targets says of Intel GPUs; exit 0: agrees, 1: differs, 77: no ocloc.

    compare_ocloc.py [--ocloc PATH] [--names-only]

Compared, as far as that ocloc knows the name:
  - the IP version of every name            ocloc ids NAME
  - the IP versions of every release group  ocloc ids GROUP
  - and, by compiling one-line OpenCL kernels for each IP version: the sub-group sizes (S1-29), fp64, fp16,
    and the product family of note 1 of the zebin.
An ocloc older than a change of IP versions answers a former one: that is counted, not a difference.
"""
import argparse
import concurrent.futures
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = (8, 16, 32)
KERNELS = {f"size {n}": "__attribute__((intel_reqd_sub_group_size(%d)))\n"
                        "kernel void k(global int *p) { p[get_global_id(0)] = 1; }\n" % n
           for n in SIZES}
KERNELS["fp64"] = ("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                   "kernel void k(global double *p) { p[get_global_id(0)] *= 1.5; }\n")
KERNELS["fp16"] = ("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                   "kernel void k(global half *p) { p[get_global_id(0)] *= 1.5h; }\n")
NOTE_FAMILY = re.compile(rb"\x08\0\0\0\x04\0\0\0\x01\0\0\0IntelGT\0(....)", re.DOTALL)


def read_table(name):
    with open(os.path.join(ROOT, "data", "targets", name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


class Ocloc:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def run(self, *arguments):
        return subprocess.run([self.path, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                              encoding="utf-8", errors="replace")

    def ids(self, name):
        """IP versions that a name stands for; empty: not known."""
        run = self.run("ids", name)
        if run.returncode != 0:
            return set()
        return set(re.findall(r"\d+\.\d+\.\d+", run.stdout.split("ids:")[-1]))

    def compiles(self, what, device):
        """Whether the kernel compiles, and the zebin."""
        source = re.sub(r"\W", "_", f"{what}_{device}")
        with open(os.path.join(self.folder, source + ".cl"), "w", encoding="utf-8") as file:
            file.write(KERNELS[what])
        run = self.run("compile", "-file", source + ".cl", "-device", device, "-output", source,
                       "-output_no_suffix", "--format", "zebin")
        made = os.path.join(self.folder, source + ".bin")
        if not os.path.exists(made):
            made = os.path.join(self.folder, source)
        if run.returncode != 0 or not os.path.exists(made):
            return False, b""
        with open(made, "rb") as file:
            return True, file.read()


def compare_names(ocloc, rows, report):
    known = set()
    for row in rows:
        found = ocloc.ids(row["name"])
        if not found:
            continue
        former = {ip.split("@")[0] for ip in row["former_ips"].split(",")}
        if found != {row["ip_version"]} and not found <= former:
            report(f"{row['name']}: ocloc says {' '.join(sorted(found))}, "
                   f"the table {row['ip_version']}")
        known.add(row["name"])
    return known


def compare_groups(ocloc, rows, report):
    count = 0
    for group in (row["name"] for row in read_table("sets.tsv") if row["kind"] == "release-group"):
        found = ocloc.ids(group)
        if not found:
            continue
        ours = {row["ip_version"] for row in rows if group in row["release_groups"].split(",")}
        if found != ours:
            report(f"{group}: ocloc alone has {' '.join(sorted(found - ours)) or 'none'}, "
                   f"the table alone {' '.join(sorted(ours - found)) or 'none'}")
        count += 1
    return count


def compare_ip(ocloc, row):
    """Differences of one IP version; None: this ocloc compiles nothing for it."""
    device = row["ip_version"]
    runs, zebin = {}, b""
    for what in KERNELS:
        runs[what], made = ocloc.compiles(what, device)
        zebin = zebin or made
    if not any(runs.values()):
        return None
    sizes = row["sub_group_sizes"].split(",")
    expected = {f"size {n}": str(n) in sizes for n in SIZES}
    expected["fp64"] = row["fp64"] == "yes"
    expected["fp16"] = row["fp16"] == "yes"
    differences = [f"{row['name']} {device}: {what}: ocloc {'compiles' if ok else 'refuses'} it, "
                   f"the table says {'yes' if expected[what] else 'no'}"
                   for what, ok in runs.items() if ok != expected[what]]
    note = NOTE_FAMILY.search(zebin)
    if note and int.from_bytes(note.group(1), "little") != int(row["product_family"], 16):
        differences.append(f"{row['name']} {device}: product family of note 1 is "
                           f"0x{int.from_bytes(note.group(1), 'little'):x}, "
                           f"the table says {row['product_family']}")
    if not note:
        differences.append(f"{row['name']} {device}: no product family in the zebin")
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ocloc", default=os.environ.get("OCLOC", "ocloc"))
    parser.add_argument("--names-only", action="store_true", help="compile nothing")
    options = parser.parse_args()
    path = shutil.which(options.ocloc)
    if path is None:
        print(f"skipped: no {options.ocloc}")
        return 77
    rows = read_table("intel.tsv")
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        ocloc = Ocloc(path, folder)
        known = compare_names(ocloc, rows, differences.append)
        groups = compare_groups(ocloc, rows, differences.append)
        print(f"names: {len(known)} of {len(rows)} known to this ocloc; release groups: {groups}")
        if not known:
            differences.append("this ocloc knows no name at all")
        if not options.names_only:
            primary = [row for row in rows if row["primary"] == "yes"]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                results = list(pool.map(lambda row: compare_ip(ocloc, row), primary))
            compiled = [result for result in results if result is not None]
            print(f"IP versions: {len(compiled)} of {len(primary)} compiled")
            if not compiled:
                differences.append("this ocloc compiles for no IP version")
            differences += [text for result in compiled for text in result]
    for text in differences:
        print(f"differs: {text}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
