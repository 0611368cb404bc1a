package engine

import "time"

// Sooner is the earlier of two times; a zero one is none.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
