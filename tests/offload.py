# SPDX-License-Identifier: Apache-2.0
"""LLVM offload binaries: written here from OffloadBinary.h, and by clang-offload-packager: suite `offload`."""
import json
import os
import shutil
import struct
import subprocess
import zlib

KINDS = {"openmp": 1, "cuda": 2, "hip": 4, "sycl": 8}
PACKAGER = shutil.which("clang-offload-packager-19")


def offload_binary(version, entries, compress=None):
    """entries: (kind, triple, arch, image); an image of None is texts only."""
    head = 40 if version == 3 else 32
    stride = 16 if version == 1 else 24
    texts = [(("triple", e[1]), ("arch", e[2])) for e in entries]
    names = b""
    places = {}
    for text in sorted({t for pairs in texts for pair in pairs for t in pair}):
        places[text] = len(names)
        names += text.encode() + b"\0"
    strings_at = head + 40 * len(entries)
    names_at = strings_at + stride * 2 * len(entries)
    image_at = (names_at + len(names) + 7) // 8 * 8
    body = maps = images = b""
    for i, (kind, _, _, image) in enumerate(entries):
        body += struct.pack("<HHIQQQQ", 0, KINDS[kind], 1 if image is None else 0, strings_at + i * 2 * stride,
                            2, image_at + len(images), len(image or b""))
        images += image or b""
        for key, value in texts[i]:
            maps += struct.pack("<QQ", names_at + places[key], names_at + places[value])
            maps += struct.pack("<Q", len(value)) if version > 1 else b""
    body += maps + names
    body += bytes(image_at - head - len(body)) + images
    body += bytes(-len(body) % 8)
    size = head + len(body)
    inflated = 0
    if compress:
        inflated, body = size, compress(body)
        size = head + len(body)
    count = 40 if version == 1 else len(entries)
    return (b"\x10\xff\x10\xad" + struct.pack("<IQQQ", version, size, head, count) +
            (struct.pack("<Q", inflated) if version == 3 else b"") + body)


def zstd(data):
    return subprocess.run(["zstd", "-q", "--no-check", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


class Offload:
    def __init__(self, build, intel, host, folder):
        self.build, self.intel, self.host, self.folder = build, intel, host, folder
        self.spirv, self.zebin = self.fixture("basic.spv"), self.fixture("sg16_dg2-g11_ip.zebin")

    def fixture(self, name):
        with open(os.path.join(self.intel, name), "rb") as f:
            return f.read()

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def object(self, name, section, data):
        body, path = self.file(name + ".body", data), os.path.join(self.folder, name)
        subprocess.run(["objcopy", "--add-section", section + "=" + body,
                        os.path.join(self.host, "empty.o"), path], check=True)
        return path

    def record(self, *args):
        status, out, err = self.build.devimg(*args, "--format", "json", seconds=20)
        files = json.loads(out)["files"] if out else []
        return status, files[0] if files else {"images": [], "findings": [err.decode(errors="replace")]}

    def say(self, good, name, *found):
        self.build.say(good, "offload: " + name, "found " + repr(found)[:2000])

    def entries(self):
        return [("sycl", "spir64-unknown-unknown", "", self.spirv),
                ("openmp", "spirv64-intel", "texts-only", None),
                ("sycl", "spir64_gen-unknown-unknown", "intel_gpu_dg2_g11", self.zebin)]

    def versions(self):
        for version in (1, 2, 3):
            entries = self.entries()[:1] if version == 1 else self.entries()
            data = offload_binary(version, entries)
            for name, path in (("loose", self.file("v.bin", data)),
                               ("section", self.object("v.o", ".llvm.offloading", data + data))):
                status, r = self.record("list", path)
                with open(path, "rb") as f:
                    whole = f.read()
                here = [e for e in entries if e[3] is not None] * (2 if name == "section" else 1)
                same = len(here) == len(r["images"]) and all(
                    i["bundle"] == "offload-binary" and i["offload"] == e[0] and
                    i["entry_id"] == e[1] + ("-" + e[2] if e[2] else "") and
                    whole[i["offset"]:i["offset"] + i["size"]] == e[3] for i, e in zip(r["images"], here))
                self.say(status == 0 and same, "version %d, %s" % (version, name), status, r)

    def compressed(self):
        for name, compress in (("zstd", zstd), ("zlib", zlib.compress)):
            path = self.file("c.bin", offload_binary(3, self.entries(), compress))
            status, r = self.record("kernels", path)
            facts = [(i["format"], i["target"], i["compression"], i["stored_size"], i["size"], i["offset"])
                     for i in r["images"]]
            self.say(status == 0 and facts == [("spirv", "spir64", name, None, len(self.spirv), None),
                                               ("zebin", "dg2-g11", name, None, len(self.zebin), None)] and
                     len(r["kernels"]) > 1, "version 3 under " + name, status, facts)
            bad = bytearray(offload_binary(3, self.entries(), compress))
            struct.pack_into("<Q", bad, 32, struct.unpack_from("<Q", bad, 32)[0] + 8)
            status, r = self.record("list", self.file("b.bin", bad))
            self.say(status == 1 and not r["images"], "a wrong inflated size under " + name, status, r["findings"])
            status, r = self.record("list", "--max-inflated-size", "1000", path)
            self.say(status == 1 and "max-inflated-size" in json.dumps(r["findings"]), "a limit under " + name,
                     status, r["findings"])
        inner = [("sycl", "spir64-unknown-unknown", "", zstd(self.spirv))]
        status, r = self.record("list", self.file("cc.bin", offload_binary(3, inner, zstd)))
        self.say(status == 1 and r["findings"], "compressed inside of compressed", status, r)

    def other_kinds(self):
        cubin = b"\177ELF\2\1\1" + bytes(9) + struct.pack("<HH", 2, 190) + bytes(60)
        path = self.object("cuda.o", ".llvm.offloading", offload_binary(
            2, [("cuda", "nvptx64-nvidia-cuda", "sm_80", cubin)]))
        status, r = self.record("list", path)
        images = [(i["offload"], i["target"], i["entry_id"]) for i in r["images"]]
        self.say(status == 1 and images == [("cuda", "sm_80", "nvptx64-nvidia-cuda-sm_80")] and
                 "sm_80" in json.dumps(r["findings"]), "what is not decoded is named", status, r)

    def registration(self):
        path = self.object("reg.o", ".llvm.offloading", offload_binary(2, self.entries()))
        status, r = self.record("check", path)
        codes = [(f["severity"], f["code"]) for f in r["findings"]]
        self.say(status == 0 and codes == [("warning", "needs-device-link")], "a plain link drops them", status, codes)

    def target_sections(self):
        path = self.object("new.o", "spir64", self.spirv)
        status, r = self.record("list", path)
        self.say(status == 0 and [(i["target"], i["offload"], i["section"]) for i in r["images"]] ==
                 [("spir64", "sycl", "spir64")], "a section named after its target", status, r)

    def packager(self):
        if PACKAGER is None:
            return
        path = os.path.join(self.folder, "p.bin")
        spirv, zebin = (os.path.join(self.intel, n) for n in ("basic.spv", "sg16_dg2-g11_ip.zebin"))
        subprocess.run([PACKAGER, "-o", path, "--image=file=%s,triple=spirv64-intel,arch=generic,kind=openmp" % spirv,
                        "--image=file=%s,triple=spir64_gen,arch=dg2,kind=openmp" % zebin], check=True)
        status, r = self.record("list", self.object("p.o", ".llvm.offloading", open(path, "rb").read()))
        with open(os.path.join(self.folder, "p.o"), "rb") as f:
            whole = f.read()
        shown = [(i["entry_id"], i["offload"], whole[i["offset"]:i["offset"] + i["size"]]) for i in r["images"]]
        out = []
        for triple, arch in (("spirv64-intel", "generic"), ("spir64_gen", "dg2")):
            to = os.path.join(self.folder, "out")
            subprocess.run([PACKAGER, path, "--image=file=%s,triple=%s,arch=%s,kind=openmp" % (to, triple, arch)],
                           check=True)
            with open(to, "rb") as f:
                out.append((triple + "-" + arch, "openmp", f.read()))
        self.say(status == 0 and shown == out, "as clang-offload-packager packs and unpacks", status, r)

    def hostile(self):
        good = offload_binary(2, self.entries())
        patch = lambda at, form, value: good[:at] + struct.pack(form, value) + good[at + struct.calcsize(form):]
        first = 32  # the first entry
        for name, data in (
                ("version 4", patch(4, "<I", 4)), ("version 0", patch(4, "<I", 0)),
                ("a size past the end", patch(8, "<Q", len(good) + 1)), ("size 0", patch(8, "<Q", 0)),
                ("size 2^64-1", patch(8, "<Q", 2**64 - 1)), ("entries past the end", patch(16, "<Q", 2**63)),
                ("2^60 entries", patch(24, "<Q", 2**60)), ("2^32 texts", patch(first + 16, "<Q", 2**32)),
                ("texts past the end", patch(first + 8, "<Q", 2**64 - 8)),
                ("an image past the end", patch(first + 24, "<Q", len(good))),
                ("an image of 2^63 bytes", patch(first + 32, "<Q", 2**63)),
                ("a cut header", good[:20]), ("half of it", good[:len(good) // 2])):
            for path in (self.file("h.bin", data), self.object("h.o", ".llvm.offloading", data)):
                status, r = self.record("list", path)
                self.say(status in (1, 3) and r["findings"], "hostile: " + name, status, r)
        many = [("sycl", "spir64-unknown-unknown", "", self.spirv)] + [("sycl", "x", "y", None)] * 5000
        data = bytearray(offload_binary(2, many))
        entry = data[32:72]
        data[32:32 + 40 * len(many)] = entry * len(many)
        status, r = self.record("list", self.file("m.bin", data))
        self.say(status == 1 and len(r["images"]) < 5000 and "overlap" in json.dumps(r["findings"]),
                 "hostile: 5,001 entries for one image", status, len(r["images"]))

    def all(self):
        self.versions()
        self.compressed()
        self.other_kinds()
        self.registration()
        self.target_sections()
        self.packager()
        self.hostile()


def main():
    """Write the files of tests/data/offload: seeds for fuzzing and for damage."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "data", "intel", "basic.spv"), "rb") as f:
        image = f.read()
    entries = [("sycl", "spir64-unknown-unknown", "", image), ("openmp", "spirv64-intel", "texts", None)]
    for name, version, compress in (("v2.bin", 2, None), ("v3.bin", 3, None), ("v3_zstd.bin", 3, zstd),
                                    ("v3_zlib.bin", 3, zlib.compress)):
        with open(os.path.join(here, "data", "offload", name), "wb") as f:
            f.write(offload_binary(version, entries, compress))


if __name__ == "__main__":
    main()
