#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/requirements.md is whole and true: each item has its row, each promise its test, each reason its page.

    check_requirements.py [--final] [ROOT]

Of the sections in WHOLE, which have the columns item, kind, what, where, test:

    every number from 1 to the last has one row; kind is REQ, CTX, ALT or CONSUMER
    REQ, CONSUMER   `test` names files that are there and name the number (S1-7, or a range: S1-7 to S1-9)
    CTX, ALT        `where` links to a page that names the number
    all             every path in backticks is there; links lead to files; commands exist
    tests           name no number that has no row

A path or command that is not there yet stands behind "comes with" or "later", in its cell: `later` alone is a
row without a test. It is not held against the row, except with --final, which also refuses a row that still says
so when what it waits for is there. Every page of docs/ is reached from README.md by links.
"""
import os
import re
import sys

WHOLE = {"S0": 27, "S1": 40, "S3": 25}
KINDS = ("REQ", "CTX", "ALT", "CONSUMER")
PAGE = os.path.join("docs", "requirements.md")
NUMBER = re.compile(r"\b(S\d)-(\d+)\b(?:\s+to\s+(?:\1-)?(\d+)\b)?")
LATER = re.compile(r"\b(?:comes with|later)\b")
PATH = re.compile(r"(?:docs|tests|cmake|meson|examples|data|tools|include)/[\w./-]*$")


def numbers_in(text):
    """The items that a text names; "S1-16 to S1-19" and "S1-16 to 19" name four."""
    found = set()
    for section, first, last in NUMBER.findall(text):
        found.update("%s-%d" % (section, n) for n in range(int(first), int(last or first) + 1))
    return found


class Requirements:
    def __init__(self, root, final):
        self.root, self.final, self.faults, self.waiting = root, final, [], []
        self.named = {}

    def fault(self, text, *values):
        self.faults.append("%s: " % PAGE + text % values)

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as f:
            return f.read()

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def commands(self):
        rows = re.findall(r"^DVI_COMMAND\((\w+)\)", self.read(os.path.join("src", "cli", "commands.def")), re.M)
        return {r.replace("sycl_", "sycl ", 1).replace("_", "-") for r in rows}

    def names(self, path):
        if path not in self.named:
            whole = os.path.join(self.root, path)
            if os.path.isdir(whole):
                files = sorted(os.path.join(path, f) for f in os.listdir(whole))
                self.named[path] = set().union(*(self.names(f) for f in files)) if files else set()
            else:
                self.named[path] = numbers_in(self.read(path))
        return self.named[path]

    def rows(self):
        for line in self.read(PAGE).splitlines():
            cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            if cells and re.fullmatch(r"S\d-\d+", cells[0]) and cells[0][:2] in WHOLE:
                yield cells

    def waits(self, item, cell, at, what):
        """Something is not there. True where the cell says so before it."""
        told = LATER.search(cell[:at]) is not None
        if not told:
            self.fault("%s: %s is not there", item, what)
        elif self.final:
            self.fault("%s: still waits for %s", item, what)
        else:
            self.waiting.append(item)
        return told

    def cell(self, item, cell, commands):
        """What stands in backticks is there, or is said to come."""
        missing = there = 0
        for match in re.finditer(r"`([^`]+)`", cell):
            words = match.group(1).replace("\\|", "|")
            command = re.match(r"(?:devimg )?(sycl [a-z-]+)\b", words) or re.match(r"devimg ([a-z]+)\b", words)
            if PATH.match(words):
                good = self.exists(words)
            elif command:
                good = command.group(1) in commands
            else:
                continue
            if not good:
                missing += 1
                self.waits(item, cell, match.start(), words)
            there += good and LATER.search(cell[:match.start()]) is not None
        if there and not missing and (self.final or "later" in cell.split()):
            self.fault("%s: what it waits for is there: \"%s\"", item, cell)

    def tests(self, item, cell):
        paths = [p for p in re.findall(r"`([^`]+)`", cell) if p.startswith("tests/")]
        proofs = [p for p in paths if self.exists(p)]
        for path in proofs:
            if item not in self.names(path):
                self.fault("%s: %s does not name it", item, path)
        if proofs or len(paths) > len(proofs):
            return
        if cell == "later":
            if self.final:
                self.fault("%s: no test names it yet", item)
            self.waiting.append(item)
        else:
            self.fault("%s: no test is given for a requirement", item)

    def reason(self, item, cell):
        links = [os.path.normpath(os.path.join("docs", to)) for to in re.findall(r"\]\(([^)#\s]+)", cell)]
        if not links:
            self.fault("%s: no page is given that tells it", item)
        if links and not any(self.exists(to) and item in self.names(to) for to in links):
            self.fault("%s: %s does not name it", item, " ".join(links))

    def table(self):
        seen, commands = set(), self.commands()
        for cells in self.rows():
            item = cells[0]
            if len(cells) != 5 or cells[1] not in KINDS:
                self.fault("%s: expected item, kind (%s), what, where, test", item, ", ".join(KINDS))
                continue
            if item in seen:
                self.fault("%s stands twice", item)
            seen.add(item)
            for cell in cells[3:]:
                self.cell(item, cell, commands)
            for to in re.findall(r"\]\(([^)#\s]+)", " ".join(cells)):
                if not re.match(r"[a-z]+:", to) and not self.exists(os.path.join("docs", to)):
                    self.fault("%s links to %s, which is not there", item, to)
            if cells[1] in ("REQ", "CONSUMER"):
                self.tests(item, cells[4])
            else:
                self.reason(item, cells[3])
        every = {"%s-%d" % (s, n) for s, last in WHOLE.items() for n in range(1, last + 1)}
        key = lambda item: (item[:2], int(item[3:]))
        for item in sorted(every - seen, key=key):
            self.fault("%s has no row", item)
        for item in sorted(seen - every, key=key):
            self.fault("%s: there is no such item", item)
        self.strangers(every)

    def strangers(self, every):
        for folder, _, files in os.walk(os.path.join(self.root, "tests")):
            for name in files:
                if not name.endswith((".py", ".c", ".tsv", ".sh")) and name != "cmd" or name == "test_requirements.py":
                    continue
                path = os.path.relpath(os.path.join(folder, name), self.root)
                for item in sorted(self.names(path)):
                    if item[:2] in WHOLE and item not in every:
                        self.faults.append("%s: there is no item %s" % (path, item))

    def reached(self):
        """Pages of docs/ that links lead to, from README.md."""
        left, seen = ["README.md"], set()
        while left:
            page = left.pop()
            if page in seen or not page.endswith(".md") or not self.exists(page):
                continue
            seen.add(page)
            for to in re.findall(r"\]\(([^)#\s]+)", self.read(page)):
                to = os.path.normpath(os.path.join(os.path.dirname(page), to))
                if os.path.isdir(os.path.join(self.root, to)):  # a link to a folder shows all of it
                    left.extend(os.path.join(to, n) for n in os.listdir(os.path.join(self.root, to)))
                left.append(to)
        for folder, _, files in os.walk(os.path.join(self.root, "docs")):
            for name in sorted(files):
                path = os.path.relpath(os.path.join(folder, name), self.root)
                if name.endswith(".md") and path not in seen:
                    self.faults.append("%s: no link leads there from README.md" % path)


def main():
    args = sys.argv[1:]
    final = "--final" in args
    roots = [a for a in args if a != "--final"]
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    page = Requirements(roots[0] if roots else here, final)
    page.table()
    page.reached()
    for line in page.faults:
        print(line)
    return 1 if page.faults else 0


if __name__ == "__main__":
    sys.exit(main())
