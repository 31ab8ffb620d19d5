#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes tests/facts_intel.json: what the independent reader sees in every good fixture.
# Every SPIR-V module is also read by spirv-dis, and must read the same.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../data/intel"
files=()
for f in *; do
  case $f in
    # damaged on purpose or a packing that sycl_facts.py does not read
    bad_* | lib_garbage.so | lib_zstd_cut.so | *.hcf | lib_hcf.so | obj_packager.o) ;;
    *.md | *.sh | src) ;;
    *) files+=("$f") ;;
  esac
done
python3 "$here/sycl_facts.py" "${files[@]}" >"$here/../facts_intel.json"
