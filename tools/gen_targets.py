#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turn data/targets/*.tsv into the C tables of src/target/tables.h.

    gen_targets.py INPUT_FOLDER OUTPUT.c

The columns are described in data/targets/README.md. A table that does not hold together is refused
with FILE:LINE and exit status 1; nothing is written then. The output depends on the tables alone.
"""
import os
import re
import sys

# Columns and the form of their cells. "-" stands for an empty cell.
NAME = r"[a-z0-9][a-z0-9_.-]*"
NAMES = rf"{NAME}(,{NAME})*"
IP = r"\d+\.\d+\.\d+"
RELEASE = r"\d+\.\d+\.\d+(\.\d+)?"
ANSWER = "yes|no|unknown"
MOST_IPS = 32  # DVI_MOST_IPS of src/check/check.h
TEXT = r"[\x20-\x7e]+"

INTEL = {
    "name": NAME,
    "kind": "acronym|stepping|generic|deprecated",
    "primary": "yes|no",
    "aliases": rf"-|{NAMES}",
    "ip_version": IP,
    "ip_hex": r"0x[0-9a-f]{8}",
    "former_ips": rf"-|{IP}@{RELEASE}(,{IP}@{RELEASE})*",
    "family": f"-|{TEXT}",
    "release_groups": rf"-|{NAMES}",
    "codename": f"-|{TEXT}",
    "sub_group_sizes": r"-|\d+(,\d+)*",
    "fp64": ANSWER,
    "fp64_emulated": "-|yes|no",
    "fp16": ANSWER,
    "dpas": ANSWER,
    "dpas_exec_size": "-|8|16",
    "product_family": "-|0x[0-9a-f]+",
    "patchtoken_core": r"-|\d+",
    "first_release": rf"-|(<=)?{RELEASE}",
    "last_release": rf"-|{RELEASE}",
    "pci_ids": r"-|[0-9A-F]{4}(,[0-9A-F]{4})*",
    "products": f"-|{TEXT}",
    "source": TEXT,
}
SYCL = {
    "name": NAME,
    "kind": "portable|selector|cpu|fpga|spelling|sycl|sycl-numeric",
    "target": NAME,
    "triple": rf"-|{NAME}",
    "backend_argument": f"-|{TEXT}",
    "offload_section": NAME,
    "sycl_ls_architectures": rf"-|{NAMES}",
    "mode": "aot|jit",
    "sub_group_sizes": r"-|\d+(,\d+)*",
    "description": f"-|{TEXT}",
    "source": TEXT,
}
NVIDIA = {
    "name": r"sm_\d+[af]?",
    "architecture": TEXT,
    "compute_capability": r"\d+\.\d",
    "tegra": "yes|no",
    "ptx": "yes|no",
    "products": f"-|{TEXT}",
    "first_cuda": r"\d+\.\d+",
    "last_cuda": r"-|\d+\.\d+",
    "first_ptx": r"\d+\.\d+",
    "source": TEXT,
}
CUDA_CODE = (("sm_", "cubin"), ("compute_", "ptx"), ("lto_", "lto-ir"))
FIRST_LTO = 50  # nvcc -arch=lto_50
SETS = {
    "name": NAME,
    "kind": "list|alias|release-group|family-group",
    "members": rf"-|{NAMES}",
    "source": TEXT,
}
FAMILIES = {
    "product_family": "0x[0-9a-f]+",
    "igfx_name": "IGFX_[A-Z0-9_]+",
    "core_family": "-|0x[0-9a-f]+",
    "target": NAME,
    "source": TEXT,
}
COMPAT = {
    "image_ip": IP,
    "device_ip": IP,
    "since": RELEASE,
    "until": f"-|{RELEASE}",
    "source": TEXT,
}
AMD = {
    "name": NAME,
    "kind": "processor|generic|stepping|spirv",
    "machine": "-|0x[0-9a-f]{2}",
    "family": TEXT,
    "codename": f"-|{TEXT}",
    "sub_group_sizes": r"-|\d+(,\d+)*",
    "sramecc": "yes|no|unknown",
    "xnack": "yes|no|fixed|unknown",
    "members": rf"-|{NAMES}",
    "products": f"-|{TEXT}",
    "source": TEXT,
}
AMD_FEATURES = ("sramecc", "xnack")  # in the order of a target id
OWN_KINDS = ("portable", "selector", "cpu", "fpga")  # rows of sycl-arch.tsv that are targets
MAX_NAME = 60  # src/target folds names in 64 bytes
KIND_ORDER = ("acronym", "stepping", "generic", "deprecated")  # of the names in `aliases`


class Refused(Exception):
    """FILE:LINE: what is wrong."""


class Row(dict):
    """Cells by column, and where they stand."""

    def __init__(self, path, line, cells):
        super().__init__(cells)
        self.path, self.line = path, line

    def refuse(self, text):
        raise Refused(f"{self.path}:{self.line}: {text}")

    def list(self, column):
        return self[column].split(",") if self[column] else []


def read_table(folder, name, columns):
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            lines = file.read().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        text = getattr(error, "strerror", None) or error
        raise Refused(f"{path}:1: cannot be read: {text}") from None
    if lines.pop() != "":
        raise Refused(f"{path}:{len(lines) + 1}: the last line has no newline")
    header = lines[0].split("\t") if lines else []
    for column in header:
        if column not in columns:
            raise Refused(f"{path}:1: unknown column {column!r}")
        if header.count(column) > 1:
            raise Refused(f"{path}:1: column {column!r} stands twice")
    for column in columns:
        if column not in header:
            raise Refused(f"{path}:1: column {column!r} is missing")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(header):
            raise Refused(f"{path}:{number}: {len(cells)} cells, expected {len(header)}")
        row = Row(path, number, zip(header, cells))
        for column, form in columns.items():
            if not re.fullmatch(form, row[column] or "-") or row[column] == "-":
                row.refuse(f"{column} {row[column]!r} is not of the form {form}")
        rows.append(row)
    return rows


def ip_number(row, text):
    arch, release, revision = (int(part) for part in text.split("."))
    if arch > 1023 or release > 255 or revision > 63 or text != f"{arch}.{release}.{revision}":
        row.refuse(f"IP version {text}: not arch.release.revision within 1023.255.63")
    return arch << 22 | release << 14 | revision


def size_bits(row):
    bits = 0
    for text in row.list("sub_group_sizes"):
        size = int(text)
        if size == 0 or size & (size - 1) or size > 1 << 20 or bits >= size:
            row.refuse(f"sub_group_sizes {row['sub_group_sizes']!r}: not rising powers of 2")
        bits |= size  # bit n stands for 2^n, so the size is its own bit
    return bits


def fold(name):
    return name.lower().replace("-", "").replace("_", "")


class Tables:
    """Everything read, checked against each other."""

    def __init__(self, folder):
        self.intel = read_table(folder, "intel.tsv", INTEL)
        self.sycl = read_table(folder, "sycl-arch.tsv", SYCL)
        self.sets = read_table(folder, "sets.tsv", SETS)
        self.families = read_table(folder, "product-families.tsv", FAMILIES)
        self.compat = read_table(folder, "compat.tsv", COMPAT)
        self.nvidia = read_table(folder, "nvidia.tsv", NVIDIA)
        own = [row for row in self.sycl if row["kind"] in OWN_KINDS]
        self.amd = read_table(folder, "amd.tsv", AMD)
        self.targets = self.intel + own + self.amd + self.cuda_targets()
        self.index = {}  # canonical name -> position in `targets`
        self.spelled = {}  # folded name -> (row, spelling, position or None for a set)
        self.check_names()
        self.check_ips()
        self.check_aliases()
        self.check_sycl()
        self.check_families()
        self.members = {row["name"]: self.resolve(row, []) for row in self.sets}
        self.check_release_groups()
        self.check_compat()
        self.check_amd()

    def cuda_targets(self):
        """A GPU's machine code, and where there is such, its PTX and its code for link-time optimisation."""
        found = []
        for row in self.nvidia:
            number = row["name"][3:]
            sm = int(number.rstrip("af"))
            if sm != int(row["compute_capability"].replace(".", "")):
                row.refuse(f"compute_capability {row['compute_capability']!r} of {row['name']!r}")
            for prefix, kind in CUDA_CODE:
                if (kind == "ptx" and row["ptx"] == "no") or (kind == "lto-ir" and sm < FIRST_LTO):
                    continue
                found.append(Row(row.path, row.line, {
                    "name": prefix + number, "kind": kind, "family": row["architecture"],
                    "codename": "compute capability " + row["compute_capability"],
                    "products": row["products"], "sub_group_sizes": "32", "fp64": "yes",
                    "tegra": row["tegra"],
                    "source": row["source"]}))
        return found

    def add_name(self, row, position):
        name = row["name"]
        if len(name) > MAX_NAME:
            row.refuse(f"name of {len(name)} characters: at most {MAX_NAME}")
        if re.fullmatch(r"[\d._-]+", name):
            row.refuse(f"name {name!r} reads as an IP version")
        if fold(name) in self.spelled:
            other = self.spelled[fold(name)][0]
            row.refuse(f"duplicate name {name!r}: also at {other.path}:{other.line}")
        self.spelled[fold(name)] = (row, name, position)

    def check_names(self):
        for position, row in enumerate(self.targets):
            self.add_name(row, position)
            self.index[row["name"]] = position
        for row in self.sets:
            self.add_name(row, None)
        for row in self.sycl:
            if row["kind"] in OWN_KINDS:
                if row["target"] != row["name"]:
                    row.refuse(f"target {row['target']!r}: a {row['kind']} row is its own target")
                continue
            if row["target"] not in self.index:
                row.refuse(f"unknown target {row['target']!r}")
            self.add_name(row, self.index[row["target"]])

    def check_ips(self):
        self.primary = {}  # IP -> row
        self.by_ip = {}
        for row in self.intel:
            row.ip = ip_number(row, row["ip_version"])
            if int(row["ip_hex"], 16) != row.ip:
                row.refuse(f"ip_hex {row['ip_hex']}: {row['ip_version']} is 0x{row.ip:08x}")
            row.former = [ip_number(row, f.split("@")[0]) for f in row.list("former_ips")]
            if row.ip in row.former or len(set(row.former)) != len(row.former):
                row.refuse(f"former_ips {row['former_ips']!r}: the current one, or one twice")
            if len(row.former) >= MOST_IPS:
                row.refuse(f"former_ips: at most {MOST_IPS - 1}")
            self.by_ip.setdefault(row.ip, []).append(row)
            if row["primary"] == "yes":
                if row.ip in self.primary:
                    row.refuse(f"{row['ip_version']} already has the primary name "
                               f"{self.primary[row.ip]['name']!r}")
                self.primary[row.ip] = row
            if row["fp64"] == "yes" and row["fp64_emulated"] == "yes":
                row.refuse("fp64 is native and emulated at once")
        for ip, rows in self.by_ip.items():
            if ip not in self.primary:
                rows[0].refuse(f"{rows[0]['ip_version']} has no primary name")
            best = min(KIND_ORDER.index(row["kind"]) for row in rows)
            if KIND_ORDER.index(self.primary[ip]["kind"]) != best:
                self.primary[ip].refuse(f"primary name of kind {self.primary[ip]['kind']}: "
                                        f"an {KIND_ORDER[best]} has this IP version too")

    def check_aliases(self):
        for row in self.intel:
            for alias in row.list("aliases"):
                if alias not in self.index:
                    row.refuse(f"unknown alias {alias!r}")
            others = [r for r in self.by_ip[row.ip] if r is not row]
            others.sort(key=lambda r: KIND_ORDER.index(r["kind"]))
            expected = ",".join(r["name"] for r in others)
            if row["aliases"] != expected:
                row.refuse(f"aliases {row['aliases']!r}: the names of {row['ip_version']} "
                           f"are {expected!r}")
            for column in ("family", "release_groups", "sub_group_sizes", "fp64", "fp64_emulated",
                           "fp16", "dpas", "dpas_exec_size", "product_family"):
                if row[column] != self.primary[row.ip][column]:
                    row.refuse(f"{column} {row[column]!r}: {self.primary[row.ip]['name']} of the "
                               f"same IP version has {self.primary[row.ip][column]!r}")

    def check_sycl(self):
        self.numeric = {}
        for row in self.sycl:
            target = self.targets[self.index[row["target"]]]
            if row["kind"].startswith("sycl") and "ip_version" not in target:
                row.refuse(f"target {row['target']!r} is no Intel GPU")
            if row["kind"] == "sycl" and fold(row["name"]) != "intelgpu" + fold(row["target"]):
                row.refuse(f"name {row['name']!r} is not intel_gpu_ and {row['target']!r}")
            if row["kind"] == "sycl-numeric":
                match = re.fullmatch(r"intel_gpu_(\d+)_(\d+)_(\d+)", row["name"])
                if not match:
                    row.refuse(f"name {row['name']!r} is not intel_gpu_A_B_C")
                self.numeric[ip_number(row, ".".join(match.groups()))] = self.index[row["target"]]

    def check_families(self):
        self.family_rows = {}
        self.core_rows = []
        cores = {}
        for row in self.families:
            number = int(row["product_family"], 16)
            if number in self.family_rows:
                row.refuse(f"duplicate product_family {row['product_family']}")
            target = self.targets[self.index[row["target"]]] if row["target"] in self.index else {}
            if target.get("product_family") != row["product_family"]:
                row.refuse(f"target {row['target']!r} is not of this product family")
            if target["primary"] != "yes":
                row.refuse(f"target {row['target']!r} is not a primary name")
            self.family_rows[number] = self.index[row["target"]]
            if row["core_family"]:
                cores[number] = int(row["core_family"], 16)
                self.core_rows.append((cores[number], self.index[row["target"]]))
        for row in self.intel:
            if not row["product_family"]:
                continue
            number = int(row["product_family"], 16)
            if number not in self.family_rows:
                row.refuse(f"product_family {row['product_family']} is not in product-families.tsv")
            core = cores.get(number)
            if row["patchtoken_core"] and int(row["patchtoken_core"]) != core:
                row.refuse(f"patchtoken_core {row['patchtoken_core']}: product-families.tsv has {core}")

    def resolve(self, row, above):
        """Positions of the targets that a set stands for."""
        name, members = row["name"], row.list("members")
        if name in above:
            row.refuse(f"set {name!r} contains itself")
        if (row["kind"] == "release-group") != (not members):
            row.refuse(f"members {row['members']!r} of a {row['kind']}")
        if row["kind"] == "release-group":
            return [i for i, t in enumerate(self.intel) if t["primary"] == "yes"
                    and t["kind"] != "stepping" and name in t.list("release_groups")]
        found = []
        named = {r["name"]: r for r in self.sets}
        for member in members:
            if member in named:
                found += self.resolve(named[member], above + [name])
            elif member in self.index:
                found.append(self.index[member])
            else:
                row.refuse(f"unknown member {member!r}")
        if len(set(found)) != len(found):
            row.refuse(f"set {name!r} names a target twice")
        return found

    def check_release_groups(self):
        groups = {row["name"] for row in self.sets if row["kind"] == "release-group"}
        for row in self.intel:
            for group in row.list("release_groups"):
                if group not in groups:
                    row.refuse(f"release group {group!r} is not in sets.tsv")
        for row in self.sets:
            if not self.members[row["name"]]:
                row.refuse(f"set {row['name']!r} is empty")

    def check_compat(self):
        known = set(self.by_ip)
        for row in self.intel:
            known.update(row.former)
        seen = set()
        for row in self.compat:
            pair = (ip_number(row, row["image_ip"]), ip_number(row, row["device_ip"]))
            for ip, column in zip(pair, ("image_ip", "device_ip")):
                if ip not in known:
                    row.refuse(f"{column} {row[column]} is no target's")
            if pair in seen or pair[0] == pair[1]:
                row.refuse(f"duplicate or empty pair {row['image_ip']} {row['device_ip']}")
            seen.add(pair)


    def check_amd(self):
        """Numbers of e_flags, members of generic targets, and the ids that name settings of features."""
        self.machines = {}
        names = {row["name"]: row for row in self.amd}
        for row in self.amd:
            if (row["kind"] == "spirv") != (not row["machine"]):
                row.refuse(f"machine {row['machine']!r} of a {row['kind']}")
            if row["members"] and row["kind"] != "generic":
                row.refuse(f"members of a {row['kind']}")
            for member in row.list("members"):
                if names.get(member, {}).get("kind") != "processor":
                    row.refuse(f"member {member!r} is no processor of this table")
            if row["machine"]:
                number = int(row["machine"], 16)
                if number in self.machines:
                    row.refuse(f"duplicate machine {row['machine']}")
                self.machines[number] = self.index[row["name"]]
        self.ids = []  # rows of amd.tsv, each with one way to set its features
        for row in self.amd:
            spellings = [""]
            for feature in AMD_FEATURES:
                if row[feature] == "yes":
                    spellings = [s + part for s in spellings
                                 for part in ("", f":{feature}+", f":{feature}-")]
            for spelling in spellings[1:] if len(spellings) > 1 else []:
                named = Row(row.path, row.line, row)
                named["name"], named["kind"] = row["name"] + spelling, "target-id"
                named["members"] = row["members"]
                self.ids.append(named)


def c_text(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?") + '"'


def c_target(row):
    intel = "ip_version" in row
    answer = {"yes": "DEVIMG_YES", "no": "DEVIMG_NO", "unknown": "DEVIMG_MAYBE"}
    get = lambda column, other="": row.get(column, other)
    family = get("product_family")
    fields = (
        ("name", c_text(row["name"])),
        ("kind", c_text(row["kind"])),
        ("aliases", c_text(get("aliases"))),
        ("ip_version", f"0x{row.ip:08x}" if intel else "DEVIMG_UNKNOWN"),
        ("former_ips", c_text(get("former_ips"))),
        ("family", c_text(get("family"))),
        ("codename", c_text(get("codename") or get("description"))),
        ("products", c_text(get("products"))),
        ("sub_group_sizes", f"0x{size_bits(row):x}"),
        ("fp64", answer[get("fp64", "unknown")]),
        ("fp16", answer[get("fp16", "unknown")]),
        ("dpas", answer[get("dpas", "unknown")]),
        ("fp64_emulated", "1" if get("fp64_emulated") == "yes" else "0"),
        ("product_family", family or "DEVIMG_UNKNOWN"),
        ("source", c_text(row["source"])),
        ("machine", get("machine") or "DEVIMG_UNKNOWN"),
        ("features", c_text(",".join(f for f in (*AMD_FEATURES, "tegra") if get(f) == "yes"))),
        ("members", c_text(get("members") if "machine" in row else "")),
    )
    return "    {\n" + "".join(f"        .{key} = {value},\n" for key, value in fields) + "    },\n"


def c_table(kind, name, lines):
    text = f"const {kind} {name}[] = {{\n" + "".join(lines) + "};\n"
    count = (name[:-3] + "y" if name.endswith("ies") else name[:-1]) + "_count"
    return text + f"const uint32_t {count} = {len(lines)};\n\n"


def ip_lines(pairs):
    return [f"    {{ 0x{ip:08x}, {position} }},\n" for ip, position in pairs]


def generate(tables):
    out = ["/* SPDX-License-Identifier: Apache-2.0 */\n",
           "/* Generated by tools/gen_targets.py from data/targets: change it there. */\n",
           '#include "target/tables.h"\n\n']
    rows = [c_target(t) for t in tables.targets + tables.ids]
    out.append("const struct devimg_target dvi_targets[] = {\n" + "".join(rows) + "};\n"
               f"const uint32_t dvi_target_count = {len(tables.targets)};\n\n")
    ids = sorted((row["name"], position) for position, row in enumerate(tables.ids, len(tables.targets)))
    out.append(c_table("struct dvi_target_name", "dvi_target_ids",
                       [f"    {{ {c_text(name)}, {c_text(name)}, {position} }},\n" for name, position in ids]))
    out.append(c_table("struct dvi_target_number", "dvi_target_machines", ip_lines(sorted(tables.machines.items()))))
    names = sorted((key, spelling, position) for key, (row, spelling, position)
                   in tables.spelled.items()
                   if position is not None and not row["kind"].startswith("sycl"))
    out.append(c_table("struct dvi_target_name", "dvi_target_names",
                       [f"    {{ {c_text(key)}, {c_text(spelling)}, {position} }},\n"
                        for key, spelling, position in names]))
    intel = list(enumerate(tables.intel))
    out.append(c_table("struct dvi_target_number", "dvi_target_ips", ip_lines(
        sorted((ip, tables.index[row["name"]]) for ip, row in tables.primary.items()))))
    former = sorted((ip, row["primary"] != "yes", KIND_ORDER.index(row["kind"]), position)
                    for position, row in intel for ip in row.former)
    out.append(c_table("struct dvi_target_number", "dvi_target_formers",
                       ip_lines((entry[0], entry[-1]) for entry in former)))
    out.append(c_table("struct dvi_target_number", "dvi_target_sycl_ips",
                       ip_lines(sorted(tables.numeric.items()))))
    out.append(c_table("struct dvi_target_number", "dvi_target_families",
                       ip_lines(sorted(tables.family_rows.items()))))
    out.append(c_table("struct dvi_target_number", "dvi_target_cores",
                       ip_lines(sorted(tables.core_rows))))
    pci = sorted((int(pci, 16), row["primary"] != "yes", KIND_ORDER.index(row["kind"]), position)
                 for position, row in intel for pci in row.list("pci_ids"))
    out.append(c_table("struct dvi_target_number", "dvi_target_pcis",
                       ip_lines((entry[0], entry[-1]) for i, entry in enumerate(pci)
                                if i == 0 or pci[i - 1][0] != entry[0])))
    groups = []
    for number, row in enumerate(tables.sets):
        members = tables.members[row["name"]]
        out.append(f"static const uint32_t set_{number}[] = {{ "
                   + ", ".join(str(m) for m in members) + " };\n")
        groups.append(f"    {{ {c_text(row['name'])}, set_{number}, {len(members)} }},\n")
    out.append("\n" + c_table("struct dvi_target_group", "dvi_target_groups", groups))
    return "".join(out).rstrip("\n") + "\n"


def main(arguments):
    if len(arguments) != 3:
        sys.stderr.write("usage: gen_targets.py INPUT_FOLDER OUTPUT.c\n")
        return 2
    try:
        tables = Tables(arguments[1])
        text = generate(tables)
    except Refused as refused:
        sys.stderr.write(f"{refused}\n")
        return 1
    with open(arguments[2], "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
