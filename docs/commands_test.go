package docs_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	makeTarget = regexp.MustCompile(`(?m)^([a-z-]+):.*## `)
	namedMake  = regexp.MustCompile(`\bmake ([a-z-]+)`)
	// A command as a reader would type it, up to the first word that is a value.
	namedOrbit = regexp.MustCompile(`(?m)(?:^|[ (/` + "`" + `"'])orbit((?: +[a-z][a-z-]*)+)((?: +--?[a-z][a-zA-Z0-9-]*(?:[= ][^ \n]+)?)*)`)
	namedFlag  = regexp.MustCompile(`(?:^|\s)(--[a-z][a-z-]*)`)
)

// code is what a document shows as code: fenced blocks and spans. Prose may say "make sure".
func code(text string) string {
	fences := codeFence.FindAllString(text, -1)
	spans := codeSpan.FindAllString(codeFence.ReplaceAllString(text, ""), -1)
	return strings.Join(append(fences, spans...), "\n")
}

func TestMakeTargetsExist(t *testing.T) {
	targets := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(read(t, root(t, "Makefile")), -1) {
		targets[m[1]] = true
	}
	seen := 0
	for _, path := range documents(t) {
		for _, m := range namedMake.FindAllStringSubmatch(code(read(t, path)), -1) {
			seen++
			if !targets[m[1]] {
				t.Errorf("%s: there is no target `make %s`", path, m[1])
			}
		}
	}
	if seen == 0 {
		t.Fatal("no target was found: the pattern is broken")
	}
}

// TestCommandsExist asks the binary itself for the help of every command the documents name, and looks for the flags
// they use there.
func TestCommandsExist(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "orbit")
	build := exec.Command("go", "build", "-o", binary, "./cmd/orbit")
	build.Dir = root(t, "")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	checked := map[string]string{}
	for _, path := range documents(t) {
		for _, m := range namedOrbit.FindAllStringSubmatch(code(read(t, path)), -1) {
			words := strings.Fields(m[1])
			help := helpOf(binary, words, checked)
			if help == "" {
				t.Errorf("%s: there is no command `orbit %s`", path, strings.Join(words, " "))
				continue
			}
			for _, f := range namedFlag.FindAllStringSubmatch(m[2], -1) {
				if !strings.Contains(help, f[1]) {
					t.Errorf("%s: `orbit %s` has no flag %s", path, strings.Join(words, " "), f[1])
				}
			}
		}
	}
	if len(checked) == 0 {
		t.Fatal("no command was found: the pattern is broken")
	}
}

// helpOf is the help of the command words name, or nothing. Words behind a command that takes arguments are arguments:
// the longest prefix that is a command counts, if its usage line shows that it takes any.
func helpOf(binary string, words []string, checked map[string]string) string {
	for n := len(words); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		help, ok := checked[name]
		if !ok {
			out, _ := exec.Command(binary, append(slices.Clone(words[:n]), "--help")...).CombinedOutput()
			help = string(out)
			checked[name] = help
		}
		usage := regexp.MustCompile(`(?m)^ +orbit ` + regexp.QuoteMeta(name) + `( .*)?$`).FindString(help)
		if usage != "" && (n == len(words) || takesArguments(usage, name)) {
			return help
		}
	}
	return ""
}

func takesArguments(usage, name string) bool {
	rest := strings.TrimPrefix(strings.TrimSpace(usage), "orbit "+name)
	rest = strings.NewReplacer("[flags]", "", "[command]", "").Replace(rest)
	return strings.TrimSpace(rest) != ""
}

var localAddress = regexp.MustCompile(`http://127\.0\.0\.1:(\d+)`)

// TestAddressIsTheDefault compares every address a document shows with the one a node listens on.
func TestAddressIsTheDefault(t *testing.T) {
	want := localAddress.FindString(read(t, root(t, "api/openapi.yaml")))
	if want == "" || !strings.Contains(read(t, root(t, "cmd/orbit/cmd_serve.go")), strings.TrimPrefix(want, "http://")) {
		t.Fatalf("the description's server %q is not the default of orbit serve", want)
	}
	for _, path := range documents(t) {
		for _, shown := range localAddress.FindAllString(read(t, path), -1) {
			if shown != want {
				t.Errorf("%s: shows %s, a node listens on %s", path, shown, want)
			}
		}
	}
}
