package api

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/cron"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// GetSchedule reads a schedule with its newest version.
func (s *Server) GetSchedule(ctx context.Context, r httpapi.GetScheduleRequestObject) (httpapi.GetScheduleResponseObject, error) {
	model, err := s.scheduleModel(ctx, auth.CallerOf(ctx), r.Name)
	return httpapi.GetSchedule200JSONResponse(model), err
}

// ListSchedules pages the application's schedules by name.
func (s *Server) ListSchedules(ctx context.Context, r httpapi.ListSchedulesRequestObject) (httpapi.ListSchedulesResponseObject, error) {
	c := auth.CallerOf(ctx)
	b := bind(c, "schedules")
	after, err := b.readName(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListSchedules(ctx, db.ListSchedulesParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListSchedules200JSONResponse{}
	for i := range rows {
		out.Items = append(out.Items, summaryOfSchedule(&rows[i]))
	}
	if more {
		out.NextCursor = b.write(rows[len(rows)-1].Name)
	}
	return out, nil
}

// GetScheduleVersion reads one version with its task.
func (s *Server) GetScheduleVersion(ctx context.Context, r httpapi.GetScheduleVersionRequestObject) (httpapi.GetScheduleVersionResponseObject, error) {
	c := auth.CallerOf(ctx)
	head, err := s.scheduleHead(ctx, c, r.Name)
	if err != nil {
		return nil, err
	}
	model, err := s.scheduleVersion(ctx, c, head.ScheduleID, uint32(r.Version))
	return httpapi.GetScheduleVersion200JSONResponse(model), err
}

// ListScheduleVersions pages the versions, newest first.
func (s *Server) ListScheduleVersions(ctx context.Context, r httpapi.ListScheduleVersionsRequestObject) (httpapi.ListScheduleVersionsResponseObject, error) {
	c := auth.CallerOf(ctx)
	b := bind(c, "schedule_versions", r.Name)
	before, err := b.readNumber(r.Params.Cursor, math.MaxUint32)
	if err != nil {
		return nil, err
	}
	head, err := s.scheduleHead(ctx, c, r.Name)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListScheduleVersions(ctx, db.ListScheduleVersionsParams{NamespaceID: c.Namespace, ScheduleID: head.ScheduleID, Version: uint32(before), Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListScheduleVersions200JSONResponse{}
	for i := range rows {
		out.Items = append(out.Items, versionSummary(&rows[i]))
	}
	if more {
		out.NextCursor = b.writeNumber(uint64(rows[len(rows)-1].Version))
	}
	return out, nil
}

func versionSummary(row *db.ListScheduleVersionsRow) httpapi.ScheduleVersionSummary {
	spec := &store.ScheduleSpec{
		Kind: store.ScheduleKind(row.Kind), Expression: string(row.Expression), Zone: string(row.TimeZone), EveryMS: int64(row.EveryMs),
		AnchorAt: row.AnchorAt, Gap: cron.Gap(row.DstGap), Repeat: cron.Repeat(row.DstRepeat),
	}
	return httpapi.ScheduleVersionSummary{
		Version: int32(row.Version), EffectiveFrom: row.EffectiveFrom, Timing: timingModel(spec), Overlap: overlapNames[cron.Overlap(row.Overlap)],
		Misfire: misfireNames[cron.Misfire(row.Misfire)], CatchUpWindowMs: int64(row.CatchUpWindowMs), Handler: string(row.Handler),
		HandlerVersion: string(row.HandlerVersion), CreatedBy: auth.CredentialText(row.CreatedBy), CreatedAt: row.CreatedAt,
	}
}

// ListScheduleTriggers pages what became of the slots, newest planned time first.
func (s *Server) ListScheduleTriggers(ctx context.Context, r httpapi.ListScheduleTriggersRequestObject) (httpapi.ListScheduleTriggersResponseObject, error) {
	c := auth.CallerOf(ctx)
	b := bind(c, "triggers", r.Name)
	before, err := b.readMomentBefore(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	head, err := s.scheduleHead(ctx, c, r.Name)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListScheduleTriggers(ctx, db.ListScheduleTriggersParams{
		NamespaceID: c.Namespace, ScheduleID: head.ScheduleID, BeforeAt: before.at, BeforeID: before.id[:], Limit: limit + 1,
	})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListScheduleTriggers200JSONResponse{}
	for i := range rows {
		out.Items = append(out.Items, triggerModel(&rows[i]))
	}
	if more {
		last := rows[len(rows)-1]
		out.NextCursor = b.write(moment{last.PlannedAt, engine.ID(last.TriggerID)}.bytes())
	}
	return out, nil
}

// readMomentBefore is the position before which a list by falling time goes on; behind everything without a cursor.
func (b binding) readMomentBefore(cursor *string) (moment, error) {
	if cursor != nil {
		return b.readMoment(cursor)
	}
	var last engine.ID
	binary.BigEndian.PutUint64(last[:], math.MaxUint64)
	return moment{time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC), last}, nil
}

func triggerModel(row *db.ScheduleTrigger) httpapi.ScheduleTrigger {
	out := httpapi.ScheduleTrigger{
		TriggerId: idText(prefixTrigger, row.TriggerID), Version: int32(row.Version), PlannedAt: row.PlannedAt, Origin: originNames[store.TriggerOrigin(row.Origin)],
		Outcome: triggerNames[cron.Outcome(row.Outcome)], MergedInto: row.MergedInto, Reason: optional(row.Reason), DecidedAt: row.DecidedAt,
	}
	if len(row.TaskID) > 0 {
		out.TaskId = pointer(idText(prefixTask, row.TaskID))
	}
	return out
}
