package orbit

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// PauseQueue stops claims; submissions are still taken and what runs goes on (scope queues:manage). Pausing again
// changes nothing.
func (c *Client) PauseQueue(ctx context.Context, name, reason string) (*Queue, error) {
	return c.holdQueue(ctx, "pauseQueue", name, reason, rest.NewPauseQueueRequestWithBody)
}

// DrainQueue stops submissions; what is there is still given out (scope queues:manage).
func (c *Client) DrainQueue(ctx context.Context, name, reason string) (*Queue, error) {
	return c.holdQueue(ctx, "drainQueue", name, reason, rest.NewDrainQueueRequestWithBody)
}

// ResumeQueue ends a pause and a drain (scope queues:manage).
func (c *Client) ResumeQueue(ctx context.Context, name, reason string) (*Queue, error) {
	return c.holdQueue(ctx, "resumeQueue", name, reason, rest.NewResumeQueueRequestWithBody)
}

func (c *Client) holdQueue(ctx context.Context, operation, name, reason string, build func(server, queue, contentType string, body io.Reader) (*http.Request, error)) (*Queue, error) {
	body, err := object(reasonWire{reason})
	if err != nil {
		return nil, err
	}
	return get[Queue](ctx, c, operation, func() (*http.Request, error) { return build(c.server, name, jsonBody, bytes.NewReader(body)) })
}
