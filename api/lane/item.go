package lane

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
)

// item is what one caller hands to a lane. done is closed once out or err is set.
type item struct {
	batch    pulse.Batch
	starts   []*Start
	requests []weave.Request
	until    time.Time // a claim may wait until then
	out      pulse.Outcomes
	granted  []Granted
	begun    []StartOutcome
	answers  []weave.Answer
	err      error
	looked   uint64 // the lane's mark when a waiting claim last looked
	done     chan struct{}
	fate     atomic.Int32
}

func newItem() *item { return &item{done: make(chan struct{})} }

// Fates of an item: started tasks reach their caller or go back, never both and never neither.
const (
	open int32 = iota
	answered
	leftAlone
)

// leave is the caller's: it no longer waits, unless its tasks were already promised to it.
func (it *item) leave() bool { return it.fate.CompareAndSwap(open, leftAlone) }

// promise is the lane's: the caller gets what was started for it, unless it has left.
func (it *item) promise() bool { return it.fate.CompareAndSwap(open, answered) }

func (it *item) left() bool { return it.fate.Load() == leftAlone }

// weight is how many rows the item asks for; a claim weighs what it may start.
func (it *item) weight() int {
	n := len(it.batch.Submissions) + len(it.batch.Reports) + len(it.batch.Renewals) + len(it.batch.Cancels) + len(it.batch.Dues) + len(it.batch.Reviews) + len(it.batch.Retries)
	for i := range it.batch.Pages {
		n += it.batch.Pages[i].Items() + 1
	}
	for i := range it.batch.Claims {
		n += it.batch.Claims[i].Tasks
	}
	return max(n, 1)
}

// asked is how many workflows the item is about.
func (it *item) asked() int { return len(it.starts) + len(it.requests) }

// brought is what the item's starts and requests write, in bytes.
func (it *item) brought() int {
	n := 0
	for _, s := range it.starts {
		n += len(s.Input)
	}
	for _, r := range it.requests {
		if sized, ok := r.(interface{ Bytes() int }); ok {
			n += sized.Bytes()
		}
	}
	return n
}

// payload is what the item writes, in bytes.
func (it *item) payload() int {
	n := 0
	for i := range it.batch.Submissions {
		n += len(it.batch.Submissions[i].Input)
	}
	for i := range it.batch.Reports {
		n += len(it.batch.Reports[i].Output) + len(it.batch.Reports[i].FailureDetails)
	}
	for i := range it.batch.Reviews {
		n += len(it.batch.Reviews[i].Output) + len(it.batch.Reviews[i].Evidence)
	}
	for i := range it.batch.Pages {
		n += it.batch.Pages[i].Bytes
	}
	return n + len(it.batch.Retries)*engine.PayloadBytesMax // their inputs are known only under the locks
}

// onlyClaims reports whether the item may wait for work; an item that also reports must be answered at once.
func (it *item) onlyClaims() bool {
	return len(it.batch.Claims) > 0 && it.weight() == claimed(it.batch.Claims)
}

func claimed(claims []pulse.Claim) int {
	n := 0
	for i := range claims {
		n += claims[i].Tasks
	}
	return n
}

// replayed reports a claim that was answered from its key: it waits for nothing new.
func (it *item) replayed() bool {
	return slices.ContainsFunc(it.out.Claims, func(o pulse.ClaimOutcome) bool { return o.Replayed })
}

// started lists what the item's claims were given.
func (it *item) started() []pulse.Started {
	var all []pulse.Started
	for i := range it.out.Claims {
		all = append(all, it.out.Claims[i].Started...)
	}
	return all
}

// refused reports whether a claim was refused: a refusal is an answer, not a reason to wait.
func (it *item) refused() bool {
	for i := range it.out.Claims {
		if it.out.Claims[i].Refusal != nil {
			return true
		}
	}
	return false
}

// returned makes the reports that give started tasks back untouched, for a caller that has gone.
func returned(c *pulse.Claim, started []pulse.Started) []pulse.Report {
	reports := make([]pulse.Report, len(started))
	for i := range started {
		t := &started[i].Task
		reports[i] = pulse.Report{
			Credential: c.Credential, Application: c.Application, Queue: t.Queue, Task: t.ID, AttemptNo: t.AttemptNo,
			Token: t.Token, Outcome: pulse.Returned, Text: []byte(`{"outcome":"RETURNED","reason":"caller gone"}`),
		}
	}
	return reports
}

// group is the items of one transaction and their merged batch.
type group struct {
	items  []*item
	batch  pulse.Batch
	weight int
	bytes  int
}

// fits reports whether the item may join; the first always does.
func (g *group) fits(it *item) bool {
	return len(g.items) == 0 ||
		g.weight+it.weight() <= engine.TransactionItemsMax && g.bytes+it.payload() <= engine.TransactionBytesMax
}

func (g *group) add(it *item) {
	g.items = append(g.items, it)
	g.weight, g.bytes = g.weight+it.weight(), g.bytes+it.payload()
}

// merge lays the items' slices one after the other.
func (g *group) merge() {
	g.batch = pulse.Batch{}
	for _, it := range g.items {
		g.batch.Submissions = append(g.batch.Submissions, it.batch.Submissions...)
		g.batch.Reports = append(g.batch.Reports, it.batch.Reports...)
		g.batch.Renewals = append(g.batch.Renewals, it.batch.Renewals...)
		g.batch.Cancels = append(g.batch.Cancels, it.batch.Cancels...)
		g.batch.Reviews = append(g.batch.Reviews, it.batch.Reviews...)
		g.batch.Retries = append(g.batch.Retries, it.batch.Retries...)
		g.batch.Pages = append(g.batch.Pages, it.batch.Pages...)
		g.batch.Claims = append(g.batch.Claims, it.batch.Claims...)
		g.batch.Dues = append(g.batch.Dues, it.batch.Dues...)
	}
}

// split hands every item its own part of the outcomes.
func (g *group) split(out pulse.Outcomes) {
	for _, it := range g.items {
		b := &it.batch
		it.out.Submissions, out.Submissions = cut(out.Submissions, len(b.Submissions))
		it.out.Reports, out.Reports = cut(out.Reports, len(b.Reports))
		it.out.Renewals, out.Renewals = cut(out.Renewals, len(b.Renewals))
		it.out.Cancels, out.Cancels = cut(out.Cancels, len(b.Cancels))
		it.out.Reviews, out.Reviews = cut(out.Reviews, len(b.Reviews))
		it.out.Retries, out.Retries = cut(out.Retries, len(b.Retries))
		it.out.Pages, out.Pages = cut(out.Pages, len(b.Pages))
		it.out.Claims, out.Claims = cut(out.Claims, len(b.Claims))
	}
}

func cut[T any](all []T, n int) (mine, rest []T) { return all[:n:n], all[n:] }
