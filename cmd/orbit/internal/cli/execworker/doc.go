// Package execworker runs a command for every task it claims: "orbit worker
// run". The input is the command's standard input, its standard output is the
// task's output, and its exit code says how it ended.
//
// The rule behind every choice here is that a worker must not lie about an
// outcome. A command that was killed, that crashed, or that ended with a code
// nobody agreed on may or may not have had its effect, so it is reported as
// UNKNOWN unless the owner of the command declared otherwise. A command that
// succeeded and printed something unreadable is UNKNOWN too, not FAILED: its
// effect exists. What is claimed while the worker stops is handed back as
// RETURNED, which costs no attempt; for that reason an open claim is never
// cut off, because the server may just be starting its tasks.
package execworker
