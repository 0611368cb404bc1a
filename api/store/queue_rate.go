package store

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// QueueRates reads the rates of queues whose rows are held; a reader without locks sees a moment.
func QueueRates(ctx context.Context, q *db.Queries, namespace uint64, queues []uint64) (map[uint64]pulse.Rate, error) {
	out := map[uint64]pulse.Rate{}
	if len(queues) == 0 {
		return out, nil
	}
	rows, err := q.ListQueueRates(ctx, db.ListQueueRatesParams{NamespaceID: namespace, QueueIds: queues})
	for i := range rows {
		out[rows[i].QueueID] = rate(&rows[i])
	}
	return out, err
}

func rate(r *db.ListQueueRatesRow) pulse.Rate {
	return pulse.Rate{Tokens: r.Tokens, Period: time.Duration(r.PeriodMs) * time.Millisecond, Burst: r.Burst, Credit: r.Credit, Refilled: r.RefilledAt}
}

// PutQueueRates writes rates of queues whose rows are held.
func PutQueueRates(ctx context.Context, t *tx.Tx, rates []pulse.RateWrite) error {
	return tx.Many(ctx, t, (*db.Queries).PutQueueRate, mapped(rates, func(w *pulse.RateWrite) db.PutQueueRateParams {
		r := &w.Rate
		return db.PutQueueRateParams{NamespaceID: t.Namespace(), QueueID: w.Queue, Tokens: r.Tokens, PeriodMs: r.Period.Milliseconds(), Burst: r.Burst, Credit: r.Credit, RefilledAt: r.Refilled}
	}))
}

// rates locks what only claims look at, and only of limited queues: without a limit nothing is read or written.
func (l *pulseLoad) rates(ctx context.Context, place tx.AfterQueues, rows []db.LockQueuesRow) error {
	var limited []uint64
	for i := range rows {
		if rows[i].RateLimited == 1 && len(l.batch.Claims) > 0 {
			limited = append(limited, rows[i].QueueID)
		}
	}
	rates, err := place.LockQueueRates(ctx, limited)
	for i := range rates {
		row := db.ListQueueRatesRow(rates[i])
		q := l.s.Queues[row.QueueID]
		q.Rate = rate(&row)
		l.s.Queues[row.QueueID] = q
	}
	return err
}

func (a *pulseApply) rates() error { return PutQueueRates(a.ctx, a.t, a.c.Rates) }
