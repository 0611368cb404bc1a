#!/usr/bin/env bash
# The suite of `make test` against MariaDB: same tests, same promises.  tools/test-mariadb.sh [arguments of go test]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

unset ORBIT_DATABASE_URL
was=$(scripts/db.sh status test-mariadb 2>/dev/null || true)
if [[ $was != *running* ]]; then
  trap 'scripts/db.sh down test-mariadb' EXIT
fi
# The address is exported for the tests; a failure to start must end this, which it would not inside an export.
ORBIT_TEST_DATABASE_URL=$(scripts/db.sh up test-mariadb --engine=mariadb)
export ORBIT_TEST_DATABASE_URL
ORBIT_TEST_REPORT=build/test-mariadb tools/test.sh "$@"
