package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	httpapi "github.com/orbitrun/orbit/gen/http"
)

// with adds members to a submission.
func with(key, members string) string {
	return strings.Replace(fmt.Sprintf(submission, key, `{"n": 1.10}`), `"input"`, members+`,"input"`, 1)
}

// T10: 64 callers, each with a key of its own, ask for one unique task: one is accepted, all get the same task.
func TestT10ManyCallersOfOneUniqueKey(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	var mu sync.Mutex
	tasks, kept := map[string]int{}, 0
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			var r httpapi.TaskReceipt
			n.post("/v1/tasks", with(fmt.Sprint("u", i), `"unique":{"key":"report ","window_ms":60000}`)).is(201).into(&r)
			mu.Lock()
			defer mu.Unlock()
			tasks[r.TaskId]++
			if r.Deduplicated {
				kept++
			}
		})
	}
	all.Wait()
	if len(tasks) != 1 || kept != 63 {
		t.Fatalf("%d tasks, %d kept out", len(tasks), kept)
	}
	first := n.post("/v1/tasks", with("u1", `"unique":{"key":"report ","window_ms":60000}`)).is(201)
	again := n.post("/v1/tasks", with("u1", `"unique":{"key":"report ","window_ms":60000}`)).is(201)
	if !bytes.Equal(first.body, again.body) || again.header.Get("Orbit-Replayed") != "true" {
		t.Errorf("a replay differs: %s %s", first.body, again.body)
	}
	n.post("/v1/tasks", with("u1", `"unique":{"key":"other"}`)).is(409)
	var exact httpapi.TaskReceipt // keys are exact bytes (T21)
	n.post("/v1/tasks", with("v", `"unique":{"key":"report"}`)).is(201).into(&exact)
	if exact.Deduplicated {
		t.Error("a key without the blank met the one with it")
	}
	if n.run("work", `"outcome":"SUCCEEDED","output":1`) != 2 {
		t.Error("not two tasks ran")
	}
	var after httpapi.TaskReceipt
	n.post("/v1/tasks", with("w", `"unique":{"key":"report ","window_ms":60000}`)).is(201).into(&after)
	if tasks[after.TaskId] == 0 || !after.Deduplicated {
		t.Errorf("the window did not outlive its task: %+v", after)
	}
	var freed httpapi.TaskReceipt
	n.post("/v1/tasks", with("x", `"unique":{"key":"report"}`)).is(201).into(&freed)
	if freed.Deduplicated {
		t.Error("without a window the end of the task frees the key")
	}
}

// The newest input wins: 32 submissions at once leave one task open, and every other says which one took its place.
func TestADebouncedTaskIsTheNewest(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			n.post("/v1/tasks", with(fmt.Sprint("d", i), `"debounce":{"key":"index","delay_ms":600000,"max_wait_ms":3600000}`)).is(201)
		})
	}
	all.Wait()
	var open, gone httpapi.TaskList
	n.get("/v1/tasks?queue=work&state=QUEUED").is(200).into(&open)
	n.get("/v1/tasks?queue=work&state=CANCELLED").is(200).into(&gone)
	if len(open.Items) != 1 || len(gone.Items) != 31 {
		t.Fatalf("%d wait, %d superseded", len(open.Items), len(gone.Items))
	}
	for _, g := range gone.Items {
		events := n.get("/v1/tasks/" + g.TaskId + "/events").is(200)
		if *g.FailureCode != "superseded" || !bytes.Contains(events.body, []byte(`"by":"task_`)) {
			t.Errorf("%s: %s", *g.FailureCode, events.body)
		}
	}
	var task httpapi.Task
	n.get("/v1/tasks/" + open.Items[0].TaskId).is(200).into(&task)
	if wait := task.AvailableAt.Sub(task.CreatedAt).Minutes(); wait != 10 || task.WaitsFor == nil || *task.WaitsFor != "TIME" {
		t.Errorf("starts %v minutes after its acceptance, waits for %v", wait, task.WaitsFor)
	}
}

func TestSlotsAndAttributesAreJudgedBeforeSQL(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	before := n.rows()
	for members, pointer := range map[string]string{
		`"unique":{"key":""}`: "/unique/key", `"unique":{"key":"k","window_ms":-1}`: "/unique/window_ms",
		`"unique":{"key":"` + strings.Repeat("é", 128) + `"}`:                                           "/unique/key",
		`"unique":{"key":"k"},"debounce":{"key":"k","delay_ms":1,"max_wait_ms":1}`:                      "/debounce",
		`"debounce":{"key":"k","delay_ms":2,"max_wait_ms":1}`:                                           "/debounce/max_wait_ms",
		`"delay_ms":1,"debounce":{"key":"k","delay_ms":2,"max_wait_ms":2}`:                              "/delay_ms",
		`"attributes":[{"name":"Region","value":"n"}]`:                                                  "/attributes/0/name",
		`"attributes":[{"name":"region","value":""}]`:                                                   "/attributes/0/value",
		`"attributes":[{"name":"region","value":"n"},{"name":"region","value":"s"}]`:                    "/attributes/1",
		`"attributes":[` + strings.Repeat(`{"name":"a","value":"n"},`, 8) + `{"name":"b","value":"n"}]`: "/attributes",
	} {
		got := n.post("/v1/tasks", with("bad", members))
		if p := got.problem(); got.status/100 != 4 || p.Errors == nil || (*p.Errors)[0].Pointer != pointer {
			t.Errorf("%s: %s", members, got.body)
		}
	}
	if after := n.rows(); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("rows before %v, after %v", before, after)
	}
}

// Attributes are exact, listed by creation, combined with a state, and bound into the cursor.
func TestTasksAreFoundByAttribute(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	for i := range 5 {
		n.post("/v1/tasks", with(fmt.Sprint("n", i), `"attributes":[{"name":"region","value":"north"},{"name":"plan","value":"p:1 "}]`)).is(201)
	}
	n.post("/v1/tasks", with("s", `"attributes":[{"name":"region","value":"North"}]`)).is(201)
	n.run("work", `"outcome":"FAILED","failure":{"code":"broken"}`)
	list := func(query string) (l httpapi.TaskList) {
		n.get("/v1/tasks?queue=work&" + query).is(200).into(&l)
		return l
	}
	done, waiting := list("attribute=region:north&state=FAILED"), list("attribute=region:north&state=QUEUED")
	if len(list("attribute=region:north").Items) != 5 || len(list("attribute=region:North").Items) != 1 || len(list("attribute=plan:p:1%20").Items) != 5 ||
		len(list("attribute=plan:p:1").Items) != 0 || len(done.Items)+len(waiting.Items) != 5 || len(done.Items) == 0 {
		t.Errorf("%d failed, %d waiting", len(done.Items), len(waiting.Items))
	}
	page := list("attribute=region:north&limit=3")
	if rest := list("attribute=region:north&limit=3&cursor=" + page.NextCursor); len(page.Items) != 3 || len(rest.Items) != 2 || rest.NextCursor != "" {
		t.Errorf("pages of %d and %d", len(page.Items), len(rest.Items))
	}
	if p := n.get("/v1/tasks?queue=work&attribute=region:North&limit=3&cursor=" + page.NextCursor).is(400).problem(); p.Code != "cursor_invalid" {
		t.Error(p.Code)
	}
	n.get("/v1/tasks?queue=work&attribute=region:north&business_key=b").is(400)
	n.get("/v1/tasks?queue=work&attribute=region").is(400)
	var task httpapi.Task
	n.get("/v1/tasks/" + page.Items[0].TaskId).is(200).into(&task)
	if fmt.Sprint(task.Attributes) != "[{plan p:1 } {region north}]" {
		t.Errorf("shown: %v", task.Attributes)
	}
}

// Progress comes from the attempt that holds the lease, and stays to be seen after the end.
func TestProgressTravelsWithRenewals(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	path := n.submit(fmt.Sprintf(submission, "k", `1`))
	var claimed httpapi.ClaimResult
	n.post("/v1/claims", claim).is(200).into(&claimed)
	c := claimed.Tasks[0]
	renew := func(token, progress string) answer {
		return n.post("/v1/lease-renewals", fmt.Sprintf(`{"items":[{"task_id":%q,"attempt_no":1,"token":%q,"extend_ms":30000,"progress":%s}]}`, c.TaskId, token, progress))
	}
	shown := func() *httpapi.TaskProgress {
		var task httpapi.Task
		n.get(path).is(200).into(&task)
		return task.Progress
	}
	if shown() != nil {
		t.Error("progress before any")
	}
	renew(c.Token, `{"percent":10,"message":"one of ten"}`).is(200)
	renew(c.Token, `{"percent":40,"detail":{ "page" : 4.0 }}`).is(200)
	if p := shown(); p == nil || *p.Percent != 40 || p.Message != "" || string(p.Detail) != `{ "page" : 4.0 }` || p.AttemptNo != 1 {
		t.Errorf("shown: %+v", p)
	}
	if got := renew(c.Token, `{"percent":101}`); !bytes.Contains(got.body, []byte("/progress/percent")) {
		t.Errorf("a percentage over 100: %s", got.body)
	}
	n.post("/v1/completions", fmt.Sprintf(`{"worker":"w","items":[{"task_id":%q,"attempt_no":1,"token":%q,"outcome":"SUCCEEDED","output":1}]}`, c.TaskId, c.Token)).is(200)
	if got := renew(c.Token, `{"percent":99}`); !bytes.Contains(got.body, []byte(`"LOST"`)) {
		t.Errorf("after the end: %s", got.body)
	}
	if p := shown(); p == nil || *p.Percent != 40 {
		t.Errorf("a stale worker moved it: %+v", p)
	}
}
