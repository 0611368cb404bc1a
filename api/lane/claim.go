package lane

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
)

// Granted is a started task with everything its worker needs.
type Granted struct {
	Task    pulse.Task
	Payload db.ListTaskPayloadsRow
}

// Token is what the worker must show with every report.
func (g *Granted) Token() string {
	return pulse.LeaseToken{Queue: g.Task.Queue, Secret: g.Task.Token}.Text()
}

// Claim waits up to wait for work. Nothing found is an empty answer, not an error.
func (s *Set) Claim(ctx context.Context, namespace uint64, c pulse.Claim, wait time.Duration) ([]Granted, *engine.Refusal, error) {
	it := newItem()
	it.batch.Claims = []pulse.Claim{c}
	it.until = time.Now().Add(wait)
	if err := s.do(ctx, namespace, it); err != nil {
		return nil, nil, err
	}
	return it.granted, it.out.Claims[0].Refusal, nil
}

// Complete reports ended attempts and, in the same transaction, may claim the next tasks. It never waits for work:
// a report's answer is not held back.
func (s *Set) Complete(ctx context.Context, namespace uint64, reports []pulse.Report, next *pulse.Claim) ([]pulse.ReportOutcome, []Granted, *engine.Refusal, error) {
	it := newItem()
	it.batch.Reports = reports
	if next != nil {
		it.batch.Claims = []pulse.Claim{*next}
	}
	if err := s.do(ctx, namespace, it); err != nil {
		return nil, nil, nil, err
	}
	if next == nil {
		return it.out.Reports, nil, nil, nil
	}
	return it.out.Reports, it.granted, it.out.Claims[0].Refusal, nil
}

// deliver reads the payloads of everything one transaction started in one statement, after the commit and beside the
// lane, and answers the claims. What cannot be read is given back, so that it waits a moment and not a lease.
func (l *Lane) deliver(items []*item) {
	ctx, cancel := l.context()
	defer cancel()
	var ids []engine.ID
	for _, it := range items {
		for _, started := range it.started() {
			ids = append(ids, started.Task.ID)
		}
	}
	rows, err := db.New(l.set.reader).ListTaskPayloads(ctx, db.ListTaskPayloadsParams{NamespaceID: l.namespace, TaskIds: store.Bytes(ids)})
	byID := make(map[engine.ID]*db.ListTaskPayloadsRow, len(rows))
	for i := range rows {
		byID[store.ID(rows[i].TaskID)] = &rows[i]
	}
	for _, it := range items {
		started := it.started()
		it.granted, it.err = join(started, byID), err
		if err != nil || !it.promise() {
			l.giveBack(&it.batch.Claims[0], started)
		}
		close(it.done)
	}
}

func join(started []pulse.Started, byID map[engine.ID]*db.ListTaskPayloadsRow) []Granted {
	out := make([]Granted, 0, len(started))
	for i := range started {
		if row := byID[started[i].Task.ID]; row != nil {
			out = append(out, Granted{started[i].Task, *row})
		}
	}
	return out
}

// giveBack returns started tasks that never reached their worker, so that they wait a moment and not a lease. It passes
// a full and a stopping lane: a lost attempt would end with a person.
func (l *Lane) giveBack(c *pulse.Claim, started []pulse.Started) {
	it := newItem()
	it.batch.Reports = returned(c, started)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, it)
	l.signal()
}
