package api

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	engineretention "github.com/orbitrun/orbit/engine/retention"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// GetRetention reads how long the caller's namespace keeps what has ended, and who holds the stream (pulse.md Retention).
func (s *Server) GetRetention(ctx context.Context, _ httpapi.GetRetentionRequestObject) (httpapi.GetRetentionResponseObject, error) {
	model, err := s.retention(ctx, auth.CallerOf(ctx).Namespace)
	return httpapi.GetRetention200JSONResponse(model), err
}

// PutRetention changes it. Refuses: retention_invalid, revision_conflict.
func (s *Server) PutRetention(ctx context.Context, r httpapi.PutRetentionRequestObject) (httpapi.PutRetentionResponseObject, error) {
	c := auth.CallerOf(ctx)
	want := engineretention.Settings{
		Tasks: milliseconds(r.Body.TasksMs), Stream: milliseconds(r.Body.StreamMs), Receipts: milliseconds(r.Body.ReceiptsMs), Audit: milliseconds(r.Body.AuditMs),
	}
	if err := s.Service.SetRetention(ctx, c, want, r.Body.ExpectedVersion); err != nil {
		return nil, err
	}
	model, err := s.retention(ctx, c.Namespace)
	return httpapi.PutRetention200JSONResponse(model), err
}

// holdersMax is how many subscriptions are named as holding the stream.
const holdersMax = 10

func (s *Server) retention(ctx context.Context, ns uint64) (httpapi.Retention, error) {
	row, err := s.q().GetRetention(ctx, ns)
	if errors.Is(err, sql.ErrNoRows) {
		row, err = db.Retention{FirstSeq: 1}, nil
	}
	if err != nil {
		return httpapi.Retention{}, err
	}
	head, err := s.q().GetStreamHead(ctx, ns)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return httpapi.Retention{}, err
	}
	holders, err := s.q().ListStreamHolders(ctx, db.ListStreamHoldersParams{NamespaceID: ns})
	if err != nil {
		return httpapi.Retention{}, err
	}
	out := httpapi.Retention{
		TasksMs: int64(row.TasksMs), StreamMs: int64(row.StreamMs), ReceiptsMs: int64(row.ReceiptsMs), AuditMs: int64(row.AuditMs), Version: int64(row.Version),
		StreamFirstSeq: int64(row.FirstSeq), StreamNextSeq: int64(max(head.NextSeq, 1)), TasksRemoved: int64(row.TasksRemoved),
		EntriesRemoved: int64(row.EntriesRemoved), ReceiptsRemoved: int64(row.ReceiptsRemoved), AuditRemoved: int64(row.AuditRemoved),
		ChangedAt: changedAt(row),
	}
	for _, h := range holders[:min(len(holders), holdersMax)] {
		out.StreamHolders = append(out.StreamHolders, httpapi.StreamHolder{ApplicationId: auth.ApplicationText(h.ApplicationID), Subscription: string(h.Name), Seq: h.Seq})
	}
	return out, nil
}

// changedAt is nil until someone set something.
func changedAt(row db.Retention) *time.Time {
	if row.Version == 0 {
		return nil
	}
	return &row.ChangedAt
}
