# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl probe` with stand-ins for ocloc, and with ocloc itself. Suite `probe`.

What a target accepts is requirement S1-29: Xe-LP, Arc A and Xe-LPG 8, 16 and 32; Xe2 and Xe-HPC 16 and 32; fp64: not Xe-LP and
Arc A (their vendor's tables, data/targets/README.md)."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from sycl_targets import DEFAULT, OLD

XE2 = ("lnl-m", "bmg-g21", "bmg-g31")
NO_DOUBLE = tuple(n for n in DEFAULT if re.match("dg2|acm|tgl|adl|rpl", n))
# The words of ocloc 22.43 (sizes, its front end) and of IGC (its test of unsupported double).
SIZE = "error: Kernel compiled with required subgroup size $size, which is unsupported on this platform"
NO_SIZE = "error: Unsupported required sub group size"
DOUBLE = "1:2:31: error: use of type 'double' requires cl_khr_fp64 support"
DOUBLE_3 = "1:2:31: error: use of type 'double' requires cl_khr_fp64 and __opencl_c_fp64 support"
DOUBLE_IGC = "error: Double type is not supported on this platform."
NO_LIBRARY = "echo 'Error! Loading of IGC library has failed! Filename: libigc.so.1'; exit 250"


class Probe:
    def __init__(self, build, root, folder):
        self.build, self.root, self.folder = build, root, folder
        data = os.path.join(root, "tests", "data", "intel")
        self.images = {"8": os.path.join(data, "sg8_adl-s_ip.zebin"), "16": os.path.join(data, "sg16_dg2-g11_ip.zebin"),
                       "32": os.path.join(data, "sg32_dg2-g11.zebin"), "": os.path.join(data, "calls_tgllp.zebin")}
        self.spirv = os.path.join(data, "basic.spv")
        self.bin, self.tmp, self.here = (os.path.join(folder, n) for n in ("bin", "tmp", "here"))
        for path in (self.bin, self.tmp, self.here):
            os.mkdir(path)

    def say(self, good, name, *what):
        self.build.say(good, "probe: " + name, "found %s" % (what,))

    def tool(self, script):
        path = os.path.join(self.bin, "ocloc")
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nPATH=/usr/bin:/bin\n" + script + "\n")
        os.chmod(path, 0o755)
        return path

    def ocloc(self, names=None, sizes=None, double=None, before="", ids=None):
        """A stand-in: `names` {name: ip}, `sizes` {name: what it accepts}, `double` the names that have it; `before` runs before
        each compile and sees $size ("" for double) and $device."""
        names = DEFAULT if names is None else names
        sizes = sizes or {}
        double = [n for n in names if n not in NO_DOUBLE] if double is None else double
        known = "".join("%s) echo 'Matched ids:'; echo %s; exit 0;;\n" % item for item in names.items())
        ids = ids if ids is not None else "case $2 in\n%s*) echo 'Could not determine target'; exit 226;;\nesac" % known
        accepted = "".join("%s-%s) cp '%s' devimg_made.bin; exit 0;;\n" % (n, s, self.images[s])
                           for n in names for s in sizes.get(n, ("16", "32") if n in XE2 else ("8", "16", "32")))
        accepted += "".join("%s-) cp '%s' devimg_made.bin; exit 0;;\n" % (n, self.images[""]) for n in double)
        compiled = ("device=$5\n[ \"$2 $4\" = '-file -device' ] || exit 9\n"
                    "size=$(sed -n 's/.*intel_reqd_sub_group_size(\\([0-9]*\\)).*/\\1/p' \"$3\")\n%s\n"
                    "case $device-$size in\n%sesac\n"
                    "if [ -z \"$size\" ]; then echo \"%s\"; else echo \"%s\"; fi; exit 245" % (before, accepted, DOUBLE, SIZE))
        return self.tool("case $1 in\nquery) printf '26.35.1.2\\0' >OCL_DRIVER_VERSION;;\nids) %s;;\ncompile) %s;;\n*) exit 226;;\nesac" % (ids, compiled))

    def raw(self, *args, path=None, **more):
        words = ["env", "PATH=" + (path or self.bin), "TMPDIR=" + self.tmp]
        got = self.build.run([*words, self.build.program, "sycl", "probe", *args], cwd=self.here, **more)
        left = os.listdir(self.tmp) + os.listdir(self.here)
        self.say(left == [], "nothing is left behind: %s" % (args,), left)
        return got

    def run(self, *args, **more):
        status, out, err = self.raw("--format", "json", *args, **more)
        doc = json.loads(out) if out else {}
        if doc:
            states = [t["state"] for t in doc["probed"]]
            self.say(status == (1 if doc["verdict"] == "fail" else 0) and all(states.count(n) == k for n, k in doc["counts"].items()),
                     "verdict, status and counts: %s" % (args,), status, doc)
        return status, doc, {t["name"]: t for t in doc.get("probed", [])}, err.decode(errors="replace")

    def good(self):
        """S2-5: the table, measured."""
        self.ocloc()
        status, doc, targets, err = self.run()
        self.say(status == 0 and err == "" and list(targets) == list(DEFAULT) and all(t["state"] == "agrees" for t in targets.values()) and
                 doc["ocloc_version"] == "26.35.1.2" and doc["sizes"] == [8, 16, 32], "S2-5: all 19 agree", status, err, doc)
        for name, t in targets.items():
            sizes = [16, 32] if name in XE2 else [8, 16, 32]
            self.say(t["sub_group_sizes"] == t["table_sub_group_sizes"] == sizes and t["fp64"] == t["table_fp64"] == (name not in NO_DOUBLE) and
                     t["ip_version"] == t["table_ip_version"] == DEFAULT[name] and len(t["kernels"]) == 4, "S1-29: " + name, t)
        status, out, _ = self.raw()
        lines = out.decode().splitlines()
        self.say(status == 0 and lines[0] == "PASS: ocloc 26.35.1.2: 19 of 19 targets measured, 19 as in the tables" and len(lines) == 21,
                 "text", out)
        status, out, _ = self.raw("-q", "--targets", "tgllp")
        self.say(status == 0 and out == b"PASS: ocloc 26.35.1.2: 1 of 1 target measured, 1 as in the tables\n", "text: -q", out)
        status, one, _ = self.raw("-j1")
        _, many, _ = self.raw("-j7")
        self.say(status == 0 and one == many, "the same with any number of workers", one, many)
        _, doc, targets, _ = self.run("--targets", " TGLLP ,, tgllp", "--targets", "ADL_S", "--sizes", "32, 8")
        self.say(list(targets) == ["tgllp", "adl-s"] and doc["sizes"] == [8, 32] and len(doc["warnings"]) == 1 and
                 [k["size"] for k in targets["tgllp"]["kernels"]] == [8, 32, None], "D8: the list; --sizes", doc)

    def asked(self):
        """Each target alone, no shell, nothing on its input."""
        log = os.path.join(self.folder, "log")
        self.ocloc(before="echo \"$@\" >>'%s'; readlink /proc/self/fd/0 >>'%s'" % (log, log))
        self.run("--targets", "tgllp,pvc,lnl-m", "-j1")
        with open(log, encoding="utf-8") as f:
            lines = f.read().splitlines()
        self.say(lines == ["compile -file devimg.cl -device tgllp", "/dev/null"] * 4 + ["compile -file devimg.cl -device lnl-m", "/dev/null"] * 4,
                 "what ocloc is asked; nothing for a name that it does not know", lines)

    def differing(self):
        self.ocloc(sizes={"tgllp": ("16", "32"), "lnl-m": ("8", "16", "32")}, double=["tgllp", "lnl-m"])
        status, doc, targets, err = self.run("--targets", "tgllp,lnl-m,adl-s")
        self.say(status == 1 and targets["tgllp"]["state"] == targets["lnl-m"]["state"] == "differs" and targets["adl-s"]["state"] == "agrees" and
                 targets["tgllp"]["sub_group_sizes"] == [16, 32] and "size 8: ocloc refuses it, the tables say yes" in targets["tgllp"]["text"] and
                 "fp64: ocloc accepts it, the tables say no" in targets["tgllp"]["text"] and
                 "size 8: ocloc accepts it, the tables say no" in targets["lnl-m"]["text"] and "tgllp" in err and "lnl-m" in err,
                 "S2-5: what differs from the tables is an error", status, doc, err)
        status, out, _ = self.raw("--targets", "tgllp,lnl-m,adl-s")
        self.say(status == 1 and out.startswith(b"FAIL") and b"2 differ from the tables" in out, "what differs, in the text", out)
        self.ocloc(sizes={"tgllp": ()}, double=[])
        status, doc, targets, _ = self.run("--targets", "tgllp")
        self.say(status == 1 and targets["tgllp"]["sub_group_sizes"] == [], "none is an answer", doc)
        for ip, state in (("20.1.4", "agrees"), ("20.1.0", "agrees"), ("20.9.0", "differs")):
            self.ocloc(names={"bmg-g21": ip})
            status, _, targets, _ = self.run("--targets", "bmg-g21")
            t = targets["bmg-g21"]
            self.say(t["state"] == state and t["ip_version"] == ip and (ip in (t["text"] or "")) == (ip != "20.1.0"), "D9: bmg-g21 is %s" % ip, t)

    def refusals(self):
        """A refusal is told by its words; whatever else happens is no measurement."""
        for words, size, result in (
                (SIZE, 8, "refused"), (NO_SIZE, 8, "refused"), (SIZE.replace("$size", "16"), 8, "unmeasured"),
                (SIZE.replace("$size", "80"), 8, "unmeasured"), ("error: backend compiler failed build.", 8, "unmeasured"), ("", 8, "unmeasured"),
                (DOUBLE, None, "refused"), (DOUBLE_3, None, "refused"), (DOUBLE_IGC, None, "refused"), (NO_SIZE, None, "unmeasured"),
                (DOUBLE, 8, "unmeasured"), ("error: use of undeclared identifier", None, "unmeasured")):
            for where in ("", " >&2"):
                self.ocloc(before="[ \"$size\" = '%s' ] && { echo \"%s\"%s; exit 245; }" % (size or "", words, where), double=["tgllp", "lnl-m"])
                name = "lnl-m" if size else "tgllp"
                status, doc, targets, _ = self.run("--targets", name)
                t = targets[name]
                found = next(k for k in t["kernels"] if k["size"] == size)
                self.say(found["result"] == result and (status == 0) == (result == "refused") and t["state"] == ("agrees" if result == "refused" else "unmeasured")
                         and (result == "refused" or (t["sub_group_sizes"] if size else t["fp64"]) is None), "%s says \"%s\"%s" % (size, words, where), doc)
        refusal = "echo \"%s\"" % SIZE
        start = time.monotonic()
        for name, script in {
                "crashes": refusal + "; kill -SEGV $$", "hangs": refusal + "; sleep 60", "hangs with a child": "sleep 60 & sleep 60",
                "a library is missing": NO_LIBRARY, "fails": "exit 1", "makes nothing": "exit 0", "makes bytes": "head -c 5000 /dev/urandom >made.bin; exit 0",
                "makes SPIR-V alone": "cp '%s' made.bin; exit 0" % self.spirv, "makes an image of another size": "cp '%s' made.bin; exit 0" % self.images["32"],
                "makes an image without a size": "cp '%s' made.bin; exit 0" % self.images[""], "prints without end": "yes error; exit 1",
                "prints anything": "head -c 100000 /dev/urandom; exit 3", "links to an image": "ln -s '%s' made.bin; exit 0" % self.images["8"],
                "refuses, and says that it went well": refusal + "; exit 0"}.items():
            self.ocloc(before="[ \"$size\" = 8 ] && { %s; }" % script)
            status, doc, targets, err = self.run("--targets", "adl-s", "--timeout", "1")
            t = targets["adl-s"]
            self.say(status == 1 and t["state"] == "unmeasured" and t["sub_group_sizes"] is None and t["kernels"][0]["result"] == "unmeasured" and
                     t["kernels"][0]["message"] and t["kernels"][1]["result"] == "accepted" and "size 8" in t["text"] and "adl-s" in err and
                     len(t["text"]) < 1200, "one size: ocloc %s: could not be measured" % name, status, doc, err)
        self.say(time.monotonic() - start < 40, "a time limit a kernel", time.monotonic() - start)
        self.ocloc(before=NO_LIBRARY)
        status, out, _ = self.raw("--targets", "adl-s,tgllp")
        self.say(status == 1 and b"0 of 2 targets measured, 2 could not be measured" in out and b"libigc.so.1" in out, "no IGC at all", out)
        self.ocloc(before="[ \"$size\" = 8 ] && exit 1", sizes={"tgllp": ("8", "16")})
        _, _, targets, _ = self.run("--targets", "tgllp")
        self.say(targets["tgllp"]["state"] == "differs" and "could" not in targets["tgllp"]["state"] and "size 8" in targets["tgllp"]["text"],
                 "one differs, one could not be measured", targets)

    def unknown(self):
        """S2-25: what this ocloc does not know is unknown, never a guess."""
        self.ocloc(names={n: DEFAULT[n] for n in OLD})
        status, doc, targets, err = self.run()
        self.say(status == 0 and err == "" and doc["counts"] == {"agrees": 9, "differs": 0, "new": 0, "unknown": 10, "unmeasured": 0} and
                 all(t["sub_group_sizes"] is None and t["fp64"] is None and t["kernels"] == [] for n, t in targets.items() if n not in OLD),
                 "S2-25: 10 of 19 are unknown", doc)
        status, _, _, err = self.run("--expect-all")
        self.say(status == 1 and all(n in err for n in XE2), "--expect-all", status, err)
        status, doc, _, err = self.run("--targets", "lnl-m,bmg-g21")
        self.say(status == 1 and "lnl-m" in err, "nothing was measured: no pass", doc, err)
        status, doc, targets, err = self.run("--targets", "tgllp,bmg-g12")
        self.say(status == 1 and targets["bmg-g12"]["state"] == "unknown" and "did you mean bmg-g21" in err, "a name that nobody knows", doc, err)
        self.ocloc(names={"xyz": "40.1.0"}, ids="if [ $2 = xyz ]; then echo 'Matched ids:'; echo 40.1.0; echo 40.2.0; exit 0; fi; exit 226")
        status, doc, targets, _ = self.run("--targets", "xyz")
        self.say(status == 1 and targets["xyz"]["state"] == "unmeasured" and "2 IP versions" in targets["xyz"]["text"], "a family that no table has", doc)

    def rows(self):
        """New targets, as rows that the generator takes."""
        names = {"tgllp": DEFAULT["tgllp"], "xyz-g10": "40.1.3", "xyz": "40.1.3", "abc_2.x": "41.0.0"}
        self.ocloc(names=names, sizes={"xyz-g10": ("16", "32"), "xyz": ("16", "32"), "abc_2.x": ("32",)}, double=["xyz-g10", "xyz"])
        asked = ("--targets", "tgllp,XYZ-G10,xyz,abc_2.x")
        status, doc, targets, _ = self.run(*asked)
        self.say(status == 0 and doc["counts"]["new"] == 3 and not targets["xyz"]["in_tables"] and targets["xyz-g10"]["sub_group_sizes"] == [16, 32] and
                 targets["xyz"]["table_sub_group_sizes"] is None and targets["xyz"]["table_fp64"] is None, "what no table has is new", doc)
        status, out, err = self.raw(*asked, "--rows")
        tables = os.path.join(self.folder, "tables")
        shutil.copytree(os.path.join(self.root, "data", "targets"), tables)
        path = os.path.join(tables, "intel.tsv")
        with open(path, encoding="utf-8") as f:
            columns = f.readline().rstrip("\n").split("\t")
        found = [dict(zip(columns, line.split("\t"))) for line in out.decode().splitlines()]
        self.say(status == 0 and err == b"" and all(line.count("\t") == len(columns) - 1 for line in out.decode().splitlines()) and
                 [(r["name"], r["primary"], r["aliases"], r["ip_version"], r["ip_hex"], r["sub_group_sizes"], r["fp64"], r["first_release"]) for r in found] ==
                 [("xyz-g10", "yes", "xyz", "40.1.3", "0x0a004003", "16,32", "yes", "<=26.35.1.2"),
                  ("xyz", "no", "xyz-g10", "40.1.3", "0x0a004003", "16,32", "yes", "<=26.35.1.2"),
                  ("abc_2.x", "yes", "", "41.0.0", "0x0a400000", "32", "no", "<=26.35.1.2")], "--rows", status, out, err)
        self.say(all(r["family"] == r["fp16"].replace("unknown", "") == r["dpas_exec_size"] == "" for r in found), "what was not measured is not told", found)
        generate = [sys.executable, os.path.join(self.root, "tools", "gen_targets.py"), tables, os.path.join(self.folder, "targets.c")]
        with open(path, "ab") as f:
            f.write(out)
        p = subprocess.run(generate, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.say(p.returncode == 0, "the generator takes the rows", p.stdout)
        self.ocloc(names={"other": DEFAULT["tgllp"]})
        status, out, err = self.raw("--targets", "other", "--rows")
        self.say(status == 0 and b"\tno\t" in out and b"tgllp" in err, "a new name of a known IP version", out, err)
        status, out, err = self.raw("--targets", "other,nobody", "--rows")
        self.say(status == 1 and out.count(b"\n") == 1 and b"nobody" in err, "a name that is not known either", out, err)

    def unbelievable(self):
        """No ocloc, or something else of that name: exit status 3, and no verdict."""
        for name, script in {"does nothing": "exit 0", "fails": "echo why >&2; exit 1", "crashes": "kill -SEGV $$", "hangs": "sleep 60",
                             "prints anything": "head -c 3000 /dev/urandom", "prints without end": "yes 'Matched ids: 12.0.0'"}.items():
            self.tool(script)
            status, out, err = self.raw("--targets", "tgllp", "--timeout", "1")
            self.say(status == 3 and out == b"" and b"install ocloc" in err, "a program that %s is no ocloc" % name, status, out, err)
        os.remove(os.path.join(self.bin, "ocloc"))
        for args in ([], ["--ocloc", "/nowhere/ocloc"], ["--ocloc", "nowhere-ocloc"]):
            status, out, err = self.raw(*args)
            self.say(status == 3 and out == b"" and b"install ocloc" in err, "there is none: %s" % args, status, out, err)
        self.ocloc()
        os.rename(os.path.join(self.bin, "ocloc"), os.path.join(self.folder, "ocloc"))
        status, _, _, _ = self.run("--ocloc", "../ocloc", "--targets", "tgllp")
        self.say(status == 0, "a relative path", status)
        status, out, err = self.build.run(["env", "TMPDIR=/nowhere", self.build.program, "sycl", "probe", "--ocloc", os.path.join(self.folder, "ocloc")])
        self.say(status == 3 and b"/nowhere" in err and b"install" not in err, "no temporary folder", status, out, err)

    def interrupted(self):
        started = os.path.join(self.folder, "started")
        self.ocloc(before="echo $$ >>'%s'; sleep 60" % started)
        p = subprocess.Popen([self.build.program, "sycl", "probe", "-j2"], cwd=self.here, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env={**self.build.env, "PATH": self.bin, "TMPDIR": self.tmp})
        end = time.monotonic() + 30
        while not os.path.exists(started) and time.monotonic() < end:
            time.sleep(0.05)
        p.send_signal(signal.SIGTERM)
        out, err = p.communicate(timeout=30)
        with open(started, encoding="utf-8") as f:
            alive = [pid for pid in f.read().split() if os.path.exists("/proc/" + pid)]
        self.say(p.returncode == -signal.SIGTERM and out == b"" and os.listdir(self.tmp) == [] and alive == [], "SIGTERM: nothing is left", p.returncode, out, err,
                 os.listdir(self.tmp), alive)

    def usage(self):
        for args in (["file"], ["--targets", ""], ["--targets", "spir64"], ["--targets", "-x"], ["--targets", "a b"], ["--targets", "a;b"], ["--targets", "99.1.2"],
                     ["--sizes", ""], ["--sizes", "24"], ["--sizes", "8,,x"], ["--sizes", "0"], ["--timeout", "0"], ["--ocloc", ""], ["-j0"],
                     ["--rows", "--format", "json"]):
            status, out, err = self.raw(*args)
            self.say(status == 2 and out == b"" and err, "usage: %s" % args, status, out, err)

    def real(self):
        """pvc stands in for Xe2: it refuses size 8, with the same words."""
        if not shutil.which("ocloc"):
            print("skipped: probe: there is no ocloc")
            return
        status, doc, targets, err = self.run("--targets", "dg2-g10,pvc,tgllp,lnl-m", path=os.environ["PATH"])
        self.say(status == 0 and err == "" and [targets[n]["sub_group_sizes"] for n in ("dg2-g10", "pvc", "tgllp")] == [[8, 16, 32], [16, 32], [8, 16, 32]] and
                 [targets[n]["fp64"] for n in ("dg2-g10", "pvc", "tgllp")] == [False, True, False] and targets["lnl-m"]["state"] == "unknown",
                 "S2-5: ocloc itself", status, doc, err)
        libraries = os.path.join(self.folder, "libraries")
        os.mkdir(libraries)
        for name in ("libigc.so.1", "libigc.so.2"):
            with open(os.path.join(libraries, name), "w", encoding="utf-8") as f:
                f.write("no library")
        words = ["env", "LD_LIBRARY_PATH=" + libraries, "TMPDIR=" + self.tmp, self.build.program, "sycl", "probe", "--targets", "tgllp"]
        status, out, err = self.build.run(words, cwd=self.here)
        self.say(status == 1 and b"1 could not be measured" in out and b"libigc" in out, "ocloc itself, without its IGC", status, out, err)

    def all(self):
        self.say(all(os.path.exists(p) for p in self.images.values()), "fixtures are there")
        for part in (self.good, self.asked, self.differing, self.refusals, self.unknown, self.rows, self.unbelievable, self.interrupted, self.usage,
                     self.real):
            part()
