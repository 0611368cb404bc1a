package api_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/doctor"
	httpapi "github.com/orbitrun/orbit/gen/http"
)

// finish submits, claims and completes n tasks of a queue, so that n results stand in the stream.
func (n *node) finish(queue string, count int) {
	n.Helper()
	n.finishWith(queue, count, `{"n": 1.0}`)
}

// finishWith completes them with an output.
func (n *node) finishWith(queue string, count int, output string) {
	n.Helper()
	for done := 0; done < count; done += 32 {
		var items []string
		for i := done; i < min(done+32, count); i++ {
			items = append(items, strings.Replace(fmt.Sprintf(submission, fmt.Sprint(queue, rand.Int64(), i), fmt.Sprint(i)), `"work"`, `"`+queue+`"`, 1))
		}
		n.post("/v1/task-batches", `{"items":[`+strings.Join(items, ",")+`]}`).is(200)
		var claimed httpapi.ClaimResult
		ask := strings.Replace(strings.Replace(claim, `"work"`, `"`+queue+`"`, 1), `"max_tasks":8`, `"max_tasks":32`, 1)
		n.post("/v1/claims", ask).is(200).into(&claimed)
		items = nil
		for _, t := range claimed.Tasks {
			items = append(items, fmt.Sprintf(`{"task_id":%q,"attempt_no":%d,"token":%q,"outcome":"SUCCEEDED","output":%s}`, t.TaskId, t.AttemptNo, t.Token, output))
		}
		for chunk := range slices.Chunk(items, max(1, min(32, 1<<20/len(output)))) { // a body has a bound
			n.post("/v1/completions", `{"worker":"w","items":[`+strings.Join(chunk, ",")+`]}`).is(200)
		}
	}
}

func (n *node) subscribe(name, settings string) {
	n.Helper()
	n.do(call{method: "PUT", path: "/v1/subscriptions/" + name, body: settings}).is(200)
}

func (n *node) pull(name, consumer string, holding int64, most int, wait time.Duration) httpapi.Pulled {
	n.Helper()
	if n.socket {
		return n.pushed(name, consumer, holding, most, wait)
	}
	var out httpapi.Pulled
	n.post("/v1/subscriptions/"+name+"/pull", fmt.Sprintf(`{"consumer":%q,"holding_through":%d,"max":%d,"wait_ms":%d}`, consumer, holding, most, wait.Milliseconds())).is(200).into(&out)
	return out
}

// settle acknowledges or, with more members, refuses; it returns the outcomes in words.
func (n *node) settle(name, verb, more string, ds ...httpapi.Delivery) (string, httpapi.DeliveryOutcomes) {
	n.Helper()
	var items, words []string
	for _, d := range ds {
		items = append(items, fmt.Sprintf(`{"seq":%d,"generation":%d,"proof":%q%s}`, d.Seq, d.Generation, d.Proof, more))
	}
	var out httpapi.DeliveryOutcomes
	body := `{"items":[` + strings.Join(items, ",") + `]}`
	if n.socket {
		out = n.framed(name, verb, body)
	} else {
		n.post("/v1/subscriptions/"+name+"/"+verb, body).is(200).into(&out)
	}
	for _, o := range out.Items {
		words = append(words, string(o.Outcome))
	}
	return strings.Join(words, " "), out
}

func (n *node) subscription(name string) httpapi.Subscription {
	n.Helper()
	var out httpapi.Subscription
	n.get("/v1/subscriptions/" + name).is(200).into(&out)
	n.exact(name, out)
	return out
}

// exact compares the counters with the rows.
func (n *node) exact(name string, s httpapi.Subscription) {
	n.Helper()
	var pending, dead int64
	id := strings.TrimPrefix(s.SubscriptionId, "sub_")
	must(n, n.db.QueryRowContext(n.Context(), "SELECT COUNT(*) FROM subscription_delivery WHERE subscription_id = CONV(?, 16, 10)", id).Scan(&pending))
	must(n, n.db.QueryRowContext(n.Context(), "SELECT COUNT(*) FROM subscription_dead_letter WHERE subscription_id = CONV(?, 16, 10)", id).Scan(&dead))
	if s.PendingCount != pending || s.DeadCount != dead {
		n.Errorf("%s counts %d pending and %d dead, the rows are %d and %d", name, s.PendingCount, s.DeadCount, pending, dead)
	}
}

func (n *node) expect(what string, got, want any) {
	n.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		n.Errorf("%s: %v, want %v", what, got, want)
	}
}

// later moves the deliveries of all subscriptions back in time, which is to them as if time had passed.
func (n *node) later(seconds int) {
	n.Helper()
	_, err := n.db.ExecContext(n.Context(), "UPDATE subscription_delivery SET due_at = due_at - INTERVAL ? SECOND", seconds)
	must(n, err)
}

// chain recomputes the link of a delivery from what was delivered alone.
func chain(t testing.TB, d httpapi.Delivery) string {
	t.Helper()
	b, err := hex.DecodeString(d.PreviousHash)
	must(t, err)
	number := func(text, prefix string) uint64 {
		n, ok := auth.ParseID(prefix, text)
		if !ok {
			t.Fatal(text)
		}
		return n
	}
	b = binary.BigEndian.AppendUint64(b, uint64(d.Seq))
	b = binary.BigEndian.AppendUint64(b, number(d.ApplicationId, "app"))
	b = binary.BigEndian.AppendUint64(b, number(d.QueueId, "queue"))
	task, err := hex.DecodeString(strings.TrimPrefix(d.TaskId, "task_"))
	must(t, err)
	b = append(append(b, task...), map[httpapi.TaskState]byte{"SUCCEEDED": 2, "FAILED": 3, "CANCELLED": 4, "NEEDS_REVIEW": 5}[d.State])
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(b, uint32(d.StateVersion)))
	return hex.EncodeToString(sum[:])
}

// One subscription as its consumer and its operator see it (T18).
func TestResultsReachAConsumerOnceAcknowledged(t *testing.T) {
	overBoth(t, func(t *testing.T, n *node) {
		n.queue("work")
		n.queue("other")
		n.finish("work", 2)
		n.subscribe("s", `{"queues":["work"],"start":"FIRST","window":4}`)
		n.subscribe("s", `{"queues":["work"],"start":"FIRST","window":4}`)
		n.finish("other", 3)
		n.finish("work", 4)
		s := n.subscription("s")
		n.expect("created", []any{s.Version, s.NextSeq, s.HeadSeq, s.Unread, s.Queues, s.InOrder}, "[1 1 9 9 [work] true]")
		got := n.pull("s", "a", 0, 3, 0)
		n.expect("first page", []any{len(got.Items), got.Items[0].Seq, got.Items[1].Seq, got.Items[2].Seq, got.Items[2].PreviousSeq, got.SettledThrough}, "[3 1 2 6 2 0]")
		for _, d := range got.Items {
			if d.Hash != chain(t, d) || d.State != "SUCCEEDED" || string(d.Output) != `{"n": 1.0}` || d.Queue != "work" || d.AttemptNo == nil || d.Handler != "h" {
				t.Errorf("delivered %+v with output %s", d, d.Output)
			}
		}
		n.expect("window", len(n.pull("s", "a", 6, 10, 0).Items), 1)
		n.expect("a second consumer waits for the order", len(n.pull("s", "b", 0, 10, 0).Items), 0)
		words, answer := n.settle("s", "acks", "", got.Items[0], got.Items[2])
		n.expect("acknowledged", []any{words, answer.PendingCount, answer.SettledThrough}, "[ACKNOWLEDGED ACKNOWLEDGED 2 1]")
		words, answer = n.settle("s", "acks", "", got.Items[0], got.Items[0])
		n.expect("and again", []any{words, answer.PendingCount}, "[ACKNOWLEDGED ACKNOWLEDGED 2]")
		forged := got.Items[1]
		forged.Generation = 2
		words, _ = n.settle("s", "acks", "", forged)
		n.expect("a guess", words, "UNKNOWN")
		s = n.subscription("s")
		n.expect("progress", []any{s.SettledThrough, s.PendingCount, s.SelectedCount, s.Unread, s.OldestPendingAt != nil}, "[1 2 4 2 true]")
		if p := n.do(call{method: "PUT", path: "/v1/subscriptions/s", body: `{"queues":["other"]}`}).is(409).problem(); p.Code != "subscription_fixed" {
			t.Error(p.Code)
		}
		if p := n.do(call{method: "PUT", path: "/v1/subscriptions/s", body: `{"queues":["nowhere"]}`}).is(422).problem(); p.Code != "queue_unknown" || (*p.Errors)[0].Pointer != "/queues/0" {
			t.Error(p.Code)
		}
		n.do(call{method: "DELETE", path: "/v1/subscriptions/s"}).is(200)
		n.get("/v1/subscriptions/s").is(404)
		if rows := n.rows(); rows["subscription"]+rows["subscription_delivery"]+rows["subscription_dead_letter"] != 0 {
			t.Errorf("left behind: %v", rows)
		}
	})
}

// Only the latest generation is heard, and an expired one as long as nobody was given a newer (seed: ACK).
func TestGenerationsDelaysAndDeadLetters(t *testing.T) {
	overBoth(t, func(t *testing.T, n *node) {
		n.queue("work")
		n.subscribe("s", `{"generations_max":2}`)
		n.finish("work", 3)
		old := n.pull("s", "a", 0, 1, 0).Items[0]
		n.later(31)
		words, _ := n.settle("s", "acks", "", old)
		n.expect("expired and not superseded", words, "ACKNOWLEDGED")
		old = n.pull("s", "a", 0, 1, 0).Items[0]
		n.later(31)
		young := n.pull("s", "b", 0, 1, 0).Items[0]
		n.expect("the next generation", []any{young.Seq, young.Generation, young.Proof != old.Proof}, "[2 2 true]")
		words, _ = n.settle("s", "acks", "", old)
		n.expect("superseded", words, "SUPERSEDED")
		words, _ = n.settle("s", "nacks", `,"delay_ms":60000,"returned":true`, young)
		n.expect("returned", words, "POSTPONED")
		young = n.pull("s", "b", 0, 1, 0).Items[0]
		words, answer := n.settle("s", "nacks", `,"delay_ms":60000,"reason":"closed"`, young)
		n.expect("the budget is used up", []any{words, answer.PendingCount, answer.SettledThrough}, "[DEAD_LETTER 0 2]")
		last := n.pull("s", "b", 0, 1, 0).Items[0]
		n.expect("the next one knows the dead one", []any{last.Seq, last.PreviousSeq}, "[3 2]")
		n.settle("s", "nacks", `,"delay_ms":60000`, last)
		n.expect("delayed", len(n.pull("s", "b", 0, 1, 0).Items), 0)
		n.later(60)
		n.expect("and back", n.pull("s", "b", 0, 1, 0).Items[0].Generation, 2)

		var letters httpapi.DeadLetterList
		n.get("/v1/subscriptions/s/dead-letters").is(200).into(&letters)
		n.expect("dead letters", []any{len(letters.Items), letters.Items[0].Seq, *letters.Items[0].Reason}, "[1 2 closed]")
		var again httpapi.Redelivery
		n.post("/v1/subscriptions/s/redeliveries", `{"seqs":[2,3,77],"reason":"open"}`).is(200).into(&again)
		n.expect("redelivered", []any{again.Redelivered, again.PendingCount, again.DeadCount}, "[[2] 2 0]")
		back := n.pull("s", "b", 3, 1, 0).Items[0]
		n.expect("generation goes on", []any{back.Seq, back.Generation}, "[2 4]")
		n.later(31)
		n.pull("s", "b", 0, 1, 0)
		n.later(31)
		n.pull("s", "b", 0, 1, 0)
		n.expect("dead by silence", n.subscription("s").DeadCount, 2)
		letters = httpapi.DeadLetterList{}
		n.get("/v1/subscriptions/s/dead-letters").is(200).into(&letters)
		n.expect("both", []any{letters.Items[0].Seq, letters.Items[1].Seq, letters.Items[0].Reason == nil}, "[2 3 true]")
	})
}

func TestSeekNeedsAPausedSubscriptionAndVoidsProofs(t *testing.T) {
	overBoth(t, func(t *testing.T, n *node) {
		n.queue("work")
		n.finish("work", 5)
		n.subscribe("s", `{"start":"SEQUENCE","start_seq":3}`)
		seek := func(body string) answer { return n.post("/v1/subscriptions/s/seek", body) }
		got := n.pull("s", "a", 0, 10, 0)
		n.expect("from a number", []any{len(got.Items), got.Items[0].Seq}, "[3 3]")
		n.expect("active", seek(`{"to":"FIRST","reason":"r"}`).is(409).problem().Code, "subscription_active")
		n.subscribe("s", `{"paused":true}`)
		n.expect("paused", len(n.pull("s", "a", 0, 10, 0).Items), 0)
		n.expect("held", seek(`{"to":"FIRST","reason":"r"}`).is(409).problem().Code, "deliveries_held")
		words, _ := n.settle("s", "acks", "", got.Items[0])
		n.expect("acknowledged while paused", words, "ACKNOWLEDGED")
		n.later(31)
		n.expect("not written yet", seek(`{"to":"SEQUENCE","seq":9,"reason":"r"}`).is(409).problem().Code, "sequence_unavailable")
		n.expect("no number", seek(`{"to":"SEQUENCE","reason":"r"}`).is(400).problem().Code, "request_invalid")
		seek(`{"to":"FIRST","reason":"restored"}`).is(200)
		n.subscribe("s", `{}`)
		words, _ = n.settle("s", "acks", "", got.Items[1])
		n.expect("a proof of before", words, "UNKNOWN")
		again := n.pull("s", "a", 0, 10, 0)
		n.expect("from the beginning", []any{len(again.Items), again.Items[0].Seq, again.Epoch}, "[5 1 2]")
		n.subscribe("s", `{"paused":true}`)
		n.later(31)
		seek(`{"to":"HEAD","reason":"r"}`).is(200)
		n.subscribe("s", `{}`)
		n.expect("nothing at the head", len(n.pull("s", "a", 0, 10, 0).Items), 0)
		n.subscription("s")
	})
}

// A wait ends when a result is committed, without polling by the consumer.
func TestAWaitingPullIsWoken(t *testing.T) {
	overBoth(t, func(t *testing.T, n *node) {
		n.queue("work")
		n.subscribe("s", `{}`)
		got := make(chan httpapi.Pulled, 1)
		start := time.Now()
		go func() { defer close(got); got <- n.pull("s", "a", 0, 10, 10*time.Second) }()
		time.Sleep(50 * time.Millisecond)
		n.finish("work", 1)
		if p := <-got; len(p.Items) != 1 || time.Since(start) > 3*time.Second {
			t.Errorf("%d results after %s", len(p.Items), time.Since(start))
		}
		start = time.Now()
		n.expect("a wait without anything", len(n.pull("s", "a", 1, 10, 300*time.Millisecond).Items), 0)
		if took := time.Since(start); took < 300*time.Millisecond {
			t.Errorf("the wait took %s", took)
		}
	})
}

// Two consumers pull at the same time: no generation is given twice (order off, so that both get work).
func TestTwoConsumersNeverGetTheSameGeneration(t *testing.T) {
	overBoth(t, func(t *testing.T, n *node) {
		n.queue("work")
		n.subscribe("s", `{"in_order":false,"window":64}`)
		n.finish("work", 128)
		var mu sync.Mutex
		var all sync.WaitGroup
		seen, settled := map[string]string{}, 0
		for i := range 4 {
			name := fmt.Sprint("c", i)
			all.Go(func() {
				for empty := 0; empty < 3; {
					got := n.pull("s", name, 0, 8, 0).Items
					if len(got) == 0 {
						empty++
						continue
					}
					_, out := n.settle("s", "acks", "", got...)
					mu.Lock()
					for i, d := range got {
						key := fmt.Sprint(d.Seq, ".", d.Generation)
						if who := seen[key]; who != "" {
							t.Errorf("%s went to %s and %s", key, who, name)
						}
						seen[key] = name
						if out.Items[i].Outcome == "ACKNOWLEDGED" {
							settled++
						}
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		s := n.subscription("s")
		n.expect("all of them", []any{settled, s.PendingCount, s.SettledThrough, s.SelectedCount}, "[128 0 128 128]")
	})
}

// A stream with a hole is refused rather than read on.
func TestAHoleInTheStreamIsRefused(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("s", `{}`)
	n.finish("work", 3)
	_, err := n.db.ExecContext(t.Context(), "DELETE FROM stream_entry WHERE seq = 2")
	must(t, err)
	p := n.post("/v1/subscriptions/s/pull", `{"consumer":"a","max":10}`).is(409).problem()
	n.expect("a hole", []any{p.Code, *p.Limit, *p.Current}, "[stream_broken 2 3]")
	if p.Detail == nil || json.Valid([]byte(*p.Detail)) {
		t.Error(p.Detail)
	}
}

// A subscription may select by state and by handler; what is left out is no gap, and the selection is fixed.
func TestResultsAreSelectedByStateAndHandler(t *testing.T) {
	overBoth(t, func(t *testing.T, n *node) {
		n.queue("work")
		n.subscribe("all", `{"states":["CANCELLED","NEEDS_REVIEW","FAILED","SUCCEEDED"]}`)
		n.subscribe("failed", `{"states":["FAILED","CANCELLED"],"handlers":["pay","bill","pay"]}`)
		n.subscribe("ship", `{"handlers":["ship"]}`)
		for i, handler := range []string{"pay", "ship", "bill", "pay", "ship", "h"} {
			body := strings.Replace(fmt.Sprintf(submission, fmt.Sprint("s", i), fmt.Sprint(i)), `"handler":"h"`, `"handler":"`+handler+`"`, 1)
			var task httpapi.TaskReceipt
			n.post("/v1/tasks", body).is(201).into(&task)
			if i%2 == 0 {
				n.do(call{method: "POST", path: "/v1/tasks/" + task.TaskId + "/cancel", body: `{"reason":"r"}`, header: map[string]string{"Idempotency-Key": fmt.Sprint("c", i)}}).is(200)
				continue
			}
			var got httpapi.ClaimResult
			n.post("/v1/claims", strings.Replace(claim, `"handler":"h"`, `"handler":"`+handler+`"`, 1)).is(200).into(&got)
			n.post("/v1/completions", fmt.Sprintf(`{"worker":"w","items":[{"task_id":%q,"attempt_no":1,"token":%q,"outcome":"SUCCEEDED","output":1}]}`, task.TaskId, got.Tasks[0].Token)).is(200)
		}
		for name, want := range map[string]string{"all": "[1 2 3 4 5 6]", "failed": "[1 3]", "ship": "[2 5]"} {
			var seqs []int64
			before := int64(0)
			for _, d := range n.pull(name, "a", 0, 10, 5*time.Second).Items {
				n.expect("previous of "+name, d.PreviousSeq, before)
				before, seqs = d.Seq, append(seqs, d.Seq)
			}
			n.expect(name, seqs, want)
		}
		s := n.subscription("failed")
		n.expect("shown", []any{s.States, s.Handlers, s.SelectedCount}, "[[CANCELLED FAILED] [bill pay] 2]")
		s = n.subscription("all")
		n.expect("every state is no selection", []any{len(s.States), len(s.Handlers)}, "[0 0]")
		n.subscribe("failed", `{"states":["CANCELLED","FAILED"],"handlers":["bill","pay"]}`)
		for _, other := range []string{`{}`, `{"states":["FAILED"],"handlers":["bill","pay"]}`, `{"states":["FAILED","CANCELLED"]}`} {
			n.expect("fixed", n.do(call{method: "PUT", path: "/v1/subscriptions/failed", body: other}).is(409).problem().Code, "subscription_fixed")
		}
		n.do(call{method: "PUT", path: "/v1/subscriptions/x", body: `{"states":["QUEUED"]}`}).is(400)
		findings, err := doctor.Check(t.Context(), n.db.DB)
		must(t, err)
		n.expect("healthy", findings, "[]")
		_, err = n.db.ExecContext(t.Context(), "UPDATE subscription SET pending_count = pending_count + 1 WHERE name = 'ship'")
		must(t, err)
		findings, err = doctor.Check(t.Context(), n.db.DB)
		must(t, err)
		if len(findings) != 1 || findings[0].Check != "subscription_drift" || findings[0].Subject != "subscription ship" {
			t.Errorf("found %+v", findings)
		}
		_, err = n.db.ExecContext(t.Context(), "UPDATE subscription SET pending_count = pending_count - 1 WHERE name = 'ship'")
		must(t, err)
		_, err = n.db.ExecContext(t.Context(), "DELETE FROM subscription WHERE name = 'ship'")
		must(t, err)
		findings, err = doctor.Check(t.Context(), n.db.DB)
		must(t, err)
		if len(findings) != 2 || findings[0].Check != "orphan_delivery" || findings[0].Subject != "result 2" || findings[1].Subject != "result 5" {
			t.Errorf("found %+v", findings)
		}
	})
}
