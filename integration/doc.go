// Package integration proves with real processes what the other tests prove with real rows: nodes and databases are
// killed while work is under way, and afterwards everything must be as if they had not been. `make integration` builds
// the binary and runs these tests (build tag integration).
package integration
