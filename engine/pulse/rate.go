package pulse

import (
	"time"

	"github.com/orbitrun/orbit/engine"
)

// Rate limits the starts of a queue: Tokens come back per Period, evenly, and at most Burst are saved. The zero value
// limits nothing. Credit counts in token-microseconds, one token being PeriodMicros of them, so that no arithmetic
// rounds: with credit never above Burst tokens, no stretch of one period sees more than Burst + Tokens starts.
type Rate struct {
	Tokens   int64
	Period   time.Duration
	Burst    int64
	Credit   int64
	Refilled time.Time // database's clock
}

// RateWrite is the state of a queue's rate after the starts of a transaction.
type RateWrite struct {
	Queue uint64
	Rate  Rate
}

// RateWait says how long after the transaction's time a queue has its next token: a hint for waiting claims.
type RateWait struct {
	Queue uint64
	In    time.Duration
}

// Limited reports whether there is a limit.
func (r *Rate) Limited() bool { return r.Tokens > 0 }

func (r *Rate) unit() int64 { return r.Period.Microseconds() }

// Check refuses a rate whose arithmetic could leave 63 bits or that never gives a token. Field names are those of the API.
func (r *Rate) Check() *engine.Refusal {
	switch {
	case r.Tokens < 1 || r.Tokens > engine.RateTokensMax:
		return invalid("/rate/tokens", "tokens is 1 to 1000000")
	case r.Period < engine.RatePeriodMin || r.Period > engine.RatePeriodMax:
		return invalid("/rate/period_ms", "period_ms is 100 ms to 24 hours")
	case r.Burst < 1 || r.Burst > engine.RateTokensMax:
		return invalid("/rate/burst", "burst is 1 to 1000000")
	}
	return nil
}

// At is the rate with what has come back until now. A clock that stepped back gives nothing and takes nothing; once it was
// set back for good, by more than RateClockStep, time counts from where it stands, or the queue would wait for it to
// come that far again.
func (r Rate) At(now time.Time) Rate {
	full := r.Burst * r.unit()
	gone := now.Sub(r.Refilled).Microseconds()
	switch {
	case !r.Limited():
		return r
	case gone < -engine.RateClockStep.Microseconds():
		r.Refilled = now
		return r
	case gone <= 0:
		return r
	}
	r.Refilled = now
	if missing := full - r.Credit; gone >= (missing+r.Tokens-1)/r.Tokens {
		r.Credit = full
	} else {
		r.Credit += gone * r.Tokens
	}
	return r
}

// Available is how many starts the credit pays.
func (r *Rate) Available() int64 { return r.Credit / r.unit() }

// Next is how long after Refilled the next token is there; zero when one is.
func (r *Rate) Next() time.Duration {
	missing := r.unit() - r.Credit
	if missing <= 0 {
		return 0
	}
	return time.Duration((missing+r.Tokens-1)/r.Tokens) * time.Microsecond
}

// Changed is the state of a rate with new settings: a new limit begins with its burst saved, a changed one keeps the
// whole tokens it has, so that changing a limit back and forth gives no start for free.
func (r Rate) Changed(old Rate, now time.Time) Rate {
	r.Refilled, r.Credit = now, r.Burst*r.unit()
	if old.Limited() {
		old = old.At(now)
		r.Credit = min(old.Available(), r.Burst) * r.unit()
	}
	return r
}

// Same reports equal settings, whatever the state.
func (r *Rate) Same(o *Rate) bool {
	return r.Tokens == o.Tokens && r.Period == o.Period && r.Burst == o.Burst
}

// pay takes one token for a start.
func (u *Usage) pay(queue uint64) {
	q := u.queues[queue]
	if !q.Rate.Limited() {
		return
	}
	q.Rate.Credit -= q.Rate.unit()
	if u.paid == nil {
		u.paid = map[uint64]bool{}
	}
	u.paid[queue] = true
}

// tokens reports whether the queue's rate pays one more start.
func (u *Usage) tokens(queue uint64) bool {
	q := u.queues[queue]
	return q == nil || !q.Rate.Limited() || q.Rate.Available() > 0
}

// Rates lists the rates that paid, in queue order.
func (u *Usage) Rates() (out []RateWrite) {
	for _, id := range sortedKeys(u.paid) {
		out = append(out, RateWrite{id, u.queues[id].Rate})
	}
	return out
}

// refill brings the rates of the claimed queues to the transaction's time, once.
func (p *planner) refill() {
	for i := range p.b.Claims {
		for _, id := range p.b.Claims[i].Queues {
			if q := p.usage.queues[id]; q != nil && q.Rate.Limited() {
				q.Rate = q.Rate.At(p.s.Now)
			}
		}
	}
}

// awaitTokens notes when a claim that wants more may find a token.
func (p *planner) awaitTokens(c *Claim) {
	for _, id := range c.Queues {
		if q := p.usage.queues[id]; q != nil && !p.usage.tokens(id) {
			p.ch.RateWaits = append(p.ch.RateWaits, RateWait{id, q.Rate.Next()})
		}
	}
}
