#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job on a real library: what does it carry, and does that cover the GPUs we promise?
# Usage: demo.sh DEVIMG. Exits 0 when each command ended as it should.
set -euo pipefail
devimg=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
cache=$root/build/demo
version=0.50.2
library=libbitsandbytes_xpu2026.so

show() { # EXPECTED-STATUS devimg-arguments...: prints the command as a user would type it, runs it
  local want=$1 status=0
  shift
  printf '\n$ devimg %s\n' "$*"
  "$devimg" "$@" || status=$?
  if [ "$status" != "$want" ]; then
    echo "demo: exit status $status, expected $want" >&2
    exit 1
  fi
}

offline() {
  echo "== a small SYCL library, made from the test fixtures =="
  cd "$root/tests/data/intel"
  show 0 list lib_aot_zstd.so
  # One of its kernels asks for fp64, which these GPUs lack: that rule is shown in the next command.
  show 0 check lib_aot_zstd.so --targets tgllp,adl-s,dg2-g11 --fallback spir64 --compression required --features any
  show 1 check lib_aot_zstd.so --targets default-intel
}

fetch() {
  [ -f "$cache/$library" ] && return 0
  mkdir -p "$cache"
  local wheel
  wheel=$(ls "${DEVIMG_WHEELS:-$cache}"/bitsandbytes-$version-*manylinux*x86_64.whl 2>/dev/null | head -1)
  if [ -z "$wheel" ]; then
    printf '$ pip download --no-deps bitsandbytes==%s\n' "$version"
    timeout 300 python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.11 --platform manylinux_2_24_x86_64 \
      --dest "$cache" "bitsandbytes==$version" </dev/null || return 1
    wheel=$(ls "$cache"/bitsandbytes-$version-*.whl | head -1)
  fi
  python3 -m zipfile -l "$wheel" >/dev/null || return 1
  python3 - "$wheel" "$library" "$cache" <<'PY'
import sys, zipfile
wheel, library, cache = sys.argv[1:]
with zipfile.ZipFile(wheel) as z, open(cache + "/" + library + ".part", "wb") as out:
    out.write(z.read("bitsandbytes/" + library))
PY
  mv "$cache/$library.part" "$cache/$library"
}

shipped() {
  printf '\n== %s, as shipped in bitsandbytes %s ==\n' "$library" "$version"
  if ! fetch; then
    echo "demo: the package index does not answer: this part needs it (or DEVIMG_WHEELS=folder with the wheel)"
    return 0
  fi
  cd "$cache"
  show 0 "$library"
  echo
  echo "It was built for pvc, xe-lpg and ats-m150. Held to that:"
  show 0 check "$library" --targets pvc,xe-lpg,ats-m150 --fallback spir64 --compression required
  echo
  echo "Held to the 19 Intel GPUs of the default set:"
  show 1 check "$library" --targets default-intel --fallback spir64 --compression required
}

offline
shipped
printf '\ndemo: done. Now: %s YOUR-LIBRARY.so\n' "$devimg"
