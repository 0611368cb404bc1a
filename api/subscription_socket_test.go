package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/orbitrun/orbit/api"
	"github.com/orbitrun/orbit/api/auth"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// overBoth runs one scenario of consuming over each transport: the rules are those of the subscription, not of the wire.
func overBoth(t *testing.T, scenario func(*testing.T, *node)) {
	for name, socket := range map[string]bool{"http": false, "websocket": true} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.socket = socket
			scenario(t, n)
		})
	}
}

// framesOf is what a server may send.
type framesOf struct {
	ID         int64                     `json:"id"`
	Deliveries *httpapi.Pulled           `json:"deliveries"`
	Outcomes   *httpapi.DeliveryOutcomes `json:"outcomes"`
	Stopped    *struct{}                 `json:"stopped"`
	Problem    *httpapi.Problem          `json:"problem"`
}

type wire struct {
	*node
	conn *websocket.Conn
}

// dial opens a socket with the administrator's key or another.
func (n *node) dial(name, key string) (wire, *http.Response, error) {
	n.Helper()
	if key == "" {
		key = n.admin.Key.Text()
	}
	ctx, cancel := context.WithTimeout(n.Context(), 10*time.Second)
	defer cancel()
	conn, response, err := websocket.Dial(ctx, n.url+"/v1/subscriptions/"+name+"/socket", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + key}}})
	if err == nil {
		conn.SetReadLimit(32 << 20)
	}
	return wire{n, conn}, response, err
}

func (n *node) open(name string) wire {
	n.Helper()
	w, _, err := n.dial(name, "")
	must(n, err)
	return w
}

func (w wire) send(text string) {
	w.Helper()
	must(w, w.conn.Write(w.Context(), websocket.MessageText, []byte(text)))
}

// next reads a frame; false when none came in time, after which the socket is dead.
func (w wire) next(wait time.Duration) (framesOf, error) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), wait)
	defer cancel()
	_, text, err := w.conn.Read(ctx)
	var f framesOf
	if err == nil {
		must(w, json.Unmarshal(text, &f))
	}
	return f, err
}

func (w wire) must(wait time.Duration) framesOf {
	w.Helper()
	f, err := w.next(wait)
	must(w, err)
	return f
}

// pushed is a pull over a socket of its own: the first deliveries, or nothing for as long as a pull would wait. Who got
// nothing leaves by a stop, so that nothing is handed to a socket that is gone.
func (n *node) pushed(name, consumer string, holding int64, most int, wait time.Duration) httpapi.Pulled {
	n.Helper()
	w := n.open(name)
	defer func() { _ = w.conn.CloseNow() }()
	w.send(fmt.Sprintf(`{"id":1,"follow":{"consumer":%q,"holding_through":%d,"credit":%d}}`, consumer, holding, most))
	leave := time.AfterFunc(max(wait, 60*time.Millisecond), func() {
		_ = w.conn.Write(n.Context(), websocket.MessageText, []byte(`{"id":2,"stop":{}}`)) // the deliveries may have come first
	})
	defer leave.Stop()
	f := w.must(wait + 20*time.Second)
	switch {
	case f.Deliveries != nil:
		return *f.Deliveries
	case f.Stopped == nil:
		n.Fatalf("got %+v", f)
	}
	return httpapi.Pulled{}
}

func (n *node) framed(name, verb, body string) httpapi.DeliveryOutcomes {
	n.Helper()
	w := n.open(name)
	defer func() { _ = w.conn.CloseNow() }()
	w.send(fmt.Sprintf(`{"id":7,%q:%s}`, verb, body))
	f := w.must(10 * time.Second)
	if f.ID != 7 || f.Outcomes == nil {
		n.Fatalf("answered %+v", f)
	}
	return *f.Outcomes
}

// One socket pushes as far as its credit and the window reach, in order, and goes on with every acknowledgement.
func TestASocketPushesAsFarAsItsCredit(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("s", `{"queues":["work"],"window":8}`)
	w := n.open("s")
	w.send(`{"id":1,"follow":{"consumer":"a","credit":3}}`)
	n.finish("work", 20)
	last, count := int64(0), 0
	var open []httpapi.Delivery
	for count < 20 {
		f := w.must(5 * time.Second)
		if f.Deliveries == nil {
			continue // the answer to an acknowledgement
		}
		for _, d := range f.Deliveries.Items {
			if d.Seq != last+1 {
				t.Fatalf("%d after %d", d.Seq, last)
			}
			last, count, open = d.Seq, count+1, append(open, d)
		}
		if len(open) > 3 {
			t.Fatalf("%d are open with a credit of 3", len(open))
		}
		for _, d := range open {
			w.send(fmt.Sprintf(`{"id":%d,"acks":{"items":[{"seq":%d,"generation":%d,"proof":%q}]}}`, d.Seq, d.Seq, d.Generation, d.Proof))
		}
		open = nil
	}
	for settled := int64(0); settled < 20; { // the last answers; they come in order
		if f := w.must(5 * time.Second); f.Outcomes != nil {
			settled = f.Outcomes.SettledThrough
		}
	}
	n.expect("settled", n.subscription("s").SettledThrough, 20)
	_ = w.conn.CloseNow()
	n.finish("work", 1)
	again := n.open("s")
	again.send(`{"id":1,"follow":{"consumer":"a","holding_through":20,"credit":3}}`)
	n.expect("a new socket goes on", again.must(5 * time.Second).Deliveries.Items[0].Seq, 21)
}

// What a socket says about itself: every refusal as over HTTP, with the same codes, and nothing is done.
func TestASocketRefusesByName(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("s", `{}`)
	n.finish("work", 2)
	for name, c := range map[string]struct {
		subscription, key string
		status            int
	}{"nowhere": {"nowhere", "", 404}, "no key": {"s", "orb_x", 401}, "another scope": {"s", n.key("tasks:read").Key.Text(), 403}} {
		_, response, err := n.dial(c.subscription, c.key)
		if err == nil || response == nil || response.StatusCode != c.status {
			t.Errorf("%s: %v %v", name, response, err)
		}
	}
	if p := n.get("/v1/subscriptions/s/socket").is(426).problem(); p.Code != "upgrade_required" {
		t.Errorf("refused with %s", p.Code)
	}
	w := n.open("s")
	for text, want := range map[string]string{
		`{"id":3}`:           "frame_invalid",
		`{"id":3,"seek":{}}`: "frame_invalid",
		`{"id":3,"follow":{"consumer":"a","credit":1},"acks":{"items":[]}}`:                                      "frame_invalid",
		`{"id":3,"follow":{"consumer":"a","credit":0}}`:                                                          "field_range",
		`{"id":3,"acks":{"items":[{"seq":1,"generation":1}]}}`:                                                   "field_missing",
		`{"id":3,"acks":{"items":[{"seq":1,"generation":1,"proof":"` + strings.Repeat("0", 32) + `","Seq":2}]}}`: "field_unknown",
	} {
		w.send(text)
		if f := w.must(5 * time.Second); f.ID != 3 && f.ID != 0 || f.Problem == nil || f.Problem.Code != want && (f.Problem.Errors == nil || (*f.Problem.Errors)[0].Code != want) {
			t.Errorf("%s is answered %+v, want %s", text, f.Problem, want)
		}
	}
	w.send(`{"id":1,"follow":{"consumer":"a","credit":1}}`)
	w.must(5 * time.Second)
	w.send(`{"id":2,"follow":{"consumer":"a","credit":1}}`)
	if f := w.must(5 * time.Second); f.Problem == nil || f.Problem.Code != "frame_unexpected" {
		t.Errorf("a second follow is answered %+v", f)
	}
	w.send(`{`)
	if f := w.must(5 * time.Second); f.Problem == nil {
		t.Errorf("no JSON is answered %+v", f)
	}
	w.send(`{"id":9,"acks":{"items":[{"seq":1,"generation":1,"proof":"` + strings.Repeat("x", 200<<10) + `"}]}}`)
	if _, err := w.next(5 * time.Second); err == nil {
		t.Error("a frame above the bound was read")
	}
}

// Who leaves says so, gets what was handed out until then, and gives it back: the next consumer has it at once.
func TestASocketStopsWithoutLosingAnything(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("s", `{}`)
	w := n.open("s")
	w.send(`{"id":1,"follow":{"consumer":"a","credit":64}}`)
	n.finish("work", 5)
	w.send(`{"id":2,"stop":{}}`)
	var hand []string
	stopped := false
	for !stopped {
		f := w.must(5 * time.Second)
		if f.Deliveries != nil {
			for _, d := range f.Deliveries.Items {
				hand = append(hand, fmt.Sprintf(`{"seq":%d,"generation":%d,"proof":%q,"returned":true}`, d.Seq, d.Generation, d.Proof))
			}
		}
		stopped = f.Stopped != nil
	}
	if len(hand) > 0 {
		w.send(`{"id":3,"nacks":{"items":[` + strings.Join(hand, ",") + `]}}`)
		if f := w.must(5 * time.Second); f.Outcomes == nil || f.Outcomes.Items[0].Outcome != "POSTPONED" {
			t.Errorf("answered %+v", f)
		}
	}
	n.expect("the next consumer", len(n.pull("s", "b", 0, 64, 0).Items), 5)
}

// A key that is revoked while its socket waits gets nothing more (T21).
func TestARevokedKeyEndsItsSocket(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("s", `{}`)
	issued := n.key(auth.ScopeSubscriptionsConsume)
	w, _, err := n.dial("s", issued.Key.Text())
	must(t, err)
	w.send(`{"id":1,"follow":{"consumer":"a","credit":256}}`)
	n.finish("work", 1)
	if f := w.must(5 * time.Second); len(f.Deliveries.Items) != 1 {
		t.Fatalf("got %+v", f)
	}
	_, err = n.db.ExecContext(t.Context(), "UPDATE credential SET revoked_at = NOW(6) WHERE credential_id = ?", issued.ID) // as another node would
	must(t, err)
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		n.finish("work", 1)
		f, err := w.next(15 * time.Second)
		if err != nil {
			t.Fatalf("the socket ended without a word: %v", err)
		}
		if f.Problem != nil {
			n.expect("refused", f.Problem.Code, "credential_revoked")
			if _, err := w.next(5 * time.Second); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
				t.Errorf("ended with %v", err)
			}
			return
		}
	}
	t.Error("a revoked key still gets results")
}

// A draining node ends its sockets so that their consumers go elsewhere.
func TestADrainingNodeEndsItsSockets(t *testing.T) {
	n := newNode(t)
	n.subscribe("s", `{}`)
	w := n.open("s")
	w.send(`{"id":1,"follow":{"consumer":"a","credit":4}}`)
	time.Sleep(50 * time.Millisecond)
	n.measured("orbit_sockets", "1")
	n.Drain()
	if _, err := w.next(5 * time.Second); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("ended with %v", err)
	}
	for n.Sockets() > 0 {
		time.Sleep(time.Millisecond)
	}
	n.measured("orbit_sockets", "0")
}

// A socket counts as one request that switched protocols; how long it lived is no time of an answer.
func TestASocketIsNotMeasuredAsAnAnswer(t *testing.T) {
	n := newNode(t)
	n.subscribe("s", `{}`)
	_ = n.open("s").conn.CloseNow()
	for began := time.Now(); n.Sockets() > 0 && time.Since(began) < 5*time.Second; {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	n.measured(`orbit_http_requests_total{operation="openSubscriptionSocket",status="101"}`, "1")
	n.measured(`orbit_http_request_seconds_count{operation="openSubscriptionSocket"}`, "")
}

// measured demands the value of a series; none: that it does not exist.
func (n *node) measured(series, want string) {
	n.Helper()
	answer := httptest.NewRecorder()
	n.Metrics.Admin(false).ServeHTTP(answer, httptest.NewRequestWithContext(n.Context(), "GET", "/metrics", nil))
	got := ""
	for line := range strings.Lines(answer.Body.String()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), series+" "); ok && name == "" {
			got = value
		}
	}
	n.expect(series, got, want)
}

// A consumer that comes back under its name ends its forerunner, which would be handed results in its name; another
// consumer's socket stays.
func TestAConsumerHasOneSocket(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("s", `{"in_order":false}`)
	other, first, second := n.open("s"), n.open("s"), n.open("s")
	other.send(`{"id":1,"follow":{"consumer":"b","credit":1}}`)
	first.send(`{"id":1,"follow":{"consumer":"a","credit":8}}`)
	time.Sleep(50 * time.Millisecond)
	second.send(`{"id":1,"follow":{"consumer":"a","credit":8}}`)
	if f := first.must(5 * time.Second); f.Problem == nil || f.Problem.Code != "consumer_replaced" {
		t.Errorf("the first socket got %+v", f)
	}
	if _, err := first.next(5 * time.Second); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("the first socket ended with %v", err)
	}
	n.finish("work", 9)
	seen := map[int64]int64{}
	for _, take := range []struct {
		wire
		credit int
	}{{other, 1}, {second, 8}} {
		for got := 0; got < take.credit; {
			for _, d := range take.must(5 * time.Second).Deliveries.Items {
				seen[d.Seq], got = d.Generation, got+1
			}
		}
	}
	n.expect("each of them once", seen, "map[1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1]")
	_ = second.conn.CloseNow()
	for began := time.Now(); n.Sockets() > 1 && time.Since(began) < 5*time.Second; {
		time.Sleep(time.Millisecond)
	}
	third := n.open("s")
	third.send(`{"id":1,"follow":{"consumer":"a","credit":8}}`)
	time.Sleep(50 * time.Millisecond)
	n.finish("work", 1)
	n.expect("the name is free again", third.must(5 * time.Second).Deliveries.Items[0].Seq, 10)
}

// A peer that takes nothing is cut, and what was handed out to it goes to the next one when its time is over.
func TestASocketThatIsNotReadIsCut(t *testing.T) {
	n := newNode(t, func(o *api.Options) { o.Timeout = time.Second })
	n.queue("work")
	n.subscribe("s", `{"ack_timeout_ms":1000}`)
	n.finishWith("work", 64, `"`+strings.Repeat("x", 200<<10)+`"`)
	w := n.open("s")
	w.send(`{"id":1,"follow":{"consumer":"a","credit":64}}`)
	for began := time.Now(); n.Sockets() > 0; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the socket stands")
		}
	}
	n.expect("the next consumer", n.pull("s", "b", 0, 1, 5*time.Second).Items[0].Generation, 2)
}

// Large results come in frames of a bounded length, in order, each complete in itself.
func TestLargeResultsComeInSeveralFrames(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("s", `{}`)
	n.finishWith("work", 32, `"`+strings.Repeat("x", 200<<10)+`"`)
	w := n.open("s")
	w.send(`{"id":1,"follow":{"consumer":"a","credit":32}}`)
	frames := 0
	for last := int64(0); last < 32; frames++ {
		p := w.must(5 * time.Second).Deliveries
		size := 0
		for _, d := range p.Items {
			n.expect("the next one", d.Seq, last+1)
			last, size = d.Seq, size+len(d.Output)
		}
		if size > 1<<20 || p.Epoch != 1 || !p.InOrder {
			t.Errorf("a frame of %d bytes: epoch %d", size, p.Epoch)
		}
	}
	if frames < 7 {
		t.Errorf("%d frames for 6.4 MB", frames)
	}
}

// A node that shuts down answers what its sockets are asking, and waits for them.
func TestAShutdownWaitsForSockets(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("s", `{}`)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Serve(ctx, l, 0, 5*time.Second) }()
	n.url = "http://" + l.Addr().String()
	w := n.open("s")
	w.send(`{"id":1,"follow":{"consumer":"a","credit":4}}`)
	time.Sleep(50 * time.Millisecond)
	stop()
	if _, err := w.next(5 * time.Second); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("ended with %v", err)
	}
	if err := <-done; err != nil || n.Sockets() != 0 {
		t.Errorf("the node ended with %v and %d sockets", err, n.Sockets())
	}
}

// The answer to a consumer is lost on the way. It comes back under its name, says what it holds, and has the rest at once
// with a new generation; the proof it never saw is void. Another consumer has to wait for the order.
func TestALostAnswerIsResumedAtOnce(t *testing.T) {
	overBoth(t, func(t *testing.T, n *node) {
		n.queue("work")
		n.subscribe("s", `{}`)
		n.finish("work", 5)
		held := n.pull("s", "a", 0, 2, 0).Items
		lost := n.pull("s", "a", held[1].Seq, 3, 0).Items
		n.expect("another", len(n.pull("s", "b", 0, 5, 0).Items), 0)
		again := n.pull("s", "a", held[1].Seq, 5, 0).Items
		n.expect("again", []any{len(again), again[0].Seq, again[0].Generation, again[2].Generation, again[0].PreviousHash == held[1].Hash}, "[3 3 2 2 true]")
		words, answer := n.settle("s", "acks", "", held[0], held[1], lost[0], again[1], again[2])
		n.expect("settled", []any{words, answer.PendingCount, answer.SettledThrough}, "[ACKNOWLEDGED ACKNOWLEDGED SUPERSEDED ACKNOWLEDGED ACKNOWLEDGED 1 2]")
		words, answer = n.settle("s", "acks", "", again...)
		n.expect("the rest", []any{words, answer.PendingCount, answer.SettledThrough}, "[ACKNOWLEDGED ACKNOWLEDGED ACKNOWLEDGED 0 5]")
	})
}

// refusal is what a key is answered that wants results: at the door, or when it is judged again while it waits.
func (n *node) refusal(name, key string, meanwhile func()) string {
	n.Helper()
	if !n.socket {
		answered := make(chan answer, 1)
		go func() {
			answered <- n.do(call{method: "POST", path: "/v1/subscriptions/" + name + "/pull", key: key, body: `{"consumer":"c","max":1,"wait_ms":20000}`})
		}()
		time.Sleep(100 * time.Millisecond)
		meanwhile()
		return (<-answered).problem().Code
	}
	w, response, err := n.dial(name, key)
	if err != nil {
		var p httpapi.Problem
		must(n, json.NewDecoder(response.Body).Decode(&p))
		return p.Code
	}
	w.send(`{"id":1,"follow":{"consumer":"c","credit":1}}`)
	time.Sleep(100 * time.Millisecond)
	meanwhile()
	f := w.must(15 * time.Second)
	if f.Problem == nil {
		n.Fatalf("got %+v", f)
	}
	return f.Problem.Code
}

// A key is refused by the same codes over each transport: unknown, of another scope, expired, revoked before or while it
// waits (T21). Nothing was handed out.
func TestKeysAreRefusedAlikeOverEachTransport(t *testing.T) {
	overBoth(t, func(t *testing.T, n *node) {
		n.queue("work")
		n.subscribe("s", `{}`)
		set := func(id uint64, column string) {
			_, err := n.db.ExecContext(t.Context(), "UPDATE credential SET "+column+" = NOW(6) WHERE credential_id = ?", id) // as another node would
			must(t, err)
		}
		nothing := func() {}
		expired, revoked, waiting := n.key(auth.ScopeSubscriptionsConsume), n.key(auth.ScopeSubscriptionsConsume), n.key(auth.ScopeSubscriptionsConsume)
		set(expired.ID, "expires_at")
		set(revoked.ID, "revoked_at")
		n.expect("unknown", n.refusal("s", "orb_x", nothing), "credential_invalid")
		n.expect("another scope", n.refusal("s", n.key(auth.ScopeSubscriptionsManage).Key.Text(), nothing), "scope_missing")
		n.expect("expired", n.refusal("s", expired.Key.Text(), nothing), "credential_expired")
		n.expect("revoked", n.refusal("s", revoked.Key.Text(), nothing), "credential_revoked")
		n.expect("nobody", n.refusal("nowhere", "", nothing), "subscription_not_found")
		n.expect("revoked while it waits", n.refusal("s", waiting.Key.Text(), func() { set(waiting.ID, "revoked_at") }), "credential_revoked")
		n.finish("work", 1)
		n.expect("nothing was handed out", n.pull("s", "other", 0, 1, time.Second).Items[0].Generation, 1)
	})
}
