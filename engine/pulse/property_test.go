package pulse_test

import (
	"fmt"
	"maps"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// One transaction for many operations is an optimisation and nothing else: taken one by one, in the order in which a
// plan looks at them, the same operations give the same answers and end in the same rows, counters and stream.
func TestAnyBatchingEndsInTheSameRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &drawn{t: t}
		together, apart := newRows(), newRows()
		limit(together, t)
		for i, kind := range []pulse.BulkKind{pulse.BulkCancel, pulse.BulkRetry, pulse.BulkPurge} {
			op := pulse.Bulk{ID: number(uint64(500 + i)), Application: app, Queue: queueA, Credential: key, Kind: kind, State: pulse.BulkRunning, DryRun: d.pick("dry", 3) == 1, Reason: "many"}
			together.bulks[op.ID], apart.bulks[op.ID] = op, op
		}
		maps.Copy(apart.queues, together.queues)
		maps.Copy(apart.quotas, together.quotas)
		now := start
		for round := range 8 {
			b := d.batch(together, now, number(uint64(1000+round)))
			out, _, err := together.run(now, b)
			if err != nil {
				t.Fatalf("round %d together: %v", round, err)
			}
			var one pulse.Outcomes
			for _, single := range apartOf(b) {
				o, _, err := apart.run(now, single)
				if err != nil {
					t.Fatalf("round %d apart: %v", round, err)
				}
				one = joined(one, o)
			}
			if got, want := fmt.Sprintf("%+v", out), fmt.Sprintf("%+v", one); got != want {
				t.Fatalf("round %d answers\n%s\ntogether,\n%s\none by one", round, got, want)
			}
			if diff := differ(together, apart); diff != "" {
				t.Fatalf("round %d: %s", round, diff)
			}
			d.remember(out)
			now = now.Add(time.Duration(d.pick("seconds", 40)) * time.Second)
		}
	})
}

// limit gives the world small limits now and then.
func limit(r *rows, t *rapid.T) {
	q := r.queues[queueA]
	q.RunningAttemptsMax = int64(rapid.SampledFrom([]int{1, 2, 1000}).Draw(t, "running max"))
	q.OpenTasksMax = int64(rapid.SampledFrom([]int{3, 1000}).Draw(t, "open max"))
	q.Paused = rapid.IntRange(0, 9).Draw(t, "paused") == 0
	if rapid.IntRange(0, 2).Draw(t, "limited") == 0 {
		q.Rate = pulse.Rate{Tokens: 1, Period: 20 * time.Second, Burst: 3}.Changed(pulse.Rate{}, start)
	}
	r.queues[queueA] = q
	a := r.quotas[app]
	a.RunningAttemptsMax = int64(rapid.SampledFrom([]int{2, 1000}).Draw(t, "application running max"))
	r.quotas[app] = a
}

func (d *drawn) batch(r *rows, now time.Time, secret engine.ID) pulse.Batch {
	b := pulse.Batch{Secret: secret}
	for range d.pick("reports", 4) {
		b.Reports = append(b.Reports, d.report())
	}
	for range d.pick("renewals", 3) {
		b.Renewals = append(b.Renewals, d.renewal())
	}
	for range d.pick("cancels", 3) {
		b.Cancels = append(b.Cancels, d.cancel())
	}
	for range d.pick("reviews", 3) {
		b.Reviews = append(b.Reviews, d.review(r))
	}
	b.Dues = d.dues(r, now)
	for range d.pick("submissions", 5) {
		b.Submissions = append(b.Submissions, d.submission())
	}
	for range d.pick("retries", 3) {
		b.Retries = append(b.Retries, d.retry(r))
	}
	b.Pages = d.pages(r)
	for range d.pick("claims", 3) {
		b.Claims = append(b.Claims, d.claim())
	}
	return b
}

// apartOf is one batch for each operation, in the order of Decide.
func apartOf(b pulse.Batch) []pulse.Batch {
	var all []pulse.Batch
	for _, x := range b.Reports {
		all = append(all, pulse.Batch{Secret: b.Secret, Reports: []pulse.Report{x}})
	}
	for _, x := range b.Renewals {
		all = append(all, pulse.Batch{Secret: b.Secret, Renewals: []pulse.Renewal{x}})
	}
	for _, x := range b.Cancels {
		all = append(all, pulse.Batch{Secret: b.Secret, Cancels: []pulse.Cancel{x}})
	}
	for _, x := range b.Reviews {
		all = append(all, pulse.Batch{Secret: b.Secret, Reviews: []pulse.ReviewRequest{x}})
	}
	for _, x := range b.Dues {
		all = append(all, pulse.Batch{Secret: b.Secret, Dues: []pulse.Due{x}})
	}
	for _, x := range b.Submissions {
		all = append(all, pulse.Batch{Secret: b.Secret, Submissions: []pulse.Submission{x}})
	}
	for _, x := range b.Retries {
		all = append(all, pulse.Batch{Secret: b.Secret, Retries: []pulse.ManualRetry{x}})
	}
	for _, x := range b.Pages {
		all = append(all, pulse.Batch{Secret: b.Secret, Pages: []pulse.BulkPage{x}})
	}
	for _, x := range b.Claims {
		all = append(all, pulse.Batch{Secret: b.Secret, Claims: []pulse.Claim{x}})
	}
	return all
}

func joined(a, b pulse.Outcomes) pulse.Outcomes {
	return pulse.Outcomes{
		Submissions: append(a.Submissions, b.Submissions...), Reports: append(a.Reports, b.Reports...), Renewals: append(a.Renewals, b.Renewals...),
		Cancels: append(a.Cancels, b.Cancels...), Claims: append(a.Claims, b.Claims...), Reviews: append(a.Reviews, b.Reviews...), Retries: append(a.Retries, b.Retries...), Pages: append(a.Pages, b.Pages...),
	}
}

// differ names the first table in which two databases are not equal.
func differ(a, b *rows) string {
	va, vb := reflect.ValueOf(*a), reflect.ValueOf(*b)
	for i := range va.NumField() {
		name := va.Type().Field(i).Name
		x, y := fmt.Sprintf("%+v", va.Field(i)), fmt.Sprintf("%+v", vb.Field(i))
		if x != y && name != "waits" {
			return fmt.Sprintf("%s\n%s\ntogether,\n%s\none by one", name, x, y)
		}
	}
	for k := range a.resources {
		if x, y := fmt.Sprintf("%+v", a.firstWaits(k)), fmt.Sprintf("%+v", b.firstWaits(k)); x != y {
			return fmt.Sprintf("waits for %s\n%s\ntogether,\n%s\none by one", k, x, y)
		}
	}
	return ""
}

// A retry's delay is a function of the policy, the task and the attempt: the same every time it is computed, at least
// the base, at most the base and its jitter, and never above what the policy allows.
func TestRetryDelaysAreReproducibleAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := pulse.Retry{
			Kind:        rapid.SampledFrom([]pulse.RetryKind{pulse.RetryFixed, pulse.RetryLinear, pulse.RetryExponential, pulse.RetryList}).Draw(t, "kind"),
			MaxAttempts: uint16(rapid.IntRange(1, engine.RetryAttemptsMax).Draw(t, "attempts")), JitterPercent: uint8(rapid.IntRange(0, engine.RetryJitterMax).Draw(t, "jitter")),
			DelayMS: rapid.Int64Range(0, 1e9).Draw(t, "delay"), StepMS: rapid.Int64Range(0, 1e9).Draw(t, "step"), Factor: rapid.Int64Range(2, engine.RetryFactorMax).Draw(t, "factor"),
		}
		longest := engine.DeadlineMax.Milliseconds()
		r.MaxDelayMS = rapid.Int64Range(r.DelayMS, longest).Draw(t, "max")
		plain := r
		if r.Kind == pulse.RetryList {
			for range r.MaxAttempts - 1 {
				r.DelaysMS = append(r.DelaysMS, rapid.Int64Range(0, longest).Draw(t, "item"))
			}
		}
		if refusal := r.Check(); refusal != nil {
			t.Fatal(refusal)
		}
		stored, err := pulse.ParseRetry(r.Text())
		if err != nil || !reflect.DeepEqual(stored, r) {
			t.Fatalf("%+v comes back as %+v (%v)", r, stored, err)
		}
		plain = stored
		plain.JitterPercent = 0
		task := number(rapid.Uint64().Draw(t, "task"))
		for used := uint16(1); used < r.MaxAttempts; used++ {
			delay, base := r.Delay(task, used), plain.Delay(number(1), used)
			if delay != stored.Delay(task, used) {
				t.Fatal("computed again, the delay is another")
			}
			span := base * time.Duration(r.JitterPercent) / 100
			if delay < base || delay > base+span {
				t.Fatalf("attempt %d waits %v, its base is %v and its jitter at most %v", used, delay, base, span)
			}
			if r.Kind != pulse.RetryList && r.Kind != pulse.RetryFixed && base > time.Duration(r.MaxDelayMS)*time.Millisecond {
				t.Fatalf("base %v is above max_delay_ms %d", base, r.MaxDelayMS)
			}
		}
	})
}

// What each policy says, by hand.
func TestRetryDelaysByHand(t *testing.T) {
	for _, c := range []struct {
		retry pulse.Retry
		want  string
	}{
		{pulse.Retry{Kind: pulse.RetryFixed, DelayMS: 1000}, "[1s 1s 1s 1s]"},
		{pulse.Retry{Kind: pulse.RetryLinear, DelayMS: 1000, StepMS: 500, MaxDelayMS: 1800}, "[1s 1.5s 1.8s 1.8s]"},
		{pulse.Retry{Kind: pulse.RetryExponential, DelayMS: 1000, Factor: 3, MaxDelayMS: 10_000}, "[1s 3s 9s 10s]"},
		{pulse.Retry{Kind: pulse.RetryList, DelaysMS: []int64{5, 4, 3, 2}}, "[5ms 4ms 3ms 2ms]"},
		{pulse.Retry{Kind: pulse.RetryFixed, DelayMS: 1000, JitterPercent: 50}, "[1.195s 1.007s 1.168s 1.475s]"},
	} {
		var got []time.Duration
		for used := uint16(1); used <= 4; used++ {
			got = append(got, c.retry.Delay(number(1), used))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v waits %v, want %s", c.retry, got, c.want)
		}
	}
}
