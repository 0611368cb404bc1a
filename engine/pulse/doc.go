// Package pulse decides about tasks.
//
// One Plan serves everything that waits in a lane: submissions, claims, renewals, reports, cancels and what the clock
// brought. The caller locks the ladder, loads a Snapshot, asks Decide, and writes the Changes. Inside, the order is
// always the same and is what makes one commit enough:
//
//  1. reports, renewals, cancels, reviews and due rows settle what exists and give back what they held;
//  2. submissions and manual retries are admitted against what is left;
//  3. freed resource keys wake their first waiter;
//  4. claims take the best of what was there and what has just come, so a task may be submitted and started in one
//     commit.
//
// Every item gets its own outcome; a refused item costs the others nothing. The state machine is the literal table in
// machine.go.
package pulse
