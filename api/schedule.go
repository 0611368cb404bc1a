package api

import (
	"context"
	"fmt"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/cron"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

const prefixTrigger = "trigger"

// The numbers of the database and the names of the API.
var (
	overlapNames = map[cron.Overlap]string{cron.OverlapAllow: "ALLOW", cron.OverlapSkip: "SKIP", cron.OverlapQueueOne: "QUEUE_ONE"}
	misfireNames = map[cron.Misfire]string{cron.MisfireSkip: "SKIP", cron.MisfireFireOnce: "FIRE_ONCE"}
	gapNames     = map[cron.Gap]string{cron.GapSkip: "SKIP", cron.GapFireAfter: "FIRE_AFTER_GAP"}
	repeatNames  = map[cron.Repeat]string{cron.RepeatFirst: "FIRST", cron.RepeatBoth: "BOTH"}
	kindNames    = map[store.ScheduleKind]httpapi.ScheduleTimingKind{store.ScheduleCron: "CRON", store.ScheduleInterval: "INTERVAL"}
	originNames  = map[store.TriggerOrigin]httpapi.ScheduleTriggerOrigin{
		store.OriginSlot: "SLOT", store.OriginManual: "MANUAL", store.OriginBackfill: "BACKFILL", store.OriginClock: "CLOCK",
	}
	triggerNames = map[cron.Outcome]httpapi.ScheduleTriggerOutcome{
		cron.Fired: "FIRED", cron.SkippedMisfire: "SKIPPED_MISFIRE", cron.SkippedOverlap: "SKIPPED_OVERLAP", cron.SkippedPaused: "SKIPPED_PAUSED",
		cron.SkippedClock: "SKIPPED_CLOCK", cron.Merged: "MERGED", store.OutcomeManual: "MANUAL", store.OutcomeBackfill: "BACKFILL",
	}
)

// numberOf is the number behind a name that the description has already checked; zero for the empty name.
func numberOf[N comparable, T ~string](names map[N]T, name T) (number N) {
	for n, text := range names {
		if text == name {
			return n
		}
	}
	return number
}

// scheduleSpec turns a checked request into the definition of a version.
func (s *Server) scheduleSpec(ctx context.Context, c auth.Caller, r *httpapi.ScheduleSettings, tree exact.Value) (*store.ScheduleSpec, cron.Timing, error) {
	spec := timingSpec(&r.Timing)
	spec.Policy = cron.Policy{Overlap: cron.OverlapSkip, Misfire: cron.MisfireSkip, CatchUp: time.Hour}
	if r.Overlap != "" {
		spec.Policy.Overlap = numberOf(overlapNames, r.Overlap)
	}
	if r.Misfire != "" {
		spec.Policy.Misfire = numberOf(misfireNames, r.Misfire)
	}
	if r.CatchUpWindowMs != 0 {
		spec.Policy.CatchUp = time.Duration(r.CatchUpWindowMs) * time.Millisecond
	}
	task, _ := tree.Get("task")
	spec.Task = template(c, &r.Task, task)
	timing, refusal := spec.Check()
	if refusal != nil {
		return nil, nil, refusal
	}
	if err := checkContract(task); err != nil {
		return nil, nil, err
	}
	var err error
	spec.Task.Queue, err = s.Queues.ID(ctx, c, r.Task.Queue)
	if err == nil && spec.Task.Queue == 0 {
		err = engine.Refuse("queue_unknown", "create the queue first").At("/task/queue")
	}
	return spec, timing, err
}

func timingSpec(t *httpapi.ScheduleTiming) *store.ScheduleSpec {
	out := &store.ScheduleSpec{
		Kind: numberOf(kindNames, t.Kind), Expression: t.Expression, Zone: t.TimeZone, EveryMS: t.EveryMs,
		Gap: numberOf(gapNames, t.DstGap), Repeat: numberOf(repeatNames, t.DstRepeat),
	}
	if t.AnchorAt != nil {
		out.AnchorAt = t.AnchorAt.UTC().Truncate(time.Microsecond)
	}
	return out
}

func template(c auth.Caller, r *httpapi.ScheduleTask, tree exact.Value) pulse.Submission {
	input, _ := tree.Get("input")
	return pulse.Submission{
		Application: c.Application, QueueName: r.Queue, Handler: r.Handler, HandlerVersion: r.HandlerVersion, Input: r.Input, InputDigest: input.Digest(),
		BusinessKey: r.BusinessKey, ResourceKey: r.ResourceKey, Priority: uint8(r.Priority), DelayMS: r.DelayMs, DeadlineMS: r.DeadlineMs,
		AttemptTimeoutMS: r.AttemptTimeoutMs, Retry: retryOf(r.RetryPolicy), Lost: lostOf(r.LostPolicy), OutputContract: r.OutputContract, Source: pulse.SourceSchedule,
	}
}

// timingModel shows a timing with every declaration, defaults included.
func timingModel(s *store.ScheduleSpec) httpapi.ScheduleTiming {
	out := httpapi.ScheduleTiming{Kind: kindNames[s.Kind]}
	if s.Kind == store.ScheduleInterval {
		out.EveryMs, out.AnchorAt = s.EveryMS, pointer(s.AnchorAt)
		return out
	}
	out.Expression, out.TimeZone, out.DstGap, out.DstRepeat = s.Expression, s.Zone, gapNames[s.Gap], repeatNames[s.Repeat]
	return out
}

func retryModel(r pulse.Retry) httpapi.RetryPolicy {
	return httpapi.RetryPolicy{
		Kind: httpapi.RetryPolicyKind(r.Kind), MaxAttempts: int32(r.MaxAttempts), JitterPercent: int32(r.JitterPercent), DelayMs: r.DelayMS,
		StepMs: r.StepMS, Factor: int32(r.Factor), MaxDelayMs: r.MaxDelayMS, DelaysMs: r.DelaysMS,
	}
}

func templateModel(t *pulse.Submission, queue string) httpapi.ScheduleTask {
	return httpapi.ScheduleTask{
		Queue: queue, Handler: t.Handler, HandlerVersion: t.HandlerVersion, Input: t.Input, BusinessKey: t.BusinessKey, ResourceKey: t.ResourceKey,
		Priority: int32(t.Priority), DeadlineMs: t.DeadlineMS, AttemptTimeoutMs: t.AttemptTimeoutMS, RetryPolicy: retryModel(t.Retry),
		LostPolicy: string(lostNames[t.Lost]), OutputContract: t.OutputContract,
	}
}

func summaryOfSchedule(row *db.Schedule) httpapi.ScheduleSummary {
	return httpapi.ScheduleSummary{
		ScheduleId: fmt.Sprintf("schedule_%016x", row.ScheduleID), Name: string(row.Name), Version: int32(row.Version), Revision: int64(row.Revision),
		Paused: row.Paused == 1, PauseReason: optional(row.PauseReason), NextAt: row.NextAt, WaitingAt: row.WaitingAt, CreatedAt: row.CreatedAt, ChangedAt: row.ChangedAt,
	}
}

// scheduleModel is a schedule with its newest version.
func (s *Server) scheduleModel(ctx context.Context, c auth.Caller, name string) (httpapi.Schedule, error) {
	row, err := s.scheduleHead(ctx, c, name)
	if err != nil {
		return httpapi.Schedule{}, err
	}
	v, err := s.scheduleVersion(ctx, c, row.ScheduleID, row.Version)
	h := summaryOfSchedule(&row)
	return httpapi.Schedule{
		ScheduleId: h.ScheduleId, Name: h.Name, Version: h.Version, Revision: h.Revision, Paused: h.Paused, PauseReason: h.PauseReason, NextAt: h.NextAt,
		WaitingAt: h.WaitingAt, CreatedAt: h.CreatedAt, ChangedAt: h.ChangedAt, EffectiveFrom: v.EffectiveFrom, Timing: v.Timing, Overlap: v.Overlap,
		Misfire: v.Misfire, CatchUpWindowMs: v.CatchUpWindowMs, Task: v.Task,
	}, err
}

func (s *Server) scheduleHead(ctx context.Context, c auth.Caller, name string) (db.Schedule, error) {
	row, err := s.q().GetScheduleByName(ctx, db.GetScheduleByNameParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: []byte(name)})
	return row, found(err, "schedule")
}

func (s *Server) scheduleVersion(ctx context.Context, c auth.Caller, schedule uint64, version uint32) (httpapi.ScheduleVersion, error) {
	row, err := s.q().GetScheduleVersion(ctx, db.GetScheduleVersionParams{NamespaceID: c.Namespace, ScheduleID: schedule, Version: version})
	if err != nil {
		return httpapi.ScheduleVersion{}, found(err, "schedule_version")
	}
	spec, _, err := store.ReadSchedule(&row, c.Application)
	if err != nil {
		return httpapi.ScheduleVersion{}, err
	}
	queue, err := s.q().GetQueueName(ctx, db.GetQueueNameParams{NamespaceID: c.Namespace, QueueID: row.QueueID})
	return httpapi.ScheduleVersion{
		Version: int32(row.Version), EffectiveFrom: row.EffectiveFrom, Timing: timingModel(spec), Overlap: overlapNames[spec.Policy.Overlap],
		Misfire: misfireNames[spec.Policy.Misfire], CatchUpWindowMs: int64(row.CatchUpWindowMs), CreatedBy: auth.CredentialText(row.CreatedBy),
		CreatedAt: row.CreatedAt, Task: templateModel(&spec.Task, string(queue)),
	}, err
}

// scheduleCommand is a command of the caller.
func scheduleCommand(c auth.Caller, name, reason string, revision *int64) store.ScheduleCommand {
	return store.ScheduleCommand{Namespace: c.Namespace, Application: c.Application, Credential: c.Credential, Schedule: name, Reason: reason, Revision: revision}
}
