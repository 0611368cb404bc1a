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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{Use: "orbit", Short: "Durable background work on MySQL", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(migrateCommand())
	if err := root.ExecuteContext(ctx); err != nil {
		if err.Error() != "" {
			fmt.Fprintln(os.Stderr, "orbit:", err)
		}
		os.Exit(exitCode(err))
	}
}

// exitCode is 2 for usage and trouble unless the error says otherwise.
func exitCode(err error) int {
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return 2
}
