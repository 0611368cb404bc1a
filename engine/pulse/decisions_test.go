package pulse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// loadDecisions is what the store reads for reviews and manual retries.
func (r *rows) loadDecisions(s *pulse.Snapshot, b *pulse.Batch) {
	s.Reviewed, s.Originals, s.Retried = map[engine.ID]pulse.Reviewed{}, map[engine.ID]pulse.Original{}, map[engine.ID]engine.ID{}
	for i := range b.Reviews {
		if w, ok := r.reviews[b.Reviews[i].Task]; ok {
			s.Reviewed[w.Task] = w.Reviewed
		}
	}
	for retry := range b.EachRetry() {
		id := retry.Task
		full, ok := r.full[id]
		if !ok {
			continue
		}
		sub := full.Sub
		sub.Credential, sub.Key, sub.Owner, sub.DelayMS = 0, "", engine.ID{}, 0
		sub.DeadlineMS = full.Deadline.Sub(full.CreatedAt).Milliseconds()
		s.Originals[id] = pulse.Original{State: full.State, Version: full.Version, Source: full.Source, Submission: sub}
		if w, ok := r.retries[id]; ok {
			s.Retried[id] = w.Successor
		}
		for k, a := range r.attempts {
			if k.Task == id {
				s.Unsettled[id] = s.Unsettled[id] || a.Outcome == pulse.Unknown
			}
		}
	}
}

func (r *rows) applyDecisions(c *pulse.Changes, must demand) {
	for _, w := range c.Reviews {
		_, twice := r.reviews[w.Task]
		must(!twice, "a task was reviewed twice")
		must(r.full[w.Task].State == w.Reviewed.Decision && r.full[w.Task].Version == w.Version, "the decision %v is not what the task became", w.Reviewed)
		r.reviews[w.Task] = w
	}
	for _, w := range c.Retries {
		_, twice := r.retries[w.Task]
		must(!twice, "a task has two direct successors")
		must(r.full[w.Successor].Sub.Owner == w.Task, "a successor does not name its original")
		r.retries[w.Task] = w
	}
}

func (s *story) review(w words, credential, application uint64) pulse.ReviewRequest {
	return pulse.ReviewRequest{
		Credential: credential, Application: application, Queue: queueOf(w.or("queue", "")), Task: s.id(w.plain[1]), Key: w.or("key", fmt.Sprint("review ", s.plans, w.plain[1:])),
		Decision: map[string]pulse.Public{"SUCCEEDED": pulse.PublicSucceeded, "FAILED": pulse.PublicFailed}[w.plain[2]], ExpectedVersion: uint32(w.number("version", 0)),
		AllExecutionsEnded: true, Reason: "seen", Evidence: []byte(`{"seen":true}`), Output: []byte(w.or("output", "")), FailureCode: w.or("code", ""),
	}
}

func (s *story) retry(w words, credential, application uint64) pulse.ManualRetry {
	return pulse.ManualRetry{
		Credential: credential, Application: application, Queue: queueOf(w.or("queue", "")), Task: s.id(w.plain[1]), Successor: s.id(w.or("as", "")),
		Key: w.or("submit_key", w.or("as", "")), ExpectedVersion: uint32(w.number("version", 0)), DeadlineMS: w.duration("deadline", "0s").Milliseconds(), Reason: "again",
	}
}

func decided(o pulse.ReviewOutcome) string {
	switch {
	case o.Refusal != nil && o.Refusal.Subject != "":
		return o.Refusal.Code + " " + o.Refusal.Subject
	case o.Refusal != nil:
		return o.Refusal.Code
	case o.Replayed:
		return "replayed"
	}
	return "accepted"
}

// T16: a decision that does not say everything it must is refused at the door, by field.
func TestReviewsAreCheckedAtTheDoor(t *testing.T) {
	good := func() pulse.ReviewRequest {
		return pulse.ReviewRequest{Decision: pulse.PublicFailed, AllExecutionsEnded: true, Reason: "r", Evidence: []byte(`1`)}
	}
	if r := good(); r.Check() != nil {
		t.Fatal(r.Check())
	}
	for field, spoil := range map[string]func(*pulse.ReviewRequest){
		"/decision":             func(r *pulse.ReviewRequest) { r.Decision = pulse.PublicCancelled },
		"/all_executions_ended": func(r *pulse.ReviewRequest) { r.AllExecutionsEnded = false },
		"/reason":               func(r *pulse.ReviewRequest) { r.Reason = "" },
		"/evidence": func(r *pulse.ReviewRequest) {
			r.Evidence = []byte(`"` + strings.Repeat("x", engine.EvidenceBytesMax) + `"`)
		},
		"/output":  func(r *pulse.ReviewRequest) { r.Output = []byte(`1`) },
		"/failure": func(r *pulse.ReviewRequest) { r.Decision, r.FailureCode = pulse.PublicSucceeded, "x" },
	} {
		r := good()
		spoil(&r)
		if refusal := r.Check(); refusal == nil || refusal.Field != field {
			t.Errorf("%s: %+v", field, refusal)
		}
	}
	retry := pulse.ManualRetry{Key: "k", Reason: "r"}
	if retry.Check() != nil {
		t.Error(retry.Check())
	}
	retry.DeadlineMS = -1
	if refusal := retry.Check(); refusal == nil || refusal.Field != "/deadline_ms" {
		t.Errorf("%+v", refusal)
	}
}

// A review and a retry of the task it ends, in one plan; and two reviews of one task under two keys: one wins, the
// other is told who.
func TestDecisionsMeetInOnePlan(t *testing.T) {
	r := newRows()
	sub := submission(1)
	mustRun := func(b pulse.Batch, now time.Time) pulse.Outcomes {
		t.Helper()
		out, _, err := r.run(now, b)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	mustRun(pulse.Batch{Secret: number(900), Submissions: []pulse.Submission{sub}}, start)
	claim := pulse.Claim{Credential: key, Application: app, Worker: "w", Queues: []uint64{sub.Queue}, Handlers: []uint64{pulse.HandlerHash(sub.Handler, sub.HandlerVersion)}, Tasks: 1, Lease: time.Second}
	mustRun(pulse.Batch{Secret: number(901), Claims: []pulse.Claim{claim}}, start)
	later := start.Add(10 * time.Second)
	mustRun(pulse.Batch{Dues: []pulse.Due{{Kind: pulse.DueLost, Application: app, Queue: sub.Queue, Task: sub.TaskID}}}, later)
	review := pulse.ReviewRequest{Credential: key, Application: app, Queue: sub.Queue, Task: sub.TaskID, Key: "one", Decision: pulse.PublicFailed, ExpectedVersion: 3, AllExecutionsEnded: true, Reason: "r", Evidence: []byte(`{}`)}
	other := review
	other.Key, other.Decision = "two", pulse.PublicSucceeded
	retry := pulse.ManualRetry{Credential: key, Application: app, Queue: sub.Queue, Task: sub.TaskID, Successor: number(77), Key: "again", ExpectedVersion: 4, Reason: "r"}
	out := mustRun(pulse.Batch{Reviews: []pulse.ReviewRequest{review, other, review}, Retries: []pulse.ManualRetry{retry}}, later)
	if got := fmt.Sprint(decided(out.Reviews[0]), ", ", decided(out.Reviews[1]), ", ", decided(out.Reviews[2]), ", ", submitted(out.Retries[0])); got !=
		"accepted, review_decided cred_0000000000000046, replayed, retry_effect_unknown" {
		t.Error(got)
	}
	if string(out.Reviews[0].Receipt) != string(out.Reviews[2].Receipt) {
		t.Error("the replay differs from the first answer")
	}
}

// review is drawn about any task, mostly one that waits for a person, mostly at its present version.
func (d *drawn) review(r *rows) pulse.ReviewRequest {
	id, s := d.ended(r, pulse.PublicReview)
	return pulse.ReviewRequest{
		Credential: s.Credential, Application: s.Application, Queue: s.Queue, Task: id, Key: d.oneOf("review key", "r1", "r2", fmt.Sprint("r", d.seq, d.pick("fresh", 1000))),
		Decision: []pulse.Public{pulse.PublicSucceeded, pulse.PublicFailed}[d.pick("decision", 2)], ExpectedVersion: r.full[id].Version + uint32(d.pick("stale", 6)/5),
		AllExecutionsEnded: true, Reason: "because", Evidence: []byte(`{}`), Output: []byte("1"),
	}
}

// retry is drawn about any task, mostly one that failed or was cancelled, also about retries.
func (d *drawn) retry(r *rows) pulse.ManualRetry {
	id, s := d.ended(r, []pulse.Public{pulse.PublicFailed, pulse.PublicCancelled}[d.pick("ended", 2)])
	d.seq++
	out := pulse.ManualRetry{
		Credential: s.Credential, Application: s.Application, Queue: s.Queue, Task: id, Successor: number(d.seq), Key: fmt.Sprint("again", d.pick("retry key", 40)),
		ExpectedVersion: r.full[id].Version + uint32(d.pick("stale", 6)/5), Reason: "because", DeadlineMS: int64(d.pick("deadline", 2)) * 200_000,
	}
	s.TaskID, s.Key = out.Successor, out.Key
	d.subs = append(d.subs, s)
	return out
}

// ended picks a task that is in a state, any that was committed when there is none: nobody knows of others.
func (d *drawn) ended(r *rows, state pulse.Public) (engine.ID, pulse.Submission) {
	var fit, all []pulse.Submission
	for _, s := range d.subs {
		if _, known := r.full[s.TaskID]; known {
			all = append(all, s)
		}
		if r.full[s.TaskID].State == state {
			fit = append(fit, s)
		}
	}
	if len(fit) == 0 || d.pick("any", 6) == 0 {
		fit = all
	}
	if len(fit) == 0 {
		return number(1 << 40), pulse.Submission{Credential: key, Application: app, Queue: queueA}
	}
	s := fit[d.pick("which", len(fit))]
	return s.TaskID, s
}
