package orbit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/flow"
	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// WorkflowReceipt is what was published.
type WorkflowReceipt struct {
	Definition  string    `json:"definition"`
	Version     int       `json:"version"`
	Digest      string    `json:"digest"` // structural digest, hex
	PublishedAt time.Time `json:"published_at"`
	Replayed    bool      `json:"-"`
}

// Finding is one thing to repair, or to think about, in a definition.
type Finding struct {
	Severity string `json:"severity"` // ERROR or WARNING; only errors prevent publishing
	Code     string `json:"code"`
	Pointer  string `json:"pointer"` // JSON pointer into the document
	Line     int    `json:"line"`    // from 1
	Column   int    `json:"column"`  // from 1
	Detail   string `json:"detail"`
	Hint     string `json:"hint"`
}

// Workflow is a definition by its name.
type Workflow struct {
	Name          string    `json:"name"`
	LatestVersion int       `json:"latest_version"`
	Revision      int64     `json:"revision"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// WorkflowVersion is one version; its document is byte for byte as published, and empty in lists.
type WorkflowVersion struct {
	Name        string          `json:"name"`
	Version     int             `json:"version"`
	Digest      string          `json:"digest"`
	PublishedBy string          `json:"published_by"`
	CreatedAt   time.Time       `json:"created_at"`
	Document    json.RawMessage `json:"document"`
}

// Document is what can be published: *flow.Definition, or json.RawMessage and []byte with a document of
// schema_version 1.
type Document any

func documentBody(d Document) ([]byte, error) {
	var text []byte
	switch d := d.(type) {
	case *flow.Definition:
		text = d.JSON()
	case json.RawMessage:
		text = d
	case []byte:
		text = d
	default:
		return nil, fmt.Errorf("orbit: a document is a *flow.Definition or JSON text, not %T", d)
	}
	return object(struct{}{}, payload{"document", bytes.TrimSpace(text)})
}

// Publish publishes a definition (scope workflows:publish). Name and version are the key of the command: the same
// content again gives the first receipt, other content is version_conflict. A definition with errors is
// definition_invalid, with each error in Fields.
func (c *Client) Publish(ctx context.Context, d Document) (*WorkflowReceipt, error) {
	body, err := documentBody(d)
	if err != nil {
		return nil, err
	}
	var receipt WorkflowReceipt
	header, err := c.do(ctx, call{operation: "publishWorkflow", out: &receipt, build: func() (*http.Request, error) {
		return rest.NewPublishWorkflowRequestWithBody(c.server, nil, jsonBody, bytes.NewReader(body))
	}})
	if err != nil {
		return nil, err
	}
	receipt.Replayed = replayed(header)
	return &receipt, nil
}

// Validate checks a definition as publishing would, and publishes nothing (scope workflows:publish). valid tells whether
// it could be published; warnings may stand among the findings of a valid one.
func (c *Client) Validate(ctx context.Context, d Document) (valid bool, findings []Finding, err error) {
	body, err := documentBody(d)
	if err != nil {
		return false, nil, err
	}
	answer, err := get[validation](ctx, c, "validateWorkflow", func() (*http.Request, error) {
		return rest.NewValidateWorkflowRequestWithBody(c.server, jsonBody, bytes.NewReader(body))
	})
	if err != nil {
		return false, nil, err
	}
	return answer.Valid, answer.Findings, nil
}

type validation struct {
	Valid    bool      `json:"valid"`
	Findings []Finding `json:"findings"`
}

// Workflows walks the definitions by name (scope workflows:read).
func (c *Client) Workflows(ctx context.Context) iter.Seq2[Workflow, error] {
	return pages[Workflow](ctx, c, "listWorkflows", func(cursor *string) (*http.Request, error) {
		return rest.NewListWorkflowsRequest(c.server, &rest.ListWorkflowsParams{Cursor: cursor, Limit: &pageSize})
	})
}

// GetWorkflow reads a definition's latest version and revision (scope workflows:read).
func (c *Client) GetWorkflow(ctx context.Context, name string) (*Workflow, error) {
	return get[Workflow](ctx, c, "getWorkflow", func() (*http.Request, error) { return rest.NewGetWorkflowRequest(c.server, name) })
}

// GetWorkflowVersion reads one version with its document (scope workflows:read).
func (c *Client) GetWorkflowVersion(ctx context.Context, name string, version int) (*WorkflowVersion, error) {
	return get[WorkflowVersion](ctx, c, "getWorkflowVersion", func() (*http.Request, error) {
		return rest.NewGetWorkflowVersionRequest(c.server, name, rest.DefinitionVersion(version))
	})
}

// WorkflowVersions walks the versions of a definition, newest first, without documents (scope workflows:read).
func (c *Client) WorkflowVersions(ctx context.Context, name string) iter.Seq2[WorkflowVersion, error] {
	return pages[WorkflowVersion](ctx, c, "listWorkflowVersions", func(cursor *string) (*http.Request, error) {
		return rest.NewListWorkflowVersionsRequest(c.server, name, &rest.ListWorkflowVersionsParams{Cursor: cursor, Limit: &pageSize})
	})
}
