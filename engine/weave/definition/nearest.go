package definition

import (
	"sort"
	"strings"
)

// nameBytesCompared bounds the work of one comparison; longer names are no
// slips of the finger.
const nameBytesCompared = 64

// editsMax is how far a name may be from what was meant. Beyond it the two are
// different words, and a wrong guess is worse than none.
const editsMax = 3

// nearest says "did you mean" for a misspelt name: the closest candidate, the
// first in byte order among equals.
func nearest(name string, candidates []string) string {
	if len(name) > nameBytesCompared || len(candidates) > NodesMax {
		return ""
	}
	best, bound := "", min(len(name)/3+1, editsMax)
	sorted := append([]string(nil), candidates...)
	sort.Strings(sorted)
	for _, candidate := range sorted {
		if d := editDistance(strings.ToLower(name), strings.ToLower(candidate), bound); d <= bound {
			best, bound = candidate, d-1
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

// editDistance is Levenshtein's over bytes, as far as bound; beyond it only
// "more than bound" is known. Cells further than bound from the diagonal cannot
// matter, which keeps a comparison linear.
func editDistance(a, b string, bound int) int {
	if len(a)-len(b) > bound || len(b)-len(a) > bound {
		return bound + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-bound), min(len(b), i+bound)
		diagonal := row[from-1]
		row[from-1] = i + bound // outside the band, never the best way
		if from == 1 {
			row[0] = i
		}
		for j := from; j <= to; j++ {
			change := diagonal
			if a[i-1] != b[j-1] {
				change++
			}
			diagonal = row[j]
			above := row[j] + 1
			if j == i+bound {
				above = change + 1 // the row above ended before this cell
			}
			row[j] = min(change, above, row[j-1]+1)
		}
	}
	return row[len(b)]
}
