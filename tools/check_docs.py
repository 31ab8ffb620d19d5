#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code and docs name the same things, both ways: commands, options, rules, formats, CMake functions.

    docs/command/<name>.md   a row of src/cli/commands.def; it names each option of the command,
                             and its section Exit status has the texts of the command's table
    docs/rule/<name>.md      a row of src/check/rules.def
    docs/format/<name>.md    a row of {objects,bundles,images}.def, or one of PLAIN below
    fuzz/<name>.dict         for each of those formats
    docs/cmake.md            each function of cmake/*.cmake, with each of its keywords
    [text](path)             every relative link leads to a file
"""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PLAIN = {"ar", "zstd"}  # read by name, without a row
faults = []


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def without_comments(source):
    return re.sub(r"/\*.*?\*/", "", source, flags=re.S)


def rows(path):
    """The words of each DVI_X(...) row: identifiers and the first string, if there is one."""
    return re.findall(r'^DVI_\w+\((\w+)(?:,\s*"([^"]+)")?', without_comments(text(path)), re.M)


def stems(pattern):
    return {os.path.splitext(os.path.basename(p))[0] for p in glob.glob(os.path.join(ROOT, pattern))}


def same(what, code, pages, where):
    for name in sorted(code - pages):
        faults.append("%s %s has no %s" % (what, name, where % name))
    for name in sorted(pages - code):
        faults.append("%s is of no %s" % (where % name, what))


def options_of(path):
    return re.findall(r'\{\s*\w+(?:\s*\+\s*\d+)?,\s*"([a-z][a-z0-9-]*)",\s*(?:0|\'.\'),',
                      without_comments(text(path)))


def exits_of(path):
    """{status: text} of the command's table; None: it has none."""
    table = re.search(r"^    \.exits = \{(.*?)\},$", text(path), re.M | re.S)
    if not table:
        return None
    rows = re.findall(r'NULL|(?:"(?:[^"\\]|\\.)*"\s*)+', table.group(1))
    joined = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', row)) for row in rows]
    found = {status: row for status, row in enumerate(joined) if row}
    skipped = re.search(r'^    \.skipped = ((?:"(?:[^"\\]|\\.)*"\s*)+),$', text(path), re.M)
    if skipped:
        found[77] = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', skipped.group(1)))
    return found


def exits(name, source, page):
    section = text(page).partition("\n## Exit status\n")[2].partition("\n## ")[0]
    stated = re.findall(r"^\| (\d+) \| (.*) \|$", section.replace("`", ""), re.M)
    table = exits_of(source)
    if table is None:
        faults.append("%s has no .exits" % source)
    elif [(str(k), v) for k, v in sorted(table.items())] != stated:
        faults.append("%s: the exit statuses are not those of %s: %s" % (page, source, stated))


def commands():
    names = {r[0] for r in rows("src/cli/commands.def")}
    same("command", names, stems("docs/command/*.md"), "docs/command/%s.md")
    shared = options_of("src/cli/options.c")
    if not shared:
        faults.append("src/cli/options.c: no option table found")
    everywhere = "".join(text(os.path.relpath(p, ROOT)) for p in
                         glob.glob(os.path.join(ROOT, "docs", "command", "*.md")))
    for option in shared:
        if not re.search(r"--%s\b(?!-)" % option, everywhere):
            faults.append("option --%s stands on no page of docs/command/" % option)
    known = set(shared)
    for name in sorted(names):
        source, page = "src/cli/cmd_%s.c" % name, "docs/command/%s.md" % name
        own = options_of(source)
        known.update(own)
        if not os.path.exists(os.path.join(ROOT, page)):
            continue
        if "\n## Exit status\n" not in text(page):
            faults.append("%s has no section Exit status" % page)
        else:
            exits(name, source, page)
        for option in own:
            if not re.search(r"--%s\b(?!-)" % option, text(page)):
                faults.append("%s does not name --%s" % (page, option))
    for name in sorted(names & stems("docs/command/*.md")):
        page = "docs/command/%s.md" % name
        for line in text(page).splitlines():
            if not re.match(r"\s*(?:\$ )?devimg\b", line):
                continue
            for option in re.findall(r"(?<!\S)--([a-z][a-z0-9-]*)", line):
                if option not in known:
                    faults.append("%s shows --%s, which no command takes" % (page, option))


def rules():
    names = {r[1] for r in rows("src/check/rules.def")}
    same("rule", names, stems("docs/rule/*.md"), "docs/rule/%s.md")


def formats():
    names = set(PLAIN)
    for path in ("src/object/objects.def", "src/bundle/bundles.def", "src/image/images.def"):
        names.update(r[0] for r in rows(path))
    same("format", names, stems("docs/format/*.md"), "docs/format/%s.md")
    # "policy" is for what check reads beside binaries: it has docs/policy.md; "source" is for sycl lint
    same("format", names, stems("fuzz/*.dict") - {"policy", "source"}, "fuzz/%s.dict")


def cmake():
    page = text("docs/cmake.md")
    functions, keywords = set(), set()
    for path in glob.glob(os.path.join(ROOT, "cmake", "*.cmake")):
        source = text(os.path.relpath(path, ROOT))
        functions.update(re.findall(r"^function\((devimg_\w+)", source, re.M))
        for words in re.findall(r"^ *cmake_parse_arguments\((.*)\)$|^  set\((?:switches|values|lists) ([A-Z_ ]+)\)$", source, re.M):
            keywords.update(w for w in re.findall(r"\b[A-Z][A-Z_0-9]+\b", " ".join(words)) if w != "PARSE_ARGV")
    same("CMake function", functions, set(re.findall(r"^## (devimg_\w+)$", page, re.M)), "section ## %s in docs/cmake.md")
    if not keywords:
        faults.append("cmake/: no keywords found")
    for word in sorted(keywords):
        if not re.search(r"\b%s\b" % word, page):
            faults.append("docs/cmake.md does not name %s" % word)


def links():
    pages = glob.glob(os.path.join(ROOT, "*.md")) + glob.glob(os.path.join(ROOT, "docs", "**", "*.md"),
                                                             recursive=True)
    for page in sorted(pages):
        with open(page, encoding="utf-8") as f:
            source = re.sub(r"```.*?```", "", f.read(), flags=re.S)
        for to in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", source):
            if not re.match(r"[a-z]+:", to) and not os.path.exists(
                    os.path.join(os.path.dirname(page), to)):
                faults.append("%s links to %s, which is not there" % (os.path.relpath(page, ROOT), to))


def main():
    for part in (commands, rules, formats, cmake, links):
        part()
    for line in faults:
        print(line)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
