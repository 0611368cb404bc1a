package pulse

import "github.com/orbitrun/orbit/engine"

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

// wake brings back the first waiter of every freed key. Waiters that ended meanwhile are met here and removed.
func (p *planner) wake() {
	for _, key := range p.freed {
		r := p.resource(key)
		for _, wait := range p.s.Waits[key] {
			if !r.Holder.Zero() || p.woken(r, wait) {
				break
			}
		}
	}
	p.freed = nil
}

// woken takes one waiter off the list and reports whether it is ready to run now.
func (p *planner) woken(r *resource, wait KeyWait) bool {
	w := p.task(wait.Task)
	if p.gone(wait) {
		return false
	}
	r.Waiters, r.dirty = r.Waiters-1, true
	p.ch.GoneKeyWaits = append(p.ch.GoneKeyWaits, wait)
	if w == nil || w.gone || w.now.State != Blocked {
		return false
	}
	w.now.State = Queued
	p.ch.ReadyElsewhere = append(p.ch.ReadyElsewhere, w.now.Queue)
	return true
}

// gone reports whether the wait was already taken off in this plan.
func (p *planner) gone(wait KeyWait) bool {
	for _, g := range p.ch.GoneKeyWaits {
		if g == wait {
			return true
		}
	}
	return false
}

// park moves a task behind its key.
func (p *planner) park(w *work, r *resource) {
	w.now.State = Blocked
	r.Waiters, r.dirty = r.Waiters+1, true
	p.ch.NewKeyWaits = append(p.ch.NewKeyWaits, KeyWait{r.Key, w.now.Due(), w.now.ID, w.now.Application, w.now.Queue})
}

// keepResources writes what became of every key: a key that nobody holds and nobody waits for has no row.
func (p *planner) keepResources() {
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
