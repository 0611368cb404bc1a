// Package problem turns every "no" of the platform into one RFC 9457 document. table.go lists the codes: what is not
// in it cannot leave the server, and one function sends them all. A code is stable for ever and has a page in the
// documentation under its type path; the detail is a sentence for a person and may change.
//
// Refusals of the engine become problems by their code alone, so the engine knows nothing of HTTP. Whatever is not a
// refusal (SQL, a bug, a panic) becomes "internal" or "database_unavailable" with nothing of its text, because an
// error text may hold a statement, a host or a user's data.
package problem
