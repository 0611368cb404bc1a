package dbtest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Sites are the queries that faults were put into, by their names in sql/queries. Each test keeps its list in a file, and
// docs/sites_test.go holds all of them against the queries that exist: new code cannot escape (C5).
type Sites struct {
	mu    sync.Mutex
	names map[string]bool
}

// Add takes the names from the statements of one clean run.
func (s *Sites) Add(statements ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = map[string]bool{}
	}
	for _, text := range statements {
		if rest, ok := strings.CutPrefix(text, "-- name: "); ok {
			s.names[strings.Fields(rest)[0]] = true
		}
	}
}

// Keep compares the list with testdata/sites/FILE.txt; with ORBIT_REWRITE=1 it writes it.
func (s *Sites) Keep(t *testing.T, file string) {
	t.Helper()
	if t.Failed() {
		return
	}
	text := strings.Join(slices.Sorted(maps.Keys(s.names)), "\n") + "\n"
	path := filepath.Join("testdata", "sites", file+".txt")
	if os.Getenv("ORBIT_REWRITE") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
		t.Errorf("%s says other sites than were seen; look why, and write it with ORBIT_REWRITE=1: %v\n%s", path, err, text)
	}
}
