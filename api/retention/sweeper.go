// Package retention deletes what has ended and is no longer needed: the impure half of engine/retention.
//
// Every page is a transaction of its own that holds the namespace's retention row, so several nodes take turns and a
// killed one loses nothing but its page. Between two pages it rests eight times as long as the page took, so that
// those who do the work hardly notice (pulse.md Retention).
package retention

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/orbitrun/orbit/engine/retention"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// Sweeper deletes in the background of one node. Removed, when set, hears how much each page deleted.
type Sweeper struct {
	Removed func(transaction string, n int)

	q      *db.Queries
	writer *tx.DB
	log    *slog.Logger
	every  time.Duration
	rest   int // how many times as long as a page the pause after it is, while deleting keeps up
}

// Every is how often a node looks for something to delete.
const Every = time.Minute

// A sweeper that has fallen behind by lateMax rests lateRest times as long only: tables that grow for ever hurt more than
// claims that are somewhat slower for a while.
const (
	lateMax  = 10 * time.Minute
	lateRest = 1
)

// Rows of one page. A task takes rows of up to eight tables with it.
const (
	tasksMax    = 10
	entriesMax  = 100
	receiptsMax = 500
	auditMax    = 500
	itemsMax    = 1000
)

// New makes a sweeper. Run starts it.
func New(reader *sql.DB, writer *tx.DB, log *slog.Logger) *Sweeper {
	return &Sweeper{q: db.New(reader), writer: writer, log: log, every: Every, rest: 8}
}

// Run sweeps until the context ends.
func (s *Sweeper) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.every):
			if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("retention failed; it will be repeated", "error", err)
			}
		}
	}
}

// Sweep deletes everything that is due now in every namespace, page by page.
func (s *Sweeper) Sweep(ctx context.Context) error {
	rows, err := s.q.ListRetentions(ctx)
	for i := 0; err == nil && i < len(rows); i++ {
		err = s.Namespace(ctx, rows[i].NamespaceID)
	}
	return err
}

// Namespace deletes everything that is due now in one namespace: results first, then the tasks they release.
func (s *Sweeper) Namespace(ctx context.Context, ns uint64) error {
	for _, kind := range []struct {
		name string
		page func(context.Context, *purge) (more bool, err error)
	}{{"purge_stream", entries}, {"purge_tasks", tasks}, {"purge_receipts", receipts}, {"purge_audit", audits}, {"purge_bulk", bulks}} {
		if err := s.pages(ctx, ns, kind.name, kind.page); err != nil {
			return err
		}
	}
	return nil
}

// purge is one page's transaction: the settings, the progress so far, and the clock.
type purge struct {
	tx.AfterRetention
	row     db.Retention
	set     retention.Settings
	removed int
	late    time.Duration // how long the oldest row of the page has been over
}

// before is the moment up to which something kept for d may go.
func (p *purge) before(d time.Duration) time.Time { return p.Now().Add(-d) }

func (s *Sweeper) pages(ctx context.Context, ns uint64, name string, page func(context.Context, *purge) (bool, error)) error {
	for more := true; more; {
		began, removed, pause := time.Now(), 0, s.rest
		err := s.writer.Run(ctx, ns, name, func(ctx context.Context, b tx.Begun) error {
			row, held, err := b.LockRetention(ctx)
			if err != nil {
				return err
			}
			p := &purge{AfterRetention: held, row: row, set: Settings(&row)}
			more, err = page(ctx, p)
			if removed = p.removed; err != nil {
				return err
			}
			if p.late > lateMax {
				pause = min(pause, lateRest)
			}
			return p.progress(ctx)
		})
		if err != nil {
			return err
		}
		if s.Removed != nil && removed > 0 {
			s.Removed(name, removed)
		}
		if err := rest(ctx, time.Duration(pause)*time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (p *purge) progress(ctx context.Context) error {
	r := &p.row
	rows, err := p.Queries().UpdateRetentionProgress(ctx, db.UpdateRetentionProgressParams{
		FirstSeq: r.FirstSeq, ReceiptApplication: r.ReceiptApplication, ReceiptKind: r.ReceiptKind, ReceiptKey: r.ReceiptKey, AuditAfter: r.AuditAfter,
		TasksRemoved: r.TasksRemoved, EntriesRemoved: r.EntriesRemoved, ReceiptsRemoved: r.ReceiptsRemoved, AuditRemoved: r.AuditRemoved, NamespaceID: p.Namespace(),
	})
	return tx.Affected(rows, err)(1)
}

// Settings reads the settings of a row.
func Settings(r *db.Retention) retention.Settings {
	ms := func(n uint64) time.Duration { return time.Duration(n) * time.Millisecond }
	return retention.Settings{Tasks: ms(r.TasksMs), Stream: ms(r.StreamMs), Receipts: ms(r.ReceiptsMs), Audit: ms(r.AuditMs)}
}
