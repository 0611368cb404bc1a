package docfile

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/orbitrun/orbit/cmd/orbit/internal/render"
)

// Print shows findings with the line they are about, as compilers do.
func (f *File) Print(found []Finding) string {
	lines := strings.Split(string(f.Source), "\n")
	var b strings.Builder
	for _, x := range found {
		fmt.Fprintf(&b, "%s:%d:%d: %s %s", x.File, x.Line, x.Column, strings.ToLower(x.Severity), x.Code)
		if x.Pointer != "" {
			fmt.Fprintf(&b, "  %s", render.Clean(x.Pointer))
		}
		if x.Step != "" {
			fmt.Fprintf(&b, "  step %q", x.Step)
		}
		b.WriteByte('\n')
		if x.Line >= 1 && x.Line <= len(lines) {
			quote(&b, strings.TrimRight(lines[x.Line-1], "\r"), x)
		} else {
			fmt.Fprintf(&b, "      %s\n", render.Clean(x.Detail))
		}
		if x.Hint != "" {
			fmt.Fprintf(&b, "   hint: %s\n", render.Clean(x.Hint))
		}
	}
	return b.String()
}

const quoteMax = 120

// quote prints the line and marks the place. A long line is cut around it.
func quote(b *strings.Builder, line string, x Finding) {
	runes := []rune(line)
	at := min(max(x.Column-1, 0), len(runes))
	width := markWidth(runes[at:])
	if from := at - quoteMax/2; len(runes) > quoteMax && from > 0 {
		runes, at = append([]rune("…"), runes[from:]...), at-from+1
	}
	if len(runes) > quoteMax {
		runes = append(runes[:quoteMax:quoteMax], '…')
		width = min(width, quoteMax-at)
	}
	lead := make([]rune, at)
	for i, r := range runes[:at] {
		lead[i] = ' '
		if r == '\t' {
			lead[i] = '\t' // the mark stays below its text
		}
	}
	text := strings.ReplaceAll(string(runes), "\t", "\x00")
	text = strings.ReplaceAll(render.Clean(strings.ReplaceAll(text, "\x00", "\uE000")), "\uE000", "\t")
	fmt.Fprintf(b, "%5d | %s\n      | %s%s %s\n", x.Line, text, string(lead), strings.Repeat("^", max(width, 1)), render.Clean(x.Detail))
}

// markWidth is the length of the word or path the finding begins at.
func markWidth(rest []rune) int {
	word := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.-[]", r)
	}
	n := 0
	if len(rest) > 0 && rest[0] == '"' {
		for n = 1; n < len(rest) && rest[n] != '"'; n++ {
		}
		return min(n+1, len(rest))
	}
	for n < len(rest) && word(rest[n]) {
		n++
	}
	return n
}

// Summary counts findings in words.
func Summary(found []Finding) string {
	errors := Errors(found)
	return plural(errors, "error") + ", " + plural(len(found)-errors, "warning")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
