package bench

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the knobs of one run. The names are those of the comparison's other members.
type Options struct {
	Workload  string
	N         int // items; zero: the workload's default
	Conc      int // handlers at once
	Subs      int // submitters at once
	URL, Key  string
	ServerPid int    // process whose CPU counts as the server's; zero: unknown
	DBPid     int    // process whose CPU counts as the database's; zero: unknown
	DSN       string // database whose counters are read; empty: not read
	Version   string
	Settings  string
	Timeout   time.Duration
}

// Result is the JSON line. Fields that were not measured are left out.
type Result struct {
	Peer     string             `json:"peer"`
	Version  string             `json:"version"`
	Store    string             `json:"store"`
	Settings string             `json:"settings,omitempty"`
	Workload string             `json:"workload"`
	N        int                `json:"n"`
	Conc     int                `json:"concurrency"`
	Seconds  float64            `json:"seconds,omitempty"`
	Rate     float64            `json:"per_second,omitempty"`
	Ms       map[string]float64 `json:"ms,omitempty"`
	CPU      map[string]float64 `json:"cpu_s,omitempty"`
	CPUPer   float64            `json:"cpu_ms_per_item,omitempty"`
	PerItem  map[string]float64 `json:"per_item,omitempty"` // rows_written, statements, commits
	At       string             `json:"at"`
	Err      string             `json:"error,omitempty"`
}

var defaults = map[string]int{"w1": 20000, "w1b": 20000, "w2": 20000, "w3": 200, "w4": 2000, "w4lat": 100, "w6": 2000, "w6burst": 2000, "front": 8000, "w2sub": 20000, "purge": 20000}

// Workloads in the order in which they are run.
var Workloads = []string{"w1", "w1b", "w2", "w3", "w4", "w4lat", "w6", "w6burst", "front", "w2sub", "purge"}

// Run runs one workload. The result carries what was measured even when an error ends it.
func Run(ctx context.Context, o Options) (Result, error) {
	if o.N == 0 {
		o.N = defaults[o.Workload]
	}
	r := Result{Peer: "orbit", Version: o.Version, Store: "mysql", Settings: o.Settings, Workload: o.Workload, N: o.N, Conc: o.Conc,
		Ms: map[string]float64{}, At: time.Now().UTC().Format(time.RFC3339)}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	work, ok := map[string]func(context.Context, *run) error{
		"w1": submitSingle, "w1b": submitBatches, "w2": drain, "w3": latency, "w4": flood, "w4lat": oneByOne, "w6": timers, "w6burst": timersBurst, "front": front, "w2sub": subscribed, "purge": purge,
	}[o.Workload]
	if !ok {
		return r, fmt.Errorf("unknown workload %q; known: %v", o.Workload, Workloads)
	}
	state := &run{Options: o, result: &r, client: newClient(o.URL, o.Key, o.Conc+o.Subs), label: fmt.Sprintf("bench-%d", time.Now().UnixNano())}
	err := state.prepare(ctx)
	if err == nil {
		err = work(ctx, state)
	}
	if err != nil {
		r.Err = err.Error()
	}
	return r, err
}

// run is one workload under way.
type run struct {
	Options
	result *Result
	client *client
	meter  *meter
	label  string // makes the keys and the queue of this run its own
	app    string
}

func (r *run) prepare(ctx context.Context) error {
	var who struct {
		ApplicationID string `json:"application_id"`
	}
	if err := r.client.call(ctx, "GET", "/v1/whoami", nil, &who); err != nil {
		return err
	}
	r.app = who.ApplicationID
	return r.client.call(ctx, "PUT", "/v1/queues/"+r.label, map[string]any{"open_tasks_max": 10_000_000, "running_attempts_max": 100_000}, nil)
}

// begin and end bracket what is measured.
func (r *run) begin() (err error) {
	r.meter, err = startMeter(&r.Options)
	return err
}

func (r *run) end() error { return r.meter.finish(r.result) }

func (r *run) timed(began time.Time) {
	took := time.Since(began).Seconds()
	r.result.Seconds, r.result.Rate = took, float64(r.N)/took
}

// parallel calls f(0…n−1) from c goroutines and returns the first error.
func parallel(n, c int, f func(i int) error) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	for range c {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					once.Do(func() { first = err })
					next.Store(int64(n))
				}
			}
		})
	}
	wg.Wait()
	return first
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func quantiles(out map[string]float64, name string, xs []float64) {
	if len(xs) == 0 {
		return
	}
	sort.Float64s(xs)
	at := func(q float64) float64 { return xs[min(len(xs)-1, int(q*float64(len(xs))))] }
	out[name+"p50"], out[name+"p95"], out[name+"p99"], out[name+"max"] = at(.5), at(.95), at(.99), xs[len(xs)-1]
}
