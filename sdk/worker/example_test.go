package worker_test

import (
	"context"
	"log"
	"os"
	"os/signal"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/worker"
)

// A whole worker: it greets whoever a task names, and drains on Ctrl-C.
func Example() {
	type hello struct{ Name, Text string }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := orbit.New("http://127.0.0.1:8080", os.Getenv("ORBIT_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	w := worker.New(client, worker.Options{Queues: []string{"hello"}})
	worker.Handle(w, "hello.greet", "1", func(_ context.Context, _ *worker.Task, in hello) (hello, error) {
		return hello{Name: in.Name, Text: "Hello, " + in.Name}, nil
	})
	if err := w.Run(ctx); err != nil {
		log.Print(err)
	}
}
