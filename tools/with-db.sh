#!/usr/bin/env bash
# Runs a command with a test database up:  tools/with-db.sh COMMAND [arguments]
#
# The database is ORBIT_TEST_DATABASE_URL when set; else the instance "test" of scripts/db.sh, which is started here when
# nobody runs it and then stopped at the end. Its address is in ORBIT_DB_ADDRESS for the command.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Nothing here follows ORBIT_DATABASE_URL: it may be somebody's real data. data_locks is read by the lock tests.
unset ORBIT_DATABASE_URL
export ORBIT_MYSQL_PFS=1
if [[ -n ${ORBIT_TEST_DATABASE_URL:-} ]]; then
  ORBIT_DB_ADDRESS=$ORBIT_TEST_DATABASE_URL exec "$@"
fi

was=$(scripts/db.sh status test 2>/dev/null || true)
if [[ $was != *running* ]]; then
  # Armed before the start: an interrupt while the server comes up must not leave it behind.
  trap 'scripts/db.sh down test' EXIT
fi
address=$(scripts/db.sh up test)
code=0
ORBIT_DB_ADDRESS=$address "$@" || code=$?
exit "$code"
