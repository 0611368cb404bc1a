#!/usr/bin/env bash
# Generates everything again, in place, and fails when the result differs from what was there. Compares with the files
# as they are, not with a commit, so it tells the truth in a checkout with other changes too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Everything a generator writes.
paths=(gen/db gen/http/http.go gen/client/client.go sdk/internal/rest/rest.go docs)
sums() { find "${paths[@]}" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; }

before=$(sums)
make gen
after=$(sums)
if [[ $before != "$after" ]]; then
  echo 'gen-check: these files were not what their sources generate; commit the result of make gen' >&2
  diff <(echo "$before") <(echo "$after") | sed -n 's/^[<>] [0-9a-f]*  /  /p' | sort -u >&2
  exit 1
fi
echo "gen-check: $(wc -l <<<"$after") files are what their sources generate"
