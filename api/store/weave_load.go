package store

import (
	"context"
	"fmt"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// WeaveBatch is what one workflow transaction of one namespace works on.
type WeaveBatch struct {
	Actor     string // system:weave:<node>
	Starts    []weave.Start
	Requests  []weave.Request
	Instances []engine.ID
}

// targets lists every instance the batch is about.
func (b *WeaveBatch) targets() []engine.ID {
	all := b.Instances
	for _, r := range b.Requests {
		all = append(all[:len(all):len(all)], r.Target())
	}
	return all
}

// inboxPerInstance bounds the results of one plan; a plan has no budget for more.
const inboxPerInstance = engine.PlanChangesMax

// LoadWeave descends the ladder for starts and instances of one namespace at once and reads everything their plans
// may look at. An instance that does not exist is left out.
//
// lock: 1 identity S, 2 quotas X, (3 receipts, guarded by the quota), 5 queues X of the fixed versions, 6 instances X,
// 7 gates X, 8 steps, activations, pending inbox, checkpoints X.
func LoadWeave(ctx context.Context, b tx.Begun, batch *WeaveBatch, versions *Versions) (*weave.World, tx.AfterTasks, error) {
	l := &weaveLoad{ctx: ctx, t: b.Tx, batch: batch, versions: versions, w: &weave.World{
		Actor: batch.Actor, Callers: map[uint64]engine.Caller{}, Receipts: map[pulse.ReceiptKey]pulse.Receipt{},
	}}
	place, err := l.descend(b)
	return l.w, place, err
}

type weaveLoad struct {
	ctx      context.Context
	t        *tx.Tx
	batch    *WeaveBatch
	versions *Versions
	w        *weave.World

	fixed  []fixedVersion // of the instances, in id order
	active map[uint64]bool
	inbox  int32
}

// fixedVersion is what never changes of an instance, and so may be read before its row is locked.
type fixedVersion struct {
	instance    engine.ID
	application uint64
	version     *weave.Version
}

func (l *weaveLoad) descend(b tx.Begun) (tx.AfterTasks, error) {
	none := tx.AfterTasks{}
	if err := l.fix(); err != nil {
		return none, err
	}
	credentials, system, applications := l.who()
	callers, apps, identified, err := b.LockIdentity(l.ctx, credentials, system)
	if err != nil {
		return none, err
	}
	l.identities(callers, apps)
	quotas, quota, err := identified.LockQuotas(l.ctx, applications)
	if err != nil {
		return none, err
	}
	l.w.Quotas = Quotas(quotas)
	if err := l.starts(); err != nil {
		return none, err
	}
	queues, place, err := quota.LockQueues(l.ctx, l.queues())
	if err != nil {
		return none, err
	}
	l.w.Queues = Queues(queues)
	if l.w.Now, err = l.t.Clock(l.ctx); err != nil {
		return none, err
	}
	return l.graphs(place)
}

// fix finds which versions the instances run on, in id order.
func (l *weaveLoad) fix() error {
	known, unknown := l.versions.remembered(l.t.Namespace(), l.batch.targets())
	if len(unknown) > 0 {
		rows, err := l.t.Queries().ListInstanceVersions(l.ctx, db.ListInstanceVersionsParams{NamespaceID: l.t.Namespace(), InstanceIds: Bytes(unknown)})
		if err != nil {
			return err
		}
		for i := range rows {
			r := &rows[i]
			known[ID(r.InstanceID)] = VersionKey{l.t.Namespace(), r.ApplicationID, string(r.Definition), r.Version}
			l.versions.remember(ID(r.InstanceID), known[ID(r.InstanceID)])
		}
	}
	for _, b := range Bytes(l.batch.targets()) {
		key, ok := known[ID(b)]
		if !ok {
			continue
		}
		version, err := l.versions.get(l.ctx, l.t.Queries(), key)
		if err != nil {
			return fmt.Errorf("instance %s: %w", ID(b).Text("inst"), err)
		}
		l.fixed = append(l.fixed, fixedVersion{ID(b), key.Application, version})
	}
	return nil
}

func (l *weaveLoad) who() (credentials, system, applications []uint64) {
	for i := range l.batch.Starts {
		credentials = append(credentials, l.batch.Starts[i].Credential)
		applications = append(applications, l.batch.Starts[i].Application)
	}
	for _, r := range l.batch.Requests {
		credential, application := r.By()
		credentials, applications = append(credentials, credential), append(applications, application)
	}
	for _, f := range l.fixed {
		system = append(system, f.application)
	}
	return credentials, system, append(applications, system...)
}

func (l *weaveLoad) identities(callers []db.LockCredentialsRow, apps []db.LockApplicationsRow) {
	for i := range callers {
		l.w.Callers[callers[i].CredentialID] = Caller(&callers[i])
	}
	l.active = map[uint64]bool{}
	for _, a := range apps {
		l.active[a.ApplicationID] = a.ApplicationStatus == 1 && a.NamespaceStatus == 1
	}
}

// starts reads the receipts of the keys and the versions of those that have none.
func (l *weaveLoad) starts() error {
	if len(l.batch.Starts)+len(l.batch.Requests) == 0 {
		return nil
	}
	keys := map[pulse.ReceiptKey]bool{}
	for _, r := range l.batch.Requests {
		keys[r.ReceiptKey()] = true
	}
	for i := range l.batch.Starts {
		keys[l.batch.Starts[i].ReceiptKey()] = true
	}
	if err := LoadReceipts(l.ctx, l.t, keys, l.w.Receipts); err != nil {
		return err
	}
	l.w.Versions = make([]weave.StartVersion, len(l.batch.Starts))
	latest := map[headKey]uint32{}
	for i := range l.batch.Starts {
		s := &l.batch.Starts[i]
		if _, replayed := l.w.Receipts[s.ReceiptKey()]; replayed {
			continue
		}
		version, err := l.versions.forStart(l.ctx, l.t.Queries(), l.t.Namespace(), s, latest)
		if err != nil {
			return err
		}
		l.w.Versions[i] = version
	}
	return nil
}

// queues lists every queue a plan may submit to.
func (l *weaveLoad) queues() []uint64 {
	var ids []uint64
	add := func(v *weave.Version) {
		if v != nil {
			for _, id := range v.Queues {
				ids = append(ids, id)
			}
		}
	}
	for _, f := range l.fixed {
		add(f.version)
	}
	for _, v := range l.w.Versions {
		add(v.Version)
	}
	return ids
}

// graphs locks the instances from the top of their graphs to the bottom.
func (l *weaveLoad) graphs(place tx.AfterQueues) (tx.AfterTasks, error) {
	ids := make([][]byte, len(l.fixed))
	for i := range l.fixed {
		ids[i] = l.fixed[i].instance[:]
	}
	instances, afterInstances, err := place.LockInstances(l.ctx, ids)
	if err != nil {
		return place.AfterTasks, err
	}
	gates, afterGates, err := afterInstances.LockGates(l.ctx, ids)
	if err != nil {
		return place.AfterTasks, err
	}
	l.inbox = int32(inboxPerInstance * len(ids))
	graph, after, err := afterGates.LockGraph(l.ctx, ids, l.inbox)
	if err != nil {
		return place.AfterTasks, err
	}
	if err := l.assemble(instances, gates, &graph); err != nil {
		return place.AfterTasks, err
	}
	if err := l.clocks(afterGates, len(graph.Inbox) == int(l.inbox)); err != nil {
		return place.AfterTasks, err
	}
	return after.AfterTasks, l.handled()
}
