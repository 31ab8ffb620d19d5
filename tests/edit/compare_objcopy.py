#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that `devimg extract` writes against the bytes that other tools take out of the same files.

    compare_objcopy.py DEVIMG [FILE...]

Judges: llvm-objcopy --dump-section (what a section holds), the zstd program (frames), the ar reader
of tests/independent (members), clang-offload-bundler --unbundle (bundles). Which images there are,
and where, says tests/independent/sycl_facts.py. `devimg list` on an extracted file must show the
image that it was.

Without FILE: the fixtures of tests/data/intel, and bundles made here.
Exit status: 0 all equal, 1 a difference (printed), 77 a tool is missing.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "independent"))
import sycl_facts  # noqa: E402

TOOLS = {"objcopy": ("llvm-objcopy-19", "llvm-objcopy"),
         "readobj": ("llvm-readobj-19", "llvm-readobj"),
         "bundler": ("clang-offload-bundler-19", "clang-offload-bundler"), "zstd": ("zstd",)}
FIXTURES = TESTS / "data/intel"
EXTENSIONS = {"zebin": "zebin", "spirv": "spv", "bitcode": "bc", "archive": "ar",
              "patchtoken": "patchtoken", "unknown": "bin"}
LISTED = 40  # files of one input that `devimg list` is asked about


def run(*argv, stdin=None):
    return subprocess.run([str(a) for a in argv], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def in_file_order(images):
    """The reader's order is that of descriptors; parents are counted anew."""
    top = lambda i: i if images[i]["parent"] is None else top(images[i]["parent"])
    order = sorted(range(len(images)), key=lambda i: (images[top(i)]["offset"], i))
    at = {old: new for new, old in enumerate(order)}
    return [dict(images[i], parent=at.get(images[i]["parent"])) for i in order]


class Comparison:
    def __init__(self, devimg, tools, folder):
        self.devimg, self.tools, self.folder = devimg, tools, Path(folder)
        self.differences = self.equal_count = 0

    def equal(self, where, found, expected):
        if found == expected:
            self.equal_count += 1
            return
        self.differences += 1
        show = lambda v: "%d bytes" % len(v) if isinstance(v, bytes) and len(v) > 200 else repr(v)
        print("%s: devimg %s, expected %s" % (where, show(found), show(expected)))

    # --- expected bytes -------------------------------------------------------------------------

    def sections(self, path):
        """{name: (offset, bytes)} as llvm-readobj and llvm-objcopy see them; first of a name."""
        text = run(self.tools["readobj"], "--sections", "--elf-output-style=GNU", path).stdout
        out = {}
        for name, offset in re.findall(r"\] (\S+) +[A-Z]\S* +[0-9a-f]+ ([0-9a-f]+) ", text.decode()):
            if name.startswith("__CLANG_OFFLOAD_BUNDLE__") and name not in out:
                dump = self.folder / "dump"
                run(self.tools["objcopy"], "--dump-section", "%s=%s" % (name, dump), path,
                    "/dev/null")
                out[name] = (int(offset, 16), dump.read_bytes())
        return out

    def stored(self, path, whole, sections, image):
        """The bytes of a stored image, out of the dump of its section where it is in one."""
        offset, size = image["offset"], image["stored_size"]
        if image.get("section") in sections:
            start, dump = sections[image["section"]]
            if 0 <= offset - start and offset - start + size <= len(dump):
                return dump[offset - start:][:size]
        return whole[offset:][:size]

    def inflated(self, stored, image):
        if image["compression"] == "none":
            return stored
        return run(self.tools["zstd"], "-dcq", stdin=stored).stdout

    # --- files ----------------------------------------------------------------------------------

    def extract(self, path, *options):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        p = run(self.devimg, "extract", path, "-o", out, "--format", "json", *options)
        files = {f.name: f.read_bytes() for f in out.iterdir()} if out.exists() else {}
        said = [e for r in json.loads(p.stdout)["files"] for e in r["extracted"]]
        where = "%s %s" % (path, " ".join(options))
        self.equal(where + ": exit status", p.returncode, 0)
        self.equal(where + ": names and sizes", {e["name"]: e["size"] for e in said},
                   {n: len(b) for n, b in files.items()})
        return files

    def by_index(self, where, path, files, extensions):
        """The files by the index in their names, which must be made of what is known."""
        out = {}
        for name, data in files.items():
            m = re.fullmatch(re.escape(Path(path).name) + r"\.(\d{4})\.[A-Za-z0-9_+-]+\.(.*)", name)
            self.equal("%s: %s has a name" % (where, name), bool(m), True)
            if m:
                index = int(m[1])
                self.equal("%s: %s" % (where, name), m[2], extensions.get(index))
                out[index] = data
        return out

    def listed(self, where, data, image, name):
        path = self.folder / name
        path.write_bytes(data)
        p = run(self.devimg, "list", path, "--format", "json")
        path.unlink()
        images = json.loads(p.stdout)["files"][0]["images"]
        self.equal(where + ": list exits", p.returncode, 0)
        top = images[0] if images else {}
        self.equal(where + ": list shows", (top.get("format"), top.get("size")),
                   (image["format"], image["size"]))
        if image["format"] == "zebin" and image.get("bundle") != "ocloc":
            self.equal(where + ": IP version", top.get("ip_version"), image["ip_version"])

    def file(self, path):
        where, whole = Path(path).name, Path(path).read_bytes()
        images = in_file_order(sycl_facts.Reader("none").read(path)["images"])
        sections = self.sections(path)
        parents = {i["parent"] for i in images}
        stored, bodies = {}, {}
        for i, image in enumerate(images):
            if image["parent"] is None:
                stored[i] = self.stored(path, whole, sections, image)
                bodies[i] = self.inflated(stored[i], image)
            else:
                at = image["offset_in_parent"]
                bodies[i] = bodies[image["parent"]][at:at + image["size"]]
        tops = sorted(stored)
        ext = {i: "elf" if "wrapped_size" in im else EXTENSIONS[im["format"]]
               for i, im in enumerate(images)}
        packed = {i: ext[i] + (".zst" if images[i]["compression"] == "zstd" else "") for i in tops}
        # Images without a stated target are named by their label; a frame nobody inflated by it.
        leaves = [i for i in range(len(images)) if i not in parents]
        for options, expected, names in (
                ((), {i: bodies[i] for i in leaves}, ext),
                (("--archives",), {i: bodies[i] for i in tops}, ext),
                (("--stored",), stored, packed)):
            what = "%s %s" % (where, " ".join(options))
            files = self.extract(path, *options)
            found = self.by_index(what, path, files, names)
            self.equal(what + ": images", sorted(found), sorted(expected))
            for i, data in found.items():
                self.equal("%s: image %d" % (what, i), data, expected.get(i))
                # bitcode of no device's triple is the host's when it stands alone, and a table of
                # host addresses is nothing
                if not options and i in leaves[:LISTED] and images[i]["format"] != "unknown" and (
                        images[i]["format"] != "bitcode" or b"spir64" in data):
                    self.listed("%s: image %d" % (what, i), data, images[i], "listed.bin")

    # --- bundles --------------------------------------------------------------------------------

    def bundles(self):
        """Bundles, plain and in an object, as clang-offload-bundler makes and takes them apart."""
        host = "host-x86_64-unknown-linux-gnu-"
        inputs = {"openmp-spir64-unknown-unknown-": FIXTURES / "basic.spv",
                  "openmp-spir64-intel-unknown-": FIXTURES / "empty.spv",
                  "hip-spirv64-amd-amdhsa--": FIXTURES / "basic_dg2-g10.zebin",
                  "openmp-spirv64-intel-unknown-": FIXTURES / "zfat_basic.ar"}
        for kind, host_file in (("bc", FIXTURES / "basic.spv"), ("o", TESTS / "data/host/empty.o")):
            bundle, taken = self.folder / ("made." + kind), []
            p = run(self.tools["bundler"], "-type=" + kind, "-targets=" + ",".join([host, *inputs]),
                    *["-input=%s" % i for i in (host_file, *inputs.values())],
                    "-output=%s" % bundle)
            self.equal("clang-offload-bundler made " + bundle.name, (p.returncode, p.stderr), (0, b""))
            for target in inputs:
                to = self.folder / "unbundled"
                p = run(self.tools["bundler"], "-type=" + kind, "-unbundle", "-targets=" + target,
                        "-input=%s" % bundle, "-output=%s" % to)
                self.equal("%s: %s is unbundled" % (bundle.name, target), p.returncode, 0)
                taken.append(to.read_bytes())
            files = self.extract(bundle, "--archives")
            self.equal(bundle.name + ": as unbundled", sorted(files.values()), sorted(taken))


def main():
    tools = {k: next((p for n in names if (p := shutil.which(n))), None)
             for k, names in TOOLS.items()}
    missing = [TOOLS[k][0] for k, path in tools.items() if path is None]
    if missing:
        print("compare_objcopy.py: skipped, not installed: " + " ".join(missing))
        return 77
    with tempfile.TemporaryDirectory() as folder:
        c = Comparison(sys.argv[1], tools, folder)
        if sys.argv[2:]:
            for path in sys.argv[2:]:
                c.file(path)
        else:
            with open(TESTS / "facts_intel.json", encoding="utf-8") as f:
                names = sorted(json.load(f))
            for name in names:
                c.file(FIXTURES / name)
            c.bundles()
        print("%d equal, %d differ" % (c.equal_count, c.differences))
        return 1 if c.differences else 0


if __name__ == "__main__":
    sys.exit(main())
