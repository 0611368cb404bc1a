package store

import (
	"context"
	"slices"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// LoadHints are what a lane remembers between transactions. They save reads and never decide anything.
type LoadHints struct {
	// LookUpReceipts reads receipts before the plan; without it a repeated key shows as a duplicate and the
	// transaction runs again with it.
	LookUpReceipts bool
	// PoolFactor widens the candidate lists after a plan met blocked rows.
	PoolFactor int
}

// LoadPulse descends the ladder for one batch and reads everything its plan may look at. It returns the place on the
// ladder from which the stream can still be locked.
//
// lock: 1 identity S, 2 quotas X, (3 receipts, guarded by the quota), 5 queues X, 7 gates S, 9 open tasks X, resource locks X, key waits X.
func LoadPulse(ctx context.Context, b tx.Begun, batch *pulse.Batch, hints LoadHints) (*pulse.Snapshot, tx.AfterTasks, error) {
	l := &pulseLoad{batch: batch, hints: hints, s: emptySnapshot()}
	place, err := l.descend(ctx, b)
	return l.s, place, err
}

type pulseLoad struct {
	batch *pulse.Batch
	hints LoadHints
	s     *pulse.Snapshot
	pools []pulse.PoolKey // in order of first use
	wants map[pulse.PoolKey]int
	sets  map[pulse.PoolKey][]uint64
}

func emptySnapshot() *pulse.Snapshot {
	return &pulse.Snapshot{
		Callers: map[uint64]engine.Caller{}, Receipts: map[pulse.ReceiptKey]pulse.Receipt{}, Slots: map[pulse.SlotKey]pulse.Slot{},
		ClaimRecords: map[pulse.ClaimKey]pulse.ClaimRecord{},
		Open:         map[engine.ID]pulse.Task{}, Rules: map[engine.ID]pulse.Rules{}, Attempts: map[pulse.AttemptKey]pulse.EndedAttempt{},
		Unsettled: map[engine.ID]bool{},
		Resources: map[string]pulse.Resource{}, Waits: map[string][]pulse.KeyWait{}, Gates: map[engine.ID]bool{},
		Pools: map[pulse.PoolKey]pulse.Pool{},
	}
}

func (l *pulseLoad) descend(ctx context.Context, b tx.Begun) (tx.AfterTasks, error) {
	who := l.who()
	callers, _, identified, err := b.LockIdentity(ctx, who.credentials, who.systemApplications)
	if err != nil {
		return tx.AfterTasks{}, err
	}
	for i := range callers {
		l.s.Callers[callers[i].CredentialID] = Caller(&callers[i])
	}
	quotas, quota, err := identified.LockQuotas(ctx, who.applications)
	if err != nil {
		return tx.AfterTasks{}, err
	}
	l.s.Quotas = Quotas(quotas)
	if err := l.receipts(ctx, quota); err != nil {
		return tx.AfterTasks{}, err
	}
	ahead, err := l.bulks(ctx, quota)
	if err != nil {
		return tx.AfterTasks{}, err
	}
	queues, place, err := ahead.LockQueues(ctx, who.queues)
	if err != nil {
		return tx.AfterTasks{}, err
	}
	l.s.Queues = Queues(queues)
	if err := l.rates(ctx, place, queues); err != nil {
		return tx.AfterTasks{}, err
	}
	if l.s.Now, err = b.Clock(ctx); err != nil {
		return tx.AfterTasks{}, err
	}
	return l.tasks(ctx, place)
}

// tasks reads candidates first, because their gates stand above every task on the ladder.
func (l *pulseLoad) tasks(ctx context.Context, place tx.AfterQueues) (tx.AfterTasks, error) {
	if err := l.candidates(ctx, place.Tx); err != nil {
		return place.AfterTasks, err
	}
	after, err := l.gates(ctx, place.AfterInstances)
	if err != nil {
		return place.AfterTasks, err
	}
	holders, err := l.slots(ctx, place.Tx)
	if err != nil {
		return place.AfterTasks, err
	}
	named := append(append(l.batch.TaskIDs(), holders...), l.claimedBefore()...)
	if err := l.open(ctx, after.AfterSteps, Bytes(named)); err != nil {
		return place.AfterTasks, err
	}
	if err := l.ended(ctx, after.AfterSteps); err != nil {
		return place.AfterTasks, err
	}
	return after.AfterTasks, l.resources(ctx, after.AfterSteps)
}

// gates asks whether the owners of candidates let anything start. A retry is judged by the claim that takes it.
func (l *pulseLoad) gates(ctx context.Context, place tx.AfterInstances) (tx.AfterGates, error) {
	var ids []engine.ID
	for _, key := range l.pools {
		for _, t := range l.s.Pools[key].Tasks {
			if !t.Gate.Zero() {
				ids = append(ids, t.Gate)
			}
		}
	}
	rows, after, err := place.LockGatesShared(ctx, Bytes(ids))
	for _, r := range rows {
		l.s.Gates[ID(r.GateID)] = r.State == 1
	}
	return after, err
}

func (l *pulseLoad) open(ctx context.Context, place tx.AfterSteps, ids [][]byte) error {
	rows, err := place.LockOpenTasks(ctx, ids)
	for i := range rows {
		t := openTask(&rows[i])
		l.s.Open[t.ID] = t
	}
	return err
}

// ended reads what repeated and late reports and cancels of ended tasks are answered from, and the rules of retries.
func (l *pulseLoad) ended(ctx context.Context, t tx.AfterSteps) error {
	var rules, attempts, late []engine.ID
	for i := range l.batch.Reports {
		r := &l.batch.Reports[i]
		open, ok := l.s.Open[r.Task]
		stale := !ok || open.State != pulse.Running || open.AttemptNo != r.AttemptNo || open.Token != r.Token
		doubtful := open.Lost == pulse.LostRetry && open.AttemptNo > 1 && r.Outcome != pulse.Succeeded // an earlier attempt may be UNKNOWN
		if stale {
			late = append(late, r.Task)
		}
		if stale || doubtful {
			attempts = append(attempts, r.Task)
		}
		if stale || open.HasContract || r.Outcome == pulse.Retryable || r.Outcome == pulse.Unknown {
			rules = append(rules, r.Task)
		}
	}
	for i := range l.batch.Cancels {
		rules = append(rules, l.batch.Cancels[i].Task)
	}
	for i := range l.batch.Reviews {
		rules = append(rules, l.batch.Reviews[i].Task)
	}
	for r := range l.batch.EachRetry() {
		attempts = append(attempts, r.Task)
	}
	for i := range l.batch.Dues {
		if l.batch.Dues[i].Kind == pulse.DueLost {
			rules = append(rules, l.batch.Dues[i].Task)
		}
	}
	// what arrives late must not be written beside a task that a purge is deleting
	if _, err := t.LockEndedTasks(ctx, Bytes(late)); err != nil {
		return err
	}
	if err := l.rules(ctx, t.Tx, Bytes(rules)); err != nil {
		return err
	}
	if err := l.attempts(ctx, t.Tx, Bytes(attempts)); err != nil {
		return err
	}
	return l.decisions(ctx, t)
}

func (l *pulseLoad) rules(ctx context.Context, t *tx.Tx, ids [][]byte) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := t.Queries().ListTaskRules(ctx, db.ListTaskRulesParams{NamespaceID: t.Namespace(), TaskIds: ids})
	for _, r := range rows {
		retry, bad := pulse.ParseRetry(r.RetryPolicy)
		if bad != nil {
			return bad
		}
		rule := pulse.Rules{Application: r.ApplicationID, State: pulse.Public(r.State), Source: pulse.Source(r.Source), Retry: retry, OutputContract: r.OutputContract}
		if open, ok := l.s.Open[ID(r.TaskID)]; ok {
			rule.State = open.State.Public()
		}
		l.s.Rules[ID(r.TaskID)] = rule
	}
	return err
}

func (l *pulseLoad) attempts(ctx context.Context, t *tx.Tx, ids [][]byte) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := t.Queries().ListAttemptsOf(ctx, db.ListAttemptsOfParams{NamespaceID: t.Namespace(), TaskIds: ids})
	for _, r := range rows {
		l.s.Attempts[pulse.AttemptKey{Task: ID(r.TaskID), No: r.AttemptNo}] = pulse.EndedAttempt{
			Outcome: pulse.Outcome(r.Outcome), Token: ID(r.Token), Digest: [32]byte(r.ReportDigest), TaskState: pulse.Public(r.TaskState),
			Worker: string(r.Worker),
		}
		if pulse.Outcome(r.Outcome) == pulse.Unknown {
			l.s.Unsettled[ID(r.TaskID)] = true
		}
	}
	return err
}

// textSets are keys in groups, one statement each.
type textSets[G comparable] map[G]map[string]bool

func (s textSets[G]) add(group G, text string) {
	if s[group] == nil {
		s[group] = map[string]bool{}
	}
	s[group][text] = true
}

func sortedTexts(set map[string]bool) [][]byte {
	keys := make([]string, 0, len(set))
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i] = []byte(k)
	}
	return out
}
