package node

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/retention"
	"github.com/orbitrun/orbit/api/runner"
	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/telemetry"
	"github.com/orbitrun/orbit/api/tx"
)

// assemble connects lanes and runner: a lane tells the runner what becomes due, the runner hands what is due to a lane.
func (n *Node) assemble() {
	m := newInstruments(n.metrics.Registry)
	n.writer.Observe = m.transaction
	var scan *runner.Runner
	flows := lane.NewWorkflows(n.writer, n.opt.Name, func(_ uint64, instance engine.ID, err error) {
		n.opt.Log.Error("a workflow cannot be advanced; it is tried again later", "instance", instance.Text("inst"), "error", err)
	})
	n.lanes = lane.New(n.writer, n.reader, flows, lane.Options{
		Observe:    m.lane,
		OnDelayed:  func(namespace uint64, at time.Time) { scan.Note(namespace, at) },
		OnClock:    func(namespace uint64, at time.Time) { scan.NoteClock(namespace, at) },
		OnStream:   func(namespace uint64) { n.server.StreamAdvanced(namespace) },
		OnInternal: func(err error) { n.opt.Log.Error("a transaction failed", "error", err) },
	})
	scan = runner.New(n.reader, n.writer, n.lanes, n.opt.Log)
	scan.Fired = m.fired
	n.runner = scan
	n.keeper = retention.New(n.reader, n.writer, n.opt.Log)
	n.keeper.Removed = m.removed
	m.pools(n.metrics.Registry, n)
	n.metrics.Registry.MustRegister(telemetry.NewSubscriptions(func(ctx context.Context, limit int32) ([]store.SubscriptionLag, error) {
		return store.SubscriptionLags(ctx, db.New(n.reader), limit)
	}, n.opt.Log))
}

// instruments are the metrics of lanes, transactions and pools: base units, no ids.
type instruments struct {
	batch   *prometheus.HistogramVec
	seconds *prometheus.HistogramVec
	late    prometheus.Histogram
	slots   prometheus.Histogram
	depth   prometheus.Gauge
	waiting prometheus.Gauge
	purged  *prometheus.CounterVec
	events  *prometheus.CounterVec
	retries *prometheus.CounterVec
}

func newInstruments(r prometheus.Registerer) *instruments {
	m := &instruments{
		batch: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "orbit_lane_batch_items",
			Help: "Items in one lane transaction.", Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}}, []string{"kind"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "orbit_lane_transaction_seconds",
			Help: "Time of one lane transaction with its retries.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16)}, []string{"kind"}),
		late: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "orbit_timer_lateness_seconds",
			Help: "How long after its time a workflow's timer rang, by the database's clock.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 18)}),
		slots: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "orbit_schedule_delay_seconds",
			Help: "How long after its time a schedule's slot got its task, by the database's clock.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 22)}),
		depth:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "orbit_lane_depth", Help: "Items that waited behind the last transaction of any lane."}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "orbit_lane_waiting_claims", Help: "Claims that wait for work, as of the last transaction."}),
		purged: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "orbit_retention_removed_total",
			Help: "What retention deleted: purge_stream counts results, purge_tasks tasks, purge_receipts receipts, purge_audit records, purge_bulk bulk operations and their tasks."}, []string{"transaction"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "orbit_transactions_total",
			Help: "Transactions by how they ended: commit, rollback, unknown_committed, unknown_rolled_back, unknown."}, []string{"transaction", "end"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "orbit_transaction_retries_total",
			Help: "Closures run again, by the database's error code."}, []string{"transaction", "code"}),
	}
	r.MustRegister(m.batch, m.seconds, m.late, m.slots, m.depth, m.waiting, m.purged, m.events, m.retries)
	return m
}

func (m *instruments) lane(o lane.Observation) {
	m.batch.WithLabelValues(o.Kind).Observe(float64(o.Items))
	m.seconds.WithLabelValues(o.Kind).Observe(o.Took.Seconds())
	for _, late := range o.Late {
		m.late.Observe(late.Seconds())
	}
	m.depth.Set(float64(o.Depth))
	m.waiting.Set(float64(o.Waiting))
}

func (m *instruments) fired(late []time.Duration) {
	for _, d := range late {
		m.slots.Observe(max(d, 0).Seconds())
	}
}

func (m *instruments) removed(transaction string, n int) {
	m.purged.WithLabelValues(transaction).Add(float64(n))
}

func (m *instruments) transaction(e tx.Event) {
	if e.Kind == "retry" {
		m.retries.WithLabelValues(e.Transaction, itoa(e.Code)).Inc()
		return
	}
	m.events.WithLabelValues(e.Transaction, e.Kind).Inc()
}

func (m *instruments) pools(r prometheus.Registerer, n *Node) {
	for name, open := range map[string]func() int{
		"writer": func() int { return n.writer.Stats().OpenConnections },
		"reader": func() int { return n.reader.Stats().OpenConnections },
	} {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "orbit_database_connections",
			Help: "Open connections of a pool.", ConstLabels: prometheus.Labels{"pool": name}}, func() float64 { return float64(open()) }))
	}
}

func itoa(code uint16) string {
	if code == 0 {
		return "connection"
	}
	return strconv.Itoa(int(code))
}
