package runner

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
)

const (
	// schedulesPage is one read of due heads; waiting ones stay due, so a scan goes on page by page.
	schedulesPage = 200
	// schedulesTime bounds the schedules of one scan, so that lost leases never wait long behind them; what is left is
	// still due in the next.
	schedulesTime = 2 * time.Second
	// scheduleAhead is how far a scan looks ahead to ring at the very instant instead of at the next tick.
	scheduleAhead = 2 * Tick
)

// schedules decides the slots that have come. It reads candidates without a lock; whether a slot has come is judged by
// the database's clock under the schedule's lock, so a node whose clock is wrong fires nothing early and nothing twice
// (T3, T13).
func (r *Runner) schedules(ctx context.Context, v view) error {
	short, cancel := context.WithTimeout(ctx, schedulesTime)
	defer cancel()
	err := r.dueSchedules(short, v)
	if short.Err() != nil && ctx.Err() == nil {
		return nil // the rest stays due
	}
	return err
}

func (r *Runner) dueSchedules(ctx context.Context, v view) error {
	until, epoch := v.now.Add(scheduleAhead), time.Unix(0, 0).UTC()
	after := db.ListDueSchedulesRow{DueAt: &epoch}
	var broken error
	for {
		rows, err := r.q.ListDueSchedules(ctx, db.ListDueSchedulesParams{NamespaceID: v.ns, DueAt: &until, AfterAt: after.DueAt, AfterID: after.ScheduleID, Limit: schedulesPage})
		if err != nil || len(rows) == 0 {
			return first(err, broken)
		}
		if err := r.decideSchedules(ctx, v, rows); err != nil {
			broken = first(broken, err) // one broken schedule stops no other
		}
		after = rows[len(rows)-1]
		if ctx.Err() != nil || len(rows) < schedulesPage || after.DueAt.After(v.now) {
			return broken
		}
	}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// decideSchedules goes through one page by applications, in an order of its own: nodes that scan at the same time
// rarely meet.
func (r *Runner) decideSchedules(ctx context.Context, v view, rows []db.ListDueSchedulesRow) error {
	busy, err := r.stillWaiting(ctx, v, rows)
	if err != nil {
		return err
	}
	due := map[uint64][]uint64{}
	for _, i := range rand.Perm(len(rows)) {
		row := &rows[i]
		switch {
		case row.DueAt.After(v.now):
			r.Note(v.ns, *row.DueAt)
		case !busy[row.ScheduleID]:
			due[row.ApplicationID] = append(due[row.ApplicationID], row.ScheduleID)
		}
	}
	for application, schedules := range due {
		for part := range slices.Chunk(schedules, store.SchedulesPerTransaction) {
			err = first(err, r.fire(ctx, v, application, part))
			if ctx.Err() != nil {
				return err
			}
		}
	}
	return err
}

// stillWaiting are the schedules with nothing to decide but a slot that waits for a task that has not ended.
func (r *Runner) stillWaiting(ctx context.Context, v view, rows []db.ListDueSchedulesRow) (map[uint64]bool, error) {
	var tasks []engine.ID
	behind := map[engine.ID]uint64{}
	for i := range rows {
		if rows[i].WaitingAt != nil && (rows[i].NextAt == nil || rows[i].NextAt.After(v.now)) && len(rows[i].LastTaskID) > 0 {
			id := store.ID(rows[i].LastTaskID)
			tasks, behind[id] = append(tasks, id), rows[i].ScheduleID
		}
	}
	busy := map[uint64]bool{}
	if len(tasks) == 0 {
		return busy, nil
	}
	open, err := r.q.ListOpenStates(ctx, db.ListOpenStatesParams{NamespaceID: v.ns, TaskIds: store.Bytes(tasks)})
	for i := range open {
		busy[behind[store.ID(open[i].TaskID)]] = true
	}
	return busy, err
}

// fire decides schedules of one application until nothing of them is due, and wakes the claims of their queues.
func (r *Runner) fire(ctx context.Context, v view, application uint64, schedules []uint64) error {
	for len(schedules) > 0 {
		out, err := store.FireSchedules(ctx, r.writer, v.ns, application, schedules)
		for _, queue := range slices.Compact(slices.Sorted(slices.Values(out.Queues))) {
			r.lanes.Wake(v.ns, queue)
		}
		if r.Fired != nil && len(out.Late) > 0 {
			r.Fired(out.Late)
		}
		if err != nil {
			return err
		}
		schedules = out.More
	}
	return nil
}
