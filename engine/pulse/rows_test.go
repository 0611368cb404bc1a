package pulse_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// rows is a database in memory: what the store reads for a plan and what it writes of one, with the fences of the real
// statements. Nothing here decides.
type rows struct {
	callers   map[uint64]engine.Caller
	quotas    map[uint64]pulse.Quota
	queues    map[uint64]pulse.Queue
	receipts  map[pulse.ReceiptKey]pulse.Receipt
	slots     map[pulse.SlotKey]pulse.Slot
	claims    map[pulse.ClaimKey]pulse.ClaimRecord
	progress  map[engine.ID]pulse.ProgressWrite
	open      map[engine.ID]pulse.Task
	full      map[engine.ID]fullRow
	attempts  map[pulse.AttemptKey]pulse.AttemptWrite
	events    map[engine.ID][]pulse.EventWrite
	resources map[string]pulse.Resource
	waits     map[string]map[engine.ID]pulse.KeyWait
	gates     map[engine.ID]bool
	late      map[string]pulse.LateWrite
	inbox     []pulse.InboxWrite
	stream    []pulse.StreamWrite
	audits    []pulse.AuditWrite
	reviews   map[engine.ID]pulse.ReviewWrite
	retries   map[engine.ID]pulse.RetryWrite
	bulks     map[engine.ID]pulse.Bulk
	bulkItems map[string]pulse.BulkItemWrite
	poolMore  int // how many candidates a pool offers beyond what claims ask for; the store offers four
	waitsMax  int
}

type fullRow struct {
	Application uint64
	State       pulse.Public
	Version     uint32
	AttemptNo   uint16
	Code        string
	Retry       pulse.Retry
	Contract    string
	CreatedAt   time.Time
	Source      pulse.Source
	Sub         pulse.Submission
	Deadline    time.Time
}

const (
	app, otherApp     = uint64(7), uint64(8)
	key, otherKey     = uint64(70), uint64(80)
	queueA, queueB    = uint64(11), uint64(12)
	queueOfOther      = uint64(13)
	hour, minute      = time.Hour, time.Minute
	deadlineMS        = int64(3_600_000)
	attemptTimeoutMS  = int64(600_000)
	allScopes         = "tasks:submit tasks:cancel worker:claim tasks:review tasks:retry queues:manage"
	limitlessRows     = int64(1 << 40)
	defaultMaxWaiters = engine.KeyWaitersPerPlan
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func newRows() *rows {
	r := &rows{
		callers: map[uint64]engine.Caller{}, quotas: map[uint64]pulse.Quota{}, queues: map[uint64]pulse.Queue{},
		slots: map[pulse.SlotKey]pulse.Slot{}, claims: map[pulse.ClaimKey]pulse.ClaimRecord{}, progress: map[engine.ID]pulse.ProgressWrite{},
		receipts: map[pulse.ReceiptKey]pulse.Receipt{}, open: map[engine.ID]pulse.Task{}, full: map[engine.ID]fullRow{},
		attempts: map[pulse.AttemptKey]pulse.AttemptWrite{}, events: map[engine.ID][]pulse.EventWrite{},
		resources: map[string]pulse.Resource{}, waits: map[string]map[engine.ID]pulse.KeyWait{}, gates: map[engine.ID]bool{},
		late: map[string]pulse.LateWrite{}, reviews: map[engine.ID]pulse.ReviewWrite{}, retries: map[engine.ID]pulse.RetryWrite{}, bulks: map[engine.ID]pulse.Bulk{}, bulkItems: map[string]pulse.BulkItemWrite{}, poolMore: 1 << 20, waitsMax: defaultMaxWaiters,
	}
	for application, credential := range map[uint64]uint64{app: key, otherApp: otherKey} {
		r.callers[credential] = engine.Caller{Credential: credential, Application: application, Scopes: allScopes, ApplicationActive: true, NamespaceActive: true}
		r.quotas[application] = pulse.Quota{Application: application, OpenTasksMax: limitlessRows, RunningAttemptsMax: limitlessRows, OpenInstancesMax: limitlessRows, OpenPayloadBytesMax: limitlessRows}
	}
	for queue, application := range map[uint64]uint64{queueA: app, queueB: app, queueOfOther: otherApp} {
		r.queues[queue] = pulse.Queue{ID: queue, Application: application, OpenTasksMax: limitlessRows, RunningAttemptsMax: limitlessRows}
	}
	return r
}

// load is what store.LoadPulse reads for a batch.
func (r *rows) load(b *pulse.Batch, now time.Time) *pulse.Snapshot {
	s := &pulse.Snapshot{
		Now: now, Callers: maps.Clone(r.callers), Quotas: maps.Clone(r.quotas), Queues: maps.Clone(r.queues),
		Receipts: maps.Clone(r.receipts), Open: map[engine.ID]pulse.Task{}, Rules: map[engine.ID]pulse.Rules{},
		Attempts: map[pulse.AttemptKey]pulse.EndedAttempt{}, Unsettled: map[engine.ID]bool{}, Resources: maps.Clone(r.resources),
		Waits: map[string][]pulse.KeyWait{}, Gates: map[engine.ID]bool{}, Pools: map[pulse.PoolKey]pulse.Pool{},
	}
	for _, id := range b.TaskIDs() {
		r.loadTask(s, id)
	}
	r.loadSlots(s, b)
	s.ClaimRecords = maps.Clone(r.claims)
	for i := range b.Claims {
		key, _ := b.Claims[i].RecordKey()
		for _, started := range r.claims[key].Started {
			r.loadTask(s, started.Task)
		}
	}
	r.loadDecisions(s, b)
	s.Bulks = maps.Clone(r.bulks)
	for resource := range r.resources {
		s.Waits[resource] = r.firstWaits(resource)
		for _, w := range s.Waits[resource] {
			s.Open[w.Task] = r.open[w.Task]
		}
	}
	wants := map[pulse.PoolKey]int{}
	for i := range b.Claims {
		for _, q := range b.Claims[i].Queues {
			pool := pulse.PoolKey{Queue: q, Handlers: pulse.HandlersKey(b.Claims[i].Handlers)}
			wants[pool] += b.Claims[i].Tasks
			s.Pools[pool] = r.loadPool(q, b.Claims[i].Handlers, wants[pool]+r.poolMore)
			// Gates stand above tasks on the ladder: only those of candidates can be locked.
			for _, t := range s.Pools[pool].Tasks {
				if open, ok := r.gates[t.Gate]; ok {
					s.Gates[t.Gate] = open
				}
			}
		}
	}
	return s
}

func (r *rows) loadSlots(s *pulse.Snapshot, b *pulse.Batch) {
	s.Slots = map[pulse.SlotKey]pulse.Slot{}
	for i := range b.Submissions {
		key, asked := b.Submissions[i].SlotKey()
		slot, held := r.slots[key]
		if !asked || !held {
			continue
		}
		s.Slots[key] = slot
		if t, ok := r.open[slot.Task]; ok {
			s.Open[slot.Task] = t
		}
	}
}

func (r *rows) loadTask(s *pulse.Snapshot, id engine.ID) {
	full, ok := r.full[id]
	if !ok {
		return
	}
	rules := pulse.Rules{Application: full.Application, State: full.State, Source: full.Source, Retry: full.Retry, OutputContract: []byte(full.Contract)}
	if t, ok := r.open[id]; ok {
		s.Open[id] = t
		rules.State = t.State.Public()
	}
	s.Rules[id] = rules
	for k, a := range r.attempts {
		if k.Task == id {
			s.Attempts[k] = pulse.EndedAttempt{Outcome: a.Outcome, Token: a.Token, Digest: a.Digest, TaskState: a.TaskState, Worker: a.Worker}
			s.Unsettled[id] = s.Unsettled[id] || a.Outcome == pulse.Unknown
		}
	}
}

func (r *rows) firstWaits(resource string) []pulse.KeyWait {
	all := slices.SortedFunc(maps.Values(r.waits[resource]), func(a, b pulse.KeyWait) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), slices.Compare(a.Task[:], b.Task[:]))
	})
	return all[:min(len(all), r.waitsMax)]
}

func (r *rows) loadPool(queue uint64, handlers []uint64, limit int) pulse.Pool {
	var tasks []pulse.Task
	for _, t := range r.open {
		if t.Queue == queue && t.State == pulse.Queued && slices.Contains(handlers, t.HandlerHash) {
			tasks = append(tasks, t)
		}
	}
	slices.SortFunc(tasks, func(a, b pulse.Task) int {
		return cmp.Or(a.Due().Compare(b.Due()), slices.Compare(a.ID[:], b.ID[:]))
	})
	n := min(len(tasks), limit)
	return pulse.Pool{Tasks: tasks[:n], Truncated: len(tasks) >= limit}
}

// run decides one batch, holds Decide to its promises, and writes what it says.
func (r *rows) run(now time.Time, b pulse.Batch) (pulse.Outcomes, pulse.Changes, error) {
	s, same, text := r.load(&b, now), r.load(&b, now), fmt.Sprintf("%+v", b)
	out, ch := pulse.Decide(s, &b)
	if !reflect.DeepEqual(s, same) || text != fmt.Sprintf("%+v", b) {
		return out, ch, fmt.Errorf("Decide changed its arguments")
	}
	again, chAgain := pulse.Decide(same, &b)
	if !reflect.DeepEqual(out, again) || !reflect.DeepEqual(ch, chAgain) {
		return out, ch, fmt.Errorf("Decide answered the same facts differently")
	}
	if err := r.apply(now, &ch); err != nil {
		return out, ch, err
	}
	return out, ch, r.check()
}
