package auth

import (
	"context"
	"database/sql"
	"time"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/gen/db"
)

// CreateCredential issues a key for an application of the caller's namespace; zero life means that it does not end by
// itself. Errors: application_not_found, scope_unknown.
func (s *Service) CreateCredential(ctx context.Context, c Caller, application uint64, name string, scopes []string, life time.Duration) (Issued, error) {
	if bad := unknownScope(scopes); bad != "" {
		return Issued{}, problem.New("scope_unknown", "there is no scope "+bad)
	}
	key := Mint(c.Namespace, NewID())
	out := Credential{ID: key.Credential, Application: application, Name: name, Scopes: joinScopes(scopes)}
	err := s.writer.Run(ctx, c.Namespace, "create_credential", func(ctx context.Context, b tx.Begun) error {
		apps, _, err := admit(ctx, b, c, application)
		if err != nil {
			return err
		}
		if len(apps) != 1 {
			return problem.Missing("application")
		}
		out.CreatedAt = b.Now()
		out.ExpiresAt = nil
		if life > 0 {
			end := b.Now().Add(life)
			out.ExpiresAt = &end
		}
		return insertCredential(ctx, b.Tx, key, out, c.Actor(), "credential.created")
	})
	return Issued{out, key}, err
}

func insertCredential(ctx context.Context, t *tx.Tx, key Key, c Credential, actor, action string) error {
	hash := key.Hash()
	err := one(t.Queries().InsertCredential(ctx, db.InsertCredentialParams{
		NamespaceID: t.Namespace(), CredentialID: c.ID, ApplicationID: c.Application, Name: []byte(c.Name),
		SecretHash: hash[:], Scopes: c.Scopes, ExpiresAt: c.ExpiresAt,
	}))
	if err != nil {
		return err
	}
	return record(ctx, t, c.Application, actor, action, CredentialText(c.ID), "",
		exact.Field("name", exact.String(c.Name)), exact.Field("scopes", exact.String(c.Scopes)))
}

// RotateCredential issues a successor with the same name and scopes. The old key ends after the overlap, or earlier if
// it would have. Without a life of its own the successor ends when the old key would have. Errors:
// credential_not_found, rotation_conflict.
func (s *Service) RotateCredential(ctx context.Context, c Caller, id uint64, overlap, life time.Duration) (Issued, error) {
	key := Mint(c.Namespace, NewID())
	var out Credential
	err := s.writer.Run(ctx, c.Namespace, "rotate_credential", func(ctx context.Context, b tx.Begun) error {
		old, err := s.lockTarget(ctx, b, c, id)
		if err != nil {
			return err
		}
		now := b.Now()
		if old.RotatedTo.Valid || old.RevokedAt != nil || old.ExpiresAt != nil && !now.Before(*old.ExpiresAt) {
			return problem.New("rotation_conflict", "only a key that is valid and has no successor can be rotated")
		}
		out = Credential{ID: key.Credential, Application: old.ApplicationID, Name: string(old.Name), Scopes: old.Scopes, CreatedAt: now, ExpiresAt: old.ExpiresAt}
		if life > 0 {
			end := now.Add(life)
			out.ExpiresAt = &end
		}
		if err := insertCredential(ctx, b.Tx, key, out, c.Actor(), "credential.created"); err != nil {
			return err
		}
		return retire(ctx, b.Tx, c, old, key.Credential, now.Add(overlap))
	})
	s.verifier.Forget(c.Namespace, id)
	return Issued{out, key}, err
}

// retire ends the old key of a rotation, never later than it would have ended.
func retire(ctx context.Context, t *tx.Tx, c Caller, old db.LockCredentialForUpdateRow, successor uint64, end time.Time) error {
	if old.ExpiresAt != nil && old.ExpiresAt.Before(end) {
		end = *old.ExpiresAt
	}
	err := one(t.Queries().UpdateCredentialRotated(ctx, db.UpdateCredentialRotatedParams{
		RotatedTo: sql.NullInt64{Int64: int64(successor), Valid: true}, ExpiresAt: &end,
		NamespaceID: t.Namespace(), CredentialID: old.CredentialID,
	}))
	if err != nil {
		return err
	}
	return record(ctx, t, old.ApplicationID, c.Actor(), "credential.rotated", CredentialText(old.CredentialID), "",
		exact.Field("successor", exact.String(CredentialText(successor))))
}

// lockTarget locks the key an administrator acts on, alone: a shared lock on the caller's own key beside it could be
// the same row, and a shared lock is never upgraded. The caller is judged by a plain read of the same transaction.
func (s *Service) lockTarget(ctx context.Context, b tx.Begun, c Caller, id uint64) (db.LockCredentialForUpdateRow, error) {
	row, err := b.LockCredentialForUpdate(ctx, id)
	if err != nil {
		return row, missing(err, "credential")
	}
	now, err := b.Clock(ctx)
	if err != nil {
		return row, err
	}
	own, err := b.Queries().GetCredential(ctx, db.GetCredentialParams{NamespaceID: c.Namespace, CredentialID: c.Credential})
	if err != nil {
		return row, err
	}
	if refusal := callerOfRow(c.Namespace, own).Judge(ScopePlatformAdmin, now); refusal != nil {
		return row, refusal
	}
	return row, nil
}

// RevokeCredential ends a key now. Revoking again changes nothing. Errors: credential_not_found.
func (s *Service) RevokeCredential(ctx context.Context, c Caller, id uint64, reason string) (Credential, error) {
	err := s.writer.Run(ctx, c.Namespace, "revoke_credential", func(ctx context.Context, b tx.Begun) error {
		row, err := s.lockTarget(ctx, b, c, id)
		if err != nil || row.RevokedAt != nil {
			return err
		}
		err = one(b.Queries().UpdateCredentialRevoked(ctx, db.UpdateCredentialRevokedParams{NamespaceID: c.Namespace, CredentialID: id}))
		if err != nil {
			return err
		}
		return record(ctx, b.Tx, row.ApplicationID, c.Actor(), "credential.revoked", CredentialText(id), reason)
	})
	s.verifier.Forget(c.Namespace, id)
	if err != nil {
		return Credential{}, err
	}
	return s.credential(ctx, c.Namespace, id)
}

func (s *Service) credential(ctx context.Context, ns, id uint64) (Credential, error) {
	r, err := db.New(s.reader).GetCredential(ctx, db.GetCredentialParams{NamespaceID: ns, CredentialID: id})
	if err != nil {
		return Credential{}, missing(err, "credential")
	}
	return Credential{
		ID: r.CredentialID, Application: r.ApplicationID, Name: string(r.Name), Scopes: r.Scopes, CreatedAt: r.CreatedAt,
		ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt, LastUsedAt: r.LastUsedAt, RotatedTo: uint64(r.RotatedTo.Int64),
	}, nil
}
