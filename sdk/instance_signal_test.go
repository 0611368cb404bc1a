package orbit_test

import (
	"encoding/json"
	"testing"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/internal/fake"
)

// T14: a signal goes out byte for byte, again with the same key when the answer is lost; what became of it is listed.
func TestT14Signal(t *testing.T) {
	s, c := pair(t)
	const path = "/v1/instances/inst_1/signals"
	s.Misfortune(
		fake.Fault{Path: path, Before: true, Status: 503, Body: `{"code":"busy","status":503,"retry_after_ms":1}`},
		fake.Fault{Path: path, Before: true, Status: 201, Body: `{"signal_id":"sig_1","instance_id":"inst_1","step":"answer","activation_no":1,"accepted_at":"2031-07-01T08:30:00.000000Z","expires_at":"2031-07-01T09:30:00.000000Z"}`})
	i := c.Instance("inst_1")
	receipt, err := i.Signal(t.Context(), orbit.Signal{Key: "k", Step: "answer", Signal: "decision", Version: "1", Correlation: "r ", Content: json.RawMessage(`{ "n": 1.10}`), Reason: "seen"})
	if err != nil || receipt.SignalID != "sig_1" || receipt.ExpiresAt.IsZero() {
		t.Fatalf("%+v %v", receipt, err)
	}
	sent := s.Requests(path)
	want := `{"step":"answer","activation_no":1,"signal":"decision","signal_version":"1","correlation":"r ","reason":"seen","content":{ "n": 1.10}}`
	if len(sent) != 2 || string(sent[0].Body) != want || string(sent[1].Body) != want || sent[1].Key != "k" {
		t.Errorf("%d requests, %s", len(sent), sent[0].Body)
	}
	s.Misfortune(
		fake.Fault{Path: path, Before: true, Status: 200, Body: `{"items":[{"signal_id":"sig_1","state":"APPLIED","classification":"APPLIED","content":{ "n": 1.10}}]}`},
		fake.Fault{Path: "/v1/instances/inst_1/waits", Before: true, Status: 200, Body: `{"items":[{"step":"answer","kind":"SIGNAL","state":"SATISFIED","signal_id":"sig_1"},{"step":"q","kind":"POLL","used_rounds":3}]}`})
	for got, err := range i.Signals(t.Context()) {
		if err != nil || got.State != "APPLIED" || string(got.Content) != `{ "n": 1.10}` {
			t.Errorf("%+v %v", got, err)
		}
	}
	rounds := 0
	for got, err := range i.Waits(t.Context()) {
		if rounds += got.UsedRounds; err != nil {
			t.Error(err)
		}
	}
	if rounds != 3 {
		t.Errorf("%d rounds", rounds)
	}
}
