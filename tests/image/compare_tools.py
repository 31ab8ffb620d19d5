#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare what devimg says of device images with what other tools print of the same bytes.

    compare_tools.py DEVIMG [FILE...]

Judges: spirv-dis (kernels, sub-group sizes, features, version of SPIR-V), llvm-readelf (code
sections and IntelGT notes of zebins), PyYAML (`.ze_info`), clang-offload-bundler (names of bundle
sections), and for patch tokens the zebin of the same kernels. Images are cut out of the files by
the offsets and sizes that devimg lists, so a wrong one is seen as well; frames are inflated by the
zstd program.

Without FILE: the fixtures of tests/data/intel, and modules assembled by spirv-as. Of a file with
many SPIR-V images, MODULES evenly spread ones are looked at (environment, default 200).
Exit status: 0 all equal, 1 a difference (printed), 77 a tool is missing.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TOOLS = {"spirv-dis": ("spirv-dis",), "spirv-as": ("spirv-as",), "zstd": ("zstd",),
         "readelf": ("llvm-readelf-19", "llvm-readelf"),
         "bundler": ("clang-offload-bundler-19", "clang-offload-bundler")}
FIXTURES = Path(__file__).resolve().parent.parent / "data/intel"
# SPIR-V capability (KhronosGroup/SPIRV-Headers) -> what the device must have.
FEATURES = {"Float64": "fp64", "Float16": "fp16", "Float16Buffer": "fp16", "Int64Atomics": "atomic64",
            "AtomicFloat64AddEXT": "atomic64", "JointMatrixINTEL": "matrix",
            "CooperativeMatrixKHR": "matrix", "VectorComputeINTEL": "esimd"}
ASPECTS = {5: "fp16", 6: "fp64"}  # sycl::aspect
NUMBERS = ("sub_group_size", "required_sub_group_size", "code_size", "registers", "private_size",
           "spill_size", "slm_size", "scratch_size", "barrier_count", "features")
SPVASM = {
    "modes": """
        OpCapability Addresses
        OpCapability Kernel
        OpCapability Float64
        OpCapability SubgroupDispatch
        OpExtension "SPV_KHR_no_integer_wrap_decoration"
        OpMemoryModel Physical64 OpenCL
        OpEntryPoint Kernel %a "first"
        OpEntryPoint Kernel %b "second \\"quoted\\" name"
        OpEntryPoint Kernel %c ""
        OpEntryPoint Kernel %d "sized twice"
        OpExecutionMode %a LocalSize 64 1 1
        OpExecutionMode %b SubgroupSize 8
        OpExecutionMode %d SubgroupSize 16
        OpExecutionMode %b VecTypeHint 4
        %void = OpTypeVoid
        %f = OpTypeFunction %void
        %a = OpFunction %void None %f
        %la = OpLabel
        OpReturn
        OpFunctionEnd
        %b = OpFunction %void None %f
        %lb = OpLabel
        OpReturn
        OpFunctionEnd
        %c = OpFunction %void None %f
        %lc = OpLabel
        OpReturn
        OpFunctionEnd
        %d = OpFunction %void None %f
        %ld = OpLabel
        OpReturn
        OpFunctionEnd
    """,
    "esimd": """
        OpCapability Addresses
        OpCapability Kernel
        OpCapability VectorComputeINTEL
        OpCapability Int64
        OpCapability Int64Atomics
        OpExtension "SPV_INTEL_vector_compute"
        OpMemoryModel Physical64 OpenCL
        OpEntryPoint Kernel %a "esimd"
        OpExecutionMode %a SubgroupSize 1
        %void = OpTypeVoid
        %f = OpTypeFunction %void
        %a = OpFunction %void None %f
        %la = OpLabel
        OpReturn
        OpFunctionEnd
    """,
    "physical32": """
        OpCapability Addresses
        OpCapability Kernel
        OpCapability Float16Buffer
        OpMemoryModel Physical32 OpenCL
        OpEntryPoint Kernel %a "k"
        %void = OpTypeVoid
        %f = OpTypeFunction %void
        %a = OpFunction %void None %f
        %la = OpLabel
        OpReturn
        OpFunctionEnd
    """,
    "no_kernels": """
        OpCapability Addresses
        OpCapability Linkage
        OpMemoryModel Physical64 OpenCL
    """,
}


def run(*argv, stdin=None):
    return subprocess.run([str(a) for a in argv], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


class Comparison:
    def __init__(self, devimg, tools, folder):
        self.devimg, self.tools, self.folder = devimg, tools, Path(folder)
        self.differences, self.counts = 0, {}

    def equal(self, where, what, found, expected):
        self.counts[what] = self.counts.get(what, 0) + 1
        if found != expected:
            self.differences += 1
            print(f"{where}: {what}: devimg {found!r}, expected {expected!r}")

    def json(self, command, path):
        done = run(self.devimg, command, "--format", "json", path)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{path}: devimg {command} ends with {done.returncode}: "
                             + done.stderr.decode(errors="replace"))
        return json.loads(done.stdout)

    def scratch(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def inflate(self, data):
        if not data.startswith(b"\x28\xb5\x2f\xfd"):
            return data
        done = run(self.tools["zstd"], "-d", "-q", "-c", stdin=data)
        return done.stdout if done.returncode == 0 else None

    # --- SPIR-V ---

    def spirv(self, where, image, kernels, data):
        done = run(self.tools["spirv-dis"], "--raw-id", "--no-color", self.scratch("m.spv", data))
        text = done.stdout.decode("utf-8", "surrogateescape")
        if done.returncode != 0:
            what = "SPIR-V that spirv-dis refuses: not compared"
            self.counts[what] = self.counts.get(what, 0) + 1
            return
        names = re.findall(r'^ *OpEntryPoint Kernel (%\S+) "((?:[^"\\]|\\.)*)"', text, re.M)
        sizes = dict(re.findall(r"^ *OpExecutionMode (%\S+) SubgroupSize (\d+)", text, re.M))
        capabilities = set(re.findall(r"^ *OpCapability (\w+)", text, re.M))
        wanted = {FEATURES[c] for c in capabilities if c in FEATURES}
        wanted |= {ASPECTS[a] for a in image["aspects"] or [] if a in ASPECTS}
        expected = []
        for identity, name in names:
            size = int(sizes[identity]) if identity in sizes else None
            features = wanted | ({"esimd"} if size == 1 else set())
            expected.append((re.sub(r"\\(.)", r"\1", name), size, sorted(features)))
        self.equal(where, "SPIR-V kernels", [(k["name"], k["required_sub_group_size"],
                                              sorted(k["features"])) for k in kernels], expected)
        addressing = re.search(r"OpMemoryModel (\w+)", text).group(1)
        self.equal(where, "SPIR-V target", image["target"],
                   {"Physical64": "spir64", "Physical32": "spir"}.get(addressing, image["target"]))
        if image["entry_id"] is None:
            self.equal(where, "SPIR-V kernel count", image["kernel_count"], len(expected))

    # --- zebin ---

    def sections(self, path):
        done = run(self.tools["readelf"], "-S", "-W", "--elf-output-style=JSON", path)
        return [s["Section"] for s in json.loads(done.stdout)[0]["Sections"]]

    def module_of(self, data):
        """The SPIR-V of an OpenCL ELF: its section of type 0xff000009."""
        for s in self.sections(self.scratch("m.elf", data)):
            if s["Type"]["Value"] == 0xff000009:
                return data[s["Offset"]:s["Offset"] + s["Size"]]
        return b""

    def section_bytes(self, path, name):
        """Of `llvm-readelf --hex-dump`."""
        done = run(self.tools["readelf"], "--hex-dump=" + name, path)
        rows = re.findall(r"^0x[0-9a-f]+ ((?:[0-9a-f]{2,8} ){1,4})", done.stdout.decode("latin-1"), re.M)
        return bytes.fromhex("".join(rows).replace(" ", ""))

    def zebin(self, where, image, kernels, data):
        path = self.scratch("m.elf", data)
        sections = self.sections(path)
        names = [s["Name"]["Name"] for s in sections]
        code = [n for n in names if n.startswith(".text.")
                and n != ".text.Intel_Symbol_Table_Void_Program"]
        self.equal(where, "zebin kernels by code section", image["kernel_count"], len(code))
        if ".note.intelgt.compat" in names:
            self.notes(where, image, self.section_bytes(path, ".note.intelgt.compat"))
        self.ze_info(where, kernels, self.section_bytes(path, ".ze_info"))

    def notes(self, where, image, notes):
        at, config = 0, None
        while at < len(notes):
            name_size, size, kind = struct.unpack_from("<III", notes, at)
            data = notes[at + 12 + (name_size + 3 & -4):][:size]
            if kind == 6:
                config, = struct.unpack("<I", data)
            at += 12 + (name_size + 3 & -4) + (size + 3 & -4)
        if config:
            self.equal(where, "zebin IP version", image["ip_version"],
                       f"{config >> 22}.{config >> 14 & 255}.{config & 63}")
        elif image["parent"] is None:
            # the family alone, unless the label that it is packed under names a GPU
            self.equal(where, "zebin without IP version", (image["ip_version"], image["family_only"]),
                       (None, "intel_gpu_" not in (image["entry_id"] or "")))

    def ze_info(self, where, kernels, text):
        import yaml  # PyYAML
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        info = yaml.load(text.rstrip(b"\0"), Loader=loader)
        major, minor = map(int, str(info["version"]).split("."))
        left_out = 0 if (major, minor) >= (1, 50) else None
        expected = []
        for k in info["kernels"] or []:
            env, user = k.get("execution_env", {}), k.get("user_attributes", {})
            # compute-runtime's zebin decoder: a size of one work-item counts for each SIMD lane
            buffers = [b["size"] * (env["simd_size"] if b.get("is_simt_thread") else 1)
                       for b in k.get("per_thread_memory_buffers") or []
                       if b["type"] in ("scratch", "global")]
            expected.append({
                "name": k["name"], "sub_group_size": env.get("simd_size"),
                "required_sub_group_size": user.get("intel_reqd_sub_group_size",
                                                    env.get("required_sub_group_size") or None),
                "registers": env.get("grf_count"), "slm_size": env.get("slm_size", 0),
                "private_size": env.get("private_size", left_out),
                "spill_size": env.get("spill_size", left_out),
                "scratch_size": max(buffers, default=0), "barrier_count": env.get("barrier_count", 0),
                "matrix": bool(env.get("has_dpas"))})
        found = [{**{key: k[key] for key in expected[0] if key != "matrix"},
                  "matrix": "matrix" in (k["features"] or [])} for k in kernels] if expected else []
        self.equal(where, "zebin kernels", found, expected)

    # --- bundles ---

    def bundles(self, path, images):
        """Names of the bundle sections of a relocatable object, as a user lists them (S1-23)."""
        data = path.read_bytes()
        if not data.startswith(b"\x7fELF") or struct.unpack_from("<H", data, 16)[0] != 1:
            return
        done = run(self.tools["bundler"], "--list", "--type=o", f"--input={path}")
        names = done.stdout.decode().split()
        if done.returncode != 0 or not names:
            return
        prefix = "__CLANG_OFFLOAD_BUNDLE__"
        found = {i["section"][len(prefix):] for i in images
                 if (i["section"] or "").startswith(prefix)}
        self.equal(path, "bundle names", sorted(found),
                   sorted(n for n in names if not n.startswith("host-")))

    def image(self, path, record, image, data):
        where = f"{path}: image {image['index']}"
        kernels = [k for k in record["kernels"] if k["image"] == image["index"]]
        if data is None:
            return
        if image["format"] == "spirv" and data.startswith(b"\x7fELF"):
            data = self.module_of(data)
        if image["format"] == "spirv" and data[:4] in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"):
            self.spirv(where, image, kernels, data)
        elif image["format"] == "zebin":
            self.zebin(where, image, kernels, data)

    def file(self, path):
        path, most = Path(path), int(os.environ.get("MODULES", "200"))
        document = self.json("kernels", path)
        for record in document["files"]:
            if record["member"]:
                continue  # of an archive: its offsets are the member's
            damaged = {f["image"] for f in record["findings"]}
            images, whole = record["images"], path.read_bytes()
            self.bundles(path, images)
            portable = [i for i in images if i["format"] == "spirv" and i["parent"] is None]
            step = max(1, len(portable) // most)
            chosen = {i["index"] for i in portable[::step]}
            inflated = {}
            for image in images:
                index, parent = image["index"], image["parent"]
                if parent is not None:
                    at = image["offset_in_parent"]
                    data = inflated[parent] and inflated[parent][at:at + image["size"]]
                else:
                    inflated.clear()  # one at a time: they are large
                    wanted = index in chosen or image["format"] != "spirv"
                    at = image["offset"]
                    data = self.inflate(whole[at:at + image["stored_size"]]) if wanted else None
                    if data is not None and index not in damaged:
                        self.equal(f"{path}: image {index}", "inflated size", image["size"], len(data))
                inflated[index] = data
                if index not in damaged:
                    self.image(path, record, image, data)

    # --- patch tokens ---

    def kernels_by_target(self, path):
        """Of each image its kernels by name; an image alone in its file is for that file's target."""
        record, = self.json("kernels", path)["files"]
        return {(record["images"][k["image"]]["entry_id"], k["name"]): k for k in record["kernels"]}

    def pair(self, old, new):
        """Patch tokens and zebin of one compiler call: what both state is the same."""
        left, right = self.kernels_by_target(old), self.kernels_by_target(new)
        self.equal(old, "kernels as in the zebin", sorted(left, key=str), sorted(right, key=str))
        for key in left.keys() & right.keys():
            told = [f for f in NUMBERS if None not in (left[key][f], right[key][f])]
            self.equal(old, "kernel as in the zebin", {f: left[key][f] for f in told},
                       {f: right[key][f] for f in told})
            self.equal(old, "numbers that the zebin has and the tokens lack",
                       [f for f in NUMBERS if left[key][f] is None and right[key][f] is not None], [])

    def assembled(self):
        for name, text in SPVASM.items():
            source = self.scratch(name + ".spvasm", text.encode())
            module = self.folder / (name + ".spv")
            for version in ("spv1.0", "spv1.4"):
                done = run(self.tools["spirv-as"], "--target-env", version, source, "-o", module)
                if done.returncode != 0:
                    raise SystemExit(done.stderr.decode())
                self.file(module)


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    tools = {}
    for tool, names in TOOLS.items():
        tools[tool] = next(filter(None, map(shutil.which, names)), None)
        if tools[tool] is None:
            print(f"skipped: no {names[0]}")
            return 77
    try:
        import yaml  # noqa: F401  PyYAML
    except ImportError:
        print("skipped: no PyYAML")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        c = Comparison(sys.argv[1], tools, folder)
        files = sys.argv[2:]
        if not files:
            kinds = {".so", ".o", ".ar", ".spv", ".zebin"}
            files = sorted(p for p in FIXTURES.iterdir() if p.suffix in kinds)
            c.assembled()
            for old in sorted(FIXTURES.glob("*.oclelf")):
                if old.with_suffix(".zebin").exists():
                    c.pair(old, old.with_suffix(".zebin"))
            c.pair(FIXTURES / "tokens_fat.ar", FIXTURES / "tokens_zfat.ar")
        for path in files:
            c.file(path)
    for what, count in sorted(c.counts.items()):
        print(f"{count:6} {what}")
    print(f"{c.differences} differences")
    return 1 if c.differences else 0


if __name__ == "__main__":
    sys.exit(main())
