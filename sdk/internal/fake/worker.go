package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// Raw is an answer sent byte for byte; write sees to it, because encoding/json would compact it.
type Raw string

// MarshalJSON gives the text; only write keeps its blanks.
func (r Raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// inputOf stands for the input of a task until exact puts its bytes there: encoding/json would compact them.
func inputOf(id string) json.RawMessage { return json.RawMessage(`"input of ` + id + `"`) }

func (s *Server) exact(answer any, tasks []rest.ClaimedTask) Raw {
	text := encode(answer)
	for _, t := range tasks {
		text = bytes.Replace(text, inputOf(t.TaskId), s.tasks[t.TaskId].Input, 1)
	}
	return Raw(text)
}

// claims waits for tasks without holding the lock.
func (s *Server) claims(w http.ResponseWriter, r *http.Request) {
	body, fault := s.take(r)
	if fault != nil && fault.Before {
		fault.play(w)
		return
	}
	var c rest.ClaimRequest
	if err := strict(body, &c); err != nil {
		write(w, 400, refuse(400, "field_unknown"))
		return
	}
	deadline := time.After(time.Duration(c.WaitMs) * time.Millisecond)
	for {
		s.mu.Lock()
		tasks, arrived := s.start(&c), s.arrived
		answer := s.exact(rest.ClaimResult{Tasks: tasks}, tasks)
		s.mu.Unlock()
		if len(tasks) == 0 {
			select {
			case <-arrived:
				continue
			case <-deadline:
			case <-r.Context().Done():
				return
			}
		}
		if fault != nil {
			fault.play(w)
			return
		}
		time.Sleep(s.RoundTrip)
		write(w, 200, answer)
		return
	}
}

func (s *Server) start(c *rest.ClaimRequest) []rest.ClaimedTask {
	tasks := []rest.ClaimedTask{}
	now := time.Now().UTC()
	if before, known := s.claimed[c.ClaimKey]; known && c.Question > 0 {
		return s.again(before)
	}
	for len(s.queue) > 0 && len(tasks) < int(c.MaxTasks) {
		t := s.queue[0]
		s.queue = s.queue[1:]
		if t.State != "QUEUED" {
			continue
		}
		t.State, t.ClaimedBy, t.Attempt = "RUNNING", c.Worker, t.Attempt+1
		t.token = fmt.Sprintf("%032x", len(s.requests)<<16+int(t.Attempt))
		t.LeaseUntil = now.Add(time.Duration(c.LeaseMs) * time.Millisecond)
		// The fake's clock is an hour ahead, as a database's may be: a worker that compares clocks fails every test.
		skewed := now.Add(time.Hour)
		tasks = append(tasks, rest.ClaimedTask{
			TaskId: t.ID, AttemptNo: t.Attempt, Token: t.token, Queue: t.Queue, Handler: t.Handler, HandlerVersion: t.Version, Input: inputOf(t.ID),
			StartedAt: skewed, LeaseUntil: skewed.Add(time.Duration(c.LeaseMs) * time.Millisecond), AttemptDeadlineAt: skewed.Add(t.Timeout),
			DeadlineAt: skewed.Add(24 * time.Hour), MaxAttempts: 3, AttemptsUsed: t.Attempt,
		})
	}
	if c.ClaimKey != "" && len(tasks) > 0 {
		s.claimed[c.ClaimKey] = tasks
	}
	return tasks
}

// again hands out what a claim had started and still runs, under new tokens.
func (s *Server) again(before []rest.ClaimedTask) []rest.ClaimedTask {
	tasks := []rest.ClaimedTask{}
	for _, c := range before {
		if t := s.tasks[c.TaskId]; s.holds(t, c.AttemptNo, c.Token) {
			t.token = fmt.Sprintf("%032x", len(s.requests)<<24+int(t.Attempt))
			c.Token = t.token
			tasks = append(tasks, c)
		}
	}
	return tasks
}

func (s *Server) renew(body []byte) (int, any) {
	var r rest.RenewalBatch
	if err := strict(body, &r); err != nil || len(r.Items) > 256 {
		return 400, refuse(400, "field_unknown")
	}
	out := rest.RenewalOutcomes{Items: []rest.RenewalOutcome{}}
	for _, item := range r.Items {
		t := s.tasks[item.TaskId]
		o := rest.RenewalOutcome{TaskId: &item.TaskId, AttemptNo: &item.AttemptNo, Outcome: "LOST"}
		if s.holds(t, item.AttemptNo, item.Token) {
			t.LeaseUntil = time.Now().Add(time.Duration(item.ExtendMs) * time.Millisecond)
			o.Outcome = "CONTINUE"
			if t.CancelRequested {
				o.Outcome = "CANCEL_REQUESTED"
			}
		}
		out.Items = append(out.Items, o)
	}
	return 200, out
}

func (s *Server) holds(t *Task, attempt int32, token string) bool {
	return t != nil && t.State == "RUNNING" && t.Attempt == attempt && t.token == token
}

func (s *Server) complete(body []byte) (int, any) {
	var r rest.CompletionBatch
	if err := strict(body, &r); err != nil || len(r.Items) > 256 || len(body) > 1<<20 {
		return 400, refuse(400, "request_invalid")
	}
	out := rest.CompletionOutcomes{Items: []rest.CompletionOutcome{}, Tasks: []rest.ClaimedTask{}}
	for _, item := range r.Items {
		out.Items = append(out.Items, s.report(item))
	}
	if r.Claim != nil {
		out.Tasks = s.start(r.Claim)
	}
	return 200, s.exact(out, out.Tasks)
}

func (s *Server) report(c rest.Completion) rest.CompletionOutcome {
	t := s.tasks[c.TaskId]
	o := rest.CompletionOutcome{TaskId: &c.TaskId, AttemptNo: &c.AttemptNo}
	if len(c.Output) > 256<<10 {
		o.Outcome, o.Problem = "REFUSED", encode(refuse(413, "payload_too_large"))
		return o
	}
	switch {
	case s.holds(t, c.AttemptNo, c.Token):
		o.Outcome = "ACCEPTED"
		s.accept(t, c)
	case len(t.Attempts) > 0 && string(encode(t.Attempts[len(t.Attempts)-1])) == string(encode(c)):
		o.Outcome = "REPLAYED"
	case t.token == c.Token:
		o.Outcome = "LATE"
		t.Late = append(t.Late, c)
	default:
		o.Outcome, o.Problem = "REFUSED", encode(refuse(409, "lease_unknown"))
	}
	state := rest.TaskState(t.State)
	o.State = &state
	return o
}

func (s *Server) accept(t *Task, c rest.Completion) {
	t.Attempts = append(t.Attempts, c)
	t.Output = c.Output
	if c.Failure != nil {
		t.Failure = encode(c.Failure)
	}
	switch c.Outcome {
	case "SUCCEEDED", "CANCELLED":
		t.State = string(c.Outcome)
	case "UNKNOWN":
		t.State = "NEEDS_REVIEW"
	case "RETURNED":
		s.requeue(t)
	case "FAILED":
		t.State = "FAILED"
		if c.Retryable && t.Attempt < 3 {
			s.requeue(t)
		}
	}
}

func (s *Server) requeue(t *Task) {
	t.State = "QUEUED"
	s.queue = append(s.queue, t)
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// Outputs are the outputs of all tasks that succeeded, by id.
func (s *Server) Outputs() map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]json.RawMessage{}
	for id, t := range s.tasks {
		if t.State == "SUCCEEDED" {
			out[id] = t.Output
		}
	}
	return out
}
