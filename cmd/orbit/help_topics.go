package main

import (
	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
)

// Topics of "orbit help TOPIC": commands without a body are listed by cobra
// under "Additional help topics".
var (
	_ = register(exitCodesTopic)
	_ = register(environmentTopic)
)

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: `Exit codes of the client commands:

` + cli.ExitCodes + `

serve, dev, migrate, doctor and bench tell theirs in their own help. A command run by "orbit worker run" has its own
table: orbit worker run --help.`}
}

func environmentTopic() *cobra.Command {
	return &cobra.Command{Use: "environment", Short: "Environment variables and files", Long: `Environment variables:

  ORBIT_URL           address of a node (default ` + cli.DefaultURL + `)
  ORBIT_KEY           key to ask with
  ORBIT_PROFILE       profile of the configuration file
  ORBIT_CONFIG        configuration file
  ORBIT_DATABASE_URL  database of serve, migrate, doctor and admin bootstrap: user:password@tcp(host:port)/database
  TRACEPARENT         W3C trace context, handed on to submitted tasks and started instances
  NO_COLOR            no colours even on a terminal

Files:

  ~/.config/orbit/config.yaml  profiles (orbit profile --help); XDG_CONFIG_HOME is respected

Flags win over the environment, the environment over the profile.`}
}
