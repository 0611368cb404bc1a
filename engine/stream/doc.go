// Package stream decides what a subscription does: what a pull hands out, what an acknowledgement settles, what goes
// to the dead letters. It reads no clock and no database; callers bring the locked rows and the time, and write what
// the Changes say (pulse.md Results).
//
// A delivery is one result on its way to a consumer. Its place in life follows from the row alone:
//
//	HELD      somebody has it and its time to acknowledge runs
//	EXPIRED   somebody had it, the time is over, and nobody has been given a newer generation
//	DELAYED   it was refused and waits
//	READY     it waits for nobody and nothing
//	DEAD      its generations are used up
//	SETTLED   there is no row: it was acknowledged
//
// Handing out raises the generation, and only the latest generation is heard: an expired proof that nobody has
// superseded still counts (T5 for consumers). Settling deletes the row, so that a repeated acknowledgement finds nothing
// to count down a second time. machine.go has the whole table.
//
// Proofs are not stored. A proof is a keyed digest of epoch, number and generation under the subscription's secret, so
// an acknowledgement of a row that is gone can still be told from a guess.
package stream
