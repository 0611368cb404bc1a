package definition

import (
	"fmt"
	"strings"
	"time"
)

// Mermaid draws the definition as a flow chart. Step names are the node ids,
// so a caller can colour an instance's steps by appending class lines.
func Mermaid(d *Definition) []byte {
	g := &graph{}
	g.line("flowchart TD")
	g.body(d.Body, nil)
	return []byte(g.out.String())
}

// MermaidID is the node id of a step. A name that is a word of the chart
// language is written in upper case, which no step name can be.
func MermaidID(step string) string {
	switch step {
	case "end", "graph", "subgraph", "flowchart", "style", "class", "click", "default", "direction", "call", "href", "interpolate":
		return strings.ToUpper(step)
	}
	return step
}

type graph struct {
	out    strings.Builder
	indent int
	ends   int
}

// exit is an arrow that still needs its target.
type exit struct{ from, label string }

func (g *graph) line(format string, args ...any) {
	g.out.WriteString(strings.Repeat("  ", g.indent))
	fmt.Fprintf(&g.out, format, args...)
	g.out.WriteByte('\n')
	if g.indent == 0 {
		g.indent = 1
	}
}

func (g *graph) connect(from []exit, to string) {
	for _, e := range from {
		if e.label == "" {
			g.line("%s --> %s", e.from, to)
		} else {
			g.line("%s -- \"%s\" --> %s", e.from, e.label, to)
		}
	}
}

func (g *graph) body(nodes []*Node, from []exit) []exit {
	for _, n := range nodes {
		from = g.node(n, from)
	}
	return from
}

func (g *graph) node(n *Node, from []exit) []exit {
	id := MermaidID(n.Name)
	g.line(boxes[n.Kind], id, caption(n))
	g.connect(from, id)
	self := []exit{{from: id}}
	switch n.Kind {
	case KindBranch:
		return g.branch(n.Branch, id)
	case KindParallel:
		return g.parallel(n.Parallel, id)
	case KindMap:
		g.inside(n.Name, n.Map.Body, self)
	case KindScope:
		return g.inside(n.Name, n.Scope.Body, self)
	}
	return self
}

// boxes gives each kind its shape; arguments are id and caption.
var boxes = map[Kind]string{
	KindTask: `%s["%s"]`, KindBranch: `%s{"%s"}`, KindParallel: `%s{{"%s"}}`, KindTimer: `%s[/"%s"/]`,
	KindSignal: `%s(["%s"])`, KindPoll: `%s[["%s"]]`, KindMap: `%s[["%s"]]`, KindChild: `%s[["%s"]]`, KindScope: `%s["%s"]`,
}

func caption(n *Node) string {
	text := string(n.Kind) + " " + n.Name
	switch n.Kind {
	case KindBranch:
		text = n.Name
	case KindTimer:
		if n.Timer.Delay == nil {
			text += " " + span(n.Timer.DelayMS)
		}
	case KindSignal:
		text += " ≤ " + span(n.Signal.DeadlineMS)
	case KindPoll:
		text += fmt.Sprintf(" every %s ≤ %s", span(n.Poll.IntervalMS), span(n.Poll.DeadlineMS))
	case KindChild:
		text += fmt.Sprintf(" = %s@%d", n.Child.Definition, n.Child.Version)
	}
	return escapeLabel(text)
}

func (g *graph) branch(b *Branch, id string) (exits []exit) {
	for _, arm := range b.Arms() {
		label := "else"
		if arm.When != nil {
			label = escapeLabel(strings.TrimSuffix(strings.TrimPrefix(arm.When.Source.Str(), "${"), "}"))
		}
		way := []exit{{id, label}}
		if arm.Runs {
			exits = append(exits, g.body(arm.Body, way)...)
			continue
		}
		g.ends++
		end, what := fmt.Sprintf("END%d", g.ends), "fail "+arm.Fail
		if arm.Review != "" {
			what = "review " + arm.Review
		}
		g.line(`%s(("%s"))`, end, what)
		g.connect(way, end)
	}
	return exits
}

// parallel draws the join, which is a step of its own inside the engine.
func (g *graph) parallel(p *Parallel, id string) []exit {
	join := "JOIN_" + id
	g.line(`%s{{"join"}}`, join)
	for _, lane := range p.Branches {
		g.connect(g.body(lane.Body, []exit{{id, escapeLabel(lane.Label)}}), join)
	}
	return []exit{{from: join}}
}

func (g *graph) inside(name string, body []*Node, from []exit) []exit {
	g.line("subgraph IN_%s[\"%s\"]", name, name)
	g.indent++
	exits := g.body(body, from)
	g.indent--
	g.line("end")
	return exits
}

// span prints milliseconds as people say them: 48h, 30s, 1h30m.
func span(ms int64) string {
	text := (time.Duration(ms) * time.Millisecond).String()
	text = strings.TrimSuffix(text, "0s")
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	if text == "" || !strings.ContainsAny(text[len(text)-1:], "hms") {
		text += "0s"
	}
	return text
}

var labelEscapes = strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;", "#", "#35;", "\n", " ", "&", "#amp;", ";", "#59;", "`", "#96;")

func escapeLabel(s string) string { return labelEscapes.Replace(s) }
