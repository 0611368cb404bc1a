package orbit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/flow"
	"github.com/orbitrun/orbit/sdk/internal/fake"
)

func pair(t *testing.T, o ...orbit.Option) (*fake.Server, *orbit.Client) {
	t.Helper()
	s := fake.New(t)
	o = append([]orbit.Option{orbit.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))}, o...)
	c, err := orbit.New(s.URL, "orb_test", o...)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func submission(key string) orbit.Submission {
	return orbit.Submission{SubmitKey: key, Queue: "q", Handler: "h", HandlerVersion: "1", Input: json.RawMessage(`{"a": 1.10}`),
		Deadline: time.Hour, AttemptTimeout: time.Minute, Retry: orbit.Exponential(5, time.Second, 2, time.Minute).Jitter(10)}
}

func TestUnclearCallsAreRepeatedWithTheSameKeyAndBytes(t *testing.T) {
	s, c := pair(t)
	s.Misfortune(
		fake.Fault{Path: "/v1/tasks"}, // carried out, and the answer is lost
		fake.Fault{Path: "/v1/tasks", Before: true, Status: 502, Body: "<html>bad gateway</html>"},
		fake.Fault{Path: "/v1/tasks", Before: true, Status: 503, Body: `{"code":"busy","status":503,"retry_after_ms":20}`},
		fake.Fault{Path: "/v1/tasks", Before: true, Status: 429, Body: `{"code":"lane_full","status":429}`})
	receipt, err := c.Submit(t.Context(), submission(""))
	if err != nil {
		t.Fatal(err)
	}
	if !receipt.Replayed || s.Count("QUEUED") != 1 {
		t.Errorf("replayed %v, %d tasks", receipt.Replayed, s.Count("QUEUED"))
	}
	sent := s.Requests("/v1/tasks")
	for _, r := range sent {
		if string(r.Body) != string(sent[0].Body) {
			t.Errorf("another request was sent:\n%s\n%s", sent[0].Body, r.Body)
		}
	}
	if len(sent) != 5 || !strings.Contains(string(sent[0].Body), `"submit_key":"sdk-`) {
		t.Errorf("%d requests: %s", len(sent), sent[0].Body)
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	s, c := pair(t)
	s.Misfortune(fake.Fault{Path: "/v1/tasks", Before: true, Status: 429, Body: `{"code":"queue_full","status":429}`,
		Header: http.Header{"Retry-After": {"1"}}})
	began := time.Now()
	if _, err := c.Submit(t.Context(), submission("k")); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("asked again after %v", took)
	}
}

func TestRefusalsAreTypedAndNotRepeated(t *testing.T) {
	s, c := pair(t)
	s.Misfortune(fake.Fault{Path: "/v1/tasks", Before: true, Status: 400, Body: `{"type":"/problems/field_range","title":"A number is outside its range",
		"status":400,"code":"field_range","detail":"priority","request_id":"r1","errors":[{"code":"field_range","in":"body","pointer":"/priority","detail":"must be at most 9"}]}`})
	_, err := c.Submit(t.Context(), submission("k"))
	refusal, ok := errors.AsType[*orbit.Error](err)
	if !ok || refusal.Code != "field_range" || refusal.Status != 400 || refusal.RequestID != "r1" || refusal.Fields[0].Pointer != "/priority" {
		t.Fatalf("%#v", err)
	}
	if len(s.Requests("/v1/tasks")) != 1 {
		t.Error("a refusal was repeated")
	}
	want := "orbit: field_range (400): priority; body /priority: must be at most 9 [request r1]"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestCommandWithoutAnswerNamesItsKey(t *testing.T) {
	for name, end := range map[string]func(t *testing.T) (context.Context, orbit.Option){
		"retry time": func(t *testing.T) (context.Context, orbit.Option) {
			return t.Context(), orbit.WithRetryFor(50 * time.Millisecond)
		},
		"context": func(t *testing.T) (context.Context, orbit.Option) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			t.Cleanup(cancel)
			return ctx, orbit.WithRetryFor(time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, option := end(t)
			s, c := pair(t, option)
			for range 100 {
				s.Misfortune(fake.Fault{Path: "/v1/tasks"})
			}
			_, err := c.Submit(ctx, submission("mine"))
			unknown, ok := errors.AsType[*orbit.UnknownError](err)
			if !ok || unknown.Key != "mine" || unknown.Operation != "submitTask" {
				t.Fatalf("%v", err)
			}
		})
	}
}

func TestConflictsSayWhatWasFirst(t *testing.T) {
	_, c := pair(t)
	if _, err := c.Submit(t.Context(), submission("k")); err != nil {
		t.Fatal(err)
	}
	other := submission("k")
	other.Input = json.RawMessage(`2`)
	if _, err := c.Submit(t.Context(), other); !orbit.HasCode(err, "submission_conflict") {
		t.Errorf("%v", err)
	}
}

func TestT11BatchHasOneOutcomePerItem(t *testing.T) {
	s, c := pair(t, orbit.WithRetryFor(0))
	items := make([]orbit.Submission, 70)
	for i := range items {
		items[i] = submission(fmt.Sprintf("k%d", i))
	}
	items[3].Input = json.RawMessage(`{broken`)
	items[40].Queue = "full"
	items[69].SubmitKey = "k0"
	outcomes, err := c.SubmitBatch(t.Context(), items)
	if err == nil || len(outcomes) != 70 {
		t.Fatalf("%d outcomes, %v", len(outcomes), err)
	}
	for i, o := range outcomes {
		if wrong := i == 3 || i == 40; wrong != (o.Err != nil) || wrong == (o.Receipt != nil) {
			t.Errorf("item %d: %+v", i, o)
		}
	}
	if !orbit.HasCode(outcomes[40].Err, "queue_full") || !outcomes[69].Receipt.Replayed || outcomes[69].Receipt.TaskID != outcomes[0].Receipt.TaskID {
		t.Errorf("%v, %+v", outcomes[40].Err, outcomes[69].Receipt)
	}
	if sent := len(s.Requests("/v1/task-batches")); sent != 3 {
		t.Errorf("%d requests for 69 items", sent)
	}
}

func TestBatchItemsTurnedAwayForAMomentAreAskedAgain(t *testing.T) {
	s, c := pair(t)
	busy := `{"items":[{"problem":{"code":"busy","status":503,"title":"t"}},{"problem":{"code":"queue_draining","status":409,"title":"t"}}]}`
	s.Misfortune(fake.Fault{Path: "/v1/task-batches", Before: true, Status: 200, Body: busy})
	outcomes, err := c.SubmitBatch(t.Context(), []orbit.Submission{submission("a"), submission("b")})
	if outcomes[0].Err != nil || outcomes[0].Receipt.TaskID == "" || !orbit.HasCode(outcomes[1].Err, "queue_draining") || !orbit.HasCode(err, "queue_draining") {
		t.Errorf("%+v %v", outcomes, err)
	}
	if again := string(s.Requests("/v1/task-batches")[1].Body); strings.Contains(again, `"b"`) || !strings.Contains(again, `"a"`) {
		t.Errorf("asked again for %s", again)
	}
}

func TestBatchLargerThanARequestIsSplitByBytes(t *testing.T) {
	s, c := pair(t)
	items := make([]orbit.Submission, 8)
	for i := range items {
		items[i] = submission("")
		items[i].Input = json.RawMessage(`"` + strings.Repeat("x", 200<<10) + `"`)
	}
	if _, err := c.SubmitBatch(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	if s.Count("QUEUED") != 8 {
		t.Errorf("%d tasks", s.Count("QUEUED"))
	}
}

func TestT21PayloadsKeepTheirBytes(t *testing.T) {
	s, c := pair(t)
	text := `{"amount": 1.10, "big":9223372036854775808,  "t":"<&>🎩"}`
	sub := submission("k")
	sub.Input = json.RawMessage(text)
	receipt, err := c.Submit(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests("/v1/tasks")[0].Body); !strings.HasSuffix(body, `"input":`+text+"}") {
		t.Errorf("sent %s", body)
	}
	task, err := c.GetTask(t.Context(), receipt.TaskID)
	if err != nil {
		t.Fatal(err)
	}
	if string(task.Input) != text {
		t.Errorf("read %s", task.Input)
	}
	value, err := orbit.Decode[map[string]any](task.Input)
	if err != nil || fmt.Sprint(value["big"]) != "9223372036854775808" {
		t.Errorf("%v %v", value, err)
	}
}

func TestListWalksAllPages(t *testing.T) {
	s, c := pair(t)
	for range 5 {
		s.Add(`1`)
	}
	var seen []string
	for task, err := range c.ListTasks(t.Context(), orbit.TaskFilter{Queue: "q"}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, task.TaskID)
	}
	if len(seen) != 5 {
		t.Errorf("%v", seen)
	}
	for range c.ListTasks(t.Context(), orbit.TaskFilter{Queue: "q"}) {
		break
	}
	if sent := len(s.Requests("/v1/tasks")); sent != 4 {
		t.Errorf("%d requests: a walk that ends early asks no further", sent)
	}
}

func TestCancelRepeatsItsKey(t *testing.T) {
	s, c := pair(t)
	id := s.Add(`1`)
	path := "/v1/tasks/" + id + "/cancel"
	s.Misfortune(fake.Fault{Path: path})
	receipt, err := c.Cancel(t.Context(), id, "ordered twice")
	if err != nil || receipt.State != orbit.TaskCancelled || !receipt.Replayed {
		t.Fatalf("%+v %v", receipt, err)
	}
	if sent := s.Requests(path); len(sent) != 2 || sent[0].Key == "" || sent[0].Key != sent[1].Key {
		t.Errorf("%+v", sent)
	}
	result, err := c.Wait(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := orbit.Output[int](result); err == nil || orbit.IsReview(err) {
		t.Errorf("%v", err)
	}
}

func TestPublishTakesADefinitionOrText(t *testing.T) {
	s, c := pair(t)
	ref := flow.Handler[flow.None, flow.None]("q", "h", "1")
	once := flow.Policy{Name: "once", Deadline: time.Minute, AttemptTimeout: time.Minute, Lost: flow.LostReview, Retry: flow.Fixed{MaxAttempts: 1}}
	d, err := flow.Define[flow.None, flow.None]("tiny", 1, flow.Settings{Deadline: time.Hour, OnFailure: flow.Review},
		flow.Body(flow.Task("step", ref, once, flow.Input[flow.None]())), nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Publish(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Publish(t.Context(), json.RawMessage(d.JSON()))
	if err != nil || !again.Replayed || *again != (orbit.WorkflowReceipt{Definition: "tiny", Version: 1, Digest: "00", PublishedAt: first.PublishedAt, Replayed: true}) {
		t.Errorf("%+v %v", again, err)
	}
	if body := string(s.Requests("/v1/workflows")[0].Body); body != `{"document":`+strings.TrimSpace(string(d.JSON()))+"}" {
		t.Errorf("sent %s", body)
	}
	if _, err := c.Publish(t.Context(), 7); err == nil {
		t.Error("published a number")
	}
}
