// Package yamljson turns a workflow definition written in YAML into JSON.
//
// YAML is only a way to type: the server stores and judges JSON. The subset is
// YAML 1.2 without anchors, aliases, tags, merge keys and several documents,
// and a plain scalar must be a JSON literal or an unmistakable word. What YAML
// readers disagree about (yes, 0o17, 1_000, an empty value) is refused with
// "quote it", so no value ever changes its type on the way (definition.md §5).
//
// Number tokens are kept as written, and every token remembers the line and
// column it came from, so that a finding about the JSON points into the YAML.
package yamljson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Problem is why a YAML text has no JSON. Codes are those of the definition
// language: text_encoding, text_syntax, yaml_ambiguous_scalar, yaml_unsupported.
type Problem struct {
	Code   string
	Line   int // 1-based
	Column int // 1-based
	Detail string
	Hint   string
}

// Convert returns the JSON text of one YAML document and where its tokens came
// from. With problems there is no JSON.
func Convert(source []byte) ([]byte, *Positions, []Problem) {
	if problem := encoding(source); problem != nil {
		return nil, nil, []Problem{*problem}
	}
	root, problem := parse(source)
	if problem != nil {
		return nil, nil, []Problem{*problem}
	}
	w := &writer{positions: &Positions{}}
	w.value(root)
	if len(w.problems) > 0 {
		return nil, nil, w.problems
	}
	return w.out, w.positions, nil
}

func encoding(source []byte) *Problem {
	switch {
	case bytes.HasPrefix(source, []byte("\xef\xbb\xbf")):
		return &Problem{"text_encoding", 1, 1, "the text begins with a byte order mark", "save it as UTF-8 without one"}
	case !utf8.Valid(source):
		return &Problem{"text_encoding", 1, 1, "the text is not UTF-8", ""}
	case bytes.IndexByte(source, 0) >= 0:
		return &Problem{"text_encoding", 1, 1, "the text contains NUL", ""}
	}
	return nil
}

// parse reads exactly one document.
func parse(source []byte) (*yaml.Node, *Problem) {
	if line := directive(source); line > 0 {
		return nil, &Problem{"yaml_unsupported", line, 1, "directives are not part of the subset", "remove the line; the text is YAML 1.2"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &Problem{"text_syntax", 1, 1, "the text is empty", ""}
		}
		return nil, syntax(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, &Problem{"yaml_unsupported", second.Line, max(second.Column, 1), "a second document begins here", "one file holds one definition"}
	case !errors.Is(err, io.EOF):
		return nil, syntax(err)
	}
	return document.Content[0], nil
}

// directive returns the line of a %YAML or %TAG line before the document.
func directive(source []byte) int {
	for i, line := range strings.Split(string(source), "\n") {
		switch {
		case strings.HasPrefix(line, "%"):
			return i + 1
		case strings.TrimSpace(line) != "" && !strings.HasPrefix(strings.TrimSpace(line), "#"):
			return 0
		}
	}
	return 0
}

var lineOfError = regexp.MustCompile(`line (\d+): `)

func syntax(err error) *Problem {
	detail, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := lineOfError.FindStringSubmatch(detail); m != nil {
		line, _ = strconv.Atoi(m[1])
		detail = strings.Replace(detail, m[0], "", 1)
	}
	return &Problem{"text_syntax", line, 1, detail, ""}
}

// String prints the problem on one line.
func (p Problem) String() string {
	return fmt.Sprintf("%d:%d %s: %s", p.Line, p.Column, p.Code, p.Detail)
}
