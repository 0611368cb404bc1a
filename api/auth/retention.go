package auth

import (
	"context"
	"fmt"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/retention"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/tx"
)

// SetRetention changes how long the caller's namespace keeps what has ended (pulse.md Retention). expected is the
// version the change was made about, nil for any. Locks: caller S → retention X. Errors: retention_invalid,
// revision_conflict.
func (s *Service) SetRetention(ctx context.Context, c Caller, want retention.Settings, expected *int64) error {
	if refusal := want.Check(); refusal != nil {
		return refusal
	}
	return s.writer.Run(ctx, c.Namespace, "set_retention", func(ctx context.Context, b tx.Begun) error {
		_, held, err := admit(ctx, b, c)
		if err != nil {
			return err
		}
		row, _, err := held.LockRetention(ctx)
		if err != nil {
			return err
		}
		if expected != nil && *expected != int64(row.Version) {
			return problem.New("revision_conflict", fmt.Sprintf("the settings are at version %d, the request was made about %d; read them again", row.Version, *expected))
		}
		err = one(b.Queries().UpdateRetentionSettings(ctx, db.UpdateRetentionSettingsParams{
			TasksMs: uint64(want.Tasks.Milliseconds()), StreamMs: uint64(want.Stream.Milliseconds()), ReceiptsMs: uint64(want.Receipts.Milliseconds()),
			AuditMs: uint64(want.Audit.Milliseconds()), ChangedAt: b.Now(), NamespaceID: c.Namespace,
		}))
		if err != nil {
			return err
		}
		return record(ctx, b.Tx, 0, c.Actor(), "retention.changed", "retention", "",
			exact.Field("tasks_ms", exact.Int(want.Tasks.Milliseconds())), exact.Field("stream_ms", exact.Int(want.Stream.Milliseconds())),
			exact.Field("receipts_ms", exact.Int(want.Receipts.Milliseconds())), exact.Field("audit_ms", exact.Int(want.Audit.Milliseconds())))
	})
}
