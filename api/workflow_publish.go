package api

import (
	"context"
	"fmt"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine/weave/definition"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// ValidateWorkflow checks a document as publishing would and writes nothing. A document with errors is a good answer
// here, not a refused request.
func (s *Server) ValidateWorkflow(ctx context.Context, r httpapi.ValidateWorkflowRequestObject) (httpapi.ValidateWorkflowResponseObject, error) {
	findings, err := s.Weave.Check(ctx, auth.CallerOf(ctx), r.Body.Document)
	if err != nil {
		return nil, err
	}
	out := httpapi.ValidateWorkflow200JSONResponse{Valid: !definition.Refused(findings)}
	for _, f := range findings {
		finding := httpapi.WorkflowFinding{
			Severity: "ERROR", Code: f.Code, Pointer: f.Pointer, Line: int32(f.Line), Column: int32(f.Column), Detail: f.Detail, Hint: f.Hint,
		}
		if f.Warning {
			finding.Severity = "WARNING"
		}
		out.Findings = append(out.Findings, finding)
	}
	return out, nil
}

// PublishWorkflow accepts a version for ever. Refuses: definition_invalid with every error, version_conflict.
func (s *Server) PublishWorkflow(ctx context.Context, r httpapi.PublishWorkflowRequestObject) (httpapi.PublishWorkflowResponseObject, error) {
	key := ""
	if r.Params.IdempotencyKey != nil {
		key = *r.Params.IdempotencyKey
	}
	out := s.Weave.Publish(ctx, auth.CallerOf(ctx), r.Body.Document, key)
	switch {
	case out.Refusal != nil && definition.Refused(out.Problems):
		return nil, invalidDefinition(out.Problems)
	case out.Refusal != nil:
		return nil, out.Refusal
	}
	return frozen{201, out.Receipt, out.Replayed}, nil
}

func invalidDefinition(findings []definition.Problem) *problem.Problem {
	p := problem.New("definition_invalid", "the document has errors; errors[] names each")
	for _, f := range findings {
		if !f.Warning {
			p.Errors = append(p.Errors, problem.Fault{Code: f.Code, In: "body", Pointer: "/document" + f.Pointer,
				Detail: fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.Detail)})
		}
	}
	return p
}
