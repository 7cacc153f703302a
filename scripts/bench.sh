#!/usr/bin/env bash
# Runs the benchmark programs of a build: scripts/bench.sh BUILD [REGEX]
# Repetitions are interleaved and the minimum is what to compare: machines are shared and noisy.
set -euo pipefail
build=$1
filter=${2:-.}
for program in "$build"/bin/*_bench; do
  echo "== $(basename "$program")"
  "$program" --benchmark_filter="$filter" --benchmark_enable_random_interleaving=true \
    --benchmark_repetitions="${REPETITIONS:-5}" --benchmark_min_time="${MIN_TIME:-0.1}" \
    --benchmark_report_aggregates_only=false ${BENCH_OUT:+--benchmark_out="$BENCH_OUT/$(basename "$program").json"} ||
    { echo "bench: $(basename "$program") failed" >&2; exit 1; }
done
