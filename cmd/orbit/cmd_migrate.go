package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	orbitsql "github.com/orbitrun/orbit/sql"
	"github.com/orbitrun/orbit/sql/migrate"
)

// errFindings ends a command with exit code 1: it worked and found something to
// object to. Trouble in working ends with 2.
type errFindings struct{}

func (errFindings) Error() string { return "" }
func (errFindings) ExitCode() int { return 1 }

// migrateFlags are shared by all `orbit migrate` commands.
type migrateFlags struct {
	url, devURL, dir, output string
}

func migrateCommand() *cobra.Command {
	f := &migrateFlags{}
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Apply, inspect and write schema migrations",
		Long: `Apply, inspect and write schema migrations.

Upgrade order: stop the old nodes, run "orbit migrate apply", start the new nodes.
A node refuses to start on a schema it was not built for.

Exit codes: 0 fine, 1 something was found (pending, drift, lint), 2 usage or trouble.`,
		Args: cobra.NoArgs, // without it an unknown subcommand would print help and succeed
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.url, "database-url", os.Getenv("ORBIT_DATABASE_URL"), "database address (default: ORBIT_DATABASE_URL)")
	flags.StringVar(&f.devURL, "dev-url", "", "server for scratch databases (default: the server of --database-url)")
	flags.StringVar(&f.dir, "dir", "", "folder with schema/ and migrations/ (default: embedded; diff and hash: ./sql)")
	flags.StringVar(&f.output, "output", "table", "output format: table or json")
	flags.Lookup("database-url").DefValue = "" // the help text must not print a password
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error {
		if f.output != "table" && f.output != "json" {
			return fmt.Errorf("--output %q: use table or json", f.output)
		}
		return nil
	}
	cmd.AddCommand(migrateApply(f), migrateStatus(f), migrateDiff(f), migrateHash(f), migrateLint(f), migrateVerify(f))
	return cmd
}

// source is the embedded pair of folders unless --dir names another.
func (f *migrateFlags) source() (*migrate.Source, error) {
	if f.dir != "" {
		return migrate.OnDisk(f.dir)
	}
	return migrate.Embedded(orbitsql.Files)
}

// writable is the pair of folders a developer edits.
func (f *migrateFlags) writable() (*migrate.Source, error) {
	if f.dir == "" {
		return migrate.OnDisk("sql")
	}
	return migrate.OnDisk(f.dir)
}

func (f *migrateFlags) target() (*mysql.Config, error) { return migrate.ParseAddress(f.url) }

func (f *migrateFlags) dev() (*mysql.Config, error) {
	if f.devURL != "" {
		return migrate.ParseAddress(f.devURL)
	}
	return f.target()
}

func migrateApply(f *migrateFlags) *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "apply", Short: "Bring the database to the newest migration; continues an interrupted apply", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, err := f.source()
			if err != nil {
				return err
			}
			target, err := f.target()
			if err != nil {
				return err
			}
			dev, err := f.dev()
			if err != nil {
				return err
			}
			applied, err := source.Apply(cmd.Context(), target, migrate.ApplyOptions{
				LockWait: wait, Scratch: dev, Progress: progressTo(cmd.ErrOrStderr())})
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), map[string]int{"applied": applied}, fmt.Sprintf("%d migrations applied\n", applied))
		},
	}
	cmd.Flags().DurationVar(&wait, "lock-wait", 10*time.Second, "how long to wait for another apply")
	return cmd
}

// progressTo prints one line per file and one per statement.
func progressTo(w io.Writer) func(migrate.Progress) {
	return func(p migrate.Progress) {
		switch {
		case p.Statement == "" && p.Resumed:
			fmt.Fprintf(w, "%s: continuing after statement %d of %d\n", p.File, p.Number, p.Total)
		case p.Statement == "":
			fmt.Fprintf(w, "%s: %d statements\n", p.File, p.Total)
		default:
			first, _, _ := strings.Cut(p.Statement, "\n")
			fmt.Fprintf(w, "  %d/%d %s\n", p.Number, p.Total, first)
		}
	}
}

func migrateStatus(f *migrateFlags) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "List the migrations of the database", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, err := f.source()
			if err != nil {
				return err
			}
			target, err := f.target()
			if err != nil {
				return err
			}
			rows, err := source.Status(cmd.Context(), target)
			if err != nil {
				return err
			}
			if err := f.print(cmd.OutOrStdout(), rows, statusTable(rows)); err != nil {
				return err
			}
			for _, r := range rows {
				if r.State != migrate.StateApplied {
					return errFindings{}
				}
			}
			return nil
		},
	}
}

func statusTable(rows []migrate.FileStatus) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "VERSION\tDESCRIPTION\tSTATE\tSTATEMENTS\tEXECUTED AT\tERROR")
	for _, r := range rows {
		at := "-"
		if r.ExecutedAt != nil {
			at = r.ExecutedAt.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d/%d\t%s\t%s\n", r.Version, r.Description, r.State, r.Applied, r.Total, at, r.Error)
	}
	_ = w.Flush() // a strings.Builder never fails
	return b.String()
}

func migrateDiff(f *migrateFlags) *cobra.Command {
	return &cobra.Command{
		Use: "diff NAME", Short: "Write the migration that leads to sql/schema", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := f.writable()
			if err != nil {
				return err
			}
			dev, err := f.dev()
			if err != nil {
				return err
			}
			planned, err := source.Diff(cmd.Context(), dev, args[0])
			if errors.Is(err, migrate.ErrNoChange) {
				return f.print(cmd.OutOrStdout(), map[string]any{"file": nil, "statements": []string{}}, migrate.ErrNoChange.Error()+"\n")
			}
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), map[string]any{"file": planned.File, "statements": planned.Statements},
				fmt.Sprintf("%s: %d statements; read it before you commit it\n", planned.File, len(planned.Statements)))
		},
	}
}

func migrateHash(f *migrateFlags) *cobra.Command {
	return &cobra.Command{
		Use: "hash", Short: "Seal sql/migrations again after a file was added or written by hand", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, err := f.writable()
			if err != nil {
				return err
			}
			if err := source.Hash(); err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), map[string]bool{"sealed": true}, "atlas.sum written\n")
		},
	}
}

func migrateLint(f *migrateFlags) *cobra.Command {
	var latest int
	cmd := &cobra.Command{
		Use: "lint", Short: "Object to dangerous statements in migrations", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, err := f.source()
			if err != nil {
				return err
			}
			dev, err := f.dev()
			if err != nil {
				return err
			}
			found, err := source.Lint(cmd.Context(), dev, latest)
			if err != nil {
				return err
			}
			return f.findings(cmd.OutOrStdout(), found)
		},
	}
	cmd.Flags().IntVar(&latest, "latest", 0, "lint only the newest N files; 0 lints all")
	return cmd
}

func migrateVerify(f *migrateFlags) *cobra.Command {
	var filesOnly bool
	cmd := &cobra.Command{
		Use: "verify", Short: "Compare schema, migrations, inventory and the database with each other", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source, err := f.source()
			if err != nil {
				return err
			}
			dev, err := f.dev()
			if err != nil {
				return err
			}
			var target *mysql.Config
			if !filesOnly {
				if target, err = f.target(); err != nil {
					return err
				}
			}
			found, err := source.Verify(cmd.Context(), dev, target)
			if err != nil {
				return err
			}
			return f.findings(cmd.OutOrStdout(), found)
		},
	}
	cmd.Flags().BoolVar(&filesOnly, "files-only", false, "do not look at the database, only at the files")
	return cmd
}

// findings prints what was found and ends with exit code 1 unless it is nothing.
func (f *migrateFlags) findings(w io.Writer, found []migrate.Finding) error {
	var b strings.Builder
	for _, x := range found {
		place := ""
		if x.File != "" {
			place = fmt.Sprintf("%s:%d: ", x.File, x.Line)
		}
		fmt.Fprintf(&b, "%s%s: %s\n", place, x.Code, x.Text)
	}
	fmt.Fprintf(&b, "%d findings\n", len(found))
	if found == nil {
		found = []migrate.Finding{}
	}
	if err := f.print(w, found, b.String()); err != nil {
		return err
	}
	if len(found) > 0 {
		return errFindings{}
	}
	return nil
}

// print writes value as JSON or table as it is.
func (f *migrateFlags) print(w io.Writer, value any, table string) error {
	if f.output == "json" {
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		return out.Encode(value)
	}
	_, err := io.WriteString(w, table)
	return err
}
