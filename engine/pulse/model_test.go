package pulse_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// model is Pulse told a second time, from the prose of pulse.md and without its code: one operation at a time, no
// parking, no rows, no sets. It knows what callers can see and nothing else.
type model struct {
	now    time.Time
	tasks  []*modelTask
	byKey  map[string]*modelTask // submit key with its application
	cancel map[string]string     // cancel key → the answer it froze
	limits map[uint64]*modelLimit
}

type modelLimit struct {
	openMax, runningMax int64
	paused, draining    bool
}

type modelTask struct {
	sub                 pulse.Submission
	state               string
	version             uint32
	attempt, used       uint16
	available, deadline time.Time
	started, lease      time.Time
	token               engine.ID
	stopping            bool
	unknown             bool // an attempt ended UNKNOWN and nothing has judged it
	running             bool // in the sense of the resource key: in flight, or its effect may be
	reported            map[uint16]modelReport
	events              []string
}

type modelReport struct {
	token  engine.ID
	said   string
	answer string
}

func newModel() *model {
	return &model{now: start, byKey: map[string]*modelTask{}, cancel: map[string]string{}, limits: map[uint64]*modelLimit{
		queueA: {1 << 40, 1 << 40, false, false}, queueB: {1 << 40, 1 << 40, false, false}, queueOfOther: {1 << 40, 1 << 40, false, false},
		app: {1 << 40, 1 << 40, false, false}, otherApp: {1 << 40, 1 << 40, false, false},
	}}
}

func (t *modelTask) over() bool {
	return t.state == "SUCCEEDED" || t.state == "FAILED" || t.state == "CANCELLED"
}

func (m *model) open(match func(*modelTask) bool) (n, running, bytes int64) {
	for _, t := range m.tasks {
		if t.over() || !match(t) {
			continue
		}
		n, bytes = n+1, bytes+int64(len(t.sub.Input))
		if t.state == "RUNNING" {
			running++
		}
	}
	return n, running, bytes
}

// submit: the receipt first, then the limits of queue and application.
func (m *model) submit(s pulse.Submission) string {
	name := fmt.Sprint(s.Application, s.Key)
	if first := m.byKey[name]; first != nil {
		if first.sub.Priority != s.Priority {
			return "submission_conflict " + first.sub.TaskID.Text("task")
		}
		return "replayed " + first.sub.TaskID.Text("task")
	}
	queued, _, _ := m.open(func(t *modelTask) bool { return t.sub.Queue == s.Queue })
	owned, _, _ := m.open(func(t *modelTask) bool { return t.sub.Application == s.Application })
	switch {
	case m.limits[s.Queue].draining:
		return "queue_draining"
	case queued >= m.limits[s.Queue].openMax:
		return "queue_full"
	case owned >= m.limits[s.Application].openMax:
		return "quota_open_tasks"
	}
	t := &modelTask{
		sub: s, state: "QUEUED", version: 1, available: m.now.Add(time.Duration(s.DelayMS) * time.Millisecond),
		deadline: m.now.Add(time.Duration(s.DeadlineMS) * time.Millisecond), reported: map[uint16]modelReport{},
	}
	m.tasks, m.byKey[name] = append(m.tasks, t), t
	return "accepted " + s.TaskID.Text("task")
}

func (t *modelTask) order() time.Time {
	return t.available.Add(-30 * time.Second * time.Duration(t.sub.Priority))
}

// claim: due first, first; past the deadline ends; a held key is passed over; limits stop it.
func (m *model) claim(c pulse.Claim, secret engine.ID) (given []string) {
	var ready []*modelTask
	for _, t := range m.tasks {
		if t.state == "QUEUED" && slices.Contains(c.Queues, t.sub.Queue) && slices.Contains(c.Handlers, pulse.HandlerHash(t.sub.Handler, t.sub.HandlerVersion)) && !t.available.After(m.now) {
			ready = append(ready, t)
		}
	}
	slices.SortFunc(ready, func(a, b *modelTask) int {
		return cmp.Or(a.order().Compare(b.order()), slices.Compare(a.sub.TaskID[:], b.sub.TaskID[:]))
	})
	for _, t := range ready {
		_, inQueue, _ := m.open(func(o *modelTask) bool { return o.sub.Queue == t.sub.Queue })
		_, inApp, _ := m.open(func(o *modelTask) bool { return o.sub.Application == t.sub.Application })
		full := m.limits[t.sub.Queue].paused || inQueue >= m.limits[t.sub.Queue].runningMax || inApp >= m.limits[t.sub.Application].runningMax
		switch {
		case len(given) == c.Tasks || full:
		case !m.now.Before(t.deadline):
			m.dismiss(t, "FAILED", "expired")
		case m.held(t):
		default:
			t.change("RUNNING", "started")
			t.attempt, t.used, t.running, t.started = t.attempt+1, t.used+1, true, m.now
			t.token, t.lease = pulse.AttemptToken(secret, t.sub.TaskID), m.leaseEnd(t, c.Lease)
			given = append(given, fmt.Sprint(t.sub.TaskID.Text("task"), " ", t.attempt))
		}
	}
	return given
}

func (m *model) held(t *modelTask) bool {
	return t.sub.ResourceKey != "" && slices.ContainsFunc(m.tasks, func(o *modelTask) bool {
		return o != t && o.running && o.sub.ResourceKey == t.sub.ResourceKey
	})
}

func (m *model) leaseEnd(t *modelTask, extend time.Duration) time.Time {
	end := m.now.Add(extend)
	for _, bound := range []time.Time{t.started.Add(time.Duration(t.sub.AttemptTimeoutMS) * time.Millisecond), t.deadline} {
		if bound.Before(end) {
			end = bound
		}
	}
	return end
}

func (t *modelTask) change(state, event string) {
	t.state, t.version, t.events = state, t.version+1, append(t.events, event)
}

func (t *modelTask) end(state, event string) {
	t.change(state, event)
	t.running, t.lease = state == "NEEDS_REVIEW" && t.unknown, time.Time{}
}

// dismiss ends a task without success; an unjudged UNKNOWN needs a person.
func (m *model) dismiss(t *modelTask, state, event string) {
	if t.unknown {
		state, event = "NEEDS_REVIEW", "review"
	}
	t.end(state, event)
}

func (t *modelTask) again(at time.Time, event string) {
	t.change("QUEUED", event)
	t.available, t.running, t.lease, t.stopping = at, t.unknown, time.Time{}, false
}

func (t *modelTask) retryAt(now time.Time) (time.Time, bool) {
	at := now.Add(time.Duration(t.sub.Retry.DelayMS) * time.Millisecond)
	return at, t.used < t.sub.Retry.MaxAttempts && at.Before(t.deadline)
}

func (m *model) find(id engine.ID, application uint64) *modelTask {
	for _, t := range m.tasks {
		if t.sub.TaskID == id && t.sub.Application == application {
			return t
		}
	}
	return nil
}

// report: the running attempt's word counts; a repeat is answered as the first; anything else with a proof is evidence.
func (m *model) report(r pulse.Report) string {
	t := m.find(r.Task, r.Application)
	if t == nil {
		return "lease_unknown"
	}
	said := fmt.Sprint(r.Outcome, string(r.Output), r.FailureCode)
	if t.state != "RUNNING" || t.attempt != r.AttemptNo || t.token != r.Token {
		before, known := t.reported[r.AttemptNo]
		switch {
		case !known || before.token != r.Token:
			return "lease_unknown"
		case before.said == said:
			return "REPLAYED " + before.answer
		}
		return "LATE " + t.state
	}
	if r.Outcome == pulse.Cancelled && !t.stopping {
		return "cancel_not_requested"
	}
	m.accept(t, r)
	t.reported[r.AttemptNo] = modelReport{r.Token, said, t.state}
	return "ACCEPTED " + t.state
}

func (m *model) accept(t *modelTask, r pulse.Report) {
	broken := len(t.sub.OutputContract) > 0 && string(r.Output) != "1" // every contract of these tests wants an integer
	at, left := t.retryAt(m.now)
	switch {
	case r.Outcome == pulse.Succeeded && broken:
		t.unknown = false
		t.end("NEEDS_REVIEW", "review")
	case r.Outcome == pulse.Succeeded:
		t.end("SUCCEEDED", "succeeded")
	case r.Outcome == pulse.Unknown:
		m.nobodyKnows(t, "review")
	case r.Outcome == pulse.Permanent:
		m.dismiss(t, "FAILED", "failed")
	case t.stopping:
		m.dismiss(t, "CANCELLED", "cancelled")
	case r.Outcome == pulse.Returned:
		t.used--
		t.again(t.available, "returned")
	case left:
		t.again(at, "retry")
	default:
		m.dismiss(t, "FAILED", "failed")
	}
}

// nobodyKnows: repeated only where the submitter declared it safe, and time and budget are left; else a person.
func (m *model) nobodyKnows(t *modelTask, event string) {
	at, left := t.retryAt(m.now)
	t.unknown = true
	if left && t.sub.Lost == pulse.LostRetry && !t.stopping {
		t.again(at, event)
		return
	}
	t.end("NEEDS_REVIEW", event)
}

func (m *model) renew(r pulse.Renewal) string {
	t := m.find(r.Task, r.Application)
	if t == nil || t.state != "RUNNING" || t.attempt != r.AttemptNo || t.token != r.Token {
		return "LOST"
	}
	if end := m.leaseEnd(t, r.Extend); end.After(t.lease) {
		t.lease = end
	}
	if t.stopping {
		return "CANCEL_REQUESTED"
	}
	return "CONTINUE"
}

func (m *model) cancelTask(c pulse.Cancel) string {
	name := fmt.Sprint(c.Application, c.Key)
	if first, known := m.cancel[name]; known && c.Key != "" {
		if first != c.Task.Text("task") {
			return "idempotency_conflict"
		}
		return "replayed"
	}
	t := m.find(c.Task, c.Application)
	if t == nil {
		return "task_not_found"
	}
	if c.Key != "" {
		m.cancel[name] = c.Task.Text("task")
	}
	switch {
	case t.state == "QUEUED":
		m.dismiss(t, "CANCELLED", "cancelled")
	case t.state == "RUNNING" && !t.stopping:
		t.stopping = true
		t.change("RUNNING", "cancel requested")
	}
	return t.state
}

// lost and expired are what the clock brings.
func (m *model) lost(t *modelTask) {
	if t.state == "RUNNING" && !m.now.Before(t.lease.Add(2*time.Second)) {
		t.reported[t.attempt] = modelReport{t.token, "the lease ended", ""}
		m.nobodyKnows(t, "lost")
	}
}

func (m *model) expired(t *modelTask) {
	if t.state == "QUEUED" && !m.now.Before(t.deadline) {
		m.dismiss(t, "FAILED", "expired")
	}
}
