# SPDX-License-Identifier: Apache-2.0
"""What a person gets at the keyboard: help of groups, options that are listed, completion in bash. Part of suite `cli`."""
import os
import re
import shlex
import shutil

# Shared options that change nothing: taken, as every command takes them, and not listed.
UNLISTED = {"targets": "quiet verbose", "sycl detect": "verbose", "sycl targets": "verbose", "sycl header": "verbose", "sycl probe": "verbose", "sycl gtest-filter": "quiet verbose",
            "help": "quiet verbose format color"}
DRIVER = """source ./completion
COMP_WORDS=(%s) COMP_CWORD=%d
_devimg
((${#COMPREPLY[@]})) && printf '%%s\\n' "${COMPREPLY[@]}"
exit 0
"""


class Shell:
    def __init__(self, build, root, folder):
        self.build, self.folder = build, folder
        with open(os.path.join(root, "src", "cli", "commands.def"), encoding="utf-8") as f:
            names = re.findall(r"^DVI_COMMAND\((\w+)\)", f.read(), re.M)
        self.commands = [n.replace("sycl_", "sycl ", 1).replace("_", "-") for n in names]

    def say(self, good, name, *what):
        self.build.say(good, "cli: " + name, "found %s" % (what,))

    def groups(self):
        own = [c for c in self.commands if c.startswith("sycl ")]
        for args in (["help", "sycl"], ["sycl", "--help"], ["sycl", "-h"]):
            status, out, err = self.build.devimg(*args)
            found = re.findall(r"^  devimg (sycl [a-z-]+) ", out.decode(), re.M)
            self.say(status == 0 and found == own and not err, "%s lists the commands of the group" % " ".join(args), status, out, err)
        status, out, err = self.build.devimg("sycl")
        self.say(status == 2 and not out and b"sycl detect" in err, "a group alone is wrong usage", status, out, err)
        status, out, err = self.build.devimg("help", "sycl", "nonsense")
        self.say(status == 2 and not out and err, "a command that the group has not", status, out, err)

    def listed(self):
        for command in self.commands:
            status, out, _ = self.build.devimg("help", *command.split())
            _, page, _ = self.build.devimg("help", "--man", *command.split())
            for option in ("quiet", "verbose", "format", "color", "help", "version"):
                there = ("--%s" % option) in re.sub(r"devimg help --\w+|--color=", "", out.decode())
                if command in UNLISTED or option in ("help", "version"):
                    expected = option not in UNLISTED.get(command, "").split()
                    self.say(status == 0 and there == expected, "help %s: --%s" % (command, option), there)
                    self.say((("\\-\\-%s" % option) in page.decode()) == expected, "man page of %s: --%s" % (command, option), there)
        for option in ("-q", "-v"):
            status, _, err = self.build.devimg("targets", "tgllp", option)
            self.say(status == 0, "one that is not listed is taken: " + option, err)

    def complete(self, *words):
        with open(os.path.join(self.folder, "driver"), "w", encoding="utf-8") as f:
            f.write(DRIVER % (" ".join(map(shlex.quote, ("devimg",) + words)), len(words)))
        status, out, err = self.build.run(["bash", "driver"], cwd=self.folder)
        return out.decode().split() if status == 0 and not err else err.decode()

    def completion(self):
        if not shutil.which("bash"):
            print("skipped: cli: completion: there is no bash")
            return
        with open(os.path.join(self.folder, "completion"), "wb") as f:
            f.write(self.build.devimg("help", "--completion", "bash")[1])
        first = {c.split()[0] for c in self.commands}
        second = {c.split()[1] for c in self.commands if " " in c}
        requests = {"auto", "none", "native_cpu", "spir64_x86_64"}
        for words, expected in (
                (["ch"], {"check"}), (["sycl", ""], second), (["help", ""], first), (["help", "sycl", ""], second),
                (["help", "check", ""], set()), (["help", "--completion", ""], {"bash", "zsh"}),
                (["sycl", "detect", "--request", ""], requests), (["sycl", "detect", "--request", "na"], {"native_cpu"}),
                (["sycl", "detect", "--request", "="], requests), (["sycl", "detect", "--request", "=", "na"], {"native_cpu"}),
                (["check", "--targets", "bmg-g2"], {"bmg-g21"} | {n for n in self.names() if n.startswith("bmg-g2")}),
                (["check", "--targets", "tgllp,lnl-"], {"tgllp," + n for n in self.names() if n.startswith("lnl-")}),
                (["check", "--targets", "default-"], {"default-intel"}),
                (["sycl", "targets", "tgll"], {"tgllp"}), (["targets", "tgll"], {"tgllp"}),
                (["check", "--sub-group-sizes", ""], {"targets", "any"}), (["check", "--compression", "r"], {"required"})):
            found = self.complete(*words)
            self.say(isinstance(found, list) and set(found) == expected, "completion of %s" % " ".join(words), found)
        found = self.complete("targets", "--")
        self.say("--format" in found and "--quiet" not in found, "completion offers what is listed", found)

    def names(self):
        _, out, _ = self.build.devimg("targets")
        return {line.split()[0] for line in out.decode().splitlines()[1:]}

    def all(self):
        self.groups()
        self.listed()
        self.completion()
