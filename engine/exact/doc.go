// Package exact reads, keeps and writes JSON without changing it.
//
// Orbit promises that a number a person wrote arrives at a worker with the
// same digits (O13). The usual way to read JSON in Go breaks that promise
// three times: numbers become doubles, a repeated key silently wins over the
// first, and a broken surrogate silently becomes U+FFFD. So Orbit reads JSON
// itself. A Value is an immutable tree that keeps every number token as
// written and remembers where each part stood in the text, so that an error
// can point at line and column.
//
// What Parse refuses it refuses at the door, once, for every later reader:
// duplicate member names, text that is not UTF-8, NUL, lone surrogates,
// nesting beyond the limit, and numbers outside the domain of definition.md
// section 1 (at most 100 significant digits, adjusted exponent -400 to +400).
// The number domain is a property of the value, not of its spelling: leading
// and trailing zeros do not count. It exists because a dozen bytes such as
// 1e999999999 are a short text and an endless number.
//
// Parse is linear in the text and needs memory in proportion to it; the depth
// limit bounds its stack. The Digest is structural: it ignores white space and
// member order and nothing else (definition.md section 5).
//
// Arithmetic is exact decimal arithmetic. A result that does not fit the
// domain is reported, never rounded.
package exact
