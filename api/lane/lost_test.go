package lane_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/lane"
)

func retryLost(s *pulse.Submission) { s.Lost = pulse.LostRetry }

// T4, T7: a silent worker is lost after lease and grace. REVIEW goes to a person at once; RETRY goes on until the
// attempts that started are used up, and then to a person; the counters are given back, the permit is not.
func TestALostWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	w.submit(w.submission(named("ask"), keyed("r")), w.submission(named("again"), retryLost))
	first := w.claimNow(5)
	w.later(31 * time.Second) // the lease is over, the grace is not
	w.scan()
	if got := w.states(); got != "again=RUNNING ask=RUNNING" {
		t.Errorf("within the grace: %s", got)
	}
	for attempt := 1; attempt <= 3; attempt++ {
		w.later(33 * time.Second)
		w.scan()
		w.scan() // a second scanner finds nothing to do
		w.exact()
		want := "again=QUEUED ask=NEEDS_REVIEW"
		if attempt == 3 {
			want = "again=NEEDS_REVIEW ask=NEEDS_REVIEW"
		}
		if got := w.states(); got != want {
			t.Fatalf("after loss %d: %s, want %s", attempt, got, want)
		}
		if got := w.claimNow(5); attempt < 3 && (len(got) != 1 || got[0].Task.AttemptNo != uint16(attempt+1)) {
			t.Fatalf("attempt %d: claimed %+v", attempt+1, got)
		}
	}
	if got := w.spell("SELECT CONCAT(action, ' ', JSON_UNQUOTE(JSON_EXTRACT(CONVERT(detail USING utf8mb4), '$.attempt_no'))) FROM audit WHERE action = 'task.lost' ORDER BY 1"); got != "task.lost 1, task.lost 1, task.lost 2, task.lost 3" {
		t.Errorf("audit says %s", got)
	}
	// T5: what the lost say later is evidence, once per content, and moves nothing
	for _, g := range first {
		for range 2 {
			if out := w.complete(g, pulse.Succeeded); out.Status != pulse.ReportLate || out.TaskState != pulse.PublicReview {
				t.Errorf("a late report is answered %+v", out)
			}
		}
		w.complete(g, pulse.Permanent)
		stranger := w.report(&g.Task, pulse.Succeeded)
		stranger.Token[0]++
		out, _, _, err := w.Complete(t.Context(), w.ns, []pulse.Report{stranger}, nil)
		if must(t, err); out[0].Refusal == nil || out[0].Refusal.Code != "lease_unknown" {
			t.Errorf("a stranger is answered %+v", out[0])
		}
	}
	if n := w.rows("late_evidence"); n != 4 {
		t.Errorf("%d pieces of evidence", n)
	}
	if n := w.rows("stream_entry"); n != 2 {
		t.Errorf("%d stream entries", n)
	}
	w.exact()
}

// spell joins one column.
func (w *world) spell(query string) string {
	w.Helper()
	rows, err := w.db.Query(query)
	must(w, err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		must(w, rows.Scan(&text))
		all = append(all, text)
	}
	must(w, rows.Err())
	return strings.Join(all, ", ")
}

// An expired lease that nobody has superseded still completes, and a renewal brings it back; a superseded one does
// neither.
func TestAnExpiredLeaseThatNobodyTook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	w.submit(w.submission(named("late")), w.submission(named("renewed")))
	got := w.claimNow(2)
	w.later(40 * time.Second)
	if out := w.complete(got[0], pulse.Succeeded); out.Status != pulse.ReportAccepted {
		t.Errorf("answered %+v", out)
	}
	renew := func() pulse.RenewalOutcome {
		out, err := w.Renew(t.Context(), w.ns, []pulse.Renewal{{Credential: w.key.ID, Application: w.key.Application, Task: got[1].Task.ID, AttemptNo: 1, Token: got[1].Task.Token, Extend: time.Hour}})
		must(t, err)
		return out[0]
	}
	out := renew()
	if end := got[1].Task.StartedAt.Add(20 * time.Second); out.Answer != pulse.RenewContinue || out.LeaseUntil.After(end) {
		t.Errorf("renewed %+v; the attempt ends at %v", out, end)
	}
	w.scan()
	w.exact()
	w.later(25 * time.Second)
	w.scan()
	if out := renew(); out.Answer != pulse.RenewLost {
		t.Errorf("renewed %+v", out)
	}
	if got := w.states(); got != "late=SUCCEEDED renewed=NEEDS_REVIEW" {
		t.Errorf("states %s", got)
	}
	w.exact()
}

// A report twice is answered as the first time, also when both meet in one transaction; a contradiction is evidence;
// RETURNED costs no attempt; an unknown effect outlives what the next attempt says.
func TestReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	w.submit(w.submission(named("done")), w.submission(named("back"), func(s *pulse.Submission) { s.Retry.MaxAttempts = 1 }))
	got := w.claimNow(2)
	r := w.report(&got[0].Task, pulse.Succeeded)
	contradiction := w.report(&got[0].Task, pulse.Permanent)
	out, _, _, err := w.Complete(t.Context(), w.ns, []pulse.Report{r, r, contradiction}, nil)
	must(t, err)
	if s := fmt.Sprintf("%s %s %s %s", out[0].Status, out[1].Status, out[2].Status, out[2].TaskState); s != "ACCEPTED REPLAYED LATE SUCCEEDED" {
		t.Errorf("answered %s", s)
	}
	for i := range 5 {
		if s := w.complete(got[1], pulse.Returned); s.TaskState != pulse.PublicQueued {
			t.Errorf("returned: %+v", s)
		}
		got[1] = w.claimNow(1)[0]
		if got[1].Task.AttemptNo != uint16(i+2) || got[1].Task.AttemptsUsed != 1 {
			t.Errorf("attempt %d used %d", got[1].Task.AttemptNo, got[1].Task.AttemptsUsed)
		}
	}
	if s := w.complete(got[1], pulse.Retryable); s.TaskState != pulse.PublicFailed {
		t.Errorf("the only attempt failed: %+v", s)
	}
	w.exact()
	w.submit(w.submission(named("unknown"), retryLost, keyed("r")), w.submission(named("waits"), keyed("r")))
	w.complete(w.claimNow(1)[0], pulse.Unknown)
	for _, o := range []pulse.Outcome{pulse.Returned, pulse.Retryable} {
		next := w.claimNow(2)
		if names(next) != "unknown" {
			t.Fatalf("claimed %s", names(next))
		}
		w.complete(next[0], o)
		w.exact()
	}
	if got := w.spell("SELECT CONCAT(state, ' ', permit_held, ' ', attempts_used) FROM open_task ORDER BY task_id"); got != "1 1 2, 4 0 0" {
		t.Errorf("state, permit and attempts: %s", got)
	}
	w.exact()
}

// T5, O1: while an earlier attempt is UNKNOWN only a success ends a task without a person: the repeat knows about itself
// and not about the effect that may still be under way.
func TestOnlyASuccessEndsADoubt(t *testing.T) {
	t.Parallel()
	for says, want := range map[pulse.Outcome]string{pulse.Succeeded: "SUCCEEDED", pulse.Permanent: "NEEDS_REVIEW", pulse.Cancelled: "NEEDS_REVIEW", pulse.Unknown: "NEEDS_REVIEW"} {
		w := newWorld(t, lane.Options{})
		s := w.submission(named("doubt"), retryLost, keyed("r"))
		w.submit(s, w.submission(named("waits"), keyed("r")))
		w.complete(w.claimNow(1)[0], pulse.Unknown)
		again := w.claimNow(2)
		if says == pulse.Cancelled || says == pulse.Unknown {
			w.cancel(s)
		}
		w.complete(again[0], says)
		freed := names(w.claimNow(2))
		if got := w.states(); !strings.HasPrefix(got, "doubt="+want) || (freed == "waits") != (says == pulse.Succeeded) {
			t.Errorf("the repeat says %v: %s, claimed %q", says, got, freed)
		}
		w.exact()
	}
}

// A broken output contract is a case for a person, and the key is free.
func TestABrokenContract(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	contract := func(s *pulse.Submission) { s.OutputContract = []byte(`{"type":"object","required":["id"]}`) }
	w.submit(w.submission(named("broken"), contract, keyed("r")), w.submission(named("next"), keyed("r")))
	out := w.complete(w.claimNow(1)[0], pulse.Succeeded) // {"ok":true}
	if out.TaskState != pulse.PublicReview {
		t.Errorf("answered %+v", out)
	}
	if got := names(w.claimNow(1)); got != "next" {
		t.Errorf("claimed %q", got)
	}
	w.exact()
}

// C46: cancel, result and loss of one running task meet in every order and at once: exactly one end.
func TestCancelMeetsResultMeetsLoss(t *testing.T) {
	w := newWorld(t, lane.Options{})
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, nil, nil, nil, nil}
	const rounds = 6
	var tasks int
	for range rounds {
		for _, order := range orders {
			for _, o := range []pulse.Outcome{pulse.Succeeded, pulse.Permanent, pulse.Unknown} {
				s := w.submission(func(s *pulse.Submission) { s.AttemptTimeoutMS = 1000 })
				w.submit(s)
				g := w.claimNow(1)[0]
				_, err := w.db.Exec("UPDATE open_task SET lease_until = NOW(6) - INTERVAL 1 MINUTE WHERE task_id = ?", s.TaskID[:])
				must(t, err)
				steps := []func(){
					func() { w.cancel(s) },
					func() { w.complete(g, o) },
					func() {
						must(t, w.Due(context.Background(), w.ns, []pulse.Due{{Kind: pulse.DueLost, Application: s.Application, Queue: s.Queue, Task: s.TaskID}}))
					},
				}
				var all sync.WaitGroup
				for _, i := range order {
					steps[i]()
				}
				if order == nil {
					for _, step := range steps {
						all.Go(step)
					}
					all.Wait()
				}
				tasks++
			}
		}
	}
	var ended, results int
	must(t, w.db.QueryRow("SELECT COUNT(*) FROM task WHERE state IN (2, 3, 4, 5)").Scan(&ended))
	must(t, w.db.QueryRow("SELECT COUNT(DISTINCT task_id) FROM stream_entry").Scan(&results))
	if ended != tasks || results != tasks || w.rows("stream_entry") != tasks || w.rows("attempt") != tasks {
		t.Errorf("%d tasks: %d ended, %d in the stream with %d entries, %d attempts", tasks, ended, results, w.rows("stream_entry"), w.rows("attempt"))
	}
	w.exact()
	t.Logf("%d tasks, cancel × result × loss in 6 orders and at once: one end each", tasks)
}

// Cancel in every state: at once while it waits, asked while it runs, answered with what it is when it is over.
func TestCancelInEveryState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lane.Options{})
	delayed := w.submission(named("delayed"), func(s *pulse.Submission) { s.DelayMS = 60_000 })
	running, holder, blocked := w.submission(named("running")), w.submission(named("holder"), keyed("r")), w.submission(named("blocked"), keyed("r"))
	asked, queued := w.submission(named("asked")), w.submission(named("queued"))
	w.submit(running, holder, blocked, asked, delayed, queued)
	got := w.claimNow(3)
	if names(got) != "running holder asked" {
		t.Fatalf("claimed %s", names(got))
	}
	for _, c := range []struct {
		s    pulse.Submission
		want string
	}{{queued, "CANCELLED false"}, {delayed, "CANCELLED false"}, {blocked, "CANCELLED false"}, {running, "RUNNING true"}, {running, "RUNNING true"}, {asked, "RUNNING true"}, {queued, "CANCELLED false"}} {
		out := w.cancel(c.s)
		if s := fmt.Sprint(out.TaskState, " ", out.Requested); out.Refusal != nil || s != c.want {
			t.Errorf("cancel of %s: %s %+v, want %s", c.s.BusinessKey, s, out.Refusal, c.want)
		}
		w.exact()
	}
	renewals, err := w.Renew(t.Context(), w.ns, []pulse.Renewal{{Credential: w.key.ID, Application: w.key.Application, Task: asked.TaskID, AttemptNo: 1, Token: got[2].Task.Token, Extend: time.Minute}})
	if must(t, err); renewals[0].Answer != pulse.RenewCancel {
		t.Errorf("the worker hears %+v", renewals[0])
	}
	w.complete(got[2], pulse.Cancelled)
	w.complete(got[0], pulse.Succeeded)
	w.complete(got[1], pulse.Unknown)
	if out := w.cancel(holder); out.TaskState != pulse.PublicReview {
		t.Errorf("cancel of a reviewed one: %+v", out)
	}
	if got := w.states(); got != "asked=CANCELLED blocked=CANCELLED delayed=CANCELLED holder=NEEDS_REVIEW queued=CANCELLED running=SUCCEEDED" {
		t.Errorf("states %s", got)
	}
	w.exact()
	// one idempotency key: one answer, also twice in one transaction; another task under it is a conflict
	s := w.submission()
	w.submit(s)
	request := pulse.Cancel{Credential: w.key.ID, Application: w.key.Application, Queue: w.queue, Task: s.TaskID, Key: "once"}
	release := w.holdQuota()
	var all sync.WaitGroup
	answers := make([]pulse.CancelOutcome, 6)
	for i := range answers {
		all.Go(func() {
			var err error
			if answers[i], err = w.Cancel(context.Background(), w.ns, request); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	release()
	all.Wait()
	for _, a := range answers {
		if string(a.Receipt) != string(answers[0].Receipt) || a.Refusal != nil {
			t.Errorf("answered %+v", a)
		}
	}
	request.Task = running.TaskID
	if out, err := w.Cancel(t.Context(), w.ns, request); err != nil || out.Refusal == nil || out.Refusal.Code != "idempotency_conflict" {
		t.Errorf("another task under the key: %+v %v", out, err)
	}
	w.exact()
}
