package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// threeSteps is a definition of three tasks in a row; each passes its input on.
func (r *run) threeSteps() json.RawMessage {
	var body []string
	input := "${input}"
	for _, name := range []string{"one", "two", "three"} {
		body = append(body, fmt.Sprintf(`{"name":%q,"kind":"TASK","queue":%q,"handler":%q,"handler_version":"1","input":%q,
			"input_contract":null,"output_contract":null,"policy":"p","business_key":null,"resource_key":null}`, name, r.label, "step_"+name, input))
		input = fmt.Sprintf("${steps.%s.output}", name)
	}
	return json.RawMessage(`{"schema_version":1,"definition":"bench_three","version":` + fmt.Sprint(time.Now().Unix()) + `,"input_contract":null,"output_contract":null,
		"deadline_ms":3600000,"on_failure":"REVIEW","contracts":{},"policies":{"p":{"priority":5,"deadline_ms":3600000,"attempt_timeout_ms":600000,"lost":"REVIEW",
		"retry":{"kind":"FIXED","max_attempts":3,"delay_ms":1000,"jitter_percent":0}}},"body":[` + strings.Join(body, ",") + `],"output":` + fmt.Sprintf("%q", input) + `}`)
}

func (r *run) publish(ctx context.Context) error {
	return r.client.call(ctx, "POST", "/v1/workflows", map[string]any{"document": r.threeSteps()}, nil)
}

func (r *run) start(ctx context.Context, i int) (string, error) {
	var receipt struct {
		InstanceID string `json:"instance_id"`
	}
	err := r.client.call(ctx, "POST", "/v1/instances", map[string]any{
		"start_key": fmt.Sprintf("%s-%d", r.label, i), "definition": "bench_three", "input": payload(i),
	}, &receipt)
	return receipt.InstanceID, err
}

var stepHandlers = []string{"step_one", "step_two", "step_three"}

func flood(ctx context.Context, r *run) error {
	if err := r.publish(ctx); err != nil {
		return err
	}
	before, err := r.openInstances(ctx)
	if err != nil || before != 0 {
		return errors.Join(err, fmt.Errorf("%d instances are open; run against an idle application", before))
	}
	var ends atomic.Int64
	failed := make(chan error, r.exchanges())
	stop := r.work(ctx, stepHandlers, func(c claimed) {
		if c.Handler == "step_three" {
			ends.Add(1)
		}
	}, func(err error) { failed <- err })
	defer stop()
	time.Sleep(time.Second)
	if err := r.begin(); err != nil {
		return err
	}
	began := time.Now()
	if err := parallel(r.N, r.Subs, func(i int) error { _, err := r.start(ctx, i); return err }); err != nil {
		return err
	}
	err = until(ctx, &ends, r.N, failed, r.openInstances)
	r.timed(began)
	return errors.Join(err, r.end())
}

func oneByOne(ctx context.Context, r *run) error {
	if err := r.publish(ctx); err != nil {
		return err
	}
	failed := make(chan error, r.exchanges())
	stop := r.work(ctx, stepHandlers, func(claimed) {}, func(err error) { failed <- err })
	defer stop()
	time.Sleep(time.Second)
	if err := r.begin(); err != nil {
		return err
	}
	var took []float64
	began := time.Now()
	for i := range r.N {
		t := time.Now()
		if err := r.whole(ctx, i); err != nil {
			return err
		}
		took = append(took, milliseconds(time.Since(t)))
	}
	r.timed(began)
	quantiles(r.result.Ms, "", took)
	return r.end()
}

// whole starts one workflow and polls until a reader sees its end.
func (r *run) whole(ctx context.Context, i int) error {
	id, err := r.start(ctx, i)
	if err != nil {
		return err
	}
	for {
		var instance struct {
			State string `json:"state"`
		}
		if err := r.client.call(ctx, "GET", "/v1/instances/"+id, nil, &instance); err != nil {
			return err
		}
		switch instance.State {
		case "SUCCEEDED":
			return nil
		case "RUNNING":
			time.Sleep(time.Millisecond)
		default:
			return fmt.Errorf("instance %s is %s", id, instance.State)
		}
	}
}
