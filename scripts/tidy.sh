#!/usr/bin/env bash
# clang-tidy over every unit of the libraries and the command, and over the headers that those
# include: scripts/tidy.sh BUILD [REGEX]
#
# BUILD needs to be configured only. REGEX picks units by their path. One line a unit, with its time.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 1 ] || { echo "usage: scripts/tidy.sh BUILD [REGEX]" >&2; exit 2; }
export build=$1

check() {
  local began=$SECONDS found
  if found=$(clang-tidy -p "$build" --quiet "$1" 2>&1); then
    printf '%-56s %3d s\n' "$1" $((SECONDS - began))
  else
    printf '%-56s FAILED\n%s\n' "$1" "$found"
    return 1
  fi
}
export -f check

git ls-files 'lib/*/src/*.cpp' 'app/*/src/*.cpp' | grep -E "${2:-.}" |
  xargs --max-procs "${JOBS:-$(nproc)}" --max-args 1 bash -c 'check "$0"'
