#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `pip install .` in a fresh environment gives the program itself: an ELF file, no Python start-up.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
say() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $2"; fi; }
python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q "$root" </dev/null
say $? "pip install ."
[ "$(head -c 4 "$work/venv/bin/devimg" 2>/dev/null)" = $'\177ELF' ]
say $? "bin/devimg is the program itself"
cd "$work" && venv/bin/devimg list "$root/tests/data/intel/lib_aot_zstd.so" | grep -q '^dg2-g11 '
say $? "the installed devimg lists a file"
if command -v cmake >/dev/null; then
  mkdir "$work/cmake" && printf '%s\n' 'cmake_minimum_required(VERSION 3.20)' 'project(p LANGUAGES NONE)' 'find_package(devimg REQUIRED CONFIG)' \
    'get_target_property(p devimg::devimg IMPORTED_LOCATION)' 'message(STATUS "<${p}>")' >"$work/cmake/CMakeLists.txt"
  said=$(PATH="$work/venv/bin:$PATH" cmake -S "$work/cmake" -B "$work/cmake-build" 2>&1)
  [[ $said == *"<$work/venv/bin/devimg>"* ]]
  say $? "CMake finds the package and the program of the environment by PATH"
fi
mkdir p && cp -r venv/devimg/meson/devimg p/ && venv/bin/pip install -q meson </dev/null &&
  printf "project('p')\ndevimg_targets = ''\ndevimg_cpu = 'none'\nsubdir('devimg')\n" >p/meson.build &&
  env PATH=/usr/bin:/bin venv/bin/meson setup b p >setup.log && grep -q "devimg found: YES ($work/venv/bin/devimg)" setup.log
say $? "a Meson project has the folder and finds devimg, without activating the environment"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
