#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An independent reader of SYCL device code, to hold devimg against.

It shares no code, table or output with devimg: own ELF, COFF, PE, ar, DPC++ descriptor, zebin and
SPIR-V parsing, PyYAML for .ze_info, libzstd (ctypes) for frames, spirv-dis to prove the SPIR-V parsing.
It is slow and simple, and trusts its input: run it on good files only.

    sycl_facts.py FILE... > facts.json          facts of each file, by base name
    sycl_facts.py --kernels none FILE...        images only
    sycl_facts.py --spirv-dis N FILE...         prove every Nth SPIR-V module with spirv-dis

Sources: System V gABI (ELF); Microsoft's PE format specification (COFF, PE); ar(5); RFC 8878;
intel/llvm ClangOffloadWrapper.cpp and sycl/source/detail/compiler.hpp (descriptors);
intel/intel-graphics-compiler IGC/ZEBinWriter/zebin/spec (zebin); SPIR-V 1.6.
"""
import argparse
import ctypes
import ctypes.util
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
BUNDLE = "__CLANG_OFFLOAD_BUNDLE__"
MACHINES = {3: "i386", 62: "x86_64", 183: "aarch64"}
RELATIVE = {62: (8,), 183: (1027,), 3: (8,)}
ABSOLUTE = {62: (1,), 183: (257,), 3: (1,)}
WINDOWS = {0x14c: "i386", 0x8664: "x86_64", 0xaa64: "aarch64"}
WINDOWS_WORDS = {0x14c: (6, 4), 0x8664: (1, 8), 0xaa64: (14, 8)}  # relocation of a whole address
BIGOBJ = bytes.fromhex("c7a1bad1eebaa94baf20faf66aa4dcb8")


def u16(d, o): return struct.unpack_from("<H", d, o)[0]
def u32(d, o): return struct.unpack_from("<I", d, o)[0]
def u64(d, o): return struct.unpack_from("<Q", d, o)[0]


def text_at(d, o):
    return bytes(d[o:d.index(b"\0", o)]).decode("utf-8", "surrogateescape")


# --- zstd ---------------------------------------------------------------------------------------

def libzstd():
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_isError.argtypes = [ctypes.c_size_t]
    return lib


ZSTD = libzstd()


def frame_sizes(d):
    """(stored size, content size or None) of the zstd frame that starts d, from its headers."""
    fd = d[4]
    at = 5 + (0 if fd & 0x20 else 1) + (0, 1, 2, 4)[fd & 3]
    flag = fd >> 6
    width = (1 if fd & 0x20 else 0, 2, 4, 8)[flag]
    content = int.from_bytes(d[at:at + width], "little") + (256 if flag == 1 else 0) if width else None
    at += width
    while True:
        head = int.from_bytes(d[at:at + 3], "little")
        kind, size = head >> 1 & 3, head >> 3
        at += 3 + (1 if kind == 1 else size)
        if head & 1:
            return at + (4 if fd & 4 else 0), content


def inflate(frame, size):
    out = ctypes.create_string_buffer(size)
    n = ZSTD.ZSTD_decompress(out, ctypes.c_size_t(size), bytes(frame), ctypes.c_size_t(len(frame)))
    if ZSTD.ZSTD_isError(n) or n != size:
        raise ValueError("zstd frame does not inflate to %d bytes" % size)
    return out.raw


# --- ELF ----------------------------------------------------------------------------------------

class Elf:
    def __init__(self, d):
        self.d = d
        self.wide = d[4] == 2
        self.type, self.machine = u16(d, 16), u16(d, 18)
        if self.wide:
            shoff, es, n, x = u64(d, 40), u16(d, 58), u16(d, 60), u16(d, 62)
            fmt = "<IIQQQQIIQQ"
        else:
            shoff, es, n, x = u32(d, 32), u16(d, 46), u16(d, 48), u16(d, 50)
            fmt = "<IIIIIIIIII"
        rows = [list(struct.unpack_from(fmt, d, shoff + i * es)) for i in range(n)]
        names = rows[x][4] if n else 0
        self.sections = []
        made_up = 0x10000
        for r in rows:
            s = dict(name=text_at(d, names + r[0]), type=r[1], flags=r[2], addr=r[3], off=r[4],
                     size=r[5], link=r[6], info=r[7], entsize=r[9])
            if self.type == 1:  # relocatable: give every section an address of its own
                made_up = (made_up + 0xfff) & ~0xfff
                s["addr"] = made_up
                made_up += s["size"]
            self.sections.append(s)

    def named(self, name):
        return [s for s in self.sections if s["name"] == name]

    def bytes(self, s):
        return self.d[s["off"]:s["off"] + s["size"]] if s["type"] != 8 else b""

    def off_of(self, addr):
        for s in self.sections:
            if s["type"] not in (0, 8) and (s["flags"] & 2 or self.type == 1) \
                    and s["addr"] <= addr < s["addr"] + max(s["size"], 1):
                return s["off"] + addr - s["addr"]
        raise KeyError(hex(addr))

    def section_at(self, off):
        for s in self.sections:
            if s["type"] not in (0, 8) and s["off"] <= off < s["off"] + s["size"]:
                return s["name"]
        return None

    def symbols(self, table):
        d, out = self.bytes(self.sections[table]), []
        strings = self.sections[self.sections[table]["link"]]
        for o in range(0, len(d), 24 if self.wide else 16):
            if self.wide:
                name, info, _, shndx, value, _ = struct.unpack_from("<IBBHQQ", d, o)
            else:
                name, value, _, info, _, shndx = struct.unpack_from("<IIIBBH", d, o)
            if self.type == 1 and 0 < shndx < len(self.sections):
                value += self.sections[shndx]["addr"]
            out.append((text_at(self.d, strings["off"] + name), info, shndx, value))
        return out

    def pointers(self):
        """{address: value} of every relocated pointer that points into this file."""
        out, size = {}, 8 if self.wide else 4
        cache = {}
        for s in self.sections:
            d = self.bytes(s)
            if s["type"] == 19:  # RELR
                at = 0
                for o in range(0, len(d), size):
                    w = u64(d, o) if self.wide else u32(d, o)
                    if w & 1 == 0:
                        todo, at = [w], w + size
                    else:
                        todo = [at + size * i for i in range(8 * size - 1) if w >> (i + 1) & 1]
                        at += size * (8 * size - 1)
                    for a in todo:
                        f = self.off_of(a)
                        out[a] = u64(self.d, f) if self.wide else u32(self.d, f)
                continue
            if s["type"] not in (4, 9):
                continue
            rela = s["type"] == 4
            step = (24 if rela else 16) if self.wide else (12 if rela else 8)
            base = self.sections[s["info"]]["addr"] if self.type == 1 else 0
            for o in range(0, len(d) - step + 1, step):
                if self.wide:
                    addr, info = u64(d, o), u64(d, o + 8)
                    kind, sym = info & 0xffffffff, info >> 32
                    add = struct.unpack_from("<q", d, o + 16)[0] if rela else None
                else:
                    addr, info = u32(d, o), u32(d, o + 4)
                    kind, sym = info & 0xff, info >> 8
                    add = struct.unpack_from("<i", d, o + 8)[0] if rela else None
                addr += base
                if kind not in RELATIVE.get(self.machine, ()) + ABSOLUTE.get(self.machine, ()):
                    continue
                if add is None:
                    f = self.off_of(addr)
                    add = u64(self.d, f) if self.wide else u32(self.d, f)
                if kind in RELATIVE.get(self.machine, ()) and self.type != 1:
                    out[addr] = add
                    continue
                if s["link"] not in cache:
                    cache[s["link"]] = self.symbols(s["link"])
                name, info, shndx, value = cache[s["link"]][sym]
                if shndx != 0:
                    out[addr] = value + add
        return out


# --- COFF and PE --------------------------------------------------------------------------------

class Windows:
    """What objects and linked files have in common: the section table."""

    def __init__(self, d, table, count, strings):
        self.d, self.sections = d, []
        for o in range(table, table + 40 * count, 40):
            name = bytes(d[o:o + 8]).rstrip(b"\0").decode("utf-8", "surrogateescape")
            if strings and re.fullmatch(r"/\d+", name):
                name = text_at(d, strings + int(name[1:]))
            virtual, addr, size, off, relocs = struct.unpack_from("<IIIII", d, o + 8)
            self.sections.append(dict(name=name, virtual=virtual, addr=addr, size=size, off=off,
                                      relocs=relocs, reloc_count=u16(d, o + 32),
                                      flags=u32(d, o + 36)))

    def named(self, name):
        return [s for s in self.sections if s["name"] == name]

    def bytes(self, s):
        return self.d[s["off"]:s["off"] + s["size"]]

    def off_of(self, addr):
        for s in self.sections:
            if s["addr"] <= addr < s["addr"] + s["size"]:
                return s["off"] + addr - s["addr"]
        raise KeyError(hex(addr))

    def section_at(self, off):
        for s in self.sections:
            if s["off"] <= off < s["off"] + s["size"]:
                return s["name"]
        return None


class Coff(Windows):
    """An object: every section gets an address of its own."""
    kind = "coff"

    def __init__(self, d):
        self.big = u32(d, 0) == 0xffff0000
        if self.big:
            self.machine, head = u16(d, 6), 56
            count, self.table, self.count = u32(d, 44), u32(d, 48), u32(d, 52)
        else:
            self.machine, count, head = u16(d, 0), u16(d, 2), 20 + u16(d, 16)
            self.table, self.count = u32(d, 8), u32(d, 12)
        self.step = 20 if self.big else 18
        self.strings = self.table + self.step * self.count
        super().__init__(d, head, count, self.strings)
        made_up = 0x10000
        for s in self.sections:
            if s["flags"] & 0x80:  # of zeroes
                s["size"] = 0
            made_up = (made_up + 0xfff) & ~0xfff
            s["addr"] = made_up
            made_up += s["size"]

    def symbols(self):
        """{index: (name, section number, address)}; auxiliary records have no entry."""
        out, i = {}, 0
        while i < self.count:
            o = self.table + self.step * i
            if u32(self.d, o):
                name = bytes(self.d[o:o + 8]).rstrip(b"\0").decode("utf-8", "surrogateescape")
            else:
                name = text_at(self.d, self.strings + u32(self.d, o + 4))
            value, section = struct.unpack_from("<Ii" if self.big else "<Ih", self.d, o + 8)
            if section > 0:
                value += self.sections[section - 1]["addr"]
            out[i] = (name, section, value)
            i += 1 + self.d[o + self.step - 1]
        return out

    def pointers(self):
        out, symbols = {}, self.symbols()
        kind, size = WINDOWS_WORDS[self.machine]
        for s in self.sections:
            at, count = s["relocs"], s["reloc_count"]
            if s["flags"] & 0x01000000 and count == 0xffff:
                count = u32(self.d, at)  # itself included
                at, count = at + 10, count - 1
            for o in range(at, at + 10 * count, 10):
                place, symbol, how = struct.unpack_from("<IIH", self.d, o)
                _, section, value = symbols[symbol]
                if how == kind and section > 0:
                    f = s["off"] + place
                    add = u64(self.d, f) if size == 8 else u32(self.d, f)
                    out[s["addr"] + place] = value + add
        return out


class Pe(Windows):
    """A linked file. Its section names end after 8 bytes."""
    kind = "pe"

    def __init__(self, d):
        head = u32(d, 60) + 4
        self.machine, count = u16(d, head), u16(d, head + 2)
        symbols, n = u32(d, head + 8), u32(d, head + 12)
        option = head + 20
        self.wide = u16(d, option) == 0x20b
        super().__init__(d, option + u16(d, head + 16), count, symbols + 18 * n if symbols else 0)
        self.base = u64(d, option + 24) if self.wide else u32(d, option + 28)
        folders = option + (112 if self.wide else 96)
        known = u32(d, folders - 4)
        self.reloc = struct.unpack_from("<II", d, folders + 40) if known > 5 else (0, 0)
        for s in self.sections:
            s["addr"] += self.base
            s["size"] = min(s["size"], s["virtual"])

    def pointers(self):
        out, (at, size) = {}, self.reloc
        at = self.off_of(self.base + at) if size else 0
        end = at + size
        while at < end:
            page, length = struct.unpack_from("<II", self.d, at)
            for o in range(at + 8, at + length, 2):
                how, low = u16(self.d, o) >> 12, u16(self.d, o) & 0xfff
                if how in (3, 10):
                    addr = self.base + page + low
                    f = self.off_of(addr)
                    out[addr] = u64(self.d, f) if how == 10 else u32(self.d, f)
            at += length
        return out


def windows_file(d):
    """d as a Coff or a Pe, or None."""
    if bytes(d[:2]) == b"MZ" and len(d) > 64 and bytes(d[u32(d, 60):][:4]) == b"PE\0\0":
        return Pe(d)
    if len(d) >= 56 and u32(d, 0) == 0xffff0000 and bytes(d[12:28]) == BIGOBJ:
        return Coff(d)
    if len(d) >= 20 and u16(d, 0) in WINDOWS and u16(d, 16) == 0 and u32(d, 8) \
            and u32(d, 8) + 18 * u32(d, 12) <= len(d):
        return Coff(d)
    return None


# --- ar -----------------------------------------------------------------------------------------

def ar_members(d):
    """(name, offset of the body, size) of each member, symbol and name tables left out."""
    at, longs, out = 8, b"", []
    while at + 60 <= len(d):
        if bytes(d[at + 58:at + 60]) != b"`\n":
            break
        name = bytes(d[at:at + 16]).decode("latin-1").rstrip()
        size, body = int(bytes(d[at + 48:at + 58])), at + 60
        if body + size > len(d):
            raise ValueError("ar member past the end")
        if name == "//":
            longs = bytes(d[body:body + size])
        elif name.startswith("#1/"):
            n = int(name[3:])
            out.append((bytes(d[body:body + n]).rstrip(b"\0").decode(), body + n, size - n))
        elif name not in ("/", "/SYM64/", "__.SYMDEF"):
            if re.fullmatch(r"/\d+", name):
                start = int(name[1:])
                name = longs[start:longs.index(b"\n", start)].decode()
            out.append((name[:-1] if name.endswith("/") else name, body, size))
        at = body + size + (size & 1)
    return out


def is_ocloc(d):
    if bytes(d[:8]) != b"!<arch>\n":
        return False
    return any(re.match(r"(32|64)\.", n) or n == "generic_ir" for n, _, _ in ar_members(d))


# --- images -------------------------------------------------------------------------------------

def zebin_facts(d):
    elf, f = Elf(d), {"format": "zebin", "ip_version": None, "product_family": None}
    for s in elf.named(".note.intelgt.compat"):
        n, at = elf.bytes(s), 0
        while at + 12 <= len(n):
            name_size, size, kind = struct.unpack_from("<III", n, at)
            body = n[at + 12 + (name_size + 3 & ~3):][:size]
            if kind == 1:
                f["product_family"] = u32(body, 0)
            if kind == 6:
                v = u32(body, 0)
                f["ip_version"] = "%d.%d.%d" % (v >> 22, v >> 14 & 0xff, v & 0x3f)
            at += 12 + (name_size + 3 & ~3) + (size + 3 & ~3)
    return f


def zebin_kernels(d):
    elf, out = Elf(d), []
    for s in elf.named(".ze_info"):
        doc = yaml.load(bytes(elf.bytes(s)).rstrip(b"\0").decode(), Loader=LOADER) or {}
        version = tuple(int(x) for x in str(doc.get("version", "0.0")).split("."))
        missing = 0 if version >= (1, 50) else None
        for k in doc.get("kernels") or []:
            e, a = k.get("execution_env") or {}, k.get("user_attributes") or {}
            scratch = [b for b in k.get("per_thread_memory_buffers") or []]
            out.append({
                "name": k["name"], "sub_group_size": e.get("simd_size"),
                "required_sub_group_size": a.get("intel_reqd_sub_group_size",
                                                 e.get("required_sub_group_size")),
                "registers": e.get("grf_count"), "private_size": e.get("private_size", missing),
                "spill_size": e.get("spill_size", missing), "slm_size": e.get("slm_size", missing),
                "scratch": bool(scratch or e.get("spill_size") or e.get("private_size")),
                "matrix": bool(e.get("has_dpas"))})
    return out


def patchtoken_facts(d):
    """Layout: IGC/AdaptorOCL/ocl_igc_shared/executable_format/patch_list.h (program header)."""
    if bytes(d[:4]) != b"CTNI":
        raise ValueError("device binary without CTNI")
    return {"format": "patchtoken", "ip_version": None, "core_family": u32(d, 8),
            "kernel_count": u32(d, 16)}


def patchtoken_kernels(d):
    """patch_list.h (kernel header), patch_shared.h (tokens); what they mean: compute-runtime
    kernel_descriptor_from_patchtokens.cpp."""
    at, out = 28 + u32(d, 24), []
    for _ in range(u32(d, 16)):
        name_size, list_size, code, *states = struct.unpack_from("<IIIIII", d, at + 12)
        at += 40
        name = text_at(d, at)
        at += name_size + code + sum(states)
        k = {"name": name, "sub_group_size": None, "required_sub_group_size": None,
             "registers": None, "private_size": None, "spill_size": None, "slm_size": 0,
             "code_size": code, "barrier_count": None, "matrix": False}
        buffers, item, end = [0], None, at + list_size
        while at + 8 <= end:
            token, size = struct.unpack_from("<II", d, at)
            words = struct.unpack_from("<%dI" % (size // 4 - 2), d, at + 8)
            if token == 23:
                k.update(sub_group_size=words[3], registers=words[20], matrix=bool(words[23]),
                         barrier_count=(0, 1, 2, 4, 8, 16, 24, 32)[words[5]])
            elif token == 15:
                k["slm_size"] = words[1]
            elif token in (18, 55):
                buffers.append(words[1])
            elif token == 38 and words[3]:
                item = words[3:5]
            elif token == 27:
                text = bytes(d[at + 12:at + size])
                found = re.search(rb"intel_reqd_sub_group_size\((\d+)\)", text)
                k["required_sub_group_size"] = int(found[1]) if found else None
            at += size
        if at != end:
            raise ValueError("patch tokens do not fill their list")
        if item:
            k["private_size"] = item[0] * (k["sub_group_size"] if item[1] else 1)
            buffers.append(k["private_size"])
        out.append({**k, "scratch_size": max(buffers), "scratch": max(buffers) > 0})
    return out


def spirv_text(d, at):
    end = d.index(b"\0", at)
    return bytes(d[at:end]).decode("utf-8", "surrogateescape")


def spirv_kernels(d):
    at, entries, sizes, caps = 20, [], {}, set()
    while at < len(d):
        op, count = u16(d, at), u16(d, at + 2)
        if op == 54:
            break
        if op == 17:
            caps.add(u32(d, at + 4))
        elif op == 15 and u32(d, at + 4) == 6:
            entries.append((u32(d, at + 8), spirv_text(d, at + 12)))
        elif op == 16 and u32(d, at + 8) == 35:
            sizes[u32(d, at + 4)] = u32(d, at + 12)
        if count == 0:
            raise ValueError("SPIR-V instruction of no words")
        at += 4 * count
    return [{"name": n, "required_sub_group_size": sizes.get(i), "fp64": 10 in caps}
            for i, n in entries]


def spirv_by_dis(d):
    """The same from the text of spirv-dis."""
    with tempfile.NamedTemporaryFile(suffix=".spv") as f:
        f.write(d)
        f.flush()
        text = subprocess.run(["spirv-dis", "--raw-id", "--no-color", f.name], check=True,
                              stdout=subprocess.PIPE).stdout.decode("utf-8", "surrogateescape")
    sizes = {m[1]: int(m[2]) for m in re.finditer(r"OpExecutionMode (%\d+) SubgroupSize (\d+)", text)}
    fp64 = re.search(r"OpCapability Float64\b", text) is not None
    return [{"name": m[2], "required_sub_group_size": sizes.get(m[1]), "fp64": fp64}
            for m in re.finditer(r'OpEntryPoint Kernel (%\d+) "([^"]*)"', text)]


class Reader:
    def __init__(self, kernels="all", spirv_dis=0):
        self.want, self.every, self.spirv_seen, self.spirv_proved = kernels, spirv_dis, 0, 0

    def begin(self):
        self.images, self.kernels = [], []

    def add(self, d, offset, *, parent=None, in_parent=None, compressed=False, **known):
        """One image and what is inside it. offset: in the file, or None in inflated data."""
        image = {"parent": parent, "offset": offset, "offset_in_parent": in_parent,
                 "stored_size": len(d), "size": len(d), "compression": "none", **known}
        index = len(self.images)
        self.images.append(image)
        if bytes(d[:4]) == b"\x28\xb5\x2f\xfd":
            _, size = frame_sizes(d)
            image.update(compression="zstd", size=size)
            d, offset = inflate(d, size), None
        kernels = None
        if image.get("entry_id") == "native_cpu":  # a table of host addresses
            image.update(format="unknown", ip_version=None)
        elif is_ocloc(d):
            image.update(format="archive", ip_version=None)
            for name, at, size in ar_members(d):
                if name.startswith("pad_"):
                    continue
                ip = re.fullmatch(r"(?:32|64)\.(\d+\.\d+\.\d+)", name)
                self.add(d[at:at + size], None if offset is None else offset + at, parent=index,
                         in_parent=at, entry_id=name, bundle="ocloc",
                         label_ip=ip[1] if ip else None)
        elif bytes(d[:4]) == b"\x7fELF":
            elf = Elf(d)
            device = elf.named("Intel(R) OpenCL Device Binary")
            spirv = elf.named("SPIRV Object")
            if elf.machine == 205 or elf.type in (0xff11, 0xff12, 0xff13) and elf.named(".ze_info"):
                image.update(zebin_facts(d))
                if self.want == "all":
                    kernels = zebin_kernels(d)
            elif device:
                kernels = self.patchtoken(image, elf.bytes(device[0]))
            elif elf.type == 0xff04 and elf.machine == 62:  # of the OpenCL CPU runtime
                image.update(format="unknown", ip_version=None)
            elif spirv:
                image.update(format="spirv", ip_version=None, wrapped_size=spirv[0]["size"])
                kernels = self.spirv(elf.bytes(spirv[0]))
            else:
                raise ValueError("ELF image of no known kind")
        elif bytes(d[:4]) == b"CTNI":
            kernels = self.patchtoken(image, d)
        elif len(d) >= 20 and u32(d, 0) == 0x07230203:
            image.update(format="spirv", ip_version=None)
            kernels = self.spirv(d)
        elif bytes(d[:4]) in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b"):
            image.update(format="bitcode", ip_version=None)
        else:
            raise ValueError("image of no known kind: " + bytes(d[:4]).hex())
        if image.get("label_ip") and image["ip_version"] is None:
            image["ip_version"] = image["label_ip"]
        image.pop("label_ip", None)
        if kernels is not None:
            image["kernel_count"] = len(kernels)
            for k in kernels:
                self.kernels.append({"image": index, **k})
        return index

    def patchtoken(self, image, d):
        image.update(patchtoken_facts(d))
        return patchtoken_kernels(d) if self.want == "all" else None

    def spirv(self, d):
        if self.want != "all":
            return None
        out = spirv_kernels(d)
        self.spirv_seen += 1
        if self.every and self.spirv_seen % self.every == 0:
            self.spirv_proved += 1
            if out != spirv_by_dis(bytes(d)):
                raise ValueError("spirv-dis reads another list of kernels")
        return out

    # --- carriers -------------------------------------------------------------------------------

    def pieces(self, d):
        """(offset, size) of the images that follow one another, 16-aligned, zeroes between."""
        at = 0
        while at < len(d):
            if d[at] == 0:
                at += 1
                continue
            rest = d[at:]
            if bytes(rest[:4]) == b"\x28\xb5\x2f\xfd":
                size = frame_sizes(rest)[0]
            elif bytes(rest[:8]) == b"!<arch>\n":
                size = max(o + n + (n & 1) for _, o, n in ar_members(rest))
                size = min(size, len(rest))
            elif bytes(rest[:4]) == b"\x7fELF":
                size = max([u64(rest, 40) + u16(rest, 58) * u16(rest, 60)] +
                           [s["off"] + s["size"] for s in Elf(rest).sections if s["type"] != 8])
            else:  # SPIR-V or bitcode: to the end
                size = len(rest)
            yield at, size
            at += size

    def host_file(self, d, host):
        """Adds the images of an Elf, a Coff or a Pe, and the number of its descriptors."""
        p = host.pointers()
        claimed, descriptors = [], 0
        string = lambda addr: text_at(d, host.off_of(addr))
        for at in sorted(p):
            desc = at - 8
            try:
                o = host.off_of(desc)
                host.off_of(desc + 31)
            except KeyError:
                continue
            count = u16(d, o + 2)
            if u16(d, o) != 1 or count == 0 or u32(d, o + 4) != 0 or desc in p \
                    or any(desc + 16 + i in p or u64(d, o + 16 + i) for i in (0, 8)):
                continue
            try:
                io = host.off_of(p[at])
            except KeyError:
                continue
            version, kind = u16(d, io), d[io + 2]
            if not 1 <= version <= 3 or (kind != 4 and not (kind == 8 and version == 3)) \
                    or u32(d, io + 4) != 0 or p[at] + 8 not in p:
                continue
            descriptors += 1
            stride, shift = (80, 16) if version == 3 else (96, 0)
            for i in range(count):
                a = p[at] + i * stride
                begin, end = p[a + 48 - shift], p[a + 56 - shift]
                names, e = [], p.get(a + 64 - shift)
                while e is not None and e < p[a + 72 - shift]:
                    eo = host.off_of(e)
                    new = e + 8 not in p and u16(d, eo + 8) == 1 and u16(d, eo + 10) == 8
                    names.append(string(p[e + (24 if new else 8)]))
                    e += 56 if new else 32
                aspects, size, e = None, None, p.get(a + 80 - shift)
                while e is not None and e < p[a + 88 - shift]:
                    if string(p[e]) == "SYCL/device requirements":
                        q = p.get(e + 8)
                        while q is not None and q < p[e + 16]:
                            qo = host.off_of(q)
                            key = string(p[q])
                            if key == "aspects":
                                body = host.off_of(p[q + 8])
                                bits = u64(d, body)
                                aspects = [u32(d, body + 8 + 4 * j) for j in range(bits // 32)]
                            elif key == "reqd_sub_group_size" and u32(d, qo + 16) == 1:
                                size = u64(d, qo + 24)
                            elif key == "reqd_sub_group_size":
                                size = u32(d, host.off_of(p[q + 8]) + 8)
                            q += 32
                    e += 24
                start = host.off_of(begin)
                copts = string(p[a + 16]) if a + 16 in p else None
                index = self.add(d[start:start + end - begin], start, bundle="dpcpp",
                                 section=host.section_at(start), entry_id=string(p[a + 8]),
                                 entries=names, aspects=aspects, image_sub_group_size=size,
                                 compile_options=copts)
                claimed.append((start, start + end - begin))
        for s in host.sections:
            cut = isinstance(host, Pe) and s["name"] == BUNDLE[:8]
            label = s["name"][len(BUNDLE):] if s["name"].startswith(BUNDLE) else None
            if not cut and (label is None or label.startswith("host-")):
                continue
            body = host.bytes(s)
            for at, size in self.pieces(body):
                begin = s["off"] + at
                if not any(b < begin + size and begin < e for b, e in claimed):
                    self.add(body[at:at + size], begin, bundle="clang-bundle", section=s["name"],
                             entry_id=label)
        self.tgtimg(host, p)
        return descriptors

    def tgtimg(self, host, p):
        """The wrapper's own table names every image: its start and, if packed, its unpacked size."""
        rows = []
        for s in host.named(".tgtimg"):
            for at in range(s["addr"], s["addr"] + s["size"] - 15, 16):
                if at in p:
                    rows.append((host.off_of(p[at]), u64(host.d, host.off_of(at + 8))))
        images = [(i["offset"], i["size"]) for i in self.images if i.get("bundle") == "dpcpp"]
        if rows and sorted(rows) != sorted(images):
            raise ValueError("%d rows of .tgtimg are not the %d images" % (len(rows), len(images)))
        self.tgtimg_rows = len(rows)

    def modules(self):
        """Images by set of entry names; equal sets pair in file order, target by target."""
        out = {}
        for i, im in enumerate(self.images):
            if im["parent"] is None and im.get("entries"):
                key = tuple(sorted(set(im["entries"])))
                seen = sum(1 for j in range(i) if self.images[j]["parent"] is None
                           and tuple(sorted(set(self.images[j].get("entries") or []))) == key
                           and self.images[j]["entry_id"] == im["entry_id"])
                out.setdefault((key, seen), []).append(i)
        return sorted(out.values())

    def read(self, path):
        with open(path, "rb") as f:
            d = f.read()
        self.begin()
        facts = {"size": len(d), "machine": None, "descriptors": 0}
        if d[:4] == b"\x7fELF" and u16(d, 18) in MACHINES and u16(d, 16) in (1, 2, 3):
            elf = Elf(d)
            facts["descriptors"] = self.host_file(d, elf)
            facts.update(kind="elf", machine=MACHINES[elf.machine])
            if elf.named(".symtab"):
                index = elf.sections.index(elf.named(".symtab")[0])
                facts["descriptor_symbols"] = sum(
                    n.startswith(".sycl_offloading.descriptor") for n, *_ in elf.symbols(index))
        elif host := windows_file(d):
            facts["descriptors"] = self.host_file(d, host)
            facts.update(kind=host.kind, machine=WINDOWS[host.machine])
            if host.kind == "coff":
                facts["descriptor_symbols"] = sum(
                    n.startswith(".sycl_offloading.descriptor") for n, *_ in host.symbols().values())
        else:
            facts["kind"] = "raw"
            self.add(d, 0)
        facts["images"], facts["kernels"] = self.images, self.kernels
        if len(self.images) < 1000:
            facts["modules"] = self.modules()
        return facts


def main():
    p = argparse.ArgumentParser()
    p.add_argument("files", nargs="+")
    p.add_argument("--kernels", choices=["all", "none"], default="all")
    p.add_argument("--spirv-dis", type=int, default=1, metavar="N")
    a = p.parse_args()
    reader = Reader(a.kernels, a.spirv_dis)
    facts = {os.path.basename(f): reader.read(f) for f in a.files}
    json.dump(facts, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
