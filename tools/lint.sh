#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formatting, clang-tidy, cppcheck, layers, docs, scripts. Usage: lint.sh BUILD (with compile_commands.json)
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
bad=0
step() { # NAME COMMAND...
  local name=$1
  shift
  if "$@"; then echo "lint: $name: ok"; else echo "lint: $name: FAILED"; bad=1; fi
}

mapfile -t ours < <(git ls-files -co --exclude-standard -- '*.c' '*.h')
mapfile -t units < <(git ls-files -co --exclude-standard -- 'src/*.c')
mapfile -t scripts < <(git ls-files -co --exclude-standard -- '*.sh' .ci/run)
mapfile -t pythons < <(git ls-files -co --exclude-standard -- '*.py')

tidy() {
  # Generated sources must be there before their headers and tables can be parsed.
  local generated
  generated=$(ninja -C "$build" -t targets all | sed -n 's/^\(src\/[a-z_]*\.[ch]\): CUSTOM_COMMAND.*/\1/p')
  # shellcheck disable=SC2086
  [ -z "$generated" ] || ninja -C "$build" $generated >/dev/null
  local jobs
  jobs=$(nproc)
  printf '%s\n' "${units[@]}" | xargs -P "$jobs" -n 4 clang-tidy --quiet -p "$build" --warnings-as-errors='*' 2>/dev/null
}

cpp() {
  cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --error-exitcode=1 \
    --inline-suppr --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches -D__GNUC__=12 \
    -j "$(nproc)" -Isrc -Iinclude src examples/*.c
}

scripts_parse() {
  local f
  for f in "${scripts[@]}"; do bash -n "$f" || return 1; done
}

python_parses() {
  python3 -c 'import ast, sys
for f in sys.argv[1:]:
    ast.parse(open(f, encoding="utf-8").read(), f)' "${pythons[@]}"
}

step "clang-format" clang-format --dry-run -Werror "${ours[@]}"
step "layers" python3 tools/check_layers.py
step "docs" python3 tools/check_docs.py
step "shell scripts" scripts_parse
step "python" python_parses
step "cppcheck" cpp
step "clang-tidy" tidy
exit $bad
