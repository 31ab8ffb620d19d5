#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small writer for the Intel/SYCL fixtures. Sub-commands are used by make-fixtures.sh.

  ipnote IN OUT a.b.c      copy a zebin and add an IntelGT note of type 6 (newer IGC writes it)
  machine IN OUT TYPE MACH copy an ELF with another e_type / e_machine
  zstd IN OUT [LEVEL]      one zstd frame with a content size, no checksum (as the offload wrapper writes)
  cgen SPEC.json OUT.c     C source of a host object with SYCL image structs
  hcf  BC OUT              an AdaptiveCpp HCF text around a bitcode file
  bigobj IN OUT            a COFF object in /bigobj form
  cut IN OUT N | poke IN OUT OFF HEX | cat OUT ALIGN IN...
"""
import json, struct, subprocess, sys


def sections(d):
    shoff, = struct.unpack_from("<Q", d, 40)
    es, n, x = struct.unpack_from("<HHH", d, 58)
    hs = [list(struct.unpack_from("<IIQQQQIIQQ", d, shoff + i * es)) for i in range(n)]
    so = hs[x][4]
    return shoff, es, [(d[so + h[0]:d.index(b"\0", so + h[0])].decode(), h) for h in hs]


def ipnote(src, dst, ip):
    d = bytearray(open(src, "rb").read())
    a, r, v = map(int, ip.split("."))
    note = struct.pack("<III", 8, 4, 6) + b"IntelGT\0" + struct.pack("<I", a << 22 | r << 14 | v)
    shoff, es, ss = sections(d)
    for i, (nm, h) in enumerate(ss):
        if nm == ".note.intelgt.compat":
            body = bytes(d[h[4]:h[4] + h[5]])
            d += b"\0" * (-len(d) % 4)
            h[4], h[5] = len(d), len(body) + len(note)
            d += body + note
            struct.pack_into("<IIQQQQIIQQ", d, shoff + i * es, *h)
    open(dst, "wb").write(d)


def cgen(spec, out):
    s = json.load(open(spec))
    v = s.get("version", 2)
    kind = s.get("kind", 4)
    o = ["#include <stdint.h>", "#include <stddef.h>",
         "struct prop { const char *n; const void *v; uint32_t t; uint64_t z; };",
         "struct pset { const char *n; const struct prop *b, *e; };"]
    if s.get("entry") == "new":
        o.append("struct ent { uint64_t r; uint16_t v, k; uint32_t f; void *a; const char *n; uint64_t z, d; void *x; };")
    else:
        o.append("struct ent { void *a; const char *n; size_t z; int32_t f, r; };")
    man = "const unsigned char *mb, *me; " if v < 3 else ""
    o.append("struct img { uint16_t v; uint8_t k, f; const char *t, *co, *lo; %sconst unsigned char *b, *e; "
             "const struct ent *eb, *ee; const struct pset *pb, *pe; };" % man)
    o.append("struct desc { uint16_t v, n; const struct img *i; const void *hb, *he; };")
    for k, x in enumerate(s.get("loose", [])):
        o.append("static const unsigned char loose%d[] __attribute__((section(\"%s\"), aligned(%d), used)) = {\n#embed \"%s\"\n};"
                 % (k, x["section"], x.get("align", 16), x["file"]))
    rows, tg = [], []
    for k, im in enumerate(s.get("images", [])):
        sec = im.get("section", "__CLANG_OFFLOAD_BUNDLE__sycl-" + im["target"])
        o.append("static const unsigned char d%d[] __attribute__((section(\"%s\"), aligned(16), used)) = {\n#embed \"%s\"\n};"
                 % (k, sec, im["file"]))
        ents = im.get("entries", [])
        if ents:
            f = "{0,1,8,0,0,\"%s\",0,0,0}" if s.get("entry") == "new" else "{0,\"%s\",0,0,0}"
            o.append("static const struct ent e%d[] = {%s};" % (k, ",".join(f % e for e in ents)))
        sets = []
        for j, (name, ps) in enumerate(im.get("props", {}).items()):
            init = []
            for q, (pn, pv) in enumerate(ps.items()):
                if isinstance(pv, int):
                    init.append("{\"%s\",0,1,%dull}" % (pn, pv))
                else:
                    raw = b"".join(struct.pack("<I", w) for w in pv)
                    raw = struct.pack("<Q", len(raw) * 8) + raw
                    o.append("static const unsigned char p%d_%d_%d[] = {%s};" % (k, j, q, ",".join(map(str, raw))))
                    init.append("{\"%s\",p%d_%d_%d,2,%d}" % (pn, k, j, q, len(raw)))
            o.append("static const struct prop q%d_%d[] = {%s};" % (k, j, ",".join(init)))
            sets.append("{\"%s\",q%d_%d,q%d_%d+%d}" % (name, k, j, k, j, len(init)))
        if sets:
            o.append("static const struct pset s%d[] = {%s};" % (k, ",".join(sets)))
        rows.append("{%d,%d,%d,\"%s\",\"%s\",\"%s\",%sd%d,d%d+sizeof d%d,%s,%s}" % (
            v, kind, im.get("format", 0), im["target"], im.get("copts", ""), im.get("lopts", ""),
            "0,0," if v < 3 else "", k, k, k,
            "e%d,e%d+%d" % (k, k, len(ents)) if ents else "0,0",
            "s%d,s%d+%d" % (k, k, len(sets)) if sets else "0,0"))
        tg.append("{d%d,%s}" % (k, im.get("rawsize", "sizeof d%d" % k)))
    if rows:
        o.append("static const struct img imgs[] = {%s};" % ",\n".join(rows))
        o.append("static const struct desc sycl_descriptor __asm__(\".sycl_offloading.descriptor\") "
                 "__attribute__((used)) = {1,%s,imgs,0,0};" % s.get("count", len(rows)))
        if s.get("tgtimg", True):
            for k, t in enumerate(tg):
                o.append("static const struct { const void *a; uintptr_t z; } g%d __attribute__((section(\".tgtimg\"), "
                         "aligned(16), used)) = %s;" % (k, t))
        if s.get("ctor"):
            o.append("void __sycl_register_lib(const struct desc *);\n__attribute__((constructor)) static void reg(void) "
                     "{ __sycl_register_lib(&sycl_descriptor); }")
    o.append("int devimg_fixture_%s(void) { return 1; }" % s.get("name", "x"))
    open(out, "w").write("\n".join(o) + "\n")


def bigobj(src, dst):
    """Rewrite a COFF object with the 56-byte anonymous header and 20-byte symbols."""
    d = open(src, "rb").read()
    mach, n, ts, st, ns, oh, ch = struct.unpack_from("<HHIIIHH", d, 0)
    shift = 36
    h = struct.pack("<HHHHI", 0, 0xffff, 2, mach, ts) + bytes.fromhex("c7a1bad1eebaa94baf20faf66aa4dcb8")
    h += struct.pack("<IIIIIII", 0, 0, 0, 0, n, st + shift, ns)
    secs = b""
    for i in range(n):
        x = bytearray(d[20 + 40 * i:60 + 40 * i])
        for o in (20, 24, 28):
            v, = struct.unpack_from("<I", x, o)
            struct.pack_into("<I", x, o, v + shift if v else 0)
        secs += x
    syms, i = b"", 0
    while i < ns:
        x = d[st + 18 * i:st + 18 * i + 18]
        syms += x[:12] + struct.pack("<i", struct.unpack_from("<h", x, 12)[0]) + x[14:18]
        for _ in range(x[17]):
            i += 1
            syms += d[st + 18 * i:st + 18 * i + 18] + b"\0\0"
        i += 1
    open(dst, "wb").write(h + secs + d[20 + 40 * n:st] + syms + d[st + 18 * ns:])


def hcf(bc, out):
    b = open(bc, "rb").read()
    t = ("object-id=4711\ngenerator=hipSYCL SSCP\n{.images\n{.llvm-ir.global\nvariant=global-module\nformat=llvm-ir\n"
         "{.__binary\nstart=0\nsize=%d\n}.__binary\n{.exported-symbols\n}.exported-symbols\n{.imported-symbols\n"
         "}.imported-symbols\n}.llvm-ir.global\n}.images\n{.kernels\n{.axpy_kernel\n{.image-providers\n{.llvm-ir.global\n"
         "}.llvm-ir.global\n}.image-providers\n{.compile-flags\n}.compile-flags\n{.compile-options\n}.compile-options\n"
         "{.parameters\n{.0\nbyte-offset=0\nbyte-size=8\noriginal-index=0\ntype=pointer\n{.annotations\n}.annotations\n}.0\n"
         "}.parameters\n}.axpy_kernel\n}.kernels\n__acpp_hcf_binary_appendix" % len(b))
    open(out, "wb").write(t.encode() + b)


def main(a):
    c = a[0]
    rd = lambda f: open(f, "rb").read()
    if c == "ipnote":
        ipnote(a[1], a[2], a[3])
    elif c == "machine":
        d = bytearray(rd(a[1]))
        struct.pack_into("<HH", d, 16, int(a[3], 0), int(a[4], 0))
        open(a[2], "wb").write(d)
    elif c == "zstd":
        with open(a[1], "rb") as f:     # a regular file on stdin keeps the content size in the header
            z = subprocess.run(["zstd", "-q", "-c", "--no-check", "-%s" % (a[3] if len(a) > 3 else 19), a[1]],
                               stdout=subprocess.PIPE, check=True).stdout
        open(a[2], "wb").write(z)
    elif c == "cgen":
        cgen(a[1], a[2])
    elif c == "bigobj":
        bigobj(a[1], a[2])
    elif c == "hcf":
        hcf(a[1], a[2])
    elif c == "cut":
        open(a[2], "wb").write(rd(a[1])[:int(a[3], 0)])
    elif c == "poke":
        d = bytearray(rd(a[1]))
        x = bytes.fromhex(a[4])
        o = int(a[3], 0)
        o += len(d) if o < 0 else 0
        d[o:o + len(x)] = x
        open(a[2], "wb").write(d)
    elif c == "cat":
        out = b""
        for f in a[3:]:
            out += b"\0" * (-len(out) % int(a[2])) + rd(f)
        open(a[1], "wb").write(out)
    elif c == "find":
        print(rd(a[1]).find(bytes.fromhex(a[2]), int(a[3], 0) if len(a) > 3 else 0))
    else:
        raise SystemExit("unknown sub-command " + c)


main(sys.argv[1:])
