// Package node assembles one Orbit node: pools, lanes, runner and the HTTP shell over one database. Nodes are equal;
// any number of them share a database, and none of their memory or clocks grants the right to do anything.
package node

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	httpapi "github.com/orbitrun/orbit/gen/http"
	"github.com/orbitrun/orbit/sql/migrate"

	"github.com/orbitrun/orbit/api"
	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/retention"
	"github.com/orbitrun/orbit/api/runner"
	"github.com/orbitrun/orbit/api/telemetry"
	"github.com/orbitrun/orbit/api/tx"
)

// Options of a node. DSN and Listen are required.
type Options struct {
	DSN      string
	Listen   string // address of the API
	Admin    string // address of metrics and profiler; empty: none
	Name     string // names the node in audit records; empty: host name and process id
	Profiler bool
	Writers  int           // connections of the lanes; default 8
	Readers  int           // connections of single-statement reads; default 16
	Notice   time.Duration // how long a stopping node looks unready before it refuses; default none
	Grace    time.Duration // how long open requests may end; default 15 s
	Log      *slog.Logger
	Build    httpapi.Version
	Shift    *tx.Shift // moves the time, and lets the admin address move it (time.go); nil: nobody can
}

// Node is an assembled node whose port is open but not yet served.
type Node struct {
	opt      Options
	writer   *tx.DB
	reader   *sql.DB
	lanes    *lane.Set
	runner   *runner.Runner
	keeper   *retention.Sweeper
	server   *api.Server
	listener net.Listener
	admin    net.Listener
	metrics  *telemetry.Metrics
}

// Open checks the schema, builds the node and opens its ports. A schema the node was not built for is refused with a
// sentence (O15).
func Open(ctx context.Context, opt Options) (*Node, error) {
	opt = opt.withDefaults()
	relaxCollector()
	n := &Node{opt: opt, metrics: telemetry.New(opt.Build.Version, opt.Build.Commit)}
	if err := n.open(ctx); err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

// relaxCollector lets the heap grow to five times what lives: a node's live heap is a few tens of megabytes and its
// garbage short-lived, so the default would collect many times a second. GOGC, when set, wins.
func relaxCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

func (o Options) withDefaults() Options {
	if o.Writers == 0 {
		o.Writers = 8
	}
	if o.Readers == 0 {
		o.Readers = 16
	}
	if o.Grace == 0 {
		o.Grace = 15 * time.Second
	}
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	return o
}

func (n *Node) open(ctx context.Context) (err error) {
	if n.reader, err = tx.OpenShiftedReader(n.opt.DSN, n.opt.Readers, n.opt.Shift); err != nil {
		return err
	}
	if err := migrate.Check(ctx, n.reader); err != nil {
		return err
	}
	if n.writer, err = tx.OpenShifted(n.opt.DSN, n.opt.Writers, n.opt.Shift); err != nil {
		return err
	}
	n.assemble()
	if n.server, err = api.New(n.shell()); err != nil {
		return err
	}
	if n.listener, err = net.Listen("tcp", n.opt.Listen); err != nil {
		return err
	}
	if n.opt.Admin != "" {
		n.admin, err = net.Listen("tcp", n.opt.Admin)
	}
	return err
}

// URL is where the node answers.
func (n *Node) URL() string { return "http://" + n.listener.Addr().String() }

// AdminURL is where its metrics are; empty without an admin port.
func (n *Node) AdminURL() string {
	if n.admin == nil {
		return ""
	}
	return "http://" + n.admin.Addr().String()
}

// Run serves until ctx ends, then drains: long polls return, open requests end, lanes finish what they hold.
func (n *Node) Run(ctx context.Context) error {
	defer n.close()
	scanning, stop := context.WithCancel(context.WithoutCancel(ctx))
	scanned := make(chan struct{})
	go func() {
		defer close(scanned)
		var all sync.WaitGroup
		all.Go(func() { n.runner.Run(scanning) })
		all.Go(func() { n.keeper.Run(scanning) })
		all.Wait()
	}()
	if n.admin != nil {
		admin := n.server.HTTP(n.adminHandler())
		go func() { _ = admin.Serve(n.admin) }()
		defer func() { _ = admin.Close() }()
	}
	err := n.server.Serve(ctx, n.listener, n.opt.Notice, n.opt.Grace)
	stop()
	n.lanes.Close()
	<-scanned
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (n *Node) close() {
	for _, l := range []net.Listener{n.listener, n.admin} {
		if l != nil {
			_ = l.Close()
		}
	}
	if n.writer != nil {
		_ = n.writer.Close()
	}
	if n.reader != nil {
		_ = n.reader.Close()
	}
}

// shell is what the HTTP side is built from.
func (n *Node) shell() api.Options {
	verifier := auth.NewVerifier(n.reader)
	return api.Options{
		Reader: n.reader, Writer: n.writer, Verifier: verifier, Service: auth.NewService(n.writer, n.reader, verifier),
		Queues: api.NewQueues(n.reader), Pulse: api.Lanes{Set: n.lanes},
		Weave: api.Workflows{Set: n.lanes, Writer: n.writer, Reader: n.reader}, Metrics: n.metrics, Log: n.opt.Log, Build: n.opt.Build, QueueChanged: n.lanes.Wake, BulkBegun: n.runner.NoteBulk,
	}
}
