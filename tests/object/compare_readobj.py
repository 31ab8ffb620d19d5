#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the object layer reads of COFF and PE files with what `llvm-readobj` prints.

    compare_readobj.py [--quick] BUILD [FILE...]

Every section's name, address, size and offset, every symbol, import and export, every base relocation
of linked files and every relocation of an address in objects must be equal. Objects have made-up
addresses: they must be aligned and not overlap, and are then taken as they are. In-place addends are
read from the file at the places that llvm-readobj names. Archives are compared member by member.

Without FILE: the COFF and PE files of tests/data, and what clang, llvm-lib and lld-link make on the
spot: objects of five machines, every type of relocation, bigobj, 70,000 relocations in a section,
names at an offset of base 64, DLLs with imports, delayed imports, exports and forwarders, MinGW style
links, import libraries; and the PE files that come with this Python. --quick: without the large ones
and those of Python. BUILD is a build folder: tests/object/dump_object.c is linked with its
libdevimg.a. Exit status: 0 all equal, 1 a difference (printed) or a file that clang-19 and its
siblings could not make, 2 usage, 77 no llvm-readobj or compiler.
"""
import argparse
import glob
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from compare_readelf import EXTERNAL, ROOT, Dump, build_dump, same_counts

# IMAGE_FILE_MACHINE_*
AMD64, I386, ARM, ARM64 = 0x8664, 0x14c, 0x1c4, 0xaa64
MACHINES = {AMD64: "x86_64", I386: "i386", ARM: "arm", ARM64: "aarch64", 0xa641: "aarch64",
            0xa64e: "aarch64"}
# IMAGE_SCN_*
CODE, UNINITIALIZED, INFO, REMOVE, DISCARDABLE = 0x20, 0x80, 0x200, 0x800, 0x2000000
EXECUTE = 0x20000000
# Relocations by machine, as winnt.h numbers them: type -> how the addend stands in place.
WORD, FIELD, PAGE, OFFSET, NOTHING = "word", "field", "page", "offset", "nothing"
POINTER = {AMD64: {1}, I386: {6}, ARM64: {14}}
REFERENCE = {AMD64: {1: WORD, **dict.fromkeys((2, 3, *range(4, 10)), FIELD)},
             I386: {6: WORD, 7: FIELD, 20: FIELD},
             ARM64: {2: FIELD, 3: NOTHING, 4: PAGE, 5: PAGE, 6: OFFSET, 7: NOTHING, 14: WORD}}
EXTERNAL_CLASSES = (2, 105)  # IMAGE_SYM_CLASS_EXTERNAL _WEAK_EXTERNAL
LONGEST_NAME = 4096          # see dvi_symbol_name()


def tool(name):
    return next((t for t in (name + "-19", name) if shutil.which(t)), None)


class Node:
    """A line `Header {` or `Header [` of llvm-readobj, and what stands in it."""

    def __init__(self, header):
        self.header, self.fields, self.children = header, {}, []

    def all(self, header):
        return [c for c in self.children if c.header == header]

    def one(self, header):
        return next(iter(self.all(header)), Node(header))

    def number(self, field):
        """`40`, `0x28`, or the number in `NAME (0x28)`."""
        text = self.fields.get(field, "0")
        m = re.search(r"\((-?\w+)\)$", text)
        return int(m.group(1) if m else text, 0)


def read_tree(path):
    """(the file as llvm-readobj prints it, what went wrong)."""
    done = subprocess.run([tool("llvm-readobj"), "--file-headers", "--sections", "--symbols",
                           "--relocations", "--expand-relocs", "--coff-imports", "--coff-exports",
                           "--coff-basereloc", path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    root = Node("")
    stack = [root]
    for line in done.stdout.decode("latin-1").split("\n"):
        key, colon, value = line.lstrip(" ").partition(": ")
        if colon and key.replace(" ", "").isalnum():  # first: a name may end like a header
            # DLLs and blocks of imports hold one `Symbol:` line for each
            if key == "Symbol" and stack[-1].header != "Relocation":
                stack[-1].fields.setdefault("Symbols", []).append(value)
            else:
                stack[-1].fields[key] = value
        elif key in ("}", "]"):
            stack.pop()
        elif line.endswith((" {", " [")) or re.search(r" \[ \(0x[0-9A-F]+\)$", line):
            header, _, value = key.partition(" [ (")
            if value:
                stack[-1].fields[header] = "(" + value
            node = Node(header[:-2] if header.endswith((" {", " [")) else header)
            stack[-1].children.append(node)
            stack.append(node)
    wrong = done.stderr.decode("latin-1").strip()
    return root, wrong if done.returncode or wrong else ""


def is_ordinal(import_line):
    """`Symbol:  (5)`, where one by name is `Symbol: name (0)`: number is an ordinal or a hint."""
    return re.match(r" ?\(\d+\)$", import_line) is not None


class Compare:
    def __init__(self, program, path):
        self.path, self.wrong = path, []
        self.dump = Dump(program, path)
        self.tree, broken = read_tree(path)
        if broken:
            self.wrong.append("llvm-readobj: " + broken)
        with open(path, "rb") as f:
            self.bytes = f.read()
        self.header = self.tree.one("ImageFileHeader")
        self.optional = self.tree.one("ImageOptionalHeader")
        self.linked = "Magic" in self.optional.fields
        self.format = self.tree.fields.get("Format", "")
        self.is_import = self.format.startswith("COFF-import-file")
        machine = self.header.number("Machine")
        self.bits = 32 if machine in (I386, ARM) else 64
        if self.is_import:  # llvm-readobj prints no header of these
            machine = struct.unpack_from("<H", self.bytes, 6)[0]
            self.bits = 32 if machine in (I386, ARM) else 64
        elif self.linked:
            self.bits = 64 if self.optional.number("Magic") == 0x20b else 32
        self.machine_name = MACHINES.get(machine)
        self.machine = ARM64 if self.machine_name == "aarch64" else machine
        self.base = self.optional.number("ImageBase") if self.linked else 0
        self.sections = self.tree.one("Sections").all("Section")
        self.by_index = {}  # a symbol's index -> it, auxiliary records counted
        index = 0
        for s in self.tree.one("Symbols").all("Symbol"):
            self.by_index[index] = s
            index += 1 + s.number("AuxSymbolCount")

    def say(self, text):
        self.wrong.append(text)

    def same(self, what, got, wanted):
        same_counts(self.say, what, got, wanted, "llvm-readobj")

    def check_header(self):
        wanted = (self.machine_name or "-", self.linked, self.bits // 8)
        got = (self.dump.machine, self.dump.linked, self.dump.pointer_size)
        if got != wanted:
            self.say("object %s, llvm-readobj %s" % (got, wanted))

    def check_sections(self):
        d, end = self.dump, 0
        if len(d.sections) != len(self.sections):
            self.say("%d sections, llvm-readobj has %d" % (len(d.sections), len(self.sections)))
            return
        for mine, theirs in zip(d.sections, self.sections):
            addr, size, offset, have, executable, name = mine
            flags, raw = theirs.number("Characteristics"), theirs.number("RawDataSize")
            at = theirs.number("PointerToRawData")
            wanted_size = theirs.number("VirtualSize") if self.linked else raw
            wanted_size = wanted_size or raw
            wanted_have = 0 if flags & UNINITIALIZED or at == 0 else min(raw, wanted_size)
            wanted_name = re.sub(r" ?\([0-9A-F]{2}( [0-9A-F]{2}){7}\)$", "", theirs.fields["Name"])
            if (name != wanted_name or size != wanted_size or have != wanted_have or
                    (have and offset != at) or
                    executable != bool(flags & (CODE | EXECUTE)) or
                    (self.linked and addr != self.base + theirs.number("VirtualAddress"))):
                self.say("section %s, llvm-readobj %s" % (mine, theirs.fields))
            if not self.linked:
                align = 1 << max((flags >> 20 & 15) - 1, 0)
                if addr <= end or addr % align != 0:
                    self.say("made-up address %#x behind %#x: %s" % (addr, end, theirs.fields))
                end = addr + size

    def place(self, symbol):
        """(address, defined) of a symbol of the table."""
        number, value = symbol.number("Section"), symbol.number("Value")
        if number == -1:
            return value, True
        if number < 1:
            return 0, False
        return self.dump.sections[number - 1][0] + value, True

    def wanted_symbols(self):
        for s in self.by_index.values():
            storage, name = s.number("StorageClass"), s.fields["Name"]
            kind = 1 if s.number("ComplexType") == 2 else 0
            if storage == 103:
                kind, name = 2, s.one("AuxFileRecord").fields.get("FileName", "")
            yield (*self.place(s), storage not in EXTERNAL_CLASSES, kind,
                   name if len(name) < LONGEST_NAME else "")

    def check_symbols(self):
        got, wanted = self.dump.symbols["static"], list(self.wanted_symbols())
        if len(got) != len(wanted):
            self.say("%d symbols, llvm-readobj has %d" % (len(got), len(wanted)))
        for g, w in zip(got, wanted):
            if g != w:
                self.say("symbol %s, llvm-readobj %s" % (g, w))

    def check_imports_and_exports(self):
        imports = []
        for dll in self.tree.all("Import"):
            imports += dll.fields.get("Symbols", [])
        for dll in self.tree.all("DelayImport"):
            for row in dll.all("Import"):
                imports += row.fields.get("Symbols", [])
        wanted = [(0, False, False, 0, re.sub(r" \(\d+\)$", "", line)) for line in imports
                  if not is_ordinal(line)]
        got = self.dump.symbols["dynamic"]
        count = len(wanted)
        if got[:count] != wanted:
            self.say("imports %s..., llvm-readobj %s..." % next(
                ((g, w) for g, w in zip(got, wanted) if g != w), (len(got), count)))
        exports = []
        for row in self.tree.all("Export"):  # by ordinal; devimg: by name
            name, place = row.fields.get("Name", ""), row.number("RVA") + self.base
            defined = "ForwardedTo" not in row.fields
            if name:
                exports.append((place if defined else 0, defined, False, 0, name))
        self.same("exports", got[count:], exports)
        names = [row[4] for row in got[count:]]
        if names != sorted(names):
            self.say("exports are not in the order of their names, in which PE has them")

    def in_file(self, section, at, size):
        """`size` bytes at `at` in a section, as a number."""
        raw = self.sections[section].number("PointerToRawData") + at
        return int.from_bytes(self.bytes[raw:raw + size], "little")

    def word_at(self, addr):
        for i, s in enumerate(self.sections):
            at = addr - self.base - s.number("VirtualAddress")
            if 0 <= at <= s.number("RawDataSize") - self.bits // 8:
                return self.in_file(i, at, self.bits // 8)
        raise ValueError("%s: no bytes at %#x" % (self.path, addr))

    def linked_pointers(self):
        wanted = {32: "HIGHLOW", 64: "DIR64"}[self.bits]
        for row in self.tree.one("BaseReloc").all("Entry"):
            if row.fields["Type"] == wanted:
                addr = self.base + row.number("Address")
                yield addr, self.word_at(addr)

    def addend(self, section, at, how):
        if how == WORD:
            return self.in_file(section, at, self.bits // 8)
        field = self.in_file(section, at, 4)
        if how == FIELD:
            return field - ((field & 0x80000000) << 1)
        if how == PAGE:
            value = (field >> 5 & 0x7ffff) << 2 | (field >> 29 & 3)
            return value - ((value & 0x100000) << 1)
        return field >> 10 & 0xfff if how == OFFSET else 0

    def object_relocations(self, code):
        known = REFERENCE.get(self.machine, {})
        if not code:
            known = dict.fromkeys(POINTER.get(self.machine, ()), WORD)
        for block in self.tree.one("Relocations").children:
            section = int(re.match(r"Section \((\d+)\)", block.header).group(1)) - 1
            flags = self.sections[section].number("Characteristics")
            if flags & (INFO | REMOVE | DISCARDABLE) or bool(flags & (CODE | EXECUTE)) != code:
                continue
            for row in block.all("Relocation"):
                kind, at = row.number("Type"), row.number("Offset")
                if kind not in known:
                    continue
                addr, defined = self.place(self.by_index[row.number("SymbolIndex")])
                value = addr + self.addend(section, at, known[kind]) & ((1 << self.bits) - 1)
                at += self.dump.sections[section][0]
                if code:
                    yield at, value if defined else 0, not defined
                else:
                    yield at, value if defined else EXTERNAL

    def check(self):
        d = self.dump
        if d.linked is None or d.damage:
            self.say("not read: %s" % d.damage[:3])
            return
        self.check_header()
        self.check_sections()
        self.check_imports_and_exports()
        if self.wrong or self.is_import:  # which has no tables; the names are the archive's
            return
        self.check_symbols()
        self.same("pointers", d.pointers,
                  self.linked_pointers() if self.linked else self.object_relocations(False))
        self.same("code references", d.code,
                  [] if self.linked else self.object_relocations(True))
        for what, rows in (("pointers", d.pointers), ("code references", d.code)):
            if [row[0] for row in rows] != sorted(row[0] for row in rows):
                self.say(what + " are not sorted")


SOURCE = r"""
#define DLL(how) __declspec(dll##how)
DLL(import) int imported(int *); DLL(import) int by_ordinal(void); DLL(import) int late_one(void);
DLL(import) extern int imported_data[4]; int late_two(void); extern int elsewhere[4];
int outside(int *);
#ifdef __i386__
__stdcall
#endif
void *__delayLoadHelper2(void *a, void **b) { (void)b; return a; }
int common_like; static int hidden[4] = { 1 }; int large[9000]; static int zeros[5];
int *pointers[] = { &hidden[1], &common_like, 0, &hidden[3], &large[8000], &elsewhere[2] };
int *far_pointers[700] = { [300] = &hidden[2], [450] = large, [699] = &zeros[1] };
int (*functions[])(int *) = { outside, 0, outside, imported };
static const char *const names[] = { "a", "bc", "def" };
DLL(export) const char *name_of(unsigned i) { return names[i % 3]; }
__attribute__((section(".text.own_long_name"))) int own(int i) { return outside(&hidden[i & 3]); }
__attribute__((weak)) int weak(void) { return zeros[2]; }
__attribute__((weak)) extern int weak_outside;
__asm__(".section .own_bss,\"bw\"\n.zero 12000\n.text\n");
struct point { double x, y, z; }; DLL(export) struct point origin = { 1, 2, 3 };
__attribute__((constructor)) static void begin(void) { hidden[2] = own(1) + common_like; }
DLL(export) int switched(int i) { switch (i) { case 1: return own(7); case 2: return zeros[1];
    case 3: return imported(&hidden[2]); case 4: return outside(0); case 5: return imported_data[1];
    case 6: return by_ordinal(); case 7: return late_one(); case 8: return late_two() + large[4000];
    case 9: return weak(); case 10: hidden[2] = 77; large[8999] = 5; return &weak_outside != 0; }
    return (int)(origin.x * 3.25) + pointers[i & 3][1]; }
DLL(export) int (*table(int i))(int *) { return functions[i & 3]; }
#ifdef WHOLE
int outside(int *p) { return *p; } int elsewhere[4] = { 1, 2, 3, 4 }; int _fltused;
#endif
"""
# name, triple, llvm-dlltool's and lld-link's machine (no link: it needs a run-time library)
TARGETS = (("x64", "x86_64-pc-windows-msvc", "i386:x86-64", "x64"),
           ("arm64", "aarch64-pc-windows-msvc", "arm64", "arm64"),
           ("x86", "i686-pc-windows-msvc", "i386", "x86"),
           ("mingw", "x86_64-w64-windows-gnu", "i386:x86-64", "x64"),
           ("mingw32", "i686-w64-windows-gnu", "i386", "x86"),
           ("arm", "thumbv7-pc-windows-msvc", "arm", "arm"),
           ("arm64ec", "arm64ec-pc-windows-msvc", "arm64ec", None))
FLAGS = (["-O2"], ["-O0", "-g"], ["-O2", "-g", "-ffunction-sections", "-fdata-sections"],
         ["-O1", "-fcommon", "-gdwarf"], ["-O2", "-mcmodel=large", "-mno-sse"])
DEFS = {"other.dll": ("imported", "imported_data DATA", "by_ordinal @5 NONAME", "private PRIVATE"),
        "late.dll": ("late_one", "late_two")}


class Maker:
    """Runs compilers and linkers, and keeps what they could not make."""

    def __init__(self, folder):
        self.folder, self.failed = folder, []

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def run(self, out, *argv):
        """The file, in a list; none when it was not made."""
        done = subprocess.run(argv, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0 and os.path.exists(self.path(out)):
            return [self.path(out)]
        self.failed.append("%s: not made: %s" % (out, done.stdout.decode(errors="replace")[:400]))
        return []

    def compile(self, out, triple, *flags, source="a.c"):
        return self.run(out, tool("clang"), "--target=" + triple, "-w", *flags, "-c",
                        self.path(source), "-o", self.path(out))


def made_objects(make, name, triple):
    for i, flags in enumerate(FLAGS):
        if "-mcmodel=large" not in flags or triple.startswith("x86_64"):
            yield from make.compile("%s-%d.obj" % (name, i), triple, *flags)


def import_libraries(make, name, machine):
    for dll, rows in DEFS.items():
        out = "%s-%s.lib" % (name, dll)
        source = make.write(out + ".def", "LIBRARY %s\nEXPORTS\n%s\n" % (dll, "\n".join(rows)))
        yield from make.run(out, tool("llvm-dlltool"), "-m", machine, "-d", source, "-l",
                            make.path(out))


def made_links(make, name, triple, machine, libraries):
    obj = make.compile(name + "-whole.obj", triple, "-DWHOLE", "-O1", "-gdwarf")
    under, more = "_" if machine == "x86" else "", ["/lldmingw"] if "mingw" in name else []
    always = ["/machine:" + machine, "/nodefaultlib", "/safeseh:no", "/ignore:longsections",
              "/alternatename:%sweak_outside=%slarge" % (under, under), *more, *obj, *libraries]
    dll = ["/dll", "/noentry", "/export:forwarded=kernel32.Sleep",
           "/export:unnamed=own,@40,NONAME", "/export:renamed=own", "/export:large,DATA"]
    for how, flags in (("dll", dll), ("delay", [*dll, "/delayload:late.dll"]),
                       ("fixed", ["/entry:own", "/fixed", "/subsystem:console"]),
                       ("base", [*dll, "/base:0x70000000", "/delayload:late.dll"]),
                       ("symbols", [*dll, "/debug:dwarf,symtab"]),
                       ("merged", [*dll, "/merge:.rdata=.text", "/driver", "/align:8192",
                                   "/filealign:4096"])):
        if how == "fixed" and machine.startswith("arm"):  # those have no such programs
            continue
        out = "%s-%s.dll" % (name, how)
        yield from make.run(out, tool("lld-link"), *always, *flags, "/out:" + make.path(out),
                            "/implib:" + make.path(out + ".lib"))
        yield from glob.glob(make.path(out + ".lib"))
        if how == "dll" and os.path.exists(make.path(out)):
            yield retyped_link(make, make.path(out))


def sections_at(data):
    """Where the section headers of an object or a PE stand."""
    at = struct.unpack_from("<I", data, 60)[0] + 4 if data[:2] == b"MZ" else 0
    count, optional = struct.unpack_from("<xxH12xH", data, at)
    return [at + 20 + optional + 40 * i for i in range(count)]


def retyped_object(make, name, triple):
    """Every type of relocation, with bytes around it; code that is marked by one flag alone."""
    word, bits = (".long", 31) if triple.startswith(("i686", "thumb")) else (".quad", 63)
    rows = "".join("%s %s+%#x\n.quad 0x5a5a5a5a5a5a5a5a\n" % (
        word, ("d", "g", "_")[i % 3], 0x8123456789abcdef * (i + 1) % (1 << bits))
        for i in range(63))
    make.write(name + ".s", ".data\n.quad 1\nd: _: .quad 2\n.text\n%s.section .c,\"xr\"\n%s"
                            ".section .e,\"xr\"\n%s.section .r,\"dr\"\n%s" % ((rows,) * 4))
    for path in make.compile(name + ".obj", triple, source=name + ".s"):
        with open(path, "rb") as f:
            data = bytearray(f.read())
        for header in sections_at(data):
            at, count, flags = struct.unpack_from("<I4xH2xI", data, header + 24)
            name = bytes(data[header:header + 8]).rstrip(b"\0")
            gone = {b".c": EXECUTE, b".e": CODE}.get(name, 0)
            struct.pack_into("<I", data, header + 36, flags & ~gone)
            for i in range(count):
                struct.pack_into("<H", data, at + 10 * i + 8, i // 3)
        with open(path, "wb") as f:
            f.write(data)
        yield path


def retyped_link(make, path):
    """Base relocations of types that are no pointers of that machine among those that are."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    for header in sections_at(data):
        if data[header:header + 6] == b".reloc":
            size, _, _, raw = struct.unpack_from("<4I", data, header + 8)
            end = raw + size
            while raw < end:
                block = struct.unpack_from("<I", data, raw + 4)[0]
                for i, at in enumerate(range(raw + 8, raw + block, 2)):
                    entry = struct.unpack_from("<H", data, at)[0]
                    if entry and i % 3:
                        kind = (0, 1, 2, 3, 10)[i % 5] << 12
                        struct.pack_into("<H", data, at, kind | (entry & 0xfff))
                raw += block
    with open(path + ".retyped", "wb") as f:
        f.write(data)
    return path + ".retyped"


def large_files(make):
    """What needs size: a bigobj, a count of relocations in the first of them, names in base 64."""
    sections = ["x%d = 0\n.section .s%d,\"dr\"\n.long %d\n.quad x%d\n.quad f+%d" % (i, i, i, i, i)
                for i in range(70000)]
    names = ["n%04d_%s" % (i, "z" * 1100) for i in range(9500)]
    for name, text in (
            ("bigobj", "\n".join(sections) + "\n.text\n.globl f\nf: lea f(%rip), %rax\ncall g\n"),
            ("many", ".text\n.globl f\nf: ret\n.rept 70000\ncall g\nlea d+4(%rip), %rax\n.endr\n"
                     ".data\n.long 8, 0, 4\n"  # what a 70,001st relocation would be read from
                     "d:\n.rept 65536\n.quad f\n.endr\n"
                     ".section .e,\"dr\"\n.rept 65535\n.quad d+8\n.endr\n"
                     ".section .l,\"dr\"\n.rept 65534\n.quad g\n.endr\n"),
            ("names", ".section .long_name_a,\"dr\"\n.quad 1\n"
                      ".section .long_name_zzz,\"dr\"\n.quad 2\n" +
                      "".join("%s: .quad %s\n" % (n, n) for n in names))):
        make.write(name + ".s", text)
        yield from make.compile(name + ".obj", "x86_64-pc-windows-msvc", source=name + ".s")


def made_files(make, quick):
    make.write("a.c", SOURCE)
    for name, triple, dlltool, machine in TARGETS:
        objects = list(made_objects(make, name, triple))
        yield from objects
        yield from retyped_object(make, name + "-retyped", triple)
        libraries = list(import_libraries(make, name, dlltool)) if tool("llvm-dlltool") else []
        yield from libraries
        if tool("llvm-lib"):
            yield from make.run(name + ".lib", tool("llvm-lib"), "/out:" + make.path(name + ".lib"),
                                *(["/machine:" + name] if machine is None else []), *objects)
        if machine and libraries and tool("lld-link"):
            yield from made_links(make, name, triple, machine, libraries)
    if not quick:
        yield from large_files(make)


def fixtures():
    return sorted(p for p in glob.glob(os.path.join(ROOT, "tests", "data", "*", "*"))
                  if p.endswith((".obj", ".dll", ".lib", ".exe")))


def programs():
    """What comes with Python: launchers and installers of several releases of MSVC."""
    folders = {os.path.realpath(p) for p in glob.glob(os.path.join(sys.prefix, "lib", "python3*"))}
    return sorted(p for d in folders for p in glob.glob(os.path.join(d, "**", "*.exe"),
                                                        recursive=True))


def members(path, folder):
    """The members of an archive as files; a file that is none, as it is."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:8] != b"!<arch>\n":
        yield path, path
        return
    at, number = 8, 0
    while at + 60 <= len(data):
        size = int(data[at + 48:at + 58])
        if data[at:at + 16].rstrip() not in (b"/", b"//", b"/<ECSYMBOLS>/"):
            out = os.path.join(folder, "member")
            with open(out, "wb") as f:
                f.write(data[at + 60:at + 60 + size])
            yield out, "%s(%d)" % (path, number)
            number += 1
        at += 60 + size + size % 2


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true")
    p.add_argument("build", metavar="BUILD")
    p.add_argument("files", nargs="*", metavar="FILE")
    args = p.parse_args()
    if tool("llvm-readobj") is None or shutil.which("cc") is None:
        print("skipped: there is no llvm-readobj or no cc")
        return 77
    failed = compared = symbols = pointers = code = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "dump_object")
        build_dump(os.path.abspath(args.build), program)
        paths = args.files
        if not paths:
            make = Maker(folder)
            paths = fixtures() + (list(made_files(make, args.quick)) if tool("clang") else [])
            paths += [] if args.quick else programs()
            for text in make.failed:
                print(text)
            # other releases lack this or that
            failed += len(make.failed) if tool("clang") == "clang-19" else 0
        seen = set()  # archives hold what was compared, import libraries the same members
        for path, label in ((m, l) for p in paths for m, l in members(p, folder)):
            with open(path, "rb") as f:
                digest = hashlib.sha256(f.read()).digest()
            if digest in seen:
                continue
            seen.add(digest)
            one = Compare(program, path)
            if one.format and not one.format.startswith("COFF"):
                continue
            one.check()
            for text in one.wrong[:10]:
                print("%s: %s" % (label, text))
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
