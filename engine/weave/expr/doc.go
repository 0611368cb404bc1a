// Package expr is how a workflow computes values: templates, expressions, the
// checker that judges them at publish and the evaluator that runs them
// (definition.md section 4).
//
// # A template is JSON
//
// A string that begins with ${ and ends with } is one expression, and its
// value takes the string's place with its own type. Nothing is interpolated
// into text and results are never scanned again, so a value cannot change what
// a template means and data cannot inject anything.
//
// # The language is small and total
//
// No loops, no variables, no clock, no rounding. Missing is not null: reading
// what is not there is an error unless has, must or ?? says what then. Unlike
// types never compare as false, they are an error. Numbers are exact decimals;
// a copied number keeps the digits it was written with.
//
// # Two readers of one tree
//
// Check walks the tree with contracts and refuses what could fail where the
// contracts can tell. Eval walks it with values and a budget, inside the pure
// plan, and answers with a value or one stable reason. What a contract leaves
// open (any) the checker lets pass with a warning and Eval decides.
//
// # The corpus is the promise
//
// A document once accepted keeps its meaning forever (section 9). The files in
// testdata/expression are that promise in a form other programs can run too:
// expression, data, result.
package expr
