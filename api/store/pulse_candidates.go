package store

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// who lists everybody and everything the first rungs must lock.
type who struct{ credentials, systemApplications, applications, queues []uint64 }

func (l *pulseLoad) who() who {
	var w who
	add := func(credential, application, queue uint64) {
		w.applications = append(w.applications, application)
		if credential != 0 {
			w.credentials = append(w.credentials, credential)
		} else {
			w.systemApplications = append(w.systemApplications, application)
		}
		if queue != 0 {
			w.queues = append(w.queues, queue)
		}
	}
	b := l.batch
	for i := range b.Submissions {
		add(b.Submissions[i].Credential, b.Submissions[i].Application, b.Submissions[i].Queue)
	}
	for i := range b.Reports {
		add(b.Reports[i].Credential, b.Reports[i].Application, b.Reports[i].Queue)
	}
	for i := range b.Renewals {
		add(b.Renewals[i].Credential, b.Renewals[i].Application, 0)
	}
	for i := range b.Cancels {
		add(b.Cancels[i].Credential, b.Cancels[i].Application, b.Cancels[i].Queue)
	}
	for i := range b.Reviews {
		add(b.Reviews[i].Credential, b.Reviews[i].Application, b.Reviews[i].Queue)
	}
	for i := range b.Retries {
		add(b.Retries[i].Credential, b.Retries[i].Application, b.Retries[i].Queue)
	}
	for i := range b.Pages {
		add(b.Pages[i].Credential, b.Pages[i].Application, b.Pages[i].Queue)
	}
	for i := range b.Dues {
		add(0, b.Dues[i].Application, b.Dues[i].Queue)
	}
	for i := range b.Claims {
		for _, q := range b.Claims[i].Queues {
			add(b.Claims[i].Credential, b.Claims[i].Application, q)
		}
		l.want(&b.Claims[i])
	}
	return w
}

// want notes how many candidates each pool must offer.
func (l *pulseLoad) want(c *pulse.Claim) {
	if l.wants == nil {
		l.wants, l.sets = map[pulse.PoolKey]int{}, map[pulse.PoolKey][]uint64{}
	}
	for _, q := range c.Queues {
		key := pulse.PoolKey{Queue: q, Handlers: pulse.HandlersKey(c.Handlers)}
		if l.sets[key] == nil {
			l.pools, l.sets[key] = append(l.pools, key), handlerSet(key.Handlers)
		}
		l.wants[key] += c.Tasks
	}
}

func handlerSet(key string) []uint64 {
	var set []uint64
	for b := []byte(key); len(b) >= 8; b = b[8:] {
		set = append(set, binary.BigEndian.Uint64(b))
	}
	return set
}

// candidates reads the head of every pool in dispatch order: a plain read, exact because the quota row is held, and
// fenced again by the state when the rows are started.
func (l *pulseLoad) candidates(ctx context.Context, t *tx.Tx) error {
	for _, key := range l.pools {
		limit := min(l.wants[key], engine.TransactionItemsMax) + 4
		if l.hints.PoolFactor > 1 {
			limit = min(limit*l.hints.PoolFactor, engine.ParkPerPlanMax)
		}
		rows, err := t.Queries().ListClaimable(ctx, db.ListClaimableParams{
			NamespaceID: t.Namespace(), QueueID: key.Queue, FromDueAt: &scanStart, HandlerHashes: l.sets[key], Limit: int32(limit),
		})
		if err != nil {
			return err
		}
		pool := pulse.Pool{Truncated: len(rows) == limit, Tasks: make([]pulse.Task, len(rows))}
		for i := range rows {
			row := db.LockOpenTasksRow(rows[i])
			pool.Tasks[i] = openTask(&row)
		}
		l.s.Pools[key] = pool
	}
	return nil
}

// scanStart is before every due time: a claim's candidate list begins at the oldest entry.
var scanStart = time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)

// receipts reads the receipts of keys that may repeat. The quota row guards them, so the read is exact.
func (l *pulseLoad) receipts(ctx context.Context, place tx.AfterQuota) error {
	keys := map[pulse.ReceiptKey]bool{}
	if l.hints.LookUpReceipts {
		submitKeys(l.batch, keys)
	}
	for i := range l.batch.Cancels {
		if c := &l.batch.Cancels[i]; c.Key != "" {
			keys[pulse.ReceiptKey{Application: c.Application, Kind: pulse.ReceiptCancel, Key: c.Key}] = true
		}
	}
	for i := range l.batch.Reviews {
		r := &l.batch.Reviews[i]
		keys[pulse.ReceiptKey{Application: r.Application, Kind: pulse.ReceiptReview, Key: r.Key}] = true
	}
	for r := range l.batch.EachRetry() { // rare, so the receipt is always looked for
		keys[pulse.ReceiptKey{Application: r.Application, Kind: pulse.ReceiptSubmit, Key: r.Key}] = true
	}
	if err := LoadReceipts(ctx, place.Tx, keys, l.s.Receipts); err != nil {
		return err
	}
	return l.claimRecords(ctx, place)
}

func submitKeys(b *pulse.Batch, keys map[pulse.ReceiptKey]bool) {
	for i := range b.Submissions {
		s := &b.Submissions[i]
		keys[pulse.ReceiptKey{Application: s.Application, Kind: pulse.ReceiptSubmit, Key: s.Key}] = true
	}
}

// LoadSubmitReceipts reads the receipts of a batch's submissions into a snapshot whose quotas are held.
func LoadSubmitReceipts(ctx context.Context, t *tx.Tx, b *pulse.Batch, s *pulse.Snapshot) error {
	keys := map[pulse.ReceiptKey]bool{}
	submitKeys(b, keys)
	return LoadReceipts(ctx, t, keys, s.Receipts)
}

// LoadReceipts reads receipts into a map, one statement per application and kind.
func LoadReceipts(ctx context.Context, t *tx.Tx, keys map[pulse.ReceiptKey]bool, into map[pulse.ReceiptKey]pulse.Receipt) error {
	type group struct {
		application uint64
		kind        pulse.ReceiptKind
	}
	groups := textSets[group]{}
	for k := range keys {
		groups.add(group{k.Application, k.Kind}, k.Key)
	}
	for g, names := range groups {
		rows, err := t.Queries().ListReceipts(ctx, db.ListReceiptsParams{
			NamespaceID: t.Namespace(), ApplicationID: g.application, Kind: uint8(g.kind), ReceiptKeys: sortedTexts(names),
		})
		if err != nil {
			return err
		}
		for _, r := range rows {
			into[pulse.ReceiptKey{Application: r.ApplicationID, Kind: g.kind, Key: string(r.ReceiptKey)}] =
				pulse.Receipt{Digest: [32]byte(r.Digest), Subject: ID(r.SubjectID), Body: r.Body}
		}
	}
	return nil
}

// resources locks the keys of everything that may take or give one back, and the first waiters of those that may
// become free: a claim that only meets a held key has no use for who else waits.
func (l *pulseLoad) resources(ctx context.Context, place tx.AfterSteps) error {
	keys, freed := map[string]bool{}, map[string]bool{}
	for _, t := range l.s.Open {
		keys[t.ResourceKey], freed[t.ResourceKey] = true, true
	}
	for _, p := range l.s.Pools {
		for i := range p.Tasks {
			keys[p.Tasks[i].ResourceKey] = true
			if !l.s.Now.Before(p.Tasks[i].DeadlineAt) {
				freed[p.Tasks[i].ResourceKey] = true
			}
		}
	}
	for i := range l.batch.Submissions {
		keys[l.batch.Submissions[i].ResourceKey] = true
	}
	for _, o := range l.s.Originals {
		keys[o.Submission.ResourceKey] = true
	}
	for i := range l.batch.Dues {
		keys[l.batch.Dues[i].Key], freed[l.batch.Dues[i].Key] = true, true
	}
	delete(keys, "")
	rows, err := place.LockResources(ctx, sortedTexts(keys))
	if err != nil {
		return err
	}
	for _, r := range rows {
		key := string(r.ResourceKey)
		l.s.Resources[key] = pulse.Resource{Key: key, Holder: ID(r.TaskID), Waiters: r.Waiters}
		if r.Waiters > 0 && freed[key] {
			if err := l.waits(ctx, place, key); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *pulseLoad) waits(ctx context.Context, place tx.AfterSteps, key string) error {
	rows, err := place.LockKeyWaits(ctx, []byte(key), engine.KeyWaitersPerPlan)
	if err != nil {
		return err
	}
	var parked []engine.ID
	for _, r := range rows {
		id := ID(r.TaskID)
		l.s.Waits[key] = append(l.s.Waits[key], pulse.KeyWait{Key: key, DueAt: r.DueAt, Task: id, Application: r.ApplicationID, Queue: r.QueueID})
		if _, known := l.s.Open[id]; !known {
			parked = append(parked, id)
		}
	}
	tasks, err := place.LockParkedTasks(ctx, Bytes(parked))
	for i := range tasks {
		row := db.LockOpenTasksRow(tasks[i])
		l.s.Open[ID(row.TaskID)] = openTask(&row)
	}
	return err
}
