#!/usr/bin/env bash
# The main job end to end: a node with a fresh private database, a folder of real documents, a workflow of three tasks
# per file, and a check of every result. `make demo` calls it.
#
#   scripts/demo.sh [options of file-conversion]      such as -workers 8 or -pace 300ms
#
# The input is this checkout's own documentation, its schema and some pictures drawn on the spot. Results stay in
# build/demo (ORBIT_DEMO_OUT); everything else is stopped and deleted at the end. The last line of stdout is one JSON
# object {"instances","succeeded","tasks","seconds"}; the exit code is 0 only when every file was converted and checked.
# ORBIT_BINARY names a built server; without it one is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

files_min=20
ready_seconds_max=180 # a first start may have to fetch the database
stop_seconds_max=60

say() { printf 'demo: %s\n' "$*" >&2; }

# The path is short because a unix socket's path is limited.
work=$(mktemp -d /tmp/orbit-demo.XXXXXX)
server=''
converter=''

# alive PID: whether it runs; a process that ended and was not waited for does not.
alive() { [[ $1 ]] && kill -0 "$1" 2>/dev/null; }

# shellcheck disable=SC2317 # the trap calls it
stop_all() {
  local code=$? second
  trap - EXIT INT TERM
  for pid in "$converter" "$server"; do
    alive "$pid" || continue
    kill -TERM "$pid" 2>/dev/null || true
    for ((second = 0; second < stop_seconds_max; second++)); do
      alive "$pid" || break
      sleep 1 &
      wait $! || true
    done
    alive "$pid" && kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null || true
  done
  # Only a server that was killed leaves its database behind.
  scripts/db.sh wipe dev --dir="$work/data" >/dev/null 2>&1 || true
  rm -rf "$work"
  exit "$code"
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ── build ────────────────────────────────────────────────────────────────────────────────────────────────────

export GOWORK=off
binary=${ORBIT_BINARY:-}
if [[ ! $binary ]]; then
  say 'building bin/orbit'
  CGO_ENABLED=0 go build -trimpath -o bin/orbit ./cmd/orbit
  binary=$root/bin/orbit
fi
say 'building examples/file-conversion'
(cd examples/file-conversion && CGO_ENABLED=0 go build -trimpath -o "$work/file-conversion" .)

# ── input ────────────────────────────────────────────────────────────────────────────────────────────────────

mkdir "$work/in"
shopt -s nullglob globstar
for file in *.md LICENSE docs/**/*.md sql/**/README.md sql/schema/*.sql examples/**/README.md; do
  mkdir -p "$work/in/$(dirname "$file")"
  cp "$file" "$work/in/$file"
done
"$work/file-conversion" -in "$work/in/pictures" -samples 12
count=$(find "$work/in" -type f | wc -l)
((count >= files_min)) || { say "only $count files to convert, not $files_min"; exit 1; }

# ── server ───────────────────────────────────────────────────────────────────────────────────────────────────

say 'starting a node with a private database'
# A database named in the environment may be somebody's; the demo has its own.
env -u ORBIT_DATABASE_URL "$binary" dev --data "$work/data" --listen 127.0.0.1:0 --output json \
  --log-level warn >"$work/ready.json" 2>"$work/server.log" &
server=$!
for ((tenth = 0; ; tenth++)); do
  [[ ! -s $work/ready.json ]] || break
  if ! alive "$server" || ((tenth >= ready_seconds_max * 10)); then
    say 'the node did not start:'
    cat "$work/server.log" >&2
    exit 1
  fi
  sleep 0.1
done
# field NAME: one text member of the line the node printed. Its values hold no quotes.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$work/ready.json"; }
ORBIT_URL=$(field url) ORBIT_KEY=$(field key)
export ORBIT_URL ORBIT_KEY
say "the node is ready at $ORBIT_URL; converting $count files"

# ── the job ──────────────────────────────────────────────────────────────────────────────────────────────────

out=${ORBIT_DEMO_OUT:-$root/build/demo}
rm -rf "$out/files" "$out/.staging" "$out/report.html" "$out/report.json"
"$work/file-conversion" -in "$work/in" -out "$out" "$@" &
converter=$!
code=0
wait "$converter" || code=$?
converter=''
((code == 0)) || { say "file-conversion ended with $code; the node's last words:"; tail -20 "$work/server.log" >&2; }
exit "$code"
