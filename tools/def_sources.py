#!/usr/bin/env python3
"""Names registered in a .def file, one a line: DVI_THING(name, ...) /* comment */."""
import re
import sys

for line in open(sys.argv[1], encoding="utf-8"):
    row = re.match(r"\s*DVI_[A-Z]+\((\w+)", line)
    if row:
        print(row.group(1))
