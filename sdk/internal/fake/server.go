// Package fake is an HTTP server for the SDK's own tests. It keeps tasks in memory and follows the contract of
// api/openapi.yaml as far as a client can see it: frozen receipts, fenced attempts, late evidence, long polls. It can
// lose answers, which a real server does only by accident.
package fake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// Server is the fake. Its fields may be set before the first request.
type Server struct {
	URL       string
	RoundTrip time.Duration // what every answer takes at least, as a real server's transaction would

	t        testing.TB
	mu       sync.Mutex
	receipts map[string]stored // by submit key, start key or idempotency key
	tasks    map[string]*Task
	queue    []*Task
	arrived  chan struct{}                 // closed and replaced when a task can be claimed
	claimed  map[string][]rest.ClaimedTask // by claim key
	faults   []Fault
	requests []Request
	inFlight int
	inMost   int
}

// Request is what the server saw.
type Request struct {
	Method, Path, Key, ContentType string
	Body                           []byte
}

// Fault is one misfortune of the next request to Path.
type Fault struct {
	Path   string
	Before bool   // the request is not carried out
	Status int    // answered instead; 0 cuts the connection
	Body   string // problem document
	Header http.Header
}

type stored struct {
	body    string
	receipt []byte
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{t: t, receipts: map[string]stored{}, tasks: map[string]*Task{}, claimed: map[string][]rest.ClaimedTask{}, arrived: make(chan struct{})}
	h := httptest.NewServer(s.counted(s.routes()))
	s.URL = h.URL
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return s
}

// Misfortune makes the next requests fail, in order, each once.
func (s *Server) Misfortune(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Requests are all requests to path so far.
func (s *Server) Requests(path string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Request
	for _, r := range s.requests {
		if r.Path == path {
			out = append(out, r)
		}
	}
	return out
}

// InFlightMost is how many requests there were at the same time at most.
func (s *Server) InFlightMost() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inMost
}

func (s *Server) counted(next http.Handler) http.Handler {
	count := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight += n
		s.inMost = max(s.inMost, s.inFlight)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count(1)
		defer count(-1)
		next.ServeHTTP(w, r)
	})
}

func (s *Server) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("POST /v1/tasks", s.command(func(_ *http.Request, body []byte) (int, any) { return s.submit(body) }))
	m.HandleFunc("POST /v1/task-batches", s.command(func(_ *http.Request, body []byte) (int, any) { return s.submitBatch(body) }))
	m.HandleFunc("GET /v1/tasks", s.command(func(r *http.Request, _ []byte) (int, any) { return s.list(r) }))
	m.HandleFunc("GET /v1/tasks/{id}", s.command(func(r *http.Request, _ []byte) (int, any) { return s.get(r.PathValue("id")) }))
	m.HandleFunc("GET /v1/tasks/{id}/result", s.command(func(r *http.Request, _ []byte) (int, any) { return s.result(r.PathValue("id")) }))
	m.HandleFunc("POST /v1/tasks/{id}/cancel", s.command(func(r *http.Request, _ []byte) (int, any) { return s.cancel(r) }))
	m.HandleFunc("POST /v1/workflows", s.command(func(_ *http.Request, body []byte) (int, any) { return s.publish(body) }))
	m.HandleFunc("POST /v1/claims", s.claims)
	m.HandleFunc("POST /v1/lease-renewals", s.command(func(_ *http.Request, body []byte) (int, any) { return s.renew(body) }))
	m.HandleFunc("POST /v1/completions", s.command(func(_ *http.Request, body []byte) (int, any) { return s.complete(body) }))
	// What is not played here can still be scripted, by a Fault with the answer.
	m.HandleFunc("/v1/", s.command(func(*http.Request, []byte) (int, any) {
		return http.StatusNotFound, map[string]any{"code": "route_not_found"}
	}))
	return m
}

// command wraps an operation that answers at once: records it, plays the planned misfortune, answers.
func (s *Server) command(do func(*http.Request, []byte) (int, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, fault := s.take(r)
		if fault != nil && fault.Before {
			fault.play(w)
			return
		}
		time.Sleep(s.RoundTrip)
		s.mu.Lock()
		status, answer := do(r, body)
		s.mu.Unlock()
		if fault != nil {
			fault.play(w)
			return
		}
		write(w, status, answer)
	}
}

func (s *Server) take(r *http.Request) ([]byte, *Fault) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("reading %s: %v", r.URL.Path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("Content-Type"), body})
	for i, f := range s.faults {
		if f.Path == r.URL.Path {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			return body, &f
		}
	}
	return body, nil
}

func (f *Fault) play(w http.ResponseWriter) {
	if f.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, values := range f.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(f.Status)
	_, _ = io.WriteString(w, f.Body) // the client may be gone
}

func write(w http.ResponseWriter, status int, answer any) {
	kind := "application/json"
	if p, ok := answer.(problem); ok {
		kind, status = "application/problem+json", p.Status
	}
	if a, ok := answer.(again); ok {
		w.Header().Set("Orbit-Replayed", "true")
		answer = json.RawMessage(a)
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	text := []byte(nil)
	if raw, ok := answer.(Raw); ok {
		text = []byte(raw)
	} else {
		text = encode(answer)
	}
	_, _ = w.Write(text) // the client may be gone
}

// again is a stored receipt.
type again json.RawMessage

type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`
}

func refuse(status int, code string) problem {
	return problem{Type: "/problems/" + code, Title: code, Status: status, Code: code}
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("the fake cannot encode %T: %v", v, err))
	}
	return text
}
