package tx

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/orbitrun/orbit/gen/db"
)

// manyMax is how many tuples one statement carries; 64 and more measured alike.
const manyMax = 256

// Many runs a single-row INSERT of sql/queries for all items in as few statements as possible. The generated method
// runs against a recorder, so the text and the order of its parameters come from sqlc alone; only the VALUES tuple is
// repeated. Every plain INSERT must affect exactly its rows.
func Many[P any](ctx context.Context, t *Tx, insert func(*db.Queries, context.Context, P) error, items []P) error {
	for len(items) > 0 {
		chunk := items[:min(len(items), manyMax)]
		items = items[len(chunk):]
		if err := manyOnce(ctx, t, insert, chunk); err != nil {
			return err
		}
	}
	return nil
}

// Rows adapts an :execrows method to Many.
func Rows[P any](insert func(*db.Queries, context.Context, P) (int64, error)) func(*db.Queries, context.Context, P) error {
	return func(q *db.Queries, ctx context.Context, p P) error {
		_, err := insert(q, ctx, p)
		return err
	}
}

func manyOnce[P any](ctx context.Context, t *Tx, insert func(*db.Queries, context.Context, P) error, items []P) error {
	rec := &recorder{}
	for _, item := range items {
		if err := insert(db.New(rec), ctx, item); err != nil {
			return err
		}
	}
	statement, exact, err := repeatTuple(rec.statement, len(items))
	if err != nil {
		return err
	}
	result, err := guard{t}.ExecContext(ctx, statement, rec.args...)
	if err != nil || !exact {
		return err
	}
	return Affected(result.RowsAffected())(len(items))
}

// Affected checks the rows of a fenced write. Too few means that a row is not what the plan saw: the plan is wrong or
// a lock was not held, so the transaction must not commit.
func Affected(rows int64, err error) func(want int) error {
	return func(want int) error {
		if err == nil && rows != int64(want) {
			return fmt.Errorf("tx: a write changed %d rows instead of %d", rows, want)
		}
		return err
	}
}

// repeatTuple finds "VALUES (…)" and writes the tuple n times. A statement with a tail (ON DUPLICATE KEY UPDATE)
// counts affected rows in its own way, so only plain inserts are exact.
func repeatTuple(statement string, n int) (text string, exact bool, err error) {
	at := strings.Index(statement, "VALUES (")
	if at < 0 {
		return "", false, errors.New("tx: Many needs an INSERT with one VALUES tuple")
	}
	open := at + len("VALUES ")
	end := open + strings.IndexByte(statement[open:], ')') + 1
	tuple, tail := statement[open:end], statement[end:]
	if strings.Contains(tuple[1:], "(") { // the first closing bracket was not the tuple's
		return "", false, errors.New("tx: Many cannot repeat a tuple with a call in it: " + tuple)
	}
	return statement[:end] + strings.Repeat(","+tuple, n-1) + tail, strings.TrimSpace(tail) == "", nil
}

// recorder is a DBTX that writes down what a generated method would send.
type recorder struct {
	statement string
	args      []any
}

type oneRow struct{}

func (oneRow) LastInsertId() (int64, error) { return 0, nil }
func (oneRow) RowsAffected() (int64, error) { return 1, nil }

func (r *recorder) ExecContext(_ context.Context, statement string, args ...any) (sql.Result, error) {
	r.statement = statement
	r.args = append(r.args, args...)
	return oneRow{}, nil
}

func (r *recorder) PrepareContext(context.Context, string) (*sql.Stmt, error) {
	return nil, errNotRecorded
}
func (r *recorder) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	return nil, errNotRecorded
}
func (r *recorder) QueryRowContext(context.Context, string, ...any) *sql.Row { return nil }

var errNotRecorded = errors.New("tx: only INSERT statements are repeated")
