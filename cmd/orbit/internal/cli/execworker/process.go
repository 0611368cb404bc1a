package execworker

import (
	"bytes"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// ownGroup puts the command into a process group, so that Ctrl-C on the
// worker's terminal does not reach it and a signal reaches all it started.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func signalGroup(pid int, signal syscall.Signal) error { return syscall.Kill(-pid, signal) }

// bounded keeps the beginning of a stream and notices that there was more. The
// command is not stopped by it: it must be able to finish.
type bounded struct {
	max      int
	bytes    []byte
	overflow bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.max - len(b.bytes)
	if len(p) > room {
		b.overflow = true
		b.bytes = append(b.bytes, p[:max(room, 0)]...)
		return len(p), nil
	}
	b.bytes = append(b.bytes, p...)
	return len(p), nil
}

// lastLine keeps the last line that says something.
type lastLine struct{ line, last []byte }

func (l *lastLine) Write(p []byte) (int, error) {
	for _, part := range bytes.SplitAfter(p, []byte("\n")) {
		if room := messageBytesMax*4 - len(l.line); room > 0 {
			l.line = append(l.line, part[:min(len(part), room)]...)
		}
		if bytes.HasSuffix(part, []byte("\n")) {
			l.end()
		}
	}
	return len(p), nil
}

func (l *lastLine) end() {
	if text := bytes.TrimSpace(l.line); len(text) > 0 {
		l.last = bytes.Clone(text)
	}
	l.line = l.line[:0]
}

func (l *lastLine) text() string {
	l.end()
	return string(l.last)
}

// tee writes to the log and to the line keeper. A log that cannot be written
// is no reason to break the command.
type tee struct {
	log  io.Writer
	keep *lastLine
}

func (t *tee) Write(p []byte) (int, error) {
	_, _ = t.log.Write(p)
	return t.keep.Write(p)
}

// Locked makes a writer safe for several commands at once.
type Locked struct {
	mu sync.Mutex
	w  io.Writer
}

// NewLocked wraps w.
func NewLocked(w io.Writer) *Locked { return &Locked{w: w} }

func (l *Locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
