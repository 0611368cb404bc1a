package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/telemetry"
	"github.com/orbitrun/orbit/gen/db"
)

// lag is what a fresh scrape says of one subscription: unread, pending, dead, and whether something is late.
func (n *node) lag(name string) string {
	n.Helper()
	m := telemetry.New("test", "none")
	m.Registry.MustRegister(telemetry.NewSubscriptions(func(ctx context.Context, limit int32) ([]store.SubscriptionLag, error) {
		return store.SubscriptionLags(ctx, db.New(n.db), limit)
	}, n.Server.Log))
	answer := httptest.NewRecorder()
	m.Admin(false).ServeHTTP(answer, httptest.NewRequestWithContext(n.Context(), "GET", "/metrics", nil))
	values := map[string]float64{}
	for line := range strings.Lines(answer.Body.String()) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		metric, labels, ok := strings.Cut(series, "{")
		if !ok || labels != fmt.Sprintf(`application="app",namespace="here",subscription=%q`, name) {
			continue
		}
		var v float64
		_, err := fmt.Sscan(value, &v)
		must(n, err)
		values[strings.TrimPrefix(metric, "orbit_subscription_")] = v
	}
	if len(values) != 4 {
		n.Fatalf("%s has the series %v", name, values)
	}
	return fmt.Sprint(values["unread_results"], values["pending_deliveries"], values["dead_letters"], values["oldest_seconds"] >= 0.05)
}

// What a consumer is behind is counted and timed from rows; results that are not selected make nobody late.
func TestLagIsTheAgeOfWhatIsSelected(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("all", `{"generations_max":1}`)
	n.subscribe("failed", `{"states":["FAILED"]}`)
	n.subscribe("h", `{"handlers":["h"]}`)
	n.expect("nothing yet", n.lag("all"), "0 0 0 false")
	n.finish("work", 3)
	time.Sleep(60 * time.Millisecond)
	n.expect("unread", n.lag("all"), "3 0 0 true")
	n.expect("by handler", n.lag("h"), "3 0 0 true")
	n.expect("nothing failed", n.lag("failed"), "3 0 0 false")
	got := n.pull("all", "a", 0, 2, 0).Items
	n.expect("pending", n.lag("all"), "1 2 0 true")
	n.settle("all", "nacks", `,"delay_ms":0`, got[0])
	n.settle("all", "acks", "", got[1])
	n.expect("a dead letter and one unread", n.lag("all"), "1 0 1 true")
	n.settle("all", "acks", "", n.pull("all", "a", 0, 2, 0).Items...)
	n.expect("done", n.lag("all"), "0 0 1 false")

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.SubscriptionLags(canceled, db.New(n.db), 10); err == nil {
		t.Error("a read that failed has an answer")
	}
}
