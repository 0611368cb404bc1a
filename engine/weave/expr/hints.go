package expr

import (
	"slices"
	"strings"
)

// hints answer what people write out of habit from other languages.
var hints = map[string]string{
	"=": "equality is ==", "&": "and is &&", "|": "or is ||", "and": "and is &&", "or": "or is ||", "not": "not is !",
	"/": "there is no division: rounding is a business rule, do it in a handler", "%": "there is no remainder",
	"{": "an object is built by the template, member by member", "}": "one string holds one expression; join texts with concat(…)",
	"$": "inside ${…} a path stands without a mark", "undefined": "missing is tested with has(path)", "None": "write null",
	"True": "write true", "False": "write false", "`": "strings stand in ' or \"", "\r": "blanks are space, tab and line feed",
	"workflow": "the instance's data is under instance and input",
}

// unexpected refuses the token that stands here.
func (p *parser) unexpected(wanted string) {
	t := p.now
	if t.kind == tokenEnd {
		p.refuse(CodeSyntax, t.at, "the expression ends where "+wanted+" is expected", "")
		return
	}
	hint := hints[t.text]
	if t.kind == tokenMark && t.text == "??" {
		hint = "?? stands directly behind a path"
	}
	p.refuse(CodeSyntax, t.at, t.text+" where "+wanted+" is expected", hint)
}

// nearest is the candidate a misspelt name most likely meant, or nothing when
// none is close.
func nearest(name string, candidates []string) string {
	best, limit := "", len(name)/3+1
	for _, candidate := range slices.Sorted(slices.Values(candidates)) {
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d <= limit {
			best, limit = candidate, d-1
		}
	}
	return best
}

// distance counts the single-byte edits between two short names.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
