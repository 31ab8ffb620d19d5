# SPDX-License-Identifier: Apache-2.0
"""CUDA device code. Suite `cuda`.

What is expected comes from cuobjdump (tests/data/nvidia/cuobjdump.txt: kernels and their resources, options, identifiers),
from a second reader of fat binaries that is written here, and from files that are written here byte by byte.
"""
import collections
import json
import os
import re
import struct
import subprocess

from edited import named_headers
from made import Made
from offload import offload_binary, zstd

MAGIC, ZSTD, LZ4, SEALED, A, F = 0xba55ed50, 0x8000, 0x2000, 0x10000, 0x100000, 0x200000
PREFIX = {1: "compute_", 2: "sm_", 8: "lto_"}
FORMAT = {1: "ptx", 2: "cubin", 8: "lto-ir"}
RESOURCES = {"registers": "REG", "private_size": "STACK", "slm_size": "SHARED", "constant_size": "CONSTANT[0]"}


def unlz4(data):
    """LZ4 block: doc/lz4_Block_format.md."""
    out, at = bytearray(), 0

    def length(nibble):
        nonlocal at
        total = nibble
        while nibble == 15 or (nibble == 255 and total > 15):
            nibble = data[at]
            at += 1
            total += nibble
            if nibble != 255:
                break
        return total

    while at < len(data):
        token = data[at]
        at += 1
        size = length(token >> 4)
        out += data[at:at + size]
        at += size
        if at >= len(data):
            break
        back = data[at] | data[at + 1] << 8
        at += 2
        for _ in range(length(token & 15) + 4):
            out.append(out[-back])
    return bytes(out)


def containers(data):
    """[(offset, size)] in a section."""
    found, at = [], 0
    while data[at:].strip(b"\0"):
        while data[at:at + 8] == bytes(8):
            at += 8
        magic, version, header, size = struct.unpack_from("<IHHQ", data, at)
        assert (magic, version, header) == (MAGIC, 1, 16)
        found.append((at, 16 + size))
        at += 16 + size
    return found


def entries(data, at, size, base=0, inflate=True):
    """[{target, format, compression, offset, stored_size, size, options, name, bytes}] of a container."""
    end, out = at + size, []
    at += 16
    while at < end:
        kind, _, header, payload, packed, block, _, _, sm, name, name_size, flags, _, inflated = \
            struct.unpack_from("<HHIQIIHHIIIQQQ", data, at)
        stored = data[at + header:at + header + (packed or payload)]
        codec = "none" if not packed else "lz4" if flags & LZ4 else "zstd"
        whole = stored
        if packed and inflate and not flags & SEALED:
            whole = unlz4(stored) if codec == "lz4" else subprocess.run(
                ["zstd", "-q", "-d", "-c"], input=stored, stdout=subprocess.PIPE, check=True).stdout
            assert len(whole) == inflated
        where, length = struct.unpack_from("<II", data, at + block) if block else (0, 0)
        options = data[at + where:at + where + length].split(b"\0")[0].decode(errors="replace").strip() if where else ""
        out.append({"target": PREFIX[kind] + str(sm) + ("a" if flags & A else "f" if flags & F else ""), "format": FORMAT[kind],
                    "compression": codec, "offset": base + at + header, "stored_size": len(stored),
                    "size": inflated if packed else payload, "compile_options": options or None,
                    "unit": data[at + name:at + name + name_size].decode() if name else None, "bytes": whole})
        at += header + payload
    assert at == end
    return out


def entry(kind, sm, data, flags=0x11, packed=0, size=0, **wrong):
    """One entry, `data` as it is stored."""
    payload = data + bytes(-len(data) % 8)
    head = struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, wrong.get("header", 64), wrong.get("payload", len(payload)), packed,
                       wrong.get("block", 0), 8, 1, sm, wrong.get("name", 0), wrong.get("name_size", 0), flags, 0, size)
    return head + payload


def fatbin(*parts, **wrong):
    body = b"".join(parts)
    return struct.pack("<IHHQ", MAGIC, wrong.get("version", 1), wrong.get("header", 16), wrong.get("size", len(body))) + body


def blocks_of(text):
    """[{kind, target, options, unit, kernels}] of what `cuobjdump -all -res-usage` prints."""
    blocks, block, kernel = [], None, None
    new = lambda kind: {"kind": kind, "target": None, "options": None, "unit": None, "kernels": {}}
    for line in text.splitlines():
        key, _, value = line.partition(" = ")
        if line.startswith("Fatbin "):
            block = new(line.split()[1])
            blocks.append(block)
        elif line.startswith("Resource usage") and block is None: # a loose cubin has no headline
            block = new("elf")
            blocks.append(block)
        elif key == "arch":
            block["target"] = {"elf": "sm_", "ptx": "compute_", "nvvm": "lto_"}[block["kind"]] + value[3:]
        elif key in ("ptxasOptions", "nvvmOptions"):
            block["options"] = value.strip() or None
        elif key == "identifier":
            block["unit"] = value
        elif line.startswith(" Function "):
            kernel = line.split()[1].rstrip(":")
        elif line.startswith("  REG:"):
            numbers = dict(part.split(":") for part in line.split())
            if "CONSTANT[0]" not in numbers: # a device function: it has no parameter bank
                continue
            block["kernels"][kernel] = {name: int(numbers[key]) for name, key in RESOURCES.items()}
    return blocks


def said_by_cuobjdump(path):
    """{file: (exit status, blocks)}"""
    files = {}
    with open(path, encoding="utf-8") as f:
        for part in f.read().split("##### ")[1:]:
            head, body = part.split("\n", 1)
            name, status = head.split(": exit status ")
            files[name] = (int(status), blocks_of(body))
    return files


class Cuda(Made):
    NAME = "cuda"

    def __init__(self, build, data, folder):
        super().__init__(build, os.path.join(data, "nvidia"), os.path.join(data, "host"), folder)
        self.cubin = self.fixture("sm_90a.cubin")
        self.second = {e["target"]: e for e in entries(self.fixture("second.fatbin"), 0, len(self.fixture("second.fatbin")))}
        self.ptx = self.second["compute_90"]["bytes"]
        self.said = said_by_cuobjdump(os.path.join(self.fixtures, "cuobjdump.txt"))

    def path(self, name):
        return os.path.join(self.fixtures, name)

    def found(self, status, record, code, text, name):
        self.say(status == 1 and any(f["code"] == code and text in f["message"] for f in record["findings"]), name,
                 status, record["findings"])

    def sections(self, name):
        """{name: (offset, bytes, address)} of an ELF64 fixture."""
        data = self.fixture(name)
        out = {}
        for section, at in named_headers(data).items():
            addr, offset, size = struct.unpack_from("<QQQ", data, at + 16)
            out[section] = (offset, data[offset:offset + size], addr)
        return out

    def records(self, *args):
        status, out, _ = self.build.devimg(*args, "--format", "json", seconds=60)
        return status, json.loads(out)["files"]

    # --- fixtures ---

    def as_cuobjdump(self):
        """Images and kernels of every fixture. What is relocatable has no stack size yet: cuobjdump writes 0."""
        for name, (exit_status, blocks) in self.said.items():
            if name.startswith(("bad_", "truncated")) or exit_status == 255:
                continue
            status, files = self.records("kernels", self.path(name))
            images, kernels, barriers = collections.Counter(), [], set()
            for r in files:
                for i, image in enumerate(r["images"]):
                    images[image["target"], image["compile_options"], image["unit"]] += 1
                    own = [k for k in r["kernels"] if k["image"] == i]
                    if image["format"] == "cubin":
                        relocatable = image["device_link"] in ("input", "linked")
                        self.say(all((k["private_size"] is None) == relocatable for k in own), name + ": stack sizes", own)
                        kernels.append({k["name"]: {n: k[n] or 0 for n in RESOURCES} for k in own})
                        barriers |= {(k["name"], k["barrier_count"]) for k in own}
                    self.say(len(own) == (image["kernel_count"] or 0), name + ": count of kernels", image, own)
            key = lambda k: json.dumps(k, sort_keys=True)
            expected = [b["kernels"] for b in blocks if b["kind"] == "elf"]
            self.say(status == 0 and sorted(kernels, key=key) == sorted(expected, key=key) and kernels + [0] != [],
                     name + ": kernels as cuobjdump has them", kernels, expected)
            wanted = collections.Counter((b["target"], b["options"], b["unit"]) for b in blocks)
            if name.endswith(".cubin"): # which cuobjdump does not name
                wanted = collections.Counter({(name[:-6], None, None): 1})
            self.say(images == wanted, name + ": images as cuobjdump has them", images, wanted)
            # ptxas -v: __syncthreads() takes barrier 0, of which spilly and second_kernel have one
            self.say(all(count == (k in ("spilly", "second_kernel")) for k, count in barriers), name + ": barriers", barriers)

    def as_second_reader(self):
        """Every entry of every container: place, sizes, codec, target."""
        facts = ("target", "format", "compression", "offset", "stored_size", "size", "compile_options", "unit")
        for name in self.said:
            if not name.endswith((".o", ".so")) or name.startswith("bad_"):
                continue
            expected = []
            for section, (base, data, _) in self.sections(name).items():
                if section in (".nv_fatbin", "__nv_relfatbin"):
                    for at, size in containers(data):
                        expected += [(section, e) for e in entries(data, at, size, base)]
            status, r = self.record("list", self.path(name))
            self.say(status == 0 and expected and [(i["section"], {k: i[k] for k in facts}) for i in r["images"]] ==
                     [(s, {k: e[k] for k in facts}) for s, e in expected], name + ": entries", r["images"], r["findings"])
            self.say({i["registered"] for i in r["images"]} == {True} and {i["bundle"] for i in r["images"]} == {"fatbin"} and
                     {i["offload"] for i in r["images"]} == {"cuda"}, name + ": wrappers register them", r["images"])
        # clang put second.fatbin into these
        whole = self.fixture("second.fatbin")
        for name, section in (("win.obj", ".nv_fatbin"), ("win.dll", ".nv_fatb"), ("second.fatbin", None)):
            status, r = self.record("list", self.path(name))
            base = self.fixture(name).index(whole)
            self.say(status == 0 and [{k: i[k] for k in facts} for i in r["images"]] ==
                     [{k: e[k] for k in facts} for e in entries(whole, 0, len(whole), base)] and
                     {i["section"] for i in r["images"]} == {section} and
                     {i["registered"] for i in r["images"]} == ({True} if section else {None}), name + ": entries", r["images"], r["findings"])
            self.say(len(r["modules"]) == 1, name + ": a container is a module", r["modules"])

    def device_links(self):
        for name, expected in (("rdc.o", ["input", "input"]), ("lto.o", ["input", "input"]), ("rdc_linked.so", ["linked", "linked", "result"]),
                               ("multi_plain.o", [None] * 3)):
            _, r = self.record("list", self.path(name))
            self.say([i["device_link"] for i in r["images"]] == expected, name + ": the device link", r["images"])
        _, out, _ = self.build.devimg("list", self.path("rdc_linked.so"))
        text = out.decode()
        self.say("with PTX fallback\n" in text and "device link: it kept no PTX" in text, "what the device link lost, in words", text)
        # without the wrapper of the link nothing says that there was one
        d = bytearray(self.fixture("rdc_linked.so"))
        at, data, _ = self.sections("rdc_linked.so")[".nvFatBinSegment"]
        for i in range(0, len(data), 24):
            if struct.unpack_from("<II", data, i) == (0x466243b1, 2):
                d[at + i:at + i + 24] = bytes(24)
        status, r = self.record("list", self.file("no_link.so", d))
        self.say(status == 0 and [i["device_link"] for i in r["images"]] == ["input", "input", None] and r["images"][2]["registered"] is None and
                 "no CUDA wrapper names it" in r["images"][2]["note"], "a program whose link left no wrapper", r)

    def hostile_fixtures(self):
        for name, code, text in (("bad_padded_size.o", "truncated", "2147483647 bytes"), ("truncated.fatbin", "truncated", "3360 bytes"),):
            status, r = self.record("list", self.path(name))
            self.found(status, r, code, text, name)
        status, r = self.record("kernels", self.path("bad_zstd.o"))
        self.found(status, r, "malformed", "zstd frame", "bad_zstd.o")
        _, good = self.record("kernels", self.path("multi_zstd.o"))
        names = lambda r: [(k["target"], k["name"]) for k in r["kernels"] if k["image"] > 0]
        self.say(names(r) == names(good) and len(names(r)) == 12, "bad_zstd.o: the other images are still read", r["kernels"])

    # --- containers made here ---

    def packed(self, codec, kind, sm, data, flags=0x11, **wrong):
        body = wrong.pop("body", None) or {"zstd": zstd, "lz4": self.lz4}[codec](data)
        return entry(kind, sm, body, flags | (LZ4 if codec == "lz4" else ZSTD),
                     wrong.pop("packed", len(body)), wrong.pop("size", len(data)), **wrong)

    @staticmethod
    def lz4(data):
        """A block of literals alone."""
        left = len(data) - 15
        return bytes([0xf0]) + b"\xff" * (left // 255) + bytes([left % 255]) + data

    def kinds(self):
        """Entries of every kind and codec, and what looks like a container inside of one."""
        decoy = fatbin(entry(1, 50, self.ptx))
        parts = [(entry(2, 90, self.cubin, 0x11 | A), "sm_90a", "cubin", "none"),
                 (self.packed("lz4", 1, 90, self.ptx), "compute_90", "ptx", "lz4"),
                 (self.packed("zstd", 1, 90, self.ptx + decoy), "compute_90", "ptx", "zstd"),
                 (entry(1, 90, self.ptx + decoy), "compute_90", "ptx", "none"),
                 (entry(8, 90, b"sealed" * 40, 0x12011, 240, 5000), "lto_90", "lto-ir", "lz4"),
                 (entry(8, 100, b"sealed" * 40, 0x18011 | F, 240, 5000), "lto_100f", "lto-ir", "zstd")]
        data = fatbin(*[p[0] for p in parts])
        for name, path in (("loose", self.file("kinds.fatbin", data)), ("in a section", self.object("kinds.o", ".nv_fatbin", data + bytes(24) + data))):
            status, r = self.record("kernels", path)
            times = 1 if name == "loose" else 2 # and three modules each, for the three images for compute_90
            self.say(status == 0 and [(i["target"], i["format"], i["compression"]) for i in r["images"]] == [p[1:] for p in parts] * times and
                     len(r["modules"]) == 3 * times and [k["name"] for k in r["kernels"]] == (["spilly", "stacky", "saxpy"] + ["second_kernel"] * 3) * times,
                     "every kind, " + name, status, r["images"], r["kernels"], r["findings"])
        status, r = self.record("list", self.file("odd.fatbin", fatbin(entry(64, 90, b"what?"), entry(1, 90, self.ptx))))
        self.say(status == 1 and [(i["target"], i["format"]) for i in r["images"]] == [("sm_90", "unknown"), ("compute_90", "ptx")] and
                 "kind 64" in r["images"][0]["note"], "a kind that nobody knows is listed", r)
        status, r = self.record("list", self.file("empty.fatbin", fatbin()))
        self.say(status == 0 and not r["images"], "an empty container", r)
        inner = offload_binary(2, [("cuda", "nvptx64-nvidia-cuda", "sm_90", data)])
        status, r = self.record("kernels", self.file("inner.bin", inner))
        self.say(status == 0 and len(r["images"]) == len(parts), "a fat binary in an offload binary", status, r)

    def damaged(self):
        good = fatbin(entry(1, 90, self.ptx))
        for name, data, code, text in (
                ("version 9", fatbin(entry(1, 90, self.ptx), version=9), "unsupported", "version 9"),
                ("header of 32", fatbin(entry(1, 90, self.ptx), header=32), "unsupported", "header of 32"),
                ("entry header of 0", fatbin(entry(1, 90, self.ptx, header=0)), "malformed", "header of 0 bytes"),
                ("entry header past the end", fatbin(entry(1, 90, self.ptx, header=1 << 31)), "truncated", "2147483648"),
                ("payload of 2^64 - 1", fatbin(entry(1, 90, self.ptx, payload=(1 << 64) - 1)), "truncated", "18446744073709551615"),
                ("payload of 2^64 - 64", fatbin(entry(1, 90, self.ptx, payload=(1 << 64) - 64)), "truncated", "18446744073709551552"),
                ("entries that stop short", fatbin(entry(1, 90, self.ptx), bytes(40)), "truncated", "fatbin entry"),
                ("a cubin that is PTX", fatbin(entry(2, 90, self.ptx)), "malformed", "kind cubin"),
                ("PTX that is a cubin", fatbin(entry(1, 90, self.cubin)), "malformed", "kind ptx"),
                ("another number", fatbin(entry(2, 80, self.cubin)), "malformed", "for sm_80 holds an image for sm_90a"),
                ("another suffix", fatbin(entry(2, 90, self.cubin)), "malformed", "for sm_90 holds an image for sm_90a"),
                ("another number of PTX", fatbin(entry(1, 80, self.ptx)), "malformed", "for compute_80 holds an image for compute_90"),
                ("more compressed than stored", fatbin(self.packed("zstd", 1, 90, self.ptx, packed=100000)), "malformed", "100000 compressed bytes"),
                ("an inflated size too small", fatbin(self.packed("zstd", 1, 90, self.ptx, size=100)), "malformed", "100 bytes"),
                ("an inflated size too large", fatbin(self.packed("zstd", 1, 90, self.ptx, size=1 << 40)), "malformed", "1099511627776 bytes"),
                ("LZ4 of another size", fatbin(self.packed("lz4", 1, 90, self.ptx, size=len(self.ptx) + 1)), "malformed", "LZ4 block"),
                ("LZ4 into less", fatbin(self.packed("lz4", 1, 90, self.ptx, size=len(self.ptx) - 1)), "malformed", "LZ4 block"),
                ("LZ4 of a ratio past 255", fatbin(self.packed("lz4", 1, 90, self.ptx, size=1 << 27)), "malformed", "stated to inflate to 134217728"),
                ("LZ4 that looks back too far", fatbin(self.packed("lz4", 1, 90, self.ptx, body=b"\x10a\xff\xff" + bytes(60))), "malformed", "LZ4 block"),
                ("zstd that is LZ4", fatbin(entry(1, 90, self.lz4(self.ptx), 0x11 | ZSTD, 100, 638)), "malformed", "no zstd frame"),
                ("options outside of the header", fatbin(entry(1, 90, self.ptx, block=60)), "truncated", "fatbin options"),
                ("a name outside of the header", fatbin(entry(1, 90, self.ptx, name=60, name_size=100)), "truncated", "fatbin identifier")):
            status, r = self.record("kernels", self.file("bad.fatbin", data))
            self.found(status, r, code, text, "damage: " + name)
            status, r = self.record("kernels", self.object("bad.o", ".nv_fatbin", data + good))
            self.found(status, r, code, text, "damage in a section: " + name)
            self.say("second_kernel" in [k["name"] for k in r["kernels"] if k["target"] == "compute_90"],
                     "damage leaves the next container: " + name, r["images"], r["kernels"])
        for size, padding, code, text in ((1 << 60, 8, "malformed", "header of 0 bytes"), (1 << 60, 0, "truncated", "header: 1048577 bytes"),
                                          (24, 8, "truncated", "fatbin entry")):
            status, r = self.record("list", self.object("size.o", ".nv_fatbin", fatbin(entry(1, 90, self.ptx), size=size) + bytes(padding) + good))
            self.found(status, r, code, text, "a container of %d bytes" % size)
            self.say(len(r["images"]) >= 1 and r["images"][-1]["target"] == "compute_90", "and what is behind it", r["images"])
        status, r = self.record("list", self.file("size.fatbin", fatbin(entry(1, 90, self.ptx), size=1 << 60)))
        self.found(status, r, "truncated", "1152921504606846976", "a container that is cut between two entries")
        status, r = self.record("list", self.object("text.o", ".nv_fatbin", b"no container" + bytes(4) + good[:16] + b"x" * 80 + good))
        self.found(status, r, "malformed", "start no fatbin", "bytes that start no container")
        self.say([i["target"] for i in r["images"]] == ["compute_90"], "and the container behind them", r["images"])
        status, r = self.record("kernels", self.file("limit.fatbin", fatbin(self.packed("zstd", 1, 90, self.ptx + bytes(5000)))), "--max-inflated-size", "1000")
        self.found(status, r, "limit", "max-inflated-size", "a limit on what is inflated")
        status, r = self.record("kernels", self.file("limit.fatbin", fatbin(self.packed("lz4", 1, 90, self.ptx + bytes(5000)))), "--max-inflated-size", "1000")
        self.found(status, r, "limit", "max-inflated-size", "the same of LZ4")
        # every 64 bytes a container that would reach to the end, and none that does
        unit = struct.pack("<HHIQIIHHIIIQ", 1, 0x101, 64, 0, 0, 0, 0, 9, 90, 0, 0, 0x11)
        count = 60000
        body = b"".join(unit + struct.pack("<IHHQ", MAGIC, 1, 16, (count - i) * 64)[:16] for i in range(count))
        status, r = self.record("list", self.object("many.o", ".nv_fatbin", b"x" * 8 + body + b"y" * 8))
        self.say(status == 1, "containers in containers", status, r["findings"][:3])

    def wrappers(self):
        whole = self.fixture("two_tu_lz4_zstd.so")
        sections = self.sections("two_tu_lz4_zstd.so")
        at, segment, addr = sections[".nvFatBinSegment"]
        fat_at, fat, fat_addr = sections[".nv_fatbin"]
        self.say(len(segment) == 48 and len(containers(fat)) == 2, "two wrappers and two containers", segment)
        place = whole.index(struct.pack("<QQ", addr + 8, 8)) # of the relocation: offset, R_X86_64_RELATIVE; the addend follows
        for name, target, text in (("nowhere", 1 << 40, "outside of .nv_fatbin and __nv_relfatbin"), ("its own section", addr, "outside"),
                                   ("the middle of a container", fat_addr + 8, "where no fatbin starts")):
            d = bytearray(whole)
            struct.pack_into("<Q", d, place + 16, target)
            status, r = self.record("list", self.file("w.so", d))
            said = [f for f in r["findings"] if f["rule"] == "registration" and f["code"] == "wrapper-outside"]
            self.say(status == 1 and len(said) == 1 and text in said[0]["message"] and said[0]["offset"] == at + 8, "a wrapper that names " + name, r["findings"])
            self.say(sorted(map(str, [i["registered"] for i in r["images"]])) == ["None"] * 3 + ["True"] or
                     sorted(map(str, [i["registered"] for i in r["images"]])) == ["None"] + ["True"] * 3, "the container that it named", r["images"])
            status, r = self.record("check", os.path.join(self.folder, "w.so"), "--targets", "sm_80", "--extra-targets", "allow")
            self.say(status == 1 and [f["code"] for f in r["findings"] if f["rule"] == "registration"].count("wrapper-outside") == 1,
                     "check of a wrapper that names " + name, r["findings"])
        for offset, value, text in ((0, 0x58585858, "magic 58585858"), (4, 3, "version 3")):
            d = bytearray(whole)
            struct.pack_into("<I", d, at + offset, value)
            status, r = self.record("list", self.file("w.so", d))
            self.found(status, r, "malformed", text, "a wrapper of " + text)
        # containers in a section of another name: the wrappers lead to them
        names = whole.replace(b".nv_fatbin\0", b".my_fatbin\0")
        status, r = self.record("list", self.file("w.so", names))
        _, good = self.record("list", self.path("two_tu_lz4_zstd.so"))
        self.say(status == 0 and [(i["target"], i["offset"], i["registered"]) for i in r["images"]] ==
                 [(i["target"], i["offset"], True) for i in good["images"]] and {i["section"] for i in r["images"]} == {".my_fatbin"},
                 "wrappers that lead to another section", r)
        status, r = self.record("list", self.object("rdc.o", ".nv_fatbin", self.fixture("second.fatbin")))
        self.say(status == 0 and [i["registered"] for i in r["images"]] == [None] * 3, "an object without wrappers", r["images"])

    # --- cubins ---

    def elf(self, abi, flags, kernels, kind=2, version=1, extra=()):
        """A cubin: kernels {name: (registers, stack, shared, constant, barriers)}; written from docs/format/cubin.md's sources."""
        new = abi == 8
        names, symbols, sections = b"\0", bytes(24), [(b"", 0, 0, b"", 0, 0, 0)]
        common, texts = b"", []
        for i, (name, (registers, stack, shared, constant, barriers)) in enumerate(kernels.items()):
            code = len(sections)
            at = len(names)
            names += name.encode() + b"\0"
            symbols += struct.pack("<IBBHQQ", at, 0x12, 0x10, code, 0, 128)
            common += struct.pack("<BBHII", 4, 0x2f, 8, i + 1, registers) + struct.pack("<BBHII", 4, 0x12, 8, i + 1, stack)
            own = struct.pack("<BBH", 1, 0x1c, 0) + (struct.pack("<BBBB", 2, 0x4c, barriers, 0) if new else b"")
            sections += [(b".text." + name.encode(), 1, 6 | (0 if new else barriers << 20), bytes(128), 0, 0, 0),
                         (b".nv.info." + name.encode(), 0x70000000, 0, own, 0, code, 0),
                         (b".nv.shared." + name.encode(), 0x7000000a, 3, b"", 0, code, shared),
                         (b".nv.constant0." + name.encode(), 1, 2, bytes(constant), 0, code, 0)]
            texts.append(name)
        symbols += struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0, 64) # a device function
        sections += [(b".nv.info", 0x70000000, 0, common, 0, 0, 0), *extra]
        strings = len(sections) + 1
        sections += [(b".symtab", 2, 0, symbols, strings, 1, 0), (b".strtab", 3, 0, names, 0, 0, 0)]
        shown = b"\0" + b"".join(s[0] + b"\0" for s in sections[1:]) + b".shstrtab\0"
        sections.append((b".shstrtab", 3, 0, shown, 0, 0, 0))
        out, headers = bytes(64), b""
        for name, type_, flag, data, link, info, size in sections:
            where = shown.index(b"\0" + name + b"\0") + 1 if name else 0
            headers += struct.pack("<IIQQQQIIQQ", where, type_, flag, 0, len(out), size or len(data), link, info, 1, 0)
            out += data + bytes(-len(data) % 8)
        head = (b"\x7fELF\2\1\1" + bytes([65 if new else 51, abi]) + bytes(7) +
                struct.pack("<HHIQQQIHHHHHH", kind, 190, version, 0, 0, len(out), flags, 64, 0, 0, 64, len(sections), len(sections) - 1))
        return head + out[64:] + headers

    @staticmethod
    def note(kind, data):
        return struct.pack("<III", 12, len(data), kind) + b"NVIDIA Corp\0" + data + bytes(-len(data) % 4)

    def layouts(self):
        """e_flags of either layout: targets as ptxas 11.8 to 13.0 wrote them (measured), kernels of our own."""
        kernels = {"one": (40, 128, 512, 352, 3), "two": (255, 0, 0, 360, 0)}
        compat = lambda value: ((b".nv.compat", 0x70000086, 0, struct.pack("<BBBB", 2, 9, value, 0), 0, 0, 0),)
        notes = lambda *n: ((b".note.nv.tkinfo", 7, 0, b"".join(n), 0, 0, 0),)
        texts = b"\0ptxas\0Cuda compilation tools, release 13.0\0b\0-arch sm_100f -m 64 \0"
        tkinfo = self.note(2000, struct.pack("<IIIIII", 2, 0, 1, 7, texts.index(b"b\0"), texts.index(b"-arch")) + texts)
        cuinfo = self.note(1000, struct.pack("<HHH", 2, 100, 130))
        for abi, flags, version, extra, target, producer in (
                (7, 0x003c053c, 118, (), "sm_60", "CUDA 11.8"), (7, 0x005a055a, 120, (), "sm_90", "CUDA 12.0"),
                (7, 0x005a0d5a, 128, (), "sm_90a", "CUDA 12.8"), (8, 0x06006402, 1, (), "sm_100", None),
                (8, 0x0600640a, 1, (), "sm_100a", None), (8, 0x06005a04, 1, compat(1), "sm_90a", None),
                (8, 0x06005a04, 1, compat(0), "sm_90", None), (8, 0x06006402, 1, (*compat(0), *notes(cuinfo)), "sm_100", "CUDA 13.0"),
                (8, 0x06006402, 1, (*compat(0), *notes(tkinfo, cuinfo)), "sm_100f", "ptxas, Cuda compilation tools, release 13.0")):
            status, r = self.record("kernels", self.file("l.cubin", self.elf(abi, flags, kernels, version=version, extra=extra)))
            got = {k["name"]: tuple(k[n] for n in ("registers", "private_size", "slm_size", "constant_size", "barrier_count")) for k in r["kernels"]}
            self.say(status == 0 and got == kernels and [(i["target"], i["version"], i["producer"], i["kernel_count"]) for i in r["images"]] ==
                     [(target, str(abi), producer, 2)] and {(k["sub_group_size"], k["code_size"], k["spill_size"]) for k in r["kernels"]} == {(32, 128, None)},
                     "layout %d, flags %#x: %s" % (abi, flags, target), status, got, r)
        for name, change, code, text in (
                ("an attribute of form 9", lambda d: d.replace(struct.pack("<BBH", 4, 0x2f, 8), struct.pack("<BBH", 9, 0x2f, 8), 1), "malformed", "form 9"),
                ("an attribute past the end", lambda d: d.replace(struct.pack("<BBHII", 4, 0x12, 8, 2, 0), struct.pack("<BBHII", 4, 0x12, 900, 2, 0), 1), "truncated", ".nv.info"),
                ("a kernel in section 999", lambda d: d.replace(struct.pack("<IBBHQQ", 1, 0x12, 0x10, 1, 0, 128), struct.pack("<IBBHQQ", 1, 0x12, 0x10, 999, 0, 128), 1),
                 "malformed", "section 999"),
                ("a name past the end", lambda d: d.replace(struct.pack("<IBBHQQ", 1, 0x12, 0x10, 1, 0, 128), struct.pack("<IBBHQQ", 1 << 30, 0x12, 0x10, 1, 0, 128), 1),
                 "truncated", "kernel name")):
            whole = self.elf(7, 0x003c053c, kernels)
            changed = change(whole)
            status, r = self.record("kernels", self.file("bad.cubin", changed))
            self.found(status, r, code, text, "cubin: " + name)
            self.say(changed != whole and [i["target"] for i in r["images"]] == ["sm_60"], "cubin leaves the target: " + name, r["images"])

    def texts(self):
        """PTX by the words of the specification."""
        body = ".visible .entry a(.param .u64 p)\n{ ret; }\n// .entry no\n/* .entry no */\n.weak .entry b$1 ( )\n{ ret; }\n.func .entry_like() {}\n.file 1 \".entry no\"\n"
        for text, target, version, names in (
                ("\n\n.version 9.0\n.target sm_90a\n.address_size 64\n" + body, "compute_90a", "9.0", ["a", "b$1"]),
                ("//\n// Generated by NVIDIA NVVM Compiler\n//\n\n.version 7.8\n.target sm_52, debug\n.address_size 64\n" + body, "compute_52", "7.8", ["a", "b$1"]),
                ("/* x */.version\t6.3 .target texmode_independent, sm_70", "compute_70", "6.3", []),
                (".version 9.0\n.target sm_120f\n.entry\n// c\nlast\n()", "compute_120f", "9.0", ["last"])):
            status, r = self.record("kernels", self.file("t.ptx", text.encode() + bytes(5)))
            self.say(status == 0 and [(i["target"], i["version"], i["format"]) for i in r["images"]] == [(target, version, "ptx")] and
                     [k["name"] for k in r["kernels"]] == names and {k["registers"] for k in r["kernels"]} <= {None}, "PTX for " + target, status, r)
        for text, said in ((".version 9.0\n.address_size 64\n", "without a target"), (".version 9.0\n.target sm_80\n.entry", "ends behind .entry")):
            status, r = self.record("kernels", self.file("t.ptx", text.encode()))
            self.say(status == 1 and any(said in f["message"] for f in r["findings"]), "PTX " + said, status, r)
        status, _, _ = self.build.devimg("list", self.file("t.txt", b"see .version 9.0 of the file\n"))
        self.say(status == 3, "a text about PTX is none", status)

    # --- rules ---

    def lz4_sizes(self):
        base, data, _ = self.sections("two_tu_lz4_zstd.so")[".nv_fatbin"]
        packed = [e for at, size in containers(data) for e in entries(data, at, size, base) if e["compression"] == "lz4"]
        return sum(e["stored_size"] for e in packed), sum(len(zstd(e["bytes"])) for e in packed)

    def rules(self):
        family = self.file("family.fatbin", fatbin(entry(2, 100, self.elf(8, 0x06006402, {"k": (8, 0, 0, 352, 0)}), 0x11 | F)))
        plain, linked, two = self.path("multi_plain.o"), self.path("rdc_linked.so"), self.path("two_tu_lz4_zstd.so")
        for path, options, expected in (
                (plain, ["--targets", "sm_80,sm_90", "--fallback", "compute_90"], []), (plain, ["--targets", "sm_80,sm_90a"], []),
                (plain, ["--targets", "sm_80,sm_90", "--fallback", "compute_120"], []), # PTX of an earlier number runs there
                (plain, ["--targets", "sm_80,sm_90", "--fallback", "compute_80"], ["missing-fallback"]),
                (plain, ["--targets", "sm_80,sm_90", "--fallback", "compute_90a"], ["missing-fallback"]),
                (plain, ["--targets", "sm_80,sm_86,sm_90"], ["missing-ip"]), (plain, ["--targets", "sm_80"], ["extra-target"]),
                (plain, ["--targets", "sm_80", "--extra-targets", "allow"], []),
                (plain, ["--targets", "sm_80,sm_90", "--fallback", "spir64"], ["missing-fallback"]),
                (plain, ["--compression", "required"], ["stored-raw"] * 3), (self.path("multi_zstd.o"), ["--compression", "required"], []),
                (linked, ["--compression", "required"], ["stored-raw"]),
                (linked, ["--targets", "sm_80", "--fallback", "compute_80"], []), (linked, ["--targets", "sm_90,sm_80"], ["missing-ip"]),
                (self.path("rdc.o"), ["--targets", "sm_80", "--fallback", "compute_80"], []),
                (two, ["--targets", "sm_75,sm_80,sm_86"], ["missing-ip"] * 3), # each container is a module, and lacks what the other has
                (two, ["--targets", "sm_80", "--extra-targets", "allow", "--fallback", "compute_75"], ["missing-ip", "missing-fallback"]),
                (self.path("ptx_only.o"), ["--targets", "sm_90"], ["no-native-image"]),
                (self.path("ptx_only.o"), ["--fallback", "compute_90"], []),
                (family, ["--targets", "sm_100,sm_103,sm_100f"], []), (family, ["--targets", "sm_103f"], ["missing-ip", "extra-target"]),
                (family, ["--targets", "sm_101,sm_100"], ["missing-ip"]), # another family: a system on a chip
                (family, ["--targets", "sm_120"], ["missing-ip", "extra-target"]), (family, ["--targets", "sm_100a"], ["missing-ip", "extra-target"]),
                (self.path("sm_90a.cubin"), ["--targets", "sm_90", "--scratch", "none"], ["scratch", "scratch"]),
                (self.path("sm_90a.cubin"), ["--targets", "sm_90", "--scratch", "any", "--sub-group-sizes", "32"], []),
                (self.path("rdc.o"), ["--scratch", "none"], [])):
            status, r = self.record("check", path, *options)
            codes = [f["code"] for f in r["findings"] if f["severity"] == "error"]
            self.say(sorted(codes) == sorted(expected) and status == (1 if expected else 0),
                     "check %s %s" % (os.path.basename(path), " ".join(options)), status, r["findings"])
        for path, options, rule, text in (
                (plain, ["--targets", "sm_80,sm_86,sm_90"], "targets", "no native image for sm_86 (it runs the code for sm_80"),
                (plain, ["--targets", "sm_80,sm_120"], "targets", "no native image for sm_120 (its driver compiles the PTX for compute_90"),
                (self.path("multi_zstd.o"), ["--targets", "sm_87"], "targets", "no native image for sm_87;"), # no code of other GPUs runs on one of a chip
                (linked, ["--targets", "sm_80", "--fallback", "compute_80"], "fallback", "the device link kept no PTX"),
                (two, ["--compression", "required"], "compression", "3 images under lz4 take %d bytes, under zstd (level 3) " % self.lz4_sizes()[0]),
                (self.path("rdc.o"), ["--scratch", "none"], "scratch", "does not state the scratch memory")):
            _, r = self.record("check", path, *options)
            self.say(any(f["rule"] == rule and text in f["message"] for f in r["findings"]), "check says: " + text, r["findings"])
        _, r = self.record("check", two, "--compression", "required")
        measured, near = int(r["findings"][0]["message"].rsplit(" ", 1)[1]), self.lz4_sizes()[1]
        self.say(len(r["findings"]) == 1 and r["findings"][0]["code"] == "other-codec" and abs(measured - near) * 25 <= near, "what zstd takes", r, near)
        # a link whose result lacks what its input has
        d = bytearray(self.fixture("rdc_linked.so"))
        base, data, _ = self.sections("rdc_linked.so")[".nv_fatbin"]
        (at, size), = containers(data)
        cubin = entries(data, at, size, base)[0]
        other = re.sub(b"sm_80", b"sm_86", cubin["bytes"])
        d[cubin["offset"]:cubin["offset"] + len(other)] = other
        flags = cubin["offset"] + 48
        struct.pack_into("<I", d, flags, struct.unpack_from("<I", d, flags)[0] & ~0xff00 | 86 << 8)
        struct.pack_into("<I", d, base + at + 16 + 0x1c, 86)
        status, r = self.record("check", self.file("relinked.so", d), "--targets", "sm_80,sm_86")
        self.say(status == 0 and [(f["code"], f["target"]) for f in r["findings"] if f["rule"] == "targets"] == [("linked-at-load", "sm_80")],
                 "what the runtime links at load", status, r["findings"])
        for key, name, text in (("--targets", "compute_90", "portable images go under fallback"), ("--fallback", "sm_90", "native targets go under targets"),
                                ("--targets", "lto_90", "its kind is lto-ir"), ("--targets", "sm_91", "no table has")):
            status, out, err = self.build.devimg("check", plain, key, name)
            self.say(status == 2 and text.encode() in err, "%s %s is refused" % (key, name), status, out, err)
        ratchet = os.path.join(self.folder, "cuda.tsv")
        status, _, err = self.build.devimg("check", self.path("sm_90a.cubin"), "--write-ratchet", ratchet)
        with open(ratchet, encoding="utf-8") as f:
            lines = [line.split("\t")[:3] for line in f.read().splitlines() if not line.startswith("#")]
        self.say(sorted(lines) == [["spilly", "sm_90a", "176"], ["stacky", "sm_90a", "128"]], "a ratchet of stack sizes", lines, err)
        status, r = self.record("check", self.path("sm_90a.cubin"), "--ratchet", ratchet)
        self.say(status == 0 and not r["findings"], "which allows what is there", r["findings"])

    def tables(self):
        """Each GPU of nvidia.tsv has its code, PTX where ptxas makes such, and products."""
        status, out, _ = self.build.devimg("targets", "--format", "json")
        rows = {t["name"]: t for t in json.loads(out)["targets"]}
        self.say(status == 0 and rows["sm_90a"]["kind"] == "cubin" and rows["compute_90a"]["kind"] == "ptx" and rows["lto_90a"]["kind"] == "lto-ir" and
                 "compute_21" not in rows and "H200" in rows["sm_90"]["products"] and rows["sm_87"]["features"] == ["tegra"] and
                 rows["sm_90"]["sub_group_sizes"] == [32], "rows of NVIDIA", [t for t in rows if t.startswith("sm_")])

    def all(self):
        self.as_cuobjdump()
        self.as_second_reader()
        self.device_links()
        self.hostile_fixtures()
        self.kinds()
        self.damaged()
        self.wrappers()
        self.layouts()
        self.texts()
        self.rules()
        self.tables()
