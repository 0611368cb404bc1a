// Package telemetry is how a node is watched: Prometheus metrics in base units without ids in labels, and the admin
// handler that serves them on a port of its own.
package telemetry

import (
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics holds the instruments of a node. Registry takes those of other packages.
type Metrics struct {
	Registry *prometheus.Registry
	requests *prometheus.CounterVec
	problems *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// New registers the instruments of the shell, of the process and of the runtime.
func New(version, commit string) *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "orbit_http_requests_total", Help: "Requests by operation and status."}, []string{"operation", "status"}),
		problems: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "orbit_http_problems_total", Help: "Refused requests by operation and problem code."}, []string{"operation", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "orbit_http_request_seconds", Help: "Time from the routed request to its answer, long polls included.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "orbit_build_info", Help: "Always 1; the labels say what runs.", ConstLabels: prometheus.Labels{"version": version, "commit": commit}})
	build.Set(1)
	m.Registry.MustRegister(m.requests, m.problems, m.seconds, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Request counts one answered request; code is the problem's, or empty.
func (m *Metrics) Request(operation string, status int, code string, took time.Duration) {
	m.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
	if status == http.StatusSwitchingProtocols {
		return // a socket: its length says nothing of the node
	}
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
	if code != "" {
		m.problems.WithLabelValues(operation, code).Inc()
	}
}

// Sockets registers how many sockets are open.
func (m *Metrics) Sockets(open func() int64) error {
	return m.Registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "orbit_sockets",
		Help: "Sockets that are open on this node."}, func() float64 { return float64(open()) }))
}

// Admin serves /metrics, and the profiler when asked for. It belongs on a loopback port: it has no keys.
func (m *Metrics) Admin(profiler bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{}))
	if profiler {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return mux
}
