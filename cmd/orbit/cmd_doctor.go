package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/sql/migrate"

	"github.com/orbitrun/orbit/api/doctor"
	"github.com/orbitrun/orbit/api/tx"
)

var _ = register(doctorCommand)

func doctorCommand() *cobra.Command {
	var dsn, output string
	var deep bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the invariants of a database",
		Long: `Check the invariants of a database: the schema, every counter against its rows, work that nothing will wake, keys held
by nobody, gaps in the result stream. It reads only. On a busy system run it twice: a finding that is gone was a row on
the move.

With --deep it also reads everything: the events and attempts of every task, the revisions of every instance, every link
of the stream and the task behind each result. It does so page by page, beside live work.

Exit codes: 0 healthy, 1 findings, 2 trouble.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dsn == "" {
				return errors.New("no database: set ORBIT_DATABASE_URL or --database-url")
			}
			reader, err := tx.OpenReader(dsn, 2)
			if err != nil {
				return err
			}
			defer func() { _ = reader.Close() }()
			if err := migrate.Check(cmd.Context(), reader); err != nil {
				return err
			}
			check, names := doctor.Check, doctor.Names()
			if deep {
				check, names = doctor.CheckDeep, doctor.DeepNames()
			}
			found, err := check(cmd.Context(), reader)
			if err != nil {
				return err
			}
			return printFindings(cmd, found, names, output)
		},
	}
	cmd.Flags().StringVar(&dsn, "database-url", os.Getenv("ORBIT_DATABASE_URL"), "database address (default: ORBIT_DATABASE_URL)")
	cmd.Flags().Lookup("database-url").DefValue = "" // the help text must not print a password
	cmd.Flags().BoolVar(&deep, "deep", false, "read every task, result and instance as well")
	cmd.Flags().StringVar(&output, "output", "table", "table or json")
	return cmd
}

func printFindings(cmd *cobra.Command, found []doctor.Finding, names []string, output string) error {
	if output == "json" {
		if found == nil {
			found = []doctor.Finding{}
		}
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"findings": found, "checks": names}); err != nil {
			return err
		}
	} else {
		t := table.NewWriter()
		t.AppendHeader(table.Row{"check", "findings"})
		count := map[string]int{}
		for _, f := range found {
			count[f.Check]++
		}
		for _, name := range names {
			t.AppendRow(table.Row{name, count[name]})
		}
		fmt.Fprintln(cmd.OutOrStdout(), t.Render())
		for _, f := range found {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: namespace %016x, %s: %s\n", f.Check, f.Namespace, f.Subject, f.Detail)
		}
	}
	if len(found) > 0 {
		return errFindings{}
	}
	return nil
}
