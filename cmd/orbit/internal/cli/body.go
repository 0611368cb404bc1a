package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/orbitrun/orbit/engine/exact"
)

// Body builds the JSON object of a request. Payloads are spliced in as the
// bytes they are, which encoding/json would not do.
type Body struct {
	out []byte
	err error
}

func (b *Body) name(name string) {
	if len(b.out) == 0 {
		b.out = append(b.out, '{')
	} else {
		b.out = append(b.out, ',')
	}
	b.out = append(appendText(b.out, name), ':')
}

// Text adds a text; an empty one is left out.
func (b *Body) Text(name, text string) *Body {
	if text == "" {
		return b
	}
	if !utf8.ValidString(text) {
		b.err = Usage("%s is not UTF-8", name)
	}
	b.name(name)
	b.out = appendText(b.out, text)
	return b
}

// Int adds a number.
func (b *Body) Int(name string, n int64) *Body {
	b.name(name)
	b.out = strconv.AppendInt(b.out, n, 10)
	return b
}

// Millis adds a duration in whole milliseconds.
func (b *Body) Millis(name string, d time.Duration) *Body {
	if d%time.Millisecond != 0 {
		b.err = Usage("%s is no whole number of milliseconds: %s", strings.TrimSuffix(name, "_ms"), d)
	}
	return b.Int(name, d.Milliseconds())
}

// Flag adds true; false is the default everywhere and left out.
func (b *Body) Flag(name string, on bool) *Body {
	if on {
		b.Raw(name, []byte("true"))
	}
	return b
}

// Raw adds JSON as it is; nothing is left out.
func (b *Body) Raw(name string, raw []byte) *Body {
	if len(raw) > 0 {
		b.name(name)
		b.out = append(b.out, raw...)
	}
	return b
}

// Value adds something that is not user data.
func (b *Body) Value(name string, v any) *Body {
	raw, err := json.Marshal(v)
	if err != nil {
		b.err = err
	}
	return b.Raw(name, raw)
}

// Bytes is the finished object.
func (b *Body) Bytes() ([]byte, error) {
	if len(b.out) == 0 {
		return []byte("{}"), b.err
	}
	return append(b.out, '}'), b.err
}

func appendText(dst []byte, text string) []byte { return exact.String(text).Append(dst) }

// Payload reads a user's JSON: the text itself, @file, or - for standard
// input. It is checked here, where line and column can be shown, and returned
// as it was written.
func Payload(flag, text string, stdin io.Reader) ([]byte, error) {
	source, raw := flag, []byte(text)
	var err error
	switch {
	case text == "-":
		source = "standard input"
		raw, err = io.ReadAll(stdin)
	case strings.HasPrefix(text, "@"):
		source = text[1:]
		raw, err = os.ReadFile(source)
	}
	if err != nil {
		return nil, Usage("%s: %v", flag, err)
	}
	if bad := CheckJSON(source, raw); bad != nil {
		return nil, bad
	}
	return raw, nil
}

// CheckJSON judges a text by the server's own rules for payloads.
func CheckJSON(source string, raw []byte) error {
	_, bad := exact.Parse(raw, exact.PayloadLimits)
	if bad == nil {
		return nil
	}
	line, column := exact.LineColumn(raw, bad.Offset)
	return Usage("%s:%d:%d: %s: %s", source, line, column, bad.Code, bad.Detail)
}

// Key is the given key, or a fresh one that is told on w, so that the same
// command can be repeated safely when no answer comes.
func Key(given string, w io.Writer) string {
	if given != "" {
		return given
	}
	key := "cli-" + uuid.Must(uuid.NewV7()).String()
	fmt.Fprintf(w, "key: %s (repeat with --key to be sure it is done once)\n", key)
	return key
}
