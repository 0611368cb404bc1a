#!/usr/bin/env bash
# Prints what the tests of a run measured: the lines they logged, from the event files of tools/test.sh.
#
#   tools/figures.sh build/integration.json …
set -euo pipefail
for events in "$@"; do
  [[ -s $events ]] || continue
  sed -n 's/.*"Action":"output".*"Test":"\([^"]*\)".*"Output":" *[A-Za-z0-9_]*_test\.go:[0-9]*: \(.*\)\\n".*/\1: \2/p' "$events"
done
