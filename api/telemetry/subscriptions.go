package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orbitrun/orbit/api/store"
)

const (
	// lagsMax bounds the series: four for each of the subscriptions that are farthest behind.
	lagsMax = 200
	// lagsAge is how old an answer may be, so that many scrapers cost one read.
	lagsAge = 5 * time.Second
	// lagsTimeout bounds the read. A scrape without these series is better than none.
	lagsTimeout = 2 * time.Second
)

// Subscriptions tells how far subscriptions are behind, from committed rows and only when somebody asks. Every node says
// the same, so take the largest. While the database cannot be asked there is no series: an old number would look healthy.
type Subscriptions struct {
	read                          func(context.Context, int32) ([]store.SubscriptionLag, error)
	log                           *slog.Logger
	unread, pending, dead, oldest *prometheus.GaugeVec

	mu sync.Mutex
	at time.Time
}

// NewSubscriptions makes the collector; read is asked for the subscriptions that are farthest behind.
func NewSubscriptions(read func(context.Context, int32) ([]store.SubscriptionLag, error), log *slog.Logger) *Subscriptions {
	labels := []string{"namespace", "application", "subscription"}
	return &Subscriptions{
		read: read, log: log,
		unread: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "orbit_subscription_unread_results",
			Help: "Results that a subscription has not looked at, selected or not; of the 200 subscriptions farthest behind. All nodes say the same."}, labels),
		pending: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "orbit_subscription_pending_deliveries",
			Help: "Deliveries of a subscription that are not acknowledged."}, labels),
		dead: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "orbit_subscription_dead_letters",
			Help: "Results of a subscription that used up their generations."}, labels),
		oldest: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "orbit_subscription_oldest_seconds",
			Help: "Age of a subscription's oldest selected result that is not acknowledged; 0 when there is none."}, labels),
	}
}

func (s *Subscriptions) all() []*prometheus.GaugeVec {
	return []*prometheus.GaugeVec{s.unread, s.pending, s.dead, s.oldest}
}

// Describe implements prometheus.Collector.
func (s *Subscriptions) Describe(out chan<- *prometheus.Desc) {
	for _, v := range s.all() {
		v.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (s *Subscriptions) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) >= lagsAge {
		s.refresh()
	}
	for _, v := range s.all() {
		v.Collect(out)
	}
}

func (s *Subscriptions) refresh() {
	ctx, cancel := context.WithTimeout(context.Background(), lagsTimeout)
	defer cancel()
	lags, err := s.read(ctx, lagsMax)
	s.at = time.Now()
	for _, v := range s.all() {
		v.Reset()
	}
	if err != nil {
		s.log.Warn("how far subscriptions are behind cannot be read", "error", err)
		return
	}
	for i := range lags {
		l := &lags[i]
		names := []string{l.Namespace, l.Application, l.Name}
		s.unread.WithLabelValues(names...).Set(float64(l.Unread))
		s.pending.WithLabelValues(names...).Set(float64(l.Pending))
		s.dead.WithLabelValues(names...).Set(float64(l.Dead))
		s.oldest.WithLabelValues(names...).Set(l.Oldest.Seconds())
	}
}
