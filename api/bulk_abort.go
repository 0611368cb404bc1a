package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/store"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// AbortBulkOperation ends an operation between two pages. One that has ended stays what it is.
func (s *Server) AbortBulkOperation(ctx context.Context, r httpapi.AbortBulkOperationRequestObject) (httpapi.AbortBulkOperationResponseObject, error) {
	c := auth.CallerOf(ctx)
	if err := store.AbortBulk(ctx, s.Writer, c.Namespace, c.Application, c.Credential, id(prefixBulk, r.OperationId), r.Body.Reason); err != nil {
		return nil, err
	}
	model, err := s.bulkAnswer(ctx, c, r.OperationId)
	return httpapi.AbortBulkOperation200JSONResponse(model), err
}
