package pulse_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/engine/pulse"
)

// The stories of testdata: each "plan" is one transaction with its operations line by line; what follows is what the
// callers are told and what stands in the rows afterwards. Rewrite them with: go test ./engine/pulse -rewrite
//
//	limits queue=a open=2 running=1 paused draining     limits application open=…     gate name=g open|closed
//	later 30s                                            the clock moves
//	plan                                                 one transaction:
//	submit NAME [queue= handler= priority= delay= deadline= timeout= attempts= retry= lost=RETRY key= contract= gate= unique=KEY,window debounce=KEY,delay,max]
//	claim N [worker= queues=a,b handlers=h,g lease=]     report NAME OUTCOME [attempt= output= code=]
//	review NAME SUCCEEDED|FAILED version= [output= code= key= ended=no]     retry NAME as=NEW version= [deadline=]
//	renew NAME [extend=]  cancel NAME [key=]             due NAME LOST|DELAYED|EXPIRED     due key=r
func TestStories(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal("no stories", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { tell(t, path) })
	}
}

func tell(t *testing.T, path string) {
	s := &story{t: t, rows: newRows(), now: start, ids: map[string]engine.ID{}, attempts: map[string]pulse.Task{}}
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "limits":
			return s.limits(d)
		case "gate":
			s.rows.gates[s.id(arg(d, "name"))] = d.HasArg("open")
			return ""
		case "later":
			by, err := time.ParseDuration(d.CmdArgs[0].Key)
			if err != nil {
				t.Fatal(err)
			}
			s.now = s.now.Add(by)
			return ""
		case "plan":
			return s.plan(d)
		}
		d.Fatalf(t, "unknown command %s", d.Cmd)
		return ""
	})
}

type story struct {
	t        *testing.T
	rows     *rows
	now      time.Time
	ids      map[string]engine.ID
	names    []string
	attempts map[string]pulse.Task // NAME or NAME/attempt → its open row when it started
	plans    uint64
}

func arg(d *datadriven.TestData, name string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) == 1 {
			return a.Vals[0]
		}
	}
	return ""
}

func (s *story) limits(d *datadriven.TestData) string {
	limit := func(name string, otherwise int64) int64 {
		if n, err := strconv.ParseInt(arg(d, name), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	if d.HasArg("application") {
		a := s.rows.quotas[app]
		a.OpenTasksMax, a.RunningAttemptsMax = limit("open", limitlessRows), limit("running", limitlessRows)
		a.OpenPayloadBytesMax = limit("bytes", limitlessRows)
		s.rows.quotas[app] = a
		return ""
	}
	q := s.rows.queues[queueOf(arg(d, "queue"))]
	q.OpenTasksMax, q.RunningAttemptsMax, q.Paused, q.Draining = limit("open", limitlessRows), limit("running", limitlessRows), d.HasArg("paused"), d.HasArg("draining")
	s.rows.queues[q.ID] = q
	return ""
}

func queueOf(name string) uint64 {
	return map[string]uint64{"": queueA, "a": queueA, "b": queueB, "other": queueOfOther}[name]
}

func (s *story) id(name string) engine.ID {
	id, known := s.ids[name]
	if !known {
		id = number(uint64(len(s.ids) + 1))
		s.ids[name], s.names = id, append(s.names, name)
	}
	return id
}

func (s *story) name(id engine.ID) string {
	for name, known := range s.ids {
		if known == id {
			return name
		}
	}
	return "?"
}

// words reads "NAME WORD option=value flag".
type words struct {
	plain   []string
	options map[string]string
}

func wordsOf(line string) words {
	w := words{options: map[string]string{}}
	for i, word := range strings.Fields(line) {
		if name, value, ok := strings.Cut(word, "="); ok && i > 0 {
			w.options[name] = value
		} else {
			w.plain = append(w.plain, word)
		}
	}
	return w
}

func (w words) or(name, otherwise string) string {
	if v, ok := w.options[name]; ok {
		return v
	}
	return otherwise
}

func (w words) duration(name, otherwise string) time.Duration {
	d, err := time.ParseDuration(w.or(name, otherwise))
	if err != nil {
		panic(err)
	}
	return d
}

func (w words) number(name string, otherwise int) int {
	n, err := strconv.Atoi(w.or(name, strconv.Itoa(otherwise)))
	if err != nil {
		panic(err)
	}
	return n
}

func (s *story) plan(d *datadriven.TestData) string {
	s.plans++
	b := pulse.Batch{Secret: number(1_000_000 + s.plans)}
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		s.operation(&b, wordsOf(line))
	}
	out, ch, err := s.rows.run(s.now, b)
	if err != nil {
		d.Fatalf(s.t, "%v", err)
	}
	for _, c := range out.Claims {
		for _, started := range c.Started {
			name := s.name(started.Task.ID)
			s.attempts[name] = started.Task
			s.attempts[fmt.Sprint(name, "/", started.Task.AttemptNo)] = started.Task
		}
	}
	return s.answers(&b, out) + s.state(&ch)
}

func (s *story) operation(b *pulse.Batch, w words) {
	credential, application := key, app
	if w.or("queue", "") == "other" || w.or("queues", "") == "other" || w.or("application", "") == "other" {
		credential, application = otherKey, otherApp
	}
	switch w.plain[0] {
	case "submit":
		b.Submissions = append(b.Submissions, s.submit(w, credential, application))
	case "claim":
		b.Claims = append(b.Claims, s.claim(w, credential, application))
	case "report":
		t := s.attempts[w.plain[1]+attemptSuffix(w)]
		b.Reports = append(b.Reports, pulse.Report{
			Credential: credential, Application: application, Queue: t.Queue, Task: s.id(w.plain[1]), AttemptNo: t.AttemptNo, Token: t.Token, Outcome: outcomes[w.plain[2]],
			Output: []byte(w.or("output", "")), FailureCode: w.or("code", ""), Text: []byte(`{}`),
		})
	case "renew":
		t := s.attempts[w.plain[1]+attemptSuffix(w)]
		b.Renewals = append(b.Renewals, pulse.Renewal{Credential: credential, Application: application, Task: s.id(w.plain[1]), AttemptNo: t.AttemptNo, Token: t.Token, Extend: w.duration("extend", "30s")})
	case "cancel":
		id := s.id(w.plain[1])
		b.Cancels = append(b.Cancels, pulse.Cancel{Credential: credential, Application: application, Queue: queueOf(w.or("queue", "")), Task: id, Key: w.or("key", ""), Reason: w.or("reason", "")})
	case "review":
		b.Reviews = append(b.Reviews, s.review(w, credential, application))
	case "retry":
		b.Retries = append(b.Retries, s.retry(w, credential, application))
	case "due":
		if k := w.or("key", ""); k != "" {
			b.Dues = append(b.Dues, pulse.Due{Kind: pulse.DueKey, Application: app, Key: k})
			return
		}
		kind := map[string]pulse.DueKind{"LOST": pulse.DueLost, "DELAYED": pulse.DueDelayed, "EXPIRED": pulse.DueExpired}[w.plain[2]]
		b.Dues = append(b.Dues, pulse.Due{Kind: kind, Application: application, Queue: queueOf(w.or("queue", "")), Task: s.id(w.plain[1])})
	default:
		s.t.Fatalf("unknown operation %s", w.plain[0])
	}
}

func attemptSuffix(w words) string {
	if a := w.or("attempt", ""); a != "" {
		return "/" + a
	}
	return ""
}

func (s *story) submit(w words, credential, application uint64) pulse.Submission {
	name := w.plain[1]
	sub := submission(0)
	sub.Credential, sub.Application, sub.TaskID, sub.Key = credential, application, s.id(name), w.or("submit_key", name)
	sub.Queue, sub.QueueName, sub.Handler = queueOf(w.or("queue", "")), w.or("queue", "a"), w.or("handler", "h")
	sub.Priority, sub.ResourceKey = uint8(w.number("priority", 0)), w.or("key", "")
	sub.DelayMS, sub.DeadlineMS = w.duration("delay", "0s").Milliseconds(), w.duration("deadline", "1h").Milliseconds()
	sub.AttemptTimeoutMS = w.duration("timeout", "10m").Milliseconds()
	sub.Retry = pulse.Retry{Kind: pulse.RetryFixed, MaxAttempts: uint16(w.number("attempts", 3)), DelayMS: w.duration("retry", "0s").Milliseconds()}
	if w.or("lost", "") == "RETRY" {
		sub.Lost = pulse.LostRetry
	}
	if contract := w.or("contract", ""); contract != "" {
		sub.OutputContract = []byte(contract)
	}
	if gate := w.or("gate", ""); gate != "" {
		sub.Gate, sub.Owner, sub.Source = s.id(gate), s.id("activation of "+name), pulse.SourceWorkflow
	}
	sub.Slot = s.slot(w)
	return sub
}

// slot reads unique=KEY,window or debounce=KEY,delay,max-wait.
func (s *story) slot(w words) pulse.SlotRule {
	kind, text := pulse.SlotUnique, w.or("unique", "")
	if text == "" {
		kind, text = pulse.SlotDebounce, w.or("debounce", "")
	}
	if text == "" {
		return pulse.SlotRule{}
	}
	key, rest, _ := strings.Cut(text, ",")
	var ms []int64
	for _, part := range strings.Split(rest, ",") {
		d, err := time.ParseDuration(part)
		if err != nil {
			s.t.Fatal(err)
		}
		ms = append(ms, d.Milliseconds())
	}
	if kind == pulse.SlotUnique {
		return pulse.SlotRule{Kind: kind, Key: key, WindowMS: ms[0]}
	}
	return pulse.SlotRule{Kind: kind, Key: key, DelayMS: ms[0], MaxWaitMS: ms[1]}
}

func (s *story) claim(w words, credential, application uint64) pulse.Claim {
	tasks, err := strconv.Atoi(w.plain[1])
	if err != nil {
		s.t.Fatal(err)
	}
	c := pulse.Claim{Credential: credential, Application: application, Worker: w.or("worker", "w"), Tasks: tasks, Lease: w.duration("lease", "30s")}
	for _, q := range strings.Split(w.or("queues", "a"), ",") {
		c.Queues = append(c.Queues, queueOf(q))
	}
	for _, h := range strings.Split(w.or("handlers", "h"), ",") {
		c.Handlers = append(c.Handlers, pulse.HandlerHash(h, "1"))
	}
	return c
}

func (s *story) answers(b *pulse.Batch, out pulse.Outcomes) string {
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	for i, o := range out.Reports {
		say("report %s: %s", s.name(b.Reports[i].Task), reported(o))
	}
	for i, o := range out.Renewals {
		say("renew %s: %s until %s", s.name(b.Renewals[i].Task), o.Answer, s.clock(o.LeaseUntil))
	}
	for i, o := range out.Cancels {
		say("cancel %s: %s %s", s.name(b.Cancels[i].Task), cancelled(o), o.Receipt)
	}
	for i, o := range out.Reviews {
		say("review %s: %s %s", s.name(b.Reviews[i].Task), decided(o), o.Receipt)
	}
	for _, o := range out.Submissions {
		say("submit: %s", strings.NewReplacer(pairs(s)...).Replace(submitted(o)))
	}
	for i, o := range out.Retries {
		say("retry %s: %s %s", s.name(b.Retries[i].Task), strings.NewReplacer(pairs(s)...).Replace(submitted(o)), strings.NewReplacer(pairs(s)...).Replace(string(o.Receipt)))
	}
	for _, o := range out.Claims {
		var names []string
		for _, started := range o.Started {
			names = append(names, fmt.Sprintf("%s attempt %d until %s", s.name(started.Task.ID), started.Task.AttemptNo, s.clock(started.Task.LeaseUntil)))
		}
		if o.Refusal != nil {
			names = append(names, o.Refusal.Code)
		}
		say("claim: %s", strings.Join(names, ", "))
	}
	return text.String()
}

// pairs replaces ids by names.
func pairs(s *story) []string {
	var all []string
	for name, id := range s.ids {
		all = append(all, id.Text("task"), name)
	}
	return all
}

func (s *story) clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Sub(start).String()
}

var stateNames = map[pulse.State]string{
	pulse.Queued: "QUEUED", pulse.Running: "RUNNING", pulse.Delayed: "QUEUED(delayed)", pulse.Blocked: "QUEUED(blocked)", pulse.Gated: "QUEUED(gated)", pulse.Review: "NEEDS_REVIEW",
}

func (s *story) state(ch *pulse.Changes) string {
	var text strings.Builder
	for _, name := range s.names {
		id := s.ids[name]
		full, known := s.rows.full[id]
		if !known {
			continue
		}
		t, open := s.rows.open[id]
		if !open {
			fmt.Fprintf(&text, "  %s %s v%d attempt %d %s\n", name, full.State, full.Version, full.AttemptNo, full.Code)
			continue
		}
		fmt.Fprintf(&text, "  %s %s v%d used %d/%d", name, stateNames[t.State], t.Version, t.AttemptsUsed, t.MaxAttempts)
		for _, flag := range []struct {
			on   bool
			text string
		}{
			{t.State == pulse.Running, " until " + s.clock(t.LeaseUntil)}, {t.State == pulse.Delayed, " from " + s.clock(t.AvailableAt)},
			{t.PermitHeld && t.State != pulse.Running, " permit held"}, {!t.CancelRequestedAt.IsZero(), " stopping"}, {t.State == pulse.Review, " " + full.Code},
		} {
			if flag.on {
				text.WriteString(flag.text)
			}
		}
		text.WriteString("\n")
	}
	for _, k := range slices.Sorted(maps.Keys(s.rows.resources)) {
		r := s.rows.resources[k]
		holder := "nobody"
		if !r.Holder.Zero() {
			holder = s.name(r.Holder)
		}
		fmt.Fprintf(&text, "  key %s: %s, %d waiting\n", k, holder, r.Waiters)
	}
	a := s.rows.quotas[app]
	fmt.Fprintf(&text, "  application: %d open, %d running; stream %d, evidence %d", a.OpenTasks, a.RunningAttempts, len(s.rows.stream), len(s.rows.late))
	if ch.MoreForClaims {
		text.WriteString("; claim again")
	}
	return text.String() + "\n"
}
