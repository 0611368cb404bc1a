package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/store"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// PutSchedule creates a schedule or gives it a new version; the same definition again changes nothing.
//
// Refuses: request_invalid, cron_invalid, time_zone_unknown, schedule_never_due, queue_unknown, revision_conflict.
func (s *Server) PutSchedule(ctx context.Context, r httpapi.PutScheduleRequestObject) (httpapi.PutScheduleResponseObject, error) {
	c := auth.CallerOf(ctx)
	spec, timing, err := s.scheduleSpec(ctx, c, r.Body, bodyOf(ctx).tree)
	if err != nil {
		return nil, err
	}
	if err := store.PutSchedule(ctx, s.Writer, scheduleCommand(c, r.Name, "", r.Body.ExpectedRevision), spec, timing, auth.NewID()); err != nil {
		return nil, err
	}
	model, err := s.scheduleModel(ctx, c, r.Name)
	return httpapi.PutSchedule200JSONResponse(model), err
}

// PauseSchedule stops firing; slots leave their record as skipped.
func (s *Server) PauseSchedule(ctx context.Context, r httpapi.PauseScheduleRequestObject) (httpapi.PauseScheduleResponseObject, error) {
	c := auth.CallerOf(ctx)
	if err := store.PauseSchedule(ctx, s.Writer, scheduleCommand(c, r.Name, r.Body.Reason, r.Body.ExpectedRevision), true); err != nil {
		return nil, err
	}
	model, err := s.scheduleModel(ctx, c, r.Name)
	return httpapi.PauseSchedule200JSONResponse(model), err
}

// ResumeSchedule goes on with the next slot; what came during the pause stays skipped.
func (s *Server) ResumeSchedule(ctx context.Context, r httpapi.ResumeScheduleRequestObject) (httpapi.ResumeScheduleResponseObject, error) {
	c := auth.CallerOf(ctx)
	if err := store.PauseSchedule(ctx, s.Writer, scheduleCommand(c, r.Name, r.Body.Reason, r.Body.ExpectedRevision), false); err != nil {
		return nil, err
	}
	model, err := s.scheduleModel(ctx, c, r.Name)
	return httpapi.ResumeSchedule200JSONResponse(model), err
}
