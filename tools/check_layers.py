#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A layer of src/ includes only itself and the layers above it in this list (docs/development.md)."""
import os
import re
import sys

LAYERS = ["preload", "base", "codec", "object", "package", "bundle", "image", "target", "model", "check",
          "query", "edit", "sycl", "output", "cli"]
# Layers that may print, and the one that may end the process.
PRINTS = ("output", "cli")
OUTSIDE = {"devimg.h", "config.h"}
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def sources():
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "src"))):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".def")):
                yield os.path.relpath(os.path.join(folder, name), ROOT)


def faults(path):
    parts = path.split(os.sep)
    if len(parts) != 3 or parts[1] not in LAYERS:
        yield 1, "no layer: a source lies in src/<layer>/"
        return
    layer = LAYERS.index(parts[1])
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    if "SPDX-License-Identifier: Apache-2.0" not in text and not path.endswith(".def"):
        yield 1, "no SPDX-License-Identifier"
    code = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', lambda m: re.sub(r"[^\n]", " ", m[0])
                  if m[0].startswith("/*") else m[0], text, flags=re.S)
    for number, line in enumerate(code.splitlines(), 1):
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if m and m[1] not in OUTSIDE:
            other = m[1].split("/")[0]
            if other not in LAYERS:
                yield number, 'includes "%s", which names no layer' % m[1]
            elif LAYERS.index(other) > layer:
                yield number, 'includes "%s" from below' % m[1]
        bare = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
        if parts[1] not in PRINTS and re.search(r"\b(?:printf|puts|putchar|perror)\s*\(", bare):
            yield number, "prints; only output and cli do"
        if parts[1] != "cli" and re.search(r"\b(?:exit|abort)\s*\(", bare):
            yield number, "ends the process; only cli does"
        if re.search(r"\b(?:strcpy|strcat|sprintf|gets|atoi|strtok|system|popen|alloca)\s*\(", bare):
            yield number, "calls a function that nothing here may call"


def main():
    count = bad = 0
    for path in sources():
        count += 1
        for number, text in faults(path):
            bad += 1
            print("%s:%d: %s" % (path, number, text))
    if count == 0:
        print("no sources found")
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
