# SPDX-License-Identifier: Apache-2.0
"""HIP and AMD device code. Suite `hip`.

What is expected comes from a second reader of bundles that is written here from the sources of the formats, from
llvm-readelf (notes, flags, symbols), clang-offload-bundler --list and llvm-objdump --offloading.
"""
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import zlib

import yaml

from made import Made
from offload import offload_binary, zstd

READELF = shutil.which("llvm-readelf-19")
OBJDUMP = shutil.which("llvm-objdump-19")
BUNDLER = shutil.which("clang-offload-bundler-19")
PLAIN, PACKED = b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"
FIELDS = {"sub_group_size": ".wavefront_size", "registers": ".vgpr_count", "sgpr_count": ".sgpr_count",
          "agpr_count": ".agpr_count", "vgpr_spill_count": ".vgpr_spill_count", "sgpr_spill_count": ".sgpr_spill_count",
          "private_size": ".private_segment_fixed_size", "slm_size": ".group_segment_fixed_size",
          "kernarg_size": ".kernarg_segment_size"}


def plain_bundle(entries, align=4096):
    """entries: (id, image)."""
    at = 32 + sum(24 + len(e[0]) for e in entries)
    head, body = PLAIN + struct.pack("<Q", len(entries)), b""
    for name, image in entries:
        start = -(-(at + len(body)) // align) * align
        body += bytes(start - at - len(body)) + image
        head += struct.pack("<QQQ", start, len(image), len(name)) + name.encode()
    return head + body


def packed_bundle(version, method, data, **wrong):
    """wrong: fields that are not what they should be."""
    body = wrong.get("body", {"zstd": zstd, "zlib": zlib.compress}[method](data))
    digest = wrong.get("hash", hashlib.md5(data).digest()[:8])
    size = wrong.get("size", len(data))
    head = PACKED + struct.pack("<HH", wrong.get("stated", version), wrong.get("number", method == "zstd"))
    total = wrong.get("total", len(body) + {1: 20, 2: 24, 3: 32}[version])
    if version > 1:
        head += struct.pack("<I" if version == 2 else "<Q", total)
    return head + struct.pack("<Q" if version == 3 else "<I", size) + digest + body


def zstd_size(data):
    """Bytes of the frame that starts `data`: RFC 8878, 3.1.1."""
    descriptor = data[4]
    at = 5 + (0 if descriptor & 32 else 1) + (0, 1, 2, 4)[descriptor & 3]
    at += (1 if descriptor & 32 else 0, 2, 4, 8)[descriptor >> 6]
    while True:
        block = int.from_bytes(data[at:at + 3], "little")
        at += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        if block & 1:
            return at + (4 if descriptor & 4 else 0)


def unpacked(data):
    """(what a compressed bundle holds, its stored size); the zstd program or zlib inflates it."""
    version, method = struct.unpack_from("<HH", data, 4)
    total = {1: None, 2: struct.unpack_from("<I", data, 8)[0], 3: struct.unpack_from("<Q", data, 8)[0]}[version]
    size_at, hash_at, body_at = {1: (8, 12, 20), 2: (12, 16, 24), 3: (16, 24, 32)}[version]
    size = struct.unpack_from("<Q" if version == 3 else "<I", data, size_at)[0]
    body = data[body_at:total]
    if method == 0:
        reader = zlib.decompressobj()
        inflated = reader.decompress(body)
        total = total or len(data) - len(reader.unused_data)
    else:
        total = total or body_at + zstd_size(body)
        body = data[body_at:total]
        inflated = subprocess.run(["zstd", "-q", "-d", "-c"], input=body, stdout=subprocess.PIPE, check=True).stdout
    assert len(inflated) == size and hashlib.md5(inflated).digest()[:8] == data[hash_at:hash_at + 8]
    return inflated, total


def entries_of(bundle):
    """[(id, offset, image)] of a plain bundle, and where it ends."""
    count, at, out, end = struct.unpack_from("<Q", bundle, 24)[0], 32, [], 0
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", bundle, at)
        out.append((bundle[at + 24:at + 24 + length].decode(), offset, bundle[offset:offset + size]))
        at += 24 + length
        end = max(end, at, offset + size)
    return out, end


def images_of(data, base=0):
    """[{entry, offset or None, in_bundle or None, compression, bundle_at, code}] of bundles one after another."""
    out, at = [], 0
    while data[at:].strip(b"\0"):
        at += len(data[at:]) - len(data[at:].lstrip(b"\0"))
        if data.startswith(PACKED, at):
            inflated, size = unpacked(data[at:])
            compression = "zstd" if struct.unpack_from("<H", data, at + 6)[0] else "zlib"
            entries, _ = entries_of(inflated)
        else:
            entries, size = entries_of(data[at:])
            compression = "none"
        for name, offset, code in entries:
            if name.startswith("host"):
                continue
            packed = compression != "none"
            out.append({"entry_id": name, "offset": None if packed else base + at + offset,
                        "offset_in_parent": offset if packed else None, "compression": compression,
                        "bundle_offset": base + at if packed else None, "bundle_size": size if packed else None,
                        "size": len(code), "code": code})
        at += size
    return out


class Hip(Made):
    NAME = "hip"

    def __init__(self, build, data, folder):
        self.amd, self.llvm = os.path.join(data, "amd"), os.path.join(data, "llvm")
        super().__init__(build, self.amd, os.path.join(data, "host"), folder)
        self.code = self.fixture("gfx942.co")
        self.others = {i["entry_id"].split("--")[1]: i["code"] for i in images_of(self.fixture("plain.bundle"))}

    def found(self, status, record, code, text, name):
        self.say(status == 1 and any(f["code"] == code and text in f["message"] for f in record["findings"]), name,
                 status, record["findings"])

    # --- what the tools say of the same code ---

    def notes(self, code):
        """{kernel: its numbers}, the target of flags and metadata, as llvm-readelf has them."""
        path = self.file("one.co", code)
        text = subprocess.run([READELF, "--notes", "-h", "-sW", path], stdout=subprocess.PIPE, check=True).stdout.decode()
        notes = yaml.safe_load(text.split("        ---\n", 1)[1].split("\n...", 1)[0])
        sizes = {}
        for line in text.splitlines():
            parts = line.split()
            if len(parts) == 8 and parts[3] == "FUNC":
                sizes[parts[7]] = int(parts[2], 0)
        kernels = {}
        for k in notes["amdhsa.kernels"]:
            kernels[k[".name"]] = {name: k.get(key) for name, key in FIELDS.items()}
            kernels[k[".name"]]["code_size"] = sizes[k[".name"]]
        abi = int(re.search(r"ABI Version: +(\d+)", text).group(1))
        target = notes.get("amdhsa.target", "").split("-", 4)[-1].lstrip("-")
        return kernels, target, str(abi + 2), re.search(r"Flags: .*", text).group(0)

    def compare(self, name, path, expected, kinds=("hip",)):
        """Images and kernels of a file against `expected` of images_of()."""
        status, r = self.record("kernels", path)
        got = r["images"]
        facts = ("entry_id", "offset", "offset_in_parent", "compression", "bundle_offset", "bundle_size", "size")
        self.say(status == 0 and [{k: i[k] for k in facts} for i in got] == [{k: e[k] for k in facts} for e in expected],
                 name + ": images", status, got, r["findings"])
        self.say({i["offload"] for i in got} <= set(kinds) and {i["format"] for i in got} == {"amdgpu"}, name + ": kind", got)
        for i, e in enumerate(expected[:len(got)]):
            kernels, target, version, flags = self.notes(e["code"])
            found = {k["name"]: {f: k[f] for f in [*FIELDS, "code_size"]} for k in r["kernels"] if k["image"] == i}
            self.say(found == kernels, "%s: kernels of image %d" % (name, i), found, kernels)
            self.say(got[i]["target"] == target and got[i]["version"] == version and got[i]["kernel_count"] == len(kernels),
                     "%s: target of image %d" % (name, i), got[i], target, version, flags)
            spills = {k["name"]: k["spill_size"] for k in r["kernels"] if k["image"] == i}
            self.say(spills == {k: 4 * v["vgpr_spill_count"] for k, v in kernels.items()}, "%s: spills" % name, spills)
            named = [f for f in flags.split(", ")[1:2] if f.startswith("gfx")]  # none of what came after LLVM 19
            self.say(named in ([], [target.split(":")[0]]), "%s: processor in the flags of image %d" % (name, i), flags, target)

    def fatbin(self, path):
        """(bytes, offset in the file) of .hip_fatbin, as llvm-readelf finds it."""
        text = subprocess.run(["llvm-readobj-19", "--sections", path], stdout=subprocess.PIPE, check=True).stdout.decode()
        for part in text.split("Section {")[1:]:
            if re.search(r"Name: \.hip_fat(bin)?\b", part) and "Segment" not in part.split("\n")[2]:
                at = int(re.search(r"(?:PointerToRawData|Offset): (\S+)", part).group(1), 0)
                size = int(re.search(r"(?:VirtualSize: (\S+))|(?:\bSize: (\S+))", part).group(0).split()[-1], 0)
                size = size or int(re.search(r"RawDataSize: (\S+)", part).group(1), 0)
                with open(path, "rb") as f:
                    return f.read()[at:at + size], at
        raise AssertionError("no .hip_fatbin in " + path)

    # --- fixtures ---

    def every_fixture(self):
        for name in ("plain.bundle", "v1_zlib.ccob", "concat_v3_plain_v2.hipfb"):
            self.compare(name, os.path.join(self.amd, name), images_of(self.fixture(name)))
        for name in ("ccob_v2.o", "co4.o", "generic_co6.o", "two_bundles_plain.so", "win.obj", "win.dll"):
            path = os.path.join(self.amd, name)
            data, at = self.fatbin(path)
            self.compare(name, path, images_of(data, at))
            _, r = self.record("list", path)
            self.say(all(i["registered"] is True for i in r["images"]), name + ": wrappers register it", r["images"])
            status, r = self.record("check", path)
            self.say(status == 0 and not r["findings"], name + ": nothing to say of it", r["findings"])
        status, r = self.record("kernels", os.path.join(self.amd, "gfx942.co"))
        kernels, target, version, _ = self.notes(self.code)
        self.say(status == 0 and [(i["target"], i["version"], i["bundle"], i["offload"]) for i in r["images"]] ==
                 [(target, version, "none", None)] and {k["name"] for k in r["kernels"]} == set(kernels), "gfx942.co", r)

    def listed(self):
        """clang-offload-bundler and llvm-objdump list the same."""
        for name in ("plain.bundle", "v1_zlib.ccob"):
            out = subprocess.run([BUNDLER, "--list", "--type=o", "--input=" + os.path.join(self.amd, name)],
                                 stdout=subprocess.PIPE, check=True).stdout.decode().split()
            _, r = self.record("list", os.path.join(self.amd, name))
            self.say(sorted(i["entry_id"] for i in r["images"]) == sorted(x for x in out if not x.startswith("host")),
                     name + " as clang-offload-bundler lists it", out, r["images"])
        for name in ("omp_amd.o", "omp_exe", "fembed_two.o", "hip_new_driver.o", "omp_win.obj"):
            path = os.path.join(self.llvm, name)
            out = subprocess.run([OBJDUMP, "--offloading", path], stdout=subprocess.PIPE, check=True).stdout.decode()
            pairs = re.findall(r"kind +(\S+(?: \S+)?)\n *arch +(\S+)\n *triple +(\S+)\n *producer +(\S+)", out)
            _, r = self.record("list", path)
            self.say(pairs and [(i["entry_id"], i["offload"] or "none") for i in r["images"]] ==
                     [("%s-%s" % (triple, arch), {"none": i["offload"]}.get(producer, producer))
                      for (_, arch, triple, producer), i in zip(pairs, r["images"])] and len(pairs) == len(r["images"]),
                     name + " as llvm-objdump lists it", out, r["images"])

    def llvm_fixtures(self):
        _, r = self.record("kernels", os.path.join(self.llvm, "omp_exe"))
        with open(os.path.join(self.llvm, "omp_exe"), "rb") as f:
            data = f.read()
        for i, image in enumerate(r["images"]):
            kernels, target, _, _ = self.notes(data[image["offset"]:image["offset"] + image["size"]])
            found = {k["name"]: {f: k[f] for f in [*FIELDS, "code_size"]} for k in r["kernels"] if k["image"] == i}
            self.say(found == kernels and image["target"] == target, "omp_exe: image %d" % i, found, kernels)
        self.say(len(r["modules"]) == 1 and [i["registered"] for i in r["images"]] == [True, True],
                 "omp_exe: one module, which its descriptor names", r["modules"], r["images"])
        status, r = self.record("list", os.path.join(self.llvm, "v3_zstd.offload"))
        self.say(status == 0 and [(i["target"], i["offset"], i["bundle_offset"], i["bundle_size"], i["compression"])
                                  for i in r["images"]] ==
                 [("gfx942", None, 0, os.path.getsize(os.path.join(self.llvm, "v3_zstd.offload")), "zstd")],
                 "v3_zstd.offload", r)
        status, r = self.record("list", os.path.join(self.llvm, "fat.a"))
        self.say(status == 0 and [i["target"] for i in r["images"]] == ["gfx1030", "gfx906"], "fat.a", r)
        for name, code, text in (("bad_size.o", "truncated", "2147483647"), ("bad_version.o", "unsupported", "version 99")):
            status, r = self.record("list", os.path.join(self.llvm, name))
            self.found(status, r, code, text, name)
            self.say("gfx906" in [i["target"] for i in r["images"]], name + ": the other record is still read", r["images"])

    # --- bundles made here ---

    def many(self):
        """Bundles of every kind in one section, with what looks like one in a payload, at a page and elsewhere."""
        decoy = bytearray(self.code + bytes(20000 - len(self.code)))
        decoy[4096 * 3:4096 * 3 + 24] = packed_bundle(2, "zlib", b"x" * 40)[:24]
        decoy[4096 * 3 + 2000:4096 * 3 + 2024] = PLAIN
        one = plain_bundle([("hipv4-amdgcn-amd-amdhsa--gfx942", bytes(decoy))])
        two = plain_bundle([("host-x86_64-unknown-linux--", b""), ("hipv4-amdgcn-amd-amdhsa--gfx906", self.others["gfx906"])])
        stored = packed_bundle(3, "zlib", one, body=zlib.compress(one, 0))  # a stored block: the decoys stand in it
        parts = [one, packed_bundle(1, "zstd", two), stored, packed_bundle(1, "zlib", one), two, packed_bundle(2, "zstd", one)]
        for align in (4096, 16):
            data = b"".join(p + bytes(-len(p) % align) for p in parts)
            path = self.object("many.o", ".hip_fatbin", data)
            body, at = self.fatbin(path)
            self.say(body == data and stored.count(PLAIN) == 2 and len(images_of(data, at)) == 6, "what is made is as meant")
            self.compare("six bundles at %d" % align, path, images_of(data, at))
        self.compare("six loose bundles", self.file("many.hipfb", data), images_of(data))

    def damaged(self):
        good = plain_bundle([("hipv4-amdgcn-amd-amdhsa--gfx942", self.code)])
        zeros = bytes(1 << 20)
        for name, data, code, text in (
                ("hash", packed_bundle(2, "zstd", good, hash=bytes(8)), "malformed", "hash 0000000000000000"),
                ("version 0", packed_bundle(2, "zstd", good, stated=0), "unsupported", "version 0"),
                ("version 4", packed_bundle(3, "zstd", good, stated=4), "unsupported", "version 4"),
                ("method 2", packed_bundle(3, "zstd", good, number=2), "unsupported", "method 2"),
                ("method of another", packed_bundle(3, "zstd", good, number=0), "malformed", "method 0"),
                ("total within its header", packed_bundle(3, "zstd", good, total=31), "malformed", "header takes 32"),
                ("total past the end", packed_bundle(3, "zstd", good, total=1 << 60), "truncated", "1152921504606846976"),
                ("size too small", packed_bundle(2, "zstd", good, size=len(good) - 1), "malformed", "came out"),
                ("size too large", packed_bundle(2, "zlib", good, size=len(good) + 1), "malformed", "came out"),
                ("size past the limit", packed_bundle(3, "zstd", good, size=1 << 60), "malformed", "came out"),
                ("no bundle inside", packed_bundle(2, "zlib", zeros), "malformed", "holds no clang offload bundle"),
                ("a bundle that is compressed inside", packed_bundle(2, "zlib", packed_bundle(2, "zlib", good)),
                 "malformed", "holds no clang offload bundle"),
                ("cut header", packed_bundle(3, "zstd", good)[:30], "truncated", "header"),
                ("count", PLAIN + struct.pack("<Q", 1 << 60), "malformed", "entry count"),
                ("id length", PLAIN + struct.pack("<QQQQ", 1, 4096, 0, 1 << 60), "truncated", "bundle entry"),
                ("image past the end", PLAIN + struct.pack("<QQQQ", 1, (1 << 64) - 8, 16, 4) + b"hip-", "truncated", "image")):
            status, r = self.record("list", self.file("bad", data))
            self.found(status, r, code, text, "damage: " + name)
            if name == "cut header":  # behind it would stand what follows
                continue
            whole = data + bytes(-len(data) % 4096) + good
            status, r = self.record("list", self.object("bad.o", ".hip_fatbin", whole))
            self.found(status, r, code, text, "damage in a section: " + name)
            self.say("gfx942" in [i["target"] for i in r["images"]], "damage leaves the next bundle: " + name, r["images"])
        status, r = self.record("list", self.object("text.o", ".hip_fatbin", b"no bundle" + bytes(5000) + good))
        self.found(status, r, "malformed", "start no clang offload bundle", "bytes that start no bundle")
        status, r = self.record("list", self.file("zeros", packed_bundle(2, "zlib", bytes(2000) + good)), "--max-inflated-size", "1000")
        self.found(status, r, "limit", "max-inflated-size", "a limit on what is inflated")

    def wrappers(self):
        """The wrapper's address, taken from what the linker wrote, pointed elsewhere."""
        whole = bytearray(self.fixture("two_bundles_plain.so"))
        path = os.path.join(self.amd, "two_bundles_plain.so")
        text = subprocess.run(["llvm-readelf-19", "-rSW", path], stdout=subprocess.PIPE, check=True).stdout.decode()
        rows = {m.group(1): (int(m.group(2), 16), int(m.group(3), 16)) for m in
                re.finditer(r"\] (\S+) +\S+ +([0-9a-f]+) ([0-9a-f]+) ", text)}
        fatbin, segment = rows[".hip_fatbin"], rows[".hipFatBinSegment"]
        at = whole.index(struct.pack("<QQ", segment[0] + 8, 8))  # offset and R_X86_64_RELATIVE; the addend follows
        self.say(struct.unpack_from("<Q", whole, at + 16)[0] == fatbin[0], "the relocation of the first wrapper", hex(at))
        for name, target, where in (("its own section", segment[0], "outside of .hip_fatbin"), ("nowhere", 1 << 40, "outside"),
                                    ("the middle of a bundle", fatbin[0] + 4096, "no bundle starts")):
            d = bytearray(whole)
            struct.pack_into("<Q", d, at + 16, target)
            status, r = self.record("list", self.file("w.so", d))
            said = [f for f in r["findings"] if f["rule"] == "registration" and f["code"] == "wrapper-outside"]
            self.say(status == 1 and len(said) == 1 and where in said[0]["message"] and said[0]["offset"] == segment[1] + 8,
                     "a wrapper that names " + name, r["findings"])
            self.say([i["registered"] for i in r["images"]] == [False] * 4 + [True], "the bundle that it named", r["images"])
            status, r = self.record("check", os.path.join(self.folder, "w.so"))
            self.say(status == 1 and [f["code"] for f in r["findings"]].count("wrapper-outside") == 1 and
                     [f["code"] for f in r["findings"]].count("not-registered") == 4 and
                     {f["rule"] for f in r["findings"]} == {"registration"}, "check of " + name, r["findings"])
        d = bytearray(whole)
        d[segment[1]:segment[1] + 4] = b"XXXX"
        status, r = self.record("list", self.file("w.so", d))
        self.found(status, r, "malformed", "58585858", "a wrapper of another magic")
        self.say([i["registered"] for i in r["images"]] == [None] * 4 + [True], "what a wrapper of another magic leaves", r["images"])
        status, r = self.record("list", self.object("rdc.o", ".hip_fatbin", self.fixture("plain.bundle")))
        self.say(status == 0 and [i["registered"] for i in r["images"]] == [None, None], "an object without wrappers", r["images"])

    def labels(self):
        """What a bundle says of an image, and what the image says."""
        for entry, code, target, said in (
                ("gfx942", self.code, "gfx942", None), ("gfx942:xnack+", self.code, "gfx942", None),
                ("gfx90a", self.code, "gfx942", '"gfx90a" holds an image for gfx942'),
                ("gfx9-4-generic", self.code, "gfx942", '"gfx9-4-generic" holds an image for gfx942'),
                ("gfx9999", self.code, "gfx942", None)):
            status, r = self.record("list", self.file("l", plain_bundle([("hipv4-amdgcn-amd-amdhsa--" + entry, code)])))
            self.say(status == (said is not None) and [i["target"] for i in r["images"]] == [target] and
                     (said is None or said in r["findings"][0]["message"]), "entry " + entry, status, r)
        spirv = open(os.path.join(self.amd, "..", "intel", "basic.spv"), "rb").read()
        bundle = plain_bundle([("hip-spirv64-amd-amdhsa--amdgcnspirv", spirv), ("hipv4-amdgcn-amd-amdhsa--gfx942", self.code)])
        status, r = self.record("list", self.file("l", bundle))
        self.say(status == 0 and [(i["target"], i["format"]) for i in r["images"]] ==
                 [("amdgcnspirv", "spirv"), ("gfx942", "amdgpu")], "SPIR-V for AMD", r)

    # --- code objects ---

    def flags(self):
        """e_flags and ABI version, by the bits of AMDGPUUsage.rst."""
        # without the metadata's own target: the note's owner is another one
        code = bytearray(self.code.replace(b"AMDGPU\0\0", b"XMDGPU\0\0", 1))
        for abi, flags, target, version in (
                (2, 0x54c, "gfx942", "4"), (2, 0x64c, "gfx942:xnack-", "4"), (2, 0x74c, "gfx942:xnack+", "4"),
                (3, 0x94c, "gfx942:sramecc-", "5"), (3, 0xe4c, "gfx942:sramecc+:xnack-", "5"), (3, 0x41, "gfx1100", "5"),
                (4, 0x1000151, "gfx9-generic", "6"), (4, 0x1000251, "gfx9-generic:xnack-", "6"),
                (4, 0x100055f, "gfx9-4-generic", "6"), (3, 0xf0, "mach0xf0", "5"),
                # version 3 has no "any": what is not on is off, where the processor has the feature
                (1, 0x130, "gfx908:sramecc-:xnack+", "3"), (1, 0x32f, "gfx906:sramecc+:xnack+", "3"),
                (1, 0x2c, "gfx900:xnack-", "3"), (1, 0x36, "gfx1030", "3")):
            d = bytearray(code)
            d[8] = abi
            struct.pack_into("<I", d, 48, flags)
            status, r = self.record("kernels", self.file("f.co", d))
            self.say(status == 0 and [(i["target"], i["version"]) for i in r["images"]] == [(target, version)] and
                     sorted(k["name"] for k in r["kernels"]) == ["ldsy", "saxpy", "scratchy", "vspill"] and
                     {k["registers"] for k in r["kernels"]} == {None}, "flags %#x of ABI %d" % (flags, abi), status, r)
        d = bytearray(self.code)
        struct.pack_into("<I", d, 48, 0x53f)
        status, r = self.record("list", self.file("f.co", d))
        self.found(status, r, "malformed", "header is for gfx90a and whose metadata is for gfx942", "metadata of another processor")
        d[8] = 5
        status, r = self.record("list", self.file("f.co", d))
        self.found(status, r, "unsupported", "version 7", "a later code object version")

    def elf(self, abi, flags, notes, symbols=()):
        """An ELF64 with a note section and a symbol table: (name, type, size)."""
        names = b"\0" + b"".join(n.encode() + b"\0" for n, _, _ in symbols)
        table = bytes(24) + b"".join(struct.pack("<IBBHQQ", names.index(b"\0" + n.encode() + b"\0") + 1, 0x10 | t, 0, 1, 0, s)
                                     for n, t, s in symbols)
        blob = b"".join(struct.pack("<III", len(o), len(d), t) + o + bytes(-len(o) % 4) + d + bytes(-len(d) % 4)
                        for o, t, d in notes)
        out, rows = bytes(64), [(0, 0, 0, 0)]
        for kind, data, link in ((7, blob, 0), (11, table, 3), (3, names, 0)):
            rows.append((kind, len(out), len(data), link))
            out += data + bytes(-len(data) % 8)
        headers = b"".join(struct.pack("<IIQQQQIIQQ", 0, k, 0, 0, at, size, link, 0, 8, 24) for k, at, size, link in rows)
        head = (b"\x7fELF\2\1\1\x40" + bytes([abi]) + bytes(7) +
                struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 0, len(out), flags, 64, 0, 0, 64, len(rows), 0))
        return head + out[64:] + headers

    def version_2(self):
        isa = lambda major, minor, step: struct.pack("<HHIII", 4, 7, major, minor, step) + b"AMD\0AMDGPU\0"
        symbols = [("first", 10, 100), ("second", 10, 80), ("helper", 2, 20)]
        for notes, flags, target in (([(b"AMD\0", 3, isa(9, 0, 10))], 0, "gfx90a:xnack-"), ([(b"AMD\0", 3, isa(8, 0, 3))], 0, "gfx803"),
                                     ([(b"AMD\0", 1, bytes(8)), (b"AMD\0", 3, isa(9, 0, 0))], 1, "gfx900:xnack+"),
                                     ([(b"AMD\0", 11, b"amdgcn-amd-amdhsa--gfx906+xnack")], 1, "gfx906:xnack+")):
            status, r = self.record("kernels", self.file("2.co", self.elf(0, flags, notes, symbols)))
            self.say(status == 0 and [(i["target"], i["version"], i["kernel_count"]) for i in r["images"]] == [(target, "2", 2)] and
                     [k["name"] for k in r["kernels"]] == ["first", "second"], "version 2: " + target, status, r)

    def metadata(self):
        """MessagePack that no compiler writes."""
        text = lambda s: bytes([0xa0 | len(s)]) + s.encode()
        long = lambda s: b"\xdb" + struct.pack(">I", len(s)) + s.encode()
        kernel = lambda *fields: bytes([0x80 | len(fields)]) + b"".join(k + v for k, v in fields)
        whole = lambda kernels, count=None: (b"\x81" + text("amdhsa.kernels") +
                                             b"\xdc" + struct.pack(">H", len(kernels) if count is None else count) + b"".join(kernels))
        name = (text(".name"), text("k"))
        symbols = [("k", 2, 64), ("k.kd", 1, 64)]
        record = lambda data, symbols=symbols: self.record("kernels", self.file("m.co", self.elf(3, 0x54c, [(b"AMDGPU\0", 32, data)], symbols)))
        number = lambda wide, value: {1: b"\xcc", 2: b"\xcd", 4: b"\xce", 8: b"\xcf"}[wide] + value.to_bytes(wide, "big")
        for wide, value in ((1, 200), (2, 60000), (4, 1 << 31), (8, 1 << 40)):
            status, r = record(whole([kernel(name, (long(".vgpr_count"), number(wide, value)))]))
            self.say(status == 0 and [k["registers"] for k in r["kernels"]] == [value], "a number of %d bytes" % wide, r)
        deep = b"\x91" * 5000 + b"\xc0"
        status, r = record(whole([kernel(name, (text(".args"), deep), (text("x"), b"\xca" + bytes(4)), (text("y"), b"\xd6" + bytes(5)),
                                         (text("z"), b"\xc7\2\0\0\0"), (text("w"), b"\xd3" + b"\xff" * 8), (text(".sgpr_count"), b"\7"))]))
        self.say(status == 0 and [(k["sgpr_count"], k["code_size"]) for k in r["kernels"]] == [(7, 64)], "5000 arrays in one another", r)
        for title, data, code, said in (
                ("array of 2^32 - 1", b"\x81" + text("amdhsa.kernels") + b"\xdd\xff\xff\xff\xff", "malformed", "4294967295 items"),
                ("map of 2^32 - 1", b"\xdf\xff\xff\xff\xff", "malformed", "4294967295 items"),
                ("text past the end", b"\x81\xdb\xff\xff\xff\xff", "truncated", "MessagePack"), ("byte c1", b"\xc1", "malformed", "byte c1"),
                ("no map", b"\x90", "malformed", "not a map"), ("kernels that are no array", b"\x81" + text("amdhsa.kernels") + b"\x80", "malformed", "not an array"),
                ("a kernel without a name", whole([kernel((text(".vgpr_count"), b"\1"))]), "malformed", "without a name"),
                ("a name that is a number", whole([kernel((text(".name"), b"\1"))]), "malformed", "name of an AMDGPU kernel is a number"),
                ("a count that is a text", whole([kernel(name, (text(".vgpr_count"), text("1")))]), "malformed", ".vgpr_count is a text"),
                ("a negative count", whole([kernel(name, (text(".vgpr_count"), b"\xff"))]), "malformed", "a negative number"),
                ("fewer kernels than it counts", whole([kernel(name)], 2), "truncated", "MessagePack"),
                ("65 notes before it", b"", "malformed", "more than 64 notes"),
                ("a target of another vendor", b"\x81" + text("amdhsa.target") + text("nvptx64--sm_80"), "malformed", "does not start with")):
            before = [(b"x\0", 1, b"")] * 64 if title.startswith("65") else []
            status, r = self.record("kernels", self.file("m.co", self.elf(3, 0x54c, before + [(b"AMDGPU\0", 32, data)], symbols)))
            self.found(status, r, code, said, "metadata: " + title)
            self.say([i["target"] for i in r["images"]] == ["gfx942"], "metadata leaves the target: " + title, r["images"])
        status, r = record(whole([kernel(name, (text(".symbol"), text("k.kd")))]), [("k", 2, 64)])
        self.found(status, r, "malformed", "1 kernel descriptor, the first: k.kd", "a kernel without its descriptor")

    # --- kpack ---

    def kpack(self, scheme, codes):
        """codes: (binary, target, code). Written from kpack.py and compression.py of rocm_kpack."""
        text = lambda s: b"\xd9" + bytes([len(s)]) + s.encode()
        number = lambda n: b"\xce" + struct.pack(">I", n)
        blob, places = b"", []
        for _, _, code in codes:
            data = zstd(code) if scheme == "zstd-per-kernel" else code
            places.append((64 + len(blob), len(data)))
            blob += (struct.pack("<I", len(data)) + data) if scheme == "zstd-per-kernel" else data
        toc = {}
        for i, (binary, target, _) in enumerate(codes):
            toc.setdefault(binary, {})[target] = i
        toc = bytes([0x80 | len(toc)]) + b"".join(text(b) + bytes([0x80 | len(t)]) + b"".join(
            text(a) + b"\x82" + text("type") + text("hsaco") + text("ordinal") + number(n) for a, n in t.items()) for b, t in toc.items())
        if scheme == "zstd-per-kernel":
            blob = struct.pack("<I", len(codes)) + blob
            more = text("zstd_offset") + number(64) + text("zstd_size") + number(len(blob))
            fields = 4
        else:
            more = text("blobs") + bytes([0x90 | len(codes)]) + b"".join(b"\x82" + text("offset") + number(o) + text("size") + number(s) for o, s in places)
            fields = 3
        table = bytes([0x80 | fields]) + text("toc") + toc + text("compression_scheme") + text(scheme) + more
        return b"KPAK" + struct.pack("<IQ", 1, 64 + len(blob)) + bytes(48) + blob + table

    def reference(self, name, *paths):
        text = lambda s: b"\xd9" + bytes([len(s)]) + s.encode()
        return (b"\x82" + text("kernel_name") + text(name) + text("kpack_search_paths") + bytes([0x90 | len(paths)]) +
                b"".join(map(text, paths)))

    def kpacks(self):
        codes = [("lib/a.so#0", "gfx942", self.code), ("lib/a.so#1", "gfx906", self.others["gfx906"]), ("lib/b.so", "gfx1100", self.others["gfx1100"])]
        for scheme in ("none", "zstd-per-kernel"):
            status, r = self.record("kernels", self.file("all.kpack", self.kpack(scheme, codes)))
            self.say(status == 0 and [(i["entry_id"], i["target"], i["bundle"], i["offload"], i["size"], i["compression"]) for i in r["images"]] ==
                     [("%s-%s" % (b, t), t, "kpack", "hip", len(c), "zstd" if scheme != "none" else "none") for b, t, c in codes] and
                     len(r["kernels"]) == 12, "kpack " + scheme, status, r["images"], r["findings"])
        good = self.kpack("none", codes)
        for name, data, code, said in (
                ("version 2", good[:4] + b"\2" + good[5:], "unsupported", "version 2"), ("cut", good[:40], "truncated", "its table"),
                ("scheme", good.replace(b"\xd9\4none", b"\xd9\4what"), "unsupported", '"what"'),
                ("number", good.replace(b"ordinal\xce\0\0\0\1", b"ordinal\xce\0\0\0\x63"), "malformed", "number 99"),
                ("offset", good.replace(b"offset\xce\0\0\0\x40", b"offset\xce\xff\0\0\x40"), "truncated", "code in a kpack")):
            status, r = self.record("list", self.file("bad.kpack", data))
            self.found(status, r, code, said, "kpack: " + name)
        home = os.path.join(self.folder, "home")
        os.makedirs(os.path.join(home, ".kpack"))
        os.makedirs(os.path.join(home, "lib"))
        for path, data in ((".kpack/x_gfx942.kpack", self.kpack("zstd-per-kernel", codes[:1] + codes[2:])),
                           (".kpack/x_gfx906.kpack", self.kpack("none", codes[1:])), (".kpack/x_gfx9999.kpack", good),
                           ("one.kpack", good), ("text.kpack", b"KPAC" + good[4:])):
            self.file(os.path.join("home", path), data)
        os.symlink("one.kpack", os.path.join(home, "link.kpack"))
        os.symlink(".kpack", os.path.join(home, "linked"))
        both = ["gfx942", "gfx906"]
        for title, paths, targets, elsewhere in (
                ("every target", [".kpack/x_@GFXARCH@.kpack"], ["gfx906", "gfx942"], []), ("one file", ["one.kpack"], both, []),
                ("one of two", ["none.kpack", "one.kpack"], both, ["none.kpack"]), ("missing", [".kpack/y_@GFXARCH@.kpack"], [], [".kpack/y_@GFXARCH@.kpack"]),
                ("absolute", [os.path.join(home, "one.kpack")], [], [os.path.join(home, "one.kpack")]), ("up", ["lib/../one.kpack"], [], ["lib/../one.kpack"]),
                ("up and a target", ["../.kpack/x_@GFXARCH@.kpack"], [], ["../.kpack/x_@GFXARCH@.kpack"]), ("a link", ["link.kpack"], [], ["link.kpack"]),
                ("over a link", ["linked/x_gfx942.kpack"], [], ["linked/x_gfx942.kpack"]), ("no kpack", ["text.kpack"], [], ["text.kpack"])):
            for section in (".rocm_kpack_ref", ".kpackrf"):
                path = self.object("home/a.so", section, self.reference("lib/a.so", *paths))
                status, out, _ = self.build.devimg("list", path, "--format", "json")
                files = json.loads(out)["files"]
                self.say(status == 0 and [i["target"] for r in files for i in r["images"]] == targets and files[0]["elsewhere"] == elsewhere and
                         files[0]["status"] == "ok", "kpack of a program: %s, %s" % (title, section), status, files)
            status, out, _ = self.build.devimg("list", path)
            self.say((b"device code in another file: " + elsewhere[0].encode() in out) == (not targets) and b"no device code" not in out
                     if elsewhere else b"another file" not in out, "kpack in words: " + title, out)
            status, r = self.record("check", path, "--targets", "gfx942")
            self.say(status == 1 and any(f["code"] == "elsewhere" for f in r["findings"]) if elsewhere else
                     not any(f["code"] == "elsewhere" for f in r["findings"]), "check of kpack: " + title, status, r["findings"])
        status, r = self.record("list", self.object("home/a.so", ".rocm_kpack_ref", b"\x81\xa1x\xc0"))
        self.found(status, r, "malformed", "without kernel_name", "a reference that names nothing")
        text = lambda s: b"\xd9" + bytes([len(s)]) + s.encode()
        many = b"\x82" + text("kernel_name") + text("a") + text("kpack_search_paths") + b"\xdc\0\x41" + 65 * text("p.kpack")
        status, r = self.record("list", self.object("home/a.so", ".rocm_kpack_ref", many))
        self.found(status, r, "malformed", "65 paths: at most 64", "a reference with too many paths")
        status, r = self.record("check", self.object("home/a.so", ".rocm_kpack_ref", self.reference("a", "x.kpack", "y.kpack")), "--targets", "gfx942")
        self.say(any("not read: x.kpack and 1 more" in f["message"] for f in r["findings"]), "check counts the files that are missing", status, r)
        # a wrapper of the other magic names the reference, in a program without section names
        whole = bytearray(self.fixture("two_bundles_plain.so"))
        text = subprocess.run(["llvm-readelf-19", "-SW", os.path.join(self.amd, "two_bundles_plain.so")], stdout=subprocess.PIPE, check=True).stdout.decode()
        rows = {m.group(1): (int(m.group(2), 16), int(m.group(3), 16)) for m in re.finditer(r"\] (\S+) +\S+ +([0-9a-f]+) ([0-9a-f]+) ", text)}
        data = self.reference("lib/a.so", "../.kpack/x.kpack")
        whole[rows[".hip_fatbin"][1]:rows[".hip_fatbin"][1] + 0xe000] = (data + bytes(0xd000 - len(data)) + data).ljust(0xe000, b"\0")  # where both bundles stood
        for k in (0, 24):
            whole[rows[".hipFatBinSegment"][1] + k:rows[".hipFatBinSegment"][1] + k + 4] = struct.pack("<I", 0x4b504948)
        names = bytes(whole).replace(b".hip_fatbin\0", b".xip_fatbin\0")
        status, r = self.record("list", self.file("w.so", names))
        self.say(status == 0 and r["elsewhere"] == ["../.kpack/x.kpack"] and not r["images"], "a wrapper that leads to a reference", status, r)

    # --- rules ---

    def rules(self):
        two, generic = (os.path.join(self.amd, n) for n in ("two_bundles_plain.so", "generic_co6.o"))
        spilling = plain_bundle([("hipv4-amdgcn-amd-amdhsa--gfx942", self.code)])
        pair = self.file("pair.hipfb", plain_bundle([("hipv4-amdgcn-amd-amdhsa--gfx942:xnack" + s, self.feature(bits))
                                                     for s, bits in (("+", 0x74c), ("-", 0x64c))]))
        for path, options, expected in (
                # 2.5 of the target rules: left out is any setting, + only on, - only off
                (pair, ["--targets", "gfx942"], []), (pair, ["--targets", "gfx942:xnack+"], ["extra-target"]),
                (pair, ["--targets", "gfx942:sramecc-"], []), (pair, ["--targets", "gfx950"], ["missing-ip", "extra-target", "extra-target"]),
                (two, ["--targets", "gfx906:xnack-,gfx90a:sramecc+:xnack+,gfx942,gfx1100,gfx1030"],
                 ["missing-ip"] * 5),  # each bundle is a module, and lacks what the other has
                (generic, ["--targets", "gfx1030,gfx1036,gfx1100,gfx1153,gfx900,gfx906,gfx90c"], []),
                (generic, ["--targets", "gfx9-generic,gfx10-3-generic,gfx11-generic"], []),
                (generic, ["--targets", "gfx906,gfx1030"], ["extra-target"]),
                (generic, ["--targets", "gfx90a,gfx11-generic,gfx10-3-generic"], ["missing-ip", "extra-target"]),
                (generic, ["--compression", "required"], ["stored-raw"] * 3),
                (os.path.join(self.amd, "ccob_v2.o"), ["--compression", "required"], []),
                (self.file("s.hipfb", spilling), ["--targets", "gfx942", "--scratch", "none"], ["scratch", "scratch"]),
                (generic, ["--sub-group-sizes", "32"], ["size-refused"]), (generic, ["--sub-group-sizes", "32,64"], [])):
            status, r = self.record("check", path, *options)
            codes = [f["code"] for f in r["findings"] if f["severity"] == "error"]
            self.say(sorted(codes) == sorted(expected) and status == (1 if expected else 0),
                     "check %s %s" % (os.path.basename(path), " ".join(options)), status, r["findings"])
        one = self.file("one.hipfb", plain_bundle([("hipv4-amdgcn-amd-amdhsa--gfx942:xnack+", self.feature(0x74c))]))
        status, r = self.record("check", one, "--targets", "gfx942")
        self.say(status == 1 and "gfx942 with sramecc-:xnack-" in r["findings"][0]["message"], "a setting that nothing serves", r)
        for name in ("gfx1100:xnack+", "gfx90a:xnack"):
            status, out, err = self.build.devimg("check", one, "--targets", name)
            self.say(status == 2 and b"no table has" in err, "a feature that the processor lacks: " + name, status, out, err)

    def feature(self, flags):
        """The code for gfx942 under other features, by header alone."""
        d = bytearray(self.code.replace(b"AMDGPU\0\0", b"XMDGPU\0\0", 1))
        struct.pack_into("<I", d, 48, flags)
        return bytes(d)

    def wavefront(self):
        """A required size of a SYCL image for AMD; the descriptor of upstream LLVM states it beside the code."""
        status, r = self.record("list", self.file("w.bin", offload_binary(2, [("sycl", "amdgcn-amd-amdhsa", "gfx942", self.code)])))
        self.say(status == 0 and [(i["offload"], i["target"]) for i in r["images"]] == [("sycl", "gfx942")], "SYCL code for AMD", r)

    def intel(self):
        """Code for Intel GPUs states nothing of what only AMD code has."""
        _, r = self.record("kernels", os.path.join(self.amd, "..", "intel", "lib_spill.so"))
        names = ("sgpr_count", "agpr_count", "vgpr_spill_count", "sgpr_spill_count", "kernarg_size")
        self.say(r["kernels"] and {k[n] for k in r["kernels"] for n in names} == {None}, "kernels of Intel code", r["kernels"])

    def tables(self):
        """llvm-readelf names the same processor for each number that it knows."""
        status, out, _ = self.build.devimg("targets", "--format", "json")
        rows = [t for t in json.loads(out)["targets"] if t["machine"] is not None]
        named = 0
        d = bytearray(self.code)
        d[8] = 4
        for t in rows:
            struct.pack_into("<I", d, 48, t["machine"])
            text = subprocess.run([READELF, "-h", self.file("t.co", d)], stdout=subprocess.PIPE, check=True).stdout.decode()
            flags = re.search(r"Flags: +(.*)", text).group(1).split(", ")
            if len(flags) > 1 and flags[1].startswith("gfx"):
                named += 1
                self.say(flags[1] == t["name"], "number %#x" % t["machine"], flags, t)
        self.say(status == 0 and named >= 50, "numbers that llvm-readelf knows", named)

    def all(self):
        self.every_fixture()
        self.listed()
        self.llvm_fixtures()
        self.many()
        self.damaged()
        self.wrappers()
        self.labels()
        self.flags()
        self.version_2()
        self.metadata()
        self.kpacks()
        self.rules()
        self.wavefront()
        self.intel()
        self.tables()
