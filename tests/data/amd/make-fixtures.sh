#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the fixtures for AMD GPUs and those of LLVM's offload tools again. Needs: clang-19, lld-19, python3 with zstandard
# (PYTHON=...); for those of ../llvm that hold CUDA code also CUDA 13.0 and NVIDIA=DIR with sm_90a.cubin and second.fatbin.
# usage: make-fixtures.sh [OUT]   writes OUT/amd and OUT/llvm; default: the folders here
# The same images each time, not the same bytes: clang hashes its paths into __hip_cuid_*, and names of OpenMP kernels hold
# numbers of the file system.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/..}
a=$out/amd l=$out/llvm n=${NVIDIA:-}
pack() { "${PYTHON:-python3}" "$here/src/pack.py" "$@"; }
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
mkdir -p "$a" "$l"
cp "$here"/src/* "$w"
cd "$w"

hip() { clang++-19 -x hip -nogpuinc -nogpulib -O2 "$@"; }
hip -fPIC -c h.hip -o plain.o --offload-arch=gfx906:xnack- --offload-arch=gfx90a:sramecc+:xnack+ --offload-arch=gfx942 --offload-arch=gfx1100
hip -fPIC -c h2.hip -o p2.o --offload-arch=gfx1030
ld.lld-19 -shared -o "$a/two_bundles_plain.so" plain.o p2.o
hip -c h.hip -o "$a/ccob_v2.o" --offload-compress --offload-arch=gfx906 --offload-arch=gfx1030
hip -c h2.hip -o "$a/generic_co6.o" -mcode-object-version=6 --offload-arch=gfx9-generic --offload-arch=gfx11-generic --offload-arch=gfx10-3-generic
hip -c h2.hip -o "$a/co4.o" -mcode-object-version=4 --offload-arch=gfx908:sramecc-:xnack+
hip -fgpu-rdc -c h.hip -o "$a/rdc_bundler_sections.o" --offload-arch=gfx906
hip --cuda-device-only -c h.hip -o dev.bundle --offload-arch=gfx906 --offload-arch=gfx1100
cp dev.bundle "$a/plain.bundle"
hip --cuda-device-only --no-gpu-bundle-output -c h.hip --offload-arch=gfx942 -o "$a/gfx942.co"
pack ccob 1 zlib dev.bundle "$a/v1_zlib.ccob"
pack ccob 3 zstd dev.bundle v3.ccob
pack ccob 2 zlib dev.bundle v2.ccob
pack cat 4096 "$a/concat_v3_plain_v2.hipfb" v3.ccob dev.bundle v2.ccob
hip --target=x86_64-pc-windows-msvc -c h2.hip -o "$a/win.obj" --offload-arch=gfx1100 --offload-compress
lld-link-19 /nologo /dll /noentry /nodefaultlib /force:unresolved "/out:$a/win.dll" "$a/win.obj"
pack cut 3000 v3.ccob "$a/truncated.ccob"
pack poke 24 0000000000000000 v3.ccob "$a/bad_hash.ccob"
pack poke 32 ffffffffffffffff dev.bundle "$a/bad_offset.bundle"
rm -f "$a"/*.lib

omp() { clang-19 -O2 -fopenmp -nogpulib "$@"; }
omp --offload-arch=gfx906 --offload-arch=gfx1030 -c o.c -o "$l/omp_amd.o"
omp --offload-arch=gfx906 --offload-arch=gfx1030 -c o.c -o fat_member_with_long_name.o
omp -c m.c -o m1.o
omp --offload-arch=gfx906 --offload-arch=gfx1030 -c st.c -o st.o
omp -nostdlib --offload-arch=gfx906 --offload-arch=gfx1030 "$l/omp_amd.o" m1.o st.o -o "$l/omp_exe" -Wl,--unresolved-symbols=ignore-all
rm -f "$l/fat.a"
ar rcs "$l/fat.a" fat_member_with_long_name.o m1.o
hip --offload-new-driver -fgpu-rdc -c h2.hip -o "$l/hip_new_driver.o" --offload-arch=gfx906
omp -nogpuinc -nostdinc --target=x86_64-pc-windows-msvc --offload-arch=gfx906 -c o.c -o "$l/omp_win.obj"
pack off 3 zstd "$l/v3_zstd.offload" "4:1:amdgcn-amd-amdhsa:gfx942:$a/gfx942.co"
pack pokeafter 10ff10ad 8 ffffff7f00000000 "$l/omp_amd.o" "$l/bad_size.o"
pack pokeafter 10ff10ad 4 63000000 "$l/omp_amd.o" "$l/bad_version.o"
if [ -n "$n" ]; then
  cuda=${CUDA:-/usr/local/cuda}
  omp --offload-arch=sm_80 --cuda-path="$cuda" -c o.c -o "$l/omp_nv.o"
  clang++-19 -x cuda -nogpuinc -nogpulib --cuda-path="$cuda" -Wno-unknown-cuda-version --offload-new-driver -fgpu-rdc --offload-arch=sm_80 -O2 -c w.cu -o "$l/cuda_new_driver.o"
  pack off 1 none e1.bin "2:3:nvptx64-nvidia-cuda:sm_90a:$n/sm_90a.cubin"
  pack off 1 none e2.bin "4:1:amdgcn-amd-amdhsa:gfx942:$a/gfx942.co"
  clang-19 -cc1 -triple x86_64-linux-gnu -emit-obj m.c -o "$l/fembed_two.o" -fembed-offload-object=e1.bin -fembed-offload-object=e2.bin
  pack off 2 none "$l/v2_three.offload" "2:3:nvptx64-nvidia-cuda:sm_90a:$n/sm_90a.cubin" "4:1:amdgcn-amd-amdhsa:gfx942:$a/gfx942.co" "2:4:nvptx64-nvidia-cuda:sm_80:$n/second.fatbin"
fi
