package wire

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/orbitrun/orbit/gen/http"
)

// User bytes leave as they came: spacing, escapes, "<", trailing zeros and 40-digit numbers (O13, T21).
func TestPayloadBytesAndTimesAreExact(t *testing.T) {
	payload := "{ \"a\" : 1.10, \"n\":1234567890123456789012345678901234567890,\t\"s\":\"<\\u00e9é\" }"
	at := time.Date(2031, 7, 1, 10, 30, 0, 120000000, time.FixedZone("", 7200))
	code := http.TaskResult{TaskId: "task_1", State: http.TaskStateSUCCEEDED, StateVersion: 3, At: at, Output: json.RawMessage(payload)}
	got := string(Append(nil, code))
	want := `{"at":"2031-07-01T08:30:00.120000Z","output":` + payload + `,"state":"SUCCEEDED","state_version":3,"task_id":"task_1"}`
	if got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func TestPagesAndOptionalFields(t *testing.T) {
	for name, c := range map[string]struct {
		in   any
		want string
	}{
		"empty page keeps its list": {http.TaskList{}, `{"items":[]}`},
		"pointer to a model":        {&http.Health{Status: "ok"}, `{"status":"ok"}`},
		"nested optional":           {http.AttemptList{Items: nil, NextCursor: "x"}, `{"items":[],"next_cursor":"x"}`},
		"null payload":              {http.Step{Name: "s", Kind: "TIMER", State: "SUCCEEDED", Output: json.RawMessage("null")}, `{"activation_no":0,"kind":"TIMER","name":"s","output":null,"state":"SUCCEEDED","step_no":0,"version":0}`},
	} {
		if got := string(Append(nil, c.in)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
