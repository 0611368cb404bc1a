package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	orbitsql "github.com/orbitrun/orbit/sql"
	"github.com/orbitrun/orbit/sql/migrate"
)

type bootstrapFlags struct {
	database, namespace, application, name string
	scopes                                 []string
}

// bootstrapped is the result as JSON.
type bootstrapped struct {
	Key           string   `json:"key"`
	CredentialID  string   `json:"credential_id"`
	ApplicationID string   `json:"application_id"`
	NamespaceID   string   `json:"namespace_id"`
	Scopes        []string `json:"scopes"`
}

func adminBootstrap() *cobra.Command {
	var f bootstrapFlags
	s := &cli.Settings{}
	cmd := &cobra.Command{
		Use: "bootstrap", Short: "Make a namespace, an application and a key, directly on the database", Args: cobra.NoArgs,
		Long: `Make a namespace, an application and a key, directly on the database: for the first key of an installation, and for whoever
lost the last one. Namespace and application are made only when they are missing; each run issues a new key and shows it
once. Everything is in the audit.

` + scopeHelp(),
		Example: `  export ORBIT_DATABASE_URL='orbit:secret@tcp(db:3306)/orbit'
  orbit migrate apply
  export ORBIT_KEY=$(orbit admin bootstrap --namespace production --application ops --output json | jq -r .key)`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := f.run(cmd.Context())
			if err != nil {
				return err
			}
			return printValue(s.Printer(cmd), out, render.Field{Name: "key", Value: out.Key}, render.Field{Name: "credential", Value: out.CredentialID},
				render.Field{Name: "application", Value: out.ApplicationID}, render.Field{Name: "namespace", Value: out.NamespaceID}, render.Field{Name: "scopes", Value: strings.Join(out.Scopes, " ")})
		},
	}
	s.AttachOutput(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.database, "database-url", "", "database address (default: ORBIT_DATABASE_URL)")
	flags.StringVar(&f.namespace, "namespace", "default", "namespace")
	flags.StringVar(&f.application, "application", "admin", "application the key belongs to")
	flags.StringVar(&f.name, "name", "bootstrap", "name of the key")
	flags.StringSliceVar(&f.scopes, "scope", auth.AllScopes, "what the key may do (default: everything)")
	flags.Lookup("scope").DefValue = "[]" // the list stands above
	return cmd
}

func (f *bootstrapFlags) run(ctx context.Context) (bootstrapped, error) {
	if f.database == "" {
		f.database = os.Getenv("ORBIT_DATABASE_URL")
	}
	if f.database == "" {
		return bootstrapped{}, cli.Usage("set ORBIT_DATABASE_URL to user:password@tcp(host:port)/database")
	}
	reader, err := tx.OpenReader(f.database, 2)
	if err != nil {
		return bootstrapped{}, cli.Usage("%v", err)
	}
	defer func() { _ = reader.Close() }()
	source, err := migrate.Embedded(orbitsql.Files)
	if err != nil {
		return bootstrapped{}, err
	}
	if err := reader.PingContext(ctx); err != nil {
		return bootstrapped{}, &cli.Failure{Code: cli.ExitUnavailable, Text: "the database does not answer: " + err.Error()}
	}
	if err := source.Check(ctx, reader); err != nil {
		return bootstrapped{}, &cli.Failure{Code: cli.ExitRefused, Text: err.Error()}
	}
	writer, err := tx.Open(f.database, 2)
	if err != nil {
		return bootstrapped{}, err
	}
	defer func() { _ = writer.Close() }()
	issued, err := auth.NewService(writer, reader, auth.NewVerifier(reader)).Bootstrap(ctx, f.namespace, f.application, f.name, f.scopes)
	if err != nil {
		return bootstrapped{}, databaseRefusal(err)
	}
	return bootstrapped{issued.Key.Text(), auth.CredentialText(issued.ID), auth.ApplicationText(issued.Application),
		auth.NamespaceText(issued.Key.Namespace), strings.Fields(issued.Scopes)}, nil
}

// databaseRefusal gives an error of the database layer the exit code its
// problem would have over HTTP.
func databaseRefusal(err error) error {
	p := problem.FromError(err)
	code := cli.ExitRefused
	if p.Status() >= 500 {
		code = cli.ExitUnavailable
	}
	return &cli.Failure{Code: code, Text: p.Error() + ": " + err.Error()}
}
