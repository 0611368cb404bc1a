package stream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/stream"
)

// server is one subscription in memory, in order, as a consumer sees it through the contract of api/openapi.yaml.
type server struct {
	*orbit.Client
	mu       sync.Mutex
	results  []orbit.Delivery
	settled  int             // results that are acknowledged; the rest is outstanding or new
	given    map[int64]int64 // generations
	holder   string
	due      time.Time // before it the first unsettled result is not given out
	returned int
	pulls    int
	fault    func(path string) int // status answered instead of doing it; 0: none
	loseAck  bool                  // the next acknowledgement is done and its answer lost
	sockets  bool                  // sockets can be had
	opened   int
	cutAt    int64 // the socket is cut once, after this number was pushed
}

func newServer(t *testing.T, results int) *server {
	s := &server{given: map[int64]int64{}}
	link := strings.Repeat("0", 64)
	for i := range results {
		d := orbit.Delivery{Seq: int64(i + 1), PreviousSeq: int64(i), ApplicationID: "app_0000000000000001", QueueID: "queue_0000000000000002",
			TaskID: fmt.Sprintf("task_%032x", i), State: "SUCCEEDED", StateVersion: 3, Output: json.RawMessage(`{"n":1.10}`), PreviousHash: link}
		var err error
		if d.Hash, err = stream.Link(&d); err != nil {
			t.Fatal(err)
		}
		link = d.Hash
		s.results = append(s.results, d)
	}
	h := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(h.Close)
	var err error
	if s.Client, err = orbit.New(h.URL, "orb_key", orbit.WithLogger(slog.New(slog.DiscardHandler))); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	verb := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if verb == "socket" && s.sockets {
		s.mu.Unlock()
		s.serveSocket(w, r)
		s.mu.Lock()
		return
	}
	if s.fault != nil {
		if status := s.fault(verb); status != 0 {
			http.Error(w, "", status)
			return
		}
	}
	var answer any
	switch verb {
	case "pull":
		answer = s.pull(body)
	case "acks":
		answer = s.claims(body, func(orbit.Nack) { s.settled++ }, orbit.DeliveryAcknowledged)
		if s.loseAck {
			s.loseAck = false
			http.Error(w, "", http.StatusBadGateway)
			return
		}
	case "nacks":
		answer = s.claims(body, nil, orbit.DeliveryPostponed)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *server) pull(body []byte) orbit.Pulled {
	var r orbit.PullRequest
	_ = json.Unmarshal(body, &r)
	s.pulls++
	out := orbit.Pulled{Epoch: 1, InOrder: true, SettledThrough: int64(s.settled)}
	if time.Now().Before(s.due) || s.holder != "" && s.holder != r.Consumer {
		time.Sleep(time.Millisecond)
		return out
	}
	for i := s.settled; i < min(s.settled+r.Max, len(s.results)); i++ {
		d := s.results[i]
		s.given[d.Seq]++
		d.Generation, d.Proof = s.given[d.Seq], fmt.Sprint(d.Seq, ".", s.given[d.Seq])
		out.Items = append(out.Items, d)
		s.holder = r.Consumer
	}
	return out
}

func (s *server) claims(body []byte, settle func(orbit.Nack), outcome string) any {
	var r struct {
		Items []struct {
			Seq      int64  `json:"seq"`
			Proof    string `json:"proof"`
			DelayMS  int64  `json:"delay_ms"`
			Returned bool   `json:"returned"`
		} `json:"items"`
	}
	_ = json.Unmarshal(body, &r)
	var out []orbit.DeliveryOutcome
	for _, c := range r.Items {
		o := orbit.DeliveryOutcome{Seq: c.Seq, Outcome: outcome}
		switch {
		case c.Seq <= int64(s.settled):
			o.Outcome = orbit.DeliveryAcknowledged
		case c.Proof != fmt.Sprint(c.Seq, ".", s.given[c.Seq]):
			o.Outcome = orbit.DeliverySuperseded
		case settle != nil:
			settle(orbit.Nack{})
		default:
			s.holder = ""
			if c.Returned {
				s.returned++
			} else {
				s.due = time.Now().Add(time.Duration(c.DelayMS) * time.Millisecond)
			}
		}
		out = append(out, o)
	}
	return map[string]any{"items": out, "pending_count": 0, "settled_through": s.settled}
}

// serveSocket pushes as far as the credit reaches and answers requests, as the real server does.
func (s *server) serveSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	following, unfollow := context.WithCancel(ctx)
	defer unfollow()
	var pushing sync.WaitGroup
	s.mu.Lock()
	s.opened++
	s.mu.Unlock()
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var f struct {
			ID     int64                `json:"id"`
			Follow *orbit.FollowRequest `json:"follow"`
			Acks   json.RawMessage      `json:"acks"`
			Nacks  json.RawMessage      `json:"nacks"`
			Stop   *struct{}            `json:"stop"`
		}
		if err := json.Unmarshal(text, &f); err != nil {
			return
		}
		if f.Follow != nil {
			pushing.Go(func() { s.push(following, conn, f.Follow) })
			continue
		}
		if f.Stop != nil {
			unfollow()
			pushing.Wait()
			if conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"stopped":{}}`, f.ID)) != nil {
				return
			}
			continue
		}
		s.mu.Lock()
		var outcomes any
		if f.Acks != nil {
			outcomes = s.claims(f.Acks, func(orbit.Nack) { s.settled++ }, orbit.DeliveryAcknowledged)
		} else {
			outcomes = s.claims(f.Nacks, nil, orbit.DeliveryPostponed)
		}
		lost := s.loseAck
		s.loseAck = false
		s.mu.Unlock()
		if lost {
			return
		}
		answer, _ := json.Marshal(map[string]any{"id": f.ID, "outcomes": outcomes})
		if conn.Write(ctx, websocket.MessageText, answer) != nil {
			return
		}
	}
}

func (s *server) push(ctx context.Context, conn *websocket.Conn, f *orbit.FollowRequest) {
	sent := int64(0)
	for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		out := s.pull(fmt.Appendf(nil, `{"consumer":%q,"max":%d}`, f.Consumer, f.Credit))
		for len(out.Items) > 0 && out.Items[0].Seq <= sent { // in the client's hand already
			s.given[out.Items[0].Seq]--
			out.Items = out.Items[1:]
		}
		cut := false
		if n := len(out.Items); n > 0 {
			sent = out.Items[n-1].Seq
			if cut = s.cutAt > 0 && sent >= s.cutAt; cut {
				s.cutAt = 0
			}
		}
		s.mu.Unlock()
		if len(out.Items) == 0 {
			continue
		}
		text, _ := json.Marshal(map[string]any{"deliveries": out})
		if conn.Write(ctx, websocket.MessageText, text) != nil || cut {
			_ = conn.CloseNow()
			return
		}
	}
}
