package lane_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"

	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/chaos/proxy"
)

// fault is one thing that can go wrong with a statement.
type fault struct {
	name   string
	rule   proxy.Rule
	passes bool // the operation must succeed all the same
}

func faults() []fault {
	var all []fault
	for _, code := range []uint16{1213, 1205, 3572, 1317, 1290, 1180, 1040, 1062, 3819} {
		rule := proxy.Rule{Do: proxy.Fail, Code: code, Rollback: code == 1213, Times: 1}
		all = append(all, fault{fmt.Sprint(code), rule, code != 3819})
	}
	return append(all, fault{"cut before", proxy.Rule{Do: proxy.Cut, Times: 1}, true}, fault{"cut after", proxy.Rule{When: proxy.Answered, Do: proxy.Cut, Times: 1}, true})
}

// operation is one transaction of a lane: prepare brings the rows into place, run is what the fault meets, and applied
// counts its effect, which must be one or none.
type operation struct {
	name    string
	prepare func(*world) (run func() error, applied func() int)
}

// guarded operations hold a lock that makes a duplicate impossible: one ends the call with nothing done.
var guarded = map[string]bool{"begin bulk": true, "abort bulk": true}

var operations = []operation{
	{"submit", func(w *world) (func() error, func() int) {
		s := w.submission(keyed("k"), func(s *pulse.Submission) { s.DelayMS = 1000 })
		return func() error {
			out, err := w.Submit(context.Background(), w.ns, []pulse.Submission{s})
			return refused(err, out[:min(len(out), 1)])
		}, func() int { return w.scalar("SELECT COUNT(*) FROM receipt WHERE receipt_key = ?", []byte(s.Key)) }
	}},
	{"debounce", func(w *world) (func() error, func() int) {
		rule := pulse.SlotRule{Kind: pulse.SlotDebounce, Key: fmt.Sprint("d", w.seq), DelayMS: 60_000, MaxWaitMS: 60_000}
		old := w.submission(func(s *pulse.Submission) { s.Slot = rule })
		w.submit(old)
		s := w.submission(func(s *pulse.Submission) { s.Slot, s.Attributes = rule, []pulse.Attribute{{Name: "a", Value: "b"}} })
		return func() error {
				out, err := w.Submit(context.Background(), w.ns, []pulse.Submission{s})
				return refused(err, out[:min(len(out), 1)])
			}, func() int {
				return w.scalar("SELECT COUNT(*) FROM task o JOIN task_slot s USING (namespace_id) JOIN task_attribute a USING (namespace_id) WHERE o.task_id = ? AND o.state = 4 AND s.task_id = ? AND a.task_id = s.task_id", old.TaskID[:], s.TaskID[:])
			}
	}},
	{"renew with progress", func(w *world) (func() error, func() int) {
		s := w.submission()
		w.submit(s)
		g := w.claimNow(1)
		return func() error {
				out, err := w.Renew(context.Background(), w.ns, []pulse.Renewal{{Credential: s.Credential, Application: s.Application, Task: s.TaskID, AttemptNo: 1,
					Token: g[0].Task.Token, Extend: 40 * time.Second, Progress: &pulse.Progress{Message: "half"}}})
				if err == nil && out[0].Answer != pulse.RenewContinue {
					return fmt.Errorf("answered %+v", out[0])
				}
				return err
			}, func() int {
				return w.scalar("SELECT COUNT(*) FROM task_progress WHERE task_id = ? AND message = 'half'", s.TaskID[:])
			}
	}},
	{"claim", func(w *world) (func() error, func() int) {
		s := w.submission(keyed(fmt.Sprint("c", w.seq)))
		w.submit(s)
		return func() error {
				got, refusal, err := w.Claim(context.Background(), w.ns, w.claim(1), 0)
				return one(got, refusal, err)
			}, func() int {
				return w.scalar("SELECT COUNT(*) FROM open_task WHERE task_id = ? AND state = 2", s.TaskID[:])
			}
	}},
	{"claim asked again", func(w *world) (func() error, func() int) {
		s := w.submission()
		w.submit(s)
		question := uint32(0)
		first := w.ask(w.keyedClaim(s.Key, 1, 0))
		return func() error {
				question++
				got, refusal, err := w.Claim(context.Background(), w.ns, w.keyedClaim(s.Key, 1, question), 0)
				if err == nil && refusal == nil && len(got) == 0 { // what could not be handed over was given back
					got, refusal, err = w.Claim(context.Background(), w.ns, w.claim(1), 0)
				}
				return one(got, refusal, err)
			}, func() int {
				return w.scalar("SELECT COUNT(*) FROM open_task WHERE task_id = ? AND state = 2 AND token <> ?", s.TaskID[:], first[0].Task.Token[:])
			}
	}},
	{"claim under a rate", func(w *world) (func() error, func() int) {
		s := w.submission()
		w.submit(s)
		w.limit(1, 3, 24*time.Hour)
		return func() error {
				got, refusal, err := w.Claim(context.Background(), w.ns, w.claim(1), 0)
				return one(got, refusal, err)
			}, func() int {
				return w.scalar("SELECT COUNT(*) FROM open_task o JOIN queue_rate r USING (namespace_id, queue_id) WHERE o.task_id = ? AND o.state = 2 AND r.credit < 3 * 86400000000", s.TaskID[:])
			}
	}},
	{"keyed claim", func(w *world) (func() error, func() int) {
		s := w.submission(keyed(fmt.Sprint("p", w.seq)))
		w.submit(s, w.submission(keyed(s.ResourceKey))) // the second is parked behind the key
		question := -1
		return func() error {
				question++
				got, refusal, err := w.Claim(context.Background(), w.ns, w.keyedClaim(s.Key, 2, uint32(question)), 0)
				if err == nil && refusal == nil && len(got) == 0 { // what could not be handed over was given back
					got, refusal, err = w.Claim(context.Background(), w.ns, w.keyedClaim(s.Key+"again", 2, 0), 0)
				}
				return one(got, refusal, err)
			}, func() int {
				return w.scalar("SELECT COUNT(*) FROM key_wait k JOIN resource_lock r USING (namespace_id, resource_key) WHERE k.resource_key = ? AND r.task_id <> k.task_id AND r.waiters = 1", []byte(s.ResourceKey))
			}
	}},
	{"complete and claim", func(w *world) (func() error, func() int) {
		s := w.submission(keyed(fmt.Sprint("f", w.seq)))
		w.submit(s, w.submission(keyed(s.ResourceKey)))
		g := w.claimNow(2)
		return func() error {
			out, next, refusal, err := w.Complete(context.Background(), w.ns, []pulse.Report{w.report(&g[0].Task, pulse.Succeeded)}, new(w.claim(1)))
			if refusal != nil {
				return refusal
			}
			if err == nil && (out[0].Refusal != nil || out[0].TaskState != pulse.PublicSucceeded || out[0].Status == pulse.ReportAccepted && len(next) != 1) {
				return fmt.Errorf("answered %+v, given %d", out[0], len(next))
			}
			return err
		}, func() int { return w.scalar("SELECT COUNT(*) FROM stream_entry WHERE task_id = ?", s.TaskID[:]) }
	}},
	{"late report", func(w *world) (func() error, func() int) {
		s := w.submission()
		w.submit(s)
		g := w.claimNow(1)[0]
		w.complete(g, pulse.Succeeded)
		return func() error {
				out, _, _, err := w.Complete(context.Background(), w.ns, []pulse.Report{w.report(&g.Task, pulse.Permanent)}, nil)
				if err == nil && out[0].Refusal != nil {
					return out[0].Refusal
				}
				return err
			}, func() int {
				return w.scalar("SELECT COUNT(*) FROM late_evidence WHERE task_id = ?", s.TaskID[:])
			}
	}},
	{"cancel", func(w *world) (func() error, func() int) {
		s := w.submission()
		w.submit(s)
		c := pulse.Cancel{Credential: s.Credential, Application: s.Application, Queue: s.Queue, Task: s.TaskID, Key: s.Key}
		return func() error {
				out, err := w.Cancel(context.Background(), w.ns, c)
				if out.Refusal != nil {
					return out.Refusal
				}
				return err
			}, func() int {
				return w.scalar("SELECT COUNT(*) FROM audit WHERE subject = ?", []byte(s.TaskID.Text("task")))
			}
	}},
	{"bulk cancel", func(w *world) (func() error, func() int) {
		s := w.submission()
		w.submit(s)
		op := w.begin(pulse.BulkPurge, s.Key)
		return func() error { return w.finish(op) }, func() int {
			return w.scalar("SELECT COUNT(*) FROM bulk_item i JOIN task t USING (namespace_id, task_id) JOIN audit a ON a.subject = ? WHERE i.task_id = ? AND i.result = 1 AND t.state = 4", []byte(s.TaskID.Text("task")), s.TaskID[:])
		}
	}},
	{"bulk retry", func(w *world) (func() error, func() int) {
		s := w.submission()
		w.submit(s)
		_, err := w.Cancel(context.Background(), w.ns, pulse.Cancel{Credential: s.Credential, Application: s.Application, Queue: s.Queue, Task: s.TaskID})
		must(w, err)
		op := w.begin(pulse.BulkRetry, s.Key)
		return func() error { return w.finish(op) }, func() int {
			return w.scalar("SELECT COUNT(*) FROM task t JOIN task_retry r ON r.namespace_id = t.namespace_id AND r.successor_id = t.task_id JOIN bulk_item i ON i.task_id = r.task_id AND i.successor_id = r.successor_id WHERE t.owner_id = ?", s.TaskID[:])
		}
	}},
	{"begin bulk", func(w *world) (func() error, func() int) {
		writer := w.operator()
		r := &pulse.BulkRequest{Credential: w.key.ID, Application: w.key.Application, QueueName: w.name, Queue: w.queue, Key: fmt.Sprint("begin ", store.NewID()), Kind: pulse.BulkPurge, Reason: "r"}
		return func() error {
				row, _, err := store.BeginBulk(context.Background(), writer, w.ns, r, store.NewID())
				if err == nil && (row.State != uint8(pulse.BulkRunning) || len(row.OperationID) == 0) {
					err = fmt.Errorf("answered %+v", row)
				}
				return err
			}, func() int {
				return w.scalar("SELECT COUNT(*) FROM bulk_operation WHERE operation_key = ?", []byte(r.Key))
			}
	}},
	{"abort bulk", func(w *world) (func() error, func() int) {
		writer, op := w.operator(), w.begin(pulse.BulkPurge, fmt.Sprint("abort ", store.NewID()))
		return func() error {
				return store.AbortBulk(context.Background(), writer, w.ns, w.key.Application, w.key.ID, op, "r")
			}, func() int {
				return w.scalar("SELECT COUNT(*) FROM bulk_operation b JOIN audit a ON a.subject = ? AND a.action = 'bulk.aborted' WHERE b.operation_id = ? AND b.state = 3", []byte(op.Text("bulk")), op[:])
			}
	}},
	{"lost lease", func(w *world) (func() error, func() int) {
		s := w.submission()
		w.submit(s)
		w.claimNow(1)
		_, err := w.db.Exec("UPDATE open_task SET lease_until = NOW(6) - INTERVAL 1 MINUTE WHERE task_id = ?", s.TaskID[:])
		must(w, err)
		return func() error {
			return w.Due(context.Background(), w.ns, []pulse.Due{{Kind: pulse.DueLost, Application: s.Application, Queue: s.Queue, Task: s.TaskID}})
		}, func() int { return w.scalar("SELECT COUNT(*) FROM attempt WHERE task_id = ?", s.TaskID[:]) }
	}},
}

// operator is a writer that reaches the database as the world's node does, with its connection open.
func (w *world) operator() *tx.DB {
	w.Helper()
	if w.writer == nil {
		w.writer, _ = w.connect(w.dsn, 1)
	}
	return w.writer
}

// one demands that a claim was given one task.
func one(got []lane.Granted, refusal *engine.Refusal, err error) error {
	if refusal != nil {
		return refusal
	}
	if err == nil && len(got) != 1 {
		return fmt.Errorf("given %d", len(got))
	}
	return err
}

func refused(err error, out []pulse.SubmitOutcome) error {
	if err == nil && out[0].Refusal != nil {
		return out[0].Refusal
	}
	return err
}

func (w *world) scalar(query string, args ...any) (n int) {
	w.Helper()
	must(w, w.db.QueryRow(query, args...).Scan(&n))
	return n
}

// C5, C21: every fault at every statement of every operation of a lane. The operation succeeds all the same, or it says
// so and has done nothing, and then succeeds when it is asked again. After a fault the connection is sent a ROLLBACK
// or nothing. The sites come from the statements that are really sent, so new code cannot escape.
func TestEveryFaultAtEveryStatement(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	t.Run("operations", func(t *testing.T) {
		for _, op := range operations {
			t.Run(op.name, func(t *testing.T) {
				t.Parallel()
				line := inject(t, op)
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, line)
			})
		}
	})
	if !t.Failed() {
		t.Logf("sites × faults, violations 0: %s", strings.Join(lines, "; "))
	}
	taskSites.Keep(t, "tasks")
}

var taskSites, clockSites dbtest.Sites

func seen(sites *dbtest.Sites, p *proxy.Proxy) {
	for _, s := range p.Statements() {
		sites.Add(s.Text)
	}
}

func inject(t *testing.T, op operation) string {
	d := dbtest.New(t)
	p, err := proxy.New(d.Address())
	must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	w := worldOn(t, d, d.DSNThrough(p.Addr())+"&readTimeout=5s", lane.Options{})
	w.expected = true
	for range 2 { // the first opens the connections
		run, applied := op.prepare(w)
		p.ResetCounters()
		if err := run(); err != nil || applied() != 1 {
			t.Fatalf("without a fault: %v, applied %d", err, applied())
		}
	}
	sites := len(p.Statements())
	seen(&taskSites, p)
	if sites < 5 {
		t.Fatalf("only %d statements", sites)
	}
	count := 0
	for _, f := range faults() {
		for site := range sites {
			run, applied := op.prepare(w)
			w.idle()
			p.ResetCounters()
			rule := f.rule
			rule.After = site
			active := p.SetRule(rule)
			err := run()
			w.idle()
			p.ClearRules()
			log := p.Statements()
			where := func() string {
				return fmt.Sprintf("%s at site %d %.60q", f.name, site, log[min(site, len(log)-1)].Text)
			}
			payloads := strings.Contains(log[min(site, len(log)-1)].Text, "FROM task t JOIN queue")
			if active.Fired() != 1 {
				t.Fatalf("%s: fired %d", where(), active.Fired())
			}
			count++
			if err != nil && f.passes && !payloads && !(guarded[op.name] && f.rule.Code == 1062) {
				t.Errorf("%s: failed with %v", where(), err)
			}
			if payloads && err != nil { // what was started and could not be handed over goes back by itself
				within(t, func() bool { return applied() == 0 || op.name == "complete and claim" })
			}
			if n := applied(); err == nil && n != 1 || err != nil && n != 0 && !(payloads && op.name == "complete and claim") {
				t.Errorf("%s: answered %v, applied %d", where(), err, n)
			}
			if f.rule.Do == proxy.Fail && !payloads {
				if next := nextOn(log, site); next != "" && next != "ROLLBACK" {
					t.Errorf("%s: then the connection was sent %q", where(), next)
				}
			}
			if err != nil {
				if err := run(); err != nil || applied() != 1 {
					t.Errorf("%s: asked again it answers %v, applied %d", where(), err, applied())
				}
			}
			if t.Failed() {
				break
			}
		}
		w.exact()
	}
	return fmt.Sprintf("%s %d × %d = %d", op.name, sites, len(faults()), count)
}

func within(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("not within 3 s")
			return
		}
	}
}

// nextOn is the statement that followed on the same connection, "" when none did.
func nextOn(log []proxy.Statement, site int) string {
	for _, s := range log[site+1:] {
		if s.Connection == log[site].Connection {
			return s.Text
		}
	}
	return ""
}

// idle waits until the lanes have answered everything they do by themselves: what they gave back is back.
func (w *world) idle() {
	for last := -1; ; time.Sleep(2 * time.Millisecond) {
		n := w.transactions()
		if n == last {
			return
		}
		last = n
	}
}
