//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"
)

// waiting publishes a workflow that waits for a time, for a signal, for an external job asked in rounds, and then works.
const waiting = `{"schema_version":1,"definition":"waits","version":1,"input_contract":null,"output_contract":null,"deadline_ms":3600000,"on_failure":"REVIEW",
"contracts":{"state":{"type":"object","required":["state"],"properties":{"state":{"type":"string"}}}},
"policies":{"p":{"priority":5,"deadline_ms":3600000,"attempt_timeout_ms":60000,"lost":"RETRY","retry":{"kind":"FIXED","max_attempts":20,"delay_ms":100,"jitter_percent":0}}},
"body":[{"name":"cool","kind":"TIMER","delay_ms":2000},
{"name":"answer","kind":"SIGNAL","signal":"go","signal_version":"1","content_contract":"state","correlation":"c","deadline_ms":600000,"on_expiry":"REVIEW"},
{"name":"job","kind":"POLL","task":{"queue":"proof","handler":"ask","handler_version":"1","input":"${instance.id}","input_contract":null,"output_contract":"state",
"policy":"p","business_key":null,"resource_key":null},"interval_ms":1000,"max_rounds":9,"deadline_ms":600000,
"classify":{"value":"${result.state}","pending":["RUNNING"],"done":["DONE"],"failed":[],"review":[]},"output":"${result}","output_contract":null,"final_signal":null},
{"name":"work","kind":"TASK","queue":"proof","handler":"work","handler_version":"1","input":"${steps.answer.output}","input_contract":null,"output_contract":null,
"policy":"p","business_key":null,"resource_key":null}],"output":"${steps.work.output}"}`

const askedRounds = 3

// jobs answers RUNNING in the first rounds of a job and DONE in the last; the same round is always answered alike.
type jobs struct {
	mu     sync.Mutex
	rounds map[string][]string // job → tasks
}

func (j *jobs) answer(c claimed) json.RawMessage {
	if c.Handler != "ask" {
		return c.Input
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	job, at := string(c.Input), -1
	for i, task := range j.rounds[job] {
		if task == c.TaskID {
			at = i
		}
	}
	if at < 0 {
		at = len(j.rounds[job])
		j.rounds[job] = append(j.rounds[job], c.TaskID)
	}
	if at < askedRounds-1 {
		return json.RawMessage(`{"state":"RUNNING"}`)
	}
	return json.RawMessage(`{"state":"DONE"}`)
}

// signal sends what an instance waits for, twice by one key and once by another.
func (p *proof) signal(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	body := map[string]any{"step": "answer", "activation_no": 1, "signal": "go", "signal_version": "1", "correlation": "c", "content": map[string]string{"state": id}, "reason": "proof"}
	for _, key := range []string{"first-" + id, "first-" + id, "second-" + id} {
		if err := p.api.call(ctx, "POST", "/v1/instances/"+id+"/signals", keyed{key, body}, nil); err != nil {
			p.t.Error(err)
		}
	}
}

// kept checks the signals and waits of an ended instance.
func (p *proof) kept(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var signals struct {
		Items []struct{ State, Classification string }
	}
	must(p.t, p.api.call(ctx, "GET", "/v1/instances/"+id+"/signals", nil, &signals))
	if len(signals.Items) != 2 || signals.Items[0].State != "APPLIED" || signals.Items[1].State != "REJECTED" {
		p.t.Errorf("signals of %s: %+v", id, signals.Items)
	}
	var waits struct {
		Items []struct {
			Kind, State string
			StartedAt   time.Time `json:"started_at"`
			DeadlineAt  time.Time `json:"deadline_at"`
			UsedRounds  int       `json:"used_rounds"`
		}
	}
	must(p.t, p.api.call(ctx, "GET", "/v1/instances/"+id+"/waits", nil, &waits))
	w := waits.Items
	if len(w) != 3 || w[0].State != "SATISFIED" || w[1].State != "SATISFIED" || w[2].UsedRounds != askedRounds {
		p.t.Errorf("waits of %s: %+v", id, w)
		return
	}
	if w[0].DeadlineAt.Sub(w[0].StartedAt) != 2*time.Second || w[1].StartedAt.Before(w[0].DeadlineAt) {
		p.t.Errorf("the timer of %s was early: %+v", id, w)
	}
}

// newWaits is a workload of waiting workflows with its worker.
func newWaits(t *testing.T, d *database, urls ...string) (*proof, *jobs) {
	p := &proof{t: t, db: d, api: newAPI(d.key(), urls...)}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	p.stop = cancel
	t.Cleanup(cancel)
	must(t, p.api.call(ctx, "PUT", "/v1/queues/proof", map[string]any{"open_tasks_max": 100000, "running_attempts_max": 1000}, nil))
	must(t, p.api.call(ctx, "POST", "/v1/workflows", map[string]any{"document": json.RawMessage(waiting)}, nil))
	p.worker = newWorker(p.api, "proof", "ask", "work")
	answers := &jobs{rounds: map[string][]string{}}
	p.worker.answer = answers.answer
	p.workers = p.worker.run(ctx, 4)
	return p, answers
}

// begin starts n instances one after the other.
func (p *proof) begin(n int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i := range n {
		var receipt struct {
			InstanceID string `json:"instance_id"`
		}
		must(p.t, p.api.call(ctx, "POST", "/v1/instances", map[string]any{"start_key": fmt.Sprint("k", i), "definition": "waits", "input": nil}, &receipt))
		p.instances = append(p.instances, receipt.InstanceID)
	}
}

// whole checks every ended instance and returns how many rounds were asked.
func (p *proof) whole(answers *jobs) (rounds int) {
	for _, id := range p.instances {
		p.kept(id)
	}
	for job, tasks := range answers.rounds {
		if rounds += len(tasks); len(tasks) != askedRounds {
			p.t.Errorf("job %s was asked in %d rounds", job, len(tasks))
		}
	}
	return rounds
}

// TestClocksKilled kills the only node while timers run and signals wait, leaves it dead beyond the timers' time, and
// lets two new nodes take over; one of them is killed again between the rounds of the polls (seed 003, 13, 14).
func TestClocksKilled(t *testing.T) {
	d := newDatabase(t)
	first := serve(t, d, "127.0.0.1:0")
	p, answers := newWaits(t, d, first.URL)
	const n = 60
	p.begin(n)
	for _, id := range p.instances[:n/2] {
		p.signal(id) // early
	}
	first.kill()
	time.Sleep(2500 * time.Millisecond) // the timers ring, and nobody is there
	second, third := serve(t, d, "127.0.0.1:0"), serve(t, d, "127.0.0.1:0")
	urls := []string{second.URL, third.URL}
	p.api.urls.Store(&urls)
	for _, id := range p.instances[n/2:] {
		p.starts.Go(func() { p.signal(id) })
	}
	for p.worker.count() < n {
		time.Sleep(5 * time.Millisecond)
	}
	second.kill() // between the rounds
	urls = []string{third.URL}
	p.api.urls.Store(&urls)
	p.finish(n)
	rounds := p.whole(answers)
	if !t.Failed() {
		t.Logf("%d instances, %d signals sent thrice, %d rounds; lost 0, doubled 0, stuck 0", n, n, rounds)
	}
}

// TestClocksKilledAgainAndAgain kills one of two nodes ten times while timers ring, signals arrive and polls ask.
func TestClocksKilledAgainAndAgain(t *testing.T) {
	d := newDatabase(t)
	nodes := []*node{serve(t, d, "127.0.0.1:0"), serve(t, d, "127.0.0.1:0")}
	p, answers := newWaits(t, d, nodes[0].URL, nodes[1].URL)
	const n, kills = 120, 10
	p.begin(n)
	for _, id := range p.instances {
		p.starts.Go(func() { p.signal(id) })
	}
	for i := range kills {
		time.Sleep(300 * time.Millisecond)
		nodes[i%2].kill()
		urls := []string{nodes[1-i%2].URL}
		p.api.urls.Store(&urls)
		nodes[i%2] = serve(t, d, "127.0.0.1:0")
		urls = []string{nodes[0].URL, nodes[1].URL}
		p.api.urls.Store(&urls)
	}
	p.finish(n)
	p.whole(answers)
	if !t.Failed() {
		t.Logf("%d kills, %d instances; lost 0, doubled 0, stuck 0", kills, n)
	}
}
