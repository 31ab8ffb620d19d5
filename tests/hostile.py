# SPDX-License-Identifier: Apache-2.0
"""What files and programs made to do harm must not do: hang devimg, outlive it, grow its memory or
its output with a product of what they hold, or pass for read. Run by tests/run.py."""
import os
import select
import signal
import subprocess

SECONDS = 20  # an answer in seconds, also under ASan on a busy machine


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
        slow = self.script("slow", "#!/bin/sh\nprintf x >&$HELD\nexec sleep 60\n")
        image = os.path.join(self.data, "intel", "lib_aot.so")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.interrupted("sycl detect", number, "sycl", "detect", "--sycl-ls", slow)
        self.interrupted("sycl targets", signal.SIGINT, "sycl", "targets", "dg2-g10", "--ocloc", slow)
        self.interrupted("sycl doctor", signal.SIGINT, "sycl", "doctor", "--ocloc", slow)
        self.interrupted("check", signal.SIGINT, "check", "--targets", "dg2-g10", "--ocloc", slow, image)

    def all(self):
        self.programs()
