package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// subscribed drains tasks with and without a subscription whose results a consumer takes over a socket, in turns
// (without, with, with, without), and gives the ratio of the two rates: results must not slow the work they come from.
// lag_ is how long after its commit a result was at the consumer; both clocks are this machine's.
func subscribed(ctx context.Context, r *run) error {
	quarter := r.N / 4
	if err := r.begin(); err != nil {
		return err
	}
	began := time.Now()
	var seconds [2]float64
	var lags []float64
	for i, with := range []int{0, 1, 1, 0} {
		rate, lag, err := r.drainSubscribed(ctx, i*quarter, (i+1)*quarter, with == 1)
		if err != nil {
			return errors.Join(err, r.end())
		}
		seconds[with] += float64(quarter) / rate
		lags = append(lags, lag...)
	}
	r.timed(began)
	clean, attached := float64(2*quarter)/seconds[0], float64(2*quarter)/seconds[1]
	r.result.Rate = attached
	r.result.Ms["clean_per_second"], r.result.Ms["ratio_to_clean"] = round(clean), round(attached/clean)
	quantiles(r.result.Ms, "lag_", lags)
	return r.end()
}

func (r *run) drainSubscribed(ctx context.Context, from, to int, with bool) (rate float64, lags []float64, err error) {
	if !with {
		rate, err = r.drainWhole(ctx, from, to)
		return rate, nil, err
	}
	path := "/v1/subscriptions/" + r.label
	if err := r.client.call(ctx, "PUT", path, map[string]any{"queues": []string{r.label}, "window": 1024}, nil); err != nil {
		return 0, nil, err
	}
	consumed := make(chan error, 1)
	go func() {
		var err error
		lags, err = r.consume(ctx, path, to-from)
		consumed <- err
	}()
	if rate, err = r.drainWhole(ctx, from, to); err != nil {
		return 0, nil, err
	}
	if err := <-consumed; err != nil {
		return 0, nil, err
	}
	return rate, lags, r.client.call(ctx, "DELETE", path, nil, nil)
}

// drainWhole is drainRange until the last result is written.
func (r *run) drainWhole(ctx context.Context, from, to int) (float64, error) {
	if err := r.submitRange(ctx, from, to, 4, nil); err != nil {
		return 0, err
	}
	var done atomic.Int64
	failed := make(chan error, r.exchanges())
	began := time.Now()
	stop := r.work(ctx, []string{"bench"}, func(claimed) { done.Add(1) }, func(err error) { failed <- err })
	defer stop()
	if err := until(ctx, &done, to-from, failed, r.openTasks); err != nil {
		return 0, err
	}
	return float64(to-from) / time.Since(began).Seconds(), nil
}

// consume takes n results and acknowledges each frame of them.
func (r *run) consume(ctx context.Context, path string, n int) (lags []float64, err error) {
	conn, _, err := websocket.Dial(ctx, r.client.base+path+"/socket", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + r.client.key}}}) //nolint:bodyclose // Dial keeps what there is of it
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(32 << 20)
	if err := conn.Write(ctx, websocket.MessageText, []byte(`{"id":1,"follow":{"consumer":"bench","credit":256}}`)); err != nil {
		return nil, err
	}
	for last := int64(0); ; {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("%d of %d results came: %w", len(lags), n, err)
		}
		var f struct {
			Outcomes *struct {
				PendingCount int `json:"pending_count"`
			} `json:"outcomes"`
			Problem    json.RawMessage `json:"problem"`
			Deliveries struct {
				Items []struct {
					Seq        int64     `json:"seq"`
					Generation int64     `json:"generation"`
					Proof      string    `json:"proof"`
					At         time.Time `json:"at"`
				} `json:"items"`
			} `json:"deliveries"`
		}
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, err
		}
		switch {
		case f.Problem != nil:
			return nil, fmt.Errorf("refused: %.400s", f.Problem)
		case f.Outcomes != nil && len(lags) == n && f.Outcomes.PendingCount == 0:
			return lags, nil // everything came and is acknowledged
		case f.Outcomes != nil:
			continue
		}
		now := time.Now()
		acks := make([]map[string]any, len(f.Deliveries.Items))
		for i, d := range f.Deliveries.Items {
			if d.Seq <= last || d.Generation != 1 {
				return nil, fmt.Errorf("result %d in generation %d after %d", d.Seq, d.Generation, last)
			}
			last = d.Seq
			lags = append(lags, milliseconds(now.Sub(d.At)))
			acks[i] = map[string]any{"seq": d.Seq, "generation": d.Generation, "proof": d.Proof}
		}
		request, err := json.Marshal(map[string]any{"id": 2, "acks": map[string]any{"items": acks}})
		if err != nil {
			return nil, err
		}
		if err := conn.Write(ctx, websocket.MessageText, request); err != nil {
			return nil, err
		}
	}
}
