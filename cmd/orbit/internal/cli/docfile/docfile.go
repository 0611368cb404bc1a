// Package docfile reads workflow definitions as people keep them: JSON or YAML
// files. It runs the server's own validator (engine/weave/definition) and says
// where in the file each finding stands (definition.md §8).
package docfile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/orbitrun/orbit/cmd/orbit/internal/yamljson"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// File is one definition file.
type File struct {
	Name   string // as given; <stdin> for standard input
	Source []byte
	JSON   []byte // what is sent; nil when the YAML has no JSON
	YAML   bool

	positions *yamljson.Positions
	broken    []yamljson.Problem
}

// sourceBytesMax bounds the file: YAML with comments may be longer than the
// document the server accepts.
const sourceBytesMax = 4 << 20

// Read reads a file, or standard input for "-". A text that is no YAML is
// still a File: Check reports what is wrong with it.
func Read(path string, stdin io.Reader) (*File, error) {
	f := &File{Name: path}
	var err error
	if path == "-" {
		f.Name = "<stdin>"
		f.Source, err = io.ReadAll(io.LimitReader(stdin, sourceBytesMax))
	} else {
		f.Source, err = readFile(path)
	}
	if err != nil {
		return nil, err
	}
	switch ext := filepath.Ext(path); {
	case ext == ".yaml" || ext == ".yml":
		f.YAML = true
	case ext != ".json":
		f.YAML = !bytes.HasPrefix(bytes.TrimLeft(f.Source, " \t\r\n"), []byte("{"))
	}
	if f.YAML {
		f.JSON, f.positions, f.broken = yamljson.Convert(f.Source)
	} else {
		f.JSON = f.Source
	}
	return f, nil
}

func readFile(path string) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, sourceBytesMax))
}

// Finding is one thing to repair, or to think about, with its place in the
// file. As JSON it is the API's WorkflowFinding with the file's name.
type Finding struct {
	File     string `json:"file"`
	Severity string `json:"severity"` // ERROR or WARNING
	Code     string `json:"code"`
	Pointer  string `json:"pointer"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Detail   string `json:"detail"`
	Hint     string `json:"hint,omitempty"`
	Step     string `json:"step,omitempty"`
}

const (
	severityError   = "ERROR"
	severityWarning = "WARNING"
)

// Check judges the file. The definition is nil when there is any error.
func (f *File) Check(opts definition.Options) (*definition.Definition, []Finding) {
	if f.broken != nil {
		var out []Finding
		for _, p := range f.broken {
			out = append(out, Finding{f.Name, severityError, p.Code, "", p.Line, p.Column, p.Detail, p.Hint, ""})
		}
		return nil, out
	}
	d, problems := definition.Check(f.JSON, opts)
	var out []Finding
	for _, p := range problems {
		severity := severityError
		if p.Warning {
			severity = severityWarning
		}
		line, column := f.Locate(p.Position)
		out = append(out, Finding{f.Name, severity, p.Code, p.Pointer, line, column, p.Detail, p.Hint, p.Step})
	}
	return d, out
}

// Locate turns a byte of the JSON into line and column of the file.
func (f *File) Locate(position int) (line, column int) {
	if f.positions != nil {
		return f.positions.Locate(position)
	}
	return exact.LineColumn(f.JSON, position)
}

// Place finds what a JSON pointer points at, or its nearest parent.
func (f *File) Place(pointer string) (line, column int) {
	root, bad := exact.Parse(f.JSON, exact.PayloadLimits)
	if bad != nil {
		return 1, 1
	}
	for {
		if v, ok := root.Find(pointer); ok {
			return f.Locate(v.Offset())
		}
		slash := strings.LastIndexByte(pointer, '/')
		if slash < 0 {
			return 1, 1
		}
		pointer = pointer[:slash]
	}
}

// Errors counts the findings that refuse the document.
func Errors(found []Finding) (errors int) {
	for _, x := range found {
		if x.Severity == severityError {
			errors++
		}
	}
	return errors
}

// Strict turns warnings into errors.
func Strict(found []Finding) {
	for i := range found {
		found[i].Severity = severityError
	}
}
