package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// causes are what the answer to "why is it not running?" names, without READY.
func (n *node) causes(path string) (kinds []string, list httpapi.TaskBlockers) {
	n.Helper()
	n.get(path + "/blockers").is(200).into(&list)
	for _, b := range list.Items {
		if b.Detail == nil || *b.Detail == "" {
			n.Errorf("%s is not explained", b.Kind)
		}
		if b.Kind != "READY" {
			kinds = append(kinds, string(b.Kind))
		}
	}
	return kinds, list
}

// "Why is it not running?" over every reason: each is named alone and exactly, nothing starts while it is there, and the
// claim after it is cleared starts the task. A draining queue is no reason.
func TestWhyItIsNotRunningNamesEveryReason(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	settings := func(more string) func() {
		return func() {
			n.do(call{method: "PUT", path: "/v1/queues/work", body: `{"open_tasks_max":1000,"running_attempts_max":1000` + more + `}`}).is(200)
		}
	}
	quota := func(running int) func() {
		return func() {
			n.do(call{method: "PUT", path: "/v1/admin/applications/" + auth.ApplicationText(n.admin.Application) + "/quota",
				body: fmt.Sprintf(`{"open_tasks_max":1000,"running_attempts_max":%d,"open_instances_max":1000,"open_payload_bytes_max":1000000}`, running)}).is(200)
		}
	}
	say := func(what string) func() {
		return func() { n.post("/v1/queues/work/"+what, `{"reason":"r"}`).is(200) }
	}
	exec := func(statement string) func() {
		return func() {
			_, err := n.db.Exec(statement)
			must(t, err)
		}
	}
	none := func() {}
	for i, c := range []struct {
		name       string
		before     func() // what must be there before the task is
		members    string // of its submission
		set, clear func()
		want       string
	}{
		{"nothing", none, "", none, none, ""},
		{"paused", none, "", say("pause"), say("resume"), "QUEUE_PAUSED"},
		{"draining", none, "", say("drain"), none, ""},
		{"resumed", say("resume"), "", none, none, ""},
		{"queue limit", none, "", func() {
			n.do(call{method: "PUT", path: "/v1/queues/work", body: `{"open_tasks_max":1000,"running_attempts_max":0}`}).is(200)
		}, settings(""), "QUEUE_LIMIT"},
		{"application limit", none, "", quota(0), quota(1000), "APPLICATION_LIMIT"},
		{"rate", func() {
			settings(`,"rate":{"tokens":1,"period_ms":86400000,"burst":1}`)()
			n.submit(fmt.Sprintf(submission, "takes the token", "1"))
			n.run("work", `"outcome":"SUCCEEDED","output":1`)
		}, "", none, settings(""), "QUEUE_RATE"},
		{"delay", none, `"delay_ms":3000000,`, none, exec("UPDATE open_task SET available_at = NOW(6) - INTERVAL 1 SECOND, state = 1 WHERE state = 3"), "AVAILABLE_AT"},
		{"key", func() { n.submit(keyedSubmission("holder", "work", "held")); n.run("work", `"outcome":"UNKNOWN"`) }, `"resource_key":"held",`, none, func() {
			var held httpapi.TaskList
			n.get("/v1/tasks?queue=work&state=NEEDS_REVIEW").is(200).into(&held)
			n.do(call{method: "POST", path: "/v1/tasks/" + held.Items[0].TaskId + "/review", body: review, header: map[string]string{"Idempotency-Key": "x"}}).is(200)
		}, "RESOURCE_KEY"},
		{"another queue's task of the key", none, `"resource_key":"free",`, none, none, ""},
		{"several", none, `"delay_ms":3000000,`, func() { say("pause")(); quota(0)() }, func() {
			say("resume")()
			quota(1000)()
			exec("UPDATE open_task SET available_at = NOW(6) - INTERVAL 1 SECOND, state = 1 WHERE state = 3")()
		}, "AVAILABLE_AT QUEUE_PAUSED APPLICATION_LIMIT"},
	} {
		c.before()
		path := n.submit(strings.Replace(fmt.Sprintf(submission, fmt.Sprint("m", i), "1"), `"input"`, c.members+`"input"`, 1))
		c.set()
		got, list := n.causes(path)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: named %q", c.name, text)
		}
		for _, b := range list.Items {
			if (b.Kind == "QUEUE_PAUSED") != (b.Reason != nil) || b.Reason != nil && *b.Reason != "r" {
				t.Errorf("%s: %s says %v", c.name, b.Kind, b.Reason)
			}
		}
		if c.want != "" {
			if n.run("work", `"outcome":"SUCCEEDED","output":1`) != 0 {
				t.Errorf("%s: it starts all the same", c.name)
			}
			if got, _ := n.causes(path); strings.Join(got, " ") != c.want { // also after a claim has met it and moved it away
				t.Errorf("%s: after a claim it names %v", c.name, got)
			}
		}
		c.clear()
		if got, list := n.causes(path); len(got) != 0 || len(list.Items) != 1 {
			t.Errorf("%s: cleared, it still names %v", c.name, got)
		}
		if n.run("work", `"outcome":"SUCCEEDED","output":1`) != 1 {
			t.Errorf("%s: cleared, it does not start", c.name)
		}
		if got, list := n.causes(path); len(got) != 0 || len(list.Items) != 0 || list.State != "SUCCEEDED" {
			t.Errorf("%s: ended, it names %v", c.name, got)
		}
	}
}

// The reasons that no operator clears: behind others, counted exactly and up to a bound; past the deadline; a closed gate,
// with the instance that holds it; and nothing for what runs.
func TestWhyItIsNotRunningCountsAndPoints(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	for i := range 5 {
		n.submit(fmt.Sprintf(submission, fmt.Sprint("front", i), "1"))
	}
	n.submit(strings.Replace(fmt.Sprintf(submission, "another handler", "1"), `"handler":"h"`, `"handler":"other"`, 1))
	path := n.submit(fmt.Sprintf(submission, "last", "1"))
	if got, list := n.causes(path); strings.Join(got, " ") != "TASKS_AHEAD" || *list.Items[0].Current != 5 || *list.Items[0].Limit != 1000 {
		t.Errorf("%v %+v", got, list.Items)
	}
	high := n.submit(strings.Replace(fmt.Sprintf(submission, "high", "1"), `"input"`, `"priority":9,"input"`, 1))
	if got, _ := n.causes(high); got != nil {
		t.Errorf("priority 9 waits for %v", got)
	}
	var claimed httpapi.ClaimResult
	n.post("/v1/claims", claim).is(200).into(&claimed)
	if got, list := n.causes(path); got != nil || list.State != "RUNNING" || len(list.Items) != 0 {
		t.Errorf("running, it names %v %+v", got, list)
	}
	late := n.submit(strings.NewReplacer(`"deadline_ms":3600000`, `"deadline_ms":1000`, `"attempt_timeout_ms":60000`, `"attempt_timeout_ms":1000`).Replace(fmt.Sprintf(submission, "late", "1")))
	time.Sleep(1100 * time.Millisecond)
	if got, list := n.causes(late); strings.Join(got, " ") != "DEADLINE" || list.Items[0].At == nil {
		t.Errorf("past its deadline it names %v", got)
	}
	n.post("/v1/workflows", fmt.Sprintf(`{"document":%s}`, workflow)).is(201)
	var started struct {
		InstanceID string `json:"instance_id"`
	}
	n.post("/v1/instances", `{"start_key":"s","definition":"chain","input":{}}`).is(201).into(&started)
	var owned []byte
	must(t, n.db.QueryRow("SELECT task_id FROM open_task WHERE gate_id IS NOT NULL").Scan(&owned))
	_, err := n.db.Exec("UPDATE execution_gate SET state = 2")
	must(t, err)
	got, list := n.causes(fmt.Sprintf("/v1/tasks/task_%x", owned))
	if strings.Join(got, " ") != "GATE" || list.Items[0].InstanceId == nil || *list.Items[0].InstanceId != started.InstanceID {
		t.Errorf("behind a closed gate it names %v %+v", got, list.Items)
	}
	_, err = n.db.Exec("UPDATE execution_gate SET state = 1")
	must(t, err)
	if got, _ := n.causes(fmt.Sprintf("/v1/tasks/task_%x", owned)); strings.Join(got, " ") != "TASKS_AHEAD" { // late waits before it
		t.Errorf("behind an open gate it names %v", got)
	}
}
