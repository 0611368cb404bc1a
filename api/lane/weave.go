package lane

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
)

// weaveMax bounds the instances of one workflow transaction; each may make 32 changes.
const weaveMax = 32

// Weaver runs workflow transactions for a lane.
type Weaver interface {
	// Run starts instances, does what is asked of others and consumes what waits for them, in as few transactions as
	// possible. It answers every start and every request; an error means that nothing of this call is known to be committed.
	Run(ctx context.Context, namespace uint64, starts []*Start, instances []engine.ID, requests ...weave.Request) (WeaveResult, error)
}

// Start asks for one workflow instance. Version zero means the latest published one.
type Start struct {
	Credential, Application uint64
	InstanceID              engine.ID
	Key                     string
	Definition              string
	Version                 uint32
	BusinessKey             string
	Input                   []byte
	InputDigest             [32]byte
	Traceparent             string
}

// StartOutcome is the answer to one start.
type StartOutcome struct {
	InstanceID engine.ID
	Receipt    []byte
	Replayed   bool
	Refusal    *engine.Refusal
}

// WeaveResult is what a workflow transaction made.
type WeaveResult struct {
	Starts    []StartOutcome
	Answers   []weave.Answer    // to the requests
	Ready     []uint64          // queues with new waiting tasks
	Again     []engine.ID       // instances whose plan was cut by its budget
	Overtaken []weave.Overtaken // tasks to cancel
	Late      []time.Duration   // how late timers rang
	DueAt     time.Time         // when the first clock of these instances rings; zero: none runs
}

// add joins what another transaction made.
func (r *WeaveResult) add(one *WeaveResult) {
	r.Starts, r.Answers = append(r.Starts, one.Starts...), append(r.Answers, one.Answers...)
	r.Ready, r.Again = append(r.Ready, one.Ready...), append(r.Again, one.Again...)
	r.Overtaken, r.Late = append(r.Overtaken, one.Overtaken...), append(r.Late, one.Late...)
	r.DueAt = engine.Sooner(r.DueAt, one.DueAt)
}

// runWeave runs one transaction of workflows, if anything waits, and returns how many callers it served.
func (l *Lane) runWeave() int {
	items, starts, requests, instances := l.takeWeave()
	if len(items)+len(instances) == 0 {
		return 0
	}
	ctx, cancel := l.context()
	defer cancel()
	began := time.Now()
	result, err := l.set.weaver.Run(ctx, l.namespace, starts, instances, requests...)
	l.set.opt.Observe(Observation{"weave", len(starts) + len(requests) + len(instances), l.depth(), len(l.waiting), time.Since(began), err, result.Late})
	for _, it := range items {
		it.err = err
		if err == nil {
			it.begun, result.Starts = cut(result.Starts, len(it.starts))
			it.answers, result.Answers = cut(result.Answers, len(it.requests))
		}
		close(it.done)
	}
	if err != nil && len(instances) > 0 {
		l.set.opt.OnInternal(err) // the rows stay PENDING; the scan finds them again
	}
	for _, q := range result.Ready {
		l.mark(q)
	}
	l.advance(result.Again)
	l.cancelOvertaken(result.Overtaken)
	if !result.DueAt.IsZero() {
		l.set.opt.OnClock(l.namespace, result.DueAt)
	}
	return len(items)
}

// takeWeave takes starts and requests in order of arrival and the instances to continue.
func (l *Lane) takeWeave() (items []*item, starts []*Start, requests []weave.Request, instances []engine.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bytes := 0
	for len(l.starts) > 0 && (len(items) == 0 || len(starts)+len(requests)+l.starts[0].asked() <= weaveMax && bytes+l.starts[0].brought() <= engine.TransactionBytesMax) {
		it := l.starts[0]
		bytes += it.brought()
		items, starts, requests = append(items, it), append(starts, it.starts...), append(requests, it.requests...)
		l.starts = l.starts[1:]
	}
	n := min(len(l.advances), weaveMax)
	instances = append(instances, l.advances[:n]...)
	l.advances = l.advances[n:]
	for _, id := range instances {
		delete(l.pending, id)
	}
	return items, starts, requests, instances
}

// cancelOvertaken has Pulse cancel tasks whose workflow no longer needs them, in one of the lane's next transactions. If
// it is lost, the checkpoint of the step brings it again.
func (l *Lane) cancelOvertaken(tasks []weave.Overtaken) {
	for len(tasks) > 0 {
		n := min(len(tasks), engine.TransactionItemsMax)
		it := newItem()
		for _, t := range tasks[:n] {
			it.batch.Dues = append(it.batch.Dues, pulse.Due{Kind: pulse.DueOvertaken, Application: t.Application, Queue: t.Queue, Task: t.Task})
		}
		if l.enqueue(it) != nil {
			return
		}
		tasks = tasks[n:]
	}
}
