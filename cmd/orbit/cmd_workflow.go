package main

import (
	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
)

var _ = register(workflowCommand)

func workflowCommand() *cobra.Command {
	s := &cli.Settings{}
	cmd := group("workflow", "Check, draw, publish and read workflow definitions",
		`Check, draw, publish and read workflow definitions.

validate, fmt, schema and graph FILE work without a server, with the server's own validator. A file is JSON or YAML;
- is standard input.`,
		workflowValidate(s), workflowFormat(s), workflowSchema(s), workflowGraph(s),
		workflowPublish(s), workflowList(s), workflowVersions(s), workflowGet(s))
	s.Attach(cmd)
	return cmd
}
