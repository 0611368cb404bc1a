#!/usr/bin/env bash
# Runs Go tests of all modules against one real database and prints one closing line for all of them.
#
#   tools/test.sh [--only MODULE] [arguments of go test]     default arguments: ./...
#
# The database is that of tools/with-db.sh. Reports of the run: build/test.json and build/test.xml, or the name in ORBIT_TEST_REPORT.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# gotestsum calls this file again for the stream of events: go test knows one module at a time, the summary all.
if [[ ${1:-} == --events ]]; then
  shift
  failed=0
  for module in $ORBIT_TEST_MODULES; do
    (cd "$module" && GOWORK=off go test -json "$@") || failed=1
  done
  exit "$failed"
fi

ORBIT_TEST_MODULES=$(tools/modules.sh)
if [[ ${1:-} == --only ]]; then
  ORBIT_TEST_MODULES=$2
  shift 2
fi
(($#)) || set -- ./...
export ORBIT_TEST_MODULES

# Tests of the SDK's users run the server itself: one binary for all of them.
if [[ -z ${ORBIT_BINARY:-} ]]; then
  CGO_ENABLED=0 GOWORK=off go build -trimpath -o build/orbit ./cmd/orbit
  export ORBIT_BINARY=$root/build/orbit
fi

summary=$(tools/tool.sh gotestsum --path)
report=${ORBIT_TEST_REPORT:-build/test}
mkdir -p "$(dirname "$report")"
tools/with-db.sh "$summary" --format "${ORBIT_TEST_FORMAT:-pkgname-and-test-fails}" --format-hide-empty-pkg --hide-summary=skipped \
  --jsonfile "$report.json" --junitfile "$report.xml" \
  --raw-command -- tools/test.sh --events -timeout "${ORBIT_TEST_TIMEOUT:-15m}" "$@"
