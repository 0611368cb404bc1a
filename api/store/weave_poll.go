package store

import (
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// polls locks what POLL steps keep between their rounds: their state, the last round of each, and the rounds of pending
// results. How many rounds there are does not matter to what is read, except where the next one may begin.
func (l *weaveLoad) polls(place tx.AfterGates, graphs map[engine.ID]*weave.Graph, asking [][]byte) error {
	rows, err := place.LockPolls(l.ctx, asking)
	if err != nil {
		return err
	}
	var tasks, counted []engine.ID
	for i := range rows {
		g := graphs[ID(rows[i].InstanceID)]
		q := pollOf(&rows[i])
		g.Polls = append(g.Polls, q)
		if !q.Last.Zero() {
			tasks = append(tasks, q.Last)
		}
		if q.State == weave.PollWaiting && !q.NextAt.After(l.w.Now) {
			counted = append(counted, g.Instance.ID)
		}
	}
	for _, id := range asking {
		for i := range graphs[ID(id)].Results {
			tasks = append(tasks, graphs[ID(id)].Results[i].Task)
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	rounds, err := place.LockRounds(l.ctx, Bytes(tasks))
	for i := range rounds {
		g := graphs[ID(rounds[i].InstanceID)]
		if g != nil {
			g.Rounds = append(g.Rounds, roundOf(&rounds[i]))
		}
	}
	if err != nil || len(counted) == 0 {
		return err
	}
	return l.roundCounts(graphs, counted)
}

func (l *weaveLoad) roundCounts(graphs map[engine.ID]*weave.Graph, instances []engine.ID) error {
	counts, err := l.t.Queries().ListRoundCounts(l.ctx, db.ListRoundCountsParams{NamespaceID: l.t.Namespace(), InstanceIds: Bytes(instances)})
	all := make(map[engine.ID]int, len(counts))
	for _, c := range counts {
		all[ID(c.ActivationID)] = int(c.Rounds)
	}
	for _, id := range instances {
		graphs[id].RoundCounts = all
	}
	return err
}

func pollOf(r *db.WeavePoll) weave.Poll {
	return weave.Poll{
		Activation: ID(r.ActivationID), Step: r.StepNo, State: weave.PollState(r.State), UsedRounds: r.UsedRounds, Current: ID(r.CurrentTaskID),
		Last: ID(r.LastTaskID), StartedAt: r.StartedAt, DeadlineAt: r.DeadlineAt, NextAt: Time(r.NextPollAt), SettledAt: Time(r.SettledAt),
		Overdue: r.Overdue == 1, Verdict: weave.Verdict(r.Verdict), Reason: string(r.Reason), Output: r.Output, Input: r.Input,
		BusinessKey: string(r.BusinessKey), ResourceKey: string(r.ResourceKey),
	}
}

func roundOf(r *db.WeavePollRound) weave.Round {
	return weave.Round{
		Task: ID(r.TaskID), Activation: ID(r.ActivationID), No: r.RoundNo, State: weave.RoundState(r.State), CreatedAt: r.CreatedAt,
		DeadlineAt: r.DeadlineAt, SettledAt: Time(r.SettledAt),
	}
}

func (a *weaveApply) pollStates() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).UpsertPoll, mapped(a.polled, func(q *of[weave.Poll]) db.UpsertPollParams {
		r := &q.row
		return db.UpsertPollParams{
			NamespaceID: a.ns, InstanceID: q.instance[:], ActivationID: r.Activation[:], StepNo: r.Step, State: uint8(r.State), UsedRounds: r.UsedRounds,
			CurrentTaskID: idOrNull(r.Current), LastTaskID: idOrNull(r.Last), StartedAt: r.StartedAt, DeadlineAt: r.DeadlineAt,
			NextPollAt: timeOrNull(r.NextAt), SettledAt: timeOrNull(r.SettledAt), Overdue: bit(r.Overdue), Verdict: uint8(r.Verdict),
			Reason: Text(r.Reason), BusinessKey: Text(r.BusinessKey), ResourceKey: Text(r.ResourceKey), Input: r.Input, Output: r.Output,
		}
	}))
}

func (a *weaveApply) pollRounds() error {
	return tx.Many(a.ctx, a.t, (*db.Queries).UpsertRound, mapped(a.rounds, func(q *of[weave.Round]) db.UpsertRoundParams {
		r := &q.row
		return db.UpsertRoundParams{
			NamespaceID: a.ns, TaskID: r.Task[:], InstanceID: q.instance[:], ActivationID: r.Activation[:], RoundNo: r.No, State: uint8(r.State),
			CreatedAt: r.CreatedAt, DeadlineAt: r.DeadlineAt, SettledAt: timeOrNull(r.SettledAt),
		}
	}))
}
