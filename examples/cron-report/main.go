// Command cron-report writes a report every day at six in the morning of Berlin, whatever happens at night.
//
//	cron-report put  -url … -key …                       make the schedule
//	cron-report work -url … -key … -folder /srv/reports   write what is due
//
// A report belongs to the slot it was planned for, not to the moment it is written: the handler asks Orbit which slot its
// task stands for. So a report that is written twice, or late after an outage, is the same file.
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
		fmt.Fprintln(os.Stderr, "cron-report:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("say put or work")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	url := flags.String("url", os.Getenv("ORBIT_URL"), "address of Orbit")
	key := flags.String("key", os.Getenv("ORBIT_KEY"), "key; put needs schedules:manage, work needs worker:claim and tasks:read")
	folder := flags.String("folder", "reports", "where reports go")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := orbit.New(*url, *key)
	if err != nil {
		return err
	}
	switch args[0] {
	case "put":
		return put(ctx, client)
	case "work":
		w := worker.New(client, worker.Options{Queues: []string{"reports"}})
		worker.Handle(w, "daily", "1", reports{client, *folder}.Write)
		return w.Run(ctx)
	}
	return fmt.Errorf("there is no %s; say put or work", args[0])
}

// put makes the schedule. A slot that comes while nothing runs is made up for within a week; writing a report twice is
// safe, so lost work is repeated.
func put(ctx context.Context, client *orbit.Client) error {
	_, err := client.PutSchedule(ctx, "daily-report", orbit.ScheduleSettings{
		Timing: orbit.Cron("0 6 * * *", "Europe/Berlin"), Overlap: orbit.OverlapAllow, Misfire: orbit.MisfireSkip, CatchUpWindow: 7 * 24 * time.Hour,
		Task: orbit.Submission{Queue: "reports", Handler: "daily", HandlerVersion: "1", Input: []byte(`{"of":"sales"}`), Deadline: 14 * 24 * time.Hour,
			AttemptTimeout: time.Minute, Lost: orbit.LostRetry, Retry: orbit.Fixed(5, time.Minute)},
	})
	return err
}
