package tx

import (
	"context"

	"github.com/orbitrun/orbit/gen/db"
)

// LockWaits locks the waits of instances whose graph is held.
func (g AfterGates) LockWaits(ctx context.Context, instances [][]byte) ([]db.StepWait, error) {
	if err := g.descend(RungStep); err != nil || len(instances) == 0 {
		return nil, err
	}
	return g.q.LockWaits(ctx, db.LockWaitsParams{NamespaceID: g.namespace, InstanceIds: instances})
}

// LockSignals locks the signals that still wait for their steps.
func (g AfterGates) LockSignals(ctx context.Context, instances [][]byte) ([]db.WeaveSignal, error) {
	if err := g.descend(RungStep); err != nil || len(instances) == 0 {
		return nil, err
	}
	return g.q.LockSignals(ctx, db.LockSignalsParams{NamespaceID: g.namespace, InstanceIds: instances})
}

// LockPolls locks what POLL steps keep between their rounds.
func (g AfterGates) LockPolls(ctx context.Context, instances [][]byte) ([]db.WeavePoll, error) {
	if err := g.descend(RungStep); err != nil || len(instances) == 0 {
		return nil, err
	}
	return g.q.LockPolls(ctx, db.LockPollsParams{NamespaceID: g.namespace, InstanceIds: instances})
}

// LockRounds locks rounds by their tasks.
func (g AfterGates) LockRounds(ctx context.Context, tasks [][]byte) ([]db.WeavePollRound, error) {
	if err := g.descend(RungStep); err != nil || len(tasks) == 0 {
		return nil, err
	}
	return g.q.LockRounds(ctx, db.LockRoundsParams{NamespaceID: g.namespace, TaskIds: tasks})
}
