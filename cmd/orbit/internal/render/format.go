package render

import (
	"strconv"
	"strings"
	"time"
)

// Time prints a time of the database clock in UTC, to the millisecond.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// TimeOf is Time for one that may be absent.
func TimeOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return Time(*t)
}

// Millis prints milliseconds as people say them: 1h30m, 840ms.
func Millis(ms int64) string {
	text := (time.Duration(ms) * time.Millisecond).String()
	for _, tail := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, tail) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// MillisOf is Millis for a duration that may be absent.
func MillisOf(ms *int64) string {
	if ms == nil {
		return ""
	}
	return Millis(*ms)
}

// Int prints a whole number.
func Int[N int | int32 | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// IntOf is Int for one that may be absent.
func IntOf[N int | int32 | int64](n *N) string {
	if n == nil {
		return ""
	}
	return Int(*n)
}

// TextOf is a text that may be absent.
func TextOf[S ~string](s *S) string {
	if s == nil {
		return ""
	}
	return string(*s)
}

// Yes prints a flag only when it is up.
func Yes(on bool) string {
	if on {
		return "yes"
	}
	return ""
}

// Brief cuts a text for a table cell, on a character.
func Brief(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}
