package api

import (
	"context"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// CreateCredential issues a key; its text is shown this once.
func (s *Server) CreateCredential(ctx context.Context, r httpapi.CreateCredentialRequestObject) (httpapi.CreateCredentialResponseObject, error) {
	names := make([]string, len(r.Body.Scopes))
	for i, scope := range r.Body.Scopes {
		names[i] = string(scope)
	}
	issued, err := s.Service.CreateCredential(ctx, auth.CallerOf(ctx), number("app", r.ApplicationId), r.Body.Name, names, life(r.Body.ExpiresInMs))
	if err != nil {
		return nil, err
	}
	return httpapi.CreateCredential201JSONResponse(issuedModel(issued)), nil
}

// RotateCredential issues a successor; both keys work during the overlap.
func (s *Server) RotateCredential(ctx context.Context, r httpapi.RotateCredentialRequestObject) (httpapi.RotateCredentialResponseObject, error) {
	overlap := time.Duration(r.Body.OverlapMs) * time.Millisecond
	issued, err := s.Service.RotateCredential(ctx, auth.CallerOf(ctx), number("cred", r.CredentialId), overlap, life(r.Body.ExpiresInMs))
	if err != nil {
		return nil, err
	}
	return httpapi.RotateCredential201JSONResponse(issuedModel(issued)), nil
}

// RevokeCredential ends a key now; again changes nothing.
func (s *Server) RevokeCredential(ctx context.Context, r httpapi.RevokeCredentialRequestObject) (httpapi.RevokeCredentialResponseObject, error) {
	c, err := s.Service.RevokeCredential(ctx, auth.CallerOf(ctx), number("cred", r.CredentialId), r.Body.Reason)
	if err != nil {
		return nil, err
	}
	return httpapi.RevokeCredential200JSONResponse(credentialModel(c)), nil
}

// ListCredentials pages the keys of an application by id, without secrets.
func (s *Server) ListCredentials(ctx context.Context, r httpapi.ListCredentialsRequestObject) (httpapi.ListCredentialsResponseObject, error) {
	c, application := auth.CallerOf(ctx), number("app", r.ApplicationId)
	b := bind(c, "credentials", r.ApplicationId)
	after, err := b.readNumber(r.Params.Cursor, 0)
	if err != nil {
		return nil, err
	}
	if _, err := s.q().GetApplication(ctx, db.GetApplicationParams{NamespaceID: c.Namespace, ApplicationID: application}); err != nil {
		return nil, found(err, "application")
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListCredentials(ctx, db.ListCredentialsParams{NamespaceID: c.Namespace, ApplicationID: application, CredentialID: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListCredentials200JSONResponse{}
	for _, row := range rows {
		out.Items = append(out.Items, credentialModel(auth.Credential{
			ID: row.CredentialID, Application: row.ApplicationID, Name: string(row.Name), Scopes: row.Scopes, CreatedAt: row.CreatedAt,
			ExpiresAt: row.ExpiresAt, RevokedAt: row.RevokedAt, LastUsedAt: row.LastUsedAt, RotatedTo: uint64(row.RotatedTo.Int64),
		}))
	}
	if more {
		out.NextCursor = b.writeNumber(rows[len(rows)-1].CredentialID)
	}
	return out, nil
}

func life(ms *int64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(*ms) * time.Millisecond
}

func credentialModel(c auth.Credential) httpapi.Credential {
	out := httpapi.Credential{
		CredentialId: auth.CredentialText(c.ID), ApplicationId: auth.ApplicationText(c.Application), Name: c.Name, Scopes: scopes(c.Scopes),
		CreatedAt: c.CreatedAt, ExpiresAt: c.ExpiresAt, RevokedAt: c.RevokedAt, LastUsedAt: c.LastUsedAt,
	}
	if c.RotatedTo != 0 {
		out.RotatedTo = pointer(auth.CredentialText(c.RotatedTo))
	}
	return out
}

func issuedModel(i auth.Issued) httpapi.IssuedCredential {
	m := credentialModel(i.Credential)
	return httpapi.IssuedCredential{
		CredentialId: m.CredentialId, ApplicationId: m.ApplicationId, Name: m.Name, Scopes: m.Scopes, CreatedAt: m.CreatedAt,
		ExpiresAt: m.ExpiresAt, Key: i.Key.Text(),
	}
}
