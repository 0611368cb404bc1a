package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
)

func mapped[A any](rows []A, f func(*A) (subject, detail string)) []Finding {
	var out []Finding
	for i := range rows {
		subject, detail := f(&rows[i])
		out = append(out, Finding{Subject: subject, Detail: detail})
	}
	return out
}

func taskText(id []byte) string { return store.ID(id).Text("task") }

func quotaDrift(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListQuotaDrift(ctx, db.ListQuotaDriftParams{NamespaceID: ns})
	return mapped(rows, func(r *db.ListQuotaDriftRow) (string, string) {
		return fmt.Sprintf("app_%016x", r.ApplicationID), fmt.Sprintf(
			"counted open %d, running %d, bytes %d, instances %d; rows say %d, %d, %d, %d", r.OpenTasks, r.RunningAttempts, r.OpenPayloadBytes,
			r.OpenInstances, r.RowsOpenTasks, r.RowsRunningAttempts, r.RowsOpenPayloadBytes, r.RowsOpenInstances)
	}), err
}

func queueDrift(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListQueueDrift(ctx, db.ListQueueDriftParams{NamespaceID: ns})
	return mapped(rows, func(r *db.ListQueueDriftRow) (string, string) {
		return "queue " + string(r.Name), fmt.Sprintf("counted open %d, running %d; rows say %d, %d",
			r.OpenTasks, r.RunningAttempts, r.RowsOpenTasks, r.RowsRunningAttempts)
	}), err
}

func subscriptionDrift(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListSubscriptionDrift(ctx, db.ListSubscriptionDriftParams{NamespaceID: ns})
	return mapped(rows, func(r *db.ListSubscriptionDriftRow) (string, string) {
		return "subscription " + string(r.Name), fmt.Sprintf("counted pending %d, dead %d; rows say %d, %d", r.PendingCount, r.DeadCount, r.RowsPending, r.RowsDead)
	}), err
}

func orphanDeliveries(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListOrphanDeliveries(ctx, db.ListOrphanDeliveriesParams{NamespaceID: ns, Limit: listMax})
	return mapped(rows, func(r *db.ListOrphanDeliveriesRow) (string, string) {
		if r.Name == nil {
			return fmt.Sprintf("result %d", r.Seq), "is held by a subscription that is gone"
		}
		return "subscription " + string(r.Name), fmt.Sprintf("holds result %d, which is gone", r.Seq)
	}), err
}

func waiterDrift(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListWaiterDrift(ctx, db.ListWaiterDriftParams{NamespaceID: ns, Limit: listMax})
	return mapped(rows, func(r *db.ListWaiterDriftRow) (string, string) {
		return fmt.Sprintf("resource key %q", r.ResourceKey), fmt.Sprintf("%d waiters counted, %d parked", r.Waiters, r.Parked)
	}), err
}

func orphanResources(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	nobody := engine.ID{}
	rows, err := q.ListOrphanResources(ctx, db.ListOrphanResourcesParams{NamespaceID: ns, Nobody: nobody[:], Limit: listMax})
	return mapped(rows, func(r *db.ListOrphanResourcesRow) (string, string) {
		return taskText(r.TaskID), fmt.Sprintf("holds resource key %q without a permit", r.ResourceKey)
	}), err
}

func stuckTasks(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListStuckTasks(ctx, db.ListStuckTasksParams{NamespaceID: ns, Limit: listMax})
	return mapped(rows, func(r *db.ListStuckTasksRow) (string, string) {
		return taskText(r.TaskID), fmt.Sprintf("nothing will wake it (waiting state %d)", r.State)
	}), err
}

func stuckInstances(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListStuckInstances(ctx, db.ListStuckInstancesParams{NamespaceID: ns, Limit: listMax})
	return mapped(rows, func(r *db.ListStuckInstancesRow) (string, string) {
		return store.ID(r.InstanceID).Text("inst"), "no open task, no pending result, no checkpoint"
	}), err
}

func tornTasks(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListTornTasks(ctx, db.ListTornTasksParams{NamespaceID: ns, Limit: listMax})
	return mapped(rows, func(r *db.ListTornTasksRow) (string, string) {
		return taskText(r.TaskID), "is " + pulse.Public(r.State).String() + " but has no open row"
	}), err
}

func leftoverTasks(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	rows, err := q.ListLeftoverTasks(ctx, db.ListLeftoverTasksParams{NamespaceID: ns, Limit: listMax})
	return mapped(rows, func(r *db.ListLeftoverTasksRow) (string, string) {
		return taskText(r.TaskID), "has ended but still has an open row"
	}), err
}

// streamGap compares what the head says with what is there. What retention deleted is gone from the beginning.
func streamGap(ctx context.Context, q *db.Queries, ns uint64) ([]Finding, error) {
	head, err := q.GetStreamHead(ctx, ns)
	if err != nil {
		return nil, err
	}
	first := uint64(1)
	if kept, err := q.GetRetention(ctx, ns); err == nil {
		first = kept.FirstSeq
	} else if !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	count, err := q.CountStream(ctx, ns)
	want := head.NextSeq - first
	if err != nil || uint64(count.Entries) == want && (want == 0 || uint64(count.LastSeq) == head.NextSeq-1) {
		return nil, err
	}
	return []Finding{{Subject: "stream", Detail: fmt.Sprintf("by its head the stream holds %d entries from %d on; there are %d, the last is %d", want, first, count.Entries, count.LastSeq)}}, nil
}
