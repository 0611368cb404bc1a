// Command payment charges cards through a payment service that cannot be asked twice: every request to it charges again.
//
// A worker that dies, or that gets no answer, leaves the question whether the card was charged. Nobody but the service
// knows, so the task says NEEDS_REVIEW and keeps the order's resource key: nothing else charges that order meanwhile. A
// person (or the command review below) looks it up in the books of the service and decides with that as evidence.
//
//	payment work   -url … -key … -service http://127.0.0.1:9000    charge what is queued
//	payment review -url … -key … -service http://127.0.0.1:9000    decide what is in doubt
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/worker"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "payment:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("say work or review")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	url := flags.String("url", os.Getenv("ORBIT_URL"), "address of Orbit")
	key := flags.String("key", os.Getenv("ORBIT_KEY"), "key; work needs worker:claim, review needs tasks:read and tasks:review")
	address := flags.String("service", "http://127.0.0.1:9000", "the payment service")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := orbit.New(*url, *key)
	if err != nil {
		return err
	}
	pay := service{*address}
	switch args[0] {
	case "work":
		w := worker.New(client, worker.Options{Queues: []string{"payments"}, Concurrency: 4, Lease: 2 * time.Second})
		worker.Handle(w, "charge", "1", pay.Charge)
		return w.Run(ctx)
	case "review":
		decided, err := reviewAll(ctx, client, pay)
		fmt.Println(decided)
		return err
	}
	return fmt.Errorf("there is no %s; say work or review", args[0])
}
