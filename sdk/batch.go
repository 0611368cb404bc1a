package orbit

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

const (
	batchItemsMax = 32
	// batchBytesMax keeps a request under the server's 512 KiB, its frame included.
	batchBytesMax = 500 << 10
)

// SubmitOutcome is what became of one item of a batch: a receipt or an error, never both.
type SubmitOutcome struct {
	SubmitKey string
	Receipt   *TaskReceipt
	Err       error // *Error when the item was refused, *UnknownError when it was never answered
}

// StartOutcome is what became of one start of a batch: an instance or an error, never both.
type StartOutcome struct {
	StartKey string
	Instance *Instance
	Err      error
}

// SubmitBatch submits any number of tasks in requests of at most 32 items and 512 KiB. It is not atomic: each item
// stands for itself, nothing but its own fault fails an item, and outcomes are in the order of the items (T11).
// Requests go one after the other, so that tasks are accepted in the order of the items. The error joins those of the
// items; with it, too, all outcomes are there.
func (c *Client) SubmitBatch(ctx context.Context, items []Submission) ([]SubmitOutcome, error) {
	outcomes := make([]SubmitOutcome, len(items))
	b := batch{client: c, operation: "submitTaskBatch", send: func(body []byte) (*http.Request, error) {
		return rest.NewSubmitTaskBatchRequestWithBody(c.server, nil, jsonBody, bytes.NewReader(body))
	}}
	for _, s := range items {
		s.SubmitKey = keyOr(s.SubmitKey)
		text, err := s.body()
		b.add(s.SubmitKey, text, err)
	}
	receipts := make([]TaskReceipt, len(items))
	errs := b.run(ctx, func(i int) any { return &receipts[i] })
	for i := range outcomes {
		outcomes[i] = SubmitOutcome{SubmitKey: b.keys[i], Err: errs[i]}
		if errs[i] == nil {
			receipts[i].Replayed = b.replayed[i]
			outcomes[i].Receipt = &receipts[i]
		}
	}
	return outcomes, errors.Join(errs...)
}

// StartInstances starts any number of instances, as SubmitBatch submits tasks.
func (c *Client) StartInstances(ctx context.Context, starts []Start) ([]StartOutcome, error) {
	outcomes := make([]StartOutcome, len(starts))
	b := batch{client: c, operation: "startInstanceBatch", send: func(body []byte) (*http.Request, error) {
		return rest.NewStartInstanceBatchRequestWithBody(c.server, nil, jsonBody, bytes.NewReader(body))
	}}
	for _, s := range starts {
		s.StartKey = keyOr(s.StartKey)
		text, err := s.body()
		b.add(s.StartKey, text, err)
	}
	receipts := make([]InstanceReceipt, len(starts))
	errs := b.run(ctx, func(i int) any { return &receipts[i] })
	for i := range outcomes {
		outcomes[i] = StartOutcome{StartKey: b.keys[i], Err: errs[i]}
		if errs[i] == nil {
			receipts[i].Replayed = b.replayed[i]
			outcomes[i].Instance = &Instance{InstanceReceipt: receipts[i], client: c}
		}
	}
	return outcomes, errors.Join(errs...)
}

// batch is a list of commands on its way: what is sent, and what is known of each item.
type batch struct {
	client    *Client
	operation string
	send      func(body []byte) (*http.Request, error)
	keys      []string
	texts     [][]byte
	errs      []error
	replayed  []bool
	passing   []bool // the server itself turned the item away, for a moment
}

func (b *batch) add(key string, text []byte, err error) {
	b.keys, b.texts = append(b.keys, key), append(b.texts, text)
	b.errs, b.replayed, b.passing = append(b.errs, err), append(b.replayed, false), append(b.passing, false)
}

// run sends all items, and those that were turned away for a passing reason again, with the same keys and bytes. into
// gives the place of the receipt of item i.
func (b *batch) run(ctx context.Context, into func(i int) any) []error {
	open := make([]int, 0, len(b.keys))
	for i, err := range b.errs {
		if err == nil {
			open = append(open, i)
		}
	}
	started := time.Now()
	for try := 0; len(open) > 0; try++ {
		for at := 0; at < len(open); {
			n := b.fitting(open[at:])
			b.round(ctx, open[at:at+n], into)
			at += n
		}
		if open = b.repeatable(open); len(open) == 0 {
			break
		}
		wait := pause(try, b.errs[open[0]])
		if time.Since(started)+wait > b.client.retryFor || sleep(ctx, wait) != nil {
			break
		}
	}
	return b.errs
}

// fitting is how many of the next items go into one request.
func (b *batch) fitting(open []int) int {
	size := 0
	for n, i := range open {
		size += len(b.texts[i]) + 1
		if n > 0 && (n == batchItemsMax || size > batchBytesMax) {
			return n
		}
	}
	return len(open)
}

func (b *batch) round(ctx context.Context, indexes []int, into func(i int) any) {
	items := make([][]byte, len(indexes))
	for n, i := range indexes {
		items[n] = b.texts[i]
	}
	body := list(items)
	var answer struct {
		Items []batchOutcome `json:"items"`
	}
	_, err := b.client.do(ctx, call{operation: b.operation, key: b.keys[indexes[0]], out: &answer,
		build: func() (*http.Request, error) { return b.send(body) }})
	for n, i := range indexes {
		b.passing[i] = false
		switch {
		case err != nil:
			b.errs[i] = b.itemError(i, err)
		case n >= len(answer.Items):
			b.errs[i] = &UnknownError{Operation: b.operation, Key: b.keys[i], Err: errors.New("the answer has no outcome for this item")}
		default:
			b.errs[i] = answer.Items[n].settle(into(i))
			b.replayed[i], b.passing[i] = answer.Items[n].Replayed, Repeatable(b.errs[i])
		}
	}
}

// itemError gives each item of an unanswered request its own key to ask with.
func (b *batch) itemError(i int, err error) error {
	if unknown, ok := errors.AsType[*UnknownError](err); ok {
		return &UnknownError{Operation: b.operation, Key: b.keys[i], Err: unknown.Err}
	}
	return err
}

// repeatable keeps the items worth another round. Those of an unanswered request are not among them: do has already
// asked as long as it may.
func (b *batch) repeatable(open []int) []int {
	var again []int
	for _, i := range open {
		if b.passing[i] {
			again = append(again, i)
		}
	}
	return again
}
