#!/usr/bin/env bash
# make bench: starts a node with a durable database of its own, runs `orbit bench` against it, stops both.
# Arguments go to `orbit bench`; without any all workloads run. Result lines: build/bench.jsonl.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
orbit=${ORBIT_BINARY:-bin/orbit}
(($#)) || set -- -w all

unset ORBIT_DATABASE_URL ORBIT_URL ORBIT_KEY
# Every commit is flushed; the binary log is off, as it was for the systems these workloads are compared with.
export ORBIT_MYSQL_BINLOG=${ORBIT_MYSQL_BINLOG:-0}
work=$(mktemp -d "${TMPDIR:-/tmp}/orbit-bench.XXXXXX")
node=''
stop() {
  local code=$?
  trap - EXIT
  if [[ $node ]]; then
    kill "$node" 2>/dev/null || true
    wait "$node" 2>/dev/null || true
  fi
  rm -rf "$work"
  exit "$code"
}
trap stop EXIT
trap 'exit 130' INT TERM

"$orbit" dev --durable --data "$work/data" --listen 127.0.0.1:0 --log-level warn --output json >"$work/ready" 2>"$work/log" &
node=$!
for _ in {1..1200}; do
  [[ ! -s $work/ready ]] || break
  kill -0 "$node" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
[[ -s $work/ready ]] || { cat "$work/log" >&2; echo 'bench: the node did not become ready' >&2; exit 1; }
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$work/ready" | sed 's/\\u0026/\&/g'; }

mkdir -p build
ORBIT_URL=$(field url) ORBIT_KEY=$(field key) ORBIT_DATABASE_URL=$(field database) \
  "$orbit" bench --server-pid "$node" --db-pid "$(sed -n 's/.*"database_pid":\([0-9]*\).*/\1/p' "$work/ready")" \
  --settings "durable, binlog $ORBIT_MYSQL_BINLOG" "$@" | tee build/bench.jsonl
