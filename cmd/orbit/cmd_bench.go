package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/bench"
)

var _ = register(benchCommand)

func benchCommand() *cobra.Command {
	o := bench.Options{}
	var workloads string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure a running server",
		Long: `Measure a running server with the workloads of package bench. Standard output holds one JSON line a workload; the
table on standard error is for reading. Run it against a server that does nothing else; it creates queues and tasks.

Examples:
  orbit bench -w w2 -n 20000
  orbit bench -w all --database-url "$ORBIT_DATABASE_URL" --server-pid 123 --db-pid 456`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := strings.Split(workloads, ",")
			if workloads == "all" {
				list = bench.Workloads
			}
			o.Version = build().Version
			return benchAll(cmd.Context(), cmd, o, list)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&workloads, "workload", "w", "all", "workloads, separated by commas: "+strings.Join(bench.Workloads, " ")+", or all")
	flags.IntVarP(&o.N, "n", "n", 0, "items (0: the workload's default)")
	flags.IntVar(&o.Conc, "conc", 50, "handlers at once")
	flags.IntVar(&o.Subs, "subs", 32, "submitters at once")
	flags.StringVar(&o.URL, "url", os.Getenv("ORBIT_URL"), "server (default: ORBIT_URL)")
	flags.StringVar(&o.Key, "key", "", "key with every scope (default: ORBIT_KEY)")
	flags.IntVar(&o.ServerPid, "server-pid", 0, "process whose CPU counts as the server's")
	flags.IntVar(&o.DBPid, "db-pid", 0, "process whose CPU counts as the database's")
	flags.StringVar(&o.DSN, "database-url", "", "database whose counters are read (default: ORBIT_DATABASE_URL)")
	flags.StringVar(&o.Settings, "settings", "", "text that the result lines carry")
	flags.DurationVar(&o.Timeout, "timeout", 5*time.Minute, "bound of one workload")
	cmd.PreRun = func(*cobra.Command, []string) {
		for _, v := range []struct {
			to   *string
			name string
		}{{&o.Key, "ORBIT_KEY"}, {&o.DSN, "ORBIT_DATABASE_URL"}, {&o.URL, "ORBIT_URL"}} {
			if *v.to == "" {
				*v.to = os.Getenv(v.name)
			}
		}
	}
	return cmd
}

func benchAll(ctx context.Context, cmd *cobra.Command, o bench.Options, list []string) error {
	var results []bench.Result
	var failed error
	for _, workload := range list {
		one := o
		one.Workload = workload
		result, err := bench.Run(ctx, one)
		results = append(results, result)
		if line := json.NewEncoder(cmd.OutOrStdout()).Encode(result); line != nil {
			return line
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", workload, err)
		}
	}
	fmt.Fprintln(cmd.ErrOrStderr(), benchTable(results))
	return failed
}

func benchTable(results []bench.Result) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"workload", "n", "per second", "CPU ms an item", "rows", "statements", "commits", "ms"})
	for _, r := range results {
		var names []string
		for name := range r.Ms {
			if strings.HasSuffix(name, "p50") || strings.HasSuffix(name, "p99") {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		var ms []string
		for _, name := range names {
			ms = append(ms, fmt.Sprintf("%s %.1f", name, r.Ms[name]))
		}
		t.AppendRow(table.Row{r.Workload, r.N, fmt.Sprintf("%.0f", r.Rate), r.CPUPer, r.PerItem["rows_written"], r.PerItem["statements"],
			r.PerItem["commits"], strings.Join(ms, ", ")})
	}
	return t.Render()
}
