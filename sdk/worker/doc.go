// Package worker runs tasks.
//
//	w := worker.New(client, worker.Options{Queues: []string{"conversions"}, Concurrency: 8})
//	worker.Handle(w, "convert", "2", func(ctx context.Context, t *worker.Task, in Input) (Output, error) { … })
//	err := w.Run(ctx) // until ctx ends, then drains
//
// # What a handler's return says
//
// The server believes what a worker reports, and a wrong report does harm that nobody sees: a task reported as failed
// whose effect did happen is run again. So the return value is a statement about the outside world:
//
//	return out, nil                     it is done                          SUCCEEDED
//	return out, err                     it failed, and may be tried again   FAILED, retryable
//	return out, worker.Retryable(err)   the same, said explicitly
//	return out, worker.Permanent(err, c) it failed, trying again is useless FAILED, not retryable
//	return out, worker.UnknownOutcome(err) I do not know whether it happened UNKNOWN
//	return out, context.Cause(ctx)      I stopped when asked, nothing is half done; CANCELLED after a cancel request,
//	                                    else FAILED, retryable
//
// Three things are UNKNOWN because the worker cannot know better: a panic, a handler that ends its goroutine
// (runtime.Goexit), and an error that carries the end of the context ("context canceled" out of an HTTP or SQL call)
// after the context ended, because that call may have had its effect. A call that timed out by itself while the context
// lives is an ordinary error; a handler whose timed-out call may have had its effect says UnknownOutcome.
//
// UNKNOWN leads to review by a person, or to another attempt where the submitter declared the handler safe to repeat
// (lost policy RETRY).
//
// # The context of a handler
//
// It ends when the lease is lost, a cancel is requested, the attempt timeout or the task's deadline is reached, or the
// drain time is over; context.Cause tells which: ErrLeaseLost, ErrCancelRequested, ErrDeadline, ErrDraining. A handler
// that does not look at its context goes on, and its report decides (accepted, or kept as late evidence).
//
// # Leases
//
// One goroutine renews all leases in one request at a third of the lease, also those of tasks that still wait in the
// worker and of reports on their way. When the server cannot be reached until a lease is over, the worker treats it as
// lost: from then on the server may decide about the task. Only local monotonic time is compared, never the clocks of
// two machines (T13).
//
// # Traffic
//
// Finished attempts are reported together, whatever is there when a request can go, and the same request claims tasks
// for the freed places. At most two such requests and one long poll are in flight, whatever the concurrency. A few tasks
// are claimed ahead when handlers are faster than the round trip, none when they are slow; what was claimed ahead and
// cannot start soon is RETURNED, which costs no attempt. Only free places are claimed for, so a worker whose handlers
// hang is offered nothing (T18).
//
// A report is repeated unchanged, with the same attempt and token, until it is answered.
package worker
