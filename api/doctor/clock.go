package doctor

import (
	"context"
	"fmt"

	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
)

// deafWaits are steps that wait for a time nobody keeps.
func deafWaits(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListDeafWaits(ctx, db.ListDeafWaitsParams{NamespaceID: ns, Limit: listMax})
	return mapped(rows, func(r *db.ListDeafWaitsRow) (string, string) {
		return store.ID(r.InstanceID).Text("inst"), fmt.Sprintf("step %s waits and has no checkpoint", r.Name)
	}), err
}

// pollDrift are polls whose rounds are not as many as were used, or not numbered without a gap.
func pollDrift(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListPollDrift(ctx, db.ListPollDriftParams{NamespaceID: ns, Limit: listMax})
	return mapped(rows, func(r *db.ListPollDriftRow) (string, string) {
		return store.ID(r.InstanceID).Text("inst"), fmt.Sprintf("%d rounds used; there are %d, the last is %d", r.UsedRounds, r.Rounds, r.LastRound)
	}), err
}

// forgottenSignals are signals that still wait although their instance has ended.
func forgottenSignals(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListForgottenSignals(ctx, db.ListForgottenSignalsParams{NamespaceID: ns, Limit: listMax})
	return mapped(rows, func(r *db.ListForgottenSignalsRow) (string, string) {
		return store.ID(r.InstanceID).Text("inst"), store.ID(r.SignalID).Text("sig") + " is pending although the instance has ended"
	}), err
}
