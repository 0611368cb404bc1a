package definition

import (
	"sort"
	"strings"
)

// nameBytesCompared bounds the work of one comparison; longer names are no
// slips of the finger.
const nameBytesCompared = 64

// nearest says "did you mean" for a misspelt name: the closest candidate
// within a third of its length, so that unrelated names are never proposed.
func nearest(name string, candidates []string) string {
	best, distance := "", len(name)/3+2
	if len(name) > nameBytesCompared || len(candidates) > NodesMax {
		return ""
	}
	sorted := append([]string(nil), candidates...)
	sort.Strings(sorted)
	for _, candidate := range sorted {
		if d := editDistance(strings.ToLower(name), strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

// didYouMean turns the nearest name into a hint, or falls back to the list
// when it is short enough to read.
func didYouMean(name string, candidates []string) string {
	if best := nearest(name, candidates); best != "" {
		return "did you mean \"" + best + "\"?"
	}
	if len(candidates) == 0 || len(candidates) > 16 {
		return ""
	}
	sorted := append([]string(nil), candidates...)
	sort.Strings(sorted)
	return "one of " + strings.Join(sorted, ", ")
}

// editDistance is Levenshtein's over bytes; names of the language are ASCII.
func editDistance(a, b string) int {
	if len(b) > nameBytesCompared {
		return len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			above := row[j]
			change := diagonal
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, above+1, row[j-1]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}
