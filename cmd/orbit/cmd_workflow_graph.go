package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/cli/docfile"
	"github.com/orbitrun/orbit/engine/weave/definition"
	"github.com/orbitrun/orbit/gen/client"
)

func workflowGraph(s *cli.Settings) *cobra.Command {
	var instance string
	cmd := &cobra.Command{
		Use: "graph FILE | NAME@VERSION | --instance ID", Short: "Draw a definition as a Mermaid flow chart", Args: cobra.MaximumNArgs(1),
		Long: `Draw a definition as a Mermaid flow chart: of a file, without a server; of a published version; or of the version an
instance runs, each step coloured by its state.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case (instance == "") == (len(args) == 0):
				return cli.Usage("name either a file, NAME@VERSION, or --instance")
			case instance != "":
				return s.Online(func(ctx context.Context, on *cli.Session, _ []string) error { return graphInstance(ctx, on, instance) })(cmd, nil)
			}
			if name, version, ok := versionRef(args[0]); ok {
				return s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
					d, err := published(ctx, on, name, version)
					if err != nil {
						return err
					}
					return on.Out.Text(string(definition.Mermaid(d)))
				})(cmd, nil)
			}
			return graphFile(s, cmd, args[0])
		},
	}
	cmd.Flags().StringVar(&instance, "instance", "", "colour the steps of this instance")
	return cmd
}

func graphFile(s *cli.Settings, cmd *cobra.Command, path string) error {
	file, err := docfile.Read(path, cmd.InOrStdin())
	if err != nil {
		return err
	}
	d, found := file.Check(definition.Options{AllowUnsupported: true})
	if d == nil {
		fmt.Fprint(cmd.ErrOrStderr(), file.Print(found))
		return cli.Findings()
	}
	return s.Printer(cmd).Text(string(definition.Mermaid(d)))
}

func graphInstance(ctx context.Context, on *cli.Session, id string) error {
	instance, _, err := cli.Read[client.Instance](ctx, on, func(ctx context.Context) (*http.Response, error) { return on.API.GetInstance(ctx, id) })
	if err != nil {
		return err
	}
	d, err := published(ctx, on, instance.Definition, instance.Version)
	if err != nil {
		return err
	}
	steps, err := cli.Every[client.Step](ctx, on, func(ctx context.Context, cursor *string, limit *int32) (*http.Response, error) {
		return on.API.ListInstanceSteps(ctx, id, &client.ListInstanceStepsParams{Cursor: cursor, Limit: limit})
	})
	if err != nil {
		return err
	}
	return on.Out.Text(string(definition.Mermaid(d)) + colours(steps))
}

// published reads a version and rebuilds it as the engine does, so that a
// document altered on the way is noticed.
func published(ctx context.Context, on *cli.Session, name string, version int32) (*definition.Definition, error) {
	v, _, err := cli.Read[client.WorkflowVersion](ctx, on, func(ctx context.Context) (*http.Response, error) {
		return on.API.GetWorkflowVersion(ctx, name, version)
	})
	if err != nil {
		return nil, err
	}
	var digest [32]byte
	if n, err := hex.Decode(digest[:], []byte(v.Digest)); err != nil || n != len(digest) {
		return nil, &cli.Failure{Code: cli.ExitUnavailable, Text: "the digest of the version cannot be read"}
	}
	return definition.Load(v.Document, digest)
}

// fills are the colours of step states; WAITING keeps the default.
var fills = []struct{ state, style string }{
	{"ACTIVE", "fill:#cfe8ff,stroke:#1769aa"},
	{"SUCCEEDED", "fill:#d3f2d8,stroke:#1b7f37"},
	{"FAILED", "fill:#ffd6d6,stroke:#b3261e"},
	{"NEEDS_REVIEW", "fill:#f3d9ff,stroke:#7a1fa2"},
	{"CANCELLED", "fill:#e6e6e6,stroke:#757575"},
	{"SKIPPED", "fill:#f7f7f7,stroke:#bdbdbd,color:#9e9e9e"},
}

func colours(steps []client.Step) string {
	var b strings.Builder
	for _, f := range fills {
		var ids []string
		for _, step := range steps {
			if string(step.State) == f.state {
				ids = append(ids, definition.MermaidID(step.Name))
			}
		}
		if len(ids) > 0 {
			fmt.Fprintf(&b, "  classDef %s %s\n  class %s %s\n", strings.ToLower(f.state), f.style, strings.Join(ids, ","), strings.ToLower(f.state))
		}
	}
	return b.String()
}
