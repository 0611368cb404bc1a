package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

var _ = register(whoamiCommand)

func whoamiCommand() *cobra.Command {
	s := &cli.Settings{}
	cmd := &cobra.Command{
		Use: "whoami", Short: "Show who the key is and what it may do", Args: cobra.NoArgs,
		RunE: s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
			return showOne(ctx, on, func(w client.Whoami) []render.Field {
				return []render.Field{{Name: "namespace", Value: w.Namespace + "  " + w.NamespaceId}, {Name: "application", Value: w.Application + "  " + w.ApplicationId},
					{Name: "key", Value: w.Credential + "  " + w.CredentialId}, {Name: "expires", Value: render.TimeOf(w.ExpiresAt)}, {Name: "scopes", Value: scopeText(w.Scopes)}}
			}, func(ctx context.Context) (*http.Response, error) { return on.API.Whoami(ctx) })
		}),
	}
	s.Attach(cmd)
	return cmd
}
