package pulse

import (
	"slices"

	"github.com/orbitrun/orbit/engine"
)

// resource is a resource key in the hands of a plan.
type resource struct {
	Resource
	existed bool // has a row
	dirty   bool
}

func (p *planner) resource(key string) *resource {
	if r := p.resources[key]; r != nil {
		return r
	}
	row, ok := p.s.Resources[key]
	r := &resource{Resource: row, existed: ok}
	r.Key = key
	p.resources[key], p.keys = r, append(p.keys, key)
	return r
}

// free reports whether the task may take the key.
func (r *resource) free(task engine.ID) bool { return r.Holder.Zero() || r.Holder == task }

// release gives the key back, unless an unknown effect keeps it. A task that never held the key may still have been
// the one that was woken for it, so the next waiter is looked for whenever the key is free.
func (p *planner) release(w *work, unknown bool) {
	if w.now.ResourceKey == "" || unknown {
		return
	}
	r := p.resource(w.now.ResourceKey)
	if r.Holder == w.now.ID {
		r.Holder, r.dirty = engine.ID{}, true
	}
	if r.Holder.Zero() {
		p.freed = append(p.freed, r.Key)
	}
}

// wake brings back the first waiter of every freed key.
func (p *planner) wake() {
	for _, key := range p.freed {
		r := p.resource(key)
		for _, wait := range p.s.Waits[key] {
			if !r.Holder.Zero() || p.woken(wait) {
				break
			}
		}
	}
	p.freed = nil
}

// woken takes one waiter off the list and reports whether it is ready to run now.
func (p *planner) woken(wait KeyWait) bool {
	w := p.task(wait.Task)
	if w == nil || w.gone || w.now.State != Blocked {
		return false
	}
	p.leave(w)
	w.now.State = Queued
	p.ch.ReadyElsewhere = append(p.ch.ReadyElsewhere, w.now.Queue)
	return true
}

// leave takes a parked task off the list of its key, for good or for a new try: no row of a wait outlives it, so that
// a thousand cancelled waiters never stand before the next one.
func (p *planner) leave(w *work) {
	r := p.resource(w.now.ResourceKey)
	r.Waiters, r.dirty = r.Waiters-1, true
	p.ch.GoneKeyWaits = append(p.ch.GoneKeyWaits, waitOf(&w.now))
}

// waitOf is the wait of a parked task. Its place was fixed when it was parked, and nothing it is made of changes
// while it waits.
func waitOf(t *Task) KeyWait {
	return KeyWait{t.ResourceKey, t.Due(), t.ID, t.Application, t.Queue}
}

// park moves a task behind its key. One that was woken in this very plan and found the key taken by a better one keeps
// the row it had.
func (p *planner) park(w *work, r *resource) {
	w.now.State = Blocked
	r.Waiters, r.dirty = r.Waiters+1, true
	wait := waitOf(&w.now)
	if at := slices.IndexFunc(p.ch.GoneKeyWaits, func(g KeyWait) bool { return g.Task == wait.Task }); at >= 0 {
		p.ch.GoneKeyWaits = slices.Delete(p.ch.GoneKeyWaits, at, at+1)
		return
	}
	p.ch.NewKeyWaits = append(p.ch.NewKeyWaits, wait)
}

// keepResources writes what became of every key: a key that nobody holds and nobody waits for has no row.
// The rows are in key order: two applications that start tasks of the same new keys must insert them alike.
func (p *planner) keepResources() {
	slices.Sort(p.keys)
	for _, key := range p.keys {
		r := p.resources[key]
		switch {
		case !r.dirty:
		case r.Holder.Zero() && r.Waiters == 0 && r.existed:
			p.ch.FreedResources = append(p.ch.FreedResources, key)
		case r.Holder.Zero() && r.Waiters == 0:
		case r.existed:
			p.ch.Resources = append(p.ch.Resources, r.Resource)
		default:
			p.ch.NewResources = append(p.ch.NewResources, r.Resource)
		}
	}
}
