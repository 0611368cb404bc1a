package migrate

import (
	"context"
	"time"

	atlas "ariga.io/atlas/sql/migrate"
	"github.com/go-sql-driver/mysql"
)

// State of one migration in one database.
type State string

// The states a migration can be in.
const (
	StateApplied State = "applied"
	StatePartial State = "partial"
	StatePending State = "pending"
	StateEdited  State = "edited"  // applied from other bytes than the file holds now
	StateUnknown State = "unknown" // applied, but no such file here
)

// FileStatus is one line of `orbit migrate status`.
type FileStatus struct {
	Version     string     `json:"version"`
	Description string     `json:"description"`
	State       State      `json:"state"`
	Applied     int        `json:"applied_statements"`
	Total       int        `json:"total_statements"`
	ExecutedAt  *time.Time `json:"executed_at,omitempty"` // null while pending
	Error       string     `json:"error,omitempty"`       // of the statement that failed last
}

// Status returns every migration known to the files or to the database, in version order.
func (s *Source) Status(ctx context.Context, cfg *mysql.Config) ([]FileStatus, error) {
	if cfg.DBName == "" {
		return nil, ErrNoDatabase
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(cfg, cfg.DBName)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	revs, err := revisions{db}.ReadRevisions(ctx)
	if err != nil {
		return nil, err
	}
	return s.merge(files, revs)
}

// merge joins files and revisions by version; both come sorted.
func (s *Source) merge(files []atlas.File, revs []*atlas.Revision) ([]FileStatus, error) {
	sum, err := s.migrations.Checksum()
	if err != nil {
		return nil, err
	}
	out := []FileStatus{}
	for len(files) > 0 || len(revs) > 0 {
		switch {
		case len(revs) == 0 || len(files) > 0 && files[0].Version() < revs[0].Version:
			stmts, err := files[0].StmtDecls()
			if err != nil {
				return nil, err
			}
			out = append(out, FileStatus{Version: files[0].Version(), Description: files[0].Desc(), State: StatePending, Total: len(stmts)})
			files = files[1:]
		case len(files) == 0 || revs[0].Version < files[0].Version():
			out = append(out, fromRevision(revs[0], StateUnknown))
			revs = revs[1:]
		default:
			hash, err := sum.SumByName(files[0].Name())
			if err != nil {
				return nil, err
			}
			out = append(out, fromRevision(revs[0], revisionState(revs[0], hash)))
			files, revs = files[1:], revs[1:]
		}
	}
	return out, nil
}

func revisionState(rev *atlas.Revision, hash string) State {
	switch {
	case rev.Hash != hash:
		return StateEdited
	case rev.Applied != rev.Total:
		return StatePartial
	}
	return StateApplied
}

func fromRevision(rev *atlas.Revision, state State) FileStatus {
	at := rev.ExecutedAt
	return FileStatus{Version: rev.Version, Description: rev.Description, State: state,
		Applied: rev.Applied, Total: rev.Total, ExecutedAt: &at, Error: rev.Error}
}
