package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/orbitrun/orbit/api"
)

// One wrong thing at a time: named by code and pointer within a second, and nothing is written (C50, C57).
func TestBadInputIsNamedAndWritesNothing(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	good := fmt.Sprintf(submission, "k", "1")
	change := func(old, by string) string { return strings.Replace(good, old, by, 1) }
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	before := n.rows()
	for name, c := range map[string]struct{ path, body, code, pointer string }{
		"no body":               {"/v1/tasks", "", "content_type_unsupported", ""},
		"not JSON":              {"/v1/tasks", `{`, "text_syntax", ""},
		"two texts":             {"/v1/tasks", good + good, "text_syntax", ""},
		"not an object":         {"/v1/tasks", `[]`, "field_type", ""},
		"unknown field":         {"/v1/tasks", change(`"submit_key"`, `"state":"SUCCEEDED","submit_key"`), "field_unknown", "/state"},
		"other case":            {"/v1/tasks", change(`"submit_key"`, `"Submit_Key"`), "field_unknown", "/Submit_Key"},
		"missing field":         {"/v1/tasks", change(`"handler":"h",`, ``), "field_missing", "/handler"},
		"wrong type":            {"/v1/tasks", change(`"handler":"h"`, `"handler":7`), "field_type", "/handler"},
		"null":                  {"/v1/tasks", change(`"handler":"h"`, `"handler":null`), "field_type", "/handler"},
		"number as text":        {"/v1/tasks", change(`3600000`, `"3600000"`), "field_type", "/deadline_ms"},
		"fraction":              {"/v1/tasks", change(`3600000`, `3600000.0`), "field_type", "/deadline_ms"},
		"beyond 64 bits":        {"/v1/tasks", change(`3600000`, `99999999999999999999`), "field_range", "/deadline_ms"},
		"negative":              {"/v1/tasks", change(`3600000`, `-1`), "field_range", "/deadline_ms"},
		"too long a time":       {"/v1/tasks", change(`3600000`, `31622400001`), "field_range", "/deadline_ms"},
		"priority 10":           {"/v1/tasks", change(`"submit_key"`, `"priority":10,"submit_key"`), "field_range", "/priority"},
		"bad enum":              {"/v1/tasks", change(`"FIXED"`, `"fixed"`), "field_enum", "/retry_policy/kind"},
		"bad name":              {"/v1/tasks", change(`"work"`, `"wo/rk"`), "field_pattern", "/queue"},
		"key of 256 bytes":      {"/v1/tasks", change(`"k"`, `"`+strings.Repeat("é", 128)+`"`), "field_length", "/submit_key"},
		"duplicate key":         {"/v1/tasks", change(`"handler":"h"`, `"handler":"h","handler":"h"`), "text_duplicate_key", "/handler"},
		"duplicate in payload":  {"/v1/tasks", change(`"input":1`, `"input":{"a":1,"\u0061":2}`), "text_duplicate_key", "/input/a"},
		"depth 65 in payload":   {"/v1/tasks", change(`"input":1`, `"input":`+strings.Repeat("[", 65)+strings.Repeat("]", 65)), "text_depth", "/input"},
		"depth 10,000":          {"/v1/tasks", change(`"input":1`, `"input":`+deep), "text_depth", "*"},
		"1e9999":                {"/v1/tasks", change(`"input":1`, `"input":1e9999`), "number_range", "/input"},
		"bad UTF-8":             {"/v1/tasks", change(`"input":1`, "\"input\":\"\xff\""), "text_encoding", "/input"},
		"lone surrogate":        {"/v1/tasks", change(`"input":1`, `"input":"\ud800"`), "text_encoding", "/input"},
		"NUL":                   {"/v1/tasks", change(`"k"`, `"\u0000"`), "text_encoding", "/submit_key"},
		"payload of 257 KiB":    {"/v1/tasks", change(`"input":1`, `"input":"`+strings.Repeat("x", 257<<10)+`"`), "payload_too_large", "/input"},
		"body of ten times":     {"/v1/tasks", change(`"input":1`, `"input":"`+strings.Repeat("x", 3_300_000)+`"`), "body_too_large", ""},
		"timeout over deadline": {"/v1/tasks", change(`ms":60000`, `ms":7200000`), "request_invalid", "/attempt_timeout_ms"},
		"broken retry list":     {"/v1/tasks", change(`"FIXED"`, `"LIST"`), "request_invalid", "/retry_policy"},
		"hostile contract":      {"/v1/tasks", change(`"submit_key"`, `"output_contract":{"$ref":"file:///etc/passwd"},"submit_key"`), "contract_invalid", "*"},
		"unknown queue":         {"/v1/tasks", change(`"work"`, `"nowhere"`), "queue_unknown", "/queue"},
		"33 items":              {"/v1/task-batches", `{"items":[` + strings.Repeat(good+",", 32) + good + `]}`, "field_length", "/items"},
		"no items":              {"/v1/task-batches", `{"items":[]}`, "field_length", "/items"},
		"unknown query":         {"/v1/tasks?x=1", good, "parameter_unknown", "x"},
		"claim without queue":   {"/v1/claims", strings.Replace(claim, `["work"]`, `["work","nowhere"]`, 1), "queue_not_found", "/queues/1"},
		"claim of 65":           {"/v1/claims", strings.Replace(claim, `"max_tasks":8`, `"max_tasks":65`, 1), "field_range", "/max_tasks"},
		"pointer is escaped":    {"/v1/claims", strings.Replace(claim, `"worker"`, `"a/b~c":1,"worker"`, 1), "field_unknown", "/a~1b~0c"},
		"scope that is none":    {"/v1/admin/applications/app_0000000000000001/credentials", `{"name":"n","scopes":["root"]}`, "field_enum", "/scopes/0"},
		"scope twice":           {"/v1/admin/applications/app_0000000000000001/credentials", `{"name":"n","scopes":["tasks:read","tasks:read"]}`, "field_enum", "/scopes/1"},
		"broken definition":     {"/v1/workflows", `{"document":{"schema_version":1}}`, "definition_invalid", "*"},
		"unknown definition":    {"/v1/instances", `{"start_key":"k","definition":"nothing","input":1}`, "*", "*"},
	} {
		start := time.Now()
		got := n.post(c.path, c.body)
		p := got.problem()
		pointer := ""
		if p.Errors != nil {
			pointer = (*p.Errors)[0].Pointer
		}
		if c.code != "*" && p.Code != c.code || c.pointer != "*" && pointer != c.pointer || got.status < 400 || got.status >= 500 {
			t.Errorf("%s: %d %s at %q, want %s at %q: %.300s", name, got.status, p.Code, pointer, c.code, c.pointer, got.body)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
	if after := n.rows(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("refused requests wrote rows:\n%v\n%v", before, after)
	}
}

// An id of the wrong kind or spelling is a 400 that says so, never a hunt for something missing.
func TestWrongIDsAreNamed(t *testing.T) {
	n := newNode(t)
	hex := strings.Repeat("a", 32)
	for _, path := range []string{"/v1/tasks/inst_" + hex, "/v1/tasks/task_" + hex[1:], "/v1/tasks/task_" + strings.ToUpper(hex), "/v1/tasks/" + hex,
		"/v1/instances/task_" + hex, "/v1/admin/applications/cred_0000000000000001/quota", "/v1/tasks/task_" + hex + "%2Fresult"} {
		if p := n.get(path).is(400).problem(); p.Code != "id_invalid" || (*p.Errors)[0].In != "path" {
			t.Errorf("%s: %s", path, p.Code)
		}
	}
	for path, code := range map[string]string{
		"/v1/tasks": "parameter_missing", "/v1/tasks?queue=a&queue=b": "parameter_invalid", "/v1/tasks?queue=a&limit=0": "parameter_invalid",
		"/v1/tasks?queue=a&limit=201": "parameter_invalid", "/v1/tasks?queue=a&limit=ten": "parameter_invalid", "/v1/tasks?queue=a&state=queued": "parameter_invalid",
		"/v1/tasks?queue=a&created_from=yesterday": "parameter_invalid", "/v1/tasks?queue=a&cursor=x": "cursor_invalid", "/v1/tasks?queue=a&business_key=%ff": "text_encoding",
		"/v1/tasks?queue=a&business_key=%00": "text_encoding", "/v1/tasks?queue=%zz": "parameter_invalid", "/v1/tasks?queue=a;b": "parameter_invalid",
	} {
		if p := n.get(path).is(400).problem(); p.Code != code {
			t.Errorf("%s: %s, want %s", path, p.Code, code)
		}
	}
}

func TestRoutesMethodsAndHeaders(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	body := fmt.Sprintf(submission, "k", "1")
	for name, c := range map[string]struct {
		call   call
		status int
		code   string
	}{
		"no such route":      {call{method: "GET", path: "/v2/tasks"}, 404, "route_not_found"},
		"metrics are inside": {call{method: "GET", path: "/metrics"}, 404, "route_not_found"},
		"no such method":     {call{method: "DELETE", path: "/v1/tasks"}, 405, "method_not_allowed"},
		"body on a read":     {call{method: "GET", path: "/v1/whoami", body: "{}"}, 400, "body_unexpected"},
		"form":               {call{method: "POST", path: "/v1/tasks", body: body, header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}, 415, "content_type_unsupported"},
		"other charset":      {call{method: "POST", path: "/v1/tasks", body: body, header: map[string]string{"Content-Type": "application/json; charset=latin1"}}, 415, "content_type_unsupported"},
		"compressed":         {call{method: "POST", path: "/v1/tasks", body: body, header: map[string]string{"Content-Encoding": "gzip"}}, 415, "content_encoding_unsupported"},
		"basic":              {call{method: "GET", path: "/v1/whoami", key: "-", header: map[string]string{"Authorization": "Basic eDp5"}}, 401, "credential_invalid"},
	} {
		got := n.do(c.call)
		if p := got.problem(); got.status != c.status || p.Code != c.code {
			t.Errorf("%s: %d %s", name, got.status, p.Code)
		}
	}
	got := n.do(call{method: "GET", path: "/livez", key: "-", header: map[string]string{"X-Request-Id": "abc-1"}}).is(200)
	for name, want := range map[string]string{"X-Request-Id": "abc-1", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %q", name, got.header.Get(name))
		}
	}
	if n.get("/livez").header.Get("X-Request-Id") == "" {
		t.Error("no request id was made")
	}
	if got := n.do(call{method: "GET", path: "/livez", key: "-", header: map[string]string{"X-Request-Id": `a"b`}}); got.header.Get("X-Request-Id") == `a"b` {
		t.Error("a hostile request id was echoed")
	}
	if got := n.get("/openapi.yaml").is(200); string(got.body) != string(api.Description) {
		t.Error("the description differs")
	}
	n.get("/version").is(200)
	n.get("/readyz").is(200)
	n.Drain()
	if p := n.get("/readyz").is(503).problem(); p.Code != "node_draining" {
		t.Error(p.Code)
	}
}

// A 500 and a 503 show nothing of the inside; the log does.
func TestADeadDatabaseIsA503WithoutSQL(t *testing.T) {
	n := newNode(t)
	n.queue("work")
	n.get("/v1/queues").is(200)
	must(t, n.Reader.Close())
	for _, path := range []string{"/v1/queues", "/v1/queues/work", "/readyz"} {
		got := n.get(path)
		if got.status != http.StatusServiceUnavailable && got.status != http.StatusInternalServerError || strings.Contains(strings.ToLower(string(got.body)), "sql") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if !strings.Contains(n.log.String(), "sql: database is closed") {
		t.Errorf("the log hides the cause: %s", n.log)
	}
}
