#!/usr/bin/env bash
# Builds every fuzzer of the tree and runs each for a while: scripts/fuzz.sh BUILD SECONDS [NAME]
#
# A fuzzer is lib/*/fuzz/NAME_fuzz.cpp (or app/*/fuzz); its seeds, if it has any, are in fuzz/corpus/NAME
# beside it. What a run finds stays in BUILD/fuzz/NAME and is where the next run goes on. One line a
# fuzzer; the output of one that fails is shown, and so is the command that repeats the failure. As many
# run at a time as the machine has processors, or JOBS.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 2 ] || { echo "usage: scripts/fuzz.sh BUILD SECONDS [NAME]" >&2; exit 2; }
build=$1 seconds=$2 only=${3:-*}

mapfile -t sources < <(find lib app -path "*/fuzz/${only}_fuzz.cpp" | sort)
[ ${#sources[@]} -gt 0 ] || { echo "there is no fuzzer '$only'" >&2; exit 2; }

targets=()
for source in "${sources[@]}"; do targets+=("$(basename "$source" .cpp)"); done
cmake --build "$build" --parallel "${JOBS:-$(nproc)}" --target "${targets[@]}" > "$build/fuzz.log" 2>&1 ||
  { cat "$build/fuzz.log"; exit 1; }

# Prints the line of one fuzzer.
fuzz() {
  local source=$1 target name found seeds arguments
  target=$(basename "$source" .cpp)
  name=${target%_fuzz}
  found=$build/fuzz/$name
  seeds=$(dirname "$source")/corpus/$name
  mkdir -p "$found/corpus"
  arguments=("$found/corpus")
  [ ! -d "$seeds" ] || arguments+=("$seeds")
  if "$build/bin/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
      -print_final_stats=1 -artifact_prefix="$found/" "${arguments[@]}" > "$found/log" 2>&1; then
    printf '%-24s ok      %12d inputs, %6d edges covered\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$found/log")" \
      "$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$found/log" | tail -1)"
  else
    printf '%-24s FAILED; repeat it with %s %s\n%s\n' "$name" "$build/bin/$target" \
      "$(sed -n 's/.*Test unit written to //p' "$found/log" | tail -1)" "$(tail -n 60 "$found/log")"
    return 1
  fi
}
export -f fuzz
export build seconds

printf '%s\n' "${sources[@]}" |
  xargs --max-procs "${JOBS:-$(nproc)}" --max-args 1 bash -c 'fuzz "$0"'
