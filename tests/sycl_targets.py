# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl targets` with stand-ins for ocloc, and with ocloc itself. Suite `sycltargets`.

The names of tests are those of docs/requirements.md."""
import json
import os
import shutil
import time

# The 19 in the order of the build that they come from, and their IP versions (intel/compute-runtime platforms.h).
DEFAULT = {
    "dg2-g10": "12.55.8", "dg2-g11": "12.56.5", "acm-g10": "12.55.8", "acm-g11": "12.56.5", "acm-g12": "12.57.0",
    "tgllp": "12.0.0", "adl-s": "12.2.0", "adl-p": "12.3.0", "adl-n": "12.4.0", "rpl-s": "12.2.0", "rpl-p": "12.3.0",
    "mtl-h": "12.71.4", "mtl-u": "12.70.4", "arl-h": "12.74.4", "arl-s": "12.70.4", "arl-u": "12.70.4",
    "lnl-m": "20.4.4", "bmg-g21": "20.1.0", "bmg-g31": "20.2.0",
}
# What ocloc 22.43 knows of them.
OLD = ["dg2-g10", "dg2-g11", "acm-g10", "acm-g11", "acm-g12", "tgllp", "adl-s", "adl-p", "adl-n"]


class SyclTargets:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder

    def say(self, good, name, *what):
        self.build.say(good, "sycltargets: " + name, "found %s" % (what,))

    def ocloc(self, script):
        path = os.path.join(self.folder, "ocloc")
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n" + script)
        os.chmod(path, 0o755)
        return path

    def answering(self, names):
        """An ocloc that knows these names alone, and answers as 22.43 does."""
        cases = "".join("%s) echo 'Matched ids:'; echo %s;;\n" % (n, DEFAULT.get(n, "12.60.7")) for n in names)
        return self.ocloc("[ \"$1\" = ids ] || exit 9\ncase $2 in\n%s*) echo \"Could not determine target\"; exit 226;;\nesac\n" % cases)

    def run(self, *args):
        status, out, err = self.build.devimg("sycl", "targets", "--format", "json", *args)
        return status, json.loads(out) if out else {}, err.decode(errors="replace")

    def lists(self):
        for name in ("default-intel", "default"):
            status, doc, _ = self.run(name)
            self.say(status == 0 and doc["list"] == list(DEFAULT) and doc["distinct_ips"] == len(set(DEFAULT.values())) == 13 and
                     doc["mode"] == "aot" and doc["form"] == "fat" and doc["device_word"] == "-device " + ",".join(DEFAULT),
                     "S1-1: " + name, status, doc)
        for text, names, word, form in (
                (" DG2-G10 ,, tgllp,", ["dg2-g10", "tgllp"], "-device dg2-g10,tgllp", "fat"),
                ("bmg_g21", ["bmg-g21"], "-device bmg-g21", "native"), (" , ", [], None, None), ("", [], None, None)):
            status, doc, _ = self.run(text)
            self.say((status, doc["list"], doc["device_word"], doc["form"], doc["mode"]) ==
                     (0, names, word, form, "aot" if names else "jit"), 'S1-35, D8: "%s"' % text, status, doc)
        status, doc, _ = self.run("tgllp,tgllp")
        self.say(status == 0 and doc["list"] == ["tgllp"] and len(doc["warnings"]) == 1, "D8: a name twice", doc)
        status, doc, _ = self.run("dg2-g10,acm-g10")
        self.say(doc["list"] == ["dg2-g10", "acm-g10"] and doc["distinct_ips"] == 1 and doc["form"] == "fat", "D8: two names of one IP", doc)
        status, doc, err = self.run("bmg-g12,tgllp,nonsense,spir64")
        self.say(status == 1 and doc["device_word"] is None and all(n in err for n in ("bmg-g12", "nonsense", "spir64")),
                 "D8: unknown names, all at once", status, doc, err)

    def asked(self):
        status, doc, _ = self.run("default", "--ocloc", self.answering(DEFAULT))
        self.say(status == 0 and doc["unknown"] == [], "S1-37: an ocloc that knows all", status, doc)
        status, doc, err = self.run("default", "--ocloc", self.answering(OLD))
        missing = [n for n in DEFAULT if n not in OLD]
        self.say(status == 1 and sorted(doc["unknown"]) == sorted(missing) and doc["device_word"] is None and
                 "--narrow-to-ocloc" in err, "S1-38, S1-39: an old one, all at once, and the remedy", status, doc, err)
        status, doc, err = self.run("default", "--narrow-to-ocloc", "--ocloc", self.answering(OLD))
        self.say(status == 0 and doc["list"] == [n for n in DEFAULT if n in OLD] and all(n in err for n in missing),
                 "S1-39: narrowed, and said", status, doc, err)
        status, doc, _ = self.run("lnl-m", "--narrow-to-ocloc", "--ocloc", self.answering(OLD))
        self.say(status == 1 and doc["device_word"] is None, "nothing is left: refused", status, doc)
        status, doc, _ = self.run("bmg-g21", "--ocloc", self.ocloc("echo 'Matched ids:'; echo 20.1.4\n"))
        self.say(status == 0 and any("20.1.4" in w for w in doc["warnings"]), "D9: another IP version is said", status, doc)

    def unbelievable(self):
        for name, script in {"fails": "exit 1", "says nothing": "exit 0", "crashes": "kill -SEGV $$", "is another program": "echo hello",
                             "prints bytes": "head -c 300000 /dev/urandom",
                             "has no ids": "echo \"Invalid option (arg 1): $1\"; exit 226",
                             "fails after an answer": "echo Matched ids:; echo 12.0.0; exit 1"}.items():
            status, doc, err = self.run("tgllp", "--ocloc", self.ocloc(script + "\n"))
            self.say(status == 3 and not doc and "ocloc" in err, "S1-39: ocloc " + name, status, doc, err)
        status, doc, err = self.run("nonsense", "--ocloc", self.ocloc("kill -SEGV $$\n"))
        self.say(status == 3 and not doc and "signal" in err, "a crash for a name that no table has", status, doc, err)
        status, doc, err = self.run(",".join("n%d" % i for i in range(40)), "--ocloc", self.answering(OLD))
        self.say(status == 1 and "not asked for more than 32" in err and len(doc["unknown"]) == 40, "many unknown names are not asked for", err)
        start = time.monotonic()
        status, doc, err = self.run("tgllp", "--ocloc", self.ocloc("sleep 60 & sleep 60\n"), "--timeout", "1")
        self.say(status == 3 and time.monotonic() - start < 30 and "1 s" in err, "ocloc hangs", status, err)
        status, doc, err = self.run("tgllp", "--ocloc", "/nowhere/ocloc")
        self.say(status == 3 and "intel-opencl-icd" in err and "empty list" in err, "S1-8, S1-9: no ocloc, and both remedies", status, err)

    def real(self):
        if not shutil.which("ocloc"):
            print("skipped: sycltargets: there is no ocloc")
            return
        status, doc, _ = self.run("default", "--narrow-to-ocloc")
        self.say(status == 0 and set(OLD) <= set(doc["list"]) and set(doc["list"]) <= set(DEFAULT), "ocloc itself", status, doc)

    def all(self):
        self.lists()
        self.asked()
        self.unbelievable()
        self.real()
