package api_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	httpapi "github.com/orbitrun/orbit/gen/http"
)

// chaotic is a consumer that dies at random: what it holds is lost with it, and its successor has another name.
type chaotic struct {
	name  string
	hand  []httpapi.Delivery
	count int
}

func (c *chaotic) die() {
	c.count++
	c.name, c.hand = fmt.Sprintf("%s.%d", c.name[:1], c.count), nil
}

func (c *chaotic) holding() int64 {
	if len(c.hand) == 0 {
		return 0
	}
	return c.hand[len(c.hand)-1].Seq
}

// 5,000 results through one subscription in order. Consumers are killed at random, answers are lost, acknowledgements
// are repeated: no gap, no disorder, and the counter equals the rows (T17, T18).
func TestFiveThousandResultsThroughDyingConsumers(t *testing.T) {
	const results = 5000
	overBoth(t, func(t *testing.T, n *node) {
		n.queue("work")
		n.do(call{method: "PUT", path: "/v1/queues/work", body: `{"open_tasks_max":100000,"running_attempts_max":1000}`}).is(200)
		n.subscribe("s", `{"generations_max":1000,"window":256}`)
		n.finish("work", results)
		seed := uint64(20310701)
		r := rand.New(rand.NewPCG(seed, 1))
		consumers := []*chaotic{{name: "a"}, {name: "b"}, {name: "c"}}
		var processed []int64 // in the order in which some consumer first worked on them
		worked, first := map[int64]bool{}, map[int64]bool{}
		hashes := map[int64]string{0: fmt.Sprintf("%064x", 0)}
		kills, repeats, lost, superseded, refusedOrder := 0, 0, 0, 0, 0
		for step := 0; len(first) < results || n.subscription("s").PendingCount > 0; step++ {
			if step > 20_000 {
				t.Fatalf("seed %d: stuck at %d", seed, len(first))
			}
			c := consumers[r.IntN(len(consumers))]
			switch r.IntN(12) {
			case 0: // killed; its time runs out
				c.die()
				n.later(31)
				kills++
			case 1: // an answer is lost on the way
				n.pull("s", c.name, c.holding(), 1+r.IntN(64), 0)
				lost++
			default:
				got := n.pull("s", c.name, c.holding(), 32+r.IntN(33), 0)
				c.hand = append(c.hand, got.Items...)
				take := c.hand[:r.IntN(len(c.hand)+1)]
				if len(take) == 0 {
					continue
				}
				for _, d := range take {
					if !worked[d.Seq] {
						worked[d.Seq], processed = true, append(processed, d.Seq)
					}
				}
				words, out := n.settle("s", "acks", "", take...)
				for i, d := range take {
					switch out.Items[i].Outcome {
					case "ACKNOWLEDGED":
						first[d.Seq] = true
					case "SUPERSEDED":
						superseded++
					default:
						t.Fatalf("seed %d: %s", seed, words)
					}
					if d.Hash != chain(t, d) || d.PreviousSeq != d.Seq-1 || hashes[d.Seq-1] != "" && d.PreviousHash != hashes[d.Seq-1] {
						t.Fatalf("seed %d: %d does not continue the chain", seed, d.Seq)
					}
					hashes[d.Seq] = d.Hash
				}
				if r.IntN(3) == 0 {
					before := n.subscription("s").PendingCount
					if _, again := n.settle("s", "acks", "", take...); again.PendingCount != before {
						t.Fatalf("seed %d: a repeated acknowledgement counted %d to %d", seed, before, again.PendingCount)
					}
					repeats++
				}
				c.hand = slices.Clone(c.hand[len(take):])
				if slices.ContainsFunc(out.Items, func(o httpapi.DeliveryOutcome) bool { return o.Outcome == "SUPERSEDED" }) {
					c.hand = nil // a consumer that was overtaken drops what it has
				}
			}
		}
		for i := 1; i < len(processed); i++ {
			if processed[i] != processed[i-1]+1 {
				refusedOrder++
			}
		}
		s := n.subscription("s")
		n.expect("gaps, disorder, pending, settled", []any{results - len(first), refusedOrder, s.PendingCount, s.SettledThrough, s.SelectedCount, s.DeadCount}, "[0 0 0 5000 5000 0]")
		if kills < 20 || lost < 20 || repeats < 20 || superseded == 0 {
			t.Errorf("too quiet: %d kills, %d lost answers, %d repeats, %d superseded", kills, lost, repeats, superseded)
		}
		t.Logf("%d kills, %d lost answers, %d repeated batches, %d superseded acknowledgements", kills, lost, repeats, superseded)
	})
}
