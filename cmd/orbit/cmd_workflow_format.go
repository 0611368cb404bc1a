package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
	"github.com/orbitrun/orbit/cmd/orbit/internal/cli/docfile"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

type formatFlags struct {
	write, check bool
	to           string
}

func workflowFormat(s *cli.Settings) *cobra.Command {
	var f formatFlags
	cmd := &cobra.Command{
		Use: "fmt FILE…", Short: "Write definitions in the one layout", Args: cobra.MinimumNArgs(1),
		Long: `Write definitions in the one layout: two blanks a level, what fits on a line on one line.

Order, numbers as written and YAML comments stay; the digest never changes. --to json turns YAML into JSON, as publishing
does. Exit code 1 when --check finds a file in another layout.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.judge(args); err != nil {
				return err
			}
			return f.run(cmd, s, args)
		},
	}
	cmd.Flags().BoolVarP(&f.write, "write", "w", false, "rewrite the files")
	cmd.Flags().BoolVar(&f.check, "check", false, "name the files in another layout and change nothing")
	cmd.Flags().StringVar(&f.to, "to", "", "json: print as JSON whatever the file is")
	cmd.MarkFlagsMutuallyExclusive("write", "check", "to")
	return cmd
}

func (f *formatFlags) judge(args []string) error {
	switch {
	case f.to != "" && f.to != "json":
		return cli.Usage("--to %q: only json", f.to)
	case len(args) > 1 && !f.write && !f.check:
		return cli.Usage("several files need --write or --check")
	}
	return nil
}

func (f *formatFlags) run(cmd *cobra.Command, s *cli.Settings, paths []string) error {
	different := 0
	for _, path := range paths {
		file, err := docfile.Read(path, cmd.InOrStdin())
		if err != nil {
			return err
		}
		text, err := f.text(file)
		if err != nil {
			return cli.Usage("%s: %v", file.Name, err)
		}
		changed := !bytes.Equal(text, file.Source)
		if changed {
			different++
		}
		if err := f.deliver(cmd, s, path, text, changed); err != nil {
			return err
		}
	}
	if f.check && different > 0 {
		return cli.Findings()
	}
	return nil
}

func (f *formatFlags) text(file *docfile.File) ([]byte, error) {
	if f.to == "json" {
		return file.ToJSON()
	}
	return file.Format()
}

func (f *formatFlags) deliver(cmd *cobra.Command, s *cli.Settings, path string, text []byte, changed bool) error {
	switch {
	case f.check && changed:
		return s.Printer(cmd).Text(path + "\n")
	case f.check || f.write && !changed:
		return nil
	case f.write && path != "-":
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: rewritten\n", path)
		return rewrite(path, text)
	}
	return s.Printer(cmd).Text(string(text))
}

// rewrite keeps the file's mode and replaces it in one step, so that a crash
// cannot leave half a definition.
func rewrite(path string, text []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fresh := path + ".orbit-new"
	if err := os.WriteFile(fresh, text, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

func workflowSchema(s *cli.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of definitions, for editors", Args: cobra.NoArgs,
		Long: `Print the JSON Schema of definitions, for editors. It knows the shape only: names, scope and types need "orbit workflow
validate".`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.Printer(cmd).Body(definition.Schema()) },
	}
}
