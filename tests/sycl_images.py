# SPDX-License-Identifier: Apache-2.0
"""Images as a SYCL build leaves them: which targets, in which form, in which binaries. Suite `syclimages`.

The names of tests are those of docs/requirements.md. Nothing here needs a GPU or oneAPI (S1-22); where ocloc is installed it makes
images on the spot."""
import json
import os
import shutil

# S1-1, S1-2: the 19, the silicon that each is, and the sizes that were measured with a one-line kernel (S1-29).
SILICON = {
    "tgllp": "Tiger Lake", "adl-s": "Alder Lake", "adl-p": "Alder Lake", "adl-n": "Alder Lake", "rpl-s": "Raptor Lake",
    "rpl-p": "Raptor Lake", "dg2-g10": "A770", "dg2-g11": "A380", "acm-g10": "A770M", "acm-g11": "A370M", "acm-g12": "A570M",
    "mtl-h": "Meteor Lake", "mtl-u": "Meteor Lake", "arl-h": "Arrow Lake", "arl-s": "Arrow Lake", "arl-u": "Arrow Lake",
    "lnl-m": "Lunar Lake", "bmg-g21": "Battlemage", "bmg-g31": "Battlemage"}
XE2 = ("lnl-m", "bmg-g21", "bmg-g31")
SECTION = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen"
LISTED = ("--targets", "tgllp,adl-s,dg2-g11", "--fallback", "spir64", "--features", "any")
RUNTIME = "void __sycl_register_lib(void *d) { (void)d; }\nvoid __sycl_unregister_lib(void *d) { (void)d; }\n"


class SyclImages:
    def __init__(self, build, data, folder):
        self.build, self.data, self.folder = build, data, folder

    def say(self, good, name, *what):
        self.build.say(good, "syclimages: " + name, "found %s" % (what,))

    def path(self, name):
        return os.path.join(self.folder, name)

    def intel(self, name):
        return os.path.join(self.data, "intel", name)

    def list(self, path):
        status, out, _ = self.build.devimg("list", path, "--format", "json")
        return status, json.loads(out)["files"] if out else []

    def silicon(self):
        _, out, _ = self.build.devimg("targets", "default-intel", "--format", "json")
        rows = {r["name"]: r for r in json.loads(out)["targets"]}
        self.say(set(rows) == set(SILICON), "S1-5: the default covers these", sorted(set(rows) ^ set(SILICON)))
        for name, silicon in SILICON.items():
            row = rows.get(name, {})
            text = "%s; %s" % (row.get("codename"), "; ".join(row.get("products") or []))
            self.say(silicon in text, "S1-2: %s is %s" % (name, silicon), text)
            sizes = [16, 32] if name in XE2 else [8, 16, 32]
            self.say(row.get("sub_group_sizes") == sizes, "S1-2, S1-29: sizes of " + name, row)

    def forms(self):
        """Made by ocloc 22.43 (tests/data/intel/README.md)."""
        for item, name, formats in (
                ("S1-16, S1-17: an archive, a member a name", "zfat_basic.ar", ["archive", "zebin", "zebin", "zebin"]),
                ("S1-17: two names of one IP version", "zfat_same_ip_twice.ar", ["archive", "zebin", "zebin"]),
                ("S1-16, S1-18: one name, a bare image", "sg16_dg2-g11_ip.zebin", ["zebin"])):
            status, files = self.list(self.intel(name))
            found = [i["format"] for i in files[0]["images"]] if files else None
            self.say(status == 0 and found == formats, item, found)

    def mixed(self):
        """Images lie in the section one after the other, each at a multiple of 16."""
        parts = []
        for name in ("zfat_sg8.ar", "sg16_dg2-g11_ip.zebin"):
            with open(self.intel(name), "rb") as f:
                data = f.read()
            parts.append(data + bytes(-len(data) % 16))
        for order in (1, -1):
            with open(self.path("section"), "wb") as f:
                f.write(b"".join(parts[::order]))
            status, _, err = self.build.run(["objcopy", "--add-section", "%s=%s" % (SECTION, self.path("section")),
                                             os.path.join(self.data, "host", "empty.o"), self.path("mixed.o")])
            call = ["check", self.path("mixed.o"), "--extra-targets", "allow", "--features", "any", "--sub-group-sizes", "any"]
            good, _, said = self.build.devimg(*call, "--targets", "dg2-g11")
            bad, out, _ = self.build.devimg(*call, "--targets", "dg2-g11,adl-s")
            self.say(status == 0 and good == 0 and bad == 1 and b"row_sum_sg16" in out and b"row_sum_sg8" not in out,
                     "S1-19: an archive and a bare image, in order %d" % order, err, good, said, bad, out)

    def binaries(self):
        """The object itself, a static and a shared library and a program that link it; and one that does not."""
        with open(self.path("main.c"), "w", encoding="utf-8") as f:
            f.write("int main(void) { return 0; }\n")
        with open(self.path("runtime.c"), "w", encoding="utf-8") as f:
            f.write(RUNTIME)
        obj = self.intel("lib_aot.o")
        for argv in (["cc", "-shared", "-fPIC", "runtime.c", "-o", "librt.so"], ["ar", "rcs", "lib.a", obj],
                     ["cc", "-shared", obj, "-o", "lib.so", "librt.so"], ["cc", "-pie", "main.c", obj, "-o", "program", "./librt.so"],
                     ["cc", "main.c", "-o", "bare"]):
            status, _, err = self.build.run(argv, cwd=self.folder)
            self.say(status == 0, "S1-12: " + " ".join(argv), err)
        for name in (obj, "lib.a", "lib.so", "program"):
            status, out, err = self.build.devimg("check", name, *LISTED, cwd=self.folder)
            self.say(status == 0, "S1-12: %s carries the images" % os.path.basename(name), out, err)
        status, out, _ = self.build.devimg("check", "program", "bare", *LISTED, cwd=self.folder)
        self.say(status == 1 and b"no-device-code" in out, "S1-12: and one that links no such object fails", out)

    def odd_members(self):
        """D9: what a member's name says is held against its body."""
        with open(self.intel("sg16_dg2-g11.zebin"), "rb") as f:
            zebin = f.read()
        with open(self.intel("basic.spv"), "rb") as f:
            spirv = f.read()
        for name, body, said in (("64.12.55.8", spirv, '"64.12.55.8" holds spirv, no native code'), ("64.dg2", spirv, '"64.dg2" holds spirv'),
                                 ("64.12.55.8", b"BC\xc0\xde", "holds bitcode, no native code"), ("64.12.55.8", b"", "empty: 0 bytes"),
                                 ("generic_ir", b"", "empty: 0 bytes"), ("64.tgllp", zebin, '"64.tgllp" holds an image for dg2-g10'),
                                 ("64.dg2-g11", zebin, None), ("generic_ir", spirv, None)):
            header = ("%s/" % name).ljust(16) + "0".ljust(12) + "0".ljust(6) * 2 + "644".ljust(8) + str(len(body)).ljust(10) + "`\n"
            with open(self.path("odd.ar"), "wb") as f:
                f.write(b"!<arch>\n" + header.encode() + body + b"\n" * (len(body) % 2))
            status, files = self.list(self.path("odd.ar"))
            findings = [f["message"] for f in files[0]["findings"]]
            self.say(status == (1 if said else 0) and (findings == [] if said is None else len(findings) == 1 and said in findings[0]),
                     "D9: a member %s of %d bytes" % (name, len(body)), status, findings)
            if body == spirv:
                _, out, _ = self.build.devimg("list", "odd.ar", cwd=self.folder)
                self.say(b"as SPIR-V inside archives only" in out and files[0]["images"][1]["target"] == "spir64", "D9: list of it", out)
            elif said is None:
                status, out, _ = self.build.devimg("check", "odd.ar", "--targets", "dg2-g10", cwd=self.folder)
                self.say(status == 1 and b"missing-ip" in out, "D9: a member named dg2-g11 is none for dg2-g10", out)

    def pointers(self):
        """ocloc -32 makes code for 32-bit hosts: zebin is an ELF32, patch tokens state the size (made here by ocloc 22.43)."""
        if not shutil.which("ocloc"):
            print("skipped: syclimages: there is no ocloc")
            return
        with open(self.path("k.cl"), "w", encoding="utf-8") as f:
            f.write("kernel void k(global int *p) { p[get_global_id(0)] = 1; }\n")
        ocloc = ["ocloc", "compile", "-q", "-file", "k.cl", "-exclude_ir"]
        zebin = ["-internal_options", "-cl-intel-allow-zebin"]
        for width in ("-32", "-64"):
            for name, more in (("z", ["-device", "tgllp", *zebin]), ("t", ["-device", "tgllp"]), ("a", ["-device", "tgllp,dg2-g10", *zebin]),
                               ("b", ["-device", "tgllp,dg2-g10"])):
                made = self.path(name + width)
                status, out, err = self.build.run([*ocloc, width, *more, "-output", made, "-output_no_suffix"], cwd=self.folder)
                made = made if os.path.exists(made) else made + ".bin"
                self.say(status == 0 and os.path.exists(made), "ocloc %s %s" % (width, name), status, out, err)
                self.build.run(["objcopy", "--add-section", SECTION + "_image=" + made, os.path.join(self.data, "host", "empty.o"),
                                self.path("width.o")])
                for path, wanted, level in ((made, 0, b"note"), (self.path("width.o"), int(width == "-32"), b"error")):
                    status, out, _ = self.build.devimg("check", path, "--targets", "tgllp", "--extra-targets", "allow", "--features", "any",
                                                       "--scratch", "any")
                    wanted = 1 if name == "t" else wanted  # its core family is not tgllp's alone
                    self.say(status == wanted and ((b"  %s targets[pointer-size]" % level) in out) == (width == "-32"),
                             "code for %s-bit hosts, %s in %s" % (width[1:], name, os.path.basename(path)), status, out)

    def before_the_link(self):
        """What -c with -fno-sycl-rdc leaves: finished native images, and bitcode that states no kernels for the fallback (S1-13)."""
        if not shutil.which("clang-19"):
            print("skipped: syclimages: there is no clang-19")
            return
        with open(self.path("k.cl"), "w", encoding="utf-8") as f:
            f.write("kernel void k(global int *p) { p[get_global_id(0)] = 1; }\n")
        empty, archive, fallback = os.path.join(self.data, "host", "empty.o"), self.intel("zfat_basic.ar"), SECTION[:-len("_gen")]
        add = lambda out, *parts: ["objcopy", *(w for p in parts for w in ("--add-section", p)), empty, out]
        for argv in (["clang-19", "--target=spir64", "-x", "cl", "-O2", "-emit-llvm", "-c", "k.cl", "-o", "k.bc"],
                     ["zstd", "-q", "--no-check", archive, "-o", "k.zst"],
                     add("unit.o", SECTION + "_image=k.zst", fallback + "=k.bc"),
                     add("older.o", SECTION + "_image=k.zst", fallback + "=" + self.intel("basic.spv")),
                     add("raw.o", SECTION + "_image=" + archive, fallback + "=k.bc"),
                     add("native.o", SECTION + "_image=k.zst"),
                     ["ar", "rcs", "units.a", "unit.o", "older.o"], ["ar", "rcs", "one-lacks.a", "unit.o", "native.o"]):
            status, _, err = self.build.run(argv, cwd=self.folder)
            self.say(status == 0, "S1-13: " + " ".join(argv), err)
        asked = [*LISTED, "--compression", "required"]
        for name in ("unit.o", "older.o", "units.a"):
            status, out, err = self.build.devimg("check", name, *asked, cwd=self.folder)
            self.say(status == 0 and b"spir64 fallback" in out, "S1-13: the link makes the fallback of %s, and compresses it" % name, out, err)
        for name, code, where in (("raw.o", b"stored-raw", b"archive image"), ("native.o", b"missing-fallback", b"module 0"),
                                  ("one-lacks.a", b"missing-fallback", b"native.o, module 0")):
            status, out, _ = self.build.devimg("check", name, *asked, cwd=self.folder)
            self.say(status == 1 and out.count(b"  error") == 1 and code in out and where in out, "S1-13: not so " + name, status, out)
        for name, words in (("unit.o", b"for 3 GPU targets, with LLVM bitcode fallback\n"), ("older.o", b"for 3 GPU targets, with SPIR-V fallback\n"),
                            ("native.o", b"for 3 GPU targets, no portable fallback\n"),
                            ("units.a", b"for 3 GPU targets, with SPIR-V and LLVM bitcode fallback\n"),
                            ("one-lacks.a", b"with LLVM bitcode fallback in 1 of the 2 modules that have native code\n")):
            _, out, _ = self.build.devimg("list", name, cwd=self.folder)
            self.say(words in out, "S1-13: list of " + name, out)

    def alone(self):
        """S1-22: a PATH without any program, so no ocloc, no icpx, no driver."""
        empty = self.path("empty")
        os.mkdir(empty)
        before = self.build.env["PATH"]
        self.build.env["PATH"] = empty
        for name, targets in (("lib_aot_zstd.so", "tgllp,adl-s,dg2-g11"), ("lib_bare.so", "dg2-g11")):
            status, out, err = self.build.devimg("check", self.intel(name), "--targets", targets, "--features", "any")
            self.say(status == 0, "S1-22: %s with no tool at hand" % name, out, err)
        self.build.env["PATH"] = before

    def made_now(self):
        if not shutil.which("ocloc"):
            print("skipped: syclimages: there is no ocloc")
            return
        with open(self.path("k.cl"), "w", encoding="utf-8") as f:
            f.write("kernel void k(global int *p) { p[get_global_id(0)] = 1; }\n")
        for item, devices, formats, ips in (
                ("S1-18", "dg2-g11", ["zebin"], None), ("S1-17", "tgllp,dg2-g11", ["archive", "zebin", "zebin"], ["12.0.0", "12.56.5"]),
                ("S1-17, one IP version", "dg2-g10,acm-g10", ["archive", "zebin", "zebin"], ["12.55.8"] * 2)):
            out = self.path("out-" + devices)
            status, said, err = self.build.run(["ocloc", "compile", "-file", "k.cl", "-device", devices, "--format", "zebin",
                                                "-output", out, "-output_no_suffix"], cwd=self.folder)
            made = out if os.path.exists(out) else out + ".bin"
            _, files = self.list(made) if status == 0 and os.path.exists(made) else (0, [])
            images = files[0]["images"] if files else []
            self.say([i["format"] for i in images] == formats and
                     (ips is None or [i["ip_version"] for i in images[1:]] == ips), "%s: ocloc -device %s" % (item, devices),
                     status, said, err, images)

    def all(self):
        self.silicon()
        self.forms()
        self.mixed()
        self.binaries()
        self.odd_members()
        self.pointers()
        self.before_the_link()
        self.alone()
        self.made_now()
