package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"sync"
	"time"
)

// oneTimer is a definition of one timer whose length is the input.
func (r *run) oneTimer() json.RawMessage {
	return json.RawMessage(`{"schema_version":1,"definition":"bench_timer","version":` + fmt.Sprint(time.Now().Unix()) + `,"input_contract":"ms","output_contract":null,
		"deadline_ms":3600000,"on_failure":"REVIEW","contracts":{"ms":{"type":"integer","minimum":1}},"policies":{},
		"body":[{"name":"wait","kind":"TIMER","delay_ms":"${input}"}],"output":null}`)
}

// timersLead is how long before the first timer is due the starts begin, and timersSpread how long they are due one
// after the other.
const (
	timersLead   = 15 * time.Second
	timersSpread = 10 * time.Second
)

func timers(ctx context.Context, r *run) error      { return r.timers(ctx, timersSpread) }
func timersBurst(ctx context.Context, r *run) error { return r.timers(ctx, 0) }

// timers starts n workflows of one timer, due evenly over a time or all at once, and measures how late each ended by
// the database's clock: the end of the instance against its start and its delay.
func (r *run) timers(ctx context.Context, spread time.Duration) error {
	if err := r.client.call(ctx, "POST", "/v1/workflows", map[string]any{"document": r.oneTimer()}, nil); err != nil {
		return err
	}
	if err := r.begin(); err != nil {
		return err
	}
	first := time.Now().Add(timersLead)
	delays, err := r.startTimers(ctx, first, spread)
	if err != nil {
		return err
	}
	if time.Until(first) < 0 {
		return fmt.Errorf("starting %d timers took longer than %s", r.N, timersLead)
	}
	time.Sleep(time.Until(first.Add(spread)))
	var late []float64
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(500 * time.Millisecond) {
		if late, err = r.lateness(ctx, delays); err != nil || len(late) == len(delays) {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d timers have not ended", len(delays)-len(late), len(delays))
		}
	}
	if err != nil {
		return err
	}
	for _, ms := range late {
		if ms < 0 {
			return fmt.Errorf("a timer ended %.3f ms early", -ms)
		}
	}
	r.timed(first)
	quantiles(r.result.Ms, "late_", late)
	return r.end()
}

// startTimers starts in batches of 32 and returns the delay of each instance.
func (r *run) startTimers(ctx context.Context, first time.Time, spread time.Duration) (map[string]time.Duration, error) {
	const batch = 32
	delays, mu := map[string]time.Duration{}, sync.Mutex{}
	err := parallel((r.N+batch-1)/batch, 4, func(b int) error {
		var items []map[string]any
		var ms []int64
		for i := b * batch; i < min((b+1)*batch, r.N); i++ {
			due := first.Add(spread * time.Duration(i) / time.Duration(r.N))
			ms = append(ms, max(time.Until(due).Milliseconds(), 1))
			items = append(items, map[string]any{"start_key": fmt.Sprintf("%s-%d", r.label, i), "definition": "bench_timer", "input": ms[len(ms)-1]})
		}
		var out struct {
			Items []struct {
				Receipt struct {
					InstanceID string `json:"instance_id"`
				} `json:"receipt"`
				Problem json.RawMessage `json:"problem"`
			} `json:"items"`
		}
		if err := r.client.call(ctx, "POST", "/v1/instance-batches", map[string]any{"items": items}, &out); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range out.Items {
			if len(out.Items[i].Problem) > 0 {
				return fmt.Errorf("a start was refused: %s", out.Items[i].Problem)
			}
			delays[out.Items[i].Receipt.InstanceID] = time.Duration(ms[i]) * time.Millisecond
		}
		return nil
	})
	return delays, err
}

// lateness lists how many milliseconds late the timers that have ended were.
func (r *run) lateness(ctx context.Context, delays map[string]time.Duration) ([]float64, error) {
	var late []float64
	for cursor := ""; ; {
		var page struct {
			Items []struct {
				InstanceID string     `json:"instance_id"`
				State      string     `json:"state"`
				CreatedAt  time.Time  `json:"created_at"`
				EndedAt    *time.Time `json:"ended_at"`
			} `json:"items"`
			NextCursor string `json:"next_cursor"`
		}
		if err := r.client.call(ctx, "GET", "/v1/instances?limit=200"+cursor, nil, &page); err != nil {
			return nil, err
		}
		for _, i := range page.Items {
			delay, mine := delays[i.InstanceID]
			if mine && i.EndedAt != nil && i.State == "SUCCEEDED" {
				late = append(late, milliseconds(i.EndedAt.Sub(i.CreatedAt.Add(delay))))
			}
		}
		if page.NextCursor == "" {
			return late, nil
		}
		cursor = "&cursor=" + url.QueryEscape(page.NextCursor)
	}
}
