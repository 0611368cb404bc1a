package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
)

// The numbers of the tables, written down here from their comments and not imported: that is the point.
const (
	stateOpen, stateSucceeded, stateFailed, stateCancelled, stateReview = 1, 2, 3, 4, 5
	outcomeRetryable, outcomeUnknown                                    = 2, 4
	lostReview                                                          = 1
)

// task is what the auditor needs of a task's rows.
type task struct {
	state, lost int
	open        bool
	attempts    map[int]int // number → outcome
}

type rows struct {
	tasks map[string]*task // by public id
}

func publicID(raw []byte) string { return "task_" + hex.EncodeToString(raw) }

func readRows(ctx context.Context, db *sql.DB) (*rows, error) {
	r := &rows{tasks: map[string]*task{}}
	err := each(ctx, db, "SELECT task_id, state, lost_policy FROM task", func(scan func(...any) error) error {
		var id []byte
		t := &task{attempts: map[int]int{}}
		if err := scan(&id, &t.state, &t.lost); err != nil {
			return err
		}
		r.tasks[publicID(id)] = t
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = each(ctx, db, "SELECT task_id, attempt_no, outcome FROM attempt", func(scan func(...any) error) error {
		var id []byte
		var number, outcome int
		if err := scan(&id, &number, &outcome); err != nil {
			return err
		}
		if t := r.tasks[publicID(id)]; t != nil {
			t.attempts[number] = outcome
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, each(ctx, db, "SELECT task_id FROM open_task", func(scan func(...any) error) error {
		var id []byte
		if err := scan(&id); err != nil {
			return err
		}
		if t := r.tasks[publicID(id)]; t != nil {
			t.open = true
		}
		return nil
	})
}

func each(ctx context.Context, db *sql.DB, query string, take func(scan func(...any) error) error) error {
	found, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		if err := take(found.Scan); err != nil {
			return err
		}
	}
	return found.Err()
}
