#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Speed and memory of devimg as ratios to `cat` and to a bare loop of libzstd. Usage: run.sh DEVIMG [FILE...]
# Without files: the largest SYCL libraries on the package index (onemkl-sycl-rng and -vm), from DEVIMG_WHEELS or pip.
# RUNS: rounds (default 11). Exit status 1 when a goal is not met.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
devimg=$(realpath "$1")
shift
cache=$here/../build/bench
mkdir -p "$cache"
"${CC:-cc}" -std=c17 -O2 -D_GNU_SOURCE "$here/zstd_loop.c" -o "$cache/zstd_loop" -lzstd -pthread
built=$(dirname "$devimg")
libraries=$(PKG_CONFIG_PATH=$built/../meson-uninstalled pkg-config --static --libs-only-l devimg)
# shellcheck disable=SC2086 # words
"${CC:-cc}" -std=c17 -O2 -D_GNU_SOURCE -I"$here/../include" "$here/decode.c" -o "$cache/decode" "$built/libdevimg.a" ${libraries/-ldevimg/}
files=("$@")
if [ ${#files[@]} = 0 ]; then
  for name in rng vm; do
    lib=$cache/libmkl_sycl_$name.so.6
    if [ ! -f "$lib" ]; then
      wheel=$(find "${DEVIMG_WHEELS:-$cache}" -maxdepth 1 -name "onemkl_sycl_${name}-2026.2.0-*.whl" -print -quit)
      if [ -z "$wheel" ]; then
        python3 -m pip download -q --no-deps --only-binary=:all: --platform manylinux_2_28_x86_64 --python-version 3.11 \
          --dest "$cache" "onemkl-sycl-$name==2026.2.0" </dev/null
        wheel=$(find "$cache" -maxdepth 1 -name "onemkl_sycl_${name}-2026.2.0-*.whl" -print -quit)
      fi
      python3 -m zipfile -e "$wheel" "$cache/x"
      find "$cache/x" -name "libmkl_sycl_$name.so.6" -exec mv {} "$lib" \;
      rm -rf "$cache/x"
    fi
    files+=("$lib")
  done
fi
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, $(uname -r)"
exec python3 "$here/measure.py" "$devimg" "$cache" "${RUNS:-11}" "${files[@]}"
