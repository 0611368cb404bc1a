package flow_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/orbitrun/orbit/sdk/flow"
)

// A definition with many mistakes: the author sees all of them at once, in
// order, with names and lines of the Go source.
func TestMistakesAreReportedTogether(t *testing.T) {
	start := flow.Task("start", meet, steady, in).BusinessKey(flow.Get[string](in, "nmae"))
	forgotten := flow.Task("forgotten", meet, steady, in)
	_, err := flow.Define[person, person]("People", 0, flow.Settings{Deadline: time.Microsecond},
		flow.Body(start, start, flow.Task("second", meet, steady, flow.Object{"name": forgotten.Out(), "aeg": 1})), start.Out())
	if err == nil {
		t.Fatal("accepted")
	}
	file := filepath.Join("testdata", "problems.golden.txt")
	if *update {
		if err := os.WriteFile(file, []byte(err.Error()+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, readErr := os.ReadFile(file)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if err.Error()+"\n" != string(golden) {
		t.Errorf("run with -update to accept:\n%v", err)
	}
}
