package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/orbittest"
	orbit "github.com/orbitrun/orbit/sdk"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// books is a payment service as they are: it charges with every request it takes, and goes on when nobody listens any more.
type books struct {
	mu      sync.Mutex
	charges map[string][]string
	under   map[string]int
	seen    map[string]int
}

func (b *books) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		order := filepath.Base(r.URL.Path)
		b.mu.Lock()
		defer b.mu.Unlock()
		_ = json.NewEncoder(w).Encode(Charges{order, b.charges[order], b.under[order] == 0})
		return
	}
	var p Payment
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
		http.Error(w, "", http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	b.seen[p.Order]++
	first := b.seen[p.Order] == 1
	b.under[p.Order]++
	b.mu.Unlock()
	defer func() { b.mu.Lock(); b.under[p.Order]--; b.mu.Unlock() }()
	switch {
	case p.Cents%10 == 3 && first: // closed: nothing happened, and it says so
		http.Error(w, "", http.StatusServiceUnavailable)
		return
	case p.Cents%10 == 4:
		http.Error(w, "", http.StatusPaymentRequired)
		return
	}
	time.Sleep(150 * time.Millisecond) // a worker may die in here; the charge happens all the same
	charge := fmt.Sprintf("ch-%s-%d", p.Order, b.seen[p.Order])
	b.mu.Lock()
	b.charges[p.Order] = append(b.charges[p.Order], charge)
	b.mu.Unlock()
	if p.Cents%10 == 7 { // charged, and the answer is lost
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(Charged{charge})
}

// Sixty payments through workers that are killed and a service that is unreliable in every way: see the README.
func TestNoOrderIsChargedTwice(t *testing.T) {
	const payments, kills = 60, 6
	s := orbittest.New(t)
	s.Queue("payments")
	b := &books{charges: map[string][]string{}, under: map[string]int{}, seen: map[string]int{}}
	shop := httptest.NewServer(http.HandlerFunc(b.serve))
	defer shop.Close()
	binary := filepath.Join(t.TempDir(), "payment")
	if said, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	hire := func() *exec.Cmd {
		cmd := exec.Command(binary, "work", "-url", s.URL, "-key", s.Key, "-service", shop.URL)
		must(t, cmd.Start())
		return cmd
	}
	for n := range payments {
		p, err := Payment{fmt.Sprintf("%03d", n), int64(n)}.Submission()
		must(t, err)
		_, err = s.Client.Submit(t.Context(), p)
		must(t, err)
	}
	w := hire()
	defer func() { _ = w.Process.Kill(); _ = w.Wait() }()
	for range kills {
		time.Sleep(400 * time.Millisecond) // long enough for charges to be under way
		_ = w.Process.Kill()
		_ = w.Wait()
		w = hire()
	}
	var d decisions
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		some, err := reviewAll(t.Context(), s.Client, service{shop.URL})
		must(t, err)
		d.Charged, d.NotCharged = d.Charged+some.Charged, d.NotCharged+some.NotCharged
		q, err := s.Client.GetQueue(t.Context(), "payments")
		must(t, err)
		if q.OpenTasks == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still open: %+v", q)
		}
	}
	twice, succeeded, failed := 0, 0, 0
	for task, err := range s.Client.ListTasks(t.Context(), orbit.TaskFilter{Queue: "payments"}) {
		must(t, err)
		n := len(b.charges[task.BusinessKey])
		if n > 1 {
			twice++
		}
		switch {
		case task.State == orbit.TaskSucceeded && n == 1:
			succeeded++
		case task.State == orbit.TaskFailed && n == 0:
			failed++
		default:
			t.Errorf("order %s is %s with %d charges", task.BusinessKey, task.State, n)
		}
	}
	if twice > 0 || succeeded+failed != payments || d.Charged == 0 {
		t.Errorf("%d charged twice, %d succeeded, %d failed, %+v decided", twice, succeeded, failed, d)
	}
	t.Logf("%d payments, %d workers killed: charged twice 0, %d succeeded with one charge, %d failed with none; in doubt and found charged %d, found not charged %d", payments, kills, succeeded, failed, d.Charged, d.NotCharged)
}
