package runner

import (
	"context"
	"database/sql"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/tx"
)

// Lanes is what the runner needs of a node's lanes.
type Lanes interface {
	Due(ctx context.Context, namespace uint64, dues []pulse.Due) error
	Advance(namespace uint64, instances []engine.ID)
	Wake(namespace, queue uint64)
	Bulk(ctx context.Context, namespace uint64, page pulse.BulkPage) (pulse.BulkOutcome, error)
}

// Runner scans for due work. Fired, when set, hears how late slots of schedules were.
type Runner struct {
	Fired func([]time.Duration)

	q      *db.Queries
	reader *sql.DB
	writer *tx.DB
	lanes  Lanes
	log    *slog.Logger
	tick   time.Duration
	alarm  *alarm
	clocks *alarm        // of workflow checkpoints
	offset time.Duration // database time minus node time
	ticks  uint64
	moved  chan struct{}

	bulkRing chan struct{} // capacity 1

	expired map[uint64]time.Time // by namespace: up to where no waiting task is past its deadline
}

// Tick is how often a namespace is scanned (seed: every second).
const Tick = time.Second

// callMax bounds one scan of one namespace (seed: 5 s).
const callMax = 5 * time.Second

// candidatesMax bounds the candidates of one scan (seed: 100 for workflows; tasks settle in sets of 256).
const candidatesMax = 100

// New makes a runner. Run starts it.
func New(reader *sql.DB, writer *tx.DB, lanes Lanes, log *slog.Logger) *Runner {
	return &Runner{
		q: db.New(reader), reader: reader, writer: writer, lanes: lanes, log: log, tick: Tick, alarm: newAlarm(0), clocks: newAlarm(clockSlack),
		expired: map[uint64]time.Time{}, bulkRing: make(chan struct{}, 1), moved: make(chan struct{}, 1),
	}
}

// Note tells the runner that something of a namespace becomes due at a time of the database.
func (r *Runner) Note(namespace uint64, at time.Time) { r.alarm.set(namespace, at) }

// NoteClock tells the runner that a workflow checkpoint of a namespace becomes due at a time of the database.
func (r *Runner) NoteClock(namespace uint64, at time.Time) { r.clocks.set(namespace, at) }

// clockSlack is how long after the first due checkpoint the scan for all of them comes: neighbours share a
// transaction, and no clock rings before the database's.
const clockSlack = 3 * time.Millisecond

// TimeMoved tells the runner that the database's clock has jumped: it reads the clock again and looks for everything.
func (r *Runner) TimeMoved() {
	select {
	case r.moved <- struct{}{}:
	default:
	}
}

// seenSlack is how much later a node rings for a checkpoint that it only saw in the table: the node that wrote it was
// told, rings first and takes it away, so that not every node of a cluster does the same work.
const seenSlack = 15 * time.Millisecond

// Run scans until the context ends.
func (r *Runner) Run(ctx context.Context) {
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { r.bulks(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			r.round(ctx)
			// a little jitter keeps nodes that started together from scanning together for ever
			timer.Reset(r.tick - r.tick/20 + time.Duration(rand.Int64N(int64(r.tick/10))))
		case <-r.moved:
			r.measure(ctx)
			r.round(ctx)
		case <-r.alarm.ring: // an earlier alarm: compute the wait anew
		case <-r.clocks.ring:
		case <-r.clocks.after(r.offset):
			for _, ns := range r.clocks.due(time.Now().Add(r.offset)) {
				r.ring(ctx, ns)
			}
		case <-r.alarm.after(r.offset):
			for _, ns := range r.alarm.due(time.Now().Add(r.offset)) {
				r.scan(ctx, ns, true)
			}
		}
	}
}

// round scans every namespace once.
func (r *Runner) round(ctx context.Context) {
	defer func() { r.ticks++ }() // the first round looks for everything, also for what is rare
	if r.ticks%5 == 0 {
		r.measure(ctx)
	}
	for after := uint64(0); ; {
		rows, err := r.q.ListNamespaces(ctx, db.ListNamespacesParams{NamespaceID: after, Limit: 1000})
		if err != nil {
			r.complain(ctx, "list namespaces", err)
			return
		}
		for _, row := range rows {
			r.scan(ctx, row.NamespaceID, false)
			after = row.NamespaceID
		}
		if len(rows) < 1000 {
			return
		}
	}
}

// measure learns how far the database's clock is from the node's.
func (r *Runner) measure(ctx context.Context) {
	now, err := tx.ServerTime(ctx, r.reader)
	if err != nil {
		r.complain(ctx, "read the database clock", err)
		return
	}
	r.offset = time.Until(now)
}

func (r *Runner) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		r.log.Warn("scan failed; it will be repeated", "what", what, "error", err)
	}
}
