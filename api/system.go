package api

import (
	"context"
	"strings"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// q are the named reads on the pool that locks nothing.
func (s *Server) q() *db.Queries { return db.New(s.Reader) }

// Livez says that the process lives; it never touches the database.
func (s *Server) Livez(context.Context, httpapi.LivezRequestObject) (httpapi.LivezResponseObject, error) {
	return httpapi.Livez200JSONResponse{Status: "ok"}, nil
}

// Readyz asks the database, and refuses while the node drains.
func (s *Server) Readyz(ctx context.Context, _ httpapi.ReadyzRequestObject) (httpapi.ReadyzResponseObject, error) {
	if s.draining.Load() {
		return nil, problem.New("node_draining", "the node is shutting down")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		return nil, problem.New("database_unavailable", "the database does not answer").WithCause(err)
	}
	return httpapi.Readyz200JSONResponse{Status: "ok"}, nil
}

// GetVersion says what runs.
func (s *Server) GetVersion(context.Context, httpapi.GetVersionRequestObject) (httpapi.GetVersionResponseObject, error) {
	return httpapi.GetVersion200JSONResponse(s.Build), nil
}

// GetOpenapi gives the description the node was built from.
func (s *Server) GetOpenapi(context.Context, httpapi.GetOpenapiRequestObject) (httpapi.GetOpenapiResponseObject, error) {
	return text{"application/yaml", Description}, nil
}

// Whoami tells the caller who it is.
func (s *Server) Whoami(ctx context.Context, _ httpapi.WhoamiRequestObject) (httpapi.WhoamiResponseObject, error) {
	c := auth.CallerOf(ctx)
	ns, err := s.q().GetNamespace(ctx, c.Namespace)
	if err != nil {
		return nil, err
	}
	out := httpapi.Whoami200JSONResponse{
		NamespaceId: auth.NamespaceText(c.Namespace), Namespace: string(ns.Name),
		ApplicationId: auth.ApplicationText(c.Application), Application: c.ApplicationName,
		CredentialId: auth.CredentialText(c.Credential), Credential: c.CredentialName, Scopes: scopes(c.Scopes),
	}
	if !c.ExpiresAt.IsZero() {
		out.ExpiresAt = &c.ExpiresAt
	}
	return out, nil
}

func scopes(text string) []httpapi.Scope {
	out := []httpapi.Scope{}
	for _, s := range strings.Fields(text) {
		out = append(out, httpapi.Scope(s))
	}
	return out
}
