// Command file-conversion converts a folder of files with a workflow of three durable tasks.
//
//	file-conversion -in DIR -out DIR     with ORBIT_URL and ORBIT_KEY, as `orbit dev` prints them
//
// It starts one instance per file, works on them, waits for all, and checks every produced file against the digest in
// its instance's output. Kill it at any moment and run it again: it goes on where the server knows it to be.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/orbitrun/orbit/examples/file-conversion/samples"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // something is not converted, or not as its instance says
	exitUsage  = 2
)

type options struct {
	in, out, url, key, name, run string
	workers, samples             int
	lease, pace, timeout         time.Duration
	jsonOnly, workerOnly, noWait bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	o, err := parse(arguments, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		fmt.Fprintln(stderr, "file-conversion:", err)
		return exitUsage
	}
	if o.samples > 0 {
		err = samples.Write(o.in, o.samples)
	} else {
		log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		err = o.work(ctx, log, stdout, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "file-conversion:", err)
		return exitFailed
	}
	return exitDone
}

func parse(arguments []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("file-conversion", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.in, "in", "", "`folder` with the files to convert; hidden files are left out")
	f.StringVar(&o.out, "out", "", "`folder` for the results, report.html and report.json")
	f.StringVar(&o.url, "url", os.Getenv("ORBIT_URL"), "`address` of the server (ORBIT_URL)")
	f.StringVar(&o.key, "key", os.Getenv("ORBIT_KEY"), "`key` of an application (ORBIT_KEY)")
	f.StringVar(&o.name, "name", "file_conversion", "`name` of the definition and its queue; one job at a time each")
	f.StringVar(&o.run, "run", "", "`label` of the run: another one converts unchanged files again")
	f.IntVar(&o.workers, "workers", 4, "files worked on at the same time")
	f.DurationVar(&o.lease, "lease", 10*time.Second, "how long a silent worker keeps its tasks")
	f.DurationVar(&o.pace, "pace", 0, "make every task take this much longer, to have time to pull the plug")
	f.DurationVar(&o.timeout, "timeout", 4*time.Minute, "how long to wait for all files")
	f.BoolVar(&o.jsonOnly, "json", false, "print no table, only the last line")
	f.BoolVar(&o.workerOnly, "worker-only", false, "work until interrupted and start nothing")
	f.BoolVar(&o.noWait, "start-only", false, "start the instances and leave the work to others")
	f.IntVar(&o.samples, "samples", 0, "only draw this many sample pictures into the folder -in")
	if err := f.Parse(arguments); err != nil {
		return o, err
	}
	return o, o.check(f.Args())
}

func (o options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.in == "":
		return errors.New("-in is missing")
	case o.samples > 0:
		return nil
	case o.out == "":
		return errors.New("-out is missing")
	case o.url == "" || o.key == "":
		return errors.New("-url and -key, or ORBIT_URL and ORBIT_KEY, are missing: `orbit dev` prints them")
	case o.workers < 1:
		return errors.New("-workers is at least 1")
	case o.workerOnly && o.noWait:
		return errors.New("-worker-only and -start-only exclude each other")
	}
	return nil
}
