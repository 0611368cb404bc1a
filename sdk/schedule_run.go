package orbit

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/sdk/internal/rest"
)

// ScheduleTriggerReceipt is what was triggered by hand.
type ScheduleTriggerReceipt struct {
	TriggerID string    `json:"trigger_id"`
	Schedule  string    `json:"schedule"`
	Version   int       `json:"version"`
	PlannedAt time.Time `json:"planned_at"`
	TaskID    string    `json:"task_id"`
	Replayed  bool      `json:"-"`
}

// TriggerSchedule makes one task of the newest version now, also while the schedule is paused (scope schedules:manage).
// The same key gives the first receipt; an empty one is made.
func (c *Client) TriggerSchedule(ctx context.Context, name, reason, key string) (*ScheduleTriggerReceipt, error) {
	key = keyOr(key)
	body, err := object(reasonWire{reason})
	if err != nil {
		return nil, err
	}
	var receipt ScheduleTriggerReceipt
	header, err := c.do(ctx, call{operation: "triggerSchedule", key: key, out: &receipt, build: func() (*http.Request, error) {
		return rest.NewTriggerScheduleRequestWithBody(c.server, name, &rest.TriggerScheduleParams{IdempotencyKey: key}, jsonBody, bytes.NewReader(body))
	}})
	if err != nil {
		return nil, err
	}
	receipt.Replayed = replayed(header)
	return &receipt, nil
}

// Backfill is a past range whose slots are made up for.
type Backfill struct {
	From   time.Time `json:"from"`
	Until  time.Time `json:"until"` // exclusive
	Reason string    `json:"reason"`
	DryRun bool      `json:"dry_run,omitempty"`
}

// BackfillSlot is what a backfill did with one slot.
type BackfillSlot struct {
	PlannedAt time.Time `json:"planned_at"`
	Outcome   string    `json:"outcome"` // FIRED, WOULD_FIRE, ALREADY_FIRED or PENDING
	TaskID    string    `json:"task_id"`
}

// BackfillResult is one call of a backfill. NextFrom is nil when the range is done; Problem is the limit that stopped
// the call there, as the server wrote it.
type BackfillResult struct {
	Version  int             `json:"version"`
	Items    []BackfillSlot  `json:"items"`
	NextFrom *time.Time      `json:"next_from"`
	Problem  json.RawMessage `json:"problem"`
}

// BackfillSchedule makes a task for every slot of the range that has none, at most 1000 in one call (scope
// schedules:manage). Repeating it is safe: a slot that has a task keeps it. Go on from NextFrom.
func (c *Client) BackfillSchedule(ctx context.Context, name string, b Backfill) (*BackfillResult, error) {
	b.From, b.Until = b.From.UTC(), b.Until.UTC()
	body, err := object(b)
	if err != nil {
		return nil, err
	}
	return get[BackfillResult](ctx, c, "backfillSchedule", func() (*http.Request, error) {
		return rest.NewBackfillScheduleRequestWithBody(c.server, name, jsonBody, bytes.NewReader(body))
	})
}

// PreviewSlot is a slot by the world's clock and by the zone's.
type PreviewSlot struct {
	At    time.Time `json:"at"`
	Local string    `json:"local"`
}

// PreviewSilence is a wall-clock time that does not become a slot of its own.
type PreviewSilence struct {
	Local   string     `json:"local"`
	At      time.Time  `json:"at"`
	Why     string     `json:"why"` // GAP: it does not exist; REPEAT: it had come before
	MovedTo *time.Time `json:"moved_to"`
}

// Preview is the next slots of a timing, what daylight saving does to it, and the timing with its defaults.
type Preview struct {
	Items  []PreviewSlot    `json:"items"`
	Silent []PreviewSilence `json:"silent"`
	Timing Timing           `json:"timing"`
}

type previewWire struct {
	Timing Timing     `json:"timing"`
	After  *time.Time `json:"after,omitempty"`
	Count  int        `json:"count,omitempty"`
}

// PreviewSchedule shows the next slots after an instant, and stores nothing (scope schedules:read). A zero after is now;
// a zero count is ten.
func (c *Client) PreviewSchedule(ctx context.Context, t Timing, after time.Time, count int) (*Preview, error) {
	w := previewWire{Timing: t, Count: count}
	if !after.IsZero() {
		after = after.UTC()
		w.After = &after
	}
	body, err := object(w)
	if err != nil {
		return nil, err
	}
	return get[Preview](ctx, c, "previewSchedule", func() (*http.Request, error) {
		return rest.NewPreviewScheduleRequestWithBody(c.server, jsonBody, bytes.NewReader(body))
	})
}
