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
        cases = [
            ("coff-too-short", b"\x64\x86\x01\0", NAME),
            ("coff-too-short", coff(good, strings, count=900), NAME),
            ("not-coff", b"\x7fELF" + bytes(60), NAME),
            ("not-coff", b"MZ" + bytes(62), NAME),
            ("not-coff", b"!<arch>\n" + bytes(60), NAME),
            ("not-coff", b"BC\xc0\xde" + bytes(60), NAME),
            ("not-coff", b"int main(void) { return 0; }\n", NAME),
            ("not-coff", b"\0\0\xff\xff\x01\0\x64\x86" + bytes(4) + bytes(range(16)) + bytes(40), NAME),
            ("not-coff", b"\0\0\xff\xff\0\0\x64\x86" + bytes(12) + bytes(8), NAME),
            ("no-symbol-table", coff(b"", strings, count=0), NAME),
            ("no-descriptor", coff(symbol(b"other"), strings), NAME),
            ("no-descriptor", coff(symbol(b"file", extra=1, storage=103) + far(4) + bytes(10), strings), NAME),  # only inside of another
            ("descriptor-undefined", coff(symbol(far(4), section=0), strings), NAME),
            ("descriptor-undefined", coff(symbol(far(4), section=-1), strings), NAME),
            ("descriptor-undefined", coff(symbol(far(4), section=2), strings), NAME),
            ("already-defined", coff(good + symbol(far(4 + len(DESCRIPTOR) + 1), storage=2), strings), NAME),
            ("already-defined", coff(symbol(far(4 + len(DESCRIPTOR) + 1), section=0, value=8, storage=2) + good, strings), NAME),  # common
            ("strtab-not-last", coff(good, strings, tail=b"more"), NAME),
            ("strtab-not-last", coff(good, strings, size=3), NAME),
            ("strtab-not-last", coff(good, strings, size=4000), NAME),
            ("strtab-not-last", coff(good, strings)[:20 + 40 + 18], NAME),
            ("bad-name-offset", coff(good + symbol(far(4000)), strings), NAME),
            ("bad-name-offset", coff(good + symbol(far(2)), strings), NAME),
            ("bad-name-offset", coff(good + symbol(far(4)), DESCRIPTOR), NAME),  # no NUL ends it
            ("bad-aux-count", coff(good + symbol(b"f", extra=1), strings), NAME),
            ("bad-aux-count", coff(good + symbol(b"f", extra=255), strings), NAME),
            ("bad-anchor-name", coff(good, strings), "short"),
            ("bad-anchor-name", coff(good, strings), "has a blank in it"),
            ("bad-anchor-name", coff(good, strings), "caf\u00e9_sycl_images"),
            ("bad-anchor-name", coff(good, strings), ""),
            ("bad-anchor-name", coff(good, strings), 'quote"quote'),
        ]
        for i, (code, data, name) in enumerate(cases):
            self.write("bad.obj", data)
            status, doc, err = self.anchor("bad.obj", "none.obj", name)
            errors = doc.get("errors", [{}])
            self.say(status == 1 and [e.get("code") for e in errors] == [code] and errors[0]["message"] and doc["anchored"] is False and
                     err == "" and not os.path.exists(self.path("none.obj")), "D12: %s (%d)" % (code, i), status, doc, err)
        self.write("good.obj", coff(good + symbol(far(4 + len(DESCRIPTOR) + 1), section=0, storage=2), strings))
        status, doc, _ = self.anchor("good.obj", "out.obj")
        self.say(status == 0, "an object that only asks for the anchor gets it", doc)
        status, doc, _ = self.anchor("good.obj", "good.obj")
        self.say(status == 0 and Parts(self.read("good.obj")).count == 3, "the output may be the input", doc)

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
