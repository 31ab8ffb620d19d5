# SPDX-License-Identifier: Apache-2.0
"""examples/ocloc-install (S3-12) with Debian packages made here. Suite `oclocinstall`.

The ocloc of the packages is a script that answers as ocloc does, and needs a library of the other package, as ocloc needs IGC."""
import hashlib
import os
import shutil
import subprocess

VERSION = "26.35.39758.10"
OCLOC = """#!/bin/sh
case $1 in
query) %(query)s ;;
compile)
  found=''
  IFS=:
  for folder in $LD_LIBRARY_PATH; do [ ! -f "$folder/libigc.so.2" ] || found=yes; done
  [ "$found" ] || { echo 'Loading of IGC library has failed'; exit 1; }
  while [ $# -gt 0 ]; do
    [ "$1" != -out_dir ] || out=$2
    [ "$1" != -file ] || file=$2
    shift
  done
  grep -q kernel "$file" || exit 2
  %(compile)s ;;
*) exit 3 ;;
esac
"""
PRINTS, WRITES = "echo %s" % VERSION, "printf '%s \\000' >OCL_DRIVER_VERSION" % VERSION
GOOD = "echo code >\"$out/probe.bin\""


class OclocInstall:
    def __init__(self, build, root, folder):
        self.build, self.folder = build, folder
        self.script = os.path.join(root, "examples", "ocloc-install")
        self.count = 0

    def say(self, good, name, *what):
        self.build.say(good, "oclocinstall: " + name, "found %s" % (what,))

    def package(self, name, files):
        tree = os.path.join(self.folder, "tree")
        shutil.rmtree(tree, ignore_errors=True)
        os.makedirs(os.path.join(tree, "DEBIAN"))
        with open(os.path.join(tree, "DEBIAN", "control"), "w", encoding="utf-8") as f:
            f.write("Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: tests <tests@example.org>\nDescription: %s\n" % (name, name))
        for path, text in files.items():
            path = os.path.join(tree, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            os.chmod(path, 0o755)
        to = os.path.join(self.debs, name + "_1_all.deb")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree, to], check=True, stdout=subprocess.DEVNULL)

    def make(self, query=PRINTS, compiles=GOOD, igc=True, program="usr/bin/ocloc-26.35.1"):
        """A folder of packages, and their sums."""
        self.count += 1
        self.debs = os.path.join(self.folder, "debs%d" % self.count)
        self.sums = os.path.join(self.folder, "sums%d" % self.count)
        self.out = os.path.join(self.folder, "out%d" % self.count)
        os.mkdir(self.debs)
        self.package("intel-ocloc", {program: OCLOC % {"query": query, "compile": compiles}})
        self.package("intel-igc", {"usr/local/lib/libigc.so.2" if igc else "usr/share/doc/igc": "a library\n"})
        self.write_sums()

    def write_sums(self, more="", skip=""):
        with open(self.sums, "w", encoding="utf-8") as f:
            f.write("# of this release\n" + more)
            for name in sorted(os.listdir(self.debs)):
                with open(os.path.join(self.debs, name), "rb") as deb:
                    if name != skip:
                        f.write("%s  %s\n" % (hashlib.sha256(deb.read()).hexdigest(), name))

    def run(self, *more, version=VERSION, path=None):
        env = dict(self.build.env)
        if path is not None:
            env["PATH"] = path + ":" + env["PATH"]
        p = subprocess.run([self.script, "--version", version, "--sums", self.sums, *more, self.debs], env=env, cwd=self.folder,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        return p.returncode, p.stdout.decode(), p.stderr.decode()

    def extracted(self, *more, **kinds):
        return self.run("--extract", self.out, *more, **kinds)

    def refused(self, name, said, **kinds):
        status, out, err = self.extracted(**kinds)
        left = [n for n in os.listdir(self.folder) if n.startswith(os.path.basename(self.out))]
        self.say(status == 1 and all(w in err for w in said) and not out and not left, "S3-12: " + name, status, out, err, left)

    def good(self):
        for name, query in (("it prints", PRINTS), ("an older one writes a file", WRITES)):
            self.make(query)
            status, out, err = self.extracted()
            self.say(status == 0 and out.startswith("ocloc %s in %s: 2 packages" % (VERSION, self.out)), "S3-12: good: " + name, out, err)
            status, said, err = self.build.run(["sh", "-c", 'eval "$1"; cd "$2"; ocloc query OCL_DRIVER_VERSION', "sh",
                                                "\n".join(out.splitlines()[1:]), self.folder])
            self.say(status == 0, "S3-12: the lines that it prints make it found", said, err)
        status, _, err = self.extracted()
        self.say(status == 1 and "there already" in err, "S3-12: a folder that is there is left alone", err)
        self.make(program="usr/bin/ocloc")
        status, _, err = self.extracted(version="26.35")
        self.say(status == 0, "S3-12: the first numbers of a version may be pinned", err)

    def packages(self):
        name = "intel-igc_1_all.deb"
        self.make()
        with open(os.path.join(self.debs, name), "ab") as f:
            f.write(b"x")
        self.refused("one byte more", ["is another file", name])
        self.make()
        os.remove(os.path.join(self.debs, name))
        self.refused("one is missing", [name, "has no such file"])
        self.make()
        self.write_sums(skip=name)
        self.refused("one is not listed", [name, "is not listed"])
        self.make()
        shutil.copy(os.path.join(self.debs, name), os.path.join(self.debs, ".hidden.deb"))
        self.refused("a hidden one is not listed", [".hidden.deb is not listed"])
        self.make()
        os.rename(os.path.join(self.debs, name), os.path.join(self.folder, "elsewhere%d" % self.count))
        os.symlink(os.path.join(self.folder, "elsewhere%d" % self.count), os.path.join(self.debs, name))
        self.refused("a link is no package", [name, "has no such file"])
        for what, line, said in (("a name with a folder", "%s  ../x.deb\n" % ("0" * 64), "no plain file name"),
                                 ("a short sum", "00  x.deb\n", "64 hexadecimal digits"), ("no name", "%s\n" % ("0" * 64), "and a name"),
                                 ("something else", "%s  x.rpm\n" % ("0" * 64), "no .deb"),
                                 ("twice", "%s  %s\n" % ("0" * 64, name), "listed twice")):
            self.make()
            self.write_sums(more=line)
            self.refused("a list with " + what, [said])
        self.make()
        with open(self.sums, "w", encoding="utf-8"):
            pass
        self.refused("an empty list", ["intel-ocloc_1_all.deb is not listed"])
        self.make()
        with open(os.path.join(self.debs, name), "wb") as f:
            f.write(b"no package")
        self.write_sums()
        self.refused("a file that is no package", [name, "cannot be unpacked"])

    def proofs(self):
        self.make()
        self.refused("another version", [VERSION, "pinned is 26.36"], version="26.36")
        self.make()
        self.refused("a longer number is another version", ["pinned is 26.3"], version="26.3")
        self.make("true")
        self.refused("no version", ["of no version"])
        self.make("exit 7")
        self.refused("it does not start", ["does not start"])
        self.make(igc=False)
        self.refused("its compiler is not there", ["Loading of IGC library has failed", "cannot compile for tgllp"])
        self.make(compiles="true")
        self.refused("it compiles nothing", ["wrote nothing"])
        self.make(program="usr/bin/other")
        self.refused("there is no ocloc", ["hold no usr/bin/ocloc"])

    def usage(self):
        self.make()
        for args in (["--version", "x"], ["--device", "a b"], ["--nonsense"], ["--sums"], ["--extract", "a b"]):
            status, out, err = self.run(*args)
            self.say(status == 2 and "usage:" in err and not out, "S3-12: wrong usage: %s" % args, status, err)
        status, out, _ = self.build.run([self.script, "--help"])
        self.say(status == 0 and b"--extract DIR" in out and b"set -eu" not in out, "S3-12: --help", out)

    def as_root(self):
        """With stand-ins for id, apt-get and ldconfig, which tell what they were asked."""
        self.make()
        tools = os.path.join(self.folder, "tools")
        os.mkdir(tools)
        log = os.path.join(self.folder, "log")
        scripts = {"id": "echo 0\n", "ldconfig": "echo ldconfig >>'%s'\n" % log,
                   "apt-get": "echo \"apt-get $*\" >>'%s'\nfor deb; do case $deb in *.deb) dpkg-deb -x \"$deb\" '%s';; esac; done\n"
                              "cp '%s/usr/bin/ocloc-26.35.1' '%s/ocloc'\n" % (log, self.out, self.out, tools)}
        os.mkdir(self.out)
        for name, text in scripts.items():
            with open(os.path.join(tools, name), "w", encoding="utf-8") as f:
                f.write("#!/bin/sh\n" + text)
            os.chmod(os.path.join(tools, name), 0o755)
        env = self.build.env.get("LD_LIBRARY_PATH")
        self.build.env["LD_LIBRARY_PATH"] = os.path.join(self.out, "usr/local/lib")
        status, out, err = self.run(path=tools)
        self.build.env.pop("LD_LIBRARY_PATH") if env is None else self.build.env.update(LD_LIBRARY_PATH=env)
        with open(log, encoding="utf-8") as f:
            lines = f.read().splitlines()
        self.say(status == 0 and VERSION in out and len(lines) == 2 and lines[0].count("/") > 2 and lines[0].count(".deb") == 2 and
                 lines[1] == "ldconfig", "S3-12: apt-get, then ldconfig, then the proof", status, out, err, lines)
        with open(os.path.join(tools, "id"), "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\necho 1000\n")
        status, _, err = self.run(path=tools)
        self.say(status == 1 and "needs root" in err, "S3-12: without root", err)

    def all(self):
        if not shutil.which("dpkg-deb"):
            print("skipped: oclocinstall: there is no dpkg-deb")
            return
        self.good()
        self.packages()
        self.proofs()
        self.usage()
        self.as_root()
