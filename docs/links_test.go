package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	codeFence = regexp.MustCompile("(?ms)^```.*?^```")
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	anchor    = regexp.MustCompile(`<a id="([^"]+)">`)
)

// TestLinksResolve follows every relative link, its anchor included. Links to other hosts are not followed: a test
// needs no network.
func TestLinksResolve(t *testing.T) {
	seen := 0
	for _, path := range documents(t) {
		text := codeSpan.ReplaceAllString(codeFence.ReplaceAllString(read(t, path), ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			seen++
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: link to %s: %v", path, m[1], err)
				continue
			}
			if fragment != "" && !anchors(read(t, file))[fragment] {
				t.Errorf("%s: link to %s: no such heading", path, m[1])
			}
		}
	}
	if seen == 0 {
		t.Fatal("no link was found: the pattern is broken")
	}
}

// anchors are the names a rendered document can be entered at.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range anchor.FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	for _, m := range heading.FindAllStringSubmatch(codeFence.ReplaceAllString(text, ""), -1) {
		out[slug(m[1])] = true
	}
	return out
}

// slug is how code hosts name a heading: lower case, blanks become hyphens, other punctuation falls away.
func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// TestEveryChapterIsListed: a chapter nobody links to is not found.
func TestEveryChapterIsListed(t *testing.T) {
	for index, folder := range map[string]string{"docs/00-start.md": "docs", "docs/adr/README.md": "docs/adr"} {
		text := read(t, root(t, index))
		files, err := filepath.Glob(root(t, folder) + "/[0-9]*.md")
		if err != nil || len(files) == 0 {
			t.Fatal("no chapters found", err)
		}
		for _, file := range files {
			if name := filepath.Base(file); !strings.Contains(text, "]("+name+")") && name != filepath.Base(index) {
				t.Errorf("%s does not list %s", index, name)
			}
		}
	}
}
