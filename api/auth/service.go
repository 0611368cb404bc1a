package auth

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
)

// Service creates and ends what callers are made of: namespaces, applications with their quota, and keys. Every change
// is one transaction with its audit record.
type Service struct {
	writer   *tx.DB
	reader   *sql.DB
	verifier *Verifier
}

// NewService builds the service. The verifier of the node forgets keys that are revoked through it.
func NewService(writer *tx.DB, reader *sql.DB, verifier *Verifier) *Service {
	return &Service{writer, reader, verifier}
}

// Credential is a key without its secret.
type Credential struct {
	ID, Application uint64
	Name            string
	Scopes          string // sorted, separated by blanks
	CreatedAt       time.Time
	ExpiresAt       *time.Time // nil: does not end by itself
	RevokedAt       *time.Time
	LastUsedAt      *time.Time // coarse
	RotatedTo       uint64     // zero: no successor
}

// Issued is a new key with its text, which nobody can read again.
type Issued struct {
	Credential
	Key Key
}

// Limits are those of an application's quota.
type Limits struct{ OpenTasksMax, RunningAttemptsMax, OpenInstancesMax, OpenPayloadBytesMax int64 }

// DefaultLimits serve a new application that was given none.
var DefaultLimits = Limits{1_000_000, 10_000, 100_000, 1 << 40}

// admit locks the caller shared, with the applications of the request, and judges it by the database's clock.
func admit(ctx context.Context, b tx.Begun, c Caller, applications ...uint64) ([]db.LockApplicationsRow, tx.Identified, error) {
	callers, apps, held, err := b.LockIdentity(ctx, []uint64{c.Credential}, applications)
	if err != nil {
		return nil, held, err
	}
	now, err := b.Clock(ctx)
	if err != nil {
		return nil, held, err
	}
	if len(callers) != 1 {
		return nil, held, problem.New("credential_invalid", "the key is gone")
	}
	locked := store.Caller(&callers[0])
	if refusal := locked.Judge(ScopePlatformAdmin, now); refusal != nil {
		return nil, held, refusal
	}
	return apps, held, nil
}

// record writes the audit of one administrative act.
func record(ctx context.Context, t *tx.Tx, application uint64, actor, action, subject, reason string, detail ...exact.Member) error {
	return store.InsertAudits(ctx, t, t.Now(), []pulse.AuditWrite{{
		Application: application, Actor: actor, Action: action, Subject: subject, Reason: reason,
		Detail: exact.Object(detail...).String(),
	}})
}

// taken turns a duplicate key into the refusal it means here.
func taken(err error, detail string) error {
	if tx.ClassOf(err) == tx.Duplicate {
		return problem.New("name_conflict", detail).WithCause(err)
	}
	return err
}

// one checks that exactly one row was written.
func one(rows int64, err error) error { return tx.Affected(rows, err)(1) }

// missing turns "no rows" into the named refusal.
func missing(err error, kind string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return problem.Missing(kind)
	}
	return err
}
