package store

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// failedRetry is how far a failed candidate is pushed (weave.md Runtime).
const failedRetry = 30 * time.Second

// DelayWeave pushes what made a failed instance a candidate, each row by its own version: a row that another node has
// moved meanwhile is left alone. Nothing is decided; pending stays pending.
//
// lock: 8 inbox and checkpoint rows X, one by one in key order.
func DelayWeave(ctx context.Context, d *tx.DB, namespace uint64, instance engine.ID) error {
	return d.Run(ctx, namespace, "weave_delay", func(ctx context.Context, b tx.Begun) error {
		now, err := b.Clock(ctx)
		if err != nil {
			return err
		}
		until := now.Add(failedRetry)
		inbox, err := b.Queries().ListPendingInboxOf(ctx, db.ListPendingInboxOfParams{NamespaceID: namespace, InstanceID: instance[:], Limit: 1024})
		if err != nil {
			return err
		}
		advances, err := b.Queries().ListAdvancesOf(ctx, db.ListAdvancesOfParams{NamespaceID: namespace, InstanceID: instance[:], Limit: 1024})
		if err != nil {
			return err
		}
		for _, r := range inbox {
			_, err := b.Queries().UpdateInboxDelayed(ctx, db.UpdateInboxDelayedParams{
				AvailableAt: until, NamespaceID: namespace, InstanceID: instance[:], TaskID: r.TaskID, StateVersion: r.StateVersion, Version: r.Version,
			})
			if err != nil {
				return err
			}
		}
		for _, r := range advances {
			if r.DueAt.After(now) {
				continue
			}
			_, err := b.Queries().UpdateAdvanceDelayed(ctx, db.UpdateAdvanceDelayedParams{
				DueAt: until, NamespaceID: namespace, InstanceID: instance[:], StepNo: r.StepNo, Version: r.Version,
			})
			if err != nil {
				return err
			}
		}
		return delaySignals(ctx, b, instance, now, until)
	})
}

func delaySignals(ctx context.Context, b tx.Begun, instance engine.ID, now, until time.Time) error {
	rows, err := b.Queries().ListPendingSignalsOf(ctx, db.ListPendingSignalsOfParams{NamespaceID: b.Namespace(), InstanceID: instance[:], Limit: 1024})
	for _, r := range rows {
		if err != nil || r.AvailableAt.After(now) {
			continue
		}
		_, err = b.Queries().UpdateSignalDelayed(ctx, db.UpdateSignalDelayedParams{
			AvailableAt: until, NamespaceID: b.Namespace(), InstanceID: instance[:], SignalID: r.SignalID, Version: r.Version,
		})
	}
	return err
}
