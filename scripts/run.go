package scripts

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Run executes db.sh with args and returns its trimmed standard output: the DSN for `up`.
//
// The script is the only place that knows how a server is found, started and stopped; Go callers drive it. env
// holds additional NAME=value entries; they win over the process's own. What the script says goes to log. A done
// context ends the script, never a server it has already started: the caller decides about that one.
func Run(ctx context.Context, env []string, log io.Writer, args ...string) (string, error) {
	var said bytes.Buffer
	var answer bytes.Buffer
	command := exec.CommandContext(ctx, "bash", append([]string{"-s", "--"}, args...)...)
	command.Stdin = strings.NewReader(Database)
	command.Env = append(os.Environ(), env...)
	command.Stdout = &answer
	command.Stderr = &said
	if log != nil {
		command.Stderr = io.MultiWriter(&said, log)
	}
	// The terminal's Ctrl-C is for the caller, who then cancels ctx.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = 5 * time.Second
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", fmt.Errorf("database script %s: %w: %s", strings.Join(args, " "), err, lastLines(said.String(), 5))
	}
	return strings.TrimSpace(answer.String()), nil
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > count {
		lines = lines[len(lines)-count:]
	}
	return strings.Join(lines, "\n")
}
