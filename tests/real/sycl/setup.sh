#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# DPC++ from packages, without a GPU: setup.sh DIR
# Puts Intel's SYCL runtime with its in-process compiler and the OpenCL CPU device (PyPI, about 1 GB) into DIR
# and builds DIR/sycl-to-spirv, which compiles kernel source with the DPC++ front end.
set -euo pipefail
dir=$(mkdir -p "$1" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -d "$dir/venv/opt/compiler/include" ]; then
  python3 -m venv "$dir/venv"
  "$dir/venv/bin/pip" install -q intel-sycl-rt==2026.2.0 intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0
fi
cat >"$dir/env" <<ENV
export LD_LIBRARY_PATH=$dir/venv/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export OCL_ICD_FILENAMES=$dir/venv/lib/libintelocl.so
ENV
g++ -std=c++17 -O1 -w -I"$dir/venv/include" -I"$dir/venv/opt/compiler/include/c++" -I"$dir/venv/opt/compiler/include" \
  "$here/sycl-to-spirv.cpp" -o "$dir/sycl-to-spirv.bin" -L"$dir/venv/lib" -lsycl
printf '#!/bin/sh\n. "%s/env"\nexec "%s/sycl-to-spirv.bin" "$@"\n' "$dir" "$dir" >"$dir/sycl-to-spirv"
chmod +x "$dir/sycl-to-spirv"
