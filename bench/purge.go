package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/orbitrun/orbit/api/retention"
	"github.com/orbitrun/orbit/api/tx"
)

// purgeTurns alternates between no purge (0) and a purge (1), so that a slow minute of the machine falls on both.
var purgeTurns = []int{0, 1, 1, 0, 0, 1, 1, 0}

// purge ends N tasks and then measures claims, paced at a hundred a second, with and without another node deleting those
// tasks, in turns; ratio_p99 is with over without (T20: less than 1.1).
func purge(ctx context.Context, r *run) error {
	if r.DSN == "" {
		return errors.New("purge needs the database: it deletes as another node would")
	}
	sweeper, db, done, err := openSweeper(r.DSN)
	if err != nil {
		return err
	}
	defer done()
	if _, err := r.drainWhole(ctx, 0, r.N); err != nil {
		return err
	}
	if err := r.agePast(ctx, db); err != nil {
		return err
	}
	if err := r.begin(); err != nil {
		return err
	}
	began := time.Now()
	var took [2][]float64
	for turn, with := range purgeTurns {
		some, err := r.pacedClaims(ctx, turn, func(ctx context.Context) {
			for with == 1 && ctx.Err() == nil {
				_ = sweeper.Sweep(ctx) // it ends with the turn, in the middle of whatever it deletes
			}
		})
		if err != nil {
			return errors.Join(err, r.end())
		}
		took[with] = append(took[with], some...)
	}
	r.timed(began)
	quantiles(r.result.Ms, "clean_", took[0])
	quantiles(r.result.Ms, "purging_", took[1])
	r.result.Ms["ratio_p99"] = round(r.result.Ms["purging_p99"] / r.result.Ms["clean_p99"])
	var removed float64
	if err := db.QueryRowContext(ctx, "SELECT SUM(tasks_removed) FROM retention").Scan(&removed); err != nil {
		return errors.Join(err, r.end())
	}
	r.result.Ms["tasks_removed"] = removed
	return r.end()
}

func openSweeper(dsn string) (*retention.Sweeper, *sql.DB, func(), error) {
	reader, err := tx.OpenReader(dsn, 2)
	if err != nil {
		return nil, nil, nil, err
	}
	writer, err := tx.Open(dsn, 1)
	if err != nil {
		return nil, nil, nil, errors.Join(err, reader.Close())
	}
	return retention.New(reader, writer, slog.New(slog.DiscardHandler)), reader, func() { _, _ = reader.Close(), writer.Close() }, nil
}

// agePast makes what has ended an hour and a minute old and lets it be kept for an hour: a purge that keeps up.
func (r *run) agePast(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{"UPDATE stream_entry SET at = at - INTERVAL 61 MINUTE", "UPDATE ended_task SET look_at = look_at - INTERVAL 61 MINUTE"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return r.client.call(ctx, "PUT", "/v1/admin/retention", map[string]any{"tasks_ms": 3_600_000, "stream_ms": 3_600_000, "receipts_ms": 0, "audit_ms": 0}, nil)
}

// pacedClaims claims and completes eight tasks a hundred times a second, 400 times, beside something else.
func (r *run) pacedClaims(ctx context.Context, turn int, beside func(context.Context)) (took []float64, err error) {
	const claims, each = 400, 8
	from := 20_000_000 + turn*claims*each
	if err := r.submitRange(ctx, from, from+claims*each, 4, nil); err != nil {
		return nil, err
	}
	working, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); beside(working) }()
	defer func() { stop(); <-ended }()
	w := &worker{r: r, handlers: []string{"bench"}, handle: func(claimed) {}}
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	for range claims {
		<-pace.C
		began := time.Now()
		tasks, err := w.exchange(ctx, nil, each)
		if err != nil {
			return took, err
		}
		took = append(took, milliseconds(time.Since(began)))
		if len(tasks) != each {
			return took, fmt.Errorf("%d tasks were claimed of %d", len(tasks), each)
		}
		if err := r.client.call(ctx, "POST", "/v1/completions", map[string]any{"worker": "bench", "items": w.run(tasks)}, nil); err != nil {
			return took, err
		}
	}
	return took, nil
}
