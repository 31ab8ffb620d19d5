#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real DPC++ code through the whole chain: build_sycl.sh DEVIMG CACHE. DEVIMG_SYCL: what sycl/setup.sh made earlier.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
devimg=$(realpath "$1")
cache=$(mkdir -p "$2" && cd "$2" && pwd)
sdk=${DEVIMG_SYCL:-$cache/sycl}
for c in ocloc clang-19 ld.lld-19 g++ zstd spirv-dis; do
  command -v "$c" >/dev/null || { echo "build_sycl.sh: $c is missing: tools/deps.sh test" >&2; exit 1; }
done
[ -x "$sdk/sycl-to-spirv" ] || "$here/sycl/setup.sh" "$sdk"
python=python3
$python -c 'import yaml' 2>/dev/null || python=/usr/bin/python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
$python "$here/sycl/prove.py" "$devimg" "$sdk" "$work"
