package pulse

import (
	"time"

	"github.com/orbitrun/orbit/engine"
)

// BlockerKind names what keeps a task from running.
type BlockerKind string

// What an open task may wait for. Ready is no hindrance: the task runs as soon as a worker of its handler asks.
const (
	BlockedByReview           BlockerKind = "REVIEW"
	BlockedByDeadline         BlockerKind = "DEADLINE"
	BlockedByTime             BlockerKind = "AVAILABLE_AT"
	BlockedByGate             BlockerKind = "GATE"
	BlockedByKey              BlockerKind = "RESOURCE_KEY"
	BlockedByQueuePause       BlockerKind = "QUEUE_PAUSED"
	BlockedByQueueLimit       BlockerKind = "QUEUE_LIMIT"
	BlockedByApplicationLimit BlockerKind = "APPLICATION_LIMIT"
	BlockedByRate             BlockerKind = "QUEUE_RATE"
	BlockedByOthers           BlockerKind = "TASKS_AHEAD"
	Ready                     BlockerKind = "READY"
)

// Blocker is one cause. Clearing every cause starts the task with the next claim; READY alone waits for a worker.
type Blocker struct {
	Kind           BlockerKind
	At             time.Time // AVAILABLE_AT, DEADLINE; QUEUE_RATE: when the next token is there
	Limit, Current int64     // limits; QUEUE_RATE: tokens per period; TASKS_AHEAD: Current is counted up to Limit
	Holder         engine.ID // RESOURCE_KEY: the task that holds it; zero: one of another application
	HolderState    Public
	Instance       engine.ID // GATE
}

// Standing is one open task and everything it may wait for, read at one moment. Holder is zero while nobody else holds
// the task's key; Ahead is how many tasks of its queue and handler come first.
type Standing struct {
	Now               time.Time
	Task              Task
	Queue             Queue
	Quota             Quota
	GateClosed        bool
	Holder            engine.ID
	HolderApplication uint64
	HolderState       Public
	Ahead             int64
}

// Blockers answers "why is it not running?" for a task that is open: the causes in the order in which a claim would
// meet them, none for a task that runs. A draining queue is no cause: it refuses new tasks and gives out what it has.
func Blockers(s *Standing) []Blocker {
	switch s.Task.State {
	case Running:
		return nil
	case Review:
		return []Blocker{{Kind: BlockedByReview}}
	}
	if !s.Now.Before(s.Task.DeadlineAt) {
		return []Blocker{{Kind: BlockedByDeadline, At: s.Task.DeadlineAt}}
	}
	found := append(s.own(), s.limits()...)
	if len(found) == 0 && s.Ahead > 0 {
		found = []Blocker{{Kind: BlockedByOthers, Limit: engine.TasksAheadMax, Current: s.Ahead}}
	}
	if len(found) == 0 {
		return []Blocker{{Kind: Ready}}
	}
	return found
}

// own are the causes that concern this task alone.
func (s *Standing) own() (found []Blocker) {
	if s.Task.AvailableAt.After(s.Now) {
		found = append(found, Blocker{Kind: BlockedByTime, At: s.Task.AvailableAt})
	}
	if s.GateClosed {
		found = append(found, Blocker{Kind: BlockedByGate, Instance: s.Task.Gate})
	}
	if s.Holder.Zero() || s.Holder == s.Task.ID {
		return found
	}
	b := Blocker{Kind: BlockedByKey}
	if s.HolderApplication == s.Task.Application {
		b.Holder, b.HolderState = s.Holder, s.HolderState
	}
	return append(found, b)
}

// limits are the causes that concern every task of the queue or the application.
func (s *Standing) limits() (found []Blocker) {
	if s.Queue.Paused {
		found = append(found, Blocker{Kind: BlockedByQueuePause})
	}
	if s.Queue.RunningAttempts >= s.Queue.RunningAttemptsMax {
		found = append(found, Blocker{Kind: BlockedByQueueLimit, Limit: s.Queue.RunningAttemptsMax, Current: s.Queue.RunningAttempts})
	}
	if r := s.Queue.Rate.At(s.Now); r.Limited() && r.Available() == 0 {
		found = append(found, Blocker{Kind: BlockedByRate, At: r.Refilled.Add(r.Next()), Limit: r.Tokens})
	}
	if s.Quota.RunningAttempts >= s.Quota.RunningAttemptsMax {
		found = append(found, Blocker{Kind: BlockedByApplicationLimit, Limit: s.Quota.RunningAttemptsMax, Current: s.Quota.RunningAttempts})
	}
	return found
}
