# SPDX-License-Identifier: Apache-2.0
"""Fixtures with one thing changed, and what that must change in the answer: the suite `edited`.

The expectations follow from the change: what a file no longer tells is null, what it still tells
stays, and what is lost is a finding.
"""
import json
import os
import struct
import subprocess

from made import Made

BUNDLE = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen-unknown-unknown"


def section_headers(data):
    """Offsets of the section headers of an ELF64 file."""
    table, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    return [table + 64 * i for i in range(count)]


def named_headers(data):
    """{name: offset of its section header}"""
    headers = section_headers(data)
    text = struct.unpack_from("<Q", data, headers[struct.unpack_from("<H", data, 62)[0]] + 24)[0]
    out = {}
    for at in headers:
        start = text + struct.unpack_from("<I", data, at)[0]
        out[data[start:data.index(b"\0", start)].decode()] = at
    return out


def clang_bundle(*images):
    labels = [b"sycl-spir64_gen-unknown-unknown-%d" % i for i in range(len(images))]
    at = 32 + sum(24 + len(label) for label in labels)
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(images))
    for label, image in zip(labels, images):
        head += struct.pack("<QQQ", at, len(image), len(label)) + label
        at += len(image)
    return head + b"".join(images)


def ar_member(name, data):
    return (b"%-16s%-12d%-6d%-6d%-8d%-10d`\n" % (name, 0, 0, 0, 0, len(data)) + data +
            b"\n" * (len(data) % 2))


class Edited(Made):
    NAME = "edited"

    def __init__(self, build, intel, host, folder):
        super().__init__(build, intel, host, folder)
        self.intel = intel

    def lying_section_headers(self):
        """The loader reads segments and the dynamic section alone: so does devimg."""
        whole = self.fixture("lib_aot.so")
        _, good = self.record("list", os.path.join(self.intel, "lib_aot.so"))
        at = named_headers(whole)
        device = [n for n in at if n.startswith("__CLANG")] + [".data.rel.ro"]
        renamed = [(at[n], "<I", struct.unpack_from("<I", whole, at[".text"])[0]) for n in device]
        for name, edits in (
                ("relocations of 8 bytes", [(at[".rela.dyn"] + 56, "<Q", 8)]),
                ("relocations past the end", [(at[".rela.dyn"] + 24, "<Q", len(whole) - 48)]),
                ("sections that are not loaded", renamed + [(at[n] + 8, "<Q", 0) for n in device]),
                ("sections without bytes", [(at[n] + 4, "<I", 8) for n in device]),
                ("a section over another", renamed + [
                    (at[".comment"] + 8, "<Q", 2),
                    (at[".comment"] + 16, "<Q", struct.unpack_from("<Q", whole, at[".data.rel.ro"] + 16)[0]),
                    (at[".comment"] + 32, "<Q", 1)])):
            data = bytearray(whole)
            for where, form, value in edits:
                struct.pack_into(form, data, where, value)
            _, r = self.record("list", self.file("lie.so", data))
            same = [[i["target"], i["registered"], i["offset"], i["size"]] for i in r["images"]]
            self.say(r["descriptors"] == good["descriptors"] and same ==
                     [[i["target"], i["registered"], i["offset"], i["size"]] for i in good["images"]],
                     "section headers: " + name, r["descriptors"], same)

    def lost_relocations(self):
        whole = self.fixture("lib_aot.so")
        dynamic = struct.unpack_from("<Q", whole, named_headers(whole)[".dynamic"] + 24)[0]
        size = next(p + 8 for p in range(dynamic, len(whole), 16)
                    if struct.unpack_from("<Q", whole, p)[0] == 8)  # DT_RELASZ
        for name, where, form, value in (("a table past the end", size, "<Q", 1 << 20),
                                         ("another machine", 18, "<H", 8)):
            data = bytearray(whole)
            struct.pack_into(form, data, where, value)
            status, r = self.record("list", self.file("lost.so", data))
            self.say(r["descriptors"] is None and status in (0, 1), "relocations: " + name, status,
                     r["descriptors"])

    def zebin_without_info(self):
        data = bytearray(self.fixture("sg16_dg2-g11_ip.zebin"))
        struct.pack_into("<I", data, named_headers(data)[".ze_info"] + 4, 1)
        status, r = self.record("kernels", self.file("noinfo.zebin", data))
        image = r["images"][0] if r["images"] else {}
        self.say(status == 1 and image.get("kernel_count", 0) is None and not image["support"],
                 "zebin without .ze_info", status, image)

    def zebin_that_contradicts_itself(self):
        whole = self.fixture("sg16_dg2-g11_ip.zebin")
        at = named_headers(whole)[".ze_info"]
        start, size = (struct.unpack_from("<Q", whole, at + k)[0] for k in (24, 32))
        info = whole[start:start + size]
        name = info[info.index(b"name:") + 5:].split()[0]
        for what, text in (("no kernels", info[:info.index(b"kernels:")]),
                           ("an empty list", info[:info.index(b"kernels:")] + b"kernels: []\n"),
                           ("a second document", b"---\n...\n" + info),
                           ("a name with NUL", info.replace(name, b'"a\\0b"', 1)),
                           ("an empty name", info.replace(name, b'""', 1))):
            data = bytearray(whole)
            data[start:start + size] = text[:size].ljust(size, b"\n")
            status, r = self.record("kernels", self.file("odd.zebin", data))
            image = r["images"][0]
            self.say(status == 1 and not image["support"] and not r["kernels"],
                     ".ze_info with " + what, status, image, r["findings"])

    def images_side_by_side(self):
        spirv = self.fixture("basic.spv")
        spirv += struct.pack("<I", 1 << 16 | 0) * (-len(spirv) % 16 // 4)  # OpNop
        for name, other in (("zebin", self.fixture("basic_dg2-g10.zebin")),
                            ("bitcode", b"BC\xc0\xde" + bytes(60))):
            status, r = self.record("list", self.object("beside.o", BUNDLE, spirv + other))
            formats = [i["format"] for i in r["images"]]
            self.say(status == 0 and formats == ["spirv", name], "SPIR-V and right behind it " + name,
                     status, formats)

    def deep_bundle_beside_a_library(self):
        deep = self.fixture("sg16_dg2-g11_ip.zebin")
        for _ in range(10):
            deep = clang_bundle(deep)
        archive = b"!<arch>\n" + ar_member(b"deep/", deep) + ar_member(b"good.o/", self.fixture("lib_aot.o"))
        status, out, _ = self.build.devimg("list", "--format", "json", self.file("mix.a", archive))
        records = {r["member"][0]: r for r in json.loads(out)["files"]}
        self.say(status == 1 and len(records["good.o"]["images"]) == 10 and
                 "max-depth" in json.dumps(records["deep"]["findings"]), "bundles nested too deep in a member",
                 status, {k: len(v["images"]) for k, v in records.items()})

    def bundle_of_compressed_archives(self):
        frame = subprocess.run(["zstd", "-q", "-19", "--no-check", "-c", os.path.join(self.intel, "zfat_basic.ar")],
                               stdout=subprocess.PIPE, check=True).stdout
        status, r = self.record("list", self.file("many.bundle", clang_bundle(*[frame] * 40)))
        self.say(status == 0 and len(r["images"]) == 40 * 4, "40 compressed archives in a bundle", status,
                 len(r["images"]), r["findings"][:1])

    def bundles_one_after_another(self):
        zebin = self.fixture("sg16_dg2-g11_ip.zebin")
        zebin += bytes(-len(zebin) % 16)
        bundle = clang_bundle(zebin, zebin)
        for name, data, offsets in (("two", bundle * 2, []), ("padding behind", bundle + bytes(4096 + 5) + bundle, []),
                                    ("junk behind", bundle * 2 + b"junk", [2 * len(bundle)]),
                                    ("an empty one first", clang_bundle() + bundle * 2, [])):
            status, r = self.record("list", self.file("row.bundle", data))
            images = 2 * data.count(b"__CLANG") - 2 * data.startswith(clang_bundle())
            self.say(status == (1 if offsets else 0) and len(r["images"]) == images and
                     [f["offset"] for f in r["findings"]] == offsets, "bundles: " + name, status, r["findings"],
                     len(r["images"]))

    def members_of_odd_names(self):
        code = self.fixture("lib_aot.o")
        for name in (b"__.SYMDEF_gpu.o/", b"/<gpu>/"):
            status, out, _ = self.build.devimg("list", "--format", "json", self.file(
                "odd.a", b"!<arch>\n" + ar_member(name, code)))
            images = sum(len(r["images"]) for r in json.loads(out)["files"])
            self.say(status == 0 and images == 10, "a member called " + name.decode(), status, images)
        zebin = self.fixture("sg16_dg2-g11_ip.zebin")
        archive = b"!<arch>\n" + ar_member(b"pad_x/", zebin) + ar_member(b"64.12.56.5/", zebin)
        status, out, _ = self.build.devimg("list", "--format", "json", self.file("pad.ar", archive))
        images = sum(len(r["images"]) for r in json.loads(out)["files"])
        self.say(status == 0 and images == 2, "a member called pad_x, which is no filler", status, images)
        long = b"x" * 4000 + b"/\n"
        archive = b"!<arch>\n" + ar_member(b"//", long) + ar_member(b"/0", b"") * 5000
        status, _, err = self.build.devimg("list", self.file("shared.a", archive))
        self.say(status == 3 and b"names of members" in err, "one long name of many members", status, err)

    def members_that_are_not_read(self):
        for name, data in (("Mach-O", b"\xcf\xfa\xed\xfe" + bytes(60)), ("universal Mach-O", b"\xca\xfe\xba\xbe" + bytes(60))):
            alone, _, err = self.build.devimg("list", self.file("unread", data))
            status, r = self.record("list", self.file("unread.a", b"!<arch>\n" + ar_member(b"m/", data)))
            self.say((alone, status) == (3, 1) and b"does not read it" in err and
                     "does not read it" in json.dumps(r["findings"]), "not read: " + name, alone, status, err)
            for asked in ("--targets", "--fallback"):
                status, r = self.record("check", asked, "spir64" if asked == "--fallback" else "dg2-g10",
                                        os.path.join(self.folder, "unread.a"))
                said = [f["message"] for f in r["findings"] if f["code"] == "no-device-code"]
                self.say(status == 1 and len(said) == 1 and "could be read" in said[0], asked + " of unread " + name,
                         status, said)

    def files_that_check_writes(self):
        good, gone = os.path.join(self.intel, "lib_sg8.so"), os.path.join(self.folder, "gone.so")
        base, stamps = os.path.join(self.folder, "base.tsv"), [self.file(n, b"") for n in ("s1", "s2")]
        self.build.devimg("check", "--targets", "lnl-m", "--write-baseline", base, good)
        with open(base, "rb") as f:
            before = f.read()
        status, _, _ = self.build.devimg("check", "--targets", "lnl-m", "--write-baseline", base, gone)
        with open(base, "rb") as f:
            self.say(status == 3 and f.read() == before and before.count(b"\n") > 1,
                     "a baseline stays when a file cannot be read", status)
        status, _, _ = self.build.devimg("check", "--targets", "lnl-m", "--stamp", stamps[0], "--stamp",
                                         stamps[1], good)
        self.say(status == 1 and not any(map(os.path.exists, stamps)), "S1-15, S3-20: each of two stamps goes", status)
        status, _, _ = self.build.devimg("check", "--targets", "tgllp,adl-s,dg2-g11", "--stamp", stamps[0], good)
        self.say(status == 0 and os.path.exists(stamps[0]), "S1-15: a stamp of a file that passes", status)
        self.ratchet()

    def ratchet(self):
        """The first ratchet file: what is used today passes with it, and it is not replaced by accident."""
        spills, path = os.path.join(self.intel, "lib_spill.so"), os.path.join(self.folder, "scratch.tsv")
        asked = self.build.devimg("check", "--write-ratchet", path, spills)[0]
        with open(path, encoding="utf-8") as f:
            lines = [l.rstrip("\n").split("\t") for l in f if not l.startswith("#")]
        # ocloc's own words: 8192 and 16384 bytes of per-thread buffers (facts_intel.json), nothing of private and spill
        self.say(asked == 1 and lines == [["private_table", "dg2-g10", "-", "-", "8192"], ["spill_mix", "dg2-g10", "-", "-", "16384"]],
                 "a ratchet file is written", asked, lines)
        status, out, _ = self.build.devimg("check", "--ratchet", path, spills)
        self.say(status == 0 and b"ratchet-stale" not in out, "and what it was written from passes", status, out)
        again, _, err = self.build.devimg("check", "--write-ratchet", path, spills)
        forced = self.build.devimg("check", "--write-ratchet", path, "--force", spills)[0]
        self.say(again == 3 and b"there already" in err and forced == 1, "it is replaced by --force only", again, err, forced)
        mine = self.file("mine.tsv", b"k\t*\t1\t1\t1\n")
        status, _, err = self.build.devimg("check", "--write-ratchet", mine, "--force", spills)
        with open(mine, "rb") as f:
            self.say(status == 3 and f.read() == b"k\t*\t1\t1\t1\n", "one that somebody wrote by hand never is", status, err)
        other = os.path.join(self.folder, "other.tsv")
        for what, args, expected in (("a file cannot be read", [spills, os.path.join(self.folder, "gone.so")], 3),
                                     ("the policy looks at no scratch", [spills, "--scratch", "any"], 2)):
            status, _, err = self.build.devimg("check", "--write-ratchet", other, *args)
            self.say(status == expected and not os.path.exists(other), "no ratchet file when " + what, status, err)

    def bitcode_in_a_library(self):
        """A unit whose native images only the link would make is named, whatever its neighbours have."""
        archive = b"!<arch>\n" + ar_member(b"good.o/", self.fixture("lib_aot.o")) + ar_member(
            b"rdc.o/", self.fixture("obj_bundle.o"))
        status, out, _ = self.build.devimg("check", "--targets", "tgllp,adl-s,dg2-g11", "--features", "any",
                                           "--format", "json", self.file("units.a", archive))
        errors = [(r["member"], f["code"]) for r in json.loads(out)["files"] for f in r["findings"]
                  if f["severity"] == "error"]
        self.say(status == 1 and errors == [(["rdc.o"], "no-device-code")], "bitcode in one member", status, errors)

    def files_without_a_fallback(self):
        """No SPIR-V stands in them, so none is registered: bitcode and code for the CPU are no excuse."""
        for name in ("axpy.hcf", "lib_hcf.so", "lib_cpu_sections.so", "basic_x86_64.oclelf", "zfat_generic_ir.ar",
                     "obj_packager.o"):
            status, r = self.record("check", "--fallback", "spir64", os.path.join(self.intel, name))
            codes = [f["code"] for f in r["findings"] if f["severity"] == "error"]
            self.say(status == 1 and "missing-fallback" in codes, name + " has no fallback", status, codes)
        for name in ("lib_cpu.so", "basic.spv", "empty.spv", "lib_aot.so", "obj_bundle.o"):
            status, r = self.record("check", "--fallback", "spir64", os.path.join(self.intel, name))
            codes = [f["code"] for f in r["findings"] if f["code"] == "missing-fallback"]
            self.say(status == 0 and not codes, name + " lacks no fallback", status, codes)

    def family_only_kernels(self):
        path = os.path.join(self.intel, "sg16_dg2-g11.zebin")  # states its product family: DG2
        for target, count in (("dg2-g11", 1), ("dg2-g10", 1), ("bmg-g21", 0)):
            _, r = self.record("kernels", "--target", target, path)
            self.say(len(r["kernels"]) == count, "kernels of a family for %s" % target, r["kernels"])

    def same_answer_from_any_thread(self):
        member = self.fixture("zfat_basic.ar")
        path = self.object("many.o", BUNDLE, b"".join(member + bytes(-len(member) % 16) for _ in range(200)))
        answers = {self.build.devimg("list", "--max-images", "300", "-j8", path) for _ in range(6)}
        self.say(len(answers) == 1, "a limit on images, -j8", answers)

    def many_broken_images(self):
        header = b"\177ELF\2\1\1" + bytes(9) + struct.pack(
            "<HHIQQQIHHHHHH", 1, 205, 1, 0, 0, 64, 0, 64, 0, 0, 64, 1, 0)
        path = self.object("broken.o", BUNDLE, (header + bytes(64)) * 64000)
        status, out, err = self.build.devimg("kernels", "-q", path, seconds=20)
        self.say(status == 1, "64,000 broken images take little time", status, out[-200:], err[-200:])

    def many_openmp_sections(self):
        """Each such section is looked for among all pointers of the file; 60 000 of them may not take hours."""
        source = self.file("many.s", b'.data\nx: .rept 300000\n.quad x\n.endr\n.section .llvm.offloading,"a"\n.quad 1, 2\n')
        path = os.path.join(self.folder, "many.so")
        subprocess.run(["gcc", "-shared", "-nostdlib", "-o", path, source], check=True)
        with open(path, "rb") as f:
            data = bytearray(f.read())
        one = named_headers(data)[".llvm.offloading"]
        table, count = bytes(data[section_headers(data)[0]:]), len(section_headers(data))
        header = bytes(data[one:one + 64])
        struct.pack_into("<Q", data, 40, len(data))
        struct.pack_into("<H", data, 60, count + 60000)
        status, _, err = self.build.devimg("list", self.file("many.so", bytes(data) + table[:64 * count] + 60000 * header), seconds=30)
        self.say(status == 1, "a section of OpenMP, 60 000 times", status, err[-300:])

    def all(self):
        self.many_openmp_sections()
        self.lying_section_headers()
        self.lost_relocations()
        self.zebin_without_info()
        self.zebin_that_contradicts_itself()
        self.images_side_by_side()
        self.deep_bundle_beside_a_library()
        self.bundle_of_compressed_archives()
        self.bundles_one_after_another()
        self.members_of_odd_names()
        self.members_that_are_not_read()
        self.files_that_check_writes()
        self.bitcode_in_a_library()
        self.files_without_a_fallback()
        self.family_only_kernels()
        self.same_answer_from_any_thread()
        self.many_broken_images()
