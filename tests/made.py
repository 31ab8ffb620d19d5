# SPDX-License-Identifier: Apache-2.0
"""What suites that make their own files share: fixtures, a folder to write into, one record, a verdict."""
import json
import os
import subprocess


class Made:
    NAME = None  # of the suite

    def __init__(self, build, fixtures, host, folder):
        self.build, self.fixtures, self.host, self.folder = build, fixtures, host, folder

    def fixture(self, name):
        with open(os.path.join(self.fixtures, name), "rb") as f:
            return f.read()

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def object(self, name, section, data):
        """An object with such a section."""
        body, path = self.file(name + ".body", data), os.path.join(self.folder, name)
        subprocess.run(["objcopy", "--add-section", section + "=" + body, os.path.join(self.host, "empty.o"), path],
                       check=True)
        return path

    def record(self, *args):
        """(exit status, the first record); where there is none, one whose finding is what stderr says"""
        status, out, err = self.build.devimg(*args, "--format", "json", seconds=30)
        files = json.loads(out)["files"] if out else []
        return status, files[0] if files else {"images": [], "kernels": [], "modules": [],
                                               "findings": [{"message": err.decode(errors="replace"), "code": "",
                                                             "rule": ""}]}

    def say(self, good, name, *found):
        self.build.say(bool(good), self.NAME + ": " + name, "found " + repr(found)[:3000])
