package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/orbitrun/orbit/api"
	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/dbtest"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/telemetry"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// node is one whole node on a database of its own, with an application that may do everything.
type node struct {
	testing.TB
	*api.Server
	db      *dbtest.DB
	service *auth.Service
	admin   auth.Issued
	log     *bytes.Buffer
	url     string
	socket  bool // consume over WebSockets
}

func newNode(t testing.TB, change ...func(*api.Options)) *node {
	t.Helper()
	d := dbtest.New(t)
	return newNodeOn(t, d, d.DSN(), change...)
}

// newNodeOn writes through an address of its own, which may be disturbed.
func newNodeOn(t testing.TB, d *dbtest.DB, dsn string, change ...func(*api.Options)) *node {
	t.Helper()
	writer, err := tx.Open(dsn, 4)
	must(t, err)
	t.Cleanup(func() { _ = writer.Close() })
	reader, err := tx.OpenReader(d.DSN(), 4)
	must(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	verifier := auth.NewVerifier(reader)
	service := auth.NewService(writer, reader, verifier)
	admin, err := service.Bootstrap(t.Context(), "here", "app", "admin", auth.AllScopes)
	must(t, err)
	set := lane.New(writer, reader, lane.NewWorkflows(writer, "node-1", func(_ uint64, _ engine.ID, err error) { t.Error("workflow:", err) }), lane.Options{OnInternal: func(err error) { t.Error("internal:", err) }})
	t.Cleanup(set.Close)
	n := &node{TB: t, db: d, service: service, admin: admin, log: &bytes.Buffer{}}
	options := api.Options{
		Reader: reader, Writer: writer, Verifier: verifier, Service: service, Queues: api.NewQueues(reader), Pulse: api.Lanes{Set: set},
		Weave: api.Workflows{Set: set, Writer: writer, Reader: reader}, Metrics: telemetry.New("test", "none"),
		Log: slog.New(slog.NewJSONHandler(n.log, nil)), Build: httpapi.Version{Version: "test"},
	}
	for _, f := range change {
		f(&options)
	}
	n.Server, err = api.New(options)
	must(t, err)
	server := httptest.NewUnstartedServer(n.Handler())
	server.Config = n.HTTP(n.Handler())
	server.Start()
	t.Cleanup(server.Close)
	n.url = server.URL
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answer is a whole response.
type answer struct {
	testing.TB
	status int
	header http.Header
	body   []byte
}

type call struct {
	method, path, key, body string
	header                  map[string]string
}

// do sends one request; the key defaults to the administrator's, "-" sends none.
func (n *node) do(c call) answer {
	n.Helper()
	request, err := http.NewRequestWithContext(n.Context(), c.method, n.url+c.path, bytes.NewReader([]byte(c.body)))
	must(n, err)
	if c.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	switch c.key {
	case "":
		request.Header.Set("Authorization", "Bearer "+n.admin.Key.Text())
	case "-":
	default:
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	for name, value := range c.header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	must(n, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(n, err)
	return answer{n.TB, response.StatusCode, response.Header, body}
}

func (n *node) get(path string) answer { n.Helper(); return n.do(call{method: "GET", path: path}) }
func (n *node) post(path, body string) answer {
	n.Helper()
	return n.do(call{method: "POST", path: path, body: body})
}

// is demands a status.
func (a answer) is(status int) answer {
	a.Helper()
	if a.status != status {
		a.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// into reads the body.
func (a answer) into(v any) answer {
	a.Helper()
	must(a, json.Unmarshal(a.body, v))
	return a
}

// problem reads a refusal and checks what every one of them must have.
func (a answer) problem() httpapi.Problem {
	a.Helper()
	var p httpapi.Problem
	a.into(&p)
	if a.header.Get("Content-Type") != "application/problem+json" || int(p.Status) != a.status || p.Code == "" || p.Title == "" ||
		p.Type != "/problems/"+p.Code || p.RequestId == nil || *p.RequestId != a.header.Get("X-Request-Id") {
		a.Errorf("not a whole problem: %d %s %s", a.status, a.header.Get("Content-Type"), a.body)
	}
	return p
}

// key issues a key of the administrator's application.
func (n *node) key(scopes ...string) auth.Issued {
	n.Helper()
	k, err := n.service.Bootstrap(n.Context(), "here", "app", "key", scopes)
	must(n, err)
	return k
}

func (n *node) queue(name string) {
	n.Helper()
	n.do(call{method: "PUT", path: "/v1/queues/" + name, body: `{"open_tasks_max":1000,"running_attempts_max":1000}`}).is(200)
}

// rows counts every row of every table that a request could write, except last_used_at, which is a hint.
func (n *node) rows() map[string]int {
	n.Helper()
	out := map[string]int{}
	tables, err := n.db.QueryContext(n.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
	must(n, err)
	defer func() { _ = tables.Close() }()
	var names []string
	for tables.Next() {
		var name string
		must(n, tables.Scan(&name))
		names = append(names, name)
	}
	must(n, tables.Err())
	for _, name := range names {
		var count int
		must(n, n.db.QueryRowContext(n.Context(), "SELECT COUNT(*) FROM `"+name+"`").Scan(&count))
		out[name] = count
	}
	return out
}
