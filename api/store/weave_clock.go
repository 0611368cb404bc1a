package store

import (
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/engine/weave/definition"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// clocks locks what steps wait for, of those instances whose version can wait at all: a workflow of tasks alone pays
// nothing for it. cut says that the inbox held more than was read.
func (l *weaveLoad) clocks(place tx.AfterGates, cut bool) error {
	graphs := map[engine.ID]*weave.Graph{}
	var waiting, receivers, asking [][]byte
	for _, g := range l.w.Graphs {
		g.Cut = cut
		graphs[g.Instance.ID] = g
		if g.Version.Uses(definition.KindTimer, definition.KindSignal, definition.KindPoll) {
			waiting = append(waiting, g.Instance.ID[:])
		}
		if g.Version.Uses(definition.KindSignal, definition.KindPoll) {
			receivers = append(receivers, g.Instance.ID[:])
		}
		if g.Version.Uses(definition.KindPoll) {
			asking = append(asking, g.Instance.ID[:])
		}
	}
	waits, err := place.LockWaits(l.ctx, waiting)
	for i := range waits {
		g := graphs[ID(waits[i].InstanceID)]
		g.Waits = append(g.Waits, waitOf(&waits[i]))
	}
	if err != nil {
		return err
	}
	if err := l.signals(place, graphs, receivers); err != nil {
		return err
	}
	return l.polls(place, graphs, asking)
}

func waitOf(r *db.StepWait) weave.Wait {
	return weave.Wait{
		Activation: ID(r.ActivationID), Step: r.StepNo, Kind: weave.CheckpointKind(r.Kind), State: weave.WaitState(r.State),
		StartedAt: r.StartedAt, DurationMS: r.DurationMs, DeadlineAt: r.DeadlineAt, SettledAt: Time(r.SettledAt),
		Signal: string(r.SignalName), Version: string(r.SignalVersion), Correlation: string(r.Correlation), Winner: ID(r.WinnerID),
	}
}

func (a *weaveApply) waits() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).UpsertWait, mapped(a.waited, func(w *of[weave.Wait]) db.UpsertWaitParams {
		r := &w.row
		return db.UpsertWaitParams{
			NamespaceID: a.ns, InstanceID: w.instance[:], ActivationID: r.Activation[:], StepNo: r.Step, Kind: uint8(r.Kind), State: uint8(r.State),
			StartedAt: r.StartedAt, DurationMs: r.DurationMS, DeadlineAt: r.DeadlineAt, SettledAt: timeOrNull(r.SettledAt),
			SignalName: Text(r.Signal), SignalVersion: Text(r.Version), Correlation: Text(r.Correlation), WinnerID: idOrNull(r.Winner),
		}
	}))
}
