package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Outcome is what became of one item of a batch.
type Outcome struct {
	Line     int             `json:"line"`
	Key      string          `json:"key,omitempty"`
	Receipt  json.RawMessage `json:"receipt,omitempty"`
	Replayed bool            `json:"replayed,omitempty"`
	Problem  json.RawMessage `json:"problem,omitempty"`
}

// answers is the common shape of task-batches and instance-batches.
type answers struct {
	Items []struct {
		Receipt  json.RawMessage `json:"receipt"`
		Replayed bool            `json:"replayed"`
		Problem  json.RawMessage `json:"problem"`
	} `json:"items"`
}

// Batch sends lines and repeats those whose trouble may pass, a full queue for
// instance; their keys make that safe. An error means that nothing is known
// of some lines.
func (on *Session) Batch(ctx context.Context, lines []Line, send func(ctx context.Context, body []byte) (*http.Response, error)) ([]Outcome, error) {
	out := make([]Outcome, len(lines))
	pending := make([]int, len(lines))
	for i := range lines {
		pending[i] = i
	}
	for attempt := 0; ; attempt++ {
		again, wait, err := on.batchOnce(ctx, lines, pending, out, send)
		if err != nil || len(again) == 0 || attempt >= on.retries {
			return out, err
		}
		if err := Sleep(ctx, Backoff(attempt, wait)); err != nil {
			return out, on.ended(ctx)
		}
		pending = again
	}
}

// batchOnce sends the pending lines; it returns those worth another try.
func (on *Session) batchOnce(ctx context.Context, lines []Line, pending []int, out []Outcome, send func(context.Context, []byte) (*http.Response, error)) (again []int, trouble error, err error) {
	some := make([]Line, len(pending))
	for i, at := range pending {
		some[i] = lines[at]
	}
	body := Items(some)
	got, _, err := Read[answers](ctx, on, func(ctx context.Context) (*http.Response, error) { return send(ctx, body) })
	if err != nil {
		return nil, nil, err
	}
	if len(got.Items) != len(pending) {
		return nil, nil, &Failure{ExitUnavailable, fmt.Sprintf("the node answered %d of %d items", len(got.Items), len(pending))}
	}
	for i, at := range pending {
		item := got.Items[i]
		out[at] = Outcome{lines[at].No, lines[at].Key, item.Receipt, item.Replayed, item.Problem}
		if item.Problem == nil {
			continue
		}
		if refused := ItemRefusal(item.Problem); Passing(refused) {
			again, trouble = append(again, at), refused
		}
	}
	return again, trouble, nil
}
