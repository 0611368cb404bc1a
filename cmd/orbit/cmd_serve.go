package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/orbitrun/orbit/cmd/orbit/internal/node"
)

var _ = register(serveCommand)

// nodeFlags are shared by serve and dev.
type nodeFlags struct {
	listen, admin, name, logFormat, logLevel string
	profiler                                 bool
	writers, readers                         int
	notice, grace                            time.Duration
}

func (f *nodeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:7460", "address of the API; port 0 picks a free one")
	flags.StringVar(&f.admin, "admin", "127.0.0.1:0", "address of metrics and profiler, without keys: keep it on loopback; empty: none")
	flags.StringVar(&f.name, "node", "", "name of the node in audit records (default: host name and process id)")
	flags.BoolVar(&f.profiler, "profiler", false, "serve /debug/pprof on the admin address")
	flags.IntVar(&f.writers, "writers", 8, "database connections of the lanes")
	flags.IntVar(&f.readers, "readers", 16, "database connections of single-statement reads")
	flags.DurationVar(&f.notice, "drain-notice", 0, "how long a stopping node looks unready while it still takes requests")
	flags.DurationVar(&f.grace, "drain-grace", 15*time.Second, "how long open requests of a stopping node may end")
	flags.StringVar(&f.logFormat, "log-format", "auto", "auto, json or text")
	flags.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
}

func (f *nodeFlags) options(dsn string, log *slog.Logger) node.Options {
	return node.Options{
		DSN: dsn, Listen: f.listen, Admin: f.admin, Name: f.name, Profiler: f.profiler, Writers: f.writers, Readers: f.readers,
		Notice: f.notice, Grace: f.grace, Log: log, Build: build(),
	}
}

// logger writes to stderr: stdout holds only results.
func (f *nodeFlags) logger(to io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	switch f.logFormat {
	case "json":
	case "text":
		return slog.New(tint.NewTextHandler(to, &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: true})), nil
	case "auto":
		if term.IsTerminal(int(os.Stderr.Fd())) {
			return slog.New(tint.NewTextHandler(to, &tint.Options{Level: level, TimeFormat: time.TimeOnly})), nil
		}
	default:
		return nil, errors.New("--log-format is auto, json or text")
	}
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level})), nil
}

func serveCommand() *cobra.Command {
	var f nodeFlags
	var dsn string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run one node on an existing database",
		Long: `Run one node on an existing database.

The schema must be the one this binary was built for: run "orbit migrate apply" first. SIGTERM and Ctrl-C drain the node.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dsn == "" {
				return errors.New("no database: set ORBIT_DATABASE_URL or --database-url to user:password@tcp(host:port)/database")
			}
			log, err := f.logger(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			n, err := node.Open(cmd.Context(), f.options(dsn, log))
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n", n.URL())
			log.Info("node ready", "url", n.URL(), "admin", n.AdminURL())
			return n.Run(cmd.Context())
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&dsn, "database-url", os.Getenv("ORBIT_DATABASE_URL"), "database address (default: ORBIT_DATABASE_URL)")
	cmd.Flags().Lookup("database-url").DefValue = "" // the help text must not print a password
	return cmd
}
