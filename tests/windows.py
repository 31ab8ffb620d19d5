# SPDX-License-Identifier: Apache-2.0
"""Small PE and COFF files with one descriptor, written here byte by byte, and what code registers it. Suite `windows`."""
import json
import os
import struct
import time

CODE, DATA, CONSTANT, DISCARD = 0x60000020, 0xC0000040, 0x40000040, 0x02000000
BASE = 0x180000000
# Where the parts of a PE lie, counted from the base.
TEXT, START, IMPORTS, PLACE, TABLE = 0x1000, 0x1100, 0x2000, 0x3000, 0x100000
INITTERM, REGISTER, PUTS = IMPORTS + 0x100, IMPORTS + 0x108, IMPORTS + 0x110
RAX, RCX, RDX = b"\x48\x8d\x05", b"\x48\x8d\x0d", b"\x48\x8d\x15"  # lea, [rip + d]


def i32(number):
    return struct.pack("<i", number)


def lea(register, at, target):
    return register + i32(target - at - 7)


def call(at, slot):
    return b"\xff\x15" + i32(slot - at - 6)


def section(name, size, addr, raw_size, raw_at, flags, relocations_at=0, relocations=0):
    return struct.pack("<8sIIIIIIHHI", name, size, addr, raw_size, raw_at, relocations_at, 0, relocations, 0, flags)


def pe(sections, directories=(), base=BASE, entry=START):
    """sections: (name, address, bytes, flags)"""
    optional = struct.pack("<HBBIIIIIQIIHHHHHHIIIIHHQQQQII", 0x20b, 14, 0, 0, 0, 0, entry, 0, base, 4096, 512, 6, 0, 0, 0, 6, 0,
                           0, 0x200000, 0x400, 0, 3, 0x160, 0, 0, 0, 0, 0, 16)
    places = dict(directories)
    optional += b"".join(struct.pack("<II", *places.get(i, (0, 0))) for i in range(16))
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0"
    head += struct.pack("<HHIIIHH", 0x8664, len(sections), 0, 0, 0, len(optional), 0x2022) + optional
    at = (len(head) + 40 * len(sections) + 15) // 16 * 16
    table = body = b""
    for name, addr, data, flags in sections:
        table += section(name, len(data), addr, len(data), at + len(body), flags)
        body += data + bytes(-len(data) % 16)
    return (head + table).ljust(at, b"\0") + body


def descriptor(image, pointer):
    """A library descriptor, an image struct of version 2, its target and its image, of one unit."""
    data = bytearray(0x300)
    struct.pack_into("<HHIQ", data, 0, 1, 1, 0, pointer(0x100))
    struct.pack_into("<HBBIQQQ", data, 0x100, 2, 4, 0, 0, pointer(0x200), pointer(0x210), pointer(0x210))
    struct.pack_into("<QQ", data, 0x130, pointer(0x300), pointer(0x300 + len(image)))
    data[0x200:0x207] = b"spir64\0"
    return bytes(data) + image


def program(image, constructor, start=True, exports=False, imports=(b"_initterm", b"__sycl_register_lib", b"puts"),
            table=b".CRT", more=(), base=BASE):
    """A DLL whose start-up code hands a table of one constructor to _initterm."""
    text = bytearray(constructor.ljust(0x100, b"\xcc"))
    if start:
        text += lea(RDX, START, TABLE + 8) + lea(RCX, START + 7, TABLE) + call(START + 14, INITTERM) + b"\xc3"
    data = bytearray(0x400)
    struct.pack_into("<IIIII", data, 0, IMPORTS + 0x80, 0, 0, IMPORTS + 0xc0, IMPORTS + 0x100)
    data[0xc0:0xca] = b"sycl9.dll\0"
    for i, name in enumerate(imports):
        at = 0x140 + 0x20 * i
        struct.pack_into("<Q", data, 0x80 + 8 * i, IMPORTS + at)
        struct.pack_into("<Q", data, 0x100 + 8 * i, IMPORTS + at)
        data[at + 2:at + 2 + len(name)] = name
    directories = {1: (IMPORTS, 40)}
    if exports:  # the function, of another DLL
        struct.pack_into("<IIHHIIIIIII", data, 0x200, 0, 0, 0, 0, 0, 1, 1, 1, IMPORTS + 0x240, IMPORTS + 0x250, IMPORTS + 0x260)
        struct.pack_into("<I12xI", data, 0x240, IMPORTS + 0x280, IMPORTS + 0x290)
        data[0x280:0x28a] = b"sycl9.reg\0"
        data[0x290:0x2a4] = b"__sycl_register_lib\0"
        directories[0] = (IMPORTS + 0x200, 0x100)
    return pe([(b".text", TEXT, bytes(text), CODE), (b".rdata", IMPORTS, bytes(data), CONSTANT),
               (b".data", PLACE, descriptor(image, lambda at: base + PLACE + at), DATA),
               (table, TABLE, struct.pack("<Q", base + TEXT), CONSTANT), *more], directories.items(), base)


def symbol(name, value, number, kind=0, storage=3, further=0, text_at=None):
    field = name if text_at is None else struct.pack("<II", 0, text_at)
    return struct.pack("<8sIhHBB", field, value, number, kind, storage, further)


def relocation(at, index, kind=4):
    return struct.pack("<IIH", at, index, kind)


FUNCTION, DESCRIPTOR, REGISTERS, OTHER, ELSEWHERE = 0, 1, 6, 7, 8
TEXTS = b"__sycl_register_lib\0"


def coff(image, code, relocations, constructor=True, more=b""):
    """An object with a descriptor, and a constructor of that code."""
    pointers = b"".join(relocation(at, index, 1) for at, index in
                        ((8, 2), (0x108, 3), (0x110, 9), (0x118, 9), (0x130, 4), (0x138, 5)))
    symbols = [symbol(b"fn", 0, 1, 0x20), symbol(b"D", 0, 2), symbol(b"images", 0x100, 2), symbol(b"target", 0x200, 2),
               symbol(b"begin", 0x300, 2), symbol(b"end", 0x300 + len(image), 2), symbol(b"", 0, 0, 0x20, 2, 0, 4),
               symbol(b"puts", 0, 0, 0x20, 2), symbol(b"other", 8, 2), symbol(b"empty", 0x210, 2)]
    parts = [(b".text", code, CODE, b"".join(relocations)), (b".data", descriptor(image, lambda at: 0), DATA, pointers)]
    if constructor:
        parts.append((b".CRT$XCU", bytes(8), CONSTANT, relocation(0, FUNCTION, 1)))
    at = 20 + 40 * len(parts)
    table = body = b""
    for name, data, flags, relocated in parts:
        raw_at = at + len(body)
        body += data + relocated
        table += section(name, 0, 0, len(data), raw_at, flags, raw_at + len(data), len(relocated) // 10)
    symbols = b"".join(symbols) + more
    return (struct.pack("<HHIIIHH", 0x8664, len(parts), 0, at + len(body), len(symbols) // 18, 0, 0) + table + body +
            symbols + struct.pack("<I", 4 + len(TEXTS)) + TEXTS)


def poked(data, form, at, *values):
    out = bytearray(data)
    struct.pack_into(form, out, at, *values)
    return bytes(out)


def table_of(data):
    """Where the section table of a PE is."""
    return 64 + 24 + struct.unpack_from("<H", data, 64 + 20)[0]


class Windows:
    def __init__(self, build, intel, folder):
        self.build, self.folder = build, folder
        with open(os.path.join(intel, "basic.spv"), "rb") as f:
            self.image = f.read()
        self.intel = intel

    def list(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(data)
        start = time.monotonic()
        status, out, err = self.build.devimg("list", path, "--format", "json")
        record = json.loads(out)["files"][0] if out else {}
        return status, record, time.monotonic() - start, err.decode(errors="replace")

    def expect(self, name, data, registered, status=0):
        """registered: True, False, None (cannot be told), or "no image" """
        found, record, _, err = self.list(name, data)
        answers = {i["registered"] for i in record.get("images", [])} or {"no image"}
        self.build.say(found == status and answers == {registered}, "windows: " + name,
                       "exit %s, expected %s; registered %s, expected %s\n%s\n%s" % (
                           found, status, answers, registered, json.dumps(record.get("findings"))[:600], err[:300]))

    def programs(self):
        load = lea(RCX, TEXT, PLACE)
        good = load + call(TEXT + 7, REGISTER) + b"\xc3"
        code = {
            "hands-over": (good, True),
            "calls-another": (load + call(TEXT + 7, PUTS) + b"\xc3", None),
            "clears-it": (load + b"\x31\xc9" + call(TEXT + 9, REGISTER) + b"\xc3", None),
            "second-argument": (lea(RDX, TEXT, PLACE) + call(TEXT + 7, REGISTER) + b"\xc3", None),
            "past-it": (load + b"\x48\x83\xc1\x08" + call(TEXT + 11, REGISTER) + b"\xc3", None),
            "short-jump": ((load + b"\xeb" + i32(0x80 - 12)).ljust(0x80, b"\xcc") + b"\xff\x25" + i32(REGISTER - TEXT - 0x86),
                           None),
            "by-image-base": (lea(RAX, TEXT, 0) + b"\x48\x8d\x88" + i32(PLACE) + call(TEXT + 14, REGISTER) + b"\xc3", None),
            "nothing": (b"\x90" + call(TEXT + 1, REGISTER) + b"\xc3", False),
        }
        for name, (constructor, registered) in code.items():
            self.expect("pe-" + name, program(self.image, constructor), registered)
        other = load + call(TEXT + 7, PUTS) + b"\xc3"
        self.expect("pe-exports-it", program(self.image, other, exports=True), None)
        self.expect("pe-exports-alone", program(self.image, other, exports=True, imports=(b"_initterm", b"a", b"puts")), None)
        self.expect("pe-section-of-constructors", program(self.image, good, start=False, table=b".ctors"), None)
        self.expect("pe-without-start", program(self.image, good, start=False), None)

    def damaged_programs(self):
        good = program(self.image, lea(RCX, TEXT, PLACE) + call(TEXT + 7, REGISTER) + b"\xc3")
        text = table_of(good)
        self.expect("pe-code-nowhere", poked(good, "<I", text + 20, 0), None, 1)
        self.expect("pe-code-of-no-bytes", poked(good, "<I", text + 16, 0), None)
        self.expect("pe-code-made-later", poked(good, "<I", text + 36, 0xE00000A0), None)
        self.expect("pe-imports-nowhere", poked(good, "<II", 64 + 24 + 112 + 8, 0x7f000000, 40), None, 1)
        self.expect("pe-base-too-high", poked(good, "<Q", 64 + 24 + 24, 0xffffffffffff0000), "no image", 1)
        self.expect("pe-base-odd", poked(good, "<B", 64 + 24 + 24, 1), "no image", 1)

    def objects(self):
        load, call_it = RCX + bytes(4), b"\xff\x15" + bytes(4)
        good = coff(self.image, load + call_it + b"\xc3", [relocation(3, DESCRIPTOR), relocation(9, REGISTERS)])
        cases = {
            "hands-over": (load + call_it, [(3, DESCRIPTOR), (9, REGISTERS)], True),
            "loads-another": (load + load + call_it, [(3, DESCRIPTOR), (10, ELSEWHERE), (16, REGISTERS)], None),
            "clears-it": (load + b"\x31\xc9" + call_it, [(3, DESCRIPTOR), (11, REGISTERS)], None),
            "calls-another": (load + RAX + bytes(4) + call_it, [(3, DESCRIPTOR), (10, REGISTERS), (16, OTHER)], None),
            "by-image-base": (RAX + bytes(4) + b"\x48\x8d\x88" + bytes(4) + call_it,
                              [(3, OTHER), (10, DESCRIPTOR, 3), (16, REGISTERS)], None),
            "nothing": (b"\x90" + call_it, [(3, REGISTERS)], False),
        }
        for name, (code, places, registered) in cases.items():
            self.expect("coff-" + name, coff(self.image, code + b"\xc3", [relocation(*p) for p in places]), registered)
        symbols_at, count = struct.unpack_from("<II", good, 8)
        texts_at = symbols_at + 18 * count
        for size in (0, 2, 4, 10):
            self.expect("coff-texts-cut-%d" % size, good[:texts_at + size], None, 1)
        for size in (0, 5):
            self.expect("coff-texts-of-%d" % size, poked(good, "<I", texts_at, size), None, 1)
        self.expect("coff-hidden-symbol", poked(good, "<B", symbols_at + 17, 6), None, 1)
        self.expect("coff-fewer-sections", poked(good, "<H", 2, 1), "no image", 1)
        self.expect("coff-no-sections", poked(good, "<H", 2, 0), "no image", 1)

    def bigobj(self):
        with open(os.path.join(self.intel, "win_aot_zstd_big.obj"), "rb") as f:
            good = f.read()
        for name, data in (("version-0", poked(good, "<H", 4, 0)), ("no-sections", poked(good, "<I", 44, 0))):
            status, record, _, _ = self.list("bigobj-" + name, data)
            self.build.say(status in (1, 3) and not record.get("images"), "windows: bigobj-" + name, "exit %s" % status)

    def imports(self):
        good = struct.pack("<HHHHIIHH", 0, 0xffff, 0, 0x8664, 0, 12, 0, 4) + b"name\0x.dll\0\0"
        self.expect("import", good, "no image")
        status, _, _, _ = self.list("import-cut", good[:21])
        self.build.say(status == 3, "windows: import-cut", "exit %s" % status)

    def long_names(self):
        """Each of 65,279 sections has a name that does not end for 8 MB."""
        digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        names = ("//" + "".join(digits[at >> 6 * k & 63] for k in range(5, -1, -1)) for at in range(4, 65283))
        table = b"".join(section(n.encode(), 0, 0, 0, 0, CONSTANT) for n in names)
        size = 8 << 20
        data = (struct.pack("<HHIIIHH", 0x8664, 65279, 0, 20 + len(table), 0, 0, 0) + table +
                struct.pack("<I", 4 + size) + b"a" * size)
        status, record, seconds, _ = self.list("long-names", data)
        self.build.say(status == 1 and record["findings"] and seconds < 60, "windows: long-names",
                       "exit %s, %.1f s" % (status, seconds))

    def all(self):
        self.programs()
        self.damaged_programs()
        self.objects()
        self.bigobj()
        self.imports()
        self.long_names()
