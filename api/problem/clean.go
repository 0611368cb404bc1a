package problem

import "strings"

// clean makes foreign text (a path, a repeated field name) fit to stand in JSON: valid UTF-8, no NUL, bounded.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	const bytesMax = 1024
	if len(s) <= bytesMax {
		return s
	}
	return strings.ToValidUTF8(s[:bytesMax], "") + "…"
}
