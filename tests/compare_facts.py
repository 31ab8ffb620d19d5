#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `devimg list` and `devimg kernels` with facts of the independent reader.

    compare_facts.py DEVIMG FACTS.json FOLDER [NAME...]

Images are matched by where they stand (offset, and offset in their parent), not by index. Prints
one line a difference and `N passed, N failed` (a file is one test); exits 1 on a difference.
"""
import csv
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def target_ips():
    """{target name: its IP versions, former ones too}, from the table of the repository."""
    out = {}
    path = os.path.join(HERE, "..", "data", "targets", "intel.tsv")
    with open(path, encoding="utf-8") as f:
        rows = csv.DictReader((l for l in f if not l.startswith("#")), delimiter="\t",
                              quoting=csv.QUOTE_NONE)
        for row in rows:
            former = [v.split("@")[0].strip() for v in (row["former_ips"] or "").split(";")]
            out[row["name"]] = {v for v in [row["ip_version"], *former] if v}
    return out


def run(devimg, command, path, more=()):
    argv = [devimg, command, path, "--format", "json", *more]
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                       stdin=subprocess.DEVNULL)
    if p.returncode not in (0, 1):
        raise SystemExit("%s: exit %d: %s" % (" ".join(argv), p.returncode,
                                              p.stderr.decode(errors="replace")))
    return json.loads(p.stdout)["files"][0]


def image_keys(images, name):
    """{index: key} where the key says where the image stands."""
    keys = {}
    for i, image in enumerate(images):
        parent = image["parent"]
        if parent is None:
            keys[i] = ("at", image["offset"])
        else:
            at = image["offset_in_parent"]
            if at is None and image["offset"] is not None and images[parent]["offset"] is not None:
                at = image["offset"] - images[parent]["offset"]
            keys[i] = keys[parent] + (at,)
    if len(set(keys.values())) != len(keys):
        raise SystemExit(name + ": two images at one place")
    return keys


class Differences(list):
    def check(self, where, what, expected, found):
        if expected != found:
            self.append("%s: %s: expected %r, found %r" % (where, what, expected, found))


def spirv_wrapper(fact):
    """An ELF that only wraps SPIR-V may be shown with either size."""
    return [fact["size"], fact["wrapped_size"]] if "wrapped_size" in fact else [fact["size"]]


def compare_images(fact, got, diff, ips):
    fk, gk = image_keys(fact["images"], "facts"), image_keys(got["images"], "devimg")
    by_key = {k: i for i, k in gk.items()}
    diff.check("file", "images", len(fk), len(gk))
    pairs = {}
    for i, key in fk.items():
        want = fact["images"][i]
        where = "image at %s" % "/".join(map(str, key[1:]))
        if key not in by_key:
            diff.append("%s (%s): missing" % (where, want.get("entry_id")))
            continue
        image = got["images"][by_key[key]]
        pairs[i] = by_key[key]
        for field in ("format", "compression", "offset", "ip_version", "section"):
            if field in want:
                diff.check(where, field, want[field], image[field])
        wrapped = "wrapped_size" in want
        if not wrapped:
            diff.check(where, "stored_size", want["stored_size"], image["stored_size"])
        if image["size"] not in spirv_wrapper(want):
            diff.check(where, "size", want["size"], image["size"])
        if want.get("entry_id") is not None and want.get("bundle") != "clang-bundle":
            diff.check(where, "entry_id", want["entry_id"], image["entry_id"])
        if want["ip_version"] is not None and image["target"] is not None:
            if want["ip_version"] not in ips.get(image["target"], ()):
                diff.append("%s: target %r is not %s" % (where, image["target"],
                                                        want["ip_version"]))
        elif want["ip_version"] is not None:
            diff.append("%s: no target named for %s" % (where, want["ip_version"]))
        if want.get("compile_options"):
            diff.check(where, "compile_options", want["compile_options"],
                       image.get("compile_options"))
        if want.get("bundle") == "dpcpp":
            diff.check(where, "aspects", want["aspects"] or [], image["aspects"] or [])
            if want["image_sub_group_size"] is not None:
                diff.check(where, "required_sub_group_size", want["image_sub_group_size"],
                           image["required_sub_group_size"])
            empty = not want["entries"] and not want.get("kernel_count")
            diff.check(where, "support", empty, image["support"])
    return pairs


def compare_modules(fact, got, pairs, diff):
    for images in fact.get("modules", []):
        if not all(i in pairs for i in images):
            continue
        numbers = {got["images"][pairs[i]]["module"] for i in images}
        diff.check("images %s" % images, "modules", 1, len(numbers))
        number = numbers.pop()
        if number is None:
            diff.append("images %s: in no module" % images)
            continue
        tops = sorted(i for i in got["modules"][number]["images"]
                      if got["images"][i]["parent"] is None)
        diff.check("module %d" % number, "images", sorted(pairs[i] for i in images), tops)


def compare_kernels(fact, got, pairs, diff):
    found = {}
    for k in got["kernels"]:
        found.setdefault((k["image"], k["name"]), []).append(k)
    for want in fact["kernels"]:
        if want["image"] not in pairs:
            continue
        image = fact["images"][want["image"]]
        where = "kernel %s of image %d" % (want["name"], want["image"])
        here = found.get((pairs[want["image"]], want["name"]), [])
        diff.check(where, "times listed", 1, len(here))
        if len(here) != 1:
            continue
        k = here[0]
        diff.check(where, "required_sub_group_size", want["required_sub_group_size"],
                   k["required_sub_group_size"])
        if image["format"] in ("zebin", "patchtoken"):
            for field in ("sub_group_size", "registers", "private_size", "spill_size"):
                diff.check(where, field, want[field], k[field])
            for field in ("code_size", "barrier_count", "scratch_size"):
                if field in want:
                    diff.check(where, field, want[field], k[field])
            if want["slm_size"] or k["slm_size"]:  # absent may read as 0 or unknown
                diff.check(where, "slm_size", want["slm_size"], k["slm_size"])
            if "scratch_size" in k and k["scratch_size"] is not None:
                used = bool(k["scratch_size"] or k["private_size"] or k["spill_size"])
                diff.check(where, "uses scratch", want["scratch"], used)
            if k["features"] is not None:
                diff.check(where, "matrix", want["matrix"], "matrix" in k["features"])
        else:
            if k["sub_group_size"] not in (None, want["required_sub_group_size"]):
                diff.check(where, "sub_group_size", None, k["sub_group_size"])
            aspects = image.get("aspects") or []
            if k["features"] is not None and (want["fp64"] or 6 not in aspects):
                diff.check(where, "fp64", want["fp64"], "fp64" in k["features"])
    named = 0  # no reader decodes these: what the descriptor lists is all there is
    for i in pairs:
        image = fact["images"][i]
        if image.get("format") != "unknown" or "kernel_count" in image:
            continue
        for name in image.get("entries") or []:
            diff.check("kernel %s of image %d" % (name, i), "times listed", 1, len(found.get((pairs[i], name), [])))
            named += 1
    counted = [i for i in pairs if fact["images"][i].get("format") != "bitcode"]
    total = sum(fact["images"][i].get("kernel_count") or 0 for i in counted)
    diff.check("file", "kernels", total + named, len(got["kernels"]))


def compare(devimg, fact, path, ips):
    diff = Differences()
    got = run(devimg, "kernels", path)
    listed = run(devimg, "list", path)
    diff.check("file", "kind", fact["kind"], listed["kind"])
    diff.check("file", "machine", fact["machine"], listed["machine"])
    diff.check("file", "size", fact["size"], listed["size"])
    diff.check("file", "status", "ok" if fact["images"] else "no-device-code", listed["status"])
    diff.check("file", "damage", [], [f["message"] for f in got["findings"]
                                      if f["rule"] == "damaged"])
    if "descriptors" in listed:
        diff.check("file", "descriptors", fact["descriptors"], listed["descriptors"])
    if "descriptor_symbols" in fact and fact["descriptors"] != fact["descriptor_symbols"]:
        diff.append("the independent reader itself: %d descriptors, %d symbols"
                    % (fact["descriptors"], fact["descriptor_symbols"]))
    pairs = compare_images(fact, listed, diff, ips)
    compare_modules(fact, listed, pairs, diff)
    compare_kernels(fact, {**got, "images": listed["images"]}, pairs, diff)
    return diff


def main():
    devimg, facts, folder, *names = sys.argv[1:]
    with open(facts, encoding="utf-8") as f:
        facts = json.load(f)
    ips, passed, failed = target_ips(), 0, 0
    for name in names or sorted(facts):
        diff = compare(devimg, facts[name], os.path.join(folder, name), ips)
        for line in diff[:12]:
            print("%s: %s" % (name, line))
        if len(diff) > 12:
            print("%s: and %d more differences" % (name, len(diff) - 12))
        passed, failed = passed + (not diff), failed + bool(diff)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
