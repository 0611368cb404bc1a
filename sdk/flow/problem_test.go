package flow_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/sdk/flow"
	"github.com/orbitrun/orbit/sdk/flow/internal/example/access"
)

type (
	person struct {
		Name  string      `json:"name"`
		Age   int         `json:"age"`
		Grade string      `json:"grade" flow:"enum=A|B"`
		Rate  flow.Number `json:"rate"`
		Nick  string      `json:"nick,omitempty"`
	}
	floating struct {
		Rate float64 `json:"rate"`
	}
	endless struct {
		Next *endless `json:"next"`
	}
	mistagged struct {
		_    flow.Contract `flow:"open"`
		Name string        `json:"name" flow:"min=1"`
		Size int           `json:"size" flow:"max=ten,enum=1|x"`
		Text int           `json:"text,string"`
	}
	hidden struct {
		URL json.Marshaler `json:"url"`
	}
)

var (
	steady = policy("steady", flow.Fixed{MaxAttempts: 1})
	meet   = flow.Handler[person, person]("people", "meet", "1")
	in     = flow.Input[person]()
)

func task(name string) *flow.TaskNode[person] { return flow.Task(name, meet, steady, in) }

func define(nodes ...flow.Node) error { return defineOut(nil, nodes...) }

func defineOut(output any, nodes ...flow.Node) error {
	_, err := flow.Define[person, flow.Any]("people", 1, flow.Settings{Deadline: time.Hour, OnFailure: flow.Review}, nodes, output)
	return err
}

func contractOf[T any]() error {
	_, err := flow.Define[T, flow.Any]("typed", 1, flow.Settings{Deadline: time.Hour, OnFailure: flow.Review},
		flow.Body(flow.Timer("wait", time.Second)), nil)
	return err
}

func branch(arms ...*flow.Arm) flow.Node { return flow.Branch[flow.None]("choice", arms...) }

func TestEveryMistakeHasItsCode(t *testing.T) {
	name, yes := flow.Get[string](in, "name"), flow.Has(flow.Get[string](in, "nick"))
	var leaked flow.Value[person]
	leaking := flow.Poll[flow.Any]("ask", meet, steady, in, flow.PollSpec[person]{Interval: time.Second, MaxRounds: 1, Deadline: time.Minute,
		Value:   func(p flow.Value[person]) flow.Value[string] { leaked = p; return flow.Get[string](p, "grade") },
		Pending: flow.Values("A", "C"), Done: flow.Values("A")})
	once, parts := task("once"), flow.Branch[person]("parts", flow.When(yes).Output(in), flow.Otherwise())
	unplaced, nothing := task("unplaced"), branch(flow.When(yes), flow.Otherwise()).(*flow.BranchNode[flow.None])
	twoFaced := steady
	twoFaced.Priority = 9
	undone := task("undone")
	undone.Compensate(meet, steady, undone.Out())

	for mistake, c := range map[string]struct {
		err   error
		codes string
	}{
		"no node":                {define(), "body_empty"},
		"nil node":               {define(nil, (*flow.TimerNode)(nil)), "field_missing"},
		"name syntax":            {define(task("Once")), "name_syntax"},
		"reserved name":          {define(task("result")), "name_reserved"},
		"two steps, one name":    {define(task("a"), task("a")), "name_duplicate"},
		"one node, two places":   {define(once, once), "node_placed_twice"},
		"read of unplaced":       {defineOut(unplaced.Out(), task("a")), "scope_unknown_step"},
		"read without output":    {defineOut(nothing.Out(), nothing), "scope_no_output"},
		"other input":            {define(flow.Task("a", meet, steady, flow.Input[floating]())), "type_mismatch"},
		"local root outside":     {defineOut(flow.Object{"p": leaked}, leaking), "poll_value_not_in_contract poll_values_overlap scope_root"},
		"member misspelled":      {defineOut(flow.Get[string](in, "nmae"), task("a")), "path_not_in_contract"},
		"member of another type": {defineOut(flow.Get[string](in, "age"), task("a")), "type_mismatch"},
		"member of a scalar":     {defineOut(flow.Get[string](name, "x"), task("a")), "path_not_in_contract"},
		"member of a call":       {defineOut(flow.Get[string](flow.Must(in), "name"), task("a")), "expression_syntax"},
		"has of a call":          {defineOut(flow.Has(flow.Concat(name)), task("a")), "expression_arguments"},
		"fallback of a call":     {defineOut(flow.OrNull(flow.Concat(name)), task("a")), "expression_syntax"},
		"unlike operands":        {defineOut(flow.Eq(name, flow.Get[flow.Number](in, "age")), task("a")), "type_mismatch"},
		"constant of wrong type": {defineOut(flow.Eq(name, 1), task("a")), "type_mismatch"},
		"constant never in enum": {defineOut(flow.Eq(flow.Get[string](in, "grade"), "a"), task("a")), "condition_constant"},
		"not a number":           {defineOut(flow.AtLeast(flow.Get[flow.Number](in, "rate"), "01"), task("a")), "type_mismatch"},
		"omit outside a member":  {defineOut(flow.OrOmit(name), task("a")), "template_omit"},
		"omit as operand":        {defineOut(flow.Concat(flow.OrOmit(name)), task("a")), "template_omit"},
		"float":                  {defineOut(flow.Object{"x": 1.5}, task("a")), "type_mismatch"},
		"NUL":                    {defineOut("a\x00b", task("a")), "text_encoding"},
		"mark in a key":          {defineOut(flow.Object{"${x}": 1}, task("a")), "template_key_expression"},
		"value inside a struct":  {defineOut(struct{ V any }{name}, task("a")), "field_value"},
		"input lacks a member":   {define(flow.Task("a", meet, steady, flow.Object{"name": name, "age": 1, "grade": "A"})), "template_breaks_contract"},
		"input member unknown":   {define(flow.Task("a", meet, steady, flow.Object{"name": name, "age": 1, "grade": "A", "rate": "1", "nik": ""})), "template_breaks_contract"},
		"input of wrong kind":    {define(flow.Task("a", meet, steady, name)), "type_mismatch"},
		"fraction of a ms":       {define(flow.Timer("a", 1500*time.Microsecond)), "field_range"},
		"no delay":               {define(flow.Timer("a", 0)), "field_range"},
		"two policies, one name": {define(task("a"), flow.Task("b", meet, twoFaced, in)), "policy_conflict"},
		"empty policy":           {define(flow.Task("a", meet, flow.Policy{}, in)), "name_syntax field_value field_missing field_range field_range"},
		"handler names":          {define(flow.Task("a", flow.Handler[person, person]("", "a b", ""), steady, in)), "field_value field_value field_value"},
		"signal names":           {define(flow.Signal("a", flow.SignalType[person]("A", ""), name, time.Hour, flow.ExpireReview)), "field_value field_value"},
		"empty value":            {define(task("a").BusinessKey(flow.Value[string]{})), "field_missing"},
		"one lane":               {define(flow.Parallel("p", flow.Lane("x"))), "body_empty limit_branches"},
		"no Otherwise":           {define(branch(flow.When(yes))), "arm_shape"},
		"Otherwise first":        {define(branch(flow.Otherwise(), flow.When(yes))), "arm_shape arm_shape"},
		"fail with a body":       {define(branch(flow.When(yes, task("a")).Fail("no"), flow.Otherwise())), "arm_shape"},
		"reason syntax":          {define(branch(flow.When(yes), flow.Otherwise().Review("Not good"))), "field_value"},
		"output on some arms":    {define(parts), "branch_output_partial"},
		"compensation alone":     {define(undone), "field_unknown"},
		"poll of anything": {define(flow.Poll[flow.Any]("a", flow.Handler[person, flow.Any]("q", "h", "1"), steady, in, flow.PollSpec[flow.Any]{
			Interval: time.Second, MaxRounds: 1, Deadline: time.Minute})), "contract_unknown field_missing"},
		"float in a contract":  {contractOf[floating](), "contract_type"},
		"contract in itself":   {contractOf[endless](), "contract_type"},
		"hidden JSON":          {contractOf[hidden](), "contract_type"},
		"unnamed contract":     {contractOf[[]person](), "name_syntax"},
		"wrong tags":           {contractOf[mistagged](), "contract_tag contract_tag contract_tag contract_tag contract_tag"},
		"two types, one name":  {define(flow.Task("a", flow.Handler[person, access.Request]("q", "h", "1"), steady, in), flow.Task("b", flow.Handler[person, request]("q", "h", "1"), steady, in)), "contract_conflict"},
		"final of other types": {define(finalMismatch()), "type_mismatch"},
	} {
		t.Run(mistake, func(t *testing.T) {
			var wrong *flow.DefinitionError
			if !errors.As(c.err, &wrong) {
				t.Fatalf("accepted: %v", c.err)
			}
			got, want := wrong.Codes(), strings.Fields(c.codes)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %v\nwant %v\n%v", got, want, c.err)
			}
		})
	}
}

type request struct {
	_ flow.Contract `flow:"name=request"`
}

func finalMismatch() flow.Node {
	grade := func(p flow.Value[person]) flow.Value[string] { return flow.Get[string](p, "grade") }
	return flow.Poll[flow.Any]("ask", meet, steady, in, flow.PollSpec[person]{Interval: time.Second, MaxRounds: 1, Deadline: time.Minute,
		Value: grade, Pending: flow.Values("A"), Done: flow.Values("B")}).
		FinalSignal(flow.SignalType[request]("done", "1"), flow.InstanceID(), flow.SignalSpec[person]{Value: grade, Done: flow.Values("B")})
}

// Numbers and None cross encoding/json without losing a digit.
func TestNumberText(t *testing.T) {
	var v struct {
		A, B flow.Number
		C    *flow.Number
		D    flow.None
	}
	const text = `{"A":1.10,"B":18446744073709551616,"C":-1e-400,"D":null}`
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(v)
	if err != nil || string(again) != text {
		t.Errorf("%s, %v", again, err)
	}
	if err := json.Unmarshal([]byte(`{"A":"1"}`), &v); err == nil {
		t.Error("a quoted number was accepted")
	}
	if text, err := json.Marshal(flow.Number("1_0")); err == nil {
		t.Errorf("1_0 was written as %s", text)
	}
}
