package render

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress counts long work: a moving line on a terminal, a line every ten
// seconds elsewhere, so that a log shows life and is not flooded.
type Progress struct {
	w     io.Writer
	what  string
	bar   *progressbar.ProgressBar
	begun time.Time
	told  time.Time
	count int64
}

const tellEvery = 10 * time.Second

// NewProgress counts what on w.
func NewProgress(w io.Writer, what string) *Progress {
	now := time.Now()
	p := &Progress{w: w, what: what, begun: now, told: now}
	if Terminal(w) {
		p.bar = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
			progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSpinnerType(14), progressbar.OptionClearOnFinish())
	}
	return p
}

// Add counts n more.
func (p *Progress) Add(n int) {
	p.count += int64(n)
	if p.bar != nil {
		_ = p.bar.Add(n)
		return
	}
	if now := time.Now(); now.Sub(p.told) >= tellEvery {
		p.told = now
		fmt.Fprintf(p.w, "%s: %d, %.0f/s\n", p.what, p.count, p.rate())
	}
}

// Done clears the moving line.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

func (p *Progress) rate() float64 {
	return float64(p.count) / max(time.Since(p.begun).Seconds(), 0.001)
}
