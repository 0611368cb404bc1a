package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// uncrossed are queries that lock or write and that no fault is put into, each with the reason.
var uncrossed = reasons(map[string][]string{
	"the bootstrap of a namespace, run by hand and run again when it fails": {"InsertNamespace", "InsertNamespaceName", "InsertStream"},
	"one statement, told to nobody, and done again by the next use":         {"UpdateCredentialUsed"},
	"one statement that deletes what is old, done again a minute later":     {"DeleteClaimRecords", "DeleteTxCommands", "DeleteIdleSlots"},
	"a purge page like those that are crossed":                              {"DeleteBulkItems", "DeleteBulkOperation", "UpdateEndedTask"},
	"one statement that puts off what failed, and fails with it":            {"UpdateAdvanceDelayed", "UpdateInboxDelayed", "UpdateSignalDelayed"},
	"no operation disables an application yet":                              {"UpdateApplicationStatus"},
	"starts of workflows and their tasks' results: processes are killed there, statement by statement is open": {
		"InsertInstance", "UpdateInstance", "InsertGate", "LockGatesShared", "UpdateGates", "InsertStep", "InsertInbox"},
})

func reasons(lists map[string][]string) map[string]string {
	out := map[string]string{}
	for reason, names := range lists {
		for _, name := range names {
			out[name] = reason
		}
	}
	return out
}

var queryName = regexp.MustCompile(`(?m)^-- name: (\w+) :\w+\n((?:--.*\n)*)\s*(\w+)`)

// C5: the list of crash points is generated from sql/queries. Every query that locks or writes is one at which some test
// has tried every fault, or it is named above with the reason why not.
func TestEveryWritingQueryIsACrashPoint(t *testing.T) {
	crossed := map[string]bool{}
	files, err := filepath.Glob("../api/*/testdata/sites/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../api/testdata/sites/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Fields(string(text)) {
			crossed[name] = true
		}
	}
	queries, err := filepath.Glob("../sql/queries/*.sql")
	if err != nil || len(queries) == 0 || len(crossed) < 50 {
		t.Fatal(err, len(queries), len(crossed))
	}
	writing, missing := 0, []string{}
	for _, file := range queries {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range queryName.FindAllStringSubmatch(string(text), -1) {
			if strings.EqualFold(m[3], "SELECT") && !strings.HasPrefix(m[1], "Lock") {
				continue
			}
			writing++
			if !crossed[m[1]] && uncrossed[m[1]] == "" {
				missing = append(missing, filepath.Base(file)+" "+m[1])
			}
			if crossed[m[1]] && uncrossed[m[1]] != "" {
				t.Errorf("%s is a crash point after all", m[1])
			}
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("no fault was put into:\n%s", strings.Join(missing, "\n"))
	}
	t.Logf("C5: %d queries lock or write, %d of them are crash points, %d are excused", writing, writing-len(missing)-len(uncrossed), len(uncrossed))
}
