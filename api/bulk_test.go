package api_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	httpapi "github.com/orbitrun/orbit/gen/http"

	"github.com/orbitrun/orbit/api"
	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/api/doctor"
	"github.com/orbitrun/orbit/api/lane"
	"github.com/orbitrun/orbit/api/runner"
	"github.com/orbitrun/orbit/api/tx"
)

// idle is a node whose runner, which goes on with bulk operations, is still to be started.
func idle(t *testing.T) (n *node, start func()) {
	t.Helper()
	var reader *sql.DB
	var writer *tx.DB
	var set *lane.Set
	ring := func() {}
	n = newNode(t, func(o *api.Options) {
		reader, writer, set = o.Reader, o.Writer, o.Pulse.(api.Lanes).Set
		o.BulkBegun = func() { ring() }
	})
	return n, func() {
		r := runner.New(reader, writer, set, slog.New(slog.DiscardHandler))
		ring = r.NoteBulk
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); r.Run(ctx) }()
		t.Cleanup(func() { cancel(); <-done })
	}
}

// scanned is a node with a runner.
func scanned(t *testing.T) *node {
	t.Helper()
	n, start := idle(t)
	start()
	return n
}

// bulk begins an operation and waits for its end.
func (n *node) bulk(key, members string) httpapi.BulkOperation {
	n.Helper()
	var receipt httpapi.BulkOperationReceipt
	n.post("/v1/bulk-operations", `{"operation_key":"`+key+`","queue":"work","reason":"wrong template",`+members+`}`).is(201).into(&receipt)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var op httpapi.BulkOperation
		n.get("/v1/bulk-operations/" + receipt.OperationId).is(200).into(&op)
		if op.State != "RUNNING" {
			return op
		}
		if time.Now().After(deadline) {
			n.Fatalf("not ended: %+v", op)
		}
	}
}

// Bulk operations as an operator meets them: a dry run, a purge, a retry of what was cancelled, with receipts, results
// task by task, and the audit of each task.
func TestBulkOperationsThroughTheSurface(t *testing.T) {
	n := scanned(t)
	n.queue("work")
	for i := range 12 {
		n.submit(fmt.Sprintf(submission, fmt.Sprint("k", i), "1"))
	}
	const purge = `"kind":"PURGE"`
	if dry := n.bulk("look", purge+`,"dry_run":true`); dry.Done != 12 || dry.Matched != 12 || !dry.DryRun || dry.State != "DONE" || dry.EndedAt == nil {
		t.Errorf("%+v", dry)
	}
	op := n.bulk("go", purge)
	if op.Done != 12 || op.Skipped+op.Refused != 0 || op.Queue != "work" || op.OperationKey != "go" || op.Reason != "wrong template" || !strings.HasPrefix(op.By, "cred_") {
		t.Errorf("%+v", op)
	}
	first := n.post("/v1/bulk-operations", `{"operation_key":"go","queue":"work","reason":"wrong template",`+purge+`}`).is(201)
	again := n.post("/v1/bulk-operations", `{"operation_key":"go","queue":"work","reason":"wrong template",`+purge+`}`).is(201)
	if !bytes.Equal(first.body, again.body) || again.header.Get("Orbit-Replayed") != "true" || !bytes.Contains(first.body, []byte(op.OperationId)) {
		t.Errorf("%s %s", first.body, again.body)
	}
	if p := n.post("/v1/bulk-operations", `{"operation_key":"go","queue":"work","reason":"another",`+purge+`}`).is(409).problem(); p.Code != "idempotency_conflict" || *p.Subject != op.OperationId {
		t.Errorf("%+v", p)
	}
	// results, page by page
	var seen int
	for cursor := ""; ; {
		var page httpapi.BulkItemList
		n.get("/v1/bulk-operations/" + op.OperationId + "/items?result=DONE&limit=5" + cursor).is(200).into(&page)
		for _, item := range page.Items {
			if item.Code != "cancelled" || item.Result != "DONE" {
				t.Errorf("%+v", item)
			}
			seen++
		}
		if page.NextCursor == "" {
			break
		}
		cursor = "&cursor=" + page.NextCursor
		if p := n.get("/v1/bulk-operations/" + op.OperationId + "/items?limit=5" + cursor).is(400).problem(); p.Code != "cursor_invalid" {
			t.Error(p.Code)
		}
	}
	if seen != 12 {
		t.Errorf("%d results", seen)
	}
	retried := n.bulk("back", `"kind":"RETRY","filter":{"state":"CANCELLED"}`)
	if retried.Done != 12 || retried.Filter.State != "CANCELLED" {
		t.Errorf("%+v", retried)
	}
	var items httpapi.BulkItemList
	n.get("/v1/bulk-operations/" + retried.OperationId + "/items").is(200).into(&items)
	var task httpapi.Task
	n.get("/v1/tasks/" + *items.Items[0].Successor).is(200).into(&task)
	if task.Source != "MANUAL_RETRY" || *task.RetryOf != items.Items[0].TaskId {
		t.Errorf("%+v", task)
	}
	ran := 0
	for some := 1; some > 0; ran += some {
		some = n.run("work", `"outcome":"SUCCEEDED","output":1`)
	}
	if ran != 12 {
		t.Errorf("%d successors ran", ran)
	}
	var list httpapi.BulkOperationList
	n.get("/v1/bulk-operations?queue=work").is(200).into(&list)
	if len(list.Items) != 3 || list.Items[0].OperationId != retried.OperationId {
		t.Errorf("%+v", list.Items)
	}
	var ended httpapi.BulkOperation
	n.post("/v1/bulk-operations/"+op.OperationId+"/abort", `{"reason":"too late"}`).is(200).into(&ended)
	if ended.State != "DONE" {
		t.Errorf("an abort changed what had ended: %+v", ended)
	}
}

// What is refused is refused by name and writes nothing. The scope of what is done to the tasks is asked for beside
// queues:manage, at the door and for every page: a key that is revoked in between does nothing more.
func TestBulkOperationsAreGuarded(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.submit(fmt.Sprintf(submission, "k", "1"))
	before := n.rows()
	for members, pointer := range map[string]string{
		`"kind":"PURGE","filter":{"state":"RUNNING"}`:                                       "/filter/state",
		`"kind":"CANCEL","filter":{"state":"FAILED"}`:                                       "/filter/state",
		`"kind":"CANCEL","filter":{"failure_code":"x"}`:                                     "/filter/failure_code",
		`"kind":"EVERYTHING"`:                                                               "/kind",
		`"kind":"PURGE","filter":{"color":"red"}`:                                           "/filter/color",
		`"kind":"PURGE","filter":{"business_key":"b","attribute":{"name":"a","value":"b"}}`: "/filter/attribute",
	} {
		if p := n.post("/v1/bulk-operations", `{"operation_key":"x","queue":"work","reason":"r",`+members+`}`).is(400).problem(); (*p.Errors)[0].Pointer != pointer {
			t.Errorf("%s: %+v", members, *p.Errors)
		}
	}
	n.post("/v1/bulk-operations", `{"operation_key":"x","queue":"nowhere","reason":"r","kind":"PURGE"}`).is(404)
	for kind, scopes := range map[string][]string{
		"PURGE": {auth.ScopeQueuesManage, auth.ScopeTasksRetry}, "CANCEL": {auth.ScopeQueuesManage}, "RETRY": {auth.ScopeQueuesManage, auth.ScopeTasksCancel},
	} {
		p := n.do(call{method: "POST", path: "/v1/bulk-operations", key: n.key(scopes...).Key.Text(), body: `{"operation_key":"x","queue":"work","reason":"r","kind":"` + kind + `"}`}).is(403).problem()
		if p.Code != "scope_missing" {
			t.Errorf("%s: %s", kind, p.Code)
		}
	}
	after := n.rows()
	delete(before, "credential")
	delete(after, "credential")
	delete(before, "audit")
	delete(after, "audit")
	delete(before, "tx_command")
	delete(after, "tx_command")
	if fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("rows before %v, after %v", before, after)
	}
}

// A key that is revoked after its operation was accepted does nothing more.
func TestABulkOperationOfARevokedKeyStops(t *testing.T) {
	n, start := idle(t)
	n.queue("work")
	k := n.key(auth.ScopeQueuesManage, auth.ScopeTasksCancel)
	var receipt httpapi.BulkOperationReceipt
	n.submit(fmt.Sprintf(submission, "k", "1"))
	n.do(call{method: "POST", path: "/v1/bulk-operations", key: k.Key.Text(), body: `{"operation_key":"x","queue":"work","reason":"r","kind":"PURGE"}`}).is(201).into(&receipt)
	n.post("/v1/admin/credentials/"+auth.CredentialText(k.ID)+"/revoke", `{"reason":"lost"}`).is(200)
	start()
	var op httpapi.BulkOperation
	for deadline := time.Now().Add(10 * time.Second); op.State != "ABORTED" && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		n.get("/v1/bulk-operations/" + receipt.OperationId).is(200).into(&op)
	}
	if op.State != "ABORTED" || op.StopCode == nil || *op.StopCode != "credential_revoked" || op.Matched != 0 {
		t.Errorf("%+v", op)
	}
	if n.run("work", `"outcome":"SUCCEEDED","output":1`) != 1 {
		t.Error("the task is gone")
	}
}

// T20: a bulk operation and its results stay as long as the audit, and then go, a large one in pages; a running one stays.
func TestT20BulkOperationsGoWithTheAudit(t *testing.T) {
	n := scanned(t)
	n.queue("work")
	n.do(call{method: "PUT", path: "/v1/admin/retention", body: keepLittle}).is(200)
	n.submit(fmt.Sprintf(submission, "k", "1"))
	op := n.bulk("purge", `"kind":"PURGE"`)
	if got := n.sweep("bulk_operation", "bulk_item"); got != "1 1" {
		t.Errorf("before its time %s are left", got)
	}
	_, err := n.db.Exec("INSERT INTO bulk_item SELECT namespace_id, operation_id, UNHEX(LPAD(HEX(i), 32, '0')), 1, 'cancelled', NULL FROM bulk_item JOIN (SELECT a.n * 50 + b.n AS i FROM " +
		numbersTo50("a") + " JOIN " + numbersTo50("b") + ") x")
	must(t, err)
	_, err = n.db.Exec("UPDATE bulk_operation SET ended_at = ended_at - INTERVAL 2 DAY, did = did + 2500")
	must(t, err)
	_, err = n.db.Exec("INSERT INTO bulk_operation SELECT namespace_id, UNHEX(REPEAT('1', 32)), application_id, queue_id, credential_id, 'other', digest, kind, 1, 1, want_state, created_from, created_before, cursor_at, cursor_id, 0, 0, 0, 0, created_at - INTERVAL 3 DAY, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, reason FROM bulk_operation")
	must(t, err)
	if got := n.sweep("bulk_item"); got != "0" {
		t.Errorf("%s results are left", got)
	}
	n.get("/v1/bulk-operations/" + op.OperationId).is(404)
	n.get("/v1/bulk-operations/bulk_" + strings.Repeat("1", 32)).is(200)
}

// numbersTo50 is a table of 0 to 49 in SQL that every server reads.
func numbersTo50(name string) string {
	out := "(SELECT 0 AS n"
	for i := 1; i < 50; i++ {
		out += fmt.Sprintf(" UNION ALL SELECT %d", i)
	}
	return out + ") " + name
}

// T6: the doctor names a rate that is switched on and missing, a reason without a hold, and an operation that counts other
// than it wrote down; and nothing of a sound system.
func TestT6DoctorKnowsQueuesAndBulkOperations(t *testing.T) {
	n := scanned(t)
	n.do(call{method: "PUT", path: "/v1/queues/work", body: `{"open_tasks_max":9,"running_attempts_max":9,"rate":{"tokens":1,"period_ms":1000,"burst":1}}`}).is(200)
	n.post("/v1/queues/work/pause", `{"reason":"r"}`).is(200)
	n.submit(fmt.Sprintf(submission, "k", "1"))
	n.bulk("purge", `"kind":"PURGE"`)
	finds := func(want string) {
		t.Helper()
		found, err := doctor.Check(t.Context(), n.Reader)
		must(t, err)
		var names []string
		for _, f := range found {
			names = append(names, f.Check)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	finds("")
	for _, c := range []struct{ breaks, heals, want string }{
		{"UPDATE queue SET rate_limited = 0", "UPDATE queue SET rate_limited = 1", "queue_misfit"},
		{"UPDATE queue SET paused = 0", "UPDATE queue SET paused = 1", "queue_misfit"},
		{"UPDATE bulk_operation SET did = 2", "UPDATE bulk_operation SET did = 1", "bulk_drift"},
		{"UPDATE bulk_item SET result = 2", "UPDATE bulk_item SET result = 1", "bulk_drift"},
	} {
		_, err := n.db.Exec(c.breaks)
		must(t, err)
		finds(c.want)
		_, err = n.db.Exec(c.heals)
		must(t, err)
		finds("")
	}
}

// Tasks of workflows: a purge ends them as a single cancel would, and the instance goes on with that result; a retry of
// them is refused by name, because the instance decides.
func TestBulkOperationsMeetWorkflows(t *testing.T) {
	n := scanned(t)
	n.queue("work")
	n.post("/v1/workflows", fmt.Sprintf(`{"document":%s}`, workflow)).is(201)
	var started struct {
		InstanceID string `json:"instance_id"`
	}
	n.post("/v1/instances", `{"start_key":"s","definition":"chain","input":{}}`).is(201).into(&started)
	n.submit(fmt.Sprintf(submission, "k", "1"))
	if op := n.bulk("purge", `"kind":"PURGE"`); op.Done != 2 {
		t.Errorf("%+v", op)
	}
	n.until("/v1/instances/"+started.InstanceID, "NEEDS_REVIEW")
	op := n.bulk("retry", `"kind":"RETRY"`)
	if op.Done != 1 || op.Refused != 1 {
		t.Errorf("%+v", op)
	}
	var items httpapi.BulkItemList
	n.get("/v1/bulk-operations/" + op.OperationId + "/items?result=REFUSED").is(200).into(&items)
	if len(items.Items) != 1 || items.Items[0].Code != "task_owned_by_workflow" {
		t.Errorf("%+v", items.Items)
	}
}
