package tx

import (
	"context"
	"database/sql"
	"time"
)

// ServerTime asks a reader for the database's clock, UTC in microseconds. It is for a node that wants to know how long to
// sleep; what a transaction decides rests on its own Clock (O14).
func ServerTime(ctx context.Context, reader *sql.DB) (time.Time, error) {
	var now time.Time
	err := reader.QueryRowContext(ctx, "SELECT NOW(6)").Scan(&now)
	return now, err
}
