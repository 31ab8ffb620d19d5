#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/check_requirements.py finds each kind of lie: this repository passes, and fails with one thing changed."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOL = os.path.join(ROOT, "tools", "check_requirements.py")
PAGE = "docs/requirements.md"
# what, file, regular expression, replacement, what must be said, more arguments
CASES = (
    ("a row goes", PAGE, r"^\| S1-21 .*\n", "", "S1-21 has no row", ()),
    ("a row stands twice", PAGE, r"^(\| S1-21 .*\n)", r"\1\1", "S1-21 stands twice", ()),
    ("a number too many", PAGE, r"^\| S1-21 (.*\n)", r"| S1-21 \1| S1-91 \1", "there is no such item", ()),
    ("another kind", PAGE, r"^\| S1-21 \| REQ", "| S1-21 | WISH", "S1-21: expected item, kind", ()),
    ("no test", PAGE, r"^(\| S1-20 .*\|) `[^|]*\|$", r"\1 |", "S1-20: no test is given", ()),
    ("a test that is gone", PAGE, r"^(\| S1-20 .*)test_zebin\.c", r"\1test_zebra.c", "test_zebra.c is not there", ()),
    ("a test that no longer names it", "tests/unit/test_zebin.c", r"S1-20", "S1", "test_zebin.c does not name it", ()),
    ("a longer number is another", "tests/unit/test_zebin.c", r"S1-20", "S1-200", "test_zebin.c does not name it", ()),
    ("a page that no longer tells it", "docs/sycl-aot.md", r"S3-14", "S3", "S3-14: docs/sycl-aot.md does not name it", ()),
    ("a reason without a page", PAGE, r"^(\| S3-14 .*\|) \[[^|]*\| \|$", r"\1 reason | |", "S3-14: no page is given", ()),
    ("a dead link", PAGE, r"\(rule/gaps\.md\)", "(rule/gap.md)", "links to rule/gap.md, which is not there", ()),
    ("a command that no table has", PAGE, r"`devimg targets default-intel`", "`devimg target default-intel`", "devimg target", ()),
    ("a test for a number that is none", "tests/unit/test_zebin.c", r"S1-20", "S1-20, S3-88", "there is no item S3-88", ()),
    ("a page that nobody can find", "README.md", r"docs/format/\)", "docs/targets.md)", "docs/format/hcf.md: no link leads there", ()),
    ("at the end nothing may be later", PAGE, r"^(\| S1-34 .*\|) [^|]*\|$", r"\1 later |", "S1-34: ", ("--final",)),
)


def check(root, *more):
    p = subprocess.run([sys.executable, TOOL, *more, root], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return p.returncode, p.stdout.decode()


def main():
    faults = []
    with tempfile.TemporaryDirectory() as t:
        for name in ("docs", "tests", "src/cli", "examples", "tools", "include", "data/targets", "cmake", "meson"):
            if os.path.isdir(os.path.join(ROOT, name)):
                shutil.copytree(os.path.join(ROOT, name), os.path.join(t, name), symlinks=True,
                                ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
            shutil.copy(os.path.join(ROOT, name), t)
        status, said = check(t)
        if status != 0:
            faults.append("as it is: exit %d\n%s" % (status, said))
        for what, name, pattern, replacement, expected, more in CASES:
            path = os.path.join(t, name)
            with open(path, encoding="utf-8") as f:
                before = f.read()
            after = re.sub(pattern, replacement, before, flags=re.M)
            if after == before and not more:
                faults.append("%s: nothing was changed" % what)
            with open(path, "w", encoding="utf-8") as f:
                f.write(after)
            status, said = check(t, *more)
            if status != 1 or expected not in said:
                faults.append("%s: exit %d, expected \"%s\" in\n%s" % (what, status, expected, said))
            with open(path, "w", encoding="utf-8") as f:
                f.write(before)
    for line in faults:
        print(line)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
