package main

import (
	"bytes"
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

// verdict is the API's WorkflowValidation, over several files.
type verdict struct {
	Valid    bool              `json:"valid"`
	Findings []docfile.Finding `json:"findings"`
}

func workflowValidate(s *cli.Settings) *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use: "validate FILE…", Short: "Check definitions without a server", Args: cobra.MinimumNArgs(1),
		Long: `Check definitions without a server, with the validator the server uses.

What a file cannot know, whether queues exist for instance, only --server can say: the node then checks it too. Exit code 1
when there are errors, or with --strict warnings.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			v, text, err := f.validate(s, cmd, args)
			if err != nil {
				return err
			}
			if err := printVerdict(s, cmd, v, text); err != nil {
				return err
			}
			if !v.Valid {
				return cli.Findings()
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.strict, "strict", false, "warnings are errors")
	cmd.Flags().BoolVar(&f.server, "server", false, "ask the node, too")
	return cmd
}

type validateFlags struct{ strict, server bool }

func (f *validateFlags) validate(s *cli.Settings, cmd *cobra.Command, paths []string) (verdict, string, error) {
	v := verdict{Findings: []docfile.Finding{}}
	var text strings.Builder
	for _, path := range paths {
		file, err := docfile.Read(path, cmd.InOrStdin())
		if err != nil {
			return v, "", err
		}
		d, found := file.Check(definition.Options{})
		if f.server && file.JSON != nil {
			if found, err = f.ask(s, cmd, file, found); err != nil {
				return v, "", err
			}
		}
		if f.strict {
			docfile.Strict(found)
		}
		text.WriteString(file.Print(found))
		if d != nil && docfile.Errors(found) == 0 {
			fmt.Fprintf(&text, "%s: valid: %s version %d, digest %s\n", file.Name, d.Name, d.Version, hex.EncodeToString(d.Digest[:]))
		}
		v.Findings = append(v.Findings, found...)
	}
	v.Valid = docfile.Errors(v.Findings) == 0
	if len(v.Findings) > 0 {
		text.WriteString(docfile.Summary(v.Findings) + "\n")
	}
	return v, text.String(), nil
}

func printVerdict(s *cli.Settings, cmd *cobra.Command, v verdict, text string) error {
	p := s.Printer(cmd)
	if p.JSON {
		return printValue(p, v)
	}
	return p.Text(text)
}

// ask adds what only the node found; what both found keeps its better place
// in the file.
func (f *validateFlags) ask(s *cli.Settings, cmd *cobra.Command, file *docfile.File, found []docfile.Finding) ([]docfile.Finding, error) {
	known := map[[2]string]bool{}
	for _, x := range found {
		known[[2]string{x.Code, x.Pointer}] = true
	}
	body, err := new(cli.Body).Raw("document", file.JSON).Bytes()
	if err != nil {
		return nil, err
	}
	err = s.Online(func(ctx context.Context, on *cli.Session, _ []string) error {
		got, _, err := cli.Read[client.WorkflowValidation](ctx, on, func(ctx context.Context) (*http.Response, error) {
			return on.API.ValidateWorkflowWithBody(ctx, "application/json", bytes.NewReader(body))
		})
		for _, x := range got.Findings {
			if !known[[2]string{x.Code, x.Pointer}] {
				line, column := file.Place(x.Pointer)
				found = append(found, docfile.Finding{File: file.Name, Severity: string(x.Severity), Code: x.Code, Pointer: x.Pointer, Line: line, Column: column, Detail: x.Detail, Hint: x.Hint})
			}
		}
		return err
	})(cmd, nil)
	return found, err
}
