package api

import (
	"context"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// GetBulkOperation reads one operation with its counters.
func (s *Server) GetBulkOperation(ctx context.Context, r httpapi.GetBulkOperationRequestObject) (httpapi.GetBulkOperationResponseObject, error) {
	model, err := s.bulkAnswer(ctx, auth.CallerOf(ctx), r.OperationId)
	return httpapi.GetBulkOperation200JSONResponse(model), err
}

// ListBulkOperations pages the operations of a queue, newest first.
func (s *Server) ListBulkOperations(ctx context.Context, r httpapi.ListBulkOperationsRequestObject) (httpapi.ListBulkOperationsResponseObject, error) {
	c := auth.CallerOf(ctx)
	queue, err := s.Queues.ID(ctx, c, r.Params.Queue)
	if err == nil && queue == 0 {
		err = problem.Missing("queue")
	}
	if err != nil {
		return nil, err
	}
	b := bind(c, "bulk", r.Params.Queue)
	before, err := b.readID(r.Params.Cursor, 0xff)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.q().ListBulkOperations(ctx, db.ListBulkOperationsParams{NamespaceID: c.Namespace, ApplicationID: c.Application, QueueID: queue, OperationID: before, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListBulkOperations200JSONResponse{Items: []httpapi.BulkOperation{}}
	for i := range rows {
		out.Items = append(out.Items, bulkModel(&rows[i], r.Params.Queue))
	}
	if more {
		out.NextCursor = b.write(rows[len(rows)-1].OperationID)
	}
	return out, nil
}

// readID is the position in lists by id; fill repeated is before the first: 0 in ascending, 0xff in descending ones.
func (b binding) readID(cursor *string, fill byte) ([]byte, error) {
	position, err := b.read(cursor)
	if err != nil {
		return nil, err
	}
	if position == nil {
		position = make([]byte, len(engine.ID{}))
		for i := range position {
			position[i] = fill
		}
	}
	if len(position) != len(engine.ID{}) {
		return nil, cursorInvalid()
	}
	return position, nil
}

// ListBulkItems pages what became of each task, of all or of one result.
func (s *Server) ListBulkItems(ctx context.Context, r httpapi.ListBulkItemsRequestObject) (httpapi.ListBulkItemsResponseObject, error) {
	c := auth.CallerOf(ctx)
	row, err := s.readBulk(ctx, c, r.OperationId)
	if err != nil {
		return nil, err
	}
	var result pulse.BulkResult
	if r.Params.Result != nil {
		result = numberOf(bulkResults, *r.Params.Result)
	}
	b := bind(c, "bulk items", r.OperationId, string(rune('0'+result)))
	after, err := b.readID(r.Params.Cursor, 0)
	if err != nil {
		return nil, err
	}
	limit := limitOf(r.Params.Limit)
	rows, err := s.bulkItems(ctx, &row, result, after, limit+1)
	if err != nil {
		return nil, err
	}
	rows, more := cut(rows, limit)
	out := httpapi.ListBulkItems200JSONResponse{Items: []httpapi.BulkItem{}}
	for i := range rows {
		item := httpapi.BulkItem{TaskId: idText(prefixTask, rows[i].TaskID), Result: bulkResults[pulse.BulkResult(rows[i].Result)], Code: string(rows[i].Code)}
		if len(rows[i].SuccessorID) > 0 {
			item.Successor = pointer(idText(prefixTask, rows[i].SuccessorID))
		}
		out.Items = append(out.Items, item)
	}
	if more {
		out.NextCursor = b.write(rows[len(rows)-1].TaskID)
	}
	return out, nil
}

func (s *Server) bulkItems(ctx context.Context, op *db.BulkOperation, result pulse.BulkResult, after []byte, limit int32) ([]db.ListBulkItemsRow, error) {
	if result == 0 {
		return s.q().ListBulkItems(ctx, db.ListBulkItemsParams{NamespaceID: op.NamespaceID, OperationID: op.OperationID, TaskID: after, Limit: limit})
	}
	rows, err := s.q().ListBulkItemsByResult(ctx, db.ListBulkItemsByResultParams{NamespaceID: op.NamespaceID, OperationID: op.OperationID, Result: uint8(result), TaskID: after, Limit: limit})
	out := make([]db.ListBulkItemsRow, len(rows))
	for i := range rows {
		out[i] = db.ListBulkItemsRow(rows[i])
	}
	return out, err
}
