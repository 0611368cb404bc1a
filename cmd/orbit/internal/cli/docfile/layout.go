package docfile

import (
	"bytes"
	"errors"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/orbitrun/orbit/cmd/orbit/internal/yamljson"
	"github.com/orbitrun/orbit/engine/exact"
)

// layoutWidth is where a value no longer fits on one line, in bytes.
const layoutWidth = 100

// Format writes the one layout: two blanks a level, what fits on a line on one
// line. Order, number tokens and YAML comments stay. The result is checked to
// have the digest of the source, because a layout must never change a meaning.
func (f *File) Format() ([]byte, error) {
	if f.broken != nil {
		return nil, errors.New(f.broken[0].String())
	}
	if !f.YAML {
		return f.ToJSON()
	}
	var document yaml.Node
	if err := yaml.Unmarshal(f.Source, &document); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(&document), encoder.Close()); err != nil {
		return nil, err
	}
	text, _, broken := yamljson.Convert(out.Bytes())
	if broken != nil {
		return nil, fmt.Errorf("the new layout would break the document: %s", broken[0])
	}
	return out.Bytes(), f.same(text)
}

// ToJSON is the document as JSON in the one layout.
func (f *File) ToJSON() ([]byte, error) {
	if f.broken != nil {
		return nil, errors.New(f.broken[0].String())
	}
	root, bad := exact.Parse(f.JSON, exact.PayloadLimits)
	if bad != nil {
		line, column := f.Locate(bad.Offset)
		return nil, fmt.Errorf("%d:%d %s: %s", line, column, bad.Code, bad.Detail)
	}
	out := append(layout(nil, root, 0, layoutWidth), '\n')
	return out, f.same(out)
}

// same checks that a text means what the file means.
func (f *File) same(text []byte) error {
	before, bad := exact.Parse(f.JSON, exact.PayloadLimits)
	if bad != nil {
		return bad
	}
	after, bad := exact.Parse(text, exact.PayloadLimits)
	if bad != nil || before.Digest() != after.Digest() {
		return errors.New("the new layout would change the document; please report this")
	}
	return nil
}

// layout appends a value whose first line has room bytes left. The outermost
// value is always broken into lines.
func layout(dst []byte, v exact.Value, level, room int) []byte {
	if level > 0 || v.Len() == 0 {
		if flat := inline(nil, v); len(flat) <= room {
			return append(dst, flat...)
		}
	}
	open, end := byte('['), byte(']')
	if v.Kind() == exact.KindObject {
		open, end = '{', '}'
	}
	if v.Len() == 0 {
		return append(dst, v.String()...) // a scalar longer than the line
	}
	dst = append(dst, open)
	for i, item := range v.Items() {
		dst = next(dst, i, level+1)
		dst = layout(dst, item, level+1, layoutWidth-2*(level+1)-1)
	}
	for i, m := range v.Members() {
		dst = next(dst, i, level+1)
		before := len(dst)
		dst = append(exact.String(m.Name).Append(dst), ": "...)
		dst = layout(dst, m.Value, level+1, layoutWidth-2*(level+1)-(len(dst)-before)-1)
	}
	return append(newLine(dst, level), end)
}

func next(dst []byte, i, level int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return newLine(dst, level)
}

func newLine(dst []byte, level int) []byte {
	dst = append(dst, '\n')
	return append(dst, bytes.Repeat([]byte("  "), level)...)
}

// inline writes a value on one line with blanks after colons and commas.
func inline(dst []byte, v exact.Value) []byte {
	switch v.Kind() {
	case exact.KindArray:
		dst = append(dst, '[')
		for i, item := range v.Items() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = inline(dst, item)
		}
		return append(dst, ']')
	case exact.KindObject:
		dst = append(dst, '{')
		for i, m := range v.Members() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(exact.String(m.Name).Append(dst), ": "...)
			dst = inline(dst, m.Value)
		}
		return append(dst, '}')
	}
	return v.Append(dst)
}
