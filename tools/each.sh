#!/usr/bin/env bash
# Runs a command in every module of the product:  tools/each.sh COMMAND [arguments]
# All modules are visited even when one fails, so that one run shows every fault.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
failed=0
while read -r module; do
  (cd "$here/../$module" && GOWORK=off "$@") || { echo "each: failed in $module: $*" >&2; failed=1; }
done < <("$here/modules.sh")
exit "$failed"
