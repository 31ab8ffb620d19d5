#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`devimg sycl compile` with real compilers and a real scheduler: compile.py DEVIMG CACHE

1. The units of sycl/units, compiled by the DPC++ front end to SPIR-V (DEVIMG_SYCL: what sycl/setup.sh made), through ocloc.
2. CUDA units for several GPUs with nvcc, from the packages of PyPI (DEVIMG_NVCC: a folder with them, unpacked).
3. The same through Slurm on this machine (as root, with slurm-wlm and munge): --launcher "srun -n1".

What each cell must be is asked of the compiler alone, one call a cell. The last line reads "N passed, N failed"."""
import glob
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ["nvidia-cuda-nvcc==13.*", "nvidia-cuda-crt==13.*", "nvidia-nvvm==13.*", "nvidia-cuda-runtime==13.*", "nvidia-cuda-cccl==13.*"]
INTEL = ["tgllp", "adl-s", "dg2-g10", "pvc"]
GPUS = ["sm_75", "sm_80", "sm_90", "sm_120"]
CUDA = {
    "scale.cu": '#include "scale.h"\n__global__ void scale(float *v) { v[threadIdx.x] *= SCALE; }\n',
    "waits.cu": '#include "scale.h"\n__global__ void waits(int *v) { asm volatile("griddepcontrol.wait;"); v[0] = 1; }\n',  # sm_90 and newer
    "large.cu": "__global__ void large(float *v) { __shared__ float s[14000]; s[threadIdx.x] = v[0]; __syncthreads(); v[0] = s[13999 - threadIdx.x]; }\n",
    "wrong.cu": "__global__ void wrong(float *v) { v[0] = nope; }\n",
}
results = {"passed": 0, "failed": 0}


def say(good, name, *what):
    results["passed" if good else "failed"] += 1
    if not good:
        print("FAILED compile: %s\n    %s" % (name, "\n    ".join(str(w)[:3000] for w in what)))


def skip(name, why):
    print("skipped: compile: %s: %s" % (name, why))


def run(argv, **more):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=580, check=False, **more)


class Matrix:
    def __init__(self, devimg, work):
        self.devimg, self.work = devimg, work

    def compile(self, *args, env=None):
        p = subprocess.run([self.devimg, "sycl", "compile", "--format", "json", "--work", os.path.join(self.work, "kept"), "-j", "2", *args], cwd=self.work,
                           env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=580, check=False)
        doc = json.loads(p.stdout) if p.stdout else {"units": [], "cached": None}
        return p.returncode, doc, {(u["unit"], t["target"]): t for u in doc["units"] for t in u["targets"]}, p.stderr.decode(errors="replace")

    def judge(self, name, args, alone):
        """alone: (unit, target) -> whether the compiler takes it."""
        status, doc, cells, err = self.compile(*args)
        say({k: c["ok"] for k, c in cells.items()} == alone and status == (0 if all(alone.values()) else 1), name + ": each cell is as the compiler alone has it",
            [k for k in alone if k not in cells or cells[k]["ok"] != alone[k]], status, err)
        say(doc["cached"] == 0 and all(c["message"] for c in cells.values() if not c["ok"]), name + ": a message for each failure", doc)
        start = time.monotonic()
        status, again, same, _ = self.compile(*args)
        say(again["cached"] == len(alone) and {k: (c["ok"], c["message"]) for k, c in same.items()} == {k: (c["ok"], c["message"]) for k, c in cells.items()} and
            time.monotonic() - start < 5, name + ": all is known the second time", again["cached"], time.monotonic() - start)
        return cells


def sycl(devimg, sdk):
    if not shutil.which("ocloc") or not os.path.exists(os.path.join(sdk, "sycl-to-spirv")):
        return skip("SYCL", "no ocloc, or no %s/sycl-to-spirv (tests/real/sycl/setup.sh)" % sdk)
    with tempfile.TemporaryDirectory() as work:
        alone, units = {}, []
        for source in sorted(glob.glob(os.path.join(HERE, "sycl", "units", "*.cpp"))):
            name = os.path.basename(source)[:-4]
            p = run([os.path.join(sdk, "sycl-to-spirv"), source, os.path.join(work, name)])
            made = glob.glob(os.path.join(work, name, "*.spv"))
            say(p.returncode == 0 and len(made) == 1, "SYCL: %s is compiled to SPIR-V" % name, p.stdout.decode(errors="replace"))
            units.append(name + ".spv")
            os.rename(made[0], os.path.join(work, units[-1]))
            for target in INTEL:
                p = run(["ocloc", "compile", "-spirv_input", "-file", units[-1], "-device", target, "-output", "alone", "-output_no_suffix"], cwd=work)
                alone[units[-1], target] = p.returncode == 0
        cells = Matrix(devimg, work).judge("SYCL", [*units, "--targets", ",".join(INTEL)], alone)
        narrow = cells["narrow.spv", "pvc"]
        say((narrow["ok"], narrow["sub_group_size"]) == (False, 8) and "needs_8" in narrow["kernel"] and cells["narrow.spv", "dg2-g10"]["ok"],
            "S1-28: DPC++'s kernel with size 8 is refused by pvc alone", narrow)
        say(not cells["precise.spv", "dg2-g10"]["ok"] and cells["precise.spv", "pvc"]["ok"], "SYCL: fp64 is refused by dg2-g10", cells["precise.spv", "dg2-g10"])


def nvcc_folder(cache):
    given = os.environ.get("DEVIMG_NVCC")
    folder = given or os.path.join(cache, "nvcc")
    found = glob.glob(os.path.join(folder, "**", "bin", "nvcc"), recursive=True)
    if not found and not given:
        p = run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", os.path.join(folder, "wheels"), *PACKAGES])
        if p.returncode != 0:
            print(p.stdout.decode(errors="replace"))
        for wheel in glob.glob(os.path.join(folder, "wheels", "*.whl")):
            run([sys.executable, "-m", "zipfile", "-e", wheel, folder])
        found = glob.glob(os.path.join(folder, "nvidia", "*", "bin", "nvcc"))
    for nvcc in found:
        top = os.path.dirname(os.path.dirname(nvcc))
        for tool in glob.glob(os.path.join(top, "bin", "*")) + glob.glob(os.path.join(top, "nvvm", "bin", "*")):
            if os.path.isfile(tool):  # zipfile forgets who may run it
                os.chmod(tool, 0o755)
    return found[0] if found else None


def write(folder, files):
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


def cuda(devimg, nvcc):
    with tempfile.TemporaryDirectory() as work:
        write(work, dict(CUDA, **{"scale.h": "#define SCALE 2.0f\n"}))
        alone = {(u, g): run([nvcc, "-arch=" + g, "-cubin", "-o", "alone", u], cwd=work).returncode == 0 for u in CUDA for g in GPUS}
        matrix = Matrix(devimg, work)
        args = [*sorted(CUDA), "--targets", ",".join(GPUS), "--nvcc", nvcc]
        cells = matrix.judge("CUDA", args, alone)
        say([cells["waits.cu", g]["ok"] for g in GPUS] == [False, False, True, True], "CUDA: an instruction of sm_90", cells["waits.cu", "sm_80"])
        large = cells["large.cu", "sm_75"]
        say(large["kernel"] == "_Z5largePf" and "shared data" in large["message"], "CUDA: ptxas names the kernel", large)
        write(work, {"scale.h": "#define SCALE 3.0f\n"})
        _, _, cells, _ = matrix.compile(*args)
        say({u for (u, _), c in cells.items() if not c["cached"]} == {"scale.cu", "waits.cu"}, "CUDA: a header: exactly its users", cells)
        _, _, cells, _ = matrix.compile(*args, env=dict(os.environ, NVCC_APPEND_FLAGS="-DX"))
        say(not any(c["cached"] for c in cells.values()), "CUDA: a variable of nvcc: all", cells)
        other = os.path.join(work, "cuda")
        shutil.copytree(os.path.dirname(os.path.dirname(nvcc)), other, symlinks=True)
        args[-1] = os.path.join(other, "bin", "nvcc")
        matrix.compile(*args)
        with open(os.path.join(other, "bin", "ptxas"), "ab") as f:
            f.write(b"\0")
        _, doc, cells, _ = matrix.compile(*args)
        say(doc["cached"] == 0 and {k: c["ok"] for k, c in cells.items()} == alone, "CUDA: another ptxas: all", doc["cached"])


class Slurm:
    """munged, slurmctld and slurmd of our own, in a folder of their own."""

    def __init__(self, folder):
        self.folder, self.started = folder, []
        host = socket.gethostname().split(".")[0]
        path = lambda name: os.path.join(folder, name)
        for name in ("state", "spool", "log"):
            os.mkdir(path(name))
        with open(path("key"), "wb") as f:
            f.write(os.urandom(1024))
        os.chmod(path("key"), 0o400)
        ports = []
        for _ in range(2):
            with socket.socket() as s:
                s.bind(("", 0))
                ports.append(s.getsockname()[1])
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
        with open(path("slurm.conf"), "w", encoding="utf-8") as f:
            f.write("""ClusterName=devimg
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={p[0]}
SlurmdPort={p[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=defer,sched_interval=2
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
""".format(host=host, p=ports, folder=folder, cpus=os.cpu_count(), memory=memory // 2))
        self.env = dict(os.environ, SLURM_CONF=path("slurm.conf"))

    def start(self):
        path = lambda name: os.path.join(self.folder, name)
        os.chmod(self.folder, 0o755)
        for argv in (["munged", "-F", "--force", "--key-file", path("key"), "--socket", path("munge.socket"), "--pid-file", path("munge.pid"), "--log-file",
                      path("log/munge"), "--seed-file", path("munge.seed")], ["slurmctld", "-D"], ["slurmd", "-D"]):
            with open(path("log/out." + argv[0]), "wb") as log:
                self.started.append(subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
            time.sleep(1)
        for _ in range(60):
            if run(["srun", "-n1", "true"], env=self.env).returncode == 0:
                return True
            time.sleep(1)
        return False

    def logs(self):
        text = ""
        for name in sorted(os.listdir(os.path.join(self.folder, "log"))):
            with open(os.path.join(self.folder, "log", name), encoding="utf-8", errors="replace") as f:
                text += "%s:\n%s\n" % (name, "".join(f.readlines()[-10:]))
        return text

    def steps(self):
        return run(["squeue", "-h"], env=self.env).stdout.decode().split("\n")[:-1]

    def stop(self):
        for p in reversed(self.started):
            p.terminate()
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()


def slurm(devimg, nvcc):
    missing = [c for c in ("munged", "slurmctld", "slurmd", "srun", "squeue") if not shutil.which(c, path=os.environ["PATH"] + ":/usr/sbin")]
    if os.getuid() != 0 or missing:
        return skip("Slurm", "needs root, slurm-wlm and munge; missing: " + (" ".join(missing) or "root"))
    os.environ["PATH"] += ":/usr/sbin"
    with tempfile.TemporaryDirectory(prefix="slurm") as folder, tempfile.TemporaryDirectory() as work:
        cluster = Slurm(folder)
        try:
            if not cluster.start():
                return say(False, "Slurm: it starts", cluster.logs())
            kernels = {"narrow.cl": "__attribute__((intel_reqd_sub_group_size(8))) __kernel void narrow(__global int *a) { a[0] = 1; }\n",
                       "wide.cl": "__attribute__((intel_reqd_sub_group_size(16))) __kernel void wide(__global int *a) { a[0] = 1; }\n"}
            write(work, dict(kernels, **CUDA, **{"scale.h": "#define SCALE 2.0f\n"}))
            matrix = Matrix(devimg, work)
            mark = "import os, sys; open(%r, 'a').write(os.environ.get('SLURM_JOB_ID', 'none') + '\\n'); os.execvp(sys.argv[1], sys.argv[1:])" % os.path.join(work, "jobs")
            with open(os.path.join(work, "mark.py"), "w", encoding="utf-8") as f:
                f.write(mark)
            args = [*sorted(kernels), "--targets", "dg2-g10,pvc", "--launcher", "srun -n1 -Q %s '%s'" % (sys.executable, os.path.join(work, "mark.py"))]
            if nvcc:
                args = [*args, "scale.cu", "waits.cu", "--targets", "sm_80,sm_90", "--nvcc", nvcc]
            status, doc, cells, err = matrix.compile(*args, env=cluster.env)
            wanted = {("narrow.cl", "pvc"), ("waits.cu", "sm_80")} if nvcc else {("narrow.cl", "pvc")}
            say(status == 1 and {k for k, c in cells.items() if not c["ok"]} == wanted, "Slurm: the same table", doc, err, cluster.logs())
            say(cells["narrow.cl", "pvc"]["kernel"] == "narrow" and cells["narrow.cl", "pvc"]["sub_group_size"] == 8, "Slurm: diagnostics come through srun", cells)
            with open(os.path.join(work, "jobs"), encoding="utf-8") as f:
                jobs = f.read().split()
            say(len(jobs) == len(cells) == len(set(jobs)) and "none" not in jobs, "Slurm: a job for each command", jobs)
            _, doc, _, _ = matrix.compile(*[a for a in args if a != "--launcher" and not a.startswith("srun")])
            say(doc["cached"] == len(cells), "Slurm: what a cluster compiled is known without it", doc["cached"])
            p = subprocess.Popen([devimg, "sycl", "compile", "wide.cl", "--targets", "dg2-g10,pvc", "--again", "--work", "kept", "--launcher",
                                  "srun -n1 -Q sh -c 'sleep 120' "], cwd=work, env=cluster.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 30
            while not cluster.steps() and time.monotonic() < deadline:
                time.sleep(0.2)
            seen = cluster.steps()
            p.terminate()
            p.communicate(timeout=60)
            deadline = time.monotonic() + 30
            while cluster.steps() and time.monotonic() < deadline:
                time.sleep(0.2)
            say(seen and p.returncode == -15 and not cluster.steps(), "Slurm: SIGTERM ends the jobs", seen, p.returncode, cluster.steps())
        finally:
            cluster.stop()


def main(devimg, cache):
    devimg, cache = os.path.realpath(devimg), os.path.realpath(cache)
    os.makedirs(cache, exist_ok=True)
    sycl(devimg, os.environ.get("DEVIMG_SYCL") or os.path.join(cache, "sycl"))
    nvcc = nvcc_folder(cache)
    if nvcc and shutil.which("g++"):
        cuda(devimg, nvcc)
    else:
        skip("CUDA", "no nvcc (pip download), or no g++")
    slurm(devimg, nvcc)
    print("%d passed, %d failed" % (results["passed"], results["failed"]))
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
