package render

import (
	"bytes"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Printer writes results to standard output.
type Printer struct {
	JSON bool

	out    io.Writer
	colour bool
}

// New makes a printer; asJSON is what --output json asks for.
func New(out io.Writer, asJSON bool) *Printer {
	colour := !asJSON && Terminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return &Printer{JSON: asJSON, out: out, colour: colour}
}

// Terminal reports whether a person looks at w.
func Terminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Body prints JSON exactly as the server wrote it, on one line of its own.
func (p *Printer) Body(body []byte) error {
	_, err := p.out.Write(append(bytes.TrimRight(body, "\n"), '\n'))
	return err
}

// Text prints a result that is neither table nor JSON.
func (p *Printer) Text(text string) error {
	_, err := io.WriteString(p.out, text)
	return err
}

// plain has no frames: it stays readable when piped and copied.
var plain = table.Style{
	Name: "orbit",
	Box:  table.BoxStyle{PaddingRight: "  "},
	Format: table.FormatOptions{
		Header: text.FormatUpper,
	},
}

// Table prints rows below a header. An empty table prints its header only, so
// that "nothing" cannot be taken for "broken".
func (p *Printer) Table(header []string, rows [][]string) error {
	w := table.NewWriter()
	w.SetStyle(plain)
	w.SuppressTrailingSpaces()
	w.AppendHeader(p.row(header))
	for _, row := range rows {
		w.AppendRow(p.row(row))
	}
	return p.Text(w.Render() + "\n")
}

// Field is one line of a record.
type Field struct{ Name, Value string }

// Record prints one object, a field a line. Empty fields are left out.
func (p *Printer) Record(fields ...Field) error {
	w := table.NewWriter()
	w.SetStyle(plain)
	w.SuppressTrailingSpaces()
	for _, f := range fields {
		if f.Value != "" {
			w.AppendRow(p.row([]string{f.Name, f.Value}))
		}
	}
	return p.Text(w.Render() + "\n")
}

func (p *Printer) row(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, cell := range cells {
		row[i] = p.paint(Clean(cell))
	}
	return row
}

// states gives the colours of the words that stand for a state.
var states = map[string]text.Color{
	"SUCCEEDED": text.FgGreen, "ACTIVE": text.FgCyan, "RUNNING": text.FgCyan, "QUEUED": text.FgYellow, "FAILED": text.FgRed,
	"CANCELLED": text.FgHiBlack, "SKIPPED": text.FgHiBlack, "NEEDS_REVIEW": text.FgMagenta, "CANCELLING": text.FgYellow,
	"WAITING": text.FgHiBlack, "FAILED_PERMANENT": text.FgRed, "FAILED_RETRYABLE": text.FgYellow, "UNKNOWN": text.FgMagenta, "DISABLED": text.FgRed,
}

func (p *Printer) paint(cell string) string {
	if colour, ok := states[cell]; ok && p.colour {
		return colour.Sprint(cell)
	}
	return cell
}

// Clean replaces control characters, which a terminal would obey, and the
// invisible ones that make a text look like another. Line ends become blanks.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029':
			return '\uFFFD'
		}
		return r
	}, s)
}
