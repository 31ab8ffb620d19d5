#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the object layer reads of ELF files with what `readelf -SW -sW -rW` prints.

    compare_readelf.py [--quick] BUILD [FILE...]

Every section's name, address, size and offset, every symbol, every relocation that writes an address
and every one of code in relocatable objects must be equal. Relocatable objects have made-up
addresses: they must be aligned and not overlap, and are then taken as they are. Files without section
headers are compared with the segments and with `readelf -D`. Device code must be refused.

Without FILE: the fixtures of tests/data/intel, 200 shared libraries of this system, and, where there
is a compiler for them, objects of four machines, RELR and files without a section table. --quick: the
fixtures and 40 libraries. BUILD is a build folder: tests/object/dump_object.c is linked with its
libdevimg.a. Exit status: 0 all equal, 1 a difference (printed), 2 usage, 77 no readelf or compiler.
"""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Relocations by machine, as the psABIs number them.
RELATIVE = {62: 8, 183: 1027, 3: 8, 40: 23, 243: 3, 21: 22, 258: 3}
ABSOLUTE = {62: 1, 183: 257, 3: 1, 40: 2, 243: 2, 21: 38, 258: 2}
GLOB_DAT = {62: 6, 183: 1025, 3: 6, 40: 21, 21: 20}
CODE_PC = {62: {2, 4, 9, 41, 42, 43},  # R_X86_64_PC32 PLT32 GOTPCREL GOTPCRELX REX_GOTPCRELX ...
           3: {2, 4}}                  # R_386_PC32 PLT32
CODE_ABS = {62: {1, 10, 11},           # R_X86_64_64 32 32S
            3: {1},                    # R_386_32
            183: {257, 282, 283, 311, 312, *range(273, 279), 284, 285, 286, 299},
            243: {2, 17, 18, 19, 20, 23, 26, 27, 28}}
DEVICE_MACHINES = {190, 205, 224}  # CUDA, Intel GT, AMD GPU
EXTERNAL = (1 << 64) - 1
UNSUPPORTED = "no object format that devimg reads"


def lines_of(*argv):
    env = dict(os.environ, LC_ALL="C")
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                          env=env)
    return done.stdout.decode("latin-1").split("\n")


class Dump:
    """The lines of dump_object."""

    def __init__(self, program, path):
        self.sections, self.pointers, self.code, self.damage = [], [], [], []
        self.symbols = {"static": [], "dynamic": []}
        self.machine = self.linked = self.pointer_size = None
        for line in lines_of(program, path):
            kind, _, rest = line.partition(" ")
            if kind == "object":
                self.machine, linked, size = rest.split()
                self.linked, self.pointer_size = linked == "1", int(size)
            elif kind == "section":
                f = rest.split(" ", 6)
                self.sections.append((*(int(x, 16) for x in f[1:5]), f[5] == "1", f[6]))
            elif kind == "symbol":
                table, *f = rest.split(" ", 5)
                self.symbols[table].append((int(f[0], 16), f[1] == "1", f[2] == "1", int(f[3]),
                                            f[4]))
            elif kind == "pointer":
                self.pointers.append(tuple(int(x, 16) for x in rest.split()))
            elif kind == "code":
                f = rest.split()
                self.code.append((int(f[0], 16), int(f[1], 16), f[2] == "1"))
            elif line:
                self.damage.append(line)


def read_sections(path):
    rows = []
    for line in lines_of("readelf", "-SW", path):
        m = re.match(r"  \[ *(\d+)\] (.*?) *(SYMTAB SECTION INDICES|[A-Z_0-9]+|LOOS\S*|<\S+>|"
                     r"[0-9a-f]{8}: <unknown>) +([0-9a-f]{8,16}) ([0-9a-f]{6,}) ([0-9a-f]{6,}) "
                     r"([0-9a-f]{2,}) ([A-Za-z ]{0,6}?) +(\d+) +(\d+) +(\d+)$", line)
        if m:
            name, kind, addr, offset, size = m.group(2, 3, 4, 5, 6)
            rows.append({"name": name, "type": kind, "addr": int(addr, 16),
                         "offset": int(offset, 16), "size": int(size, 16),
                         "flags": m.group(8).strip(), "link": int(m.group(9)),
                         "info": int(m.group(10)), "align": int(m.group(11))})
    return rows


def read_segments(path):
    rows = []
    for line in lines_of("readelf", "-lW", path):
        m = re.match(r"  (\S+) +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+) "
                     r"0x([0-9a-f]+) (.{3}) 0x", line)
        if m:
            offset, addr, file_size, memory_size = (int(x, 16) for x in m.group(2, 3, 4, 5))
            rows.append((m.group(1), addr, memory_size, offset, file_size, "E" in m.group(6)))
    return rows


def read_symbols(path, dynamic):
    tables, rows = {}, None
    for line in lines_of("readelf", "-sW", *(["-D"] if dynamic else []), path):
        m = re.match(r"Symbol table '(.*)' contains", line)
        if m or line.startswith("Symbol table for image"):
            rows = tables.setdefault(m.group(1) if m else ".dynsym", [])
            continue
        # "<OS specific>: 10" is how a GNU unique symbol looks in a file whose OSABI is not GNU's
        m = re.match(r" *(\d+): ([0-9a-f]{8,16}) +(\S+) (<[^>]+>: \d+|\S+) +(<[^>]+>: \d+|\S+) "
                     r"+(\S+) +(?:\[.*?\])? *(\S+) ?(.*)$", line)
        if m and rows is not None:
            rows.append({"value": int(m.group(2), 16), "type": m.group(4), "bind": m.group(5),
                         "ndx": m.group(7), "name": m.group(8)})
    return tables


def read_relocations(path, dynamic):
    """(offset of the table in the file, is RELR, rows) of each table."""
    tables, current = [], None
    for line in lines_of("readelf", "-rW", *(["-D"] if dynamic else []), path):
        m = (re.match(r"Relocation section '.*' at offset 0x([0-9a-f]+)", line) or
             re.match(r"'(?:RELA|REL|RELR|PLT)' relocation section at offset 0x([0-9a-f]+)", line))
        if m:
            current = [int(m.group(1), 16), "relr" in line or "RELR" in line, []]
            tables.append(current)
        elif current and current[1]:
            m = re.match(r"([0-9a-f]{8,16})$", line)
            if m:
                current[2].append({"offset": int(m.group(1), 16)})
        elif current:
            m = re.match(r"([0-9a-f]{8,16}) +([0-9a-f]{8,16}) \S+ *(.*)$", line)
            if m:
                addend = re.search(r"(?:([+-]) )?([0-9a-f]+)$", m.group(3))
                sign = -1 if addend and addend.group(1) == "-" else 1
                current[2].append({"offset": int(m.group(1), 16), "info": int(m.group(2), 16),
                                   "addend": sign * int(addend.group(2), 16) if addend else 0})
    return tables


def same_counts(say, what, got, wanted, tool):
    got, wanted = collections.Counter(got), collections.Counter(wanted)
    if got != wanted:
        say("%s: devimg %d, %s %d; only devimg %s, only %s %s" % (
            what, sum(got.values()), tool, sum(wanted.values()), list(got - wanted)[:3], tool,
            list(wanted - got)[:3]))


class Compare:
    def __init__(self, program, path):
        self.path, self.wrong = path, []
        self.dump = Dump(program, path)
        with open(path, "rb") as f:
            self.bytes = f.read()
        self.bits = 64 if self.bytes[4] == 2 else 32
        self.type, self.machine = struct.unpack_from("<HH", self.bytes, 16)
        self.sections = read_sections(path)
        self.segments = read_segments(path)
        self.dynamic = not self.sections
        self.symbols = read_symbols(path, self.dynamic)
        self.tls = next((s[1] for s in self.segments if s[0] == "TLS"), 0)

    def say(self, text):
        self.wrong.append(text)

    def same(self, what, got, wanted):
        same_counts(self.say, what, got, wanted, "readelf")

    def check_segments(self):
        """Without sections: PT_LOAD in their stead."""
        wanted = [(s[1], max(s[2], s[4]), s[3], s[4], s[5], "PT_LOAD")
                  for s in self.segments if s[0] == "LOAD"]
        if self.dump.sections != wanted:
            self.say("segments %s, readelf %s" % (self.dump.sections, wanted))

    def check_sections(self):
        d = self.dump
        if len(d.sections) != len(self.sections):
            self.say("%d sections, readelf has %d" % (len(d.sections), len(self.sections)))
            return
        end = 0
        for mine, theirs in zip(d.sections, self.sections):
            addr, size, offset, have, executable, name = mine
            null = theirs["type"] == "NULL"
            empty = theirs["type"] in ("NULL", "NOBITS")
            if (name != theirs["name"] or executable != ("X" in theirs["flags"]) or
                    (not null and size != theirs["size"]) or
                    have != (0 if empty else theirs["size"]) or
                    (not empty and offset != theirs["offset"]) or
                    (d.linked and addr != theirs["addr"])):
                self.say("section %s, readelf %s" % (mine, theirs))
            if not d.linked and not null:
                if addr <= end or addr % max(theirs["align"], 1) != 0:
                    self.say("made-up address %#x behind %#x: %s" % (addr, end, theirs))
                end = addr + size

    def place(self, symbol):
        """(address, defined) of a readelf symbol."""
        ndx, value = symbol["ndx"], symbol["value"]
        if ndx in ("UND", "COM", "LARGE_COM"):
            return 0, False
        if not ndx.isdigit():
            return value, True
        if not self.dump.linked:
            return value + self.dump.sections[int(ndx)][0], True
        return value + (self.tls if symbol["type"] == "TLS" else 0), True

    def check_symbols(self):
        kinds = {"FUNC": 1, "IFUNC": 1, "FILE": 2}
        for mine, name in (("static", ".symtab"), ("dynamic", ".dynsym")):
            got, wanted = self.dump.symbols[mine], self.symbols.get(name, [])[1:]
            if len(got) != len(wanted):
                self.say("%d %s symbols, readelf has %d" % (len(got), mine, len(wanted)))
                continue
            for g, s in zip(got, wanted):
                full = "" if s["type"] == "SECTION" else s["name"]
                bare = re.sub(r"(@.*)?( \(\d+\))?( +\[.*\])?$", "", full)
                w = (*self.place(s), s["bind"] == "LOCAL", kinds.get(s["type"], 0))
                if g[:4] != w or g[4] not in (full, bare):
                    self.say("symbol %s, readelf %s %s" % (g, w, full))

    def unpack(self, offset):
        return struct.unpack_from("<Q" if self.bits == 64 else "<I", self.bytes, offset)[0]

    def word_at(self, addr):
        for kind, start, _, offset, file_size, _ in self.segments:
            if kind == "LOAD" and start <= addr <= start + file_size - self.bits // 8:
                return self.unpack(offset + addr - start)
        raise ValueError("%s: no bytes at %#x" % (self.path, addr))

    def value_of(self, row, table, addend):
        """(address, external) that a relocation against a symbol gives."""
        number = row["info"] >> (32 if self.bits == 64 else 8)
        addr, defined = self.place(table[number]) if number else (0, True)
        return ((addr + addend) & ((1 << self.bits) - 1), False) if defined else (0, True)

    def number(self, row):
        return row["info"] & (0xffffffff if self.bits == 64 else 0xff)

    def pointer(self, row, table, addend):
        value, external = self.value_of(row, table, addend)
        return row["offset"], EXTERNAL if external else value

    def absolute(self):
        if self.bits == 32:  # x32 and riscv32 have their own
            return {62: 10, 243: 1}.get(self.machine, ABSOLUTE.get(self.machine))
        return ABSOLUTE.get(self.machine)

    def linked_pointers(self):
        table = self.symbols.get(".dynsym", [])
        alloc = {s["offset"] for s in self.sections if "A" in s["flags"]}
        mask = (1 << self.bits) - 1
        for at, relr, rows in read_relocations(self.path, self.dynamic):
            if not self.dynamic and at not in alloc:
                continue
            rela = not relr and self.is_rela(at)
            for row in rows:
                addr, kind = row["offset"], None if relr else self.number(row)
                place = lambda: row["addend"] if rela else self.word_at(addr)
                if relr:
                    yield addr, self.word_at(addr)
                elif kind == RELATIVE.get(self.machine):
                    yield addr, place() & mask
                elif kind == self.absolute():
                    yield self.pointer(row, table, place())
                elif kind == GLOB_DAT.get(self.machine):
                    yield self.pointer(row, table, 0)

    def is_rela(self, at):
        """Machines use one form: REL on i386 and arm, RELA elsewhere."""
        for s in self.sections:
            if s["offset"] == at and s["type"] in ("REL", "RELA"):
                return s["type"] == "RELA"
        return self.machine not in (3, 40)

    def object_relocations(self, code):
        by_offset = {s["offset"]: s for s in self.sections if s["type"] in ("REL", "RELA")}
        table = self.symbols.get(".symtab", [])
        for at, _, rows in read_relocations(self.path, False):
            section = by_offset[at]
            flags = self.sections[section["info"]]["flags"]
            if "A" not in flags or ("X" in flags) != code:
                continue
            start = self.dump.sections[section["info"]][0]
            for row in rows:
                number = self.number(row)
                from_next = code and number in CODE_PC.get(self.machine, ())
                if not (from_next or number in CODE_ABS.get(self.machine, ()) if code
                        else number == self.absolute()):
                    continue
                addend = (row["addend"] if section["type"] == "RELA" else
                          self.unpack(self.sections[section["info"]]["offset"] + row["offset"]))
                row = dict(row, offset=row["offset"] + start)
                if code:
                    yield (row["offset"], *self.value_of(row, table, addend + 4 * from_next))
                else:
                    yield self.pointer(row, table, addend)

    def check(self):
        d = self.dump
        if self.machine in DEVICE_MACHINES or not 1 <= self.type <= 3:
            if d.linked is not None or len(d.damage) != 1 or UNSUPPORTED not in d.damage[0]:
                self.say("device code is taken for an object: %s" % d.damage)
            return
        if d.linked is None or d.damage:
            self.say("not read: %s" % d.damage)
            return
        (self.check_segments if self.dynamic else self.check_sections)()
        self.check_symbols()
        if self.wrong and not d.linked:
            return
        self.same("pointers", d.pointers,
                  self.linked_pointers() if d.linked else self.object_relocations(False))
        self.same("code references", d.code, [] if d.linked else self.object_relocations(True))
        if [p[0] for p in d.pointers] != sorted(p[0] for p in d.pointers):
            self.say("pointers are not sorted")


def libraries(count, most_size):
    """A spread of the shared libraries of this system."""
    paths = {os.path.realpath(p) for p in glob.glob("/usr/lib/*/*.so*")}
    paths = sorted(p for p in paths if os.path.isfile(p) and os.path.getsize(p) <= most_size)
    step = max(len(paths) / count, 1)
    return [paths[int(i * step)] for i in range(min(count, len(paths)))]


SOURCE = """
#include <stddef.h>
extern int outside(int *); extern int data_outside[4];
int common_like; static int hidden[4] = { 1 }; __thread int tls = 3; __thread int tls_bss;
int *pointers[] = { &hidden[1], &data_outside[2], &common_like, NULL, &hidden[3] };
int (*functions[])(int *) = { outside, NULL, outside };
static const char *const names[] = { "a", "bc", "def" };
__attribute__((visibility("default"))) const char *name_of(unsigned i) { return names[i % 3]; }
__attribute__((section(".text.own"))) int own(int i) { return outside(&hidden[i & 3]) + tls; }
__attribute__((constructor)) static void begin(void) { hidden[2] = own(1) + common_like; }
int switched(int i) { switch (i) { case 1: return own(7); case 2: return tls_bss; case 3: return 9;
    case 4: return outside(NULL); case 5: return data_outside[1]; case 6: return 4; } return 0; }
"""


def made_files(folder):
    """Objects and libraries of each machine that a compiler here makes."""
    source = os.path.join(folder, "a.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(SOURCE)
    clang = next((c for c in ("clang-19", "clang") if shutil.which(c)), None)
    lld = next((c for c in ("ld.lld-19", "ld.lld") if shutil.which(c)), None)
    strip = next((c for c in ("llvm-strip-19", "llvm-strip") if shutil.which(c)), None)
    calls = [(["gcc"], "gcc", [])]
    if clang:
        calls += [([clang, "--target=" + t], "clang-" + t, link) for t, link in (
            ("x86_64-linux-gnu", ["elf_x86_64"]), ("aarch64-linux-gnu", ["aarch64elf"]),
            ("i386-linux-gnu", ["elf_i386"]), ("riscv64-linux-gnu", ["elf64lriscv"]),
            ("x86_64-linux-gnux32", []), ("armv7-linux-gnueabi", ["armelf"]))]
    for compiler, name, emulation in calls:
        for flags in (["-O2", "-fPIC"], ["-O0", "-fno-pic"], ["-O2", "-g", "-ffunction-sections"]):
            o = os.path.join(folder, name + "".join(flags) + ".o")
            if subprocess.run([*compiler, *flags, "-w", "-c", source, "-o", o], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0:
                yield o
        pic = os.path.join(folder, name + "-O2-fPIC.o")
        if not (lld and emulation and os.path.exists(pic)):
            continue
        for how in ("none", "relr", "relr-kept"):
            so = os.path.join(folder, name + "-" + how + ".so")
            more = ["--emit-relocs"] if how == "relr-kept" else []
            pack = "--pack-dyn-relocs=" + how.split("-")[0]
            if subprocess.run([lld, "-m", *emulation, "-shared", pack, "--hash-style=both", *more,
                               pic, "-o", so], check=False).returncode != 0:
                continue
            yield so
            bare = so + ".bare"
            if strip and subprocess.run([strip, "--strip-sections", so, "-o", bare],
                                        check=False).returncode == 0:
                yield bare


def build_dump(build, out):
    with open(os.path.join(build, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as f:
        sanitize = next(o["value"] for o in json.load(f) if o["name"] == "b_sanitize")
    flags = ["-fsanitize=" + sanitize] if sanitize not in ("none", "") else []
    subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
                    *flags, "-I" + os.path.join(ROOT, "include"), "-I" + os.path.join(ROOT, "src"),
                    os.path.join(HERE, "dump_object.c"), os.path.join(build, "src", "libdevimg.a"),
                    "-lpthread", "-o", out], check=True)


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true")
    p.add_argument("build", metavar="BUILD")
    p.add_argument("files", nargs="*", metavar="FILE")
    args = p.parse_args()
    for tool in ("readelf", "cc"):
        if shutil.which(tool) is None:
            print("skipped: there is no " + tool)
            return 77
    failed = compared = symbols = pointers = code = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "dump_object")
        build_dump(os.path.abspath(args.build), program)
        paths = args.files
        if not paths:
            paths = sorted(glob.glob(os.path.join(ROOT, "tests", "data", "intel", "*")))
            paths += libraries(40, 1 << 20) if args.quick else libraries(200, 1 << 40)
            paths += [] if args.quick else list(made_files(folder))
        for path in paths:
            if not os.path.isfile(path):
                continue
            with open(path, "rb") as f:
                head = f.read(20)
            if head[:4] != b"\x7fELF" or len(head) < 20:
                continue
            one = Compare(program, path)
            one.check()
            for text in one.wrong[:10]:
                print("%s: %s" % (path, text))
            compared += 1
            failed += bool(one.wrong)
            symbols += sum(map(len, one.dump.symbols.values()))
            pointers += len(one.dump.pointers)
            code += len(one.dump.code)
    print("%d files compared, %d differ; %d symbols, %d pointers, %d code references" % (
        compared, failed, symbols, pointers, code))
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
