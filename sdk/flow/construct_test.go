package flow_test

import (
	"time"

	"github.com/orbitrun/orbit/sdk/flow"
)

// The types below use every rule a contract can be given in Go.
type (
	Everything struct {
		_        flow.Contract     `flow:"name=everything,closed,maxProperties=40" description:"One of each."`
		Code     string            `json:"code" flow:"minLength=1,pattern=^[A-Z]{1,3}$" description:"Letters, then nothing."`
		Exact    flow.Number       `json:"exact" flow:"exclusiveMinimum=-9007199254740993,multipleOf=0.01"`
		Whole    flow.Number       `json:"whole" flow:"integer,max=18446744073709551616"`
		Level    int               `json:"level" flow:"enum=1|2|3"`
		Fixed    bool              `json:"fixed" flow:"const=true"`
		Choice   *string           `json:"choice" flow:"enum=A|B"`
		Maybe    *string           `json:"maybe,omitempty"`
		Both     *string           `json:"both,omitempty" flow:"nullable"`
		Labels   map[string]string `json:"labels" flow:"maxProperties=8"`
		Matrix   [][]flow.Number   `json:"matrix" flow:"maxItems=4"`
		Loose    flow.Any          `json:"loose"`
		At       time.Time         `json:"at"`
		Raw      []byte            `json:"raw"`
		Untagged string
		Odd      string `json:"odd-name"`
		Keyword  bool   `json:"in"`
		Ignored  string `json:"-"`
		Base
	}
	Base struct {
		Inner Inner `json:"inner"`
	}
	Inner struct {
		Deep []string `json:"deep"`
	}
	Report struct {
		Text  string            `json:"text"`
		Count flow.Number       `json:"count"`
		More  map[string]string `json:"more,omitempty"`
	}
	Poll struct {
		Code int `json:"code"`
	}
)

func policy(name string, retry flow.Retry) flow.Policy {
	return flow.Policy{Name: name, Deadline: time.Hour, AttemptTimeout: time.Minute, Lost: flow.LostRetry, Retry: retry}
}

// everyConstruct uses every function of the package once.
func everyConstruct() (*flow.Definition, error) {
	in := flow.Input[Everything]()
	code, count := flow.Get[string](in, "code"), flow.Get[flow.Number](in, "exact")
	deep := flow.Get[[]string](flow.Get[Inner](in, "inner"), "deep")
	report := flow.Task("report", flow.Handler[Report, Report]("work", "report", "1.10"),
		policy("growing", flow.Linear{MaxAttempts: 4, Delay: time.Second, Step: time.Second, MaxDelay: 3 * time.Second, JitterPercent: 50}),
		flow.Object{
			"text":  flow.If(flow.Not(flow.Has(flow.Get[string](in, "maybe"))), flow.Const("none: ${x}"), flow.OrValue(flow.Index(deep, 0), "it's\n")),
			"count": flow.Mul(flow.Add(count, "1.10"), flow.Sub(flow.Size(deep), -5)),
			"more":  map[string]any{"price": "$${5}", "label": flow.OrNull(flow.Get[string](flow.Get[map[string]string](in, "labels"), "a b"))},
		}).BusinessKey(flow.InstanceID()).ResourceKey(flow.Const("only one")).Describe("Counts.")
	conditions := flow.Or(
		flow.And(flow.AtLeast(count, "1e2"), flow.AtMost(count, 7), flow.MoreThan(count, flow.Number("-1")), flow.LessThan(count, "2")),
		flow.And(flow.OneOf(flow.Get[flow.Number](in, "level"), 1, "2"), flow.Or(flow.Ne(code, nil), flow.Get[bool](in, "in"))),
		flow.Not(flow.StartsWith(code, "A")), flow.EndsWith(code, flow.Text(count)), flow.Contains(flow.Get[string](in, "odd-name"), code),
		flow.Eq(flow.OrValue(flow.InstanceBusinessKey(), ""), ""))
	choose := flow.Branch[flow.None]("choose", flow.When(conditions,
		flow.Parallel("both", flow.Lane("one", flow.Timer("short", 1500*time.Millisecond)), flow.Lane("two", report)).Describe("Two lanes.")),
		flow.Otherwise().Review("not_chosen")).Describe("Chooses.")
	asked := flow.Poll[Poll]("asked", flow.Handler[flow.None, Poll]("work", "ask", "1"), policy("steady", flow.Fixed{MaxAttempts: 1}), nil,
		flow.PollSpec[Poll]{Interval: time.Second, MaxRounds: 3, Deadline: time.Minute,
			NumberValue: func(p flow.Value[Poll]) flow.Value[flow.Number] { return flow.Get[flow.Number](p, "code") },
			Pending:     flow.Values(202), Done: flow.Values(flow.Number("200"), "201"), Failed: flow.Values(404)}).
		ResourceKey(code).Describe("Asks.")
	heard := flow.Signal("heard", flow.SignalType[flow.Any]("any.thing", "2"), flow.Concat(code, "-", flow.Text(count)), time.Hour,
		flow.ExpireWith(Report{Text: "${nobody}", Count: "1.10"})).Describe("Listens.")
	return flow.Define[Everything, flow.Any]("every_construct", 2147483647, flow.Settings{Deadline: time.Hour, OnFailure: flow.Review},
		flow.Body(choose, asked, heard), flow.Object{
			"code": flow.Get[flow.Number](asked.Out(), "code"), "heard": flow.Must(flow.Get[flow.Any](heard.Out(), "text")),
			"list": []any{1, "two", flow.Number("3.0"), nil, true},
		})
}
