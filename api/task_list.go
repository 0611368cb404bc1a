package api

import (
	"context"
	"strings"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// taskList is one list request, resolved.
type taskList struct {
	namespace, queue uint64
	state            string // empty: any
	key              []byte // nil: any
	name, value      string // of an attribute; empty: any
	from, before     time.Time
	after            moment
	limit            int32
}

// ListTasks pages the tasks of one queue by creation time. Every combination of state and business key has an index of
// its own; nothing is filtered in memory (pulse.md List).
func (s *Server) ListTasks(ctx context.Context, r httpapi.ListTasksRequestObject) (httpapi.ListTasksResponseObject, error) {
	c := auth.CallerOf(ctx)
	l, b, err := s.resolve(ctx, c, r.Params)
	if err != nil {
		return nil, err
	}
	rows, err := l.read(ctx, s.q())
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, l.limit-1)
	open, err := s.openStates(ctx, c.Namespace, rows)
	if err != nil {
		return nil, err
	}
	out := httpapi.ListTasks200JSONResponse{}
	for i := range rows {
		out.Items = append(out.Items, summary(&rows[i], open[string(rows[i].TaskID)], r.Params.Queue))
	}
	if more {
		last := rows[len(rows)-1]
		out.NextCursor = b.write(moment{last.CreatedAt, engine.ID(last.TaskID)}.bytes())
	}
	return out, nil
}

func (s *Server) resolve(ctx context.Context, c auth.Caller, p httpapi.ListTasksParams) (taskList, binding, error) {
	l := taskList{namespace: c.Namespace, limit: limitOf(p.Limit) + 1, from: time.Unix(0, 0).UTC(), before: time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)}
	if p.State != nil {
		l.state = string(*p.State)
	}
	if p.BusinessKey != nil {
		l.key = []byte(*p.BusinessKey)
	}
	if p.CreatedFrom != nil {
		l.from = p.CreatedFrom.UTC()
	}
	if p.CreatedBefore != nil {
		l.before = p.CreatedBefore.UTC()
	}
	if p.Attribute != nil {
		l.name, l.value, _ = strings.Cut(*p.Attribute, ":")
	}
	if l.name != "" && l.key != nil {
		return l, binding{}, problem.New("parameter_invalid", "attribute and business_key are not combined: no index serves both")
	}
	// The key is bound with a mark in front, so that "no key" and every key differ.
	b := bind(c, "tasks", p.Queue, l.state, string(append([]byte(mark(l.key != nil)), l.key...)), pulse.Time(l.from), pulse.Time(l.before), l.name, l.value)
	var err error
	if l.after, err = b.readMoment(p.Cursor); err != nil {
		return l, b, err
	}
	l.queue, err = s.Queues.ID(ctx, c, p.Queue)
	if err == nil && l.queue == 0 {
		err = problem.Missing("queue")
	}
	return l, b, err
}

func mark(b bool) string {
	if b {
		return "k"
	}
	return "-"
}

// stored is how a public state stands in the task row: QUEUED and RUNNING are both "open" there.
var stored = map[string]pulse.Public{
	"QUEUED": pulse.PublicQueued, "SUCCEEDED": pulse.PublicSucceeded, "FAILED": pulse.PublicFailed,
	"CANCELLED": pulse.PublicCancelled, "NEEDS_REVIEW": pulse.PublicReview,
}

func (l taskList) read(ctx context.Context, q *db.Queries) ([]db.Task, error) {
	state, waiting := uint8(stored[l.state]), int64(flag(l.state == "QUEUED"))
	switch {
	case l.name != "":
		return l.byAttribute(ctx, q)
	case l.state == "RUNNING":
		return q.ListRunningTasks(ctx, db.ListRunningTasksParams{NamespaceID: l.namespace, QueueID: l.queue, CreatedFrom: l.from, CreatedBefore: l.before,
			AfterAt: l.after.at, AfterID: l.after.id[:], AnyKey: int64(flag(l.key == nil)), BusinessKey: l.key, Limit: l.limit})
	case l.state == "" && l.key == nil:
		return q.ListTasks(ctx, db.ListTasksParams{NamespaceID: l.namespace, QueueID: l.queue, CreatedFrom: l.from, CreatedBefore: l.before,
			AfterAt: l.after.at, AfterID: l.after.id[:], Limit: l.limit})
	case l.state == "":
		return q.ListTasksByKey(ctx, db.ListTasksByKeyParams{NamespaceID: l.namespace, QueueID: l.queue, BusinessKey: l.key, CreatedFrom: l.from, CreatedBefore: l.before,
			AfterAt: l.after.at, AfterID: l.after.id[:], Limit: l.limit})
	case l.key == nil:
		return q.ListTasksByState(ctx, db.ListTasksByStateParams{NamespaceID: l.namespace, QueueID: l.queue, State: state, CreatedFrom: l.from, CreatedBefore: l.before,
			AfterAt: l.after.at, AfterID: l.after.id[:], WaitingOnly: waiting, Limit: l.limit})
	}
	return q.ListTasksByKeyAndState(ctx, db.ListTasksByKeyAndStateParams{NamespaceID: l.namespace, QueueID: l.queue, BusinessKey: l.key, State: state,
		CreatedFrom: l.from, CreatedBefore: l.before, AfterAt: l.after.at, AfterID: l.after.id[:], WaitingOnly: waiting, Limit: l.limit})
}

// byAttribute passes over tasks of another state in the database; how many there are is bounded by what carries the value.
func (l taskList) byAttribute(ctx context.Context, q *db.Queries) ([]db.Task, error) {
	open := l.state == "QUEUED" || l.state == "RUNNING"
	return q.ListTasksByAttribute(ctx, db.ListTasksByAttributeParams{
		NamespaceID: l.namespace, QueueID: l.queue, Name: []byte(l.name), Value: []byte(l.value), CreatedFrom: l.from, CreatedBefore: l.before,
		AfterAt: l.after.at, AfterID: l.after.id[:], AnyState: int64(flag(l.state == "" || open)), State: uint8(stored[l.state]),
		OpenOnly: int64(flag(open)), Running: int64(flag(l.state == "RUNNING")), Limit: l.limit,
	})
}
