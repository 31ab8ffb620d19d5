# SPDX-License-Identifier: Apache-2.0
"""What the tests of the CMake package and of the Meson folder share: the words that a build must have, and folders of programs."""
import os
import shutil

COMPRESS = ["--offload-compress", "--offload-compression-level=22"]
LIST = "tgllp,adl-s,dg2-g10"  # the ocloc of Debian 12 knows them
STAND_IN = os.path.join("tests", "stand_in", "icpx")


def compile_words(targets=LIST, entries="spir64_gen,spir64"):
    """S1-11, S1-13, S3-7: in this order, each one argument, the list directly behind its selector. No targets: no list, and no entries but
    those that are asked for."""
    words = [*COMPRESS, "-fsycl", "-fno-sycl-rdc"]
    if targets or entries != "spir64_gen,spir64":
        words.append("-fsycl-targets=" + entries)
    return words + (["-Xsycl-target-backend=spir64_gen", "-device " + targets] if targets else [])


def write_program(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o755)
    return path


def link_programs(folder, *names):
    """A folder for PATH that has these programs of this machine, and no others."""
    os.makedirs(folder)
    for name in names:
        os.symlink(shutil.which(name), os.path.join(folder, name))
    return folder
