package pulse

import (
	"fmt"

	"github.com/orbitrun/orbit/engine"
)

// work is one task in the hands of a plan: what it was, what it is now.
type work struct {
	before Task
	now    Task
	fresh  bool        // accepted in this plan; before is meaningless
	gone   bool        // ended in this plan
	public Public      // what the last change made of it
	sub    *Submission // of a fresh task
}

// state is what callers see of the task at this point of the plan.
func (w *work) state() Public {
	if w.gone {
		return w.public
	}
	return w.now.State.Public()
}

type planner struct {
	s     *Snapshot
	b     *Batch
	usage *Usage
	out   Outcomes
	ch    Changes

	tasks     map[engine.ID]*work
	order     []*work // in order of first touch: output never depends on a map
	resources map[string]*resource
	keys      []string // of resources, in order of first touch
	freed     []string
	accepted  map[ReceiptKey]int // receipts written by this batch
	slots     map[SlotKey]Slot   // taken by this batch
	handed    map[ClaimKey]bool  // claims whose attempts this batch hands out
	ends      map[endKey]int
	pools     map[PoolKey]*pool
}

// endKey is an EndSet without its tasks.
type endKey struct {
	state     Public
	version   uint32
	attemptNo uint16
	code      string
}

// Decide is the whole of Pulse for one transaction. It reads nothing but its arguments and changes neither.
func Decide(s *Snapshot, b *Batch) (Outcomes, Changes) {
	p := &planner{
		s: s, b: b, usage: NewUsage(s.Quotas, s.Queues),
		tasks: map[engine.ID]*work{}, resources: map[string]*resource{},
		accepted: map[ReceiptKey]int{}, slots: map[SlotKey]Slot{}, handed: map[ClaimKey]bool{}, ends: map[endKey]int{}, pools: map[PoolKey]*pool{},
	}
	p.out = Outcomes{
		Submissions: make([]SubmitOutcome, len(b.Submissions)), Reports: make([]ReportOutcome, len(b.Reports)),
		Renewals: make([]RenewalOutcome, len(b.Renewals)), Cancels: make([]CancelOutcome, len(b.Cancels)),
		Claims: make([]ClaimOutcome, len(b.Claims)), Reviews: make([]ReviewOutcome, len(b.Reviews)), Retries: make([]SubmitOutcome, len(b.Retries)),
		Pages: make([]BulkOutcome, len(b.Pages)),
	}
	p.reports()
	p.renewals()
	p.cancels()
	p.reviews()
	p.dues()
	p.submissions()
	p.retries()
	p.pages()
	p.wake()
	p.claims()
	p.wake() // a claim meets tasks whose deadline has passed: the key they were woken for goes to the next
	p.collect()
	return p.out, p.ch
}

// task takes an open task into the plan; nil when the snapshot does not hold it.
func (p *planner) task(id engine.ID) *work {
	if w := p.tasks[id]; w != nil {
		return w
	}
	t, ok := p.s.Open[id]
	if !ok {
		return nil
	}
	return p.take(t)
}

func (p *planner) take(t Task) *work {
	if w := p.tasks[t.ID]; w != nil {
		return w
	}
	w := &work{before: t, now: t}
	p.tasks[t.ID], p.order = w, append(p.order, w)
	return w
}

// event raises the version by one and writes the event that names it.
func (p *planner) event(w *work, kind EventKind, attempt uint16, detail string) {
	w.now.Version++
	p.ch.Events = append(p.ch.Events, EventWrite{w.now.ID, w.now.Version, kind, attempt, detail})
}

// verdict ends a task or hands it to a person.
type verdict struct {
	on        Event
	kind      EventKind
	attemptNo uint16
	code      string
	message   string
	output    []byte
	detail    string // of the event, JSON; empty: the code
	unknown   bool   // an effect may have happened that nobody has confirmed: permit and key stay held
}

// settle applies a verdict: version, event, counters, full row, stream and inbox, all from one place.
func (p *planner) settle(w *work, v verdict) {
	from := w.now.State.Public()
	blocked := w.now.State == Blocked
	to, ok := Next(from, v.on)
	if !ok {
		panic(fmt.Sprintf("pulse: %s cannot %s", from, v.on))
	}
	if from == PublicRunning {
		p.usage.run(&w.now, -1)
	}
	p.event(w, v.kind, v.attemptNo, orElse(v.detail, codeDetail(v.code)))
	w.public = to
	w.now.PermitHeld = v.unknown
	w.now.State = Review
	w.now.LeaseUntil = zeroTime
	if to.Terminal() {
		w.gone = true
		p.usage.close(&w.now)
	}
	if blocked {
		p.leave(w) // it neither held the key nor was woken for it, so nobody else's turn has come
	} else {
		p.release(w, v.unknown)
	}
	p.end(endKey{to, w.now.Version, v.attemptNo, v.code}, w.now.ID)
	p.ch.Stream = append(p.ch.Stream, StreamWrite{w.now.Application, w.now.Queue, w.now.ID, to, w.now.Version})
	if !w.now.Owner.Zero() {
		p.ch.Inbox = append(p.ch.Inbox, InboxWrite{
			Instance: w.now.Gate, Activation: w.now.Owner, Task: w.now.ID, Version: w.now.Version, State: to,
			AttemptNo: v.attemptNo, FailureCode: v.code, FailureMessage: v.message, Output: v.output,
		})
	}
}

func codeDetail(code string) string {
	if code == "" {
		return ""
	}
	return fmt.Sprintf(`{"code":%q}`, code)
}

func (p *planner) end(key endKey, id engine.ID) {
	i, ok := p.ends[key]
	if !ok {
		i = len(p.ch.Ends)
		p.ends[key] = i
		p.ch.Ends = append(p.ch.Ends, EndSet{State: key.state, Version: key.version, AttemptNo: key.attemptNo, FailureCode: key.code})
	}
	p.ch.Ends[i].Tasks = append(p.ch.Ends[i].Tasks, id)
}
