# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl detect`: the truth table of its page, cell by cell, and stand-ins for sycl-ls. Suite `detect`.

The names of tests are those of docs/requirements.md: S0-n."""
import csv
import importlib.util
import itertools
import json
import os
import re
import shutil
import time

PAGE = os.path.join("docs", "command", "sycl_detect.md")
LISTS = {"CPU target": ("native_cpu", "spir64_x86_64,nvptx64-nvidia-cuda"), "looks like one": ("spir64_gen", "my_cpu_x,spir64"),
         "neither": ("", "nvptx64-nvidia-cuda,intel_gpu_pvc")}
# Which GPUs the outputs of tests/data/sycl-ls show, as entries of -fsycl-targets; "" one that nothing tells.
GPUS = {
    "01": ["intel_gpu_tgllp"], "02": [""], "03": [""], "04": ["amd_gpu_gfx1030"], "05": [""],
    "06": ["intel_gpu_dg2_g10", "intel_gpu_adl_s"], "07": ["intel_gpu_mtl_u", "nvidia_gpu_sm_86"], "08": ["amd_gpu_gfx1100"],
    "09": ["nvidia_gpu_sm_70"], "10": ["intel_gpu_bmg_g21", "intel_gpu_adl_s"], "11": [],
    "12": ["intel_gpu_bmg_g21", "intel_gpu_mtl_u"], "13": ["nvidia_gpu_sm_120", "nvidia_gpu_sm_89"], "14": [],
}
GATE_LINES = ["CPU device detected by sycl-ls, but no CPU target in fsycl-targets",
              "CPU kernels will not be compiled - disabling CPU-dependent tests/benchmarks"]


class Detect:
    def __init__(self, build, root, folder):
        self.build, self.root, self.folder = build, root, folder

    def say(self, good, name, *what):
        self.build.say(good, "detect: " + name, "found %s" % (what,))

    def tool(self, script):
        path = os.path.join(self.folder, "sycl-ls")
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n" + script)
        os.chmod(path, 0o755)
        return path

    def run(self, *args, script=None):
        more = ["--sycl-ls", self.tool(script) if script is not None else "/nowhere/sycl-ls"]
        status, out, err = self.build.devimg("sycl", "detect", "--format", "json", *more, *args)
        return status, json.loads(out) if out else {}, err.decode(errors="replace")

    @staticmethod
    def content(path):
        with open(path, encoding="utf-8") as f:
            return f.read()

    def targets(self, *args, script=None):
        _, doc, _ = self.run(*args, script=script)
        return doc["targets"], doc["has_cpu"]

    def table(self):
        with open(os.path.join(self.root, PAGE), encoding="utf-8") as f:
            rows = re.findall(r"^\| (\w+) \| (on|off) \| ([^|]+) \| (ON|OFF) \| (ON|OFF) \|$", f.read(), re.M)
        cells = {r[:3] for r in rows}
        every = set(itertools.product(("auto", "none", "native_cpu", "spir64_x86_64"), ("on", "off"), LISTS))
        self.say(cells == every and len(rows) == len(every), "D5: the page has every cell", every - cells)
        for request, stage, kind, substring, exact in rows:
            for names, (match, verdict) in itertools.product(LISTS[kind], (("substring", substring), ("exact", exact))):
                _, doc, err = self.run("--gate-only", "--request", request, "--stage1", stage, "--targets", names, "--match", match)
                self.say(doc.get("has_cpu") == (verdict == "ON"), "D5: %s, stage 1 %s, \"%s\", %s" % (request, stage, names, match),
                         doc, err)
                lines = [l for l in doc["status"] if l in GATE_LINES]
                told = stage == "on" and verdict == "OFF" and request != "none"
                self.say(lines == (GATE_LINES if told else []), "S0-14, D2: %s, %s, \"%s\", %s" % (request, stage, names, match), doc)

    def stage1(self):
        cpu = "echo '[opencl:cpu][opencl:0] Intel(R) OpenCL, CPU OpenCL 3.0 [1]'\n"
        native = "echo '[native_cpu:cpu][native_cpu:0] SYCL_NATIVE_CPU, CPU 0.1 [0]'\n"
        self.say(self.targets("--request", "none", "--targets", "native_cpu,spir64_gen", script="exit 9") == (["spir64_gen"], False),
                 "S0-4, S0-15, D3: none")
        for name in ("native_cpu", "spir64_x86_64"):
            self.say(self.targets("--request", name, "--targets", "a,b") == (["a", "b", name], True), "S0-5: " + name)
            self.say(self.targets("--request", name, "--targets", name + ",b") == ([name, "b"], True), "S0-3: %s is there" % name)
        self.say(self.targets(script=cpu) == (["spir64_x86_64"], True), "S0-6, S0-7: an OpenCL CPU")
        self.say(self.targets(script="echo '[host:cpu] SYCL host'") == (["spir64_x86_64"], True), "S0-7: a host CPU")
        self.say(self.targets(script=native + cpu) == (["spir64_x86_64"], True), "S0-7: both")
        self.say(self.targets(script=native) == (["native_cpu"], True), "S0-8: a native CPU")
        self.say(self.targets("--targets", " a ,,b, a", script=cpu) == (["a", "b", "spir64_x86_64"], True), "S0-3, D8: a list")
        for name, script in {"it is not there": None, "it fails": cpu + "echo why >&2; exit 1", "it crashes": cpu + "kill -SEGV $$",
                             "it lists none": "echo nothing", "it prints nothing": "", "a tag inside a line": "echo ' [opencl:cpu]'",
                             "on stderr": "echo '[opencl:cpu] x' >&2", "another host": "echo '[host:host:0] SYCL host'",
                             "binary": "head -c 100000 /dev/urandom", "a tag that does not end": "echo '[opencl:cpu'",
                             "without end": cpu + "yes '[opencl:cpu] x' | head -c 50000000"}.items():
            _, doc, _ = self.run(script=script)
            self.say((doc["targets"], doc["has_cpu"]) == ([], False), "S0-9: " + name, doc)
            if name in ("it fails", "it crashes", "it is not there", "without end"):
                self.say(len(doc["warnings"]) == 1 and ("why" in doc["warnings"][0]) == (name == "it fails"), "S0-9: said: " + name, doc)
        start = time.monotonic()
        _, doc, _ = self.run("--timeout", "1", script=cpu + "sleep 60 & sleep 60")
        self.say(doc["targets"] == [] and len(doc["warnings"]) == 1 and time.monotonic() - start < 30, "S0-9, D7: it hangs", doc)
        for request in ("AUTO", " none", "", "OFF"):
            _, doc, _ = self.run("--request", request, script=cpu)
            named = all(w in doc["warnings"][0] for w in ('"%s"' % request, "auto", "none", "native_cpu", "spir64_x86_64"))
            self.say(doc["has_cpu"] and len(doc["warnings"]) == 1 and named, 'S0-10, D6: "%s"' % request, doc)
        crlf = "printf '[opencl:cpu:0] Intel OpenCL\\r\\n'"
        self.say(self.targets(script=crlf) == (["spir64_x86_64"], True), "D7: lines with CR LF, and the older tag")
        _, doc, _ = self.run("--targets", "nvptx64-nvidia-cuda", script=cpu)
        self.say(doc["status"][-1] == "Using SYCL targets: nvptx64-nvidia-cuda,spir64_x86_64", "S0-11: the list is said", doc)

    def order(self):
        status, out, _ = self.build.devimg("sycl", "detect", "--gate-only", "--stage1", "on", "--targets", "a")
        self.say(status == 0 and out.decode().splitlines() ==
                 ["-- Using SYCL targets: a", *["-- " + l for l in GATE_LINES], "-- CPU device code: OFF"], "S0-11 to S0-14: lines", out)
        status, _, _ = self.build.devimg("sycl", "detect", "--gate-only", "--targets", "a", "--require-cpu")
        self.say(status == 1, "S0-24: --require-cpu", status)
        status, _, err = self.build.devimg("sycl", "detect", "--gate-only", "--gpus", "--targets", "a")
        self.say(status == 2 and b"--gpus" in err, "no GPU is added where nothing is asked", err)
        _, doc, _ = self.run("--gate-only", "--stage1", "on", "--targets", "spir64_gen")
        _, lone, _ = self.run("--gate-only", "--request", "native_cpu", "--targets", "nvptx64-nvidia-cuda", script="touch '%s/ran'" % self.folder)
        self.say(lone["has_cpu"] is False and lone["targets"] == ["nvptx64-nvidia-cuda"] and not os.path.exists(os.path.join(self.folder, "ran")),
                 "S0-12, S0-13, D1: the gate alone runs nothing and adds nothing", lone)
        self.say(doc["matched"] == "spir64_gen" and doc["matched_is_cpu_target"] is False and "spir64_gen" in doc["notes"][0],
                 "S0-26, D4: what matched", doc)

    def gpus(self):
        """Each GPU once, and none named after another."""
        level_zero = "[level_zero:gpu][level_zero:0] Intel(R) oneAPI, Intel(R) %s 12.55.8 [1.6]\n"
        opencl = "[opencl:gpu][opencl:%d] %s, %s OpenCL 3.0 NEO  [25.05]\n"
        cuda = "[cuda:gpu][cuda:%d] NVIDIA CUDA BACKEND, NVIDIA A100 8.0 [CUDA 12.9]\n"
        hip = "[hip:gpu][hip:0] AMD HIP BACKEND, AMD Radeon GPU gfx1100 [HIP 60342.13]\n"
        block = "Platform [#1]:\n    Name     : P\n        Device [#0]:\n        Type : gpu\n        Name : %s\n        Architecture: %s\n"
        cases = {
            "Intel through OpenCL too": (level_zero % "A" + opencl % (0, "Intel(R) OpenCL", "Intel(R) A"), ["intel_gpu_dg2_g10"]),
            "Intel under another name": (opencl % (0, "Intel(R) OpenCL", "Arc") + level_zero % "A", ["intel_gpu_dg2_g10"]),
            "one more through OpenCL": (level_zero % "A" + opencl % (0, "Intel(R) OpenCL", "Intel(R) B") +
                                        opencl % (1, "Intel(R) OpenCL", "Intel(R) A"), ["intel_gpu_dg2_g10", None]),
            "NVIDIA through OpenCL too": (opencl % (0, "NVIDIA CUDA", "NVIDIA A100") + cuda % 0, ["nvidia_gpu_sm_80"]),
            "two alike": (cuda % 0 + cuda % 1 + opencl % (0, "NVIDIA CUDA", "NVIDIA A100") + opencl % (1, "NVIDIA CUDA", "NVIDIA A100"),
                          ["nvidia_gpu_sm_80"] * 2),
            "AMD through OpenCL too": (hip + opencl % (0, "AMD Accelerated Parallel Processing", "gfx1100"), ["amd_gpu_gfx1100"]),
            "NVIDIA's is not Intel's": (level_zero % "A" + opencl % (0, "NVIDIA CUDA", "NVIDIA A100"), ["intel_gpu_dg2_g10", None]),
            "a block of another device": ("[level_zero:gpu] P, X 1.3 [1]\n" + block % ("Y", "intel_gpu_pvc"), [None]),
            "a block of this device": ("[level_zero:gpu] P, X 1.3 [1]\n" + block % ("X ", "intel_gpu_pvc"), ["intel_gpu_pvc"]),
            "gfx and no number": ("[hip:gpu][hip:0] AMD HIP BACKEND, AMD gfxsomething [1]\n", [None]),
        }
        for name, (text, expected) in cases.items():
            _, doc, _ = self.run("--gpus", "--request", "none", script="cat <<'END'\n%sEND\n" % text)
            self.say([g["target"] for g in doc["gpus"]] == expected, "GPUs: " + name, doc)
        _, doc, _ = self.run(script="cat '%s'" % os.path.join(self.root, "tests", "data", "sycl-ls", "12-verbose-2026-aliases.txt"))
        self.say([g["aliases"] for g in doc["gpus"]] == [[], ["intel_gpu_mtl_s", "intel_gpu_arl_u", "intel_gpu_arl_s"]] and
                 [g["pci_id"] for g in doc["gpus"]] == [0xe20b, 0x7d45], "GPUs: further names and PCI ids", doc)
        _, doc, _ = self.run("--gate-only", "--targets", "SPIR64_GEN, spir64_gen,Native_CPU")
        self.say(doc["targets"] == ["spir64_gen", "native_cpu"] and len(doc["warnings"]) == 1, "D8: case is folded", doc)
        _, doc, _ = self.run("--gate-only", "--targets", "bmg-g21,Xe-LPG")
        self.say(doc["targets"] == ["intel_gpu_" + n for n in ("bmg_g21", "mtl_u", "mtl_h")] and doc["warnings"] == []
                 and doc["has_gpu"], "D8: a name of the tables is named as the compiler takes it, a family stands for all its targets", doc)
        _, doc, _ = self.run("--gate-only", "--targets", "intel_gpu_bmg_g12,my_cpu,nvptx64-nvidia-cuda,amd_gpu_gfx90a")
        self.say(doc["targets"] == ["intel_gpu_bmg_g12", "my_cpu", "nvptx64-nvidia-cuda", "amd_gpu_gfx90a"] and len(doc["warnings"]) == 2
                 and "intel_gpu_bmg_g21" in doc["warnings"][0] and "my_cpu" in doc["warnings"][1], "D8: an unknown name is said, and passed on", doc)
        _, doc, _ = self.run("--gate-only", "--targets", "spir64")
        self.say(doc["has_gpu"], "SPIR-V runs on a GPU", doc)
        _, doc, _ = self.run(script="echo 'Warning: SYCL_DEVICE_FILTER environment variable is set to cuda.' >&2")
        self.say(any("hidden" in n for n in doc["notes"]), "an older filter is said", doc)
        start = time.monotonic()
        many = "i=0; while [ $i -lt 5000 ]; do echo '[opencl:gpu] Intel, a OpenCL 3 [1]'; echo '[cuda:gpu] N, b 8.6 [1]'; i=$((i+1)); done"
        status, _, _ = self.run(script=many)
        self.say(status == 0 and time.monotonic() - start < 20, "many GPUs: an answer in seconds", status)

    def build_tools(self):
        """Lists of CMake keep their length whatever a device is called; Meson itself reads the keys."""
        path = lambda name: os.path.join(self.folder, name)
        names = ["a [b", "c ]d;e", "f [[ ${X} @Y@ \\"]
        script = "cat <<'END'\n%sEND\n" % "".join("[cuda:gpu][cuda:%d] N, %s 0.0 [1]\n" % (i, n) for i, n in enumerate(names))
        _, doc, _ = self.run("--cmake", path("n.cmake"), "--meson", path("k.txt"), "--targets", "native_cpu,spir64_gen", script=script)
        if shutil.which("cmake"):
            with open(path("t.cmake"), "w", encoding="utf-8") as f:
                f.write('include("%s")\nlist(LENGTH DEVIMG_SYCL_NOTES n)\nmessage("${n}")\n' % path("n.cmake"))
            status, _, err = self.build.run(["cmake", "-P", path("t.cmake")])
            self.say(status == 0 and err.decode().strip() == str(len(doc["notes"])) and len(doc["notes"]) > 3,
                     "CMake: as many notes as there are", status, err)
        os.makedirs(path("meson"), exist_ok=True)
        with open(path("meson/meson.build"), "w", encoding="utf-8") as f:
            f.write("project('p')\nk = import('keyval').load('%s')\nassert(k['has_cpu_target'] == '1')\n"
                    "assert(k['targets'].split(',') == ['native_cpu', 'spir64_gen'])\n" % path("k.txt"))
        if shutil.which("meson"):
            status, out, err = self.build.run(["meson", "setup", path("meson/b"), path("meson")])
            self.say(status == 0, "S0-1: Meson reads what --meson writes", out, err)

    def samples(self):
        folder = os.path.join(self.root, "tests", "data", "sycl-ls")
        with open(os.path.join(folder, "expected.tsv"), encoding="utf-8") as f:
            rows = list(csv.DictReader(f, delimiter="\t"))
        for row in rows:
            _, doc, _ = self.run("--gpus", script="cat '%s'" % os.path.join(folder, row["file"]))
            cpu = ["spir64_x86_64"] if row["has_opencl_cpu"] == "yes" else ["native_cpu"] if row["has_native_cpu"] == "yes" else []
            gpus = GPUS[row["file"][:2]]
            self.say([g["target"] or "" for g in doc["gpus"]] == gpus and len(gpus) == int(row["gpu_count_physical"]) and
                     doc["targets"] == [g for g in gpus if g] + cpu and doc["has_cpu"] == bool(cpu), "sample " + row["file"], doc)
            filtered = row["warning_kind"] != "none"
            self.say(any("ONEAPI_DEVICE_SELECTOR" in n for n in doc["notes"]) == filtered, "sample %s: filtered" % row["file"], doc)

    def files(self):
        evil = "it's \"a\" \\ ${X} $(ls) ]==] '''\"\"\" %d #;\t\x01"
        script = "cat <<'END'\n[cuda:gpu][cuda:0] %s 8.6 [1]\n[opencl:cpu] %s\nEND\n" % (evil, evil)
        path = lambda name: os.path.join(self.folder, name)
        args = ["--header", path("h.h"), "--cmake", path("c.cmake"), "--meson", path("m.txt"), "--python", path("features.py"),
                "--prefix", "FOO", "--gpus"]
        for state, more in (("on", []), ("off", ["--request", "none"])):
            self.run(*args, *more, script=script)
            expected = state == "on"
            with open(path("h.c"), "w", encoding="utf-8") as f:
                f.write('#include "h.h"\n#if FOO_HAS_CPU_TARGET != %d || !FOO_HAS_GPU_TARGET\n#error no\n#endif\n'
                        "const char *targets(void);\nconst char *targets(void) { return FOO_TARGETS; }\n" % expected)
            for compiler in (["cc", "-std=c17"], ["c++", "-x", "c++"]):
                status, _, err = self.build.run([*compiler, "-Wall", "-Wextra", "-Werror=undef", "-Werror", "-c", path("h.c"), "-o",
                                                 path("h.o")])
                self.say(status == 0, "S0-16: header, %s, %s" % (state, compiler[0]), err)
            self.compiled_out(expected)
            spec = importlib.util.spec_from_file_location("features", path("features.py"))
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            features = module.compiled_features()
            self.say(type(features["has_cpu_target"]) is bool and features["has_cpu_target"] is expected and
                     features["targets"][0] == "nvidia_gpu_sm_86", "S0-17: Python, " + state, features)
            with open(path("m.txt"), encoding="utf-8") as f:
                values = dict(l.split("=", 1) for l in f.read().splitlines() if not l.startswith("#"))
            self.say(values["has_cpu_target"] == "%d" % expected and values["targets"].startswith("nvidia_gpu_sm_86"),
                     "Meson, " + state, values)
            if shutil.which("cmake"):
                with open(path("t.cmake"), "w", encoding="utf-8") as f:
                    f.write('include("%s")\nlist(LENGTH FOO_TARGETS n)\nmessage("${FOO_HAS_CPU_TARGET} ${n}")\n' % path("c.cmake"))
                status, _, err = self.build.run(["cmake", "-P", path("t.cmake")])
                self.say(status == 0 and err.decode().strip() == ("ON 2" if expected else "OFF 1"), "CMake, " + state, status, err)
        before = [os.stat(path(n)).st_mtime_ns for n in ("h.h", "c.cmake", "m.txt", "features.py")]
        self.run(*args, "--request", "none", script=script)
        self.say(before == [os.stat(path(n)).st_mtime_ns for n in ("h.h", "c.cmake", "m.txt", "features.py")],
                 "a file that would not change is left alone")
        with open(path("mine.h"), "w", encoding="utf-8") as f:
            f.write("int mine;\n")
        status, _, _ = self.run("--header", path("mine.h"), script=script)
        with open(path("mine.h"), encoding="utf-8") as f:
            self.say(status == 3 and f.read() == "int mine;\n", "somebody else's file is not replaced", status)
        status, _, err = self.run("--prefix", "1 2", script=script)
        self.say(status == 2 and "identifier" in err, "a prefix is an identifier", status, err)
        before = self.content(path("c.cmake"))
        status, _, err = self.run(*args, "--targets", "evil\";system(1)//,$(touch x)", "--request", "none", script=script)
        self.say(status == 2 and "letters, digits" in err and self.content(path("c.cmake")) == before,
                 "a target that a language could read more into is refused", status, err)
        _, doc, _ = self.run(script="for i in $(seq 5000); do echo '[level_zero:gpu] G'; done; echo '[opencl:cpu] C'")
        self.say(doc["has_cpu"] is False and "more than 4096" in " ".join(doc["warnings"]), "a list without end is not believed", doc["warnings"])

    def compiled_out(self, cpu):
        """A list of types that has the CPU's only where the project's own macro and the header's say so."""
        path = lambda name: os.path.join(self.folder, name)
        with open(path("types.c"), "w", encoding="utf-8") as f:
            f.write('#include "h.h"\nint types[] = { 1,\n#if HAS_HOST_BACKEND && FOO_HAS_CPU_TARGET\n    77,\n#endif\n};\n')
        for host in (0, 1):
            status, out, err = self.build.run(["cc", "-E", "-P", "-Werror=undef", "-DHAS_HOST_BACKEND=%d" % host, path("types.c")])
            self.say(status == 0 and (b"77" in out) == (cpu and host == 1), "S0-19: host %d, CPU %d" % (host, cpu), out, err)

    def all(self):
        self.table()
        self.stage1()
        self.order()
        self.gpus()
        self.build_tools()
        self.samples()
        self.files()
