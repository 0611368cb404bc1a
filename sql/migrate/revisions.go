package migrate

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	atlas "ariga.io/atlas/sql/migrate"
	"github.com/go-sql-driver/mysql"
)

// RevisionTable is the stock atlas CLI's table name. It is the one table of the
// database that Orbit's own rules (namespace, Chinese COMMENT, no JSON type) do
// not reach, because its shape belongs to that tool.
const RevisionTable = "atlas_schema_revisions"

const createRevisions = "CREATE TABLE IF NOT EXISTS `" + RevisionTable + "` (" +
	"`version` varchar(255) NOT NULL, `description` varchar(255) NOT NULL, " +
	"`type` bigint unsigned NOT NULL DEFAULT 2, `applied` bigint NOT NULL DEFAULT 0, `total` bigint NOT NULL DEFAULT 0, " +
	"`executed_at` timestamp NOT NULL, `execution_time` bigint NOT NULL, `error` longtext NULL, `error_stmt` longtext NULL, " +
	"`hash` varchar(255) NOT NULL, `partial_hashes` json NULL, `operator_version` varchar(255) NOT NULL, " +
	"PRIMARY KEY (`version`)) CHARSET utf8mb4 COLLATE utf8mb4_bin"

// Versions that start with a dot are the stock CLI's own notes, not migrations.
const selectRevisions = "SELECT version, description, type, applied, total, executed_at, execution_time, " +
	"COALESCE(error, ''), COALESCE(error_stmt, ''), hash, COALESCE(partial_hashes, 'null'), operator_version " +
	"FROM " + RevisionTable + " WHERE version NOT LIKE '.%'"

const upsertRevision = "INSERT INTO " + RevisionTable +
	" (version, description, type, applied, total, executed_at, execution_time, error, error_stmt, hash, partial_hashes, operator_version)" +
	" VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON DUPLICATE KEY UPDATE description = VALUES(description), type = VALUES(type)," +
	" applied = VALUES(applied), total = VALUES(total), executed_at = VALUES(executed_at), execution_time = VALUES(execution_time)," +
	" error = VALUES(error), error_stmt = VALUES(error_stmt), hash = VALUES(hash), partial_hashes = VALUES(partial_hashes)," +
	" operator_version = VALUES(operator_version)"

// mysqlNoSuchTable is the server's error number for a table that does not exist.
const mysqlNoSuchTable = 1146

// revisions reads and writes the revision table; it is the storage the Atlas
// executor is given.
type revisions struct{ db *sql.DB }

var _ atlas.RevisionReadWriter = revisions{}

func (r revisions) Ident() *atlas.TableIdent { return &atlas.TableIdent{Name: RevisionTable} }

func (r revisions) create(ctx context.Context) error {
	if _, err := r.db.ExecContext(ctx, createRevisions); err != nil {
		return fmt.Errorf("create %s: %w", RevisionTable, err)
	}
	return nil
}

// ReadRevisions returns the revisions in version order; none when the table does not exist.
func (r revisions) ReadRevisions(ctx context.Context) ([]*atlas.Revision, error) {
	rows, err := r.db.QueryContext(ctx, selectRevisions+" ORDER BY version")
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && answer.Number == mysqlNoSuchTable {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []*atlas.Revision
	for rows.Next() {
		rev, err := scanRevision(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, rev)
	}
	return out, rows.Err()
}

func (r revisions) ReadRevision(ctx context.Context, version string) (*atlas.Revision, error) {
	rev, err := scanRevision(r.db.QueryRowContext(ctx, selectRevisions+" AND version = ?", version))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, atlas.ErrRevisionNotExist
	}
	return rev, err
}

func scanRevision(row interface{ Scan(...any) error }) (*atlas.Revision, error) {
	var rev atlas.Revision
	var partial []byte
	err := row.Scan(&rev.Version, &rev.Description, &rev.Type, &rev.Applied, &rev.Total, &rev.ExecutedAt,
		&rev.ExecutionTime, &rev.Error, &rev.ErrorStmt, &rev.Hash, &partial, &rev.OperatorVersion)
	if err != nil {
		return nil, err
	}
	return &rev, json.Unmarshal(partial, &rev.PartialHashes)
}

func (r revisions) WriteRevision(ctx context.Context, rev *atlas.Revision) error {
	partial, err := json.Marshal(rev.PartialHashes)
	if err != nil {
		return err
	}
	_, err = r.db.ExecContext(ctx, upsertRevision, rev.Version, rev.Description, rev.Type, rev.Applied, rev.Total,
		rev.ExecutedAt.UTC().Truncate(time.Second), int64(rev.ExecutionTime), rev.Error, rev.ErrorStmt, rev.Hash,
		string(partial), rev.OperatorVersion)
	return err
}

func (r revisions) DeleteRevision(ctx context.Context, version string) error {
	_, err := r.db.ExecContext(ctx, "DELETE FROM "+RevisionTable+" WHERE version = ?", version)
	return err
}
