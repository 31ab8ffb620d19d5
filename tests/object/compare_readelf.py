#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare what devimg reads of ELF files with what `readelf -SW -sW -rW` prints.

    compare_readelf.py DUMP_OBJECT FILE...

DUMP_OBJECT is tests/object/dump_object.c, built. Each section's name, address, size and offset, each
symbol, each relocation that writes an address and each one of code in relocatable objects must be
equal. Relocatable objects have made-up addresses: they must not overlap and be aligned, and are then
taken as they are. Files without section headers are compared by `readelf -D`.
Exit status: 0 all equal, 1 a difference (printed), 2 usage.
"""
import os
import re
import struct
import subprocess
import sys

ABSOLUTE = {"R_X86_64_64", "R_AARCH64_ABS64", "R_386_32", "R_ARM_ABS32", "R_RISCV_64",
            "R_PPC64_ADDR64", "R_LARCH_64"}
# Relocations of code by machine, as the psABIs number them; readelf cuts their names.
CODE_PC = {62: {2, 4, 9, 41, 42, 43},  # R_X86_64_PC32 PLT32 GOTPCREL GOTPCRELX REX_GOTPCRELX ...
           3: {2, 4}}                  # R_386_PC32 PLT32
CODE_ABS = {62: {1, 10, 11},           # R_X86_64_64 32 32S
            3: {1},                    # R_386_32
            183: {257, 282, 283, 311, 312, *range(273, 279), 284, 285, 286, 299},
            243: {2, 17, 18, 19, 20, 23, 26, 27, 28}}
ALLOC, EXEC = 2, 4


def run(*argv):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode("latin-1").split("\n")


class Dump:
    """The lines of dump_object."""

    def __init__(self, program, path):
        self.sections, self.symbols, self.pointers, self.code, self.damage = [], [], [], [], []
        self.head = None
        for line in run(program, path):
            kind, _, rest = line.partition(" ")
            if kind == "object":
                self.head = rest.split()
            elif kind == "section":
                f = rest.split(" ", 6)
                self.sections.append(tuple(int(x, 16) for x in f[1:6]) + (f[6],))
            elif kind == "symbol":
                f = rest.split(" ", 4)
                self.symbols.append((int(f[0], 16), f[1] == "1", f[2] == "1", int(f[3]), f[4]))
            elif kind == "pointer":
                f = rest.split()
                self.pointers.append((int(f[0], 16), int(f[1], 16), f[2] == "1"))
            elif kind == "code":
                f = rest.split(" ", 3)
                self.code.append((int(f[0], 16), int(f[1], 16), f[2] == "1", f[3]))
            elif kind in ("damage", "error"):
                self.damage.append(line)
        self.linked = self.head is not None and self.head[1] == "1"
        self.has_sections = self.head is not None and self.head[2] == "1"
        self.pointer_size = int(self.head[3]) if self.head else 8


def read_sections(path):
    rows = []
    for line in run("readelf", "-SW", path):
        m = re.match(r"  \[ *(\d+)\] (.*?) *(SYMTAB SECTION INDICES|[A-Z_0-9]+|LOOS\S*|<\S+>|[0-9a-f]{8}: <unknown>) +"
                     r"([0-9a-f]{8,16}) ([0-9a-f]{6,}) ([0-9a-f]{6,}) ([0-9a-f]{2,}) "
                     r"([A-Za-z ]{0,6}?) +(\d+) +(\d+) +(\d+)$", line)
        if m:
            name, kind, addr, offset, size = m.group(2, 3, 4, 5, 6)
            rows.append({"name": name, "type": kind, "addr": int(addr, 16),
                         "offset": int(offset, 16), "size": int(size, 16),
                         "flags": m.group(8).strip(), "link": int(m.group(9)),
                         "info": int(m.group(10)), "align": int(m.group(11))})
    return rows


def read_symbols(path, dynamic):
    tables, rows = {}, None
    for line in run("readelf", "-sW", *(["-D"] if dynamic else []), path):
        m = re.match(r"Symbol table '(.*)' contains", line)
        if m or line.startswith("Symbol table for image"):
            rows = tables.setdefault(m.group(1) if m else "", [])
            continue
        m = re.match(r" *(\d+): ([0-9a-f]{8,16}) +(\S+) (\S+) +(\S+) +(\S+) +(?:\[.*?\])? *(\S+) ?(.*)$",
                     line)
        if m and rows is not None:
            rows.append({"value": int(m.group(2), 16), "type": m.group(4), "bind": m.group(5),
                         "ndx": m.group(7), "name": m.group(8)})
    return tables


def read_relocations(path, dynamic):
    """(offset of the table in the file, is RELR, rows) of each table."""
    tables, current = [], None
    for line in run("readelf", "-rW", *(["-D"] if dynamic else []), path):
        m = (re.match(r"Relocation section '.*' at offset 0x([0-9a-f]+)", line) or
             re.match(r"'(?:RELA|REL|RELR|PLT)' relocation section at offset 0x([0-9a-f]+)", line))
        if m:
            current = [int(m.group(1), 16), "relr" in line or "RELR" in line, []]
            tables.append(current)
            continue
        if current is None:
            continue
        if current[1]:
            m = re.match(r"([0-9a-f]{8,16})$", line)
            if m:
                current[2].append({"offset": int(m.group(1), 16), "type": "RELR"})
            continue
        m = re.match(r"([0-9a-f]{8,16}) +([0-9a-f]{8,16}) (\S+) *(.*)$", line)
        if not m:
            continue
        rest = m.group(4)
        addend = re.search(r"(?:([+-]) )?([0-9a-f]+)$", rest)
        value = re.match(r"([0-9a-f]{8,16})\b", rest)
        current[2].append({
            "offset": int(m.group(1), 16), "info": int(m.group(2), 16), "type": m.group(3),
            "value": int(value.group(1), 16) if value else 0,
            "addend": (-1 if addend and addend.group(1) == "-" else 1) *
                      int(addend.group(2), 16) if addend else 0,
            "rela": "Addend" in line or (" + " in rest or " - " in rest or not value)})
    return tables


class Compare:
    def __init__(self, program, path):
        self.path, self.wrong = path, 0
        self.dump = Dump(program, path)
        self.bytes = open(path, "rb").read()
        self.bits = 64 if self.bytes[4] == 2 else 32
        self.machine = struct.unpack_from("<H", self.bytes, 18)[0]
        x32 = self.machine == 62 and self.bits == 32
        self.absolute = {"R_X86_64_32"} if x32 else ABSOLUTE
        self.sections = read_sections(path)
        self.dynamic = not self.sections
        self.symbols = read_symbols(path, self.dynamic)

    def say(self, text):
        self.wrong += 1
        if self.wrong <= 10:
            print(f"{self.path}: {text}")

    def same(self, what, got, wanted):
        got, wanted = sorted(got), sorted(wanted)
        if got == wanted:
            return
        only_got = [x for x in got if x not in set(wanted)][:3]
        only_wanted = [x for x in wanted if x not in set(got)][:3]
        self.say(f"{what}: devimg {len(got)}, readelf {len(wanted)}; "
                 f"only devimg {only_got}, only readelf {only_wanted}")

    def check_sections(self):
        d = self.dump
        if self.dynamic:
            if d.has_sections:
                self.say("sections, but readelf shows none")
            return
        if len(d.sections) != len(self.sections):
            self.say(f"{len(d.sections)} sections, readelf has {len(self.sections)}")
            return
        end = 0
        for mine, theirs in zip(d.sections, self.sections):
            addr, size, offset, have, _, name = mine
            null = theirs["type"] == "NULL"
            if name != theirs["name"] or (not null and size != theirs["size"]):
                self.say(f"section {mine}, readelf {theirs}")
            nobits = theirs["type"] in ("NULL", "NOBITS")
            if have != (0 if nobits else theirs["size"]) or (
                    not nobits and offset != theirs["offset"]):
                self.say(f"bytes of section {mine}, readelf {theirs}")
            if d.linked and addr != theirs["addr"]:
                self.say(f"address of section {mine}, readelf {theirs}")
            if not d.linked and not null:
                if addr <= end or addr % max(theirs["align"], 1) != 0:
                    self.say(f"made-up address of section {mine} (last end {end:x}) {theirs}")
                end = addr + size

    def place(self, symbol, tls):
        """(address, defined) of a readelf symbol."""
        ndx, value = symbol["ndx"], symbol["value"]
        if ndx == "UND" or (ndx in ("COM", "LARGE_COM")):
            return 0, False
        if ndx == "ABS" or not ndx.isdigit():
            return value, True
        if not self.dump.linked:
            return value + self.dump.sections[int(ndx)][0], True
        return value + (tls if symbol["type"] == "TLS" else 0), True

    def tls(self):
        for line in run("readelf", "-lW", self.path):
            f = line.split()
            if f and f[0] == "TLS":
                return int(f[2], 16)
        return 0

    def check_symbols(self):
        kinds = {"FUNC": 1, "IFUNC": 1, "FILE": 2}
        tls, wanted = self.tls(), []
        names = [""] if self.dynamic else [".symtab", ".dynsym"]
        for table in names:
            for s in self.symbols.get(table, [])[1:]:
                addr, defined = self.place(s, tls)
                name = "" if s["type"] == "SECTION" else s["name"]
                wanted.append((addr, defined, s["bind"] == "LOCAL", kinds.get(s["type"], 0), name))
        got = self.dump.symbols
        if len(got) != len(wanted):
            self.say(f"{len(got)} symbols, readelf has {len(wanted)}")
            return
        for mine, theirs in zip(got, wanted):
            same_name = mine[4] == theirs[4] or mine[4] == re.sub(
                r"(@.*)?( \(\d+\))?( +\[.*\])?$", "", theirs[4])
            if mine[:4] != theirs[:4] or not same_name:
                self.say(f"symbol {mine}, readelf {theirs}")

    def word_at(self, addr):
        size, code = (8, "<Q") if self.bits == 64 else (4, "<I")
        for line in run("readelf", "-lW", self.path) if not hasattr(self, "loads") else []:
            f = line.split()
            if f and f[0] == "LOAD":
                self.__dict__.setdefault("loads", []).append([int(x, 16) for x in f[1:6]])
        for offset, start, _, file_size, _ in self.__dict__.get("loads", []):
            if start <= addr <= start + file_size - size:
                return struct.unpack_from(code, self.bytes, offset + addr - start)[0]
        return None

    def word_in(self, section, offset):
        code = "<Q" if self.bits == 64 else "<I"
        return struct.unpack_from(code, self.bytes, self.sections[section]["offset"] + offset)[0]

    def symbol_of(self, row, table):
        number = row["info"] >> (32 if self.bits == 64 else 8)
        return table[number] if number else None

    def value_of(self, row, symbol, addend, tls=0):
        if symbol is None:
            return addend, False
        addr, defined = self.place(symbol, tls)
        mask = (1 << self.bits) - 1
        return ((addr + addend) & mask, False) if defined else (0, True)

    def linked_pointers(self):
        table = self.symbols.get("" if self.dynamic else ".dynsym", [])
        alloc = {s["offset"] for s in self.sections if "A" in s["flags"]}
        tls = self.tls()
        for at, relr, rows in read_relocations(self.path, self.dynamic):
            if not self.dynamic and at not in alloc:
                continue
            for row in rows:
                addr, kind = row["offset"], row["type"]
                if relr:
                    yield addr, self.word_at(addr), False
                elif kind.endswith("_RELATIVE"):
                    addend = row["addend"] if self.is_rela(at) else self.word_at(addr)
                    yield addr, addend, False
                elif kind in self.absolute:
                    addend = row["addend"] if self.is_rela(at) else self.word_at(addr)
                    yield (addr, *self.value_of(row, self.symbol_of(row, table), addend, tls))
                elif kind.endswith("_GLOB_DAT"):
                    yield (addr, *self.value_of(row, self.symbol_of(row, table), 0, tls))

    def is_rela(self, at):
        """Machines use one form: REL on i386 and arm, RELA elsewhere."""
        for s in self.sections:
            if s["offset"] == at and s["type"] in ("REL", "RELA"):
                return s["type"] == "RELA"
        return self.machine not in (3, 40)

    def object_relocations(self, code):
        by_offset = {s["offset"]: s for s in self.sections if s["type"] in ("REL", "RELA")}
        for at, _, rows in read_relocations(self.path, False):
            section = by_offset[at]
            target = self.dump.sections[section["info"]]
            executable = bool(target[4] & EXEC)
            if not target[4] & ALLOC or executable != code:
                continue
            symtab = self.symbols.get(".symtab", [])
            for row in rows:
                number = row["info"] & (0xffffffff if self.bits == 64 else 0xff)
                from_next = code and number in CODE_PC.get(self.machine, ())
                if not (from_next or number in CODE_ABS.get(self.machine, ()) if code
                        else row["type"] in self.absolute):
                    continue
                addend = (row["addend"] if section["type"] == "RELA"
                          else self.word_in(section["info"], row["offset"]))
                symbol = self.symbol_of(row, symtab)
                value, external = self.value_of(row, symbol, addend + (4 if from_next else 0))
                name = symbol["name"] if symbol and symbol["type"] != "SECTION" else ""
                yield (target[0] + row["offset"], value, external) + ((name,) if code else ())

    def check(self):
        d = self.dump
        if d.head is None:
            self.say(f"not read: {d.damage}")
            return
        for line in d.damage:
            self.say(f"unexpected: {line}")
        self.check_sections()
        self.check_symbols()
        if self.wrong and not d.linked:
            return
        pointers = self.linked_pointers() if d.linked else self.object_relocations(False)
        self.same("pointers", d.pointers, list(pointers))
        code = [] if d.linked else self.object_relocations(True)
        self.same("code references", d.code, list(code))
        if [p[0] for p in d.pointers] != sorted(p[0] for p in d.pointers):
            self.say("pointers are not sorted")


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    failed = compared = symbols = pointers = code = 0
    for path in sys.argv[2:]:
        if not os.path.isfile(path) or open(path, "rb").read(4) != b"\x7fELF":
            continue
        one = Compare(sys.argv[1], path)
        one.check()
        compared += 1
        failed += one.wrong > 0
        symbols += len(one.dump.symbols)
        pointers += len(one.dump.pointers)
        code += len(one.dump.code)
    print(f"{compared} files compared, {failed} differ; {symbols} symbols, {pointers} pointers, "
          f"{code} code references")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
