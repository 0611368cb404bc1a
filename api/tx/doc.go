// Package tx is the only way to write to the database.
//
// A transaction is a named closure. It starts with nothing locked, climbs down the ladder through values that each
// know only the rungs still ahead, and returns nil to commit. The helper around it does what every transaction needs
// and nobody should write twice: one isolation level, one clock, poisoning after an error, bounded retries of the
// whole closure, savepoints, and an answer to the question "did that COMMIT happen?".
//
// That last one is why every transaction that wrote something also inserts a row of its own into tx_command just
// before it commits. When the connection breaks during COMMIT, the same row is inserted again on a new connection: a
// duplicate proves that the transaction had committed (the insert waits behind the old session if that still lives),
// success proves that it had not. Nothing is guessed.
package tx
