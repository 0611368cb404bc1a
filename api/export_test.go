package api

import (
	"database/sql"
	"io"
	"log/slog"
	"slices"
	"testing"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/telemetry"
)

// Operation is what tests may know of one operation.
type Operation struct {
	Method, Path, ID, Access string
	Scope                    string
	Body                     bool
	BodyMax                  int64
}

// Surface lists the operations of the description.
func Surface(t testing.TB) []Operation {
	t.Helper()
	spec, err := readSpec(Description)
	if err != nil {
		t.Fatal(err)
	}
	var out []Operation
	for _, o := range spec.operations {
		access := o.scope
		switch {
		case o.admin:
			access = "admin port"
		case o.public:
			access = "public"
		case o.scope == "":
			access = "any key"
		}
		out = append(out, Operation{o.method, o.path, o.id, access, o.scope, o.body != nil, o.bodyMax})
	}
	slices.SortFunc(out, func(a, b Operation) int {
		return slices.Compare([]string{a.Path, a.Method}, []string{b.Path, b.Method})
	})
	return out
}

// Routes lists what Echo really routes.
func Routes(t testing.TB) []string {
	t.Helper()
	s, err := New(Options{Reader: &sql.DB{}, Verifier: auth.NewVerifier(nil), Metrics: telemetry.New("", ""), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range s.echo.Routes() {
		out = append(out, r.Method+" "+r.Path)
	}
	slices.Sort(out)
	return out
}

// Sockets is how many are open.
func (s *Server) Sockets() int64 { return s.sockets.Load() }
