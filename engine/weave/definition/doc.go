// Package definition reads what a person publishes and Weave runs: one JSON
// document, finite and structured, judged completely before the first instance
// starts. The server, the command line and the console editor all call Check,
// so a document that passes at a desk passes at publish.
//
// Check works in phases: text, shape, names, contracts, expressions, scope,
// types, limits. A later phase looks only at parts the earlier ones accepted,
// so one mistake is reported once, at its cause, and not again wherever its
// consequences show.
//
// A document once accepted keeps its meaning forever. Load therefore rebuilds
// a stored version without judging it: a release may grow stricter about new
// documents, never about the ones instances already run on (definition.md §9).
//
// The shape of the document is one table (shape_table.go). The check, the
// nearest-name hints and the JSON Schema for editors are all read from it, so
// they cannot drift apart.
package definition
