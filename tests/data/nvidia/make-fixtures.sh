#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the fixtures for NVIDIA GPUs again. Needs: CUDA 13.0 (CUDA=/usr/local/cuda), gcc, clang-19, lld-19, python3.
# usage: make-fixtures.sh [OUT]   default: the folder here
# The same images each time, not the same bytes: nvcc puts temporary names in symbols.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath "${1:-$here}")
PATH=${CUDA:-/usr/local/cuda}/bin:$PATH
pack() { "${PYTHON:-python3}" "$here/../amd/src/pack.py" "$@"; }
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
mkdir -p "$out"
cp "$here"/src/* "$here/../amd/src/w.cu" "$w"
cd "$w"

for_() { gencode+=(-gencode "arch=compute_$1,code=$2"); }
cuda() { nvcc "$@" "${gencode[@]}" && gencode=(); }
gencode=()
for_ 80 sm_80 && for_ 90a sm_90a && for_ 90 compute_90
cuda -c k.cu -o "$out/multi_plain.o" -compress-mode=none
for_ 80 sm_80 && for_ 90a sm_90a && for_ 100f sm_100f && for_ 120 '[sm_120,compute_120]'
cuda -c k.cu -o "$out/multi_zstd.o" -Xfatbin -compress-all
for_ 75 '[sm_75,compute_75]' && for_ 86 sm_86
cuda -c k.cu -o lz4.o -Xcompiler -fPIC -compress-mode=speed -Xfatbin -compress-all
for_ 80 sm_80
cuda -c second.cu -o sec.o -Xcompiler -fPIC -compress-mode=size
gcc -shared -o "$out/two_tu_lz4_zstd.so" lz4.o sec.o
for_ 90 compute_90
cuda -c k.cu -o "$out/ptx_only.o"
for_ 80 '[sm_80,compute_80]'
cuda -rdc=true -Xcompiler -fPIC -c k.cu -o "$out/rdc.o"
for_ 80 sm_80
cuda -dlink -Xcompiler -fPIC "$out/rdc.o" -o dl.o
gcc -shared -o "$out/rdc_linked.so" "$out/rdc.o" dl.o
for_ 90 '[lto_90,sm_90]'
cuda -rdc=true -c k.cu -o "$out/lto.o"
nvcc -cubin -arch=sm_90a k.cu -o "$out/sm_90a.cubin"
nvcc -cubin -arch=sm_100f second.cu -o "$out/sm_100f.cubin"
for_ 80 sm_80 && for_ 90 '[sm_90,compute_90]'
cuda -fatbin second.cu -o "$out/second.fatbin"
nvcc -G -c second.cu -o "$out/debug.o" -arch=sm_80
cp sec.o a_member_with_a_long_name.o
rm -f "$out/static.a"
ar rcs "$out/static.a" a_member_with_a_long_name.o "$out/ptx_only.o"
clang++-19 --target=x86_64-pc-windows-msvc -x cuda -nogpuinc -nogpulib -nocudalib --cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang "$out/second.fatbin" -c w.cu -o "$out/win.obj"
lld-link-19 /nologo /dll /noentry /nodefaultlib /force:unresolved "/out:$out/win.dll" "$out/win.obj"
rm -f "$out"/*.lib
pack pokeafter 50ed55ba 0x18 ffffff7f "$out/multi_zstd.o" "$out/bad_padded_size.o"
pack pokeafter 28b52ffd 0x40 0000000000000000 "$out/multi_zstd.o" "$out/bad_zstd.o"
pack cut 2000 "$out/second.fatbin" "$out/truncated.fatbin"
