#!/usr/bin/env bash
# Prints the folder of every Go module of the product, one a line: the root, the SDK, the examples. tools/ is not one:
# it holds versions, no code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
find . -name go.mod -not -path './tools/*' -not -path '*/testdata/*' -not -path '*/node_modules/*' -printf '%h\n' | LC_ALL=C sort
