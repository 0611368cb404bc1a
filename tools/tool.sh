#!/usr/bin/env bash
# Runs one pinned tool, built on first use:  tools/tool.sh NAME [arguments]
# With --path instead of arguments it only prints where the binary is.
#
# The versions are those of tools/go.mod, a module of its own: what the tools need never reaches the product's
# dependencies. Binaries live outside the checkout, in a folder named after tools/go.sum and the Go version, so a
# fresh clone, a second branch and CI share one build and a changed pin never meets an old binary.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=${1:?usage: tools/tool.sh NAME [--path | arguments]}
shift

case $name in
  sqlc) package=github.com/sqlc-dev/sqlc/cmd/sqlc ;;
  oapi-codegen) package=github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen ;;
  golangci-lint) package=github.com/golangci/golangci-lint/v2/cmd/golangci-lint ;;
  gotestsum) package=gotest.tools/gotestsum ;;
  govulncheck) package=golang.org/x/vuln/cmd/govulncheck ;;
  *) echo "tools: no tool $name in tools/tool.sh" >&2; exit 2 ;;
esac

pins=$({ cat "$here/go.sum"; go env GOVERSION GOOS GOARCH; } | sha256sum | cut -c1-16)
folder=${ORBIT_TOOLS_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/orbit/tools}/$pins
binary=$folder/$name

build() {
  mkdir -p "$folder"
  exec 9>"$folder/.$name.lock"
  flock 9
  [[ ! -x $binary ]] || return 0 # somebody else built it while we waited
  echo "tools: building $name (once)" >&2
  # No C compiler is asked for: sqlc then carries its parser as WebAssembly.
  (cd "$here" && CGO_ENABLED=0 GOWORK=off GOFLAGS=-mod=readonly go build -trimpath -ldflags='-s -w' -o "$binary.new" "$package")
  mv "$binary.new" "$binary"
}

[[ -x $binary ]] || build
if [[ ${1:-} == --path ]]; then
  echo "$binary"
  exit
fi
exec "$binary" "$@"
