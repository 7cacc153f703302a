#!/usr/bin/env bash
# Checks docs/formats/rebuild.pml with spin.
#
#   docs/formats/check_rebuild.sh holds      the protocol keeps its promises: a minute at most
#   docs/formats/check_rebuild.sh mutants    without any one of its precautions it does not
#   docs/formats/check_rebuild.sh large      more builders and faults at once: minutes, 2 GiB
set -euo pipefail
model=$(cd "$(dirname "$0")" && pwd)/rebuild.pml
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

all_faults="-DFAILOVER -DLOSS -DTRIM -DSTRAGGLER"

# Prints spin's verdict: the number of errors and of states.
run() {
  spin -a "$@" "$model" > spin.log || { cat spin.log; return 1; }
  "${CC:-cc}" -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=3000 -o pan pan.c
  # -E: a builder that was fenced off stands still, and need not reach its end.
  ./pan -E -m100000 -w22 > pan.log
  if grep -qE 'search depth too small|reached -DMEMLIM|pan: out of memory' pan.log; then
    cat pan.log
    return 1
  fi
  sed -nE 's/.*errors: ([0-9]+).*/errors \1/p; s/ *([0-9.e+]+) states, stored.*/states \1/p' pan.log | tr '\n' ' '
}

holds() {
  local verdict
  verdict=$(run "$@")
  echo "$*: $verdict"
  [[ $verdict == "errors 0 "* ]] || { echo "the protocol does not hold under $*"; exit 1; }
}

case ${1:-holds} in
  holds)
    holds -DWRITERS=1 -DBUILDERS=1 $all_faults
    holds -DWRITERS=1 -DBUILDERS=2 -DLOSS -DSTRAGGLER
    ;;
  mutants)
    for mutant in NO_SYNC NO_LOOKBACK NO_WAIT NO_FENCE NO_EPOCH NO_SERVER OLD_EPOCHS; do
      verdict=$(run -D$mutant -DWRITERS=1 -DBUILDERS=1 $all_faults)
      echo "$mutant: $verdict"
      [[ $verdict == "errors 1 "* ]] || { echo "the model does not notice $mutant"; exit 1; }
    done
    ;;
  large)
    holds -DWRITERS=2 -DBUILDERS=2
    holds -DWRITERS=2 -DBUILDERS=1 -DFAILOVER -DTRIM
    holds -DWRITERS=1 -DBUILDERS=2 -DFAILOVER
    holds -DWRITERS=1 -DBUILDERS=2 -DLOSS -DTRIM -DSTRAGGLER
    ;;
  *)
    sed -n '2,7s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
