#!/usr/bin/env bash
# Runs Go tests of all modules against one real database and prints one closing line for all of them.
#
#   tools/test.sh [--only MODULE] [arguments of go test]     default arguments: ./...
#
# The database is ORBIT_TEST_DATABASE_URL when set; else the instance "test" of scripts/db.sh, which is started here
# when nobody runs it and then stopped at the end. Reports of the run: build/test.json and build/test.xml, or the name in ORBIT_TEST_REPORT.
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

# Tests never follow ORBIT_DATABASE_URL: it may be somebody's real data. data_locks is read by the lock tests.
unset ORBIT_DATABASE_URL
export ORBIT_MYSQL_PFS=1
if [[ -z ${ORBIT_TEST_DATABASE_URL:-} ]]; then
  was=$(scripts/db.sh status test 2>/dev/null || true)
  if [[ $was != *running* ]]; then
    # Armed before the start: an interrupt while the server comes up must not leave it behind.
    trap 'scripts/db.sh down test' EXIT
  fi
  scripts/db.sh up test >/dev/null
fi

summary=$(tools/tool.sh gotestsum --path)
report=${ORBIT_TEST_REPORT:-build/test}
mkdir -p "$(dirname "$report")"
code=0
"$summary" --format "${ORBIT_TEST_FORMAT:-pkgname-and-test-fails}" --format-hide-empty-pkg --hide-summary=skipped \
  --jsonfile "$report.json" --junitfile "$report.xml" \
  --raw-command -- tools/test.sh --events -timeout "${ORBIT_TEST_TIMEOUT:-15m}" "$@" || code=$?
exit "$code"
