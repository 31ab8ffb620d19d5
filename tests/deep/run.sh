#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What takes long: every cut and every flipped byte of every fixture under sanitizers, gcc's static
# analyzer, the fuzz targets, a 32-bit build. Usage: run.sh BUILD ASAN_BUILD
# SHARD=i/n runs every nth fixture from i on; FUZZ_TIME: seconds a fuzz target (default 60).
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "$1")
asan=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0
result() { # STATUS NAME [LOG]
  if [ "$1" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $2"
    [ -z "${3:-}" ] || tail -20 "$3"
  fi
}

every_byte() {
  local shard=${SHARD:-0/1} f name number=0
  gcc -std=c17 -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined -I"$root/include" "$root/tests/deep/damage.c" \
    -L"$asan/src" -Wl,-rpath,"$asan/src" -ldevimg -o "$work/damage" || { result 1 "the driver compiles"; return; }
  export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  for f in "$root"/tests/data/{intel,offload,amd}/*; do
    name=$(basename "$f")
    case $name in *.md | *.sh | src) continue ;; esac
    number=$((number + 1))
    [ $((number % ${shard#*/})) = "$((${shard%/*} % ${shard#*/}))" ] || continue
    echo "$f"
  done >"$work/files"
  # xargs stops nothing: every file is tried, and each failing one is named in its log.
  mkdir "$work/logs"
  # shellcheck disable=SC2016
  xargs -P "$(nproc)" -I{} sh -c '
    name=$(basename "$1"); "$2/damage" 0 "$1" >/dev/null 2>"$2/logs/$name"; echo $? >"$2/logs/$name.status"' \
    sh {} "$work" <"$work/files"
  while read -r f; do
    name=$(basename "$f")
    result "$(cat "$work/logs/$name.status")" "every byte of $name" "$work/logs/$name"
  done <"$work/files"
}

# Leaks are for ASan: GCC 12 loses pointers into allocated blocks. The macro is that of base/view.h,
# which tells an analyzer that a failure is never OK.
analyzer() {
  local f
  for f in "$root"/src/*/*.c; do
    gcc -fanalyzer -Wno-analyzer-malloc-leak -D__clang_analyzer__ -std=c17 -D_GNU_SOURCE -O1 -Werror -I"$root/include" -I"$root/src" -I"$build/src" -c "$f" \
      -o "$work/x.o" 2>"$work/analyzer.log"
    result $? "gcc -fanalyzer ${f#"$root"/}" "$work/analyzer.log"
  done
}

# 32-bit hosts: sizes of files do not fit in a size_t there.
narrow() {
  local f
  if ! echo 'int main(void){return 0;}' | gcc -m32 -x c - -o "$work/m32" 2>/dev/null; then
    skipped=$((skipped + 1))
    echo "skipped: 32-bit (gcc -m32 does not link: gcc-multilib is missing)"
    return
  fi
  for f in "$root"/src/base/*.c "$root"/src/object/*.c "$root"/src/bundle/*.c "$root"/src/image/*.c; do
    gcc -m32 -std=c17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Wall -Wextra -Wconversion -Wsign-conversion -Werror \
      -I"$root/include" -I"$root/src" -I"$build/src" -c "$f" -o "$work/x.o" 2>"$work/m32.log"
    result $? "32-bit ${f#"$root"/}" "$work/m32.log"
  done
}

# Objects of six machines, RELR, files without a section table and 200 libraries of this system.
readelf_agrees() {
  python3 "$root/tests/object/compare_readelf.py" "$build" >"$work/readelf.log" 2>&1
  local status=$?
  if [ $status = 77 ]; then
    skipped=$((skipped + 1))
    cat "$work/readelf.log"
    return
  fi
  result $status "sections, symbols and pointers as readelf has them" "$work/readelf.log"
}

fuzzers() {
  TIME=${FUZZ_TIME:-60} "$root/fuzz/run.sh" >"$work/fuzz.log" 2>&1
  result $? "fuzz targets for ${FUZZ_TIME:-60} s each" "$work/fuzz.log"
}

every_byte
analyzer
narrow
readelf_agrees
fuzzers
[ $skipped = 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
