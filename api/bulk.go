package api

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/gen/db"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

const prefixBulk = "bulk"

// The numbers of the database and the names of the API, side by side.
var (
	bulkKinds   = map[pulse.BulkKind]httpapi.BulkKind{pulse.BulkCancel: "CANCEL", pulse.BulkRetry: "RETRY", pulse.BulkPurge: "PURGE"}
	bulkStates  = map[pulse.BulkState]httpapi.BulkState{pulse.BulkRunning: "RUNNING", pulse.BulkDone: "DONE", pulse.BulkAborted: "ABORTED"}
	bulkResults = map[pulse.BulkResult]httpapi.BulkResult{pulse.BulkDid: "DONE", pulse.BulkSkipped: "SKIPPED", pulse.BulkRefused: "REFUSED"}
	bulkWants   = map[pulse.Public]httpapi.BulkFilterState{
		pulse.PublicQueued: "QUEUED", pulse.PublicRunning: "RUNNING", pulse.PublicFailed: "FAILED", pulse.PublicCancelled: "CANCELLED",
	}
)

func bulkFilter(f *httpapi.BulkFilter) pulse.BulkFilter {
	out := pulse.BulkFilter{State: numberOf(bulkWants, f.State), BusinessKey: f.BusinessKey, Handler: f.Handler, HandlerVersion: f.HandlerVersion, FailureCode: f.FailureCode}
	if f.Attribute != nil {
		out.AttributeName, out.AttributeValue = f.Attribute.Name, f.Attribute.Value
	}
	if f.CreatedFrom != nil {
		out.From = f.CreatedFrom.UTC()
	}
	if f.CreatedBefore != nil {
		out.Before = f.CreatedBefore.UTC()
	}
	return out
}

// bulkReceipt is the frozen answer to a request, made from columns that never change.
func bulkReceipt(row *db.BulkOperation, queue string) []byte {
	return []byte(fmt.Sprintf(`{"operation_id":%q,"kind":%q,"queue":%q,"dry_run":%t,"created_before":%q,"accepted_at":%q}`,
		idText(prefixBulk, row.OperationID), bulkKinds[pulse.BulkKind(row.Kind)], queue, row.DryRun == 1, pulse.Time(row.CreatedBefore), pulse.Time(row.CreatedAt)))
}

func (s *Server) readBulk(ctx context.Context, c auth.Caller, text string) (db.BulkOperation, error) {
	operation := id(prefixBulk, text)
	row, err := s.q().GetBulkOperation(ctx, db.GetBulkOperationParams{NamespaceID: c.Namespace, ApplicationID: c.Application, OperationID: operation[:]})
	if errors.Is(err, sql.ErrNoRows) {
		return row, problem.Missing("bulk_operation")
	}
	return row, err
}

func (s *Server) bulkAnswer(ctx context.Context, c auth.Caller, text string) (httpapi.BulkOperation, error) {
	row, err := s.readBulk(ctx, c, text)
	if err != nil {
		return httpapi.BulkOperation{}, err
	}
	name, err := s.q().GetQueueName(ctx, db.GetQueueNameParams{NamespaceID: c.Namespace, QueueID: row.QueueID})
	return bulkModel(&row, string(name)), err
}

func bulkModel(row *db.BulkOperation, queue string) httpapi.BulkOperation {
	out := httpapi.BulkOperation{
		OperationId: idText(prefixBulk, row.OperationID), OperationKey: string(row.OperationKey), Kind: bulkKinds[pulse.BulkKind(row.Kind)], Queue: queue,
		DryRun: row.DryRun == 1, State: bulkStates[pulse.BulkState(row.State)], Reason: string(row.Reason), Scanned: row.Scanned,
		Matched: row.Did + row.Skipped + row.Refused, Done: row.Did, Skipped: row.Skipped, Refused: row.Refused,
		By: engine.CredentialText(row.CredentialID), StopCode: optional(row.StopCode), CreatedBefore: row.CreatedBefore, CreatedAt: row.CreatedAt, EndedAt: row.EndedAt,
	}
	f := &out.Filter
	f.BusinessKey, f.Handler, f.HandlerVersion, f.FailureCode = string(row.BusinessKey), string(row.Handler), string(row.HandlerVersion), string(row.FailureCode)
	f.State = bulkWants[pulse.Public(row.WantState)]
	if len(row.AttributeName) > 0 {
		f.Attribute = &httpapi.Attribute{Name: string(row.AttributeName), Value: string(row.AttributeValue)}
	}
	if row.CreatedFrom.Unix() > 0 {
		f.CreatedFrom = &row.CreatedFrom
	}
	if row.CreatedBefore.Before(row.CreatedAt) {
		f.CreatedBefore = &row.CreatedBefore
	}
	return out
}
