# SPDX-License-Identifier: Apache-2.0
"""What a person gets at the keyboard: help of groups, options that are listed, completion in bash. Part of suite `cli`."""
import os
import re
import shlex
import shutil

# Shared options that would change nothing: neither listed nor taken.
UNLISTED = {"targets": "quiet verbose", "sycl detect": "verbose color", "sycl targets": "verbose", "sycl doctor": "verbose",
            "sycl gtest-filter": "quiet verbose color", "sycl anchor": "quiet verbose color",
            "sycl header": "verbose color", "sycl probe": "verbose", "help": "quiet verbose format color"}
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "intel")
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
        with open(os.path.join(root, "src", "check", "rules.def"), encoding="utf-8") as f:
            self.rules = set(re.findall(r'^DVI_RULE\(\w+, "([a-z-]+)"', f.read(), re.M))
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
        self.say(status == 2 and not out and err.count(b"\n") == 1 and all(c.split()[1].encode() in err for c in own),
                 "a group alone is wrong usage", status, out, err)
        for args in (["help", "sycl", "nonsense"], ["sycl", "nonsense"], ["sycl", "help", "nonsense"]):
            status, out, err = self.build.devimg(*args)
            self.say(status == 2 and not out and b"no command nonsense" in err, "%s: the group has no such command" % " ".join(args), status, out, err)
        for args, same in ((["sycl", "help"], ["help", "sycl"]), (["sycl", "help", "detect"], ["help", "sycl", "detect"])):
            self.say(self.build.devimg(*args) == self.build.devimg(*same), "%s is %s" % (" ".join(args), " ".join(same)))
        status, out, err = self.build.devimg("help", "--man", "sycl")
        found = re.findall(r"^\.BR devimg\\-(sycl)\\-([a-z-]+) \(1\)", out.decode(), re.M)
        self.say(status == 0 and [" ".join(f) for f in found] == own and not err, "a man page of the group", status, out, err)

    def pages(self):
        """What help and man page of each command hold beside the options."""
        columns = set()
        for line in self.build.devimg("help")[1].decode().splitlines():
            for command in self.commands:
                if line.startswith("  %s " % command):
                    columns.add(len(line) - len(line[2 + len(command):].lstrip()))
        self.say(len(columns) == 1, "the summaries of all commands stand in one column", columns)
        for command in self.commands:
            _, out, _ = self.build.devimg("help", *command.split())
            _, page, _ = self.build.devimg("help", "--man", *command.split())
            text, page = out.decode(), page.decode()
            blanks = [line for line in (text + page).splitlines() if line.endswith(" ")]
            self.say(not blanks, "help and man page of %s: no blank ends a line" % command, blanks)
            for name, option in (("DEVIMG_JOBS", "  -j, --jobs "), ("NO_COLOR", "--color ")):
                self.say((".B " + name in page) == (option in text), "man page of %s: %s goes with its option" % (command, name))
            if not re.search(r"^  -j, --jobs ", text, re.M):
                self.say("of each file" not in text, "help %s: no file is read" % command)

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
            for option in UNLISTED.get(command, "").split():
                status, out, err = self.build.devimg(*command.split(), "--" + option)
                self.say(status == 2 and not out and b"unknown option --" + option.encode() in err,
                         "%s: --%s is not taken" % (command, option), status, out, err)

    def folding(self):
        """-v acts where findings fold, also in commands that only look."""
        with open(os.path.join(DATA, "lib_zstd_cut.so"), "rb") as f:
            member = f.read()
        path, room = os.path.join(self.folder, "two.a"), os.path.join(self.folder, "images")
        with open(path, "wb") as f:  # ar(5): name, time, owner, group, mode, size, end
            f.write(b"!<arch>\n")
            for name in (b"a.o/", b"b.o/"):
                f.write(b"%-16s%-12d%-6d%-6d%-8d%-10d`\n" % (name, 0, 0, 0, 644, len(member)) + member + b"\n" * (len(member) % 2))
        for args in (["list", path], ["kernels", path], ["extract", "--force", "-o", room, path]):
            counts = []
            for more in ([], ["-v"]):
                _, out, _ = self.build.devimg(*args, *more)
                counts.append((len(re.findall(r"^  error ", out.decode(), re.M)), b"(-v lists them)" in out))
            self.say(counts[0][0] < counts[1][0] and [c[1] for c in counts] == [True, False], "%s -v lists each finding" % args[0], counts)

    def folders(self):
        """extract makes no folder for nothing."""
        room = os.path.join(self.folder, "none")
        for args in (["no-such-file"], [os.path.join(DATA, "make-fixtures.sh")],
                     ["--target", "lnl-m", os.path.join(DATA, "lib_aot_zstd.so")]):
            self.build.devimg("extract", *args, "-o", room)
            self.say(not os.path.exists(room), "extract %s leaves no folder" % os.path.basename(args[-1]))
        os.mkdir(room)
        self.build.devimg("extract", "no-such-file", "-o", room)
        self.say(os.path.isdir(room), "extract leaves a folder that was there")

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
                (["help", "check", ""], set()), (["help", "--completion", ""], {"bash", "zsh"}), (["help", "--man", ""], first),
                (["help", "--man", "sycl", ""], second), (["sycl", "--h"], {"--help"}), (["README.md", "--im"], {"--images"}), (["--im"], {"--images"}),
                (["check", "--rules", "reg"], {"registration="}), (["check", "--rules", ""], {r + "=" for r in self.rules}),
                (["check", "--rules", "registration", "=", ""], {"on", "off", "error", "warning", "note"}),
                (["check", "--no-rule", ""], self.rules), (["check", "--no-rule", "gaps,regi"], {"gaps,registration"}),
                (["check", "--fallback", ""], {"spir64", "spirv64"}), (["sycl", "flags", "--fallback", ""], {"spir64", "spirv64"}),
                (["sycl", "doctor", "--require", ""], {"ocloc", "version", "targets", "igc", "sycl-ls", "icpx", "icx-cl", "clang++", "acpp"}),
                (["check", "--targets", "xe2"], {"xe2", "xe2-hpg", "xe2-lpg"}), (["targets", "gen9"], {"gen9"}),
                (["sycl", "detect", "--request", ""], requests), (["sycl", "detect", "--request", "na"], {"native_cpu"}),
                (["sycl", "detect", "--request", "="], requests), (["sycl", "detect", "--request", "=", "na"], {"native_cpu"}),
                (["check", "--targets", "bmg-g2"], {"bmg-g21"} | {n for n in self.names() if n.startswith("bmg-g2")}),
                (["check", "--targets", "tgllp,lnl-"], {"tgllp," + n for n in self.names() if n.startswith("lnl-")}),
                (["check", "--targets", "default"], {"default", "default-intel"}),
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
        self.pages()
        self.listed()
        self.folding()
        self.folders()
        self.completion()
