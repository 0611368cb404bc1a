package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Every promise is broken once on purpose; an auditor that misses one proves nothing.
func TestEveryBrokenPromiseIsSeen(t *testing.T) {
	ended := func(state, lost int, attempts map[int]int) *task {
		return &task{state: state, lost: lost, attempts: attempts}
	}
	good := func() (*clients, *effects, *rows) {
		return &clients{sent: map[string]bool{"a": true, "b": true, "c": true}, accepted: map[string]string{"a": "A", "b": "B"}},
			&effects{begun: map[string][]int{"A": {1}, "B": {2, 1}, "C": {1}}, done: map[string]map[int]bool{"A": {1: true}, "B": {2: true}}},
			&rows{tasks: map[string]*task{
				"A": ended(stateSucceeded, lostReview, map[int]int{1: 1}),
				"B": ended(stateSucceeded, 2, map[int]int{1: outcomeUnknown, 2: 1}),
				"C": {state: stateReview, lost: lostReview, open: true, attempts: map[int]int{1: outcomeUnknown}},
			}}
	}
	c, e, r := good()
	f := judge(c, e, r, true, func(text string) { t.Error(text) })
	if f.broken() != 0 || f.Executions != 4 || f.Repeats != 1 || f.Reviews != 1 || f.Silent != 2 {
		t.Fatalf("a good run: %+v", f)
	}
	for name, spoil := range map[string]func(*clients, *effects, *rows){
		"an accepted task is gone":      func(c *clients, _ *effects, _ *rows) { c.accepted["c"] = "Z" },
		"one key, two tasks":            func(c *clients, _ *effects, _ *rows) { c.changed = []string{"a"} },
		"a repeat nobody declared safe": func(_ *clients, e *effects, _ *rows) { e.begun["A"] = []int{1, 2} },
		"a repeat of a success":         func(_ *clients, _ *effects, r *rows) { r.tasks["B"].attempts[1] = 1 },
		"one attempt ran twice":         func(_ *clients, e *effects, _ *rows) { e.begun["A"] = []int{1, 1} },
		"an execution without a record": func(_ *clients, _ *effects, r *rows) { delete(r.tasks["A"].attempts, 1) },
		"an execution without a task":   func(_ *clients, e *effects, _ *rows) { e.begun["Q"] = []int{1} },
		"left open":                     func(_ *clients, _ *effects, r *rows) { r.tasks["A"].state, r.tasks["A"].open = stateOpen, true },
		"ended with an open row":        func(_ *clients, _ *effects, r *rows) { r.tasks["A"].open = true },
		"open without an open row":      func(_ *clients, _ *effects, r *rows) { r.tasks["C"].open = false },
		"a review without an unknown":   func(_ *clients, _ *effects, r *rows) { r.tasks["C"].attempts[1] = 1 },
	} {
		c, e, r := good()
		spoil(c, e, r)
		if f := judge(c, e, r, true, func(string) {}); f.broken() == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
}

// The last line of a killed writer is torn; everything before it counts.
func TestTornJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "effects")
	if err := os.WriteFile(path, []byte("{\"op\":\"begin\",\"task\":\"A\",\"attempt\":1}\n{\"op\":\"done\",\"task\":\"A\",\"attempt\":1}\n{\"op\":\"beg"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := readEffects([]string{path})
	if err != nil || len(e.begun["A"]) != 1 || !e.done["A"][1] {
		t.Errorf("%+v %v", e, err)
	}
}
