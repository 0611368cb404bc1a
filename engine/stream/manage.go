package stream

import (
	"cmp"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
)

func sortBySeq(ds []Delivery) {
	slices.SortFunc(ds, func(a, b Delivery) int { return cmp.Compare(a.Seq, b.Seq) })
}

// RedeliverPlan gives dead letters a new budget. The generation goes on, so proofs of before stay good until somebody
// is handed the next one. Refuses: window_full, when more would be out than the window allows.
func RedeliverPlan(s Subscription, letters []Delivery, seqs []uint64, now time.Time) (Changes, []uint64, error) {
	w := newSettling(s, letters, now)
	var revived []uint64
	for _, seq := range seqs {
		d, state := w.rows[seq], Settled
		if d != nil {
			state = d.StateAt(now)
		}
		if decide(state, Redeliver) != Revive {
			continue
		}
		d.Dead, d.Tries, d.DueAt, d.Holder = false, 0, now, 0
		w.put[seq] = true
		w.c.Cleared = append(w.c.Cleared, seq)
		w.c.After.Dead--
		w.c.After.Pending++
		revived = append(revived, seq)
	}
	if w.c.After.Pending > int64(s.Window) && len(revived) > 0 {
		r := engine.Refuse("window_full", "so many deliveries are unacknowledged that these do not fit; acknowledge some or name fewer")
		return Changes{}, nil, r.Over(int64(s.Window), w.c.After.Pending)
	}
	return w.done(), revived, nil
}

// SeekCheck says whether a position may change now: only while the subscription is paused and nobody works on a
// delivery, because every proof becomes void. Refuses: subscription_active, deliveries_held.
func SeekCheck(s *Subscription, rows []Delivery, now time.Time) *engine.Refusal {
	if !s.Paused {
		return engine.Refuse("subscription_active", "pause the subscription before its position is changed")
	}
	held := 0
	for i := range rows {
		if rows[i].StateAt(now) == Held {
			held++
		}
	}
	if held > 0 {
		return engine.Refuse("deliveries_held", "consumers still hold deliveries; they end by acknowledgement or by their time").Over(0, int64(held))
	}
	return nil
}
