// Package contract is what a workflow says about its values: a strict subset
// of JSON Schema 2020-12 with identical meaning (definition.md section 1,
// "Contracts").
//
// The subset is chosen by two questions. Can the type of every path be known
// before anything runs? Can a person read the message when a value does not
// fit? So there are no combinators (anyOf has no static type and its errors
// list every alternative that did not match), no references (nothing is ever
// loaded, nothing recurses), no default (data would change silently) and no
// format (a check that checks nothing). Whatever is not in the subset is
// refused when the contract is compiled, never ignored.
//
// A compiled Contract has two faces. Validate checks a value, in time linear
// in the value. The static view (Types, Member, Items, Enum) tells the
// expression checker what a path may yield.
//
// Numbers are compared as exact decimals. Patterns are limited to the syntax
// on which ECMA-262 and RE2 agree, so the same contract means the same in a
// browser, and their expanded size is bounded, because RE2's time is the
// product of text and pattern.
package contract
