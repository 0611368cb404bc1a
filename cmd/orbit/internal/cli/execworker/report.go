package execworker

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/gen/client"
)

// reportFor is how long an outcome is kept and offered to a server that does
// not answer. Late reports are kept by the server as evidence, so it is worth
// trying beyond the lease.
const reportFor = 10 * time.Minute

// report tells the server how an attempt ended, again and again: the report is
// idempotent by attempt and token.
func (w *Worker) report(ctx context.Context, a *attempt, r report) {
	ctx, cancel := context.WithTimeout(ctx, reportFor)
	defer cancel()
	body, err := r.body(w.opt.Name, a.task)
	if err != nil {
		w.log("%s: %v", a.task.TaskId, err)
		return
	}
	for attempt := 0; ; attempt++ {
		answer, err := w.on.Once(ctx, func(ctx context.Context) (*http.Response, error) {
			return w.on.API.CompleteTasksWithBody(ctx, "application/json", bytes.NewReader(body))
		})
		if err == nil {
			w.told(a, answer)
			return
		}
		// Even a fault of the server is no reason to forget an outcome.
		if cli.ExitCodeOf(err) != cli.ExitUnavailable || cli.Sleep(ctx, cli.Backoff(attempt, err)) != nil {
			w.log("%s: the outcome %s could not be reported: %v", a.task.TaskId, r.outcome, err)
			return
		}
	}
}

// told logs what became of a report, unless it was simply accepted.
func (w *Worker) told(a *attempt, answer cli.Answer) {
	got, err := cli.Decode[client.CompletionOutcomes](answer)
	if err != nil || len(got.Items) != 1 {
		w.log("%s: the answer to the report cannot be read: %v", a.task.TaskId, err)
		return
	}
	switch o := got.Items[0]; o.Outcome {
	case client.CompletionOutcomeOutcomeLATE:
		w.log("%s: the report came too late; it is kept as evidence and changes no state", a.task.TaskId)
	case client.CompletionOutcomeOutcomeREFUSED:
		w.log("%s: the report was refused: %s", a.task.TaskId, cli.ItemRefusal(o.Problem).Line())
	}
}

// body is one completion; the output is the bytes the command printed.
func (r report) body(worker string, t client.ClaimedTask) ([]byte, error) {
	item := new(cli.Body).Text("task_id", t.TaskId).Int("attempt_no", int64(t.AttemptNo)).Text("token", t.Token).
		Text("outcome", string(r.outcome)).Raw("output", r.output).Flag("retryable", r.retryable)
	if r.failure != nil {
		item.Value("failure", r.failure)
	}
	text, err := item.Bytes()
	if err != nil {
		return nil, err
	}
	return new(cli.Body).Text("worker", worker).Raw("items", append(append([]byte("["), text...), ']')).Bytes()
}

// why is the failure on the worker's log.
func (r report) why() string {
	if r.failure == nil {
		return ""
	}
	return " (" + r.failure.Code + ")"
}
