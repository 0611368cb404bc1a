package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api"
	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/engine/pulse"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// 64 equal submissions at once: one task, 64 equal receipts (C45, T10).
func TestEqualSubmissionsRaceToOneReceipt(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	answers := make([]answer, 64)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = n.post("/v1/tasks", fmt.Sprintf(submission, "same", `{"n":1}`)) })
	}
	wg.Wait()
	fresh := 0
	for _, a := range answers {
		if a.is(201); !bytes.Equal(a.body, answers[0].body) {
			t.Errorf("two receipts: %s %s", a.body, answers[0].body)
		}
		if a.header.Get("Orbit-Replayed") == "" {
			fresh++
		}
	}
	if fresh != 1 || n.rows()["task"] != 1 {
		t.Errorf("%d answers say first, %d tasks", fresh, n.rows()["task"])
	}
}

// A claim that waits is answered at once by a submission, and with nothing when the node drains.
func TestLongPollsWakeAndDrain(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	waiting := strings.Replace(claim, `"max_tasks":8`, `"max_tasks":1,"wait_ms":20000`, 1)
	wait := func() chan httpapi.ClaimResult {
		out := make(chan httpapi.ClaimResult, 1)
		go func() {
			var r httpapi.ClaimResult
			n.post("/v1/claims", waiting).into(&r)
			out <- r
		}()
		time.Sleep(100 * time.Millisecond)
		return out
	}
	first := wait()
	start := time.Now()
	n.post("/v1/tasks", fmt.Sprintf(submission, "k", "1")).is(201)
	if r := <-first; len(r.Tasks) != 1 || time.Since(start) > 3*time.Second {
		t.Errorf("%d tasks after %s", len(r.Tasks), time.Since(start))
	}
	second := wait()
	start = time.Now()
	n.Drain()
	n.Drain()
	if r := <-second; len(r.Tasks) != 0 || r.Tasks == nil || time.Since(start) > time.Second {
		t.Errorf("a drained claim: %v after %s", r.Tasks, time.Since(start))
	}
}

// Serve ends in order: unready first, open requests finish, then the listener closes (C10).
func TestServeDrainsInOrder(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	n.url = "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Serve(ctx, l, 300*time.Millisecond, 5*time.Second) }()
	n.get("/readyz").is(200)
	stop()
	time.Sleep(50 * time.Millisecond)
	n.get("/readyz").is(503)
	n.get("/v1/queues").is(200) // still served while balancers look away
	must(t, <-ended)
}

// A body that trickles is cut, and costs its connection (C51).
func TestASlowBodyIsCut(t *testing.T) {
	n := newNode(t, func(o *api.Options) { o.BodyTime = 300 * time.Millisecond })
	n.queue("work")
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(n.url, "http://"))
	must(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", n.admin.Key.Text())
	must(t, err)
	start := time.Now()
	must(t, conn.SetReadDeadline(start.Add(5*time.Second)))
	got, err := io.ReadAll(conn)
	must(t, err)
	if !strings.Contains(string(got), "408") || !strings.Contains(string(got), "request_timeout") || time.Since(start) > 3*time.Second {
		t.Errorf("after %s: %s", time.Since(start), got)
	}
}

// panicking is a Pulse with a bug.
type panicking struct{ api.Lanes }

func (panicking) Renew(context.Context, auth.Caller, []pulse.Renewal) []pulse.RenewalOutcome {
	panic("SELECT secret")
}

// A bug in one request is a 500 without its inside; the node goes on (C12).
func TestAPanicIsA500(t *testing.T) {
	n := newNode(t, func(o *api.Options) { o.Pulse = panicking{} })
	token := pulse.LeaseToken{Queue: 1}.Text()
	body := fmt.Sprintf(`{"items":[{"task_id":"task_%032d","attempt_no":1,"token":%q,"extend_ms":1000}]}`, 0, token)
	got := n.post("/v1/lease-renewals", body).is(500)
	if p := got.problem(); p.Code != "internal" || strings.Contains(string(got.body), "secret") {
		t.Errorf("%s", got.body)
	}
	if !strings.Contains(n.log.String(), "SELECT secret") || !strings.Contains(n.log.String(), "goroutine") {
		t.Error("the log hides the panic")
	}
	if strings.Contains(n.log.String(), n.admin.Key.Text()[40:]) {
		t.Error("the log shows a key")
	}
	n.get("/v1/queues").is(200)
}

func TestAFullNodeRefusesAndSaysWhen(t *testing.T) {
	n := newNode(t, func(o *api.Options) { o.InFlightMax = 1 })
	n.queue("work")
	go n.post("/v1/claims", strings.Replace(claim, `"max_tasks":8`, `"max_tasks":1,"wait_ms":2000`, 1))
	time.Sleep(200 * time.Millisecond)
	got := n.get("/v1/queues").is(429)
	if p := got.problem(); p.Code != "node_full" || got.header.Get("Retry-After") != "1" {
		t.Errorf("%s", got.body)
	}
	n.Drain()
	time.Sleep(200 * time.Millisecond)
}
