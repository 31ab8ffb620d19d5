#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`devimg extract` where names, folders and disks are against it.

    hostile_extract.py DEVIMG

Nothing outside the folder is touched, nothing that is there is lost, nothing half-written stays,
and the exit status says so. Exit status: 0 all held, 1 something did not (printed).
"""
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

INTEL = Path(__file__).resolve().parent.parent / "data/intel"
HEAD = "%-16s%-12d%-6d%-6d%-8d%-10d`\n"
results = {"held": 0, "failed": 0}


def hold(good, what, text=""):
    results["held" if good else "failed"] += 1
    if not good:
        print("FAILED %s\n    %s" % (what, str(text).strip().replace("\n", "\n    ")))


def run(devimg, *args, **more):
    return subprocess.run([devimg, "extract", *map(str, args)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False,
                          **more)


def tree(folder):
    """Everything under a folder: what it is, and what it holds."""
    out = {}
    for path in sorted(Path(folder).rglob("*")):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else \
            "file" if path.is_file() else "other"
        out[str(path.relative_to(folder))] = (kind, path.read_bytes() if kind == "file" else b"")
    return out


def archive(path, members):
    """A static library; names that do not fit in a header go into its name table, as GNU ar does."""
    table, rows = b"", b""
    for name, data in members:
        short = len(name) < 15 and b"/" not in name
        if not short:
            at, table = len(table), table + name + b"/\n"
        head = (HEAD % ("@", 0, 0, 0, 0o644, len(data))).encode()
        head = (name + b"/" if short else b"/%d" % at).ljust(16) + head[16:]
        rows += head + data + b"\n" * (len(data) % 2)
    table += b"\n" * (len(table) % 2)
    names = (HEAD % ("//", 0, 0, 0, 0, len(table))).encode() + table if table else b""
    path.write_bytes(b"!<arch>\n" + names + rows)


def member_names(devimg, t):
    """Names that would lead out of the folder, steer a terminal, or be too long."""
    spv = (INTEL / "basic.spv").read_bytes()
    names = [b"../../x", b"/etc/passwd", b"..", b".", b"a\nb\x1b[2J\x07", b"-rf", b"x" * 4000,
             b"x" * 4000 + b"y", b"same.o", b"same.o", b"sub/same.o", b"\xff\xfe.o", b"a b.o",
             b"$(touch gone)", b".devimg-00000000", b"CON"]
    archive(t / "lib.a", [(n, spv) for n in names])
    (t / "in").mkdir()
    before = tree(t)
    p = run(devimg, t / "lib.a", "-o", "out", "--format", "json", cwd=t / "in")
    after = tree(t)
    written = {n for n in after if n not in before}
    files = sorted(n for n in written if n != "in/out")
    hold(p.returncode == 0 and len(files) == len(names), "members: all written",
         "exit %s, %s %s" % (p.returncode, files, p.stderr.decode(errors="replace")))
    hold(all(n.startswith("in/out/") and n.count("/") == 2 for n in files), "members: in the folder",
         files)
    plain = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-@~")
    for n in map(os.path.basename, files):
        hold(set(os.fsencode(n)) <= plain and n[0] not in ".-" and len(n) < 200, "members: name", n)
    hold(all(after[n] == ("file", spv) for n in files), "members: content")
    hold({n: v for n, v in after.items() if n in before} == before, "members: nothing else changed")
    text = run(devimg, t / "lib.a", "-o", t / "in" / "out2").stdout
    hold(not set(text) & set(range(32)) - {10}, "members: text has no control characters", text)
    archive(t / "long.a", [(b"x" * 4096, spv), (b"b.o", spv)])  # past what is read of a name
    long = run(devimg, t / "long.a", "-o", t / "in" / "long")
    hold(long.returncode == 1 and list(tree(t / "in" / "long")) == ["long.a@b.o.0000.spir64.spv"],
         "members: a name of 4,096 bytes", long.stdout)
    said = [e["name"] for r in json.loads(p.stdout)["files"] for e in r["extracted"]]
    hold(sorted("in/out/" + n for n in said) == files, "members: JSON names them", said)


def in_the_way(devimg, t):
    """What stands at the name of a file: only a regular one is replaced, and only when told."""
    spv, name = INTEL / "basic.spv", "basic.spv.0000.spir64.spv"
    (t / "aim").write_bytes(b"aim")
    makers = {"file": lambda p: p.write_bytes(b"old"), "link": lambda p: p.symlink_to("../aim"),
              "dangling link": lambda p: p.symlink_to("../nowhere"),
              "link to a folder": lambda p: p.symlink_to(".."), "FIFO": os.mkfifo,
              "folder": lambda p: p.mkdir()}
    for what, make in makers.items():
        for force in ([], ["--force"]):
            out = t / "way"
            out.mkdir()
            make(out / name)
            before = tree(t)
            p = run(devimg, spv, "-o", out, *force)
            replaced = what == "file" and force
            if replaced:
                hold(p.returncode == 0 and (out / name).read_bytes() == spv.read_bytes(),
                     "in the way: file is replaced", p.stdout + p.stderr)
            else:
                hold(p.returncode == 3 and b"is there already" in p.stdout and tree(t) == before,
                     "in the way: %s %s" % (what, force), "exit %s\n%s" % (p.returncode, p.stdout))
            shutil.rmtree(out)


def folders(devimg, t):
    """What DIR may be."""
    spv = INTEL / "basic.spv"
    (t / "real").mkdir()
    (t / "link").symlink_to("real")
    (t / "dangling").symlink_to("nowhere")
    (t / "file").write_bytes(b"x")
    os.mkfifo(t / "fifo")
    before = tree(t)
    for name in ("link", "link/", "link//", "dangling", "file", "file/", "fifo", "none/deep",
                 "file/x"):
        p = run(devimg, spv, "-o", str(t) + "/" + name)
        hold(p.returncode == 3 and p.stderr and tree(t) == before, "folder: " + name,
             "exit %s %s" % (p.returncode, p.stderr))
    hold(run(devimg, spv, "-o", "").returncode == 2, "folder: none")
    for name in ("new", "new", "real/"):
        p = run(devimg, spv, "-o", str(t) + "/" + name, "--force")
        hold(p.returncode == 0, "folder: %s" % name, p.stderr)
    if os.geteuid() != 0:
        (t / "real").chmod(0o555)
        p = run(devimg, spv, "-o", t / "real", "--force")
        hold(p.returncode == 3, "folder: not writable", p.stdout)
        (t / "real").chmod(0o755)
    p = run(devimg, spv, "-o", "/proc")
    hold(p.returncode == 3 and b"cannot be written" in p.stdout, "folder: /proc", p.stdout + p.stderr)


def full(devimg, t):
    """A disk that is full, or files that may not grow: what fits is written, the rest is said."""
    lib = INTEL / "lib_aot.so"  # images of 7203, 7267, 7815, 3949, 4013, 4285, 1648 and 1192 bytes
    out = t / "limited"
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    p = run(devimg, lib, "-o", out, preexec_fn=limit)
    sizes = sorted(len(data) for _, data in tree(out).values())
    hold(p.returncode == 3 and sizes == [1192, 1648, 3949, 4013] and b"File too large" in p.stdout,
         "full: ulimit -f", "exit %s, %s %s" % (p.returncode, sizes, p.stdout))
    disk = t / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)],
                             stderr=subprocess.DEVNULL, check=False).returncode == 0
    if mounted:
        try:
            p = run(devimg, lib, "-o", disk, "-j1")
            sizes = sorted(len(data) for _, data in tree(disk).values())
            whole = {7203, 7267, 7815, 3949, 4013, 4285, 1648, 1192}
            hold(p.returncode == 3 and b"No space left" in p.stdout and 0 < len(sizes) < 8 and
                 set(sizes) <= whole, "full: a small tmpfs",
                 "exit %s, %s %s" % (p.returncode, sizes, p.stdout))
        finally:
            subprocess.run(["umount", str(disk)], check=False)


def many(path, count):
    """A static library of raw images, each of its own content."""
    spv = (INTEL / "basic.spv").read_bytes()
    # a word that no reader asks for: the generator's number
    archive(path, [(b"m%d.o" % i, spv[:8] + (i | 1 << 16).to_bytes(4, "little") + spv[12:])
                   for i in range(count)])


def ended(devimg, t):
    """SIGTERM while it writes: whole files, and nothing else."""
    many(t / "many.a", 4000)
    for tries in range(5):
        out = t / ("ended%d" % tries)
        p = subprocess.Popen([devimg, "extract", str(t / "many.a"), "-o", str(out)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while time.monotonic() < until and not (out.exists() and any(out.iterdir())):
            pass
        p.send_signal(signal.SIGTERM)
        status = p.wait(timeout=30)
        found = tree(out)
        bad = [n for n, (kind, data) in found.items()
               if n.startswith(".") or kind != "file" or len(data) != 1648]
        hold(not bad, "ended: %d files" % len(found), bad)
        if status == -signal.SIGTERM and len(found) < 4000:
            return
    hold(False, "ended: it was never ended in time")


def two_at_once(devimg, t):
    """Two write the same names into one folder: each file is of one of them, and whole."""
    many(t / "many.a", 1500)
    out = t / "both"
    running = [subprocess.Popen([devimg, "extract", str(t / "many.a"), "-o", str(out), "--format",
                                 "json"], stdout=subprocess.PIPE) for _ in range(2)]
    docs = [json.loads(p.communicate(timeout=120)[0]) for p in running]
    names = [{e["name"] for r in d["files"] for e in r["extracted"] if e["written"]} for d in docs]
    found = tree(out)
    hold(len(found) == 1500 and set(found) == names[0] | names[1] and not names[0] & names[1],
         "two at once: every file is of one", "%d, %d and %d" % (len(found), *map(len, names)))
    digests = {hashlib.sha256(data).digest() for _, data in found.values()}
    hold(len(digests) == 1500, "two at once: every file is whole", len(digests))
    statuses = [p.returncode for p in running]
    hold(statuses == [0 if len(n) == 1500 else 3 for n in names], "two at once: exit", statuses)


def threads(devimg, t):
    """The same files and the same answer, whatever the number of workers."""
    answers = []
    for n in "18":
        out = t / "threads"
        p = run(devimg, INTEL / "lib_aot_zstd.so", INTEL / "lib_zstd_cut.so", INTEL / "lib_aot.o",
                "-o", out, "-j", n)
        answers.append((p.returncode, p.stdout, p.stderr, tree(out)))
        shutil.rmtree(out)
    hold(answers[0] == answers[1] and answers[0][0] == 1, "threads: -j1 and -j8", answers[0][:3])


def main():
    devimg = os.path.abspath(sys.argv[1])
    for part in (member_names, in_the_way, folders, full, ended, two_at_once, threads):
        with tempfile.TemporaryDirectory() as folder:
            part(devimg, Path(folder))
    print("%d held, %d failed" % (results["held"], results["failed"]))
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
