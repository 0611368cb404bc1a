package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/chaos/proxy"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// C5: every fault at every statement of what changes a queue. The change is made and told, or an error is told and nothing
// is changed; asked again it is made once: settings, reason, rate and audit together.
func TestEveryFaultAtEveryStatementOfQueues(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	p, err := proxy.New(n.db.Address())
	must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	writer, err := tx.Open(n.db.DSNThrough(p.Addr())+"&readTimeout=5s", 2)
	must(t, err)
	t.Cleanup(func() { _ = writer.Close() })
	n.Server.Writer = writer
	const settings = `{"open_tasks_max":1000,"running_attempts_max":1000%s}`
	state := func() (out string) {
		must(t, n.db.QueryRow(`SELECT CONCAT(q.paused, q.draining, q.rate_limited, ' holds ', (SELECT COUNT(*) FROM queue_hold), ' rates ', (SELECT COUNT(*) FROM queue_rate), ' version ', q.version,
			' audits ', (SELECT COUNT(*) FROM audit WHERE subject = 'queue:work')) FROM queue q`).Scan(&out))
		return out
	}
	var lines []string
	for _, op := range []struct{ name, method, path, body string }{
		{"pause", "POST", "/v1/queues/work/pause", `{"reason":"r"}`}, {"drain", "POST", "/v1/queues/work/drain", `{"reason":"r"}`},
		{"rate", "PUT", "/v1/queues/work", fmt.Sprintf(settings, `,"rate":{"tokens":1,"period_ms":1000,"burst":1}`)},
	} {
		reset := func() {
			p.ClearRules()
			n.post("/v1/queues/work/resume", `{"reason":"r"}`).is(200)
			n.do(call{method: "PUT", path: "/v1/queues/work", body: fmt.Sprintf(settings, "")}).is(200)
		}
		run := func() answer { return n.do(call{method: op.method, path: op.path, body: op.body}) }
		changed := func(before string) bool {
			var version, audits int
			var words [3]string
			_, err := fmt.Sscanf(before, "%s holds %s rates %s version %d audits %d", &words[0], &words[1], &words[2], &version, &audits)
			must(t, err)
			now := state()
			if now == before {
				return false
			}
			want := map[string]string{"pause": "100 holds 1 rates 0", "drain": "010 holds 1 rates 0", "rate": "001 holds 0 rates 1"}[op.name]
			if now != fmt.Sprintf("%s version %d audits %d", want, version+1, audits+1) {
				t.Fatalf("%s left %s after %s", op.name, now, before)
			}
			return true
		}
		reset()
		run().is(200)
		reset()
		p.ResetCounters()
		run().is(200)
		sites, count := len(p.Statements()), 0
		for _, s := range p.Statements() {
			queueSites.Add(s.Text)
		}
		for _, rule := range []proxy.Rule{
			{Do: proxy.Fail, Code: 1213, Rollback: true}, {Do: proxy.Fail, Code: 1205}, {Do: proxy.Fail, Code: 1290}, {Do: proxy.Fail, Code: 3819}, {Do: proxy.Cut}, {When: proxy.Answered, Do: proxy.Cut},
		} {
			for site := range sites {
				reset()
				before := state()
				p.ResetCounters()
				rule.After, rule.Times = site, 1
				fired := p.SetRule(rule)
				got := run()
				p.ClearRules()
				count++
				if done := changed(before); fired.Fired() != 1 || done != (got.status == 200) || got.status != 200 && got.status < 500 {
					t.Fatalf("%s, %+v: fired %d, answered %d %s, changed %v", op.name, rule, fired.Fired(), got.status, got.body, done)
				}
				if run().is(200); !changed(before) {
					t.Fatalf("%s, %+v: asked again it changes nothing", op.name, rule)
				}
			}
		}
		lines = append(lines, fmt.Sprintf("%s %d × 6 = %d", op.name, sites, count))
	}
	t.Logf("sites × faults, violations 0: %s", strings.Join(lines, "; "))
	queueSites.Keep(t, "queues")
	var q httpapi.Queue
	n.get("/v1/queues/work").is(200).into(&q)
}
