package cli

import (
	"net/http"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/api/problem"
)

// Whoever meets a code is told what to do next, by the detail of a faulty
// request or by a line of advice.
func TestEveryCodeHasAdvice(t *testing.T) {
	for _, code := range problem.Codes() {
		if status := problem.New(code, "").Status(); Advice(code, status) == "" {
			t.Errorf("%s (%d): nothing says what to do next", code, status)
		}
	}
	for code := range advice {
		if !problem.Known(code) {
			t.Errorf("advice for %s, which no node answers", code)
		}
	}
}

func TestARefusalIsToldWhole(t *testing.T) {
	body := `{"type":"/problems/field_range","title":"A number is outside its range","status":400,"code":"field_range","detail":"must be at most 9",
		"request_id":"r-1","subject":"task_1","limit":9,"current":12,
		"errors":[{"code":"field_range","in":"body","pointer":"/priority","detail":"must be at most 9"},
		          {"code":"field_missing","in":"body","pointer":"/queue","detail":"is \u001b[31mmissing"}]}`
	got := refusal(400, http.Header{}, []byte(body)).Error()
	want := strings.Join([]string{
		"field_range: must be at most 9",
		"  body /priority  field_range: must be at most 9",
		"  body /queue  field_missing: is \uFFFD[31mmissing", // a terminal must not obey a server
		"  in the way: task_1",
		"  limit 9, now 12",
		"  next: correct the request",
		"  request id: r-1"}, "\n")
	if got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}

func TestAnAnswerThatIsNoProblem(t *testing.T) {
	r := refusal(502, http.Header{"Retry-After": {"3"}, "X-Request-Id": {"proxy-7"}}, []byte("<html>Bad Gateway</html>"))
	if r.Code != "http_502" || r.ExitCode() != ExitUnavailable || r.RetryAfter.Seconds() != 3 || !strings.Contains(r.Error(), "proxy-7") {
		t.Errorf("%s, exit %d, retry %s", r.Error(), r.ExitCode(), r.RetryAfter)
	}
	if r := refusal(404, http.Header{}, nil); r.ExitCode() != ExitRefused || !strings.Contains(r.Error(), "not from a node of Orbit") {
		t.Errorf("%s, exit %d", r.Error(), r.ExitCode())
	}
}
