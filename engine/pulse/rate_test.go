package pulse_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orbitrun/orbit/engine/pulse"
)

// The bound of a rate, over claims of any size at any time by any number of workers: no stretch of one period sees more
// than burst + tokens starts, and a queue that waited is never refused what its credit pays.
func TestNoPeriodSeesMoreThanBurstAndTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := pulse.Rate{
			Tokens: rapid.Int64Range(1, 50).Draw(t, "tokens"), Burst: rapid.Int64Range(1, 20).Draw(t, "burst"),
			Period: time.Duration(rapid.Int64Range(100, 5000).Draw(t, "period")) * time.Millisecond,
		}
		r, now := newRows(), start
		q := r.queues[queueA]
		q.Rate = rate.Changed(pulse.Rate{}, now)
		r.queues[queueA] = q
		b := pulse.Batch{Secret: number(6999)}
		for n := range 150 {
			b.Submissions = append(b.Submissions, submission(uint64(n+1)))
		}
		if _, _, err := r.run(now, b); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second) // steps back of the clock below make no task wait for its time
		var starts []time.Time
		for range rapid.IntRange(1, 60).Draw(t, "claims") {
			now = now.Add(time.Duration(rapid.Int64Range(-2000, rate.Period.Microseconds()/2).Draw(t, "later")) * time.Microsecond)
			held := r.queues[queueA].Rate.At(now)
			c := claim(rapid.IntRange(1, 9).Draw(t, "ask"))
			out, ch, err := r.run(now, pulse.Batch{Secret: number(uint64(7000 + len(starts))), Claims: []pulse.Claim{c}})
			if err != nil {
				t.Fatal(err)
			}
			given := len(out.Claims[0].Started)
			left := 150 - len(starts)
			if want := min(c.Tasks, int(held.Available()), left); given != want {
				t.Fatalf("given %d with %d tokens, asked for %d of %d", given, held.Available(), c.Tasks, left)
			}
			if given < min(c.Tasks, left) && (len(ch.RateWaits) != 1 || ch.RateWaits[0].In <= 0) {
				t.Fatalf("a claim without tokens is told %+v", ch.RateWaits)
			}
			for _, w := range ch.RateWaits { // exact: not a microsecond earlier
				at := r.queues[queueA].Rate.At(now).Refilled.Add(w.In)
				before, then := r.queues[queueA].Rate.At(at.Add(-time.Microsecond)), r.queues[queueA].Rate.At(at)
				if before.Available() != 0 || then.Available() != 1 {
					t.Fatalf("the token told for %v: %d before, %d then", w.In, before.Available(), then.Available())
				}
			}
			for range given {
				starts = append(starts, now)
			}
			if rapid.IntRange(0, 9).Draw(t, "change") == 0 { // the same limit set again gives nothing
				q := r.queues[queueA]
				q.Rate = rate.Changed(q.Rate, now)
				r.queues[queueA] = q
			}
		}
		withinAnyPeriod(t, starts, rate)
	})
}

func withinAnyPeriod(t *rapid.T, starts []time.Time, rate pulse.Rate) {
	for i := range starts {
		n := int64(0)
		for _, s := range starts {
			if !s.Before(starts[i]) && s.Before(starts[i].Add(rate.Period)) {
				n++
			}
		}
		if n > rate.Burst+rate.Tokens {
			t.Fatalf("%d starts in one period of %v, allowed %d + %d", n, rate.Period, rate.Burst, rate.Tokens)
		}
	}
}

// The largest settings and the longest silence stay in 63 bits.
func TestRateArithmeticHolds(t *testing.T) {
	r := pulse.Rate{Tokens: 1_000_000, Period: 24 * time.Hour, Burst: 1_000_000}
	if refusal := r.Check(); refusal != nil {
		t.Fatal(refusal)
	}
	full := r.Changed(pulse.Rate{}, start)
	empty := full
	empty.Credit = 0
	for _, later := range []time.Duration{time.Microsecond, time.Hour, 24 * time.Hour, 250 * 365 * 24 * time.Hour} {
		if got := empty.At(start.Add(later)); got.Credit < 0 || got.Credit > full.Credit || got.Available() > r.Burst {
			t.Errorf("after %v: %+v", later, got)
		}
	}
	if got := empty.At(start.Add(24 * time.Hour)); got.Available() != 1_000_000 {
		t.Errorf("a day gives %d", got.Available())
	}
	if got := empty.At(start.Add(-time.Second)); got != empty {
		t.Errorf("a clock that stepped back changed %+v", got)
	}
	back := empty.At(start.Add(-time.Hour))
	if on := back.At(back.Refilled.Add(86_400 * time.Microsecond)); back.Credit != 0 || on.Available() != 1 {
		t.Errorf("a clock set back by an hour: %+v, then %+v", back, on)
	}
	slow := pulse.Rate{Tokens: 1, Period: 24 * time.Hour, Burst: 1}
	slow.Refilled = start
	if slow.Next() != 24*time.Hour {
		t.Errorf("one a day comes in %v", slow.Next())
	}
	for _, bad := range []pulse.Rate{{Tokens: 0, Period: time.Second, Burst: 1}, {Tokens: 1, Period: time.Millisecond, Burst: 1}, {Tokens: 1, Period: time.Second}, {Tokens: 1, Period: 25 * time.Hour, Burst: 1}} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if other := (pulse.Rate{Tokens: 5, Period: time.Second, Burst: 3}).Changed(full, start); other.Available() != 3 {
		t.Errorf("a smaller burst keeps %d", other.Available())
	}
}
