package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/orbitrun/orbit/engine/exact"
)

// Bounds of one batch request, a little below the server's.
const (
	batchItemsMax = 32
	batchBytesMax = 480 << 10
	lineBytesMax  = 400 << 10
)

// Line is one JSON text of an NDJSON stream, with its number.
type Line struct {
	No   int
	Text []byte
	Key  string // value of the member that identifies it
}

// Chunks reads NDJSON and gives away batches that fit one request. The texts
// are checked, because a broken line would spoil the whole request.
func Chunks(in io.Reader, source, key string, give func([]Line) error) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 64<<10), lineBytesMax)
	var chunk []Line
	size := 0
	for no := 1; scanner.Scan(); no++ {
		text := bytes.TrimSpace(scanner.Bytes())
		if len(text) == 0 {
			continue
		}
		line, err := readLine(source, key, no, bytes.Clone(text))
		if err != nil {
			return err
		}
		if len(chunk) == batchItemsMax || size+len(text) > batchBytesMax && len(chunk) > 0 {
			if err := give(chunk); err != nil {
				return err
			}
			chunk, size = nil, 0
		}
		chunk, size = append(chunk, line), size+len(text)+1
	}
	if err := scanner.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return Usage("%s: a line is longer than %d bytes", source, lineBytesMax)
		}
		return Usage("%s: %v", source, err)
	}
	if len(chunk) > 0 {
		return give(chunk)
	}
	return nil
}

func readLine(source, key string, no int, text []byte) (Line, error) {
	limits := exact.PayloadLimits
	limits.SizeBytesMax = lineBytesMax
	limits.DepthMax++ // the payload stands inside the line's object
	v, bad := exact.Parse(text, limits)
	if bad != nil {
		_, column := exact.LineColumn(text, bad.Offset)
		return Line{}, Usage("%s:%d:%d: %s: %s", source, no, column, bad.Code, bad.Detail)
	}
	if v.Kind() != exact.KindObject {
		return Line{}, Usage("%s:%d: a line is one JSON object", source, no)
	}
	name, _ := v.Get(key)
	return Line{no, text, name.Str()}, nil
}

// Items is the body of a batch request, the lines byte for byte.
func Items(lines []Line) []byte {
	out := []byte(`{"items":[`)
	for i, line := range lines {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, line.Text...)
	}
	return append(out, "]}"...)
}
