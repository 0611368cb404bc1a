package orbit

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

func TestScheduleTypesHaveTheMembersOfTheDocument(t *testing.T) {
	for _, pair := range []struct {
		own, generated any
		extra          string
	}{
		{Timing{}, rest.ScheduleTiming{}, ""},
		{scheduleWire{}, rest.ScheduleSettings{}, "task"},
		{scheduleTaskWire{}, rest.ScheduleTask{}, "input output_contract"},
		{ScheduleSummary{}, rest.ScheduleSummary{}, ""},
		{Schedule{}, rest.Schedule{}, ""},
		{ScheduleVersion{}, rest.ScheduleVersion{}, ""},
		{ScheduleVersionSummary{}, rest.ScheduleVersionSummary{}, ""},
		{ScheduleTrigger{}, rest.ScheduleTrigger{}, ""},
		{ScheduleTriggerReceipt{}, rest.ScheduleTriggerReceipt{}, ""},
		{Backfill{}, rest.ScheduleBackfill{}, ""},
		{BackfillSlot{}, rest.ScheduleBackfillSlot{}, ""},
		{BackfillResult{}, rest.ScheduleBackfillResult{}, ""},
		{PreviewSlot{}, rest.SchedulePreviewSlot{}, ""},
		{PreviewSilence{}, rest.SchedulePreviewSilence{}, ""},
		{Preview{}, rest.SchedulePreviewResult{}, ""},
		{previewWire{}, rest.SchedulePreview{}, ""},
	} {
		own := append(members(reflect.TypeOf(pair.own)), strings.Fields(pair.extra)...)
		document := members(reflect.TypeOf(pair.generated))
		slices.Sort(own)
		slices.Sort(document)
		if !slices.Equal(own, document) {
			t.Errorf("%T has %v,\nthe document %v", pair.own, own, document)
		}
	}
}

// What a schedule sends: payload bytes as they are, no key and no delay, and the same key on every try of a trigger.
func TestSchedulesSendWhatTheySay(t *testing.T) {
	var bodies []string
	var keys []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, r.Method+" "+r.URL.Path+" "+string(body))
		if strings.HasSuffix(r.URL.Path, "/trigger") {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			if len(keys) == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			w.Header().Set("Orbit-Replayed", "true")
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"version": 2, "task_id": "task_1", "items": []any{}})
	}))
	defer server.Close()
	c, err := New(server.URL, "orb_x")
	if err != nil {
		t.Fatal(err)
	}
	settings := ScheduleSettings{Timing: Cron("30 2 * * *", "Europe/Berlin"), Misfire: MisfireFireOnce, CatchUpWindow: time.Minute, Task: Submission{
		Queue: "work", Handler: "h", HandlerVersion: "1", Input: json.RawMessage(`{"n": 1.10}`), Deadline: time.Hour, AttemptTimeout: time.Minute, Retry: Once(),
	}}
	if _, err := c.PutSchedule(t.Context(), "nightly", settings); err != nil {
		t.Fatal(err)
	}
	want := `PUT /v1/schedules/nightly {"timing":{"kind":"CRON","expression":"30 2 * * *","time_zone":"Europe/Berlin"},"misfire":"FIRE_ONCE","catch_up_window_ms":60000,` +
		`"task":{"queue":"work","handler":"h","handler_version":"1","deadline_ms":3600000,"attempt_timeout_ms":60000,"retry_policy":{"kind":"FIXED","max_attempts":1},"input":{"n": 1.10}}}`
	if bodies[0] != want {
		t.Errorf("%s\nwant %s", bodies[0], want)
	}
	receipt, err := c.TriggerSchedule(t.Context(), "nightly", "now", "")
	if err != nil || !receipt.Replayed || receipt.TaskID != "task_1" || len(keys) != 2 || keys[0] == "" || keys[0] != keys[1] {
		t.Errorf("%+v %v, keys %q", receipt, err, keys)
	}
	anchor := time.Date(2031, 7, 1, 2, 0, 0, 0, time.FixedZone("", 7200))
	if _, err := c.PreviewSchedule(t.Context(), EveryFrom(90*time.Second, anchor), time.Time{}, 3); err != nil {
		t.Fatal(err)
	}
	if got := bodies[len(bodies)-1]; got != `POST /v1/schedule-previews {"timing":{"kind":"INTERVAL","every_ms":90000,"anchor_at":"2031-07-01T00:00:00Z"},"count":3}` {
		t.Error(got)
	}
}
