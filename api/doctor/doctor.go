// Package doctor asks a database what must never be true of a quiet system: counters that differ from the rows they
// count, keys held by nobody, work that nothing will wake, a stream with a gap. It locks nothing and changes nothing;
// `orbit doctor` runs it on a live system and every chaos run ends with it (T6, T8).
package doctor

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/orbitrun/orbit/gen/db"
)

// Finding is one breach.
type Finding struct {
	Namespace uint64 `json:"namespace_id"`
	Check     string `json:"check"`
	Subject   string `json:"subject"`
	Detail    string `json:"detail"`
}

// listMax bounds what one check lists of one namespace.
const listMax = 100

// check is one question to one namespace.
type check struct {
	name string
	run  func(context.Context, *db.Queries, uint64) ([]Finding, error)
}

var checks = []check{
	{"quota_drift", quotaDrift}, {"queue_drift", queueDrift}, {"queue_misfit", queueMisfits}, {"bulk_drift", bulkDrift}, {"subscription_drift", subscriptionDrift}, {"orphan_delivery", orphanDeliveries}, {"waiter_drift", waiterDrift}, {"orphan_resource", orphanResources},
	{"stuck_task", stuckTasks}, {"stuck_instance", stuckInstances}, {"torn_task", tornTasks}, {"leftover_task", leftoverTasks},
	{"stream_gap", streamGap}, {"deaf_wait", deafWaits}, {"poll_drift", pollDrift}, {"forgotten_signal", forgottenSignals},
}

// Names lists the checks of Check.
func Names() []string { return namesOf(checks) }

func namesOf(checks []check) (names []string) {
	for _, c := range checks {
		names = append(names, c.name)
	}
	return names
}

// Check runs every check on every namespace. On a busy system a row may move between two reads: a finding that is
// gone when asked again was no breach.
func Check(ctx context.Context, reader *sql.DB) ([]Finding, error) { return run(ctx, reader, checks) }

func run(ctx context.Context, reader *sql.DB, checks []check) ([]Finding, error) {
	q := db.New(reader)
	var found []Finding
	for after := uint64(0); ; {
		rows, err := q.ListNamespaces(ctx, db.ListNamespacesParams{NamespaceID: after, Limit: 1000})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			after = row.NamespaceID
			some, err := examine(ctx, q, row.NamespaceID, checks)
			if err != nil {
				return nil, err
			}
			found = append(found, some...)
		}
		if len(rows) < 1000 {
			return found, nil
		}
	}
}

func examine(ctx context.Context, q *db.Queries, ns uint64, checks []check) ([]Finding, error) {
	var found []Finding
	for _, c := range checks {
		some, err := c.run(ctx, q, ns)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		for i := range some {
			some[i].Namespace, some[i].Check = ns, c.name
		}
		found = append(found, some...)
	}
	return found, nil
}
