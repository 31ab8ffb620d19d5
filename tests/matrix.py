# SPDX-License-Identifier: Apache-2.0
"""Kernels against targets, and rules that weigh code: kernels --missing, units of HIP code, max-bytes, duplicates,
compression, promised, fallback. Suite `matrix`.

Bytes of code come from llvm-readelf's sections and symbols of images that are cut out here; what zstd makes of
them, from the zstd program; units, from the order of symbols that llvm-readelf prints.
"""
import json
import os
import re
import shutil
import subprocess

from cuda import A, entry, fatbin
from hip import images_of, packed_bundle, plain_bundle
from made import Made

READELF = shutil.which("llvm-readelf-19")
GFX942, GFX1100 = "hipv4-amdgcn-amd-amdhsa--gfx942", "hipv4-amdgcn-amd-amdhsa--gfx1100"
SPIRV = "hip-spirv64-amd-amdhsa--amdgcnspirv"


class Matrix(Made):
    NAME = "matrix"

    def __init__(self, build, data, folder):
        self.amd, self.intel = os.path.join(data, "amd"), os.path.join(data, "intel")
        super().__init__(build, self.amd, os.path.join(data, "host"), folder)
        self.code = self.fixture("gfx942.co")
        self.other = next(i["code"] for i in images_of(self.fixture("plain.bundle")) if i["entry_id"].endswith("gfx1100"))

    # --- a second reader ---

    def readelf(self, data, *options):
        path = self.file("read.elf", data)
        return subprocess.run([READELF, *options, path], stdout=subprocess.PIPE, check=True).stdout.decode()

    def sections(self, data):
        """{number: (name, address, offset, size)}"""
        found = {}
        for line in self.readelf(data, "-SW").splitlines():
            m = re.match(r" *\[ *(\d+)\] (\S+) +\S+ +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+) ", line)
            if m:
                found[int(m.group(1))] = (m.group(2), *(int(m.group(i), 16) for i in (3, 4, 5)))
        return found

    def amd_code(self, data):
        """{kernel: (offset, bytes)} of a code object: functions that have a descriptor beside them."""
        sections, rows = self.sections(data), {}
        for line in self.readelf(data, "--dyn-syms", "-W").splitlines():
            parts = line.split()
            if len(parts) == 8 and parts[0].endswith(":") and parts[6].isdigit():
                rows[parts[7]] = (int(parts[1], 16), int(parts[2], 0), sections[int(parts[6])])
        found = {}
        for name, (value, size, (_, address, offset, _)) in rows.items():
            if name + ".kd" in rows:
                at = offset + value - address
                found[name] = (at, data[at:at + size])
        return found

    def intel_code(self, data):
        return {name[len(".text."):]: data[offset:offset + size] for name, _, offset, size in self.sections(data).values()
                if name.startswith(".text.")}

    def zstd(self, data):
        return len(subprocess.run(["zstd", "-q", "-3", "-c", "--no-check"], input=data, stdout=subprocess.PIPE, check=True).stdout)

    def findings(self, path, *options):
        """(status, findings of every record and of the policy)"""
        status, out, err = self.build.devimg("check", path, *options, "--format", "json", seconds=60)
        if not out:
            return status, [{"code": "", "message": err.decode(errors="replace"), "severity": "error"}]
        answer = json.loads(out)
        return status, [f for r in answer["files"] for f in r["findings"]] + answer.get("findings", [])

    # --- units of HIP code ---

    def units(self):
        whole = os.path.join(self.amd, "two_bundles_plain.so")
        with open(whole, "rb") as f:
            data = f.read()
        wrappers, unit = [], None
        for line in self.readelf(data, "-sW").splitlines():
            parts = line.split()
            if len(parts) >= 8 and parts[3] == "FILE":
                unit = parts[7]
            elif len(parts) == 8 and parts[7] == "__hip_fatbin_wrapper":
                wrappers.append((int(parts[1], 16), unit))
        names = [u for _, u in sorted(wrappers)]
        _, r = self.record("list", whole)
        self.say(names == ["h.hip", "h2.hip"] and [m["unit"] for m in r["modules"]] == names and
                 [i["unit"] for i in r["images"]] == [names[0]] * 4 + [names[1]], "units of a library", names, r["modules"])
        stripped = os.path.join(self.folder, "stripped.so")
        subprocess.run(["objcopy", "--strip-all", whole, stripped], check=True)
        _, r = self.record("list", stripped)
        self.say([m["unit"] for m in r["modules"]] == [None, None], "units without symbols", r["modules"])
        for name, unit in (("win.obj", "h2.hip"), ("ccob_v2.o", "h.hip"), ("win.dll", None)):
            _, r = self.record("list", os.path.join(self.amd, name))
            self.say({i["unit"] for i in r["images"]} == {unit}, "unit of " + name, r["images"])
        one = bytearray(data)  # both wrappers name the bundle of the first unit: it is of neither
        place = next((o + a - s) for _, s, o, n in self.sections(data).values() for a, _ in wrappers[:1] if s <= a < s + n and s)
        relocations = {int(line.split()[0], 16): line.split() for line in self.readelf(data, "-rW").splitlines() if "RELATIVE" in line}
        targets = [int(relocations[a + 8][-1], 16) for a, _ in sorted(wrappers)]
        rela = next(v for v in self.sections(data).values() if v[0] == ".rela.dyn")
        table = data[rela[2]:rela[2] + rela[3]]
        at = table.index(targets[1].to_bytes(8, "little")) + rela[2]
        one[at:at + 8] = targets[0].to_bytes(8, "little")
        status, r = self.record("list", self.file("both.so", bytes(one)))
        self.say(place and [i["unit"] for i in r["images"]] == [None] * 5 and [i["registered"] for i in r["images"]] == [True] * 4 + [False],
                 "a bundle that wrappers of two units name", status, r["images"])

    # --- kernels --missing ---

    def missing(self, path, targets):
        status, r = self.record("kernels", path, "--missing", targets)
        return status, [(m["target"], m["settings"], m["module"], m["kernel"], m["fallback"], m["native_in"]) for m in r.get("missing", [])], r

    def matrix(self):
        kernels, last = sorted(self.amd_code(self.code)), "other"
        two = os.path.join(self.amd, "two_bundles_plain.so")
        status, rows, r = self.missing(two, "gfx942,gfx1030")
        self.say(status == 0 and rows == [("gfx942", None, 1, last, None, None)] +
                 [("gfx1030", None, 0, k, None, None) for k in kernels], "two bundles", status, rows, r)
        self.say({m["unit"] for m in r["missing"]} == {"h.hip", "h2.hip"}, "units of what is missing", r["missing"])
        spirv = self.fixture("../intel/basic.spv")
        bundles = [plain_bundle([(GFX942, self.code), (GFX1100, self.other)]), plain_bundle([(GFX942, self.code)]),
                   plain_bundle([(SPIRV, spirv)])]
        path = self.file("three.hipfb", b"".join(b + bytes(-len(b) % 4096) for b in bundles))
        status, rows, _ = self.missing(path, "gfx1100")
        self.say(rows == [("gfx1100", None, 1, k, None, 0) for k in kernels] +
                 [("gfx1100", None, 2, k, "amdgcnspirv", None) for k in ("count_bits", "scale_add")], "native in another module", rows)
        status, out, _ = self.build.devimg("kernels", path, "--missing", "gfx1100")
        self.say(status == 0 and b"6 of 10 kernels without native code for gfx1100\n" in out and
                 b"gfx1100: 6 kernels without native code, 2 compiled by a driver at first use, 4 that cannot run (4 native in another "
                 b"module)\n" in out, "in words", status, out)
        status, rows, _ = self.missing(path, "bmg-g21")
        self.say({(r[3], r[4]) for r in rows} == {(k, None) for k in (*kernels, "count_bits", "scale_add")},
                 "SPIR-V for AMD is none for Intel", rows)
        status, rows, _ = self.missing(path, "gfx942")
        self.say([r[2] for r in rows] == [2, 2], "all but the SPIR-V", rows)
        setting = self.file("on.hipfb", plain_bundle([(GFX942 + ":xnack+", self.code)]))
        header = bytearray(self.code.replace(b"AMDGPU\0\0", b"XMDGPU\0\0", 1))
        header[48:52] = (0x74c).to_bytes(4, "little")  # EF_AMDGPU_MACH gfx942, xnack on, sramecc any: AMDGPUUsage, "ELF Header"
        setting = self.file("on.hipfb", plain_bundle([(GFX942 + ":xnack+", bytes(header))]))
        status, rows, _ = self.missing(setting, "gfx942,gfx942:xnack+")
        self.say({r[:2] for r in rows} == {("gfx942", "sramecc-:xnack-")} and {r[3] for r in rows} == set(kernels),
                 "a setting that nothing serves", rows)
        aot = os.path.join(self.intel, "lib_aot.so")
        with open(os.path.join(os.path.dirname(__file__), "facts_intel.json"), encoding="utf-8") as f:
            facts = json.load(f)
        self.say("lib_aot.so" in json.dumps(facts), "facts of lib_aot.so", list(facts)[:5])
        _, listed = self.record("kernels", aot)
        names = sorted({k["name"] for k in listed["kernels"]})
        for target, fallback in (("bmg-g21", "spir64"), ("gfx942", None)):
            status, rows, _ = self.missing(aot, target)
            self.say(status == 0 and sorted(r[3] for r in rows) == names and {r[4] for r in rows} == {fallback},
                     "SPIR-V of SYCL for " + target, rows, names)
        status, rows, _ = self.missing(aot, "dg2-g11")
        self.say(status == 0 and not rows, "a target that every module has", rows)
        status, out, _ = self.build.devimg("kernels", aot, "--missing", "dg2-g11")
        self.say(b"all 3 kernels native for dg2-g11\n" in out, "nothing is missing, in words", out)
        for path, target, expected in ((os.path.join(self.intel, "axpy.hcf"), "gfx942", ("axpy_kernel", "generic IR")),
                                       (os.path.join(self.amd, "rdc_bundler_sections.o"), "gfx942", (None, None)),
                                       (os.path.join(self.intel, "obj_bundle.o"), "bmg-g21", (None, "bitcode")),
                                       (os.path.join(self.intel, "empty.spv"), "bmg-g21", None)):
            status, rows, r = self.missing(path, target)
            if path.endswith("rdc_bundler_sections.o"):
                served = any(i["format"] == "bitcode" and i["target"] == target for i in r["images"])
                expected = (None, "bitcode" if served else None)
            self.say(status == 0 and [row[3:5] for row in rows] == ([expected] if expected else []), "of " + os.path.basename(path), rows)
        for words, said in ((["--missing", "spir64"], b"spir64 is no GPU"), (["--missing", "nonesuch"], b'no target "nonesuch"'),
                            (["--missing", "bmg-g21", "--sort", "size"], b"goes without"), (["--missing", "99.99.9"], b"no target"),
                            (["--missing", "bmg-g21", "--worst", "1"], b"goes without")):
            status, out, err = self.build.devimg("kernels", aot, *words)
            self.say(status == 2 and said in err, "wrong usage: " + " ".join(words), status, err)

    # --- duplicates ---

    def same(self, name, path, expected, total, silent=False):
        """expected: {kernel: bytes that could be saved}; total: bytes of machine code that were compared."""
        status, found = self.findings(path, "--duplicates", "deny")
        got = {f["kernel"]: int(re.search(r": (\d+) bytes could be saved", f["message"]).group(1)) for f in found if f["code"] == "duplicate-code"}
        said = [f["message"] for f in found if f["code"] == "duplicate-total"]
        self.say(got == expected and status == (1 if expected else 0) and
                 said == (["%d of %d bytes of machine code stand in another module as well" % (sum(expected.values()), total)] if expected else []) and
                 any(f["code"] == "code-unknown" for f in found) == silent, "duplicates: " + name, status, got, expected, said, total)
        return [f for f in found if f["code"] == "duplicate-code"]

    def duplicates(self):
        codes = {name: code for name, (_, code) in self.amd_code(self.code).items()}
        others = {name: code for name, (_, code) in self.amd_code(self.other).items()}
        size = {name: len(code) for name, code in codes.items()}
        all_of, more = sum(size.values()), sum(map(len, others.values()))

        def bundles(*lists):
            return self.file("d.hipfb", b"".join(b + bytes(-len(b) % 4096) for b in map(plain_bundle, lists)))
        pair = [(GFX942, self.code), (GFX1100, self.other)]
        self.same("one bundle", bundles(pair), {}, 0)
        found = self.same("two bundles", bundles(pair, pair[:1]), size, 2 * all_of + more)
        self.say({f["target"] for f in found} == {"gfx942"} and all("2 modules (module 0, module 1)" in f["message"] for f in found), "its words", found)
        found = self.same("three bundles, two targets", bundles(pair, pair, pair), {k: 2 * (size[k] + len(others[k])) for k in size}, 3 * (all_of + more))
        self.say({f["target"] for f in found} == {None} and all("3 modules (module 0, module 1, module 2), for 2 targets" in f["message"] for f in found),
                 "words for two targets", found)
        self.same("the other target alone", bundles(pair[:1], pair[1:]), {}, 0)
        place, code = self.amd_code(self.code)["saxpy"]
        changed = bytearray(self.code)
        changed[place + len(code) - 1] ^= 1
        self.same("one byte of one kernel", bundles(pair[:1], [(GFX942, bytes(changed))]), {k: v for k, v in size.items() if k != "saxpy"}, 2 * all_of)
        renamed = self.code.replace(b"saxpy", b"zaxpy")
        self.same("another name", bundles(pair[:1], [(GFX942, renamed)]), size, 2 * all_of)
        self.same("one library", os.path.join(self.amd, "two_bundles_plain.so"), {}, 0)
        # a static library: two members with the code of one unit each, which a link would put into one file
        library = os.path.join(self.folder, "libtwice.a")
        members = []
        for name in ("a.o", "b.o"):
            members.append(os.path.join(self.folder, name))
            shutil.copy(os.path.join(self.intel, "lib_aot.o"), members[-1])
        subprocess.run(["ar", "rc", library, *members], check=True)
        out = os.path.join(self.folder, "zebins")
        self.build.devimg("extract", members[0], "-o", out, "--image-format", "zebin")  # suite `extract` holds its bytes to other tools
        saved, total = {}, 0
        for name in os.listdir(out):
            with open(os.path.join(out, name), "rb") as f:
                for kernel, code in self.intel_code(f.read()).items():
                    saved[kernel] = saved.get(kernel, 0) + len(code)
                    total += 2 * len(code)
        self.say(len(saved) == 3 and total > 0, "code of lib_aot.o", saved)
        found = self.same("static library", library, saved, total)
        self.say(all("2 modules (a.o, b.o), for 3 targets" in f["message"] for f in found), "members by name", found)
        self.same("one object", members[0], {}, 0)
        tokens = os.path.join(self.intel, "slots_pvc.oclelf")
        self.same("patch tokens alone", tokens, {}, 0)
        status, found = self.findings(bundles(pair, pair), "--duplicates", "deny", "--rules", "duplicates=warning")
        self.say(status == 0 and {f["severity"] for f in found} == {"warning", "note"}, "as warnings", status, found)
        status, found = self.findings(bundles(pair, pair), "--targets", "gfx942,gfx1100", "--duplicates", "allow")
        self.say(status == 0 and not [f for f in found if f["rule"] == "duplicates"], "allowed", status, found)

    # --- max-bytes ---

    def budgets(self):
        images = images_of(self.fixture("plain.bundle"))
        size = {i["entry_id"].split("--")[1]: i["size"] for i in images}
        whole = sum(size.values())
        packed = packed_bundle(2, "zstd", self.fixture("plain.bundle"))
        plain, small, aot = os.path.join(self.amd, "plain.bundle"), self.file("p.ccob", packed), os.path.join(self.intel, "lib_aot.so")
        generic = images_of(self.readonly("generic_co6.o"))
        nine = next(i["size"] for i in generic if i["entry_id"].endswith("gfx9-generic"))
        for path, words, expected in (
                (plain, "gfx1100=%d" % size["gfx1100"], []), (plain, "gfx1100=%d" % (size["gfx1100"] - 1), [("over-budget", "gfx1100", 1)]),
                (plain, "all=%d" % whole, []), (plain, str(whole - 1), [("over-budget", None, 1)]), (plain, "gfx906=1K", [("over-budget", "gfx906", size["gfx906"] - 1024)]),
                (small, "gfx1100=%d,all=%d" % (size["gfx1100"], len(packed)), []), (small, "all=%d" % (len(packed) - 5), [("over-budget", None, 5)]),
                (small, "gfx906=%d" % (size["gfx906"] - 2), [("over-budget", "gfx906", 2)]),
                (plain, "gfx1030=0,gfx942=0", []), (plain, "gfx1100=1,gfx1100=1M", []),
                (os.path.join(self.amd, "generic_co6.o"), "gfx906=%d,gfx9-generic=%d" % (nine, nine), []),
                (os.path.join(self.amd, "generic_co6.o"), "gfx906=%d" % (nine - 3), [("over-budget", "gfx906", 3)]),
                # tests/check/stored-raw.tsv: four images of 22544, 12630, 1648 and 1192 bytes
                (aot, "all=38014,spir64=2840", []), (aot, "all=38013,spir64=2839", [("over-budget", None, 1), ("over-budget", "spir64", 1)]),
                (aot, "all=1M,spir64=1MiB,spir64=0", [("over-budget", "spir64", 2840)])):
            status, found = self.findings(path, "--max-bytes", words)
            got = [(f["code"], f["target"], int(re.search(r": (\d+) more than", f["message"]).group(1))) for f in found if f.get("rule") == "max-bytes"]
            self.say(sorted(got, key=str) == sorted(expected, key=str) and status == (1 if expected else 0), "max-bytes %s %s" % (os.path.basename(path), words), status, found)
        status, found = self.findings(plain, "--max-bytes", "gfx906=1", "--max-bytes", "gfx1100=1")
        self.say({f["target"] for f in found} == {"gfx906", "gfx1100"}, "budgets add up", found)
        status, found = self.findings(os.path.join(self.intel, "lib_spill.so"), "--max-bytes", "xe-hpg=1")
        self.say(status == 1 and "dg2-g10" in {f["target"] for f in found}, "each target of a family", status, found)
        library = os.path.join(self.folder, "libsum.a")
        subprocess.run(["ar", "rc", library, os.path.join(self.folder, "a.o"), os.path.join(self.folder, "b.o")], check=True)
        _, one = self.record("list", os.path.join(self.folder, "a.o"))
        stored = sum(i["stored_size"] for i in one["images"] if i["parent"] is None)
        status, found = self.findings(library, "--max-bytes", str(2 * stored))
        self.say(status == 0 and self.findings(library, "--max-bytes", str(2 * stored - 1))[0] == 1, "members count together", status, found)
        for words, said in (("bmg-g21=x", "expected a size"), ("nonesuch=1", "no table has"), ("=5", "for no target"), (",", "expected TARGET=SIZE"), ("bmg-g21=", "expected a size")):
            status, out, err = self.build.devimg("check", plain, "--max-bytes", words)
            self.say(status == 2 and said in err.decode(), "max-bytes refuses " + words, status, err)
        for text, expected in (("max-bytes: {gfx1100: %d, all: 1G}" % size["gfx1100"], 0), ("max-bytes: {gfx1100: 1K}", 1), ("max-bytes: %d" % (whole - 1), 1),
                               ("max-bytes: {gfx1100: [1]}", 2), ("max-bytes: {gfx1100: 1, gfx1100: 2}", 2), ("max-bytes: [1]", 2)):
            status, _, err = self.build.devimg("check", plain, "--policy", self.file("p.yaml", ("version: 1\n" + text + "\n").encode()))
            self.say(status == expected, "policy " + text, status, err)

    def readonly(self, name):
        """.hip_fatbin of an object, cut out by objcopy."""
        out = os.path.join(self.folder, "cut")
        subprocess.run(["objcopy", "-O", "binary", "--only-section=.hip_fatbin", os.path.join(self.amd, name), "--set-section-flags",
                        ".hip_fatbin=alloc", out], check=True)
        with open(out, "rb") as f:
            return f.read()

    # --- compression ---

    def compression(self):
        status, found = self.findings(os.path.join(self.amd, "plain.bundle"), "--compression", "required")
        for f, image in zip(found, images_of(self.fixture("plain.bundle"))):
            m = re.search(r"image of (\d+) bytes is stored raw; under zstd \(level 3\) it takes (\d+)$", f["message"])
            near = self.zstd(image["code"])
            self.say(m and int(m.group(1)) == image["size"] and abs(int(m.group(2)) - near) * 50 <= near + 500, "raw: what zstd makes", f, near)
        self.say(status == 1 and len(found) == 2, "raw images", status, found)
        noise = bytes(1000) + os.urandom(60000)
        for method, codec in (("zlib", "zlib"), ("zstd", None)):
            packed = packed_bundle(2, method, plain_bundle([(GFX942, self.code), (GFX1100, self.other)]))
            status, found = self.findings(self.file("c.ccob", packed), "--compression", "required")
            near = self.zstd(self.code + self.other)
            if codec is None or near >= len(packed):
                self.say(status == 0 and not found, "nothing to say of " + method, status, found)
                continue
            m = re.search(r"^2 images under zlib take (\d+) bytes, under zstd \(level 3\) (\d+)$", found[0]["message"] if found else "")
            self.say(status == 0 and len(found) == 1 and found[0]["severity"] == "note" and found[0]["code"] == "other-codec" and m and
                     int(m.group(1)) == len(packed) and abs(int(m.group(2)) - near) * 50 <= near + 500, "zlib: what zstd makes", status, found, near, len(packed))
        worse = packed_bundle(2, "zlib", plain_bundle([(GFX942, self.code + noise)]))
        status, found = self.findings(self.file("w.ccob", worse), "--compression", "required")
        better = self.zstd(self.code + noise) < len(worse)
        self.say(status == 0 and len(found) == (1 if better else 0), "zlib that zstd hardly beats, or does not", status, found, better)

    # --- promised, fallback ---

    def promised(self):
        two, stripped = os.path.join(self.amd, "two_bundles_plain.so"), os.path.join(self.folder, "stripped.so")

        def lines(*words):
            return self.file("cc.json", json.dumps([{"directory": "/tmp", "file": unit, "arguments": ["clang++", "-x", "hip", *line.split(), "-c", unit]}
                                                    for unit, line in words]).encode())
        # the code of h.hip: gfx906:xnack-, gfx90a:sramecc+:xnack+, gfx942, gfx1100; of h2.hip: gfx1030
        for path, words, expected in (
                (two, [("h.hip", "--offload-arch=gfx942,gfx1100"), ("h2.hip", "--offload-arch=gfx1030")], []),
                (two, [("h.hip", "--cuda-gpu-arch=gfx942"), ("h2.hip", "--cuda-gpu-arch=gfx942")], [("promise-broken", "gfx942", "h2.hip")]),
                (two, [("h.hip", "--offload-arch=gfx90a:xnack+:sramecc+ --offload-arch=gfx906:xnack-")], []),
                (two, [("h.hip", "--offload-arch=gfx906")], [("promise-broken", "gfx906", "h.hip")]),
                (two, [("h2.hip", "--offload-arch=gfx942 --offload-arch=gfx1030 --no-offload-arch=gfx942")], []),
                (two, [("h2.hip", "--no-offload-arch=gfx942 --offload-arch=gfx942")], [("promise-broken", "gfx942", "h2.hip")]),
                (two, [("h2.hip", "--offload-arch=gfx942 --no-offload-arch=all")], []), (two, [("h2.hip", "--offload-arch=native,gfx1030")], []),
                (two, [("h2.hip", "-offload-arch=gfx942")], []),  # clang reads that as -o ffload-arch=gfx942
                (two, [("h2.hip", "-Xclang --offload-arch=gfx942")], []),
                (two, [("h2.hip", "--offload-arch=gfx1030 --offload-compress")], [("promise-raw", "gfx1030", "h2.hip")]),
                (two, [("h2.hip", "--offload-arch=amdgcnspirv")], [("promise-broken", "amdgcnspirv", "h2.hip")]),
                (two, [("elsewhere.hip", "--offload-arch=gfx1030,gfx942")], []), (two, [("elsewhere.hip", "--offload-arch=gfx950")], [("promise-broken", "gfx950", None)]),
                (stripped, [("h.hip", "--offload-arch=gfx1030"), ("h2.hip", "--offload-arch=gfx942")], []),
                (stripped, [("h.hip", "--offload-arch=gfx1201")], [("promise-broken", "gfx1201", None)])):
            status, found = self.findings(path, "--promised", lines(*words))
            got = [(f["code"], f["target"], f["unit"]) for f in found if f["severity"] == "error"]
            self.say(got == expected and status == (1 if expected else 0), "promised %s %s" % (os.path.basename(path), words), status, found)

    def fallback(self):
        spirv = self.fixture("../intel/basic.spv")
        sycl, hip = os.path.join(self.intel, "lib_aot.so"), os.path.join(self.amd, "two_bundles_plain.so")
        with_spirv = self.file("s.hipfb", plain_bundle([(SPIRV, spirv)]))
        for path, words, expected in ((hip, "spir64", ["spir64", "spir64"]), (hip, "spir64,amdgcnspirv", ["amdgcnspirv", "amdgcnspirv"]), (hip, "amdgcnspirv", ["amdgcnspirv", "amdgcnspirv"]),
                                      (with_spirv, "amdgcnspirv", []), (with_spirv, "spir64,amdgcnspirv", []), (with_spirv, "spir64", ["spir64"]),
                                      (sycl, "spir64", []), (sycl, "spir64,amdgcnspirv", []), (sycl, "amdgcnspirv", ["amdgcnspirv", "amdgcnspirv"])):
            status, found = self.findings(path, "--fallback", words)
            got = [f["target"] for f in found if f["code"] == "missing-fallback"]
            self.say(got == expected and status == (1 if expected else 0), "fallback %s %s" % (os.path.basename(path), words), status, found)

    # --- scratch and spills of AMD code, with the ratchet ---

    def scratch(self):
        """What llvm-readelf's notes state (suite `hip` holds kernels to them), four bytes a spilled register."""
        path, ratchet = self.file("s.co", self.code), os.path.join(self.folder, "ratchet.tsv")
        notes = self.readelf(self.code, "--notes")
        stated = {}
        for part in notes.split(".agpr_count:")[1:]:
            name = re.search(r"\.name: +(\S+)", part).group(1)
            stated[name] = (int(re.search(r"\.private_segment_fixed_size: +(\d+)", part).group(1)), 4 * int(re.search(r"\.vgpr_spill_count: +(\d+)", part).group(1)))
        using = {k: v for k, v in stated.items() if any(v)}
        status, found = self.findings(path, "--scratch", "none")
        got = {f["kernel"]: tuple(int(n) for n in re.search(r"private (\d+), spill (\d+),", f["message"]).groups()) for f in found if f["code"] == "scratch"}
        self.say(status == 1 and got == using and using, "scratch of AMD code", status, got, stated)
        self.build.devimg("check", path, "--write-ratchet", ratchet)
        status, found = self.findings(path, "--ratchet", ratchet)
        self.say(status == 0 and not found, "the ratchet allows it", status, found)
        with open(ratchet, encoding="utf-8") as f:
            text = f.read()
        name, (private, spill) = max(using.items(), key=lambda i: i[1][1])
        less = re.sub(r"(?m)^(%s\t\S+\t%d\t)%d\b" % (re.escape(name), private, spill), lambda m: m.group(1) + str(spill - 4), text)
        status, found = self.findings(path, "--ratchet", self.file("less.tsv", less.encode()))
        self.say(less != text and status == 1 and [(f["code"], f["kernel"]) for f in found if f["severity"] == "error"] == [("scratch-grew", name)],
                 "one register more than allowed", status, found, text)

    # --- CUDA ---

    def cuda(self):
        """Which code runs where: CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility". What is in the
        fixtures: data/nvidia/README.md."""
        at = lambda name: os.path.join(self.amd, "..", "nvidia", name)
        sass = {0: ["saxpy", "spilly", "stacky"], 1: ["second_kernel"]}
        for name, target, expected in (
                ("multi_plain.o", "sm_86", []), ("multi_plain.o", "sm_120", [(0, k, "compute_90") for k in sass[0]]),
                ("multi_plain.o", "sm_75", [(0, k, None) for k in sass[0]]),
                # sm_75, sm_86 and PTX; sm_80 alone, whose code runs on 8.x as that of sm_86 runs on 8.9 and not on 8.0
                ("two_tu_lz4_zstd.so", "sm_86", []), ("two_tu_lz4_zstd.so", "sm_89", []), ("two_tu_lz4_zstd.so", "sm_80", [(0, k, "compute_75") for k in sass[0]]),
                ("two_tu_lz4_zstd.so", "sm_75", [(1, sass[1][0], None)]),
                ("two_tu_lz4_zstd.so", "sm_90", [(0, k, "compute_75") for k in sass[0]] + [(1, sass[1][0], None)]),
                ("rdc_linked.so", "sm_80", []), ("rdc_linked.so", "sm_90", [(1, k, "compute_80") for k in sass[0]]),
                ("sm_90a.cubin", "sm_90", []), ("sm_90a.cubin", "sm_100", [(0, k, None) for k in sass[0]])):
            status, rows, r = self.missing(at(name), target)
            self.say(status == 0 and [(m, k, f) for _, _, m, k, f, _ in rows] == expected, "CUDA: %s on %s" % (name, target), rows, r["findings"])
        with open(at("sm_90a.cubin"), "rb") as f:
            cubin = f.read()
        size = {n[len(".text."):]: s for n, _, _, s in self.sections(cubin).values() if n.startswith(".text.")}
        kernels = {k["name"] for k in self.record("kernels", at("sm_90a.cubin"))[1]["kernels"]}
        size = {k: v for k, v in size.items() if k in kernels}
        one = fatbin(entry(2, 90, cubin, 0x11 | A))
        self.same("CUDA, one container", self.file("one.fatbin", one), {}, 0)
        self.same("CUDA, two containers", self.file("two.fatbin", one + one), size, 2 * sum(size.values()))
        status, found = self.findings(at("sm_90a.cubin"), "--max-bytes", "sm_90a=%d" % (len(cubin) - 1))
        self.say(status == 1 and [(f["target"], f["code"]) for f in found] == [("sm_90a", "over-budget")], "CUDA: a budget", status, found)

    def all(self):
        self.cuda()
        self.units()
        self.matrix()
        self.duplicates()
        self.budgets()
        self.compression()
        self.scratch()
        self.promised()
        self.fallback()
