# SPDX-License-Identifier: Apache-2.0
"""LLVM offload binaries: written here from OffloadBinary.h, and by clang-offload-packager; SYCLBIN, which they
wrap: written here from SYCLBINDesign.md and SYCLBIN.h. Suite `offload`."""
import json
import os
import shutil
import struct
import subprocess
import zlib

from made import Made

KINDS = {"openmp": 1, "cuda": 2, "hip": 4, "sycl": 8}
PACKAGER = shutil.which("clang-offload-packager-19")
CLANG = shutil.which("clang-19")
HIP = b"__attribute__((device)) int twice(int v) { return 2 * v; }"


def offload_binary(version, entries, compress=None, more=None):
    """entries: (kind, triple, arch, image); an image of None is texts only. more: two more texts of each."""
    head = 40 if version == 3 else 32
    stride = 16 if version == 1 else 24
    texts = [(("triple", e[1]), ("arch", e[2])) for e in entries]
    if more:
        texts = [a + b for a, b in zip(texts, more)]
    per_entry = 4 if more else 2
    names = b""
    places = {}
    for text in sorted({t for pairs in texts for pair in pairs for t in pair}):
        places[text] = len(names)
        names += text.encode() + b"\0"
    strings_at = head + 40 * len(entries)
    names_at = strings_at + stride * per_entry * len(entries)
    image_at = (names_at + len(names) + 7) // 8 * 8
    body = maps = images = b""
    for i, (kind, _, _, image) in enumerate(entries):
        body += struct.pack("<HHIQQQQ", 0, KINDS[kind], 1 if image is None else 0, strings_at + i * per_entry * stride,
                            per_entry, image_at + len(images), len(image or b""))
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


DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def text_property(value):
    """A byte array of a property set: count of bits and the bytes, six bits a digit from the lowest on."""
    data = struct.pack("<Q", len(value) * 8) + value.encode()
    number = int.from_bytes(data, "little")
    return "2|" + "".join(DIGITS[number >> 6 * i & 63] for i in range((len(data) * 8 + 5) // 6))


def image_metadata(target, arch):
    if arch is None:
        text = "[SYCLBIN/ir module metadata]\ntype=1|0\ntarget=%s\n" % text_property(target)
    else:
        text = "[SYCLBIN/native device code image metadata]\narch=%s\ntarget=%s\n" % (
            text_property(arch), text_property(target))
    return text.encode()


def syclbin(images):
    """Version 1. images: (target, arch, code); IR modules have an arch of None."""
    modules = b"[SYCL/misc properties]\noptLevel=1|2\n"
    metadata, code = b"[SYCLBIN/global metadata]\nstate=1|0\n", b""
    global_size, rows = len(metadata), {True: [], False: []}
    modules_at = len(metadata)
    metadata += modules
    for target, arch, data in images:
        text = image_metadata(target, arch)
        rows[arch is None].append(struct.pack("<QQQQ", len(metadata), len(text), len(code), len(data)))
        metadata += text
        code += data
    abstract = struct.pack("<QQIIII", modules_at, len(modules), len(rows[True]), 0, len(rows[False]), 0)
    head = b"IBYS" + struct.pack("<IIIIIQQQQ", 1, 1, len(rows[True]), len(rows[False]), 0, len(metadata), len(code),
                                 0, global_size)
    return head + abstract + b"".join(rows[True] + rows[False]) + metadata + bytes(-len(metadata) % 8) + code


def syclbin2(images, version="2", compress=None, cut=0):
    """Version 2: an offload binary with an entry for each part."""
    entries = [("sycl", "", "", b"[SYCLBIN/global metadata]\nstate=1|0\n"),
               ("sycl", "", "", b"[SYCL/misc properties]\noptLevel=1|2\n")]
    roles = ["global_metadata", "am_metadata"]
    for target, arch, data in images:
        text = image_metadata(target, arch)
        entries.append(("sycl", target, arch or "", (struct.pack("<Q", len(text) + cut) + text + data)))
        roles.append("ir" if arch is None else "native")
    return offload_binary(3 if compress else 2, entries, compress,
                          [(("sycl_format_version", version), ("role", r)) for r in roles])


def zstd(data):
    return subprocess.run(["zstd", "-q", "--no-check", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


class Offload(Made):
    NAME = "offload"

    def __init__(self, build, intel, host, folder):
        super().__init__(build, intel, host, folder)
        self.intel = intel
        self.spirv, self.zebin = self.fixture("basic.spv"), self.fixture("sg16_dg2-g11_ip.zebin")

    def entries(self):
        return [("sycl", "spir64-unknown-unknown", "", self.spirv),
                ("openmp", "spirv64-intel", "texts-only", None),
                ("sycl", "spir64_gen-unknown-unknown", "intel_gpu_dg2_g11", self.zebin)]

    def versions(self):
        for version in (1, 2, 3):
            entries = self.entries()[:1] if version == 1 else self.entries()
            data = offload_binary(version, entries)
            for name, path in (("loose", self.file("v.bin", data)),
                               ("two loose", self.file("vv.bin", data + bytes(8) + data + bytes(16))),
                               ("two in a section", self.object("v.o", ".llvm.offloading", data + data))):
                status, r = self.record("list", path)
                with open(path, "rb") as f:
                    whole = f.read()
                here = [e for e in entries if e[3] is not None] * (2 if "two" in name else 1)
                same = len(here) == len(r["images"]) and all(
                    i["bundle"] == "offload-binary" and i["offload"] == e[0] and
                    i["entry_id"] == e[1] + ("-" + e[2] if e[2] else "") and
                    whole[i["offset"]:i["offset"] + i["size"]] == e[3] for i, e in zip(r["images"], here))
                self.say(status == 0 and same, "version %d, %s" % (version, name), status, r)
            status, r = self.record("list", self.file("junk.bin", data + data + b"junk" * 20))
            self.say(status == 1 and len(r["images"]) == 2 * len([e for e in entries if e[3] is not None]) and
                     [f["offset"] for f in r["findings"]] == [2 * len(data)], "version %d, junk behind" % version,
                     status, r)

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
            two = offload_binary(3, self.entries()[:1], compress) + offload_binary(3, self.entries()[1:], compress)
            status, r = self.record("kernels", self.file("cc.bin", two))
            self.say(status == 0 and [i["target"] for i in r["images"]] == ["spir64", "dg2-g11"] and not r["findings"],
                     "two under " + name, status, r)
        inner = [("sycl", "spir64-unknown-unknown", "", zstd(self.spirv))]
        status, r = self.record("list", self.file("cc.bin", offload_binary(3, inner, zstd)))
        self.say(status == 1 and r["findings"], "compressed inside of compressed", status, r)

    def other_kinds(self):
        odd = b"of a form to come" + bytes(60)
        path = self.object("cuda.o", ".llvm.offloading", offload_binary(
            2, [("cuda", "nvptx64-nvidia-cuda", "sm_80", odd)]))
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

    def compiled(self, name, source, *args):
        path = os.path.join(self.folder, name)
        done = subprocess.run([CLANG, "-c", "-o", path, *args, self.file(name + ".src", source)], stderr=subprocess.PIPE)
        self.say(done.returncode == 0, "clang makes " + name, done.stderr)
        return path

    def bitcode(self):
        """The triple in the module tells the host's from a device's; llvm-dis prints the same."""
        kernel = b"kernel void f(global int *p) { *p = 1; }"
        for triple, target in (("spir64", "spir64"), ("spirv64", "spirv64"), ("amdgcn-amd-amdhsa", "amdgcn-amd-amdhsa"),
                               ("nvptx64-nvidia-cuda", "nvptx64-nvidia-cuda")):
            path = self.compiled("device.bc", kernel, "-x", "cl", "-emit-llvm", "-nogpulib", "-target", triple)
            status, r = self.record("list", path)
            self.say(status == 0 and [(i["format"], i["target"]) for i in r["images"]] == [("bitcode", target)],
                     "bitcode of " + triple, status, r)
        for triple in ("x86_64-linux-gnu", "aarch64-linux-gnu", "x86_64-apple-darwin"):  # the last one in a wrapper
            path = self.compiled("host.bc", b'const char *s = "amdgcn nvptx64 spir64";', "-x", "c", "-flto",
                                 "-target", triple)
            status, r = self.record("list", path)
            self.say(status == 1 and not r["images"] and "link-time" in json.dumps(r["findings"]),
                     "bitcode of the host, " + triple, status, r)
        with open(path, "rb") as f:
            whole = f.read()
        for cut in range(0, 400, 7):
            status, r = self.record("list", self.file("cut.bc", whole[:len(whole) * cut // 400 + 4]))
            self.say(status == 1 and not r["images"], "cut bitcode", cut, status, r)

    def objects_of_other_kinds(self):
        """HIP and OpenMP before the link: kind and GPU of each, and who links it."""
        hip = ["-x", "hip", "-fgpu-rdc", "-nogpulib", "-nogpuinc", "--offload-arch=gfx90a:xnack+"]
        for driver, entry_id in (("--offload-new-driver", "amdgcn-amd-amdhsa-gfx90a:xnack+"),
                                 ("--no-offload-new-driver", "hip-amdgcn-amd-amdhsa--gfx90a:xnack+")):
            path = self.compiled("hip.o", HIP, driver, *hip)
            _, r = self.record("list", path)
            found = [(i["target"], i["offload"], i["entry_id"]) for i in r["images"]]
            status, r = self.record("check", path)
            self.say(status == 0 and found == [("gfx90a:xnack+", "hip", entry_id)] and
                     "hipcc" in r["findings"][0]["hint"], "HIP objects, " + driver, status, found, r)
        source = b"void f(int *p) {\n#pragma omp target map(p[0:1])\n*p = 1; }"
        path = self.compiled(
            "omp.o", source, "-x", "c", "-fopenmp", "-fopenmp-targets=amdgcn-amd-amdhsa", "-Xopenmp-target",
            "-march=gfx90a", "-nogpulib")
        _, r = self.record("list", path)
        found = [(i["target"], i["offload"]) for i in r["images"]]
        status, r = self.record("check", path)
        self.say(status == 0 and found == [("gfx90a", "openmp")] and "OpenMP" in r["findings"][0]["hint"], "OpenMP objects", status, found, r)

    def archs(self):
        """What the texts say of an image that states its product family alone: the arch is its target, in every carrier."""
        zebin = self.fixture("sg16_dg2-g11.zebin")  # note 1 alone: DG2
        entry = lambda arch, image=zebin: [("sycl", "spir64_gen-unknown-unknown", arch, image)]
        for name, make, where in (("version 1", lambda e: offload_binary(1, e), None), ("version 2", lambda e: offload_binary(2, e), None),
                                  ("zstd", lambda e: offload_binary(3, e, zstd), None),
                                  ("section", lambda e: offload_binary(2, e), ".llvm.offloading"),
                                  ("SYCLBIN", lambda e: syclbin([e[0][1:]]), None), ("SYCLBIN 2", lambda e: syclbin2([e[0][1:]]), None)):
            path = lambda data, section=where: self.object("a.o", section, data) if section else self.file("a.bin", data)
            for arch, target, family in (("intel_gpu_dg2_g11", "dg2-g11", False), ("intel_gpu_acm_g12", "acm-g12", False),
                                         ("", "dg2-g10", True), ("of-no-table", "dg2-g10", True)):
                status, r = self.record("list", path(make(entry(arch))))
                found = [(i["target"], i["family_only"]) for i in r["images"]]
                self.say(status == 0 and found == [(target, family)], "arch %s, %s" % (arch, name), status, r)
            one = path(make(entry("intel_gpu_dg2_g11")))
            for target, wanted in (("dg2-g11", 0), ("dg2-g10", 1), ("tgllp", 1)):
                status, r = self.record("check", one, "--targets", target)
                self.say(status == wanted and ("missing-ip" in json.dumps(r)) == (wanted == 1), "arch held to %s, %s" % (target, name), status, r)
            for arch, image in (("intel_gpu_tgllp", zebin), ("intel_gpu_dg2_g10", self.zebin)):
                status, r = self.record("list", path(make(entry(arch, image))))
                self.say(status == 1 and len(r["findings"]) == 1 and '"%s"' % arch in r["findings"][0]["message"] and
                         [i["target"] for i in r["images"]] == ["dg2-g11" if image is self.zebin else "dg2-g10"],
                         "arch %s of another image, %s" % (arch, name), status, r)
        # its texts, read by eye: triple=spir64_gen-unknown-unknown, arch=intel_gpu_dg2_g11
        status, r = self.record("list", os.path.join(self.intel, "obj_packager.o"))
        self.say(status == 0 and [i["target"] for i in r["images"]] == ["spir64", "dg2-g11"], "arch in obj_packager.o", status, r)

    def kinds_apart(self):
        """Images that are not decoded: those of one kind and of several GPUs are of one unit, never those of two kinds."""
        code = [bytes([n]) * 64 for n in range(1, 6)]
        entries = [("cuda", "nvptx64-nvidia-cuda", "sm_80", code[0]), ("hip", "amdgcn-amd-amdhsa", "gfx1100", code[1]),
                   ("hip", "amdgcn-amd-amdhsa", "gfx90a", code[2]), ("openmp", "nvptx64-nvidia-cuda", "sm_80", code[3]),
                   ("hip", "amdgcn-amd-amdhsa", "gfx90a", code[4])]
        for apart in (False, True):
            data = b"".join(offload_binary(2, [e]) for e in entries) if apart else offload_binary(2, entries)
            for path in (self.file("k.bin", data), self.object("k.o", ".llvm.offloading", data)):
                _, r = self.record("list", path)
                self.say([i["module"] for i in r["images"]] == [0, 1, 1, 2, 3], "kinds apart: %s" % os.path.basename(path), r)

    def host_targets(self):
        """OpenMP that names a CPU as its device: clang puts an object of that CPU there."""
        source = b"void f(int *p) {\n#pragma omp target map(p[0:1])\n*p = 1; }"
        for triple in ("x86_64-linux-gnu", "x86_64-pc-linux-gnu", "aarch64-linux-gnu", "powerpc64le-unknown-linux-gnu", "ppc64le-linux-gnu"):
            path = self.compiled("host.o", source, "-x", "c", "-fopenmp", "-fopenmp-targets=" + triple)
            _, r = self.record("list", path)
            status, _, _ = self.build.devimg("check", path)
            self.say(status == 0 and [(i["target"], i["offload"], i["kernel_count"]) for i in r["images"]] == [(triple, "openmp", None)] and
                     "CPU" in r["images"][0]["note"], "code for the host, " + triple, status, r)
            _, out, _ = self.build.devimg("list", path)
            self.say(b"OpenMP device code for the host's CPU, and for no GPU\n" in out, "list of it", out)
            data = open(path, "rb").read()
        section = "__CLANG_OFFLOAD_BUNDLE__openmp-x86_64-unknown-linux-gnu"
        status, r = self.record("list", self.object("old.o", section, data))
        self.say(status == 0 and [i["target"] for i in r["images"]] == ["x86_64-unknown-linux-gnu"], "in a bundle section", status, r)
        path, library = self.compiled("pic.o", source, "-x", "c", "-fPIC", "-fopenmp", "-fopenmp-targets=x86_64-linux-gnu"), self.file("l.so", b"")
        if shutil.which("ld.lld-19") and shutil.which("clang-linker-wrapper-19"):
            done = subprocess.run([CLANG, "-shared", "-nodefaultlibs", "-fuse-ld=lld", "-fopenmp", "-fopenmp-targets=x86_64-linux-gnu", path,
                                   "-o", library], stderr=subprocess.PIPE)
            status, r = self.record("list", library)
            self.say(done.returncode == 0 and status == 0 and [i["target"] for i in r["images"]] == ["x86_64-linux-gnu"] and
                     "in the memory of the program" in r["images"][0]["note"], "linked code for the host", done.stderr, status, r)
        path = self.compiled("two.o", source, "-x", "c", "-fopenmp", "-fopenmp-targets=amdgcn-amd-amdhsa,x86_64-linux-gnu",
                             "-Xopenmp-target=amdgcn-amd-amdhsa", "-march=gfx906", "-nogpulib")
        status, out, _ = self.build.devimg("list", path)
        self.say(status == 0 and b"for the host's CPU, and for GPUs as LLVM bitcode only" in out, "a CPU and a GPU", status, out)
        for triple, image in (("x86_64-linux-gnu", b"no object"), ("x86_65-linux-gnu", data)):
            status, r = self.record("list", self.file("no.bin", offload_binary(2, [("openmp", triple, "", image)])))
            self.say(status == 1 and r["findings"][0]["code"] == "unsupported", "no code for the host: " + triple, status, r)

    def packager(self):
        if PACKAGER is None:
            return
        for kind in ("openmp", "cuda", "hip"):  # as this LLVM numbers them
            path = os.path.join(self.folder, "kind.bin")
            subprocess.run([PACKAGER, "-o", path, "--image=file=%s,triple=spirv64-intel,kind=%s" % (
                os.path.join(self.intel, "basic.spv"), kind)], check=True)
            _, r = self.record("list", path)
            self.say([i["offload"] for i in r["images"]] == [kind], "kind " + kind, r)
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
        for version in (1, 2, 3):  # a text is read whole or not at all
            for size, left in ((4096, 1), (4097, 0), (70000, 0)):
                data = offload_binary(version, [("sycl", "spir64-unknown-unknown", "a" * size, self.spirv)])
                status, r = self.record("list", self.file("l.bin", data))
                ids = [i["entry_id"] for i in r["images"]]
                said = [f["message"] for f in r["findings"] if "offload text" in f["message"]]
                self.say(ids == ["spir64-unknown-unknown-" + "a" * size] * left and
                         said == ["offload text of more than 4096 bytes"] * (1 - left),
                         "hostile: a text of %d bytes, version %d" % (size, version), status, said, len(ids))
        many = [("sycl", "spir64-unknown-unknown", "", self.spirv)] + [("sycl", "x", "y", None)] * 5000
        data = bytearray(offload_binary(2, many))
        entry = data[32:72]
        data[32:32 + 40 * len(many)] = entry * len(many)
        status, r = self.record("list", self.file("m.bin", data))
        self.say(status == 1 and len(r["images"]) < 5000 and "overlap" in json.dumps(r["findings"]),
                 "hostile: 5,001 entries for one image", status, len(r["images"]))

    def syclbin_images(self):
        return [("spir64-unknown-unknown", None, self.spirv),
                ("spir64_gen-unknown-unknown", "intel_gpu_dg2_g11", self.zebin)]

    def check_syclbin(self, name, data, packed=False):
        images = self.syclbin_images()
        status, r = self.record("kernels", self.file("s.syclbin", data))
        same = len(r["images"]) == len(images) and all(
            i["bundle"] == "syclbin" and i["offload"] == "sycl" and i["registered"] is None and
            i["entry_id"] == e[0] + ("-" + e[1] if e[1] else "") and i["size"] == len(e[2]) and
            (packed or data[i["offset"]:i["offset"] + i["size"]] == e[2]) for i, e in zip(r["images"], images))
        facts = [(i["format"], i["target"]) for i in r["images"]]
        self.say(status == 0 and same and facts == [("spirv", "spir64"), ("zebin", "dg2-g11")] and
                 len(r["kernels"]) > 1 and not r["findings"], "SYCLBIN, " + name, status, r)

    def syclbins(self):
        one, two = syclbin(self.syclbin_images()), syclbin2(self.syclbin_images())
        self.check_syclbin("version 1", one)
        self.check_syclbin("version 1 in an offload binary", offload_binary(1, [("sycl", "", "", one)]))
        self.check_syclbin("version 2", two)
        self.check_syclbin("version 2 under zstd", syclbin2(self.syclbin_images(), compress=zstd), packed=True)

    def hostile_syclbins(self):
        images = self.syclbin_images()
        good = syclbin(images)
        patch = lambda at, form, value: good[:at] + struct.pack(form, value) + good[at + struct.calcsize(form):]
        first, second = 56 + 32, 56 + 64  # the headers of the IR module and of the native image
        value = good.index(b"2|", good.index(b"arch=")) + 2
        for name, data, left in (
                ("version 2", patch(4, "<I", 2), 0), ("version 0", patch(4, "<I", 0), 0),
                ("2^32-1 IR modules", patch(12, "<I", 2**32 - 1), 0),
                ("2^32-1 of all", good[:8] + struct.pack("<III", *[2**32 - 1] * 3) + good[20:], 0),
                ("metadata past the end", patch(24, "<Q", 2**64 - 1), 0),
                ("code past the end", patch(32, "<Q", len(good)), 0),
                ("an image past the end", patch(first + 16, "<Q", len(good)), 1),
                ("an image of 2^64-1 bytes", patch(second + 24, "<Q", 2**64 - 1), 1),
                ("metadata of an image past the end", patch(first, "<Q", 2**64 - 8), 2),
                ("no base64", good[:value] + b"!" + good[value + 1:], 2),
                ("a count of bits that is not so", good[:value] + b"B" + good[value + 1:], 2),
                ("code of no header", b"IBYS" + struct.pack("<IIIIIQQQQ", 1, 0, 0, 0, 0, 0, 16, 0, 0) + bytes(16), 0),
                ("a cut header", good[:40], 0), ("half of it", good[:len(good) // 2], 0),
                ("version 3 of two", syclbin2(images, version="3"), 0),
                ("metadata past its entry", syclbin2(images, cut=2**32), 0)):
            status, r = self.record("list", self.file("h.syclbin", data))
            self.say(status in (1, 3) and r["findings"] and len(r["images"]) == left, "hostile SYCLBIN: " + name,
                     status, r)
        text = b"[x]\n" + b"a=1|0\n" * 20000  # one text for 3,000 modules
        rows = struct.pack("<QQQQ", 0, len(text), 0, 4) * 3000
        data = b"IBYS" + struct.pack("<IIIIIQQQQ", 1, 0, 3000, 0, 0, len(text), 4, 0, 0) + rows + text
        data += bytes(-len(text) % 8) + b"code"
        status, r = self.record("list", self.file("t.syclbin", data))
        self.say(status == 1 and "times the file" in json.dumps(r["findings"]), "hostile SYCLBIN: shared metadata",
                 status, len(r["findings"]))

    def all(self):
        self.versions()
        self.compressed()
        self.other_kinds()
        self.registration()
        self.target_sections()
        if CLANG is not None:
            self.bitcode()
            self.host_targets()
            self.objects_of_other_kinds()
        self.archs()
        self.kinds_apart()
        self.packager()
        self.hostile()
        self.syclbins()
        self.hostile_syclbins()


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
    images = [("spir64-unknown-unknown", None, image), ("spir64_gen-unknown-unknown", "intel_gpu_dg2_g11", image)]
    for name, data in (("v1.syclbin", syclbin(images)), ("v2.syclbin", syclbin2(images))):
        with open(os.path.join(here, "data", "offload", name), "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
