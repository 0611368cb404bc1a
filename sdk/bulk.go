package orbit

import (
	"bytes"
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// BulkKind is what a bulk operation does with each task.
type BulkKind string

// Kinds of bulk operations.
const (
	BulkCancel BulkKind = "CANCEL" // waiting tasks end, running ones are asked
	BulkRetry  BulkKind = "RETRY"  // a successor for what failed or was cancelled
	BulkPurge  BulkKind = "PURGE"  // waiting tasks end, running ones are left alone
)

// BulkFilter says which tasks of the queue are meant; what is empty filters nothing.
type BulkFilter struct {
	State          string     `json:"state,omitempty"` // CANCEL: QUEUED or RUNNING; RETRY: FAILED or CANCELLED
	BusinessKey    string     `json:"business_key,omitempty"`
	Handler        string     `json:"handler,omitempty"`
	HandlerVersion string     `json:"handler_version,omitempty"`
	FailureCode    string     `json:"failure_code,omitempty"` // RETRY
	Attribute      *Attribute `json:"attribute,omitempty"`    // not together with BusinessKey
	CreatedFrom    *time.Time `json:"created_from,omitempty"`
	CreatedBefore  *time.Time `json:"created_before,omitempty"`
}

// BulkRequest asks for something to be done to many tasks of one queue.
type BulkRequest struct {
	OperationKey string     `json:"operation_key"` // empty: a new one
	Kind         BulkKind   `json:"kind"`
	Queue        string     `json:"queue"`
	Filter       BulkFilter `json:"filter"`
	Reason       string     `json:"reason"` // kept with the operation and in the audit of every task
	DryRun       bool       `json:"dry_run,omitempty"`
}

// BulkReceipt is the frozen acceptance of a bulk operation.
type BulkReceipt struct {
	OperationID   string    `json:"operation_id"`
	Kind          BulkKind  `json:"kind"`
	Queue         string    `json:"queue"`
	DryRun        bool      `json:"dry_run"`
	CreatedBefore time.Time `json:"created_before"` // tasks accepted at this time or later are not meant
	AcceptedAt    time.Time `json:"accepted_at"`
	Replayed      bool      `json:"-"`
}

// BulkOperation is a bulk operation with its counters: Matched = Done + Skipped + Refused.
type BulkOperation struct {
	OperationID   string     `json:"operation_id"`
	OperationKey  string     `json:"operation_key"`
	Kind          BulkKind   `json:"kind"`
	Queue         string     `json:"queue"`
	Filter        BulkFilter `json:"filter"`
	DryRun        bool       `json:"dry_run"`
	State         string     `json:"state"` // RUNNING, DONE or ABORTED
	Reason        string     `json:"reason"`
	Scanned       int64      `json:"scanned"`
	Matched       int64      `json:"matched"`
	Done          int64      `json:"done"` // of a dry run: would be
	Skipped       int64      `json:"skipped"`
	Refused       int64      `json:"refused"`
	By            string     `json:"by"`
	StopCode      string     `json:"stop_code"` // why it was aborted when nobody asked
	CreatedBefore time.Time  `json:"created_before"`
	CreatedAt     time.Time  `json:"created_at"`
	EndedAt       *time.Time `json:"ended_at"`
}

// BulkItem is what became of one task.
type BulkItem struct {
	TaskID    string `json:"task_id"`
	Result    string `json:"result"` // DONE, SKIPPED or REFUSED
	Code      string `json:"code"`
	Successor string `json:"successor"` // of a retry
}

// Bulk begins a bulk operation (scopes queues:manage, and tasks:cancel or tasks:retry). It is durable when this returns;
// the same key gives the first receipt again.
func (c *Client) Bulk(ctx context.Context, r BulkRequest) (*BulkReceipt, error) {
	r.OperationKey = keyOr(r.OperationKey)
	body, err := object(r)
	if err != nil {
		return nil, err
	}
	var receipt BulkReceipt
	header, err := c.do(ctx, call{operation: "createBulkOperation", key: r.OperationKey, out: &receipt, build: func() (*http.Request, error) {
		return rest.NewCreateBulkOperationRequestWithBody(c.server, jsonBody, bytes.NewReader(body))
	}})
	if err != nil {
		return nil, err
	}
	receipt.Replayed = replayed(header)
	return &receipt, nil
}

// BulkOperation reads a bulk operation (scope tasks:read).
func (c *Client) BulkOperation(ctx context.Context, operationID string) (*BulkOperation, error) {
	return get[BulkOperation](ctx, c, "getBulkOperation", func() (*http.Request, error) {
		return rest.NewGetBulkOperationRequest(c.server, operationID)
	})
}

// BulkOperations walks the bulk operations of a queue, newest first (scope tasks:read).
func (c *Client) BulkOperations(ctx context.Context, queue string) iter.Seq2[BulkOperation, error] {
	return pages[BulkOperation](ctx, c, "listBulkOperations", func(cursor *string) (*http.Request, error) {
		return rest.NewListBulkOperationsRequest(c.server, &rest.ListBulkOperationsParams{Queue: queue, Cursor: cursor, Limit: &pageSize})
	})
}

// BulkItems walks what became of each task; result is DONE, SKIPPED, REFUSED or empty for all (scope tasks:read).
func (c *Client) BulkItems(ctx context.Context, operationID, result string) iter.Seq2[BulkItem, error] {
	return pages[BulkItem](ctx, c, "listBulkItems", func(cursor *string) (*http.Request, error) {
		params := &rest.ListBulkItemsParams{Cursor: cursor, Limit: &pageSize}
		if result != "" {
			params.Result = new(rest.BulkResult(result))
		}
		return rest.NewListBulkItemsRequest(c.server, operationID, params)
	})
}

// AbortBulk ends a bulk operation; what was done stays done (scope queues:manage).
func (c *Client) AbortBulk(ctx context.Context, operationID, reason string) (*BulkOperation, error) {
	body, err := object(reasonWire{reason})
	if err != nil {
		return nil, err
	}
	return get[BulkOperation](ctx, c, "abortBulkOperation", func() (*http.Request, error) {
		return rest.NewAbortBulkOperationRequestWithBody(c.server, operationID, jsonBody, bytes.NewReader(body))
	})
}
