#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian or Ubuntu packages that are missing; elsewhere prints the list.
#
#   tools/deps.sh [build] [test] [real] [lint] [deep]      default: build
#
# Exit status: 0 all needed tools are here; 1 something needed is missing.
set -euo pipefail

packages() {
  case $1 in
    build) echo "gcc libc6-dev meson ninja-build pkg-config python3 zlib1g-dev libzstd-dev liblz4-dev libyaml-dev libiberty-dev libjansson-dev libmd-dev" ;;
    test) echo "g++ cmake clang clang-19 clang-tools-19 lld-19 llvm-19 libcmocka-dev python3-jsonschema python3-yaml spirv-tools zstd patchelf intel-opencl-icd binutils unzip python3-venv python3-pip" ;;
    real) echo "slurm-wlm munge" ;;
    lint) echo "clang-format clang-tidy cppcheck" ;;
    deep) echo "qemu-user gcc-multilib libclang-rt-14-dev" ;;
    *) echo "deps.sh: no group \"$1\": build, test, real, lint, deep" >&2 && return 2 ;;
  esac
}

# Packages that only some suites can use: missing ones are named, and are no failure.
optional=" gcc-multilib qemu-user libclang-rt-14-dev intel-opencl-icd clang-tools-19 slurm-wlm munge "

# What a group cannot do without, as commands.
commands() {
  case $1 in
    build) echo "cc meson ninja pkg-config python3" ;;
    test) echo "c++ zstd patchelf python3 nm objcopy" ;;
    lint) echo "clang-format clang-tidy cppcheck" ;;
    deep) echo "clang" ;;
  esac
}

groups=("$@")
[ ${#groups[@]} -gt 0 ] || groups=(build)
wanted=()
for g in "${groups[@]}"; do
  list=$(packages "$g")
  read -r -a some <<<"$list"
  wanted+=("${some[@]}")
done

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo -n env DEBIAN_FRONTEND=noninteractive "$@" </dev/null
  else
    echo "deps.sh: not root and no sudo: run as root: $*" >&2
    return 1
  fi
}

install_missing() {
  local missing=() some=() p
  for p in "${wanted[@]}"; do
    installed "$p" || missing+=("$p")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "deps.sh: installing ${missing[*]}"
  as_root apt-get update -q >/dev/null || echo "deps.sh: apt-get update failed; going on with what it knows" >&2
  for p in "${missing[@]}"; do
    if apt-cache show "$p" >/dev/null 2>&1; then
      some+=("$p")
    else
      echo "deps.sh: no package \"$p\" here" >&2
    fi
  done
  [ ${#some[@]} -gt 0 ] || return 0
  as_root apt-get install -y -q --no-install-recommends "${some[@]}" >/dev/null && return 0
  # One package that cannot be installed must not keep the others away.
  for p in "${some[@]}"; do
    as_root apt-get install -y -q --no-install-recommends "$p" >/dev/null && continue
    case $optional in
      *" $p "*) echo "deps.sh: \"$p\" cannot be installed: what needs it is skipped and said so" >&2 ;;
      *) echo "deps.sh: \"$p\" cannot be installed" >&2 ;;
    esac
  done
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  install_missing || true
else
  echo "deps.sh: not Debian or Ubuntu; needed, by Debian's names: ${wanted[*]}"
fi

status=0
for g in "${groups[@]}"; do
  for c in $(commands "$g"); do
    command -v "$c" >/dev/null || { echo "deps.sh: $c is missing (group $g)" >&2; status=1; }
  done
done
exit $status
