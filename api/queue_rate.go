package api

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// rateOf is the zero rate, no limit, without settings.
func rateOf(r *httpapi.QueueRate) pulse.Rate {
	if r == nil {
		return pulse.Rate{}
	}
	return pulse.Rate{Tokens: r.Tokens, Period: time.Duration(r.PeriodMs) * time.Millisecond, Burst: r.Burst}
}

// queueExtras adds what only some queues have: why they are held, and their rate with what it would pay now.
func (s *Server) queueExtras(ctx context.Context, c auth.Caller, row db.GetQueueByNameRow, out *httpapi.Queue) error {
	if row.Paused == 1 || row.Draining == 1 {
		rows, err := s.q().ListQueueHolds(ctx, db.ListQueueHoldsParams{NamespaceID: c.Namespace, QueueID: row.QueueID})
		if err != nil {
			return err
		}
		for _, h := range rows {
			out.Holds = append(out.Holds, httpapi.QueueHold{Kind: holdNames[h.Kind], Reason: string(h.Reason), By: string(h.HeldBy), At: h.HeldAt})
		}
	}
	if row.RateLimited == 0 {
		return nil
	}
	rates, err := store.QueueRates(ctx, s.q(), c.Namespace, []uint64{row.QueueID})
	if err != nil {
		return err
	}
	now, err := tx.ServerTime(ctx, s.Reader)
	if rate := rates[row.QueueID].At(now); err == nil && rate.Limited() {
		out.Rate = &httpapi.QueueRateState{Tokens: rate.Tokens, PeriodMs: rate.Period.Milliseconds(), Burst: rate.Burst, Available: rate.Available()}
	}
	return err
}
