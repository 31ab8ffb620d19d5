# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl anchor`: objects of clang with an anchor, read by llvm-readobj and linked by lld-link; and every object that is refused.
Suite `anchor`.

What an object must be is that of Microsoft's "PE Format"; codes are those of docs/command/sycl_anchor.md."""
import ctypes
import json
import os
import re
import shutil
import struct

NAME = "foo_sycl_images"
DESCRIPTOR = b".sycl_offloading.descriptor"
# What the device link leaves: a descriptor that nothing outside can see, and a constructor that registers it.
DEVICE = """
struct image { unsigned short version; unsigned char kind, format; unsigned zero; const char *target; };
static const char target[] = "spir64";
static const struct image image = { 2, 4, 0, 0, target };
struct descriptor { unsigned short version, count; unsigned zero; const struct image *images; void *a, *b; };
static const long long before[4] = { 1, 2, 3, 4 };
static const struct descriptor d __asm__(".sycl_offloading.descriptor") = { 1, 1, 0, &image, 0, 0 };
void __sycl_register_lib(const void *, const void *);
static void reg(void) { __sycl_register_lib(&d, before); }
__attribute__((section(".CRT$XCU"), used)) static void (*const start)(void) = reg;
"""
MAIN = """
void __sycl_register_lib(const void *a, const void *b) { (void)a; (void)b; }
int mainCRTStartup(void) { return 0; }
"""
INCLUDE = '__asm__(".section .drectve,\\"yn\\"\\n.ascii \\" /include:%s\\"\\n");\n' % NAME


class Parts:
    """A COFF object taken apart here, by the specification."""

    def __init__(self, data):
        self.big = data[:4] == b"\0\0\xff\xff"
        self.count_at, self.record = (52, 20) if self.big else (12, 18)
        self.symbols_at, = struct.unpack_from("<I", data, self.count_at - 4)
        self.count, = struct.unpack_from("<I", data, self.count_at)
        self.strings_at = self.symbols_at + self.count * self.record
        self.head = data[:self.count_at] + data[self.count_at + 4:self.symbols_at]
        self.symbols = data[self.symbols_at:self.strings_at]
        self.strings_size, = struct.unpack_from("<I", data, self.strings_at)
        self.strings = data[self.strings_at + 4:]


def coff(symbols, strings=b"", count=None, size=None, tail=b"", machine=0x8664, sections=1):
    """An object of one section and these records, written here."""
    head = struct.pack("<HHIIIHH", machine, sections, 0, 20 + 40, len(symbols) // 18 if count is None else count, 0, 0)
    section = struct.pack("<8sIIIIIIHHI", b".rdata", 0, 0, 0, 0, 0, 0, 0, 0, 0x40000040)
    return head + section + symbols + struct.pack("<I", 4 + len(strings) if size is None else size) + strings + tail


CLASS_ID = bytes.fromhex("c7a1bad1eebaa94baf20faf66aa4dcb8")


def bigobj(symbols, strings=b"", count=None, size=None, tail=b"", sections=1):
    """The same in the form of /bigobj: records of 20 bytes, sections counted in 32 bits."""
    symbols = b"".join(symbols[i:i + 12] + struct.pack("<i", struct.unpack_from("<h", symbols, i + 12)[0]) + symbols[i + 14:i + 18]
                       for i in range(0, len(symbols), 18))
    head = struct.pack("<HHHHI", 0, 0xffff, 2, 0x8664, 0) + CLASS_ID
    head += struct.pack("<7I", 0, 0, 0, 0, sections, 56 + 40, len(symbols) // 20 if count is None else count)
    section = struct.pack("<8sIIIIIIHHI", b".rdata", 0, 0, 0, 0, 0, 0, 0, 0, 0x40000040)
    return head + section + symbols + struct.pack("<I", 4 + len(strings) if size is None else size) + strings + tail


def symbol(name, section=1, value=0, extra=0, storage=3):
    field = name if len(name) == 8 else name.ljust(8, b"\0")
    return field + struct.pack("<IhHBB", value, section, 0, storage, extra)


def far(at):
    return struct.pack("<II", 0, at)


class Anchor:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder

    def say(self, good, name, *what):
        self.build.say(good, "anchor: " + name, "found %s" % (what,))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb" if isinstance(data, bytes) else "w") as f:
            f.write(data)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def anchor(self, name, out, symbol=NAME):
        status, text, err = self.build.devimg("sycl", "anchor", "--symbol", symbol, self.path(name), self.path(out), "--format", "json")
        return status, json.loads(text) if text else {}, err.decode()

    def compile(self, source, name, target="x86_64-pc-windows-msvc"):
        path = self.write(name + ".c", source)
        status, _, err = self.build.run(["clang-19", "--target=" + target, "-O1", "-c", path, "-o", self.path(name)])
        self.say(status == 0, "clang makes " + name, err)

    def symbols(self, name):
        _, out, _ = self.build.run(["llvm-readobj-19", "--symbols", self.path(name)])
        return [dict(re.findall(r"^    (\w+): ([^\n]*)", block, re.M)) for block in out.decode().split("  Symbol {\n")[1:]]

    def dump(self, name):
        """All that llvm-readobj tells, but for the name of the file and the count; symbols come last."""
        _, out, _ = self.build.run(["llvm-readobj-19", "--file-headers", "--sections", "--section-data", "--relocs", "--symbols", self.path(name)])
        text = out.decode().replace(self.path(name), "")
        return re.sub(r"  (SymbolCount|StringTableSize): \d+\n", "", text).rstrip().rstrip("]").rstrip()

    def check_object(self, name):
        """The object is what it was, with one symbol more: S4-7."""
        status, doc, err = self.anchor(name, "out.obj")
        before, after = Parts(self.read(name)), Parts(self.read("out.obj"))
        self.say(status == 0 and doc["anchored"] and doc["errors"] == [], "S4-7: an anchor, " + name, status, doc, err)
        self.say((before.head, before.symbols, before.strings) ==
                 (after.head, after.symbols[:-after.record], after.strings[:-len(NAME) - 1]) and after.count == before.count + 1 and
                 after.strings_size == before.strings_size + len(NAME) + 1 and after.strings.endswith(NAME.encode() + b"\0"),
                 "S4-7: nothing else changes, " + name)
        symbols = self.symbols("out.obj")
        descriptor = next(s for s in symbols if s["Name"] == DESCRIPTOR.decode())
        last = symbols[-1]
        self.say(last["Name"] == NAME and [last[k] for k in ("Section", "Value")] == [descriptor[k] for k in ("Section", "Value")] and
                 last["StorageClass"] == "External (0x2)" and last["AuxSymbolCount"] == "0" and last["BaseType"] == "Null (0x0)" and
                 last["ComplexType"] == "Null (0x0)" and len(symbols) == len(self.symbols(name)) + 1,
                 "S4-7: llvm-readobj reads it, " + name, last, descriptor)
        self.say(doc["value"] == int(last["Value"]) and "(%d)" % doc["section"] in last["Section"], "the answer says where, " + name, doc)
        whole = [self.dump("out.obj"), self.dump(name)]
        self.say(whole[0][:len(whole[1])] == whole[1] and whole[0][len(whole[1]):].count("Symbol {") == 1 and "RelocationCount" in whole[1],
                 "S4-7: all else is the same to llvm-readobj, " + name, whole[0][len(whole[1]):][:400])
        _, listed, _ = self.build.devimg("list", self.path("out.obj"))
        _, was, _ = self.build.devimg("list", self.path(name))
        self.say(listed.replace(b"out.obj", name.encode()) == was, "devimg reads both alike, " + name, listed, was)
        status, doc, _ = self.anchor("out.obj", "again.obj")
        self.say(status == 1 and [e["code"] for e in doc["errors"]] == ["already-defined"] and not os.path.exists(self.path("again.obj")),
                 "an anchored object is refused, " + name, doc)

    def big_object(self):
        """More sections than a plain object can count: clang writes a bigobj."""
        path = self.write("big.s", "".join('.section .s%d,"dr"\n.byte 1\n' % i for i in range(65300)) +
                          '.section .rdata,"dr"\n.quad 0\n%s:\n.quad 1\n' % DESCRIPTOR.decode())
        status, _, err = self.build.run(["clang-19", "--target=x86_64-pc-windows-msvc", "-c", path, "-o", self.path("big.obj")])
        self.say(status == 0 and Parts(self.read("big.obj")).big, "clang makes a bigobj", err)
        self.check_object("big.obj")

    def link(self):
        """S4-8: with the anchor the registration is linked, without it it is not."""
        self.compile(DEVICE, "device.obj")
        self.compile(MAIN, "plain.obj")
        self.compile(MAIN + INCLUDE, "asks.obj")
        self.anchor("device.obj", "anchored.obj")
        maps = {}
        for main, member in (("asks", "anchored"), ("plain", "anchored"), ("plain", "device")):
            library = self.path(member + ".lib")
            self.build.run(["llvm-lib-19", "/out:" + library, self.path(member + ".obj")])
            table = self.path("map.txt")
            status, out, err = self.build.run(["lld-link-19", "/subsystem:console", "/entry:mainCRTStartup", "/nodefaultlib",
                                               "/map:" + table, "/out:" + self.path("t.exe"), self.path(main + ".obj"), library])
            self.say(status == 0, "lld-link links %s with %s" % (main, member), out, err)
            with open(table, encoding="utf-8") as f:
                maps[main, member] = f.read()
        self.say(NAME in maps["asks", "anchored"] and "anchored.obj" in maps["asks", "anchored"], "S4-8: the anchor takes the object in")
        self.say(all("anchored.obj" not in maps[k] and "device.obj" not in maps[k] for k in maps if k[0] == "plain"),
                 "S4-8: without it the object is left out", maps["plain", "anchored"][-400:])
        status, out, err = self.build.run(["lld-link-19", "/subsystem:console", "/entry:mainCRTStartup", "/nodefaultlib", "/out:" +
                                           self.path("t.exe"), self.path("asks.obj"), self.path("device.lib")])
        self.say(status != 0 and NAME in (out + err).decode(), "a library without the anchor does not link in silence", out, err)

    def refused(self):
        """D12: each code, and no output."""
        strings = DESCRIPTOR + b"\0" + NAME.encode() + b"\0"
        good = symbol(far(4))
        mine, lost = symbol(far(4 + len(DESCRIPTOR) + 1), storage=2), symbol(far(4), section=-1)
        common = symbol(far(4 + len(DESCRIPTOR) + 1), section=0, value=8, storage=2)
        class_id = b"\0\0\xff\xff\x02\0\x64\x86" + bytes(4) + bytes(range(16)) + bytes(40)
        cases = [
            ("coff-too-short", b"\x64\x86\x01\0", NAME, "4 bytes: a COFF header has 20"),
            ("not-coff", b"\x7fELF" + bytes(60), NAME, "an ELF file"),
            ("not-coff", b"MZ" + bytes(62), NAME, "a PE file"),
            ("not-coff", b"!<arch>\n" + bytes(60), NAME, "an archive"),
            ("not-coff", b"BC\xc0\xde" + bytes(60), NAME, "LLVM bitcode"),
            ("not-coff", b"int main(void) { return 0; }\n", NAME, "no COFF object"),
            ("not-coff", class_id, NAME, ""),
            ("not-coff", b"\0\0\xff\xff\0\0\x64\x86" + bytes(12) + bytes(8), NAME, "import"),
            ("bad-anchor-name", coff(good, strings), "short", "9 to 1024 characters"),
            ("bad-anchor-name", coff(good, strings), "a" * 1025, "9 to 1024 characters"),
            ("bad-anchor-name", coff(good, strings), "has a blank in it", "no blank"),
            ("bad-anchor-name", coff(good, strings), "caf\u00e9_sycl_images", "ASCII"),
            ("bad-anchor-name", coff(good, strings), "", "9 to 1024 characters"),
            ("bad-anchor-name", coff(good, strings), 'quote"quote', "no quote"),
        ]
        for make in (coff, bigobj):
            head, record = (60, 18) if make is coff else (96, 20)
            cases += [(code, data, NAME, says) for code, data, says in (
                ("coff-too-short", make(good, strings, count=900), "900 symbols do not fit"),
                ("coff-too-short", make(good, strings)[:head - 45], "header"),
                ("no-symbol-table", make(b"", strings, count=0), "no symbols"),
                ("no-descriptor", make(symbol(b"other"), strings), "no symbol " + DESCRIPTOR.decode()),
                ("no-descriptor", make(symbol(b"file", extra=1, storage=103) + far(4) + bytes(10), strings), "no symbol"),  # only inside of another
                ("descriptor-undefined", make(symbol(far(4), section=0), strings), "in section 0 of 1"),
                ("descriptor-undefined", make(lost, strings), "in section -1 of 1"),
                ("descriptor-undefined", make(symbol(far(4), section=2), strings), "in section 2 of 1"),
                ("descriptor-undefined", make(lost + good, strings), "in section -1 of 1"),  # the first one counts
                ("already-defined", make(good + mine, strings), NAME + " already"),
                ("already-defined", make(common + good, strings), NAME + " already"),
                ("strtab-not-last", make(good, strings, tail=b"more"), "are left of the file"),
                ("strtab-not-last", make(good, strings, size=3), "has 3 bytes"),
                ("strtab-not-last", make(good, strings, size=4000), "has 4000 bytes"),
                ("strtab-not-last", make(good, strings)[:head + record], "no string table"),
                ("bad-name-offset", make(good + symbol(far(4000)), strings), "symbol 1: its name at 4000"),
                ("bad-name-offset", make(good + symbol(far(2)), strings), "symbol 1: its name at 2"),
                ("bad-name-offset", make(good + symbol(far(4)), DESCRIPTOR), "symbol 0: its name at 4"),  # no NUL ends it
                ("bad-aux-count", make(good + symbol(b"f", extra=1), strings), "symbol 1: 1 further"),
                ("bad-aux-count", make(good + symbol(b"f", extra=255), strings), "symbol 1: 255 further"))]
        for i, (code, data, name, says) in enumerate(cases):
            self.write("bad.obj", data)
            status, doc, err = self.anchor("bad.obj", "none.obj", name)
            errors = doc.get("errors", [{}])
            self.say(status == 1 and [e.get("code") for e in errors] == [code] and says in errors[0]["message"] and errors[0]["message"] and
                     doc["anchored"] is False and doc["output"] is None and err == "" and not os.path.exists(self.path("none.obj")),
                     "D12: %s (%d)" % (code, i), status, doc, err)
        documented = set(re.findall(r"^\| `([a-z-]+)` \|", self.page(), re.M))
        self.say(documented == {c[0] for c in cases} | {"coff-too-large"}, "D12: every code of the page is met here", documented)
        self.write("bad.obj", coff(lost, strings))
        self.write("none.obj", coff(good, strings))
        status, _, _ = self.anchor("bad.obj", "none.obj")
        self.say(status == 1 and self.read("none.obj") == coff(good, strings), "D12: an output of before is as it was")
        os.remove(self.path("none.obj"))
        self.too_large(good, strings)
        self.write("good.obj", coff(good + symbol(far(4 + len(DESCRIPTOR) + 1), section=0, storage=2), strings))
        status, doc, _ = self.anchor("good.obj", "out.obj")
        self.say(status == 0, "an object that only asks for the anchor gets it", doc)
        status, doc, _ = self.anchor("good.obj", "good.obj")
        self.say(status == 0 and Parts(self.read("good.obj")).count == 3, "the output may be the input", doc)

    def page(self):
        with open(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "command", "sycl_anchor.md"), encoding="utf-8") as f:
            return f.read().partition("## Refused")[2].partition("## Options")[0]

    def too_large(self, good, strings):
        """A file with a hole: with the symbol it would have 2 GiB."""
        data = coff(good, strings)
        at = (1 << 31) - (len(data) - 60) - 18 - len(NAME) - 1
        for to, code in ((at, "coff-too-large"), (at - 1, None)):
            with open(self.write("large.obj", data[:8] + struct.pack("<I", to) + data[12:60]), "r+b") as f:
                f.seek(to)
                f.write(data[60:])
            status, doc, err = self.anchor("large.obj", "none.obj" if code else "no/such/folder/none.obj")
            if code:
                self.say(status == 1 and [e["code"] for e in doc["errors"]] == [code] and "2 GiB" in doc["errors"][0]["message"] and
                         not os.path.exists(self.path("none.obj")), "D12: coff-too-large", doc, err)
            else:
                self.say(status == 3 and "no/such/folder" in err, "D12: one byte less would be written", status, doc, err)
        os.remove(self.path("large.obj"))

    def files(self):
        self.write("good.obj", coff(symbol(far(4)), DESCRIPTOR + b"\0"))
        notes = self.write("notes.txt", "mine\n")
        status, _, err = self.anchor("good.obj", "notes.txt")
        with open(notes, encoding="utf-8") as f:
            self.say(status == 3 and "left alone" in err and f.read() == "mine\n", "a file that is no object is not replaced", err)
        for name, out in (("absent.obj", "out.obj"), ("good.obj", "no/such/folder/out.obj"), (".", "out.obj")):
            status, doc, err = self.anchor(name, out)
            self.say(status == 3 and doc == {} and err.startswith("devimg: "), "status 3: %s to %s" % (name, out), status, err)
        status, text, _ = self.build.devimg("sycl", "anchor", "--symbol", NAME, self.path("good.obj"), self.path("out.obj"))
        self.say(status == 0 and text.decode() == "%s: %s stands at the descriptor (section 1, offset 0)\n" % (self.path("out.obj"), NAME),
                 "the first line answers", text)
        self.write("bad.obj", coff(symbol(b"other")))
        status, text, _ = self.build.devimg("sycl", "anchor", "--symbol", NAME, self.path("bad.obj"), self.path("none.obj"))
        lines = text.decode().splitlines()
        self.say(status == 1 and "no anchor: no symbol" in lines[0] and "[no-descriptor]" in lines[0] and "-fsycl-link" in lines[1],
                 "the next one says what to do", lines)

    def library(self):
        """The same as a call."""
        class Anchored(ctypes.Structure):
            _fields_ = [("code", ctypes.c_char_p), ("section", ctypes.c_uint32), ("value", ctypes.c_uint32)]

        devimg = ctypes.CDLL(os.path.join(self.build.folder, "src", "libdevimg.so"))
        self.write("good.obj", coff(symbol(far(4), value=16), DESCRIPTOR + b"\0"))
        self.write("bad.obj", coff(symbol(b"other")))
        found = []
        for name in ("good.obj", "bad.obj"):
            done = Anchored()
            status = devimg.devimg_anchor(self.path(name).encode(), NAME.encode(), self.path("call.obj").encode(), ctypes.byref(done), None)
            found.append((status == 0, done.code, done.section, done.value))
        self.say(found == [(True, None, 1, 16), (False, b"no-descriptor", 0, 0)], "S4-7: a library call", found)

    def all(self):
        self.refused()
        self.files()
        if not self.build.sanitized:
            self.library()
        if not shutil.which("clang-19") or not shutil.which("lld-link-19"):
            self.say(False, "clang-19, lld-link-19 and llvm-readobj-19 are here (tools/deps.sh test)")
            return
        for target in ("x86_64-pc-windows-msvc", "aarch64-pc-windows-msvc"):
            name = target.split("-", maxsplit=1)[0] + ".obj"
            self.compile(DEVICE, name, target)
            self.check_object(name)
        self.link()
        if not self.build.sanitized:
            self.big_object()
