// Package sql carries the schema and the migrations inside the binary, so that
// a node knows the one schema it was built for (O15) and `orbit migrate apply`
// needs no files beside it.
package sql

import "embed"

// Files holds schema/*.sql and migrations/* (versioned files, atlas.sum, schema.txt).
//
//go:embed schema/*.sql migrations
var Files embed.FS
