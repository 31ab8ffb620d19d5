# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl doctor` with stand-ins for ocloc, sycl-ls and compilers, and with ocloc itself. Suite `doctor`.

The names of tests are those of docs/requirements.md."""
import json
import os
import shutil
import signal
import stat
import subprocess
import time

from sycl_targets import DEFAULT, OLD

PARTS = ["ocloc", "version", "targets", "igc", "sycl-ls", "icpx", "icx-cl", "clang++", "acpp"]
ICPX = "echo 'Intel(R) oneAPI DPC++/C++ Compiler 2025.0.4 (2025.0.4.20241205)'; echo 'Target: x86_64-unknown-linux-gnu'"
NO_LIBRARY = "echo 'Error! Loading of IGC library has failed! Filename: libigc.so.1'; echo 'Error! IGC initialization failure.'; exit 250"


class Doctor:
    def __init__(self, build, root, folder):
        self.build, self.folder = build, folder
        self.image = os.path.join(root, "tests", "data", "intel", "sg16_dg2-g11_ip.zebin")
        self.spirv = os.path.join(root, "tests", "data", "intel", "basic.spv")
        self.samples = os.path.join(root, "tests", "data", "sycl-ls")
        self.bin, self.tmp = os.path.join(folder, "bin"), os.path.join(folder, "tmp")
        self.here = os.path.join(folder, "here")
        for path in (self.bin, self.tmp, self.here):
            os.mkdir(path)

    def say(self, good, name, *what):
        self.build.say(good, "doctor: " + name, "found %s" % (what,))

    def tool(self, name, script):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nPATH=/usr/bin:/bin\n" + script + "\n")
        os.chmod(path, 0o755)
        return path

    def ocloc(self, names=tuple(DEFAULT), query=None, ids=None, compile_=None):
        """A stand-in that does what 22.43 does: a version in a file, IP versions, an image."""
        query = query if query is not None else "printf '26.35.39000.1\\0' >OCL_DRIVER_VERSION"
        known = "".join("%s) echo 'Matched ids:'; echo %s; exit 0;;\n" % (n, DEFAULT.get(n, "1.2.3")) for n in names)
        ids = ids if ids is not None else "case $2 in\n%sesac\necho \"Could not determine target\"; exit 226" % known
        compile_ = compile_ if compile_ is not None else "cp '%s' made.bin" % self.image
        return self.tool("ocloc", "case $1 in\nquery) %s;;\nids) %s;;\ncompile) %s;;\n*) exit 226;;\nesac" % (query, ids, compile_))

    def clear(self):
        for name in os.listdir(self.bin):
            os.remove(os.path.join(self.bin, name))

    def raw(self, *args, env=(), path=None):
        words = ["env", "PATH=" + (path or self.bin), "TMPDIR=" + self.tmp, "ONEAPI_ROOT=/nowhere", *env]
        got = self.build.run([*words, self.build.program, "sycl", "doctor", *args], cwd=self.here)
        left = os.listdir(self.tmp) + os.listdir(self.here)
        self.say(left == [], "nothing is left behind: %s" % (args,), left)
        return got

    def run(self, *args, **more):
        status, out, err = self.raw("--format", "json", *args, **more)
        doc = json.loads(out) if out else {}
        parts = {p["name"]: p for p in doc.get("parts", [])}
        if doc:
            self.say(list(parts) == PARTS and status == (1 if doc["verdict"] == "fail" else 0), "verdict and status: %s" % (args,), status, doc)
        return status, doc, parts, err.decode(errors="replace")

    def good(self):
        self.clear()
        self.ocloc()
        status, doc, parts, err = self.run()
        self.say(status == 0 and err == "" and doc["answer"] == "this machine can build native Intel images for all 19 targets" and
                 doc["known"] == list(DEFAULT) == doc["list"] and doc["unknown"] == [] and parts["igc"]["state"] == "ok" and
                 parts["version"]["version"] == "26.35.39000.1", "S1-37: an ocloc that knows all", status, doc, err)
        self.say([n for n in PARTS if parts[n]["required"]] == ["ocloc", "targets", "igc"], "what a list requires", parts)
        self.say(all(parts[n]["state"] == "missing" and parts[n]["remedy"] for n in PARTS[4:]), "what is missing is a note, with a remedy", parts)
        status, out, _ = self.raw()
        lines = out.decode().splitlines()
        self.say(status == 0 and lines[0].endswith("for all 19 targets") and
                 [l.split()[0] for l in lines[1:] if not l.startswith("  ")] == PARTS and
                 sum(l.startswith("  hint: ") for l in lines) == 5, "text: the answer, a line a part, what to do", out)
        status, out, _ = self.raw("-q", "--targets", "bmg-g21")
        self.say(status == 0 and out == b"this machine can build native Intel images for bmg-g21\n", "text: -q is the answer", out)
        for args in (["--targets", "tgllp", "--targets", "adl-s"], ["--targets", " TGLLP,, adl-s ,"]):
            _, doc, _, _ = self.run(*args)
            self.say(doc["known"] == ["tgllp", "adl-s"], "D8: the list: %s" % args, doc)

    def no_ocloc(self):
        self.clear()
        status, doc, parts, err = self.run("--targets", "bmg-g21,lnl-m")
        words = ("bmg-g21", "lnl-m", "ocloc", "install ocloc", "empty list")
        self.say(status == 1 and all(w in err for w in words) and doc["known"] is None and parts["ocloc"]["state"] == "missing" and
                 "bmg-g21,lnl-m: ocloc is missing" in doc["answer"] and parts["igc"]["state"] == parts["targets"]["state"] == "skipped",
                 "S1-8, S1-9, S1-10, S3-9: no ocloc: the list and both remedies", status, doc, err)
        status, out, _ = self.raw("--targets", "bmg-g21,lnl-m")
        self.say(status == 1 and all(w in out.decode() for w in words), "S1-10: in the text as well", out)
        for empty in ("", " , "):
            status, doc, parts, err = self.run("--targets", empty)
            self.say(status == 0 and err == "" and not any(p["required"] for p in parts.values()) and "empty" in doc["answer"],
                     "S1-10: an empty list needs no ocloc", status, doc)
        for part in ("ocloc", "igc", "version", "targets"):
            status, doc, _, _ = self.run("--targets", "", "--require", part)
            self.say(status == 1 and "ocloc is missing" in doc["answer"], "an empty list, and --require %s" % part, doc)
        status, doc, parts, _ = self.run("--ocloc", "/nowhere/ocloc")
        self.say(status == 1 and "/nowhere/ocloc" in parts["ocloc"]["text"], "--ocloc names none", parts)
        path = self.tool("ocloc", "exit 0")
        os.chmod(path, 0o644)
        status, _, parts, _ = self.run()
        self.say(status == 1 and parts["ocloc"]["state"] == "missing" and "denied" in parts["ocloc"]["text"], "it may not be run", parts)
        with open(path, "wb") as f:
            f.write(b"\x7fELF no program")
        os.chmod(path, 0o755)
        status, _, parts, _ = self.run()
        self.say(status == 1 and parts["ocloc"]["state"] == "broken" and "started" in parts["ocloc"]["text"], "it is no program", parts)

    def versions(self):
        self.clear()
        self.ocloc(query="printf '22.43.24595\\0' >OCL_DRIVER_VERSION")
        for expected, good in (("22.43.24595", True), ("22.43", True), ("22", True), ("22.43.2459", False), ("22.43.24595.41", False),
                               ("26.35", False), ("22.", False), ("2", False)):
            status, doc, parts, err = self.run("--expect-ocloc", expected)
            row = parts["version"]
            self.say(status == (0 if good else 1) and row["state"] == ("ok" if good else "wrong") and row["required"] and
                     doc["expected_ocloc"] == expected and row["version"] == "22.43.24595" and
                     (good or ("22.43.24595, not " + expected in doc["answer"] and row["remedy"] and expected in err)),
                     "S3-12: --expect-ocloc " + expected, status, doc, err)
        status, _, parts, _ = self.run("--targets", "", "--expect-ocloc", "26.35")
        self.say(status == 1 and parts["ocloc"]["required"], "S3-12: also with an empty list", parts)
        file = "OCL_DRIVER_VERSION"
        for name, query, version in (
                ("printed, not in a file", "echo banner; echo 25.18.33578.6", "25.18.33578.6"), ("with a new line", "echo 1.2 >" + file, "1.2"),
                ("nothing", ":", None), ("an older ocloc without query", "echo Invalid option; exit 226", None),
                ("words", "echo hello >" + file, None), ("a number alone", "echo 7 >" + file, None),
                ("bytes", "head -c 100 /dev/urandom >" + file, None), ("without end", "yes 1.2 | head -c 5000000 >" + file, None),
                ("a control sequence", "printf '1.2\\033[31m' >" + file, None), ("a folder", "mkdir " + file, None),
                ("a FIFO", "mkfifo " + file, None), ("a device", "ln -s /dev/zero " + file, None)):
            self.ocloc(query=query)
            status, doc, parts, _ = self.run()
            self.say(status == 0 and parts["version"]["version"] == version and
                     parts["version"]["state"] == ("ok" if version else "unknown") and not parts["version"]["required"],
                     "the version: " + name, status, parts["version"])
            status, doc, _, _ = self.run("--expect-ocloc", "1.3")
            self.say(status == 1 and ("is unknown" in doc["answer"]) == (version is None), "S3-12: %s, and one is expected" % name, doc)

    def starting(self):
        """What is no ocloc, or none that works."""
        for name, script in {"fails": "echo 'libocloc.so: cannot open' >&2; exit 127", "crashes": "kill -SEGV $$",
                             "fails with bytes": "head -c 300000 /dev/urandom; exit 3"}.items():
            self.clear()
            self.tool("ocloc", script)
            status, doc, parts, _ = self.run()
            self.say(status == 1 and parts["ocloc"]["state"] == "broken" and parts["ocloc"]["remedy"] and "ocloc is broken" in doc["answer"] and
                     parts["igc"]["state"] == "skipped", "ocloc " + name, status, doc)
            self.say(name != "fails" or "libocloc.so: cannot open" in parts["ocloc"]["text"], "its own words", parts)
        self.tool("ocloc", "sleep 60 & sleep 60")
        start = time.monotonic()
        status, _, parts, _ = self.run("--timeout", "1")
        self.say(status == 1 and "1 s" in parts["ocloc"]["text"] and time.monotonic() - start < 20, "ocloc hangs, once", parts)
        self.tool("ocloc", "exit 0")
        status, doc, parts, _ = self.run()
        self.say(status == 1 and parts["targets"]["state"] == "broken" and parts["igc"]["state"] == "unknown" and doc["known"] is None,
                 "a program that does nothing is no ocloc", status, doc)
        self.tool("ocloc", "yes '12.0.0 [opencl:cpu] Matched ids:' | head -c 30000000")
        status, doc, parts, _ = self.run("--targets", "tgllp")
        self.say(status == 1 and parts["targets"]["state"] == "broken" and len(json.dumps(doc)) < 20000, "one that prints without end", status)

    def names(self):
        self.clear()
        self.ocloc(OLD)
        missing = [n for n in DEFAULT if n not in OLD]
        status, doc, parts, err = self.run()
        self.say(status == 1 and doc["known"] == [n for n in DEFAULT if n in OLD] and sorted(doc["unknown"]) == sorted(missing) and
                 doc["answer"].endswith("for 9 of 19 targets") and parts["targets"]["state"] == "wrong" and
                 all(n in err for n in missing), "S1-38, S1-39: all unknown names at once", status, doc, err)
        self.say(all(w in parts["targets"]["remedy"] for w in ("newer ocloc", "devimg sycl targets --narrow-to-ocloc", "empty list")),
                 "S1-39: the remedies", parts)
        status, doc, parts, _ = self.run("--targets", "lnl-m")
        self.say(status == 1 and "does not know it" in doc["answer"] and parts["igc"]["state"] == "ok", "S1-39: none of the list", doc)
        status, doc, parts, _ = self.run("--targets", "tgllp,bmg-g12,spir64")
        self.say(status == 1 and doc["answer"].endswith("for 1 of 3 targets") and all(n in parts["targets"]["text"] for n in ("bmg-g12", "spir64")),
                 "names that no table has", status, doc)
        self.ocloc([])
        status, _, parts, _ = self.run("--targets", "")
        self.say(status == 0 and parts["igc"]["state"] == "unknown", "an ocloc that knows nothing", parts)
        self.ocloc(ids="sleep 60")
        status, _, parts, _ = self.run("--timeout", "1")
        self.say(status == 1 and parts["targets"]["state"] == "broken" and parts["igc"]["state"] == "unknown", "ids hangs, once", parts)

    def igc(self):
        self.clear()
        for name, script, said in (
                ("a library is missing", NO_LIBRARY, "libigc.so.1"), ("it fails on stderr", "echo why >&2; exit 1", "why"),
                ("it crashes", "echo before; kill -ABRT $$", "crashed: before"), ("it makes nothing", "exit 0", "no native image"),
                ("it makes bytes", "head -c 5000 /dev/urandom >made.bin", "no native image"),
                ("it makes SPIR-V alone", "cp '%s' made.spv" % self.spirv, "no native image"),
                ("it hangs", "sleep 60", "1 s"), ("it prints without end", "yes x; exit 1", "1 s")):
            self.ocloc(compile_=script)
            status, doc, parts, err = self.run("--timeout", "1", "--targets", "tgllp")
            row = parts["igc"]
            self.say(status == 1 and row["state"] == "broken" and said in row["text"] and "tgllp" in row["text"] and "IGC" in doc["answer"] and
                     all(w in row["remedy"] for w in ("libigc", "ldconfig")) and said in err and len(row["text"]) < 1200,
                     "IGC: " + name, status, row, err)
            status, doc, parts, _ = self.run("--timeout", "1", "--targets", "")
            self.say(status == 0 and parts["igc"]["state"] == "broken", "IGC: %s, an empty list: a note" % name, parts)
        self.ocloc(compile_="ln -s '%s' made.bin" % self.image)
        _, _, parts, _ = self.run()
        self.say(parts["igc"]["state"] == "broken", "IGC: a link is no image that was made", parts)
        self.ocloc(compile_="[ \"$2 $4 $5\" = '-file -device tgllp' ] && grep -q __kernel \"$3\" && cp '%s' x" % self.image)
        _, _, parts, _ = self.run("--targets", "tgllp,adl-s")
        self.say(parts["igc"]["state"] == "ok", "IGC: what is asked of it", parts)

    def behind(self):
        """Whatever the programs do in the temporary folder, it goes; what is outside stays."""
        self.clear()
        outside = os.path.join(self.folder, "outside")
        os.mkdir(outside)
        open(os.path.join(outside, "kept"), "w", encoding="utf-8").close()
        self.ocloc(compile_="mkdir -p a/b/c; touch a/b/c/d .hidden; ln -s '%s' out; ln -s '%s' a/out; mkfifo f; cp '%s' y" %
                   (outside, outside, self.image))
        status, _, _, _ = self.run()
        self.say(status == 0 and os.listdir(outside) == ["kept"], "links are not followed", status)
        self.ocloc(ids="touch here; echo 'Matched ids:'; echo 12.55.8")
        self.tool("sycl-ls", "touch here; echo '[opencl:cpu] X'")
        _, _, parts, _ = self.run("--targets", "dg2-g10")  # that nothing is left behind is looked at each time
        self.say(parts["targets"]["state"] == parts["sycl-ls"]["state"] == "ok", "all programs run in the temporary folder", parts)
        self.clear()
        self.ocloc(compile_="stat -c %%a . >'%s/mode'; cp '%s' y" % (outside, self.image))
        self.run()
        with open(os.path.join(outside, "mode"), encoding="utf-8") as f:
            mode = f.read().strip()
        self.say(mode == "700", "the folder is private", mode)
        pid = os.path.join(outside, "pid")
        self.ocloc(compile_="echo $$ >'%s'; mv '%s' '%s.done'; sleep 300" % (pid, pid, pid))
        for number in (signal.SIGINT, signal.SIGTERM):
            p = subprocess.Popen([self.build.program, "sycl", "doctor"], cwd=self.here, env={**self.build.env, "PATH": self.bin, "TMPDIR": self.tmp},
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for _ in range(400):
                if os.path.exists(pid + ".done"):
                    break
                time.sleep(0.05)
            p.send_signal(number)
            out, _ = p.communicate(timeout=30)
            with open(pid + ".done", encoding="utf-8") as f:
                running = os.path.exists("/proc/" + f.read().strip())
            os.remove(pid + ".done")
            self.say(p.returncode == -number and out == b"" and os.listdir(self.tmp) == [] and not running,
                     "signal %d: nothing is left, nothing runs on" % number, p.returncode, out, running)
        status, doc, parts, _ = self.run(env=["TMPDIR=/nowhere"])
        self.say(status == 1 and parts["igc"]["state"] == parts["version"]["state"] == "unknown" and "/nowhere" in parts["igc"]["text"] and
                 doc["known"] == list(DEFAULT), "no temporary folder", status, doc)
        status, _, _, _ = self.run("--targets", "", env=["TMPDIR=/nowhere"])
        self.say(status == 0, "no temporary folder, nothing required", status)

    def sycl_ls(self):
        self.clear()
        self.ocloc()
        path = os.path.join(self.samples, "12-verbose-2026-aliases.txt")
        self.tool("sycl-ls", "cat '%s'" % path)
        status, _, parts, _ = self.run("--require", "sycl-ls")
        row = parts["sycl-ls"]
        self.say(status == 0 and row["state"] == "ok" and row["required"] and "level_zero:gpu" in row["text"], "sycl-ls: what it lists", row)
        self.tool("sycl-ls", "echo nothing")
        _, _, parts, _ = self.run()
        self.say(parts["sycl-ls"]["state"] == "ok" and "no device" in parts["sycl-ls"]["text"], "sycl-ls: it lists nothing", parts)
        for name, script in {"fails": "echo why >&2; exit 3", "crashes": "kill -SEGV $$", "hangs": "sleep 60",
                             "prints without end": "yes '[opencl:cpu] x' | head -c 50000000"}.items():
            self.tool("sycl-ls", script)
            status, doc, parts, _ = self.run("--timeout", "2")
            self.say(status == 0 and parts["sycl-ls"]["state"] == "broken" and parts["sycl-ls"]["remedy"], "sycl-ls %s: a note" % name, parts)
            status, doc, _, _ = self.run("--timeout", "2", "--require", "icpx, sycl-ls")
            self.say(status == 1 and "sycl-ls is broken" in doc["answer"] and "icpx is missing" in doc["answer"], "sycl-ls %s: required" % name, doc)
        other = os.path.join(self.folder, "other-ls")
        shutil.copy(self.tool("sycl-ls", "echo '[opencl:cpu] Intel(R) OpenCL, CPU 3.0 [1]'"), other)
        os.remove(os.path.join(self.bin, "sycl-ls"))
        _, _, parts, _ = self.run("--sycl-ls", other)
        self.say(parts["sycl-ls"]["program"] == other and "opencl:cpu" in parts["sycl-ls"]["text"], "--sycl-ls", parts)

    def compilers(self):
        self.clear()
        self.ocloc()
        dpcpp = "case \"$*\" in *spir64_gen*) exit %d;; esac; echo 'clang version 20.0.0git (https://github.com/intel/llvm 5c3a4b)'"
        acpp = ("[ \"$1\" = --acpp-version ] || exit 1; echo 'acpp [AdaptiveCpp compilation driver]'; "
                "echo '  AdaptiveCpp version: 24.06.0+git.8cf7a902'; echo '  Installation root: /x'")
        for name, script, state, said in (
                ("icpx", ICPX, "ok", "2025.0.4"), ("icx-cl", ICPX, "ok", "2025.0.4"), ("clang++", dpcpp % 0, "ok", "intel/llvm"),
                ("clang++", dpcpp % 1, "wrong", "-fsycl-targets=spir64_gen"), ("acpp", acpp, "ok", "24.06.0+git.8cf7a902"),
                ("icpx", "echo 'clang version 19.1.7'", "wrong", "DPC++"), ("icpx", "head -c 100000 /dev/urandom", "wrong", "DPC++"),
                ("icpx", "echo 'license expired' >&2; exit 1", "broken", "license expired"), ("icpx", "sleep 60", "broken", "1 s"),
                ("clang++", "sleep 60", "broken", "1 s"),
                ("clang++", "case \"$*\" in *spir64_gen*) sleep 60;; esac; echo clang version 20", "broken", "1 s"),
                ("clang++", "case \"$*\" in *spir64_gen*) kill -SEGV $$;; esac; echo clang version 20", "broken", "crashed"), ("acpp", "kill -SEGV $$", "broken", "crashed"),
                ("acpp", "printf 'AdaptiveCpp version: %1000000d' 1", "ok", "    ")):
            self.clear()
            self.ocloc()
            self.tool(name, script)
            status, doc, parts, err = self.run("--timeout", "1")
            row = parts[name]
            self.say(status == 0 and err == "" and row["state"] == state and said in row["text"] and (state == "ok") == (row["remedy"] is None) and
                     len(row["text"]) < 1200 and row["program"] == os.path.join(self.bin, name), "%s: %s" % (name, script[:50]), status, row)
            status, doc, _, err = self.run("--timeout", "1", "--require", name)
            self.say(status == (0 if state == "ok" else 1) and (state == "ok" or name + " is " in doc["answer"]), "%s is required: %s" % (name, script[:50]), doc)
        self.clear()
        self.tool("acpp", acpp)
        _, _, parts, _ = self.run("--targets", "")
        self.say(all(w in parts["acpp"]["text"] for w in ("generic", "first launch", "intel_gpu_")) and
                 parts["acpp"]["version"] == "24.06.0+git.8cf7a902", "S1-40: AdaptiveCpp's default target", parts["acpp"])
        root = os.path.join(self.folder, "oneapi")
        os.makedirs(os.path.join(root, "compiler", "latest", "bin"))
        shutil.copy(self.tool("icpx", ICPX), os.path.join(root, "compiler", "latest", "bin"))
        os.remove(os.path.join(self.bin, "icpx"))
        _, _, parts, _ = self.run("--targets", "", env=["ONEAPI_ROOT=" + root])
        self.say(root + "/setvars.sh" in parts["icpx"]["remedy"] and "setvars" not in parts["clang++"]["remedy"],
                 "installed, and not in PATH", parts["icpx"])
        plain = shutil.which("clang++-19") or shutil.which("clang++")
        if plain:
            os.symlink(plain, os.path.join(self.bin, "clang++"))
            _, _, parts, _ = self.run("--targets", "")
            self.say(parts["clang++"]["state"] == "wrong", "a clang++ that is no DPC++", parts["clang++"])

    def terminal(self):
        """Output of programs cannot steer a terminal; nothing is taken for a word of ours."""
        self.clear()
        evil = "\\033[2J\\033]0;x\\007\\302\\233\\342\\200\\256 \\377\\200"
        self.ocloc(compile_="printf '%s'; exit 1" % evil)
        self.tool("sycl-ls", "printf '[opencl:cpu] %s'" % evil)
        self.tool("icpx", "printf 'DPC++ %s'" % evil)
        for args in ([], ["-q"]):
            status, out, err = self.raw(*args, "--color", "never")
            self.say(status == 1 and not any(b in out + err for b in (b"\x1b", b"\x07", b"\xc2\x9b", b"\xe2\x80\xae", b"\xff")), "escaped: %s" % args,
                     out, err)
        status, doc, parts, _ = self.run()
        self.say(parts["icpx"]["state"] == "ok", "JSON of such bytes is JSON", status, doc)

    def relative(self):
        """A relative path is one of where we are, not of the temporary folder."""
        self.clear()
        os.rename(self.ocloc(), os.path.join(self.folder, "ocloc"))
        status, _, parts, _ = self.run("--ocloc", "../ocloc")
        self.say(status == 0 and os.path.isabs(parts["ocloc"]["program"]), "--ocloc ../ocloc", parts)
        status, _, parts, _ = self.run(path="..")
        self.say(status == 0 and parts["version"]["state"] == "ok", "a relative folder in PATH", parts)

    def usage(self):
        for args in (["file"], ["--require", "icpy"], ["--require", "icpx,,ocloc2"], ["--timeout", "0"], ["--expect-ocloc", ""], ["--ocloc", ""],
                     ["--nonsense"]):
            status, out, err = self.raw(*args)
            self.say(status == 2 and out == b"" and err, "usage: %s" % args, status, out, err)

    def real(self):
        if not shutil.which("ocloc"):
            print("skipped: doctor: there is no ocloc")
            return
        subprocess.run(["ocloc", "query", "OCL_DRIVER_VERSION"], cwd=self.folder, stdout=subprocess.DEVNULL, check=True)
        with open(os.path.join(self.folder, "OCL_DRIVER_VERSION"), "rb") as f:
            version = f.read().rstrip(b"\0\n ").decode()
        path = os.environ["PATH"]
        status, doc, parts, _ = self.run("--expect-ocloc", version, "--targets", ",".join(OLD), path=path)
        self.say(status == 0 and parts["version"]["version"] == version and parts["igc"]["state"] == "ok" and doc["known"] == OLD,
                 "ocloc itself", status, doc)
        libraries = os.path.join(self.folder, "libraries")
        os.mkdir(libraries)
        for name in ("libigc.so.1", "libigc.so.2"):
            with open(os.path.join(libraries, name), "w", encoding="utf-8") as f:
                f.write("no library")
        status, _, parts, _ = self.run("--targets", "tgllp", path=path, env=["LD_LIBRARY_PATH=" + libraries])
        self.say(status == 1 and parts["targets"]["state"] == "ok" and parts["igc"]["state"] == "broken" and "libigc" in parts["igc"]["text"],
                 "ocloc itself, without its IGC", status, parts)

    def all(self):
        self.say(os.path.exists(self.image) and os.path.exists(self.spirv) and stat.S_ISREG(os.stat(self.image).st_mode), "fixtures are there")
        for part in (self.good, self.no_ocloc, self.versions, self.starting, self.names, self.igc, self.behind, self.sycl_ls, self.compilers,
                     self.terminal, self.relative, self.usage, self.real):
            part()
