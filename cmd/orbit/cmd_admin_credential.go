package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/gen/client"
)

func adminCredential(s *cli.Settings) *cobra.Command {
	return group("credential", "Create, list, rotate and revoke keys", "", credentialCreate(s), credentialList(s), credentialRotate(s), credentialRevoke(s))
}

// scopeHelp lists the scopes for the help text.
func scopeHelp() string {
	return "Scopes: " + strings.Join(auth.AllScopes, " ") + ". None implies another."
}

func credentialCreate(s *cli.Settings) *cobra.Command {
	var name string
	var scopes []string
	var expires time.Duration
	cmd := &cobra.Command{
		Use: "create APPLICATION --name NAME --scope SCOPE…", Short: "Create a key; its text is shown this once", Args: cobra.ExactArgs(1),
		Long: "Create a key. Its text is shown this once and stored only as a hash.\n\n" + scopeHelp(),
	}
	cmd.Flags().StringVar(&name, "name", "", "name for people (required)")
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what the key may do; several times or separated by commas (required)")
	cmd.Flags().DurationVar(&expires, "expires-in", 0, "ends by itself after this (default: never)")
	_ = cmd.MarkFlagRequired("name")
	_ = cmd.MarkFlagRequired("scope")
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(auth.AllScopes, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		b := new(cli.Body).Text("name", name).Value("scopes", scopes)
		if expires > 0 {
			b.Millis("expires_in_ms", expires)
		}
		body, err := b.Bytes()
		if err != nil {
			return err
		}
		return issue(ctx, on, func(ctx context.Context) (*http.Response, error) {
			return on.API.CreateCredentialWithBody(ctx, args[0], "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

// issue sends a request that makes a key. It is never repeated by itself: a
// lost answer would leave a working key that nobody has.
func issue(ctx context.Context, on *cli.Session, request cli.Request) error {
	answer, err := on.Once(ctx, request)
	if cli.ExitCodeOf(err) == cli.ExitUnavailable || cli.ExitCodeOf(err) == cli.ExitTimedOut {
		fmt.Fprintln(on.Err, "it is not known whether a key was made; look with orbit admin credential list, and revoke one that nobody has")
	}
	if err != nil {
		return err
	}
	return shown(on, answer, func(c client.IssuedCredential) []render.Field {
		return []render.Field{{Name: "key", Value: c.Key}, {Name: "credential", Value: c.CredentialId}, {Name: "application", Value: c.ApplicationId}, {Name: "name", Value: c.Name},
			{Name: "scopes", Value: scopeText(c.Scopes)}, {Name: "expires", Value: render.TimeOf(c.ExpiresAt)}}
	})
}

func scopeText(scopes []client.Scope) string {
	texts := make([]string, len(scopes))
	for i, s := range scopes {
		texts[i] = string(s)
	}
	return strings.Join(texts, " ")
}

func credentialList(s *cli.Settings) *cobra.Command {
	var f cli.ListFlags
	cmd := &cobra.Command{Use: "list APPLICATION", Short: "List the keys of an application, without secrets", Args: cobra.ExactArgs(1)}
	f.Attach(cmd)
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		return cli.List(ctx, on, &f, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
			return on.API.ListCredentials(ctx, args[0], &client.ListCredentialsParams{Cursor: cursor, Limit: limit})
		}, []string{"credential", "name", "created", "last used", "ends", "rotated to", "scopes"}, func(c client.Credential) []string {
			ends := render.TimeOf(c.ExpiresAt)
			if c.RevokedAt != nil {
				ends = "revoked " + render.Time(*c.RevokedAt)
			}
			return []string{c.CredentialId, c.Name, render.Time(c.CreatedAt), render.TimeOf(c.LastUsedAt), ends, render.TextOf(c.RotatedTo), scopeText(c.Scopes)}
		})
	})
	return cmd
}

func credentialRotate(s *cli.Settings) *cobra.Command {
	var overlap, expires time.Duration
	cmd := &cobra.Command{
		Use: "rotate CREDENTIAL", Short: "Make a successor with the same scopes; the old key ends after the overlap", Args: cobra.ExactArgs(1),
	}
	cmd.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "both keys work for so long")
	cmd.Flags().DurationVar(&expires, "expires-in", 0, "the successor ends by itself after this (default: when the old key would have)")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		b := new(cli.Body).Millis("overlap_ms", overlap)
		if expires > 0 {
			b.Millis("expires_in_ms", expires)
		}
		body, err := b.Bytes()
		if err != nil {
			return err
		}
		return issue(ctx, on, func(ctx context.Context) (*http.Response, error) {
			return on.API.RotateCredentialWithBody(ctx, args[0], "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}

func credentialRevoke(s *cli.Settings) *cobra.Command {
	var reason string
	cmd := &cobra.Command{Use: "revoke CREDENTIAL --reason TEXT", Short: "End a key now, on every node within five seconds", Args: cobra.ExactArgs(1)}
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept in the audit (required)")
	_ = cmd.MarkFlagRequired("reason")
	cmd.RunE = s.Online(func(ctx context.Context, on *cli.Session, args []string) error {
		body, err := new(cli.Body).Text("reason", reason).Bytes()
		if err != nil {
			return err
		}
		return showOne(ctx, on, func(c client.Credential) []render.Field {
			return []render.Field{{Name: "credential", Value: c.CredentialId}, {Name: "name", Value: c.Name}, {Name: "revoked", Value: render.TimeOf(c.RevokedAt)}}
		}, func(ctx context.Context) (*http.Response, error) {
			return on.API.RevokeCredentialWithBody(ctx, args[0], "application/json", bytes.NewReader(body))
		})
	})
	return cmd
}
