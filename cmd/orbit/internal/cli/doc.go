// Package cli is what the client commands of orbit share: where the server is
// and who asks (settings), how a request is sent and repeated (call), how a
// refusal is told to a person (problem), and the exit codes.
//
// Three rules hold for every command. Standard output carries the result and
// nothing else, so that it can be piped; progress, hints and refusals go to
// standard error. User payloads are never decoded into Go values and encoded
// again: they travel as the bytes they were (O13). A command that may have
// happened although no answer came is repeated with the same key, never with
// a new one.
package cli
