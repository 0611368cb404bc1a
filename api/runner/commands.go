package runner

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// commandRetention is how long a transaction's own row is kept: far beyond the time in which a lost COMMIT is asked for.
const commandRetention = time.Hour

// commands removes old transaction rows in key order, a bounded number at a time.
func (r *Runner) commands(ctx context.Context, v view) error {
	bound := firstIDAt(v.now.Add(-commandRetention))
	for {
		var gone int64
		err := r.writer.Run(ctx, v.ns, "purge_commands", func(ctx context.Context, b tx.Begun) (err error) {
			gone, err = b.Queries().DeleteTxCommands(ctx, db.DeleteTxCommandsParams{NamespaceID: v.ns, CommandID: bound, Limit: 1000})
			return err
		})
		if err != nil || gone < 1000 {
			return err
		}
	}
}

// firstIDAt is the smallest UUIDv7 of a time.
func firstIDAt(t time.Time) []byte {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], uint64(t.UnixMilli())<<16)
	return id[:]
}
