package stream

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/orbitrun/orbit/engine"
)

// world is a subscription with its rows, as a database would hold them.
type world struct {
	testing.TB
	s       Subscription
	stream  []Entry
	rows    map[uint64]Delivery
	letters map[uint64]Delivery
	now     time.Time
}

func newWorld(t testing.TB, results int, change func(*Subscription)) *world {
	w := &world{TB: t, rows: map[uint64]Delivery{}, letters: map[uint64]Delivery{}, now: time.Unix(1000, 0)}
	w.s = Subscription{ID: 1, Application: 7, InOrder: true, Window: 100, AckTimeout: 30 * time.Second, Generations: 3, Secret: [32]byte{1},
		Position: Position{Epoch: 1, Next: 1, Anchored: true}}
	if change != nil {
		change(&w.s)
	}
	var link [32]byte
	for i := range results {
		e := Entry{Seq: uint64(i + 1), Application: 7, Queue: uint64(i%3 + 1), Task: engine.ID{byte(i), byte(i >> 8)}, State: 2, Version: 3}
		link = Link(link, &e)
		e.Hash = link
		w.stream = append(w.stream, e)
	}
	return w
}

func (w *world) apply(c Changes) {
	if c.Empty {
		return
	}
	w.s = c.After
	for _, d := range c.Put {
		w.rows[d.Seq] = d
		delete(w.letters, d.Seq)
	}
	for _, l := range c.Buried {
		w.letters[l.Seq] = l.Delivery
		delete(w.rows, l.Seq)
	}
	for _, seq := range c.Settled {
		delete(w.rows, seq)
	}
	for _, seq := range c.Cleared {
		delete(w.letters, seq)
	}
	if int(w.s.Pending) != len(w.rows) || int(w.s.Dead) != len(w.letters) {
		w.Fatalf("counters %d and %d, rows %d and %d", w.s.Pending, w.s.Dead, len(w.rows), len(w.letters))
	}
}

func (w *world) all() []Delivery {
	var out []Delivery
	for _, d := range w.rows {
		out = append(out, d)
	}
	sortBySeq(out)
	return out
}

// of is what an acknowledgement locks: deliveries and dead letters.
func (w *world) of() []Delivery {
	out := w.all()
	for _, d := range w.letters {
		out = append(out, d)
	}
	return out
}

func (w *world) pull(consumer string, holding uint64, n int) []Delivery {
	w.Helper()
	entries := w.stream[min(int(w.s.Next-1), len(w.stream)):]
	c, answer, err := PullPlan(w.s, w.all(), entries, uint64(len(w.stream)+1), Pull{Holder(consumer), holding, n}, w.now)
	if err != nil {
		w.Fatal(err)
	}
	w.apply(c)
	return answer.Out
}

func (w *world) claim(d Delivery) Claim {
	return Claim{d.Seq, d.Generation, w.s.Proof(d.Seq, d.Generation)}
}

func (w *world) ack(ds ...Delivery) []Outcome {
	var claims []Claim
	for _, d := range ds {
		claims = append(claims, w.claim(d))
	}
	c, out := AckPlan(w.s, w.of(), claims, w.now)
	w.apply(c)
	return out
}

func (w *world) nack(d Delivery, n Nack) Outcome {
	n.Claim = w.claim(d)
	c, out := NackPlan(w.s, w.of(), []Nack{n}, w.now)
	w.apply(c)
	return out[0]
}

func (w *world) want(what string, got, want any) {
	w.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("%s: %v, want %v", what, got, want)
	}
}

func seqs(ds []Delivery) []uint64 {
	var out []uint64
	for _, d := range ds {
		out = append(out, d.Seq)
	}
	return out
}

func TestOnlyTheLatestProofCountsAndOnlyOnce(t *testing.T) {
	w := newWorld(t, 2, nil)
	first := w.pull("a", 0, 1)[0]
	w.now = w.now.Add(31 * time.Second)
	w.want("an expired proof nobody superseded", w.ack(first, first), "[ACKNOWLEDGED ACKNOWLEDGED]")
	w.want("and again", w.ack(first), "[ACKNOWLEDGED]")
	w.want("counted once", w.s.Pending, 0)
	old := w.pull("a", 0, 1)[0]
	w.now = w.now.Add(31 * time.Second)
	young := w.pull("b", 0, 1)[0]
	w.want("generations", []uint32{old.Generation, young.Generation}, "[1 2]")
	w.want("superseded", w.ack(old), "[SUPERSEDED]")
	w.want("superseded nack", w.nack(old, Nack{}), "SUPERSEDED")
	forged := w.claim(young)
	forged.Generation = 3
	_, out := AckPlan(w.s, w.of(), []Claim{forged, {Seq: 9, Generation: 1, Proof: forged.Proof}}, w.now)
	w.want("forged", out, "[UNKNOWN UNKNOWN]")
	w.want("the newest", w.ack(young), "[ACKNOWLEDGED]")
	w.want("nack of what was acknowledged", w.nack(young, Nack{}), "ACKNOWLEDGED")
}

func TestInOrderNothingPassesWhatIsNotAcknowledged(t *testing.T) {
	w := newWorld(t, 6, nil)
	a := w.pull("a", 0, 2)
	w.want("first", seqs(a), "[1 2]")
	w.want("another consumer waits", seqs(w.pull("b", 0, 2)), "[]")
	w.want("the same one goes on", seqs(w.pull("a", 2, 2)), "[3 4]")
	w.want("a lost answer comes again at once", seqs(w.pull("a", 2, 2)), "[3 4]")
	w.want("refused", w.nack(a[1], Nack{Delay: time.Minute}), "POSTPONED")
	w.want("the same refusal", w.nack(a[1], Nack{Delay: time.Hour}), "POSTPONED")
	w.ack(a[0])
	w.want("what was refused holds up the rest", seqs(w.pull("a", 4, 9)), "[]")
	w.now = w.now.Add(time.Minute)
	w.want("its time has come", seqs(w.pull("a", 4, 1)), "[2]")
}

func TestUsedUpGenerationsGoToTheDeadLettersAndComeBack(t *testing.T) {
	w := newWorld(t, 3, func(s *Subscription) { s.Generations = 2 })
	d := w.pull("a", 0, 1)[0]
	w.want("returned", w.nack(d, Nack{Returned: true}), "POSTPONED")
	for range 2 {
		d = w.pull("a", 0, 1)[0]
		w.nack(d, Nack{})
	}
	w.want("dead", []any{w.s.Pending, w.s.Dead, w.letters[1].Generation}, "[0 1 3]")
	w.want("the next goes on and knows the one before", w.pull("a", 0, 1)[0].Previous, 1)
	c, revived, err := RedeliverPlan(w.s, w.of(), []uint64{1, 2, 9}, w.now)
	if err != nil {
		t.Fatal(err)
	}
	w.apply(c)
	w.want("revived", revived, "[1]")
	again := w.pull("a", 2, 1)[0]
	w.want("generation goes on", []any{again.Seq, again.Generation}, "[1 4]")
	w.want("the old proof is superseded", w.ack(d), "[SUPERSEDED]")
	w.now = w.now.Add(time.Hour)
	second := w.pull("b", 0, 1)[0]
	w.now = w.now.Add(time.Hour)
	w.pull("b", 0, 1)
	w.want("dead by time", w.letters[1].Seq, 1)
	w.want("the last proof still settles a dead letter", w.ack(second), "[ACKNOWLEDGED]")
	w.want("counted", w.s.Dead, 0)
}

func TestSelectionWindowAndPositions(t *testing.T) {
	w := newWorld(t, 12, func(s *Subscription) { s.Queues, s.Window = []uint64{2}, 3 })
	got := w.pull("a", 0, 9)
	w.want("queue 2 only, as many as the window", seqs(got), "[2 5 8]")
	w.want("previous", []uint64{got[0].Previous, got[1].Previous, got[2].Previous}, "[0 2 5]")
	w.want("the window is full", seqs(w.pull("a", 8, 9)), "[]")
	w.ack(got[0])
	w.want("one more", seqs(w.pull("a", 8, 9)), "[11]")
	if SeekCheck(&w.s, w.all(), w.now).Code != "subscription_active" {
		t.Error("an active subscription could be moved")
	}
	w.s.Paused = true
	w.want("paused", seqs(w.pull("a", 0, 9)), "[]")
	if SeekCheck(&w.s, w.all(), w.now).Code != "deliveries_held" {
		t.Error("deliveries were taken away under a consumer")
	}
	if r := SeekCheck(&w.s, w.all(), w.now.Add(time.Hour)); r != nil {
		t.Error(r)
	}
}

func TestABrokenStreamIsRefused(t *testing.T) {
	for name, spoil := range map[string]func([]Entry) []Entry{
		"missing":   func(e []Entry) []Entry { return append(e[:1:1], e[2:]...) },
		"reordered": func(e []Entry) []Entry { e[1], e[2] = e[2], e[1]; return e },
		"changed":   func(e []Entry) []Entry { e[1].State = 3; return e },
	} {
		w := newWorld(t, 4, nil)
		_, _, err := PullPlan(w.s, nil, spoil(w.stream), 5, Pull{1, 0, 9}, w.now)
		if err == nil || err.(*engine.Refusal).Code != "stream_broken" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Consumers that die, forget, repeat and refuse at random: everything is settled in order and exactly once.
func TestRandomConsumersLoseNothing(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, 300, func(s *Subscription) { s.Generations = 1000; s.Window = 20 })
		hand, done := map[string][]Delivery{}, []uint64{}
		for step := 0; len(done) < 300; step++ {
			if step > 100_000 {
				t.Fatalf("seed %d: stuck at %d", seed, len(done))
			}
			name := string('a' + rune(r.IntN(3)))
			h := hand[name]
			switch k := r.IntN(10); {
			case k < 4:
				holding := uint64(0)
				if len(h) > 0 {
					holding = h[len(h)-1].Seq
				}
				hand[name] = append(h, w.pull(name, holding, 1+r.IntN(8))...)
			case k < 8 && len(h) > 0:
				before := w.s.Pending
				if w.ack(h[0])[0] != Acknowledged {
					hand[name] = nil // superseded: what follows is somebody else's too
					continue
				}
				w.ack(h[0])
				if w.s.Pending < before {
					done = append(done, h[0].Seq)
				}
				hand[name] = h[1:]
			case k == 8 && len(h) > 0:
				for _, d := range slices.Backward(h) {
					w.nack(d, Nack{Returned: true})
				}
				hand[name] = nil
			default:
				hand[name] = nil
				w.now = w.now.Add(time.Duration(r.IntN(20)) * time.Second)
			}
		}
		if !slices.IsSorted(done) || len(slices.Compact(done)) != 300 {
			t.Fatalf("seed %d: settled %v", seed, done)
		}
	}
}

// What is selected by state and handler is delivered with its predecessor among the selected; an entry of which nobody
// knows the handler any more is refused, never passed over.
func TestSelectionByStateAndHandler(t *testing.T) {
	w := newWorld(t, 12, func(s *Subscription) {
		s.States, s.Handlers, s.Queues = States(0).With(3), []string{"bill", "pay"}, []uint64{1, 2}
	})
	var link [32]byte
	for i := range w.stream {
		e := &w.stream[i]
		e.State = uint8(2 + i%2) // every second one is FAILED
		link = Link(link, e)
		e.Hash = link
	}
	if w.s.AsksHandler(&w.stream[0]) || !w.s.AsksHandler(&w.stream[1]) || w.s.AsksHandler(&w.stream[5]) {
		t.Error("the handler is asked for where it does not matter, or not where it does")
	}
	p := Pull{Holder: 1, Max: 64}
	if _, _, err := PullPlan(w.s, nil, w.stream, 13, p, w.now); err == nil {
		t.Error("an entry without a task was passed over")
	}
	for i := range w.stream {
		w.stream[i].Handler = []string{"pay", "pay", "ship", "bill", "ship", "pay", "pay", "ship", "pay", "bill", "pay", "pay"}[i]
	}
	c, a, err := PullPlan(w.s, nil, w.stream, 13, p, w.now)
	if err != nil || len(a.Out) != 3 || c.After.Next != 13 || c.After.Selected != 3 {
		t.Fatalf("%+v %v", a, err)
	}
	for i, want := range [][2]uint64{{2, 0}, {4, 2}, {10, 4}} {
		if d := a.Out[i]; d.Seq != want[0] || d.Previous != want[1] {
			t.Errorf("%d after %d, want %v", d.Seq, d.Previous, want)
		}
	}
}
