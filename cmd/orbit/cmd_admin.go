package main

import (
	"bytes"
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

var _ = register(adminCommand)

func adminCommand() *cobra.Command {
	s := &cli.Settings{}
	cmd := group("admin", "Applications, quotas, keys and the audit",
		`Applications, quotas, keys and the audit. All but bootstrap go over HTTP and need a key with platform:admin.`,
		adminBootstrap(), adminApplication(s), adminQuota(s), adminRetention(s), adminCredential(s), adminAudit(s))
	// bootstrap works on the database; it must not offer the flags of a node.
	for _, below := range cmd.Commands() {
		if below.Name() != "bootstrap" {
			s.Attach(below)
		}
	}
	return cmd
}

func adminApplication(s *cli.Settings) *cobra.Command {
	return group("application", "Create and list applications", "", applicationCreate(s), applicationList(s))
}

func applicationCreate(s *cli.Settings) *cobra.Command {
	var q quotaFlags
	cmd := &cobra.Command{Use: "create NAME", Short: "Create an application with its quota", Args: cobra.ExactArgs(1)}
	q.attach(cmd, "the server's default")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		b := new(cli.Body).Text("name", args[0])
		if q.any(cmd) {
			if err := q.complete(cmd); err != nil {
				return err
			}
			b.Value("quota", client.QuotaLimits(q))
		}
		body, err := b.Bytes()
		if err != nil {
			return err
		}
		// A name is taken after the first time, so this is not repeated blindly.
		answer, err := on.Once(ctx, func(ctx context.Context) (*http.Response, error) {
			return on.API.CreateApplicationWithBody(ctx, "application/json", bytes.NewReader(body))
		})
		if err != nil {
			return err
		}
		return shown(on, answer, func(a client.Application) []render.Field {
			return []render.Field{{Name: "application", Value: a.ApplicationId}, {Name: "name", Value: a.Name}, {Name: "status", Value: string(a.Status)}, {Name: "created", Value: render.Time(a.CreatedAt)}}
		})
	})
	return cmd
}

func applicationList(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "list", Short: "List the applications of the namespace", Args: cobra.NoArgs}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListApplications(ctx, &client.ListApplicationsParams{Cursor: cursor, Limit: limit})
		}, []string{"application", "name", "status", "created"}, func(a client.Application) []string {
			return []string{a.ApplicationId, a.Name, string(a.Status), render.Time(a.CreatedAt)}
		})
	})
	return cmd
}

func adminAudit(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	var subject string
	list := &cobra.Command{
		Use: "list", Short: "Read the audit in order of time", Args: cobra.NoArgs,
		Example: "  orbit admin audit list --subject cred_1a2b3c4d5e6f7081 --all",
	}
	f.Attach(list)
	list.Flags().StringVar(&subject, "subject", "", "only entries about this object")
	list.RunE = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			params := &client.ListAuditParams{Cursor: cursor, Limit: limit}
			if subject != "" {
				params.Subject = &subject
			}
			return on.API.ListAudit(ctx, params)
		}, []string{"at", "actor", "action", "subject", "reason", "detail"}, func(e client.AuditEntry) []string {
			return []string{render.Time(e.At), e.Actor, e.Action, e.Subject, render.Brief(render.TextOf(e.Reason), 40), render.Brief(string(e.Detail), 60)}
		})
	})
	return group("audit", "Read who did what", "", list)
}
