package flow

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Problem is one mistake found by the builder. Code is a stable snake_case
// name; where the server has a code for the same mistake it is the same one
// (definition.md §6). Where is the Go-side name ("step \"ask\": input.who"),
// Source the "file.go:line" of the call that made it, empty when unknown.
type Problem struct {
	Code   string
	Where  string
	Detail string
	Source string
}

// String is "file.go:12: step \"ask\": detail (code)".
func (p Problem) String() string {
	var b strings.Builder
	for _, part := range []string{p.Source, p.Where} {
		if part != "" {
			b.WriteString(part + ": ")
		}
	}
	fmt.Fprintf(&b, "%s (%s)", p.Detail, p.Code)
	return b.String()
}

// DefinitionError is what Define returns: every problem of one definition, in
// the order of the document.
type DefinitionError struct {
	Definition string
	Problems   []Problem
}

// Error lists the problems one a line.
func (e *DefinitionError) Error() string {
	lines := []string{fmt.Sprintf("definition %q has %d problem(s)", e.Definition, len(e.Problems))}
	for _, p := range e.Problems {
		lines = append(lines, "  "+p.String())
	}
	return strings.Join(lines, "\n")
}

// Codes are the problem codes in order, for tests and tools.
func (e *DefinitionError) Codes() []string {
	codes := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		codes = append(codes, p.Code)
	}
	return codes
}

// callSite is the first caller outside this package, as "file.go:line": the
// line the author has to change.
func callSite() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, packagePath+".") {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}

const packagePath = "github.com/orbitrun/orbit/sdk/flow"

// nearest is " (did you mean …?)" for the closest known name, or "" when
// nothing is close enough to be a likely typing mistake.
func nearest(name string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := editDistance(name, k); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		if len(known) == 0 {
			return ""
		}
		return "; it has " + strings.Join(known, ", ")
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(previous[j+1]+1, row[j]+1, previous[j]+cost)
		}
	}
	return row[len(b)]
}
