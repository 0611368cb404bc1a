package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine"
)

var named = regexp.MustCompile(`(?:engine\.Refuse|[^.]Refuse|problem\.New|[^.\w]New)\("([a-z_]+)"`)

// Every code that the sources name is in the table; else a caller would get "internal" for a plain refusal.
func TestEveryNamedCodeIsListed(t *testing.T) {
	seen := 0
	for _, root := range []string{"../../engine", ".."} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range named.FindAllStringSubmatch(string(text), -1) {
				seen++
				if !Known(m[1]) {
					t.Errorf("%s names %s, which is not in the table", path, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 40 {
		t.Errorf("only %d codes found; the pattern is wrong", seen)
	}
}

func TestTableRowsAreWhole(t *testing.T) {
	for _, code := range Codes() {
		r := table[code]
		if r.status < 400 || r.status > 599 || r.title == "" || strings.HasSuffix(r.title, ".") {
			t.Errorf("%s: %+v", code, r)
		}
		if (r.status == 429 || r.status == 503) && r.retryMS == 0 {
			t.Errorf("%s says come back later and not when", code)
		}
	}
}

// Whatever an error says stays inside.
func TestNothingOfAnErrorLeaves(t *testing.T) {
	for _, err := range []error{
		errors.New("SELECT secret FROM credential"), fmt.Errorf("%w: %s", tx.ErrPoisoned, "SELECT secret"), New("no_such_code", "secret"),
		fmt.Errorf("%w (dial tcp secret-host:3306)", tx.ErrUnavailable), fmt.Errorf("%w (secret)", tx.ErrBusy),
	} {
		w := httptest.NewRecorder()
		FromError(err).Send(w)
		if w.Code < 500 || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
}

func TestRefusalKeepsItsFacts(t *testing.T) {
	r := engine.Refuse("quota_open_tasks", "retry later").At("/queue").Over(10, 11)
	r.Subject = "task_1"
	w := httptest.NewRecorder()
	FromRefusal(r).Send(w)
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if w.Code != 429 || w.Header().Get("Retry-After") != "1" || got["limit"] != 10.0 || got["current"] != 11.0 || got["subject"] != "task_1" ||
		got["type"] != "/problems/quota_open_tasks" || got["errors"].([]any)[0].(map[string]any)["pointer"] != "/queue" {
		t.Errorf("%d %v %v", w.Code, w.Header(), got)
	}
}

// Foreign text inside a problem cannot break its JSON.
func TestHostileTextIsCleaned(t *testing.T) {
	p := FromFaults([]Fault{{Code: "field_unknown", In: "body", Pointer: "/\xff\x00\"<", Detail: strings.Repeat("é", 4000)}})
	p.Instance = "/v1/\xfe"
	var got map[string]any
	if err := json.Unmarshal(p.Append(nil), &got); err != nil {
		t.Fatal(err)
	}
	if len(p.Append(nil)) > 5000 {
		t.Error("a problem grows with what was sent")
	}
}
