package api

import (
	"context"
	"encoding/hex"
	"errors"
	"math"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ListWorkflows pages the application's definitions by name.
func (s *Server) ListWorkflows(ctx context.Context, r httpapi.ListWorkflowsRequestObject) (httpapi.ListWorkflowsResponseObject, error) {
	c := auth.CallerOf(ctx)
	b := bind(c, "workflows")
	after, err := b.readName(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListDefinitions(ctx, db.ListDefinitionsParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: after, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListWorkflows200JSONResponse{}
	for _, row := range rows {
		out.Items = append(out.Items, workflowModel(db.GetDefinitionRow(row)))
	}
	if more {
		out.NextCursor = b.write(rows[len(rows)-1].Name)
	}
	return out, nil
}

func workflowModel(row db.GetDefinitionRow) httpapi.Workflow {
	return httpapi.Workflow{Name: string(row.Name), LatestVersion: int32(row.LatestVersion), Revision: int64(row.Revision), CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}
}

// GetWorkflow reads a definition's head.
func (s *Server) GetWorkflow(ctx context.Context, r httpapi.GetWorkflowRequestObject) (httpapi.GetWorkflowResponseObject, error) {
	row, err := s.head(ctx, r.Name)
	return httpapi.GetWorkflow200JSONResponse(workflowModel(row)), err
}

// head reads a definition's head. One without an accepted version does not exist for callers.
func (s *Server) head(ctx context.Context, name string) (db.GetDefinitionRow, error) {
	c := auth.CallerOf(ctx)
	row, err := s.q().GetDefinition(ctx, db.GetDefinitionParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: []byte(name)})
	if err == nil && row.LatestVersion == 0 {
		return row, problem.Missing("workflow")
	}
	return row, found(err, "workflow")
}

// ListWorkflowVersions pages the versions of a definition, newest first.
func (s *Server) ListWorkflowVersions(ctx context.Context, r httpapi.ListWorkflowVersionsRequestObject) (httpapi.ListWorkflowVersionsResponseObject, error) {
	c := auth.CallerOf(ctx)
	b := bind(c, "versions", r.Name)
	before, err := b.readNumber(r.Params.Cursor, math.MaxUint32)
	if err != nil {
		return nil, err
	}
	if _, err := s.head(ctx, r.Name); err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListVersions(ctx, db.ListVersionsParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: []byte(r.Name), Version: uint32(before), Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListWorkflowVersions200JSONResponse{}
	for _, row := range rows {
		out.Items = append(out.Items, httpapi.WorkflowVersionSummary{
			Name: string(row.Name), Version: int32(row.Version), Digest: hex.EncodeToString(row.Digest),
			PublishedBy: auth.CredentialText(row.PublishedBy), CreatedAt: row.CreatedAt,
		})
	}
	if more {
		out.NextCursor = b.writeNumber(uint64(rows[len(rows)-1].Version))
	}
	return out, nil
}

// GetWorkflowVersion reads a version with its document, byte for byte, after checking it against its digest (O13).
func (s *Server) GetWorkflowVersion(ctx context.Context, r httpapi.GetWorkflowVersionRequestObject) (httpapi.GetWorkflowVersionResponseObject, error) {
	c := auth.CallerOf(ctx)
	row, err := s.q().GetVersion(ctx, db.GetVersionParams{NamespaceID: c.Namespace, ApplicationID: c.Application, Name: []byte(r.Name), Version: uint32(r.Version)})
	if err != nil {
		return nil, found(err, "version")
	}
	tree, bad := exact.Parse(row.Document, exact.PayloadLimits)
	if digest := tree.Digest(); bad != nil || string(digest[:]) != string(row.Digest) {
		return nil, errors.New("a stored definition does not match its digest")
	}
	return httpapi.GetWorkflowVersion200JSONResponse{
		Name: r.Name, Version: r.Version, Digest: hex.EncodeToString(row.Digest), PublishedBy: auth.CredentialText(row.PublishedBy),
		CreatedAt: row.CreatedAt, Document: row.Document,
	}, nil
}
