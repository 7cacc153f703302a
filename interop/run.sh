#!/usr/bin/env bash
# guestlist beside the libraries that share its formats and its commands, as they come from their registries: Redisson
# and Guava on a Redis of its own; redis-py, node-redis and Jedis on one that has guestlist.so. Prints what fails, then
# `N passed, N failed`, and ends with status 1 where something failed.
#
#   interop/run.sh check COMMAND MODULE WORK   the guestlist command, guestlist.so, a folder for what is built and written
#   interop/run.sh speed BENCH WORK            checks a second of Redisson and, by redis_bench, of guestlist on the same Redis
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:$here/../.deps/usr/bin

# The newest; and one of 3.x, which still pipelines its adds, has MarshallingCodec and writes the probability
# in another way.
redisson_versions=(4.7.0 3.29.0)
redis_py_version=8.1.0
# The newest of those that Debian 12's Node runs, and of those that Debian 13's does.
node_redis_versions=(5.12.1 6.3.1)

die() { echo "interop: $*" >&2; exit 2; }

build_java() {
  for version in "${redisson_versions[@]}"; do
    mvn -q -B -f "$here/pom.xml" -Dredisson.version="$version" -Dinterop.directory="$work" compile \
      > "$work/run/maven.log" 2>&1 && continue
    cat "$work/run/maven.log" >&2
    die "Maven could not build interop/ with Redisson $version"
  done
}

java_with() {
  local built=$work/redisson-$1
  java -cp "$built/classes:$built/dependency/*" guestlist.interop.Interop "${@:2}"
}

node_redis() { node -p "process.versions.node.split('.')[0] >= 20 ? '${node_redis_versions[1]}' : '${node_redis_versions[0]}'"; }

# What comes from the registries is kept for the next run.
fetch_clients() {
  local python=$work/redis-py-$redis_py_version node=$work/node-redis-$(node_redis)
  {
    if [ ! -e "$python/fetched" ]; then
      python3 -m venv --clear "$python"
      "$python/bin/pip" install --quiet "redis==$redis_py_version"
      touch "$python/fetched"
    fi
    if [ ! -e "$node/fetched" ]; then
      mkdir -p "$node"
      npm install --prefix "$node" --no-audit --no-fund "redis@$(node_redis)"
      touch "$node/fetched"
    fi
  } > "$work/run/clients.log" 2>&1 || { cat "$work/run/clients.log" >&2; die "the clients could not be fetched"; }
}

servers=()
trap '[ ${#servers[@]} = 0 ] || kill "${servers[@]}"' EXIT

# Sets `port`. A port is guessed; where another server has it, another is guessed. That the answer is our server's
# matters: it will be flushed.
start_redis() {
  local server
  for _ in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 12000))
    redis-server --port $port --bind 127.0.0.1 --save '' --appendonly no --dir "$work/run" --logfile redis.log "$@" &
    server=$!
    for _ in {1..50}; do
      kill -0 $server 2>/dev/null || break
      if redis-cli -p $port info server 2>/dev/null | tr -d '\r' | grep -qx "process_id:$server"; then
        servers+=($server)
        return
      fi
      sleep 0.1
    done
    kill $server 2>/dev/null || true
  done
  die "redis-server did not start; see $work/run/redis.log"
}

# With `bf-layout classic` each client runs once more.
check_clients() {
  local layout python=$work/redis-py-$redis_py_version node=$work/node-redis-$(node_redis)
  for layout in native classic; do
    redis-cli -p $1 flushall >/dev/null
    redis-cli -p $1 config set bf.bf-layout $layout | grep -qx OK || die "the module takes no layout"
    echo "redis-py $redis_py_version, $layout layout:"
    "$python/bin/python" "$here/clients/bloom_calls.py" $1 || true
    echo "node-redis $(node_redis), $layout layout:"
    node "$here/clients/bloom_calls.mjs" "$node" $1 || true
    echo "Jedis, $layout layout:"
    java_with "${redisson_versions[0]}" module $1 || true
  done
}

check() {
  local command=$1 module=$2 results=$work/run/results redis
  start_redis
  redis=$port
  start_redis --loadmodule "$module"
  {
    java_with "${redisson_versions[0]}" guava "$command" "$work/run/guava" || true
    for version in "${redisson_versions[@]}"; do
      redis-cli -p $redis flushall >/dev/null
      echo "Redisson $version:"
      java_with "$version" redis "$command" $redis || true
    done
    check_clients $port
  } | tee "$results"
  [ "$(grep -c ' passed, ' "$results")" = $((7 + ${#redisson_versions[@]})) ] || die "a part of the checks did not end"
  awk '/ passed, /{passed += $1; failed += $3} END {print passed " passed, " failed " failed"; exit failed > 0}' "$results"
}

# The best of several rounds on either side, for the machine may have other work.
speed() {
  local bench=$1 measured=$work/run/speed.csv batch form ours theirs
  start_redis
  for version in "${redisson_versions[@]}"; do
    java_with "$version" speed $port > "$work/run/speed-$version"
  done
  GUESTLIST_BENCH_REDIS=redis://127.0.0.1:$port "$bench" --benchmark_format=csv --benchmark_repetitions=3 \
    --benchmark_min_time=1 --benchmark_filter='^check/(native|redisson)/(1|100)/real_time/threads:1$' > "$measured"
  for batch in 1 100; do
    for version in "${redisson_versions[@]}"; do
      theirs=$(awk -v batch=$batch '$1 == batch {print $2}' "$work/run/speed-$version")
      printf 'batch of %3d  Redisson %-8s %9d checks/s\n' $batch "$version" "$theirs"
      for form in native redisson; do
        ours=$(awk -F, -v row="\"check/$form/$batch/real_time/threads:1\"" \
          '$1 == row && $7 > best {best = $7} END {printf "%.0f", best}' "$measured")
        printf 'batch of %3d  guestlist %-8s %8d checks/s, %s times that\n' $batch $form "$ours" \
          "$(awk "BEGIN {printf \"%.1f\", $ours / $theirs}")"
      done
    done
  done
}

mode=$1
work=$(realpath -m "${@: -1}")
rm -rf "$work/run"
mkdir -p "$work/run"
build_java
case $mode in
  check)
    fetch_clients
    check "$(realpath "$2")" "$(realpath "$3")"
    ;;
  speed) speed "$(realpath "$2")" ;;
  *) die "check or speed, not $mode" ;;
esac
