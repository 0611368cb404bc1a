package execworker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/gen/client"
)

// Reasons why the worker stops a command; they are failure codes too.
const (
	stoppedLost     = "lease_lost"
	stoppedTimeout  = "attempt_timeout"
	stoppedShutdown = "worker_shutdown"
)

// attempt is one task while its command runs.
type attempt struct {
	task  client.ClaimedTask
	begun time.Time     // when the claim was sent: local and no later than the server's start
	limit time.Duration // of the attempt, by the server's clock

	mu        sync.Mutex
	until     time.Time // local time at which the lease is over at the latest
	cancelled bool
	stopped   string
	asked     chan struct{} // closed when a cancel was asked for
	halt      chan struct{} // closed when the command must end
}

func newAttempt(task client.ClaimedTask, begun time.Time, lease time.Duration) *attempt {
	return &attempt{task: task, begun: begun, limit: task.AttemptDeadlineAt.Sub(task.StartedAt), until: begun.Add(lease),
		asked: make(chan struct{}), halt: make(chan struct{})}
}

// cancel asks the command to end; its real outcome decides.
func (a *attempt) cancel() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.cancelled {
		a.cancelled = true
		close(a.asked)
	}
}

// stop makes the command end, and keeps the first reason.
func (a *attempt) stop(reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped == "" {
		a.stopped = reason
		close(a.halt)
	}
}

func (a *attempt) renewed(until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.until = until
}

func (a *attempt) expired(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.After(a.until)
}

// run starts the command and waits for its end. An error means that it never
// began.
func (a *attempt) run(opt Options) (ending, error) {
	output := &bounded{max: exact.PayloadLimits.SizeBytesMax}
	lines := &lastLine{}
	cmd := exec.Command(opt.Command[0], opt.Command[1:]...)
	cmd.Env = a.environment()
	cmd.Stdin = bytes.NewReader(a.task.Input)
	cmd.Stdout = output
	cmd.Stderr = &tee{opt.Log, lines}
	cmd.WaitDelay = max(opt.KillAfter, time.Second) // for what the command left running with its pipes
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return ending{}, err
	}
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { a.supervise(cmd.Process.Pid, opt.KillAfter, done) })
	err := cmd.Wait()
	close(done)
	watch.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped != "" {
		_ = signalGroup(cmd.Process.Pid, syscall.SIGKILL) // what the command left behind
	}
	e := ending{code: cmd.ProcessState.ExitCode(), stdout: output.bytes, overflow: output.overflow, held: errors.Is(err, exec.ErrWaitDelay),
		lastLine: lines.text(), cancelled: a.cancelled, stopped: a.stopped}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = fmt.Sprint(int(status.Signal()))
	}
	return e, nil
}

// supervise passes on what happens while the command runs. A cancel is a wish:
// SIGTERM once. A stop is not: SIGKILL follows.
func (a *attempt) supervise(pid int, killAfter time.Duration, done <-chan struct{}) {
	asked, halt := a.asked, a.halt
	timeout := time.NewTimer(time.Until(a.begun.Add(a.limit)))
	defer timeout.Stop()
	var kill <-chan time.Time
	for {
		select {
		case <-done:
			return
		case <-asked:
			asked = nil
			_ = signalGroup(pid, syscall.SIGTERM)
		case <-timeout.C:
			a.stop(stoppedTimeout)
		case <-halt:
			halt, kill = nil, time.After(killAfter)
			_ = signalGroup(pid, syscall.SIGTERM)
		case <-kill:
			kill = nil
			_ = signalGroup(pid, syscall.SIGKILL)
		}
	}
}

// hidden variables are the worker's own and not the command's business.
var hidden = []string{"ORBIT_KEY=", "ORBIT_DATABASE_URL="}

// environment tells the command about its task.
func (a *attempt) environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, hidden[0]) && !strings.HasPrefix(v, hidden[1]) {
			env = append(env, v)
		}
	}
	t := a.task
	env = append(env, "ORBIT_TASK_ID="+t.TaskId, "ORBIT_ATTEMPT_NO="+render.Int(t.AttemptNo), "ORBIT_QUEUE="+t.Queue,
		"ORBIT_HANDLER="+t.Handler, "ORBIT_HANDLER_VERSION="+t.HandlerVersion, "ORBIT_BUSINESS_KEY="+t.BusinessKey, "ORBIT_RESOURCE_KEY="+t.ResourceKey,
		"ORBIT_ATTEMPTS_USED="+render.Int(t.AttemptsUsed), "ORBIT_MAX_ATTEMPTS="+render.Int(t.MaxAttempts),
		"ORBIT_DEADLINE_AT="+t.DeadlineAt.UTC().Format(time.RFC3339Nano), "ORBIT_ATTEMPT_DEADLINE_AT="+t.AttemptDeadlineAt.UTC().Format(time.RFC3339Nano))
	if t.Traceparent != "" {
		env = append(env, "TRACEPARENT="+t.Traceparent)
	}
	return env
}
