package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api"
	"github.com/orbitrun/orbit/api/auth"
	"github.com/orbitrun/orbit/gen/db"
)

// concrete fills the path of an operation with ids that exist nowhere.
func concrete(path string) string {
	return strings.NewReplacer(":task_id", "task_"+strings.Repeat("0", 32), ":instance_id", "inst_"+strings.Repeat("0", 32),
		":application_id", "app_"+strings.Repeat("0", 16), ":credential_id", "cred_"+strings.Repeat("0", 16),
		":operation_id", "bulk_"+strings.Repeat("0", 32), ":queue", "nowhere", ":subscription", "nowhere", ":name", "nothing", ":version", "1").Replace(path)
}

// Every operation × every kind of wrong key: refused by name before the request is looked at, and nothing is written
// (C48, C49). The list comes from the description, so an operation cannot be forgotten.
func TestEveryOperationRefusesEveryWrongKey(t *testing.T) {
	n := newNode(t)
	expired, revoked := n.key(auth.AllScopes...), n.key(auth.AllScopes...)
	_, err := n.db.ExecContext(t.Context(), "UPDATE credential SET expires_at = NOW(6) - INTERVAL 1 SECOND WHERE credential_id = ?", expired.ID)
	must(t, err)
	_, err = n.db.ExecContext(t.Context(), "UPDATE credential SET revoked_at = NOW(6) WHERE credential_id = ?", revoked.ID)
	must(t, err)
	without := map[string]auth.Issued{}
	for _, scope := range auth.AllScopes {
		without[scope] = n.key(slices.DeleteFunc(slices.Clone(auth.AllScopes), func(s string) bool { return s == scope })...)
	}
	stranger, err := n.service.Bootstrap(t.Context(), "elsewhere", "app", "key", auth.AllScopes)
	must(t, err)
	crossed := stranger.Key // a known secret under the ids of another namespace
	crossed.Namespace, crossed.Credential = n.admin.Key.Namespace, n.admin.Key.Credential
	guessed := auth.Mint(n.admin.Key.Namespace, n.admin.Key.Credential)
	before := n.rows()
	for _, o := range api.Surface(t) {
		if o.Access == "public" || o.Access == "admin port" {
			continue
		}
		for _, c := range []struct{ name, key, code string }{
			{"no key", "-", "credential_missing"}, {"not a key", "orb_nonsense", "credential_invalid"}, {"guessed secret", guessed.Text(), "credential_invalid"},
			{"another key's secret", crossed.Text(), "credential_invalid"}, {"unknown", auth.Mint(1, 2).Text(), "credential_invalid"},
			{"expired", expired.Key.Text(), "credential_expired"}, {"revoked", revoked.Key.Text(), "credential_revoked"},
			{"without the scope", without[o.Scope].Key.Text(), "scope_missing"},
		} {
			if c.code == "scope_missing" && o.Scope == "" {
				continue
			}
			got := n.do(call{method: o.Method, path: concrete(o.Path), key: c.key, body: bodyFor(o)})
			if p := got.problem(); p.Code != c.code || got.status != map[bool]int{true: 403, false: 401}[c.code == "scope_missing"] {
				t.Errorf("%s with %s: %d %s", o.ID, c.name, got.status, p.Code)
			}
		}
	}
	if after := n.rows(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("refused requests wrote rows:\n%v\n%v", before, after)
	}
}

func bodyFor(o api.Operation) string {
	if o.Body {
		return `{}`
	}
	return ""
}

// A full key of another namespace sees an object that exists exactly as one that never did (O12, C47).
func TestAnotherNamespaceSeesNothing(t *testing.T) {
	n := newNode(t)
	stranger, err := n.service.Bootstrap(t.Context(), "elsewhere", "app", "key", auth.AllScopes)
	must(t, err)
	neighbour, err := n.service.Bootstrap(t.Context(), "here", "neighbour", "key", auth.AllScopes)
	must(t, err)
	n.queue("work")
	var receipt struct {
		TaskID string `json:"task_id"`
	}
	n.post("/v1/tasks", fmt.Sprintf(submission, "k", "1")).is(201).into(&receipt)
	n.post("/v1/workflows", fmt.Sprintf(`{"document":%s}`, workflow)).is(201)
	var started struct {
		InstanceID string `json:"instance_id"`
	}
	n.post("/v1/instances", `{"start_key":"s","definition":"chain","input":{}}`).is(201).into(&started)
	n.do(call{method: "PUT", path: "/v1/subscriptions/results", body: `{}`}).is(200)
	var bulk struct {
		OperationID string `json:"operation_id"`
	}
	n.post("/v1/bulk-operations", `{"operation_key":"k","kind":"PURGE","queue":"work","reason":"r"}`).is(201).into(&bulk)
	fill := strings.NewReplacer(":operation_id", bulk.OperationID, ":task_id", receipt.TaskID, ":subscription", "results", ":instance_id", started.InstanceID, ":queue", "work", ":name", "chain", ":version", "1",
		":application_id", auth.ApplicationText(n.admin.Application), ":credential_id", auth.CredentialText(n.admin.ID))
	for _, o := range api.Surface(t) {
		if !strings.Contains(o.Path, ":") || o.ID == "putQueue" || o.ID == "putSubscription" || o.ID == "putSchedule" {
			continue
		}
		if o.Access == "public" {
			continue // the same for everybody, and nobody's
		}
		c := call{method: o.Method, path: fill.Replace(o.Path), body: valid[o.ID], header: map[string]string{"Idempotency-Key": "x"}}
		callers := []auth.Issued{stranger, neighbour}
		if o.Scope == auth.ScopePlatformAdmin {
			callers = callers[:1] // an administrator acts on the whole namespace
		}
		for _, caller := range callers {
			c.key = caller.Key.Text()
			there := n.do(c)
			c2 := c
			c2.path = concrete(o.Path)
			never := n.do(c2)
			if there.status != http.StatusNotFound || never.status != http.StatusNotFound || there.problem().Code != never.problem().Code {
				t.Errorf("%s: what exists elsewhere answers %d %s, what never existed %d %s", o.ID, there.status, there.body, never.status, never.body)
			}
		}
	}
	row, err := db.New(n.db).GetCredential(t.Context(), db.GetCredentialParams{NamespaceID: n.admin.Key.Namespace, CredentialID: n.admin.ID})
	must(t, err)
	if row.RevokedAt != nil || row.RotatedTo.Valid {
		t.Error("a stranger changed a key")
	}
}

// valid are bodies that would be accepted.
var valid = map[string]string{
	"abortBulkOperation": `{"reason":"r"}`, "pauseQueue": `{"reason":"r"}`, "resumeQueue": `{"reason":"r"}`, "drainQueue": `{"reason":"r"}`,
	"reviewTask": `{"decision":"FAILED","expected_version":1,"reason":"r","evidence":1,"all_executions_ended":true}`,
	"retryTask":  `{"submit_key":"again","expected_version":1,"reason":"r"}`,
	"cancelTask": `{"reason":"r"}`, "signalInstance": `{"step":"s","activation_no":1,"signal":"s","signal_version":"1","correlation":"c","content":1,"reason":"r"}`,
	"rotateCredential": `{"overlap_ms":0}`, "revokeCredential": `{"reason":"r"}`,
	"pauseSchedule": `{"reason":"r"}`, "resumeSchedule": `{}`, "triggerSchedule": `{}`,
	"backfillSchedule": `{"from":"2031-07-01T00:00:00Z","until":"2031-07-02T00:00:00Z","reason":"r"}`,
	"pullSubscription": `{"consumer":"c","max":1}`, "seekSubscription": `{"to":"HEAD","reason":"r"}`,
	"ackDeliveries":        `{"items":[{"seq":1,"generation":1,"proof":"00000000000000000000000000000000"}]}`,
	"nackDeliveries":       `{"items":[{"seq":1,"generation":1,"proof":"00000000000000000000000000000000"}]}`,
	"redeliverDeadLetters": `{"seqs":[1],"reason":"r"}`,
	"createCredential":     `{"name":"n","scopes":["tasks:read"]}`,
	"putQuota":             `{"open_tasks_max":1,"running_attempts_max":1,"open_instances_max":1,"open_payload_bytes_max":1}`,
}

const workflow = `{"schema_version":1,"definition":"chain","version":1,"input_contract":null,"output_contract":null,"deadline_ms":3600000,
 "on_failure":"REVIEW","contracts":{},"policies":{"p":{"priority":0,"deadline_ms":600000,"attempt_timeout_ms":60000,"lost":"REVIEW",
 "retry":{"kind":"FIXED","max_attempts":3,"jitter_percent":0,"delay_ms":1000}}},
 "body":[{"name":"one","kind":"TASK","queue":"work","handler":"h","handler_version":"1","input":"${input}","input_contract":null,
 "output_contract":null,"policy":"p","business_key":null,"resource_key":null}],"output":"${steps.one.output}"}`

// A revocation holds within two seconds on every node; on the one that did it, at once.
func TestRevocationIsEffective(t *testing.T) {
	n := newNode(t)
	k := n.key(auth.ScopeTasksRead)
	whoami := call{method: "GET", path: "/v1/whoami", key: k.Key.Text()}
	n.do(whoami).is(200)
	n.post("/v1/admin/credentials/"+auth.CredentialText(k.ID)+"/revoke", `{"reason":"lost"}`).is(200)
	if p := n.do(whoami).is(401).problem(); p.Code != "credential_revoked" {
		t.Error(p.Code)
	}
	n.post("/v1/admin/credentials/"+auth.CredentialText(k.ID)+"/revoke", `{"reason":"lost"}`).is(200)
	if p := n.post("/v1/admin/credentials/"+auth.CredentialText(k.ID)+"/rotate", `{"overlap_ms":0}`).is(409).problem(); p.Code != "rotation_conflict" {
		t.Error(p.Code)
	}
}

// Rotation: both keys work during the overlap, the old one ends by the database's clock, and there is one successor.
func TestRotationOverlaps(t *testing.T) {
	n := newNode(t)
	k := n.key(auth.ScopeTasksRead)
	path := "/v1/admin/credentials/" + auth.CredentialText(k.ID) + "/rotate"
	var issued struct {
		Key string `json:"key"`
	}
	n.post(path, `{"overlap_ms":60000}`).is(201).into(&issued)
	n.do(call{method: "GET", path: "/v1/whoami", key: k.Key.Text()}).is(200)
	n.do(call{method: "GET", path: "/v1/whoami", key: issued.Key}).is(200)
	n.post(path, `{"overlap_ms":60000}`).is(409)
	other := n.key(auth.ScopeTasksRead)
	n.post("/v1/admin/credentials/"+auth.CredentialText(other.ID)+"/rotate", `{"overlap_ms":0}`).is(201)
	if p := n.do(call{method: "GET", path: "/v1/whoami", key: other.Key.Text()}).is(401).problem(); p.Code != "credential_expired" {
		t.Error(p.Code)
	}
}

// A key revoked while its pull waits is refused, and what is committed afterwards stays for others (O12).
func TestAWaitingPullIsJudgedAgain(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.subscribe("results", `{"queues":["work"],"window":4}`)
	k := n.key("subscriptions:consume")
	answered := make(chan answer, 1)
	go func() {
		answered <- n.do(call{method: "POST", path: "/v1/subscriptions/results/pull", key: k.Key.Text(), body: `{"consumer":"c","max":1,"wait_ms":20000}`})
	}()
	time.Sleep(200 * time.Millisecond)
	_, err := n.db.ExecContext(t.Context(), "UPDATE credential SET revoked_at = NOW(6) WHERE credential_id = ?", k.ID) // as another node would
	must(t, err)
	began := time.Now()
	if p := (<-answered).is(401).problem(); p.Code != "credential_revoked" || time.Since(began) > 5*time.Second {
		t.Errorf("%s after %s", p.Code, time.Since(began))
	}
	n.submit(fmt.Sprintf(submission, "k", "1"))
	n.run("work", `"outcome":"SUCCEEDED","output":1`)
	if got := n.pull("results", "other", 0, 1, 5*time.Second); len(got.Items) != 1 || got.Items[0].Generation != 1 {
		t.Errorf("the next consumer is handed %+v", got.Items)
	}
}
