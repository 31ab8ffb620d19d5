#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds fuzz/fuzz_*.c with libFuzzer, ASan and UBSan and runs each for TIME seconds (default 60).
#
#   make fuzz TIME=600            every target
#   fuzz/run.sh fuzz_open ...     only these
#
# Seeds: the fixtures of tests/data and sources of tests/lint. A fuzz target names its dictionaries in a line
#   dict: elf ar ...              (all of fuzz/*.dict where it has none)
# New inputs and crashes stay in build-fuzz/corpus/<target> and build-fuzz/crashes.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
time=${TIME:-60}
out=build-fuzz
mkdir -p "$out/crashes"

cc=
for c in ${CC:-} clang clang-19 clang-16 clang-15 clang-14; do
  command -v "$c" >/dev/null || continue
  if echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d[0] * (int)n * 0; }' |
    "$c" -fsanitize=fuzzer,address -x c - -o "$out/probe" 2>/dev/null; then
    cc=$c
    break
  fi
done
[ -n "$cc" ] || { echo "fuzz: no clang with libFuzzer here: tools/deps.sh deep (libclang-rt-*-dev)" >&2; exit 1; }

# The library with coverage, linked statically into each target.
if [ ! -f "$out/lib/build.ninja" ]; then
  CC=$cc meson setup "$out/lib" -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false \
    -Dc_args=-fsanitize=fuzzer-no-link >/dev/null
fi
ninja -C "$out/lib" src/libdevimg.a >/dev/null

names=("$@")
if [ ${#names[@]} = 0 ]; then
  for f in fuzz/fuzz_*.c; do names+=("$(basename "$f" .c)"); done
fi

read -r -a libs <<<"$(pkg-config --libs zlib libzstd liblz4 yaml-0.1 jansson libmd)"
bad=0
for name in "${names[@]}"; do
  "$cc" -std=c17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -Iinclude -Isrc -I"$out/lib/src" \
    "fuzz/$name.c" "$out/lib/src/libdevimg.a" "${libs[@]}" -liberty -lpthread -o "$out/$name"
  dicts=$(sed -n 's/^.*dict: \(.*\)$/\1/p' "fuzz/$name.c" | tr -d '*/')
  [ -n "$dicts" ] || dicts=$(cd fuzz && echo -- *.dict | sed 's/^-- //; s/\.dict//g')
  : >"$out/$name.dict"
  for d in $dicts; do cat "fuzz/$d.dict" >>"$out/$name.dict"; done
  mkdir -p "$out/corpus/$name" "$out/seeds"
  find tests/data tests/lint -type f -size -200k ! -name '*.md' ! -name '*.py' ! -name '*.sh' |
    while read -r f; do cp -f "$f" "$out/seeds/$(tr / - <<<"$f")"; done # many have one name
  echo "fuzz: $name for $time s"
  if ! UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "./$out/$name" -max_total_time="$time" -timeout=20 -rss_limit_mb=2048 \
    -max_len=200000 -dict="$out/$name.dict" -artifact_prefix="$out/crashes/$name-" -print_final_stats=1 \
    "$out/corpus/$name" "$out/seeds" >"$out/$name.log" 2>&1; then
    echo "fuzz: $name FAILED; see $out/$name.log and $out/crashes/"
    tail -30 "$out/$name.log"
    bad=1
  else
    sed -n 's/^stat::number_of_executed_units: */    runs: /p; s/^stat::peak_rss_mb: */    peak MB: /p' "$out/$name.log"
  fi
done
exit $bad
