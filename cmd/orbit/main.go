// Command orbit is the one binary: nodes, migrations and client commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/orbitrun/orbit/cmd/orbit/internal/cli"
)

// commands are the commands of the root. Each file registers its own, so that
// adding one touches no other file.
var commands []func() *cobra.Command

// register is called from package-level variables: var _ = register(xCommand).
func register(command func() *cobra.Command) struct{} {
	commands = append(commands, command)
	return struct{}{}
}

var _ = register(migrateCommand)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once, unless a command listens itself
	root := rootCommand()
	cli.UserAgent = "orbit/" + build().Version
	err := root.ExecuteContext(ctx)
	if err == nil {
		return
	}
	if text := message(err); text != "" {
		fmt.Fprintln(os.Stderr, "orbit:", text)
	}
	os.Exit(cli.ExitCodeOf(err))
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "orbit", Short: "Durable background work on MySQL", SilenceUsage: true, SilenceErrors: true,
		Args: cobra.NoArgs, // without it an unknown command would print help and succeed
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage("%v\n  see: %s --help", err, cmd.CommandPath())
	})
	for _, command := range commands {
		root.AddCommand(command())
	}
	return root
}

// group makes a command that only holds others.
func group(use, short, long string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(below...)
	return cmd
}

// message is what standard error says of an error. A context that ended says
// what happened instead of how it is called in Go.
func message(err error) string {
	switch {
	case errors.Is(err, context.Canceled) && cli.ExitCodeOf(err) == cli.ExitInterrupted:
		return "interrupted"
	default:
		return err.Error()
	}
}
