#!/usr/bin/env bash
# A node with its own private database, left running: `make run` calls it. Ctrl-C stops both; the data stays for the
# next time.
#
#   scripts/run.sh [options of orbit dev]
#
# Data: ORBIT_DEV_DATA, or the user's cache folder as `orbit dev` chooses it. It prints the address, the key and what to
# try next. ORBIT_BINARY names a built server; without it one is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

binary=${ORBIT_BINARY:-}
if [[ ! $binary ]]; then
  CGO_ENABLED=0 GOWORK=off go build -trimpath -o bin/orbit ./cmd/orbit
  binary=bin/orbit
fi
[[ ! ${ORBIT_DEV_DATA:-} ]] || set -- --data "$ORBIT_DEV_DATA" "$@"
exec "$binary" dev "$@"
