package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal, and a line for every quarter elsewhere: a log has no use for a bar.
type progress struct {
	mu       sync.Mutex
	to       io.Writer
	bar      *progressbar.ProgressBar
	all, now int
}

func newProgress(to io.Writer, all int) *progress {
	p := &progress{to: to, all: all}
	if file, ok := to.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.bar = progressbar.NewOptions(all, progressbar.OptionSetWriter(to), progressbar.OptionSetDescription("converting"),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth())
	}
	return p
}

func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now++
	if p.bar != nil {
		_ = p.bar.Add(1) // a bar that cannot be drawn is no reason to stop
		return
	}
	if p.now*4/p.all > (p.now-1)*4/p.all {
		fmt.Fprintf(p.to, "file-conversion: %d of %d files\n", p.now, p.all)
	}
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Exit() // as above
	}
}
