package api

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// Queues finds queues by name. A name never changes its queue and queues are never deleted, so what was found once is
// remembered for ever; what was not found is asked again.
type Queues struct {
	reader *sql.DB
	mu     sync.RWMutex
	known  map[queueName]uint64
}

type queueName struct {
	namespace, application uint64
	name                   string
}

// NewQueues reads through a pool of plain reads.
func NewQueues(reader *sql.DB) *Queues {
	return &Queues{reader: reader, known: map[queueName]uint64{}}
}

// ID is the id of a queue of the caller's application; zero when there is none of that name.
func (d *Queues) ID(ctx context.Context, c auth.Caller, name string) (uint64, error) {
	key := queueName{c.Namespace, c.Application, name}
	d.mu.RLock()
	id := d.known[key]
	d.mu.RUnlock()
	if id != 0 {
		return id, nil
	}
	row, err := db.New(d.reader).GetQueueByName(ctx, db.GetQueueByNameParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: []byte(name)})
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	d.known[key] = row.QueueID
	d.mu.Unlock()
	return row.QueueID, nil
}

// queueModel is a queue as callers see it; its depth is counted from the rows.
func (s *Server) queueModel(ctx context.Context, c auth.Caller, row db.GetQueueByNameRow) (httpapi.Queue, error) {
	out := httpapi.Queue{
		QueueId: auth.QueueText(row.QueueID), Name: string(row.Name), OpenTasksMax: row.OpenTasksMax, RunningAttemptsMax: row.RunningAttemptsMax,
		Paused: row.Paused == 1, Draining: row.Draining == 1, OpenTasks: row.OpenTasks, RunningAttempts: row.RunningAttempts,
		Version: int64(row.Version), CreatedAt: row.CreatedAt,
	}
	if err := s.queueExtras(ctx, c, row, &out); err != nil {
		return out, err
	}
	states, err := s.q().CountQueueStates(ctx, db.CountQueueStatesParams{NamespaceID: c.Namespace, QueueID: row.QueueID})
	for _, st := range states {
		switch pulse.State(st.State) {
		case pulse.Queued:
			out.Depth.Ready = st.Tasks
			out.OldestAgeMs = pointer(max(st.NowAt.Sub(st.OldestAvailableAt).Milliseconds(), 0))
		case pulse.Running:
			out.Depth.Running = st.Tasks
		case pulse.Delayed:
			out.Depth.Delayed = st.Tasks
		case pulse.Blocked:
			out.Depth.WaitingKey = st.Tasks
		case pulse.Gated:
			out.Depth.WaitingGate = st.Tasks
		case pulse.Review:
			out.Depth.NeedsReview = st.Tasks
		}
	}
	return out, err
}
