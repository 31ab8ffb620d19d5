#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real files: shipped wheels, and SYCL code compiled here. Usage: run.sh DEVIMG. The last line reads "N passed, N failed".
# DEVIMG_WHEELS=folder takes wheels from there; DEVIMG_SYCL=folder takes the compiler from there,
# DEVIMG_NVCC=folder takes nvcc from there.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=$here/cache
mkdir -p "$cache"
python=python3
$python -c 'import yaml' 2>/dev/null || python=/usr/bin/python3
passed=0
failed=0
part() { # COMMAND...: runs it, shows it, adds its last line to the sums
  local log=$cache/last.log status
  "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  local line
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -1)
  if [ -z "$line" ]; then
    echo "FAILED $1 ended with status $status before it could count"
    failed=$((failed + 1))
    return
  fi
  passed=$((passed + ${line%% *}))
  line=${line#*, }
  failed=$((failed + ${line%% *}))
}
part $python "$here/wheels.py" "$1" "$cache"
part $python "$here/rocm.py" "$1" "$cache"
part $python "$here/cuda_libraries.py" "$1" "$cache"
part $python "$here/scan.py" "$1" "$cache"
part "$here/build_sycl.sh" "$1" "$cache"
part $python "$here/lint_headers.py" "$1" "$cache"
part $python "$here/sycl/header.py" "$1" "${DEVIMG_SYCL:-$cache/sycl}"
# Behind build_sycl.sh, which makes the folder with DPC++.
part $python "$here/compile.py" "$1" "$cache"
part "$here/pip_install.sh"
# The target tables against ocloc itself: IP versions, sub-group sizes, fp64 of every name it knows, by a test and by devimg.
part sh -c "$python '$here/../target/compare_ocloc.py' && echo '1 passed, 0 failed' || echo '0 passed, 1 failed'"
part sh -c "'$1' sycl probe --targets default-intel,xe-hpc,gen9,gen11 && echo '1 passed, 0 failed' || echo '0 passed, 1 failed'"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
