package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/doctor"
	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/engine/pulse"
	"github.com/orbitrun/orbit/engine/weave"
	"github.com/orbitrun/orbit/engine/weave/definition"
)

// printers by the name a document uses.
var printers = map[string]func(*testing.T) string{
	"task_machine":     taskMachine,
	"instance_machine": instanceMachine,
	"step_machine":     stepMachine,
	"limits":           limits,
	"problems":         problems,
	"operations":       operations,
	"definition_codes": definitionCodes,
	"scopes":           scopes,
	"metrics":          metrics,
	"doctor_checks":    doctorChecks,
	"runnable_kinds":   runnableKinds,
}

// machine prints state × event → next. States come in the order given; a state the order forgets is an error, so a new
// one cannot be left out of the documents.
func machine[S, E comparable](t *testing.T, m map[S]map[E]S, order []S) string {
	var rows [][]string
	for _, from := range order {
		var lines [][]string
		for event, to := range m[from] {
			lines = append(lines, []string{fmt.Sprint(from), fmt.Sprint(event), fmt.Sprint(to)})
		}
		sort.Slice(lines, func(a, b int) bool { return lines[a][1] < lines[b][1] })
		rows = append(rows, lines...)
	}
	for from := range m {
		if !slices.Contains(order, from) {
			t.Errorf("the printed order of states lacks %v", from)
		}
	}
	return table([]string{"state", "event", "next"}, rows)
}

func taskMachine(t *testing.T) string {
	return machine(t, pulse.Machine, []pulse.Public{pulse.PublicQueued, pulse.PublicRunning, pulse.PublicReview})
}

func instanceMachine(t *testing.T) string {
	return machine(t, weave.InstanceMachine, []weave.InstanceState{weave.InstanceRunning, weave.InstanceReview, weave.InstanceCancelling})
}

func stepMachine(t *testing.T) string {
	return machine(t, weave.StepMachine,
		[]weave.StepState{weave.StepWaiting, weave.StepActive, weave.StepReview, weave.StepFailed, weave.StepCancelled})
}

// limits prints engine/limits.go as written: name, expression, and the comment that stands with it.
func limits(t *testing.T) string {
	set := token.NewFileSet()
	path := root(t, "engine/limits.go")
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	source := read(t, path)
	var rows [][]string
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, s := range group.Specs {
			v := s.(*ast.ValueSpec)
			value := source[set.Position(v.Values[0].Pos()).Offset:set.Position(v.Values[0].End()).Offset]
			why := strings.Join(strings.Fields(v.Doc.Text()+" "+v.Comment.Text()), " ")
			rows = append(rows, []string{"`" + v.Names[0].Name + "`", "`" + value + "`", why})
		}
	}
	return table([]string{"limit", "value", "why"}, rows)
}

func problems(t *testing.T) string {
	codes := problem.Codes()
	sort.SliceStable(codes, func(a, b int) bool { return problem.New(codes[a], "").Status() < problem.New(codes[b], "").Status() })
	var rows [][]string
	for _, code := range codes {
		p := problem.New(code, "")
		a, ok := problem.AdviceOf(code)
		if !ok {
			t.Errorf("api/problem/advice.go has no advice for the code %q", code)
		}
		rows = append(rows, []string{fmt.Sprintf(`<a id="%s"></a>`+"`%s`", code, code), fmt.Sprint(p.Status()), p.Title(), a.Cause, a.Fix, p.Repeat()})
	}
	for _, code := range problem.AdvisedCodes() {
		if !problem.Known(code) {
			t.Errorf("api/problem/advice.go has advice for %q, which is no code", code)
		}
	}
	return table([]string{"code", "status", "title", "cause", "fix", "repeat unchanged?"}, rows)
}

func operations(t *testing.T) string {
	document, err := openapi3.NewLoader().LoadFromFile(root(t, "api/openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	paths := document.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		methods := paths[path].Operations()
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			o := methods[method]
			rows = append(rows, []string{"`" + method + " " + path + "`", o.Summary, "`" + o.OperationID + "`", scopeOf(o)})
		}
	}
	return table([]string{"request", "what", "operation", "scope"}, rows)
}

func scopeOf(o *openapi3.Operation) string {
	if o.Security == nil || len(*o.Security) == 0 {
		return "no key"
	}
	scopes := (*o.Security)[0]["bearer"]
	if len(scopes) == 0 {
		return "any key"
	}
	return "`" + strings.Join(scopes, "` `") + "`"
}

func definitionCodes(*testing.T) string {
	var rows [][]string
	for _, code := range definition.Codes {
		severity := "error"
		if code.Warning {
			severity = "warning"
		}
		rows = append(rows, []string{"`" + code.Name + "`", code.Phase, severity, code.Meaning})
	}
	return table([]string{"code", "phase", "severity", "meaning"}, rows)
}

// scopes prints each scope with the operations that ask for it; one without any is reserved.
func scopes(t *testing.T) string {
	document, err := openapi3.NewLoader().LoadFromFile(root(t, "api/openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string][]string{}
	for _, item := range document.Paths.Map() {
		for _, o := range item.Operations() {
			if o.Security != nil && len(*o.Security) > 0 {
				for _, scope := range (*o.Security)[0]["bearer"] {
					uses[scope] = append(uses[scope], o.OperationID)
				}
			}
		}
	}
	var rows [][]string
	for _, scope := range auth.AllScopes {
		slices.Sort(uses[scope])
		text := strings.Join(uses[scope], ", ")
		if text == "" {
			text = "reserved: no operation of this release asks for it"
		}
		rows = append(rows, []string{"`" + scope + "`", text})
	}
	return table([]string{"scope", "operations"}, rows)
}

// instrument finds a metric where it is made.
var instrument = regexp.MustCompile(`Name:\s*"(orbit_[a-z_]+)",\s*Help:\s*"([^"]+)"`)

func metrics(t *testing.T) string {
	var rows [][]string
	for _, folder := range []string{"api", "cmd"} {
		err := filepath.WalkDir(root(t, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				for _, m := range instrument.FindAllStringSubmatch(read(t, path), -1) {
					rows = append(rows, []string{"`" + m[1] + "`", m[2]})
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return table([]string{"metric", "what"}, rows)
}

// meanings of the doctor's checks. A new check needs a line.
var meanings = map[string]string{
	"quota_drift":        "a counter of an application's quota differs from its rows",
	"queue_drift":        "a counter of a queue differs from its rows",
	"orphan_delivery":    "an unacknowledged delivery or a dead letter whose subscription or result is gone",
	"subscription_drift": "a counter of a subscription differs from its deliveries or dead letters",
	"bulk_drift":         "a bulk operation counts other than the tasks it wrote down",
	"queue_misfit":       "the rate or the reasons of a queue do not fit its switches",
	"waiter_drift":       "a resource key counts other waiters than it has",
	"orphan_resource":    "a resource key held by a task without a permit for it",
	"stuck_task":         "a waiting task that nothing will wake",
	"stuck_instance":     "a running instance without open task, pending result or checkpoint",
	"torn_task":          "a task that has not ended but has no open row",
	"leftover_task":      "an ended task that still has an open row",
	"deaf_wait":          "an active step that waits for a time and has no checkpoint",
	"poll_drift":         "a poll whose rounds are not as many as were used, or numbered with a gap",
	"forgotten_signal":   "a signal that still waits although its instance has ended",
	"stream_gap":         "the result stream of a namespace lacks an entry or counts one too many",
}

func doctorChecks(t *testing.T) string {
	var rows [][]string
	for _, name := range doctor.Names() {
		if meanings[name] == "" {
			t.Errorf("docs/printers_test.go does not say what the doctor's check %q means", name)
		}
		rows = append(rows, []string{"`" + name + "`", meanings[name]})
	}
	return table([]string{"check", "finding"}, rows)
}

func runnableKinds(*testing.T) string {
	runnable := weave.Runnable()
	var rows [][]string
	for _, kind := range slices.Sorted(maps.Keys(runnable)) {
		rows = append(rows, []string{string(kind)})
	}
	return table([]string{"kind"}, rows)
}
