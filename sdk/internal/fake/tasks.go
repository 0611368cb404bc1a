package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// Task is one task as the fake keeps it.
type Task struct {
	ID              string
	Handler         string
	Version         string
	Queue           string
	State           string
	Input           json.RawMessage
	Output          json.RawMessage
	Failure         json.RawMessage
	Attempt         int32
	Attempts        []rest.Completion // every accepted report
	Late            []rest.Completion
	LeaseUntil      time.Time
	CancelRequested bool
	Timeout         time.Duration
	ClaimedBy       string
	token           string
}

// Add puts a task into the queue "q" for handler "h" version "1" and returns its id.
func (s *Server) Add(input string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(&Task{Handler: "h", Version: "1", Queue: "q", Input: json.RawMessage(input), Timeout: time.Hour}).ID
}

// AddWith is Add with an attempt timeout.
func (s *Server) AddWith(input string, timeout time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(&Task{Handler: "h", Version: "1", Queue: "q", Input: json.RawMessage(input), Timeout: timeout}).ID
}

// Task is a copy of a task's present state.
func (s *Server) Task(id string) Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.tasks[id]
}

// Count is how many tasks are in a state.
func (s *Server) Count(state string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tasks {
		if t.State == state {
			n++
		}
	}
	return n
}

// RequestCancel asks the running attempt of a task to stop.
func (s *Server) RequestCancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks[id].CancelRequested = true
}

// Lose is what the recovery scan does: the attempt is closed as UNKNOWN.
func (s *Server) Lose(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks[id].State = "NEEDS_REVIEW"
}

func (s *Server) add(t *Task) *Task {
	t.ID, t.State = fmt.Sprintf("task_%032x", len(s.tasks)+1), "QUEUED"
	s.tasks[t.ID] = t
	s.queue = append(s.queue, t)
	close(s.arrived)
	s.arrived = make(chan struct{})
	return t
}

// once answers a key: its first receipt, a conflict, or a new receipt.
func (s *Server) once(key, body, conflict string, make func() any) (int, any) {
	if old, ok := s.receipts[key]; ok {
		if old.body != body {
			return 409, refuse(409, conflict)
		}
		return 201, again(old.receipt)
	}
	receipt := encode(make())
	s.receipts[key] = stored{body, receipt}
	return 201, json.RawMessage(receipt)
}

func (s *Server) submit(body []byte) (int, any) {
	var r rest.TaskSubmission
	if err := strict(body, &r); err != nil {
		return 400, refuse(400, "field_unknown")
	}
	if r.Queue == "full" {
		return 429, refuse(429, "queue_full")
	}
	return s.once(r.SubmitKey, string(body), "submission_conflict", func() any {
		t := s.add(&Task{Handler: r.Handler, Version: r.HandlerVersion, Queue: r.Queue, Input: r.Input,
			Timeout: time.Duration(r.AttemptTimeoutMs) * time.Millisecond})
		now := time.Now().UTC()
		return rest.TaskReceipt{TaskId: t.ID, Queue: t.Queue, State: "QUEUED", AcceptedAt: now, AvailableAt: now, DeadlineAt: now.Add(time.Hour)}
	})
}

func (s *Server) submitBatch(body []byte) (int, any) {
	var r struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := strict(body, &r); err != nil || len(r.Items) > 32 || len(body) > 512<<10 {
		return 400, refuse(400, "request_invalid")
	}
	items := []rest.TaskBatchOutcome{}
	for _, item := range r.Items {
		_, answer := s.submit(item)
		switch answer := answer.(type) {
		case problem:
			items = append(items, rest.TaskBatchOutcome{Problem: encode(answer)})
		case again:
			items = append(items, rest.TaskBatchOutcome{Receipt: json.RawMessage(answer), Replayed: true})
		case json.RawMessage:
			items = append(items, rest.TaskBatchOutcome{Receipt: answer})
		}
	}
	return 200, rest.TaskBatchOutcomes{Items: items}
}

func (s *Server) get(id string) (int, any) {
	t, ok := s.tasks[id]
	if !ok {
		return 404, refuse(404, "task_not_found")
	}
	return 200, Raw(fmt.Sprintf(`{"task_id":%q,"queue":%q,"state":%q,"input":%s}`, t.ID, t.Queue, t.State, t.Input))
}

// list gives pages of two, so that a test walks several; the cursor is the number of tasks before.
func (s *Server) list(r *http.Request) (int, any) {
	var from int
	_, _ = fmt.Sscan(r.URL.Query().Get("cursor"), &from) // none is 0
	out := map[string]any{"items": []any{}}
	items := []any{}
	for i := from + 1; i <= len(s.tasks) && len(items) < 2; i++ {
		t := s.tasks[fmt.Sprintf("task_%032x", i)]
		items = append(items, map[string]any{"task_id": t.ID, "state": t.State, "queue": t.Queue})
	}
	out["items"] = items
	if from+2 < len(s.tasks) {
		out["next_cursor"] = fmt.Sprint(from + 2)
	}
	return 200, out
}

func (s *Server) result(id string) (int, any) {
	t := s.tasks[id]
	if t.State == "QUEUED" || t.State == "RUNNING" {
		return 409, refuse(409, "result_pending")
	}
	answer := fmt.Sprintf(`{"task_id":%q,"state":%q,"state_version":3,"at":"2031-07-01T08:30:00.000001Z"`, t.ID, t.State)
	if t.Output != nil {
		answer += `,"output":` + string(t.Output)
	}
	if t.Failure != nil {
		answer += `,"failure":` + string(t.Failure)
	}
	return 200, Raw(answer + "}")
}

func (s *Server) cancel(r *http.Request) (int, any) {
	t := s.tasks[r.PathValue("id")]
	return s.once(r.Header.Get("Idempotency-Key"), t.ID, "idempotency_conflict", func() any {
		if t.State == "QUEUED" {
			t.State = "CANCELLED"
		}
		t.CancelRequested = t.State == "RUNNING"
		return rest.CancelReceipt{TaskId: t.ID, State: rest.TaskState(t.State), CancelRequested: t.CancelRequested, At: time.Now().UTC()}
	})
}

func (s *Server) publish(body []byte) (int, any) {
	var r struct {
		Document struct {
			Definition string `json:"definition"`
			Version    int    `json:"version"`
		} `json:"document"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return 400, refuse(400, "text_syntax")
	}
	return s.once(fmt.Sprint("workflow ", r.Document.Definition, r.Document.Version), string(body), "version_conflict", func() any {
		return rest.WorkflowReceipt{Definition: r.Document.Definition, Version: int32(r.Document.Version), Digest: "00", PublishedAt: time.Now().UTC()}
	})
}

func strict(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
