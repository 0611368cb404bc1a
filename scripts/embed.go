// Package scripts carries the shell scripts inside the binary, so that `orbit dev` works without a checkout.
package scripts

import _ "embed"

// Database is db.sh, run as `bash -s -- <command> …` with this text on standard input.
//
//go:embed db.sh
var Database string
