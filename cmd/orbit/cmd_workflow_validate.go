package main

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/cli/docfile"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// verdict is the API's WorkflowValidation, over several files.
type verdict struct {
	Valid    bool              `json:"valid"`
	Findings []docfile.Finding `json:"findings"`
}

func workflowValidate(s *cli.Settings) *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "validate FILE…", Short: "Check definitions without a server", Args: cobra.MinimumNArgs(1),
		Long: `Check definitions without a server, with the validator the server uses.

Only what a file cannot know is left to the server: whether queues exist, and whether a version was published before.
Exit code 1 when there are errors, or with --strict warnings.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			v, text, err := validate(cmd, args, strict)
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
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings are errors")
	return cmd
}

func validate(cmd *cobra.Command, paths []string, strict bool) (verdict, string, error) {
	v := verdict{Findings: []docfile.Finding{}}
	var text strings.Builder
	for _, path := range paths {
		file, err := docfile.Read(path, cmd.InOrStdin())
		if err != nil {
			return v, "", err
		}
		d, found := file.Check(definition.Options{})
		if strict {
			docfile.Strict(found)
		}
		text.WriteString(file.Print(found))
		if docfile.Errors(found) == 0 {
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
