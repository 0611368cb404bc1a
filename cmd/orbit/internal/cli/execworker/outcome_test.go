package execworker

import (
	"strings"
	"testing"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/gen/client"
)

// The table of ExitCodes, row by row, with what a declaration changes.
func TestEveryEndingHasItsOutcome(t *testing.T) {
	rows := []struct {
		name      string
		e         ending
		otherwise Otherwise
		outcome   client.ReportOutcome
		retryable bool
		code      string
	}{
		{"output", ending{stdout: []byte(" {\"n\": 1.10}\n")}, Unknown, client.ReportOutcomeSUCCEEDED, false, ""},
		{"no output", ending{stdout: []byte("\n")}, Unknown, client.ReportOutcomeSUCCEEDED, false, ""},
		{"prose", ending{stdout: []byte("done")}, Permanent, client.ReportOutcomeUNKNOWN, false, "output_unreadable"},
		{"two values", ending{stdout: []byte("1 2")}, Unknown, client.ReportOutcomeUNKNOWN, false, "output_unreadable"},
		{"too long", ending{overflow: true}, Retryable, client.ReportOutcomeUNKNOWN, false, "output_unreadable"},
		{"held open", ending{stdout: []byte("1"), held: true}, Unknown, client.ReportOutcomeUNKNOWN, false, "output_unreadable"},
		{"succeeded although asked to stop", ending{stdout: []byte("1"), cancelled: true}, Unknown, client.ReportOutcomeSUCCEEDED, false, ""},
		{"permanent", ending{code: 65}, Unknown, client.ReportOutcomeFAILED, false, "exit_65"},
		{"retryable", ending{code: 75}, Permanent, client.ReportOutcomeFAILED, true, "exit_75"},
		{"cancelled", ending{code: 79, cancelled: true}, Unknown, client.ReportOutcomeCANCELLED, false, ""},
		{"cancelled, but nobody asked", ending{code: 79}, Unknown, client.ReportOutcomeUNKNOWN, false, "exit_79"},
		{"crash", ending{code: 2}, Unknown, client.ReportOutcomeUNKNOWN, false, "exit_2"},
		{"crash, declared retryable", ending{code: 2}, Retryable, client.ReportOutcomeFAILED, true, "exit_2"},
		{"crash, declared permanent", ending{code: -1, signal: "11"}, Permanent, client.ReportOutcomeFAILED, false, "signal_11"},
		{"killed by the worker", ending{code: -1, signal: "9", stopped: stoppedTimeout}, Retryable, client.ReportOutcomeUNKNOWN, false, "attempt_timeout"},
		{"stopped and said so", ending{code: 75, stopped: stoppedShutdown}, Unknown, client.ReportOutcomeFAILED, true, "worker_shutdown"},
	}
	for _, row := range rows {
		got := judge(row.e, row.otherwise)
		code := ""
		if got.failure != nil {
			code = got.failure.Code
		}
		if got.outcome != row.outcome || got.retryable != row.retryable || code != row.code {
			t.Errorf("%s: %s retryable %v code %q, want %s %v %q", row.name, got.outcome, got.retryable, code, row.outcome, row.retryable, row.code)
		}
		if (got.outcome == client.ReportOutcomeSUCCEEDED) != (got.output != nil) {
			t.Errorf("%s: output %q with %s", row.name, got.output, got.outcome)
		}
	}
}

func TestAFailureKeepsItsBounds(t *testing.T) {
	f := failure(ending{code: 65, lastLine: strings.Repeat("é", 2000) + "\xff"})
	if len(f.Message) > messageBytesMax || len(f.Message) < messageBytesMax-4 || !strings.HasPrefix(f.Message, "éé") {
		t.Errorf("%d bytes", len(f.Message))
	}
	said := failure(ending{code: 65, stdout: []byte(`{"code":"declined","message":"no","details":{"limit": 1.10}}`), lastLine: "noise"})
	if said.Code != "declined" || said.Message != "no" || string(said.Details) != `{"limit": 1.10}` {
		t.Errorf("%+v", said)
	}
	if long := failure(ending{code: 65, stdout: []byte(`{"code":"` + strings.Repeat("c", 65) + `"}`)}); long.Code != "exit_65" {
		t.Errorf("%+v", long)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	b := &bounded{max: 5}
	for _, s := range []string{"abc", "def", "g"} {
		if n, err := b.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
	if string(b.bytes) != "abcde" || !b.overflow {
		t.Errorf("%q %v", b.bytes, b.overflow)
	}
	exactly := &bounded{max: exact.PayloadLimits.SizeBytesMax}
	_, _ = exactly.Write(make([]byte, exact.PayloadLimits.SizeBytesMax))
	if exactly.overflow {
		t.Error("an output of exactly the limit is refused")
	}
	l := &lastLine{}
	for _, s := range []string{"first\nsec", "ond\n", "\n  \n"} {
		_, _ = l.Write([]byte(s))
	}
	if l.text() != "second" {
		t.Errorf("%q", l.text())
	}
}
