#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl lint` on sources that others wrote: lint_headers.py DEVIMG CACHE

The headers of intel-sycl-rt and of clang that come with it (about 2,200 files) define the property and ask for no size: nothing may fail,
and what is noted must be the parameter of a template. The units of sycl/units/ ask for sizes, one of which Xe2 refuses.
"""
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
passed = failed = 0


def say(good, name, text=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED %s\n    %s" % (name, text))


def lint(devimg, *args):
    p = subprocess.run([devimg, "sycl", "lint", *args, "--format", "json"], stdout=subprocess.PIPE, check=False)
    return p.returncode, json.loads(p.stdout)


def headers(devimg, sdk):
    folders = [f for f in (os.path.join(sdk, "venv", "include"), os.path.join(sdk, "venv", "opt", "compiler", "include"),
                           os.path.join(sdk, "venv", "lib", "clang")) if os.path.isdir(f)]
    status, doc = lint(devimg, *folders)
    say(doc["sources"] > 500, "there are headers", str(folders))
    say(status == 0 and doc["required"] == 0, "the SYCL headers pass", str([f for f in doc["findings"] if f["severity"] == "error"][:5]))
    others = [f for f in doc["findings"] if f["code"] != "template-parameter"]
    say(not others and doc["findings"], "what is noted are template parameters", str(others[:5]))
    for f in doc["findings"]:
        with open(f["path"], encoding="utf-8") as source:
            line = source.read().split("\n")[f["line"] - 1]
        say(line[f["column"] - 1:].startswith(f["text"]) and "sub_group_size" in line, "a note is where it says", str(f))


def units(devimg):
    """Every size that stands in the units, by a search for the attribute and the property in text without comments."""
    paths = sorted(glob.glob(os.path.join(HERE, "sycl", "units", "*.cpp")))
    expected = []
    for path in paths:
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"//[^\n]*|/\*.*?\*/", "", f.read(), flags=re.S)
        expected += [(path, int(m[1] or m[2])) for m in
                     re.finditer(r"reqd_sub_group_size\((\d+)\)|\bsub_group_size<(\d+)>", text)]
    _, doc = lint(devimg, *paths)
    found = sorted((r["path"], s) for r in doc["requests"] if r["state"] == "known" for s in r["sizes"])
    say(found == sorted(expected) and found, "the units", "%s\n%s" % (found, sorted(expected)))
    refused = sorted((f["path"], f["size"]) for f in doc["findings"] if f["code"] == "size-refused")
    say(refused == sorted(e for e in expected if e[1] == 8), "size 8 is refused", str(refused))


def main():
    devimg, cache = sys.argv[1:]
    headers(devimg, os.environ.get("DEVIMG_SYCL", os.path.join(cache, "sycl")))
    units(devimg)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
