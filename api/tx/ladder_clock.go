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
