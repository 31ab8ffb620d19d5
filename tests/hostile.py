# SPDX-License-Identifier: Apache-2.0
"""What files and programs made to do harm must not do: hang devimg, outlive it, grow its memory or
its output with a product of what they hold, or pass for read. Run by tests/run.py."""
import json
import os
import select
import signal
import struct
import subprocess

SECONDS = 20  # an answer in seconds, also under ASan on a busy machine


def words(*numbers):
    return struct.pack("<%dI" % len(numbers), *numbers)


def elf(sections, names_index=None):
    """A relocatable ELF64 for x86-64. sections: (name, type, bytes, link, entry size); equal bytes are stored once."""
    names, body, headers, stored = bytearray(1), bytearray(64), [bytes(64)], {}
    for name, kind, data, link, entry in [*sections, (".shstrtab", 3, None, 0, 0)]:
        at = names.find(b"\0" + name.encode() + b"\0") + 1
        if at == 0:
            at = len(names)
            names += name.encode() + b"\0"
        data = bytes(names) if data is None else data
        if data not in stored:
            body += bytes(-len(body) % 16)
            stored[data] = len(body)
            body += data
        headers.append(struct.pack("<2I4Q2I2Q", at, kind, 0, 0, stored[data], len(data), link, 1 if kind == 2 else 0,
                                   16, entry))
    body += bytes(-len(body) % 16)
    index = len(headers) - 1 if names_index is None else names_index
    body[:64] = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<2HI3QI6H", 1, 62, 1, 0, 0, len(body), 0, 64, 0, 0, 64,
                                                            len(headers), index)
    return bytes(body) + b"".join(headers)


def packed(images, target="spir64"):
    """Images one after another in the section of a target, as the linker lays them out."""
    data = b"".join(image + bytes(-len(image) % 16) for image in images[:-1]) + images[-1]
    return elf([("__CLANG_OFFLOAD_BUNDLE__sycl-" + target, 1, data, 0, 0)])


def text(name):
    """A SPIR-V text operand (specification, 2.2.1): NUL-ended, in whole words."""
    return name.encode() + bytes(4 - len(name) % 4)


def instruction(opcode, *operands):
    body = b"".join(o if isinstance(o, bytes) else words(o) for o in operands)
    return words((len(body) // 4 + 1) << 16 | opcode) + body


def spirv(kernels, before=b""):
    """SPIR-V 1.2 with OpCapability Addresses, Kernel; OpMemoryModel Physical64 OpenCL; OpEntryPoint Kernel."""
    return (words(0x07230203, 0x10200, 0, 100, 0) + instruction(17, 4) + instruction(17, 6) + before +
            instruction(14, 2, 2) + b"".join(instruction(15, 6, 10 + i, text(k)) for i, k in enumerate(kernels)))


class Bits:
    """A bitstream of LLVM (llvm.org/docs/BitCodeFormat.html), from the lowest bit on."""

    def __init__(self):
        self.value = self.count = 0

    def fixed(self, value, width):
        self.value |= value << self.count
        self.count += width

    def vbr(self, value, width):
        while value >> (width - 1):
            self.fixed(value & ((1 << (width - 1)) - 1) | 1 << (width - 1), width)
            value >>= width - 1
        self.fixed(value, width)

    def words(self):
        return self.value.to_bytes((self.count + 31) // 32 * 4, "little")


def block(kind, body):
    """ENTER_SUBBLOCK (1), the block's id, abbreviations of 2 bits inside, its length in words."""
    b = Bits()
    b.fixed(1, 2)
    b.vbr(kind, 8)
    b.vbr(2, 4)
    return b.words() + words(len(body) // 4) + body


def bitcode(triple):
    """Identification (13), a module (8) whose record 2 is the triple, a string table (23)."""
    b = Bits()
    b.fixed(3, 2)  # UNABBREV_RECORD
    b.vbr(2, 6)
    b.vbr(len(triple), 6)
    for letter in triple.encode():
        b.vbr(letter, 6)
    b.fixed(0, 2)  # END_BLOCK
    return b"BC\xc0\xde" + block(13, words(0)) + block(8, b.words()) + block(23, words(0, 0))


def clang_bundle(entries):
    """clang/docs/ClangOffloadBundler.rst: magic, count, then offset, size, size of the id, id of each."""
    at = 32 + sum(24 + len(i) for i, _ in entries)
    head, body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)), b""
    for name, image in entries:
        head += struct.pack("<3Q", at + len(body), len(image), len(name)) + name.encode()
        body += image
    return head + body


def hcf(images, kernels=()):
    """AdaptiveCpp doc/hcf.md. images: (name, bytes); each kernel is in the first of them."""
    node = lambda name, *inside: "{.%s\n%s}.%s\n" % (name, "".join(inside), name)
    at, listed = 0, ""
    for name, data in images:
        listed += node(name, "format=llvm-ir\n", node("__binary", "start=%d\nsize=%d\n" % (at, len(data))))
        at += len(data)
    owned = "".join(node(k, node("image-providers", node(images[0][0]))) for k in kernels)
    head = "object-id=1\n" + node("images", listed) + node("kernels", owned)
    return head.encode() + b"__acpp_hcf_binary_appendix" + b"".join(data for _, data in images)


def offload_binary(triple, image):
    """LLVM OffloadBinary, version 1: header, one entry, one text "triple"."""
    at = 32 + 40 + 16
    key, value, code = at, at + 7, (at + 7 + len(triple) + 1 + 7) // 8 * 8
    body = bytearray(code) + image
    body[:32] = b"\x10\xff\x10\xad" + struct.pack("<I3Q", 1, len(body), 32, 40)
    body[32:72] = struct.pack("<2HI4Q", 3, 1, 0, 72, 1, code, len(image))
    body[72:88] = struct.pack("<2Q", key, value)
    body[key:value + len(triple) + 1] = b"triple\0" + triple.encode() + b"\0"
    return bytes(body)


class Hostile:
    def __init__(self, build, data, folder):
        self.build, self.data, self.folder = build, data, folder

    def say(self, good, name, *shown):
        self.build.say(good, "hostile: " + name,
                       "\n".join(s.decode(errors="replace") if isinstance(s, bytes) else str(s) for s in shown))

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def script(self, name, text):
        path = self.file(name, text.encode())
        os.chmod(path, 0o755)
        return path

    def devimg(self, *args, **more):
        return self.build.devimg(*args, **{"seconds": SECONDS, **more})

    # --- programs ---

    def interrupted(self, what, number, *args):
        """A signal ends devimg as it would without a child, and the child first: it alone holds the
        pipe's other end then."""
        ours, theirs = os.pipe()
        p = subprocess.Popen([self.build.program, *args], pass_fds=[theirs], env={**self.build.env, "HELD": str(theirs)},
                             cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        os.close(theirs)
        started = select.select([ours], [], [], SECONDS)[0] and os.read(ours, 1)
        p.send_signal(number)
        try:
            _, err = p.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            p.kill()
            _, err = p.communicate()
        gone = select.select([ours], [], [], SECONDS)[0] and os.read(ours, 1) == b""
        os.close(ours)
        self.say(started and gone and p.returncode == -number, "%s, %s: the child ends too" % (what, number.name),
                 "started %r, gone %r, exit %s" % (started, gone, p.returncode), err)

    def programs(self):
        slow = self.script("slow", "#!/bin/sh\nprintf x >/dev/fd/$HELD\nexec sleep 60\n")
        image = os.path.join(self.data, "intel", "lib_aot.so")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.interrupted("sycl detect", number, "sycl", "detect", "--sycl-ls", slow)
        self.interrupted("sycl targets", signal.SIGINT, "sycl", "targets", "dg2-g10", "--ocloc", slow)
        self.interrupted("sycl doctor", signal.SIGINT, "sycl", "doctor", "--ocloc", slow)
        self.interrupted("check", signal.SIGINT, "check", "--targets", "dg2-g10", "--ocloc", slow, image)

    # --- limits and sizes ---

    def listed(self, path, *args):
        """(exit status, the record) of `list --format json`."""
        status, out, err = self.devimg("list", path, "--format", "json", *args)
        try:
            return status, json.loads(out)["files"][0]
        except (ValueError, LookupError):
            return status, {"images": [], "findings": [], "error": (out + err).decode(errors="replace")}

    def kernels_of_the_file(self):
        """--max-kernels: "most kernels of one file", however they spread over images and containers."""
        ten = ["k%d" % i for i in range(10)]
        code = self.file("kernels.o", packed([spirv(ten)] * 3))
        member = elf([(".rodata", 1, hcf([("i", bitcode("spir64"))], ten), 0, 0)])
        names = self.file("names.a", b"!<arch>\n" + b"".join(
            b"%-16s%-12d%-6d%-6d%-8d%-10d`\n" % (b"%d.o/" % i, 0, 0, 0, 644, len(member)) + member for i in range(3)))
        for path in (code, names):
            for command in ("list", "kernels"):
                for most, expected in (("10", 3), ("29", 3), ("30", 0)):
                    status, out, err = self.devimg(command, path, "--max-kernels", most)
                    good = status == expected and (status == 0 or b"max-kernels" in out + err)
                    self.say(good, "%s %s: 30 kernels, %s allowed" % (command, os.path.basename(path), most),
                             "exit %s" % status, out, err)

    def long_names(self):
        """No name of a file is kept whatever its length: each is a finding, and the rest is shown."""
        good, label, name = spirv(["k"]), "x" * 4097, "k" * 65537
        module = bitcode("spir64")
        for what, data, left in (
                ("bundle entry id", clang_bundle([("sycl-" + label, good), ("sycl-spir64", good)]), 1),
                ("bundle entry id", clang_bundle([("hip-x--gfx" + label, good), ("sycl-spir64", good)]), 1),
                ("offload text", offload_binary(label, good) + offload_binary("spir64", good), 1),
                ("HCF image name", hcf([("i" + label, module), ("j", module)]), 1),
                ("HCF kernel name", hcf([("i", module)], [name]), 1),
                ("extension name", spirv(["k"], instruction(10, text(label))), 1),
                ("kernel name", spirv([name]), 1),
                ("capabilities", spirv(["k"], instruction(17, 5) * 5000), 1)):
            status, r = self.listed(self.file("long", data))
            said = [f for f in r["findings"] if what in f["message"]]
            self.say(status == 1 and said and len(r["images"]) == left and len(json.dumps(r)) < 20000,
                     "a long %s" % what, status, len(r["images"]), json.dumps(r["findings"])[:1000], r.get("error"))
        for data in (clang_bundle([("sycl-" + label[:4000], good)]), spirv([name[:65536]])):
            status, r = self.listed(self.file("long", data))
            self.say(not r["findings"] and len(r["images"]) == 1, "one that is not too long", status, r["findings"])

    def products(self):
        """Time and output do not grow with a product of what a file holds."""
        count = 40000
        path = self.file("lto.o", elf([(".strtab", 3, b"\0x\0", 0, 0), (".symtab", 2, bytes(24 * count), 1, 24)] +
                                      [(".gnu.lto_.opts", 1, b"x", 0, 0)] * count))
        status, _, err = self.devimg("list", path, seconds=10)
        self.say(status == 0, "40,000 sections of GCC's options, and as many symbols", status, err)
        good = spirv(["k"])
        path = self.file("wide", clang_bundle([("sycl-" + "w" * 4000, good)] + [("sycl-x", good)] * 1000))
        for args in (["--images"], []):
            status, out, err = self.devimg("list", path, *args)
            self.say(status == 0 and (not args or b"w" * 4000 in out) and len(out) < 400000,
                     "one id of 4,000 letters does not pad 1,000 rows %s" % args, status, len(out), err)
        path = self.file("tag.yaml", b"".join(b"%%TAG !t%d! x:\n" % i for i in range(14000)) + b"---\nversion: 1\n")
        status, out, err = self.devimg("check", "--policy", path, self.file("k.spv", good), seconds=5)
        self.say(status == 2 and b"%TAG" in err, "14,000 %TAG lines in a policy", status, out, err)

    # --- what must not be missed ---

    def behind_bitcode(self):
        """A module ends with its blocks: what stands behind it is an image of its own."""
        one, other, code = bitcode("spir64-unknown-unknown"), bitcode("spir64"), spirv(["k"])
        wrapper = words(0x0b17c0de, 0, 20, len(one), 0) + one
        for name, parts in (("a finished image", [one, code]), ("modules", [one, other, one]),
                            ("a wrapped module, and others", [wrapper, code, other]), ("a frame", [other, wrapper, code])):
            status, r = self.listed(self.file("b.o", packed(parts)))
            expected = [("spirv" if p is code else "bitcode", len(p)) for p in parts]
            self.say(status == 0 and [(i["format"], i["size"]) for i in r["images"]] == expected,
                     "behind bitcode: " + name, status, expected, r["images"], r["findings"])
        status, r = self.listed(self.file("two.bc", one + bytes(8) + other))
        self.say(status == 0 and [i["size"] for i in r["images"]] == [len(one), len(other)], "two loose modules", status,
                 r["images"], r["findings"])
        for name, data, said in (("cut", one[:-4], "are there"), ("a wrapper past the end", wrapper[:-1], "wrapped bitcode"),
                                 ("a wrapper of nothing", words(0x0b17c0de, 0, 0, 0, 0), "expected +20"),
                                 ("a cut wrapper", words(0x0b17c0de, 0, 0), "bitcode wrapper"),
                                 ("a wrapper of what is no bitcode", words(0x0b17c0de, 0, 20, 8, 0) + bytes(8), "no stream")):
            status, r = self.listed(self.file("cut.o", packed([code, data])))
            self.say(status == 1 and said in json.dumps(r["findings"]) and len(r["images"]) == 1, "bitcode: " + name,
                     status, r["images"], r["findings"])
        status, r = self.listed(self.file("in", clang_bundle([("sycl-spir64", one + other), ("sycl-spir64", one + b"abcd")])))
        self.say(status == 1 and "a second module" in json.dumps(r["findings"]) and "no block" in json.dumps(r["findings"]),
                 "an image holds one module", status, r["findings"])

    def first_line(self):
        """What holds for one kind of offloading is not said of another."""
        section = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64"
        path = self.file("mixed.o", elf([(section, 1, spirv(["k"]), 0, 0),
                                         (".rodata", 1, hcf([("i", bitcode("spir64"))], ["a"]), 0, 0)]))
        _, out, err = self.devimg("list", "-q", path)
        self.say(out.decode().partition(": ")[2] ==
                 "SYCL device code as SPIR-V only: compiled by the driver at first use; AdaptiveCpp device code as LLVM "
                 "bitcode only: compiled by AdaptiveCpp's runtime at first use\n", "first line of a mixed file", out, err)

        damaged = self.file("d", clang_bundle([("sycl-" + "x" * 5000, spirv(["k"]))]))
        self.build.run(["zstd", "-q", "-f", damaged, "-o", damaged + ".zst"])
        with open(damaged + ".zst", "rb") as f:
            _, out, err = self.devimg("list", "-q", self.file("d.o", packed([f.read()])))
        self.say(b"of which no image was read; a part is damaged" in out, "first line of an archive not read", out, err)

    def nameless_sections(self):
        code = [("__CLANG_OFFLOAD_BUNDLE__sycl-spir64", 1, spirv(["k"]), 0, 0)]
        for name, index, expected in (("named", None, 0), ("without names", 0, 1), ("names in no section", 77, 1)):
            status, r = self.listed(self.file("n.o", elf(code, index)))
            self.say(status == expected and bool(r["findings"]) == bool(expected), "sections " + name, status, r["findings"])

        with open(os.path.join(self.data, "intel", "basic_dg2-g10.zebin"), "rb") as f:
            zebin = f.read()
        status, r = self.listed(self.file("n.zebin", zebin[:62] + bytes(2) + zebin[64:]))  # e_shstrndx
        self.say(status == 1 and "without names" in json.dumps(r["findings"]), "zebin sections without names", status, r)

    def responses(self):
        """Response files as LLVM takes them (UTF-8 and UTF-16, with a mark): their words are judged; others are said
        to be unreadable."""
        line = "-fsycl-targets=spir64_gen -fsycl \u00e9\U0001f600\n"
        for name, data, said in (
                ("plain", line.encode(), "no-fallback"), ("UTF-8 with a mark", b"\xef\xbb\xbf" + line.encode(), "no-fallback"),
                ("UTF-16, little-endian", b"\xff\xfe" + line.encode("utf-16-le"), "no-fallback"),
                ("UTF-16, big-endian", b"\xfe\xff" + line.encode("utf-16-be"), "no-fallback"),
                ("UTF-16 with half a pair", b"\xff\xfe" + line[:20].encode("utf-16-le") + b"\0\xd8", "unreadable"),
                ("with a NUL", b"-fsycl\0 -fsycl-targets=spir64_gen", "unreadable"),
                ("UTF-16 with a NUL", b"\xff\xfe" + "-fsycl\0 -O1".encode("utf-16-le"), "unreadable")):
            self.file("r.rsp", data)
            commands = [{"directory": self.folder, "file": "a.cpp", "arguments": ["icpx", "-c", "a.cpp", "@r.rsp"]}]
            path = self.file("c.json", json.dumps(commands).encode())
            status, out, err = self.devimg("sycl", "flags", "--lint", path)
            self.say(("[%s]" % said).encode() in out and (said != "unreadable" or status == 1), "response file, " + name,
                     status, out, err)
        commands = []
        for folder, target in (("one", "spir64_gen"), ("two", "spir64"), ("one", "spir64_gen")) * 3:
            os.makedirs(self.path(folder), exist_ok=True)
            self.file(os.path.join(folder, "r.rsp"), b"-fsycl -fsycl-targets=" + target.encode())
            commands.append({"directory": self.path(folder), "file": "%d.cpp" % len(commands), "command": "icpx -c @r.rsp"})
        status, out, err = self.devimg("sycl", "flags", "--lint", self.file("c.json", json.dumps(commands).encode()), "-v")
        lines = [l.split()[2].rstrip(":") for l in out.decode().splitlines() if "[no-fallback]" in l]
        self.say(lines == ["%d.cpp" % i for i in range(9) if i % 3 != 1], "response files of one name in two folders", status,
                 lines, out, err)

    def all(self):
        self.programs()
        self.kernels_of_the_file()
        self.long_names()
        self.products()
        self.behind_bitcode()
        self.first_line()
        self.nameless_sections()
        self.responses()
