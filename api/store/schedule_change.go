package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/cron"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// ScheduleCommand is who asks what of which schedule. Every operation re-checks the permission under its locks.
type ScheduleCommand struct {
	Namespace, Application, Credential uint64
	Schedule                           string // name
	Reason                             string
	Revision                           *int64 // the one that was read; nil: whatever is there
}

const scopeSchedulesManage = "schedules:manage"

// errScheduleGone answers a name that no schedule of the application has.
func errScheduleGone() error {
	return engine.Refuse("schedule_not_found", "there is no such schedule in this application")
}

// scheduleHeld is a schedule whose quota and head are held by a caller that may change it.
type scheduleHeld struct {
	c      *ScheduleCommand
	ctx    context.Context
	t      *tx.Tx
	place  tx.AfterDefinition
	quotas []db.LockQuotasRow
	head   db.Schedule
	exists bool
	now    time.Time
}

// holdSchedule descends to the head of a schedule that may not exist yet. After the quota lock its name cannot appear
// any more, because whoever creates one needs that lock too. The receipt, if any, is looked up by the caller between
// judging and the head.
//
// lock: 1 identity S, 2 quota X, 4 schedule X.
func (c *ScheduleCommand) hold(ctx context.Context, b tx.Begun, replay func(*tx.Tx) (bool, error)) (*scheduleHeld, error) {
	h := &scheduleHeld{c: c, ctx: ctx, t: b.Tx}
	callers, _, identified, err := b.LockIdentity(ctx, []uint64{c.Credential}, nil)
	if err != nil {
		return nil, err
	}
	quotas, quota, err := identified.LockQuotas(ctx, []uint64{c.Application})
	if err != nil {
		return nil, err
	}
	h.quotas = quotas
	if err := h.judge(callers, b); err != nil {
		return nil, err
	}
	if replay != nil {
		if done, err := replay(b.Tx); done || err != nil {
			return nil, err
		}
	}
	return h, h.lock(quota)
}

func (h *scheduleHeld) judge(callers []db.LockCredentialsRow, b tx.Begun) error {
	now, err := b.Clock(h.ctx)
	if err != nil {
		return err
	}
	var caller engine.Caller
	if len(callers) == 1 && callers[0].ApplicationID == h.c.Application {
		caller = Caller(&callers[0])
	}
	if refusal := caller.Judge(scopeSchedulesManage, now); refusal != nil {
		return refusal
	}
	h.now = now
	return nil
}

func (h *scheduleHeld) lock(quota tx.AfterQuota) error {
	named, err := h.t.Queries().GetScheduleByName(h.ctx, db.GetScheduleByNameParams{NamespaceID: h.c.Namespace, ApplicationID: h.c.Application, Name: []byte(h.c.Schedule)})
	h.place = quota.AfterDefinition
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	h.exists = true
	h.head, h.place, err = quota.LockSchedule(h.ctx, named.ScheduleID)
	return err
}

// expected refuses a change that was decided on an older state.
func (h *scheduleHeld) expected() error {
	if h.c.Revision == nil || *h.c.Revision == int64(h.head.Revision) {
		return nil
	}
	return engine.Refuse("revision_conflict", "the schedule was changed meanwhile; read it again").At("/expected_revision").Over(*h.c.Revision, int64(h.head.Revision))
}

func (h *scheduleHeld) audit(action, detail string) error {
	return InsertAudits(h.ctx, h.t, h.now, []pulse.AuditWrite{{
		Application: h.c.Application, Actor: engine.CredentialText(h.c.Credential), Action: action, Subject: "schedule:" + h.c.Schedule, Reason: h.c.Reason, Detail: detail,
	}})
}

// version reads the newest version of the schedule.
func (h *scheduleHeld) version(version uint32) (db.ScheduleVersion, error) {
	return h.t.Queries().GetScheduleVersion(h.ctx, db.GetScheduleVersionParams{NamespaceID: h.c.Namespace, ScheduleID: h.head.ScheduleID, Version: version})
}

// PutSchedule creates a schedule or gives it a new version, in force from now on. Slots that came before stay with the
// version that was in force then. The same definition again changes nothing. spec was checked; fresh is the id of a
// schedule that does not exist yet.
func PutSchedule(ctx context.Context, d *tx.DB, c ScheduleCommand, spec *ScheduleSpec, timing cron.Timing, fresh uint64) error {
	return d.Run(ctx, c.Namespace, "put_schedule", func(ctx context.Context, b tx.Begun) error {
		h, err := c.hold(ctx, b, nil)
		if err != nil {
			return err
		}
		if err := h.expected(); err != nil {
			return err
		}
		next, ok := timing.Next(h.now.Add(-time.Microsecond))
		if !ok {
			return engine.Refuse("schedule_never_due", "no slot comes within eight years").At("/timing")
		}
		if !h.exists {
			return h.create(spec, fresh, next)
		}
		return h.change(spec, next)
	})
}

func (h *scheduleHeld) create(spec *ScheduleSpec, fresh uint64, next time.Time) error {
	rows, err := h.t.Queries().InsertSchedule(h.ctx, db.InsertScheduleParams{
		NamespaceID: h.c.Namespace, ScheduleID: fresh, ApplicationID: h.c.Application, Name: []byte(h.c.Schedule), SkipBefore: h.now, LastAt: h.now,
		NextAt: &next, DueAt: &next, CreatedAt: h.now, ChangedAt: h.now,
	})
	if err := tx.Affected(rows, err)(1); err != nil {
		return err
	}
	h.head.ScheduleID = fresh
	return h.newVersion(spec, 1, "schedule.created")
}

func (h *scheduleHeld) newVersion(spec *ScheduleSpec, version uint32, action string) error {
	rows, err := h.t.Queries().InsertScheduleVersion(h.ctx, versionRow(h.c.Namespace, h.head.ScheduleID, version, spec, h.c.Credential, h.now))
	if err := tx.Affected(rows, err)(1); err != nil {
		return err
	}
	detail := exact.Object(exact.Field("version", exact.Int(int64(version))))
	return h.audit(action, detail.String())
}

func (h *scheduleHeld) change(spec *ScheduleSpec, next time.Time) error {
	current, err := h.version(h.head.Version)
	if err != nil {
		return err
	}
	if digest := spec.Digest(); string(current.Digest) == string(digest[:]) {
		return nil
	}
	p := h.headUpdate()
	p.Version++
	undecided := h.head.PlanVersion < h.head.Version || h.head.NextAt != nil && !h.head.NextAt.After(h.now)
	if !undecided {
		if err := h.leave(&current); err != nil {
			return err
		}
		p.PlanVersion, p.LastAt, p.NextAt, p.DueAt = p.Version, h.now, &next, &next
	}
	if undecided || h.head.WaitingAt != nil {
		p.DueAt = &h.now
	}
	if err := h.update(p); err != nil {
		return err
	}
	return h.newVersion(spec, p.Version, "schedule.changed")
}

// leave records what daylight saving took away since the last slot of a version that goes out of force.
func (h *scheduleHeld) leave(current *db.ScheduleVersion) error {
	_, timing, err := ReadSchedule(current, h.c.Application)
	if err != nil {
		return err
	}
	f := &firing{ctx: h.ctx, t: h.t, usage: pulse.NewUsage(nil, nil), now: h.now}
	for _, s := range cron.Silences(timing, h.head.LastAt, h.now) {
		f.add(trigger{schedule: h.head.ScheduleID, version: current.Version, at: s.At, origin: OriginClock, outcome: s.Outcome, into: s.Into, reason: s.Reason})
	}
	return f.write()
}

// headUpdate is an update that changes nothing yet.
func (h *scheduleHeld) headUpdate() db.UpdateScheduleHeadParams {
	return db.UpdateScheduleHeadParams{
		Version: h.head.Version, PlanVersion: h.head.PlanVersion, Paused: h.head.Paused, PauseReason: h.head.PauseReason, SkipBefore: h.head.SkipBefore,
		LastAt: h.head.LastAt, NextAt: h.head.NextAt, DueAt: h.head.DueAt, ChangedAt: h.now, NamespaceID: h.c.Namespace, ScheduleID: h.head.ScheduleID, Revision: h.head.Revision,
	}
}

func (h *scheduleHeld) update(p db.UpdateScheduleHeadParams) error {
	rows, err := h.t.Queries().UpdateScheduleHead(h.ctx, p)
	return tx.Affected(rows, err)(1)
}

// PauseSchedule and ResumeSchedule: while paused, slots are decided as skipped, so that each leaves its record; what
// came during the pause stays skipped. A schedule that is already so stays as it is.
func PauseSchedule(ctx context.Context, d *tx.DB, c ScheduleCommand, pause bool) error {
	return d.Run(ctx, c.Namespace, "pause_schedule", func(ctx context.Context, b tx.Begun) error {
		h, err := c.hold(ctx, b, nil)
		if err != nil {
			return err
		}
		if !h.exists {
			return errScheduleGone()
		}
		if err := h.expected(); err != nil {
			return err
		}
		if pause == (h.head.Paused == 1) {
			return nil
		}
		p, action := h.headUpdate(), "schedule.paused"
		p.Paused, p.PauseReason = bit(pause), Text(c.Reason)
		if !pause {
			action, p.PauseReason, p.SkipBefore = "schedule.resumed", nil, h.now
		}
		if err := h.update(p); err != nil {
			return err
		}
		return h.audit(action, "{}")
	})
}
