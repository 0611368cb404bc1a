package execworker

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/gen/client"
)

// renewalsMax is how many leases one request takes.
const renewalsMax = 256

// renew keeps the leases of running commands, three times within each, until
// ctx ends. A lease that could not be renewed in time is over for the server
// too, so its command must end: another worker may be starting.
func (w *Worker) renew(ctx context.Context) {
	tick := time.NewTicker(w.opt.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		all := w.all()
		for len(all) > 0 {
			n := min(len(all), renewalsMax)
			if err := w.renewSome(ctx, all[:n]); err != nil && ctx.Err() == nil {
				w.log("renewal: %s", err)
			}
			all = all[n:]
		}
		for _, a := range w.all() {
			if a.expired(time.Now()) {
				a.stop(stoppedLost)
			}
		}
	}
}

func (w *Worker) renewSome(ctx context.Context, some []*attempt) error {
	batch := client.RenewalBatch{}
	for _, a := range some {
		batch.Items = append(batch.Items, client.Renewal{TaskId: a.task.TaskId, AttemptNo: a.task.AttemptNo, Token: a.task.Token, ExtendMs: w.opt.Lease.Milliseconds()})
	}
	body, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	sent := time.Now()
	// One try within the tick: the next tick is the repetition.
	limited, cancel := context.WithTimeout(ctx, max(w.opt.Lease/3, time.Second))
	defer cancel()
	answer, err := w.on.Once(limited, func(ctx context.Context) (*http.Response, error) {
		return w.on.API.RenewLeasesWithBody(ctx, "application/json", bytes.NewReader(body))
	})
	if err != nil {
		return err
	}
	got, err := cli.Decode[client.RenewalOutcomes](answer)
	if err != nil {
		return err
	}
	for i := range min(len(got.Items), len(some)) {
		w.heed(some[i], got.Items[i], sent.Add(w.opt.Lease))
	}
	return nil
}

// heed does what the server said about one lease.
func (w *Worker) heed(a *attempt, o client.RenewalOutcome, until time.Time) {
	switch o.Outcome {
	case client.RenewalOutcomeOutcomeCONTINUE:
		a.renewed(until)
	case client.RenewalOutcomeOutcomeCANCELREQUESTED:
		a.renewed(until)
		a.cancel()
	case client.RenewalOutcomeOutcomeLOST:
		a.stop(stoppedLost)
	default:
		w.log("%s: renewal refused: %s", a.task.TaskId, cli.ItemRefusal(o.Problem).Line())
	}
}
