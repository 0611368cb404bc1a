package tx

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orbitrun/orbit/gen/db"
)

// Rung is a step of the ladder; the numbers are those of sql/queries.
type Rung uint8

// The ladder, top to bottom. A transaction skips rungs but never goes back up.
const (
	RungIdentity   Rung = 1
	RungQuota      Rung = 2
	RungReceipt    Rung = 3
	RungDefinition Rung = 4
	RungQueue      Rung = 5
	RungInstance   Rung = 6
	RungGate       Rung = 7
	RungStep       Rung = 8
	RungTask       Rung = 9
	RungStream     Rung = 10
)

// descend is the run-time net under the types: Go cannot forbid that a value is used twice.
func (t *Tx) descend(r Rung) error {
	if r < t.rung {
		return fmt.Errorf("%w: rung %d after rung %d in %s", ErrLadder, r, t.rung, t.name)
	}
	t.rung = r
	return nil
}

// Each type below is a place on the ladder; its methods are the locks still ahead. Embedding is "may skip".
type (
	// AfterStream ends the ladder: no task may be locked after the stream.
	AfterStream struct{ *Tx }
	// AfterTasks may lock the stream.
	AfterTasks struct{ *Tx }
	// AfterSteps may lock tasks.
	AfterSteps struct{ AfterTasks }
	// AfterGates may lock steps.
	AfterGates struct{ AfterSteps }
	// AfterInstances may lock gates.
	AfterInstances struct{ AfterGates }
	// AfterQueues may lock instances.
	AfterQueues struct{ AfterInstances }
	// AfterDefinition may lock queues.
	AfterDefinition struct{ AfterQueues }
	// AfterQuota may lock definitions; receipts are guarded by the quota row.
	AfterQuota struct{ AfterDefinition }
	// Identified has its callers; usage comes next, so queues cannot be reached without the quota (O5).
	Identified struct{ *Tx }
	// Begun holds nothing.
	Begun struct{ *Tx }
)

// LockIdentity locks callers and applications shared. Either list may be empty, not both.
func (b Begun) LockIdentity(ctx context.Context, credentials, applications []uint64) ([]db.LockCredentialsRow, []db.LockApplicationsRow, Identified, error) {
	if err := b.descend(RungIdentity); err != nil {
		return nil, nil, Identified{}, err
	}
	var callers []db.LockCredentialsRow
	var apps []db.LockApplicationsRow
	var err error
	if len(credentials) > 0 {
		callers, err = b.q.LockCredentials(ctx, db.LockCredentialsParams{NamespaceID: b.namespace, CredentialIds: sorted(credentials)})
	}
	if err == nil && len(applications) > 0 {
		apps, err = b.q.LockApplications(ctx, db.LockApplicationsParams{NamespaceID: b.namespace, ApplicationIds: sorted(applications)})
	}
	return callers, apps, Identified{b.Tx}, err
}

// LockCredentialForUpdate locks one credential exclusively, for rotation and revocation; it ends the ladder.
func (b Begun) LockCredentialForUpdate(ctx context.Context, credential uint64) (db.LockCredentialForUpdateRow, error) {
	return b.q.LockCredentialForUpdate(ctx, db.LockCredentialForUpdateParams{NamespaceID: b.namespace, CredentialID: credential})
}

// LockQuotas locks the quotas of all applications of the transaction.
func (i Identified) LockQuotas(ctx context.Context, applications []uint64) ([]db.LockQuotasRow, AfterQuota, error) {
	if err := i.descend(RungQuota); err != nil {
		return nil, AfterQuota{}, err
	}
	rows, err := i.q.LockQuotas(ctx, db.LockQuotasParams{NamespaceID: i.namespace, ApplicationIds: sorted(applications)})
	return rows, AfterQuota{AfterDefinition{AfterQueues{AfterInstances{AfterGates{AfterSteps{AfterTasks{i.Tx}}}}}}}, err
}

// LockClaimRecords locks what claims that are asked again had started; callers sort the applications.
func (q AfterQuota) LockClaimRecords(ctx context.Context, application uint64, keys [][]byte) ([]db.LockClaimRecordsRow, error) {
	if err := q.descend(RungReceipt); err != nil || len(keys) == 0 {
		return nil, err
	}
	return q.q.LockClaimRecords(ctx, db.LockClaimRecordsParams{NamespaceID: q.namespace, ApplicationID: application, ClaimKeys: keys})
}

// LockDefinition locks a definition's head, which is created if it is missing.
func (q AfterQuota) LockDefinition(ctx context.Context, application uint64, name string, now time.Time) (db.LockDefinitionRow, AfterDefinition, error) {
	if err := q.descend(RungDefinition); err != nil {
		return db.LockDefinitionRow{}, q.AfterDefinition, err
	}
	err := q.q.InsertDefinition(ctx, db.InsertDefinitionParams{NamespaceID: q.namespace, ApplicationID: application, Name: []byte(name), CreatedAt: now, UpdatedAt: now})
	if err != nil {
		return db.LockDefinitionRow{}, q.AfterDefinition, err
	}
	row, err := q.q.LockDefinition(ctx, db.LockDefinitionParams{NamespaceID: q.namespace, ApplicationID: application, Name: []byte(name)})
	return row, q.AfterDefinition, err
}

// LockQueues locks queues in id order and reads the transaction's clock after the last wait.
func (d AfterDefinition) LockQueues(ctx context.Context, queues []uint64) ([]db.LockQueuesRow, AfterQueues, error) {
	if err := d.descend(RungQueue); err != nil || len(queues) == 0 {
		return nil, d.AfterQueues, err
	}
	rows, err := d.q.LockQueues(ctx, db.LockQueuesParams{NamespaceID: d.namespace, QueueIds: sorted(queues)})
	for _, row := range rows {
		if row.NowAt.After(d.now) {
			d.now = row.NowAt
		}
	}
	return rows, d.AfterQueues, err
}

// LockQueueRates locks the rates of limited queues, which are held, in the order of the queues.
func (q AfterQueues) LockQueueRates(ctx context.Context, queues []uint64) ([]db.LockQueueRatesRow, error) {
	if err := q.descend(RungQueue); err != nil || len(queues) == 0 {
		return nil, err
	}
	return q.q.LockQueueRates(ctx, db.LockQueueRatesParams{NamespaceID: q.namespace, QueueIds: sorted(queues)})
}

// LockInstances locks instances in id order.
func (q AfterQueues) LockInstances(ctx context.Context, ids [][]byte) ([]db.Instance, AfterInstances, error) {
	if err := q.descend(RungInstance); err != nil || len(ids) == 0 {
		return nil, q.AfterInstances, err
	}
	rows, err := q.q.LockInstances(ctx, db.LockInstancesParams{NamespaceID: q.namespace, InstanceIds: ids})
	return rows, q.AfterInstances, err
}

// LockGates locks gates exclusively.
func (i AfterInstances) LockGates(ctx context.Context, ids [][]byte) ([]db.LockGatesRow, AfterGates, error) {
	if err := i.descend(RungGate); err != nil || len(ids) == 0 {
		return nil, i.AfterGates, err
	}
	rows, err := i.q.LockGates(ctx, db.LockGatesParams{NamespaceID: i.namespace, GateIds: ids})
	return rows, i.AfterGates, err
}

// LockGatesShared locks gates shared: a claim only asks whether they are open.
func (i AfterInstances) LockGatesShared(ctx context.Context, ids [][]byte) ([]db.LockGatesSharedRow, AfterGates, error) {
	if err := i.descend(RungGate); err != nil || len(ids) == 0 {
		return nil, i.AfterGates, err
	}
	rows, err := i.q.LockGatesShared(ctx, db.LockGatesSharedParams{NamespaceID: i.namespace, GateIds: ids})
	return rows, i.AfterGates, err
}

// Graph is everything of rung 8 that belongs to instances whose rows are held.
type Graph struct {
	Steps       []db.Step
	Activations []db.Activation
	Inbox       []db.WeaveInbox
	Advances    []db.WeavePendingAdvance
}

// LockGraph locks steps, activations, pending inbox rows and checkpoints of instances, in that order.
func (g AfterGates) LockGraph(ctx context.Context, instances [][]byte, inboxMax int32) (Graph, AfterSteps, error) {
	var out Graph
	err := g.descend(RungStep)
	if err != nil || len(instances) == 0 {
		return out, g.AfterSteps, err
	}
	out.Steps, err = g.q.LockSteps(ctx, db.LockStepsParams{NamespaceID: g.namespace, InstanceIds: instances})
	if err == nil {
		out.Activations, err = g.q.LockActivations(ctx, db.LockActivationsParams{NamespaceID: g.namespace, InstanceIds: instances})
	}
	if err == nil {
		out.Inbox, err = g.q.LockInbox(ctx, db.LockInboxParams{NamespaceID: g.namespace, InstanceIds: instances, Limit: inboxMax})
	}
	if err == nil {
		out.Advances, err = g.q.LockAdvances(ctx, db.LockAdvancesParams{NamespaceID: g.namespace, InstanceIds: instances})
	}
	return out, g.AfterSteps, err
}

// LockOpenTasks locks open tasks in id order.
func (s AfterSteps) LockOpenTasks(ctx context.Context, ids [][]byte) ([]db.LockOpenTasksRow, error) {
	if err := s.descend(RungTask); err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.q.LockOpenTasks(ctx, db.LockOpenTasksParams{NamespaceID: s.namespace, TaskIds: ids})
}

// LockTaskOriginals holds the tasks that manual retries repeat, shared, and reads them.
func (s AfterSteps) LockTaskOriginals(ctx context.Context, ids [][]byte) ([]db.LockTaskOriginalsRow, error) {
	if err := s.descend(RungTask); err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.q.LockTaskOriginals(ctx, db.LockTaskOriginalsParams{NamespaceID: s.namespace, TaskIds: ids})
}

// LockEndedTasks holds tasks that have ended, shared, and says which are there.
func (s AfterSteps) LockEndedTasks(ctx context.Context, ids [][]byte) ([][]byte, error) {
	if err := s.descend(RungTask); err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.q.LockEndedTasks(ctx, db.LockEndedTasksParams{NamespaceID: s.namespace, TaskIds: ids})
}

// LockParkedTasks locks those of the parked tasks, behind a key whose row is held, that nobody else holds.
func (s AfterSteps) LockParkedTasks(ctx context.Context, ids [][]byte) ([]db.LockParkedTasksRow, error) {
	if err := s.descend(RungTask); err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.q.LockParkedTasks(ctx, db.LockParkedTasksParams{NamespaceID: s.namespace, TaskIds: ids})
}

// LockResources locks resource keys in byte order.
func (s AfterSteps) LockResources(ctx context.Context, keys [][]byte) ([]db.LockResourcesRow, error) {
	if err := s.descend(RungTask); err != nil || len(keys) == 0 {
		return nil, err
	}
	return s.q.LockResources(ctx, db.LockResourcesParams{NamespaceID: s.namespace, ResourceKeys: keys})
}

// LockKeyWaits locks the first waiters of one resource key, whose row is held.
func (s AfterSteps) LockKeyWaits(ctx context.Context, key []byte, limit int32) ([]db.LockKeyWaitsRow, error) {
	if err := s.descend(RungTask); err != nil {
		return nil, err
	}
	return s.q.LockKeyWaits(ctx, db.LockKeyWaitsParams{NamespaceID: s.namespace, ResourceKey: key, Limit: limit})
}

// LockStream locks the namespace's stream head, last.
func (s AfterTasks) LockStream(ctx context.Context) (db.LockStreamRow, AfterStream, error) {
	if err := s.descend(RungStream); err != nil {
		return db.LockStreamRow{}, AfterStream{}, err
	}
	row, err := s.q.LockStream(ctx, s.namespace)
	return row, AfterStream{s.Tx}, err
}

func sorted(ids []uint64) []uint64 {
	out := slices.Clone(ids)
	slices.Sort(out)
	return slices.Compact(out)
}
