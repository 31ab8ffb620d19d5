#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/gen_targets.py: what it writes is fixed by the tables, and a bad table is refused."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GENERATOR = os.path.join(ROOT, "tools", "gen_targets.py")
TABLES = os.path.join(ROOT, "data", "targets")


class Tables(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name in os.listdir(TABLES):
            shutil.copyfile(os.path.join(TABLES, name), os.path.join(self.folder, name))
        self.output = os.path.join(self.folder, "targets.c")

    def generate(self, **environment):
        return subprocess.run([sys.executable, GENERATOR, self.folder, self.output],
                              env={**os.environ, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=60)

    def path(self, table):
        return os.path.join(self.folder, table)

    def lines(self, table):
        with open(self.path(table), encoding="utf-8") as file:
            return file.read().split("\n")

    def write(self, table, lines):
        with open(self.path(table), "w", encoding="utf-8") as file:
            file.write("\n".join(lines))

    def line_of(self, table, name):
        """Index of the first line whose first cell is `name`."""
        return [line.split("\t")[0] for line in self.lines(table)].index(name)

    def change(self, table, name, column, value):
        """Set one cell; the line number as messages count it."""
        lines = self.lines(table)
        at = self.line_of(table, name)
        cells = lines[at].split("\t")
        cells[lines[0].split("\t").index(column)] = value
        lines[at] = "\t".join(cells)
        self.write(table, lines)
        return at + 1

    def add(self, table, line):
        lines = self.lines(table)
        lines.insert(len(lines) - 1, line)
        self.write(table, lines)
        return len(lines) - 1

    def refused(self, table, line, text):
        run = self.generate()
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertTrue(run.stderr.startswith(f"{self.path(table)}:{line}: "), run.stderr)
        self.assertIn(text, run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1)
        self.assertFalse(os.path.exists(self.output))

    def test_output_depends_on_the_tables_alone(self):
        texts = set()
        for seed in ("0", "1", "2"):
            run = self.generate(PYTHONHASHSEED=seed)
            self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
            with open(self.output, "rb") as file:
                texts.add(file.read())
        self.assertEqual(len(texts), 1)
        self.assertNotIn(self.folder.encode(), texts.pop())

    def test_every_table_has_a_source_in_every_row(self):
        for name in os.listdir(TABLES):
            if name.endswith(".tsv"):
                lines = self.lines(name)
                column = lines[0].split("\t").index("source")
                for line in lines[1:-1]:
                    self.assertTrue(line.split("\t")[column], f"{name}: {line}")

    def test_unknown_column(self):
        lines = self.lines("intel.tsv")
        lines[0] = lines[0].replace("fp16", "fp17")
        self.write("intel.tsv", lines)
        self.refused("intel.tsv", 1, "unknown column 'fp17'")

    def test_missing_column(self):
        lines = [line.rsplit("\t", 1)[0] for line in self.lines("compat.tsv")]
        self.write("compat.tsv", lines)
        self.refused("compat.tsv", 1, "column 'source' is missing")

    def test_column_twice(self):
        lines = self.lines("compat.tsv")
        lines[0] += "\tsource"
        self.write("compat.tsv", lines)
        self.refused("compat.tsv", 1, "column 'source' stands twice")

    def test_cell_missing(self):
        line = self.add("compat.tsv", "12.55.8\t12.56.5")
        self.refused("compat.tsv", line, "2 cells, expected 5")

    def test_no_newline_at_the_end(self):
        self.write("compat.tsv", self.lines("compat.tsv")[:-1])
        self.refused("compat.tsv", 17, "no newline")

    def test_table_missing(self):
        os.remove(self.path("sets.tsv"))
        self.refused("sets.tsv", 1, "No such file")

    def test_bytes_that_are_no_utf8(self):
        with open(self.path("sets.tsv"), "ab") as file:
            file.write(b"\xff\n")
        self.refused("sets.tsv", 1, "utf-8")

    def test_duplicate_name(self):
        line = self.add("intel.tsv", self.lines("intel.tsv")[1])
        self.refused("intel.tsv", line, "duplicate name 'bdw': also at")

    def test_name_that_is_another_spelling(self):
        line = self.change("sets.tsv", "gen8", "name", "dg2_g10")
        self.refused("sets.tsv", line, "duplicate name 'dg2_g10'")

    def test_name_that_reads_as_a_version(self):
        line = self.change("sets.tsv", "gen8", "name", "12.55.8")
        self.refused("sets.tsv", line, "reads as an IP version")

    def test_name_too_long(self):
        line = self.change("sets.tsv", "gen8", "name", "a" * 61)
        self.refused("sets.tsv", line, "61 characters: at most 60")

    def test_bad_ip(self):
        line = self.change("intel.tsv", "bdw", "ip_version", "8.0")
        self.refused("intel.tsv", line, "ip_version '8.0'")

    def test_ip_out_of_range(self):
        line = self.change("intel.tsv", "bdw", "ip_version", "8.256.0")
        self.refused("intel.tsv", line, "8.256.0: not arch.release.revision")

    def test_ip_hex_of_another_version(self):
        line = self.change("intel.tsv", "bdw", "ip_hex", "0x02000001")
        self.refused("intel.tsv", line, "ip_hex 0x02000001: 8.0.0 is 0x02000000")

    def test_former_ip_that_is_the_present_one(self):
        line = self.change("intel.tsv", "bmg-g21", "former_ips", "20.1.0@24.26.30049.6")
        self.refused("intel.tsv", line, "former_ips")

    def test_unknown_alias(self):
        line = self.change("intel.tsv", "apl", "aliases", "bxx")
        self.refused("intel.tsv", line, "unknown alias 'bxx'")

    def test_alias_of_another_version(self):
        line = self.change("intel.tsv", "apl", "aliases", "glk")
        self.refused("intel.tsv", line, "the names of 9.3.0 are 'bxt'")

    def test_alias_forgotten(self):
        line = self.change("intel.tsv", "bxt", "aliases", "")
        self.refused("intel.tsv", line, "the names of 9.3.0 are 'apl'")

    def test_aliases_that_differ(self):
        line = self.change("intel.tsv", "bxt", "sub_group_sizes", "16,32")
        self.refused("intel.tsv", line, "sub_group_sizes '16,32': apl of the same IP version")

    def test_two_primary_names(self):
        line = self.change("intel.tsv", "dg2-g10", "kind", "acronym")
        self.change("intel.tsv", "acm-g10", "primary", "yes")
        self.refused("intel.tsv", line, "already has the primary name 'acm-g10'")

    def test_no_primary_name(self):
        line = self.change("intel.tsv", "bdw", "primary", "no")
        self.refused("intel.tsv", line, "8.0.0 has no primary name")

    def test_stepping_as_primary_name(self):
        self.change("intel.tsv", "dg2-g10", "primary", "no")
        line = self.change("intel.tsv", "dg2-g10-c0", "primary", "yes")
        self.refused("intel.tsv", line, "an acronym has this IP version too")

    def test_sub_group_size_that_is_none(self):
        line = self.change("intel.tsv", "bdw", "sub_group_sizes", "8,12")
        self.refused("intel.tsv", line, "not rising powers of 2")

    def test_fp64_native_and_emulated(self):
        line = self.change("intel.tsv", "bdw", "fp64_emulated", "yes")
        self.refused("intel.tsv", line, "native and emulated at once")

    def test_control_character(self):
        line = self.change("intel.tsv", "bdw", "codename", "Broad\x07well")
        self.refused("intel.tsv", line, "codename")

    def test_unknown_release_group(self):
        line = self.change("intel.tsv", "bdw", "release_groups", "gen7")
        self.refused("intel.tsv", line, "release group 'gen7' is not in sets.tsv")

    def test_empty_release_group(self):
        line = self.add("sets.tsv", "gen7\trelease-group\t\tnowhere")
        self.refused("sets.tsv", line, "set 'gen7' is empty")

    def test_unknown_member(self):
        line = self.change("sets.tsv", "default-intel", "members", "dg2-g10,dg2-g13")
        self.refused("sets.tsv", line, "unknown member 'dg2-g13'")

    def test_member_twice(self):
        line = self.change("sets.tsv", "default-intel", "members", "dg2-g10,dg2-g10")
        self.refused("sets.tsv", line, "names a target twice")

    def test_set_that_contains_itself(self):
        line = self.change("sets.tsv", "xe2", "members", "xe3")
        self.change("sets.tsv", "xe3", "members", "xe2")
        self.refused("sets.tsv", line, "'xe2' contains itself")

    def test_release_group_with_members(self):
        line = self.change("sets.tsv", "gen8", "members", "bdw")
        self.refused("sets.tsv", line, "members 'bdw' of a release-group")

    def test_family_of_another_target(self):
        line = self.change("product-families.tsv", "0x4f6", "target", "pvc")
        self.refused("product-families.tsv", line, "'pvc' is not of this product family")

    def test_family_of_an_alias(self):
        line = self.change("product-families.tsv", "0x4f6", "target", "acm-g10")
        self.refused("product-families.tsv", line, "'acm-g10' is not a primary name")

    def test_family_missing(self):
        lines = self.lines("product-families.tsv")
        del lines[self.line_of("product-families.tsv", "0x10")]
        self.write("product-families.tsv", lines)
        self.refused("intel.tsv", 2, "0x10 is not in product-families.tsv")

    def test_family_twice(self):
        line = self.add("product-families.tsv", "0x4f6\tIGFX_DG2\t0xc07\tdg2-g10\tnowhere")
        self.refused("product-families.tsv", line, "duplicate product_family 0x4f6")

    def test_core_of_another_family(self):
        self.change("product-families.tsv", "0x4f6", "core_family", "0xc08")
        line = self.line_of("intel.tsv", "acm-g10") + 1
        self.refused("intel.tsv", line, "patchtoken_core 3079: product-families.tsv has 3080")

    def test_sycl_name_of_another_target(self):
        line = self.change("sycl-arch.tsv", "intel_gpu_dg2_g10", "target", "dg2-g11")
        self.refused("sycl-arch.tsv", line, "is not intel_gpu_ and 'dg2-g11'")

    def test_sycl_name_of_no_target(self):
        line = self.change("sycl-arch.tsv", "intel_gpu_dg2_g10", "target", "dg2-g99")
        self.refused("sycl-arch.tsv", line, "unknown target 'dg2-g99'")

    def test_sycl_name_of_no_gpu(self):
        line = self.change("sycl-arch.tsv", "intel_gpu_dg2_g10", "target", "spir64")
        self.refused("sycl-arch.tsv", line, "'spir64' is no Intel GPU")

    def test_portable_row_with_another_target(self):
        line = self.change("sycl-arch.tsv", "spir64", "target", "spirv64")
        self.refused("sycl-arch.tsv", line, "a portable row is its own target")

    def test_compat_of_an_ip_that_nobody_has(self):
        line = self.add("compat.tsv", "12.55.8\t12.99.0\t24.45.31740.8\t\tnowhere")
        self.refused("compat.tsv", line, "device_ip 12.99.0 is no target's")

    def test_compat_pair_twice(self):
        line = self.add("compat.tsv", self.lines("compat.tsv")[1])
        self.refused("compat.tsv", line, "duplicate or empty pair 12.55.8 12.56.5")

    def test_docs_tell_the_sets(self):
        with open(os.path.join(ROOT, "docs", "targets.md"), encoding="utf-8") as file:
            text = file.read()
        for line in self.lines("sets.tsv")[1:-1]:
            name, kind, members = line.split("\t")[:3]
            self.assertRegex(text, rf"(?m)^\| .*`{name}`")
            if kind in ("list", "family-group") and name in ("default-intel", "xe"):
                self.assertIn(f"| {members.replace(',', ' ')} |", text)

    def test_docs_tell_what_each_family_accepts(self):
        with open(os.path.join(ROOT, "docs", "targets.md"), encoding="utf-8") as file:
            table = [[cell.strip() for cell in line.strip("|\n").split("|")]
                     for line in file if line.startswith("| Gen") or line.startswith("| Xe")]
        told = {family: cells[1:] for cells in table for family in cells[0].split(", ")}
        header = self.lines("intel.tsv")[0].split("\t")
        for line in self.lines("intel.tsv")[1:-1]:
            row = dict(zip(header, line.split("\t")))
            if row["kind"] == "deprecated":
                continue
            fp64 = "only emulated, off by default" if row["fp64_emulated"] == "yes" else row["fp64"]
            self.assertEqual(told[row["family"]],
                             [row["sub_group_sizes"].replace(",", ", "), fp64, row["dpas"]],
                             row["name"])

    def test_usage(self):
        run = subprocess.run([sys.executable, GENERATOR], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        self.assertEqual(run.returncode, 2)
        self.assertTrue(run.stderr.startswith("usage: "))


if __name__ == "__main__":
    unittest.main()
