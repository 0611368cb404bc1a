package orbittest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/orbitrun/orbit/orbittest"
	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/stream"
)

// produce makes n results of a queue.
func produce(t *testing.T, s *orbittest.Server, queue string, n int) {
	t.Helper()
	for made := 0; made < n; {
		var some []orbit.Submission
		for i := made; i < min(made+32, n); i++ {
			some = append(some, orbit.Submission{SubmitKey: fmt.Sprint(queue, i), Queue: queue, Handler: "h", HandlerVersion: "1", Input: json.RawMessage(`1`),
				Deadline: time.Hour, AttemptTimeout: time.Minute, Retry: orbit.Once()})
		}
		if _, err := s.Client.SubmitBatch(t.Context(), some); err != nil {
			t.Fatal(err)
		}
		made += len(some)
		for done := 0; done < len(some); {
			tasks, err := s.Client.Claim(t.Context(), orbit.ClaimRequest{Worker: "w", Queues: []string{queue}, Handlers: []orbit.HandlerRef{{Handler: "h", HandlerVersion: "1"}}, MaxTasks: 32, LeaseMS: 60_000, WaitMS: 1000})
			if err != nil {
				t.Fatal(err)
			}
			var reports []orbit.Completion
			for _, c := range tasks {
				reports = append(reports, orbit.Completion{Lease: c.Lease, Outcome: "SUCCEEDED", Output: c.Input})
			}
			if len(reports) == 0 {
				continue
			}
			if _, err := s.Client.Complete(t.Context(), "w", reports, nil); err != nil {
				t.Fatal(err)
			}
			done += len(reports)
		}
	}
}

// The Go consumer takes real results over each transport: its handler refuses some, its server is killed and comes back,
// its process is replaced by another. Every result is handled in order, and nothing is left pending.
func TestTheConsumerLosesNothingOverEachTransport(t *testing.T) {
	const results = 300
	s := orbittest.New(t)
	for name, transport := range map[string]stream.Transport{"http": stream.HTTP, "socket": stream.Socket, "auto": stream.Auto} {
		t.Run(name, func(t *testing.T) {
			s.Queue(name)
			if _, err := s.Client.PutSubscription(t.Context(), name, orbit.SubscriptionSettings{Queues: []string{name}, AckTimeout: time.Second, GenerationsMax: 100}); err != nil {
				t.Fatal(err)
			}
			produce(t, s, name, results)
			var handled []int64
			refused, killed := map[int64]bool{}, false
			consume := func(until int) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				c, err := stream.New(s.Client, name, func(_ context.Context, r stream.Result) error {
					switch {
					case len(handled) > 0 && r.Seq <= handled[len(handled)-1]:
						return nil // a repetition: the effect is there
					case r.Seq%50 == 7 && !refused[r.Seq]:
						refused[r.Seq] = true
						return errors.New("not now")
					}
					handled = append(handled, r.Seq)
					if len(handled) == results/2 && !killed {
						killed = true
						s.Kill()
						s.Start()
					}
					if len(handled) >= until {
						cancel()
					}
					return nil
				}, stream.Options{Transport: transport, PollWait: time.Second, BackoffMin: 10 * time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Run(ctx); err != nil {
					t.Fatal(err)
				}
			}
			consume(results / 3)
			consume(results)
			for i := 1; i < len(handled); i++ {
				if handled[i] != handled[i-1]+1 {
					t.Fatalf("%d was handled after %d", handled[i], handled[i-1])
				}
			}
			sub, err := s.Client.GetSubscription(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if len(handled) != results || len(refused) != results/50 || sub.PendingCount != 0 || sub.SelectedCount != results || sub.DeadCount != 0 {
				t.Errorf("%d handled, %d refused; %+v", len(handled), len(refused), sub)
			}
		})
	}
}

// Two processes with one name: the newer one goes on, and the older one ends with the reason instead of fighting for the
// name.
func TestANameBelongsToTheNewerConsumer(t *testing.T) {
	s := orbittest.New(t)
	s.Queue("q")
	if _, err := s.Client.PutSubscription(t.Context(), "s", orbit.SubscriptionSettings{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	handled := make(chan int64, 100)
	run := func() chan error {
		ended := make(chan error, 1)
		c, err := stream.New(s.Client, "s", func(_ context.Context, r stream.Result) error { handled <- r.Seq; return nil }, stream.Options{Name: "one", Transport: stream.Socket})
		if err != nil {
			t.Fatal(err)
		}
		go func() { ended <- c.Run(ctx) }()
		return ended
	}
	older := run()
	produce(t, s, "q", 1)
	if seq := <-handled; seq != 1 {
		t.Fatalf("%d was handled first", seq)
	}
	newer := run()
	var refusal *orbit.Error
	if err := <-older; !errors.As(err, &refusal) || refusal.Code != "consumer_replaced" {
		t.Errorf("the older consumer ended with %v", err)
	}
	if _, err := s.Client.Submit(t.Context(), orbit.Submission{SubmitKey: "late", Queue: "q", Handler: "h", HandlerVersion: "1", Input: json.RawMessage(`1`), Deadline: 10 * time.Millisecond, AttemptTimeout: time.Millisecond, Retry: orbit.Once()}); err != nil {
		t.Fatal(err)
	}
	for seq := range handled {
		if seq == 2 {
			break
		}
		if seq != 1 { // it may come again: its acknowledgement may have been under way
			t.Fatalf("%d was handled", seq)
		}
	}
	cancel()
	if err := <-newer; err != nil {
		t.Error(err)
	}
}
