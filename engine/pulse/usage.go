package pulse

import (
	"slices"

	"github.com/orbitrun/orbit/engine"
)

// Usage is the working copy of the counters of one transaction. What it refuses it has not counted.
type Usage struct {
	quotas map[uint64]*Quota
	queues map[uint64]*Queue
	dirtyQ map[uint64]bool
	dirtyA map[uint64]bool
	paid   map[uint64]bool // queues whose rate paid a start
}

// NewUsage copies the locked rows.
func NewUsage(quotas map[uint64]Quota, queues map[uint64]Queue) *Usage {
	u := &Usage{quotas: map[uint64]*Quota{}, queues: map[uint64]*Queue{}, dirtyQ: map[uint64]bool{}, dirtyA: map[uint64]bool{}}
	for id, q := range quotas {
		u.quotas[id] = &q
	}
	for id, q := range queues {
		u.queues[id] = &q
	}
	return u
}

func (u *Usage) touch(application, queue uint64) (*Quota, *Queue) {
	q, w := u.quotas[application], u.queues[queue]
	if q == nil || w == nil {
		panic("pulse: a task's quota and queue must be locked before it is decided")
	}
	u.dirtyA[application], u.dirtyQ[queue] = true, true
	return q, w
}

// open counts a new task, or refuses it with the limit it meets.
func (u *Usage) open(s *Submission) *engine.Refusal {
	a, q := u.quotas[s.Application], u.queues[s.Queue]
	bytes := int64(len(s.Input))
	switch {
	case a == nil:
		return engine.Refuse("application_unknown", "the application has no quota row; ask an administrator")
	case q == nil || q.Application != s.Application:
		return engine.Refuse("queue_unknown", "create the queue first").At("/queue")
	case q.Draining:
		return engine.Refuse("queue_draining", "the queue takes no new tasks until it is resumed").At("/queue")
	case q.OpenTasks >= q.OpenTasksMax:
		return engine.Refuse("queue_full", "the queue holds as many open tasks as it may; retry later").Over(q.OpenTasksMax, q.OpenTasks)
	case a.OpenTasks >= a.OpenTasksMax:
		return engine.Refuse("quota_open_tasks", "the application holds as many open tasks as it may; retry later").Over(a.OpenTasksMax, a.OpenTasks)
	case a.OpenPayloadBytes+bytes > a.OpenPayloadBytesMax:
		return engine.Refuse("quota_open_payload", "the inputs of open tasks would exceed the application's bytes; retry later").Over(a.OpenPayloadBytesMax, a.OpenPayloadBytes)
	}
	u.count(s.Application, s.Queue, 1, bytes)
	return nil
}

// replace counts a new task that takes the place of an old one. The old one stays counted until it is settled.
func (u *Usage) replace(old *work, s *Submission) *engine.Refusal {
	if old == nil {
		return u.open(s)
	}
	u.close(&old.now)
	defer u.count(old.now.Application, old.now.Queue, 1, int64(old.now.InputBytes))
	return u.open(s)
}

func (u *Usage) close(t *Task) {
	u.count(t.Application, t.Queue, -1, -int64(t.InputBytes))
}

// count adds open tasks and the bytes of their inputs to the counters of an application and a queue.
func (u *Usage) count(application, queue uint64, tasks, bytes int64) {
	a, q := u.touch(application, queue)
	a.OpenTasks, a.OpenPayloadBytes, q.OpenTasks = a.OpenTasks+tasks, a.OpenPayloadBytes+bytes, q.OpenTasks+tasks
}

// room reports whether one more attempt of the queue may run.
func (u *Usage) room(application, queue uint64) bool {
	a, q := u.quotas[application], u.queues[queue]
	return a != nil && q != nil && q.Application == application && !q.Paused &&
		q.RunningAttempts < q.RunningAttemptsMax && a.RunningAttempts < a.RunningAttemptsMax
}

func (u *Usage) run(t *Task, n int64) {
	a, q := u.touch(t.Application, t.Queue)
	a.RunningAttempts, q.RunningAttempts = a.RunningAttempts+n, q.RunningAttempts+n
}

// OpenInstance counts a new workflow instance, or refuses it with the limit it meets.
func (u *Usage) OpenInstance(application uint64) *engine.Refusal {
	a := u.quotas[application]
	if a == nil {
		return engine.Refuse("application_unknown", "the application has no quota row; ask an administrator")
	}
	if a.OpenInstances >= a.OpenInstancesMax {
		return engine.Refuse("quota_open_instances", "the application holds as many open instances as it may; retry later").Over(a.OpenInstancesMax, a.OpenInstances)
	}
	u.dirtyA[application] = true
	a.OpenInstances++
	return nil
}

// CloseInstance gives back one instance.
func (u *Usage) CloseInstance(application uint64) {
	u.dirtyA[application] = true
	u.quotas[application].OpenInstances--
}

// OpenAll admits all or none: the successors of one workflow step come together or wait together.
func (u *Usage) OpenAll(subs []Submission) *engine.Refusal {
	for i := range subs {
		if refusal := u.open(&subs[i]); refusal != nil {
			for j := range subs[:i] {
				u.close(&Task{Application: subs[j].Application, Queue: subs[j].Queue, InputBytes: uint32(len(subs[j].Input))})
			}
			return refusal
		}
	}
	return nil
}

// Dirty lists the rows to write back, in key order.
func (u *Usage) Dirty() (quotas []Quota, queues []Queue) {
	for _, id := range sortedKeys(u.dirtyA) {
		quotas = append(quotas, *u.quotas[id])
	}
	for _, id := range sortedKeys(u.dirtyQ) {
		queues = append(queues, *u.queues[id])
	}
	return quotas, queues
}

func sortedKeys(m map[uint64]bool) []uint64 {
	keys := make([]uint64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
