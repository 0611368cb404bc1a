//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// workflow publishes three tasks in a row that may be repeated when a worker is lost.
func workflow(queue string) json.RawMessage {
	var body []string
	input := "${input}"
	for _, name := range []string{"one", "two", "three"} {
		body = append(body, fmt.Sprintf(`{"name":%q,"kind":"TASK","queue":%q,"handler":%q,"handler_version":"1","input":%q,
			"input_contract":null,"output_contract":null,"policy":"p","business_key":null,"resource_key":null}`, name, queue, name, input))
		input = fmt.Sprintf("${steps.%s.output}", name)
	}
	return json.RawMessage(`{"schema_version":1,"definition":"proof","version":1,"input_contract":null,"output_contract":null,"deadline_ms":3600000,
		"on_failure":"REVIEW","contracts":{},"policies":{"p":{"priority":5,"deadline_ms":3600000,"attempt_timeout_ms":60000,"lost":"RETRY",
		"retry":{"kind":"FIXED","max_attempts":20,"delay_ms":100,"jitter_percent":0}}},"body":[` + strings.Join(body, ",") + `],"output":` + fmt.Sprintf("%q", input) + `}`)
}

// proof is a running workload: instances are started while workers run them.
type proof struct {
	t         *testing.T
	db        *database
	api       *api
	worker    *worker
	instances []string
	mu        sync.Mutex
	starts    sync.WaitGroup
	workers   *sync.WaitGroup
	stop      context.CancelFunc
}

func newProof(t *testing.T, first *node, d *database) *proof {
	p := &proof{t: t, db: d, api: newAPI(d.key(), first.URL)}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	p.stop = cancel
	t.Cleanup(cancel)
	must(t, p.api.call(ctx, "PUT", "/v1/queues/proof", map[string]any{"open_tasks_max": 100000, "running_attempts_max": 1000}, nil))
	must(t, p.api.call(ctx, "POST", "/v1/workflows", map[string]any{"document": workflow("proof")}, nil))
	p.worker = newWorker(p.api, "proof", "one", "two", "three")
	p.workers = p.worker.run(ctx, 4)
	return p
}

// start starts n instances from 8 callers; every call is repeated with its key until it is answered.
func (p *proof) start(n int) {
	for c := range 8 {
		p.starts.Go(func() {
			for i := c; i < n; i += 8 {
				var receipt struct {
					InstanceID string `json:"instance_id"`
				}
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
				err := p.api.call(ctx, "POST", "/v1/instances", map[string]any{"start_key": fmt.Sprint("k", i), "definition": "proof", "input": map[string]any{"n": i}}, &receipt)
				cancel()
				if err != nil {
					p.t.Error(err)
					return
				}
				p.mu.Lock()
				p.instances = append(p.instances, receipt.InstanceID)
				p.mu.Unlock()
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
}

// finish waits until every instance has ended and checks what must hold afterwards.
func (p *proof) finish(n int) {
	p.t.Helper()
	p.starts.Wait()
	unique := map[string]bool{}
	for _, id := range p.instances {
		unique[id] = true
	}
	if len(unique) != n {
		p.t.Errorf("%d instances for %d start keys", len(unique), n)
	}
	began := time.Now()
	for id := range unique {
		p.ended(id)
	}
	p.t.Logf("all ended %.1f s after the last start", time.Since(began).Seconds())
	p.stop()
	p.workers.Wait()
	p.repeats()
	p.db.healthy()
}

func (p *proof) ended(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	for {
		var instance struct{ State, Reason string }
		if err := p.api.call(ctx, "GET", "/v1/instances/"+id, nil, &instance); err != nil {
			p.t.Fatal(err)
		}
		if instance.State == "SUCCEEDED" {
			return
		}
		if instance.State != "RUNNING" || ctx.Err() != nil {
			_, history, _ := p.api.once(ctx, "GET", "/v1/instances/"+id+"/history", nil) // what there is of it
			p.t.Fatalf("instance %s is %s: %s\n%s", id, instance.State, instance.Reason, history)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// repeats demands that every task that ran more than once has its lost leases on record, one for each repeat.
func (p *proof) repeats() {
	repeated := 0
	for task, runs := range p.worker.runs {
		if len(runs) == 1 {
			continue
		}
		repeated++
		var list struct {
			Items []struct {
				Outcome string `json:"outcome"`
			} `json:"items"`
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		must(p.t, p.api.call(ctx, "GET", "/v1/tasks/"+task+"/attempts", nil, &list))
		cancel()
		lost := 0
		for _, a := range list.Items {
			if a.Outcome == "UNKNOWN" {
				lost++
			}
		}
		if lost < len(runs)-1 {
			p.t.Errorf("%s ran %d times with %d lost leases on record", task, len(runs), lost)
		}
	}
	p.t.Logf("%d tasks ran, %d of them again after a lost lease, %d late reports kept as evidence", len(p.worker.runs), repeated, p.worker.late.Load())
}

// TestServerKilled kills the only node mid-run. Its workers' results arrive after its death, at two new nodes that
// take over (seed 003).
func TestServerKilled(t *testing.T) {
	d := newDatabase(t)
	first := serve(t, d, "127.0.0.1:0")
	p := newProof(t, first, d)
	const n = 200
	p.start(n)
	for p.worker.count() < 60 {
		time.Sleep(5 * time.Millisecond)
	}
	first.kill()
	time.Sleep(500 * time.Millisecond)
	urls := []string{serve(t, d, "127.0.0.1:0").URL, serve(t, d, "127.0.0.1:0").URL}
	p.api.urls.Store(&urls)
	p.finish(n)
}

// TestDatabaseKilled kills the database mid-run, twice, under two nodes.
func TestDatabaseKilled(t *testing.T) {
	d := newDatabase(t)
	first, second := serve(t, d, "127.0.0.1:0"), serve(t, d, "127.0.0.1:0")
	p := newProof(t, first, d)
	urls := []string{first.URL, second.URL}
	p.api.urls.Store(&urls)
	const n = 200
	p.start(n)
	for _, after := range []int{50, 200} {
		for p.worker.count() < after {
			time.Sleep(5 * time.Millisecond)
		}
		d.kill()
		time.Sleep(300 * time.Millisecond)
		d.up()
	}
	p.finish(n)
}

// TestDrain stops nodes one after the other under load: no call fails and no attempt is lost (C10).
func TestDrain(t *testing.T) {
	d := newDatabase(t)
	first := serve(t, d, "127.0.0.1:0")
	p := newProof(t, first, d)
	const n = 120
	p.start(n)
	for p.worker.count() < 40 {
		time.Sleep(5 * time.Millisecond)
	}
	second := serve(t, d, "127.0.0.1:0")
	urls := []string{second.URL}
	p.api.urls.Store(&urls)
	first.stop()
	p.finish(n)
	for task, runs := range p.worker.runs {
		if len(runs) > 1 {
			t.Errorf("%s ran %d times although nothing was killed", task, len(runs))
		}
	}
	second.stop()
}
