// Package engine holds what Orbit decides, and nothing else: no I/O, no clock, no randomness, no dependence on the
// order of a map. Whoever calls it has locked and loaded rows, passes them in as values together with the one time of
// the transaction, and writes down the Changes that come back. The same facts always give the same decision, so every
// rule of the product can be told as a story in a test, and a crash between two transactions loses nothing but time.
//
// engine/pulse decides about tasks, engine/weave about workflows, engine/exact holds JSON with exact numbers.
// limits.go lists every bound with its reason.
package engine
