package pulse

import (
	"encoding/binary"
	"slices"
	"time"
)

// pool is what claims with the same queue and handlers choose from, in dispatch order.
type pool struct {
	tasks     []Task
	next      int
	truncated bool
	parked    bool
}

// HandlersKey spells a set of handlers for PoolKey.
func HandlersKey(handlers []uint64) string {
	sorted := slices.Clone(handlers)
	slices.Sort(sorted)
	var key []byte
	for _, h := range slices.Compact(sorted) {
		key = binary.BigEndian.AppendUint64(key, h)
	}
	return string(key)
}

func before(a, b *Task) int {
	if c := a.Due().Compare(b.Due()); c != 0 {
		return c
	}
	return slices.Compare(a.ID[:], b.ID[:])
}

// pool merges what the rows hold with what this plan has just made ready. Behind a truncated list unseen tasks
// wait, so nothing newer may overtake them.
func (p *planner) pool(key PoolKey, handlers []uint64) *pool {
	if known := p.pools[key]; known != nil {
		return known
	}
	rows := p.s.Pools[key]
	made := &pool{truncated: rows.Truncated}
	for i := range rows.Tasks {
		if p.tasks[rows.Tasks[i].ID] == nil {
			made.tasks = append(made.tasks, rows.Tasks[i])
		}
	}
	for _, w := range p.order {
		if w.gone || w.now.State != Queued || w.now.Queue != key.Queue || !slices.Contains(handlers, w.now.HandlerHash) {
			continue
		}
		if !p.judged(&w.now) {
			p.ch.ReadyElsewhere = append(p.ch.ReadyElsewhere, key.Queue)
			continue
		}
		if n := len(rows.Tasks); !rows.Truncated || n > 0 && before(&w.now, &rows.Tasks[n-1]) < 0 {
			made.tasks = append(made.tasks, w.now)
		}
	}
	slices.SortFunc(made.tasks, func(a, b Task) int { return before(&a, &b) })
	p.pools[key] = made
	return made
}

// judged reports whether the snapshot says anything about the gate of a task. Gates stand above tasks on the ladder, so
// only those of candidates were read: a task this plan has just made ready stays for the next claim. Not read is not
// closed; nothing would wake a task that was parked for it.
func (p *planner) judged(t *Task) bool {
	_, read := p.s.Gates[t.Gate]
	return read || t.Gate.Zero()
}

// claims serves the claims in order of arrival; each takes the task that is due first among its queues.
func (p *planner) claims() {
	p.refill()
	for i := range p.b.Claims {
		c := &p.b.Claims[i]
		if refusal := p.judge(c.Credential, "worker:claim"); refusal != nil {
			p.out.Claims[i].Refusal = refusal
			continue
		}
		if again, known := p.repeated(c); known {
			p.out.Claims[i] = again
			continue
		}
		p.out.Claims[i].Started = p.serve(c)
		p.remember(c, p.out.Claims[i].Started)
	}
}

func (p *planner) serve(c *Claim) []Started {
	var started []Started
	for len(started) < c.Tasks {
		best := p.best(c)
		if best == nil {
			break
		}
		task := best.tasks[best.next]
		best.next++
		if w := p.start(p.take(task), c, best); w != nil {
			started = append(started, Started{w.now})
		}
	}
	if len(started) < c.Tasks {
		p.awaitTokens(c)
	}
	used := p.usedUp(c)
	p.ch.Widen = p.ch.Widen || used
	p.ch.MoreForClaims = p.ch.MoreForClaims || used && len(started) < c.Tasks
	return started
}

// best is the pool whose head is due first, among the queues with room.
func (p *planner) best(c *Claim) *pool {
	var best *pool
	for _, q := range c.Queues {
		if !p.usage.room(c.Application, q) || !p.usage.tokens(q) {
			continue
		}
		candidate := p.pool(PoolKey{q, HandlersKey(c.Handlers)}, c.Handlers)
		candidate.skipTaken(p)
		if candidate.next < len(candidate.tasks) && (best == nil || before(&candidate.tasks[candidate.next], &best.tasks[best.next]) < 0) {
			best = candidate
		}
	}
	return best
}

// skipTaken passes over tasks that another pool of this plan has started or moved.
func (l *pool) skipTaken(p *planner) {
	for l.next < len(l.tasks) {
		w := p.tasks[l.tasks[l.next].ID]
		if w == nil || !w.gone && w.now.State == Queued {
			return
		}
		l.next++
	}
}

// usedUp reports a candidate list of the claim that blocked tasks have used up, while more wait behind it. Until it is
// longer, other queues' tasks overtake those unseen ones.
func (p *planner) usedUp(c *Claim) bool {
	for _, q := range c.Queues {
		l := p.pools[PoolKey{q, HandlersKey(c.Handlers)}]
		if l != nil && l.truncated && l.parked && l.next >= len(l.tasks) {
			return true
		}
	}
	return false
}

// start starts one task, or moves it out of the way of others: expired, behind a closed gate, behind a held key.
func (p *planner) start(w *work, c *Claim, from *pool) *work {
	switch {
	case w.now.AvailableAt.After(p.s.Now):
		return nil
	case !p.s.Now.Before(w.now.DeadlineAt):
		p.expire(w)
		from.parked = true
		return nil
	case !w.now.Gate.Zero() && !p.s.Gates[w.now.Gate]:
		w.now.State, from.parked = Gated, true
		return nil
	case w.now.ResourceKey != "" && !p.resource(w.now.ResourceKey).free(w.now.ID):
		p.park(w, p.resource(w.now.ResourceKey))
		from.parked = true
		return nil
	}
	p.grant(w, c)
	return w
}

func (p *planner) grant(w *work, c *Claim) {
	p.usage.run(&w.now, 1)
	p.usage.pay(w.now.Queue)
	w.now.State, w.now.PermitHeld = Running, true
	w.now.AttemptNo, w.now.AttemptsUsed = w.now.AttemptNo+1, w.now.AttemptsUsed+1
	w.now.StartedAt, w.now.Token, w.now.Worker, w.now.CancelRequestedAt = p.s.Now, AttemptToken(p.b.Secret, w.now.ID), c.Worker, time.Time{}
	w.now.LeaseUntil = earlier(p.s.Now.Add(c.Lease), w.now.AttemptDeadline())
	p.event(w, EventStarted, w.now.AttemptNo, "")
	if w.now.ResourceKey != "" {
		r := p.resource(w.now.ResourceKey)
		r.Holder, r.dirty = w.now.ID, true
	}
}

// leaseKey groups starts that share every written value.
type leaseKey struct {
	worker string
	until  int64
}
