package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	httpapi "github.com/orbitrun/orbit/gen/http"
)

const approval = `{"schema_version":1,"definition":"approval","version":1,"input_contract":null,"output_contract":null,"deadline_ms":3600000,"on_failure":"REVIEW",
"contracts":{"decision":{"type":"object","required":["verdict"],"properties":{"verdict":{"type":"string"},"n":{"type":"number"}}}},"policies":{},
"body":[{"name":"cool","kind":"TIMER","delay_ms":1},
{"name":"answer","kind":"SIGNAL","signal":"decision","signal_version":"1","content_contract":"decision","correlation":"request-9 ","deadline_ms":60000,"on_expiry":"REVIEW"}],
"output":"${steps.answer.output}"}`

const decision = `{"step":"answer","activation_no":1,"signal":"decision","signal_version":"1","correlation":%q,"content":%s,"reason":"test"}`

// T14, T21: a signal over the whole surface: early and kept, refused by name, replayed byte for byte, listed with what
// became of it; content and correlation stay what they were.
func TestT14SignalsThroughTheSurface(t *testing.T) {
	n := newNode(t)
	n.post("/v1/workflows", `{"document":`+approval+`}`).is(201)
	var started httpapi.InstanceReceipt
	n.post("/v1/instances", `{"start_key":"s","definition":"approval","input":null}`).is(201).into(&started)
	instance := "/v1/instances/" + started.InstanceId
	send := func(key, body string) answer {
		return n.do(call{method: "POST", path: instance + "/signals", body: body, header: map[string]string{"Idempotency-Key": key}})
	}

	for want, body := range map[string]string{
		"step_takes_no_signal":     strings.Replace(decision, "answer", "cool", 1),
		"signal_contract_mismatch": strings.Replace(decision, `"signal_version":"1"`, `"signal_version":"2"`, 1),
		"activation_unknown":       strings.Replace(decision, `"activation_no":1`, `"activation_no":2`, 1),
	} {
		if p := send("x", fmt.Sprintf(body, "c", `{"verdict":"YES"}`)).problem(); p.Code != want {
			t.Errorf("answered %s, not %s", p.Code, want)
		}
	}
	if p := send("x", fmt.Sprintf(decision, "c", `{"n":1}`)).is(422).problem(); p.Code != "content_contract_broken" {
		t.Errorf("answered %+v", p)
	}
	content := `{ "verdict" : "YES", "n": 123456789012345678901234567890123456789.10 }`
	send("other", fmt.Sprintf(decision, "request-9", content)).is(201)
	first := send("k", fmt.Sprintf(decision, "request-9 ", content)).is(201)
	again := send("k", fmt.Sprintf(decision, "request-9 ", `{"n":123456789012345678901234567890123456789.10,"verdict":"YES"}`)).is(201)
	if !bytes.Equal(first.body, again.body) || again.header.Get("Orbit-Replayed") != "true" {
		t.Errorf("a replay differs: %s %s", first.body, again.body)
	}
	if p := send("k", fmt.Sprintf(decision, "request-9 ", `{"verdict":"NO"}`)).is(409).problem(); p.Code != "idempotency_conflict" {
		t.Errorf("answered %+v", p)
	}
	for deadline := time.Now().Add(5 * time.Second); !bytes.Contains(n.get(instance).is(200).body, []byte(`"state":"SUCCEEDED"`)); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still %s", n.get(instance).body)
		}
	}
	if got := n.get(instance); !bytes.Contains(got.body, []byte(`"verdict":"YES"`)) || !bytes.Contains(got.body, []byte("123456789012345678901234567890123456789.10")) {
		t.Errorf("output %s", got.body)
	}
	var signals httpapi.SignalList
	n.get(instance + "/signals?limit=1").is(200).into(&signals)
	if len(signals.Items) != 1 || signals.Items[0].State != "REJECTED" || *signals.Items[0].Classification != "CORRELATION_MISMATCH" {
		t.Errorf("signals %+v", signals)
	}
	page := n.get(instance + "/signals?limit=1&cursor=" + signals.NextCursor).is(200)
	signals = httpapi.SignalList{}
	if page.into(&signals); signals.Items[0].State != "APPLIED" || signals.Items[0].Correlation != "request-9 " || signals.NextCursor != "" || !bytes.Contains(page.body, []byte(`"content":`+content)) {
		t.Errorf("signals %s", page.body)
	}
	var waits httpapi.WaitList
	n.get(instance + "/waits").is(200).into(&waits)
	if len(waits.Items) != 2 || waits.Items[0].Kind != "TIMER" || waits.Items[1].Kind != "SIGNAL" || waits.Items[1].State != "SATISFIED" ||
		*waits.Items[1].SignalId != signals.Items[0].SignalId || *waits.Items[1].Correlation != "request-9 " {
		t.Errorf("waits %+v", waits)
	}
	send("late", fmt.Sprintf(decision, "request-9 ", content)).is(201)
}
