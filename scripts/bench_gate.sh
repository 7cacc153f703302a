#!/usr/bin/env bash
# Verdicts of the service against nginx `return 404`, in turns: server on core 0, load on core 1. Needs nginx and wrk.
#
# usage: scripts/bench_gate.sh BUILD_FOLDER [ROUNDS]
set -euo pipefail
guestlist=$1/bin/guestlist
rounds=${2:-3}
folder=$(mktemp -d)
gate_port=8799
nginx_port=8798
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT

seq 1 100000 >"$folder/ids.txt"
cat >"$folder/guestlist.toml" <<EOF
[server]
listen = "127.0.0.1:$gate_port"
threads = 1
[[filter]]
name = "ids"
key = "int"
[filter.source]
lines = "ids.txt"
[[route]]
match = "/items/{id}"
filter = "ids"
mode = "enforce"
EOF
cat >"$folder/nginx.conf" <<EOF
daemon off;
worker_processes 1;
pid $folder/nginx.pid;
error_log $folder/nginx.log;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  server { listen 127.0.0.1:$nginx_port; location / { return 404; } }
}
EOF
taskset -c 0 "$guestlist" serve "$folder/guestlist.toml" 2>"$folder/log" &
pids+=($!)
taskset -c 0 nginx -c "$folder/nginx.conf" &
pids+=($!)
for _ in $(seq 100); do
  curl -sf "http://127.0.0.1:$gate_port/readyz" >/dev/null && break
  sleep 0.1
done

measure() {
  taskset -c 1 wrk -t1 -c"$1" -d3s --latency -H "X-Forwarded-Uri: /items/999999" "http://127.0.0.1:$2/auth/forward" |
    awk '/Requests\/sec/ {rate = $2} /99%/ {p99 = $2} END {printf "%s requests/s, p99 %s\n", rate, p99}'
}
for round in $(seq "$rounds"); do
  for connections in 1 64; do
    echo "round $round, $connections connections, nginx:     $(measure "$connections" $nginx_port)"
    echo "round $round, $connections connections, guestlist: $(measure "$connections" $gate_port)"
  done
done
