package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// client is the least a caller needs: JSON over kept connections. No retries: a refused call ends the run.
type client struct {
	base, key string
	http      *http.Client
}

func newClient(base, key string, connections int) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = connections+8, 0
	transport.DisableCompression = true
	return &client{strings.TrimSuffix(base, "/"), key, &http.Client{Transport: transport}}
}

func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %.400s", method, path, answer.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

var pad = strings.Repeat("x", 231)

// payload is 256 bytes of JSON for a five-digit number.
func payload(i int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"id":%d,"pad":%q}`, 10000+i, pad))
}

func (r *run) submission(i int) map[string]any {
	return map[string]any{
		"submit_key": fmt.Sprintf("%s-%d", r.label, i), "queue": r.label, "handler": "bench", "handler_version": "1", "input": payload(i),
		"deadline_ms": 3_600_000, "attempt_timeout_ms": 600_000, "retry_policy": map[string]any{"kind": "FIXED", "max_attempts": 3, "delay_ms": 1000, "jitter_percent": 0},
	}
}

// openTasks is what the store shows as not yet durably completed.
func (r *run) openTasks(ctx context.Context) (int64, error) {
	var queue struct {
		OpenTasks int64 `json:"open_tasks"`
	}
	err := r.client.call(ctx, "GET", "/v1/queues/"+r.label, nil, &queue)
	return queue.OpenTasks, err
}

func (r *run) openInstances(ctx context.Context) (int64, error) {
	var quota struct {
		OpenInstances int64 `json:"open_instances"`
	}
	err := r.client.call(ctx, "GET", "/v1/admin/applications/"+r.app+"/quota", nil, &quota)
	return quota.OpenInstances, err
}
