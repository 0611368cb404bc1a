package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/api/doctor"
)

// Everything the deep doctor is for is broken by hand, one thing at a time, and named; a healthy system has nothing.
func TestTheDeepDoctorSeesWhatIsTorn(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.finish("work", 3)
	n.post("/v1/workflows", `{"document":`+approval+`}`).is(201)
	n.post("/v1/instances", `{"start_key":"s","definition":"approval","input":null}`).is(201)
	n.submit(fmt.Sprintf(submission, "open", "1"))
	look := func() string {
		found, err := doctor.CheckDeep(t.Context(), n.Reader)
		must(t, err)
		var words []string
		for _, f := range found {
			words = append(words, f.Check)
		}
		return strings.Join(words, " ")
	}
	if got := look(); got != "" {
		t.Fatalf("a healthy system has %s", got)
	}
	of := " WHERE task_id = (SELECT task_id FROM (SELECT task_id FROM stream_entry WHERE seq = 2) x)"
	for _, c := range []struct{ breaks, mends, want string }{
		{"UPDATE task_event SET event_no = 9 WHERE event_no = 2 AND task_id = (SELECT task_id FROM stream_entry WHERE seq = 2)", "UPDATE task_event SET event_no = 2 WHERE event_no = 9", "task_history"},
		{"UPDATE attempt SET attempt_no = 2" + of, "UPDATE attempt SET attempt_no = 1 WHERE attempt_no = 2", "task_history"},
		{"UPDATE open_task SET attempt_no = 1", "UPDATE open_task SET attempt_no = 0", "task_history"},
		{"UPDATE open_task SET attempts_used = 7", "UPDATE open_task SET attempts_used = 0", "task_history"},
		{"UPDATE stream_entry SET state_version = 4 WHERE seq = 2", "UPDATE stream_entry SET state_version = 3 WHERE seq = 2", "stream_chain stream_chain"},
		{"UPDATE task SET state = 4" + of, "UPDATE task SET state = 2" + of, "stream_chain"},
		{"UPDATE instance SET revision = revision + 1", "UPDATE instance SET revision = revision - 1", "instance_history"},
	} {
		_, err := n.db.ExecContext(t.Context(), c.breaks)
		must(t, err)
		if got := look(); got != c.want {
			t.Errorf("%s: found %q, want %q", c.breaks, got, c.want)
		}
		_, err = n.db.ExecContext(t.Context(), c.mends)
		must(t, err)
		if got := look(); got != "" {
			t.Fatalf("mended by %s, it still has %q", c.mends, got)
		}
	}
}
