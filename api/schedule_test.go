package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

const (
	scheduleTask = `"task":{"queue":"work","handler":"convert","handler_version":"2","input":{"amount":1.10,"n":9007199254740993},"business_key":"b","deadline_ms":3600000,"attempt_timeout_ms":60000,"retry_policy":{"kind":"FIXED","max_attempts":3,"delay_ms":1000}}`
	minutely     = `{"timing":{"kind":"INTERVAL","every_ms":60000},` + scheduleTask + `}`
	nightly      = `{"timing":{"kind":"CRON","expression":"30 2 * * *","time_zone":"Europe/Berlin"},"overlap":"QUEUE_ONE","misfire":"FIRE_ONCE","catch_up_window_ms":60000,` + scheduleTask + `}`
)

func (n *node) put(path, body string) answer {
	n.Helper()
	return n.do(call{method: "PUT", path: path, body: body})
}

// A schedule is put, shown with every declaration, changed by versions, paused and resumed.
func TestScheduleLife(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	var s httpapi.Schedule
	n.put("/v1/schedules/nightly", nightly).is(200).into(&s)
	if s.Version != 1 || s.Revision != 1 || s.Timing.DstGap != "FIRE_AFTER_GAP" || s.Timing.DstRepeat != "FIRST" || s.NextAt == nil || s.Overlap != "QUEUE_ONE" ||
		s.Misfire != "FIRE_ONCE" || s.CatchUpWindowMs != 60000 || s.Task.Queue != "work" || string(s.Task.Input) != `{"amount":1.10,"n":9007199254740993}` {
		t.Errorf("%+v", s)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	if local := s.NextAt.In(berlin).Format("15:04:05"); local != "02:30:00" {
		t.Error("next", local)
	}
	n.put("/v1/schedules/nightly", nightly).is(200).into(&s)
	if s.Version != 1 || s.Revision != 1 {
		t.Error("the same definition again made a version")
	}
	hourly := strings.Replace(nightly, "30 2 * * *", "15 * * * *", 1)
	if p := n.put("/v1/schedules/nightly", strings.Replace(hourly, `"overlap"`, `"expected_revision":7,"overlap"`, 1)).is(409).problem(); p.Code != "revision_conflict" || *p.Current != 1 {
		t.Error(p)
	}
	n.put("/v1/schedules/nightly", strings.Replace(hourly, `"overlap"`, `"expected_revision":1,"overlap"`, 1)).is(200).into(&s)
	if s.Version != 2 || s.Timing.DstGap != "SKIP" || s.Timing.DstRepeat != "BOTH" || s.NextAt.Minute() != 15 {
		t.Errorf("%+v", s)
	}
	n.post("/v1/schedules/nightly/pause", `{"reason":"the warehouse moves"}`).is(200).into(&s)
	if !s.Paused || *s.PauseReason != "the warehouse moves" || s.Revision != 3 {
		t.Errorf("%+v", s)
	}
	n.post("/v1/schedules/nightly/pause", `{"reason":"again"}`).is(200).into(&s)
	if *s.PauseReason != "the warehouse moves" || s.Revision != 3 {
		t.Error("pausing again changed something")
	}
	var resumed httpapi.Schedule
	n.post("/v1/schedules/nightly/resume", `{"expected_revision":3}`).is(200).into(&resumed)
	if resumed.Paused || resumed.PauseReason != nil || resumed.Revision != 4 {
		t.Errorf("%+v", resumed)
	}
	var versions httpapi.ScheduleVersionList
	n.get("/v1/schedules/nightly/versions").is(200).into(&versions)
	if len(versions.Items) != 2 || versions.Items[0].Version != 2 || versions.Items[1].Timing.Expression != "30 2 * * *" {
		t.Errorf("%+v", versions)
	}
	var first httpapi.ScheduleVersion
	n.get("/v1/schedules/nightly/versions/1").is(200).into(&first)
	if first.Timing.Expression != "30 2 * * *" || string(first.Task.Input) != `{"amount":1.10,"n":9007199254740993}` {
		t.Errorf("%+v", first)
	}
	if p := n.get("/v1/schedules/nightly/versions/3").is(404).problem(); p.Code != "schedule_version_not_found" {
		t.Error(p.Code)
	}
	n.put("/v1/schedules/another", minutely).is(200)
	var page httpapi.ScheduleList
	n.get("/v1/schedules?limit=1").is(200).into(&page)
	n.get("/v1/schedules?limit=1&cursor=" + page.NextCursor).is(200).into(&page)
	if len(page.Items) != 1 || page.Items[0].Name != "nightly" {
		t.Errorf("%+v", page)
	}
}

// What is wrong is refused at the door by name and field, before anything is written.
func TestSchedulesAreRefusedByName(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	before := n.rows()
	for change, want := range map[[2]string][2]string{
		{`30 2 * * *`, `30 25 * * *`}:                                  {"cron_invalid", "/timing/expression"},
		{`30 2 * * *`, `0 0 31 2 *`}:                                   {"cron_invalid", "/timing/expression"},
		{`30 2 * * *`, `TZ=UTC 0 0 * *`}:                               {"cron_invalid", "/timing/expression"},
		{`Europe/Berlin`, `Local`}:                                     {"time_zone_unknown", "/timing/time_zone"},
		{`Europe/Berlin`, `../../etc/passwd`}:                          {"time_zone_unknown", "/timing/time_zone"},
		{`Europe/Berlin`, `Nowhere/None`}:                              {"time_zone_unknown", "/timing/time_zone"},
		{`"kind":"CRON"`, `"every_ms":1000,"kind":"CRON"`}:             {"request_invalid", "/timing/every_ms"},
		{`"kind":"CRON"`, `"kind":"INTERVAL"`}:                         {"request_invalid", "/timing/expression"},
		{`"deadline_ms"`, `"delay_ms":1,"deadline_ms"`}:                {"request_invalid", "/task/delay_ms"},
		{`"attempt_timeout_ms":60000`, `"attempt_timeout_ms":3600001`}: {"request_invalid", "/task/attempt_timeout_ms"},
		{`"queue":"work"`, `"queue":"nowhere"`}:                        {"queue_unknown", "/task/queue"},
		{`"catch_up_window_ms":60000`, `"catch_up_window_ms":9999`}:    {"field_range", "/catch_up_window_ms"},
		{`"overlap":"QUEUE_ONE"`, `"overlap":"ANY"`}:                   {"field_enum", "/overlap"},
		{`"overlap"`, `"submit_key":"k","overlap"`}:                    {"field_unknown", "/submit_key"},
		{`"overlap"`, `"expected_revision":2,"overlap"`}:               {"revision_conflict", "/expected_revision"},
	} {
		got := n.put("/v1/schedules/s", strings.Replace(nightly, change[0], change[1], 1))
		p := got.problem()
		if p.Code != want[0] || p.Errors == nil || (*p.Errors)[0].Pointer != want[1] {
			t.Errorf("%s: %d %s", change[1], got.status, got.body)
		}
	}
	if p := n.put("/v1/schedules/s", strings.Replace(minutely, `"every_ms":60000`, `"every_ms":60000,"anchor_at":"9500-01-01T00:00:00Z"`, 1)).is(400).problem(); p.Code != "request_invalid" {
		t.Error(p.Code)
	}
	for _, path := range []string{"pause", "resume", "trigger", "backfill"} {
		if p := n.do(call{method: "POST", path: "/v1/schedules/none/" + path, body: valid[path+"Schedule"], header: map[string]string{"Idempotency-Key": "k"}}).is(404).problem(); p.Code != "schedule_not_found" {
			t.Error(path, p.Code)
		}
	}
	if after := n.rows(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("refused requests wrote rows:\n%v\n%v", before, after)
	}
}

// Sixteen equal triggers at once: one task, one receipt; another reason under the same key is a conflict. The task says
// where it came from, checked against the rows.
func TestTriggerNowOnce(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.put("/v1/schedules/s", minutely).is(200)
	n.post("/v1/schedules/s/pause", `{"reason":"r"}`).is(200) // a person may trigger all the same
	trigger := func(body string) answer {
		return n.do(call{method: "POST", path: "/v1/schedules/s/trigger", body: body, header: map[string]string{"Idempotency-Key": "k"}})
	}
	answers := make([]answer, 16)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = trigger(`{"reason":"now"}`) })
	}
	wg.Wait()
	fresh := 0
	for _, a := range answers {
		if a.is(201); !bytes.Equal(a.body, answers[0].body) {
			t.Errorf("two receipts: %s %s", a.body, answers[0].body)
		}
		if a.header.Get("Orbit-Replayed") == "" {
			fresh++
		}
	}
	if fresh != 1 || n.rows()["task"] != 1 || n.rows()["schedule_trigger"] != 1 {
		t.Errorf("%d first answers, %v", fresh, n.rows())
	}
	if p := trigger(`{"reason":"other"}`).is(409).problem(); p.Code != "idempotency_conflict" {
		t.Error(p.Code)
	}
	var receipt httpapi.ScheduleTriggerReceipt
	answers[0].into(&receipt)
	var task httpapi.Task
	n.get("/v1/tasks/" + receipt.TaskId).is(200).into(&task)
	if task.Source != "SCHEDULE" || string(task.Input) != `{"amount":1.10,"n":9007199254740993}` || task.State != "QUEUED" {
		t.Errorf("%+v", task)
	}
	var source httpapi.TaskSource
	n.get("/v1/tasks/" + receipt.TaskId + "/source").is(200).into(&source)
	if source.Kind != "SCHEDULE" || *source.Schedule != "s" || *source.Version != 1 || *source.TriggerId != receipt.TriggerId || !source.PlannedAt.Equal(receipt.PlannedAt) {
		t.Errorf("%+v", source)
	}
	var list httpapi.ScheduleTriggerList
	n.get("/v1/schedules/s/triggers").is(200).into(&list)
	if len(list.Items) != 1 || list.Items[0].Outcome != "MANUAL" || *list.Items[0].Reason != "now" || *list.Items[0].TaskId != receipt.TaskId {
		t.Errorf("%+v", list)
	}
	for _, broken := range []string{
		"UPDATE schedule_trigger SET task_id = REVERSE(task_id)", "UPDATE schedule_version SET queue_id = 1",
		"DELETE FROM schedule_version", "DELETE FROM schedule", "DELETE FROM schedule_trigger",
	} {
		_, err := n.db.ExecContext(t.Context(), broken)
		must(t, err)
		if p := n.get("/v1/tasks/" + receipt.TaskId + "/source").is(409).problem(); p.Code != "source_broken" {
			t.Error(broken, p.Code)
		}
	}
}

// The whole life of a scheduled task: it is claimed and completed like any other, and its result goes to the stream,
// not into the inbox of a workflow.
func TestScheduledTasksRunLikeAnyOther(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.put("/v1/schedules/s", minutely).is(200)
	n.do(call{method: "POST", path: "/v1/schedules/s/trigger", body: `{}`, header: map[string]string{"Idempotency-Key": "k"}}).is(201)
	var got httpapi.ClaimResult
	n.post("/v1/claims", strings.Replace(claim, `"handler":"h","handler_version":"1"`, `"handler":"convert","handler_version":"2"`, 1)).is(200).into(&got)
	if len(got.Tasks) != 1 {
		t.Fatalf("%+v", got)
	}
	report := fmt.Sprintf(`{"worker":"w","items":[{"task_id":%q,"attempt_no":1,"token":%q,"outcome":"SUCCEEDED","output":1}]}`, got.Tasks[0].TaskId, got.Tasks[0].Token)
	n.post("/v1/completions", report).is(200)
	var task httpapi.Task
	n.get("/v1/tasks/" + got.Tasks[0].TaskId).is(200).into(&task)
	rows := n.rows()
	if task.State != "SUCCEEDED" || rows["weave_inbox"] != 0 || rows["stream_entry"] != 1 || rows["open_task"] != 0 {
		t.Errorf("%s %v", task.State, rows)
	}
}

// A backfill shows what it would do, does it in bounded calls, goes on where it ended, and never does a slot twice.
func TestBackfillMakesUpOnce(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.put("/v1/queues/work", `{"open_tasks_max":1300,"running_attempts_max":10}`).is(200)
	n.put("/v1/schedules/s", minutely).is(200)
	until := time.Now().UTC().Truncate(time.Minute).Add(-time.Minute)
	from := until.Add(-1500 * time.Minute)
	ask := func(from time.Time, more string) (out httpapi.ScheduleBackfillResult) {
		t.Helper()
		n.post("/v1/schedules/s/backfill", fmt.Sprintf(`{"from":%q,"until":%q,"reason":"gap"%s}`, from.Format(time.RFC3339), until.Format(time.RFC3339), more)).is(200).into(&out)
		return out
	}
	count := func(out httpapi.ScheduleBackfillResult) map[httpapi.ScheduleBackfillSlotOutcome]int {
		seen := map[httpapi.ScheduleBackfillSlotOutcome]int{}
		for _, item := range out.Items {
			seen[item.Outcome]++
			if (item.TaskId == nil) != (item.Outcome == "WOULD_FIRE" || item.Outcome == "PENDING") {
				t.Fatalf("%+v", item)
			}
		}
		return seen
	}
	dry := ask(from, `,"dry_run":true`)
	if count(dry)["WOULD_FIRE"] != 1000 || dry.NextFrom == nil || n.rows()["task"] != 0 {
		t.Fatalf("%v, next %v", count(dry), dry.NextFrom)
	}
	first := ask(from, "")
	if count(first)["FIRED"] != 1000 || !first.NextFrom.Equal(from.Add(1000*time.Minute)) || n.rows()["task"] != 1000 {
		t.Fatalf("%v, next %v", count(first), first.NextFrom)
	}
	second := ask(*first.NextFrom, "") // 300 fit, then the queue is full
	if count(second)["FIRED"] != 300 || second.NextFrom == nil || !strings.Contains(string(second.Problem), "queue_full") {
		t.Fatalf("%v, next %v, %s", count(second), second.NextFrom, second.Problem)
	}
	n.put("/v1/queues/work", `{"open_tasks_max":5000,"running_attempts_max":10}`).is(200)
	again := ask(from.Add(900*time.Minute), "")
	if got := count(again); got["ALREADY_FIRED"] != 400 || got["FIRED"] != 200 || again.NextFrom != nil {
		t.Fatalf("%v, next %v", got, again.NextFrom)
	}
	if rows := n.rows(); rows["task"] != 1500 || rows["schedule_trigger"] != 1500 {
		t.Errorf("%v", rows)
	}
	if p := n.post("/v1/schedules/s/backfill", fmt.Sprintf(`{"from":%q,"until":"2999-01-01T00:00:00Z","reason":"r"}`, from.Format(time.RFC3339))).is(400).problem(); p.Code != "request_invalid" {
		t.Error(p.Code)
	}
	seen := map[string]bool{}
	for path := "/v1/schedules/s/triggers?limit=200"; path != ""; {
		var page httpapi.ScheduleTriggerList
		n.get(path).is(200).into(&page)
		for _, item := range page.Items {
			seen[item.TriggerId] = true
		}
		path = ""
		if page.NextCursor != "" {
			path = "/v1/schedules/s/triggers?limit=200&cursor=" + page.NextCursor
		}
	}
	if len(seen) != 1500 {
		t.Error("pages show", len(seen))
	}
}

func TestPreviewStoresNothingAndShowsTheNights(t *testing.T) {
	n := newNode(t)
	before := n.rows()
	var p httpapi.SchedulePreviewResult
	n.post("/v1/schedule-previews", `{"timing":{"kind":"CRON","expression":"30 2 * * *","time_zone":"America/New_York"},"after":"2026-03-07T12:00:00Z","count":3}`).is(200).into(&p)
	if len(p.Items) != 3 || p.Items[0].Local != "2026-03-08T03:00:00-04:00" || p.Items[1].Local != "2026-03-09T02:30:00-04:00" ||
		len(p.Silent) != 1 || p.Silent[0].Local != "2026-03-08T02:30" || p.Silent[0].Why != "GAP" || !p.Silent[0].MovedTo.Equal(p.Items[0].At) {
		t.Errorf("%+v", p)
	}
	n.post("/v1/schedule-previews", `{"timing":{"kind":"INTERVAL","every_ms":1000},"count":1000}`).is(200).into(&p)
	if len(p.Items) != 1000 || p.Items[999].At.Sub(p.Items[0].At) != 999*time.Second {
		t.Error(len(p.Items))
	}
	reader := n.key(auth.ScopeSchedulesRead)
	n.do(call{method: "POST", path: "/v1/schedule-previews", key: reader.Key.Text(), body: `{"timing":{"kind":"CRON","expression":"@daily","time_zone":"UTC"}}`}).is(200).into(&p)
	after := n.rows()
	delete(before, "credential")
	delete(after, "credential")
	for _, table := range []string{"audit", "tx_command"} { // the key above was issued
		delete(before, table)
		delete(after, table)
	}
	if len(p.Items) != 10 || fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("%d items, %v", len(p.Items), after)
	}
}
