// Package orbittest gives a test an Orbit server of its own, with a database of its own and a clock that the test moves.
//
//	func TestTheReminderComesAfterAWeek(t *testing.T) {
//		server := orbittest.New(t)
//		server.Queue("mail")
//		server.Client.Submit(ctx, orbit.Submission{Queue: "mail", Delay: 7 * 24 * time.Hour, …})
//		server.Advance(7 * 24 * time.Hour)
//		// a worker of the test gets the task now
//	}
//
// It is the real server on a real MySQL, started as a process: `orbit dev --movable-time`. The binary is the one that
// ORBIT_BINARY names, or orbit on the PATH, or, inside Orbit's own repository, one that is built. All that Orbit decides
// by time it decides by the clock of its database, and that is what moves: delays, deadlines, leases, retries, schedules,
// timers and retention. A worker's own clock does not, so a lease that is in use runs out when more than its length is
// skipped; advance while nothing runs, or to see just that.
package orbittest
